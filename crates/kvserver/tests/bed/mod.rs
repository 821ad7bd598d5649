//! One store in a temporary folder, and transactions on it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tidelock_base::{IndexId, Key, SessionId};
use tidelock_kvclient::{ClientMetrics, Db, DistSender, Txn, TxnOptions};
use tidelock_kvserver::{KvSettings, Store};
use tidelock_storage::{Options, Storage};

/// Where all rows of these tests live.
pub(crate) const INDEX: IndexId = IndexId(100);

/// The store and its client.
pub(crate) struct Bed {
    pub(crate) db: Db,
    pub(crate) store: Arc<Store>,
    _folder: tempfile::TempDir,
}

impl Bed {
    /// With the options of tests, changed.
    pub(crate) fn open(change: impl FnOnce(Options) -> Options) -> Bed {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let storage = Storage::open(change(Options::for_tests(folder.path()))).expect("storage opens");
        let store = Store::open(storage, Arc::new(KvSettings::default())).expect("store opens");
        let sender = Arc::new(DistSender::new(store.sender(), Arc::new(ClientMetrics::default())));
        store.start(sender.clone());
        Bed { db: Db::new(sender), store, _folder: folder }
    }

    /// A transaction of a session of its own, its first statement begun.
    pub(crate) fn begin_with(&self, options: TxnOptions) -> Txn {
        static SESSION: AtomicU32 = AtomicU32::new(1);
        let session = SessionId(SESSION.fetch_add(1, Ordering::Relaxed));
        let mut txn = self.db.begin(TxnOptions { session, ..options });
        txn.step();
        txn
    }
}

/// A row's key.
pub(crate) fn key(k: u32) -> Key {
    let mut key = Key::index_start(INDEX);
    key.extend(&k.to_be_bytes());
    key
}
