//! Binary wire forms (being written).
use super::{DataType, Datum};
use crate::error::SqlError;

/// Reads PostgreSQL's binary form.
pub fn decode(_bytes: &[u8], ty: DataType) -> Result<Datum, SqlError> {
    Err(SqlError::unsupported(format_args!("binary input of type {ty}")))
}

/// Appends PostgreSQL's binary form; a NULL has none.
pub fn encode(_value: &Datum, ty: DataType, _out: &mut Vec<u8>) -> Result<(), SqlError> {
    Err(SqlError::unsupported(format_args!("binary output of type {ty}")))
}
