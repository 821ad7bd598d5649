//! DISTINCT, ORDER BY, LIMIT, row locks, UNION ALL: nodes about the number and order of rows.

use super::cost::{HASH, ROW, only};
use super::lower::{ids, must_be_lifted};
use super::relation::{conjunction, union};
use super::{LimitHint, Planner, Sub, Want};
use crate::ast::TableLockMode;
use crate::bind::logical::LockedTable;
use crate::bind::{ColumnId, Logical};
use crate::error::SqlError;
use crate::expr::Expr;
use crate::plan::{Estimate, JoinType, LockTarget, PlanNode, SortKey};
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
        let sub = self.relation(input, Want { needed: union(needed), filters: down, order: want.order, ..Want::default() })?;
        if sub.single {
            return self.filtered(sub, above);
        }
        let lowered = self.lower_all(&keys, &sub.layout)?;
        let before = sub.plan.estimate;
        let different: f64 = keys.iter().map(|e| if let Expr::Column(id, _) = e { self.distinct(*id) } else { 20.0 }).product();
        let estimate = Estimate { rows: different.min(before.rows).max(1.0), total: before.total + before.rows * HASH, ..before };
        let plan = self.node(PlanNode::Distinct { input: Box::new(sub.plan), keys: lowered }, &sub.layout, estimate);
        let sub = Sub { plan, limited: false, locked: false, ..sub };
        self.filtered(sub, above)
    }

    pub(super) fn sort(&mut self, input: Logical, keys: Vec<SortKey>, want: Want) -> Result<Sub, SqlError> {
        let key_exprs: Vec<Expr> = keys.iter().map(|k| k.expr.clone()).collect();
        // An order wanted from above is another one than ours, unless it is the beginning of it.
        let asked = want.order.len() <= keys.len() && want.order.iter().zip(&keys).all(|(a, b)| same_key(a, b));
        let needed = union([want.needed, self.mentioned_by(&key_exprs)].concat());
        let sub = self.relation(input, Want { needed, order: keys.clone(), ..want })?;
        if sub.ordered || sub.single {
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

    /// In the scan if everything between here and there keeps every row it returns, else above.
    pub(super) fn lock(&mut self, input: Logical, targets: Vec<LockedTable>, want: Want) -> Result<Sub, SqlError> {
        let keys = |t: &LockedTable| t.table.primary.key.iter().filter_map(|k| t.columns.get(k.column).copied()).collect::<Vec<_>>();
        targets.iter().for_each(|target| self.table_locks.add(target.table.oid, TableLockMode::RowShare));
        let mut needed = want.needed.clone();
        needed.extend(self.mentioned_by(&want.filters));
        if want.filters.is_empty()
            && let [target] = targets.as_slice()
        {
            let wish = target.columns.first().map(|first| super::LockWish { first_column: *first, lock: target.lock });
            // Locking what a later limit cuts off would be too much: then the scan must count.
            let attempt = Want { needed: union(needed.clone()), lock: wish, limit: want.limit.clone(), ..Want::default() };
            let frames: Vec<_> = self.frames.iter().map(|f| f.bindings.len()).collect();
            let sub = self.relation(input.clone(), attempt)?;
            let keeps_order = !has_sort(&sub.plan);
            if sub.locked && (want.limit.is_none() || sub.limited || sub.single) && keeps_order {
                return Ok(Sub { ordered: want.order.is_empty(), ..sub });
            }
            for (frame, length) in self.frames.iter_mut().zip(frames) {
                frame.bindings.truncate(length);
                frame.known.retain(|(_, slot)| frame.bindings.iter().any(|b| b.slot == *slot));
            }
        }
        // A row that changed while we waited for it must still be one that the query wants, as far as its own columns tell.
        let mut conditions = Vec::new();
        conditions_below(&input, &mut conditions);
        let locked_columns = |id: ColumnId| targets.iter().any(|t| t.columns.contains(&id));
        conditions.retain(|c| !must_be_lifted(c) && !ids(c).is_empty() && only(c, locked_columns));
        needed.extend(self.mentioned_by(&conditions));
        for target in &targets {
            needed.extend(keys(target));
        }
        let sub = self.relation(input, Self::want(union(needed)))?;
        let mut lowered = Vec::with_capacity(targets.len());
        for target in targets {
            let slot = |id: ColumnId| sub.layout.iter().position(|known| *known == id);
            let key_slots = keys(&target).into_iter().filter_map(slot).collect();
            let columns = target.columns.iter().enumerate().filter_map(|(p, id)| slot(*id).map(|s| (p, s))).collect();
            let own = conditions.iter().filter(|c| ids(c).iter().any(|id| target.columns.contains(id)));
            let recheck = conjunction(self.lower_all(&own.cloned().collect::<Vec<_>>(), &sub.layout)?);
            lowered.push(LockTarget { table: target.table, alias: target.alias, key_slots, columns, lock: target.lock, recheck });
        }
        let before = sub.plan.estimate;
        let estimate = Estimate { total: before.total + before.rows * ROW, ..before };
        let plan = self.node(PlanNode::LockRows { input: Box::new(sub.plan), targets: lowered }, &sub.layout, estimate);
        let sub = Sub { plan, limited: false, locked: true, ordered: want.order.is_empty(), ..sub };
        self.filtered(sub, want.filters)
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

/// Conditions of a query's own FROM and WHERE.
fn conditions_below(node: &Logical, out: &mut Vec<Expr>) {
    match node {
        Logical::Filter { input, predicates } => {
            out.extend(predicates.iter().cloned());
            conditions_below(input, out);
        }
        Logical::Project { input, .. } | Logical::Sort { input, .. } => conditions_below(input, out),
        Logical::Join { kind: JoinType::Inner, left, right, on } => {
            out.extend(on.iter().cloned());
            conditions_below(left, out);
            conditions_below(right, out);
        }
        _ => {}
    }
}

/// Whether the rows are collected and sorted after they were read.
fn has_sort(plan: &crate::plan::Plan) -> bool {
    match &plan.node {
        PlanNode::Sort { .. } | PlanNode::TopN { .. } => true,
        PlanNode::Project { input, .. } | PlanNode::Limit { input, .. } => has_sort(input),
        _ => false,
    }
}

fn same_key(a: &SortKey, b: &SortKey) -> bool {
    let same = matches!((&a.expr, &b.expr), (Expr::Column(x, _), Expr::Column(y, _)) if x == y);
    same && a.descending == b.descending && a.nulls_first == b.nulls_first
}
