//! The six comparison operators of every type. Their entries are marked ([`BuiltinFunction::compare`]), so evaluation usually compares in
//! place and never comes here.

use super::BuiltinFunction;
use super::args::Answer;
use crate::expr::{CompareOp, EvalContext};
use crate::types::{DataType, Datum, compare};

fn eq(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bool(compare::cmp(&args[0], &args[1]).is_eq()))
}
fn ne(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bool(compare::cmp(&args[0], &args[1]).is_ne()))
}
fn lt(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bool(compare::cmp(&args[0], &args[1]).is_lt()))
}
fn le(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bool(compare::cmp(&args[0], &args[1]).is_le()))
}
fn gt(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bool(compare::cmp(&args[0], &args[1]).is_gt()))
}
fn ge(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bool(compare::cmp(&args[0], &args[1]).is_ge()))
}

const fn operator(args: &'static [DataType], op: CompareOp) -> BuiltinFunction {
    let (name, eval): (&'static str, super::EvalFn) = match op {
        CompareOp::Eq => ("=", eq),
        CompareOp::Ne => ("<>", ne),
        CompareOp::Lt => ("<", lt),
        CompareOp::Le => ("<=", le),
        CompareOp::Gt => (">", gt),
        CompareOp::Ge => (">=", ge),
    };
    BuiltinFunction::new(name, args, DataType::BOOL, eval).comparing(op)
}

macro_rules! families {
    ($( ($left:ident, $right:ident) ),* $(,)?) => {
        &[$(
            operator(&[DataType::$left, DataType::$right], CompareOp::Eq),
            operator(&[DataType::$left, DataType::$right], CompareOp::Ne),
            operator(&[DataType::$left, DataType::$right], CompareOp::Lt),
            operator(&[DataType::$left, DataType::$right], CompareOp::Le),
            operator(&[DataType::$left, DataType::$right], CompareOp::Gt),
            operator(&[DataType::$left, DataType::$right], CompareOp::Ge),
        )*]
    };
}

/// All of them. Pairs of types not listed compare after implicit casts.
pub(super) static FUNCTIONS: &[BuiltinFunction] = families![
    (INT4, INT4),
    (INT8, INT8),
    (INT2, INT2),
    (INT4, INT8),
    (INT8, INT4),
    (INT2, INT4),
    (INT4, INT2),
    (INT2, INT8),
    (INT8, INT2),
    (FLOAT8, FLOAT8),
    (FLOAT4, FLOAT4),
    (FLOAT4, FLOAT8),
    (FLOAT8, FLOAT4),
    (NUMERIC, NUMERIC),
    (TEXT, TEXT),
    (BPCHAR, BPCHAR),
    (NAME, NAME),
    (NAME, TEXT),
    (TEXT, NAME),
    (CHAR, CHAR),
    (BYTEA, BYTEA),
    (BOOL, BOOL),
    (DATE, DATE),
    (TIME, TIME),
    (TIMESTAMP, TIMESTAMP),
    (TIMESTAMPTZ, TIMESTAMPTZ),
    (INTERVAL, INTERVAL),
    (UUID, UUID),
    (OID, OID),
    (XID, XID),
    (CID, CID),
    (OIDVECTOR, OIDVECTOR),
    (ANYARRAY, ANYARRAY),
    (JSONB, JSONB),
    (ANYENUM, ANYENUM),
    (RECORD, RECORD),
];
