//! The builtin relations: pg_catalog, information_schema and the schema `tidelock`, which shows the server's inside.
//!
//! There are two kinds. A *virtual table* holds what only code knows; [`super::rows`] fills it when it is scanned. A *view* is SQL text over
//! virtual tables, in `sql/catalog/`, one file each. Which columns a relation has is data too: `data/columns.txt` was written by a
//! PostgreSQL 15 server (see `data/generate.sh`), so clients find every column they know, and a catalog of something that cannot exist here
//! (`pg_policy`, `pg_publication`) is a table without rows.

use super::{CatalogBuilder, Oid, VirtualTable};
use crate::types::catalog::all_types;
use crate::types::{ColumnType, DataType};
use std::sync::LazyLock;

/// The database that exists from the beginning.
pub const DATABASE: &str = "postgres";

const POSTGRES_COLUMNS: &str = include_str!("data/columns.txt");
const TIDELOCK_COLUMNS: &str = include_str!("data/tidelock.txt");

macro_rules! views {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../sql/catalog/", $name, ".sql")))),*]
    };
}

/// Builtin views: qualified name and query.
static VIEWS: &[(&str, &str)] = views![
    "information_schema.character_sets",
    "information_schema.check_constraints",
    "information_schema.collations",
    "information_schema.column_domain_usage",
    "information_schema.column_privileges",
    "information_schema.columns",
    "information_schema.constraint_column_usage",
    "information_schema.constraint_table_usage",
    "information_schema.domain_constraints",
    "information_schema.domains",
    "information_schema.enabled_roles",
    "information_schema.information_schema_catalog_name",
    "information_schema.key_column_usage",
    "information_schema.parameters",
    "information_schema.referential_constraints",
    "information_schema.role_table_grants",
    "information_schema.routines",
    "information_schema.schemata",
    "information_schema.sequences",
    "information_schema.table_constraints",
    "information_schema.table_privileges",
    "information_schema.tables",
    "information_schema.views",
    "pg_catalog.pg_indexes",
    "pg_catalog.pg_roles",
    "pg_catalog.pg_sequences",
    "pg_catalog.pg_shadow",
    "pg_catalog.pg_stat_all_tables",
    "pg_catalog.pg_stat_ssl",
    "pg_catalog.pg_stat_user_tables",
    "pg_catalog.pg_statio_all_tables",
    "pg_catalog.pg_tables",
    "pg_catalog.pg_user",
    "pg_catalog.pg_views",
    "tidelock.locks",
    "tidelock.sessions",
];

/// One line of a column file: `schema.name oid column:type ...`.
#[derive(Debug)]
struct Definition {
    qualified: &'static str,
    oid: Oid,
    columns: Vec<(&'static str, ColumnType)>,
}

static DEFINITIONS: LazyLock<Vec<Definition>> =
    LazyLock::new(|| POSTGRES_COLUMNS.lines().chain(TIDELOCK_COLUMNS.lines()).filter_map(definition).collect());

fn definition(line: &'static str) -> Option<Definition> {
    let mut words = line.split(' ');
    let (qualified, oid) = (words.next()?, words.next()?.parse().ok()?);
    let columns = words.filter_map(|word| word.split_once(':')).map(|(name, ty)| (name, type_named(ty).into())).collect();
    Some(Definition { qualified, oid, columns })
}

fn type_named(name: &str) -> DataType {
    all_types().iter().find(|info| info.name == name).map_or(DataType::TEXT, |info| info.ty)
}

/// A catalog with every builtin relation, to put users' ones on top.
pub fn catalog() -> CatalogBuilder {
    BASE.clone()
}

/// The same, of another database than the first; what they hold is shared.
pub fn catalog_of(oid: Oid, name: &str) -> CatalogBuilder {
    let mut builder = BASE.clone();
    builder.set_database(oid, name);
    builder
}

static BASE: LazyLock<CatalogBuilder> = LazyLock::new(|| {
    let mut builder = CatalogBuilder::new(DATABASE);
    for Definition { qualified, oid, columns } in DEFINITIONS.iter() {
        let Some((schema, name)) = qualified.split_once('.') else { continue };
        match VIEWS.iter().find(|(view, _)| view == qualified) {
            Some((_, query)) => builder.put_builtin_view(*oid, schema, name, columns.clone(), (*query).to_owned()),
            None => builder.put_virtual(VirtualTable { oid: *oid, schema, name, columns: columns.clone() }),
        }
    }
    builder
});
