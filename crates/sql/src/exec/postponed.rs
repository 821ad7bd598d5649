//! Writes of a statement that has data-modifying terms in WITH.
//!
//! All parts of such a statement see the same rows: what one part writes, the others do not see (they can talk through RETURNING only). A transaction
//! sees its own writes at once, so the parts only note what they will write, and everything is written when the last part has ended, in the order in
//! which the parts ran. Foreign keys are settled after that.
//!
//! INSERT ... ON CONFLICT is not postponed: what it does depends on what is there.

use super::batch::MemoryUse;
use super::context::ExecContext;
use super::foreign_key::ForeignKeyWork;
use super::write::{Origin, duplicate};
use crate::catalog::TableDescriptor;
use crate::error::SqlError;
use crate::types::Datum;
use hashbrown::HashMap;
use std::sync::Arc;
use tidelock_kvclient::{Write, Written};

/// What the parts of a statement have still to write.
#[derive(Default)]
pub(crate) struct PostponedWrites {
    batches: Vec<Batch>,
    foreign: Vec<ForeignKeyWork>,
    memory: MemoryUse,
}

/// What was collected of one table.
pub(super) struct Batch {
    table: Arc<TableDescriptor>,
    removals: usize,
    /// The removals first.
    writes: Vec<Write>,
    /// Where the others came from.
    origins: Vec<Origin>,
    /// Images of the rows behind them, for the message about a duplicate.
    rows: HashMap<usize, Vec<Datum>>,
}

impl Batch {
    pub(super) fn new(table: &Arc<TableDescriptor>, mut removals: Vec<Write>, mut writes: Vec<Write>, origins: Vec<Origin>) -> Batch {
        let count = removals.len();
        removals.append(&mut writes);
        Batch { table: Arc::clone(table), removals: count, writes: removals, origins, rows: HashMap::new() }
    }
}

impl PostponedWrites {
    /// Keeps a batch of writes; `row` gives the image of a row by its number.
    pub(super) fn push<'r>(&mut self, mut batch: Batch, row: impl Fn(usize) -> Option<&'r [Datum]>) -> Result<(), SqlError> {
        for origin in &batch.origins {
            if let Some(image) = row(origin.row) {
                self.memory.row(image)?;
                batch.rows.insert(origin.row, image.to_vec());
            }
        }
        self.batches.push(batch);
        Ok(())
    }

    /// Keeps what a part owes to foreign keys.
    pub(super) fn owe(&mut self, foreign: ForeignKeyWork) {
        self.foreign.push(foreign);
    }

    /// The statement's end.
    pub(super) async fn write(self, ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
        for batch in self.batches {
            let results = ctx.txn.write(batch.writes).await.map_err(|e| ctx.kv(e))?;
            let found = results.iter().skip(batch.removals).zip(&batch.origins).find(|(result, _)| matches!(result, Written::Exists(_)));
            if let Some((_, origin)) = found {
                let row = batch.rows.get(&origin.row).map(Vec::as_slice).unwrap_or_default();
                return Err(duplicate(&batch.table, origin.index, row, &ctx.text()));
            }
        }
        for mut foreign in self.foreign {
            foreign.finish(ctx).await?;
        }
        Ok(())
    }
}
