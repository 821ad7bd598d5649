//! The tokens of the path language.

use crate::error::{SqlError, SqlState};

/// One token.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token {
    /// A bare word; keywords are words.
    Word(String),
    /// A quoted string.
    String(String),
    /// `$name`, `$"name"`
    Variable(String),
    /// A number as written.
    Number(String),
    /// Punctuation.
    Symbol(&'static str),
}

/// Longer symbols first.
const SYMBOLS: [&str; 26] = [
    "&&", "||", "==", "!=", "<>", "<=", ">=", "**", "<", ">", "!", "(", ")", "[", "]", "{", "}", ".", ",", "?", "+", "-", "*", "/", "%",
    "@",
];

pub(super) fn syntax_error(near: Option<&str>) -> SqlError {
    let message = match near {
        Some(token) => format!("syntax error at or near \"{token}\" of jsonpath input"),
        None => "syntax error at end of jsonpath input".to_owned(),
    };
    SqlError::new(SqlState::SYNTAX_ERROR, message)
}

/// Cuts a text into tokens.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, SqlError> {
    let mut lexer = Lexer { text, at: 0 };
    let mut found = Vec::new();
    while let Some(token) = lexer.next()? {
        found.push(token);
    }
    Ok(found)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$' || !c.is_ascii()
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn next(&mut self) -> Result<Option<Token>, SqlError> {
        self.skip()?;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(None) };
        let token = match first {
            '"' => Token::String(self.quoted()?),
            '$' => self.variable()?,
            c if c.is_ascii_digit() || (c == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) => self.number()?,
            _ if let Some(symbol) = SYMBOLS.iter().find(|s| rest.starts_with(**s)) => {
                self.at += symbol.len();
                Token::Symbol(symbol)
            }
            '=' => {
                self.at += 1;
                Token::Symbol("==")
            }
            c if is_word(c) || c == '\\' => Token::Word(self.word()?),
            c => return Err(syntax_error(Some(&c.to_string()))),
        };
        Ok(Some(token))
    }

    /// Blanks and comments.
    fn skip(&mut self) -> Result<(), SqlError> {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            if !self.rest().starts_with("/*") {
                return Ok(());
            }
            let end = self.rest().find("*/").ok_or_else(|| syntax_error(None))?;
            self.at += end + 2;
        }
    }

    fn quoted(&mut self) -> Result<String, SqlError> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let Some(c) = self.rest().chars().next() else {
                return Err(SqlError::new(SqlState::SYNTAX_ERROR, "unterminated quoted string at end of jsonpath input"));
            };
            match c {
                '"' => {
                    self.at += 1;
                    return Ok(out);
                }
                '\\' => self.escape(&mut out)?,
                c => {
                    self.at += c.len_utf8();
                    out.push(c);
                }
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), SqlError> {
        let Some(c) = self.rest()[1..].chars().next() else { return Err(syntax_error(None)) };
        self.at += 1 + c.len_utf8();
        out.push(match c {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            'u' => {
                // As a JSON string would read it.
                let digits = self.rest().get(..4).unwrap_or_default().to_owned();
                let literal = format!("\"\\u{digits}\"");
                let node = super::super::parse::parse(&literal).map_err(|_| syntax_error(Some("\\u")))?;
                self.at += 4;
                if let super::super::Value::String(text) = node.value {
                    out.push_str(&text);
                }
                return Ok(());
            }
            other => other,
        });
        Ok(())
    }

    fn variable(&mut self) -> Result<Token, SqlError> {
        self.at += 1;
        if self.rest().starts_with('"') {
            return Ok(Token::Variable(self.quoted()?));
        }
        if self.rest().starts_with(is_word) {
            return Ok(Token::Variable(self.word()?));
        }
        Ok(Token::Symbol("$"))
    }

    fn word(&mut self) -> Result<String, SqlError> {
        let mut out = String::new();
        while let Some(c) = self.rest().chars().next() {
            match c {
                '\\' => self.escape(&mut out)?,
                c if is_word(c) => {
                    self.at += c.len_utf8();
                    out.push(c);
                }
                _ => break,
            }
        }
        Ok(out)
    }

    fn number(&mut self) -> Result<Token, SqlError> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let digits = |from: usize| bytes[from.min(bytes.len())..].iter().take_while(|b| b.is_ascii_digit()).count();
        let mut end = digits(0);
        if bytes.get(end) == Some(&b'.') && bytes.get(end + 1) != Some(&b'*') {
            end += 1 + digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let count = digits(end + 1 + sign);
            if count > 0 {
                end += 1 + sign + count;
            }
        }
        if rest[end..].starts_with(is_word) {
            let bad: String = rest.chars().take(end + 1).collect();
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                format!("trailing junk after numeric literal at or near \"{bad}\" of jsonpath input"),
            ));
        }
        let number = rest[..end].to_owned();
        self.at += end;
        Ok(Token::Number(number))
    }
}
