//! Hash join: the right side in a hash table, the left one probes it.

use super::RowBatch;
use super::batch::{BATCH_ROWS, MemoryUse};
use super::context::{Run, misfit};
use super::operator::Operator;
use super::sources::RowKey;
use crate::error::SqlError;
use crate::expr::{EvalContext, Expr, eval, eval_bool};
use crate::plan::{JoinType, Plan, PlanNode};
use crate::types::{DataType, Datum};
use hashbrown::HashMap;
use std::sync::Arc;

/// Both sides, the table, and where the probe stands.
pub(crate) struct HashJoinState {
    left: Operator,
    right: Operator,
    table: Option<Table>,
    probe: RowBatch,
    at: usize,
    left_ended: bool,
    /// Right and full joins: the next right row that may be without a match.
    unmatched_at: usize,
}

struct Table {
    rows: RowBatch,
    by_key: HashMap<RowKey, Vec<u32>>,
    matched: Vec<bool>,
    types: Arc<Vec<DataType>>,
}

/// A key without NULLs.
fn join_key(exprs: &[Expr], row: &[Datum], types: &Arc<Vec<DataType>>, context: &EvalContext<'_>) -> Result<Option<RowKey>, SqlError> {
    let mut values = Vec::with_capacity(exprs.len());
    for expr in exprs {
        let value = eval(expr, row, context)?;
        if value.is_null() {
            return Ok(None);
        }
        values.push(value);
    }
    Ok(Some(RowKey::new(values, types)))
}

impl HashJoinState {
    pub(super) fn new(left: Operator, right: Operator) -> HashJoinState {
        HashJoinState { left, right, table: None, probe: RowBatch::default(), at: 0, left_ended: false, unmatched_at: 0 }
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
            probe(table, row, *kind, left_keys, on.as_ref(), right.types.len(), &run.eval(), &mut out)?;
            self.at += 1;
        }
        if out.is_empty() && self.left_ended && matches!(kind, JoinType::Right | JoinType::Full) {
            self.unmatched(left.types.len(), &mut out);
        }
        Ok((!out.is_empty()).then_some(out))
    }

    async fn build(&mut self, plan: &Plan, keys: &[Expr], run: &mut Run<'_>) -> Result<Table, SqlError> {
        let rows = self.right.collect(plan, run).await?;
        let types = Arc::new(keys.iter().map(|k| k.ty().ty).collect::<Vec<_>>());
        let mut by_key: HashMap<RowKey, Vec<u32>> = HashMap::new();
        let mut memory = MemoryUse::default();
        let context = run.eval();
        for (number, row) in rows.rows().enumerate() {
            if let Some(key) = join_key(keys, row, &types, &context)? {
                memory.row(key.values())?;
                by_key.entry(key).or_default().push(number as u32);
            }
        }
        Ok(Table { matched: vec![false; rows.len()], rows, by_key, types })
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
    out: &mut RowBatch,
) -> Result<(), SqlError> {
    let key = join_key(keys, row, &table.types, context)?;
    let candidates = key.as_ref().and_then(|key| table.by_key.get(key)).map_or(&[] as &[u32], Vec::as_slice);
    let mut any = false;
    let mut both = Vec::new();
    for candidate in candidates {
        let right = table.rows.row(*candidate as usize);
        if on.is_some() || !matches!(kind, JoinType::Semi | JoinType::Anti) {
            both.clear();
            both.extend_from_slice(row);
            both.extend_from_slice(right);
        }
        if let Some(on) = on
            && !eval_bool(on, &both, context)?
        {
            continue;
        }
        any = true;
        if matches!(kind, JoinType::Semi | JoinType::Anti) {
            break;
        }
        table.matched[*candidate as usize] = true;
        out.push(both.drain(..));
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
