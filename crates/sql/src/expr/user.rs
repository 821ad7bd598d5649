//! Calls of functions that users have made.
//!
//! A function whose body is one expression over its arguments has that expression here, and is evaluated in place. All others run statements: the planner
//! lifts their calls out of expressions, as it does with subqueries, and the executor awaits them.

use super::{EvalContext, Expr, eval};
use crate::catalog::FunctionDescriptor;
use crate::error::{SqlError, SqlState};
use crate::types::{ColumnType, DataType, Datum, Shape};
use std::sync::Arc;

/// A function as a call means it: its types are concrete.
pub struct UserFunction {
    /// The function.
    pub descriptor: Arc<FunctionDescriptor>,
    /// Types of the arguments, one for each incoming parameter.
    pub arg_types: Vec<DataType>,
    /// The type of one value of the result.
    pub result: ColumnType,
    /// Its fields, if it is a row.
    pub shape: Option<Arc<Shape>>,
    /// The body, if it is one expression over the arguments (as parameters) that can be evaluated in place.
    pub body: Option<Expr>,
}

impl std::fmt::Debug for UserFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}#{}", self.descriptor.name, self.descriptor.oid)
    }
}

impl UserFunction {
    /// Does a call run statements?
    pub fn runs_statements(&self) -> bool {
        self.body.is_none()
    }

    /// What an error within it says of where it was.
    pub fn context(&self, place: &str) -> String {
        format!("SQL function \"{}\" {place}", self.descriptor.name)
    }
}

/// Calls that an error says it was in; of those around them it says nothing.
const CONTEXT_LINES_MAX: usize = 8;

/// Adds where an error was to what it says of that already, inner places first.
pub fn with_context(mut error: SqlError, place: String) -> SqlError {
    let fields = error.fields_mut();
    // A place in the function's text means nothing in the statement's.
    fields.position = None;
    fields.context = Some(match fields.context.take() {
        Some(inner) if inner.lines().count() >= CONTEXT_LINES_MAX => inner,
        Some(inner) => format!("{inner}\n{place}"),
        None => place,
    });
    error
}

/// The value of a call that is evaluated in place.
pub(super) fn call(function: &UserFunction, args: &[Expr], row: &[Datum], ctx: &EvalContext<'_>) -> Result<Datum, SqlError> {
    let Some(body) = &function.body else {
        let message = format!("a call of the function {} in that place", function.descriptor.name);
        return Err(SqlError::unsupported(message));
    };
    let values = args.iter().map(|arg| eval(arg, row, ctx)).collect::<Result<Vec<_>, _>>()?;
    if values.len() != function.arg_types.len() {
        return Err(SqlError::new(SqlState::INTERNAL_ERROR, "a function is called with the wrong number of arguments"));
    }
    if function.descriptor.strict && values.iter().any(Datum::is_null) {
        return Ok(Datum::Null);
    }
    eval(body, &[], &EvalContext { params: &values, ..*ctx }).map_err(|error| with_context(error, function.context("statement 1")))
}
