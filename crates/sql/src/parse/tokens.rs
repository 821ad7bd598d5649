//! From text to tokens that the parser crate understands.
//!
//! The tokenizer is sqlparser's. Between it and its parser stands this pass, which (a) knows for every token where it stands in the text, in
//! bytes and in characters; (b) refuses nesting that would endanger the stack, before anything recurses; and (c) closes gaps in the crate's grammar by
//! rewriting:
//!
//! - every locking clause (`FOR NO KEY UPDATE OF a, b SKIP LOCKED`) becomes `FOR UPDATE OF "\u{1}3"`, the number naming the clause in a table at
//!   the side: the crate knows two of the four strengths and one name behind OF;
//! - `a ISNULL` and `a NOTNULL`, which it takes for aliases, become `IS NULL` and `IS NOT NULL`;
//! - string literals that continue on another line are joined;
//! - operators that swallowed a sign (`>-5`) are cut where PostgreSQL cuts them;
//! - the star of `(row).*` becomes a name, [`ROW_STAR`], which the crate takes for a field;
//! - `t.*::text` becomes `t::text`: the row of a table has the table's name;
//! - `BETWEEN ASYMMETRIC` and `EXCLUDE NO OTHERS`, which say nothing, go away; `BETWEEN SYMMETRIC` becomes `BETWEEN NOT`, and what a frame
//!   excludes is noted in the name of its window;
//! - `f(x) AS (a int)` gets an alias, [`FUNCTION_NAME`], which stands for the function's name;
//! - `VARIADIC x` becomes an argument named [`VARIADIC`].

use crate::ast::{Ident, LockingClause, RowLockStrength, RowLockWait};
use crate::error::{SqlError, SqlState};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer, Whitespace, Word};

/// Brackets and CASEs inside one another. PostgreSQL's own limit is its stack (2 MB, some thousands of levels).
pub(super) const NESTING_MAX: usize = 300;

/// Operators in a row at one level (`1 + 1 + ...`), each of which makes the tree one deeper. AND and OR, which are flat, don't count.
pub(super) const CHAIN_MAX: usize = 500;

/// AND and OR in a row: the parser crate makes a tree of them, which is flattened on a stack of its own.
pub(super) const CONDITIONS_MAX: usize = 50_000;

/// The first character of the name that stands for a locking clause.
pub(super) const LOCK_MARK: char = '\u{1}';

/// Stands for the star of `(row).*`.
pub(super) const ROW_STAR: &str = "\u{1}*";

/// Stands for ROWS FROM, as if it were a function.
pub(super) const ROWS_FROM: &str = "\u{1}rows from";

/// Stands for the alias of a function that has none, but a column definition list.
pub(super) const FUNCTION_NAME: &str = "\u{1}function";

/// Stands around what a window's frame excludes, in front of the name of the window it builds on.
pub(super) const EXCLUDE_MARK: char = '\u{2}';

/// The name of an argument behind VARIADIC.
pub(super) const VARIADIC: &str = "\u{1}variadic";

/// Tokens of a query string, and how to find places in its text.
pub(super) struct TokenizedText<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: Vec<TokenWithSpan>,
    pub(super) locking: Vec<LockingClause>,
    pub(super) lines: Lines,
    /// The longest run of AND and OR.
    pub(super) conditions: usize,
}

/// Where each line starts, in bytes and in characters.
pub(super) struct Lines {
    starts: Vec<(usize, usize)>,
    ascii: bool,
}

impl Lines {
    fn new(text: &str) -> Lines {
        let ascii = text.is_ascii();
        let mut starts = vec![(0, 0)];
        if ascii {
            starts.extend(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| (i + 1, i + 1)));
        } else {
            let newlines = text.char_indices().enumerate().filter(|(_, (_, c))| *c == '\n');
            starts.extend(newlines.map(|(chars, (bytes, _))| (bytes + 1, chars + 1)));
        }
        Lines { starts, ascii }
    }

    /// The 1-based character position of a location; 0 for an unknown one.
    pub(super) fn position(&self, at: Location) -> usize {
        let line = (at.line as usize).checked_sub(1).and_then(|l| self.starts.get(l));
        line.map_or(0, |(_, chars)| chars + at.column as usize)
    }

    /// The byte offset of a location.
    pub(super) fn byte(&self, text: &str, at: Location) -> usize {
        let Some((bytes, _)) = (at.line as usize).checked_sub(1).and_then(|l| self.starts.get(l)) else { return text.len() };
        let column = (at.column as usize).saturating_sub(1);
        if self.ascii {
            return (bytes + column).min(text.len());
        }
        let rest = text.get(*bytes..).unwrap_or("");
        rest.char_indices().nth(column).map_or(text.len(), |(i, _)| bytes + i)
    }
}

/// Tokenizes and rewrites.
pub(super) fn tokenize(text: &str) -> Result<TokenizedText<'_>, SqlError> {
    let lines = Lines::new(text);
    let dialect = PostgreSqlDialect {};
    let raw = Tokenizer::new(&dialect, text).tokenize_with_location().map_err(|e| token_error(text, &lines, &e.message, e.location))?;
    let mut rewriter = Rewriter { lines: &lines, out: Vec::with_capacity(raw.len()), locking: Vec::new() };
    rewriter.run(raw)?;
    let (tokens, locking) = (rewriter.out, rewriter.locking);
    let conditions = check_nesting(&tokens)?;
    Ok(TokenizedText { text, tokens, locking, lines, conditions })
}

fn token_error(text: &str, lines: &Lines, message: &str, at: Location) -> SqlError {
    let rest = &text[lines.byte(text, at).min(text.len())..];
    let what = if message.contains("string literal") || message.contains("single quoted") || message.contains("Unterminated encoded") {
        "unterminated quoted string"
    } else if message.contains("close delimiter") {
        "unterminated quoted identifier"
    } else if message.contains("multi-line comment") {
        "unterminated /* comment"
    } else if message.contains("dollar") {
        "unterminated dollar-quoted string"
    } else {
        "syntax error"
    };
    let shown: String = rest.chars().take(64).collect();
    SqlError::new(SqlState::SYNTAX_ERROR, format!("{what} at or near \"{shown}\"")).at(lines.position(at))
}

struct Rewriter<'a> {
    lines: &'a Lines,
    out: Vec<TokenWithSpan>,
    locking: Vec<LockingClause>,
}

impl Rewriter<'_> {
    fn run(&mut self, raw: Vec<TokenWithSpan>) -> Result<(), SqlError> {
        let mut newline = false;
        let mut significant = Vec::with_capacity(raw.len());
        for token in raw {
            match &token.token {
                Token::Whitespace(Whitespace::Newline | Whitespace::SingleLineComment { .. }) => newline = true,
                Token::Whitespace(_) => {}
                Token::EOF => {}
                _ => {
                    if newline && joins(significant.last_mut(), &token) {
                        continue;
                    }
                    newline = false;
                    significant.push(token);
                }
            }
        }
        let mut at = 0;
        while at < significant.len() {
            if let Some(taken) = self.row_operand(&significant[at..]) {
                at += taken;
            } else if significant[at].token == Token::Mul && self.follows_row() {
                let star = Word { value: ROW_STAR.into(), quote_style: Some('"'), keyword: Keyword::NoKeyword };
                self.out.push(TokenWithSpan { token: Token::Word(star), span: significant[at].span });
                at += 1;
            } else if matches!(significant[at].token, Token::Word(_)) {
                at += self.rewrite(&significant[at..])?;
            } else if let Token::CustomBinaryOperator(symbol) = &significant[at].token
                && let Some(length) = length_without_signs(symbol)
            {
                self.cut_operator(symbol, length, significant[at].span)?;
                at += 1;
            } else {
                // Literals may be huge: they are moved, not copied.
                self.out.push(std::mem::replace(&mut significant[at], TokenWithSpan::new_eof()));
                at += 1;
            }
        }
        Ok(())
    }

    /// Is what came last `).`, as of `(row).*`?
    fn follows_row(&self) -> bool {
        matches!(self.out.as_slice(), [.., row, period] if row.token == Token::RParen && period.token == Token::Period)
    }

    /// `t.*` in front of a cast or an operator is the row as one value, which has the name of the table.
    fn row_operand(&mut self, rest: &[TokenWithSpan]) -> Option<usize> {
        let [first, period, star, next, ..] = rest else { return None };
        let name = matches!(&first.token, Token::Word(w) if w.quote_style.is_some() || w.keyword == Keyword::NoKeyword);
        let operator = matches!(next.token, Token::DoubleColon | Token::Eq | Token::Neq) || is_word(Some(next), "IS");
        if !name || period.token != Token::Period || star.token != Token::Mul || !operator {
            return None;
        }
        self.out.push(first.clone());
        Some(3)
    }

    /// An operator, and behind it the signs that the tokenizer took for its end.
    fn cut_operator(&mut self, symbol: &str, length: usize, span: Span) -> Result<(), SqlError> {
        let (operator, signs) = symbol.split_at(length);
        let refused =
            |_| SqlError::new(SqlState::SYNTAX_ERROR, format!("syntax error at or near \"{symbol}\"")).at(self.lines.position(span.start));
        let mut column = span.start.column;
        let operator = Tokenizer::new(&PostgreSqlDialect {}, operator).tokenize().map_err(refused)?;
        let signs = signs.chars().map(|sign| if sign == '-' { Token::Minus } else { Token::Plus });
        for token in operator.into_iter().chain(signs) {
            let start = Location::new(span.start.line, column);
            column += token.to_string().len() as u64;
            self.out.push(TokenWithSpan { token, span: Span::new(start, Location::new(span.start.line, column)) });
        }
        Ok(())
    }

    /// Takes one or more tokens from the front; says how many.
    fn rewrite(&mut self, rest: &[TokenWithSpan]) -> Result<usize, SqlError> {
        let first = &rest[0];
        let Some(keyword) = bare_keyword(first) else {
            self.out.push(first.clone());
            return Ok(1);
        };
        if keyword == Keyword::NoKeyword && is_word(Some(first), "ISNULL") && self.follows_operand() {
            self.keyword(first, "IS", Keyword::IS);
            self.keyword(first, "NULL", Keyword::NULL);
            return Ok(1);
        }
        match keyword {
            Keyword::FOR => {
                if let Some(taken) = self.locking_clause(rest)? {
                    return Ok(taken);
                }
            }
            Keyword::NOTNULL if self.follows_operand() => {
                self.keyword(first, "IS", Keyword::IS);
                self.keyword(first, "NOT", Keyword::NOT);
                self.keyword(first, "NULL", Keyword::NULL);
                return Ok(1);
            }
            Keyword::BETWEEN => {
                if is_word(rest.get(1), "ASYMMETRIC") {
                    self.out.push(first.clone());
                    return Ok(2);
                }
                if is_word(rest.get(1), "SYMMETRIC") {
                    // No operand of BETWEEN can begin with NOT, so NOT is free to say this.
                    self.out.push(first.clone());
                    self.keyword(&rest[1], "NOT", Keyword::NOT);
                    return Ok(2);
                }
                if let Some(not) = rest.get(1).filter(|next| bare_keyword(next) == Some(Keyword::NOT)) {
                    let message = "syntax error at or near \"not\"";
                    return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(self.lines.position(not.span.start)));
                }
            }
            Keyword::EXCLUDE => {
                if is_word(rest.get(1), "NO") && is_word(rest.get(2), "OTHERS") {
                    return Ok(3);
                }
                let taken = match [1, 2].map(|at| rest.get(at)) {
                    [current, row] if is_word(current, "CURRENT") && is_word(row, "ROW") => 3,
                    [what, _] if is_word(what, "GROUP") || is_word(what, "TIES") => 2,
                    _ => 0,
                };
                if taken > 0 && self.mark_window(&rest[1]) {
                    return Ok(taken);
                }
            }
            // Two words behind it are a parameter's name and type.
            Keyword::VARIADIC
                if matches!(self.out.last().map(|t| &t.token), Some(Token::LParen | Token::Comma))
                    && !matches!([1, 2].map(|at| rest.get(at).map(|t| &t.token)), [Some(Token::Word(_)), Some(Token::Word(_))]) =>
            {
                let mark = Word { value: VARIADIC.into(), quote_style: Some('"'), keyword: Keyword::NoKeyword };
                self.out.push(TokenWithSpan { token: Token::Word(mark), span: first.span });
                self.out.push(TokenWithSpan { token: Token::RArrow, span: first.span });
                return Ok(1);
            }
            // `f(x) AS (a int, b text)`: the function's name is the alias.
            Keyword::AS if self.defines_columns(rest) => {
                let mark = Word { value: FUNCTION_NAME.into(), quote_style: Some('"'), keyword: Keyword::NoKeyword };
                self.out.push(first.clone());
                self.out.push(TokenWithSpan { token: Token::Word(mark), span: first.span });
                return Ok(1);
            }
            Keyword::ROWS if is_word(rest.get(1), "FROM") && matches!(rest.get(2).map(|t| &t.token), Some(Token::LParen)) => {
                let mark = Word { value: ROWS_FROM.into(), quote_style: Some('"'), keyword: Keyword::NoKeyword };
                self.out.push(TokenWithSpan { token: Token::Word(mark), span: first.span });
                return Ok(2);
            }
            _ => {}
        }
        self.out.push(first.clone());
        Ok(1)
    }

    /// Does a column definition list follow a function right behind AS?
    fn defines_columns(&self, rest: &[TokenWithSpan]) -> bool {
        let word = |n: usize| match rest.get(n).map(|t| &t.token) {
            Some(Token::Word(word)) => Some(word.keyword),
            _ => None,
        };
        let query = [
            Keyword::SELECT,
            Keyword::VALUES,
            Keyword::WITH,
            Keyword::TABLE,
            Keyword::INSERT,
            Keyword::UPDATE,
            Keyword::DELETE,
            Keyword::MERGE,
        ];
        self.out.last().is_some_and(|last| last.token == Token::RParen)
            && matches!(rest.get(1).map(|t| &t.token), Some(Token::LParen))
            && word(2).is_some_and(|keyword| !query.contains(&keyword))
            && word(3).is_some()
    }

    /// Notes what a window's frame excludes in front of the name of the window it builds on, behind its opening bracket: the crate has no place for it.
    fn mark_window(&mut self, what: &TokenWithSpan) -> bool {
        let mut depth = 0usize;
        for at in (0..self.out.len()).rev() {
            match &self.out[at].token {
                Token::RParen => depth += 1,
                Token::LParen if depth == 0 => {
                    let kind = what.token.to_string().to_ascii_lowercase();
                    let base = match self.out.get(at + 1).map(|t| &t.token) {
                        Some(Token::Word(w)) if w.quote_style.is_some() || !is_window_keyword(w.keyword) => Some(fold(w)),
                        _ => None,
                    };
                    let value = format!("{EXCLUDE_MARK}{kind}{EXCLUDE_MARK}{}", base.as_deref().unwrap_or_default());
                    let span = self.out.get(at + 1).map_or(what.span, |t| t.span);
                    let mark =
                        TokenWithSpan { token: Token::Word(Word { value, quote_style: Some('"'), keyword: Keyword::NoKeyword }), span };
                    if base.is_some() {
                        self.out[at + 1] = mark;
                    } else {
                        self.out.insert(at + 1, mark);
                    }
                    return true;
                }
                Token::LParen => depth -= 1,
                _ => {}
            }
        }
        false
    }

    fn keyword(&mut self, at: &TokenWithSpan, value: &str, keyword: Keyword) {
        let word = Word { value: value.into(), quote_style: None, keyword };
        self.out.push(TokenWithSpan { token: Token::Word(word), span: at.span });
    }

    fn follows_operand(&self) -> bool {
        match self.out.last().map(|t| &t.token) {
            Some(Token::Word(word)) => {
                !matches!(word.keyword, Keyword::AS | Keyword::SELECT | Keyword::WHERE | Keyword::AND | Keyword::OR | Keyword::NOT)
            }
            Some(Token::RParen | Token::RBracket | Token::Number(..) | Token::SingleQuotedString(_) | Token::Placeholder(_)) => true,
            _ => false,
        }
    }

    /// `FOR {UPDATE | NO KEY UPDATE | SHARE | KEY SHARE} [OF ...] [NOWAIT | SKIP LOCKED]`.
    fn locking_clause(&mut self, rest: &[TokenWithSpan]) -> Result<Option<usize>, SqlError> {
        let word = |n: usize, text: &str| is_word(rest.get(n), text);
        let (strength, mut at) = if word(1, "UPDATE") {
            (RowLockStrength::Update, 2)
        } else if word(1, "NO") && word(2, "KEY") && word(3, "UPDATE") {
            (RowLockStrength::NoKeyUpdate, 4)
        } else if word(1, "SHARE") {
            (RowLockStrength::Share, 2)
        } else if word(1, "KEY") && word(2, "SHARE") {
            (RowLockStrength::KeyShare, 3)
        } else {
            return Ok(None);
        };
        let mut of = Vec::new();
        if word(at, "OF") {
            loop {
                at += 1;
                match rest.get(at) {
                    Some(TokenWithSpan { token: Token::Word(w), span }) => {
                        of.push(Ident { value: fold(w), pos: self.lines.position(span.start) });
                    }
                    // Let the parser say what is wrong here.
                    _ => return Ok(None),
                }
                at += 1;
                if let Some(TokenWithSpan { token: Token::Period, span }) = rest.get(at) {
                    let clause = strength.clause();
                    let message = format!("{clause} must specify unqualified relation names");
                    return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(self.lines.position(span.start)));
                }
                if !matches!(rest.get(at).map(|t| &t.token), Some(Token::Comma)) {
                    break;
                }
            }
        }
        let mut wait = RowLockWait::Block;
        if word(at, "NOWAIT") {
            (wait, at) = (RowLockWait::NoWait, at + 1);
        } else if word(at, "SKIP") && word(at + 1, "LOCKED") {
            (wait, at) = (RowLockWait::SkipLocked, at + 2);
        }
        let mark = Word { value: format!("{LOCK_MARK}{}", self.locking.len()), quote_style: Some('"'), keyword: Keyword::NoKeyword };
        self.locking.push(LockingClause { strength, of, wait });
        self.out.push(rest[0].clone());
        self.keyword(&rest[1], "UPDATE", Keyword::UPDATE);
        self.keyword(&rest[1], "OF", Keyword::OF);
        self.out.push(TokenWithSpan { token: Token::Word(mark), span: rest[1].span });
        Ok(Some(at))
    }
}

/// What may begin a window's definition besides the name of another.
fn is_window_keyword(keyword: Keyword) -> bool {
    matches!(keyword, Keyword::PARTITION | Keyword::ORDER | Keyword::ROWS | Keyword::RANGE | Keyword::GROUPS)
}

/// Where an operator must be cut: one of several characters ends in `+` or `-` only if it contains a character that no SQL operator does.
fn length_without_signs(symbol: &str) -> Option<usize> {
    let comment = symbol.contains("--") || symbol.contains("/*");
    if !symbol.ends_with(['+', '-']) || symbol.contains(['~', '!', '@', '#', '%', '^', '&', '|', '`', '?']) || comment {
        return None;
    }
    let length = symbol.trim_end_matches(['+', '-']).len().max(1);
    (length < symbol.len()).then_some(length)
}

/// Appends a string literal to the one before it, with a line break in between.
fn joins(last: Option<&mut TokenWithSpan>, next: &TokenWithSpan) -> bool {
    let Some(last) = last else { return false };
    match (&mut last.token, &next.token) {
        (Token::SingleQuotedString(a) | Token::EscapedStringLiteral(a), Token::SingleQuotedString(b)) => {
            a.push_str(b);
            true
        }
        _ => false,
    }
}

/// An identifier's value: folded to lower case unless quoted.
pub(super) fn fold(word: &Word) -> String {
    if word.quote_style.is_some() { word.value.clone() } else { word.value.to_ascii_lowercase() }
}

pub(super) fn bare_keyword(token: &TokenWithSpan) -> Option<Keyword> {
    match &token.token {
        Token::Word(word) if word.quote_style.is_none() => Some(word.keyword),
        _ => None,
    }
}

pub(super) fn is_word(token: Option<&TokenWithSpan>, text: &str) -> bool {
    matches!(token.map(|t| &t.token), Some(Token::Word(word)) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(text))
}

/// What stands between two commas at one level.
#[derive(Default)]
struct Level {
    operators: usize,
    conditions: usize,
}

/// Refuses what would recurse too deep; returns the longest run of conditions.
fn check_nesting(tokens: &[TokenWithSpan]) -> Result<usize, SqlError> {
    let mut levels = vec![Level::default()];
    let mut conditions_max = 0;
    for token in tokens {
        let nested = levels.len() > 1;
        let Some(level) = levels.last_mut() else { break };
        match &token.token {
            Token::LParen | Token::LBracket => levels.push(Level::default()),
            Token::RParen | Token::RBracket if nested => drop(levels.pop()),
            Token::Comma | Token::SemiColon => *level = Level::default(),
            Token::Word(word) if word.quote_style.is_none() => match word.keyword {
                Keyword::AND | Keyword::OR => {
                    // What stands between two conditions is its own chain.
                    level.operators = 0;
                    level.conditions += 1;
                    conditions_max = conditions_max.max(level.conditions);
                }
                Keyword::CASE => levels.push(Level::default()),
                Keyword::END if nested => drop(levels.pop()),
                Keyword::NOT | Keyword::IS | Keyword::LIKE | Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT | Keyword::COLLATE => {
                    level.operators += 1
                }
                Keyword::SELECT | Keyword::FROM | Keyword::WHERE | Keyword::THEN | Keyword::WHEN | Keyword::ELSE => level.conditions = 0,
                Keyword::EXPLAIN | Keyword::PREPARE | Keyword::DECLARE => level.operators += 1,
                _ => {}
            },
            Token::Word(_)
            | Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::Placeholder(_)
            | Token::RParen
            | Token::RBracket
            | Token::Period => {}
            _ => level.operators += 1,
        }
        let deepest = levels.last().map_or(0, |l| l.operators);
        if levels.len() > NESTING_MAX || deepest > CHAIN_MAX || conditions_max > CONDITIONS_MAX {
            return Err(too_deep());
        }
    }
    Ok(conditions_max)
}

/// 54001.
pub(super) fn too_deep() -> SqlError {
    SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded")
        .hint(format!("Expressions may be nested {NESTING_MAX} levels deep, with {CHAIN_MAX} operators in a row."))
}
