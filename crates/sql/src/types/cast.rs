//! Casts between types.
//!
//! Whether a cast is allowed was decided by the binder ([`super::coercion`]); here it is done. A cast first changes the type, then
//! applies the target's modifier.

use super::datetime::{self, arithmetic, civil, zone};
use super::{Array, ColumnType, DataType, Datum, Json, Numeric, catalog, text};
use crate::error::{SqlError, SqlState};
use crate::expr::EvalContext;
use compact_str::CompactString;
use std::sync::Arc;

/// Casts a value; `explicit` (the user wrote it) truncates an over-long string where assignment fails.
pub fn cast(value: Datum, from: DataType, to: ColumnType, explicit: bool, ctx: &EvalContext<'_>) -> Result<Datum, SqlError> {
    if value.is_null() {
        return Ok(Datum::Null);
    }
    // What a bare number in a literal counts is said by the type's fields; in a string of type text it is seconds.
    if let (Datum::Text(literal), DataType::UNKNOWN, DataType::INTERVAL) = (&value, from, to.ty) {
        return text::parse(literal, to, &ctx.text());
    }
    let value = if from == to.ty { value } else { convert(value, from, to.ty, explicit, ctx)? };
    if to.typmod < 0 { Ok(value) } else { coerce_typmod(value, to, explicit) }
}

fn convert(value: Datum, from: DataType, to: DataType, explicit: bool, ctx: &EvalContext<'_>) -> Result<Datum, SqlError> {
    if to == DataType::ANY {
        return Ok(value);
    }
    if let Datum::Text(text) = value {
        return convert_text(text, from, to, ctx);
    }
    if to.is_text() {
        return Ok(Datum::Text(to_text(&value, from, to, ctx)));
    }
    match (&value, to) {
        (Datum::Array(array), to) => return convert_array(array, to, explicit, ctx),
        (Datum::Json(text), DataType::JSONB) => return Ok(Datum::Jsonb(Arc::new(Json::parse(text)?))),
        (Datum::Jsonb(value), DataType::JSON) => return Ok(Datum::Json(value.to_string().into())),
        (Datum::Jsonb(value), to) => return convert_jsonb(value, to),
        (Datum::Date(_) | Datum::Time(_) | Datum::Timestamp(_) | Datum::Timestamptz(_) | Datum::Interval(_), to) => {
            return convert_time(&value, from, to, ctx);
        }
        (Datum::Bool(b), DataType::INT4) => return Ok(Datum::Int4(i32::from(*b))),
        (Datum::Int4(n), DataType::BOOL) => return Ok(Datum::Bool(*n != 0)),
        (Datum::Char(byte), DataType::INT4) => return Ok(Datum::Int4(i32::from(*byte as i8))),
        (Datum::Int4(n), DataType::CHAR) => {
            return i8::try_from(*n).map(|n| Datum::Char(n as u8)).map_err(|_| SqlError::out_of_range("\"char\""));
        }
        _ => {}
    }
    convert_number(value, from, to)
}

/// A string to anything: between strings by their rules, otherwise by the target's text form.
fn convert_text(value: CompactString, from: DataType, to: DataType, ctx: &EvalContext<'_>) -> Result<Datum, SqlError> {
    Ok(match (from, to) {
        (DataType::BPCHAR, DataType::TEXT | DataType::VARCHAR) => Datum::Text(value.trim_end_matches(' ').into()),
        (DataType::BPCHAR, DataType::NAME) => Datum::Text(text::truncate_name(value.trim_end_matches(' ')).into()),
        (_, DataType::TEXT | DataType::VARCHAR | DataType::BPCHAR | DataType::UNKNOWN | DataType::CSTRING | DataType::PG_NODE_TREE) => {
            Datum::Text(value)
        }
        (_, to) => text::parse(&value, to.into(), &ctx.text())?,
    })
}

fn to_text(value: &Datum, from: DataType, to: DataType, ctx: &EvalContext<'_>) -> CompactString {
    if let Datum::Bool(value) = value {
        // The cast spells it out, the output function does not.
        return if *value { "true".into() } else { "false".into() };
    }
    let printed = text::to_string(value, from, &ctx.text());
    if to == DataType::NAME { text::truncate_name(&printed).into() } else { printed.into() }
}

fn convert_array(array: &Array, to: DataType, explicit: bool, ctx: &EvalContext<'_>) -> Result<Datum, SqlError> {
    let element = catalog::element_of(to).ok_or_else(|| cannot(catalog::array_of(array.element).unwrap_or(DataType::ANYARRAY), to))?;
    let elements: Result<Vec<Datum>, SqlError> =
        array.elements.iter().map(|value| cast(value.clone(), array.element, element.into(), explicit, ctx)).collect();
    Ok(Datum::Array(Arc::new(Array { element, dims: array.dims.clone(), elements: elements? })))
}

/// A bare number or boolean inside `jsonb`, as an SQL one.
fn convert_jsonb(value: &Json, to: DataType) -> Result<Datum, SqlError> {
    match (value, to) {
        (Json::Bool(value), DataType::BOOL) => Ok(Datum::Bool(*value)),
        (Json::Number(n), DataType::NUMERIC) => Ok(Datum::Numeric(n.clone())),
        (Json::Number(n), to) if to != DataType::BOOL => convert_number(Datum::Numeric(n.clone()), DataType::NUMERIC, to),
        _ => {
            let kind = if matches!(value, Json::Number(_)) { "numeric" } else { value.type_name() };
            Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("cannot cast jsonb {kind} to type {to}")))
        }
    }
}

fn cannot(from: DataType, to: DataType) -> SqlError {
    SqlError::new(SqlState::CANNOT_COERCE, format!("cannot cast type {from} to {to}"))
}

fn convert_time(value: &Datum, from: DataType, to: DataType, ctx: &EvalContext<'_>) -> Result<Datum, SqlError> {
    let zone = &ctx.settings.time_zone;
    Ok(match (value, to) {
        (Datum::Date(days), DataType::TIMESTAMP) => Datum::Timestamp(civil::timestamp_of_date(*days)?),
        (Datum::Date(days), DataType::TIMESTAMPTZ) => Datum::Timestamptz(zone::to_utc(zone, civil::timestamp_of_date(*days)?)?),
        (Datum::Timestamp(micros), DataType::DATE) => Datum::Date(civil::date_of_timestamp(*micros)),
        (Datum::Timestamptz(micros), DataType::DATE) => Datum::Date(arithmetic::date_in_zone(zone, *micros)),
        (Datum::Timestamp(micros), DataType::TIMESTAMPTZ) => Datum::Timestamptz(zone::to_utc(zone, *micros)?),
        (Datum::Timestamptz(micros), DataType::TIMESTAMP) => Datum::Timestamp(zone::to_local(zone, *micros)),
        (Datum::Timestamp(micros), DataType::TIME) => time_of_day(*micros),
        (Datum::Timestamptz(micros), DataType::TIME) => time_of_day(zone::to_local(zone, *micros)),
        (Datum::Time(micros), DataType::INTERVAL) => Datum::Interval(super::Interval { micros: *micros, ..Default::default() }),
        (Datum::Interval(interval), DataType::TIME) => Datum::Time(interval.micros.rem_euclid(civil::MICROS_PER_DAY)),
        _ => return Err(cannot(from, to)),
    })
}

fn time_of_day(micros: i64) -> Datum {
    if civil::is_infinite(micros) { Datum::Null } else { Datum::Time(micros.rem_euclid(civil::MICROS_PER_DAY)) }
}

fn convert_number(value: Datum, from: DataType, to: DataType) -> Result<Datum, SqlError> {
    Ok(match to {
        DataType::INT2 => Datum::Int2(i16::try_from(integer(&value, from, to)?).map_err(|_| SqlError::out_of_range("smallint"))?),
        DataType::INT4 if matches!(value, Datum::Oid(_)) => Datum::Int4(integer(&value, from, to)? as i32),
        DataType::INT4 => Datum::Int4(i32::try_from(integer(&value, from, to)?).map_err(|_| SqlError::out_of_range("integer"))?),
        DataType::INT8 => Datum::Int8(integer(&value, from, to)?),
        DataType::NUMERIC => Datum::Numeric(match &value {
            Datum::Float4(x) => Numeric::from_f32(*x),
            Datum::Float8(x) => Numeric::from_f64(*x),
            other => Numeric::from(integer(other, from, to)?),
        }),
        DataType::FLOAT8 => Datum::Float8(float(&value, from, to)?),
        DataType::FLOAT4 => Datum::Float4(match &value {
            // By its digits, as a literal would be read.
            Datum::Numeric(n) => text::float::parse_f32(&n.to_string())?,
            other => narrow(float(other, from, to)?)?,
        }),
        to if to.is_oid() => match &value {
            Datum::Int4(n) => Datum::Oid(*n as u32),
            Datum::Int2(n) => Datum::Oid(i32::from(*n) as u32),
            other => Datum::Oid(u32::try_from(integer(other, from, to)?).map_err(|_| SqlError::out_of_range("OID"))?),
        },
        _ => return Err(cannot(from, to)),
    })
}

/// The nearest integer: numerics round half away from zero, floats half to even.
fn integer(value: &Datum, from: DataType, to: DataType) -> Result<i64, SqlError> {
    let name = catalog::info(to).display;
    match value {
        Datum::Numeric(n) => n.to_i64(name),
        Datum::Float4(x) => float_to_integer(f64::from(*x), name),
        Datum::Float8(x) => float_to_integer(*x, name),
        other => super::compare::as_i64(other).ok_or_else(|| cannot(from, to)),
    }
}

/// A float as an integer, half to even.
pub fn float_to_integer(x: f64, type_name: &'static str) -> Result<i64, SqlError> {
    let rounded = x.round_ties_even();
    // -2^63 fits, 2^63 does not; NaN fails both.
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&rounded) {
        Ok(rounded as i64)
    } else {
        Err(SqlError::out_of_range(type_name))
    }
}

fn float(value: &Datum, from: DataType, to: DataType) -> Result<f64, SqlError> {
    Ok(match value {
        Datum::Float4(x) => f64::from(*x),
        Datum::Float8(x) => *x,
        Datum::Numeric(n) => {
            let x = n.to_f64();
            if x.is_infinite() && n.is_finite() {
                return Err(SqlError::new(
                    SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
                    format!("\"{n}\" is out of range for type double precision"),
                ));
            }
            x
        }
        other => super::compare::as_i64(other).ok_or_else(|| cannot(from, to))? as f64,
    })
}

/// `float8` to `float4`; overflow and underflow are errors.
pub fn narrow(x: f64) -> Result<f32, SqlError> {
    let narrowed = x as f32;
    if narrowed.is_infinite() && x.is_finite() {
        return Err(SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: overflow"));
    }
    if narrowed == 0.0 && x != 0.0 {
        return Err(SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: underflow"));
    }
    Ok(narrowed)
}

/// Brings a value of type `to.ty` under the modifier `to.typmod`: length of strings, precision of numbers and times.
pub fn coerce_typmod(value: Datum, to: ColumnType, explicit: bool) -> Result<Datum, SqlError> {
    if to.typmod < 0 {
        return Ok(value);
    }
    Ok(match value {
        Datum::Text(text) if to.ty == DataType::VARCHAR => Datum::Text(limit_length(text, to, explicit)?),
        Datum::Text(text) if to.ty == DataType::BPCHAR => Datum::Text(pad(limit_length(text, to, explicit)?, to.typmod - 4)),
        Datum::Numeric(n) => Datum::Numeric(n.coerce(to)?),
        Datum::Time(micros) => Datum::Time(arithmetic::round_micros(micros, to.typmod)),
        Datum::Timestamp(micros) => Datum::Timestamp(arithmetic::round_micros(micros, to.typmod)),
        Datum::Timestamptz(micros) => Datum::Timestamptz(arithmetic::round_micros(micros, to.typmod)),
        Datum::Interval(interval) => Datum::Interval(datetime::interval::coerce(interval, to.typmod)),
        Datum::Array(array) => {
            let element = ColumnType { ty: array.element, typmod: to.typmod };
            let elements: Result<Vec<Datum>, SqlError> =
                array.elements.iter().map(|value| coerce_typmod(value.clone(), element, explicit)).collect();
            Datum::Array(Arc::new(Array { element: array.element, dims: array.dims.clone(), elements: elements? }))
        }
        other => other,
    })
}

/// Cuts a string to `typmod - 4` characters: trailing blanks always, anything else only when the cast is explicit.
fn limit_length(text: CompactString, to: ColumnType, explicit: bool) -> Result<CompactString, SqlError> {
    let limit = (to.typmod - 4).max(0) as usize;
    if text.len() <= limit {
        return Ok(text);
    }
    let Some((end, _)) = text.char_indices().nth(limit) else { return Ok(text) };
    if !explicit && text[end..].bytes().any(|b| b != b' ') {
        return Err(SqlError::new(SqlState::STRING_DATA_RIGHT_TRUNCATION, format!("value too long for type {to}")));
    }
    Ok(text[..end].into())
}

/// Padding, a piece at a time.
const SPACES: &str = "                                                                ";

fn pad(mut text: CompactString, length: i32) -> CompactString {
    let missing = (length.max(0) as usize).saturating_sub(text.chars().count());
    text.reserve(missing);
    let mut left = missing;
    while left > 0 {
        let part = left.min(SPACES.len());
        text.push_str(&SPACES[..part]);
        left -= part;
    }
    text
}

/// A number of days and microseconds as the current date, time or timestamp of the transaction, for `CURRENT_DATE` and its like.
pub fn current(ty: DataType, ctx: &EvalContext<'_>) -> Datum {
    let local = zone::to_local(&ctx.settings.time_zone, ctx.transaction_time);
    match ty {
        DataType::DATE => Datum::Date(datetime::civil::date_of_timestamp(local)),
        DataType::TIME => Datum::Time(local.rem_euclid(civil::MICROS_PER_DAY)),
        DataType::TIMESTAMP => Datum::Timestamp(local),
        _ => Datum::Timestamptz(ctx.transaction_time),
    }
}
