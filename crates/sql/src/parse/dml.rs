//! INSERT, UPDATE, DELETE, TRUNCATE, COPY: their frames token by token, their queries and expressions by sqlparser.

use super::cursor::Cursor;
use crate::ast::{
    Assignment, AssignmentTarget, ConflictAction, ConflictTarget, Copy, CopyOption, CopyOptionValue, CopySource, CopyTarget, Delete, Expr,
    Insert, ObjectName, OnConflict, SelectItem, Statement, Subscript, TableAlias, TableRef, Truncate, Update, With,
};
use crate::error::{SqlError, SqlState};
use sqlparser::tokenizer::Token;

impl Cursor<'_> {
    pub(super) fn insert(&mut self, with: Option<With>) -> Result<Statement, SqlError> {
        self.expect_all(&["INSERT", "INTO"])?;
        let table = self.object_name()?;
        let alias = if self.eat("AS") { Some(self.ident()?) } else { None };
        let columns = if self.is_token(&Token::LParen) && !self.starts_query_in_parens() {
            self.paren_list(|c| {
                let column = c.ident()?;
                if c.is_token(&Token::Period) || c.is_token(&Token::LBracket) {
                    return Err(SqlError::unsupported("INSERT into a part of a column").at(c.pos()));
                }
                Ok(column)
            })?
        } else {
            Vec::new()
        };
        let overriding_system = self.overriding()?;
        let source = if self.eat_all(&["DEFAULT", "VALUES"]) {
            if !columns.is_empty() {
                return Err(self.syntax_error());
            }
            None
        } else {
            Some(Box::new(self.query()?))
        };
        let on_conflict = if self.eat_all(&["ON", "CONFLICT"]) { Some(self.on_conflict()?) } else { None };
        let returning = self.returning()?;
        Ok(Statement::Insert(Box::new(Insert { with, table, alias, columns, overriding_system, source, on_conflict, returning })))
    }

    /// `OVERRIDING { SYSTEM | USER } VALUE`: is it SYSTEM?
    pub(super) fn overriding(&mut self) -> Result<Option<bool>, SqlError> {
        if !self.eat("OVERRIDING") {
            return Ok(None);
        }
        let system = self.eat("SYSTEM");
        if !system {
            self.expect("USER")?;
        }
        self.expect("VALUE")?;
        Ok(Some(system))
    }

    fn starts_query_in_parens(&self) -> bool {
        self.peek(1).token == Token::LParen || ["SELECT", "VALUES", "WITH", "TABLE"].iter().any(|w| self.is_nth(1, w))
    }

    fn on_conflict(&mut self) -> Result<OnConflict, SqlError> {
        let target = if self.eat_all(&["ON", "CONSTRAINT"]) {
            ConflictTarget::Constraint(self.ident()?)
        } else if self.is_token(&Token::LParen) {
            let columns = self.paren_list(|c| {
                let expr = c.expr()?;
                // Operator classes are accepted where they are the default one's; we have no others.
                if matches!(c.peek(0).token, Token::Word(_)) {
                    return Err(SqlError::unsupported("an operator class in ON CONFLICT").at(c.pos()));
                }
                Ok(expr)
            })?;
            let predicate = if self.eat("WHERE") { Some(self.expr()?) } else { None };
            ConflictTarget::Columns { columns, predicate }
        } else {
            ConflictTarget::Any
        };
        self.expect("DO")?;
        if self.eat("NOTHING") {
            return Ok(OnConflict { target, action: ConflictAction::Nothing });
        }
        let pos = self.pos();
        self.expect_all(&["UPDATE", "SET"])?;
        if matches!(target, ConflictTarget::Any) {
            let message = "ON CONFLICT DO UPDATE requires inference specification or constraint name";
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).hint("For example, ON CONFLICT (column_name).").at(pos));
        }
        let assignments = self.comma_list(|c| c.assignment())?;
        let filter = if self.eat("WHERE") { Some(self.expr()?) } else { None };
        Ok(OnConflict { target, action: ConflictAction::Update { assignments, filter } })
    }

    pub(super) fn assignment(&mut self) -> Result<Assignment, SqlError> {
        if self.is_token(&Token::LParen) {
            let targets = self.paren_list(|c| c.assignment_target())?;
            self.expect_token(&Token::Eq)?;
            return Ok(Assignment { targets, row_form: true, value: self.expr_or_default()? });
        }
        let target = self.assignment_target()?;
        self.expect_token(&Token::Eq)?;
        Ok(Assignment { targets: vec![target], row_form: false, value: self.expr_or_default()? })
    }

    fn assignment_target(&mut self) -> Result<AssignmentTarget, SqlError> {
        let column = self.ident()?;
        if self.is_token(&Token::Period) {
            // `t.a = ...` is not allowed in PostgreSQL either: it means a field of column t.
            return Err(SqlError::unsupported("assignment to a field of a column").at(self.pos()));
        }
        let mut subscripts = Vec::new();
        while self.eat_token(&Token::LBracket) {
            subscripts.push(self.target_subscript()?);
            self.expect_token(&Token::RBracket)?;
        }
        Ok(AssignmentTarget { column, subscripts })
    }

    /// `i`, `l:u`, `l:`, `:u` or `:` between brackets.
    fn target_subscript(&mut self) -> Result<Subscript, SqlError> {
        let lower = if self.is_token(&Token::Colon) { None } else { Some(self.expr()?) };
        if !self.eat_token(&Token::Colon) {
            return lower.map(Subscript::Index).ok_or_else(|| self.syntax_error());
        }
        let upper = if self.is_token(&Token::RBracket) { None } else { Some(self.expr()?) };
        Ok(Subscript::Slice { lower, upper })
    }

    /// `DEFAULT` alone is not an expression to the crate.
    pub(super) fn expr_or_default(&mut self) -> Result<Expr, SqlError> {
        if self.is("DEFAULT") {
            let pos = self.pos();
            self.advance();
            return Ok(Expr::Default(pos));
        }
        self.expr()
    }

    pub(super) fn returning(&mut self) -> Result<Vec<SelectItem>, SqlError> {
        if !self.eat("RETURNING") {
            return Ok(Vec::new());
        }
        self.comma_list(|c| {
            c.seen = c.parser.index();
            match c.parser.parse_select_item() {
                Ok(item) => c.select_item(item),
                Err(_) => Err(c.syntax_error()),
            }
        })
    }

    fn target_alias(&mut self, stops: &[&str]) -> Result<Option<TableAlias>, SqlError> {
        let explicit = self.eat("AS");
        if !explicit && (self.at_end() || !matches!(self.peek(0).token, Token::Word(_)) || stops.iter().any(|w| self.is(w))) {
            return Ok(None);
        }
        Ok(Some(TableAlias { name: self.ident()?, columns: Vec::new() }))
    }

    fn table_list(&mut self) -> Result<Vec<TableRef>, SqlError> {
        self.comma_list(|c| {
            c.seen = c.parser.index();
            match c.parser.parse_table_and_joins() {
                Ok(table) => c.table_with_joins(table),
                Err(_) => Err(c.syntax_error()),
            }
        })
    }

    fn where_clause(&mut self) -> Result<Option<Expr>, SqlError> {
        if !self.eat("WHERE") {
            return Ok(None);
        }
        if self.is("CURRENT") && self.is_nth(1, "OF") {
            let pos = self.pos();
            self.advance();
            self.advance();
            return Ok(Some(Expr::CurrentOf(self.name()?, pos)));
        }
        self.expr().map(Some)
    }

    pub(super) fn update(&mut self, with: Option<With>) -> Result<Statement, SqlError> {
        self.expect("UPDATE")?;
        self.eat("ONLY");
        let table = self.object_name()?;
        self.eat_token(&Token::Mul);
        let alias = self.target_alias(&["SET"])?;
        self.expect("SET")?;
        let assignments = self.comma_list(|c| c.assignment())?;
        let from = if self.eat("FROM") { self.table_list()? } else { Vec::new() };
        let filter = self.where_clause()?;
        let returning = self.returning()?;
        Ok(Statement::Update(Box::new(Update { with, table, alias, assignments, from, filter, returning })))
    }

    pub(super) fn delete(&mut self, with: Option<With>) -> Result<Statement, SqlError> {
        self.expect_all(&["DELETE", "FROM"])?;
        self.eat("ONLY");
        let table = self.object_name()?;
        self.eat_token(&Token::Mul);
        let alias = self.target_alias(&["USING", "WHERE", "RETURNING"])?;
        let using = if self.eat("USING") { self.table_list()? } else { Vec::new() };
        let filter = self.where_clause()?;
        let returning = self.returning()?;
        Ok(Statement::Delete(Box::new(Delete { with, table, alias, using, filter, returning })))
    }

    pub(super) fn truncate(&mut self) -> Result<Statement, SqlError> {
        self.expect("TRUNCATE")?;
        self.eat("TABLE");
        let tables = self.comma_list(|c| {
            c.eat("ONLY");
            let name = c.object_name()?;
            c.eat_token(&Token::Mul);
            Ok(name)
        })?;
        let restart_identity = self.eat_all(&["RESTART", "IDENTITY"]);
        if !restart_identity {
            self.eat_all(&["CONTINUE", "IDENTITY"]);
        }
        let cascade = self.drop_behavior();
        Ok(Statement::Truncate(Truncate { tables, restart_identity, cascade }))
    }

    pub(super) fn copy(&mut self) -> Result<Statement, SqlError> {
        self.expect("COPY")?;
        let mut options = Vec::new();
        if self.eat("BINARY") {
            options.push(CopyOption { name: "format".into(), value: CopyOptionValue::Text("binary".into()) });
        }
        let source = if self.is_token(&Token::LParen) { self.copy_query()? } else { self.copy_table()? };
        let from = self.is("FROM");
        if !self.eat("FROM") {
            self.expect("TO")?;
        }
        let target = if self.eat("STDIN") || self.eat("STDOUT") {
            CopyTarget::Client
        } else if self.eat("PROGRAM") {
            CopyTarget::Program(self.string()?)
        } else {
            CopyTarget::File(self.string()?)
        };
        if self.eat("USING") {
            self.expect("DELIMITERS")?;
            options.push(CopyOption { name: "delimiter".into(), value: CopyOptionValue::Text(self.string()?) });
        }
        self.eat("WITH");
        if self.eat_token(&Token::LParen) {
            options.extend(self.comma_list(|c| c.copy_option())?);
            self.expect_token(&Token::RParen)?;
        } else {
            self.old_copy_options(&mut options)?;
        }
        let filter = if self.eat("WHERE") { Some(self.expr()?) } else { None };
        self.finish_copy(Copy { source, from, target, options, filter })
    }

    fn copy_table(&mut self) -> Result<CopySource, SqlError> {
        let name: ObjectName = self.object_name()?;
        let columns = if self.is_token(&Token::LParen) { self.paren_list(|c| c.ident())? } else { Vec::new() };
        Ok(CopySource::Table { name, columns })
    }

    /// `name [value]` inside parentheses.
    fn copy_option(&mut self) -> Result<CopyOption, SqlError> {
        let name = self.any_word()?;
        let value = match &self.peek(0).token {
            Token::Comma | Token::RParen => CopyOptionValue::None,
            Token::Mul => {
                self.advance();
                CopyOptionValue::Star
            }
            Token::LParen => CopyOptionValue::Columns(self.paren_list(|c| c.name())?),
            Token::Word(_) => CopyOptionValue::Text(self.any_word()?),
            Token::Number(..) | Token::Minus => CopyOptionValue::Text(self.integer()?.to_string()),
            _ => CopyOptionValue::Text(self.string()?),
        };
        Ok(CopyOption { name, value })
    }

    /// The syntax before version 9.0: words in a row.
    fn old_copy_options(&mut self, options: &mut Vec<CopyOption>) -> Result<(), SqlError> {
        while !self.at_end() && !self.is("WHERE") {
            let word = self.any_word()?;
            let (name, value) = match word.as_str() {
                "binary" | "csv" => ("format", CopyOptionValue::Text(word.clone())),
                "freeze" | "header" => (word.as_str(), CopyOptionValue::Text("true".into())),
                "delimiter" | "null" | "quote" | "escape" | "encoding" => {
                    self.eat("AS");
                    (word.as_str(), CopyOptionValue::Text(self.string()?))
                }
                "force" => self.old_force_option()?,
                _ => {
                    self.parser.prev_token();
                    return Err(self.syntax_error());
                }
            };
            options.push(CopyOption { name: name.into(), value });
        }
        Ok(())
    }

    fn old_force_option(&mut self) -> Result<(&'static str, CopyOptionValue), SqlError> {
        let name = if self.eat("QUOTE") {
            "force_quote"
        } else if self.eat_all(&["NOT", "NULL"]) {
            "force_not_null"
        } else {
            self.expect("NULL")?;
            "force_null"
        };
        if self.eat_token(&Token::Mul) {
            return Ok((name, CopyOptionValue::Star));
        }
        Ok((name, CopyOptionValue::Columns(self.comma_list(|c| c.name())?)))
    }
}
