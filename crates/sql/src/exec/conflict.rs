//! INSERT ... ON CONFLICT.
//!
//! A batch of proposed rows is decided before it is written: the arbiters' keys are looked up in one request per index, each row becomes an insert, an
//! update of the row in its way, or nothing, and all that is one batch of writes. Should an insert meet a row after all, that a concurrent transaction
//! committed after our snapshot, the batch is taken back and decided again with locking lookups, which see the newest rows.

use super::calls::check_statements;
use super::context::Run;
use super::scan::lock_strength;
use super::subplan::SubPlanValues;
use super::table_keys::{decode_whole, entry_key, is_exclusive, primary_key, primary_key_of_entry};
use super::write::{TableWriter, check_row, duplicate, fill_generated};
use crate::error::{SqlError, SqlState};
use crate::expr::{eval, eval_bool};
use crate::plan::{ConflictPlan, ConflictUpdate, InsertPlan};
use crate::types::Datum;
use hashbrown::{HashMap, HashSet};
use tidelock_base::Key;
use tidelock_base::row::ColumnSet;
use tidelock_kvapi::{KvError, LockStrength, WaitPolicy};
use tidelock_kvclient::ReadOptions;

/// How often a batch is decided anew before its conflict is reported.
const ATTEMPTS_MAX: usize = 20;

/// Rows that the command has inserted or updated: it must not affect one twice.
#[derive(Default)]
pub(super) struct ConflictState {
    touched: HashSet<Key>,
    /// Values of subqueries in DO UPDATE.
    subplans: SubPlanValues,
}

/// A row that was written.
pub(super) struct WrittenRow {
    /// What was there, for an update.
    pub(super) old: Option<Vec<Datum>>,
    pub(super) new: Vec<Datum>,
}

/// Rows in the way, by the arbiter's key: the row's own key and its image.
type Existing = HashMap<Key, (Key, Vec<Datum>)>;

/// One arbiter's key for one proposed row: (arbiter, its key).
type ArbiterKey = (Option<usize>, Key);

impl ConflictState {
    pub(super) async fn insert(
        &mut self,
        plan: &InsertPlan,
        conflict: &ConflictPlan,
        rows: &[&[Datum]],
        writer: &mut TableWriter,
        run: &mut Run<'_>,
    ) -> Result<Vec<WrittenRow>, SqlError> {
        let mut keys = Vec::with_capacity(rows.len());
        for row in rows {
            keys.push(arbiter_keys(plan, conflict, row, writer, run)?);
        }
        let mut duplicate_row = None;
        for attempt in 0..ATTEMPTS_MAX {
            let savepoint = run.ctx.txn.savepoint();
            if attempt > 0 {
                // READ COMMITTED locks only what its snapshot shows.
                let refreshed = run.ctx.txn.refresh().await;
                refreshed.map_err(|refused| match refused {
                    KvError::ReadChanged { key, at } => run.kv(KvError::WriteTooOld { key, newer: at }),
                    other => run.kv(other),
                })?;
            }
            let mut existing = lookup(plan, conflict, &keys, attempt > 0, run).await?;
            if conflict.update.is_none() && !existing.is_empty() {
                await_removals(&mut existing, run).await?;
            }
            let mut touched = Vec::new();
            let written = self.decide(plan, conflict, rows, &keys, &existing, &mut touched, writer, run).await?;
            match writer.flush(run).await? {
                None => {
                    self.touched.extend(touched);
                    return Ok(written);
                }
                Some(origin) => {
                    let row = written.get(origin.row).map(|w| w.new.clone()).unwrap_or_default();
                    let error = duplicate(&plan.table, origin.index, &row, &run.ctx.text());
                    // Not an arbiter's conflict (or DO UPDATE made a duplicate itself): that is an error.
                    let is_insert = written.get(origin.row).is_some_and(|w| w.old.is_none());
                    if !conflict.arbiters.contains(&origin.index) || !is_insert {
                        return Err(error);
                    }
                    duplicate_row = Some(error);
                    let undone = run.ctx.txn.rollback_to(&savepoint).await;
                    undone.map_err(|e| run.kv(e))?;
                }
            }
        }
        Err(duplicate_row.unwrap_or_else(super::context::misfit))
    }

    #[allow(clippy::too_many_arguments)] // what one batch is about
    async fn decide(
        &mut self,
        plan: &InsertPlan,
        conflict: &ConflictPlan,
        rows: &[&[Datum]],
        keys: &[Vec<ArbiterKey>],
        existing: &Existing,
        touched: &mut Vec<Key>,
        writer: &mut TableWriter,
        run: &mut Run<'_>,
    ) -> Result<Vec<WrittenRow>, SqlError> {
        let mut proposed: HashSet<&Key> = HashSet::new();
        let mut updated: HashSet<Key> = HashSet::new();
        let mut written = Vec::new();
        for (row, keys) in rows.iter().zip(keys) {
            let repeats = keys.iter().any(|(_, key)| proposed.contains(key));
            let in_the_way = keys.iter().find_map(|(_, key)| existing.get(key));
            match (&conflict.update, in_the_way) {
                (None, Some(_)) => {}
                (None, None) if repeats => {}
                (Some(_), _) if repeats => return Err(second_time()),
                (Some(update), Some((key, old))) => {
                    if self.touched.contains(key) || updated.contains(key) {
                        return Err(second_time());
                    }
                    if let Some(new) = self.updated_row(plan, update, old, row, run).await? {
                        let key = writer.update(old, &new, written.len(), &run.eval())?;
                        updated.insert(key.clone());
                        touched.push(key);
                        written.push(WrittenRow { old: Some(old.clone()), new });
                    }
                }
                (_, None) => {
                    touched.push(writer.insert(row, written.len(), &run.eval())?);
                    proposed.extend(keys.iter().map(|(_, key)| key));
                    written.push(WrittenRow { old: None, new: row.to_vec() });
                }
            }
        }
        Ok(written)
    }
}

fn second_time() -> SqlError {
    let message = "ON CONFLICT DO UPDATE command cannot affect row a second time";
    SqlError::new(SqlState::CARDINALITY_VIOLATION, message)
        .hint("Ensure that no rows proposed for insertion within the same command have duplicate constrained values.")
}

fn arbiter_keys(
    plan: &InsertPlan,
    conflict: &ConflictPlan,
    row: &[Datum],
    writer: &TableWriter,
    run: &Run<'_>,
) -> Result<Vec<ArbiterKey>, SqlError> {
    let mut keys = Vec::with_capacity(conflict.arbiters.len());
    for arbiter in &conflict.arbiters {
        match arbiter.and_then(|place| plan.table.indexes.get(place).map(|index| (place, index))) {
            None => keys.push((None, primary_key(&plan.table, row)?)),
            Some((place, index)) => {
                if is_exclusive(index, row) && writer.has_entry(place, row, &run.eval())? {
                    keys.push((Some(place), entry_key(&plan.table, index, row)?));
                }
            }
        }
    }
    Ok(keys)
}

/// The rows that are in the way, locked as the plan says; with `newest` they are locked in any case, so that none is overlooked.
async fn lookup(
    plan: &InsertPlan,
    conflict: &ConflictPlan,
    keys: &[Vec<ArbiterKey>],
    newest: bool,
    run: &mut Run<'_>,
) -> Result<Existing, SqlError> {
    let planned = conflict.update.as_ref().and_then(|u| u.lock).map(lock_strength);
    let forced = if conflict.update.is_some() { LockStrength::Update } else { LockStrength::KeyShare };
    let lock = planned.or(newest.then_some(forced));
    let columns = if conflict.update.is_some() { ColumnSet::ALL } else { ColumnSet::NONE };
    let row_options = ReadOptions { columns, lock, wait: WaitPolicy::Block };
    let entry_options = ReadOptions { columns: ColumnSet::ALL, lock: newest.then_some(LockStrength::KeyShare), wait: WaitPolicy::Block };

    let mut existing = Existing::new();
    let mut wanted: Vec<(Key, Key)> = Vec::new();
    let mut entries: Vec<Key> = Vec::new();
    for (arbiter, key) in keys.iter().flatten() {
        match arbiter {
            None => wanted.push((key.clone(), key.clone())),
            Some(_) => entries.push(key.clone()),
        }
    }
    let found = run.ctx.txn.get(&entries, &entry_options).await;
    for row in found.map_err(|e| run.kv(e))?.into_iter().flatten() {
        wanted.push((row.key, primary_key_of_entry(&plan.table, &row.value)?));
    }
    let primary: Vec<Key> = wanted.iter().map(|(_, primary)| primary.clone()).collect();
    let found = run.ctx.txn.get(&primary, &row_options).await;
    for ((arbiter, _), row) in wanted.into_iter().zip(found.map_err(|e| run.kv(e))?) {
        if let Some(row) = row {
            existing.insert(arbiter, (row.key, decode_whole(&plan.table, &row.value)?));
        }
    }
    Ok(existing)
}

/// DO NOTHING: a row that is being deleted is in the way only if that is rolled back. The locks that the question takes are given back.
async fn await_removals(existing: &mut Existing, run: &mut Run<'_>) -> Result<(), SqlError> {
    let options = ReadOptions { columns: ColumnSet::NONE, lock: Some(LockStrength::KeyShare), wait: WaitPolicy::Block };
    let savepoint = run.ctx.txn.savepoint();
    let keys: Vec<Key> = existing.values().map(|(key, _)| key.clone()).collect();
    let found = run.ctx.txn.get(&keys, &options).await.map_err(|e| run.kv(e))?;
    let still: HashSet<Key> = found.into_iter().flatten().map(|row| row.key).collect();
    existing.retain(|_, (key, _)| still.contains(key));
    run.ctx.txn.rollback_to(&savepoint).await.map_err(|e| run.kv(e))
}

impl ConflictState {
    /// The existing row's new image; None when WHERE says to leave it.
    async fn updated_row(
        &mut self,
        plan: &InsertPlan,
        update: &ConflictUpdate,
        old: &[Datum],
        proposed: &[Datum],
        run: &mut Run<'_>,
    ) -> Result<Option<Vec<Datum>>, SqlError> {
        let mut both = [old, proposed].concat();
        self.subplans.append(&update.subplans, &mut both, run).await?;
        let context = run.eval();
        if let Some(filter) = &update.filter
            && !eval_bool(filter, &both, &context)?
        {
            return Ok(None);
        }
        let mut new = old.to_vec();
        for (position, value) in &update.assignments {
            let value = eval(value, &both, &context)?;
            if let Some(slot) = new.get_mut(*position) {
                *slot = value;
            }
        }
        fill_generated(&mut new, &plan.generated, &context)?;
        check_row(&plan.table, &new, &plan.checks, &context)?;
        check_statements(&plan.table, &new, &plan.checks, &mut run.ctx).await?;
        Ok(Some(new))
    }
}
