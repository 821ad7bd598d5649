//! The extended protocol: prepared statements and portals.
//!
//! The messages between two Syncs share one implicit transaction. When it consists of a single Execute whose output has not
//! been sent yet, and its commit at Sync fails because of others, it is run again ([`Replay`]).

use super::client::{Client, FLUSH_BYTES, Format, Mark};
use super::plan_cache::CachedStatement;
use super::simple::back_off;
use super::statement::{client_gone, is_planned, with_timeout};
use super::{Block, Session};
use crate::ast::Statement;
use crate::error::{SqlError, SqlState};
use crate::exec::{Affected, Execution, Flow, Progress};
use crate::parse;
use crate::plan::{OutputColumn, StatementPlan};
use crate::types::{self, ColumnType, DataType, Datum};
use bytes::Bytes;
use std::io;
use std::sync::Arc;

/// Prepared statements of one session.
const MAX_PREPARED: usize = 100_000;

/// Open portals of one session.
const MAX_PORTALS: usize = 10_000;

/// A prepared statement.
pub(super) struct Prepared {
    pub(super) text: Arc<str>,
    /// The types the client declared; 0 became UNKNOWN.
    pub(super) declared: Vec<DataType>,
    /// As it was when it was prepared: its parameter types and columns are a promise.
    pub(super) first: Option<Arc<CachedStatement>>,
    /// Made by PREPARE rather than by Parse.
    pub(super) from_sql: bool,
    pub(super) prepared_at: i64,
}

impl Prepared {
    /// The types of its parameters, as inferred.
    pub(super) fn parameter_types(&self) -> Vec<u32> {
        let plan = self.first.as_ref().and_then(|first| first.plan.as_ref());
        plan.map_or(&self.declared, |plan| &plan.param_types).iter().map(|ty| ty.0).collect()
    }
}

/// What a portal gives: its columns, and the formats that Bind asked for.
type PortalColumns = (Vec<OutputColumn>, Vec<Format>);

/// A bound statement, perhaps under way.
pub(super) struct Portal {
    pub(super) prepared: Arc<Prepared>,
    cached: Option<Arc<CachedStatement>>,
    params: Vec<Datum>,
    formats: Vec<Format>,
    execution: Option<Execution>,
    /// The command tag, once it has run to its end.
    finished: Option<String>,
    /// Made in the implicit or explicit transaction that is open.
    in_transaction: bool,
}

/// What a statement promises.
#[derive(Clone, Debug)]
pub struct StatementDescription {
    /// Types of its parameters.
    pub params: Vec<DataType>,
    /// Its columns; `None` when it returns no rows.
    pub columns: Option<Vec<OutputColumn>>,
}

/// How far an Execute got.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Executed {
    /// To the end; CommandComplete (or EmptyQueryResponse) was written.
    Complete,
    /// `max_rows` were sent: PortalSuspended is due.
    Suspended,
}

/// The only Execute of an implicit transaction.
pub(super) struct Replay {
    cached: Arc<CachedStatement>,
    params: Vec<Datum>,
    formats: Vec<Format>,
    before: Mark,
    after: Mark,
}

impl Session {
    /// Parse.
    pub async fn parse(&mut self, name: &str, sql: &str, types: &[u32]) -> Result<(), SqlError> {
        let declared: Vec<DataType> = types.iter().map(|oid| if *oid == 0 { DataType::UNKNOWN } else { DataType(*oid) }).collect();
        let prepared = self.prepare(sql, declared, false)?;
        if name.is_empty() {
            self.view.prepared.lock().insert(String::new(), Arc::new(prepared));
            return Ok(());
        }
        self.keep_prepared(name, prepared)
    }

    pub(super) fn keep_prepared(&mut self, name: &str, prepared: Prepared) -> Result<(), SqlError> {
        let mut known = self.view.prepared.lock();
        if known.contains_key(name) {
            let message = format!("prepared statement \"{name}\" already exists");
            return Err(SqlError::new(SqlState::DUPLICATE_PREPARED_STATEMENT, message));
        }
        if known.len() >= MAX_PREPARED {
            let message = format!("more than {MAX_PREPARED} prepared statements in one session");
            return Err(SqlError::new(SqlState::CONFIGURATION_LIMIT_EXCEEDED, message));
        }
        known.insert(name.to_string(), Arc::new(prepared));
        Ok(())
    }

    /// Parses and, where there is something to plan, plans.
    pub(super) fn prepare(&mut self, sql: &str, declared: Vec<DataType>, from_sql: bool) -> Result<Prepared, SqlError> {
        let text: Arc<str> = Arc::from(sql);
        let prepared_at = crate::expr::clock_time();
        // The cache is asked first: most Parse messages repeat what was parsed before.
        let cached = self.prepare_cached(sql, &declared, || {
            let mut statements = parse::parse(sql)?;
            match (statements.pop(), statements.is_empty()) {
                (Some(statement), true) => Ok(statement),
                (Some(_), false) => Err(SqlError::new(SqlState::SYNTAX_ERROR, "cannot insert multiple commands into a prepared statement")),
                (None, _) => Err(empty_statement()),
            }
        });
        let first = match cached {
            Ok(cached) => Some(cached),
            Err(error) if error.state() == EMPTY => None,
            Err(error) => return Err(error),
        };
        if self.transaction.block == Block::Failed
            && !first.as_ref().is_some_and(|first| {
                matches!(first.parsed.statement, Statement::Commit { .. } | Statement::Rollback { .. } | Statement::RollbackToSavepoint(_))
            })
        {
            return Err(super::transaction::failed_block());
        }
        Ok(Prepared { text, declared, first, from_sql, prepared_at })
    }

    fn statement(&self, name: &str) -> Result<Arc<Prepared>, SqlError> {
        self.view.prepared.lock().get(name).cloned().ok_or_else(|| {
            let message = if name.is_empty() {
                "unnamed prepared statement does not exist".to_string()
            } else {
                format!("prepared statement \"{name}\" does not exist")
            };
            SqlError::new(SqlState::INVALID_SQL_STATEMENT_NAME, message)
        })
    }

    /// Looks a prepared statement up for EXECUTE.
    pub(super) fn prepared_statement(&self, name: &str) -> Result<Arc<Prepared>, SqlError> {
        self.statement(name)
    }

    /// The plan as of now: planned anew when the catalog or a setting changed. Its columns must be as promised.
    pub(super) fn revalidate(&mut self, prepared: &Prepared) -> Result<Option<Arc<CachedStatement>>, SqlError> {
        let Some(first) = &prepared.first else { return Ok(None) };
        if first.plan.is_none() {
            return Ok(Some(Arc::clone(first)));
        }
        let (catalog, _) = self.current_catalog();
        let settings = self.settings();
        if first.catalog_version == catalog.version() && first.fingerprint == self.plan_fingerprint(&settings) {
            return Ok(Some(Arc::clone(first)));
        }
        let cached = self.prepare_cached(&prepared.text, &prepared.declared, || Ok(first.parsed.clone()))?;
        if let (Some(old), Some(new)) = (&first.plan, &cached.plan)
            && !same_columns(&old.output, &new.output)
        {
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "cached plan must not change result type"));
        }
        Ok(Some(cached))
    }

    /// Describe of a statement.
    pub async fn describe_statement(&mut self, name: &str) -> Result<StatementDescription, SqlError> {
        let prepared = self.statement(name)?;
        let Some(cached) = self.revalidate(&prepared)? else {
            return Ok(StatementDescription { params: Vec::new(), columns: None });
        };
        match &cached.plan {
            Some(plan) => {
                Ok(StatementDescription { params: plan.param_types.clone(), columns: plan.returns_rows.then(|| plan.output.clone()) })
            }
            None => {
                Ok(StatementDescription { params: prepared.declared.clone(), columns: self.utility_columns(&cached.parsed.statement)? })
            }
        }
    }

    /// Bind.
    pub async fn bind(
        &mut self,
        portal: &str,
        statement: &str,
        param_formats: &[Format],
        params: &[Option<Bytes>],
        result_formats: Vec<Format>,
    ) -> Result<(), SqlError> {
        let prepared = self.statement(statement)?;
        let may_end_block = prepared.first.as_ref().is_some_and(|first| first.plan.is_none());
        if self.transaction.block == Block::Failed && !may_end_block {
            return Err(super::transaction::failed_block());
        }
        if !portal.is_empty() && self.portals.contains_key(portal) {
            let message = format!("cursor \"{portal}\" already exists");
            return Err(SqlError::new(SqlState::DUPLICATE_CURSOR, message));
        }
        if self.portals.len() >= MAX_PORTALS {
            let message = format!("more than {MAX_PORTALS} open portals in one session");
            return Err(SqlError::new(SqlState::CONFIGURATION_LIMIT_EXCEEDED, message));
        }
        let cached = self.revalidate(&prepared)?;
        let wanted: &[DataType] = cached.as_ref().and_then(|cached| cached.plan.as_ref()).map_or(&[], |plan| &plan.param_types);
        if params.len() != wanted.len() {
            let message = format!(
                "bind message supplies {} parameters, but prepared statement \"{statement}\" requires {}",
                params.len(),
                wanted.len()
            );
            return Err(SqlError::new(SqlState::PROTOCOL_VIOLATION, message));
        }
        let values = self.decode_params(param_formats, params, wanted)?;
        let in_transaction = true;
        let bound = Portal { prepared, cached, params: values, formats: result_formats, execution: None, finished: None, in_transaction };
        self.portals.insert(portal.to_string(), bound);
        Ok(())
    }

    fn decode_params(&self, formats: &[Format], params: &[Option<Bytes>], wanted: &[DataType]) -> Result<Vec<Datum>, SqlError> {
        let settings = self.settings();
        let ctx = types::TextContext { settings: &settings.formats, now: crate::expr::clock_time(), session: &*self.view };
        let format_of = |at: usize| match formats {
            [] => Ok(Format::Text),
            [all] => Ok(*all),
            each => each.get(at).copied().ok_or_else(|| {
                SqlError::new(
                    SqlState::PROTOCOL_VIOLATION,
                    format!("bind message has {} parameter formats but {} parameters", each.len(), params.len()),
                )
            }),
        };
        let decode = |(at, (value, ty)): (usize, (&Option<Bytes>, &DataType))| {
            let Some(bytes) = value else { return Ok(Datum::Null) };
            match format_of(at)? {
                Format::Binary => types::binary::decode(bytes, *ty),
                Format::Text => {
                    let text = std::str::from_utf8(bytes).map_err(|_| bad_utf8(bytes))?;
                    types::text::parse(text, ColumnType { ty: *ty, typmod: -1 }, &ctx)
                }
            }
        };
        params.iter().zip(wanted).enumerate().map(decode).collect()
    }

    /// Describe of a portal.
    pub fn describe_portal(&mut self, name: &str) -> Result<Option<PortalColumns>, SqlError> {
        let Some(portal) = self.portals.get(name) else {
            // A cursor of DECLARE is a portal, too.
            let cursor = self.cursors.get(name).ok_or_else(|| no_portal(name))?;
            return Ok(Some((cursor.columns(), vec![cursor.format()])));
        };
        let Some(cached) = portal.cached.clone() else { return Ok(None) };
        let formats = portal.formats.clone();
        let columns = match &cached.plan {
            Some(plan) => plan.returns_rows.then(|| plan.output.clone()),
            None => self.utility_columns(&cached.parsed.statement)?,
        };
        Ok(columns.map(|columns| (columns, formats)))
    }

    /// Columns of a portal's rows: what a Bind's result formats are counted against.
    pub fn portal_columns(&mut self, name: &str) -> Result<usize, SqlError> {
        let portal = self.portals.get(name).ok_or_else(|| no_portal(name))?;
        let Some(cached) = portal.cached.clone() else { return Ok(0) };
        match &cached.plan {
            Some(plan) => Ok(if plan.returns_rows { plan.output.len() } else { 0 }),
            None => Ok(self.utility_columns(&cached.parsed.statement)?.map_or(0, |columns| columns.len())),
        }
    }

    /// Execute.
    pub async fn execute(&mut self, name: &str, max_rows: u32, client: &mut dyn Client) -> Result<Executed, SqlError> {
        let mut portal = self.portals.remove(name).ok_or_else(|| no_portal(name))?;
        self.handle.cancel.reset();
        self.set_activity("active", Some(&portal.prepared.text));
        let result = self.execute_portal(&mut portal, max_rows, client).await;
        self.report(client);
        self.portals.insert(name.to_string(), portal);
        result
    }

    async fn execute_portal(&mut self, portal: &mut Portal, max_rows: u32, client: &mut dyn Client) -> Result<Executed, SqlError> {
        let Some(cached) = portal.cached.clone() else {
            client.empty_query();
            return Ok(Executed::Complete);
        };
        if let Some(tag) = &portal.finished {
            // A portal that is through gives no rows, and says so.
            client.command_complete(&exhausted_tag(tag));
            return Ok(Executed::Complete);
        }
        let Some(plan) = cached.plan.clone() else {
            self.replay = None;
            self.run_utility(&cached.parsed, &portal.prepared.text, client).await?;
            portal.finished = Some(cached.parsed.statement.tag().to_string());
            return Ok(Executed::Complete);
        };
        self.open_transaction()?;
        self.check_allowed(&cached.parsed.statement, Some(&plan))?;
        let (cached, plan) = match portal.execution.is_none() {
            true => {
                let cached = self.lock_promised_plan(cached).await?;
                let plan = cached.plan.clone().unwrap_or(plan);
                (cached, plan)
            }
            false => (cached, plan),
        };
        // Only what returns rows can be suspended; a driver that limits an UPDATE to one row still means all of it.
        let limit = (max_rows > 0 && plan.returns_rows).then_some(u64::from(max_rows));
        if portal.execution.is_none() && limit.is_none() {
            let tag = self.execute_whole(cached, &portal.params, &portal.formats, client).await?;
            client.command_complete(&tag);
            portal.finished = Some(tag);
            if let Some(replay) = &mut self.replay {
                replay.after = client.mark();
            }
            return Ok(Executed::Complete);
        }
        self.replay = None;
        match self.execute_part(&plan, portal, limit, client).await? {
            Progress::Suspended => Ok(Executed::Suspended),
            Progress::Done(affected) => {
                let tag = affected.command_tag();
                client.command_complete(&tag);
                portal.finished = Some(tag);
                portal.execution = None;
                Ok(Executed::Complete)
            }
        }
    }

    /// Runs to the end, again if need be, while this is the transaction's first statement.
    async fn execute_whole(
        &mut self,
        mut cached: Arc<CachedStatement>,
        params: &[Datum],
        formats: &[Format],
        client: &mut dyn Client,
    ) -> Result<String, SqlError> {
        for attempt in 0.. {
            let Some(plan) = cached.plan.clone() else { break };
            let before = client.mark();
            let first = self.transaction.statements == 0 && self.transaction.block == Block::Implicit;
            let result = self.run_plan(&plan, params.to_vec(), formats, client).await;
            match result {
                Ok(tag) => {
                    self.replay = first.then(|| Replay {
                        cached: Arc::clone(&cached),
                        params: params.to_vec(),
                        formats: formats.to_vec(),
                        before,
                        after: before,
                    });
                    return Ok(tag);
                }
                Err(error) if self.may_retry(&error, attempt) && client.rewind(before) => {
                    self.restart_transaction().await;
                    self.transaction.statements = 0;
                    back_off(attempt).await;
                    cached = self.lock_promised_plan(cached).await?;
                }
                Err(error) => return Err(error),
            }
        }
        Err(SqlError::new(SqlState::SERIALIZATION_FAILURE, "could not serialize access"))
    }

    /// Runs on, up to `limit` rows.
    async fn execute_part(
        &mut self,
        plan: &Arc<StatementPlan>,
        portal: &mut Portal,
        limit: Option<u64>,
        client: &mut dyn Client,
    ) -> Result<Progress, SqlError> {
        let scope = self.scope();
        if portal.execution.is_none() {
            self.step(&scope.settings);
        }
        let mut execution =
            portal.execution.take().unwrap_or_else(|| Execution::open(Arc::clone(plan), std::mem::take(&mut portal.params)));
        client.begin_rows(&plan.output, &portal.formats, &scope.settings.formats, self.view.clone());
        let handle = Arc::clone(&self.handle);
        let mut left = limit;
        let progress = loop {
            let mut given = 0u64;
            let progress = {
                let mut ctx = self.context(&scope)?;
                let mut sink = |row: &[Datum]| {
                    client.row(row)?;
                    given += 1;
                    Ok(if client.buffered() >= FLUSH_BYTES { Flow::Suspend } else { Flow::Continue })
                };
                with_timeout(scope.settings.statement_timeout, &handle, execution.run(&mut ctx, &mut sink, left)).await?
            };
            left = left.map(|left| left.saturating_sub(given));
            match progress {
                Progress::Suspended if left != Some(0) => client.flush().await.map_err(client_gone)?,
                end => break end,
            }
        };
        if progress == Progress::Suspended {
            portal.execution = Some(execution);
            return Ok(progress);
        }
        // The tag counts the rows of this Execute.
        let Progress::Done(affected) = progress else { return Ok(progress) };
        let rows = match limit {
            Some(limit) if plan.kind == crate::plan::StatementKind::Select => limit - left.unwrap_or(0),
            _ => affected.rows,
        };
        Ok(Progress::Done(Affected { rows, ..affected }))
    }

    /// Close of a statement.
    pub fn close_statement(&mut self, name: &str) {
        self.view.prepared.lock().remove(name);
    }

    /// Close of a portal.
    pub fn close_portal(&mut self, name: &str) {
        self.portals.remove(name);
    }

    /// A message failed: what the transaction did is undone, and messages are skipped up to Sync.
    pub async fn failed(&mut self) {
        self.replay = None;
        self.statement_failed().await;
    }

    /// Sync: the implicit transaction ends.
    pub async fn sync(&mut self, client: &mut dyn Client) -> io::Result<()> {
        if self.transaction.block == Block::Implicit
            && let Err(error) = self.commit_or_replay(client).await
        {
            self.report(client);
            client.error(&error);
            self.rollback().await;
        }
        self.replay = None;
        self.report(client);
        self.set_idle();
        Ok(())
    }

    async fn commit_or_replay(&mut self, client: &mut dyn Client) -> Result<(), SqlError> {
        let replay = self.replay.take();
        for attempt in 0.. {
            let Err(error) = self.commit_keeping_block().await else { return Ok(()) };
            let Some(replay) = &replay else { return Err(error) };
            let untouched = attempt > 0 || client.mark() == replay.after;
            if !untouched || !self.may_retry(&error, attempt) || !client.rewind(replay.before) {
                return Err(error);
            }
            back_off(attempt).await;
            self.transaction.statements = 0;
            let cached = self.lock_promised_plan(Arc::clone(&replay.cached)).await?;
            let Some(plan) = cached.plan.clone() else { return Err(error) };
            let tag = self.run_plan(&plan, replay.params.clone(), &replay.formats, client).await?;
            client.command_complete(&tag);
        }
        Ok(())
    }

    /// Portals live as long as their transaction.
    pub(super) fn close_transaction_portals(&mut self, committed: bool) {
        self.portals.retain(|_, portal| !portal.in_transaction);
        self.cursors.retain(|_, cursor| cursor.survives(committed));
        self.publish_cursors();
    }

    /// Columns of a utility statement that returns rows.
    fn utility_columns(&mut self, statement: &Statement) -> Result<Option<Vec<OutputColumn>>, SqlError> {
        match statement {
            Statement::Execute(execute) => {
                let prepared = self.statement(&execute.name)?;
                let cached = self.revalidate(&prepared)?;
                let plan = cached.and_then(|cached| cached.plan.clone());
                Ok(plan.filter(|plan| plan.returns_rows).map(|plan| plan.output.clone()))
            }
            Statement::Fetch(fetch) if !fetch.is_move => Ok(self.cursors.get(&fetch.cursor).map(Cursor::columns)),
            other => Ok(super::utility::columns(other)),
        }
    }
}

use super::cursor::Cursor;

const EMPTY: SqlState = SqlState("empty");

fn empty_statement() -> SqlError {
    SqlError::new(EMPTY, "no statement")
}

/// A SELECT that is executed again after its end gives no rows.
fn exhausted_tag(tag: &str) -> String {
    let word = tag.split(' ').next().unwrap_or(tag);
    if word == "SELECT" { "SELECT 0".to_string() } else { tag.to_string() }
}

fn no_portal(name: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_CURSOR_NAME, format!("portal \"{name}\" does not exist"))
}

fn same_columns(old: &[OutputColumn], new: &[OutputColumn]) -> bool {
    old.len() == new.len() && old.iter().zip(new).all(|(a, b)| a.ty == b.ty && a.name == b.name)
}

/// 22021, as PostgreSQL says it.
fn bad_utf8(bytes: &[u8]) -> SqlError {
    let bad = std::str::from_utf8(bytes).err().map_or(0, |error| error.valid_up_to());
    let shown: Vec<String> = bytes[bad..].iter().take(3).map(|byte| format!("0x{byte:02x}")).collect();
    SqlError::new(SqlState::CHARACTER_NOT_IN_REPERTOIRE, format!("invalid byte sequence for encoding \"UTF8\": {}", shown.join(" ")))
}

/// Does the statement need a plan? (Kept here for PREPARE.)
pub(super) fn can_be_prepared(statement: &Statement) -> bool {
    is_planned(statement)
}
