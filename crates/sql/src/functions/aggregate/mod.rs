//! Aggregate functions: which one a call means, and the accumulators that compute them.
//!
//! DISTINCT, FILTER and ORDER BY are the executor's: it feeds an [`Accumulator`] only the rows that count, in order.
//! Accumulators merge, so that partial results of several batches can be put together.

use super::resolve::{choose, function_error, Signature};
use crate::error::SqlError;
use crate::expr::EvalContext;
use crate::types::{DataType, Datum};

/// An aggregate function.
#[derive(Debug)]
pub struct AggregateFunction {
    /// Its name.
    pub name: &'static str,
    /// Argument types; empty for `count(*)`.
    pub args: &'static [DataType],
    /// Result type.
    pub result: DataType,
    /// How it accumulates.
    pub kind: AggregateKind,
}

/// How an aggregate accumulates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum AggregateKind {
    CountStar,
    Count,
}

impl Signature for &'static AggregateFunction {
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
pub struct ResolvedAggregate {
    /// Which aggregate.
    pub func: &'static AggregateFunction,
    /// The type each actual argument is to be cast to.
    pub arg_types: Vec<DataType>,
    /// The result type, concrete.
    pub result: DataType,
}

impl ResolvedAggregate {
    /// A new, empty accumulator.
    pub fn accumulator(&self) -> Accumulator {
        Accumulator { count: 0 }
    }
}

/// The state of one aggregate over one group.
#[derive(Clone, Debug)]
pub struct Accumulator {
    count: i64,
}

impl Accumulator {
    /// Takes one row's arguments, already cast to `arg_types`.
    pub fn accumulate(&mut self, _ctx: &EvalContext<'_>, _args: &[Datum]) -> Result<(), SqlError> {
        self.count += 1;
        Ok(())
    }

    /// Takes in what another accumulator of the same aggregate saw (its rows come after this one's).
    pub fn merge(&mut self, other: Accumulator) -> Result<(), SqlError> {
        self.count += other.count;
        Ok(())
    }

    /// The result.
    pub fn finish(self, _ctx: &EvalContext<'_>) -> Result<Datum, SqlError> {
        Ok(Datum::Int8(self.count))
    }
}

static AGGREGATES: &[AggregateFunction] = &[];

/// Is there an aggregate of this name?
pub fn is_aggregate(name: &str) -> bool {
    AGGREGATES.iter().any(|f| f.name == name)
}

/// The aggregate a call means; `count(*)` has no arguments.
pub fn resolve_aggregate(name: &str, args: &[DataType]) -> Result<ResolvedAggregate, SqlError> {
    let overloads: Vec<&'static AggregateFunction> = AGGREGATES.iter().filter(|f| f.name == name).collect();
    let found = choose(&overloads, args).map_err(|why| function_error(name, args, why))?;
    Ok(ResolvedAggregate { func: found.func, arg_types: found.args, result: found.result })
}
