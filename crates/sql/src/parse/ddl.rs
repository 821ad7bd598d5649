//! CREATE INDEX, VIEW and SEQUENCE.

use super::cursor::Cursor;
use crate::ast::{CreateIndex, CreateSequence, CreateView, IndexElement, OrderItem, SequenceOption, Statement};
use crate::error::{SqlError, SqlState};
use sqlparser::tokenizer::Token;

impl Cursor<'_> {
    pub(super) fn create_index(&mut self) -> Result<Statement, SqlError> {
        let unique = self.eat("UNIQUE");
        self.expect("INDEX")?;
        let concurrently = self.eat("CONCURRENTLY");
        let if_not_exists = self.if_not_exists();
        let name = if self.is("ON") { None } else { Some(self.name()?) };
        self.expect("ON")?;
        self.eat("ONLY");
        let table = self.object_name()?;
        let method = if self.eat("USING") { self.name()? } else { "btree".into() };
        let columns = self.paren_list(|c| c.index_element())?;
        let include = if self.eat("INCLUDE") { self.paren_list(|c| c.ident())? } else { Vec::new() };
        let nulls_distinct = self.nulls_distinct();
        let options = if self.eat("WITH") { self.storage_parameters()? } else { Vec::new() };
        if self.eat("TABLESPACE") && self.name()? != "pg_default" {
            return Err(SqlError::unsupported("TABLESPACE"));
        }
        let predicate = if self.eat("WHERE") { Some(self.stored_expr()?) } else { None };
        let index =
            CreateIndex { name, table, unique, concurrently, if_not_exists, method, columns, include, nulls_distinct, predicate, options };
        Ok(Statement::CreateIndex(Box::new(index)))
    }

    fn index_element(&mut self) -> Result<IndexElement, SqlError> {
        let stored = self.stored_expr_before(&[
            "ASC",
            "DESC",
            "NULLS",
            "text_ops",
            "varchar_ops",
            "text_pattern_ops",
            "varchar_pattern_ops",
            "bpchar_pattern_ops",
            "int4_ops",
            "int8_ops",
        ])?;
        let word = matches!(&self.peek(0).token, Token::Word(_)) && !["ASC", "DESC", "NULLS"].iter().any(|w| self.is(w));
        let operator_class = if word { Some(self.name()?) } else { None };
        let descending = self.eat("DESC");
        if !descending {
            self.eat("ASC");
        }
        let nulls_first = if self.eat_all(&["NULLS", "FIRST"]) {
            Some(true)
        } else if self.eat_all(&["NULLS", "LAST"]) {
            Some(false)
        } else {
            None
        };
        Ok(IndexElement { item: OrderItem { expr: stored.expr, descending, nulls_first }, text: stored.text, operator_class })
    }

    pub(super) fn create_view(&mut self, or_replace: bool, temporary: bool) -> Result<Statement, SqlError> {
        let name = self.object_name()?;
        let columns = if self.is_token(&Token::LParen) { self.paren_list(|c| c.ident())? } else { Vec::new() };
        let given = if self.eat("WITH") { self.storage_parameters()? } else { Vec::new() };
        let mut in_options = None;
        for (option, value) in given {
            match (option.as_str(), value.as_str()) {
                ("check_option", "local") => in_options = Some(false),
                ("check_option", "cascaded") => in_options = Some(true),
                ("check_option", other) => {
                    let message = format!("invalid value for enum option \"check_option\": {other}");
                    return Err(
                        SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message).detail("Valid values are \"local\" and \"cascaded\".")
                    );
                }
                ("security_barrier" | "security_invoker", "false" | "off" | "0" | "no") => {}
                ("security_barrier" | "security_invoker", _) => return Err(SqlError::unsupported(format!("a view with {option}"))),
                (other, _) => {
                    let message = format!("unrecognized parameter \"{other}\"");
                    return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
                }
            }
        }
        self.expect("AS")?;
        let start = self.byte_here();
        let query = self.query()?;
        let text = self.text_between(start, self.byte_behind());
        let check_option = if self.eat_all(&["WITH", "LOCAL", "CHECK", "OPTION"]) {
            Some(false)
        } else if self.eat_all(&["WITH", "CASCADED", "CHECK", "OPTION"]) || self.eat_all(&["WITH", "CHECK", "OPTION"]) {
            Some(true)
        } else {
            in_options
        };
        Ok(Statement::CreateView(Box::new(CreateView { name, or_replace, temporary, columns, query, text, check_option })))
    }

    pub(super) fn create_sequence(&mut self, temporary: bool) -> Result<Statement, SqlError> {
        let if_not_exists = self.if_not_exists();
        let name = self.object_name()?;
        let options = self.sequence_options()?;
        Ok(Statement::CreateSequence(CreateSequence { name, temporary, if_not_exists, options }))
    }

    pub(super) fn sequence_options(&mut self) -> Result<Vec<SequenceOption>, SqlError> {
        let mut options = Vec::new();
        loop {
            let option = match () {
                () if self.eat("AS") => SequenceOption::As(self.type_name()?),
                () if self.eat("INCREMENT") => {
                    self.eat("BY");
                    SequenceOption::Increment(self.integer()?)
                }
                () if self.eat("MINVALUE") => SequenceOption::MinValue(Some(self.integer()?)),
                () if self.eat("MAXVALUE") => SequenceOption::MaxValue(Some(self.integer()?)),
                () if self.eat_all(&["NO", "MINVALUE"]) => SequenceOption::MinValue(None),
                () if self.eat_all(&["NO", "MAXVALUE"]) => SequenceOption::MaxValue(None),
                () if self.eat_all(&["NO", "CYCLE"]) => SequenceOption::Cycle(false),
                () if self.eat("CYCLE") => SequenceOption::Cycle(true),
                () if self.eat("CACHE") => SequenceOption::Cache(self.integer()?),
                () if self.eat("START") => {
                    self.eat("WITH");
                    SequenceOption::Start(self.integer()?)
                }
                () if self.eat("RESTART") => {
                    let explicit = self.eat("WITH") || matches!(self.peek(0).token, Token::Number(..) | Token::Minus);
                    SequenceOption::Restart(if explicit { Some(self.integer()?) } else { None })
                }
                () if self.eat_all(&["OWNED", "BY"]) => self.owned_by()?,
                () if self.eat_all(&["SEQUENCE", "NAME"]) => SequenceOption::Name(self.object_name()?),
                () => return Ok(options),
            };
            options.push(option);
        }
    }

    fn owned_by(&mut self) -> Result<SequenceOption, SqlError> {
        if self.eat("NONE") {
            return Ok(SequenceOption::OwnedBy(None));
        }
        let mut parts = self.dotted()?;
        match parts.pop() {
            Some(column) if !parts.is_empty() => Ok(SequenceOption::OwnedBy(Some((super::cursor::object_name(parts)?, column.value)))),
            _ => Err(self.syntax_error()),
        }
    }
}
