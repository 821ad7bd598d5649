//! Roots, powers, exponentials and logarithms.
//!
//! All compute on big integers scaled by a power of ten, with `GUARD_DIGITS` digits to spare, then round to the scale that
//! PostgreSQL would show; its estimates of the result's weight are repeated here, since they decide that scale.

use super::arithmetic::{DISPLAY_SCALE_MAX, first_digit};
use super::{Numeric, pow10};
use crate::error::{SqlError, SqlState};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

/// Digits computed beyond those shown, so that rounding is right but for one case in 10^12.
const GUARD_DIGITS: u32 = 12;
/// A whole power of a fraction is computed exactly while its digits stay below this, else by logarithm.
const EXACT_POWER_DIGITS_MAX: usize = 20_000;
/// Beyond this decimal exponent a result overflows the format (or is zero).
const RESULT_DIGITS_MAX: f64 = 131_072.0;
const LN_10: f64 = std::f64::consts::LN_10;
const LOG10_E: f64 = std::f64::consts::LOG10_E;

fn overflow() -> SqlError {
    SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value overflows numeric format")
}

/// A scale within what may be shown.
fn shown_scale(scale: i32, at_least: &[u32]) -> u32 {
    let floor = at_least.iter().copied().max().unwrap_or(0) as i32;
    scale.max(floor).clamp(0, DISPLAY_SCALE_MAX) as u32
}

/// The number times `10^scale`, cut to an integer.
fn fixed(number: &Numeric, scale: u32) -> BigInt {
    let Some((mantissa, own)) = number.big_parts() else { return BigInt::zero() };
    if scale >= own { mantissa * pow10(scale - own) } else { mantissa / pow10(own - scale) }
}

impl Numeric {
    /// Square root; an error below zero.
    pub fn sqrt(&self) -> Result<Numeric, SqlError> {
        if self.is_nan() || (self.signum() > 0 && !self.is_finite()) {
            return Ok(self.clone());
        }
        if self.signum() < 0 {
            return Err(SqlError::new(SqlState::INVALID_ARGUMENT_FOR_POWER_FUNCTION, "cannot take square root of a negative number"));
        }
        let (weight, _) = first_digit(self);
        let result_weight = if weight >= 0 { weight * 4 / 2 + 1 } else { 1 - (1 - weight * 4) / 2 };
        let scale = shown_scale(16 - result_weight, &[self.scale()]);
        Ok(self.sqrt_at(scale))
    }

    /// Square root of a finite number not below zero, rounded to a scale.
    pub fn sqrt_at(&self, scale: u32) -> Numeric {
        let root = fixed(self, 2 * (scale + 1)).sqrt();
        Numeric::from_big(root, scale + 1).round(scale as i32)
    }

    /// `e` to this power.
    pub fn exp(&self) -> Result<Numeric, SqlError> {
        match self {
            Numeric::NegativeInfinity => return Ok(Numeric::ZERO),
            special if !special.is_finite() => return Ok(special.clone()),
            _ => {}
        }
        let weight = self.to_f64() * LOG10_E;
        let scale = shown_scale(16 - weight.clamp(-2000.0, 2000.0) as i32, &[self.scale()]);
        exp_at(self, scale)
    }

    /// Natural logarithm.
    pub fn ln(&self) -> Result<Numeric, SqlError> {
        if let Some(special) = self.log_special()? {
            return Ok(special);
        }
        let scale = shown_scale(16 - ln_weight(self), &[self.scale()]);
        Ok(Numeric::from_big(ln_fixed(self, scale + GUARD_DIGITS), scale + GUARD_DIGITS).round(scale as i32))
    }

    /// Logarithm to a base.
    pub fn log(&self, base: &Numeric) -> Result<Numeric, SqlError> {
        let special_base = base.log_special()?;
        let special = self.log_special()?;
        match (special_base, special) {
            (None, None) => {}
            (Some(Numeric::NaN), _) | (_, Some(Numeric::NaN)) => return Ok(Numeric::NaN),
            (Some(_), None) => return Ok(Numeric::ZERO),
            (Some(_), Some(_)) => return Ok(Numeric::NaN),
            (None, Some(infinity)) => return Ok(infinity),
        }
        let scale = shown_scale(16 - (ln_weight(self) - ln_weight(base)), &[self.scale(), base.scale()]);
        let precision = scale + 2 * GUARD_DIGITS;
        let divisor = ln_fixed(base, precision);
        if divisor.is_zero() {
            return Err(SqlError::new(SqlState::DIVISION_BY_ZERO, "division by zero"));
        }
        let quotient = ln_fixed(self, precision) * pow10(scale + 2) / divisor;
        Ok(Numeric::from_big(quotient, scale + 2).round(scale as i32))
    }

    fn log_special(&self) -> Result<Option<Numeric>, SqlError> {
        let invalid = |message| Err(SqlError::new(SqlState::INVALID_ARGUMENT_FOR_LOGARITHM, message));
        match self {
            Numeric::NaN => Ok(Some(Numeric::NaN)),
            _ if self.signum() < 0 => invalid("cannot take logarithm of a negative number"),
            _ if self.is_zero() => invalid("cannot take logarithm of zero"),
            Numeric::Infinity => Ok(Some(Numeric::Infinity)),
            _ => Ok(None),
        }
    }

    /// `self ^ exponent`.
    pub fn pow(&self, exponent: &Numeric) -> Result<Numeric, SqlError> {
        if !self.is_finite() || !exponent.is_finite() {
            return self.pow_special(exponent);
        }
        if self.is_zero() && exponent.signum() < 0 {
            return Err(SqlError::new(SqlState::INVALID_ARGUMENT_FOR_POWER_FUNCTION, "zero raised to a negative power is undefined"));
        }
        let whole = exponent.trim_scale();
        if whole.scale() == 0 {
            if let Some(power) = whole.big_parts().and_then(|(mantissa, _)| mantissa.to_i32()) {
                return self.pow_int(power);
            }
        } else if self.signum() < 0 {
            return Err(SqlError::new(
                SqlState::INVALID_ARGUMENT_FOR_POWER_FUNCTION,
                "a negative number raised to a non-integer power yields a complex result",
            ));
        }
        if self.is_zero() {
            return Ok(Numeric::ZERO.round(16));
        }
        let estimate = self.abs().to_f64().ln() * exponent.to_f64() * LOG10_E;
        if estimate > RESULT_DIGITS_MAX {
            return Err(overflow());
        }
        if estimate < -(DISPLAY_SCALE_MAX as f64) {
            return Ok(Numeric::ZERO.round(DISPLAY_SCALE_MAX));
        }
        let scale = shown_scale(16 - estimate as i32, &[self.scale(), exponent.scale()]);
        let precision = scale + estimate.max(0.0) as u32 + GUARD_DIGITS + exponent.digits().len() as u32;
        let product = Numeric::from_big(ln_fixed(self, precision), precision).mul(exponent);
        exp_at(&product, scale)
    }

    fn pow_special(&self, exponent: &Numeric) -> Result<Numeric, SqlError> {
        if exponent.is_zero() || *self == Numeric::ONE {
            return Ok(Numeric::ONE);
        }
        if self.is_nan() || exponent.is_nan() {
            return Ok(Numeric::NaN);
        }
        let power = self.to_f64().powf(exponent.to_f64());
        Ok(Numeric::from_f64(power))
    }

    fn pow_int(&self, power: i32) -> Result<Numeric, SqlError> {
        let scale = shown_scale(16, &[self.scale()]);
        let estimate = self.abs().to_f64().log10() * f64::from(power);
        if !self.is_zero() && estimate > RESULT_DIGITS_MAX {
            return Err(overflow());
        }
        if !self.is_zero() && estimate < -f64::from(scale) - 2.0 {
            return Ok(Numeric::ZERO.round(scale as i32));
        }
        let steps = power.unsigned_abs();
        let exact = steps as usize * (self.digits().len() + 1) <= EXACT_POWER_DIGITS_MAX || self.trim_scale().scale() == 0;
        let (Some((mantissa, own)), true) = (self.big_parts(), exact) else {
            // (1 + tiny) ^ huge
            let precision = scale + GUARD_DIGITS + 12;
            let log = Numeric::from_big(ln_fixed(&self.abs(), precision), precision).mul(&Numeric::from(i64::from(power)));
            let value = exp_at(&log, scale)?;
            return Ok(if self.signum() < 0 && power % 2 != 0 { value.neg() } else { value });
        };
        let raised = Numeric::from_big(num_traits::pow(mantissa, steps as usize), own * steps);
        Ok(if power >= 0 { raised.round(scale as i32) } else { Numeric::ONE.div_at(&raised, scale) })
    }

    /// Greatest common divisor (`lcm` when asked), of finite numbers.
    pub fn gcd(&self, other: &Numeric) -> Numeric {
        self.with_common_scale(other, |a, b| a.gcd(b))
    }

    /// Least common multiple.
    pub fn lcm(&self, other: &Numeric) -> Numeric {
        self.with_common_scale(other, |a, b| if a.is_zero() || b.is_zero() { BigInt::zero() } else { a.lcm(b) })
    }

    fn with_common_scale(&self, other: &Numeric, combine: impl Fn(&BigInt, &BigInt) -> BigInt) -> Numeric {
        let (Some((a, x)), Some((b, y))) = (self.big_parts(), other.big_parts()) else { return Numeric::NaN };
        let scale = x.max(y);
        Numeric::from_big(combine(&(a * pow10(scale - x)), &(b * pow10(scale - y))).abs(), scale)
    }
}

/// PostgreSQL's estimate of the decimal weight of `ln(x)`.
fn ln_weight(x: &Numeric) -> i32 {
    let value = x.to_f64();
    if (0.9..=1.1).contains(&value) {
        let difference = x.sub(&Numeric::ONE);
        if difference.is_zero() {
            return 0;
        }
        let (weight, first) = first_digit(&difference);
        return weight * 4 + f64::from(first).log10() as i32;
    }
    let digits = x.digits();
    let power = digits.len() as i32 - x.scale() as i32;
    let leading: f64 = format!("0.{digits}").parse().unwrap_or(0.1);
    let ln = leading.ln() + f64::from(power) * LN_10;
    ln.abs().log10() as i32
}

/// `e^x` rounded to `scale` digits.
fn exp_at(x: &Numeric, scale: u32) -> Result<Numeric, SqlError> {
    let weight = x.to_f64() * LOG10_E;
    if weight > RESULT_DIGITS_MAX {
        return Err(overflow());
    }
    if weight < -f64::from(scale) - 2.0 {
        return Ok(Numeric::ZERO.round(scale as i32));
    }
    // Halve the argument until the series is short, then square back; each squaring costs a bit, the weight costs digits.
    let precision = scale + weight.max(0.0) as u32 + GUARD_DIGITS + 8;
    let mut halvings = 0u32;
    let mut magnitude = x.abs().to_f64();
    // The more digits, the further: terms and squarings cost alike, and there should be about as many of both.
    let target = 10f64.powi(-(f64::from(precision).sqrt() as i32 / 2).clamp(2, 150));
    while magnitude > target {
        magnitude /= 2.0;
        halvings += 1;
    }
    let precision = precision + halvings;
    let unit = pow10(precision);
    let argument = fixed(x, precision) >> halvings;
    let mut sum = unit.clone();
    let mut term = unit.clone();
    for n in 1u32.. {
        term = &term * &argument / &unit / n;
        if term.magnitude().bits() <= 1 {
            break;
        }
        sum += &term;
    }
    for _ in 0..halvings {
        sum = &sum * &sum / &unit;
    }
    Ok(Numeric::from_big(sum, precision).round(scale as i32))
}

/// `ln(x) * 10^precision` for a finite `x > 0`.
fn ln_fixed(x: &Numeric, precision: u32) -> BigInt {
    // Take square roots until x is near 1, then use 2 * atanh((x-1)/(x+1)), then double back.
    let digits = x.digits().len() as i64;
    let power = (digits - i64::from(x.scale())).unsigned_abs() as u32;
    let working = precision + 2 * (power.min(1000)) + 24;
    let unit = pow10(working);
    let mut value = fixed(x, working);
    let (upper, lower) = (&unit + &unit / 16, &unit - &unit / 16);
    let mut roots = 0u32;
    while value > upper || value < lower {
        value = (&value * &unit).sqrt();
        roots += 1;
    }
    let ratio = (&value - &unit) * &unit / (&value + &unit);
    let square = &ratio * &ratio / &unit;
    let mut sum = BigInt::zero();
    let mut term = ratio;
    let mut odd = 1u32;
    while !term.is_zero() {
        sum += &term / odd;
        term = &term * &square / &unit;
        odd += 2;
        if term.magnitude().is_one() {
            break;
        }
    }
    (sum << (roots + 1)) / pow10(working - precision)
}
