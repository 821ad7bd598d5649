//! A table of keys, by SQL's equality (NULL equals NULL): what GROUP BY, DISTINCT, hash joins, set operations and recursion look rows up in.
//!
//! Each key has a number, counted from 0 in order of first appearance, under which its owner keeps what belongs to it. Keys lie one behind the
//! other in a [`RowBatch`]; looking one up costs no allocation.

use super::RowBatch;
use super::batch::MemoryUse;
use crate::error::SqlError;
use crate::types::{DataType, Datum, compare};
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::{BuildHasher, Hasher};

/// Bytes that a key costs besides its values.
const ENTRY_BYTES: usize = 8;

/// Keys and their numbers.
#[derive(Clone, Debug)]
pub(super) struct KeyTable {
    types: Vec<DataType>,
    keys: RowBatch,
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
    memory: MemoryUse,
}

impl KeyTable {
    /// For keys of these types.
    pub(super) fn new(types: Vec<DataType>) -> KeyTable {
        KeyTable {
            keys: RowBatch::new(types.len()),
            types,
            numbers: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            memory: MemoryUse::default(),
        }
    }

    /// The number of a key.
    pub(super) fn find(&self, key: &[Datum]) -> Option<usize> {
        let found = self.numbers.find(hash(&self.hasher, &self.types, key), |number| self.is_at(*number, key));
        found.map(|number| *number as usize)
    }

    /// The number of a key, and whether it is new.
    pub(super) fn insert(&mut self, key: &[Datum]) -> Result<(usize, bool), SqlError> {
        let hash_of_key = hash(&self.hasher, &self.types, key);
        if let Some(number) = self.numbers.find(hash_of_key, |number| self.is_at(*number, key)) {
            return Ok((*number as usize, false));
        }
        self.memory.row(key)?;
        self.memory.grow(ENTRY_BYTES)?;
        let number = self.keys.len();
        self.keys.push_slice(key);
        let (keys, hasher, types) = (&self.keys, &self.hasher, &self.types);
        self.numbers.insert_unique(hash_of_key, number as u32, |number| hash(hasher, types, keys.row(*number as usize)));
        Ok((number, true))
    }

    /// Forgets all keys, and not how they hash.
    pub(super) fn clear(&mut self) {
        self.keys = RowBatch::new(self.types.len());
        self.numbers.clear();
        self.memory = MemoryUse::default();
    }

    /// A hash of the key, of this table alone.
    pub(super) fn hash(&self, key: &[Datum]) -> u64 {
        hash(&self.hasher, &self.types, key)
    }

    /// Bytes in memory, roughly.
    pub(super) fn bytes(&self) -> usize {
        self.memory.bytes()
    }

    /// All keys, by their numbers.
    pub(super) fn keys(&self) -> impl Iterator<Item = &[Datum]> {
        self.keys.rows()
    }

    /// How many.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Its owner keeps something, too.
    pub(super) fn grow(&mut self, bytes: usize) -> Result<(), SqlError> {
        self.memory.grow(bytes)
    }

    fn is_at(&self, number: u32, key: &[Datum]) -> bool {
        equal(&self.types, self.keys.row(number as usize), key)
    }
}

/// Are two keys equal? NULL equals NULL.
fn equal(types: &[DataType], left: &[Datum], right: &[Datum]) -> bool {
    types.iter().zip(left).zip(right).all(|((ty, a), b)| compare::eq_as(*ty, a, b))
}

fn hash(hasher: &DefaultHashBuilder, types: &[DataType], key: &[Datum]) -> u64 {
    let mut state = hasher.build_hasher();
    types.iter().zip(key).for_each(|(ty, value)| compare::hash_as(*ty, value, &mut state));
    state.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Numeric;

    #[test]
    fn equal_keys_have_one_number() {
        let mut table = KeyTable::new(vec![DataType::BPCHAR, DataType::NUMERIC]);
        let number = |text: &str| Datum::Numeric(Numeric::parse(text).unwrap());
        let mut insert = |text: Datum, n: Datum| table.insert(&[text, n]).unwrap();
        assert_eq!(insert(Datum::text("a"), number("1")), (0, true));
        assert_eq!(insert(Datum::text("a  "), number("1.00")), (0, false));
        assert_eq!(insert(Datum::text(" a"), number("1")), (1, true));
        assert_eq!(insert(Datum::Null, Datum::Null), (2, true));
        assert_eq!(insert(Datum::Null, Datum::Null), (2, false));
        assert_eq!(table.find(&[Datum::text("a"), number("1.0")]), Some(0));
        assert_eq!(table.find(&[Datum::text("a"), number("2")]), None);
        assert!(table.keys().nth(2).is_some_and(|key| key.iter().all(Datum::is_null)));
        assert_eq!(table.len(), 3);
        let hash = table.hash(&[Datum::text("a"), number("1")]);
        table.clear();
        assert_eq!((table.len(), table.bytes(), table.hash(&[Datum::text("a "), number("1.0")])), (0, 0, hash));
        assert_eq!(table.insert(&[Datum::text("b"), number("1")]).unwrap(), (0, true));
    }

    #[test]
    fn keys_keep_their_numbers_while_the_table_grows() {
        let mut table = KeyTable::new(vec![DataType::INT8]);
        for n in 0..10_000 {
            assert_eq!(table.insert(&[Datum::Int8(n * 7)]).unwrap(), (n as usize, true));
        }
        assert!((0..10_000).all(|n| table.find(&[Datum::Int8(n * 7)]) == Some(n as usize)));
    }
}
