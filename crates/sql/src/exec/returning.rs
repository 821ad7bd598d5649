//! RETURNING: what INSERT, UPDATE and DELETE give back, and how many rows they wrote.

use super::RowBatch;
use super::batch::MemoryUse;
use super::context::Run;
use super::subplan::SubPlanValues;
use crate::error::SqlError;
use crate::expr::eval;
use crate::plan::Returned;
use crate::types::Datum;
use std::borrow::Cow;

/// The rows to give back, once all are written.
pub(super) struct ReturnedRows<'p> {
    returning: Option<&'p Returned>,
    rows: RowBatch,
    memory: MemoryUse,
    subplans: SubPlanValues,
}

impl<'p> ReturnedRows<'p> {
    pub(super) fn new(returning: Option<&'p Returned>) -> ReturnedRows<'p> {
        ReturnedRows {
            returning,
            rows: RowBatch::new(returning.map_or(0, |returning| returning.exprs.len())),
            memory: MemoryUse::default(),
            subplans: SubPlanValues::default(),
        }
    }

    /// A row was written; `row` is what the expressions speak of.
    pub(super) async fn written(&mut self, mut row: Cow<'_, [Datum]>, run: &mut Run<'_>) -> Result<(), SqlError> {
        if !run.inside_cte {
            run.affected += 1;
        }
        let Some(returning) = self.returning else { return Ok(()) };
        if !returning.subplans.is_empty() {
            self.subplans.append(&returning.subplans, row.to_mut(), run).await?;
        }
        let context = run.eval();
        let values = returning.exprs.iter().map(|expr| eval(expr, &row, &context)).collect::<Result<Vec<_>, _>>()?;
        self.memory.row(&values)?;
        self.rows.push(values);
        Ok(())
    }

    /// All of them, if there are any.
    pub(super) fn into_batch(self) -> Option<RowBatch> {
        (!self.rows.is_empty()).then_some(self.rows)
    }
}
