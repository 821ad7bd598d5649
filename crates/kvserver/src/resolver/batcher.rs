//! The batcher: collects resolutions per range and says when a batch goes out.
//!
//! A batch goes out when its cost is full (a point costs 1, a range [`Config::range_cost`]), when its oldest item has waited
//! [`Config::max_wait`], when nothing was added for [`Config::max_idle`], or when somebody waits for one of its locks.
//!
//! *Back-pressure.* When [`Config::max_in_flight`] batches are on their way, [`Batcher::takes_more`] says no, until less than
//! four fifths of them are: the driver then leaves its inbox alone, which fills, and commits do their own resolving. What
//! is queued already still goes out when its time comes.
//!
//! A pure state machine: `now` is an argument; batches to send and items to answer are returned. What comes in is answered
//! exactly once: by [`Batcher::completed`], or by [`Batcher::stop`].

use super::merge::Merged;
use crate::settings::{KvSettings, Number};
use hashbrown::HashMap;
use std::collections::BTreeMap;
use std::time::Duration;
use tidelock_base::{RangeId, TxnId};
use tidelock_kvapi::{LockSpan, PassBudget, Request, Resolution};

/// Names one item until it is answered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ItemId(pub u64);

/// Names one batch until it is completed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct BatchId(pub u64);

/// When batches go out.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Points' worth of a full batch.
    pub max_cost: usize,
    /// What a range costs: it may fan out to many intents.
    pub range_cost: usize,
    /// What one batch may do before its rest is resumed.
    pub pass: PassBudget,
    /// Longest stay of an item.
    pub max_wait: Duration,
    /// Longest time without company.
    pub max_idle: Duration,
    /// Ranged resolutions share batches. Off: each goes alone, at once.
    pub batch_ranged: bool,
    /// Batches on their way at which nothing more is taken in.
    pub max_in_flight: usize,
}

impl Config {
    /// What the settings say now.
    pub fn of(settings: &KvSettings) -> Config {
        let count = |number| usize::try_from(settings.number(number)).unwrap_or(usize::MAX);
        let millis = |number| Duration::from_millis(settings.number(number));
        Config {
            max_cost: count(Number::BatchPoints),
            range_cost: count(Number::RangeCost),
            pass: PassBudget { keys: settings.number(Number::PassKeys), bytes: settings.number(Number::PassBytes) },
            max_wait: millis(Number::MaxWaitMs),
            max_idle: millis(Number::MaxIdleMs),
            batch_ranged: settings.batch_ranged(),
            max_in_flight: count(Number::MaxInFlight),
        }
    }
}

impl Default for Config {
    fn default() -> Config {
        Config::of(&KvSettings::default())
    }
}

/// A batch to send.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Its name, for [`Batcher::completed`].
    pub id: BatchId,
    /// The range it is for.
    pub range: RangeId,
    /// Its requests, all of them resolve requests.
    pub requests: Vec<Request>,
    /// What they may do together.
    pub pass: PassBudget,
}

/// What a completed batch leads to.
#[derive(Debug, Default)]
pub struct Completion {
    /// Items that are done, or failed.
    pub answers: Vec<(ItemId, bool)>,
    /// What the limit left over, to be sent as the same batch.
    pub again: Option<Batch>,
}

/// Counts what the batcher did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Items that came in.
    pub items: u64,
    /// Batches sent, rounds after a resume included.
    pub batches: u64,
    /// Points that were not sent because a range covers them.
    pub absorbed: u64,
    /// Ranges that united.
    pub united: u64,
    /// Requests that had to be resumed.
    pub resumed: u64,
    /// Items that failed.
    pub failed: u64,
}

#[derive(Debug, Default)]
struct Queue {
    first_added: Duration,
    last_added: Duration,
    txns: BTreeMap<TxnId, (Option<Resolution>, Merged)>,
    items: Vec<ItemId>,
}

impl Queue {
    fn cost(&self, config: &Config) -> usize {
        let cost = |merged: &Merged| {
            let (points, ranges) = merged.counts();
            points + ranges * config.range_cost
        };
        self.txns.values().map(|(_, merged)| cost(merged)).sum()
    }

    fn deadline(&self, config: &Config) -> Duration {
        (self.first_added + config.max_wait).min(self.last_added + config.max_idle)
    }

    fn requests(&self) -> Vec<Request> {
        let of_txn = |outcome: Resolution, merged: &Merged| merged.spans().map(|span| request(span, outcome)).collect::<Vec<_>>();
        self.txns.values().filter_map(|(outcome, merged)| Some(of_txn((*outcome)?, merged))).flatten().collect()
    }
}

/// Batches under construction and in flight.
#[derive(Debug)]
pub struct Batcher {
    config: Config,
    queues: HashMap<RangeId, Queue>,
    in_flight: HashMap<BatchId, (RangeId, Vec<ItemId>)>,
    next_batch: u64,
    counts: Counts,
    /// Too many batches were on their way, and have not come down far enough since.
    holding_back: bool,
}

impl Batcher {
    /// An empty batcher.
    pub fn new(config: Config) -> Batcher {
        Batcher { config, queues: HashMap::new(), in_flight: HashMap::new(), next_batch: 0, counts: Counts::default(), holding_back: false }
    }

    /// Changes when batches go out, from now on.
    pub fn configure(&mut self, config: Config) {
        self.config = config;
        self.note_in_flight();
    }

    /// May more items come in? No from the limit of batches on their way on, until less than four fifths of it are.
    pub fn takes_more(&self) -> bool {
        !self.holding_back
    }

    fn note_in_flight(&mut self) {
        let (flying, limit) = (self.in_flight.len(), self.config.max_in_flight.max(1));
        let low_water = (limit * 4).div_ceil(5);
        self.holding_back = flying >= limit || (self.holding_back && flying >= low_water);
    }

    /// Takes an item in. A batch comes out when that makes it full.
    pub fn add(&mut self, now: Duration, range: RangeId, item: ItemId, outcome: Resolution, span: LockSpan) -> Option<Batch> {
        self.counts.items += 1;
        if !self.config.batch_ranged && matches!(span, LockSpan::Range(_)) {
            let requests = vec![request(span, outcome)];
            return Some(self.send(range, requests, vec![item]));
        }
        let queue = self.queues.entry(range).or_insert_with(|| Queue { first_added: now, ..Queue::default() });
        queue.last_added = now;
        queue.items.push(item);
        let (known, merged) = queue.txns.entry(outcome.txn).or_default();
        *known = Some(outcome);
        let merge = merged.add(span);
        self.counts.absorbed += merge.absorbed;
        self.counts.united += merge.united;
        let full = queue.cost(&self.config) >= self.config.max_cost;
        if full { self.flush(range) } else { None }
    }

    /// Sends what is queued for a range, full or not.
    pub fn flush(&mut self, range: RangeId) -> Option<Batch> {
        let queue = self.queues.remove(&range)?;
        Some(self.send(range, queue.requests(), queue.items))
    }

    /// The batches whose time has come, in order of deadline, then of range.
    pub fn due(&mut self, now: Duration) -> Vec<Batch> {
        let mut due: Vec<(Duration, RangeId)> = self
            .queues
            .iter()
            .map(|(range, queue)| (queue.deadline(&self.config), *range))
            .filter(|(deadline, _)| *deadline <= now)
            .collect();
        due.sort_unstable();
        due.into_iter().filter_map(|(_, range)| self.flush(range)).collect()
    }

    /// When [`Batcher::due`] will have something.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.queues.values().map(|queue| queue.deadline(&self.config)).min()
    }

    /// A batch came back: per request, the request to resume with, if its limit ended first; or it failed as a whole.
    pub fn completed(&mut self, id: BatchId, result: Result<Vec<Option<Request>>, ()>) -> Completion {
        let Some((range, items)) = self.in_flight.remove(&id) else { return Completion::default() };
        self.note_in_flight();
        match result {
            Err(()) => {
                self.counts.failed += items.len() as u64;
                Completion { answers: items.into_iter().map(|item| (item, false)).collect(), again: None }
            }
            Ok(resume) => {
                let rest: Vec<Request> = resume.into_iter().flatten().collect();
                if rest.is_empty() {
                    return Completion { answers: items.into_iter().map(|i| (i, true)).collect(), again: None };
                }
                self.counts.resumed += rest.len() as u64;
                Completion { answers: Vec::new(), again: Some(self.send(range, rest, items)) }
            }
        }
    }

    /// Gives up everything that is queued or in flight: each item is answered with failure.
    pub fn stop(&mut self) -> Vec<ItemId> {
        let queued = self.queues.drain().flat_map(|(_, queue)| queue.items);
        let flying = self.in_flight.drain().flat_map(|(_, (_, items))| items);
        let mut items: Vec<ItemId> = queued.chain(flying).collect();
        items.sort_unstable();
        self.counts.failed += items.len() as u64;
        self.note_in_flight();
        items
    }

    /// Batches on their way.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Nothing queued, nothing on its way?
    pub fn is_idle(&self) -> bool {
        self.queues.is_empty() && self.in_flight.is_empty()
    }

    /// The ranges that have something queued.
    pub fn queued_ranges(&self) -> Vec<RangeId> {
        let mut ranges: Vec<RangeId> = self.queues.keys().copied().collect();
        ranges.sort_unstable();
        ranges
    }

    /// What it did so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    fn send(&mut self, range: RangeId, requests: Vec<Request>, items: Vec<ItemId>) -> Batch {
        let id = BatchId(self.next_batch);
        self.next_batch += 1;
        self.counts.batches += 1;
        self.in_flight.insert(id, (range, items));
        self.note_in_flight();
        Batch { id, range, requests, pass: self.config.pass }
    }
}

fn request(span: LockSpan, outcome: Resolution) -> Request {
    match span {
        LockSpan::Point(key) => Request::ResolveIntent { key, outcome },
        LockSpan::Range(span) => Request::ResolveIntentRange { span, outcome },
    }
}
