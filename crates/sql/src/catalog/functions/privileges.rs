//! `has_*_privilege`: until there are grants, everyone may do everything; what remains is to say whether the thing exists.

use super::{Call, DATABASE_OWNER, DATABASE_OWNER_OID};
use crate::error::{SqlError, SqlState};
use crate::expr::ObjectKind;
use crate::types::{DataType, Datum};

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
        "has_database_privilege" => match call.args.get(object) {
            Some(Datum::Text(name)) => call.database_named(name).map(|_| Datum::Bool(true))?,
            _ => call.session.catalog_of(call.oid(object)?).map_or(Datum::Null, |_| Datum::Bool(true)),
        },
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

/// `acldefault(kind, owner)`: what everybody and the owner may do with an object that nobody has granted anything on.
pub(super) fn default(call: &Call<'_>) -> Result<Datum, SqlError> {
    let Some(Datum::Char(kind)) = call.args.first() else { return Ok(Datum::Null) };
    let (everybody, owner) = match kind {
        b'c' => ("", ""),
        b'r' => ("", "arwdDxt"),
        b's' => ("", "rwU"),
        b'd' => ("Tc", "CTc"),
        b'f' => ("X", "X"),
        b'l' | b'T' => ("U", "U"),
        b'L' => ("", "rw"),
        b'n' => ("", "UC"),
        b't' => ("", "C"),
        b'F' | b'S' => ("", "U"),
        b'p' => ("", "sA"),
        other => {
            let message = format!("unrecognized object type abbreviation: {}", char::from(*other));
            return Err(SqlError::new(SqlState::INTERNAL_ERROR, message));
        }
    };
    let role = match call.oid(1)? {
        DATABASE_OWNER_OID => DATABASE_OWNER.to_owned(),
        oid => call.session.object_name(ObjectKind::Role, oid).unwrap_or_else(|| oid.to_string()),
    };
    let item = |grantee: &str, privileges: &str| Datum::text(format!("{grantee}={privileges}/{role}"));
    let items = [("", everybody), (role.as_str(), owner)].into_iter().filter(|(_, privileges)| !privileges.is_empty());
    Ok(Datum::array(DataType::ACLITEM, items.map(|(grantee, privileges)| item(grantee, privileges)).collect()))
}
