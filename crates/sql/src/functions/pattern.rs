//! LIKE, regular expressions, SIMILAR TO.
//!
//! LIKE has its own matcher, bytewise and without allocation.  Regular expressions are the regex crate's: linear time, so no pattern can hang
//! a server; what it does not have (back references, look-around) is refused.

use super::args::{Answer, out, text};
use super::{BuiltinFunction, EvalFn};
use crate::error::{SqlError, SqlState};
use crate::expr::EvalContext;
use crate::types::{DataType, Datum};
use regex::{Regex, RegexBuilder};
use std::cell::RefCell;

const TEXT: DataType = DataType::TEXT;
const BOOL: DataType = DataType::BOOL;

/// Compiled patterns kept per thread.
const CACHE_PATTERNS_MAX: usize = 32;
/// Bytes one compiled pattern may take.
const PATTERN_BYTES_MAX: usize = 4 << 20;

fn dangling_escape() -> SqlError {
    SqlError::new(SqlState::INVALID_ESCAPE_SEQUENCE, "LIKE pattern must not end with escape character")
}

/// Does the whole text match a LIKE pattern? `%` any run, `_` one character, `\` takes the next literally.
pub(super) fn like(text: &[u8], pattern: &[u8]) -> Result<bool, SqlError> {
    let (mut t, mut p) = (0, 0);
    // Where to resume after the last `%`: a longer run for it.
    let mut resume: Option<(usize, usize)> = None;
    loop {
        match pattern.get(p) {
            Some(b'%') => {
                p += 1;
                resume = Some((t, p));
                continue;
            }
            Some(b'_') if t < text.len() => {
                t += char_bytes(text, t);
                p += 1;
                continue;
            }
            Some(b'\\') if t < text.len() => {
                let literal = *pattern.get(p + 1).ok_or_else(dangling_escape)?;
                if text.get(t) == Some(&literal) {
                    t += 1;
                    p += 2;
                    continue;
                }
            }
            Some(literal) if *literal != b'_' && text.get(t) == Some(literal) => {
                t += 1;
                p += 1;
                continue;
            }
            None if t == text.len() => return Ok(true),
            _ => {}
        }
        match resume {
            Some((at, after)) if at < text.len() => {
                let next = at + char_bytes(text, at);
                resume = Some((next, after));
                (t, p) = (next, after);
            }
            _ => return Ok(false),
        }
    }
}

fn char_bytes(text: &[u8], at: usize) -> usize {
    let mut length = 1;
    while text.get(at + length).is_some_and(|b| b & 0xc0 == 0x80) {
        length += 1;
    }
    length
}

fn like_op(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bool(like(text(args, 0)?.as_bytes(), text(args, 1)?.as_bytes())?))
}
fn not_like_op(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bool(!like(text(args, 0)?.as_bytes(), text(args, 1)?.as_bytes())?))
}
fn ilike(args: &[Datum]) -> Result<bool, SqlError> {
    like(text(args, 0)?.to_lowercase().as_bytes(), text(args, 1)?.to_lowercase().as_bytes())
}
fn ilike_op(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bool(ilike(args)?))
}
fn not_ilike_op(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bool(!ilike(args)?))
}

fn escape_char(escape: &str) -> Result<Option<char>, SqlError> {
    let mut chars = escape.chars();
    match (chars.next(), chars.next()) {
        (first, None) => Ok(first),
        _ => {
            Err(SqlError::new(SqlState::INVALID_ESCAPE_SEQUENCE, "invalid escape string")
                .hint("Escape string must be empty or one character."))
        }
    }
}

/// `LIKE ... ESCAPE e`: rewrites the pattern to use a backslash.
fn like_escape(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let escape = escape_char(text(args, 1)?)?;
    let mut rewritten = String::new();
    let mut after_escape = false;
    for c in text(args, 0)?.chars() {
        if !after_escape && Some(c) == escape {
            after_escape = true;
            rewritten.push('\\');
            continue;
        }
        if c == '\\' && !after_escape {
            rewritten.push('\\');
        }
        rewritten.push(c);
        after_escape = false;
    }
    out(rewritten)
}

/// `SIMILAR TO`: the pattern as a regular expression.
fn similar_to_escape(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let escape = if args.len() > 1 { escape_char(text(args, 1)?)? } else { Some('\\') };
    let mut regex = String::from("^(?:");
    let mut chars = text(args, 0)?.chars();
    let mut in_class = false;
    while let Some(c) = chars.next() {
        match c {
            c if Some(c) == escape => {
                let literal = chars.next().ok_or_else(dangling_escape)?;
                regex.push_str(&regex::escape(literal.encode_utf8(&mut [0; 4])));
            }
            '[' if !in_class => {
                in_class = true;
                regex.push('[');
            }
            ']' if in_class => {
                in_class = false;
                regex.push(']');
            }
            c if in_class => regex.push(c),
            '%' => regex.push_str(".*"),
            '_' => regex.push('.'),
            '(' => regex.push_str("(?:"),
            '\\' | '.' | '^' | '$' => {
                regex.push('\\');
                regex.push(c);
            }
            c => regex.push(c),
        }
    }
    regex.push_str(")$");
    out(regex)
}

thread_local! {
    static CACHE: RefCell<Vec<(String, bool, Regex)>> = const { RefCell::new(Vec::new()) };
}

/// The compiled pattern, from the thread's cache if it was used lately.
pub(super) fn compile(pattern: &str, ignore_case: bool) -> Result<Regex, SqlError> {
    CACHE.with_borrow_mut(|cache| {
        if let Some(at) = cache.iter().position(|(known, flag, _)| known == pattern && *flag == ignore_case) {
            cache[..=at].rotate_right(1);
            return Ok(cache[0].2.clone());
        }
        let regex = RegexBuilder::new(&translate(pattern))
            .case_insensitive(ignore_case)
            .dot_matches_new_line(true)
            .size_limit(PATTERN_BYTES_MAX)
            .build()
            .map_err(|error| {
                SqlError::new(SqlState::INVALID_REGULAR_EXPRESSION, format!("invalid regular expression: {}", reason(&error.to_string())))
            })?;
        cache.insert(0, (pattern.to_owned(), ignore_case, regex.clone()));
        cache.truncate(CACHE_PATTERNS_MAX);
        Ok(regex)
    })
}

/// The crate's complaint, in PostgreSQL's words where they are known.
fn reason(complaint: &str) -> String {
    let last = complaint.lines().last().unwrap_or_default().trim_start_matches("error: ");
    match last {
        "unclosed group" | "unopened group" => "parentheses () not balanced".into(),
        "unclosed character class" => "brackets [] not balanced".into(),
        "repetition operator missing expression" => "quantifier operand invalid".into(),
        "invalid repetition count range, the start must be <= the end" => "invalid repetition count(s)".into(),
        "invalid character class range, the start must be <= the end" => "invalid character range".into(),
        complaint if complaint.contains("escape sequence") => "invalid escape \\ sequence".into(),
        other => other.to_owned(),
    }
}

/// PostgreSQL's escapes that the regex crate spells otherwise.
fn translate(pattern: &str) -> String {
    if let Some(literal) = pattern.strip_prefix("***=") {
        return regex::escape(literal);
    }
    let pattern = pattern.strip_prefix("***:").unwrap_or(pattern);
    pattern.replace("\\m", "\\b{start}").replace("\\M", "\\b{end}").replace("\\y", "\\b").replace("\\Y", "\\B").replace("\\Z", "\\z")
}

fn matches(args: &[Datum], ignore_case: bool) -> Result<bool, SqlError> {
    Ok(compile(text(args, 1)?, ignore_case)?.is_match(text(args, 0)?))
}
fn match_op(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bool(matches(args, false)?))
}
fn match_case_op(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bool(matches(args, true)?))
}
fn not_match_op(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bool(!matches(args, false)?))
}
fn not_match_case_op(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bool(!matches(args, true)?))
}

/// Flags of the regexp functions: `(regex, global)`.
pub(super) fn compile_flags(pattern: &str, flags: &str) -> Result<(Regex, bool), SqlError> {
    let mut prefix = String::new();
    let (mut global, mut ignore_case) = (false, false);
    for flag in flags.chars() {
        match flag {
            'g' => global = true,
            'i' => ignore_case = true,
            'c' => ignore_case = false,
            'n' | 'm' => prefix.push_str("(?m-s)"),
            's' => {}
            'x' => prefix.push_str("(?x)"),
            other => {
                return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("invalid regular expression option: \"{other}\"")));
            }
        }
    }
    Ok((compile(&format!("{prefix}{pattern}"), ignore_case)?, global))
}

/// The expression of a jsonpath's `like_regex`, whose flags mean what XQuery's do.
pub fn jsonpath_regex(pattern: &str, flags: &str) -> Result<Regex, SqlError> {
    if flags.contains('x') {
        return Err(SqlError::unsupported("XQuery \"x\" flag (expanded regular expressions)"));
    }
    let pattern = if flags.contains('q') { regex::escape(pattern) } else { pattern.to_owned() };
    let dot = if flags.contains('s') { "" } else { "(?-s)" };
    let lines = if flags.contains('m') { "(?m)" } else { "" };
    compile(&format!("{dot}{lines}{pattern}"), flags.contains('i'))
}

/// The captures of one match as an array: the whole match when there are no groups.
pub(super) fn captured(found: &regex::Captures<'_>) -> Datum {
    let from = usize::from(found.len() > 1);
    let parts = (from..found.len()).map(|n| found.get(n).map_or(Datum::Null, |part| Datum::text(part.as_str())));
    Datum::array(TEXT, parts.collect())
}

/// Pieces between matches.
pub(super) fn split<'t>(regex: &Regex, string: &'t str) -> Vec<&'t str> {
    let mut parts = Vec::new();
    let mut last = 0;
    for found in regex.find_iter(string) {
        // An empty match at the ends or right after another separates nothing.
        if found.is_empty() && (found.start() == last || found.start() == string.len()) {
            continue;
        }
        parts.push(&string[last..found.start()]);
        last = found.end();
    }
    parts.push(&string[last..]);
    parts
}

/// `~<~` and its like: bytes, whatever the collation.
fn pattern_less(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bool(text(args, 0)?.as_bytes() < text(args, 1)?.as_bytes()))
}
fn pattern_at_most(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bool(text(args, 0)?.as_bytes() <= text(args, 1)?.as_bytes()))
}
fn pattern_greater(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bool(text(args, 0)?.as_bytes() > text(args, 1)?.as_bytes()))
}
fn pattern_at_least(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Bool(text(args, 0)?.as_bytes() >= text(args, 1)?.as_bytes()))
}

const fn f(name: &'static str, args: &'static [DataType], result: DataType, eval: EvalFn) -> BuiltinFunction {
    BuiltinFunction::new(name, args, result, eval)
}

/// All of them.
#[rustfmt::skip]
pub(super) static FUNCTIONS: &[BuiltinFunction] = &[
    f("~~", &[TEXT, TEXT], BOOL, like_op), f("!~~", &[TEXT, TEXT], BOOL, not_like_op), f("~~*", &[TEXT, TEXT], BOOL, ilike_op), f("!~~*", &[TEXT, TEXT], BOOL, not_ilike_op),
    f("~~", &[DataType::BPCHAR, TEXT], BOOL, like_op), f("!~~", &[DataType::BPCHAR, TEXT], BOOL, not_like_op), f("~~*", &[DataType::BPCHAR, TEXT], BOOL, ilike_op), f("!~~*", &[DataType::BPCHAR, TEXT], BOOL, not_ilike_op),
    f("~~", &[DataType::NAME, TEXT], BOOL, like_op), f("!~~", &[DataType::NAME, TEXT], BOOL, not_like_op), f("~~*", &[DataType::NAME, TEXT], BOOL, ilike_op), f("!~~*", &[DataType::NAME, TEXT], BOOL, not_ilike_op),
    f("~", &[TEXT, TEXT], BOOL, match_op), f("~*", &[TEXT, TEXT], BOOL, match_case_op), f("!~", &[TEXT, TEXT], BOOL, not_match_op), f("!~*", &[TEXT, TEXT], BOOL, not_match_case_op),
    f("~", &[DataType::NAME, TEXT], BOOL, match_op), f("~*", &[DataType::NAME, TEXT], BOOL, match_case_op), f("!~", &[DataType::NAME, TEXT], BOOL, not_match_op), f("!~*", &[DataType::NAME, TEXT], BOOL, not_match_case_op),
    f("like", &[TEXT, TEXT], BOOL, like_op), f("notlike", &[TEXT, TEXT], BOOL, not_like_op), f("~<~", &[TEXT, TEXT], BOOL, pattern_less), f("~<=~", &[TEXT, TEXT], BOOL, pattern_at_most), f("~>~", &[TEXT, TEXT], BOOL, pattern_greater), f("~>=~", &[TEXT, TEXT], BOOL, pattern_at_least),
    f("~<~", &[DataType::BPCHAR, DataType::BPCHAR], BOOL, pattern_less), f("~<=~", &[DataType::BPCHAR, DataType::BPCHAR], BOOL, pattern_at_most), f("~>~", &[DataType::BPCHAR, DataType::BPCHAR], BOOL, pattern_greater), f("~>=~", &[DataType::BPCHAR, DataType::BPCHAR], BOOL, pattern_at_least),
    f("like_escape", &[TEXT, TEXT], TEXT, like_escape),
    f("similar_to_escape", &[TEXT], TEXT, similar_to_escape), f("similar_to_escape", &[TEXT, TEXT], TEXT, similar_to_escape),
];
