//! A store on a simulated disk, with a client in front of it.
//!
//! ```text
//!   Db ─► Doorway ─► DistSender ─► store ─► SimDisk           a crash replaces all behind the doorway;
//!                        ▲                                     transactions that lived through it go on talking to it
//!          Hold ─────────┘  ◄─ the store's resolver            holds the resolver's batches up, or fails them
//! ```

use parking_lot::RwLock;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;
use tidelock_base::{Timestamp, TxnId};
use tidelock_kvapi::{BatchRequest, KvError, Request, Sender, Sent, Snapshot};
use tidelock_kvclient::{ClientMetrics, Db, DistSender};
use tidelock_kvserver::{KvSettings, Store};
use tidelock_storage::disk::{Fault, SimDisk};
use tidelock_storage::{Options, Storage};

/// What becomes of the resolver's batches.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResolverMode {
    Working,
    /// They do not come back, until the mode changes.
    Stuck,
    /// They come back with an error.
    Failing,
}

/// Stands between a store's resolver and the store.
struct Hold {
    sender: Arc<dyn Sender>,
    mode: Arc<AtomicU8>,
}

impl Hold {
    async fn pass(&self) -> Result<(), KvError> {
        loop {
            match self.mode.load(Ordering::SeqCst) {
                mode if mode == ResolverMode::Working as u8 => return Ok(()),
                mode if mode == ResolverMode::Failing as u8 => return Err(KvError::BadRequest("refused by the script")),
                _ => tokio::time::sleep(Duration::from_millis(1)).await,
            }
        }
    }
}

impl Sender for Hold {
    fn send(&self, batch: BatchRequest) -> Sent<'_> {
        let resolves = |request: &Request| matches!(request, Request::ResolveIntent { .. } | Request::ResolveIntentRange { .. });
        if !batch.requests.iter().any(resolves) {
            return self.sender.send(batch);
        }
        Sent::later(async move {
            self.pass().await?;
            self.sender.send(batch).await
        })
    }

    fn snapshot(&self) -> Snapshot {
        self.sender.snapshot()
    }

    fn snapshot_at(&self, ts: Timestamp) -> Snapshot {
        self.sender.snapshot_at(ts)
    }

    fn newest(&self) -> Timestamp {
        self.sender.newest()
    }

    fn next_txn_id(&self) -> TxnId {
        self.sender.next_txn_id()
    }
}

/// The client's way to whatever store there is now.
struct Doorway(RwLock<Arc<dyn Sender>>);

impl Doorway {
    fn now(&self) -> Arc<dyn Sender> {
        Arc::clone(&self.0.read())
    }
}

impl Sender for Doorway {
    fn send(&self, batch: BatchRequest) -> Sent<'_> {
        let sender = self.now();
        Sent::later(async move { sender.send(batch).await })
    }

    fn snapshot(&self) -> Snapshot {
        self.now().snapshot()
    }

    fn snapshot_at(&self, ts: Timestamp) -> Snapshot {
        self.now().snapshot_at(ts)
    }

    fn newest(&self) -> Timestamp {
        self.now().newest()
    }

    fn next_txn_id(&self) -> TxnId {
        self.now().next_txn_id()
    }
}

/// See the file's text. Its methods are to be called inside a runtime.
pub(crate) struct Bed {
    pub(crate) db: Db,
    pub(crate) store: Arc<Store>,
    pub(crate) metrics: Arc<ClientMetrics>,
    settings: Arc<KvSettings>,
    mode: Arc<AtomicU8>,
    doorway: Arc<Doorway>,
    disk: SimDisk,
}

impl Bed {
    pub(crate) fn new() -> Bed {
        let (disk, settings, metrics) = (SimDisk::new(), Arc::new(KvSettings::default()), Arc::new(ClientMetrics::default()));
        let mode = Arc::new(AtomicU8::new(ResolverMode::Working as u8));
        let (store, sender) = open(&disk, &settings, &mode, &metrics);
        let doorway = Arc::new(Doorway(RwLock::new(sender)));
        let db = Db::with_metrics(doorway.clone(), Arc::clone(&metrics));
        Bed { db, store, metrics, settings, mode, doorway, disk }
    }

    pub(crate) fn set_resolver(&self, mode: ResolverMode) {
        self.mode.store(mode as u8, Ordering::SeqCst);
    }

    /// The machine loses power and comes up again. `seed` chooses what of the unsynced writes survives.
    pub(crate) fn crash(&mut self, seed: u64) {
        self.disk.fault_at(self.disk.operations(), Fault::Crash);
        self.disk = self.disk.crash(seed);
        // The old store's resolver keeps its own hold, so that nothing of the old store reaches the new one.
        self.mode = Arc::new(AtomicU8::new(ResolverMode::Working as u8));
        let (store, sender) = open(&self.disk, &self.settings, &self.mode, &self.metrics);
        *self.doorway.0.write() = sender;
        self.store = store;
    }
}

fn open(disk: &SimDisk, settings: &Arc<KvSettings>, mode: &Arc<AtomicU8>, metrics: &Arc<ClientMetrics>) -> (Arc<Store>, Arc<dyn Sender>) {
    let options = Options { disk: Some(Arc::new(disk.clone())), ..Options::for_tests("/simulated") };
    let storage = Storage::open(options).expect("storage opens");
    let store = Store::open(storage, Arc::clone(settings)).expect("store opens");
    let sender: Arc<dyn Sender> = Arc::new(DistSender::new(store.sender(), Arc::clone(metrics)));
    store.start(Arc::new(Hold { sender: Arc::clone(&sender), mode: Arc::clone(mode) }));
    (store, sender)
}
