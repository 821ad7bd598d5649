//! PostgreSQL's binary forms, exactly: what binary-format parameters and results carry.

use super::{Array, DataType, Datum, Interval, catalog, numeric};
use crate::error::{SqlError, SqlState};
use std::sync::Arc;

/// The first byte of the binary forms of `jsonb` and `jsonpath`.
const JSON_VERSION: u8 = 1;

/// Elements an array may have; PostgreSQL's MaxArraySize is near 134 million, a message is not that long.
const ARRAY_ELEMENTS_MAX: usize = 1 << 24;

fn incorrect() -> SqlError {
    SqlError::new(SqlState::INVALID_BINARY_REPRESENTATION, "incorrect binary data format")
}

fn fixed<const N: usize>(bytes: &[u8]) -> Result<[u8; N], SqlError> {
    bytes.try_into().map_err(|_| incorrect())
}

/// A value whose binary form is its text.
fn plain_text(bytes: &[u8], ty: DataType) -> Result<Datum, SqlError> {
    let settings = super::FormatSettings::default();
    super::text::parse(std::str::from_utf8(bytes).map_err(|_| incorrect())?, ty.into(), &super::TextContext::new(&settings))
}

/// Reads a value's binary form.
pub fn decode(bytes: &[u8], ty: DataType) -> Result<Datum, SqlError> {
    Ok(match ty {
        DataType::BOOL => Datum::Bool(fixed::<1>(bytes)?[0] != 0),
        DataType::INT2 => Datum::Int2(i16::from_be_bytes(fixed(bytes)?)),
        DataType::INT4 => Datum::Int4(i32::from_be_bytes(fixed(bytes)?)),
        DataType::INT8 => Datum::Int8(i64::from_be_bytes(fixed(bytes)?)),
        DataType::FLOAT4 => Datum::Float4(f32::from_be_bytes(fixed(bytes)?)),
        DataType::FLOAT8 => Datum::Float8(f64::from_be_bytes(fixed(bytes)?)),
        DataType::NUMERIC => Datum::Numeric(numeric::wire::decode(bytes)?),
        DataType::BYTEA => Datum::Bytes(bytes.into()),
        DataType::JSONB | DataType::JSONPATH => {
            let [JSON_VERSION, rest @ ..] = bytes else {
                let name = catalog::info(ty).name;
                return Err(SqlError::new(
                    SqlState::INTERNAL_ERROR,
                    format!("unsupported {name} version number {}", bytes.first().unwrap_or(&0)),
                ));
            };
            plain_text(rest, ty)?
        }
        DataType::JSON => plain_text(bytes, ty)?,
        ty if super::enums::is_enum(ty) => plain_text(bytes, ty)?,
        DataType::CHAR => Datum::Char(bytes.first().copied().unwrap_or(0)),
        DataType::DATE => Datum::Date(i32::from_be_bytes(fixed(bytes)?)),
        DataType::TIME => Datum::Time(i64::from_be_bytes(fixed(bytes)?)),
        DataType::TIMESTAMP => Datum::Timestamp(i64::from_be_bytes(fixed(bytes)?)),
        DataType::TIMESTAMPTZ => Datum::Timestamptz(i64::from_be_bytes(fixed(bytes)?)),
        DataType::INTERVAL => {
            let all: [u8; 16] = fixed(bytes)?;
            Datum::Interval(Interval {
                micros: i64::from_be_bytes(fixed(&all[..8])?),
                days: i32::from_be_bytes(fixed(&all[8..12])?),
                months: i32::from_be_bytes(fixed(&all[12..])?),
            })
        }
        DataType::UUID => Datum::Uuid(fixed(bytes)?),
        DataType::NAME => Datum::Text(super::text::truncate_name(text(bytes)?).into()),
        ty if ty.is_text() => Datum::Text(text(bytes)?.into()),
        ty if ty.is_oid() => Datum::Oid(u32::from_be_bytes(fixed(bytes)?)),
        ty => match catalog::element_of(ty) {
            Some(element) => decode_array(bytes, element)?,
            None => return Err(SqlError::unsupported(format_args!("binary input of type {ty}"))),
        },
    })
}

/// Bytes as text: UTF-8 without NUL.
pub fn text(bytes: &[u8]) -> Result<&str, SqlError> {
    let bad = |at: usize| {
        SqlError::new(SqlState::CHARACTER_NOT_IN_REPERTOIRE, format!("invalid byte sequence for encoding \"UTF8\": 0x{:02x}", bytes[at]))
    };
    if let Some(at) = bytes.iter().position(|b| *b == 0) {
        return Err(bad(at));
    }
    std::str::from_utf8(bytes).map_err(|e| bad(e.valid_up_to()))
}

/// Walks through a message.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], SqlError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(incorrect)?;
        self.0 = rest;
        Ok(taken)
    }

    fn i32(&mut self) -> Result<i32, SqlError> {
        Ok(i32::from_be_bytes(fixed(self.take(4)?)?))
    }
}

fn decode_array(bytes: &[u8], element: DataType) -> Result<Datum, SqlError> {
    let mut reader = Reader(bytes);
    let dimensions = reader.i32()?;
    let _has_nulls = reader.i32()?;
    let sent = DataType(reader.i32()? as u32);
    if !(0..=super::text::array::DIMENSIONS_MAX as i32).contains(&dimensions) {
        return Err(incorrect());
    }
    if sent != element {
        return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, "wrong element type"));
    }
    let mut dims = Vec::new();
    let mut count = 1usize;
    for _ in 0..dimensions {
        let (length, lower) = (reader.i32()?, reader.i32()?);
        let length_checked = usize::try_from(length).map_err(|_| incorrect())?;
        count = count.checked_mul(length_checked).filter(|n| *n <= ARRAY_ELEMENTS_MAX).ok_or_else(incorrect)?;
        dims.push((length, lower));
    }
    if dims.is_empty() {
        count = 0;
    }
    let mut elements = Vec::new();
    for _ in 0..count {
        elements.push(match reader.i32()? {
            -1 => Datum::Null,
            length => decode(reader.take(usize::try_from(length).map_err(|_| incorrect())?)?, element)?,
        });
    }
    if !reader.0.is_empty() {
        return Err(incorrect());
    }
    Ok(Datum::Array(Arc::new(Array { element, dims, elements })))
}

/// Appends a value's binary form; NULL has none and appends nothing.
pub fn encode(value: &Datum, _ty: DataType, out: &mut Vec<u8>) -> Result<(), SqlError> {
    match value {
        Datum::Null => {}
        Datum::Bool(b) => out.push(u8::from(*b)),
        Datum::Int2(n) => out.extend_from_slice(&n.to_be_bytes()),
        Datum::Int4(n) => out.extend_from_slice(&n.to_be_bytes()),
        Datum::Int8(n) => out.extend_from_slice(&n.to_be_bytes()),
        Datum::Float4(x) => out.extend_from_slice(&x.to_be_bytes()),
        Datum::Float8(x) => out.extend_from_slice(&x.to_be_bytes()),
        Datum::Numeric(n) => numeric::wire::encode(n, out),
        Datum::Text(text) => out.extend_from_slice(text.as_bytes()),
        Datum::Bytes(bytes) => out.extend_from_slice(bytes),
        Datum::Char(byte) => out.push(*byte),
        Datum::Date(days) => out.extend_from_slice(&days.to_be_bytes()),
        Datum::Time(micros) | Datum::Timestamp(micros) | Datum::Timestamptz(micros) => out.extend_from_slice(&micros.to_be_bytes()),
        Datum::Interval(interval) => {
            out.extend_from_slice(&interval.micros.to_be_bytes());
            out.extend_from_slice(&interval.days.to_be_bytes());
            out.extend_from_slice(&interval.months.to_be_bytes());
        }
        Datum::Uuid(uuid) => out.extend_from_slice(uuid),
        Datum::Enum(label) => out.extend_from_slice(label.label.as_bytes()),
        Datum::Json(text) => out.extend_from_slice(text.as_bytes()),
        Datum::Jsonb(value) => {
            out.push(JSON_VERSION);
            out.extend_from_slice(value.to_string().as_bytes());
        }
        Datum::JsonPath(path) => {
            out.push(JSON_VERSION);
            out.extend_from_slice(path.to_string().as_bytes());
        }
        Datum::Oid(oid) => out.extend_from_slice(&oid.to_be_bytes()),
        Datum::Array(array) => encode_array(array, out)?,
        Datum::Record(fields) => {
            out.extend_from_slice(&(fields.len() as i32).to_be_bytes());
            for (at, field) in fields.iter().enumerate() {
                let ty = fields.field_type(at);
                out.extend_from_slice(&ty.0.to_be_bytes());
                encode_item(field, ty, out)?;
            }
        }
    }
    Ok(())
}

/// Length and bytes; -1 for NULL.
fn encode_item(value: &Datum, ty: DataType, out: &mut Vec<u8>) -> Result<(), SqlError> {
    let at = out.len();
    out.extend_from_slice(&(-1i32).to_be_bytes());
    if !value.is_null() {
        encode(value, ty, out)?;
        let length = (out.len() - at - 4) as i32;
        out[at..at + 4].copy_from_slice(&length.to_be_bytes());
    }
    Ok(())
}

fn encode_array(array: &Array, out: &mut Vec<u8>) -> Result<(), SqlError> {
    let has_nulls = array.elements.iter().any(Datum::is_null);
    out.extend_from_slice(&(array.dims.len() as i32).to_be_bytes());
    out.extend_from_slice(&i32::from(has_nulls).to_be_bytes());
    out.extend_from_slice(&array.element.0.to_be_bytes());
    for (length, lower) in &array.dims {
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(&lower.to_be_bytes());
    }
    array.elements.iter().try_for_each(|element| encode_item(element, array.element, out))
}
