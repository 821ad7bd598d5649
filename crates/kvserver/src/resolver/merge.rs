//! The merging rule: what one transaction leaves behind in one range, as few points and ranges as possible.
//!
//! - a point inside a range is absorbed;
//! - ranges that overlap or touch unite;
//! - past a byte budget, one covering range replaces everything. That is correct, since a resolution touches only its own
//!   transaction's locks, and wasteful when the points are sparse, so it is not done before.
//!
//! Items of different transactions never merge.

use std::collections::BTreeSet;
use tidelock_base::{Key, Span};
use tidelock_kvapi::LockSpan;

/// Key bytes of one transaction in one batch before a covering range replaces its points: as much as a few thousand points.
pub const MAX_KEY_BYTES_PER_TXN: usize = 64 * 1024;

/// The merged spans of one transaction.
#[derive(Debug, Default)]
pub struct Merged {
    points: BTreeSet<Key>,
    ranges: Vec<Span>,
    bytes: usize,
}

/// How often what happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeCounts {
    /// Points that a range, or an equal point, made needless.
    pub absorbed: u64,
    /// Ranges that became one with another.
    pub united: u64,
}

impl Merged {
    /// Adds a span, and says what it made needless.
    pub fn add(&mut self, span: LockSpan) -> MergeCounts {
        let mut counts = match span {
            LockSpan::Point(key) => self.add_point(key),
            LockSpan::Range(range) if range.is_point() => self.add_point(range.start),
            LockSpan::Range(range) => self.add_range(range),
        };
        if self.bytes > MAX_KEY_BYTES_PER_TXN {
            let covered = self.points.len() as u64;
            self.cover();
            counts.absorbed += covered;
        }
        counts
    }

    fn add_point(&mut self, key: Key) -> MergeCounts {
        let covered = self.ranges.iter().any(|range| range.contains(&key));
        let bytes = key.len();
        if covered || !self.points.insert(key) {
            return MergeCounts { absorbed: 1, united: 0 };
        }
        self.bytes += bytes;
        MergeCounts::default()
    }

    fn add_range(&mut self, mut range: Span) -> MergeCounts {
        let mut counts = MergeCounts::default();
        self.ranges.retain(|other| {
            let touches = range.start <= other.end && other.start <= range.end;
            if touches {
                range.start = range.start.clone().min(other.start.clone());
                range.end = range.end.clone().max(other.end.clone());
                counts.united += 1;
            }
            !touches
        });
        let inside: Vec<Key> = self.points.range(range.start.clone()..range.end.clone()).cloned().collect();
        for key in inside {
            self.bytes = self.bytes.saturating_sub(key.len());
            self.points.remove(&key);
            counts.absorbed += 1;
        }
        let at = self.ranges.partition_point(|other| other.start < range.start);
        self.ranges.insert(at, range);
        counts
    }

    fn cover(&mut self) {
        let starts = self.points.first().into_iter().chain(self.ranges.first().map(|r| &r.start)).min().cloned();
        let last_point = self.points.last().map(Key::next);
        let end = last_point.into_iter().chain(self.ranges.iter().map(|r| r.end.clone())).max();
        if let (Some(start), Some(end)) = (starts, end) {
            self.points.clear();
            self.ranges = vec![Span::new(start, end)];
            self.bytes = 0;
        }
    }

    /// The spans, in key order within each kind.
    pub fn spans(&self) -> impl Iterator<Item = LockSpan> + '_ {
        let points = self.points.iter().cloned().map(LockSpan::Point);
        points.chain(self.ranges.iter().cloned().map(LockSpan::Range))
    }

    /// How many points, how many ranges.
    pub fn counts(&self) -> (usize, usize) {
        (self.points.len(), self.ranges.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(key: &str) -> LockSpan {
        LockSpan::Point(key.into())
    }

    fn range(start: &str, end: &str) -> LockSpan {
        LockSpan::Range(Span::new(start.into(), end.into()))
    }

    fn merged(spans: Vec<LockSpan>) -> (Vec<LockSpan>, MergeCounts) {
        let mut merged = Merged::default();
        let mut total = MergeCounts::default();
        for span in spans {
            let counts = merged.add(span);
            total.absorbed += counts.absorbed;
            total.united += counts.united;
        }
        (merged.spans().collect(), total)
    }

    #[test]
    fn a_point_inside_a_range_is_absorbed_in_either_order() {
        let counts = MergeCounts { absorbed: 1, united: 0 };
        assert_eq!(merged(vec![point("c"), range("b", "d")]), (vec![range("b", "d")], counts));
        assert_eq!(merged(vec![range("b", "d"), point("c")]), (vec![range("b", "d")], counts));
    }

    #[test]
    fn touching_ranges_unite_and_distant_ones_do_not() {
        let (spans, counts) = merged(vec![range("e", "g"), range("a", "c"), range("g", "k")]);
        assert_eq!(spans, [range("a", "c"), range("e", "k")]);
        assert_eq!(counts.united, 1);
    }

    #[test]
    fn past_the_byte_budget_one_range_covers_all() {
        let mut merged = Merged::default();
        let mut last = Key::default();
        for n in 0..20_000u32 {
            last = Key::from(&n.to_be_bytes()[..]);
            merged.add(LockSpan::Point(last.clone()));
        }
        let (points, ranges) = merged.counts();
        assert!(points < 20_000 && ranges == 1);
        let covered = |key: &Key| merged.spans().any(|span| span.span().contains(key));
        assert!(covered(&Key::from(&[0u8; 4][..])) && covered(&last));
    }
}
