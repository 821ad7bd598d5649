//! One database, as all of its sessions share it: its catalog and its channels. Everything else is the whole server's ([`super::Cluster`]).

use super::notify::Channels;
use crate::catalog::store::{CatalogAt, DescriptorCache};
use crate::catalog::{Catalog, DatabaseDescriptor, Oid, RelationKind, builtin};
use crate::error::SqlError;
use crate::exec::kv_error;
use arc_swap::ArcSwap;
use std::sync::Arc;
use tidelock_kvapi::Isolation;
use tidelock_kvclient::{Db, TxnOptions};

/// What the sessions of one database work on.
pub struct Database {
    /// Its OID.
    pub oid: Oid,
    /// Its name, which nobody changes while there are sessions.
    pub name: String,
    /// The catalog as of the last DDL, and when that was.
    pub catalog: ArcSwap<CatalogAt>,
    descriptors: DescriptorCache,
    /// Who listens to what.
    pub channels: Channels,
}

impl Database {
    pub(super) async fn open(db: &Db, described: &DatabaseDescriptor) -> Result<Arc<Database>, SqlError> {
        let descriptors = DescriptorCache::new(builtin::catalog_of(described.oid, &described.name));
        let catalog = read_catalog(db, &descriptors).await?;
        Ok(Arc::new(Database {
            oid: described.oid,
            name: described.name.clone(),
            catalog: ArcSwap::from_pointee(catalog),
            descriptors,
            channels: Channels::default(),
        }))
    }

    /// Reads the catalog again: after a commit that changed it.
    pub(super) async fn reload_catalog(&self, db: &Db) -> Result<(), SqlError> {
        let newest = read_catalog(db, &self.descriptors).await?;
        let newest = Arc::new(newest);
        self.catalog.rcu(|current| {
            let newer = newest.catalog.version() > current.catalog.version();
            if newer { Arc::clone(&newest) } else { Arc::clone(current) }
        });
        Ok(())
    }

    /// The storage of all its tables.
    pub(super) fn index_ids(&self) -> Vec<u64> {
        index_ids(&self.catalog.load().catalog)
    }
}

fn index_ids(catalog: &Catalog) -> Vec<u64> {
    let tables = catalog.relations().map(|relation| relation.descriptor()).filter(|table| table.kind == RelationKind::Table);
    tables.flat_map(|table| table.all_indexes().map(|index| index.index_id).collect::<Vec<_>>()).collect()
}

async fn read_catalog(db: &Db, descriptors: &DescriptorCache) -> Result<CatalogAt, SqlError> {
    let options = TxnOptions { isolation: Isolation::RepeatableRead, at_least: db.newest(), read_only: true, ..TxnOptions::default() };
    let mut txn = db.begin(options);
    txn.step();
    let at = descriptors.current(&mut txn).await?;
    txn.commit(false).await.map_err(|error| kv_error(error, &at.catalog))?;
    Ok(at)
}
