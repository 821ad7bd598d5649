//! Mathematical functions.

use super::args::{Answer, array, float, float_functions, int, int4, numeric};
use super::arithmetic::{checked, division_by_zero};
use super::{BuiltinFunction, EvalFn};
use crate::error::{SqlError, SqlState};
use crate::expr::EvalContext;
use crate::types::{DataType, Datum, Numeric, compare};
use num_integer::Integer;
use std::hash::Hasher;

const INT2: DataType = DataType::INT2;
const INT4: DataType = DataType::INT4;
const INT8: DataType = DataType::INT8;
const FLOAT4: DataType = DataType::FLOAT4;
const FLOAT8: DataType = DataType::FLOAT8;
const NUMERIC: DataType = DataType::NUMERIC;

fn abs_int(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(match &args[0] {
        Datum::Int2(n) => Datum::Int2(n.checked_abs().ok_or_else(|| SqlError::out_of_range("smallint"))?),
        Datum::Int4(n) => Datum::Int4(n.checked_abs().ok_or_else(|| SqlError::out_of_range("integer"))?),
        other => Datum::Int8(int(std::slice::from_ref(other), 0)?.checked_abs().ok_or_else(|| SqlError::out_of_range("bigint"))?),
    })
}

fn abs_float4(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Float4(float(args, 0)?.abs() as f32))
}

float_functions! {
    abs_float = |x| x.abs();
    ceil_float = |x| x.ceil();
    floor_float = |x| x.floor();
    round_float = |x| x.round_ties_even();
    trunc_float = |x| x.trunc();
    sign_float = |x| if x > 0.0 { 1.0 } else if x < 0.0 { -1.0 } else { 0.0 };
    cbrt = |x| x.cbrt();
    exp_float = |x| checked(x.exp(), x.is_infinite(), x == f64::NEG_INFINITY)?;
    sqrt_float = |x| if x < 0.0 { return Err(negative_root()) } else { x.sqrt() };
    ln_float = |x| logarithm(x, f64::ln)?;
    log_float = |x| logarithm(x, f64::log10)?;
}

fn negative_root() -> SqlError {
    SqlError::new(SqlState::INVALID_ARGUMENT_FOR_POWER_FUNCTION, "cannot take square root of a negative number")
}

fn logarithm(x: f64, f: fn(f64) -> f64) -> Result<f64, SqlError> {
    let invalid = |message| Err(SqlError::new(SqlState::INVALID_ARGUMENT_FOR_LOGARITHM, message));
    if x == 0.0 {
        return invalid("cannot take logarithm of zero");
    }
    if x < 0.0 { invalid("cannot take logarithm of a negative number") } else { Ok(f(x)) }
}

fn power_float(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (x, y) = (float(args, 0)?, float(args, 1)?);
    let invalid = |message| Err(SqlError::new(SqlState::INVALID_ARGUMENT_FOR_POWER_FUNCTION, message));
    if x == 0.0 && y < 0.0 {
        return invalid("zero raised to a negative power is undefined");
    }
    if x < 0.0 && y.is_finite() && y.fract() != 0.0 {
        return invalid("a negative number raised to a non-integer power yields a complex result");
    }
    Ok(Datum::Float8(checked(x.powf(y), x.is_infinite() || y.is_infinite(), x == 0.0 || y.is_infinite() || x.is_infinite())?))
}

/// Functions of one numeric.
macro_rules! numeric_functions {
    ($($name:ident = |$x:ident| $body:expr;)*) => {
        $(fn $name(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
            let $x = numeric(args, 0)?;
            Ok(Datum::Numeric($body))
        })*
    };
}

numeric_functions! {
    abs_numeric = |x| x.abs();
    ceil_numeric = |x| x.ceil();
    floor_numeric = |x| x.floor();
    round_numeric = |x| x.round(0);
    trunc_numeric = |x| x.trunc(0);
    sign_numeric = |x| if x.is_nan() { Numeric::NaN } else { Numeric::from(i64::from(x.signum())) };
    sqrt_numeric = |x| x.sqrt()?;
    exp_numeric = |x| x.exp()?;
    ln_numeric = |x| x.ln()?;
    log_numeric = |x| x.log(&Numeric::from(10))?;
    trim_scale = |x| x.trim_scale();
}

fn round_to(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Numeric(numeric(args, 0)?.round(int4(args, 1)?.clamp(-2000, 2000))))
}
fn trunc_to(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Numeric(numeric(args, 0)?.trunc(int4(args, 1)?.clamp(-2000, 2000))))
}
fn power_numeric(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Numeric(numeric(args, 0)?.pow(numeric(args, 1)?)?))
}
fn log_base(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Numeric(numeric(args, 1)?.log(numeric(args, 0)?)?))
}
fn div_numeric(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Numeric(numeric(args, 0)?.div_trunc(numeric(args, 1)?)?))
}
fn scale(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let x = numeric(args, 0)?;
    Ok(if x.is_finite() { Datum::Int4(x.scale() as i32) } else { Datum::Null })
}
fn min_scale(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let x = numeric(args, 0)?;
    Ok(if x.is_finite() { Datum::Int4(x.trim_scale().scale() as i32) } else { Datum::Null })
}
fn gcd_numeric(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Numeric(numeric(args, 0)?.gcd(numeric(args, 1)?)))
}
fn lcm_numeric(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Numeric(numeric(args, 0)?.lcm(numeric(args, 1)?)))
}

fn gcd4(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    i32::try_from(int(args, 0)?.gcd(&int(args, 1)?)).map(Datum::Int4).map_err(|_| SqlError::out_of_range("integer"))
}
fn gcd8(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (a, b) = (i128::from(int(args, 0)?), i128::from(int(args, 1)?));
    i64::try_from(a.gcd(&b)).map(Datum::Int8).map_err(|_| SqlError::out_of_range("bigint"))
}
fn lcm4(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    i32::try_from(int(args, 0)?.lcm(&int(args, 1)?)).map(Datum::Int4).map_err(|_| SqlError::out_of_range("integer"))
}
fn lcm8(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (a, b) = (i128::from(int(args, 0)?), i128::from(int(args, 1)?));
    i64::try_from(a.lcm(&b)).map(Datum::Int8).map_err(|_| SqlError::out_of_range("bigint"))
}

fn factorial(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let n = int(args, 0)?;
    if n < 0 {
        return Err(SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "factorial of a negative number is undefined"));
    }
    if n > 32_177 {
        return Err(SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value overflows numeric format"));
    }
    let product = (1..=n).fold(num_bigint::BigInt::from(1), |product, k| product * k);
    Ok(Datum::Numeric(Numeric::from_big(product, 0)))
}

fn pi(_: &EvalContext<'_>, _: &[Datum]) -> Answer {
    Ok(Datum::Float8(std::f64::consts::PI))
}
fn random(_: &EvalContext<'_>, _: &[Datum]) -> Answer {
    Ok(Datum::Float8(rand::random::<f64>()))
}

/// `width_bucket(x, low, high, count)`: 0 below, count + 1 above.
fn width_bucket(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (x, low, high, count) = (numeric(args, 0)?, numeric(args, 1)?, numeric(args, 2)?, int4(args, 3)?);
    let invalid = |message| Err(SqlError::new(SqlState("2201G"), message));
    if count <= 0 {
        return invalid("count must be greater than zero");
    }
    if low == high {
        return invalid("lower bound cannot equal upper bound");
    }
    let (x, start, span) = if low < high { (x.sub(low), Numeric::ZERO, high.sub(low)) } else { (low.sub(x), Numeric::ZERO, low.sub(high)) };
    if x < start {
        return Ok(Datum::Int4(0));
    }
    if x >= span {
        return count.checked_add(1).map(Datum::Int4).ok_or_else(|| SqlError::out_of_range("integer"));
    }
    let bucket = x.mul(&Numeric::from(i64::from(count))).div_trunc(&span)?.to_i64("integer")? as i32 + 1;
    Ok(Datum::Int4(bucket.min(count)))
}

fn width_bucket_float(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (x, low, high, count) = (float(args, 0)?, float(args, 1)?, float(args, 2)?, int4(args, 3)?);
    if low == high || count <= 0 {
        return Err(if low == high { division_by_zero() } else { SqlError::new(SqlState("2201G"), "count must be greater than zero") });
    }
    let place = (x - low) / (high - low) * f64::from(count);
    let outside_above = i64::from(count) + 1;
    let bucket = if place < 0.0 {
        0
    } else if place >= f64::from(count) {
        outside_above
    } else {
        place as i64 + 1
    };
    i32::try_from(bucket).map(Datum::Int4).map_err(|_| SqlError::out_of_range("integer"))
}

/// `width_bucket(x, thresholds)`: how many of the thresholds, which must be sorted, are at or below.
fn width_bucket_array(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let thresholds = array(args, 1)?;
    if thresholds.dims.len() > 1 {
        return Err(SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, "thresholds must be one-dimensional array"));
    }
    if thresholds.elements.iter().any(Datum::is_null) {
        return Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "thresholds array must not contain NULLs"));
    }
    let below = thresholds.elements.partition_point(|t| compare::cmp_as(thresholds.element, t, &args[0]).is_le());
    Ok(Datum::Int4(below as i32))
}

/// Is a row in the sample? Percentage, seed (NULL for chance), the row.
fn sampled(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let percentage = match &args[0] {
        Datum::Float8(percentage) if (0.0..=100.0).contains(percentage) => *percentage,
        Datum::Float8(_) => return Err(SqlError::new(SqlState("2202H"), "sample percentage must be between 0 and 100")),
        _ => return Err(SqlError::new(SqlState("2202H"), "TABLESAMPLE parameter cannot be null")),
    };
    if args[1].is_null() {
        return Ok(Datum::Bool(rand::random::<f64>() * 100.0 < percentage));
    }
    let mut hasher = std::hash::DefaultHasher::new();
    compare::hash(&args[1], &mut hasher);
    compare::hash(&args[2], &mut hasher);
    let part = hasher.finish() as f64 / u64::MAX as f64;
    Ok(Datum::Bool(part * 100.0 < percentage))
}

/// TABLESAMPLE's condition; the binder builds calls of it, no name finds it.
pub static SAMPLED: BuiltinFunction =
    BuiltinFunction::new("sampled", &[FLOAT8, FLOAT8, DataType::RECORD], DataType::BOOL, sampled).nullable().volatile();

const fn f(name: &'static str, args: &'static [DataType], result: DataType, eval: EvalFn) -> BuiltinFunction {
    BuiltinFunction::new(name, args, result, eval)
}

/// All of them.
#[rustfmt::skip]
pub(super) static FUNCTIONS: &[BuiltinFunction] = &[
    f("abs", &[INT2], INT2, abs_int), f("abs", &[INT4], INT4, abs_int), f("abs", &[INT8], INT8, abs_int), f("abs", &[FLOAT4], FLOAT4, abs_float4), f("abs", &[FLOAT8], FLOAT8, abs_float), f("abs", &[NUMERIC], NUMERIC, abs_numeric),
    f("@", &[INT2], INT2, abs_int), f("@", &[INT4], INT4, abs_int), f("@", &[INT8], INT8, abs_int), f("@", &[FLOAT8], FLOAT8, abs_float), f("@", &[NUMERIC], NUMERIC, abs_numeric),
    f("ceil", &[FLOAT8], FLOAT8, ceil_float), f("ceil", &[NUMERIC], NUMERIC, ceil_numeric), f("ceiling", &[FLOAT8], FLOAT8, ceil_float), f("ceiling", &[NUMERIC], NUMERIC, ceil_numeric),
    f("floor", &[FLOAT8], FLOAT8, floor_float), f("floor", &[NUMERIC], NUMERIC, floor_numeric),
    f("round", &[FLOAT8], FLOAT8, round_float), f("round", &[NUMERIC], NUMERIC, round_numeric), f("round", &[NUMERIC, INT4], NUMERIC, round_to),
    f("trunc", &[FLOAT8], FLOAT8, trunc_float), f("trunc", &[NUMERIC], NUMERIC, trunc_numeric), f("trunc", &[NUMERIC, INT4], NUMERIC, trunc_to),
    f("sign", &[FLOAT8], FLOAT8, sign_float), f("sign", &[NUMERIC], NUMERIC, sign_numeric),
    f("sqrt", &[FLOAT8], FLOAT8, sqrt_float), f("sqrt", &[NUMERIC], NUMERIC, sqrt_numeric), f("|/", &[FLOAT8], FLOAT8, sqrt_float), f("||/", &[FLOAT8], FLOAT8, cbrt), f("cbrt", &[FLOAT8], FLOAT8, cbrt),
    f("exp", &[FLOAT8], FLOAT8, exp_float), f("exp", &[NUMERIC], NUMERIC, exp_numeric),
    f("ln", &[FLOAT8], FLOAT8, ln_float), f("ln", &[NUMERIC], NUMERIC, ln_numeric),
    f("log", &[FLOAT8], FLOAT8, log_float), f("log", &[NUMERIC], NUMERIC, log_numeric), f("log10", &[FLOAT8], FLOAT8, log_float), f("log10", &[NUMERIC], NUMERIC, log_numeric), f("log", &[NUMERIC, NUMERIC], NUMERIC, log_base),
    f("power", &[FLOAT8, FLOAT8], FLOAT8, power_float), f("power", &[NUMERIC, NUMERIC], NUMERIC, power_numeric), f("pow", &[FLOAT8, FLOAT8], FLOAT8, power_float), f("pow", &[NUMERIC, NUMERIC], NUMERIC, power_numeric),
    f("^", &[FLOAT8, FLOAT8], FLOAT8, power_float), f("^", &[NUMERIC, NUMERIC], NUMERIC, power_numeric),
    f("div", &[NUMERIC, NUMERIC], NUMERIC, div_numeric), f("scale", &[NUMERIC], INT4, scale), f("min_scale", &[NUMERIC], INT4, min_scale), f("trim_scale", &[NUMERIC], NUMERIC, trim_scale),
    f("gcd", &[INT4, INT4], INT4, gcd4), f("gcd", &[INT8, INT8], INT8, gcd8), f("gcd", &[NUMERIC, NUMERIC], NUMERIC, gcd_numeric),
    f("lcm", &[INT4, INT4], INT4, lcm4), f("lcm", &[INT8, INT8], INT8, lcm8), f("lcm", &[NUMERIC, NUMERIC], NUMERIC, lcm_numeric),
    f("factorial", &[INT8], NUMERIC, factorial),
    f("pi", &[], FLOAT8, pi),
    f("random", &[], FLOAT8, random).volatile(),
    f("width_bucket", &[NUMERIC, NUMERIC, NUMERIC, INT4], INT4, width_bucket), f("width_bucket", &[FLOAT8, FLOAT8, FLOAT8, INT4], INT4, width_bucket_float),
    f("width_bucket", &[DataType::ANYCOMPATIBLE, DataType::ANYCOMPATIBLEARRAY], INT4, width_bucket_array),
];
