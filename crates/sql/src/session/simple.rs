//! The simple protocol: a string of statements, one implicit transaction around them, results as they come.
//!
//! A single SELECT, INSERT, UPDATE or DELETE takes the short way: its literals are lifted out of the text, and what is left
//! is the key of the plan cache; neither parser nor planner is called when it was seen before.

use super::client::Client;
use super::plan_cache::CachedStatement;
use super::statement::is_planned;
use super::{Block, Session};
use crate::ast::{ParsedStatement, Statement};
use crate::error::SqlError;
use crate::parse::{self, LiftedLiteral, Normalised};
use crate::plan::StatementPlan;
use crate::types::{self, ColumnType, DataType, Datum};
use std::io;
use std::sync::Arc;

impl Session {
    /// A Query message: everything up to, not including, ReadyForQuery.
    pub async fn simple_query(&mut self, sql: &str, client: &mut dyn Client) -> io::Result<()> {
        self.portals.remove("");
        self.handle.cancel.reset();
        self.set_activity("active", Some(&Arc::from(sql)));
        let outcome = self.query_string(sql, client).await;
        if let Err(error) = outcome {
            self.report(client);
            client.error(&error);
            self.statement_failed().await;
        }
        self.report(client);
        self.set_idle();
        Ok(())
    }

    async fn query_string(&mut self, sql: &str, client: &mut dyn Client) -> Result<(), SqlError> {
        if let Some(normalised) = parse::normalise(sql)
            && let Some((cached, params)) = self.lift(&normalised).await?
        {
            return self.run_with_retries(cached, params, client).await;
        }
        let statements = parse::parse(sql)?;
        if statements.is_empty() {
            client.empty_query();
            return Ok(());
        }
        if let [single] = &statements[..] {
            return self.run_alone(single, sql, client).await;
        }
        self.in_string = true;
        let result = self.run_string(&statements, sql, client).await;
        self.in_string = false;
        result
    }

    /// The plan, locked, and parameters of a text whose literals were lifted; `None` when it must be taken as it is.
    async fn lift(&mut self, normalised: &Normalised) -> Result<Option<(Arc<CachedStatement>, Vec<Datum>)>, SqlError> {
        let Some(cached) = self.prepare_lifted(normalised) else { return Ok(None) };
        self.open_transaction()?;
        if let Some(plan) = &cached.plan {
            self.check_allowed(&cached.parsed.statement, Some(plan))?;
        }
        let cached = self.lock_plan(cached).await?;
        let Some(plan) = &cached.plan else { return Ok(None) };
        let settings = self.settings();
        let ctx = types::TextContext { settings: &settings.formats, now: crate::expr::clock_time(), session: &*self.view };
        let params = normalised.literals.iter().zip(&plan.param_types);
        let params: Result<Vec<Datum>, SqlError> = params.map(|(literal, ty)| literal_value(literal, *ty, &ctx)).collect();
        Ok(params.ok().map(|params| (cached, params)))
    }

    fn prepare_lifted(&mut self, normalised: &Normalised) -> Option<Arc<CachedStatement>> {
        if self.transaction.block == Block::Failed {
            return None;
        }
        let declared: Vec<DataType> = normalised.literals.iter().map(literal_type).collect();
        let parse = || {
            let mut statements = parse::parse(&normalised.text)?;
            match (statements.pop(), statements.is_empty()) {
                (Some(statement), true) if is_planned(&statement.statement) => Ok(statement),
                _ => Err(SqlError::unsupported("more than one statement here")),
            }
        };
        // An error may be the lifting's fault, and its position would be wrong: the text is then taken as it is.
        let cached = self.prepare_cached(&normalised.text, &declared, parse).ok()?;
        cached.plan.as_ref().is_some_and(|plan| !plan.literals_matter).then_some(cached)
    }

    /// Runs a plan that is locked; outside of a block the transaction ends with it, and what fails because of others is run again.
    async fn run_with_retries(
        &mut self,
        mut cached: Arc<CachedStatement>,
        params: Vec<Datum>,
        client: &mut dyn Client,
    ) -> Result<(), SqlError> {
        for attempt in 0.. {
            let Some(plan) = cached.plan.clone() else { return Ok(()) };
            let mark = client.mark();
            let result = self.run_once(&plan, params.clone(), client).await;
            let Err(error) = result else { return Ok(()) };
            if !self.may_retry(&error, attempt) || !client.rewind(mark) {
                return Err(error);
            }
            self.restart_transaction().await;
            self.transaction.statements = 0;
            back_off(attempt).await;
            cached = self.lock_promised_plan(cached).await?;
        }
        Ok(())
    }

    async fn run_once(&mut self, plan: &Arc<StatementPlan>, params: Vec<Datum>, client: &mut dyn Client) -> Result<(), SqlError> {
        if plan.returns_rows {
            client.row_description(&plan.output, &[]);
        }
        let tag = self.run_plan(plan, params, &[], client).await?;
        if self.transaction.block == Block::Implicit {
            self.commit_keeping_block().await?;
        }
        self.report(client);
        client.command_complete(&tag);
        Ok(())
    }

    /// Commits an implicit transaction; when that fails the block stays implicit, so that a retry can go on.
    pub(super) async fn commit_keeping_block(&mut self) -> Result<(), SqlError> {
        let statements = self.transaction.statements;
        match self.commit().await {
            Ok(()) => Ok(()),
            Err(error) => {
                self.open_transaction()?;
                self.transaction.statements = statements;
                Err(error)
            }
        }
    }

    /// A message with a single statement.
    async fn run_alone(&mut self, parsed: &ParsedStatement, sql: &str, client: &mut dyn Client) -> Result<(), SqlError> {
        if is_planned(&parsed.statement) {
            self.open_transaction()?;
            let text = &sql[parsed.range.clone()];
            let cached = self.prepare_current(text, parsed).await?;
            if let Some(plan) = cached.plan.clone() {
                refuse_parameters(&plan)?;
                self.check_allowed(&parsed.statement, Some(&plan))?;
                let cached = self.lock_plan(cached).await?;
                return self.run_with_retries(cached, Vec::new(), client).await;
            }
        }
        for attempt in 0.. {
            let mark = client.mark();
            let was_outside = self.transaction.block == Block::None;
            let result = self.run_utility(parsed, sql, client).await;
            let result = match result {
                Ok(()) if self.transaction.block == Block::Implicit => {
                    let rewind_to = client.mark();
                    let committed = self.commit().await;
                    if committed.is_err() && rewind_to.flushes == mark.flushes {
                        client.rewind(mark);
                    }
                    committed
                }
                other => other,
            };
            let Err(error) = result else { return Ok(()) };
            let limit = super::statement::retry_limit(&error);
            let may_retry = was_outside && error.fields().retryable && attempt < limit;
            if !may_retry || !client.rewind(mark) {
                return Err(error);
            }
            self.rollback().await;
            back_off(attempt).await;
        }
        Ok(())
    }

    /// Several statements: they share one implicit transaction, unless they begin and end blocks themselves.
    async fn run_string(&mut self, statements: &[ParsedStatement], sql: &str, client: &mut dyn Client) -> Result<(), SqlError> {
        for parsed in statements {
            let text = &sql[parsed.range.clone()];
            if !is_planned(&parsed.statement) {
                self.run_utility(parsed, sql, client).await?;
                continue;
            }
            self.open_transaction()?;
            let cached = self.prepare_current(text, parsed).await?;
            let Some(plan) = cached.plan.clone() else { continue };
            refuse_parameters(&plan)?;
            self.check_allowed(&parsed.statement, Some(&plan))?;
            let cached = self.lock_plan(cached).await?;
            let Some(plan) = cached.plan.clone() else { continue };
            if plan.returns_rows {
                client.row_description(&plan.output, &[]);
            }
            let tag = self.run_plan(&plan, Vec::new(), &[], client).await?;
            self.report(client);
            client.command_complete(&tag);
        }
        if self.transaction.block == Block::Implicit {
            self.commit().await?;
        }
        Ok(())
    }

    /// A statement that is run from its syntax tree, with what it writes to the client.
    pub(super) async fn run_utility(&mut self, parsed: &ParsedStatement, sql: &str, client: &mut dyn Client) -> Result<(), SqlError> {
        if self.transaction.block == Block::Failed && !ends_a_failed_block(&parsed.statement) {
            return Err(super::transaction::failed_block());
        }
        let text = sql.get(parsed.range.clone()).unwrap_or(sql);
        let tag = self.utility(&parsed.statement, text, client).await?;
        self.report(client);
        client.command_complete(&tag);
        Ok(())
    }
}

/// Waits a little longer each time, so that the one in front gets through.
pub(super) async fn back_off(attempt: u32) {
    let micros = (50u64 << attempt.min(9)).min(20_000);
    tokio::time::sleep(std::time::Duration::from_micros(micros)).await;
}

/// What is allowed after an error.
fn ends_a_failed_block(statement: &Statement) -> bool {
    matches!(statement, Statement::Commit { .. } | Statement::Rollback { .. } | Statement::RollbackToSavepoint(_))
}

fn refuse_parameters(plan: &StatementPlan) -> Result<(), SqlError> {
    if plan.param_types.is_empty() {
        return Ok(());
    }
    Err(SqlError::new(crate::error::SqlState::UNDEFINED_PARAMETER, "there is no parameter $1"))
}

fn literal_type(literal: &LiftedLiteral) -> DataType {
    match literal {
        LiftedLiteral::Int4(_) => DataType::INT4,
        LiftedLiteral::Int8(_) => DataType::INT8,
        LiftedLiteral::Numeric(_) => DataType::NUMERIC,
        LiftedLiteral::Unknown(_) => DataType::UNKNOWN,
    }
}

/// A literal as a value of the type that the plan wants.
fn literal_value(literal: &LiftedLiteral, ty: DataType, ctx: &types::TextContext<'_>) -> Result<Datum, SqlError> {
    let wanted = ColumnType { ty, typmod: -1 };
    match literal {
        LiftedLiteral::Int4(n) if ty == DataType::INT4 => Ok(Datum::Int4(*n)),
        LiftedLiteral::Int4(n) if ty == DataType::INT8 => Ok(Datum::Int8(i64::from(*n))),
        LiftedLiteral::Int8(n) if ty == DataType::INT8 => Ok(Datum::Int8(*n)),
        LiftedLiteral::Int4(n) => types::text::parse(&n.to_string(), wanted, ctx),
        LiftedLiteral::Int8(n) => types::text::parse(&n.to_string(), wanted, ctx),
        LiftedLiteral::Numeric(text) | LiftedLiteral::Unknown(text) => types::text::parse(text, wanted, ctx),
    }
}
