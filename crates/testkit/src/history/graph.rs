//! The dependency graph, and its cycles.

use super::Level;
use std::collections::{HashMap, VecDeque};

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
        let timeless = |edge: &Edge| edge.kind != EdgeKind::Rt;
        match level {
            Level::ReadCommitted => self.cycle(&committed_only, &committed_only),
            Level::RepeatableRead => self.cycle(&timeless, &committed_only),
            Level::Serializable => self.cycle(&|_| true, &|_| true),
        }
    }

    /// A cycle of one edge of the first kind, closed by edges of the second. Nearly all transactions are in no cycle at all: only the others are searched.
    fn cycle(&self, first: &dyn Fn(&Edge) -> bool, others: &dyn Fn(&Edge) -> bool) -> Option<Vec<Edge>> {
        let left = self.left_over(first);
        let inside = |edge: &Edge| left[edge.from] && left[edge.to];
        let begins = self.edges.iter().flatten().filter(|edge| inside(edge) && first(edge));
        begins.into_iter().find_map(|edge| self.close(edge, &|next| inside(next) && others(next)))
    }

    /// The shortest way back from an edge's end to its beginning, over edges that are allowed, with the edge in front.
    fn close(&self, first: &Edge, allowed: &dyn Fn(&Edge) -> bool) -> Option<Vec<Edge>> {
        let mut came_by: HashMap<usize, Edge> = HashMap::new();
        let mut queue = VecDeque::from([first.to]);
        while let Some(node) = queue.pop_front() {
            if node == first.from {
                return Some(self.walk_back(first, &came_by));
            }
            for edge in self.edges.get(node).into_iter().flatten().filter(|edge| allowed(edge)) {
                if edge.to != first.to && !came_by.contains_key(&edge.to) {
                    came_by.insert(edge.to, *edge);
                    queue.push_back(edge.to);
                }
            }
        }
        None
    }

    fn walk_back(&self, first: &Edge, came_by: &HashMap<usize, Edge>) -> Vec<Edge> {
        let mut cycle = Vec::new();
        let mut node = first.from;
        while let Some(edge) = came_by.get(&node).copied() {
            cycle.push(edge);
            node = edge.from;
        }
        cycle.push(*first);
        cycle.reverse();
        cycle
    }

    /// Who is left when nodes without predecessors are taken away until none can be taken: nobody, if there is no cycle.
    fn left_over(&self, allowed: &dyn Fn(&Edge) -> bool) -> Vec<bool> {
        let mut before = vec![0usize; self.edges.len()];
        self.edges.iter().flatten().filter(|edge| allowed(edge)).for_each(|edge| before[edge.to] += 1);
        let mut free: Vec<usize> = (0..self.edges.len()).filter(|node| before[*node] == 0).collect();
        let mut left = vec![true; self.edges.len()];
        while let Some(node) = free.pop() {
            left[node] = false;
            for edge in self.edges[node].iter().filter(|edge| allowed(edge)) {
                before[edge.to] -= 1;
                if before[edge.to] == 0 {
                    free.push(edge.to);
                }
            }
        }
        left
    }
}
