//! `Get`: one key, at a snapshot, or newest and locked.
//!
//! A plain get never waits. A locking get locks a row that exists in its newest committed state; a key without a row is not
//! locked, as in PostgreSQL, and what keeps phantoms away is the read footprint. READ COMMITTED also asks that the row be
//! there in the statement's snapshot.

use super::{Evaluation, Locking, Outcome};
use crate::store::storage_error;
use tidelock_base::{Key, Timestamp};
use tidelock_kvapi::{KvError, LockStrength, Response, Row};

impl Evaluation<'_> {
    pub(super) fn get(&mut self, key: &Key, lock: Option<LockStrength>) -> Result<Outcome, KvError> {
        let Some(strength) = lock else {
            let version = self.store.read_version(key, self.reader(), self.read_ts())?;
            let row = version.map(|(ts, value)| Row { key: key.clone(), value, ts });
            return Ok(Outcome::Done(Response::Get { row, newest: Timestamp::ZERO, skipped: false }));
        };
        let store = self.store;
        let outcome = store.with_range(key, |guard| self.locking_get(guard, key, strength))?;
        self.leave_queues();
        outcome
    }

    fn locking_get(&mut self, guard: &mut crate::range::RangeGuard<'_>, key: &Key, strength: LockStrength) -> Result<Outcome, KvError> {
        self.settle_key(guard, key)?;
        let newest = self.newest_row(guard, key)?;
        let (Newest { row: Some(_), .. }, true) = (&newest, self.is_in_snapshot(key, &newest)?) else {
            return Ok(Outcome::Done(Response::Get { row: None, newest: newest.ts, skipped: false }));
        };
        match self.lock(guard, key, strength)? {
            Locking::Granted { settled, .. } => {
                let newest = if settled { self.newest_row(guard, key)? } else { newest };
                let ts = if newest.ts == Timestamp::MAX { Timestamp::ZERO } else { newest.ts };
                Ok(Outcome::Done(Response::Get { row: newest.row, newest: ts, skipped: false }))
            }
            Locking::Skipped => Ok(Outcome::Done(Response::Get { row: None, newest: Timestamp::ZERO, skipped: true })),
            Locking::Blocked => Ok(Outcome::Blocked),
        }
    }

    /// The newest state of a key: the transaction's own intent, or the newest version. Finished intents were settled before.
    pub(super) fn newest_row(&self, guard: &mut crate::range::RangeGuard<'_>, key: &Key) -> Result<Newest, KvError> {
        if let Some(own) = guard.locks.visible(key, self.reader(), Timestamp::MAX) {
            let row = own.value.map(|value| Row { key: key.clone(), value, ts: own.ts });
            return Ok(Newest { row, ts: own.ts });
        }
        let version = self.store.storage.get(key, Timestamp::MAX).map_err(storage_error)?;
        Ok(match version {
            None => Newest { row: None, ts: Timestamp::ZERO },
            Some(version) => Newest { ts: version.ts, row: version.value.map(|value| Row { key: key.clone(), value, ts: version.ts }) },
        })
    }

    /// READ COMMITTED locks only what its statement's snapshot shows.
    fn is_in_snapshot(&self, key: &Key, newest: &Newest) -> Result<bool, KvError> {
        if !self.is_read_committed() || newest.ts <= self.read_ts() || newest.ts == Timestamp::MAX {
            return Ok(true);
        }
        Ok(self.store.storage.get(key, self.read_ts()).map_err(storage_error)?.is_some_and(|v| v.value.is_some()))
    }
}

/// The newest state of a key.
pub(super) struct Newest {
    /// The row; `None` when it was deleted or never was.
    pub(super) row: Option<Row>,
    /// Its commit; `MAX` for the transaction's own intent, `ZERO` when there never was a version.
    pub(super) ts: Timestamp,
}
