//! Order, equality and hashing of values: PostgreSQL's btree order.
//!
//! Two values of one type compare as PostgreSQL's default operator class has it: NaN above everything, false below true,
//! strings by bytes (collation C), arrays element by element.  NULL sorts last, which is what ASC means when nothing
//! else is said.  `bpchar` ignores trailing blanks, which a [`Datum::Text`] cannot know about itself: callers that hold the
//! type use the `_as` forms.
//!
//! Integers compare across widths and with floats and numerics, so `int4 = int8` needs no cast.

use super::datetime::arithmetic::interval_length;
use super::{Array, DataType, Datum, Numeric};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// Order of two values of one type (or of two number types).
pub fn cmp(a: &Datum, b: &Datum) -> Ordering {
    use Datum as D;
    match (a, b) {
        (D::Int4(a), D::Int4(b)) => a.cmp(b),
        (D::Int8(a), D::Int8(b)) => a.cmp(b),
        (D::Text(a), D::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
        (D::Numeric(a), D::Numeric(b)) => a.cmp(b),
        (D::Null, D::Null) => Ordering::Equal,
        (D::Null, _) => Ordering::Greater,
        (_, D::Null) => Ordering::Less,
        (D::Bool(a), D::Bool(b)) => a.cmp(b),
        (D::Float8(a), D::Float8(b)) => cmp_float(*a, *b),
        (D::Float4(a), D::Float4(b)) => cmp_float(f64::from(*a), f64::from(*b)),
        (D::Timestamp(a), D::Timestamp(b)) | (D::Timestamptz(a), D::Timestamptz(b)) | (D::Time(a), D::Time(b)) => a.cmp(b),
        (D::Date(a), D::Date(b)) => a.cmp(b),
        (D::Interval(a), D::Interval(b)) => interval_length(*a).cmp(&interval_length(*b)),
        (D::Bytes(a), D::Bytes(b)) => a.cmp(b),
        (D::Char(a), D::Char(b)) => a.cmp(b),
        (D::Uuid(a), D::Uuid(b)) => a.cmp(b),
        (D::Oid(a), D::Oid(b)) => a.cmp(b),
        (D::Array(a), D::Array(b)) => cmp_array(a, b),
        (D::Record(a), D::Record(b)) => cmp_slices(a, b),
        (D::Enum(a), D::Enum(b)) => a.order.total_cmp(&b.order),
        (D::Jsonb(a), D::Jsonb(b)) => super::json::compare::cmp(a, b),
        (D::Json(a), D::Json(b)) => a.as_bytes().cmp(b.as_bytes()),
        _ => cmp_numbers(a, b).unwrap_or_else(|| rank(a).cmp(&rank(b))),
    }
}

/// Floats: -0 equals 0, NaN equals NaN and is above everything.
pub fn cmp_float(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// The value of any integer type.
pub fn as_i64(value: &Datum) -> Option<i64> {
    Some(match value {
        Datum::Int2(n) => i64::from(*n),
        Datum::Int4(n) => i64::from(*n),
        Datum::Int8(n) => *n,
        Datum::Oid(n) => i64::from(*n),
        _ => return None,
    })
}

fn as_f64(value: &Datum) -> Option<f64> {
    Some(match value {
        Datum::Float4(x) => f64::from(*x),
        Datum::Float8(x) => *x,
        Datum::Numeric(n) => n.to_f64(),
        other => as_i64(other)? as f64,
    })
}

fn cmp_numbers(a: &Datum, b: &Datum) -> Option<Ordering> {
    if let (Some(a), Some(b)) = (as_i64(a), as_i64(b)) {
        return Some(a.cmp(&b));
    }
    match (a, b) {
        (Datum::Numeric(a), b) if as_i64(b).is_some() => Some(a.cmp(&Numeric::from(as_i64(b)?))),
        (a, Datum::Numeric(b)) if as_i64(a).is_some() => Some(Numeric::from(as_i64(a)?).cmp(b)),
        _ => Some(cmp_float(as_f64(a)?, as_f64(b)?)),
    }
}

/// Values of unlike types should not meet; if they do, the order is at least the same every time.
fn rank(value: &Datum) -> u32 {
    super::text::natural_type(value).0
}

fn cmp_slices(a: &[Datum], b: &[Datum]) -> Ordering {
    a.iter().zip(b).map(|(x, y)| cmp(x, y)).find(|order| order.is_ne()).unwrap_or_else(|| a.len().cmp(&b.len()))
}

/// Elements first, then their number, then dimensions and lower bounds.
fn cmp_array(a: &Array, b: &Array) -> Ordering {
    let by_elements = if a.element == DataType::BPCHAR {
        let differing = a.elements.iter().zip(&b.elements).map(|(x, y)| cmp_as(DataType::BPCHAR, x, y)).find(|order| order.is_ne());
        differing.unwrap_or_else(|| a.elements.len().cmp(&b.elements.len()))
    } else {
        cmp_slices(&a.elements, &b.elements)
    };
    by_elements.then_with(|| a.dims.len().cmp(&b.dims.len())).then_with(|| a.dims.cmp(&b.dims))
}

/// Order, with the type known.
pub fn cmp_as(ty: DataType, a: &Datum, b: &Datum) -> Ordering {
    match (ty, a, b) {
        (DataType::BPCHAR, Datum::Text(a), Datum::Text(b)) => a.trim_end_matches(' ').as_bytes().cmp(b.trim_end_matches(' ').as_bytes()),
        _ => cmp(a, b),
    }
}

/// Are the two equal? NULL equals NULL here (grouping, DISTINCT).
pub fn eq(a: &Datum, b: &Datum) -> bool {
    cmp(a, b).is_eq()
}

/// Equality with the type known.
pub fn eq_as(ty: DataType, a: &Datum, b: &Datum) -> bool {
    cmp_as(ty, a, b).is_eq()
}

/// Feeds a value to a hasher, so that equal values hash alike. Integers of all widths hash alike; other number types are hashed by
/// their own kind (a hash join casts both sides to one type).
pub fn hash(value: &Datum, state: &mut impl Hasher) {
    match value {
        Datum::Null => state.write_u8(0),
        Datum::Bool(b) => b.hash(state),
        Datum::Int2(n) => i64::from(*n).hash(state),
        Datum::Int4(n) => i64::from(*n).hash(state),
        Datum::Int8(n) => n.hash(state),
        Datum::Oid(n) => i64::from(*n).hash(state),
        Datum::Float4(x) => hash_float(f64::from(*x), state),
        Datum::Float8(x) => hash_float(*x, state),
        Datum::Numeric(n) => n.hash(state),
        Datum::Text(text) => text.as_bytes().hash(state),
        Datum::Bytes(bytes) => bytes.hash(state),
        Datum::Char(byte) => byte.hash(state),
        Datum::Date(days) => days.hash(state),
        Datum::Time(micros) | Datum::Timestamp(micros) | Datum::Timestamptz(micros) => micros.hash(state),
        Datum::Interval(interval) => interval_length(*interval).hash(state),
        Datum::Uuid(uuid) => uuid.hash(state),
        Datum::Array(array) => array.elements.iter().for_each(|element| hash_as(array.element, element, state)),
        Datum::Record(fields) => fields.iter().for_each(|field| hash(field, state)),
        Datum::Enum(label) => label.oid.hash(state),
        Datum::Json(text) => text.as_bytes().hash(state),
        Datum::Jsonb(value) => super::json::compare::hash(value, state),
        // jsonpath has no equality; nothing hashes by it.
        Datum::JsonPath(_) => state.write_u8(1),
    }
}

fn hash_float(x: f64, state: &mut impl Hasher) {
    let canonical = if x == 0.0 {
        0.0
    } else if x.is_nan() {
        f64::NAN
    } else {
        x
    };
    canonical.to_bits().hash(state);
}

/// Hash with the type known.
pub fn hash_as(ty: DataType, value: &Datum, state: &mut impl Hasher) {
    match (ty, value) {
        (DataType::BPCHAR, Datum::Text(text)) => text.trim_end_matches(' ').as_bytes().hash(state),
        _ => hash(value, state),
    }
}

/// The order of an index or ORDER BY key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SortOrder {
    /// DESC.
    pub descending: bool,
    /// NULLS FIRST (the default of DESC).
    pub nulls_first: bool,
}

impl SortOrder {
    /// Compares two values in this order.
    pub fn cmp(self, ty: DataType, a: &Datum, b: &Datum) -> Ordering {
        match (a.is_null(), b.is_null()) {
            (true, true) => Ordering::Equal,
            (true, false) => {
                if self.nulls_first {
                    Ordering::Less
                } else {
                    Ordering::Greater
                }
            }
            (false, true) => {
                if self.nulls_first {
                    Ordering::Greater
                } else {
                    Ordering::Less
                }
            }
            (false, false) if self.descending => cmp_as(ty, a, b).reverse(),
            (false, false) => cmp_as(ty, a, b),
        }
    }
}
