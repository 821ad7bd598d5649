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
use tidelock_kvapi::{KvError, Limit, LockSpan, Resolution, Response, TxnStatus};

impl Evaluation<'_> {
    pub(super) fn resolve_intent(&self, key: &Key, outcome: &Resolution) -> Result<Response, KvError> {
        refuse_pending(outcome)?;
        let resolved = u64::from(self.store.with_range(key, |guard| self.resolve_key(guard, key, outcome.txn))?);
        add(&self.store.metrics.resolved_by_request, resolved);
        Ok(Response::Resolved { resolved, resume: None })
    }

    pub(super) fn resolve_range(&self, span: &Span, outcome: &Resolution, limit: Limit) -> Result<Response, KvError> {
        refuse_pending(outcome)?;
        let (resolved, resume) = self.resolve_span(span, outcome.txn, limit)?;
        add(&self.store.metrics.resolved_by_request, resolved);
        Ok(Response::Resolved { resolved, resume })
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
                    let (resolved, resume) = self.resolve_span(range, record.id, Limit::Keys(budget)).unwrap_or((0, None));
                    left.extend(resume.map(LockSpan::Range));
                    resolved
                }
            };
            budget = budget.saturating_sub(resolved);
            add(&self.store.metrics.resolved_inline, resolved);
        }
        left
    }

    fn resolve_point(&self, record: &Arc<TxnRecord>, key: &Key) -> u64 {
        let resolved = self.store.with_range(key, |guard| self.resolve_key(guard, key, record.id));
        u64::from(resolved.unwrap_or(false))
    }

    fn resolve_key(&self, guard: &mut RangeGuard<'_>, key: &Key, txn: TxnId) -> bool {
        let Some(finished) = guard.locks.release(key, txn) else { return false };
        self.store.settle(key, [finished]);
        let ready = guard.locks.ready(key);
        self.store.waits.wake(&ready);
        true
    }

    /// Slice by slice, so that the mutex is never held for long; a range border inside the span is no obstacle.
    fn resolve_span(&self, span: &Span, txn: TxnId, limit: Limit) -> Result<(u64, Option<Span>), KvError> {
        let mut resolved = 0;
        let mut rest = Some(span.clone());
        while let Some(part) = rest.take().filter(|part| !part.is_empty()) {
            let left = limit.less(resolved);
            if left.is_exhausted() {
                return Ok((resolved, Some(part)));
            }
            let slice = match left {
                Limit::Unlimited => KEYS_PER_SLICE,
                Limit::Keys(keys) => usize::try_from(keys).unwrap_or(KEYS_PER_SLICE).min(KEYS_PER_SLICE),
            };
            rest = self.store.with_range(&part.start, |guard| {
                let border = guard.descriptor.span.end.clone();
                let inside = Span::new(part.start.clone(), part.end.clone().min(border.clone()));
                let (keys, resume) = guard.locks.held_in(&inside, txn, slice);
                for key in &keys {
                    resolved += u64::from(self.resolve_key(guard, key, txn));
                }
                match resume {
                    Some(resume) => Some(Span::new(resume.start, part.end.clone())),
                    None if border < part.end => Some(Span::new(border, part.end.clone())),
                    None => None,
                }
            })?;
        }
        Ok((resolved, None))
    }
}

/// Resolving a pending transaction would release locks it still needs.
fn refuse_pending(outcome: &Resolution) -> Result<(), KvError> {
    match outcome.status {
        TxnStatus::Pending => Err(KvError::BadRequest("a pending transaction cannot be resolved")),
        _ => Ok(()),
    }
}
