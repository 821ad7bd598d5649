//! Functions and operators as objects: `regproc`, their arguments and results as text.

use super::{Call, user_routines};
use crate::catalog::rows::{Routine, operator, operators_named, routine, routine_named};
use crate::catalog::{Catalog, Oid};
use crate::error::SqlError;
use crate::expr::SessionInfo;
use crate::types::{DataType, Datum, info};

/// `'array_in'::regproc`: the OID of a function's name (a schema may stand in front, argument types in parentheses behind). None when there is
/// no such function, or several.
pub fn function_oid(name: &str, catalog: &Catalog, search_path: &[String]) -> Option<Oid> {
    let (bare, arguments) = match name.trim().split_once('(') {
        Some((bare, rest)) => (bare.trim(), Some(rest.strip_suffix(')')?)),
        None => (name.trim(), None),
    };
    let unquoted = |part: &str| match part.strip_prefix('"').and_then(|part| part.strip_suffix('"')) {
        Some(quoted) => quoted.to_owned(),
        None => part.to_ascii_lowercase(),
    };
    let (schema, bare) = match bare.split_once('.') {
        Some((schema, bare)) => (Some(unquoted(schema)), unquoted(bare)),
        None => (None, unquoted(bare)),
    };
    let of_user = user_routines::named(schema.as_deref(), &bare, arguments, catalog, search_path);
    if schema.as_deref().is_some_and(|schema| schema != "pg_catalog") {
        return of_user;
    }
    let builtin = builtin_oid(&bare, arguments);
    match (builtin, of_user) {
        // Two of one name: which is meant cannot be said without arguments.
        (Some(_), Some(_)) if arguments.is_none() => None,
        (builtin, of_user) => builtin.or(of_user),
    }
}

fn builtin_oid(bare: &str, arguments: Option<&str>) -> Option<Oid> {
    let wanted = match arguments {
        None => None,
        Some(list) if list.trim().is_empty() => Some(Vec::new()),
        Some(list) => Some(list.split(',').map(|name| crate::types::lookup_type_name(name.trim())).collect::<Option<Vec<_>>>()?),
    };
    let mut found = routine_named(bare).filter(|routine| wanted.as_ref().is_none_or(|args| *args == routine.args));
    let first = found.next()?;
    found.next().is_none().then_some(first.oid)
}

/// A function's name by OID, for `regproc`.
pub fn function_name(oid: Oid, catalog: &Catalog, session: &dyn SessionInfo) -> Option<String> {
    match catalog.function(oid) {
        Some(function) => Some(user_routines::name(function, catalog, session)),
        None => routine(oid).map(|routine| routine.name.to_owned()),
    }
}

/// A function's name with its arguments' types by OID, for `regprocedure`.
pub fn procedure_name(oid: Oid, catalog: &Catalog, session: &dyn SessionInfo) -> Option<String> {
    match catalog.function(oid) {
        Some(function) => Some(user_routines::signature(function, catalog, session)),
        None => routine(oid).map(|routine| format!("{}({})", routine.name, names(&routine.args).join(","))),
    }
}

/// An operator's OID by its symbol, if there is only one of it, or by symbol and operand types: `*(int4,int4)`.
pub fn operator_oid(symbol: &str) -> Option<Oid> {
    let plain = symbol.trim();
    let plain = plain.strip_prefix("pg_catalog.").unwrap_or(plain);
    let Some((symbol, operands)) = plain.split_once('(') else {
        let mut found = operators_named(plain);
        let first = found.next()?;
        return found.next().is_none().then_some(first.0);
    };
    let operand =
        |name: &str| if name.trim().eq_ignore_ascii_case("none") { Some(DataType(0)) } else { crate::types::lookup_type_name(name) };
    let types = operands.strip_suffix(')')?.split(',').map(operand).collect::<Option<Vec<_>>>()?;
    operators_named(symbol.trim()).find(|operator| types == [operator.1, operator.2]).map(|operator| operator.0)
}

/// An operator's symbol by OID.
pub fn operator_name(oid: Oid) -> Option<String> {
    operator(oid).map(str::to_owned)
}

fn names(types: &[DataType]) -> Vec<&'static str> {
    types.iter().map(|ty| info(*ty).display).collect()
}

fn argument_list(routine: &Routine) -> String {
    let mut list: Vec<String> = names(&routine.args).into_iter().map(str::to_owned).collect();
    if let (true, Some(last)) = (routine.variadic, list.last_mut()) {
        last.insert_str(0, "VARIADIC ");
    }
    list.join(", ")
}

/// `pg_get_function_arguments` and `pg_get_function_identity_arguments`: of builtin functions types only, since their arguments have no names.
pub(super) fn arguments(call: &Call<'_>) -> Result<Datum, SqlError> {
    if let Some(function) = call.catalog.function(call.oid(0)?) {
        let defaults = call.name == "pg_get_function_arguments";
        return Ok(Datum::text(user_routines::arguments(function, defaults, call.catalog, call.session)));
    }
    Ok(routine(call.oid(0)?).map_or(Datum::Null, |routine| Datum::text(argument_list(routine))))
}

/// `pg_get_function_result`.
pub(super) fn result(call: &Call<'_>) -> Result<Datum, SqlError> {
    if let Some(function) = call.catalog.function(call.oid(0)?) {
        return Ok(user_routines::result(function, call.catalog, call.session).map_or(Datum::Null, Datum::text));
    }
    let text = |routine: &Routine| format!("{}{}", if routine.returns_set { "SETOF " } else { "" }, info(routine.result).display);
    Ok(routine(call.oid(0)?).map_or(Datum::Null, |routine| Datum::text(text(routine))))
}

/// `pg_get_function_sqlbody`.
pub(super) fn sql_body(call: &Call<'_>) -> Result<Datum, SqlError> {
    Ok(call.catalog.function(call.oid(0)?).and_then(|function| user_routines::sql_body(function)).map_or(Datum::Null, Datum::text))
}

/// `pg_get_functiondef`.
pub(super) fn definition(call: &Call<'_>) -> Result<Datum, SqlError> {
    let oid = call.oid(0)?;
    match call.catalog.function(oid) {
        Some(function) => Ok(Datum::text(user_routines::definition(function, call.catalog, call.session))),
        None if routine(oid).is_some() => Err(SqlError::unsupported("pg_get_functiondef() of a builtin function")),
        None => Ok(Datum::Null),
    }
}

/// `pg_get_function_arg_default(function, number)`.
pub(super) fn argument_default(call: &Call<'_>) -> Result<Datum, SqlError> {
    let number = usize::try_from(call.int(1)?).unwrap_or_default();
    let function = call.catalog.function(call.oid(0)?);
    let parameter = function.and_then(|function| function.parameters.get(number.checked_sub(1)?));
    Ok(parameter.and_then(|parameter| parameter.default.as_deref()).map_or(Datum::Null, Datum::text))
}

/// `oidvectortypes`: type names of a list.
pub(super) fn vector_types(call: &Call<'_>) -> Result<Datum, SqlError> {
    let Some(Datum::Array(array)) = call.args.first() else { return Ok(Datum::Null) };
    let types: Vec<DataType> =
        array.elements.iter().filter_map(|value| if let Datum::Oid(oid) = value { Some(DataType(*oid)) } else { None }).collect();
    Ok(Datum::text(names(&types).join(", ")))
}
