//! Row locks above scans: joins, sorts and filters of SELECT ... FOR UPDATE, and UPDATE and DELETE that have lost a race.
//!
//! The rows that come up are locked, in their order. One that changed before it was locked is looked at again ([`LookAgain`]): its columns are replaced by the newest ones,
//! the conditions on them must still hold, and what was computed from them is computed anew. A row that is gone, or that SKIP LOCKED left out, is dropped.

use super::RowBatch;
use super::context::Run;
use super::operator::Operator;
use super::scan::{lock_strength, wait_policy};
use super::subplan::SubPlanValues;
use super::table_keys::{decode_row, key_of_values};
use crate::error::SqlError;
use crate::expr::{eval, eval_bool};
use crate::plan::{LockTarget, LookAgain, Plan};
use crate::types::Datum;
use tidelock_base::Key;
use tidelock_base::row::ColumnSet;
use tidelock_kvclient::ReadOptions;

/// The input.
pub(crate) struct LockRowsState {
    input: Operator,
    subqueries: SubPlanValues,
}

/// What became of a row.
#[derive(Clone)]
enum Fate {
    Same,
    /// It is another one now; this is what it was.
    Changed(Vec<Datum>),
    Dropped,
}

impl LockRowsState {
    pub(super) fn new(input: Operator) -> LockRowsState {
        LockRowsState { input, subqueries: SubPlanValues::default() }
    }

    pub(super) async fn next(
        &mut self,
        input: &Plan,
        targets: &[LockTarget],
        again: Option<&LookAgain>,
        after_race: bool,
        run: &mut Run<'_>,
    ) -> Result<Option<RowBatch>, SqlError> {
        let Some(mut batch) = self.input.next(input, run).await? else { return Ok(None) };
        if after_race && !run.after_race {
            return Ok(Some(batch));
        }
        let mut fates = vec![Fate::Same; batch.len()];
        for target in targets {
            lock_target(target, &mut batch, &mut fates, run).await?;
        }
        if let Some(again) = again {
            for (at, fate) in fates.iter_mut().enumerate() {
                if let Fate::Changed(old) = fate
                    && !self.still_wanted(again, old, batch.row_mut(at), run).await?
                {
                    *fate = Fate::Dropped;
                }
            }
        }
        let mut at = 0;
        batch.retain(|_| {
            at += 1;
            Ok::<bool, SqlError>(!matches!(fates[at - 1], Fate::Dropped))
        })?;
        Ok(Some(batch))
    }

    /// Whether a changed row meets the conditions; computes its values anew.
    async fn still_wanted(&mut self, again: &LookAgain, old: &[Datum], row: &mut [Datum], run: &mut Run<'_>) -> Result<bool, SqlError> {
        let mut extended = row.to_vec();
        extended.extend(again.old_slots.iter().map(|slot| old.get(*slot).cloned().unwrap_or(Datum::Null)));
        self.subqueries.append(&again.subplans, &mut extended, run).await?;
        let context = run.eval();
        if let Some(condition) = &again.condition
            && !eval_bool(condition, &extended, &context)?
        {
            return Ok(false);
        }
        for (slot, expr) in &again.values {
            if let Some(place) = row.get_mut(*slot) {
                *place = eval(expr, &extended, &context)?;
            }
        }
        Ok(true)
    }
}

async fn lock_target(target: &LockTarget, batch: &mut RowBatch, fates: &mut [Fate], run: &mut Run<'_>) -> Result<(), SqlError> {
    let mut keys: Vec<Key> = Vec::new();
    let mut rows = Vec::new();
    for (at, fate) in fates.iter().enumerate() {
        let values: Vec<Datum> = target.key_slots.iter().map(|slot| batch.row(at).get(*slot).cloned().unwrap_or(Datum::Null)).collect();
        // The nullable side of an outer join has no row to lock.
        if !matches!(fate, Fate::Dropped) && !values.iter().any(Datum::is_null) {
            keys.push(key_of_values(&target.table, &target.table.primary, &values)?);
            rows.push(at);
        }
    }
    let positions: Vec<usize> = target.columns.iter().map(|(position, _)| *position).collect();
    let columns = positions.iter().copied().collect::<ColumnSet>();
    let options = ReadOptions { columns, lock: Some(lock_strength(target.lock)), wait: wait_policy(target.lock) };
    let found = run.ctx.txn.get(&keys, &options).await;
    let found = found.map_err(|e| run.kv(e))?;
    let read_ts = run.ctx.txn.read_ts();
    let mut newest = Vec::with_capacity(positions.len());
    for (at, stored) in rows.into_iter().zip(found) {
        let Some(stored) = stored else {
            fates[at] = Fate::Dropped;
            continue;
        };
        if stored.ts <= read_ts {
            continue;
        }
        newest.clear();
        decode_row(&target.table, &positions, &stored.value, &mut newest)?;
        let row = batch.row_mut(at);
        if !matches!(fates[at], Fate::Changed(_)) {
            fates[at] = Fate::Changed(row.to_vec());
        }
        for ((_, slot), value) in target.columns.iter().zip(newest.drain(..)) {
            if let Some(place) = row.get_mut(*slot) {
                *place = value;
            }
        }
    }
    Ok(())
}
