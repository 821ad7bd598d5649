//! A whole database in one process, with the smallest session that can run scripts: parse, plan, execute, transactions.

use std::fmt::Write as _;
use std::sync::Arc;
use tidelock_base::{SessionId, Timestamp};
use tidelock_kvapi::Isolation;
use tidelock_kvclient::{ClientMetrics, Db, DistSender, Savepoint, Txn, TxnOptions};
use tidelock_kvserver::{KvSettings, Store};
use tidelock_sql::ast::Statement;
use tidelock_sql::catalog::store::{CatalogAt, DescriptorCache, FIRST_DATABASE};
use tidelock_sql::catalog::{Catalog, CatalogBuilder};
use tidelock_sql::error::{SqlError, SqlState};
use tidelock_sql::exec::{
    CancelFlag, ExecContext, Flow, FunctionPlans, NoVirtualTables, Notice, SequenceMemory, TxnState, after_commit, copy, ddl, execute,
    kv_error, run_deferred,
};
use tidelock_sql::expr::{ObjectKind, SessionInfo, clock_time};
use tidelock_sql::locks::{LockManager, SessionLocks};
use tidelock_sql::parse::parse;
use tidelock_sql::plan::{PlanSettings, plan_statement};
use tidelock_sql::types::{Datum, FormatSettings, TextContext, text};
use tidelock_storage::{Options, Storage};

/// Times a statement outside of a transaction block is run again.
const RETRIES: usize = 20;

/// The store and the catalog, shared by sessions.
pub(crate) struct Database {
    _folder: tempfile::TempDir,
    _store: Arc<Store>,
    pub(crate) db: Db,
    cache: DescriptorCache,
    locks: Arc<LockManager>,
}

impl Database {
    pub(crate) fn open() -> Arc<Database> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let storage = Storage::open(Options::for_tests(folder.path())).expect("storage opens");
        let store = Store::open(storage, Arc::new(KvSettings::default())).expect("store opens");
        let sender = Arc::new(DistSender::new(store.sender(), Arc::new(ClientMetrics::default())));
        store.start(Arc::clone(&sender) as Arc<dyn tidelock_kvapi::Sender>);
        let db = Db::new(sender);
        Arc::new(Database {
            _folder: folder,
            _store: store,
            db,
            cache: DescriptorCache::new(CatalogBuilder::new("postgres")),
            locks: LockManager::new(None),
        })
    }

    pub(crate) fn session(self: &Arc<Database>, number: u32, isolation: Isolation) -> Session {
        Session {
            database: Arc::clone(self),
            number,
            isolation,
            txn: None,
            block: false,
            failed: false,
            state: TxnState::default(),
            savepoints: Vec::new(),
            sequences: Arc::new(SequenceMemory::default()),
            functions: FunctionPlans::default(),
            cancel: Arc::new(CancelFlag::default()),
            locks: self.locks.session(number as i32, FIRST_DATABASE),
            plan_settings: PlanSettings::default(),
            at_least: Timestamp::ZERO,
            copy_data: Vec::new(),
            work_mem: 64 << 20,
            spill_dir: env!("CARGO_TARGET_TMPDIR").into(),
        }
    }
}

/// A session.
pub(crate) struct Session {
    database: Arc<Database>,
    number: u32,
    isolation: Isolation,
    txn: Option<Txn>,
    block: bool,
    failed: bool,
    state: TxnState,
    savepoints: Vec<(String, Savepoint, TxnState)>,
    functions: FunctionPlans,
    sequences: Arc<SequenceMemory>,
    pub(crate) cancel: Arc<CancelFlag>,
    locks: Arc<SessionLocks>,
    pub(crate) plan_settings: PlanSettings,
    at_least: Timestamp,
    /// What COPY FROM STDIN reads.
    pub(crate) copy_data: Vec<u8>,
    /// Bytes that a sort or an aggregate keeps in memory.
    pub(crate) work_mem: usize,
    /// Where the rest goes.
    pub(crate) spill_dir: std::path::PathBuf,
}

#[derive(Debug)]
struct Info {
    catalog: Arc<Catalog>,
    sequences: Arc<SequenceMemory>,
}

impl SessionInfo for Info {
    fn object_oid(&self, kind: ObjectKind, name: &str) -> Option<u32> {
        let path = ["public".to_owned()];
        let (schema, name) = name.split_once('.').map_or((None, name), |(s, n)| (Some(s), n));
        (kind == ObjectKind::Relation).then(|| self.catalog.resolve(schema, name, &path).map(|r| r.descriptor().oid)).flatten()
    }
    fn object_name(&self, _: ObjectKind, oid: u32) -> Option<String> {
        self.catalog.table(oid).map(|t| t.name.clone())
    }
    fn currval(&self, sequence: u32) -> Result<i64, SqlError> {
        self.sequences.currval(sequence, &self.object_name(ObjectKind::Relation, sequence).unwrap_or_default())
    }
    fn lastval(&self) -> Result<i64, SqlError> {
        self.sequences.lastval()
    }
}

impl Session {
    /// Runs a query string; what a client would see, as text.
    pub(crate) async fn run(&mut self, sql: &str) -> String {
        let mut out = String::new();
        match self.try_run(sql, &mut out).await {
            Ok(()) => {}
            Err(error) => {
                out.push_str(&shown(&error));
                if self.block {
                    self.failed = true;
                } else {
                    self.end(false).await.ok();
                }
            }
        }
        out.trim_end().to_owned()
    }

    async fn try_run(&mut self, sql: &str, out: &mut String) -> Result<(), SqlError> {
        for parsed in parse(sql)? {
            self.statement(&parsed.statement, out).await?;
        }
        Ok(())
    }

    async fn statement(&mut self, statement: &Statement, out: &mut String) -> Result<(), SqlError> {
        match statement {
            Statement::Begin(_) | Statement::StartTransaction(_) => {
                self.block = true;
                return Ok(());
            }
            Statement::Commit { .. } => {
                let failed = std::mem::take(&mut self.failed);
                self.block = false;
                return self.end(!failed).await;
            }
            Statement::Rollback { .. } => {
                (self.block, self.failed) = (false, false);
                return self.end(false).await;
            }
            Statement::RollbackToSavepoint(name) => {
                let at = self.savepoints.iter().rposition(|(n, _, _)| n == name).expect("the savepoint exists");
                self.savepoints.truncate(at + 1);
                let (_, savepoint, state) = self.savepoints[at].clone();
                self.state = state;
                self.failed = false;
                if let Some(txn) = &mut self.txn {
                    txn.rollback_to(&savepoint).await.map_err(|e| kv_error(e, &Catalog::default()))?;
                }
                return Ok(());
            }
            _ if self.failed => {
                let message = "current transaction is aborted, commands ignored until end of transaction block";
                return Err(SqlError::new(SqlState::IN_FAILED_SQL_TRANSACTION, message));
            }
            Statement::Savepoint(name) => {
                self.begin();
                if let Some(txn) = &mut self.txn {
                    self.savepoints.push((name.clone(), txn.savepoint(), self.state.clone()));
                }
                return Ok(());
            }
            Statement::ReleaseSavepoint(_) | Statement::Set(_) => return Ok(()),
            _ => {}
        }
        for attempt in 0.. {
            let before = out.len();
            self.begin();
            let result = match self.in_txn(statement, out).await {
                Ok(()) if !self.block => self.end(true).await,
                result => result,
            };
            match result {
                Err(error) if error.fields().retryable && !self.block && attempt < RETRIES => {
                    out.truncate(before);
                    self.end(false).await?;
                }
                result => return result,
            }
        }
        Ok(())
    }

    fn begin(&mut self) {
        if self.txn.is_none() {
            let options =
                TxnOptions { isolation: self.isolation, session: SessionId(self.number), at_least: self.at_least, ..TxnOptions::default() };
            self.txn = Some(self.database.db.begin(options));
        }
    }

    async fn end(&mut self, commit: bool) -> Result<(), SqlError> {
        self.savepoints.clear();
        let Some(mut txn) = self.txn.take() else { return Ok(()) };
        let mut state = std::mem::take(&mut self.state);
        let map = |e| kv_error(e, &Catalog::default());
        if !commit {
            return txn.rollback().await.map_err(map);
        }
        if !state.deferred.is_empty() {
            let CatalogAt { catalog, ts } = self.catalog(&mut txn, &state).await?;
            let result = self.with_context(&mut txn, &mut state, catalog, ts).await;
            if let Err(error) = result {
                txn.rollback().await.map_err(map)?;
                return Err(error);
            }
        }
        let ts = txn.commit(false).await.map_err(map)?;
        self.at_least = self.at_least.max(ts);
        after_commit(&self.database.db, &mut state).await.map_err(map)
    }

    async fn with_context(&self, txn: &mut Txn, state: &mut TxnState, catalog: Arc<Catalog>, ts: Timestamp) -> Result<(), SqlError> {
        let info = Info { catalog: Arc::clone(&catalog), sequences: Arc::clone(&self.sequences) };
        let settings = FormatSettings::default();
        let mut notices = Vec::new();
        let mut ctx = ExecContext {
            txn,
            db: &self.database.db,
            catalog,
            catalog_ts: ts,
            plan_settings: &self.plan_settings,
            settings: &settings,
            session: &info,
            sequences: &self.sequences,
            transaction_time: clock_time(),
            statement_time: clock_time(),
            cancel: &self.cancel,
            locks: &self.locks,
            virtual_tables: &NoVirtualTables,
            work_mem: self.work_mem,
            spill_dir: &self.spill_dir,
            state,
            notices: &mut notices,
            functions: &self.functions,
            call_depth: 0,
        };
        run_deferred(&mut ctx).await
    }

    async fn catalog(&self, txn: &mut Txn, state: &TxnState) -> Result<CatalogAt, SqlError> {
        match &state.catalog {
            Some(catalog) => Ok(CatalogAt { catalog: Arc::clone(catalog), ts: Timestamp::MAX }),
            None => self.database.cache.current(txn).await,
        }
    }

    async fn in_txn(&mut self, statement: &Statement, out: &mut String) -> Result<(), SqlError> {
        let mut txn = self.txn.take().expect("a transaction was begun");
        let mut state = std::mem::take(&mut self.state);
        let result = self.in_context(statement, &mut txn, &mut state, out).await;
        (self.txn, self.state) = (Some(txn), state);
        result
    }

    async fn in_context(&self, statement: &Statement, txn: &mut Txn, state: &mut TxnState, out: &mut String) -> Result<(), SqlError> {
        txn.step();
        let CatalogAt { catalog, ts } = self.catalog(txn, state).await?;
        let info = Info { catalog: Arc::clone(&catalog), sequences: Arc::clone(&self.sequences) };
        let settings = FormatSettings::default();
        let mut notices: Vec<Notice> = Vec::new();
        let mut ctx = ExecContext {
            txn,
            db: &self.database.db,
            catalog,
            catalog_ts: ts,
            plan_settings: &self.plan_settings,
            settings: &settings,
            session: &info,
            sequences: &self.sequences,
            transaction_time: clock_time(),
            statement_time: clock_time(),
            cancel: &self.cancel,
            locks: &self.locks,
            virtual_tables: &NoVirtualTables,
            work_mem: self.work_mem,
            spill_dir: &self.spill_dir,
            state,
            notices: &mut notices,
            functions: &self.functions,
            call_depth: 0,
        };
        match statement {
            Statement::Query(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) | Statement::Call(_) => {
                let plan = Arc::new(plan_statement(statement, &ctx.catalog, ctx.plan_settings, &[])?);
                let types: Vec<_> = plan.output.iter().map(|c| c.ty.ty).collect();
                let text_context = TextContext { settings: &settings, now: clock_time(), session: &info };
                let mut rows = String::new();
                let mut sink = |row: &[Datum]| {
                    let line: Vec<String> = row
                        .iter()
                        .zip(&types)
                        .map(|(v, ty)| if v.is_null() { "NULL".to_owned() } else { text::to_string(v, *ty, &text_context) })
                        .collect();
                    writeln!(rows, "{}", line.join("|")).expect("writing to a string");
                    Ok(Flow::Continue)
                };
                let affected = execute(&plan, Vec::new(), &mut ctx, &mut sink).await?;
                out.push_str(&rows);
                if !plan.returns_rows {
                    writeln!(out, "({} rows)", affected.rows).expect("writing to a string");
                }
            }
            Statement::Copy(statement) if statement.from => {
                // Portions of three bytes: every border falls everywhere once.
                let mut copy = copy::CopyIn::begin(statement, &mut ctx)?;
                for portion in self.copy_data.chunks(3) {
                    copy.push(portion, &mut ctx).await?;
                }
                let affected = copy.finish(&mut ctx).await?;
                writeln!(out, "{}", affected.command_tag()).expect("writing to a string");
            }
            Statement::Copy(statement) => {
                let (copy, plan) = copy::CopyOut::begin(statement, &ctx)?;
                let text_context = TextContext { settings: &settings, now: clock_time(), session: &info };
                let mut bytes = Vec::new();
                copy.header(&mut bytes);
                let mut sink = |row: &[Datum]| copy.row(row, &text_context, &mut bytes).map(|()| Flow::Continue);
                execute(&plan, Vec::new(), &mut ctx, &mut sink).await?;
                copy.trailer(&mut bytes);
                match std::str::from_utf8(&bytes).ok().filter(|_| !copy.is_binary()) {
                    Some(text) => out.push_str(text),
                    None => bytes.iter().for_each(|b| write!(out, "{b:02x}").expect("writing to a string")),
                }
            }
            other => {
                ddl::run_ddl(other, &mut ctx).await?;
            }
        }
        Ok(())
    }
}

fn shown(error: &SqlError) -> String {
    let fields = error.fields();
    let mut shown = format!("{} {}", fields.state.0, fields.message);
    if let Some(detail) = &fields.detail {
        write!(shown, "\nDETAIL: {detail}").expect("writing to a string");
    }
    if let Some(context) = &fields.context {
        write!(shown, "\nCONTEXT: {context}").expect("writing to a string");
    }
    shown
}
