//! The store of a simulation, the network in front of it, and what happens when the machine loses power.

use super::{Shared, lock};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tidelock_base::{Timestamp, TxnId};
use tidelock_kvapi::{BatchRequest, KvError, Request, Sender, Sent, Snapshot};
use tidelock_kvclient::{ClientMetrics, Db, DistSender};
use tidelock_kvserver::{KvSettings, Store};
use tidelock_storage::disk::{Disk, Fault, SimDisk};
use tidelock_storage::{Options, Storage};
use tokio::sync::Notify;

/// Longest time that a batch, or its answer, is under way.
const NETWORK_MS: u64 = 3;

/// Whether a machine has power.
#[derive(Default)]
struct Life {
    dead: AtomicBool,
    death: Notify,
}

impl Life {
    fn is_over(&self) -> bool {
        self.dead.load(Ordering::SeqCst)
    }

    fn end(&self) {
        self.dead.store(true, Ordering::SeqCst);
        self.death.notify_waiters();
    }

    async fn over(&self) {
        while !self.is_over() {
            let death = self.death.notified();
            if !self.is_over() {
                death.await;
            }
        }
    }
}

/// A store that answers no more once the power is gone: nobody knows then what became of a commit. Nor does it answer transactions of an
/// earlier life: whoever coordinated them was in the same machine, and their snapshots mean nothing here.
struct Mortal {
    store: Arc<dyn Sender>,
    life: Life,
    /// The first transaction of this life.
    first_txn: TxnId,
}

impl Sender for Mortal {
    fn send(&self, batch: BatchRequest) -> Sent<'_> {
        let lost = lost(&batch);
        let of_another_life = batch.header.txn.is_some_and(|txn| txn.id < self.first_txn);
        if self.life.is_over() || of_another_life {
            return Sent::now(Err(lost));
        }
        match self.store.send(batch) {
            Sent::Later(answer) => Sent::later(async move {
                tokio::select! {
                    biased;
                    () = self.life.over() => Err(lost),
                    answer = answer => answer,
                }
            }),
            answered => answered,
        }
    }

    fn snapshot(&self) -> Snapshot {
        self.store.snapshot()
    }

    fn snapshot_at(&self, ts: Timestamp) -> Snapshot {
        self.store.snapshot_at(ts)
    }

    fn newest(&self) -> Timestamp {
        self.store.newest()
    }

    fn next_txn_id(&self) -> TxnId {
        self.store.next_txn_id()
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

/// One life of the store, from a start to a power cut, and the lives after it.
pub(crate) struct Node {
    pub(crate) store: Arc<Store>,
    mortal: Arc<Mortal>,
    next: OnceLock<Arc<Node>>,
}

/// What clients see: one address, whatever life the store is in.
struct Address(Arc<Node>);

impl Address {
    fn now(&self) -> &Arc<Node> {
        let mut node = &self.0;
        while let Some(next) = node.next.get() {
            node = next;
        }
        node
    }
}

impl Sender for Address {
    fn send(&self, batch: BatchRequest) -> Sent<'_> {
        self.now().mortal.send(batch)
    }

    fn snapshot(&self) -> Snapshot {
        self.now().mortal.snapshot()
    }

    fn snapshot_at(&self, ts: Timestamp) -> Snapshot {
        self.now().mortal.snapshot_at(ts)
    }

    fn newest(&self) -> Timestamp {
        self.now().mortal.newest()
    }

    fn next_txn_id(&self) -> TxnId {
        self.now().mortal.next_txn_id()
    }
}

/// Delays batches and their answers, so that they overtake each other. The answer to a commit is lost when the power goes while it
/// is under way.
struct Network {
    sender: DistSender,
    shared: Arc<Shared>,
}

impl Sender for Network {
    fn send(&self, batch: BatchRequest) -> Sent<'_> {
        Sent::later(async move {
            let lost = lost(&batch);
            self.shared.pause(NETWORK_MS).await;
            let crashes = self.shared.crashes();
            let answer = self.sender.send(batch).await;
            self.shared.pause(NETWORK_MS).await;
            if self.shared.crashes() == crashes { answer } else { Err(lost) }
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

/// The simulated world: a disk that outlives the store's lives.
pub(crate) struct World {
    shared: Arc<Shared>,
    pub(crate) settings: Arc<KvSettings>,
    address: Arc<Address>,
    disk: Mutex<SimDisk>,
    pub(crate) db: Db,
}

impl World {
    pub(crate) fn new(shared: Arc<Shared>) -> Result<Arc<World>, String> {
        let (settings, disk) = (Arc::new(KvSettings::default()), SimDisk::new());
        let address = Arc::new(Address(start(&disk, &settings, &shared)?));
        let sender = DistSender::new(address.clone(), Arc::new(ClientMetrics::default()));
        let db = Db::new(Arc::new(Network { sender, shared: Arc::clone(&shared) }));
        Ok(Arc::new(World { shared, settings, address, disk: Mutex::new(disk), db }))
    }

    /// The store's present life.
    pub(crate) fn node(&self) -> Arc<Node> {
        Arc::clone(self.address.now())
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
        self.shared.note_crash();
        node.mortal.life.end();
        let after = disk.crash(self.shared.below(u64::MAX));
        let next = start(&after, &self.settings, &self.shared)?;
        *lock(&self.disk) = after;
        node.next.set(next).map_err(|_| "one life was followed by two".to_string())
    }
}

/// Starts a store on what the disk holds.
fn start(disk: &SimDisk, settings: &Arc<KvSettings>, shared: &Arc<Shared>) -> Result<Arc<Node>, String> {
    let disk = Some(Arc::new(disk.clone()) as Arc<dyn Disk>);
    let options = Options { stepped: true, log_segment_bytes: 8 << 10, disk, ..Options::for_tests("/simulated") };
    let storage = Storage::open(options).map_err(|error| format!("storage does not open: {error}"))?;
    // The clock of the machine would make two lives one epoch, now and then: they follow each other within a millisecond.
    let life = shared.crashes() + 1;
    let store = Store::open_in_epoch(storage, Arc::clone(settings), life).map_err(|error| format!("the store does not open: {error}"))?;
    let mortal = Arc::new(Mortal { first_txn: store.sender().next_txn_id(), store: store.sender(), life: Life::default() });
    let resolvers_own = DistSender::new(mortal.clone(), Arc::new(ClientMetrics::default()));
    store.start(Arc::new(Network { sender: resolvers_own, shared: Arc::clone(shared) }));
    let node = Arc::new(Node { store, mortal, next: OnceLock::new() });
    tokio::spawn(step_log(Arc::clone(&node), Arc::clone(shared)));
    tokio::spawn(step_fold(Arc::clone(&node), Arc::clone(shared)));
    Ok(node)
}

/// The log thread: syncs when the seed says so.
async fn step_log(node: Arc<Node>, shared: Arc<Shared>) {
    while !node.mortal.life.is_over() {
        shared.pause(4).await;
        // After an error the store has ended, and says so to everybody.
        if node.mortal.life.is_over() || node.store.storage().step_log().is_err() {
            return;
        }
    }
}

/// The fold thread: writes what is spilled soon, folds now and then.
async fn step_fold(node: Arc<Node>, shared: Arc<Shared>) {
    while !node.mortal.life.is_over() {
        shared.pause(10).await;
        let pass = shared.one_in(6);
        if node.mortal.life.is_over() || node.store.storage().step_fold(pass).is_err() {
            return;
        }
    }
}
