//! Path queries: `jsonb_path_exists`, `jsonb_path_match`, `jsonb_path_query_array`, `jsonb_path_query_first`, `@?`, `@@`.

use super::super::args::{Answer, boolean};
use super::super::{BuiltinFunction, EvalFn};
use super::{invalid, jsonb, out_jsonb};
use crate::error::{SqlError, SqlState};
use crate::expr::EvalContext;
use crate::types::json::path::JsonPath;
use crate::types::{DataType, Datum, Json};
use std::sync::Arc;

const JSONB: DataType = DataType::JSONB;
const PATH: DataType = DataType::JSONPATH;
const BOOL: DataType = DataType::BOOL;

fn path(args: &[Datum]) -> Result<&Arc<JsonPath>, SqlError> {
    match args.get(1) {
        Some(Datum::JsonPath(path)) => Ok(path),
        _ => Err(SqlError::new(SqlState::INTERNAL_ERROR, "argument 2 is not a jsonpath")),
    }
}

/// The items selected; `None` when an error was to be silent. Arguments: value, path, variables, silent.
pub(super) fn items(args: &[Datum]) -> Result<Option<Vec<Json>>, SqlError> {
    let nothing = Json::Object(Vec::new());
    let vars = if args.len() > 2 { jsonb(args, 2)? } else { &nothing };
    if !matches!(vars, Json::Object(_)) {
        return Err(invalid("\"vars\" argument is not an object")
            .detail("Jsonpath parameters should be encoded as key-value pairs of \"vars\" object."));
    }
    let silent = args.len() > 3 && boolean(args, 3)?;
    match path(args)?.query(jsonb(args, 0)?, vars) {
        Ok(items) => Ok(Some(items)),
        Err(error) if silent && is_of_the_path(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Errors that `silent` keeps quiet: of structure and of numbers, not of missing variables.
fn is_of_the_path(error: &SqlError) -> bool {
    error.state().0.starts_with("22")
}

fn exists_of(items: Option<Vec<Json>>) -> Datum {
    items.map_or(Datum::Null, |items| Datum::Bool(!items.is_empty()))
}

fn match_of(items: Option<Vec<Json>>, silent: bool) -> Answer {
    match items.as_deref() {
        None => Ok(Datum::Null),
        Some([Json::Bool(value)]) => Ok(Datum::Bool(*value)),
        Some([Json::Null]) => Ok(Datum::Null),
        Some(_) if silent => Ok(Datum::Null),
        Some(_) => Err(SqlError::new(SqlState("22038"), "single boolean result is expected")),
    }
}

fn exists(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(exists_of(items(args)?))
}

fn matches(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let silent = args.len() > 3 && boolean(args, 3)?;
    match_of(items(args)?, silent)
}

/// The operators keep every error of the path quiet.
fn silent_items(args: &[Datum]) -> Result<Option<Vec<Json>>, SqlError> {
    let nothing = Datum::Jsonb(Arc::new(Json::Object(Vec::new())));
    items(&[args[0].clone(), args[1].clone(), nothing, Datum::Bool(true)])
}

fn exists_operator(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(exists_of(silent_items(args)?))
}

fn match_operator(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    match_of(silent_items(args)?, true)
}

fn query_array(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    // A silent error leaves what was found before it: here, nothing.
    out_jsonb(Json::Array(items(args)?.unwrap_or_default()))
}

fn query_first(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    match items(args)?.and_then(|items| items.into_iter().next()) {
        Some(first) => out_jsonb(first),
        None => Ok(Datum::Null),
    }
}

const fn f(name: &'static str, args: &'static [DataType], result: DataType, eval: EvalFn) -> BuiltinFunction {
    BuiltinFunction::new(name, args, result, eval)
}

/// A function with its optional variables and `silent`.
macro_rules! overloads {
    ($($name:literal $result:ident $eval:ident),*) => {
        &[
            f("@?", &[JSONB, PATH], BOOL, exists_operator), f("@@", &[JSONB, PATH], BOOL, match_operator),
            f("jsonb_path_exists_opr", &[JSONB, PATH], BOOL, exists_operator), f("jsonb_path_match_opr", &[JSONB, PATH], BOOL, match_operator),
            $(
                f($name, &[JSONB, PATH], $result, $eval),
                f($name, &[JSONB, PATH, JSONB], $result, $eval),
                f($name, &[JSONB, PATH, JSONB, BOOL], $result, $eval),
            )*
        ]
    };
}

/// All of them. The variants for zones differ only in `datetime()`, which is not there.
pub(in super::super) static FUNCTIONS: &[BuiltinFunction] = overloads![
    "jsonb_path_exists" BOOL exists, "jsonb_path_match" BOOL matches, "jsonb_path_query_array" JSONB query_array, "jsonb_path_query_first" JSONB query_first,
    "jsonb_path_exists_tz" BOOL exists, "jsonb_path_match_tz" BOOL matches, "jsonb_path_query_array_tz" JSONB query_array, "jsonb_path_query_first_tz" JSONB query_first
];
