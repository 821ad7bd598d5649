//! Bulk loading: sorted rows that go straight into redb.
//!
//! The rows of a table that was made (or emptied) by the very transaction that fills it, and the entries of an index that is being built, belong to
//! an index id which nobody else can know before that transaction commits. So they need no lock, no intent, no log record and no
//! memtable: they are written to `latest` in the form in which fold would have written them, one durable redb commit a call.
//!
//! ```text
//!   usual:  lock + intent -> log -> memtable -> fold -> redb          ingest:  redb
//! ```
//!
//! *The caller's part.* The index is its own. It may say that the transaction is committed only after `ingest` has returned, and must drop the index
//! ([`crate::Storage::drop_index`]) if the transaction ends otherwise. A crash in between leaves an index that no definition names; whoever
//! knows the definitions drops it at the next start.
//!
//! The rows are stamped with [`INGEST_TS`], below every snapshot: whoever may know the index sees them.

use crate::base::Latest;
use crate::error::StorageError;
use crate::fold::Folder;
use crate::memtable::shard_of;
use crate::sizes::row_bytes;
use crate::version::Row;
use redb::CursorError;
use std::ops::Bound;
use tidelock_base::{IndexId, Key, Timestamp, Value};

/// The version that ingested rows have: older than any commit, newer than nothing.
pub(crate) const INGEST_TS: Timestamp = Timestamp(1);

impl Folder {
    /// Writes rows, sorted by key; answers the first key that had a row already (or stands twice), in which case nothing is written.
    pub(crate) fn ingest(&self, rows: &[(Key, Value)]) -> Result<Option<Key>, StorageError> {
        let write = self.base.begin()?;
        let indexes = rows.chunk_by(|(left, _), (right, _)| shard_of(left) == shard_of(right));
        let run_bytes = self.sizes.lock().bucket_bytes();
        let mut grown: Vec<(IndexId, Vec<(Key, i64)>)> = Vec::new();
        for rows in indexes {
            let index = shard_of(&rows[0].0);
            if self.memtables.is_dropped(index) {
                return Err(StorageError::IndexDropped(index));
            }
            let mut sizes = Vec::new();
            let mut count = |key: &Key, row: &[u8]| note_size(&mut sizes, key, row_bytes(key, row), run_bytes);
            if let Some(key) = insert_sorted(&mut write.latest(index)?, rows, &mut count)? {
                return Ok(Some(key));
            }
            grown.push((index, sizes));
        }
        write.commit()?;
        self.show_ingested(grown)?;
        Ok(None)
    }

    /// Shows readers what was written, and counts it.
    fn show_ingested(&self, grown: Vec<(IndexId, Vec<(Key, i64)>)>) -> Result<(), StorageError> {
        let _publishing = self.publishing.lock();
        let snapshot = self.base.snapshot()?;
        for (index, sizes) in grown {
            {
                let mut histogram = self.sizes.lock();
                sizes.iter().for_each(|(start, bytes)| histogram.append(start, *bytes));
            }
            if let Some(base) = snapshot.table(index)? {
                self.memtables.show_base(index, base);
            }
        }
        Ok(())
    }
}

/// Inserts rows that are sorted; answers the first key that is there already.
///
/// Through a cursor that stands in a gap between two rows and fills it: the pages are packed once, instead of one way down the tree a row. Where rows of an
/// earlier portion lie in between, the cursor is set anew.
fn insert_sorted(latest: &mut Latest<'_>, rows: &[(Key, Value)], count: &mut dyn FnMut(&Key, &[u8])) -> Result<Option<Key>, StorageError> {
    let mut buffer = Vec::new();
    let mut at = 0;
    while let Some((first, _)) = rows.get(at) {
        let mut gap = latest.lower_bound_mut(Bound::Included(&**first))?;
        if gap.peek_next()?.is_some_and(|(next, _)| next.value() == &**first) {
            return Ok(Some(first.clone()));
        }
        let begun_at = at;
        for (key, value) in &rows[at..] {
            Row::encode(INGEST_TS, Some(value), &mut buffer);
            match gap.insert_before(&**key, buffer.as_slice()) {
                Ok(()) => count(key, &buffer),
                Err(CursorError::UnorderedKey) => break,
                Err(CursorError::Storage(error)) => return Err(error.into()),
                Err(error) => return Err(StorageError::Base(error.to_string())),
            }
            at += 1;
        }
        gap.close()?;
        if at == begun_at || rows.get(at).is_some_and(|(key, _)| at > 0 && rows[at - 1].0 == *key) {
            return Ok(rows.get(at).map(|(key, _)| key.clone()));
        }
    }
    Ok(None)
}

/// Sums sizes over runs of neighbouring keys, about a bucket's worth each: the histogram needs no more.
fn note_size(sizes: &mut Vec<(Key, i64)>, key: &Key, bytes: i64, run_bytes: i64) {
    match sizes.last_mut() {
        Some((_, run)) if *run < run_bytes => *run += bytes,
        _ => sizes.push((key.clone(), bytes)),
    }
}
