//! Builtin functions, operators and aggregates: what exists ([`registry`]), which one a call means ([`resolve`]), and the
//! code of each, one file a subject.
//!
//! Operators are functions whose name is their symbol (`+`, `<=`, `~~`); the binder asks [`resolve_operator`] or
//! [`resolve_function`], wraps each argument in a cast to the type it is told, and builds `Expr::Call`.

use crate::error::SqlError;
use crate::expr::{CompareOp, EvalContext};
use crate::types::{DataType, Datum};

pub mod aggregate;
mod args;
mod arithmetic;
mod arrays;
mod assign_part;
mod comparison;
mod dates;
pub(crate) mod json;
mod math;
mod number_format;
mod pattern;
pub mod quoting;
mod regexp;
pub mod registry;
pub mod resolve;
pub mod set_returning;
mod strings;
pub mod system;
mod trigonometry;
mod unicode;
pub mod variadic;

pub use aggregate::{Accumulator, ResolvedAggregate, resolve_aggregate};
pub use arrays::{NAME_SUBSCRIPT, SLICE as ARRAY_SLICE};
pub use assign_part::{ASSIGN_ELEMENT, ASSIGN_MEMBER, ASSIGN_SLICE};
pub use json::access::SUBSCRIPT as JSONB_SUBSCRIPT;
pub use math::SAMPLED;
pub use pattern::jsonpath_regex;
pub use registry::{FunctionClass, function_class};
pub use resolve::{Resolved, resolve_function, resolve_operator};
pub use set_returning::{ResolvedSetFunction, resolve_set_function};
pub use system::CURRENT_OF;
pub use variadic::resolve_variadic;

/// The code of a function: arguments are already cast to the signature, and not NULL if the function is strict.
pub type EvalFn = fn(&EvalContext<'_>, &[Datum]) -> Result<Datum, SqlError>;

/// A function or operator known to the binder.
#[derive(Debug)]
pub struct BuiltinFunction {
    /// Name as SQL knows it; operators carry their symbol.
    pub name: &'static str,
    /// PostgreSQL's OID where it has one and someone asks, else 0.
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
    /// Set for the six comparison operators, so that planner and executor can see through the call.
    pub compare: Option<CompareOp>,
    /// Set when the call may wait: the executor runs it, not [`crate::expr::eval`].
    pub waits: Option<Waits>,
    /// The code.
    pub eval: EvalFn,
}

/// PostgreSQL's three volatilities.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize)]
#[allow(missing_docs)]
pub enum Volatility {
    Immutable,
    Stable,
    Volatile,
}

/// Why a call may wait. Evaluation is synchronous, so the planner lifts such calls out of expressions (as it does with
/// subqueries) and the executor awaits them. `eval` of these still works where it need not wait (a sequence with cached
/// values, behind [`crate::expr::SessionInfo::nextval`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waits {
    /// `pg_sleep(seconds)`.
    Sleep,
    /// `nextval`, `setval`: the sequence is a key in the store.
    Sequence,
    /// Advisory locks and the like.
    Lock,
}

impl BuiltinFunction {
    /// A strict, immutable function; the methods below say otherwise.
    pub(crate) const fn new(name: &'static str, args: &'static [DataType], result: DataType, eval: EvalFn) -> BuiltinFunction {
        BuiltinFunction {
            name,
            oid: 0,
            args,
            result,
            strict: true,
            variadic: false,
            volatility: Volatility::Immutable,
            compare: None,
            waits: None,
            eval,
        }
    }

    /// Called even with NULL arguments.
    pub(crate) const fn nullable(mut self) -> Self {
        self.strict = false;
        self
    }

    /// The last argument repeats.
    pub(crate) const fn variadic(mut self) -> Self {
        self.variadic = true;
        self
    }

    /// The same within a statement only.
    pub(crate) const fn stable(mut self) -> Self {
        self.volatility = Volatility::Stable;
        self
    }

    /// A new result at every call.
    pub(crate) const fn volatile(mut self) -> Self {
        self.volatility = Volatility::Volatile;
        self
    }

    /// The executor runs it.
    pub(crate) const fn waits(mut self, why: Waits) -> Self {
        self.waits = Some(why);
        self.volatility = Volatility::Volatile;
        self
    }

    /// One of the six comparisons.
    pub(crate) const fn comparing(mut self, op: CompareOp) -> Self {
        self.compare = Some(op);
        self
    }
}
