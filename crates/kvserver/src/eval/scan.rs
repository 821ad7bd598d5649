//! `Scan`: the rows of a span, at a snapshot, or newest and locked.
//!
//! A plain scan is a read without locks ([`crate::snapshot_read`]), cut into pages.
//!
//! A locking scan works in slices under the range's mutex. At SERIALIZABLE and REPEATABLE READ its answer shows exactly the
//! span at `read_at`: when a row turns out newer than that, the scan begins again at a later moment, with the locks it has.
//! READ COMMITTED locks the rows of its snapshot and returns each in its newest state.

use super::{Evaluation, Locking, Outcome};
use crate::snapshot_read::Reader;
use std::ops::ControlFlow;
use tidelock_base::limits::KEYS_PER_SLICE;
use tidelock_base::{Key, RowPage, RowRef, Span, Timestamp};
use tidelock_kvapi::{KvError, Limit, LockStrength, Response, Row};

/// Rows per answer; a longer scan goes on with `resume`.
const MAX_ROWS_PER_PAGE: usize = 4096;

/// Bytes per answer.
const MAX_BYTES_PER_PAGE: usize = 4 * 1024 * 1024;

/// Times a locking scan begins again because rows changed while it waited. Each round holds more locks than the one before.
const MAX_ROUNDS: usize = 10_000;

impl Evaluation<'_> {
    pub(super) fn scan(&self, span: &Span, reverse: bool, limit: Limit) -> Result<Response, KvError> {
        let at = self.read_ts();
        let mut page = Page::new(limit);
        if !page.is_full() {
            let reader = Reader { txn: self.reader(), at, reverse };
            let _ = self.store.visit_rows(span, reader, &mut |row| page.push(row))?;
        }
        let resume = page.resume(span, reverse);
        Ok(Response::Scan { rows: page.rows, resume, newest: Timestamp::ZERO, read_at: at })
    }

    pub(super) fn locking_scan(&mut self, span: &Span, reverse: bool, limit: Limit, strength: LockStrength) -> Result<Outcome, KvError> {
        for _ in 0..MAX_ROUNDS {
            let at = if self.is_read_committed() { self.read_ts() } else { self.store.sequencer.newest() };
            let round = self.locking_round(span, reverse, limit, strength, at);
            self.leave_queues();
            match round? {
                Round::Done { page, newest } => {
                    let resume = page.resume(span, reverse);
                    let seen = span.scanned(resume.as_ref(), reverse);
                    let newest = newest.max(self.touched(&seen));
                    return Ok(Outcome::Done(Response::Scan { rows: page.rows, resume, newest, read_at: at }));
                }
                Round::Blocked => return Ok(Outcome::Blocked),
                Round::Moved => {}
            }
        }
        Err(KvError::BadRequest("a locking scan never came to rest"))
    }

    /// One pass over the span at `at`, locking as it goes.
    fn locking_round(&mut self, span: &Span, reverse: bool, limit: Limit, strength: LockStrength, at: Timestamp) -> Result<Round, KvError> {
        let mut page = Page::new(limit);
        let mut newest = Timestamp::ZERO;
        let mut rest = span.clone();
        while !page.is_full() && !rest.is_empty() {
            let candidates = self.candidates(&rest, reverse, at, page.room())?;
            let exhausted = candidates.len() < page.room().min(KEYS_PER_SLICE);
            for key in candidates {
                rest = beyond(&rest, &key, reverse);
                match self.lock_row(&key, strength, at)? {
                    RowLock::Row(row) => {
                        if row.ts != Timestamp::MAX {
                            newest = newest.max(row.ts);
                        }
                        if page.push(row.as_ref()).is_break() {
                            break;
                        }
                    }
                    RowLock::Absent => {}
                    RowLock::Moved => return Ok(Round::Moved),
                    RowLock::Blocked => return Ok(Round::Blocked),
                }
            }
            if exhausted {
                break;
            }
        }
        Ok(Round::Done { page, newest })
    }

    /// The next keys of the span that have a row at `at`.
    fn candidates(&self, span: &Span, reverse: bool, at: Timestamp, wanted: usize) -> Result<Vec<Key>, KvError> {
        let mut keys = Vec::new();
        let wanted = wanted.min(KEYS_PER_SLICE);
        let reader = Reader { txn: self.reader(), at, reverse };
        let _ = self.store.visit_rows(span, reader, &mut |row| {
            keys.push(row.to_key());
            if keys.len() >= wanted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(keys)
    }

    fn lock_row(&mut self, key: &Key, strength: LockStrength, at: Timestamp) -> Result<RowLock, KvError> {
        let store = self.store;
        store.with_range(key, |guard| {
            match self.lock(guard, key, strength)? {
                Locking::Granted { .. } => {}
                Locking::Skipped => return Ok(RowLock::Absent),
                Locking::Blocked => return Ok(RowLock::Blocked),
            }
            let newest = self.newest_row(guard, key)?;
            let moved = newest.ts > at && newest.ts != Timestamp::MAX;
            match newest.row {
                _ if moved && !self.is_read_committed() => Ok(RowLock::Moved),
                Some(row) => Ok(RowLock::Row(row)),
                None => Ok(RowLock::Absent),
            }
        })?
    }

    /// When the span was last written since the snapshot, deletions included.
    fn touched(&self, span: &Span) -> Timestamp {
        if self.is_read_committed() {
            return Timestamp::ZERO;
        }
        self.store.sequencer.touched_since(span, self.read_ts())
    }
}

enum Round {
    Done {
        page: Page,
        newest: Timestamp,
    },
    Blocked,
    /// A row is newer than the moment the scan shows.
    Moved,
}

enum RowLock {
    Row(Row),
    Absent,
    Moved,
    Blocked,
}

/// Rows collected for one answer.
struct Page {
    rows: RowPage,
    limit: usize,
    full: bool,
}

impl Page {
    fn new(limit: Limit) -> Page {
        let limit = match limit {
            Limit::Unlimited => MAX_ROWS_PER_PAGE,
            Limit::Keys(keys) => usize::try_from(keys).unwrap_or(MAX_ROWS_PER_PAGE).min(MAX_ROWS_PER_PAGE),
        };
        Page { rows: RowPage::default(), limit, full: limit == 0 }
    }

    fn push(&mut self, row: RowRef<'_>) -> ControlFlow<()> {
        self.rows.push(row);
        self.full = self.rows.len() >= self.limit || self.rows.bytes() >= MAX_BYTES_PER_PAGE;
        if self.full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn is_full(&self) -> bool {
        self.full
    }

    fn room(&self) -> usize {
        self.limit - self.rows.len()
    }

    /// What lies beyond the last row, if the page ended before the span.
    fn resume(&self, span: &Span, reverse: bool) -> Option<Span> {
        if !self.full {
            return None;
        }
        let rest = match self.rows.last() {
            Some(last) => beyond(span, &last.to_key(), reverse),
            None => span.clone(),
        };
        Some(rest).filter(|rest| !rest.is_empty())
    }
}

fn beyond(span: &Span, key: &Key, reverse: bool) -> Span {
    if reverse { Span::new(span.start.clone(), key.clone()) } else { Span::new(key.next(), span.end.clone()) }
}
