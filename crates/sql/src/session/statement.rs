//! One statement, whichever protocol it came by: find or make its plan, run it, say what it did.
//!
//! A statement that fails because of others, before its client has seen any of its transaction's rows, is run again by
//! the server itself; [`MAX_RETRIES`] bounds how often.

use super::client::{Client, FLUSH_BYTES, Format};
use super::plan_cache::CachedStatement;
use super::settings::SessionSettings;
use super::{Block, Session};
use crate::ast::{ParsedStatement, Statement};
use crate::catalog::Catalog;
use crate::error::{SqlError, SqlState};
use crate::exec::{ExecContext, Execution, Flow, Progress, RowSink};
use crate::expr::clock_time;
use crate::plan::{PlanSettings, StatementPlan, plan_statement};
use crate::types::{DataType, Datum};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tidelock_base::Timestamp;

/// Automatic retries of one transaction.
pub(super) const MAX_RETRIES: u32 = 100;

/// Automatic retries after a deadlock: what the session holds for itself may close the same circle again.
const MAX_DEADLOCK_RETRIES: u32 = 5;

/// What a statement runs with, taken once at its start.
pub(super) struct Scope {
    pub(super) catalog: Arc<Catalog>,
    pub(super) catalog_ts: Timestamp,
    pub(super) settings: Arc<SessionSettings>,
    pub(super) plan_settings: Arc<PlanSettings>,
    pub(super) statement_time: i64,
    transaction_time: i64,
}

/// Hands rows to the client, and suspends when its buffer is full.
pub(super) struct ClientSink<'c> {
    pub(super) client: &'c mut dyn Client,
}

impl RowSink for ClientSink<'_> {
    fn row(&mut self, row: &[Datum]) -> Result<Flow, SqlError> {
        self.client.row(row)?;
        Ok(if self.client.buffered() >= FLUSH_BYTES { Flow::Suspend } else { Flow::Continue })
    }
}

impl Session {
    /// Takes what a statement needs to know at its start.
    pub(super) fn scope(&mut self) -> Scope {
        let (catalog, catalog_ts) = self.current_catalog();
        self.view.set_catalog(&catalog);
        let settings = self.settings();
        let plan_settings = self.plan_settings(&settings);
        Scope { catalog, catalog_ts, settings, plan_settings, statement_time: clock_time(), transaction_time: self.transaction.started }
    }

    /// The planner's part of the settings, made anew only when one of them has changed.
    fn plan_settings(&mut self, settings: &SessionSettings) -> Arc<PlanSettings> {
        let fingerprint = self.plan_fingerprint(settings);
        match &self.plan_settings {
            Some((known, plan_settings)) if *known == fingerprint => Arc::clone(plan_settings),
            _ => {
                let made = Arc::new(self.make_plan_settings(settings));
                self.plan_settings = Some((fingerprint, Arc::clone(&made)));
                made
            }
        }
    }

    fn make_plan_settings(&self, settings: &SessionSettings) -> PlanSettings {
        let on = |name: &str| settings.show(name).as_deref() == Some("on");
        PlanSettings {
            implicit_select_for_update: settings.implicit_select_for_update,
            point_gets: self.cluster.point_gets.load(Ordering::Relaxed),
            index_scan: on("enable_indexscan"),
            hash_join: on("enable_hashjoin"),
            nested_loop: on("enable_nestloop"),
            search_path: settings.effective_search_path(&self.handle.user),
            user: self.handle.user.clone(),
        }
    }

    /// Part of the plan cache's key.
    pub(super) fn plan_fingerprint(&self, settings: &SessionSettings) -> u64 {
        let point_gets = u64::from(self.cluster.point_gets.load(Ordering::Relaxed));
        let mut fingerprint = settings.plan_fingerprint.rotate_left(1) ^ point_gets ^ self.temporary_fingerprint();
        if settings.search_path.iter().any(|name| name == "$user") && self.handle.user != "postgres" {
            fingerprint ^= self.handle.user.bytes().fold(7, |hash: u64, b| hash.wrapping_mul(31).wrapping_add(u64::from(b)));
        }
        fingerprint
    }

    /// The executor's context over this session's parts.
    pub(super) fn context<'s>(&'s mut self, scope: &'s Scope) -> Result<ExecContext<'s>, SqlError> {
        let transaction = &mut self.transaction;
        let txn = transaction.txn.as_mut().ok_or_else(super::transaction::failed_block)?;
        Ok(ExecContext {
            txn,
            db: &self.cluster.db,
            catalog: Arc::clone(&scope.catalog),
            catalog_ts: scope.catalog_ts,
            plan_settings: &scope.plan_settings,
            settings: &scope.settings.formats,
            session: &*self.view,
            sequences: &self.view.sequences,
            transaction_time: scope.transaction_time,
            statement_time: scope.statement_time,
            cancel: &self.handle.cancel,
            locks: &self.locks,
            virtual_tables: &*self.view,
            work_mem: scope.settings.work_mem,
            spill_dir: self.cluster.hooks.spill_dir(),
            state: &mut transaction.state,
            notices: &mut self.notices,
            functions: &self.view.functions,
            call_depth: 0,
        })
    }

    /// Plans a statement, or finds it planned. `types` are the declared parameter types.
    pub(super) fn prepare_cached(
        &mut self,
        text: &str,
        types: &[DataType],
        parse: impl FnOnce() -> Result<ParsedStatement, SqlError>,
    ) -> Result<Arc<CachedStatement>, SqlError> {
        let (catalog, _) = self.current_catalog();
        let settings = self.settings();
        let fingerprint = self.plan_fingerprint(&settings);
        if let Some(cached) = self.cluster.plans.get(text, types, fingerprint, &catalog) {
            return Ok(cached);
        }
        let parsed = parse()?;
        let plan = if is_planned(&parsed.statement) {
            self.view.set_catalog(&catalog);
            let plan_settings = self.plan_settings(&settings);
            Some(Arc::new(plan_statement(&parsed.statement, &catalog, &plan_settings, types)?))
        } else {
            None
        };
        let entry = CachedStatement::new(Arc::from(text), parsed, types.to_vec(), fingerprint, plan, &catalog);
        let entry = Arc::new(entry);
        // A transaction's own definitions are nobody else's business.
        if entry.plan.is_some() && self.transaction.state.catalog.is_none() {
            self.cluster.plans.put(Arc::clone(&entry));
        }
        Ok(entry)
    }

    /// Checks, once per statement, what its transaction allows.
    pub(super) fn check_allowed(&self, statement: &Statement, plan: Option<&StatementPlan>) -> Result<(), SqlError> {
        let writes = match plan {
            Some(plan) => !plan.read_only,
            None => is_definition(statement),
        };
        if writes && self.is_read_only() {
            let what = statement.tag();
            let what = if matches!(statement, Statement::Query(_)) { "SELECT FOR UPDATE" } else { what };
            let message = format!("cannot execute {what} in a read-only transaction");
            return Err(SqlError::new(SqlState::READ_ONLY_SQL_TRANSACTION, message));
        }
        Ok(())
    }

    /// Begins the key-value side of a statement.
    pub(super) fn step(&mut self, settings: &SessionSettings) {
        self.transaction.statements += 1;
        if let Some(txn) = &mut self.transaction.txn {
            txn.set_lock_timeout(settings.lock_timeout);
            txn.step();
        }
    }

    /// Runs a planned statement to its end. The command tag comes back.
    pub(super) async fn run_plan(
        &mut self,
        plan: &Arc<StatementPlan>,
        params: Vec<Datum>,
        formats: &[Format],
        client: &mut dyn Client,
    ) -> Result<String, SqlError> {
        let scope = self.scope();
        self.step(&scope.settings);
        client.begin_rows(&plan.output, formats, &scope.settings.formats, self.view.clone());
        let mut execution = Execution::open(Arc::clone(plan), params);
        let waited = std::mem::take(&mut self.lock_wait);
        let deadline = scope.settings.statement_timeout.map(|timeout| timeout.saturating_sub(waited));
        let cancel = Arc::clone(&self.handle);
        let running = self.drive(&mut execution, &scope, client);
        let affected = with_timeout(deadline, &cancel, running).await?;
        Ok(affected.command_tag())
    }

    async fn drive(
        &mut self,
        execution: &mut Execution,
        scope: &Scope,
        client: &mut dyn Client,
    ) -> Result<crate::exec::Affected, SqlError> {
        loop {
            let progress = {
                let mut ctx = self.context(scope)?;
                execution.run(&mut ctx, &mut ClientSink { client }, None).await?
            };
            match progress {
                Progress::Done(affected) => return Ok(affected),
                Progress::Suspended => client.flush().await.map_err(client_gone)?,
            }
        }
    }

    /// May the transaction be run again without its client noticing? Only if this is its first statement.
    pub(super) fn may_retry(&self, error: &SqlError, attempt: u32) -> bool {
        // A transaction of several statements may hold, by LOCK TABLE or an advisory lock, what made the circle.
        let alone = error.state() != SqlState::DEADLOCK_DETECTED || self.transaction.block == Block::Implicit;
        error.fields().retryable
            && alone
            && attempt < retry_limit(error)
            && self.transaction.statements <= 1
            && matches!(self.transaction.block, Block::Implicit | Block::Explicit)
            && self.transaction.state.catalog.is_none()
            && self.transaction.state.temporary.is_none()
            && self.transaction.state.shared.is_none()
    }
}

/// How often what failed with this may be tried again.
pub(super) fn retry_limit(error: &SqlError) -> u32 {
    if error.state() == SqlState::DEADLOCK_DETECTED { MAX_DEADLOCK_RETRIES } else { MAX_RETRIES }
}

/// Runs a statement with `statement_timeout`.
pub(super) async fn with_timeout<T>(
    timeout: Option<std::time::Duration>,
    handle: &super::SessionHandle,
    statement: impl Future<Output = Result<T, SqlError>>,
) -> Result<T, SqlError> {
    let Some(timeout) = timeout else { return statement.await };
    tokio::pin!(statement);
    tokio::select! {
        biased;
        result = &mut statement => result,
        () = tokio::time::sleep(timeout) => {
            handle.cancel.cancel(crate::exec::CancelReason::StatementTimeout);
            statement.await
        }
    }
}

/// The client cannot be written to any more.
pub(super) fn client_gone(error: std::io::Error) -> SqlError {
    SqlError::new(SqlState("08006"), format!("connection to client lost: {error}"))
}

/// Statements that get a plan; the others are run from their syntax tree.
pub(super) fn is_planned(statement: &Statement) -> bool {
    use Statement::{Call, Delete, Insert, Merge, Query, Update};
    matches!(statement, Query(_) | Insert(_) | Update(_) | Delete(_) | Merge(_) | Call(_))
}

/// Statements that change definitions or data without having a plan: refused in read-only transactions.
fn is_definition(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::Truncate(_)
            | Statement::CreateTable(_)
            | Statement::CreateTableAs(_)
            | Statement::AlterTable(_)
            | Statement::CreateIndex(_)
            | Statement::CreateSchema(_)
            | Statement::CreateSequence(_)
            | Statement::AlterSequence(_)
            | Statement::CreateView(_)
            | Statement::CreateFunction(_)
            | Statement::AlterFunction(_)
            | Statement::DropFunction(_)
            | Statement::CreateDatabase(_)
            | Statement::AlterDatabase(_)
            | Statement::DropDatabase(_)
            | Statement::AlterIndexRename { .. }
            | Statement::AlterSchemaRename { .. }
            | Statement::AlterSchemaOwner { .. }
            | Statement::CreateDomain(_)
            | Statement::AlterDomain(_)
            | Statement::CreateEnum { .. }
            | Statement::AlterEnum { .. }
            | Statement::Drop(_)
            | Statement::Comment(_)
            | Statement::Grant(_)
    )
}
