//! `SET a[2] = ...`, `SET a[2:3] = ...`, `SET j['k']['l'] = ...`: a value with a part of it replaced.
//!
//! The binder makes calls of these; no name finds them. An array of one dimension grows to hold what is assigned, with NULLs in the gap, one of several
//! dimensions does not. A path through a `jsonb` makes what is missing on its way.

use super::args::{Answer, array};
use super::arrays::FILL_ELEMENTS_MAX;
use super::{BuiltinFunction, json};
use crate::error::{SqlError, SqlState};
use crate::expr::EvalContext;
use crate::types::json::key_order;
use crate::types::text::natural_type;
use crate::types::{Array, DataType, Datum, Json, compare};
use std::sync::Arc;

fn wrong(message: &'static str) -> SqlError {
    SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message)
}

fn index(value: &Datum) -> Result<i32, SqlError> {
    let index = compare::as_i64(value).and_then(|n| i32::try_from(n).ok());
    index.ok_or_else(|| SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "array subscript in assignment must not be null"))
}

/// The array to change; NULL counts as an empty one.
fn base(value: &Datum, element: DataType) -> Array {
    match value {
        Datum::Array(array) => (**array).clone(),
        _ => Array { element, dims: Vec::new(), elements: Vec::new() },
    }
}

/// Makes room in an array of one dimension for the subscripts from `first` to `last`.
fn grow(array: &mut Array, first: i32, last: i32) -> Result<(), SqlError> {
    let Some((length, lower)) = array.dims.first().copied() else { return Ok(()) };
    let (from, to) = (i64::from(lower.min(first)), i64::from(last).max(i64::from(lower) + i64::from(length) - 1));
    if to - from >= FILL_ELEMENTS_MAX {
        let message = format!("array size exceeds the maximum allowed ({FILL_ELEMENTS_MAX})");
        return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
    }
    let before = (i64::from(lower) - from) as usize;
    array.elements.splice(0..0, std::iter::repeat_n(Datum::Null, before));
    array.elements.resize((to - from + 1) as usize, Datum::Null);
    array.dims = vec![(array.elements.len() as i32, from as i32)];
    Ok(())
}

/// `(array, value, subscripts ...)`
fn assign_element(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let mut array = base(&args[0], natural_type(&args[1]));
    let indexes = args[2..].iter().map(index).collect::<Result<Vec<_>, _>>()?;
    if array.dims.is_empty() {
        array.dims = indexes.iter().map(|at| (1, *at)).collect();
        array.elements = vec![args[1].clone()];
        return Ok(Datum::Array(Arc::new(array)));
    }
    if array.dims.len() != indexes.len() {
        return Err(wrong("wrong number of array subscripts"));
    }
    if let [at] = indexes.as_slice() {
        grow(&mut array, *at, *at)?;
    }
    let at = place(&array.dims, &indexes).ok_or_else(|| wrong("array subscript out of range"))?;
    array.elements[at] = args[1].clone();
    Ok(Datum::Array(Arc::new(array)))
}

/// Where the element with these subscripts is kept.
fn place(dims: &[(i32, i32)], indexes: &[i32]) -> Option<usize> {
    let mut at = 0usize;
    for ((length, lower), index) in dims.iter().zip(indexes) {
        let offset = i64::from(*index) - i64::from(*lower);
        if !(0..i64::from(*length)).contains(&offset) {
            return None;
        }
        at = at * *length as usize + offset as usize;
    }
    Some(at)
}

/// The bounds that a slice gives for one dimension.
struct Bounds {
    lower: Option<i32>,
    upper: Option<i32>,
}

/// `(array, source, [is there a lower bound, which, is there an upper one, which] ...)`
fn assign_slice(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    if args[1].is_null() {
        return Ok(args[0].clone());
    }
    let source = array(args, 1)?;
    let mut target = base(&args[0], source.element);
    let given = |there: &Datum, value: &Datum| if matches!(there, Datum::Bool(true)) { index(value).map(Some) } else { Ok(None) };
    let mut bounds = Vec::new();
    for part in args[2..].chunks_exact(4) {
        bounds.push(Bounds { lower: given(&part[0], &part[1])?, upper: given(&part[2], &part[3])? });
    }
    let fresh = target.dims.is_empty();
    if !fresh && target.dims.len() < bounds.len() {
        return Err(wrong("wrong number of array subscripts"));
    }
    let mut ranges: Vec<(i32, i32)> = Vec::with_capacity(bounds.len());
    for (at, bound) in bounds.iter().enumerate() {
        let (lower, upper) = match (target.dims.get(at), bound.lower, bound.upper) {
            (Some((length, first)), lower, upper) => (lower.unwrap_or(*first), upper.unwrap_or(first + length - 1)),
            (None, Some(lower), Some(upper)) => (lower, upper),
            (None, ..) => {
                return Err(wrong("array slice subscript must provide both boundaries")
                    .detail("When assigning to a slice of an empty array value, slice boundaries must be fully specified."));
            }
        };
        if lower > upper {
            return Err(wrong("upper bound cannot be less than lower bound"));
        }
        ranges.push((lower, upper));
    }
    ranges.extend(target.dims.iter().skip(ranges.len()).map(|(length, lower)| (*lower, lower + length - 1)));
    let wanted = ranges.iter().try_fold(1i64, |count, (lower, upper)| count.checked_mul(i64::from(*upper) - i64::from(*lower) + 1));
    let wanted = wanted.filter(|count| *count <= source.elements.len() as i64).ok_or_else(|| wrong("source array too small"))?;
    if fresh {
        target.dims = ranges.iter().map(|(lower, upper)| (upper - lower + 1, *lower)).collect();
        target.elements = source.elements[..wanted as usize].to_vec();
        return Ok(Datum::Array(Arc::new(target)));
    }
    if let [(lower, upper)] = ranges.as_slice() {
        grow(&mut target, *lower, *upper)?;
    }
    fill(&mut target, &ranges, &source.elements)?;
    Ok(Datum::Array(Arc::new(target)))
}

/// Puts the values, in row-major order, where the ranges say.
fn fill(target: &mut Array, ranges: &[(i32, i32)], values: &[Datum]) -> Result<(), SqlError> {
    let mut indexes: Vec<i32> = ranges.iter().map(|(lower, _)| *lower).collect();
    for value in values {
        let at = place(&target.dims, &indexes).ok_or_else(|| wrong("array subscript out of range"))?;
        target.elements[at] = value.clone();
        let Some(next) = (0..ranges.len()).rev().find(|dimension| indexes[*dimension] < ranges[*dimension].1) else { break };
        indexes[next] += 1;
        for dimension in next + 1..ranges.len() {
            indexes[dimension] = ranges[dimension].0;
        }
    }
    Ok(())
}

/// Elements that one assignment may add to a JSON array.
const GAP_MAX: usize = 1 << 20;

/// `(jsonb, value, steps ...)`
fn assign_member(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let mut steps = Vec::with_capacity(args.len() - 2);
    for step in &args[2..] {
        let Datum::Text(step) = step else {
            return Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "jsonb subscript in assignment must not be null"));
        };
        steps.push(step.as_str());
    }
    // An SQL NULL is assigned as a JSON one.
    let value = if args[1].is_null() { Json::Null } else { (**json::jsonb(args, 1)?).clone() };
    let mut whole = if args[0].is_null() { container(steps.first()) } else { (**json::jsonb(args, 0)?).clone() };
    put(&mut whole, &steps, 1, value)?;
    json::out_jsonb(whole)
}

/// What a step is made in.
fn container(step: Option<&&str>) -> Json {
    if step.is_some_and(|step| step.parse::<i32>().is_ok()) { Json::Array(Vec::new()) } else { Json::Object(Vec::new()) }
}

fn put(target: &mut Json, steps: &[&str], depth: usize, value: Json) -> Result<(), SqlError> {
    let [step, rest @ ..] = steps else {
        *target = value;
        return Ok(());
    };
    match target {
        Json::Object(pairs) => {
            let at = match pairs.binary_search_by(|(have, _)| key_order(have, step)) {
                Ok(at) => at,
                Err(at) => {
                    pairs.insert(at, ((*step).into(), container(rest.first())));
                    at
                }
            };
            put(&mut pairs[at].1, rest, depth + 1, value)
        }
        Json::Array(items) => {
            let index: i64 = step.parse::<i32>().map(i64::from).map_err(|_| {
                let message = format!("path element at position {depth} is not an integer: \"{step}\"");
                SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, message)
            })?;
            let place = if index < 0 { index + items.len() as i64 } else { index };
            let out_of_range = || {
                let message = format!("path element at position {depth} is out of range: {index}");
                SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
            };
            let at = usize::try_from(place).ok().filter(|at| *at <= items.len() + GAP_MAX).ok_or_else(out_of_range)?;
            if at >= items.len() {
                items.resize(at, Json::Null);
                items.push(container(rest.first()));
            }
            put(&mut items[at], rest, depth + 1, value)
        }
        _ => Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, "cannot replace existing key")
            .detail("The path assumes key is a composite object, but it is a scalar value.")),
    }
}

const ANY: DataType = DataType::ANY;
const ARRAY: DataType = DataType::ANYARRAY;

/// `SET a[i] = value`
pub static ASSIGN_ELEMENT: BuiltinFunction =
    BuiltinFunction::new("assign_element", &[ARRAY, ANY], ARRAY, assign_element).nullable().variadic();
/// `SET a[i:j] = array`
pub static ASSIGN_SLICE: BuiltinFunction =
    BuiltinFunction::new("assign_slice", &[ARRAY, ARRAY, ANY], ARRAY, assign_slice).nullable().variadic();
/// `SET j['k'] = value`
pub static ASSIGN_MEMBER: BuiltinFunction =
    BuiltinFunction::new("assign_member", &[DataType::JSONB, DataType::JSONB, ANY], DataType::JSONB, assign_member).nullable().variadic();
