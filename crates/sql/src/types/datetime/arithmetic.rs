//! Adding intervals, differences, ages, truncation and fields.

use super::civil::{
    Civil, MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_MINUTE, MICROS_PER_SECOND, date_of_timestamp, days_in_month, is_infinite,
    is_timestamp, iso_week_start, timestamp_out_of_range,
};
use super::interval::out_of_range;
use super::zone;
use crate::error::SqlError;
use crate::types::Interval;
use jiff::tz::TimeZone;

/// Days a month has when only intervals are concerned.
pub const DAYS_PER_MONTH: i64 = 30;

/// Moves a civil time by months, keeping the day within the month.
fn add_months(civil: Civil, months: i32) -> Civil {
    let total = i64::from(civil.year) * 12 + i64::from(civil.month - 1) + i64::from(months);
    let (year, month) = (total.div_euclid(12) as i32, (total.rem_euclid(12) + 1) as i32);
    Civil { year, month, day: civil.day.min(days_in_month(year, month)), ..civil }
}

/// Months and days of the interval added to a local time.
fn add_calendar(local: i64, interval: Interval) -> Option<i64> {
    let mut local = local;
    if interval.months != 0 {
        local = add_months(Civil::from_timestamp(local), interval.months).timestamp()?;
    }
    local.checked_add(i64::from(interval.days).checked_mul(MICROS_PER_DAY)?).filter(|t| is_timestamp(*t))
}

/// `timestamp + interval`
pub fn timestamp_add(timestamp: i64, interval: Interval) -> Result<i64, SqlError> {
    if is_infinite(timestamp) {
        return Ok(timestamp);
    }
    add_calendar(timestamp, interval)
        .and_then(|t| t.checked_add(interval.micros))
        .filter(|t| is_timestamp(*t))
        .ok_or_else(timestamp_out_of_range)
}

/// `timestamptz + interval`: months and days on the zone's calendar, then the exact rest.
pub fn timestamptz_add(timestamp: i64, interval: Interval, zone: &TimeZone) -> Result<i64, SqlError> {
    if is_infinite(timestamp) {
        return Ok(timestamp);
    }
    let mut instant = timestamp;
    if interval.months != 0 || interval.days != 0 {
        let local = add_calendar(zone::to_local(zone, instant), interval).ok_or_else(timestamp_out_of_range)?;
        instant = zone::to_utc(zone, local)?;
    }
    instant.checked_add(interval.micros).filter(|t| is_timestamp(*t)).ok_or_else(timestamp_out_of_range)
}

/// `-interval`
pub fn negate(interval: Interval) -> Result<Interval, SqlError> {
    Ok(Interval {
        months: interval.months.checked_neg().ok_or_else(out_of_range)?,
        days: interval.days.checked_neg().ok_or_else(out_of_range)?,
        micros: interval.micros.checked_neg().ok_or_else(out_of_range)?,
    })
}

/// `interval + interval`
pub fn interval_add(a: Interval, b: Interval) -> Result<Interval, SqlError> {
    Ok(Interval {
        months: a.months.checked_add(b.months).ok_or_else(out_of_range)?,
        days: a.days.checked_add(b.days).ok_or_else(out_of_range)?,
        micros: a.micros.checked_add(b.micros).ok_or_else(out_of_range)?,
    })
}

/// Rounds to six digits, as PostgreSQL's TSROUND.
fn round6(x: f64) -> f64 {
    (x * 1e6).round_ties_even() / 1e6
}

/// `interval * factor`, fractions cascading to days and microseconds.
pub fn interval_mul(interval: Interval, factor: f64) -> Result<Interval, SqlError> {
    scale(interval, |x| x * factor)
}

/// `interval / divisor`
pub fn interval_div(interval: Interval, divisor: f64) -> Result<Interval, SqlError> {
    if divisor == 0.0 {
        return Err(SqlError::new(crate::error::SqlState::DIVISION_BY_ZERO, "division by zero"));
    }
    scale(interval, |x| x / divisor)
}

fn scale(interval: Interval, apply: impl Fn(f64) -> f64) -> Result<Interval, SqlError> {
    let within =
        |x: f64| if x.is_nan() || x > f64::from(i32::MAX) || x < f64::from(i32::MIN) { Err(out_of_range()) } else { Ok(x.trunc()) };
    let (exact_months, exact_days) = (apply(f64::from(interval.months)), apply(f64::from(interval.days)));
    let (months, days) = (within(exact_months)?, within(exact_days)?);
    let month_rest_days = round6((exact_months - months) * DAYS_PER_MONTH as f64);
    let mut seconds = round6((exact_days - days + month_rest_days - month_rest_days.trunc()) * 86_400.0);
    let mut days = days;
    if seconds.abs() >= 86_400.0 {
        let whole = (seconds / 86_400.0).trunc();
        days += whole;
        seconds -= whole * 86_400.0;
    }
    days += month_rest_days.trunc();
    let micros = (apply(interval.micros as f64) + seconds * 1e6).round_ties_even();
    if micros.is_nan() || micros.abs() > 9.223_372_036_854_775e18 {
        return Err(out_of_range());
    }
    Ok(Interval { months: months as i32, days: within(days)? as i32, micros: micros as i64 })
}

/// `timestamp - timestamp`: days and the rest.
pub fn timestamp_diff(a: i64, b: i64) -> Result<Interval, SqlError> {
    if is_infinite(a) || is_infinite(b) {
        return Err(SqlError::new(crate::error::SqlState::DATETIME_FIELD_OVERFLOW, "cannot subtract infinite timestamps"));
    }
    let micros = a.checked_sub(b).ok_or_else(out_of_range)?;
    justify_hours(Interval { micros, ..Interval::default() })
}

/// Whole days out of the microseconds.
pub fn justify_hours(interval: Interval) -> Result<Interval, SqlError> {
    let mut days = i64::from(interval.days) + interval.micros / MICROS_PER_DAY;
    let mut micros = interval.micros % MICROS_PER_DAY;
    if days > 0 && micros < 0 {
        micros += MICROS_PER_DAY;
        days -= 1;
    } else if days < 0 && micros > 0 {
        micros -= MICROS_PER_DAY;
        days += 1;
    }
    Ok(Interval { days: days.try_into().map_err(|_| out_of_range())?, micros, ..interval })
}

/// Whole months out of the days.
pub fn justify_days(interval: Interval) -> Result<Interval, SqlError> {
    let mut months = i64::from(interval.months) + i64::from(interval.days) / DAYS_PER_MONTH;
    let mut days = i64::from(interval.days) % DAYS_PER_MONTH;
    if months > 0 && days < 0 {
        days += DAYS_PER_MONTH;
        months -= 1;
    } else if months < 0 && days > 0 {
        days -= DAYS_PER_MONTH;
        months += 1;
    }
    Ok(Interval { months: months.try_into().map_err(|_| out_of_range())?, days: days as i32, ..interval })
}

/// Both, and all signs alike.
pub fn justify_interval(interval: Interval) -> Result<Interval, SqlError> {
    let Interval { months, days, micros } = interval;
    let mut days = i64::from(days) + micros / MICROS_PER_DAY;
    let mut micros = micros % MICROS_PER_DAY;
    let mut months = i64::from(months) + days / DAYS_PER_MONTH;
    days %= DAYS_PER_MONTH;
    if months > 0 && (days < 0 || (days == 0 && micros < 0)) {
        days += DAYS_PER_MONTH;
        months -= 1;
    } else if months < 0 && (days > 0 || (days == 0 && micros > 0)) {
        days -= DAYS_PER_MONTH;
        months += 1;
    }
    if days > 0 && micros < 0 {
        micros += MICROS_PER_DAY;
        days -= 1;
    } else if days < 0 && micros > 0 {
        micros -= MICROS_PER_DAY;
        days += 1;
    }
    Ok(Interval { months: months.try_into().map_err(|_| out_of_range())?, days: days as i32, micros })
}

/// `age(a, b)` of local times: years, months, days and the rest, symbolically.
pub fn age(a: i64, b: i64) -> Result<Interval, SqlError> {
    if is_infinite(a) || is_infinite(b) {
        return Err(SqlError::new(crate::error::SqlState::DATETIME_FIELD_OVERFLOW, "cannot subtract infinite timestamps"));
    }
    let negative = a < b;
    let (later, earlier) =
        if negative { (Civil::from_timestamp(b), Civil::from_timestamp(a)) } else { (Civil::from_timestamp(a), Civil::from_timestamp(b)) };
    let mut micros = later.time - earlier.time;
    let mut days = later.day - earlier.day;
    let mut months = (later.year - earlier.year) * 12 + later.month - earlier.month;
    if micros < 0 {
        micros += MICROS_PER_DAY;
        days -= 1;
    }
    if days < 0 {
        // The borrowed month is the earlier date's.
        days += days_in_month(earlier.year, earlier.month);
        months -= 1;
    }
    let interval = Interval { months, days, micros };
    if negative { negate(interval) } else { Ok(interval) }
}

/// Cuts a local time to a unit; `None` when there is no such unit.
pub fn trunc(local: i64, unit: &str) -> Option<i64> {
    if is_infinite(local) {
        return Some(local);
    }
    let civil = Civil::from_timestamp(local);
    let day = |year: i32, month: i32, day: i32| Civil { year, month, day, time: 0 }.days() * MICROS_PER_DAY;
    let down = |size: i64| local - local.rem_euclid(size);
    Some(match unit {
        "microseconds" | "microsecond" | "us" => local,
        "milliseconds" | "millisecond" | "ms" => down(1000),
        "second" | "seconds" => down(MICROS_PER_SECOND),
        "minute" | "minutes" => down(MICROS_PER_MINUTE),
        "hour" | "hours" => down(MICROS_PER_HOUR),
        "day" | "days" => down(MICROS_PER_DAY),
        "week" | "weeks" => iso_week_start(civil.iso_week().0) * MICROS_PER_DAY + i64::from(civil.iso_week().1 - 1) * 7 * MICROS_PER_DAY,
        "month" | "months" | "mon" => day(civil.year, civil.month, 1),
        "quarter" => day(civil.year, (civil.month - 1) / 3 * 3 + 1, 1),
        "year" | "years" => day(civil.year, 1, 1),
        "decade" | "decades" => day(civil.year.div_euclid(10) * 10, 1, 1),
        "century" | "centuries" => day((civil.year - 1).div_euclid(100) * 100 + 1, 1, 1),
        "millennium" | "millennia" => day((civil.year - 1).div_euclid(1000) * 1000 + 1, 1, 1),
        _ => return None,
    })
}

/// Cuts an interval to a unit.
pub fn trunc_interval(interval: Interval, unit: &str) -> Option<Interval> {
    let Interval { months, days, micros } = interval;
    let to_months = |size: i32| Interval { months: months / size * size, ..Interval::default() };
    let to_micros = |size: i64| Interval { micros: micros / size * size, ..interval };
    Some(match unit {
        "microseconds" | "microsecond" | "us" => interval,
        "milliseconds" | "millisecond" | "ms" => to_micros(1000),
        "second" | "seconds" => to_micros(MICROS_PER_SECOND),
        "minute" | "minutes" => to_micros(MICROS_PER_MINUTE),
        "hour" | "hours" => to_micros(MICROS_PER_HOUR),
        "day" | "days" => Interval { months, days, micros: 0 },
        "month" | "months" | "mon" => to_months(1),
        "quarter" => to_months(3),
        "year" | "years" => to_months(12),
        "decade" | "decades" => to_months(120),
        "century" | "centuries" => to_months(1200),
        "millennium" | "millennia" => to_months(12_000),
        _ => return None,
    })
}

/// Rounds a time of day or timestamp to `precision` digits of a second, half up.
pub fn round_micros(micros: i64, precision: i32) -> i64 {
    if !(0..6).contains(&precision) || is_infinite(micros) {
        return micros;
    }
    let unit = 10i64.pow(6 - precision as u32);
    let half = unit / 2;
    if micros >= 0 { micros.saturating_add(half) / unit * unit } else { -(micros.saturating_neg().saturating_add(half) / unit * unit) }
}

/// The length by which intervals compare: a month is 30 days, a day 24 hours.
pub fn interval_length(interval: Interval) -> i128 {
    let days = i128::from(interval.months) * i128::from(DAYS_PER_MONTH) + i128::from(interval.days);
    days * i128::from(MICROS_PER_DAY) + i128::from(interval.micros)
}

/// The date of an instant in a zone.
pub fn date_in_zone(zone: &TimeZone, timestamp: i64) -> i32 {
    date_of_timestamp(zone::to_local(zone, timestamp))
}
