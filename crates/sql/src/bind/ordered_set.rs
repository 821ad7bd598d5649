//! Hypothetical-set aggregates: the rank that a row would have among those that are there.
//!
//! `rank(h) WITHIN GROUP (ORDER BY x)` is one more than the number of rows that come before `h`; all four are counts of that kind, so they are
//! rewritten into `count(*) FILTER (...)` and bound like anything else.

use super::Binder;
use crate::ast::{Expr, FunctionArg, FunctionCall, Literal, ObjectName, OrderItem};
use crate::error::{SqlError, SqlState};

/// Is it one of the four, when it stands before WITHIN GROUP?
pub(super) fn is_hypothetical(name: &str) -> bool {
    matches!(name, "rank" | "dense_rank" | "percent_rank" | "cume_dist")
}

impl Binder<'_> {
    pub(super) fn hypothetical(&mut self, call: &FunctionCall) -> Result<crate::expr::Expr, SqlError> {
        let (name, pos) = (call.name.name.as_str(), call.name.pos);
        let direct: Vec<&Expr> = call.args.iter().map(|a| &a.value).collect();
        if direct.len() != call.within_group.len() {
            let all = call.args.iter().map(|a| &a.value).chain(call.within_group.iter().map(|item| &item.expr));
            let types: Vec<String> = all.filter_map(|e| self.expr(e).ok()).map(|e| e.ty().ty.to_string()).collect();
            let message = format!("function {name}({}) does not exist", types.join(", "));
            return Err(SqlError::new(SqlState::UNDEFINED_FUNCTION, message)
                .hint(format!(
                    "To use the hypothetical-set aggregate {name}, the number of hypothetical direct arguments (here {}) must match the number of ordering columns (here {}).",
                    direct.len(),
                    call.within_group.len()
                ))
                .at(pos));
        }
        let before = before(&call.within_group, &direct, false, pos);
        let expr = match name {
            "rank" => plus_one(count(Vec::new(), false, Some(before), call), pos),
            "dense_rank" => {
                let row = Expr::Row(call.within_group.iter().map(|item| item.expr.clone()).collect(), pos);
                plus_one(count(vec![row], true, Some(before), call), pos)
            }
            "percent_rank" => share(count(Vec::new(), false, Some(before), call), count(Vec::new(), false, None, call), pos),
            _ => {
                let upto = self::before(&call.within_group, &direct, true, pos);
                let all = count(Vec::new(), false, None, call);
                share(plus_one(count(Vec::new(), false, Some(upto), call), pos), plus_one(all, pos), pos)
            }
        };
        self.expr(&expr)
    }
}

/// The condition that a row comes before the hypothetical one, or (`upto`) is its equal.
fn before(order: &[OrderItem], direct: &[&Expr], upto: bool, pos: usize) -> Expr {
    let ([item, rest @ ..], [value, values @ ..]) = (order, direct) else { return Expr::Literal(Literal::Bool(upto), pos) };
    let nulls_first = item.nulls_first.unwrap_or(item.descending);
    let (row, value) = (item.expr.clone(), (*value).clone());
    let is_null = |expr: &Expr, negated: bool| Expr::IsNull { expr: Box::new(expr.clone()), negated };
    let compare = |op: &str| Expr::Binary { op: op.into(), left: Box::new(row.clone()), right: Box::new(value.clone()), pos };
    let earlier = compare(if item.descending { ">" } else { "<" });
    // NULLs are all before, or all behind, what is not NULL.
    let null_before = Expr::And(vec![is_null(&row, !nulls_first), is_null(&value, nulls_first)]);
    let same = Expr::IsDistinct { left: Box::new(row.clone()), right: Box::new(value.clone()), negated: true, pos };
    Expr::Or(vec![earlier, null_before, Expr::And(vec![same, before(rest, values, upto, pos)])])
}

fn call_of(name: &str, args: Vec<Expr>, pos: usize) -> FunctionCall {
    FunctionCall {
        name: ObjectName { pos, ..ObjectName::bare(name) },
        args: args.into_iter().map(|value| FunctionArg { name: None, value }).collect(),
        variadic: false,
        star: false,
        distinct: false,
        order_by: Vec::new(),
        within_group: Vec::new(),
        filter: None,
        over: None,
        special: false,
    }
}

fn count(args: Vec<Expr>, distinct: bool, condition: Option<Expr>, call: &FunctionCall) -> Expr {
    let filter = match (condition, call.filter.clone()) {
        (Some(a), Some(b)) => Some(Expr::And(vec![a, b])),
        (a, b) => a.or(b),
    };
    let star = args.is_empty();
    Expr::Function(Box::new(FunctionCall { star, distinct, filter, ..call_of("count", args, call.name.pos) }))
}

fn plus_one(count: Expr, pos: usize) -> Expr {
    let one = Expr::Literal(Literal::Number("1".into()), pos);
    Expr::Binary { op: "+".into(), left: Box::new(count), right: Box::new(one), pos }
}

/// `part / whole` as a float, 0 where there is nothing.
fn share(part: Expr, whole: Expr, pos: usize) -> Expr {
    let zero = Expr::Literal(Literal::Number("0".into()), pos);
    let float = |expr: Expr| Expr::Function(Box::new(call_of("float8", vec![expr], pos)));
    let empty = Expr::Binary { op: "=".into(), left: Box::new(whole.clone()), right: Box::new(zero.clone()), pos };
    let quotient = Expr::Binary { op: "/".into(), left: Box::new(float(part)), right: Box::new(float(whole)), pos };
    Expr::Case { operand: None, whens: vec![(empty, float(zero))], otherwise: Some(Box::new(quotient)), pos }
}
