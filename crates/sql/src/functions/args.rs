//! Arguments of builtin functions, by kind. The binder cast them to the signature, so a mismatch is a bug of ours and says so
//! instead of panicking.

use crate::error::{SqlError, SqlState};
use crate::types::{Array, Datum, Interval, Numeric, compare};
use std::sync::Arc;

/// What every builtin returns.
pub(super) type Answer = Result<Datum, SqlError>;

/// Functions of one float, each an expression that may leave with an error.
macro_rules! float_functions {
    ($($name:ident = |$x:ident| $body:expr;)*) => {
        $(fn $name(_: &$crate::expr::EvalContext<'_>, args: &[$crate::types::Datum]) -> $crate::functions::args::Answer {
            let $x = $crate::functions::args::float(args, 0)?;
            Ok($crate::types::Datum::Float8($body))
        })*
    };
}
pub(super) use float_functions;

fn mismatch(at: usize, wanted: &str) -> SqlError {
    SqlError::new(SqlState::INTERNAL_ERROR, format!("argument {} is not {wanted}", at + 1))
}

pub(super) fn text(args: &[Datum], at: usize) -> Result<&str, SqlError> {
    match args.get(at) {
        Some(Datum::Text(text)) => Ok(text),
        _ => Err(mismatch(at, "text")),
    }
}

pub(super) fn int(args: &[Datum], at: usize) -> Result<i64, SqlError> {
    args.get(at).and_then(compare::as_i64).ok_or_else(|| mismatch(at, "an integer"))
}

pub(super) fn int4(args: &[Datum], at: usize) -> Result<i32, SqlError> {
    i32::try_from(int(args, at)?).map_err(|_| mismatch(at, "an integer"))
}

pub(super) fn float(args: &[Datum], at: usize) -> Result<f64, SqlError> {
    match args.get(at) {
        Some(Datum::Float8(x)) => Ok(*x),
        Some(Datum::Float4(x)) => Ok(f64::from(*x)),
        _ => Err(mismatch(at, "a float")),
    }
}

pub(super) fn numeric(args: &[Datum], at: usize) -> Result<&Numeric, SqlError> {
    match args.get(at) {
        Some(Datum::Numeric(n)) => Ok(n),
        _ => Err(mismatch(at, "a numeric")),
    }
}

pub(super) fn boolean(args: &[Datum], at: usize) -> Result<bool, SqlError> {
    match args.get(at) {
        Some(Datum::Bool(b)) => Ok(*b),
        _ => Err(mismatch(at, "a boolean")),
    }
}

pub(super) fn bytes(args: &[Datum], at: usize) -> Result<&[u8], SqlError> {
    match args.get(at) {
        Some(Datum::Bytes(bytes)) => Ok(bytes),
        _ => Err(mismatch(at, "bytea")),
    }
}

pub(super) fn interval(args: &[Datum], at: usize) -> Result<Interval, SqlError> {
    match args.get(at) {
        Some(Datum::Interval(interval)) => Ok(*interval),
        _ => Err(mismatch(at, "an interval")),
    }
}

/// Days of a date, or microseconds of a time or timestamp.
pub(super) fn moment(args: &[Datum], at: usize) -> Result<i64, SqlError> {
    match args.get(at) {
        Some(Datum::Date(days)) => Ok(i64::from(*days)),
        Some(Datum::Time(micros) | Datum::Timestamp(micros) | Datum::Timestamptz(micros)) => Ok(*micros),
        _ => Err(mismatch(at, "a date or time")),
    }
}

pub(super) fn array(args: &[Datum], at: usize) -> Result<&Arc<Array>, SqlError> {
    match args.get(at) {
        Some(Datum::Array(array)) => Ok(array),
        _ => Err(mismatch(at, "an array")),
    }
}

/// A text result.
pub(super) fn out(text: impl Into<compact_str::CompactString>) -> Answer {
    Ok(Datum::Text(text.into()))
}
