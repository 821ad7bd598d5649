//! Reading without locks: what a reader at a moment sees of a key or a span.
//!
//! A version may be in three places, and is looked for in this order, since it moves in this order: as an intent in the lock table, as a
//! spilled row, as a stored version. A reader sees intents and spilled rows when they are its own, or committed at or below its snapshot;
//! an intent that is pending now can only commit above every snapshot that was handed out.
//!
//! Also here: the comparisons that validation asks for ([`Compare`]).

use crate::lock_table::Overlay;
use crate::sequencer::Compare;
use crate::store::{Store, storage_error};
use std::ops::ControlFlow;
use tidelock_base::row::{ColumnSet, same_columns};
use tidelock_base::{Key, RowRef, Span, Timestamp, TxnId, Value};
use tidelock_kvapi::KvError;
use tidelock_storage::Storage;

/// Is shown a row.
pub(crate) type VisitRow<'v> = dyn FnMut(RowRef<'_>) -> ControlFlow<()> + 'v;

/// As [`VisitRow`], and may fail.
type VisitVersion<'v> = dyn FnMut(RowRef<'_>) -> Result<ControlFlow<()>, KvError> + 'v;

/// Who reads, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader {
    /// Whose own writes are seen, if it has any.
    pub(crate) txn: Option<TxnId>,
    /// The snapshot.
    pub(crate) at: Timestamp,
    /// Spans are read from the end.
    pub(crate) reverse: bool,
}

impl Store {
    /// The version of a key that a reader sees.
    pub(crate) fn read_version(&self, key: &Key, reader: Option<TxnId>, at: Timestamp) -> Result<Option<(Timestamp, Value)>, KvError> {
        if !self.ranges.is_lockless(key) {
            let overlay = self.with_range(key, |guard| guard.locks.visible(key, reader, at))?;
            if let Some(overlay) = overlay {
                return Ok(overlay.value.map(|value| (overlay.ts, value)));
            }
        }
        if !self.spilled.is_empty()
            && let Some(overlay) = self.spilled_visible(key, reader, at)?
        {
            return Ok(overlay.value.map(|value| (overlay.ts, value)));
        }
        let version = self.storage.get(key, at).map_err(storage_error)?;
        Ok(version.and_then(|version| Some((version.ts, version.value?))))
    }

    /// Shows a reader the rows of a span until it breaks. As a rule the span lies in one range, unless that was split a moment ago.
    pub(crate) fn visit_rows(&self, span: &Span, reader: Reader, visit: &mut VisitRow<'_>) -> Result<ControlFlow<()>, KvError> {
        let mut rest = span.clone();
        while !rest.is_empty() {
            let (part, in_memory) = self.intents_in_part(&rest, reader)?;
            let window = self.spilled_window(&part, reader.txn, reader.at, reader.reverse)?;
            let part = window.span.clone();
            if merge_scan(&self.storage, &part, reader.at, reader.reverse, window.with(in_memory), visit)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            rest = if reader.reverse { Span::new(rest.start, part.start) } else { Span::new(part.end, rest.end) };
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The next part of a span that lies in one range, and what the reader must see of the intents there.
    fn intents_in_part(&self, rest: &Span, reader: Reader) -> Result<(Span, Vec<Overlay>), KvError> {
        loop {
            let (part, locked) = self.ranges.part_of(rest, reader.reverse).ok_or(KvError::BadRequest("no range holds the span"))?;
            if !locked {
                return Ok((part, Vec::new()));
            }
            let intents = self.with_range(&part.start, |guard| {
                let whole = part.end <= guard.descriptor.span.end;
                whole.then(|| guard.locks.visible_in(&part, reader.txn, reader.at))
            })?;
            if let Some(intents) = intents {
                return Ok((part, intents));
            }
        }
    }

    /// Every committed row of a span at a moment, whatever ranges it lies in.
    fn scan_committed(&self, span: &Span, at: Timestamp, visit: &mut VisitVersion<'_>) -> Result<(), KvError> {
        let mut failure = None;
        let reader = Reader { txn: None, at, reverse: false };
        let _ = self.visit_rows(span, reader, &mut |row| match visit(row) {
            Ok(flow) => flow,
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        })?;
        failure.map_or(Ok(()), Err)
    }
}

impl Compare for Store {
    fn changed(&self, key: &Key, from: Timestamp, columns: ColumnSet) -> Result<bool, KvError> {
        let new = self.read_version(key, None, Timestamp::MAX)?;
        if new.as_ref().is_some_and(|(ts, _)| *ts <= from) {
            return Ok(false);
        }
        let old = self.read_version(key, None, from)?;
        Ok(!same_columns(old.as_ref().map(|(_, v)| &v[..]), new.as_ref().map(|(_, v)| &v[..]), columns))
    }

    fn span_changed(&self, span: &Span, from: Timestamp, columns: ColumnSet) -> Result<Option<Key>, KvError> {
        let mut survivors = 0u64;
        let mut changed = None;
        self.scan_committed(span, Timestamp::MAX, &mut |row| {
            let differs = row.ts > from && self.changed(&row.to_key(), from, columns)?;
            if differs {
                changed = Some(row.to_key());
                return Ok(ControlFlow::Break(()));
            }
            survivors += 1;
            Ok(ControlFlow::Continue(()))
        })?;
        if changed.is_some() {
            return Ok(changed);
        }
        // Every row of now was there before, unchanged; a row of before that is gone shows in the count.
        let mut before = 0u64;
        self.scan_committed(span, from, &mut |_| {
            before += 1;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok((before != survivors).then(|| span.start.clone()))
    }

    fn newest_version(&self, key: &Key) -> Result<Timestamp, KvError> {
        let overlay = self.with_range(key, |guard| guard.locks.visible(key, None, Timestamp::MAX))?;
        let overlay = match overlay {
            None if !self.spilled.is_empty() => self.spilled_visible(key, None, Timestamp::MAX)?,
            overlay => overlay,
        };
        if let Some(overlay) = overlay {
            return Ok(overlay.ts);
        }
        let version = self.storage.get(key, Timestamp::MAX).map_err(storage_error)?;
        Ok(version.map_or(Timestamp::ZERO, |version| version.ts))
    }
}

/// Walks the stored rows of a span with an overlay of intents laid over them.
fn merge_scan(
    storage: &Storage,
    span: &Span,
    at: Timestamp,
    reverse: bool,
    mut overlay: Vec<Overlay>,
    visit: &mut VisitRow<'_>,
) -> Result<ControlFlow<()>, KvError> {
    if overlay.is_empty() {
        let mut flow = ControlFlow::Continue(());
        let mut show = |row: RowRef<'_>| {
            flow = visit(row);
            flow
        };
        storage.scan(span, at, reverse, &mut show).map_err(storage_error)?;
        return Ok(flow);
    }
    if reverse {
        overlay.reverse();
    }
    let mut pending = overlay.into_iter().peekable();
    let mut flow = ControlFlow::Continue(());
    let before = |a: &[u8], b: &[u8]| if reverse { a > b } else { a < b };
    storage
        .scan(span, at, reverse, &mut |row| {
            while let Some(intent) = pending.next_if(|intent| before(&intent.key, row.key)) {
                flow = visit_intent(&intent, visit);
                if flow.is_break() {
                    return flow;
                }
            }
            flow = match pending.next_if(|intent| *intent.key == *row.key) {
                Some(intent) => visit_intent(&intent, visit),
                None => visit(row),
            };
            flow
        })
        .map_err(storage_error)?;
    while flow.is_continue()
        && let Some(intent) = pending.next()
    {
        flow = visit_intent(&intent, visit);
    }
    Ok(flow)
}

fn visit_intent(intent: &Overlay, visit: &mut VisitRow<'_>) -> ControlFlow<()> {
    match &intent.value {
        Some(value) => visit(RowRef { key: &intent.key, value, ts: intent.ts }),
        None => ControlFlow::Continue(()),
    }
}
