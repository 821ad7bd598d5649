//! Rows as scans show and return them.
//!
//! A scan may show millions of rows, so none of them costs an allocation: [`RowRef`] points to where a row lies (a page of the disk, a memtable),
//! and [`RowPage`] packs the rows of one answer one behind the other in a single buffer.

use crate::{Key, Timestamp};

/// A row, looked at where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowRef<'a> {
    /// Its key.
    pub key: &'a [u8],
    /// Its value.
    pub value: &'a [u8],
    /// When that version was committed; a transaction's own writes say [`Timestamp::MAX`].
    pub ts: Timestamp,
}

impl RowRef<'_> {
    /// A copy of its key.
    pub fn to_key(&self) -> Key {
        Key::from(self.key)
    }
}

/// Rows, packed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowPage {
    /// Key, value, key, value ...
    bytes: Vec<u8>,
    rows: Vec<Packed>,
}

/// Where a row ends; it begins where the one before it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packed {
    key_end: usize,
    end: usize,
    ts: Timestamp,
}

impl RowPage {
    /// Appends a copy of a row.
    pub fn push(&mut self, row: RowRef<'_>) {
        self.bytes.extend_from_slice(row.key);
        let key_end = self.bytes.len();
        self.bytes.extend_from_slice(row.value);
        self.rows.push(Packed { key_end, end: self.bytes.len(), ts: row.ts });
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// No rows?
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Bytes of all keys and values.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// One row.
    pub fn get(&self, at: usize) -> Option<RowRef<'_>> {
        let packed = self.rows.get(at)?;
        let start = at.checked_sub(1).map_or(0, |before| self.rows[before].end);
        Some(self.row(start, *packed))
    }

    /// The last row.
    pub fn last(&self) -> Option<RowRef<'_>> {
        self.get(self.rows.len().checked_sub(1)?)
    }

    /// All rows in order.
    pub fn iter(&self) -> impl Iterator<Item = RowRef<'_>> {
        self.rows.iter().scan(0, |start, packed| {
            let from = std::mem::replace(start, packed.end);
            Some(self.row(from, *packed))
        })
    }

    /// Appends another page's rows.
    pub fn append(&mut self, other: &RowPage) {
        let shift = self.bytes.len();
        self.bytes.extend_from_slice(&other.bytes);
        self.rows.extend(other.rows.iter().map(|row| Packed { key_end: row.key_end + shift, end: row.end + shift, ts: row.ts }));
    }

    fn row(&self, start: usize, packed: Packed) -> RowRef<'_> {
        RowRef { key: &self.bytes[start..packed.key_end], value: &self.bytes[packed.key_end..packed.end], ts: packed.ts }
    }
}

impl<'a> FromIterator<RowRef<'a>> for RowPage {
    fn from_iter<I: IntoIterator<Item = RowRef<'a>>>(rows: I) -> RowPage {
        let mut page = RowPage::default();
        rows.into_iter().for_each(|row| page.push(row));
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: &'static str, value: &'static str, ts: u64) -> RowRef<'static> {
        RowRef { key: key.as_bytes(), value: value.as_bytes(), ts: Timestamp(ts) }
    }

    #[test]
    fn rows_come_back_as_they_were_packed() {
        let rows = [row("a", "first", 1), row("", "", 2), row("bc", "", 3), row("d", "last", 4)];
        let page: RowPage = rows.into_iter().collect();
        assert_eq!(page.iter().collect::<Vec<_>>(), rows);
        assert_eq!((0..5).map(|at| page.get(at)).collect::<Vec<_>>(), [Some(rows[0]), Some(rows[1]), Some(rows[2]), Some(rows[3]), None]);
        assert_eq!((page.len(), page.bytes(), page.last()), (4, 13, Some(rows[3])));
        assert_eq!(RowPage::default().last(), None);
    }

    #[test]
    fn a_page_goes_behind_another() {
        let mut page: RowPage = [row("a", "1", 1)].into_iter().collect();
        page.append(&[row("b", "22", 2), row("c", "", 3)].into_iter().collect());
        page.append(&RowPage::default());
        assert_eq!(page.iter().collect::<Vec<_>>(), [row("a", "1", 1), row("b", "22", 2), row("c", "", 3)]);
    }
}
