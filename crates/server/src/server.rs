//! Starting and stopping, in the order in which the floors stand on each other.

use crate::config::{Config, HttpConfig};
use crate::hooks::Hooks;
use crate::http::HttpServer;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use tidelock_kvapi::KvError;
use tidelock_kvclient::{ClientMetrics, Db, DistSender};
use tidelock_kvserver::{KvSettings, Store};
use tidelock_sql::error::SqlError;
use tidelock_sql::session::{Cluster, ServerHooks, SessionSettings};
use tidelock_storage::{Options, Storage, StorageError};
use tidelock_wire::{Listener, WireConfig, WireMetrics};

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The data folder cannot be opened; somebody else may have it open.
    #[error("{0}")]
    Storage(#[from] StorageError),
    /// The store does not open.
    #[error("the store does not open: {0}")]
    Store(#[from] KvError),
    /// The catalog does not open.
    #[error("the catalog does not open: {0}")]
    Catalog(#[from] SqlError),
    /// An address cannot be listened at.
    #[error("cannot listen at {address}: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        error: io::Error,
    },
    /// The system refused something else.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// A running server.
pub struct Server {
    listener: Listener,
    http: Option<HttpServer>,
    cluster: Arc<Cluster>,
    hooks: Arc<Hooks>,
    store: Arc<Store>,
}

impl Server {
    /// Opens the data folder and begins to listen. Background work runs on the caller's runtime, connections on threads of
    /// their own.
    pub async fn start(config: Config) -> Result<Server, StartError> {
        let options = Options { cache_bytes: config.cache_bytes, sync: config.sync, ..Options::new(&config.data) };
        let storage = tokio::task::spawn_blocking(move || Storage::open(options)).await.map_err(io::Error::other)??;
        let settings = Arc::new(KvSettings::default());
        #[cfg(feature = "break-validation")]
        settings.break_validation();
        let store = Store::open(storage, settings)?;
        let client = Arc::new(ClientMetrics::default());
        let sender = Arc::new(DistSender::new(store.sender(), Arc::clone(&client)));
        store.start(sender.clone());
        let db = Db::with_metrics(sender, Arc::clone(&client));
        let wire = Arc::new(WireMetrics::default());
        let hooks = Arc::new(Hooks { store: Arc::clone(&store), client, wire: Arc::clone(&wire), spill_dir: config.data.join("spill") });
        let dyn_hooks: Arc<dyn ServerHooks> = hooks.clone();
        let cluster = Cluster::open(db, dyn_hooks, session_defaults(&config)?).await?;
        let http = start_http(&config, &hooks, &store).await?;
        let listener = start_listener(&config, &cluster, wire).await?;
        Ok(Server { listener, http, cluster, hooks, store })
    }

    /// Where PostgreSQL clients connect.
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Where the HTTP page is, if there is one.
    pub fn http_address(&self) -> Option<SocketAddr> {
        self.http.as_ref().map(|http| http.address)
    }

    /// The databases, for those who look inside.
    pub fn cluster(&self) -> &Arc<Cluster> {
        &self.cluster
    }

    /// Counters, locks, waits.
    pub fn hooks(&self) -> &Arc<Hooks> {
        &self.hooks
    }

    /// `Err` once the storage has failed: the process must then end and open its data anew.
    pub fn check(&self) -> Result<(), StorageError> {
        self.store.storage().check()
    }

    /// Lets running statements end, folds the log into the base, and closes the data folder.
    pub async fn stop(self) -> Result<(), StartError> {
        let Server { listener, http, cluster, hooks, store } = self;
        listener.stop().await;
        drop(http);
        store.stop().await?;
        let storage = store.storage().clone();
        drop((cluster, hooks, store));
        tokio::task::spawn_blocking(move || storage.close()).await.map_err(io::Error::other)??;
        Ok(())
    }
}

fn session_defaults(config: &Config) -> Result<SessionSettings, SqlError> {
    let mut defaults = SessionSettings::default();
    defaults.set("default_transaction_isolation", Some(&config.isolation.to_string()))?;
    Ok(defaults)
}

async fn start_listener(config: &Config, cluster: &Arc<Cluster>, metrics: Arc<WireMetrics>) -> Result<Listener, StartError> {
    let address = config.listen;
    let wire = WireConfig { listen: address, workers: config.workers, max_connections: config.max_connections };
    let started = Listener::start(wire, Arc::clone(cluster), metrics).await;
    started.map_err(|error| StartError::Listen { address, error })
}

async fn start_http(config: &Config, hooks: &Arc<Hooks>, store: &Arc<Store>) -> Result<Option<HttpServer>, StartError> {
    let (address, must) = match config.http {
        HttpConfig::Off => return Ok(None),
        HttpConfig::IfFree(address) => (address, false),
        HttpConfig::At(address) => (address, true),
    };
    let hooks: Arc<dyn ServerHooks> = hooks.clone();
    match HttpServer::start(address, hooks, Arc::clone(store)).await {
        Ok(server) => Ok(Some(server)),
        Err(error) if must => Err(StartError::Listen { address, error }),
        Err(error) => {
            tracing::warn!(%address, %error, "no HTTP page");
            Ok(None)
        }
    }
}
