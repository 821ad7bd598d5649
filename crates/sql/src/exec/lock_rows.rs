//! SELECT ... FOR UPDATE above joins, sorts and filters: locks the rows that come up, in their order.
//!
//! A row that changed before it was locked is looked at again: its columns in the output are replaced by the newest ones, and the conditions that the plan
//! names must still hold; a row that is gone, or that SKIP LOCKED left out, is dropped.

use super::RowBatch;
use super::context::Run;
use super::operator::Operator;
use super::scan::{lock_strength, wait_policy};
use super::table_keys::{decode_row, key_of_values};
use crate::error::SqlError;
use crate::expr::eval_bool;
use crate::plan::{LockTarget, Plan};
use crate::types::Datum;
use tidelock_base::Key;
use tidelock_base::row::ColumnSet;
use tidelock_kvclient::ReadOptions;

/// The input.
pub(crate) struct LockRowsState {
    input: Operator,
}

impl LockRowsState {
    pub(super) fn new(input: Operator) -> LockRowsState {
        LockRowsState { input }
    }

    pub(super) async fn next(&mut self, input: &Plan, targets: &[LockTarget], run: &mut Run<'_>) -> Result<Option<RowBatch>, SqlError> {
        let Some(mut batch) = self.input.next(input, run).await? else { return Ok(None) };
        let mut dropped = vec![false; batch.len()];
        for target in targets {
            lock_target(target, &mut batch, &mut dropped, run).await?;
        }
        let mut at = 0;
        batch.retain(|_| {
            at += 1;
            Ok::<bool, SqlError>(!dropped[at - 1])
        })?;
        Ok(Some(batch))
    }
}

async fn lock_target(target: &LockTarget, batch: &mut RowBatch, dropped: &mut [bool], run: &mut Run<'_>) -> Result<(), SqlError> {
    let mut keys: Vec<Key> = Vec::new();
    let mut rows = Vec::new();
    for (at, gone) in dropped.iter().enumerate() {
        let values: Vec<Datum> = target.key_slots.iter().map(|slot| batch.row(at).get(*slot).cloned().unwrap_or(Datum::Null)).collect();
        // The nullable side of an outer join has no row to lock.
        if !gone && !values.iter().any(Datum::is_null) {
            keys.push(key_of_values(&target.table, &target.table.primary, &values)?);
            rows.push(at);
        }
    }
    let columns = target.columns.iter().map(|(position, _)| *position).collect::<ColumnSet>();
    let options = ReadOptions { columns, lock: Some(lock_strength(target.lock)), wait: wait_policy(target.lock) };
    let found = run.ctx.txn.get(&keys, &options).await;
    let found = found.map_err(|e| run.kv(e))?;
    let read_ts = run.ctx.txn.read_ts();
    let positions: Vec<usize> = target.columns.iter().map(|(position, _)| *position).collect();
    for (at, stored) in rows.into_iter().zip(found) {
        let Some(stored) = stored else {
            dropped[at] = true;
            continue;
        };
        if stored.ts <= read_ts {
            continue;
        }
        let mut newest = Vec::with_capacity(positions.len());
        decode_row(&target.table, &positions, &stored.value, &mut newest)?;
        let row = batch.row_mut(at);
        for ((_, slot), value) in target.columns.iter().zip(newest) {
            if let Some(place) = row.get_mut(*slot) {
                *place = value;
            }
        }
        if let Some(recheck) = &target.recheck {
            dropped[at] = !eval_bool(recheck, batch.row(at), &run.eval())?;
        }
    }
    Ok(())
}
