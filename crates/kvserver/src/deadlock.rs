//! The waits-for graph: finds a deadlock the moment its cycle closes.
//!
//! A transaction waits for one lock at a time; its wait names the transactions in the way. When a wait is added or its
//! blockers change, the graph is searched from there. If the search comes back, one transaction of the cycle must give up:
//! the youngest, which has done the least, and which everybody agrees on whatever order the waits came in.
//!
//! ```text
//!   t7 --stock/1/5--> t9 --district/1/3--> t8 --stock/1/9--> t7        the victim is t9
//! ```
//!
//! Only a transaction that somebody waits for can close a cycle, so the search is skipped for all others: ten thousand
//! clients that queue up for one hot row cost no search at all.
//!
//! A pure state machine; the caller wakes the victim.

use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashSet};
use std::borrow::Cow;
use std::sync::{Arc, Weak};
use tidelock_base::{SessionId, TxnId};
use tidelock_kvapi::{DeadlockEdge, DeadlockReport, WaitTarget, WaitsAbove};

/// A transaction in the way, and its session.
type Blocker = (TxnId, SessionId);

/// One transaction's wait.
#[derive(Clone, Debug)]
pub struct Wait {
    /// Its session.
    pub session: SessionId,
    /// For what.
    pub target: WaitTarget,
    /// Who is in the way of a row lock, with their sessions. Of a wait above the rows this is asked for when it matters.
    pub blockers: Vec<Blocker>,
}

/// Who waits for whom.
#[derive(Default)]
pub struct WaitsFor {
    waits: HashMap<TxnId, Wait>,
    /// How many waits name a transaction as a blocker.
    waited_for: HashMap<TxnId, usize>,
    /// Which transaction of a session waits: locks above the rows belong to sessions.
    by_session: HashMap<SessionId, TxnId>,
    /// Waits above the rows.
    above: usize,
    /// Who knows about these.
    queues_above: Option<Weak<dyn WaitsAbove>>,
}

impl std::fmt::Debug for WaitsFor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WaitsFor").field("waits", &self.waits).finish_non_exhaustive()
    }
}

impl WaitsFor {
    /// Says who knows about waits above the rows.
    pub fn attach(&mut self, above: Weak<dyn WaitsAbove>) {
        self.queues_above = Some(above);
    }

    /// A transaction waits, or its blockers have changed. If that closes a cycle, the report says who must give up.
    pub fn set(&mut self, txn: TxnId, wait: Wait) -> Option<DeadlockReport> {
        let session = wait.session;
        self.replace(txn, wait);
        if !self.waited_for.contains_key(&txn) && !self.is_waited_for_above(session) {
            return None;
        }
        let cycle = self.cycle_through(txn)?;
        let victim = cycle.iter().copied().max()?;
        Some(self.report(victim, &cycle))
    }

    /// A transaction waits, or its blockers have changed in a way that closes no cycle.
    pub fn replace(&mut self, txn: TxnId, wait: Wait) {
        self.remove(txn);
        for (blocker, _) in &wait.blockers {
            *self.waited_for.entry(*blocker).or_default() += 1;
        }
        self.above += usize::from(matches!(wait.target, WaitTarget::Above(_)));
        self.by_session.insert(wait.session, txn);
        self.waits.insert(txn, wait);
    }

    /// It waits no more.
    pub fn remove(&mut self, txn: TxnId) {
        let Some(wait) = self.waits.remove(&txn) else { return };
        self.above -= usize::from(matches!(wait.target, WaitTarget::Above(_)));
        if self.by_session.get(&wait.session) == Some(&txn) {
            self.by_session.remove(&wait.session);
        }
        for (blocker, _) in wait.blockers {
            if let Entry::Occupied(mut count) = self.waited_for.entry(blocker) {
                *count.get_mut() -= 1;
                if *count.get() == 0 {
                    count.remove();
                }
            }
        }
    }

    /// What a transaction waits for.
    pub fn wait_of(&self, txn: TxnId) -> Option<&Wait> {
        self.waits.get(&txn)
    }

    /// Which of a session's transactions waits, and for what.
    pub fn of_session(&self, session: SessionId) -> Option<(TxnId, &Wait)> {
        let txn = *self.by_session.get(&session)?;
        Some((txn, self.waits.get(&txn)?))
    }

    /// All waits, for the views.
    pub fn all(&self) -> impl Iterator<Item = (&TxnId, &Wait)> {
        self.waits.iter()
    }

    fn queues_above(&self) -> Option<Arc<dyn WaitsAbove>> {
        self.queues_above.as_ref().and_then(Weak::upgrade)
    }

    fn is_waited_for_above(&self, session: SessionId) -> bool {
        self.above > 0 && self.queues_above().is_some_and(|queues| queues.is_waited_for(session))
    }

    /// Who is in the way of a transaction, as far as they wait themselves (or are `start`, which does).
    fn blockers_of(&self, txn: TxnId) -> Cow<'_, [Blocker]> {
        let Some(wait) = self.waits.get(&txn) else { return Cow::Borrowed(&[]) };
        match (&wait.target, self.queues_above()) {
            (WaitTarget::Above(_), Some(queues)) => {
                let sessions = queues.blockers(wait.session).into_iter();
                Cow::Owned(sessions.filter_map(|session| Some((*self.by_session.get(&session)?, session))).collect())
            }
            _ => Cow::Borrowed(&wait.blockers),
        }
    }

    /// A depth-first search without recursion: a queue of ten thousand waiters is a path as long.
    fn cycle_through(&self, start: TxnId) -> Option<Vec<TxnId>> {
        let mut path: Vec<(TxnId, Cow<'_, [Blocker]>, usize)> = vec![(start, self.blockers_of(start), 0)];
        let mut seen: HashSet<TxnId> = HashSet::new();
        while let Some((_, blockers, next)) = path.last_mut() {
            let blocker = blockers.get(*next).map(|(blocker, _)| *blocker);
            *next += 1;
            match blocker {
                None => {
                    path.pop();
                }
                Some(blocker) if blocker == start => return Some(path.iter().map(|(txn, _, _)| *txn).collect()),
                Some(blocker) => {
                    if self.waits.contains_key(&blocker) && seen.insert(blocker) {
                        path.push((blocker, self.blockers_of(blocker), 0));
                    }
                }
            }
        }
        None
    }

    fn report(&self, victim: TxnId, cycle: &[TxnId]) -> DeadlockReport {
        let first = cycle.iter().position(|txn| *txn == victim).unwrap_or(0);
        let rotated: Vec<TxnId> = cycle[first..].iter().chain(&cycle[..first]).copied().collect();
        let edges = rotated.iter().zip(rotated.iter().cycle().skip(1)).filter_map(|(waiter, holder)| {
            let wait = self.waits.get(waiter)?;
            Some(DeadlockEdge {
                waiter: *waiter,
                waiter_session: wait.session,
                target: wait.target.clone(),
                holder: *holder,
                // Everybody in a cycle waits.
                holder_session: self.waits.get(holder)?.session,
            })
        });
        DeadlockReport { victim, cycle: edges.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidelock_kvapi::LockStrength;

    fn wait(key: &str, blockers: &[u64]) -> Wait {
        Wait {
            session: SessionId(0),
            target: WaitTarget::Row { key: key.into(), strength: LockStrength::Update },
            blockers: blockers.iter().map(|b| (TxnId(*b), SessionId(*b as u32))).collect(),
        }
    }

    #[test]
    fn the_youngest_of_the_cycle_is_the_victim_whoever_closes_it() {
        for last in 0..3u64 {
            let mut graph = WaitsFor::default();
            let mut report = None;
            for step in 1..=3 {
                let n = (last + step) % 3;
                report = graph.set(TxnId(n), wait("k", &[(n + 1) % 3]));
            }
            let report = report.expect("the third wait closes the cycle");
            assert_eq!(report.victim, TxnId(2));
            let story: Vec<u64> = report.cycle.iter().map(|edge| edge.waiter.0).collect();
            assert_eq!(story, [2, 0, 1]);
        }
    }

    #[test]
    fn a_queue_is_no_cycle() {
        let mut graph = WaitsFor::default();
        for n in 1..10_000 {
            assert!(graph.set(TxnId(n), wait("k", &[n - 1])).is_none());
        }
        assert_eq!(graph.set(TxnId(0), wait("j", &[9_999])).map(|r| r.victim), Some(TxnId(9_999)));
    }

    #[test]
    fn who_left_is_not_in_the_way() {
        let mut graph = WaitsFor::default();
        assert!(graph.set(TxnId(1), wait("a", &[2])).is_none());
        graph.remove(TxnId(1));
        assert!(graph.set(TxnId(2), wait("b", &[1])).is_none());
    }

    /// Session 1 has what session 2 waits for, above the rows.
    struct OneQueue;

    impl WaitsAbove for OneQueue {
        fn blockers(&self, session: SessionId) -> Vec<SessionId> {
            if session == SessionId(2) { vec![SessionId(1)] } else { Vec::new() }
        }
        fn is_waited_for(&self, session: SessionId) -> bool {
            session == SessionId(1)
        }
    }

    #[test]
    fn a_cycle_through_a_row_and_a_table_is_found_whichever_wait_comes_last() {
        let table = || Wait { session: SessionId(2), target: WaitTarget::Above("the table".into()), blockers: Vec::new() };
        let row = || Wait { session: SessionId(1), ..wait("row", &[12]) };
        for row_first in [true, false] {
            let queues: Arc<dyn WaitsAbove> = Arc::new(OneQueue);
            let mut graph = WaitsFor::default();
            graph.attach(Arc::downgrade(&queues));
            let first = if row_first { graph.set(TxnId(11), row()) } else { graph.set(TxnId(12), table()) };
            assert_eq!(first, None);
            let report = if row_first { graph.set(TxnId(12), table()) } else { graph.set(TxnId(11), row()) };
            let report = report.expect("the second wait closes the cycle");
            assert_eq!(report.victim, TxnId(12));
            assert_eq!(report.cycle[0].target, WaitTarget::Above("the table".into()));
            assert_eq!(report.cycle[0].holder_session, SessionId(1));
        }
    }
}
