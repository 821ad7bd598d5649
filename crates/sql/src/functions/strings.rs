//! String and bytea functions.  Positions and lengths count characters, from 1.

use super::args::{Answer, bytes, int, int4, out, text};
use super::{BuiltinFunction, EvalFn};
use crate::error::{SqlError, SqlState};
use crate::expr::EvalContext;
use crate::types::text::{bytes as bytea, natural_type, to_string};
use crate::types::{DataType, Datum};
use base64::Engine;
use sha2::Digest;

const TEXT: DataType = DataType::TEXT;
const INT4: DataType = DataType::INT4;
const INT8: DataType = DataType::INT8;
const BYTEA: DataType = DataType::BYTEA;
const ANY: DataType = DataType::ANY;

/// The longest string a function may make.
const RESULT_BYTES_MAX: usize = 256 << 20;

pub(super) fn too_long() -> SqlError {
    SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "requested length too large")
}

/// How any value reads inside a string (`||`, `concat`, `format`): `t` and `f` for booleans.
pub(super) fn display(value: &Datum, ctx: &EvalContext<'_>) -> String {
    to_string(value, natural_type(value), &ctx.text())
}

fn concat_text(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (a, b) = (text(args, 0)?, text(args, 1)?);
    let mut joined = compact_str::CompactString::with_capacity(a.len() + b.len());
    joined.push_str(a);
    joined.push_str(b);
    Ok(Datum::Text(joined))
}

pub(super) fn concat_any(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    out(args.iter().map(|arg| display(arg, ctx)).collect::<String>())
}

/// `text || any`: as a cast to text would have it, so booleans are spelled out.
fn concat_cast(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let spelled = args.iter().map(|arg| match arg {
        Datum::Bool(value) => value.to_string(),
        other => display(other, ctx),
    });
    out(spelled.collect::<String>())
}

pub(super) fn concat_ws(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    if args[0].is_null() {
        return Ok(Datum::Null);
    }
    let separator = text(args, 0)?;
    let parts: Vec<String> = args[1..].iter().filter(|arg| !arg.is_null()).map(|arg| display(arg, ctx)).collect();
    out(parts.join(separator))
}

fn length(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Int4(text(args, 0)?.chars().count() as i32))
}
fn length_bpchar(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Int4(text(args, 0)?.trim_end_matches(' ').chars().count() as i32))
}
fn octet_length(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Int4(text(args, 0)?.len() as i32))
}
fn bit_length(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Int4(text(args, 0)?.len() as i32 * 8))
}
fn bytes_length(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    bytes_length_of(args)
}
fn lower(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    out(text(args, 0)?.to_lowercase())
}
fn upper(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    // One character stays one character, as in C's towupper.
    out(text(args, 0)?.chars().map(upper_char).collect::<String>())
}

fn upper_char(c: char) -> char {
    let mut upper = c.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

fn initcap(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let mut inside = false;
    let capitalized: String = text(args, 0)?
        .chars()
        .map(|c| {
            let cased = if inside { c.to_lowercase().next().unwrap_or(c) } else { upper_char(c) };
            inside = c.is_alphanumeric();
            cased
        })
        .collect();
    out(capitalized)
}

/// The part of `length` units from `start` (1-based, may lie before the string), as a range of 0-based units.
fn window(start: i64, length: Option<i64>, total: usize) -> Result<(usize, usize), SqlError> {
    let end = match length {
        Some(length) if length < 0 => return Err(SqlError::new(SqlState::SUBSTRING_ERROR, "negative substring length not allowed")),
        Some(length) => start.saturating_add(length),
        None => i64::MAX,
    };
    let from = (start.max(1) - 1).min(total as i64) as usize;
    let to = (end.max(1) - 1).min(total as i64) as usize;
    Ok((from, to.max(from)))
}

fn slice_chars(text: &str, from: usize, to: usize) -> &str {
    if text.is_ascii() {
        return &text[from.min(text.len())..to.min(text.len())];
    }
    let at = |n: usize| text.char_indices().nth(n).map_or(text.len(), |(at, _)| at);
    &text[at(from)..at(to)]
}

fn substring(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let string = text(args, 0)?;
    let length = if args.len() > 2 { Some(int(args, 2)?) } else { None };
    let (from, to) = window(int(args, 1)?, length, string.len())?;
    out(slice_chars(string, from, to))
}

fn substring_bytes(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let string = bytes(args, 0)?;
    let length = if args.len() > 2 { Some(int(args, 2)?) } else { None };
    let (from, to) = window(int(args, 1)?, length, string.len())?;
    Ok(Datum::Bytes(string[from..to].into()))
}

fn overlay(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (string, with, start) = (text(args, 0)?, text(args, 1)?, int(args, 2)?);
    let length = if args.len() > 3 { int(args, 3)? } else { with.chars().count() as i64 };
    if start <= 0 {
        return Err(SqlError::new(SqlState::SUBSTRING_ERROR, "negative substring length not allowed"));
    }
    let total = string.chars().count();
    let head = (start as usize - 1).min(total);
    let tail = (start - 1).saturating_add(length).clamp(0, total as i64) as usize;
    out(format!("{}{with}{}", slice_chars(string, 0, head), slice_chars(string, tail, total)))
}

/// 1-based character position of `part`, 0 if absent.
fn strpos(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (string, part) = (text(args, 0)?, text(args, 1)?);
    Ok(Datum::Int4(string.find(part).map_or(0, |at| string[..at].chars().count() as i32 + 1)))
}

fn position_bytes(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (string, part) = (bytes(args, 0)?, bytes(args, 1)?);
    let found = if part.is_empty() { Some(0) } else { string.windows(part.len()).position(|w| w == part) };
    Ok(Datum::Int4(found.map_or(0, |at| at as i32 + 1)))
}

fn starts_with(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bool(text(args, 0)?.starts_with(text(args, 1)?)))
}

fn overlay_bytes(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (string, with, start) = (bytes(args, 0)?, bytes(args, 1)?, int(args, 2)?);
    let length = if args.len() > 3 { int(args, 3)? } else { with.len() as i64 };
    if start <= 0 {
        return Err(SqlError::new(SqlState::SUBSTRING_ERROR, "negative substring length not allowed"));
    }
    let head = (start as usize - 1).min(string.len());
    let tail = (start - 1).saturating_add(length).clamp(0, string.len() as i64) as usize;
    Ok(Datum::Bytes([&string[..head], with, &string[tail..]].concat().into()))
}

fn trim_set(args: &[Datum]) -> Result<Vec<char>, SqlError> {
    Ok(if args.len() > 1 { text(args, 1)?.chars().collect() } else { vec![' '] })
}
fn btrim(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    out(text(args, 0)?.trim_matches(trim_set(args)?.as_slice()))
}
fn ltrim(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    out(text(args, 0)?.trim_start_matches(trim_set(args)?.as_slice()))
}
fn rtrim(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    out(text(args, 0)?.trim_end_matches(trim_set(args)?.as_slice()))
}
fn btrim_bytes(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    trimmed_bytes(args, true, true)
}
fn ltrim_bytes(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    trimmed_bytes(args, true, false)
}
fn rtrim_bytes(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    trimmed_bytes(args, false, true)
}

fn trimmed_bytes(args: &[Datum], at_start: bool, at_end: bool) -> Answer {
    let (string, set) = (bytes(args, 0)?, bytes(args, 1)?);
    let keeps = |b: &u8| !set.contains(b);
    let start = if at_start { string.iter().position(keeps).unwrap_or(string.len()) } else { 0 };
    let end = if at_end { string.iter().rposition(keeps).map_or(start, |at| at + 1) } else { string.len() };
    Ok(Datum::Bytes(string[start..end.max(start)].into()))
}
fn bit_length_bytes(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Int4(bytes(args, 0)?.len() as i32 * 8))
}
fn bit_count(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Int8(bytes(args, 0)?.iter().map(|b| i64::from(b.count_ones())).sum()))
}

/// Bits count from the lowest of the first byte.
fn bit_place(args: &[Datum]) -> Result<(usize, u32), SqlError> {
    let (data, at) = (bytes(args, 0)?, int(args, 1)?);
    let bits = data.len() as i64 * 8;
    if !(0..bits).contains(&at) {
        return Err(SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, format!("index {at} out of valid range, 0..{}", bits - 1)));
    }
    Ok((at as usize / 8, at as u32 % 8))
}
fn get_bit(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (byte, bit) = bit_place(args)?;
    Ok(Datum::Int4(i32::from(bytes(args, 0)?[byte] >> bit & 1)))
}
fn set_bit(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (byte, bit) = bit_place(args)?;
    let value = int(args, 2)?;
    if !(0..=1).contains(&value) {
        return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, "new bit must be 0 or 1"));
    }
    let mut data = bytes(args, 0)?.to_vec();
    data[byte] = data[byte] & !(1 << bit) | (value as u8) << bit;
    Ok(Datum::Bytes(data.into()))
}

/// Number of characters that `n` means: from the end when negative.
fn count_from(n: i64, total: usize) -> usize {
    if n >= 0 { (n as usize).min(total) } else { total.saturating_sub(n.unsigned_abs() as usize) }
}
fn left(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let string = text(args, 0)?;
    out(slice_chars(string, 0, count_from(int(args, 1)?, string.chars().count())))
}
fn right(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let string = text(args, 0)?;
    let total = string.chars().count();
    out(slice_chars(string, total - count_from(int(args, 1)?, total), total))
}

/// `(length, what to fill the rest with)`
fn padding(args: &[Datum]) -> Result<(usize, String), SqlError> {
    let length = int(args, 1)?.max(0) as usize;
    if length > RESULT_BYTES_MAX / 4 {
        return Err(too_long());
    }
    let fill = if args.len() > 2 { text(args, 2)? } else { " " };
    let missing = length.saturating_sub(text(args, 0)?.chars().count());
    Ok((length, fill.chars().cycle().take(missing).collect()))
}
fn lpad(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (length, fill) = padding(args)?;
    out(format!("{fill}{}", slice_chars(text(args, 0)?, 0, length)))
}
fn rpad(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (length, fill) = padding(args)?;
    out(format!("{}{fill}", slice_chars(text(args, 0)?, 0, length)))
}

fn repeat(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (string, count) = (text(args, 0)?, int(args, 1)?.max(0) as usize);
    if string.len().checked_mul(count).is_none_or(|bytes| bytes > RESULT_BYTES_MAX) {
        return Err(too_long());
    }
    out(string.repeat(count))
}

fn replace(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (string, from, to) = (text(args, 0)?, text(args, 1)?, text(args, 2)?);
    out(if from.is_empty() { string.to_owned() } else { string.replace(from, to) })
}

fn translate(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let from: Vec<char> = text(args, 1)?.chars().collect();
    let to: Vec<char> = text(args, 2)?.chars().collect();
    let mapped = text(args, 0)?.chars().filter_map(|c| match from.iter().position(|f| *f == c) {
        None => Some(c),
        Some(at) => to.get(at).copied(),
    });
    out(mapped.collect::<String>())
}

fn reverse(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    out(text(args, 0)?.chars().rev().collect::<String>())
}

fn split_part(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (string, separator, n) = (text(args, 0)?, text(args, 1)?, int(args, 2)?);
    if n == 0 {
        return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, "field position must not be zero"));
    }
    let parts: Vec<&str> = if separator.is_empty() { vec![string] } else { string.split(separator).collect() };
    let at = if n > 0 { n as usize - 1 } else { parts.len().wrapping_sub(n.unsigned_abs() as usize) };
    out(parts.get(at).copied().unwrap_or(""))
}

fn ascii(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Int4(text(args, 0)?.chars().next().map_or(0, |c| c as i32)))
}

fn chr(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let n = int(args, 0)?;
    if n == 0 {
        return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "null character not permitted"));
    }
    if n < 0 {
        return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, "character number must be positive"));
    }
    let why = if n > i64::from(u32::from(char::MAX)) { "too large" } else { "not valid" };
    let c = u32::try_from(n).ok().and_then(char::from_u32);
    out(c
        .ok_or_else(|| SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, format!("requested character {why} for encoding: {n}")))?
        .to_string())
}

fn to_hex4(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    out(format!("{:x}", int(args, 0)? as i32))
}
fn to_hex8(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    out(format!("{:x}", int(args, 0)?))
}
fn md5_text(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    out(format!("{:x}", md5::compute(text(args, 0)?)))
}
fn sha224(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bytes(sha2::Sha224::digest(bytes(args, 0)?).as_slice().into()))
}
fn sha256(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bytes(sha2::Sha256::digest(bytes(args, 0)?).as_slice().into()))
}
fn sha384(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bytes(sha2::Sha384::digest(bytes(args, 0)?).as_slice().into()))
}
fn sha512(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bytes(sha2::Sha512::digest(bytes(args, 0)?).as_slice().into()))
}
fn md5_bytes(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    out(format!("{:x}", md5::compute(bytes(args, 0)?)))
}

fn unknown_encoding(name: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("unrecognized encoding: \"{name}\""))
}

/// Characters on a line of base64, after RFC 2045.
const BASE64_LINE: usize = 76;

fn encode(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (data, form) = (bytes(args, 0)?, text(args, 1)?);
    let mut result = String::new();
    match form.to_ascii_lowercase().as_str() {
        "hex" => bytea::write_hex(data, &mut result),
        "escape" => bytea::write_escape_function(data, &mut result),
        "base64" => {
            let whole = base64::engine::general_purpose::STANDARD.encode(data);
            let lines: Vec<&str> = whole.as_bytes().chunks(BASE64_LINE).map(|line| std::str::from_utf8(line).unwrap_or_default()).collect();
            result = lines.join("\n");
        }
        _ => return Err(unknown_encoding(form)),
    }
    out(result)
}

fn decode(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (data, form) = (text(args, 0)?, text(args, 1)?);
    let decoded = match form.to_ascii_lowercase().as_str() {
        "hex" => bytea::parse_hex(data)?,
        "escape" => bytea::parse_escape(data)?,
        "base64" => {
            let packed: String = data.chars().filter(|c| !c.is_ascii_whitespace()).collect();
            base64::engine::general_purpose::STANDARD.decode(packed).map_err(|_| {
                SqlError::new(SqlState::INVALID_PARAMETER_VALUE, "invalid base64 end sequence")
                    .hint("Input data is missing padding, is truncated, or is otherwise corrupted.")
            })?
        }
        _ => return Err(unknown_encoding(form)),
    };
    Ok(Datum::Bytes(decoded.into()))
}

fn convert_from(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    match encoding(text(args, 1)?)? {
        Encoding::Utf8 => out(crate::types::binary::text(bytes(args, 0)?)?),
        Encoding::Latin1 => out(bytes(args, 0)?.iter().map(|b| char::from(*b)).collect::<String>()),
    }
}
fn convert_to(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let string = text(args, 0)?;
    match encoding(text(args, 1)?)? {
        Encoding::Utf8 => Ok(Datum::Bytes(string.as_bytes().into())),
        Encoding::Latin1 => string.chars().map(latin1).collect::<Result<Vec<u8>, _>>().map(|bytes| Datum::Bytes(bytes.into())),
    }
}

fn latin1(c: char) -> Result<u8, SqlError> {
    u8::try_from(u32::from(c)).map_err(|_| {
        let bytes: Vec<String> = c.encode_utf8(&mut [0; 4]).bytes().map(|b| format!("0x{b:02x}")).collect();
        let bytes = bytes.join(" ");
        let message = format!("character with byte sequence {bytes} in encoding \"UTF8\" has no equivalent in encoding \"LATIN1\"");
        SqlError::new(SqlState("22P05"), message)
    })
}

/// `length(bytea, encoding)`: characters.
fn length_encoded(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    match encoding(text(args, 1)?)? {
        Encoding::Utf8 => Ok(Datum::Int4(crate::types::binary::text(bytes(args, 0)?)?.chars().count() as i32)),
        Encoding::Latin1 => bytes_length_of(args),
    }
}

fn bytes_length_of(args: &[Datum]) -> Answer {
    Ok(Datum::Int4(bytes(args, 0)?.len() as i32))
}

/// The encodings that text can be converted to and from.
enum Encoding {
    Utf8,
    Latin1,
}

fn encoding(name: &str) -> Result<Encoding, SqlError> {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    match plain.as_str() {
        "utf8" | "unicode" => Ok(Encoding::Utf8),
        "latin1" | "iso88591" => Ok(Encoding::Latin1),
        _ => Err(SqlError::unsupported(format_args!("encoding {name}"))),
    }
}

fn byte_index(args: &[Datum]) -> Result<usize, SqlError> {
    let (data, at) = (bytes(args, 0)?, int4(args, 1)?);
    usize::try_from(at).ok().filter(|n| *n < data.len()).ok_or_else(|| {
        SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, format!("index {at} out of valid range, 0..{}", data.len() as i64 - 1))
    })
}
fn get_byte(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Int4(i32::from(bytes(args, 0)?[byte_index(args)?])))
}
fn set_byte(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let mut data = bytes(args, 0)?.to_vec();
    data[byte_index(args)?] = int(args, 2)? as u8;
    Ok(Datum::Bytes(data.into()))
}

const fn f(name: &'static str, args: &'static [DataType], result: DataType, eval: EvalFn) -> BuiltinFunction {
    BuiltinFunction::new(name, args, result, eval)
}

/// All of them.
#[rustfmt::skip]
pub(super) static FUNCTIONS: &[BuiltinFunction] = &[
    f("||", &[TEXT, TEXT], TEXT, concat_text), f("textcat", &[TEXT, TEXT], TEXT, concat_text),
    f("||", &[TEXT, DataType::ANYNONARRAY], TEXT, concat_cast).stable(), f("||", &[DataType::ANYNONARRAY, TEXT], TEXT, concat_cast).stable(),
    f("concat", &[ANY], TEXT, concat_any).nullable().variadic().stable(), f("concat_ws", &[TEXT, ANY], TEXT, concat_ws).nullable().variadic().stable(),
    f("length", &[TEXT], INT4, length), f("length", &[DataType::BPCHAR], INT4, length_bpchar), f("length", &[BYTEA], INT4, bytes_length), f("length", &[BYTEA, DataType::NAME], INT4, length_encoded),
    f("char_length", &[TEXT], INT4, length), f("char_length", &[DataType::BPCHAR], INT4, length_bpchar), f("character_length", &[TEXT], INT4, length), f("character_length", &[DataType::BPCHAR], INT4, length_bpchar),
    f("octet_length", &[TEXT], INT4, octet_length), f("octet_length", &[DataType::BPCHAR], INT4, octet_length), f("octet_length", &[BYTEA], INT4, bytes_length), f("bit_length", &[TEXT], INT4, bit_length),
    f("lower", &[TEXT], TEXT, lower), f("upper", &[TEXT], TEXT, upper), f("initcap", &[TEXT], TEXT, initcap),
    f("substr", &[TEXT, INT4], TEXT, substring), f("substr", &[TEXT, INT4, INT4], TEXT, substring), f("substring", &[TEXT, INT4], TEXT, substring), f("substring", &[TEXT, INT4, INT4], TEXT, substring),
    f("substr", &[BYTEA, INT4], BYTEA, substring_bytes), f("substr", &[BYTEA, INT4, INT4], BYTEA, substring_bytes), f("substring", &[BYTEA, INT4], BYTEA, substring_bytes), f("substring", &[BYTEA, INT4, INT4], BYTEA, substring_bytes),
    f("overlay", &[TEXT, TEXT, INT4], TEXT, overlay), f("overlay", &[TEXT, TEXT, INT4, INT4], TEXT, overlay),
    f("strpos", &[TEXT, TEXT], INT4, strpos), f("position", &[TEXT, TEXT], INT4, strpos), f("position", &[BYTEA, BYTEA], INT4, position_bytes),
    f("starts_with", &[TEXT, TEXT], DataType::BOOL, starts_with), f("^@", &[TEXT, TEXT], DataType::BOOL, starts_with),
    f("btrim", &[TEXT], TEXT, btrim), f("btrim", &[TEXT, TEXT], TEXT, btrim), f("btrim", &[BYTEA, BYTEA], BYTEA, btrim_bytes), f("ltrim", &[TEXT], TEXT, ltrim), f("ltrim", &[TEXT, TEXT], TEXT, ltrim), f("rtrim", &[TEXT], TEXT, rtrim), f("rtrim", &[TEXT, TEXT], TEXT, rtrim),
    f("left", &[TEXT, INT4], TEXT, left), f("right", &[TEXT, INT4], TEXT, right), f("lpad", &[TEXT, INT4], TEXT, lpad), f("lpad", &[TEXT, INT4, TEXT], TEXT, lpad), f("rpad", &[TEXT, INT4], TEXT, rpad), f("rpad", &[TEXT, INT4, TEXT], TEXT, rpad),
    f("repeat", &[TEXT, INT4], TEXT, repeat), f("replace", &[TEXT, TEXT, TEXT], TEXT, replace), f("translate", &[TEXT, TEXT, TEXT], TEXT, translate), f("reverse", &[TEXT], TEXT, reverse), f("split_part", &[TEXT, TEXT, INT4], TEXT, split_part),
    f("ascii", &[TEXT], INT4, ascii), f("chr", &[INT4], TEXT, chr), f("to_hex", &[INT4], TEXT, to_hex4), f("to_hex", &[INT8], TEXT, to_hex8), f("md5", &[TEXT], TEXT, md5_text), f("md5", &[BYTEA], TEXT, md5_bytes), f("sha224", &[BYTEA], BYTEA, sha224), f("sha256", &[BYTEA], BYTEA, sha256), f("sha384", &[BYTEA], BYTEA, sha384), f("sha512", &[BYTEA], BYTEA, sha512),
    f("encode", &[BYTEA, TEXT], TEXT, encode), f("decode", &[TEXT, TEXT], BYTEA, decode), f("convert_from", &[BYTEA, DataType::NAME], TEXT, convert_from), f("convert_to", &[TEXT, DataType::NAME], BYTEA, convert_to),
    f("overlay", &[BYTEA, BYTEA, INT4], BYTEA, overlay_bytes), f("overlay", &[BYTEA, BYTEA, INT4, INT4], BYTEA, overlay_bytes), f("ltrim", &[BYTEA, BYTEA], BYTEA, ltrim_bytes), f("rtrim", &[BYTEA, BYTEA], BYTEA, rtrim_bytes),
    f("bit_length", &[BYTEA], INT4, bit_length_bytes), f("bit_count", &[BYTEA], INT8, bit_count), f("get_bit", &[BYTEA, INT8], INT4, get_bit), f("set_bit", &[BYTEA, INT8, INT4], BYTEA, set_bit),
    f("get_byte", &[BYTEA, INT4], INT4, get_byte), f("set_byte", &[BYTEA, INT4, INT4], BYTEA, set_byte),
];
