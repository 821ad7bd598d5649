//! Unicode in strings: normal forms and escapes.

use super::args::{Answer, out, text};
use super::{BuiltinFunction, EvalFn};
use crate::error::{SqlError, SqlState};
use crate::expr::EvalContext;
use crate::types::{DataType, Datum};
use unicode_normalization::UnicodeNormalization;

const TEXT: DataType = DataType::TEXT;
const BOOL: DataType = DataType::BOOL;

fn normal_form(string: &str, form: &str) -> Result<String, SqlError> {
    Ok(match form.to_ascii_uppercase().as_str() {
        "NFC" => string.nfc().collect(),
        "NFD" => string.nfd().collect(),
        "NFKC" => string.nfkc().collect(),
        "NFKD" => string.nfkd().collect(),
        _ => return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("invalid normalization form: {form}"))),
    })
}

fn form(args: &[Datum]) -> Result<&str, SqlError> {
    if args.len() > 1 { text(args, 1) } else { Ok("NFC") }
}

fn normalize(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    out(normal_form(text(args, 0)?, form(args)?)?)
}

fn is_normalized(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let string = text(args, 0)?;
    Ok(Datum::Bool(normal_form(string, form(args)?)? == string))
}

fn invalid_escape() -> SqlError {
    SqlError::new(SqlState::SYNTAX_ERROR, "invalid Unicode escape").hint(r"Unicode escapes must be \XXXX, \+XXXXXX, \uXXXX, or \UXXXXXXXX.")
}

/// `unistr`: `\0061`, `\+000061`, `\u0061`, `\U00000061` and `\\`, surrogates in pairs.
fn unistr(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let mut rest = text(args, 0)?;
    let mut result = String::with_capacity(rest.len());
    let mut high: Option<u32> = None;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c != '\\' || rest.starts_with('\\') {
            if high.is_some() {
                return Err(invalid_pair());
            }
            result.push(c);
            rest = if c == '\\' { &rest[1..] } else { rest };
            continue;
        }
        let (marker, digits) = match rest.as_bytes().first() {
            Some(b'+') => (1, 6),
            Some(b'u') => (1, 4),
            Some(b'U') => (1, 8),
            _ => (0, 4),
        };
        let code = rest.get(marker..marker + digits).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
        let code = code.and_then(|hex| u32::from_str_radix(hex, 16).ok()).ok_or_else(invalid_escape)?;
        rest = &rest[marker + digits..];
        match (high.take(), code) {
            (None, 0xD800..=0xDBFF) => high = Some(code),
            (Some(first), 0xDC00..=0xDFFF) => {
                let joined = 0x10000 + ((first - 0xD800) << 10) + (code - 0xDC00);
                result.push(char::from_u32(joined).ok_or_else(invalid_pair)?);
            }
            (Some(_), _) | (None, 0xDC00..=0xDFFF) => return Err(invalid_pair()),
            (None, code) => result.push(
                char::from_u32(code)
                    .filter(|c| *c != '\0')
                    .ok_or_else(|| SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("invalid Unicode code point: {code:04X}")))?,
            ),
        }
    }
    if high.is_some() { Err(invalid_pair()) } else { out(result) }
}

fn invalid_pair() -> SqlError {
    SqlError::new(SqlState::SYNTAX_ERROR, "invalid Unicode surrogate pair")
}

const fn f(name: &'static str, args: &'static [DataType], result: DataType, eval: EvalFn) -> BuiltinFunction {
    BuiltinFunction::new(name, args, result, eval)
}

/// All of them.
pub(super) static FUNCTIONS: &[BuiltinFunction] = &[
    f("normalize", &[TEXT], TEXT, normalize),
    f("normalize", &[TEXT, TEXT], TEXT, normalize),
    f("is_normalized", &[TEXT], BOOL, is_normalized),
    f("is_normalized", &[TEXT, TEXT], BOOL, is_normalized),
    f("unistr", &[TEXT], TEXT, unistr),
];
