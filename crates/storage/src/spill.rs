//! Spilled intents: what a transaction that writes more than its budget has done so far, kept in redb instead of memory.
//!
//! ```text
//!   spill ──► spilled/<txn>:  key, sequence (inverted) -> tag | kind | value      durable before the caller hears of it
//!   commit ─► the log gets one record: "the spilled rows of <txn> are versions at ts, except these sequence numbers"
//!   end ────► the fold thread moves the newest row of each key to `latest`, slice by slice
//!   later ──► once the log is cut behind the commit record, the table is deleted
//! ```
//!
//! One table a transaction: an abort deletes a table, whatever it holds. Rows are numbered as the caller numbers its statements; a rollback
//! to a savepoint leaves them where they are, and names the numbers to be passed over ([`SequenceRanges`]). The tag is the caller's: storage does
//! not know what a lock is.
//!
//! Two rules keep the versions of a key in order although these go past the memtables. A transaction's rows are moved only by a pass that began
//! after its end, so that every older version is in redb by then. And from its commit until its rows are moved a pin stands at its timestamp,
//! so that a deletion that came after it, or that it logged after having spilled another version, leaves a tombstone, over which nothing is put that is no newer.
//!
//! After a crash a table without a commit record is deleted; one with a record is moved, once more if need be, at that record's place in the log.
//! (That is why a table outlives the moving: a replay starts from before the record, and would bring back what the rows had deleted.)

use crate::base::{Base, BaseWrite, Snapshot, Spilled};
use crate::error::StorageError;
use crate::pins::SnapshotPin;
use arc_swap::ArcSwap;
use hashbrown::HashMap;
use parking_lot::Mutex;
use redb::ReadableTable;
use smallvec::SmallVec;
use std::collections::{BTreeSet, VecDeque};
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tidelock_base::{Key, Span, Timestamp, TxnId, Value};

/// Called once when a job of the fold thread is done, or has failed.
pub type Done = Box<dyn FnOnce(Result<(), StorageError>) + Send>;

/// What a transaction did to a key in one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpillRow {
    /// The key.
    pub key: Key,
    /// What was done.
    pub version: SpilledVersion,
}

/// What was done to a key in one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpilledVersion {
    /// The statement's number in its transaction.
    pub sequence: u32,
    /// A byte of the caller's own.
    pub tag: u8,
    /// The value written; `Some(None)` is a deletion, `None` says that nothing was written.
    pub change: Option<Option<Value>>,
}

/// The versions of one key, newest first.
pub type SpilledVersions = SmallVec<[SpilledVersion; 1]>;

/// Sequence numbers whose rows do not count: a savepoint was rolled back over them. Sorted, apart from each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SequenceRanges(Vec<(u32, u32)>);

impl SequenceRanges {
    /// Adds `first..=last`.
    pub fn add(&mut self, first: u32, last: u32) {
        if first > last {
            return;
        }
        let (mut first, mut last) = (first, last);
        self.0.retain(|(start, end)| {
            let apart = *end < first.saturating_sub(1) || *start > last.saturating_add(1);
            if !apart {
                first = first.min(*start);
                last = last.max(*end);
            }
            apart
        });
        let at = self.0.partition_point(|(start, _)| *start < first);
        self.0.insert(at, (first, last));
    }

    /// Is the number in?
    pub fn contains(&self, sequence: u32) -> bool {
        let after = self.0.partition_point(|(start, _)| *start <= sequence);
        after.checked_sub(1).and_then(|at| self.0.get(at)).is_some_and(|(_, end)| sequence <= *end)
    }

    /// The ranges, ends included.
    pub fn ranges(&self) -> &[(u32, u32)] {
        &self.0
    }
}

const KIND_NOTHING: u8 = 0;
const KIND_VALUE: u8 = 1;
const KIND_DELETION: u8 = 2;

/// Appends a row's encoding to an emptied buffer.
fn encode(version: &SpilledVersion, out: &mut Vec<u8>) {
    out.clear();
    out.push(version.tag);
    match &version.change {
        None => out.push(KIND_NOTHING),
        Some(None) => out.push(KIND_DELETION),
        Some(Some(value)) => {
            out.push(KIND_VALUE);
            out.extend_from_slice(value);
        }
    }
}

fn decode(inverted_sequence: u32, bytes: &[u8]) -> Result<SpilledVersion, StorageError> {
    let [tag, kind, value @ ..] = bytes else {
        return Err(StorageError::Base(format!("a spilled row of {} bytes is too short", bytes.len())));
    };
    let change = match *kind {
        KIND_NOTHING => None,
        KIND_VALUE => Some(Some(Value::copy_from_slice(value))),
        KIND_DELETION => Some(None),
        other => return Err(StorageError::Base(format!("a spilled row has the unknown kind {other}"))),
    };
    Ok(SpilledVersion { sequence: !inverted_sequence, tag: *tag, change })
}

/// How a transaction with spilled rows ended.
#[derive(Debug)]
pub enum SpillEnd {
    /// Its rows become versions.
    Commit {
        /// When; pinned from before anybody could see the commit.
        pin: SnapshotPin,
        /// Rows that do not count.
        ignored: SequenceRanges,
    },
    /// Its rows are nothing.
    Abort,
}

/// Work for the fold thread, which alone writes to redb.
enum Job {
    Spill { txn: TxnId, rows: Vec<SpillRow>, done: Done },
    End(Ending),
}

impl Job {
    fn refuse(self) {
        match self {
            Job::Spill { done, .. } | Job::End(Ending { done, .. }) => done(Err(StorageError::Closed)),
        }
    }
}

/// A transaction whose rows are to be moved or deleted.
pub(crate) struct Ending {
    pub(crate) txn: TxnId,
    pub(crate) end: SpillEnd,
    /// Where moving goes on.
    pub(crate) from: Bound<Key>,
    /// The log segment of its commit record, or a later one.
    pub(crate) segment: u64,
    pub(crate) done: Done,
}

#[derive(Default)]
struct Inbox {
    jobs: VecDeque<Job>,
    /// The fold thread has ended: nothing is taken any more.
    closed: bool,
}

/// The spilled rows of all transactions.
#[derive(Default)]
pub(crate) struct Spills {
    inbox: Mutex<Inbox>,
    /// Ended, not yet dealt with. The fold thread's own.
    ended: Mutex<Vec<Ending>>,
    /// All moved, with the log segments that must be cut before their tables may go. The fold thread's own.
    moved_txns: Mutex<Vec<(TxnId, u64)>>,
    /// Who has a table in redb. The fold thread's own.
    live: Mutex<BTreeSet<TxnId>>,
    /// What readers see, all of one snapshot of redb.
    tables: ArcSwap<HashMap<TxnId, Arc<Spilled>>>,
    pub(crate) rows: AtomicU64,
    pub(crate) moved: AtomicU64,
}

impl Spills {
    pub(crate) fn push_rows(&self, txn: TxnId, rows: Vec<SpillRow>, done: Done) {
        self.push(Job::Spill { txn, rows, done });
    }

    pub(crate) fn push_end(&self, txn: TxnId, end: SpillEnd, segment: u64, done: Done) {
        self.push(Job::End(Ending { txn, end, from: Bound::Unbounded, segment, done }));
    }

    fn push(&self, job: Job) {
        let mut inbox = self.inbox.lock();
        if !inbox.closed {
            inbox.jobs.push_back(job);
            return;
        }
        drop(inbox);
        job.refuse();
    }

    /// The fold thread ends: whoever still waits for it is told so.
    pub(crate) fn close(&self) {
        let jobs = {
            let mut inbox = self.inbox.lock();
            inbox.closed = true;
            std::mem::take(&mut inbox.jobs)
        };
        jobs.into_iter().chain(self.take_ended().into_iter().map(Job::End)).for_each(Job::refuse);
    }

    /// All rows of a transaction are versions; its table goes when the log is cut behind `segment`.
    pub(crate) fn note_moved(&self, txn: TxnId, segment: u64) {
        self.moved_txns.lock().push((txn, segment));
    }

    /// Who has moved all rows and still has a table.
    pub(crate) fn moved(&self) -> Vec<TxnId> {
        self.moved_txns.lock().iter().map(|(txn, _)| *txn).collect()
    }

    /// The newest segment that must be cut before a table may go.
    pub(crate) fn newest_moved(&self) -> Option<u64> {
        self.moved_txns.lock().iter().map(|(_, segment)| *segment).max()
    }

    /// Those whose tables may go, now that replay starts at `floor`.
    pub(crate) fn take_moved_below(&self, floor: u64) -> Vec<TxnId> {
        let mut moved = self.moved_txns.lock();
        let (gone, kept) = moved.iter().partition::<Vec<_>, _>(|(_, segment)| *segment < floor);
        *moved = kept;
        gone.into_iter().map(|(txn, _)| txn).collect()
    }

    /// Transactions that have rows.
    pub(crate) fn len(&self) -> usize {
        self.tables.load().len()
    }

    pub(crate) fn table(&self, txn: TxnId) -> Option<Arc<Spilled>> {
        self.tables.load().get(&txn).cloned()
    }

    /// Writes what was spilled to redb, durably, and remembers who ended. Only the fold thread calls it; `publish` shows the readers what was written.
    pub(crate) fn work(&self, base: &Base, publish: impl FnOnce() -> Result<(), StorageError>) -> Result<(), StorageError> {
        let jobs = std::mem::take(&mut self.inbox.lock().jobs);
        let mut written: Vec<Done> = Vec::new();
        let mut write: Option<BaseWrite> = None;
        for job in jobs {
            match job {
                Job::Spill { txn, rows, done } => {
                    let write = match write.take() {
                        Some(open) => write.insert(open),
                        None => write.insert(base.begin()?),
                    };
                    write_rows(write, txn, &rows)?;
                    self.live.lock().insert(txn);
                    self.rows.fetch_add(rows.len() as u64, Ordering::Relaxed);
                    written.push(done);
                }
                Job::End(ending) => self.ended.lock().push(ending),
            }
        }
        if let Some(write) = write {
            write.commit()?;
            publish()?;
        }
        written.into_iter().for_each(|done| done(Ok(())));
        Ok(())
    }

    /// Those who ended before now.
    pub(crate) fn take_ended(&self) -> Vec<Ending> {
        std::mem::take(&mut *self.ended.lock())
    }

    /// They go on in the next pass.
    pub(crate) fn put_back(&self, ended: Vec<Ending>) {
        let mut waiting = self.ended.lock();
        let newer = std::mem::replace(&mut *waiting, ended);
        waiting.extend(newer);
    }

    /// Are there rows to move, or to drop?
    pub(crate) fn has_ended(&self) -> bool {
        !self.ended.lock().is_empty()
    }

    /// Takes over the tables that a former run left.
    pub(crate) fn load(&self, txns: Vec<TxnId>) {
        self.live.lock().extend(txns);
    }

    /// Its table is being deleted.
    pub(crate) fn forget(&self, txn: TxnId) {
        self.live.lock().remove(&txn);
    }

    /// Who has a table.
    pub(crate) fn transactions(&self) -> Vec<TxnId> {
        self.live.lock().iter().copied().collect()
    }

    /// Shows readers the tables of a snapshot. The last thing to be shown of it: who finds no rows here any more finds them as versions.
    pub(crate) fn show(&self, snapshot: &Snapshot) -> Result<(), StorageError> {
        let live = self.transactions();
        if live.is_empty() && self.len() == 0 {
            return Ok(());
        }
        let tables = live.into_iter().map(|txn| Ok(snapshot.spilled(txn)?.map(|table| (txn, table))));
        let tables: Result<Vec<_>, StorageError> = tables.collect();
        self.tables.store(Arc::new(tables?.into_iter().flatten().collect()));
        Ok(())
    }
}

fn write_rows(write: &BaseWrite, txn: TxnId, rows: &[SpillRow]) -> Result<(), StorageError> {
    let mut table = write.spilled(txn)?;
    let mut buffer = Vec::new();
    for row in rows {
        encode(&row.version, &mut buffer);
        table.insert((&*row.key, !row.version.sequence), buffer.as_slice())?;
    }
    Ok(())
}

/// What a transaction has spilled of a key, newest first.
pub(crate) fn get(table: &Spilled, key: &[u8]) -> Result<SpilledVersions, StorageError> {
    let mut versions = SpilledVersions::new();
    for found in ReadableTable::range(&table.rows, (key, 0)..=(key, u32::MAX))? {
        let (place, value) = found?;
        versions.push(decode(place.value().1, value.value())?);
    }
    Ok(versions)
}

/// Is shown a key and its versions, newest first.
pub(crate) type VisitSpilled<'a> = dyn FnMut(Key, SpilledVersions) -> Result<ControlFlow<()>, StorageError> + 'a;

/// Shows the keys of a span, in key order or backwards, with their versions.
pub(crate) fn scan(table: &Spilled, span: &Span, reverse: bool, visit: &mut VisitSpilled<'_>) -> Result<(), StorageError> {
    if span.is_empty() {
        return Ok(());
    }
    let lower: Bound<(&[u8], u32)> = Bound::Included((&span.start, 0));
    walk(table, (lower, Bound::Excluded((&span.end, 0))), reverse, visit)
}

/// Shows the keys behind a bound.
pub(crate) fn scan_from(table: &Spilled, from: &Bound<Key>, visit: &mut VisitSpilled<'_>) -> Result<(), StorageError> {
    let lower: Bound<(&[u8], u32)> = match from {
        Bound::Unbounded => Bound::Unbounded,
        Bound::Included(key) => Bound::Included((key, 0)),
        Bound::Excluded(key) => Bound::Excluded((key, u32::MAX)),
    };
    walk(table, (lower, Bound::Unbounded), false, visit)
}

type PlaceBounds<'a> = (Bound<(&'a [u8], u32)>, Bound<(&'a [u8], u32)>);

fn walk(table: &Spilled, bounds: PlaceBounds<'_>, reverse: bool, visit: &mut VisitSpilled<'_>) -> Result<(), StorageError> {
    let mut rows = ReadableTable::range::<(&[u8], u32)>(&table.rows, bounds)?;
    let mut current: Option<(Key, SpilledVersions)> = None;
    loop {
        let next = if reverse { rows.next_back() } else { rows.next() };
        let Some(found) = next else { break };
        let (place, value) = found?;
        let (key, inverted_sequence) = place.value();
        let version = decode(inverted_sequence, value.value())?;
        match &mut current {
            Some((known, versions)) if **known == *key && reverse => versions.insert(0, version),
            Some((known, versions)) if **known == *key => versions.push(version),
            _ => {
                if let Some((key, versions)) = current.replace((Key::from(key), SmallVec::from_buf([version])))
                    && visit(key, versions)?.is_break()
                {
                    return Ok(());
                }
            }
        }
    }
    match current {
        Some((key, versions)) => visit(key, versions).map(drop),
        None => Ok(()),
    }
}

/// What a committed transaction wrote to a key at last, passing over what was rolled back; `None` if nothing is left.
pub(crate) fn outcome(versions: SpilledVersions, ignored: &SequenceRanges) -> Option<Option<Value>> {
    versions.into_iter().filter(|version| !ignored.contains(version.sequence)).find_map(|version| version.change)
}

/// A commit record that speaks of spilled rows.
#[derive(Clone, Debug)]
pub(crate) struct SpilledCommit {
    pub(crate) txn: TxnId,
    pub(crate) ts: Timestamp,
    pub(crate) ignored: SequenceRanges,
    /// The log segment where it stands.
    pub(crate) segment: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_unite_where_they_touch() {
        let mut ranges = SequenceRanges::default();
        ranges.add(5, 7);
        ranges.add(10, 12);
        ranges.add(3, 2);
        assert_eq!(ranges.ranges(), [(5, 7), (10, 12)]);
        assert!(ranges.contains(5) && ranges.contains(12) && !ranges.contains(8) && !ranges.contains(4) && !ranges.contains(13));
        ranges.add(8, 9);
        assert_eq!(ranges.ranges(), [(5, 12)]);
        ranges.add(0, 100);
        assert_eq!(ranges.ranges(), [(0, 100)]);
    }

    #[test]
    fn spilled_rows_survive_the_round_trip() {
        let mut buffer = Vec::new();
        for change in [None, Some(None), Some(Some(Value::from_static(b""))), Some(Some(Value::from_static(b"abc")))] {
            let version = SpilledVersion { sequence: 7, tag: 3, change };
            encode(&version, &mut buffer);
            assert_eq!(decode(!7, &buffer).unwrap(), version);
        }
        assert!(decode(0, b"").is_err() && decode(0, &[0, 9]).is_err());
    }

    #[test]
    fn what_was_rolled_back_gives_way_to_what_was_before() {
        let version = |sequence, change| SpilledVersion { sequence, tag: 0, change };
        let old = Some(Some(Value::from_static(b"old")));
        let versions: SpilledVersions = [version(9, Some(None)), version(4, None), version(2, old.clone())].into_iter().collect();
        let mut ignored = SequenceRanges::default();
        assert_eq!(outcome(versions.clone(), &ignored), Some(None));
        ignored.add(5, 9);
        assert_eq!(outcome(versions.clone(), &ignored), old);
        ignored.add(1, 4);
        assert_eq!(outcome(versions, &ignored), None);
    }
}
