//! `has_*_privilege`: until there are grants, everyone may do everything; what remains is to say whether the thing exists.

use super::Call;
use crate::error::{SqlError, SqlState};
use crate::types::Datum;

/// Words that some `has_*_privilege` knows, `WITH GRANT OPTION` taken off.
const PRIVILEGES: [&str; 13] = [
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "TRUNCATE",
    "REFERENCES",
    "TRIGGER",
    "USAGE",
    "CREATE",
    "CONNECT",
    "TEMPORARY",
    "TEMP",
    "EXECUTE",
];

/// All of the family: the last argument names privileges, the one before it the object (of a column: table and column).
pub(super) fn has(call: &Call<'_>) -> Result<Datum, SqlError> {
    let last = call.args.len().saturating_sub(1);
    check_words(call.text(last)?)?;
    let object = match call.name {
        "has_column_privilege" => last.saturating_sub(2),
        _ => last.saturating_sub(1),
    };
    Ok(match call.name {
        "has_table_privilege" | "has_any_column_privilege" | "has_column_privilege" | "has_sequence_privilege" => {
            match call.args.get(object) {
                Some(Datum::Text(_)) => call.relation_named(object).map(|_| Datum::Bool(true))?,
                _ => call.relation(object)?.map_or(Datum::Null, |_| Datum::Bool(true)),
            }
        }
        "has_schema_privilege" => schema(call, object)?,
        _ => Datum::Bool(true),
    })
}

fn schema(call: &Call<'_>, at: usize) -> Result<Datum, SqlError> {
    let Some(Datum::Text(name)) = call.args.get(at) else {
        let oid = call.oid(at)?;
        return Ok(if call.catalog.schemas().any(|schema| schema.oid == oid) { Datum::Bool(true) } else { Datum::Null });
    };
    match call.catalog.schema(name) {
        Some(_) => Ok(Datum::Bool(true)),
        None => Err(SqlError::new(SqlState::INVALID_SCHEMA_NAME, format!("schema \"{name}\" does not exist"))),
    }
}

fn check_words(list: &str) -> Result<(), SqlError> {
    for word in list.split(',') {
        let upper = word.trim().to_ascii_uppercase();
        let plain = upper.strip_suffix(" WITH GRANT OPTION").unwrap_or(&upper);
        if !PRIVILEGES.contains(&plain) {
            return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("unrecognized privilege type: \"{}\"", word.trim())));
        }
    }
    Ok(())
}
