//! Running functions that users have made in SQL.
//!
//! A body is planned when a session first calls it, and kept as long as the catalog and the planner's settings stay what they are ([`FunctionPlans`]). A call runs its
//! statements one after the other in the transaction of the statement around it; what the last one gives is the result.
//!
//! What they see: a volatile function sees what its own earlier statements did, and at READ COMMITTED takes a new snapshot for each of them; the statement around it
//! goes on with its own afterwards. Functions that are stable or immutable see what the statement around them sees, and may not write.
//!
//! Calls may be inside of one another, [`CALL_DEPTH_MAX`] deep.

use super::batch::MemoryUse;
use super::context::ExecContext;
use super::errors::lock_error;
use super::execution::{Execution, Flow};
use super::operator::Step;
use crate::ast::{FunctionBody, Statement};
use crate::bind::{FunctionScope, domain_checks};
use crate::catalog::{Catalog, FunctionDescriptor, Oid};
use crate::error::{SqlError, SqlState};
use crate::expr::{DomainChecks, SessionInfo, UserFunction, with_context};
use crate::functions::Volatility;
use crate::locks::{Level, LockTag, Patience};
use crate::plan::{OutputColumn, PlanSettings, StatementPlan, plan_in_function};
use crate::session::settings::parse_list;
use crate::types::coercion::{CastContext, can_cast};
use crate::types::{ColumnType, DataType, Datum, Shape, cast};
use hashbrown::HashMap;
use parking_lot::Mutex;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Calls inside of one another. Each level's steps are on the same stack, which grows with them.
pub const CALL_DEPTH_MAX: u32 = 400;

/// How much stack one level may take (code without optimizations takes most), and how much is added when there is less.
const CALL_STACK_BYTES: usize = 1 << 20;
/// See [`CALL_STACK_BYTES`].
const CALL_STACK_GROWTH: usize = 16 << 20;

/// Bodies that one session keeps planned; with one more it begins anew.
const PLANS_MAX: usize = 256;

/// Which body: the function, and the types of its arguments and its result where those are polymorphic.
type BodyKey = (Oid, Vec<DataType>, DataType);

/// A session's planned bodies.
#[derive(Default)]
pub struct FunctionPlans {
    known: Mutex<HashMap<BodyKey, Arc<PlannedBody>>>,
}

impl std::fmt::Debug for FunctionPlans {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FunctionPlans({})", self.known.lock().len())
    }
}

/// A body, planned.
struct PlannedBody {
    catalog: Arc<Catalog>,
    /// The caller's.
    settings: PlanSettings,
    /// The function's own: with its search path, if it sets one.
    own_settings: PlanSettings,
    statements: Vec<Arc<StatementPlan>>,
    /// The fields of its rows, which a column definition list may have said.
    shape: Option<Arc<Shape>>,
    /// What a domain demands of the result.
    checks: Option<Arc<DomainChecks>>,
}

impl PlannedBody {
    /// May a call change rows that the statement around it has still to read?
    fn may_write(&self) -> bool {
        self.statements.iter().any(|plan| !plan.read_only || !plan.functions.is_empty())
    }
}

/// Statements of a body, parsed.
pub fn body_statements(body: &FunctionBody) -> Result<Vec<Statement>, SqlError> {
    let texts = match body {
        FunctionBody::Text(text) => vec![text.clone()],
        FunctionBody::Return(text) => vec![format!("SELECT {text}")],
        FunctionBody::Atomic(texts) => texts.clone(),
    };
    let mut statements = Vec::new();
    for text in texts {
        statements.extend(crate::parse::parse(&text)?.into_iter().map(|parsed| parsed.statement));
    }
    Ok(statements)
}

/// Plans a body's statements; `number` in an error's context counts them from 1.
pub fn plan_body(
    function: &UserFunction,
    statements: &[Statement],
    catalog: &Catalog,
    settings: &PlanSettings,
) -> Result<Vec<StatementPlan>, SqlError> {
    let descriptor = &function.descriptor;
    let scope = FunctionScope::of(descriptor, &function.arg_types, catalog);
    let mut plans = Vec::with_capacity(statements.len());
    for (at, statement) in statements.iter().enumerate() {
        refuse_statement(statement)?;
        let last = at + 1 == statements.len();
        let targets = if last { result_columns(function) } else { None };
        let plan = plan_in_function(statement, &scope, targets, catalog, settings)?;
        plans.push(plan);
    }
    Ok(plans)
}

fn refuse_statement(statement: &Statement) -> Result<(), SqlError> {
    use Statement::{Call, Delete, Insert, Merge, Query, Update};
    match statement {
        Query(_) | Insert(_) | Update(_) | Delete(_) | Merge(_) | Call(_) => Ok(()),
        Statement::Begin(_)
        | Statement::StartTransaction(_)
        | Statement::Commit { .. }
        | Statement::Rollback { .. }
        | Statement::Savepoint(_)
        | Statement::ReleaseSavepoint(_)
        | Statement::RollbackToSavepoint(_) => {
            let message = format!("{} is not allowed in an SQL function", statement.tag());
            Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message))
        }
        other => Err(SqlError::unsupported(format!("{} in an SQL function", other.tag()))),
    }
}

/// The columns that the last statement is to give, where the declaration says them.
fn result_columns(function: &UserFunction) -> Option<Vec<(String, ColumnType)>> {
    match &function.shape {
        Some(shape) => Some(shape.fields.clone()),
        None if matches!(function.result.ty, DataType::RECORD | DataType::VOID) => None,
        None => Some(vec![(String::new(), function.result)]),
    }
}

/// 42P13, when the last statement does not give what the function is declared to return.
pub fn check_result(function: &UserFunction, plans: &[StatementPlan]) -> Result<(), SqlError> {
    let descriptor = &function.descriptor;
    if function.result.ty == DataType::VOID && function.shape.is_none() {
        return Ok(());
    }
    let declared = match (descriptor.result.row_of, &function.shape) {
        (Some(_), _) | (None, Some(_)) => "record".to_owned(),
        _ => crate::catalog::function::type_text(&descriptor.result),
    };
    let mismatch = |detail: String| {
        let message = format!("return type mismatch in function declared to return {declared}");
        Err(SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message).detail(detail))
    };
    let Some(last) = plans.last().filter(|plan| plan.returns_rows) else {
        return mismatch("Function's final statement must be SELECT or INSERT/UPDATE/DELETE RETURNING.".into());
    };
    let castable = |from: DataType, to: DataType| from == DataType::UNKNOWN || can_cast(from, to, CastContext::Assignment);
    match &function.shape {
        None if function.result.ty == DataType::RECORD => Ok(()),
        None => {
            let [column] = last.output.as_slice() else {
                return mismatch("Final statement must return exactly one column.".into());
            };
            let polymorphic = crate::types::info(function.result.ty).category == b'P';
            if polymorphic || castable(column.ty.ty, function.result.ty) {
                return Ok(());
            }
            mismatch(format!("Actual return type is {}.", column.ty.ty))
        }
        Some(_) if is_whole_row(&last.output) => Ok(()),
        Some(shape) => {
            for (at, (_, ty)) in shape.fields.iter().enumerate() {
                let Some(column) = last.output.get(at) else { return mismatch("Final statement returns too few columns.".into()) };
                let polymorphic = crate::types::info(ty.ty).category == b'P';
                if !polymorphic && !castable(column.ty.ty, ty.ty) {
                    return mismatch(format!("Final statement returns {} instead of {} at column {}.", column.ty.ty, ty.ty, at + 1));
                }
            }
            if last.output.len() > shape.fields.len() {
                return mismatch("Final statement returns too many columns.".into());
            }
            Ok(())
        }
    }
}

fn is_whole_row(output: &[OutputColumn]) -> bool {
    matches!(output, [column] if column.ty.ty == DataType::RECORD)
}

/// The body as this session plans it.
fn planned(function: &UserFunction, ctx: &ExecContext<'_>) -> Result<Arc<PlannedBody>, SqlError> {
    let key = (function.descriptor.oid, function.arg_types.clone(), function.result.ty);
    if let Some(body) = ctx.functions.known.lock().get(&key)
        && Arc::ptr_eq(&body.catalog, &ctx.catalog)
        && body.settings == *ctx.plan_settings
        && body.shape == function.shape
    {
        return Ok(Arc::clone(body));
    }
    let started = |error| with_context(error, function.context("during startup"));
    let settings = ctx.plan_settings.clone();
    let mut own_settings = settings.clone();
    if let Some(path) = search_path_of(&function.descriptor) {
        own_settings.search_path = path;
    }
    let statements = body_statements(&function.descriptor.body).map_err(started)?;
    let plans = plan_body(function, &statements, &ctx.catalog, &own_settings).map_err(started)?;
    let writes = statements.iter().zip(&plans).find(|(_, plan)| !plan.read_only);
    if let (Some((statement, _)), true) = (writes, function.descriptor.volatility != Volatility::Volatile) {
        let message = format!("{} is not allowed in a non-volatile function", statement.tag());
        return Err(started(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message)));
    }
    check_result(function, &plans).map_err(started)?;
    let checks = match function.descriptor.result.declared {
        Some(declared) => domain_checks(declared, &ctx.catalog, &settings)?,
        None => None,
    };
    let statements = plans.into_iter().map(Arc::new).collect();
    let (catalog, shape) = (Arc::clone(&ctx.catalog), function.shape.clone());
    let body = Arc::new(PlannedBody { catalog, settings, own_settings, statements, shape, checks });
    let mut known = ctx.functions.known.lock();
    if known.len() >= PLANS_MAX {
        known.clear();
    }
    known.insert(key, Arc::clone(&body));
    Ok(body)
}

/// The search path that a function sets for itself.
pub fn search_path_of(function: &FunctionDescriptor) -> Option<Vec<String>> {
    let (_, path) = function.settings.iter().find(|(name, _)| name == "search_path")?;
    Some(parse_list(path))
}

/// Whether a call of the function may change rows that the statement around it has still to read. That statement then reads them first.
pub(super) fn may_write(function: &UserFunction, ctx: &ExecContext<'_>) -> Result<bool, SqlError> {
    Ok(function.descriptor.volatility == Volatility::Volatile && planned(function, ctx)?.may_write())
}

/// Calls a function; gives the values of its result: one, or as many as its set has.
pub(super) fn call<'f>(function: &'f UserFunction, args: Vec<Datum>, ctx: &'f mut ExecContext<'_>) -> Step<'f, Vec<Datum>> {
    Box::pin(OnGrowingStack(Box::pin(call_here(function, args, ctx))))
}

async fn call_here(function: &UserFunction, args: Vec<Datum>, ctx: &mut ExecContext<'_>) -> Result<Vec<Datum>, SqlError> {
    let descriptor = &function.descriptor;
    if descriptor.strict && args.iter().any(Datum::is_null) {
        return Ok(if descriptor.returns_set { Vec::new() } else { vec![Datum::Null] });
    }
    if ctx.call_depth >= CALL_DEPTH_MAX {
        return Err(SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded")
            .hint(format!("Calls of functions may be nested {CALL_DEPTH_MAX} levels deep.")));
    }
    let body = planned(function, ctx)?;
    let _path = PathGuard::set(descriptor, ctx.session)?;
    let volatile = descriptor.volatility == Volatility::Volatile;
    let outer = volatile.then(|| ctx.txn.begin_inner());
    let mut inner = ctx.reborrow();
    inner.call_depth += 1;
    inner.plan_settings = &body.own_settings;
    let result = run_body(function, &body, args, &mut inner).await;
    if let Some(outer) = outer {
        ctx.txn.end_inner(outer);
    }
    result
}

async fn run_body(
    function: &UserFunction,
    body: &PlannedBody,
    args: Vec<Datum>,
    ctx: &mut ExecContext<'_>,
) -> Result<Vec<Datum>, SqlError> {
    let mut values = Vec::new();
    for (at, plan) in body.statements.iter().enumerate() {
        let last = at + 1 == body.statements.len();
        let gives = last && plan.returns_rows && (function.result.ty != DataType::VOID || function.shape.is_some());
        let result = run_statement(function, body, plan, args.clone(), gives, ctx).await;
        let rows = result.map_err(|error| with_context(error, function.context(&format!("statement {}", at + 1))))?;
        values.extend(rows);
    }
    if function.descriptor.returns_set {
        return Ok(values);
    }
    values.truncate(1);
    if values.is_empty() {
        if let Some(checks) = &body.checks {
            checks.check(&Datum::Null, &ctx.eval())?;
        }
        values.push(Datum::Null);
    }
    Ok(values)
}

async fn run_statement(
    function: &UserFunction,
    body: &PlannedBody,
    plan: &Arc<StatementPlan>,
    args: Vec<Datum>,
    gives: bool,
    ctx: &mut ExecContext<'_>,
) -> Result<Vec<Datum>, SqlError> {
    lock_relations(plan, ctx).await?;
    if function.descriptor.volatility == Volatility::Volatile {
        ctx.txn.step();
    }
    let only_first = !function.descriptor.returns_set;
    let mut rows: Vec<Vec<Datum>> = Vec::new();
    let mut memory = MemoryUse::default();
    let mut sink = |row: &[Datum]| {
        if gives && (!only_first || rows.is_empty()) {
            memory.row(row)?;
            rows.push(row.to_vec());
        }
        Ok(if only_first && plan.read_only && gives { Flow::Suspend } else { Flow::Continue })
    };
    let mut execution = Execution::open(Arc::clone(plan), args);
    execution.run(ctx, &mut sink, None).await?;
    let mut values = Vec::with_capacity(rows.len());
    for row in rows {
        let value = result_value(function, plan, row, ctx)?;
        if let Some(checks) = &body.checks {
            checks.check(&value, &ctx.eval())?;
        }
        values.push(value);
    }
    Ok(values)
}

/// A row of the last statement as a value of the declared type.
fn result_value(function: &UserFunction, plan: &StatementPlan, mut row: Vec<Datum>, ctx: &ExecContext<'_>) -> Result<Datum, SqlError> {
    let context = ctx.eval();
    let whole = is_whole_row(&plan.output);
    let Some(shape) = &function.shape else {
        if function.result.ty == DataType::RECORD {
            if whole {
                return Ok(row.swap_remove(0));
            }
            let fields = plan.output.iter().map(|column| (column.name.clone(), column.ty)).collect();
            return Ok(Datum::shaped_record(row, Arc::new(Shape { fields })));
        }
        let from = plan.output.first().map_or(function.result.ty, |column| column.ty.ty);
        return cast::cast(row.swap_remove(0), from, function.result, false, &context);
    };
    let mut types: Vec<DataType> = plan.output.iter().map(|column| column.ty.ty).collect();
    if whole && (shape.fields.len() != 1 || shape.fields[0].1.ty != DataType::RECORD) {
        let Datum::Record(record) = row.swap_remove(0) else { return Ok(Datum::Null) };
        types = (0..record.fields.len()).map(|at| record.field_type(at)).collect();
        row = record.fields.clone();
    }
    if row.len() != shape.fields.len() {
        let (given, expected) = (row.len(), shape.fields.len());
        let message = "function return row and query-specified return row do not match";
        let attributes = if given == 1 { "attribute" } else { "attributes" };
        return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message)
            .detail(format!("Returned row contains {given} {attributes}, but query expects {expected}.")));
    }
    let fields = row.into_iter().zip(types).zip(&shape.fields);
    let fields = fields.map(|((value, from), (_, to))| cast::cast(value, from, *to, false, &context)).collect::<Result<Vec<_>, _>>()?;
    Ok(Datum::shaped_record(fields, shape.clone()))
}

/// What the statement touches is locked as it would be for a statement of the client's.
async fn lock_relations(plan: &StatementPlan, ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
    if ctx.locks.try_fast(&plan.table_locks) {
        return Ok(());
    }
    let patience = Patience { txn: ctx.txn.id(), timeout: ctx.txn.options().lock_timeout, waits: true };
    for lock in &plan.table_locks {
        let acquired = ctx.locks.acquire(LockTag::Relation(lock.relation), lock.mode, Level::Transaction, patience).await;
        acquired.map_err(|error| {
            let name = ctx.catalog.table(lock.relation).map(|table| table.name.clone());
            lock_error(error, name.as_deref(), &ctx.catalog)
        })?;
    }
    Ok(())
}

/// Sets a function's own search path for the session, and puts the old one back when the call is over, however it ends.
struct PathGuard<'s> {
    session: &'s dyn SessionInfo,
    before: Option<String>,
}

impl<'s> PathGuard<'s> {
    fn set(function: &FunctionDescriptor, session: &'s dyn SessionInfo) -> Result<PathGuard<'s>, SqlError> {
        let mut before = None;
        if let Some((name, path)) = function.settings.iter().find(|(name, _)| name == "search_path") {
            before = session.setting(name);
            session.set_setting(name, path, false)?;
        }
        Ok(PathGuard { session, before })
    }
}

impl Drop for PathGuard<'_> {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // It was valid before, so it is now.
            let _ = self.session.set_setting("search_path", before, false);
        }
    }
}

/// Polls with enough stack for calls inside of calls.
struct OnGrowingStack<'f, T>(Step<'f, T>);

impl<T> Future for OnGrowingStack<'_, T> {
    type Output = Result<T, SqlError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        stacker::maybe_grow(CALL_STACK_BYTES, CALL_STACK_GROWTH, || self.0.as_mut().poll(cx))
    }
}
