//! Transactions, settings, cursors, notifications, maintenance.

use super::cursor::Cursor;
use crate::ast::{
    DeclareCursor, DiscardTarget, Execute, Fetch, FetchDirection, IsolationLevel, LockTable, MaintenanceTarget, ReindexKind, SetVariable,
    Statement, TableLockMode, TransactionModes, Vacuum,
};
use crate::error::{SqlError, SqlState};
use sqlparser::tokenizer::Token;

impl Cursor<'_> {
    pub(super) fn utility(&mut self) -> Result<Statement, SqlError> {
        match () {
            () if self.eat("BEGIN") => {
                self.transaction_word();
                Ok(Statement::Begin(self.transaction_modes()?))
            }
            () if self.eat_all(&["START", "TRANSACTION"]) => Ok(Statement::StartTransaction(self.transaction_modes()?)),
            () if self.eat("COMMIT") || self.eat("END") => {
                self.transaction_word();
                Ok(Statement::Commit { chain: self.chain()? })
            }
            () if self.eat("ROLLBACK") || self.eat("ABORT") => self.rollback(),
            () if self.eat("SAVEPOINT") => Ok(Statement::Savepoint(self.name()?)),
            () if self.eat("RELEASE") => {
                self.eat("SAVEPOINT");
                Ok(Statement::ReleaseSavepoint(self.name()?))
            }
            () if self.eat("SET") => self.set(),
            () if self.eat("RESET") => self.reset(),
            () if self.eat("SHOW") => self.show(),
            () if self.eat("EXECUTE") => {
                let name = self.name()?;
                let args = if self.is_token(&Token::LParen) { self.paren_list(|c| c.expr())? } else { Vec::new() };
                Ok(Statement::Execute(Execute { name, args }))
            }
            () if self.eat("DEALLOCATE") => {
                self.eat("PREPARE");
                Ok(Statement::Deallocate(if self.eat("ALL") { None } else { Some(self.name()?) }))
            }
            () if self.eat("DISCARD") => self.discard(),
            () if self.eat("ANALYZE") || self.eat("ANALYSE") => self.analyze(),
            () if self.eat("VACUUM") => self.vacuum(),
            () if self.eat("REINDEX") => self.reindex(),
            () if self.eat("CHECKPOINT") => Ok(Statement::Checkpoint),
            () if self.eat("DECLARE") => self.declare(),
            () if self.is("FETCH") || self.is("MOVE") => self.fetch(),
            () if self.eat("CLOSE") => Ok(Statement::CloseCursor(if self.eat("ALL") { None } else { Some(self.name()?) })),
            () if self.eat("LISTEN") => Ok(Statement::Listen(self.name()?)),
            () if self.eat("NOTIFY") => {
                let channel = self.name()?;
                let payload = if self.eat_token(&Token::Comma) { Some(self.string()?) } else { None };
                Ok(Statement::Notify { channel, payload })
            }
            () if self.eat("UNLISTEN") => Ok(Statement::Unlisten(if self.eat_token(&Token::Mul) { None } else { Some(self.name()?) })),
            () if self.eat("LOCK") => self.lock_table(),
            () => Err(self.syntax_error()),
        }
    }

    fn transaction_word(&mut self) {
        if !self.eat("WORK") {
            self.eat("TRANSACTION");
        }
    }

    fn chain(&mut self) -> Result<bool, SqlError> {
        if !self.eat("AND") {
            return Ok(false);
        }
        let no = self.eat("NO");
        self.expect("CHAIN")?;
        Ok(!no)
    }

    fn rollback(&mut self) -> Result<Statement, SqlError> {
        self.transaction_word();
        if self.eat("TO") {
            self.eat("SAVEPOINT");
            return Ok(Statement::RollbackToSavepoint(self.name()?));
        }
        Ok(Statement::Rollback { chain: self.chain()? })
    }

    fn transaction_modes(&mut self) -> Result<TransactionModes, SqlError> {
        let mut modes = TransactionModes::default();
        while !self.at_end() {
            match () {
                () if self.eat_all(&["ISOLATION", "LEVEL"]) => modes.isolation = Some(self.isolation_level()?),
                () if self.eat_all(&["READ", "ONLY"]) => modes.read_only = Some(true),
                () if self.eat_all(&["READ", "WRITE"]) => modes.read_only = Some(false),
                () if self.eat("DEFERRABLE") => modes.deferrable = Some(true),
                () if self.eat_all(&["NOT", "DEFERRABLE"]) => modes.deferrable = Some(false),
                () => return Err(self.syntax_error()),
            }
            if self.eat_token(&Token::Comma) && self.at_end() {
                return Err(self.syntax_error());
            }
        }
        Ok(modes)
    }

    fn isolation_level(&mut self) -> Result<IsolationLevel, SqlError> {
        match () {
            () if self.eat_all(&["READ", "UNCOMMITTED"]) => Ok(IsolationLevel::ReadUncommitted),
            () if self.eat_all(&["READ", "COMMITTED"]) => Ok(IsolationLevel::ReadCommitted),
            () if self.eat_all(&["REPEATABLE", "READ"]) => Ok(IsolationLevel::RepeatableRead),
            () if self.eat("SERIALIZABLE") => Ok(IsolationLevel::Serializable),
            () => Err(self.syntax_error()),
        }
    }

    fn set(&mut self) -> Result<Statement, SqlError> {
        if self.eat("CONSTRAINTS") {
            let names = if self.eat("ALL") { None } else { Some(self.comma_list(|c| c.object_name())?) };
            let deferred = self.eat("DEFERRED");
            if !deferred {
                self.expect("IMMEDIATE")?;
            }
            return Ok(Statement::SetConstraints { names, deferred });
        }
        if self.eat_all(&["SESSION", "CHARACTERISTICS", "AS", "TRANSACTION"]) {
            return Ok(Statement::SetTransaction { modes: self.transaction_modes()?, session: true });
        }
        if self.is("TRANSACTION") && self.is_nth(1, "SNAPSHOT") {
            return Err(SqlError::unsupported("SET TRANSACTION SNAPSHOT"));
        }
        if self.eat("TRANSACTION") {
            return Ok(Statement::SetTransaction { modes: self.transaction_modes()?, session: false });
        }
        let local = self.eat("LOCAL");
        if !local && self.is("SESSION") && !self.is_nth(1, "AUTHORIZATION") {
            self.advance();
        }
        let (name, value) = self.variable_assignment()?;
        Ok(Statement::Set(SetVariable { local, name, value }))
    }

    pub(super) fn variable_assignment(&mut self) -> Result<(String, Option<Vec<String>>), SqlError> {
        if self.eat_all(&["TIME", "ZONE"]) {
            if self.eat("LOCAL") || self.eat("DEFAULT") {
                return Ok(("timezone".into(), None));
            }
            if self.eat("INTERVAL") {
                let value = self.string()?;
                while !self.at_end() {
                    self.any_word()?;
                }
                return Ok(("timezone".into(), Some(vec![value])));
            }
            return Ok(("timezone".into(), Some(vec![self.setting_value()?])));
        }
        if self.eat("NAMES") {
            let value = if self.at_end() || self.eat("DEFAULT") { None } else { Some(vec![self.string()?]) };
            return Ok(("client_encoding".into(), value));
        }
        if self.eat("ROLE") {
            let value =
                if self.is_token(&Token::Eq) || self.is("TO") { return self.assigned("role".into()) } else { self.setting_value()? };
            return Ok(("role".into(), Some(vec![value])));
        }
        if self.eat_all(&["SESSION", "AUTHORIZATION"]) {
            let value = if self.eat("DEFAULT") { None } else { Some(vec![self.setting_value()?]) };
            return Ok(("session_authorization".into(), value));
        }
        if self.is("SCHEMA") && matches!(self.peek(1).token, Token::SingleQuotedString(_)) {
            self.advance();
            return Ok(("search_path".into(), Some(vec![self.string()?])));
        }
        let name = self.variable_name()?;
        self.assigned(name)
    }

    fn assigned(&mut self, name: String) -> Result<(String, Option<Vec<String>>), SqlError> {
        if !self.eat_token(&Token::Eq) {
            self.expect("TO")?;
        }
        if self.eat("DEFAULT") {
            return Ok((name, None));
        }
        Ok((name, Some(self.comma_list(|c| c.setting_value())?)))
    }

    /// `a`, `a.b`
    pub(super) fn variable_name(&mut self) -> Result<String, SqlError> {
        let mut name = self.any_word()?;
        while self.eat_token(&Token::Period) {
            name = format!("{name}.{}", self.any_word()?);
        }
        Ok(name.to_ascii_lowercase())
    }

    fn setting_value(&mut self) -> Result<String, SqlError> {
        match &self.peek(0).token {
            Token::Word(_) => self.any_word(),
            Token::Number(..) | Token::Minus | Token::Plus => {
                let negative = self.eat_token(&Token::Minus);
                self.eat_token(&Token::Plus);
                let Token::Number(digits, _) = &self.peek(0).token else { return Err(self.syntax_error()) };
                let value = if negative { format!("-{digits}") } else { digits.clone() };
                self.advance();
                Ok(value)
            }
            _ => self.string(),
        }
    }

    pub(super) fn reset(&mut self) -> Result<Statement, SqlError> {
        match () {
            () if self.eat("ALL") => Ok(Statement::Reset(None)),
            () if self.eat_all(&["TIME", "ZONE"]) => Ok(Statement::Reset(Some("timezone".into()))),
            () if self.eat_all(&["SESSION", "AUTHORIZATION"]) => Ok(Statement::Reset(Some("session_authorization".into()))),
            () if self.eat_all(&["TRANSACTION", "ISOLATION", "LEVEL"]) => Ok(Statement::Reset(Some("transaction_isolation".into()))),
            () => Ok(Statement::Reset(Some(self.variable_name()?))),
        }
    }

    fn show(&mut self) -> Result<Statement, SqlError> {
        match () {
            () if self.eat_all(&["RANGES", "FROM", "TABLE"]) => Ok(Statement::ShowRanges { table: self.object_name()? }),
            () if self.eat("ALL") => Ok(Statement::Show(None)),
            () if self.eat_all(&["TIME", "ZONE"]) => Ok(Statement::Show(Some("timezone".into()))),
            () if self.eat_all(&["TRANSACTION", "ISOLATION", "LEVEL"]) => Ok(Statement::Show(Some("transaction_isolation".into()))),
            () if self.eat_all(&["SESSION", "AUTHORIZATION"]) => Ok(Statement::Show(Some("session_authorization".into()))),
            () => Ok(Statement::Show(Some(self.variable_name()?))),
        }
    }

    fn discard(&mut self) -> Result<Statement, SqlError> {
        let target = match self.any_word()?.as_str() {
            "all" => DiscardTarget::All,
            "plans" => DiscardTarget::Plans,
            "sequences" => DiscardTarget::Sequences,
            "temp" | "temporary" => DiscardTarget::Temporary,
            _ => {
                self.parser.prev_token();
                return Err(self.syntax_error());
            }
        };
        Ok(Statement::Discard(target))
    }

    fn maintenance_targets(&mut self) -> Result<Vec<MaintenanceTarget>, SqlError> {
        if self.at_end() {
            return Ok(Vec::new());
        }
        self.comma_list(|c| {
            let table = c.object_name()?;
            let columns = if c.is_token(&Token::LParen) { c.paren_list(|c| c.ident())? } else { Vec::new() };
            Ok(MaintenanceTarget { table, columns })
        })
    }

    fn analyze(&mut self) -> Result<Statement, SqlError> {
        let mut verbose = self.eat("VERBOSE");
        if self.eat_token(&Token::LParen) {
            self.comma_list(|c| {
                let pos = c.pos();
                let name = c.any_word()?;
                let on = c.optional_boolean()?;
                match name.as_str() {
                    "verbose" => verbose = on,
                    "skip_locked" => {}
                    other => return Err(SqlError::new(SqlState::SYNTAX_ERROR, format!("unrecognized ANALYZE option \"{other}\"")).at(pos)),
                }
                Ok(())
            })?;
            self.expect_token(&Token::RParen)?;
        }
        Ok(Statement::Analyze { targets: self.maintenance_targets()?, verbose })
    }

    fn vacuum(&mut self) -> Result<Statement, SqlError> {
        let mut vacuum = Vacuum { targets: Vec::new(), full: false, freeze: false, verbose: false, analyze: false };
        if self.eat_token(&Token::LParen) {
            self.comma_list(|c| c.vacuum_option(&mut vacuum))?;
            self.expect_token(&Token::RParen)?;
        } else {
            vacuum.full = self.eat("FULL");
            vacuum.freeze = self.eat("FREEZE");
            vacuum.verbose = self.eat("VERBOSE");
            vacuum.analyze = self.eat("ANALYZE") || self.eat("ANALYSE");
        }
        vacuum.targets = self.maintenance_targets()?;
        Ok(Statement::Vacuum(vacuum))
    }

    fn vacuum_option(&mut self, vacuum: &mut Vacuum) -> Result<(), SqlError> {
        let pos = self.pos();
        let name = self.any_word()?;
        // Options that steer PostgreSQL's own machinery have nothing to steer here.
        if ["parallel", "index_cleanup", "truncate", "process_toast", "disable_page_skipping", "skip_locked"].contains(&name.as_str()) {
            if matches!(self.peek(0).token, Token::Word(_) | Token::Number(..)) {
                self.advance();
            }
            return Ok(());
        }
        let on = self.optional_boolean()?;
        match name.as_str() {
            "full" => vacuum.full = on,
            "freeze" => vacuum.freeze = on,
            "verbose" => vacuum.verbose = on,
            "analyze" | "analyse" => vacuum.analyze = on,
            other => return Err(SqlError::new(SqlState::SYNTAX_ERROR, format!("unrecognized VACUUM option \"{other}\"")).at(pos)),
        }
        Ok(())
    }

    fn reindex(&mut self) -> Result<Statement, SqlError> {
        if self.eat_token(&Token::LParen) {
            self.comma_list(|c| {
                c.any_word()?;
                c.optional_boolean()
            })?;
            self.expect_token(&Token::RParen)?;
        }
        let kind = match self.any_word()?.as_str() {
            "index" => ReindexKind::Index,
            "table" => ReindexKind::Table,
            "schema" => ReindexKind::Schema,
            "database" => ReindexKind::Database,
            "system" => ReindexKind::System,
            _ => {
                self.parser.prev_token();
                return Err(self.syntax_error());
            }
        };
        self.eat("CONCURRENTLY");
        let name = if self.at_end() { None } else { Some(self.object_name()?) };
        Ok(Statement::Reindex { name, kind })
    }

    fn declare(&mut self) -> Result<Statement, SqlError> {
        let name = self.name()?;
        let (mut binary, mut scroll, mut insensitive) = (false, None, false);
        loop {
            match () {
                () if self.eat("BINARY") => binary = true,
                () if self.eat("INSENSITIVE") => insensitive = true,
                () if self.eat("ASENSITIVE") => {}
                () if self.eat("SCROLL") => scroll = Some(true),
                () if self.eat_all(&["NO", "SCROLL"]) => scroll = Some(false),
                () => break,
            }
        }
        self.expect("CURSOR")?;
        let hold = self.eat_all(&["WITH", "HOLD"]);
        if !hold {
            self.eat_all(&["WITHOUT", "HOLD"]);
        }
        self.expect("FOR")?;
        let query = self.query()?;
        Ok(Statement::DeclareCursor(Box::new(DeclareCursor { name, binary, scroll, insensitive, hold, query })))
    }

    fn fetch(&mut self) -> Result<Statement, SqlError> {
        let is_move = self.is("MOVE");
        self.advance();
        let direction = self.fetch_direction()?;
        if !self.eat("FROM") {
            self.eat("IN");
        }
        Ok(Statement::Fetch(Fetch { cursor: self.name()?, direction, is_move }))
    }

    fn fetch_direction(&mut self) -> Result<FetchDirection, SqlError> {
        // A cursor may be called like a direction: then it is the last word.
        if self.peek(1).token == Token::EOF {
            return Ok(FetchDirection::Forward(1));
        }
        Ok(match () {
            () if self.eat("NEXT") => FetchDirection::Forward(1),
            () if self.eat("PRIOR") => FetchDirection::Backward(1),
            () if self.eat("FIRST") => FetchDirection::Absolute(1),
            () if self.eat("LAST") => FetchDirection::Absolute(-1),
            () if self.eat("ABSOLUTE") => FetchDirection::Absolute(self.integer()?),
            () if self.eat("RELATIVE") => FetchDirection::Relative(self.integer()?),
            () if self.eat("ALL") => FetchDirection::ForwardAll,
            () if self.eat("FORWARD") => match self.fetch_count()? {
                None => FetchDirection::ForwardAll,
                Some(n) => FetchDirection::Forward(n),
            },
            () if self.eat("BACKWARD") => match self.fetch_count()? {
                None => FetchDirection::BackwardAll,
                Some(n) => FetchDirection::Backward(n),
            },
            () if matches!(self.peek(0).token, Token::Number(..) | Token::Minus | Token::Plus) => FetchDirection::Forward(self.integer()?),
            () => FetchDirection::Forward(1),
        })
    }

    /// None is ALL; nothing is 1.
    fn fetch_count(&mut self) -> Result<Option<i64>, SqlError> {
        if self.eat("ALL") {
            return Ok(None);
        }
        if matches!(self.peek(0).token, Token::Number(..) | Token::Minus | Token::Plus) { self.integer().map(Some) } else { Ok(Some(1)) }
    }

    fn lock_table(&mut self) -> Result<Statement, SqlError> {
        self.eat("TABLE");
        let tables = self.comma_list(|c| {
            c.eat("ONLY");
            c.object_name()
        })?;
        let mut mode = TableLockMode::AccessExclusive;
        if self.eat("IN") {
            mode = match () {
                () if self.eat_all(&["ACCESS", "SHARE"]) => TableLockMode::AccessShare,
                () if self.eat_all(&["ACCESS", "EXCLUSIVE"]) => TableLockMode::AccessExclusive,
                () if self.eat_all(&["ROW", "SHARE"]) => TableLockMode::RowShare,
                () if self.eat_all(&["ROW", "EXCLUSIVE"]) => TableLockMode::RowExclusive,
                () if self.eat_all(&["SHARE", "UPDATE", "EXCLUSIVE"]) => TableLockMode::ShareUpdateExclusive,
                () if self.eat_all(&["SHARE", "ROW", "EXCLUSIVE"]) => TableLockMode::ShareRowExclusive,
                () if self.eat("SHARE") => TableLockMode::Share,
                () if self.eat("EXCLUSIVE") => TableLockMode::Exclusive,
                () => return Err(self.syntax_error()),
            };
            self.expect("MODE")?;
        }
        let nowait = self.eat("NOWAIT");
        Ok(Statement::LockTable(LockTable { tables, mode, nowait }))
    }
}
