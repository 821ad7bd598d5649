//! A sorted list that answers "the greatest key at or below this one": how ranges are found by the keys they hold.
//!
//! Looked up several times a request and changed a few times an hour, so it is a plain vector: a binary search over it costs a third of what a
//! `BTreeMap` takes to find both ends of a range of keys.

use crate::Key;

/// Values by key.
#[derive(Clone, Debug)]
pub struct FloorMap<T>(Vec<(Key, T)>);

impl<T> Default for FloorMap<T> {
    fn default() -> FloorMap<T> {
        FloorMap(Vec::new())
    }
}

impl<T> FloorMap<T> {
    /// The entry with the greatest key at or below this one.
    pub fn floor(&self, key: &[u8]) -> Option<&T> {
        let above = self.0.partition_point(|(start, _)| &**start <= key);
        self.0.get(above.checked_sub(1)?).map(|(_, value)| value)
    }

    /// As [`FloorMap::floor`], with the key at which the next entry begins.
    pub fn floor_and_next(&self, key: &[u8]) -> Option<(&T, Option<&Key>)> {
        let above = self.0.partition_point(|(start, _)| &**start <= key);
        let (_, value) = self.0.get(above.checked_sub(1)?)?;
        Some((value, self.0.get(above).map(|(start, _)| start)))
    }

    /// The entry with the greatest key below this one.
    pub fn below(&self, key: &[u8]) -> Option<(&Key, &T)> {
        let above = self.0.partition_point(|(start, _)| &**start < key);
        self.0.get(above.checked_sub(1)?).map(|(start, value)| (start, value))
    }

    /// Adds or replaces.
    pub fn insert(&mut self, key: Key, value: T) {
        match self.0.binary_search_by(|(start, _)| start.cmp(&key)) {
            Ok(at) => self.0[at].1 = value,
            Err(at) => self.0.insert(at, (key, value)),
        }
    }

    /// Removes.
    pub fn remove(&mut self, key: &Key) -> Option<T> {
        let at = self.0.binary_search_by(|(start, _)| start.cmp(key)).ok()?;
        Some(self.0.remove(at).1)
    }

    /// The values from the greatest key at or below this one on, in key order.
    pub fn from_floor(&self, key: &[u8]) -> impl Iterator<Item = &T> {
        let above = self.0.partition_point(|(start, _)| &**start <= key);
        self.0[above.saturating_sub(1)..].iter().map(|(_, value)| value)
    }

    /// All values in key order.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(_, value)| value)
    }

    /// Entries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// None?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> FromIterator<(Key, T)> for FloorMap<T> {
    fn from_iter<I: IntoIterator<Item = (Key, T)>>(entries: I) -> FloorMap<T> {
        let mut map = FloorMap::default();
        entries.into_iter().for_each(|(key, value)| map.insert(key, value));
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_belongs_to_the_entry_that_begins_at_or_below_it() {
        let map: FloorMap<u32> = [("m", 2), ("", 1), ("t", 3)].into_iter().map(|(key, value)| (Key::from(key), value)).collect();
        assert_eq!(["", "a", "m", "s", "t", "zz"].map(|key| map.floor(key.as_bytes()).copied()), [1, 1, 2, 2, 3, 3].map(Some));
        assert_eq!(map.from_floor(b"n").copied().collect::<Vec<_>>(), [2, 3]);
        assert_eq!(map.floor_and_next(b"m"), Some((&2, Some(&Key::from("t")))));
        assert_eq!(map.floor_and_next(b"t"), Some((&3, None)));
        assert_eq!((map.below(b"m"), map.below(b"n")), (Some((&Key::from(""), &1)), Some((&Key::from("m"), &2))));
        assert!(FloorMap::<u32>::default().floor(b"a").is_none());
    }

    #[test]
    fn what_was_removed_falls_to_its_neighbour() {
        let mut map: FloorMap<u32> = [("", 1), ("m", 2)].into_iter().map(|(key, value)| (Key::from(key), value)).collect();
        map.insert(Key::from("m"), 5);
        assert_eq!((map.floor(b"n"), map.len()), (Some(&5), 2));
        assert_eq!(map.remove(&Key::from("m")), Some(5));
        assert_eq!(map.remove(&Key::from("m")), None);
        assert_eq!(map.floor(b"n"), Some(&1));
    }
}
