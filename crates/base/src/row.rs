//! The row codec: columns at known offsets inside a value.
//!
//! ```text
//!   +-------+---------+-------------+-----------------+-----------------
//!   | width | columns | null bitmap | end offsets     | column bytes ...
//!   | u8    | u16 LE  | 1 bit each  | columns x width |
//!   +-------+---------+-------------+-----------------+-----------------
//! ```
//!
//! `width` (1, 2 or 4) is the size of an offset: most rows are short and pay one byte a column. Any column is reached in
//! constant time, so a statement decodes only what it uses, and the store answers "did one of *these* columns change?"
//! ([`same_columns`]) by comparing bytes. What a column's bytes mean is SQL's affair.
//!
//! A row written before `ALTER TABLE ... ADD COLUMN` has fewer columns than its table: [`RowView::column`] then says
//! [`Column::Missing`] and the catalog knows the value.

use std::fmt;

/// Columns a table may have; PostgreSQL's bound.
pub const MAX_COLUMNS: usize = 1600;

const HEADER_BYTES: usize = 3;

/// One column of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column<'a> {
    /// NULL.
    Null,
    /// Its bytes.
    Bytes(&'a [u8]),
    /// The row is older than the column.
    Missing,
}

/// The value is not a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a stored value of {bytes} bytes is not a row")]
pub struct CorruptRow {
    /// Its length.
    pub bytes: usize,
}

/// Collects the columns of one row, in order, and encodes it.
#[derive(Default)]
pub struct RowBuilder {
    ends: Vec<u32>,
    nulls: Vec<bool>,
    body: Vec<u8>,
}

impl RowBuilder {
    /// An empty row.
    pub fn new() -> RowBuilder {
        RowBuilder::default()
    }

    /// Appends NULL.
    pub fn null(&mut self) {
        self.ends.push(self.body.len() as u32);
        self.nulls.push(true);
    }

    /// Appends a column by letting `write` add its bytes.
    pub fn column(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.body);
        self.ends.push(self.body.len() as u32);
        self.nulls.push(false);
    }

    /// Encodes the row and leaves the builder empty, its buffers kept.
    pub fn finish(&mut self) -> Vec<u8> {
        let columns = self.ends.len();
        debug_assert!(columns <= MAX_COLUMNS);
        let width = match self.body.len() {
            0..=0xff => 1,
            0x100..=0xffff => 2,
            _ => 4,
        };
        let bitmap = columns.div_ceil(8);
        let mut out = Vec::with_capacity(HEADER_BYTES + bitmap + columns * width + self.body.len());
        out.push(width as u8);
        out.extend_from_slice(&(columns as u16).to_le_bytes());
        out.resize(HEADER_BYTES + bitmap, 0);
        for (column, _) in self.nulls.iter().enumerate().filter(|(_, null)| **null) {
            out[HEADER_BYTES + column / 8] |= 1 << (column % 8);
        }
        for end in &self.ends {
            out.extend_from_slice(&end.to_le_bytes()[..width]);
        }
        out.extend_from_slice(&self.body);
        self.ends.clear();
        self.nulls.clear();
        self.body.clear();
        out
    }
}

/// A row, read in place.
#[derive(Clone, Copy)]
pub struct RowView<'a> {
    bytes: &'a [u8],
    columns: usize,
    width: usize,
    offsets: usize,
    body: usize,
}

impl<'a> RowView<'a> {
    /// Looks at a value as a row.
    pub fn new(bytes: &'a [u8]) -> Result<RowView<'a>, CorruptRow> {
        let corrupt = CorruptRow { bytes: bytes.len() };
        let [width, low, high, ..] = bytes else { return Err(corrupt) };
        let columns = usize::from(u16::from_le_bytes([*low, *high]));
        let width = usize::from(*width);
        if !matches!(width, 1 | 2 | 4) || columns > MAX_COLUMNS {
            return Err(corrupt);
        }
        let offsets = HEADER_BYTES + columns.div_ceil(8);
        let body = offsets + columns * width;
        if body > bytes.len() {
            return Err(corrupt);
        }
        let row = RowView { bytes, columns, width, offsets, body };
        let sound = columns == 0 || body + row.end(columns - 1) == bytes.len();
        if sound { Ok(row) } else { Err(corrupt) }
    }

    /// How many columns the row was written with.
    pub fn len(&self) -> usize {
        self.columns
    }

    /// A row without columns?
    pub fn is_empty(&self) -> bool {
        self.columns == 0
    }

    /// One column, counted from 0.
    pub fn column(&self, column: usize) -> Column<'a> {
        if column >= self.columns {
            return Column::Missing;
        }
        if self.bytes[HEADER_BYTES + column / 8] & (1 << (column % 8)) != 0 {
            return Column::Null;
        }
        let start = if column == 0 { 0 } else { self.end(column - 1) };
        let end = self.end(column);
        // A corrupt offset must not panic: an impossible slice reads as missing, and the type decoder complains.
        self.bytes.get(self.body + start..self.body + end).map_or(Column::Missing, Column::Bytes)
    }

    fn end(&self, column: usize) -> usize {
        let at = self.offsets + column * self.width;
        let mut end = 0;
        for byte in (0..self.width).rev() {
            end = end << 8 | usize::from(self.bytes[at + byte]);
        }
        end
    }
}

impl fmt::Debug for RowView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries((0..self.columns).map(|c| self.column(c))).finish()
    }
}

/// A set of columns: which ones a statement looked at. Columns from 63 on share one bit, so a wide table errs towards
/// "used".
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ColumnSet(u64);

impl ColumnSet {
    const OVERFLOW: usize = 63;
    /// No column: only the row's existence matters.
    pub const NONE: ColumnSet = ColumnSet(0);
    /// Every column, or a value that is not a row.
    pub const ALL: ColumnSet = ColumnSet(u64::MAX);

    /// Adds a column.
    pub fn insert(&mut self, column: usize) {
        self.0 |= 1 << column.min(Self::OVERFLOW);
    }

    /// Is the column in?
    pub fn contains(self, column: usize) -> bool {
        self.0 & 1 << column.min(Self::OVERFLOW) != 0
    }

    /// Both sets' columns.
    #[must_use]
    pub fn union(self, other: ColumnSet) -> ColumnSet {
        ColumnSet(self.0 | other.0)
    }

    /// Are all of `other`'s columns in this set?
    pub fn covers(self, other: ColumnSet) -> bool {
        self.0 & other.0 == other.0
    }
}

impl FromIterator<usize> for ColumnSet {
    fn from_iter<I: IntoIterator<Item = usize>>(columns: I) -> ColumnSet {
        let mut set = ColumnSet::NONE;
        columns.into_iter().for_each(|column| set.insert(column));
        set
    }
}

impl fmt::Debug for ColumnSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == ColumnSet::ALL {
            return f.write_str("all");
        }
        f.debug_set().entries((0..=Self::OVERFLOW).filter(|c| self.contains(*c))).finish()
    }
}

/// Do two versions of a row agree in all of `columns`? This is what "refresh by value" asks: TPC-C's New-Order reads
/// `w_tax` while each Payment rewrites `w_ytd` beside it, and the answer is still yes.
///
/// `None` is "no row": it agrees only with "no row".
pub fn same_columns(old: Option<&[u8]>, new: Option<&[u8]>, columns: ColumnSet) -> bool {
    let (old, new) = match (old, new) {
        (None, None) => return true,
        (Some(old), Some(new)) => (old, new),
        _ => return false,
    };
    if old == new {
        return true;
    }
    if columns == ColumnSet::ALL {
        return false;
    }
    let (Ok(old), Ok(new)) = (RowView::new(old), RowView::new(new)) else { return false };
    let last = old.len().max(new.len());
    (0..last).filter(|c| columns.contains(*c)).all(|c| old.column(c) == new.column(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(columns: &[Option<&[u8]>]) -> Vec<u8> {
        let mut builder = RowBuilder::new();
        for column in columns {
            match column {
                Some(bytes) => builder.column(|out| out.extend_from_slice(bytes)),
                None => builder.null(),
            }
        }
        builder.finish()
    }

    #[test]
    fn columns_come_back_at_every_width() {
        for long in [1usize, 300, 70_000] {
            let big = vec![7u8; long];
            let bytes = row(&[Some(b"ab"), None, Some(&big), Some(b"")]);
            let view = RowView::new(&bytes).unwrap();
            assert_eq!(view.column(0), Column::Bytes(b"ab"));
            assert_eq!(view.column(1), Column::Null);
            assert_eq!(view.column(2), Column::Bytes(&big));
            assert_eq!(view.column(3), Column::Bytes(b""));
            assert_eq!(view.column(4), Column::Missing);
        }
    }

    #[test]
    fn garbage_is_refused() {
        assert!(RowView::new(b"").is_err());
        assert!(RowView::new(&[9, 1, 0, 0, 0]).is_err());
        assert!(RowView::new(&[1, 1, 0, 0, 200]).is_err());
        assert!(RowView::new(&[1, 255, 255]).is_err());
    }

    #[test]
    fn refresh_by_value_sees_only_the_used_columns() {
        let old = row(&[Some(b"tax"), Some(b"ytd1")]);
        let new = row(&[Some(b"tax"), Some(b"ytd2")]);
        assert!(same_columns(Some(&old), Some(&new), ColumnSet::from_iter([0])));
        assert!(!same_columns(Some(&old), Some(&new), ColumnSet::from_iter([1])));
        assert!(!same_columns(Some(&old), Some(&new), ColumnSet::ALL));
        assert!(same_columns(Some(&old), Some(&new), ColumnSet::NONE));
        assert!(!same_columns(Some(&old), None, ColumnSet::NONE));
    }
}
