//! Subqueries in conditions, as joins.
//!
//! `EXISTS (SELECT ... WHERE inner.a = outer.b)` and `x IN (SELECT y ...)` keep or drop an outer row, never multiply it: that is a semi join, NOT EXISTS an anti join. (NOT IN is
//! no anti join, because of NULLs; it stays a subplan, which can be hashed.) The subquery's own conditions on outer columns become join conditions. This
//! works when they stand in its topmost WHERE; deeper ones leave it a subplan.

use super::Planner;
use super::lower::{ids, must_be_lifted};
use crate::bind::logical::{SubqueryKind, conjuncts};
use crate::bind::{ColumnId, Logical};
use crate::expr::Expr;
use crate::plan::JoinType;

/// A condition turned into a join.
pub(super) struct SubqueryJoin {
    pub(super) kind: JoinType,
    pub(super) right: Logical,
    pub(super) on: Vec<Expr>,
}

impl Planner<'_> {
    /// Columns of outer queries that a tree refers to.
    pub(super) fn free_columns(&self, node: &Logical) -> Vec<ColumnId> {
        let mut mentioned = Vec::new();
        // The walk wants to change things; a copy is cheap beside the planning itself.
        let mut copy = node.clone();
        copy.for_each_expr_mut(&mut |e| mentioned.extend(self.mentioned(e)));
        let mut own = Vec::new();
        produced(node, &mut own);
        mentioned.retain(|id| !own.contains(id));
        let mut read = Vec::new();
        read_ctes(node, &mut read);
        for number in read {
            mentioned.extend(self.cte_free_columns(number).into_iter().filter(|id| !own.contains(id)));
        }
        super::relation::union(mentioned)
    }

    /// Columns of outer queries that a CTE refers to, its recursive term included.
    pub(super) fn cte_free_columns(&self, number: usize) -> Vec<ColumnId> {
        let cte = &self.bound_ctes[number];
        if cte.writes {
            return Vec::new();
        }
        let mut free = self.free_columns(&cte.plan);
        if let Some((step, ..)) = &cte.recursive {
            free.extend(self.free_columns(step));
        }
        super::relation::union(free)
    }

    pub(super) fn subquery_free_columns(&self, number: usize) -> Vec<ColumnId> {
        let subquery = &self.subqueries[number];
        let mut free = self.free_columns(&subquery.plan);
        if let SubqueryKind::Quantified { test, .. } = &subquery.kind {
            free.extend(self.mentioned(test).into_iter().filter(|id| !subquery.columns.contains(id)));
        }
        free
    }

    /// The condition as a join of what it filters with something else.
    pub(super) fn as_join(&self, condition: &Expr) -> Option<SubqueryJoin> {
        match condition {
            Expr::Subquery(number, _) => self.subquery_join(*number, JoinType::Semi),
            Expr::Not(inner) => match &**inner {
                Expr::Subquery(number, _) if matches!(self.subqueries[*number].kind, SubqueryKind::Exists) => {
                    self.subquery_join(*number, JoinType::Anti)
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn subquery_join(&self, number: usize, kind: JoinType) -> Option<SubqueryJoin> {
        let subquery = &self.subqueries[number];
        let mut on = match &subquery.kind {
            SubqueryKind::Exists => Vec::new(),
            SubqueryKind::Quantified { test, all: false, .. } if !must_be_lifted(test) => conjuncts(test.clone()),
            _ => return None,
        };
        let mut right = subquery.plan.clone();
        if let Logical::Project { input, exprs } = right {
            // Below the target list, its columns are what they are made of.
            let unmovable = exprs.iter().any(|(id, e)| on.iter().any(|o| ids(o).contains(id)) && must_be_lifted(e));
            if unmovable {
                return None;
            }
            for condition in &mut on {
                condition.walk_mut(&mut |e| {
                    if let Expr::Column(id, _) = e
                        && let Some((_, made_of)) = exprs.iter().find(|(known, _)| known == id)
                    {
                        *e = made_of.clone();
                    }
                });
            }
            right = *input;
        }
        if let Logical::Filter { input, predicates } = right {
            let mut own = Vec::new();
            produced(&input, &mut own);
            let inner = |p: &Expr| self.mentioned(p).into_iter().all(|id| own.contains(&id));
            let (stay, outer): (Vec<Expr>, Vec<Expr>) = predicates.into_iter().partition(inner);
            if outer.iter().any(must_be_lifted) {
                return None;
            }
            on.extend(outer);
            right = input.filtered(stay);
        }
        // An EXISTS without any connection is decided once; a subplan does just that.
        let connected = !on.is_empty();
        (connected && self.free_columns(&right).is_empty()).then_some(SubqueryJoin { kind, right, on })
    }
}

/// The CTEs that a tree reads (not the work tables of recursive ones, which read themselves).
pub(super) fn read_ctes(node: &Logical, out: &mut Vec<usize>) {
    if let Logical::Cte { cte, work_table: false, .. } = node {
        out.push(*cte);
    }
    inputs(node).into_iter().for_each(|input| read_ctes(input, out));
}

/// All ids that a tree's nodes make.
pub(super) fn produced(node: &Logical, out: &mut Vec<ColumnId>) {
    out.extend(node.output());
    inputs(node).into_iter().for_each(|input| produced(input, out));
}

/// The nodes right below a node.
fn inputs(node: &Logical) -> Vec<&Logical> {
    match node {
        Logical::Filter { input, .. }
        | Logical::Project { input, .. }
        | Logical::ProjectSet { input, .. }
        | Logical::Aggregate { input, .. }
        | Logical::Window { input, .. }
        | Logical::Distinct { input, .. }
        | Logical::Sort { input, .. }
        | Logical::Limit { input, .. }
        | Logical::Lock { input, .. } => vec![input],
        Logical::Join { left, right, .. } | Logical::SetOp { left, right, .. } => vec![left, right],
        Logical::Append { inputs, .. } => inputs.iter().map(|(input, _)| input).collect(),
        _ => Vec::new(),
    }
}
