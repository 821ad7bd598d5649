//! `EndTxn`: commit or abort.
//!
//! ```text
//!   commit:  back-pressure ─► sequencer (validate, timestamp, log, flip) ─► resolve: inline or resolver ─► durable? ─► answer
//!   abort:   flip ─► resolve ─► answer
//! ```
//!
//! What a large transaction has spilled is ended by storage ([`crate::spill`]); the rest is resolved as ever.
//!
//! Locks are released at the flip, before the disk has the record (early lock release): who then reads the row owes the
//! disk the same wait, and asks for it with `observed`. A commit that validation refuses ends as an abort here.

use super::Evaluation;
use crate::metrics::add;
use crate::resolver::Cleanup;
use crate::sequencer::CommitFootprint;
use crate::settings::Number;
use crate::store::storage_error;
use crate::txn_record::{LoggedWrite, TxnRecord};
use std::sync::Arc;
use tidelock_base::{Key, Timestamp, Value};
use tidelock_kvapi::{EndTxn, KvError, LockSpan, Resolution, Response, TxnStatus};

impl Evaluation<'_> {
    /// Ends the transaction. This future must not be dropped half-way.
    pub async fn end_txn(&mut self, mut end: EndTxn) -> Result<Response, KvError> {
        let txn = self.txn()?;
        let Some(record) = self.record.take() else {
            return self.end_without_record(&end).await;
        };
        if record.status() != TxnStatus::Pending {
            return Err(KvError::TxnAborted { txn: txn.id });
        }
        let locks = std::mem::take(&mut end.locks);
        if !end.commit {
            self.abort(&record, locks);
            return Ok(Response::Ended { commit_ts: Timestamp::ZERO });
        }
        if let Some(delay) = self.store.storage.write_delay() {
            tokio::time::sleep(delay).await;
        }
        let writes = record.take_writes();
        if writes.is_empty() && !record.has_spilled_writes() {
            record.flip_to_committed(Timestamp::ZERO);
            add(&self.store.metrics.lock_only_commits, 1);
            self.clean_up(&record, locks);
            return self.end_without_record(&end).await;
        }
        match self.commit(&record, writes, &end) {
            Ok(commit_ts) => {
                add(&self.store.metrics.commits, 1);
                self.clean_up(&record, locks);
                drop(record);
                if !end.lazy {
                    self.store.wait_durable(commit_ts.max(end.observed)).await?;
                }
                Ok(Response::Ended { commit_ts })
            }
            Err(error) => {
                add(&self.store.metrics.validation_failures, 1);
                self.abort(&record, locks);
                Err(error)
            }
        }
    }

    /// Nothing was written: only what was observed must be durable.
    async fn end_without_record(&self, end: &EndTxn) -> Result<Response, KvError> {
        if end.commit && !end.lazy && end.observed > Timestamp::ZERO {
            self.store.wait_durable(end.observed).await?;
        }
        Ok(Response::Ended { commit_ts: Timestamp::ZERO })
    }

    fn commit(&self, record: &Arc<TxnRecord>, writes: Vec<LoggedWrite>, end: &EndTxn) -> Result<Timestamp, KvError> {
        let store = self.store;
        let spilled = record.has_spilled_writes().then(|| record.spill_state());
        let footprint = match spilled {
            Some(_) => CommitFootprint::of_many(),
            None => store.sequencer.footprint(writes.iter().map(|write| write.key.clone()).collect()),
        };
        let redo: Vec<(Key, Option<Value>)> = writes.into_iter().map(|write| (write.key, write.value)).collect();
        let append = |ts| match spilled {
            Some(spilled) => store.storage.append_spilled_commit(record.id, ts, &redo, &spilled.ignored()),
            None => store.storage.append_commit(record.id, ts, &redo),
        };
        let flip = |ts| {
            if let Some(spilled) = spilled {
                spilled.set_pin(store.storage.pin(ts));
            }
            record.flip_to_committed(ts);
        };
        let reads = if store.settings.validates() { &end.reads[..] } else { &[] };
        let turn = store.sequencer.enter(reads, &end.assertions, self.read_ts(), &**store)?;
        if !reads.is_empty() {
            self.check_snapshot()?;
        }
        turn.commit(footprint, append, flip).map_err(storage_error)
    }

    fn abort(&self, record: &Arc<TxnRecord>, locks: Vec<LockSpan>) {
        add(&self.store.metrics.aborts, 1);
        record.flip_to_aborted();
        drop(record.take_writes());
        self.clean_up(record, locks);
    }

    /// Resolves: inline up to the limit, the rest by the resolver, or by this session when the resolver is full.
    fn clean_up(&self, record: &Arc<TxnRecord>, locks: Vec<LockSpan>) {
        let store = self.store;
        if record.has_spilled() {
            store.end_spilled(record);
        }
        store.forget_if_done(record);
        let outcome = Resolution { txn: record.id, status: record.status(), commit_ts: record.committed_at().unwrap_or_default() };
        let inline = if store.settings.inline() { store.settings.number(Number::InlineLimit) } else { 0 };
        let left = if inline > 0 { self.resolve_inline(record, locks, inline) } else { locks };
        if left.is_empty() || record.held() == 0 {
            return;
        }
        let cleanup = Cleanup { outcome, spans: left, urgent: record.is_waited_for() };
        let refused = match store.resolver.get() {
            Some(resolver) => resolver.submit(cleanup).err(),
            None => Some(cleanup),
        };
        if let Some(cleanup) = refused {
            // The resolver is full (or not started): doing the work here is what slows the committers down.
            self.resolve_inline(record, cleanup.spans, u64::MAX);
        }
    }
}
