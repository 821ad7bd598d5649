//! Constant folding.
//!
//! What is immutable and has only constants below it is evaluated once, at planning; AND, OR, CASE and COALESCE lose the parts that
//! cannot matter.  An error while folding leaves the expression as it is, to fail when (and if) a row reaches it, as `1/0` in a
//! branch never taken must not.

use super::{EvalContext, Expr, eval};
use crate::functions::Volatility;
use crate::types::{DataType, Datum, coercion};

/// Evaluates what is constant.
pub fn fold(mut expr: Expr, ctx: &EvalContext<'_>) -> Expr {
    for child in expr.children_mut() {
        let taken = std::mem::replace(child, Expr::Const(Datum::Null, Expr::BOOL));
        *child = fold(taken, ctx);
    }
    let expr = simplify(expr);
    if !is_foldable(&expr) {
        return expr;
    }
    match eval(&expr, &[], ctx) {
        Ok(value) => Expr::Const(value, expr.ty()),
        Err(_) => expr,
    }
}

/// Only constants directly below, and the node itself always gives the same.
fn is_foldable(expr: &Expr) -> bool {
    let immutable = match expr {
        Expr::Const(..) | Expr::Param(..) | Expr::Column(..) | Expr::Outer { .. } | Expr::Subquery(..) => false,
        // Which values a domain allows may depend on the session.
        Expr::Checked { .. } => false,
        Expr::Call { func, .. } => func.volatility == Volatility::Immutable,
        Expr::UserCall { function, .. } => !function.runs_statements() && function.descriptor.volatility == Volatility::Immutable,
        Expr::Cast { expr, to, .. } => is_immutable_cast(expr, to.ty),
        _ => true,
    };
    immutable && expr.children().iter().all(|child| matches!(child, Expr::Const(..)))
}

/// Casts that read DateStyle, TimeZone, the clock or the catalog depend on the session, and a plan outlives it.
fn is_immutable_cast(from: &Expr, to: DataType) -> bool {
    let timely = |ty: DataType| {
        matches!(ty, DataType::DATE | DataType::TIME | DataType::TIMESTAMP | DataType::TIMESTAMPTZ | DataType::INTERVAL)
            || (ty.is_oid() && ty != DataType::OID)
            || ty == DataType::FLOAT4
            || ty == DataType::FLOAT8
            || ty == DataType::BYTEA
    };
    let from = from.ty().ty;
    if to == DataType::TIMESTAMPTZ || from == DataType::TIMESTAMPTZ {
        return false;
    }
    let text = |ty: DataType| coercion::can_cast(ty, DataType::TEXT, coercion::CastContext::Implicit) && ty.is_text();
    let printed = (timely(from) && text(to)) || (text(from) && timely(to) && to != DataType::FLOAT8 && to != DataType::FLOAT4);
    !printed && !from.is_array() && !to.is_array()
}

/// Drops what cannot change the answer.
fn simplify(expr: Expr) -> Expr {
    match expr {
        Expr::And(list) => junction(list, false),
        Expr::Or(list) => junction(list, true),
        Expr::Case { mut whens, otherwise, ty } => {
            whens.retain(|(when, _)| !matches!(when, Expr::Const(Datum::Bool(false) | Datum::Null, _)));
            match whens.first() {
                None => otherwise.map_or(Expr::Const(Datum::Null, ty), |expr| *expr),
                Some((Expr::Const(Datum::Bool(true), _), _)) => whens.swap_remove(0).1,
                Some(_) => Expr::Case { whens, otherwise, ty },
            }
        }
        Expr::Coalesce(mut list, ty) => {
            list.retain(|item| !matches!(item, Expr::Const(Datum::Null, _)));
            match list.first() {
                None => Expr::Const(Datum::Null, ty),
                Some(Expr::Const(..)) => list.swap_remove(0),
                Some(_) => Expr::Coalesce(list, ty),
            }
        }
        other => other,
    }
}

fn junction(list: Vec<Expr>, deciding: bool) -> Expr {
    let mut kept = Vec::with_capacity(list.len());
    for item in list {
        match item {
            Expr::Const(Datum::Bool(value), _) if value == deciding => return item,
            Expr::Const(Datum::Bool(_), _) => {}
            Expr::And(inner) if !deciding => kept.extend(inner),
            Expr::Or(inner) if deciding => kept.extend(inner),
            other => kept.push(other),
        }
    }
    match kept.len() {
        0 => Expr::Const(Datum::Bool(!deciding), Expr::BOOL),
        1 => kept.swap_remove(0),
        _ if deciding => Expr::Or(kept),
        _ => Expr::And(kept),
    }
}

/// Casts between what is timely and text, and those that need the session's time zone: what one session files another would not find.
pub(crate) fn is_session_dependent_cast(from: DataType, to: DataType) -> bool {
    let timely = |ty: DataType| {
        let base = crate::types::element_of(ty).unwrap_or(ty);
        matches!(base, DataType::DATE | DataType::TIME | DataType::TIMESTAMP | DataType::TIMESTAMPTZ | DataType::INTERVAL)
            || (base.is_oid() && base != DataType::OID)
    };
    let zoned = (from == DataType::TIMESTAMPTZ) != (to == DataType::TIMESTAMPTZ);
    (timely(from) && to.is_text()) || (from.is_text() && timely(to)) || (zoned && timely(from) && timely(to))
}
