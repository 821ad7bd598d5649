//! Types meeting types: implicit casts, unknown literals, parameters that take their type from where they stand.
//!
//! An expression of type `unknown` is a string literal, NULL, or a parameter about which nothing is known yet. Whatever first asks for a type decides it: the
//! literal is read as a value of that type (and a mistake in it is an error now, with its place), the parameter is of that type from then on.

use super::Binder;
use crate::error::{SqlError, SqlState};
use crate::expr::{EvalContext, Expr, eval, fold};
use crate::types::coercion::{CastContext, can_cast};
use crate::types::{ColumnType, DataType, Datum, FormatSettings, common_type};
use std::sync::LazyLock;

/// Settings that constant folding sees. What depends on a session's settings is not folded.
static SETTINGS: LazyLock<FormatSettings> = LazyLock::new(FormatSettings::default);

/// Folds constants.
pub(crate) fn folded(expr: Expr) -> Expr {
    fold(expr, &EvalContext::bare(&SETTINGS))
}

/// Whether the literal's meaning depends on the session that runs the statement.
fn session_dependent(ty: DataType) -> bool {
    let base = crate::types::element_of(ty).unwrap_or(ty);
    matches!(base, DataType::DATE | DataType::TIME | DataType::TIMESTAMP | DataType::TIMESTAMPTZ | DataType::INTERVAL) || base.is_oid()
}

/// ISO dates, times of day and simple intervals mean the same under all settings (`now` and `1/2/2020` do not).
fn is_plain_time(literal: &Expr, ty: DataType) -> bool {
    let Expr::Const(Datum::Text(text), _) = literal else { return false };
    let iso_date =
        || text.len() >= 10 && text.bytes().take(10).zip(b"dddd-dd-dd").all(|(c, p)| if *p == b'd' { c.is_ascii_digit() } else { c == *p });
    match ty {
        DataType::DATE | DataType::TIMESTAMP => iso_date(),
        DataType::TIME => text.bytes().all(|c| c.is_ascii_digit() || matches!(c, b':' | b'.')),
        DataType::INTERVAL => !text.contains('-'),
        _ => false,
    }
}

impl Binder<'_> {
    /// Makes the expression one of the type, if an implicit cast allows it; the caller has checked that it does where that can fail.
    pub(super) fn coerce(&mut self, expr: Expr, to: DataType, pos: usize) -> Result<Expr, SqlError> {
        self.cast_to(expr, to.into(), false, pos)
    }

    /// Casts without asking whether it is allowed; unknown literals and parameters become what is asked for.
    pub(super) fn cast_to(&mut self, expr: Expr, to: ColumnType, explicit: bool, pos: usize) -> Result<Expr, SqlError> {
        let from = expr.ty();
        match expr {
            Expr::Param(index, ty) if ty.ty == DataType::UNKNOWN => {
                let known = self.param_type(index);
                if known == DataType::UNKNOWN {
                    self.param_types[index] = to.ty;
                    return Ok(with_typmod(Expr::Param(index, to.ty.into()), to, explicit));
                }
                self.cast_to(Expr::Param(index, known.into()), to, explicit, pos)
            }
            Expr::Const(value, ty) if ty.ty == DataType::UNKNOWN => {
                if value.is_null() {
                    return Ok(Expr::Const(value, to));
                }
                let pos = match &value {
                    Datum::Text(text) => self.literals.get(text.as_str()).copied().unwrap_or(pos),
                    _ => pos,
                };
                let cast = Expr::Cast { expr: Box::new(Expr::Const(value, ty)), to, explicit };
                let plain = matches!(&cast, Expr::Cast { expr, .. } if is_plain_time(expr, to.ty));
                if session_dependent(to.ty) && !plain {
                    return Ok(cast);
                }
                let value = eval(&cast, &[], &EvalContext::bare(&SETTINGS)).map_err(|e| e.at(pos))?;
                Ok(Expr::Const(value, to))
            }
            expr if to.ty == DataType::ANY || from.ty == to.ty => Ok(with_typmod(expr, to, explicit)),
            // An array of unknown elements: each becomes one of the element type.
            Expr::Array(list, ty) if crate::types::element_of(ty.ty) == Some(DataType::UNKNOWN) => {
                let element = crate::types::element_of(to.ty).unwrap_or(to.ty);
                let list = list.into_iter().map(|e| self.cast_to(e, element.into(), explicit, pos)).collect::<Result<_, _>>()?;
                Ok(Expr::Array(list, to))
            }
            expr => Ok(folded(Expr::Cast { expr: Box::new(expr), to, explicit })),
        }
    }

    /// What is known of `$n` (0-based).
    pub(super) fn param_type(&mut self, index: usize) -> DataType {
        if self.param_types.len() <= index {
            self.param_types.resize(index + 1, DataType::UNKNOWN);
        }
        self.param_types[index]
    }

    /// A value for a column: INSERT, UPDATE, DEFAULT.
    pub(super) fn assign(&mut self, expr: Expr, column: &str, to: ColumnType, pos: usize) -> Result<Expr, SqlError> {
        let from = expr.ty().ty;
        if !can_cast(from, to.ty, CastContext::Assignment) {
            let message = format!("column \"{column}\" is of type {} but expression is of type {from}", to.ty);
            return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message)
                .hint("You will need to rewrite or cast the expression.")
                .at(pos));
        }
        self.cast_to(expr, to, false, pos)
    }

    /// A condition, as the argument of `what` (WHERE, AND ...).
    pub(super) fn boolean(&mut self, expr: Expr, what: &str, pos: usize) -> Result<Expr, SqlError> {
        let from = expr.ty().ty;
        if !can_cast(from, DataType::BOOL, CastContext::Implicit) {
            let message = format!("argument of {what} must be type boolean, not type {from}");
            return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message).at(pos));
        }
        self.coerce(expr, DataType::BOOL, pos)
    }

    /// Brings expressions to the type they agree on; `context` names the construct in the error.
    pub(super) fn unify(&mut self, exprs: Vec<Expr>, context: &str, pos: usize) -> Result<(Vec<Expr>, ColumnType), SqlError> {
        let types: Vec<DataType> = exprs.iter().map(|e| e.ty().ty).collect();
        let common = common_type(&types, context).map_err(|e| e.at(pos))?;
        let to = common_column_type(common, exprs.iter().map(Expr::ty));
        let exprs = exprs.into_iter().map(|e| self.cast_to(e, common.into(), false, pos)).collect::<Result<_, _>>()?;
        Ok((exprs, to))
    }

    /// Text for what is still unknown.
    pub(super) fn resolve_unknown(&mut self, expr: Expr) -> Result<Expr, SqlError> {
        if expr.ty().ty == DataType::UNKNOWN { self.coerce(expr, DataType::TEXT, 0) } else { Ok(expr) }
    }
}

/// The modifier survives if all agree on it.
pub(super) fn common_column_type(ty: DataType, mut types: impl Iterator<Item = ColumnType>) -> ColumnType {
    let first = types.next().filter(|t| t.ty == ty);
    match first {
        Some(first) if types.all(|t| t == first) => first,
        _ => ty.into(),
    }
}

/// `varchar` to `varchar(10)`: a length to enforce.
fn with_typmod(expr: Expr, to: ColumnType, explicit: bool) -> Expr {
    if to.typmod < 0 || expr.ty().typmod == to.typmod || to.ty == DataType::ANY {
        return expr;
    }
    folded(Expr::Cast { expr: Box::new(expr), to, explicit })
}
