//! Sums of squares behind `variance` and `stddev`.
//!
//! Exact numbers keep `n`, the sum and the sum of squares, all exact, and divide at the end at PostgreSQL's scale. Floats use
//! Youngs and Cramer's update, which PostgreSQL has used since version 12.

use crate::error::SqlError;
use crate::types::numeric::{Numeric, arithmetic::division_scale};

/// Of exact numbers.
#[derive(Clone, Debug)]
pub(super) struct ExactMoments {
    count: i64,
    sum: Numeric,
    squares: Numeric,
}

impl Default for ExactMoments {
    fn default() -> ExactMoments {
        ExactMoments { count: 0, sum: Numeric::ZERO, squares: Numeric::ZERO }
    }
}

impl ExactMoments {
    pub(super) fn add(&mut self, x: &Numeric) {
        self.count += 1;
        self.sum = self.sum.add(x);
        self.squares = self.squares.add(&x.mul(x));
    }

    pub(super) fn merge(&mut self, other: &ExactMoments) {
        self.count += other.count;
        self.sum = self.sum.add(&other.sum);
        self.squares = self.squares.add(&other.squares);
    }

    /// `(n * sum(x^2) - sum(x)^2) / (n * (n - 1))`, or its root.
    pub(super) fn finish(&self, sample: bool, root: bool) -> Result<Option<Numeric>, SqlError> {
        if self.count <= i64::from(sample) {
            return Ok(None);
        }
        if !self.sum.is_finite() {
            return Ok(Some(Numeric::NaN));
        }
        let count = Numeric::from(self.count);
        let numerator = count.mul(&self.squares).sub(&self.sum.mul(&self.sum));
        if numerator.signum() <= 0 {
            return Ok(Some(Numeric::ZERO));
        }
        let denominator = count.mul(&Numeric::from(self.count - i64::from(sample)));
        let scale = division_scale(&numerator, &denominator);
        let variance = numerator.div(&denominator)?;
        Ok(Some(if root { variance.sqrt_at(scale) } else { variance }))
    }
}

/// Of floats.
#[derive(Clone, Debug, Default)]
pub(super) struct FloatMoments {
    count: f64,
    sum: f64,
    /// `sum((x - mean)^2)`
    squares: f64,
}

impl FloatMoments {
    pub(super) fn add(&mut self, x: f64) {
        self.count += 1.0;
        self.sum += x;
        if self.count > 1.0 {
            let distance = x * self.count - self.sum;
            self.squares += distance * distance / (self.count * (self.count - 1.0));
        } else if !x.is_finite() {
            self.squares = f64::NAN;
        }
    }

    pub(super) fn merge(&mut self, other: &FloatMoments) {
        if other.count == 0.0 {
            return;
        }
        if self.count == 0.0 {
            *self = other.clone();
            return;
        }
        let distance = self.sum / self.count - other.sum / other.count;
        let count = self.count + other.count;
        self.squares += other.squares + self.count * other.count * distance * distance / count;
        self.sum += other.sum;
        self.count = count;
    }

    pub(super) fn finish(&self, sample: bool, root: bool) -> Option<f64> {
        let divisor = if sample { self.count - 1.0 } else { self.count };
        if divisor <= 0.0 {
            return None;
        }
        let variance = self.squares / divisor;
        Some(if root { variance.sqrt() } else { variance })
    }
}
