//! What a range is.

use tidelock_base::{RangeId, Span};

/// A contiguous piece of the keyspace. `generation` grows with each split or merge, so that a cached descriptor can be
/// recognised as older than another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeDescriptor {
    /// Its id; a split keeps the id on the left side and makes a new one on the right.
    pub id: RangeId,
    /// The keys it holds.
    pub span: Span,
    /// How often its borders changed.
    pub generation: u64,
}
