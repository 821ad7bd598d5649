//! Deterministic simulation: a whole store, its clients and its disk on one thread under virtual time, and a seed that decides everything.
//!
//! ```text
//!   clients ─► network (delays, in any order) ─► DistSender ─► store ─► SimDisk (loses and tears what was not synced)
//!   resolver ─────┘                                              │
//!                                         when the log is synced and what is folded: also the seed's choice
//!   meddler: splits, merges, settings, power cuts in the middle of any write
//! ```
//!
//! The clients append to lists, move money, write in bulk, roll back to savepoints, at an isolation level that the seed picks. At the end the history goes
//! to the checker ([`crate::history`]), the money is counted, nothing may be locked, and a last restart must show the same. A seed that fails
//! fails again, in the same way: `tidelock sim --seed N`.

mod client;
mod meddler;
mod node;
mod verdict;

use crate::history::{HistoryTxn, Level};
use crate::random::Random;
use node::World;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tidelock_kvapi::Isolation;

/// What to simulate.
#[derive(Clone, Copy, Debug)]
pub struct SimOptions {
    /// Decides everything.
    pub seed: u64,
    /// Sessions at a time.
    pub clients: u64,
    /// Transactions of each.
    pub transactions: u64,
    /// SERIALIZABLE does not validate, to show that the checker notices.
    pub break_validation: bool,
}

impl SimOptions {
    /// A short run.
    pub fn new(seed: u64) -> SimOptions {
        SimOptions { seed, clients: 5, transactions: 30, break_validation: false }
    }
}

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SimReport {
    /// The seed.
    pub seed: u64,
    /// Whose level it was.
    pub level: Level,
    /// Transactions acknowledged.
    pub committed: u64,
    /// Refused or given up.
    pub aborted: u64,
    /// Cut off while they committed.
    pub unknown: u64,
    /// Power cuts.
    pub crashes: u64,
    /// Virtual time that passed.
    pub elapsed: Duration,
    /// Of the whole history: equal for equal seeds.
    pub digest: u64,
}

impl fmt::Display for SimReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SimReport { seed, level, committed, aborted, unknown, crashes, elapsed, digest } = self;
        let millis = elapsed.as_millis();
        write!(f, "seed {seed}: {level:?}, {committed} committed, {aborted} aborted, {unknown} unknown, {crashes} crashes, ")?;
        write!(f, "{millis} ms, digest {digest:016x}")
    }
}

/// What is wrong, with the seed that shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SimFailure {
    /// Shows it again.
    pub seed: u64,
    /// What is wrong.
    pub story: String,
}

impl fmt::Display for SimFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {}: {}", self.seed, self.story)
    }
}

/// Longest virtual time that a run may take: a client that has not finished by then has hung.
const PATIENCE: Duration = Duration::from_secs(600);

/// What all parts of a run share.
pub(crate) struct Shared {
    random: Mutex<Random>,
    events: Mutex<u64>,
    history: Mutex<Vec<HistoryTxn>>,
    wrong: Mutex<Option<String>>,
    crashes: AtomicU64,
    /// No more trouble.
    quiet: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // One thread: a poisoned mutex means that a panic is on its way up already.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn new(seed: u64) -> Arc<Shared> {
        Arc::new(Shared {
            random: Mutex::new(Random::new(seed)),
            events: Mutex::new(0),
            history: Mutex::default(),
            wrong: Mutex::default(),
            crashes: AtomicU64::new(0),
            quiet: AtomicBool::new(false),
        })
    }

    pub(crate) fn below(&self, bound: u64) -> u64 {
        lock(&self.random).below(bound)
    }

    pub(crate) fn one_in(&self, times: u64) -> bool {
        lock(&self.random).one_in(times)
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet.load(Ordering::SeqCst)
    }

    /// Power cuts so far.
    pub(crate) fn crashes(&self) -> u64 {
        self.crashes.load(Ordering::SeqCst)
    }

    pub(crate) fn note_crash(&self) {
        self.crashes.fetch_add(1, Ordering::SeqCst);
    }

    /// The next moment, for the history.
    pub(crate) fn moment(&self) -> u64 {
        let mut events = lock(&self.events);
        *events += 1;
        *events
    }

    pub(crate) fn record(&self, txn: HistoryTxn) {
        lock(&self.history).push(txn);
    }

    /// Something that must not be was seen; the first story is kept.
    pub(crate) fn complain(&self, story: String) {
        lock(&self.wrong).get_or_insert(story);
    }

    /// A pause of up to so many milliseconds.
    pub(crate) async fn pause(&self, at_most_ms: u64) {
        let millis = self.below(at_most_ms + 1);
        tokio::time::sleep(Duration::from_millis(millis)).await;
    }
}

/// Runs one seed.
pub fn run(options: SimOptions) -> Result<SimReport, SimFailure> {
    let failed = |story: String| SimFailure { seed: options.seed, story };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.map_err(|error| failed(format!("no runtime: {error}")))?;
    let shared = Shared::new(options.seed);
    let level = pick_level(&shared);
    let outcome = runtime.block_on(simulate(options, level, &shared));
    // What still runs of crashed stores goes before the next seed begins.
    drop(runtime);
    let (crashes, elapsed) = outcome.map_err(failed)?;
    let history = lock(&shared.history);
    let count = |outcome| history.iter().filter(|txn| txn.outcome == outcome).count() as u64;
    let mut digest = DefaultHasher::new();
    history.hash(&mut digest);
    use crate::history::Outcome::{Aborted, Committed, Unknown};
    Ok(SimReport {
        seed: options.seed,
        level,
        committed: count(Committed),
        aborted: count(Aborted),
        unknown: count(Unknown),
        crashes,
        elapsed,
        digest: digest.finish(),
    })
}

fn pick_level(shared: &Shared) -> Level {
    match shared.below(5) {
        0 => Level::ReadCommitted,
        1 => Level::RepeatableRead,
        _ => Level::Serializable,
    }
}

fn isolation(level: Level) -> Isolation {
    match level {
        Level::ReadCommitted => Isolation::ReadCommitted,
        Level::RepeatableRead => Isolation::RepeatableRead,
        Level::Serializable => Isolation::Serializable,
    }
}

async fn simulate(options: SimOptions, level: Level, shared: &Arc<Shared>) -> Result<(u64, Duration), String> {
    let started = tokio::time::Instant::now();
    let world = World::new(Arc::clone(shared))?;
    if options.break_validation {
        world.settings.break_validation();
    }
    client::open_accounts(&world, shared).await?;
    let clients = (1..=options.clients).map(|number| {
        let client = client::Client::new(&world, shared, number, level);
        tokio::spawn(client.run(options.transactions))
    });
    let clients: Vec<_> = clients.collect();
    let meddler = tokio::spawn(meddler::run(Arc::clone(&world), Arc::clone(shared)));
    for client in clients {
        let finished = tokio::time::timeout(PATIENCE, client).await;
        finished.map_err(|_| "a client hangs".to_string())?.map_err(|error| format!("a client panicked: {error}"))?;
    }
    shared.quiet.store(true, Ordering::SeqCst);
    meddler.await.map_err(|error| format!("the meddler panicked: {error}"))?;
    verdict::verdict(&world, shared, level).await?;
    Ok((shared.crashes(), started.elapsed()))
}
