//! `to_char` of timestamps, intervals and dates. Numbers are in `functions::number_format`.

use super::template::{Case, Piece, cut, ordinal_suffix};
use crate::expr::EvalContext;
use crate::functions::args::{Answer, interval, moment, out, text};
use crate::functions::{BuiltinFunction, EvalFn};
use crate::types::datetime::civil::{self, Civil};
use crate::types::datetime::parse::{MONTHS, WEEKDAYS};
use crate::types::datetime::{format::displacement, zone};
use crate::types::{DataType, Datum};

const TEXT: DataType = DataType::TEXT;
const ROMAN_MONTHS: [&str; 12] = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];

/// What there is to show: a civil time, or an interval's fields as if they were one.
struct Shown {
    year: i32,
    month: i32,
    day: i32,
    hour: i64,
    minute: i32,
    second: i32,
    micros: i32,
    /// Days of the calendar; `None` for an interval.
    civil: Option<Civil>,
    /// Offset in seconds and abbreviation.
    zone: Option<(i32, String)>,
}

fn of_local(local: i64, zone: Option<(i32, String)>) -> Shown {
    let civil = Civil::from_timestamp(local);
    let (hour, minute, second, micros) = civil.clock();
    Shown { year: civil.year, month: civil.month, day: civil.day, hour: hour.into(), minute, second, micros, civil: Some(civil), zone }
}

fn timestamp(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let local = moment(args, 0)?;
    if civil::is_infinite(local) { Ok(Datum::Null) } else { out(write(&of_local(local, None), text(args, 1)?)) }
}

fn timestamptz(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let instant = moment(args, 0)?;
    if civil::is_infinite(instant) {
        return Ok(Datum::Null);
    }
    let zone = &ctx.settings.time_zone;
    let named = (zone::offset_at(zone, instant), zone::abbreviation_at(zone, instant));
    out(write(&of_local(zone::to_local(zone, instant), Some(named)), text(args, 1)?))
}

fn of_interval(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let interval = interval(args, 0)?;
    let (_, minute, second, micros) = civil::clock(interval.micros % civil::MICROS_PER_HOUR);
    let shown = Shown {
        year: interval.months / 12,
        month: interval.months % 12,
        day: interval.days,
        hour: interval.micros / civil::MICROS_PER_HOUR,
        minute,
        second,
        micros,
        civil: None,
        zone: None,
    };
    out(write(&shown, text(args, 1)?))
}

fn write(shown: &Shown, template: &str) -> String {
    let mut result = String::new();
    for piece in cut(template) {
        match piece {
            Piece::Literal(literal) => result.push_str(&literal),
            Piece::Field { key, case, fill, ordinal } => {
                let value = field(shown, key, case, fill);
                result.push_str(&value);
                if let Some(case) = ordinal {
                    result.push_str(ordinal_suffix(&value, case));
                }
            }
        }
    }
    result
}

/// A number of at least `width` digits, unless `FM` took the filling away.
fn number(n: i64, width: usize, fill: bool) -> String {
    if !fill {
        return n.to_string();
    }
    // The sign does not count.
    if n < 0 { format!("-{:0width$}", n.unsigned_abs()) } else { format!("{n:0width$}") }
}

/// A name in the template's case, padded to the longest of its kind.
fn name(text: &str, case: Case, width: usize, fill: bool) -> String {
    let cased = match case {
        Case::Upper => text.to_ascii_uppercase(),
        Case::Capital => text.to_owned(),
        Case::Lower => text.to_ascii_lowercase(),
    };
    if fill { format!("{cased:width$}") } else { cased }
}

fn year_field(year: i32, digits: u32, fill: bool) -> String {
    let shown = i64::from(if year > 0 { year } else { 1 - year });
    let cut = if digits < 4 { shown % 10i64.pow(digits) } else { shown };
    number(cut, digits as usize, fill)
}

fn field(shown: &Shown, key: &str, case: Case, fill: bool) -> String {
    let civil = shown.civil.unwrap_or_default();
    let iso_year = || if shown.civil.is_some() { civil.iso_week().0 } else { shown.year };
    let hour12 = match shown.hour % 12 {
        0 => 12,
        hour => hour,
    };
    let fraction = |digits: u32| number(i64::from(shown.micros) / 10i64.pow(6 - digits), digits as usize, true);
    match key {
        "YYYY" if shown.civil.is_none() => number(shown.year.into(), 4, fill),
        "YYYY" => year_field(shown.year, 4, fill),
        "YYY" => year_field(shown.year, 3, fill),
        "YY" => year_field(shown.year, 2, fill),
        "Y" => year_field(shown.year, 1, fill),
        "Y,YYY" => format!("{},{:03}", shown.year / 1000, shown.year % 1000),
        "IYYY" => year_field(iso_year(), 4, fill),
        "IYY" => year_field(iso_year(), 3, fill),
        "IY" => year_field(iso_year(), 2, fill),
        "I" => year_field(iso_year(), 1, fill),
        "MONTH" => name(month_name(shown), case, 9, fill),
        "MON" => name(&month_name(shown)[..3.min(month_name(shown).len())], case, 0, false),
        "MM" => number(shown.month.into(), 2, fill),
        "RM" => name(ROMAN_MONTHS.get((shown.month - 1) as usize).copied().unwrap_or(""), case, 4, fill),
        "DAY" => name(WEEKDAYS[civil.weekday() as usize], case, 9, fill),
        "DY" => name(&WEEKDAYS[civil.weekday() as usize][..3], case, 0, false),
        "DDD" => number(civil.day_of_year().into(), 3, fill),
        "IDDD" => number(i64::from(civil.iso_week().1 - 1) * 7 + i64::from((civil.weekday() + 6) % 7) + 1, 3, fill),
        "DD" => number(shown.day.into(), 2, fill),
        "D" => (civil.weekday() + 1).to_string(),
        "ID" => ((civil.weekday() + 6) % 7 + 1).to_string(),
        "IW" => number(civil.iso_week().1.into(), 2, fill),
        "WW" => number(i64::from((civil.day_of_year() - 1) / 7 + 1), 2, fill),
        "W" => ((shown.day - 1) / 7 + 1).to_string(),
        "HH24" => number(shown.hour, 2, fill),
        "HH12" | "HH" => number(hour12, 2, fill),
        "MI" => number(shown.minute.into(), 2, fill),
        "SS" => number(shown.second.into(), 2, fill),
        "SSSS" | "SSSSS" => (shown.hour * 3600 + i64::from(shown.minute) * 60 + i64::from(shown.second)).to_string(),
        "MS" | "FF3" => fraction(3),
        "US" | "FF6" => fraction(6),
        "FF1" => fraction(1),
        "FF2" => fraction(2),
        "FF4" => fraction(4),
        "FF5" => fraction(5),
        "AM" | "PM" => name(if shown.hour % 24 >= 12 { "PM" } else { "AM" }, upper_or_lower(case), 0, false),
        "A.M." | "P.M." => name(if shown.hour % 24 >= 12 { "P.M." } else { "A.M." }, upper_or_lower(case), 0, false),
        "AD" | "BC" => name(if shown.year <= 0 { "BC" } else { "AD" }, upper_or_lower(case), 0, false),
        "A.D." | "B.C." => name(if shown.year <= 0 { "B.C." } else { "A.D." }, upper_or_lower(case), 0, false),
        "CC" => number(i64::from(if shown.year > 0 { (shown.year + 99) / 100 } else { shown.year / 100 - 1 }), 2, fill),
        "J" => (civil.days() + civil::EPOCH_JULIAN).to_string(),
        "Q" => ((shown.month - 1) / 3 + 1).to_string(),
        "TZ" => {
            shown.zone.as_ref().map_or_else(String::new, |(_, name)| if case == Case::Lower { name.to_lowercase() } else { name.clone() })
        }
        "TZH" => shown
            .zone
            .as_ref()
            .map_or_else(String::new, |(offset, _)| format!("{}{:02}", if *offset < 0 { '-' } else { '+' }, offset.abs() / 3600)),
        "TZM" => shown.zone.as_ref().map_or_else(String::new, |(offset, _)| format!("{:02}", offset.abs() / 60 % 60)),
        "OF" => {
            let mut offset = String::new();
            displacement(&mut offset, shown.zone.as_ref().map_or(0, |(offset, _)| *offset));
            offset
        }
        _ => String::new(),
    }
}

fn upper_or_lower(case: Case) -> Case {
    if case == Case::Lower { Case::Lower } else { Case::Upper }
}

fn month_name(shown: &Shown) -> &'static str {
    usize::try_from(shown.month - 1).ok().and_then(|at| MONTHS.get(at)).copied().unwrap_or("")
}

const fn f(args: &'static [DataType], eval: EvalFn) -> BuiltinFunction {
    BuiltinFunction::new("to_char", args, TEXT, eval).stable()
}

/// All of them. A date becomes a timestamptz on the way in, as in PostgreSQL.
pub(in crate::functions) static FUNCTIONS: &[BuiltinFunction] = &[
    f(&[DataType::TIMESTAMP, TEXT], timestamp),
    f(&[DataType::TIMESTAMPTZ, TEXT], timestamptz),
    f(&[DataType::INTERVAL, TEXT], of_interval),
];
