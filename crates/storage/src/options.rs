//! How a store is opened: where, and how much memory and disk its parts may take.

use crate::disk::Disk;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Start options. [`Options::new`] gives the defaults; every field is public.
#[derive(Clone, Debug)]
pub struct Options {
    /// The data directory; made if missing.
    pub dir: PathBuf,
    /// redb's page cache.
    pub cache_bytes: usize,
    /// Memtable bytes at which the fold thread starts a pass at once.
    pub memtable_freeze_bytes: usize,
    /// Memtable bytes, frozen ones included, towards which [`crate::Storage::write_delay`] slows writers down.
    pub memtable_max_bytes: usize,
    /// Age of the oldest unfolded version at which a pass starts: bounds the log that a restart replays.
    pub fold_interval: Duration,
    /// Size of a log segment.
    pub log_segment_bytes: u64,
    /// Granularity of [`crate::Storage::size_of`].
    pub size_bucket_bytes: usize,
    /// Off: nothing is ever fsynced. For tests and throw-away data only.
    pub sync: bool,
    /// No threads: nothing becomes durable and nothing is folded but by [`crate::Storage::step_log`] and [`crate::Storage::step_fold`], so that
    /// a simulation decides when, and the same calls always lead to the same disk.
    pub stepped: bool,
    /// Where the files live; `None` is the real disk at `dir`. Tests pass a [`crate::disk::SimDisk`].
    pub disk: Option<Arc<dyn Disk>>,
}

impl Options {
    /// The defaults for a data directory.
    pub fn new(dir: impl Into<PathBuf>) -> Options {
        Options {
            dir: dir.into(),
            // A quarter of a small machine; the operating system's page cache takes what remains.
            cache_bytes: 256 << 20,
            // A pass over 64 MiB takes a second or two, so memory stays near a quarter of the bound under steady load.
            memtable_freeze_bytes: 64 << 20,
            memtable_max_bytes: 256 << 20,
            // Long enough that a hot row is folded once for thousands of updates; replay of five seconds takes well under one.
            fold_interval: Duration::from_secs(5),
            // Zero-filling and recycling pay from 16 MiB on; larger ones only hold more log back.
            log_segment_bytes: 32 << 20,
            // A range of 64 MiB is then cut at its middle to within two per cent.
            size_bucket_bytes: 1 << 20,
            sync: true,
            stepped: false,
            disk: None,
        }
    }

    /// Small buffers and no fsync: what most tests want.
    pub fn for_tests(dir: impl Into<PathBuf>) -> Options {
        Options { cache_bytes: 8 << 20, log_segment_bytes: 1 << 20, sync: false, ..Options::new(dir) }
    }
}
