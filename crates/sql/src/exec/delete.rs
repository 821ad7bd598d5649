//! DELETE.

use super::RowBatch;
use super::context::Run;
use super::foreign_key::ForeignKeyWork;
use super::operator::Operator;
use super::returning::ReturnedRows;
use super::table_keys::primary_key;
use super::write::{TableWriter, WRITE_ROWS, can_stream};
use crate::error::SqlError;
use crate::plan::DeletePlan;
use hashbrown::HashSet;
use std::borrow::Cow;
use tidelock_base::Key;

/// The input, until its rows were removed.
pub(crate) struct DeleteState {
    input: Operator,
    done: bool,
}

impl DeleteState {
    pub(super) fn new(input: Operator) -> DeleteState {
        DeleteState { input, done: false }
    }

    /// Removes everything at the first call; gives what RETURNING says.
    pub(super) async fn next(&mut self, plan: &DeletePlan, run: &mut Run<'_>) -> Result<Option<RowBatch>, SqlError> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let mut removal = Removal {
            writer: TableWriter::new(&plan.table, &run.ctx)?,
            foreign: ForeignKeyWork::default(),
            seen: HashSet::new(),
            returned: ReturnedRows::new(plan.returning.as_ref()),
            plan,
        };
        if can_stream(&plan.input, &plan.table, &[]) {
            while let Some(batch) = self.input.next(&plan.input, run).await? {
                removal.rows(&batch, run).await?;
            }
        } else {
            let all = self.input.collect(&plan.input, run).await?;
            removal.rows(&all, run).await?;
        }
        run.settle_foreign_keys(removal.foreign).await?;
        Ok(removal.returned.into_batch())
    }
}

/// A DELETE under way.
struct Removal<'p> {
    plan: &'p DeletePlan,
    writer: TableWriter,
    foreign: ForeignKeyWork,
    seen: HashSet<Key>,
    returned: ReturnedRows<'p>,
}

impl Removal<'_> {
    async fn rows(&mut self, batch: &RowBatch, run: &mut Run<'_>) -> Result<(), SqlError> {
        let width = self.plan.table.columns.len();
        for (at, input) in batch.rows().enumerate() {
            let old = input.get(..width).unwrap_or(input);
            if !self.plan.may_repeat || self.seen.insert(primary_key(&self.plan.table, old)?) {
                self.writer.delete(old, &run.eval())?;
                self.foreign.deleted(&self.plan.table, old, &run.ctx)?;
                self.returned.written(Cow::Borrowed(input), run).await?;
            }
            if (at + 1) % WRITE_ROWS == 0 {
                self.writer.settle(|_| None, run).await?;
            }
        }
        self.writer.settle(|_| None, run).await?;
        Ok(())
    }
}
