//! Sizes, as far as ANALYZE knows them: rows times their average width. A table that was never analyzed has size 0.

use super::Call;
use crate::catalog::{Catalog, IndexDescriptor, RelationKind, TableDescriptor};
use crate::error::SqlError;
use crate::exec::ddl::no_such_database;
use crate::types::Datum;

/// Bytes of an index entry beyond its columns.
const ENTRY_OVERHEAD: f64 = 16.0;

fn table_bytes(catalog: &Catalog, table: &TableDescriptor) -> f64 {
    catalog.statistics(table.oid).map_or(0.0, |statistics| statistics.row_count * statistics.row_bytes)
}

/// The primary index holds the rows themselves, so it has no size of its own.
fn index_bytes(catalog: &Catalog, table: &TableDescriptor, index: &IndexDescriptor) -> f64 {
    let Some(statistics) = catalog.statistics(table.oid).filter(|_| index.index_id != table.primary.index_id) else { return 0.0 };
    let columns = index.key.iter().chain(&table.primary.key).map(|key| key.column).chain(index.include.iter().copied());
    let width: f64 = columns.map(|position| statistics.column(position).map_or(0.0, |column| column.width)).sum();
    statistics.row_count * (width + ENTRY_OVERHEAD)
}

fn all_index_bytes(catalog: &Catalog, table: &TableDescriptor) -> f64 {
    table.indexes.iter().map(|index| index_bytes(catalog, table, index)).sum()
}

/// `pg_relation_size` and its like.
pub(super) fn relation(call: &Call<'_>) -> Result<Datum, SqlError> {
    let Some((table, index)) = call.relation(0)? else { return Ok(Datum::Null) };
    let catalog = call.catalog;
    let bytes = match (call.name, index) {
        ("pg_indexes_size", Some(_)) => 0.0,
        ("pg_indexes_size", None) => all_index_bytes(catalog, table),
        (_, Some(index)) => index_bytes(catalog, table, index),
        ("pg_total_relation_size", None) => table_bytes(catalog, table) + all_index_bytes(catalog, table),
        (_, None) => table_bytes(catalog, table),
    };
    Ok(Datum::Int8(bytes as i64))
}

/// `pg_database_size`, of a database by name or OID.
pub(super) fn database(call: &Call<'_>) -> Result<Datum, SqlError> {
    let catalog = match call.args.first() {
        Some(Datum::Text(name)) => Some(call.session.catalog_of(call.database_named(name)?).ok_or_else(|| no_such_database(name))?),
        _ => call.session.catalog_of(call.oid(0)?),
    };
    Ok(catalog.map_or(Datum::Null, |catalog| Datum::Int8(all_bytes(&catalog) as i64)))
}

/// `pg_tablespace_size`: everything is in one place.
pub(super) fn tablespace(call: &Call<'_>) -> Datum {
    let shared = call.session.shared();
    let catalogs = shared.databases().filter_map(|database| call.session.catalog_of(database.oid));
    Datum::Int8(catalogs.map(|catalog| all_bytes(&catalog)).sum::<f64>() as i64)
}

fn all_bytes(catalog: &Catalog) -> f64 {
    let tables = catalog.relations().map(|relation| relation.descriptor()).filter(|table| table.kind == RelationKind::Table);
    tables.map(|table| table_bytes(catalog, table) + all_index_bytes(catalog, table)).sum()
}
