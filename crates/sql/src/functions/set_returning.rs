//! Set-returning functions: `generate_series`, `unnest` and their like.
//!
//! They stand in FROM or in a select list; either way the planner turns them into a row source and the executor pulls
//! values from the iterator, so a series of a billion rows takes no memory.

use super::args::{array, boolean, int, interval, moment, numeric, text};
use super::pattern;
use super::resolve::{Signature, choose, function_error};
use crate::error::{SqlError, SqlState};
use crate::expr::EvalContext;
use crate::types::datetime::arithmetic;
use crate::types::{DataType, Datum, Numeric};
use std::sync::Arc;

/// The values of one call. A function with several columns yields [`Datum::Record`]s.
pub type SetRows = Box<dyn Iterator<Item = Result<Datum, SqlError>> + Send>;

/// The code of a set-returning function; it sees no NULL if it is strict.
pub type SetEvalFn = fn(&EvalContext<'_>, &[Datum]) -> Result<SetRows, SqlError>;

/// A set-returning function.
#[derive(Debug)]
pub struct SetFunction {
    /// Its name.
    pub name: &'static str,
    /// Argument types.
    pub args: &'static [DataType],
    /// Type of one value; RECORD when there are `columns`.
    pub result: DataType,
    /// Column names and types, when a value is a record; ANYELEMENT is the element type of the first argument.
    pub columns: &'static [(&'static str, DataType)],
    /// The name of the only column, where it is not the function's.
    pub column: Option<&'static str>,
    /// A NULL argument gives no rows. When false the function sees the NULLs.
    pub strict: bool,
    /// The code.
    pub eval: SetEvalFn,
}

impl Signature for &'static SetFunction {
    fn args(&self) -> &[DataType] {
        self.args
    }
    fn variadic(&self) -> bool {
        false
    }
    fn result(&self) -> DataType {
        self.result
    }
}

/// A call resolved.
#[derive(Clone, Debug)]
pub struct ResolvedSetFunction {
    /// What to call.
    pub func: &'static SetFunction,
    /// The type each actual argument is to be cast to.
    pub arg_types: Vec<DataType>,
    /// The type of one value, concrete.
    pub result: DataType,
}

impl ResolvedSetFunction {
    /// Starts the call; arguments are already cast.
    pub fn call(&self, ctx: &EvalContext<'_>, args: &[Datum]) -> Result<SetRows, SqlError> {
        if self.func.strict && args.iter().any(Datum::is_null) {
            return Ok(Box::new(std::iter::empty()));
        }
        (self.func.eval)(ctx, args)
    }
}

const INT4: DataType = DataType::INT4;
const INT8: DataType = DataType::INT8;
const NUMERIC: DataType = DataType::NUMERIC;
const TIMESTAMP: DataType = DataType::TIMESTAMP;
const TIMESTAMPTZ: DataType = DataType::TIMESTAMPTZ;
const INTERVAL: DataType = DataType::INTERVAL;
const TEXT: DataType = DataType::TEXT;
const BOOL: DataType = DataType::BOOL;

fn zero_step() -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, "step size cannot equal zero")
}

fn series_int(_: &EvalContext<'_>, args: &[Datum]) -> Result<SetRows, SqlError> {
    let (start, stop) = (int(args, 0)?, int(args, 1)?);
    let step = if args.len() > 2 { int(args, 2)? } else { 1 };
    if step == 0 {
        return Err(zero_step());
    }
    let narrow = matches!(args[0], Datum::Int4(_));
    let mut next = Some(start);
    Ok(Box::new(std::iter::from_fn(move || {
        let value = next.filter(|n| if step > 0 { *n <= stop } else { *n >= stop })?;
        next = value.checked_add(step);
        Some(Ok(if narrow { Datum::Int4(value as i32) } else { Datum::Int8(value) }))
    })))
}

fn series_numeric(_: &EvalContext<'_>, args: &[Datum]) -> Result<SetRows, SqlError> {
    let (start, stop) = (numeric(args, 0)?.clone(), numeric(args, 1)?.clone());
    let step = if args.len() > 2 { numeric(args, 2)?.clone() } else { Numeric::ONE };
    for (value, what) in [(&start, "start value"), (&stop, "stop value"), (&step, "step size")] {
        if !value.is_finite() {
            let which = if value.is_nan() { "NaN" } else { "infinity" };
            return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("{what} cannot be {which}")));
        }
    }
    if step.is_zero() {
        return Err(zero_step());
    }
    let mut next = start;
    Ok(Box::new(std::iter::from_fn(move || {
        let within = if step.signum() > 0 { next <= stop } else { next >= stop };
        if !within {
            return None;
        }
        let value = next.clone();
        next = value.add(&step);
        Some(Ok(Datum::Numeric(value)))
    })))
}

/// Timestamps a step apart; the step's calendar part is taken in the session's zone when they have one.
fn series_time(ctx: &EvalContext<'_>, args: &[Datum]) -> Result<SetRows, SqlError> {
    let (start, stop, step) = (moment(args, 0)?, moment(args, 1)?, interval(args, 2)?);
    let direction = arithmetic::interval_length(step).signum();
    if direction == 0 {
        return Err(zero_step());
    }
    let zoned = matches!(args[0], Datum::Timestamptz(_));
    let zone = ctx.settings.time_zone.clone();
    let mut next = Some(start);
    Ok(Box::new(std::iter::from_fn(move || {
        let value = next.filter(|t| if direction > 0 { *t <= stop } else { *t >= stop })?;
        let following = if zoned { arithmetic::timestamptz_add(value, step, &zone) } else { arithmetic::timestamp_add(value, step) };
        match following {
            Ok(following) => next = Some(following),
            Err(error) => {
                next = None;
                return Some(Err(error));
            }
        }
        Some(Ok(if zoned { Datum::Timestamptz(value) } else { Datum::Timestamp(value) }))
    })))
}

/// Elements of an array, in storage order.
fn unnest(_: &EvalContext<'_>, args: &[Datum]) -> Result<SetRows, SqlError> {
    let array = Arc::clone(array(args, 0)?);
    Ok(Box::new((0..array.elements.len()).map(move |at| Ok(array.elements[at].clone()))))
}

fn subscripts(_: &EvalContext<'_>, args: &[Datum]) -> Result<SetRows, SqlError> {
    let dimension = int(args, 1)?;
    let Some((length, lower)) = usize::try_from(dimension - 1).ok().and_then(|at| array(args, 0).ok()?.dims.get(at).copied()) else {
        return Ok(Box::new(std::iter::empty()));
    };
    let reverse = args.len() > 2 && boolean(args, 2)?;
    let subscript = move |n: i32| Ok(Datum::Int4(if reverse { lower + length - 1 - n } else { lower + n }));
    Ok(Box::new((0..length).map(subscript)))
}

fn regexp_matches(_: &EvalContext<'_>, args: &[Datum]) -> Result<SetRows, SqlError> {
    let flags = if args.len() > 2 { text(args, 2)? } else { "" };
    let (regex, global) = pattern::compile_flags(text(args, 1)?, flags)?;
    let limit = if global { usize::MAX } else { 1 };
    let found: Vec<Datum> =
        super::regexp::matches_from(&regex, text(args, 0)?, 0).take(limit).map(|found| pattern::captured(&found)).collect();
    Ok(Box::new(found.into_iter().map(Ok)))
}

fn regexp_split(_: &EvalContext<'_>, args: &[Datum]) -> Result<SetRows, SqlError> {
    let flags = if args.len() > 2 { text(args, 2)? } else { "" };
    let (regex, _) = pattern::compile_flags(text(args, 1)?, flags)?;
    let parts: Vec<Datum> = pattern::split(&regex, text(args, 0)?).into_iter().map(Datum::text).collect();
    Ok(Box::new(parts.into_iter().map(Ok)))
}

fn string_to_table(_: &EvalContext<'_>, args: &[Datum]) -> Result<SetRows, SqlError> {
    Ok(Box::new(super::arrays::string_parts(args)?.unwrap_or_default().into_iter().map(Ok)))
}

/// `pg_options_to_table`: `name=value` pairs as rows.
fn options_to_table(_: &EvalContext<'_>, args: &[Datum]) -> Result<SetRows, SqlError> {
    let options = Arc::clone(array(args, 0)?);
    let rows = (0..options.elements.len()).map(move |at| {
        let Datum::Text(option) = &options.elements[at] else { return Ok(Datum::Null) };
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        Ok(Datum::record(vec![Datum::text(name), Datum::text(value)]))
    });
    Ok(Box::new(rows))
}

/// `information_schema._pg_expandarray`: elements with their positions, which JDBC asks of index columns.
fn expand_array(_: &EvalContext<'_>, args: &[Datum]) -> Result<SetRows, SqlError> {
    let array = Arc::clone(array(args, 0)?);
    Ok(Box::new((0..array.elements.len()).map(move |at| Ok(Datum::record(vec![array.elements[at].clone(), Datum::Int4(at as i32 + 1)])))))
}

/// `pg_partition_ancestors`: no table is partitioned, and one that is not has no ancestors.
fn no_rows(_: &EvalContext<'_>, _: &[Datum]) -> Result<SetRows, SqlError> {
    Ok(Box::new(std::iter::empty()))
}

/// `pg_get_keywords`: the words that are not free to use as names.
fn keywords(_: &EvalContext<'_>, _: &[Datum]) -> Result<SetRows, SqlError> {
    let row = |word: &'static str| {
        Ok(Datum::record(vec![
            Datum::text(word),
            Datum::Char(b'R'),
            Datum::Bool(false),
            Datum::text("reserved"),
            Datum::text("requires AS"),
        ]))
    };
    Ok(Box::new(super::quoting::reserved_words().map(row)))
}

fn listening_channels(ctx: &EvalContext<'_>, _: &[Datum]) -> Result<SetRows, SqlError> {
    Ok(Box::new(ctx.session.listening_channels().into_iter().map(|channel| Ok(Datum::text(channel)))))
}

const fn f(name: &'static str, args: &'static [DataType], result: DataType, eval: SetEvalFn) -> SetFunction {
    SetFunction { name, args, result, columns: &[], column: None, strict: true, eval }
}

#[rustfmt::skip]
static FUNCTIONS: &[SetFunction] = &[
    f("generate_series", &[INT4, INT4], INT4, series_int), f("generate_series", &[INT4, INT4, INT4], INT4, series_int), f("generate_series", &[INT8, INT8], INT8, series_int), f("generate_series", &[INT8, INT8, INT8], INT8, series_int),
    f("generate_series", &[NUMERIC, NUMERIC], NUMERIC, series_numeric), f("generate_series", &[NUMERIC, NUMERIC, NUMERIC], NUMERIC, series_numeric),
    f("generate_series", &[TIMESTAMP, TIMESTAMP, INTERVAL], TIMESTAMP, series_time), f("generate_series", &[TIMESTAMPTZ, TIMESTAMPTZ, INTERVAL], TIMESTAMPTZ, series_time),
    f("unnest", &[DataType::ANYARRAY], DataType::ANYELEMENT, unnest), f("generate_subscripts", &[DataType::ANYARRAY, INT4], INT4, subscripts), f("generate_subscripts", &[DataType::ANYARRAY, INT4, BOOL], INT4, subscripts),
    f("regexp_matches", &[TEXT, TEXT], DataType::TEXT_ARRAY, regexp_matches), f("regexp_matches", &[TEXT, TEXT, TEXT], DataType::TEXT_ARRAY, regexp_matches),
    f("regexp_split_to_table", &[TEXT, TEXT], TEXT, regexp_split), f("regexp_split_to_table", &[TEXT, TEXT, TEXT], TEXT, regexp_split), SetFunction { strict: false, ..f("string_to_table", &[TEXT, TEXT], TEXT, string_to_table) }, SetFunction { strict: false, ..f("string_to_table", &[TEXT, TEXT, TEXT], TEXT, string_to_table) },
    SetFunction { name: "_pg_expandarray", args: &[DataType::ANYARRAY], result: DataType::RECORD, columns: &[("x", DataType::ANYELEMENT), ("n", INT4)], column: None, strict: true, eval: expand_array },
    f("pg_listening_channels", &[], TEXT, listening_channels), f("pg_partition_ancestors", &[DataType::REGCLASS], DataType::REGCLASS, no_rows),
    SetFunction { name: "pg_get_keywords", args: &[], result: DataType::RECORD, columns: &[("word", TEXT), ("catcode", DataType::CHAR), ("barelabel", BOOL), ("catdesc", TEXT), ("baredesc", TEXT)], column: None, strict: true, eval: keywords },
    SetFunction { name: "pg_options_to_table", args: &[DataType::TEXT_ARRAY], result: DataType::RECORD, columns: &[("option_name", TEXT), ("option_value", TEXT)], column: None, strict: true, eval: options_to_table },
];

fn all() -> impl Iterator<Item = &'static SetFunction> {
    FUNCTIONS.iter().chain(super::json::sets::FUNCTIONS)
}

/// Is there a set-returning function of this name?
pub fn is_set_returning(name: &str) -> bool {
    all().any(|f| f.name == name) || super::json::populate::kind(name).is_some()
}

/// The set-returning function a call means.
pub fn resolve_set_function(name: &str, args: &[DataType]) -> Result<ResolvedSetFunction, SqlError> {
    let overloads: Vec<&'static SetFunction> = all().filter(|f| f.name == name).collect();
    let found = choose(&overloads, args).map_err(|why| function_error(name, args, why))?;
    Ok(ResolvedSetFunction { func: found.func, arg_types: found.args, result: found.result })
}
