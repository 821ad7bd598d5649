//! CREATE DOMAIN and ALTER DOMAIN.

use super::cursor::Cursor;
use super::table::AFTER_DEFAULT;
use crate::ast::{AlterDomain, AlterDomainAction, CreateDomain, DomainCheck, Statement, StoredExpr};
use crate::error::{SqlError, SqlState};
use sqlparser::tokenizer::Token;

impl Cursor<'_> {
    pub(super) fn create_domain(&mut self) -> Result<Statement, SqlError> {
        let name = self.object_name()?;
        self.eat("AS");
        let ty = self.type_name()?;
        let mut domain = CreateDomain { name, ty, default: None, not_null: false, checks: Vec::new() };
        if self.eat("COLLATE") {
            let collation = self.object_name()?;
            if !matches!(collation.name.as_str(), "C" | "POSIX" | "default" | "ucs_basic") {
                return Err(SqlError::unsupported(format!("collation \"{}\"", collation.name)));
            }
        }
        let mut nullable = false;
        loop {
            let constraint = if self.eat("CONSTRAINT") { Some(self.name()?) } else { None };
            match () {
                () if self.eat_all(&["NOT", "NULL"]) => domain.not_null = true,
                () if self.eat("NULL") => nullable = true,
                () if constraint.is_none() && self.eat("DEFAULT") => {
                    if domain.default.is_some() {
                        return Err(SqlError::new(SqlState::SYNTAX_ERROR, "multiple default expressions"));
                    }
                    domain.default = Some(self.stored_expr_before(AFTER_DEFAULT)?);
                }
                () if self.eat("CHECK") => {
                    domain.checks.push(DomainCheck { name: constraint, expr: self.parenthesised()?, not_valid: false });
                }
                () if ["UNIQUE", "PRIMARY", "REFERENCES", "EXCLUDE", "FOREIGN"].iter().any(|word| self.is(word)) => {
                    let what = match () {
                        () if self.is("UNIQUE") => "unique constraints",
                        () if self.is("PRIMARY") => "primary key constraints",
                        () if self.is("EXCLUDE") => "exclusion constraints",
                        () => "foreign key constraints",
                    };
                    return Err(SqlError::new(SqlState::SYNTAX_ERROR, format!("{what} not possible for domains")));
                }
                () if constraint.is_some() => return Err(self.syntax_error()),
                () => break,
            }
        }
        if nullable && domain.not_null {
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, "conflicting NULL/NOT NULL constraints"));
        }
        Ok(Statement::CreateDomain(Box::new(domain)))
    }

    /// `(expr)`, of CHECK.
    fn parenthesised(&mut self) -> Result<StoredExpr, SqlError> {
        self.expect_token(&Token::LParen)?;
        let expr = self.stored_expr()?;
        self.expect_token(&Token::RParen)?;
        Ok(expr)
    }

    pub(super) fn alter_domain(&mut self) -> Result<Statement, SqlError> {
        let name = self.object_name()?;
        let action = match () {
            () if self.eat_all(&["SET", "DEFAULT"]) => AlterDomainAction::SetDefault(self.stored_expr()?),
            () if self.eat_all(&["DROP", "DEFAULT"]) => AlterDomainAction::DropDefault,
            () if self.eat_all(&["SET", "NOT", "NULL"]) => AlterDomainAction::SetNotNull,
            () if self.eat_all(&["DROP", "NOT", "NULL"]) => AlterDomainAction::DropNotNull,
            () if self.eat("ADD") => {
                let name = if self.eat("CONSTRAINT") { Some(self.name()?) } else { None };
                self.expect("CHECK")?;
                let expr = self.parenthesised()?;
                AlterDomainAction::AddCheck(DomainCheck { name, expr, not_valid: self.eat_all(&["NOT", "VALID"]) })
            }
            () if self.eat_all(&["DROP", "CONSTRAINT"]) => {
                let if_exists = self.eat_all(&["IF", "EXISTS"]);
                let constraint = self.name()?;
                self.drop_behavior();
                AlterDomainAction::DropConstraint { constraint, if_exists }
            }
            () if self.eat_all(&["RENAME", "CONSTRAINT"]) => {
                let constraint = self.name()?;
                self.expect("TO")?;
                AlterDomainAction::RenameConstraint { constraint, name: self.name()? }
            }
            () if self.eat_all(&["RENAME", "TO"]) => AlterDomainAction::RenameTo(self.name()?),
            () if self.eat_all(&["VALIDATE", "CONSTRAINT"]) => AlterDomainAction::ValidateConstraint(self.name()?),
            () if self.eat_all(&["OWNER", "TO"]) => AlterDomainAction::OwnerTo(self.any_word()?),
            () if self.is_nth(0, "SET") && self.is_nth(1, "SCHEMA") => return Err(SqlError::unsupported("ALTER DOMAIN ... SET SCHEMA")),
            () => return Err(self.syntax_error()),
        };
        Ok(Statement::AlterDomain(Box::new(AlterDomain { name, action })))
    }
}
