//! INSERT.

use super::bulk_load::BulkLoad;
use super::calls::check_statements;
use super::conflict::ConflictState;
use super::context::Run;
use super::foreign_key::ForeignKeyWork;
use super::operator::Operator;
use super::returning::ReturnedRows;
use super::write::{TableWriter, WRITE_ROWS, can_stream, check_row, fill_generated};
use super::{ExecContext, RowBatch, sequence};
use crate::catalog::TableDescriptor;
use crate::error::SqlError;
use crate::plan::{InsertPlan, PlanNode, StatementKind, StatementPlan};
use crate::types::Datum;
use std::borrow::Cow;
use std::sync::Arc;

/// The input, until it was written; then the rows to return.
pub(crate) struct InsertState {
    input: Operator,
    done: bool,
}

impl InsertState {
    pub(super) fn new(input: Operator) -> InsertState {
        InsertState { input, done: false }
    }

    /// Writes everything at the first call: rows are returned only when all are written.
    pub(super) async fn next(&mut self, plan: &InsertPlan, run: &mut Run<'_>) -> Result<Option<RowBatch>, SqlError> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let every: Vec<usize> = (0..plan.table.columns.len()).collect();
        let mut insertion = Insertion::new(plan, run)?;
        let few = matches!(plan.input.node, PlanNode::Values(_) | PlanNode::OneRow);
        if plan.on_conflict.is_none() && plan.returning.is_none() && !few && run.postponed.is_none() {
            insertion.load = BulkLoad::of_table(&plan.table, &run.ctx);
        }
        if can_stream(&plan.input, &plan.table, &every) {
            while let Some(batch) = self.input.next(&plan.input, run).await? {
                insertion.rows(batch, run).await?;
            }
        } else {
            let all = self.input.collect(&plan.input, run).await?;
            insertion.rows(all, run).await?;
        }
        insertion.finish(run).await
    }
}

/// What COPY's rows leave to be done at its end.
pub(super) struct Owed {
    /// Checks of foreign keys.
    pub(super) foreign: ForeignKeyWork,
    /// Rows on their way into a table that the transaction made.
    pub(super) load: Option<BulkLoad>,
}

impl Owed {
    /// Does it.
    pub(super) async fn finish(mut self, ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
        if let Some(mut load) = self.load {
            load.finish(ctx).await?;
        }
        self.foreign.finish(ctx).await
    }
}

/// Inserts complete rows outside of a plan: COPY. What is to be done at the statement's end is added to `owed`.
pub(super) async fn insert_rows(plan: &InsertPlan, batch: RowBatch, owed: &mut Owed, ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
    let statement = StatementPlan {
        kind: StatementKind::Insert,
        root: plan.input.clone(),
        ctes: Vec::new(),
        param_types: Vec::new(),
        execution_slots: 0,
        output: Vec::new(),
        returns_rows: false,
        read_only: false,
        catalog_version: ctx.catalog.version(),
        relations: Vec::new(),
        functions: Vec::new(),
        looks_again: false,
        table_locks: Vec::new(),
        literals_matter: false,
    };
    let mut run = Run {
        ctx: ctx.reborrow(),
        plan: Arc::new(statement),
        params: Vec::new(),
        ctes: Vec::new(),
        affected: 0,
        inside_cte: false,
        postponed: None,
        after_race: false,
        batches: 0,
        compared: 0,
    };
    let mut insertion = Insertion::new(plan, &run)?;
    insertion.foreign = std::mem::take(&mut owed.foreign);
    insertion.load = owed.load.take();
    insertion.rows(batch, &mut run).await?;
    (owed.foreign, owed.load) = (insertion.foreign, insertion.load);
    Ok(())
}

/// An INSERT under way.
struct Insertion<'p> {
    plan: &'p InsertPlan,
    writer: TableWriter,
    foreign: ForeignKeyWork,
    /// Rows go to the base directly when the table is the transaction's own.
    load: Option<BulkLoad>,
    conflict: Option<ConflictState>,
    returned: ReturnedRows<'p>,
}

impl<'p> Insertion<'p> {
    fn new(plan: &'p InsertPlan, run: &Run<'_>) -> Result<Insertion<'p>, SqlError> {
        Ok(Insertion {
            writer: TableWriter::new(&plan.table, &run.ctx)?,
            foreign: ForeignKeyWork::default(),
            load: None,
            conflict: plan.on_conflict.as_ref().map(|_| ConflictState::default()),
            returned: ReturnedRows::new(plan.returning.as_ref()),
            plan,
        })
    }

    async fn rows(&mut self, mut batch: RowBatch, run: &mut Run<'_>) -> Result<(), SqlError> {
        number_rows(&self.plan.table, &mut batch, run).await?;
        let context = run.eval();
        for at in 0..batch.len() {
            fill_generated(batch.row_mut(at), &self.plan.generated, &context)?;
            check_row(&self.plan.table, batch.row(at), &self.plan.checks, &context)?;
        }
        if self.plan.checks.iter().any(|check| check.runs_statements) {
            for at in 0..batch.len() {
                check_statements(&self.plan.table, batch.row(at), &self.plan.checks, &mut run.ctx).await?;
            }
        }
        let mut from = 0;
        while from < batch.len() {
            let to = (from + WRITE_ROWS).min(batch.len());
            match (&mut self.conflict, &self.plan.on_conflict) {
                (Some(state), Some(conflict)) => {
                    let rows: Vec<&[Datum]> = (from..to).map(|at| batch.row(at)).collect();
                    let written = state.insert(self.plan, conflict, &rows, &mut self.writer, run).await?;
                    for row in written {
                        match &row.old {
                            Some(old) => self.foreign.updated(&self.plan.table, old, &row.new, &run.ctx)?,
                            None => self.foreign.inserted(&self.plan.table, &row.new, &run.ctx)?,
                        }
                        self.returned.written(Cow::Owned(row.new), run).await?;
                    }
                }
                _ => {
                    self.plain(&batch, from..to, run).await?;
                }
            }
            from = to;
        }
        Ok(())
    }

    async fn plain(&mut self, batch: &RowBatch, range: std::ops::Range<usize>, run: &mut Run<'_>) -> Result<(), SqlError> {
        for at in range.clone() {
            self.writer.insert(batch.row(at), at, &run.eval())?;
        }
        match &mut self.load {
            Some(load) => {
                self.writer.hand_to(load);
                load.make_room(&mut run.ctx).await?;
            }
            None => self.writer.settle(|at| Some(batch.row(at)), run).await?,
        }
        for at in range {
            self.foreign.inserted(&self.plan.table, batch.row(at), &run.ctx)?;
            self.returned.written(Cow::Borrowed(batch.row(at)), run).await?;
        }
        Ok(())
    }

    async fn finish(self, run: &mut Run<'_>) -> Result<Option<RowBatch>, SqlError> {
        if let Some(mut load) = self.load {
            load.finish(&mut run.ctx).await?;
        }
        run.settle_foreign_keys(self.foreign).await?;
        Ok(self.returned.into_batch())
    }
}

/// Gives rows of a table without a primary key their hidden numbers.
pub(super) async fn number_rows(table: &TableDescriptor, batch: &mut RowBatch, run: &mut Run<'_>) -> Result<(), SqlError> {
    if table.has_primary_key() {
        return Ok(());
    }
    let Some(part) = table.primary.key.first() else { return Ok(()) };
    let ids = sequence::row_ids(&mut run.ctx, table.primary.index_id, batch.len()).await?;
    for (at, id) in ids.into_iter().enumerate() {
        if let Some(slot) = batch.row_mut(at).get_mut(part.column) {
            *slot = Datum::Int8(id);
        }
    }
    Ok(())
}
