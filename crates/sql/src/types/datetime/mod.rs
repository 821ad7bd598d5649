//! Dates and times: civil arithmetic, time zones, and their many text forms.
//!
//! Everything is held as PostgreSQL holds it: days or microseconds since 2000-01-01, over PostgreSQL's range (4713 BC to
//! 294276 AD for timestamps, to 5874897 AD for dates). That is more than any date library covers, so the arithmetic is ours; `jiff` knows
//! the time zones' rules.

pub mod arithmetic;
pub mod civil;
pub mod format;
pub mod interval;
pub mod parse;
mod tokens;
pub mod zone;

pub use civil::{Civil, DATE_INFINITY, DATE_NEGATIVE_INFINITY, MICROS_PER_DAY, TIMESTAMP_INFINITY, TIMESTAMP_NEGATIVE_INFINITY};
