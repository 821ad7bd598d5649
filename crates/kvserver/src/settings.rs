//! Settings of a store that can be changed while it runs. The first two reproduce history: see "the story" in README.md.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Intents that a commit resolves itself before it leaves the rest to the resolver: about 0.2 ms of work.
pub(crate) const DEFAULT_INLINE_LIMIT: u64 = 500;

/// Bytes after which a range is split.
pub(crate) const DEFAULT_RANGE_BYTES: u64 = 64 * 1024 * 1024;

/// Live settings, shared by everybody who reads or sets them.
#[derive(Debug)]
pub struct KvSettings {
    inline: AtomicBool,
    batch_ranged: AtomicBool,
    inline_limit: AtomicU64,
    range_bytes: AtomicU64,
}

impl Default for KvSettings {
    fn default() -> Self {
        KvSettings {
            inline: AtomicBool::new(true),
            batch_ranged: AtomicBool::new(true),
            inline_limit: AtomicU64::new(DEFAULT_INLINE_LIMIT),
            range_bytes: AtomicU64::new(DEFAULT_RANGE_BYTES),
        }
    }
}

impl KvSettings {
    /// `kv.resolver.inline`: resolve within the commit what is on this store. Off: everything goes through the batcher.
    pub fn inline(&self) -> bool {
        self.inline.load(Ordering::Relaxed)
    }

    /// Sets `kv.resolver.inline`.
    pub fn set_inline(&self, on: bool) {
        self.inline.store(on, Ordering::Relaxed);
    }

    /// `kv.resolver.batch_ranged`: ranged resolutions share batches with points. Off: each goes alone, which once cost a
    /// large database 4-5 % of TPC-C.
    pub fn batch_ranged(&self) -> bool {
        self.batch_ranged.load(Ordering::Relaxed)
    }

    /// Sets `kv.resolver.batch_ranged`.
    pub fn set_batch_ranged(&self, on: bool) {
        self.batch_ranged.store(on, Ordering::Relaxed);
    }

    /// `kv.resolver.inline_limit`: intents resolved within a commit.
    pub fn inline_limit(&self) -> u64 {
        self.inline_limit.load(Ordering::Relaxed)
    }

    /// Sets `kv.resolver.inline_limit`; 0 resolves nothing inline.
    pub fn set_inline_limit(&self, intents: u64) {
        self.inline_limit.store(intents, Ordering::Relaxed);
    }

    /// `kv.range.max_bytes`: a larger range is split.
    pub fn range_bytes(&self) -> u64 {
        self.range_bytes.load(Ordering::Relaxed)
    }

    /// Sets `kv.range.max_bytes`.
    pub fn set_range_bytes(&self, bytes: u64) {
        self.range_bytes.store(bytes, Ordering::Relaxed);
    }
}
