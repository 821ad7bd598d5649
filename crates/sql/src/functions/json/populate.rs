//! Rows of a given shape from JSON: `json_populate_record`, `json_to_recordset` and their relatives.
//!
//! The shape is that of the first argument: a row value, which the binder makes from a table's row, from `NULL::table`, or from a column
//! definition list.  A member that is missing leaves the field as it is there.

use super::super::set_returning::{SetFunction, SetRows};
use super::invalid;
use crate::error::{SqlError, SqlState};
use crate::expr::EvalContext;
use crate::types::json::{Node, Value, parse::parse};
use crate::types::{Array, ColumnType, DataType, Datum, Json, Record, array_of, cast, element_of, text};
use std::sync::Arc;

/// What one of the functions does with its argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Kind {
    /// An array of objects, a row each.
    pub(crate) set: bool,
    /// The shape comes from a column definition list, not from a first argument.
    pub(crate) defined: bool,
    /// Of `jsonb`.
    pub(crate) binary: bool,
}

/// The function of that name, if it is one of the family.
pub(crate) fn kind(name: &str) -> Option<Kind> {
    let (binary, rest) = if let Some(rest) = name.strip_prefix("jsonb_") { (true, rest) } else { (false, name.strip_prefix("json_")?) };
    let (set, defined) = match rest {
        "populate_record" => (false, false),
        "populate_recordset" => (true, false),
        "to_record" => (false, true),
        "to_recordset" => (true, true),
        _ => return None,
    };
    Some(Kind { set, defined, binary })
}

/// The row source for a kind: arguments are the record that has the shape, and the JSON value.
pub(crate) fn function(kind: Kind) -> &'static SetFunction {
    if kind.set { &RECORDSET } else { &RECORD }
}

const fn source_of_rows(name: &'static str, eval: super::super::set_returning::SetEvalFn) -> SetFunction {
    SetFunction {
        name,
        args: &[DataType::RECORD, DataType::ANY],
        result: DataType::RECORD,
        columns: &[],
        column: None,
        strict: false,
        eval,
    }
}

static RECORD: SetFunction = source_of_rows("json_populate_record", record);
static RECORDSET: SetFunction = source_of_rows("json_populate_recordset", recordset);

fn base(args: &[Datum]) -> Result<&Arc<Record>, SqlError> {
    match args.first() {
        Some(Datum::Record(record)) => Ok(record),
        _ => Err(invalid("first argument of json_populate_record must be a row type")),
    }
}

/// The JSON argument as text: one reader serves both types.
fn source(args: &[Datum]) -> Option<String> {
    match args.get(1) {
        Some(Datum::Json(text)) => Some(text.to_string()),
        Some(Datum::Jsonb(value)) => Some(value.to_string()),
        _ => None,
    }
}

fn record(ctx: &EvalContext<'_>, args: &[Datum]) -> Result<SetRows, SqlError> {
    let base = base(args)?;
    let row = match source(args) {
        None => Datum::Record(base.clone()),
        Some(text) => filled(base, parse(&text)?, "json_populate_record", ctx)?,
    };
    Ok(Box::new(std::iter::once(Ok(row))))
}

fn recordset(ctx: &EvalContext<'_>, args: &[Datum]) -> Result<SetRows, SqlError> {
    let base = base(args)?;
    let Some(text) = source(args) else { return Ok(Box::new(std::iter::empty())) };
    let node = parse(&text)?;
    let items = match node.value {
        Value::Array(items) => items,
        Value::Object(_) => return Err(invalid("cannot call json_populate_recordset on an object")),
        _ => return Err(invalid("cannot call json_populate_recordset on a scalar")),
    };
    let mut rows = Vec::with_capacity(items.len());
    for item in items {
        if !matches!(item.value, Value::Object(_)) {
            return Err(invalid("argument of json_populate_recordset must be an array of objects"));
        }
        rows.push(filled(base, item, "json_populate_recordset", ctx)?);
    }
    Ok(Box::new(rows.into_iter().map(Ok)))
}

fn filled(base: &Arc<Record>, node: Node<'_>, name: &str, ctx: &EvalContext<'_>) -> Result<Datum, SqlError> {
    let pairs = match node.value {
        Value::Object(pairs) => pairs,
        Value::Array(_) => return Err(invalid(format!("cannot call {name} on an array"))),
        _ => return Err(invalid(format!("cannot call {name} on a scalar"))),
    };
    let mut fields = base.fields.clone();
    if let Some(shape) = &base.shape {
        for ((name, ty), field) in shape.fields.iter().zip(&mut fields) {
            if let Some((_, value)) = pairs.iter().rev().find(|(key, _)| key == name) {
                *field = converted(value, *ty, name, ctx)?;
            }
        }
    }
    Ok(Datum::Record(Arc::new(Record { fields, shape: base.shape.clone() })))
}

/// A JSON value as one of an SQL type: arrays by elements, everything else by its text form.
fn converted(node: &Node<'_>, ty: ColumnType, name: &str, ctx: &EvalContext<'_>) -> Result<Datum, SqlError> {
    let plain = match (&node.value, ty.ty) {
        (Value::Null, DataType::JSONB) => return Ok(Datum::Jsonb(Arc::new(Json::Null))),
        (Value::Null, DataType::JSON) => return Ok(Datum::Json("null".into())),
        (Value::Null, _) => return Ok(Datum::Null),
        (_, DataType::JSON) => return Ok(Datum::Json(node.raw.into())),
        (_, DataType::JSONB) => return Ok(Datum::Jsonb(Arc::new(Json::from_node(node.clone())?))),
        (Value::Array(items), array) if element_of(array).is_some() => {
            let element = element_of(array).unwrap_or(DataType::TEXT);
            return array_of_items(items, ColumnType { ty: element, typmod: ty.typmod }, name, ctx);
        }
        (Value::String(text), _) => text.as_str(),
        (_, array) if element_of(array).is_some() => {
            return Err(SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, "expected JSON array")
                .hint(format!("See the value of key \"{name}\".")));
        }
        _ => node.raw,
    };
    let value = text::parse(plain, ty.ty.into(), &ctx.text())?;
    cast::coerce_typmod(value, ty, false)
}

fn array_of_items(items: &[Node<'_>], element: ColumnType, name: &str, ctx: &EvalContext<'_>) -> Result<Datum, SqlError> {
    if items.iter().any(|item| matches!(item.value, Value::Array(_))) && !matches!(element.ty, DataType::JSON | DataType::JSONB) {
        let array = array_of(element.ty).unwrap_or(DataType::TEXT_ARRAY);
        let rows: Vec<Datum> = items.iter().map(|item| converted(item, array.into(), name, ctx)).collect::<Result<_, _>>()?;
        return crate::expr::make_array(rows, array.into());
    }
    let elements = items.iter().map(|item| converted(item, element, name, ctx)).collect::<Result<Vec<_>, _>>()?;
    let dims = if elements.is_empty() { Vec::new() } else { vec![(elements.len() as i32, 1)] };
    Ok(Datum::Array(Arc::new(Array { element: element.ty, dims, elements })))
}
