//! Reading a path: recursive descent over [`super::tokens`].
//!
//! Predicates and values share parentheses, so `(` is tried as a predicate first where both could stand.

use super::super::Json;
use super::tokens::{Token, syntax_error, tokens};
use super::{Arithmetic, Expr, JsonPath, Method, Predicate, Step};
use crate::error::{SqlError, SqlState};
use crate::expr::CompareOp;
use crate::types::Numeric;

/// How deep parentheses and filters may be nested.
const DEPTH_MAX: usize = 200;

impl JsonPath {
    /// Reads a path's text form.
    pub fn parse(text: &str) -> Result<JsonPath, SqlError> {
        let tokens = tokens(text)?;
        if tokens.is_empty() {
            return Err(SqlError::new(
                SqlState::INVALID_TEXT_REPRESENTATION,
                format!("invalid input syntax for type jsonpath: \"{text}\""),
            ));
        }
        let mut parser = Parser { tokens, at: 0, depth: 0, in_filter: 0, in_subscript: 0 };
        let strict = parser.word("strict");
        if !strict {
            parser.word("lax");
        }
        let expr = parser.top()?;
        if parser.at < parser.tokens.len() {
            return Err(parser.unexpected());
        }
        Ok(JsonPath { strict, expr })
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    in_filter: usize,
    in_subscript: usize,
}

type Parsed<T> = Result<T, SqlError>;

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn unexpected(&self) -> SqlError {
        match self.peek() {
            None => syntax_error(None),
            Some(Token::Word(text) | Token::String(text) | Token::Number(text) | Token::Variable(text)) => syntax_error(Some(text)),
            Some(Token::Symbol(symbol)) => syntax_error(Some(symbol)),
        }
    }

    fn symbol(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Symbol(s)) if *s == symbol);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(w)) if w.eq_ignore_ascii_case(word));
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.symbol(symbol) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEPTH_MAX {
            return Err(SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded"));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// A predicate or a value.
    fn top(&mut self) -> Parsed<Expr> {
        let start = self.at;
        match self.predicate() {
            Ok(predicate) => Ok(self.chained(Expr::Predicate(Box::new(predicate)))?),
            Err(error) => {
                let reached = self.at;
                self.at = start;
                match self.value() {
                    Ok(value) => Ok(value),
                    Err(other) => Err(if reached > self.at { error } else { other }),
                }
            }
        }
    }

    fn predicate(&mut self) -> Parsed<Predicate> {
        let mut left = self.conjunction()?;
        while self.symbol("||") {
            left = Predicate::Or(Box::new(left), Box::new(self.conjunction()?));
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Parsed<Predicate> {
        let mut left = self.term()?;
        while self.symbol("&&") {
            left = Predicate::And(Box::new(left), Box::new(self.term()?));
        }
        Ok(left)
    }

    fn term(&mut self) -> Parsed<Predicate> {
        if self.symbol("!") {
            let inner = if matches!(self.peek(), Some(Token::Word(w)) if w.eq_ignore_ascii_case("exists")) {
                self.term()?
            } else {
                self.expect("(")?;
                let inner = self.nested(Self::predicate)?;
                self.expect(")")?;
                inner
            };
            return Ok(Predicate::Not(Box::new(inner)));
        }
        if self.word("exists") {
            self.expect("(")?;
            let inner = self.nested(Self::value)?;
            self.expect(")")?;
            return Ok(Predicate::Exists(inner));
        }
        let start = self.at;
        if self.symbol("(")
            && let Ok(inner) = self.nested(Self::predicate)
            && self.symbol(")")
            && !self.continues_a_value()
        {
            if self.word("is") {
                if !self.word("unknown") {
                    return Err(self.unexpected());
                }
                return Ok(Predicate::IsUnknown(Box::new(inner)));
            }
            return Ok(inner);
        }
        self.at = start;
        self.comparison()
    }

    /// After `(...)`: is it the beginning of a longer value?
    fn continues_a_value(&self) -> bool {
        matches!(self.peek(), Some(Token::Symbol(s)) if matches!(*s, "." | "[" | "?" | "+" | "-" | "*" | "/" | "%" | "==" | "!=" | "<>" | "<" | "<=" | ">" | ">="))
    }

    fn comparison(&mut self) -> Parsed<Predicate> {
        let left = self.value()?;
        let op = match self.peek() {
            Some(Token::Symbol("==")) => CompareOp::Eq,
            Some(Token::Symbol("!=" | "<>")) => CompareOp::Ne,
            Some(Token::Symbol("<")) => CompareOp::Lt,
            Some(Token::Symbol("<=")) => CompareOp::Le,
            Some(Token::Symbol(">")) => CompareOp::Gt,
            Some(Token::Symbol(">=")) => CompareOp::Ge,
            Some(Token::Word(word)) if word.eq_ignore_ascii_case("starts") => return self.starts_with(left),
            Some(Token::Word(word)) if word.eq_ignore_ascii_case("like_regex") => return self.like_regex(left),
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(Predicate::Compare(op, left, self.value()?))
    }

    fn starts_with(&mut self, value: Expr) -> Parsed<Predicate> {
        self.at += 1;
        if !self.word("with") {
            return Err(self.unexpected());
        }
        let start = match self.peek().cloned() {
            Some(Token::String(text)) => Expr::Literal(Json::string(text)),
            Some(Token::Variable(name)) => Expr::Variable(name),
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(Predicate::StartsWith(value, start))
    }

    fn like_regex(&mut self, value: Expr) -> Parsed<Predicate> {
        self.at += 1;
        let pattern = self.string()?;
        let flags = if self.word("flag") { self.string()? } else { String::new() };
        if let Some(bad) = flags.chars().find(|c| !"ismxq".contains(*c)) {
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, "invalid input syntax for type jsonpath")
                .detail(format!("Unrecognized flag character \"{bad}\" in LIKE_REGEX predicate.")));
        }
        crate::functions::jsonpath_regex(&pattern, &flags)?;
        Ok(Predicate::LikeRegex { value, pattern, flags })
    }

    fn string(&mut self) -> Parsed<String> {
        let Some(Token::String(text)) = self.peek().cloned() else { return Err(self.unexpected()) };
        self.at += 1;
        Ok(text)
    }

    // ---- values

    fn value(&mut self) -> Parsed<Expr> {
        let mut left = self.product()?;
        loop {
            let op = match self.peek() {
                Some(Token::Symbol("+")) => Arithmetic::Add,
                Some(Token::Symbol("-")) => Arithmetic::Sub,
                _ => return Ok(left),
            };
            self.at += 1;
            left = Expr::Arithmetic(op, Box::new(left), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Parsed<Expr> {
        let mut left = self.signed()?;
        loop {
            let op = match self.peek() {
                Some(Token::Symbol("*")) => Arithmetic::Mul,
                Some(Token::Symbol("/")) => Arithmetic::Div,
                Some(Token::Symbol("%")) => Arithmetic::Mod,
                _ => return Ok(left),
            };
            self.at += 1;
            left = Expr::Arithmetic(op, Box::new(left), Box::new(self.signed()?));
        }
    }

    fn signed(&mut self) -> Parsed<Expr> {
        let negative = matches!(self.peek(), Some(Token::Symbol("-")));
        if negative || matches!(self.peek(), Some(Token::Symbol("+"))) {
            self.at += 1;
            return Ok(match self.nested(Self::signed)? {
                Expr::Literal(Json::Number(n)) if negative => Expr::number(n.neg()),
                operand => Expr::Sign(negative, Box::new(operand)),
            });
        }
        let primary = self.primary()?;
        self.chained(primary)
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let Some(token) = self.peek().cloned() else { return Err(syntax_error(None)) };
        if token == Token::Symbol("(") {
            self.at += 1;
            let inner = self.nested(Self::top)?;
            self.expect(")")?;
            return Ok(inner);
        }
        let primary = match token {
            Token::Symbol("$") => Expr::Root,
            Token::Symbol("@") if self.in_filter > 0 => Expr::Current,
            Token::Symbol("@") => {
                return Err(SqlError::new(SqlState::SYNTAX_ERROR, "@ is not allowed in root expressions"));
            }
            Token::Variable(name) => Expr::Variable(name),
            Token::String(text) => Expr::Literal(Json::string(text)),
            Token::Number(digits) => Expr::number(Numeric::parse(&digits)?),
            Token::Word(word) => match word.as_str() {
                "true" => Expr::Literal(Json::Bool(true)),
                "false" => Expr::Literal(Json::Bool(false)),
                "null" => Expr::Literal(Json::Null),
                w if w.eq_ignore_ascii_case("last") && self.in_subscript > 0 => Expr::Last,
                w if w.eq_ignore_ascii_case("last") => {
                    return Err(SqlError::new(SqlState::SYNTAX_ERROR, "LAST is allowed only in array subscripts"));
                }
                _ => return Err(self.unexpected()),
            },
            Token::Symbol(_) => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(primary)
    }

    fn chained(&mut self, base: Expr) -> Parsed<Expr> {
        let mut steps = Vec::new();
        loop {
            if self.symbol(".") {
                steps.push(self.member()?);
            } else if self.symbol("[") {
                steps.push(self.subscripts()?);
            } else if self.symbol("?") {
                self.expect("(")?;
                self.in_filter += 1;
                let predicate = self.nested(Self::predicate)?;
                self.in_filter -= 1;
                self.expect(")")?;
                steps.push(Step::Filter(Box::new(predicate)));
            } else {
                return Ok(if steps.is_empty() { base } else { Expr::Chain(Box::new(base), steps) });
            }
        }
    }

    fn member(&mut self) -> Parsed<Step> {
        if self.symbol("**") {
            return self.descend();
        }
        if self.symbol("*") {
            return Ok(Step::AnyKey);
        }
        let name = match self.peek().cloned() {
            Some(Token::Word(name)) => {
                self.at += 1;
                if self.symbol("(") {
                    return self.method(&name);
                }
                name
            }
            Some(Token::String(name)) => {
                self.at += 1;
                name
            }
            _ => return Err(self.unexpected()),
        };
        Ok(Step::Key(name))
    }

    fn method(&mut self, name: &str) -> Parsed<Step> {
        if name == "datetime" {
            return Err(SqlError::unsupported("the jsonpath method datetime()"));
        }
        let Some(method) = Method::named(name) else { return Err(syntax_error(Some("("))) };
        self.expect(")")?;
        Ok(Step::Method(method))
    }

    fn descend(&mut self) -> Parsed<Step> {
        if !self.symbol("{") {
            return Ok(Step::Descend(Some(0), None));
        }
        let first = self.level()?;
        let last = if self.word("to") { self.level()? } else { first };
        self.expect("}")?;
        Ok(Step::Descend(first, last))
    }

    fn level(&mut self) -> Parsed<Option<u32>> {
        if self.word("last") {
            return Ok(None);
        }
        let Some(Token::Number(digits)) = self.peek() else { return Err(self.unexpected()) };
        let level = digits.parse().map_err(|_| self.unexpected())?;
        self.at += 1;
        Ok(Some(level))
    }

    fn subscripts(&mut self) -> Parsed<Step> {
        if self.symbol("*") {
            self.expect("]")?;
            return Ok(Step::AnyElement);
        }
        let mut list = Vec::new();
        self.in_subscript += 1;
        loop {
            let from = self.nested(Self::value)?;
            let to = if self.word("to") { Some(self.nested(Self::value)?) } else { None };
            list.push((from, to));
            if !self.symbol(",") {
                break;
            }
        }
        self.in_subscript -= 1;
        self.expect("]")?;
        Ok(Step::Elements(list))
    }
}
