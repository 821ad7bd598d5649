//! DEFERRABLE unique constraints and primary keys: duplicates are looked for at the statement's end, or at the transaction's.
//!
//! Their index keeps entries like one that is not unique (key columns, then the row's own key), so that two rows may share a key for a while. A statement notes
//! the keys it gave to rows, and at its end each is looked up: more than one entry is 23505. What is deferred goes to the transaction's
//! [`DeferredChecks`](super::foreign_key::DeferredChecks) and is looked up by SET CONSTRAINTS or COMMIT.
//!
//! **Others.** Entries of two transactions do not meet, so the *key itself*, without a row behind it, is written as a removed entry: its lock makes whoever checks the
//! same key second wait for the first, as PostgreSQL's second inserter waits. A key that a row gives up is guarded too, since its giving up may be rolled back.
//! Behind the guard the snapshot moves to the newest commit, and what is found there is final until the transaction ends.

use super::bulk_load::{could_not_create, row_of_entry};
use super::context::ExecContext;
use super::table_keys::key_of_values;
use super::write::{WRITE_ROWS, duplicate};
use crate::catalog::{IndexDescriptor, Oid, TableDescriptor};
use crate::error::{SqlError, SqlState};
use crate::exec::scan::whole_index;
use crate::types::Datum;
use hashbrown::HashMap;
use tidelock_base::{Key, Span};
use tidelock_kvapi::Limit;
use tidelock_kvclient::{ScanOptions, Write};

/// Keys that one statement, or what is deferred of a transaction, may still have to look up.
const PENDING_MAX: usize = 10_000_000;

/// Entries that a whole index is checked by at a time.
const PAGE_ENTRIES: u64 = 4096;

/// A key to be looked up.
#[derive(Clone, Debug)]
struct UniqueCheck {
    table: Oid,
    index: Oid,
    constraint: Oid,
    /// Of the key columns, in the key's order.
    values: Vec<Datum>,
    /// A row was given it: there may be one too many.
    given: bool,
    /// A row gave it up.
    given_up: bool,
}

/// Keys to be looked up, by what they are.
#[derive(Clone, Debug, Default)]
pub(super) struct UniqueChecks {
    checks: HashMap<Key, UniqueCheck>,
}

/// The key of an entry, without the row's own; None where NULLs make every row different.
fn shared_key(table: &TableDescriptor, index: &IndexDescriptor, row: &[Datum]) -> Result<Option<(Key, Vec<Datum>)>, SqlError> {
    let values: Vec<Datum> = index.key.iter().map(|part| row.get(part.column).cloned().unwrap_or(Datum::Null)).collect();
    if index.nulls_distinct && values.iter().any(Datum::is_null) {
        return Ok(None);
    }
    Ok(Some((key_of_values(table, index, &values)?, values)))
}

impl UniqueChecks {
    pub(super) fn is_empty(&self) -> bool {
        self.checks.is_empty()
    }

    /// A row was inserted.
    pub(super) fn inserted(&mut self, table: &TableDescriptor, row: &[Datum]) -> Result<(), SqlError> {
        table.indexes.iter().filter(|index| index.deferrable).try_for_each(|index| self.note(table, index, row, true))
    }

    /// A row was updated.
    pub(super) fn updated(&mut self, table: &TableDescriptor, old: &[Datum], new: &[Datum]) -> Result<(), SqlError> {
        for index in table.indexes.iter().filter(|index| index.deferrable) {
            let (before, after) = (shared_key(table, index, old)?, shared_key(table, index, new)?);
            if before.map(|(key, _)| key) != after.map(|(key, _)| key) {
                self.note(table, index, old, false)?;
                self.note(table, index, new, true)?;
            }
        }
        Ok(())
    }

    /// A row was deleted.
    pub(super) fn deleted(&mut self, table: &TableDescriptor, old: &[Datum]) -> Result<(), SqlError> {
        table.indexes.iter().filter(|index| index.deferrable).try_for_each(|index| self.note(table, index, old, false))
    }

    fn note(&mut self, table: &TableDescriptor, index: &IndexDescriptor, row: &[Datum], given: bool) -> Result<(), SqlError> {
        let Some((key, values)) = shared_key(table, index, row)? else { return Ok(()) };
        let constraint = table.uniques.iter().find(|unique| unique.index_oid == index.oid).map_or(0, |unique| unique.oid);
        let new = UniqueCheck { table: table.oid, index: index.oid, constraint, values, given: false, given_up: false };
        let check = self.checks.entry(key).or_insert(new);
        check.given |= given;
        check.given_up |= !given;
        self.check_bound()
    }

    fn check_bound(&self) -> Result<(), SqlError> {
        if self.checks.len() <= PENDING_MAX {
            return Ok(());
        }
        Err(SqlError::new(SqlState::OUT_OF_MEMORY, format!("more than {PENDING_MAX} keys of deferrable constraints are to be checked")))
    }

    /// The statement's end: looks up what is not deferred, and keeps the rest for later.
    pub(super) async fn finish(&mut self, ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
        if self.is_empty() {
            return Ok(());
        }
        let mut now = UniqueChecks::default();
        for (key, mut check) in std::mem::take(&mut self.checks) {
            if check.given && check.is_deferred(ctx) {
                let later = &mut ctx.state.deferred.unique;
                later.checks.insert(key.clone(), check.clone());
                later.check_bound()?;
                check.given = false;
            }
            if !check.given && !check.given_up {
                continue;
            }
            now.checks.insert(key, check);
        }
        now.settle(ctx).await
    }

    /// Takes out what is to be looked up now: everything, or the keys of some constraints.
    pub(super) fn take(&mut self, only: Option<&[Oid]>) -> UniqueChecks {
        let Some(only) = only else { return std::mem::take(self) };
        let (now, later) = std::mem::take(&mut self.checks).into_iter().partition(|(_, check)| only.contains(&check.constraint));
        self.checks = later;
        UniqueChecks { checks: now }
    }

    /// Guards all keys, then looks up those that rows were given.
    pub(super) async fn settle(self, ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
        if self.is_empty() {
            return Ok(());
        }
        let mut checks: Vec<(Key, UniqueCheck)> = self.checks.into_iter().collect();
        // In one order for all, so that two statements do not wait for each other.
        checks.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        ctx.txn.end_ingest(|index| checks.iter().any(|(key, _)| key.index() == index));
        for portion in checks.chunks(WRITE_ROWS) {
            let guards = portion.iter().map(|(key, _)| Write::DeleteEntry(key.clone())).collect();
            ctx.txn.write(guards).await.map_err(|e| ctx.kv(e))?;
        }
        ctx.txn.refresh().await.map_err(|e| ctx.kv(e))?;
        for (key, check) in checks.iter().filter(|(_, check)| check.given) {
            ctx.cancel.check()?;
            let options = ScanOptions { limit: Limit::Keys(2), ..ScanOptions::default() };
            let page = ctx.txn.scan(Span::prefix(key.clone()), &options).await.map_err(|e| ctx.kv(e))?;
            if page.rows.len() > 1 {
                return Err(check.violated(ctx));
            }
        }
        Ok(())
    }
}

impl UniqueCheck {
    fn is_deferred(&self, ctx: &ExecContext<'_>) -> bool {
        let index = ctx.catalog.table(self.table).and_then(|table| table.index_by_oid(self.index));
        ctx.state.constraint_timing.is_deferred(self.constraint).unwrap_or(index.is_some_and(|index| index.initially_deferred))
    }

    /// 23505.
    fn violated(&self, ctx: &ExecContext<'_>) -> SqlError {
        let Some(table) = ctx.catalog.table(self.table) else { return super::context::misfit() };
        let Some(place) = table.indexes.iter().position(|index| index.oid == self.index) else { return super::context::misfit() };
        let mut row = vec![Datum::Null; table.columns.len()];
        for (part, value) in table.indexes[place].key.iter().zip(&self.values) {
            if let Some(slot) = row.get_mut(part.column) {
                *slot = value.clone();
            }
        }
        duplicate(table, Some(place), &row, &ctx.text())
    }
}

/// Looks for duplicates among all rows: the constraint is new, or the table was written anew.
pub(super) async fn check_whole_index(table: &TableDescriptor, index: &IndexDescriptor, ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
    let mut rest = Some(whole_index(index));
    let mut last: Option<Key> = None;
    while let Some(span) = rest {
        ctx.cancel.check()?;
        let options = ScanOptions { limit: Limit::Keys(PAGE_ENTRIES), ..ScanOptions::default() };
        let page = ctx.txn.scan(span, &options).await.map_err(|e| ctx.kv(e))?;
        for entry in page.rows.iter() {
            let row = row_of_entry(table, index, entry.value)?;
            let key = shared_key(table, index, &row)?.map(|(key, _)| key);
            if key.is_some() && key == last {
                let place = table.indexes.iter().position(|known| known.oid == index.oid);
                return Err(could_not_create(index, duplicate(table, place, &row, &ctx.text())));
            }
            last = key;
        }
        rest = page.resume;
    }
    Ok(())
}
