//! The `regexp_*` functions: matching from a place, the n-th match, one group of it, replacing.
//!
//! All of them walk the same sequence of matches, PostgreSQL's: the next search begins where the last match ended, one character further when
//! that was empty, and an empty match right behind another one counts.

use super::args::{Answer, int, out, text};
use super::pattern::{captured, compile_flags, split};
use super::{BuiltinFunction, EvalFn};
use crate::error::{SqlError, SqlState};
use crate::expr::EvalContext;
use crate::types::{DataType, Datum};
use regex::{Captures, Regex};

const TEXT: DataType = DataType::TEXT;
const BOOL: DataType = DataType::BOOL;
const INT4: DataType = DataType::INT4;
const TEXT_ARRAY: DataType = DataType::TEXT_ARRAY;

/// The matches from a byte offset on.
pub(super) struct Matches<'r, 't> {
    regex: &'r Regex,
    string: &'t str,
    next: Option<usize>,
}

pub(super) fn matches_from<'r, 't>(regex: &'r Regex, string: &'t str, from: usize) -> Matches<'r, 't> {
    Matches { regex, string, next: Some(from) }
}

impl<'t> Iterator for Matches<'_, 't> {
    type Item = Captures<'t>;

    fn next(&mut self) -> Option<Captures<'t>> {
        let found = self.regex.captures_at(self.string, self.next?)?;
        let whole = found.get(0)?;
        self.next = if whole.is_empty() {
            self.string[whole.end()..].chars().next().map(|c| whole.end() + c.len_utf8())
        } else {
            Some(whole.end())
        };
        Some(found)
    }
}

fn invalid_parameter(name: &str, value: i64) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("invalid value for parameter \"{name}\": {value}"))
}

fn no_global(function: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("{function}() does not support the \"global\" option"))
}

fn optional_text(args: &[Datum], at: usize) -> Result<&str, SqlError> {
    if args.len() > at { text(args, at) } else { Ok("") }
}

/// An integer argument that must be at least `least`.
fn number(args: &[Datum], at: usize, name: &str, least: i64, default: i64) -> Result<i64, SqlError> {
    let value = if args.len() > at { int(args, at)? } else { default };
    if value < least { Err(invalid_parameter(name, value)) } else { Ok(value) }
}

/// The pattern with its flags, where the function has no use for `g`.
fn not_global(function: &str, pattern: &str, flags: &str) -> Result<Regex, SqlError> {
    let (regex, global) = compile_flags(pattern, flags)?;
    if global { Err(no_global(function)) } else { Ok(regex) }
}

/// The byte offset of a character position, from 1; `None` behind the end.
fn offset_of(string: &str, position: i64) -> Option<usize> {
    let skipped = usize::try_from(position - 1).ok()?;
    string.char_indices().map(|(at, _)| at).chain([string.len()]).nth(skipped)
}

fn position_of(string: &str, offset: usize) -> i32 {
    string[..offset].chars().count() as i32 + 1
}

fn regexp_match(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (regex, global) = compile_flags(text(args, 1)?, optional_text(args, 2)?)?;
    if global {
        return Err(no_global("regexp_match").hint("Use the regexp_matches function instead."));
    }
    Ok(regex.captures(text(args, 0)?).map_or(Datum::Null, |found| captured(&found)))
}

fn regexp_like(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let regex = not_global("regexp_like", text(args, 1)?, optional_text(args, 2)?)?;
    Ok(Datum::Bool(regex.is_match(text(args, 0)?)))
}

fn regexp_split_to_array(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let regex = not_global("regexp_split_to_array", text(args, 1)?, optional_text(args, 2)?)?;
    Ok(Datum::array(TEXT, split(&regex, text(args, 0)?).into_iter().map(Datum::text).collect()))
}

/// `substring(text from pattern)`: the first group, or the whole match.
fn substring_regex(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (regex, _) = compile_flags(text(args, 1)?, "")?;
    let found = regex.captures(text(args, 0)?);
    Ok(found
        .and_then(|found| if found.len() > 1 { found.get(1) } else { found.get(0) })
        .map_or(Datum::Null, |part| Datum::text(part.as_str())))
}

/// `regexp_count(string, pattern [, start [, flags]])`
fn regexp_count(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (string, start) = (text(args, 0)?, number(args, 2, "start", 1, 1)?);
    let regex = not_global("regexp_count", text(args, 1)?, optional_text(args, 3)?)?;
    Ok(Datum::Int4(offset_of(string, start).map_or(0, |from| matches_from(&regex, string, from).count() as i32)))
}

/// The group of the n-th match that the arguments from `start` on name, as a byte range.
fn nth_match(string: &str, regex: &Regex, start: i64, nth: i64, group: i64) -> Option<std::ops::Range<usize>> {
    let from = offset_of(string, start)?;
    let found = matches_from(regex, string, from).nth(usize::try_from(nth - 1).ok()?)?;
    found.get(usize::try_from(group).ok()?).map(|part| part.range())
}

/// `regexp_instr(string, pattern [, start [, N [, endoption [, flags [, subexpr]]]]])`
fn regexp_instr(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let string = text(args, 0)?;
    let (start, nth) = (number(args, 2, "start", 1, 1)?, number(args, 3, "n", 1, 1)?);
    let at_end = match number(args, 4, "endoption", 0, 0)? {
        at_end @ (0 | 1) => at_end == 1,
        other => return Err(invalid_parameter("endoption", other)),
    };
    let group = number(args, 6, "subexpr", 0, 0)?;
    let regex = not_global("regexp_instr", text(args, 1)?, optional_text(args, 5)?)?;
    let found = nth_match(string, &regex, start, nth, group);
    Ok(Datum::Int4(found.map_or(0, |range| position_of(string, if at_end { range.end } else { range.start }))))
}

/// `regexp_substr(string, pattern [, start [, N [, flags [, subexpr]]]])`
fn regexp_substr(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let string = text(args, 0)?;
    let (start, nth) = (number(args, 2, "start", 1, 1)?, number(args, 3, "n", 1, 1)?);
    let group = number(args, 5, "subexpr", 0, 0)?;
    let regex = not_global("regexp_substr", text(args, 1)?, optional_text(args, 4)?)?;
    Ok(nth_match(string, &regex, start, nth, group).map_or(Datum::Null, |range| Datum::text(&string[range])))
}

/// `regexp_replace(string, pattern, replacement [, flags])`
fn regexp_replace(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (regex, global) = compile_flags(text(args, 1)?, optional_text(args, 3)?)?;
    out(replaced(text(args, 0)?, &regex, text(args, 2)?, 0, if global { 0 } else { 1 }))
}

/// `regexp_replace(string, pattern, replacement, start [, N [, flags]])`
fn regexp_replace_nth(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (string, start, nth) = (text(args, 0)?, number(args, 3, "start", 1, 1)?, number(args, 4, "n", 0, 1)?);
    let (regex, _) = compile_flags(text(args, 1)?, optional_text(args, 5)?)?;
    match offset_of(string, start) {
        Some(from) => out(replaced(string, &regex, text(args, 2)?, from, nth)),
        None => out(string),
    }
}

/// The string with the n-th match from an offset on replaced, or all of them when `nth` is 0.
fn replaced(string: &str, regex: &Regex, replacement: &str, from: usize, nth: i64) -> String {
    let mut result = String::with_capacity(string.len());
    let mut copied = 0;
    for (found, count) in matches_from(regex, string, from).zip(1i64..) {
        let Some(whole) = found.get(0) else { break };
        if nth == 0 || nth == count {
            result.push_str(&string[copied..whole.start()]);
            expand(replacement, &found, &mut result);
            copied = whole.end();
        }
        if nth == count {
            break;
        }
    }
    result.push_str(&string[copied..]);
    result
}

/// The replacement with `\1` and `\&` filled in.
fn expand(replacement: &str, found: &Captures<'_>, result: &mut String) {
    let group = |n: usize| found.get(n).map_or("", |part| part.as_str());
    let mut chars = replacement.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            result.push(c);
            continue;
        }
        match chars.next() {
            Some(digit @ '1'..='9') => result.push_str(group(digit as usize - '0' as usize)),
            Some('&') => result.push_str(group(0)),
            Some('\\') | None => result.push('\\'),
            Some(other) => {
                result.push('\\');
                result.push(other);
            }
        }
    }
}

const fn f(name: &'static str, args: &'static [DataType], result: DataType, eval: EvalFn) -> BuiltinFunction {
    BuiltinFunction::new(name, args, result, eval)
}

/// All of them.
#[rustfmt::skip]
pub(super) static FUNCTIONS: &[BuiltinFunction] = &[
    f("regexp_replace", &[TEXT, TEXT, TEXT], TEXT, regexp_replace), f("regexp_replace", &[TEXT, TEXT, TEXT, TEXT], TEXT, regexp_replace),
    f("regexp_replace", &[TEXT, TEXT, TEXT, INT4], TEXT, regexp_replace_nth), f("regexp_replace", &[TEXT, TEXT, TEXT, INT4, INT4], TEXT, regexp_replace_nth), f("regexp_replace", &[TEXT, TEXT, TEXT, INT4, INT4, TEXT], TEXT, regexp_replace_nth),
    f("regexp_match", &[TEXT, TEXT], TEXT_ARRAY, regexp_match), f("regexp_match", &[TEXT, TEXT, TEXT], TEXT_ARRAY, regexp_match),
    f("regexp_split_to_array", &[TEXT, TEXT], TEXT_ARRAY, regexp_split_to_array), f("regexp_split_to_array", &[TEXT, TEXT, TEXT], TEXT_ARRAY, regexp_split_to_array),
    f("substring", &[TEXT, TEXT], TEXT, substring_regex), f("regexp_like", &[TEXT, TEXT], BOOL, regexp_like), f("regexp_like", &[TEXT, TEXT, TEXT], BOOL, regexp_like),
    f("regexp_count", &[TEXT, TEXT], INT4, regexp_count), f("regexp_count", &[TEXT, TEXT, INT4], INT4, regexp_count), f("regexp_count", &[TEXT, TEXT, INT4, TEXT], INT4, regexp_count),
    f("regexp_instr", &[TEXT, TEXT], INT4, regexp_instr), f("regexp_instr", &[TEXT, TEXT, INT4], INT4, regexp_instr), f("regexp_instr", &[TEXT, TEXT, INT4, INT4], INT4, regexp_instr), f("regexp_instr", &[TEXT, TEXT, INT4, INT4, INT4], INT4, regexp_instr), f("regexp_instr", &[TEXT, TEXT, INT4, INT4, INT4, TEXT], INT4, regexp_instr), f("regexp_instr", &[TEXT, TEXT, INT4, INT4, INT4, TEXT, INT4], INT4, regexp_instr),
    f("regexp_substr", &[TEXT, TEXT], TEXT, regexp_substr), f("regexp_substr", &[TEXT, TEXT, INT4], TEXT, regexp_substr), f("regexp_substr", &[TEXT, TEXT, INT4, INT4], TEXT, regexp_substr), f("regexp_substr", &[TEXT, TEXT, INT4, INT4, TEXT], TEXT, regexp_substr), f("regexp_substr", &[TEXT, TEXT, INT4, INT4, TEXT, INT4], TEXT, regexp_substr),
];
