//! Sorting: everything ([`super::sorter`]), or only the first rows.

use super::RowBatch;
use super::batch::{BATCH_ROWS, MemoryUse};
use super::context::Run;
use super::filter::row_count;
use super::operator::Operator;
use super::sorter::{Sorted, Sorter};
use crate::error::SqlError;
use crate::expr::{EvalContext, Expr, eval, eval_into};
use crate::plan::{Plan, SortKey};
use crate::types::Datum;
use crate::types::compare::SortOrder;
use std::cmp::Ordering;
use std::vec::IntoIter;

/// A row with its key values.
pub(super) struct Keyed {
    pub(super) keys: Vec<Datum>,
    pub(super) row: Vec<Datum>,
}

/// The order of two lists of key values.
pub(super) fn compare_by_keys(keys: &[SortKey], a: &[Datum], b: &[Datum]) -> Ordering {
    for (key, (a, b)) in keys.iter().zip(a.iter().zip(b)) {
        let order = SortOrder { descending: key.descending, nulls_first: key.nulls_first };
        let ordering = order.cmp(key.expr.ty().ty, a, b);
        if ordering.is_ne() {
            return ordering;
        }
    }
    Ordering::Equal
}

/// A row's key values.
pub(super) fn key_values(keys: &[SortKey], row: &[Datum], context: &EvalContext<'_>) -> Result<Vec<Datum>, SqlError> {
    keys.iter().map(|key| eval(&key.expr, row, context)).collect()
}

/// The input, until it was sorted.
pub(crate) struct SortState {
    input: Operator,
    sorted: Option<Sorted>,
}

impl SortState {
    pub(super) fn new(input: Operator) -> SortState {
        SortState { input, sorted: None }
    }

    pub(super) async fn next(&mut self, input: &Plan, keys: &[SortKey], run: &mut Run<'_>) -> Result<Option<RowBatch>, SqlError> {
        if self.sorted.is_none() {
            let mut sorter = Sorter::new(input.types.iter().map(|column| column.ty).collect(), keys, run);
            while let Some(batch) = self.input.next(input, run).await? {
                sorter.push(batch, run).await?;
            }
            self.sorted = Some(sorter.finish()?);
        }
        self.sorted.as_mut().map_or(Ok(None), Sorted::next_batch)
    }
}

fn hand_out(rows: Option<&mut IntoIter<Keyed>>, width: usize) -> Option<RowBatch> {
    let mut batch = RowBatch::new(width);
    for keyed in rows?.take(BATCH_ROWS) {
        batch.push(keyed.row);
    }
    (!batch.is_empty()).then_some(batch)
}

/// The first rows, once known.
pub(crate) struct TopNState {
    input: Operator,
    sorted: Option<IntoIter<Keyed>>,
}

impl TopNState {
    pub(super) fn new(input: Operator) -> TopNState {
        TopNState { input, sorted: None }
    }

    pub(super) async fn next(
        &mut self,
        input: &Plan,
        keys: &[SortKey],
        limit: &Expr,
        offset: Option<&Expr>,
        run: &mut Run<'_>,
    ) -> Result<Option<RowBatch>, SqlError> {
        if self.sorted.is_none() {
            let skip = row_count(offset, "OFFSET", run)?.unwrap_or(0);
            let wanted = row_count(Some(limit), "LIMIT", run)?.map(|limit| limit.saturating_add(skip));
            let wanted = wanted.map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX));
            let rows = self.first(wanted, input, keys, run).await?;
            let mut rows = rows.into_iter();
            rows.by_ref().take(usize::try_from(skip).unwrap_or(usize::MAX)).for_each(drop);
            self.sorted = Some(rows);
        }
        Ok(hand_out(self.sorted.as_mut(), input.types.len()))
    }

    /// Keeps up to twice as many rows as wanted, and drops the worse half whenever there are so many. From then on a row that comes after the
    /// last one wanted is passed over where it stands.
    async fn first(&mut self, wanted: usize, input: &Plan, keys: &[SortKey], run: &mut Run<'_>) -> Result<Vec<Keyed>, SqlError> {
        let mut rows: Vec<Keyed> = Vec::new();
        let mut memory = MemoryUse::default();
        if wanted == 0 {
            return Ok(rows);
        }
        let by_keys = |a: &Keyed, b: &Keyed| compare_by_keys(keys, &a.keys, &b.keys);
        let most = wanted.saturating_mul(2).max(64);
        let mut trimmed = false;
        let mut values = Vec::with_capacity(keys.len());
        while let Some(mut batch) = self.input.next(input, run).await? {
            let context = run.eval();
            for at in 0..batch.len() {
                eval_into(keys.iter().map(|key| &key.expr), batch.row(at), &context, &mut values)?;
                if trimmed && compare_by_keys(keys, &values, &rows[wanted - 1].keys).is_ge() {
                    continue;
                }
                let row = batch.take_row(at);
                memory.row(&row)?;
                rows.push(Keyed { keys: std::mem::take(&mut values), row });
                if rows.len() > most {
                    rows.sort_by(by_keys);
                    rows.truncate(wanted);
                    trimmed = true;
                    memory = MemoryUse::default();
                    rows.iter().try_for_each(|r| memory.row(&r.row))?;
                }
            }
        }
        rows.sort_by(by_keys);
        rows.truncate(wanted);
        Ok(rows)
    }
}
