//! Clocks, constructors, ages, time zone conversions.

use crate::error::{SqlError, SqlState};
use crate::expr::{EvalContext, UNIX_TO_POSTGRES_MICROS, clock_time};
use crate::functions::args::{Answer, float, int4, interval, moment, out, text};
use crate::functions::{BuiltinFunction, EvalFn};
use crate::types::cast::current;
use crate::types::datetime::{arithmetic, civil, civil::Civil, interval as intervals, zone};
use crate::types::{DataType, Datum, Interval, text as texts};

const TEXT: DataType = DataType::TEXT;
const DATE: DataType = DataType::DATE;
const TIME: DataType = DataType::TIME;
const TIMESTAMP: DataType = DataType::TIMESTAMP;
const TIMESTAMPTZ: DataType = DataType::TIMESTAMPTZ;
const INTERVAL: DataType = DataType::INTERVAL;
const INT4: DataType = DataType::INT4;
const FLOAT8: DataType = DataType::FLOAT8;
const BOOL: DataType = DataType::BOOL;

fn now(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Timestamptz(rounded(ctx.transaction_time, args)?))
}
/// To the precision that `CURRENT_TIMESTAMP(n)` asks for.
fn rounded(micros: i64, args: &[Datum]) -> Result<i64, SqlError> {
    Ok(if args.is_empty() { micros } else { arithmetic::round_micros(micros, int4(args, 0)?) })
}
fn statement_timestamp(ctx: &EvalContext<'_>, _: &[Datum]) -> Answer {
    Ok(Datum::Timestamptz(ctx.statement_time))
}
fn clock_timestamp(_: &EvalContext<'_>, _: &[Datum]) -> Answer {
    Ok(Datum::Timestamptz(clock_time()))
}
fn timeofday(ctx: &EvalContext<'_>, _: &[Datum]) -> Answer {
    let mut settings = ctx.settings.clone();
    settings.date_style = crate::types::settings::DateStyle::Postgres;
    let context = crate::types::TextContext { settings: &settings, ..ctx.text() };
    out(texts::to_string(&Datum::Timestamptz(clock_time()), TIMESTAMPTZ, &context))
}
fn current_date(ctx: &EvalContext<'_>, _: &[Datum]) -> Answer {
    Ok(current(DATE, ctx))
}
fn localtime(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Time(rounded(moment(&[current(TIME, ctx)], 0)?, args)?))
}
fn localtimestamp(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Timestamp(rounded(moment(&[current(TIMESTAMP, ctx)], 0)?, args)?))
}

fn field_range(message: String) -> SqlError {
    SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, message)
}

fn checked_days(year: i32, month: i32, day: i32) -> Result<i64, SqlError> {
    let astronomical = if year < 0 { year.saturating_add(1) } else { year };
    let valid = year != 0 && (1..=12).contains(&month) && (1..=civil::days_in_month(astronomical, month)).contains(&day);
    if !valid {
        return Err(field_range(format!("date field value out of range: {year}-{month:02}-{day:02}")));
    }
    Ok(Civil { year: astronomical, month, day, time: 0 }.days())
}

fn checked_time(hour: i32, minute: i32, second: f64) -> Result<i64, SqlError> {
    let micros = (second * 1e6).round_ties_even();
    let valid = (0..=24).contains(&hour) && (0..60).contains(&minute) && (0.0..=60e6).contains(&micros);
    let total = i64::from(hour) * civil::MICROS_PER_HOUR + i64::from(minute) * civil::MICROS_PER_MINUTE + micros as i64;
    if !valid || total > civil::MICROS_PER_DAY {
        let mut seconds = String::new();
        texts::float::write_f64(second, 1, &mut seconds);
        return Err(field_range(format!("time field value out of range: {hour}:{minute:02}:{seconds:0>2}")));
    }
    Ok(total)
}

fn make_date(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (year, month, day) = (int4(args, 0)?, int4(args, 1)?, int4(args, 2)?);
    let days = checked_days(year, month, day)?;
    civil::checked_date(days).map(Datum::Date).ok_or_else(|| field_range(format!("date out of range: {year}-{month:02}-{day:02}")))
}
fn make_time(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    checked_time(int4(args, 0)?, int4(args, 1)?, float(args, 2)?).map(Datum::Time)
}
fn local_of(args: &[Datum]) -> Result<i64, SqlError> {
    let days = checked_days(int4(args, 0)?, int4(args, 1)?, int4(args, 2)?)?;
    let time = checked_time(int4(args, 3)?, int4(args, 4)?, float(args, 5)?)?;
    days.checked_mul(civil::MICROS_PER_DAY)
        .and_then(|t| t.checked_add(time))
        .filter(|t| civil::is_timestamp(*t))
        .ok_or_else(civil::timestamp_out_of_range)
}
fn make_timestamp(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    local_of(args).map(Datum::Timestamp)
}
fn make_timestamptz(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let zone = if args.len() > 6 { zone::named(text(args, 6)?)? } else { ctx.settings.time_zone.clone() };
    zone::to_utc(&zone, local_of(args)?).map(Datum::Timestamptz)
}
/// `make_interval(years, months, weeks, days, hours, mins, secs)`; missing ones are 0.
fn make_interval(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let part = |at: usize| if at < args.len() { int4(args, at) } else { Ok(0) };
    let seconds = if args.len() > 6 { float(args, 6)? } else { 0.0 };
    let months = part(0)?.checked_mul(12).and_then(|n| n.checked_add(part(1).ok()?));
    let days = part(2)?.checked_mul(7).and_then(|n| n.checked_add(part(3).ok()?));
    let micros = i128::from(part(4)?) * i128::from(civil::MICROS_PER_HOUR)
        + i128::from(part(5)?) * i128::from(civil::MICROS_PER_MINUTE)
        + (seconds * 1e6).round_ties_even() as i128;
    match (months, days, i64::try_from(micros)) {
        (Some(months), Some(days), Ok(micros)) => Ok(Datum::Interval(Interval { months, days, micros })),
        _ => Err(intervals::out_of_range()),
    }
}
fn to_timestamp_epoch(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let seconds = float(args, 0)?;
    if seconds.is_nan() {
        return Err(field_range("timestamp cannot be NaN".into()));
    }
    if seconds.is_infinite() {
        return Ok(Datum::Timestamptz(if seconds > 0.0 { i64::MAX } else { i64::MIN }));
    }
    let micros = ((seconds - 946_684_800.0) * 1e6).round_ties_even();
    if micros.abs() > 9.3e18 || !civil::is_timestamp(micros as i64) {
        let mut shown = String::new();
        texts::float::write_significant(seconds, 6, &mut shown);
        return Err(field_range(format!("timestamp out of range: \"{shown}\"")));
    }
    debug_assert_eq!(UNIX_TO_POSTGRES_MICROS, 946_684_800_000_000);
    Ok(Datum::Timestamptz(micros as i64))
}

fn age(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    arithmetic::age(moment(args, 0)?, moment(args, 1)?).map(Datum::Interval)
}
fn age_zoned(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let zone = &ctx.settings.time_zone;
    arithmetic::age(zone::to_local(zone, moment(args, 0)?), zone::to_local(zone, moment(args, 1)?)).map(Datum::Interval)
}
fn today(ctx: &EvalContext<'_>) -> Result<i64, SqlError> {
    civil::timestamp_of_date(arithmetic::date_in_zone(&ctx.settings.time_zone, ctx.transaction_time))
}
fn age_today(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    arithmetic::age(today(ctx)?, moment(args, 0)?).map(Datum::Interval)
}
fn age_today_zoned(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    arithmetic::age(today(ctx)?, zone::to_local(&ctx.settings.time_zone, moment(args, 0)?)).map(Datum::Interval)
}

/// `timestamptz AT TIME ZONE zone`: that zone's clock.
fn at_zone_local(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Timestamp(zone::to_local(&zone::named(text(args, 0)?)?, moment(args, 1)?)))
}
/// `timestamp AT TIME ZONE zone`: when that zone's clock showed it.
fn at_zone_instant(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    zone::to_utc(&zone::named(text(args, 0)?)?, moment(args, 1)?).map(Datum::Timestamptz)
}
fn displacement(args: &[Datum]) -> Result<i64, SqlError> {
    let interval = interval(args, 0)?;
    if interval.months != 0 || interval.days != 0 {
        return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, "interval time zone must not include months or days"));
    }
    Ok(interval.micros)
}
fn at_interval_local(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Timestamp(moment(args, 1)?.saturating_add(displacement(args)?)))
}
fn at_interval_instant(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Timestamptz(moment(args, 1)?.saturating_sub(displacement(args)?)))
}

fn justify_days(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    arithmetic::justify_days(interval(args, 0)?).map(Datum::Interval)
}
fn justify_hours(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    arithmetic::justify_hours(interval(args, 0)?).map(Datum::Interval)
}
fn justify_interval(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    arithmetic::justify_interval(interval(args, 0)?).map(Datum::Interval)
}
fn isfinite(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bool(match &args[0] {
        Datum::Date(days) => !civil::is_infinite_date(*days),
        Datum::Timestamp(micros) | Datum::Timestamptz(micros) => !civil::is_infinite(*micros),
        _ => true,
    }))
}

const fn f(name: &'static str, args: &'static [DataType], result: DataType, eval: EvalFn) -> BuiltinFunction {
    BuiltinFunction::new(name, args, result, eval)
}

/// All of them.
#[rustfmt::skip]
pub(in crate::functions) static FUNCTIONS: &[BuiltinFunction] = &[
    f("now", &[], TIMESTAMPTZ, now).stable(), f("transaction_timestamp", &[], TIMESTAMPTZ, now).stable(), f("current_timestamp", &[], TIMESTAMPTZ, now).stable(), f("current_timestamp", &[INT4], TIMESTAMPTZ, now).stable(),
    f("statement_timestamp", &[], TIMESTAMPTZ, statement_timestamp).stable(), f("clock_timestamp", &[], TIMESTAMPTZ, clock_timestamp).volatile(), f("timeofday", &[], TEXT, timeofday).volatile(),
    f("current_date", &[], DATE, current_date).stable(), f("localtime", &[], TIME, localtime).stable(), f("localtime", &[INT4], TIME, localtime).stable(), f("localtimestamp", &[], TIMESTAMP, localtimestamp).stable(), f("localtimestamp", &[INT4], TIMESTAMP, localtimestamp).stable(),
    f("make_date", &[INT4, INT4, INT4], DATE, make_date), f("make_time", &[INT4, INT4, FLOAT8], TIME, make_time), f("make_timestamp", &[INT4, INT4, INT4, INT4, INT4, FLOAT8], TIMESTAMP, make_timestamp),
    f("make_timestamptz", &[INT4, INT4, INT4, INT4, INT4, FLOAT8], TIMESTAMPTZ, make_timestamptz).stable(), f("make_timestamptz", &[INT4, INT4, INT4, INT4, INT4, FLOAT8, TEXT], TIMESTAMPTZ, make_timestamptz).stable(),
    f("make_interval", &[], INTERVAL, make_interval), f("make_interval", &[INT4], INTERVAL, make_interval), f("make_interval", &[INT4, INT4], INTERVAL, make_interval), f("make_interval", &[INT4, INT4, INT4], INTERVAL, make_interval), f("make_interval", &[INT4, INT4, INT4, INT4], INTERVAL, make_interval), f("make_interval", &[INT4, INT4, INT4, INT4, INT4], INTERVAL, make_interval), f("make_interval", &[INT4, INT4, INT4, INT4, INT4, INT4], INTERVAL, make_interval), f("make_interval", &[INT4, INT4, INT4, INT4, INT4, INT4, FLOAT8], INTERVAL, make_interval),
    f("to_timestamp", &[FLOAT8], TIMESTAMPTZ, to_timestamp_epoch),
    f("age", &[TIMESTAMP, TIMESTAMP], INTERVAL, age), f("age", &[TIMESTAMPTZ, TIMESTAMPTZ], INTERVAL, age_zoned).stable(), f("age", &[TIMESTAMP], INTERVAL, age_today).stable(), f("age", &[TIMESTAMPTZ], INTERVAL, age_today_zoned).stable(),
    f("timezone", &[TEXT, TIMESTAMPTZ], TIMESTAMP, at_zone_local), f("timezone", &[TEXT, TIMESTAMP], TIMESTAMPTZ, at_zone_instant), f("timezone", &[INTERVAL, TIMESTAMPTZ], TIMESTAMP, at_interval_local), f("timezone", &[INTERVAL, TIMESTAMP], TIMESTAMPTZ, at_interval_instant),
    f("justify_days", &[INTERVAL], INTERVAL, justify_days), f("justify_hours", &[INTERVAL], INTERVAL, justify_hours), f("justify_interval", &[INTERVAL], INTERVAL, justify_interval),
    f("isfinite", &[DATE], BOOL, isfinite), f("isfinite", &[TIMESTAMP], BOOL, isfinite), f("isfinite", &[TIMESTAMPTZ], BOOL, isfinite), f("isfinite", &[INTERVAL], BOOL, isfinite),
];
