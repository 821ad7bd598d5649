//! What a request says about its transaction.

use std::fmt;
use tidelock_base::{SessionId, Timestamp, TxnId};

/// The three isolation levels (READ UNCOMMITTED behaves as READ COMMITTED, as in PostgreSQL).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Isolation {
    /// A snapshot per statement.
    ReadCommitted,
    /// One snapshot; writes over newer versions refresh or fail.
    RepeatableRead,
    /// As if one after another: reads are validated at commit.
    #[default]
    Serializable,
}

impl fmt::Display for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Isolation::ReadCommitted => "read committed",
            Isolation::RepeatableRead => "repeatable read",
            Isolation::Serializable => "serializable",
        })
    }
}

/// The transaction a batch belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TxnMeta {
    /// This attempt; a retry is a new transaction.
    pub id: TxnId,
    /// Whose it is, for those who wait for it.
    pub session: SessionId,
    /// How newer versions are met.
    pub isolation: Isolation,
    /// What its reads see.
    pub read_ts: Timestamp,
    /// Number of the write or locking statement: savepoints roll back everything above a number.
    pub sequence: u32,
    /// The store has said that it keeps a record of it. If it has none any more, somebody ended the transaction, and its
    /// batch is refused: it would read past its own intents, which are gone, and write as if it had never locked.
    pub anchored: bool,
}

/// Where a transaction stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TxnStatus {
    /// Under way: its intents are invisible.
    Pending,
    /// Committed: its intents are versions at the commit timestamp, resolved or not.
    Committed,
    /// Aborted: its intents are nothing.
    Aborted,
}
