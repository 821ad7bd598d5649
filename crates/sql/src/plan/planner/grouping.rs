//! Groups, aggregates and windows.

use super::cost::{HASH, ROW, only};
use super::lower::{ids, must_be_lifted};
use super::relation::union;
use super::{LimitHint, Planner, Sub, Want};
use crate::bind::logical::LogicalWindow;
use crate::bind::{ColumnId, Logical};
use crate::error::SqlError;
use crate::expr::Expr;
use crate::plan::{AggregateCall, Estimate, PlanNode, SortKey, WindowCall, WindowPlan};
use crate::types::{DataType, Datum};

impl Planner<'_> {
    pub(super) fn aggregate(
        &mut self,
        input: Logical,
        group: Vec<(ColumnId, Expr)>,
        sets: Option<Vec<Vec<usize>>>,
        mut aggregates: Vec<(ColumnId, AggregateCall)>,
        set_number: ColumnId,
        want: Want,
    ) -> Result<Sub, SqlError> {
        if let Some(sub) = self.extreme_by_index(&input, &group, &aggregates, &want)? {
            return self.filtered(sub, want.filters);
        }
        // Conditions on grouping columns hold for all rows of a group alike.
        let grouped = |id: ColumnId| group.iter().any(|(g, _)| *g == id);
        let (down, above): (Vec<Expr>, Vec<Expr>) = want
            .filters
            .into_iter()
            .partition(|f| sets.is_none() && !group.is_empty() && only(f, grouped) && !ids(f).is_empty() && !must_be_lifted(f));
        let down = down.into_iter().map(|mut f| {
            f.walk_mut(&mut |e| {
                if let Expr::Column(id, _) = e
                    && let Some((_, made_of)) = group.iter().find(|(g, _)| g == id)
                {
                    *e = made_of.clone();
                }
            });
            f
        });
        let mut needed = self.mentioned_by(&group.iter().map(|(_, e)| e.clone()).collect::<Vec<_>>());
        for (_, call) in &mut aggregates {
            for expr in call_exprs(call) {
                needed.extend(self.mentioned(expr));
            }
        }
        let filters = down.collect();
        let sub = self.relation(input, Want { needed: union(needed), filters, ..Want::default() })?;
        let (mut group_ids, mut group_exprs): (Vec<ColumnId>, Vec<Expr>) = group.into_iter().unzip();
        let mut all: Vec<&mut Expr> = group_exprs.iter_mut().collect();
        all.extend(aggregates.iter_mut().flat_map(|(_, call)| call_exprs(call)));
        let sub = self.lift(sub, &mut all)?;
        let group = self.lower_all(&group_exprs, &sub.layout)?;
        let mut calls = Vec::with_capacity(aggregates.len());
        for (id, mut call) in aggregates {
            for expr in call_exprs(&mut call) {
                *expr = self.lower(expr, &sub.layout)?;
            }
            group_ids.push(id);
            calls.push(call);
        }
        if sets.is_some() {
            group_ids.push(set_number);
        }
        let before = sub.plan.estimate;
        let groups: f64 = group_exprs.iter().map(|e| if let Expr::Column(id, _) = e { self.distinct(*id) } else { 20.0 }).product();
        let rows = if group.is_empty() { 1.0 } else { groups.min(before.rows).max(1.0) };
        let total = before.total + before.rows * (HASH + ROW * calls.len() as f64);
        let estimate = Estimate { rows, startup: total, total, width: self.width(&group_ids) };
        let single = group.is_empty() && sets.is_none();
        let sub = self.sub(PlanNode::Aggregate { input: Box::new(sub.plan), group, sets, aggregates: calls }, group_ids, estimate);
        self.filtered(Sub { single, ..sub }, above)
    }

    /// `SELECT min(a) FROM t WHERE ...`: the first row in the index's order.
    fn extreme_by_index(
        &mut self,
        input: &Logical,
        group: &[(ColumnId, Expr)],
        aggregates: &[(ColumnId, AggregateCall)],
        want: &Want,
    ) -> Result<Option<Sub>, SqlError> {
        let ([], [(id, call)]) = (group, aggregates) else { return Ok(None) };
        let [arg @ Expr::Column(column, ty)] = call.args.as_slice() else { return Ok(None) };
        let descending = match call.function.func.name {
            "min" => false,
            "max" => true,
            _ => return Ok(None),
        };
        if call.filter.is_some() || !call.order_by.is_empty() || want.lock.is_some() {
            return Ok(None);
        }
        let source = match input {
            Logical::Filter { input, .. } => input,
            other => other,
        };
        if !matches!(source, Logical::Get { .. }) {
            return Ok(None);
        }
        let one = Expr::Const(Datum::Int8(1), DataType::INT8.into());
        let inner = Want {
            needed: vec![*column],
            filters: vec![Expr::IsNull { expr: Box::new(arg.clone()), negated: true }],
            order: vec![SortKey { expr: arg.clone(), descending, nulls_first: descending }],
            limit: Some(LimitHint { count: Some(one), rows: 1.0 }),
            lock: None,
        };
        // Trying costs some slots and bindings at most; they are harmless if unused.
        let frames: Vec<_> = self.frames.iter().map(|f| f.bindings.len()).collect();
        let sub = self.relation(input.clone(), inner)?;
        if !sub.ordered || !sub.limited {
            for (frame, length) in self.frames.iter_mut().zip(frames) {
                frame.bindings.truncate(length);
                frame.known.retain(|(_, slot)| frame.bindings.iter().any(|b| b.slot == *slot));
            }
            return Ok(None);
        }
        let mut call = call.clone();
        call.args = vec![self.lower(&Expr::Column(*column, *ty), &sub.layout)?];
        let estimate = Estimate { rows: 1.0, startup: sub.plan.estimate.total, ..sub.plan.estimate };
        let sub = self.sub(
            PlanNode::Aggregate { input: Box::new(sub.plan), group: Vec::new(), sets: None, aggregates: vec![call] },
            vec![*id],
            estimate,
        );
        Ok(Some(Sub { single: true, ..sub }))
    }

    pub(super) fn window(&mut self, input: Logical, mut windows: Vec<LogicalWindow>, want: Want) -> Result<Sub, SqlError> {
        let mut needed = want.needed;
        needed.extend(self.mentioned_by(&want.filters));
        for expr in window_exprs(&mut windows) {
            needed.extend(self.mentioned(expr));
        }
        let sub = self.relation(input, Self::want(union(needed)))?;
        let sub = self.lift(sub, &mut window_exprs(&mut windows))?;
        let mut layout = sub.layout.clone();
        let mut plans = Vec::with_capacity(windows.len());
        for window in windows {
            let mut calls = Vec::with_capacity(window.calls.len());
            for (id, call) in window.calls {
                let filter = call.filter.map(|f| self.lower(&f, &sub.layout)).transpose()?;
                calls.push(WindowCall { args: self.lower_all(&call.args, &sub.layout)?, filter, ..call });
                layout.push(id);
            }
            let partition_by = self.lower_all(&window.partition_by, &sub.layout)?;
            plans.push(WindowPlan { partition_by, order_by: self.lower_keys(&window.order_by, &sub.layout)?, frame: window.frame, calls });
        }
        let before = sub.plan.estimate;
        let total = before.total + before.rows * before.rows.max(2.0).log2() * ROW * plans.len() as f64;
        let estimate = Estimate { startup: total, total, ..before };
        let sub = self.sub(PlanNode::Window { input: Box::new(sub.plan), windows: plans }, layout, estimate);
        self.filtered(sub, want.filters)
    }

    pub(super) fn lower_keys(&mut self, keys: &[SortKey], layout: &[ColumnId]) -> Result<Vec<SortKey>, SqlError> {
        keys.iter().map(|k| Ok(SortKey { expr: self.lower(&k.expr, layout)?, ..k.clone() })).collect()
    }
}

fn call_exprs(call: &mut AggregateCall) -> Vec<&mut Expr> {
    call.args.iter_mut().chain(&mut call.filter).chain(call.order_by.iter_mut().map(|k| &mut k.expr)).collect()
}

fn window_exprs(windows: &mut [LogicalWindow]) -> Vec<&mut Expr> {
    let mut found: Vec<&mut Expr> = Vec::new();
    for window in windows {
        found.extend(window.partition_by.iter_mut());
        found.extend(window.order_by.iter_mut().map(|k| &mut k.expr));
        found.extend(window.calls.iter_mut().flat_map(|(_, c)| c.args.iter_mut().chain(&mut c.filter)));
    }
    found
}
