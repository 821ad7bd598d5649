//! Running a plan: [`Execution`] is what a portal keeps, [`execute`] runs one to its end.
//!
//! Life of a statement in here:
//! 1. [`Execution::open`] builds the operator tree; nothing is read yet.
//! 2. [`Execution::run`] notes the definitions the statement relies on, then pulls batches and hands rows to the [`RowSink`], up to a limit.
//! 3. A point read takes a shortcut: one `Get`, decode, project, sink; no tree.
//! 4. At READ COMMITTED, a write that lost a race is rolled back to the statement's beginning and run again, as long as no row has been handed out: first on the
//!    same snapshot, with the rows locked and looked at again where the plan can do that (`lock_rows`), then on newer ones.
//! 5. Where terms of WITH write, all parts run first, also those that nobody reads, then everything is written, then rows are handed out.

use super::context::{CteRows, ExecContext, Run};
use super::errors::kv_error;
use super::operator::Operator;
use super::postponed::PostponedWrites;
use super::scan::point_row;
use super::{foreign_key, sources};
use crate::catalog::{Oid, store};
use crate::error::{SqlError, SqlState};
use crate::expr::{Expr, eval};
use crate::plan::{Access, KeyPart, Plan, PlanNode, Scan, StatementKind, StatementPlan};
use crate::types::Datum;
use std::sync::Arc;
use tidelock_kvapi::Isolation;

/// How often a statement of a READ COMMITTED transaction is begun anew when its writes lose a race.
const STATEMENT_RETRIES_MAX: u32 = 50;

/// Whether a sink wants more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// More rows, please.
    Continue,
    /// Stop here; the execution can be resumed.
    Suspend,
}

/// Takes result rows.
pub trait RowSink: Send {
    /// One row; encode it from the slice.
    fn row(&mut self, row: &[Datum]) -> Result<Flow, SqlError>;
}

impl<F: FnMut(&[Datum]) -> Result<Flow, SqlError> + Send> RowSink for F {
    fn row(&mut self, row: &[Datum]) -> Result<Flow, SqlError> {
        self(row)
    }
}

/// What a statement did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Affected {
    /// The command tag's words.
    pub tag: &'static str,
    /// Rows written, or given for a query.
    pub rows: u64,
}

impl Affected {
    /// The whole command tag: `INSERT 0 5`, `SELECT 1`.
    pub fn command_tag(&self) -> String {
        match self.tag {
            "INSERT" => format!("INSERT 0 {}", self.rows),
            "CALL" => "CALL".to_owned(),
            tag => format!("{tag} {}", self.rows),
        }
    }
}

/// Where [`Execution::run`] stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// The sink suspended it, or `max_rows` was reached; there may be more.
    Suspended,
    /// The end.
    Done(Affected),
}

/// One execution of a plan, begun and perhaps suspended.
pub struct Execution {
    plan: Arc<StatementPlan>,
    root: Operator,
    params: Vec<Datum>,
    ctes: Vec<CteRows>,
    /// What a statement with data-modifying terms in WITH will write at its end.
    postponed: Option<PostponedWrites>,
    /// See [`Run::after_race`].
    after_race: bool,
    /// Rows pulled and not yet handed out.
    pending: Option<(super::RowBatch, usize)>,
    /// There are no more rows behind them.
    ended: bool,
    given: u64,
    affected: u64,
    started: bool,
    done: bool,
}

/// Runs a plan to its end.
pub async fn execute(
    plan: &Arc<StatementPlan>,
    params: Vec<Datum>,
    ctx: &mut ExecContext<'_>,
    sink: &mut dyn RowSink,
) -> Result<Affected, SqlError> {
    let mut execution = Execution::open(Arc::clone(plan), params);
    match execution.run(ctx, sink, None).await? {
        Progress::Done(affected) => Ok(affected),
        Progress::Suspended => Ok(execution.so_far()),
    }
}

impl Execution {
    /// Prepares an execution; `params` are the statement's parameters, of the plan's types.
    pub fn open(plan: Arc<StatementPlan>, mut params: Vec<Datum>) -> Execution {
        params.resize(plan.param_types.len() + plan.execution_slots, Datum::Null);
        let ctes = vec![CteRows::default(); plan.ctes.len()];
        let postponed = (plan.ctes.iter().any(|cte| cte.writes) || returns_subqueries(&plan.root)).then(PostponedWrites::default);
        Execution {
            root: Operator::open(&plan.root),
            plan,
            params,
            ctes,
            postponed,
            after_race: false,
            pending: None,
            ended: false,
            given: 0,
            affected: 0,
            started: false,
            done: false,
        }
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<StatementPlan> {
        &self.plan
    }

    /// What it has done until now.
    pub fn so_far(&self) -> Affected {
        let (tag, rows) = match self.plan.kind {
            StatementKind::Select => ("SELECT", self.given),
            StatementKind::Insert => ("INSERT", self.affected),
            StatementKind::Update => ("UPDATE", self.affected),
            StatementKind::Delete => ("DELETE", self.affected),
            StatementKind::Merge => ("MERGE", self.affected),
            StatementKind::Call => ("CALL", 0),
        };
        Affected { tag, rows }
    }

    /// Goes on until the end, until the sink has enough, or until `max_rows` rows were given in this call. After an error the execution is of no
    /// further use.
    pub async fn run(&mut self, ctx: &mut ExecContext<'_>, sink: &mut dyn RowSink, max_rows: Option<u64>) -> Result<Progress, SqlError> {
        if self.done {
            return Ok(Progress::Done(self.so_far()));
        }
        ctx.cancel.check()?;
        let cancel = ctx.cancel;
        // What is awaited below gives way when the statement is cancelled: dropping it leaves nothing behind.
        tokio::select! {
            biased;
            result = self.run_uncancelled(ctx, sink, max_rows) => result,
            reason = cancel.cancelled() => Err(reason.into()),
        }
    }

    async fn run_uncancelled(
        &mut self,
        ctx: &mut ExecContext<'_>,
        sink: &mut dyn RowSink,
        max_rows: Option<u64>,
    ) -> Result<Progress, SqlError> {
        if self.started {
            return self.pull(ctx, sink, max_rows).await;
        }
        self.started = true;
        if self.plan.read_only && max_rows.is_none_or(|n| n > 0) {
            if let Some(progress) = self.try_point(ctx, sink).await? {
                return Ok(progress);
            }
            return self.pull(ctx, sink, max_rows).await;
        }
        self.rely_on_definitions(ctx)?;
        if ctx.txn.options().isolation != Isolation::ReadCommitted {
            return self.pull(ctx, sink, max_rows).await;
        }
        self.with_statement_retry(ctx, sink, max_rows).await
    }

    /// A statement that writes: nobody may have changed its tables' definitions when the transaction commits.
    fn rely_on_definitions(&self, ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
        if self.plan.read_only {
            return Ok(());
        }
        if ctx.txn.options().read_only {
            let message = format!("cannot execute {} in a read-only transaction", self.so_far().tag);
            return Err(SqlError::new(SqlState::READ_ONLY_SQL_TRANSACTION, message));
        }
        for oid in &self.plan.relations {
            ctx.txn.assert_unchanged(store::relation_key(ctx.catalog.database_oid(), *oid), ctx.catalog_ts);
        }
        Ok(())
    }

    async fn with_statement_retry(
        &mut self,
        ctx: &mut ExecContext<'_>,
        sink: &mut dyn RowSink,
        max_rows: Option<u64>,
    ) -> Result<Progress, SqlError> {
        let params = self.params.clone();
        let deferred = ctx.state.deferred.clone();
        for _ in 0..STATEMENT_RETRIES_MAX {
            let keeps_snapshot = self.plan.looks_again && !self.after_race;
            let savepoint = ctx.txn.savepoint();
            let result = self.pull(ctx, sink, max_rows).await;
            match result {
                Err(error) if is_lost_race(&error) && self.given == 0 => {
                    ctx.txn.rollback_to(&savepoint).await.map_err(|e| kv_error(e, &ctx.catalog))?;
                    if !keeps_snapshot {
                        ctx.txn.step();
                    }
                    ctx.state.deferred = deferred.clone();
                    *self = Execution::open(Arc::clone(&self.plan), params.clone());
                    (self.started, self.after_race) = (true, true);
                }
                result => return result,
            }
        }
        Err(super::errors::serialization("could not serialize access due to concurrent update"))
    }

    /// One `Get`, if the plan is a single row by primary key.
    async fn try_point(&mut self, ctx: &mut ExecContext<'_>, sink: &mut dyn RowSink) -> Result<Option<Progress>, SqlError> {
        let plan = Arc::clone(&self.plan);
        let Some((scan, exprs)) = single_point(&plan.root) else { return Ok(None) };
        let mut run = self.attach(ctx);
        let mut row = Vec::with_capacity(scan.columns.len());
        let found = point_row(scan, &mut run, &mut row).await;
        let projected = match (&found, exprs) {
            (Ok(Some(true)), Some(exprs)) => {
                let context = run.eval();
                Some(exprs.iter().map(|expr| eval(expr, &row, &context)).collect::<Result<Vec<_>, _>>())
            }
            _ => None,
        };
        self.detach(run);
        let Some(found) = found? else { return Ok(None) };
        if found {
            match projected {
                Some(values) => sink.row(&values?)?,
                None => sink.row(&row)?,
            };
            self.given = 1;
        }
        self.done = true;
        Ok(Some(Progress::Done(self.so_far())))
    }

    /// Lends what belongs to the execution to a run.
    fn attach<'r>(&mut self, ctx: &'r mut ExecContext<'_>) -> Run<'r> {
        Run {
            ctx: ctx.reborrow(),
            plan: Arc::clone(&self.plan),
            params: std::mem::take(&mut self.params),
            ctes: std::mem::take(&mut self.ctes),
            affected: self.affected,
            inside_cte: false,
            postponed: self.postponed.take(),
            after_race: self.after_race,
            batches: 0,
            compared: 0,
        }
    }

    /// Takes it back.
    fn detach(&mut self, run: Run<'_>) {
        self.params = run.params;
        self.ctes = run.ctes;
        self.postponed = run.postponed;
        self.affected = run.affected;
    }

    async fn pull(&mut self, ctx: &mut ExecContext<'_>, sink: &mut dyn RowSink, max_rows: Option<u64>) -> Result<Progress, SqlError> {
        let plan = Arc::clone(&self.plan);
        let mut run = self.attach(ctx);
        let result = self.pull_rows(&plan, &mut run, sink, max_rows).await;
        self.detach(run);
        result?;
        Ok(if self.done { Progress::Done(self.so_far()) } else { Progress::Suspended })
    }

    async fn pull_rows(
        &mut self,
        plan: &StatementPlan,
        run: &mut Run<'_>,
        sink: &mut dyn RowSink,
        max_rows: Option<u64>,
    ) -> Result<(), SqlError> {
        if run.postponed.is_some() {
            self.write_postponed(plan, run).await?;
        }
        let mut left = max_rows.unwrap_or(u64::MAX);
        loop {
            let (batch, from) = match self.pending.take() {
                Some(pending) => pending,
                None if self.ended => break,
                None => match self.root.next(&plan.root, run).await? {
                    Some(batch) => (batch, 0),
                    None => break,
                },
            };
            for at in from..batch.len() {
                if !plan.returns_rows {
                    break;
                }
                if left == 0 {
                    self.pending = Some((batch, at));
                    return Ok(());
                }
                self.given += 1;
                left -= 1;
                if sink.row(batch.row(at))? == Flow::Suspend {
                    self.pending = Some((batch, at + 1));
                    return Ok(());
                }
            }
            // PostgreSQL suspends a portal whose row limit was reached even if these were the last rows.
            if left == 0 {
                return Ok(());
            }
        }
        self.done = true;
        self.affected = run.affected;
        Ok(())
    }

    /// Of a statement with data-modifying terms: runs all parts, writes what they noted, and keeps the rows, so that none was handed out if the writes lose a race.
    async fn write_postponed(&mut self, plan: &StatementPlan, run: &mut Run<'_>) -> Result<(), SqlError> {
        let rows = self.root.collect(&plan.root, run).await?;
        for number in 0..plan.ctes.len() {
            if plan.ctes[number].writes {
                sources::cte_rows(number, run).await?;
            }
        }
        if let Some(postponed) = run.postponed.take() {
            postponed.write(&mut run.ctx).await?;
        }
        (self.pending, self.ended) = (Some((rows, 0)), true);
        Ok(())
    }
}

/// Does RETURNING ask something of the tables? That is answered from what was there before the statement.
fn returns_subqueries(root: &Plan) -> bool {
    let returned = match &root.node {
        PlanNode::Insert(insert) => &insert.returning,
        PlanNode::Update(update) => &update.returning,
        PlanNode::Delete(delete) => &delete.returning,
        _ => return false,
    };
    returned.as_ref().is_some_and(|returned| !returned.subplans.is_empty())
}

/// A write that met a newer version at READ COMMITTED.
fn is_lost_race(error: &SqlError) -> bool {
    error.state() == SqlState::SERIALIZATION_FAILURE && error.fields().retryable
}

/// The scan and the projection of a plan that reads one row by its primary key.
fn single_point(root: &Plan) -> Option<(&Scan, Option<&[Expr]>)> {
    let (scan, exprs) = match &root.node {
        PlanNode::Scan(scan) => (scan, None),
        PlanNode::Project { input, exprs } => match &input.node {
            PlanNode::Scan(scan) => (scan, Some(exprs.as_slice())),
            _ => return None,
        },
        _ => return None,
    };
    let Access::Points(keys) = &scan.access else { return None };
    let single = matches!(keys.as_slice(), [key] if key.iter().all(|part| matches!(part, KeyPart::One(_))));
    let plain = scan.index.is_none() && scan.limit.is_none() && scan.lock.is_none();
    (single && plain).then_some((&**scan, exprs))
}

/// Checks constraints that were deferred to the transaction's end. Call it before the commit; an error means rollback.
pub async fn run_deferred(ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
    foreign_key::run_deferred(None, ctx).await
}

/// SET CONSTRAINTS ... IMMEDIATE: checks at once what was deferred of some constraints.
pub async fn run_deferred_of(constraints: &[Oid], ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
    foreign_key::run_deferred(Some(constraints), ctx).await
}

/// What is left to do once the transaction has committed: give up the data of dropped indexes. Failures are of no consequence to the
/// transaction (the data is merely garbage); the first is returned to be logged.
pub async fn after_commit(db: &tidelock_kvclient::Db, state: &mut super::TxnState) -> Result<(), tidelock_kvapi::KvError> {
    let mut first = Ok(());
    for index in std::mem::take(&mut state.dropped_indexes) {
        let dropped = db.drop_index(index).await;
        first = first.and(dropped);
    }
    first
}
