//! The waits-for graph, as seen from above.
//!
//! Rows are locked in a store; tables and advisory locks are locked above it, in SQL. A deadlock may run through both (one session has
//! a row and waits for a table, the other has the table and waits for the row), so all waits meet in one graph, which the store keeps.
//!
//! Who is in the way of a wait above is not copied into the graph: it is asked for while a cycle is looked for ([`WaitsAbove`]),
//! because a queue for a table changes with each of its releases. Locks above belong to sessions, not to transactions: a session-level advisory lock
//! outlives them.

use crate::error::DeadlockReport;
use std::sync::{Arc, Weak};
use tidelock_base::{SessionId, TxnId};

/// A wait for something that is not a row.
#[derive(Clone, Debug)]
pub struct WaitAbove {
    /// The transaction that waits.
    pub txn: TxnId,
    /// Its session.
    pub session: SessionId,
    /// What it waits for, as a deadlock's story tells it: `AccessExclusiveLock on relation 16384 of database 5`.
    pub what: Arc<str>,
}

/// Tells a waiter that it must give up, so that a cycle opens. Called with the graph's mutex held: it must only leave a note.
pub type OnVictim = Arc<dyn Fn(DeadlockReport) + Send + Sync>;

/// Knows the queues above. Called with the graph's mutex held: it must not call back.
pub trait WaitsAbove: Send + Sync {
    /// The sessions in the way of what a session waits for.
    fn blockers(&self, session: SessionId) -> Vec<SessionId>;

    /// Does anybody wait for this session?
    fn is_waited_for(&self, session: SessionId) -> bool;
}

/// The graph in which all waits meet.
pub trait WaitGraph: Send + Sync {
    /// Says whom to ask about waits above.
    fn attach(&self, above: Weak<dyn WaitsAbove>);

    /// A transaction begins to wait. When that closes a cycle, somebody must give up: the report comes back if it is this transaction, else
    /// the victim is told through its own wait.
    fn begin_wait(&self, wait: WaitAbove, on_victim: OnVictim) -> Option<DeadlockReport>;

    /// The wait is over.
    fn end_wait(&self, txn: TxnId);
}
