//! Transactions as SQL uses them: [`Db`] begins them, [`Txn`] is the coordinator, [`DistSender`] routes.
//!
//! An UPDATE passes here as: [`Txn::get`] or [`Txn::scan`] with a lock strength, [`Txn::write`], [`Txn::commit`]. The
//! coordinator adds what a single request cannot know, layer by layer:
//! - *the lock footprint* ([`footprint::LockFootprint`]): where locks and intents may be, noted *before* a request is sent,
//!   so that nothing is left behind when the request fails or is given up;
//! - *the read footprint* ([`footprint::ReadFootprint`]): what was read, with the columns that mattered, so that the
//!   snapshot can move forward ([`Txn::refresh`]) and SERIALIZABLE can be validated at commit;
//! - *the sequence*: numbers writes, so that a savepoint can be rolled back to;
//! - *durability owed*: the newest commit that locking reads saw before it was durable; the commit waits for it.
//!
//! This crate knows no SQL and no store; both sides meet in `kvapi`.

#![forbid(unsafe_code)]

mod db;
mod dist_sender;
pub mod footprint;
mod metrics;
mod own_indexes;
mod range_cache;
mod txn;

pub use db::{Db, TxnOptions};
pub use dist_sender::DistSender;
pub use metrics::ClientMetrics;
pub use range_cache::RangeCache;
pub use txn::{ReadOptions, Savepoint, ScanOptions, ScanPage, Txn, Write, Written};
