//! The store: takes batches, evaluates their requests in order, and waits where it must.
//!
//! ```text
//!   send ─► for each request: evaluate (synchronous, under the range's mutex)
//!                                │ done ────────► next request
//!                                │ blocked ─────► wait in the key's queue ─► evaluate it again
//!           EndTxn:  sequencer ─► resolve and release ─► wait for durability
//! ```
//!
//! A batch that meets no conflict runs to its end on its caller's task. Only a lock wait, the wait for durability at commit,
//! and back-pressure suspend it.

use crate::eval::{Evaluation, Outcome};
use crate::lock_table::{Finished, WaiterId};
use crate::metrics::{StoreMetrics, add};
use crate::range::{Range, RangeChange, RangeGuard, RangeMap};
use crate::resolver::IntentResolver;
use crate::sequencer::Sequencer;
use crate::settings::{KvSettings, Number};
use crate::spill::SpilledTxns;
use crate::txn_record::TxnRegistry;
use crate::wait::{WaitInfo, WaitRoom};
use std::future::poll_fn;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};
use tidelock_base::{IndexId, Key, RangeId, SessionId, Span, Timestamp, TxnId, Value};
use tidelock_kvapi::{
    BatchRequest, BatchResponse, KvError, LockStrength, Misrouted, RangeDescriptor, Request, Response, Sender, Sent, Snapshot, TxnStatus,
    WaitGraph,
};
use tidelock_storage::{Storage, StorageError};

/// Where range descriptors live.
pub const RANGES_INDEX: IndexId = IndexId(1);

/// Transaction ids of one epoch: a million in a millisecond are never begun.
const EPOCH_BITS: u32 = 20;

/// How often sizes are looked at for splits.
const SPLIT_CHECK_EVERY: Duration = Duration::from_secs(2);

/// One store.
pub struct Store {
    pub(crate) storage: Storage,
    pub(crate) ranges: RangeMap,
    pub(crate) records: TxnRegistry,
    pub(crate) spilled: SpilledTxns,
    pub(crate) sequencer: Sequencer,
    pub(crate) waits: Arc<WaitRoom>,
    pub(crate) sequences: parking_lot::Mutex<()>,
    pub(crate) resolver: OnceLock<IntentResolver>,
    /// Live settings.
    pub settings: Arc<KvSettings>,
    /// Counters.
    pub metrics: Arc<StoreMetrics>,
    next_txn: AtomicU64,
    stopping: AtomicBool,
}

/// A lock, for the views.
#[derive(Clone, Debug)]
pub struct LockInfo {
    /// The key.
    pub key: Key,
    /// Its range.
    pub range: RangeId,
    /// Who holds it.
    pub txn: TxnId,
    /// Whose transaction that is.
    pub session: SessionId,
    /// How strong.
    pub strength: LockStrength,
    /// Is there an intent?
    pub wrote: bool,
}

impl Store {
    /// Opens a store over recovered storage. Its transactions' ids begin at the clock.
    pub fn open(storage: Storage, settings: Arc<KvSettings>) -> Result<Arc<Store>, KvError> {
        let millis = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |now| now.as_millis() as u64);
        Store::open_in_epoch(storage, settings, millis)
    }

    /// The same, in an epoch of the caller's. Each opening must be of a later one: a transaction of an earlier run that is still
    /// under way somewhere must not meet its own id here.
    pub fn open_in_epoch(storage: Storage, settings: Arc<KvSettings>, epoch: u64) -> Result<Arc<Store>, KvError> {
        let descriptors = stored_descriptors(&storage)?;
        // Should the clock have been set back, ids go on above those that storage knows of.
        let next_txn = (epoch << EPOCH_BITS).max(storage.last_txn().0 + 1);
        let store = Store {
            sequencer: Sequencer::new(storage.last_ts()),
            storage,
            ranges: RangeMap::new(descriptors),
            records: TxnRegistry::default(),
            spilled: SpilledTxns::default(),
            waits: Arc::default(),
            sequences: parking_lot::Mutex::new(()),
            resolver: OnceLock::new(),
            settings,
            metrics: Arc::new(StoreMetrics::default()),
            next_txn: AtomicU64::new(next_txn),
            stopping: AtomicBool::new(false),
        };
        Ok(Arc::new(store))
    }

    /// Starts what runs in the background: the intent resolver, which sends its batches through `sender`, and the size
    /// check of ranges. To be called once, inside the runtime.
    pub fn start(self: &Arc<Store>, sender: Arc<dyn Sender>) {
        let weak = Arc::downgrade(self);
        let route = move |key: &Key| {
            let range = weak.upgrade().and_then(|store| store.ranges.lookup(key));
            range.map_or(RangeId(0), |range| range.id)
        };
        let resolver = IntentResolver::start(sender, Arc::new(route), Arc::clone(&self.settings));
        if self.resolver.set(resolver).is_err() {
            return;
        }
        let weak = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(SPLIT_CHECK_EVERY).await;
                let Some(store) = weak.upgrade().filter(|store| !store.is_stopping()) else { return };
                if let Err(error) = store.split_large_ranges() {
                    tracing::warn!(%error, "could not split a range");
                }
                store.cancel_old_snapshots();
            }
        });
    }

    /// Stops taking batches, lets the resolver finish what it has, and folds everything.
    pub async fn stop(&self) -> Result<(), KvError> {
        self.stopping.store(true, Ordering::Release);
        if let Some(resolver) = self.resolver.get() {
            resolver.stop().await;
        }
        self.storage.checkpoint().map_err(storage_error)
    }

    /// The store as something that takes batches.
    pub fn sender(self: &Arc<Store>) -> Arc<dyn Sender> {
        Arc::new(LocalSender(Arc::clone(self)))
    }

    /// Ids grow with begin order.
    fn new_txn_id(&self) -> TxnId {
        TxnId(self.next_txn.fetch_add(1, Ordering::Relaxed))
    }

    /// The storage below, for its counters.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// The intent resolver, once started.
    pub fn resolver(&self) -> Option<&IntentResolver> {
        self.resolver.get()
    }

    /// Transactions that hold something.
    pub fn live_transactions(&self) -> usize {
        self.records.live()
    }

    /// Of those, the ones that have ended and are not cleaned up yet.
    pub fn finished_transactions(&self) -> usize {
        self.records.all().iter().filter(|record| record.status() != TxnStatus::Pending).count()
    }

    /// Who waits for what.
    pub fn waits(&self) -> Vec<WaitInfo> {
        self.waits.waits()
    }

    /// A session's wait for a row.
    pub fn wait_of(&self, session: SessionId) -> Option<WaitInfo> {
        self.waits.wait_of(session)
    }

    /// The graph in which all waits meet, for those above.
    pub fn wait_graph(&self) -> Arc<dyn WaitGraph> {
        Arc::clone(&self.waits) as Arc<dyn WaitGraph>
    }

    /// Every lock held.
    pub fn locks(&self) -> Vec<LockInfo> {
        let mut locks = Vec::new();
        for range in self.ranges.all() {
            let guard = range.lock();
            locks.extend(guard.locks.holders().map(|(key, record, strength, wrote)| LockInfo {
                key: key.clone(),
                range: range.id,
                txn: record.id,
                session: record.session,
                strength,
                wrote,
            }));
        }
        locks
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Runs `f` with the mutex of the range that holds `key`, whatever its borders do meanwhile.
    pub(crate) fn with_range<R>(&self, key: &[u8], f: impl FnOnce(&mut RangeGuard<'_>) -> R) -> Result<R, KvError> {
        loop {
            let range = self.range_at(key)?;
            let mut guard = range.lock();
            if guard.holds(key) {
                let result = f(&mut guard);
                if guard.locks.has_unheld() {
                    self.forget_unheld(guard);
                }
                return Ok(result);
            }
        }
    }

    /// Lets go of a range, and forgets the ended transactions that its lock table has let go of.
    pub(crate) fn forget_unheld(&self, mut guard: RangeGuard<'_>) {
        let unheld = guard.locks.take_unheld();
        drop(guard);
        unheld.iter().for_each(|record| self.forget_if_done(record));
    }

    pub(crate) fn range_at(&self, key: &[u8]) -> Result<Arc<Range>, KvError> {
        self.ranges.lookup(key).ok_or(KvError::BadRequest("no range holds the key"))
    }

    /// Leaves a queue and wakes those who were behind.
    pub(crate) fn leave_queue(&self, key: &Key, waiter: WaiterId, txn: TxnId) {
        let left = self.with_range(key, |guard| {
            let (ready, place) = guard.locks.leave(key, waiter);
            let behind = guard.locks.waiting_behind(key, place);
            self.waits.shorten_waits(txn, behind.iter().map(|waiting| (waiting.record.id, waiting.wait(key))));
            ready
        });
        if let Ok(ready) = left {
            self.waits.wake(&ready);
        }
    }

    /// Recomputes whom the waiters of a key wait for, after something other than a finished transaction changed it.
    pub(crate) fn refresh_edges(&self, guard: &RangeGuard<'_>, key: &Key) {
        for waiting in guard.locks.waiting(key) {
            self.waits.update_wait(waiting.record.id, waiting.wait(key));
        }
    }

    /// Turns what finished transactions left on a key into versions, and forgets their records when nothing is left.
    pub(crate) fn settle(&self, key: &Key, finished: impl IntoIterator<Item = Finished>) {
        for hold in finished {
            if let Some((ts, value)) = hold.committed {
                self.storage.install(ts, key.clone(), value);
                add(&self.metrics.versions_installed, 1);
            }
            hold.record.let_go();
            self.forget_if_done(&hold.record);
        }
    }

    pub(crate) fn forget_if_done(&self, record: &crate::txn_record::TxnRecord) {
        if record.may_be_forgotten() {
            self.records.remove(record.id);
            add(&self.metrics.records_forgotten, 1);
            if let Some(ts) = record.committed_at().filter(|ts| *ts > Timestamp::ZERO) {
                self.storage.installed(ts);
            }
        }
    }

    /// Waits until a commit is on disk; syncs by itself when nobody else is at work.
    pub(crate) async fn wait_durable(&self, ts: Timestamp) -> Result<(), KvError> {
        if self.storage.durable_ts() >= ts {
            return Ok(());
        }
        if self.records.live() == 0 {
            return self.storage.sync_inline(ts).map_err(storage_error);
        }
        poll_fn(|context| self.storage.poll_durable(ts, context.waker())).await.map_err(storage_error)
    }

    /// Loads rows into indexes that are nobody else's. It blocks on the disk, so not on a thread of the runtime.
    async fn ingest(self: &Arc<Store>, rows: Arc<Vec<(Key, Value)>>) -> Result<Response, KvError> {
        let storage = self.storage.clone();
        let loaded = tokio::task::spawn_blocking(move || storage.ingest(&rows)).await;
        let duplicate = loaded.map_err(|error| KvError::Storage(error.to_string()))?.map_err(storage_error)?;
        Ok(Response::Ingested { duplicate })
    }

    /// Commits writes that belong to no transaction: descriptors, sequences.
    pub(crate) fn commit_system(&self, writes: Vec<(Key, Option<Value>)>) -> Result<Timestamp, KvError> {
        let txn = self.new_txn_id();
        let footprint = self.sequencer.footprint(writes.iter().map(|(key, _)| key.clone()).collect());
        let turn = self.sequencer.enter(&[], &[], Timestamp::MAX, self)?;
        turn.commit(
            footprint,
            |ts| self.storage.append_commit(txn, ts, &writes),
            |ts| {
                for (key, value) in &writes {
                    self.storage.install(ts, key.clone(), value.clone());
                }
                self.storage.installed(ts);
            },
        )
        .map_err(storage_error)
    }

    pub(crate) fn persist_ranges(&self, change: &RangeChange) -> Result<(), KvError> {
        let gone = change.gone.iter().map(|start| (descriptor_key(start), None));
        let now = change.now.iter().map(|d| (descriptor_key(&d.span.start), Some(encode_descriptor(d))));
        self.commit_system(gone.chain(now).collect()).map(drop)
    }

    /// Old versions must not grow without bound: past the limit those go for whom most are kept.
    fn cancel_old_snapshots(&self) {
        let kept = self.storage.metrics().history_rows;
        if kept <= self.settings.number(Number::HistoryRows) {
            return;
        }
        if let Some((ts, held)) = self.storage.revoke_oldest_snapshot() {
            add(&self.metrics.snapshots_cancelled, 1);
            tracing::warn!(%ts, held_ms = held.as_millis() as u64, kept, "too many old versions are kept: the oldest snapshot is cancelled");
        }
    }

    fn split_large_ranges(&self) -> Result<(), KvError> {
        for range in self.ranges.all() {
            let descriptor = range.lock().descriptor.clone();
            let size = self.storage.size_of(&descriptor.span);
            if size.bytes > self.settings.number(Number::RangeBytes)
                && let Some(middle) = size.middle.filter(|middle| *middle > descriptor.span.start)
            {
                let change = self.ranges.split(&middle);
                self.persist_ranges(&change)?;
                add(&self.metrics.splits, 1);
            }
        }
        Ok(())
    }
}

/// A store as DistSender sees it. (Waiting requests keep their store alive, hence the `Arc`.)
struct LocalSender(Arc<Store>);

/// A batch under way.
struct Work<'s> {
    evaluation: Evaluation<'s>,
    requests: smallvec::IntoIter<[Request; 1]>,
    /// Met a lock, and is evaluated again after the wait.
    blocked: Option<Request>,
    response: BatchResponse,
}

/// Why a batch does not go on by itself.
enum Pause {
    /// It is done.
    Done,
    /// A place in a lock's queue was taken.
    Lock,
    /// The transaction holds more than it may keep in memory.
    Spill,
    /// Its next request always waits.
    Waits(Request),
}

impl<'s> Work<'s> {
    /// Goes on as far as possible without a wait.
    fn run(&mut self) -> Result<Pause, KvError> {
        while let Some(request) = self.blocked.take().or_else(|| self.requests.next()) {
            if matches!(request, Request::EndTxn(_) | Request::Ingest { .. }) {
                return Ok(Pause::Waits(request));
            }
            match self.evaluation.evaluate(&request)? {
                Outcome::Done(answer) => self.response.responses.push(answer),
                Outcome::Blocked => {
                    self.blocked = Some(request);
                    return Ok(Pause::Lock);
                }
            }
            if self.evaluation.is_over_budget() {
                return Ok(Pause::Spill);
            }
        }
        Ok(Pause::Done)
    }

    /// Waits, and goes on, to the end.
    async fn finish(mut self, store: &'s Arc<Store>, mut pause: Pause) -> Result<BatchResponse, KvError> {
        loop {
            match pause {
                Pause::Done => return Ok(self.answer()),
                Pause::Lock => self.evaluation.wait_for_lock().await?,
                Pause::Spill => self.evaluation.spill().await?,
                Pause::Waits(Request::EndTxn(end)) => self.response.responses.push(self.evaluation.end_txn(*end).await?),
                Pause::Waits(Request::Ingest { rows }) => self.response.responses.push(store.ingest(rows).await?),
                Pause::Waits(_) => return Err(KvError::BadRequest("this request does not wait")),
            }
            pause = self.run()?;
        }
    }

    fn answer(mut self) -> BatchResponse {
        self.response.too_old = self.evaluation.take_too_old();
        self.response.anchored = self.evaluation.is_anchored();
        self.response
    }
}

impl Sender for LocalSender {
    fn send(&self, batch: BatchRequest) -> Sent<'_> {
        let store = &self.0;
        if store.is_stopping() && !may_run_while_stopping(&batch) {
            return Sent::now(Err(KvError::Stopping));
        }
        add(&store.metrics.batches, 1);
        let evaluation = match Evaluation::new(store, batch.header.clone()) {
            Ok(evaluation) => evaluation,
            Err(error) => return Sent::now(Err(error)),
        };
        match evaluation.misrouted(&batch.requests) {
            Ok(None) => {}
            Ok(Some(current)) => return Sent::Misrouted(Box::new(Misrouted { batch, current })),
            Err(error) => return Sent::now(Err(error)),
        }
        batch.requests.iter().for_each(|request| store.metrics.count(request.kind()));
        let mut work = Work { evaluation, requests: batch.requests.into_iter(), blocked: None, response: BatchResponse::default() };
        match work.run() {
            Ok(Pause::Done) => Sent::now(Ok(work.answer())),
            Ok(pause) => Sent::later(work.finish(store, pause)),
            Err(error) => Sent::now(Err(error)),
        }
    }

    fn snapshot(&self) -> Snapshot {
        let pin = self.0.storage.pin_durable();
        Snapshot { ts: pin.ts(), pin: Some(Box::new(pin)) }
    }

    fn snapshot_at(&self, ts: Timestamp) -> Snapshot {
        let pin = self.0.storage.pin_snapshot(ts);
        Snapshot { ts: pin.ts(), pin: Some(Box::new(pin)) }
    }

    fn newest(&self) -> Timestamp {
        self.0.sequencer.newest()
    }

    fn next_txn_id(&self) -> TxnId {
        self.0.new_txn_id()
    }
}

/// While the store stops, transactions may still end and be cleaned up after.
fn may_run_while_stopping(batch: &BatchRequest) -> bool {
    batch.requests.iter().all(|request| {
        matches!(
            request,
            Request::EndTxn(_) | Request::ResolveIntent { .. } | Request::ResolveIntentRange { .. } | Request::RangeLookup { .. }
        )
    })
}

/// The disk failed: the store is of no use any more.
pub(crate) fn storage_error(error: StorageError) -> KvError {
    KvError::Storage(error.to_string())
}

/// How long something took, for the counters.
pub(crate) fn micros_since(start: Instant) -> u64 {
    start.elapsed().as_micros() as u64
}

fn descriptor_key(start: &Key) -> Key {
    let mut key = Key::index_start(RANGES_INDEX);
    key.extend(start);
    key
}

/// `id | generation | length of start | start | end`.
fn encode_descriptor(descriptor: &RangeDescriptor) -> Value {
    let mut bytes = Vec::new();
    bytes.extend_from_slice(&descriptor.id.0.to_le_bytes());
    bytes.extend_from_slice(&descriptor.generation.to_le_bytes());
    bytes.extend_from_slice(&(descriptor.span.start.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&descriptor.span.start);
    bytes.extend_from_slice(&descriptor.span.end);
    Value::from(bytes)
}

fn decode_descriptor(bytes: &[u8]) -> Option<RangeDescriptor> {
    let (id, rest) = bytes.split_first_chunk::<8>()?;
    let (generation, rest) = rest.split_first_chunk::<8>()?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let (start, end) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    Some(RangeDescriptor {
        id: RangeId(u64::from_le_bytes(*id)),
        span: Span::new(Key::from(start), Key::from(end)),
        generation: u64::from_le_bytes(*generation),
    })
}

fn stored_descriptors(storage: &Storage) -> Result<Vec<RangeDescriptor>, KvError> {
    let mut descriptors = Vec::new();
    let mut damaged = None;
    storage
        .scan(&Span::index(RANGES_INDEX), Timestamp::MAX, false, &mut |row| {
            match decode_descriptor(row.value) {
                Some(descriptor) => descriptors.push(descriptor),
                None => damaged = Some(row.to_key()),
            }
            ControlFlow::Continue(())
        })
        .map_err(storage_error)?;
    match damaged {
        Some(key) => Err(KvError::Storage(format!("the range descriptor at {key} is damaged"))),
        None => Ok(fill_gaps(descriptors)),
    }
}

/// The first split writes both halves of what was never written; what is not covered belongs to the range before it.
fn fill_gaps(mut descriptors: Vec<RangeDescriptor>) -> Vec<RangeDescriptor> {
    descriptors.sort_by(|a, b| a.span.start.cmp(&b.span.start));
    let ends: Vec<Key> = descriptors.iter().skip(1).map(|d| d.span.start.clone()).chain([Key::max()]).collect();
    for (descriptor, end) in descriptors.iter_mut().zip(ends) {
        descriptor.span.end = end;
    }
    if let Some(first) = descriptors.first_mut() {
        first.span.start = Key::min();
    }
    descriptors
}
