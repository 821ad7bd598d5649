//! The indexes that a transaction made itself, and may load rows into without locks and intents ([`crate::Txn::ingest`]).
//!
//! Loaded rows cannot be taken back one by one: they go with their index. So a savepoint that lies between the making of an index and the
//! loading of rows closes the index for loading: rolling back to it would have to take the rows and leave the index.
//!
//! ```text
//!   savepoint a │ CREATE TABLE t │ COPY t (loaded) │ savepoint b │ COPY t (usual writes)
//!       └ rolling back to a drops t's index with all that was loaded    └ rolling back to b undoes intents
//! ```

use tidelock_base::IndexId;

/// One index.
#[derive(Clone, Debug)]
struct OwnIndex {
    id: IndexId,
    /// Savepoints taken before it was made.
    made_at: u64,
    /// Savepoints taken before rows were last loaded; `None` when none were.
    loaded_at: Option<u64>,
    /// May rows be loaded?
    open: bool,
}

/// All of a transaction's own indexes.
#[derive(Debug, Default)]
pub(crate) struct OwnIndexes {
    indexes: Vec<OwnIndex>,
    savepoints: u64,
}

impl OwnIndexes {
    /// The transaction made an index.
    pub(crate) fn made(&mut self, id: IndexId) {
        self.indexes.push(OwnIndex { id, made_at: self.savepoints, loaded_at: None, open: true });
    }

    /// May rows be loaded into it?
    pub(crate) fn is_open(&self, id: IndexId) -> bool {
        self.indexes.iter().any(|own| own.id == id && own.open)
    }

    /// Closes those that `which` names.
    pub(crate) fn close(&mut self, which: impl Fn(IndexId) -> bool) {
        self.indexes.iter_mut().filter(|own| which(own.id)).for_each(|own| own.open = false);
    }

    /// Rows are loaded into it.
    pub(crate) fn loaded(&mut self, id: IndexId) {
        let savepoints = self.savepoints;
        self.indexes.iter_mut().filter(|own| own.id == id).for_each(|own| own.loaded_at = Some(savepoints));
    }

    /// A savepoint is taken; answers its number.
    pub(crate) fn savepoint(&mut self) -> u64 {
        self.savepoints += 1;
        self.savepoints
    }

    /// Rolling back to a savepoint: the indexes that go with all that was loaded. `Err` when rows would have to go from an index that stays.
    pub(crate) fn rollback_to(&mut self, savepoint: u64) -> Result<Vec<IndexId>, IndexId> {
        let stuck = self.indexes.iter().find(|own| own.made_at < savepoint && own.loaded_at.is_some_and(|at| at >= savepoint));
        if let Some(stuck) = stuck {
            return Err(stuck.id);
        }
        let gone = self.indexes.iter().filter(|own| own.made_at >= savepoint && own.loaded_at.is_some()).map(|own| own.id).collect();
        self.indexes.retain(|own| own.made_at < savepoint);
        Ok(gone)
    }

    /// The end of a transaction that did not commit: the indexes to drop.
    pub(crate) fn take_loaded(&mut self) -> Vec<IndexId> {
        let all = std::mem::take(&mut self.indexes);
        all.into_iter().filter(|own| own.loaded_at.is_some()).map(|own| own.id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INDEX: IndexId = IndexId(100);

    #[test]
    fn rolling_back_behind_the_making_drops_the_index() {
        let mut own = OwnIndexes::default();
        let before = own.savepoint();
        own.made(INDEX);
        own.loaded(INDEX);
        assert_eq!(own.rollback_to(before), Ok(vec![INDEX]));
        assert!(!own.is_open(INDEX));
    }

    #[test]
    fn rows_loaded_before_a_savepoint_stay() {
        let mut own = OwnIndexes::default();
        own.made(INDEX);
        own.loaded(INDEX);
        let after = own.savepoint();
        assert_eq!(own.rollback_to(after), Ok(vec![]));
        assert_eq!(own.take_loaded(), vec![INDEX]);
    }

    #[test]
    fn rows_loaded_after_a_savepoint_cannot_go_without_their_index() {
        let mut own = OwnIndexes::default();
        own.made(INDEX);
        let between = own.savepoint();
        own.loaded(INDEX);
        assert_eq!(own.rollback_to(between), Err(INDEX));
    }
}
