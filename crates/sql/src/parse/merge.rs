//! MERGE.

use super::cursor::Cursor;
use crate::ast::{Merge, MergeAction, MergeWhen, Statement, TableAlias, With};
use crate::error::{SqlError, SqlState};
use sqlparser::tokenizer::Token;

impl Cursor<'_> {
    pub(super) fn merge_statement(&mut self, with: Option<With>) -> Result<Statement, SqlError> {
        self.expect_all(&["MERGE", "INTO"])?;
        self.eat("ONLY");
        let table = self.object_name()?;
        self.eat_token(&Token::Mul);
        let named = self.eat("AS") || !self.is("USING");
        let alias = if named { Some(TableAlias { name: self.ident()?, columns: Vec::new() }) } else { None };
        self.expect("USING")?;
        self.seen = self.parser.index();
        let source = match self.parser.parse_table_and_joins() {
            Ok(table) => self.table_with_joins(table)?,
            Err(_) => return Err(self.syntax_error()),
        };
        self.expect("ON")?;
        let on = self.expr()?;
        let mut clauses = vec![self.merge_when()?];
        while self.is("WHEN") {
            clauses.push(self.merge_when()?);
        }
        unreachable_clauses(&clauses)?;
        Ok(Statement::Merge(Box::new(Merge { with, table, alias, source, on, clauses })))
    }

    fn merge_when(&mut self) -> Result<MergeWhen, SqlError> {
        self.expect("WHEN")?;
        let matched = !self.eat("NOT");
        self.expect("MATCHED")?;
        let condition = if self.eat("AND") { Some(self.expr()?) } else { None };
        self.expect("THEN")?;
        let action = match () {
            () if self.eat_all(&["DO", "NOTHING"]) => MergeAction::Nothing,
            () if matched && self.eat("DELETE") => MergeAction::Delete,
            () if matched && self.eat("UPDATE") => {
                self.expect("SET")?;
                MergeAction::Update(self.comma_list(|c| c.assignment())?)
            }
            () if !matched && self.eat("INSERT") => self.merge_insert()?,
            () => return Err(self.syntax_error()),
        };
        Ok(MergeWhen { matched, condition, action })
    }

    /// `INSERT [(columns)] [OVERRIDING ...] { VALUES (...) | DEFAULT VALUES }`
    fn merge_insert(&mut self) -> Result<MergeAction, SqlError> {
        let columns = if self.is_token(&Token::LParen) { self.paren_list(|c| c.ident())? } else { Vec::new() };
        let overriding_system = self.overriding()?;
        if columns.is_empty() && self.eat_all(&["DEFAULT", "VALUES"]) {
            return Ok(MergeAction::Insert { columns, overriding_system, values: None });
        }
        self.expect("VALUES")?;
        let values = self.paren_list(|c| c.expr_or_default())?;
        Ok(MergeAction::Insert { columns, overriding_system, values: Some(values) })
    }
}

/// A clause behind one of its kind that has no condition can never come to its turn.
fn unreachable_clauses(clauses: &[MergeWhen]) -> Result<(), SqlError> {
    for (at, clause) in clauses.iter().enumerate() {
        let shadowed = clauses[..at].iter().any(|earlier| earlier.matched == clause.matched && earlier.condition.is_none());
        if shadowed {
            let message = "unreachable WHEN clause specified after unconditional WHEN clause";
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, message));
        }
    }
    Ok(())
}
