//! What all sessions of a server share, whichever database they are in: the key-value door, the list of databases, the plan cache, the list of sessions.
//!
//! ```text
//!   Cluster ── shared (databases by name) ── open databases ── Database: catalog, channels
//!      └────── sessions, each bound to one database from its start to its end
//! ```
//!
//! Whoever is about to take a database away (`Cluster::close`) looks under the list of sessions' mutex whether somebody is in it, and keeps newcomers out
//! from that moment to its commit.

use super::database::Database;
use super::hooks::ServerHooks;
use super::plan_cache::PlanCache;
use super::settings::SessionSettings;
use crate::catalog::shared::{self, SharedCatalog};
use crate::catalog::store::FIRST_USER_INDEX;
use crate::catalog::{DatabaseDescriptor, Oid, builtin};
use crate::error::{SqlError, SqlState};
use crate::exec::{CancelFlag, CancelReason, kv_error};
use crate::locks::LockManager;
use arc_swap::ArcSwap;
use hashbrown::{HashMap, HashSet};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::Instant;
use tidelock_kvapi::Isolation;
use tidelock_kvclient::{Db, TxnOptions};

/// How a client connects.
#[derive(Clone, Debug, Default)]
pub struct ConnectOptions {
    /// The user it names.
    pub user: String,
    /// The database it names; empty means the user's name.
    pub database: String,
    /// Settings from the startup message, `options` included, in order.
    pub settings: Vec<(String, String)>,
    /// Address and port, for the activity view.
    pub remote: Option<std::net::SocketAddr>,
}

/// What a session is doing, for `pg_stat_activity`.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Activity {
    pub state: &'static str,
    pub query: Arc<str>,
    pub query_start: i64,
    pub transaction_start: Option<i64>,
    pub state_change: i64,
    pub application_name: String,
}

/// What others may know of a session, and do to it.
#[allow(missing_docs)]
pub struct SessionHandle {
    pub pid: i32,
    pub secret: i32,
    pub user: String,
    pub database: Arc<Database>,
    /// What ALTER DATABASE ... SET said when it began.
    pub settings: Vec<(String, String)>,
    pub remote: Option<std::net::SocketAddr>,
    pub backend_start: i64,
    pub cancel: CancelFlag,
    pub terminate: AtomicBool,
    pub activity: Mutex<Activity>,
}

/// What the sessions of a server share.
pub struct Cluster {
    /// The door to the key-value floors.
    pub db: Db,
    /// The list of databases as of the last change.
    pub shared: ArcSwap<SharedCatalog>,
    databases: Mutex<HashMap<Oid, Arc<Database>>>,
    /// One at a time reads the list of databases and opens what is new on it, so that nothing is opened twice.
    opening: tokio::sync::Mutex<()>,
    /// Table and advisory locks.
    pub locks: Arc<LockManager>,
    /// Plans.
    pub plans: PlanCache,
    /// The server around us.
    pub hooks: Arc<dyn ServerHooks>,
    /// What new sessions begin with.
    pub defaults: SessionSettings,
    /// `sql.point_gets`.
    pub point_gets: AtomicBool,
    sessions: Mutex<Sessions>,
    next_pid: AtomicI32,
    started: Instant,
}

#[derive(Default)]
struct Sessions {
    by_pid: HashMap<i32, Arc<SessionHandle>>,
    /// Databases that are about to go, or to change their names: nobody may enter.
    closed: HashSet<Oid>,
}

impl Sessions {
    fn in_database(&self, database: Oid) -> impl Iterator<Item = &Arc<SessionHandle>> {
        self.by_pid.values().filter(move |session| session.database.oid == database)
    }
}

/// Keeps a database closed to newcomers.
pub(super) struct Closed<'c> {
    cluster: &'c Cluster,
    database: Oid,
}

impl Closed<'_> {
    pub(super) fn database(&self) -> Oid {
        self.database
    }
}

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        self.cluster.sessions.lock().closed.remove(&self.database);
    }
}

impl Cluster {
    /// Opens all databases, or makes the first ones.
    pub async fn open(db: Db, hooks: Arc<dyn ServerHooks>, defaults: SessionSettings) -> Result<Arc<Cluster>, SqlError> {
        let cluster = Arc::new(Cluster {
            db,
            shared: ArcSwap::from_pointee(SharedCatalog::default()),
            databases: Mutex::default(),
            opening: tokio::sync::Mutex::default(),
            locks: LockManager::new(hooks.wait_graph()),
            plans: PlanCache::default(),
            hooks,
            defaults,
            point_gets: AtomicBool::new(true),
            sessions: Mutex::default(),
            next_pid: AtomicI32::new(1000),
            started: Instant::now(),
        });
        cluster.reload().await?;
        cluster.drop_orphans().await?;
        Ok(cluster)
    }

    /// Reads the list of databases again, after a commit that changed it; opens what is new, forgets what is gone.
    pub(super) async fn reload(&self) -> Result<(), SqlError> {
        let _one_at_a_time = self.opening.lock().await;
        let shared = self.read_shared().await?;
        let mut open = HashMap::new();
        for described in shared.databases() {
            let known = self.database(described.oid).filter(|known| known.name == described.name);
            let database = match known {
                Some(known) => known,
                None => Database::open(&self.db, described).await?,
            };
            open.insert(described.oid, database);
        }
        *self.databases.lock() = open;
        self.shared.store(Arc::new(shared));
        Ok(())
    }

    async fn read_shared(&self) -> Result<SharedCatalog, SqlError> {
        let base = builtin::catalog();
        let at_least = self.db.newest();
        let options = TxnOptions { isolation: Isolation::RepeatableRead, at_least, read_only: true, ..TxnOptions::default() };
        let mut txn = self.db.begin(options);
        txn.step();
        let shared = shared::load(&mut txn, base.catalog()).await?;
        txn.commit(false).await.map_err(|error| kv_error(error, base.catalog()))?;
        Ok(shared)
    }

    /// Drops the data of indexes that no definition names: a crash came between the loading of rows and the commit of the index that
    /// they were loaded into, or between the commit of a DROP and the dropping.
    async fn drop_orphans(&self) -> Result<(), SqlError> {
        let base = builtin::catalog();
        let failed = |error| kv_error(error, base.catalog());
        let open: Vec<Arc<Database>> = self.databases.lock().values().cloned().collect();
        let known: HashSet<u64> = open.iter().flat_map(|database| database.index_ids()).collect();
        for index in self.db.indexes().await.map_err(failed)? {
            if u64::from(index.0) >= FIRST_USER_INDEX as u64 && !known.contains(&u64::from(index.0)) {
                tracing::info!(index = index.0, "dropping the data of an index that has no definition");
                self.db.drop_index(index).await.map_err(failed)?;
            }
        }
        Ok(())
    }

    /// How long the server has been up.
    pub fn uptime(&self) -> std::time::Duration {
        self.started.elapsed()
    }

    /// A database by OID.
    pub fn database(&self, oid: Oid) -> Option<Arc<Database>> {
        self.databases.lock().get(&oid).cloned()
    }

    /// Registers a session; `3D000` when the database does not exist.
    pub fn register(&self, options: &ConnectOptions, secret: i32) -> Result<Arc<SessionHandle>, SqlError> {
        let user = if options.user.is_empty() { "postgres" } else { &options.user };
        let name = if options.database.is_empty() { user } else { &options.database };
        let now = crate::expr::clock_time();
        let mut sessions = self.sessions.lock();
        let (described, database) = self.enter(name, &sessions)?;
        let handle = Arc::new(SessionHandle {
            pid: self.next_pid.fetch_add(1, Ordering::Relaxed),
            secret,
            user: user.to_string(),
            settings: described.settings.clone(),
            database,
            remote: options.remote,
            backend_start: now,
            cancel: CancelFlag::default(),
            terminate: AtomicBool::new(false),
            activity: Mutex::new(Activity {
                state: "idle",
                query: Arc::from(""),
                query_start: now,
                transaction_start: None,
                state_change: now,
                application_name: String::new(),
            }),
        });
        sessions.by_pid.insert(handle.pid, Arc::clone(&handle));
        Ok(handle)
    }

    /// The database that a session wants, if it may have it.
    fn enter(&self, name: &str, sessions: &Sessions) -> Result<(Arc<DatabaseDescriptor>, Arc<Database>), SqlError> {
        let missing = || SqlError::new(SqlState::INVALID_CATALOG_NAME, format!("database \"{name}\" does not exist"));
        let described = self.shared.load().database_named(name).cloned().ok_or_else(missing)?;
        if sessions.closed.contains(&described.oid) {
            return Err(missing().detail("It seems to have just been dropped or renamed."));
        }
        if !described.allows_connections {
            let message = format!("database \"{name}\" is not currently accepting connections");
            return Err(SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message));
        }
        let database = self.database(described.oid).ok_or_else(missing)?;
        Ok((described, database))
    }

    /// A session is gone.
    pub fn unregister(&self, pid: i32) {
        self.sessions.lock().by_pid.remove(&pid);
    }

    /// Every session.
    pub fn sessions(&self) -> Vec<Arc<SessionHandle>> {
        self.sessions.lock().by_pid.values().cloned().collect()
    }

    /// The session with this process id.
    pub fn session(&self, pid: i32) -> Option<Arc<SessionHandle>> {
        self.sessions.lock().by_pid.get(&pid).cloned()
    }

    /// Keeps newcomers out of a database, unless somebody is in it (how many) or keeps them out already (none).
    pub(super) fn close(&self, database: Oid) -> Result<Closed<'_>, usize> {
        let mut sessions = self.sessions.lock();
        match sessions.in_database(database).count() {
            0 if sessions.closed.insert(database) => Ok(Closed { cluster: self, database }),
            others => Err(others),
        }
    }

    /// Asks all sessions of a database to end.
    pub(super) fn terminate_sessions_of(&self, database: Oid) {
        self.sessions.lock().in_database(database).for_each(|session| session.stop(CancelReason::Terminate));
    }

    /// A CancelRequest: a wrong key is ignored, as PostgreSQL does.
    pub fn cancel(&self, pid: i32, secret: i32) {
        if let Some(session) = self.session(pid).filter(|session| session.secret == secret) {
            session.cancel.cancel(CancelReason::User);
        }
    }
}

impl SessionHandle {
    /// Stops the session's statement, or the session.
    pub(super) fn stop(&self, why: CancelReason) {
        if why == CancelReason::Terminate {
            self.terminate.store(true, Ordering::Relaxed);
        }
        self.cancel.cancel(why);
    }
}

impl std::fmt::Debug for SessionHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SessionHandle({}, {} in {})", self.pid, self.user, self.database.name)
    }
}
