//! The door to the key-value floors.

use crate::metrics::ClientMetrics;
use crate::txn::Txn;
use std::sync::Arc;
use std::time::Duration;
use tidelock_base::{IndexId, Key, RangeId, SessionId, Span, Timestamp, TxnId};
use tidelock_kvapi::{BatchRequest, Isolation, KvError, RangeDescriptor, Request, Response, Sender, SequenceStep};

/// How a transaction shall run.
#[derive(Clone, Copy, Debug, Default)]
pub struct TxnOptions {
    /// The isolation level.
    pub isolation: Isolation,
    /// Whose it is.
    pub session: SessionId,
    /// Its first snapshot is never below this: the session's last commit.
    pub at_least: Timestamp,
    /// Longest wait for any one lock.
    pub lock_timeout: Option<Duration>,
    /// Writes are refused, reads are not remembered: a snapshot never needs validation.
    pub read_only: bool,
}

/// Begins transactions, and does what needs none.
#[derive(Clone)]
pub struct Db {
    sender: Arc<dyn Sender>,
    metrics: Arc<ClientMetrics>,
}

impl Db {
    /// A door to whatever takes batches.
    pub fn new(sender: Arc<dyn Sender>) -> Db {
        Db { sender, metrics: Arc::new(ClientMetrics::default()) }
    }

    /// As [`Db::new`], with counters that somebody else shows too.
    pub fn with_metrics(sender: Arc<dyn Sender>, metrics: Arc<ClientMetrics>) -> Db {
        Db { sender, metrics }
    }

    /// Begins a transaction. Nothing is sent; its snapshot is taken by its first statement.
    pub fn begin(&self, options: TxnOptions) -> Txn {
        Txn::begin(Arc::clone(&self.sender), Arc::clone(&self.metrics), options)
    }

    /// The newest commit.
    pub fn newest(&self) -> Timestamp {
        self.sender.newest()
    }

    /// A fresh transaction id, for those who need a unique ordered number.
    pub fn next_txn_id(&self) -> TxnId {
        self.sender.next_txn_id()
    }

    /// The coordinator's counters.
    pub fn metrics(&self) -> &ClientMetrics {
        &self.metrics
    }

    /// Takes values from a sequence: the first one, and how many.
    pub async fn sequence_next(&self, key: Key, step: SequenceStep) -> Result<(i64, u32), KvError> {
        match self.single(Request::SequenceNext { key, step }).await? {
            Response::Sequence { first, count } => Ok((first, count)),
            _ => Err(KvError::BadRequest("a sequence request wants a sequence answer")),
        }
    }

    /// Sets a sequence.
    pub async fn sequence_set(&self, key: Key, value: i64, called: bool) -> Result<(), KvError> {
        self.single(Request::SequenceSet { key, value, called }).await.map(drop)
    }

    /// Gives up an index's data, after the commit that dropped it.
    pub async fn drop_index(&self, index: IndexId) -> Result<(), KvError> {
        self.single(Request::DropIndex { index }).await.map(drop)
    }

    /// The indexes that have data, or had: for whoever knows which of them are garbage.
    pub async fn indexes(&self) -> Result<Vec<IndexId>, KvError> {
        match self.single(Request::ListIndexes).await? {
            Response::Indexes(indexes) => Ok(indexes),
            _ => Err(KvError::BadRequest("a list of indexes is wanted")),
        }
    }

    /// Cuts a range at a key.
    pub async fn split(&self, key: Key) -> Result<Vec<RangeDescriptor>, KvError> {
        self.ranges_answer(Request::Split { key }).await
    }

    /// Joins the key's range with its right neighbour.
    pub async fn merge(&self, key: Key) -> Result<Vec<RangeDescriptor>, KvError> {
        self.ranges_answer(Request::Merge { key }).await
    }

    /// The ranges that overlap a span, as the store knows them.
    pub async fn ranges(&self, span: Span) -> Result<Vec<RangeDescriptor>, KvError> {
        self.ranges_answer(Request::RangeLookup { span }).await
    }

    async fn ranges_answer(&self, request: Request) -> Result<Vec<RangeDescriptor>, KvError> {
        match self.single(request).await? {
            Response::Ranges(ranges) => Ok(ranges),
            _ => Err(KvError::BadRequest("a range request wants a range answer")),
        }
    }

    async fn single(&self, request: Request) -> Result<Response, KvError> {
        let mut batch = BatchRequest::read_at(Timestamp::MAX);
        batch.header.range = RangeId(0);
        let mut answer = self.sender.send(batch.with(request)).await?;
        answer.responses.pop().ok_or(KvError::BadRequest("an empty answer"))
    }
}
