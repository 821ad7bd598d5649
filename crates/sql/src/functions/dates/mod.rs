//! Dates, times and intervals: operators ([`operators`]), fields and truncation ([`fields`]), clocks and constructors ([`construct`]), and
//! formatting by template ([`to_char`]).

pub(super) mod construct;
pub(super) mod fields;
pub(super) mod operators;
pub(super) mod to_char;
pub(super) mod to_date;
