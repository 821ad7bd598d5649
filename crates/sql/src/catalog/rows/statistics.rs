//! `pg_stats`: what ANALYZE learned, column by column.

use super::{Rows, VirtualScan, fill, in_order, texts};
use crate::catalog::{Catalog, Column, ColumnStatistics, TableDescriptor};
use crate::types::{DataType, Datum};

struct Entry<'c> {
    table: &'c TableDescriptor,
    column: &'c Column,
    rows: f64,
    statistics: &'c ColumnStatistics,
}

impl Entry<'_> {
    /// Distinct values: a number, or minus their share of the rows when there are as many as a tenth of them.
    fn distinct(&self) -> f64 {
        let distinct = self.statistics.distinct;
        if self.rows > 0.0 && distinct > self.rows / 10.0 { -(distinct / self.rows) } else { distinct }
    }
}

static COLUMNS: &[(&str, fn(&Entry<'_>) -> Datum)] = &[
    ("schemaname", |e| Datum::text(e.table.schema.as_str())),
    ("tablename", |e| Datum::text(e.table.name.as_str())),
    ("attname", |e| Datum::text(e.column.name.as_str())),
    ("null_frac", |e| Datum::Float4(e.statistics.null_fraction as f32)),
    ("avg_width", |e| Datum::Int4(e.statistics.width.round() as i32)),
    ("n_distinct", |e| Datum::Float4(e.distinct() as f32)),
    ("most_common_vals", |e| match e.statistics.most_common.as_slice() {
        [] => Datum::Null,
        values => texts(values.iter().map(|(value, _)| value.as_str())),
    }),
    ("most_common_freqs", |e| match e.statistics.most_common.as_slice() {
        [] => Datum::Null,
        values => Datum::array(DataType::FLOAT4, values.iter().map(|(_, share)| Datum::Float4(*share as f32)).collect()),
    }),
    ("histogram_bounds", |e| match e.statistics.histogram.as_slice() {
        [] => Datum::Null,
        bounds => texts(bounds.iter().map(String::as_str)),
    }),
    ("correlation", |_| Datum::Null),
];

/// `pg_stats`.
pub(super) fn columns(scan: &VirtualScan<'_>, catalog: &Catalog) -> Rows {
    let entries = in_order(catalog).flat_map(|relation| {
        let table = relation.descriptor().as_ref();
        let found = catalog.statistics(table.oid);
        let rows = found.map_or(0.0, |statistics| statistics.row_count);
        table
            .visible_columns()
            .filter_map(move |(position, column)| Some(Entry { table, column, rows, statistics: found?.column(position)? }))
    });
    fill(scan, COLUMNS, entries)
}
