//! How a stored table is read.
//!
//! A [`Scan`] names one index and the keys to visit in it, as expressions; [`super::keys`] turns these into concrete bounds at execution.
//! Through a secondary index that does not cover the columns, the row is fetched from the primary index by the key in the entry.

use crate::ast::{RowLockStrength, RowLockWait};
use crate::catalog::{IndexDescriptor, TableDescriptor};
use crate::expr::Expr;
use crate::types::{ColumnType, DataType};
use std::sync::Arc;

/// Reads one table through one index.
#[derive(Clone, Debug)]
pub struct Scan {
    /// The table.
    pub table: Arc<TableDescriptor>,
    /// Alias, for EXPLAIN.
    pub alias: String,
    /// The index: None is the primary one, else a place in `table.indexes`.
    pub index: Option<usize>,
    /// Every needed column is in the entry, so the primary row is not fetched.
    pub covering: bool,
    /// Which keys.
    pub access: Access,
    /// Column positions to produce, in this order.
    pub columns: Vec<usize>,
    /// Over the produced row. Evaluated by the scan itself, *before* a row is locked; and again on the newest version after a wait.
    pub filter: Option<Expr>,
    /// From the end.
    pub reverse: bool,
    /// Stop after that many rows passed the filter (int8, NULL is no limit); never lock more.
    pub limit: Option<Expr>,
    /// Lock what is returned.
    pub lock: Option<RowLock>,
}

impl Scan {
    /// The index that is read.
    pub fn index(&self) -> &IndexDescriptor {
        self.index.and_then(|i| self.table.indexes.get(i)).unwrap_or(&self.table.primary)
    }
}

/// A row lock to take while reading.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RowLock {
    /// Strength.
    pub strength: RowLockStrength,
    /// What to do when someone else holds the row.
    pub wait: RowLockWait,
    /// Taken because the statement will write the row, not because the user wrote FOR UPDATE.
    pub implicit: bool,
}

/// Which keys of the index.
#[derive(Clone, Debug)]
pub enum Access {
    /// All of them.
    Full,
    /// Single rows: each list binds the full key of a unique index. Read with `Get`s.
    Points(Vec<Vec<KeyPart>>),
    /// Spans.
    Spans(Vec<KeySpan>),
}

/// Keys that share a prefix, and perhaps a range of the next column.
#[derive(Clone, Debug, Default)]
pub struct KeySpan {
    /// Values of the first key columns.
    pub prefix: Vec<KeyPart>,
    /// Lower bound of the next column, in value order (whatever the index's direction).
    pub lower: Option<KeyBound>,
    /// Upper bound of the next column.
    pub upper: Option<KeyBound>,
}

/// What one key column is bound to.
#[derive(Clone, Debug)]
pub enum KeyPart {
    /// One value.
    One(KeyValue),
    /// Any of some values (IN).
    Many(Vec<KeyValue>),
    /// Any element of an array (`= ANY($1)`).
    Elements(KeyValue),
    /// IS NULL.
    Null,
}

/// A bound of a range.
#[derive(Clone, Debug)]
pub struct KeyBound {
    /// The value.
    pub value: KeyValue,
    /// Does the bound itself belong to it?
    pub inclusive: bool,
}

/// An expression compared with a key column: over parameters and execution slots only, in a type of its own (int8 beside an int4
/// column, say), to be made one of the column's type before it is encoded.
#[derive(Clone, Debug)]
pub struct KeyValue {
    /// The expression.
    pub expr: Expr,
    /// The type in which the user's comparison happens.
    pub from: DataType,
    /// The key column's type.
    pub to: ColumnType,
}
