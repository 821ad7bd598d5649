//! oid and the reg* types: numbers that print as the name of what they identify.

use super::{integer, write_int};
use crate::error::{SqlError, SqlState};
use crate::expr::ObjectKind;
use crate::types::{DataType, TextContext, catalog};

/// What a reg* type names; `None` for plain numbers.
pub(super) fn kind(ty: DataType) -> Option<ObjectKind> {
    Some(match ty {
        DataType::REGCLASS => ObjectKind::Relation,
        DataType::REGTYPE => ObjectKind::Type,
        DataType::REGNAMESPACE => ObjectKind::Namespace,
        DataType::REGROLE => ObjectKind::Role,
        DataType::REGPROC => ObjectKind::Function,
        DataType::REGPROCEDURE => ObjectKind::Procedure,
        DataType::REGOPER | DataType::REGOPERATOR => ObjectKind::Operator,
        _ => return None,
    })
}

/// Reads a number or a name.
pub(super) fn parse(text: &str, ty: DataType, ctx: &TextContext<'_>) -> Result<u32, SqlError> {
    if text == "-" {
        return Ok(0);
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return integer::parse_oid(text);
    }
    let Some(kind) = kind(ty) else { return integer::parse_oid(text) };
    if kind == ObjectKind::Type {
        // "char" is a type only in its quotes; others lose them.
        let unquoted = text.trim().replace("\"pg_catalog\"", "pg_catalog");
        let plain = unquoted.strip_prefix("pg_catalog.").unwrap_or(&unquoted);
        let bare = plain.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).filter(|name| *name != "char");
        if let Some(found) = catalog::lookup_type_name(bare.unwrap_or(plain)) {
            return Ok(found.0);
        }
    }
    ctx.session.object_oid(kind, text).ok_or_else(|| unknown(kind, text))
}

fn unknown(kind: ObjectKind, text: &str) -> SqlError {
    let (state, what) = match kind {
        ObjectKind::Relation => (SqlState::UNDEFINED_TABLE, "relation"),
        ObjectKind::Namespace => (SqlState::INVALID_SCHEMA_NAME, "schema"),
        ObjectKind::Role => (SqlState::UNDEFINED_OBJECT, "role"),
        ObjectKind::Type => (SqlState::UNDEFINED_OBJECT, "type"),
        ObjectKind::Function | ObjectKind::Procedure => (SqlState::UNDEFINED_FUNCTION, "function"),
        ObjectKind::Operator => return SqlError::new(SqlState::UNDEFINED_FUNCTION, format!("operator does not exist: {text}")),
    };
    SqlError::new(state, format!("{what} \"{text}\" does not exist"))
}

/// Appends the name, or the number if it names nothing.
pub(super) fn write(oid: u32, ty: DataType, ctx: &TextContext<'_>, out: &mut String) {
    let Some(kind) = kind(ty) else { return write_int(i64::from(oid), out) };
    if oid == 0 {
        return out.push('-');
    }
    if kind == ObjectKind::Type && catalog::info(DataType(oid)).name != "???" {
        return out.push_str(catalog::info(DataType(oid)).display);
    }
    match ctx.session.object_name(kind, oid) {
        Some(name) => out.push_str(&name),
        None => write_int(i64::from(oid), out),
    }
}
