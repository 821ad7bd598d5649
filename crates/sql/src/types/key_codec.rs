//! Datums as order-preserving key bytes: bytes compare as [`super::compare`] compares the values.
//!
//! Keys are only written: whatever a statement needs of a row is in its value.  Integer types share one encoding, so an `int8` parameter finds an
//! `int4` key.

use super::compare::SortOrder;
use super::datetime::arithmetic::interval_length;
use super::{Array, DataType, Datum, Json, Numeric};
use crate::error::SqlError;
use tidelock_base::Key;
use tidelock_base::encoding::{self, Decimal};

/// Appends one column in ascending order, NULL last.
pub fn encode(key: &mut Key, value: &Datum, ty: DataType) -> Result<(), SqlError> {
    encode_ordered(key, value, ty, SortOrder::default())
}

/// Appends one column in the order given.
pub fn encode_ordered(key: &mut Key, value: &Datum, ty: DataType, order: SortOrder) -> Result<(), SqlError> {
    if value.is_null() {
        encoding::null(key, order.nulls_first);
        return Ok(());
    }
    let from = key.len();
    encode_value(key, value, ty)?;
    if order.descending {
        encoding::descending(key, from);
    }
    Ok(())
}

fn encode_value(key: &mut Key, value: &Datum, ty: DataType) -> Result<(), SqlError> {
    match value {
        Datum::Null => encoding::null(key, false),
        Datum::Int2(n) => encoding::int(key, i64::from(*n)),
        Datum::Int4(n) => encoding::int(key, i64::from(*n)),
        Datum::Int8(n) => encoding::int(key, *n),
        Datum::Oid(n) => encoding::int(key, i64::from(*n)),
        Datum::Bool(b) => encoding::int(key, i64::from(*b)),
        Datum::Char(byte) => encoding::int(key, i64::from(*byte)),
        Datum::Date(days) => encoding::int(key, i64::from(*days)),
        Datum::Time(micros) | Datum::Timestamp(micros) | Datum::Timestamptz(micros) => encoding::int(key, *micros),
        Datum::Float4(x) => encoding::float(key, f64::from(*x)),
        Datum::Float8(x) => encoding::float(key, *x),
        Datum::Numeric(n) => numeric(key, n),
        Datum::Text(text) if ty == DataType::BPCHAR => encoding::bytes(key, text.trim_end_matches(' ').as_bytes()),
        Datum::Text(text) => encoding::bytes(key, text.as_bytes()),
        Datum::Bytes(bytes) => encoding::bytes(key, bytes),
        Datum::Uuid(uuid) => encoding::raw(key, uuid),
        Datum::Interval(interval) => {
            // '1 month' and '30 days' are one key, since they are equal.
            let ordered = (interval_length(*interval) as u128) ^ (1 << 127);
            encoding::raw(key, &ordered.to_be_bytes());
        }
        Datum::Array(array) => return encode_array(key, array),
        Datum::Enum(label) => encoding::float(key, f64::from(label.order)),
        Datum::Jsonb(value) => jsonb(key, value),
        Datum::Record(_) => return Err(SqlError::unsupported("a record as a key")),
        Datum::Json(_) | Datum::JsonPath(_) => return Err(SqlError::unsupported(format_args!("a {ty} as a key"))),
    }
    Ok(())
}

fn numeric(key: &mut Key, n: &Numeric) {
    match n {
        Numeric::NaN => encoding::decimal(key, Decimal::NaN),
        Numeric::Infinity => encoding::decimal(key, Decimal::Infinity),
        Numeric::NegativeInfinity => encoding::decimal(key, Decimal::NegativeInfinity),
        finite => {
            let (negative, exponent, digits) = super::numeric::wire::key_parts(finite);
            encoding::decimal(key, Decimal::Finite { negative, exponent, digits: &digits });
        }
    }
}

/// Ranks of the kinds of JSON values, as [`super::json::compare`] orders them; an empty array at the top is below all.
const JSON_EMPTY: i64 = -1;

fn jsonb(key: &mut Key, value: &Json) {
    if matches!(value, Json::Array(items) if items.is_empty()) {
        return encoding::int(key, JSON_EMPTY);
    }
    jsonb_inner(key, value);
}

fn jsonb_inner(key: &mut Key, value: &Json) {
    match value {
        Json::Null => encoding::int(key, 0),
        Json::String(text) => {
            encoding::int(key, 1);
            encoding::bytes(key, text.as_bytes());
        }
        Json::Number(n) => {
            encoding::int(key, 2);
            numeric(key, n);
        }
        Json::Bool(value) => {
            encoding::int(key, 3);
            encoding::int(key, i64::from(*value));
        }
        Json::Array(items) => {
            encoding::int(key, 4);
            encoding::int(key, items.len() as i64);
            items.iter().for_each(|item| jsonb_inner(key, item));
        }
        Json::Object(pairs) => {
            encoding::int(key, 5);
            encoding::int(key, pairs.len() as i64);
            for (name, value) in pairs {
                encoding::bytes(key, name.as_bytes());
                jsonb_inner(key, value);
            }
        }
    }
}

/// Elements (NULL after all others), an end that sorts before any element, then the shape.
fn encode_array(key: &mut Key, array: &Array) -> Result<(), SqlError> {
    for element in &array.elements {
        encode_value(key, element, array.element)?;
    }
    encoding::null(key, true);
    encoding::int(key, array.dims.len() as i64);
    for (length, lower) in &array.dims {
        encoding::int(key, i64::from(*length));
        encoding::int(key, i64::from(*lower));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{FormatSettings, TextContext, compare, text};

    /// Pairs of every type, ordered; bytes must order alike, both ways.
    #[test]
    fn keys_order_as_values_do() {
        let settings = FormatSettings::default();
        let ctx = TextContext::new(&settings);
        let cases: &[(DataType, &[&str])] = &[
            (DataType::INT4, &["-2147483648", "-1", "0", "7", "2147483647"]),
            (DataType::NUMERIC, &["-Infinity", "-10.5", "-10.25", "0", "0.001", "1", "1.5", "10", "1e20", "Infinity", "NaN"]),
            (DataType::TEXT, &["", "a", "a b", "ab", "b", "é"]),
            (DataType::DATE, &["-infinity", "0044-03-15 BC", "1999-12-31", "2000-01-01", "infinity"]),
            (DataType::INTERVAL, &["-1 mon", "0", "29 days", "1 mon", "1 year"]),
            (DataType::INT4_ARRAY, &["{}", "{1}", "{1,2}", "{1,NULL}", "{2}"]),
            (DataType::FLOAT8, &["-Infinity", "-1.5", "0", "1e-3", "Infinity", "NaN"]),
            (DataType::BOOL, &["f", "t"]),
            (
                DataType::JSONB,
                &[
                    "[]",
                    "null",
                    "\"a\"",
                    "\"b\"",
                    "-1",
                    "2",
                    "false",
                    "true",
                    "[3]",
                    "[1, 2]",
                    "[1, []]",
                    "{}",
                    "{\"a\": 1}",
                    "{\"b\": 0}",
                    "{\"a\": 1, \"b\": 2}",
                ],
            ),
        ];
        let descending = SortOrder { descending: true, nulls_first: true };
        for (ty, texts) in cases {
            let values: Vec<Datum> = texts.iter().map(|t| text::parse(t, (*ty).into(), &ctx).unwrap()).collect();
            for pair in values.windows(2) {
                assert!(compare::cmp_as(*ty, &pair[0], &pair[1]).is_lt(), "{pair:?}");
                let keys: Vec<[Key; 2]> = pair
                    .iter()
                    .map(|value| {
                        let (mut up, mut down) = (Key::default(), Key::default());
                        encode(&mut up, value, *ty).unwrap();
                        encode_ordered(&mut down, value, *ty, descending).unwrap();
                        [up, down]
                    })
                    .collect();
                assert!(keys[0][0] < keys[1][0] && keys[0][1] > keys[1][1], "{pair:?}");
            }
        }
    }
}
