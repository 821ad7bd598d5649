//! Reading: one key, or the keys of a span, as of a timestamp.
//!
//! A reader looks at a shard's active map, its frozen map and its base, in that order; the first that has a version at or
//! below the timestamp has the answer (`memtable` says why). The shard's lock is held while the maps are looked at, never while redb
//! is read or the caller's closure runs.
//!
//! A scan merges batches: a few keys of the two maps, copied out under the lock together with a reference to the base that belongs to them,
//! then a walk along the base up to the last of them. Batches start small, since most scans want a handful of rows, and grow. All of
//! a batch, base included, is of one moment; between batches the base may be swapped, so no snapshot of redb is held for longer.
//!
//! ```text
//!   memtable batch   b@9   d@7(gone)  f@8 |  -> the next batch starts behind f
//!   base           a     c d        e f   | g h
//!   visited        a b   c          e f   |
//! ```

use crate::base::BaseTable;
use crate::error::StorageError;
use crate::memtable::{Chain, Generation, Memtables, ShardState, shard_of, visible};
use crate::version::{Row, RowKind, Version};
use redb::{AccessGuard, ReadableTable};
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::collections::btree_map;
use std::iter::Peekable;
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tidelock_base::{Key, RowRef, Span, Timestamp};

/// Memtable keys looked at in the first batch of a scan.
const FIRST_BATCH: usize = 8;
/// Each batch may be this much larger than the one before.
const BATCH_GROWTH: usize = 4;
/// Memtable keys looked at under one lock at most.
const BATCH_MAX: usize = 256;
/// Base rows visited on one snapshot at most.
const BASE_ROWS_MAX: usize = 4096;

/// Read counters.
#[derive(Default)]
pub(crate) struct ReadCounters {
    pub(crate) base_reads: AtomicU64,
}

/// A closure that is shown rows, and may end the scan.
pub(crate) type Visit<'a> = dyn FnMut(RowRef<'_>) -> ControlFlow<()> + 'a;

enum Found {
    Version(Version),
    Base(Option<Arc<BaseTable>>),
}

/// The version of a key as of `at`.
pub(crate) fn get(memtables: &Memtables, counters: &ReadCounters, key: &[u8], at: Timestamp) -> Result<Option<Version>, StorageError> {
    let found = memtables.with_shard(shard_of(key), |shard| {
        let state = shard.read();
        let frozen = || state.frozen.as_ref().and_then(|frozen| frozen.visible(key, at));
        match state.active.visible(key, at).or_else(frozen) {
            Some(version) => Found::Version(version.clone()),
            None => Found::Base(state.base.clone()),
        }
    });
    match found {
        Some(Found::Version(version)) => Ok(Some(version)),
        Some(Found::Base(Some(base))) => {
            counters.base_reads.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            base.get(key, at)
        }
        Some(Found::Base(None)) | None => Ok(None),
    }
}

/// Shows the rows of a span, as of `at`, in key order or backwards.
pub(crate) fn scan(memtables: &Memtables, span: &Span, at: Timestamp, reverse: bool, visit: &mut Visit<'_>) -> Result<(), StorageError> {
    if span.is_empty() {
        return Ok(());
    }
    let mut shards = memtables.between(shard_of(&span.start), shard_of(&span.end));
    if reverse {
        shards.reverse();
    }
    for index in shards {
        let mut cursor = Cursor {
            lower: Bound::Included(span.start.clone()),
            upper: Bound::Excluded(span.end.clone()),
            at,
            reverse,
            batch: FIRST_BATCH,
        };
        loop {
            let step = memtables.with_shard(index, |shard| cursor.collect(&shard.read()));
            let Some(batch) = step else { break };
            match cursor.visit(batch, visit)? {
                Step::Again => {}
                Step::ShardEnd => break,
                Step::Stop => return Ok(()),
            }
        }
    }
    Ok(())
}

enum Step {
    Again,
    ShardEnd,
    Stop,
}

/// What remains to be scanned of a shard.
struct Cursor {
    lower: Bound<Key>,
    upper: Bound<Key>,
    at: Timestamp,
    reverse: bool,
    batch: usize,
}

/// Memtable rows of one moment, and the base of the same.
struct Batch {
    rows: SmallVec<[(Key, Version); FIRST_BATCH]>,
    /// The last key looked at, if there are more behind it.
    end: Option<Key>,
    base: Option<Arc<BaseTable>>,
}

fn as_slice(bound: &Bound<Key>) -> Bound<&[u8]> {
    bound.as_ref().map(|key| &**key)
}

impl Cursor {
    fn bounds(&self) -> (Bound<&[u8]>, Bound<&[u8]>) {
        (as_slice(&self.lower), as_slice(&self.upper))
    }

    /// `BTreeMap::range` panics on bounds that cross, so they are looked at first.
    fn is_empty(&self) -> bool {
        match self.bounds() {
            (Bound::Included(lower), Bound::Excluded(upper)) => lower >= upper,
            (Bound::Excluded(lower), Bound::Excluded(upper)) => lower >= upper,
            _ => false,
        }
    }

    /// Is a key, come upon on the way, not yet behind the end?
    fn reaches(&self, key: &[u8]) -> bool {
        let (end, inside) = if self.reverse { (&self.lower, Ordering::Greater) } else { (&self.upper, Ordering::Less) };
        match end {
            Bound::Included(end) => key == &**end || key.cmp(end) == inside,
            Bound::Excluded(end) => key.cmp(end) == inside,
            Bound::Unbounded => true,
        }
    }

    /// Nothing up to and including `key` remains.
    fn move_behind(&mut self, key: Key) {
        if self.reverse {
            self.upper = Bound::Excluded(key);
        } else {
            self.lower = Bound::Excluded(key);
        }
    }

    fn order(&self, left: &[u8], right: &[u8]) -> Ordering {
        if self.reverse { right.cmp(left) } else { left.cmp(right) }
    }

    fn collect(&mut self, state: &ShardState) -> Batch {
        let mut batch = Batch { rows: SmallVec::new(), end: None, base: state.base.clone() };
        if self.is_empty() {
            batch.base = None;
            return batch;
        }
        let mut merged = Merged {
            active: self.walk(&state.active),
            frozen: state.frozen.as_ref().and_then(|frozen| self.walk(frozen)),
            reverse: self.reverse,
        };
        for looked_at in 1.. {
            let Some((key, active, frozen)) = merged.next() else { break };
            let seen = |chain: Option<&Chain>| chain.and_then(|chain| visible(chain, self.at)).cloned();
            if let Some(version) = seen(active).or_else(|| seen(frozen)) {
                batch.rows.push((key.clone(), version));
            }
            if looked_at >= self.batch {
                batch.end = Some(key.clone());
                break;
            }
        }
        self.batch = (self.batch * BATCH_GROWTH).min(BATCH_MAX);
        batch
    }

    fn walk<'a>(&self, generation: &'a Generation) -> Option<Peekable<Walk<'a>>> {
        let nothing = generation.map.is_empty();
        (!nothing).then(|| Walk { rows: generation.map.range::<[u8], _>(self.bounds()), reverse: self.reverse }.peekable())
    }

    /// Merges a batch with the base, and shows what is no deletion.
    fn visit(&mut self, batch: Batch, visit: &mut Visit<'_>) -> Result<Step, StorageError> {
        let Batch { rows, end, base } = batch;
        let mut rows = rows.into_iter().peekable();
        let mut from_base = match &base {
            Some(base) => Some(BaseWalk::new(base, self)?),
            None => None,
        };
        let mut shown_from_base = 0;
        while let Some(base_row) = from_base.as_ref().and_then(|walk| walk.next.as_ref()) {
            let base_key = base_row.0.value();
            if end.as_ref().is_some_and(|end| self.order(base_key, end).is_gt()) || shown_from_base >= BASE_ROWS_MAX {
                break;
            }
            let order = rows.peek().map_or(Ordering::Greater, |(key, _)| self.order(key, base_key));
            if order.is_le() {
                if let Some((key, version)) = rows.next()
                    && show(&key, &version, visit).is_break()
                {
                    return Ok(Step::Stop);
                }
                if order.is_lt() {
                    continue;
                }
            } else if let Some(base) = &base
                && show_base_row(base, base_key, base_row.1.value(), self.at, visit)?.is_break()
            {
                return Ok(Step::Stop);
            }
            shown_from_base += 1;
            if shown_from_base >= BASE_ROWS_MAX {
                let last = Key::from(base_key);
                self.move_behind(last);
                return Ok(Step::Again);
            }
            if let Some(walk) = &mut from_base {
                walk.advance(self)?;
            }
        }
        for (key, version) in rows {
            if show(&key, &version, visit).is_break() {
                return Ok(Step::Stop);
            }
        }
        match end {
            Some(end) => {
                self.move_behind(end);
                Ok(Step::Again)
            }
            None => Ok(Step::ShardEnd),
        }
    }
}

/// Shows a version, unless it is a deletion.
fn show(key: &[u8], version: &Version, visit: &mut Visit<'_>) -> ControlFlow<()> {
    match &version.value {
        Some(value) => visit(RowRef { key, value, ts: version.ts }),
        None => ControlFlow::Continue(()),
    }
}

/// Shows what a reader at `at` sees of a row of the base: where it lies, unless it is history.
fn show_base_row(base: &BaseTable, key: &[u8], row: &[u8], at: Timestamp, visit: &mut Visit<'_>) -> Result<ControlFlow<()>, StorageError> {
    let newest = Row::decode(row)?;
    if newest.ts > at {
        let version = base.visible(key, newest, at)?;
        return Ok(version.map_or(ControlFlow::Continue(()), |version| show(key, &version, visit)));
    }
    Ok(match newest.kind {
        RowKind::Value => visit(RowRef { key, value: newest.value, ts: newest.ts }),
        RowKind::Tombstone | RowKind::Marker => ControlFlow::Continue(()),
    })
}

/// A memtable's range in the scan's direction.
struct Walk<'a> {
    rows: btree_map::Range<'a, Key, Chain>,
    reverse: bool,
}

impl<'a> Iterator for Walk<'a> {
    type Item = (&'a Key, &'a Chain);
    fn next(&mut self) -> Option<Self::Item> {
        if self.reverse { self.rows.next_back() } else { self.rows.next() }
    }
}

/// Two memtables side by side: each key once, with its chain in either.
struct Merged<'a> {
    active: Option<Peekable<Walk<'a>>>,
    frozen: Option<Peekable<Walk<'a>>>,
    reverse: bool,
}

impl<'a> Merged<'a> {
    fn next(&mut self) -> Option<(&'a Key, Option<&'a Chain>, Option<&'a Chain>)> {
        let active = self.active.as_mut().and_then(Peekable::peek).copied();
        let frozen = self.frozen.as_mut().and_then(Peekable::peek).copied();
        let order = match (active, frozen) {
            (None, None) => return None,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((active, _)), Some((frozen, _))) if self.reverse => frozen.cmp(active),
            (Some((active, _)), Some((frozen, _))) => active.cmp(frozen),
        };
        let from_active = if order.is_le() { self.active.as_mut().and_then(Iterator::next) } else { None };
        let from_frozen = if order.is_ge() { self.frozen.as_mut().and_then(Iterator::next) } else { None };
        let key = from_active.or(from_frozen)?.0;
        Some((key, from_active.map(|row| row.1), from_frozen.map(|row| row.1)))
    }
}

type BaseRow<'a> = (AccessGuard<'a, &'static [u8]>, AccessGuard<'a, &'static [u8]>);

/// The base's rows in the scan's direction. A cursor, not a range: a range would seek both of its ends.
struct BaseWalk<'a> {
    rows: redb::Cursor<'a, &'static [u8], &'static [u8]>,
    reverse: bool,
    next: Option<BaseRow<'a>>,
}

impl<'a> BaseWalk<'a> {
    fn new(base: &'a BaseTable, cursor: &Cursor) -> Result<BaseWalk<'a>, StorageError> {
        let rows = if cursor.reverse {
            base.latest.upper_bound(as_slice(&cursor.upper))?
        } else {
            base.latest.lower_bound(as_slice(&cursor.lower))?
        };
        let mut walk = BaseWalk { rows, reverse: cursor.reverse, next: None };
        walk.advance(cursor)?;
        Ok(walk)
    }

    fn advance(&mut self, cursor: &Cursor) -> Result<(), StorageError> {
        let next = if self.reverse { self.rows.prev()? } else { self.rows.next()? };
        self.next = next.filter(|(key, _)| cursor.reaches(key.value()));
        Ok(())
    }
}
