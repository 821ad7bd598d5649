//! Text forms: what a literal means and what a client is shown.
//!
//! [`parse`] is the type's input function, [`write()`] its output function.  Every cast from an unknown literal and every value of a
//! text-format result goes through here, so the common scalars take short paths.

use super::cast::coerce_typmod;
use super::{ColumnType, DataType, Datum, Json, Numeric, TextContext, catalog, datetime, enums, json};
use crate::error::{SqlError, SqlState};
use std::fmt::Write;
use std::sync::Arc;

pub mod array;
pub mod bytes;
pub mod float;
mod integer;
mod reg;
mod scalar;

pub use integer::{write_digits, write_int};

/// Longest `name`, in bytes.
pub const NAME_BYTES_MAX: usize = 63;

/// Reads a value's text form; the modifier is applied as assignment does (an over-long string is an error).
pub fn parse(text: &str, to: ColumnType, ctx: &TextContext<'_>) -> Result<Datum, SqlError> {
    if to.ty == DataType::INTERVAL {
        let interval = datetime::interval::parse(text, to.typmod)?;
        return coerce_typmod(Datum::Interval(interval), to, false);
    }
    let value = parse_plain(text, to.ty, ctx)?;
    if to.typmod < 0 { Ok(value) } else { coerce_typmod(value, to, false) }
}

fn parse_plain(text: &str, ty: DataType, ctx: &TextContext<'_>) -> Result<Datum, SqlError> {
    Ok(match ty {
        DataType::TEXT | DataType::VARCHAR | DataType::BPCHAR | DataType::UNKNOWN | DataType::CSTRING | DataType::PG_NODE_TREE => {
            Datum::Text(text.into())
        }
        DataType::INT4 => Datum::Int4(integer::parse(text, "integer")?),
        DataType::INT8 => Datum::Int8(integer::parse(text, "bigint")?),
        DataType::INT2 => Datum::Int2(integer::parse(text, "smallint")?),
        DataType::NUMERIC => Datum::Numeric(Numeric::parse(text)?),
        DataType::BOOL => Datum::Bool(scalar::parse_bool(text)?),
        DataType::FLOAT8 => Datum::Float8(float::parse_f64(text)?),
        DataType::FLOAT4 => Datum::Float4(float::parse_f32(text)?),
        DataType::DATE => Datum::Date(datetime::parse::date(text, ctx)?),
        DataType::TIME => Datum::Time(datetime::parse::time(text, ctx)?),
        DataType::TIMESTAMP => Datum::Timestamp(datetime::parse::timestamp(text, ctx)?),
        DataType::TIMESTAMPTZ => Datum::Timestamptz(datetime::parse::timestamptz(text, ctx)?),
        DataType::INTERVAL => Datum::Interval(datetime::interval::parse(text, -1)?),
        DataType::UUID => Datum::Uuid(scalar::parse_uuid(text)?),
        DataType::BYTEA => Datum::Bytes(bytes::parse(text)?.into()),
        DataType::JSON => {
            json::parse::check(text)?;
            Datum::Json(text.into())
        }
        DataType::JSONB => Datum::Jsonb(Arc::new(Json::parse(text)?)),
        DataType::JSONPATH => Datum::JsonPath(Arc::new(json::path::JsonPath::parse(text)?)),
        DataType::NAME => Datum::Text(truncate_name(text).into()),
        DataType::CHAR => Datum::Char(scalar::parse_char(text)),
        DataType::OID | DataType::XID | DataType::CID => Datum::Oid(integer::parse_oid(text)?),
        DataType::VOID => Datum::Text("".into()),
        DataType::RECORD => {
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "input of anonymous composite types is not implemented"));
        }
        ty if enums::is_enum(ty) => match enums::by_text(ty, text) {
            Some(label) => Datum::Enum(label),
            None => {
                let message = format!("invalid input value for enum {ty}: \"{text}\"");
                return Err(SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, message));
            }
        },
        DataType::INT2VECTOR | DataType::OIDVECTOR => array::parse_vector(text, ty, ctx)?,
        ty if ty.is_oid() => Datum::Oid(reg::parse(text, ty, ctx)?),
        ty => match catalog::element_of(ty) {
            Some(element) => array::parse(text, element, ctx)?,
            None => return Err(SqlError::unsupported(format_args!("text input of type {ty}"))),
        },
    })
}

/// A name cut to its length, at a character's boundary.
pub fn truncate_name(text: &str) -> &str {
    if text.len() <= NAME_BYTES_MAX {
        return text;
    }
    let end = (0..=NAME_BYTES_MAX).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}

/// Appends a value's text form, as a client sees it (`t` and `f` for bool); NULL appends nothing.
pub fn write(value: &Datum, ty: DataType, ctx: &TextContext<'_>, out: &mut String) {
    match value {
        Datum::Null => {}
        Datum::Bool(value) => out.push(if *value { 't' } else { 'f' }),
        Datum::Int2(n) => write_int(i64::from(*n), out),
        Datum::Int4(n) => write_int(i64::from(*n), out),
        Datum::Int8(n) => write_int(*n, out),
        Datum::Float4(x) => float::write_f32(*x, ctx.settings.extra_float_digits, out),
        Datum::Float8(x) => float::write_f64(*x, ctx.settings.extra_float_digits, out),
        Datum::Numeric(n) => n.write(out),
        Datum::Text(text) => out.push_str(text),
        Datum::Bytes(value) => bytes::write(value, ctx.settings.bytea_output, out),
        Datum::Char(0) => {}
        Datum::Char(byte) if byte.is_ascii() => out.push(char::from(*byte)),
        Datum::Char(byte) => {
            let _ = write!(out, "\\{byte:03o}");
        }
        Datum::Date(days) => datetime::format::date(out, *days, ctx.settings),
        Datum::Time(micros) => datetime::format::time(out, *micros),
        Datum::Timestamp(micros) => datetime::format::timestamp(out, *micros, ctx.settings),
        Datum::Timestamptz(micros) => datetime::format::timestamptz(out, *micros, ctx.settings),
        Datum::Interval(interval) => datetime::interval::write(out, *interval, ctx.settings.interval_style),
        Datum::Uuid(uuid) => scalar::write_uuid(uuid, out),
        Datum::Oid(oid) => reg::write(*oid, ty, ctx, out),
        Datum::Array(value) => array::write(value, ty, ctx, out),
        Datum::Record(fields) => array::write_record(fields, ctx, out),
        Datum::Enum(label) => out.push_str(&label.label),
        Datum::Json(text) => out.push_str(text),
        Datum::Jsonb(value) => value.write(out),
        Datum::JsonPath(path) => {
            let _ = write!(out, "{path}");
        }
    }
}

/// The text form as a new string.
pub fn to_string(value: &Datum, ty: DataType, ctx: &TextContext<'_>) -> String {
    let mut out = String::new();
    write(value, ty, ctx, &mut out);
    out
}

/// The type a value would have if nobody said otherwise: for the fields of a record, which carry none.
pub fn natural_type(value: &Datum) -> DataType {
    match value {
        Datum::Null | Datum::Text(_) => DataType::TEXT,
        Datum::Bool(_) => DataType::BOOL,
        Datum::Int2(_) => DataType::INT2,
        Datum::Int4(_) => DataType::INT4,
        Datum::Int8(_) => DataType::INT8,
        Datum::Float4(_) => DataType::FLOAT4,
        Datum::Float8(_) => DataType::FLOAT8,
        Datum::Numeric(_) => DataType::NUMERIC,
        Datum::Bytes(_) => DataType::BYTEA,
        Datum::Char(_) => DataType::CHAR,
        Datum::Date(_) => DataType::DATE,
        Datum::Time(_) => DataType::TIME,
        Datum::Timestamp(_) => DataType::TIMESTAMP,
        Datum::Timestamptz(_) => DataType::TIMESTAMPTZ,
        Datum::Interval(_) => DataType::INTERVAL,
        Datum::Uuid(_) => DataType::UUID,
        Datum::Oid(_) => DataType::OID,
        Datum::Array(array) => catalog::array_of(array.element).unwrap_or(DataType::TEXT_ARRAY),
        Datum::Record(_) => DataType::RECORD,
        Datum::Enum(label) => label.ty,
        Datum::Json(_) => DataType::JSON,
        Datum::Jsonb(_) => DataType::JSONB,
        Datum::JsonPath(_) => DataType::JSONPATH,
    }
}
