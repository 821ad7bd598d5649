//! Constant folding (being written).
use super::{EvalContext, Expr};

/// Evaluates what is constant. An error while folding leaves the expression as it is, to fail when (and if) it runs.
pub fn fold(expr: Expr, _ctx: &EvalContext<'_>) -> Expr {
    expr
}
