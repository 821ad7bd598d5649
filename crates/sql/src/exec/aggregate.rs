//! Grouping, in a hash table: one entry per group, one accumulator per aggregate in it.
//!
//! When the groups take more than `work_mem`, no more are made: rows of groups that are not in the table are put aside, by their keys' hashes in one of
//! [`PARTITIONS`] files, and each file is grouped by itself afterwards, in the same way. (Grouping sets, and rows with columns that are
//! records, stay in memory.)
//!
//! DISTINCT and ORDER BY inside a call are done here: the arguments of a group are set aside, and fed at the end. With GROUPING SETS each input row goes into
//! one group of every set; the columns a set doesn't keep are NULL in its groups.

use super::RowBatch;
use super::batch::{BATCH_ROWS, MemoryUse};
use super::context::Run;
use super::key_table::KeyTable;
use super::operator::Operator;
use super::row_file::{RowReader, RowWriter, can_be_put_aside};
use super::sort::{compare_by_keys, key_values};
use crate::error::SqlError;
use crate::expr::{EvalContext, Expr, eval_bool, eval_into};
use crate::functions::Accumulator;
use crate::plan::{AggregateCall, Plan};
use crate::types::{DataType, Datum};
use std::path::PathBuf;
use std::sync::Arc;

/// Files that rows are put aside in.
const PARTITIONS: usize = 32;
/// How often rows that were put aside may be put aside again; then they stay in memory, and the bound of all steps holds.
const LEVELS_MAX: u32 = 6;

/// The finished groups, handed out in batches.
pub(crate) struct AggregateState {
    input: Operator,
    finished: Option<std::vec::IntoIter<Vec<Datum>>>,
    /// Rows of groups that are still to be made, and how often they were put aside.
    aside: Vec<(RowReader, u32)>,
}

/// Takes rows of groups for which there is no room.
struct Overflow {
    work_mem: usize,
    level: u32,
    dir: PathBuf,
    types: Arc<[DataType]>,
    files: [Option<RowWriter>; PARTITIONS],
}

impl Overflow {
    fn put(&mut self, hash: u64, row: &[Datum]) -> Result<(), SqlError> {
        // Each level looks at other bits: what is in one file must be told apart by the next.
        let file = &mut self.files[hash.rotate_right(self.level * PARTITIONS.ilog2()) as usize % PARTITIONS];
        let writer = match file {
            Some(writer) => writer,
            none => none.insert(RowWriter::new(&self.dir)?),
        };
        writer.push(row)
    }

    fn into_readers(self) -> Result<Vec<RowReader>, SqlError> {
        self.files.into_iter().flatten().map(|file| file.into_reader(&self.types)).collect()
    }
}

/// Where the rows of one pass come from.
enum Source<'o> {
    Input(&'o mut Operator, &'o Plan),
    Aside(RowReader),
}

impl Source<'_> {
    async fn next(&mut self, run: &mut Run<'_>) -> Result<Option<RowBatch>, SqlError> {
        match self {
            Source::Input(operator, plan) => operator.next(plan, run).await,
            Source::Aside(reader) => {
                run.give_way(BATCH_ROWS).await?;
                reader.next_batch()
            }
        }
    }
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
    /// Where rows go when there are groups enough.
    overflow: Option<Overflow>,
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
            Some(overflow) if self.keys.bytes() > overflow.work_mem => match self.keys.find(key) {
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
            self.pass(None, input, group, sets, aggregates, run).await?;
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
            self.pass(Some(aside), input, group, sets, aggregates, run).await?;
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
        let mut source = match aside {
            Some((reader, _)) => Source::Aside(reader),
            None => Source::Input(&mut self.input, input),
        };
        let row_types: Arc<[DataType]> = input.types.iter().map(|column| column.ty).collect();
        let overflows = !group.is_empty() && sets.is_none() && level < LEVELS_MAX && can_be_put_aside(&row_types);
        let overflow = overflows.then(|| Overflow {
            work_mem: run.ctx.work_mem,
            level,
            dir: run.ctx.spill_dir.to_owned(),
            types: row_types,
            files: [const { None }; PARTITIONS],
        });
        let mut types: Vec<DataType> = group.iter().map(|g| g.ty().ty).collect();
        types.extend(sets.map(|_| DataType::INT4));
        let mut groups =
            Groups { aggregates, keys: KeyTable::new(types), cells: Vec::new(), memory: MemoryUse::default(), overflow, args: Vec::new() };
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
            self.aside.extend(overflow.into_readers()?.into_iter().map(|reader| (reader, level + 1)));
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
