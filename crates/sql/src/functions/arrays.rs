//! Array functions and operators.

use super::args::{Answer, array, int, int4, out, text};
use super::strings::display;
use super::{BuiltinFunction, EvalFn};
use crate::error::{SqlError, SqlState};
use crate::expr::EvalContext;
use crate::types::text::{natural_type, to_string};
use crate::types::{Array, DataType, Datum, compare};
use std::sync::Arc;

const ARRAY: DataType = DataType::ANYARRAY;
const COMPATIBLE_ARRAY: DataType = DataType::ANYCOMPATIBLEARRAY;
const COMPATIBLE: DataType = DataType::ANYCOMPATIBLE;
const INT4: DataType = DataType::INT4;
const TEXT: DataType = DataType::TEXT;
const BOOL: DataType = DataType::BOOL;
const TEXT_ARRAY: DataType = DataType::TEXT_ARRAY;

fn dimension(args: &[Datum]) -> Result<Option<(i32, i32)>, SqlError> {
    let n = int(args, 1)?;
    Ok(usize::try_from(n - 1).ok().and_then(|at| array(args, 0).ok()?.dims.get(at).copied()))
}
fn array_length(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(dimension(args)?.map_or(Datum::Null, |(length, _)| Datum::Int4(length)))
}
fn array_lower(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(dimension(args)?.map_or(Datum::Null, |(_, lower)| Datum::Int4(lower)))
}
fn array_upper(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(dimension(args)?.map_or(Datum::Null, |(length, lower)| Datum::Int4(lower + length - 1)))
}
fn array_ndims(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let dims = array(args, 0)?.dims.len();
    Ok(if dims == 0 { Datum::Null } else { Datum::Int4(dims as i32) })
}
fn array_dims(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let dims = &array(args, 0)?.dims;
    if dims.is_empty() {
        return Ok(Datum::Null);
    }
    out(dims.iter().map(|(length, lower)| format!("[{lower}:{}]", lower + length - 1)).collect::<String>())
}
fn cardinality(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Int4(array(args, 0)?.elements.len() as i32))
}

fn one_dimensional(found: &Array) -> Result<(), SqlError> {
    if found.dims.len() > 1 {
        return Err(SqlError::new(SqlState("22000"), "argument must be empty or one-dimensional array"));
    }
    Ok(())
}

/// An array argument that may be NULL, which stands for an empty array of the other argument's type.
fn or_empty(value: &Datum, beside: &Datum) -> Array {
    match value {
        Datum::Array(array) => (**array).clone(),
        _ => Array { element: natural_type(beside), dims: Vec::new(), elements: Vec::new() },
    }
}

fn append(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let mut result = or_empty(&args[0], &args[1]);
    one_dimensional(&result)?;
    let lower = result.dims.first().map_or(1, |dim| dim.1);
    result.elements.push(args[1].clone());
    result.dims = vec![(result.elements.len() as i32, lower)];
    Ok(Datum::Array(Arc::new(result)))
}
fn prepend(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let mut result = or_empty(&args[1], &args[0]);
    one_dimensional(&result)?;
    let lower = result.dims.first().map_or(1, |dim| dim.1);
    result.elements.insert(0, args[0].clone());
    result.dims = vec![(result.elements.len() as i32, lower)];
    Ok(Datum::Array(Arc::new(result)))
}

fn concat(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (a, b) = match (&args[0], &args[1]) {
        (Datum::Null, other) | (other, Datum::Null) => return Ok(other.clone()),
        (Datum::Array(a), Datum::Array(b)) if a.elements.is_empty() => return Ok(Datum::Array(b.clone())),
        (Datum::Array(a), Datum::Array(b)) if b.elements.is_empty() => return Ok(Datum::Array(a.clone())),
        (Datum::Array(a), Datum::Array(b)) => (a, b),
        _ => return Ok(Datum::Null),
    };
    let incompatible = || SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, "cannot concatenate incompatible arrays");
    // Same shape below the outer dimension, or one is an element of the other.
    let mut dims = if a.dims.len() >= b.dims.len() { a.dims.clone() } else { b.dims.clone() };
    let (outer_a, outer_b) = match a.dims.len() as i64 - b.dims.len() as i64 {
        0 if a.dims[1..] == b.dims[1..] => (a.dims[0].0, b.dims[0].0),
        1 if a.dims[1..].iter().map(|d| d.0).eq(b.dims.iter().map(|d| d.0)) => (a.dims[0].0, 1),
        -1 if b.dims[1..].iter().map(|d| d.0).eq(a.dims.iter().map(|d| d.0)) => (1, b.dims[0].0),
        _ => return Err(incompatible()),
    };
    dims[0].0 = outer_a + outer_b;
    let elements = a.elements.iter().chain(&b.elements).cloned().collect();
    Ok(Datum::Array(Arc::new(Array { element: a.element, dims, elements })))
}

fn same(array: &Array, a: &Datum, b: &Datum) -> bool {
    compare::eq_as(array.element, a, b)
}

fn remove(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let Datum::Array(from) = &args[0] else { return Ok(Datum::Null) };
    if from.dims.len() > 1 {
        return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "removing elements from multidimensional arrays is not supported"));
    }
    let kept: Vec<Datum> = from.elements.iter().filter(|element| !same(from, element, &args[1])).cloned().collect();
    let lower = from.dims.first().map_or(1, |dim| dim.1);
    let dims = if kept.is_empty() { Vec::new() } else { vec![(kept.len() as i32, lower)] };
    Ok(Datum::Array(Arc::new(Array { element: from.element, dims, elements: kept })))
}
fn replace(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let Datum::Array(from) = &args[0] else { return Ok(Datum::Null) };
    let elements = from.elements.iter().map(|element| if same(from, element, &args[1]) { args[2].clone() } else { element.clone() });
    Ok(Datum::Array(Arc::new(Array { element: from.element, dims: from.dims.clone(), elements: elements.collect() })))
}
fn position(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let Datum::Array(within) = &args[0] else { return Ok(Datum::Null) };
    if within.dims.len() > 1 {
        return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "searching for elements in multidimensional arrays is not supported"));
    }
    let lower = within.dims.first().map_or(1, |dim| dim.1);
    let start = if args.len() > 2 && !args[2].is_null() { int4(args, 2)? } else { lower };
    let skip = (i64::from(start) - i64::from(lower)).max(0) as usize;
    let found = within.elements.iter().enumerate().skip(skip).find(|(_, element)| same(within, element, &args[1]));
    Ok(found.map_or(Datum::Null, |(at, _)| Datum::Int4(at as i32 + lower)))
}
fn positions(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let Datum::Array(within) = &args[0] else { return Ok(Datum::Null) };
    let lower = within.dims.first().map_or(1, |dim| dim.1);
    let found = within.elements.iter().enumerate().filter(|(_, element)| same(within, element, &args[1]));
    Ok(Datum::array(INT4, found.map(|(at, _)| Datum::Int4(at as i32 + lower)).collect()))
}

fn contains_all(outer: &Array, inner: &Array) -> bool {
    inner.elements.iter().all(|wanted| !wanted.is_null() && outer.elements.iter().any(|element| same(outer, element, wanted)))
}
fn contains(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bool(contains_all(array(args, 0)?, array(args, 1)?)))
}
fn contained(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bool(contains_all(array(args, 1)?, array(args, 0)?)))
}
fn overlap(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (a, b) = (array(args, 0)?, array(args, 1)?);
    Ok(Datum::Bool(a.elements.iter().any(|x| !x.is_null() && b.elements.iter().any(|y| same(a, x, y)))))
}

fn array_to_string(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    if args[0].is_null() || args[1].is_null() {
        return Ok(Datum::Null);
    }
    let (from, separator) = (array(args, 0)?, text(args, 1)?);
    let null_text = match args.get(2) {
        Some(Datum::Text(text)) => Some(text.as_str()),
        _ => None,
    };
    let parts: Vec<String> = from
        .elements
        .iter()
        .filter_map(
            |element| if element.is_null() { null_text.map(str::to_owned) } else { Some(to_string(element, from.element, &ctx.text())) },
        )
        .collect();
    out(parts.join(separator))
}

fn string_to_array(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(string_parts(args)?.map_or(Datum::Null, |parts| Datum::array(TEXT, parts)))
}

/// `(string, separator [, what stands for NULL])`: the pieces; a NULL separator cuts between all characters.
pub(super) fn string_parts(args: &[Datum]) -> Result<Option<Vec<Datum>>, SqlError> {
    if args[0].is_null() {
        return Ok(None);
    }
    let string = text(args, 0)?;
    if string.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let parts: Vec<&str> = match &args[1] {
        Datum::Null => string.split_inclusive(|_| true).collect(),
        Datum::Text(separator) if separator.is_empty() => vec![string],
        _ => string.split(text(args, 1)?).collect(),
    };
    let null_text = match args.get(2) {
        Some(Datum::Text(text)) => Some(text.as_str()),
        _ => None,
    };
    Ok(Some(parts.into_iter().map(|part| if Some(part) == null_text { Datum::Null } else { Datum::text(part) }).collect()))
}

/// The most elements `array_fill` makes: PostgreSQL's limit for an array.
pub(super) const FILL_ELEMENTS_MAX: i64 = 134_217_727;

/// `array_fill(value, lengths [, lower bounds])`
fn array_fill(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let null = |what| Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, what));
    if args[1..].iter().any(Datum::is_null) {
        return null("dimension array or low bound array cannot be null");
    }
    let (lengths, bounds) = (array(args, 1)?, if args.len() > 2 { Some(array(args, 2)?) } else { None });
    if lengths.elements.iter().chain(bounds.iter().flat_map(|b| &b.elements)).any(Datum::is_null) {
        return null("dimension values cannot be null");
    }
    if bounds.is_some_and(|bounds| bounds.elements.len() != lengths.elements.len()) {
        return Err(SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, "wrong number of array subscripts")
            .detail("Low bound array has different size than dimensions array."));
    }
    let whole = |value: &Datum| compare::as_i64(value).unwrap_or(0);
    let mut dims = Vec::with_capacity(lengths.elements.len());
    let mut count = Some(1i64);
    for (at, length) in lengths.elements.iter().map(whole).enumerate() {
        count = count.filter(|_| length >= 0).and_then(|count| count.checked_mul(length));
        let lower = bounds.map_or(1, |bounds| whole(&bounds.elements[at]));
        dims.push((length as i32, lower as i32));
    }
    let too_large = || {
        let message = format!("array size exceeds the maximum allowed ({FILL_ELEMENTS_MAX})");
        SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message)
    };
    let count = count.filter(|count| *count <= FILL_ELEMENTS_MAX).ok_or_else(too_large)?;
    let element = natural_type(&args[0]);
    if dims.is_empty() || count == 0 {
        return Ok(Datum::array(element, Vec::new()));
    }
    Ok(Datum::Array(Arc::new(Array { element, dims, elements: vec![args[0].clone(); count as usize] })))
}

fn larger(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(args[usize::from(compare::cmp(&args[0], &args[1]).is_lt())].clone())
}
fn smaller(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(args[usize::from(compare::cmp(&args[0], &args[1]).is_gt())].clone())
}

fn trim_array(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (from, count) = (array(args, 0)?, int(args, 1)?);
    let length = from.dims.first().map_or(0, |dim| i64::from(dim.0));
    if !(0..=length).contains(&count) {
        return Err(SqlError::new(SqlState("2202E"), format!("number of elements to trim must be between 0 and {length}")));
    }
    let keep = from.elements.len() - from.elements.len().checked_div(length.max(1) as usize).unwrap_or(0) * count as usize;
    let mut dims = from.dims.clone();
    if let Some(first) = dims.first_mut() {
        first.0 -= count as i32;
    }
    if keep == 0 {
        dims.clear();
    }
    Ok(Datum::Array(Arc::new(Array { element: from.element, dims, elements: from.elements[..keep].to_vec() })))
}

fn count_nulls(args: &[Datum]) -> i32 {
    args.iter().filter(|arg| arg.is_null()).count() as i32
}
pub(super) fn num_nulls(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Int4(count_nulls(args)))
}
pub(super) fn num_nonnulls(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Int4(args.len() as i32 - count_nulls(args)))
}
fn row_to_text(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    out(display(&args[0], ctx))
}

/// `array[l:u][l:u]`: what of the array lies within the bounds, counted from 1 again. Arguments behind the array, per dimension: is there
/// a lower bound, which, is there an upper bound, which.
fn slice(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let Datum::Array(from) = &args[0] else { return Ok(Datum::Null) };
    let given = |at: usize| matches!(args[at], Datum::Bool(true));
    if (1..args.len()).step_by(2).any(|at| given(at) && args[at + 1].is_null()) {
        return Ok(Datum::Null);
    }
    let empty = Datum::array(from.element, Vec::new());
    let subscripts = (args.len() - 1) / 4;
    if from.dims.len() < subscripts {
        return Ok(empty);
    }
    let mut ranges = Vec::with_capacity(from.dims.len());
    for (dimension, (length, lower)) in from.dims.iter().enumerate() {
        let upper = lower + length - 1;
        let at = 1 + dimension * 4;
        let (mut first, mut last) = (*lower, upper);
        if dimension < subscripts {
            first = if given(at) { int4(args, at + 1)?.max(*lower) } else { *lower };
            last = if given(at + 2) { int4(args, at + 3)?.min(upper) } else { upper };
        }
        if first > last {
            return Ok(empty);
        }
        ranges.push((first - lower, last - first + 1));
    }
    let elements = (0..from.elements.len()).filter(|at| within(*at, from, &ranges)).map(|at| from.elements[at].clone()).collect();
    let dims = ranges.iter().map(|(_, count)| (*count, 1)).collect();
    Ok(Datum::Array(Arc::new(Array { element: from.element, dims, elements })))
}

/// Is the element at this place in row-major order inside the ranges (offset and count per dimension)?
fn within(at: usize, array: &Array, ranges: &[(i32, i32)]) -> bool {
    let mut rest = at as i64;
    array.dims.iter().zip(ranges).rev().all(|((length, _), (offset, count))| {
        let place = rest % i64::from(*length);
        rest /= i64::from(*length);
        (i64::from(*offset)..i64::from(*offset) + i64::from(*count)).contains(&place)
    })
}

/// `name[0]`: a byte of a name, which PostgreSQL keeps as an array of 64.
fn name_byte(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let at = int(args, 1)?;
    if !(0..64).contains(&at) {
        return Ok(Datum::Null);
    }
    Ok(Datum::Char(text(args, 0)?.as_bytes().get(at as usize).copied().unwrap_or(0)))
}

/// `name[n]`; the binder builds calls of it, no name finds it.
pub static NAME_SUBSCRIPT: BuiltinFunction = BuiltinFunction::new("name_subscript", &[DataType::NAME, INT4], DataType::CHAR, name_byte);

/// Array slices; the binder builds calls of it, no name finds it.
pub static SLICE: BuiltinFunction = BuiltinFunction::new("array_slice", &[ARRAY, DataType::ANY], ARRAY, slice).nullable().variadic();

const fn f(name: &'static str, args: &'static [DataType], result: DataType, eval: EvalFn) -> BuiltinFunction {
    BuiltinFunction::new(name, args, result, eval)
}

/// All of them.
#[rustfmt::skip]
pub(super) static FUNCTIONS: &[BuiltinFunction] = &[
    f("array_length", &[ARRAY, INT4], INT4, array_length), f("array_lower", &[ARRAY, INT4], INT4, array_lower), f("array_upper", &[ARRAY, INT4], INT4, array_upper), f("array_ndims", &[ARRAY], INT4, array_ndims), f("array_dims", &[ARRAY], TEXT, array_dims), f("cardinality", &[ARRAY], INT4, cardinality),
    f("array_append", &[COMPATIBLE_ARRAY, COMPATIBLE], COMPATIBLE_ARRAY, append).nullable(), f("array_prepend", &[COMPATIBLE, COMPATIBLE_ARRAY], COMPATIBLE_ARRAY, prepend).nullable(), f("array_cat", &[COMPATIBLE_ARRAY, COMPATIBLE_ARRAY], COMPATIBLE_ARRAY, concat).nullable(),
    f("||", &[COMPATIBLE_ARRAY, COMPATIBLE], COMPATIBLE_ARRAY, append).nullable(), f("||", &[COMPATIBLE, COMPATIBLE_ARRAY], COMPATIBLE_ARRAY, prepend).nullable(), f("||", &[COMPATIBLE_ARRAY, COMPATIBLE_ARRAY], COMPATIBLE_ARRAY, concat).nullable(),
    f("array_remove", &[COMPATIBLE_ARRAY, COMPATIBLE], COMPATIBLE_ARRAY, remove).nullable(), f("array_replace", &[COMPATIBLE_ARRAY, COMPATIBLE, COMPATIBLE], COMPATIBLE_ARRAY, replace).nullable(),
    f("array_position", &[COMPATIBLE_ARRAY, COMPATIBLE], INT4, position).nullable(), f("array_position", &[COMPATIBLE_ARRAY, COMPATIBLE, INT4], INT4, position).nullable(), f("array_positions", &[COMPATIBLE_ARRAY, COMPATIBLE], DataType::INT4_ARRAY, positions).nullable(),
    f("@>", &[ARRAY, ARRAY], BOOL, contains), f("<@", &[ARRAY, ARRAY], BOOL, contained), f("&&", &[ARRAY, ARRAY], BOOL, overlap),
    f("array_to_string", &[ARRAY, TEXT], TEXT, array_to_string).nullable().stable(), f("array_to_string", &[ARRAY, TEXT, TEXT], TEXT, array_to_string).nullable().stable(),
    f("string_to_array", &[TEXT, TEXT], TEXT_ARRAY, string_to_array).nullable(), f("string_to_array", &[TEXT, TEXT, TEXT], TEXT_ARRAY, string_to_array).nullable(),
    f("array_fill", &[DataType::ANYELEMENT, DataType::INT4_ARRAY], ARRAY, array_fill).nullable(), f("array_fill", &[DataType::ANYELEMENT, DataType::INT4_ARRAY, DataType::INT4_ARRAY], ARRAY, array_fill).nullable(), f("array_larger", &[ARRAY, ARRAY], ARRAY, larger), f("array_smaller", &[ARRAY, ARRAY], ARRAY, smaller), f("trim_array", &[ARRAY, INT4], ARRAY, trim_array),
    f("num_nulls", &[DataType::ANY], INT4, num_nulls).nullable().variadic(), f("num_nonnulls", &[DataType::ANY], INT4, num_nonnulls).nullable().variadic(), f("record_out", &[DataType::RECORD], TEXT, row_to_text).stable(),
];
