//! The seam.

use crate::descriptor::RangeDescriptor;
use crate::error::KvError;
use crate::request::BatchRequest;
use crate::response::BatchResponse;
use std::any::Any;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use tidelock_base::{Timestamp, TxnId};

/// Takes batches. Implemented by DistSender (which routes) and by a store (which evaluates).
///
/// Dropping the future of `send` while it waits for a lock gives the wait up and leaves nothing behind; locks that the
/// batch had taken stay with the transaction. A batch with an `EndTxn` must be awaited to its end.
pub trait Sender: Send + Sync + 'static {
    /// Evaluates a batch: at once as far as it gets without waiting, the rest when the answer is awaited.
    fn send(&self, batch: BatchRequest) -> Sent<'_>;

    /// A snapshot to read at: everything that is durable now. It stays readable until dropped.
    fn snapshot(&self) -> Snapshot;

    /// A snapshot that has moved: `ts` stays readable until dropped; or a moment after it, when what is needed at `ts` may be gone already.
    fn snapshot_at(&self, ts: Timestamp) -> Snapshot;

    /// The newest commit, durable or not: where a refresh moves to.
    fn newest(&self) -> Timestamp;

    /// A new transaction id.
    fn next_txn_id(&self) -> TxnId;
}

/// The answer to a batch. Nearly always it is there already, so that nothing is allocated for a future that never waits.
pub enum Sent<'s> {
    /// It is there (`None` once it was taken).
    Now(Option<Result<BatchResponse, KvError>>),
    /// It takes a wait: for a lock, for the disk.
    Later(Pin<Box<dyn Future<Output = Result<BatchResponse, KvError>> + Send + 's>>),
    /// The range has other borders than the sender believes; nothing was evaluated, and here is the batch again.
    Misrouted(Box<Misrouted>),
}

/// A batch that came to the wrong range.
#[derive(Debug)]
pub struct Misrouted {
    /// The batch, as it came.
    pub batch: BatchRequest,
    /// The ranges as they are now.
    pub current: Vec<RangeDescriptor>,
}

impl<'s> Sent<'s> {
    /// An answer that is there.
    pub fn now(answer: Result<BatchResponse, KvError>) -> Sent<'s> {
        Sent::Now(Some(answer))
    }

    /// An answer to wait for.
    pub fn later(answer: impl Future<Output = Result<BatchResponse, KvError>> + Send + 's) -> Sent<'s> {
        Sent::Later(Box::pin(answer))
    }
}

impl Future for Sent<'_> {
    type Output = Result<BatchResponse, KvError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Sent::Now(answer) => Poll::Ready(answer.take().unwrap_or(Err(KvError::BadRequest("an answer was taken twice")))),
            Sent::Later(answer) => answer.as_mut().poll(context),
            Sent::Misrouted(misrouted) => Poll::Ready(Err(KvError::RangeMismatch { current: std::mem::take(&mut misrouted.current) })),
        }
    }
}

/// A timestamp that stays readable while this is held.
pub struct Snapshot {
    /// What it sees.
    pub ts: Timestamp,
    /// What keeps the versions alive; a store's own affair.
    pub pin: Option<Box<dyn Any + Send + Sync>>,
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Snapshot({})", self.ts)
    }
}
