//! Execution: plans become rows, definitions become descriptors.
//!
//! **For the session.** [`Execution::open`] a plan, [`Execution::run`] it with an [`ExecContext`] and a [`RowSink`] (or both at once: [`execute`]). Definitions
//! and maintenance go to [`ddl::run_ddl`]; COPY to [`copy`]. Before a commit call [`run_deferred`], after it [`after_commit`]. Everything about
//! a transaction that is not in the [`tidelock_kvclient::Txn`] is in a [`TxnState`].
//!
//! **Inside.** `operator` is the tree, one file per operator; `scan` reads tables, `table_keys` says where rows and index entries live; `write` turns
//! rows into one batch of writes, with their constraints; `foreign_key` checks and cascades. Memory is bounded per operator ([`MATERIALIZED_BYTES_MAX`]).

mod aggregate;
mod batch;
mod bulk_load;
mod calls;
pub mod cancel;
mod conflict;
mod context;
pub mod copy;
pub mod ddl;
mod delete;
mod distinct;
mod errors;
mod execution;
mod filter;
mod foreign_key;
pub mod functions;
mod hash_join;
mod insert;
mod key_table;
mod lazy;
mod lock_rows;
mod lookup_join;
mod merge;
mod nested_loop;
mod operator;
mod partitions;
mod postponed;
mod returning;
mod row_file;
mod scan;
pub mod sequence;
mod set_op;
mod sort;
mod sorter;
mod sources;
mod spill;
mod subplan;
mod table_keys;
mod unique_check;
mod update;
mod window;
mod write;

pub use batch::{BATCH_ROWS, MATERIALIZED_BYTES_MAX, RowBatch};
pub use cancel::{CancelFlag, CancelReason};
pub use context::{ConstraintTiming, ExecContext, NoVirtualTables, Notice, TxnState, VirtualTables};
pub use errors::{kv_error, lock_error};
pub(crate) use errors::{serialization, wait_target};
pub use execution::{Affected, Execution, Flow, Progress, RowSink, after_commit, execute, run_deferred, run_deferred_of};
pub use functions::FunctionPlans;
pub use sequence::SequenceMemory;
pub(crate) use write::constraint_of;
