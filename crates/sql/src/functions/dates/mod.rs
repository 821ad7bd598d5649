//! Dates, times and intervals: operators ([`operators`]), fields and truncation ([`fields`]), clocks and constructors ([`construct`]), and
//! formatting by template ([`to_char`], [`to_date`]).

pub(super) mod construct;
pub(super) mod fields;
pub(super) mod operators;
pub(super) mod template;
pub(super) mod to_char;
pub(super) mod to_date;
