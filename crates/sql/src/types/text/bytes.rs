//! bytea: the hex and the escape form.

use crate::error::{SqlError, SqlState};
use crate::types::settings::ByteaOutput;
use std::fmt::Write;

/// Reads either form.
pub fn parse(text: &str) -> Result<Vec<u8>, SqlError> {
    match text.strip_prefix("\\x") {
        Some(hex) => parse_hex(hex),
        None => parse_escape(text),
    }
}

/// Reads hexadecimal digits, blanks between bytes allowed.
pub fn parse_hex(hex: &str) -> Result<Vec<u8>, SqlError> {
    let digit = |c: char| {
        c.to_digit(16)
            .map(|d| d as u8)
            .ok_or_else(|| SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("invalid hexadecimal digit: \"{c}\"")))
    };
    let mut out = Vec::with_capacity(hex.len() / 2);
    let mut chars = hex.chars().filter(|c| !matches!(c, ' ' | '\n' | '\t' | '\r'));
    while let Some(high) = chars.next() {
        let high = digit(high)?;
        let low = chars
            .next()
            .ok_or_else(|| SqlError::new(SqlState::INVALID_PARAMETER_VALUE, "invalid hexadecimal data: odd number of digits"))?;
        out.push(high << 4 | digit(low)?);
    }
    Ok(out)
}

/// Reads `\ooo` and `\\` among plain bytes.
pub fn parse_escape(text: &str) -> Result<Vec<u8>, SqlError> {
    let invalid = || SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, "invalid input syntax for type bytea");
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1..)) {
            (b'\\', Some([b'\\', ..])) => {
                out.push(b'\\');
                at += 2;
            }
            (b'\\', Some([a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..])) => {
                out.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                at += 4;
            }
            (b'\\', _) => return Err(invalid()),
            (byte, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    Ok(out)
}

/// Appends hexadecimal digits.
pub fn write_hex(bytes: &[u8], out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.reserve(bytes.len() * 2);
    for byte in bytes {
        out.push(char::from(HEX[usize::from(byte >> 4)]));
        out.push(char::from(HEX[usize::from(byte & 15)]));
    }
}

/// Appends the escape form.
pub fn write_escape(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        match byte {
            b'\\' => out.push_str("\\\\"),
            0x20..=0x7e => out.push(char::from(*byte)),
            other => {
                let _ = write!(out, "\\{other:03o}");
            }
        }
    }
}

/// `encode(bytes, 'escape')`: only zero bytes, high bytes and backslashes are escaped.
pub fn write_escape_function(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        match byte {
            b'\\' => out.push_str("\\\\"),
            0 | 0x80.. => {
                let _ = write!(out, "\\{byte:03o}");
            }
            other => out.push(char::from(*other)),
        }
    }
}

/// Appends the form that `bytea_output` asks for.
pub(super) fn write(bytes: &[u8], form: ByteaOutput, out: &mut String) {
    match form {
        ByteaOutput::Hex => {
            out.push_str("\\x");
            write_hex(bytes, out);
        }
        ByteaOutput::Escape => write_escape(bytes, out),
    }
}
