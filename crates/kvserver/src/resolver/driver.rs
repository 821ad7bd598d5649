//! The task that drives the batcher: feeds it clean-ups and time, sends its batches, brings the answers back.
//!
//! Bounded everywhere: the inbox has `kv.resolver.inbox` places (when it is full the committing session resolves by itself, which
//! is the back-pressure), nothing is taken from it while `kv.resolver.max_in_flight` batches are on their way, and each has
//! [`BATCH_TIMEOUT`]. A batch that fails is tried again, range by range, without holding up the others.

use super::Cleanup;
use super::batcher::{Batch, BatchId, Batcher, Config, Counts, ItemId};
use crate::settings::{KvSettings, MAX_IN_FLIGHT, MAX_INBOX, Number};
use hashbrown::HashMap;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tidelock_base::{Key, RangeId, Timestamp};
use tidelock_kvapi::{BatchRequest, KvError, LockSpan, Request, Resolution, Response, Sender};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

/// Longest life of a batch.
const BATCH_TIMEOUT: Duration = Duration::from_secs(60);

/// Wait before a failed item is tried again.
const RETRY_AFTER: Duration = Duration::from_millis(100);

/// Tries per item; what then is still locked is settled by whoever meets it.
const MAX_TRIES: u32 = 10;

/// Counters of the resolver.
#[derive(Debug, Default)]
pub struct ResolverMetrics {
    items: AtomicU64,
    batches: AtomicU64,
    absorbed: AtomicU64,
    united: AtomicU64,
    resumed: AtomicU64,
    failed: AtomicU64,
    requests: AtomicU64,
    queue_micros: AtomicU64,
    unresolved: AtomicU64,
    refused: AtomicU64,
    oldest_millis: AtomicU64,
}

impl ResolverMetrics {
    /// Names and values.
    pub fn snapshot(&self) -> Vec<(&'static str, u64)> {
        [
            ("resolver.items", &self.items),
            ("resolver.batches", &self.batches),
            ("resolver.requests", &self.requests),
            ("resolver.absorbed", &self.absorbed),
            ("resolver.united", &self.united),
            ("resolver.resumed", &self.resumed),
            ("resolver.failed", &self.failed),
            ("resolver.queue_micros", &self.queue_micros),
            ("resolver.unresolved", &self.unresolved),
            ("resolver.refused", &self.refused),
            ("resolver.oldest_unresolved_millis", &self.oldest_millis),
        ]
        .map(|(name, counter)| (name, counter.load(Ordering::Relaxed)))
        .to_vec()
    }

    fn publish(&self, counts: Counts) {
        for (counter, value) in [
            (&self.items, counts.items),
            (&self.batches, counts.batches),
            (&self.absorbed, counts.absorbed),
            (&self.united, counts.united),
            (&self.resumed, counts.resumed),
            (&self.failed, counts.failed),
        ] {
            counter.store(value, Ordering::Relaxed);
        }
    }
}

/// Guesses the range that holds a key.
pub type Route = Arc<dyn Fn(&Key) -> RangeId + Send + Sync>;

/// The door to the resolver.
pub struct IntentResolver {
    inbox: mpsc::Sender<Message>,
    settings: Arc<KvSettings>,
    metrics: Arc<ResolverMetrics>,
}

enum Message {
    Cleanup(Cleanup),
    Stop(oneshot::Sender<()>),
}

impl IntentResolver {
    /// Starts the task on the current runtime.
    ///
    /// `route` guesses the range of a key; the sender routes again, so that a wrong guess only costs a smaller batch.
    pub fn start(sender: Arc<dyn Sender>, route: Route, settings: Arc<KvSettings>) -> IntentResolver {
        let (inbox, messages) = mpsc::channel(MAX_INBOX as usize);
        let metrics = Arc::new(ResolverMetrics::default());
        let driver = Driver::new(sender, route, Arc::clone(&settings), Arc::clone(&metrics));
        tokio::spawn(driver.run(messages));
        IntentResolver { inbox, settings, metrics }
    }

    /// Hands a clean-up over; it comes back when the inbox is full or closed.
    pub fn submit(&self, cleanup: Cleanup) -> Result<(), Cleanup> {
        let places = self.settings.number(Number::Inbox).min(MAX_INBOX) as usize;
        if self.inbox.max_capacity() - self.inbox.capacity() >= places {
            self.metrics.refused.fetch_add(1, Ordering::Relaxed);
            return Err(cleanup);
        }
        match self.inbox.try_reserve() {
            Ok(place) => {
                place.send(Message::Cleanup(cleanup));
                Ok(())
            }
            Err(_) => {
                self.metrics.refused.fetch_add(1, Ordering::Relaxed);
                Err(cleanup)
            }
        }
    }

    /// Sends what is queued, waits for it, and stops.
    pub async fn stop(&self) {
        let (done, stopped) = oneshot::channel();
        if self.inbox.send(Message::Stop(done)).await.is_ok() && stopped.await.is_err() {
            tracing::debug!("the resolver was gone already");
        }
    }

    /// Counters.
    pub fn metrics(&self) -> &ResolverMetrics {
        &self.metrics
    }
}

struct Pending {
    outcome: Resolution,
    span: LockSpan,
    since: Instant,
    tries: u32,
}

type Answer = (BatchId, Result<Vec<Option<Request>>, KvError>);

struct Driver {
    sender: Arc<dyn Sender>,
    route: Route,
    settings: Arc<KvSettings>,
    metrics: Arc<ResolverMetrics>,
    batcher: Batcher,
    started: Instant,
    pending: HashMap<ItemId, Pending>,
    ready: VecDeque<Batch>,
    retries: VecDeque<(Duration, ItemId)>,
    answers: mpsc::Sender<Answer>,
    incoming: mpsc::Receiver<Answer>,
    next_item: u64,
}

impl Driver {
    fn new(sender: Arc<dyn Sender>, route: Route, settings: Arc<KvSettings>, metrics: Arc<ResolverMetrics>) -> Driver {
        let (answers, incoming) = mpsc::channel(MAX_IN_FLIGHT as usize);
        Driver {
            sender,
            route,
            metrics,
            batcher: Batcher::new(Config::of(&settings)),
            started: Instant::now(),
            pending: HashMap::new(),
            ready: VecDeque::new(),
            retries: VecDeque::new(),
            answers,
            incoming,
            next_item: 0,
            settings,
        }
    }

    async fn run(mut self, mut messages: mpsc::Receiver<Message>) {
        let mut stopping: Option<oneshot::Sender<()>> = None;
        loop {
            self.dispatch();
            self.publish();
            if stopping.is_some() && self.batcher.is_idle() && self.ready.is_empty() {
                break;
            }
            let deadline = self.next_deadline();
            // In this order, so that a simulation finds the same one ready each time; nothing starves, since all of them are bounded.
            tokio::select! {
                biased;
                Some((id, result)) = self.incoming.recv() => self.completed(id, result, stopping.is_some()),
                () = sleep_until(self.started, deadline) => self.tick(),
                message = messages.recv(), if stopping.is_none() && self.batcher.takes_more() => match message {
                    Some(Message::Cleanup(cleanup)) => self.take_in(cleanup),
                    Some(Message::Stop(done)) => {
                        self.flush_all();
                        stopping = Some(done);
                    }
                    None => break,
                },
            }
        }
        if let Some(done) = stopping {
            // The receiver may have given up waiting: nothing depends on the answer.
            let _ = done.send(());
        }
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn next_deadline(&self) -> Option<Duration> {
        let retry = self.retries.front().map(|(at, _)| *at);
        [self.batcher.next_deadline(), retry].into_iter().flatten().min()
    }

    fn take_in(&mut self, cleanup: Cleanup) {
        self.batcher.configure(Config::of(&self.settings));
        let mut touched = Vec::new();
        for span in cleanup.spans {
            let item = ItemId(self.next_item);
            self.next_item += 1;
            let pending = Pending { outcome: cleanup.outcome, span: span.clone(), since: Instant::now(), tries: 0 };
            self.pending.insert(item, pending);
            let range = self.enqueue(item, cleanup.outcome, span);
            if !touched.contains(&range) {
                touched.push(range);
            }
        }
        if cleanup.urgent {
            for range in touched {
                self.ready.extend(self.batcher.flush(range));
            }
        }
    }

    fn enqueue(&mut self, item: ItemId, outcome: Resolution, span: LockSpan) -> RangeId {
        let range = (self.route)(&span.span().start);
        let now = self.now();
        self.ready.extend(self.batcher.add(now, range, item, outcome, span));
        range
    }

    fn tick(&mut self) {
        let now = self.now();
        while let Some((_, item)) = self.retries.pop_front_if(|(at, _)| *at <= now) {
            if let Some((outcome, span)) = self.pending.get(&item).map(|p| (p.outcome, p.span.clone())) {
                self.enqueue(item, outcome, span);
            }
        }
        let due = self.batcher.due(now);
        self.ready.extend(due);
    }

    fn flush_all(&mut self) {
        for range in self.batcher.queued_ranges() {
            self.ready.extend(self.batcher.flush(range));
        }
    }

    /// Sends what is ready, as far as there is room in the air.
    fn dispatch(&mut self) {
        let mut flying = self.batcher.in_flight() - self.ready.len().min(self.batcher.in_flight());
        while flying < self.settings.number(Number::MaxInFlight) as usize
            && let Some(batch) = self.ready.pop_front()
        {
            flying += 1;
            self.metrics.requests.fetch_add(batch.requests.len() as u64, Ordering::Relaxed);
            let sender = Arc::clone(&self.sender);
            let answers = self.answers.clone();
            tokio::spawn(async move {
                let id = batch.id;
                let result = tokio::time::timeout(BATCH_TIMEOUT, send_batch(sender, batch)).await;
                let result = result.unwrap_or(Err(KvError::BadRequest("a resolve batch timed out")));
                // The driver is gone only when everything stops.
                let _ = answers.send((id, result)).await;
            });
        }
    }

    fn completed(&mut self, id: BatchId, result: Result<Vec<Option<Request>>, KvError>, stopping: bool) {
        if let Err(error) = &result {
            tracing::warn!(%error, "a resolve batch failed");
        }
        let completion = self.batcher.completed(id, result.map_err(drop));
        self.ready.extend(completion.again);
        for (item, done) in completion.answers {
            if done || stopping {
                self.answered(item);
                continue;
            }
            let retry_at = self.now() + RETRY_AFTER;
            match self.pending.get_mut(&item) {
                Some(pending) if pending.tries < MAX_TRIES => {
                    pending.tries += 1;
                    self.retries.push_back((retry_at, item));
                }
                _ => self.answered(item),
            }
        }
    }

    fn answered(&mut self, item: ItemId) {
        if let Some(pending) = self.pending.remove(&item) {
            let micros = pending.since.elapsed().as_micros() as u64;
            self.metrics.queue_micros.fetch_add(micros, Ordering::Relaxed);
        }
    }

    fn publish(&self) {
        self.metrics.publish(self.batcher.counts());
        self.metrics.unresolved.store(self.pending.len() as u64, Ordering::Relaxed);
        let oldest = if self.pending.len() > 10_000 { None } else { self.pending.values().map(|pending| pending.since.elapsed()).max() };
        self.metrics.oldest_millis.store(oldest.unwrap_or_default().as_millis() as u64, Ordering::Relaxed);
    }
}

async fn sleep_until(started: Instant, deadline: Option<Duration>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(started + deadline).await,
        None => std::future::pending().await,
    }
}

/// Sends a batch; per request, what to resume with.
async fn send_batch(sender: Arc<dyn Sender>, batch: Batch) -> Result<Vec<Option<Request>>, KvError> {
    let mut message = BatchRequest::read_at(Timestamp::MAX);
    message.header.range = batch.range;
    message.header.pass = Some(batch.pass);
    message.requests = batch.requests.iter().cloned().collect();
    let answer = sender.send(message).await?;
    let resume = batch.requests.into_iter().zip(answer.responses).map(|(request, response)| match (request, response) {
        (Request::ResolveIntentRange { outcome, .. }, Response::Resolved { resume: Some(span), .. }) => {
            Some(Request::ResolveIntentRange { span, outcome })
        }
        (point, Response::Resolved { resume: Some(_), .. }) => Some(point),
        _ => None,
    });
    Ok(resume.collect())
}
