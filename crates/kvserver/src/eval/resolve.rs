//! `ResolveIntent`, `ResolveIntentRange`, and the same work within a commit.
//!
//! A resolution turns the intents of one finished transaction into versions (or drops them), releases its locks and wakes
//! who waited. Other transactions' locks in the same span are not touched, and an already resolved key is no error: the
//! second of two cleanups finds nothing to do.

use super::Evaluation;
use crate::metrics::add;
use crate::range::RangeGuard;
use crate::txn_record::TxnRecord;
use std::sync::Arc;
use tidelock_base::limits::KEYS_PER_SLICE;
use tidelock_base::{Key, Span, TxnId};
use tidelock_kvapi::{KvError, LockSpan, PassBudget, Resolution, Response, TxnStatus};

impl Evaluation<'_> {
    pub(super) fn resolve_intent(&mut self, key: &Key, outcome: &Resolution) -> Result<Response, KvError> {
        refuse_pending(outcome)?;
        if self.header.pass.is_some_and(PassBudget::is_exhausted) {
            return Ok(Response::Resolved { resolved: 0, bytes: 0, resume: Some(Span::point(key.clone())) });
        }
        let done = self.store.with_range(key, |guard| self.resolve_key(guard, key, outcome.txn))?;
        Ok(self.answer_resolved(Resolved { keys: u64::from(done.is_some()), bytes: done.unwrap_or(0), resume: None }))
    }

    pub(super) fn resolve_range(&mut self, span: &Span, outcome: &Resolution) -> Result<Response, KvError> {
        refuse_pending(outcome)?;
        let done = self.resolve_span(span, outcome.txn, self.header.pass)?;
        Ok(self.answer_resolved(done))
    }

    /// Counts what was done, and takes it off the batch's budget.
    fn answer_resolved(&mut self, done: Resolved) -> Response {
        let Resolved { keys, bytes, resume } = done;
        add(&self.store.metrics.resolved_by_request, keys);
        self.header.pass = self.header.pass.map(|pass| pass.less(keys, bytes));
        Response::Resolved { resolved: keys, bytes, resume }
    }

    /// Resolves spans of a finished transaction here and now, up to `limit` intents; gives back what is left.
    pub(super) fn resolve_inline(&self, record: &Arc<TxnRecord>, spans: Vec<LockSpan>, limit: u64) -> Vec<LockSpan> {
        let mut budget = limit;
        let mut left = Vec::new();
        for span in spans {
            if record.held() == 0 {
                break;
            }
            if budget == 0 {
                left.push(span);
                continue;
            }
            let resolved = match &span {
                LockSpan::Point(key) => self.resolve_point(record, key),
                LockSpan::Range(range) => {
                    let pass = PassBudget { keys: budget, bytes: u64::MAX };
                    let done = self.resolve_span(range, record.id, Some(pass)).unwrap_or_default();
                    left.extend(done.resume.map(LockSpan::Range));
                    done.keys
                }
            };
            budget = budget.saturating_sub(resolved);
            add(&self.store.metrics.resolved_inline, resolved);
        }
        left
    }

    fn resolve_point(&self, record: &Arc<TxnRecord>, key: &Key) -> u64 {
        let resolved = self.store.with_range(key, |guard| self.resolve_key(guard, key, record.id));
        u64::from(resolved.unwrap_or(None).is_some())
    }

    /// Answers the bytes that became a version; `None` when the transaction held nothing here.
    fn resolve_key(&self, guard: &mut RangeGuard<'_>, key: &Key, txn: TxnId) -> Option<u64> {
        let finished = guard.locks.release(key, txn)?;
        let version = finished.committed.as_ref().map(|(_, value)| key.len() + value.as_ref().map_or(0, |value| value.len()));
        self.store.settle(key, [finished]);
        let ready = guard.locks.ready(key);
        self.store.waits.wake(&ready);
        Some(version.unwrap_or(0) as u64)
    }

    /// Slice by slice, so that the mutex is never held for long; a range border inside the span is no obstacle.
    fn resolve_span(&self, span: &Span, txn: TxnId, pass: Option<PassBudget>) -> Result<Resolved, KvError> {
        let mut done = Resolved::default();
        let mut rest = Some(span.clone());
        while let Some(part) = rest.take().filter(|part| !part.is_empty()) {
            if pass.is_some_and(|pass| pass.less(done.keys, done.bytes).is_exhausted()) {
                done.resume = Some(part);
                break;
            }
            rest = self.store.with_range(&part.start, |guard| self.resolve_slice(guard, &part, txn, pass, &mut done))?;
        }
        Ok(done)
    }

    /// Resolves a few keys of a span under the mutex of the range where it starts; answers what remains of the span.
    fn resolve_slice(
        &self,
        guard: &mut RangeGuard<'_>,
        part: &Span,
        txn: TxnId,
        pass: Option<PassBudget>,
        done: &mut Resolved,
    ) -> Option<Span> {
        let border = guard.descriptor.span.end.clone();
        let inside = Span::new(part.start.clone(), part.end.clone().min(border.clone()));
        let (keys, resume) = guard.locks.held_in(&inside, txn, KEYS_PER_SLICE);
        for key in keys {
            if pass.is_some_and(|pass| pass.less(done.keys, done.bytes).is_exhausted()) {
                return Some(Span::new(key, part.end.clone()));
            }
            if let Some(bytes) = self.resolve_key(guard, &key, txn) {
                done.keys += 1;
                done.bytes += bytes;
            }
        }
        match resume {
            Some(resume) => Some(Span::new(resume.start, part.end.clone())),
            None if border < part.end => Some(Span::new(border, part.end.clone())),
            None => None,
        }
    }
}

/// What a resolution did.
#[derive(Debug, Default)]
struct Resolved {
    keys: u64,
    bytes: u64,
    resume: Option<Span>,
}

/// Resolving a pending transaction would release locks it still needs.
fn refuse_pending(outcome: &Resolution) -> Result<(), KvError> {
    match outcome.status {
        TxnStatus::Pending => Err(KvError::BadRequest("a pending transaction cannot be resolved")),
        _ => Ok(()),
    }
}
