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
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use tidelock_base::{Key, SessionId, TxnId};
use tidelock_kvapi::{DeadlockReport, KvError, LockStrength, OnVictim, WaitAbove, WaitGraph, WaitTarget, WaitsAbove};
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
    bells: HashMap<TxnId, Bell>,
    since: HashMap<TxnId, Instant>,
}

/// How a waiter is told that it is a victim.
enum Bell {
    Row(Arc<WaitCell>),
    Above(OnVictim),
}

impl std::fmt::Debug for Bell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Bell::Row(_) => "Row",
            Bell::Above(_) => "Above",
        })
    }
}

/// One wait for a row, for the views.
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
        self.graph.lock().begin(txn, wait, Bell::Row(Arc::clone(cell)))
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

    /// Somebody left a queue, and its own blockers take its place for those behind. As long as its wait is still in the graph, whoever closed a cycle
    /// through it has found that cycle, and there is nothing to search; a victim's wait is not.
    pub fn shorten_waits(&self, gone: TxnId, behind: impl Iterator<Item = (TxnId, Wait)>) {
        let mut graph = self.graph.lock();
        let is_known = graph.waits.wait_of(gone).is_some();
        for (txn, wait) in behind {
            if graph.waits.wait_of(txn).is_none() {
                continue;
            }
            if is_known {
                graph.waits.replace(txn, wait);
            } else if let Some(report) = graph.waits.set(txn, wait) {
                graph.condemn(report);
            }
        }
    }

    /// The wait is over.
    pub fn depart(&self, txn: TxnId, waiter: WaiterId) {
        self.cells.lock().remove(&waiter);
        self.graph.lock().end(txn);
    }

    /// A session's wait for a row.
    pub fn wait_of(&self, session: SessionId) -> Option<WaitInfo> {
        let graph = self.graph.lock();
        graph.waits.of_session(session).and_then(|(txn, wait)| graph.info(txn, wait))
    }

    /// All waits for rows; those above are known above.
    pub fn waits(&self) -> Vec<WaitInfo> {
        let graph = self.graph.lock();
        graph.waits.all().filter_map(|(txn, wait)| graph.info(*txn, wait)).collect()
    }
}

impl WaitGraph for WaitRoom {
    fn attach(&self, above: Weak<dyn WaitsAbove>) {
        self.graph.lock().waits.attach(above);
    }

    fn begin_wait(&self, wait: WaitAbove, on_victim: OnVictim) -> Option<DeadlockReport> {
        let WaitAbove { txn, session, what } = wait;
        let wait = Wait { session, target: WaitTarget::Above(what), blockers: Vec::new() };
        self.graph.lock().begin(txn, wait, Bell::Above(on_victim))
    }

    fn end_wait(&self, txn: TxnId) {
        self.graph.lock().end(txn);
    }
}

impl Graph {
    /// A wait begins, or changes. The report comes back when the waiter itself must give up.
    fn begin(&mut self, txn: TxnId, wait: Wait, bell: Bell) -> Option<DeadlockReport> {
        self.bells.insert(txn, bell);
        self.since.entry(txn).or_insert_with(Instant::now);
        let report = self.waits.set(txn, wait)?;
        if report.victim == txn {
            return Some(report);
        }
        self.condemn(report);
        None
    }

    fn info(&self, txn: TxnId, wait: &Wait) -> Option<WaitInfo> {
        let WaitTarget::Row { key, strength } = &wait.target else { return None };
        Some(WaitInfo {
            txn,
            session: wait.session,
            key: key.clone(),
            strength: *strength,
            blockers: wait.blockers.iter().map(|(_, session)| *session).collect(),
            waited: self.since.get(&txn).map(Instant::elapsed).unwrap_or_default(),
        })
    }

    fn end(&mut self, txn: TxnId) {
        self.waits.remove(txn);
        self.bells.remove(&txn);
        self.since.remove(&txn);
    }

    fn condemn(&mut self, report: DeadlockReport) {
        self.waits.remove(report.victim);
        match self.bells.get(&report.victim) {
            Some(Bell::Row(cell)) => {
                *cell.verdict.lock() = Some(report);
                cell.notify.notify_one();
            }
            Some(Bell::Above(on_victim)) => on_victim(report),
            None => {}
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
        // First the queue, then the graph: see `shorten_waits`.
        if !self.granted {
            self.store.leave_queue(&self.key, self.waiter, self.txn);
        }
        self.store.waits.depart(self.txn, self.waiter);
    }
}
