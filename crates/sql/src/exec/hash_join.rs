//! Hash join: the right side in a hash table, the left one probes it.

use super::RowBatch;
use super::batch::BATCH_ROWS;
use super::context::{Run, misfit};
use super::key_table::KeyTable;
use super::operator::Operator;
use crate::error::SqlError;
use crate::expr::{EvalContext, Expr, eval_bool, eval_into};
use crate::plan::{JoinType, Plan, PlanNode};
use crate::types::Datum;

/// Both sides, the table, and where the probe stands.
pub(crate) struct HashJoinState {
    left: Operator,
    right: Operator,
    table: Option<Table>,
    probe: RowBatch,
    at: usize,
    /// The key of the row that is looked up.
    key: Vec<Datum>,
    left_ended: bool,
    /// Right and full joins: the next right row that may be without a match.
    unmatched_at: usize,
}

struct Table {
    rows: RowBatch,
    keys: KeyTable,
    /// By the number of a key: the first and the last row that has it.
    ends: Vec<(u32, u32)>,
    /// By row: the next one with the same key, or [`NO_ROW`].
    next: Vec<u32>,
    matched: Vec<bool>,
}

/// The end of a chain of rows.
const NO_ROW: u32 = u32::MAX;

impl Table {
    /// Puts the next row under its key.
    fn add(&mut self, key: &[Datum]) -> Result<(), SqlError> {
        let row = self.next.len() as u32;
        self.next.push(NO_ROW);
        let (number, new) = self.keys.insert(key)?;
        if new {
            self.ends.push((row, row));
        } else {
            let last = std::mem::replace(&mut self.ends[number].1, row);
            self.next[last as usize] = row;
        }
        Ok(())
    }

    /// The rows with a key, in their order.
    fn rows_of(&self, key: &[Datum]) -> u32 {
        self.keys.find(key).map_or(NO_ROW, |number| self.ends[number].0)
    }
}

/// The key of a row; false when a part of it is NULL, which equals nothing.
fn join_key(exprs: &[Expr], row: &[Datum], context: &EvalContext<'_>, key: &mut Vec<Datum>) -> Result<bool, SqlError> {
    eval_into(exprs, row, context, key)?;
    Ok(!key.iter().any(Datum::is_null))
}

impl HashJoinState {
    pub(super) fn new(left: Operator, right: Operator) -> HashJoinState {
        HashJoinState { left, right, table: None, probe: RowBatch::default(), at: 0, key: Vec::new(), left_ended: false, unmatched_at: 0 }
    }

    pub(super) async fn next(&mut self, plan: &Plan, run: &mut Run<'_>) -> Result<Option<RowBatch>, SqlError> {
        let PlanNode::HashJoin { left, right, kind, left_keys, right_keys, on } = &plan.node else { return Err(misfit()) };
        if self.table.is_none() {
            self.table = Some(self.build(right, right_keys, run).await?);
        }
        let mut out = RowBatch::new(plan.types.len());
        while out.len() < BATCH_ROWS && !self.left_ended {
            if self.at >= self.probe.len() {
                match self.left.next(left, run).await? {
                    Some(batch) => (self.probe, self.at) = (batch, 0),
                    None => self.left_ended = true,
                }
                continue;
            }
            // With equal keys everywhere a probe is a nested loop: it must not hold its thread.
            run.give_way(0).await?;
            let Some(table) = &mut self.table else { return Err(misfit()) };
            let row = self.probe.row(self.at);
            probe(table, row, *kind, left_keys, on.as_ref(), right.types.len(), &run.eval(), &mut self.key, &mut out)?;
            self.at += 1;
        }
        if out.is_empty() && self.left_ended && matches!(kind, JoinType::Right | JoinType::Full) {
            self.unmatched(left.types.len(), &mut out);
        }
        Ok((!out.is_empty()).then_some(out))
    }

    async fn build(&mut self, plan: &Plan, keys: &[Expr], run: &mut Run<'_>) -> Result<Table, SqlError> {
        let rows = self.right.collect(plan, run).await?;
        let types = keys.iter().map(|key| key.ty().ty).collect();
        let mut table = Table {
            matched: vec![false; rows.len()],
            keys: KeyTable::new(types),
            ends: Vec::new(),
            next: Vec::with_capacity(rows.len()),
            rows: RowBatch::default(),
        };
        let context = run.eval();
        let mut key = Vec::with_capacity(keys.len());
        for row in rows.rows() {
            if join_key(keys, row, &context, &mut key)? {
                table.add(&key)?;
            } else {
                table.next.push(NO_ROW);
            }
        }
        table.rows = rows;
        Ok(table)
    }

    /// Right rows without a match, with NULLs on the left.
    fn unmatched(&mut self, left_width: usize, out: &mut RowBatch) {
        let Some(table) = &self.table else { return };
        while out.len() < BATCH_ROWS && self.unmatched_at < table.rows.len() {
            let at = self.unmatched_at;
            self.unmatched_at += 1;
            if !table.matched[at] {
                out.push(std::iter::repeat_n(Datum::Null, left_width).chain(table.rows.row(at).iter().cloned()));
            }
        }
    }
}

#[allow(clippy::too_many_arguments)] // one row's view of the join
fn probe(
    table: &mut Table,
    row: &[Datum],
    kind: JoinType,
    keys: &[Expr],
    on: Option<&Expr>,
    right_width: usize,
    context: &EvalContext<'_>,
    key: &mut Vec<Datum>,
    out: &mut RowBatch,
) -> Result<(), SqlError> {
    let mut candidate = if join_key(keys, row, context, key)? { table.rows_of(key) } else { NO_ROW };
    let holds = |both: &[Datum]| on.map_or(Ok(true), |on| eval_bool(on, both, context));
    let mut any = false;
    while candidate != NO_ROW {
        let number = candidate as usize;
        candidate = table.next[number];
        let right = table.rows.row(number);
        if matches!(kind, JoinType::Semi | JoinType::Anti) {
            if on.is_none() || holds(&[row, right].concat())? {
                any = true;
                break;
            }
            continue;
        }
        let both = |values: &mut Vec<Datum>| {
            values.extend_from_slice(row);
            values.extend_from_slice(right);
            Ok(())
        };
        if out.try_push(both, holds)? {
            any = true;
            table.matched[number] = true;
        }
    }
    finish_row(row, kind, any, right_width, out);
    Ok(())
}

/// What a left row gives besides its matches.
pub(super) fn finish_row(row: &[Datum], kind: JoinType, any: bool, right_width: usize, out: &mut RowBatch) {
    match kind {
        JoinType::Semi if any => out.push_slice(row),
        JoinType::Anti if !any => out.push_slice(row),
        JoinType::Left | JoinType::Full if !any => out.push(row.iter().cloned().chain(std::iter::repeat_n(Datum::Null, right_width))),
        _ => {}
    }
}
