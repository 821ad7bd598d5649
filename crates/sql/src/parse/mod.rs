//! From text to statements.
//!
//! The grammar of queries and expressions is sqlparser's (PostgreSQL dialect), and nothing outside this folder names that crate. Around it:
//! `tokens` prepares the token stream; `statement` reads the first words and hands over to the parsers of definitions, data changes and
//! utilities, which are our own, token by token, because there the crate's grammar and PostgreSQL's differ most; `convert_*` turn the crate's
//! trees into ours, refusing by name what PostgreSQL does not have or we do not do. [`normalise`] is a different, much faster reader: it lifts literals out
//! of a statement's text, so that the plan cache needs no parse.
//!
//! Errors are PostgreSQL's: 42601, `syntax error at or near "x"`, with the character position.

mod alter;
mod convert_expr;
mod convert_function;
mod convert_query;
mod convert_type;
mod cursor;
mod database;
mod ddl;
mod dml;
mod domain;
mod function;
mod merge;
mod normalise;
mod statement;
mod table;
mod tokens;
mod utility;

pub use normalise::{LiftedLiteral, Normalised, normalise};

use crate::ast::{Expr, ParsedStatement, Query, TypeName};
use crate::error::SqlError;
use cursor::Cursor;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Runs of conditions longer than this are parsed on a stack of their own.
const CONDITIONS_ON_THE_STACK: usize = 200;

/// How big that is: some hundred bytes for each of `CONDITIONS_MAX` levels, several times over.
const PARSE_STACK_BYTES: usize = 512 << 20;

/// How much stack must be left where the tree is walked recursively, and how much is added when it is not.
pub(crate) const STACK_RED_ZONE: usize = 256 << 10;
/// See [`STACK_RED_ZONE`].
pub(crate) const STACK_GROWTH: usize = 4 << 20;

/// All statements of a query string; none if it is empty.
pub fn parse(sql: &str) -> Result<Vec<ParsedStatement>, SqlError> {
    let mut text = tokens::tokenize(sql)?;
    let mut rest = std::mem::take(&mut text.tokens).into_iter().peekable();
    let run = || {
        let mut statements = Vec::new();
        while rest.peek().is_some() {
            let tokens = next_statement(&mut rest);
            if !tokens.is_empty() {
                statements.push(Cursor::new(&text, tokens).whole_statement()?);
            }
        }
        Ok(statements)
    };
    with_stack(text.conditions, run)
}

/// Tokens up to the next semicolon, which is not one of those in the body of a function.
fn next_statement(rest: &mut impl Iterator<Item = TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut tokens: Vec<TokenWithSpan> = Vec::new();
    let mut open = 0usize;
    for token in rest {
        if open == 0 && token.token == Token::SemiColon {
            break;
        }
        let atomic = tokens::is_word(Some(&token), "ATOMIC") && tokens::is_word(tokens.last(), "BEGIN");
        if atomic || (open > 0 && tokens::is_word(Some(&token), "CASE")) {
            open += 1;
        } else if open > 0 && tokens::is_word(Some(&token), "END") {
            open -= 1;
        }
        tokens.push(token);
    }
    tokens
}

fn with_stack<T>(conditions: usize, run: impl FnOnce() -> T) -> T {
    if conditions > CONDITIONS_ON_THE_STACK { stacker::grow(PARSE_STACK_BYTES, run) } else { run() }
}

/// An expression alone: a stored default, a check.
pub fn parse_expression(sql: &str) -> Result<Expr, SqlError> {
    let text = tokens::tokenize(sql)?;
    with_stack(text.conditions, || {
        let mut cursor = Cursor::new(&text, text.tokens.clone());
        let expr = cursor.expr()?;
        cursor.expect_end()?;
        Ok(expr)
    })
}

/// A query alone: a view's definition.
pub fn parse_query(sql: &str) -> Result<Query, SqlError> {
    let text = tokens::tokenize(sql)?;
    with_stack(text.conditions, || {
        let mut cursor = Cursor::new(&text, text.tokens.clone());
        let query = cursor.query()?;
        cursor.expect_end()?;
        Ok(query)
    })
}

/// A type's name alone: the argument of `format_type`'s reverse, `regtype` input.
pub fn parse_type(sql: &str) -> Result<TypeName, SqlError> {
    let text = tokens::tokenize(sql)?;
    let mut cursor = Cursor::new(&text, text.tokens.clone());
    let ty = cursor.type_name()?;
    cursor.expect_end()?;
    Ok(ty)
}
