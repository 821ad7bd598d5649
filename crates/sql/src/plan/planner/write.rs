//! INSERT, UPDATE, DELETE.
//!
//! The implicit row lock is decided here and granted below: the wish to lock goes down with the target's use of its table, and only a scan above which nothing can discard
//! a row takes it.

use super::relation::union;
use super::{LockWish, Planner, Sub, Want};
use crate::ast::{RowLockStrength, RowLockWait};
use crate::bind::logical::{LogicalDelete, LogicalInsert, LogicalMerge, LogicalMergeAction, LogicalMergeClause, LogicalUpdate};
use crate::bind::{ColumnId, Logical};
use crate::catalog::TableDescriptor;
use crate::error::SqlError;
use crate::expr::Expr;
use crate::plan::table_locks::RowChange;
use crate::plan::{
    ConflictPlan, ConflictUpdate, DeletePlan, Estimate, InsertPlan, MergeAction, MergeClause, MergePlan, Plan, PlanNode, Returned, RowLock,
    UpdatePlan,
};
use std::sync::Arc;

/// The table whose rows a statement writes, with their columns by position.
#[derive(Clone, Copy)]
pub(super) struct WriteTarget<'t> {
    pub(super) table: &'t Arc<TableDescriptor>,
    pub(super) alias: &'t str,
    pub(super) row: &'t [ColumnId],
}

type Returning = Option<Vec<(ColumnId, Expr)>>;

/// Whether two rows' expressions are the same default: then it can be computed above them, once for each.
pub(super) fn same_default(a: &Expr, b: &Expr) -> bool {
    !has_subquery(a) && format!("{a:?}") == format!("{b:?}")
}

fn has_subquery(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| found |= matches!(e, Expr::Subquery(..)));
    found
}

impl Planner<'_> {
    /// The lock that the statement takes on rows it is about to write.
    fn implicit_lock(&self, changes_key: bool) -> Option<RowLock> {
        let strength = if changes_key { RowLockStrength::Update } else { RowLockStrength::NoKeyUpdate };
        self.settings.implicit_select_for_update.then_some(RowLock { strength, wait: RowLockWait::Block, implicit: true })
    }

    pub(super) fn insert(&mut self, insert: LogicalInsert) -> Result<Sub, SqlError> {
        self.table_locks.write(&insert.table, RowChange::Insert, self.catalog);
        if let Some(update) = insert.conflict.as_ref().and_then(|conflict| conflict.update.as_ref()) {
            let changed: Vec<usize> = update.assignments.iter().map(|(position, _)| *position).collect();
            self.table_locks.write(&insert.table, RowChange::Update(&changed), self.catalog);
        }
        let input = self.exact(insert.input, &insert.values)?;
        let estimate = input.estimate;
        let on_conflict = match insert.conflict {
            None => None,
            Some(conflict) => {
                let update = match conflict.update {
                    None => None,
                    Some(update) => {
                        let both = [insert.row.as_slice(), update.excluded.as_slice()].concat();
                        let (mut assignments, mut filter) = (update.assignments, update.filter);
                        let mut exprs: Vec<&mut Expr> = filter.iter_mut().chain(assignments.iter_mut().map(|(_, e)| e)).collect();
                        let (both, subplans) = self.lifted(&both, &mut exprs)?;
                        let assignments = self.lower_assignments(&assignments, &both)?;
                        let filter = filter.map(|f| self.lower(&f, &both)).transpose()?;
                        Some(ConflictUpdate { subplans, assignments, filter, lock: self.implicit_lock(update.changes_key) })
                    }
                };
                Some(ConflictPlan { arbiters: conflict.arbiters, update })
            }
        };
        let (returning, layout) = self.returning(insert.returning, &insert.row)?;
        let plan = InsertPlan {
            table: insert.table,
            alias: insert.alias,
            input,
            generated: insert.generated,
            checks: insert.checks,
            on_conflict,
            returning,
        };
        Ok(self.written(PlanNode::Insert(Box::new(plan)), layout, estimate))
    }

    /// RETURNING over a row of these columns.
    fn returning(&mut self, returning: Returning, layout: &[ColumnId]) -> Result<(Option<Returned>, Vec<ColumnId>), SqlError> {
        let Some(mut list) = returning else { return Ok((None, Vec::new())) };
        let (layout, subplans) = self.lifted(layout, &mut list.iter_mut().map(|(_, e)| e).collect::<Vec<_>>())?;
        let exprs = list.iter().map(|(_, e)| self.lower(e, &layout)).collect::<Result<_, _>>()?;
        Ok((Some(Returned { subplans, exprs }), list.into_iter().map(|(id, _)| id).collect()))
    }

    fn lower_assignments(&mut self, assignments: &[(usize, Expr)], layout: &[ColumnId]) -> Result<Vec<(usize, Expr)>, SqlError> {
        assignments.iter().map(|(position, value)| Ok((*position, self.lower(value, layout)?))).collect()
    }

    fn written(&self, node: PlanNode, layout: Vec<ColumnId>, input: Estimate) -> Sub {
        let estimate = Estimate { total: input.total, startup: 0.0, rows: if layout.is_empty() { 0.0 } else { input.rows }, width: 0 };
        self.sub(node, layout, estimate)
    }

    /// The rows to write: the old row by position, then what else is needed.
    fn target_rows(
        &mut self,
        input: Logical,
        target: WriteTarget<'_>,
        others: Vec<ColumnId>,
        lock: Option<RowLock>,
    ) -> Result<Sub, SqlError> {
        let row = target.row;
        let conditions = self.conditions_on(&input, row);
        let others = [others, self.mentioned_by(&conditions)].concat();
        let needed = union([row.to_vec(), others].concat());
        let wish = lock.zip(row.first()).map(|(lock, first)| LockWish { first_column: *first, lock });
        let sub = self.relation(input, Want { needed: needed.clone(), lock: wish, ..Want::default() })?;
        let locked = sub.locked;
        let sub = if sub.layout.starts_with(row) {
            sub
        } else {
            let rest = needed.into_iter().filter(|id| !row.contains(id) && sub.layout.contains(id));
            let columns: Vec<ColumnId> = row.iter().copied().chain(rest).collect();
            self.arranged(sub, &columns)?
        };
        match lock.filter(|_| !locked) {
            Some(lock) => self.locked_after_race(sub, target, lock, conditions),
            None => Ok(sub),
        }
    }

    pub(super) fn update(&mut self, update: LogicalUpdate) -> Result<Sub, SqlError> {
        let mut assignments = update.assignments;
        let changed: Vec<usize> = assignments.iter().map(|(position, _)| *position).collect();
        self.table_locks.write(&update.table, RowChange::Update(&changed), self.catalog);
        let mut others: Vec<ColumnId> = assignments.iter().flat_map(|(_, e)| self.mentioned(e)).collect();
        others.extend(update.returning.iter().flatten().flat_map(|(_, e)| self.mentioned(e)));
        let lock = self.implicit_lock(update.changes_key);
        let sub =
            self.target_rows(update.input, WriteTarget { table: &update.table, alias: &update.alias, row: &update.row }, others, lock)?;
        let sub = self.lift(sub, &mut assignments.iter_mut().map(|(_, e)| e).collect::<Vec<_>>())?;
        let assignments = self.lower_assignments(&assignments, &sub.layout)?;
        let (returning, layout) = self.returning(update.returning, &sub.layout)?;
        let (input, estimate): (Plan, Estimate) = (sub.plan.clone(), sub.plan.estimate);
        let plan = UpdatePlan {
            table: update.table,
            alias: update.alias,
            input,
            assignments,
            generated: update.generated,
            checks: update.checks,
            changes_key: update.changes_key,
            may_repeat: update.joined,
            returning,
        };
        Ok(self.written(PlanNode::Update(Box::new(plan)), layout, estimate))
    }

    pub(super) fn delete(&mut self, delete: LogicalDelete) -> Result<Sub, SqlError> {
        let others = delete.returning.iter().flatten().flat_map(|(_, e)| self.mentioned(e)).collect();
        self.table_locks.write(&delete.table, RowChange::Delete, self.catalog);
        let lock = self.implicit_lock(true);
        let sub =
            self.target_rows(delete.input, WriteTarget { table: &delete.table, alias: &delete.alias, row: &delete.row }, others, lock)?;
        let (returning, layout) = self.returning(delete.returning, &sub.layout)?;
        let estimate = sub.plan.estimate;
        let plan = DeletePlan { table: delete.table, alias: delete.alias, input: sub.plan, may_repeat: delete.joined, returning };
        Ok(self.written(PlanNode::Delete(Box::new(plan)), layout, estimate))
    }

    /// MERGE takes no implicit locks: which rows it writes is known only above the join, and a lost race is noticed by the write.
    pub(super) fn merge(&mut self, merge: LogicalMerge) -> Result<Sub, SqlError> {
        for clause in &merge.clauses {
            match &clause.action {
                LogicalMergeAction::Nothing => {}
                LogicalMergeAction::Delete => self.table_locks.write(&merge.table, RowChange::Delete, self.catalog),
                LogicalMergeAction::Insert(_) => self.table_locks.write(&merge.table, RowChange::Insert, self.catalog),
                LogicalMergeAction::Update(assignments) => {
                    let changed: Vec<usize> = assignments.iter().map(|(position, _)| *position).collect();
                    self.table_locks.write(&merge.table, RowChange::Update(&changed), self.catalog);
                }
            }
        }
        let others = merge.clauses.iter().flat_map(LogicalMergeClause::exprs).flat_map(|e| self.mentioned(e)).collect();
        let sub = self.target_rows(merge.input, WriteTarget { table: &merge.table, alias: &merge.alias, row: &merge.row }, others, None)?;
        let clauses = merge.clauses.into_iter().map(|clause| self.merge_clause(clause, &sub.layout)).collect::<Result<_, SqlError>>()?;
        let estimate = sub.plan.estimate;
        let plan = MergePlan {
            present: merge.table.primary.key.first().map_or(0, |part| part.column),
            table: merge.table,
            alias: merge.alias,
            input: sub.plan,
            clauses,
            generated: merge.generated,
            checks: merge.checks,
        };
        Ok(self.written(PlanNode::Merge(Box::new(plan)), Vec::new(), estimate))
    }

    fn merge_clause(&mut self, clause: LogicalMergeClause, layout: &[ColumnId]) -> Result<MergeClause, SqlError> {
        let mut condition = clause.condition;
        let (tested, condition_subplans) = self.lifted(layout, &mut condition.iter_mut().collect::<Vec<_>>())?;
        let condition = condition.map(|c| self.lower(&c, &tested)).transpose()?;
        let (action, subplans) = match clause.action {
            LogicalMergeAction::Nothing => (MergeAction::Nothing, Vec::new()),
            LogicalMergeAction::Delete => (MergeAction::Delete, Vec::new()),
            LogicalMergeAction::Update(mut assignments) => {
                let (layout, subplans) = self.lifted(layout, &mut assignments.iter_mut().map(|(_, e)| e).collect::<Vec<_>>())?;
                (MergeAction::Update(self.lower_assignments(&assignments, &layout)?), subplans)
            }
            LogicalMergeAction::Insert(mut values) => {
                let (layout, subplans) = self.lifted(layout, &mut values.iter_mut().collect::<Vec<_>>())?;
                (MergeAction::Insert(self.lower_all(&values, &layout)?), subplans)
            }
        };
        Ok(MergeClause { matched: clause.matched, condition_subplans, condition, action, subplans })
    }
}
