//! Sorting: everything ([`super::sorter`]), the rows of windows, or only the first rows.
//!
//! Rows are sorted in portions ([`PORTION_ROWS`]), which are merged as they are handed out: between two portions, and between two batches of the merge, a
//! statement can be cancelled and gives way to others.

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
use std::iter::Peekable;
use std::vec::IntoIter;

/// Rows sorted at a stretch: some tens of milliseconds.
pub(super) const PORTION_ROWS: usize = 64 * 1024;

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

/// Sorted portions, being merged. Rows that are equal come in the order in which they were pushed.
#[derive(Default)]
pub(super) struct SortedRows {
    filling: Vec<Keyed>,
    portions: Vec<Peekable<IntoIter<Keyed>>>,
    /// Numbers of portions that have rows left, as a heap: the one with the least row first.
    heap: Vec<usize>,
}

impl SortedRows {
    /// Adds a row; true when a portion was sorted, which is when to give way.
    pub(super) fn push(&mut self, row: Keyed, keys: &[SortKey]) -> bool {
        self.filling.push(row);
        let full = self.filling.len() >= PORTION_ROWS;
        if full {
            self.end_portion(keys);
        }
        full
    }

    fn end_portion(&mut self, keys: &[SortKey]) {
        let mut rows = std::mem::take(&mut self.filling);
        if !rows.is_empty() {
            // Stable, so that equal rows keep the order in which they came.
            rows.sort_by(|a, b| compare_by_keys(keys, &a.keys, &b.keys));
            self.portions.push(rows.into_iter().peekable());
        }
    }

    /// No more rows come.
    pub(super) fn finish(&mut self, keys: &[SortKey]) {
        self.end_portion(keys);
        self.heap = (0..self.portions.len()).collect();
        for at in (0..self.heap.len() / 2).rev() {
            self.sift_down(at, keys);
        }
    }

    /// The next row in order.
    pub(super) fn next(&mut self, keys: &[SortKey]) -> Option<Keyed> {
        let number = *self.heap.first()?;
        let portion = &mut self.portions[number];
        let row = portion.next();
        if portion.peek().is_none() {
            self.heap.swap_remove(0);
        }
        if self.heap.len() > 1 {
            self.sift_down(0, keys);
        }
        row
    }

    fn sift_down(&mut self, mut at: usize, keys: &[SortKey]) {
        loop {
            let mut least = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.heap.len() && self.precedes(self.heap[child], self.heap[least], keys) {
                    least = child;
                }
            }
            if least == at {
                return;
            }
            self.heap.swap(at, least);
            at = least;
        }
    }

    fn precedes(&mut self, a: usize, b: usize, keys: &[SortKey]) -> bool {
        let (low, high) = (a.min(b), a.max(b));
        let (left, right) = self.portions.split_at_mut(high);
        let (Some(of_low), Some(of_high)) = (left[low].peek(), right[0].peek()) else { return false };
        let low_first = compare_by_keys(keys, &of_low.keys, &of_high.keys).is_le();
        low_first == (a == low)
    }
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
            let mut sorter = Sorter::new(input, keys, run);
            while let Some(batch) = self.input.next(input, run).await? {
                sorter.push(batch, run).await?;
            }
            self.sorted = Some(sorter.finish()?);
        }
        self.sorted.as_mut().map_or(Ok(None), |sorted| sorted.next_batch(input.types.len()))
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
