//! Statements that are run from their syntax tree: transaction control, settings, PREPARE, EXPLAIN, definitions, maintenance.

use super::client::{Client, Format};
use super::settings::{self, SETTINGS};
use super::statement::with_timeout;
use super::table_locks::undefined_table;
use super::transaction::isolation_of;
use super::view::{POINT_GETS, SessionView};
use super::{Block, Session};
use crate::ast::{DiscardTarget, Execute, Explain, ExplainFormat, ObjectName, Prepare, SetVariable, Statement, TransactionModes};
use crate::error::{SqlError, SqlState};
use crate::exec::{ddl, kv_error};
use crate::plan::OutputColumn;
use crate::plan::explain::{ExplainOptions, explain_json, explain_text};
use crate::types::coercion::CastContext;
use crate::types::{ColumnType, DataType, Datum};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tidelock_base::Span;

impl Session {
    /// Runs a statement that is not planned. The command tag comes back.
    pub(super) async fn utility(&mut self, statement: &Statement, text: &str, client: &mut dyn Client) -> Result<String, SqlError> {
        match statement {
            Statement::Begin(modes) | Statement::StartTransaction(modes) => self.begin_block(*modes)?,
            Statement::Commit { chain } => return self.commit_block(*chain).await.map(str::to_string),
            Statement::Rollback { chain } => self.rollback_block(*chain).await?,
            Statement::Savepoint(name) => self.savepoint(name)?,
            Statement::ReleaseSavepoint(name) => self.release_savepoint(name)?,
            Statement::RollbackToSavepoint(name) => self.rollback_to_savepoint(name).await?,
            Statement::SetTransaction { modes, session } => self.set_transaction(*modes, *session)?,
            Statement::SetConstraints { names, deferred } => self.set_constraints(names.as_deref(), *deferred).await?,
            Statement::Set(set) => self.set_variable(set)?,
            Statement::Reset(name) => self.reset(name.as_deref())?,
            Statement::Show(name) => self.show(name.as_deref(), client)?,
            Statement::ShowRanges { table } => self.show_ranges(table, client).await?,
            Statement::Prepare(prepare) => self.prepare_statement(prepare, text)?,
            Statement::Execute(execute) => return self.execute_statement(execute, client).await,
            Statement::Deallocate(name) => return self.deallocate(name.as_deref()),
            Statement::Discard(target) => self.discard(*target).await?,
            Statement::Explain(explain) => self.explain(explain, client).await?,
            Statement::Copy(copy) => return self.copy(copy, client).await,
            Statement::DeclareCursor(declare) => self.declare_cursor(declare).await?,
            Statement::Fetch(fetch) => return self.fetch(fetch, client),
            Statement::CloseCursor(name) => self.close_cursor(name.as_deref())?,
            Statement::LockTable(lock) => self.lock_table(lock).await?,
            Statement::Listen(channel) => self.listen(channel)?,
            Statement::Notify { channel, payload } => self.notify(channel, payload.as_deref())?,
            Statement::Unlisten(channel) => self.unlisten(channel.as_deref())?,
            Statement::CreateDatabase(create) => self.create_database(create).await?,
            Statement::DropDatabase(drop) => self.drop_database(drop).await?,
            Statement::AlterDatabase(alter) => self.alter_database(alter).await?,
            other => return self.definition(other).await,
        }
        Ok(statement.tag().to_string())
    }

    /// CREATE, ALTER, DROP, TRUNCATE, ANALYZE, VACUUM ...
    pub(super) async fn definition(&mut self, statement: &Statement) -> Result<String, SqlError> {
        self.open_transaction()?;
        self.check_allowed(statement, None)?;
        if self.transaction.block == Block::Implicit && self.transaction.statements == 0 {
            // Definitions read what they build on; only SERIALIZABLE notices when that changes under them.
            self.set_modes(TransactionModes { isolation: Some(crate::ast::IsolationLevel::Serializable), ..TransactionModes::default() })?;
        }
        for attempt in 0.. {
            let result = self.define(statement).await;
            match result {
                Err(error) if error.fields().retryable && attempt < super::statement::MAX_RETRIES && self.may_define_again(&error) => {
                    self.restart_transaction().await;
                    self.transaction.statements = 0;
                    super::simple::back_off(attempt).await;
                }
                result => return result,
            }
        }
        Ok(statement.tag().to_string())
    }

    /// One attempt at a definition.
    async fn define(&mut self, statement: &Statement) -> Result<String, SqlError> {
        self.lock_for_definition(statement).await?;
        let scope = self.scope();
        self.step(&scope.settings);
        let handle = Arc::clone(&self.handle);
        let waited = std::mem::take(&mut self.lock_wait);
        let timeout = scope.settings.statement_timeout.map(|timeout| timeout.saturating_sub(waited));
        let mut ctx = self.context(&scope)?;
        let running = async {
            let cancel = ctx.cancel;
            tokio::select! {
                biased;
                result = ddl::run_ddl(statement, &mut ctx) => result,
                reason = cancel.cancelled() => Err(reason.into()),
            }
        };
        let tag = with_timeout(timeout, &handle, running).await?;
        if self.transaction.state.shared.is_some() {
            self.view.set_shared(self.transaction.state.shared.clone());
        }
        Ok(tag)
    }

    /// Two definitions met, and this one's transaction has done nothing else yet.
    fn may_define_again(&self, error: &SqlError) -> bool {
        self.transaction.statements <= 1
            // LOCK TABLE or an advisory lock may have closed the circle, and would again.
            && error.state() != SqlState::DEADLOCK_DETECTED
            && self.transaction.state.catalog.is_none()
            && self.transaction.state.temporary.is_none()
            && self.transaction.state.shared.is_none()
            && matches!(self.transaction.block, Block::Implicit | Block::Explicit)
    }

    /// Takes a definition's table locks; what it names may mean something else after a wait.
    async fn lock_for_definition(&mut self, statement: &Statement) -> Result<(), SqlError> {
        let mut held = Vec::new();
        loop {
            let scope = self.scope();
            let wanted = super::definition_locks::definition_locks(statement, &scope.catalog, &scope.plan_settings);
            if wanted.iter().all(|lock| held.contains(lock)) {
                return Ok(());
            }
            self.lock_relations(&wanted, true).await?;
            held.extend(wanted);
            self.transaction.unpin_if_new();
        }
    }

    fn set_transaction(&mut self, modes: TransactionModes, session: bool) -> Result<(), SqlError> {
        if !session {
            if self.transaction.block == Block::None {
                self.warn(SqlState::NO_ACTIVE_SQL_TRANSACTION, "SET TRANSACTION can only be used in transaction blocks");
                return Ok(());
            }
            return self.set_modes(modes);
        }
        if let Some(level) = modes.isolation {
            self.set_one("default_transaction_isolation", Some(&isolation_of(level).to_string()), false)?;
        }
        if let Some(read_only) = modes.read_only {
            self.set_one("default_transaction_read_only", Some(if read_only { "on" } else { "off" }), false)?;
        }
        Ok(())
    }

    async fn set_constraints(&mut self, names: Option<&[ObjectName]>, deferred: bool) -> Result<(), SqlError> {
        if matches!(self.transaction.block, Block::None | Block::Implicit) {
            self.warn(SqlState::NO_ACTIVE_SQL_TRANSACTION, "SET CONSTRAINTS can only be used in transaction blocks");
            return Ok(());
        }
        let scope = self.scope();
        let path = &scope.plan_settings.search_path;
        let named = names.map(|names| super::constraint_names::find_all(names, &scope.catalog, path)).transpose()?;
        let timing = &mut self.transaction.state.constraint_timing;
        match &named {
            None => timing.set_all(deferred),
            Some(oids) => oids.iter().for_each(|oid| timing.set(*oid, deferred)),
        }
        if deferred {
            return Ok(());
        }
        let mut ctx = self.context(&scope)?;
        match &named {
            None => crate::exec::run_deferred(&mut ctx).await,
            Some(oids) => crate::exec::run_deferred_of(oids, &mut ctx).await,
        }
    }

    fn set_variable(&mut self, set: &SetVariable) -> Result<(), SqlError> {
        let value = set.value.as_ref().map(|values| super::setting_values::one_value(&set.name, values)).transpose()?;
        if set.local && matches!(self.transaction.block, Block::None | Block::Implicit) {
            self.warn(SqlState::NO_ACTIVE_SQL_TRANSACTION, "SET LOCAL can only be used in transaction blocks");
            return Ok(());
        }
        self.set_one(&set.name, value.as_deref(), set.local)
    }

    fn set_one(&mut self, name: &str, value: Option<&str>, local: bool) -> Result<(), SqlError> {
        let lower = name.to_ascii_lowercase();
        if self.set_for_server(&lower, value)? {
            return Ok(());
        }
        match lower.as_str() {
            "transaction_isolation" | "transaction_read_only" => return self.set_mode_variable(&lower, value),
            "session_authorization" if value.is_none_or(|user| user == self.handle.user || user == "default") => return Ok(()),
            "session_authorization" => return Err(SqlError::unsupported("SET SESSION AUTHORIZATION")),
            _ => {}
        }
        self.remember_settings(local);
        let reset_to = match value {
            None => self.defaults.show(&lower),
            Some(_) => None,
        };
        let value = value.or(reset_to.as_deref());
        Arc::make_mut(&mut self.view.settings.lock()).set(name, value)?;
        if !local {
            self.also_set_before_local(name, value)?;
        }
        self.view.settings_changed.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// The settings of the whole server change at once and for everybody, in no transaction.
    fn set_for_server(&mut self, name: &str, value: Option<&str>) -> Result<bool, SqlError> {
        if name == "sql.point_gets" {
            let on = settings::parse_bool(value.unwrap_or("on"))
                .ok_or_else(|| SqlError::new(SqlState::INVALID_PARAMETER_VALUE, "parameter \"sql.point_gets\" requires a Boolean value"))?;
            self.cluster.point_gets.store(on, Ordering::Relaxed);
            return Ok(true);
        }
        if self.cluster.hooks.server_setting(name).is_none() {
            return Ok(false);
        }
        let value = value.unwrap_or("default");
        let set = self.cluster.hooks.set_server_setting(name, value);
        set.map_err(|error| SqlError::new(SqlState::INVALID_PARAMETER_VALUE, error))?;
        Ok(true)
    }

    fn set_mode_variable(&mut self, name: &str, value: Option<&str>) -> Result<(), SqlError> {
        let value = value.unwrap_or_default();
        if matches!(self.transaction.block, Block::None) {
            return Ok(());
        }
        let mut modes = TransactionModes::default();
        if name == "transaction_isolation" {
            use crate::ast::IsolationLevel as Level;
            modes.isolation = Some(match settings::isolation(value)? {
                tidelock_kvapi::Isolation::ReadCommitted => Level::ReadCommitted,
                tidelock_kvapi::Isolation::RepeatableRead => Level::RepeatableRead,
                tidelock_kvapi::Isolation::Serializable => Level::Serializable,
            });
        } else {
            modes.read_only = settings::parse_bool(value);
        }
        self.set_modes(modes)
    }

    fn reset(&mut self, name: Option<&str>) -> Result<(), SqlError> {
        match name {
            Some(name) => self.set_one(name, None, false),
            None => {
                self.remember_settings(false);
                let defaults = self.defaults.clone();
                Arc::make_mut(&mut self.view.settings.lock()).reset_all(&defaults);
                self.view.settings_changed.store(true, Ordering::Relaxed);
                Ok(())
            }
        }
    }

    fn show(&mut self, name: Option<&str>, client: &mut dyn Client) -> Result<(), SqlError> {
        let Some(name) = name else { return self.show_all(client) };
        let value = self.view.show(name).ok_or_else(|| SessionView::undefined_setting(name))?;
        let name = settings::find(name).map_or(name, |setting| setting.name);
        self.rows(&[(name, DataType::TEXT)], [vec![text(&value)]], client)
    }

    fn show_all(&mut self, client: &mut dyn Client) -> Result<(), SqlError> {
        let own = SETTINGS.iter().map(|setting| (setting.name, setting.description));
        let server = self.cluster.hooks.server_settings();
        let mut all: Vec<(&str, &str)> = own.chain(server).chain([POINT_GETS]).collect();
        all.sort_by_key(|(name, _)| name.to_ascii_lowercase());
        let rows: Vec<Vec<Datum>> = all
            .into_iter()
            .map(|(name, description)| vec![text(name), text(&self.view.show(name).unwrap_or_default()), text(description)])
            .collect();
        let columns = [("name", DataType::TEXT), ("setting", DataType::TEXT), ("description", DataType::TEXT)];
        self.rows(&columns, rows, client)
    }

    async fn show_ranges(&mut self, name: &ObjectName, client: &mut dyn Client) -> Result<(), SqlError> {
        self.open_transaction()?;
        let scope = self.scope();
        let path = &scope.plan_settings.search_path;
        let relation = scope.catalog.resolve(name.schema.as_deref(), &name.name, path).ok_or_else(|| undefined_table(&name.name))?;
        let table = Arc::clone(relation.descriptor());
        let mut rows = Vec::new();
        for index in table.all_indexes() {
            let Ok(id) = u32::try_from(index.index_id) else { continue };
            let ranges = self.cluster.db.ranges(Span::index(tidelock_base::IndexId(id))).await;
            for range in ranges.map_err(|error| kv_error(error, &scope.catalog))? {
                let start = range.span.start.to_string();
                let end = range.span.end.to_string();
                let generation = i64::try_from(range.generation).unwrap_or(i64::MAX);
                rows.push(vec![text(&index.name), Datum::Int8(range.id.0 as i64), text(&start), text(&end), Datum::Int8(generation)]);
            }
        }
        let columns = [
            ("index_name", DataType::TEXT),
            ("range_id", DataType::INT8),
            ("start_key", DataType::TEXT),
            ("end_key", DataType::TEXT),
            ("generation", DataType::INT8),
        ];
        self.rows(&columns, rows, client)
    }

    fn prepare_statement(&mut self, prepare: &Prepare, text: &str) -> Result<(), SqlError> {
        let scope = self.scope();
        let path = &scope.plan_settings.search_path;
        let declared = prepare.types.iter().map(|ty| crate::bind::type_in(ty, &scope.catalog, path).map(|ty| ty.ty));
        let declared: Vec<DataType> = declared.collect::<Result<_, _>>()?;
        if !super::extended::can_be_prepared(&prepare.statement) {
            return Err(SqlError::unsupported(format_args!("PREPARE of {}", prepare.statement.tag())));
        }
        // The text of the statement alone is the plan cache's key: what stands behind AS.
        let body = after_as(text).unwrap_or(text);
        let prepared = self.prepare(body, declared, true)?;
        self.keep_prepared(&prepare.name, prepared)
    }

    async fn execute_statement(&mut self, execute: &Execute, client: &mut dyn Client) -> Result<String, SqlError> {
        self.open_transaction()?;
        let prepared = self.prepared_statement(&execute.name)?;
        let cached = self.revalidate(&prepared)?;
        let Some((cached, plan)) = cached.and_then(|cached| cached.plan.clone().map(|plan| (cached, plan))) else {
            client.empty_query();
            return Ok("EXECUTE".to_string());
        };
        if execute.args.len() != plan.param_types.len() {
            let message = format!("wrong number of parameters for prepared statement \"{}\"", execute.name);
            let detail = format!("Expected {} parameters but got {}.", plan.param_types.len(), execute.args.len());
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).detail(detail));
        }
        let params = self.execute_arguments(execute, &plan.param_types)?;
        self.check_allowed(&cached.parsed.statement, Some(&plan))?;
        let cached = self.lock_promised_plan(cached).await?;
        let plan = cached.plan.clone().unwrap_or(plan);
        if plan.returns_rows {
            client.row_description(&plan.output, &[]);
        }
        self.run_plan(&plan, params, &[], client).await
    }

    fn execute_arguments(&mut self, execute: &Execute, wanted: &[DataType]) -> Result<Vec<Datum>, SqlError> {
        let scope = self.scope();
        let ctx = self.context(&scope)?;
        let evaluate = |(arg, ty): (&crate::ast::Expr, &DataType)| {
            let target = ColumnType { ty: *ty, typmod: -1 };
            let bound = crate::bind::bind_scalar(arg, target, CastContext::Assignment, &scope.catalog, &scope.plan_settings)?;
            crate::expr::eval(&bound, &[], &ctx.eval())
        };
        execute.args.iter().zip(wanted).map(evaluate).collect()
    }

    fn deallocate(&mut self, name: Option<&str>) -> Result<String, SqlError> {
        let Some(name) = name else {
            self.view.prepared.lock().clear();
            return Ok("DEALLOCATE ALL".to_string());
        };
        if self.view.prepared.lock().remove(name).is_none() {
            let message = format!("prepared statement \"{name}\" does not exist");
            return Err(SqlError::new(SqlState::INVALID_SQL_STATEMENT_NAME, message));
        }
        Ok("DEALLOCATE".to_string())
    }

    async fn discard(&mut self, target: DiscardTarget) -> Result<(), SqlError> {
        match target {
            DiscardTarget::All => {
                if self.transaction.block == Block::Explicit {
                    return Err(SqlError::new(SqlState::ACTIVE_SQL_TRANSACTION, "DISCARD ALL cannot run inside a transaction block"));
                }
                self.discard_temporary().await?;
                self.reset(None)?;
                self.view.prepared.lock().clear();
                self.cursors.clear();
                self.publish_cursors();
                self.view.sequences.clear();
                self.stop_listening();
                self.locks.release_session();
            }
            DiscardTarget::Sequences => self.view.sequences.clear(),
            DiscardTarget::Plans => self.cluster.plans.clear(),
            DiscardTarget::Temporary => self.discard_temporary().await?,
        }
        Ok(())
    }

    async fn explain(&mut self, explain: &Explain, client: &mut dyn Client) -> Result<(), SqlError> {
        self.open_transaction()?;
        let statement = match &explain.statement {
            Statement::Execute(execute) => {
                let prepared = self.prepared_statement(&execute.name)?;
                let first = prepared.first.as_ref().ok_or_else(|| SqlError::unsupported("EXPLAIN of an empty statement"))?;
                first.parsed.statement.clone()
            }
            other => other.clone(),
        };
        if !super::statement::is_planned(&statement) {
            return Err(SqlError::unsupported(format_args!("EXPLAIN of {}", statement.tag())));
        }
        let plan = self.plan_and_lock(&statement).await?;
        let scope = self.scope();
        self.step(&scope.settings);
        let mut footer = Vec::new();
        if explain.analyze {
            footer = self.analyze_plan(&plan, &statement).await?;
        }
        let options = ExplainOptions { costs: explain.costs };
        let note = |_: &crate::plan::Plan| None;
        let lines = match explain.format {
            ExplainFormat::Text => explain_text(&plan, options, &note).into_iter().chain(footer).collect(),
            ExplainFormat::Json => {
                let json = serde_json::to_string_pretty(&explain_json(&plan, options, &note)).unwrap_or_default();
                vec![json]
            }
        };
        self.rows(&[("QUERY PLAN", DataType::TEXT)], lines.iter().map(|line| vec![text(line)]), client)
    }

    /// EXPLAIN ANALYZE runs the statement and throws its rows away.
    async fn analyze_plan(&mut self, plan: &Arc<crate::plan::StatementPlan>, statement: &Statement) -> Result<Vec<String>, SqlError> {
        if !plan.param_types.is_empty() {
            return Err(SqlError::new(SqlState::UNDEFINED_PARAMETER, "there is no parameter $1"));
        }
        self.check_allowed(statement, Some(plan))?;
        let started = std::time::Instant::now();
        let scope = self.scope();
        let mut rows = 0u64;
        let mut ctx = self.context(&scope)?;
        let mut sink = |_: &[Datum]| {
            rows += 1;
            Ok(crate::exec::Flow::Continue)
        };
        let affected = crate::exec::execute(plan, Vec::new(), &mut ctx, &mut sink).await?;
        let millis = started.elapsed().as_secs_f64() * 1000.0;
        Ok(vec![format!("Rows: {}", affected.rows.max(rows)), format!("Execution Time: {millis:.3} ms")])
    }

    /// A small result that is at hand.
    pub(super) fn rows(
        &mut self,
        columns: &[(&str, DataType)],
        rows: impl IntoIterator<Item = Vec<Datum>>,
        client: &mut dyn Client,
    ) -> Result<(), SqlError> {
        let columns: Vec<OutputColumn> = columns.iter().map(|(name, ty)| column(name, *ty)).collect();
        let settings = self.settings();
        client.row_description(&columns, &[Format::Text]);
        client.begin_rows(&columns, &[Format::Text], &settings.formats, self.view.clone());
        rows.into_iter().try_for_each(|row| client.row(&row))
    }
}

/// The columns of a utility statement that returns rows, for Describe.
pub(super) fn columns(statement: &Statement) -> Option<Vec<OutputColumn>> {
    match statement {
        Statement::Show(Some(name)) => Some(vec![column(settings::find(name).map_or(name, |setting| setting.name), DataType::TEXT)]),
        Statement::Show(None) => Some(["name", "setting", "description"].iter().map(|name| column(name, DataType::TEXT)).collect()),
        Statement::Explain(_) => Some(vec![column("QUERY PLAN", DataType::TEXT)]),
        _ => None,
    }
}

fn column(name: &str, ty: DataType) -> OutputColumn {
    OutputColumn { name: name.to_string(), ty: ColumnType { ty, typmod: -1 }, table: 0, attnum: 0 }
}

fn text(value: &str) -> Datum {
    Datum::Text(value.into())
}

/// `PREPARE p (int) AS SELECT ...`: what stands behind the first AS outside of quotes.
fn after_as(text: &str) -> Option<&str> {
    let lower = text.to_ascii_lowercase();
    let mut from = 0;
    while let Some(at) = lower[from..].find("as") {
        let start = from + at;
        let end = start + 2;
        let bounded = |c: Option<char>| c.is_none_or(|c| !(c.is_alphanumeric() || c == '_' || c == '"'));
        if bounded(lower[..start].chars().next_back()) && bounded(lower[end..].chars().next()) {
            return Some(text[end..].trim());
        }
        from = end;
    }
    None
}
