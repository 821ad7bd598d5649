//! DISTINCT: the first row for each key.
//!
//! Rows whose equal keys come one behind the other (`DISTINCT ON` over its ORDER BY, an index) are compared with the one before. Others are looked up among the keys
//! seen so far; when those take more than `work_mem`, rows with other keys are put aside and looked at afterwards (`partitions`), unless
//! somebody relies on the order of the rows: then the keys stay in memory.

use super::RowBatch;
use super::context::Run;
use super::key_table::KeyTable;
use super::operator::Operator;
use super::partitions::{Partitions, Source};
use super::row_file::RowReader;
use crate::error::SqlError;
use crate::expr::{Expr, eval_into};
use crate::plan::{DistinctOrder, Plan};
use crate::types::{DataType, Datum};

/// The input, and what of it was seen.
pub(crate) struct DistinctState {
    input: Operator,
    pass: Option<Pass>,
    /// Rows that are still to be looked at, and how often they were put aside.
    aside: Vec<(RowReader, u32)>,
}

/// Once over the input, or over rows that were put aside.
struct Pass {
    rows: Option<RowReader>,
    seen: Seen,
    overflow: Option<Partitions>,
}

enum Seen {
    /// Every key.
    All(KeyTable),
    /// The key of the row before, as the only one of its table.
    Last(KeyTable),
}

impl Pass {
    fn new(types: Vec<DataType>, rows: Option<(RowReader, u32)>, input: &Plan, order: DistinctOrder, run: &Run<'_>) -> Pass {
        let level = rows.as_ref().map_or(0, |(_, level)| *level);
        let seen = KeyTable::new(types);
        Pass {
            rows: rows.map(|(rows, _)| rows),
            seen: if order == DistinctOrder::Adjacent { Seen::Last(seen) } else { Seen::All(seen) },
            overflow: if order == DistinctOrder::Any { Partitions::new(input, level, run) } else { None },
        }
    }

    /// Is it the first row with this key? One that was put aside is not, for now.
    fn is_first(&mut self, key: &[Datum], row: &[Datum], work_mem: usize) -> Result<bool, SqlError> {
        match &mut self.seen {
            Seen::Last(last) if last.find(key).is_some() => Ok(false),
            Seen::Last(last) => {
                last.clear();
                last.insert(key).map(|_| true)
            }
            Seen::All(seen) => match &mut self.overflow {
                Some(overflow) if seen.bytes() > work_mem => {
                    if seen.find(key).is_none() {
                        overflow.put(seen.hash(key), row)?;
                    }
                    Ok(false)
                }
                _ => seen.insert(key).map(|(_, new)| new),
            },
        }
    }
}

impl DistinctState {
    pub(super) fn new(input: Operator) -> DistinctState {
        DistinctState { input, pass: None, aside: Vec::new() }
    }

    pub(super) async fn next(
        &mut self,
        input: &Plan,
        keys: &[Expr],
        order: DistinctOrder,
        run: &mut Run<'_>,
    ) -> Result<Option<RowBatch>, SqlError> {
        let types = || keys.iter().map(|key| key.ty().ty).collect();
        loop {
            let pass = self.pass.get_or_insert_with(|| Pass::new(types(), None, input, order, run));
            let Some(mut batch) = Source::of(pass.rows.as_mut(), &mut self.input, input).next(run).await? else {
                if let Some(overflow) = pass.overflow.take() {
                    self.aside.extend(overflow.into_readers()?);
                }
                let Some(aside) = self.aside.pop() else { return Ok(None) };
                *pass = Pass::new(types(), Some(aside), input, order, run);
                continue;
            };
            let context = run.eval();
            let mut key = Vec::with_capacity(keys.len());
            batch.retain(|row| {
                eval_into(keys, row, &context, &mut key)?;
                pass.is_first(&key, row, run.ctx.work_mem)
            })?;
            return Ok(Some(batch));
        }
    }
}
