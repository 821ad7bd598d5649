//! Trigonometric functions, in radians and in degrees.
//!
//! The functions of degrees promise exact answers at the angles that have one (`sind(30) = 0.5`). They follow PostgreSQL: the first quadrant is
//! computed so that 30, 45 and 60 degrees divide out the error that the library function makes there.

use super::args::{Answer, float, float_functions};
use super::{BuiltinFunction, EvalFn};
use crate::error::{SqlError, SqlState};
use crate::expr::EvalContext;
use crate::types::{DataType, Datum};

const FLOAT8: DataType = DataType::FLOAT8;
const RADIANS_PER_DEGREE: f64 = std::f64::consts::PI / 180.0;

float_functions! {
    degrees = |x| x / RADIANS_PER_DEGREE;
    radians = |x| x * RADIANS_PER_DEGREE;
    sin = |x| of_angle(x, f64::sin)?;
    cos = |x| of_angle(x, f64::cos)?;
    tan = |x| of_angle(x, f64::tan)?;
    cot = |x| of_angle(x, |x| 1.0 / x.tan())?;
    asin = |x| within_one(x, f64::asin)?;
    acos = |x| within_one(x, f64::acos)?;
    atan = |x| x.atan();
    sinh = |x| x.sinh();
    cosh = |x| x.cosh();
    tanh = |x| x.tanh();
    asinh = |x| x.asinh();
    acosh = |x| if x < 1.0 { return Err(input_out_of_range()) } else { x.acosh() };
    atanh = |x| within_one(x, f64::atanh)?;
    sind = |x| of_angle(x, sine_of_degrees)?;
    cosd = |x| of_angle(x, cosine_of_degrees)?;
    tand = |x| of_angle(x, |x| positive_zero(tangent_of_degrees(x, sine_first_quadrant, cosine_first_quadrant)))?;
    cotd = |x| of_angle(x, |x| positive_zero(tangent_of_degrees(x, cosine_first_quadrant, sine_first_quadrant)))?;
    asind = |x| within_one(x, |x| if x >= 0.0 { arcsine_degrees(x) } else { -arcsine_degrees(-x) })?;
    acosd = |x| within_one(x, |x| if x >= 0.0 { arccosine_degrees(x) } else { 90.0 + arcsine_degrees(-x) })?;
    atand = |x| x.atan() / 1f64.atan() * 45.0;
}

fn input_out_of_range() -> SqlError {
    SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "input is out of range")
}

fn of_angle(x: f64, f: fn(f64) -> f64) -> Result<f64, SqlError> {
    if x.is_infinite() { Err(input_out_of_range()) } else { Ok(f(x)) }
}

fn within_one(x: f64, f: fn(f64) -> f64) -> Result<f64, SqlError> {
    if x.abs() > 1.0 { Err(input_out_of_range()) } else { Ok(f(x)) }
}

fn atan2(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Float8(float(args, 0)?.atan2(float(args, 1)?)))
}

fn atan2d(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Float8(float(args, 0)?.atan2(float(args, 1)?) / 1f64.atan() * 45.0))
}

// ---- degrees

/// Exact at 0 and 30.
fn sine_to_30(x: f64) -> f64 {
    (x * RADIANS_PER_DEGREE).sin() / (30.0 * RADIANS_PER_DEGREE).sin() / 2.0
}

/// Exact at 0 and 60.
fn cosine_to_60(x: f64) -> f64 {
    let missing = 1.0 - (x * RADIANS_PER_DEGREE).cos();
    1.0 - missing / (1.0 - (60.0 * RADIANS_PER_DEGREE).cos()) / 2.0
}

fn sine_first_quadrant(x: f64) -> f64 {
    if x <= 30.0 { sine_to_30(x) } else { cosine_to_60(90.0 - x) }
}

fn cosine_first_quadrant(x: f64) -> f64 {
    if x <= 60.0 { cosine_to_60(x) } else { sine_to_30(90.0 - x) }
}

fn sine_of_degrees(x: f64) -> f64 {
    let (mut x, mut sign) = (x % 360.0, 1.0);
    if x < 0.0 {
        (x, sign) = (-x, -sign);
    }
    if x > 180.0 {
        (x, sign) = (360.0 - x, -sign);
    }
    sign * sine_first_quadrant(if x > 90.0 { 180.0 - x } else { x })
}

fn cosine_of_degrees(x: f64) -> f64 {
    let (mut x, mut sign) = ((x % 360.0).abs(), 1.0);
    if x > 180.0 {
        x = 360.0 - x;
    }
    if x > 90.0 {
        (x, sign) = (180.0 - x, -sign);
    }
    sign * cosine_first_quadrant(x)
}

/// Tangent or cotangent, by which function stands above the other; 1 at 45 degrees.
fn tangent_of_degrees(x: f64, above: fn(f64) -> f64, below: fn(f64) -> f64) -> f64 {
    let (mut x, mut sign) = (x % 360.0, 1.0);
    if x < 0.0 {
        (x, sign) = (-x, -sign);
    }
    if x > 180.0 {
        (x, sign) = (360.0 - x, -sign);
    }
    if x > 90.0 {
        (x, sign) = (180.0 - x, -sign);
    }
    sign * (above(x) / below(x) / (above(45.0) / below(45.0)))
}

fn positive_zero(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x }
}

/// Exact at 0, 0.5 and 1.
fn arcsine_degrees(x: f64) -> f64 {
    if x <= 0.5 { x.asin() / 0.5f64.asin() * 30.0 } else { 90.0 - x.acos() / 0.5f64.acos() * 60.0 }
}

fn arccosine_degrees(x: f64) -> f64 {
    if x <= 0.5 { 90.0 - x.asin() / 0.5f64.asin() * 30.0 } else { x.acos() / 0.5f64.acos() * 60.0 }
}

const fn f(name: &'static str, eval: EvalFn) -> BuiltinFunction {
    BuiltinFunction::new(name, &[FLOAT8], FLOAT8, eval)
}

/// All of them.
#[rustfmt::skip]
pub(super) static FUNCTIONS: &[BuiltinFunction] = &[
    f("degrees", degrees), f("radians", radians),
    f("sin", sin), f("cos", cos), f("tan", tan), f("cot", cot), f("asin", asin), f("acos", acos), f("atan", atan),
    f("sinh", sinh), f("cosh", cosh), f("tanh", tanh), f("asinh", asinh), f("acosh", acosh), f("atanh", atanh),
    f("sind", sind), f("cosd", cosd), f("tand", tand), f("cotd", cotd), f("asind", asind), f("acosd", acosd), f("atand", atand),
    BuiltinFunction::new("atan2", &[FLOAT8, FLOAT8], FLOAT8, atan2), BuiltinFunction::new("atan2d", &[FLOAT8, FLOAT8], FLOAT8, atan2d),
];
