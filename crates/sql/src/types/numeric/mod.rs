//! `numeric`: exact decimal numbers as PostgreSQL has them.
//!
//! A number is `mantissa * 10^-scale`, where the scale is the *display scale*: `1.50` and `1.5` are equal but print
//! differently.  Nearly every number of a real table fits an `i64` mantissa and is held inline ([`Numeric::Small`], 16
//! bytes, arithmetic in `i128`); the others hold a big integer behind an `Arc`.  The small form is canonical: whatever fits
//! it is held by it.
//!
//! Precision, result scales and rounding (half away from zero) are those of PostgreSQL's `numeric.c`; where it thinks in base-10000
//! digits ([`arithmetic::division_scale`]) so do we, for the scale shows in the output.

use super::ColumnType;
use crate::error::{SqlError, SqlState};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive, Zero};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

pub mod arithmetic;
pub mod functions;
mod text;
pub mod wire;

/// The largest display scale a stored value may have.
pub const SCALE_MAX: u32 = 16383;
/// Digits allowed before the decimal point.
pub const WEIGHT_DIGITS_MAX: usize = 131072;

/// A decimal number of any precision.
#[derive(Clone, Debug)]
pub enum Numeric {
    /// `mantissa * 10^-scale`
    Small {
        /// All digits.
        mantissa: i64,
        /// How many of them stand behind the point.
        scale: u16,
    },
    /// A number whose mantissa needs more than 63 bits.
    Big(Arc<BigNumeric>),
    /// Not a number: equal to itself and above everything.
    NaN,
    /// Above every number.
    Infinity,
    /// Below every number.
    NegativeInfinity,
}

/// A large number's parts.
#[derive(Debug)]
pub struct BigNumeric {
    mantissa: BigInt,
    scale: u32,
}

const POWERS: [i128; 39] = {
    let mut powers = [1i128; 39];
    let mut n = 1;
    while n < 39 {
        powers[n] = powers[n - 1] * 10;
        n += 1;
    }
    powers
};

/// Ten to a power, as a big integer.
pub(crate) fn pow10(exponent: u32) -> BigInt {
    match POWERS.get(exponent as usize) {
        Some(power) => BigInt::from(*power),
        None => BigInt::from(10u8).pow(exponent),
    }
}

impl Numeric {
    /// Zero.
    pub const ZERO: Numeric = Numeric::Small { mantissa: 0, scale: 0 };
    /// One.
    pub const ONE: Numeric = Numeric::Small { mantissa: 1, scale: 0 };

    /// `mantissa * 10^-scale`, small if it fits.
    pub fn from_i128(mantissa: i128, scale: u32) -> Numeric {
        match (i64::try_from(mantissa), u16::try_from(scale)) {
            (Ok(mantissa), Ok(scale)) => Numeric::Small { mantissa, scale },
            _ => Numeric::Big(Arc::new(BigNumeric { mantissa: BigInt::from(mantissa), scale })),
        }
    }

    /// The same from a big mantissa.
    pub fn from_big(mantissa: BigInt, scale: u32) -> Numeric {
        match (mantissa.to_i64(), u16::try_from(scale)) {
            (Some(mantissa), Ok(scale)) => Numeric::Small { mantissa, scale },
            _ => Numeric::Big(Arc::new(BigNumeric { mantissa, scale })),
        }
    }

    /// Mantissa and scale of a finite number.
    pub fn big_parts(&self) -> Option<(BigInt, u32)> {
        match self {
            Numeric::Small { mantissa, scale } => Some((BigInt::from(*mantissa), u32::from(*scale))),
            Numeric::Big(big) => Some((big.mantissa.clone(), big.scale)),
            _ => None,
        }
    }

    /// The display scale; 0 for what is not finite.
    pub fn scale(&self) -> u32 {
        match self {
            Numeric::Small { scale, .. } => u32::from(*scale),
            Numeric::Big(big) => big.scale,
            _ => 0,
        }
    }

    /// Neither NaN nor an infinity?
    pub fn is_finite(&self) -> bool {
        matches!(self, Numeric::Small { .. } | Numeric::Big(_))
    }

    /// Is it NaN?
    pub fn is_nan(&self) -> bool {
        matches!(self, Numeric::NaN)
    }

    /// -1, 0 or 1; NaN counts as 1.
    pub fn signum(&self) -> i32 {
        match self {
            Numeric::Small { mantissa, .. } => mantissa.signum() as i32,
            Numeric::Big(big) => big.mantissa.signum().to_i32().unwrap_or(0),
            Numeric::NegativeInfinity => -1,
            _ => 1,
        }
    }

    /// Is it zero?
    pub fn is_zero(&self) -> bool {
        self.signum() == 0
    }

    /// All significant digits without leading zeros (empty for zero), of a finite number.
    pub(crate) fn digits(&self) -> String {
        match self {
            Numeric::Small { mantissa: 0, .. } => String::new(),
            Numeric::Small { mantissa, .. } => mantissa.unsigned_abs().to_string(),
            Numeric::Big(big) if big.mantissa.is_zero() => String::new(),
            Numeric::Big(big) => big.mantissa.magnitude().to_string(),
            _ => String::new(),
        }
    }

    /// The nearest `f64`.
    pub fn to_f64(&self) -> f64 {
        match self {
            Numeric::NaN => f64::NAN,
            Numeric::Infinity => f64::INFINITY,
            Numeric::NegativeInfinity => f64::NEG_INFINITY,
            // Both exact, so one rounding: the division's.
            Numeric::Small { mantissa, scale } if mantissa.unsigned_abs() < 1 << 53 && *scale <= 22 => {
                *mantissa as f64 / 10f64.powi(i32::from(*scale))
            }
            finite => finite.to_string().parse().unwrap_or(f64::NAN),
        }
    }

    /// The number of a float, by its 15 significant digits, as PostgreSQL converts.
    pub fn from_f64(x: f64) -> Numeric {
        Numeric::from_float_digits(x, 15)
    }

    /// The number of a `float4`, by its 6 significant digits.
    pub fn from_f32(x: f32) -> Numeric {
        Numeric::from_float_digits(f64::from(x), 6)
    }

    fn from_float_digits(x: f64, digits: usize) -> Numeric {
        if x.is_nan() {
            return Numeric::NaN;
        }
        if x.is_infinite() {
            return if x > 0.0 { Numeric::Infinity } else { Numeric::NegativeInfinity };
        }
        let text = format!("{:.*e}", digits - 1, x);
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        // %.15g drops trailing zeros
        let mantissa = if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
        Numeric::parse(&format!("{mantissa}e{exponent}")).unwrap_or(Numeric::NaN)
    }

    /// The nearest integer, half away from zero, if it fits; `type_name` is for the message.
    pub fn to_i64(&self, type_name: &'static str) -> Result<i64, SqlError> {
        match self {
            Numeric::NaN => Err(SqlError::unsupported_conversion("NaN", type_name)),
            Numeric::Infinity | Numeric::NegativeInfinity => Err(SqlError::unsupported_conversion("infinity", type_name)),
            Numeric::Small { mantissa, scale: 0 } => Ok(*mantissa),
            finite => match finite.round(0) {
                Numeric::Small { mantissa, .. } => Ok(mantissa),
                _ => Err(SqlError::out_of_range(type_name)),
            },
        }
    }

    /// Rounds to the precision and scale of a `numeric(p,s)` modifier; an error if it is then too large.
    pub fn coerce(self, to: ColumnType) -> Result<Numeric, SqlError> {
        if to.typmod < 4 {
            return Ok(self);
        }
        let (precision, scale) = super::catalog::numeric_typmod(to.typmod);
        let overflow = |detail: String| Err(SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow").detail(detail));
        match &self {
            Numeric::NaN => return Ok(self),
            Numeric::Infinity | Numeric::NegativeInfinity => {
                return overflow(format!("A field with precision {precision}, scale {scale} cannot hold an infinite value."));
            }
            Numeric::Small { mantissa, scale: own }
                if i32::from(*own) == scale && precision <= 18 && i128::from(mantissa.unsigned_abs()) < POWERS[precision as usize] =>
            {
                return Ok(self);
            }
            _ => {}
        }
        let rounded = self.round(scale);
        if let Numeric::Small { mantissa, scale: own } = &rounded
            && i32::from(*own) == scale
            && precision <= 18
            && i128::from(mantissa.unsigned_abs()) < POWERS[precision as usize]
        {
            return Ok(rounded);
        }
        let whole_digits = rounded.digits().len() as i32 - rounded.scale() as i32;
        if !rounded.is_zero() && whole_digits > precision - scale {
            let limit = match precision - scale {
                0 => "1".to_owned(),
                power => format!("10^{power}"),
            };
            return overflow(format!(
                "A field with precision {precision}, scale {scale} must round to an absolute value less than {limit}."
            ));
        }
        Ok(rounded)
    }

    /// The number with no trailing zeros behind the point.
    pub fn trim_scale(&self) -> Numeric {
        match self {
            Numeric::Small { mantissa, scale } => {
                let (mut mantissa, mut scale) = (*mantissa, *scale);
                while scale > 0 && mantissa % 10 == 0 {
                    mantissa /= 10;
                    scale -= 1;
                }
                Numeric::Small { mantissa, scale }
            }
            Numeric::Big(big) => {
                let (mut mantissa, mut scale) = (big.mantissa.clone(), big.scale);
                let ten = BigInt::from(10);
                while scale > 0 {
                    let (quotient, rest) = mantissa.div_rem(&ten);
                    if !rest.is_zero() {
                        break;
                    }
                    mantissa = quotient;
                    scale -= 1;
                }
                Numeric::from_big(mantissa, scale)
            }
            other => other.clone(),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Numeric::NegativeInfinity => 0,
            Numeric::Small { .. } | Numeric::Big(_) => 1,
            Numeric::Infinity => 2,
            Numeric::NaN => 3,
        }
    }
}

impl From<i64> for Numeric {
    fn from(mantissa: i64) -> Numeric {
        Numeric::Small { mantissa, scale: 0 }
    }
}

impl Ord for Numeric {
    fn cmp(&self, other: &Numeric) -> Ordering {
        if let (Numeric::Small { mantissa: a, scale: x }, Numeric::Small { mantissa: b, scale: y }) = (self, other) {
            if x == y {
                return a.cmp(b);
            }
            let (up, down) = (usize::from(y.saturating_sub(*x)), usize::from(x.saturating_sub(*y)));
            if up <= 18 && down <= 18 {
                return (i128::from(*a) * POWERS[up]).cmp(&(i128::from(*b) * POWERS[down]));
            }
        }
        match (self.big_parts(), other.big_parts()) {
            (Some((a, x)), Some((b, y))) => {
                let scale = x.max(y);
                (a * pow10(scale - x)).cmp(&(b * pow10(scale - y)))
            }
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Numeric {
    fn partial_cmp(&self, other: &Numeric) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Numeric {
    fn eq(&self, other: &Numeric) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Numeric {}

impl Hash for Numeric {
    /// Equal numbers hash alike whatever their scale.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.rank().hash(state);
        match self.trim_scale() {
            Numeric::Small { mantissa, scale } => (mantissa, scale).hash(state),
            Numeric::Big(big) => (&big.mantissa, big.scale).hash(state),
            _ => {}
        }
    }
}
