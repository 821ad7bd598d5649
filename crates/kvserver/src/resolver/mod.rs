//! The intent resolver: cleans up after transactions that did not clean up themselves.
//!
//! A transaction's locks are named by points (from gets and writes) and by ranges (from locking scans). A large database
//! once merged only the points into batches and sent every ranged resolution alone; with implicit SELECT FOR UPDATE each
//! UPDATE then left a range behind, which made 25 % more batches and cost 4-5 % of TPC-C. Here one batcher takes both:
//!
//! ```text
//!   t9:  point a, point c, range [b, d)          t9:  point a, range [b, d)            c was absorbed
//!   t10: range [e, g), range [g, k)        ─►    t10: range [e, k)                     the two united
//!                                                one batch to the range of a..k
//! ```
//!
//! [`batcher`] is the pure state machine, [`merge`] the merging rule, `driver` the task that gives it time and sends its
//! batches.  Every item is answered exactly once, whatever happens to its batch.

pub mod batcher;
mod driver;
pub mod merge;

pub use driver::{IntentResolver, ResolverMetrics, Route};

use tidelock_kvapi::{LockSpan, Resolution};

/// What is left to clean up of one transaction.
#[derive(Clone, Debug)]
pub struct Cleanup {
    /// The transaction and its end.
    pub outcome: Resolution,
    /// Where it may hold locks.
    pub spans: Vec<LockSpan>,
    /// Somebody waits for one of these locks: do not wait for company.
    pub urgent: bool,
}
