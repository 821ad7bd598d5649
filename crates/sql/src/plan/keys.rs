//! From key expressions to concrete key bounds, at execution.
//!
//! The planner lets `int4_column = $1::int8` use the index, because that comparison can be carried over exactly: a value that fits becomes a
//! key of the column's own type; a value that does not fit matches nothing, or bounds a range at its end. `numeric` beside integer columns
//! works alike: `id < 5.5` is `id <= 5`. [`comparable`] says for which pairs of types this is possible.
//!
//! NULL in an equality or a bound means that the span is empty: no comparison with NULL is true.

use super::{Access, KeyBound, KeyPart, KeySpan, KeyValue, Scan};
use crate::error::{SqlError, SqlState};
use crate::expr::{EvalContext, eval};
use crate::types::{ColumnType, DataType, Datum, cast, compare};
use std::cmp::Ordering;

/// More single keys than this in one scan are refused, rather than let a cross product eat the memory.
const KEYS_MAX: usize = 1_000_000;

/// Concrete bounds in one index: `prefix` equals the first key columns (NULL stands for IS NULL), the bounds are on the column after it,
/// in value order, each with its inclusiveness. With either bound given, NULLs of that column are outside.
#[derive(Clone, Debug, Default)]
pub struct ConcreteSpan {
    /// Values of the first key columns.
    pub prefix: Vec<Datum>,
    /// Lower bound of the next column.
    pub lower: Option<(Datum, bool)>,
    /// Upper bound of the next column.
    pub upper: Option<(Datum, bool)>,
}

/// What a value looks like from a column of another type.
enum Fit {
    Exact(Datum),
    /// Strictly between two neighbours of the column's type.
    Between(Datum, Datum),
    /// Above everything the column can hold.
    Above,
    /// Below everything the column can hold.
    Below,
    Null,
}

/// Whether a comparison made in type `from` can be answered by an index over a column of type `to`.
pub fn comparable(from: DataType, to: DataType) -> bool {
    let integer = |ty| matches!(ty, DataType::INT2 | DataType::INT4 | DataType::INT8);
    let text = |ty| matches!(ty, DataType::TEXT | DataType::VARCHAR | DataType::NAME);
    from == to
        || integer(from) && (integer(to) || to == DataType::NUMERIC)
        || from == DataType::NUMERIC && integer(to)
        || text(from) && text(to)
        || from == DataType::DATE && to == DataType::TIMESTAMP
}

/// The bounds a scan visits, sorted by prefix (so that neighbours come in key order), without duplicates. Full scans give one span without bounds.
/// With [`Access::Points`] every span is a full key.
pub fn concrete_spans(scan: &Scan, ctx: &EvalContext<'_>) -> Result<Vec<ConcreteSpan>, SqlError> {
    let mut spans = Vec::new();
    match &scan.access {
        Access::Full => return Ok(vec![ConcreteSpan::default()]),
        Access::Points(keys) => {
            for key in keys {
                expand(key, None, None, ctx, &mut spans)?;
            }
        }
        Access::Spans(list) => {
            for span in list {
                expand_span(span, ctx, &mut spans)?;
            }
        }
    }
    if spans.len() > 1 {
        sort_spans(scan, &mut spans);
    }
    Ok(spans)
}

/// In index order (each column's own direction); equal prefixes without ranges are one.
fn sort_spans(scan: &Scan, spans: &mut Vec<ConcreteSpan>) {
    let index = scan.index();
    let types: Vec<DataType> = index.key.iter().filter_map(|k| scan.table.columns.get(k.column)).map(|c| c.ty.ty).collect();
    let order = |a: &ConcreteSpan, b: &ConcreteSpan| {
        a.prefix.iter().zip(&b.prefix).enumerate().fold(Ordering::Equal, |order, (i, (x, y))| {
            order.then_with(|| {
                let ty = types.get(i).copied().unwrap_or(DataType::TEXT);
                let ordered = compare_nullable(ty, x, y);
                if index.key.get(i).is_some_and(|k| k.descending) { ordered.reverse() } else { ordered }
            })
        })
    };
    spans.sort_by(order);
    spans.dedup_by(|a, b| {
        let bare = |s: &ConcreteSpan| s.lower.is_none() && s.upper.is_none();
        a.prefix.len() == b.prefix.len() && bare(a) && bare(b) && order(a, b).is_eq()
    });
}

fn compare_nullable(ty: DataType, a: &Datum, b: &Datum) -> Ordering {
    match (a.is_null(), b.is_null()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => compare::cmp_as(ty, a, b),
    }
}

fn expand_span(span: &KeySpan, ctx: &EvalContext<'_>, out: &mut Vec<ConcreteSpan>) -> Result<(), SqlError> {
    let Some(lower) = concrete_bound(span.lower.as_ref(), BoundSide::Lower, ctx)? else { return Ok(()) };
    let Some(upper) = concrete_bound(span.upper.as_ref(), BoundSide::Upper, ctx)? else { return Ok(()) };
    expand(&span.prefix, lower, upper, ctx, out)
}

type Bound = Option<(Datum, bool)>;

/// The cross product of the parts' values.
fn expand(parts: &[KeyPart], lower: Bound, upper: Bound, ctx: &EvalContext<'_>, out: &mut Vec<ConcreteSpan>) -> Result<(), SqlError> {
    let mut prefixes: Vec<Vec<Datum>> = vec![Vec::with_capacity(parts.len())];
    for part in parts {
        let values = part_values(part, ctx)?;
        if let [single] = values.as_slice() {
            prefixes.iter_mut().for_each(|p| p.push(single.clone()));
            continue;
        }
        if prefixes.len().saturating_mul(values.len()) > KEYS_MAX {
            return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, format!("more than {KEYS_MAX} keys in one scan")));
        }
        let extend = |prefix: &Vec<Datum>| values.iter().map(|v| [prefix.as_slice(), std::slice::from_ref(v)].concat()).collect::<Vec<_>>();
        prefixes = prefixes.iter().flat_map(extend).collect();
    }
    out.extend(prefixes.into_iter().map(|prefix| ConcreteSpan { prefix, lower: lower.clone(), upper: upper.clone() }));
    Ok(())
}

fn part_values(part: &KeyPart, ctx: &EvalContext<'_>) -> Result<Vec<Datum>, SqlError> {
    let mut values = Vec::new();
    let mut push = |fit: Fit| {
        if let Fit::Exact(value) = fit {
            values.push(value);
        }
    };
    match part {
        KeyPart::Null => values.push(Datum::Null),
        KeyPart::One(value) => push(evaluate(value, ctx)?),
        KeyPart::Many(list) => {
            for value in list {
                push(evaluate(value, ctx)?);
            }
        }
        KeyPart::Elements(array) => {
            if let Datum::Array(array_value) = eval(&array.expr, &[], ctx)? {
                for element in &array_value.elements {
                    push(fit(element.clone(), array.from, array.to, ctx)?);
                }
            }
        }
    }
    Ok(values)
}

enum BoundSide {
    Lower,
    Upper,
}

/// None: nothing can match. `Some(None)`: no bound.
fn concrete_bound(bound: Option<&KeyBound>, side: BoundSide, ctx: &EvalContext<'_>) -> Result<Option<Bound>, SqlError> {
    let Some(bound) = bound else { return Ok(Some(None)) };
    let limit = match (evaluate(&bound.value, ctx)?, side) {
        (Fit::Exact(value), _) => Some((value, bound.inclusive)),
        (Fit::Between(_, above), BoundSide::Lower) => Some((above, true)),
        (Fit::Between(below, _), BoundSide::Upper) => Some((below, true)),
        (Fit::Above, BoundSide::Upper) => extreme(bound.value.to, Extreme::Max).map(|d| (d, true)),
        (Fit::Below, BoundSide::Lower) => extreme(bound.value.to, Extreme::Min).map(|d| (d, true)),
        (Fit::Above, BoundSide::Lower) | (Fit::Below, BoundSide::Upper) | (Fit::Null, _) => return Ok(None),
    };
    Ok(Some(limit))
}

enum Extreme {
    Min,
    Max,
}

/// The end of an integer type: a bound beyond it still excludes NULLs.
fn extreme(ty: ColumnType, which: Extreme) -> Option<Datum> {
    Some(match (ty.ty, which) {
        (DataType::INT2, Extreme::Min) => Datum::Int2(i16::MIN),
        (DataType::INT2, Extreme::Max) => Datum::Int2(i16::MAX),
        (DataType::INT4, Extreme::Min) => Datum::Int4(i32::MIN),
        (DataType::INT4, Extreme::Max) => Datum::Int4(i32::MAX),
        (DataType::INT8, Extreme::Min) => Datum::Int8(i64::MIN),
        (DataType::INT8, Extreme::Max) => Datum::Int8(i64::MAX),
        _ => return None,
    })
}

fn evaluate(value: &KeyValue, ctx: &EvalContext<'_>) -> Result<Fit, SqlError> {
    fit(eval(&value.expr, &[], ctx)?, value.from, value.to, ctx)
}

fn fit(value: Datum, from: DataType, to: ColumnType, ctx: &EvalContext<'_>) -> Result<Fit, SqlError> {
    if value.is_null() {
        return Ok(Fit::Null);
    }
    match (&value, to.ty) {
        (Datum::Int2(v), DataType::INT2 | DataType::INT4 | DataType::INT8) => Ok(fit_integer(i64::from(*v), to.ty)),
        (Datum::Int4(v), DataType::INT2 | DataType::INT4 | DataType::INT8) => Ok(fit_integer(i64::from(*v), to.ty)),
        (Datum::Int8(v), DataType::INT2 | DataType::INT4 | DataType::INT8) => Ok(fit_integer(*v, to.ty)),
        (Datum::Numeric(_), DataType::INT2 | DataType::INT4 | DataType::INT8) => fit_numeric(value, to.ty, ctx),
        (Datum::Text(text), DataType::BPCHAR) => Ok(fit_padded(text, to.typmod)),
        _ if from == to.ty => Ok(Fit::Exact(value)),
        _ => cast::cast(value, from, to.ty.into(), false, ctx).map(Fit::Exact),
    }
}

fn fit_integer(value: i64, to: DataType) -> Fit {
    let fitted = match to {
        DataType::INT2 => i16::try_from(value).ok().map(Datum::Int2),
        DataType::INT4 => i32::try_from(value).ok().map(Datum::Int4),
        _ => Some(Datum::Int8(value)),
    };
    match fitted {
        Some(datum) => Fit::Exact(datum),
        None if value > 0 => Fit::Above,
        None => Fit::Below,
    }
}

/// Rounds, and looks on which side of the value the rounded one fell.
fn fit_numeric(value: Datum, to: DataType, ctx: &EvalContext<'_>) -> Result<Fit, SqlError> {
    let numeric = DataType::NUMERIC;
    let Ok(Datum::Int8(rounded)) = cast::cast(value.clone(), numeric, DataType::INT8.into(), true, ctx) else {
        let zero = cast::cast(Datum::Int8(0), DataType::INT8, numeric.into(), true, ctx)?;
        return Ok(if compare::cmp_as(numeric, &value, &zero).is_gt() { Fit::Above } else { Fit::Below });
    };
    let back = cast::cast(Datum::Int8(rounded), DataType::INT8, numeric.into(), true, ctx)?;
    let (below, above) = match compare::cmp_as(numeric, &value, &back) {
        Ordering::Equal => return Ok(fit_integer(rounded, to)),
        Ordering::Less => (rounded.saturating_sub(1), rounded),
        Ordering::Greater => (rounded, rounded.saturating_add(1)),
    };
    Ok(match (fit_integer(below, to), fit_integer(above, to)) {
        (Fit::Exact(below), Fit::Exact(above)) => Fit::Between(below, above),
        (_, Fit::Above) | (Fit::Above, _) => Fit::Above,
        _ => Fit::Below,
    })
}

/// `char(n)` compares without its padding and is stored with it.
fn fit_padded(text: &str, typmod: i32) -> Fit {
    let trimmed = text.trim_end_matches(' ');
    let Some(length) = usize::try_from(typmod).ok().and_then(|t| t.checked_sub(4)) else {
        return Fit::Exact(Datum::text(text));
    };
    let count = trimmed.chars().count();
    let mut padded = trimmed.to_owned();
    padded.extend(std::iter::repeat_n(' ', length.saturating_sub(count)));
    // Longer than the column can hold: equal to nothing. Its place in the order is right all the same.
    Fit::Exact(Datum::text(padded))
}
