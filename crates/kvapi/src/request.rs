//! Requests, alone and in batches.

use crate::lock::{LockSpan, LockStrength, WaitPolicy};
use crate::txn::{TxnMeta, TxnStatus};
use smallvec::SmallVec;
use std::sync::Arc;
use std::time::Duration;
use tidelock_base::row::ColumnSet;
use tidelock_base::{IndexId, Key, RangeId, Span, Timestamp, TxnId, Value};

/// How much a request may return or touch. An enum, because a limit of 0 that means "unlimited" has cost others dearly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// As much as there is (a store still answers in portions and says where to resume).
    Unlimited,
    /// So many keys; 0 is none at all.
    Keys(u64),
}

impl Limit {
    /// What remains after `used` keys.
    #[must_use]
    pub fn less(self, used: u64) -> Limit {
        match self {
            Limit::Unlimited => Limit::Unlimited,
            Limit::Keys(keys) => Limit::Keys(keys.saturating_sub(used)),
        }
    }

    /// Nothing left?
    pub fn is_exhausted(self) -> bool {
        self == Limit::Keys(0)
    }
}

/// What the resolve requests of one batch may do together. What is not reached is answered with a span to resume with; the
/// last intent may go past the bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PassBudget {
    /// Intents that may be touched; 0 is none at all.
    pub keys: u64,
    /// Bytes of keys and values that may become versions; 0 is none at all.
    pub bytes: u64,
}

impl PassBudget {
    /// What remains after so much was done.
    #[must_use]
    pub fn less(self, keys: u64, bytes: u64) -> PassBudget {
        PassBudget { keys: self.keys.saturating_sub(keys), bytes: self.bytes.saturating_sub(bytes) }
    }

    /// Nothing left?
    pub fn is_exhausted(self) -> bool {
        self.keys == 0 || self.bytes == 0
    }
}

/// What concerns all requests of a batch.
#[derive(Clone, Debug)]
pub struct Header {
    /// The range the sender believes in; DistSender fills it in.
    pub range: RangeId,
    /// The transaction; `None` for reads at a snapshot and for administration.
    pub txn: Option<TxnMeta>,
    /// What non-transactional reads see.
    pub read_ts: Timestamp,
    /// What to do about locks of others.
    pub wait_policy: WaitPolicy,
    /// Longest wait for any single lock.
    pub lock_timeout: Option<Duration>,
    /// Bounds the batch's resolve requests; `None` is no bound.
    pub pass: Option<PassBudget>,
}

/// Requests for one or more ranges, evaluated in order.
#[derive(Clone, Debug)]
pub struct BatchRequest {
    /// What concerns them all.
    pub header: Header,
    /// The requests. Most batches have one or a few.
    pub requests: SmallVec<[Request; 1]>,
}

impl BatchRequest {
    /// Reads outside of any transaction, at a snapshot.
    pub fn read_at(read_ts: Timestamp) -> BatchRequest {
        BatchRequest {
            header: Header { range: RangeId(0), txn: None, read_ts, wait_policy: WaitPolicy::Block, lock_timeout: None, pass: None },
            requests: SmallVec::new(),
        }
    }

    /// A batch of a transaction.
    pub fn in_txn(txn: TxnMeta) -> BatchRequest {
        let mut batch = BatchRequest::read_at(txn.read_ts);
        batch.header.txn = Some(txn);
        batch
    }

    /// Adds a request.
    #[must_use]
    pub fn with(mut self, request: Request) -> BatchRequest {
        self.requests.push(request);
        self
    }
}

/// One thing to do.
#[derive(Clone, Debug)]
pub enum Request {
    /// Reads a key, locking it when asked to.
    Get {
        /// The key.
        key: Key,
        /// Lock to take, on the key whether or not it has a value.
        lock: Option<LockStrength>,
    },
    /// Reads a span in key order, locking each row found when asked to.
    Scan {
        /// The keys.
        span: Span,
        /// From the end.
        reverse: bool,
        /// Rows wanted.
        limit: Limit,
        /// Lock to take on each row.
        lock: Option<LockStrength>,
    },
    /// Writes a value: locks the key exclusively and leaves an intent.
    Put {
        /// The key.
        key: Key,
        /// The value.
        value: Value,
        /// Strength: [`LockStrength::NoKeyUpdate`] when only non-key columns change.
        lock: LockStrength,
        /// What keeps others from changing it unseen.
        guard: WriteGuard,
    },
    /// Writes a value where none may be: answers [`crate::Response::Exists`] when there is one.
    Insert {
        /// The key.
        key: Key,
        /// The value.
        value: Value,
    },
    /// Removes a key's value: an intent too.
    Delete {
        /// The key.
        key: Key,
        /// What keeps others from changing it unseen.
        guard: WriteGuard,
    },
    /// Ends the transaction.
    EndTxn(Box<EndTxn>),
    /// Drops intents and locks with a sequence number above `sequence`: ROLLBACK TO SAVEPOINT.
    RollbackTo {
        /// Where they may be.
        spans: Vec<LockSpan>,
        /// The newest number to keep.
        sequence: u32,
    },
    /// Would these reads, done at the transaction's `read_ts`, give the same at `to`?
    Refresh {
        /// What was read.
        reads: Vec<ReadSpan>,
        /// The newer snapshot.
        to: Timestamp,
    },
    /// Cleans up after a finished transaction at one key.
    ResolveIntent {
        /// The key.
        key: Key,
        /// What became of the transaction.
        outcome: Resolution,
    },
    /// Cleans up after a finished transaction in a span.
    ResolveIntentRange {
        /// The span; only locks of `outcome.txn` are touched.
        span: Span,
        /// What became of the transaction.
        outcome: Resolution,
    },
    /// Takes values from a sequence, outside of any transaction.
    SequenceNext {
        /// Where the sequence lives.
        key: Key,
        /// How it steps.
        step: SequenceStep,
    },
    /// Sets a sequence, outside of any transaction.
    SequenceSet {
        /// Where the sequence lives.
        key: Key,
        /// The value.
        value: i64,
        /// Was it already given out?
        called: bool,
    },
    /// Loads rows into indexes that nobody but the sender can know yet: no locks, no intents, durable when answered. The sender must drop the indexes
    /// unless the transaction that makes them known commits.
    Ingest {
        /// Rows, sorted by key.
        rows: Arc<Vec<(Key, Value)>>,
    },
    /// The indexes that have data, or had.
    ListIndexes,
    /// Gives up all data of an index: DROP and TRUNCATE, after their commit.
    DropIndex {
        /// The index.
        index: IndexId,
    },
    /// Cuts a range in two at a key; nothing happens when a border is there already.
    Split {
        /// First key of the right side.
        key: Key,
    },
    /// Joins the range that holds `key` with its right neighbour.
    Merge {
        /// A key of the left range.
        key: Key,
    },
    /// The descriptors of the ranges that overlap a span.
    RangeLookup {
        /// The span.
        span: Span,
    },
}

/// What keeps others from changing a key between the read that a write is based on, and the write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WriteGuard {
    /// The snapshot, or a lock on this very key: a newer version is reported as [`crate::TooOld`].
    Snapshot,
    /// The lock on the row it belongs to: what an index entry relies on. Nothing is looked up.
    Row,
}

/// The end of a transaction.
#[derive(Clone, Debug, Default)]
pub struct EndTxn {
    /// Commit, or else abort.
    pub commit: bool,
    /// SERIALIZABLE: what was read without a lock, to be validated at the commit timestamp.
    pub reads: Vec<ReadSpan>,
    /// Facts that must still hold, at any isolation level: the table descriptors that its writes relied on.
    pub assertions: Vec<Assertion>,
    /// Where it may hold locks and intents.
    pub locks: Vec<LockSpan>,
    /// The newest commit it observed by locking reads: it must not be acknowledged before that is durable.
    pub observed: Timestamp,
    /// `synchronous_commit = off`: do not wait for durability.
    pub lazy: bool,
}

/// "This key's newest value was written at or before `since`."
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertion {
    /// The key.
    pub key: Key,
    /// Any version newer than this fails the assertion.
    pub since: Timestamp,
}

/// Something a transaction read, with the columns whose change would change the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadSpan {
    /// One key.
    Point(Key, ColumnSet),
    /// All keys of a span, those that are not there included.
    Range(Span, ColumnSet),
}

impl ReadSpan {
    /// The columns that mattered.
    pub fn columns(&self) -> ColumnSet {
        match self {
            ReadSpan::Point(_, columns) | ReadSpan::Range(_, columns) => *columns,
        }
    }

    /// The keys, as a span.
    pub fn span(&self) -> Span {
        match self {
            ReadSpan::Point(key, _) => Span::point(key.clone()),
            ReadSpan::Range(span, _) => span.clone(),
        }
    }
}

/// What became of a transaction, for those who clean up after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Resolution {
    /// The transaction.
    pub txn: TxnId,
    /// Its end; `Pending` is refused.
    pub status: TxnStatus,
    /// When it committed.
    pub commit_ts: Timestamp,
}

/// How a sequence steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceStep {
    /// First value ever.
    pub start: i64,
    /// Difference between neighbours, not 0.
    pub increment: i64,
    /// Smallest value.
    pub min: i64,
    /// Largest value.
    pub max: i64,
    /// Begin again at the other end, or fail.
    pub cycle: bool,
    /// How many values to take at once, at least 1. Fewer are given at the end of the sequence.
    pub count: u32,
}

macro_rules! kinds {
    ($($pattern:pat => $kind:ident, $name:literal;)*) => {
        /// What a request is, for counters.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[allow(missing_docs)] // the names of `Request`
        pub enum RequestKind { $($kind),* }

        impl RequestKind {
            /// All kinds.
            pub const ALL: &'static [RequestKind] = &[$(RequestKind::$kind),*];

            /// Its name in metrics.
            pub fn name(self) -> &'static str {
                match self { $(RequestKind::$kind => $name),* }
            }
        }

        impl Request {
            /// What it is.
            pub fn kind(&self) -> RequestKind {
                match self { $($pattern => RequestKind::$kind),* }
            }
        }
    };
}

kinds! {
    Request::Get { .. } => Get, "get";
    Request::Scan { .. } => Scan, "scan";
    Request::Put { .. } => Put, "put";
    Request::Insert { .. } => Insert, "insert";
    Request::Delete { .. } => Delete, "delete";
    Request::EndTxn(_) => EndTxn, "end_txn";
    Request::RollbackTo { .. } => RollbackTo, "rollback_to";
    Request::Refresh { .. } => Refresh, "refresh";
    Request::ResolveIntent { .. } => ResolveIntent, "resolve_intent";
    Request::ResolveIntentRange { .. } => ResolveIntentRange, "resolve_intent_range";
    Request::SequenceNext { .. } => SequenceNext, "sequence_next";
    Request::SequenceSet { .. } => SequenceSet, "sequence_set";
    Request::Ingest { .. } => Ingest, "ingest";
    Request::ListIndexes => ListIndexes, "list_indexes";
    Request::DropIndex { .. } => DropIndex, "drop_index";
    Request::Split { .. } => Split, "split";
    Request::Merge { .. } => Merge, "merge";
    Request::RangeLookup { .. } => RangeLookup, "range_lookup";
}

impl Request {
    /// The key it is routed by, if it goes to the range that holds it; `None` for what concerns a whole transaction or the store.
    pub fn routing_key(&self) -> Option<&Key> {
        match self {
            Request::Get { key, .. }
            | Request::Put { key, .. }
            | Request::Insert { key, .. }
            | Request::Delete { key, .. }
            | Request::ResolveIntent { key, .. }
            | Request::SequenceNext { key, .. }
            | Request::SequenceSet { key, .. } => Some(key),
            Request::Scan { span, .. } | Request::ResolveIntentRange { span, .. } => Some(&span.start),
            _ => None,
        }
    }

    /// Lies everything it touches within these borders? True for what is not routed by keys.
    pub fn fits(&self, borders: &Span) -> bool {
        match self {
            Request::Scan { span, .. } | Request::ResolveIntentRange { span, .. } => borders.contains_span(span),
            other => other.routing_key().is_none_or(|key| borders.contains(key)),
        }
    }

    /// The keys it touches: what DistSender routes by. `EndTxn` and the whole-store requests go to the range of their
    /// anchor.
    pub fn span(&self) -> Span {
        match self {
            Request::Get { key, .. }
            | Request::Put { key, .. }
            | Request::Insert { key, .. }
            | Request::Delete { key, .. }
            | Request::ResolveIntent { key, .. }
            | Request::SequenceNext { key, .. }
            | Request::SequenceSet { key, .. }
            | Request::Split { key }
            | Request::Merge { key } => Span::point(key.clone()),
            Request::Scan { span, .. } | Request::ResolveIntentRange { span, .. } | Request::RangeLookup { span } => span.clone(),
            Request::EndTxn(end) => end.locks.first().map_or_else(|| Span::point(Key::min()), LockSpan::span),
            Request::RollbackTo { spans, .. } => spans.first().map_or_else(|| Span::point(Key::min()), LockSpan::span),
            Request::Refresh { reads, .. } => reads.first().map_or_else(|| Span::point(Key::min()), ReadSpan::span),
            Request::Ingest { rows } => Span::point(rows.first().map_or_else(Key::min, |(key, _)| key.clone())),
            Request::ListIndexes => Span::point(Key::min()),
            Request::DropIndex { index } => Span::point(Key::index_start(*index)),
        }
    }
}
