//! Evaluation of requests, one file per kind.
//!
//! An [`Evaluation`] is one batch under way: its transaction's record, its place in a lock queue if it waits, the newest
//! version its writes went over. [`Evaluation::evaluate`] is synchronous; when it says [`Outcome::Blocked`], the place in
//! the queue is taken already, and the same request is evaluated again after the wait.

mod admin;
mod end_txn;
mod get;
mod refresh;
mod resolve;
mod rollback;
mod scan;
mod sequence;
mod write;

use crate::deadlock::Wait;
use crate::lock_table::Acquired;
use crate::metrics::add;
use crate::range::RangeGuard;
use crate::settings::Number;
use crate::store::{Store, micros_since};
use crate::txn_record::TxnRecord;
use crate::wait::LockPlace;
use std::sync::Arc;
use std::time::Instant;
use tidelock_base::{Key, RangeId, SessionId, Span, Timestamp, TxnId};
use tidelock_kvapi::{
    Header, Isolation, KvError, LockStrength, RangeDescriptor, Request, Response, TooOld, TxnMeta, TxnStatus, WaitPolicy, WaitTarget,
};

/// One step of an evaluation.
pub enum Outcome {
    /// The answer.
    Done(Response),
    /// A place in a queue was taken: wait, then evaluate again.
    Blocked,
}

/// How a lock request went.
enum Locking {
    Granted {
        /// What was held before.
        before: Option<LockStrength>,
        /// A finished holder was met: what was read before asking for the lock may be out of date, because a commit's flip
        /// does not need the range's mutex.
        settled: bool,
    },
    /// `SKIP LOCKED`.
    Skipped,
    Blocked,
}

/// One batch under way.
pub struct Evaluation<'s> {
    store: &'s Arc<Store>,
    header: Header,
    record: Option<Arc<TxnRecord>>,
    place: Option<LockPlace>,
    /// Places given up while a range's mutex was held; they leave their queues when it no longer is.
    left: Vec<LockPlace>,
    too_old: Option<TooOld>,
}

impl<'s> Evaluation<'s> {
    /// Begins. A transaction that was ended by somebody else is refused: its client must not take the absence of its intents
    /// for the absence of its writes.
    pub fn new(store: &'s Arc<Store>, header: Header) -> Result<Evaluation<'s>, KvError> {
        let record = header.txn.and_then(|txn| store.records.get(txn.id));
        if let Some(txn) = header.txn.filter(|txn| txn.anchored)
            && record.as_ref().is_none_or(|record| record.status() != TxnStatus::Pending)
        {
            return Err(KvError::TxnAborted { txn: txn.id });
        }
        Ok(Evaluation { store, header, record, place: None, left: Vec::new(), too_old: None })
    }

    /// The ranges as they are now, if a request of the batch belongs to another range than the batch was meant for.
    pub fn misrouted(&self, requests: &[Request]) -> Result<Option<Vec<RangeDescriptor>>, KvError> {
        let Some(key) = requests.first().and_then(Request::routing_key).filter(|_| self.header.range != RangeId(0)) else {
            return Ok(None);
        };
        let range = self.store.range_at(key)?;
        let guard = range.lock();
        let borders = &guard.descriptor.span;
        if range.id == self.header.range && requests.iter().all(|request| request.fits(borders)) {
            return Ok(None);
        }
        drop(guard);
        let spans = requests.iter().map(Request::span);
        let whole = spans.reduce(|all, span| Span::new(all.start.min(span.start), all.end.max(span.end)));
        Ok(whole.map(|span| self.store.ranges.descriptors(&span)))
    }

    /// Evaluates one request as far as it gets.
    pub fn evaluate(&mut self, request: &Request) -> Result<Outcome, KvError> {
        let outcome = self.evaluate_at_snapshot(request)?;
        // Afterwards: what an answer needed goes only once the snapshot was revoked.
        if !matches!(request, Request::RollbackTo { .. }) {
            self.check_snapshot()?;
        }
        Ok(outcome)
    }

    /// Is what the transaction reads still there?
    fn check_snapshot(&self) -> Result<(), KvError> {
        match self.header.txn {
            Some(txn) if txn.read_ts > Timestamp::ZERO && txn.read_ts <= self.store.storage.revoked_ts() => {
                Err(KvError::SnapshotTooOld(txn.read_ts))
            }
            _ => Ok(()),
        }
    }

    fn evaluate_at_snapshot(&mut self, request: &Request) -> Result<Outcome, KvError> {
        match request {
            Request::Get { key, lock } => self.get(key, *lock),
            Request::Scan { span, reverse, limit, lock } => match lock {
                None => self.scan(span, *reverse, *limit).map(Outcome::Done),
                Some(lock) => self.locking_scan(span, *reverse, *limit, *lock),
            },
            Request::Put { key, value, lock, guard } => self.put(key, value, *lock, *guard),
            Request::Insert { key, value } => self.insert(key, value),
            Request::Delete { key, guard } => self.delete(key, *guard),
            Request::RollbackTo { spans, sequence } => self.rollback_to(spans, *sequence).map(Outcome::Done),
            Request::Refresh { reads, to } => self.refresh(reads, *to).map(Outcome::Done),
            Request::ResolveIntent { key, outcome } => self.resolve_intent(key, outcome).map(Outcome::Done),
            Request::ResolveIntentRange { span, outcome } => self.resolve_range(span, outcome).map(Outcome::Done),
            Request::SequenceNext { key, step } => self.sequence_next(key, step).map(Outcome::Done),
            Request::SequenceSet { key, value, called } => self.sequence_set(key, *value, *called).map(Outcome::Done),
            Request::ListIndexes => Ok(Outcome::Done(Response::Indexes(self.store.storage.indexes()))),
            Request::DropIndex { index } => self.drop_index(*index).map(Outcome::Done),
            Request::Split { key } => self.split(key).map(Outcome::Done),
            Request::Merge { key } => self.merge(key).map(Outcome::Done),
            Request::RangeLookup { span } => Ok(Outcome::Done(Response::Ranges(self.store.ranges.descriptors(span)))),
            Request::EndTxn(_) | Request::Ingest { .. } => Err(KvError::BadRequest("this request is not evaluated like the others")),
        }
    }

    /// Waits in the queue whose place was taken by the last evaluation.
    pub async fn wait_for_lock(&mut self) -> Result<(), KvError> {
        self.left.clear();
        let Some(place) = &self.place else { return Ok(()) };
        let started = Instant::now();
        add(&self.store.metrics.lock_waits, 1);
        let result = place.woken(self.header.lock_timeout).await;
        add(&self.store.metrics.lock_wait_micros, micros_since(started));
        if let Err(error) = result {
            self.place = None;
            if matches!(error, KvError::Deadlock(_)) {
                add(&self.store.metrics.deadlocks, 1);
            }
            return Err(error);
        }
        if self.store.is_stopping() { Err(KvError::Stopping) } else { Ok(()) }
    }

    /// The newest version that the batch's writes went over.
    pub fn take_too_old(&mut self) -> Option<TooOld> {
        self.too_old.take()
    }

    /// Does the transaction hold more in memory than it may?
    pub fn is_over_budget(&self) -> bool {
        self.record.as_ref().is_some_and(|record| record.memory() > self.store.settings.number(Number::SpillBytes))
    }

    /// Moves what the transaction holds in memory to storage.
    pub async fn spill(&self) -> Result<(), KvError> {
        match &self.record {
            Some(record) => self.store.spill(record).await,
            None => Ok(()),
        }
    }

    /// Does the store keep a record of the transaction?
    pub fn is_anchored(&self) -> bool {
        self.record.is_some()
    }

    fn txn(&self) -> Result<TxnMeta, KvError> {
        self.header.txn.ok_or(KvError::BadRequest("locks and writes need a transaction"))
    }

    fn reader(&self) -> Option<TxnId> {
        // Without a record the transaction has no intents, and looking for them is not needed.
        self.record.as_ref().map(|record| record.id)
    }

    fn read_ts(&self) -> Timestamp {
        self.header.txn.map_or(self.header.read_ts, |txn| txn.read_ts)
    }

    fn is_read_committed(&self) -> bool {
        self.header.txn.is_some_and(|txn| txn.isolation == Isolation::ReadCommitted)
    }

    /// The transaction's record, which from now on exists.
    fn own_record(&mut self) -> Result<Arc<TxnRecord>, KvError> {
        let txn = self.txn()?;
        let record = match &self.record {
            Some(record) => Arc::clone(record),
            None => self.store.records.get_or_create(txn.id, txn.session),
        };
        if record.status() != TxnStatus::Pending {
            return Err(KvError::TxnAborted { txn: txn.id });
        }
        self.record = Some(Arc::clone(&record));
        Ok(record)
    }

    /// Takes finished transactions off a key, and wakes who waited for them: their own resolution, which comes later, will
    /// find nothing here and wake nobody. What was spilled of the key is brought back before. Says whether anything was settled.
    fn settle_key(&self, guard: &mut RangeGuard<'_>, key: &Key) -> Result<bool, KvError> {
        let settled = self.store.bring_back(guard, key)?;
        Ok(self.take_finished(guard, key) || settled)
    }

    fn take_finished(&self, guard: &mut RangeGuard<'_>, key: &Key) -> bool {
        let finished = guard.locks.take_finished(key);
        let met = !finished.is_empty();
        if met {
            add(&self.store.metrics.resolved_by_encounter, finished.len() as u64);
            self.store.settle(key, finished);
            let ready = guard.locks.ready(key);
            self.store.waits.wake(&ready);
        }
        met
    }

    /// Takes a lock, or a place in its queue. The range's mutex is held by the caller.
    fn lock(&mut self, guard: &mut RangeGuard<'_>, key: &Key, strength: LockStrength) -> Result<Locking, KvError> {
        let txn = self.txn()?;
        let record = self.own_record()?;
        let mut settled = self.settle_key(guard, key)?;
        let waiter = self.place.as_ref().filter(|place| place.key == *key).map(|place| place.waiter);
        let mut acquired = guard.locks.acquire(key, &record, strength, txn.sequence, waiter);
        while acquired == Acquired::Blocked && guard.locks.has_finished(key) {
            // It flipped after we looked; a flip does not need our mutex.
            settled |= self.take_finished(guard, key);
            acquired = guard.locks.acquire(key, &record, strength, txn.sequence, waiter);
        }
        match acquired {
            Acquired::Granted { before, overtook } => {
                if waiter.is_some() {
                    self.give_up_place(true);
                }
                if overtook {
                    self.store.refresh_edges(guard, key);
                }
                Ok(Locking::Granted { before, settled })
            }
            Acquired::Blocked => match self.header.wait_policy {
                WaitPolicy::Skip => {
                    guard.locks.drop_copies(key);
                    Ok(Locking::Skipped)
                }
                WaitPolicy::Error => {
                    guard.locks.drop_copies(key);
                    Err(KvError::LockNotAvailable { key: key.clone() })
                }
                WaitPolicy::Block => self.queue_up(guard, key, strength, &record).map(|()| Locking::Blocked),
            },
        }
    }

    fn queue_up(&mut self, guard: &mut RangeGuard<'_>, key: &Key, strength: LockStrength, record: &Arc<TxnRecord>) -> Result<(), KvError> {
        if self.place.as_ref().is_none_or(|place| place.key != *key) {
            let waiters = guard.locks.queue_len(key);
            if waiters as u64 >= self.store.settings.number(Number::MaxWaiters) {
                return Err(KvError::TooManyWaiters { key: key.clone(), waiters });
            }
            self.give_up_place(false);
            let (waiter, cell) = self.store.waits.admit();
            guard.locks.enqueue(key, waiter, record, strength);
            let holder = SessionId(0);
            let store = Arc::clone(self.store);
            let key = key.clone();
            self.place = Some(LockPlace { store, key, waiter, txn: record.id, holder, cell, granted: false });
        }
        let Some(place) = &mut self.place else { return Ok(()) };
        let blockers: Vec<(TxnId, SessionId)> = guard.locks.blockers(key, place.waiter).iter().map(|b| (b.id, b.session)).collect();
        place.holder = blockers.first().map_or(SessionId(0), |(_, session)| *session);
        let wait = Wait { session: record.session, target: WaitTarget::Row { key: key.clone(), strength }, blockers };
        match self.store.waits.set_wait(record.id, wait, &place.cell) {
            Some(report) => {
                add(&self.store.metrics.deadlocks, 1);
                self.give_up_place(false);
                Err(KvError::Deadlock(Box::new(report)))
            }
            None => Ok(()),
        }
    }

    /// Gives the place up; the queue is left once no mutex is held.
    fn give_up_place(&mut self, granted: bool) {
        if let Some(mut place) = self.place.take() {
            place.granted = granted;
            self.left.push(place);
        }
    }

    /// Leaves the queues that were given up while the mutex was held.
    fn leave_queues(&mut self) {
        self.left.clear();
    }
}
