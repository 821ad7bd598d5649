//! `Split`, `Merge`, `DropIndex`: changes of the keyspace itself.

use super::Evaluation;
use crate::metrics::add;
use crate::store::storage_error;
use tidelock_base::{IndexId, Key};
use tidelock_kvapi::{KvError, Response};

impl Evaluation<'_> {
    pub(super) fn split(&self, key: &Key) -> Result<Response, KvError> {
        let change = self.store.ranges.split(key);
        if change.now.len() > 1 {
            add(&self.store.metrics.splits, 1);
            self.store.persist_ranges(&change)?;
        }
        Ok(Response::Ranges(change.now))
    }

    pub(super) fn merge(&self, key: &Key) -> Result<Response, KvError> {
        let change = self.store.ranges.merge(key);
        if !change.gone.is_empty() {
            add(&self.store.metrics.merges, 1);
            self.store.persist_ranges(&change)?;
        }
        Ok(Response::Ranges(change.now))
    }

    pub(super) fn drop_index(&self, index: IndexId) -> Result<Response, KvError> {
        self.store.storage.drop_index(index).map_err(storage_error)?;
        Ok(Response::Done)
    }
}
