//! Grouping, in a hash table: one entry per group, one accumulator per aggregate in it.
//!
//! When the groups take more than `work_mem`, no more are made: rows of groups that are not in the table are put aside, and grouped afterwards
//! (`partitions`). Grouping sets stay in memory.
//!
//! DISTINCT and ORDER BY inside a call are done here: the arguments of a group are set aside, and fed at the end. With GROUPING SETS each input row goes into
//! one group of every set; the columns a set doesn't keep are NULL in its groups.

use super::RowBatch;
use super::batch::{BATCH_ROWS, MemoryUse};
use super::context::Run;
use super::key_table::KeyTable;
use super::operator::Operator;
use super::partitions::{Partitions, Source};
use super::row_file::RowReader;
use super::sort::{compare_by_keys, key_values};
use crate::error::SqlError;
use crate::expr::{EvalContext, Expr, eval_bool, eval_into};
use crate::functions::Accumulator;
use crate::plan::{AggregateCall, Plan};
use crate::types::{DataType, Datum};

/// The finished groups, handed out in batches.
pub(crate) struct AggregateState {
    input: Operator,
    finished: Option<std::vec::IntoIter<Vec<Datum>>>,
    /// Rows of groups that are still to be made, and how often they were put aside.
    aside: Vec<(RowReader, u32)>,
}

/// One aggregate over one group.
struct Cell {
    accumulator: Accumulator,
    seen: Option<Box<KeyTable>>,
    /// With ORDER BY: key values, arguments.
    waiting: Vec<(Vec<Datum>, Vec<Datum>)>,
}

struct Groups<'p> {
    aggregates: &'p [AggregateCall],
    keys: KeyTable,
    /// One per aggregate, group by group.
    cells: Vec<Cell>,
    /// What DISTINCT and ORDER BY set aside.
    memory: MemoryUse,
    /// Where rows go when the groups take this much memory.
    overflow: Option<Partitions>,
    work_mem: usize,
    /// Arguments of the call under way.
    args: Vec<Datum>,
}

impl Groups<'_> {
    fn group(&mut self, key: &[Datum]) -> Result<usize, SqlError> {
        let (number, new) = self.keys.insert(key)?;
        if new {
            self.keys.grow(self.aggregates.len() * size_of::<Cell>())?;
            self.cells.extend(self.aggregates.iter().map(Cell::new));
        }
        Ok(number)
    }

    /// The number of a row's group; `None` if the row was put aside.
    fn group_or_put_aside(&mut self, key: &[Datum], row: &[Datum]) -> Result<Option<usize>, SqlError> {
        match &mut self.overflow {
            Some(overflow) if self.keys.bytes() > self.work_mem => match self.keys.find(key) {
                None => overflow.put(self.keys.hash(key), row).map(|()| None),
                known => Ok(known),
            },
            _ => self.group(key).map(Some),
        }
    }

    fn add(&mut self, group: usize, row: &[Datum], context: &EvalContext<'_>) -> Result<(), SqlError> {
        let cells = &mut self.cells[group * self.aggregates.len()..];
        for (call, cell) in self.aggregates.iter().zip(cells) {
            cell.add(call, row, context, &mut self.args, &mut self.memory)?;
        }
        Ok(())
    }

    /// All rows of a batch are of one group: aggregate by aggregate.
    fn add_all(&mut self, group: usize, batch: &RowBatch, context: &EvalContext<'_>) -> Result<(), SqlError> {
        let cells = &mut self.cells[group * self.aggregates.len()..];
        for (call, cell) in self.aggregates.iter().zip(cells) {
            if call.args.is_empty() && call.is_plain() {
                cell.accumulator.count_rows(batch.len());
                continue;
            }
            for row in batch.rows() {
                cell.add(call, row, context, &mut self.args, &mut self.memory)?;
            }
        }
        Ok(())
    }

    /// The finished groups, without the rows that were put aside.
    fn finish(self, context: &EvalContext<'_>) -> Result<Vec<Vec<Datum>>, SqlError> {
        let mut rows = Vec::with_capacity(self.keys.len());
        let mut cells = self.cells.into_iter();
        for key in self.keys.keys() {
            // The set's number, if any, is the key's last value and comes last.
            let mut row = Vec::with_capacity(key.len() + self.aggregates.len());
            row.extend_from_slice(key);
            for (call, cell) in self.aggregates.iter().zip(cells.by_ref()) {
                row.push(cell.finish(call, context)?);
            }
            rows.push(row);
        }
        Ok(rows)
    }
}

impl Cell {
    fn new(call: &AggregateCall) -> Cell {
        let seen = call.distinct.then(|| Box::new(KeyTable::new(call.args.iter().map(|arg| arg.ty().ty).collect())));
        Cell { accumulator: call.function.accumulator(), seen, waiting: Vec::new() }
    }

    fn add(
        &mut self,
        call: &AggregateCall,
        row: &[Datum],
        context: &EvalContext<'_>,
        scratch: &mut Vec<Datum>,
        memory: &mut MemoryUse,
    ) -> Result<(), SqlError> {
        if let Some(filter) = &call.filter
            && !eval_bool(filter, row, context)?
        {
            return Ok(());
        }
        let args = match call.args.as_slice() {
            // What is there already need not be copied.
            [Expr::Column(column, _)] if *column < row.len() => &row[*column..=*column],
            args => {
                eval_into(args, row, context, scratch)?;
                scratch.as_slice()
            }
        };
        if let Some(seen) = &mut self.seen
            && !seen.insert(args)?.1
        {
            return Ok(());
        }
        if call.order_by.is_empty() {
            return self.accumulator.accumulate(context, args);
        }
        memory.row(args)?;
        self.waiting.push((key_values(&call.order_by, row, context)?, args.to_vec()));
        Ok(())
    }

    fn finish(mut self, call: &AggregateCall, context: &EvalContext<'_>) -> Result<Datum, SqlError> {
        self.waiting.sort_by(|a, b| compare_by_keys(&call.order_by, &a.0, &b.0));
        for (_, args) in self.waiting {
            self.accumulator.accumulate(context, &args)?;
        }
        self.accumulator.finish(context)
    }
}

impl AggregateState {
    pub(super) fn new(input: Operator) -> AggregateState {
        AggregateState { input, finished: None, aside: Vec::new() }
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
            Box::pin(self.pass(None, input, group, sets, aggregates, run)).await?;
        }
        let width = group.len() + aggregates.len() + usize::from(sets.is_some());
        loop {
            let mut batch = RowBatch::new(width);
            for row in self.finished.iter_mut().flatten().take(BATCH_ROWS) {
                batch.push(row);
            }
            if !batch.is_empty() {
                return Ok(Some(batch));
            }
            let Some(aside) = self.aside.pop() else { return Ok(None) };
            Box::pin(self.pass(Some(aside), input, group, sets, aggregates, run)).await?;
        }
    }

    /// Groups the input, or rows that were put aside.
    async fn pass(
        &mut self,
        aside: Option<(RowReader, u32)>,
        input: &Plan,
        group: &[Expr],
        sets: Option<&[Vec<usize>]>,
        aggregates: &[AggregateCall],
        run: &mut Run<'_>,
    ) -> Result<(), SqlError> {
        let level = aside.as_ref().map_or(0, |(_, level)| *level);
        let mut reader = aside.map(|(reader, _)| reader);
        let overflow = if group.is_empty() || sets.is_some() { None } else { Partitions::new(input, level, run) };
        let mut source = Source::of(reader.as_mut(), &mut self.input, input);
        let mut types: Vec<DataType> = group.iter().map(|g| g.ty().ty).collect();
        types.extend(sets.map(|_| DataType::INT4));
        let mut groups = Groups {
            aggregates,
            keys: KeyTable::new(types),
            cells: Vec::new(),
            memory: MemoryUse::default(),
            overflow,
            work_mem: run.ctx.work_mem,
            args: Vec::new(),
        };
        for empty in always_there(group, sets) {
            groups.group(&empty)?;
        }
        let mut key = Vec::with_capacity(group.len() + 1);
        while let Some(batch) = source.next(run).await? {
            let context = run.eval();
            if group.is_empty() && sets.is_none() {
                groups.add_all(0, &batch, &context)?;
                continue;
            }
            for row in batch.rows() {
                eval_into(group, row, &context, &mut key)?;
                let Some(sets) = sets else {
                    if let Some(at) = groups.group_or_put_aside(&key, row)? {
                        groups.add(at, row, &context)?;
                    }
                    continue;
                };
                for (number, kept) in sets.iter().enumerate() {
                    let mut of_set: Vec<Datum> =
                        key.iter().enumerate().map(|(i, value)| if kept.contains(&i) { value.clone() } else { Datum::Null }).collect();
                    of_set.push(Datum::Int4(number as i32));
                    let at = groups.group(&of_set)?;
                    groups.add(at, row, &context)?;
                }
            }
        }
        if let Some(overflow) = groups.overflow.take() {
            self.aside.extend(overflow.into_readers()?);
        }
        let mut rows = groups.finish(&run.eval())?;
        if sets.is_some() {
            // group.., set number, aggregates.. -> group.., aggregates.., set number
            rows.iter_mut().for_each(|row| row[group.len()..].rotate_left(1));
        }
        self.finished = Some(rows.into_iter());
        Ok(())
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
