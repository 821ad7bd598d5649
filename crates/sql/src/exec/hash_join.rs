//! Hash join: the right side in a hash table, the left one probes it.
//!
//! When the right side takes more than `work_mem`, both are put aside, rows with equal keys in a pair of files, and joined pair by pair (`partitions`);
//! unless somebody relies on the order of the left side, which the pairs do not keep: then it stays in memory.

use super::RowBatch;
use super::batch::{BATCH_ROWS, MemoryUse};
use super::context::{Run, misfit};
use super::key_table::KeyTable;
use super::operator::Operator;
use super::partitions::{Pair, Partitions, Source};
use super::row_file::RowReader;
use crate::error::SqlError;
use crate::expr::{EvalContext, Expr, eval_bool, eval_into};
use crate::plan::{JoinType, Plan, PlanNode};
use crate::types::{DataType, Datum};

/// Both sides, the table, and where the probe stands.
pub(crate) struct HashJoinState {
    left: Operator,
    right: Operator,
    table: Option<Table>,
    /// The left rows that the table is for, if they were put aside.
    left_rows: Option<RowReader>,
    aside: Vec<Pair>,
    began: bool,
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

/// Bytes that the table needs for a row besides its values and its key.
const ROW_OVERHEAD: usize = 16;

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
        HashJoinState {
            left,
            right,
            table: None,
            left_rows: None,
            aside: Vec::new(),
            began: false,
            probe: RowBatch::default(),
            at: 0,
            key: Vec::new(),
            left_ended: false,
            unmatched_at: 0,
        }
    }

    pub(super) async fn next(&mut self, plan: &Plan, run: &mut Run<'_>) -> Result<Option<RowBatch>, SqlError> {
        let PlanNode::HashJoin { left, right, kind, left_keys, right_keys, on, in_order } = &plan.node else { return Err(misfit()) };
        let sides = Sides { left, right, left_keys, right_keys, in_order: *in_order };
        let mut out = RowBatch::new(plan.types.len());
        loop {
            if self.table.is_none() && !self.begin_next(&sides, run).await? {
                return Ok(None);
            }
            while out.len() < BATCH_ROWS && !self.left_ended {
                if self.at >= self.probe.len() {
                    match Source::of(self.left_rows.as_mut(), &mut self.left, left).next(run).await? {
                        Some(batch) => (self.probe, self.at) = (batch, 0),
                        None => self.left_ended = true,
                    }
                    continue;
                }
                let Some(table) = &mut self.table else { return Err(misfit()) };
                let row = self.probe.row(self.at);
                let compared = probe(table, row, *kind, left_keys, on.as_ref(), right.types.len(), &run.eval(), &mut self.key, &mut out)?;
                self.at += 1;
                // With equal keys everywhere a probe is a nested loop: it must not hold its thread.
                run.give_way(compared).await?;
            }
            if out.is_empty() && matches!(kind, JoinType::Right | JoinType::Full) {
                self.unmatched(left.types.len(), &mut out);
            }
            if !out.is_empty() {
                return Ok(Some(out));
            }
            self.table = None;
        }
    }

    /// Builds the table of the right side, and afterwards of each pair that was put aside; no, when all are through.
    async fn begin_next(&mut self, sides: &Sides<'_>, run: &mut Run<'_>) -> Result<bool, SqlError> {
        while self.table.is_none() {
            let pair = if std::mem::replace(&mut self.began, true) {
                let Some(pair) = self.aside.pop() else { return Ok(false) };
                Some(pair)
            } else {
                None
            };
            // Boxed: most joins are through with it at once, and futures of plans lie one in the other.
            Box::pin(self.begin(pair, sides, run)).await?;
        }
        (self.probe, self.at, self.left_ended, self.unmatched_at) = (RowBatch::default(), 0, false, 0);
        Ok(true)
    }

    /// Builds a table, or puts both sides aside when it would be too large.
    async fn begin(&mut self, pair: Option<Pair>, sides: &Sides<'_>, run: &mut Run<'_>) -> Result<(), SqlError> {
        let level = pair.as_ref().map_or(0, |pair| pair.level);
        let (mut left_rows, mut right_rows) = pair.map(|pair| (pair.left, pair.right)).unzip();
        let mut source = Source::of(right_rows.as_mut(), &mut self.right, sides.right);
        let mut rows = RowBatch::new(sides.right.types.len());
        let mut memory = MemoryUse::default();
        while let Some(batch) = source.next(run).await? {
            memory.grow(batch.bytes() + batch.len() * ROW_OVERHEAD)?;
            rows.append(batch);
            if memory.bytes() <= run.ctx.work_mem || sides.in_order {
                continue;
            }
            let files = (Partitions::new(sides.left, level, run), Partitions::new(sides.right, level, run));
            let (Some(mut left_files), Some(mut right_files)) = files else { continue };
            let hasher = KeyTable::new(sides.key_types());
            let mut key = Vec::with_capacity(sides.right_keys.len());
            let mut hash_by = |keys: &[Expr], row: &[Datum], context: &EvalContext<'_>| {
                eval_into(keys, row, context, &mut key).map(|()| hasher.hash(&key))
            };
            for row in std::mem::take(&mut rows).rows() {
                right_files.put(hash_by(sides.right_keys, row, &run.eval())?, row)?;
            }
            right_files.put_all(&mut source, run, |row, context| hash_by(sides.right_keys, row, context)).await?;
            let mut source = Source::of(left_rows.as_mut(), &mut self.left, sides.left);
            left_files.put_all(&mut source, run, |row, context| hash_by(sides.left_keys, row, context)).await?;
            self.aside.extend(left_files.into_pairs(right_files)?);
            return Ok(());
        }
        self.table = Some(build(rows, sides, run)?);
        self.left_rows = left_rows;
        Ok(())
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

/// What the plan says of the two sides.
struct Sides<'p> {
    left: &'p Plan,
    right: &'p Plan,
    left_keys: &'p [Expr],
    right_keys: &'p [Expr],
    in_order: bool,
}

impl Sides<'_> {
    fn key_types(&self) -> Vec<DataType> {
        self.right_keys.iter().map(|key| key.ty().ty).collect()
    }
}

/// The table of the right side's rows.
fn build(rows: RowBatch, sides: &Sides<'_>, run: &Run<'_>) -> Result<Table, SqlError> {
    let mut table = Table {
        matched: vec![false; rows.len()],
        keys: KeyTable::new(sides.key_types()),
        ends: Vec::new(),
        next: Vec::with_capacity(rows.len()),
        rows: RowBatch::default(),
    };
    let context = run.eval();
    let mut key = Vec::with_capacity(sides.right_keys.len());
    for row in rows.rows() {
        if join_key(sides.right_keys, row, &context, &mut key)? {
            table.add(&key)?;
        } else {
            table.next.push(NO_ROW);
        }
    }
    table.rows = rows;
    Ok(table)
}

/// Joins a left row; answers how many right rows it was compared with.
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
) -> Result<usize, SqlError> {
    let mut compared = 0;
    let mut candidate = if join_key(keys, row, context, key)? { table.rows_of(key) } else { NO_ROW };
    let holds = |both: &[Datum]| on.map_or(Ok(true), |on| eval_bool(on, both, context));
    let mut any = false;
    while candidate != NO_ROW {
        let number = candidate as usize;
        candidate = table.next[number];
        compared += 1;
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
    Ok(compared)
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
