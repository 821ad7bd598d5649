//! JSON values: `jsonb`'s tree, and the text forms of both types.
//!
//! `json` is its text, checked ([`parse::check`]) and kept.  `jsonb` is a [`Json`]: of repeated keys the last one counts, keys are
//! ordered by length and then by bytes, numbers are exact numerics.  Path queries live in [`path`], the order of values in
//! [`compare`], the stored form in [`codec`].

use super::Numeric;
use crate::error::{SqlError, SqlState};
use compact_str::CompactString;
use std::fmt::Write;

pub mod codec;
pub mod compare;
pub mod parse;
pub mod path;

pub use parse::{Node, Value};

/// A `jsonb` value.
#[derive(Clone, Debug)]
pub enum Json {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number; never NaN or infinite.
    Number(Numeric),
    /// A string.
    String(CompactString),
    /// An array.
    Array(Vec<Json>),
    /// An object; keys are unique and ordered as [`key_order`] says.
    Object(Vec<(CompactString, Json)>),
}

/// Shorter keys first, then by bytes.
pub fn key_order(a: &str, b: &str) -> std::cmp::Ordering {
    a.len().cmp(&b.len()).then_with(|| a.as_bytes().cmp(b.as_bytes()))
}

impl Json {
    /// Reads the text form of `jsonb`.
    pub fn parse(text: &str) -> Result<Json, SqlError> {
        Json::from_node(parse::parse(text)?)
    }

    /// The value of a node.
    pub fn from_node(node: Node<'_>) -> Result<Json, SqlError> {
        Ok(match node.value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(value),
            Value::Number(text) => Json::Number(Numeric::parse(text)?),
            Value::String(text) => Json::String(text.into()),
            Value::Array(items) => Json::Array(items.into_iter().map(Json::from_node).collect::<Result<_, _>>()?),
            Value::Object(items) => {
                let pairs = items.into_iter().map(|(key, node)| Ok((key.into(), Json::from_node(node)?)));
                Json::object(pairs.collect::<Result<_, SqlError>>()?)
            }
        })
    }

    /// An object of these pairs; of equal keys the last one counts.
    pub fn object(mut pairs: Vec<(CompactString, Json)>) -> Json {
        // A stable sort leaves equal keys in order; of each run the last stays.
        pairs.sort_by(|a, b| key_order(&a.0, &b.0));
        let mut kept: Vec<(CompactString, Json)> = Vec::with_capacity(pairs.len());
        for pair in pairs {
            match kept.last_mut() {
                Some(last) if last.0 == pair.0 => *last = pair,
                _ => kept.push(pair),
            }
        }
        Json::Object(kept)
    }

    /// A string.
    pub fn string(text: impl Into<CompactString>) -> Json {
        Json::String(text.into())
    }

    /// `jsonb_typeof`.
    pub fn type_name(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "boolean",
            Json::Number(_) => "number",
            Json::String(_) => "string",
            Json::Array(_) => "array",
            Json::Object(_) => "object",
        }
    }

    /// The member of that name, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Json> {
        let Json::Object(pairs) = self else { return None };
        pairs.binary_search_by(|(have, _)| key_order(have, key)).ok().map(|at| &pairs[at].1)
    }

    /// The element at a place, negative ones counted from the end, if this is an array that has it.
    pub fn at(&self, index: i64) -> Option<&Json> {
        let Json::Array(items) = self else { return None };
        items.get(position(index, items.len())?)
    }

    /// Is it an array or an object?
    pub fn is_container(&self) -> bool {
        matches!(self, Json::Array(_) | Json::Object(_))
    }

    /// Appends the text form: `{"a": [1, 2]}`.
    pub fn write(&self, out: &mut String) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Json::Number(n) => n.write(out),
            Json::String(text) => write_string(text, out),
            Json::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at == 0 { "" } else { ", " });
                    item.write(out);
                }
                out.push(']');
            }
            Json::Object(pairs) => {
                out.push('{');
                for (at, (key, value)) in pairs.iter().enumerate() {
                    out.push_str(if at == 0 { "" } else { ", " });
                    write_string(key, out);
                    out.push_str(": ");
                    value.write(out);
                }
                out.push('}');
            }
        }
    }

    /// Appends the form of `jsonb_pretty`, whose inner lines are indented by `indent` and four more.
    pub fn write_pretty(&self, indent: usize, out: &mut String) {
        let line = |out: &mut String, depth: usize| {
            let _ = write!(out, "\n{:depth$}", "");
        };
        match self {
            Json::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at == 0 { "" } else { "," });
                    line(out, indent + 4);
                    item.write_pretty(indent + 4, out);
                }
                line(out, indent);
                out.push(']');
            }
            Json::Object(pairs) => {
                out.push('{');
                for (at, (key, value)) in pairs.iter().enumerate() {
                    out.push_str(if at == 0 { "" } else { "," });
                    line(out, indent + 4);
                    write_string(key, out);
                    out.push_str(": ");
                    value.write_pretty(indent + 4, out);
                }
                line(out, indent);
                out.push('}');
            }
            scalar => scalar.write(out),
        }
    }

    /// What `->>` gives: a string without quotes, anything else as its text; `None` for `null`.
    pub fn as_text(&self) -> Option<CompactString> {
        match self {
            Json::Null => None,
            Json::String(text) => Some(text.clone()),
            other => Some(other.to_string().into()),
        }
    }
}

impl std::fmt::Display for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = String::new();
        self.write(&mut out);
        f.write_str(&out)
    }
}

/// The place in a list of `length` that an index means, negative ones counted from the end.
pub fn position(index: i64, length: usize) -> Option<usize> {
    let at = if index < 0 { index.checked_add(length as i64)? } else { index };
    usize::try_from(at).ok().filter(|at| *at < length)
}

/// Appends a JSON string with its quotes.
pub fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Longest text form of a value that is built from others.
pub const TEXT_BYTES_MAX: usize = 1 << 28;

/// An error when a built value passes [`TEXT_BYTES_MAX`].
pub fn check_length(bytes: usize) -> Result<(), SqlError> {
    if bytes > TEXT_BYTES_MAX {
        return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "the JSON value would be too large"));
    }
    Ok(())
}
