//! The rows of virtual tables.
//!
//! A table is a list of getters, one per column that has something to say: `("relname", |c| name(&c.name))`. [`fill`] matches them with the columns
//! of `data/columns.txt` once per scan; a column without a getter has its type's empty value. Tables that nobody lists here have no rows:
//! there are no policies, publications or foreign servers to show.
//!
//! Everything is built per scan, from the catalog snapshot of the statement and from [`SystemFacts`]; the executor filters.

mod columns;
mod constants;
mod constraints;
mod indexes;
mod locks;
mod objects;
mod relations;
mod routines;
mod server;
mod statistics;
mod time_zones;

pub(super) use constraints::{Constraint, Kind as ConstraintKind, of_table as constraints_of};
pub(super) use objects::{PG_CLASS, PG_NAMESPACE};
pub(super) use routines::{Routine, operator, operators_named, routine, routine_named};

use super::{Catalog, SystemFacts, VirtualTable};
use crate::error::SqlError;
use crate::types::{Array, DataType, Datum};
use std::sync::Arc;

/// The rows of one table.
pub(super) type Rows = Vec<Vec<Datum>>;

/// What fills a column.
pub(super) type Getter<T> = (&'static str, fn(&T) -> Datum);

/// All rows of a virtual table, with all its columns.
pub fn rows(table: &VirtualTable, catalog: &Arc<Catalog>, facts: &dyn SystemFacts) -> Result<Vec<Vec<Datum>>, SqlError> {
    Ok(match (table.schema, table.name) {
        ("tidelock", "metrics") => server::metrics(table, facts),
        ("tidelock", "settings") => server::short_settings(table, facts),
        ("tidelock", "held_locks") => locks::held(table, catalog, facts),
        ("tidelock", "lock_waits") => locks::waits(table, catalog, facts),
        ("pg_catalog", name) => match name {
            "pg_class" => relations::classes(table, catalog),
            "pg_attribute" => columns::attributes(table, catalog),
            "pg_attrdef" => columns::defaults(table, catalog),
            "pg_index" => indexes::indexes(table, catalog),
            "pg_constraint" => constraints::constraints(table, catalog),
            "pg_namespace" => objects::namespaces(table, catalog),
            "pg_database" => objects::databases(table, catalog),
            "pg_sequence" => objects::sequences(table, catalog),
            "pg_depend" => objects::dependencies(table, catalog),
            "pg_description" => objects::descriptions(table, catalog),
            "pg_rewrite" => objects::rewrites(table, catalog),
            "pg_authid" => objects::roles(table, facts),
            "pg_proc" => routines::routines(table),
            "pg_operator" => routines::operators(table),
            "pg_settings" => server::settings(table, facts),
            "pg_stat_activity" => server::activity(table, catalog, facts),
            "pg_prepared_statements" => server::prepared_statements(table, facts),
            "pg_cursors" => server::cursors(table, facts),
            "pg_stats" => statistics::columns(table, catalog),
            "pg_timezone_names" => time_zones::zones(table),
            "pg_locks" => locks::postgres(table, catalog, facts),
            name => constants::rows(table, name),
        },
        _ => Vec::new(),
    })
}

/// One row per item, by the getters.
pub(super) fn fill<T>(table: &VirtualTable, getters: &[Getter<T>], items: impl Iterator<Item = T>) -> Rows {
    let by_column: Vec<Result<fn(&T) -> Datum, Datum>> = table
        .columns
        .iter()
        .map(|(column, ty)| getters.iter().find(|(name, _)| name == column).map(|(_, getter)| *getter).ok_or_else(|| empty(column, ty.ty)))
        .collect();
    debug_assert!(getters.iter().all(|(name, _)| table.columns.iter().any(|(column, _)| column == name)), "{} has no such column", table.name);
    let row = |item: T| {
        let value = |column: &Result<fn(&T) -> Datum, Datum>| match column {
            Ok(getter) => getter(&item),
            Err(constant) => constant.clone(),
        };
        by_column.iter().map(value).collect()
    };
    items.map(row).collect()
}

/// What a column has when nothing is known of it. Everything builtin is in pg_catalog and belongs to the first role.
fn empty(column: &str, ty: DataType) -> Datum {
    match ty {
        DataType::OID if column.ends_with("namespace") => Datum::Oid(super::snapshot::PG_CATALOG_OID),
        DataType::OID if column.ends_with("owner") => Datum::Oid(super::functions::OWNER_OID),
        DataType::OID | DataType::REGPROC | DataType::XID => Datum::Oid(0),
        DataType::BOOL => Datum::Bool(false),
        DataType::INT2 => Datum::Int2(0),
        DataType::INT4 => Datum::Int4(0),
        DataType::INT8 => Datum::Int8(0),
        DataType::FLOAT4 => Datum::Float4(0.0),
        DataType::FLOAT8 => Datum::Float8(0.0),
        DataType::CHAR => Datum::Char(0),
        DataType::INT2VECTOR => vector(DataType::INT2, Vec::new()),
        DataType::OIDVECTOR => vector(DataType::OID, Vec::new()),
        _ => Datum::Null,
    }
}

/// `int2vector` and `oidvector`: arrays that count from 0.
pub(super) fn vector(element: DataType, elements: Vec<Datum>) -> Datum {
    Datum::Array(Arc::new(Array { element, dims: vec![(elements.len() as i32, 0)], elements }))
}

/// A text that may be missing.
pub(super) fn optional(text: Option<&str>) -> Datum {
    text.map_or(Datum::Null, Datum::text)
}

/// An array of texts.
pub(super) fn texts<'t>(items: impl Iterator<Item = &'t str>) -> Datum {
    Datum::array(DataType::TEXT, items.map(Datum::text).collect())
}
