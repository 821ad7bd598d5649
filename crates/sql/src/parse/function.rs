//! CREATE, ALTER and DROP of functions and procedures, and their signatures.
//!
//! All of it is ours: the crate knows neither the order-free options, nor `RETURN`, nor `BEGIN ATOMIC`. A body in a string is parsed when the function
//! is made and when it is run; a body in the statement is kept as the texts of its statements.

use super::cursor::Cursor;
use super::tokens::VARIADIC;
use crate::ast::{
    AlterFunction, AlterFunctionAction, CreateFunction, DropFunction, FunctionBody, FunctionOptions, FunctionSignature, Parameter,
    ParameterMode, Returns, RoutineKind, Statement, TypeName,
};
use crate::error::{SqlError, SqlState};
use crate::functions::Volatility;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Types whose first word cannot be a parameter's name: the grammar reads on behind them.
const TYPE_WORDS: &[&str] = &[
    "bigint",
    "bit",
    "boolean",
    "char",
    "character",
    "dec",
    "decimal",
    "double",
    "float",
    "int",
    "integer",
    "interval",
    "national",
    "nchar",
    "numeric",
    "real",
    "smallint",
    "time",
    "timestamp",
    "varchar",
];

impl Cursor<'_> {
    /// Behind CREATE [OR REPLACE] FUNCTION or PROCEDURE.
    pub(super) fn create_function(&mut self, kind: RoutineKind, or_replace: bool) -> Result<Statement, SqlError> {
        let name = self.object_name()?;
        let mut parameters = self.parameters()?;
        let mut returns = None;
        if self.eat("RETURNS") {
            if kind == RoutineKind::Procedure {
                return Err(self.syntax_error());
            }
            returns = Some(if self.eat("TABLE") {
                parameters.extend(self.paren_list(|c| c.table_column())?);
                Returns::Table
            } else {
                let set = self.eat("SETOF");
                Returns::Type { ty: self.routine_type()?, set }
            });
        }
        let mut create = CreateFunction {
            kind,
            name,
            or_replace,
            parameters,
            returns,
            options: FunctionOptions::default(),
            language: None,
            body: None,
            body_pos: 0,
        };
        while !self.at_end() {
            if self.body(&mut create)? {
                continue;
            }
            if self.eat("LANGUAGE") {
                if create.language.is_some() {
                    return Err(self.conflicting());
                }
                create.language = Some(if matches!(self.peek(0).token, Token::Word(_)) { self.any_word()? } else { self.string()? });
            } else if !self.function_option(&mut create.options)? {
                return Err(self.syntax_error());
            }
        }
        Ok(Statement::CreateFunction(Box::new(create)))
    }

    fn conflicting(&self) -> SqlError {
        SqlError::new(SqlState::SYNTAX_ERROR, "conflicting or redundant options").at(self.pos())
    }

    fn body(&mut self, create: &mut CreateFunction) -> Result<bool, SqlError> {
        let body = match () {
            () if self.eat("AS") => {
                let (pos, delimiter) = (self.pos(), self.quote_length());
                let text = self.string()?;
                create.body_pos = delimiter.map_or(0, |length| pos + length);
                if self.eat_token(&Token::Comma) {
                    self.string()?;
                    return Err(SqlError::new(
                        SqlState("42P13"),
                        format!("only one AS item needed for language \"{}\"", create.language.as_deref().unwrap_or("sql")),
                    ));
                }
                FunctionBody::Text(text)
            }
            () if self.eat("RETURN") => FunctionBody::Return(self.stored_expr()?.text),
            () if self.eat_all(&["BEGIN", "ATOMIC"]) => FunctionBody::Atomic(self.atomic_statements()?),
            () => return Ok(false),
        };
        if create.body.replace(body).is_some() {
            return Err(self.conflicting());
        }
        Ok(true)
    }

    /// Characters in front of a string's text, if nothing in the text is written otherwise than it is.
    fn quote_length(&self) -> Option<usize> {
        match &self.peek(0).token {
            Token::DollarQuotedString(quoted) => Some(2 + quoted.tag.as_ref().map_or(0, |tag| tag.chars().count())),
            Token::SingleQuotedString(text) if !text.contains('\'') => Some(1),
            _ => None,
        }
    }

    /// `statement; statement; END`
    fn atomic_statements(&mut self) -> Result<Vec<String>, SqlError> {
        let mut statements = Vec::new();
        loop {
            if self.eat("END") {
                return Ok(statements);
            }
            let mut length = 0;
            while !matches!(self.peek(length).token, Token::SemiColon | Token::EOF) {
                length += 1;
            }
            if matches!(self.peek(length).token, Token::EOF) {
                return Err(self.syntax_error());
            }
            if length > 0 {
                let start = self.byte_here();
                let tokens: Vec<TokenWithSpan> = (0..length).map(|n| self.peek(n).clone()).collect();
                self.parsed_alone(tokens)?;
                (0..length).for_each(|_| self.advance());
                statements.push(self.text_between(start, self.byte_behind()));
            }
            self.advance();
        }
    }

    /// `(mode name type DEFAULT value, ...)`
    fn parameters(&mut self) -> Result<Vec<Parameter>, SqlError> {
        self.expect_token(&Token::LParen)?;
        let mut parameters = Vec::new();
        if !self.is_token(&Token::RParen) {
            parameters = self.comma_list(|c| c.parameter())?;
        }
        self.expect_token(&Token::RParen)?;
        Ok(parameters)
    }

    fn parameter(&mut self) -> Result<Parameter, SqlError> {
        let pos = self.pos();
        let mut mode = self.parameter_mode();
        let name = if self.names_a_parameter() { Some(self.any_word()?) } else { None };
        if mode.is_none() {
            mode = self.parameter_mode();
        }
        let ty = self.routine_type()?;
        let default = if self.eat("DEFAULT") || self.eat_token(&Token::Eq) { Some(self.stored_expr_before(&[])?) } else { None };
        Ok(Parameter { name, mode: mode.unwrap_or(ParameterMode::In), ty, default, pos })
    }

    fn table_column(&mut self) -> Result<Parameter, SqlError> {
        let pos = self.pos();
        let name = Some(self.name()?);
        Ok(Parameter { name, mode: ParameterMode::Table, ty: self.routine_type()?, default: None, pos })
    }

    fn parameter_mode(&mut self) -> Option<ParameterMode> {
        let marked = matches!(&self.peek(0).token, Token::Word(w) if w.value == VARIADIC);
        match () {
            () if self.eat_all(&["IN", "OUT"]) || self.eat("INOUT") => Some(ParameterMode::InOut),
            () if self.eat("IN") => Some(ParameterMode::In),
            () if self.is("OUT") && !self.ends_parameter(1) => {
                self.advance();
                Some(ParameterMode::Out)
            }
            () if self.eat("VARIADIC") => Some(ParameterMode::Variadic),
            () if marked => {
                self.advance();
                self.eat_token(&Token::RArrow);
                Some(ParameterMode::Variadic)
            }
            () => None,
        }
    }

    fn ends_parameter(&self, n: usize) -> bool {
        matches!(self.peek(n).token, Token::Comma | Token::RParen | Token::Eq) || self.is_nth(n, "DEFAULT")
    }

    /// Is the next word a parameter's name, and not its type?
    fn names_a_parameter(&self) -> bool {
        let Token::Word(word) = &self.peek(0).token else { return false };
        let typical = word.quote_style.is_none() && TYPE_WORDS.contains(&word.value.to_ascii_lowercase().as_str());
        let followed = matches!(&self.peek(1).token, Token::Word(w) if w.value != VARIADIC || w.quote_style.is_some());
        followed && !typical && !self.ends_parameter(1) && !self.is_nth(1, "ARRAY")
    }

    /// A type of an argument or a result: `t.c%TYPE` is one of another relation's column.
    fn routine_type(&mut self) -> Result<TypeName, SqlError> {
        let ty = self.type_name()?;
        if self.is_token(&Token::Mod) {
            return Err(SqlError::unsupported("%TYPE").at(self.pos()));
        }
        Ok(ty)
    }

    fn function_option(&mut self, options: &mut FunctionOptions) -> Result<bool, SqlError> {
        fn once<T>(slot: &mut Option<T>, value: T) -> Result<(), SqlError> {
            match slot.replace(value) {
                None => Ok(()),
                Some(_) => Err(SqlError::new(SqlState::SYNTAX_ERROR, "conflicting or redundant options")),
            }
        }
        let pos = self.pos();
        let done = match () {
            () if self.eat("IMMUTABLE") => once(&mut options.volatility, Volatility::Immutable),
            () if self.eat("STABLE") => once(&mut options.volatility, Volatility::Stable),
            () if self.eat("VOLATILE") => once(&mut options.volatility, Volatility::Volatile),
            () if self.eat("STRICT") || self.eat_all(&["RETURNS", "NULL", "ON", "NULL", "INPUT"]) => once(&mut options.strict, true),
            () if self.eat_all(&["CALLED", "ON", "NULL", "INPUT"]) => once(&mut options.strict, false),
            () if self.eat_all(&["EXTERNAL", "SECURITY", "DEFINER"]) || self.eat_all(&["SECURITY", "DEFINER"]) => {
                once(&mut options.security_definer, true)
            }
            () if self.eat_all(&["EXTERNAL", "SECURITY", "INVOKER"]) || self.eat_all(&["SECURITY", "INVOKER"]) => {
                once(&mut options.security_definer, false)
            }
            () if self.eat_all(&["NOT", "LEAKPROOF"]) => once(&mut options.leakproof, false),
            () if self.eat("LEAKPROOF") => once(&mut options.leakproof, true),
            () if self.eat("PARALLEL") => {
                let word = self.any_word()?;
                let letter = match word.as_str() {
                    "safe" => 's',
                    "restricted" => 'r',
                    "unsafe" => 'u',
                    _ => {
                        let message = "parameter \"parallel\" must be SAFE, RESTRICTED, or UNSAFE";
                        return Err(SqlError::new(SqlState::SYNTAX_ERROR, message));
                    }
                };
                once(&mut options.parallel, letter)
            }
            () if self.eat("COST") => {
                let cost = self.positive("COST")?;
                once(&mut options.cost, cost)
            }
            () if self.eat("ROWS") => {
                let rows = self.positive("ROWS")?;
                once(&mut options.rows, rows)
            }
            () if self.eat("SET") => {
                options.settings.push(self.function_setting()?);
                Ok(())
            }
            () if self.eat("WINDOW") => Err(SqlError::unsupported("a user-defined window function")),
            () if self.eat("TRANSFORM") => Err(SqlError::unsupported("TRANSFORM")),
            () if self.eat("SUPPORT") => Err(SqlError::unsupported("SUPPORT functions")),
            () => return Ok(false),
        };
        done.map_err(|error| error.at(pos)).map(|()| true)
    }

    fn positive(&mut self, what: &str) -> Result<f32, SqlError> {
        let negative = self.eat_token(&Token::Minus);
        let Token::Number(digits, _) = &self.peek(0).token else { return Err(self.syntax_error()) };
        let value: f32 = digits.parse().map_err(|_| self.syntax_error())?;
        if negative || value <= 0.0 {
            return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("{what} must be positive")));
        }
        self.advance();
        Ok(value)
    }

    /// Behind SET: `name { TO | = } { value, ... | DEFAULT }`.
    fn function_setting(&mut self) -> Result<(String, Option<String>), SqlError> {
        let mut name = self.any_word()?;
        while self.eat_token(&Token::Period) {
            name = format!("{name}.{}", self.any_word()?);
        }
        if self.eat_all(&["FROM", "CURRENT"]) {
            return Err(SqlError::unsupported("SET ... FROM CURRENT"));
        }
        if !self.eat("TO") {
            self.expect_token(&Token::Eq)?;
        }
        if self.eat("DEFAULT") {
            return Ok((name, None));
        }
        let values = self.comma_list(|c| match &c.peek(0).token {
            Token::Word(word) => {
                let value = if word.quote_style.is_some() {
                    crate::functions::quoting::quote_ident(&word.value).to_string()
                } else {
                    word.value.to_ascii_lowercase()
                };
                c.advance();
                Ok(value)
            }
            Token::Number(..) | Token::Minus => c.integer().map(|n| n.to_string()),
            _ => c.string(),
        })?;
        Ok((name, Some(values.join(", "))))
    }

    // ---- naming one

    /// `name`, or `name(types)` as ALTER, DROP, COMMENT and GRANT have it.
    pub(super) fn function_signature(&mut self) -> Result<FunctionSignature, SqlError> {
        let name = self.object_name()?;
        if !self.is_token(&Token::LParen) {
            return Ok(FunctionSignature { name, args: None });
        }
        let args = self.parameters()?;
        Ok(FunctionSignature { name, args: Some(args.into_iter().map(|arg| (arg.mode, arg.ty)).collect()) })
    }

    /// FUNCTION, PROCEDURE or ROUTINE.
    pub(super) fn routine_kind(&mut self) -> Option<RoutineKind> {
        match () {
            () if self.eat("FUNCTION") => Some(RoutineKind::Function),
            () if self.eat("PROCEDURE") => Some(RoutineKind::Procedure),
            () if self.eat("ROUTINE") => Some(RoutineKind::Routine),
            () => None,
        }
    }

    pub(super) fn drop_function(&mut self, kind: RoutineKind) -> Result<Statement, SqlError> {
        let if_exists = self.eat_all(&["IF", "EXISTS"]);
        let signatures = self.comma_list(|c| c.function_signature())?;
        let cascade = self.drop_behavior();
        Ok(Statement::DropFunction(Box::new(DropFunction { kind, signatures, if_exists, cascade })))
    }

    pub(super) fn alter_function(&mut self, kind: RoutineKind) -> Result<Statement, SqlError> {
        let signature = self.function_signature()?;
        let action = match () {
            () if self.eat_all(&["RENAME", "TO"]) => AlterFunctionAction::RenameTo(self.name()?),
            () if self.eat_all(&["OWNER", "TO"]) => AlterFunctionAction::OwnerTo(self.any_word()?),
            () if self.eat_all(&["SET", "SCHEMA"]) => AlterFunctionAction::SetSchema(self.name()?),
            () if self.is("DEPENDS") || (self.is("NO") && self.is_nth(1, "DEPENDS")) => {
                return Err(SqlError::unsupported("DEPENDS ON EXTENSION"));
            }
            () => AlterFunctionAction::Options(self.altered_options()?),
        };
        Ok(Statement::AlterFunction(Box::new(AlterFunction { kind, signature, action })))
    }

    fn altered_options(&mut self) -> Result<FunctionOptions, SqlError> {
        let mut options = FunctionOptions::default();
        if self.at_end() {
            return Err(self.syntax_error());
        }
        while !self.at_end() && !self.eat("RESTRICT") {
            if self.eat_all(&["RESET", "ALL"]) {
                options.reset_all = true;
            } else if self.eat("RESET") {
                options.settings.push((self.any_word()?, None));
            } else if !self.function_option(&mut options)? {
                return Err(self.syntax_error());
            }
        }
        Ok(options)
    }

    /// `CALL name(arguments)`
    pub(super) fn call_statement(&mut self) -> Result<Statement, SqlError> {
        self.expect("CALL")?;
        let expr = self.expr()?;
        match expr {
            crate::ast::Expr::Function(call) => Ok(Statement::Call(call)),
            _ => Err(self.syntax_error()),
        }
    }
}
