//! bool, "char" and uuid.

use crate::error::SqlError;

/// `true`, `yes`, `on`, `1` and their opposites, or unique beginnings of them, in any case.
pub(super) fn parse_bool(text: &str) -> Result<bool, SqlError> {
    let lower = text.trim().to_ascii_lowercase();
    let begins = |word: &str| !lower.is_empty() && word.starts_with(&lower);
    if begins("true") || begins("yes") || lower == "on" || lower == "1" {
        Ok(true)
    } else if begins("false") || begins("no") || (begins("off") && lower.len() > 1) || lower == "0" {
        Ok(false)
    } else {
        Err(SqlError::invalid_input("boolean", text))
    }
}

/// The first byte; one that is not ASCII is written `\\ooo`, as PostgreSQL does since version 16.
pub(super) fn parse_char(text: &str) -> u8 {
    match text.as_bytes() {
        [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7'] => (a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'),
        bytes => bytes.first().copied().unwrap_or(0),
    }
}

/// 32 hexadecimal digits, hyphens after any group of four, braces around all or not.
pub(super) fn parse_uuid(text: &str) -> Result<[u8; 16], SqlError> {
    read_uuid(text).ok_or_else(|| SqlError::invalid_input("uuid", text))
}

fn read_uuid(text: &str) -> Option<[u8; 16]> {
    let inner = match text.strip_prefix('{') {
        Some(rest) => rest.strip_suffix('}')?,
        None => text,
    };
    let mut uuid = [0u8; 16];
    let mut digits = 0usize;
    let mut hyphen_before = true;
    for byte in inner.bytes() {
        if byte == b'-' {
            if !digits.is_multiple_of(4) || hyphen_before || digits == 32 {
                return None;
            }
            hyphen_before = true;
            continue;
        }
        let nibble = char::from(byte).to_digit(16)? as u8;
        *uuid.get_mut(digits / 2)? |= if digits.is_multiple_of(2) { nibble << 4 } else { nibble };
        digits += 1;
        hyphen_before = false;
    }
    (digits == 32).then_some(uuid)
}

/// Appends the canonical form.
pub(super) fn write_uuid(uuid: &[u8; 16], out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    for (at, byte) in uuid.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            out.push('-');
        }
        out.push(char::from(HEX[usize::from(byte >> 4)]));
        out.push(char::from(HEX[usize::from(byte & 15)]));
    }
}
