//! Reading dates, times and timestamps: PostgreSQL's `DecodeDateTime`, with the field order of DateStyle.
//!
//! One reader fills `Fields` from the tokens, whatever the target type; each type then asks for what it needs.

use super::civil::{Civil, DATE_INFINITY, DATE_NEGATIVE_INFINITY, EPOCH_JULIAN, MICROS_PER_DAY, checked_date, days_in_month, is_timestamp};
use super::tokens::{Token, tokenize};
use super::zone;
use super::{TIMESTAMP_INFINITY, TIMESTAMP_NEGATIVE_INFINITY};
use crate::error::{SqlError, SqlState};
use crate::expr::UNIX_TO_POSTGRES_MICROS;
use crate::types::TextContext;
use crate::types::settings::DateOrder;
use jiff::tz::TimeZone;

/// Months by their first three letters.
pub const MONTHS: [&str; 12] =
    ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
/// Days of the week, Sunday first.
pub const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Why a text is no date.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    /// 22007
    Syntax,
    /// 22008
    FieldOverflow,
    /// 22008, month or day, where another DateStyle could help
    MonthDayOverflow,
    /// 22009
    ZoneOverflow,
    /// 22023
    ZoneUnknown,
}

/// A whole value that one word stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Special {
    Infinity,
    NegativeInfinity,
    Epoch,
    Now,
    /// Days from today.
    Today(i64),
}

/// What has been read.
#[derive(Default)]
struct Fields {
    year: Option<i32>,
    month: Option<i32>,
    day: Option<i32>,
    day_of_year: Option<i32>,
    two_digit_year: bool,
    text_month: bool,
    bc: bool,
    julian: Option<i64>,
    /// Microseconds since midnight.
    time: Option<i64>,
    afternoon: Option<bool>,
    zone: Option<TimeZone>,
    special: Option<Special>,
    /// A `T` stood between date and time.
    time_next: bool,
}

impl Fault {
    fn error(self, type_name: &str, text: &str) -> SqlError {
        match self {
            Fault::Syntax => {
                SqlError::new(SqlState::INVALID_DATETIME_FORMAT, format!("invalid input syntax for type {type_name}: \"{text}\""))
            }
            Fault::FieldOverflow => {
                SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("date/time field value out of range: \"{text}\""))
            }
            Fault::MonthDayOverflow => {
                Fault::FieldOverflow.error(type_name, text).hint("Perhaps you need a different \"datestyle\" setting.")
            }
            Fault::ZoneOverflow => {
                SqlError::new(SqlState::INVALID_TIME_ZONE_DISPLACEMENT_VALUE, format!("time zone displacement out of range: \"{text}\""))
            }
            Fault::ZoneUnknown => {
                // Only a word with a slash can have been meant as a zone.
                match text.split_ascii_whitespace().find(|word| word.contains('/') && word.starts_with(|c: char| c.is_ascii_alphabetic())) {
                    Some(zone) => {
                        SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("time zone \"{}\" not recognized", zone.to_lowercase()))
                    }
                    None => Fault::Syntax.error(type_name, text),
                }
            }
        }
    }
}

/// A date: days since 2000-01-01.
pub fn date(text: &str, ctx: &TextContext<'_>) -> Result<i32, SqlError> {
    let fail = |fault: Fault| fault.error("date", text);
    let fields = read(text, ctx).map_err(fail)?;
    match fields.special {
        Some(Special::Infinity) => return Ok(DATE_INFINITY),
        Some(Special::NegativeInfinity) => return Ok(DATE_NEGATIVE_INFINITY),
        Some(Special::Epoch) => return Ok(super::civil::UNIX_EPOCH_DAYS),
        Some(Special::Now) => return Ok(today(ctx)),
        Some(Special::Today(days)) => return Ok(today(ctx) + days as i32),
        None => {}
    }
    let days = fields.date().map_err(fail)?;
    checked_date(days).ok_or_else(|| SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("date out of range: \"{text}\"")))
}

/// A timestamp without time zone; a zone in the text is ignored, as PostgreSQL does.
pub fn timestamp(text: &str, ctx: &TextContext<'_>) -> Result<i64, SqlError> {
    point(text, ctx, "timestamp", false)
}

/// A timestamp with time zone: microseconds since 2000-01-01 UTC.
pub fn timestamptz(text: &str, ctx: &TextContext<'_>) -> Result<i64, SqlError> {
    point(text, ctx, "timestamp with time zone", true)
}

fn point(text: &str, ctx: &TextContext<'_>, type_name: &str, zoned: bool) -> Result<i64, SqlError> {
    let fail = |fault: Fault| fault.error(type_name, text);
    let out_of_range = || SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("timestamp out of range: \"{text}\""));
    let fields = read(text, ctx).map_err(fail)?;
    let local = match fields.special {
        Some(Special::Infinity) => return Ok(TIMESTAMP_INFINITY),
        Some(Special::NegativeInfinity) => return Ok(TIMESTAMP_NEGATIVE_INFINITY),
        Some(Special::Epoch) => return Ok(-UNIX_TO_POSTGRES_MICROS),
        Some(Special::Now) if zoned => return Ok(ctx.now),
        Some(Special::Now) => return Ok(zone::to_local(&ctx.settings.time_zone, ctx.now)),
        Some(Special::Today(days)) => (i64::from(today(ctx)) + days) * MICROS_PER_DAY + fields.time.unwrap_or(0),
        None => {
            let days = fields.date().map_err(fail)?;
            let time = fields.clock().map_err(fail)?.unwrap_or(0);
            days.checked_mul(MICROS_PER_DAY).and_then(|micros| micros.checked_add(time)).ok_or_else(out_of_range)?
        }
    };
    if !zoned {
        return if is_timestamp(local) { Ok(local) } else { Err(out_of_range()) };
    }
    let zone = fields.zone.as_ref().unwrap_or(&ctx.settings.time_zone);
    if !is_timestamp(local) {
        return Err(out_of_range());
    }
    zone::to_utc(zone, local).map_err(|_| out_of_range())
}

/// A time of day: microseconds since midnight.
pub fn time(text: &str, ctx: &TextContext<'_>) -> Result<i64, SqlError> {
    let fail = |fault: Fault| fault.error("time", text);
    let fields = read_time(text, ctx).map_err(fail)?;
    match fields.special {
        Some(Special::Now) => return Ok(zone::to_local(&ctx.settings.time_zone, ctx.now).rem_euclid(MICROS_PER_DAY)),
        Some(_) => return Err(fail(Fault::Syntax)),
        None => {}
    }
    fields.clock().map_err(fail)?.ok_or_else(|| fail(Fault::Syntax))
}

fn today(ctx: &TextContext<'_>) -> i32 {
    zone::to_local(&ctx.settings.time_zone, ctx.now).div_euclid(MICROS_PER_DAY) as i32
}

fn read_time(text: &str, ctx: &TextContext<'_>) -> Result<Fields, Fault> {
    // A lone number is a time here: 040506.
    if let Some([Token::Number(digits)] | [Token::Number(digits), Token::Zone(_)]) = tokenize(text).as_deref() {
        let time = digits_time(digits).ok_or(Fault::Syntax)?;
        return Ok(Fields { time: Some(time?), ..Fields::default() });
    }
    if let Some([Token::Fraction(digits)]) = tokenize(text).as_deref() {
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let time = digits_time(whole).ok_or(Fault::Syntax)??;
        return Ok(Fields { time: Some(time + fraction_micros(fraction)?), ..Fields::default() });
    }
    read(text, ctx)
}

fn read(text: &str, ctx: &TextContext<'_>) -> Result<Fields, Fault> {
    let tokens = tokenize(text).ok_or(Fault::Syntax)?;
    if tokens.is_empty() {
        return Err(Fault::Syntax);
    }
    let mut fields = Fields { text_month: tokens.iter().any(|t| matches!(t, Token::Word(w) if month(w).is_some())), ..Fields::default() };
    let order = ctx.settings.date_order;
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            Token::Date(field) => fields.take_date(field, order)?,
            Token::Time(field) => fields.set_time(clock_time(field)?)?,
            Token::Fraction(field) => fields.take_fraction(field, order)?,
            Token::Zone(field) => {
                // "-02-03" after a year is not a zone, but "2001-02-03" was one token already.
                let seconds = zone::displacement(field).ok_or(Fault::ZoneOverflow)?;
                fields.set_zone(zone::fixed(seconds).ok_or(Fault::ZoneOverflow)?)?;
            }
            Token::Number(digits) => fields.take_number(digits, order)?,
            Token::Word(word) => {
                if let (Some(Token::Zone(offset)), true) = (tokens.get(at + 1), posix_name(word)) {
                    // A POSIX rule: UTC+3 is west.
                    let seconds = zone::displacement(offset).ok_or(Fault::ZoneOverflow)?;
                    fields.set_zone(zone::fixed(-seconds).ok_or(Fault::ZoneOverflow)?)?;
                    at += 1;
                } else {
                    let next = match tokens.get(at + 1) {
                        Some(Token::Number(digits)) => Some(*digits),
                        _ => None,
                    };
                    at += fields.take_word(word, next)?;
                }
            }
        }
        at += 1;
    }
    Ok(fields)
}

fn posix_name(word: &str) -> bool {
    matches!(word.to_ascii_lowercase().as_str(), "utc" | "gmt" | "ut")
}

/// The month of a name or of its first three letters.
pub fn month(word: &str) -> Option<i32> {
    named(word, &MONTHS).or_else(|| word.eq_ignore_ascii_case("sept").then_some(8)).map(|at| at as i32 + 1)
}

fn named(word: &str, names: &[&str]) -> Option<usize> {
    names.iter().position(|name| word.eq_ignore_ascii_case(name) || word.eq_ignore_ascii_case(&name[..3]))
}

fn number(digits: &str) -> Result<i32, Fault> {
    digits.parse().map_err(|_| Fault::FieldOverflow)
}

/// Microseconds of the digits behind a point.
fn fraction_micros(digits: &str) -> Result<i64, Fault> {
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Fault::Syntax);
    }
    let seconds: f64 = format!("0.{digits}0").parse().map_err(|_| Fault::Syntax)?;
    Ok((seconds * 1_000_000.0).round_ties_even() as i64)
}

/// `hh:mm[:ss[.ffffff]]`
fn clock_time(field: &str) -> Result<i64, Fault> {
    let (whole, fraction) = field.split_once('.').unwrap_or((field, ""));
    let parts: Vec<&str> = whole.split(':').collect();
    if parts.len() > 3 || parts.len() < 2 || (parts.len() == 2 && !fraction.is_empty()) || parts.iter().any(|p| p.is_empty()) {
        return Err(Fault::Syntax);
    }
    let (hour, minute) = (number(parts[0])?, number(parts[1])?);
    let second = parts.get(2).map_or(Ok(0), |s| number(s))?;
    assemble_time(hour, minute, second, fraction_micros(fraction)?)
}

fn assemble_time(hour: i32, minute: i32, second: i32, micros: i64) -> Result<i64, Fault> {
    let time = (i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second)) * 1_000_000 + micros;
    if minute > 59 || second > 60 || time > MICROS_PER_DAY || hour > 24 {
        return Err(Fault::FieldOverflow);
    }
    Ok(time)
}

/// `hhmmss` or `hhmm`
fn digits_time(digits: &str) -> Option<Result<i64, Fault>> {
    let two = |at: usize| digits[at..at + 2].parse::<i32>().unwrap_or(99);
    match digits.len() {
        6 => Some(assemble_time(two(0), two(2), two(4), 0)),
        4 => Some(assemble_time(two(0), two(2), 0, 0)),
        _ => None,
    }
}

impl Fields {
    fn has_date(&self) -> bool {
        (self.year.is_some() && self.month.is_some() && self.day.is_some()) || self.julian.is_some() || self.day_of_year.is_some()
    }

    fn set_time(&mut self, time: i64) -> Result<(), Fault> {
        if self.time.replace(time).is_some() { Err(Fault::Syntax) } else { Ok(()) }
    }

    fn set_zone(&mut self, zone: TimeZone) -> Result<(), Fault> {
        if self.time.is_none() && !self.has_date() && self.special.is_none() {
            return Err(Fault::Syntax);
        }
        if self.zone.replace(zone).is_some() { Err(Fault::Syntax) } else { Ok(()) }
    }

    fn take_date(&mut self, field: &str, order: DateOrder) -> Result<(), Fault> {
        let parts: Vec<&str> = field.split(['-', '/', '.']).collect();
        if parts.iter().any(|p| p.is_empty()) || parts.len() > 3 {
            return Err(Fault::Syntax);
        }
        // The month's name first, since it decides what the numbers are.
        for part in parts.iter().filter(|p| p.starts_with(|c: char| c.is_ascii_alphabetic())) {
            let found = month(part).ok_or(Fault::Syntax)?;
            if self.month.replace(found).is_some() {
                return Err(Fault::Syntax);
            }
            self.text_month = true;
        }
        for part in parts.iter().filter(|p| !p.starts_with(|c: char| c.is_ascii_alphabetic())) {
            if !part.bytes().all(|b| b.is_ascii_digit()) {
                return Err(Fault::Syntax);
            }
            // yyyy.ddd
            if part.len() == 3 && self.year.is_some() && self.month.is_none() && parts.len() == 2 {
                self.day_of_year = Some(number(part)?);
                continue;
            }
            self.take_date_number(part, order)?;
        }
        if self.has_date() { Ok(()) } else { Err(Fault::Syntax) }
    }

    /// One number of a date: what it means follows from its length, DateStyle, and what is known already.
    fn take_date_number(&mut self, digits: &str, order: DateOrder) -> Result<(), Fault> {
        let value = number(digits)?;
        let long = digits.len() >= 3;
        match (self.year.is_some(), self.month.is_some(), self.day.is_some()) {
            (false, false, false) if long || order == DateOrder::Ymd => self.set_year(digits, value),
            (false, false, false) if order == DateOrder::Dmy => self.day = Some(value),
            (false, false, false) => self.month = Some(value),
            (true, false, false) => self.month = Some(value),
            (false, true, false) if self.text_month && (long || order == DateOrder::Ymd) => self.set_year(digits, value),
            (false, true, false) => self.day = Some(value),
            (true, true, false) if self.text_month && long && self.two_digit_year => {
                self.day = self.year;
                self.set_year(digits, value);
            }
            (true, true, false) => self.day = Some(value),
            (false, false, true) => self.month = Some(value),
            (false, true, true) => self.set_year(digits, value),
            _ => return Err(Fault::Syntax),
        }
        Ok(())
    }

    fn set_year(&mut self, digits: &str, value: i32) {
        self.two_digit_year = digits.len() <= 2;
        self.year = Some(value);
    }

    fn take_number(&mut self, digits: &str, order: DateOrder) -> Result<(), Fault> {
        if self.has_date() || self.time_next {
            let time = digits_time(digits).ok_or(Fault::Syntax)??;
            return self.set_time(time);
        }
        let none = self.year.is_none() && self.month.is_none() && self.day.is_none();
        match digits.len() {
            // yyyymmdd, with more digits for the year
            8.. if none => {
                let (year, rest) = digits.split_at(digits.len() - 4);
                self.set_year(year, number(year)?);
                self.month = Some(number(&rest[..2])?);
                self.day = Some(number(&rest[2..])?);
                Ok(())
            }
            6 if none => {
                self.set_year(&digits[..2], number(&digits[..2])?);
                self.month = Some(number(&digits[2..4])?);
                self.day = Some(number(&digits[4..])?);
                Ok(())
            }
            _ => self.take_date_number(digits, order),
        }
    }

    /// `seconds.fraction` after a time or date without colons, `yyyy.ddd`, or a Julian day.
    fn take_fraction(&mut self, field: &str, order: DateOrder) -> Result<(), Fault> {
        let (whole, fraction) = field.split_once('.').unwrap_or((field, ""));
        if let (true, Some(time)) = (whole.is_empty(), self.time) {
            self.time = Some(time + fraction_micros(fraction)?);
            return Ok(());
        }
        if (self.has_date() || self.time_next) && (whole.len() == 6 || whole.len() == 4) {
            let time = digits_time(whole).ok_or(Fault::Syntax)??;
            return self.set_time(time + fraction_micros(fraction)?);
        }
        self.take_date(field, order)
    }

    /// One word; returns how many following tokens it used up.
    fn take_word(&mut self, word: &str, next: Option<&str>) -> Result<usize, Fault> {
        let lower = word.to_ascii_lowercase();
        if let Some(found) = month(&lower) {
            return self.take_month(found).map(|()| 0);
        }
        if named(&lower, &WEEKDAYS).is_some() || matches!(lower.as_str(), "tues" | "wednes" | "thur" | "thurs" | "on" | "at") {
            return Ok(0);
        }
        match lower.as_str() {
            "t" => self.time_next = true,
            "am" => self.afternoon = Some(false),
            "pm" => self.afternoon = Some(true),
            "bc" => self.bc = true,
            "ad" => self.bc = false,
            "infinity" | "+infinity" => self.special = Some(Special::Infinity),
            "-infinity" => self.special = Some(Special::NegativeInfinity),
            "epoch" => self.special = Some(Special::Epoch),
            "now" => self.special = Some(Special::Now),
            "today" => self.special = Some(Special::Today(0)),
            "tomorrow" => self.special = Some(Special::Today(1)),
            "yesterday" => self.special = Some(Special::Today(-1)),
            "allballs" => self.set_time(0)?,
            "j" | "jd" | "julian" => {
                self.julian = Some(next.ok_or(Fault::Syntax)?.parse().map_err(|_| Fault::FieldOverflow)?);
                return Ok(1);
            }
            _ => {
                let zone = match zone::abbreviation(&lower) {
                    Some(seconds) => zone::fixed(seconds).ok_or(Fault::ZoneUnknown)?,
                    None => zone::by_name(word).filter(|_| word.len() > 2).ok_or(Fault::ZoneUnknown)?,
                };
                self.set_zone(zone)?;
            }
        }
        Ok(0)
    }

    fn take_month(&mut self, found: i32) -> Result<(), Fault> {
        // "08 January": the number was taken for a month.
        if let (Some(number), None) = (self.month, self.day) {
            self.day = Some(number);
            self.month = None;
        }
        if self.month.replace(found).is_some() { Err(Fault::Syntax) } else { Ok(()) }
    }

    /// Days since 2000-01-01.
    fn date(&self) -> Result<i64, Fault> {
        if let Some(julian) = self.julian {
            return Ok(julian - EPOCH_JULIAN);
        }
        let outside = |value: Option<i32>, limit: i32| value.is_some_and(|value| !(1..=limit).contains(&value));
        if self.day_of_year.is_none() && (outside(self.month, 12) || outside(self.day, 31)) {
            return Err(Fault::MonthDayOverflow);
        }
        let year = self.year.ok_or(Fault::Syntax)?;
        let year = match (self.bc, self.two_digit_year, year) {
            (_, _, 0) if !self.two_digit_year => return Err(Fault::FieldOverflow),
            (true, _, year) => 1 - year,
            (false, true, 0..=69) => year + 2000,
            (false, true, 70..=99) => year + 1900,
            _ => year,
        };
        if let Some(day) = self.day_of_year {
            return Ok(Civil { year, month: 1, day: 1, time: 0 }.days() + i64::from(day) - 1);
        }
        let (month, day) = (self.month.ok_or(Fault::Syntax)?, self.day.ok_or(Fault::Syntax)?);
        if day > days_in_month(year, month) {
            return Err(Fault::FieldOverflow);
        }
        Ok(Civil { year, month, day, time: 0 }.days())
    }

    /// Microseconds since midnight, am and pm applied.
    fn clock(&self) -> Result<Option<i64>, Fault> {
        let Some(time) = self.time else { return Ok(None) };
        let Some(afternoon) = self.afternoon else { return Ok(Some(time)) };
        let hour = time / super::civil::MICROS_PER_HOUR;
        if hour > 12 {
            return Err(Fault::FieldOverflow);
        }
        let base = time - hour * super::civil::MICROS_PER_HOUR;
        let hour = hour % 12 + if afternoon { 12 } else { 0 };
        Ok(Some(base + hour * super::civil::MICROS_PER_HOUR))
    }
}
