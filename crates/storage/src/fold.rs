//! Folding: moving committed versions from the memtables into redb, so that the log can be cut and memory freed.
//!
//! A *pass* notes the log's floor, freezes one shard after another, and writes their rows in *slices*: sorted, one durable commit each, at most
//! [`SLICE_ROWS`] or [`SLICE_TIME`]. After each slice the readers' base is swapped, and the frozen maps that are wholly written go. At
//! the end the log is cut below the floor: whatever was installed before the pass began is in redb now, and what was not
//! installed then lies above the floor by definition.
//!
//! For each key, the newest version goes to `latest`, over the one that stood there. Displaced versions go to `history` if a pin needs
//! them (`pins`). A deletion removes the row, unless some pin is older than it, or as old: then a tombstone stays, with a marker in
//! history that says so, and both are collected together with the history.
//!
//! Only durable commits are folded: versions are installed before their commit is synced, and redb must never know of
//! a commit that the log could lose.
//!
//! *Pacing.* (m) One big pass a second gave commits a p999 of 300-700 ms. Slices are short and pauses lie between them, as
//! long as the slice took, shrinking to none as the memtables fill up.

use crate::base::{Base, BaseTable, BaseWrite, Checkpoint, History, Latest, Snapshot, inverted};
use crate::error::StorageError;
use crate::log::Log;
use crate::memtable::{Chain, Generation, Memtables, Shard};
use crate::options::Options;
use crate::pins::{PinView, Pins};
use crate::sizes::{Sizes, cut, row_bytes};
use crate::spill::Spills;
use crate::version::{HistoryRow, Row, RowKind, Version};
use parking_lot::{Condvar, Mutex};
use redb::{ReadableTable, ReadableTableMetadata};
use smallvec::smallvec;
use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tidelock_base::{IndexId, Key, Timestamp, Value};

/// Rows in one redb commit: more are cheaper a row, and stall the log's syncs for longer.
const SLICE_ROWS: usize = 20_000;
/// Time one redb commit may gather rows.
const SLICE_TIME: Duration = Duration::from_millis(20);
/// Rows between two looks at the clock.
const CLOCK_EVERY: usize = 128;
/// Memtable fill (of its maximum) up to which a pass pauses as long as it works.
const EASY_FILL: f64 = 0.4;
/// Memtable fill from which a pass does not pause.
const PRESSED_FILL: f64 = 0.8;

/// Fold counters.
#[derive(Default)]
pub(crate) struct FoldCounters {
    pub(crate) passes: AtomicU64,
    pub(crate) slices: AtomicU64,
    pub(crate) rows: AtomicU64,
    pub(crate) busy_us: AtomicU64,
    pub(crate) history_rows: AtomicU64,
}

/// What the fold thread works on, and how it is asked to.
pub(crate) struct Folder {
    // Before the base, whose tables it holds: dropped in this order.
    pub(crate) memtables: Memtables,
    pub(crate) spills: Spills,
    pub(crate) base: Base,
    pub(crate) pins: Arc<Pins>,
    pub(crate) memtable_max_bytes: usize,
    /// Slices end by their rows alone, and nothing rests: the clock has no say.
    stepped: bool,
    pub(crate) counters: FoldCounters,
    pub(crate) sizes: Mutex<Sizes>,
    /// Held from taking a snapshot of the base to showing it to readers, so that an older one never replaces a newer.
    pub(crate) publishing: Mutex<()>,
    control: Mutex<Control>,
    wake: Condvar,
    passed: Condvar,
    pending: Mutex<Pending>,
}

#[derive(Default)]
struct Control {
    stopping: bool,
    /// Something was spilled: to be written soon.
    spilled: bool,
    /// Passes begun and ended; a request is "the pass after those begun".
    begun: u64,
    ended: u64,
    requested: u64,
}

/// What a pass does besides folding.
#[derive(Default)]
struct Pending {
    drops: Vec<IndexId>,
    /// Indexes with history, and the oldest pin when it was last collected.
    history: BTreeSet<IndexId>,
    collected_to: Timestamp,
    /// How much history there was then.
    collected_rows: u64,
}

impl Folder {
    pub(crate) fn new(base: Base, pins: Arc<Pins>, options: &Options) -> Folder {
        Folder {
            memtables: Memtables::new(Arc::clone(&pins)),
            spills: Spills::default(),
            base,
            pins,
            memtable_max_bytes: options.memtable_max_bytes,
            stepped: options.stepped,
            sizes: Mutex::new(Sizes::new(options.size_bucket_bytes)),
            counters: FoldCounters::default(),
            publishing: Mutex::default(),
            control: Mutex::default(),
            wake: Condvar::new(),
            passed: Condvar::new(),
            pending: Mutex::default(),
        }
    }

    /// Shows readers what the base holds: at open.
    pub(crate) fn load_shards(&self) -> Result<(), StorageError> {
        let (indexes, with_history) = self.base.indexes()?;
        let snapshot = self.base.snapshot()?;
        for index in indexes {
            self.memtables.add(index, snapshot.table(index)?);
        }
        self.spills.load(self.base.spilled()?);
        self.spills.show(&snapshot)?;
        self.pending.lock().history.extend(with_history);
        let mut sizes = self.sizes.lock();
        self.base.sizes()?.into_iter().for_each(|(start, bytes)| sizes.load(start, bytes));
        Ok(())
    }

    /// The next pass deletes the index's tables.
    pub(crate) fn drop_index(&self, index: IndexId) {
        self.pending.lock().drops.push(index);
    }

    /// Folds without a log: replaying a long log would otherwise fill the memory. The floor stays, so a crash replays it all again.
    pub(crate) fn fold_recovered(&self) -> Result<(), StorageError> {
        let mut pass = Pass::new(self, None);
        pass.fold_all()?;
        pass.commit_slice()
    }

    /// One pass. Only the fold thread calls it.
    pub(crate) fn pass(&self, log: &Log) -> Result<(), StorageError> {
        if let Some(segment) = self.spills.newest_moved() {
            // Else their tables would stay until the segment is full.
            log.leave_segment(segment);
        }
        let floor = log.floor();
        // Drops are queued before they are logged: one that was logged below the floor is in the queue.
        let drops = std::mem::take(&mut self.pending.lock().drops);
        // Before anything is frozen: what these wrote over is then in redb when their rows are moved. And before the flush: their commits are on
        // disk when redb gets to know their rows.
        let ended = self.spills.take_ended();
        // Makes the floor's segment exist before the base says that replay starts there.
        log.flush_now()?;
        let folded_ts = log.durable_ts();
        let mut pass = Pass::new(self, Some(log));
        pass.fold_all()?;
        pass.commit_slice()?;
        pass.end_spilled(ended)?;
        pass.drop_indexes(&drops)?;
        pass.collect_history()?;
        pass.commit_slice()?;
        if pass.changed || floor > log.segments().oldest() {
            let slice = pass.slice()?;
            slice.write.set_sizes(&self.sizes.lock().take_dirty())?;
            slice.write.set_checkpoint(Checkpoint { log_floor: floor, folded_ts })?;
            slice.changed = true;
        }
        pass.commit_slice()?;
        log.segments().recycle_below(floor)?;
        pass.drop_moved(floor)?;
        self.counters.passes.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Cuts the buckets of the size histogram that have grown too large.
    fn cut_buckets(&self, index: IndexId, base: &BaseTable) -> Result<(), StorageError> {
        let (overgrown, bucket_bytes) = {
            let sizes = self.sizes.lock();
            (sizes.overgrown(index), sizes.bucket_bytes())
        };
        for span in overgrown {
            let pieces = cut(base, &span, bucket_bytes)?;
            self.sizes.lock().recut(pieces);
        }
        Ok(())
    }

    /// Writes what was spilled, between two slices or two passes.
    pub(crate) fn write_spills(&self) -> Result<(), StorageError> {
        self.control.lock().spilled = false;
        self.spills.work(&self.base, || self.publish(&[]).map(drop))
    }

    /// Something was spilled, or its transaction ended.
    pub(crate) fn wake_for_spills(&self) {
        self.control.lock().spilled = true;
        self.wake.notify_all();
    }

    /// Shows readers a new snapshot of redb; the frozen generations of `folded` are wholly in it.
    fn publish(&self, folded: &[(Arc<Shard>, usize)]) -> Result<Snapshot, StorageError> {
        let _publishing = self.publishing.lock();
        let snapshot = self.base.snapshot()?;
        for shard in self.memtables.all() {
            let done = folded.iter().any(|(done, _)| Arc::ptr_eq(done, &shard));
            shard.rebase(snapshot.table(shard.index)?, done);
        }
        self.spills.show(&snapshot)?;
        Ok(snapshot)
    }

    /// Rows were added to an index's history.
    pub(crate) fn note_history(&self, index: IndexId, added: u64) {
        if added > 0 {
            self.counters.history_rows.fetch_add(added, Ordering::Relaxed);
            self.pending.lock().history.insert(index);
        }
    }

    /// How long to rest after a slice that took `busy`.
    fn pause(&self, busy: Duration) -> Duration {
        let fill = self.memtables.bytes() as f64 / self.memtable_max_bytes.max(1) as f64;
        busy.mul_f64(((PRESSED_FILL - fill) / (PRESSED_FILL - EASY_FILL)).clamp(0.0, 1.0))
    }

    fn rest(&self, busy: Duration) {
        let mut control = self.control.lock();
        // Somebody who waits for the pass, or for its end, should not wait for its manners.
        if !self.stepped && !control.stopping && !control.spilled && control.requested <= control.ended {
            self.wake.wait_for(&mut control, self.pause(busy));
        }
    }

    /// Asks for a pass that begins after now; answers its number.
    pub(crate) fn request(&self) -> u64 {
        let mut control = self.control.lock();
        control.requested = control.begun + 1;
        self.wake.notify_all();
        control.requested
    }

    /// Waits for a requested pass to end, or for `alive` to fail.
    pub(crate) fn wait_passed(&self, number: u64, alive: impl Fn() -> Result<(), StorageError>) -> Result<(), StorageError> {
        let mut control = self.control.lock();
        while control.ended < number {
            alive()?;
            self.passed.wait_for(&mut control, Duration::from_millis(50));
        }
        Ok(())
    }

    /// Waits until something is asked for, or the tick is over; no, when the thread should end.
    pub(crate) fn wait_for_work(&self, tick: Duration) -> bool {
        let mut control = self.control.lock();
        if !control.stopping && !control.spilled && control.requested <= control.ended && !self.spills.has_ended() {
            self.wake.wait_for(&mut control, tick);
        }
        !control.stopping
    }

    /// Begins a pass if one was requested, or is `due`.
    pub(crate) fn begin_pass(&self, due: bool) -> bool {
        let mut control = self.control.lock();
        let begin = due || control.requested > control.ended;
        control.begun += u64::from(begin);
        begin
    }

    /// The pass that was begun has ended.
    pub(crate) fn end_pass(&self) {
        let mut control = self.control.lock();
        control.ended = control.begun;
        self.passed.notify_all();
    }

    /// Asks the fold thread to end.
    pub(crate) fn stop(&self) {
        self.control.lock().stopping = true;
        self.wake.notify_all();
        self.passed.notify_all();
    }
}

/// A redb commit in the making.
pub(crate) struct Slice {
    pub(crate) write: BaseWrite,
    view: PinView,
    started: Instant,
    /// When it has gathered for long enough; never in a simulation.
    pub(crate) ends_at: Option<Instant>,
    pub(crate) rows: usize,
    pub(crate) changed: bool,
    /// Indexes that spilled rows were moved into.
    pub(crate) moved_into: BTreeSet<IndexId>,
    /// Shards whose frozen generation this commit completes, and the memory that frees.
    folded: Vec<(Arc<Shard>, usize)>,
}

pub(crate) fn is_full(rows: usize, ends_at: Option<Instant>) -> bool {
    let late = || ends_at.is_some_and(|end| Instant::now() >= end);
    rows >= SLICE_ROWS || (rows.is_multiple_of(CLOCK_EVERY) && late())
}

/// One pass over all shards: a series of slices.
pub(crate) struct Pass<'a> {
    pub(crate) folder: &'a Folder,
    /// `None` in recovery, when there are no pins and everything is durable.
    log: Option<&'a Log>,
    slice: Option<Slice>,
    changed: bool,
}

impl<'a> Pass<'a> {
    pub(crate) fn new(folder: &'a Folder, log: Option<&'a Log>) -> Pass<'a> {
        Pass { folder, log, slice: None, changed: false }
    }

    /// The slice being filled; the next one begins when it is asked for.
    pub(crate) fn slice(&mut self) -> Result<&mut Slice, StorageError> {
        let slice = match self.slice.take() {
            Some(slice) => slice,
            None => {
                let view = self.log.map_or(PinView::none(), |log| self.folder.pins.view(log.durable_ts()));
                let write = self.folder.base.begin()?;
                let started = Instant::now();
                let ends_at = (!self.folder.stepped).then(|| started + SLICE_TIME);
                Slice { write, view, started, ends_at, rows: 0, changed: false, moved_into: BTreeSet::new(), folded: Vec::new() }
            }
        };
        Ok(self.slice.insert(slice))
    }

    pub(crate) fn fold_all(&mut self) -> Result<(), StorageError> {
        for shard in self.folder.memtables.all() {
            let Some(frozen) = shard.freeze() else { continue };
            if let Some(log) = self.log {
                // Some of what was just frozen may not be durable yet.
                log.flush_now()?;
            }
            let mut from = Bound::Unbounded;
            while let Some(last) = self.fold_rows(&shard, &frozen, from)? {
                self.next_slice()?;
                from = Bound::Excluded(last);
            }
            let slice = self.slice()?;
            slice.folded.push((shard, frozen.bytes));
            slice.changed = true;
        }
        Ok(())
    }

    /// Folds rows until the shard ends (`None`) or the slice is full (the last key folded).
    fn fold_rows(&mut self, shard: &Shard, frozen: &Generation, from: Bound<Key>) -> Result<Option<Key>, StorageError> {
        let folder = self.folder;
        let slice = self.slice()?;
        slice.changed = true;
        let mut full_at = None;
        let mut tables = Tables::open(slice, &folder.sizes, shard.index)?;
        let mut count = slice.rows;
        for (key, chain) in frozen.map.range((from, Bound::Unbounded)) {
            tables.fold(key, chain)?;
            count += 1;
            if is_full(count, slice.ends_at) {
                full_at = Some(key.clone());
                break;
            }
        }
        let added = tables.history_added;
        drop(tables);
        slice.rows = count;
        folder.note_history(shard.index, added);
        Ok(full_at)
    }

    /// Commits, lets those through who wait for redb, and rests.
    pub(crate) fn next_slice(&mut self) -> Result<(), StorageError> {
        let busy = self.slice()?.started.elapsed();
        self.commit_slice()?;
        if self.log.is_some() {
            self.folder.rest(busy);
            self.folder.write_spills()?;
        }
        Ok(())
    }

    /// Makes the slice durable and shows it to the readers.
    pub(crate) fn commit_slice(&mut self) -> Result<(), StorageError> {
        let Some(slice) = self.slice.take().filter(|slice| slice.changed) else { return Ok(()) };
        self.changed = true;
        slice.write.commit()?;
        let folder = self.folder;
        let snapshot = folder.publish(&slice.folded)?;
        let folded = slice.folded.iter().map(|(shard, _)| shard.index);
        for index in folded.chain(slice.moved_into.iter().copied()) {
            if let Some(base) = snapshot.table(index)? {
                folder.cut_buckets(index, &base)?;
            }
        }
        folder.memtables.folded(slice.folded.iter().map(|(_, bytes)| bytes).sum());
        let counters = &folder.counters;
        counters.slices.fetch_add(1, Ordering::Relaxed);
        counters.rows.fetch_add(slice.rows as u64, Ordering::Relaxed);
        counters.busy_us.fetch_add(slice.started.elapsed().as_micros() as u64, Ordering::Relaxed);
        Ok(())
    }

    fn drop_indexes(&mut self, drops: &[IndexId]) -> Result<(), StorageError> {
        let folder = self.folder;
        for index in drops {
            let slice = self.slice()?;
            slice.write.drop_index(*index)?;
            slice.write.remove_sizes(&folder.sizes.lock().drop_index(*index))?;
            slice.changed = true;
            folder.pending.lock().history.remove(index);
        }
        Ok(())
    }

    /// Drops the history that no pin needs any more, if the oldest pin has moved since the last time, or if much has come
    /// since (short pins leave theirs behind while a long one stays).
    fn collect_history(&mut self) -> Result<(), StorageError> {
        if self.folder.pending.lock().history.is_empty() {
            return Ok(());
        }
        let oldest = self.slice()?.view.oldest();
        let indexes: Vec<IndexId> = {
            let pending = self.folder.pending.lock();
            let grown = self.folder.counters.history_rows.load(Ordering::Relaxed) > 2 * pending.collected_rows + SLICE_ROWS as u64;
            if pending.collected_to == oldest && !grown { Vec::new() } else { pending.history.iter().copied().collect() }
        };
        for index in indexes {
            let mut from = None;
            while let Some(last) = self.collect_index(index, from)? {
                self.next_slice()?;
                from = Some(last);
            }
        }
        let mut pending = self.folder.pending.lock();
        pending.collected_to = oldest;
        pending.collected_rows = self.folder.counters.history_rows.load(Ordering::Relaxed);
        Ok(())
    }

    /// Looks at history rows until the index ends (`None`) or the slice is full (the last row looked at).
    fn collect_index(&mut self, index: IndexId, from: Option<HistoryPlace>) -> Result<Option<HistoryPlace>, StorageError> {
        let folder = self.folder;
        let slice = self.slice()?;
        let (dead, full_at) = find_dead(slice, index, from.as_ref())?;
        if dead.is_empty() {
            return Ok(full_at);
        }
        slice.changed = true;
        let mut history = slice.write.history(index)?;
        let mut latest = slice.write.latest(index)?;
        for ((key, inverted_ts), marker) in &dead {
            history.remove((&**key, *inverted_ts))?;
            if *marker {
                collect_tombstone(&mut latest, key, Timestamp(!inverted_ts))?;
            }
        }
        let gone = dead.len() as u64;
        let fewer = |rows: u64| Some(rows.saturating_sub(gone));
        let _ = folder.counters.history_rows.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer);
        if history.is_empty()? {
            drop((history, latest));
            slice.write.drop_history(index)?;
            folder.pending.lock().history.remove(&index);
            return Ok(None);
        }
        Ok(full_at)
    }
}

/// A history row's key: the row's key, and its inverted timestamp.
type HistoryPlace = (Key, u64);
/// History rows to remove, and whether each is a marker.
type Dead = Vec<(HistoryPlace, bool)>;

fn find_dead(slice: &mut Slice, index: IndexId, from: Option<&HistoryPlace>) -> Result<(Dead, Option<HistoryPlace>), StorageError> {
    let mut rows = 0;
    let (dead, full_at) = {
        let history = slice.write.history(index)?;
        scan_dead(&history, &slice.view, from, || {
            rows += 1;
            is_full(rows, slice.ends_at)
        })?
    };
    slice.rows += rows;
    Ok((dead, full_at))
}

fn scan_dead(
    history: &History<'_>,
    view: &PinView,
    from: Option<&HistoryPlace>,
    mut full: impl FnMut() -> bool,
) -> Result<(Dead, Option<HistoryPlace>), StorageError> {
    let lower = from.map_or(Bound::Unbounded, |(key, ts)| Bound::Excluded((&**key, *ts)));
    let mut dead = Dead::new();
    for found in history.range::<(&[u8], u64)>((lower, Bound::Unbounded))? {
        let (place, value) = found?;
        let (key, inverted_ts) = place.value();
        let HistoryRow { successor, row } = HistoryRow::decode(value.value())?;
        let marker = row.kind == RowKind::Marker;
        let needed = if marker { view.needs_tombstone(row.ts) } else { view.needs(row.ts, successor) };
        if !needed {
            dead.push(((Key::from(key), inverted_ts), marker));
        }
        if full() {
            return Ok((dead, Some((Key::from(key), inverted_ts))));
        }
    }
    Ok((dead, None))
}

/// Removes a tombstone from `latest`, if it is still the newest version.
fn collect_tombstone(latest: &mut Latest<'_>, key: &[u8], ts: Timestamp) -> Result<(), StorageError> {
    let still_there = match latest.get(key)? {
        Some(found) => {
            let row = Row::decode(found.value())?;
            row.kind == RowKind::Tombstone && row.ts == ts
        }
        None => false,
    };
    if still_there {
        latest.remove(key)?;
    }
    Ok(())
}

/// An index's tables in a slice.
pub(crate) struct Tables<'txn> {
    write: &'txn BaseWrite,
    view: &'txn PinView,
    sizes: &'txn Mutex<Sizes>,
    index: IndexId,
    latest: Latest<'txn>,
    /// Opened at the first displaced version that is needed.
    history: Option<History<'txn>>,
    history_added: u64,
    buffer: Vec<u8>,
}

impl<'txn> Tables<'txn> {
    pub(crate) fn open(slice: &'txn Slice, sizes: &'txn Mutex<Sizes>, index: IndexId) -> Result<Tables<'txn>, StorageError> {
        let (write, view) = (&slice.write, &slice.view);
        let latest = write.latest(index)?;
        Ok(Tables { write, view, sizes, index, latest, history: None, history_added: 0, buffer: Vec::new() })
    }

    /// Puts a version into its place unless a newer one, or itself, is there already.
    pub(crate) fn fold_over_older(&mut self, key: &Key, ts: Timestamp, value: Option<Value>) -> Result<(), StorageError> {
        let standing = match self.latest.get(&**key)? {
            Some(found) => Row::decode(found.value())?.ts,
            None => Timestamp::ZERO,
        };
        if standing >= ts { Ok(()) } else { self.fold(key, &smallvec![Version { ts, value }]) }
    }

    /// Rows that displaced versions have added to history.
    pub(crate) fn history_added(&self) -> u64 {
        self.history_added
    }

    /// Writes a key's versions.
    fn fold(&mut self, key: &Key, chain: &Chain) -> Result<(), StorageError> {
        let (Some(oldest), Some(newest)) = (chain.first(), chain.last()) else { return Ok(()) };
        for pair in chain.windows(2) {
            let kind = if pair[0].value.is_some() { RowKind::Value } else { RowKind::Tombstone };
            let row = Row { ts: pair[0].ts, kind, value: pair[0].value.as_deref().unwrap_or_default() };
            self.displace(key, row, pair[1].ts)?;
        }
        let keep_tombstone = newest.value.is_none() && self.view.needs_tombstone(newest.ts);
        if keep_tombstone {
            let marker = Row { ts: newest.ts, kind: RowKind::Marker, value: &[] };
            self.add_history(key, marker, newest.ts)?;
        }
        let mut grown = 0;
        let before = if newest.value.is_some() || keep_tombstone {
            Row::encode(newest.ts, newest.value.as_ref(), &mut self.buffer);
            grown = row_bytes(key, &self.buffer);
            self.latest.insert(&**key, self.buffer.as_slice())?
        } else {
            self.latest.remove(&**key)?
        };
        let Some(before) = before.map(|row| row.value().to_vec()) else {
            self.sizes.lock().add(key, grown);
            return Ok(());
        };
        let row = Row::decode(&before)?;
        if row.ts > newest.ts {
            // Only in recovery: the log is replayed from before what was folded. The newer version stays.
            self.latest.insert(&**key, before.as_slice())?;
            return Ok(());
        }
        self.sizes.lock().add(key, grown - row_bytes(key, &before));
        if row.ts < oldest.ts { self.displace(key, row, oldest.ts) } else { Ok(()) }
    }

    /// Keeps a displaced version if somebody needs it.
    fn displace(&mut self, key: &[u8], row: Row<'_>, successor: Timestamp) -> Result<(), StorageError> {
        if self.view.needs(row.ts, successor) { self.add_history(key, row, successor) } else { Ok(()) }
    }

    fn add_history(&mut self, key: &[u8], row: Row<'_>, successor: Timestamp) -> Result<(), StorageError> {
        if self.history.is_none() {
            self.history = Some(self.write.history(self.index)?);
        }
        HistoryRow::encode(successor, row.ts, row.kind, row.value, &mut self.buffer);
        if let Some(history) = &mut self.history {
            let new = history.insert((key, inverted(row.ts)), self.buffer.as_slice())?.is_none();
            self.history_added += u64::from(new);
        }
        Ok(())
    }
}
