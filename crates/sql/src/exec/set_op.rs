//! INTERSECT and EXCEPT: the right side is counted in a hash table, the left one decides.

use super::RowBatch;
use super::context::Run;
use super::key_table::KeyTable;
use super::operator::Operator;
use crate::ast::SetOp;
use crate::error::SqlError;
use crate::plan::Plan;
use crate::types::{DataType, Datum};

/// Both sides, and what is known of the right one.
pub(crate) struct SetOpState {
    left: Operator,
    right: Operator,
    counts: Option<Counts>,
}

/// How often each row of the right side may still be matched.
struct Counts {
    rows: KeyTable,
    left: Vec<u64>,
}

impl SetOpState {
    pub(super) fn new(left: Operator, right: Operator) -> SetOpState {
        SetOpState { left, right, counts: None }
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
            let types = left.types.iter().map(|column| column.ty).collect();
            self.counts = Some(self.count_right(types, right, run).await?);
        }
        let Some(mut batch) = self.left.next(left, run).await? else { return Ok(None) };
        let Some(counts) = &mut self.counts else { return Ok(None) };
        batch.retain(|row| match (op, all) {
            (SetOp::Intersect, false) => Ok(counts.take_all(row)),
            (SetOp::Intersect, true) => Ok(counts.take_one(row)),
            (_, true) => Ok(!counts.take_one(row)),
            // Each row of the left side once: what was given is as good as excluded.
            (_, false) => counts.add(row).map(|(_, new)| new),
        })?;
        Ok(Some(batch))
    }

    async fn count_right(&mut self, types: Vec<DataType>, right: &Plan, run: &mut Run<'_>) -> Result<Counts, SqlError> {
        let mut counts = Counts { rows: KeyTable::new(types), left: Vec::new() };
        while let Some(batch) = self.right.next(right, run).await? {
            for row in batch.rows() {
                counts.add(row)?;
            }
        }
        Ok(counts)
    }
}

impl Counts {
    fn add(&mut self, row: &[Datum]) -> Result<(usize, bool), SqlError> {
        let (number, new) = self.rows.insert(row)?;
        if new {
            self.left.push(0);
        }
        self.left[number] += 1;
        Ok((number, new))
    }

    fn take_one(&mut self, row: &[Datum]) -> bool {
        self.take(row, |left| left - 1)
    }

    fn take_all(&mut self, row: &[Datum]) -> bool {
        self.take(row, |_| 0)
    }

    fn take(&mut self, row: &[Datum], rest: impl FnOnce(u64) -> u64) -> bool {
        match self.rows.find(row).map(|number| &mut self.left[number]) {
            Some(left) if *left > 0 => {
                *left = rest(*left);
                true
            }
            _ => false,
        }
    }
}
