//! What the store tells about itself: a plain copy of its counters, for the metrics page and the catalog views.

/// Counters since the store was opened, and gauges of now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StorageMetrics {
    /// Commits appended.
    pub commits: u64,
    /// Log records appended (a big commit is several).
    pub log_records: u64,
    /// Log bytes appended.
    pub log_bytes: u64,
    /// Group syncs of the log.
    pub log_syncs: u64,
    /// Syncs that a committer did itself; part of `log_syncs`.
    pub log_inline_syncs: u64,
    /// Commits per sync, on average.
    pub commits_per_sync: f64,
    /// Log bytes on disk that a restart would have to look at.
    pub log_size_bytes: u64,
    /// Commits whose versions have not all been installed.
    pub uninstalled_commits: u64,
    /// Memory held by versions, frozen ones included.
    pub memtable_bytes: u64,
    /// Memtables being folded.
    pub frozen_memtables: u64,
    /// Fold passes.
    pub fold_passes: u64,
    /// Fold commits to redb.
    pub fold_slices: u64,
    /// Rows folded.
    pub folded_rows: u64,
    /// Time spent folding.
    pub fold_ms: u64,
    /// Displaced versions kept for pinned snapshots (those added since the store was opened, less those dropped).
    pub history_rows: u64,
    /// Transactions with spilled rows.
    pub spilled_transactions: u64,
    /// Rows spilled.
    pub spilled_rows: u64,
    /// Spilled rows that became versions.
    pub spilled_rows_moved: u64,
    /// Point reads that memory could not answer.
    pub base_reads: u64,
    /// Size of redb's page cache in use.
    pub base_cache_bytes: u64,
    /// Size of redb's file.
    pub base_file_bytes: u64,
    /// Distinct timestamps that are pinned.
    pub pins: u64,
    /// How long the oldest pin has been held.
    pub oldest_pin_ms: u64,
}
