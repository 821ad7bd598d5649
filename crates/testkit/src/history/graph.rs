//! The dependency graph, and its cycles.

use super::Level;
use std::collections::VecDeque;

/// Why one transaction comes before another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EdgeKind {
    Ww,
    Wr,
    Rw,
    Rt,
}

/// A dependency.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) kind: EdgeKind,
    pub(super) key: u32,
}

/// Transactions, moments of real time behind them, and dependencies.
pub(super) struct Graph {
    edges: Vec<Vec<Edge>>,
}

impl Graph {
    pub(super) fn new(transactions: usize) -> Graph {
        Graph { edges: vec![Vec::new(); transactions] }
    }

    /// A node that is no transaction.
    pub(super) fn add_moment(&mut self) -> usize {
        self.edges.push(Vec::new());
        self.edges.len() - 1
    }

    /// Adds a dependency, unless an end is missing or both are one.
    pub(super) fn add(&mut self, from: Option<&usize>, to: Option<&usize>, kind: EdgeKind, key: u32) {
        if let (Some(from), Some(to)) = (from.copied(), to.copied())
            && from != to
            && let Some(edges) = self.edges.get_mut(from)
        {
            let edge = Edge { from, to, kind, key };
            if !edges.contains(&edge) {
                edges.push(edge);
            }
        }
    }

    /// A cycle that the level forbids, a short one.
    pub(super) fn forbidden_cycle(&self, level: Level) -> Option<Vec<Edge>> {
        let committed_only = |edge: &Edge| matches!(edge.kind, EdgeKind::Ww | EdgeKind::Wr);
        let all = || self.edges.iter().flatten();
        match level {
            Level::ReadCommitted => all().filter(|edge| committed_only(edge)).find_map(|edge| self.close(edge, &committed_only)),
            Level::RepeatableRead => all().filter(|edge| edge.kind != EdgeKind::Rt).find_map(|edge| self.close(edge, &committed_only)),
            Level::Serializable => {
                if !self.has_cycle() {
                    return None;
                }
                all().find_map(|edge| self.close(edge, &|_| true))
            }
        }
    }

    /// The shortest way back from an edge's end to its beginning, over edges that are allowed, with the edge in front.
    fn close(&self, first: &Edge, allowed: &dyn Fn(&Edge) -> bool) -> Option<Vec<Edge>> {
        let mut came_by: Vec<Option<Edge>> = vec![None; self.edges.len()];
        let mut queue = VecDeque::from([first.to]);
        while let Some(node) = queue.pop_front() {
            if node == first.from {
                return Some(self.walk_back(first, &came_by));
            }
            for edge in self.edges.get(node).into_iter().flatten().filter(|edge| allowed(edge)) {
                if edge.to != first.to && came_by[edge.to].is_none() {
                    came_by[edge.to] = Some(*edge);
                    queue.push_back(edge.to);
                }
            }
        }
        None
    }

    fn walk_back(&self, first: &Edge, came_by: &[Option<Edge>]) -> Vec<Edge> {
        let mut cycle = Vec::new();
        let mut node = first.from;
        while let Some(edge) = came_by.get(node).copied().flatten() {
            cycle.push(edge);
            node = edge.from;
        }
        cycle.push(*first);
        cycle.reverse();
        cycle
    }

    /// Is there any cycle? Nodes without predecessors are taken away until none is left, or none can be taken.
    fn has_cycle(&self) -> bool {
        let mut before = vec![0usize; self.edges.len()];
        self.edges.iter().flatten().for_each(|edge| before[edge.to] += 1);
        let mut free: Vec<usize> = (0..self.edges.len()).filter(|node| before[*node] == 0).collect();
        let mut taken = 0;
        while let Some(node) = free.pop() {
            taken += 1;
            for edge in &self.edges[node] {
                before[edge.to] -= 1;
                if before[edge.to] == 0 {
                    free.push(edge.to);
                }
            }
        }
        taken < self.edges.len()
    }
}
