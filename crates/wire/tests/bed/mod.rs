//! A server in this process on a free port, and clients that speak bytes.

#![allow(dead_code, unreachable_pub)] // each test file uses a part

pub mod message;
pub mod raw;

use std::net::SocketAddr;
use std::sync::Arc;
use tidelock_kvclient::{ClientMetrics, Db, DistSender};
use tidelock_kvserver::{KvSettings, Store};
use tidelock_sql::session::{Cluster, HeldLock, LockWait, ServerHooks, SessionSettings, WaitGraph};
use tidelock_storage::{Options, Storage};
use tidelock_wire::{Listener, WireConfig, WireMetrics};

/// A running server. Its own runtime keeps the background work going while tests block on their sockets.
pub struct Bed {
    pub address: SocketAddr,
    pub metrics: Arc<WireMetrics>,
    pub store: Arc<Store>,
    pub cluster: Arc<Cluster>,
    listener: Option<Listener>,
    runtime: tokio::runtime::Runtime,
    _folder: tempfile::TempDir,
}

impl Bed {
    pub fn start() -> Bed {
        Bed::with_connections(50)
    }

    pub fn with_connections(max_connections: usize) -> Bed {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let metrics = Arc::new(WireMetrics::default());
        let (listener, store, cluster) = runtime.block_on(async {
            let storage = Storage::open(Options::for_tests(folder.path())).expect("storage opens");
            let store = Store::open(storage, Arc::new(KvSettings::default())).expect("store opens");
            let sender = Arc::new(DistSender::new(store.sender(), Arc::new(ClientMetrics::default())));
            store.start(sender.clone());
            let hooks = Arc::new(NoHooks(Arc::clone(&store)));
            let cluster = Cluster::open(Db::new(sender), hooks, SessionSettings::default()).await.expect("cluster opens");
            let config = WireConfig { listen: ([127, 0, 0, 1], 0).into(), workers: 2, max_connections };
            let listener = Listener::start(config, Arc::clone(&cluster), Arc::clone(&metrics)).await.expect("listens");
            (listener, store, cluster)
        });
        Bed { address: listener.address(), metrics, store, cluster, listener: Some(listener), runtime, _folder: folder }
    }

    pub fn connect(&self) -> raw::Raw {
        raw::Raw::session(self.address)
    }

    /// Stops the listener, as a signal does.
    pub fn stop(&mut self) {
        if let Some(listener) = self.listener.take() {
            self.runtime.block_on(listener.stop());
        }
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        self.stop();
    }
}

struct NoHooks(Arc<Store>);

impl ServerHooks for NoHooks {
    fn spill_dir(&self) -> &std::path::Path {
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
    }
    fn metrics(&self) -> Vec<(String, f64)> {
        Vec::new()
    }
    fn server_setting(&self, _: &str) -> Option<String> {
        None
    }
    fn set_server_setting(&self, name: &str, _: &str) -> Result<(), String> {
        Err(name.to_owned())
    }
    fn server_settings(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }
    fn wait_graph(&self) -> Option<Arc<dyn WaitGraph>> {
        Some(self.0.wait_graph())
    }
    fn locks(&self) -> Vec<HeldLock> {
        Vec::new()
    }
    fn waits(&self) -> Vec<LockWait> {
        let wait = |wait: tidelock_kvserver::WaitInfo| LockWait {
            key: wait.key,
            session: wait.session,
            strength: wait.strength,
            blockers: wait.blockers,
            waited_ms: wait.waited.as_millis() as u64,
        };
        self.0.waits().into_iter().map(wait).collect()
    }
}
