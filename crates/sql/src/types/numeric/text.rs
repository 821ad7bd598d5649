//! Reading and writing numbers.

use super::{Numeric, SCALE_MAX, WEIGHT_DIGITS_MAX};
use crate::error::{SqlError, SqlState};
use num_bigint::BigInt;
use std::fmt;

fn syntax(text: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, format!("invalid input syntax for type numeric: \"{text}\""))
}

fn overflow() -> SqlError {
    SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value overflows numeric format")
}

impl Numeric {
    /// Reads `[+-]digits[.digits][e[+-]digits]`, `NaN`, `[+-]Infinity`.
    pub fn parse(text: &str) -> Result<Numeric, SqlError> {
        let trimmed = text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
        if let Some(small) = parse_small(trimmed.as_bytes()) {
            return Ok(small);
        }
        let (negative, unsigned) = match trimmed.as_bytes().first() {
            Some(b'-') => (true, &trimmed[1..]),
            Some(b'+') => (false, &trimmed[1..]),
            _ => (false, trimmed),
        };
        if trimmed.eq_ignore_ascii_case("nan") {
            return Ok(Numeric::NaN);
        }
        if unsigned.eq_ignore_ascii_case("infinity") || unsigned.eq_ignore_ascii_case("inf") {
            return Ok(if negative { Numeric::NegativeInfinity } else { Numeric::Infinity });
        }
        let (decimal, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], parse_exponent(&unsigned[at + 1..]).ok_or_else(|| syntax(text))?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = decimal.split_once('.').unwrap_or((decimal, ""));
        let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) {
            return Err(syntax(text));
        }
        let exponent = exponent.clamp(-200_000, 200_000) as i32;
        build(negative, whole, fraction, exponent)
    }
}

fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(text.parse::<i64>().unwrap_or(if text.starts_with('-') { i64::MIN } else { i64::MAX }))
}

fn build(negative: bool, whole: &str, fraction: &str, exponent: i32) -> Result<Numeric, SqlError> {
    let mut digits = String::with_capacity(whole.len() + fraction.len() + 1);
    digits.push_str(whole);
    digits.push_str(fraction);
    let significant = digits.trim_start_matches('0').len() as i64;
    let scale = fraction.len() as i64 - i64::from(exponent);
    if significant > 0 && significant - scale > WEIGHT_DIGITS_MAX as i64 {
        return Err(overflow());
    }
    let mut mantissa = BigInt::parse_bytes(digits.as_bytes(), 10).unwrap_or_default();
    if negative {
        mantissa = -mantissa;
    }
    if scale < 0 {
        return Ok(Numeric::from_big(mantissa * super::pow10((-scale) as u32), 0));
    }
    if scale > i64::from(SCALE_MAX) {
        return Ok(Numeric::from_big(mantissa, scale as u32).round(SCALE_MAX as i32));
    }
    Ok(Numeric::from_big(mantissa, scale as u32))
}

/// Up to 18 digits with an optional sign and point.
fn parse_small(bytes: &[u8]) -> Option<Numeric> {
    let (negative, digits) = match bytes.first()? {
        b'-' => (true, &bytes[1..]),
        b'+' => (false, &bytes[1..]),
        _ => (false, bytes),
    };
    if digits.is_empty() || digits.len() > 19 {
        return None;
    }
    let (mut mantissa, mut scale, mut point, mut count) = (0i64, 0u16, false, 0);
    for byte in digits {
        match byte {
            b'0'..=b'9' => {
                mantissa = mantissa.checked_mul(10)?.checked_add(i64::from(byte - b'0'))?;
                scale += u16::from(point);
                count += 1;
            }
            b'.' if !point => point = true,
            _ => return None,
        }
    }
    (count > 0).then_some(Numeric::Small { mantissa: if negative { -mantissa } else { mantissa }, scale })
}

impl Numeric {
    /// Appends the text form, without an allocation for what fits the small form.
    pub fn write(&self, out: &mut String) {
        match self {
            Numeric::Small { mantissa, scale } if *scale <= 18 => {
                let magnitude = mantissa.unsigned_abs();
                let unit = 10u64.pow(u32::from(*scale));
                if *mantissa < 0 {
                    out.push('-');
                }
                crate::types::text::write_digits(magnitude / unit, 1, out);
                if *scale > 0 {
                    out.push('.');
                    crate::types::text::write_digits(magnitude % unit, usize::from(*scale), out);
                }
            }
            other => {
                use fmt::Write;
                let _ = write!(out, "{other}");
            }
        }
    }
}

impl fmt::Display for Numeric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Numeric::NaN => f.write_str("NaN"),
            Numeric::Infinity => f.write_str("Infinity"),
            Numeric::NegativeInfinity => f.write_str("-Infinity"),
            Numeric::Small { mantissa, scale: 0 } => write!(f, "{mantissa}"),
            finite => {
                if finite.signum() < 0 {
                    f.write_str("-")?;
                }
                let scale = finite.scale() as usize;
                let digits = finite.digits();
                if digits.len() <= scale {
                    if scale == 0 {
                        return f.write_str("0");
                    }
                    f.write_str("0.")?;
                    for _ in digits.len()..scale {
                        f.write_str("0")?;
                    }
                    f.write_str(&digits)
                } else {
                    let (whole, fraction) = digits.split_at(digits.len() - scale);
                    f.write_str(whole)?;
                    if !fraction.is_empty() {
                        f.write_str(".")?;
                        f.write_str(fraction)?;
                    }
                    Ok(())
                }
            }
        }
    }
}
