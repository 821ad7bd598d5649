//! Why a batch failed.

use crate::descriptor::RangeDescriptor;
use crate::lock::LockStrength;
use std::fmt;
use std::sync::Arc;
use tidelock_base::{Key, SessionId, Timestamp, TxnId};

/// Why a batch failed. SQL maps each to a SQLSTATE, in one place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KvError {
    /// NOWAIT met a lock.
    #[error("could not obtain lock on {key}")]
    LockNotAvailable {
        /// The key.
        key: Key,
    },
    /// `lock_timeout` passed.
    #[error("lock timeout on {key}, held by session {holder}")]
    LockTimeout {
        /// The key.
        key: Key,
        /// Who held it.
        holder: SessionId,
    },
    /// This transaction was chosen to break a cycle of waits.
    #[error("deadlock")]
    Deadlock(Box<DeadlockReport>),
    /// A write went over a version newer than the snapshot, and what was read before does not hold any more.
    #[error("newer version {newer} of {key}")]
    WriteTooOld {
        /// The key.
        key: Key,
        /// The version.
        newer: Timestamp,
    },
    /// Something that was read has changed.
    #[error("{key} was changed at {at} after it was read")]
    ReadChanged {
        /// Where.
        key: Key,
        /// When.
        at: Timestamp,
    },
    /// A table's definition changed under the transaction.
    #[error("the definition at {key} has changed")]
    AssertionFailed {
        /// The descriptor.
        key: Key,
    },
    /// The transaction had been aborted already (a deadlock victim, an ended session).
    #[error("transaction {txn} is aborted")]
    TxnAborted {
        /// The transaction.
        txn: TxnId,
    },
    /// Too many requests wait for one key.
    #[error("too many waiters ({waiters}) for {key}")]
    TooManyWaiters {
        /// The key.
        key: Key,
        /// How many there are.
        waiters: usize,
    },
    /// The range has other borders than the sender thought; the batch was not evaluated (or the rest was not).
    #[error("the range has changed")]
    RangeMismatch {
        /// The ranges as they are now.
        current: Vec<RangeDescriptor>,
    },
    /// A sequence has no value left.
    #[error("sequence is exhausted")]
    SequenceExhausted,
    /// A key or value is too long.
    #[error("{what} of {bytes} bytes is longer than {limit}")]
    TooLarge {
        /// Key or value.
        what: &'static str,
        /// Its length.
        bytes: usize,
        /// The bound.
        limit: usize,
    },
    /// The snapshot had to be given up, so that old versions could be.
    #[error("snapshot {0} is too old")]
    SnapshotTooOld(Timestamp),
    /// The store is stopping.
    #[error("the store is stopping")]
    Stopping,
    /// The disk, or what is on it, failed. The store has stopped.
    #[error("storage: {0}")]
    Storage(String),
    /// The request makes no sense (a bug above).
    #[error("bad request: {0}")]
    BadRequest(&'static str),
    /// It cannot be known whether the transaction committed: look it up, do not retry.
    #[error("the outcome of transaction {txn} is unknown")]
    OutcomeUnknown {
        /// The transaction.
        txn: TxnId,
    },
}

impl KvError {
    /// Would the same transaction, run again from its start, probably succeed?
    pub fn is_retryable(&self) -> bool {
        matches!(self, KvError::WriteTooOld { .. } | KvError::ReadChanged { .. } | KvError::AssertionFailed { .. })
    }
}

/// What somebody waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitTarget {
    /// A lock on a row.
    Row {
        /// The row.
        key: Key,
        /// How strong.
        strength: LockStrength,
    },
    /// Something above the rows, in words.
    Above(Arc<str>),
}

impl fmt::Display for WaitTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WaitTarget::Row { key, strength } => write!(f, "{strength} on {key}"),
            WaitTarget::Above(what) => f.write_str(what),
        }
    }
}

/// One wait in a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadlockEdge {
    /// Who waits.
    pub waiter: TxnId,
    /// Its session.
    pub waiter_session: SessionId,
    /// For what.
    pub target: WaitTarget,
    /// Who is in the way.
    pub holder: TxnId,
    /// Its session.
    pub holder_session: SessionId,
}

/// The story of a deadlock: the cycle from the victim round to itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadlockReport {
    /// Whose statement fails.
    pub victim: TxnId,
    /// Who waited for whom, beginning with the victim.
    pub cycle: Vec<DeadlockEdge>,
}

impl fmt::Display for DeadlockReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for edge in &self.cycle {
            writeln!(f, "session {} waits {}, held by session {}", edge.waiter_session, edge.target, edge.holder_session)?;
        }
        Ok(())
    }
}
