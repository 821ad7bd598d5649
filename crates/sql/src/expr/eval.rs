//! Evaluation (being written).
use super::{EvalContext, Expr};
use crate::error::SqlError;
use crate::types::Datum;

/// The value of an expression over a row.
pub fn eval(_expr: &Expr, _row: &[Datum], _ctx: &EvalContext<'_>) -> Result<Datum, SqlError> {
    Err(SqlError::unsupported("evaluation"))
}

/// Is a predicate true (neither false nor NULL)? Compares columns in place.
pub fn eval_bool(_expr: &Expr, _row: &[Datum], _ctx: &EvalContext<'_>) -> Result<bool, SqlError> {
    Err(SqlError::unsupported("evaluation"))
}
