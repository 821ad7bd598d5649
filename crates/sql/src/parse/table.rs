//! CREATE TABLE: columns, constraints, LIKE, storage parameters.

use super::cursor::Cursor;
use crate::ast::{
    ColumnConstraint, ColumnConstraintKind, ColumnDef, ConstraintTiming, CreateTable, ForeignKeySpec, Ident, LikeClause, OnCommit,
    ReferentialAction, Statement, StoredExpr, TableConstraint, TableConstraintKind,
};
use crate::error::{SqlError, SqlState};
use sqlparser::tokenizer::Token;

/// Words that can follow an expression in a column definition.
pub(super) const AFTER_DEFAULT: &[&str] = &[
    "NOT",
    "NULL",
    "CHECK",
    "UNIQUE",
    "PRIMARY",
    "REFERENCES",
    "CONSTRAINT",
    "GENERATED",
    "COLLATE",
    "DEFERRABLE",
    "INITIALLY",
    "DEFAULT",
];

impl Cursor<'_> {
    pub(super) fn create_table(&mut self, temporary: bool, unlogged: bool) -> Result<Statement, SqlError> {
        let if_not_exists = self.if_not_exists();
        let name = self.object_name()?;
        if self.is("PARTITION") || self.is("OF") {
            return Err(SqlError::unsupported("that form of CREATE TABLE"));
        }
        let starts_as = ["AS", "ON", "WITH", "WITHOUT", "USING", "TABLESPACE"];
        let names = if starts_as.iter().any(|word| self.is(word)) { Some(Vec::new()) } else { self.names_before_as(&starts_as) };
        let mut table = CreateTable {
            name,
            if_not_exists,
            temporary,
            unlogged,
            columns: Vec::new(),
            constraints: Vec::new(),
            likes: Vec::new(),
            options: Vec::new(),
            on_commit: None,
        };
        if let Some(columns) = names {
            self.table_suffix(&mut table)?;
            self.expect("AS")?;
            return self.create_table_as(table, columns);
        }
        self.expect_token(&Token::LParen)?;
        if !self.eat_token(&Token::RParen) {
            self.comma_list(|c| c.table_element(&mut table))?;
            self.expect_token(&Token::RParen)?;
        }
        self.table_suffix(&mut table)?;
        if self.eat("AS") {
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, "syntax error at or near \"AS\"").at(self.pos()));
        }
        Ok(Statement::CreateTable(Box::new(table)))
    }

    /// `(a, b) AS`: the column names of CREATE TABLE AS.
    fn names_before_as(&mut self, starts_as: &[&str]) -> Option<Vec<Ident>> {
        let mut at = 1;
        loop {
            if !matches!(self.peek(at).token, Token::Word(_)) {
                return None;
            }
            match self.peek(at + 1).token {
                Token::Comma => at += 2,
                Token::RParen => break,
                _ => return None,
            }
        }
        if !starts_as.iter().any(|word| self.is_nth(at + 2, word)) {
            return None;
        }
        self.paren_list(|c| c.ident()).ok()
    }

    fn table_element(&mut self, table: &mut CreateTable) -> Result<(), SqlError> {
        if self.eat("LIKE") {
            table.likes.push(self.like_clause()?);
        } else if self.starts_table_constraint() {
            table.constraints.push(self.table_constraint()?);
        } else {
            table.columns.push(self.column_def()?);
        }
        Ok(())
    }

    fn starts_table_constraint(&self) -> bool {
        ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "EXCLUDE"].iter().any(|w| self.is(w))
            // A column may be called `exclude`, never the others.
            && !(self.is("EXCLUDE") && !self.is_nth(1, "USING") && self.peek(1).token != Token::LParen)
    }

    fn like_clause(&mut self) -> Result<LikeClause, SqlError> {
        let table = self.object_name()?;
        let mut options = Vec::new();
        while self.is("INCLUDING") || self.is("EXCLUDING") {
            let including = self.is("INCLUDING");
            self.advance();
            options.push((including, self.any_word()?));
        }
        Ok(LikeClause { table, options })
    }

    fn table_suffix(&mut self, table: &mut CreateTable) -> Result<(), SqlError> {
        loop {
            if self.is("INHERITS") || self.is("PARTITION") {
                return Err(SqlError::unsupported(if self.is("INHERITS") { "INHERITS" } else { "PARTITION BY" }).at(self.pos()));
            }
            if self.eat("USING") {
                let method = self.name()?;
                if method != "heap" {
                    return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, format!("access method \"{method}\" does not exist")));
                }
            } else if self.eat_all(&["ON", "COMMIT"]) {
                table.on_commit = Some(match () {
                    () if self.eat("DROP") => OnCommit::Drop,
                    () if self.eat_all(&["DELETE", "ROWS"]) => OnCommit::DeleteRows,
                    () => {
                        self.expect_all(&["PRESERVE", "ROWS"])?;
                        OnCommit::PreserveRows
                    }
                });
            } else if self.eat_all(&["WITHOUT", "OIDS"]) {
            } else if self.eat("WITH") {
                table.options = self.storage_parameters()?;
            } else if self.eat("TABLESPACE") {
                let name = self.name()?;
                if name != "pg_default" {
                    return Err(SqlError::unsupported("TABLESPACE"));
                }
            } else {
                return Ok(());
            }
        }
    }

    /// `(fillfactor = 70, autovacuum_enabled)`
    pub(super) fn storage_parameters(&mut self) -> Result<Vec<(String, String)>, SqlError> {
        self.paren_list(|c| {
            let mut name = c.any_word()?;
            while c.eat_token(&Token::Period) {
                name = format!("{name}.{}", c.any_word()?);
            }
            if !c.eat_token(&Token::Eq) {
                return Ok((name, "true".into()));
            }
            let value = match &c.peek(0).token {
                Token::Word(_) => c.any_word()?,
                Token::SingleQuotedString(_) => c.string()?,
                Token::Number(n, _) => {
                    let n = n.clone();
                    c.advance();
                    n
                }
                _ => c.integer()?.to_string(),
            };
            Ok((name, value))
        })
    }

    pub(super) fn column_def(&mut self) -> Result<ColumnDef, SqlError> {
        let name = self.ident()?;
        let ty = self.type_name()?;
        let mut column = ColumnDef { name, ty, collation: None, constraints: Vec::new() };
        loop {
            if self.is("STORAGE") || self.is("COMPRESSION") {
                // They say how PostgreSQL's heap keeps long values; ours are kept one way.
                self.advance();
                self.any_word()?;
            } else if self.eat("COLLATE") {
                column.collation = Some(self.object_name()?);
            } else if self.constraint_timing(column.constraints.last_mut().filter(|c| has_timing(&c.kind)).map(|c| &mut c.timing))? {
            } else if let Some(constraint) = self.column_constraint()? {
                column.constraints.push(constraint);
            } else {
                return Ok(column);
            }
        }
    }

    /// DEFERRABLE and its like, behind a constraint.
    fn constraint_timing(&mut self, timing: Option<&mut ConstraintTiming>) -> Result<bool, SqlError> {
        let pos = self.pos();
        let mut none = ConstraintTiming::default();
        let behind_one = timing.is_some();
        let timing = timing.unwrap_or(&mut none);
        if self.eat_all(&["NOT", "DEFERRABLE"]) {
            timing.deferrable = false;
        } else if self.eat("DEFERRABLE") {
            timing.deferrable = true;
        } else if self.eat_all(&["INITIALLY", "DEFERRED"]) {
            (timing.deferrable, timing.initially_deferred) = (true, true);
        } else if self.eat_all(&["INITIALLY", "IMMEDIATE"]) {
            timing.initially_deferred = false;
        } else {
            return Ok(false);
        }
        if !behind_one {
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, "misplaced DEFERRABLE clause").at(pos));
        }
        Ok(true)
    }

    fn column_constraint(&mut self) -> Result<Option<ColumnConstraint>, SqlError> {
        let name = if self.eat("CONSTRAINT") { Some(self.name()?) } else { None };
        let kind = match () {
            () if self.eat_all(&["NOT", "NULL"]) => ColumnConstraintKind::NotNull,
            () if self.eat("NULL") => ColumnConstraintKind::Null,
            () if self.eat("DEFAULT") => ColumnConstraintKind::Default(self.stored_expr_before(AFTER_DEFAULT)?),
            () if self.eat("CHECK") => ColumnConstraintKind::Check(self.check_expr()?),
            () if self.eat_all(&["PRIMARY", "KEY"]) => {
                self.index_parameters()?;
                ColumnConstraintKind::PrimaryKey
            }
            () if self.eat("UNIQUE") => {
                let nulls_distinct = self.nulls_distinct();
                self.index_parameters()?;
                ColumnConstraintKind::Unique { nulls_distinct }
            }
            () if self.is("REFERENCES") => ColumnConstraintKind::References(self.references()?),
            () if self.eat("GENERATED") => self.generated()?,
            () if name.is_some() => return Err(self.syntax_error()),
            () => return Ok(None),
        };
        if matches!(kind, ColumnConstraintKind::Check(_)) {
            self.eat_all(&["NO", "INHERIT"]);
        }
        Ok(Some(ColumnConstraint { name, kind, timing: ConstraintTiming::default() }))
    }

    fn check_expr(&mut self) -> Result<StoredExpr, SqlError> {
        self.expect_token(&Token::LParen)?;
        let expr = self.stored_expr()?;
        self.expect_token(&Token::RParen)?;
        Ok(expr)
    }

    fn generated(&mut self) -> Result<ColumnConstraintKind, SqlError> {
        let always = self.eat("ALWAYS");
        if !always {
            self.expect_all(&["BY", "DEFAULT"])?;
        }
        self.expect("AS")?;
        if self.eat("IDENTITY") {
            return Ok(ColumnConstraintKind::Identity { always, options: self.identity_options()? });
        }
        if !always {
            return Err(self.syntax_error());
        }
        let expr = self.check_expr()?;
        self.expect("STORED")?;
        Ok(ColumnConstraintKind::Generated(expr))
    }

    pub(super) fn identity_options(&mut self) -> Result<Vec<crate::ast::SequenceOption>, SqlError> {
        if !self.eat_token(&Token::LParen) {
            return Ok(Vec::new());
        }
        let options = self.sequence_options()?;
        self.expect_token(&Token::RParen)?;
        Ok(options)
    }

    pub(super) fn nulls_distinct(&mut self) -> bool {
        if self.eat_all(&["NULLS", "NOT", "DISTINCT"]) {
            return false;
        }
        self.eat_all(&["NULLS", "DISTINCT"]);
        true
    }

    /// What may follow PRIMARY KEY and UNIQUE: `INCLUDE (...)` is the caller's; storage parameters and tablespace say nothing here.
    fn index_parameters(&mut self) -> Result<(), SqlError> {
        if self.eat("WITH") {
            self.storage_parameters()?;
        }
        if self.eat_all(&["USING", "INDEX", "TABLESPACE"]) {
            self.name()?;
        }
        Ok(())
    }

    fn references(&mut self) -> Result<ForeignKeySpec, SqlError> {
        self.expect("REFERENCES")?;
        let table = self.object_name()?;
        let columns = if self.is_token(&Token::LParen) { self.paren_list(|c| c.ident())? } else { Vec::new() };
        let mut spec = ForeignKeySpec {
            table,
            columns,
            match_full: false,
            on_delete: ReferentialAction::NoAction,
            on_update: ReferentialAction::NoAction,
        };
        loop {
            if self.eat("MATCH") {
                if self.eat("PARTIAL") {
                    return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "MATCH PARTIAL not yet implemented"));
                }
                spec.match_full = self.eat("FULL");
                if !spec.match_full {
                    self.expect("SIMPLE")?;
                }
            } else if self.eat_all(&["ON", "DELETE"]) {
                spec.on_delete = self.referential_action()?;
            } else if self.eat_all(&["ON", "UPDATE"]) {
                spec.on_update = self.referential_action()?;
            } else {
                return Ok(spec);
            }
        }
    }

    fn referential_action(&mut self) -> Result<ReferentialAction, SqlError> {
        let action = match () {
            () if self.eat_all(&["NO", "ACTION"]) => ReferentialAction::NoAction,
            () if self.eat("RESTRICT") => ReferentialAction::Restrict,
            () if self.eat("CASCADE") => ReferentialAction::Cascade,
            () if self.eat_all(&["SET", "NULL"]) => ReferentialAction::SetNull,
            () if self.eat_all(&["SET", "DEFAULT"]) => ReferentialAction::SetDefault,
            () => return Err(self.syntax_error()),
        };
        if self.is_token(&Token::LParen) {
            return Err(SqlError::unsupported("a column list behind ON DELETE SET").at(self.pos()));
        }
        Ok(action)
    }

    pub(super) fn table_constraint(&mut self) -> Result<TableConstraint, SqlError> {
        let pos = self.pos();
        let name = if self.eat("CONSTRAINT") { Some(self.name()?) } else { None };
        let kind = match () {
            () if self.eat_all(&["PRIMARY", "KEY"]) => self.key_constraint(true, true)?,
            () if self.eat("UNIQUE") => {
                let nulls_distinct = self.nulls_distinct();
                self.key_constraint(false, nulls_distinct)?
            }
            () if self.eat("CHECK") => TableConstraintKind::Check(self.check_expr()?),
            () if self.eat_all(&["FOREIGN", "KEY"]) => {
                let columns = self.paren_list(|c| c.ident())?;
                TableConstraintKind::ForeignKey { columns, spec: self.references()? }
            }
            () if self.is("EXCLUDE") => return Err(SqlError::unsupported("EXCLUDE constraints").at(self.pos())),
            () => return Err(self.syntax_error()),
        };
        let mut constraint = TableConstraint { name, kind, timing: ConstraintTiming::default(), not_valid: false, no_inherit: false, pos };
        loop {
            if self.eat_all(&["NOT", "VALID"]) {
                constraint.not_valid = true;
            } else if self.eat_all(&["NO", "INHERIT"]) {
                constraint.no_inherit = true;
            } else if !self.constraint_timing(Some(&mut constraint.timing))? {
                return Ok(constraint);
            }
        }
    }

    fn key_constraint(&mut self, primary: bool, nulls_distinct: bool) -> Result<TableConstraintKind, SqlError> {
        if self.eat_all(&["USING", "INDEX"]) {
            return Ok(TableConstraintKind::UsingIndex { primary, index: self.ident()? });
        }
        let columns = self.paren_list(|c| c.ident())?;
        let include = if self.eat("INCLUDE") { self.paren_list(|c| c.ident())? } else { Vec::new() };
        self.index_parameters()?;
        Ok(if primary {
            TableConstraintKind::PrimaryKey { columns, include }
        } else {
            TableConstraintKind::Unique { columns, include, nulls_distinct }
        })
    }
}

/// DEFERRABLE may stand behind it.
fn has_timing(kind: &ColumnConstraintKind) -> bool {
    use ColumnConstraintKind::{PrimaryKey, References, Unique};
    matches!(kind, PrimaryKey | References(_) | Unique { .. })
}
