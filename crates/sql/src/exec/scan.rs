//! Reading a stored table.
//!
//! Three shapes, by what the plan binds: points (`Get`s, many in one request), spans of the primary index, and entries of a secondary index with the rows they
//! point to. Only the produced columns are decoded, and only they are remembered as read.
//!
//! **Locks.** A row is locked if and only if it passes the filter that the scan itself evaluates. Without a filter the read and the lock are one request. With one,
//! rows are read and filtered first, then the survivors locked, and looked at again if they changed in between: at READ COMMITTED a row that no longer
//! matches (its filter, or the bounds of the index it was found through) is left out, as PostgreSQL does; at the other levels the transaction has
//! refreshed or failed by then.

use super::RowBatch;
use super::batch::BATCH_ROWS;
use super::context::Run;
use super::filter::row_count;
use super::table_keys::{
    decode_entry, decode_row, decode_whole, entry_key, entry_places, index_id, key_of_values, primary_key_of_entry, span_keys,
};
use crate::ast::{RowLockStrength, RowLockWait};
use crate::error::SqlError;
use crate::expr::eval_bool;
use crate::plan::keys::concrete_spans;
use crate::plan::{Access, RowLock, Scan};
use crate::types::Datum;
use std::collections::VecDeque;
use tidelock_base::row::ColumnSet;
use tidelock_base::{Key, RowPage, RowRef, Span};
use tidelock_kvapi::{Limit, LockStrength, Row, WaitPolicy};
use tidelock_kvclient::{ReadOptions, ScanOptions};

/// The first page of a scan that will stop early.
const FIRST_PAGE_ROWS: u64 = 64;

/// How far a scan has come.
#[derive(Default)]
pub(crate) struct ScanState {
    opened: bool,
    /// Keys of single rows (or of single entries) still to be read.
    keys: VecDeque<Key>,
    /// Spans still to be read; the first may be the rest of one.
    spans: VecDeque<Span>,
    /// All spans, when rows found through an index have to be looked at again.
    bounds: Vec<Span>,
    places: Vec<usize>,
    /// Rows that LIMIT still wants.
    left: Option<u64>,
    page: u64,
}

/// A lock as the key-value floors name it.
pub(super) fn lock_strength(lock: RowLock) -> LockStrength {
    match lock.strength {
        RowLockStrength::KeyShare => LockStrength::KeyShare,
        RowLockStrength::Share => LockStrength::Share,
        RowLockStrength::NoKeyUpdate => LockStrength::NoKeyUpdate,
        RowLockStrength::Update => LockStrength::Update,
    }
}

/// What to do about others' locks.
pub(super) fn wait_policy(lock: RowLock) -> WaitPolicy {
    match lock.wait {
        RowLockWait::Block => WaitPolicy::Block,
        RowLockWait::NoWait => WaitPolicy::Error,
        RowLockWait::SkipLocked => WaitPolicy::Skip,
    }
}

/// How a scan reads: its columns matter, and its lock.
fn read_options(scan: &Scan, lock: Option<RowLock>) -> ReadOptions {
    ReadOptions {
        columns: scan.columns.iter().copied().collect::<ColumnSet>(),
        lock: lock.map(lock_strength),
        wait: lock.map_or(WaitPolicy::Block, wait_policy),
    }
}

impl ScanState {
    pub(super) async fn next(&mut self, scan: &Scan, run: &mut Run<'_>) -> Result<Option<RowBatch>, SqlError> {
        if !self.opened {
            self.open(scan, run)?;
        }
        if self.left == Some(0) {
            return Ok(None);
        }
        let batch = match (scan.index, self.keys.is_empty()) {
            (_, true) if self.spans.is_empty() => return Ok(None),
            (None, false) => {
                let keys: Vec<Key> = self.take_keys();
                self.rows_by_key(keys, scan, run).await?
            }
            (None, true) => self.primary_page(scan, run).await?,
            (Some(_), _) => self.entry_page(scan, run).await?,
        };
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(batch.len() as u64);
        }
        Ok(Some(batch))
    }

    fn open(&mut self, scan: &Scan, run: &Run<'_>) -> Result<(), SqlError> {
        self.opened = true;
        self.left = row_count(scan.limit.as_ref(), "LIMIT", run)?;
        self.page = if self.left.is_some() { FIRST_PAGE_ROWS } else { BATCH_ROWS as u64 };
        let spans = concrete_spans(scan, &run.eval())?;
        if matches!(scan.access, Access::Points(_)) {
            let keys = spans.iter().map(|span| key_of_values(&scan.table, scan.index(), &span.prefix));
            self.keys = keys.collect::<Result<_, _>>()?;
        } else {
            self.spans = spans.iter().map(|span| span_keys(&scan.table, scan.index(), span)).collect::<Result<_, _>>()?;
            self.spans.retain(|span| !span.is_empty());
        }
        if scan.reverse {
            self.keys.make_contiguous().reverse();
            self.spans.make_contiguous().reverse();
        }
        if scan.index.is_some() && scan.lock.is_some() {
            self.bounds = self.spans.iter().cloned().chain(self.keys.iter().cloned().map(Span::point)).collect();
        }
        if scan.covering {
            self.places = entry_places(&scan.table, scan.index(), &scan.columns);
        }
        Ok(())
    }

    fn take_keys(&mut self) -> Vec<Key> {
        let wanted = self.left.map_or(BATCH_ROWS, |left| usize::try_from(left).unwrap_or(BATCH_ROWS).min(BATCH_ROWS));
        let count = wanted.min(self.keys.len());
        self.keys.drain(..count).collect()
    }

    /// Rows to ask for in the next page.
    fn page_limit(&mut self, filtered: bool) -> Limit {
        let page = self.page;
        self.page = (page * 4).min(BATCH_ROWS as u64);
        match self.left {
            Some(left) if !filtered => Limit::Keys(left.min(BATCH_ROWS as u64)),
            Some(left) => Limit::Keys(page.max(left.min(BATCH_ROWS as u64))),
            None => Limit::Keys(BATCH_ROWS as u64),
        }
    }

    /// One page of the span under way.
    async fn page(&mut self, reverse: bool, read: ReadOptions, limit: Limit, run: &mut Run<'_>) -> Result<RowPage, SqlError> {
        let Some(span) = self.spans.pop_front() else { return Ok(RowPage::default()) };
        let options = ScanOptions { read, reverse, limit };
        let page = run.ctx.txn.scan(span, &options).await;
        let page = page.map_err(|e| run.kv(e))?;
        if let Some(rest) = page.resume {
            self.spans.push_front(rest);
        }
        Ok(page.rows)
    }

    async fn primary_page(&mut self, scan: &Scan, run: &mut Run<'_>) -> Result<RowBatch, SqlError> {
        let lock_at_once = scan.lock.filter(|_| scan.filter.is_none());
        let limit = self.page_limit(scan.filter.is_some());
        let rows = self.page(scan.reverse, read_options(scan, lock_at_once), limit, run).await?;
        if scan.lock.is_some() && lock_at_once.is_none() {
            return self.filter_then_lock(rows.iter(), scan, run).await;
        }
        let mut batch = RowBatch::new(scan.columns.len());
        for row in rows.iter() {
            push_matching(&mut batch, scan, row.value, run)?;
            if self.is_enough(&batch) {
                break;
            }
        }
        Ok(batch)
    }

    fn is_enough(&self, batch: &RowBatch) -> bool {
        self.left.is_some_and(|left| batch.len() as u64 >= left)
    }

    /// Rows by their primary keys: found, filtered, locked as the scan says.
    async fn rows_by_key(&mut self, keys: Vec<Key>, scan: &Scan, run: &mut Run<'_>) -> Result<RowBatch, SqlError> {
        let lock_at_once = scan.lock.filter(|_| scan.filter.is_none());
        let rows = run.ctx.txn.get(&keys, &read_options(scan, lock_at_once)).await;
        let rows: Vec<Row> = rows.map_err(|e| run.kv(e))?.into_iter().flatten().collect();
        if scan.lock.is_some() && lock_at_once.is_none() {
            return self.filter_then_lock(rows.iter().map(Row::as_ref), scan, run).await;
        }
        let mut batch = RowBatch::new(scan.columns.len());
        for row in &rows {
            if lock_at_once.is_none() || self.still_in_bounds(row, scan, run)? {
                push_matching(&mut batch, scan, &row.value, run)?;
            }
            if self.is_enough(&batch) {
                break;
            }
        }
        Ok(batch)
    }

    /// Rows read without a lock: those that pass the filter are locked, and looked at again if they had changed.
    async fn filter_then_lock(
        &mut self,
        rows: impl Iterator<Item = RowRef<'_>>,
        scan: &Scan,
        run: &mut Run<'_>,
    ) -> Result<RowBatch, SqlError> {
        let mut batch = RowBatch::new(scan.columns.len());
        let mut survivors = RowBatch::new(scan.columns.len());
        let mut candidates: VecDeque<Key> = VecDeque::new();
        for row in rows {
            if push_matching(&mut survivors, scan, row.value, run)? {
                candidates.push_back(row.to_key());
            }
        }
        while !candidates.is_empty() && !self.is_enough(&batch) {
            let wanted = self.left.map_or(usize::MAX, |left| usize::try_from(left).unwrap_or(usize::MAX) - batch.len());
            let keys: Vec<Key> = candidates.drain(..wanted.min(candidates.len())).collect();
            let locked = run.ctx.txn.get(&keys, &read_options(scan, scan.lock)).await;
            for row in locked.map_err(|e| run.kv(e))?.into_iter().flatten() {
                if self.still_in_bounds(&row, scan, run)? {
                    push_matching(&mut batch, scan, &row.value, run)?;
                }
            }
        }
        Ok(batch)
    }

    /// Whether a row that was found through an index entry still belongs there: it may have changed before it was locked.
    fn still_in_bounds(&self, row: &Row, scan: &Scan, run: &mut Run<'_>) -> Result<bool, SqlError> {
        if self.bounds.is_empty() || row.ts <= run.ctx.txn.read_ts() {
            return Ok(true);
        }
        let whole = decode_whole(&scan.table, &row.value)?;
        let key = entry_key(&scan.table, scan.index(), &whole)?;
        Ok(self.bounds.iter().any(|span| span.contains(&key)))
    }

    /// Entries of a secondary index, and the rows they point to.
    async fn entry_page(&mut self, scan: &Scan, run: &mut Run<'_>) -> Result<RowBatch, SqlError> {
        // An entry changes only when what it says changes: all its columns matter.
        let read = ReadOptions::default();
        let entries: RowPage = if self.keys.is_empty() {
            let limit = self.page_limit(scan.filter.is_some());
            self.page(scan.reverse, read, limit, run).await?
        } else {
            let keys = self.take_keys();
            let found = run.ctx.txn.get(&keys, &read).await.map_err(|e| run.kv(e))?;
            found.iter().flatten().map(Row::as_ref).collect()
        };
        if !scan.covering {
            let keys = entries.iter().map(|entry| primary_key_of_entry(&scan.table, entry.value)).collect::<Result<Vec<_>, _>>()?;
            return self.rows_by_key(keys, scan, run).await;
        }
        let mut batch = RowBatch::new(scan.columns.len());
        let context = run.eval();
        for entry in entries.iter() {
            let fill = |out: &mut Vec<Datum>| decode_entry(&scan.table, &scan.columns, &self.places, entry.value, out);
            batch.try_push(fill, |row| scan.filter.as_ref().map_or(Ok(true), |f| eval_bool(f, row, &context)))?;
            if self.is_enough(&batch) {
                break;
            }
        }
        Ok(batch)
    }
}

/// Decodes a row's columns into the batch, if the filter lets it pass.
pub(super) fn push_matching(batch: &mut RowBatch, scan: &Scan, value: &[u8], run: &Run<'_>) -> Result<bool, SqlError> {
    let context = run.eval();
    let fill = |out: &mut Vec<Datum>| decode_row(&scan.table, &scan.columns, value, out);
    batch.try_push(fill, |row| scan.filter.as_ref().map_or(Ok(true), |f| eval_bool(f, row, &context)))
}

/// The span of all rows of an index.
pub(super) fn whole_index(index: &crate::catalog::IndexDescriptor) -> Span {
    Span::index(index_id(index))
}

/// A single row by its full primary key, without an operator: decoded columns, or None. The hot path of point reads.
pub(super) async fn point_row(scan: &Scan, run: &mut Run<'_>, out: &mut Vec<Datum>) -> Result<Option<bool>, SqlError> {
    let spans = concrete_spans(scan, &run.eval())?;
    let [span] = spans.as_slice() else {
        return Ok(if spans.is_empty() { Some(false) } else { None });
    };
    let key = key_of_values(&scan.table, scan.index(), &span.prefix)?;
    let row = run.ctx.txn.get_one(key, &read_options(scan, scan.lock)).await;
    let Some(row) = row.map_err(|e| run.kv(e))? else { return Ok(Some(false)) };
    decode_row(&scan.table, &scan.columns, &row.value, out)?;
    match &scan.filter {
        Some(filter) => eval_bool(filter, out, &run.eval()).map(Some),
        None => Ok(Some(true)),
    }
}
