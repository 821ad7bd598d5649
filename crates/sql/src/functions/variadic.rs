//! Calls with VARIADIC: the last argument is an array, whose elements are the arguments.
//!
//! A function that takes any number of arguments has a twin here that takes an array and hands its elements on. Only calls that say VARIADIC find it.

use super::resolve::{Resolved, choose, function_error};
use super::{BuiltinFunction, args, json, quoting, strings};
use crate::error::{SqlError, SqlState};
use crate::types::{DataType, Datum};

/// The arguments with the last one, an array, taken apart; `None` when it is NULL.
fn spread(given: &[Datum]) -> Result<Option<Vec<Datum>>, SqlError> {
    let last = given.len().saturating_sub(1);
    if given.get(last).is_none_or(Datum::is_null) {
        return Ok(None);
    }
    let array = args::array(given, last)?;
    Ok(Some(given[..last].iter().chain(&array.elements).cloned().collect()))
}

/// A twin for each function: name, fixed arguments and the array, result, code, and what a NULL array gives.
macro_rules! twins {
    ($($id:ident = $name:literal $args:expr, $result:expr, $eval:path, $null:expr;)*) => {
        $(fn $id(ctx: &crate::expr::EvalContext<'_>, given: &[Datum]) -> args::Answer {
            match spread(given)? {
                Some(all) => $eval(ctx, &all),
                None => ($null)(ctx, given),
            }
        })*
        static TWINS: &[BuiltinFunction] = &[$(BuiltinFunction::new($name, $args, $result, $id).nullable().stable(),)*];
    };
}

const TEXT: DataType = DataType::TEXT;
const ARRAY: DataType = DataType::ANYARRAY;
const TEXT_ARRAY: DataType = DataType::TEXT_ARRAY;
const JSON: DataType = DataType::JSON;
const JSONB: DataType = DataType::JSONB;
const INT4: DataType = DataType::INT4;

fn null(_: &crate::expr::EvalContext<'_>, _: &[Datum]) -> args::Answer {
    Ok(Datum::Null)
}

/// `format` takes a NULL array for none.
fn format_alone(ctx: &crate::expr::EvalContext<'_>, given: &[Datum]) -> args::Answer {
    quoting::format(ctx, &given[..1])
}

twins! {
    concat = "concat" &[ARRAY], TEXT, strings::concat_any, null;
    concat_ws = "concat_ws" &[TEXT, ARRAY], TEXT, strings::concat_ws, null;
    format = "format" &[TEXT, ARRAY], TEXT, quoting::format, format_alone;
    num_nulls = "num_nulls" &[ARRAY], INT4, super::arrays::num_nulls, null;
    num_nonnulls = "num_nonnulls" &[ARRAY], INT4, super::arrays::num_nonnulls, null;
    json_build_array = "json_build_array" &[ARRAY], JSON, json::build::json_build_array, null;
    jsonb_build_array = "jsonb_build_array" &[ARRAY], JSONB, json::build::jsonb_build_array, null;
    json_build_object = "json_build_object" &[ARRAY], JSON, json::build::json_build_object, null;
    jsonb_build_object = "jsonb_build_object" &[ARRAY], JSONB, json::build::jsonb_build_object, null;
    json_extract_path = "json_extract_path" &[JSON, TEXT_ARRAY], JSON, json::access::json_extract, null;
    json_extract_path_text = "json_extract_path_text" &[JSON, TEXT_ARRAY], TEXT, json::access::json_extract_text, null;
    jsonb_extract_path = "jsonb_extract_path" &[JSONB, TEXT_ARRAY], JSONB, json::access::jsonb_extract, null;
    jsonb_extract_path_text = "jsonb_extract_path_text" &[JSONB, TEXT_ARRAY], TEXT, json::access::jsonb_extract_text, null;
}

/// The function that a call with VARIADIC means.
pub fn resolve_variadic(name: &str, args: &[DataType]) -> Result<Resolved, SqlError> {
    if let Some(last) = args.last()
        && !last.is_array()
        && *last != DataType::UNKNOWN
    {
        return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, "VARIADIC argument must be an array"));
    }
    let twins: Vec<&'static BuiltinFunction> = TWINS.iter().filter(|f| f.name == name).collect();
    let found = choose(&twins, args).map_err(|why| function_error(name, args, why))?;
    Ok(Resolved { func: found.func, arg_types: found.args, result: found.result })
}
