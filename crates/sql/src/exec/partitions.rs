//! Rows put aside in files, by the hashes of their keys: how steps that look rows up in a hash table do with `work_mem`.
//!
//! Rows with equal keys lie in one file. Each file is worked on by itself afterwards, in the same way: what is in it may be put aside again, at the next
//! *level*, where other bits of the hash count. Rows with columns that are records stay in memory.

use super::RowBatch;
use super::batch::BATCH_ROWS;
use super::context::Run;
use super::operator::Operator;
use super::row_file::{RowReader, RowWriter, can_be_put_aside};
use crate::error::SqlError;
use crate::expr::EvalContext;
use crate::plan::Plan;
use crate::types::{DataType, Datum};
use std::path::PathBuf;
use std::sync::Arc;

/// Files that rows are put aside in.
const PARTITIONS: usize = 32;
/// How often rows that were put aside may be put aside again; then they stay in memory, and the bound of all steps holds.
const LEVELS_MAX: u32 = 6;

/// Takes rows for which there is no room.
pub(super) struct Partitions {
    dir: PathBuf,
    level: u32,
    types: Arc<[DataType]>,
    files: [Option<RowWriter>; PARTITIONS],
}

impl Partitions {
    /// For the rows of a step's input that were put aside `level` times already. `None` if they have to stay in memory.
    pub(super) fn new(input: &Plan, level: u32, run: &Run<'_>) -> Option<Partitions> {
        let types: Arc<[DataType]> = input.types.iter().map(|column| column.ty).collect();
        let possible = level < LEVELS_MAX && can_be_put_aside(&types);
        possible.then(|| Partitions { dir: run.ctx.spill_dir.to_owned(), level, types, files: [const { None }; PARTITIONS] })
    }

    /// Puts a row aside, under the hash of its key.
    pub(super) fn put(&mut self, hash: u64, row: &[Datum]) -> Result<(), SqlError> {
        // Each level looks at other bits: what is in one file must be told apart by the next.
        let file = &mut self.files[hash.rotate_right(self.level * PARTITIONS.ilog2()) as usize % PARTITIONS];
        let writer = match file {
            Some(writer) => writer,
            none => none.insert(RowWriter::new(&self.dir)?),
        };
        writer.push(row)
    }

    /// Puts all rows aside that a source still has, each under the hash that `hash` gives.
    pub(super) async fn put_all(
        &mut self,
        source: &mut Source<'_>,
        run: &mut Run<'_>,
        mut hash: impl FnMut(&[Datum], &EvalContext<'_>) -> Result<u64, SqlError>,
    ) -> Result<(), SqlError> {
        while let Some(batch) = source.next(run).await? {
            let context = run.eval();
            batch.rows().try_for_each(|row| self.put(hash(row, &context)?, row))?;
        }
        Ok(())
    }

    /// The files that have rows, to be read, each with the level of its rows.
    pub(super) fn into_readers(self) -> Result<Vec<(RowReader, u32)>, SqlError> {
        let (types, level) = (self.types, self.level + 1);
        self.files.into_iter().flatten().map(|file| Ok((file.into_reader(&types)?, level))).collect()
    }

    /// The files of two inputs that were put aside by the hashes of equal keys, pair by pair.
    pub(super) fn into_pairs(self, other: Partitions) -> Result<Vec<Pair>, SqlError> {
        let level = self.level + 1;
        let mut pairs = Vec::new();
        for (left, right) in self.files.into_iter().zip(other.files) {
            if left.is_none() && right.is_none() {
                continue;
            }
            let reader = |file: Option<RowWriter>, types| match file {
                Some(file) => file.into_reader(types),
                None => RowWriter::new(&self.dir)?.into_reader(types),
            };
            pairs.push(Pair { left: reader(left, &self.types)?, right: reader(right, &other.types)?, level });
        }
        Ok(pairs)
    }
}

/// Rows of two inputs that may have equal keys.
pub(super) struct Pair {
    pub(super) left: RowReader,
    pub(super) right: RowReader,
    pub(super) level: u32,
}

/// Where the rows of one pass come from.
pub(super) enum Source<'o> {
    Input(&'o mut Operator, &'o Plan),
    Aside(&'o mut RowReader),
}

impl Source<'_> {
    /// From the input, unless rows were put aside.
    pub(super) fn of<'o>(aside: Option<&'o mut RowReader>, input: &'o mut Operator, plan: &'o Plan) -> Source<'o> {
        match aside {
            Some(reader) => Source::Aside(reader),
            None => Source::Input(input, plan),
        }
    }

    /// The next rows; `None` at the end.
    pub(super) async fn next(&mut self, run: &mut Run<'_>) -> Result<Option<RowBatch>, SqlError> {
        match self {
            Source::Input(operator, plan) => operator.next(plan, run).await,
            Source::Aside(reader) => {
                run.give_way(BATCH_ROWS).await?;
                reader.next_batch()
            }
        }
    }
}
