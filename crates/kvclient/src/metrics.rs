//! Counters of the coordinator and of routing.

use std::sync::atomic::{AtomicU64, Ordering};

/// Monotonic counters; read with [`ClientMetrics::snapshot`].
#[derive(Debug, Default)]
pub struct ClientMetrics {
    /// Transactions begun, retries included.
    pub begun: AtomicU64,
    /// Committed, read-only ones included.
    pub committed: AtomicU64,
    /// Rolled back.
    pub aborted: AtomicU64,
    /// Times the snapshot was moved forward.
    pub refreshes: AtomicU64,
    /// Times it could not be, because something read had changed.
    pub refresh_failures: AtomicU64,
    /// Times a transaction's lock spans became too many, and one covering span an index took their place.
    pub footprints_condensed: AtomicU64,
    /// Batches that had to be cut at range borders.
    pub batches_split: AtomicU64,
    /// Descriptors looked up because the cache was stale or empty.
    pub range_lookups: AtomicU64,
}

impl ClientMetrics {
    /// Adds one.
    pub(crate) fn bump(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Names and values, for the metrics view.
    pub fn snapshot(&self) -> Vec<(&'static str, u64)> {
        [
            ("txn.begun", &self.begun),
            ("txn.committed", &self.committed),
            ("txn.aborted", &self.aborted),
            ("txn.refreshes", &self.refreshes),
            ("txn.refresh_failures", &self.refresh_failures),
            ("txn.footprints_condensed", &self.footprints_condensed),
            ("dist_sender.batches_split", &self.batches_split),
            ("dist_sender.range_lookups", &self.range_lookups),
        ]
        .map(|(name, counter)| (name, counter.load(Ordering::Relaxed)))
        .to_vec()
    }
}
