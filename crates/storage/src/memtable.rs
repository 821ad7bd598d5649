//! Memtables: the versions committed since the last fold, one shard per index.
//!
//! A shard is an ordered map from key to a short chain of versions, newest last, behind a reader-writer lock ((m) skip lists
//! lose 2.5-5x). It has two generations: `active`, into which versions are installed, and `frozen`, which the fold
//! thread is writing to redb. Beside them stands `base`, the redb snapshot that goes with them: fold swaps the base and
//! drops the frozen map under one write lock, so a reader, who looks at all three under one read lock, sees every version
//! exactly once.
//!
//! *The one rule for callers:* the versions of one key are installed in timestamp order (a new intent is put over a committed one only
//! after that was installed). So a generation's versions of a key are all newer than those of the next, and the first
//! generation that has a version at or below the reader's timestamp has the answer.
//!
//! A chain does not grow under a hot row: installing drops what no pin needs (`pins`).

use crate::base::BaseTable;
use crate::pins::Pins;
use crate::version::Version;
use arc_swap::ArcSwap;
use hashbrown::HashMap;
use parking_lot::{Mutex, RwLock};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tidelock_base::{IndexId, Key, Timestamp, Value};

/// Versions of one key, oldest first. Nearly all have one.
pub(crate) type Chain = SmallVec<[Version; 1]>;

/// What a key costs besides its bytes: its part of a tree node.
const KEY_OVERHEAD: usize = 112;
/// What a version costs besides its value: its place in the chain and the value's allocation.
const VERSION_OVERHEAD: usize = 56;
/// A chain is pruned by an exact picture of the pins when it has grown to this length, and at each doubling.
const EXACT_PRUNE: usize = 16;

fn version_bytes(version: &Version) -> usize {
    VERSION_OVERHEAD + version.value.as_ref().map_or(0, |value| value.len())
}

/// The shard a key lives in. As `Key::index`, except that a key shorter than an index id is padded with zeros, so that the
/// order of shards is always the order of keys.
pub(crate) fn shard_of(key: &[u8]) -> IndexId {
    let mut id = [0; 4];
    let len = key.len().min(4);
    id[..len].copy_from_slice(&key[..len]);
    IndexId(u32::from_be_bytes(id))
}

/// The newest version at or below a timestamp.
pub(crate) fn visible(chain: &Chain, at: Timestamp) -> Option<&Version> {
    chain.iter().rev().find(|version| version.ts <= at)
}

/// A memtable's map, and the memory it takes.
#[derive(Default)]
pub(crate) struct Generation {
    pub(crate) map: BTreeMap<Key, Chain>,
    pub(crate) bytes: usize,
}

impl Generation {
    /// The version of a key that a reader at `at` sees.
    pub(crate) fn visible(&self, key: &[u8], at: Timestamp) -> Option<&Version> {
        if self.map.is_empty() { None } else { self.map.get(key).and_then(|chain| visible(chain, at)) }
    }

    fn install(&mut self, key: Key, version: Version, pins: &PruneBy<'_>) {
        self.bytes += version_bytes(&version);
        match self.map.entry(key) {
            Entry::Vacant(vacant) => {
                self.bytes += KEY_OVERHEAD + vacant.key().len();
                vacant.insert(SmallVec::from_buf([version]));
            }
            Entry::Occupied(mut chain) => {
                let chain = chain.get_mut();
                self.bytes -= put_in_order(chain, version) + prune(chain, pins);
            }
        }
    }
}

/// Puts a version into its place; answers the bytes of one it replaced (a commit that is installed twice).
fn put_in_order(chain: &mut Chain, version: Version) -> usize {
    let at = chain.iter().rposition(|known| known.ts <= version.ts).map_or(0, |before| before + 1);
    match at.checked_sub(1).and_then(|before| chain.get_mut(before)) {
        Some(same) if same.ts == version.ts => version_bytes(&std::mem::replace(same, version)),
        _ => {
            chain.insert(at, version);
            0
        }
    }
}

/// Drops versions that nobody can read; answers their bytes.
fn prune(chain: &mut Chain, by: &PruneBy<'_>) -> usize {
    let mut freed = 0;
    while chain.len() >= 2 && chain[1].ts <= by.horizon {
        freed += version_bytes(&chain.remove(0));
    }
    if chain.len() >= EXACT_PRUNE && chain.len().is_power_of_two() {
        let view = by.pins.view(by.durable);
        let mut kept = Chain::new();
        let mut versions = chain.drain(..).peekable();
        while let Some(version) = versions.next() {
            if versions.peek().is_none_or(|successor| view.needs(version.ts, successor.ts)) {
                kept.push(version);
            } else {
                freed += version_bytes(&version);
            }
        }
        drop(versions);
        *chain = kept;
    }
    freed
}

/// What installing may drop.
pub(crate) struct PruneBy<'a> {
    pub(crate) pins: &'a Pins,
    pub(crate) horizon: Timestamp,
    pub(crate) durable: Timestamp,
}

/// What a reader sees of a shard: all under one lock.
#[derive(Default)]
pub(crate) struct ShardState {
    pub(crate) active: Generation,
    pub(crate) frozen: Option<Arc<Generation>>,
    pub(crate) base: Option<Arc<BaseTable>>,
}

/// One index's memtable.
pub(crate) struct Shard {
    pub(crate) index: IndexId,
    state: RwLock<ShardState>,
}

impl Shard {
    pub(crate) fn read(&self) -> parking_lot::RwLockReadGuard<'_, ShardState> {
        self.state.read()
    }

    /// Moves the active generation to `frozen`; `None` when there is nothing to fold. One may be frozen already: a fold that
    /// was interrupted by an error never comes back, so this does not happen in a running store.
    pub(crate) fn freeze(&self) -> Option<Arc<Generation>> {
        let mut state = self.state.write();
        if state.frozen.is_none() && !state.active.map.is_empty() {
            state.frozen = Some(Arc::new(std::mem::take(&mut state.active)));
        }
        state.frozen.clone()
    }

    /// Shows readers a new base; `folded` says that it holds all of the frozen generation, which is let go.
    pub(crate) fn rebase(&self, base: Option<Arc<BaseTable>>, folded: bool) {
        let (old_base, old_frozen) = {
            let mut state = self.state.write();
            let frozen = if folded { state.frozen.take() } else { None };
            (std::mem::replace(&mut state.base, base), frozen)
        };
        // Freed outside the lock: a big map takes milliseconds.
        drop((old_base, old_frozen));
    }
}

/// All shards.
pub(crate) struct Memtables {
    shards: ArcSwap<HashMap<IndexId, Arc<Shard>>>,
    /// Held while a shard is added or removed. The set of dropped indexes: a late install must not bring one back.
    changing: Mutex<hashbrown::HashSet<IndexId>>,
    pins: Arc<Pins>,
    bytes: AtomicUsize,
}

impl Memtables {
    pub(crate) fn new(pins: Arc<Pins>) -> Memtables {
        Memtables { shards: ArcSwap::default(), changing: Mutex::default(), pins, bytes: AtomicUsize::new(0) }
    }

    /// Memory held by versions, frozen ones included.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// A frozen generation was folded.
    pub(crate) fn folded(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Calls `read` with a shard, if it exists.
    pub(crate) fn with_shard<R>(&self, index: IndexId, read: impl FnOnce(&Shard) -> R) -> Option<R> {
        self.shards.load().get(&index).map(|shard| read(shard))
    }

    /// All shards, in key order.
    pub(crate) fn all(&self) -> Vec<Arc<Shard>> {
        let mut shards: Vec<_> = self.shards.load().values().cloned().collect();
        shards.sort_by_key(|shard| shard.index);
        shards
    }

    /// The ids of the shards from `first` to `last`, in order.
    pub(crate) fn between(&self, first: IndexId, last: IndexId) -> SmallVec<[IndexId; 4]> {
        let shards = self.shards.load();
        let mut found: SmallVec<[IndexId; 4]> = if first == last {
            shards.contains_key(&first).then_some(first).into_iter().collect()
        } else {
            shards.keys().copied().filter(|id| (first..=last).contains(id)).collect()
        };
        found.sort();
        found
    }

    /// Adds a shard that exists in the base, or soon will. No, if the index was dropped.
    pub(crate) fn add(&self, index: IndexId, base: Option<Arc<BaseTable>>) -> bool {
        let dropped = self.changing.lock();
        self.insert_shard(&dropped, index, base).is_some()
    }

    fn insert_shard(&self, dropped: &hashbrown::HashSet<IndexId>, index: IndexId, base: Option<Arc<BaseTable>>) -> Option<Arc<Shard>> {
        if let Some(shard) = self.shards.load().get(&index) {
            return Some(Arc::clone(shard));
        }
        if dropped.contains(&index) {
            return None;
        }
        let shard = Arc::new(Shard { index, state: RwLock::new(ShardState { base, ..ShardState::default() }) });
        let mut shards = HashMap::clone(&self.shards.load());
        shards.insert(index, Arc::clone(&shard));
        self.shards.store(Arc::new(shards));
        Some(shard)
    }

    /// Was it removed for good?
    pub(crate) fn is_dropped(&self, index: IndexId) -> bool {
        self.changing.lock().contains(&index)
    }

    /// Shows readers of one index a newer base; nothing of it was folded.
    pub(crate) fn show_base(&self, index: IndexId, base: Arc<BaseTable>) {
        let shard = self.insert_shard(&self.changing.lock(), index, None);
        if let Some(shard) = shard {
            shard.rebase(Some(base), false);
        }
    }

    /// Removes an index for good.
    pub(crate) fn drop_index(&self, index: IndexId) {
        let removed = {
            let mut dropped = self.changing.lock();
            dropped.insert(index);
            let mut shards = HashMap::clone(&self.shards.load());
            let removed = shards.remove(&index);
            self.shards.store(Arc::new(shards));
            removed
        };
        if let Some(shard) = removed {
            let mut state = shard.state.write();
            // A frozen generation is the fold thread's, which counts it down when it is through with it.
            let active = std::mem::take(&mut state.active);
            state.base = None;
            self.bytes.fetch_sub(active.bytes, Ordering::Relaxed);
        }
    }

    /// Installs versions of one commit, taking a shard's lock once for each run of keys in it.
    pub(crate) fn install(&self, ts: Timestamp, durable: Timestamp, writes: impl IntoIterator<Item = (Key, Option<Value>)>) {
        let by = PruneBy { pins: &self.pins, horizon: self.pins.horizon(), durable };
        let mut writes = writes.into_iter().peekable();
        while let Some((key, value)) = writes.next() {
            let index = shard_of(&key);
            let shards = self.shards.load();
            let shard = match shards.get(&index) {
                Some(shard) => Some(shard),
                None => {
                    drop(shards);
                    let made = self.insert_shard(&self.changing.lock(), index, None);
                    self.install_run(made.as_deref(), ts, (key, value), &mut writes, &by);
                    continue;
                }
            };
            self.install_run(shard.map(|shard| &**shard), ts, (key, value), &mut writes, &by);
        }
    }

    fn install_run(
        &self,
        shard: Option<&Shard>,
        ts: Timestamp,
        first: (Key, Option<Value>),
        writes: &mut std::iter::Peekable<impl Iterator<Item = (Key, Option<Value>)>>,
        by: &PruneBy<'_>,
    ) {
        let index = shard_of(&first.0);
        // Without a shard the index was dropped: its late versions are let go.
        let mut state = shard.map(|shard| shard.state.write());
        let before = state.as_ref().map_or(0, |state| state.active.bytes);
        let mut next = Some(first);
        while let Some((key, value)) = next {
            if let Some(state) = &mut state {
                state.active.install(key, Version { ts, value }, by);
            }
            next = writes.next_if(|(key, _)| shard_of(key) == index);
        }
        if let Some(state) = &state {
            // Wrapping: pruning may have freed more than was added.
            self.bytes.fetch_add(state.active.bytes.wrapping_sub(before), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain_after(updates: std::ops::Range<u64>, pins: &Arc<Pins>, durable: impl Fn(u64) -> u64) -> Vec<u64> {
        let mut generation = Generation::default();
        for ts in updates {
            let durable = Timestamp(durable(ts));
            pins.advance(durable);
            let by = PruneBy { pins, horizon: pins.horizon(), durable };
            generation.install(Key::from("k"), Version { ts: Timestamp(ts), value: None }, &by);
        }
        let chain = &generation.map[&Key::from("k")];
        let bytes = KEY_OVERHEAD + 1 + chain.len() * VERSION_OVERHEAD;
        assert_eq!(generation.bytes, bytes);
        chain.iter().map(|version| version.ts.0).collect()
    }

    #[test]
    fn a_hot_row_keeps_a_short_chain() {
        let pins = Arc::new(Pins::default());
        assert_eq!(chain_after(1..10_000, &pins, |ts| ts), vec![9_999]);
        assert!(chain_after(10_000..20_000, &pins, |ts| ts - 3).len() <= 5);
    }

    #[test]
    fn an_old_pin_keeps_its_version_and_not_all_after_it() {
        let pins = Arc::new(Pins::default());
        let _old = pins.pin(Timestamp(5));
        let chain = chain_after(1..10_000, &pins, |ts| ts);
        assert!(chain.contains(&5) && chain.contains(&9_999) && chain.len() < 2 * EXACT_PRUNE, "{chain:?}");
    }

    #[test]
    fn shards_are_ordered_as_keys_are() {
        let keys: [&[u8]; 6] = [b"", b"\0\0", b"\0\0\0\x05key", b"a", b"a\0\0\0x", b"apple"];
        assert!(keys.is_sorted() && keys.map(shard_of).is_sorted());
    }
}
