//! What all sessions share of the locks above the rows.
//!
//! **Why weak locks are cheap and still safe.** A weak lock lives in its session's own list as long as no strong one is in sight. Whoever
//! wants a strong lock on a relation first raises the counter of the relation's bucket, then visits every session's list, under its mutex, and moves what it
//! finds into the table. A session looks at the counter under that same mutex: either its entry was there before the visit, and is
//! moved, or the visit came first, and the counter was seen.
//!
//! Mutexes are taken in this order: the store's graph, `queues`, `sessions`, one session's list. `queues` is never held while the graph is called.

use super::mode::{LockTag, is_strong};
use super::queue::{Acquired, Changes, Level, LockQueues, LockRequest, Owner, Ticket};
use super::session::{SessionLocks, WaitCell};
use crate::ast::TableLockMode;
use crate::catalog::Oid;
use hashbrown::HashMap;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};
use tidelock_base::SessionId;
use tidelock_kvapi::{WaitGraph, WaitsAbove};

/// Counters of strong locks. Two relations that share one only send each other's weak locks the slow way.
const BUCKETS: usize = 1024;

/// The locks above the rows, of all sessions.
pub struct LockManager {
    queues: Mutex<LockQueues>,
    strong: Box<[AtomicU32]>,
    sessions: Mutex<HashMap<Owner, Weak<SessionLocks>>>,
    cells: Mutex<HashMap<Ticket, Arc<WaitCell>>>,
    graph: Option<Arc<dyn WaitGraph>>,
}

/// A lock for the views.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct LockRow {
    pub tag: LockTag,
    pub owner: Owner,
    pub mode: TableLockMode,
    pub granted: bool,
    /// It is in its session's own list.
    pub fast: bool,
    pub waits_since: Option<i64>,
}

impl LockManager {
    /// An empty one, whose waits take part in the given graph.
    pub fn new(graph: Option<Arc<dyn WaitGraph>>) -> Arc<LockManager> {
        let manager = Arc::new(LockManager {
            queues: Mutex::default(),
            strong: (0..BUCKETS).map(|_| AtomicU32::new(0)).collect(),
            sessions: Mutex::default(),
            cells: Mutex::default(),
            graph,
        });
        if let Some(graph) = &manager.graph {
            let above: Weak<LockManager> = Arc::downgrade(&manager);
            graph.attach(above);
        }
        manager
    }

    /// The locks of a new session in that database.
    pub fn session(self: &Arc<LockManager>, pid: i32, database: Oid) -> Arc<SessionLocks> {
        let owner = pid as Owner;
        let locks = Arc::new(SessionLocks::new(owner, database, Arc::clone(self)));
        self.sessions.lock().insert(owner, Arc::downgrade(&locks));
        locks
    }

    /// A session is gone, its locks are given back.
    pub(super) fn forget(&self, owner: Owner) {
        self.sessions.lock().remove(&owner);
    }

    pub(super) fn graph(&self) -> Option<&Arc<dyn WaitGraph>> {
        self.graph.as_ref()
    }

    /// No strong lock on the relation is held or wanted.
    pub(super) fn only_weak(&self, relation: Oid) -> bool {
        self.strong[relation as usize % BUCKETS].load(Ordering::Acquire) == 0
    }

    /// Takes the lock, or says that it is blocked; with a cell, a blocked request gets a place in the queue.
    pub(super) fn acquire(&self, request: LockRequest, cell: Option<&Arc<WaitCell>>, now: i64) -> (Acquired, Option<Ticket>) {
        let counted = is_strong(request.mode) && matches!(request.tag, LockTag::Relation(_));
        if counted {
            self.count_strong(request.tag, true);
        }
        let mut queues = self.queues.lock();
        if counted && let LockTag::Relation(oid) = request.tag {
            self.gather(oid, &mut queues);
        }
        let acquired = queues.acquire(request);
        let ticket = match (acquired, cell) {
            (Acquired::Blocked, Some(cell)) => {
                let ticket = queues.enqueue(request, now);
                self.cells.lock().insert(ticket, Arc::clone(cell));
                Some(ticket)
            }
            _ => None,
        };
        drop(queues);
        if counted && ticket.is_none() && acquired != (Acquired::Granted { is_new: true }) {
            self.count_strong(request.tag, false);
        }
        (acquired, ticket)
    }

    /// Moves the sessions' own entries of a relation into the table.
    fn gather(&self, relation: Oid, queues: &mut LockQueues) {
        for session in self.sessions.lock().values().filter_map(Weak::upgrade) {
            session.give_up_fast(relation, |mode, sequence| {
                let tag = LockTag::Relation(relation);
                queues.adopt(LockRequest { tag, mode, level: Level::Transaction, owner: session.owner(), sequence });
            });
        }
    }

    fn count_strong(&self, tag: LockTag, more: bool) {
        let LockTag::Relation(oid) = tag else { return };
        let counter = &self.strong[oid as usize % BUCKETS];
        if more {
            counter.fetch_add(1, Ordering::AcqRel);
        } else {
            counter.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Changes the table, and wakes those who got their locks by it.
    pub(super) fn change<R>(&self, change: impl FnOnce(&mut LockQueues, &mut Changes) -> R) -> R {
        let mut changes = Changes::default();
        let result = change(&mut self.queues.lock(), &mut changes);
        changes.strong_gone.iter().for_each(|tag| self.count_strong(*tag, false));
        if !changes.granted.is_empty() {
            let cells = self.cells.lock();
            changes.granted.iter().filter_map(|ticket| cells.get(ticket)).for_each(|cell| cell.grant());
        }
        result
    }

    pub(super) fn forget_cell(&self, ticket: Ticket) {
        self.cells.lock().remove(&ticket);
    }

    /// Everything held and waited for.
    pub fn all(&self) -> Vec<LockRow> {
        let entries = self.queues.lock().all().into_iter();
        let mut rows: Vec<LockRow> = entries
            .map(|e| LockRow {
                tag: e.tag,
                owner: e.owner,
                mode: e.mode,
                granted: e.waits_since.is_none(),
                fast: false,
                waits_since: e.waits_since,
            })
            .collect();
        for session in self.sessions.lock().values().filter_map(Weak::upgrade) {
            let own = session.fast().into_iter();
            rows.extend(own.map(|(oid, mode)| LockRow {
                tag: LockTag::Relation(oid),
                owner: session.owner(),
                mode,
                granted: true,
                fast: true,
                waits_since: None,
            }));
        }
        rows.sort_by_key(|row| (row.owner, row.tag, row.mode));
        rows
    }

    /// The sessions in the way of a session's wait.
    pub fn blockers_of(&self, pid: i32) -> Vec<i32> {
        self.queues.lock().blockers(pid as Owner).into_iter().map(|owner| owner as i32).collect()
    }

    /// What a session waits for, and since when.
    pub fn wait_of(&self, pid: i32) -> Option<(LockTag, TableLockMode, i64)> {
        self.queues.lock().wait_of(pid as Owner)
    }
}

impl WaitsAbove for LockManager {
    fn blockers(&self, session: SessionId) -> Vec<SessionId> {
        self.queues.lock().blockers(session.0).into_iter().map(SessionId).collect()
    }

    fn is_waited_for(&self, session: SessionId) -> bool {
        self.queues.lock().is_waited_for(session.0)
    }
}

impl std::fmt::Debug for LockManager {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LockManager").field("queues", &self.queues).finish_non_exhaustive()
    }
}
