//! Histories, and whether an isolation level allows them.
//!
//! Transactions append unique elements to lists and read lists (the *list-append* workload of Elle: Kingsbury and Alvaro, "Elle: inferring isolation
//! anomalies from experimental observations", 2020). Since a list shows the order of its appends, the order of a key's versions is known, and
//! with it the dependencies of Adya's thesis:
//!
//! ```text
//!   ww   t1 appended the element before t2's        wr   t2 read a list that ends with t1's element
//!   rw   t1 read a list, t2 appended the next one   rt   t1 was over before t2 began
//! ```
//!
//! A cycle is an anomaly. Which ones a level forbids: READ COMMITTED those of ww and wr (G0, G1c); REPEATABLE READ, which is snapshot isolation, also those
//! with a single rw (G-single: lost update, read skew, phantom); SERIALIZABLE every one (G2: write skew), real time included. Besides
//! cycles: elements read of transactions that aborted (G1a) or in the middle of one (G1b), lists that are no prefix of each other, and appends that were
//! acknowledged and are not there at the end.

mod graph;

use graph::{Edge, EdgeKind, Graph};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What the transactions of a history promise each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// Only committed versions are read.
    ReadCommitted,
    /// One snapshot; no lost updates.
    RepeatableRead,
    /// As if one after another, in an order that real time agrees with.
    Serializable,
}

/// One thing a transaction did.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub enum Op {
    /// Appended an element, which nobody else appends, to a key's list.
    Append {
        /// The list.
        key: u32,
        /// The element.
        element: u64,
    },
    /// Saw a list, its own appends included.
    Read {
        /// The list.
        key: u32,
        /// What was in it.
        list: Vec<u64>,
    },
}

/// How it ended, as far as its client knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Outcome {
    /// Acknowledged.
    Committed,
    /// Certainly not.
    Aborted,
    /// The store went away while it was committing.
    Unknown,
}

/// A transaction of a history.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct HistoryTxn {
    /// What it did, in order. Of an aborted one only appends matter.
    pub ops: Vec<Op>,
    /// How it ended.
    pub outcome: Outcome,
    /// Moments of its first request and its last answer, on one counter for all.
    pub began: u64,
    /// See `began`.
    pub ended: u64,
}

/// What is wrong with a history: its kind, and the story.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Anomaly {
    /// G0, G1a, G1b, G1c, G-single, G2, or in words.
    pub kind: &'static str,
    /// What was seen.
    pub story: String,
}

impl fmt::Display for Anomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.story)
    }
}

/// Looks for what the level forbids. `last` is what the lists hold when all is over.
pub fn check(history: &[HistoryTxn], last: &BTreeMap<u32, Vec<u64>>, level: Level) -> Result<(), Anomaly> {
    let writers = writers(history);
    let orders = version_orders(history, last)?;
    check_reads(history, &writers)?;
    check_acknowledged(history, last)?;
    let graph = dependencies(history, &writers, &orders, level);
    match graph.forbidden_cycle(level) {
        None => Ok(()),
        Some(cycle) => Err(Anomaly { kind: cycle_kind(&cycle), story: tell(&cycle) }),
    }
}

/// Who appended each element.
fn writers(history: &[HistoryTxn]) -> BTreeMap<u64, usize> {
    let appends = |(number, txn): (usize, &HistoryTxn)| {
        let elements = txn.ops.iter().filter_map(|op| match op {
            Op::Append { element, .. } => Some(*element),
            Op::Read { .. } => None,
        });
        elements.map(|element| (element, number)).collect::<Vec<_>>()
    };
    history.iter().enumerate().flat_map(appends).collect()
}

/// What a read saw of others: its own appends stand at the end.
fn foreign(txn: &HistoryTxn, key: u32, list: &[u64]) -> Vec<u64> {
    let own: BTreeSet<u64> = txn.ops.iter().filter_map(|op| own_append(op, key)).collect();
    list.iter().copied().take_while(|element| !own.contains(element)).collect()
}

fn own_append(op: &Op, key: u32) -> Option<u64> {
    match op {
        Op::Append { key: at, element } if *at == key => Some(*element),
        _ => None,
    }
}

/// The order of each key's appends. Every list read must be a beginning of it.
fn version_orders(history: &[HistoryTxn], last: &BTreeMap<u32, Vec<u64>>) -> Result<BTreeMap<u32, Vec<u64>>, Anomaly> {
    for (number, txn) in history.iter().enumerate().filter(|(_, txn)| txn.outcome == Outcome::Committed) {
        for op in &txn.ops {
            let Op::Read { key, list } = op else { continue };
            let order = last.get(key).map(Vec::as_slice).unwrap_or_default();
            let seen = foreign(txn, *key, list);
            if !order.starts_with(&seen) {
                let story = format!("t{number} read {seen:?} of list {key}, which at the end is {order:?}");
                return Err(Anomaly { kind: "incompatible order", story });
            }
        }
    }
    Ok(last.clone())
}

/// G1a and G1b.
fn check_reads(history: &[HistoryTxn], writers: &BTreeMap<u64, usize>) -> Result<(), Anomaly> {
    for (number, txn) in history.iter().enumerate().filter(|(_, txn)| txn.outcome == Outcome::Committed) {
        for op in &txn.ops {
            let Op::Read { key, list } = op else { continue };
            let seen = foreign(txn, *key, list);
            for element in &seen {
                let writer = writers.get(element).and_then(|writer| history.get(*writer));
                if writer.is_none_or(|writer| writer.outcome == Outcome::Aborted) {
                    let story = format!("t{number} read {element} of list {key}, whose transaction aborted or never was");
                    return Err(Anomaly { kind: "G1a", story });
                }
            }
            check_last_element(history, writers, number, *key, &seen)?;
        }
    }
    Ok(())
}

fn check_last_element(
    history: &[HistoryTxn],
    writers: &BTreeMap<u64, usize>,
    reader: usize,
    key: u32,
    seen: &[u64],
) -> Result<(), Anomaly> {
    let Some(element) = seen.last() else { return Ok(()) };
    let Some(writer) = writers.get(element).and_then(|writer| history.get(*writer)) else { return Ok(()) };
    let last_own = writer.ops.iter().rev().find_map(|op| own_append(op, key));
    if last_own == Some(*element) {
        return Ok(());
    }
    Err(Anomaly { kind: "G1b", story: format!("t{reader} read list {key} in the middle of a transaction, after {element}") })
}

/// What was acknowledged is there at the end.
fn check_acknowledged(history: &[HistoryTxn], last: &BTreeMap<u32, Vec<u64>>) -> Result<(), Anomaly> {
    for (number, txn) in history.iter().enumerate().filter(|(_, txn)| txn.outcome == Outcome::Committed) {
        for op in &txn.ops {
            if let Op::Append { key, element } = op
                && !last.get(key).is_some_and(|list| list.contains(element))
            {
                let story = format!("t{number} appended {element} to list {key} and was acknowledged");
                return Err(Anomaly { kind: "lost append", story });
            }
        }
    }
    Ok(())
}

fn dependencies(history: &[HistoryTxn], writers: &BTreeMap<u64, usize>, orders: &BTreeMap<u32, Vec<u64>>, level: Level) -> Graph {
    let mut graph = Graph::new(history.len());
    for (key, order) in orders {
        for pair in order.windows(2) {
            graph.add(writers.get(&pair[0]), writers.get(&pair[1]), EdgeKind::Ww, *key);
        }
    }
    for (reader, txn) in history.iter().enumerate().filter(|(_, txn)| txn.outcome == Outcome::Committed) {
        for op in &txn.ops {
            let Op::Read { key, list } = op else { continue };
            let seen = foreign(txn, *key, list);
            let order = orders.get(key).map(Vec::as_slice).unwrap_or_default();
            graph.add(seen.last().and_then(|element| writers.get(element)), Some(&reader), EdgeKind::Wr, *key);
            graph.add(Some(&reader), order.get(seen.len()).and_then(|element| writers.get(element)), EdgeKind::Rw, *key);
        }
    }
    if level == Level::Serializable {
        add_real_time(&mut graph, history);
    }
    graph
}

/// A chain of moments: who ended leads to the moment, the moment to who began after it.
fn add_real_time(graph: &mut Graph, history: &[HistoryTxn]) {
    let mut events: Vec<(u64, bool, usize)> = Vec::new();
    for (number, txn) in history.iter().enumerate().filter(|(_, txn)| txn.outcome == Outcome::Committed) {
        events.push((txn.began, true, number));
        events.push((txn.ended, false, number));
    }
    events.sort_unstable();
    let mut moment = None;
    for (_, begins, number) in events {
        if begins {
            graph.add(moment.as_ref(), Some(&number), EdgeKind::Rt, 0);
        } else {
            let next = graph.add_moment();
            graph.add(Some(&number), Some(&next), EdgeKind::Rt, 0);
            graph.add(moment.as_ref(), Some(&next), EdgeKind::Rt, 0);
            moment = Some(next);
        }
    }
}

fn cycle_kind(cycle: &[Edge]) -> &'static str {
    let count = |kind| cycle.iter().filter(|edge| edge.kind == kind).count();
    match (count(EdgeKind::Rw), count(EdgeKind::Wr), count(EdgeKind::Rt)) {
        (0, 0, 0) => "G0",
        (0, _, 0) => "G1c",
        (1, _, 0) => "G-single",
        (_, _, 0) => "G2",
        _ => "real time",
    }
}

fn tell(cycle: &[Edge]) -> String {
    let edges = cycle.iter().map(|edge| match edge.kind {
        EdgeKind::Ww => format!("t{} appended to list {} before t{}", edge.from, edge.key, edge.to),
        EdgeKind::Wr => format!("t{} wrote what t{} read of list {}", edge.from, edge.to, edge.key),
        EdgeKind::Rw => format!("t{} did not see t{}'s append to list {}", edge.from, edge.to, edge.key),
        EdgeKind::Rt => format!("{} was before {}", edge.from, edge.to),
    });
    edges.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests;
