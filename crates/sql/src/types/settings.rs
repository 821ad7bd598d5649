//! The session settings that decide how values are read and written: DateStyle, IntervalStyle, TimeZone,
//! extra_float_digits, bytea_output.

use crate::expr::{NoSession, SessionInfo};
use jiff::tz::TimeZone;

/// First half of DateStyle: how dates are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)] // PostgreSQL's names
pub enum DateStyle {
    #[default]
    Iso,
    Sql,
    Postgres,
    German,
}

/// Second half of DateStyle: how ambiguous dates are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)] // PostgreSQL's names
pub enum DateOrder {
    #[default]
    Mdy,
    Dmy,
    Ymd,
}

/// How intervals are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)] // PostgreSQL's names
pub enum IntervalStyle {
    #[default]
    Postgres,
    PostgresVerbose,
    SqlStandard,
    Iso8601,
}

/// How bytea is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)] // PostgreSQL's names
pub enum ByteaOutput {
    #[default]
    Hex,
    Escape,
}

/// A session's formatting settings, parsed.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // named after the settings
pub struct FormatSettings {
    pub date_style: DateStyle,
    pub date_order: DateOrder,
    pub interval_style: IntervalStyle,
    pub time_zone: TimeZone,
    /// TimeZone as the user set it, which is how SHOW prints it.
    pub time_zone_name: String,
    pub extra_float_digits: i32,
    pub bytea_output: ByteaOutput,
}

impl Default for FormatSettings {
    fn default() -> FormatSettings {
        FormatSettings {
            date_style: DateStyle::Iso,
            date_order: DateOrder::Mdy,
            interval_style: IntervalStyle::Postgres,
            time_zone: TimeZone::UTC,
            time_zone_name: "UTC".into(),
            extra_float_digits: 1,
            bytea_output: ByteaOutput::Hex,
        }
    }
}

/// What reading or writing a text form may need: the settings, the transaction's start (`'now'`), and the catalog behind
/// the reg* types.
#[derive(Clone, Copy, Debug)]
pub struct TextContext<'a> {
    /// The session's settings.
    pub settings: &'a FormatSettings,
    /// Microseconds since 2000-01-01 UTC, what `'now'` means.
    pub now: i64,
    /// Names of relations, types, roles.
    pub session: &'a dyn SessionInfo,
}

impl<'a> TextContext<'a> {
    /// Enough for everything but reg* names and `'now'` (which is then the epoch of the stored form, 2000-01-01).
    pub fn new(settings: &'a FormatSettings) -> TextContext<'a> {
        TextContext { settings, now: 0, session: &NoSession }
    }
}
