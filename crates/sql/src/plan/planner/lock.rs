//! Row locks above scans: FOR UPDATE over joins, sorts and subqueries, and the second look of an UPDATE or DELETE.
//!
//! A row may change before it is locked. At READ COMMITTED PostgreSQL then looks again (EvalPlanQual): the newest columns must still meet the conditions that speak
//! of them, and what the query computes from them is computed anew, beside the other relations' rows as they were read first and subqueries on the
//! statement's own snapshot. The plan carries what that takes as [`LookAgain`].
//!
//! Below UPDATE and DELETE the node stands only where the scan does not lock by itself, and does nothing at first: a lock that somebody else would
//! have discarded is not worth a request. When the statement's writes have lost a race, it is run again on its own snapshot with the node at work.
//!
//! `EXISTS` and `IN` that are semi joins are asked about the inner row that the old columns had found: there must be one in the snapshot that fits the old columns and
//! the newest ones. An anti join had found none, and is not asked again.

use super::cost::ROW;
use super::relation::{conjunction, union};
use super::subquery::{SubqueryJoin, read_ctes};
use super::write::WriteTarget;
use super::{LockWish, Planner, Sub, Want};
use crate::ast::TableLockMode;
use crate::bind::logical::{BoundSubquery, LockedTable, SubqueryKind};
use crate::bind::{ColumnId, Logical};
use crate::error::SqlError;
use crate::expr::Expr;
use crate::plan::{Estimate, JoinType, LockTarget, LookAgain, PlanNode, RowLock};

impl Planner<'_> {
    /// In the scan if everything between here and there keeps every row it returns, else above.
    pub(super) fn lock(&mut self, mut input: Logical, targets: Vec<LockedTable>, want: Want) -> Result<Sub, SqlError> {
        targets.iter().for_each(|target| self.table_locks.add(target.table.oid, TableLockMode::RowShare));
        if want.filters.is_empty()
            && let [target] = targets.as_slice()
            && let Some(sub) = self.locked_by_scan(&input, target, &want)?
        {
            return Ok(sub);
        }
        let locked: Vec<ColumnId> = targets.iter().flat_map(|target| target.columns.iter().copied()).collect();
        let conditions = self.conditions_on(&input, &locked);
        let values = self.computed_from(&input, &locked);
        let exprs: Vec<Expr> = conditions.iter().chain(values.iter().map(|(_, e)| e)).cloned().collect();
        let again = self.mentioned_by(&exprs);
        self.pass_through(&mut input, &again);
        let mut needed = [want.needed.clone(), self.mentioned_by(&want.filters), again].concat();
        for target in &targets {
            needed.extend(target.table.primary.key.iter().filter_map(|k| target.columns.get(k.column).copied()));
        }
        let sub = self.relation(input, Self::want(union(needed)))?;
        let lowered = targets.into_iter().map(|target| {
            let slot = |id: ColumnId| sub.layout.iter().position(|known| *known == id);
            let keys = target.table.primary.key.iter().filter_map(|k| target.columns.get(k.column).copied());
            let columns = target.columns.iter().enumerate().filter_map(|(p, id)| slot(*id).map(|s| (p, s))).collect();
            LockTarget { key_slots: keys.filter_map(slot).collect(), columns, table: target.table, alias: target.alias, lock: target.lock }
        });
        let lowered = lowered.collect();
        let again = self.look_again(conditions, values, &locked, &sub.layout)?;
        let before = sub.plan.estimate;
        let estimate = Estimate { total: before.total + before.rows * ROW, ..before };
        let node = PlanNode::LockRows { input: Box::new(sub.plan), targets: lowered, again, after_race: false };
        let plan = self.node(node, &sub.layout, estimate);
        let sub = Sub { plan, limited: false, locked: true, ordered: want.order.is_empty(), ..sub };
        self.filtered(sub, want.filters)
    }

    fn locked_by_scan(&mut self, input: &Logical, target: &LockedTable, want: &Want) -> Result<Option<Sub>, SqlError> {
        let wish = target.columns.first().map(|first| LockWish { first_column: *first, lock: target.lock });
        // Locking what a later limit cuts off would be too much: then the scan must count.
        let attempt = Want { needed: union(want.needed.clone()), lock: wish, limit: want.limit.clone(), ..Want::default() };
        let frames: Vec<_> = self.frames.iter().map(|f| f.bindings.len()).collect();
        let sub = self.relation(input.clone(), attempt)?;
        if sub.locked && (want.limit.is_none() || sub.limited || sub.single) && !has_sort(&sub.plan) {
            return Ok(Some(Sub { ordered: want.order.is_empty(), ..sub }));
        }
        for (frame, length) in self.frames.iter_mut().zip(frames) {
            frame.bindings.truncate(length);
            frame.known.retain(|(_, slot)| frame.bindings.iter().any(|b| b.slot == *slot));
        }
        Ok(None)
    }

    /// Rows that an UPDATE or DELETE will write, and whose scan does not lock: they are locked, and looked at again, once a race was lost.
    pub(super) fn locked_after_race(
        &mut self,
        sub: Sub,
        target: WriteTarget<'_>,
        lock: RowLock,
        conditions: Vec<Expr>,
    ) -> Result<Sub, SqlError> {
        if conditions.iter().any(|condition| self.reads_correlated_cte(condition)) {
            return Ok(sub);
        }
        let key_slots = target.table.primary.key.iter().map(|k| k.column).collect();
        let columns = (0..target.row.len()).map(|position| (position, position)).collect();
        let targets = vec![LockTarget { table: target.table.clone(), alias: target.alias.to_owned(), key_slots, columns, lock }];
        let again = self.look_again(conditions, Vec::new(), target.row, &sub.layout)?;
        self.looks_again = true;
        let estimate = sub.plan.estimate;
        let node = PlanNode::LockRows { input: Box::new(sub.plan), targets, again, after_race: true };
        Ok(Sub { plan: self.node(node, &sub.layout, estimate), ..sub })
    }

    /// The conditions below that speak of some of these columns.
    pub(super) fn conditions_on(&self, input: &Logical, columns: &[ColumnId]) -> Vec<Expr> {
        let mut conditions = Vec::new();
        conditions_below(input, &mut conditions);
        conditions.retain(|condition| self.mentioned(condition).iter().any(|id| columns.contains(id)));
        conditions
    }

    /// What the query's projection computes from these columns.
    fn computed_from(&self, input: &Logical, columns: &[ColumnId]) -> Vec<(ColumnId, Expr)> {
        match input {
            Logical::Sort { input, .. } => self.computed_from(input, columns),
            Logical::Project { exprs, .. } => {
                let computed = exprs.iter().filter(|(id, e)| !matches!(e, Expr::Column(source, _) if source == id));
                computed.filter(|(_, e)| self.mentioned(e).iter().any(|id| columns.contains(id))).cloned().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Lets the query's projection give columns that it does not show.
    fn pass_through(&self, node: &mut Logical, columns: &[ColumnId]) {
        match node {
            Logical::Sort { input, .. } => self.pass_through(input, columns),
            Logical::Project { input, exprs } => {
                for id in input.output() {
                    if columns.contains(&id) && !exprs.iter().any(|(known, _)| *known == id) {
                        exprs.push((id, Expr::Column(id, self.columns[id].ty)));
                    }
                }
            }
            _ => {}
        }
    }

    fn look_again(
        &mut self,
        mut conditions: Vec<Expr>,
        mut values: Vec<(ColumnId, Expr)>,
        locked: &[ColumnId],
        layout: &[ColumnId],
    ) -> Result<Option<Box<LookAgain>>, SqlError> {
        conditions.retain(|condition| !self.reads_correlated_cte(condition));
        values.retain(|(id, value)| layout.contains(id) && !self.reads_correlated_cte(value));
        if conditions.is_empty() && values.is_empty() {
            return Ok(None);
        }
        let mut old = Vec::new();
        let mut conditions: Vec<Expr> = conditions.into_iter().filter_map(|condition| self.as_found(condition, locked, &mut old)).collect();
        let old_slots = old.iter().filter_map(|(id, _)| layout.iter().position(|known| known == id)).collect();
        let row: Vec<ColumnId> = layout.iter().copied().chain(old.iter().map(|(_, before)| *before)).collect();
        let mut exprs: Vec<&mut Expr> = conditions.iter_mut().chain(values.iter_mut().map(|(_, e)| e)).collect();
        let (extended, subplans) = self.lifted(&row, &mut exprs)?;
        let condition = conjunction(self.lower_all(&conditions, &extended)?);
        let mut lowered = Vec::with_capacity(values.len());
        for (id, value) in values {
            let slot = layout.iter().position(|known| *known == id).unwrap_or(0);
            lowered.push((slot, self.lower(&value, &extended)?));
        }
        Ok(Some(Box::new(LookAgain { old_slots, subplans, condition, values: lowered })))
    }

    /// A condition that was planned as a semi join, as one about the inner row that was found with the old columns; `old` gathers these, each with the id
    /// that its old value goes by. None for an anti join, which is not asked again.
    fn as_found(&mut self, condition: Expr, locked: &[ColumnId], old: &mut Vec<(ColumnId, ColumnId)>) -> Option<Expr> {
        let Some(SubqueryJoin { kind, right, on }) = self.as_join(&condition) else { return Some(condition) };
        if kind == JoinType::Anti {
            return None;
        }
        let mut before = on.clone();
        for test in &mut before {
            test.walk_mut(&mut |e| {
                if let Expr::Column(id, _) = e
                    && locked.contains(id)
                {
                    *id = self.old_column(*id, old);
                }
            });
        }
        let plan = right.filtered(on.into_iter().chain(before).collect());
        self.subqueries.push(BoundSubquery { plan, columns: Vec::new(), kind: SubqueryKind::Exists });
        Some(Expr::Subquery(self.subqueries.len() - 1, Expr::BOOL))
    }

    fn old_column(&mut self, id: ColumnId, old: &mut Vec<(ColumnId, ColumnId)>) -> ColumnId {
        if let Some((_, before)) = old.iter().find(|(known, _)| *known == id) {
            return *before;
        }
        let before = self.new_column("old", self.columns[id].ty);
        old.push((id, before));
        before
    }

    /// A CTE that refers to an outer query has one plan only, and the place where the condition stands has it.
    fn reads_correlated_cte(&self, expr: &Expr) -> bool {
        let mut read = Vec::new();
        expr.walk(&mut |e| {
            if let Expr::Subquery(number, _) = e {
                read_ctes(&self.subqueries[*number].plan, &mut read);
            }
        });
        read.into_iter().any(|number| !self.is_inlined(number) && !self.cte_free_columns(number).is_empty())
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
