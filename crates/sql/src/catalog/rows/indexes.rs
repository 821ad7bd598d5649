//! `pg_index`.

use super::columns::collation;
use super::relations::visible_indexes;
use super::{Rows, VirtualScan, constants::default_opclass, fill, in_order, vector};
use crate::catalog::{Catalog, Column, IndexDescriptor, IndexState, TableDescriptor};
use crate::types::{DataType, Datum};

/// Bits of `indoption`.
const DESCENDING: i16 = 1;
const NULLS_FIRST: i16 = 2;

struct Entry<'c> {
    table: &'c TableDescriptor,
    index: &'c IndexDescriptor,
}

impl Entry<'_> {
    /// One value per key column.
    fn per_key(&self, element: DataType, value: impl Fn(DataType) -> u32) -> Datum {
        let types = self.index.key.iter().map(|key| self.table.columns.get(key.column).map_or(DataType::TEXT, |c| c.ty.ty));
        vector(element, types.map(|ty| Datum::Oid(value(ty))).collect())
    }

    fn columns(&self) -> Vec<Datum> {
        let positions = self.index.key.iter().map(|key| key.column).chain(self.index.include.iter().copied());
        // 0 is an expression.
        let number =
            |position: usize| if self.table.columns.get(position).is_some_and(Column::is_expression) { 0 } else { position as i16 + 1 };
        positions.map(|position| Datum::Int2(number(position))).collect()
    }
}

static COLUMNS: &[(&str, fn(&Entry<'_>) -> Datum)] = &[
    ("indexrelid", |e| Datum::Oid(e.index.oid)),
    ("indrelid", |e| Datum::Oid(e.table.oid)),
    ("indnatts", |e| Datum::Int2((e.index.key.len() + e.index.include.len()) as i16)),
    ("indnkeyatts", |e| Datum::Int2(e.index.key.len() as i16)),
    ("indisunique", |e| Datum::Bool(e.index.unique)),
    ("indnullsnotdistinct", |e| Datum::Bool(!e.index.nulls_distinct)),
    ("indisprimary", |e| Datum::Bool(e.table.declared_key().is_some_and(|key| key.index_id == e.index.index_id))),
    ("indimmediate", |e| Datum::Bool(!e.index.deferrable)),
    ("indisvalid", |e| Datum::Bool(e.index.state == IndexState::Ready)),
    ("indisready", |_| Datum::Bool(true)),
    ("indislive", |_| Datum::Bool(true)),
    ("indkey", |e| vector(DataType::INT2, e.columns())),
    ("indcollation", |e| e.per_key(DataType::OID, collation)),
    ("indclass", |e| e.per_key(DataType::OID, default_opclass)),
    ("indoption", |e| {
        vector(
            DataType::INT2,
            e.index
                .key
                .iter()
                .map(|key| Datum::Int2(if key.descending { DESCENDING } else { 0 } | if key.nulls_first { NULLS_FIRST } else { 0 }))
                .collect(),
        )
    }),
    ("indexprs", |e| {
        let columns = e.index.key.iter().filter_map(|key| e.table.columns.get(key.column)).filter(|column| column.is_expression());
        let texts: Vec<&str> = columns.map(|column| column.name.as_str()).collect();
        if texts.is_empty() { Datum::Null } else { Datum::text(texts.join(", ")) }
    }),
    ("indpred", |e| super::optional(e.index.predicate.as_deref())),
];

/// `pg_index`.
pub(super) fn indexes(scan: &VirtualScan<'_>, catalog: &Catalog) -> Rows {
    let entries = in_order(catalog).flat_map(|relation| {
        let table = relation.descriptor().as_ref();
        visible_indexes(table).map(move |index| Entry { table, index })
    });
    fill(scan, COLUMNS, entries)
}
