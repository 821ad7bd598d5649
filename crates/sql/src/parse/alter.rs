//! ALTER.

use super::cursor::Cursor;
use crate::ast::{AlterEnumAction, AlterSequence, AlterTable, AlterTableAction, ConstraintTiming, Ident, ObjectKind, Statement};
use crate::error::SqlError;
use sqlparser::tokenizer::Token;

impl Cursor<'_> {
    pub(super) fn alter(&mut self) -> Result<Statement, SqlError> {
        self.expect("ALTER")?;
        match () {
            () if self.eat("TABLE") => self.alter_relation(ObjectKind::Table),
            () if self.eat("VIEW") => self.alter_relation(ObjectKind::View),
            () if self.eat("INDEX") => self.alter_index(),
            () if self.eat("SEQUENCE") => self.alter_sequence(),
            () if self.eat("SCHEMA") => self.alter_schema(),
            () if self.eat("TYPE") => self.alter_type(),
            () if self.eat("DOMAIN") => self.alter_domain(),
            () if let Some(kind) = self.routine_kind() => self.alter_function(kind),
            () if self.eat("DATABASE") => self.alter_database(),
            () => {
                let Token::Word(word) = &self.peek(0).token else { return Err(self.syntax_error()) };
                let what = word.value.to_ascii_uppercase();
                let known = [
                    "ROLE",
                    "USER",
                    "SYSTEM",
                    "DEFAULT",
                    "TYPE",
                    "EXTENSION",
                    "MATERIALIZED",
                    "TRIGGER",
                    "POLICY",
                    "STATISTICS",
                    "PUBLICATION",
                    "SUBSCRIPTION",
                    "TABLESPACE",
                    "AGGREGATE",
                    "OPERATOR",
                    "COLLATION",
                    "FOREIGN",
                    "SERVER",
                    "GROUP",
                ];
                if known.contains(&what.as_str()) { Err(SqlError::unsupported(format!("ALTER {what}"))) } else { Err(self.syntax_error()) }
            }
        }
    }

    fn alter_relation(&mut self, kind: ObjectKind) -> Result<Statement, SqlError> {
        let if_exists = self.eat_all(&["IF", "EXISTS"]);
        self.eat("ONLY");
        let name = self.object_name()?;
        self.eat_token(&Token::Mul);
        let actions = if self.is("RENAME") { vec![self.rename()?] } else { self.comma_list(|c| c.alter_action())? };
        Ok(Statement::AlterTable(AlterTable { kind, name, if_exists, actions }))
    }

    fn rename(&mut self) -> Result<AlterTableAction, SqlError> {
        self.expect("RENAME")?;
        if self.eat("TO") {
            return Ok(AlterTableAction::RenameTo(self.name()?));
        }
        if self.eat("CONSTRAINT") {
            let constraint = self.name()?;
            self.expect("TO")?;
            return Ok(AlterTableAction::RenameConstraint { constraint, name: self.name()? });
        }
        self.eat("COLUMN");
        let column = self.ident()?;
        self.expect("TO")?;
        Ok(AlterTableAction::RenameColumn { column, name: self.ident()? })
    }

    fn alter_action(&mut self) -> Result<AlterTableAction, SqlError> {
        match () {
            () if self.eat("ADD") => self.add(),
            () if self.eat("DROP") => self.drop_part(),
            () if self.eat("ALTER") => self.alter_part(),
            () if self.eat_all(&["VALIDATE", "CONSTRAINT"]) => Ok(AlterTableAction::ValidateConstraint(self.name()?)),
            () if self.eat_all(&["OWNER", "TO"]) => Ok(AlterTableAction::OwnerTo(self.any_word()?)),
            () if self.eat_all(&["SET", "SCHEMA"]) => Ok(AlterTableAction::SetSchema(self.name()?)),
            () if self.is("SET") && self.peek(1).token == Token::LParen => {
                self.advance();
                Ok(AlterTableAction::SetStorageParameters(self.storage_parameters()?))
            }
            () if self.eat("RESET") => Ok(AlterTableAction::ResetStorageParameters(self.paren_list(|c| c.any_word())?)),
            () if self.eat_all(&["SPLIT", "AT"]) => self.split_at(),
            () => self.refused_action(),
        }
    }

    fn refused_action(&mut self) -> Result<AlterTableAction, SqlError> {
        let known = ["ENABLE", "DISABLE", "INHERIT", "NO", "ATTACH", "DETACH", "CLUSTER", "REPLICA", "SET", "FORCE", "OF", "NOT"];
        if !known.iter().any(|w| self.is(w)) {
            return Err(self.syntax_error());
        }
        let words: Vec<String> = (0..2)
            .filter_map(|n| match &self.peek(n).token {
                Token::Word(word) => Some(word.value.to_ascii_uppercase()),
                _ => None,
            })
            .collect();
        Err(SqlError::unsupported(format!("ALTER TABLE ... {}", words.join(" "))))
    }

    fn add(&mut self) -> Result<AlterTableAction, SqlError> {
        if ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "EXCLUDE"].iter().any(|w| self.is(w)) {
            return Ok(AlterTableAction::AddConstraint(self.table_constraint()?));
        }
        self.eat("COLUMN");
        let if_not_exists = self.if_not_exists();
        Ok(AlterTableAction::AddColumn { column: self.column_def()?, if_not_exists })
    }

    fn drop_part(&mut self) -> Result<AlterTableAction, SqlError> {
        let is_constraint = self.eat("CONSTRAINT");
        if !is_constraint {
            self.eat("COLUMN");
        }
        let if_exists = self.eat_all(&["IF", "EXISTS"]);
        let name: Ident = self.ident()?;
        let cascade = self.drop_behavior();
        Ok(if is_constraint {
            AlterTableAction::DropConstraint { constraint: name.value, if_exists, cascade }
        } else {
            AlterTableAction::DropColumn { column: name, if_exists, cascade }
        })
    }

    fn alter_part(&mut self) -> Result<AlterTableAction, SqlError> {
        if self.eat("CONSTRAINT") {
            let constraint = self.name()?;
            let deferrable = !self.eat_all(&["NOT", "DEFERRABLE"]) && self.eat("DEFERRABLE");
            let mut timing = ConstraintTiming { deferrable, initially_deferred: false };
            if self.eat_all(&["INITIALLY", "DEFERRED"]) {
                timing = ConstraintTiming { deferrable: true, initially_deferred: true };
            } else {
                self.eat_all(&["INITIALLY", "IMMEDIATE"]);
            }
            return Ok(AlterTableAction::AlterConstraint { constraint, timing });
        }
        self.eat("COLUMN");
        let column = self.ident()?;
        match () {
            () if self.eat_all(&["SET", "DATA", "TYPE"]) || self.eat("TYPE") => self.set_type(column),
            () if self.eat_all(&["SET", "DEFAULT"]) => Ok(AlterTableAction::SetDefault { column, default: self.stored_expr()? }),
            () if self.eat_all(&["DROP", "DEFAULT"]) => Ok(AlterTableAction::DropDefault { column }),
            () if self.eat_all(&["SET", "NOT", "NULL"]) => Ok(AlterTableAction::SetNotNull { column }),
            () if self.eat_all(&["DROP", "NOT", "NULL"]) => Ok(AlterTableAction::DropNotNull { column }),
            () if self.eat_all(&["SET", "STATISTICS"]) => {
                let target = i32::try_from(self.integer()?).unwrap_or(i32::MAX);
                Ok(AlterTableAction::SetStatistics { column, target })
            }
            () if self.eat_all(&["DROP", "IDENTITY"]) => {
                Ok(AlterTableAction::DropIdentity { column, if_exists: self.eat_all(&["IF", "EXISTS"]) })
            }
            () if self.eat_all(&["DROP", "EXPRESSION"]) => {
                Ok(AlterTableAction::DropExpression { column, if_exists: self.eat_all(&["IF", "EXISTS"]) })
            }
            () if self.eat_all(&["ADD", "GENERATED"]) => {
                let always = self.eat("ALWAYS");
                if !always {
                    self.expect_all(&["BY", "DEFAULT"])?;
                }
                self.expect_all(&["AS", "IDENTITY"])?;
                Ok(AlterTableAction::AddIdentity { column, always, options: self.identity_options()? })
            }
            () if self.is("SET") || self.is("RESTART") => self.alter_identity(column),
            () => Err(self.syntax_error()),
        }
    }

    fn set_type(&mut self, column: Ident) -> Result<AlterTableAction, SqlError> {
        let ty = self.type_name()?;
        if self.eat("COLLATE") {
            self.object_name()?;
        }
        let using = if self.eat("USING") { Some(self.stored_expr()?) } else { None };
        Ok(AlterTableAction::SetType { column, ty, using })
    }

    /// `SET GENERATED ALWAYS SET START WITH 5 RESTART ...`
    fn alter_identity(&mut self, column: Ident) -> Result<AlterTableAction, SqlError> {
        let (mut always, mut options) = (None, Vec::new());
        loop {
            if self.eat_all(&["SET", "GENERATED"]) {
                always = Some(self.eat("ALWAYS"));
                if always == Some(false) {
                    self.expect_all(&["BY", "DEFAULT"])?;
                }
            } else if self.is("RESTART") || self.eat("SET") {
                let before = options.len();
                options.extend(self.sequence_options()?);
                if options.len() == before {
                    // SET STORAGE, SET (n_distinct = ...) and so on
                    return Err(SqlError::unsupported("that form of ALTER COLUMN ... SET").at(self.pos()));
                }
            } else {
                return Ok(AlterTableAction::AlterIdentity { column, always, options });
            }
        }
    }

    /// `VALUES (1), (2)`
    fn split_at(&mut self) -> Result<AlterTableAction, SqlError> {
        self.expect("VALUES")?;
        let mut keys = Vec::new();
        loop {
            keys.push(self.paren_list(|c| c.expr())?);
            // A comma behind the last key could only start another action, which begins with a word.
            if !(self.is_token(&Token::Comma) && self.peek(1).token == Token::LParen) {
                return Ok(AlterTableAction::SplitAt(keys));
            }
            self.advance();
        }
    }

    fn alter_index(&mut self) -> Result<Statement, SqlError> {
        let if_exists = self.eat_all(&["IF", "EXISTS"]);
        let index = self.object_name()?;
        if self.eat_all(&["RENAME", "TO"]) {
            return Ok(Statement::AlterIndexRename { index, if_exists, name: self.name()? });
        }
        let action = self.alter_action()?;
        if !matches!(action, AlterTableAction::SetStorageParameters(_) | AlterTableAction::ResetStorageParameters(_)) {
            return Err(SqlError::unsupported("that form of ALTER INDEX"));
        }
        Ok(Statement::AlterTable(AlterTable { kind: ObjectKind::Index, name: index, if_exists, actions: vec![action] }))
    }

    fn alter_sequence(&mut self) -> Result<Statement, SqlError> {
        let if_exists = self.eat_all(&["IF", "EXISTS"]);
        let name = self.object_name()?;
        if self.is("RENAME") || self.is("OWNER") || self.is("SET") {
            let action = if self.is("RENAME") { self.rename()? } else { self.alter_action()? };
            return Ok(Statement::AlterTable(AlterTable { kind: ObjectKind::Sequence, name, if_exists, actions: vec![action] }));
        }
        let options = self.sequence_options()?;
        if options.is_empty() {
            return Err(self.syntax_error());
        }
        Ok(Statement::AlterSequence(AlterSequence { name, if_exists, options }))
    }

    fn alter_type(&mut self) -> Result<Statement, SqlError> {
        let name = self.object_name()?;
        let action = match () {
            () if self.eat_all(&["ADD", "VALUE"]) => {
                let if_not_exists = self.eat_all(&["IF", "NOT", "EXISTS"]);
                let label = self.string()?;
                let place = match () {
                    () if self.eat("BEFORE") => Some((true, self.string()?)),
                    () if self.eat("AFTER") => Some((false, self.string()?)),
                    () => None,
                };
                AlterEnumAction::AddValue { label, if_not_exists, place }
            }
            () if self.eat_all(&["RENAME", "VALUE"]) => {
                let from = self.string()?;
                self.expect("TO")?;
                AlterEnumAction::RenameValue { from, to: self.string()? }
            }
            () if self.eat_all(&["OWNER", "TO"]) => AlterEnumAction::OwnerTo(self.any_word()?),
            () => return Err(SqlError::unsupported("that form of ALTER TYPE")),
        };
        Ok(Statement::AlterEnum { name, action })
    }

    fn alter_schema(&mut self) -> Result<Statement, SqlError> {
        let schema = self.name()?;
        if self.eat_all(&["RENAME", "TO"]) {
            return Ok(Statement::AlterSchemaRename { schema, name: self.name()? });
        }
        if self.eat_all(&["OWNER", "TO"]) {
            return Ok(Statement::AlterSchemaOwner { schema, owner: self.any_word()? });
        }
        Err(self.syntax_error())
    }
}
