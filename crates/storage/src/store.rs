//! The store: opening, recovery, its two threads, and the public calls, which only hand on to the parts.

use crate::base::{Base, Checkpoint};
use crate::disk::{Disk, RealDisk};
use crate::error::{Failure, StorageError};
use crate::fold::Folder;
use crate::log::replay::{Event, LogEnd, replay};
use crate::log::{Log, Segments};
use crate::metrics::StorageMetrics;
use crate::options::Options;
use crate::pins::{Pins, SnapshotPin};
use crate::read::{self, ReadCounters};
use crate::sizes::SpanSize;
use crate::spill::{self, Done, SequenceRanges, SpillEnd, SpillRow, SpilledVersions};
use crate::version::Version;
use parking_lot::Mutex;
use std::any::Any;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Poll, Waker};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tidelock_base::limits::{MAX_KEY_BYTES, MAX_VALUE_BYTES};
use tidelock_base::{IndexId, Key, RowRef, Span, Timestamp, TxnId, Value};

/// How often the fold thread looks whether a pass is due.
const FOLD_TICK: Duration = Duration::from_millis(50);
/// Memtable fill (of its maximum) from which writers are slowed down.
const DELAY_FROM_FILL: f64 = 0.6;
/// Delay of a writer when the memtables are at their maximum; it goes on growing above.
const DELAY_AT_MAX: Duration = Duration::from_millis(20);
/// No single delay is longer.
const DELAY_LIMIT: Duration = Duration::from_secs(1);

/// An open store. Clones share it; when the last one goes, its threads end and the log is flushed (memtables are not folded: the next open replays
/// them. [`Storage::close`] folds).
#[derive(Clone)]
pub struct Storage(Arc<Handle>);

/// What the threads share with the callers.
struct Inner {
    folder: Folder,
    log: Log,
    pins: Arc<Pins>,
    failure: Arc<Failure>,
    reads: ReadCounters,
    options: Options,
    disk: Arc<dyn Disk>,
    /// The largest transaction id that the log or a spilled table spoke of when the store was opened.
    last_txn: TxnId,
}

/// Owns the threads: dropped by callers only, so that a thread never joins itself.
struct Handle {
    inner: Arc<Inner>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    _lock: Box<dyn Any + Send + Sync>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.stop_threads();
    }
}

impl Handle {
    fn stop_threads(&self) {
        self.inner.folder.stop();
        self.inner.log.stop();
        for thread in self.threads.lock().drain(..) {
            // A thread that panicked has already ended the store.
            let _ = thread.join();
        }
        self.inner.folder.spills.close();
        // What nobody waited for is still worth keeping; an error was recorded by the log itself.
        let _ = self.inner.log.flush_now();
        self.inner.log.wake_all();
    }
}

impl Storage {
    /// Opens a data directory, or makes it: takes its lock, opens redb at its checkpoint, replays the log.
    ///
    /// Errors: [`StorageError::Locked`] when somebody has it open, [`StorageError::Corrupt`] when synced bytes are damaged.
    pub fn open(options: Options) -> Result<Storage, StorageError> {
        let disk = match &options.disk {
            Some(disk) => Arc::clone(disk),
            None => {
                let dir = options.dir.display();
                let disk = RealDisk::open(&options.dir, options.sync);
                Arc::new(disk.map_err(|error| StorageError::io(format!("opening the data directory {dir}"), &error))?)
            }
        };
        let lock = disk.lock().map_err(|error| match error.kind() {
            std::io::ErrorKind::WouldBlock => StorageError::Locked(options.dir.display().to_string()),
            _ => StorageError::io(format!("locking the data directory {}", options.dir.display()), &error),
        })?;
        let inner = Arc::new(recover(options, disk)?);
        let threads = if inner.options.stepped {
            Vec::new()
        } else {
            vec![spawn("tidelock-log", &inner, |inner| inner.log.run())?, spawn("tidelock-fold", &inner, Inner::run_fold)?]
        };
        Ok(Storage(Arc::new(Handle { inner, threads: Mutex::new(threads), _lock: lock })))
    }

    fn inner(&self) -> &Inner {
        &self.0.inner
    }

    /// The newest commit appended; after opening, the newest one recovered.
    pub fn last_ts(&self) -> Timestamp {
        self.inner().log.last_ts()
    }

    /// The largest transaction id that was found when the store was opened: later ones must be larger, since spilled rows go by them.
    pub fn last_txn(&self) -> TxnId {
        self.inner().last_txn
    }

    /// Every commit at or below it survives a power cut.
    pub fn durable_ts(&self) -> Timestamp {
        self.inner().log.durable_ts()
    }

    /// The newest version at or below `at`; `None` if the key never had one (or it was deleted and nobody can tell any more).
    ///
    /// `at` is [`Timestamp::MAX`], or pinned by the caller: versions that no pin needs are dropped at any time. What was installed before the call
    /// is seen, so a caller that keeps intents elsewhere looks at those first, and here second.
    pub fn get(&self, key: &[u8], at: Timestamp) -> Result<Option<Version>, StorageError> {
        let inner = self.inner();
        inner.failure.check()?;
        inner.ended(read::get(&inner.folder.memtables, &inner.reads, key, at))
    }

    /// Shows the rows of a span as of `at` (as for [`Storage::get`]), in key order or backwards, until `visit` breaks. Deletions are
    /// not shown. No lock is held while `visit` runs; it may call the store.
    pub fn scan(
        &self,
        span: &Span,
        at: Timestamp,
        reverse: bool,
        visit: &mut dyn FnMut(RowRef<'_>) -> ControlFlow<()>,
    ) -> Result<(), StorageError> {
        let inner = self.inner();
        inner.failure.check()?;
        inner.ended(read::scan(&inner.folder.memtables, span, at, reverse, visit))
    }

    /// Appends a commit to the log's buffer. Timestamps must grow from call to call. Until [`Storage::installed`] is called for `ts`, the log is kept
    /// from here on. An error means that the commit did not happen, unless it is [`StorageError::Failed`]: then nobody knows before the next open.
    pub fn append_commit(&self, txn: TxnId, ts: Timestamp, writes: &[(Key, Option<Value>)]) -> Result<(), StorageError> {
        for (key, value) in writes {
            within("key", key.len(), MAX_KEY_BYTES)?;
            within("value", value.as_ref().map_or(0, |value| value.len()), MAX_VALUE_BYTES)?;
        }
        self.inner().log.append_commit(txn, ts, writes, None)
    }

    /// As [`Storage::append_commit`], for a transaction that has spilled; `writes` are those it has not. Its spilled rows count except those numbered in
    /// `ignored`. The caller then ends it with [`Storage::end_spilled`], and calls [`Storage::installed`] after that is done.
    pub fn append_spilled_commit(
        &self,
        txn: TxnId,
        ts: Timestamp,
        writes: &[(Key, Option<Value>)],
        ignored: &SequenceRanges,
    ) -> Result<(), StorageError> {
        self.inner().log.append_commit(txn, ts, writes, Some(ignored))
    }

    /// Keeps rows of a transaction that has not ended, durably: `done` is called when they are in redb, from the thread that wrote them. Rows
    /// with the key and sequence number of an earlier one replace it.
    pub fn spill(&self, txn: TxnId, rows: Vec<SpillRow>, done: Done) -> Result<(), StorageError> {
        for row in &rows {
            within("key", row.key.len(), MAX_KEY_BYTES)?;
        }
        let inner = self.inner();
        inner.failure.check()?;
        inner.folder.spills.push_rows(txn, rows, done);
        inner.folder.wake_for_spills();
        Ok(())
    }

    /// Ends a transaction that has spilled. Until `done` is called, readers find its rows with [`Storage::spilled_get`]; from then on as versions.
    pub fn end_spilled(&self, txn: TxnId, end: SpillEnd, done: Done) -> Result<(), StorageError> {
        let inner = self.inner();
        inner.failure.check()?;
        inner.folder.spills.push_end(txn, end, inner.log.current_segment(), done);
        inner.folder.wake_for_spills();
        Ok(())
    }

    /// What a transaction has spilled of a key, newest first.
    pub fn spilled_get(&self, txn: TxnId, key: &[u8]) -> Result<SpilledVersions, StorageError> {
        let inner = self.inner();
        inner.failure.check()?;
        match inner.folder.spills.table(txn) {
            Some(table) => inner.ended(spill::get(&table, key)),
            None => Ok(SpilledVersions::new()),
        }
    }

    /// Shows what a transaction has spilled of a span, in key order or backwards, until `visit` breaks.
    pub fn spilled_scan(
        &self,
        txn: TxnId,
        span: &Span,
        reverse: bool,
        visit: &mut dyn FnMut(Key, SpilledVersions) -> ControlFlow<()>,
    ) -> Result<(), StorageError> {
        let inner = self.inner();
        inner.failure.check()?;
        match inner.folder.spills.table(txn) {
            Some(table) => inner.ended(spill::scan(&table, span, reverse, &mut |key, versions| Ok(visit(key, versions)))),
            None => Ok(()),
        }
    }

    /// Makes a version of an appended commit readable. The versions of one key are installed in timestamp order.
    pub fn install(&self, ts: Timestamp, key: Key, value: Option<Value>) {
        self.install_many(ts, [(key, value)]);
    }

    /// Makes versions of an appended commit readable. Sorted writes are cheapest.
    pub fn install_many(&self, ts: Timestamp, writes: impl IntoIterator<Item = (Key, Option<Value>)>) {
        let inner = self.inner();
        inner.folder.memtables.install(ts, inner.log.durable_ts(), writes);
    }

    /// All writes of commit `ts` were installed.
    pub fn installed(&self, ts: Timestamp) {
        self.inner().log.installed(ts);
    }

    /// Ready once commit `ts` is durable. Otherwise the log thread is set to work, and wakes the waker then, or when the store fails.
    pub fn poll_durable(&self, ts: Timestamp, waker: &Waker) -> Poll<Result<(), StorageError>> {
        self.inner().log.poll_durable(ts, waker)
    }

    /// Makes commit `ts` durable on this thread: one write and one sync, unless another thread is at it already, which is then waited for. Blocks for a
    /// fraction of a millisecond, so only for a committer that is alone.
    pub fn sync_inline(&self, ts: Timestamp) -> Result<(), StorageError> {
        self.inner().log.sync_inline(ts)
    }

    /// Blocks until commit `ts` is durable, in a group with all others that wait.
    pub fn wait_durable(&self, ts: Timestamp) -> Result<(), StorageError> {
        self.inner().log.wait_durable(ts)
    }

    /// Pins a timestamp: what is visible there stays readable. Read at the pin's [`SnapshotPin::ts`]: if `ts` is so old that versions it needs may be gone, and no pin
    /// at `ts` is held, it is a newer one (never above `durable_ts`).
    pub fn pin(&self, ts: Timestamp) -> SnapshotPin {
        self.inner().pins.pin(ts)
    }

    /// Pins `durable_ts` as of now: how a snapshot begins.
    pub fn pin_durable(&self) -> SnapshotPin {
        let inner = self.inner();
        inner.pins.pin_with(true, |_| inner.log.durable_ts())
    }

    /// Pins a moment that a snapshot has moved to, as [`Storage::pin`] does; like other snapshots it can be revoked.
    pub fn pin_snapshot(&self, ts: Timestamp) -> SnapshotPin {
        self.inner().pins.pin_with(true, |_| ts)
    }

    /// Revokes the oldest snapshots, so that old versions can go; says of which moment they were, and for how long they were held. Who reads
    /// at or below [`Storage::revoked_ts`] must look there after reading, and fail.
    pub fn revoke_oldest_snapshot(&self) -> Option<(Timestamp, Duration)> {
        let inner = self.inner();
        let revoked = inner.pins.revoke_oldest(inner.log.durable_ts())?;
        inner.pins.advance(inner.log.durable_ts());
        Some(revoked)
    }

    /// Snapshots at or below it are not readable any more.
    pub fn revoked_ts(&self) -> Timestamp {
        self.inner().pins.revoked()
    }

    /// The oldest pinned timestamp; `durable_ts` when there is none. It bounds what is dropped.
    pub fn oldest_pin(&self) -> Timestamp {
        let durable = self.durable_ts();
        self.inner().pins.oldest().map_or(durable, |(ts, _)| ts.min(durable))
    }

    /// For how long the oldest pin has been held: for whoever cancels old snapshots.
    pub fn oldest_pin_age(&self) -> Option<(Timestamp, Duration)> {
        self.inner().pins.oldest()
    }

    /// Writes rows of indexes that nobody else knows yet, sorted by key, without locks and log: durable when it returns. Answers the first key that had a
    /// row already; then nothing of this call is written. Blocks for some tens of milliseconds. What the caller owes in return, `ingest` says.
    pub fn ingest(&self, rows: &[(Key, Value)]) -> Result<Option<Key>, StorageError> {
        let inner = self.inner();
        inner.failure.check()?;
        for (key, value) in rows {
            within("key", key.len(), MAX_KEY_BYTES)?;
            within("value", value.len(), MAX_VALUE_BYTES)?;
        }
        match inner.folder.ingest(rows) {
            dropped @ Err(StorageError::IndexDropped(_)) => dropped,
            result => inner.ended(result),
        }
    }

    /// Every index that has rows, or had some.
    pub fn indexes(&self) -> Vec<IndexId> {
        self.inner().folder.memtables.all().iter().map(|shard| shard.index).collect()
    }

    /// Drops an index: at once for readers, soon on disk. The drop is logged. Its id is never used again; versions of it that are installed later are let go.
    pub fn drop_index(&self, index: IndexId) -> Result<(), StorageError> {
        let inner = self.inner();
        inner.failure.check()?;
        inner.folder.drop_index(index);
        inner.log.append_drop(index)?;
        inner.folder.memtables.drop_index(index);
        inner.folder.request();
        Ok(())
    }

    /// About how many bytes a span holds, and where to cut it in half. Cheap; see [`SpanSize`].
    pub fn size_of(&self, span: &Span) -> SpanSize {
        self.inner().folder.sizes.lock().size_of(span)
    }

    /// How long a writer should wait before its next commit, because folding does not keep up. Grows smoothly from nothing.
    pub fn write_delay(&self) -> Option<Duration> {
        let inner = self.inner();
        let fill = inner.folder.memtables.bytes() as f64 / inner.options.memtable_max_bytes.max(1) as f64;
        if fill <= DELAY_FROM_FILL {
            return None;
        }
        let excess = (fill - DELAY_FROM_FILL) / (1.0 - DELAY_FROM_FILL);
        Some(DELAY_AT_MAX.mul_f64((excess * excess).min(1e3)).min(DELAY_LIMIT))
    }

    /// Makes durable what was appended, as the log thread would ([`Options::stepped`]).
    pub fn step_log(&self) -> Result<(), StorageError> {
        self.inner().log.flush_now()
    }

    /// Writes what was spilled and, if a pass is due or `pass` asks for one, folds, as the fold thread would ([`Options::stepped`]).
    pub fn step_fold(&self, pass: bool) -> Result<(), StorageError> {
        let inner = self.inner();
        inner.failure.check()?;
        inner.ended(inner.fold_once(pass || inner.folder.spills.has_ended()).map(drop))
    }

    /// Folds everything installed so far, and cuts the log. Blocks.
    pub fn checkpoint(&self) -> Result<(), StorageError> {
        let inner = self.inner();
        inner.failure.check()?;
        if inner.options.stepped {
            return self.step_fold(true);
        }
        let pass = inner.folder.request();
        inner.folder.wait_passed(pass, || inner.failure.check())
    }

    /// Folds everything, so that the next open has nothing to replay, and ends the store: other clones get [`StorageError::Closed`].
    pub fn close(self) -> Result<(), StorageError> {
        self.checkpoint()?;
        self.0.stop_threads();
        self.inner().failure.fail(StorageError::Closed);
        self.inner().log.wake_all();
        Ok(())
    }

    /// `Err` once the store has failed or was closed.
    pub fn check(&self) -> Result<(), StorageError> {
        self.inner().failure.check()
    }

    /// Counters and gauges.
    pub fn metrics(&self) -> StorageMetrics {
        self.inner().metrics()
    }
}

fn within(what: &'static str, bytes: usize, limit: usize) -> Result<(), StorageError> {
    if bytes > limit { Err(StorageError::TooLarge { what, bytes, limit }) } else { Ok(()) }
}

fn spawn(name: &str, inner: &Arc<Inner>, run: impl FnOnce(&Inner) + Send + 'static) -> Result<JoinHandle<()>, StorageError> {
    let inner = Arc::clone(inner);
    let body = move || {
        // A panic here would leave every committer waiting for ever.
        if catch_unwind(AssertUnwindSafe(|| run(&inner))).is_err() {
            inner.failure.fail(StorageError::Failed("a storage thread panicked".into()));
            inner.folder.spills.close();
            inner.log.wake_all();
        }
    };
    let spawned = std::thread::Builder::new().name(name.to_owned()).spawn(body);
    spawned.map_err(|error| StorageError::io(format!("starting the thread {name}"), &error))
}

/// Opens redb, replays the log over it, and starts a new segment.
fn recover(options: Options, disk: Arc<dyn Disk>) -> Result<Inner, StorageError> {
    let started = Instant::now();
    let pins = Arc::new(Pins::default());
    let failure = Arc::new(Failure::default());
    let (base, checkpoint) = Base::open(&disk, options.cache_bytes)?;
    let folder = Folder::new(base, Arc::clone(&pins), &options);
    folder.load_shards()?;
    let end = replay_into(&folder, &disk, checkpoint, options.memtable_freeze_bytes)?;
    let last_txn = folder.spills.transactions().into_iter().max().unwrap_or_default().max(end.last_txn);
    folder.drop_uncommitted()?;
    let last_ts = end.last_ts.max(checkpoint.folded_ts);
    let segments = Segments::new(Arc::clone(&disk), options.log_segment_bytes, end.oldest_segment, end.spares.clone())?;
    let log = Log::start(segments, &end, last_ts, Arc::clone(&failure), Arc::clone(&pins))?;
    if end.records > 0 {
        let elapsed_ms = started.elapsed().as_millis() as u64;
        tracing::info!(records = end.records, last_ts = last_ts.0, elapsed_ms, "replayed the log");
    }
    Ok(Inner { folder, log, pins, failure, reads: ReadCounters::default(), options, disk, last_txn })
}

fn replay_into(folder: &Folder, disk: &Arc<dyn Disk>, checkpoint: Checkpoint, fold_at_bytes: usize) -> Result<LogEnd, StorageError> {
    replay(&**disk, checkpoint.log_floor, &mut |event| {
        match event {
            Event::Commit(commit) => folder.memtables.install(commit.ts, commit.ts, commit.writes),
            Event::SpilledCommit(spilled, commit) => {
                folder.recover_spilled(&spilled)?;
                folder.memtables.install(commit.ts, commit.ts, commit.writes);
            }
            Event::DropIndex(index) => {
                folder.memtables.drop_index(index);
                folder.drop_index(index);
            }
        }
        if folder.memtables.bytes() >= fold_at_bytes { folder.fold_recovered() } else { Ok(()) }
    })
}

impl Inner {
    /// Passes a result through; an error of redb ends the store.
    fn ended<T>(&self, result: Result<T, StorageError>) -> Result<T, StorageError> {
        result.map_err(|error| {
            let error = self.failure.fail(error);
            self.log.wake_all();
            error
        })
    }

    /// The fold thread.
    fn run_fold(&self) {
        self.fold_until_stopped();
        self.folder.spills.close();
    }

    fn fold_until_stopped(&self) {
        let mut ended_at = Instant::now();
        loop {
            if !self.folder.wait_for_work(FOLD_TICK) {
                return;
            }
            match self.ended(self.fold_once(self.fold_is_due(ended_at))) {
                Ok(true) => ended_at = Instant::now(),
                Ok(false) => {}
                Err(_) => return,
            }
        }
    }

    /// Writes what was spilled; folds, when that is due or was asked for. Says whether it folded.
    fn fold_once(&self, due: bool) -> Result<bool, StorageError> {
        self.folder.write_spills()?;
        let begin = self.folder.begin_pass(due);
        if begin {
            self.folder.pass(&self.log)?;
        }
        self.log.segments().prepare_spare()?;
        if begin {
            self.folder.end_pass();
        }
        Ok(begin)
    }

    fn fold_is_due(&self, ended_at: Instant) -> bool {
        let (bytes, spills) = (self.folder.memtables.bytes(), &self.folder.spills);
        bytes >= self.options.memtable_freeze_bytes
            || (bytes > 0 && ended_at.elapsed() >= self.options.fold_interval)
            || spills.has_ended()
            || spills.newest_moved().is_some()
    }

    fn metrics(&self) -> StorageMetrics {
        let load = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        let (log, fold) = (&self.log.counters, &self.folder.counters);
        let shards = self.folder.memtables.all();
        let (commits, syncs) = (load(&log.commits), load(&log.syncs));
        StorageMetrics {
            commits,
            log_records: load(&log.records),
            log_bytes: load(&log.bytes),
            log_syncs: syncs,
            log_inline_syncs: load(&log.inline_syncs),
            commits_per_sync: commits as f64 / syncs.max(1) as f64,
            log_size_bytes: self.log.size_bytes(),
            uninstalled_commits: self.log.uninstalled() as u64,
            memtable_bytes: self.folder.memtables.bytes() as u64,
            frozen_memtables: shards.iter().filter(|shard| shard.read().frozen.is_some()).count() as u64,
            fold_passes: load(&fold.passes),
            fold_slices: load(&fold.slices),
            folded_rows: load(&fold.rows),
            fold_ms: load(&fold.busy_us) / 1000,
            history_rows: load(&fold.history_rows),
            spilled_transactions: self.folder.spills.len() as u64,
            spilled_rows: load(&self.folder.spills.rows),
            spilled_rows_moved: load(&self.folder.spills.moved),
            base_reads: load(&self.reads.base_reads),
            base_cache_bytes: self.folder.base.cached_bytes() as u64,
            base_file_bytes: self.disk.open(crate::base::FILE).and_then(|file| file.len()).unwrap_or(0),
            pins: self.pins.len() as u64,
            oldest_pin_ms: self.pins.oldest().map_or(0, |(_, age)| age.as_millis() as u64),
        }
    }
}
