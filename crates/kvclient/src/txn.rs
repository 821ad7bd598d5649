//! The coordinator of one transaction.
//!
//! Life of an UPDATE at SERIALIZABLE, with the implicit lock:
//! 1. [`Txn::step`] opens the statement; its first read takes the snapshot.
//! 2. [`Txn::get`] with a lock: the key is noted in the lock footprint, the request sent. The answer shows the *newest*
//!    version. If that is newer than the snapshot, the snapshot moves: [`Txn::refresh`] asks whether everything read so far
//!    is still the same. A locked row needs no further validation, since nobody else can change it.
//! 3. [`Txn::write`] leaves the intent.
//! 4. [`Txn::commit`] sends one `EndTxn` with the reads, the assertions and the lock spans.
//!
//! READ COMMITTED differs in step 2: its snapshot is the statement's, reads are not remembered, and a newer row is handed
//! up, so that the executor can look again whether the row still matches.
//!
//! A transaction that is dropped without an end is aborted in the background.

use crate::db::TxnOptions;
use crate::footprint::{LockFootprint, ReadFootprint};
use crate::metrics::ClientMetrics;
use crate::own_indexes::OwnIndexes;
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tidelock_base::row::ColumnSet;
use tidelock_base::{IndexId, Key, RowPage, Span, Timestamp, TxnId, Value};
use tidelock_kvapi::{
    Assertion, BatchRequest, BatchResponse, EndTxn, Isolation, KvError, Limit, LockSpan, LockStrength, Request, Response, Row, Sender,
    Snapshot, TxnMeta, WaitPolicy, WriteGuard,
};

/// How to read keys.
#[derive(Clone, Copy, Debug)]
pub struct ReadOptions {
    /// The columns whose change would change the statement's answer. A row that will be *written* must say
    /// [`ColumnSet::ALL`] unless it is locked, because its whole image flows into the write.
    pub columns: ColumnSet,
    /// Lock the rows.
    pub lock: Option<LockStrength>,
    /// What to do about locks of others.
    pub wait: WaitPolicy,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions { columns: ColumnSet::ALL, lock: None, wait: WaitPolicy::Block }
    }
}

/// How to read a span.
#[derive(Clone, Copy, Debug)]
pub struct ScanOptions {
    /// As for keys.
    pub read: ReadOptions,
    /// From the end.
    pub reverse: bool,
    /// Rows wanted.
    pub limit: Limit,
}

impl Default for ScanOptions {
    fn default() -> ScanOptions {
        ScanOptions { read: ReadOptions::default(), reverse: false, limit: Limit::Unlimited }
    }
}

/// A portion of a scan.
#[derive(Clone, Debug, Default)]
pub struct ScanPage {
    /// The rows, in scan order.
    pub rows: RowPage,
    /// Where to go on; `None` at the end of the span.
    pub resume: Option<Span>,
}

/// One write.
#[derive(Clone, Debug)]
pub enum Write {
    /// Sets a value; the strength is `NoKeyUpdate` when no key column changes.
    Put(Key, Value, LockStrength),
    /// Sets a value where none may be.
    Insert(Key, Value),
    /// Removes the value.
    Delete(Key),
    /// Sets an entry of a secondary index; the lock on its row guards it.
    PutEntry(Key, Value),
    /// Removes an entry of a secondary index.
    DeleteEntry(Key),
}

/// What became of one write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// Done; was there a value before?
    Done {
        /// Whether there was.
        existed: bool,
    },
    /// An `Insert` found this value in its way and wrote nothing.
    Exists(Value),
}

/// A point to roll back to.
#[derive(Clone, Debug)]
pub struct Savepoint {
    sequence: u32,
    lock_spans: usize,
    /// Condensations of the footprint before it was set: after one more, `lock_spans` counts spans that are gone.
    condensations: u32,
    number: u64,
}

/// What a READ COMMITTED statement saw before statements inside of it began.
#[derive(Debug)]
pub struct OuterView(Option<(Snapshot, Timestamp)>);

/// A transaction under way.
pub struct Txn {
    sender: Arc<dyn Sender>,
    metrics: Arc<ClientMetrics>,
    options: TxnOptions,
    id: TxnId,
    snapshot: Option<Snapshot>,
    read_ts: Timestamp,
    sequence: u32,
    reads: ReadFootprint,
    locks: LockFootprint,
    assertions: Vec<Assertion>,
    observed: Timestamp,
    own_indexes: OwnIndexes,
    wrote: bool,
    /// The store keeps a record of it.
    anchored: bool,
    ended: bool,
}

impl Txn {
    pub(crate) fn begin(sender: Arc<dyn Sender>, metrics: Arc<ClientMetrics>, options: TxnOptions) -> Txn {
        ClientMetrics::bump(&metrics.begun);
        Txn {
            id: sender.next_txn_id(),
            sender,
            metrics,
            options,
            snapshot: None,
            read_ts: Timestamp::ZERO,
            sequence: 0,
            reads: ReadFootprint::default(),
            locks: LockFootprint::default(),
            assertions: Vec::new(),
            observed: Timestamp::ZERO,
            own_indexes: OwnIndexes::default(),
            wrote: false,
            anchored: false,
            ended: false,
        }
    }

    /// This attempt's id.
    pub fn id(&self) -> TxnId {
        self.id
    }

    /// The options it runs with.
    pub fn options(&self) -> &TxnOptions {
        &self.options
    }

    /// Changes the isolation level; only before the first statement (the caller's check: 25001).
    pub fn set_isolation(&mut self, isolation: Isolation) {
        self.options.isolation = isolation;
    }

    /// Makes it a read-only transaction; only before the first statement.
    pub fn set_read_only(&mut self, read_only: bool) {
        self.options.read_only = read_only;
    }

    /// Longest wait for any one lock, from now on.
    pub fn set_lock_timeout(&mut self, timeout: Option<std::time::Duration>) {
        self.options.lock_timeout = timeout;
    }

    /// The next snapshot is not below this commit, which may not be durable yet.
    pub fn see_at_least(&mut self, ts: Timestamp) {
        self.options.at_least = self.options.at_least.max(ts);
    }

    /// Was a snapshot taken: has the transaction begun to look?
    pub fn has_snapshot(&self) -> bool {
        self.snapshot.is_some()
    }

    /// Has it written?
    pub fn has_written(&self) -> bool {
        self.wrote
    }

    /// Does it hold locks or intents?
    pub fn has_locks(&self) -> bool {
        !self.locks.is_empty()
    }

    /// What its reads see; takes the snapshot if there is none yet.
    pub fn read_ts(&mut self) -> Timestamp {
        self.ensure_snapshot();
        self.read_ts
    }

    /// Begins a statement: READ COMMITTED takes a new snapshot, the others keep theirs.
    pub fn step(&mut self) {
        if self.options.isolation == Isolation::ReadCommitted {
            self.snapshot = None;
            // What it wrote may lie over a commit that is not on disk yet: it must see all of that commit.
            self.see_at_least(self.observed);
        }
        self.ensure_snapshot();
    }

    /// Statements inside of a statement begin: what the outer one sees is kept for it.
    pub fn begin_inner(&mut self) -> OuterView {
        if self.options.isolation != Isolation::ReadCommitted {
            return OuterView(None);
        }
        OuterView(self.snapshot.take().map(|snapshot| (snapshot, self.read_ts)))
    }

    /// They have ended: the outer statement sees again what it saw.
    pub fn end_inner(&mut self, outer: OuterView) {
        if let OuterView(Some((snapshot, read_ts))) = outer
            && !self.ended
        {
            (self.snapshot, self.read_ts) = (Some(snapshot), read_ts);
        }
    }

    /// At commit, `key` must not have a version newer than `since`: how a statement relies on a table's definition.
    pub fn assert_unchanged(&mut self, key: Key, since: Timestamp) {
        let assertion = Assertion { key, since };
        if !self.assertions.contains(&assertion) {
            self.assertions.push(assertion);
        }
    }

    /// Reads one key.
    pub async fn get_one(&mut self, key: Key, options: &ReadOptions) -> Result<Option<Row>, KvError> {
        let mut rows = self.get(std::slice::from_ref(&key), options).await?;
        Ok(rows.pop().flatten())
    }

    /// Reads keys, in one batch; a row that SKIP LOCKED left out is `None` as one that is not there.
    ///
    /// At READ COMMITTED a locked row may be newer than [`Txn::read_ts`] (its `ts` says so): look again whether it matches.
    pub async fn get(&mut self, keys: &[Key], options: &ReadOptions) -> Result<Vec<Option<Row>>, KvError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        self.ensure_snapshot();
        if options.lock.is_some() {
            self.sequence += 1;
            keys.iter().for_each(|key| self.locks.point(key));
        }
        let mut batch = self.batch(options.wait);
        batch.requests = keys.iter().map(|key| Request::Get { key: key.clone(), lock: options.lock }).collect();
        let answer = self.send(batch).await?;
        let mut rows = Vec::with_capacity(keys.len());
        let mut newest_seen = Timestamp::ZERO;
        for (key, response) in keys.iter().zip(answer.responses) {
            let Response::Get { row, newest, skipped } = response else {
                return Err(KvError::BadRequest("a get wants a get's answer"));
            };
            newest_seen = newest_seen.max(newest);
            let kept_by_lock = row.is_some() && options.lock.is_some_and(LockStrength::excludes_writers);
            let own = row.as_ref().is_some_and(|row| row.ts == Timestamp::MAX);
            if !kept_by_lock && !skipped && !own && self.remembers_reads() {
                self.reads.point(key, options.columns);
            }
            rows.push(row);
        }
        self.saw_newest(options.lock, newest_seen, self.sender.newest()).await?;
        Ok(rows)
    }

    /// Reads a portion of a span. Go on with `resume` until it is `None`.
    pub async fn scan(&mut self, span: Span, options: &ScanOptions) -> Result<ScanPage, KvError> {
        if span.is_empty() || options.limit.is_exhausted() {
            return Ok(ScanPage::default());
        }
        self.ensure_snapshot();
        if options.read.lock.is_some() {
            self.sequence += 1;
        }
        let locks_before = self.locks.spans().len();
        if options.read.lock.is_some() {
            self.locks.range(&span);
        }
        let mut batch = self.batch(options.read.wait);
        batch.requests.push(Request::Scan { span: span.clone(), reverse: options.reverse, limit: options.limit, lock: options.read.lock });
        let mut answer = self.send(batch).await?;
        let Some(Response::Scan { rows, resume, newest, read_at }) = answer.responses.pop() else {
            return Err(KvError::BadRequest("a scan wants a scan's answer"));
        };
        let covered = span.scanned(resume.as_ref(), options.reverse);
        if options.read.lock.is_some() {
            self.locks.narrow_last(locks_before, (!rows.is_empty()).then_some(&covered));
        }
        // A locking scan shows exactly `read_at`: the earlier reads must follow it there, it itself need not.
        self.saw_newest(options.read.lock, newest, read_at).await?;
        if self.remembers_reads() {
            self.reads.range(covered, options.read.columns);
        }
        Ok(ScanPage { rows, resume })
    }

    /// Writes, in one batch. [`KvError::WriteTooOld`] means that a row was changed by somebody else after it was read: at
    /// READ COMMITTED the statement must be rolled back to its savepoint and run again, else the transaction.
    pub async fn write(&mut self, writes: Vec<Write>) -> Result<SmallVec<[Written; 1]>, KvError> {
        if writes.is_empty() {
            return Ok(SmallVec::new());
        }
        self.ensure_snapshot();
        self.sequence += 1;
        self.wrote = true;
        let mut batch = self.batch(WaitPolicy::Block);
        batch.requests = writes.into_iter().map(request_of).collect();
        for request in &batch.requests {
            if let Request::Put { key, .. } | Request::Insert { key, .. } | Request::Delete { key, .. } = request {
                self.locks.point(key);
            }
        }
        let answer = self.send(batch).await?;
        self.check_too_old(&answer).await?;
        answer
            .responses
            .into_iter()
            .map(|response| match response {
                Response::Written { existed } => Ok(Written::Done { existed }),
                Response::Exists { value } => Ok(Written::Exists(value)),
                _ => Err(KvError::BadRequest("a write wants a write's answer")),
            })
            .collect()
    }

    /// The transaction made an index: nobody else can know it before the commit, so rows may be loaded into it ([`Txn::ingest`]).
    pub fn made_index(&mut self, index: IndexId) {
        self.own_indexes.made(index);
    }

    /// May rows be loaded into the index?
    pub fn may_ingest(&self, index: IndexId) -> bool {
        self.own_indexes.is_open(index)
    }

    /// From now on the usual writes only: into these indexes, because there were some, or into all, because a savepoint was made that the user may roll back to.
    pub fn end_ingest(&mut self, which: impl Fn(IndexId) -> bool) {
        self.own_indexes.close(which);
    }

    /// Loads rows, sorted by key, without locks and intents, into indexes for which [`Txn::may_ingest`] holds. When the future is done they are durable, and
    /// visible once the transaction has committed the indexes' definitions. It answers the first key that had a row already (then nothing was written).
    ///
    /// The future is independent of the transaction, so that the next rows can be made meanwhile; it must be done before the commit.
    pub fn ingest(&mut self, rows: Arc<Vec<(Key, Value)>>) -> Result<impl Future<Output = Result<Option<Key>, KvError>> + use<>, KvError> {
        for part in rows.chunk_by(|(left, _), (right, _)| left.index() == right.index()) {
            let index = part[0].0.index();
            if !self.own_indexes.is_open(index) {
                return Err(KvError::BadRequest("rows can only be loaded into an index that the transaction made"));
            }
            self.own_indexes.loaded(index);
        }
        let mut batch = self.batch(WaitPolicy::Block);
        batch.requests.push(Request::Ingest { rows });
        let sender = Arc::clone(&self.sender);
        Ok(async move {
            match sender.send(batch).await?.responses.pop() {
                Some(Response::Ingested { duplicate }) => Ok(duplicate),
                _ => Err(KvError::BadRequest("an ingest wants an ingest's answer")),
            }
        })
    }

    /// Moves the snapshot forward to the newest commit, if everything read so far gives the same answer there.
    pub async fn refresh(&mut self) -> Result<(), KvError> {
        let snapshot = self.sender.snapshot_at(self.sender.newest());
        self.move_to(snapshot.ts, snapshot).await
    }

    /// To the moment that a locking read has shown, neither more nor less. When so much has become durable since that what was seen there is not kept any more,
    /// which is rare, the transaction must begin again.
    async fn refresh_to(&mut self, to: Timestamp) -> Result<(), KvError> {
        let snapshot = self.sender.snapshot_at(to);
        if snapshot.ts > to {
            ClientMetrics::bump(&self.metrics.refresh_failures);
            return Err(KvError::ReadChanged { key: Key::min(), at: snapshot.ts });
        }
        self.move_to(to, snapshot).await
    }

    /// `snapshot` keeps what is seen there; it was taken before the reads are compared, so that nothing is lost in between.
    async fn move_to(&mut self, to: Timestamp, snapshot: Snapshot) -> Result<(), KvError> {
        ClientMetrics::bump(&self.metrics.refreshes);
        if !self.reads.is_empty() {
            let mut batch = self.batch(WaitPolicy::Block);
            batch.requests.push(Request::Refresh { reads: self.reads.reads().to_vec(), to });
            if let Err(error) = self.send(batch).await {
                ClientMetrics::bump(&self.metrics.refresh_failures);
                return Err(error);
            }
        }
        if to > self.read_ts {
            self.read_ts = to;
            self.snapshot = Some(snapshot);
        }
        self.observed = self.observed.max(to);
        Ok(())
    }

    /// Marks a point to roll back to.
    pub fn savepoint(&mut self) -> Savepoint {
        self.locks.set_barrier();
        Savepoint {
            sequence: self.sequence,
            lock_spans: self.locks.spans().len(),
            condensations: self.locks.condensations(),
            number: self.own_indexes.savepoint(),
        }
    }

    /// Takes back all writes and locks since the savepoint.
    pub async fn rollback_to(&mut self, savepoint: &Savepoint) -> Result<(), KvError> {
        match self.own_indexes.rollback_to(savepoint.number) {
            Ok(gone) => self.drop_indexes(gone).await,
            Err(_) => return Err(KvError::TxnAborted { txn: self.id }),
        }
        let untouched = savepoint.condensations == self.locks.condensations();
        let known = if untouched { savepoint.lock_spans } else { 0 };
        let since: Vec<LockSpan> = self.locks.spans().get(known..).unwrap_or_default().to_vec();
        if since.is_empty() {
            return Ok(());
        }
        let mut batch = self.batch(WaitPolicy::Block);
        batch.requests.push(Request::RollbackTo { spans: since, sequence: savepoint.sequence });
        self.send(batch).await?;
        // Numbers are never used twice: what comes next is newer than what was taken back. Condensed spans cover what was
        // there before the savepoint, too.
        if untouched {
            self.locks.truncate(known);
        }
        Ok(())
    }

    /// Commits; when this returns, the transaction is durable (unless `lazy`).
    ///
    /// It must be awaited to its end: a commit under way cannot be cancelled.
    pub async fn commit(&mut self, lazy: bool) -> Result<Timestamp, KvError> {
        self.refuse_if_ended()?;
        let must_validate = self.wrote && self.options.isolation == Isolation::Serializable;
        let end = EndTxn {
            commit: true,
            reads: if must_validate { self.reads.take() } else { Vec::new() },
            assertions: if self.wrote { std::mem::take(&mut self.assertions) } else { Vec::new() },
            locks: self.locks.take(),
            observed: self.observed,
            lazy,
        };
        if end.locks.is_empty() && !self.anchored && end.observed == Timestamp::ZERO {
            self.finish(true);
            return Ok(Timestamp::ZERO);
        }
        let result = self.send_end(end).await;
        if result.is_err() {
            let loaded = self.own_indexes.take_loaded();
            self.drop_indexes(loaded).await;
        }
        self.finish(result.is_ok());
        result
    }

    /// Aborts: intents vanish, locks are released.
    pub async fn rollback(&mut self) -> Result<(), KvError> {
        if self.ended {
            return Ok(());
        }
        let end = EndTxn { locks: self.locks.take(), ..EndTxn::default() };
        // A record that holds nothing any more, after a rollback to a savepoint, must be ended all the same.
        let result = if end.locks.is_empty() && !self.anchored { Ok(Timestamp::ZERO) } else { self.send_end(end).await };
        let loaded = self.own_indexes.take_loaded();
        self.drop_indexes(loaded).await;
        self.finish(false);
        match result {
            // Somebody has done it already.
            Ok(_) | Err(KvError::TxnAborted { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Sends a batch of a transaction that is under way.
    async fn send(&mut self, batch: BatchRequest) -> Result<BatchResponse, KvError> {
        self.refuse_if_ended()?;
        let answer = self.sender.send(batch).await?;
        self.anchored |= answer.anchored;
        Ok(answer)
    }

    /// Its intents are gone: what it would read now is not what it wrote.
    fn refuse_if_ended(&self) -> Result<(), KvError> {
        if self.ended { Err(KvError::TxnAborted { txn: self.id }) } else { Ok(()) }
    }

    /// Gives up indexes that were loaded and that nobody will ever know. What stays because of an error is dropped at the next start.
    async fn drop_indexes(&self, indexes: Vec<IndexId>) {
        for index in indexes {
            if let Err(error) = self.sender.send(drop_request(index)).await {
                tracing::warn!(%error, index = index.0, "could not drop an index that was rolled back");
            }
        }
    }

    async fn send_end(&mut self, end: EndTxn) -> Result<Timestamp, KvError> {
        let mut batch = self.batch(WaitPolicy::Block);
        batch.requests.push(Request::EndTxn(Box::new(end)));
        match self.sender.send(batch).await?.responses.pop() {
            Some(Response::Ended { commit_ts }) => Ok(commit_ts),
            _ => Err(KvError::BadRequest("an end wants an end's answer")),
        }
    }

    fn finish(&mut self, committed: bool) {
        self.ended = true;
        self.snapshot = None;
        self.metrics.footprints_condensed.fetch_add(self.locks.condensations().into(), Ordering::Relaxed);
        ClientMetrics::bump(if committed { &self.metrics.committed } else { &self.metrics.aborted });
    }

    fn ensure_snapshot(&mut self) {
        if self.snapshot.is_none() {
            let mut snapshot = self.sender.snapshot();
            if self.options.at_least > snapshot.ts {
                // Later than asked for, when so much has become durable meanwhile: what is read is what is kept.
                snapshot = self.sender.snapshot_at(self.options.at_least);
                self.observed = self.observed.max(snapshot.ts);
            }
            self.read_ts = snapshot.ts;
            self.snapshot = Some(snapshot);
        }
    }

    fn batch(&self, wait_policy: WaitPolicy) -> BatchRequest {
        let mut batch = BatchRequest::in_txn(TxnMeta {
            id: self.id,
            session: self.options.session,
            isolation: self.options.isolation,
            read_ts: self.read_ts,
            sequence: self.sequence,
            anchored: self.anchored,
        });
        batch.header.wait_policy = wait_policy;
        batch.header.lock_timeout = self.options.lock_timeout;
        batch
    }

    /// Only those who may have to refresh or validate keep what they read.
    fn remembers_reads(&self) -> bool {
        !self.options.read_only && self.options.isolation != Isolation::ReadCommitted
    }

    /// A locking read saw a version newer than the snapshot: the others refresh to the moment it shows, READ COMMITTED hands
    /// the row up.
    async fn saw_newest(&mut self, lock: Option<LockStrength>, newest: Timestamp, read_at: Timestamp) -> Result<(), KvError> {
        if lock.is_none() || newest <= self.read_ts {
            return Ok(());
        }
        if self.options.isolation == Isolation::ReadCommitted {
            self.observed = self.observed.max(newest);
            return Ok(());
        }
        let refreshed = self.refresh_to(read_at.max(newest)).await;
        // What failed is the lock on a row that somebody else has changed, not the transaction's commit.
        refreshed.map_err(|refused| match refused {
            KvError::ReadChanged { key, at } => KvError::WriteTooOld { key, newer: at },
            other => other,
        })
    }

    async fn check_too_old(&mut self, answer: &BatchResponse) -> Result<(), KvError> {
        let Some(too_old) = &answer.too_old else { return Ok(()) };
        self.observed = self.observed.max(too_old.newer);
        let error = KvError::WriteTooOld { key: too_old.key.clone(), newer: too_old.newer };
        if self.options.isolation == Isolation::ReadCommitted {
            return Err(error);
        }
        self.refresh().await.map_err(|refused| if refused.is_retryable() { error } else { refused })
    }
}

impl Drop for Txn {
    fn drop(&mut self) {
        let loaded = self.own_indexes.take_loaded();
        if self.ended || (self.locks.is_empty() && !self.anchored && loaded.is_empty()) {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            tracing::error!(txn = %self.id, "a transaction was dropped outside of the runtime: its locks stay until restart");
            return;
        };
        let mut batch = self.batch(WaitPolicy::Block);
        let end = EndTxn { locks: self.locks.take(), ..EndTxn::default() };
        batch.requests.push(Request::EndTxn(Box::new(end)));
        let sender = Arc::clone(&self.sender);
        ClientMetrics::bump(&self.metrics.aborted);
        runtime.spawn(async move {
            if let Err(error) = sender.send(batch).await {
                tracing::warn!(%error, "could not abort a dropped transaction");
            }
            for index in loaded {
                if let Err(error) = sender.send(drop_request(index)).await {
                    tracing::warn!(%error, index = index.0, "could not drop an index of a dropped transaction");
                }
            }
        });
    }
}

fn drop_request(index: IndexId) -> BatchRequest {
    BatchRequest::read_at(Timestamp::MAX).with(Request::DropIndex { index })
}

fn request_of(write: Write) -> Request {
    match write {
        Write::Put(key, value, lock) => Request::Put { key, value, lock, guard: WriteGuard::Snapshot },
        Write::Insert(key, value) => Request::Insert { key, value },
        Write::Delete(key) => Request::Delete { key, guard: WriteGuard::Snapshot },
        Write::PutEntry(key, value) => Request::Put { key, value, lock: LockStrength::Update, guard: WriteGuard::Row },
        Write::DeleteEntry(key) => Request::Delete { key, guard: WriteGuard::Row },
    }
}
