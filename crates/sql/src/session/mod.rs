//! The session: one client's statements, transaction and settings.
//!
//! | file | what it is |
//! |---|---|
//! | [`client`] | the seam to the wire layer: where results go |
//! | [`cluster`] | what all sessions of a server share: databases, plan cache, activity, cancel keys |
//! | [`database`] | what those of one database share: its catalog |
//! | `create_database` | CREATE and DROP DATABASE, which stand outside of transactions |
//! | [`hooks`] | what is asked of the server around |
//! | [`settings`] | the settings and their values |
//! | `setting_values` | how SET writes them |
//! | [`notify`] | LISTEN, NOTIFY and the mail they bring |
//! | [`plan_cache`] | statements' plans, shared by all sessions |
//! | `table_locks` | locks on relations, taken before a statement; LOCK TABLE |
//! | `definition_locks` | which ones a definition needs |
//! | `temporary` | what the session has defined for itself alone |
//! | `transaction` | the transaction block: implicit, explicit, failed; savepoints |
//! | `simple` | the simple protocol, its implicit transaction and its retries |
//! | `extended` | prepared statements and portals |
//! | `statement` | one statement, whichever protocol it came by |
//! | `utility` | SET, SHOW, PREPARE, EXPLAIN and their like |
//! | `constraint_names` | what SET CONSTRAINTS names |
//! | `cursor` | DECLARE, FETCH, MOVE, CLOSE |
//! | `copy` | COPY in both directions |
//! | `backends` | functions about other sessions: `pg_cancel_backend` and its like |
//! | `view` | what functions may ask of the session |

mod backends;
pub mod client;
pub mod cluster;
mod constraint_names;
mod copy;
mod create_database;
mod cursor;
pub mod database;
mod definition_locks;
mod extended;
pub mod hooks;
pub mod notify;
pub mod plan_cache;
mod setting_values;
pub mod settings;
mod simple;
mod statement;
mod table_locks;
mod temporary;
mod transaction;
mod utility;
mod view;
mod watch;

pub use client::{Client, CopyInput, CopyStart, FLUSH_BYTES, Format, Mark};
pub use cluster::{Activity, Cluster, ConnectOptions, SessionHandle};
pub use database::Database;
pub use extended::{Executed, StatementDescription};
pub use hooks::{HeldLock, LockWait, ServerHooks};
pub use notify::{Mailbox, Notification};
pub use settings::{SERVER_VERSION, SETTINGS, SessionSettings};
/// Named by [`ServerHooks`].
pub use tidelock_kvapi::WaitGraph;
pub use transaction::Block;
pub(crate) use view::quoted;
pub use watch::Watch;

use crate::error::SqlError;
use crate::exec::Notice;
use crate::expr::clock_time;
use crate::locks::SessionLocks;
use crate::plan::PlanSettings;
use cursor::Cursor;
use extended::Portal;
use hashbrown::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use temporary::Temporary;
use transaction::Transaction;
use view::SessionView;

/// One client's session.
pub struct Session {
    cluster: Arc<Cluster>,
    database: Arc<Database>,
    handle: Arc<SessionHandle>,
    view: Arc<SessionView>,
    /// The settings that RESET goes back to.
    defaults: Arc<SessionSettings>,
    transaction: Transaction,
    temporary: Temporary,
    locks: Arc<SessionLocks>,
    /// How long this statement has waited for table locks: counts towards `statement_timeout`.
    lock_wait: std::time::Duration,
    mailbox: Arc<Mailbox>,
    portals: HashMap<String, Portal>,
    cursors: HashMap<String, Cursor>,
    notices: Vec<Notice>,
    /// What the client was last told of the reported settings.
    told: Vec<(&'static str, String)>,
    /// The one execution of an implicit transaction of the extended protocol, while it can still be run again.
    replay: Option<extended::Replay>,
    /// The statement is one of several that were sent as one string.
    in_string: bool,
    /// What the planner is told, with the fingerprint it was made for.
    plan_settings: Option<(u64, Arc<PlanSettings>)>,
}

impl Session {
    /// A client connects. Unknown settings in the startup message are errors, as are bad values.
    pub fn connect(cluster: &Arc<Cluster>, options: ConnectOptions, secret: i32) -> Result<Session, SqlError> {
        let handle = cluster.register(&options, secret)?;
        let settings = match initial_settings(cluster, &handle, &options) {
            Ok(settings) => Arc::new(settings),
            Err(error) => {
                cluster.unregister(handle.pid);
                return Err(error);
            }
        };
        let database = Arc::clone(&handle.database);
        let locks = cluster.locks.session(handle.pid, database.oid);
        let view = Arc::new(SessionView::new(Arc::clone(cluster), Arc::clone(&handle), Arc::clone(&settings)));
        let mut session = Session {
            cluster: Arc::clone(cluster),
            database,
            handle,
            view,
            defaults: settings,
            transaction: Transaction::default(),
            temporary: Temporary::default(),
            locks,
            lock_wait: std::time::Duration::ZERO,
            mailbox: Arc::default(),
            portals: HashMap::new(),
            cursors: HashMap::new(),
            notices: Vec::new(),
            told: Vec::new(),
            replay: None,
            in_string: false,
            plan_settings: None,
        };
        session.told = session.parameter_statuses();
        session.publish_application_name();
        Ok(session)
    }

    /// The process id that the client is told.
    pub fn pid(&self) -> i32 {
        self.handle.pid
    }

    /// What others may know of this session.
    pub fn handle(&self) -> &Arc<SessionHandle> {
        &self.handle
    }

    /// The settings that a client is told at its start.
    pub fn parameter_statuses(&self) -> Vec<(&'static str, String)> {
        let reported = self.settings().reported().into_iter();
        reported.map(|(name, value)| (name, self.view.show(name).unwrap_or(value))).collect()
    }

    /// The settings, as they are now.
    fn settings(&self) -> Arc<SessionSettings> {
        Arc::clone(&self.view.settings.lock())
    }

    fn restore_settings(&mut self, settings: Arc<SessionSettings>) {
        *self.view.settings.lock() = settings;
        self.view.settings_changed.store(true, Ordering::Relaxed);
    }

    /// Writes pending notices, and ParameterStatus for reported settings that have changed.
    fn report(&mut self, client: &mut dyn Client) {
        if !self.notices.is_empty() {
            let least = self.view.settings.lock().client_min_messages;
            self.notices.drain(..).filter(|n| settings::is_sent(n.severity, least)).for_each(|n| client.notice(&n));
        }
        if !self.view.settings_changed.swap(false, Ordering::Relaxed) {
            return;
        }
        let now = self.parameter_statuses();
        for (name, value) in &now {
            if !self.told.iter().any(|(told, before)| told == name && before == value) {
                client.parameter_status(name, value);
            }
        }
        self.told = now;
        self.publish_application_name();
    }

    fn publish_application_name(&self) {
        let name = self.view.show("application_name").unwrap_or_default();
        self.handle.activity.lock().application_name = name;
    }

    /// Shows others what the session does.
    fn set_activity(&self, state: &'static str, query: Option<&Arc<str>>) {
        let mut activity = self.handle.activity.lock();
        let now = clock_time();
        activity.state = state;
        activity.state_change = now;
        activity.transaction_start = (self.transaction.block != Block::None).then_some(self.transaction.started);
        if let Some(query) = query {
            activity.query = Arc::clone(query);
            activity.query_start = now;
        }
    }

    /// The client has its answer and is thinking.
    fn set_idle(&self) {
        self.set_activity(
            match self.transaction.block {
                Block::None | Block::Implicit => "idle",
                Block::Explicit => "idle in transaction",
                Block::Failed => "idle in transaction (aborted)",
            },
            None,
        );
    }

    /// The client is gone: everything is released at once.
    pub async fn close(mut self) {
        self.rollback().await;
        self.give_up_temporary().await;
        self.stop_listening();
        self.locks.close();
        self.cluster.unregister(self.handle.pid);
    }
}

/// The server's defaults, then what was set for the database, then what the client says.
fn initial_settings(cluster: &Cluster, handle: &SessionHandle, options: &ConnectOptions) -> Result<SessionSettings, SqlError> {
    let mut settings = cluster.defaults.clone();
    for (name, value) in &handle.settings {
        // It was good when it was set; a server that no longer knows it lets its users in all the same.
        if let Err(error) = settings.set(name, Some(value)) {
            tracing::warn!(%error, name, "a setting of the database cannot be applied");
        }
    }
    for (name, value) in &options.settings {
        settings.set(name, Some(value))?;
    }
    Ok(settings)
}

impl Drop for Session {
    fn drop(&mut self) {
        // A connection task that was dropped half-way did not call `close`; its transaction aborts itself.
        self.give_up_temporary_later();
        self.stop_listening();
        self.locks.close();
        self.cluster.unregister(self.handle.pid);
    }
}
