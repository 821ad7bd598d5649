//! DISTINCT, ORDER BY, LIMIT, UNION ALL: nodes about the number and order of rows.

use super::cost::{HASH, ROW, only};
use super::lower::{ids, must_be_lifted};
use super::relation::union;
use super::{LimitHint, Planner, Sub, Want};
use crate::bind::{ColumnId, Logical};
use crate::error::SqlError;
use crate::expr::Expr;
use crate::plan::{DistinctOrder, Estimate, Plan, PlanNode, SortKey};
use crate::types::Datum;

/// Rows assumed of a limit that is a parameter.
const LIMIT_GUESS: f64 = 100.0;

impl Planner<'_> {
    pub(super) fn distinct_rows(&mut self, input: Logical, keys: Vec<Expr>, want: Want) -> Result<Sub, SqlError> {
        // Conditions on the keys hold for all of the rows that are alike; others would change which row is the first.
        let (down, above): (Vec<Expr>, Vec<Expr>) = want
            .filters
            .into_iter()
            .partition(|f| !must_be_lifted(f) && only(f, |id| keys.iter().any(|k| matches!(k, Expr::Column(key, _) if *key == id))));
        let mut needed = want.needed;
        needed.extend(self.mentioned_by(&keys));
        needed.extend(self.mentioned_by(&above));
        // Whether equal keys come together, in the order that the input has in any case or, without one, that is wanted.
        let sorted = if let Logical::Sort { keys: sorted, .. } = &input { Some(sorted) } else { None };
        let (is_sorted, together) = (sorted.is_some(), puts_together(&keys, sorted.unwrap_or(&want.order)));
        let sub = self.relation(input, Want { needed: union(needed), filters: down, order: want.order, ..Want::default() })?;
        if sub.single {
            return self.filtered(sub, above);
        }
        let order = match (is_sorted, together) {
            (true, true) => DistinctOrder::Adjacent,
            (true, false) => DistinctOrder::Kept,
            (false, true) if sub.ordered => DistinctOrder::Adjacent,
            (false, _) => DistinctOrder::Any,
        };
        let lowered = self.lower_all(&keys, &sub.layout)?;
        let before = sub.plan.estimate;
        let different: f64 = keys.iter().map(|e| if let Expr::Column(id, _) = e { self.distinct(*id) } else { 20.0 }).product();
        let estimate = Estimate { rows: different.min(before.rows).max(1.0), total: before.total + before.rows * HASH, ..before };
        let plan = self.node(PlanNode::Distinct { input: Box::new(sub.plan), keys: lowered, order }, &sub.layout, estimate);
        let sub = Sub { plan, limited: false, locked: false, ..sub };
        self.filtered(sub, above)
    }

    pub(super) fn sort(&mut self, input: Logical, keys: Vec<SortKey>, want: Want) -> Result<Sub, SqlError> {
        let key_exprs: Vec<Expr> = keys.iter().map(|k| k.expr.clone()).collect();
        // An order wanted from above is another one than ours, unless it is the beginning of it.
        let asked = want.order.len() <= keys.len() && want.order.iter().zip(&keys).all(|(a, b)| same_key(a, b));
        let needed = union([want.needed, self.mentioned_by(&key_exprs)].concat());
        let mut sub = self.relation(input, Want { needed, order: keys.clone(), ..want })?;
        if sub.ordered || sub.single {
            keep_order(&mut sub.plan);
            return Ok(Sub { ordered: asked || sub.single, ..sub });
        }
        let keys = self.lower_keys(&keys, &sub.layout)?;
        let before = sub.plan.estimate;
        let total = before.total + before.rows * before.rows.max(2.0).log2() * ROW;
        let estimate = Estimate { startup: total, total, ..before };
        let plan = self.node(PlanNode::Sort { input: Box::new(sub.plan), keys }, &sub.layout, estimate);
        Ok(Sub { plan, ordered: asked, limited: false, ..sub })
    }

    pub(super) fn limit(
        &mut self,
        input: Logical,
        mut limit: Option<Expr>,
        mut offset: Option<Expr>,
        ties: Option<Vec<SortKey>>,
        want: Want,
    ) -> Result<Sub, SqlError> {
        let constant = |e: &Expr| if let Expr::Const(Datum::Int8(n), _) = e { Some(*n as f64) } else { None };
        let skipped = offset.as_ref().map_or(0.0, |o| constant(o).unwrap_or(0.0));
        let rows = limit.as_ref().map(|l| constant(l).unwrap_or(LIMIT_GUESS).max(0.0) + skipped);
        let plain = |e: &Option<Expr>| e.as_ref().is_none_or(|e| !must_be_lifted(e) && ids(e).is_empty());
        // A scan can count for us when the count is known before it starts; it never counts an offset.
        let count = limit.clone().filter(|_| offset.is_none() && ties.is_none() && plain(&limit) && rows.is_none_or(|r| r >= 0.0));
        let hint = rows.map(|rows| LimitHint { count, rows });
        let mut needed = want.needed;
        needed.extend(self.mentioned_by(&want.filters));
        if let Some(ties) = &ties {
            needed.extend(self.mentioned_by(&ties.iter().map(|k| k.expr.clone()).collect::<Vec<_>>()));
        }
        let sub = self.relation(input, Want { needed: union(needed), limit: hint, lock: want.lock, ..Want::default() })?;
        let sub = self.lift(sub, &mut limit.iter_mut().chain(&mut offset).collect::<Vec<_>>())?;
        // LIMIT's own value is not one of the row's: it may only come from slots of the outer query.
        let limit = limit.map(|e| self.lower(&e, &sub.layout)).transpose()?;
        let offset = offset.map(|e| self.lower(&e, &sub.layout)).transpose()?;
        let ties = ties.map(|keys| self.lower_keys(&keys, &sub.layout)).transpose()?;
        let before = sub.plan.estimate;
        let after = rows.map_or(before.rows, |r| before.rows.min(r));
        let share = if before.rows > 0.0 { after / before.rows } else { 1.0 };
        let estimate = Estimate { rows: after, total: before.startup + (before.total - before.startup) * share, ..before };
        // The input was not asked for the order that is wanted from above, which comes after the limit.
        let ordered = want.order.is_empty();
        let node = match (sub.plan.node, limit, offset, ties) {
            (PlanNode::Sort { input, keys }, Some(limit), offset, None) => PlanNode::TopN { input, keys, limit, offset },
            (node, limit, offset, ties) => {
                let input = Box::new(crate::plan::Plan { node, ..sub.plan });
                PlanNode::Limit { input, limit, offset, ties }
            }
        };
        let locked = sub.locked;
        let sub = self.sub(node, sub.layout, estimate);
        self.filtered(Sub { ordered, locked, ..sub }, want.filters)
    }

    pub(super) fn append(&mut self, inputs: Vec<(Logical, Vec<ColumnId>)>, columns: Vec<ColumnId>, want: Want) -> Result<Sub, SqlError> {
        let (above, down): (Vec<Expr>, Vec<Expr>) = want.filters.into_iter().partition(must_be_lifted);
        let mut plans = Vec::with_capacity(inputs.len());
        for (input, own) in inputs {
            let filters = down.iter().map(|f| {
                let mut f = f.clone();
                f.walk_mut(&mut |e| {
                    if let Expr::Column(id, _) = e
                        && let Some(at) = columns.iter().position(|c| c == id)
                    {
                        *id = own[at];
                    }
                });
                f
            });
            let filters = filters.collect();
            let sub = self.relation(input, Want { needed: union(own.clone()), filters, ..Want::default() })?;
            let plan = self.arranged(sub, &own)?.plan;
            match plan.node {
                PlanNode::Append(inner) => plans.extend(inner),
                _ => plans.push(plan),
            }
        }
        let estimate = Estimate {
            rows: plans.iter().map(|p| p.estimate.rows).sum(),
            startup: 0.0,
            total: plans.iter().map(|p| p.estimate.total).sum(),
            width: self.width(&columns),
        };
        let sub = self.sub(PlanNode::Append(plans), columns, estimate);
        self.filtered(sub, above)
    }
}

/// Do rows in this order come with equal keys one behind the other?
fn puts_together(keys: &[Expr], order: &[SortKey]) -> bool {
    let columns: Option<Vec<ColumnId>> = keys.iter().map(|key| if let Expr::Column(id, _) = key { Some(*id) } else { None }).collect();
    let Some(columns) = columns else { return false };
    let first = order.iter().map_while(|key| if let Expr::Column(id, _) = &key.expr { Some(*id) } else { None });
    let first: Vec<ColumnId> = first.take_while(|id| columns.contains(id)).collect();
    !columns.is_empty() && columns.iter().all(|id| first.contains(id))
}

/// Somebody relies on the order in which the rows come.
fn keep_order(plan: &mut Plan) {
    match &mut plan.node {
        PlanNode::HashJoin { left, in_order, .. } => {
            *in_order = true;
            keep_order(left);
        }
        PlanNode::Distinct { input, order, .. } => {
            if *order == DistinctOrder::Any {
                *order = DistinctOrder::Kept;
            }
            keep_order(input);
        }
        PlanNode::NestedLoopJoin { left, .. } | PlanNode::LookupJoin { left, .. } => keep_order(left),
        PlanNode::Filter { input, .. }
        | PlanNode::Project { input, .. }
        | PlanNode::ProjectSet { input, .. }
        | PlanNode::Limit { input, .. }
        | PlanNode::LockRows { input, .. } => keep_order(input),
        _ => {}
    }
}

fn same_key(a: &SortKey, b: &SortKey) -> bool {
    let same = matches!((&a.expr, &b.expr), (Expr::Column(x, _), Expr::Column(y, _)) if x == y);
    same && a.descending == b.descending && a.nulls_first == b.nulls_first
}
