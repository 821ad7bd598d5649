//! The waist of the house: what the SQL floors may ask of the key-value floors, and what those answer.
//!
//! Everything goes through one asynchronous call, [`Sender::send`], which takes a [`BatchRequest`] and gives a
//! [`BatchResponse`].  DistSender implements it by cutting a batch at range borders and passing the pieces on; a store
//! implements it by evaluating.  Nothing here points into a process: a request could travel a network as it is.
//!
//! Where an UPDATE passes by:
//! 1. its scan is a [`Request::Scan`] or [`Request::Get`], with a [`LockStrength`] when the statement will write the rows;
//! 2. its writes are [`Request::Put`]s: each takes an exclusive lock and leaves an intent;
//! 3. COMMIT is [`Request::EndTxn`], which carries what was read (to be validated) and the [`LockSpan`]s (to be resolved);
//! 4. what the commit itself did not resolve comes back as [`Request::ResolveIntent`] and
//!    [`Request::ResolveIntentRange`], sent by the intent resolver.

#![forbid(unsafe_code)]

mod descriptor;
mod error;
mod lock;
mod request;
mod response;
mod sender;
mod txn;
mod wait_graph;

pub use descriptor::RangeDescriptor;
pub use error::{DeadlockEdge, DeadlockReport, KvError, WaitTarget};
pub use lock::{LockSpan, LockStrength, WaitPolicy};
pub use request::{
    Assertion, BatchRequest, EndTxn, Header, Limit, PassBudget, ReadSpan, Request, RequestKind, Resolution, SequenceStep, WriteGuard,
};
pub use response::{BatchResponse, Response, Row, TooOld};
pub use sender::{Misrouted, Sender, Sent, Snapshot};
pub use txn::{Isolation, TxnMeta, TxnStatus};
pub use wait_graph::{OnVictim, WaitAbove, WaitGraph, WaitsAbove};
