//! Storage: what makes a commit last. Synchronous, and ignorant of locks, transactions' fates, ranges and SQL.
//!
//! The life of a write, seen from here:
//!
//! 1. The commit sequencer calls [`Storage::append_commit`]: one log record, in memory, in timestamp order ([`log`]).
//! 2. The committer waits in [`Storage::poll_durable`] (or syncs by itself, [`Storage::sync_inline`]); one `fdatasync` serves all who wait.
//! 3. Resolution calls [`Storage::install`]: the version goes to the memtable ([`memtable`]) and is readable by [`Storage::get`] and [`Storage::scan`] ([`read`]).
//! 4. [`Storage::installed`] says that all of the commit's versions are in.
//! 5. The fold thread moves memtables into redb ([`fold`], [`base`]), and lets go of the log below ([`log`]).
//! 6. Versions that a newer one displaced live on while a [`SnapshotPin`] needs them ([`pins`]).
//! 7. What a transaction writes beyond its budget goes to redb at once, as *spilled* rows, which its commit turns into versions ([`spill`]).
//! 8. Rows of an index that is not public yet skip all that: [`Storage::ingest`] writes them to redb ([`ingest`]).
//! 9. After a crash [`Storage::open`] replays the log over redb's last state ([`store`]).
//!
//! Two threads: `tidelock-log` syncs, `tidelock-fold` folds. Any failure of the disk or of redb ends the store ([`StorageError`] says why): the process
//! reopens it. Only this crate names redb.
#![forbid(unsafe_code)]
#![allow(rustdoc::private_intra_doc_links)]

mod base;
pub mod disk;
mod error;
mod fold;
mod ingest;
mod log;
mod memtable;
mod metrics;
mod move_spilled;
mod options;
mod pins;
mod read;
mod sizes;
mod spill;
mod store;
mod version;

pub use error::StorageError;
pub use metrics::StorageMetrics;
pub use options::Options;
pub use pins::SnapshotPin;
pub use sizes::SpanSize;
pub use spill::{Done, SequenceRanges, SpillEnd, SpillRow, SpilledVersion, SpilledVersions};
pub use store::Storage;
pub use version::Version;
