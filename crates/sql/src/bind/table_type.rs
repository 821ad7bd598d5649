//! Type names as written, into types with their modifiers.

use crate::ast::TypeName;
use crate::catalog::Catalog;
use crate::error::{SqlError, SqlState};
use crate::types::catalog::{is_unsupported_name, make_numeric_typmod};
use crate::types::{ColumnType, DataType, array_of, lookup_type_name};

/// PostgreSQL's limits.
const NUMERIC_PRECISION_MAX: i32 = 1000;
const CHARACTERS_MAX: i32 = 10_485_760;
const TIME_PRECISION_MAX: i32 = 6;

/// The type of a name. `serial` and its like are not types: the caller has expanded them.
pub fn column_type(name: &TypeName) -> Result<ColumnType, SqlError> {
    let known_schema = name.schema.as_deref().is_none_or(|s| matches!(s, "pg_catalog" | "information_schema"));
    let base = known_schema.then(|| domain_base(name).or_else(|| lookup_type_name(&name.name))).flatten();
    let Some(mut ty) = base else {
        if known_schema && is_unsupported_name(&name.name) {
            return Err(SqlError::unsupported(format_args!("type {}", name.name)).at(name.pos));
        }
        let shown = name.schema.as_ref().map_or(name.name.clone(), |s| format!("{s}.{}", name.name));
        return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, format!("type \"{shown}\" does not exist")).at(name.pos));
    };
    let typmod = type_modifier(ty, name)?;
    if name.array_dims > 0 {
        ty = array_of(ty).ok_or_else(|| {
            SqlError::new(SqlState::UNDEFINED_OBJECT, format!("could not find array type for data type {ty}")).at(name.pos)
        })?;
    }
    Ok(ColumnType { ty, typmod })
}

/// The type of a name, which may be one that a user has made.
pub fn type_in(name: &TypeName, catalog: &Catalog, search_path: &[String]) -> Result<ColumnType, SqlError> {
    column_type(name).or_else(|error| {
        let Some((_, found)) = catalog.enum_named(name.schema.as_deref(), &name.name, search_path) else {
            // Where a domain may stand, `declared_type_in` is asked.
            let is_domain = catalog.domain_named(name.schema.as_deref(), &name.name, search_path).is_some();
            return Err(if is_domain { SqlError::unsupported(format_args!("the domain {} here", name.name)).at(name.pos) } else { error });
        };
        if !name.modifiers.is_empty() {
            let message = format!("type modifier is not allowed for type \"{}\"", name.name);
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(name.pos));
        }
        Ok(DataType(if name.array_dims > 0 { found.array_oid } else { found.oid }).into())
    })
}

/// information_schema's domains.
fn domain_base(name: &TypeName) -> Option<DataType> {
    match name.name.as_str() {
        "sql_identifier" => Some(DataType::NAME),
        "character_data" | "yes_or_no" => Some(DataType::VARCHAR),
        "cardinal_number" => Some(DataType::INT4),
        "time_stamp" => Some(DataType::TIMESTAMPTZ),
        _ => None,
    }
}

fn type_modifier(ty: DataType, name: &TypeName) -> Result<i32, SqlError> {
    let invalid = |message: String| Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message).at(name.pos));
    match (ty, name.modifiers.as_slice()) {
        (_, []) => Ok(-1),
        (DataType::BPCHAR | DataType::VARCHAR, [n]) => {
            let shown = if ty == DataType::BPCHAR { "char" } else { "varchar" };
            match *n {
                ..1 => invalid(format!("length for type {shown} must be at least 1")),
                1..=CHARACTERS_MAX => Ok(n + 4),
                _ => invalid(format!("length for type {shown} cannot exceed {CHARACTERS_MAX}")),
            }
        }
        (DataType::NUMERIC, [precision, rest @ ..]) if rest.len() <= 1 => {
            let scale = rest.first().copied().unwrap_or(0);
            if !(1..=NUMERIC_PRECISION_MAX).contains(precision) {
                return invalid(format!("NUMERIC precision {precision} must be between 1 and {NUMERIC_PRECISION_MAX}"));
            }
            if !(-NUMERIC_PRECISION_MAX..=NUMERIC_PRECISION_MAX).contains(&scale) {
                return invalid(format!("NUMERIC scale {scale} must be between -{NUMERIC_PRECISION_MAX} and {NUMERIC_PRECISION_MAX}"));
            }
            Ok(make_numeric_typmod(*precision, scale))
        }
        (DataType::TIME | DataType::TIMESTAMP | DataType::TIMESTAMPTZ, [p]) => Ok((*p).clamp(0, TIME_PRECISION_MAX)),
        // Range mask above, precision below, both full when unsaid.
        (DataType::INTERVAL, [mask]) => Ok((mask << 16) | 0xFFFF),
        (DataType::INTERVAL, [mask, precision]) => Ok((mask << 16) | (*precision).clamp(0, TIME_PRECISION_MAX)),
        _ => Err(SqlError::new(SqlState::SYNTAX_ERROR, format!("type modifier is not allowed for type \"{}\"", name.name)).at(name.pos)),
    }
}
