//! Taking JSON apart: `->`, `->>`, `#>`, `#>>`, containment and existence.

use super::super::args::{Answer, array, int, text};
use super::super::{BuiltinFunction, EvalFn};
use super::{invalid, json, jsonb, out_jsonb};
use crate::error::SqlError;
use crate::expr::EvalContext;
use crate::types::json::{self as values, Node, Value, compare, position};
use crate::types::{DataType, Datum, Json};

const JSON: DataType = DataType::JSON;
const JSONB: DataType = DataType::JSONB;
const TEXT: DataType = DataType::TEXT;
const TEXT_ARRAY: DataType = DataType::TEXT_ARRAY;
const INT4: DataType = DataType::INT4;
const BOOL: DataType = DataType::BOOL;

/// A step into a value: a key's name or an element's place.
enum Step<'a> {
    Key(&'a str),
    Index(i64),
    /// An element of a path array: a name in an object, a place in an array.
    Either(&'a str),
}

fn step_into<'a>(value: &'a Json, step: &Step<'_>) -> Option<&'a Json> {
    match step {
        Step::Key(key) => value.get(key),
        // A bare scalar is stored as an array of one, which shows here.
        Step::Index(0 | -1) if !value.is_container() => Some(value),
        Step::Index(index) => value.at(*index),
        Step::Either(text) => match value {
            Json::Array(_) => value.at(text.trim().parse::<i32>().ok()?.into()),
            other => other.get(text),
        },
    }
}

/// The same in a text; of repeated keys the last one counts.
fn step_into_node<'a>(node: Node<'a>, step: &Step<'_>) -> Option<Node<'a>> {
    let element = |items: Vec<Node<'a>>, index: i64| {
        let at = position(index, items.len())?;
        items.into_iter().nth(at)
    };
    match (node.value, step) {
        (Value::Object(pairs), Step::Key(key) | Step::Either(key)) => pairs.into_iter().rev().find(|(have, _)| have == key).map(|(_, v)| v),
        (Value::Array(items), Step::Index(index)) => element(items, *index),
        (Value::Array(items), Step::Either(text)) => element(items, text.trim().parse::<i32>().ok()?.into()),
        _ => None,
    }
}

fn node_as_text(node: Node<'_>) -> Datum {
    match node.value {
        Value::Null => Datum::Null,
        Value::String(text) => Datum::text(text),
        _ => Datum::text(node.raw),
    }
}

fn json_step(args: &[Datum], step: &Step<'_>, as_text: bool) -> Answer {
    let found = step_into_node(values::parse::parse(json(args, 0)?)?, step);
    Ok(match found {
        None => Datum::Null,
        Some(node) if as_text => node_as_text(node),
        Some(node) => Datum::Json(node.raw.into()),
    })
}

fn jsonb_step(args: &[Datum], step: &Step<'_>, as_text: bool) -> Answer {
    Ok(jsonb_result(step_into(jsonb(args, 0)?, step), as_text))
}

fn jsonb_result(found: Option<&Json>, as_text: bool) -> Datum {
    match found {
        None => Datum::Null,
        Some(value) if as_text => value.as_text().map_or(Datum::Null, Datum::Text),
        Some(value) => Datum::Jsonb(std::sync::Arc::new(value.clone())),
    }
}

fn json_field(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    json_step(args, &Step::Key(text(args, 1)?), false)
}
fn json_field_text(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    json_step(args, &Step::Key(text(args, 1)?), true)
}
fn json_element(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    json_step(args, &Step::Index(int(args, 1)?), false)
}
fn json_element_text(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    json_step(args, &Step::Index(int(args, 1)?), true)
}
fn jsonb_field(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    jsonb_step(args, &Step::Key(text(args, 1)?), false)
}
fn jsonb_field_text(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    jsonb_step(args, &Step::Key(text(args, 1)?), true)
}
fn jsonb_element(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    jsonb_step(args, &Step::Index(int(args, 1)?), false)
}
fn jsonb_element_text(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    jsonb_step(args, &Step::Index(int(args, 1)?), true)
}

/// The texts of a path; `None` when one is NULL.
fn path_texts<'a>(path: &'a [Datum]) -> Option<Vec<&'a str>> {
    let as_text = |element: &'a Datum| if let Datum::Text(text) = element { Some(text.as_str()) } else { None };
    path.iter().map(as_text).collect()
}

fn json_walk(args: &[Datum], path: &[Datum], as_text: bool) -> Answer {
    let Some(path) = path_texts(path) else { return Ok(Datum::Null) };
    let mut node = values::parse::parse(json(args, 0)?)?;
    for step in path {
        match step_into_node(node, &Step::Either(step)) {
            Some(inner) => node = inner,
            None => return Ok(Datum::Null),
        }
    }
    Ok(if as_text { node_as_text(node) } else { Datum::Json(node.raw.into()) })
}

fn jsonb_walk(args: &[Datum], path: &[Datum], as_text: bool) -> Answer {
    let Some(path) = path_texts(path) else { return Ok(Datum::Null) };
    let mut value: &Json = jsonb(args, 0)?;
    for step in path {
        match step_into(value, &Step::Either(step)) {
            Some(inner) => value = inner,
            None => return Ok(Datum::Null),
        }
    }
    Ok(jsonb_result(Some(value), as_text))
}

fn json_path(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    json_walk(args, &array(args, 1)?.elements, false)
}
fn json_path_text(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    json_walk(args, &array(args, 1)?.elements, true)
}
fn jsonb_path(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    jsonb_walk(args, &array(args, 1)?.elements, false)
}
fn jsonb_path_text(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    jsonb_walk(args, &array(args, 1)?.elements, true)
}
pub(in crate::functions) fn json_extract(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    json_walk(args, &args[1..], false)
}
pub(in crate::functions) fn json_extract_text(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    json_walk(args, &args[1..], true)
}
pub(in crate::functions) fn jsonb_extract(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    jsonb_walk(args, &args[1..], false)
}
pub(in crate::functions) fn jsonb_extract_text(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    jsonb_walk(args, &args[1..], true)
}

fn contains(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bool(compare::contains(jsonb(args, 0)?, jsonb(args, 1)?)))
}
fn contained(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bool(compare::contains(jsonb(args, 1)?, jsonb(args, 0)?)))
}
fn exists(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bool(compare::has_key(jsonb(args, 0)?, text(args, 1)?)))
}
fn keys_wanted(args: &[Datum]) -> Result<impl Iterator<Item = &str>, SqlError> {
    // NULLs among the keys are passed over.
    Ok(array(args, 1)?.elements.iter().filter_map(|key| if let Datum::Text(text) = key { Some(text.as_str()) } else { None }))
}
fn exists_any(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let value = jsonb(args, 0)?;
    Ok(Datum::Bool(keys_wanted(args)?.any(|key| compare::has_key(value, key))))
}
fn exists_all(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let value = jsonb(args, 0)?;
    Ok(Datum::Bool(keys_wanted(args)?.all(|key| compare::has_key(value, key))))
}

fn json_typeof(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::text(values::parse::parse(json(args, 0)?)?.value.type_name()))
}
fn jsonb_typeof(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::text(jsonb(args, 0)?.type_name()))
}

fn no_length(kind: &str) -> SqlError {
    let what = if kind == "object" { "a non-array" } else { "a scalar" };
    invalid(format!("cannot get array length of {what}"))
}
fn json_array_length(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    match values::parse::parse(json(args, 0)?)?.value {
        Value::Array(items) => Ok(Datum::Int4(items.len() as i32)),
        other => Err(no_length(other.type_name())),
    }
}
fn jsonb_array_length(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    match &**jsonb(args, 0)? {
        Json::Array(items) => Ok(Datum::Int4(items.len() as i32)),
        other => Err(no_length(other.type_name())),
    }
}

/// `value['a'][0]`: the binder builds calls of it with the subscripts as texts.
fn subscript(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    jsonb_walk(args, &args[1..], false)
}

/// jsonb subscripts; no name finds it.
pub static SUBSCRIPT: BuiltinFunction = BuiltinFunction::new("jsonb_subscript", &[JSONB, TEXT], JSONB, subscript).variadic();

fn same(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    out_jsonb((**jsonb(args, 0)?).clone())
}

const fn f(name: &'static str, args: &'static [DataType], result: DataType, eval: EvalFn) -> BuiltinFunction {
    BuiltinFunction::new(name, args, result, eval)
}

/// All of them.
#[rustfmt::skip]
pub(in super::super) static FUNCTIONS: &[BuiltinFunction] = &[
    f("->", &[JSON, TEXT], JSON, json_field), f("->", &[JSON, INT4], JSON, json_element), f("->>", &[JSON, TEXT], TEXT, json_field_text), f("->>", &[JSON, INT4], TEXT, json_element_text),
    f("->", &[JSONB, TEXT], JSONB, jsonb_field), f("->", &[JSONB, INT4], JSONB, jsonb_element), f("->>", &[JSONB, TEXT], TEXT, jsonb_field_text), f("->>", &[JSONB, INT4], TEXT, jsonb_element_text),
    f("json_object_field", &[JSON, TEXT], JSON, json_field), f("json_object_field_text", &[JSON, TEXT], TEXT, json_field_text), f("json_array_element", &[JSON, INT4], JSON, json_element), f("json_array_element_text", &[JSON, INT4], TEXT, json_element_text),
    f("jsonb_object_field", &[JSONB, TEXT], JSONB, jsonb_field), f("jsonb_object_field_text", &[JSONB, TEXT], TEXT, jsonb_field_text), f("jsonb_array_element", &[JSONB, INT4], JSONB, jsonb_element), f("jsonb_array_element_text", &[JSONB, INT4], TEXT, jsonb_element_text),
    f("#>", &[JSON, TEXT_ARRAY], JSON, json_path), f("#>>", &[JSON, TEXT_ARRAY], TEXT, json_path_text), f("#>", &[JSONB, TEXT_ARRAY], JSONB, jsonb_path), f("#>>", &[JSONB, TEXT_ARRAY], TEXT, jsonb_path_text),
    f("json_extract_path", &[JSON, TEXT], JSON, json_extract).variadic(), f("json_extract_path_text", &[JSON, TEXT], TEXT, json_extract_text).variadic(), f("jsonb_extract_path", &[JSONB, TEXT], JSONB, jsonb_extract).variadic(), f("jsonb_extract_path_text", &[JSONB, TEXT], TEXT, jsonb_extract_text).variadic(),
    f("json_extract_path", &[JSON], JSON, |_, args| Ok(args[0].clone())), f("jsonb_extract_path", &[JSONB], JSONB, same),
    f("@>", &[JSONB, JSONB], BOOL, contains), f("<@", &[JSONB, JSONB], BOOL, contained), f("?", &[JSONB, TEXT], BOOL, exists), f("?|", &[JSONB, TEXT_ARRAY], BOOL, exists_any), f("?&", &[JSONB, TEXT_ARRAY], BOOL, exists_all),
    f("jsonb_contains", &[JSONB, JSONB], BOOL, contains), f("jsonb_contained", &[JSONB, JSONB], BOOL, contained), f("jsonb_exists", &[JSONB, TEXT], BOOL, exists), f("jsonb_exists_any", &[JSONB, TEXT_ARRAY], BOOL, exists_any), f("jsonb_exists_all", &[JSONB, TEXT_ARRAY], BOOL, exists_all),
    f("json_typeof", &[JSON], TEXT, json_typeof), f("jsonb_typeof", &[JSONB], TEXT, jsonb_typeof), f("json_array_length", &[JSON], INT4, json_array_length), f("jsonb_array_length", &[JSONB], INT4, jsonb_array_length),
];
