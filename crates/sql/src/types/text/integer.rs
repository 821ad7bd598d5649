//! Integers: reading with PostgreSQL's messages, writing fast.

use crate::error::{SqlError, SqlState};

/// Reads a signed integer of type `T`.
pub(super) fn parse<T: TryFrom<i64>>(text: &str, type_name: &'static str) -> Result<T, SqlError> {
    let value = read(text).ok_or_else(|| SqlError::invalid_input(type_name, text))?;
    value.and_then(|n| T::try_from(n).ok()).ok_or_else(|| range(text, type_name))
}

/// Reads an OID: 32 bits, negative numbers wrapping as PostgreSQL lets them.
pub(super) fn parse_oid(text: &str) -> Result<u32, SqlError> {
    let value = read(text).ok_or_else(|| SqlError::invalid_input("oid", text))?;
    match value {
        Some(n) if (0..=i64::from(u32::MAX)).contains(&n) => Ok(n as u32),
        Some(n) if n >= i64::from(i32::MIN) && n < 0 => Ok(n as i32 as u32),
        _ => Err(range(text, "oid")),
    }
}

fn range(text: &str, type_name: &str) -> SqlError {
    SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, format!("value \"{text}\" is out of range for type {type_name}"))
}

/// `None`: no integer. `Some(None)`: an integer beyond 64 bits.
fn read(text: &str) -> Option<Option<i64>> {
    let trimmed = text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
    let digits = trimmed.strip_prefix(['+', '-']).unwrap_or(trimmed);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(trimmed.parse().ok())
}

/// Appends an integer in decimal.
pub fn write_int(n: i64, out: &mut String) {
    if n < 0 {
        out.push('-');
    }
    write_digits(n.unsigned_abs(), 1, out);
}

/// Appends a number in decimal, with zeros in front up to `width` digits (20 at most).
pub fn write_digits(n: u64, width: usize, out: &mut String) {
    let mut buffer = [b'0'; 20];
    let mut at = buffer.len();
    let mut rest = n;
    while rest > 0 {
        at -= 1;
        buffer[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let start = at.min(buffer.len().saturating_sub(width));
    out.push_str(std::str::from_utf8(&buffer[start..]).unwrap_or_default());
}
