//! Row sources without storage: VALUES, virtual tables, functions, common table expressions.

use super::RowBatch;
use super::batch::BATCH_ROWS;
use super::context::{CteRows, Run, misfit};
use super::key_table::KeyTable;
use super::operator::Operator;
use crate::catalog::rows::VirtualScan;
use crate::error::{SqlError, SqlState};
use crate::expr::{CompareOp, Expr, eval, eval_bool};
use crate::functions::set_returning::SetRows;
use crate::plan::{CtePlan, Plan, PlanNode, TableFunction, TableFunctionCall};
use crate::types::Datum;
use std::sync::Arc;

/// Rounds of a recursive query; more are taken for an endless one.
const RECURSION_ROUNDS_MAX: usize = 1_000_000;

/// How far a list of rows has been handed out.
#[derive(Default)]
pub(crate) struct ListState {
    at: usize,
    rows: Option<Arc<RowBatch>>,
}

pub(super) async fn next_of_list(state: &mut ListState, plan: &Plan, run: &mut Run<'_>) -> Result<Option<RowBatch>, SqlError> {
    if let PlanNode::Values(rows) = &plan.node {
        return next_values(state, rows, plan.types.len(), run);
    }
    let rows = match &state.rows {
        Some(rows) => Arc::clone(rows),
        None => {
            let rows = listed(plan, run).await?;
            state.rows = Some(Arc::clone(&rows));
            rows
        }
    };
    let end = (state.at + BATCH_ROWS).min(rows.len());
    let mut batch = RowBatch::new(rows.width());
    (state.at..end).for_each(|at| batch.push_slice(rows.row(at)));
    state.at = end;
    Ok((!batch.is_empty()).then_some(batch))
}

fn next_values(state: &mut ListState, rows: &[Vec<Expr>], width: usize, run: &Run<'_>) -> Result<Option<RowBatch>, SqlError> {
    let mut batch = RowBatch::new(width);
    let context = run.eval();
    for row in rows.iter().skip(state.at).take(BATCH_ROWS) {
        let fill = |out: &mut Vec<Datum>| row.iter().try_for_each(|expr| eval(expr, &[], &context).map(|value| out.push(value)));
        batch.try_push(fill, |_| Ok(true))?;
    }
    state.at += batch.len();
    Ok((!batch.is_empty()).then_some(batch))
}

async fn listed(plan: &Plan, run: &mut Run<'_>) -> Result<Arc<RowBatch>, SqlError> {
    match &plan.node {
        PlanNode::VirtualScan { table, columns, filter, .. } => {
            let only = filter.as_ref().map_or(Vec::new(), |filter| equalities(filter, columns, run));
            let scan = VirtualScan { table, only: &only };
            let all = run.ctx.virtual_tables.rows(&scan, &run.ctx.catalog, run.ctx.db).await?;
            let mut batch = RowBatch::new(columns.len());
            let context = run.eval();
            for row in all {
                let fill = |out: &mut Vec<Datum>| {
                    out.extend(columns.iter().map(|c| row.get(*c).cloned().unwrap_or(Datum::Null)));
                    Ok(())
                };
                batch.try_push(fill, |row| filter.as_ref().map_or(Ok(true), |f| eval_bool(f, row, &context)))?;
            }
            Ok(Arc::new(batch))
        }
        PlanNode::CteScan { cte, .. } => cte_rows(*cte, run).await,
        PlanNode::WorkTableScan { cte, .. } => run.ctes.get(*cte).map(|c| Arc::clone(&c.work)).ok_or_else(misfit),
        _ => Err(misfit()),
    }
}

/// The `column = value` conditions of a virtual scan, with the table's positions, so that its provider need not make all rows.
fn equalities(filter: &Expr, columns: &[usize], run: &Run<'_>) -> Vec<(usize, Datum)> {
    let conditions = if let Expr::And(list) = filter { list.as_slice() } else { std::slice::from_ref(filter) };
    let equality = |condition: &Expr| {
        let Expr::Call { func, args, .. } = condition else { return None };
        let (Some(CompareOp::Eq), [Expr::Column(slot, _), value]) = (func.compare, args.as_slice()) else { return None };
        matches!(value, Expr::Const(..) | Expr::Param(..)).then_some(())?;
        Some((*columns.get(*slot)?, eval(value, &[], &run.eval()).ok()?))
    };
    conditions.iter().filter_map(equality).collect()
}

/// The rows of a common table expression, evaluated when first asked for.
pub(super) async fn cte_rows(number: usize, run: &mut Run<'_>) -> Result<Arc<RowBatch>, SqlError> {
    let known = run.ctes.get(number).ok_or_else(misfit)?;
    if let Some(rows) = &known.rows {
        return Ok(Arc::clone(rows));
    }
    if known.filling {
        return Err(SqlError::new(SqlState::INVALID_RECURSION, "a common table expression reads itself while it is evaluated"));
    }
    let plan = Arc::clone(&run.plan);
    let cte = plan.ctes.get(number).ok_or_else(misfit)?;
    run.ctes[number].filling = true;
    let outer = std::mem::replace(&mut run.inside_cte, true);
    let result = Box::pin(evaluate(cte, number, run)).await;
    run.inside_cte = outer;
    let rows = Arc::new(result?);
    run.ctes[number] = CteRows { rows: Some(Arc::clone(&rows)), ..CteRows::default() };
    Ok(rows)
}

async fn evaluate(cte: &CtePlan, number: usize, run: &mut Run<'_>) -> Result<RowBatch, SqlError> {
    let mut all = Operator::open(&cte.plan).collect(&cte.plan, run).await?;
    let Some(term) = &cte.recursive else { return Ok(all) };
    let mut seen = (!term.all).then(|| KeyTable::new(cte.plan.types.iter().map(|column| column.ty).collect()));
    if let Some(seen) = &mut seen {
        all.retain(|row| seen.insert(row).map(|(_, new)| new))?;
    }
    let mut memory = super::batch::MemoryUse::default();
    let mut work = all.clone();
    for _ in 0..RECURSION_ROUNDS_MAX {
        if work.is_empty() {
            return Ok(all);
        }
        run.ctes[number].work = Arc::new(work);
        let mut round = Operator::open(&term.plan).collect(&term.plan, run).await?;
        if let Some(seen) = &mut seen {
            round.retain(|row| seen.insert(row).map(|(_, new)| new))?;
        }
        memory.grow(round.bytes())?;
        all.append(round.clone());
        work = round;
    }
    Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, format!("a recursive query took more than {RECURSION_ROUNDS_MAX} rounds")))
}

/// Calls under way, of a FunctionScan or for one row of a ProjectSet.
#[derive(Default)]
pub(crate) struct FunctionScanState {
    calls: Option<Vec<Option<SetRows>>>,
    ordinal: i64,
}

/// Starts the calls over a row.
pub(super) async fn start_calls(functions: &[TableFunction], row: &[Datum], run: &mut Run<'_>) -> Result<Vec<Option<SetRows>>, SqlError> {
    let mut calls = Vec::with_capacity(functions.len());
    for function in functions {
        calls.push(Some(match &function.call {
            TableFunctionCall::Set { function, args } => {
                let context = run.eval();
                let args = args.iter().map(|arg| eval(arg, row, &context)).collect::<Result<Vec<_>, _>>()?;
                function.call(&context, &args)?
            }
            TableFunctionCall::Scalar(expr) => {
                let value = eval(expr, row, &run.eval())?;
                Box::new(std::iter::once(Ok(value)))
            }
            TableFunctionCall::User { function, args } => {
                let context = run.eval();
                let args = args.iter().map(|arg| eval(arg, row, &context)).collect::<Result<Vec<_>, _>>()?;
                let values = super::functions::call(function, args, &mut run.ctx).await?;
                Box::new(values.into_iter().map(Ok))
            }
        }));
    }
    Ok(calls)
}

/// The next row of all calls side by side, NULLs where one has ended; false when all have.
pub(super) fn next_of_calls(calls: &mut [Option<SetRows>], functions: &[TableFunction], out: &mut Vec<Datum>) -> Result<bool, SqlError> {
    let from = out.len();
    let mut any = false;
    for (call, function) in calls.iter_mut().zip(functions) {
        let value = match call.as_mut().and_then(Iterator::next) {
            Some(value) => Some(value?),
            None => {
                *call = None;
                None
            }
        };
        any |= value.is_some();
        let width = function.types.len();
        match value {
            Some(Datum::Record(fields)) if function.types.first().is_none_or(|t| t.ty != crate::types::DataType::RECORD) => {
                out.extend((0..width).map(|i| fields.get(i).cloned().unwrap_or(Datum::Null)));
            }
            // A row that is not there, of a function that gives one.
            Some(Datum::Null) => out.extend(std::iter::repeat_n(Datum::Null, width)),
            Some(value) => out.push(value),
            None => out.extend(std::iter::repeat_n(Datum::Null, width)),
        }
    }
    if !any {
        out.truncate(from);
    }
    Ok(any)
}

impl FunctionScanState {
    pub(super) async fn next(
        &mut self,
        functions: &[TableFunction],
        ordinality: bool,
        plan: &Plan,
        run: &mut Run<'_>,
    ) -> Result<Option<RowBatch>, SqlError> {
        let calls = match &mut self.calls {
            Some(calls) => calls,
            none => none.insert(start_calls(functions, &[], run).await?),
        };
        let mut batch = RowBatch::new(plan.types.len());
        while batch.len() < BATCH_ROWS {
            let mut row = Vec::with_capacity(batch.width());
            if !next_of_calls(calls, functions, &mut row)? {
                break;
            }
            self.ordinal += 1;
            if ordinality {
                row.push(Datum::Int8(self.ordinal));
            }
            batch.push(row);
        }
        Ok((!batch.is_empty()).then_some(batch))
    }
}
