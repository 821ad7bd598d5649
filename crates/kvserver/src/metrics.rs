//! Counters of the key-value floors: what `tidelock.metrics` and the Prometheus page show.

use std::sync::atomic::{AtomicU64, Ordering};
use tidelock_kvapi::RequestKind;

/// Monotonic counters of one store.
#[derive(Debug)]
pub struct StoreMetrics {
    /// Batches evaluated, those of the resolver included.
    pub batches: AtomicU64,
    by_kind: Vec<AtomicU64>,
    /// Requests that had to wait for a lock.
    pub lock_waits: AtomicU64,
    /// Time spent in those waits.
    pub lock_wait_micros: AtomicU64,
    /// Deadlocks broken.
    pub deadlocks: AtomicU64,
    /// Moments whose snapshots were cancelled because too many old versions were kept.
    pub snapshots_cancelled: AtomicU64,
    /// Commits with writes.
    pub commits: AtomicU64,
    /// Transactions that only held locks.
    pub lock_only_commits: AtomicU64,
    /// Aborts that had something to clean up.
    pub aborts: AtomicU64,
    /// Commits refused because a read had changed.
    pub validation_failures: AtomicU64,
    /// Intents resolved within their commit.
    pub resolved_inline: AtomicU64,
    /// Intents settled by somebody who met them.
    pub resolved_by_encounter: AtomicU64,
    /// Intents resolved by resolve requests.
    pub resolved_by_request: AtomicU64,
    /// Intents that became versions.
    pub versions_installed: AtomicU64,
    /// Records of finished transactions let go of.
    pub records_forgotten: AtomicU64,
    /// Times a transaction outgrew its budget and spilled.
    pub spills: AtomicU64,
    /// Locks and intents spilled.
    pub spilled_rows: AtomicU64,
    /// Ranges cut.
    pub splits: AtomicU64,
    /// Ranges joined.
    pub merges: AtomicU64,
}

impl Default for StoreMetrics {
    fn default() -> Self {
        let zero = || AtomicU64::new(0);
        StoreMetrics {
            batches: zero(),
            by_kind: RequestKind::ALL.iter().map(|_| zero()).collect(),
            lock_waits: zero(),
            lock_wait_micros: zero(),
            deadlocks: zero(),
            snapshots_cancelled: zero(),
            commits: zero(),
            lock_only_commits: zero(),
            aborts: zero(),
            validation_failures: zero(),
            resolved_inline: zero(),
            resolved_by_encounter: zero(),
            resolved_by_request: zero(),
            versions_installed: zero(),
            records_forgotten: zero(),
            spills: zero(),
            spilled_rows: zero(),
            splits: zero(),
            merges: zero(),
        }
    }
}

impl StoreMetrics {
    /// Counts a request.
    pub fn count(&self, kind: RequestKind) {
        if let Some(counter) = self.by_kind.get(kind as usize) {
            add(counter, 1);
        }
    }

    /// Requests of a kind.
    pub fn requests(&self, kind: RequestKind) -> u64 {
        self.by_kind.get(kind as usize).map_or(0, |counter| counter.load(Ordering::Relaxed))
    }

    /// Names and values.
    pub fn snapshot(&self) -> Vec<(String, u64)> {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut all: Vec<(String, u64)> =
            RequestKind::ALL.iter().map(|kind| (format!("kv.requests.{}", kind.name()), self.requests(*kind))).collect();
        for (name, counter) in [
            ("kv.batches", &self.batches),
            ("kv.lock_waits", &self.lock_waits),
            ("kv.lock_wait_micros", &self.lock_wait_micros),
            ("kv.deadlocks", &self.deadlocks),
            ("kv.snapshots_cancelled", &self.snapshots_cancelled),
            ("kv.commits", &self.commits),
            ("kv.lock_only_commits", &self.lock_only_commits),
            ("kv.aborts", &self.aborts),
            ("kv.validation_failures", &self.validation_failures),
            ("kv.resolved_inline", &self.resolved_inline),
            ("kv.resolved_by_encounter", &self.resolved_by_encounter),
            ("kv.resolved_by_request", &self.resolved_by_request),
            ("kv.versions_installed", &self.versions_installed),
            ("kv.records_forgotten", &self.records_forgotten),
            ("kv.spills", &self.spills),
            ("kv.spilled_rows", &self.spilled_rows),
            ("kv.splits", &self.splits),
            ("kv.merges", &self.merges),
        ] {
            all.push((name.to_string(), load(counter)));
        }
        all
    }
}

/// Adds to a counter.
pub fn add(counter: &AtomicU64, n: u64) {
    counter.fetch_add(n, Ordering::Relaxed);
}
