//! `+ - * / %` and the bit operators of the number types, with overflow checked.

use super::BuiltinFunction;
use super::args::{Answer, bytes, float, int, numeric};
use crate::error::{SqlError, SqlState};
use crate::expr::EvalContext;
use crate::types::cast::narrow;
use crate::types::{DataType, Datum};

const INT2: DataType = DataType::INT2;
const INT4: DataType = DataType::INT4;
const INT8: DataType = DataType::INT8;
const FLOAT4: DataType = DataType::FLOAT4;
const FLOAT8: DataType = DataType::FLOAT8;
const NUMERIC: DataType = DataType::NUMERIC;

pub(super) fn division_by_zero() -> SqlError {
    SqlError::new(SqlState::DIVISION_BY_ZERO, "division by zero")
}

fn small(n: Option<i64>) -> Answer {
    n.and_then(|n| i16::try_from(n).ok()).map(Datum::Int2).ok_or_else(|| SqlError::out_of_range("smallint"))
}

fn middle(n: Option<i64>) -> Answer {
    n.and_then(|n| i32::try_from(n).ok()).map(Datum::Int4).ok_or_else(|| SqlError::out_of_range("integer"))
}

fn large(n: Option<i64>) -> Answer {
    n.map(Datum::Int8).ok_or_else(|| SqlError::out_of_range("bigint"))
}

fn divide(a: i64, b: i64) -> Result<Option<i64>, SqlError> {
    if b == 0 { Err(division_by_zero()) } else { Ok(a.checked_div(b)) }
}

fn modulo(a: i64, b: i64) -> Result<Option<i64>, SqlError> {
    // The least integer % -1 is 0, though the division overflows.
    if b == 0 { Err(division_by_zero()) } else { Ok(Some(a.checked_rem(b).unwrap_or(0))) }
}

/// One operator for one result width.
macro_rules! integer_ops {
    ($($name:ident: $finish:ident, |$a:ident, $b:ident| $body:expr;)*) => {
        $(fn $name(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
            let ($a, $b) = (int(args, 0)?, int(args, 1)?);
            $finish($body)
        })*
    };
}

integer_ops! {
    add2: small, |a, b| a.checked_add(b);
    add4: middle, |a, b| a.checked_add(b);
    add8: large, |a, b| a.checked_add(b);
    sub2: small, |a, b| a.checked_sub(b);
    sub4: middle, |a, b| a.checked_sub(b);
    sub8: large, |a, b| a.checked_sub(b);
    mul2: small, |a, b| a.checked_mul(b);
    mul4: middle, |a, b| a.checked_mul(b);
    mul8: large, |a, b| a.checked_mul(b);
    div2: small, |a, b| divide(a, b)?;
    div4: middle, |a, b| divide(a, b)?;
    div8: large, |a, b| divide(a, b)?;
    mod2: small, |a, b| modulo(a, b)?;
    mod4: middle, |a, b| modulo(a, b)?;
    mod8: large, |a, b| modulo(a, b)?;
    and2: small, |a, b| Some(a & b);
    and4: middle, |a, b| Some(a & b);
    and8: large, |a, b| Some(a & b);
    or2: small, |a, b| Some(a | b);
    or4: middle, |a, b| Some(a | b);
    or8: large, |a, b| Some(a | b);
    xor2: small, |a, b| Some(a ^ b);
    xor4: middle, |a, b| Some(a ^ b);
    xor8: large, |a, b| Some(a ^ b);
    shl2: small, |a, b| Some(i64::from((a as i32).wrapping_shl(b as u32) as i16));
    shl4: middle, |a, b| Some(i64::from((a as i32).wrapping_shl(b as u32)));
    shl8: large, |a, b| Some(a.wrapping_shl(b as u32));
    shr2: small, |a, b| Some(i64::from((a as i32).wrapping_shr(b as u32)));
    shr4: middle, |a, b| Some(i64::from((a as i32).wrapping_shr(b as u32)));
    shr8: large, |a, b| Some(a.wrapping_shr(b as u32));
}

fn neg2(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    small(int(args, 0)?.checked_neg())
}
fn neg4(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    middle(int(args, 0)?.checked_neg())
}
fn neg8(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    large(int(args, 0)?.checked_neg())
}
fn not2(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    small(Some(!int(args, 0)?))
}
fn not4(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    middle(Some(!int(args, 0)?))
}
fn not8(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    large(Some(!int(args, 0)?))
}
fn same(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(args[0].clone())
}

/// Overflow and underflow of floats are errors, unless infinity or zero went in.
pub(super) fn checked(x: f64, inputs_infinite: bool, zero_allowed: bool) -> Result<f64, SqlError> {
    let out = |what: &str| Err(SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, format!("value out of range: {what}")));
    if x.is_infinite() && !inputs_infinite {
        return out("overflow");
    }
    if x == 0.0 && !zero_allowed {
        return out("underflow");
    }
    Ok(x)
}

fn wide(x: f64) -> Answer {
    Ok(Datum::Float8(x))
}

fn thin(x: f64) -> Answer {
    Ok(Datum::Float4(if x.is_infinite() { x as f32 } else { narrow(x)? }))
}

macro_rules! float_ops {
    ($($name:ident: $finish:ident, |$a:ident, $b:ident| $body:expr, $zero:expr;)*) => {
        $(fn $name(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
            let ($a, $b) = (float(args, 0)?, float(args, 1)?);
            $finish(checked($body, $a.is_infinite() || $b.is_infinite(), $zero)?)
        })*
    };
}

fn float_div(a: f64, b: f64) -> Result<f64, SqlError> {
    if b == 0.0 && !a.is_nan() { Err(division_by_zero()) } else { Ok(a / b) }
}

float_ops! {
    fadd8: wide, |a, b| a + b, true;
    fsub8: wide, |a, b| a - b, true;
    fmul8: wide, |a, b| a * b, a == 0.0 || b == 0.0;
    fdiv8: wide, |a, b| float_div(a, b)?, a == 0.0 || b.is_infinite();
    fadd4: thin, |a, b| f64::from(a as f32 + b as f32), true;
    fsub4: thin, |a, b| f64::from(a as f32 - b as f32), true;
    fmul4: thin, |a, b| f64::from(a as f32 * b as f32), a == 0.0 || b == 0.0;
    fdiv4: thin, |a, b| f64::from(float_div(a, b)? as f32), a == 0.0 || b.is_infinite();
}

fn fneg8(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    wide(-float(args, 0)?)
}
fn fneg4(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Float4(-(float(args, 0)? as f32)))
}

fn nadd(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Numeric(numeric(args, 0)?.add(numeric(args, 1)?)))
}
fn nsub(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Numeric(numeric(args, 0)?.sub(numeric(args, 1)?)))
}
fn nmul(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Numeric(numeric(args, 0)?.mul(numeric(args, 1)?)))
}
fn ndiv(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Numeric(numeric(args, 0)?.div(numeric(args, 1)?)?))
}
fn nmod(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Numeric(numeric(args, 0)?.rem(numeric(args, 1)?)?))
}
fn nneg(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Numeric(numeric(args, 0)?.neg()))
}

fn bytes_concat(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bytes([bytes(args, 0)?, bytes(args, 1)?].concat().into()))
}

const fn op(name: &'static str, args: &'static [DataType], result: DataType, eval: super::EvalFn) -> BuiltinFunction {
    BuiltinFunction::new(name, args, result, eval)
}

/// An operator of all integer widths, same and mixed.
macro_rules! integers {
    ($($name:literal $two:ident $four:ident $eight:ident),* $(,)?) => {
        &[$(
            op($name, &[INT2, INT2], INT2, $two), op($name, &[INT4, INT4], INT4, $four), op($name, &[INT8, INT8], INT8, $eight),
            op($name, &[INT2, INT4], INT4, $four), op($name, &[INT4, INT2], INT4, $four), op($name, &[INT2, INT8], INT8, $eight),
            op($name, &[INT8, INT2], INT8, $eight), op($name, &[INT4, INT8], INT8, $eight), op($name, &[INT8, INT4], INT8, $eight),
        )*]
    };
}

/// Four operations of integers.
pub(super) static INTEGERS: &[BuiltinFunction] = integers!["+" add2 add4 add8, "-" sub2 sub4 sub8, "*" mul2 mul4 mul8, "/" div2 div4 div8];

/// Everything else.
#[rustfmt::skip]
pub(super) static FUNCTIONS: &[BuiltinFunction] = &[
    op("%", &[INT2, INT2], INT2, mod2), op("%", &[INT4, INT4], INT4, mod4), op("%", &[INT8, INT8], INT8, mod8), op("%", &[NUMERIC, NUMERIC], NUMERIC, nmod),
    op("mod", &[INT2, INT2], INT2, mod2), op("mod", &[INT4, INT4], INT4, mod4), op("mod", &[INT8, INT8], INT8, mod8), op("mod", &[NUMERIC, NUMERIC], NUMERIC, nmod),
    op("&", &[INT2, INT2], INT2, and2), op("&", &[INT4, INT4], INT4, and4), op("&", &[INT8, INT8], INT8, and8),
    op("|", &[INT2, INT2], INT2, or2), op("|", &[INT4, INT4], INT4, or4), op("|", &[INT8, INT8], INT8, or8),
    op("#", &[INT2, INT2], INT2, xor2), op("#", &[INT4, INT4], INT4, xor4), op("#", &[INT8, INT8], INT8, xor8),
    op("<<", &[INT2, INT4], INT2, shl2), op("<<", &[INT4, INT4], INT4, shl4), op("<<", &[INT8, INT4], INT8, shl8),
    op(">>", &[INT2, INT4], INT2, shr2), op(">>", &[INT4, INT4], INT4, shr4), op(">>", &[INT8, INT4], INT8, shr8),
    op("~", &[INT2], INT2, not2), op("~", &[INT4], INT4, not4), op("~", &[INT8], INT8, not8),
    op("-", &[INT2], INT2, neg2), op("-", &[INT4], INT4, neg4), op("-", &[INT8], INT8, neg8), op("-", &[NUMERIC], NUMERIC, nneg),
    op("-", &[FLOAT8], FLOAT8, fneg8), op("-", &[FLOAT4], FLOAT4, fneg4),
    op("+", &[INT2], INT2, same), op("+", &[INT4], INT4, same), op("+", &[INT8], INT8, same), op("+", &[NUMERIC], NUMERIC, same),
    op("+", &[FLOAT8], FLOAT8, same), op("+", &[FLOAT4], FLOAT4, same),
    op("+", &[FLOAT8, FLOAT8], FLOAT8, fadd8), op("-", &[FLOAT8, FLOAT8], FLOAT8, fsub8), op("*", &[FLOAT8, FLOAT8], FLOAT8, fmul8), op("/", &[FLOAT8, FLOAT8], FLOAT8, fdiv8),
    op("+", &[FLOAT4, FLOAT8], FLOAT8, fadd8), op("-", &[FLOAT4, FLOAT8], FLOAT8, fsub8), op("*", &[FLOAT4, FLOAT8], FLOAT8, fmul8), op("/", &[FLOAT4, FLOAT8], FLOAT8, fdiv8),
    op("+", &[FLOAT8, FLOAT4], FLOAT8, fadd8), op("-", &[FLOAT8, FLOAT4], FLOAT8, fsub8), op("*", &[FLOAT8, FLOAT4], FLOAT8, fmul8), op("/", &[FLOAT8, FLOAT4], FLOAT8, fdiv8),
    op("+", &[FLOAT4, FLOAT4], FLOAT4, fadd4), op("-", &[FLOAT4, FLOAT4], FLOAT4, fsub4), op("*", &[FLOAT4, FLOAT4], FLOAT4, fmul4), op("/", &[FLOAT4, FLOAT4], FLOAT4, fdiv4),
    op("+", &[NUMERIC, NUMERIC], NUMERIC, nadd), op("-", &[NUMERIC, NUMERIC], NUMERIC, nsub), op("*", &[NUMERIC, NUMERIC], NUMERIC, nmul), op("/", &[NUMERIC, NUMERIC], NUMERIC, ndiv),
    op("||", &[DataType::BYTEA, DataType::BYTEA], DataType::BYTEA, bytes_concat),
];
