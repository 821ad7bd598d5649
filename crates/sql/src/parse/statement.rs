//! The first words of a statement decide who reads it.
//!
//! WITH is read here, not by sqlparser, because its members and what follows may be INSERT, UPDATE or DELETE, which are ours; PostgreSQL
//! allows these only in a statement's own WITH, so the crate's WITH inside subqueries loses nothing.

use super::cursor::Cursor;
use crate::ast::{
    Comment, Copy, CopySource, CreateSchema, CreateTable, CreateTableAs, Cte, Drop, Explain, ExplainFormat, Grant, ObjectKind, ObjectName,
    Prepare, RoutineKind, Statement, With,
};
use crate::error::{SqlError, SqlState};
use sqlparser::tokenizer::Token;

/// Statements that PostgreSQL has and we refuse by name, by their first words.
const REFUSED: &[(&[&str], &str)] = &[
    (&["DO"], "DO"),
    (&["CLUSTER"], "CLUSTER"),
    (&["REFRESH"], "REFRESH MATERIALIZED VIEW"),
    (&["REASSIGN"], "REASSIGN OWNED"),
    (&["SECURITY"], "SECURITY LABEL"),
    (&["IMPORT"], "IMPORT FOREIGN SCHEMA"),
    (&["LOAD"], "LOAD"),
    (&["PREPARE", "TRANSACTION"], "PREPARE TRANSACTION"),
    (&["COMMIT", "PREPARED"], "COMMIT PREPARED"),
    (&["ROLLBACK", "PREPARED"], "ROLLBACK PREPARED"),
];

impl Cursor<'_> {
    pub(super) fn statement(&mut self) -> Result<Statement, SqlError> {
        for (words, name) in REFUSED {
            if words.iter().enumerate().all(|(n, w)| self.is_nth(n, w)) {
                return Err(SqlError::unsupported(*name));
            }
        }
        if self.is_token(&Token::LParen) {
            return self.query_statement(None);
        }
        let Token::Word(word) = &self.peek(0).token else { return Err(self.syntax_error()) };
        match word.value.to_ascii_uppercase().as_str() {
            "SELECT" | "VALUES" | "TABLE" => self.query_statement(None),
            "WITH" => self.with_statement(),
            "INSERT" => self.insert(None),
            "UPDATE" => self.update(None),
            "DELETE" => self.delete(None),
            "MERGE" => self.merge_statement(None),
            "CALL" => self.call_statement(),
            "TRUNCATE" => self.truncate(),
            "COPY" => self.copy(),
            "CREATE" => self.create(),
            "ALTER" => self.alter(),
            "DROP" => self.drop_statement(),
            "COMMENT" => self.comment(),
            "GRANT" | "REVOKE" => self.grant(),
            "PREPARE" => self.prepare(),
            "EXPLAIN" => self.explain(),
            _ => self.utility(),
        }
    }

    fn query_statement(&mut self, with: Option<With>) -> Result<Statement, SqlError> {
        let (mut query, into) = self.query_into()?;
        if let Some(with) = with {
            if query.with.is_some() {
                return Err(self.syntax_error());
            }
            query.with = Some(with);
        }
        let query = Statement::Query(Box::new(query));
        let Some(into) = into else { return Ok(query) };
        let create = CreateTableAs {
            name: into.name,
            columns: Vec::new(),
            if_not_exists: false,
            temporary: into.temporary,
            on_commit: None,
            options: Vec::new(),
            query,
            with_data: true,
        };
        Ok(Statement::CreateTableAs(Box::new(create)))
    }

    fn with_statement(&mut self) -> Result<Statement, SqlError> {
        self.expect("WITH")?;
        let recursive = self.eat("RECURSIVE");
        let ctes = self.comma_list(|c| c.cte())?;
        let with = Some(With { recursive, ctes });
        match () {
            () if self.is("INSERT") => self.insert(with),
            () if self.is("UPDATE") => self.update(with),
            () if self.is("DELETE") => self.delete(with),
            () if self.is("MERGE") => self.merge_statement(with),
            () => self.query_statement(with),
        }
    }

    fn cte(&mut self) -> Result<Cte, SqlError> {
        let name = self.ident()?;
        let columns = if self.is_token(&Token::LParen) { self.paren_list(|c| c.ident())? } else { Vec::new() };
        self.expect("AS")?;
        let materialized = if self.eat("MATERIALIZED") {
            Some(true)
        } else if self.eat_all(&["NOT", "MATERIALIZED"]) {
            Some(false)
        } else {
            None
        };
        self.expect_token(&Token::LParen)?;
        let body = match () {
            () if self.is("INSERT") => self.insert(None)?,
            () if self.is("UPDATE") => self.update(None)?,
            () if self.is("DELETE") => self.delete(None)?,
            () if self.is("MERGE") => {
                let error = SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "MERGE not supported in WITH query");
                return Err(error.at(name.pos));
            }
            () => Statement::Query(Box::new(self.query()?)),
        };
        self.expect_token(&Token::RParen)?;
        if self.is("SEARCH") || self.is("CYCLE") {
            return Err(SqlError::unsupported("SEARCH and CYCLE in WITH").at(self.pos()));
        }
        Ok(Cte { name, columns, materialized, body })
    }

    /// A statement that can be planned: what EXPLAIN, PREPARE and COPY may contain.
    fn optimizable(&mut self) -> Result<Statement, SqlError> {
        let words = ["SELECT", "VALUES", "TABLE", "WITH", "INSERT", "UPDATE", "DELETE", "MERGE"];
        if self.is_token(&Token::LParen) || words.iter().any(|w| self.is(w)) { self.statement() } else { Err(self.syntax_error()) }
    }

    fn prepare(&mut self) -> Result<Statement, SqlError> {
        self.expect("PREPARE")?;
        let name = self.name()?;
        let types = if self.is_token(&Token::LParen) { self.paren_list(|c| c.type_name())? } else { Vec::new() };
        self.expect("AS")?;
        let statement = self.optimizable()?;
        let max_param = std::mem::take(&mut self.max_param);
        Ok(Statement::Prepare(Box::new(Prepare { name, types, statement, max_param })))
    }

    fn explain(&mut self) -> Result<Statement, SqlError> {
        self.expect("EXPLAIN")?;
        let mut explain = Explain {
            analyze: false,
            verbose: false,
            costs: true,
            timing: None,
            summary: None,
            buffers: false,
            settings: false,
            wal: false,
            format: ExplainFormat::Text,
            statement: Statement::Checkpoint,
        };
        let options = self.is_token(&Token::LParen)
            && !["SELECT", "VALUES", "WITH", "TABLE"].iter().any(|w| self.is_nth(1, w))
            && self.peek(1).token != Token::LParen;
        if options {
            self.advance();
            loop {
                self.explain_option(&mut explain)?;
                if !self.eat_token(&Token::Comma) {
                    break;
                }
            }
            self.expect_token(&Token::RParen)?;
        } else {
            explain.analyze = self.eat("ANALYZE");
            explain.verbose = self.eat("VERBOSE");
        }
        explain.statement = match () {
            () if self.is("EXECUTE") => self.utility()?,
            () if self.is("CREATE") || self.is("DECLARE") => self.statement()?,
            () => self.optimizable()?,
        };
        Ok(Statement::Explain(Box::new(explain)))
    }

    fn explain_option(&mut self, explain: &mut Explain) -> Result<(), SqlError> {
        let pos = self.pos();
        let name = self.any_word()?;
        if name == "format" {
            let format = self.any_word()?;
            explain.format = match format.as_str() {
                "text" => ExplainFormat::Text,
                "json" => ExplainFormat::Json,
                "yaml" | "xml" => return Err(SqlError::unsupported(format!("EXPLAIN (FORMAT {format})"))),
                other => {
                    let message = format!("unrecognized value for EXPLAIN option \"format\": \"{other}\"");
                    return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message).at(pos));
                }
            };
            return Ok(());
        }
        let on = self.optional_boolean()?;
        match name.as_str() {
            "analyze" => explain.analyze = on,
            "verbose" => explain.verbose = on,
            "costs" => explain.costs = on,
            "timing" => explain.timing = Some(on),
            "summary" => explain.summary = Some(on),
            "buffers" => explain.buffers = on,
            "settings" => explain.settings = on,
            "wal" => explain.wal = on,
            other => return Err(SqlError::new(SqlState::SYNTAX_ERROR, format!("unrecognized EXPLAIN option \"{other}\"")).at(pos)),
        }
        Ok(())
    }

    fn create(&mut self) -> Result<Statement, SqlError> {
        self.expect("CREATE")?;
        let or_replace = self.eat_all(&["OR", "REPLACE"]);
        let local = self.eat("LOCAL") || self.eat("GLOBAL");
        let temporary = self.eat("TEMPORARY") || self.eat("TEMP");
        let unlogged = !temporary && self.eat("UNLOGGED");
        if local && !temporary {
            return Err(self.syntax_error());
        }
        match () {
            () if self.eat("TABLE") => self.create_table(temporary, unlogged),
            () if self.eat("VIEW") => self.create_view(or_replace, temporary),
            () if self.eat("SEQUENCE") => self.create_sequence(temporary),
            () if self.is("UNIQUE") || self.is("INDEX") => self.create_index(),
            () if self.eat("SCHEMA") => self.create_schema(),
            () if self.eat("TYPE") => self.create_type(),
            () if self.eat("DATABASE") => self.create_database(),
            () if self.eat("DOMAIN") => self.create_domain(),
            () if self.eat("FUNCTION") => self.create_function(RoutineKind::Function, or_replace),
            () if self.eat("PROCEDURE") => self.create_function(RoutineKind::Procedure, or_replace),
            () => {
                let rest: Vec<String> = (0..2)
                    .filter_map(|n| match &self.peek(n).token {
                        Token::Word(w) if w.quote_style.is_none() => Some(w.value.to_ascii_uppercase()),
                        _ => None,
                    })
                    .collect();
                let known = [
                    "TRIGGER",
                    "TYPE",
                    "EXTENSION",
                    "ROLE",
                    "USER",
                    "GROUP",
                    "MATERIALIZED",
                    "AGGREGATE",
                    "OPERATOR",
                    "CAST",
                    "COLLATION",
                    "CONVERSION",
                    "EVENT",
                    "FOREIGN",
                    "LANGUAGE",
                    "POLICY",
                    "PUBLICATION",
                    "RULE",
                    "SERVER",
                    "STATISTICS",
                    "SUBSCRIPTION",
                    "TABLESPACE",
                    "TEXT",
                    "TRANSFORM",
                    "ACCESS",
                    "CONSTRAINT",
                    "RECURSIVE",
                ];
                match rest.first() {
                    Some(first) if known.contains(&first.as_str()) => {
                        let two =
                            ["MATERIALIZED", "EVENT", "FOREIGN", "TEXT", "ACCESS", "CONSTRAINT", "RECURSIVE"].contains(&first.as_str());
                        let name = if two { rest.join(" ") } else { first.clone() };
                        Err(SqlError::unsupported(format!("CREATE {name}")))
                    }
                    _ => Err(self.syntax_error()),
                }
            }
        }
    }

    /// What stands behind AS; `head` is what stood before it.
    pub(super) fn create_table_as(&mut self, head: CreateTable, columns: Vec<crate::ast::Ident>) -> Result<Statement, SqlError> {
        if self.is("EXECUTE") {
            return Err(SqlError::unsupported("CREATE TABLE AS EXECUTE"));
        }
        let query = self.optimizable()?;
        if !matches!(query, Statement::Query(_)) {
            return Err(self.syntax_error());
        }
        let with_data = !self.eat_all(&["WITH", "NO", "DATA"]);
        if with_data {
            self.eat_all(&["WITH", "DATA"]);
        }
        let CreateTable { name, if_not_exists, temporary, on_commit, options, .. } = head;
        let create = CreateTableAs { name, columns, if_not_exists, temporary, on_commit, options, query, with_data };
        Ok(Statement::CreateTableAs(Box::new(create)))
    }

    pub(super) fn if_not_exists(&mut self) -> bool {
        self.eat_all(&["IF", "NOT", "EXISTS"])
    }

    fn create_schema(&mut self) -> Result<Statement, SqlError> {
        let if_not_exists = self.if_not_exists();
        let mut name = if self.is("AUTHORIZATION") { None } else { Some(self.name()?) };
        let owner = if self.eat("AUTHORIZATION") { Some(self.name()?) } else { None };
        if name.is_none() {
            name = owner.clone();
        }
        if self.is("CREATE") || self.is("GRANT") {
            return Err(SqlError::unsupported("CREATE SCHEMA with elements"));
        }
        let name = name.ok_or_else(|| self.syntax_error())?;
        Ok(Statement::CreateSchema(CreateSchema { name, if_not_exists, owner }))
    }

    fn object_kind(&mut self) -> Result<ObjectKind, SqlError> {
        let kinds: [(&[&str], ObjectKind); 14] = [
            (&["TABLE"], ObjectKind::Table),
            (&["INDEX"], ObjectKind::Index),
            (&["VIEW"], ObjectKind::View),
            (&["MATERIALIZED", "VIEW"], ObjectKind::MaterializedView),
            (&["SEQUENCE"], ObjectKind::Sequence),
            (&["SCHEMA"], ObjectKind::Schema),
            (&["DATABASE"], ObjectKind::Database),
            (&["COLUMN"], ObjectKind::Column),
            (&["CONSTRAINT"], ObjectKind::Constraint),
            (&["TYPE"], ObjectKind::Type),
            (&["DOMAIN"], ObjectKind::Domain),
            (&["FUNCTION"], ObjectKind::Function),
            (&["ROLE"], ObjectKind::Role),
            (&["EXTENSION"], ObjectKind::Extension),
        ];
        kinds.iter().find(|(words, _)| self.eat_all(words)).map(|(_, kind)| *kind).ok_or_else(|| self.syntax_error())
    }

    fn drop_statement(&mut self) -> Result<Statement, SqlError> {
        self.expect("DROP")?;
        for refused in
            ["OWNED", "USER", "TRIGGER", "POLICY", "RULE", "AGGREGATE", "OPERATOR", "CAST", "PUBLICATION", "SUBSCRIPTION", "TABLESPACE"]
        {
            if self.is(refused) {
                return Err(SqlError::unsupported(format!("DROP {refused}")));
            }
        }
        if let Some(kind) = self.routine_kind() {
            return self.drop_function(kind);
        }
        if self.eat("DATABASE") {
            return self.drop_database();
        }
        let kind = self.object_kind()?;
        if matches!(kind, ObjectKind::Column | ObjectKind::Constraint) {
            return Err(self.syntax_error());
        }
        let concurrently = kind == ObjectKind::Index && self.eat("CONCURRENTLY");
        let if_exists = self.eat_all(&["IF", "EXISTS"]);
        let names = self.comma_list(|c| c.object_name())?;
        let cascade = self.drop_behavior();
        Ok(Statement::Drop(Drop { kind, names, if_exists, cascade, concurrently }))
    }

    /// CASCADE (true) or RESTRICT or nothing (false).
    pub(super) fn drop_behavior(&mut self) -> bool {
        if self.eat("CASCADE") {
            return true;
        }
        self.eat("RESTRICT");
        false
    }

    /// `TYPE name AS ENUM (...)`, the only kind of type that can be made.
    fn create_type(&mut self) -> Result<Statement, SqlError> {
        let name = self.object_name()?;
        if !self.eat_all(&["AS", "ENUM"]) {
            return Err(SqlError::unsupported("CREATE TYPE of another kind than ENUM"));
        }
        self.expect_token(&Token::LParen)?;
        let labels = if self.is_token(&Token::RParen) { Vec::new() } else { self.comma_list(|c| c.string())? };
        self.expect_token(&Token::RParen)?;
        Ok(Statement::CreateEnum { name, labels })
    }

    fn comment(&mut self) -> Result<Statement, SqlError> {
        self.expect_all(&["COMMENT", "ON"])?;
        if let Some(routine) = self.routine_kind() {
            let signature = self.function_signature()?;
            self.expect("IS")?;
            let text = if self.eat("NULL") { None } else { Some(self.string()?) };
            let (name, signature) = (signature.name.clone(), Some((routine, signature)));
            return Ok(Statement::Comment(Comment { kind: ObjectKind::Function, name, part: None, signature, text }));
        }
        let kind = self.object_kind()?;
        let (name, part) = match kind {
            ObjectKind::Column => {
                let mut parts = self.dotted()?;
                let column = parts.pop().map(|p| p.value);
                if parts.is_empty() {
                    return Err(SqlError::new(SqlState::SYNTAX_ERROR, "column name must be qualified").at(self.pos()));
                }
                (super::cursor::object_name(parts)?, column)
            }
            ObjectKind::Constraint => {
                let constraint = self.name()?;
                self.expect("ON")?;
                if self.eat("DOMAIN") {
                    return Err(SqlError::unsupported("COMMENT ON CONSTRAINT ... ON DOMAIN"));
                }
                (self.object_name()?, Some(constraint))
            }
            _ => (self.object_name()?, None),
        };
        self.expect("IS")?;
        let text = if self.eat("NULL") { None } else { Some(self.string()?) };
        Ok(Statement::Comment(Comment { kind, name, part, signature: None, text }))
    }

    fn grant(&mut self) -> Result<Statement, SqlError> {
        let revoke = self.is("REVOKE");
        self.advance();
        if revoke {
            self.eat_all(&["GRANT", "OPTION", "FOR"]);
        }
        let mut privileges = Vec::new();
        loop {
            let privilege = self.any_word()?;
            if privilege == "all" {
                self.eat("PRIVILEGES");
            }
            if self.is_token(&Token::LParen) {
                return Err(SqlError::unsupported("column privileges"));
            }
            privileges.push(privilege);
            if !self.eat_token(&Token::Comma) {
                break;
            }
        }
        let (mut objects, mut routines) = (None, None);
        if self.eat("ON") {
            match self.routine_kind() {
                Some(kind) => routines = Some((kind, self.comma_list(|c| c.function_signature())?)),
                None => objects = Some(self.grant_objects()?),
            }
        }
        self.expect(if revoke { "FROM" } else { "TO" })?;
        let grantees = self.comma_list(|c| {
            c.eat("GROUP");
            c.any_word()
        })?;
        let with_grant_option = self.eat_all(&["WITH", "GRANT", "OPTION"]);
        self.drop_behavior();
        Ok(Statement::Grant(Grant { revoke, privileges, objects, routines, grantees, with_grant_option }))
    }

    fn grant_objects(&mut self) -> Result<(ObjectKind, Vec<ObjectName>), SqlError> {
        if self.is("ALL") || self.is("LANGUAGE") || self.is("FOREIGN") {
            return Err(SqlError::unsupported("GRANT on that kind of object"));
        }
        let named = ["TABLE", "SEQUENCE", "SCHEMA", "DATABASE", "TYPE", "DOMAIN"].iter().any(|w| self.is(w));
        let kind = if named { self.object_kind()? } else { ObjectKind::Table };
        Ok((kind, self.comma_list(|c| c.object_name())?))
    }

    /// `COPY (query) TO`.
    pub(super) fn copy_query(&mut self) -> Result<CopySource, SqlError> {
        self.expect_token(&Token::LParen)?;
        let statement = self.optimizable()?;
        self.expect_token(&Token::RParen)?;
        Ok(CopySource::Query(Box::new(statement)))
    }

    pub(super) fn finish_copy(&self, copy: Copy) -> Result<Statement, SqlError> {
        if copy.from && matches!(copy.source, CopySource::Query(_)) {
            return Err(self.syntax_error());
        }
        Ok(Statement::Copy(Box::new(copy)))
    }
}
