//! Small operators over one input: filter, projection, set-returning targets, limit.

use super::RowBatch;
use super::batch::BATCH_ROWS;
use super::context::Run;
use super::operator::Operator;
use super::sort::compare_by_keys;
use super::sources::{next_of_calls, start_calls};
use crate::error::{SqlError, SqlState};
use crate::expr::{Expr, eval, eval_bool};
use crate::functions::set_returning::SetRows;
use crate::plan::{Plan, SortKey, TableFunction};
use crate::types::Datum;

/// The rows of a batch for which the predicate is true.
pub(super) fn filtered(mut batch: RowBatch, predicate: &Expr, run: &Run<'_>) -> Result<RowBatch, SqlError> {
    let context = run.eval();
    batch.retain(|row| eval_bool(predicate, row, &context))?;
    Ok(batch)
}

/// New rows computed from a batch.
pub(super) fn projected(batch: &RowBatch, exprs: &[Expr], run: &Run<'_>) -> Result<RowBatch, SqlError> {
    let context = run.eval();
    let mut out = RowBatch::new(exprs.len());
    for row in batch.rows() {
        let fill = |values: &mut Vec<Datum>| exprs.iter().try_for_each(|expr| eval(expr, row, &context).map(|value| values.push(value)));
        out.try_push(fill, |_| Ok(true))?;
    }
    Ok(out)
}

/// ProjectSet: the input row whose calls are under way.
pub(crate) struct ProjectSetState {
    input: Operator,
    batch: RowBatch,
    at: usize,
    calls: Option<Vec<Option<SetRows>>>,
}

impl ProjectSetState {
    pub(super) fn new(input: Operator) -> ProjectSetState {
        ProjectSetState { input, batch: RowBatch::default(), at: 0, calls: None }
    }

    pub(super) async fn next(
        &mut self,
        input: &Plan,
        functions: &[TableFunction],
        run: &mut Run<'_>,
    ) -> Result<Option<RowBatch>, SqlError> {
        let width = input.types.len() + functions.iter().map(|f| f.types.len()).sum::<usize>();
        let mut out = RowBatch::new(width);
        while out.len() < BATCH_ROWS {
            if self.at >= self.batch.len() {
                let Some(batch) = self.input.next(input, run).await? else { break };
                (self.batch, self.at, self.calls) = (batch, 0, None);
            }
            let row = self.batch.row(self.at);
            let calls = match &mut self.calls {
                Some(calls) => calls,
                none => none.insert(start_calls(functions, row, run).await?),
            };
            let mut values = row.to_vec();
            if next_of_calls(calls, functions, &mut values)? {
                out.push(values);
            } else {
                (self.at, self.calls) = (self.at + 1, None);
            }
        }
        Ok((!out.is_empty()).then_some(out))
    }
}

/// What is left to skip and to give.
pub(crate) struct LimitState {
    input: Operator,
    counts: Option<(u64, Option<u64>)>,
    last: Option<Vec<Datum>>,
    done: bool,
}

/// A row count as LIMIT and OFFSET give it; None is no limit.
pub(super) fn row_count(expr: Option<&Expr>, what: &'static str, run: &Run<'_>) -> Result<Option<u64>, SqlError> {
    let Some(expr) = expr else { return Ok(None) };
    match eval(expr, &[], &run.eval())? {
        Datum::Int8(count) if count < 0 => {
            let state =
                if what == "LIMIT" { SqlState::INVALID_ROW_COUNT_IN_LIMIT_CLAUSE } else { SqlState::INVALID_ROW_COUNT_IN_OFFSET_CLAUSE };
            Err(SqlError::new(state, format!("{what} must not be negative")))
        }
        Datum::Int8(count) => Ok(Some(count.unsigned_abs())),
        _ => Ok(None),
    }
}

impl LimitState {
    pub(super) fn new(input: Operator) -> LimitState {
        LimitState { input, counts: None, last: None, done: false }
    }

    pub(super) async fn next(
        &mut self,
        input: &Plan,
        limit: Option<&Expr>,
        offset: Option<&Expr>,
        ties: Option<&[SortKey]>,
        run: &mut Run<'_>,
    ) -> Result<Option<RowBatch>, SqlError> {
        let (mut skip, mut left) = match self.counts {
            Some(counts) => counts,
            None => {
                // PostgreSQL computes OFFSET first.
                let skip = row_count(offset, "OFFSET", run)?.unwrap_or(0);
                (skip, row_count(limit, "LIMIT", run)?)
            }
        };
        if self.done || left == Some(0) && (ties.is_none() || self.last.is_none()) {
            return Ok(None);
        }
        let Some(mut batch) = self.input.next(input, run).await? else { return Ok(None) };
        let skipped = skip.min(batch.len() as u64);
        batch.drop_front(skipped as usize);
        skip -= skipped;
        if let Some(count) = left {
            let keep = count.min(batch.len() as u64) as usize;
            left = Some(count - keep as u64);
            let tied = match ties {
                Some(keys) if left == Some(0) => self.tied(&batch, keep, keys, run)?,
                _ => 0,
            };
            batch.truncate(keep + tied);
        }
        self.counts = Some((skip, left));
        Ok(Some(batch))
    }

    /// How many rows after the first `keep` equal the last one given.
    fn tied(&mut self, batch: &RowBatch, keep: usize, keys: &[SortKey], run: &Run<'_>) -> Result<usize, SqlError> {
        let context = run.eval();
        let values = |row: &[Datum]| keys.iter().map(|k| eval(&k.expr, row, &context)).collect::<Result<Vec<_>, _>>();
        if keep > 0 {
            self.last = Some(values(batch.row(keep - 1))?);
        }
        let Some(last) = &self.last else { return Ok(0) };
        let mut tied = 0;
        for at in keep..batch.len() {
            if compare_by_keys(keys, &values(batch.row(at))?, last).is_ne() {
                self.done = true;
                break;
            }
            tied += 1;
        }
        Ok(tied)
    }
}
