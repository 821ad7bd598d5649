//! `extract`, `date_part`, `date_trunc`, `date_bin`.
//!
//! `extract` gives numeric, `date_part` the same as float8.

use crate::error::{SqlError, SqlState};
use crate::expr::EvalContext;
use crate::functions::args::{Answer, interval, moment, text};
use crate::functions::{BuiltinFunction, EvalFn};
use crate::types::datetime::{arithmetic, civil, civil::Civil, zone};
use crate::types::{DataType, Datum, Interval, Numeric};

const TEXT: DataType = DataType::TEXT;
const DATE: DataType = DataType::DATE;
const TIME: DataType = DataType::TIME;
const TIMESTAMP: DataType = DataType::TIMESTAMP;
const TIMESTAMPTZ: DataType = DataType::TIMESTAMPTZ;
const INTERVAL: DataType = DataType::INTERVAL;
const NUMERIC: DataType = DataType::NUMERIC;
const FLOAT8: DataType = DataType::FLOAT8;

/// Seconds from 1970-01-01 to 2000-01-01.
const UNIX_TO_POSTGRES_SECONDS: i128 = 946_684_800;

fn unrecognized(unit: &str, ty: DataType) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("unit \"{unit}\" not recognized for type {ty}"))
}
fn unsupported(unit: &str, ty: DataType) -> SqlError {
    SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, format!("unit \"{unit}\" not supported for type {ty}"))
}

/// The unit's canonical name, `None` when unknown.
fn unit_name(unit: &str) -> Option<&'static str> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "microsecond" | "microseconds" | "us" | "usec" | "usecs" => "microseconds",
        "millisecond" | "milliseconds" | "ms" | "msec" | "msecs" => "milliseconds",
        "second" | "seconds" | "s" | "sec" | "secs" => "second",
        "minute" | "minutes" | "m" | "min" | "mins" => "minute",
        "hour" | "hours" | "h" | "hr" | "hrs" => "hour",
        "day" | "days" | "d" => "day",
        "week" | "weeks" | "w" => "week",
        "month" | "months" | "mon" | "mons" => "month",
        "quarter" | "qtr" => "quarter",
        "year" | "years" | "y" | "yr" | "yrs" => "year",
        "decade" | "decades" | "dec" | "decs" => "decade",
        "century" | "centuries" | "c" | "cent" => "century",
        "millennium" | "millennia" | "millenniums" | "mil" | "mils" => "millennium",
        "dow" => "dow",
        "isodow" => "isodow",
        "doy" => "doy",
        "isoyear" => "isoyear",
        "epoch" => "epoch",
        "julian" | "jd" => "julian",
        "timezone" => "timezone",
        "timezone_hour" => "timezone_hour",
        "timezone_minute" | "timezone_m" => "timezone_minute",
        _ => return None,
    })
}

fn whole(n: i64) -> Numeric {
    Numeric::from(n)
}

/// Fields of the time of day.
fn clock_field(unit: &str, micros: i64) -> Option<Numeric> {
    let (hour, minute, _, _) = civil::clock(micros);
    let in_minute = micros % civil::MICROS_PER_MINUTE;
    Some(match unit {
        "microseconds" => whole(in_minute),
        "milliseconds" => Numeric::from_i128(in_minute.into(), 3),
        "second" => Numeric::from_i128(in_minute.into(), 6),
        "minute" => whole(minute.into()),
        "hour" => whole(hour.into()),
        _ => return None,
    })
}

/// Fields of the calendar.
fn calendar_field(unit: &str, civil: &Civil) -> Option<Numeric> {
    let year = i64::from(civil.year);
    // Years count without a year 0.
    let shown = if year > 0 { year } else { year - 1 };
    Some(whole(match unit {
        "day" => civil.day.into(),
        "month" => civil.month.into(),
        "quarter" => i64::from((civil.month - 1) / 3 + 1),
        "week" => civil.iso_week().1.into(),
        "year" => shown,
        "isoyear" => match i64::from(civil.iso_week().0) {
            year if year > 0 => year,
            year => year - 1,
        },
        "decade" => year.div_euclid(10),
        "century" if year > 0 => (year + 99) / 100,
        "century" => -((99 - (year - 1)) / 100),
        "millennium" if year > 0 => (year + 999) / 1000,
        "millennium" => -((999 - (year - 1)) / 1000),
        "dow" => civil.weekday().into(),
        "isodow" => i64::from((civil.weekday() + 6) % 7 + 1),
        "doy" => civil.day_of_year().into(),
        _ => return None,
    }))
}

fn julian(local: i64, is_date: bool) -> Numeric {
    let days = local.div_euclid(civil::MICROS_PER_DAY) + civil::EPOCH_JULIAN;
    if is_date {
        return whole(days);
    }
    let part = Numeric::from(local.rem_euclid(civil::MICROS_PER_DAY)).div(&Numeric::from(civil::MICROS_PER_DAY)).unwrap_or(Numeric::ZERO);
    whole(days).add(&part)
}

/// What a field of infinity is: infinite if the field only grows, otherwise unknown.
fn of_infinity(unit: &str, positive: bool) -> Option<Numeric> {
    match unit {
        "year" | "decade" | "century" | "millennium" | "julian" | "isoyear" | "epoch" => {
            Some(if positive { Numeric::Infinity } else { Numeric::NegativeInfinity })
        }
        _ => None,
    }
}

fn of_timestamp(name: &str, value: &Datum, ctx: &EvalContext<'_>) -> Result<Option<Numeric>, SqlError> {
    let (ty, raw) = match value {
        Datum::Timestamptz(micros) => (TIMESTAMPTZ, *micros),
        Datum::Timestamp(micros) => (TIMESTAMP, *micros),
        Datum::Date(days) if civil::is_infinite_date(*days) => (DATE, if *days > 0 { i64::MAX } else { i64::MIN }),
        Datum::Date(days) => (DATE, i64::from(*days)),
        _ => return Ok(None),
    };
    let unit = unit_name(name).ok_or_else(|| unrecognized(name, ty))?;
    if civil::is_infinite(raw) {
        return Ok(of_infinity(unit, raw > 0));
    }
    if ty == DATE {
        return date_field(unit, raw).map(Some).ok_or_else(|| unsupported(name, ty));
    }
    let local = if ty == TIMESTAMPTZ { zone::to_local(&ctx.settings.time_zone, raw) } else { raw };
    let civil = Civil::from_timestamp(local);
    let offset = i64::from(if ty == TIMESTAMPTZ { zone::offset_at(&ctx.settings.time_zone, raw) } else { 0 });
    let field = match unit {
        "epoch" => Some(Numeric::from_i128(i128::from(raw) + UNIX_TO_POSTGRES_SECONDS * 1_000_000, 6)),
        "julian" => Some(julian(local, false)),
        "timezone" if ty == TIMESTAMPTZ => Some(whole(offset)),
        "timezone_hour" if ty == TIMESTAMPTZ => Some(whole(offset / 3600)),
        "timezone_minute" if ty == TIMESTAMPTZ => Some(whole(offset % 3600 / 60)),
        unit => clock_field(unit, civil.time).or_else(|| calendar_field(unit, &civil)),
    };
    field.map(Some).ok_or_else(|| unsupported(name, ty))
}

fn date_field(unit: &str, days: i64) -> Option<Numeric> {
    match unit {
        "epoch" => Some(whole((days - i64::from(civil::UNIX_EPOCH_DAYS)) * 86_400)),
        "julian" => Some(whole(days + civil::EPOCH_JULIAN)),
        unit => calendar_field(unit, &Civil::from_days(days)),
    }
}

fn of_time(name: &str, micros: i64) -> Result<Option<Numeric>, SqlError> {
    let unit = unit_name(name).ok_or_else(|| unrecognized(name, TIME))?;
    let field = if unit == "epoch" { Some(Numeric::from_i128(micros.into(), 6)) } else { clock_field(unit, micros) };
    field.map(Some).ok_or_else(|| unsupported(name, TIME))
}

fn of_interval(name: &str, interval: Interval) -> Result<Option<Numeric>, SqlError> {
    let unit = unit_name(name).ok_or_else(|| unrecognized(name, INTERVAL))?;
    let (years, months) = (i64::from(interval.months / 12), i64::from(interval.months % 12));
    let in_minute = interval.micros % civil::MICROS_PER_MINUTE;
    Ok(Some(match unit {
        "microseconds" => whole(in_minute),
        "milliseconds" => Numeric::from_i128(in_minute.into(), 3),
        "second" => Numeric::from_i128(in_minute.into(), 6),
        "minute" => whole(interval.micros / civil::MICROS_PER_MINUTE % 60),
        "hour" => whole(interval.micros / civil::MICROS_PER_HOUR),
        "day" => whole(interval.days.into()),
        "month" => whole(months),
        "quarter" => whole(months / 3 + 1),
        "year" => whole(years),
        "decade" => whole(years / 10),
        "century" => whole(years / 100),
        "millennium" => whole(years / 1000),
        "epoch" => {
            // A year is 365.25 days, the months beyond it have 30.
            let quarter_days = i128::from(years) * 1461 + (i128::from(months) * 30 + i128::from(interval.days)) * 4;
            Numeric::from_i128(quarter_days * 21_600 * 1_000_000 + i128::from(interval.micros), 6)
        }
        _ => return Err(unsupported(name, INTERVAL)),
    }))
}

fn field(ctx: &EvalContext<'_>, args: &[Datum]) -> Result<Option<Numeric>, SqlError> {
    let name = text(args, 0)?;
    match &args[1] {
        Datum::Time(micros) => of_time(name, *micros),
        Datum::Interval(interval) => of_interval(name, *interval),
        other => of_timestamp(name, other, ctx),
    }
}

fn extract(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(field(ctx, args)?.map_or(Datum::Null, Datum::Numeric))
}
fn date_part(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(field(ctx, args)?.map_or(Datum::Null, |n| Datum::Float8(n.to_f64())))
}

fn trunc_timestamp(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let unit = text(args, 0)?;
    truncate(moment(args, 1)?, unit, TIMESTAMP).map(Datum::Timestamp)
}
fn truncate(local: i64, name: &str, ty: DataType) -> Result<i64, SqlError> {
    let unit = unit_name(name).ok_or_else(|| unrecognized(name, ty))?;
    arithmetic::trunc(local, unit).ok_or_else(|| unsupported(name, ty))
}
fn trunc_timestamptz(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let zone = if args.len() > 2 { zone::named(text(args, 2)?)? } else { ctx.settings.time_zone.clone() };
    let (unit, instant) = (text(args, 0)?, moment(args, 1)?);
    let cut = truncate(zone::to_local(&zone, instant), unit, TIMESTAMPTZ)?;
    zone::to_utc(&zone, cut).map(Datum::Timestamptz)
}
fn trunc_interval(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let name = text(args, 0)?;
    let unit = unit_name(name).ok_or_else(|| unrecognized(name, INTERVAL))?;
    let cut = arithmetic::trunc_interval(interval(args, 1)?, unit);
    cut.map(Datum::Interval).ok_or_else(|| {
        let error = unsupported(name, INTERVAL);
        if unit == "week" { error.detail("Months usually have fractional weeks.") } else { error }
    })
}

/// The start of the `stride` that a moment falls into, strides counted from `origin`.
fn bin(args: &[Datum]) -> Result<i64, SqlError> {
    let (stride, value, origin) = (interval(args, 0)?, moment(args, 1)?, moment(args, 2)?);
    if civil::is_infinite(value) {
        return Ok(value);
    }
    if stride.months != 0 {
        return Err(SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            "timestamps cannot be binned into intervals containing months or years",
        ));
    }
    let size = arithmetic::interval_length(stride);
    if size <= 0 {
        return Err(SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, "stride must be greater than zero"));
    }
    let distance = i128::from(value) - i128::from(origin);
    i64::try_from(i128::from(origin) + distance.div_euclid(size) * size).map_err(|_| civil::timestamp_out_of_range())
}
fn bin_timestamp(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    bin(args).map(Datum::Timestamp)
}
fn bin_timestamptz(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    bin(args).map(Datum::Timestamptz)
}

const fn f(name: &'static str, args: &'static [DataType], result: DataType, eval: EvalFn) -> BuiltinFunction {
    BuiltinFunction::new(name, args, result, eval)
}

/// All of them.
#[rustfmt::skip]
pub(in crate::functions) static FUNCTIONS: &[BuiltinFunction] = &[
    f("extract", &[TEXT, DATE], NUMERIC, extract), f("extract", &[TEXT, TIME], NUMERIC, extract), f("extract", &[TEXT, TIMESTAMP], NUMERIC, extract), f("extract", &[TEXT, TIMESTAMPTZ], NUMERIC, extract).stable(), f("extract", &[TEXT, INTERVAL], NUMERIC, extract),
    f("date_part", &[TEXT, DATE], FLOAT8, date_part), f("date_part", &[TEXT, TIME], FLOAT8, date_part), f("date_part", &[TEXT, TIMESTAMP], FLOAT8, date_part), f("date_part", &[TEXT, TIMESTAMPTZ], FLOAT8, date_part).stable(), f("date_part", &[TEXT, INTERVAL], FLOAT8, date_part),
    f("date_trunc", &[TEXT, TIMESTAMP], TIMESTAMP, trunc_timestamp), f("date_trunc", &[TEXT, TIMESTAMPTZ], TIMESTAMPTZ, trunc_timestamptz).stable(), f("date_trunc", &[TEXT, TIMESTAMPTZ, TEXT], TIMESTAMPTZ, trunc_timestamptz).stable(), f("date_trunc", &[TEXT, INTERVAL], INTERVAL, trunc_interval),
    f("date_bin", &[INTERVAL, TIMESTAMP, TIMESTAMP], TIMESTAMP, bin_timestamp), f("date_bin", &[INTERVAL, TIMESTAMPTZ, TIMESTAMPTZ], TIMESTAMPTZ, bin_timestamptz),
];
