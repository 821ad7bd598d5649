//! How others reach a connection's task: the server that stops, `pg_terminate_backend`, idle timeouts.
//!
//! A task that waits for its client has registered its waker here; the worker's sweep looks over all of its connections a
//! few times a second and wakes those that must end. Ten thousand idle clients thus cost ten thousand atomic loads a sweep,
//! and a message that arrives costs no timer.

use futures::task::AtomicWaker;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::task::Waker;
use std::time::{Duration, Instant};
use tidelock_sql::exec::cancel::CancelReason;
use tidelock_sql::session::{SessionHandle, Watch};

/// Why a connection must end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// The server stops, or an administrator said so.
    Shutdown,
    /// It was idle for too long.
    IdleTimeout,
    /// Its transaction has lasted too long.
    TransactionTimeout,
}

/// One connection, as its worker sees it.
#[derive(Default)]
pub(crate) struct Control {
    waker: AtomicWaker,
    end: AtomicU8,
    /// The session, once there is one.
    session: OnceLock<Arc<SessionHandle>>,
    watch: OnceLock<Watch>,
    /// Milliseconds since the worker's epoch at which an idle connection has to end; 0 is never.
    idle_until_ms: AtomicU64,
}

impl Control {
    /// The connection has become a session.
    pub(crate) fn attach(&self, session: Arc<SessionHandle>, watch: Watch) {
        let _ = self.session.set(session);
        let _ = self.watch.set(watch);
    }

    /// Looks at the running statement.
    pub(crate) fn watch(&self) -> Option<&Watch> {
        self.watch.get()
    }

    /// Must the connection end?
    pub(crate) fn ending(&self) -> Option<End> {
        if self.session.get().is_some_and(|session| session.terminate.load(Ordering::Relaxed)) {
            return Some(End::Shutdown);
        }
        match self.end.load(Ordering::Acquire) {
            0 => None,
            1 => Some(End::Shutdown),
            2 => Some(End::IdleTimeout),
            _ => Some(End::TransactionTimeout),
        }
    }

    /// Asks the connection to end.
    pub(crate) fn ask(&self, end: End) {
        let code = match end {
            End::Shutdown => 1,
            End::IdleTimeout => 2,
            End::TransactionTimeout => 3,
        };
        self.end.store(code, Ordering::Release);
        self.waker.wake();
    }

    /// Ends the running statement, and with it the connection.
    pub(crate) fn cancel(&self) {
        if let Some(session) = self.session.get() {
            session.cancel.cancel(CancelReason::Terminate);
        }
    }

    /// The connection begins to wait; after `limit` it shall be ended.
    pub(crate) fn begin_idle(&self, limit: Option<Duration>) {
        let until = limit.map_or(0, |limit| since_epoch() + (limit.as_millis() as u64).max(1));
        self.idle_until_ms.store(until, Ordering::Relaxed);
    }

    /// Input has arrived.
    pub(crate) fn end_idle(&self) {
        self.idle_until_ms.store(0, Ordering::Relaxed);
    }

    /// To be woken when asked to end.
    pub(crate) fn register(&self, waker: &Waker) {
        self.waker.register(waker);
    }

    /// What the sweep does to each connection.
    pub(crate) fn sweep(&self) {
        let until = self.idle_until_ms.load(Ordering::Relaxed);
        if until != 0 && since_epoch() >= until {
            self.ask(End::IdleTimeout);
        } else if self.ending().is_some() {
            self.waker.wake();
        }
    }
}

/// Milliseconds since the first call, plus one, so that none of them is 0.
fn since_epoch() -> u64 {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    EPOCH.get_or_init(Instant::now).elapsed().as_millis() as u64 + 1
}
