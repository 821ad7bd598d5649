//! Text forms (being written).
use super::{ColumnType, DataType, Datum, TextContext};
use crate::error::SqlError;

/// Reads a value's text form, modifier applied as assignment does.
pub fn parse(_text: &str, to: ColumnType, _ctx: &TextContext<'_>) -> Result<Datum, SqlError> {
    Err(SqlError::unsupported(format_args!("text input of type {to}")))
}

/// Appends a value's text form; NULL appends nothing.
pub fn write(_value: &Datum, _ty: DataType, _ctx: &TextContext<'_>, _out: &mut String) {}
