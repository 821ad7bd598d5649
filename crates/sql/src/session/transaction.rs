//! The transaction block of a session.
//!
//! ```text
//!            statement                BEGIN                    error
//!   None ─────────────► Implicit ─────────────► Explicit ─────────────► Failed
//!    ▲                     │ end of message        │ COMMIT, ROLLBACK      │ COMMIT and ROLLBACK both roll back
//!    └─────────────────────┴───────────────────────┴───────────────────────┘ ROLLBACK TO SAVEPOINT: back to Explicit
//! ```
//!
//! A block that failed has given up its locks already, down to its innermost savepoint, as in PostgreSQL. At REPEATABLE READ
//! and SERIALIZABLE the catalog is that of the transaction's first statement (an index that is younger than the snapshot has
//! no entries for it); at READ COMMITTED it is each statement's.

use super::Session;
use super::notify::PendingMark;
use super::settings::SessionSettings;
use crate::ast::{IsolationLevel, TransactionModes};
use crate::catalog::Catalog;
use crate::catalog::store::CatalogAt;
use crate::error::{SqlError, SqlState};
use crate::exec::{self, Notice, TxnState};
use crate::expr::clock_time;
use std::sync::Arc;
use tidelock_base::{SessionId, Timestamp};
use tidelock_kvapi::Isolation;
use tidelock_kvclient::{Savepoint, Txn, TxnOptions};

/// Savepoints of one transaction; each keeps a copy of the settings and of what is pending.
const MAX_SAVEPOINTS: usize = 10_000;

/// Where a session stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Block {
    /// Outside of any transaction.
    #[default]
    None,
    /// In the transaction that a message forms by itself.
    Implicit,
    /// Between BEGIN and COMMIT.
    Explicit,
    /// After an error between BEGIN and COMMIT.
    Failed,
}

/// A session's transaction.
#[derive(Default)]
pub(super) struct Transaction {
    pub(super) block: Block,
    pub(super) txn: Option<Txn>,
    pub(super) state: TxnState,
    /// Statements run since BEGIN.
    pub(super) statements: u32,
    /// When it began.
    pub(super) started: i64,
    /// The catalog of its first statement, unless READ COMMITTED.
    pinned: Option<Arc<CatalogAt>>,
    savepoints: Vec<NamedSavepoint>,
    /// The settings before the transaction changed one.
    settings_before: Option<Arc<SessionSettings>>,
    /// What `SET LOCAL` must give back at the end.
    local_before: Option<Arc<SessionSettings>>,
    modes: Modes,
    /// The newest commit of this session.
    pub(super) last_commit: Timestamp,
}

#[derive(Clone, Copy, Default)]
struct Modes {
    isolation: Isolation,
    read_only: bool,
}

struct NamedSavepoint {
    name: String,
    /// Table and advisory locks taken later are given back by a rollback to it.
    locks: u32,
    notifications: PendingMark,
    kv: Option<Savepoint>,
    state: TxnState,
    settings: Arc<SessionSettings>,
}

impl Transaction {
    /// The catalog it keeps to, unless READ COMMITTED.
    pub(super) fn pinned_catalog(&self) -> Option<Arc<Catalog>> {
        self.pinned.as_ref().map(|pinned| Arc::clone(&pinned.catalog))
    }

    /// The next statement takes the newest catalog.
    pub(super) fn unpin_catalog(&mut self) {
        self.pinned = None;
    }

    /// Before its first statement a transaction may still move to the newest catalog.
    pub(super) fn unpin_if_new(&mut self) {
        if self.statements == 0 {
            self.pinned = None;
        }
    }
}

impl Session {
    /// The status byte of ReadyForQuery.
    pub fn status(&self) -> Block {
        self.transaction.block
    }

    /// A statement begins: opens the implicit transaction if there is none, refuses in a failed block.
    pub(super) fn open_transaction(&mut self) -> Result<(), SqlError> {
        match self.transaction.block {
            Block::Failed => Err(failed_block()),
            Block::None => {
                self.begin(Block::Implicit, TransactionModes::default());
                Ok(())
            }
            Block::Implicit | Block::Explicit => Ok(()),
        }
    }

    /// BEGIN.
    pub(super) fn begin_block(&mut self, modes: TransactionModes) -> Result<(), SqlError> {
        match self.transaction.block {
            Block::Failed => return Err(failed_block()),
            Block::Explicit => self.warn(SqlState::ACTIVE_SQL_TRANSACTION, "there is already a transaction in progress"),
            Block::Implicit if self.transaction.statements > 0 => self.transaction.block = Block::Explicit,
            Block::None | Block::Implicit => self.begin(Block::Explicit, TransactionModes::default()),
        }
        self.set_modes(modes)
    }

    fn begin(&mut self, block: Block, modes: TransactionModes) {
        let settings = self.settings();
        let modes = Modes {
            isolation: modes.isolation.map_or(settings.default_isolation, isolation_of),
            read_only: modes.read_only.unwrap_or(settings.default_read_only),
        };
        let last_commit = self.transaction.last_commit;
        self.transaction = Transaction { block, modes, last_commit, started: clock_time(), ..Transaction::default() };
        self.publish_modes();
        self.open_txn();
    }

    /// A fresh key-value transaction, also for a retry.
    fn open_txn(&mut self) {
        let transaction = &self.transaction;
        let options = TxnOptions {
            isolation: transaction.modes.isolation,
            session: SessionId(self.handle.pid as u32),
            at_least: transaction.last_commit,
            lock_timeout: self.settings().lock_timeout,
            read_only: transaction.modes.read_only,
        };
        let txn = self.cluster.db.begin(options);
        self.transaction.txn = Some(txn);
        self.transaction.state = TxnState::default();
        self.transaction.pinned = None;
        self.view.set_transaction_id(self.transaction.txn.as_ref().map_or(0, |txn| txn.id().0));
    }

    /// BEGIN's modes and SET TRANSACTION.
    pub(super) fn set_modes(&mut self, modes: TransactionModes) -> Result<(), SqlError> {
        let transaction = &mut self.transaction;
        if let Some(level) = modes.isolation {
            let isolation = isolation_of(level);
            if transaction.statements > 0 && isolation != transaction.modes.isolation {
                let message = "SET TRANSACTION ISOLATION LEVEL must be called before any query";
                return Err(SqlError::new(SqlState::ACTIVE_SQL_TRANSACTION, message));
            }
            transaction.modes.isolation = isolation;
        }
        if let Some(read_only) = modes.read_only {
            if transaction.statements > 0 && transaction.modes.read_only && !read_only {
                let message = "transaction read-write mode must be set before any query";
                return Err(SqlError::new(SqlState::ACTIVE_SQL_TRANSACTION, message));
            }
            transaction.modes.read_only = read_only;
        }
        let chosen = transaction.modes;
        if let Some(txn) = &mut transaction.txn {
            txn.set_isolation(chosen.isolation);
            txn.set_read_only(chosen.read_only);
        }
        self.publish_modes();
        Ok(())
    }

    /// `SHOW transaction_isolation` and its like show the block's modes.
    fn publish_modes(&mut self) {
        let Modes { isolation, read_only } = self.transaction.modes;
        self.view.set_transaction_modes(isolation, read_only);
    }

    /// Is the transaction read-only?
    pub(super) fn is_read_only(&self) -> bool {
        self.transaction.modes.read_only
    }

    /// The catalog for the next statement: the transaction's own after DDL, else the pinned or the newest one.
    pub(super) fn current_catalog(&mut self) -> (Arc<Catalog>, Timestamp) {
        let loaded = match &self.transaction.pinned {
            Some(pinned) => Arc::clone(pinned),
            None => self.database.catalog.load_full(),
        };
        if self.transaction.block != Block::None
            && self.transaction.modes.isolation != Isolation::ReadCommitted
            && self.transaction.pinned.is_none()
        {
            self.transaction.pinned = Some(Arc::clone(&loaded));
        }
        let catalog = match &self.transaction.state.catalog {
            Some(own) => Arc::clone(own),
            None => self.with_temporary(&loaded),
        };
        (catalog, loaded.ts)
    }

    /// COMMIT: the tag says what really happened.
    pub(super) async fn commit_block(&mut self, chain: bool) -> Result<&'static str, SqlError> {
        let modes = self.chained_modes();
        let tag = match self.transaction.block {
            Block::Failed => {
                self.rollback().await;
                "ROLLBACK"
            }
            Block::Explicit => {
                self.commit().await?;
                "COMMIT"
            }
            Block::None | Block::Implicit => {
                if chain {
                    return Err(SqlError::new(
                        SqlState::NO_ACTIVE_SQL_TRANSACTION,
                        "COMMIT AND CHAIN can only be used in transaction blocks",
                    ));
                }
                self.warn(SqlState::NO_ACTIVE_SQL_TRANSACTION, "there is no transaction in progress");
                self.commit().await?;
                "COMMIT"
            }
        };
        if chain {
            self.begin(Block::Explicit, modes);
        }
        Ok(tag)
    }

    /// ROLLBACK.
    pub(super) async fn rollback_block(&mut self, chain: bool) -> Result<(), SqlError> {
        let modes = self.chained_modes();
        if matches!(self.transaction.block, Block::None | Block::Implicit) {
            if chain {
                return Err(SqlError::new(
                    SqlState::NO_ACTIVE_SQL_TRANSACTION,
                    "ROLLBACK AND CHAIN can only be used in transaction blocks",
                ));
            }
            self.warn(SqlState::NO_ACTIVE_SQL_TRANSACTION, "there is no transaction in progress");
        }
        self.rollback().await;
        if chain {
            self.begin(Block::Explicit, modes);
        }
        Ok(())
    }

    fn chained_modes(&self) -> TransactionModes {
        let level = match self.transaction.modes.isolation {
            Isolation::ReadCommitted => IsolationLevel::ReadCommitted,
            Isolation::RepeatableRead => IsolationLevel::RepeatableRead,
            Isolation::Serializable => IsolationLevel::Serializable,
        };
        TransactionModes { isolation: Some(level), read_only: Some(self.transaction.modes.read_only), deferrable: None }
    }

    /// Commits whatever transaction is open; on failure it is rolled back.
    pub(super) async fn commit(&mut self) -> Result<(), SqlError> {
        if self.transaction.block == Block::None {
            return Ok(());
        }
        match self.try_commit().await {
            Ok(()) => {
                self.send_notifications();
                self.end_transaction(true);
                Ok(())
            }
            Err(error) => {
                self.rollback().await;
                Err(error)
            }
        }
    }

    async fn try_commit(&mut self) -> Result<(), SqlError> {
        if self.transaction.txn.is_some() {
            let scope = self.scope();
            let mut ctx = self.context(&scope)?;
            exec::run_deferred(&mut ctx).await?;
            self.temporary_before_commit().await?;
        }
        self.check_notifications()?;
        let lazy = self.settings().lazy_commit;
        let Some(mut txn) = self.transaction.txn.take() else { return Ok(()) };
        let committed = txn.commit(lazy).await;
        let (catalog, _) = self.current_catalog();
        let ts = committed.map_err(|error| exec::kv_error(error, &catalog))?;
        self.transaction.last_commit = self.transaction.last_commit.max(ts);
        let mut state = std::mem::take(&mut self.transaction.state);
        self.temporary_committed(state.temporary.take());
        if state.catalog.is_some() {
            self.database.reload_catalog(&self.cluster.db).await?;
        }
        if state.shared.is_some() {
            self.view.set_shared(None);
            self.cluster.reload().await?;
        }
        if let Err(error) = exec::after_commit(&self.cluster.db, &mut state).await {
            tracing::warn!(%error, "the data of a dropped index could not be given up");
        }
        Ok(())
    }

    /// Rolls back whatever transaction is open.
    pub(super) async fn rollback(&mut self) {
        if let Some(mut txn) = self.transaction.txn.take()
            && let Err(error) = txn.rollback().await
        {
            tracing::warn!(%error, "a rollback failed; its locks are settled by whoever meets them");
        }
        self.end_transaction(false);
    }

    fn end_transaction(&mut self, committed: bool) {
        let before = if committed { self.transaction.local_before.take() } else { self.transaction.settings_before.take() };
        if let Some(settings) = before {
            self.restore_settings(settings);
        }
        self.locks.release_after(0);
        self.view.pending.lock().clear();
        if self.transaction.state.shared.is_some() {
            self.view.set_shared(None);
        }
        let last_commit = self.transaction.last_commit;
        self.transaction = Transaction { last_commit, ..Transaction::default() };
        self.close_transaction_portals(committed);
        let settings = self.settings();
        self.view.set_transaction_modes(settings.default_isolation, settings.default_read_only);
        self.view.set_transaction_id(0);
    }

    /// A statement failed. An explicit block stays, failed; what it did since its innermost savepoint is undone at once.
    pub(super) async fn statement_failed(&mut self) {
        match self.transaction.block {
            Block::None | Block::Failed => {}
            Block::Implicit => self.rollback().await,
            Block::Explicit => {
                self.transaction.block = Block::Failed;
                let innermost = self.transaction.savepoints.last();
                let mark = innermost.map_or(0, |savepoint| savepoint.locks);
                let innermost = innermost.and_then(|savepoint| savepoint.kv.clone());
                match (innermost, &mut self.transaction.txn) {
                    (Some(savepoint), Some(txn)) => {
                        if txn.rollback_to(&savepoint).await.is_err() {
                            self.transaction.txn = None;
                        }
                    }
                    _ => {
                        if let Some(mut txn) = self.transaction.txn.take()
                            && let Err(error) = txn.rollback().await
                        {
                            tracing::warn!(%error, "a rollback failed");
                        }
                    }
                }
                self.locks.release_after(mark);
            }
        }
    }

    /// Starts the transaction over for a retry: nothing of it was seen by the client.
    pub(super) async fn restart_transaction(&mut self) {
        if let Some(mut txn) = self.transaction.txn.take()
            && let Err(error) = txn.rollback().await
        {
            tracing::warn!(%error, "a rollback failed");
        }
        if self.transaction.block == Block::Implicit {
            // The statement takes its table locks again, after those that kept it from them.
            self.locks.release_after(0);
        }
        self.view.pending.lock().clear();
        self.open_txn();
    }

    /// SAVEPOINT.
    pub(super) fn savepoint(&mut self, name: &str) -> Result<(), SqlError> {
        self.require_block("SAVEPOINT")?;
        if self.transaction.savepoints.len() >= MAX_SAVEPOINTS {
            return Err(SqlError::new(
                SqlState::CONFIGURATION_LIMIT_EXCEEDED,
                format!("more than {MAX_SAVEPOINTS} savepoints in one transaction"),
            ));
        }
        let settings = self.settings();
        let transaction = &mut self.transaction;
        if let Some(txn) = transaction.txn.as_mut() {
            // Rows that are loaded in bulk go with their index only, so not by a rollback to here.
            txn.end_ingest(|_| true);
        }
        let kv = transaction.txn.as_mut().map(Txn::savepoint);
        let locks = self.locks.mark();
        let notifications = self.view.pending.lock().mark();
        transaction.savepoints.push(NamedSavepoint {
            name: name.to_string(),
            locks,
            notifications,
            kv,
            state: transaction.state.clone(),
            settings,
        });
        Ok(())
    }

    /// RELEASE SAVEPOINT.
    pub(super) fn release_savepoint(&mut self, name: &str) -> Result<(), SqlError> {
        self.require_block("RELEASE SAVEPOINT")?;
        let at = self.find_savepoint(name)?;
        self.transaction.savepoints.truncate(at);
        Ok(())
    }

    /// ROLLBACK TO SAVEPOINT, in a failed block too.
    pub(super) async fn rollback_to_savepoint(&mut self, name: &str) -> Result<(), SqlError> {
        if !matches!(self.transaction.block, Block::Explicit | Block::Failed) {
            self.require_block("ROLLBACK TO SAVEPOINT")?;
        }
        let at = self.find_savepoint(name)?;
        self.transaction.savepoints.truncate(at + 1);
        let savepoint = &self.transaction.savepoints[at];
        self.locks.release_after(savepoint.locks);
        self.view.pending.lock().rollback_to(savepoint.notifications);
        let (kv, settings) = (savepoint.kv.clone(), savepoint.settings.clone());
        if self.transaction.state.shared.is_some() {
            self.view.set_shared(savepoint.state.shared.clone());
        }
        self.transaction.state = savepoint.state.clone();
        if self.transaction.settings_before.is_some() {
            self.restore_settings(settings);
        }
        let (catalog, _) = self.current_catalog();
        match (&mut self.transaction.txn, kv) {
            (Some(txn), Some(kv)) => txn.rollback_to(&kv).await.map_err(|error| exec::kv_error(error, &catalog))?,
            _ => {
                return Err(SqlError::new(
                    SqlState::SERIALIZATION_FAILURE,
                    "the transaction was aborted and cannot go on from a savepoint",
                ));
            }
        }
        self.transaction.block = Block::Explicit;
        Ok(())
    }

    fn find_savepoint(&self, name: &str) -> Result<usize, SqlError> {
        self.transaction
            .savepoints
            .iter()
            .rposition(|savepoint| savepoint.name == name)
            .ok_or_else(|| SqlError::new(SqlState::INVALID_SAVEPOINT_SPECIFICATION, format!("savepoint \"{name}\" does not exist")))
    }

    pub(super) fn require_block(&self, statement: &str) -> Result<(), SqlError> {
        match self.transaction.block {
            Block::Explicit => Ok(()),
            Block::Failed => Err(failed_block()),
            Block::None | Block::Implicit => {
                Err(SqlError::new(SqlState::NO_ACTIVE_SQL_TRANSACTION, format!("{statement} can only be used in transaction blocks")))
            }
        }
    }

    /// A setting is about to change: remembers what a rollback, or the end of SET LOCAL, gives back.
    pub(super) fn remember_settings(&mut self, local: bool) {
        if self.transaction.block == Block::None {
            return;
        }
        let current = self.settings();
        self.transaction.settings_before.get_or_insert_with(|| Arc::clone(&current));
        if local {
            self.transaction.local_before.get_or_insert(current);
        }
    }

    /// After a plain SET, SET LOCAL's end gives that value back rather than the one before it.
    pub(super) fn also_set_before_local(&mut self, name: &str, value: Option<&str>) -> Result<(), SqlError> {
        match &mut self.transaction.local_before {
            Some(before) => Arc::make_mut(before).set(name, value).map(drop),
            None => Ok(()),
        }
    }

    pub(super) fn warn(&mut self, state: SqlState, message: &'static str) {
        self.notices.push(Notice::warning(state, message));
    }
}

/// 25P02.
pub(super) fn failed_block() -> SqlError {
    SqlError::new(SqlState::IN_FAILED_SQL_TRANSACTION, "current transaction is aborted, commands ignored until end of transaction block")
}

pub(super) fn isolation_of(level: IsolationLevel) -> Isolation {
    match level {
        IsolationLevel::ReadUncommitted | IsolationLevel::ReadCommitted => Isolation::ReadCommitted,
        IsolationLevel::RepeatableRead => Isolation::RepeatableRead,
        IsolationLevel::Serializable => Isolation::Serializable,
    }
}
