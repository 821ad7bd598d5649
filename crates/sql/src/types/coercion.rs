//! Which type may become which, and when: PostgreSQL's `pg_cast` as code, and the type that UNION, CASE, COALESCE and
//! their like agree on.
//!
//! Three contexts, each allowing what the one before allows: implicit (in any expression), assignment (INSERT, UPDATE,
//! column defaults), explicit (the user wrote CAST or `::`).

use super::{DataType, catalog};
use crate::error::{SqlError, SqlState};

/// Where a cast stands. Ordered: a later context allows everything an earlier one does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum CastContext {
    Implicit,
    Assignment,
    Explicit,
}

use CastContext::{Assignment, Explicit, Implicit};

/// May a value of type `from` become `to` in this context? An unknown literal may become anything (by its text form).
pub fn can_cast(from: DataType, to: DataType, context: CastContext) -> bool {
    cast_context(from, to).is_some_and(|needed| needed <= context)
}

/// The least context that allows the cast, `None` when nothing does.
pub fn cast_context(from: DataType, to: DataType) -> Option<CastContext> {
    if from == to || from == DataType::UNKNOWN || to == DataType::ANY {
        return Some(Implicit);
    }
    if from == DataType::VOID {
        return None;
    }
    if let Some(context) = numeric_cast(from, to)
        .or_else(|| json_cast(from, to))
        .or_else(|| text_cast(from, to))
        .or_else(|| oid_cast(from, to))
        .or_else(|| time_cast(from, to))
    {
        return Some(context);
    }
    if let (Some(a), Some(b)) = (catalog::element_of(from), catalog::element_of(to)) {
        // The two vectors are no arrays in this respect: nothing becomes one.
        return if catalog::info(to).name.ends_with("vector") { None } else { cast_context(a, b) };
    }
    // Everything has a text form: to strings on assignment, from strings when asked for.
    if catalog::info(to).category == b'S' {
        return Some(Assignment);
    }
    (catalog::info(from).category == b'S' && !is_pseudo(to)).then_some(Explicit)
}

/// Pseudo-types stand only in signatures.
fn is_pseudo(ty: DataType) -> bool {
    catalog::info(ty).category == b'P'
}

/// Place in the order int2, int4, int8, numeric, float4, float8: upwards is implicit, downwards needs an assignment.
fn numeric_rank(ty: DataType) -> Option<u8> {
    Some(match ty {
        DataType::INT2 => 0,
        DataType::INT4 => 1,
        DataType::INT8 => 2,
        DataType::NUMERIC => 3,
        DataType::FLOAT4 => 4,
        DataType::FLOAT8 => 5,
        _ => return None,
    })
}

fn numeric_cast(from: DataType, to: DataType) -> Option<CastContext> {
    match (from, to) {
        (DataType::INT4, DataType::BOOL) | (DataType::BOOL, DataType::INT4) => return Some(Explicit),
        (DataType::INT4, DataType::CHAR) | (DataType::CHAR, DataType::INT4) => return Some(Explicit),
        _ => {}
    }
    let (a, b) = (numeric_rank(from)?, numeric_rank(to)?);
    Some(if a < b { Implicit } else { Assignment })
}

fn text_cast(from: DataType, to: DataType) -> Option<CastContext> {
    use DataType as T;
    Some(match (from, to) {
        (T::TEXT | T::VARCHAR | T::BPCHAR, T::TEXT | T::VARCHAR | T::BPCHAR | T::NAME) => Implicit,
        (T::NAME | T::CHAR, T::TEXT) => Implicit,
        (T::NAME, T::VARCHAR | T::BPCHAR) => Assignment,
        (T::CHAR, T::VARCHAR | T::BPCHAR) => Assignment,
        (T::TEXT | T::VARCHAR | T::BPCHAR, T::CHAR) => Assignment,
        (T::CSTRING, T::TEXT) | (T::PG_NODE_TREE, T::TEXT) => Implicit,
        (T::TEXT | T::VARCHAR, T::REGCLASS) => Implicit,
        _ => return None,
    })
}

fn json_cast(from: DataType, to: DataType) -> Option<CastContext> {
    use DataType as T;
    match (from, to) {
        (T::JSON, T::JSONB) | (T::JSONB, T::JSON) => Some(Assignment),
        (T::JSONB, T::BOOL | T::INT2 | T::INT4 | T::INT8 | T::NUMERIC | T::FLOAT4 | T::FLOAT8) => Some(Explicit),
        _ => None,
    }
}

fn is_reg(ty: DataType) -> bool {
    ty.is_oid() && !matches!(ty, DataType::OID | DataType::XID | DataType::CID)
}

fn oid_cast(from: DataType, to: DataType) -> Option<CastContext> {
    use DataType as T;
    Some(match (from, to) {
        (T::INT2 | T::INT4 | T::INT8, to) if to == T::OID || is_reg(to) => Implicit,
        (from, T::INT4 | T::INT8) if from == T::OID || is_reg(from) => Assignment,
        (T::OID, to) if is_reg(to) => Implicit,
        (from, T::OID) if is_reg(from) => Implicit,
        (T::INT2VECTOR, T::INT2_ARRAY) | (T::OIDVECTOR, T::OID_ARRAY) => Implicit,
        _ => return None,
    })
}

fn time_cast(from: DataType, to: DataType) -> Option<CastContext> {
    use DataType as T;
    Some(match (from, to) {
        (T::DATE, T::TIMESTAMP | T::TIMESTAMPTZ) | (T::TIMESTAMP, T::TIMESTAMPTZ) | (T::TIME, T::INTERVAL) => Implicit,
        (T::TIMESTAMP | T::TIMESTAMPTZ, T::DATE | T::TIME) | (T::TIMESTAMPTZ, T::TIMESTAMP) | (T::INTERVAL, T::TIME) => Assignment,
        _ => return None,
    })
}

/// Do values of the type have an order, and so an equality? `json` is its text, and has neither.
pub fn is_ordered(ty: DataType) -> bool {
    let base = catalog::element_of(ty).unwrap_or(ty);
    !matches!(base, DataType::JSON | DataType::JSONPATH | DataType::ACLITEM | DataType::VOID | DataType::CID)
}

/// 42883 for ORDER BY over a type without an order.
pub fn need_order(ty: DataType) -> Result<(), SqlError> {
    if is_ordered(ty) {
        return Ok(());
    }
    Err(SqlError::new(SqlState::UNDEFINED_FUNCTION, format!("could not identify an ordering operator for type {ty}"))
        .hint("Use an explicit ordering operator or modify the query."))
}

/// 42883 for GROUP BY, DISTINCT and their like over a type without an equality.
pub fn need_equality(ty: DataType) -> Result<(), SqlError> {
    if is_ordered(ty) {
        return Ok(());
    }
    Err(SqlError::new(SqlState::UNDEFINED_FUNCTION, format!("could not identify an equality operator for type {ty}")))
}

/// The type that several expressions agree on (UNION, CASE, COALESCE, VALUES, IN lists, ARRAY). `context` opens the error
/// message: `CASE types integer and text cannot be matched`. All unknown gives text.
pub fn common_type(types: &[DataType], context: &str) -> Result<DataType, SqlError> {
    let mut known = types.iter().copied().filter(|ty| *ty != DataType::UNKNOWN);
    let Some(mut chosen) = known.next() else { return Ok(DataType::TEXT) };
    for ty in known {
        if ty == chosen {
            continue;
        }
        if catalog::info(ty).category != catalog::info(chosen).category {
            return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, format!("{context} types {chosen} and {ty} cannot be matched")));
        }
        if !catalog::info(chosen).preferred && can_cast(chosen, ty, Implicit) && !can_cast(ty, chosen, Implicit) {
            chosen = ty;
        }
    }
    for ty in types {
        if !can_cast(*ty, chosen, Implicit) {
            return Err(SqlError::new(SqlState::CANNOT_COERCE, format!("{context} could not convert type {ty} to {chosen}")));
        }
    }
    Ok(chosen)
}
