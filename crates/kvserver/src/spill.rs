//! Large transactions: what does not fit their budget of memory spills to storage, locks and intents alike.
//!
//! ```text
//!   lock table (memory)                         storage: spilled/t9
//!   -----------------------                     ------------------------------------------
//!   t9: k7 = v, k8 = w          ── spill ──►    k1 .. k6, then k7, k8
//!   t11 waits for k3            ◄─ bring back ─ k3: t9 holds it
//! ```
//!
//! When a transaction's locks and intents pass `kv.txn.spill_bytes`, they are written to storage and then leave the lock table. Nothing is
//! forgotten by that: whoever asks for a lock on a key that lies in a spilled transaction's *covers* looks in storage, and what the transaction
//! holds there is brought back into the table as a *copy* before the question is answered. Readers look there without bringing anything back: for
//! their own writes, and for those of a transaction that has committed and whose rows are not versions yet.
//!
//! Two orders make this safe without a lock that spans memory and disk. Rows are in storage, and covered, before they leave the table, and a
//! reader asks the table first. And a row of a committed transaction counts only while no newer version of the key is stored: whoever goes over it
//! installs it as a version first.
//!
//! A rollback to a savepoint takes from the table what is there; of what was spilled it notes the sequence numbers, which from then on
//! everybody passes over, and which travel with the commit record.

use crate::lock_table::Overlay;
use crate::metrics::add;
use crate::range::RangeGuard;
use crate::store::{Store, storage_error};
use crate::txn_record::{TxnRecord, WriteNumber};
use arc_swap::ArcSwap;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tidelock_base::{Key, Span, Timestamp, TxnId};
use tidelock_kvapi::{KvError, LockStrength, TxnStatus};
use tidelock_storage::{SequenceRanges, SnapshotPin, SpillEnd, SpillRow, SpilledVersions};
use tokio::sync::oneshot;

/// Spilled keys that a scan lays over the stored rows at a time.
const WINDOW_KEYS: usize = 1024;

/// Keys copied from a range's lock table under one hold of its mutex.
const KEYS_PER_HOLD: usize = 1024;

/// What a transaction has spilled.
#[derive(Debug, Default)]
pub struct SpillState {
    inner: Mutex<SpillInner>,
    /// Values were spilled, not locks alone.
    wrote: AtomicBool,
}

#[derive(Debug, Default)]
struct SpillInner {
    /// One span an index, in no order; every spilled key lies in one.
    covers: Vec<Span>,
    /// The newest statement of which something was spilled.
    newest: u32,
    ignored: SequenceRanges,
    /// Its rows keep the record alive, and are ended with it.
    registered: bool,
    /// Pins the commit until its rows are versions.
    pin: Option<SnapshotPin>,
}

impl SpillState {
    /// May the key have been spilled?
    fn covers(&self, key: &Key) -> bool {
        self.inner.lock().covers.iter().any(|cover| cover.contains(key))
    }

    fn overlaps(&self, span: &Span) -> bool {
        self.inner.lock().covers.iter().any(|cover| cover.overlaps(span))
    }

    /// Was any value spilled?
    pub fn has_written(&self) -> bool {
        self.wrote.load(Ordering::Acquire)
    }

    /// Takes back what was spilled of the statements after `sequence`, up to now.
    pub fn roll_back(&self, sequence: u32, now: u32) {
        let mut inner = self.inner.lock();
        if inner.newest > sequence {
            let last = now.max(inner.newest);
            inner.ignored.add(sequence + 1, last);
        }
    }

    /// The statements that do not count.
    pub fn ignored(&self) -> SequenceRanges {
        self.inner.lock().ignored.clone()
    }

    /// The commit is about to be seen.
    pub fn set_pin(&self, pin: SnapshotPin) {
        self.inner.lock().pin = Some(pin);
    }

    fn still_counting(&self, mut versions: SpilledVersions) -> SpilledVersions {
        let inner = self.inner.lock();
        versions.retain(|version| !inner.ignored.contains(version.sequence));
        versions
    }
}

impl SpillInner {
    fn cover(&mut self, rows: &[SpillRow]) {
        for row in rows {
            match self.covers.iter_mut().find(|cover| cover.start.index() == row.key.index()) {
                Some(cover) if row.key < cover.start => cover.start = row.key.clone(),
                Some(cover) if row.key >= cover.end => cover.end = row.key.next(),
                Some(_) => {}
                None => self.covers.push(Span::point(row.key.clone())),
            }
            self.newest = self.newest.max(row.version.sequence);
        }
    }
}

/// The transactions that have spilled and whose rows are still rows.
#[derive(Debug, Default)]
pub struct SpilledTxns {
    live: ArcSwap<Vec<Arc<TxnRecord>>>,
    changing: Mutex<()>,
}

impl SpilledTxns {
    /// Nobody? What every read and lock asks first.
    pub fn is_empty(&self) -> bool {
        self.live.load().is_empty()
    }

    fn add(&self, record: &Arc<TxnRecord>) {
        let _changing = self.changing.lock();
        let mut live = Vec::clone(&self.live.load());
        live.push(Arc::clone(record));
        self.live.store(Arc::new(live));
    }

    fn remove(&self, txn: TxnId) {
        let _changing = self.changing.lock();
        let mut live = Vec::clone(&self.live.load());
        live.retain(|record| record.id != txn);
        self.live.store(Arc::new(live));
    }

    /// Are the transaction's rows still rows?
    fn holds(&self, txn: TxnId) -> bool {
        self.live.load().iter().any(|record| record.id == txn)
    }

    fn all(&self) -> Arc<Vec<Arc<TxnRecord>>> {
        self.live.load_full()
    }
}

impl Store {
    /// Writes what a transaction holds in memory to storage, and takes it out of the lock table.
    pub(crate) async fn spill(self: &Arc<Store>, record: &Arc<TxnRecord>) -> Result<(), KvError> {
        let end = record.next_write();
        let rows = self.rows_to_spill(record);
        if rows.is_empty() {
            self.forget_spilled(record, &[], end);
            return Ok(());
        }
        let keys: Vec<Key> = rows.iter().map(|row| row.key.clone()).collect();
        let count = rows.len() as u64;
        let Some(written) = self.submit(record, rows)? else { return Ok(()) };
        written.await.map_err(|_| KvError::Stopping)?.map_err(storage_error)?;
        self.forget_spilled(record, &keys, end);
        add(&self.metrics.spills, 1);
        add(&self.metrics.spilled_rows, count);
        Ok(())
    }

    /// Hands rows to storage; `None` when the transaction has ended meanwhile.
    fn submit(
        &self,
        record: &Arc<TxnRecord>,
        rows: Vec<SpillRow>,
    ) -> Result<Option<oneshot::Receiver<Result<(), tidelock_storage::StorageError>>>, KvError> {
        let (done, written) = oneshot::channel();
        let state = record.spill_state();
        let mut inner = state.inner.lock();
        // The end takes this mutex after its flip: either it finds these rows queued before it, or we see the flip.
        if record.status() != TxnStatus::Pending {
            return Ok(None);
        }
        inner.cover(&rows);
        if rows.iter().any(|row| row.version.change.is_some()) {
            state.wrote.store(true, Ordering::Release);
        }
        if !std::mem::replace(&mut inner.registered, true) {
            // Stands for all spilled rows, until they are versions or gone.
            record.hold();
            self.spilled.add(record);
        }
        // The receiver is gone when the statement was cancelled; the rows are then in memory as well.
        let done = Box::new(move |result| drop(done.send(result)));
        self.storage.spill(record.id, rows, done).map_err(storage_error)?;
        Ok(Some(written))
    }

    /// A transaction's locks and intents in all ranges, copies of spilled ones left out.
    fn rows_to_spill(&self, record: &TxnRecord) -> Vec<SpillRow> {
        let mut rows = Vec::new();
        for range in self.ranges.all() {
            let mut from = Some(range.lock().descriptor.span.start.clone());
            while let Some(start) = from {
                from = range.lock().locks.rows_to_spill(record.id, &start, KEYS_PER_HOLD, &mut rows);
            }
        }
        rows
    }

    /// What was spilled is let go of in memory.
    fn forget_spilled(&self, record: &TxnRecord, keys: &[Key], end: WriteNumber) {
        record.forget_writes_below(end);
        record.reset_memory();
        for key in keys {
            // A key is always held by some range.
            let _ = self.with_range(key, |guard| guard.locks.forget_spilled(key, record.id));
        }
        if record.take_brought_back() {
            for range in self.ranges.all() {
                let mut guard = range.lock();
                guard.locks.drop_copies_of(record.id);
                self.forget_unheld(guard);
            }
        }
    }

    /// Brings back into the lock table what spilled transactions hold on a key; says whether a committed one was settled.
    pub(crate) fn bring_back(&self, guard: &mut RangeGuard<'_>, key: &Key) -> Result<bool, KvError> {
        if self.spilled.is_empty() {
            return Ok(false);
        }
        let mut settled = false;
        for record in self.spilled.all().iter().filter(|record| record.spill_state().covers(key)) {
            if record.status() == TxnStatus::Aborted || guard.locks.held(key, record.id).is_some() {
                continue;
            }
            let versions = self.spilled_versions(record, key)?;
            // Asked after the rows were read: a pending one that commits now is in the table, where its end finds it.
            match record.committed_at() {
                None if !versions.is_empty() => guard.locks.bring_back(key, record, &versions),
                None => {}
                Some(ts) => settled |= self.settle_spilled(key, record.id, ts, versions)?,
            }
        }
        Ok(settled)
    }

    /// Installs what a committed transaction has spilled of a key, unless that, or something newer, is stored already.
    fn settle_spilled(&self, key: &Key, txn: TxnId, ts: Timestamp, versions: SpilledVersions) -> Result<bool, KvError> {
        let Some(value) = versions.into_iter().find_map(|version| version.change) else { return Ok(false) };
        if !self.counts(key, txn, ts, Timestamp::MAX)? {
            return Ok(false);
        }
        self.storage.install(ts, key.clone(), value);
        add(&self.metrics.versions_installed, 1);
        add(&self.metrics.resolved_by_encounter, 1);
        Ok(true)
    }

    fn spilled_versions(&self, record: &TxnRecord, key: &Key) -> Result<SpilledVersions, KvError> {
        let versions = self.storage.spilled_get(record.id, key).map_err(storage_error)?;
        Ok(record.spill_state().still_counting(versions))
    }

    /// What a reader must see of a key's spilled rows instead of what is stored.
    pub(crate) fn spilled_visible(&self, key: &Key, reader: Option<TxnId>, at: Timestamp) -> Result<Option<Overlay>, KvError> {
        let mut newest: Option<Overlay> = None;
        for record in self.spilled.all().iter() {
            let Some(ts) = counts_for(record, reader, at).filter(|_| record.spill_state().covers(key)) else { continue };
            let versions = self.spilled_versions(record, key)?;
            if let Some(overlay) = self.overlay(key, (record.id, ts), versions, at)?
                && newest.as_ref().is_none_or(|known| known.ts < overlay.ts)
            {
                newest = Some(overlay);
            }
        }
        Ok(newest)
    }

    /// Does what a committed transaction has spilled of a key count, because storage has nothing as new? The transaction is looked up after
    /// storage was read: while it is registered, its pin keeps the tombstone of whoever deleted the row since; once it is not, its rows
    /// are versions, and storage alone is right.
    fn counts(&self, key: &Key, txn: TxnId, ts: Timestamp, at: Timestamp) -> Result<bool, KvError> {
        let stored = self.storage.get(key, at).map_err(storage_error)?;
        Ok(stored.is_none_or(|stored| stored.ts < ts) && self.spilled.holds(txn))
    }

    /// The newest change among the versions of a transaction, if the reader does not find something as new in storage.
    fn overlay(
        &self,
        key: &Key,
        (txn, ts): (TxnId, Timestamp),
        versions: SpilledVersions,
        at: Timestamp,
    ) -> Result<Option<Overlay>, KvError> {
        let Some(value) = versions.into_iter().find_map(|version| version.change) else { return Ok(None) };
        if ts < Timestamp::MAX && !self.counts(key, txn, ts, at)? {
            return Ok(None);
        }
        Ok(Some(Overlay { key: key.clone(), ts, value }))
    }

    /// What a reader must see of the spilled rows at the beginning of a span (at its end, backwards), and how far that reaches.
    pub(crate) fn spilled_window(&self, span: &Span, reader: Option<TxnId>, at: Timestamp, reverse: bool) -> Result<Window, KvError> {
        let mut window = Window { span: span.clone(), whole: true, overlays: BTreeMap::new() };
        if self.spilled.is_empty() {
            return Ok(window);
        }
        for record in self.spilled.all().iter() {
            let Some(ts) = counts_for(record, reader, at).filter(|_| record.spill_state().overlaps(span)) else { continue };
            window.whole = false;
            let rows = self.window_rows(record, &mut window, reverse)?;
            for (key, versions) in rows {
                if let Some(overlay) = self.overlay(&key, (record.id, ts), record.spill_state().still_counting(versions), at)? {
                    window.add(overlay);
                }
            }
        }
        Ok(window)
    }

    /// The next spilled rows of a transaction; the window shrinks to what they cover.
    fn window_rows(&self, record: &TxnRecord, window: &mut Window, reverse: bool) -> Result<Vec<(Key, SpilledVersions)>, KvError> {
        let mut rows = Vec::new();
        self.storage
            .spilled_scan(record.id, &window.span, reverse, &mut |key, versions| {
                rows.push((key, versions));
                if rows.len() >= WINDOW_KEYS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .map_err(storage_error)?;
        if rows.len() >= WINDOW_KEYS
            && let Some((last, _)) = rows.last()
        {
            if reverse {
                window.span.start = last.clone();
            } else {
                window.span.end = last.next();
            }
        }
        Ok(rows)
    }

    /// Has storage turn a finished transaction's spilled rows into versions, or drop them; then its record may go.
    pub(crate) fn end_spilled(self: &Arc<Store>, record: &Arc<TxnRecord>) {
        // Storage's own pin goes when the rows are versions; ours when nobody looks at the rows any more. In between a deletion must stay visible.
        let (end, kept) = {
            let mut inner = record.spill_state().inner.lock();
            if !inner.registered {
                return;
            }
            match inner.pin.take() {
                Some(pin) => {
                    let kept = self.storage.pin(pin.ts());
                    (SpillEnd::Commit { pin, ignored: inner.ignored.clone() }, Some(kept))
                }
                None => (SpillEnd::Abort, None),
            }
        };
        let (done, ended) = oneshot::channel();
        let done = Box::new(move |result| drop(done.send(result)));
        if let Err(error) = self.storage.end_spilled(record.id, end, done) {
            tracing::warn!(%error, txn = %record.id, "spilled rows are left to the next start");
            return;
        }
        // Not on storage's thread: the last hold on the store must not be let go of there.
        let (store, record) = (Arc::downgrade(self), Arc::clone(record));
        tokio::spawn(async move {
            if let Ok(Ok(())) = ended.await
                && let Some(store) = store.upgrade()
            {
                store.spilled.remove(record.id);
                drop(kept);
                record.let_go();
                store.forget_if_done(&record);
            }
        });
    }
}

/// When the reader sees what the transaction has spilled: MAX for its own, `None` for never.
fn counts_for(record: &TxnRecord, reader: Option<TxnId>, at: Timestamp) -> Option<Timestamp> {
    if Some(record.id) == reader {
        return Some(Timestamp::MAX);
    }
    record.committed_at().filter(|ts| *ts <= at)
}

/// Spilled rows to lay over the stored rows of a span.
#[derive(Debug)]
pub(crate) struct Window {
    /// What they cover: the beginning of the span that was asked for.
    pub(crate) span: Span,
    /// It covers the whole span, and nothing is spilled there.
    whole: bool,
    overlays: BTreeMap<Key, Overlay>,
}

impl Window {
    fn add(&mut self, overlay: Overlay) {
        if self.overlays.get(&overlay.key).is_none_or(|known| known.ts < overlay.ts) {
            self.overlays.insert(overlay.key.clone(), overlay);
        }
    }

    /// The overlays in key order, with those of the lock table, which are never older, in place of spilled ones.
    pub(crate) fn with(mut self, in_memory: Vec<Overlay>) -> Vec<Overlay> {
        if self.whole {
            return in_memory;
        }
        self.overlays.extend(in_memory.into_iter().map(|overlay| (overlay.key.clone(), overlay)));
        let span = self.span;
        self.overlays.into_values().filter(|overlay| span.contains(&overlay.key)).collect()
    }
}

/// A lock strength as a spilled row's tag.
pub(crate) fn tag_of(strength: LockStrength) -> u8 {
    strength as u8
}

/// The lock strength of a spilled row; a tag that no version of this program wrote counts as the strongest.
pub(crate) fn strength_of(tag: u8) -> LockStrength {
    LockStrength::ALL.get(usize::from(tag)).copied().unwrap_or(LockStrength::Update)
}
