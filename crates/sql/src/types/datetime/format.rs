//! Writing dates, times and timestamps in each DateStyle.

use super::civil::{Civil, DATE_INFINITY, DATE_NEGATIVE_INFINITY, MICROS_PER_SECOND, TIMESTAMP_INFINITY, clock, is_infinite};
use super::parse::{MONTHS, WEEKDAYS};
use super::zone;
use crate::types::settings::{DateOrder, DateStyle, FormatSettings};
use std::fmt::Write;

/// Two digits, quickly.
fn two(out: &mut String, n: i32) {
    out.push(char::from(b'0' + (n / 10 % 10) as u8));
    out.push(char::from(b'0' + (n % 10) as u8));
}

/// The year as shown: BC years count from 1.
fn year(out: &mut String, year: i32) {
    let shown = if year > 0 { year } else { 1 - year };
    if (1000..=9999).contains(&shown) {
        two(out, shown / 100);
        two(out, shown);
    } else {
        let _ = write!(out, "{shown:04}");
    }
}

/// `hh:mm:ss[.ffffff]`, trailing zeros of the fraction dropped.
pub fn time(out: &mut String, micros: i64) {
    let (hour, minute, second, fraction) = clock(micros);
    two(out, hour);
    out.push(':');
    two(out, minute);
    out.push(':');
    two(out, second);
    fraction_digits(out, fraction);
}

/// `.ffffff` without trailing zeros; nothing for zero.
pub(super) fn fraction_digits(out: &mut String, fraction: i32) {
    if fraction != 0 {
        let digits = format!("{fraction:06}");
        out.push('.');
        out.push_str(digits.trim_end_matches('0'));
    }
}

fn day_month(out: &mut String, civil: &Civil, order: DateOrder, delimiter: char) {
    let (first, second) = if order == DateOrder::Dmy { (civil.day, civil.month) } else { (civil.month, civil.day) };
    two(out, first);
    out.push(delimiter);
    two(out, second);
}

fn civil_date(out: &mut String, civil: &Civil, settings: &FormatSettings) {
    match settings.date_style {
        DateStyle::Iso => {
            year(out, civil.year);
            out.push('-');
            two(out, civil.month);
            out.push('-');
            two(out, civil.day);
        }
        DateStyle::Sql => {
            day_month(out, civil, settings.date_order, '/');
            out.push('/');
            year(out, civil.year);
        }
        DateStyle::Postgres => {
            day_month(out, civil, settings.date_order, '-');
            out.push('-');
            year(out, civil.year);
        }
        DateStyle::German => {
            two(out, civil.day);
            out.push('.');
            two(out, civil.month);
            out.push('.');
            year(out, civil.year);
        }
    }
}

fn era(out: &mut String, civil: &Civil) {
    if civil.year <= 0 {
        out.push_str(" BC");
    }
}

/// A date.
pub fn date(out: &mut String, days: i32, settings: &FormatSettings) {
    match days {
        DATE_INFINITY => out.push_str("infinity"),
        DATE_NEGATIVE_INFINITY => out.push_str("-infinity"),
        days => {
            let civil = Civil::from_days(i64::from(days));
            civil_date(out, &civil, settings);
            era(out, &civil);
        }
    }
}

/// A timestamp without time zone.
pub fn timestamp(out: &mut String, micros: i64, settings: &FormatSettings) {
    if !infinite(out, micros) {
        point(out, micros, settings, None);
    }
}

/// A timestamp with time zone, in the session's zone.
pub fn timestamptz(out: &mut String, micros: i64, settings: &FormatSettings) {
    if !infinite(out, micros) {
        let offset = zone::offset_at(&settings.time_zone, micros);
        let local = micros.saturating_add(i64::from(offset) * MICROS_PER_SECOND);
        point(out, local, settings, Some((offset, micros)));
    }
}

fn infinite(out: &mut String, micros: i64) -> bool {
    if is_infinite(micros) {
        out.push_str(if micros == TIMESTAMP_INFINITY { "infinity" } else { "-infinity" });
    }
    is_infinite(micros)
}

/// `zone` is the offset and the instant.
fn point(out: &mut String, local: i64, settings: &FormatSettings, zone: Option<(i32, i64)>) {
    let civil = Civil::from_timestamp(local);
    if settings.date_style == DateStyle::Postgres {
        postgres_point(out, &civil, settings);
    } else {
        civil_date(out, &civil, settings);
        out.push(' ');
        time(out, civil.time);
    }
    if let Some((offset, instant)) = zone {
        if settings.date_style == DateStyle::Iso {
            displacement(out, offset);
        } else {
            let name = zone::abbreviation_at(&settings.time_zone, instant);
            if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
                out.push(' ');
                out.push_str(&name);
            } else {
                if settings.date_style == DateStyle::Postgres {
                    out.push(' ');
                }
                displacement(out, offset);
            }
        }
    }
    era(out, &civil);
}

/// `Thu Jan 02 03:04:05 2020`
fn postgres_point(out: &mut String, civil: &Civil, settings: &FormatSettings) {
    out.push_str(&WEEKDAYS[civil.weekday() as usize][..3]);
    out.push(' ');
    let month = &MONTHS[(civil.month - 1) as usize][..3];
    if settings.date_order == DateOrder::Dmy {
        let _ = write!(out, "{:02} {month} ", civil.day);
    } else {
        let _ = write!(out, "{month} {:02} ", civil.day);
    }
    time(out, civil.time);
    out.push(' ');
    year(out, civil.year);
}

/// `+hh[:mm[:ss]]`
pub fn displacement(out: &mut String, offset: i32) {
    out.push(if offset < 0 { '-' } else { '+' });
    let offset = offset.abs();
    two(out, offset / 3600);
    if offset % 3600 != 0 {
        out.push(':');
        two(out, offset / 60 % 60);
    }
    if offset % 60 != 0 {
        out.push(':');
        two(out, offset % 60);
    }
}
