//! Rows of [`Datum`]s to and from the bytes that `tidelock_base::row` lays out.
//!
//! A column's bytes carry no type; the catalog knows it.  Integers take as many bytes as they need (the layout knows where a column
//! ends), and equal values of one type have equal bytes, which "refresh by value" relies on.

use super::{DataType, Datum, Interval, binary, enums, json, numeric::Numeric};
use crate::error::{SqlError, SqlState};
use num_bigint::BigInt;
use std::sync::Arc;
use tidelock_base::row::{Column, RowBuilder, RowView};

/// First byte of a numeric: a scale below this is the byte itself.
const SCALE_INLINE_MAX: u32 = 0xf0;
const SCALE_LONG: u8 = 0xf0;
const NAN: u8 = 0xfd;
const INFINITY: u8 = 0xfe;
const NEGATIVE_INFINITY: u8 = 0xff;

fn corrupt(ty: DataType) -> SqlError {
    SqlError::new(SqlState::DATA_CORRUPTED, format!("a stored column cannot be read as {ty}"))
}

/// Encodes a row; `builder` may be reused from row to row.
pub fn encode_row(values: &[Datum], builder: &mut RowBuilder) -> Result<Vec<u8>, SqlError> {
    for value in values {
        match value {
            Datum::Null => builder.null(),
            Datum::Record(_) => return Err(SqlError::unsupported("storing a record in a column")),
            value => builder.column(|out| encode_column(value, out)),
        }
    }
    Ok(builder.finish())
}

/// Appends one column's bytes; the value is neither NULL nor a record.
pub fn encode_column(value: &Datum, out: &mut Vec<u8>) {
    match value {
        Datum::Null | Datum::Record(_) => {}
        Datum::Bool(b) => out.push(u8::from(*b)),
        Datum::Int2(n) => int(i64::from(*n), out),
        Datum::Int4(n) => int(i64::from(*n), out),
        Datum::Int8(n) => int(*n, out),
        Datum::Oid(n) => int(i64::from(*n), out),
        Datum::Date(days) => int(i64::from(*days), out),
        Datum::Time(micros) | Datum::Timestamp(micros) | Datum::Timestamptz(micros) => int(*micros, out),
        Datum::Float4(x) => out.extend_from_slice(&x.to_le_bytes()),
        Datum::Float8(x) => out.extend_from_slice(&x.to_le_bytes()),
        Datum::Numeric(n) => encode_numeric(n, out),
        Datum::Text(text) => out.extend_from_slice(text.as_bytes()),
        Datum::Bytes(bytes) => out.extend_from_slice(bytes),
        Datum::Char(byte) => out.push(*byte),
        Datum::Interval(interval) => {
            out.extend_from_slice(&interval.months.to_le_bytes());
            out.extend_from_slice(&interval.days.to_le_bytes());
            int(interval.micros, out);
        }
        Datum::Uuid(uuid) => out.extend_from_slice(uuid),
        Datum::Enum(label) => int(i64::from(label.oid), out),
        Datum::Json(text) => out.extend_from_slice(text.as_bytes()),
        Datum::Jsonb(value) => json::codec::encode(value, out),
        Datum::JsonPath(path) => out.extend_from_slice(path.to_string().as_bytes()),
        // The wire form says everything; an array of storable elements always has one.
        Datum::Array(array) => {
            let written = binary::encode(value, super::array_of(array.element).unwrap_or(DataType::TEXT_ARRAY), out);
            debug_assert!(written.is_ok());
        }
    }
}

/// Two's complement, least byte first, without the bytes that only repeat the sign.
fn int(n: i64, out: &mut Vec<u8>) {
    let significant = if n < 0 { !n } else { n };
    let bytes = (64 - significant.leading_zeros() as usize) / 8 + 1;
    out.extend_from_slice(&n.to_le_bytes()[..bytes.min(8)]);
}

fn read_int(bytes: &[u8]) -> Option<i64> {
    let last = *bytes.last()?;
    let mut all = if last & 0x80 != 0 { [0xff; 8] } else { [0; 8] };
    all.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(i64::from_le_bytes(all))
}

pub(super) fn encode_numeric(n: &Numeric, out: &mut Vec<u8>) {
    let mut scale = |scale: u32| {
        if scale < SCALE_INLINE_MAX {
            out.push(scale as u8);
        } else {
            out.push(SCALE_LONG);
            out.extend_from_slice(&scale.to_le_bytes());
        }
    };
    match n {
        Numeric::NaN => out.push(NAN),
        Numeric::Infinity => out.push(INFINITY),
        Numeric::NegativeInfinity => out.push(NEGATIVE_INFINITY),
        Numeric::Small { mantissa, scale: own } => {
            scale(u32::from(*own));
            int(*mantissa, out);
        }
        big => {
            scale(big.scale());
            if let Some((mantissa, _)) = big.big_parts() {
                out.extend_from_slice(&mantissa.to_signed_bytes_le());
            }
        }
    }
}

pub(super) fn decode_numeric(bytes: &[u8]) -> Option<Numeric> {
    let (scale, mantissa) = match *bytes.first()? {
        NAN => return Some(Numeric::NaN),
        INFINITY => return Some(Numeric::Infinity),
        NEGATIVE_INFINITY => return Some(Numeric::NegativeInfinity),
        SCALE_LONG => (u32::from_le_bytes(bytes.get(1..5)?.try_into().ok()?), bytes.get(5..)?),
        scale => (u32::from(scale), &bytes[1..]),
    };
    match (read_int(mantissa), u16::try_from(scale)) {
        (Some(mantissa), Ok(scale)) => Some(Numeric::Small { mantissa, scale }),
        _ => Some(Numeric::from_big(BigInt::from_signed_bytes_le(mantissa), scale)),
    }
}

/// Reads one column's bytes.
pub fn decode_column(bytes: &[u8], ty: DataType) -> Result<Datum, SqlError> {
    read_column(bytes, ty).ok_or_else(|| corrupt(ty))
}

fn read_column(bytes: &[u8], ty: DataType) -> Option<Datum> {
    Some(match ty {
        DataType::INT4 => Datum::Int4(read_int(bytes)?.try_into().ok()?),
        DataType::INT8 => Datum::Int8(read_int(bytes)?),
        DataType::INT2 => Datum::Int2(read_int(bytes)?.try_into().ok()?),
        DataType::NUMERIC => Datum::Numeric(decode_numeric(bytes)?),
        DataType::BOOL => Datum::Bool(*bytes.first()? != 0),
        DataType::TIMESTAMP => Datum::Timestamp(read_int(bytes)?),
        DataType::TIMESTAMPTZ => Datum::Timestamptz(read_int(bytes)?),
        DataType::DATE => Datum::Date(read_int(bytes)?.try_into().ok()?),
        DataType::TIME => Datum::Time(read_int(bytes)?),
        DataType::FLOAT4 => Datum::Float4(f32::from_le_bytes(bytes.try_into().ok()?)),
        DataType::FLOAT8 => Datum::Float8(f64::from_le_bytes(bytes.try_into().ok()?)),
        DataType::BYTEA => Datum::Bytes(bytes.into()),
        DataType::CHAR => Datum::Char(*bytes.first()?),
        DataType::UUID => Datum::Uuid(bytes.try_into().ok()?),
        DataType::JSON => Datum::Json(std::str::from_utf8(bytes).ok()?.into()),
        DataType::JSONB => Datum::Jsonb(Arc::new(json::codec::decode(bytes)?)),
        DataType::JSONPATH => Datum::JsonPath(Arc::new(json::path::JsonPath::parse(std::str::from_utf8(bytes).ok()?).ok()?)),
        DataType::INTERVAL => Datum::Interval(Interval {
            months: i32::from_le_bytes(bytes.get(..4)?.try_into().ok()?),
            days: i32::from_le_bytes(bytes.get(4..8)?.try_into().ok()?),
            micros: read_int(bytes.get(8..)?)?,
        }),
        ty if ty.is_text() => Datum::Text(std::str::from_utf8(bytes).ok()?.into()),
        ty if ty.is_oid() => Datum::Oid(read_int(bytes)?.try_into().ok()?),
        ty if enums::is_enum(ty) => Datum::Enum(enums::by_oid(ty, read_int(bytes)?.try_into().ok()?)?),
        ty => binary::decode(bytes, ty).ok()?,
    })
}

/// A column to decode.
#[derive(Clone, Debug)]
pub struct StoredColumn {
    /// Its place in the stored row.
    pub position: usize,
    /// Its type.
    pub ty: DataType,
    /// Its value in rows older than the column.
    pub missing: Datum,
}

/// Decodes the wanted columns of rows, and no others.
#[derive(Clone, Debug, Default)]
pub struct RowDecoder {
    columns: Vec<StoredColumn>,
}

impl RowDecoder {
    /// For these columns, in the order they shall come out.
    pub fn new(columns: Vec<StoredColumn>) -> RowDecoder {
        RowDecoder { columns }
    }

    /// Appends the wanted columns of one row.
    pub fn decode(&self, bytes: &[u8], out: &mut Vec<Datum>) -> Result<(), SqlError> {
        let row = RowView::new(bytes).map_err(|e| SqlError::new(SqlState::DATA_CORRUPTED, e.to_string()))?;
        out.reserve(self.columns.len());
        for column in &self.columns {
            out.push(match row.column(column.position) {
                Column::Null => Datum::Null,
                Column::Missing => column.missing.clone(),
                Column::Bytes(bytes) => decode_column(bytes, column.ty)?,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_back() {
        let big = Numeric::parse("123456789012345678901234567890.12").unwrap();
        let values = [
            (Datum::Int4(-1), DataType::INT4),
            (Datum::Int8(i64::MIN), DataType::INT8),
            (Datum::Int8(127), DataType::INT8),
            (Datum::Int8(128), DataType::INT8),
            (Datum::Numeric(big), DataType::NUMERIC),
            (Datum::Numeric(Numeric::parse("-12.50").unwrap()), DataType::NUMERIC),
            (Datum::text("abc"), DataType::TEXT),
            (Datum::Interval(Interval { months: -3, days: 2, micros: 7 }), DataType::INTERVAL),
            (Datum::array(DataType::INT4, vec![Datum::Int4(1), Datum::Null]), DataType::INT4_ARRAY),
        ];
        for (value, ty) in values {
            let mut bytes = Vec::new();
            encode_column(&value, &mut bytes);
            let back = decode_column(&bytes, ty).unwrap();
            assert!(super::super::compare::eq(&value, &back), "{value:?} {back:?}");
        }
    }

    #[test]
    fn a_datum_is_small() {
        assert_eq!(size_of::<Datum>(), 24);
        assert_eq!(size_of::<Numeric>(), 16);
    }
}
