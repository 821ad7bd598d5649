//! Set-returning functions: `generate_series`, `unnest` and their like.
//!
//! They stand in FROM or in a select list; either way the planner turns them into a row source and the executor pulls
//! values from the iterator, so a series of a billion rows takes no memory.

use super::resolve::{choose, function_error, Signature};
use crate::error::SqlError;
use crate::expr::EvalContext;
use crate::types::{DataType, Datum};

/// The values of one call. A function with several columns yields [`Datum::Record`]s.
pub type SetRows = Box<dyn Iterator<Item = Result<Datum, SqlError>> + Send>;

/// A set-returning function.
#[derive(Debug)]
pub struct SetFunction {
    /// Its name.
    pub name: &'static str,
    /// Argument types.
    pub args: &'static [DataType],
    /// Type of one value; RECORD when there are `columns`.
    pub result: DataType,
    /// Column names and types, when a value is a record.
    pub columns: &'static [(&'static str, DataType)],
    /// A NULL argument gives no rows. When false the function sees the NULLs.
    pub strict: bool,
    /// The code.
    pub eval: fn(&EvalContext<'_>, &[Datum]) -> Result<SetRows, SqlError>,
}

impl Signature for &'static SetFunction {
    fn args(&self) -> &'static [DataType] {
        self.args
    }
    fn variadic(&self) -> bool {
        false
    }
    fn result(&self) -> DataType {
        self.result
    }
}

/// A call resolved.
#[derive(Clone, Debug)]
pub struct ResolvedSetFunction {
    /// What to call.
    pub func: &'static SetFunction,
    /// The type each actual argument is to be cast to.
    pub arg_types: Vec<DataType>,
    /// The type of one value, concrete.
    pub result: DataType,
}

impl ResolvedSetFunction {
    /// Starts the call; arguments are already cast.
    pub fn call(&self, ctx: &EvalContext<'_>, args: &[Datum]) -> Result<SetRows, SqlError> {
        if self.func.strict && args.iter().any(Datum::is_null) {
            return Ok(Box::new(std::iter::empty()));
        }
        (self.func.eval)(ctx, args)
    }
}

static FUNCTIONS: &[SetFunction] = &[];

/// Is there a set-returning function of this name?
pub fn is_set_returning(name: &str) -> bool {
    FUNCTIONS.iter().any(|f| f.name == name)
}

/// The set-returning function a call means.
pub fn resolve_set_function(name: &str, args: &[DataType]) -> Result<ResolvedSetFunction, SqlError> {
    let overloads: Vec<&'static SetFunction> = FUNCTIONS.iter().filter(|f| f.name == name).collect();
    let found = choose(&overloads, args).map_err(|why| function_error(name, args, why))?;
    Ok(ResolvedSetFunction { func: found.func, arg_types: found.args, result: found.result })
}
