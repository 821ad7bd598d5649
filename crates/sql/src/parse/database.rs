//! CREATE, ALTER and DROP DATABASE.

use super::cursor::Cursor;
use crate::ast::{AlterDatabase, AlterDatabaseAction, CreateDatabase, DatabaseOption, DropDatabase, SettingChange, Statement};
use crate::error::SqlError;
use sqlparser::tokenizer::Token;

impl Cursor<'_> {
    pub(super) fn create_database(&mut self) -> Result<Statement, SqlError> {
        let name = self.name()?;
        self.eat("WITH");
        Ok(Statement::CreateDatabase(CreateDatabase { name, options: self.database_options()? }))
    }

    fn database_options(&mut self) -> Result<Vec<DatabaseOption>, SqlError> {
        let mut options = Vec::new();
        while !self.at_end() {
            let pos = self.pos();
            if self.is("IF") {
                // A keyword, which an option's name is not: `IF NOT EXISTS` is no clause of these statements.
                return Err(self.syntax_error());
            }
            let mut name = self.name()?;
            if name == "connection" && self.eat("LIMIT") {
                name = "connection_limit".into();
            }
            self.eat_token(&Token::Eq);
            let value = match &self.peek(0).token {
                Token::Word(word) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case("default") => {
                    self.advance();
                    None
                }
                Token::Word(_) if ["TRUE", "FALSE", "ON"].iter().any(|word| self.is(word)) => Some(self.any_word()?),
                Token::Word(_) => Some(self.name()?),
                Token::Number(..) | Token::Minus | Token::Plus => Some(self.integer()?.to_string()),
                _ => Some(self.string()?),
            };
            options.push(DatabaseOption { name, value, pos });
        }
        Ok(options)
    }

    pub(super) fn drop_database(&mut self) -> Result<Statement, SqlError> {
        let if_exists = self.eat_all(&["IF", "EXISTS"]);
        let name = self.name()?;
        let with = self.eat("WITH");
        let mut force = false;
        if with || self.is_token(&Token::LParen) {
            force = true;
            self.paren_list(|c| c.expect("FORCE"))?;
        }
        Ok(Statement::DropDatabase(DropDatabase { name, if_exists, force }))
    }

    pub(super) fn alter_database(&mut self) -> Result<Statement, SqlError> {
        let name = self.name()?;
        let action = match () {
            () if self.eat_all(&["RENAME", "TO"]) => AlterDatabaseAction::RenameTo(self.name()?),
            () if self.eat_all(&["OWNER", "TO"]) => AlterDatabaseAction::OwnerTo(self.any_word()?),
            () if self.eat_all(&["SET", "TABLESPACE"]) => AlterDatabaseAction::Tablespace(self.name()?),
            () if self.eat_all(&["REFRESH", "COLLATION", "VERSION"]) => {
                return Err(SqlError::unsupported("ALTER DATABASE ... REFRESH COLLATION VERSION"));
            }
            () if self.is("SET") || self.is("RESET") => AlterDatabaseAction::Setting(self.setting_change()?),
            () => {
                self.eat("WITH");
                let options = self.database_options()?;
                if options.is_empty() {
                    return Err(self.syntax_error());
                }
                AlterDatabaseAction::Options(options)
            }
        };
        Ok(Statement::AlterDatabase(AlterDatabase { name, action }))
    }

    /// `SET name TO value`, `SET name FROM CURRENT`, `RESET name`, `RESET ALL`: of what new sessions begin with.
    pub(super) fn setting_change(&mut self) -> Result<SettingChange, SqlError> {
        if self.eat("RESET") {
            return Ok(match self.reset()? {
                Statement::Reset(Some(name)) => SettingChange::Set { name, values: None },
                _ => SettingChange::ResetAll,
            });
        }
        self.expect("SET")?;
        let is_current = |c: &Self, n: usize| c.is_nth(n, "FROM") && c.is_nth(n + 1, "CURRENT");
        if (1..8).any(|n| is_current(self, n)) {
            let name = if self.eat_all(&["TIME", "ZONE"]) { "timezone".into() } else { self.variable_name()? };
            self.expect_all(&["FROM", "CURRENT"])?;
            return Ok(SettingChange::FromCurrent(name));
        }
        let (name, value) = self.variable_assignment()?;
        Ok(SettingChange::Set { name, values: value })
    }
}
