//! The server side of the key-value floors: one store, its ranges, and everything that keeps transactions apart.
//!
//! | file | what it is |
//! |---|---|
//! | [`store`] | the door: takes a batch, evaluates its requests one by one, waits where it must |
//! | [`eval`] | one file per kind of request |
//! | [`range`](mod@range) | ranges, their borders, splits and merges |
//! | [`lock_table`] | who holds and who waits for each key, and the intents |
//! | `snapshot_read` | reading without locks |
//! | [`spill`] | what large transactions hold, moved to disk |
//! | [`deadlock`] | the waits-for graph |
//! | [`wait`] | the asynchronous side of waiting |
//! | [`txn_record`] | the one place that says whether a transaction committed |
//! | [`sequencer`] | commits, one after another: validate, timestamp, log, flip |
//! | [`resolver`] | cleans up after transactions, merging points and ranges into batches |
//!
//! An UPDATE: its locking read is evaluated under its range's mutex ([`eval`]), waits in a queue if it must ([`wait`]),
//! its write leaves an intent ([`lock_table`]), its commit passes the [`sequencer`], its intents become versions at once or by
//! the [`resolver`].
//!
//! The lock table, the deadlock graph and the resolver's batcher are pure state machines; only [`store`], [`wait`] and
//! [`resolver`] know tokio.

#![forbid(unsafe_code)]

pub mod deadlock;
pub mod eval;
pub mod lock_table;
pub mod metrics;
pub mod range;
pub mod resolver;
pub mod sequencer;
mod settings;
mod snapshot_read;
pub mod spill;
pub mod store;
pub mod txn_record;
pub mod wait;

pub use settings::{KvSettings, NUMBERS, Number, NumberSetting};
pub use store::{LockInfo, Store};
pub use wait::WaitInfo;
