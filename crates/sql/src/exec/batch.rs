//! Rows under way: a batch is one flat list of values, so that a thousand rows cost one allocation.

use crate::error::{SqlError, SqlState};
use crate::types::Datum;

/// Rows in a batch, at most (scans may give fewer, joins finish a row's matches first).
pub const BATCH_ROWS: usize = 1024;

/// Bytes that one node may keep in memory (a hash table, a sort, a materialized side). Past it the statement fails with 53200.
/// Less is counted than held (a vector that grows exists twice), and `tests/bad_input.py` wants the whole process below 1.5 GB: a third of that.
pub const MATERIALIZED_BYTES_MAX: usize = 512 << 20;

/// Rows of one width, one after another.
#[derive(Clone, Debug, Default)]
pub struct RowBatch {
    width: usize,
    len: usize,
    values: Vec<Datum>,
}

impl RowBatch {
    /// An empty batch of rows of that width.
    pub fn new(width: usize) -> RowBatch {
        RowBatch { width, len: 0, values: Vec::new() }
    }

    /// Values per row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// No rows?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// One row.
    pub fn row(&self, at: usize) -> &[Datum] {
        self.values.get(at * self.width..(at + 1) * self.width).unwrap_or_default()
    }

    /// One row, to change.
    pub fn row_mut(&mut self, at: usize) -> &mut [Datum] {
        self.values.get_mut(at * self.width..(at + 1) * self.width).unwrap_or_default()
    }

    /// All rows in order.
    pub fn rows(&self) -> impl Iterator<Item = &[Datum]> {
        (0..self.len).map(|at| self.row(at))
    }

    /// Appends a row.
    pub fn push(&mut self, row: impl IntoIterator<Item = Datum>) {
        self.values.extend(row);
        self.len += 1;
        debug_assert_eq!(self.values.len(), self.len * self.width);
    }

    /// Appends a copy of a row.
    pub fn push_slice(&mut self, row: &[Datum]) {
        self.values.extend_from_slice(row);
        self.len += 1;
        debug_assert_eq!(self.values.len(), self.len * self.width);
    }

    /// Appends a row that `fill` writes at the end of the list; nothing is left when it fails or says no.
    pub fn try_push<E>(
        &mut self,
        fill: impl FnOnce(&mut Vec<Datum>) -> Result<(), E>,
        keep: impl FnOnce(&[Datum]) -> Result<bool, E>,
    ) -> Result<bool, E> {
        let from = self.values.len();
        let kept = fill(&mut self.values).and_then(|()| keep(&self.values[from..]));
        match kept {
            Ok(true) => self.len += 1,
            _ => self.values.truncate(from),
        }
        kept
    }

    /// Keeps the rows that `keep` says.
    pub fn retain<E>(&mut self, mut keep: impl FnMut(&[Datum]) -> Result<bool, E>) -> Result<(), E> {
        let mut kept = 0;
        for at in 0..self.len {
            if keep(self.row(at))? {
                if kept != at {
                    for column in 0..self.width {
                        self.values.swap(kept * self.width + column, at * self.width + column);
                    }
                }
                kept += 1;
            }
        }
        self.truncate(kept);
        Ok(())
    }

    /// Drops the rows from `len` on.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len {
            self.len = len;
            self.values.truncate(len * self.width);
        }
    }

    /// Drops the first rows.
    pub fn drop_front(&mut self, count: usize) {
        let count = count.min(self.len);
        self.values.drain(..count * self.width);
        self.len -= count;
    }

    /// Takes a row's values out, leaving NULLs: for those who visit each row once.
    pub fn take_row(&mut self, at: usize) -> Vec<Datum> {
        let row = self.values.get_mut(at * self.width..(at + 1) * self.width).unwrap_or_default();
        row.iter_mut().map(|value| std::mem::replace(value, Datum::Null)).collect()
    }

    /// Appends all rows of another batch of the same width.
    pub fn append(&mut self, mut other: RowBatch) {
        self.values.append(&mut other.values);
        self.len += other.len;
    }

    /// The rows as lists.
    pub fn into_rows(mut self) -> Vec<Vec<Datum>> {
        (0..self.len).map(|at| self.take_row(at)).collect()
    }

    /// Bytes in memory, roughly.
    pub fn bytes(&self) -> usize {
        self.values.iter().map(datum_bytes).sum()
    }
}

/// Bytes of a value in memory, roughly.
pub(super) fn datum_bytes(value: &Datum) -> usize {
    let beside = match value {
        Datum::Text(text) if text.is_heap_allocated() => text.len(),
        Datum::Bytes(bytes) => bytes.len(),
        Datum::Array(array) => array.elements.iter().map(datum_bytes).sum(),
        Datum::Record(fields) => fields.iter().map(datum_bytes).sum(),
        _ => 0,
    };
    size_of::<Datum>() + beside
}

/// Counts what a node keeps.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MemoryUse {
    bytes: usize,
}

impl MemoryUse {
    /// Notes some more bytes; 53200 past [`MATERIALIZED_BYTES_MAX`].
    pub(super) fn grow(&mut self, bytes: usize) -> Result<(), SqlError> {
        self.bytes += bytes;
        if self.bytes <= MATERIALIZED_BYTES_MAX {
            return Ok(());
        }
        let message = format!("a step of the query needs more than {} MB of memory", MATERIALIZED_BYTES_MAX >> 20);
        Err(SqlError::new(SqlState::OUT_OF_MEMORY, message).hint(
            "Nested loops, windows, recursive queries, and joins and DISTINCT whose rows must keep their order, have no temporary files.",
        ))
    }

    /// What was noted.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Notes a row.
    pub(super) fn row(&mut self, row: &[Datum]) -> Result<(), SqlError> {
        self.grow(row.iter().map(datum_bytes).sum())
    }
}
