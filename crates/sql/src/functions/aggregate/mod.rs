//! Aggregate functions: which one a call means ([`resolve_aggregate`]), and the accumulators that compute them ([`Accumulator`]).
//!
//! DISTINCT, FILTER and ORDER BY are the executor's: it feeds an [`Accumulator`] only the rows that count, in order.
//! Accumulators merge, so that partial results of several batches can be put together.

use super::resolve::{Signature, choose, function_error};
use crate::error::SqlError;
use crate::types::DataType;

mod accumulator;
mod ordered;
mod pairs;
mod variance;

pub use accumulator::Accumulator;
pub use ordered::OrderedKind;
pub use pairs::PairKind;

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
pub enum AggregateKind {
    /// `count(*)`
    CountStar,
    /// `count(x)`
    Count,
    /// `sum`, with the result's type
    Sum(DataType),
    /// `avg`, with the result's type
    Avg(DataType),
    /// `min`
    Min,
    /// `max`
    Max,
    /// `bool_and`, `every`
    BoolAnd,
    /// `bool_or`
    BoolOr,
    /// `bit_and`
    BitAnd,
    /// `bit_or`
    BitOr,
    /// `bit_xor`
    BitXor,
    /// `string_agg`
    StringAgg,
    /// `array_agg`
    ArrayAgg,
    /// `percentile_cont`, `percentile_disc`, `mode`
    Ordered(OrderedKind),
    /// `json_agg` (false) and `jsonb_agg` (true)
    JsonArray(bool),
    /// `json_object_agg` (false) and `jsonb_object_agg` (true)
    JsonObject(bool),
    /// `corr`, `covar_*`, `regr_*`
    Pairs(PairKind),
    /// `var_*` and `stddev_*`
    Variance {
        /// Divide by n - 1 instead of n.
        sample: bool,
        /// The square root of it.
        root: bool,
        /// Of floats, otherwise of exact numbers.
        float: bool,
    },
}

impl Signature for &'static AggregateFunction {
    fn args(&self) -> &[DataType] {
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
        Accumulator::new(self.func.kind, self.arg_types.first().copied().unwrap_or(DataType::ANY))
    }

    /// Does the result depend on the order of the rows (so that an ORDER BY inside the call matters)?
    pub fn is_ordered(&self) -> bool {
        matches!(
            self.func.kind,
            AggregateKind::StringAgg
                | AggregateKind::ArrayAgg
                | AggregateKind::JsonArray(_)
                | AggregateKind::JsonObject(_)
                | AggregateKind::Ordered(_)
        )
    }
}

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

const fn a(name: &'static str, args: &'static [DataType], result: DataType, kind: AggregateKind) -> AggregateFunction {
    AggregateFunction { name, args, result, kind }
}

const INT2: DataType = DataType::INT2;
const INT4: DataType = DataType::INT4;
const INT8: DataType = DataType::INT8;
const FLOAT4: DataType = DataType::FLOAT4;
const FLOAT8: DataType = DataType::FLOAT8;
const NUMERIC: DataType = DataType::NUMERIC;
const INTERVAL: DataType = DataType::INTERVAL;
const BOOL: DataType = DataType::BOOL;
const TEXT: DataType = DataType::TEXT;
const BYTEA: DataType = DataType::BYTEA;
const JSON: DataType = DataType::JSON;
const JSONB: DataType = DataType::JSONB;
const ANYELEMENT: DataType = DataType::ANYELEMENT;
const FLOAT8_ARRAY: DataType = DataType::FLOAT8_ARRAY;

/// `min` and `max` of each type.
macro_rules! extremes {
    ($($ty:ident),*) => {
        &[$(
            a("min", &[DataType::$ty], DataType::$ty, AggregateKind::Min), a("max", &[DataType::$ty], DataType::$ty, AggregateKind::Max),
        )*]
    };
}

static EXTREMES: &[AggregateFunction] = extremes![
    INT2,
    INT4,
    INT8,
    FLOAT4,
    FLOAT8,
    NUMERIC,
    TEXT,
    BPCHAR,
    DATE,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    INTERVAL,
    OID,
    ANYARRAY,
    ANYENUM
];

/// A variance family over every number type.
macro_rules! variances {
    ($($name:literal $sample:literal $root:literal),*) => {
        &[$(
            a($name, &[INT2], NUMERIC, AggregateKind::Variance { sample: $sample, root: $root, float: false }),
            a($name, &[INT4], NUMERIC, AggregateKind::Variance { sample: $sample, root: $root, float: false }),
            a($name, &[INT8], NUMERIC, AggregateKind::Variance { sample: $sample, root: $root, float: false }),
            a($name, &[NUMERIC], NUMERIC, AggregateKind::Variance { sample: $sample, root: $root, float: false }),
            a($name, &[FLOAT4], FLOAT8, AggregateKind::Variance { sample: $sample, root: $root, float: true }),
            a($name, &[FLOAT8], FLOAT8, AggregateKind::Variance { sample: $sample, root: $root, float: true }),
        )*]
    };
}

static VARIANCES: &[AggregateFunction] = variances![
    "variance" true false, "var_samp" true false, "var_pop" false false, "stddev" true true, "stddev_samp" true true, "stddev_pop" false true
];

const fn pair(name: &'static str, kind: PairKind) -> AggregateFunction {
    a(name, &[FLOAT8, FLOAT8], FLOAT8, AggregateKind::Pairs(kind))
}

static PAIRS: &[AggregateFunction] = &[
    pair("corr", PairKind::Corr),
    pair("covar_pop", PairKind::CovarPop),
    pair("covar_samp", PairKind::CovarSamp),
    pair("regr_avgx", PairKind::AvgX),
    pair("regr_avgy", PairKind::AvgY),
    a("regr_count", &[FLOAT8, FLOAT8], INT8, AggregateKind::Pairs(PairKind::Count)),
    pair("regr_intercept", PairKind::Intercept),
    pair("regr_r2", PairKind::R2),
    pair("regr_slope", PairKind::Slope),
    pair("regr_sxx", PairKind::Sxx),
    pair("regr_sxy", PairKind::Sxy),
    pair("regr_syy", PairKind::Syy),
];

#[rustfmt::skip]
static PLAIN: &[AggregateFunction] = &[
    a("count", &[], INT8, AggregateKind::CountStar), a("count", &[DataType::ANY], INT8, AggregateKind::Count),
    a("sum", &[INT2], INT8, AggregateKind::Sum(INT8)), a("sum", &[INT4], INT8, AggregateKind::Sum(INT8)), a("sum", &[INT8], NUMERIC, AggregateKind::Sum(NUMERIC)), a("sum", &[NUMERIC], NUMERIC, AggregateKind::Sum(NUMERIC)), a("sum", &[FLOAT4], FLOAT4, AggregateKind::Sum(FLOAT4)), a("sum", &[FLOAT8], FLOAT8, AggregateKind::Sum(FLOAT8)), a("sum", &[INTERVAL], INTERVAL, AggregateKind::Sum(INTERVAL)),
    a("avg", &[INT2], NUMERIC, AggregateKind::Avg(NUMERIC)), a("avg", &[INT4], NUMERIC, AggregateKind::Avg(NUMERIC)), a("avg", &[INT8], NUMERIC, AggregateKind::Avg(NUMERIC)), a("avg", &[NUMERIC], NUMERIC, AggregateKind::Avg(NUMERIC)), a("avg", &[FLOAT4], FLOAT8, AggregateKind::Avg(FLOAT8)), a("avg", &[FLOAT8], FLOAT8, AggregateKind::Avg(FLOAT8)), a("avg", &[INTERVAL], INTERVAL, AggregateKind::Avg(INTERVAL)),
    a("bool_and", &[BOOL], BOOL, AggregateKind::BoolAnd), a("every", &[BOOL], BOOL, AggregateKind::BoolAnd), a("bool_or", &[BOOL], BOOL, AggregateKind::BoolOr),
    a("bit_and", &[INT2], INT2, AggregateKind::BitAnd), a("bit_and", &[INT4], INT4, AggregateKind::BitAnd), a("bit_and", &[INT8], INT8, AggregateKind::BitAnd), a("bit_or", &[INT2], INT2, AggregateKind::BitOr), a("bit_or", &[INT4], INT4, AggregateKind::BitOr), a("bit_or", &[INT8], INT8, AggregateKind::BitOr),
    a("bit_xor", &[INT2], INT2, AggregateKind::BitXor), a("bit_xor", &[INT4], INT4, AggregateKind::BitXor), a("bit_xor", &[INT8], INT8, AggregateKind::BitXor),
    a("string_agg", &[TEXT, TEXT], TEXT, AggregateKind::StringAgg), a("string_agg", &[BYTEA, BYTEA], BYTEA, AggregateKind::StringAgg),
    a("array_agg", &[DataType::ANYNONARRAY], DataType::ANYARRAY, AggregateKind::ArrayAgg), a("array_agg", &[DataType::ANYARRAY], DataType::ANYARRAY, AggregateKind::ArrayAgg),
    a("percentile_cont", &[FLOAT8, FLOAT8], FLOAT8, AggregateKind::Ordered(OrderedKind::Continuous)), a("percentile_cont", &[FLOAT8, INTERVAL], INTERVAL, AggregateKind::Ordered(OrderedKind::Continuous)), a("percentile_cont", &[FLOAT8_ARRAY, FLOAT8], FLOAT8_ARRAY, AggregateKind::Ordered(OrderedKind::Continuous)), a("percentile_cont", &[FLOAT8_ARRAY, INTERVAL], DataType::INTERVAL_ARRAY, AggregateKind::Ordered(OrderedKind::Continuous)),
    a("percentile_disc", &[FLOAT8, ANYELEMENT], ANYELEMENT, AggregateKind::Ordered(OrderedKind::Discrete)), a("percentile_disc", &[FLOAT8_ARRAY, ANYELEMENT], DataType::ANYARRAY, AggregateKind::Ordered(OrderedKind::Discrete)), a("mode", &[ANYELEMENT], ANYELEMENT, AggregateKind::Ordered(OrderedKind::Mode)),
    a("json_agg", &[ANYELEMENT], JSON, AggregateKind::JsonArray(false)), a("jsonb_agg", &[ANYELEMENT], JSONB, AggregateKind::JsonArray(true)), a("json_object_agg", &[DataType::ANY, DataType::ANY], JSON, AggregateKind::JsonObject(false)), a("jsonb_object_agg", &[DataType::ANY, DataType::ANY], JSONB, AggregateKind::JsonObject(true)),
];

/// All tables, read as one.
struct Tables([&'static [AggregateFunction]; 4]);

impl Tables {
    fn iter(&self) -> impl Iterator<Item = &'static AggregateFunction> {
        self.0.iter().flat_map(|table| table.iter())
    }
}

static AGGREGATES: Tables = Tables([PLAIN, EXTREMES, VARIANCES, PAIRS]);
