//! `RollbackTo`: takes back what a transaction did after a savepoint, exactly: newer intents vanish, locks taken after the
//! savepoint are released, locks strengthened after it fall back.

use super::Evaluation;
use std::ops::ControlFlow;
use tidelock_base::{Key, Span};
use tidelock_kvapi::{KvError, LockSpan, Response};

impl Evaluation<'_> {
    pub(super) fn rollback_to(&mut self, spans: &[LockSpan], sequence: u32) -> Result<Response, KvError> {
        let Some(record) = self.record.clone() else { return Ok(Response::Done) };
        record.rollback_writes(sequence);
        if record.has_spilled() {
            record.spill_state().roll_back(sequence, self.txn()?.sequence);
        }
        for span in spans {
            match span {
                LockSpan::Point(key) => self.rollback_key(key, sequence)?,
                LockSpan::Range(span) => self.rollback_span(span, sequence)?,
            }
        }
        Ok(Response::Done)
    }

    fn rollback_key(&self, key: &Key, sequence: u32) -> Result<(), KvError> {
        let Some(record) = &self.record else { return Ok(()) };
        let ready = self.store.with_range(key, |guard| {
            let ready = guard.locks.rollback_to(key, record.id, sequence);
            self.store.refresh_edges(guard, key);
            ready
        })?;
        self.store.waits.wake(&ready);
        Ok(())
    }

    fn rollback_span(&self, span: &Span, sequence: u32) -> Result<(), KvError> {
        let Some(record) = &self.record else { return Ok(()) };
        let mut keys = Vec::new();
        let mut start = span.start.clone();
        while start < span.end {
            let flow = self.store.with_range(&start, |guard| {
                let border = guard.descriptor.span.end.clone().min(span.end.clone());
                keys.extend(guard.locks.held_in(&Span::new(start.clone(), border.clone()), record.id, usize::MAX).0);
                if border < span.end { ControlFlow::Continue(border) } else { ControlFlow::Break(()) }
            })?;
            match flow {
                ControlFlow::Continue(border) => start = border,
                ControlFlow::Break(()) => break,
            }
        }
        keys.iter().try_for_each(|key| self.rollback_key(key, sequence))
    }
}
