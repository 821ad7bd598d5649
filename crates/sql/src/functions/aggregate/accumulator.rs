//! The state of one aggregate over one group.

use super::AggregateKind;
use super::ordered::Ordered;
use super::pairs::{PairKind, PairMoments};
use super::variance::{ExactMoments, FloatMoments};
use crate::error::{SqlError, SqlState};
use crate::expr::EvalContext;
use crate::functions::json::build::Collected;
use crate::types::datetime::arithmetic;
use crate::types::{DataType, Datum, Interval, Numeric, cast, compare};

/// Bytes a `string_agg` may collect.
const TEXT_BYTES_MAX: usize = 1 << 30;

/// The state of one aggregate over one group. NULL arguments are left out by it (except of `array_agg` and the JSON ones).
#[derive(Clone, Debug)]
pub struct Accumulator(State);

#[derive(Clone, Debug)]
enum State {
    Count {
        star: bool,
        count: i64,
    },
    /// Sums and averages of integers: an `i128` cannot overflow in a lifetime.
    Integers {
        sum: i128,
        count: i64,
        average: bool,
        result: DataType,
    },
    Numerics {
        sum: Numeric,
        count: i64,
        average: bool,
    },
    Floats {
        sum: f64,
        count: i64,
        average: bool,
        result: DataType,
    },
    Intervals {
        sum: Interval,
        count: i64,
        average: bool,
    },
    Extreme {
        best: Datum,
        greatest: bool,
        ty: DataType,
    },
    Bool {
        value: Option<bool>,
        all: bool,
    },
    Bits {
        value: Datum,
        kind: AggregateKind,
    },
    /// Separators and texts; the first separator is cut off at the end.
    Text {
        buffer: String,
        first_separator: Option<usize>,
    },
    Bytes {
        buffer: Vec<u8>,
        first_separator: Option<usize>,
    },
    Elements {
        elements: Vec<Datum>,
        element: DataType,
    },
    Json(Collected),
    Ordered(Ordered),
    Pairs {
        moments: PairMoments,
        kind: PairKind,
    },
    ExactVariance {
        moments: ExactMoments,
        sample: bool,
        root: bool,
    },
    FloatVariance {
        moments: FloatMoments,
        sample: bool,
        root: bool,
    },
}

impl Accumulator {
    /// An empty one; `argument` is the type of the first argument.
    pub(super) fn new(kind: AggregateKind, argument: DataType) -> Accumulator {
        Accumulator(match kind {
            AggregateKind::CountStar => State::Count { star: true, count: 0 },
            AggregateKind::Count => State::Count { star: false, count: 0 },
            AggregateKind::Sum(result) => summing(argument, result, false),
            AggregateKind::Avg(result) => summing(argument, result, true),
            AggregateKind::Min => State::Extreme { best: Datum::Null, greatest: false, ty: argument },
            AggregateKind::Max => State::Extreme { best: Datum::Null, greatest: true, ty: argument },
            AggregateKind::BoolAnd => State::Bool { value: None, all: true },
            AggregateKind::BoolOr => State::Bool { value: None, all: false },
            AggregateKind::BitAnd | AggregateKind::BitOr | AggregateKind::BitXor => State::Bits { value: Datum::Null, kind },
            AggregateKind::StringAgg if argument == DataType::BYTEA => State::Bytes { buffer: Vec::new(), first_separator: None },
            AggregateKind::StringAgg => State::Text { buffer: String::new(), first_separator: None },
            AggregateKind::ArrayAgg => State::Elements { elements: Vec::new(), element: argument },
            AggregateKind::Ordered(kind) => State::Ordered(Ordered::new(kind)),
            AggregateKind::JsonArray(false) => State::Json(Collected::Array(String::new())),
            AggregateKind::JsonArray(true) => State::Json(Collected::JsonbArray(Vec::new())),
            AggregateKind::JsonObject(false) => State::Json(Collected::Object(String::new())),
            AggregateKind::JsonObject(true) => State::Json(Collected::JsonbObject(Vec::new(), 0)),
            AggregateKind::Pairs(kind) => State::Pairs { moments: PairMoments::default(), kind },
            AggregateKind::Variance { sample, root, float: true } => {
                State::FloatVariance { moments: FloatMoments::default(), sample, root }
            }
            AggregateKind::Variance { sample, root, float: false } => {
                State::ExactVariance { moments: ExactMoments::default(), sample, root }
            }
        })
    }

    /// Takes rows at once: for `count(*)`, which looks at none of them.
    pub fn count_rows(&mut self, rows: usize) {
        if let State::Count { count, .. } = &mut self.0 {
            *count += rows as i64;
        }
    }

    /// Takes one row's arguments, already cast to `arg_types`.
    pub fn accumulate(&mut self, ctx: &EvalContext<'_>, args: &[Datum]) -> Result<(), SqlError> {
        let first = args.first().unwrap_or(&Datum::Null);
        if first.is_null()
            && !matches!(self.0, State::Elements { .. } | State::Json(_) | State::Ordered(_) | State::Count { star: true, .. })
        {
            return Ok(());
        }
        match &mut self.0 {
            State::Count { count, .. } => *count += 1,
            State::Integers { sum, count, .. } => {
                *sum += i128::from(compare::as_i64(first).unwrap_or(0));
                *count += 1;
            }
            State::Numerics { sum, count, .. } => {
                if let Datum::Numeric(n) = first {
                    *sum = sum.add(n);
                    *count += 1;
                }
            }
            State::Floats { sum, count, result, .. } => {
                let (value, before) = (as_f64(first), *sum);
                *sum += value;
                if *result == DataType::FLOAT4 {
                    *sum = f64::from(*sum as f32);
                }
                if sum.is_infinite() && value.is_finite() && before.is_finite() {
                    return Err(SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: overflow"));
                }
                *count += 1;
            }
            State::Intervals { sum, count, .. } => {
                if let Datum::Interval(interval) = first {
                    *sum = arithmetic::interval_add(*sum, *interval)?;
                    *count += 1;
                }
            }
            State::Extreme { best, greatest, ty } => keep_extreme(best, first, *greatest, *ty),
            State::Bool { value, all } => {
                if let Datum::Bool(b) = first {
                    *value = Some(combine_bool(*value, *b, *all));
                }
            }
            State::Bits { value, kind } => *value = combine_bits(value, first, *kind),
            State::Text { buffer, first_separator } => {
                let separator = match args.get(1) {
                    Some(Datum::Text(separator)) => separator.as_str(),
                    _ => "",
                };
                first_separator.get_or_insert(separator.len());
                buffer.push_str(separator);
                if let Datum::Text(text) = first {
                    buffer.push_str(text);
                }
                check_size(buffer.len())?;
            }
            State::Bytes { buffer, first_separator } => {
                let separator: &[u8] = match args.get(1) {
                    Some(Datum::Bytes(separator)) => separator,
                    _ => &[],
                };
                first_separator.get_or_insert(separator.len());
                buffer.extend_from_slice(separator);
                if let Datum::Bytes(bytes) = first {
                    buffer.extend_from_slice(bytes);
                }
                check_size(buffer.len())?;
            }
            State::Elements { elements, .. } => elements.push(first.clone()),
            State::Json(collected) => collected.add(args, ctx)?,
            State::Ordered(ordered) => ordered.add(args),
            State::Pairs { moments, .. } => match args.get(1) {
                None | Some(Datum::Null) => {}
                Some(second) => moments.add(as_f64(first), as_f64(second)),
            },
            State::ExactVariance { moments, .. } => moments.add(&match first {
                Datum::Numeric(n) => n.clone(),
                other => Numeric::from(compare::as_i64(other).unwrap_or(0)),
            }),
            State::FloatVariance { moments, .. } => moments.add(as_f64(first)),
        }
        Ok(())
    }

    /// Takes in what another accumulator of the same aggregate saw; its rows come after this one's.
    pub fn merge(&mut self, other: Accumulator) -> Result<(), SqlError> {
        match (&mut self.0, other.0) {
            (State::Count { count, .. }, State::Count { count: more, .. }) => *count += more,
            (State::Json(collected), State::Json(more)) => collected.merge(more),
            (State::Ordered(ordered), State::Ordered(more)) => ordered.merge(more),
            (State::Integers { sum, count, .. }, State::Integers { sum: more, count: n, .. }) => {
                *sum += more;
                *count += n;
            }
            (State::Numerics { sum, count, .. }, State::Numerics { sum: more, count: n, .. }) => {
                *sum = sum.add(&more);
                *count += n;
            }
            (State::Floats { sum, count, .. }, State::Floats { sum: more, count: n, .. }) => {
                *sum += more;
                *count += n;
            }
            (State::Intervals { sum, count, .. }, State::Intervals { sum: more, count: n, .. }) => {
                *sum = arithmetic::interval_add(*sum, more)?;
                *count += n;
            }
            (State::Extreme { best, greatest, ty }, State::Extreme { best: candidate, .. }) if !candidate.is_null() => {
                keep_extreme(best, &candidate, *greatest, *ty);
            }
            (State::Bool { value, all }, State::Bool { value: Some(more), .. }) => *value = Some(combine_bool(*value, more, *all)),
            (State::Bits { value, kind }, State::Bits { value: more, .. }) if !more.is_null() => *value = combine_bits(value, &more, *kind),
            (State::Text { buffer, first_separator }, State::Text { buffer: more, first_separator: first }) => {
                *first_separator = first_separator.or(first);
                buffer.push_str(&more);
                check_size(buffer.len())?;
            }
            (State::Bytes { buffer, first_separator }, State::Bytes { buffer: more, first_separator: first }) => {
                *first_separator = first_separator.or(first);
                buffer.extend_from_slice(&more);
                check_size(buffer.len())?;
            }
            (State::Elements { elements, .. }, State::Elements { elements: more, .. }) => elements.extend(more),
            (State::Pairs { moments, .. }, State::Pairs { moments: more, .. }) => moments.merge(&more),
            (State::ExactVariance { moments, .. }, State::ExactVariance { moments: more, .. }) => moments.merge(&more),
            (State::FloatVariance { moments, .. }, State::FloatVariance { moments: more, .. }) => moments.merge(&more),
            _ => {}
        }
        Ok(())
    }

    /// The result; NULL over no rows, except for counts.
    pub fn finish(self, _ctx: &EvalContext<'_>) -> Result<Datum, SqlError> {
        Ok(match self.0 {
            State::Count { count, .. } => Datum::Int8(count),
            State::Integers { count: 0, .. }
            | State::Numerics { count: 0, .. }
            | State::Floats { count: 0, .. }
            | State::Intervals { count: 0, .. } => Datum::Null,
            State::Integers { sum, count, average: true, .. } => Datum::Numeric(Numeric::from_i128(sum, 0).div(&Numeric::from(count))?),
            State::Integers { sum, result: DataType::INT8, .. } => {
                Datum::Int8(i64::try_from(sum).map_err(|_| SqlError::out_of_range("bigint"))?)
            }
            State::Integers { sum, .. } => Datum::Numeric(Numeric::from_i128(sum, 0)),
            State::Numerics { sum, count, average: true } => Datum::Numeric(sum.div(&Numeric::from(count))?),
            State::Numerics { sum, .. } => Datum::Numeric(sum),
            State::Floats { sum, count, average: true, .. } => Datum::Float8(sum / count as f64),
            State::Floats { sum, result: DataType::FLOAT4, .. } => Datum::Float4(cast::narrow(sum)?),
            State::Floats { sum, .. } => Datum::Float8(sum),
            State::Intervals { sum, count, average: true } => Datum::Interval(arithmetic::interval_div(sum, count as f64)?),
            State::Intervals { sum, .. } => Datum::Interval(sum),
            State::Extreme { best, .. } => best,
            State::Bool { value, .. } => value.map_or(Datum::Null, Datum::Bool),
            State::Bits { value, .. } => value,
            State::Text { buffer, first_separator } => first_separator.map_or(Datum::Null, |cut| Datum::text(&buffer[cut..])),
            State::Bytes { buffer, first_separator } => first_separator.map_or(Datum::Null, |cut| Datum::Bytes(buffer[cut..].into())),
            State::Elements { elements, .. } if elements.is_empty() => Datum::Null,
            // Arrays become the rows of one with a dimension more.
            State::Elements { elements, element } if element.is_array() => nested(elements, element)?,
            State::Elements { elements, element } => Datum::array(element, elements),
            State::Json(collected) => collected.finish(),
            State::Ordered(ordered) => ordered.finish()?,
            State::Pairs { moments, kind: PairKind::Count } => Datum::Int8(moments.count()),
            State::Pairs { moments, kind } => moments.finish(kind).map_or(Datum::Null, Datum::Float8),
            State::ExactVariance { moments, sample, root } => moments.finish(sample, root)?.map_or(Datum::Null, Datum::Numeric),
            State::FloatVariance { moments, sample, root } => moments.finish(sample, root).map_or(Datum::Null, Datum::Float8),
        })
    }
}

/// Arrays as the rows of one with a dimension more.
fn nested(arrays: Vec<Datum>, element: DataType) -> Result<Datum, SqlError> {
    let dims =
        |array: &Datum| if let Datum::Array(array) = array { Some(array.dims.iter().map(|d| d.0).collect::<Vec<_>>()) } else { None };
    let refused = |message| Err(SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message));
    if arrays.iter().any(Datum::is_null) {
        return Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "cannot accumulate null arrays"));
    }
    if arrays.iter().any(|array| dims(array).is_some_and(|d| d.is_empty())) {
        return refused("cannot accumulate empty arrays");
    }
    if arrays.iter().any(|array| dims(array) != dims(&arrays[0])) {
        return refused("cannot accumulate arrays of different dimensionality");
    }
    crate::expr::make_array(arrays, element.into())
}

fn summing(argument: DataType, result: DataType, average: bool) -> State {
    match argument {
        DataType::INT2 | DataType::INT4 | DataType::INT8 => State::Integers { sum: 0, count: 0, average, result },
        DataType::FLOAT4 | DataType::FLOAT8 => State::Floats { sum: 0.0, count: 0, average, result },
        DataType::INTERVAL => State::Intervals { sum: Interval::default(), count: 0, average },
        _ => State::Numerics { sum: Numeric::ZERO, count: 0, average },
    }
}

fn as_f64(value: &Datum) -> f64 {
    match value {
        Datum::Float4(x) => f64::from(*x),
        Datum::Float8(x) => *x,
        _ => 0.0,
    }
}

fn keep_extreme(best: &mut Datum, candidate: &Datum, greatest: bool, ty: DataType) {
    let order = compare::cmp_as(ty, candidate, best);
    if best.is_null() || (greatest && order.is_gt()) || (!greatest && order.is_lt()) {
        *best = candidate.clone();
    }
}

fn combine_bool(value: Option<bool>, next: bool, all: bool) -> bool {
    match value {
        None => next,
        Some(value) if all => value && next,
        Some(value) => value || next,
    }
}

fn combine_bits(value: &Datum, next: &Datum, kind: AggregateKind) -> Datum {
    let (Some(a), Some(b)) = (compare::as_i64(value), compare::as_i64(next)) else { return next.clone() };
    let combined = match kind {
        AggregateKind::BitAnd => a & b,
        AggregateKind::BitOr => a | b,
        _ => a ^ b,
    };
    match next {
        Datum::Int2(_) => Datum::Int2(combined as i16),
        Datum::Int4(_) => Datum::Int4(combined as i32),
        _ => Datum::Int8(combined),
    }
}

fn check_size(bytes: usize) -> Result<(), SqlError> {
    if bytes > TEXT_BYTES_MAX {
        return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "string buffer exceeds maximum allowed length (1073741823 bytes)"));
    }
    Ok(())
}
