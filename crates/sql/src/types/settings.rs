//! The session settings that decide how values are read and written: DateStyle, IntervalStyle, TimeZone,
//! extra_float_digits, bytea_output.

use super::datetime::zone;
use crate::error::{SqlError, SqlState};
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

impl FormatSettings {
    /// `SET DateStyle`: one or two words, a style and an order, either of which may be left out. Anything else is refused.
    pub fn set_date_style(&mut self, value: &str) -> Result<(), SqlError> {
        let (mut style, mut order) = (self.date_style, self.date_order);
        for word in value.split(',').map(str::trim) {
            match word.to_ascii_lowercase().as_str() {
                "iso" => style = DateStyle::Iso,
                "sql" => style = DateStyle::Sql,
                "german" => (style, order) = (DateStyle::German, DateOrder::Dmy),
                word if word.starts_with("postgres") => style = DateStyle::Postgres,
                "ymd" => order = DateOrder::Ymd,
                "dmy" | "euro" | "european" => order = DateOrder::Dmy,
                "mdy" | "us" | "noneuro" | "noneuropean" => order = DateOrder::Mdy,
                "default" => (style, order) = (DateStyle::Iso, DateOrder::Mdy),
                _ => return Err(invalid("DateStyle", value)),
            }
        }
        (self.date_style, self.date_order) = (style, order);
        Ok(())
    }

    /// `SHOW DateStyle`
    pub fn date_style_name(&self) -> String {
        let style = match self.date_style {
            DateStyle::Iso => "ISO",
            DateStyle::Sql => "SQL",
            DateStyle::Postgres => "Postgres",
            DateStyle::German => "German",
        };
        let order = match self.date_order {
            DateOrder::Mdy => "MDY",
            DateOrder::Dmy => "DMY",
            DateOrder::Ymd => "YMD",
        };
        format!("{style}, {order}")
    }

    /// `SET IntervalStyle`
    pub fn set_interval_style(&mut self, value: &str) -> Result<(), SqlError> {
        self.interval_style = match value.to_ascii_lowercase().as_str() {
            "postgres" => IntervalStyle::Postgres,
            "postgres_verbose" => IntervalStyle::PostgresVerbose,
            "sql_standard" => IntervalStyle::SqlStandard,
            "iso_8601" => IntervalStyle::Iso8601,
            _ => {
                return Err(invalid("IntervalStyle", value).hint("Available values: postgres, postgres_verbose, sql_standard, iso_8601."));
            }
        };
        Ok(())
    }

    /// `SHOW IntervalStyle`
    pub fn interval_style_name(&self) -> &'static str {
        match self.interval_style {
            IntervalStyle::Postgres => "postgres",
            IntervalStyle::PostgresVerbose => "postgres_verbose",
            IntervalStyle::SqlStandard => "sql_standard",
            IntervalStyle::Iso8601 => "iso_8601",
        }
    }

    /// `SET TimeZone`
    pub fn set_time_zone(&mut self, value: &str) -> Result<(), SqlError> {
        self.time_zone = zone::for_setting(value).ok_or_else(|| invalid("TimeZone", value))?;
        self.time_zone_name = match self.time_zone.iana_name() {
            Some(name) => name.to_owned(),
            None => value.trim().to_owned(),
        };
        Ok(())
    }

    /// `SET bytea_output`
    pub fn set_bytea_output(&mut self, value: &str) -> Result<(), SqlError> {
        self.bytea_output = match value.to_ascii_lowercase().as_str() {
            "hex" => ByteaOutput::Hex,
            "escape" => ByteaOutput::Escape,
            _ => return Err(invalid("bytea_output", value).hint("Available values: escape, hex.")),
        };
        Ok(())
    }
}

fn invalid(name: &str, value: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("invalid value for parameter \"{name}\": \"{value}\""))
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
