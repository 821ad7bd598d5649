//! Functions and operators as objects: `regproc`, their arguments and results as text.

use super::Call;
use crate::catalog::Oid;
use crate::catalog::rows::{Routine, operator, operators_named, routine, routine_named};
use crate::error::SqlError;
use crate::types::{DataType, Datum, info};

/// `'array_in'::regproc`: the OID of a function's name (`pg_catalog.` may stand in front, argument types in parentheses behind). None when there is
/// no such function, or several.
pub fn function_oid(name: &str) -> Option<Oid> {
    let plain = name.trim();
    let plain = plain.strip_prefix("pg_catalog.").unwrap_or(plain);
    let (bare, arguments) = match plain.split_once('(') {
        Some((bare, rest)) => (bare.trim(), Some(rest.strip_suffix(')')?)),
        None => (plain, None),
    };
    let wanted = match arguments {
        None => None,
        Some(list) if list.trim().is_empty() => Some(Vec::new()),
        Some(list) => Some(list.split(',').map(crate::types::lookup_type_name).collect::<Option<Vec<_>>>()?),
    };
    let mut found = routine_named(bare).filter(|routine| wanted.as_ref().is_none_or(|args| *args == routine.args));
    let first = found.next()?;
    found.next().is_none().then_some(first.oid)
}

/// A function's name by OID, for `regproc`.
pub fn function_name(oid: Oid) -> Option<String> {
    routine(oid).map(|routine| routine.name.to_owned())
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

/// `pg_get_function_arguments`: types only, since builtin arguments have no names.
pub(super) fn arguments(call: &Call<'_>) -> Result<Datum, SqlError> {
    Ok(routine(call.oid(0)?).map_or(Datum::Null, |routine| Datum::text(argument_list(routine))))
}

/// `pg_get_function_result`.
pub(super) fn result(call: &Call<'_>) -> Result<Datum, SqlError> {
    let text = |routine: &Routine| format!("{}{}", if routine.returns_set { "SETOF " } else { "" }, info(routine.result).display);
    Ok(routine(call.oid(0)?).map_or(Datum::Null, |routine| Datum::text(text(routine))))
}

/// `oidvectortypes`: type names of a list.
pub(super) fn vector_types(call: &Call<'_>) -> Result<Datum, SqlError> {
    let Some(Datum::Array(array)) = call.args.first() else { return Ok(Datum::Null) };
    let types: Vec<DataType> =
        array.elements.iter().filter_map(|value| if let Datum::Oid(oid) = value { Some(DataType(*oid)) } else { None }).collect();
    Ok(Datum::text(names(&types).join(", ")))
}
