//! Planning, one kind of logical node at a time: sources, filters, projections. See `grouping` and `ordering` for the others.

use super::access::Target;
use super::cost::{HASH, ROW, only};
use super::lower::{Frame, ids, must_be_lifted};
use super::{Planner, Sub, Want};
use crate::ast::SetOp;
use crate::bind::{ColumnId, Logical};
use crate::catalog::TableDescriptor;
use crate::error::SqlError;
use crate::expr::Expr;
use crate::functions::Volatility;
use crate::parse::{STACK_GROWTH, STACK_RED_ZONE};
use crate::plan::{Estimate, JoinType, PlanNode, Scan, SortKey, TableFunction, TableFunctionCall};
use crate::types::Datum;
use std::sync::Arc;

/// Rows assumed of a function.
const FUNCTION_ROWS: f64 = 100.0;

/// One condition of several.
pub(super) fn conjunction(mut list: Vec<Expr>) -> Option<Expr> {
    match list.len() {
        0 => None,
        1 => list.pop(),
        _ => Some(Expr::And(list)),
    }
}

/// Columns in a fixed order, each once.
pub(super) fn union(mut ids: Vec<ColumnId>) -> Vec<ColumnId> {
    ids.sort_unstable();
    ids.dedup();
    ids
}

fn is_false(expr: &Expr) -> bool {
    matches!(expr, Expr::Const(Datum::Bool(false) | Datum::Null, _))
}

impl Planner<'_> {
    /// Plans a node. The result has what is needed (perhaps more) and meets the filters; the rest of the wishes is reported.
    pub(super) fn relation(&mut self, node: Logical, mut want: Want) -> Result<Sub, SqlError> {
        want.filters.retain(|f| !matches!(f, Expr::Const(Datum::Bool(true), _)));
        if want.filters.iter().any(is_false) {
            let layout = want.needed;
            let mut sub = self.sub(PlanNode::Empty, layout, Estimate::default());
            (sub.ordered, sub.single) = (true, true);
            return Ok(sub);
        }
        stacker::maybe_grow(STACK_RED_ZONE, STACK_GROWTH, || self.relation_here(node, want))
    }

    fn relation_here(&mut self, node: Logical, mut want: Want) -> Result<Sub, SqlError> {
        match node {
            Logical::OneRow => {
                let estimate = Estimate { rows: 1.0, total: ROW, ..Estimate::default() };
                let mut sub = self.sub(PlanNode::OneRow, Vec::new(), estimate);
                (sub.ordered, sub.single) = (true, true);
                self.filtered(sub, want.filters)
            }
            Logical::Get { table, alias, columns } => self.get(&table, &alias, &columns, want),
            Logical::Virtual { table, alias, columns } => self.virtual_scan(table, alias, columns, want),
            Logical::Function { functions, ordinality, alias, columns } => self.function_scan(functions, ordinality, alias, columns, want),
            Logical::Cte { cte, work_table, alias, columns } => self.cte(cte, work_table, alias, columns, want),
            Logical::Values { rows, columns } => self.values(rows, columns, want),
            Logical::Filter { input, predicates } => {
                want.filters.extend(predicates);
                self.joined_or_filtered(*input, want)
            }
            node @ Logical::Join { .. } => self.joined_or_filtered(node, want),
            Logical::Project { input, exprs } => self.project(*input, exprs, want),
            Logical::ProjectSet { input, functions } => self.project_set(*input, functions, want),
            Logical::Aggregate { input, group, sets, aggregates, set_number } => {
                self.aggregate(*input, group, sets, aggregates, set_number, want)
            }
            Logical::Window { input, windows } => self.window(*input, windows, want),
            Logical::Distinct { input, keys } => self.distinct_rows(*input, keys, want),
            Logical::Sort { input, keys } => self.sort(*input, keys, want),
            Logical::Limit { input, limit, offset, ties } => self.limit(*input, limit, offset, ties, want),
            Logical::Lock { input, targets } => self.lock(*input, targets, want),
            Logical::Append { inputs, columns } => self.append(inputs, columns, want),
            Logical::SetOp { op, all, left, left_columns, right, right_columns, columns } => {
                let left = self.exact(*left, &left_columns)?;
                let right = self.exact(*right, &right_columns)?;
                let rows = if op == SetOp::Intersect { left.estimate.rows.min(right.estimate.rows) } else { left.estimate.rows };
                let total = left.estimate.total + right.estimate.total + (left.estimate.rows + right.estimate.rows) * HASH;
                let estimate = Estimate { rows, startup: total, total, width: self.width(&columns) };
                let sub = self.sub(PlanNode::SetOp { op, all, left: Box::new(left), right: Box::new(right) }, columns, estimate);
                self.filtered(sub, want.filters)
            }
            Logical::Insert(insert) => self.insert(*insert),
            Logical::Update(update) => self.update(*update),
            Logical::Merge(merge) => self.merge(*merge),
            Logical::Delete(delete) => self.delete(*delete),
        }
    }

    /// Puts conditions above a plan: the plain ones first, so that subqueries run for fewer rows.
    pub(super) fn filtered(&mut self, sub: Sub, filters: Vec<Expr>) -> Result<Sub, SqlError> {
        let (mut lifted, plain): (Vec<Expr>, Vec<Expr>) = filters.into_iter().partition(must_be_lifted);
        let sub = self.plain_filter(sub, &plain)?;
        if lifted.is_empty() {
            return Ok(sub);
        }
        let sub = self.lift(sub, &mut lifted.iter_mut().collect::<Vec<_>>())?;
        self.plain_filter(sub, &lifted)
    }

    fn plain_filter(&mut self, sub: Sub, filters: &[Expr]) -> Result<Sub, SqlError> {
        let lowered = self.lower_all(filters, &sub.layout)?;
        let Some(predicate) = conjunction(lowered) else { return Ok(sub) };
        let before = sub.plan.estimate;
        let estimate =
            Estimate { rows: before.rows * self.selectivity_of(filters), total: before.total + before.rows * ROW * 0.25, ..before };
        let plan = self.node(PlanNode::Filter { input: Box::new(sub.plan), predicate }, &sub.layout, estimate);
        // Rows that were locked or counted below may be dropped here.
        Ok(Sub { plan, limited: false, locked: false, ..sub })
    }

    // ---- sources

    pub(super) fn get(&mut self, table: &Arc<TableDescriptor>, alias: &str, columns: &[ColumnId], want: Want) -> Result<Sub, SqlError> {
        self.aliases.extend(columns.iter().map(|id| (*id, alias.to_owned())));
        let (lifted, filters): (Vec<Expr>, Vec<Expr>) = want.filters.into_iter().partition(must_be_lifted);
        let needed = union([want.needed, self.mentioned_by(&lifted)].concat());
        let needed: Vec<ColumnId> = needed.into_iter().filter(|id| columns.contains(id)).collect();
        let lock = want.lock.filter(|wish| columns.first() == Some(&wish.first_column) && lifted.is_empty()).map(|wish| wish.lock);
        let limit = if lifted.is_empty() { want.limit.as_ref() } else { None };
        let expressions = self.indexed_expressions(table, columns);
        self.note_constants(&expressions);
        let choice = self.best_access(&Target {
            table,
            columns,
            expressions: &expressions,
            filters: &filters,
            known: &|id| !columns.contains(&id),
            needed: &needed,
            order: &want.order,
            limit,
            locking: lock.is_some(),
        });
        let residual: Vec<Expr> =
            filters.iter().enumerate().filter(|(n, _)| !choice.consumed.contains(n)).map(|(_, f)| f.clone()).collect();
        let used = union([needed, residual.iter().flat_map(ids).filter(|id| columns.contains(id)).collect()].concat());
        let positions: Vec<usize> = (0..columns.len()).filter(|p| used.contains(&columns[*p])).collect();
        let layout: Vec<ColumnId> = positions.iter().map(|p| columns[*p]).collect();
        let filter = conjunction(self.lower_all(&residual, &layout)?);
        let access = self.lower_access(choice.access)?;
        let count = limit.filter(|_| choice.ordered && !choice.single).and_then(|l| l.count.clone());
        let limited = count.is_some();
        let scan = Scan {
            table: table.clone(),
            alias: alias.to_owned(),
            index: choice.index,
            covering: choice.covering,
            access,
            columns: positions,
            filter,
            reverse: choice.reverse,
            limit: count,
            lock,
        };
        let rows = limit.filter(|_| limited).map_or(choice.rows, |l| choice.rows.min(l.rows));
        let estimate = Estimate { rows: rows.max(1.0), startup: 0.0, total: choice.cost, width: self.width(&layout) };
        let mut sub = self.sub(PlanNode::Scan(Box::new(scan)), layout, estimate);
        (sub.ordered, sub.limited, sub.locked, sub.single) = (choice.ordered, limited, lock.is_some(), choice.single);
        self.filtered(sub, lifted)
    }

    fn virtual_scan(
        &mut self,
        table: Arc<crate::catalog::VirtualTable>,
        alias: String,
        columns: Vec<ColumnId>,
        want: Want,
    ) -> Result<Sub, SqlError> {
        let (lifted, filters): (Vec<Expr>, Vec<Expr>) = want.filters.into_iter().partition(must_be_lifted);
        let used = [want.needed, self.mentioned_by(&filters), self.mentioned_by(&lifted)].concat();
        self.aliases.extend(columns.iter().map(|id| (*id, alias.clone())));
        let positions: Vec<usize> = (0..columns.len()).filter(|p| used.contains(&columns[*p])).collect();
        let layout: Vec<ColumnId> = positions.iter().map(|p| columns[*p]).collect();
        let filter = conjunction(self.lower_all(&filters, &layout)?);
        let rows = crate::catalog::stats::DEFAULT_ROW_COUNT;
        let estimate = Estimate { rows: (rows * self.selectivity_of(&filters)).max(1.0), total: rows * ROW, ..Estimate::default() };
        let sub = self.sub(PlanNode::VirtualScan { table, columns: positions, filter, alias }, layout, estimate);
        self.filtered(sub, lifted)
    }

    fn lower_function(&mut self, function: &TableFunction, layout: &[ColumnId]) -> Result<TableFunction, SqlError> {
        let call = match &function.call {
            TableFunctionCall::Set { function, args } => {
                TableFunctionCall::Set { function: function.clone(), args: self.lower_all(args, layout)? }
            }
            TableFunctionCall::Scalar(expr) => TableFunctionCall::Scalar(self.lower(expr, layout)?),
            TableFunctionCall::User { function, args } => {
                TableFunctionCall::User { function: function.clone(), args: self.lower_all(args, layout)? }
            }
        };
        Ok(TableFunction { call, types: function.types.clone() })
    }

    fn function_scan(
        &mut self,
        mut functions: Vec<TableFunction>,
        ordinality: bool,
        alias: String,
        columns: Vec<ColumnId>,
        want: Want,
    ) -> Result<Sub, SqlError> {
        let waits = function_args(&mut functions).iter().any(|e| must_be_lifted(e));
        let estimate = Estimate { rows: FUNCTION_ROWS, total: FUNCTION_ROWS * ROW, ..Estimate::default() };
        if waits {
            // Arguments that need running first: the functions are called for the row that has their values.
            let one = self.relation(Logical::OneRow, Want::default())?;
            let one = self.lift(one, &mut function_args(&mut functions))?;
            self.frames.push(Frame { layout: one.layout.clone(), ..Frame::default() });
            let lowered: Result<_, SqlError> = functions.iter().map(|f| self.lower_function(f, &[])).collect();
            let frame = self.frames.pop().unwrap_or_default();
            let right = self.sub(PlanNode::FunctionScan { functions: lowered?, ordinality, alias }, columns.clone(), estimate);
            let layout = [one.layout, columns].concat();
            let (left, right, kind) = (Box::new(one.plan), Box::new(right.plan), JoinType::Inner);
            let node = PlanNode::NestedLoopJoin { left, right, kind, bindings: frame.bindings, on: None };
            let sub = self.sub(node, layout, estimate);
            return self.filtered(sub, want.filters);
        }
        let lowered = functions.iter().map(|f| self.lower_function(f, &[])).collect::<Result<_, _>>()?;
        let sub = self.sub(PlanNode::FunctionScan { functions: lowered, ordinality, alias }, columns, estimate);
        self.filtered(sub, want.filters)
    }

    fn cte(&mut self, cte: usize, work_table: bool, alias: String, columns: Vec<ColumnId>, want: Want) -> Result<Sub, SqlError> {
        if !work_table && self.is_inlined(cte) {
            let bound = self.bound_ctes[cte].clone();
            let exprs = columns.iter().zip(&bound.columns).map(|(new, old)| (*new, Expr::Column(*old, self.columns[*old].ty))).collect();
            return self.relation(Logical::Project { input: Box::new(bound.plan), exprs }, want);
        }
        if !work_table && self.ctes[cte].as_ref().is_none_or(|known| known.correlated) && !self.cte_free_columns(cte).is_empty() {
            self.plan_cte(cte, true)?;
        }
        let rows = self.ctes[cte].as_ref().map_or(FUNCTION_ROWS, |c| c.plan.estimate.rows);
        let estimate = Estimate { rows, total: rows * ROW, ..Estimate::default() };
        let node = if work_table { PlanNode::WorkTableScan { cte, alias } } else { PlanNode::CteScan { cte, alias } };
        let sub = self.sub(node, columns, estimate);
        self.filtered(sub, want.filters)
    }

    fn values(&mut self, mut rows: Vec<Vec<Expr>>, columns: Vec<ColumnId>, want: Want) -> Result<Sub, SqlError> {
        let lifted: Vec<usize> = (0..columns.len()).filter(|at| rows.iter().any(|row| must_be_lifted(&row[*at]))).collect();
        let sub = if lifted.is_empty() {
            self.plain_values(&rows, columns)?
        } else if let [row] = rows.as_mut_slice() {
            self.computed_row(std::mem::take(row), columns)?
        } else if lifted.iter().all(|at| rows.iter().all(|row| super::write::same_default(&row[*at], &rows[0][*at]))) {
            // `nextval` as a default: the same call for each row, above the values.
            let mut exprs: Vec<Expr> = lifted.iter().map(|at| rows[0][*at].clone()).collect();
            let kept: Vec<usize> = (0..columns.len()).filter(|at| !lifted.contains(at)).collect();
            let rest: Vec<Vec<Expr>> = rows.iter().map(|row| kept.iter().map(|at| row[*at].clone()).collect()).collect();
            let sub = self.plain_values(&rest, kept.iter().map(|at| columns[*at]).collect())?;
            let sub = self.lift(sub, &mut exprs.iter_mut().collect::<Vec<_>>())?;
            let mut lowered = Vec::with_capacity(columns.len());
            for (at, id) in columns.iter().enumerate() {
                lowered.push(match lifted.iter().position(|l| *l == at) {
                    Some(n) => self.lower(&exprs[n], &sub.layout)?,
                    None => self.slot(*id, &sub.layout)?,
                });
            }
            self.projected(sub, lowered, columns)
        } else {
            let mut inputs = Vec::with_capacity(rows.len());
            for row in rows {
                inputs.push(self.computed_row(row, columns.clone())?.plan);
            }
            let estimate =
                Estimate { rows: inputs.len() as f64, total: inputs.iter().map(|p| p.estimate.total).sum(), ..Estimate::default() };
            self.sub(PlanNode::Append(inputs), columns, estimate)
        };
        self.filtered(sub, want.filters)
    }

    fn plain_values(&mut self, rows: &[Vec<Expr>], columns: Vec<ColumnId>) -> Result<Sub, SqlError> {
        let lowered = rows.iter().map(|row| self.lower_all(row, &[])).collect::<Result<Vec<_>, _>>()?;
        let count = rows.len() as f64;
        let estimate = Estimate { rows: count, total: count * ROW, width: self.width(&columns), ..Estimate::default() };
        let single = rows.len() == 1;
        let sub = self.sub(PlanNode::Values(lowered), columns, estimate);
        Ok(Sub { single, ..sub })
    }

    fn computed_row(&mut self, mut row: Vec<Expr>, columns: Vec<ColumnId>) -> Result<Sub, SqlError> {
        let one = self.relation(Logical::OneRow, Want::default())?;
        let one = self.lift(one, &mut row.iter_mut().collect::<Vec<_>>())?;
        let exprs = self.lower_all(&row, &one.layout)?;
        Ok(self.projected(one, exprs, columns))
    }

    // ---- projection

    /// Conditions and orders over the projected columns become ones over what they are made of.
    fn project(&mut self, input: Logical, exprs: Vec<(ColumnId, Expr)>, want: Want) -> Result<Sub, SqlError> {
        let passes = |id: ColumnId, expr: &Expr| matches!(expr, Expr::Column(source, _) if *source == id);
        let movable = |expr: &Expr| !must_be_lifted(expr) && expr.volatility() != Volatility::Volatile;
        let source = |id: ColumnId| exprs.iter().find(|(known, _)| *known == id).map(|(_, e)| e);
        let (down, above): (Vec<Expr>, Vec<Expr>) =
            want.filters.into_iter().partition(|f| !must_be_lifted(f) && only(f, |id| source(id).is_none_or(movable)));
        let substitute = |mut expr: Expr| {
            expr.walk_mut(&mut |e| {
                if let Expr::Column(id, _) = e
                    && let Some(made_of) = source(*id)
                {
                    *e = made_of.clone();
                }
            });
            expr
        };
        let kept: Vec<(ColumnId, Expr)> = {
            let wanted = union([want.needed.clone(), self.mentioned_by(&above)].concat());
            exprs.iter().filter(|(id, _)| wanted.contains(id)).cloned().collect()
        };
        let order: Vec<SortKey> = want.order.iter().map(|k| SortKey { expr: substitute(k.expr.clone()), ..k.clone() }).collect();
        let mut needed: Vec<ColumnId> = Vec::new();
        for (_, expr) in &kept {
            needed.extend(self.mentioned(expr));
        }
        let limit = if above.is_empty() { want.limit } else { None };
        let inner = Want { needed: union(needed), filters: down.into_iter().map(substitute).collect(), order, limit, lock: want.lock };
        let sub = self.relation(input, inner)?;
        if kept.iter().all(|(id, e)| passes(*id, e) && sub.layout.contains(id)) {
            return self.filtered(sub, above);
        }
        let (layout, mut values): (Vec<ColumnId>, Vec<Expr>) = kept.into_iter().unzip();
        let sub = self.lift(sub, &mut values.iter_mut().collect::<Vec<_>>())?;
        let lowered = self.lower_all(&values, &sub.layout)?;
        let sub = self.projected(sub, lowered, layout);
        self.filtered(sub, above)
    }

    /// Ids that an expression needs from its input, those inside of subqueries too.
    pub(super) fn mentioned(&self, expr: &Expr) -> Vec<ColumnId> {
        let mut found = ids(expr);
        let mut numbers = Vec::new();
        expr.walk(&mut |e| {
            if let Expr::Subquery(number, _) = e {
                numbers.push(*number);
            }
        });
        for number in numbers {
            found.extend(self.subquery_free_columns(number));
        }
        found
    }

    pub(super) fn mentioned_by(&self, exprs: &[Expr]) -> Vec<ColumnId> {
        exprs.iter().flat_map(|e| self.mentioned(e)).collect()
    }

    fn project_set(&mut self, input: Logical, mut functions: Vec<(ColumnId, TableFunction)>, want: Want) -> Result<Sub, SqlError> {
        let mut list: Vec<TableFunction> = functions.iter().map(|(_, f)| f.clone()).collect();
        let mut needed = want.needed;
        needed.extend(self.mentioned_by(&want.filters));
        for arg in function_args(&mut list) {
            needed.extend(self.mentioned(arg));
        }
        let sub = self.relation(input, Self::want(union(needed)))?;
        let mut args: Vec<&mut Expr> = functions.iter_mut().flat_map(|(_, f)| function_args(std::slice::from_mut(f))).collect();
        let sub = self.lift(sub, &mut args)?;
        let lowered = functions.iter().map(|(_, f)| self.lower_function(f, &sub.layout)).collect::<Result<_, _>>()?;
        let layout = [sub.layout, functions.iter().map(|(id, _)| *id).collect()].concat();
        let rows = sub.plan.estimate.rows * 10.0;
        let estimate = Estimate { rows, total: sub.plan.estimate.total + rows * ROW, ..sub.plan.estimate };
        let sub = self.sub(PlanNode::ProjectSet { input: Box::new(sub.plan), functions: lowered }, layout, estimate);
        self.filtered(sub, want.filters)
    }
}

pub(super) fn function_args(functions: &mut [TableFunction]) -> Vec<&mut Expr> {
    let mut found = Vec::new();
    for function in functions {
        match &mut function.call {
            TableFunctionCall::Set { args, .. } | TableFunctionCall::User { args, .. } => found.extend(args.iter_mut()),
            TableFunctionCall::Scalar(expr) => found.push(expr),
        }
    }
    found
}
