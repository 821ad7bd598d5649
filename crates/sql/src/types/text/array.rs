//! Arrays, vectors and records: nested text with PostgreSQL's quoting.

use super::parse_plain;
use crate::error::{SqlError, SqlState};
use crate::types::{Array, DataType, Datum, Record, TextContext};
use std::fmt::Write;
use std::sync::Arc;

/// PostgreSQL's MAXDIM.
pub const DIMENSIONS_MAX: usize = 6;

fn malformed(text: &str, detail: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, format!("malformed array literal: \"{text}\"")).detail(detail)
}

/// Reads `{a,b,{...}}`, optionally with `[lower:upper]...=` in front.
pub(super) fn parse(text: &str, element: DataType, ctx: &TextContext<'_>) -> Result<Datum, SqlError> {
    let trimmed = text.trim();
    let (bounds, body) = if trimmed.starts_with('[') { parse_bounds(text, trimmed)? } else { (Vec::new(), trimmed) };
    if !body.starts_with('{') {
        return Err(malformed(text, "Array value must start with \"{\" or dimension information."));
    }
    let mut reader = Reader { text, bytes: body.as_bytes(), body, at: 0, element, ctx, lengths: Vec::new(), elements: Vec::new() };
    reader.level(0)?;
    if !body[reader.at..].trim().is_empty() {
        return Err(malformed(text, "Junk after closing right brace."));
    }
    let mut dims: Vec<(i32, i32)> = reader.lengths.iter().map(|n| (n.unwrap_or(0), 1)).collect();
    if reader.elements.is_empty() {
        dims.clear();
    }
    if !bounds.is_empty() {
        let matches = bounds.len() == dims.len() && bounds.iter().zip(&dims).all(|(bound, dim)| bound.0 == dim.0);
        if !matches {
            return Err(malformed(text, "Specified array dimensions do not match array contents."));
        }
        dims = bounds;
    }
    Ok(Datum::Array(Arc::new(Array { element, dims, elements: reader.elements })))
}

/// `(length, lower bound)` of each dimension, and what follows the `=`.
type Bounds<'a> = (Vec<(i32, i32)>, &'a str);

/// `[1:3][0:1]=`
fn parse_bounds<'a>(text: &str, trimmed: &'a str) -> Result<Bounds<'a>, SqlError> {
    let wrong = || malformed(text, "Missing array dimension value.");
    let (spec, body) = trimmed.split_once('=').ok_or_else(wrong)?;
    let mut bounds = Vec::new();
    for part in spec.trim().split_terminator(']') {
        let range = part.trim().strip_prefix('[').ok_or_else(wrong)?;
        let (lower, upper) = range.split_once(':').unwrap_or(("1", range));
        let (lower, upper): (i32, i32) = (lower.trim().parse().map_err(|_| wrong())?, upper.trim().parse().map_err(|_| wrong())?);
        let length = upper.checked_sub(lower).and_then(|n| n.checked_add(1)).filter(|n| *n > 0);
        bounds.push((
            length.ok_or_else(|| SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, "upper bound cannot be less than lower bound"))?,
            lower,
        ));
    }
    Ok((bounds, body.trim_start()))
}

struct Reader<'a> {
    text: &'a str,
    body: &'a str,
    bytes: &'a [u8],
    at: usize,
    element: DataType,
    ctx: &'a TextContext<'a>,
    /// Length of each dimension, known after its first row.
    lengths: Vec<Option<i32>>,
    elements: Vec<Datum>,
}

impl Reader<'_> {
    fn skip_blanks(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// One brace pair; `at` stands on the opening one. Depth is bounded by [`DIMENSIONS_MAX`].
    fn level(&mut self, depth: usize) -> Result<(), SqlError> {
        if depth >= DIMENSIONS_MAX {
            return Err(SqlError::new(
                SqlState::PROGRAM_LIMIT_EXCEEDED,
                format!("number of array dimensions ({}) exceeds the maximum allowed ({DIMENSIONS_MAX})", depth + 1),
            ));
        }
        if self.lengths.len() == depth {
            if !self.elements.is_empty() {
                return Err(self.ragged());
            }
            self.lengths.push(None);
        }
        self.at += 1;
        let mut count = 0;
        self.skip_blanks();
        if self.bytes.get(self.at) == Some(&b'}') {
            self.at += 1;
            return self.close(depth, 0);
        }
        loop {
            self.skip_blanks();
            match self.bytes.get(self.at) {
                None => return Err(malformed(self.text, "Unexpected end of input.")),
                Some(b'{') => self.level(depth + 1)?,
                Some(_) if self.lengths.len() > depth + 1 => return Err(self.ragged()),
                Some(_) => {
                    let value = self.item()?;
                    self.elements.push(value);
                }
            }
            count += 1;
            self.skip_blanks();
            match self.bytes.get(self.at) {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return self.close(depth, count);
                }
                Some(c) => return Err(malformed(self.text, &format!("Unexpected \"{}\" character.", char::from(*c)))),
                None => return Err(malformed(self.text, "Unexpected end of input.")),
            }
        }
    }

    fn ragged(&self) -> SqlError {
        malformed(self.text, "Multidimensional arrays must have sub-arrays with matching dimensions.")
    }

    fn close(&mut self, depth: usize, count: i32) -> Result<(), SqlError> {
        match self.lengths[depth] {
            Some(length) if length != count => Err(self.ragged()),
            _ => {
                self.lengths[depth] = Some(count);
                Ok(())
            }
        }
    }

    fn item(&mut self) -> Result<Datum, SqlError> {
        let (text, quoted) = if self.bytes.get(self.at) == Some(&b'"') { (self.quoted()?, true) } else { (self.plain()?, false) };
        if !quoted && text.eq_ignore_ascii_case("null") {
            return Ok(Datum::Null);
        }
        parse_plain(&text, self.element, self.ctx)
    }

    fn quoted(&mut self) -> Result<String, SqlError> {
        let mut out = String::new();
        let mut chars = self.body[self.at + 1..].char_indices();
        let start = self.at + 1;
        while let Some((offset, c)) = chars.next() {
            match c {
                '"' => {
                    self.at = start + offset + 1;
                    return Ok(out);
                }
                '\\' => out.extend(chars.next().map(|(_, c)| c)),
                c => out.push(c),
            }
        }
        Err(malformed(self.text, "Unexpected end of input."))
    }

    fn plain(&mut self) -> Result<String, SqlError> {
        let mut out = String::new();
        let start = self.at;
        let mut chars = self.body[start..].char_indices();
        let mut end = self.body.len() - start;
        let mut kept = 0;
        while let Some((offset, c)) = chars.next() {
            match c {
                ',' | '}' => {
                    end = offset;
                    break;
                }
                '{' | '"' => return Err(malformed(self.text, &format!("Unexpected \"{c}\" character."))),
                '\\' => {
                    out.extend(chars.next().map(|(_, c)| c));
                    kept = out.len();
                }
                c => out.push(c),
            }
        }
        self.at = start + end;
        let trimmed = out.trim_end().len().max(kept);
        out.truncate(trimmed);
        if out.is_empty() {
            let found = self.bytes.get(self.at).map_or(' ', |b| char::from(*b));
            return Err(malformed(self.text, &format!("Unexpected \"{found}\" character.")));
        }
        Ok(out)
    }
}

/// `int2vector` and `oidvector`: numbers with blanks between, counted from 0.
pub(super) fn parse_vector(text: &str, ty: DataType, ctx: &TextContext<'_>) -> Result<Datum, SqlError> {
    let element = if ty == DataType::INT2VECTOR { DataType::INT2 } else { DataType::OID };
    let elements: Vec<Datum> = text.split_ascii_whitespace().map(|word| parse_plain(word, element, ctx)).collect::<Result<_, _>>()?;
    Ok(Datum::Array(Arc::new(Array { element, dims: vec![(elements.len() as i32, 0)], elements })))
}

/// Appends an array.
pub(super) fn write(array: &Array, ty: DataType, ctx: &TextContext<'_>, out: &mut String) {
    if ty == DataType::INT2VECTOR || ty == DataType::OIDVECTOR {
        for (at, element) in array.elements.iter().enumerate() {
            out.push_str(if at == 0 { "" } else { " " });
            super::write(element, array.element, ctx, out);
        }
        return;
    }
    if array.dims.iter().any(|(_, lower)| *lower != 1) {
        for (length, lower) in &array.dims {
            let _ = write!(out, "[{lower}:{}]", lower + length - 1);
        }
        out.push('=');
    }
    if array.elements.is_empty() {
        out.push_str("{}");
        return;
    }
    write_level(array, 0, &mut array.elements.iter(), ctx, out);
}

fn write_level<'a>(array: &Array, depth: usize, elements: &mut impl Iterator<Item = &'a Datum>, ctx: &TextContext<'_>, out: &mut String) {
    out.push('{');
    let length = array.dims.get(depth).map_or(0, |dim| dim.0);
    for at in 0..length {
        if at > 0 {
            out.push(',');
        }
        if depth + 1 < array.dims.len() {
            write_level(array, depth + 1, elements, ctx, out);
        } else if let Some(element) = elements.next() {
            write_element(element, array.element, ctx, out);
        }
    }
    out.push('}');
}

fn write_element(element: &Datum, ty: DataType, ctx: &TextContext<'_>, out: &mut String) {
    if element.is_null() {
        return out.push_str("NULL");
    }
    let start = out.len();
    super::write(element, ty, ctx, out);
    let text = &out[start..];
    let special = |b: u8| matches!(b, b'"' | b'\\' | b'{' | b'}' | b',') || b.is_ascii_whitespace() || b == 0x0b;
    if text.is_empty() || text.bytes().any(special) || text.eq_ignore_ascii_case("null") {
        let plain = text.to_owned();
        out.truncate(start);
        out.push('"');
        for c in plain.chars() {
            if matches!(c, '"' | '\\') {
                out.push('\\');
            }
            out.push(c);
        }
        out.push('"');
    }
}

/// Appends a row value.
pub(super) fn write_record(fields: &Record, ctx: &TextContext<'_>, out: &mut String) {
    out.push('(');
    for (at, field) in fields.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        if field.is_null() {
            continue;
        }
        let start = out.len();
        super::write(field, fields.field_type(at), ctx, out);
        let text = &out[start..];
        let special = |b: u8| matches!(b, b'"' | b'\\' | b'(' | b')' | b',') || b.is_ascii_whitespace() || b == 0x0b;
        if text.is_empty() || text.bytes().any(special) {
            let plain = text.to_owned();
            out.truncate(start);
            out.push('"');
            for c in plain.chars() {
                if matches!(c, '"' | '\\') {
                    out.push(c);
                }
                out.push(c);
            }
            out.push('"');
        }
    }
    out.push(')');
}
