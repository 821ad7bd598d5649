//! A place in the token stream: the small steps from which our own statement parsers are made, and the doors to sqlparser's.

use super::convert_query::{SelectInto, select_into, take_into};
use super::tokens::{Lines, TokenizedText, fold, is_word, too_deep};
use crate::ast::{Expr, Ident, LockingClause, ObjectName, ParsedStatement, Query, StoredExpr, TypeName};
use crate::error::{SqlError, SqlState};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Token, TokenWithSpan};

static DIALECT: PostgreSqlDialect = PostgreSqlDialect {};

/// sqlparser counts several steps for one level of ours; `tokens` bounds the levels.
const CRATE_RECURSION_LIMIT: usize = 20_000;

/// Words that PostgreSQL reserves: no name can be one without quotes.
const RESERVED: &[&str] = &[
    "all",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "asymmetric",
    "both",
    "case",
    "cast",
    "check",
    "collate",
    "column",
    "constraint",
    "create",
    "current_catalog",
    "current_date",
    "current_role",
    "current_time",
    "current_timestamp",
    "current_user",
    "default",
    "deferrable",
    "desc",
    "distinct",
    "do",
    "else",
    "end",
    "except",
    "false",
    "fetch",
    "for",
    "foreign",
    "from",
    "grant",
    "group",
    "having",
    "in",
    "initially",
    "intersect",
    "into",
    "lateral",
    "leading",
    "limit",
    "localtime",
    "localtimestamp",
    "not",
    "null",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "placing",
    "primary",
    "references",
    "returning",
    "select",
    "session_user",
    "some",
    "symmetric",
    "table",
    "then",
    "to",
    "trailing",
    "true",
    "union",
    "unique",
    "user",
    "using",
    "variadic",
    "when",
    "where",
    "window",
    "with",
];

/// Words that can name functions, but neither columns nor tables.
const FUNCTIONS_ONLY: &[&str] = &[
    "authorization",
    "binary",
    "collation",
    "concurrently",
    "cross",
    "current_schema",
    "freeze",
    "full",
    "ilike",
    "inner",
    "is",
    "isnull",
    "join",
    "left",
    "like",
    "natural",
    "notnull",
    "outer",
    "overlaps",
    "right",
    "similar",
    "tablesample",
    "verbose",
];

/// Whether the bare word can be neither a column nor a table.
pub(super) fn is_no_name(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    RESERVED.contains(&lower.as_str()) || FUNCTIONS_ONLY.contains(&lower.as_str())
}

pub(super) struct Cursor<'a> {
    pub(super) text: &'a str,
    pub(super) lines: &'a Lines,
    pub(super) locking: &'a [LockingClause],
    pub(super) parser: Parser<'static>,
    count: usize,
    /// The token up to which operators were found; see `convert_expr`.
    pub(super) seen: usize,
    /// The highest `$n` met.
    pub(super) max_param: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a TokenizedText<'a>, tokens: Vec<TokenWithSpan>) -> Cursor<'a> {
        Cursor::over(text.text, &text.lines, &text.locking, tokens)
    }

    fn over(text: &'a str, lines: &'a Lines, locking: &'a [LockingClause], tokens: Vec<TokenWithSpan>) -> Cursor<'a> {
        let count = tokens.len();
        let parser = Parser::new(&DIALECT).with_recursion_limit(CRATE_RECURSION_LIMIT).with_tokens_with_locations(tokens);
        Cursor { text, lines, locking, parser, count, seen: 0, max_param: 0 }
    }

    pub(super) fn whole_statement(mut self) -> Result<ParsedStatement, SqlError> {
        let start = self.byte_here();
        let statement = self.statement()?;
        self.expect_end()?;
        let end = self.byte_behind();
        Ok(ParsedStatement { statement, range: start..end, max_param: self.max_param })
    }

    // ---- looking

    pub(super) fn peek(&self, n: usize) -> &TokenWithSpan {
        self.parser.peek_nth_token_ref(n)
    }

    pub(super) fn at_end(&self) -> bool {
        self.peek(0).token == Token::EOF
    }

    pub(super) fn is(&self, word: &str) -> bool {
        is_word(Some(self.peek(0)), word)
    }

    pub(super) fn is_nth(&self, n: usize, word: &str) -> bool {
        is_word(Some(self.peek(n)), word)
    }

    pub(super) fn is_token(&self, token: &Token) -> bool {
        self.peek(0).token == *token
    }

    /// The position of the next token.
    pub(super) fn pos(&self) -> usize {
        match self.peek(0) {
            TokenWithSpan { token: Token::EOF, .. } => self.text.trim_end().chars().count() + 1,
            token => self.lines.position(token.span.start),
        }
    }

    pub(super) fn byte_here(&self) -> usize {
        match self.peek(0) {
            TokenWithSpan { token: Token::EOF, .. } => self.text.len(),
            token => self.lines.byte(self.text, token.span.start),
        }
    }

    /// The byte behind the token before the next one.
    pub(super) fn byte_behind(&self) -> usize {
        match self.parser.index().min(self.count).checked_sub(1) {
            Some(at) => self.lines.byte(self.text, self.parser.token_at(at).span.end),
            None => self.byte_here(),
        }
    }

    // ---- stepping

    pub(super) fn advance(&mut self) {
        self.parser.advance_token();
    }

    pub(super) fn eat(&mut self, word: &str) -> bool {
        let found = self.is(word);
        if found {
            self.advance();
        }
        found
    }

    /// All of the words in a row, or none.
    pub(super) fn eat_all(&mut self, words: &[&str]) -> bool {
        let found = words.iter().enumerate().all(|(n, word)| self.is_nth(n, word));
        if found {
            words.iter().for_each(|_| self.advance());
        }
        found
    }

    pub(super) fn eat_token(&mut self, token: &Token) -> bool {
        let found = self.is_token(token);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn expect(&mut self, word: &str) -> Result<(), SqlError> {
        if self.eat(word) { Ok(()) } else { Err(self.syntax_error()) }
    }

    pub(super) fn expect_all(&mut self, words: &[&str]) -> Result<(), SqlError> {
        words.iter().try_for_each(|word| self.expect(word))
    }

    pub(super) fn expect_token(&mut self, token: &Token) -> Result<(), SqlError> {
        if self.eat_token(token) { Ok(()) } else { Err(self.syntax_error()) }
    }

    pub(super) fn expect_end(&self) -> Result<(), SqlError> {
        if self.at_end() { Ok(()) } else { Err(self.syntax_error()) }
    }

    /// `item, item, ...`
    pub(super) fn comma_list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T, SqlError>) -> Result<Vec<T>, SqlError> {
        let mut list = vec![item(self)?];
        while self.eat_token(&Token::Comma) {
            list.push(item(self)?);
        }
        Ok(list)
    }

    /// `(item, item, ...)`
    pub(super) fn paren_list<T>(&mut self, item: impl FnMut(&mut Self) -> Result<T, SqlError>) -> Result<Vec<T>, SqlError> {
        self.expect_token(&Token::LParen)?;
        let list = self.comma_list(item)?;
        self.expect_token(&Token::RParen)?;
        Ok(list)
    }

    // ---- names and simple values

    pub(super) fn ident(&mut self) -> Result<Ident, SqlError> {
        let pos = self.pos();
        match &self.peek(0).token {
            Token::Word(word) if word.quote_style.is_some() || !is_no_name(&word.value) => {
                let value = fold(word);
                self.advance();
                Ok(Ident { value: truncate_identifier(value), pos })
            }
            _ => Err(self.syntax_error()),
        }
    }

    /// Any word, reserved or not, in lower case.
    pub(super) fn any_word(&mut self) -> Result<String, SqlError> {
        match &self.peek(0).token {
            Token::Word(word) => {
                let value = fold(word);
                self.advance();
                Ok(value)
            }
            _ => Err(self.syntax_error()),
        }
    }

    pub(super) fn name(&mut self) -> Result<String, SqlError> {
        self.ident().map(|i| i.value)
    }

    /// The parts of `a.b.c`.
    pub(super) fn dotted(&mut self) -> Result<Vec<Ident>, SqlError> {
        let mut parts = vec![self.ident()?];
        while self.eat_token(&Token::Period) {
            let pos = self.pos();
            parts.push(Ident { value: self.any_word()?, pos });
        }
        Ok(parts)
    }

    pub(super) fn object_name(&mut self) -> Result<ObjectName, SqlError> {
        let parts = self.dotted()?;
        object_name(parts)
    }

    pub(super) fn string(&mut self) -> Result<String, SqlError> {
        let value = match &self.peek(0).token {
            Token::SingleQuotedString(s)
            | Token::EscapedStringLiteral(s)
            | Token::UnicodeStringLiteral(s)
            | Token::NationalStringLiteral(s) => s.clone(),
            Token::DollarQuotedString(d) => d.value.clone(),
            _ => return Err(self.syntax_error()),
        };
        self.advance();
        Ok(value)
    }

    pub(super) fn integer(&mut self) -> Result<i64, SqlError> {
        let negative = self.eat_token(&Token::Minus);
        if !negative {
            self.eat_token(&Token::Plus);
        }
        let Token::Number(digits, _) = &self.peek(0).token else { return Err(self.syntax_error()) };
        let text = if negative { format!("-{digits}") } else { digits.clone() };
        let value = text.parse().map_err(|_| self.syntax_error())?;
        self.advance();
        Ok(value)
    }

    /// ON, OFF, TRUE, FALSE, 1, 0; nothing at all is true.
    pub(super) fn optional_boolean(&mut self) -> Result<bool, SqlError> {
        let truth = match &self.peek(0).token {
            Token::Word(w) if ["ON", "TRUE", "YES"].iter().any(|t| w.value.eq_ignore_ascii_case(t)) => true,
            Token::Word(w) if ["OFF", "FALSE", "NO"].iter().any(|t| w.value.eq_ignore_ascii_case(t)) => false,
            Token::Number(n, _) if n == "1" => true,
            Token::Number(n, _) if n == "0" => false,
            Token::SingleQuotedString(s) if ["on", "true", "1"].contains(&s.to_ascii_lowercase().as_str()) => true,
            Token::SingleQuotedString(s) if ["off", "false", "0"].contains(&s.to_ascii_lowercase().as_str()) => false,
            Token::Comma | Token::RParen | Token::EOF => return Ok(true),
            _ => return Err(self.syntax_error()),
        };
        self.advance();
        Ok(truth)
    }

    // ---- sqlparser's part

    pub(super) fn expr(&mut self) -> Result<Expr, SqlError> {
        self.seen = self.parser.index();
        let expr = self.parser.parse_expr().map_err(|e| self.crate_error(&e))?;
        self.convert_expr(expr)
    }

    /// A query without a leading WITH of its own statement (that is `statement`'s).
    pub(super) fn query(&mut self) -> Result<Query, SqlError> {
        self.seen = self.parser.index();
        let query = self.parser.parse_query().map_err(|e| self.crate_error(&e))?;
        self.convert_query(*query)
    }

    /// A statement's own query, which may name a table to put its rows into: INTO is taken out of the leftmost SELECT, and refused elsewhere.
    pub(super) fn query_into(&mut self) -> Result<(Query, Option<SelectInto>), SqlError> {
        self.seen = self.parser.index();
        let mut query = self.parser.parse_query().map_err(|e| self.crate_error(&e))?;
        let into = take_into(&mut query.body).map(select_into).transpose()?;
        Ok((self.convert_query(*query)?, into))
    }

    pub(super) fn type_name(&mut self) -> Result<TypeName, SqlError> {
        let pos = self.pos();
        let ty = self.parser.parse_data_type().map_err(|e| self.crate_error(&e))?;
        let mut name = self.convert_type(ty)?;
        if self.eat("ARRAY") {
            if self.eat_token(&Token::LBracket) {
                self.integer()?;
                self.expect_token(&Token::RBracket)?;
            }
            name.array_dims = 1;
        }
        name.pos = pos;
        Ok(name)
    }

    pub(super) fn stored_expr(&mut self) -> Result<StoredExpr, SqlError> {
        let start = self.byte_here();
        let expr = self.expr()?;
        Ok(StoredExpr { expr, text: self.text_between(start, self.byte_behind()) })
    }

    /// An expression that ends before any of the words at its own level, although the crate's grammar would read on (`DEFAULT 5 NOT NULL`).
    pub(super) fn stored_expr_before(&mut self, stops: &[&str]) -> Result<StoredExpr, SqlError> {
        let (mut length, mut depth) = (0, 0usize);
        loop {
            match &self.peek(length).token {
                Token::EOF => break,
                Token::LParen | Token::LBracket => depth += 1,
                Token::RParen | Token::RBracket | Token::Comma if depth == 0 => break,
                Token::RParen | Token::RBracket => depth -= 1,
                Token::Word(_) if depth == 0 && length > 0 && stops.iter().any(|w| self.is_nth(length, w)) => break,
                _ => {}
            }
            length += 1;
        }
        if length == 0 {
            return Err(self.syntax_error());
        }
        let tokens: Vec<TokenWithSpan> = (0..length).map(|n| self.peek(n).clone()).collect();
        let mut inner = Cursor::over(self.text, self.lines, self.locking, tokens);
        let stored = inner.stored_expr()?;
        inner.expect_end()?;
        self.max_param = self.max_param.max(inner.max_param);
        (0..length).for_each(|_| self.advance());
        Ok(stored)
    }

    /// A statement within a statement: only whether it can be read.
    pub(super) fn parsed_alone(&mut self, tokens: Vec<TokenWithSpan>) -> Result<crate::ast::Statement, SqlError> {
        let mut inner = Cursor::over(self.text, self.lines, self.locking, tokens);
        let statement = inner.statement()?;
        inner.expect_end()?;
        Ok(statement)
    }

    pub(super) fn text_between(&self, start: usize, end: usize) -> String {
        self.text.get(start..end).unwrap_or("").trim().to_owned()
    }

    // ---- errors

    /// At the next token.
    pub(super) fn syntax_error(&self) -> SqlError {
        self.syntax_error_at(self.peek(0))
    }

    fn syntax_error_at(&self, token: &TokenWithSpan) -> SqlError {
        if token.token == Token::EOF {
            let written = self.text.trim_end_matches(|c: char| c.is_whitespace() || c == ';');
            let pos = written.chars().count() + 1;
            if let Some((blank, _)) = self.text[written.len()..].split_once(';') {
                // psql sends the semicolon along, and PostgreSQL names it.
                return SqlError::new(SqlState::SYNTAX_ERROR, "syntax error at or near \";\"").at(pos + blank.chars().count());
            }
            return SqlError::new(SqlState::SYNTAX_ERROR, "syntax error at end of input").at(pos);
        }
        let start = self.lines.byte(self.text, token.span.start);
        let end = self.lines.byte(self.text, token.span.end);
        let shown = self.text.get(start..end).unwrap_or("");
        SqlError::new(SqlState::SYNTAX_ERROR, format!("syntax error at or near \"{shown}\"")).at(self.lines.position(token.span.start))
    }

    /// The crate's error, told PostgreSQL's way: it says where, we look what stands there.
    fn crate_error(&self, error: &ParserError) -> SqlError {
        let message = match error {
            ParserError::RecursionLimitExceeded => return too_deep(),
            ParserError::ParserError(message) | ParserError::TokenizerError(message) => message,
        };
        match location_in(message).and_then(|at| self.token_from(at)) {
            Some(token) => self.syntax_error_at(token),
            None => self.syntax_error_at(&TokenWithSpan::new_eof()),
        }
    }

    fn token_from(&self, at: Location) -> Option<&TokenWithSpan> {
        let after = |t: &TokenWithSpan| (t.span.start.line, t.span.start.column) >= (at.line, at.column);
        (0..self.count).map(|i| self.parser.token_at(i)).find(|t| after(t))
    }
}

/// `... at Line: 1, Column: 7`
fn location_in(message: &str) -> Option<Location> {
    let (_, rest) = message.rsplit_once(" at Line: ")?;
    let (line, column) = rest.split_once(", Column: ")?;
    let digits = |s: &str| s.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
    Some(Location { line: digits(line)?, column: digits(column)? })
}

/// PostgreSQL cuts names at 63 bytes.
fn truncate_identifier(mut value: String) -> String {
    const NAME_BYTES_MAX: usize = 63;
    if value.len() > NAME_BYTES_MAX {
        let end = (0..=NAME_BYTES_MAX).rev().find(|i| value.is_char_boundary(*i)).unwrap_or(0);
        value.truncate(end);
    }
    value
}

/// At most `catalog.schema.name`.
pub(super) fn object_name(mut parts: Vec<Ident>) -> Result<ObjectName, SqlError> {
    let pos = parts.first().map_or(0, |p| p.pos);
    if parts.len() > 3 {
        let full: Vec<String> = parts.into_iter().map(|p| p.value).collect();
        return Err(
            SqlError::new(SqlState::SYNTAX_ERROR, format!("improper qualified name (too many dotted names): {}", full.join("."))).at(pos)
        );
    }
    let name = parts.pop().map_or_else(String::new, |p| p.value);
    let schema = parts.pop().map(|p| p.value);
    let catalog = parts.pop().map(|p| p.value);
    Ok(ObjectName { catalog, schema, name, pos })
}
