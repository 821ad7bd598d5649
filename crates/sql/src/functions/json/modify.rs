//! Changing JSON: `jsonb_set`, `jsonb_insert`, `||`, `-`, `#-`, `strip_nulls`, `jsonb_pretty`.

use super::super::args::{Answer, array, boolean, int, out, text};
use super::super::{BuiltinFunction, EvalFn};
use super::{invalid, json, jsonb, out_jsonb};
use crate::error::{SqlError, SqlState};
use crate::expr::EvalContext;
use crate::types::json::{Node, Value, key_order, parse::parse, position, write_string};
use crate::types::{DataType, Datum, Json};

const JSON: DataType = DataType::JSON;
const JSONB: DataType = DataType::JSONB;
const TEXT: DataType = DataType::TEXT;
const TEXT_ARRAY: DataType = DataType::TEXT_ARRAY;
const INT4: DataType = DataType::INT4;
const BOOL: DataType = DataType::BOOL;

/// What to do at the end of a path.
#[derive(Clone, Copy)]
enum Change<'a> {
    /// `jsonb_set`: replace, and create if the flag says so.
    Set { value: &'a Json, create: bool },
    /// `jsonb_insert`: put before, or after; never replace.
    Insert { value: &'a Json, after: bool },
    /// `#-`
    Delete,
}

/// The steps of a path argument; a NULL among them is an error once it is reached.
fn steps(args: &[Datum], at: usize) -> Result<Vec<Option<&str>>, SqlError> {
    let path = array(args, at)?;
    if path.dims.len() > 1 {
        return Err(SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, "wrong number of array subscripts"));
    }
    Ok(path.elements.iter().map(|step| if let Datum::Text(step) = step { Some(step.as_str()) } else { None }).collect())
}

fn changed(args: &[Datum], change: Change<'_>) -> Answer {
    let mut value = (**jsonb(args, 0)?).clone();
    let steps = steps(args, 1)?;
    if !value.is_container() {
        let what = if matches!(change, Change::Delete) { "delete path in" } else { "set path in" };
        return Err(invalid(format!("cannot {what} scalar")));
    }
    if !steps.is_empty() {
        apply(&mut value, &steps, 1, change)?;
    }
    out_jsonb(value)
}

/// Follows the path; a step that leads nowhere leaves everything as it is.
fn apply(value: &mut Json, steps: &[Option<&str>], depth: usize, change: Change<'_>) -> Result<(), SqlError> {
    let [step, rest @ ..] = steps else { return Ok(()) };
    let Some(step) = step else {
        return Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, format!("path element at position {depth} is null")));
    };
    match value {
        Json::Object(pairs) => {
            let found = pairs.binary_search_by(|(have, _)| key_order(have, step));
            match (found, rest.is_empty()) {
                (Ok(at), false) => apply(&mut pairs[at].1, rest, depth + 1, change)?,
                (Ok(at), true) => change_member(pairs, at, change)?,
                (Err(at), true) => match change {
                    Change::Set { value, create: true } | Change::Insert { value, .. } => pairs.insert(at, ((*step).into(), value.clone())),
                    _ => {}
                },
                (Err(_), false) => {}
            }
        }
        Json::Array(items) => {
            let index: i64 = step.trim().parse::<i32>().map(i64::from).map_err(|_| {
                SqlError::new(
                    SqlState::INVALID_TEXT_REPRESENTATION,
                    format!("path element at position {depth} is not an integer: \"{step}\""),
                )
            })?;
            match (position(index, items.len()), rest.is_empty()) {
                (Some(at), false) => apply(&mut items[at], rest, depth + 1, change)?,
                (found, true) => change_element(items, index, found, change),
                (None, false) => {}
            }
        }
        _ => {}
    }
    Ok(())
}

fn change_member(pairs: &mut Vec<(compact_str::CompactString, Json)>, at: usize, change: Change<'_>) -> Result<(), SqlError> {
    match change {
        Change::Set { value, .. } => pairs[at].1 = value.clone(),
        Change::Insert { .. } => {
            return Err(invalid("cannot replace existing key").hint("Try using the function jsonb_set to replace key value."));
        }
        Change::Delete => {
            pairs.remove(at);
        }
    }
    Ok(())
}

/// A place outside the array is its beginning or its end, when something is put there.
fn change_element(items: &mut Vec<Json>, index: i64, found: Option<usize>, change: Change<'_>) {
    match (change, found) {
        (Change::Set { value, .. }, Some(at)) => items[at] = value.clone(),
        (Change::Insert { value, after }, Some(at)) => items.insert(at + usize::from(after), value.clone()),
        (Change::Set { value, create: true } | Change::Insert { value, .. }, None) => {
            let at = if index < 0 { 0 } else { items.len() };
            items.insert(at, value.clone());
        }
        (Change::Delete, Some(at)) => {
            items.remove(at);
        }
        (Change::Set { .. } | Change::Delete, None) => {}
    }
}

fn set(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let create = args.len() < 4 || boolean(args, 3)?;
    changed(args, Change::Set { value: jsonb(args, 2)?, create })
}

fn insert(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let after = args.len() > 3 && boolean(args, 3)?;
    changed(args, Change::Insert { value: jsonb(args, 2)?, after })
}

fn delete_path(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    changed(args, Change::Delete)
}

/// `jsonb_set_lax`: what an SQL NULL as the new value means is the last argument.
fn set_lax(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    if args[0].is_null() || args[1].is_null() || args.get(3).is_some_and(Datum::is_null) {
        return Ok(Datum::Null);
    }
    if !args[2].is_null() {
        return set(ctx, &args[..args.len().min(4)]);
    }
    let treatment = match args.get(4) {
        None => "use_json_null",
        Some(Datum::Null) => {
            return Err(invalid(
                "null_value_treatment must be \"delete_key\", \"return_target\", \"use_json_null\", or \"raise_exception\"",
            ));
        }
        Some(_) => text(args, 4)?,
    };
    match treatment {
        "raise_exception" => Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "JSON value must not be null")
            .detail("Exception was raised because null_value_treatment is \"raise_exception\".")
            .hint("To avoid, either change the null_value_treatment argument or ensure that an SQL NULL is not passed.")),
        "use_json_null" => {
            let create = args.len() < 4 || boolean(args, 3)?;
            changed(args, Change::Set { value: &Json::Null, create })
        }
        "delete_key" => changed(args, Change::Delete),
        "return_target" => Ok(args[0].clone()),
        _ => Err(invalid("null_value_treatment must be \"delete_key\", \"return_target\", \"use_json_null\", or \"raise_exception\"")),
    }
}

// ---- || and -

/// Objects are united; anything else becomes an array and is put behind one another.
fn concat(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (left, right) = ((**jsonb(args, 0)?).clone(), (**jsonb(args, 1)?).clone());
    if let (Json::Object(mut a), Json::Object(b)) = (left.clone(), right.clone()) {
        a.extend(b);
        return out_jsonb(Json::object(a));
    }
    let as_items = |value: Json| match value {
        Json::Array(items) => items,
        other => vec![other],
    };
    let mut items = as_items(left);
    items.extend(as_items(right));
    out_jsonb(Json::Array(items))
}

fn without_keys(value: &Json, gone: impl Fn(&str) -> bool) -> Answer {
    out_jsonb(match value {
        Json::Object(pairs) => Json::Object(pairs.iter().filter(|(key, _)| !gone(key)).cloned().collect()),
        Json::Array(items) => Json::Array(items.iter().filter(|item| !matches!(item, Json::String(text) if gone(text))).cloned().collect()),
        _ => return Err(invalid("cannot delete from scalar")),
    })
}

fn minus_key(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let key = text(args, 1)?;
    without_keys(jsonb(args, 0)?, |have| have == key)
}

fn minus_keys(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let keys = &array(args, 1)?.elements;
    without_keys(jsonb(args, 0)?, |have| keys.iter().any(|key| matches!(key, Datum::Text(key) if key == have)))
}

fn minus_index(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    match &**jsonb(args, 0)? {
        Json::Array(items) => {
            let gone = position(int(args, 1)?, items.len());
            out_jsonb(Json::Array(items.iter().enumerate().filter(|(at, _)| Some(*at) != gone).map(|(_, item)| item.clone()).collect()))
        }
        Json::Object(_) => Err(invalid("cannot delete from object using integer index")),
        _ => Err(invalid("cannot delete from scalar")),
    }
}

// ---- the rest

/// Writes a text again without the members that are null; what is not touched loses its blanks.
fn write_stripped(node: &Node<'_>, out: &mut String) {
    match &node.value {
        Value::Object(pairs) => {
            out.push('{');
            for (at, (key, value)) in pairs.iter().filter(|(_, v)| !matches!(v.value, Value::Null)).enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                write_string(key, out);
                out.push(':');
                write_stripped(value, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                write_stripped(item, out);
            }
            out.push(']');
        }
        Value::String(text) => write_string(text, out),
        _ => out.push_str(node.raw),
    }
}

fn json_strip_nulls(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let mut out = String::new();
    write_stripped(&parse(json(args, 0)?)?, &mut out);
    Ok(Datum::Json(out.into()))
}

fn stripped(value: &Json) -> Json {
    match value {
        Json::Object(pairs) => {
            let kept = pairs.iter().filter(|(_, value)| !matches!(value, Json::Null));
            Json::Object(kept.map(|(key, value)| (key.clone(), stripped(value))).collect())
        }
        Json::Array(items) => Json::Array(items.iter().map(stripped).collect()),
        scalar => scalar.clone(),
    }
}

fn jsonb_strip_nulls(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    out_jsonb(stripped(jsonb(args, 0)?))
}

fn pretty(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let mut shown = String::new();
    jsonb(args, 0)?.write_pretty(0, &mut shown);
    out(shown)
}

const fn f(name: &'static str, args: &'static [DataType], result: DataType, eval: EvalFn) -> BuiltinFunction {
    BuiltinFunction::new(name, args, result, eval)
}

/// All of them.
#[rustfmt::skip]
pub(in super::super) static FUNCTIONS: &[BuiltinFunction] = &[
    f("jsonb_set", &[JSONB, TEXT_ARRAY, JSONB], JSONB, set), f("jsonb_set", &[JSONB, TEXT_ARRAY, JSONB, BOOL], JSONB, set), f("jsonb_insert", &[JSONB, TEXT_ARRAY, JSONB], JSONB, insert), f("jsonb_insert", &[JSONB, TEXT_ARRAY, JSONB, BOOL], JSONB, insert),
    f("jsonb_set_lax", &[JSONB, TEXT_ARRAY, JSONB], JSONB, set_lax).nullable(), f("jsonb_set_lax", &[JSONB, TEXT_ARRAY, JSONB, BOOL], JSONB, set_lax).nullable(), f("jsonb_set_lax", &[JSONB, TEXT_ARRAY, JSONB, BOOL, TEXT], JSONB, set_lax).nullable(),
    f("#-", &[JSONB, TEXT_ARRAY], JSONB, delete_path), f("jsonb_delete_path", &[JSONB, TEXT_ARRAY], JSONB, delete_path), f("||", &[JSONB, JSONB], JSONB, concat), f("jsonb_concat", &[JSONB, JSONB], JSONB, concat),
    f("-", &[JSONB, TEXT], JSONB, minus_key), f("-", &[JSONB, TEXT_ARRAY], JSONB, minus_keys), f("-", &[JSONB, INT4], JSONB, minus_index), f("jsonb_delete", &[JSONB, TEXT], JSONB, minus_key), f("jsonb_delete", &[JSONB, INT4], JSONB, minus_index),
    f("json_strip_nulls", &[JSON], JSON, json_strip_nulls), f("jsonb_strip_nulls", &[JSONB], JSONB, jsonb_strip_nulls), f("jsonb_pretty", &[JSONB], TEXT, pretty),
];
