//! Locks above the rows: tables, and advisory locks.
//!
//! A statement locks the relations it touches until its transaction ends, so that a definition cannot change under it, and waits for whoever
//! changes one. Nearly all of these locks are weak ones that never meet each other; they must cost next to nothing.
//!
//! ```text
//!   SELECT, INSERT ...     SessionLocks::try_fast      the session's own list; one look at a counter: has anybody a strong lock in sight?
//!   ALTER TABLE ...        SessionLocks::acquire       raise that counter, move the others' entries into the table, queue up there
//! ```
//!
//! | file | what it is |
//! |---|---|
//! | [`mode`] | the eight modes, their conflicts, what can be locked |
//! | [`queue`] | who holds and who waits: a pure state machine |
//! | [`manager`] | what all sessions share: that table, the counters of strong locks, the waiters' bells |
//! | [`session`] | one session's locks, and how it waits |
//! | [`advisory`] | `pg_advisory_lock` and its kin |
//!
//! Waits take part in the store's waits-for graph ([`tidelock_kvapi::WaitGraph`]), so that a deadlock through a table and a row is found.

pub mod advisory;
pub mod manager;
pub mod mode;
pub mod queue;
pub mod session;

pub use manager::{LockManager, LockRow};
pub use mode::{LockTag, mode_name};
pub use queue::Level;
pub use session::{LockError, Patience, SessionLocks};

use crate::ast::TableLockMode;
use crate::catalog::Oid;

/// A lock that a statement needs on a relation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TableLock {
    /// The relation.
    pub relation: Oid,
    /// How.
    pub mode: TableLockMode,
}
