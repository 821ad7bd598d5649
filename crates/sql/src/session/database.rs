//! What all sessions of a server share: the key-value door, the catalog, the plan cache, the list of sessions.

use super::notify::Channels;
use super::plan_cache::PlanCache;
use super::settings::SessionSettings;
use crate::catalog::store::{CatalogAt, DescriptorCache, FIRST_USER_INDEX};
use crate::catalog::{Catalog, RelationKind};
use crate::error::{SqlError, SqlState};
use crate::exec::{CancelFlag, CancelReason, kv_error};
use crate::locks::LockManager;
use arc_swap::ArcSwap;
use hashbrown::{HashMap, HashSet};
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::Instant;
use tidelock_base::{Key, SessionId};
use tidelock_kvapi::{Isolation, LockStrength, WaitGraph};
use tidelock_kvclient::{Db, TxnOptions};

/// What the server around SQL provides: counters, live settings, the views of the floors below. SQL never imports those
/// floors; the binary wires them in here.
pub trait ServerHooks: Send + Sync + 'static {
    /// Every counter, by name.
    fn metrics(&self) -> Vec<(String, f64)>;
    /// A server-wide setting (`kv.resolver.inline` ...); `None` when there is no such setting.
    fn server_setting(&self, name: &str) -> Option<String>;
    /// Changes one; the error says what is wrong with the value.
    fn set_server_setting(&self, name: &str, value: &str) -> Result<(), String>;
    /// Names and descriptions of the server-wide settings.
    fn server_settings(&self) -> Vec<(&'static str, &'static str)>;
    /// Where statements may put temporary files.
    fn spill_dir(&self) -> &Path;
    /// The graph in which waits for rows and for tables meet; None finds no deadlocks among the latter.
    fn wait_graph(&self) -> Option<Arc<dyn WaitGraph>>;
    /// Every row lock held.
    fn locks(&self) -> Vec<HeldLock>;
    /// Every wait for a row.
    fn waits(&self) -> Vec<LockWait>;
    /// A session's wait for a row.
    fn wait_of(&self, session: SessionId) -> Option<LockWait> {
        self.waits().into_iter().find(|wait| wait.session == session)
    }
}

/// A row lock, for the lock views.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct HeldLock {
    pub key: Key,
    pub range: u64,
    pub session: SessionId,
    pub txn: u64,
    pub strength: LockStrength,
    pub wrote: bool,
}

/// A wait for a row lock.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct LockWait {
    pub key: Key,
    pub session: SessionId,
    pub strength: LockStrength,
    pub blockers: Vec<SessionId>,
    pub waited_ms: u64,
}

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
#[derive(Debug)]
#[allow(missing_docs)]
pub struct SessionHandle {
    pub pid: i32,
    pub secret: i32,
    pub user: String,
    pub database: String,
    pub remote: Option<std::net::SocketAddr>,
    pub backend_start: i64,
    pub cancel: CancelFlag,
    pub terminate: AtomicBool,
    pub activity: Mutex<Activity>,
}

/// The database that every session works on.
pub struct Database {
    /// The door to the key-value floors.
    pub db: Db,
    /// The catalog as of the last DDL, and when that was.
    pub catalog: ArcSwap<CatalogAt>,
    descriptors: DescriptorCache,
    /// Table and advisory locks.
    pub locks: Arc<LockManager>,
    /// Who listens to what.
    pub channels: Channels,
    /// Plans.
    pub plans: PlanCache,
    /// The server around us.
    pub hooks: Arc<dyn ServerHooks>,
    /// What new sessions begin with.
    pub defaults: SessionSettings,
    /// `sql.point_gets`.
    pub point_gets: AtomicBool,
    sessions: Mutex<HashMap<i32, Arc<SessionHandle>>>,
    next_pid: AtomicI32,
    started: Instant,
}

/// The one database there is until CREATE DATABASE comes, with the names PostgreSQL gives to a fresh cluster's.
const DATABASES: [&str; 1] = ["postgres"];

impl Database {
    /// Opens the database: reads the catalog, or makes the first one.
    pub async fn open(db: Db, hooks: Arc<dyn ServerHooks>, defaults: SessionSettings) -> Result<Arc<Database>, SqlError> {
        let descriptors = DescriptorCache::new(crate::catalog::builtin::catalog());
        let catalog = read_catalog(&db, &descriptors).await?;
        drop_orphans(&db, &catalog.catalog).await?;
        Ok(Arc::new(Database {
            db,
            catalog: ArcSwap::from_pointee(catalog),
            descriptors,
            locks: LockManager::new(hooks.wait_graph()),
            channels: Channels::default(),
            plans: PlanCache::default(),
            hooks,
            defaults,
            point_gets: AtomicBool::new(true),
            sessions: Mutex::default(),
            next_pid: AtomicI32::new(1000),
            started: Instant::now(),
        }))
    }

    /// Reads the catalog again: after a commit that changed it.
    pub(super) async fn reload_catalog(&self) -> Result<(), SqlError> {
        let newest = read_catalog(&self.db, &self.descriptors).await?;
        let newest = Arc::new(newest);
        self.catalog.rcu(|current| {
            let newer = newest.catalog.version() > current.catalog.version();
            if newer { Arc::clone(&newest) } else { Arc::clone(current) }
        });
        Ok(())
    }

    /// How long the server has been up.
    pub fn uptime(&self) -> std::time::Duration {
        self.started.elapsed()
    }

    /// Registers a session; `3D000` when the database does not exist.
    pub fn register(&self, options: &ConnectOptions, secret: i32) -> Result<Arc<SessionHandle>, SqlError> {
        let user = if options.user.is_empty() { "postgres" } else { &options.user };
        let database = if options.database.is_empty() { user } else { &options.database };
        if !DATABASES.contains(&database) {
            let message = format!("database \"{database}\" does not exist");
            return Err(SqlError::new(SqlState::INVALID_CATALOG_NAME, message));
        }
        let now = crate::expr::clock_time();
        let handle = Arc::new(SessionHandle {
            pid: self.next_pid.fetch_add(1, Ordering::Relaxed),
            secret,
            user: user.to_string(),
            database: database.to_string(),
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
        self.sessions.lock().insert(handle.pid, Arc::clone(&handle));
        Ok(handle)
    }

    /// A session is gone.
    pub fn unregister(&self, pid: i32) {
        self.sessions.lock().remove(&pid);
    }

    /// Every session.
    pub fn sessions(&self) -> Vec<Arc<SessionHandle>> {
        self.sessions.lock().values().cloned().collect()
    }

    /// The session with this process id.
    pub fn session(&self, pid: i32) -> Option<Arc<SessionHandle>> {
        self.sessions.lock().get(&pid).cloned()
    }

    /// A CancelRequest: a wrong key is ignored, as PostgreSQL does.
    pub fn cancel(&self, pid: i32, secret: i32) {
        if let Some(session) = self.session(pid).filter(|session| session.secret == secret) {
            session.cancel.cancel(CancelReason::User);
        }
    }
}

/// Drops the data of indexes that no definition names: a crash came between the loading of rows and the commit of the index that
/// they were loaded into, or between the commit of a DROP and the dropping.
async fn drop_orphans(db: &Db, catalog: &Catalog) -> Result<(), SqlError> {
    let failed = |error| kv_error(error, catalog);
    let tables = catalog.relations().map(|relation| relation.descriptor()).filter(|table| table.kind == RelationKind::Table);
    let known: HashSet<u64> = tables.flat_map(|table| table.all_indexes().map(|index| index.index_id).collect::<Vec<_>>()).collect();
    for index in db.indexes().await.map_err(failed)? {
        if u64::from(index.0) >= FIRST_USER_INDEX as u64 && !known.contains(&u64::from(index.0)) {
            tracing::info!(index = index.0, "dropping the data of an index that has no definition");
            db.drop_index(index).await.map_err(failed)?;
        }
    }
    Ok(())
}

async fn read_catalog(db: &Db, descriptors: &DescriptorCache) -> Result<CatalogAt, SqlError> {
    let options = TxnOptions { isolation: Isolation::RepeatableRead, at_least: db.newest(), read_only: true, ..TxnOptions::default() };
    let mut txn = db.begin(options);
    txn.step();
    let at = descriptors.current(&mut txn).await?;
    txn.commit(false).await.map_err(|error| kv_error(error, &at.catalog))?;
    Ok(at)
}
