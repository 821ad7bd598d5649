//! What all databases of a server share: the list of databases.
//!
//! PostgreSQL calls these the shared catalogs. They live beside the databases' own catalogs ([`super::store`]), under kinds of their own:
//!
//! ```text
//!   0x0a               version      grows with each change of anything below
//!   0x0b oid           database     JSON of DatabaseDescriptor
//! ```
//!
//! What every server has from the beginning (`postgres`, `template1`, `template0`) is there without being stored; a row in its place changes it, and an
//! empty one says that it is gone. Changes are transactional: whoever makes one locks the version first ([`lock`]), so that two never meet.

use super::store::{self, FIRST_DATABASE, SHARED};
use super::{AclItem, Catalog, Oid};
use crate::error::SqlError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use tidelock_base::Key;
use tidelock_kvapi::{Isolation, KvError, LockStrength};
use tidelock_kvclient::{Txn, Write};

const DATABASE: u8 = 11;

/// `template1`, which CREATE DATABASE copies unless told otherwise.
pub const TEMPLATE1: Oid = 1;
/// `template0`, to which nobody connects.
pub const TEMPLATE0: Oid = 4;

/// The order of texts everywhere, whatever PostgreSQL calls it.
const COLLATION: &str = "C";

/// A database.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct DatabaseDescriptor {
    /// Its OID.
    pub oid: Oid,
    /// Its name.
    pub name: String,
    /// Its owner's OID.
    pub owner: Oid,
    /// IS_TEMPLATE.
    pub is_template: bool,
    /// ALLOW_CONNECTIONS.
    pub allows_connections: bool,
    /// CONNECTION LIMIT; -1 is none.
    pub connection_limit: i32,
    /// LC_COLLATE, one of the names that mean the order of bytes.
    pub collate: String,
    /// LC_CTYPE.
    pub ctype: String,
    /// ALTER DATABASE ... SET.
    #[serde(default)]
    pub settings: Vec<(String, String)>,
    /// COMMENT ON DATABASE.
    #[serde(default)]
    pub comment: Option<String>,
    /// What was granted; none when nobody has granted or revoked anything.
    #[serde(default)]
    pub acl: Option<Vec<AclItem>>,
}

impl DatabaseDescriptor {
    /// A database as CREATE DATABASE makes it when told nothing.
    pub fn new(oid: Oid, name: impl Into<String>, owner: Oid) -> DatabaseDescriptor {
        DatabaseDescriptor {
            oid,
            name: name.into(),
            owner,
            is_template: false,
            allows_connections: true,
            connection_limit: -1,
            collate: COLLATION.to_owned(),
            ctype: COLLATION.to_owned(),
            settings: Vec::new(),
            comment: None,
            acl: None,
        }
    }

    fn builtin() -> [DatabaseDescriptor; 3] {
        let owner = super::functions::OWNER_OID;
        let database = |oid, name, comment: &str| DatabaseDescriptor {
            comment: Some(comment.to_owned()),
            is_template: oid != FIRST_DATABASE,
            allows_connections: oid != TEMPLATE0,
            acl: (oid != FIRST_DATABASE).then(template_privileges),
            ..DatabaseDescriptor::new(oid, name, owner)
        };
        [
            database(FIRST_DATABASE, super::builtin::DATABASE, "default administrative connection database"),
            database(TEMPLATE1, "template1", "default template for new databases"),
            database(TEMPLATE0, "template0", "unmodifiable empty database"),
        ]
    }
}

/// What PostgreSQL grants on its templates: only their owner may create anything in them.
fn template_privileges() -> Vec<AclItem> {
    let item = |grantee: &str, privileges: &str| AclItem {
        grantee: grantee.to_owned(),
        privileges: privileges.to_owned(),
        grantor: "postgres".to_owned(),
    };
    vec![item("", "c"), item("postgres", "CTc")]
}

/// One picture of everything that is shared.
#[derive(Clone, Debug)]
pub struct SharedCatalog {
    version: u64,
    databases: BTreeMap<Oid, Arc<DatabaseDescriptor>>,
}

/// One change of it.
#[derive(Clone, Debug)]
pub enum SharedChange {
    /// Adds a database, or replaces the one with that OID.
    PutDatabase(DatabaseDescriptor),
    /// Removes one.
    DropDatabase(Oid),
}

impl Default for SharedCatalog {
    /// What a new server has.
    fn default() -> SharedCatalog {
        let databases = DatabaseDescriptor::builtin().into_iter().map(|database| (database.oid, Arc::new(database)));
        SharedCatalog { version: 1, databases: databases.collect() }
    }
}

impl SharedCatalog {
    /// Grows with each change.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// All databases, by OID.
    pub fn databases(&self) -> impl Iterator<Item = &Arc<DatabaseDescriptor>> {
        self.databases.values()
    }

    /// A database by OID.
    pub fn database(&self, oid: Oid) -> Option<&Arc<DatabaseDescriptor>> {
        self.databases.get(&oid)
    }

    /// A database by name.
    pub fn database_named(&self, name: &str) -> Option<&Arc<DatabaseDescriptor>> {
        self.databases.values().find(|database| database.name == name)
    }

    fn apply(&mut self, change: &SharedChange) {
        match change {
            SharedChange::PutDatabase(database) => {
                self.databases.insert(database.oid, Arc::new(database.clone()));
            }
            SharedChange::DropDatabase(oid) => {
                self.databases.remove(oid);
            }
        }
    }
}

impl SharedChange {
    fn write(&self) -> Result<Write, SqlError> {
        let put = |key, value: Vec<u8>| Write::Put(key, value.into(), LockStrength::Update);
        Ok(match self {
            SharedChange::PutDatabase(database) => put(numbered(DATABASE, database.oid), store::json(database)?),
            SharedChange::DropDatabase(oid) if *oid < super::FIRST_USER_OID => put(numbered(DATABASE, *oid), Vec::new()),
            SharedChange::DropDatabase(oid) => Write::Delete(numbered(DATABASE, *oid)),
        })
    }
}

fn numbered(kind: u8, oid: Oid) -> Key {
    let mut key = store::kind_key(kind);
    key.extend(&u64::from(oid).to_be_bytes());
    key
}

/// What the transaction sees, its own changes included. `catalog` gives names to errors.
pub async fn load(txn: &mut Txn, catalog: &Catalog) -> Result<SharedCatalog, SqlError> {
    let failed = |error: KvError| crate::exec::kv_error(error, catalog);
    let version = store::version_at(txn, store::kind_key(SHARED), None).await.map_err(failed)?;
    let mut shared = SharedCatalog { version, ..SharedCatalog::default() };
    for (oid, value) in store::numbered_rows(txn, store::kind_key(DATABASE), catalog).await? {
        let change = if value.is_empty() { SharedChange::DropDatabase(oid) } else { SharedChange::PutDatabase(store::parsed(&value)?) };
        shared.apply(&change);
    }
    Ok(shared)
}

/// The newest there is, from which on nobody else changes anything until the transaction ends.
pub async fn lock(txn: &mut Txn, catalog: &Catalog) -> Result<SharedCatalog, SqlError> {
    let failed = |error: KvError| crate::exec::kv_error(error, catalog);
    store::version_at(txn, store::kind_key(SHARED), Some(LockStrength::Update)).await.map_err(failed)?;
    if txn.options().isolation != Isolation::Serializable {
        // Whoever had the lock before may have committed after this statement's snapshot.
        txn.refresh().await.map_err(failed)?;
    }
    load(txn, catalog).await
}

/// Writes changes, and the next version. The transaction has the lock.
pub async fn write(
    txn: &mut Txn,
    mut shared: SharedCatalog,
    changes: &[SharedChange],
    catalog: &Catalog,
) -> Result<Arc<SharedCatalog>, SqlError> {
    let mut writes = changes.iter().map(SharedChange::write).collect::<Result<Vec<_>, _>>()?;
    changes.iter().for_each(|change| shared.apply(change));
    shared.version += 1;
    writes.push(Write::Put(store::kind_key(SHARED), store::version_value(shared.version).into(), LockStrength::Update));
    txn.write(writes).await.map_err(|error| crate::exec::kv_error(error, catalog))?;
    Ok(Arc::new(shared))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_database_reads_as_it_was_written() {
        let mut database = DatabaseDescriptor::new(20_000, "Other \"one\"", 10);
        database.settings = vec![("work_mem".into(), "5MB".into())];
        database.acl = Some(template_privileges());
        let stored = store::json(&database).unwrap();
        assert_eq!(store::parsed::<DatabaseDescriptor>(&stored).unwrap(), database);
    }

    #[test]
    fn what_is_there_from_the_beginning_can_be_changed_and_go() {
        let mut shared = SharedCatalog::default();
        let names: Vec<&str> = shared.databases().map(|database| database.name.as_str()).collect();
        assert_eq!(names, ["template1", "template0", "postgres"]);
        let renamed = DatabaseDescriptor { name: "main".into(), ..DatabaseDescriptor::clone(shared.database(FIRST_DATABASE).unwrap()) };
        shared.apply(&SharedChange::PutDatabase(renamed));
        assert_eq!(shared.database_named("main").map(|database| database.oid), Some(FIRST_DATABASE));
        assert!(shared.database_named("postgres").is_none());
        shared.apply(&SharedChange::DropDatabase(FIRST_DATABASE));
        assert!(shared.database(FIRST_DATABASE).is_none());
    }

    #[test]
    fn databases_keep_their_definitions_apart() {
        // The first one's are where they were when there was no other.
        assert_eq!(store::relation_key(FIRST_DATABASE, 16384).as_bytes(), [0, 0, 0, 2, 3, 0, 0, 0, 0, 0, 0, 64, 0]);
        let keys = |database| [store::version_key(database), store::schema_key(database, 2200), store::relation_key(database, 16384)];
        for (one, other) in [(FIRST_DATABASE, 16390), (16390, 16391), (TEMPLATE1, TEMPLATE0)] {
            assert!(keys(one).iter().all(|key| !keys(other).contains(key)), "{one} {other}");
        }
    }
}
