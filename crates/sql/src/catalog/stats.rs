//! What ANALYZE learned about a table, and what the planner assumes without it.

use serde::{Deserialize, Serialize};

/// Rows assumed for a table that was never analyzed.
pub const DEFAULT_ROW_COUNT: f64 = 1000.0;

/// Statistics of one table.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TableStatistics {
    /// Rows.
    pub row_count: f64,
    /// Per column, by position; may be shorter than the table is wide.
    pub columns: Vec<Option<ColumnStatistics>>,
    /// Average bytes of a row.
    pub row_bytes: f64,
}

/// Statistics of one column.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ColumnStatistics {
    /// Share of NULLs, 0 to 1.
    pub null_fraction: f64,
    /// Distinct values (an absolute number).
    pub distinct: f64,
    /// Average bytes of a value.
    pub width: f64,
    /// Most common values in text form, with their share.
    pub most_common: Vec<(String, f64)>,
    /// Bounds of buckets of equal height, in text form, without the most common values.
    pub histogram: Vec<String>,
}

impl TableStatistics {
    /// A column's statistics.
    pub fn column(&self, position: usize) -> Option<&ColumnStatistics> {
        self.columns.get(position).and_then(Option::as_ref)
    }
}
