//! Pins: which old versions somebody may still read.
//!
//! A reader at a timestamp pins it; pruning and folding keep, for every pinned timestamp, the newest version at or below it.
//! A version `v` with successor `s` is needed if and only if some pin lies in `[v, s)`, or a *future* pin could: new pins
//! are never below the `floor`, the newest durable timestamp that any pruning decision was based on.
//!
//! ```text
//!   versions     5 ------- 12 --- 15 ---------- 30 -----
//!   pins              7                 20
//!   floor                                          32
//!   needed       yes       no     yes           yes (newest)
//! ```
//!
//! Pins of *snapshots* (transactions that read) can be revoked, oldest first, when too much is kept for them: their versions may go from then on, and whoever
//! still reads at or below [`Pins::revoked`] must be told, not shown. It looks there *after* reading: versions go only after the word is out.
//!
//! A mutex over a small ordered map: pin and unpin take about 60 ns, and the two places that are hot (every install)
//! read one atomic, the *horizon*, the oldest timestamp anybody reads at. A stale horizon is too low, which is safe.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tidelock_base::Timestamp;

#[derive(Default)]
struct PinTable {
    pins: BTreeMap<Timestamp, Pinned>,
    floor: Timestamp,
}

struct Pinned {
    count: usize,
    /// How many of them are snapshots.
    snapshots: usize,
    since: Instant,
}

/// All pins of a store.
#[derive(Default)]
pub(crate) struct Pins {
    table: Mutex<PinTable>,
    horizon: AtomicU64,
    revoked: AtomicU64,
}

impl Pins {
    /// Pins `ts`, for the store's own use, or the floor when `ts` is below it and nobody holds a pin there already.
    pub(crate) fn pin(self: &Arc<Pins>, ts: Timestamp) -> SnapshotPin {
        self.pin_with(false, |_| ts)
    }

    /// Pins what `choose` answers under the table's mutex: how a snapshot at "durable now" cannot be overtaken.
    pub(crate) fn pin_with(self: &Arc<Pins>, snapshot: bool, choose: impl FnOnce(Timestamp) -> Timestamp) -> SnapshotPin {
        let since = Instant::now();
        let mut table = self.table.lock();
        let mut ts = choose(table.floor);
        if ts < table.floor && !table.pins.contains_key(&ts) {
            ts = table.floor;
        }
        match table.pins.entry(ts) {
            Entry::Occupied(mut pinned) => {
                pinned.get_mut().count += 1;
                pinned.get_mut().snapshots += usize::from(snapshot);
            }
            Entry::Vacant(vacant) => {
                vacant.insert(Pinned { count: 1, snapshots: usize::from(snapshot), since });
            }
        }
        SnapshotPin { pins: Arc::clone(self), ts, snapshot }
    }

    fn unpin(&self, ts: Timestamp, snapshot: bool) {
        let mut table = self.table.lock();
        if snapshot && ts <= self.revoked() {
            return;
        }
        if let Entry::Occupied(mut pinned) = table.pins.entry(ts) {
            pinned.get_mut().count -= 1;
            pinned.get_mut().snapshots -= usize::from(snapshot);
            if pinned.get().count == 0 {
                pinned.remove();
            }
        }
    }

    /// Revokes the snapshots of the oldest moment that has any and lies before `durable`; says which moment, and how long they were held.
    pub(crate) fn revoke_oldest(&self, durable: Timestamp) -> Option<(Timestamp, Duration)> {
        let mut table = self.table.lock();
        let found = table.pins.iter().find(|(ts, pinned)| pinned.snapshots > 0 && **ts < durable);
        let (ts, held) = found.map(|(ts, pinned)| (*ts, pinned.since.elapsed()))?;
        // New snapshots begin above: what is revoked stays revoked.
        table.floor = table.floor.max(ts.next());
        self.revoked.fetch_max(ts.0, Ordering::AcqRel);
        let older: Vec<Timestamp> = table.pins.range(..=ts).map(|(ts, _)| *ts).collect();
        for ts in older {
            if let Entry::Occupied(mut pinned) = table.pins.entry(ts) {
                pinned.get_mut().count -= pinned.get().snapshots;
                pinned.get_mut().snapshots = 0;
                if pinned.get().count == 0 {
                    pinned.remove();
                }
            }
        }
        Some((ts, held))
    }

    /// Snapshots at or below it were revoked.
    pub(crate) fn revoked(&self) -> Timestamp {
        Timestamp(self.revoked.load(Ordering::Acquire))
    }

    /// Moves the horizon up after `durable` moved.
    pub(crate) fn advance(&self, durable: Timestamp) {
        let mut table = self.table.lock();
        let horizon = table.pins.keys().next().map_or(durable, |oldest| (*oldest).min(durable));
        table.floor = table.floor.max(horizon);
        self.horizon.store(horizon.0, Ordering::Release);
    }

    /// Of the versions at or below it, only the newest is needed.
    pub(crate) fn horizon(&self) -> Timestamp {
        Timestamp(self.horizon.load(Ordering::Acquire))
    }

    /// An exact picture, to prune by. From now on no pin below `durable` is made, except where one is held.
    pub(crate) fn view(&self, durable: Timestamp) -> PinView {
        let mut table = self.table.lock();
        table.floor = table.floor.max(durable);
        PinView { pins: table.pins.keys().copied().collect(), frontier: durable }
    }

    /// The oldest pin, and for how long it has been held.
    pub(crate) fn oldest(&self) -> Option<(Timestamp, Duration)> {
        let table = self.table.lock();
        table.pins.iter().next().map(|(ts, pinned)| (*ts, pinned.since.elapsed()))
    }

    /// How many distinct timestamps are pinned.
    pub(crate) fn len(&self) -> usize {
        self.table.lock().pins.len()
    }
}

/// A sorted copy of the pins, and the timestamp from which on future pins may lie.
#[derive(Clone, Debug)]
pub(crate) struct PinView {
    pins: Vec<Timestamp>,
    frontier: Timestamp,
}

impl PinView {
    /// Nobody reads the past: what recovery folds with.
    pub(crate) fn none() -> PinView {
        PinView { pins: Vec::new(), frontier: Timestamp::MAX }
    }

    /// Is a version needed that `successor` displaced?
    pub(crate) fn needs(&self, ts: Timestamp, successor: Timestamp) -> bool {
        if successor > self.frontier {
            return true;
        }
        let next_pin = self.pins.partition_point(|pin| *pin < ts);
        self.pins.get(next_pin).is_some_and(|pin| *pin < successor)
    }

    /// Must a deletion at `ts` stay to be seen? While an older pin stands; and while one stands at `ts` itself, which is how a transaction that spilled
    /// holds on to its commit: what it deleted at last lies over rows that it has spilled at the same timestamp.
    pub(crate) fn needs_tombstone(&self, ts: Timestamp) -> bool {
        self.frontier < ts || self.pins.first().is_some_and(|pin| *pin <= ts)
    }

    /// The oldest timestamp that is, or may come to be, read at.
    pub(crate) fn oldest(&self) -> Timestamp {
        self.pins.first().map_or(self.frontier, |pin| (*pin).min(self.frontier))
    }
}

/// Keeps the versions that a snapshot at [`SnapshotPin::ts`] sees, for as long as it lives.
#[must_use = "the snapshot is only kept while the pin lives"]
pub struct SnapshotPin {
    pins: Arc<Pins>,
    ts: Timestamp,
    /// It can be revoked.
    snapshot: bool,
}

impl SnapshotPin {
    /// The timestamp to read at. At least the one asked for: newer when versions that an unpinned, older one needs may be gone.
    pub fn ts(&self) -> Timestamp {
        self.ts
    }
}

impl Clone for SnapshotPin {
    fn clone(&self) -> SnapshotPin {
        self.pins.pin_with(self.snapshot, |_| self.ts)
    }
}

impl Drop for SnapshotPin {
    fn drop(&mut self) {
        self.pins.unpin(self.ts, self.snapshot);
    }
}

impl std::fmt::Debug for SnapshotPin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SnapshotPin({})", self.ts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_needed_while_a_pin_lies_between_it_and_its_successor() {
        let pins = Arc::new(Pins::default());
        let (_a, _b) = (pins.pin(Timestamp(7)), pins.pin(Timestamp(20)));
        let view = pins.view(Timestamp(32));
        let needs = |ts, successor| view.needs(Timestamp(ts), Timestamp(successor));
        assert!(needs(5, 12) && !needs(12, 15) && needs(15, 30) && needs(20, 21) && !needs(21, 32) && needs(30, 33));
        assert_eq!(view.oldest(), Timestamp(7));
        assert!(!view.needs_tombstone(Timestamp(6)) && view.needs_tombstone(Timestamp(7)) && view.needs_tombstone(Timestamp(33)));
        assert!(!PinView::none().needs_tombstone(Timestamp(33)));
    }

    #[test]
    fn the_oldest_snapshot_is_revoked_and_other_pins_stay() {
        let pins = Arc::new(Pins::default());
        let internal = pins.pin(Timestamp(5));
        let (old, young) = (pins.pin_with(true, |_| Timestamp(5)), pins.pin_with(true, |_| Timestamp(20)));
        assert_eq!(pins.revoked(), Timestamp::ZERO);
        assert_eq!(pins.revoke_oldest(Timestamp(30)).map(|(ts, _)| ts), Some(Timestamp(5)));
        assert_eq!((pins.revoked(), pins.len()), (Timestamp(5), 2), "the internal pin is still there");
        drop(old);
        assert!(pins.view(Timestamp(30)).needs(Timestamp(4), Timestamp(6)), "a revoked pin that goes takes nobody else's along");
        drop(internal);
        assert!(!pins.view(Timestamp(30)).needs(Timestamp(4), Timestamp(6)));
        assert_eq!(pins.revoke_oldest(Timestamp(20)), None, "what is newest keeps nothing");
        assert_eq!(pins.revoke_oldest(Timestamp(21)).map(|(ts, _)| ts), Some(Timestamp(20)));
        drop(young);
        assert_eq!((pins.len(), pins.revoke_oldest(Timestamp(99))), (0, None));
    }

    #[test]
    fn an_old_pin_is_raised_to_the_floor_unless_it_is_held() {
        let pins = Arc::new(Pins::default());
        let held = pins.pin(Timestamp(5));
        pins.advance(Timestamp(10));
        assert_eq!(pins.horizon(), Timestamp(5));
        let _ = pins.view(Timestamp(10));
        assert_eq!(held.clone().ts(), Timestamp(5));
        assert_eq!(pins.pin(Timestamp(6)).ts(), Timestamp(10));
        drop(held);
        pins.advance(Timestamp(10));
        assert_eq!((pins.horizon(), pins.oldest().is_none()), (Timestamp(10), true));
        assert_eq!(pins.pin(Timestamp(5)).ts(), Timestamp(10));
    }
}
