//! Floats: the shortest digits that read back as the same number, in PostgreSQL 15's layout.

use crate::error::{SqlError, SqlState};
use std::fmt::Write;

fn read<T: std::str::FromStr>(text: &str, type_name: &str) -> Result<T, SqlError> {
    let trimmed = text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
    trimmed.parse().map_err(|_| SqlError::invalid_input(type_name, text))
}

/// A finite text must not read as infinity, nor one with a digit other than 0 as zero.
fn lost(text: &str, infinite: bool, zero: bool) -> bool {
    let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
    let digits = mantissa.bytes().any(|b| b.is_ascii_digit());
    (infinite && digits) || (zero && mantissa.bytes().any(|b| matches!(b, b'1'..=b'9')))
}

fn out_of_range(text: &str, type_name: &str) -> SqlError {
    SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, format!("\"{}\" is out of range for type {type_name}", text.trim()))
}

/// Reads a `float8`.
pub fn parse_f64(text: &str) -> Result<f64, SqlError> {
    let x: f64 = read(text, "double precision")?;
    if lost(text, x.is_infinite(), x == 0.0) { Err(out_of_range(text, "double precision")) } else { Ok(x) }
}

/// Reads a `float4`.
pub fn parse_f32(text: &str) -> Result<f32, SqlError> {
    let x: f32 = read(text, "real")?;
    if lost(text, x.is_infinite(), x == 0.0) { Err(out_of_range(text, "real")) } else { Ok(x) }
}

/// Appends a `float8`.
pub fn write_f64(x: f64, extra_float_digits: i32, out: &mut String) {
    if !write_special(x, out) {
        if extra_float_digits > 0 {
            layout(&format!("{x:e}"), 15, out);
        } else {
            write_significant(x, (15 + extra_float_digits).max(1) as usize, out);
        }
    }
}

/// Appends a `float4`.
pub fn write_f32(x: f32, extra_float_digits: i32, out: &mut String) {
    if !write_special(f64::from(x), out) {
        if extra_float_digits > 0 {
            layout(&format!("{x:e}"), 6, out);
        } else {
            write_significant(f64::from(x), (6 + extra_float_digits).max(1) as usize, out);
        }
    }
}

fn write_special(x: f64, out: &mut String) -> bool {
    if x.is_nan() {
        out.push_str("NaN");
    } else if x.is_infinite() {
        out.push_str(if x > 0.0 { "Infinity" } else { "-Infinity" });
    }
    !x.is_finite()
}

/// C's `%.{digits}g`.
pub fn write_significant(x: f64, digits: usize, out: &mut String) {
    let text = format!("{x:.*e}", digits - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mantissa = if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
    layout(&format!("{mantissa}e{exponent}"), digits as i32, out);
}

/// Lays out `d.ddde±x`: plain if the exponent is in `-4..limit`, else scientific with two exponent digits at least.
fn layout(scientific: &str, limit: i32, out: &mut String) {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    out.push_str(sign);
    if !(-4..limit).contains(&exponent) {
        let _ = write!(out, "{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs());
        return;
    }
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    if exponent < 0 {
        out.push_str("0.");
        out.extend(std::iter::repeat_n('0', (-exponent - 1) as usize));
        out.push_str(&digits);
        return;
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        out.push_str(&digits);
        out.extend(std::iter::repeat_n('0', whole - digits.len()));
    } else {
        out.push_str(&digits[..whole]);
        out.push('.');
        out.push_str(&digits[whole..]);
    }
}
