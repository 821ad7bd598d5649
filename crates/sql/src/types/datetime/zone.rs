//! Time zones: offsets by `jiff`, names and abbreviations as PostgreSQL accepts them.

use super::civil::{Civil, MICROS_PER_SECOND, is_timestamp, timestamp_out_of_range};
use crate::error::{SqlError, SqlState};
use crate::expr::UNIX_TO_POSTGRES_MICROS;
use jiff::Timestamp;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

/// 400 years of microseconds: the calendar repeats, so zone rules of a far year are those of a near one.
const CYCLE_MICROS: i64 = 146_097 * super::MICROS_PER_DAY;
/// A displacement must be below this many seconds (PostgreSQL's MAX_TZDISP_HOUR is 15).
const DISPLACEMENT_SECONDS_MAX: i32 = 16 * 3600;

/// Abbreviations of the default `timezone_abbreviations` that are met in practice: hours and minutes east.
const ABBREVIATIONS: &[(&str, i32)] = &[
    ("acst", 34200),
    ("aest", 36000),
    ("aedt", 39600),
    ("akst", -32400),
    ("akdt", -28800),
    ("awst", 28800),
    ("art", -10800),
    ("brt", -10800),
    ("bst", 3600),
    ("cest", 7200),
    ("cet", 3600),
    ("cst", -21600),
    ("cdt", -18000),
    ("eat", 10800),
    ("eest", 10800),
    ("eet", 7200),
    ("est", -18000),
    ("edt", -14400),
    ("gmt", 0),
    ("hkt", 28800),
    ("hst", -36000),
    ("ict", 25200),
    ("ist", 7200),
    ("jst", 32400),
    ("kst", 32400),
    ("mest", 7200),
    ("met", 3600),
    ("msd", 14400),
    ("msk", 10800),
    ("mst", -25200),
    ("mdt", -21600),
    ("nzst", 43200),
    ("nzdt", 46800),
    ("pkt", 18000),
    ("pst", -28800),
    ("pdt", -25200),
    ("sgt", 28800),
    ("ut", 0),
    ("utc", 0),
    ("uct", 0),
    ("wet", 0),
    ("west", 3600),
    ("z", 0),
    ("zulu", 0),
];

/// The instant as jiff has it; far years are moved near by whole cycles.
fn instant(mut timestamp: i64) -> Timestamp {
    let limit = 7000 * 366 * super::MICROS_PER_DAY;
    if timestamp.abs() > limit {
        timestamp %= CYCLE_MICROS;
    }
    Timestamp::from_microsecond(timestamp + UNIX_TO_POSTGRES_MICROS).unwrap_or_default()
}

/// Seconds east of Greenwich at an instant (microseconds since 2000-01-01 UTC).
pub fn offset_at(zone: &TimeZone, timestamp: i64) -> i32 {
    zone.to_offset(instant(timestamp)).seconds()
}

/// The zone's abbreviation at an instant (`UTC`, `CEST`).
pub fn abbreviation_at(zone: &TimeZone, timestamp: i64) -> String {
    zone.to_offset_info(instant(timestamp)).abbreviation().to_owned()
}

/// Local time of an instant: microseconds since 2000-01-01 on the zone's clocks. Infinities stay.
pub fn to_local(zone: &TimeZone, timestamp: i64) -> i64 {
    if super::civil::is_infinite(timestamp) {
        return timestamp;
    }
    timestamp.saturating_add(i64::from(offset_at(zone, timestamp)) * MICROS_PER_SECOND)
}

/// The instant of a local time. A time that the clocks skipped is read with the offset before the jump, one they showed twice is
/// the later of the two, as PostgreSQL has it.
pub fn to_utc(zone: &TimeZone, local: i64) -> Result<i64, SqlError> {
    if super::civil::is_infinite(local) {
        return Ok(local);
    }
    let utc = local - i64::from(offset_of_local(zone, local)) * MICROS_PER_SECOND;
    if is_timestamp(utc) { Ok(utc) } else { Err(timestamp_out_of_range()) }
}

/// Seconds east of Greenwich at a local time.
pub fn offset_of_local(zone: &TimeZone, local: i64) -> i32 {
    let near = if local.abs() > 7000 * 366 * super::MICROS_PER_DAY { local % CYCLE_MICROS } else { local };
    let civil = Civil::from_timestamp(near);
    let (hour, minute, second, micro) = civil.clock();
    let Ok(datetime) = jiff::civil::DateTime::new(
        civil.year as i16,
        civil.month as i8,
        civil.day as i8,
        hour as i8,
        minute as i8,
        second as i8,
        micro * 1000,
    ) else {
        return 0;
    };
    match zone.to_ambiguous_timestamp(datetime).offset() {
        AmbiguousOffset::Unambiguous { offset } => offset.seconds(),
        AmbiguousOffset::Gap { before, .. } => before.seconds(),
        AmbiguousOffset::Fold { after, .. } => after.seconds(),
    }
}

/// A fixed offset, in seconds east.
pub fn fixed(seconds: i32) -> Option<TimeZone> {
    Offset::from_seconds(seconds).ok().map(TimeZone::fixed)
}

/// Seconds east of an abbreviation in lower case.
pub fn abbreviation(name: &str) -> Option<i32> {
    ABBREVIATIONS.iter().find(|(known, _)| *known == name).map(|(_, seconds)| *seconds)
}

/// A zone by its full name, abbreviation, or POSIX rule, in any case: what AT TIME ZONE and SET TimeZone accept as text.
pub fn by_name(name: &str) -> Option<TimeZone> {
    if name.eq_ignore_ascii_case("utc") || name.eq_ignore_ascii_case("gmt") || name.eq_ignore_ascii_case("zulu") {
        return Some(TimeZone::UTC);
    }
    if let Some(seconds) = abbreviation(&name.to_ascii_lowercase()) {
        // A zone of that very name knows its daylight rules; est, cet ... as abbreviations are fixed.
        return fixed(seconds);
    }
    if let Ok(zone) = TimeZone::get(name) {
        return Some(zone);
    }
    if name.starts_with(['+', '-']) || name.starts_with(|c: char| c.is_ascii_digit()) {
        // A bare offset in a POSIX rule counts west.
        return displacement(name).and_then(|seconds| fixed(-seconds));
    }
    TimeZone::posix(name).ok()
}

/// The zone of `SET TimeZone = ...`: a name, or a number of hours east.
pub fn for_setting(value: &str) -> Option<TimeZone> {
    let value = value.trim();
    if value.eq_ignore_ascii_case("default") || value.eq_ignore_ascii_case("local") {
        return Some(TimeZone::UTC);
    }
    if let Ok(hours) = value.parse::<f64>() {
        return fixed((hours * 3600.0) as i32);
    }
    by_name(value)
}

/// The zone AT TIME ZONE names, or PostgreSQL's error.
pub fn named(name: &str) -> Result<TimeZone, SqlError> {
    by_name(name).ok_or_else(|| SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("time zone \"{name}\" not recognized")))
}

/// Seconds east of `+hh[[:]mm[[:]ss]]`.
pub fn displacement(text: &str) -> Option<i32> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'+' => (1, &text[1..]),
        b'-' => (-1, &text[1..]),
        _ => (1, text),
    };
    let parts: Vec<&str> = digits.split(':').collect();
    if parts.iter().any(|p| p.is_empty() || p.len() > 6 || !p.bytes().all(|b| b.is_ascii_digit())) {
        return None;
    }
    let number = |part: &str| part.parse::<i32>().unwrap_or(i32::MAX);
    let (hours, minutes, seconds) = match parts.as_slice() {
        [all] if all.len() <= 2 => (number(all), 0, 0),
        [all] if all.len() <= 4 => (number(&all[..all.len() - 2]), number(&all[all.len() - 2..]), 0),
        [all] => (number(&all[..all.len() - 4]), number(&all[all.len() - 4..all.len() - 2]), number(&all[all.len() - 2..])),
        [h, m] => (number(h), number(m), 0),
        [h, m, s] => (number(h), number(m), number(s)),
        _ => return None,
    };
    if minutes > 59 || seconds > 59 || hours > 15 {
        return None;
    }
    let total = hours * 3600 + minutes * 60 + seconds;
    (total < DISPLACEMENT_SECONDS_MAX).then_some(sign * total)
}
