//! INTERSECT and EXCEPT: the right side is counted in a hash table, the left one decides.

use super::RowBatch;
use super::batch::MemoryUse;
use super::context::Run;
use super::operator::Operator;
use super::sources::RowKey;
use crate::ast::SetOp;
use crate::error::SqlError;
use crate::plan::Plan;
use crate::types::DataType;
use hashbrown::HashMap;
use std::sync::Arc;

/// Both sides, and how often each right row may still be matched.
pub(crate) struct SetOpState {
    left: Operator,
    right: Operator,
    counts: Option<HashMap<RowKey, u64>>,
    types: Arc<Vec<DataType>>,
}

impl SetOpState {
    pub(super) fn new(left: Operator, right: Operator) -> SetOpState {
        SetOpState { left, right, counts: None, types: Arc::default() }
    }

    pub(super) async fn next(
        &mut self,
        op: SetOp,
        all: bool,
        left: &Plan,
        right: &Plan,
        run: &mut Run<'_>,
    ) -> Result<Option<RowBatch>, SqlError> {
        if self.counts.is_none() {
            self.types = Arc::new(left.types.iter().map(|t| t.ty).collect());
            self.counts = Some(self.count_right(right, run).await?);
        }
        let Some(mut batch) = self.left.next(left, run).await? else { return Ok(None) };
        let Some(counts) = &mut self.counts else { return Ok(None) };
        let types = &self.types;
        batch.retain(|row| {
            let key = RowKey::new(row.to_vec(), types);
            Ok::<bool, SqlError>(match (op, all) {
                (SetOp::Intersect, false) => counts.remove(&key).is_some(),
                (SetOp::Intersect, true) => take_one(counts, &key),
                (_, true) => !take_one(counts, &key),
                // Each row of the left side once: what was given is as good as excluded.
                (_, false) => counts.insert(key, 0).is_none(),
            })
        })?;
        Ok(Some(batch))
    }

    async fn count_right(&mut self, right: &Plan, run: &mut Run<'_>) -> Result<HashMap<RowKey, u64>, SqlError> {
        let mut counts = HashMap::new();
        let mut memory = MemoryUse::default();
        while let Some(batch) = self.right.next(right, run).await? {
            for row in batch.rows() {
                memory.row(row)?;
                *counts.entry(RowKey::new(row.to_vec(), &self.types)).or_insert(0) += 1;
            }
        }
        Ok(counts)
    }
}

fn take_one(counts: &mut HashMap<RowKey, u64>, key: &RowKey) -> bool {
    match counts.get_mut(key) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    }
}
