//! The seam.

use crate::error::KvError;
use crate::request::BatchRequest;
use crate::response::BatchResponse;
use std::any::Any;
use std::fmt;
use tidelock_base::{Timestamp, TxnId};

/// Takes batches. Implemented by DistSender (which routes) and by a store (which evaluates).
///
/// Dropping the future of `send` while it waits for a lock gives the wait up and leaves nothing behind; locks that the
/// batch had taken stay with the transaction. A batch with an `EndTxn` must be awaited to its end.
#[async_trait::async_trait]
pub trait Sender: Send + Sync + 'static {
    /// Evaluates a batch.
    async fn send(&self, batch: BatchRequest) -> Result<BatchResponse, KvError>;

    /// A snapshot to read at: everything that is durable now. It stays readable until dropped.
    fn snapshot(&self) -> Snapshot;

    /// The newest commit, durable or not: where a refresh moves to.
    fn newest(&self) -> Timestamp;

    /// A new transaction id.
    fn next_txn_id(&self) -> TxnId;
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
