//! One session's locks above the rows, and how it waits for them.
//!
//! Weak locks on relations are kept in the session's own list ([`SessionLocks::try_fast`]); all others are in the shared table. Each
//! acquisition has a number, so that a rollback to a savepoint gives back the later ones ([`SessionLocks::mark`]).

use super::TableLock;
use super::manager::LockManager;
use super::mode::{LockTag, is_weak};
use super::queue::{Acquired, Level, LockRequest, Owner, Ticket};
use crate::ast::TableLockMode;
use crate::catalog::Oid;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tidelock_base::{SessionId, TxnId};
use tidelock_kvapi::{DeadlockReport, WaitAbove};
use tokio::sync::Notify;

/// Locks in a session's own list; more go to the shared table.
const FAST_MAX: usize = 32;

/// A session's locks.
pub struct SessionLocks {
    owner: Owner,
    database: Oid,
    manager: Arc<LockManager>,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    fast: Vec<FastLock>,
    /// Something of the transaction is in the shared table.
    shared: bool,
    /// Acquisitions so far.
    sequence: u32,
}

#[derive(Clone, Copy)]
struct FastLock {
    lock: TableLock,
    sequence: u32,
}

/// How long to wait, and in whose name.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// The transaction, for the waits-for graph.
    pub txn: TxnId,
    /// `lock_timeout`.
    pub timeout: Option<Duration>,
    /// False for NOWAIT, and for the functions that only try.
    pub waits: bool,
}

/// Why a lock was not granted.
#[derive(Clone, Debug)]
pub enum LockError {
    /// Somebody is in the way, and waiting was not wanted.
    NotAvailable,
    /// `lock_timeout` passed.
    Timeout,
    /// This transaction breaks a cycle of waits.
    Deadlock(Box<DeadlockReport>),
    /// There are too many locks.
    Full,
}

/// What wakes a waiter.
#[derive(Debug, Default)]
pub(super) struct WaitCell {
    notify: Notify,
    granted: AtomicBool,
    verdict: Mutex<Option<DeadlockReport>>,
}

impl WaitCell {
    pub(super) fn grant(&self) {
        self.granted.store(true, Ordering::Release);
        self.notify.notify_one();
    }
}

/// A place in a queue. Dropping it leaves the queue, or gives back a lock that was granted and not noticed.
struct Place<'s> {
    locks: &'s SessionLocks,
    request: LockRequest,
    ticket: Ticket,
    txn: TxnId,
    taken: bool,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let manager = &self.locks.manager;
        if let Some(graph) = manager.graph() {
            graph.end_wait(self.txn);
        }
        manager.forget_cell(self.ticket);
        if self.taken {
            return;
        }
        let LockRequest { tag, mode, level, owner, .. } = self.request;
        manager.change(|queues, changes| {
            if !queues.leave(tag, self.ticket, changes) {
                queues.release(owner, tag, mode, level, changes);
            }
        });
    }
}

impl SessionLocks {
    pub(super) fn new(owner: Owner, database: Oid, manager: Arc<LockManager>) -> SessionLocks {
        SessionLocks { owner, database, manager, held: Mutex::default() }
    }

    pub(super) fn owner(&self) -> Owner {
        self.owner
    }

    /// The database of the session.
    pub(super) fn database(&self) -> Oid {
        self.database
    }

    /// The shared part.
    pub fn manager(&self) -> &Arc<LockManager> {
        &self.manager
    }

    /// Takes weak locks, if none of them can meet another. Those before the first that can are held then. This is all that an ordinary
    /// statement pays.
    pub fn try_fast(&self, wanted: &[TableLock]) -> bool {
        let mut held = self.held.lock();
        wanted.iter().all(|lock| held.try_fast(*lock, &self.manager))
    }

    /// Takes a lock, waiting for it if need be; says whether it had to wait. Dropping the future gives the wait up.
    pub async fn acquire(&self, tag: LockTag, mode: TableLockMode, level: Level, patience: Patience) -> Result<bool, LockError> {
        if let LockTag::Relation(relation) = tag
            && level == Level::Transaction
            && is_weak(mode)
            && self.try_fast(&[TableLock { relation, mode }])
        {
            return Ok(false);
        }
        let request = LockRequest { tag, mode, level, owner: self.owner, sequence: self.next_shared() };
        let cell = patience.waits.then(|| Arc::new(WaitCell::default()));
        let (acquired, ticket) = self.manager.acquire(request, cell.as_ref(), crate::expr::clock_time());
        match (acquired, ticket, cell) {
            (Acquired::Granted { .. }, ..) => Ok(false),
            (Acquired::Full, ..) => Err(LockError::Full),
            (Acquired::Blocked, Some(ticket), Some(cell)) => {
                let place = Place { locks: self, request, ticket, txn: patience.txn, taken: false };
                self.wait(place, &cell, patience).await.map(|()| true)
            }
            (Acquired::Blocked, ..) => Err(LockError::NotAvailable),
        }
    }

    async fn wait(&self, mut place: Place<'_>, cell: &Arc<WaitCell>, patience: Patience) -> Result<(), LockError> {
        if let Some(report) = self.join_graph(&place.request, patience.txn, cell) {
            return Err(LockError::Deadlock(Box::new(report)));
        }
        let limit = async {
            match patience.timeout {
                Some(timeout) => tokio::time::sleep(timeout).await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(limit);
        loop {
            if cell.granted.load(Ordering::Acquire) {
                place.taken = true;
                return Ok(());
            }
            if let Some(report) = cell.verdict.lock().take() {
                return Err(LockError::Deadlock(Box::new(report)));
            }
            tokio::select! {
                biased;
                () = cell.notify.notified() => {}
                () = &mut limit => return Err(LockError::Timeout),
            }
        }
    }

    /// Enters the wait in the waits-for graph; the report comes back when this transaction must give up.
    fn join_graph(&self, request: &LockRequest, txn: TxnId, cell: &Arc<WaitCell>) -> Option<DeadlockReport> {
        let graph = self.manager.graph()?;
        let what = format!("{} on {}", super::mode_name(request.mode), request.tag.describe(self.database));
        let wait = WaitAbove { txn, session: SessionId(self.owner), what: what.into() };
        let told = Arc::clone(cell);
        let on_victim = move |report| {
            *told.verdict.lock() = Some(report);
            told.notify.notify_one();
        };
        graph.begin_wait(wait, Arc::new(on_victim))
    }

    fn next_shared(&self) -> u32 {
        let mut held = self.held.lock();
        held.shared = true;
        held.sequence += 1;
        held.sequence
    }

    /// Gives one acquisition of the session's own back; false when it does not hold it.
    pub fn release(&self, tag: LockTag, mode: TableLockMode) -> bool {
        self.manager.change(|queues, changes| queues.release(self.owner, tag, mode, Level::Session, changes))
    }

    /// `pg_advisory_unlock_all`: whatever the session holds for itself.
    pub fn release_session(&self) {
        self.manager.change(|queues, changes| queues.release_session(self.owner, changes));
    }

    /// Where the transaction stands: what a savepoint remembers.
    pub fn mark(&self) -> u32 {
        self.held.lock().sequence
    }

    /// Gives back what the transaction took after a mark; 0 is its beginning, and its end.
    pub fn release_after(&self, mark: u32) {
        {
            let mut held = self.held.lock();
            if mark == 0 {
                held.fast.clear();
                held.sequence = 0;
            } else {
                held.fast.retain(|fast| fast.sequence <= mark);
            }
            if !held.shared {
                return;
            }
            held.shared = mark != 0;
        }
        self.manager.change(|queues, changes| queues.release_transaction(self.owner, mark, changes));
    }

    /// The session ends.
    pub fn close(&self) {
        self.release_after(0);
        self.release_session();
        self.manager.forget(self.owner);
    }

    /// Takes a relation's entries off the list: somebody wants a strong lock on it.
    pub(super) fn give_up_fast(&self, relation: Oid, mut adopt: impl FnMut(TableLockMode, u32)) {
        let mut held = self.held.lock();
        let before = held.fast.len();
        held.fast.retain(|fast| {
            let goes = fast.lock.relation == relation;
            if goes {
                adopt(fast.lock.mode, fast.sequence);
            }
            !goes
        });
        held.shared |= held.fast.len() < before;
    }

    pub(super) fn fast(&self) -> Vec<(Oid, TableLockMode)> {
        self.held.lock().fast.iter().map(|fast| (fast.lock.relation, fast.lock.mode)).collect()
    }
}

impl Held {
    fn try_fast(&mut self, lock: TableLock, manager: &LockManager) -> bool {
        if !is_weak(lock.mode) {
            return false;
        }
        if self.fast.iter().any(|fast| fast.lock == lock) {
            return true;
        }
        if self.fast.len() >= FAST_MAX || !manager.only_weak(lock.relation) {
            return false;
        }
        self.sequence += 1;
        self.fast.push(FastLock { lock, sequence: self.sequence });
        true
    }
}

impl std::fmt::Debug for SessionLocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SessionLocks({})", self.owner)
    }
}
