//! Running: terminals that deal themselves transactions from a shuffled deck, for a while, and count.
//!
//! A deck has 23 cards: ten New-Orders, ten Payments, and one of each of the others. A transaction that fails because of
//! others (40001, 40P01) is run again with the same input until it succeeds, and its latency includes the retries.

use super::DISTRICTS;
use super::report::{Collector, Report};
use super::transactions::{Home, Input, Kind};
use crate::random::Random;
use crate::{Connection, Protocol, WorkloadError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How to run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Where.
    pub url: String,
    /// Warehouses that were loaded.
    pub warehouses: u32,
    /// Clients.
    pub terminals: u32,
    /// How long, after the ramp-up.
    pub duration: Duration,
    /// Not counted, at the beginning.
    pub ramp_up: Duration,
    /// Prepared or simple.
    pub protocol: Protocol,
    /// Isolation level to ask for; the server's default when `None`.
    pub isolation: Option<String>,
    /// Statements for each connection before it begins (`SET ...`).
    pub session_setup: Vec<String>,
    /// Keying and think times.
    pub wait: bool,
    /// Another seed, other choices.
    pub seed: u64,
}

/// Failures in a row after which a terminal gives up: the server is gone or refuses.
const MAX_RETRIES: u32 = 10_000;

/// Runs; `progress` is told the seconds passed and the New-Orders counted so far.
pub async fn run(options: &RunOptions, progress: &mut (dyn FnMut(f64, u64) + Send)) -> Result<Report, WorkloadError> {
    let shared = Arc::new(Shared::default());
    let mut terminals = Vec::new();
    for number in 0..options.terminals {
        let terminal = Terminal::open(options.clone(), number, Arc::clone(&shared)).await?;
        terminals.push(tokio::spawn(terminal.work()));
    }
    tokio::time::sleep(options.ramp_up).await;
    shared.counting.store(true, Ordering::SeqCst);
    let started = Instant::now();
    while started.elapsed() < options.duration && !shared.stop.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(200).min(options.duration)).await;
        progress(started.elapsed().as_secs_f64(), shared.new_orders.load(Ordering::Relaxed));
    }
    shared.counting.store(false, Ordering::SeqCst);
    let elapsed = started.elapsed();
    shared.stop.store(true, Ordering::SeqCst);
    let mut all = Collector::default();
    let mut failure = None;
    for terminal in terminals {
        match terminal.await {
            Ok(Ok(collector)) => all.merge(collector),
            Ok(Err(error)) => failure = Some(error),
            Err(error) => failure = Some(WorkloadError::Unexpected(error.to_string())),
        }
    }
    match failure {
        Some(error) => Err(error),
        None => Ok(all.report(elapsed, options)),
    }
}

#[derive(Default)]
struct Shared {
    counting: AtomicBool,
    stop: AtomicBool,
    new_orders: AtomicU64,
}

struct Terminal {
    connection: Connection,
    options: RunOptions,
    home: Home,
    random: Random,
    shared: Arc<Shared>,
    collector: Collector,
}

impl Terminal {
    async fn open(options: RunOptions, number: u32, shared: Arc<Shared>) -> Result<Terminal, WorkloadError> {
        let connection = Connection::open(&options.url, options.protocol).await?;
        for statement in &options.session_setup {
            connection.batch(statement).await?;
        }
        let home = Home {
            warehouse: number % options.warehouses + 1,
            district: number / options.warehouses % DISTRICTS + 1,
            warehouses: options.warehouses,
        };
        let random = Random::new(options.seed.wrapping_mul(1_000_003).wrapping_add(u64::from(number) + 1));
        Ok(Terminal { connection, options, home, random, shared, collector: Collector::default() })
    }

    async fn work(mut self) -> Result<Collector, WorkloadError> {
        let mut deck = Vec::new();
        let result = loop {
            if self.shared.stop.load(Ordering::Relaxed) {
                break Ok(());
            }
            let Some(kind) = deck.pop() else {
                deck = shuffled_deck(&mut self.random);
                continue;
            };
            if let Err(error) = self.transaction(kind).await {
                self.shared.stop.store(true, Ordering::SeqCst);
                break Err(error);
            }
        };
        result.map(|()| self.collector)
    }

    async fn transaction(&mut self, kind: Kind) -> Result<(), WorkloadError> {
        if self.options.wait {
            let (keying, _) = kind.pause_seconds();
            self.pause(keying).await;
        }
        let input = Input::choose(kind, self.home, &mut self.random);
        let started = Instant::now();
        let mut retries = 0;
        let committed = loop {
            match self.attempt(kind, &input).await {
                Ok(committed) => break committed,
                Err(error) if error.is_retryable() && retries < MAX_RETRIES => {
                    retries += 1;
                    self.rollback().await;
                    self.collector.note_retry(&error);
                }
                Err(error) => return Err(error),
            }
        };
        if self.shared.counting.load(Ordering::Relaxed) {
            self.collector.count(kind, started.elapsed(), retries, committed);
            if kind == Kind::NewOrder && committed {
                self.shared.new_orders.fetch_add(1, Ordering::Relaxed);
            }
        } else {
            self.collector.forget_retries(retries);
        }
        if self.options.wait {
            let (_, mean) = kind.pause_seconds();
            let seconds = -self.random.fraction().max(1e-9).ln() * mean;
            self.pause(seconds.min(mean * 10.0)).await;
        }
        Ok(())
    }

    async fn attempt(&mut self, kind: Kind, input: &Input) -> Result<bool, WorkloadError> {
        self.begin(kind).await?;
        if input.run(&mut self.connection).await? {
            self.connection.execute("commit", &[]).await?;
            return Ok(true);
        }
        self.connection.execute("rollback", &[]).await?;
        Ok(false)
    }

    async fn begin(&mut self, kind: Kind) -> Result<(), WorkloadError> {
        let mut text = String::from("begin");
        if let Some(isolation) = &self.options.isolation {
            text.push_str(" isolation level ");
            text.push_str(isolation);
        }
        if kind.is_read_only() {
            text.push_str(" read only");
        }
        self.connection.batch(&text).await
    }

    async fn rollback(&mut self) {
        // When this fails, so will the next BEGIN, and that failure is reported.
        let _ = self.connection.batch("rollback").await;
    }

    /// Sleeps in short steps, so that the end of the run is noticed.
    async fn pause(&self, seconds: f64) {
        let until = Instant::now() + Duration::from_secs_f64(seconds);
        while Instant::now() < until && !self.shared.stop.load(Ordering::Relaxed) {
            tokio::time::sleep((until - Instant::now()).min(Duration::from_millis(100))).await;
        }
    }
}

fn shuffled_deck(random: &mut Random) -> Vec<Kind> {
    let mut deck = vec![Kind::NewOrder; 10];
    deck.extend([Kind::Payment; 10]);
    deck.extend([Kind::OrderStatus, Kind::Delivery, Kind::StockLevel]);
    random.shuffle(&mut deck);
    deck
}
