//! Ordered-set aggregates: percentiles and the mode.
//!
//! The executor hands the rows over in the order of WITHIN GROUP; the direct argument comes with each of them and is the same for all.

use crate::error::{SqlError, SqlState};
use crate::types::datetime::arithmetic;
use crate::types::{Array, DataType, Datum, compare};
use std::sync::Arc;

/// Which of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OrderedKind {
    /// `percentile_cont`: interpolated.
    Continuous,
    /// `percentile_disc`: the first value at or past the fraction.
    Discrete,
    /// `mode`
    Mode,
}

/// The values of one group, in order.
#[derive(Clone, Debug)]
pub(super) struct Ordered {
    kind: OrderedKind,
    fraction: Datum,
    values: Vec<Datum>,
}

impl Ordered {
    pub(super) fn new(kind: OrderedKind) -> Ordered {
        Ordered { kind, fraction: Datum::Null, values: Vec::new() }
    }

    pub(super) fn add(&mut self, args: &[Datum]) {
        let (direct, value) = match args {
            [value] => (None, value),
            [direct, value, ..] => (Some(direct), value),
            [] => return,
        };
        if let Some(direct) = direct {
            self.fraction = direct.clone();
        }
        if !value.is_null() {
            self.values.push(value.clone());
        }
    }

    pub(super) fn merge(&mut self, other: Ordered) {
        self.values.extend(other.values);
        if self.fraction.is_null() {
            self.fraction = other.fraction;
        }
    }

    pub(super) fn finish(&self) -> Result<Datum, SqlError> {
        if self.kind == OrderedKind::Mode {
            return Ok(mode(&self.values));
        }
        match &self.fraction {
            Datum::Float8(fraction) => self.at(*fraction),
            Datum::Array(fractions) if !self.values.is_empty() => {
                let one = |fraction: &Datum| match fraction {
                    Datum::Float8(fraction) => self.at(*fraction),
                    _ => Ok(Datum::Null),
                };
                let elements = fractions.elements.iter().map(one).collect::<Result<Vec<_>, _>>()?;
                let element = self.values.first().map_or(DataType::FLOAT8, crate::types::text::natural_type);
                Ok(Datum::Array(Arc::new(Array { element, dims: fractions.dims.clone(), elements })))
            }
            _ => Ok(Datum::Null),
        }
    }

    fn at(&self, fraction: f64) -> Result<Datum, SqlError> {
        if !(0.0..=1.0).contains(&fraction) {
            let message = format!("percentile value {fraction} is not between 0 and 1");
            return Err(SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, message));
        }
        let Some(last) = self.values.len().checked_sub(1) else { return Ok(Datum::Null) };
        if self.kind == OrderedKind::Discrete {
            let place = (fraction * self.values.len() as f64).ceil() as usize;
            return Ok(self.values[place.saturating_sub(1).min(last)].clone());
        }
        let place = fraction * last as f64;
        let (low, high) = (&self.values[place.floor() as usize], &self.values[place.ceil() as usize]);
        let share = place - place.floor();
        Ok(match (low, high) {
            _ if share == 0.0 => low.clone(),
            (Datum::Float8(low), Datum::Float8(high)) => Datum::Float8(low + share * (high - low)),
            (Datum::Interval(low), Datum::Interval(high)) => {
                let distance = arithmetic::interval_add(*high, arithmetic::interval_mul(*low, -1.0)?)?;
                Datum::Interval(arithmetic::interval_add(*low, arithmetic::interval_mul(distance, share)?)?)
            }
            _ => low.clone(),
        })
    }
}

/// The most frequent value; of several, the first.
fn mode(values: &[Datum]) -> Datum {
    let (mut best, mut most) = (&Datum::Null, 0);
    let mut at = 0;
    while at < values.len() {
        let run = values[at..].iter().take_while(|value| compare::eq(value, &values[at])).count();
        if run > most {
            (best, most) = (&values[at], run);
        }
        at += run.max(1);
    }
    best.clone()
}
