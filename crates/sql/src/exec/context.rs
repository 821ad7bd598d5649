//! What a statement runs in: [`ExecContext`], which the session fills for each statement, and [`Run`], which adds what belongs to one execution.

use super::RowBatch;
use super::cancel::CancelFlag;
use super::errors::kv_error;
use super::foreign_key::{DeferredChecks, ForeignKeyWork};
use super::functions::FunctionPlans;
use super::postponed::PostponedWrites;
use super::sequence::SequenceMemory;
use crate::catalog::rows::VirtualScan;
use crate::catalog::{Catalog, Oid, SharedCatalog, TemporaryObjects};
use crate::error::{SqlError, SqlState};
use crate::expr::{EvalContext, SessionInfo};
use crate::locks::SessionLocks;
use crate::plan::{PlanSettings, StatementPlan};
use crate::types::{Datum, FormatSettings, TextContext};
use std::path::Path;
use std::sync::Arc;
use tidelock_base::{IndexId, Timestamp};
use tidelock_kvapi::KvError;
use tidelock_kvclient::{Db, Txn};

/// Everything a statement may touch.
pub struct ExecContext<'a> {
    /// The transaction; the session has called [`Txn::step`].
    pub txn: &'a mut Txn,
    /// For what is outside of transactions: sequences, ids, ranges.
    pub db: &'a Db,
    /// The catalog the statement was planned against. DDL replaces it (see [`TxnState::catalog`]).
    pub catalog: Arc<Catalog>,
    /// When that catalog was read: writes rely on no newer definition existing at commit.
    pub catalog_ts: Timestamp,
    /// Search path and user, and the switches of the planner, for statements that plan others.
    pub plan_settings: &'a PlanSettings,
    /// DateStyle, TimeZone and their like.
    pub settings: &'a FormatSettings,
    /// The session, for functions.
    pub session: &'a dyn SessionInfo,
    /// What the session remembers of sequences.
    pub sequences: &'a SequenceMemory,
    /// `now()`.
    pub transaction_time: i64,
    /// `statement_timestamp()`.
    pub statement_time: i64,
    /// Set to stop.
    pub cancel: &'a CancelFlag,
    /// The session's locks above the rows.
    pub locks: &'a SessionLocks,
    /// Rows of tables that are not stored.
    pub virtual_tables: &'a dyn VirtualTables,
    /// Bytes that a sort or an aggregate keeps in memory; the rest goes to temporary files.
    pub work_mem: usize,
    /// Where temporary files go.
    pub spill_dir: &'a Path,
    /// What the transaction still has to do.
    pub state: &'a mut TxnState,
    /// Notices for the client.
    pub notices: &'a mut Vec<Notice>,
    /// Bodies of functions that the session has planned.
    pub functions: &'a FunctionPlans,
    /// Calls of functions around this statement.
    pub call_depth: u32,
}

/// What a transaction has pending above the key-value floors. The session keeps it beside the [`Txn`], copies it at a savepoint and puts the copy
/// back when it rolls back to it.
#[derive(Clone, Debug, Default)]
pub struct TxnState {
    /// The catalog with this transaction's own definitions; statements that follow are planned against it.
    pub catalog: Option<Arc<Catalog>>,
    /// The session's temporary objects, once this transaction has changed them.
    pub temporary: Option<Arc<TemporaryObjects>>,
    /// Constraints to check at commit: call [`super::run_deferred`] before it.
    pub deferred: DeferredChecks,
    /// Indexes whose data is garbage once the transaction has committed: call [`super::after_commit`].
    pub dropped_indexes: Vec<IndexId>,
    /// The list of databases with this transaction's own changes: the server reads it again after the commit.
    pub shared: Option<Arc<SharedCatalog>>,
    /// What SET CONSTRAINTS said.
    pub constraint_timing: ConstraintTiming,
}

/// SET CONSTRAINTS: when deferrable constraints are checked in this transaction. What was not mentioned is left to each constraint.
#[derive(Clone, Debug, Default)]
pub struct ConstraintTiming {
    /// ALL.
    all: Option<bool>,
    /// By name, the latest last.
    named: Vec<(Oid, bool)>,
}

impl ConstraintTiming {
    /// SET CONSTRAINTS ALL.
    pub fn set_all(&mut self, deferred: bool) {
        self.all = Some(deferred);
        self.named.clear();
    }

    /// SET CONSTRAINTS by name.
    pub fn set(&mut self, constraint: Oid, deferred: bool) {
        self.named.retain(|(oid, _)| *oid != constraint);
        self.named.push((constraint, deferred));
    }

    /// What was said about a constraint.
    pub fn is_deferred(&self, constraint: Oid) -> Option<bool> {
        let named = self.named.iter().find(|(oid, _)| *oid == constraint).map(|(_, deferred)| *deferred);
        named.or(self.all)
    }
}

/// A notice or warning for the client.
#[derive(Clone, Debug)]
pub struct Notice {
    /// `NOTICE`, `WARNING`, `INFO`.
    pub severity: &'static str,
    /// SQLSTATE, message and what else there is to say.
    pub fields: SqlError,
}

impl Notice {
    /// A NOTICE.
    #[allow(clippy::self_named_constructors)] // the severity has that name
    pub fn notice(message: impl Into<std::borrow::Cow<'static, str>>) -> Notice {
        Notice { severity: "NOTICE", fields: SqlError::new(SqlState("00000"), message) }
    }

    /// A NOTICE that something is there already, or not there: under the state that would have been its error's.
    pub fn skipped(state: SqlState, message: impl std::fmt::Display) -> Notice {
        Notice { severity: "NOTICE", fields: SqlError::new(state, format!("{message}, skipping")) }
    }

    /// A WARNING.
    pub fn warning(state: SqlState, message: impl Into<std::borrow::Cow<'static, str>>) -> Notice {
        Notice { severity: "WARNING", fields: SqlError::new(state, message) }
    }

    /// An INFO line, as VACUUM VERBOSE writes them.
    pub fn info(message: impl Into<std::borrow::Cow<'static, str>>) -> Notice {
        Notice { severity: "INFO", fields: SqlError::new(SqlState("00000"), message) }
    }
}

/// Rows of pg_catalog, information_schema and the tables that show the server's inside.
#[async_trait::async_trait]
pub trait VirtualTables: Send + Sync {
    /// The rows of a table, with all its columns; the caller filters what is more than it asked for.
    async fn rows(&self, scan: &VirtualScan<'_>, catalog: &Arc<Catalog>, db: &Db) -> Result<Vec<Vec<Datum>>, SqlError>;
}

/// No virtual tables have rows.
#[derive(Debug)]
pub struct NoVirtualTables;

#[async_trait::async_trait]
impl VirtualTables for NoVirtualTables {
    async fn rows(&self, _: &VirtualScan<'_>, _: &Arc<Catalog>, _: &Db) -> Result<Vec<Vec<Datum>>, SqlError> {
        Ok(Vec::new())
    }
}

impl ExecContext<'_> {
    /// The same context, borrowed anew.
    pub fn reborrow(&mut self) -> ExecContext<'_> {
        ExecContext {
            txn: self.txn,
            db: self.db,
            catalog: Arc::clone(&self.catalog),
            catalog_ts: self.catalog_ts,
            plan_settings: self.plan_settings,
            settings: self.settings,
            session: self.session,
            sequences: self.sequences,
            transaction_time: self.transaction_time,
            statement_time: self.statement_time,
            cancel: self.cancel,
            locks: self.locks,
            virtual_tables: self.virtual_tables,
            work_mem: self.work_mem,
            spill_dir: self.spill_dir,
            state: self.state,
            notices: self.notices,
            functions: self.functions,
            call_depth: self.call_depth,
        }
    }

    /// For expressions without parameters.
    pub fn eval(&self) -> EvalContext<'_> {
        self.eval_with(&[])
    }

    /// For expressions.
    pub fn eval_with<'e>(&'e self, params: &'e [Datum]) -> EvalContext<'e> {
        EvalContext {
            params,
            settings: self.settings,
            session: self.session,
            transaction_time: self.transaction_time,
            statement_time: self.statement_time,
        }
    }

    /// For text forms.
    pub fn text(&self) -> TextContext<'_> {
        TextContext { settings: self.settings, now: self.transaction_time, session: self.session }
    }

    /// A failure below, as the client sees it.
    pub fn kv(&self, error: KvError) -> SqlError {
        kv_error(error, &self.catalog)
    }
}

/// One execution of a plan.
pub(crate) struct Run<'r> {
    pub(crate) ctx: ExecContext<'r>,
    pub(crate) plan: Arc<StatementPlan>,
    /// Statement parameters, then execution slots.
    pub(crate) params: Vec<Datum>,
    /// Common table expressions, by number.
    pub(crate) ctes: Vec<CteRows>,
    /// Rows written by the statement itself (not by its CTEs).
    pub(crate) affected: u64,
    /// A CTE is being filled: what it writes doesn't count.
    pub(crate) inside_cte: bool,
    /// Of a statement with data-modifying terms in WITH: what it will write at its end.
    pub(crate) postponed: Option<PostponedWrites>,
    /// The statement lost a race: rows are locked before they are written, and looked at again.
    pub(crate) after_race: bool,
    /// Batches since the task last gave way to others.
    pub(crate) batches: u32,
    /// Rows compared by joins since the task last gave way.
    pub(crate) compared: usize,
}

/// The rows of a common table expression, once it has been evaluated.
#[derive(Clone, Debug, Default)]
pub(crate) struct CteRows {
    pub(crate) rows: Option<Arc<RowBatch>>,
    /// While a recursive term runs: the last round's rows.
    pub(crate) work: Arc<RowBatch>,
    pub(crate) filling: bool,
}

/// Rows that a join compares before it lets others run: about a millisecond.
const ROWS_PER_TURN: usize = 16 * 1024;

impl Run<'_> {
    /// A join has compared rows: stops when cancelled, gives way now and then. A statement's timeout can only fire when its
    /// task gives way.
    pub(crate) async fn give_way(&mut self, compared: usize) -> Result<(), SqlError> {
        self.ctx.cancel.check()?;
        self.compared += compared + 1;
        if self.compared >= ROWS_PER_TURN {
            self.compared = 0;
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    /// A part of the statement has ended: settles what it owes to foreign keys, now or when everything is written.
    pub(crate) async fn settle_foreign_keys(&mut self, mut work: ForeignKeyWork) -> Result<(), SqlError> {
        match &mut self.postponed {
            Some(postponed) => {
                postponed.owe(work);
                Ok(())
            }
            None => work.finish(&mut self.ctx).await,
        }
    }

    /// For expressions of this execution.
    pub(crate) fn eval(&self) -> EvalContext<'_> {
        self.ctx.eval_with(&self.params)
    }

    /// A failure below, as the client sees it.
    pub(crate) fn kv(&self, error: KvError) -> SqlError {
        self.ctx.kv(error)
    }

    /// Sets an execution slot.
    pub(crate) fn bind(&mut self, slot: usize, value: Datum) {
        if slot >= self.params.len() {
            self.params.resize(slot + 1, Datum::Null);
        }
        self.params[slot] = value;
    }
}

/// The plan and the operator tree do not fit: a bug.
pub(crate) fn misfit() -> SqlError {
    SqlError::new(SqlState::INTERNAL_ERROR, "the executor's state does not fit its plan")
}
