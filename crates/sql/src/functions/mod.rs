//! Builtin functions and operators (being written).

use crate::error::SqlError;
use crate::expr::EvalContext;
use crate::types::{DataType, Datum};

/// A function or operator known to the binder.
#[derive(Debug)]
pub struct BuiltinFunction {
    /// Name as SQL knows it; operators carry their symbol.
    pub name: &'static str,
    /// PostgreSQL's OID where it has one.
    pub oid: u32,
    /// Argument types; the last repeats when `variadic`.
    pub args: &'static [DataType],
    /// Result type.
    pub result: DataType,
    /// NULL in, NULL out, without a call.
    pub strict: bool,
    /// The last argument repeats.
    pub variadic: bool,
    /// May it be evaluated once, at planning?
    pub volatility: Volatility,
    /// The code.
    pub eval: fn(&EvalContext<'_>, &[Datum]) -> Result<Datum, SqlError>,
}

/// PostgreSQL's three volatilities.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Volatility {
    Immutable,
    Stable,
    Volatile,
}
