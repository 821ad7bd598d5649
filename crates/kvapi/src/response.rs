//! Answers.

use crate::descriptor::RangeDescriptor;
use smallvec::SmallVec;
use tidelock_base::{IndexId, Key, RowPage, RowRef, Span, Timestamp, Value};

/// The answers to a batch, one per request, in order.
#[derive(Clone, Debug, Default)]
pub struct BatchResponse {
    /// The answers.
    pub responses: SmallVec<[Response; 1]>,
    /// A write went over a version newer than the snapshot, without a lock that would have shown it. The write stands as
    /// an intent; it is right if everything the transaction read still holds, which the coordinator finds out by a
    /// refresh, and else must be taken back.
    pub too_old: Option<TooOld>,
    /// The store keeps a record of the transaction: from now on its batches say so ([`crate::TxnMeta::anchored`]).
    pub anchored: bool,
}

/// The newest version that a batch's writes went over blindly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooOld {
    /// Where.
    pub key: Key,
    /// When it was committed.
    pub newer: Timestamp,
}

/// One row read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its key.
    pub key: Key,
    /// Its value.
    pub value: Value,
    /// When that version was committed; the transaction's own writes say [`Timestamp::MAX`].
    pub ts: Timestamp,
}

impl Row {
    /// The row, to look at.
    pub fn as_ref(&self) -> RowRef<'_> {
        RowRef { key: &self.key, value: &self.value, ts: self.ts }
    }
}

/// One answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Response {
    /// To `Get`.
    Get {
        /// The row, if there is one.
        row: Option<Row>,
        /// A locking read saw the newest version: a change between `read_ts` and this moment happened when it is
        /// above `read_ts`.
        newest: Timestamp,
        /// `SKIP LOCKED` left the row out.
        skipped: bool,
    },
    /// To `Scan`.
    Scan {
        /// The rows.
        rows: RowPage,
        /// What was not read, when the limit or a portion ended first.
        resume: Option<Span>,
        /// As for `Get`, for the whole span.
        newest: Timestamp,
        /// The state that a locking scan showed: exactly the span at this time.
        read_at: Timestamp,
    },
    /// To `Put`, `Delete`, and a successful `Insert`: whether there was a value before.
    Written {
        /// Was there a (visible or own) value?
        existed: bool,
    },
    /// To `Insert`: the value that is in the way.
    Exists {
        /// The newest committed value, or the transaction's own.
        value: Value,
    },
    /// To `EndTxn`.
    Ended {
        /// When it committed; ZERO when it aborted or wrote nothing.
        commit_ts: Timestamp,
    },
    /// To `Refresh`: all the same.
    Refreshed,
    /// To the resolve requests.
    Resolved {
        /// Intents and locks removed.
        resolved: u64,
        /// Bytes of keys and values that became versions.
        bytes: u64,
        /// What the batch's budget left over; a point that was not reached is all of itself.
        resume: Option<Span>,
    },
    /// To `Ingest`.
    Ingested {
        /// The first key that had a row already, or stood twice; then none of the rows was written.
        duplicate: Option<Key>,
    },
    /// To `ListIndexes`.
    Indexes(Vec<IndexId>),
    /// To `SequenceNext`.
    Sequence {
        /// The first value.
        first: i64,
        /// How many follow one another from there.
        count: u32,
    },
    /// To `RangeLookup`, `Split` and `Merge`: the ranges as they are now.
    Ranges(Vec<RangeDescriptor>),
    /// To requests that have nothing to say.
    Done,
}
