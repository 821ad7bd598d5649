//! MERGE.
//!
//! The input gives a row of the source with the row of the target that matches it, if there is one; the first clause that fits says what becomes of it.
//! As in UPDATE, what was not locked and has changed since is reported by the write, and the statement runs again: at READ COMMITTED with the newest
//! rows, so that it does what PostgreSQL does by looking at the row anew.

use super::RowBatch;
use super::calls::check_statements;
use super::context::Run;
use super::foreign_key::ForeignKeyWork;
use super::insert::number_rows;
use super::operator::Operator;
use super::subplan::SubPlanValues;
use super::table_keys::primary_key;
use super::write::{TableWriter, WRITE_ROWS, check_row, fill_generated};
use crate::error::{SqlError, SqlState};
use crate::expr::{eval, eval_bool};
use crate::plan::{MergeAction, MergeClause, MergePlan};
use crate::types::Datum;
use hashbrown::HashSet;
use tidelock_base::Key;

/// The input, until it was merged.
pub(crate) struct MergeState {
    input: Operator,
    done: bool,
}

impl MergeState {
    pub(super) fn new(input: Operator) -> MergeState {
        MergeState { input, done: false }
    }

    /// Does everything at the first call.
    pub(super) async fn next(&mut self, plan: &MergePlan, run: &mut Run<'_>) -> Result<Option<RowBatch>, SqlError> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let all = self.input.collect(&plan.input, run).await?;
        let mut merging = Merging {
            writer: TableWriter::new(&plan.table, &run.ctx)?,
            foreign: ForeignKeyWork::default(),
            touched: HashSet::new(),
            values: plan.clauses.iter().map(|_| ClauseValues::default()).collect(),
            plan,
        };
        let mut at = 0;
        while at < all.len() {
            let end = (at + WRITE_ROWS).min(all.len());
            merging.rows(&all, at..end, run).await?;
            at = end;
        }
        run.settle_foreign_keys(merging.foreign).await?;
        Ok(None)
    }
}

/// Values of a clause's subqueries.
#[derive(Default)]
struct ClauseValues {
    condition: SubPlanValues,
    action: SubPlanValues,
}

/// A row that was changed: what it was (by its place in the input), and what it is.
struct Changed {
    old: Option<usize>,
    new: Option<Vec<Datum>>,
}

struct Merging<'p> {
    plan: &'p MergePlan,
    writer: TableWriter,
    foreign: ForeignKeyWork,
    touched: HashSet<Key>,
    values: Vec<ClauseValues>,
}

impl Merging<'_> {
    async fn rows(&mut self, batch: &RowBatch, range: std::ops::Range<usize>, run: &mut Run<'_>) -> Result<(), SqlError> {
        let mut changed: Vec<Changed> = Vec::new();
        for at in range {
            if let Some(number) = self.clause_for(batch.row(at), run).await? {
                let row = self.act(number, batch.row(at), at, changed.len(), run).await?;
                changed.extend(row);
            }
        }
        self.writer.settle(|at| changed.get(at).and_then(|row| row.new.as_deref()), run).await?;
        for row in changed {
            let old = row.old.map(|at| batch.row(at));
            match (old, &row.new) {
                (Some(old), Some(new)) => self.foreign.updated(&self.plan.table, old, new, &run.ctx)?,
                (Some(old), None) => self.foreign.deleted(&self.plan.table, self.target(old), &run.ctx)?,
                (None, Some(new)) => self.foreign.inserted(&self.plan.table, new, &run.ctx)?,
                (None, None) => {}
            }
            run.affected += 1;
        }
        Ok(())
    }

    fn target<'r>(&self, input: &'r [Datum]) -> &'r [Datum] {
        input.get(..self.plan.table.columns.len()).unwrap_or(input)
    }

    /// The first clause that fits.
    async fn clause_for(&mut self, input: &[Datum], run: &mut Run<'_>) -> Result<Option<usize>, SqlError> {
        let matched = input.get(self.plan.present).is_some_and(|key| !key.is_null());
        for (number, clause) in self.plan.clauses.iter().enumerate() {
            if clause.matched == matched && self.holds(number, clause, input, run).await? {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    async fn holds(&mut self, number: usize, clause: &MergeClause, input: &[Datum], run: &mut Run<'_>) -> Result<bool, SqlError> {
        let Some(condition) = &clause.condition else { return Ok(true) };
        if clause.condition_subplans.is_empty() {
            return eval_bool(condition, input, &run.eval());
        }
        let mut row = input.to_vec();
        self.values[number].condition.append(&clause.condition_subplans, &mut row, run).await?;
        eval_bool(condition, &row, &run.eval())
    }

    /// Does what the clause says; None when that is nothing.
    async fn act(
        &mut self,
        number: usize,
        input: &[Datum],
        at: usize,
        writes: usize,
        run: &mut Run<'_>,
    ) -> Result<Option<Changed>, SqlError> {
        let clause = &self.plan.clauses[number];
        let mut row = input.to_vec();
        self.values[number].action.append(&clause.subplans, &mut row, run).await?;
        match &clause.action {
            MergeAction::Nothing => Ok(None),
            MergeAction::Delete => {
                self.touch(input)?;
                self.writer.delete(self.target(input), &run.eval())?;
                Ok(Some(Changed { old: Some(at), new: None }))
            }
            MergeAction::Update(assignments) => {
                self.touch(input)?;
                let context = run.eval();
                let mut new = self.target(input).to_vec();
                for (position, value) in assignments {
                    let value = eval(value, &row, &context)?;
                    if let Some(slot) = new.get_mut(*position) {
                        *slot = value;
                    }
                }
                self.complete(&mut new, run)?;
                check_statements(&self.plan.table, &new, &self.plan.checks, &mut run.ctx).await?;
                self.writer.update(self.target(input), &new, writes, &run.eval())?;
                Ok(Some(Changed { old: Some(at), new: Some(new) }))
            }
            MergeAction::Insert(values) => {
                let context = run.eval();
                let values = values.iter().map(|value| eval(value, &row, &context)).collect::<Result<Vec<_>, _>>()?;
                let mut one = RowBatch::new(values.len());
                one.push(values);
                number_rows(&self.plan.table, &mut one, run).await?;
                let mut new = one.take_row(0);
                self.complete(&mut new, run)?;
                check_statements(&self.plan.table, &new, &self.plan.checks, &mut run.ctx).await?;
                self.writer.insert(&new, writes, &run.eval())?;
                Ok(Some(Changed { old: None, new: Some(new) }))
            }
        }
    }

    fn complete(&self, new: &mut [Datum], run: &Run<'_>) -> Result<(), SqlError> {
        let context = run.eval();
        fill_generated(new, &self.plan.generated, &context)?;
        check_row(&self.plan.table, new, &self.plan.checks, &context)
    }

    /// A row is changed once.
    fn touch(&mut self, input: &[Datum]) -> Result<(), SqlError> {
        if self.touched.insert(primary_key(&self.plan.table, self.target(input))?) {
            return Ok(());
        }
        Err(SqlError::new(SqlState::CARDINALITY_VIOLATION, "MERGE command cannot affect row a second time")
            .hint("Ensure that not more than one source row matches any one target row."))
    }
}
