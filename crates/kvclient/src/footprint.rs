//! What a transaction has touched: where it may hold locks, and what it read.
//!
//! Both footprints are bounded. Past its bound a footprint is *condensed*: points and ranges of one index become one
//! covering range. That is always correct, since a resolution touches only its own transaction's locks, and a read of
//! more than was read can only fail a refresh, never pass one wrongly.

use tidelock_base::row::ColumnSet;
use tidelock_base::{Key, Span};
use tidelock_kvapi::{LockSpan, ReadSpan};

/// Lock spans kept one by one; more are condensed. A span is about 60 bytes, so this is a few megabytes.
pub const MAX_LOCK_SPANS: usize = 50_000;

/// Reads kept one by one.
pub const MAX_READ_SPANS: usize = 20_000;

/// Where a transaction may hold locks and intents.
#[derive(Debug, Default)]
pub struct LockFootprint {
    spans: Vec<LockSpan>,
    /// How often points were given up for covering ranges.
    condensations: u32,
    /// Spans before the newest savepoint: a key noted there must be noted again, or a rollback would miss it.
    barrier: usize,
}

impl LockFootprint {
    /// Notes a key.
    pub fn point(&mut self, key: &Key) {
        if self.repeats_last(key) {
            return;
        }
        self.push(LockSpan::Point(key.clone()));
    }

    /// Notes a span of which any row may be locked.
    pub fn range(&mut self, span: &Span) {
        self.push(LockSpan::Range(span.clone()));
    }

    /// Replaces the range noted last by what its scan covered; nothing, when it locked no row. `len` is the footprint's
    /// length before the range was noted; a footprint condensed meanwhile stays as it is.
    pub fn narrow_last(&mut self, len: usize, covered: Option<&Span>) {
        if self.spans.len() == len + 1 {
            self.spans.pop();
            self.spans.extend(covered.cloned().map(LockSpan::Range));
        }
    }

    /// A savepoint was set.
    pub fn set_barrier(&mut self) {
        self.barrier = self.spans.len();
    }

    /// Forgets the spans from `len` on: they were resolved by a rollback to a savepoint.
    pub fn truncate(&mut self, len: usize) {
        self.spans.truncate(len);
        self.barrier = self.barrier.min(len);
    }

    /// Nothing locked?
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// How often points were given up for covering ranges: spans counted before do not say where they are any more.
    pub fn condensations(&self) -> u32 {
        self.condensations
    }

    /// Hands the spans over.
    pub fn take(&mut self) -> Vec<LockSpan> {
        std::mem::take(&mut self.spans)
    }

    /// The spans, to look at.
    pub fn spans(&self) -> &[LockSpan] {
        &self.spans
    }

    /// A read-lock-write of one row notes the same key twice in a row: once is enough.
    fn repeats_last(&self, key: &Key) -> bool {
        self.spans.len() > self.barrier && matches!(self.spans.last(), Some(LockSpan::Point(last)) if last == key)
    }

    fn push(&mut self, span: LockSpan) {
        self.spans.push(span);
        if self.spans.len() > MAX_LOCK_SPANS {
            self.condense();
        }
    }

    fn condense(&mut self) {
        let spans = self.spans.iter().map(LockSpan::span);
        self.spans = cover_by_index(spans).into_iter().map(LockSpan::Range).collect();
        self.condensations += 1;
        self.barrier = 0;
    }
}

/// What a transaction read without a lock that keeps it.
#[derive(Debug, Default)]
pub struct ReadFootprint {
    reads: Vec<ReadSpan>,
}

impl ReadFootprint {
    /// Notes a key that was looked up, found or not.
    pub fn point(&mut self, key: &Key, columns: ColumnSet) {
        self.push(ReadSpan::Point(key.clone(), columns));
    }

    /// Notes a span that was scanned.
    pub fn range(&mut self, span: Span, columns: ColumnSet) {
        if !span.is_empty() {
            self.push(ReadSpan::Range(span, columns));
        }
    }

    /// Nothing read?
    pub fn is_empty(&self) -> bool {
        self.reads.is_empty()
    }

    /// How many reads are remembered.
    pub fn len(&self) -> usize {
        self.reads.len()
    }

    /// Forgets all reads after the first `len`: they were those of a statement that is run again.
    pub fn truncate(&mut self, len: usize) {
        self.reads.truncate(len);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.reads.clear();
    }

    /// The reads, to refresh them.
    pub fn reads(&self) -> &[ReadSpan] {
        &self.reads
    }

    /// Hands the reads over.
    pub fn take(&mut self) -> Vec<ReadSpan> {
        std::mem::take(&mut self.reads)
    }

    fn push(&mut self, read: ReadSpan) {
        self.reads.push(read);
        if self.reads.len() > MAX_READ_SPANS {
            let spans = self.reads.iter().map(ReadSpan::span);
            let covers = cover_by_index(spans);
            self.reads = covers.into_iter().map(|span| ReadSpan::Range(span, ColumnSet::ALL)).collect();
        }
    }
}

/// One covering span per index.
fn cover_by_index(spans: impl Iterator<Item = Span>) -> Vec<Span> {
    let mut covers: Vec<Span> = Vec::new();
    for span in spans {
        match covers.iter_mut().find(|cover| cover.start.index() == span.start.index()) {
            Some(cover) => {
                cover.start = cover.start.clone().min(span.start);
                cover.end = cover.end.clone().max(span.end);
            }
            None => covers.push(span),
        }
    }
    covers
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidelock_base::IndexId;

    fn key(index: u32, n: u32) -> Key {
        let mut key = Key::index_start(IndexId(index));
        key.extend(&n.to_be_bytes());
        key
    }

    #[test]
    fn a_condensed_footprint_still_covers_every_key() {
        let mut locks = LockFootprint::default();
        for n in 0..=MAX_LOCK_SPANS as u32 {
            locks.point(&key(100 + n % 2, n));
        }
        assert_eq!(locks.condensations(), 1);
        assert_eq!(locks.spans().len(), 2);
        for n in 0..=MAX_LOCK_SPANS as u32 {
            let key = key(100 + n % 2, n);
            assert!(locks.spans().iter().any(|span| span.span().contains(&key)));
        }
    }

    #[test]
    fn a_key_locked_then_written_is_noted_once() {
        let mut locks = LockFootprint::default();
        locks.point(&key(1, 1));
        locks.point(&key(1, 1));
        assert_eq!(locks.spans().len(), 1);
    }
}
