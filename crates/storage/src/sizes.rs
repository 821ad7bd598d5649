//! How much data lies where: for splitting ranges.
//!
//! redb cannot say how many bytes lie between two keys without walking them. So the fold thread, which sees every row that
//! comes and goes, keeps a coarse histogram: per index, key intervals (*buckets*) of about a mebibyte and the bytes in each. A bucket that has
//! grown to twice that is cut, by walking it once. The histogram is kept in redb, written at the end of each pass; a crash in
//! the middle of one leaves it a little off, which an estimate may be.

use crate::base::BaseTable;
use crate::error::StorageError;
use crate::memtable::shard_of;
use crate::version::Row;
use redb::ReadableTable;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use tidelock_base::{IndexId, Key, Span};

/// An estimate of what a span holds. Rows count once they are folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanSize {
    /// Bytes of keys and newest values.
    pub bytes: u64,
    /// A key with about half of the bytes on either side; `None` when the span is too small to say.
    pub middle: Option<Key>,
}

/// The histogram of all indexes: bucket starts, each with the bytes from there to the next.
#[derive(Debug)]
pub(crate) struct Sizes {
    buckets: BTreeMap<Key, i64>,
    /// Buckets that differ from what is stored.
    dirty: BTreeSet<Key>,
    bucket_bytes: i64,
}

impl Sizes {
    pub(crate) fn new(bucket_bytes: usize) -> Sizes {
        Sizes { buckets: BTreeMap::new(), dirty: BTreeSet::new(), bucket_bytes: bucket_bytes.max(1) as i64 }
    }

    /// Takes over a stored bucket.
    pub(crate) fn load(&mut self, start: Key, bytes: i64) {
        self.buckets.insert(start, bytes);
    }

    /// A row came, went, or changed its size.
    pub(crate) fn add(&mut self, key: &Key, delta: i64) {
        if delta == 0 {
            return;
        }
        let index_start = Key::index_start(shard_of(key));
        let index_start = if index_start <= *key { index_start } else { key.clone() };
        let found = self.buckets.range_mut::<Key, _>(&index_start..=key).next_back();
        let start = match found {
            Some((start, bytes)) => {
                *bytes += delta;
                start.clone()
            }
            None => {
                self.buckets.insert(index_start.clone(), delta);
                index_start
            }
        };
        self.dirty.insert(start);
    }

    /// A run of new rows, at most a bucket's worth and a row, begins at `start`. Behind all others it makes a bucket of its own, so that a table that is
    /// loaded in order needs no cutting.
    pub(crate) fn append(&mut self, start: &Key, bytes: i64) {
        let index_start = Key::index_start(shard_of(start)).min(start.clone());
        let end = Key::index_end(shard_of(start));
        let last = self.buckets.range::<Key, _>(&index_start..&end).next_back();
        if last.is_some_and(|(last, held)| last < start && *held >= self.bucket_bytes) {
            self.recut(vec![(start.clone(), bytes)]);
        } else {
            self.add(start, bytes);
        }
    }

    /// The spans of buckets that want cutting, for one index.
    pub(crate) fn overgrown(&self, index: IndexId) -> Vec<Span> {
        let span = Span::index(index);
        let rows = self.buckets.range::<Key, _>(&span.start..&span.end);
        let large = rows.filter(|(_, bytes)| **bytes > 2 * self.bucket_bytes);
        large.map(|(start, _)| Span::new(start.clone(), self.next_start(start, &span.end))).collect()
    }

    fn next_start(&self, start: &Key, end: &Key) -> Key {
        let later = self.buckets.range::<Key, _>((Bound::Excluded(start), Bound::Excluded(end)));
        later.map(|(key, _)| key.clone()).next().unwrap_or_else(|| end.clone())
    }

    /// Replaces a bucket by what a walk found in it.
    pub(crate) fn recut(&mut self, pieces: Vec<(Key, i64)>) {
        for (start, bytes) in pieces {
            self.dirty.insert(start.clone());
            self.buckets.insert(start, bytes);
        }
    }

    /// What to store: buckets with their bytes.
    pub(crate) fn take_dirty(&mut self) -> Vec<(Key, i64)> {
        let dirty = std::mem::take(&mut self.dirty);
        dirty.into_iter().filter_map(|start| self.buckets.get(&start).map(|bytes| (start.clone(), *bytes))).collect()
    }

    /// Forgets an index; answers the buckets to delete from the store.
    pub(crate) fn drop_index(&mut self, index: IndexId) -> Vec<Key> {
        let span = Span::index(index);
        let gone: Vec<Key> = self.buckets.range::<Key, _>(&span.start..&span.end).map(|(start, _)| start.clone()).collect();
        for start in &gone {
            self.buckets.remove(start);
            self.dirty.remove(start);
        }
        gone
    }

    /// Bucket size wanted.
    pub(crate) fn bucket_bytes(&self) -> i64 {
        self.bucket_bytes
    }

    /// Bytes and middle of a span. A bucket of which only a part lies inside counts half.
    pub(crate) fn size_of(&self, span: &Span) -> SpanSize {
        if span.is_empty() {
            return SpanSize { bytes: 0, middle: None };
        }
        let reaching_in = self.buckets.range::<Key, _>(..=&span.start).next_back().map(|(start, _)| start);
        let first = reaching_in.filter(|start| shard_of(start) == shard_of(&span.start)).unwrap_or(&span.start);
        let mut inside: Vec<(&Key, i64)> = Vec::new();
        let mut buckets = self.buckets.range::<Key, _>(first..=&span.end).peekable();
        while let Some((start, bytes)) = buckets.next().filter(|(start, _)| **start < span.end) {
            let ends_before = buckets.peek().is_some_and(|(next, _)| **next <= span.end)
                || shard_of(start) < shard_of(&span.end)
                || Key::index_end(shard_of(start)) <= span.end;
            let whole = *start >= span.start && ends_before;
            inside.push((start, if whole { *bytes } else { *bytes / 2 }));
        }
        let total: i64 = inside.iter().map(|(_, bytes)| (*bytes).max(0)).sum();
        let mut before = 0;
        let mut middle = None;
        for (start, bytes) in inside {
            if before >= total / 2 && *start > span.start {
                middle = Some(start.clone());
                break;
            }
            before += bytes.max(0);
        }
        SpanSize { bytes: total.max(0) as u64, middle }
    }
}

/// Walks a bucket, and cuts it into pieces of about the wanted size.
pub(crate) fn cut(base: &BaseTable, span: &Span, bucket_bytes: i64) -> Result<Vec<(Key, i64)>, StorageError> {
    let mut pieces = vec![(span.start.clone(), 0)];
    for found in ReadableTable::range::<&[u8]>(&base.latest, &*span.start..&*span.end)? {
        let (key, row) = found?;
        let bytes = row_bytes(key.value(), row.value());
        match pieces.last_mut() {
            Some((_, piece)) if *piece < bucket_bytes => *piece += bytes,
            _ => pieces.push((Key::from(key.value()), bytes)),
        }
    }
    Ok(pieces)
}

/// What a row counts.
pub(crate) fn row_bytes(key: &[u8], row: &[u8]) -> i64 {
    (key.len() + row.len().saturating_sub(Row::HEADER)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(index: u32, row: u8) -> Key {
        let mut key = Key::index_start(IndexId(index));
        key.push(row);
        key
    }

    #[test]
    fn sizes_add_up_and_the_middle_halves_them() {
        let mut sizes = Sizes::new(100);
        for row in 0..100 {
            sizes.add(&key(1, row), 10);
            sizes.add(&key(2, row), 1);
        }
        assert_eq!(sizes.size_of(&Span::index(IndexId(1))), SpanSize { bytes: 1000, middle: None });
        assert_eq!(sizes.overgrown(IndexId(1)), vec![Span::index(IndexId(1))]);
        let pieces = (0..10).map(|piece| {
            let start = if piece == 0 { Key::index_start(IndexId(1)) } else { key(1, piece * 10) };
            (start, 100)
        });
        sizes.recut(pieces.collect());
        let all = sizes.size_of(&Span::index(IndexId(1)));
        assert_eq!(all, SpanSize { bytes: 1000, middle: Some(key(1, 50)) });
        let part = sizes.size_of(&Span::new(key(1, 25), key(1, 60)));
        assert_eq!(part, SpanSize { bytes: 350, middle: Some(key(1, 50)) });
        assert_eq!(sizes.size_of(&Span::all()).bytes, 1100);
        assert_eq!(sizes.drop_index(IndexId(1)).len(), 10);
        assert_eq!(sizes.size_of(&Span::all()).bytes, 100);
    }
}
