//! JSON texts, read strictly: what `json` accepts, with PostgreSQL's errors.
//!
//! A [`Node`] keeps the piece of text it stands for, because `json` (unlike `jsonb`) gives back what was written: blanks,
//! repeated keys and the order of keys included.  `jsonb` is made from the same nodes ([`super::Json::from_node`]).

use crate::error::{SqlError, SqlState};

/// How deep arrays and objects may be nested; recursion over values is bounded by it.
pub const DEPTH_MAX: usize = 2_000;

/// A value and the text it was read from.
#[derive(Clone, Debug)]
pub struct Node<'a> {
    /// The piece of text, without blanks around it.
    pub raw: &'a str,
    /// What it says.
    pub value: Value<'a>,
}

/// What a node says.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // JSON's own words
pub enum Value<'a> {
    Null,
    Bool(bool),
    /// As written.
    Number(&'a str),
    /// The characters meant, escapes resolved.
    String(String),
    Array(Vec<Node<'a>>),
    /// In the order written, repeated keys included.
    Object(Vec<(String, Node<'a>)>),
}

impl Value<'_> {
    /// `json_typeof`.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        }
    }
}

/// Reads a JSON text whose strings will be used.
pub fn parse(text: &str) -> Result<Node<'_>, SqlError> {
    Reader::new(text, true).document()
}

/// Is it JSON? Escapes need only be well formed: `json` keeps a `\u0000` that no text can hold.
pub fn check(text: &str) -> Result<(), SqlError> {
    Reader::new(text, false).document().map(|_| ())
}

/// A byte of a bare word, for showing the word that is wrong.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'+' | b'-' | b'.') || byte >= 0x80
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    decode: bool,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, decode: bool) -> Reader<'a> {
        Reader { text, bytes: text.as_bytes(), at: 0, decode, depth: 0 }
    }

    fn document(mut self) -> Result<Node<'a>, SqlError> {
        let node = self.node("JSON value")?;
        self.skip_blanks();
        if self.at < self.bytes.len() {
            return Err(self.expected("end of input"));
        }
        Ok(node)
    }

    fn skip_blanks(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn error(&self, detail: impl Into<String>, upto: usize) -> SqlError {
        let mut error = SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, "invalid input syntax for type json").detail(detail);
        error.fields_mut().context = Some(self.context(upto));
        error
    }

    /// The line where it went wrong, up to there.
    fn context(&self, upto: usize) -> String {
        let mut upto = upto.min(self.text.len());
        while !self.text.is_char_boundary(upto) {
            upto += 1;
        }
        let before = &self.text[..upto];
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let shown = &before[start..];
        // PostgreSQL shows some fifty bytes before the place.
        let cut = shown.char_indices().map(|(at, _)| at).find(|at| shown.len() - at < 50).unwrap_or(0);
        let dots = if cut > 0 { "..." } else { "" };
        let more = if upto < self.text.len() && !self.text[upto..].starts_with(['\n', '\r']) { "..." } else { "" };
        format!("JSON data, line {line}: {dots}{}{more}", &shown[cut..])
    }

    /// The next token as text and where it ends.
    fn token(&self) -> (&'a str, usize) {
        let start = self.at;
        let end = match self.bytes.get(start) {
            None => start,
            Some(b'"') => {
                let mut reader = Reader { text: self.text, bytes: self.bytes, at: start, decode: false, depth: 0 };
                if reader.string().is_ok() { reader.at } else { self.bytes.len() }
            }
            Some(b) if is_word(*b) => start + self.bytes[start..].iter().take_while(|b| is_word(**b)).count(),
            Some(_) => start + 1,
        };
        (&self.text[start..end], end)
    }

    fn expected(&self, what: &str) -> SqlError {
        let (token, end) = self.token();
        if token.is_empty() {
            return self.error("The input string ended unexpectedly.", end);
        }
        if self.is_junk(token) {
            return self.error(format!("Token \"{token}\" is invalid."), end);
        }
        self.error(format!("Expected {what}, but found \"{token}\"."), end)
    }

    /// A token that JSON does not have at all.
    fn is_junk(&self, token: &str) -> bool {
        match token.as_bytes() {
            [b'{' | b'}' | b'[' | b']' | b',' | b':'] => false,
            [b'"', ..] => false,
            _ => !matches!(token, "true" | "false" | "null") && !is_number(token),
        }
    }

    fn node(&mut self, wanted: &str) -> Result<Node<'a>, SqlError> {
        self.skip_blanks();
        let start = self.at;
        let value = match self.bytes.get(self.at) {
            Some(b'{') => self.nested(Self::object)?,
            Some(b'[') => self.nested(Self::array)?,
            Some(b'"') => Value::String(self.string()?),
            _ => self.scalar(wanted)?,
        };
        Ok(Node { raw: &self.text[start..self.at], value })
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value<'a>, SqlError>) -> Result<Value<'a>, SqlError> {
        if self.depth == DEPTH_MAX {
            return Err(SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded")
                .detail(format!("JSON may be nested {DEPTH_MAX} levels deep.")));
        }
        self.depth += 1;
        self.at += 1;
        let value = stacker::maybe_grow(crate::parse::STACK_RED_ZONE, crate::parse::STACK_GROWTH, || read(self));
        self.depth -= 1;
        value
    }

    fn scalar(&mut self, wanted: &str) -> Result<Value<'a>, SqlError> {
        let (token, end) = self.token();
        let value = match token {
            "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            number if is_number(number) => Value::Number(number),
            _ => return Err(self.expected(wanted)),
        };
        self.at = end;
        Ok(value)
    }

    fn array(&mut self) -> Result<Value<'a>, SqlError> {
        let mut items = Vec::new();
        self.skip_blanks();
        if self.bytes.get(self.at) == Some(&b']') {
            self.at += 1;
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.node(if items.is_empty() { "array element or \"]\"" } else { "JSON value" })?);
            self.skip_blanks();
            match self.bytes.get(self.at) {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Value::Array(items));
                }
                _ => return Err(self.expected("\",\" or \"]\"")),
            }
        }
    }

    fn object(&mut self) -> Result<Value<'a>, SqlError> {
        let mut items = Vec::new();
        self.skip_blanks();
        if self.bytes.get(self.at) == Some(&b'}') {
            self.at += 1;
            return Ok(Value::Object(items));
        }
        loop {
            self.skip_blanks();
            if self.bytes.get(self.at) != Some(&b'"') {
                return Err(self.expected(if items.is_empty() { "string or \"}\"" } else { "string" }));
            }
            let key = self.string()?;
            self.skip_blanks();
            if self.bytes.get(self.at) != Some(&b':') {
                return Err(self.expected("\":\""));
            }
            self.at += 1;
            let value = self.node("JSON value")?;
            items.push((key, value));
            self.skip_blanks();
            match self.bytes.get(self.at) {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Value::Object(items));
                }
                _ => return Err(self.expected("\",\" or \"}\"")),
            }
        }
    }

    /// `at` stands on the opening quote; afterwards behind the closing one.
    fn string(&mut self) -> Result<String, SqlError> {
        let start = self.at;
        self.at += 1;
        let mut out = String::new();
        loop {
            let plain = self.bytes[self.at..].iter().take_while(|b| !matches!(b, b'"' | b'\\' | 0..=0x1f)).count();
            if self.decode {
                out.push_str(&self.text[self.at..self.at + plain]);
            }
            self.at += plain;
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => self.escape(&mut out)?,
                Some(control) => {
                    return Err(self.error(format!("Character with value 0x{control:02x} must be escaped."), self.at));
                }
                None => return Err(self.error(format!("Token \"{}\" is invalid.", &self.text[start..]), self.at)),
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), SqlError> {
        let Some(c) = self.text[self.at + 1..].chars().next() else {
            return Err(self.error("The input string ended unexpectedly.", self.bytes.len()));
        };
        let meant = match c {
            '"' | '\\' | '/' => c,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.unicode(out),
            other => return Err(self.error(format!("Escape sequence \"\\{other}\" is invalid."), self.at + 1 + other.len_utf8())),
        };
        self.at += 2;
        out.push(meant);
        Ok(())
    }

    /// The four digits behind `\u`; `at` stands on the backslash and is moved behind them.
    fn unit(&mut self) -> Result<u32, SqlError> {
        let digits = self.text.get(self.at + 2..self.at + 6).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let Some(unit) = digits.and_then(|d| u32::from_str_radix(d, 16).ok()) else {
            return Err(self.error("\"\\u\" must be followed by four hexadecimal digits.", self.at + 6));
        };
        self.at += 6;
        Ok(unit)
    }

    fn unicode(&mut self, out: &mut String) -> Result<(), SqlError> {
        let unit = self.unit()?;
        if !self.decode {
            return Ok(());
        }
        let code = match unit {
            0 => {
                let mut error = SqlError::new(SqlState("22P05"), "unsupported Unicode escape sequence");
                error.fields_mut().context = Some(self.context(self.at));
                return Err(error.detail("\\u0000 cannot be converted to text."));
            }
            0xd800..0xdc00 => {
                let low = if self.bytes[self.at..].starts_with(b"\\u") { self.unit()? } else { 0 };
                match low {
                    0xdc00..0xe000 => 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00),
                    0xd800..0xdc00 => return Err(self.error("Unicode high surrogate must not follow a high surrogate.", self.at)),
                    _ => return Err(self.error("Unicode low surrogate must follow a high surrogate.", self.at)),
                }
            }
            0xdc00..0xe000 => return Err(self.error("Unicode low surrogate must follow a high surrogate.", self.at)),
            plain => plain,
        };
        out.extend(char::from_u32(code));
        Ok(())
    }
}

/// `-0.5e+3`: JSON's numbers, stricter than SQL's.
pub fn is_number(text: &str) -> bool {
    let digits = |s: &str| s.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text.strip_prefix('-').unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest.starts_with('0')) {
        return false;
    }
    let mut rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let count = digits(fraction);
        if count == 0 {
            return false;
        }
        rest = &fraction[count..];
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let count = digits(exponent);
        return count > 0 && count == exponent.len();
    }
    rest.is_empty()
}
