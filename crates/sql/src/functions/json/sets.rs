//! JSON as rows: `json_each`, `json_array_elements`, `json_object_keys`, `jsonb_path_query`.

use super::super::set_returning::{SetEvalFn, SetFunction, SetRows};
use super::{invalid, json, jsonb, path};
use crate::error::SqlError;
use crate::expr::EvalContext;
use crate::types::json::{Node, Value, parse::parse};
use crate::types::{DataType, Datum, Json};
use std::sync::Arc;

const JSON: DataType = DataType::JSON;
const JSONB: DataType = DataType::JSONB;
const TEXT: DataType = DataType::TEXT;
const PATH: DataType = DataType::JSONPATH;

/// What a function wants of its argument.
#[derive(Clone, Copy)]
enum Wanted {
    Members,
    Keys,
    Elements,
}

fn refusal(wanted: Wanted, kind: &str, name: &str) -> SqlError {
    let scalar = !matches!(kind, "array" | "object");
    invalid(match (wanted, scalar) {
        (Wanted::Members, true) if name.starts_with("json_") => "cannot deconstruct a scalar".to_owned(),
        (Wanted::Members, true) => format!("cannot call {name} on a non-object"),
        (Wanted::Members, false) if name.starts_with("json_") => "cannot deconstruct an array as an object".to_owned(),
        (Wanted::Members, false) => format!("cannot call {name} on a non-object"),
        (Wanted::Keys, true) => format!("cannot call {name} on a scalar"),
        (Wanted::Keys, false) => format!("cannot call {name} on an array"),
        (Wanted::Elements, true) if name.starts_with("json_") => format!("cannot call {name} on a scalar"),
        (Wanted::Elements, true) => "cannot extract elements from a scalar".to_owned(),
        (Wanted::Elements, false) if name.starts_with("json_") => format!("cannot call {name} on a non-array"),
        (Wanted::Elements, false) => "cannot extract elements from an object".to_owned(),
    })
}

fn rows(values: Vec<Datum>) -> Result<SetRows, SqlError> {
    Ok(Box::new(values.into_iter().map(Ok)))
}

fn node_value(node: Node<'_>, as_text: bool) -> Datum {
    match node.value {
        _ if !as_text => Datum::Json(node.raw.into()),
        Value::Null => Datum::Null,
        Value::String(text) => Datum::text(text),
        _ => Datum::text(node.raw),
    }
}

fn tree_value(value: &Json, as_text: bool) -> Datum {
    if as_text { value.as_text().map_or(Datum::Null, Datum::Text) } else { Datum::Jsonb(Arc::new(value.clone())) }
}

fn json_members(args: &[Datum], name: &str, as_text: bool) -> Result<SetRows, SqlError> {
    match parse(json(args, 0)?)?.value {
        Value::Object(pairs) => {
            rows(pairs.into_iter().map(|(key, node)| Datum::record(vec![Datum::text(key), node_value(node, as_text)])).collect())
        }
        other => Err(refusal(Wanted::Members, other.type_name(), name)),
    }
}

fn jsonb_members(args: &[Datum], name: &str, as_text: bool) -> Result<SetRows, SqlError> {
    match &**jsonb(args, 0)? {
        Json::Object(pairs) => {
            rows(pairs.iter().map(|(key, value)| Datum::record(vec![Datum::Text(key.clone()), tree_value(value, as_text)])).collect())
        }
        other => Err(refusal(Wanted::Members, other.type_name(), name)),
    }
}

fn json_each(_: &EvalContext<'_>, args: &[Datum]) -> Result<SetRows, SqlError> {
    json_members(args, "json_each", false)
}
fn json_each_text(_: &EvalContext<'_>, args: &[Datum]) -> Result<SetRows, SqlError> {
    json_members(args, "json_each_text", true)
}
fn jsonb_each(_: &EvalContext<'_>, args: &[Datum]) -> Result<SetRows, SqlError> {
    jsonb_members(args, "jsonb_each", false)
}
fn jsonb_each_text(_: &EvalContext<'_>, args: &[Datum]) -> Result<SetRows, SqlError> {
    jsonb_members(args, "jsonb_each_text", true)
}

fn json_object_keys(_: &EvalContext<'_>, args: &[Datum]) -> Result<SetRows, SqlError> {
    match parse(json(args, 0)?)?.value {
        Value::Object(pairs) => rows(pairs.into_iter().map(|(key, _)| Datum::text(key)).collect()),
        other => Err(refusal(Wanted::Keys, other.type_name(), "json_object_keys")),
    }
}
fn jsonb_object_keys(_: &EvalContext<'_>, args: &[Datum]) -> Result<SetRows, SqlError> {
    match &**jsonb(args, 0)? {
        Json::Object(pairs) => rows(pairs.iter().map(|(key, _)| Datum::Text(key.clone())).collect()),
        other => Err(refusal(Wanted::Keys, other.type_name(), "jsonb_object_keys")),
    }
}

fn json_elements(args: &[Datum], name: &str, as_text: bool) -> Result<SetRows, SqlError> {
    match parse(json(args, 0)?)?.value {
        Value::Array(items) => rows(items.into_iter().map(|node| node_value(node, as_text)).collect()),
        other => Err(refusal(Wanted::Elements, other.type_name(), name)),
    }
}
fn jsonb_elements(args: &[Datum], as_text: bool) -> Result<SetRows, SqlError> {
    match &**jsonb(args, 0)? {
        Json::Array(items) => rows(items.iter().map(|item| tree_value(item, as_text)).collect()),
        other => Err(refusal(Wanted::Elements, other.type_name(), "jsonb_array_elements")),
    }
}
fn json_array_elements(_: &EvalContext<'_>, args: &[Datum]) -> Result<SetRows, SqlError> {
    json_elements(args, "json_array_elements", false)
}
fn json_array_elements_text(_: &EvalContext<'_>, args: &[Datum]) -> Result<SetRows, SqlError> {
    json_elements(args, "json_array_elements_text", true)
}
fn jsonb_array_elements(_: &EvalContext<'_>, args: &[Datum]) -> Result<SetRows, SqlError> {
    jsonb_elements(args, false)
}
fn jsonb_array_elements_text(_: &EvalContext<'_>, args: &[Datum]) -> Result<SetRows, SqlError> {
    jsonb_elements(args, true)
}

fn path_query(_: &EvalContext<'_>, args: &[Datum]) -> Result<SetRows, SqlError> {
    let items = path::items(args)?.unwrap_or_default();
    rows(items.into_iter().map(|item| Datum::Jsonb(Arc::new(item))).collect())
}

/// A function that yields key and value.
const fn pairs(
    name: &'static str,
    argument: &'static [DataType],
    columns: &'static [(&'static str, DataType)],
    eval: SetEvalFn,
) -> SetFunction {
    SetFunction { name, args: argument, result: DataType::RECORD, columns, column: None, strict: true, eval }
}

const fn f(name: &'static str, args: &'static [DataType], result: DataType, eval: SetEvalFn) -> SetFunction {
    SetFunction { name, args, result, columns: &[], column: None, strict: true, eval }
}

/// A function whose column is called `value`.
const fn value(name: &'static str, args: &'static [DataType], result: DataType, eval: SetEvalFn) -> SetFunction {
    SetFunction { column: Some("value"), ..f(name, args, result, eval) }
}

/// All of them.
#[rustfmt::skip]
pub(in super::super) static FUNCTIONS: &[SetFunction] = &[
    pairs("json_each", &[JSON], &[("key", TEXT), ("value", JSON)], json_each), pairs("json_each_text", &[JSON], &[("key", TEXT), ("value", TEXT)], json_each_text), pairs("jsonb_each", &[JSONB], &[("key", TEXT), ("value", JSONB)], jsonb_each), pairs("jsonb_each_text", &[JSONB], &[("key", TEXT), ("value", TEXT)], jsonb_each_text),
    f("json_object_keys", &[JSON], TEXT, json_object_keys), f("jsonb_object_keys", &[JSONB], TEXT, jsonb_object_keys),
    value("json_array_elements", &[JSON], JSON, json_array_elements), value("json_array_elements_text", &[JSON], TEXT, json_array_elements_text), value("jsonb_array_elements", &[JSONB], JSONB, jsonb_array_elements), value("jsonb_array_elements_text", &[JSONB], TEXT, jsonb_array_elements_text),
    f("jsonb_path_query", &[JSONB, PATH], JSONB, path_query), f("jsonb_path_query", &[JSONB, PATH, JSONB], JSONB, path_query), f("jsonb_path_query", &[JSONB, PATH, JSONB, DataType::BOOL], JSONB, path_query),
    f("jsonb_path_query_tz", &[JSONB, PATH], JSONB, path_query), f("jsonb_path_query_tz", &[JSONB, PATH, JSONB], JSONB, path_query), f("jsonb_path_query_tz", &[JSONB, PATH, JSONB, DataType::BOOL], JSONB, path_query),
];
