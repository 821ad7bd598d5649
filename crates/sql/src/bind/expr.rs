//! Expressions: from names and symbols to columns and functions.

use super::Binder;
use super::coerce::folded;
use super::logical::SubqueryKind;
use super::query::Hints;
use crate::ast::{self, LikeKind, Literal};
use crate::error::{SqlError, SqlState};
use crate::expr::{CompareOp, Expr};
use crate::functions::{resolve_function, resolve_operator};
use crate::parse::{STACK_GROWTH, STACK_RED_ZONE};
use crate::types::coercion::{CastContext, can_cast};
use crate::types::{ColumnType, DataType, Datum, array_of, common_type, element_of};

/// Longer literals are not remembered for their place.
const LITERAL_PLACE_BYTES_MAX: usize = 200;

/// `TRUE`, `FALSE`.
pub(super) fn truth(value: bool) -> Expr {
    Expr::Const(Datum::Bool(value), Expr::BOOL)
}

impl Binder<'_> {
    pub(super) fn expr(&mut self, expr: &ast::Expr) -> Result<Expr, SqlError> {
        stacker::maybe_grow(STACK_RED_ZONE, STACK_GROWTH, || self.expr_here(expr))
    }

    pub(super) fn exprs(&mut self, list: &[ast::Expr]) -> Result<Vec<Expr>, SqlError> {
        list.iter().map(|e| self.expr(e)).collect()
    }

    pub(super) fn condition(&mut self, expr: &ast::Expr, what: &str) -> Result<Expr, SqlError> {
        let bound = self.expr(expr)?;
        self.boolean(bound, what, expr.pos())
    }

    fn conditions(&mut self, list: &[ast::Expr], what: &str) -> Result<Vec<Expr>, SqlError> {
        list.iter().map(|e| self.condition(e, what)).collect()
    }

    fn expr_here(&mut self, expr: &ast::Expr) -> Result<Expr, SqlError> {
        use ast::Expr as E;
        match expr {
            E::Literal(literal, pos) => self.literal(literal, *pos),
            E::Param(n, pos) if let Some(function) = &self.function => function
                .parameter(n - 1)
                .ok_or_else(|| SqlError::new(SqlState::UNDEFINED_PARAMETER, format!("there is no parameter ${n}")).at(*pos)),
            E::Param(n, _) => {
                let ty = self.param_type(n - 1);
                Ok(Expr::Param(n - 1, ty.into()))
            }
            E::Column(parts) => self.column(parts).or_else(|error| match parts.as_slice() {
                // The parser gives `(t.row).field` as three names, `(row).field` as two.
                [row @ .., field] if row.len() == 2 || (row.len() == 1 && error.state() == SqlState::UNDEFINED_TABLE) => {
                    self.field_of(&E::Column(row.to_vec()), field)?.ok_or(error)
                }
                _ => Err(error),
            }),
            E::Default(pos) => Err(SqlError::new(SqlState::SYNTAX_ERROR, "DEFAULT is not allowed in this context").at(*pos)),
            E::Unary { op, expr, pos } => {
                let operand = self.expr(expr)?;
                self.operator(op, None, operand, *pos)
            }
            E::Binary { op, left, right, pos } => self.binary(op, left, right, *pos),
            E::And(list) => Ok(folded(Expr::And(self.conditions(list, "AND")?))),
            E::Or(list) => Ok(folded(Expr::Or(self.conditions(list, "OR")?))),
            E::Not(inner) => Ok(folded(Expr::Not(Box::new(self.condition(inner, "NOT")?)))),
            E::IsNull { expr, negated } => {
                let inner = self.expr(expr)?;
                // A parameter's type is left to whatever else is said of it.
                let inner = if matches!(inner, Expr::Param(..)) { inner } else { self.resolve_unknown(inner)? };
                Ok(folded(Expr::IsNull { expr: Box::new(inner), negated: *negated }))
            }
            E::IsBool { expr, value, negated } => {
                let what = match (value, negated) {
                    (Some(true), false) => "IS TRUE",
                    (Some(true), true) => "IS NOT TRUE",
                    (Some(false), false) => "IS FALSE",
                    (Some(false), true) => "IS NOT FALSE",
                    (None, false) => "IS UNKNOWN",
                    (None, true) => "IS NOT UNKNOWN",
                };
                Ok(Expr::IsBool { expr: Box::new(self.condition(expr, what)?), value: *value, negated: *negated })
            }
            E::IsDistinct { left, right, negated, pos } => {
                let (left, right) = (self.expr(left)?, self.expr(right)?);
                let (left, right) = self.equal_sides(left, right, *pos)?;
                Ok(Expr::IsDistinct { left: Box::new(left), right: Box::new(right), negated: *negated })
            }
            E::Between { expr, low, high, negated, symmetric, pos } => {
                let swapped =
                    if *symmetric { Some((self.binary(">=", expr, high, *pos)?, self.binary("<=", expr, low, *pos)?)) } else { None };
                let low = self.binary(">=", expr, low, *pos)?;
                let high = self.binary("<=", expr, high, *pos)?;
                let mut both = Expr::And(vec![low, high]);
                if let Some((low, high)) = swapped {
                    both = Expr::Or(vec![both, Expr::And(vec![low, high])]);
                }
                Ok(if *negated { Expr::Not(Box::new(both)) } else { both })
            }
            E::Like { kind, expr, pattern, escape, negated, pos } => self.like(*kind, expr, pattern, escape.as_deref(), *negated, *pos),
            E::InList { expr, list, negated, pos } => self.in_list(expr, list, *negated, *pos),
            E::InSubquery { expr, query, negated, pos } => {
                let found = self.quantified(expr, "=", false, query, *pos)?;
                Ok(if *negated { Expr::Not(Box::new(found)) } else { found })
            }
            E::AnyAll { left, op, all, array, pos } => self.any_all(left, op, *all, array, *pos),
            E::AnyAllSubquery { left, op, all, query, pos } => self.quantified(left, op, *all, query, *pos),
            E::Exists(query) => self.subquery(query, SubqueryKind::Exists, 0),
            E::Subquery(query, pos) => self.subquery(query, SubqueryKind::Scalar, *pos),
            E::ArraySubquery(query, pos) => self.subquery(query, SubqueryKind::Array, *pos),
            E::Cast { expr, ty, pos, operator } => self.explicit_cast(expr, ty, *pos, *operator),
            E::Collate { expr, collation } => {
                if !matches!(collation.name.as_str(), "C" | "POSIX" | "default" | "ucs_basic") {
                    let message = format!("collation \"{}\" for encoding \"UTF8\" does not exist", collation.name);
                    return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message).at(collation.pos));
                }
                let inner = self.expr(expr)?;
                self.resolve_unknown(inner)
            }
            E::Case { operand, whens, otherwise, pos } => self.case(operand.as_deref(), whens, otherwise.as_deref(), *pos),
            E::Function(call) => self.call(call),
            E::Row(list, _) => {
                let list = self.exprs(list)?;
                Ok(Expr::row(list.into_iter().map(|e| self.resolve_unknown(e)).collect::<Result<_, _>>()?))
            }
            E::Array(list, pos) => self.array(list, *pos),
            E::Subscript { expr, subscripts, pos } => self.subscript(expr, subscripts, *pos),
            E::Field { expr, field } => match &**expr {
                E::Column(parts) if parts.len() < 3 => {
                    if let Some(value) = self.field_of(&E::Column(parts.clone()), field)? {
                        return Ok(value);
                    }
                    let mut parts = parts.clone();
                    parts.push(field.clone());
                    self.column(&parts)
                }
                inner => {
                    let unknown = || SqlError::unsupported("selecting a field of a row value").at(field.pos);
                    self.field_of(inner, field)?.ok_or_else(unknown)
                }
            },
            E::CurrentOf(_, pos) => Err(SqlError::unsupported("WHERE CURRENT OF").at(*pos)),
        }
    }

    fn literal(&mut self, literal: &Literal, pos: usize) -> Result<Expr, SqlError> {
        let unknown: ColumnType = DataType::UNKNOWN.into();
        Ok(match literal {
            Literal::Null => Expr::Const(Datum::Null, unknown),
            Literal::Bool(b) => truth(*b),
            Literal::String(s) => {
                if s.len() <= LITERAL_PLACE_BYTES_MAX {
                    self.literals.insert(s.clone(), pos);
                }
                Expr::Const(Datum::text(s.as_str()), unknown)
            }
            Literal::Number(digits) => {
                if let Ok(n) = digits.parse::<i32>() {
                    Expr::Const(Datum::Int4(n), DataType::INT4.into())
                } else if let Ok(n) = digits.parse::<i64>() {
                    Expr::Const(Datum::Int8(n), DataType::INT8.into())
                } else {
                    let text = Expr::Const(Datum::text(digits.as_str()), unknown);
                    self.cast_to(text, DataType::NUMERIC.into(), false, pos)?
                }
            }
            Literal::Bits(_) => return Err(SqlError::unsupported("bit strings").at(pos)),
        })
    }

    // ---- operators

    fn binary(&mut self, op: &str, left: &ast::Expr, right: &ast::Expr, pos: usize) -> Result<Expr, SqlError> {
        if op == "overlaps" {
            return self.overlaps(left, right, pos);
        }
        if let (ast::Expr::Row(a, _), ast::Expr::Row(b, _)) = (left, right) {
            return self.row_comparison(op, a, b, pos);
        }
        if let (ast::Expr::Row(..), ast::Expr::Subquery(query, _)) = (left, right) {
            return self.quantified(left, op, false, query, pos);
        }
        let left = self.expr(left)?;
        let right = self.expr(right)?;
        self.operator(op, Some(left), right, pos)
    }

    /// Resolves the operator and casts its operands.
    pub(super) fn operator(&mut self, op: &str, left: Option<Expr>, right: Expr, pos: usize) -> Result<Expr, SqlError> {
        let resolved = resolve_operator(op, left.as_ref().map(|e| e.ty().ty), right.ty().ty).map_err(|e| e.at(pos))?;
        let operands: Vec<Expr> = left.into_iter().chain([right]).collect();
        let args = operands.into_iter().zip(&resolved.arg_types).map(|(e, ty)| self.coerce(e, *ty, pos)).collect::<Result<_, _>>()?;
        Ok(folded(Expr::Call { func: resolved.func, args, ty: resolved.result.into() }))
    }

    /// Both sides of an equality, cast to one type.
    fn equal_sides(&mut self, left: Expr, right: Expr, pos: usize) -> Result<(Expr, Expr), SqlError> {
        let types = [left.ty().ty, right.ty().ty];
        match common_type(&types, "IS DISTINCT FROM") {
            Ok(ty) => Ok((self.coerce(left, ty, pos)?, self.coerce(right, ty, pos)?)),
            // Not one type, but perhaps comparable; the operator's error is the right one if not.
            Err(_) => match self.operator("=", Some(left), right, pos)? {
                Expr::Call { mut args, .. } if args.len() == 2 => {
                    let right = args.remove(1);
                    Ok((args.remove(0), right))
                }
                constant => Ok((constant, truth(true))),
            },
        }
    }

    fn row_comparison(&mut self, op: &str, left: &[ast::Expr], right: &[ast::Expr], pos: usize) -> Result<Expr, SqlError> {
        if left.len() != right.len() {
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, "unequal number of entries in row expressions").at(pos));
        }
        let (left, right) = (self.exprs(left)?, self.exprs(right)?);
        self.row_operator(op, left, right, pos)
    }

    fn row_operator(&mut self, op: &str, left: Vec<Expr>, right: Vec<Expr>, pos: usize) -> Result<Expr, SqlError> {
        let compare = match op {
            "=" => CompareOp::Eq,
            "<>" => CompareOp::Ne,
            "<" => CompareOp::Lt,
            "<=" => CompareOp::Le,
            ">" => CompareOp::Gt,
            ">=" => CompareOp::Ge,
            _ => {
                return Err(SqlError::new(
                    SqlState::FEATURE_NOT_SUPPORTED,
                    format!("could not determine interpretation of row comparison operator {op}"),
                )
                .at(pos));
            }
        };
        let pairs = left.into_iter().zip(right);
        if matches!(compare, CompareOp::Eq | CompareOp::Ne) {
            // Column by column, so that the planner sees equalities.
            let tests = pairs.map(|(l, r)| self.operator(op, Some(l), r, pos)).collect::<Result<Vec<_>, _>>()?;
            return Ok(folded(if compare == CompareOp::Eq { Expr::And(tests) } else { Expr::Or(tests) }));
        }
        let (mut lefts, mut rights) = (Vec::new(), Vec::new());
        for (l, r) in pairs {
            let (l, r) = self.equal_sides(l, r, pos)?;
            lefts.push(l);
            rights.push(r);
        }
        Ok(Expr::RowCompare { op: compare, left: lefts, right: rights })
    }

    fn like(
        &mut self,
        kind: LikeKind,
        expr: &ast::Expr,
        pattern: &ast::Expr,
        escape: Option<&ast::Expr>,
        negated: bool,
        pos: usize,
    ) -> Result<Expr, SqlError> {
        let value = self.expr(expr)?;
        let mut pattern = self.expr(pattern)?;
        let escape = escape.map(|e| self.expr(e)).transpose()?;
        let op = match (kind, negated) {
            (LikeKind::Like, false) => "~~",
            (LikeKind::Like, true) => "!~~",
            (LikeKind::ILike, false) => "~~*",
            (LikeKind::ILike, true) => "!~~*",
            (LikeKind::SimilarTo, false) => "~",
            (LikeKind::SimilarTo, true) => "!~",
        };
        let rewrite = if kind == LikeKind::SimilarTo { Some("similar_to_escape") } else { escape.is_some().then_some("like_escape") };
        if let Some(function) = rewrite {
            let args = [pattern].into_iter().chain(escape).collect();
            pattern = self.plain_call(function, args, pos)?;
        }
        self.operator(op, Some(value), pattern, pos)
    }

    /// A call of a scalar function that the grammar implies.
    pub(super) fn plain_call(&mut self, name: &str, args: Vec<Expr>, pos: usize) -> Result<Expr, SqlError> {
        let types: Vec<DataType> = args.iter().map(|e| e.ty().ty).collect();
        let resolved = resolve_function(name, &types).map_err(|e| e.at(pos))?;
        let args = args.into_iter().zip(&resolved.arg_types).map(|(e, ty)| self.coerce(e, *ty, pos)).collect::<Result<_, _>>()?;
        Ok(folded(Expr::Call { func: resolved.func, args, ty: resolved.result.into() }))
    }

    fn in_list(&mut self, expr: &ast::Expr, list: &[ast::Expr], negated: bool, pos: usize) -> Result<Expr, SqlError> {
        if let ast::Expr::Row(left, _) = expr {
            let mut arms = Vec::with_capacity(list.len());
            for item in list {
                let ast::Expr::Row(right, _) = item else {
                    return Err(SqlError::new(SqlState::SYNTAX_ERROR, "unequal number of entries in row expressions").at(pos));
                };
                arms.push(self.row_comparison("=", left, right, pos)?);
            }
            let any = folded(Expr::Or(arms));
            return Ok(if negated { folded(Expr::Not(Box::new(any))) } else { any });
        }
        let left = self.expr(expr)?;
        let mut members = self.exprs(list)?;
        let types: Vec<DataType> = std::iter::once(&left).chain(&members).map(|e| e.ty().ty).collect();
        // One common type makes a list; otherwise it is a chain of comparisons, as in PostgreSQL.
        if let Ok(ty) = common_type(&types, "IN").or_else(|_| common_type(&types[1..], "IN"))
            && types.iter().all(|from| can_cast(*from, ty, CastContext::Implicit))
        {
            let left = self.coerce(left, ty, pos)?;
            let list = members.into_iter().map(|e| self.coerce(e, ty, pos)).collect::<Result<_, _>>()?;
            return Ok(folded(Expr::InList { expr: Box::new(left), list, negated }));
        }
        let op = if negated { "<>" } else { "=" };
        let tests = members.drain(..).map(|m| self.operator(op, Some(left.clone()), m, pos)).collect::<Result<Vec<_>, _>>()?;
        Ok(folded(if negated { Expr::And(tests) } else { Expr::Or(tests) }))
    }

    fn any_all(&mut self, left: &ast::Expr, op: &str, all: bool, array: &ast::Expr, pos: usize) -> Result<Expr, SqlError> {
        let left = self.expr(left)?;
        let array = self.expr(array)?;
        let element = match array.ty().ty {
            DataType::UNKNOWN => DataType::UNKNOWN,
            ty => element_of(ty)
                .ok_or_else(|| SqlError::new(SqlState::WRONG_OBJECT_TYPE, "op ANY/ALL (array) requires array on right side").at(pos))?,
        };
        // What stands beside an unknown array decides its elements' type.
        let element = if element == DataType::UNKNOWN && left.ty().ty != DataType::UNKNOWN { left.ty().ty } else { element };
        let resolved = resolve_operator(op, Some(left.ty().ty), element).map_err(|e| e.at(pos))?;
        if resolved.result != DataType::BOOL {
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, "op ANY/ALL (array) requires operator to yield boolean").at(pos));
        }
        let [left_type, element_type] = resolved.arg_types[..] else {
            return Err(SqlError::new(SqlState::INTERNAL_ERROR, "an operator without two sides"));
        };
        let array_type = array_of(element_type).ok_or_else(|| {
            SqlError::new(SqlState::UNDEFINED_OBJECT, format!("could not find array type for data type {element_type}")).at(pos)
        })?;
        let left = Box::new(self.coerce(left, left_type, pos)?);
        let array = Box::new(self.coerce(array, array_type, pos)?);
        Ok(Expr::AnyAll { func: resolved.func, left, array, all })
    }

    /// `(start, end) OVERLAPS (start, end)`, where an end may be a length.
    fn overlaps(&mut self, left: &ast::Expr, right: &ast::Expr, pos: usize) -> Result<Expr, SqlError> {
        let mut args = Vec::with_capacity(4);
        for (side, row) in [("left", left), ("right", right)] {
            let ast::Expr::Row(list, _) = row else {
                return Err(SqlError::new(SqlState::SYNTAX_ERROR, "syntax error at or near \"overlaps\"").at(pos));
            };
            let [start, end] = list.as_slice() else {
                let message = format!("wrong number of parameters on {side} side of OVERLAPS expression");
                return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(pos));
            };
            let (start, end) = (self.expr(start)?, self.expr(end)?);
            let lasting = end.ty().ty == DataType::INTERVAL;
            let start = if lasting && start.ty().ty == DataType::DATE { self.coerce(start, DataType::TIMESTAMPTZ, pos)? } else { start };
            let end = if lasting { self.operator("+", Some(start.clone()), end, pos)? } else { end };
            args.extend([start, end]);
        }
        self.plain_call("overlaps", args, pos)
    }

    // ---- subqueries

    /// Binds a query as part of an expression and notes it in the statement's list.
    pub(super) fn subquery(&mut self, query: &ast::Query, kind: SubqueryKind, pos: usize) -> Result<Expr, SqlError> {
        let (plan, output) = self.nested_query(query)?;
        let columns: Vec<_> = output.iter().map(|(_, id)| *id).collect();
        let ty = match kind {
            SubqueryKind::Exists => Expr::BOOL,
            SubqueryKind::Row => DataType::RECORD.into(),
            SubqueryKind::Scalar | SubqueryKind::Array => {
                let [column] = columns[..] else {
                    return Err(SqlError::new(SqlState::SYNTAX_ERROR, "subquery must return only one column").at(pos));
                };
                let ty = self.column_type_of(column);
                match (&kind, array_of(ty.ty)) {
                    (SubqueryKind::Scalar, _) => ty,
                    (_, Some(array)) => array.into(),
                    (_, None) => {
                        return Err(SqlError::new(
                            SqlState::UNDEFINED_OBJECT,
                            format!("could not find array type for data type {}", ty.ty),
                        )
                        .at(pos));
                    }
                }
            }
            SubqueryKind::Quantified { .. } => Expr::BOOL,
        };
        self.subqueries.push(super::logical::BoundSubquery { kind, plan, columns });
        Ok(Expr::Subquery(self.subqueries.len() - 1, ty))
    }

    fn nested_query(&mut self, query: &ast::Query) -> Result<(super::Logical, Vec<(String, usize)>), SqlError> {
        let state = super::SelectState::new(self.select.clause);
        let outer = std::mem::replace(&mut self.select, state);
        let bound = self.without_recursion("within a subquery", |b| b.query(query, &Hints::default()));
        self.select = outer;
        bound
    }

    /// `left op ANY/ALL (SELECT ...)`.
    fn quantified(&mut self, left: &ast::Expr, op: &str, all: bool, query: &ast::Query, pos: usize) -> Result<Expr, SqlError> {
        let lefts = match left {
            ast::Expr::Row(list, _) => self.exprs(list)?,
            other => vec![self.expr(other)?],
        };
        let (plan, output) = self.nested_query(query)?;
        let columns: Vec<_> = output.iter().map(|(_, id)| *id).collect();
        if columns.len() != lefts.len() {
            let message = if columns.len() > lefts.len() { "subquery has too many columns" } else { "subquery has too few columns" };
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(pos));
        }
        let rights: Vec<Expr> = columns.iter().map(|id| Expr::Column(*id, self.column_type_of(*id))).collect();
        let test = if lefts.len() == 1 {
            match (lefts.into_iter().next(), rights.into_iter().next()) {
                (Some(left), Some(right)) => self.operator(op, Some(left), right, pos)?,
                _ => truth(true),
            }
        } else {
            self.row_operator(op, lefts, rights, pos)?
        };
        let test = self.boolean(test, "ANY", pos)?;
        let pairs = if op == "=" { equalities(&test) } else { None };
        self.subqueries.push(super::logical::BoundSubquery { kind: SubqueryKind::Quantified { test, all, pairs }, plan, columns });
        Ok(Expr::Subquery(self.subqueries.len() - 1, Expr::BOOL))
    }

    // ---- the rest

    fn explicit_cast(&mut self, expr: &ast::Expr, ty: &ast::TypeName, pos: usize, operator: usize) -> Result<Expr, SqlError> {
        let placed = |error: SqlError| if error.fields().position.is_none() { error.at(ty.pos) } else { error };
        let super::DeclaredType { ty: to, declared } = self.declared_type(ty).map_err(placed)?;
        // `ARRAY[]::int[]` says what the empty array is made of.
        if let ast::Expr::Array(list, _) = expr
            && let Some(element) = element_of(to.ty)
        {
            let list = self.exprs(list)?;
            let list = list.into_iter().map(|e| self.checked_cast(e, element.into(), pos, operator)).collect::<Result<_, _>>()?;
            return self.checked(folded(Expr::Array(list, to)), declared);
        }
        let value = self.expr(expr)?;
        let value = self.checked_cast(value, to, pos, operator)?;
        self.checked(value, declared)
    }

    fn checked_cast(&mut self, value: Expr, to: ColumnType, pos: usize, operator: usize) -> Result<Expr, SqlError> {
        let from = value.ty().ty;
        if !can_cast(from, to.ty, CastContext::Explicit) {
            return Err(SqlError::new(SqlState::CANNOT_COERCE, format!("cannot cast type {from} to {}", to.ty)).at(operator));
        }
        self.cast_to(value, to, true, pos)
    }

    fn case(
        &mut self,
        operand: Option<&ast::Expr>,
        whens: &[(ast::Expr, ast::Expr)],
        otherwise: Option<&ast::Expr>,
        pos: usize,
    ) -> Result<Expr, SqlError> {
        let operand = operand.map(|e| self.expr(e)).transpose()?;
        let operand = operand.map(|e| self.resolve_unknown(e)).transpose()?;
        let (mut conditions, mut results) = (Vec::new(), Vec::new());
        for (when, then) in whens {
            conditions.push(match &operand {
                None => self.condition(when, "CASE/WHEN")?,
                Some(operand) => {
                    let value = self.expr(when)?;
                    self.operator("=", Some(operand.clone()), value, when.pos())?
                }
            });
            results.push(self.expr(then)?);
        }
        let has_else = otherwise.is_some();
        if let Some(otherwise) = otherwise {
            // PostgreSQL looks at ELSE first when it seeks the common type.
            results.insert(0, self.expr(otherwise)?);
        }
        let (mut results, mut ty) = self.unify(results, "CASE", pos)?;
        if !has_else {
            // The NULL that is meant has no modifier.
            ty.typmod = -1;
        }
        let otherwise = if has_else { Some(Box::new(results.remove(0))) } else { None };
        Ok(folded(Expr::Case { whens: conditions.into_iter().zip(results).collect(), otherwise, ty }))
    }

    fn array(&mut self, list: &[ast::Expr], pos: usize) -> Result<Expr, SqlError> {
        if list.is_empty() {
            return Err(SqlError::new(SqlState::INDETERMINATE_DATATYPE, "cannot determine type of empty array")
                .hint("Explicitly cast to the desired type, for example ARRAY[]::integer[].")
                .at(pos));
        }
        let list = self.exprs(list)?;
        let (list, element) = self.unify(list, "ARRAY", pos)?;
        // An array of arrays has one more dimension, and the same type.
        let ty = if element.ty.is_array() { element.ty } else { array_of(element.ty).unwrap_or(DataType::UNKNOWN) };
        if ty == DataType::UNKNOWN {
            return Err(
                SqlError::new(SqlState::UNDEFINED_OBJECT, format!("could not find array type for data type {}", element.ty)).at(pos)
            );
        }
        Ok(folded(Expr::Array(list, ty.into())))
    }
}

/// The pairs of a conjunction of equalities.
fn equalities(test: &Expr) -> Option<Vec<(Expr, Expr)>> {
    match test {
        Expr::And(list) => list.iter().map(equalities).collect::<Option<Vec<_>>>().map(|v| v.concat()),
        Expr::Call { func, args, .. } if func.compare == Some(CompareOp::Eq) => match args.as_slice() {
            [left, right] => Some(vec![(left.clone(), right.clone())]),
            _ => None,
        },
        _ => None,
    }
}
