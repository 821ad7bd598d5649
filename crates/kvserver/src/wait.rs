//! Waiting for locks: the asynchronous side of the lock table's queues.
//!
//! A request that is blocked gets a [`LockPlace`]: its place in a key's queue, and a cell that is notified when it may try
//! again or has been chosen as a deadlock victim. Dropping the place leaves the queue, whatever the reason: the lock
//! was granted elsewhere, the wait timed out, the client cancelled or went away.

use crate::deadlock::{Wait, WaitsFor};
use crate::lock_table::{Ready, WaiterId};
use crate::store::Store;
use hashbrown::HashMap;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tidelock_base::{Key, SessionId, TxnId};
use tidelock_kvapi::{DeadlockReport, KvError, LockStrength};
use tokio::sync::Notify;

/// What wakes a waiter.
#[derive(Debug, Default)]
pub struct WaitCell {
    notify: Notify,
    verdict: Mutex<Option<DeadlockReport>>,
}

/// Everybody who waits in a store, and the waits-for graph.
#[derive(Debug, Default)]
pub struct WaitRoom {
    next: AtomicU64,
    cells: Mutex<HashMap<WaiterId, Arc<WaitCell>>>,
    graph: Mutex<Graph>,
}

#[derive(Debug, Default)]
struct Graph {
    waits: WaitsFor,
    cells: HashMap<TxnId, Arc<WaitCell>>,
    since: HashMap<TxnId, Instant>,
}

/// One wait, for the views.
#[derive(Clone, Debug)]
pub struct WaitInfo {
    /// Who waits.
    pub txn: TxnId,
    /// Its session.
    pub session: SessionId,
    /// For what.
    pub key: Key,
    /// How strong.
    pub strength: LockStrength,
    /// The sessions in the way.
    pub blockers: Vec<SessionId>,
    /// For how long.
    pub waited: Duration,
}

impl WaitRoom {
    /// A new place and its cell.
    pub fn admit(&self) -> (WaiterId, Arc<WaitCell>) {
        let id = WaiterId(self.next.fetch_add(1, Ordering::Relaxed));
        let cell = Arc::new(WaitCell::default());
        self.cells.lock().insert(id, Arc::clone(&cell));
        (id, cell)
    }

    /// Those who may try again.
    pub fn wake(&self, ready: &Ready) {
        if ready.is_empty() {
            return;
        }
        let cells = self.cells.lock();
        ready.iter().filter_map(|id| cells.get(id)).for_each(|cell| cell.notify.notify_one());
    }

    /// A transaction waits, or its blockers changed. A closed cycle is broken at once: the report is returned when the
    /// waiter itself is the victim, else the victim is told.
    pub fn set_wait(&self, txn: TxnId, wait: Wait, cell: &Arc<WaitCell>) -> Option<DeadlockReport> {
        let mut graph = self.graph.lock();
        graph.cells.insert(txn, Arc::clone(cell));
        graph.since.entry(txn).or_insert_with(Instant::now);
        let report = graph.waits.set(txn, wait)?;
        if report.victim == txn {
            return Some(report);
        }
        graph.condemn(report);
        None
    }

    /// New blockers for somebody who waits already.
    pub fn update_wait(&self, txn: TxnId, wait: Wait) {
        let mut graph = self.graph.lock();
        if graph.waits.wait_of(txn).is_some()
            && let Some(report) = graph.waits.set(txn, wait)
        {
            graph.condemn(report);
        }
    }

    /// The wait is over.
    pub fn depart(&self, txn: TxnId, waiter: WaiterId) {
        self.cells.lock().remove(&waiter);
        let mut graph = self.graph.lock();
        graph.waits.remove(txn);
        graph.cells.remove(&txn);
        graph.since.remove(&txn);
    }

    /// All waits.
    pub fn waits(&self) -> Vec<WaitInfo> {
        let graph = self.graph.lock();
        let info = |(txn, wait): (&TxnId, &Wait)| WaitInfo {
            txn: *txn,
            session: wait.session,
            key: wait.key.clone(),
            strength: wait.strength,
            blockers: wait.blockers.iter().map(|(_, session)| *session).collect(),
            waited: graph.since.get(txn).map(Instant::elapsed).unwrap_or_default(),
        };
        graph.waits.all().map(info).collect()
    }
}

impl Graph {
    fn condemn(&mut self, report: DeadlockReport) {
        let victim = report.victim;
        self.waits.remove(victim);
        if let Some(cell) = self.cells.get(&victim) {
            *cell.verdict.lock() = Some(report);
            cell.notify.notify_one();
        }
    }
}

/// A place in the queue of a key.
pub struct LockPlace {
    /// The store.
    pub store: Arc<Store>,
    /// The key.
    pub key: Key,
    /// The place.
    pub waiter: WaiterId,
    /// Who waits.
    pub txn: TxnId,
    /// Who held the lock when the wait began, for the error message.
    pub holder: SessionId,
    /// What wakes it.
    pub cell: Arc<WaitCell>,
    /// The lock was granted: there is no queue to leave.
    pub granted: bool,
}

impl LockPlace {
    /// Waits until it is worth trying again.
    pub async fn woken(&self, timeout: Option<Duration>) -> Result<(), KvError> {
        let notified = self.cell.notify.notified();
        match timeout {
            None => notified.await,
            Some(limit) => tokio::time::timeout(limit, notified)
                .await
                .map_err(|_| KvError::LockTimeout { key: self.key.clone(), holder: self.holder })?,
        }
        match self.cell.verdict.lock().take() {
            Some(report) => Err(KvError::Deadlock(Box::new(report))),
            None => Ok(()),
        }
    }
}

impl Drop for LockPlace {
    fn drop(&mut self) {
        self.store.waits.depart(self.txn, self.waiter);
        if !self.granted {
            self.store.leave_queue(&self.key, self.waiter);
        }
    }
}
