//! The record of a transaction: the one place that says whether it committed.
//!
//! Every intent points at its transaction's record. Flipping the record's status to Committed makes all of them visible at
//! once, everywhere; that flip is the commit (see [`crate::sequencer`]). A record is forgotten when the last key that the
//! transaction held has been resolved, not earlier: until then somebody may meet an intent and ask.

use crate::spill::SpillState;
use hashbrown::HashMap;
use parking_lot::Mutex;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use tidelock_base::{Key, SessionId, Timestamp, TxnId, Value};
use tidelock_kvapi::TxnStatus;

const PENDING: u8 = 0;
const COMMITTED: u8 = 1;
const ABORTED: u8 = 2;

/// A transaction that holds locks.
pub struct TxnRecord {
    /// Its id.
    pub id: TxnId,
    /// Whose it is.
    pub session: SessionId,
    status: AtomicU8,
    commit_ts: AtomicU64,
    /// Keys held.
    held: AtomicUsize,
    /// Somebody waits, or waited, for a lock of it: cleaning up is urgent.
    waited_for: AtomicBool,
    forgotten: AtomicBool,
    writes: Mutex<WriteLog>,
    /// About how many bytes its locks and writes take in memory; rollbacks do not lower it, spilling does.
    memory: AtomicU64,
    /// What it has spilled; most never do.
    spill: OnceLock<Box<SpillState>>,
    /// Copies of its spilled locks were brought back for itself or others.
    brought_back: AtomicBool,
}

/// A write, kept in order for the log.
#[derive(Clone, Debug)]
pub struct LoggedWrite {
    /// Its sequence number, for savepoints.
    pub sequence: u32,
    /// Where.
    pub key: Key,
    /// What; `None` is a delete.
    pub value: Option<Value>,
}

/// What a transaction has written and not spilled, in order.
#[derive(Default)]
struct WriteLog {
    writes: Vec<(WriteNumber, LoggedWrite)>,
    next: WriteNumber,
}

/// A write's place among all that its transaction ever logged. Never given twice: batches of one statement write and spill side by side, so a place
/// in the log as it is now would mean another write by the time a spill has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct WriteNumber(u64);

impl TxnRecord {
    /// A pending transaction.
    pub fn new(id: TxnId, session: SessionId) -> TxnRecord {
        TxnRecord {
            id,
            session,
            status: AtomicU8::new(PENDING),
            commit_ts: AtomicU64::new(0),
            held: AtomicUsize::new(0),
            waited_for: AtomicBool::new(false),
            forgotten: AtomicBool::new(false),
            writes: Mutex::default(),
            memory: AtomicU64::new(0),
            spill: OnceLock::new(),
            brought_back: AtomicBool::new(false),
        }
    }

    /// So many more bytes are kept for it in memory.
    pub fn add_memory(&self, bytes: usize) {
        self.memory.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Bytes kept for it in memory, about.
    pub fn memory(&self) -> u64 {
        self.memory.load(Ordering::Relaxed)
    }

    /// Everything was spilled.
    pub fn reset_memory(&self) {
        self.memory.store(0, Ordering::Relaxed);
    }

    /// Has anything been spilled, or tried to?
    pub fn has_spilled(&self) -> bool {
        self.spill.get().is_some()
    }

    /// Have values been spilled?
    pub fn has_spilled_writes(&self) -> bool {
        self.spill.get().is_some_and(|spill| spill.has_written())
    }

    /// What it has spilled.
    pub fn spill_state(&self) -> &SpillState {
        self.spill.get_or_init(Box::default)
    }

    /// A copy of one of its spilled locks is in the lock table.
    pub fn note_brought_back(&self) {
        self.brought_back.store(true, Ordering::Release);
    }

    /// Was there a copy since this was asked last?
    pub fn take_brought_back(&self) -> bool {
        self.brought_back.swap(false, Ordering::AcqRel)
    }

    /// The number that the next write will get: all that are kept for the log now have lower ones.
    pub fn next_write(&self) -> WriteNumber {
        self.writes.lock().next
    }

    /// The writes numbered below `end` were spilled: the log need not have them.
    pub fn forget_writes_below(&self, end: WriteNumber) {
        let mut log = self.writes.lock();
        let spilled = log.writes.partition_point(|(number, _)| *number < end);
        log.writes.drain(..spilled);
    }

    /// Where it stands.
    pub fn status(&self) -> TxnStatus {
        match self.status.load(Ordering::SeqCst) {
            PENDING => TxnStatus::Pending,
            COMMITTED => TxnStatus::Committed,
            _ => TxnStatus::Aborted,
        }
    }

    /// When it committed, if it did.
    pub fn committed_at(&self) -> Option<Timestamp> {
        (self.status() == TxnStatus::Committed).then(|| Timestamp(self.commit_ts.load(Ordering::Relaxed)))
    }

    /// The flip. Only the commit sequencer calls it.
    pub fn flip_to_committed(&self, ts: Timestamp) {
        self.commit_ts.store(ts.0, Ordering::Relaxed);
        self.status.store(COMMITTED, Ordering::SeqCst);
    }

    /// Its intents become nothing.
    pub fn flip_to_aborted(&self) {
        self.status.store(ABORTED, Ordering::SeqCst);
    }

    /// One more key is held.
    pub fn hold(&self) {
        self.held.fetch_add(1, Ordering::AcqRel);
    }

    /// One key fewer is held.
    pub fn let_go(&self) {
        self.held.fetch_sub(1, Ordering::SeqCst);
    }

    /// Keys held.
    pub fn held(&self) -> usize {
        self.held.load(Ordering::SeqCst)
    }

    /// Has it ended, and is nothing held any more? Whoever ends it or lets go of its last key looks here after that: both orders are seen.
    pub fn is_done(&self) -> bool {
        self.held() == 0 && self.status() != TxnStatus::Pending
    }

    /// True exactly once: when it is finished and nothing is held any more.
    pub fn may_be_forgotten(&self) -> bool {
        self.is_done() && !self.forgotten.swap(true, Ordering::AcqRel)
    }

    /// Somebody waits for it.
    pub fn note_waiter(&self) {
        self.waited_for.store(true, Ordering::Release);
    }

    /// Did anybody ever wait for it?
    pub fn is_waited_for(&self) -> bool {
        self.waited_for.load(Ordering::Acquire)
    }

    /// Remembers a write for the log.
    pub fn log_write(&self, write: LoggedWrite) {
        let mut log = self.writes.lock();
        let number = log.next;
        log.next.0 += 1;
        log.writes.push((number, write));
    }

    /// Forgets writes after a savepoint.
    pub fn rollback_writes(&self, sequence: u32) {
        self.writes.lock().writes.retain(|(_, write)| write.sequence <= sequence);
    }

    /// Hands the writes to the commit.
    pub fn take_writes(&self) -> Vec<LoggedWrite> {
        let writes = std::mem::take(&mut self.writes.lock().writes);
        writes.into_iter().map(|(_, write)| write).collect()
    }
}

impl fmt::Debug for TxnRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}({:?}, holds {})", self.id, self.status(), self.held())
    }
}

/// Shards of the registry: enough that two cores rarely meet.
const SHARDS: usize = 16;

/// The records of all transactions that hold something.
#[derive(Debug)]
pub struct TxnRegistry {
    shards: [Mutex<HashMap<TxnId, Arc<TxnRecord>>>; SHARDS],
    live: AtomicUsize,
}

impl Default for TxnRegistry {
    fn default() -> Self {
        TxnRegistry { shards: std::array::from_fn(|_| Mutex::default()), live: AtomicUsize::new(0) }
    }
}

impl TxnRegistry {
    /// The record, if the transaction holds anything.
    pub fn get(&self, id: TxnId) -> Option<Arc<TxnRecord>> {
        self.shard(id).lock().get(&id).cloned()
    }

    /// The record, made if need be.
    pub fn get_or_create(&self, id: TxnId, session: SessionId) -> Arc<TxnRecord> {
        let mut shard = self.shard(id).lock();
        let record = shard.entry(id).or_insert_with(|| {
            self.live.fetch_add(1, Ordering::Relaxed);
            Arc::new(TxnRecord::new(id, session))
        });
        Arc::clone(record)
    }

    /// Forgets a record.
    pub fn remove(&self, id: TxnId) {
        if self.shard(id).lock().remove(&id).is_some() {
            self.live.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Transactions that hold something.
    pub fn live(&self) -> usize {
        self.live.load(Ordering::Relaxed)
    }

    /// All of them, for the views.
    pub fn all(&self) -> Vec<Arc<TxnRecord>> {
        self.shards.iter().flat_map(|shard| shard.lock().values().cloned().collect::<Vec<_>>()).collect()
    }

    fn shard(&self, id: TxnId) -> &Mutex<HashMap<TxnId, Arc<TxnRecord>>> {
        &self.shards[(id.0 % SHARDS as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidelock_base::IndexId;

    fn write(record: &TxnRecord, sequence: u32, row: u8) {
        let mut key = Key::index_start(IndexId(100));
        key.extend(&[row]);
        record.log_write(LoggedWrite { sequence, key, value: None });
    }

    fn kept(record: &TxnRecord) -> Vec<u8> {
        record.take_writes().iter().filter_map(|write| write.key.last().copied()).collect()
    }

    #[test]
    fn two_spills_side_by_side_forget_only_what_they_wrote() {
        let record = TxnRecord::new(TxnId(1), SessionId(1));
        write(&record, 1, 1);
        let first = record.next_write();
        write(&record, 1, 2);
        let second = record.next_write();
        write(&record, 1, 3);
        record.forget_writes_below(first);
        record.forget_writes_below(second);
        assert_eq!(kept(&record), [3], "written after both had looked");
    }

    #[test]
    fn a_spill_that_ends_after_a_rollback_forgets_nothing_newer() {
        let record = TxnRecord::new(TxnId(1), SessionId(1));
        write(&record, 1, 1);
        write(&record, 2, 2);
        let spilled = record.next_write();
        record.rollback_writes(1);
        write(&record, 3, 3);
        record.forget_writes_below(spilled);
        assert_eq!(kept(&record), [3]);
    }
}
