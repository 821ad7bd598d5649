//! Which range holds a key, remembered.
//!
//! Entries are only hints: a range that a batch reaches by mistake answers [`tidelock_kvapi::KvError::RangeMismatch`] with
//! the true descriptors, and the batch goes out again. The store is asked only when the cache does not know, and tells only when it was wrong:
//! so the newest word is always the better one.

use arc_swap::ArcSwap;
use std::sync::Arc;
use tidelock_base::{FloorMap, Key};
use tidelock_kvapi::RangeDescriptor;

/// Descriptors kept; beyond it the cache starts afresh, which costs one lookup per range in use.
const MAX_CACHED_RANGES: usize = 100_000;

/// Descriptors by start key. Reads are lock-free; changes are rare and copy.
#[derive(Debug, Default)]
pub struct RangeCache {
    by_start: ArcSwap<FloorMap<Arc<RangeDescriptor>>>,
}

impl RangeCache {
    /// The range that should hold the key.
    pub fn lookup(&self, key: &Key) -> Option<Arc<RangeDescriptor>> {
        self.find(key, Arc::clone)
    }

    /// The same, seen by a closure.
    pub fn find<T>(&self, key: &Key, seen: impl FnOnce(&Arc<RangeDescriptor>) -> T) -> Option<T> {
        let ranges = self.by_start.load();
        let range = ranges.floor(key)?;
        range.span.contains(key).then(|| seen(range))
    }

    /// Learns what the store says its ranges are now; what they overlap is forgotten, whatever its generation: a store that lost power
    /// may have lost its newest splits, and counts its generations from where it was.
    pub fn insert(&self, learned: &[RangeDescriptor]) {
        self.by_start.rcu(|current| {
            let mut ranges = if current.len() > MAX_CACHED_RANGES { FloorMap::default() } else { (**current).clone() };
            learned.iter().for_each(|range| replace(&mut ranges, range));
            ranges
        });
    }
}

fn replace(ranges: &mut FloorMap<Arc<RangeDescriptor>>, range: &RangeDescriptor) {
    let overlapping = ranges.values().filter(|known| known.span.overlaps(&range.span));
    let starts: Vec<Key> = overlapping.map(|known| known.span.start.clone()).collect();
    for start in starts {
        ranges.remove(&start);
    }
    ranges.insert(range.span.start.clone(), Arc::new(range.clone()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidelock_base::{RangeId, Span};

    fn range(id: u64, start: &str, end: &str, generation: u64) -> RangeDescriptor {
        RangeDescriptor { id: RangeId(id), span: Span::new(start.into(), end.into()), generation }
    }

    #[test]
    fn a_split_replaces_the_old_range() {
        let cache = RangeCache::default();
        cache.insert(&[range(1, "a", "z", 1)]);
        cache.insert(&[range(1, "a", "m", 2), range(2, "m", "z", 2)]);
        assert_eq!(cache.lookup(&"b".into()).unwrap().id, RangeId(1));
        assert_eq!(cache.lookup(&"m".into()).unwrap().id, RangeId(2));
        assert!(cache.lookup(&"z".into()).is_none());
    }

    #[test]
    fn a_store_that_lost_a_split_is_believed() {
        let cache = RangeCache::default();
        cache.insert(&[range(1, "a", "m", 2), range(2, "m", "z", 2)]);
        cache.insert(&[range(1, "a", "z", 1)]);
        assert_eq!(cache.lookup(&"m".into()).unwrap().id, RangeId(1));
    }
}
