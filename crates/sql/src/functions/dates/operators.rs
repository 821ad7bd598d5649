//! `+ - * /` of dates, times, timestamps and intervals.

use crate::error::{SqlError, SqlState};
use crate::expr::EvalContext;
use crate::functions::args::{Answer, float, int, interval, moment};
use crate::functions::{BuiltinFunction, EvalFn};
use crate::types::datetime::{arithmetic, civil, interval as intervals};
use crate::types::{DataType, Datum, Interval};

const DATE: DataType = DataType::DATE;
const TIME: DataType = DataType::TIME;
const TIMESTAMP: DataType = DataType::TIMESTAMP;
const TIMESTAMPTZ: DataType = DataType::TIMESTAMPTZ;
const INTERVAL: DataType = DataType::INTERVAL;
const INT4: DataType = DataType::INT4;
const FLOAT8: DataType = DataType::FLOAT8;

fn date_shift(days: i64, by: i64) -> Answer {
    if civil::is_infinite_date(days as i32) {
        return Ok(Datum::Date(days as i32));
    }
    civil::checked_date(days + by).map(Datum::Date).ok_or_else(civil::date_out_of_range)
}
fn date_plus_int(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    date_shift(moment(args, 0)?, int(args, 1)?)
}
fn int_plus_date(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    date_shift(moment(args, 1)?, int(args, 0)?)
}
fn date_minus_int(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    date_shift(moment(args, 0)?, -int(args, 1)?)
}
fn date_minus_date(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (a, b) = (moment(args, 0)?, moment(args, 1)?);
    if civil::is_infinite_date(a as i32) || civil::is_infinite_date(b as i32) {
        return Err(SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, "cannot subtract infinite dates"));
    }
    i32::try_from(a - b).map(Datum::Int4).map_err(|_| SqlError::out_of_range("integer"))
}

fn date_add(days: i64, interval: Interval) -> Answer {
    let midnight = civil::timestamp_of_date(days as i32)?;
    arithmetic::timestamp_add(midnight, interval).map(Datum::Timestamp)
}
fn date_plus_interval(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    date_add(moment(args, 0)?, interval(args, 1)?)
}
fn interval_plus_date(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    date_add(moment(args, 1)?, interval(args, 0)?)
}
fn date_minus_interval(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    date_add(moment(args, 0)?, arithmetic::negate(interval(args, 1)?)?)
}
fn date_with_time(days: i64, micros: i64) -> Answer {
    let midnight = civil::timestamp_of_date(days as i32)?;
    if civil::is_infinite(midnight) {
        return Ok(Datum::Timestamp(midnight));
    }
    arithmetic::timestamp_add(midnight, Interval { micros, ..Interval::default() }).map(Datum::Timestamp)
}
fn date_plus_time(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    date_with_time(moment(args, 0)?, moment(args, 1)?)
}
fn time_plus_date(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    date_with_time(moment(args, 1)?, moment(args, 0)?)
}

fn wrap_time(micros: i128) -> Answer {
    Ok(Datum::Time(micros.rem_euclid(i128::from(civil::MICROS_PER_DAY)) as i64))
}
fn time_plus_interval(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    wrap_time(i128::from(moment(args, 0)?) + i128::from(interval(args, 1)?.micros))
}
fn interval_plus_time(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    wrap_time(i128::from(moment(args, 1)?) + i128::from(interval(args, 0)?.micros))
}
fn time_minus_interval(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    wrap_time(i128::from(moment(args, 0)?) - i128::from(interval(args, 1)?.micros))
}
fn time_minus_time(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Interval(Interval { micros: moment(args, 0)? - moment(args, 1)?, ..Interval::default() }))
}

fn timestamp_plus(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    arithmetic::timestamp_add(moment(args, 0)?, interval(args, 1)?).map(Datum::Timestamp)
}
fn plus_timestamp(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    arithmetic::timestamp_add(moment(args, 1)?, interval(args, 0)?).map(Datum::Timestamp)
}
fn timestamp_minus(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    arithmetic::timestamp_add(moment(args, 0)?, arithmetic::negate(interval(args, 1)?)?).map(Datum::Timestamp)
}
fn timestamptz_plus(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    arithmetic::timestamptz_add(moment(args, 0)?, interval(args, 1)?, &ctx.settings.time_zone).map(Datum::Timestamptz)
}
fn plus_timestamptz(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    arithmetic::timestamptz_add(moment(args, 1)?, interval(args, 0)?, &ctx.settings.time_zone).map(Datum::Timestamptz)
}
fn timestamptz_minus(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    arithmetic::timestamptz_add(moment(args, 0)?, arithmetic::negate(interval(args, 1)?)?, &ctx.settings.time_zone).map(Datum::Timestamptz)
}
fn difference(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    arithmetic::timestamp_diff(moment(args, 0)?, moment(args, 1)?).map(Datum::Interval)
}

fn interval_plus(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    arithmetic::interval_add(interval(args, 0)?, interval(args, 1)?).map(Datum::Interval)
}
fn interval_minus(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (a, b) = (interval(args, 0)?, interval(args, 1)?);
    let difference = || {
        Some(Interval {
            months: a.months.checked_sub(b.months)?,
            days: a.days.checked_sub(b.days)?,
            micros: a.micros.checked_sub(b.micros)?,
        })
    };
    difference().map(Datum::Interval).ok_or_else(intervals::out_of_range)
}
fn interval_negate(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    arithmetic::negate(interval(args, 0)?).map(Datum::Interval)
}
fn interval_times(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    arithmetic::interval_mul(interval(args, 0)?, float(args, 1)?).map(Datum::Interval)
}
fn times_interval(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    arithmetic::interval_mul(interval(args, 1)?, float(args, 0)?).map(Datum::Interval)
}
fn interval_divided(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    arithmetic::interval_div(interval(args, 0)?, float(args, 1)?).map(Datum::Interval)
}
/// One period of OVERLAPS: its start, and its end if that is known.
fn period(args: &[Datum], at: usize) -> Result<Option<(i64, Option<i64>)>, SqlError> {
    let known = |at: usize| if args[at].is_null() { Ok(None) } else { moment(args, at).map(Some) };
    Ok(match (known(at)?, known(at + 1)?) {
        (None, None) => None,
        (Some(one), None) | (None, Some(one)) => Some((one, None)),
        (Some(start), Some(end)) => Some((start.min(end), Some(start.max(end)))),
    })
}

/// `(a, b) OVERLAPS (c, d)`: half-open periods; one that is a point lies in another if the other starts there or before.
fn overlaps(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (Some(one), Some(other)) = (period(args, 0)?, period(args, 2)?) else { return Ok(Datum::Null) };
    let (first, second) = if one.0 <= other.0 { (one, other) } else { (other, one) };
    let unknown = if first.0 == second.0 { first.1.is_none() || second.1.is_none() } else { first.1.is_none() };
    if unknown {
        return Ok(Datum::Null);
    }
    if first.0 == second.0 || first.1.is_some_and(|end| second.0 < end) {
        return Ok(Datum::Bool(true));
    }
    Ok(if second.1.is_none() { Datum::Null } else { Datum::Bool(false) })
}
fn same(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(args[0].clone())
}

const fn op(name: &'static str, args: &'static [DataType], result: DataType, eval: EvalFn) -> BuiltinFunction {
    BuiltinFunction::new(name, args, result, eval)
}

/// All of them.
#[rustfmt::skip]
pub(in crate::functions) static FUNCTIONS: &[BuiltinFunction] = &[
    op("+", &[DATE, INT4], DATE, date_plus_int), op("+", &[INT4, DATE], DATE, int_plus_date), op("-", &[DATE, INT4], DATE, date_minus_int), op("-", &[DATE, DATE], INT4, date_minus_date),
    op("+", &[DATE, INTERVAL], TIMESTAMP, date_plus_interval), op("+", &[INTERVAL, DATE], TIMESTAMP, interval_plus_date), op("-", &[DATE, INTERVAL], TIMESTAMP, date_minus_interval),
    op("+", &[DATE, TIME], TIMESTAMP, date_plus_time), op("+", &[TIME, DATE], TIMESTAMP, time_plus_date),
    op("+", &[TIME, INTERVAL], TIME, time_plus_interval), op("+", &[INTERVAL, TIME], TIME, interval_plus_time), op("-", &[TIME, INTERVAL], TIME, time_minus_interval), op("-", &[TIME, TIME], INTERVAL, time_minus_time),
    op("+", &[TIMESTAMP, INTERVAL], TIMESTAMP, timestamp_plus), op("+", &[INTERVAL, TIMESTAMP], TIMESTAMP, plus_timestamp), op("-", &[TIMESTAMP, INTERVAL], TIMESTAMP, timestamp_minus), op("-", &[TIMESTAMP, TIMESTAMP], INTERVAL, difference),
    op("+", &[TIMESTAMPTZ, INTERVAL], TIMESTAMPTZ, timestamptz_plus).stable(), op("+", &[INTERVAL, TIMESTAMPTZ], TIMESTAMPTZ, plus_timestamptz).stable(), op("-", &[TIMESTAMPTZ, INTERVAL], TIMESTAMPTZ, timestamptz_minus).stable(),
    op("-", &[TIMESTAMPTZ, TIMESTAMPTZ], INTERVAL, difference),
    op("+", &[INTERVAL, INTERVAL], INTERVAL, interval_plus), op("-", &[INTERVAL, INTERVAL], INTERVAL, interval_minus), op("-", &[INTERVAL], INTERVAL, interval_negate), op("+", &[INTERVAL], INTERVAL, same),
    op("overlaps", &[TIMESTAMPTZ, TIMESTAMPTZ, TIMESTAMPTZ, TIMESTAMPTZ], DataType::BOOL, overlaps).nullable(), op("overlaps", &[TIMESTAMP, TIMESTAMP, TIMESTAMP, TIMESTAMP], DataType::BOOL, overlaps).nullable(), op("overlaps", &[TIME, TIME, TIME, TIME], DataType::BOOL, overlaps).nullable(),
    op("*", &[INTERVAL, FLOAT8], INTERVAL, interval_times), op("*", &[FLOAT8, INTERVAL], INTERVAL, times_interval), op("/", &[INTERVAL, FLOAT8], INTERVAL, interval_divided),
];
