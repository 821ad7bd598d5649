//! Values that must be computed by running something: subqueries, and functions that wait.

use super::batch::BATCH_ROWS;
use super::context::{Run, misfit};
use super::key_table::KeyTable;
use super::operator::Operator;
use super::{RowBatch, sequence};
use crate::error::{SqlError, SqlState};
use crate::expr::{eval, eval_bool, eval_into};
use crate::functions::Waits;
use crate::plan::{Binding, Plan, SubPlan, SubPlanKind, SubPlans};
use crate::types::{DataType, Datum};
use std::sync::Arc;
use std::time::Duration;

/// The input, and the values.
pub(crate) struct SubPlansState {
    input: Operator,
    /// The whole input, where a call may change rows that it has still to read.
    read_first: Option<RowBatch>,
    given: usize,
    values: SubPlanValues,
}

/// Values of subqueries and waiting calls over rows, and what is known of those that do not depend on the row.
#[derive(Default)]
pub(super) struct SubPlanValues {
    known: Vec<Known>,
}

#[derive(Default)]
enum Known {
    #[default]
    Nothing,
    Value(Datum),
    Rows(Arc<RowBatch>),
    Set(Arc<HashedRows>),
    /// Of the parts of a lazy expression.
    Nested(Box<SubPlanValues>),
}

/// The rows of `x IN (subquery)`, hashed by their equal sides.
struct HashedRows {
    keys: KeyTable,
    /// Some row has a NULL in its key.
    has_null: bool,
    is_empty: bool,
}

impl SubPlansState {
    pub(super) fn new(node: &SubPlans) -> SubPlansState {
        SubPlansState { input: Operator::open(&node.input), read_first: None, given: 0, values: SubPlanValues::default() }
    }

    pub(super) async fn next(&mut self, node: &SubPlans, run: &mut Run<'_>) -> Result<Option<RowBatch>, SqlError> {
        let Some(mut batch) = self.input_rows(node, run).await? else { return Ok(None) };
        let width = batch.width() + node.list.len();
        let mut out = RowBatch::new(width);
        let mut numbers = sequence_numbers(node, batch.len(), run).await?;
        for at in 0..batch.len() {
            let mut row = batch.take_row(at);
            for (number, sub) in node.list.iter().enumerate() {
                let ahead = numbers.get_mut(number).and_then(|values| values.as_mut()).and_then(Iterator::next);
                let value = match ahead {
                    Some(value) => Datum::Int8(value),
                    None => self.values.value(number, sub, &row, run).await?,
                };
                row.push(value);
            }
            out.push(row);
        }
        debug_assert!(out.len() <= BATCH_ROWS.max(batch.len()));
        Ok(Some(out))
    }

    async fn input_rows(&mut self, node: &SubPlans, run: &mut Run<'_>) -> Result<Option<RowBatch>, SqlError> {
        if self.read_first.is_none() {
            if !calls_may_write(&node.list, run)? {
                return self.input.next(&node.input, run).await;
            }
            self.read_first = Some(self.input.collect(&node.input, run).await?);
        }
        let Some(all) = &mut self.read_first else { return Err(misfit()) };
        let end = (self.given + BATCH_ROWS).min(all.len());
        let mut batch = RowBatch::new(all.width());
        (self.given..end).for_each(|at| batch.push_slice(all.row(at)));
        self.given = end;
        Ok((!batch.is_empty()).then_some(batch))
    }
}

/// May a function in the list write rows?
fn calls_may_write(list: &[SubPlan], run: &Run<'_>) -> Result<bool, SqlError> {
    for sub in list {
        let writes = match &sub.kind {
            SubPlanKind::UserCall { function, .. } => super::functions::may_write(function, &run.ctx)?,
            SubPlanKind::Lazy { nested, .. } => calls_may_write(nested, run)?,
            _ => false,
        };
        if writes {
            return Ok(true);
        }
    }
    Ok(false)
}

impl SubPlanValues {
    /// Appends the value of each to a row.
    pub(super) async fn append(&mut self, list: &[SubPlan], row: &mut Vec<Datum>, run: &mut Run<'_>) -> Result<(), SqlError> {
        for (number, sub) in list.iter().enumerate() {
            let value = self.value(number, sub, row, run).await?;
            row.push(value);
        }
        Ok(())
    }

    /// The value of one of them, for a row.
    pub(super) async fn value(&mut self, number: usize, sub: &SubPlan, row: &[Datum], run: &mut Run<'_>) -> Result<Datum, SqlError> {
        let once = sub.bindings.is_empty() && !matches!(sub.kind, SubPlanKind::UserCall { .. } | SubPlanKind::Lazy { .. });
        bind_all(&sub.bindings, row, run)?;
        if self.known.len() <= number {
            self.known.resize_with(number + 1, Known::default);
        }
        let known = self.known.get_mut(number).ok_or_else(misfit)?;
        if let (Known::Value(value), true) = (&*known, once) {
            return Ok(value.clone());
        }
        let value = match &sub.kind {
            SubPlanKind::Scalar(plan) => match single_row(plan, run).await? {
                Some(row) => row.into_iter().next().unwrap_or(Datum::Null),
                None => Datum::Null,
            },
            SubPlanKind::Row(plan) => single_row(plan, run).await?.map_or(Datum::Null, Datum::record),
            SubPlanKind::Exists(plan) => Datum::Bool(Operator::open(plan).next(plan, run).await?.is_some()),
            SubPlanKind::Array(plan) => array_of_rows(plan, sub, run).await?,
            SubPlanKind::Quantified { plan, test, all, hash } => {
                let hash = hash.as_deref().filter(|_| once && !*all);
                return quantified(known, plan, test, *all, hash, once, row, run).await;
            }
            SubPlanKind::UserCall { function, args } => {
                let settled =
                    function.descriptor.volatility != crate::functions::Volatility::Volatile && args.iter().all(|arg| is_settled(arg, run));
                if let (Known::Value(value), true) = (&*known, settled) {
                    return Ok(value.clone());
                }
                let context = run.eval();
                let args = args.iter().map(|arg| eval(arg, row, &context)).collect::<Result<Vec<_>, _>>()?;
                let value = super::functions::call(function, args, &mut run.ctx).await?.into_iter().next().unwrap_or(Datum::Null);
                if settled {
                    *known = Known::Value(value.clone());
                }
                return Ok(value);
            }
            SubPlanKind::Lazy { expr, nested, base } => {
                if !matches!(known, Known::Nested(_)) {
                    *known = Known::Nested(Box::default());
                }
                let Known::Nested(values) = known else { return Err(misfit()) };
                return super::lazy::value(expr, nested, *base, values, row, run).await;
            }
            SubPlanKind::Call { function, args } => {
                let context = run.eval();
                let args = args.iter().map(|arg| eval(arg, row, &context)).collect::<Result<Vec<_>, _>>()?;
                return call(function, &args, run).await;
            }
        };
        if once {
            *known = Known::Value(value.clone());
        }
        Ok(value)
    }
}

/// `nextval` of one sequence, once per row: the whole batch's numbers in one request.
async fn sequence_numbers(node: &SubPlans, rows: usize, run: &mut Run<'_>) -> Result<Vec<Option<std::vec::IntoIter<i64>>>, SqlError> {
    let mut numbers = Vec::new();
    let calls = node.list.iter().filter(|s| matches!(&s.kind, SubPlanKind::Call { .. })).count();
    for sub in &node.list {
        let SubPlanKind::Call { function, args } = &sub.kind else {
            numbers.push(None);
            continue;
        };
        let constant = match args.as_slice() {
            [arg]
                if function.name == "nextval"
                    && calls == 1
                    && arg.children().iter().all(|c| c.children().is_empty())
                    && !mentions_columns(arg) =>
            {
                match eval(arg, &[], &run.eval())? {
                    Datum::Oid(oid) => Some(oid),
                    _ => None,
                }
            }
            _ => None,
        };
        numbers.push(match constant {
            Some(oid) => Some(sequence::nextval(&mut run.ctx, oid, rows).await?.into_iter()),
            None => None,
        });
    }
    Ok(numbers)
}

/// Is it the same for all rows of this execution?
fn is_settled(expr: &crate::expr::Expr, run: &Run<'_>) -> bool {
    let mut settled = true;
    expr.walk(&mut |e| match e {
        crate::expr::Expr::Column(..) => settled = false,
        crate::expr::Expr::Param(at, _) => settled &= *at < run.plan.param_types.len(),
        _ => {}
    });
    settled
}

fn mentions_columns(expr: &crate::expr::Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| found |= matches!(e, crate::expr::Expr::Column(..)));
    found
}

/// Evaluates bindings over a row and stores them in their slots.
pub(super) fn bind_all(bindings: &[Binding], row: &[Datum], run: &mut Run<'_>) -> Result<(), SqlError> {
    for binding in bindings {
        let value = eval(&binding.value, row, &run.eval())?;
        run.bind(binding.slot, value);
    }
    if !bindings.is_empty() {
        forget_correlated(run);
    }
    Ok(())
}

/// CTEs that refer to an outer query were evaluated for another row of it.
fn forget_correlated(run: &mut Run<'_>) {
    for (cte, known) in run.plan.ctes.iter().zip(&mut run.ctes) {
        if cte.correlated {
            known.rows = None;
        }
    }
}

/// The only row; 21000 if there are more.
async fn single_row(plan: &Plan, run: &mut Run<'_>) -> Result<Option<Vec<Datum>>, SqlError> {
    let mut operator = Operator::open(plan);
    let mut found = None;
    while let Some(mut batch) = operator.next(plan, run).await? {
        if found.is_some() || batch.len() > 1 {
            return Err(SqlError::new(SqlState::CARDINALITY_VIOLATION, "more than one row returned by a subquery used as an expression"));
        }
        found = Some(batch.take_row(0));
    }
    Ok(found)
}

async fn array_of_rows(plan: &Plan, sub: &SubPlan, run: &mut Run<'_>) -> Result<Datum, SqlError> {
    let rows = Operator::open(plan).collect(plan, run).await?;
    let element = crate::types::element_of(sub.ty.ty).unwrap_or(DataType::TEXT);
    let values = rows.into_rows().into_iter().filter_map(|row| row.into_iter().next());
    Ok(Datum::array(element, values.collect()))
}

#[allow(clippy::too_many_arguments)] // the parts of one node
async fn quantified(
    known: &mut Known,
    plan: &Plan,
    test: &crate::expr::Expr,
    all: bool,
    hash: Option<&[(crate::expr::Expr, crate::expr::Expr)]>,
    once: bool,
    row: &[Datum],
    run: &mut Run<'_>,
) -> Result<Datum, SqlError> {
    if let Some(pairs) = hash {
        let set = match known {
            Known::Set(set) => Arc::clone(set),
            _ => {
                let set = Arc::new(hashed(plan, pairs, run).await?);
                *known = Known::Set(Arc::clone(&set));
                set
            }
        };
        return probe(&set, pairs, row, run);
    }
    let rows = match known {
        Known::Rows(rows) if once => Arc::clone(rows),
        _ => {
            let rows = Arc::new(Operator::open(plan).collect(plan, run).await?);
            if once {
                *known = Known::Rows(Arc::clone(&rows));
            }
            rows
        }
    };
    let context = run.eval();
    let mut unknown = false;
    let mut both = row.to_vec();
    for inner in rows.rows() {
        both.truncate(row.len());
        both.extend_from_slice(inner);
        match eval(test, &both, &context)? {
            Datum::Null => unknown = true,
            Datum::Bool(answer) if answer != all => return Ok(Datum::Bool(answer)),
            _ => {}
        }
    }
    Ok(if unknown { Datum::Null } else { Datum::Bool(all) })
}

async fn hashed(plan: &Plan, pairs: &[(crate::expr::Expr, crate::expr::Expr)], run: &mut Run<'_>) -> Result<HashedRows, SqlError> {
    let rows = Operator::open(plan).collect(plan, run).await?;
    let types = pairs.iter().map(|(_, right)| right.ty().ty).collect();
    let context = run.eval();
    let mut set = HashedRows { keys: KeyTable::new(types), has_null: false, is_empty: rows.is_empty() };
    let mut key = Vec::with_capacity(pairs.len());
    for row in rows.rows() {
        eval_into(pairs.iter().map(|(_, right)| right), row, &context, &mut key)?;
        set.has_null |= key.iter().any(Datum::is_null);
        set.keys.insert(&key)?;
    }
    Ok(set)
}

/// `row IN (set)`, with SQL's unknowns.
fn probe(set: &HashedRows, pairs: &[(crate::expr::Expr, crate::expr::Expr)], row: &[Datum], run: &Run<'_>) -> Result<Datum, SqlError> {
    if set.is_empty {
        return Ok(Datum::Bool(false));
    }
    let context = run.eval();
    let values = pairs.iter().map(|(left, _)| eval(left, row, &context)).collect::<Result<Vec<_>, _>>()?;
    let has_null = values.iter().any(Datum::is_null);
    if !has_null && set.keys.find(&values).is_some() {
        return Ok(Datum::Bool(true));
    }
    if !has_null && !set.has_null {
        return Ok(Datum::Bool(false));
    }
    // Some NULL: a pair of rows is unknown unless some column differs for certain.
    let types = || pairs.iter().map(|(_, right)| right.ty().ty);
    let possible = set.keys.keys().any(|key| {
        let columns = key.iter().zip(&values).zip(types());
        columns.into_iter().all(|((a, b), ty)| a.is_null() || b.is_null() || crate::types::compare::eq_as(ty, a, b))
    });
    Ok(if possible { Datum::Null } else { Datum::Bool(false) })
}

/// A function that waits.
async fn call(function: &'static crate::functions::BuiltinFunction, args: &[Datum], run: &mut Run<'_>) -> Result<Datum, SqlError> {
    if function.strict && args.iter().any(Datum::is_null) {
        return Ok(Datum::Null);
    }
    match (function.waits, function.name, args) {
        (Some(Waits::Sleep), _, [Datum::Float8(seconds)]) => {
            let seconds = if seconds.is_finite() { seconds.clamp(0.0, 1e9) } else { 0.0 };
            tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
            Ok(Datum::text(""))
        }
        (Some(Waits::Sequence), "nextval", [Datum::Oid(oid)]) => {
            Ok(sequence::nextval(&mut run.ctx, *oid, 1).await?.pop().map_or(Datum::Null, Datum::Int8))
        }
        (Some(Waits::Sequence), "setval", [Datum::Oid(oid), Datum::Int8(value), rest @ ..]) => {
            let called = !matches!(rest, [Datum::Bool(false)]);
            sequence::setval(&mut run.ctx, *oid, *value, called).await.map(Datum::Int8)
        }
        (Some(Waits::Sequence), "sequence_last_value", [Datum::Oid(oid)]) => Ok(Datum::Int8(sequence::state(&mut run.ctx, *oid).await?.0)),
        (Some(Waits::Sequence), "sequence_is_called", [Datum::Oid(oid)]) => Ok(Datum::Bool(sequence::state(&mut run.ctx, *oid).await?.1)),
        (Some(Waits::Sequence), "pg_sequence_last_value", [Datum::Oid(oid)]) => {
            let (last, called) = sequence::state(&mut run.ctx, *oid).await?;
            Ok(if called { Datum::Int8(last) } else { Datum::Null })
        }
        (Some(Waits::Lock), name, _) => crate::locks::advisory::call(name, args, &mut run.ctx).await,
        _ => (function.eval)(&run.eval(), args),
    }
}

/// Whether a condition over a row holds (kept here for joins that test bound rows).
pub(super) fn holds(on: Option<&crate::expr::Expr>, row: &[Datum], run: &Run<'_>) -> Result<bool, SqlError> {
    on.map_or(Ok(true), |on| eval_bool(on, row, &run.eval()))
}
