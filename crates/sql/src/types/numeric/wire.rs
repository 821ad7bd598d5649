//! PostgreSQL's binary form (base-10000 digits) and the parts that the key encoding wants.

use super::{Numeric, pow10};
use crate::error::{SqlError, SqlState};
use num_bigint::BigInt;

const NEGATIVE: u16 = 0x4000;
const NAN: u16 = 0xC000;
const INFINITY: u16 = 0xD000;
const NEGATIVE_INFINITY: u16 = 0xF000;
/// The scale that PostgreSQL happens to send with an infinity.
const INFINITY_SCALE: u16 = 32;

/// Appends the binary form: digit count, weight, sign, scale, digits.
pub fn encode(number: &Numeric, out: &mut Vec<u8>) {
    let mut header = |count: u16, weight: i16, sign: u16, scale: u16| {
        for field in [count, weight as u16, sign, scale] {
            out.extend_from_slice(&field.to_be_bytes());
        }
    };
    match number {
        Numeric::NaN => return header(0, 0, NAN, 0),
        Numeric::Infinity => return header(0, 0, INFINITY, INFINITY_SCALE),
        Numeric::NegativeInfinity => return header(0, 0, NEGATIVE_INFINITY, INFINITY_SCALE),
        _ => {}
    }
    let sign = if number.signum() < 0 { NEGATIVE } else { 0 };
    let (groups, weight) = base_10000(number);
    header(groups.len() as u16, weight as i16, sign, number.scale() as u16);
    for group in groups {
        out.extend_from_slice(&group.to_be_bytes());
    }
}

/// Base-10000 digits without leading or trailing zero digits, and the weight of the first.
fn base_10000(number: &Numeric) -> (Vec<u16>, i32) {
    let digits = number.digits();
    if digits.is_empty() {
        return (Vec::new(), 0);
    }
    let power = digits.len() as i32 - 1 - number.scale() as i32;
    let weight = power.div_euclid(4);
    let lead = 3 - power.rem_euclid(4) as usize;
    let mut padded = "0".repeat(lead) + &digits;
    while !padded.len().is_multiple_of(4) {
        padded.push('0');
    }
    let mut groups: Vec<u16> = padded.as_bytes().chunks(4).map(|four| four.iter().fold(0, |n, b| n * 10 + u16::from(b - b'0'))).collect();
    while groups.last() == Some(&0) {
        groups.pop();
    }
    (groups, weight)
}

/// Reads the binary form.
pub fn decode(bytes: &[u8]) -> Result<Numeric, SqlError> {
    let invalid =
        |what: &str| SqlError::new(SqlState::INVALID_BINARY_REPRESENTATION, format!("invalid {what} in external \"numeric\" value"));
    if bytes.len() < 8 || !bytes.len().is_multiple_of(2) {
        return Err(invalid("length"));
    }
    let words: Vec<u16> = bytes.chunks_exact(2).map(|two| u16::from_be_bytes([two[0], two[1]])).collect();
    let (count, weight, sign, scale) = (usize::from(words[0]), words[1] as i16, words[2], u32::from(words[3]));
    match sign {
        NAN => return Ok(Numeric::NaN),
        INFINITY => return Ok(Numeric::Infinity),
        NEGATIVE_INFINITY => return Ok(Numeric::NegativeInfinity),
        0 | NEGATIVE => {}
        _ => return Err(invalid("sign")),
    }
    if scale > super::SCALE_MAX {
        return Err(invalid("scale"));
    }
    if words.len() != 4 + count {
        return Err(invalid("length"));
    }
    let mut mantissa = BigInt::default();
    for digit in &words[4..] {
        if *digit >= 10_000 {
            return Err(invalid("digit"));
        }
        mantissa = mantissa * 10_000 + *digit;
    }
    // value = mantissa * 10000^(weight - count + 1)
    let exponent = 4 * (i64::from(weight) - count as i64 + 1);
    let value = if exponent >= 0 {
        Numeric::from_big(mantissa * pow10(exponent as u32), 0)
    } else {
        Numeric::from_big(mantissa, (-exponent) as u32)
    };
    let value = value.trunc(scale as i32);
    Ok(if sign == NEGATIVE { value.neg() } else { value })
}

/// Sign, power of ten and digits (values 0-9, neither leading nor trailing zeros) of `0.d1d2d3... * 10^exponent`.
pub fn key_parts(number: &Numeric) -> (bool, i32, Vec<u8>) {
    let digits = number.digits();
    let exponent = digits.len() as i32 - number.scale() as i32;
    let digits: Vec<u8> = digits.trim_end_matches('0').bytes().map(|b| b - b'0').collect();
    (number.signum() < 0, if digits.is_empty() { 0 } else { exponent }, digits)
}
