//! `Put`, `Insert`, `Delete`: take the lock, leave the intent.
//!
//! A write that goes over a version newer than the snapshot, without having held a lock that would have shown it, does not
//! fail here: the intent is left, and the batch's answer says how new that version is. Whether the write is right depends on
//! what the transaction read, which only its coordinator knows.

use super::{Evaluation, Locking, Outcome};
use crate::range::RangeGuard;
use crate::store::storage_error;
use crate::txn_record::LoggedWrite;
use std::sync::Arc;
use tidelock_base::limits::{MAX_KEY_BYTES, MAX_VALUE_BYTES};
use tidelock_base::{Key, Timestamp, Value};
use tidelock_kvapi::{KvError, LockStrength, Response, TooOld, WriteGuard};

impl Evaluation<'_> {
    pub(super) fn put(&mut self, key: &Key, value: &Value, lock: LockStrength, guard: WriteGuard) -> Result<Outcome, KvError> {
        check_sizes(key, value)?;
        self.write(key, Some(value.clone()), lock.max(LockStrength::NoKeyUpdate), guard)
    }

    pub(super) fn delete(&mut self, key: &Key, guard: WriteGuard) -> Result<Outcome, KvError> {
        self.write(key, None, LockStrength::Update, guard)
    }

    fn write(&mut self, key: &Key, value: Option<Value>, strength: LockStrength, guarded_by: WriteGuard) -> Result<Outcome, KvError> {
        let store = self.store;
        let outcome = store.with_range(key, |guard| {
            let before = match self.lock(guard, key, strength)? {
                Locking::Granted { before, .. } => before,
                // SKIP LOCKED belongs to reads; a write that would skip has nothing to do.
                Locking::Skipped => return Ok(Outcome::Done(Response::Written { existed: false })),
                Locking::Blocked => return Ok(Outcome::Blocked),
            };
            let held = before.is_some_and(LockStrength::excludes_writers);
            let existed = match guarded_by {
                WriteGuard::Snapshot if !held => self.note_newest(guard, key)?,
                _ => true,
            };
            self.leave_intent(guard, key, value)?;
            Ok(Outcome::Done(Response::Written { existed }))
        })?;
        self.leave_queues();
        outcome
    }

    pub(super) fn insert(&mut self, key: &Key, value: &Value) -> Result<Outcome, KvError> {
        check_sizes(key, value)?;
        let store = self.store;
        let outcome = store.with_range(key, |guard| {
            let before = match self.lock(guard, key, LockStrength::Update)? {
                Locking::Granted { before, .. } => before,
                Locking::Skipped => return Ok(Outcome::Done(Response::Written { existed: false })),
                Locking::Blocked => return Ok(Outcome::Blocked),
            };
            if let Some(row) = self.newest_row(guard, key)?.row {
                if before.is_none() {
                    self.give_back(guard, key)?;
                }
                return Ok(Outcome::Done(Response::Exists { value: row.value }));
            }
            self.leave_intent(guard, key, Some(value.clone()))?;
            Ok(Outcome::Done(Response::Written { existed: false }))
        })?;
        self.leave_queues();
        outcome
    }

    /// Was there a row, and is its newest version newer than the snapshot?
    fn note_newest(&mut self, guard: &mut RangeGuard<'_>, key: &Key) -> Result<bool, KvError> {
        if let Some(own) = guard.locks.visible(key, self.reader(), Timestamp::MAX) {
            return Ok(own.value.is_some());
        }
        let Some(version) = self.store.storage.get(key, Timestamp::MAX).map_err(storage_error)? else {
            return Ok(false);
        };
        if version.ts > self.read_ts() && self.too_old.as_ref().is_none_or(|known| known.newer < version.ts) {
            self.too_old = Some(TooOld { key: key.clone(), newer: version.ts });
        }
        Ok(version.value.is_some())
    }

    fn leave_intent(&mut self, guard: &mut RangeGuard<'_>, key: &Key, value: Option<Value>) -> Result<(), KvError> {
        let sequence = self.txn()?.sequence;
        let record = self.own_record()?;
        guard.locks.put_intent(key, &record, sequence, value.clone());
        record.log_write(LoggedWrite { sequence, key: key.clone(), value });
        Ok(())
    }

    /// An insert that found a row does not keep the lock it took for looking.
    fn give_back(&mut self, guard: &mut RangeGuard<'_>, key: &Key) -> Result<(), KvError> {
        let record = Arc::clone(&self.own_record()?);
        if let Some(hold) = guard.locks.release(key, record.id) {
            hold.record.let_go();
        }
        let ready = guard.locks.ready(key);
        self.store.waits.wake(&ready);
        Ok(())
    }
}

fn check_sizes(key: &Key, value: &Value) -> Result<(), KvError> {
    if key.len() > MAX_KEY_BYTES {
        return Err(KvError::TooLarge { what: "index key", bytes: key.len(), limit: MAX_KEY_BYTES });
    }
    if value.len() > MAX_VALUE_BYTES {
        return Err(KvError::TooLarge { what: "row", bytes: value.len(), limit: MAX_VALUE_BYTES });
    }
    Ok(())
}
