//! `to_date` and `to_timestamp(text, template)`: reading by template.
//!
//! Blanks and punctuation of the template match any run of blanks and punctuation, or none, as PostgreSQL's non-FX mode has it.

use super::template::{Case, Piece, cut};
use crate::error::{SqlError, SqlState};
use crate::expr::EvalContext;
use crate::functions::BuiltinFunction;
use crate::functions::args::{Answer, text};
use crate::types::datetime::civil::{self, Civil, days_in_month};
use crate::types::datetime::parse::{MONTHS, WEEKDAYS, month};
use crate::types::datetime::zone;
use crate::types::{DataType, Datum};

const TEXT: DataType = DataType::TEXT;

#[derive(Default)]
struct Read {
    year: Option<i32>,
    iso: Option<(i32, i32)>,
    month: Option<i32>,
    day: Option<i32>,
    day_of_year: Option<i32>,
    julian: Option<i64>,
    hour: i32,
    minute: i32,
    second: i32,
    micros: i64,
    afternoon: Option<bool>,
    bc: bool,
    offset: Option<i32>,
}

fn invalid(value: &str, key: &str) -> SqlError {
    let shown: String = value.chars().take(key.len()).collect();
    SqlError::new(SqlState::INVALID_DATETIME_FORMAT, format!("invalid value \"{shown}\" for \"{key}\"")).detail("Value must be an integer.")
}

fn out_of_range(whole: &str) -> SqlError {
    SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("date/time field value out of range: \"{whole}\""))
}

/// Digits a numeric field reads at most, when another number may follow at once.
fn width(key: &str) -> usize {
    match key {
        "YYYY" | "IYYY" => 4,
        "YYY" | "DDD" | "MS" | "FF3" | "IYY" => 3,
        "Y" | "D" | "ID" | "Q" | "W" | "FF1" | "I" => 1,
        "US" | "FF6" => 6,
        "FF4" => 4,
        "SSSS" | "SSSSS" | "FF5" => 5,
        "J" => 7,
        _ => 2,
    }
}

fn read(whole: &str, template: &str) -> Result<Read, SqlError> {
    let pieces = cut(template);
    let mut fields = Read::default();
    let mut rest = whole;
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Literal(literal) => {
                for c in literal.chars() {
                    if c.is_alphanumeric() {
                        // A letter of the template takes one character, whatever it is.
                        rest = rest.strip_prefix(|_: char| true).unwrap_or(rest);
                    } else {
                        rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '-' && c != '+');
                        // A sign after punctuation of the template is punctuation too, unless a displacement comes next.
                        let signed_next = matches!(pieces.get(at + 1), Some(Piece::Field { key: "TZH" | "OF", .. }));
                        if matches!(c, '-' | '+') || !signed_next {
                            rest = rest.strip_prefix(['-', '+']).unwrap_or(rest);
                        }
                    }
                }
            }
            Piece::Field { key, case, ordinal, .. } => {
                rest = rest.trim_start();
                let number_follows =
                    matches!(pieces.get(at + 1), Some(Piece::Field { key, .. }) if !matches!(*key, "AM" | "PM" | "MON" | "MONTH" | "TZ"));
                rest = fields.take(key, *case, rest, number_follows)?;
                if ordinal.is_some() {
                    rest = rest.get(2..).unwrap_or("");
                }
            }
        }
    }
    fields.check(whole)?;
    Ok(fields)
}

impl Read {
    /// Reads one field and returns what is left.
    fn take<'a>(&mut self, key: &'static str, case: Case, text: &'a str, number_follows: bool) -> Result<&'a str, SqlError> {
        if text.is_empty() {
            return Ok(text);
        }
        match key {
            "MONTH" | "MON" => {
                let letters = text.len() - text.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
                let full = MONTHS.iter().position(|name| text.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name)));
                if let Some(at) = full {
                    self.month = Some(at as i32 + 1);
                    return Ok(&text[MONTHS[at].len()..]);
                }
                let head = text.get(..3.min(letters)).unwrap_or("");
                self.month = Some(month(head).ok_or_else(|| {
                    SqlError::new(
                        SqlState::INVALID_DATETIME_FORMAT,
                        format!("invalid value \"{}\" for \"{}\"", text.get(..3).unwrap_or(text), written(key, case)),
                    )
                    .detail("The given value did not match any of the allowed values for this field.")
                })?);
                return Ok(&text[head.len()..]);
            }
            "DAY" | "DY" => {
                let full = WEEKDAYS.iter().find(|name| text.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name)));
                return Ok(match full {
                    Some(name) => &text[name.len()..],
                    None => text.get(3..).unwrap_or(""),
                });
            }
            "AM" | "PM" | "A.M." | "P.M." => {
                self.afternoon = Some(text.starts_with(['p', 'P']));
                return Ok(text.get(key.len()..).unwrap_or(""));
            }
            "AD" | "BC" | "A.D." | "B.C." => {
                self.bc = text.starts_with(['b', 'B']);
                return Ok(text.get(key.len()..).unwrap_or(""));
            }
            "TZH" | "OF" => {
                let end = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | ':')).len();
                self.offset = Some(zone::displacement(&text[..end]).ok_or_else(|| invalid(text, key))?);
                return Ok(&text[end..]);
            }
            "TZ" => return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "formatting field \"TZ\" is only supported in to_char")),
            _ => {}
        }
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) if matches!(key, "YYYY" | "IYYY") => (true, rest),
            _ => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let limit =
            if number_follows || matches!(key, "MS" | "US" | "FF1" | "FF2" | "FF3" | "FF4" | "FF5" | "FF6") { width(key) } else { 9 };
        let end = digits.bytes().take(limit).take_while(u8::is_ascii_digit).count();
        if end == 0 {
            return Err(invalid(text, key));
        }
        let value: i32 = digits[..end].parse().map_err(|_| invalid(text, key))?;
        self.set(key, if negative { -value } else { value }, end);
        Ok(&digits[end..])
    }

    fn set(&mut self, key: &str, value: i32, digits: usize) {
        match key {
            "YYYY" => self.year = Some(value),
            "YYY" | "YY" | "Y" => self.year = Some(if digits > 3 { value } else { century_of(value, digits) }),
            "IYYY" => self.iso = Some((value, self.iso.map_or(1, |iso| iso.1))),
            "IW" => self.iso = Some((self.iso.map_or(0, |iso| iso.0), value)),
            "MM" => self.month = Some(value),
            "DD" => self.day = Some(value),
            "DDD" => self.day_of_year = Some(value),
            "J" => self.julian = Some(value.into()),
            "HH24" | "HH12" | "HH" => self.hour = value,
            "MI" => self.minute = value,
            "SS" => self.second = value,
            "SSSS" | "SSSSS" => (self.hour, self.minute, self.second) = (value / 3600, value / 60 % 60, value % 60),
            "MS" | "US" | "FF1" | "FF2" | "FF3" | "FF4" | "FF5" | "FF6" => self.micros = i64::from(value) * 10i64.pow(6 - digits as u32),
            _ => {}
        }
    }

    fn check(&self, whole: &str) -> Result<(), SqlError> {
        let year = self.year.unwrap_or(1);
        let (month, day) = (self.month.unwrap_or(1), self.day.unwrap_or(1));
        let date = (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
        let clock = (0..=24).contains(&self.hour) && (0..60).contains(&self.minute) && (0..60).contains(&self.second);
        if self.afternoon.is_some() && !(1..=12).contains(&self.hour) {
            return Err(SqlError::new(
                SqlState::INVALID_DATETIME_FORMAT,
                format!("hour \"{}\" is invalid for the 12-hour clock", self.hour),
            )
            .hint("Use the 24-hour clock, or give an hour between 1 and 12."));
        }
        if date && clock { Ok(()) } else { Err(out_of_range(whole)) }
    }

    fn days(&self) -> i64 {
        if let Some(julian) = self.julian {
            return julian - civil::EPOCH_JULIAN;
        }
        if let Some((year, week)) = self.iso {
            return civil::iso_week_start(year) + i64::from(week - 1) * 7;
        }
        let year = match (self.year, self.bc) {
            (Some(year), true) => 1 - year,
            (Some(year), false) if year < 0 => year + 1,
            (Some(year), false) => year,
            (None, _) => 0,
        };
        if let Some(day) = self.day_of_year {
            return Civil { year, month: 1, day: 1, time: 0 }.days() + i64::from(day) - 1;
        }
        Civil { year, month: self.month.unwrap_or(1), day: self.day.unwrap_or(1), time: 0 }.days()
    }

    fn time(&self) -> i64 {
        let hour = match self.afternoon {
            Some(afternoon) => self.hour % 12 + if afternoon { 12 } else { 0 },
            None => self.hour,
        };
        i64::from(hour) * civil::MICROS_PER_HOUR
            + i64::from(self.minute) * civil::MICROS_PER_MINUTE
            + i64::from(self.second) * civil::MICROS_PER_SECOND
            + self.micros
    }
}

/// A name's keyword as the template has it.
fn written(key: &str, case: Case) -> String {
    match case {
        Case::Upper => key.to_owned(),
        Case::Lower => key.to_lowercase(),
        Case::Capital => format!("{}{}", &key[..1], key[1..].to_lowercase()),
    }
}

/// Two digits are of this century up to 69.
fn century_of(value: i32, digits: usize) -> i32 {
    match (digits, value) {
        (3, 0..=519) => value + 2000,
        (3, _) => value + 1000,
        (_, 0..=69) => value + 2000,
        _ => value + 1900,
    }
}

fn to_date(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let days = read(text(args, 0)?, text(args, 1)?)?.days();
    civil::checked_date(days).map(Datum::Date).ok_or_else(civil::date_out_of_range)
}

fn to_timestamp(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let fields = read(text(args, 0)?, text(args, 1)?)?;
    let local = fields.days().checked_mul(civil::MICROS_PER_DAY).and_then(|t| t.checked_add(fields.time()));
    let local = local.filter(|t| civil::is_timestamp(*t)).ok_or_else(civil::timestamp_out_of_range)?;
    match fields.offset {
        Some(offset) => Ok(Datum::Timestamptz(local - i64::from(offset) * civil::MICROS_PER_SECOND)),
        None => zone::to_utc(&ctx.settings.time_zone, local).map(Datum::Timestamptz),
    }
}

/// Both.
pub(in crate::functions) static FUNCTIONS: &[BuiltinFunction] = &[
    BuiltinFunction::new("to_date", &[TEXT, TEXT], DataType::DATE, to_date).stable(),
    BuiltinFunction::new("to_timestamp", &[TEXT, TEXT], DataType::TIMESTAMPTZ, to_timestamp).stable(),
];
