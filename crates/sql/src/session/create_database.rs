//! CREATE DATABASE, DROP DATABASE and ALTER DATABASE ... RENAME: what concerns the sessions in a database as well as its descriptor.
//!
//! They stand outside of transactions, as in PostgreSQL. Each makes one of its own: it locks the list of databases, looks whether what it was told is
//! possible, writes, commits; then the server reads the list anew. A database is closed to newcomers from the moment that nobody is seen in it until that
//! is done. Whoever drops a database that somebody is in waits a few seconds for him to leave: clients are often just about to.
//!
//! A new database is empty, so nothing is copied: a template that is not, is refused.

use super::cluster::Closed;
use super::settings::{self, SessionSettings};
use super::statement::with_timeout;
use super::{Block, Cluster, Session, SessionHandle};
use crate::ast::{AlterDatabase, AlterDatabaseAction, CreateDatabase, DatabaseOption, DropDatabase, SettingChange, Statement};
use crate::catalog::shared::{self, SharedChange};
use crate::catalog::{Catalog, DatabaseDescriptor, Oid, SharedCatalog, store};
use crate::error::{SqlError, SqlState};
use crate::exec::ddl::no_such_database;
use crate::exec::{Notice, kv_error};
use crate::expr::{ObjectKind, SessionInfo};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tidelock_base::{IndexId, SessionId};
use tidelock_kvapi::Isolation;
use tidelock_kvclient::{Txn, TxnOptions, Write};

/// Databases of one server: each keeps its catalog in memory.
const MAX_DATABASES: usize = 10_000;

/// How long DROP and RENAME wait for others to leave, as PostgreSQL does, and how often they look.
const LEAVE_WAIT: Duration = Duration::from_secs(5);
const LEAVE_POLL: Duration = Duration::from_millis(10);

/// Names of locales that mean the order of bytes, which is the only one there is.
const LOCALES: [&str; 4] = ["C", "POSIX", "C.UTF-8", "C.utf8"];

/// Encodings that PostgreSQL knows, besides UTF8, in letters and digits.
const OTHER_ENCODINGS: [&str; 24] = [
    "sqlascii", "latin1", "latin2", "latin3", "latin4", "latin5", "latin6", "latin7", "latin8", "latin9", "latin10", "win1250", "win1251",
    "win1252", "win1253", "win1254", "win1255", "win1256", "win1257", "win1258", "koi8r", "koi8u", "eucjp", "euckr",
];

/// What becomes of the list of databases.
enum DatabaseChange<'s> {
    Create { request: Request, oid: Oid },
    Drop { oid: Oid, name: &'s str },
    Rename { oid: Oid, from: &'s str, to: &'s str },
}

/// What a change is to write: in the list of databases, and elsewhere.
struct Written {
    changes: Vec<SharedChange>,
    writes: Vec<Write>,
}

impl Session {
    /// CREATE DATABASE.
    pub(super) async fn create_database(&mut self, create: &CreateDatabase) -> Result<(), SqlError> {
        self.outside_of_block("CREATE DATABASE")?;
        let request = Request::read(create, self)?;
        let (db, catalog) = (self.cluster.db.clone(), self.view.catalog());
        let oid = store::new_oid(&db).await.map_err(|error| kv_error(error, &catalog))?;
        self.change_databases(&DatabaseChange::Create { request, oid }).await
    }

    /// DROP DATABASE.
    pub(super) async fn drop_database(&mut self, drop: &DropDatabase) -> Result<(), SqlError> {
        self.outside_of_block("DROP DATABASE")?;
        let cluster = Arc::clone(&self.cluster);
        let (handle, timeout) = (Arc::clone(&self.handle), self.settings().statement_timeout);
        let Some(closed) = interruptible(&handle, timeout, close(&cluster, &handle, drop)).await? else {
            let message = format!("database \"{}\" does not exist, skipping", drop.name);
            self.notices.push(Notice::notice(message));
            return Ok(());
        };
        let oid = closed.database();
        let indexes = cluster.database(oid).map(|database| database.index_ids()).unwrap_or_default();
        self.change_databases(&DatabaseChange::Drop { oid, name: &drop.name }).await?;
        for index in indexes.into_iter().filter_map(|id| u32::try_from(id).ok()) {
            if let Err(error) = cluster.db.drop_index(IndexId(index)).await {
                tracing::warn!(%error, index, "the data of a dropped database could not be given up");
            }
        }
        Ok(())
    }

    /// ALTER DATABASE: RENAME here, everything else as a definition.
    pub(super) async fn alter_database(&mut self, alter: &AlterDatabase) -> Result<(), SqlError> {
        let action = match &alter.action {
            AlterDatabaseAction::RenameTo(name) => return self.rename_database(&alter.name, name).await,
            AlterDatabaseAction::Setting(change) => AlterDatabaseAction::Setting(self.checked_setting(change)?),
            AlterDatabaseAction::Tablespace(name) => {
                self.outside_of_block("ALTER DATABASE SET TABLESPACE")?;
                self.cluster.shared.load().database_named(&alter.name).ok_or_else(|| no_such_database(&alter.name))?;
                return check_tablespace(name);
            }
            action => action.clone(),
        };
        let statement = Statement::AlterDatabase(AlterDatabase { name: alter.name.clone(), action });
        self.definition(&statement).await.map(drop)
    }

    async fn rename_database(&mut self, from: &str, to: &str) -> Result<(), SqlError> {
        self.outside_of_block("ALTER DATABASE ... RENAME")?;
        let cluster = Arc::clone(&self.cluster);
        let oid = cluster.shared.load().database_named(from).map(|database| database.oid).ok_or_else(|| no_such_database(from))?;
        if cluster.shared.load().database_named(to).is_some() {
            return Err(duplicate(to));
        }
        if oid == self.handle.database.oid {
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "current database cannot be renamed"));
        }
        let (handle, timeout) = (Arc::clone(&self.handle), self.settings().statement_timeout);
        let _closed = interruptible(&handle, timeout, close_patiently(&cluster, from, oid, false)).await?;
        self.change_databases(&DatabaseChange::Rename { oid, from, to }).await
    }

    /// What new sessions shall begin with must be something that SET would take.
    pub(super) fn checked_setting(&self, change: &SettingChange) -> Result<SettingChange, SqlError> {
        let unknown = |name: &str| super::view::SessionView::undefined_setting(name);
        let proper = |name: &str| settings::find(name).map_or_else(|| name.to_ascii_lowercase(), |setting| setting.name.to_owned());
        match change {
            SettingChange::ResetAll => Ok(SettingChange::ResetAll),
            SettingChange::FromCurrent(name) => {
                let value = self.view.show(name).ok_or_else(|| unknown(name))?;
                Ok(SettingChange::Set { name: proper(name), values: Some(vec![value]) })
            }
            SettingChange::Set { name, values: None } => Ok(SettingChange::Set { name: proper(name), values: None }),
            SettingChange::Set { name, values: Some(values) } => {
                if self.cluster.hooks.server_setting(name).is_some() || name == super::view::POINT_GETS.0 {
                    let message = format!("parameter \"{name}\" cannot be set for a database: it is the server's");
                    return Err(SqlError::new(SqlState::CANT_CHANGE_RUNTIME_PARAM, message));
                }
                let value = super::setting_values::one_value(name, values)?;
                SessionSettings::default().set(name, Some(&value))?;
                Ok(SettingChange::Set { name: proper(name), values: Some(vec![value]) })
            }
        }
    }

    /// 25001 in a transaction, and 25006 where nothing may be written.
    fn outside_of_block(&self, statement: &str) -> Result<(), SqlError> {
        let alone = match self.transaction.block {
            Block::None => true,
            Block::Implicit => self.transaction.statements == 0,
            Block::Explicit | Block::Failed => false,
        };
        if !alone || self.in_string {
            let message = format!("{statement} cannot run inside a transaction block");
            return Err(SqlError::new(SqlState::ACTIVE_SQL_TRANSACTION, message));
        }
        if self.settings().default_read_only {
            let message = format!("cannot execute {statement} in a read-only transaction");
            return Err(SqlError::new(SqlState::READ_ONLY_SQL_TRANSACTION, message));
        }
        Ok(())
    }

    /// Changes the list of databases in a transaction of its own, again as long as others are in the way.
    async fn change_databases(&mut self, change: &DatabaseChange<'_>) -> Result<(), SqlError> {
        let catalog = self.view.catalog();
        let (handle, timeout) = (Arc::clone(&self.handle), self.settings().statement_timeout);
        for attempt in 0..super::statement::MAX_RETRIES {
            let mut txn = self.cluster.db.begin(TxnOptions {
                isolation: Isolation::Serializable,
                session: SessionId(self.handle.pid as u32),
                at_least: self.transaction.last_commit,
                lock_timeout: self.settings().lock_timeout,
                read_only: false,
            });
            txn.step();
            let changed = interruptible(&handle, timeout, change_once(&mut txn, &catalog, change)).await;
            let committed = match changed {
                Ok(()) => txn.commit(false).await.map_err(|error| kv_error(error, &catalog)),
                Err(error) => {
                    txn.rollback().await.map_err(|error| kv_error(error, &catalog))?;
                    Err(error)
                }
            };
            match committed {
                Ok(ts) => {
                    self.transaction.last_commit = self.transaction.last_commit.max(ts);
                    return self.cluster.reload().await;
                }
                Err(error) if error.fields().retryable => super::simple::back_off(attempt).await,
                Err(error) => return Err(error),
            }
        }
        Err(SqlError::new(SqlState::SERIALIZATION_FAILURE, "could not serialize access to the list of databases"))
    }
}

/// With `statement_timeout`, and until somebody cancels.
async fn interruptible<T>(
    handle: &SessionHandle,
    timeout: Option<Duration>,
    work: impl Future<Output = Result<T, SqlError>>,
) -> Result<T, SqlError> {
    let cancellable = async {
        tokio::select! {
            biased;
            result = work => result,
            reason = handle.cancel.cancelled() => Err(SqlError::from(reason)),
        }
    };
    with_timeout(timeout, handle, cancellable).await
}

async fn change_once(txn: &mut Txn, catalog: &Catalog, change: &DatabaseChange<'_>) -> Result<(), SqlError> {
    let shared = shared::lock(txn, catalog).await?;
    let Written { changes, writes } = change.written(txn, &shared, catalog).await?;
    if !writes.is_empty() {
        txn.write(writes).await.map_err(|error| kv_error(error, catalog))?;
    }
    shared::write(txn, shared, &changes, catalog).await.map(drop)
}

impl DatabaseChange<'_> {
    /// What is to be written, if what is asked for is possible as things are now.
    async fn written(&self, txn: &mut Txn, shared: &SharedCatalog, catalog: &Catalog) -> Result<Written, SqlError> {
        match self {
            DatabaseChange::Create { request, oid } => {
                let database = request.database(*oid, shared)?;
                let template = request.template(shared)?;
                if !store::is_empty(txn, template.oid, catalog).await? {
                    let what = format!("CREATE DATABASE from a template that is not empty (\"{}\")", template.name);
                    return Err(SqlError::unsupported(what));
                }
                Ok(Written { changes: vec![SharedChange::PutDatabase(database)], writes: Vec::new() })
            }
            DatabaseChange::Drop { oid, name } => {
                shared.database(*oid).ok_or_else(|| no_such_database(name))?;
                Ok(Written { changes: vec![SharedChange::DropDatabase(*oid)], writes: store::erase(txn, *oid, catalog).await? })
            }
            DatabaseChange::Rename { oid, from, to } => {
                let mut database = DatabaseDescriptor::clone(shared.database(*oid).ok_or_else(|| no_such_database(from))?);
                if shared.database_named(to).is_some() {
                    return Err(duplicate(to));
                }
                database.name = (*to).to_owned();
                Ok(Written { changes: vec![SharedChange::PutDatabase(database)], writes: Vec::new() })
            }
        }
    }
}

fn duplicate(name: &str) -> SqlError {
    SqlError::new(SqlState::DUPLICATE_DATABASE, format!("database \"{name}\" already exists"))
}

/// Closes the database that is to be dropped; None when there is none, and that is good.
async fn close<'c>(cluster: &'c Cluster, handle: &SessionHandle, drop: &DropDatabase) -> Result<Option<Closed<'c>>, SqlError> {
    let Some(database) = cluster.shared.load().database_named(&drop.name).cloned() else {
        return if drop.if_exists { Ok(None) } else { Err(no_such_database(&drop.name)) };
    };
    if database.is_template {
        return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, "cannot drop a template database"));
    }
    if database.oid == handle.database.oid {
        return Err(SqlError::new(SqlState::OBJECT_IN_USE, "cannot drop the currently open database"));
    }
    close_patiently(cluster, &drop.name, database.oid, drop.force).await.map(Some)
}

/// Waits for all sessions of a database to leave it, and lets no other in. `force` asks them to.
async fn close_patiently<'c>(cluster: &'c Cluster, name: &str, oid: Oid, force: bool) -> Result<Closed<'c>, SqlError> {
    let deadline = Instant::now() + LEAVE_WAIT;
    loop {
        if force {
            cluster.terminate_sessions_of(oid);
        }
        if cluster.shared.load().database(oid).is_none() {
            return Err(no_such_database(name));
        }
        match cluster.close(oid) {
            Ok(closed) => return Ok(closed),
            Err(others) if Instant::now() >= deadline => return Err(in_use(name, others)),
            Err(_) => tokio::time::sleep(LEAVE_POLL).await,
        }
    }
}

fn in_use(name: &str, others: usize) -> SqlError {
    let detail = match others {
        1 => "There is 1 other session using the database.".to_owned(),
        others => format!("There are {others} other sessions using the database."),
    };
    SqlError::new(SqlState::OBJECT_IN_USE, format!("database \"{name}\" is being accessed by other users")).detail(detail)
}

/// CREATE DATABASE, understood.
struct Request {
    /// Without its OID.
    database: DatabaseDescriptor,
    template: String,
}

impl Request {
    fn read(create: &CreateDatabase, session: &Session) -> Result<Request, SqlError> {
        let own = session.view.object_oid(ObjectKind::Role, &super::quoted(&session.handle.user));
        let database = DatabaseDescriptor::new(0, &create.name, own.unwrap_or(crate::catalog::functions::OWNER_OID));
        let mut request = Request { database, template: "template1".to_owned() };
        for (at, option) in create.options.iter().enumerate() {
            if create.options[..at].iter().any(|other| other.name == option.name) {
                return Err(SqlError::new(SqlState::SYNTAX_ERROR, "conflicting or redundant options").at(option.pos));
            }
            request.option(option, session)?;
        }
        Ok(request)
    }

    fn option(&mut self, option: &DatabaseOption, session: &Session) -> Result<(), SqlError> {
        let database = &mut self.database;
        match (option.name.as_str(), &option.value) {
            ("is_template", _) => database.is_template = option.boolean()?,
            ("allow_connections", _) => database.allows_connections = option.boolean()?,
            ("connection_limit", _) => database.connection_limit = option.connection_limit()?,
            (
                "owner" | "template" | "encoding" | "tablespace" | "locale" | "lc_collate" | "lc_ctype" | "locale_provider" | "strategy",
                None,
            ) => {}
            ("owner", Some(owner)) => {
                let missing = || SqlError::new(SqlState::UNDEFINED_OBJECT, format!("role \"{owner}\" does not exist"));
                database.owner = session.view.object_oid(ObjectKind::Role, &super::quoted(owner)).ok_or_else(missing)?;
            }
            ("template", Some(template)) => self.template.clone_from(template),
            ("encoding", Some(encoding)) => check_encoding(encoding, option.pos)?,
            ("tablespace", Some(tablespace)) => check_tablespace(tablespace)?,
            ("locale", Some(locale)) => {
                check_locale("LOCALE", locale)?;
                database.collate.clone_from(locale);
                database.ctype.clone_from(locale);
            }
            ("lc_collate", Some(locale)) => {
                check_locale("LC_COLLATE", locale)?;
                database.collate.clone_from(locale);
            }
            ("lc_ctype", Some(locale)) => {
                check_locale("LC_CTYPE", locale)?;
                database.ctype.clone_from(locale);
            }
            ("locale_provider", Some(provider)) if provider.eq_ignore_ascii_case("libc") => {}
            ("locale_provider", Some(provider)) if provider.eq_ignore_ascii_case("icu") => {
                return Err(SqlError::unsupported("CREATE DATABASE ... LOCALE_PROVIDER icu"));
            }
            ("locale_provider", Some(provider)) => {
                let message = format!("unrecognized locale provider: {provider}");
                return Err(SqlError::new(SqlState::INVALID_OBJECT_DEFINITION, message));
            }
            // The log covers everything.
            ("strategy", Some(strategy)) if strategy.eq_ignore_ascii_case("wal_log") => {}
            ("strategy", Some(strategy)) if strategy.eq_ignore_ascii_case("file_copy") => {
                return Err(SqlError::unsupported("CREATE DATABASE ... STRATEGY file_copy"));
            }
            ("strategy", Some(strategy)) => {
                let message = format!("invalid create database strategy \"{strategy}\"");
                let hint = "Valid strategies are \"wal_log\" and \"file_copy\".";
                return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message).hint(hint));
            }
            ("icu_locale" | "collation_version" | "oid" | "location", _) => {
                return Err(SqlError::unsupported(format!("CREATE DATABASE ... {}", option.name.to_uppercase())).at(option.pos));
            }
            (other, _) => return Err(SqlError::new(SqlState::SYNTAX_ERROR, format!("option \"{other}\" not recognized")).at(option.pos)),
        }
        Ok(())
    }

    /// The new database, if its name is free.
    fn database(&self, oid: Oid, shared: &SharedCatalog) -> Result<DatabaseDescriptor, SqlError> {
        self.template(shared)?;
        if shared.database_named(&self.database.name).is_some() {
            return Err(duplicate(&self.database.name));
        }
        if shared.databases().count() >= MAX_DATABASES {
            let message = format!("more than {MAX_DATABASES} databases");
            return Err(SqlError::new(SqlState::CONFIGURATION_LIMIT_EXCEEDED, message));
        }
        Ok(DatabaseDescriptor { oid, ..self.database.clone() })
    }

    fn template<'s>(&self, shared: &'s SharedCatalog) -> Result<&'s DatabaseDescriptor, SqlError> {
        let missing = || SqlError::new(SqlState::INVALID_CATALOG_NAME, format!("template database \"{}\" does not exist", self.template));
        shared.database_named(&self.template).map(AsRef::as_ref).ok_or_else(missing)
    }
}

fn check_encoding(name: &str, pos: usize) -> Result<(), SqlError> {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    match plain.as_str() {
        "utf8" | "unicode" | "6" => Ok(()),
        other if OTHER_ENCODINGS.contains(&other) => Err(SqlError::unsupported(format!("CREATE DATABASE ... ENCODING {name}"))),
        _ => Err(SqlError::new(SqlState::UNDEFINED_OBJECT, format!("{name} is not a valid encoding name")).at(pos)),
    }
}

fn check_tablespace(name: &str) -> Result<(), SqlError> {
    match name {
        "pg_default" => Ok(()),
        "pg_global" => Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, "pg_global cannot be used as default tablespace")),
        _ => Err(SqlError::new(SqlState::UNDEFINED_OBJECT, format!("tablespace \"{name}\" does not exist"))),
    }
}

fn check_locale(option: &str, locale: &str) -> Result<(), SqlError> {
    if LOCALES.contains(&locale) { Ok(()) } else { Err(SqlError::unsupported(format!("CREATE DATABASE ... {option} '{locale}'"))) }
}
