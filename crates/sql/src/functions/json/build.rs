//! From SQL values to JSON: `to_json`, `row_to_json`, `json_build_object`, `json_object` and their like.
//!
//! Numbers and booleans stay what they are, dates and times take ISO form, arrays and rows become arrays and objects, `json` and `jsonb` go in as they
//! are, and everything else is a string of its text form.

use super::super::args::{Answer, array, boolean};
use super::super::{BuiltinFunction, EvalFn};
use super::{invalid, out_jsonb};
use crate::error::{SqlError, SqlState};
use crate::expr::EvalContext;
use crate::types::json::{check_length, parse::is_number, write_string};
use crate::types::settings::DateOrder;
use crate::types::text::{self, natural_type};
use crate::types::{Array, DataType, Datum, FormatSettings, Json, Numeric, Record, TextContext};
use compact_str::CompactString;
use std::sync::Arc;

const JSON: DataType = DataType::JSON;
const JSONB: DataType = DataType::JSONB;
const TEXT_ARRAY: DataType = DataType::TEXT_ARRAY;
const BOOL: DataType = DataType::BOOL;
const ANY: DataType = DataType::ANY;
const RECORD: DataType = DataType::RECORD;

/// The text that stands in a JSON string for a value of a type without a JSON form.
pub(super) fn plain_text(value: &Datum, ty: DataType, ctx: &EvalContext<'_>) -> String {
    match value {
        Datum::Date(_) | Datum::Timestamp(_) | Datum::Timestamptz(_) => iso(value, ty, ctx),
        value => text::to_string(value, ty, &ctx.text()),
    }
}

/// `2020-01-31T12:00:00+01:00`, whatever DateStyle says.
fn iso(value: &Datum, ty: DataType, ctx: &EvalContext<'_>) -> String {
    let settings =
        FormatSettings { date_style: crate::types::settings::DateStyle::Iso, date_order: DateOrder::Ymd, ..ctx.settings.clone() };
    let mut shown = text::to_string(value, ty, &TextContext::new(&settings));
    if matches!(value, Datum::Date(_)) {
        return shown;
    }
    if let Some(blank) = shown.find(' ') {
        shown.replace_range(blank..=blank, "T");
    }
    // A zone of whole hours shows its minutes too.
    if let (Datum::Timestamptz(_), Some(sign)) = (value, shown.rfind(['+', '-']))
        && shown.len() - sign == 3
    {
        shown.push_str(":00");
    }
    shown
}

/// Appends a value's JSON form. `lines` puts the fields and elements of the outermost level on lines of their own.
pub(crate) fn write_json(value: &Datum, ty: DataType, lines: bool, ctx: &EvalContext<'_>, out: &mut String) -> Result<(), SqlError> {
    check_length(out.len())?;
    match value {
        Datum::Null => out.push_str("null"),
        Datum::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Datum::Json(text) => out.push_str(text),
        Datum::Jsonb(value) => value.write(out),
        Datum::Array(array) if !matches!(ty, DataType::INT2VECTOR | DataType::OIDVECTOR) || array.dims.len() == 1 => {
            write_array(array, 0, &mut array.elements.iter(), lines, ctx, out)?;
        }
        Datum::Record(record) => write_record(record, lines, ctx, out)?,
        value if is_numeric(value) => {
            let shown = text::to_string(value, ty, &ctx.text());
            if is_number(&shown) { out.push_str(&shown) } else { write_string(&shown, out) }
        }
        value => write_string(&plain_text(value, ty, ctx), out),
    }
    Ok(())
}

fn is_numeric(value: &Datum) -> bool {
    use Datum as D;
    matches!(value, D::Int2(_) | D::Int4(_) | D::Int8(_) | D::Float4(_) | D::Float8(_) | D::Numeric(_))
}

fn separator(lines: bool) -> &'static str {
    if lines { ",\n " } else { "," }
}

fn write_array<'a>(
    array: &Array,
    depth: usize,
    elements: &mut impl Iterator<Item = &'a Datum>,
    lines: bool,
    ctx: &EvalContext<'_>,
    out: &mut String,
) -> Result<(), SqlError> {
    out.push('[');
    let length = array.dims.get(depth).map_or(0, |dim| dim.0);
    for at in 0..length {
        out.push_str(if at == 0 { "" } else { separator(lines) });
        if depth + 1 < array.dims.len() {
            write_array(array, depth + 1, elements, false, ctx, out)?;
        } else if let Some(element) = elements.next() {
            write_json(element, array.element, false, ctx, out)?;
        }
    }
    out.push(']');
    Ok(())
}

fn write_record(record: &Record, lines: bool, ctx: &EvalContext<'_>, out: &mut String) -> Result<(), SqlError> {
    out.push('{');
    for (at, field) in record.iter().enumerate() {
        out.push_str(if at == 0 { "" } else { separator(lines) });
        write_string(&record.field_name(at), out);
        out.push(':');
        write_json(field, record.field_type(at), false, ctx, out)?;
    }
    out.push('}');
    Ok(())
}

/// A value as `jsonb`.
pub(crate) fn as_jsonb(value: &Datum, ty: DataType, ctx: &EvalContext<'_>) -> Result<Json, SqlError> {
    Ok(match value {
        Datum::Null => Json::Null,
        Datum::Bool(value) => Json::Bool(*value),
        Datum::Json(text) => Json::parse(text)?,
        Datum::Jsonb(value) => (**value).clone(),
        Datum::Array(array) => array_as_jsonb(array, 0, &mut array.elements.iter(), ctx)?,
        Datum::Record(record) => {
            let field = |at: usize, value: &Datum| Ok((record.field_name(at).into(), as_jsonb(value, record.field_type(at), ctx)?));
            Json::object(record.iter().enumerate().map(|(at, value)| field(at, value)).collect::<Result<_, SqlError>>()?)
        }
        value if is_numeric(value) => {
            let shown = text::to_string(value, ty, &ctx.text());
            if is_number(&shown) { Json::Number(Numeric::parse(&shown)?) } else { Json::string(shown) }
        }
        value => Json::string(plain_text(value, ty, ctx)),
    })
}

fn array_as_jsonb<'a>(
    array: &Array,
    depth: usize,
    elements: &mut impl Iterator<Item = &'a Datum>,
    ctx: &EvalContext<'_>,
) -> Result<Json, SqlError> {
    let length = array.dims.get(depth).map_or(0, |dim| dim.0.max(0) as usize);
    let mut items = Vec::with_capacity(length);
    for _ in 0..length {
        if depth + 1 < array.dims.len() {
            items.push(array_as_jsonb(array, depth + 1, elements, ctx)?);
        } else if let Some(element) = elements.next() {
            items.push(as_jsonb(element, array.element, ctx)?);
        }
    }
    Ok(Json::Array(items))
}

fn json_text(value: &Datum, lines: bool, ctx: &EvalContext<'_>) -> Answer {
    let mut out = String::new();
    write_json(value, natural_type(value), lines, ctx, &mut out)?;
    Ok(Datum::Json(out.into()))
}

fn to_json(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    json_text(&args[0], false, ctx)
}
fn to_json_lines(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    json_text(&args[0], boolean(args, 1)?, ctx)
}
fn to_jsonb(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    out_jsonb(as_jsonb(&args[0], natural_type(&args[0]), ctx)?)
}

/// A value as the name of a member.
pub(crate) fn key_text(value: &Datum, ctx: &EvalContext<'_>) -> Result<String, SqlError> {
    match value {
        Datum::Array(_) | Datum::Record(_) | Datum::Json(_) | Datum::Jsonb(_) => {
            Err(invalid("key value must be scalar, not array, composite, or json"))
        }
        Datum::Bool(value) => Ok(value.to_string()),
        value => Ok(plain_text(value, natural_type(value), ctx)),
    }
}

fn argument_key(args: &[Datum], at: usize, ctx: &EvalContext<'_>) -> Result<String, SqlError> {
    if args[at].is_null() {
        return Err(invalid(format!("argument {} cannot be null", at + 1)).hint("Object keys should be text."));
    }
    key_text(&args[at], ctx)
}

fn even(args: &[Datum], name: &str) -> Result<(), SqlError> {
    if args.len().is_multiple_of(2) {
        return Ok(());
    }
    Err(invalid("argument list must have even number of elements")
        .hint(format!("The arguments of {name}() must consist of alternating keys and values.")))
}

pub(in crate::functions) fn json_build_object(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    even(args, "json_build_object")?;
    let mut out = String::from("{");
    for at in (0..args.len()).step_by(2) {
        out.push_str(if at == 0 { "" } else { ", " });
        write_string(&argument_key(args, at, ctx)?, &mut out);
        out.push_str(" : ");
        write_json(&args[at + 1], natural_type(&args[at + 1]), false, ctx, &mut out)?;
    }
    out.push('}');
    Ok(Datum::Json(out.into()))
}

pub(in crate::functions) fn jsonb_build_object(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    even(args, "jsonb_build_object")?;
    let mut pairs = Vec::with_capacity(args.len() / 2);
    for at in (0..args.len()).step_by(2) {
        let value = as_jsonb(&args[at + 1], natural_type(&args[at + 1]), ctx)?;
        pairs.push((argument_key(args, at, ctx)?.into(), value));
    }
    out_jsonb(Json::object(pairs))
}

pub(in crate::functions) fn json_build_array(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let mut out = String::from("[");
    for (at, arg) in args.iter().enumerate() {
        out.push_str(if at == 0 { "" } else { ", " });
        write_json(arg, natural_type(arg), false, ctx, &mut out)?;
    }
    out.push(']');
    Ok(Datum::Json(out.into()))
}

pub(in crate::functions) fn jsonb_build_array(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    out_jsonb(Json::Array(args.iter().map(|arg| as_jsonb(arg, natural_type(arg), ctx)).collect::<Result<_, _>>()?))
}

// ---- json_object

/// Keys and values as texts: from one array of pairs, or from two arrays.
fn text_pairs(args: &[Datum]) -> Result<Vec<(CompactString, Option<CompactString>)>, SqlError> {
    let wrong = |message: &'static str| Err(SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message));
    let first = array(args, 0)?;
    let (keys, values): (Vec<&Datum>, Vec<&Datum>) = if args.len() > 1 {
        let second = array(args, 1)?;
        if first.dims.len() > 1 || second.dims.len() > 1 {
            return wrong("wrong number of array subscripts");
        }
        if first.elements.len() != second.elements.len() {
            return wrong("mismatched array dimensions");
        }
        (first.elements.iter().collect(), second.elements.iter().collect())
    } else {
        match first.dims.as_slice() {
            [] => {}
            [(length, _)] if length % 2 != 0 => return wrong("array must have even number of elements"),
            [_] | [_, (2, _)] => {}
            [_, _] => return wrong("array must have two columns"),
            _ => return wrong("wrong number of array subscripts"),
        }
        let pairs = first.elements.chunks(2).filter_map(|pair| if let [key, value] = pair { Some((key, value)) } else { None });
        pairs.unzip()
    };
    let text = |value: &Datum| if let Datum::Text(text) = value { Some(text.clone()) } else { None };
    let pair = |(key, value): (&Datum, &Datum)| match text(key) {
        Some(key) => Ok((key, text(value))),
        None => Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "null value not allowed for object key")),
    };
    keys.into_iter().zip(values).map(pair).collect()
}

fn json_object(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let mut out = String::from("{");
    for (at, (key, value)) in text_pairs(args)?.into_iter().enumerate() {
        out.push_str(if at == 0 { "" } else { ", " });
        write_string(&key, &mut out);
        out.push_str(" : ");
        match value {
            Some(value) => write_string(&value, &mut out),
            None => out.push_str("null"),
        }
    }
    out.push('}');
    Ok(Datum::Json(out.into()))
}

fn jsonb_object(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let pairs = text_pairs(args)?.into_iter();
    out_jsonb(Json::object(pairs.map(|(key, value)| (key, value.map_or(Json::Null, Json::String))).collect()))
}

// ---- aggregates

/// What `json_agg` and its three relatives have collected.
#[derive(Clone, Debug)]
pub(crate) enum Collected {
    /// `json_agg`: the text so far, without the closing bracket.
    Array(String),
    /// `json_object_agg`
    Object(String),
    /// `jsonb_agg`
    JsonbArray(Vec<Json>),
    /// `jsonb_object_agg`
    JsonbObject(Vec<(CompactString, Json)>, usize),
}

impl Collected {
    /// Takes one row's arguments, NULLs included.
    pub(crate) fn add(&mut self, args: &[Datum], ctx: &EvalContext<'_>) -> Result<(), SqlError> {
        let first = args.first().unwrap_or(&Datum::Null);
        let second = args.get(1).unwrap_or(&Datum::Null);
        match self {
            Collected::Array(out) => {
                let nested = matches!(first, Datum::Array(_) | Datum::Record(_));
                out.push_str(match (out.is_empty(), nested) {
                    (true, _) => "[",
                    (false, true) => ", \n ",
                    (false, false) => ", ",
                });
                write_json(first, natural_type(first), false, ctx, out)?;
            }
            Collected::Object(out) => {
                out.push_str(if out.is_empty() { "{ " } else { ", " });
                write_string(&member_key(first, ctx)?, out);
                out.push_str(" : ");
                write_json(second, natural_type(second), false, ctx, out)?;
            }
            Collected::JsonbArray(items) => items.push(as_jsonb(first, natural_type(first), ctx)?),
            Collected::JsonbObject(pairs, bytes) => {
                let key = member_key(first, ctx)?;
                *bytes += key.len();
                check_length(*bytes)?;
                pairs.push((key.into(), as_jsonb(second, natural_type(second), ctx)?));
            }
        }
        Ok(())
    }

    /// The value; NULL when no row came.
    pub(crate) fn finish(self) -> Datum {
        match self {
            Collected::Array(out) | Collected::Object(out) if out.is_empty() => Datum::Null,
            Collected::Array(out) => Datum::Json((out + "]").into()),
            Collected::Object(out) => Datum::Json((out + " }").into()),
            Collected::JsonbArray(items) if items.is_empty() => Datum::Null,
            Collected::JsonbArray(items) => Datum::Jsonb(Arc::new(Json::Array(items))),
            Collected::JsonbObject(pairs, _) if pairs.is_empty() => Datum::Null,
            Collected::JsonbObject(pairs, _) => Datum::Jsonb(Arc::new(Json::object(pairs))),
        }
    }

    /// Puts what another has collected behind.
    pub(crate) fn merge(&mut self, other: Collected) {
        match (self, other) {
            (Collected::Array(a), Collected::Array(b)) => append(a, &b, "["),
            (Collected::Object(a), Collected::Object(b)) => append(a, &b, "{ "),
            (Collected::JsonbArray(a), Collected::JsonbArray(b)) => a.extend(b),
            (Collected::JsonbObject(a, bytes), Collected::JsonbObject(b, more)) => {
                a.extend(b);
                *bytes += more;
            }
            _ => {}
        }
    }
}

fn append(a: &mut String, b: &str, opening: &str) {
    match (a.is_empty(), b.strip_prefix(opening)) {
        (true, _) => a.push_str(b),
        (false, Some(rest)) => {
            a.push_str(", ");
            a.push_str(rest);
        }
        (false, None) => {}
    }
}

fn member_key(value: &Datum, ctx: &EvalContext<'_>) -> Result<String, SqlError> {
    if value.is_null() {
        return Err(invalid("field name must not be null"));
    }
    key_text(value, ctx)
}

const fn f(name: &'static str, args: &'static [DataType], result: DataType, eval: EvalFn) -> BuiltinFunction {
    BuiltinFunction::new(name, args, result, eval).stable()
}

/// All of them.
#[rustfmt::skip]
pub(in super::super) static FUNCTIONS: &[BuiltinFunction] = &[
    f("to_json", &[ANY], JSON, to_json), f("to_jsonb", &[ANY], JSONB, to_jsonb), f("array_to_json", &[DataType::ANYARRAY], JSON, to_json), f("array_to_json", &[DataType::ANYARRAY, BOOL], JSON, to_json_lines), f("row_to_json", &[RECORD], JSON, to_json), f("row_to_json", &[RECORD, BOOL], JSON, to_json_lines),
    f("json_build_object", &[], JSON, json_build_object), f("json_build_object", &[ANY], JSON, json_build_object).nullable().variadic(), f("jsonb_build_object", &[], JSONB, jsonb_build_object), f("jsonb_build_object", &[ANY], JSONB, jsonb_build_object).nullable().variadic(),
    f("json_build_array", &[], JSON, json_build_array), f("json_build_array", &[ANY], JSON, json_build_array).nullable().variadic(), f("jsonb_build_array", &[], JSONB, jsonb_build_array), f("jsonb_build_array", &[ANY], JSONB, jsonb_build_array).nullable().variadic(),
    BuiltinFunction::new("json_object", &[TEXT_ARRAY], JSON, json_object), BuiltinFunction::new("json_object", &[TEXT_ARRAY, TEXT_ARRAY], JSON, json_object), BuiltinFunction::new("jsonb_object", &[TEXT_ARRAY], JSONB, jsonb_object), BuiltinFunction::new("jsonb_object", &[TEXT_ARRAY, TEXT_ARRAY], JSONB, jsonb_object),
];
