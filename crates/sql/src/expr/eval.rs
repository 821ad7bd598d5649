//! Evaluation: the value of an expression over one row.
//!
//! Two doors.  [`eval`] gives a value; [`eval_bool`] answers a filter's question ("is it true?") and is the hot one: comparisons of columns,
//! parameters and constants look at the datums where they are and clone nothing.
//!
//! SQL's logic has three values; `Option<bool>` is one of them, `None` being unknown.

use super::{CompareOp, EvalContext, Expr};
use crate::error::{SqlError, SqlState};
use crate::functions::BuiltinFunction;
use crate::types::{Array, ColumnType, DataType, Datum, cast, compare};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::sync::Arc;

/// Arguments of a call; most have one or two.
type Args = SmallVec<[Datum; 3]>;

/// The value of an expression over a row.
pub fn eval(expr: &Expr, row: &[Datum], ctx: &EvalContext<'_>) -> Result<Datum, SqlError> {
    match expr {
        Expr::Const(value, _) => Ok(value.clone()),
        Expr::Param(index, _) => param(*index, ctx).cloned(),
        Expr::Column(index, _) => column(*index, row).cloned(),
        Expr::Call { func, args, .. } => call(func, args, row, ctx),
        Expr::UserCall { function, args, .. } => super::user::call(function, args, row, ctx),
        Expr::Cast { expr, to, explicit } => cast::cast(eval(expr, row, ctx)?, expr.ty().ty, *to, *explicit, ctx),
        Expr::Checked { expr, domain } => {
            let value = eval(expr, row, ctx)?;
            domain.check(&value, ctx)?;
            Ok(value)
        }
        Expr::Case { whens, otherwise, .. } => {
            for (when, then) in whens {
                if eval_bool(when, row, ctx)? {
                    return eval(then, row, ctx);
                }
            }
            otherwise.as_ref().map_or(Ok(Datum::Null), |expr| eval(expr, row, ctx))
        }
        Expr::Coalesce(list, _) => {
            for item in list {
                let value = eval(item, row, ctx)?;
                if !value.is_null() {
                    return Ok(value);
                }
            }
            Ok(Datum::Null)
        }
        Expr::MinMax(list, greatest, ty) => min_max(list, *greatest, *ty, row, ctx),
        Expr::Row { fields, shape, nullable } => {
            let fields = eval_all(fields, row, ctx)?;
            if *nullable && fields.iter().all(Datum::is_null) {
                return Ok(Datum::Null);
            }
            Ok(Datum::shaped_record(fields, shape.clone()))
        }
        Expr::Array(list, ty) => make_array(eval_all(list, row, ctx)?, *ty),
        Expr::Subscript { array, indexes, .. } => subscript(array, indexes, row, ctx),
        Expr::Outer { .. } | Expr::Subquery(..) => Err(unplanned()),
        logical => Ok(truth(logical, row, ctx)?.map_or(Datum::Null, Datum::Bool)),
    }
}

/// The values of several expressions over a row, in place of what was in `out`.
pub fn eval_into<'e>(
    exprs: impl IntoIterator<Item = &'e Expr>,
    row: &[Datum],
    ctx: &EvalContext<'_>,
    out: &mut Vec<Datum>,
) -> Result<(), SqlError> {
    out.clear();
    exprs.into_iter().try_for_each(|expr| eval(expr, row, ctx).map(|value| out.push(value)))
}

/// Is a predicate true (neither false nor unknown)? Compares columns in place.
pub fn eval_bool(expr: &Expr, row: &[Datum], ctx: &EvalContext<'_>) -> Result<bool, SqlError> {
    Ok(truth(expr, row, ctx)? == Some(true))
}

fn unplanned() -> SqlError {
    SqlError::new(SqlState::INTERNAL_ERROR, "an expression reached evaluation before it was planned")
}

fn param<'a>(index: usize, ctx: &EvalContext<'a>) -> Result<&'a Datum, SqlError> {
    ctx.params.get(index).ok_or_else(|| SqlError::new(SqlState::UNDEFINED_PARAMETER, format!("there is no parameter ${}", index + 1)))
}

fn column(index: usize, row: &[Datum]) -> Result<&Datum, SqlError> {
    row.get(index).ok_or_else(|| SqlError::new(SqlState::INTERNAL_ERROR, format!("slot {index} of a row of {} does not exist", row.len())))
}

fn eval_all(list: &[Expr], row: &[Datum], ctx: &EvalContext<'_>) -> Result<Vec<Datum>, SqlError> {
    list.iter().map(|expr| eval(expr, row, ctx)).collect()
}

/// The value, borrowed where it already exists.
fn eval_ref<'v>(expr: &'v Expr, row: &'v [Datum], ctx: &EvalContext<'v>) -> Result<Cow<'v, Datum>, SqlError> {
    match expr {
        Expr::Const(value, _) => Ok(Cow::Borrowed(value)),
        Expr::Param(index, _) => param(*index, ctx).map(Cow::Borrowed),
        Expr::Column(index, _) => column(*index, row).map(Cow::Borrowed),
        other => eval(other, row, ctx).map(Cow::Owned),
    }
}

fn call(func: &'static BuiltinFunction, args: &[Expr], row: &[Datum], ctx: &EvalContext<'_>) -> Result<Datum, SqlError> {
    if let (Some(op), [left, right]) = (func.compare, args) {
        return Ok(compare_values(op, func.args[0], left, right, row, ctx)?.map_or(Datum::Null, Datum::Bool));
    }
    let mut values = Args::with_capacity(args.len());
    for arg in args {
        let value = eval(arg, row, ctx)?;
        if func.strict && value.is_null() {
            return Ok(Datum::Null);
        }
        values.push(value);
    }
    (func.eval)(ctx, &values)
}

fn compare_values(
    op: CompareOp,
    ty: DataType,
    left: &Expr,
    right: &Expr,
    row: &[Datum],
    ctx: &EvalContext<'_>,
) -> Result<Option<bool>, SqlError> {
    let left = eval_ref(left, row, ctx)?;
    if left.is_null() {
        return Ok(None);
    }
    let right = eval_ref(right, row, ctx)?;
    if right.is_null() {
        return Ok(None);
    }
    if matches!(*left, Datum::Record(_)) {
        return compare_records(op, &left, &right);
    }
    Ok(Some(op.holds(compare::cmp_as(ty, &left, &right))))
}

fn compare_records(op: CompareOp, left: &Datum, right: &Datum) -> Result<Option<bool>, SqlError> {
    let (Datum::Record(left), Datum::Record(right)) = (left, right) else { return Ok(None) };
    if left.len() != right.len() {
        return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, "cannot compare record types with different numbers of columns"));
    }
    Ok(Some(op.holds(compare::cmp(&Datum::Record(left.clone()), &Datum::Record(right.clone())))))
}

/// A predicate's truth.
fn truth(expr: &Expr, row: &[Datum], ctx: &EvalContext<'_>) -> Result<Option<bool>, SqlError> {
    match expr {
        Expr::Call { func, args, .. } => match (func.compare, args.as_slice()) {
            (Some(op), [left, right]) => compare_values(op, func.args[0], left, right, row, ctx),
            _ => as_truth(&call(func, args, row, ctx)?),
        },
        Expr::And(list) => junction(list, false, row, ctx),
        Expr::Or(list) => junction(list, true, row, ctx),
        Expr::Not(expr) => Ok(truth(expr, row, ctx)?.map(|value| !value)),
        Expr::IsNull { expr, negated } => Ok(Some(is_null(expr, *negated, row, ctx)?)),
        Expr::IsBool { expr, value, negated } => Ok(Some((truth(expr, row, ctx)? == *value) != *negated)),
        Expr::IsDistinct { left, right, negated } => {
            let ty = left.ty().ty;
            let (left, right) = (eval_ref(left, row, ctx)?, eval_ref(right, row, ctx)?);
            Ok(Some(compare::eq_as(ty, &left, &right) == *negated))
        }
        Expr::InList { expr, list, negated } => Ok(in_list(expr, list, row, ctx)?.map(|found| found != *negated)),
        Expr::AnyAll { func, left, array, all } => any_all(func, left, array, *all, row, ctx),
        Expr::RowCompare { op, left, right } => row_compare(*op, left, right, row, ctx),
        other => as_truth(&*eval_ref_value(other, row, ctx)?),
    }
}

/// As [`eval_ref`], for expressions that are not logical (which would come back here).
fn eval_ref_value<'v>(expr: &'v Expr, row: &'v [Datum], ctx: &EvalContext<'v>) -> Result<Cow<'v, Datum>, SqlError> {
    eval_ref(expr, row, ctx)
}

fn as_truth(value: &Datum) -> Result<Option<bool>, SqlError> {
    match value {
        Datum::Bool(value) => Ok(Some(*value)),
        Datum::Null => Ok(None),
        _ => Err(SqlError::new(SqlState::DATATYPE_MISMATCH, "argument of a condition must be type boolean")),
    }
}

/// AND (`deciding` false) or OR (true): the deciding value ends it, an unknown is remembered.
fn junction(list: &[Expr], deciding: bool, row: &[Datum], ctx: &EvalContext<'_>) -> Result<Option<bool>, SqlError> {
    let mut unknown = false;
    for expr in list {
        match truth(expr, row, ctx)? {
            Some(value) if value == deciding => return Ok(Some(deciding)),
            Some(_) => {}
            None => unknown = true,
        }
    }
    Ok(if unknown { None } else { Some(!deciding) })
}

/// A row value is NULL if all its fields are, and NOT NULL if none is.
fn is_null(expr: &Expr, negated: bool, row: &[Datum], ctx: &EvalContext<'_>) -> Result<bool, SqlError> {
    let value = eval_ref(expr, row, ctx)?;
    Ok(match (&*value, negated) {
        (Datum::Record(fields), false) => fields.iter().all(Datum::is_null),
        (Datum::Record(fields), true) => fields.iter().all(|field| !field.is_null()),
        (value, negated) => value.is_null() != negated,
    })
}

fn in_list(expr: &Expr, list: &[Expr], row: &[Datum], ctx: &EvalContext<'_>) -> Result<Option<bool>, SqlError> {
    let ty = expr.ty().ty;
    let value = eval_ref(expr, row, ctx)?;
    if value.is_null() {
        return Ok(if list.is_empty() { Some(false) } else { None });
    }
    let mut unknown = false;
    for item in list {
        let item = eval_ref(item, row, ctx)?;
        if item.is_null() {
            unknown = true;
        } else if compare::eq_as(ty, &value, &item) {
            return Ok(Some(true));
        }
    }
    Ok(if unknown { None } else { Some(false) })
}

fn any_all(
    func: &'static BuiltinFunction,
    left: &Expr,
    array: &Expr,
    all: bool,
    row: &[Datum],
    ctx: &EvalContext<'_>,
) -> Result<Option<bool>, SqlError> {
    let left = eval_ref(left, row, ctx)?;
    let array = eval_ref(array, row, ctx)?;
    let Datum::Array(array) = &*array else { return Ok(None) };
    let mut unknown = false;
    for element in &array.elements {
        let answer = if left.is_null() || element.is_null() {
            None
        } else if let Some(op) = func.compare {
            Some(op.holds(compare::cmp_as(func.args[0], &left, element)))
        } else {
            as_truth(&(func.eval)(ctx, &[left.clone().into_owned(), element.clone()])?)?
        };
        match answer {
            Some(value) if value != all => return Ok(Some(value)),
            Some(_) => {}
            None => unknown = true,
        }
    }
    Ok(if unknown { None } else { Some(all) })
}

/// `(a, b) op (c, d)`: equality field by field; the orders look at the first pair that differs.
fn row_compare(op: CompareOp, left: &[Expr], right: &[Expr], row: &[Datum], ctx: &EvalContext<'_>) -> Result<Option<bool>, SqlError> {
    let mut unknown = false;
    for (left, right) in left.iter().zip(right) {
        let ty = left.ty().ty;
        let (a, b) = (eval_ref(left, row, ctx)?, eval_ref(right, row, ctx)?);
        if a.is_null() || b.is_null() {
            if !matches!(op, CompareOp::Eq | CompareOp::Ne) {
                return Ok(None);
            }
            unknown = true;
            continue;
        }
        let order = compare::cmp_as(ty, &a, &b);
        if order.is_ne() {
            return Ok(Some(op.holds(order)));
        }
    }
    Ok(if unknown { None } else { Some(op.holds(std::cmp::Ordering::Equal)) })
}

fn min_max(list: &[Expr], greatest: bool, ty: ColumnType, row: &[Datum], ctx: &EvalContext<'_>) -> Result<Datum, SqlError> {
    let mut best = Datum::Null;
    for item in list {
        let value = eval(item, row, ctx)?;
        if value.is_null() {
            continue;
        }
        let order = compare::cmp_as(ty.ty, &value, &best);
        if best.is_null() || (greatest && order.is_gt()) || (!greatest && order.is_lt()) {
            best = value;
        }
    }
    Ok(best)
}

/// `ARRAY[...]`: of elements, or of arrays that become the rows of one with a dimension more.
pub(crate) fn make_array(values: Vec<Datum>, ty: ColumnType) -> Result<Datum, SqlError> {
    let element = crate::types::element_of(ty.ty).ok_or_else(unplanned)?;
    if !values.iter().any(|value| matches!(value, Datum::Array(_))) {
        return Ok(Datum::array(element, values));
    }
    let mismatch =
        || SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, "multidimensional arrays must have array expressions with matching dimensions");
    let mut inner: Option<Vec<(i32, i32)>> = None;
    let mut elements = Vec::new();
    let count = values.len() as i32;
    for value in values {
        let Datum::Array(array) = value else { return Err(mismatch()) };
        if inner.get_or_insert_with(|| array.dims.clone()) != &array.dims {
            return Err(mismatch());
        }
        elements.extend(array.elements.iter().cloned());
    }
    let mut dims = inner.unwrap_or_default();
    if dims.is_empty() {
        return Ok(Datum::array(element, Vec::new()));
    }
    dims.insert(0, (count, 1));
    Ok(Datum::Array(Arc::new(Array { element, dims, elements })))
}

/// `array[i][j]`: NULL outside the bounds or with the wrong number of indexes.
fn subscript(array: &Expr, indexes: &[Expr], row: &[Datum], ctx: &EvalContext<'_>) -> Result<Datum, SqlError> {
    let array = eval_ref(array, row, ctx)?;
    let Datum::Array(array) = &*array else { return Ok(Datum::Null) };
    let mut at = 0i64;
    let fits = indexes.len() == array.dims.len();
    for (index, (length, lower)) in indexes.iter().zip(&array.dims) {
        let Some(index) = compare::as_i64(&*eval_ref(index, row, ctx)?) else { return Ok(Datum::Null) };
        let offset = index - i64::from(*lower);
        if !(0..i64::from(*length)).contains(&offset) {
            return Ok(Datum::Null);
        }
        at = at * i64::from(*length) + offset;
    }
    Ok(if fits { array.elements.get(at as usize).cloned().unwrap_or(Datum::Null) } else { Datum::Null })
}
