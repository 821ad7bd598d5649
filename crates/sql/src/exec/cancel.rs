//! How a running statement is told to stop.
//!
//! The session owns one [`CancelFlag`] for its life; a cancel request, a statement timeout or a shutdown sets it from another task. The executor
//! looks at it before each batch, and while it waits for a lock it listens: dropping a request that waits leaves nothing behind.

use crate::error::{SqlError, SqlState};
use std::sync::atomic::{AtomicU8, Ordering};
use tokio::sync::Notify;

/// Why a statement stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum CancelReason {
    /// A cancel request, or `pg_cancel_backend`.
    User = 1,
    /// `statement_timeout`.
    StatementTimeout = 2,
    /// `transaction_timeout`: the connection ends.
    TransactionTimeout = 3,
    /// `pg_terminate_backend`, or the server stops.
    Terminate = 4,
}

/// Set from anywhere, read by the executor.
#[derive(Debug, Default)]
pub struct CancelFlag {
    reason: AtomicU8,
    notify: Notify,
}

impl CancelFlag {
    /// Asks the statement to stop. A termination is not replaced by anything weaker.
    pub fn cancel(&self, reason: CancelReason) {
        self.reason.fetch_max(reason as u8, Ordering::AcqRel);
        self.notify.notify_waiters();
    }

    /// Forgets a cancel request: before the next statement. A termination stays.
    pub fn reset(&self) {
        let keep_termination = |reason| (reason < CancelReason::TransactionTimeout as u8).then_some(0);
        // Not updated only when the termination stays, which is meant.
        let _ = self.reason.fetch_update(Ordering::AcqRel, Ordering::Acquire, keep_termination);
    }

    /// Why to stop, if so.
    pub fn reason(&self) -> Option<CancelReason> {
        match self.reason.load(Ordering::Acquire) {
            0 => None,
            1 => Some(CancelReason::User),
            2 => Some(CancelReason::StatementTimeout),
            3 => Some(CancelReason::TransactionTimeout),
            _ => Some(CancelReason::Terminate),
        }
    }

    /// The error of a statement that was asked to stop.
    pub fn check(&self) -> Result<(), SqlError> {
        self.reason().map_or(Ok(()), |reason| Err(reason.into()))
    }

    /// Waits until it is asked to stop.
    pub async fn cancelled(&self) -> CancelReason {
        loop {
            let notified = self.notify.notified();
            tokio::pin!(notified);
            // Listen first, look then: a request between the two is not missed.
            notified.as_mut().enable();
            if let Some(reason) = self.reason() {
                return reason;
            }
            notified.await;
        }
    }
}

impl From<CancelReason> for SqlError {
    fn from(reason: CancelReason) -> SqlError {
        match reason {
            CancelReason::User => SqlError::new(SqlState::QUERY_CANCELED, "canceling statement due to user request"),
            CancelReason::StatementTimeout => SqlError::new(SqlState::QUERY_CANCELED, "canceling statement due to statement timeout"),
            CancelReason::TransactionTimeout => {
                SqlError::new(SqlState::TRANSACTION_TIMEOUT, "terminating connection due to transaction timeout")
            }
            CancelReason::Terminate => SqlError::new(SqlState::ADMIN_SHUTDOWN, "terminating connection due to administrator command"),
        }
    }
}
