//! `interval`: reading (PostgreSQL's, the SQL standard's and ISO 8601's forms) and writing.
//!
//! Three fields that do not convert into one another: months, days, microseconds. Fractions cascade downwards when read (`1.5 months` is a
//! month and 15 days, `1.5 days` a day and 12 hours).

use super::civil::{MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_MINUTE, MICROS_PER_SECOND, clock};
use super::format::fraction_digits;
use crate::error::{SqlError, SqlState};
use crate::types::Interval;
use crate::types::settings::IntervalStyle;
use std::fmt::Write;

/// Fields overflowed.
pub fn out_of_range() -> SqlError {
    SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, "interval out of range")
}

/// Bits of an interval's type modifier (shifted left by 16) that name its fields, as PostgreSQL numbers them.
mod field {
    pub(super) const MONTH: i32 = 1 << 1;
    pub(super) const YEAR: i32 = 1 << 2;
    pub(super) const DAY: i32 = 1 << 3;
    pub(super) const HOUR: i32 = 1 << 10;
    pub(super) const MINUTE: i32 = 1 << 11;
    pub(super) const SECOND: i32 = 1 << 12;
    /// All of them: no restriction.
    pub(super) const FULL: i32 = 0x7FFF;
}

/// The smallest field that a modifier names, `None` when it names none.
fn least_field(typmod: i32) -> Option<i32> {
    let mask = (typmod >> 16) & field::FULL;
    if typmod < 0 || mask == field::FULL {
        return None;
    }
    [field::SECOND, field::MINUTE, field::HOUR, field::DAY, field::MONTH, field::YEAR].into_iter().find(|bit| mask & bit != 0)
}

/// Cuts an interval to the fields and digits that its type modifier names (`interval year to month`, `interval second(3)`).
pub fn coerce(interval: Interval, typmod: i32) -> Interval {
    let cut = |size: i64| Interval { micros: interval.micros / size * size, ..interval };
    let interval = match least_field(typmod) {
        Some(field::YEAR) => Interval { months: interval.months / 12 * 12, ..Interval::default() },
        Some(field::MONTH) => Interval { months: interval.months, ..Interval::default() },
        Some(field::DAY) => Interval { micros: 0, ..interval },
        Some(field::HOUR) => cut(MICROS_PER_HOUR),
        Some(field::MINUTE) => cut(MICROS_PER_MINUTE),
        _ => interval,
    };
    let micros = super::arithmetic::round_micros(interval.micros, typmod & 0xFFFF);
    Interval { micros, ..interval }
}

/// Reads an interval. A number without a unit counts the smallest field that the type modifier names, or seconds.
pub fn parse(text: &str, typmod: i32) -> Result<Interval, SqlError> {
    let syntax = || SqlError::new(SqlState::INVALID_DATETIME_FORMAT, format!("invalid input syntax for type interval: \"{text}\""));
    let range = || SqlError::new(SqlState::INTERVAL_FIELD_OVERFLOW, format!("interval field value out of range: \"{text}\""));
    let trimmed = text.trim();
    let bare = match least_field(typmod) {
        Some(field::YEAR) => Unit::Months(12),
        Some(field::MONTH) => Unit::Months(1),
        Some(field::DAY) => Unit::Days(1),
        Some(field::HOUR) => Unit::Micros(MICROS_PER_HOUR),
        Some(field::MINUTE) => Unit::Micros(MICROS_PER_MINUTE),
        _ => Unit::Micros(MICROS_PER_SECOND),
    };
    let mask = (typmod >> 16) & field::FULL;
    let minutes_first = typmod >= 0 && mask == field::MINUTE | field::SECOND;
    let hours_last = typmod >= 0 && mask == field::DAY | field::HOUR;
    let mut reader = Reader { months: 0, days: 0, micros: 0, any: false, seen: Vec::new(), bare, minutes_first, hours_last };
    let read = if trimmed.starts_with(['P', 'p']) && trimmed.len() > 1 { reader.iso8601(&trimmed[1..]) } else { reader.postgres(trimmed) };
    match read {
        None => Err(syntax()),
        Some(()) => reader.finish().ok_or_else(range),
    }
}

/// What has been read, in wide integers: range is checked at the end.
struct Reader {
    months: i128,
    days: i128,
    micros: i128,
    any: bool,
    /// Units met so far; none may come twice.
    seen: Vec<Unit>,
    /// What a number without a unit counts.
    bare: Unit,
    /// `minute to second`: `2:30` has no hours.
    minutes_first: bool,
    /// `day to hour`: `1 12` is a day and twelve hours.
    hours_last: bool,
}

/// A unit of an interval.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Months(i64),
    Days(i64),
    Micros(i64),
}

fn unit(word: &str) -> Option<Unit> {
    Some(match word.to_ascii_lowercase().as_str() {
        "us" | "usec" | "usecs" | "usecond" | "useconds" | "microsecon" | "microsecond" | "microseconds" => Unit::Micros(1),
        "ms" | "msec" | "msecs" | "msecond" | "mseconds" | "millisecon" | "millisecond" | "milliseconds" => Unit::Micros(1000),
        "s" | "sec" | "secs" | "second" | "seconds" => Unit::Micros(MICROS_PER_SECOND),
        "m" | "min" | "mins" | "minute" | "minutes" => Unit::Micros(MICROS_PER_MINUTE),
        "h" | "hr" | "hrs" | "hour" | "hours" => Unit::Micros(MICROS_PER_HOUR),
        "d" | "day" | "days" => Unit::Days(1),
        "w" | "week" | "weeks" => Unit::Days(7),
        "mon" | "mons" | "month" | "months" => Unit::Months(1),
        "qtr" | "quarter" | "quarters" => Unit::Months(3),
        "y" | "yr" | "yrs" | "year" | "years" => Unit::Months(12),
        "dec" | "decs" | "decade" | "decades" => Unit::Months(120),
        "c" | "cent" | "century" | "centuries" => Unit::Months(1200),
        "mil" | "mils" | "millennia" | "millennium" | "millenniums" => Unit::Months(12_000),
        _ => return None,
    })
}

/// Digits that a number may have before its point.
const WHOLE_DIGITS_MAX: usize = 24;

/// A decimal number: its whole part and its fraction in billionths, both signed.
fn decimal(text: &str) -> Option<(i128, i128)> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let whole: i128 = match whole.trim_start_matches('0') {
        "" => 0,
        // Out of range in any unit, and no unit can overflow it.
        long if long.len() > WHOLE_DIGITS_MAX => 10i128.pow(WHOLE_DIGITS_MAX as u32),
        digits => digits.parse().ok()?,
    };
    let billionths: i128 = format!("{fraction:0<9}")[..9].parse().ok()?;
    Some(if negative { (-whole, -billionths) } else { (whole, billionths) })
}

const BILLION: i128 = 1_000_000_000;

fn round_billionths(n: i128) -> i128 {
    (n + n.signum() * BILLION / 2) / BILLION
}

impl Reader {
    fn finish(&self) -> Option<Interval> {
        Some(Interval { months: self.months.try_into().ok()?, days: self.days.try_into().ok()?, micros: self.micros.try_into().ok()? })
    }

    fn add(&mut self, (whole, fraction): (i128, i128), unit: Unit) {
        self.any = true;
        match unit {
            Unit::Micros(size) => self.micros += whole * i128::from(size) + round_billionths(fraction * i128::from(size)),
            Unit::Days(size) => {
                let parts = fraction * i128::from(size);
                self.days += whole * i128::from(size) + parts / BILLION;
                self.micros += round_billionths(parts % BILLION * i128::from(MICROS_PER_DAY));
            }
            Unit::Months(1) => {
                self.months += whole;
                let days = fraction * 30;
                self.days += days / BILLION;
                self.micros += round_billionths(days % BILLION * i128::from(MICROS_PER_DAY));
            }
            Unit::Months(size) => self.months += whole * i128::from(size) + round_billionths(fraction * i128::from(size)),
        }
    }

    /// `1 year 2 mons -3 days 04:05:06 ago`, `1-2 3 4:05:06`, `@ 1 day`
    fn postgres(&mut self, text: &str) -> Option<()> {
        let spaced = separate_units(text)?;
        let mut words: Vec<&str> = spaced.split_ascii_whitespace().collect();
        let ago = words.last().is_some_and(|w| w.eq_ignore_ascii_case("ago"));
        if ago {
            words.pop();
        }
        let mut at = 0;
        while at < words.len() {
            let word = words[at];
            let next = words.get(at + 1).copied();
            if word == "@" && at == 0 {
            } else if word.contains(':') {
                self.time(word)?;
            } else if let Some((years, months)) = years_months(word) {
                self.months += years * 12 + months;
                self.any = true;
            } else {
                let number = decimal(word)?;
                match next.map(|next| (next, unit(next))) {
                    Some((_, Some(unit))) => {
                        if self.seen.contains(&unit) {
                            return None;
                        }
                        self.seen.push(unit);
                        self.add(number, unit);
                        at += 1;
                    }
                    // A number before a time counts days; alone it counts seconds.
                    Some((time, None)) if time.contains(':') => self.add(number, Unit::Days(1)),
                    Some((_, None)) if self.hours_last && at + 2 == words.len() => self.add(number, Unit::Days(1)),
                    None => self.add(number, self.bare),
                    _ => return None,
                }
            }
            at += 1;
        }
        if ago {
            (self.months, self.days, self.micros) = (-self.months, -self.days, -self.micros);
        }
        self.any.then_some(())
    }

    /// `[-]hh:mm[:ss[.ffffff]]`; `mm:ss.fff` when there is a fraction and one colon.
    fn time(&mut self, word: &str) -> Option<()> {
        let (negative, digits) = match word.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, word.strip_prefix('+').unwrap_or(word)),
        };
        let parts: Vec<&str> = digits.split(':').collect();
        let mut micros = 0i128;
        let units: &[i64] = match (parts.len(), digits.contains('.') || self.minutes_first) {
            (2, true) => &[MICROS_PER_MINUTE, MICROS_PER_SECOND],
            (2, false) => &[MICROS_PER_HOUR, MICROS_PER_MINUTE],
            (3, _) => &[MICROS_PER_HOUR, MICROS_PER_MINUTE, MICROS_PER_SECOND],
            _ => return None,
        };
        for (at, (part, size)) in parts.iter().zip(units).enumerate() {
            let (whole, fraction) = decimal(part)?;
            if part.starts_with(['-', '+']) || (at > 0 && whole > 60) {
                return None;
            }
            micros += whole * i128::from(*size) + round_billionths(fraction * i128::from(*size));
        }
        self.micros += if negative { -micros } else { micros };
        self.any = true;
        Some(())
    }

    /// `1Y2M3DT4H5M6.7S` or `0001-02-03T04:05:06`
    fn iso8601(&mut self, text: &str) -> Option<()> {
        let (date, time) = match text.find(['T', 't']) {
            Some(at) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        };
        if date.contains('-') && date.split('-').count() == 3 && !date.starts_with('-') {
            let parts: Vec<i128> = date.split('-').map(|p| p.parse::<i64>().ok().map(i128::from)).collect::<Option<_>>()?;
            self.months = parts[0] * 12 + parts[1];
            self.days = parts[2];
            self.any = true;
        } else {
            self.designators(date, |letter| match letter {
                'Y' => Some(Unit::Months(12)),
                'M' => Some(Unit::Months(1)),
                'W' => Some(Unit::Days(7)),
                'D' => Some(Unit::Days(1)),
                _ => None,
            })?;
        }
        match time {
            None => {}
            Some(time) if time.contains(':') => self.time(time)?,
            Some(time) => self.designators(time, |letter| match letter {
                'H' => Some(Unit::Micros(MICROS_PER_HOUR)),
                'M' => Some(Unit::Micros(MICROS_PER_MINUTE)),
                'S' => Some(Unit::Micros(MICROS_PER_SECOND)),
                _ => None,
            })?,
        }
        self.any.then_some(())
    }

    fn designators(&mut self, mut text: &str, unit: impl Fn(char) -> Option<Unit>) -> Option<()> {
        while let Some(at) = text.find(|c: char| c.is_ascii_alphabetic()) {
            let letter = text[at..].chars().next()?.to_ascii_uppercase();
            self.add(decimal(&text[..at])?, unit(letter)?);
            text = &text[at + 1..];
        }
        text.is_empty().then_some(())
    }
}

/// Puts a blank between a number and the unit glued to it (`1day`), without touching anything else.
fn separate_units(text: &str) -> Option<String> {
    if !text.is_ascii() || text.len() > 512 {
        return None;
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut previous = ' ';
    for c in text.chars() {
        let glued = (c.is_ascii_alphabetic() && (previous.is_ascii_digit() || previous == '.'))
            || (c.is_ascii_digit() && previous.is_ascii_alphabetic())
            || (previous == '@' && c != ' ');
        let signed = matches!(c, '-' | '+') && previous.is_ascii_alphabetic();
        if glued || signed {
            out.push(' ');
        }
        out.push(c);
        previous = c;
    }
    Some(out.replace("+ ", "+").replace("- ", "-"))
}

/// `[-]years-months`
fn years_months(word: &str) -> Option<(i128, i128)> {
    let (negative, rest) = match word.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, word.strip_prefix('+').unwrap_or(word)),
    };
    let (years, months) = rest.split_once('-')?;
    let (years, months) = (i128::from(years.parse::<i64>().ok()?), i128::from(months.parse::<i64>().ok()?));
    if !(0..12).contains(&months) {
        return None;
    }
    Some(if negative { (-years, -months) } else { (years, months) })
}

/// Writes an interval.
pub fn write(out: &mut String, interval: Interval, style: IntervalStyle) {
    match style {
        IntervalStyle::Postgres => postgres(out, interval),
        IntervalStyle::PostgresVerbose => verbose(out, interval),
        IntervalStyle::SqlStandard => standard(out, interval),
        IntervalStyle::Iso8601 => iso8601(out, interval),
    }
}

/// `1 year 2 mons -3 days +04:05:06.7`
fn postgres(out: &mut String, interval: Interval) {
    let mut negative_before = false;
    let mut first = true;
    let parts = [(interval.months / 12, "year", "years"), (interval.months % 12, "mon", "mons"), (interval.days, "day", "days")];
    for (value, one, many) in parts {
        if value != 0 {
            let space = if first { "" } else { " " };
            let sign = if negative_before && value > 0 { "+" } else { "" };
            let _ = write!(out, "{space}{sign}{value} {}", if value == 1 { one } else { many });
            negative_before = value < 0;
            first = false;
        }
    }
    if first || interval.micros != 0 {
        if !first {
            out.push(' ');
        }
        if interval.micros < 0 {
            out.push('-');
        } else if negative_before {
            out.push('+');
        }
        let _ = time(out, interval.micros);
    }
}

/// `hh:mm:ss[.ffffff]` of the magnitude.
fn time(out: &mut String, micros: i64) -> std::fmt::Result {
    let magnitude = micros.unsigned_abs();
    let hours = magnitude / MICROS_PER_HOUR as u64;
    let (_, minute, second, fraction) = clock((magnitude % MICROS_PER_HOUR as u64) as i64);
    write!(out, "{hours:02}:{minute:02}:{second:02}")?;
    fraction_digits(out, fraction);
    Ok(())
}

fn verbose(out: &mut String, interval: Interval) {
    out.push('@');
    let magnitude = interval.micros.unsigned_abs() as i64;
    let (hours, rest) = (interval.micros / MICROS_PER_HOUR, magnitude % MICROS_PER_HOUR);
    let (_, minute, second, fraction) = clock(rest);
    let sign = if interval.micros < 0 { -1 } else { 1 };
    let first = [interval.months, interval.days].into_iter().map(i64::from).chain([interval.micros]).find(|n| *n != 0);
    let ago = first.is_some_and(|n| n < 0);
    let flip = if ago { -1 } else { 1 };
    let parts = [
        (i64::from(interval.months / 12), "year"),
        (i64::from(interval.months % 12), "mon"),
        (i64::from(interval.days), "day"),
        (hours, "hour"),
        (i64::from(minute) * sign, "min"),
    ];
    let mut any = false;
    for (value, name) in parts {
        if value != 0 {
            let value = value * flip;
            let _ = write!(out, " {value} {name}{}", if value == 1 { "" } else { "s" });
            any = true;
        }
    }
    if second != 0 || fraction != 0 {
        out.push_str(if sign * flip < 0 { " -" } else { " " });
        let _ = write!(out, "{second}");
        fraction_digits(out, fraction);
        out.push_str(if second == 1 && fraction == 0 { " sec" } else { " secs" });
        any = true;
    }
    if !any {
        out.push_str(" 0");
    }
    if ago {
        out.push_str(" ago");
    }
}

fn standard(out: &mut String, interval: Interval) {
    let (years, months) = (interval.months / 12, interval.months % 12);
    let signs = [i64::from(interval.months), i64::from(interval.days), interval.micros];
    let (negative, positive) = (signs.iter().any(|n| *n < 0), signs.iter().any(|n| *n > 0));
    let has_year_month = interval.months != 0;
    let has_day_time = interval.days != 0 || interval.micros != 0;
    if !has_year_month && !has_day_time {
        out.push('0');
    } else if (negative && positive) || (has_year_month && has_day_time) {
        let sign = |n: i64| if n < 0 { '-' } else { '+' };
        let _ = write!(
            out,
            "{}{}-{} {}{} {}",
            sign(signs[0]),
            years.abs(),
            months.abs(),
            sign(signs[1]),
            interval.days.unsigned_abs(),
            sign(signs[2])
        );
        standard_time(out, interval.micros);
    } else if has_year_month {
        let _ = write!(out, "{}{}-{}", if negative { "-" } else { "" }, years.abs(), months.abs());
    } else {
        out.push_str(if negative { "-" } else { "" });
        if interval.days != 0 {
            let _ = write!(out, "{} ", interval.days.unsigned_abs());
        }
        standard_time(out, interval.micros);
    }
}

fn standard_time(out: &mut String, micros: i64) {
    let mut padded = String::new();
    let _ = time(&mut padded, micros);
    out.push_str(padded.strip_prefix('0').unwrap_or(&padded));
}

fn iso8601(out: &mut String, interval: Interval) {
    if interval.months == 0 && interval.days == 0 && interval.micros == 0 {
        out.push_str("PT0S");
        return;
    }
    out.push('P');
    let mut part = |value: i64, letter: char| {
        if value != 0 {
            let _ = write!(out, "{value}{letter}");
        }
    };
    part(i64::from(interval.months / 12), 'Y');
    part(i64::from(interval.months % 12), 'M');
    part(i64::from(interval.days), 'D');
    if interval.micros == 0 {
        return;
    }
    out.push('T');
    let mut part = |value: i64, letter: char| {
        if value != 0 {
            let _ = write!(out, "{value}{letter}");
        }
    };
    part(interval.micros / MICROS_PER_HOUR, 'H');
    part(interval.micros / MICROS_PER_MINUTE % 60, 'M');
    let rest = interval.micros % MICROS_PER_MINUTE;
    if rest != 0 {
        let _ = write!(out, "{}{}", if rest < 0 { "-" } else { "" }, rest.abs() / MICROS_PER_SECOND);
        fraction_digits(out, (rest.abs() % MICROS_PER_SECOND) as i32);
        out.push('S');
    }
}
