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
use tidelock_base::{Key, SessionId, TxnId};
use tidelock_kvapi::{DeadlockEdge, DeadlockReport, LockStrength};

/// One transaction's wait.
#[derive(Clone, Debug)]
pub struct Wait {
    /// Its session.
    pub session: SessionId,
    /// The lock.
    pub key: Key,
    /// How strong.
    pub strength: LockStrength,
    /// Who is in the way, with their sessions.
    pub blockers: Vec<(TxnId, SessionId)>,
}

/// Who waits for whom.
#[derive(Debug, Default)]
pub struct WaitsFor {
    waits: HashMap<TxnId, Wait>,
    /// How many waits name a transaction as a blocker.
    waited_for: HashMap<TxnId, usize>,
}

impl WaitsFor {
    /// A transaction waits, or its blockers have changed. If that closes a cycle, the report says who must give up.
    pub fn set(&mut self, txn: TxnId, wait: Wait) -> Option<DeadlockReport> {
        self.remove(txn);
        for (blocker, _) in &wait.blockers {
            *self.waited_for.entry(*blocker).or_default() += 1;
        }
        self.waits.insert(txn, wait);
        if !self.waited_for.contains_key(&txn) {
            return None;
        }
        let cycle = self.cycle_through(txn)?;
        let victim = cycle.iter().copied().max()?;
        Some(self.report(victim, &cycle))
    }

    /// It waits no more.
    pub fn remove(&mut self, txn: TxnId) {
        let Some(wait) = self.waits.remove(&txn) else { return };
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

    /// All waits, for the views.
    pub fn all(&self) -> impl Iterator<Item = (&TxnId, &Wait)> {
        self.waits.iter()
    }

    /// A depth-first search without recursion: a queue of ten thousand waiters is a path as long.
    fn cycle_through(&self, start: TxnId) -> Option<Vec<TxnId>> {
        let mut path: Vec<(TxnId, usize)> = vec![(start, 0)];
        let mut seen: HashSet<TxnId> = HashSet::new();
        while let Some((txn, next)) = path.last_mut() {
            let blocker = self.waits.get(txn).and_then(|wait| wait.blockers.get(*next));
            *next += 1;
            match blocker {
                None => {
                    path.pop();
                }
                Some((blocker, _)) if *blocker == start => return Some(path.iter().map(|(txn, _)| *txn).collect()),
                Some((blocker, _)) => {
                    if self.waits.contains_key(blocker) && seen.insert(*blocker) {
                        path.push((*blocker, 0));
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
            let (_, holder_session) = wait.blockers.iter().find(|(txn, _)| txn == holder)?;
            Some(DeadlockEdge {
                waiter: *waiter,
                waiter_session: wait.session,
                key: wait.key.clone(),
                strength: wait.strength,
                holder: *holder,
                holder_session: *holder_session,
            })
        });
        DeadlockReport { victim, cycle: edges.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(key: &str, blockers: &[u64]) -> Wait {
        Wait {
            session: SessionId(0),
            key: key.into(),
            strength: LockStrength::Update,
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
}
