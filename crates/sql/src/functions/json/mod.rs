//! `json` and `jsonb`: operators, functions, aggregates.
//!
//! `json` functions read the text each time and give back pieces of it as they were written; `jsonb` functions walk the tree.  Each file
//! is one subject: [`access`] takes values apart, [`build`] makes them from SQL values, [`modify`] changes them, [`path`] runs
//! path queries, [`sets`] yields rows, [`populate`] turns objects into rows of a given shape.

pub(super) mod access;
pub(crate) mod build;
pub(super) mod modify;
pub(super) mod path;
pub(crate) mod populate;
pub(super) mod sets;

use crate::error::{SqlError, SqlState};
use crate::types::{Datum, Json};
use std::sync::Arc;

fn mismatch(at: usize, wanted: &str) -> SqlError {
    SqlError::new(SqlState::INTERNAL_ERROR, format!("argument {} is not {wanted}", at + 1))
}

/// A `jsonb` argument.
pub(super) fn jsonb(args: &[Datum], at: usize) -> Result<&Arc<Json>, SqlError> {
    match args.get(at) {
        Some(Datum::Jsonb(value)) => Ok(value),
        _ => Err(mismatch(at, "jsonb")),
    }
}

/// A `json` argument.
fn json(args: &[Datum], at: usize) -> Result<&Arc<str>, SqlError> {
    match args.get(at) {
        Some(Datum::Json(text)) => Ok(text),
        _ => Err(mismatch(at, "json")),
    }
}

/// A `jsonb` result.
pub(super) fn out_jsonb(value: Json) -> Result<Datum, SqlError> {
    Ok(Datum::Jsonb(Arc::new(value)))
}

fn invalid(message: impl Into<std::borrow::Cow<'static, str>>) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}
