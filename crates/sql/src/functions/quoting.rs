//! `format` and the quoting functions: making SQL text safely.

use super::args::{Answer, boolean, out, text};
use super::strings::display;
use super::{BuiltinFunction, EvalFn};
use crate::error::{SqlError, SqlState};
use crate::expr::EvalContext;
use crate::types::{DataType, Datum};

const TEXT: DataType = DataType::TEXT;

/// Words that must be quoted to serve as names, however plain: PostgreSQL's keywords that are not "unreserved".
const RESERVED: &str = " all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both case cast char character check coalesce collate collation column concurrently constraint create cross current_catalog current_date current_role current_schema current_time current_timestamp current_user dec decimal default deferrable desc distinct do else end except exists extract false fetch float for foreign freeze from full grant greatest group grouping having ilike in initially inner inout int integer intersect interval into is isnull join lateral leading least left like limit localtime localtimestamp national natural nchar none normalize not notnull null nullif numeric offset on only or order out outer overlaps overlay placing position precision primary real references returning right row select session_user setof similar smallint some substring symmetric table tablesample then time timestamp to trailing treat trim true union unique user using values varchar variadic verbose when where window with xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable ";

/// The words that must be quoted.
pub(super) fn reserved_words() -> impl Iterator<Item = &'static str> + Send {
    RESERVED.split_ascii_whitespace()
}

/// A name as SQL text, in quotes only if it needs them.
pub fn quote_ident(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && !RESERVED.contains(&format!(" {name} "));
    if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// A string as a SQL literal.
pub fn quote_literal(value: &str) -> String {
    let quoted = value.replace('\'', "''");
    if value.contains('\\') { format!("E'{}'", quoted.replace('\\', "\\\\")) } else { format!("'{quoted}'") }
}

fn ident(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    out(quote_ident(text(args, 0)?))
}
/// What a cast to text says: booleans are spelled out.
fn cast_text(value: &Datum, ctx: &EvalContext<'_>) -> String {
    match value {
        Datum::Bool(value) => value.to_string(),
        other => display(other, ctx),
    }
}

/// `parse_ident(text [, strict])`: the parts of a qualified name.
fn parse_ident(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let whole = text(args, 0)?;
    let strict = args.len() < 2 || boolean(args, 1)?;
    let refused = || SqlError::new(SqlState::INVALID_PARAMETER_VALUE, std::format!("string is not a valid identifier: \"{whole}\""));
    let mut rest = whole.trim_start();
    let mut parts = Vec::new();
    loop {
        if let Some(quoted) = rest.strip_prefix('"') {
            let mut part = String::new();
            let mut after = quoted;
            loop {
                let end = after.find('"').ok_or_else(|| refused().detail("String has unclosed double quotes."))?;
                part.push_str(&after[..end]);
                after = &after[end + 1..];
                match after.strip_prefix('"') {
                    Some(more) => after = more,
                    None => break,
                }
                part.push('"');
            }
            if part.is_empty() {
                return Err(refused().detail("Quoted identifier must not be empty."));
            }
            parts.push(Datum::text(&part));
            rest = after;
        } else {
            let inside =
                |(at, c): (usize, char)| c.is_alphabetic() || c == '_' || !c.is_ascii() || at > 0 && (c.is_ascii_digit() || c == '$');
            let end = rest.char_indices().find(|found| !inside(*found)).map_or(rest.len(), |(at, _)| at);
            if end == 0 {
                let before = if parts.is_empty() { None } else { Some("No valid identifier after \".\".") };
                return Err(match (before, rest.starts_with('.')) {
                    (_, true) => refused().detail("No valid identifier before \".\"."),
                    (Some(detail), false) => refused().detail(detail),
                    (None, false) => refused(),
                });
            }
            parts.push(Datum::text(rest[..end].to_lowercase()));
            rest = &rest[end..];
        }
        rest = rest.trim_start();
        match rest.strip_prefix('.') {
            Some(after) => rest = after.trim_start(),
            None if rest.is_empty() || !strict => return Ok(Datum::array(TEXT, parts)),
            None => return Err(refused()),
        }
    }
}

fn literal(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    out(quote_literal(text(args, 0)?))
}
fn literal_any(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    out(quote_literal(&cast_text(&args[0], ctx)))
}
fn nullable(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    out(if args[0].is_null() { "NULL".to_owned() } else { quote_literal(&cast_text(&args[0], ctx)) })
}

fn invalid(message: &'static str) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

/// `%[position$][-][width]type`
pub(super) fn format(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    if args[0].is_null() {
        return Ok(Datum::Null);
    }
    let mut result = String::new();
    let mut next = 1;
    let mut rest = text(args, 0)?;
    while let Some(at) = rest.find('%') {
        result.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            result.push('%');
            rest = after;
            continue;
        }
        let (spec, after) = Spec::parse(rest)?;
        rest = after;
        let mut width = spec.width;
        if spec.width_argument {
            let at = spec.width_position.unwrap_or(next);
            let value = args.get(at).ok_or_else(|| invalid("too few arguments for format()"))?;
            width = crate::types::compare::as_i64(value).unwrap_or(0);
            next = at + 1;
        }
        let position = spec.position.unwrap_or(next);
        next = position + 1;
        let value = args.get(position).ok_or_else(|| invalid("too few arguments for format()"))?;
        let piece = match (spec.kind, value.is_null()) {
            ('s', _) => display(value, ctx),
            ('I', true) => {
                return Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "null values cannot be formatted as an SQL identifier"));
            }
            ('I', false) => quote_ident(&display(value, ctx)),
            (_, true) => "NULL".to_owned(),
            (_, false) => quote_literal(&display(value, ctx)),
        };
        let missing = (width.unsigned_abs().min(1 << 20) as usize).saturating_sub(piece.chars().count());
        let fill = " ".repeat(missing);
        if spec.left || width < 0 {
            result.push_str(&piece);
            result.push_str(&fill);
        } else {
            result.push_str(&fill);
            result.push_str(&piece);
        }
    }
    result.push_str(rest);
    out(result)
}

/// `n$`, and what stands behind it.
fn argument_position(text: &str) -> Result<Option<(usize, &str)>, SqlError> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits == 0 || !text[digits..].starts_with('$') {
        return Ok(None);
    }
    let position: i32 =
        text[..digits].parse().map_err(|_| SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "number is out of range"))?;
    if position == 0 {
        return Err(invalid("format specifies argument 0, but arguments are numbered from 1"));
    }
    Ok(Some((position as usize, &text[digits + 1..])))
}

struct Spec {
    position: Option<usize>,
    left: bool,
    width: i64,
    width_argument: bool,
    width_position: Option<usize>,
    kind: char,
}

impl Spec {
    fn parse(text: &str) -> Result<(Spec, &str), SqlError> {
        let mut spec = Spec { position: None, left: false, width: 0, width_argument: false, width_position: None, kind: 's' };
        let mut rest = text;
        if let Some((position, after)) = argument_position(rest)? {
            spec.position = Some(position);
            rest = after;
        }
        if let Some(after) = rest.strip_prefix('-') {
            spec.left = true;
            rest = after;
        }
        if let Some(after) = rest.strip_prefix('*') {
            spec.width_argument = true;
            rest = after;
            if let Some((position, after)) = argument_position(rest)? {
                spec.width_position = Some(position);
                rest = after;
            }
        } else {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            if digits > 0 {
                spec.width = rest[..digits].parse::<i32>().map_err(|_| SqlError::out_of_range("number"))?.into();
                rest = &rest[digits..];
            }
        }
        let kind =
            rest.chars().next().ok_or_else(|| invalid("unterminated format() type specifier").hint("For a single \"%\" use \"%%\"."))?;
        if !matches!(kind, 's' | 'I' | 'L') {
            let message = std::format!("unrecognized format() type specifier \"{kind}\"");
            return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message).hint("For a single \"%\" use \"%%\"."));
        }
        spec.kind = kind;
        Ok((spec, &rest[kind.len_utf8()..]))
    }
}

const fn f(name: &'static str, args: &'static [DataType], eval: EvalFn) -> BuiltinFunction {
    BuiltinFunction::new(name, args, TEXT, eval)
}

/// All of them.
pub(super) static FUNCTIONS: &[BuiltinFunction] = &[
    f("quote_ident", &[TEXT], ident),
    f("quote_literal", &[TEXT], literal),
    f("quote_literal", &[DataType::ANYELEMENT], literal_any).stable(),
    f("quote_nullable", &[TEXT], nullable).nullable(),
    f("quote_nullable", &[DataType::ANYELEMENT], nullable).nullable().stable(),
    BuiltinFunction::new("parse_ident", &[TEXT], DataType::TEXT_ARRAY, parse_ident),
    BuiltinFunction::new("parse_ident", &[TEXT, DataType::BOOL], DataType::TEXT_ARRAY, parse_ident),
    f("format", &[TEXT], format).nullable().stable(),
    f("format", &[TEXT, DataType::ANY], format).nullable().variadic().stable(),
];
