//! Queries: WITH, set operations, VALUES, ORDER BY over them, LIMIT.

use super::logical::{BoundCte, ColumnId};
use super::{Binder, Clause, Logical, SelectState, VisibleCte};
use crate::ast::{self, Cte, LockingClause, OrderItem, Query, SetExpr, SetOp, Statement, With};
use crate::error::{SqlError, SqlState};
use crate::expr::Expr;
use crate::parse::{STACK_GROWTH, STACK_RED_ZONE};
use crate::plan::SortKey;
use crate::types::coercion::{CastContext, can_cast, need_equality};
use crate::types::{ColumnType, DataType, common_type};

/// How deep queries may be nested in one another, in steps of binding (a subquery takes one or two).
const QUERY_DEPTH_MAX: usize = 100;

/// Result columns: names and ids.
pub(super) type Output = Vec<(String, ColumnId)>;

/// What the surroundings want of a query.
#[derive(Clone, Debug, Default)]
pub(super) struct Hints {
    /// INSERT ... SELECT: literals and parameters in the target list take these columns' types.
    pub(super) targets: Option<Vec<(String, ColumnType)>>,
    /// Leave unknown literals unknown: a set operation will decide.
    pub(super) keep_unknown: bool,
    /// Locking clauses of the query around it.
    pub(super) locking: Vec<LockingClause>,
}

impl Binder<'_> {
    pub(super) fn query(&mut self, query: &Query, hints: &Hints) -> Result<(Logical, Output), SqlError> {
        let ctes = self.visible_ctes.len();
        let bound = self.nested(|binder| binder.query_here(query, hints));
        self.visible_ctes.truncate(ctes);
        bound
    }

    /// One query inside of another. The plan will be as deep, and is walked by everything that follows.
    fn nested<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T, SqlError>) -> Result<T, SqlError> {
        if self.query_depth == QUERY_DEPTH_MAX {
            return Err(SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded")
                .hint(format!("Queries may be nested {QUERY_DEPTH_MAX} levels deep.")));
        }
        self.query_depth += 1;
        let result = stacker::maybe_grow(STACK_RED_ZONE, STACK_GROWTH, || run(self));
        self.query_depth -= 1;
        result
    }

    fn query_here(&mut self, query: &Query, hints: &Hints) -> Result<(Logical, Output), SqlError> {
        if let Some(with) = &query.with {
            self.with(with)?;
        }
        let locking = [query.locking.as_slice(), hints.locking.as_slice()].concat();
        let inner = Hints { locking, ..hints.clone() };
        let (mut plan, output, keys) = match &query.body {
            SetExpr::Select(select) => self.select(select, &query.order_by, &inner)?,
            body => {
                if let (Some(lock), false) = (query.locking.first(), matches!(body, SetExpr::Query(_) | SetExpr::Table(_))) {
                    let what = if matches!(body, SetExpr::Values(..)) { "VALUES" } else { "UNION/INTERSECT/EXCEPT" };
                    let clause = lock.strength.clause();
                    let message = if what == "VALUES" {
                        format!("{clause} cannot be applied to VALUES")
                    } else {
                        format!("{clause} is not allowed with {what}")
                    };
                    return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
                }
                let (plan, output) = self.set_expr(body, &inner)?;
                let keys = self.order_by_output(&query.order_by, &output)?;
                let plan = if keys.is_empty() { plan } else { Logical::Sort { input: Box::new(plan), keys: keys.clone() } };
                (plan, output, keys)
            }
        };
        if query.limit.is_some() || query.offset.is_some() {
            let limit = self.limit(query.limit.as_ref(), "LIMIT")?;
            let offset = self.limit(query.offset.as_ref(), "OFFSET")?;
            if query.with_ties && keys.is_empty() {
                return Err(SqlError::new(SqlState::SYNTAX_ERROR, "WITH TIES cannot be specified without ORDER BY clause"));
            }
            plan = Logical::Limit { input: Box::new(plan), limit, offset, ties: query.with_ties.then_some(keys) };
        }
        // What ORDER BY needed besides is gone behind it.
        if plan.output().len() != output.len() {
            let exprs = output.iter().map(|(_, id)| (*id, Expr::Column(*id, self.column_type_of(*id)))).collect();
            plan = Logical::Project { input: Box::new(plan), exprs };
        }
        Ok((plan, output))
    }

    fn limit(&mut self, expr: Option<&ast::Expr>, what: &str) -> Result<Option<Expr>, SqlError> {
        let Some(expr) = expr else { return Ok(None) };
        let scopes = std::mem::take(&mut self.scopes);
        let outer = std::mem::replace(&mut self.select, SelectState::new(Clause::Limit));
        let bound = self.expr(expr);
        (self.scopes, self.select) = (scopes, outer);
        let bound = bound.map_err(|error| match error.state() {
            SqlState::UNDEFINED_COLUMN => {
                SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, format!("argument of {what} must not contain variables")).at(expr.pos())
            }
            _ => error,
        })?;
        let from = bound.ty().ty;
        if !can_cast(from, DataType::INT8, CastContext::Assignment) {
            let message = format!("argument of {what} must be type bigint, not type {from}");
            return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message).at(expr.pos()));
        }
        self.coerce(bound, DataType::INT8, expr.pos()).map(Some)
    }

    /// ORDER BY where only result columns can be meant.
    fn order_by_output(&mut self, items: &[OrderItem], output: &Output) -> Result<Vec<SortKey>, SqlError> {
        let mut keys = Vec::with_capacity(items.len());
        for item in items {
            let id = match super::select::output_reference(&item.expr, output)? {
                Some(id) => id,
                None => {
                    let message = "invalid UNION/INTERSECT/EXCEPT ORDER BY clause";
                    return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message)
                        .detail("Only result column names can be used, not expressions or functions.")
                        .hint("Add the expression/function to every SELECT, or move the UNION into a FROM clause.")
                        .at(item.expr.pos()));
                }
            };
            let expr = Expr::Column(id, self.column_type_of(id));
            keys.push(SortKey { expr, descending: item.descending, nulls_first: item.nulls_first.unwrap_or(item.descending) });
        }
        Ok(keys)
    }

    fn set_expr(&mut self, body: &SetExpr, hints: &Hints) -> Result<(Logical, Output), SqlError> {
        self.nested(|binder| binder.set_expr_here(body, hints))
    }

    fn set_expr_here(&mut self, body: &SetExpr, hints: &Hints) -> Result<(Logical, Output), SqlError> {
        match body {
            SetExpr::Select(select) => self.select(select, &[], hints).map(|(plan, output, _)| (plan, output)),
            SetExpr::Query(query) => self.query(query, hints),
            SetExpr::Table(name) => {
                let from = vec![ast::TableRef::Table { name: name.clone(), sample: None, alias: None }];
                let select = ast::Select {
                    distinct: ast::Distinct::All,
                    items: vec![ast::SelectItem::Star(name.pos)],
                    from,
                    filter: None,
                    group_by: Vec::new(),
                    having: None,
                    windows: Vec::new(),
                };
                self.select(&select, &[], hints).map(|(plan, output, _)| (plan, output))
            }
            SetExpr::Values(rows, pos) => self.values(rows, *pos, hints),
            SetExpr::SetOp { op, all, left, right } => self.set_operation(*op, *all, left, right),
        }
    }

    fn values(&mut self, rows: &[Vec<ast::Expr>], pos: usize, hints: &Hints) -> Result<(Logical, Output), SqlError> {
        let outer = std::mem::replace(&mut self.select, SelectState::new(Clause::Values));
        let bound = rows.iter().map(|row| self.exprs(row)).collect::<Result<Vec<_>, _>>();
        self.select = outer;
        let mut rows = bound?;
        let width = rows.first().map_or(0, Vec::len);
        let mut columns = Vec::with_capacity(width);
        for at in 0..width {
            let column: Vec<Expr> = rows.iter().map(|row| row[at].clone()).collect();
            let all_unknown = column.iter().all(|e| e.ty().ty == DataType::UNKNOWN);
            let (column, ty) = match hints.targets.as_ref().and_then(|t| t.get(at)) {
                Some((_, ty)) if all_unknown => {
                    (column.into_iter().map(|e| self.coerce(e, ty.ty, pos)).collect::<Result<Vec<_>, _>>()?, ty.ty.into())
                }
                _ if all_unknown && hints.keep_unknown => (column, DataType::UNKNOWN.into()),
                _ => self.unify(column, "VALUES", pos)?,
            };
            for (row, value) in rows.iter_mut().zip(column) {
                row[at] = value;
            }
            let name = format!("column{}", at + 1);
            columns.push((name.clone(), self.new_column(name, ty)));
        }
        let ids = columns.iter().map(|(_, id)| *id).collect();
        Ok((Logical::Values { rows, columns: ids }, columns))
    }

    // ---- set operations

    /// A chain of one operation (UNION above all) is taken as a whole: it may be long, and must not be deep.
    fn set_operation(&mut self, op: SetOp, all: bool, left: &SetExpr, right: &SetExpr) -> Result<(Logical, Output), SqlError> {
        let mut arms = vec![right];
        let mut rest = left;
        if op == SetOp::Union {
            while let SetExpr::SetOp { op: SetOp::Union, all: same, left, right } = rest {
                if *same != all {
                    break;
                }
                arms.push(right);
                rest = left;
            }
        }
        arms.push(rest);
        arms.reverse();
        let leaf = Hints { keep_unknown: true, ..Hints::default() };
        let mut bound = Vec::with_capacity(arms.len());
        for arm in &arms {
            bound.push(self.set_expr(arm, &leaf)?);
        }
        let width = bound[0].1.len();
        if let Some(at) = bound.iter().position(|(_, output)| output.len() != width) {
            let message = format!("each {} query must have the same number of columns", op.name());
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(item_position(arms[at], 0)));
        }
        let mut types = Vec::with_capacity(width);
        for at in 0..width {
            let column: Vec<ColumnType> = bound.iter().map(|(_, output)| self.column_type_of(output[at].1)).collect();
            let place = || item_position(arms[arms.len() - 1], at);
            let common = common_type(&column.iter().map(|c| c.ty).collect::<Vec<_>>(), op.name()).map_err(|e| e.at(place()))?;
            types.push(super::coerce::common_column_type(common, column.into_iter()));
        }
        if !(op == SetOp::Union && all) {
            types.iter().try_for_each(|ty| need_equality(ty.ty))?;
        }
        let names: Vec<String> = bound[0].1.iter().map(|(name, _)| name.clone()).collect();
        let mut inputs = Vec::with_capacity(bound.len());
        for (plan, output) in bound {
            inputs.push(self.recast(plan, &output, &types)?);
        }
        let output: Output = names.into_iter().zip(&types).map(|(name, ty)| (name.clone(), self.new_column(name, *ty))).collect();
        let columns: Vec<ColumnId> = output.iter().map(|(_, id)| *id).collect();
        if op == SetOp::Union {
            let append = Logical::Append { inputs, columns };
            if all {
                return Ok((append, output));
            }
            let keys = output.iter().zip(&types).map(|((_, id), ty)| Expr::Column(*id, *ty)).collect();
            return Ok((Logical::Distinct { input: Box::new(append), keys }, output));
        }
        let (Some((right, right_columns)), Some((left, left_columns))) = (inputs.pop(), inputs.pop()) else {
            return Err(SqlError::new(SqlState::INTERNAL_ERROR, "a set operation without two sides"));
        };
        let plan = Logical::SetOp { op, all, left: Box::new(left), left_columns, right: Box::new(right), right_columns, columns };
        Ok((plan, output))
    }

    /// The query with its columns cast to the types; literals and parameters in its target list take them directly.
    pub(super) fn recast(&mut self, plan: Logical, output: &Output, types: &[ColumnType]) -> Result<(Logical, Vec<ColumnId>), SqlError> {
        if output.iter().zip(types).all(|((_, id), ty)| self.column_type_of(*id).ty == ty.ty) {
            return Ok((plan, output.iter().map(|(_, id)| *id).collect()));
        }
        match plan {
            Logical::Project { input, exprs } => {
                let mut recast = Vec::with_capacity(output.len());
                for ((name, id), ty) in output.iter().zip(types) {
                    let source =
                        exprs.iter().find(|(known, _)| known == id).map_or(Expr::Column(*id, self.column_type_of(*id)), |(_, e)| e.clone());
                    let value = self.cast_to(source, ty.ty.into(), false, 0)?;
                    let new = match &value {
                        Expr::Column(same, _) => *same,
                        _ => self.new_column(name.clone(), *ty),
                    };
                    recast.push((new, value));
                }
                let columns = recast.iter().map(|(id, _)| *id).collect();
                Ok((Logical::Project { input, exprs: recast }, columns))
            }
            Logical::Values { mut rows, columns } => {
                for (at, ty) in types.iter().enumerate() {
                    for row in &mut rows {
                        let value = std::mem::replace(&mut row[at], super::expr::truth(true));
                        row[at] = self.cast_to(value, ty.ty.into(), false, 0)?;
                    }
                    self.columns[columns[at]].ty = *ty;
                }
                Ok((Logical::Values { rows, columns: columns.clone() }, columns))
            }
            other => {
                let mut exprs = Vec::with_capacity(output.len());
                for ((name, id), ty) in output.iter().zip(types) {
                    let value = self.cast_to(Expr::Column(*id, self.column_type_of(*id)), ty.ty.into(), false, 0)?;
                    let new = if matches!(value, Expr::Column(..)) { *id } else { self.new_column(name.clone(), *ty) };
                    exprs.push((new, value));
                }
                let columns = exprs.iter().map(|(id, _)| *id).collect();
                Ok((Logical::Project { input: Box::new(other), exprs }, columns))
            }
        }
    }

    // ---- WITH

    pub(super) fn with(&mut self, with: &With) -> Result<(), SqlError> {
        for (at, cte) in with.ctes.iter().enumerate() {
            if with.ctes[..at].iter().any(|c| c.name.value == cte.name.value) {
                let message = format!("WITH query name \"{}\" specified more than once", cte.name.value);
                return Err(SqlError::new(SqlState::DUPLICATE_ALIAS, message).at(cte.name.pos));
            }
            let outer = std::mem::replace(&mut self.select, SelectState::new(Clause::From));
            let number = match (&cte.body, with.recursive) {
                (Statement::Query(query), true) => self.recursive_cte(cte, query),
                _ => self.plain_cte(cte),
            };
            self.select = outer;
            self.visible_ctes.push(VisibleCte { name: cte.name.value.clone(), number: number?, in_recursion: false, refused: None });
        }
        Ok(())
    }

    fn plain_cte(&mut self, cte: &Cte) -> Result<usize, SqlError> {
        let ((plan, output), writes) = match &cte.body {
            Statement::Query(query) => (self.query(query, &Hints::default())?, false),
            Statement::Insert(insert) => (self.insert(insert)?, true),
            Statement::Update(update) => (self.update(update)?, true),
            Statement::Delete(delete) => (self.delete(delete)?, true),
            other => return Err(SqlError::unsupported(format!("{} in WITH", other.tag()))),
        };
        let columns = self.cte_columns(cte, output)?;
        self.ctes.push(BoundCte {
            name: cte.name.value.clone(),
            plan,
            columns,
            recursive: None,
            writes,
            materialized: cte.materialized,
            references: 0,
        });
        Ok(self.ctes.len() - 1)
    }

    /// Columns with the names given behind the CTE's.
    fn cte_columns(&mut self, cte: &Cte, output: Output) -> Result<Vec<ColumnId>, SqlError> {
        if cte.columns.len() > output.len() {
            let message = format!(
                "WITH query \"{}\" has {} columns available but {} columns specified",
                cte.name.value,
                output.len(),
                cte.columns.len()
            );
            return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message).at(cte.name.pos));
        }
        let columns: Vec<ColumnId> = output.iter().map(|(_, id)| *id).collect();
        for (at, (name, id)) in output.iter().enumerate() {
            // The result column may be a table's; only its name as seen through the CTE changes, and scans of the CTE make columns of their own.
            self.columns[*id].name = cte.columns.get(at).map_or(name.clone(), |c| c.value.clone());
        }
        Ok(columns)
    }

    /// Binds a part of a CTE's definition in which mentioning the CTE is that error.
    fn naming_itself<T>(&mut self, cte: &Cte, error: SqlError, bind: impl FnOnce(&mut Self) -> Result<T, SqlError>) -> Result<T, SqlError> {
        let visible = self.visible_ctes.len();
        self.visible_ctes.push(VisibleCte { name: cte.name.value.clone(), number: 0, in_recursion: false, refused: Some(error) });
        let bound = bind(self);
        self.visible_ctes.truncate(visible);
        bound
    }

    /// `base UNION [ALL] step`, where the step reads what the last round added.
    fn recursive_cte(&mut self, cte: &Cte, query: &Query) -> Result<usize, SqlError> {
        let SetExpr::SetOp { op: SetOp::Union, all, left, right } = &query.body else {
            let message =
                format!("recursive query \"{}\" does not have the form non-recursive-term UNION [ALL] recursive-term", cte.name.value);
            let error = SqlError::new(SqlState::INVALID_RECURSION, message).at(cte.name.pos);
            return self.naming_itself(cte, error, |b| b.plain_cte(cte));
        };
        if let Some((what, pos)) = around_union(query) {
            let message = format!("{what} in a recursive query is not implemented");
            let error = SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(pos);
            return self.naming_itself(cte, error, |b| b.plain_cte(cte));
        }
        let error = super::from::misplaced_recursion(&cte.name.value, "within its non-recursive term");
        let (base, output) = self.naming_itself(cte, error, |b| b.set_expr(left, &Hints::default()))?;
        // Fresh columns, so that naming them changes nothing below.
        let exprs: Vec<(ColumnId, Expr)> = output
            .iter()
            .map(|(name, id)| {
                let ty = self.column_type_of(*id);
                (self.new_column(name.clone(), ty), Expr::Column(*id, ty))
            })
            .collect();
        let renamed: Output = output.iter().zip(&exprs).map(|((name, _), (id, _))| (name.clone(), *id)).collect();
        let base = Logical::Project { input: Box::new(base), exprs };
        let columns = self.cte_columns(cte, renamed)?;
        let number = self.ctes.len();
        let name = cte.name.value.clone();
        self.ctes.push(BoundCte {
            name: name.clone(),
            plan: base,
            columns: columns.clone(),
            recursive: None,
            writes: false,
            materialized: cte.materialized,
            references: 0,
        });
        self.visible_ctes.push(VisibleCte { name, number, in_recursion: true, refused: None });
        let step = self.set_expr(right, &Hints { keep_unknown: true, ..Hints::default() });
        self.visible_ctes.pop();
        let (step, step_output) = step?;
        if step_output.len() != columns.len() {
            let pos = item_position(right, 0);
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, "each UNION query must have the same number of columns").at(pos));
        }
        let types: Vec<ColumnType> = columns.iter().map(|id| self.column_type_of(*id)).collect();
        for (at, ((_, id), ty)) in step_output.iter().zip(&types).enumerate() {
            let found = self.column_type_of(*id).ty;
            if found != DataType::UNKNOWN && found != ty.ty && !can_cast(found, ty.ty, CastContext::Implicit) {
                let message = format!(
                    "recursive query \"{}\" column {} has type {} in non-recursive term but type {found} overall",
                    cte.name.value,
                    at + 1,
                    ty.ty
                );
                return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message)
                    .hint("Cast the output of the non-recursive term to the correct type."));
            }
        }
        let (step, step_columns) = self.recast(step, &step_output, &types)?;
        self.ctes[number].recursive = Some((step, step_columns, *all));
        self.ctes[number].references = 0;
        Ok(number)
    }
}

/// What stands around a UNION that a recursive one can't have, and where.
fn around_union(query: &Query) -> Option<(&'static str, usize)> {
    match query {
        Query { order_by, .. } if !order_by.is_empty() => Some(("ORDER BY", order_by[0].expr.pos())),
        Query { offset: Some(offset), .. } => Some(("OFFSET", offset.pos())),
        Query { limit: Some(limit), .. } => Some(("LIMIT", limit.pos())),
        Query { locking, .. } if !locking.is_empty() => Some(("FOR UPDATE/SHARE", 0)),
        Query { with: Some(_), .. } => Some(("WITH", 0)),
        _ => None,
    }
}

/// Where a column of a query's target list stands.
pub(super) fn item_position(body: &SetExpr, at: usize) -> usize {
    match body {
        SetExpr::Select(select) => match select.items.get(at) {
            Some(ast::SelectItem::Expr { expr, .. }) => expr.pos(),
            _ => 0,
        },
        SetExpr::Values(rows, _) => rows.first().and_then(|row| row.get(at)).map_or(0, ast::Expr::pos),
        SetExpr::Query(query) => item_position(&query.body, at),
        SetExpr::SetOp { left, .. } => item_position(left, at),
        SetExpr::Table(name) => name.pos,
    }
}
