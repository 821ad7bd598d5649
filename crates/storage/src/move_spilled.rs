//! The end of spilled rows: moved to `latest` when their transaction committed, deleted with their table when it did not, or later.
//!
//! Part of a fold pass, after all that was installed before the pass is in redb (`spill` says why that order matters). A large transaction
//! takes several passes, so that the memtables are folded in between.

use crate::error::StorageError;
use crate::fold::{Folder, Pass, Slice, Tables, is_full};
use crate::memtable::shard_of;
use crate::spill::{Ending, SequenceRanges, SpillEnd, SpilledCommit, outcome, scan_from};
use std::ops::{Bound, ControlFlow};
use std::sync::atomic::Ordering;
use tidelock_base::{IndexId, Key, Timestamp, TxnId, Value};

/// Rows moved in one pass: about ten slices, or a second.
const ROWS_PER_PASS: u64 = 200_000;

impl Pass<'_> {
    /// Deals with those who ended before the pass began.
    pub(crate) fn end_spilled(&mut self, ended: Vec<Ending>) -> Result<(), StorageError> {
        let mut unfinished = Vec::new();
        let mut finished = Vec::new();
        let mut budget = ROWS_PER_PASS;
        for mut ending in ended {
            match &ending.end {
                SpillEnd::Abort => self.drop_spilled(ending.txn)?,
                SpillEnd::Commit { pin, ignored } => {
                    let (ts, ignored) = (pin.ts(), ignored.clone());
                    if !self.move_rows(ending.txn, ts, &ignored, &mut ending.from, &mut budget)? {
                        unfinished.push(ending);
                        continue;
                    }
                }
            }
            finished.push(ending);
        }
        self.commit_slice()?;
        self.folder.spills.put_back(unfinished);
        let committed = finished.iter().filter(|ending| matches!(ending.end, SpillEnd::Commit { .. }));
        committed.for_each(|ending| self.folder.spills.note_moved(ending.txn, ending.segment));
        finished.into_iter().for_each(|ending| (ending.done)(Ok(())));
        Ok(())
    }

    /// The log was cut: tables that only a replay could have needed go.
    pub(crate) fn drop_moved(&mut self, floor: u64) -> Result<(), StorageError> {
        for txn in self.folder.spills.take_moved_below(floor) {
            self.drop_spilled(txn)?;
        }
        self.commit_slice()
    }

    fn drop_spilled(&mut self, txn: TxnId) -> Result<(), StorageError> {
        let slice = self.slice()?;
        slice.write.drop_spilled(txn)?;
        slice.changed = true;
        self.folder.spills.forget(txn);
        Ok(())
    }

    /// Moves rows from `from` on until the budget is used up; were those all?
    fn move_rows(
        &mut self,
        txn: TxnId,
        ts: Timestamp,
        ignored: &SequenceRanges,
        from: &mut Bound<Key>,
        budget: &mut u64,
    ) -> Result<bool, StorageError> {
        let folder = self.folder;
        loop {
            // Looked up anew for each slice, so that no snapshot of redb lives longer than one.
            let Some(table) = folder.spills.table(txn) else { return Ok(true) };
            let slice = self.slice()?;
            slice.changed = true;
            let mut mover = Mover { folder, slice, ts, ignored, moved: 0 };
            let full_at = mover.fill(&table, from)?;
            let moved = mover.moved;
            folder.spills.moved.fetch_add(moved, Ordering::Relaxed);
            *budget = budget.saturating_sub(moved);
            let Some(last) = full_at else { return Ok(true) };
            *from = Bound::Excluded(last);
            self.next_slice()?;
            if *budget == 0 {
                return Ok(false);
            }
        }
    }
}

/// Moves rows into one slice.
struct Mover<'a> {
    folder: &'a Folder,
    slice: &'a mut Slice,
    ts: Timestamp,
    ignored: &'a SequenceRanges,
    moved: u64,
}

/// Rows of one index, ready to be put into its table.
type Run = Vec<(Key, Option<Value>)>;

/// Rows gathered before an index's table is opened for them.
const RUN_ROWS: usize = 1024;

impl Mover<'_> {
    /// Moves rows until the slice is full (the last key moved) or the transaction's rows end (`None`).
    fn fill(&mut self, table: &crate::base::Spilled, from: &Bound<Key>) -> Result<Option<Key>, StorageError> {
        let mut from = from.clone();
        loop {
            let (index, run, last) = self.gather(table, &from)?;
            let Some(last) = last else { return Ok(None) };
            self.put(index, run)?;
            if is_full(self.slice.rows, self.slice.ends_at) {
                return Ok(Some(last));
            }
            from = Bound::Excluded(last);
        }
    }

    /// The next rows that belong to one index, and the last key looked at.
    fn gather(&self, table: &crate::base::Spilled, from: &Bound<Key>) -> Result<(IndexId, Run, Option<Key>), StorageError> {
        let mut index = None;
        let mut run = Run::new();
        let mut last = None;
        scan_from(table, from, &mut |key, versions| {
            if *index.get_or_insert(shard_of(&key)) != shard_of(&key) {
                return Ok(ControlFlow::Break(()));
            }
            last = Some(key.clone());
            if let Some(value) = outcome(versions, self.ignored) {
                run.push((key, value));
            }
            Ok(if run.len() >= RUN_ROWS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok((index.unwrap_or_default(), run, last))
    }

    fn put(&mut self, index: IndexId, run: Run) -> Result<(), StorageError> {
        let folder = self.folder;
        // The index may have been dropped since; and if it is new, readers have no shard of it yet.
        if run.is_empty() || !folder.memtables.add(index, None) {
            return Ok(());
        }
        let rows = run.len();
        let mut tables = Tables::open(self.slice, &folder.sizes, index)?;
        for (key, value) in run {
            tables.fold_over_older(&key, self.ts, value)?;
        }
        let added = tables.history_added();
        drop(tables);
        self.slice.rows += rows;
        self.slice.moved_into.insert(index);
        self.moved += rows as u64;
        folder.note_history(index, added);
        Ok(())
    }
}

impl Folder {
    /// Recovery has come to the commit record of a transaction that spilled. All that the log said before is folded first, so that nothing
    /// older can come to lie over what is moved, then its rows are moved, which may have happened before. The table stays until the log is cut.
    pub(crate) fn recover_spilled(&self, commit: &SpilledCommit) -> Result<(), StorageError> {
        let mut pass = Pass::new(self, None);
        pass.fold_all()?;
        pass.commit_slice()?;
        if self.spills.table(commit.txn).is_none() {
            return Ok(());
        }
        let (mut from, mut no_limit) = (Bound::Unbounded, u64::MAX);
        pass.move_rows(commit.txn, commit.ts, &commit.ignored, &mut from, &mut no_limit)?;
        self.spills.note_moved(commit.txn, commit.segment);
        pass.commit_slice()
    }

    /// After recovery: whoever has spilled and not committed never will.
    pub(crate) fn drop_uncommitted(&self) -> Result<(), StorageError> {
        let mut pass = Pass::new(self, None);
        let committed = self.spills.moved();
        for txn in self.spills.transactions().into_iter().filter(|txn| !committed.contains(txn)) {
            pass.drop_spilled(txn)?;
        }
        pass.commit_slice()
    }
}
