//! The four operations, modulo and rounding.
//!
//! Infinities follow IEEE 754, except that what it calls invalid is an error or NaN as PostgreSQL decides; division by
//! zero is always an error.

use super::{Numeric, POWERS, SCALE_MAX, pow10};
use crate::error::{SqlError, SqlState};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, Zero};

/// Quotients have at least this many significant digits.
const SIGNIFICANT_DIGITS_MIN: i32 = 16;
/// ... and at most this many behind the point.
pub(super) const DISPLAY_SCALE_MAX: i32 = 1000;

fn division_by_zero() -> SqlError {
    SqlError::new(SqlState::DIVISION_BY_ZERO, "division by zero")
}

/// `a / b` rounded half away from zero.
fn div_round(a: &BigInt, b: &BigInt) -> BigInt {
    let (quotient, rest) = a.div_rem(b);
    if rest.magnitude() * 2u8 >= *b.magnitude() {
        let away = if (a.is_negative()) == (b.is_negative()) { 1 } else { -1 };
        quotient + away
    } else {
        quotient
    }
}

impl Numeric {
    /// `self + other`
    pub fn add(&self, other: &Numeric) -> Numeric {
        if let (Numeric::Small { mantissa: a, scale: x }, Numeric::Small { mantissa: b, scale: y }) = (self, other) {
            let (up, down) = (usize::from(y.saturating_sub(*x)), usize::from(x.saturating_sub(*y)));
            if up <= 18 && down <= 18 {
                return Numeric::from_i128(i128::from(*a) * POWERS[up] + i128::from(*b) * POWERS[down], u32::from(*x.max(y)));
            }
        }
        match (self.big_parts(), other.big_parts()) {
            (Some((a, x)), Some((b, y))) => {
                let scale = x.max(y);
                Numeric::from_big(a * pow10(scale - x) + b * pow10(scale - y), scale)
            }
            (Some(_), None) => other.clone(),
            (None, Some(_)) => self.clone(),
            (None, None) => match (self, other) {
                (Numeric::Infinity, Numeric::Infinity) => Numeric::Infinity,
                (Numeric::NegativeInfinity, Numeric::NegativeInfinity) => Numeric::NegativeInfinity,
                _ => Numeric::NaN,
            },
        }
    }

    /// `-self`
    pub fn neg(&self) -> Numeric {
        match self {
            Numeric::Small { mantissa, scale } => Numeric::from_i128(-i128::from(*mantissa), u32::from(*scale)),
            Numeric::Big(big) => Numeric::from_big(-&big.mantissa, big.scale),
            Numeric::NaN => Numeric::NaN,
            Numeric::Infinity => Numeric::NegativeInfinity,
            Numeric::NegativeInfinity => Numeric::Infinity,
        }
    }

    /// The number without its sign.
    pub fn abs(&self) -> Numeric {
        if self.signum() < 0 { self.neg() } else { self.clone() }
    }

    /// `self - other`
    pub fn sub(&self, other: &Numeric) -> Numeric {
        self.add(&other.neg())
    }

    /// `self * other`; the scales add up.
    pub fn mul(&self, other: &Numeric) -> Numeric {
        if let (Numeric::Small { mantissa: a, scale: x }, Numeric::Small { mantissa: b, scale: y }) = (self, other) {
            return Numeric::from_i128(i128::from(*a) * i128::from(*b), u32::from(*x) + u32::from(*y)).limit_scale();
        }
        match (self.big_parts(), other.big_parts()) {
            (Some((a, x)), Some((b, y))) => Numeric::from_big(a * b, x + y).limit_scale(),
            _ if self.is_nan() || other.is_nan() || self.is_zero() || other.is_zero() => Numeric::NaN,
            _ if self.signum() == other.signum() => Numeric::Infinity,
            _ => Numeric::NegativeInfinity,
        }
    }

    fn limit_scale(self) -> Numeric {
        if self.scale() > SCALE_MAX { self.round(SCALE_MAX as i32) } else { self }
    }

    /// `self / other`, at the scale that PostgreSQL chooses ([`division_scale`]).
    pub fn div(&self, other: &Numeric) -> Result<Numeric, SqlError> {
        if let Some(special) = self.div_special(other)? {
            return Ok(special);
        }
        Ok(self.div_at(other, division_scale(self, other)))
    }

    /// The quotient of finite numbers, rounded to a scale.
    pub(super) fn div_at(&self, other: &Numeric, scale: u32) -> Numeric {
        if let (Numeric::Small { mantissa: a, scale: x }, Numeric::Small { mantissa: b, scale: y }) = (self, other) {
            // a/10^x / (b/10^y) * 10^scale = a * 10^(scale + y - x) / b
            let shift = scale as i64 + i64::from(*y) - i64::from(*x);
            if (0..=18).contains(&shift) {
                let (a, b) = (i128::from(*a) * POWERS[shift as usize], i128::from(*b));
                let (quotient, rest) = (a / b, a % b);
                let away = if rest.unsigned_abs() * 2 >= b.unsigned_abs() { if (a < 0) == (b < 0) { 1 } else { -1 } } else { 0 };
                return Numeric::from_i128(quotient + away, scale);
            }
        }
        let (Some((a, x)), Some((b, y))) = (self.big_parts(), other.big_parts()) else { return Numeric::NaN };
        let shift = i64::from(scale) + i64::from(y) - i64::from(x);
        let quotient = if shift >= 0 { div_round(&(a * pow10(shift as u32)), &b) } else { div_round(&a, &(b * pow10((-shift) as u32))) };
        Numeric::from_big(quotient, scale)
    }

    /// Division where something is not finite; division by zero.
    fn div_special(&self, other: &Numeric) -> Result<Option<Numeric>, SqlError> {
        if self.is_nan() || other.is_nan() {
            return Ok(Some(Numeric::NaN));
        }
        if other.is_zero() {
            return Err(division_by_zero());
        }
        Ok(match (self.is_finite(), other.is_finite()) {
            (true, true) => None,
            (true, false) => Some(Numeric::ZERO),
            (false, false) => Some(Numeric::NaN),
            (false, true) => Some(if self.signum() == other.signum() { Numeric::Infinity } else { Numeric::NegativeInfinity }),
        })
    }

    /// `div(self, other)`: the quotient cut to an integer.
    pub fn div_trunc(&self, other: &Numeric) -> Result<Numeric, SqlError> {
        if let Some(special) = self.div_special(other)? {
            return Ok(special);
        }
        let (Some((a, x)), Some((b, y))) = (self.big_parts(), other.big_parts()) else { return Ok(Numeric::NaN) };
        let scale = x.max(y);
        Ok(Numeric::from_big((a * pow10(scale - x)) / (b * pow10(scale - y)), 0))
    }

    /// `self % other`, with the sign of `self`.
    pub fn rem(&self, other: &Numeric) -> Result<Numeric, SqlError> {
        if self.is_nan() || other.is_nan() {
            return Ok(Numeric::NaN);
        }
        if !self.is_finite() {
            return if other.is_zero() { Err(division_by_zero()) } else { Ok(Numeric::NaN) };
        }
        if !other.is_finite() {
            return Ok(self.clone());
        }
        if other.is_zero() {
            return Err(division_by_zero());
        }
        let (Some((a, x)), Some((b, y))) = (self.big_parts(), other.big_parts()) else { return Ok(Numeric::NaN) };
        let scale = x.max(y);
        Ok(Numeric::from_big((a * pow10(scale - x)) % (b * pow10(scale - y)), scale))
    }

    /// Rounds half away from zero to `scale` digits behind the point (before it, when negative).
    pub fn round(&self, scale: i32) -> Numeric {
        self.rescale(scale, Rounding::HalfAway)
    }

    /// Cuts to `scale` digits behind the point.
    pub fn trunc(&self, scale: i32) -> Numeric {
        self.rescale(scale, Rounding::Zero)
    }

    /// The integer at or below.
    pub fn floor(&self) -> Numeric {
        self.rescale(0, Rounding::Down)
    }

    /// The integer at or above.
    pub fn ceil(&self) -> Numeric {
        self.rescale(0, Rounding::Up)
    }

    fn rescale(&self, scale: i32, rounding: Rounding) -> Numeric {
        let own = self.scale() as i32;
        let shown = scale.clamp(0, SCALE_MAX as i32) as u32;
        if let Numeric::Small { mantissa, .. } = self {
            let (up, down) = (scale.saturating_sub(own), own.saturating_sub(scale));
            if (0..=18).contains(&up) {
                return Numeric::from_i128(i128::from(*mantissa) * POWERS[up as usize], shown);
            }
            if (0..=18).contains(&down) && scale >= 0 {
                let (a, unit) = (i128::from(*mantissa), POWERS[down as usize]);
                return Numeric::from_i128(
                    a / unit + rounding.adjust(a.signum() as i32, (a % unit).unsigned_abs() * 2 >= unit as u128, a % unit != 0),
                    shown,
                );
            }
        }
        let Some((mantissa, _)) = self.big_parts() else { return self.clone() };
        if scale >= own {
            return Numeric::from_big(mantissa * pow10((scale.min(SCALE_MAX as i32) - own).max(0) as u32), shown);
        }
        let down = own.saturating_sub(scale);
        if down as usize > self.digits().len() + 1 {
            // Even the first digit is cut off.
            let adjusted = rounding.adjust(self.signum(), false, !mantissa.is_zero());
            return Numeric::from_big(BigInt::from(adjusted), 0).round(shown as i32);
        }
        let unit = pow10(down as u32);
        let (quotient, rest) = mantissa.div_rem(&unit);
        let half = rest.magnitude() * 2u8 >= *unit.magnitude();
        let quotient = quotient + rounding.adjust(self.signum(), half, !rest.is_zero());
        if scale >= 0 { Numeric::from_big(quotient, shown) } else { Numeric::from_big(quotient * pow10((-scale) as u32), 0) }
    }
}

/// Which way to round.
#[derive(Clone, Copy)]
enum Rounding {
    HalfAway,
    Zero,
    Down,
    Up,
}

impl Rounding {
    /// What to add to the quotient that was cut towards zero.
    fn adjust(self, sign: i32, half: bool, inexact: bool) -> i128 {
        match self {
            Rounding::HalfAway if half => i128::from(sign),
            Rounding::Down if inexact && sign < 0 => -1,
            Rounding::Up if inexact && sign > 0 => 1,
            _ => 0,
        }
    }
}

/// Weight (in base-10000 digits) and value of the first base-10000 digit of a finite number: what PostgreSQL's scale
/// rules look at. `(0, 0)` for zero.
pub(super) fn first_digit(number: &Numeric) -> (i32, i32) {
    let digits = number.digits();
    if digits.is_empty() {
        return (0, 0);
    }
    let power = digits.len() as i32 - 1 - number.scale() as i32;
    let weight = power.div_euclid(4);
    let take = power.rem_euclid(4) as usize + 1;
    let padded: String = digits.chars().chain("000".chars()).take(take).collect();
    (weight, padded.parse().unwrap_or(0))
}

/// The scale of a quotient: 16 significant digits at least, never less than either operand's scale. The quotient's weight is guessed from the first base-10000 digits, as PostgreSQL does.
pub fn division_scale(a: &Numeric, b: &Numeric) -> u32 {
    let ((weight_a, first_a), (weight_b, first_b)) = (first_digit(a), first_digit(b));
    let mut weight = weight_a - weight_b;
    if first_a <= first_b {
        weight -= 1;
    }
    let scale = (SIGNIFICANT_DIGITS_MIN - weight * 4).max(a.scale() as i32).max(b.scale() as i32);
    scale.clamp(0, DISPLAY_SCALE_MAX) as u32
}
