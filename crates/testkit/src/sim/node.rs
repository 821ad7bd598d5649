//! The store of a simulation, the network in front of it, and what happens when the machine loses power.

use super::{Shared, lock};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tidelock_base::{Timestamp, TxnId};
use tidelock_kvapi::{BatchRequest, BatchResponse, KvError, Request, Sender, Snapshot};
use tidelock_kvclient::{ClientMetrics, Db, DistSender};
use tidelock_kvserver::{KvSettings, Store};
use tidelock_storage::disk::{Fault, SimDisk};
use tidelock_storage::{Options, Storage};
use tokio::sync::Notify;

/// Longest time that a batch, or its answer, is under way.
const NETWORK_MS: u64 = 3;

/// One life of the store, from a start to a power cut.
pub(crate) struct Node {
    pub(crate) store: Arc<Store>,
    sender: Arc<dyn Sender>,
    dead: AtomicBool,
    death: Notify,
}

impl Node {
    fn is_dead(&self) -> bool {
        self.dead.load(Ordering::SeqCst)
    }

    async fn died(&self) {
        while !self.is_dead() {
            let death = self.death.notified();
            if !self.is_dead() {
                death.await;
            }
        }
    }

    /// Sends a batch over the network; when the power goes meanwhile, nobody knows what became of it.
    async fn send(&self, shared: &Shared, batch: BatchRequest) -> Result<BatchResponse, KvError> {
        let lost = lost(&batch);
        let there_and_back = async {
            shared.pause(NETWORK_MS).await;
            let answer = self.sender.send(batch).await;
            shared.pause(NETWORK_MS).await;
            answer
        };
        tokio::select! {
            biased;
            () = self.died() => Err(lost),
            answer = there_and_back => answer,
        }
    }
}

/// The error of a batch whose answer never came.
fn lost(batch: &BatchRequest) -> KvError {
    let commits = batch.requests.iter().any(|request| matches!(request, Request::EndTxn(end) if end.commit));
    match batch.header.txn {
        Some(txn) if commits => KvError::OutcomeUnknown { txn: txn.id },
        _ => KvError::Storage("the machine lost power".into()),
    }
}

/// The network of one node, for its own resolver.
struct Inside {
    node: Mutex<std::sync::Weak<Node>>,
    shared: Arc<Shared>,
    direct: Arc<dyn Sender>,
}

#[async_trait::async_trait]
impl Sender for Inside {
    async fn send(&self, batch: BatchRequest) -> Result<BatchResponse, KvError> {
        let node = lock(&self.node).upgrade();
        match node {
            Some(node) => node.send(&self.shared, batch).await,
            None => Err(KvError::Stopping),
        }
    }

    fn snapshot(&self) -> Snapshot {
        self.direct.snapshot()
    }

    fn newest(&self) -> Timestamp {
        self.direct.newest()
    }

    fn next_txn_id(&self) -> TxnId {
        self.direct.next_txn_id()
    }
}

/// What clients see: one address, whatever life the store is in.
struct Address {
    world: std::sync::Weak<World>,
}

impl Address {
    fn node(&self) -> Option<Arc<Node>> {
        self.world.upgrade().map(|world| world.node())
    }
}

#[async_trait::async_trait]
impl Sender for Address {
    async fn send(&self, batch: BatchRequest) -> Result<BatchResponse, KvError> {
        let Some(world) = self.world.upgrade() else { return Err(KvError::Stopping) };
        world.node().send(&world.shared, batch).await
    }

    fn snapshot(&self) -> Snapshot {
        match self.node() {
            Some(node) => node.sender.snapshot(),
            None => Snapshot { ts: Timestamp::ZERO, pin: None },
        }
    }

    fn newest(&self) -> Timestamp {
        self.node().map_or(Timestamp::ZERO, |node| node.sender.newest())
    }

    fn next_txn_id(&self) -> TxnId {
        self.node().map_or(TxnId(0), |node| node.sender.next_txn_id())
    }
}

/// The simulated world: a disk that outlives the store's lives.
pub(crate) struct World {
    shared: Arc<Shared>,
    pub(crate) settings: Arc<KvSettings>,
    metrics: Arc<ClientMetrics>,
    node: Mutex<Option<Arc<Node>>>,
    disk: Mutex<SimDisk>,
    crashes: AtomicU64,
    pub(crate) db: Db,
}

impl World {
    pub(crate) fn new(shared: Arc<Shared>) -> Result<Arc<World>, String> {
        let metrics = Arc::new(ClientMetrics::default());
        let world = Arc::new_cyclic(|world| {
            let address = Arc::new(Address { world: world.clone() });
            let sender = Arc::new(DistSender::new(address, Arc::clone(&metrics)));
            World {
                shared,
                settings: Arc::new(KvSettings::default()),
                metrics: Arc::clone(&metrics),
                node: Mutex::default(),
                disk: Mutex::new(SimDisk::new()),
                crashes: AtomicU64::new(0),
                db: Db::with_metrics(sender, Arc::clone(&metrics)),
            }
        });
        world.start()?;
        Ok(world)
    }

    /// The store's present life.
    pub(crate) fn node(&self) -> Arc<Node> {
        // Set before the world is handed out, and only ever replaced.
        Arc::clone(lock(&self.node).as_ref().expect("a world has a node from its beginning"))
    }

    pub(crate) fn crashes(&self) -> u64 {
        self.crashes.load(Ordering::SeqCst)
    }

    fn start(&self) -> Result<(), String> {
        let options = Options {
            stepped: true,
            log_segment_bytes: 8 << 10,
            disk: Some(Arc::new(lock(&self.disk).clone())),
            ..Options::for_tests("/simulated")
        };
        let storage = Storage::open(options).map_err(|error| format!("storage does not open: {error}"))?;
        let store = Store::open(storage, Arc::clone(&self.settings)).map_err(|error| format!("the store does not open: {error}"))?;
        let direct = store.sender();
        let node = Node { store, sender: Arc::clone(&direct), dead: AtomicBool::new(false), death: Notify::new() };
        let node = Arc::new(node);
        let inside = Inside { node: Mutex::new(Arc::downgrade(&node)), shared: Arc::clone(&self.shared), direct };
        node.store.start(Arc::new(DistSender::new(Arc::new(inside), Arc::clone(&self.metrics))));
        tokio::spawn(step_log(Arc::clone(&node), Arc::clone(&self.shared)));
        tokio::spawn(step_fold(Arc::clone(&node), Arc::clone(&self.shared)));
        *lock(&self.node) = Some(node);
        Ok(())
    }

    /// The power goes: now, or in the middle of one of the next writes to disk. Then the machine comes up again.
    pub(crate) async fn crash(&self) -> Result<(), String> {
        let node = self.node();
        let disk = lock(&self.disk).clone();
        let writes_more = self.shared.below(20);
        disk.fault_at(disk.operations() + writes_more, Fault::Crash);
        for _ in 0..self.shared.below(20) {
            if node.store.storage().check().is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        disk.fault_at(disk.operations(), Fault::Crash);
        node.dead.store(true, Ordering::SeqCst);
        node.death.notify_waiters();
        *lock(&self.disk) = disk.crash(self.shared.below(u64::MAX));
        self.crashes.fetch_add(1, Ordering::SeqCst);
        self.start()
    }
}

/// The log thread: syncs when the seed says so.
async fn step_log(node: Arc<Node>, shared: Arc<Shared>) {
    while !node.is_dead() {
        shared.pause(4).await;
        // After an error the store has ended, and says so to everybody.
        if node.is_dead() || node.store.storage().step_log().is_err() {
            return;
        }
    }
}

/// The fold thread: writes what is spilled soon, folds now and then.
async fn step_fold(node: Arc<Node>, shared: Arc<Shared>) {
    while !node.is_dead() {
        shared.pause(10).await;
        let pass = shared.one_in(6);
        if node.is_dead() || node.store.storage().step_fold(pass).is_err() {
            return;
        }
    }
}
