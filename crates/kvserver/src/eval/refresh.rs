//! `Refresh`: may the transaction's snapshot move forward?

use super::Evaluation;
use tidelock_base::Timestamp;
use tidelock_kvapi::{KvError, ReadSpan, Response};

impl Evaluation<'_> {
    /// Compares with the newest commit, which is at or after `to`: whatever has not changed until now has not changed
    /// until then.
    pub(super) fn refresh(&self, reads: &[ReadSpan], to: Timestamp) -> Result<Response, KvError> {
        debug_assert!(to <= self.store.sequencer.newest());
        self.store.sequencer.refresh(reads, self.read_ts(), &**self.store)?;
        Ok(Response::Refreshed)
    }
}
