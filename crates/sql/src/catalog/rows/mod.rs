//! The rows of virtual tables.
//!
//! A table is a list of getters, one per column that has something to say: `("relname", |c| name(&c.name))`. `fill` matches them with the columns
//! of `data/columns.txt` once per scan; a column without a getter has its type's empty value. Tables that nobody lists here have no rows:
//! there are no policies, publications or foreign servers to show.
//!
//! Everything is built per scan, from the catalog snapshot of the statement and from [`SystemFacts`]; the executor filters.

#![allow(clippy::type_complexity, reason = "a getter takes its item with any lifetime, which an alias cannot say")]

mod columns;
mod constants;
mod constraints;
mod databases;
mod indexes;
mod locks;
mod objects;
mod relations;
mod routines;
mod server;
mod statistics;
mod time_zones;
mod types;

pub(super) use constraints::{Constraint, Kind as ConstraintKind, of_table as constraints_of};
pub(crate) use objects::{PG_CLASS, PG_CONSTRAINT, PG_NAMESPACE, PG_PROC};
pub(super) use routines::{Routine, operator, operators_named, routine, routine_named};

use super::{Catalog, Relation, SchemaDescriptor, SystemFacts, VirtualTable};
use crate::error::SqlError;
use crate::types::{Array, ColumnType, DataType, Datum};
use std::sync::Arc;

/// What to read of a virtual table.
#[derive(Clone, Copy, Debug)]
pub struct VirtualScan<'s> {
    /// The table.
    pub table: &'s VirtualTable,
    /// Only rows with these values matter: position and value. Rows with others may be left out.
    pub only: &'s [(usize, Datum)],
}

/// The rows of one table.
pub(super) type Rows = Vec<Vec<Datum>>;

/// What fills a column.
pub(super) type Getter<T> = (&'static str, fn(&T) -> Datum);

/// The rows of a virtual table, with all its columns.
pub fn rows(scan: &VirtualScan<'_>, catalog: &Arc<Catalog>, facts: &dyn SystemFacts) -> Result<Vec<Vec<Datum>>, SqlError> {
    Ok(match (scan.table.schema, scan.table.name) {
        ("tidelock", "metrics") => server::metrics(scan, facts),
        ("tidelock", "settings") => server::short_settings(scan, facts),
        ("tidelock", "compat") => constants::compat(scan),
        ("tidelock", "held_locks") => locks::held(scan, catalog, facts),
        ("tidelock", "lock_waits") => locks::waits(scan, catalog, facts),
        ("pg_catalog", name) => match name {
            "pg_class" => relations::classes(scan, catalog),
            "pg_attribute" => columns::attributes(scan, catalog),
            "pg_attrdef" => columns::defaults(scan, catalog),
            "pg_index" => indexes::indexes(scan, catalog),
            "pg_constraint" => constraints::constraints(scan, catalog),
            "pg_namespace" => objects::namespaces(scan, catalog),
            "pg_database" => databases::databases(scan, facts),
            "pg_db_role_setting" => databases::settings(scan, facts),
            "pg_shdescription" => databases::comments(scan, facts),
            "pg_sequence" => objects::sequences(scan, catalog),
            "pg_depend" => objects::dependencies(scan, catalog),
            "pg_description" => objects::descriptions(scan, catalog),
            "pg_rewrite" => objects::rewrites(scan, catalog),
            "pg_type" => types::types(scan, catalog),
            "pg_enum" => types::labels(scan, catalog),
            "pg_extension" => objects::extensions(scan),
            "pg_authid" => objects::roles(scan, facts),
            "pg_proc" => routines::routines(scan, catalog),
            "pg_operator" => routines::operators(scan),
            "pg_settings" => server::settings(scan, facts),
            "pg_stat_activity" => server::activity(scan, catalog, facts),
            "pg_prepared_statements" => server::prepared_statements(scan, facts),
            "pg_cursors" => server::cursors(scan, facts),
            "pg_stats" => statistics::columns(scan, catalog),
            "pg_timezone_names" => time_zones::zones(scan),
            "pg_locks" => locks::postgres(scan, catalog, facts),
            name => constants::rows(scan, name),
        },
        _ => Vec::new(),
    })
}

/// One row per item, by the getters.
pub(super) fn fill<T>(scan: &VirtualScan<'_>, getters: &[Getter<T>], items: impl Iterator<Item = T>) -> Rows {
    let table = scan.table;
    debug_assert!(
        getters.iter().all(|(name, _)| table.columns.iter().any(|(column, _)| column == name)),
        "{} has no such column",
        table.name
    );
    let column = |(column, ty): &(&'static str, ColumnType)| {
        let getter = getters.iter().find(|(name, _)| name == column);
        getter.map(|(_, getter)| *getter).ok_or_else(|| empty(column, ty.ty))
    };
    let by_column: Vec<Source<T>> = table.columns.iter().map(column).collect();
    let value = |source: &Source<T>, item: &T| match source {
        Ok(getter) => getter(item),
        Err(constant) => constant.clone(),
    };
    let wanted =
        |item: &T| scan.only.iter().all(|(at, only)| by_column.get(*at).is_none_or(|source| may_equal(&value(source, item), only)));
    items.filter(wanted).map(|item| by_column.iter().map(|source| value(source, &item)).collect()).collect()
}

/// All relations in the order in which they were made, so that what has no ORDER BY comes out the same every time.
pub(super) fn in_order(catalog: &Catalog) -> impl Iterator<Item = &Relation> {
    let mut all: Vec<&Relation> = catalog.relations().collect();
    all.sort_unstable_by_key(|relation| relation.descriptor().oid);
    all.into_iter()
}

/// All schemas, likewise.
pub(super) fn schemas_in_order(catalog: &Catalog) -> impl Iterator<Item = &SchemaDescriptor> {
    let mut all: Vec<&SchemaDescriptor> = catalog.schemas().map(AsRef::as_ref).collect();
    all.sort_unstable_by_key(|schema| schema.oid);
    all.into_iter()
}

/// Where a column's value comes from: a getter, or always the same.
type Source<T> = Result<fn(&T) -> Datum, Datum>;

/// Could the two be equal? Only for numbers of objects and names is the answer ever no.
fn may_equal(value: &Datum, wanted: &Datum) -> bool {
    match (value, wanted) {
        (Datum::Oid(value), Datum::Oid(wanted)) => value == wanted,
        (Datum::Text(value), Datum::Text(wanted)) => value == wanted,
        _ => true,
    }
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
