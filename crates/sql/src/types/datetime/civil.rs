//! The proleptic Gregorian calendar: days and microseconds to and from fields.

use crate::error::{SqlError, SqlState};

/// Microseconds in a second.
pub const MICROS_PER_SECOND: i64 = 1_000_000;
/// Microseconds in a minute.
pub const MICROS_PER_MINUTE: i64 = 60 * MICROS_PER_SECOND;
/// Microseconds in an hour.
pub const MICROS_PER_HOUR: i64 = 3600 * MICROS_PER_SECOND;
/// Microseconds in a day.
pub const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;

/// `infinity` as a timestamp.
pub const TIMESTAMP_INFINITY: i64 = i64::MAX;
/// `-infinity` as a timestamp.
pub const TIMESTAMP_NEGATIVE_INFINITY: i64 = i64::MIN;
/// `infinity` as a date.
pub const DATE_INFINITY: i32 = i32::MAX;
/// `-infinity` as a date.
pub const DATE_NEGATIVE_INFINITY: i32 = i32::MIN;

/// Julian day of 2000-01-01, where our day count starts.
pub const EPOCH_JULIAN: i64 = 2_451_545;
/// Days from 2000-01-01 back to 1970-01-01.
pub const UNIX_EPOCH_DAYS: i32 = -10_957;
/// The last date: 5874897-12-31.
const DATE_MAX: i64 = 2_147_483_493 - EPOCH_JULIAN;
/// The first date: 4714-11-24 BC, Julian day 0.
const DATE_MIN: i64 = -EPOCH_JULIAN;
/// The first timestamp (that date's midnight) and the first after the last (294277-01-01).
const TIMESTAMP_MIN: i64 = -211_813_488_000_000_000;
const TIMESTAMP_END: i64 = 9_223_371_331_200_000_000;

/// A point in civil time, taken apart. The year counts astronomically: 0 is 1 BC.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)]
pub struct Civil {
    pub year: i32,
    pub month: i32,
    pub day: i32,
    /// Microseconds since midnight.
    pub time: i64,
}

impl Civil {
    /// Of a timestamp (finite), without regard to zones.
    pub fn from_timestamp(micros: i64) -> Civil {
        let days = micros.div_euclid(MICROS_PER_DAY);
        Civil { time: micros.rem_euclid(MICROS_PER_DAY), ..Civil::from_days(days) }
    }

    /// Of a date: midnight.
    pub fn from_days(days: i64) -> Civil {
        let (year, month, day) = date_of_julian(days + EPOCH_JULIAN);
        Civil { year, month, day, time: 0 }
    }

    /// Days since 2000-01-01.
    pub fn days(&self) -> i64 {
        julian_of_date(self.year, self.month, self.day) - EPOCH_JULIAN
    }

    /// Microseconds since 2000-01-01, `None` outside the range of timestamps.
    pub fn timestamp(&self) -> Option<i64> {
        let micros = self.days().checked_mul(MICROS_PER_DAY)?.checked_add(self.time)?;
        is_timestamp(micros).then_some(micros)
    }

    /// `(hour, minute, second, microsecond)`
    pub fn clock(&self) -> (i32, i32, i32, i32) {
        clock(self.time)
    }

    /// Day of the week, 0 is Sunday.
    pub fn weekday(&self) -> i32 {
        weekday(self.days())
    }

    /// Day of the year, from 1.
    pub fn day_of_year(&self) -> i32 {
        (julian_of_date(self.year, self.month, self.day) - julian_of_date(self.year, 1, 1) + 1) as i32
    }

    /// ISO 8601 week-numbering year and week.
    pub fn iso_week(&self) -> (i32, i32) {
        let days = self.days();
        let mut year = self.year;
        let mut start = iso_week_start(year);
        if days < start {
            year -= 1;
            start = iso_week_start(year);
        } else {
            let next = iso_week_start(year + 1);
            if days >= next {
                year += 1;
                start = next;
            }
        }
        (year, ((days - start) / 7 + 1) as i32)
    }
}

/// Day (since 2000-01-01) on which the ISO year's week 1 begins, a Monday.
pub fn iso_week_start(year: i32) -> i64 {
    let fourth = julian_of_date(year, 1, 4) - EPOCH_JULIAN;
    fourth - i64::from((weekday(fourth) + 6) % 7)
}

/// `(hour, minute, second, microsecond)` of microseconds since midnight.
pub fn clock(time: i64) -> (i32, i32, i32, i32) {
    let seconds = time / MICROS_PER_SECOND;
    ((seconds / 3600) as i32, (seconds / 60 % 60) as i32, (seconds % 60) as i32, (time % MICROS_PER_SECOND) as i32)
}

/// Day of the week of a day since 2000-01-01 (a Saturday); 0 is Sunday.
pub fn weekday(days: i64) -> i32 {
    (days + 6).rem_euclid(7) as i32
}

/// Julian day of a date. The year counts astronomically.
pub fn julian_of_date(year: i32, month: i32, day: i32) -> i64 {
    let (mut y, mut m) = (i64::from(year), i64::from(month));
    if m > 2 {
        m += 1;
        y += 4800;
    } else {
        m += 13;
        y += 4799;
    }
    let century = y.div_euclid(100);
    y * 365 - 32_167 + y.div_euclid(4) - century + century.div_euclid(4) + 7834 * m / 256 + i64::from(day)
}

/// Year, month and day of a Julian day.
pub fn date_of_julian(julian: i64) -> (i32, i32, i32) {
    // Days since 0000-03-01, in cycles of 400 years.
    let shifted = julian - 1_721_120;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year as i32, month as i32, day as i32)
}

/// Is it a leap year?
pub fn is_leap(year: i32) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Days in a month.
pub fn days_in_month(year: i32, month: i32) -> i32 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Is this a finite timestamp in range?
pub fn is_timestamp(micros: i64) -> bool {
    (TIMESTAMP_MIN..TIMESTAMP_END).contains(&micros)
}

/// A day count in the range of dates, as a date.
pub fn checked_date(days: i64) -> Option<i32> {
    (DATE_MIN..=DATE_MAX).contains(&days).then_some(days as i32)
}

/// Is this timestamp one of the infinities?
pub fn is_infinite(timestamp: i64) -> bool {
    timestamp == TIMESTAMP_INFINITY || timestamp == TIMESTAMP_NEGATIVE_INFINITY
}

/// Is this date one of the infinities?
pub fn is_infinite_date(date: i32) -> bool {
    date == DATE_INFINITY || date == DATE_NEGATIVE_INFINITY
}

/// `22008 timestamp out of range`
pub fn timestamp_out_of_range() -> SqlError {
    SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, "timestamp out of range")
}

/// `22008 date out of range`
pub fn date_out_of_range() -> SqlError {
    SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, "date out of range")
}

/// A date's midnight as a timestamp; infinities stay infinite.
pub fn timestamp_of_date(date: i32) -> Result<i64, SqlError> {
    match date {
        DATE_INFINITY => Ok(TIMESTAMP_INFINITY),
        DATE_NEGATIVE_INFINITY => Ok(TIMESTAMP_NEGATIVE_INFINITY),
        days => i64::from(days)
            .checked_mul(MICROS_PER_DAY)
            .filter(|micros| is_timestamp(*micros))
            .ok_or_else(|| SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, "date out of range for timestamp")),
    }
}

/// The date of a timestamp; infinities stay infinite.
pub fn date_of_timestamp(timestamp: i64) -> i32 {
    match timestamp {
        TIMESTAMP_INFINITY => DATE_INFINITY,
        TIMESTAMP_NEGATIVE_INFINITY => DATE_NEGATIVE_INFINITY,
        micros => micros.div_euclid(MICROS_PER_DAY) as i32,
    }
}
