//! Casts between types (being written).
use super::{ColumnType, DataType, Datum};
use crate::error::SqlError;
use crate::expr::EvalContext;

/// Casts a value; `explicit` truncates over-long strings where assignment would fail.
pub fn cast(_value: Datum, _from: DataType, _to: ColumnType, _explicit: bool, _ctx: &EvalContext<'_>) -> Result<Datum, SqlError> {
    Err(SqlError::unsupported("cast"))
}

/// Brings a value of type `to.ty` under the modifier `to.typmod`: length of strings, precision of numbers and times.
pub fn coerce_typmod(value: Datum, _to: ColumnType, _explicit: bool) -> Result<Datum, SqlError> {
    Ok(value)
}
