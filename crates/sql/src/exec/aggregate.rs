//! Grouping, in a hash table: one entry per group, one accumulator per aggregate in it.
//!
//! DISTINCT and ORDER BY inside a call are done here: the arguments of a group are set aside, and fed at the end. With GROUPING SETS each input row goes into
//! one group of every set; the columns a set doesn't keep are NULL in its groups.

use super::RowBatch;
use super::batch::{BATCH_ROWS, MemoryUse};
use super::context::Run;
use super::operator::Operator;
use super::sort::{compare_by_keys, key_values};
use super::sources::RowKey;
use crate::error::SqlError;
use crate::expr::{EvalContext, Expr, eval, eval_bool};
use crate::functions::Accumulator;
use crate::plan::{AggregateCall, Plan};
use crate::types::{DataType, Datum};
use hashbrown::{HashMap, HashSet};
use std::sync::Arc;

/// The finished groups, handed out in batches.
pub(crate) struct AggregateState {
    input: Operator,
    finished: Option<std::vec::IntoIter<Vec<Datum>>>,
}

/// One aggregate over one group.
struct Cell {
    accumulator: Accumulator,
    seen: Option<HashSet<RowKey>>,
    /// With ORDER BY: key values, arguments.
    waiting: Vec<(Vec<Datum>, Vec<Datum>)>,
}

struct Groups<'p> {
    aggregates: &'p [AggregateCall],
    arg_types: Vec<Arc<Vec<DataType>>>,
    by_key: HashMap<RowKey, usize>,
    /// In order of first appearance.
    list: Vec<(Vec<Datum>, Vec<Cell>)>,
    memory: MemoryUse,
}

impl Groups<'_> {
    fn cells(&self) -> Vec<Cell> {
        let cell = |call: &AggregateCall| Cell {
            accumulator: call.function.accumulator(),
            seen: call.distinct.then(HashSet::new),
            waiting: Vec::new(),
        };
        self.aggregates.iter().map(cell).collect()
    }

    fn group(&mut self, key: RowKey) -> Result<usize, SqlError> {
        if let Some(at) = self.by_key.get(&key) {
            return Ok(*at);
        }
        let at = self.list.len();
        self.memory.row(key.values())?;
        self.memory.grow(self.aggregates.len() * 96)?;
        self.list.push((key.values().to_vec(), self.cells()));
        self.by_key.insert(key, at);
        Ok(at)
    }

    fn add(&mut self, group: usize, row: &[Datum], context: &EvalContext<'_>) -> Result<(), SqlError> {
        let Some((_, cells)) = self.list.get_mut(group) else { return Ok(()) };
        for ((call, cell), types) in self.aggregates.iter().zip(cells).zip(&self.arg_types) {
            if let Some(filter) = &call.filter
                && !eval_bool(filter, row, context)?
            {
                continue;
            }
            let args = call.args.iter().map(|arg| eval(arg, row, context)).collect::<Result<smallvec::SmallVec<[Datum; 2]>, _>>()?;
            if let Some(seen) = &mut cell.seen {
                let key = RowKey::new(args.to_vec(), types);
                if seen.contains(&key) {
                    continue;
                }
                self.memory.row(&args)?;
                seen.insert(key);
            }
            if call.order_by.is_empty() {
                cell.accumulator.accumulate(context, &args)?;
            } else {
                self.memory.row(&args)?;
                cell.waiting.push((key_values(&call.order_by, row, context)?, args.to_vec()));
            }
        }
        Ok(())
    }

    fn finish(self, context: &EvalContext<'_>) -> Result<Vec<Vec<Datum>>, SqlError> {
        let mut rows = Vec::with_capacity(self.list.len());
        for (mut row, cells) in self.list {
            // The set's number, if any, is the key's last value and comes last.
            for (mut cell, call) in cells.into_iter().zip(self.aggregates) {
                cell.waiting.sort_by(|a, b| compare_by_keys(&call.order_by, &a.0, &b.0));
                for (_, args) in cell.waiting {
                    cell.accumulator.accumulate(context, &args)?;
                }
                row.push(cell.accumulator.finish(context)?);
            }
            rows.push(row);
        }
        Ok(rows)
    }
}

impl AggregateState {
    pub(super) fn new(input: Operator) -> AggregateState {
        AggregateState { input, finished: None }
    }

    pub(super) async fn next(
        &mut self,
        input: &Plan,
        group: &[Expr],
        sets: Option<&[Vec<usize>]>,
        aggregates: &[AggregateCall],
        run: &mut Run<'_>,
    ) -> Result<Option<RowBatch>, SqlError> {
        if self.finished.is_none() {
            self.finished = Some(self.run(input, group, sets, aggregates, run).await?.into_iter());
        }
        let Some(rows) = &mut self.finished else { return Ok(None) };
        let width = group.len() + aggregates.len() + usize::from(sets.is_some());
        let mut batch = RowBatch::new(width);
        for row in rows.take(BATCH_ROWS) {
            batch.push(row);
        }
        Ok((!batch.is_empty()).then_some(batch))
    }

    async fn run(
        &mut self,
        input: &Plan,
        group: &[Expr],
        sets: Option<&[Vec<usize>]>,
        aggregates: &[AggregateCall],
        run: &mut Run<'_>,
    ) -> Result<Vec<Vec<Datum>>, SqlError> {
        let mut types: Vec<DataType> = group.iter().map(|g| g.ty().ty).collect();
        types.extend(sets.map(|_| DataType::INT4));
        let types = Arc::new(types);
        let mut groups = Groups {
            aggregates,
            arg_types: aggregates.iter().map(|a| Arc::new(a.args.iter().map(|arg| arg.ty().ty).collect())).collect(),
            by_key: HashMap::new(),
            list: Vec::new(),
            memory: MemoryUse::default(),
        };
        for empty in always_there(group, sets) {
            groups.group(RowKey::new(empty, &types))?;
        }
        while let Some(batch) = self.input.next(input, run).await? {
            let context = run.eval();
            for row in batch.rows() {
                let values = group.iter().map(|expr| eval(expr, row, &context)).collect::<Result<Vec<_>, _>>()?;
                let Some(sets) = sets else {
                    let at = if group.is_empty() { 0 } else { groups.group(RowKey::new(values, &types))? };
                    groups.add(at, row, &context)?;
                    continue;
                };
                for (number, kept) in sets.iter().enumerate() {
                    let mut key: Vec<Datum> =
                        values.iter().enumerate().map(|(i, v)| if kept.contains(&i) { v.clone() } else { Datum::Null }).collect();
                    key.push(Datum::Int4(number as i32));
                    let at = groups.group(RowKey::new(key, &types))?;
                    groups.add(at, row, &context)?;
                }
            }
        }
        let mut rows = groups.finish(&run.eval())?;
        if sets.is_some() {
            // group.., set number, aggregates.. -> group.., aggregates.., set number
            rows.iter_mut().for_each(|row| row[group.len()..].rotate_left(1));
        }
        Ok(rows)
    }
}

/// Groups that exist without any input row: that of an aggregate without GROUP BY, and those of empty grouping sets.
fn always_there(group: &[Expr], sets: Option<&[Vec<usize>]>) -> Vec<Vec<Datum>> {
    match sets {
        None if group.is_empty() => vec![Vec::new()],
        None => Vec::new(),
        Some(sets) => {
            let empty = sets.iter().enumerate().filter(|(_, kept)| kept.is_empty());
            empty
                .map(|(number, _)| {
                    let mut key = vec![Datum::Null; group.len()];
                    key.push(Datum::Int4(number as i32));
                    key
                })
                .collect()
        }
    }
}
