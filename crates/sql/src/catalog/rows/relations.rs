//! `pg_class`: tables, views and sequences, and an entry for each index.

use super::{Rows, VirtualScan, fill, in_order};
use crate::catalog::{Catalog, IndexDescriptor, Oid, RelationKind, TableDescriptor, TableStatistics};
use crate::types::Datum;

/// Rows are counted in pages of this size, as PostgreSQL does.
const PAGE_BYTES: f64 = 8192.0;
/// Views of PostgreSQL have OIDs from here; its tables are below.
const FIRST_VIEW_OID: Oid = 10_000;
const HEAP: Oid = 2;
const BTREE: Oid = 403;

/// A relation that has a row in `pg_class`.
pub(super) struct Class<'c> {
    table: &'c TableDescriptor,
    index: Option<&'c IndexDescriptor>,
    statistics: Option<&'c TableStatistics>,
}

impl Class<'_> {
    fn oid(&self) -> Oid {
        self.index.map_or(self.table.oid, |index| index.oid)
    }

    fn kind(&self) -> u8 {
        if self.index.is_some() { b'i' } else { relation_kind(self.table) }
    }

    fn is_table(&self) -> bool {
        self.kind() == b'r'
    }
}

/// `relkind`.
pub(super) fn relation_kind(table: &TableDescriptor) -> u8 {
    match table.kind {
        RelationKind::Table => b'r',
        RelationKind::View => b'v',
        RelationKind::Sequence => b'S',
        RelationKind::Virtual if table.oid < FIRST_VIEW_OID => b'r',
        RelationKind::Virtual => b'v',
    }
}

/// The indexes that users see: all but the hidden row id's.
pub(in crate::catalog) fn visible_indexes(table: &TableDescriptor) -> impl Iterator<Item = &IndexDescriptor> {
    table.all_indexes().filter(|index| {
        index.oid != 0 && index.key.iter().all(|key| table.columns.get(key.column).is_some_and(|c| !c.hidden || c.is_expression()))
    })
}

static COLUMNS: &[(&str, fn(&Class<'_>) -> Datum)] =
    &[
        ("oid", |c| Datum::Oid(c.oid())),
        ("relname", |c| Datum::text(c.index.map_or(c.table.name.as_str(), |index| index.name.as_str()))),
        ("relnamespace", |c| Datum::Oid(c.table.schema_oid)),
        ("relacl", |c| if c.index.is_some() { Datum::Null } else { crate::catalog::AclItem::datum(&c.table.acl) }),
        ("relam", |c| {
            Datum::Oid(match c.kind() {
                b'i' => BTREE,
                b'r' => HEAP,
                _ => 0,
            })
        }),
        ("relfilenode", |c| Datum::Oid(if c.kind() == b'v' { 0 } else { c.oid() })),
        ("relpages", |c| Datum::Int4(c.statistics.map_or(0, |s| (s.row_count * s.row_bytes / PAGE_BYTES).ceil() as i32))),
        ("reltuples", |c| {
            Datum::Float4(match c.statistics {
                Some(statistics) => statistics.row_count as f32,
                // Never analyzed; relations without rows of their own have none.
                None => {
                    if c.is_table() {
                        -1.0
                    } else {
                        0.0
                    }
                }
            })
        }),
        ("relhasindex", |c| Datum::Bool(c.index.is_none() && visible_indexes(c.table).next().is_some())),
        ("relpersistence", |c| Datum::Char(if c.table.temporary { b't' } else { b'p' })),
        ("relkind", |c| Datum::Char(c.kind())),
        ("relnatts", |c| {
            Datum::Int2(c.index.map_or_else(
                || c.table.columns.iter().filter(|column| !column.hidden).count(),
                |index| index.key.len() + index.include.len(),
            ) as i16)
        }),
        ("relchecks", |c| Datum::Int2(if c.index.is_some() { 0 } else { c.table.checks.len() as i16 })),
        ("relhasrules", |c| Datum::Bool(c.kind() == b'v')),
        // Both ends of a foreign key have triggers in PostgreSQL; psql shows foreign keys only then.
        ("relhastriggers", |c| Datum::Bool(c.index.is_none() && !(c.table.foreign_keys.is_empty() && c.table.referenced_by.is_empty()))),
        ("relispopulated", |_| Datum::Bool(true)),
        ("relreplident", |c| Datum::Char(if c.is_table() && c.table.kind == RelationKind::Table { b'd' } else { b'n' })),
        ("reloptions", |c| options(c)),
    ];

fn options(class: &Class<'_>) -> Datum {
    if class.index.is_some() || class.table.options.is_empty() {
        return Datum::Null;
    }
    let pairs: Vec<String> = class.table.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    super::texts(pairs.iter().map(String::as_str))
}

/// `pg_class`.
pub(super) fn classes(scan: &VirtualScan<'_>, catalog: &Catalog) -> Rows {
    let entries = in_order(catalog).flat_map(|relation| {
        let table = relation.descriptor().as_ref();
        let statistics = catalog.statistics(table.oid).map(AsRef::as_ref);
        let own = std::iter::once(Class { table, index: None, statistics });
        own.chain(visible_indexes(table).map(move |index| Class { table, index: Some(index), statistics }))
    });
    fill(scan, COLUMNS, entries)
}
