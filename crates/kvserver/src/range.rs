//! Ranges: contiguous pieces of the keyspace, each with its lock table under one mutex.
//!
//! There are no latches: a request is evaluated synchronously while it holds its range's mutex, in slices of at most
//! [`tidelock_base::limits::KEYS_PER_SLICE`] keys, and never across an await. Versions are not kept per range; a split is a
//! descriptor change plus moving the lock table's right half, its queues included.
//!
//! Lock order: the structure mutex, then range mutexes from left to right, then the wait room. The commit sequencer's lock
//! comes before any range mutex.

use crate::lock_table::LockTable;
use arc_swap::ArcSwap;
use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tidelock_base::{FloorMap, Key, RangeId, Span};
use tidelock_kvapi::RangeDescriptor;

/// One range.
#[derive(Debug)]
pub struct Range {
    /// Its id, which it keeps for life.
    pub id: RangeId,
    inner: Mutex<RangeInner>,
    /// Keys in the lock table, readable without the mutex: a range without locks costs a reader nothing.
    locked_keys: AtomicUsize,
}

/// What the mutex guards.
#[derive(Debug)]
pub struct RangeInner {
    /// Its borders now.
    pub descriptor: RangeDescriptor,
    /// Its locks.
    pub locks: LockTable,
    /// Merged into its neighbour: look the key up again.
    pub retired: bool,
}

/// A range held by its mutex. Dropping it publishes whether there are locks.
pub struct RangeGuard<'a> {
    range: &'a Range,
    inner: MutexGuard<'a, RangeInner>,
}

impl Range {
    fn new(descriptor: RangeDescriptor, locks: LockTable) -> Range {
        Range {
            id: descriptor.id,
            locked_keys: AtomicUsize::new(locks.len()),
            inner: Mutex::new(RangeInner { descriptor, locks, retired: false }),
        }
    }

    /// Takes the mutex.
    pub fn lock(&self) -> RangeGuard<'_> {
        RangeGuard { range: self, inner: self.inner.lock() }
    }

    /// Is any key locked? Without the mutex: what a snapshot reader needs to know is whether there was a *committed* intent
    /// when its snapshot was taken, and that is never missed.
    pub fn has_locks(&self) -> bool {
        self.locked_keys.load(Ordering::Acquire) > 0
    }
}

impl std::ops::Deref for RangeGuard<'_> {
    type Target = RangeInner;
    fn deref(&self) -> &RangeInner {
        &self.inner
    }
}

impl std::ops::DerefMut for RangeGuard<'_> {
    fn deref_mut(&mut self) -> &mut RangeInner {
        // Readers must not skip the table while it changes: count a change as a lock until the guard is dropped.
        self.range.locked_keys.fetch_max(1, Ordering::AcqRel);
        &mut self.inner
    }
}

impl Drop for RangeGuard<'_> {
    fn drop(&mut self) {
        self.range.locked_keys.store(self.inner.locks.len(), Ordering::Release);
    }
}

impl RangeInner {
    /// Does it (still) hold the key?
    pub fn holds(&self, key: &[u8]) -> bool {
        !self.retired && self.descriptor.span.contains(key)
    }
}

/// All ranges of a store, by start key.
#[derive(Debug)]
pub struct RangeMap {
    by_start: ArcSwap<FloorMap<Arc<Range>>>,
    structure: Mutex<u64>,
}

/// What a split or merge changed: descriptors to write, and start keys whose descriptors are gone.
#[derive(Debug, Default)]
pub struct RangeChange {
    /// The ranges as they are now.
    pub now: Vec<RangeDescriptor>,
    /// Start keys that are no range's any more.
    pub gone: Vec<Key>,
}

impl RangeMap {
    /// The ranges that were stored, or one that holds everything.
    pub fn new(stored: Vec<RangeDescriptor>) -> RangeMap {
        let whole = RangeDescriptor { id: RangeId(1), span: Span::all(), generation: 0 };
        let descriptors = if stored.is_empty() { vec![whole] } else { stored };
        let last_id = descriptors.iter().map(|d| d.id.0).max().unwrap_or(1);
        let ranges = descriptors.into_iter().map(|d| (d.span.start.clone(), Arc::new(Range::new(d, LockTable::default()))));
        RangeMap { by_start: ArcSwap::from_pointee(ranges.collect()), structure: Mutex::new(last_id) }
    }

    /// The range that holds a key. (The map always covers the whole keyspace; `None` only for a key above [`Key::max`].)
    pub fn lookup(&self, key: &[u8]) -> Option<Arc<Range>> {
        self.by_start.load().floor(key).cloned()
    }

    /// Has the range that holds a key no locks? Asked without its mutex. A split publishes the new map before the counts of its two ranges change,
    /// so while the map stays, no lock has moved from where we looked to where we did not.
    pub fn is_lockless(&self, key: &[u8]) -> bool {
        loop {
            let map = self.by_start.load();
            if map.floor(key).is_none_or(|range| range.has_locks()) {
                return false;
            }
            if Arc::ptr_eq(&map, &self.by_start.load()) {
                return true;
            }
        }
    }

    /// The first part of a span that lies in one range, backwards the last, and whether there may be locks in it (as [`RangeMap::is_lockless`]).
    pub fn part_of(&self, span: &Span, reverse: bool) -> Option<(Span, bool)> {
        loop {
            let map = self.by_start.load();
            let (range, part) = if reverse {
                let (start, range) = map.below(&span.end)?;
                (range, Span::new(start.clone().max(span.start.clone()), span.end.clone()))
            } else {
                let (range, border) = map.floor_and_next(&span.start)?;
                (range, Span::new(span.start.clone(), border.map_or(&span.end, |border| border.min(&span.end)).clone()))
            };
            if range.has_locks() {
                return Some((part, true));
            }
            if Arc::ptr_eq(&map, &self.by_start.load()) {
                return Some((part, false));
            }
        }
    }

    /// All ranges, in key order.
    pub fn all(&self) -> Vec<Arc<Range>> {
        self.by_start.load().values().cloned().collect()
    }

    /// The descriptors that overlap a span.
    pub fn descriptors(&self, span: &Span) -> Vec<RangeDescriptor> {
        let ranges = self.by_start.load();
        ranges
            .from_floor(&span.start)
            .map(|range| range.lock().descriptor.clone())
            .take_while(|d| d.span.start < span.end || d.span.contains(&span.start))
            .filter(|d| d.span.overlaps(span))
            .collect()
    }

    /// Cuts the range that holds `key`, so that `key` begins a range.
    pub fn split(&self, key: &Key) -> RangeChange {
        let mut last_id = self.structure.lock();
        let Some(left) = self.lookup(key) else { return RangeChange::default() };
        let mut guard = left.lock();
        if guard.descriptor.span.start == *key {
            return RangeChange { now: vec![guard.descriptor.clone()], gone: Vec::new() };
        }
        *last_id += 1;
        let generation = guard.descriptor.generation + 1;
        let right_span = Span::new(key.clone(), guard.descriptor.span.end.clone());
        let right = RangeDescriptor { id: RangeId(*last_id), span: right_span, generation };
        guard.descriptor.span.end = key.clone();
        guard.descriptor.generation = generation;
        let right_locks = guard.locks.split_off(key);
        let now = vec![guard.descriptor.clone(), right.clone()];
        let mut ranges = (**self.by_start.load()).clone();
        ranges.insert(key.clone(), Arc::new(Range::new(right, right_locks)));
        // Published while the left range's mutex is held: nobody sees the left without its right half.
        self.by_start.store(Arc::new(ranges));
        RangeChange { now, gone: Vec::new() }
    }

    /// Joins the range that holds `key` with its right neighbour, if it has one.
    pub fn merge(&self, key: &Key) -> RangeChange {
        let _structure = self.structure.lock();
        let Some(left) = self.lookup(key) else { return RangeChange::default() };
        let mut guard = left.lock();
        let border = guard.descriptor.span.end.clone();
        let Some(right) = self.lookup(&border).filter(|right| right.id != left.id) else {
            return RangeChange { now: vec![guard.descriptor.clone()], gone: Vec::new() };
        };
        let mut right_guard = right.lock();
        guard.locks.absorb(std::mem::take(&mut right_guard.locks));
        guard.descriptor.span.end = right_guard.descriptor.span.end.clone();
        guard.descriptor.generation = guard.descriptor.generation.max(right_guard.descriptor.generation) + 1;
        right_guard.retired = true;
        let mut ranges = (**self.by_start.load()).clone();
        ranges.remove(&border);
        self.by_start.store(Arc::new(ranges));
        RangeChange { now: vec![guard.descriptor.clone()], gone: vec![border] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_read_range_by_range_from_either_end() {
        let ranges = RangeMap::new(Vec::new());
        ["h", "p"].into_iter().for_each(|key| drop(ranges.split(&Key::from(key))));
        let span = |start: &str, end: &str| Span::new(Key::from(start), Key::from(end));
        for (whole, first, last) in [("b-t", "b-h", "p-t"), ("b-p", "b-h", "h-p"), ("h-i", "h-i", "h-i"), ("q-z", "q-z", "q-z")] {
            let parse = |text: &str| text.split_once('-').map(|(start, end)| span(start, end)).unwrap();
            let whole = parse(whole);
            assert_eq!(ranges.part_of(&whole, false), Some((parse(first), false)), "{whole:?}");
            assert_eq!(ranges.part_of(&whole, true), Some((parse(last), false)), "{whole:?}, backwards");
        }
    }
}
