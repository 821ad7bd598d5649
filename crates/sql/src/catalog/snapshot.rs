//! One immutable picture of everything that exists, and how names find their way in it.
//!
//! A lookup without a schema walks the search path: pg_catalog first unless the path names it, then each schema of the path. Schemas of the
//! path that do not exist are skipped, as in PostgreSQL. In a catalog that a session has laid its temporary objects over ([`super::temporary`]), their
//! schema comes before all others, unless the path gives it another place.

use super::store::FIRST_DATABASE;
use super::{FunctionDescriptor, Oid, RelationKind, TEMPORARY_ALIAS, TableDescriptor, TableStatistics};
use crate::types::ColumnType;
use crate::types::enums::{self, EnumDescriptor};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, OnceLock};

/// `pg_catalog`'s OID in PostgreSQL.
pub const PG_CATALOG_OID: Oid = 11;
/// `public`'s OID in PostgreSQL.
pub const PUBLIC_OID: Oid = 2200;

/// A schema.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SchemaDescriptor {
    /// Its OID.
    pub oid: Oid,
    /// Its name.
    pub name: String,
    /// Owner's name.
    pub owner: String,
    /// COMMENT ON SCHEMA.
    pub comment: Option<String>,
    /// What was granted; none when nobody has granted or revoked anything.
    #[serde(default)]
    pub acl: Option<Vec<super::AclItem>>,
    /// Enum types in it.
    #[serde(default)]
    pub enums: Vec<EnumDescriptor>,
    /// Domains in it.
    #[serde(default)]
    pub domains: Vec<super::DomainDescriptor>,
}

/// A table that has no stored rows: a provider in the executor, found by `(schema, name)`, fills it when it is scanned.
#[derive(Clone, Debug)]
pub struct VirtualTable {
    /// Its OID (PostgreSQL's, where it has one).
    pub oid: Oid,
    /// Schema name.
    pub schema: &'static str,
    /// Name.
    pub name: &'static str,
    /// Columns: name and type.
    pub columns: Vec<(&'static str, ColumnType)>,
}

/// What a relation name may mean.
#[derive(Clone, Debug)]
pub enum Relation {
    /// A stored table, a view (stored or builtin) or a sequence: look at `kind`.
    Table(Arc<TableDescriptor>),
    /// A virtual table, with a descriptor made for it, so that its columns look like any other's.
    Virtual(Arc<VirtualTable>, Arc<TableDescriptor>),
}

impl Relation {
    /// The descriptor.
    pub fn descriptor(&self) -> &Arc<TableDescriptor> {
        match self {
            Relation::Table(table) | Relation::Virtual(_, table) => table,
        }
    }
}

/// The snapshot. Build one with [`CatalogBuilder`].
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    version: u64,
    database: String,
    database_oid: Oid,
    schemas: HashMap<String, Arc<SchemaDescriptor>>,
    by_name: HashMap<String, HashMap<String, Relation>>,
    by_oid: HashMap<Oid, Relation>,
    statistics: HashMap<Oid, Arc<TableStatistics>>,
    pub(super) functions: HashMap<Oid, Arc<FunctionDescriptor>>,
    /// Functions by bare name.
    pub(super) functions_by_name: HashMap<String, Vec<Oid>>,
    /// The session's temporary schema, in a catalog that is laid over the shared one.
    temporary: Option<String>,
    /// Indexes and constraints by OID, with their tables: made when somebody first asks.
    owners: OnceLock<HashMap<Oid, Oid>>,
}

impl Catalog {
    /// Grows with each change; a plan made against another version is stale.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The database's name.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// The database's OID.
    pub fn database_oid(&self) -> Oid {
        self.database_oid
    }

    /// A schema by name.
    pub fn schema(&self, name: &str) -> Option<&Arc<SchemaDescriptor>> {
        self.schemas.get(self.schema_name(name))
    }

    /// The session's temporary schema, if it has one.
    pub fn temporary_schema(&self) -> Option<&Arc<SchemaDescriptor>> {
        self.schemas.get(self.temporary.as_deref()?)
    }

    /// A schema's own name: `pg_temp` is the session's temporary one.
    fn schema_name<'n>(&'n self, name: &'n str) -> &'n str {
        match &self.temporary {
            Some(temporary) if name == TEMPORARY_ALIAS => temporary,
            _ => name,
        }
    }

    /// The search path as it is walked for relations and types: the temporary schema comes first unless it is named, then pg_catalog
    /// unless it is named.
    fn effective_path<'n>(&'n self, search_path: &'n [String]) -> impl Iterator<Item = &'n str> {
        let temporary = self.temporary.as_deref().filter(|_| !search_path.iter().any(|name| name == TEMPORARY_ALIAS));
        let implicit = (!search_path.iter().any(|name| name == "pg_catalog")).then_some("pg_catalog");
        temporary.into_iter().chain(implicit).chain(search_path.iter().map(String::as_str))
    }

    /// An enum type by name along a search path, or in the given schema.
    pub fn enum_named(
        &self,
        schema: Option<&str>,
        name: &str,
        search_path: &[String],
    ) -> Option<(&Arc<SchemaDescriptor>, &EnumDescriptor)> {
        let inside = |schema: &str| {
            let schema = self.schemas.get(schema)?;
            schema.enums.iter().find(|e| e.name == name).map(|e| (schema, e))
        };
        match schema {
            Some(schema) => inside(schema),
            None => search_path.iter().find_map(|schema| inside(schema)),
        }
    }

    /// All enum types with their schemas.
    pub fn enums(&self) -> impl Iterator<Item = (&Arc<SchemaDescriptor>, &EnumDescriptor)> {
        self.schemas.values().flat_map(|schema| schema.enums.iter().map(move |e| (schema, e)))
    }

    /// All schemas, in no order.
    pub fn schemas(&self) -> impl Iterator<Item = &Arc<SchemaDescriptor>> {
        self.schemas.values()
    }

    /// A relation by schema and name.
    pub fn relation_in(&self, schema: &str, name: &str) -> Option<&Relation> {
        self.by_name.get(self.schema_name(schema))?.get(name)
    }

    /// A relation by name along a search path, or in the given schema.
    pub fn resolve(&self, schema: Option<&str>, name: &str, search_path: &[String]) -> Option<&Relation> {
        match schema {
            Some(schema) => self.relation_in(schema, name),
            None => self.effective_path(search_path).find_map(|schema| self.relation_in(schema, name)),
        }
    }

    /// The schema in which unqualified CREATE puts things: the first of the path that exists.
    pub fn creation_schema(&self, search_path: &[String]) -> Option<&Arc<SchemaDescriptor>> {
        search_path.iter().find_map(|name| self.schema(name))
    }

    /// A relation by OID.
    pub fn relation(&self, oid: Oid) -> Option<&Relation> {
        self.by_oid.get(&oid)
    }

    /// A table's descriptor by OID.
    pub fn table(&self, oid: Oid) -> Option<&Arc<TableDescriptor>> {
        self.by_oid.get(&oid).map(Relation::descriptor)
    }

    /// The table that has the index of that name in a schema, and the index's place: None is the primary one.
    pub fn index_in(&self, schema: &str, name: &str) -> Option<(&Arc<TableDescriptor>, Option<usize>)> {
        self.by_name.get(self.schema_name(schema))?.values().map(Relation::descriptor).find_map(|table| {
            if table.has_primary_key() && table.primary.name == name {
                return Some((table, None));
            }
            table.indexes.iter().position(|i| i.name == name).map(|i| (table, Some(i)))
        })
    }

    /// An index by name along a search path, or in the given schema.
    pub fn resolve_index(
        &self,
        schema: Option<&str>,
        name: &str,
        search_path: &[String],
    ) -> Option<(&Arc<TableDescriptor>, Option<usize>)> {
        match schema {
            Some(schema) => self.index_in(schema, name),
            None => self.effective_path(search_path).find_map(|schema| self.index_in(schema, name)),
        }
    }

    /// The table that an index or a constraint belongs to, by its OID.
    pub fn owner(&self, part: Oid) -> Option<&Arc<TableDescriptor>> {
        let owners = self.owners.get_or_init(|| {
            let of_table = |relation: &Relation| {
                let table = relation.descriptor();
                let indexes = table.all_indexes().map(|index| index.oid).filter(|oid| *oid != 0);
                let checks = table.checks.iter().map(|check| check.oid);
                let uniques = table.uniques.iter().map(|unique| unique.oid);
                let foreign = table.foreign_keys.iter().map(|key| key.oid);
                indexes.chain(checks).chain(uniques).chain(foreign).map(|part| (part, table.oid)).collect::<Vec<_>>()
            };
            self.by_oid.values().flat_map(of_table).collect()
        });
        self.table(*owners.get(&part)?)
    }

    /// All relations, in no order.
    pub fn relations(&self) -> impl Iterator<Item = &Relation> {
        self.by_oid.values()
    }

    /// What ANALYZE found, if it ran.
    pub fn statistics(&self, table: Oid) -> Option<&Arc<TableStatistics>> {
        self.statistics.get(&table)
    }

    /// A builder that starts from this snapshot, one version higher.
    pub fn edit(&self) -> CatalogBuilder {
        CatalogBuilder { catalog: Catalog { version: self.version + 1, ..self.clone() } }
    }
}

/// Builds a [`Catalog`].
#[derive(Clone, Debug, Default)]
pub struct CatalogBuilder {
    catalog: Catalog,
}

/// The OID of the schema `tidelock`.
pub(super) const TIDELOCK_OID: Oid = 13001;

impl CatalogBuilder {
    /// An empty catalog of the first database, with the schemas every database has.
    pub fn new(database: impl Into<String>) -> CatalogBuilder {
        let catalog = Catalog { database: database.into(), database_oid: FIRST_DATABASE, version: 1, ..Catalog::default() };
        let mut builder = CatalogBuilder { catalog };
        let builtin = [("pg_catalog", PG_CATALOG_OID), ("information_schema", 13000), ("tidelock", TIDELOCK_OID), ("public", PUBLIC_OID)];
        for (name, oid) in builtin {
            let comment = (oid == PUBLIC_OID).then(|| "standard public schema".to_owned());
            builder.put_schema(SchemaDescriptor {
                oid,
                name: name.into(),
                owner: "tidelock".into(),
                comment,
                acl: None,
                enums: Vec::new(),
                domains: Vec::new(),
            });
        }
        builder
    }

    /// Makes it that of another database.
    pub fn set_database(&mut self, oid: Oid, name: &str) {
        self.catalog.database_oid = oid;
        name.clone_into(&mut self.catalog.database);
    }

    /// Sets the version.
    pub fn set_version(&mut self, version: u64) {
        self.catalog.version = version;
    }

    /// Adds or replaces a schema.
    pub fn put_schema(&mut self, schema: SchemaDescriptor) {
        schema.enums.iter().for_each(|e| enums::register(&schema.name, e));
        schema.domains.iter().for_each(|domain| enums::register_domain(&schema.name, domain));
        self.catalog.by_name.entry(schema.name.clone()).or_default();
        self.catalog.schemas.insert(schema.name.clone(), Arc::new(schema));
    }

    /// Adds a session's temporary schema, in which names are looked for first.
    pub fn put_temporary_schema(&mut self, schema: SchemaDescriptor) {
        self.catalog.temporary = Some(schema.name.clone());
        self.put_schema(schema);
    }

    /// The same, by OID.
    pub fn drop_schema_by_oid(&mut self, oid: Oid) {
        let name = self.catalog.schemas.values().find(|schema| schema.oid == oid).map(|schema| schema.name.clone());
        if let Some(name) = name {
            self.drop_schema(&name);
        }
    }

    /// Removes a schema and forgets what was in it.
    pub fn drop_schema(&mut self, name: &str) {
        self.catalog.owners = OnceLock::new();
        self.catalog.schemas.remove(name);
        for relation in self.catalog.by_name.remove(name).into_iter().flatten().map(|(_, r)| r) {
            self.catalog.by_oid.remove(&relation.descriptor().oid);
        }
    }

    /// Adds a relation, or replaces the one with the same OID (whatever its name was).
    pub fn put_table(&mut self, table: TableDescriptor) {
        self.drop_relation(table.oid);
        self.put_relation(Relation::Table(Arc::new(table)));
    }

    /// Adds a virtual table.
    pub fn put_virtual(&mut self, table: VirtualTable) {
        let schema_oid = self.catalog.schemas.get(table.schema).map_or(PG_CATALOG_OID, |s| s.oid);
        let descriptor = super::descriptor::virtual_descriptor(&table, schema_oid);
        self.put_relation(Relation::Virtual(Arc::new(table), Arc::new(descriptor)));
    }

    /// Adds a builtin view: SQL text with the columns its query gives.
    pub fn put_builtin_view(
        &mut self,
        oid: Oid,
        schema: &'static str,
        name: &'static str,
        columns: Vec<(&'static str, ColumnType)>,
        query: String,
    ) {
        let schema_oid = self.catalog.schemas.get(schema).map_or(PG_CATALOG_OID, |s| s.oid);
        let mut table = super::descriptor::virtual_descriptor(&VirtualTable { oid, schema, name, columns }, schema_oid);
        table.kind = RelationKind::View;
        table.view_query = Some(query);
        self.put_relation(Relation::Table(Arc::new(table)));
    }

    fn put_relation(&mut self, relation: Relation) {
        self.catalog.owners = OnceLock::new();
        let table = relation.descriptor();
        let (oid, schema, name) = (table.oid, table.schema.clone(), table.name.clone());
        self.catalog.by_name.entry(schema).or_default().insert(name, relation.clone());
        self.catalog.by_oid.insert(oid, relation);
    }

    /// Removes a relation.
    pub fn drop_relation(&mut self, oid: Oid) {
        self.catalog.owners = OnceLock::new();
        if let Some(relation) = self.catalog.by_oid.remove(&oid) {
            let table = relation.descriptor();
            if let Some(names) = self.catalog.by_name.get_mut(&table.schema) {
                names.remove(&table.name);
            }
        }
    }

    /// Adds a function, or replaces the one with the same OID (whatever its name was).
    pub fn put_function(&mut self, function: FunctionDescriptor) {
        self.drop_function(function.oid);
        self.catalog.functions_by_name.entry(function.name.clone()).or_default().push(function.oid);
        self.catalog.functions.insert(function.oid, Arc::new(function));
    }

    /// Removes a function.
    pub fn drop_function(&mut self, oid: Oid) {
        let Some(function) = self.catalog.functions.remove(&oid) else { return };
        if let Some(oids) = self.catalog.functions_by_name.get_mut(&function.name) {
            oids.retain(|known| *known != oid);
            if oids.is_empty() {
                self.catalog.functions_by_name.remove(&function.name);
            }
        }
    }

    /// Sets a table's statistics.
    pub fn put_statistics(&mut self, table: Oid, statistics: TableStatistics) {
        self.catalog.statistics.insert(table, Arc::new(statistics));
    }

    /// What was built so far, to look things up while building.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The finished snapshot.
    pub fn build(self) -> Arc<Catalog> {
        Arc::new(self.catalog)
    }
}
