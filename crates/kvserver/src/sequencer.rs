//! The commit sequencer: every commit passes here, one after another, so that
//! *log order = commit order = timestamp order*.
//!
//! ```text
//!   T1 ──┐
//!   T2 ──┼─► [ validate │ ts = last + 1 │ append to the log │ flip the record ] ─► resolve, release ─► wait for the disk
//!   T3 ──┘          one at a time; no I/O inside                                     in parallel
//! ```
//!
//! *Validate*: has anything that this transaction read, at its snapshot, changed since? Most of what a transaction read was
//! not touched by anybody, so the sequencer keeps a window of recent commits, each with the keys it wrote, and looks whether
//! reads and writes meet. Only where they do, values are compared, and only in the columns that the statement used
//! (*refresh by value*): New-Order's read of `w_tax` survives every Payment that rewrote `w_ytd` beside it.
//! A transaction that began before the window is compared in full, outside of the lock, up to a moment that the window
//! covers.
//!
//! *Flip*: from here on the transaction is committed for everybody, though not yet durable. Who read it before it was
//! durable owes the disk that wait (`observed` in `EndTxn`).

use hashbrown::{DefaultHashBuilder, HashMap, HashSet};
use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tidelock_base::row::ColumnSet;
use tidelock_base::{IndexId, Key, Span, Timestamp};
use tidelock_kvapi::{Assertion, KvError, ReadSpan};

/// Commits remembered. At 10,000 commits a second, transactions of up to 0.8 s validate without touching data.
const WINDOW_COMMITS: usize = 8 * 1024;

/// Keys remembered over all commits (about 50 bytes each).
const WINDOW_KEYS: usize = 400_000;

/// Indexes below this one are the system's: few keys, seldom written, asserted by every commit. Their last writes are kept by
/// key, so that an assertion costs one look-up however old the definition is that it speaks of.
const FIRST_USER_INDEX: IndexId = IndexId(100);

/// System keys whose last write is remembered (a table or a sequence is one each).
const SYSTEM_KEYS: usize = 200_000;

/// A commit that wrote more keys is not remembered: the window begins after it.
const MAX_FOOTPRINT_KEYS: usize = 50_000;

/// What a commit wrote.
#[derive(Debug)]
pub struct CommitFootprint {
    ts: Timestamp,
    sorted: Vec<Key>,
    hashes: HashSet<u64>,
    /// It wrote more keys than can be named here.
    many: bool,
}

/// Compares a key's values at two moments, in the given columns; what the sequencer cannot do itself.
pub trait Compare {
    /// Did the value change between `from` and the newest commit?
    fn changed(&self, key: &Key, from: Timestamp, columns: ColumnSet) -> Result<bool, KvError>;
    /// Did anything in the span change? (The slow path, without help from the window.)
    fn span_changed(&self, span: &Span, from: Timestamp, columns: ColumnSet) -> Result<Option<Key>, KvError>;
    /// The newest version's timestamp.
    fn newest_version(&self, key: &Key) -> Result<Timestamp, KvError>;
}

#[derive(Debug)]
struct Window {
    last: Timestamp,
    /// Every commit after this is in `commits`.
    floor: Timestamp,
    commits: VecDeque<Arc<CommitFootprint>>,
    keys: usize,
    /// Last writes of the system's keys, complete after `system_floor`.
    system_writes: HashMap<Key, Timestamp>,
    system_floor: Timestamp,
}

/// Orders commits.
#[derive(Debug)]
pub struct Sequencer {
    window: Mutex<Window>,
    newest: AtomicU64,
    hasher: DefaultHashBuilder,
}

/// The right to commit next: taken by [`Sequencer::enter`], used up by [`Turn::commit`].
pub struct Turn<'a> {
    sequencer: &'a Sequencer,
    window: MutexGuard<'a, Window>,
}

impl Sequencer {
    /// Goes on after the newest commit of the log.
    pub fn new(last: Timestamp) -> Sequencer {
        Sequencer {
            window: Mutex::new(Window {
                last,
                floor: last,
                commits: VecDeque::new(),
                keys: 0,
                system_writes: HashMap::new(),
                system_floor: last,
            }),
            newest: AtomicU64::new(last.0),
            hasher: DefaultHashBuilder::default(),
        }
    }

    /// The newest commit.
    pub fn newest(&self) -> Timestamp {
        Timestamp(self.newest.load(Ordering::Acquire))
    }

    /// Prepares what a commit will leave in the window; done before entering.
    pub fn footprint(&self, mut keys: Vec<Key>) -> CommitFootprint {
        keys.sort_unstable();
        keys.dedup();
        let hashes = keys.iter().map(|key| self.hash(key)).collect();
        CommitFootprint { ts: Timestamp::ZERO, sorted: keys, hashes, many: false }
    }

    /// Waits for the others to pass, validates against everything that committed since `from`.
    pub fn enter(
        &self,
        reads: &[ReadSpan],
        assertions: &[Assertion],
        from: Timestamp,
        compare: &impl Compare,
    ) -> Result<Turn<'_>, KvError> {
        let hashed = self.hash_points(reads);
        let covered = self.catch_up(reads, from, compare)?;
        let window = self.window.lock();
        // Comparing beyond `covered` is enough: up to there everything was compared already.
        window.check(&hashed, covered, from, compare)?;
        window.check_assertions(assertions, compare)?;
        Ok(Turn { sequencer: self, window })
    }

    /// Would these reads give the same answer at the newest commit as they gave at `from`?
    pub fn refresh(&self, reads: &[ReadSpan], from: Timestamp, compare: &impl Compare) -> Result<(), KvError> {
        let hashed = self.hash_points(reads);
        let covered = self.catch_up(reads, from, compare)?;
        self.window.lock().check(&hashed, covered, from, compare)
    }

    /// Does the span hold a key that was committed after `from`? Errs towards "yes".
    pub fn touched_since(&self, span: &Span, from: Timestamp) -> Timestamp {
        let window = self.window.lock();
        if window.floor > from {
            return window.last;
        }
        let touching = window.commits.iter().rev().take_while(|c| c.ts > from);
        touching
            .filter(|c| c.first_in(span) < c.sorted.len() && span.contains(&c.sorted[c.first_in(span)]))
            .map(|c| c.ts)
            .max()
            .unwrap_or(Timestamp::ZERO)
    }

    /// Brings a transaction that began before the window up to a moment the window covers, by comparing everything.
    fn catch_up(&self, reads: &[ReadSpan], from: Timestamp, compare: &impl Compare) -> Result<Timestamp, KvError> {
        let upto = {
            let window = self.window.lock();
            if window.floor <= from || reads.is_empty() {
                return Ok(from);
            }
            window.last
        };
        for read in reads {
            let changed = match read {
                ReadSpan::Point(key, columns) => compare.changed(key, from, *columns)?.then(|| key.clone()),
                ReadSpan::Range(span, columns) => compare.span_changed(span, from, *columns)?,
            };
            if let Some(key) = changed {
                return Err(KvError::ReadChanged { key, at: upto });
            }
        }
        Ok(upto)
    }

    fn hash_points<'r>(&self, reads: &'r [ReadSpan]) -> Vec<(u64, &'r ReadSpan)> {
        let hash = |read: &ReadSpan| match read {
            ReadSpan::Point(key, _) => self.hash(key),
            ReadSpan::Range(..) => 0,
        };
        reads.iter().map(|read| (hash(read), read)).collect()
    }

    fn hash(&self, key: &Key) -> u64 {
        self.hasher.hash_one(key.as_bytes())
    }
}

impl Window {
    fn check(&self, reads: &[(u64, &ReadSpan)], covered: Timestamp, from: Timestamp, compare: &impl Compare) -> Result<(), KvError> {
        if reads.is_empty() {
            return Ok(());
        }
        for commit in self.commits.iter().rev().take_while(|commit| commit.ts > covered) {
            for (hash, read) in reads {
                commit.check(*hash, read, from, compare)?;
            }
        }
        Ok(())
    }

    fn check_assertions(&self, assertions: &[Assertion], compare: &impl Compare) -> Result<(), KvError> {
        for assertion in assertions {
            let Assertion { key, since } = assertion;
            let suspect = if key.index() < FIRST_USER_INDEX {
                self.system_writes.get(key).map_or(self.system_floor > *since, |written| written > since)
            } else {
                self.floor > *since || self.commits.iter().rev().take_while(|c| c.ts > *since).any(|c| c.sorted.binary_search(key).is_ok())
            };
            if suspect && compare.newest_version(key)? > *since {
                return Err(KvError::AssertionFailed { key: key.clone() });
            }
        }
        Ok(())
    }

    fn remember(&mut self, footprint: CommitFootprint) {
        if footprint.many {
            // Any key may be among them.
            self.system_writes.clear();
            self.system_floor = footprint.ts;
        }
        for key in footprint.sorted.iter().take_while(|key| key.index() < FIRST_USER_INDEX) {
            self.system_writes.insert(key.clone(), footprint.ts);
        }
        if self.system_writes.len() > SYSTEM_KEYS {
            self.system_writes.clear();
            self.system_floor = footprint.ts;
        }
        if footprint.many || footprint.sorted.len() > MAX_FOOTPRINT_KEYS {
            self.floor = footprint.ts;
            self.commits.clear();
            self.keys = 0;
            return;
        }
        self.keys += footprint.sorted.len();
        self.commits.push_back(Arc::new(footprint));
        while self.commits.len() > WINDOW_COMMITS || self.keys > WINDOW_KEYS {
            let Some(oldest) = self.commits.pop_front() else { break };
            self.keys -= oldest.sorted.len();
            self.floor = oldest.ts;
        }
    }
}

impl CommitFootprint {
    /// Of a commit that wrote too many keys to name: whoever began before it compares everything.
    pub fn of_many() -> CommitFootprint {
        CommitFootprint { ts: Timestamp::ZERO, sorted: Vec::new(), hashes: HashSet::new(), many: true }
    }

    fn first_in(&self, span: &Span) -> usize {
        self.sorted.partition_point(|key| *key < span.start)
    }

    fn check(&self, hash: u64, read: &ReadSpan, from: Timestamp, compare: &impl Compare) -> Result<(), KvError> {
        let changed = |key: &Key, columns| match compare.changed(key, from, columns)? {
            true => Err(KvError::ReadChanged { key: key.clone(), at: self.ts }),
            false => Ok(()),
        };
        match read {
            ReadSpan::Point(key, columns) if self.hashes.contains(&hash) => changed(key, *columns),
            ReadSpan::Point(..) => Ok(()),
            ReadSpan::Range(span, columns) => {
                let inside = self.sorted[self.first_in(span)..].iter().take_while(|key| span.contains(key));
                inside.into_iter().try_for_each(|key| changed(key, *columns))
            }
        }
    }
}

impl Turn<'_> {
    /// The timestamp this commit will have.
    pub fn ts(&self) -> Timestamp {
        self.window.last.next()
    }

    /// Commits: `append` puts the record into the log, `flip` makes it visible. If `append` fails, nothing has happened.
    pub fn commit<E>(
        mut self,
        mut footprint: CommitFootprint,
        append: impl FnOnce(Timestamp) -> Result<(), E>,
        flip: impl FnOnce(Timestamp),
    ) -> Result<Timestamp, E> {
        let ts = self.ts();
        append(ts)?;
        flip(ts);
        footprint.ts = ts;
        self.window.last = ts;
        self.window.remember(footprint);
        self.sequencer.newest.store(ts.0, Ordering::Release);
        Ok(ts)
    }
}
