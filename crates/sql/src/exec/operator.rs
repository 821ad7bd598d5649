//! Operators: the moving half of a plan.
//!
//! The plan is immutable and shared by everyone who runs it. What one execution must remember (how far a scan has come, a hash table) lives in a tree
//! of [`Operator`]s of the same shape, which borrows nothing: each call is handed its plan node. So a portal can keep an operator tree between
//! messages, and opening one is a handful of small allocations.
//!
//! Pulling is by batch: [`Operator::next`] gives rows until it gives `None`. Its future is boxed once per batch, never per row.

use super::aggregate::AggregateState;
use super::context::{Run, misfit};
use super::delete::DeleteState;
use super::distinct::DistinctState;
use super::filter::{LimitState, ProjectSetState};
use super::hash_join::HashJoinState;
use super::insert::InsertState;
use super::lock_rows::LockRowsState;
use super::lookup_join::LookupJoinState;
use super::merge::MergeState;
use super::nested_loop::NestedLoopState;
use super::scan::ScanState;
use super::set_op::SetOpState;
use super::sort::{SortState, TopNState};
use super::sources::{FunctionScanState, ListState};
use super::subplan::SubPlansState;
use super::update::UpdateState;
use super::window::WindowState;
use super::{RowBatch, filter, sources};
use crate::error::SqlError;
use crate::plan::{Plan, PlanNode};
use std::pin::Pin;

/// Batches after which the task gives way to others of its thread, and to its own timeout.
const BATCHES_PER_TURN: u32 = 8;

/// A boxed step.
pub(crate) type Step<'f, T> = Pin<Box<dyn Future<Output = Result<T, SqlError>> + Send + 'f>>;

/// What one node of one execution remembers.
pub(crate) enum Operator {
    Once(bool),
    List(ListState),
    Function(Box<FunctionScanState>),
    Scan(Box<ScanState>),
    /// Filter and Project need nothing but their input.
    Pass(Box<Operator>),
    ProjectSet(Box<ProjectSetState>),
    SubPlans(Box<SubPlansState>),
    LookupJoin(Box<LookupJoinState>),
    HashJoin(Box<HashJoinState>),
    NestedLoop(Box<NestedLoopState>),
    Sort(Box<SortState>),
    TopN(Box<TopNState>),
    Limit(Box<LimitState>),
    Distinct(Box<DistinctState>),
    Aggregate(Box<AggregateState>),
    Window(Box<WindowState>),
    Append(Vec<Operator>, usize),
    SetOp(Box<SetOpState>),
    LockRows(Box<LockRowsState>),
    Insert(Box<InsertState>),
    Update(Box<UpdateState>),
    Merge(Box<MergeState>),
    Delete(Box<DeleteState>),
}

impl Operator {
    /// A fresh operator tree for a plan.
    pub(crate) fn open(plan: &Plan) -> Operator {
        let open = |input: &Plan| Box::new(Operator::open(input));
        match &plan.node {
            PlanNode::OneRow | PlanNode::Empty => Operator::Once(false),
            PlanNode::Values(_) | PlanNode::VirtualScan { .. } | PlanNode::CteScan { .. } | PlanNode::WorkTableScan { .. } => {
                Operator::List(ListState::default())
            }
            PlanNode::FunctionScan { .. } => Operator::Function(Box::default()),
            PlanNode::Scan(_) => Operator::Scan(Box::default()),
            PlanNode::Filter { input, .. } | PlanNode::Project { input, .. } => Operator::Pass(open(input)),
            PlanNode::ProjectSet { input, .. } => Operator::ProjectSet(Box::new(ProjectSetState::new(Operator::open(input)))),
            PlanNode::SubPlans(node) => Operator::SubPlans(Box::new(SubPlansState::new(node))),
            PlanNode::LookupJoin { left, .. } => Operator::LookupJoin(Box::new(LookupJoinState::new(Operator::open(left)))),
            PlanNode::HashJoin { left, right, .. } => {
                Operator::HashJoin(Box::new(HashJoinState::new(Operator::open(left), Operator::open(right))))
            }
            PlanNode::NestedLoopJoin { left, right, .. } => {
                Operator::NestedLoop(Box::new(NestedLoopState::new(Operator::open(left), Operator::open(right))))
            }
            PlanNode::Sort { input, .. } => Operator::Sort(Box::new(SortState::new(Operator::open(input)))),
            PlanNode::TopN { input, .. } => Operator::TopN(Box::new(TopNState::new(Operator::open(input)))),
            PlanNode::Limit { input, .. } => Operator::Limit(Box::new(LimitState::new(Operator::open(input)))),
            PlanNode::Distinct { input, .. } => Operator::Distinct(Box::new(DistinctState::new(Operator::open(input)))),
            PlanNode::Aggregate { input, .. } => Operator::Aggregate(Box::new(AggregateState::new(Operator::open(input)))),
            PlanNode::Window { input, .. } => Operator::Window(Box::new(WindowState::new(Operator::open(input)))),
            PlanNode::Append(inputs) => Operator::Append(inputs.iter().map(Operator::open).collect(), 0),
            PlanNode::SetOp { left, right, .. } => Operator::SetOp(Box::new(SetOpState::new(Operator::open(left), Operator::open(right)))),
            PlanNode::LockRows { input, .. } => Operator::LockRows(Box::new(LockRowsState::new(Operator::open(input)))),
            PlanNode::Insert(node) => Operator::Insert(Box::new(InsertState::new(Operator::open(&node.input)))),
            PlanNode::Merge(node) => Operator::Merge(Box::new(MergeState::new(Operator::open(&node.input)))),
            PlanNode::Update(node) => Operator::Update(Box::new(UpdateState::new(Operator::open(&node.input)))),
            PlanNode::Delete(node) => Operator::Delete(Box::new(DeleteState::new(Operator::open(&node.input)))),
        }
    }

    /// The next rows (at least one), or `None` at the end; not to be called again after that.
    pub(crate) fn next<'f>(&'f mut self, plan: &'f Plan, run: &'f mut Run<'_>) -> Step<'f, Option<RowBatch>> {
        Box::pin(async move {
            loop {
                run.ctx.cancel.check()?;
                run.batches += 1;
                if run.batches.is_multiple_of(BATCHES_PER_TURN) {
                    tokio::task::yield_now().await;
                }
                match self.step(plan, run).await? {
                    Some(batch) if batch.is_empty() => {}
                    end => return Ok(end),
                }
            }
        })
    }

    /// As [`Operator::next`], but a batch may be empty.
    async fn step(&mut self, plan: &Plan, run: &mut Run<'_>) -> Result<Option<RowBatch>, SqlError> {
        match (self, &plan.node) {
            (Operator::Once(done), PlanNode::OneRow) => {
                let mut batch = RowBatch::new(0);
                batch.push([]);
                Ok((!std::mem::replace(done, true)).then_some(batch))
            }
            (Operator::Once(_), PlanNode::Empty) => Ok(None),
            (Operator::List(state), _) => sources::next_of_list(state, plan, run).await,
            (Operator::Function(state), PlanNode::FunctionScan { functions, ordinality, .. }) => {
                state.next(functions, *ordinality, plan, run).await
            }
            (Operator::Scan(state), PlanNode::Scan(scan)) => state.next(scan, run).await,
            (Operator::Pass(input), PlanNode::Filter { input: from, predicate }) => {
                let batch = input.next(from, run).await?;
                batch.map(|batch| filter::filtered(batch, predicate, run)).transpose()
            }
            (Operator::Pass(input), PlanNode::Project { input: from, exprs }) => {
                let batch = input.next(from, run).await?;
                batch.map(|batch| filter::projected(&batch, exprs, run)).transpose()
            }
            (Operator::ProjectSet(state), PlanNode::ProjectSet { input, functions }) => state.next(input, functions, run).await,
            (Operator::SubPlans(state), PlanNode::SubPlans(node)) => state.next(node, run).await,
            (Operator::LookupJoin(state), PlanNode::LookupJoin { .. }) => state.next(plan, run).await,
            (Operator::HashJoin(state), PlanNode::HashJoin { .. }) => state.next(plan, run).await,
            (Operator::NestedLoop(state), PlanNode::NestedLoopJoin { .. }) => state.next(plan, run).await,
            (Operator::Sort(state), PlanNode::Sort { input, keys }) => state.next(input, keys, run).await,
            (Operator::TopN(state), PlanNode::TopN { input, keys, limit, offset }) => {
                state.next(input, keys, limit, offset.as_ref(), run).await
            }
            (Operator::Limit(state), PlanNode::Limit { input, limit, offset, ties }) => {
                state.next(input, limit.as_ref(), offset.as_ref(), ties.as_deref(), run).await
            }
            (Operator::Distinct(state), PlanNode::Distinct { input, keys, order }) => state.next(input, keys, *order, run).await,
            (Operator::Aggregate(state), PlanNode::Aggregate { input, group, sets, aggregates }) => {
                state.next(input, group, sets.as_deref(), aggregates, run).await
            }
            (Operator::Window(state), PlanNode::Window { input, windows }) => state.next(input, windows, run).await,
            (Operator::Append(inputs, at), PlanNode::Append(plans)) => {
                while let (Some(input), Some(plan)) = (inputs.get_mut(*at), plans.get(*at)) {
                    if let Some(batch) = input.next(plan, run).await? {
                        return Ok(Some(batch));
                    }
                    *at += 1;
                }
                Ok(None)
            }
            (Operator::SetOp(state), PlanNode::SetOp { op, all, left, right }) => state.next(*op, *all, left, right, run).await,
            (Operator::LockRows(state), PlanNode::LockRows { input, targets, again, after_race }) => {
                state.next(input, targets, again.as_deref(), *after_race, run).await
            }
            (Operator::Insert(state), PlanNode::Insert(node)) => state.next(node, run).await,
            (Operator::Merge(state), PlanNode::Merge(node)) => state.next(node, run).await,
            (Operator::Update(state), PlanNode::Update(node)) => state.next(node, run).await,
            (Operator::Delete(state), PlanNode::Delete(node)) => state.next(node, run).await,
            _ => Err(misfit()),
        }
    }

    /// Everything it gives, in memory.
    pub(crate) async fn collect(&mut self, plan: &Plan, run: &mut Run<'_>) -> Result<RowBatch, SqlError> {
        let mut all = RowBatch::new(plan.types.len());
        let mut memory = super::batch::MemoryUse::default();
        while let Some(batch) = self.next(plan, run).await? {
            memory.grow(batch.bytes())?;
            if all.is_empty() {
                all = batch;
            } else {
                all.append(batch);
            }
        }
        Ok(all)
    }
}
