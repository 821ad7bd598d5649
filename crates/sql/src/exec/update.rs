//! UPDATE.
//!
//! The input gives the old rows, locked or not, as the plan has it; here they become new images, and one batch of writes. A row that was not locked and has
//! changed since is reported by the write itself, and the statement (or the transaction) runs again.

use super::RowBatch;
use super::calls::check_statements;
use super::context::Run;
use super::foreign_key::ForeignKeyWork;
use super::operator::Operator;
use super::returning::ReturnedRows;
use super::table_keys::primary_key;
use super::write::{TableWriter, WRITE_ROWS, can_stream, check_row, fill_generated};
use crate::error::SqlError;
use crate::expr::eval;
use crate::plan::UpdatePlan;
use crate::types::Datum;
use hashbrown::HashSet;
use std::borrow::Cow;
use tidelock_base::Key;

/// The input, until it was written.
pub(crate) struct UpdateState {
    input: Operator,
    done: bool,
}

impl UpdateState {
    pub(super) fn new(input: Operator) -> UpdateState {
        UpdateState { input, done: false }
    }

    /// Writes everything at the first call; gives what RETURNING says.
    pub(super) async fn next(&mut self, plan: &UpdatePlan, run: &mut Run<'_>) -> Result<Option<RowBatch>, SqlError> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let written: Vec<usize> = plan.assignments.iter().map(|(p, _)| *p).chain(plan.generated.iter().map(|g| g.column)).collect();
        let mut modification = Modification::new(plan, run)?;
        if can_stream(&plan.input, &plan.table, &written) {
            while let Some(batch) = self.input.next(&plan.input, run).await? {
                modification.rows(&batch, run).await?;
            }
        } else {
            let all = self.input.collect(&plan.input, run).await?;
            modification.rows(&all, run).await?;
        }
        run.settle_foreign_keys(modification.foreign).await?;
        Ok(modification.returned.into_batch())
    }
}

/// An UPDATE under way.
struct Modification<'p> {
    plan: &'p UpdatePlan,
    writer: TableWriter,
    foreign: ForeignKeyWork,
    seen: HashSet<Key>,
    returned: ReturnedRows<'p>,
}

impl<'p> Modification<'p> {
    fn new(plan: &'p UpdatePlan, run: &Run<'_>) -> Result<Modification<'p>, SqlError> {
        Ok(Modification {
            writer: TableWriter::new(&plan.table, &run.ctx)?,
            foreign: ForeignKeyWork::default(),
            seen: HashSet::new(),
            returned: ReturnedRows::new(plan.returning.as_ref()),
            plan,
        })
    }

    async fn rows(&mut self, batch: &RowBatch, run: &mut Run<'_>) -> Result<(), SqlError> {
        let mut at = 0;
        while at < batch.len() {
            let end = (at + WRITE_ROWS).min(batch.len());
            let mut changed: Vec<(usize, Vec<Datum>)> = Vec::with_capacity(end - at);
            while at < end {
                if let Some(new) = self.new_row(batch.row(at), changed.len(), run)? {
                    changed.push((at, new));
                }
                at += 1;
            }
            self.writer.settle(|at| changed.get(at).map(|(_, row)| row.as_slice()), run).await?;
            for (at, new) in changed {
                check_statements(&self.plan.table, &new, &self.plan.checks, &mut run.ctx).await?;
                self.foreign.updated(&self.plan.table, batch.row(at), &new, &run.ctx)?;
                self.returned.written(self.returnable(batch.row(at), new), run).await?;
            }
        }
        Ok(())
    }

    /// The new image, checked and added to the writes; None for a row that was updated already.
    fn new_row(&mut self, input: &[Datum], number: usize, run: &Run<'_>) -> Result<Option<Vec<Datum>>, SqlError> {
        let plan = self.plan;
        let old = input.get(..plan.table.columns.len()).unwrap_or(input);
        if plan.may_repeat && !self.seen.insert(primary_key(&plan.table, old)?) {
            return Ok(None);
        }
        let context = run.eval();
        let mut new = old.to_vec();
        for (position, value) in &plan.assignments {
            let value = eval(value, input, &context)?;
            if let Some(slot) = new.get_mut(*position) {
                *slot = value;
            }
        }
        fill_generated(&mut new, &plan.generated, &context)?;
        check_row(&plan.table, &new, &plan.checks, &context)?;
        self.writer.update(old, &new, number, &context)?;
        Ok(Some(new))
    }

    /// What RETURNING speaks of: the new row, then what else the input has.
    fn returnable(&self, input: &[Datum], mut new: Vec<Datum>) -> Cow<'static, [Datum]> {
        if self.plan.returning.is_some() {
            new.extend_from_slice(input.get(new.len()..).unwrap_or_default());
        }
        Cow::Owned(new)
    }
}
