//! INTERSECT and EXCEPT: the right side is counted in a hash table, the left one decides.
//!
//! When the counts take more than `work_mem`, both sides are put aside, equal rows in a pair of files, and worked on pair by pair (`partitions`). EXCEPT
//! also remembers what it gave; when that is too much, left rows that were not seen yet are put aside.

use super::RowBatch;
use super::context::Run;
use super::key_table::KeyTable;
use super::operator::Operator;
use super::partitions::{Pair, Partitions, Source};
use super::row_file::RowReader;
use crate::ast::SetOp;
use crate::error::SqlError;
use crate::plan::Plan;
use crate::types::{DataType, Datum};

/// Both sides, and what is known of the right one.
pub(crate) struct SetOpState {
    left: Operator,
    right: Operator,
    counts: Option<Counts>,
    /// The left rows that the counts are for, if they were put aside.
    left_rows: Option<RowReader>,
    /// Where left rows go for which there is no room among what was given, with files for right rows, of which there are none.
    overflow: Option<(Partitions, Partitions)>,
    aside: Vec<Pair>,
}

/// How often each row of the right side may still be matched.
struct Counts {
    rows: KeyTable,
    left: Vec<u64>,
}

impl SetOpState {
    pub(super) fn new(left: Operator, right: Operator) -> SetOpState {
        SetOpState { left, right, counts: None, left_rows: None, overflow: None, aside: Vec::new() }
    }

    pub(super) async fn next(
        &mut self,
        op: SetOp,
        all: bool,
        left: &Plan,
        right: &Plan,
        run: &mut Run<'_>,
    ) -> Result<Option<RowBatch>, SqlError> {
        if self.counts.is_none() {
            Box::pin(self.count(None, left, right, run)).await?;
        }
        loop {
            // Counting may have put everything aside.
            let batch = match &mut self.counts {
                Some(_) => Source::of(self.left_rows.as_mut(), &mut self.left, left).next(run).await?,
                None => None,
            };
            let (Some(mut batch), Some(counts)) = (batch, &mut self.counts) else {
                if let Some((left_files, right_files)) = self.overflow.take() {
                    self.aside.extend(left_files.into_pairs(right_files)?);
                }
                let Some(pair) = self.aside.pop() else { return Ok(None) };
                Box::pin(self.count(Some(pair), left, right, run)).await?;
                continue;
            };
            let (overflow, work_mem) = (&mut self.overflow, run.ctx.work_mem);
            batch.retain(|row| match (op, all) {
                (SetOp::Intersect, false) => Ok(counts.take_all(row)),
                (SetOp::Intersect, true) => Ok(counts.take_one(row)),
                (_, true) => Ok(!counts.take_one(row)),
                // Each row of the left side once: what was given is as good as excluded.
                (_, false) => match overflow {
                    Some((left_files, _)) if counts.rows.bytes() > work_mem => {
                        if counts.rows.find(row).is_none() {
                            left_files.put(counts.rows.hash(row), row)?;
                        }
                        Ok(false)
                    }
                    _ => counts.add(row).map(|(_, new)| new),
                },
            })?;
            return Ok(Some(batch));
        }
    }

    /// Counts the right side's rows, or those of a pair that was put aside; or puts both sides aside, when there are too many.
    async fn count(&mut self, pair: Option<Pair>, left: &Plan, right: &Plan, run: &mut Run<'_>) -> Result<(), SqlError> {
        let level = pair.as_ref().map_or(0, |pair| pair.level);
        let (mut left_rows, mut right_rows) = pair.map(|pair| (pair.left, pair.right)).unzip();
        let mut counts = Counts::new(left.types.iter().map(|column| column.ty).collect());
        let mut source = Source::of(right_rows.as_mut(), &mut self.right, right);
        while let Some(batch) = source.next(run).await? {
            for row in batch.rows() {
                counts.add(row)?;
            }
            if counts.rows.bytes() <= run.ctx.work_mem {
                continue;
            }
            let files = (Partitions::new(left, level, run), Partitions::new(right, level, run));
            let (Some(mut left_files), Some(mut right_files)) = files else { continue };
            counts.put_aside(&mut right_files)?;
            let rows = &counts.rows;
            right_files.put_all(&mut source, run, |row, _| Ok(rows.hash(row))).await?;
            let mut source = Source::of(left_rows.as_mut(), &mut self.left, left);
            left_files.put_all(&mut source, run, |row, _| Ok(rows.hash(row))).await?;
            self.aside.extend(left_files.into_pairs(right_files)?);
            (self.counts, self.left_rows) = (None, None);
            return Ok(());
        }
        self.overflow = Partitions::new(left, level, run).zip(Partitions::new(right, level, run));
        (self.counts, self.left_rows) = (Some(counts), left_rows);
        Ok(())
    }
}

impl Counts {
    fn new(types: Vec<DataType>) -> Counts {
        Counts { rows: KeyTable::new(types), left: Vec::new() }
    }

    /// Puts every row aside as often as it was counted. What stays is how they hash.
    fn put_aside(&mut self, files: &mut Partitions) -> Result<(), SqlError> {
        for (row, count) in self.rows.keys().zip(&self.left) {
            let hash = self.rows.hash(row);
            (0..*count).try_for_each(|_| files.put(hash, row))?;
        }
        self.rows.clear();
        self.left = Vec::new();
        Ok(())
    }

    fn add(&mut self, row: &[Datum]) -> Result<(usize, bool), SqlError> {
        let (number, new) = self.rows.insert(row)?;
        if new {
            self.left.push(0);
        }
        self.left[number] += 1;
        Ok((number, new))
    }

    fn take_one(&mut self, row: &[Datum]) -> bool {
        self.take(row, |left| left - 1)
    }

    fn take_all(&mut self, row: &[Datum]) -> bool {
        self.take(row, |_| 0)
    }

    fn take(&mut self, row: &[Datum], rest: impl FnOnce(u64) -> u64) -> bool {
        match self.rows.find(row).map(|number| &mut self.left[number]) {
            Some(left) if *left > 0 => {
                *left = rest(*left);
                true
            }
            _ => false,
        }
    }
}
