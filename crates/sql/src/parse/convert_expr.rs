//! Expressions: sqlparser's tree into ours.
//!
//! The crate keeps no place for operators, but the tree is walked here in the order of the text: `Cursor::seen` is the token up to which things were
//! met, so an operator's place is that of the next token that looks like it.

use super::cursor::{Cursor, is_no_name, object_name};
use super::{STACK_GROWTH, STACK_RED_ZONE};
use crate::ast::{Expr, Ident, LikeKind, Literal, ObjectName, Pos, Subscript};
use crate::error::{SqlError, SqlState};
use sqlparser::ast as sp;
use sqlparser::tokenizer::{Location, Token};

/// The highest number a parameter may have, as the protocol counts them.
const PARAM_MAX: usize = 65_535;

impl Cursor<'_> {
    pub(super) fn convert_expr(&mut self, expr: sp::Expr) -> Result<Expr, SqlError> {
        stacker::maybe_grow(STACK_RED_ZONE, STACK_GROWTH, || self.convert_expr_here(expr))
    }

    pub(super) fn convert_box(&mut self, expr: Box<sp::Expr>) -> Result<Box<Expr>, SqlError> {
        self.convert_expr(*expr).map(Box::new)
    }

    pub(super) fn convert_list(&mut self, list: Vec<sp::Expr>) -> Result<Vec<Expr>, SqlError> {
        list.into_iter().map(|e| self.convert_expr(e)).collect()
    }

    fn convert_expr_here(&mut self, expr: sp::Expr) -> Result<Expr, SqlError> {
        use sp::Expr as E;
        match expr {
            E::Identifier(ident) => self.identifier(ident),
            E::CompoundIdentifier(parts) => {
                self.not_reserved(parts.first())?;
                Ok(Expr::Column(parts.into_iter().map(|p| self.convert_ident(p)).collect()))
            }
            E::CompoundFieldAccess { root, access_chain } => self.access(*root, access_chain),
            E::Nested(inner) => self.convert_expr(*inner),
            E::Value(value) => self.value(value),
            E::TypedString(typed) => self.typed_string(typed),
            E::Interval(interval) => self.interval(interval),
            E::IsNull(e) => self.is_null(*e, false),
            E::IsNotNull(e) => self.is_null(*e, true),
            E::IsTrue(e) => self.is_bool(*e, Some(true), false),
            E::IsNotTrue(e) => self.is_bool(*e, Some(true), true),
            E::IsFalse(e) => self.is_bool(*e, Some(false), false),
            E::IsNotFalse(e) => self.is_bool(*e, Some(false), true),
            E::IsUnknown(e) => self.is_bool(*e, None, false),
            E::IsNotUnknown(e) => self.is_bool(*e, None, true),
            E::IsDistinctFrom(left, right) => self.is_distinct(*left, *right, false),
            E::IsNotDistinctFrom(left, right) => self.is_distinct(*left, *right, true),
            E::In { expr, target, negated, .. } => self.in_target(*expr, target, negated),
            E::Between { expr, negated, low, high } => {
                let expr = self.convert_box(expr)?;
                let pos = self.find("BETWEEN");
                // See `parse::tokens`.
                let (low, symmetric) = match *low {
                    sp::Expr::UnaryOp { op: sp::UnaryOperator::Not, expr } => (expr, true),
                    low => (Box::new(low), false),
                };
                Ok(Expr::Between { expr, low: self.convert_box(low)?, high: self.convert_box(high)?, negated, symmetric, pos })
            }
            E::BinaryOp { left, op, right } => self.binary(left, op, right),
            E::UnaryOp { op, expr } => self.unary(op, *expr),
            E::Like { negated, any: false, expr, pattern, escape_char } => {
                self.like(LikeKind::Like, "LIKE", negated, expr, pattern, escape_char)
            }
            E::ILike { negated, any: false, expr, pattern, escape_char } => {
                self.like(LikeKind::ILike, "ILIKE", negated, expr, pattern, escape_char)
            }
            E::SimilarTo { negated, expr, pattern, escape_char } => {
                self.like(LikeKind::SimilarTo, "SIMILAR", negated, expr, pattern, escape_char)
            }
            E::Like { negated, any: true, expr, pattern, .. } => {
                self.any_all(*expr, if negated { "!~~" } else { "~~" }.into(), "LIKE", *pattern, false)
            }
            E::ILike { negated, any: true, expr, pattern, .. } => {
                self.any_all(*expr, if negated { "!~~*" } else { "~~*" }.into(), "ILIKE", *pattern, false)
            }
            E::AnyOp { left, compare_op, right, .. } => {
                let op = operator_symbol(&compare_op)?;
                self.any_all(*left, op.clone(), &op, *right, false)
            }
            E::AllOp { left, compare_op, right } => {
                let op = operator_symbol(&compare_op)?;
                self.any_all(*left, op.clone(), &op, *right, true)
            }
            E::Cast { kind: kind @ (sp::CastKind::Cast | sp::CastKind::DoubleColon), expr, data_type, format: None } => {
                let word = if kind == sp::CastKind::Cast { Some(self.find("CAST")) } else { None };
                let value = self.convert_box(expr)?;
                let operator = word.unwrap_or_else(|| self.find("::"));
                let ty = self.convert_type(data_type)?;
                let pos = match value.pos() {
                    0 => ty.pos,
                    pos => pos,
                };
                Ok(Expr::Cast { expr: value, ty, pos, operator })
            }
            E::Collate { expr, collation } => Ok(Expr::Collate { expr: self.convert_box(expr)?, collation: self.convert_name(collation)? }),
            E::Case { operand, conditions, else_result, .. } => self.case(operand, conditions, else_result),
            E::Exists { subquery, negated } => {
                let exists = Expr::Exists(Box::new(self.convert_query(*subquery)?));
                Ok(if negated { Expr::Not(Box::new(exists)) } else { exists })
            }
            E::Subquery(query) => {
                let pos = self.find("(");
                Ok(Expr::Subquery(Box::new(self.convert_query(*query)?), pos))
            }
            E::Tuple(list) => {
                let pos = self.find("(");
                Ok(Expr::Row(self.convert_list(list)?, pos))
            }
            E::Array(array) => {
                let pos = self.find(if array.named { "ARRAY" } else { "[" });
                Ok(Expr::Array(self.convert_list(array.elem)?, pos))
            }
            E::Wildcard(_) | E::QualifiedWildcard(..) => Err(self.syntax_error_near("*")),
            other => self.special_call(other),
        }
    }

    // ---- names and places

    pub(super) fn convert_ident(&mut self, ident: sp::Ident) -> Ident {
        self.reach(ident.span.start);
        let pos = self.lines.position(ident.span.start);
        let value = if ident.quote_style.is_some() { ident.value } else { ident.value.to_ascii_lowercase() };
        Ident { value, pos }
    }

    pub(super) fn convert_name(&mut self, name: sp::ObjectName) -> Result<ObjectName, SqlError> {
        let mut parts = Vec::with_capacity(name.0.len());
        for part in name.0 {
            match part {
                sp::ObjectNamePart::Identifier(ident) => parts.push(self.convert_ident(ident)),
                sp::ObjectNamePart::Function(_) => return Err(SqlError::unsupported("a function call as part of a name")),
            }
        }
        object_name(parts)
    }

    /// Everything before this location has been met.
    fn reach(&mut self, at: Location) {
        if at.line == 0 {
            return;
        }
        while let Some(token) = self.token(self.seen) {
            if (token.0.line, token.0.column) > (at.line, at.column) {
                break;
            }
            self.seen += 1;
        }
    }

    /// Start and text of a token already consumed by the crate's parser.
    fn token(&self, at: usize) -> Option<(Location, &Token)> {
        (at < self.parser.index()).then(|| self.parser.token_at(at)).map(|t| (t.span.start, &t.token))
    }

    /// The place of the next token that looks like the symbol or keyword.
    pub(super) fn find(&mut self, symbol: &str) -> Pos {
        let looks_like = |token: &Token| match token {
            Token::Word(word) => word.quote_style.is_none() && word.value.eq_ignore_ascii_case(symbol),
            Token::Number(..) | Token::SingleQuotedString(_) => false,
            Token::Neq => symbol == "<>",
            other => other.to_string() == symbol,
        };
        let mut at = self.seen;
        while let Some((location, token)) = self.token(at) {
            if looks_like(token) {
                self.seen = at + 1;
                return self.lines.position(location);
            }
            at += 1;
        }
        0
    }

    /// The place of the next token, whatever it is.
    pub(super) fn here(&self) -> Pos {
        self.token(self.seen).map_or(0, |(location, _)| self.lines.position(location))
    }

    pub(super) fn syntax_error_near(&mut self, symbol: &str) -> SqlError {
        let pos = self.find(symbol);
        SqlError::new(SqlState::SYNTAX_ERROR, format!("syntax error at or near \"{symbol}\"")).at(pos)
    }

    // ---- one kind each

    /// The crate takes many of PostgreSQL's keywords for names (`SELECT * FROM FROM t`).
    pub(super) fn not_reserved(&self, ident: Option<&sp::Ident>) -> Result<(), SqlError> {
        match ident {
            Some(ident) if ident.quote_style.is_none() && is_no_name(&ident.value) => {
                let pos = self.lines.position(ident.span.start);
                Err(SqlError::new(SqlState::SYNTAX_ERROR, format!("syntax error at or near \"{}\"", ident.value)).at(pos))
            }
            _ => Ok(()),
        }
    }

    fn identifier(&mut self, ident: sp::Ident) -> Result<Expr, SqlError> {
        let quoted = ident.quote_style.is_some();
        let source = ident.clone();
        let ident = self.convert_ident(ident);
        let niladic = [
            "current_schema",
            "current_role",
            "current_user",
            "session_user",
            "user",
            "current_catalog",
            "current_date",
            "localtime",
            "current_time",
            "current_timestamp",
            "localtimestamp",
        ];
        if !quoted && niladic.contains(&ident.value.as_str()) {
            return Ok(super::convert_function::niladic(&ident.value, ident.pos));
        }
        if !quoted && ident.value == "default" {
            return Ok(Expr::Default(ident.pos));
        }
        self.not_reserved(Some(&source))?;
        Ok(Expr::Column(vec![ident]))
    }

    fn value(&mut self, value: sp::ValueWithSpan) -> Result<Expr, SqlError> {
        self.reach(value.span.start);
        let pos = self.lines.position(value.span.start);
        use sp::Value as V;
        let literal = match value.value {
            V::Number(digits, false) => Literal::Number(digits),
            V::SingleQuotedString(s) | V::EscapedStringLiteral(s) | V::UnicodeStringLiteral(s) | V::NationalStringLiteral(s) => {
                Literal::String(s)
            }
            V::DollarQuotedString(s) => Literal::String(s.value),
            V::SingleQuotedByteStringLiteral(bits) => Literal::Bits(format!("B{bits}")),
            V::HexStringLiteral(digits) => Literal::Bits(format!("X{digits}")),
            V::Boolean(b) => Literal::Bool(b),
            V::Null => Literal::Null,
            V::Placeholder(name) => return self.param(&name, pos),
            other => return Err(SqlError::new(SqlState::SYNTAX_ERROR, format!("syntax error at or near \"{other}\"")).at(pos)),
        };
        Ok(Expr::Literal(literal, pos))
    }

    fn param(&mut self, name: &str, pos: Pos) -> Result<Expr, SqlError> {
        match name.strip_prefix('$').and_then(|n| n.parse::<usize>().ok()) {
            Some(n) if (1..=PARAM_MAX).contains(&n) => {
                self.max_param = self.max_param.max(n);
                Ok(Expr::Param(n, pos))
            }
            Some(n) => Err(SqlError::new(SqlState::UNDEFINED_PARAMETER, format!("there is no parameter ${n}")).at(pos)),
            None => Err(SqlError::new(SqlState::SYNTAX_ERROR, format!("syntax error at or near \"{name}\"")).at(pos)),
        }
    }

    fn typed_string(&mut self, typed: sp::TypedString) -> Result<Expr, SqlError> {
        let ty = self.convert_type(typed.data_type)?;
        let expr = Box::new(self.value(typed.value)?);
        let pos = expr.pos();
        Ok(Expr::Cast { expr, ty, pos, operator: pos })
    }

    fn interval(&mut self, interval: sp::Interval) -> Result<Expr, SqlError> {
        let fields = match (&interval.leading_field, &interval.last_field) {
            (None, _) => String::new(),
            (Some(first), None) => format!(" {first}"),
            (Some(first), Some(last)) => format!(" {first} TO {last}"),
        };
        if interval.leading_precision.is_some() && !matches!(interval.leading_field, Some(sp::DateTimeField::Second)) {
            return Err(self.syntax_error_near("("));
        }
        let precision = match (interval.leading_precision, interval.fractional_seconds_precision) {
            (None, None) => String::new(),
            (None, Some(digits)) | (Some(digits), None) => format!("({digits})"),
            (Some(_), Some(_)) => return Err(self.syntax_error_near(",")),
        };
        // The crate's own reader of types knows what fields make an interval.
        let text = format!("interval{fields}{precision}");
        let ty = super::parse_type(&text)?;
        let expr = self.convert_box(interval.value)?;
        if !matches!(*expr, Expr::Literal(Literal::String(_), _)) {
            return Err(self.syntax_error_near("interval"));
        }
        let pos = expr.pos();
        Ok(Expr::Cast { expr, ty, pos, operator: pos })
    }

    fn is_null(&mut self, expr: sp::Expr, negated: bool) -> Result<Expr, SqlError> {
        Ok(Expr::IsNull { expr: Box::new(self.convert_expr(expr)?), negated })
    }

    fn is_bool(&mut self, expr: sp::Expr, value: Option<bool>, negated: bool) -> Result<Expr, SqlError> {
        Ok(Expr::IsBool { expr: Box::new(self.convert_expr(expr)?), value, negated })
    }

    fn is_distinct(&mut self, left: sp::Expr, right: sp::Expr, negated: bool) -> Result<Expr, SqlError> {
        let left = Box::new(self.convert_expr(left)?);
        let pos = self.find("IS");
        Ok(Expr::IsDistinct { left, right: Box::new(self.convert_expr(right)?), negated, pos })
    }

    fn in_target(&mut self, expr: sp::Expr, target: sp::InTarget, negated: bool) -> Result<Expr, SqlError> {
        let expr = Box::new(self.convert_expr(expr)?);
        let pos = self.find("IN");
        match target {
            sp::InTarget::List(list) if list.is_empty() => Err(self.syntax_error_near(")")),
            sp::InTarget::List(list) => Ok(Expr::InList { expr, list: self.convert_list(list)?, negated, pos }),
            sp::InTarget::Subquery(query) => Ok(Expr::InSubquery { expr, query: Box::new(self.convert_query(*query)?), negated, pos }),
            _ => Err(SqlError::new(SqlState::SYNTAX_ERROR, "syntax error behind IN").at(pos)),
        }
    }

    /// AND and OR come as deep left trees; they are flattened by a loop.
    fn binary(&mut self, left: Box<sp::Expr>, op: sp::BinaryOperator, right: Box<sp::Expr>) -> Result<Expr, SqlError> {
        if !matches!(op, sp::BinaryOperator::And | sp::BinaryOperator::Or) {
            let (left, right) = if op == sp::BinaryOperator::PGExp { power(left, right) } else { (left, right) };
            let symbol = operator_symbol(&op)?;
            // `a = b = c` is no expression: comparisons don't associate.
            let chained = is_comparison(&op) && matches!(&*left, sp::Expr::BinaryOp { op, .. } if is_comparison(op));
            let left = self.convert_box(left)?;
            let pos = self.find(&symbol);
            if chained {
                return Err(SqlError::new(SqlState::SYNTAX_ERROR, format!("syntax error at or near \"{symbol}\"")).at(pos));
            }
            return Ok(Expr::Binary { op: symbol, left, right: self.convert_box(right)?, pos });
        }
        let mut reversed = vec![*right];
        let mut rest = *left;
        while let sp::Expr::BinaryOp { left, op: inner, right } = rest {
            if inner != op {
                rest = sp::Expr::BinaryOp { left, op: inner, right };
                break;
            }
            reversed.push(*right);
            rest = *left;
        }
        reversed.push(rest);
        reversed.reverse();
        let list = self.convert_list(reversed)?;
        Ok(if op == sp::BinaryOperator::And { Expr::And(list) } else { Expr::Or(list) })
    }

    fn unary(&mut self, op: sp::UnaryOperator, operand: sp::Expr) -> Result<Expr, SqlError> {
        use sp::UnaryOperator as U;
        let symbol = match op {
            U::Not => return Ok(Expr::Not(Box::new(self.convert_expr(operand)?))),
            U::Plus | U::Minus if is_power(&operand) => return self.convert_expr(signed(op, operand)),
            U::Plus => "+",
            U::Minus => "-",
            U::BitwiseNot => "~",
            U::PGSquareRoot => "|/",
            U::PGCubeRoot => "||/",
            U::PGAbs => "@",
            other => return Err(SqlError::unsupported(format!("operator {other}"))),
        };
        let pos = self.find(symbol);
        Ok(match (symbol, self.convert_expr(operand)?) {
            // PostgreSQL's grammar folds the sign into the number, so that -2147483648 is an int4.
            ("-", Expr::Literal(Literal::Number(digits), at)) if !digits.starts_with('-') => {
                Expr::Literal(Literal::Number(format!("-{digits}")), if pos == 0 { at } else { pos })
            }
            (_, expr) => Expr::Unary { op: symbol.into(), expr: Box::new(expr), pos },
        })
    }

    fn like(
        &mut self,
        kind: LikeKind,
        word: &str,
        negated: bool,
        expr: Box<sp::Expr>,
        pattern: Box<sp::Expr>,
        escape: Option<Box<sp::Expr>>,
    ) -> Result<Expr, SqlError> {
        let expr = self.convert_box(expr)?;
        let pos = self.find(word);
        let pattern = self.convert_box(pattern)?;
        let escape = escape.map(|e| self.convert_box(e)).transpose()?;
        Ok(Expr::Like { kind, expr, pattern, escape, negated, pos })
    }

    fn any_all(&mut self, left: sp::Expr, op: String, word: &str, right: sp::Expr, all: bool) -> Result<Expr, SqlError> {
        let left = Box::new(self.convert_expr(left)?);
        let pos = self.find(word);
        match right {
            sp::Expr::Subquery(query) => Ok(Expr::AnyAllSubquery { left, op, all, query: Box::new(self.convert_query(*query)?), pos }),
            other => Ok(Expr::AnyAll { left, op, all, array: Box::new(self.convert_expr(other)?), pos }),
        }
    }

    fn case(
        &mut self,
        operand: Option<Box<sp::Expr>>,
        conditions: Vec<sp::CaseWhen>,
        otherwise: Option<Box<sp::Expr>>,
    ) -> Result<Expr, SqlError> {
        let pos = self.find("CASE");
        let operand = operand.map(|e| self.convert_box(e)).transpose()?;
        let mut whens = Vec::with_capacity(conditions.len());
        for when in conditions {
            whens.push((self.convert_expr(when.condition)?, self.convert_expr(when.result)?));
        }
        let otherwise = otherwise.map(|e| self.convert_box(e)).transpose()?;
        Ok(Expr::Case { operand, whens, otherwise, pos })
    }

    /// `root[i][j:k].field`
    fn access(&mut self, root: sp::Expr, chain: Vec<sp::AccessExpr>) -> Result<Expr, SqlError> {
        let mut expr = self.convert_expr(root)?;
        for step in chain {
            expr = match step {
                sp::AccessExpr::Dot(sp::Expr::Identifier(field)) => match expr {
                    // `t.a` behind something the crate took for a field access
                    Expr::Column(mut parts) => {
                        parts.push(self.convert_ident(field));
                        Expr::Column(parts)
                    }
                    expr => Expr::Field { expr: Box::new(expr), field: self.convert_ident(field) },
                },
                sp::AccessExpr::Dot(_) => return Err(self.syntax_error_near(".")),
                sp::AccessExpr::Subscript(subscript) => {
                    let subscript = self.subscript(subscript)?;
                    match expr {
                        Expr::Subscript { expr, mut subscripts, pos } => {
                            subscripts.push(subscript);
                            Expr::Subscript { expr, subscripts, pos }
                        }
                        expr => {
                            let pos = expr.pos();
                            Expr::Subscript { expr: Box::new(expr), subscripts: vec![subscript], pos }
                        }
                    }
                }
            };
        }
        Ok(expr)
    }

    fn subscript(&mut self, subscript: sp::Subscript) -> Result<Subscript, SqlError> {
        match subscript {
            sp::Subscript::Index { index } => Ok(Subscript::Index(self.convert_expr(index)?)),
            sp::Subscript::Slice { stride: Some(_), .. } => Err(self.syntax_error_near(":")),
            sp::Subscript::Slice { lower_bound, upper_bound, stride: None } => Ok(Subscript::Slice {
                lower: lower_bound.map(|e| self.convert_expr(e)).transpose()?,
                upper: upper_bound.map(|e| self.convert_expr(e)).transpose()?,
            }),
        }
    }
}

/// Is it `a ^ b`, perhaps behind more signs?
fn is_power(expr: &sp::Expr) -> bool {
    let mut inner = expr;
    while let sp::Expr::UnaryOp { op: sp::UnaryOperator::Plus | sp::UnaryOperator::Minus, expr } = inner {
        inner = expr;
    }
    matches!(inner, sp::Expr::BinaryOp { op: sp::BinaryOperator::PGExp, .. })
}

/// The crate reads `-a ^ b` as `-(a ^ b)`; PostgreSQL's sign belongs to the `a`.
fn signed(op: sp::UnaryOperator, operand: sp::Expr) -> sp::Expr {
    let (mut signs, mut first) = (vec![op], operand);
    while let sp::Expr::UnaryOp { op: op @ (sp::UnaryOperator::Plus | sp::UnaryOperator::Minus), expr } = first {
        signs.push(op);
        first = *expr;
    }
    // Down to the base, which is the leftmost operand.
    let mut exponents = Vec::new();
    while let sp::Expr::BinaryOp { left, op: sp::BinaryOperator::PGExp, right } = first {
        exponents.push(right);
        first = *left;
    }
    let base = signs.into_iter().rev().fold(first, |expr, op| sp::Expr::UnaryOp { op, expr: Box::new(expr) });
    exponents.into_iter().rev().fold(base, |left, right| sp::Expr::BinaryOp { left: Box::new(left), op: sp::BinaryOperator::PGExp, right })
}

/// The sides of `left ^ right`, which associates to the left even if a sign behind the first `^` made the crate read on.
fn power(left: Box<sp::Expr>, right: Box<sp::Expr>) -> (Box<sp::Expr>, Box<sp::Expr>) {
    let mut right = match *right {
        sp::Expr::UnaryOp { op: op @ (sp::UnaryOperator::Plus | sp::UnaryOperator::Minus), expr } => Box::new(signed(op, *expr)),
        other => Box::new(other),
    };
    let mut exponents = Vec::new();
    while let sp::Expr::BinaryOp { left, op: sp::BinaryOperator::PGExp, right: exponent } = *right {
        exponents.push(exponent);
        right = left;
    }
    // What was met last stands first.
    exponents.push(right);
    let last = exponents.remove(0);
    let left =
        exponents.into_iter().rev().fold(left, |left, right| Box::new(sp::Expr::BinaryOp { left, op: sp::BinaryOperator::PGExp, right }));
    (left, last)
}

fn is_comparison(op: &sp::BinaryOperator) -> bool {
    use sp::BinaryOperator as B;
    matches!(op, B::Eq | B::NotEq | B::Lt | B::LtEq | B::Gt | B::GtEq)
}

/// The operator's symbol, as it is registered.
fn operator_symbol(op: &sp::BinaryOperator) -> Result<String, SqlError> {
    use sp::BinaryOperator as B;
    Ok(match op {
        B::PGCustomBinaryOperator(parts) => match parts.as_slice() {
            [name] => name.clone(),
            [schema, name] if schema.eq_ignore_ascii_case("pg_catalog") => name.clone(),
            _ => {
                let message = format!("operator does not exist: {}", parts.join("."));
                return Err(SqlError::new(SqlState::UNDEFINED_FUNCTION, message));
            }
        },
        B::NotEq => "<>".into(),
        B::Overlaps => "overlaps".into(),
        B::BitwiseXor | B::PGBitwiseXor => "#".into(),
        other => other.to_string(),
    })
}
