//! The store's promises, one by one.
#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Poll, Wake, Waker};
use std::time::Duration;
use tidelock_base::{IndexId, Key, RowRef, Span, Timestamp, TxnId, Value};
use tidelock_storage::{Options, Storage, StorageError};

fn key(index: u32, row: u32) -> Key {
    let mut key = Key::index_start(IndexId(index));
    key.extend(&row.to_be_bytes());
    key
}

fn commit(storage: &Storage, ts: u64, writes: Vec<(Key, Option<Value>)>) {
    let ts = Timestamp(ts);
    storage.append_commit(TxnId(ts.0), ts, &writes).unwrap();
    storage.install_many(ts, writes);
    storage.installed(ts);
    storage.sync_inline(ts).unwrap();
}

fn put(storage: &Storage, ts: u64, key: &Key, value: &'static str) {
    commit(storage, ts, vec![(key.clone(), Some(Value::from_static(value.as_bytes())))]);
}

fn value(storage: &Storage, key: &Key, at: Timestamp) -> Option<String> {
    let version = storage.get(key, at).unwrap()?;
    version.value.map(|value| String::from_utf8(value.to_vec()).unwrap())
}

#[test]
fn a_second_opener_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let storage = Storage::open(Options::for_tests(dir.path())).unwrap();
    let error = Storage::open(Options::for_tests(dir.path())).err().unwrap();
    assert!(matches!(&error, StorageError::Locked(path) if path.contains(dir.path().to_str().unwrap())), "{error}");
    drop(storage);
    Storage::open(Options::for_tests(dir.path())).unwrap();
}

#[test]
fn real_files_survive_reopening_with_fsync_on() {
    let dir = tempfile::tempdir().unwrap();
    let options = || Options { log_segment_bytes: 64 << 10, sync: true, ..Options::for_tests(dir.path()) };
    let row = key(1, 1);
    for ts in 1..=8 {
        let storage = Storage::open(options()).unwrap();
        assert_eq!(storage.last_ts(), Timestamp(ts - 1));
        put(&storage, ts, &row, "kept");
        assert_eq!(storage.get(&row, Timestamp::MAX).unwrap().unwrap().ts, Timestamp(ts));
        if ts % 3 == 0 {
            storage.close().unwrap();
        }
    }
}

#[test]
fn pinned_versions_outlive_folds_and_go_when_the_pin_goes() {
    let dir = tempfile::tempdir().unwrap();
    let storage = Storage::open(Options::for_tests(dir.path())).unwrap();
    let (row, deleted, late) = (key(1, 1), key(1, 2), key(1, 3));
    put(&storage, 1, &row, "one");
    put(&storage, 2, &deleted, "here");
    storage.checkpoint().unwrap();
    let pin = storage.pin_durable();
    for ts in 3..50 {
        put(&storage, ts, &row, "later");
        storage.checkpoint().unwrap();
    }
    commit(&storage, 50, vec![(deleted.clone(), None)]);
    put(&storage, 51, &late, "late");
    storage.checkpoint().unwrap();
    assert_eq!(pin.ts(), Timestamp(2));
    assert_eq!(value(&storage, &row, pin.ts()).as_deref(), Some("one"));
    assert_eq!(value(&storage, &deleted, pin.ts()).as_deref(), Some("here"));
    assert_eq!(value(&storage, &late, pin.ts()), None);
    assert_eq!(storage.get(&deleted, Timestamp::MAX).unwrap().unwrap().ts, Timestamp(50), "the tombstone tells when");
    let mut seen = Vec::new();
    let mut visit = |row: RowRef<'_>| {
        seen.push(row.to_key());
        ControlFlow::Continue(())
    };
    storage.scan(&Span::index(IndexId(1)), pin.ts(), true, &mut visit).unwrap();
    assert_eq!(seen, vec![deleted.clone(), row.clone()]);
    assert_eq!(storage.metrics().history_rows, 3, "two versions and a marker");
    assert_eq!(storage.oldest_pin_age().unwrap().0, Timestamp(2));
    drop(pin);
    storage.checkpoint().unwrap();
    assert_eq!(storage.metrics().history_rows, 0);
    assert_eq!(storage.get(&deleted, Timestamp::MAX).unwrap(), None, "nobody can tell any more");
}

#[test]
fn a_commit_that_is_not_installed_holds_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let options = || Options { log_segment_bytes: 4096, ..Options::for_tests(dir.path()) };
    let storage = Storage::open(options()).unwrap();
    let pending = vec![(key(1, 0), Some(Value::from_static(b"resolved late")))];
    storage.append_commit(TxnId(1), Timestamp(1), &pending).unwrap();
    for ts in 2..200 {
        put(&storage, ts, &key(1, ts as u32), "x");
    }
    storage.checkpoint().unwrap();
    assert!(storage.metrics().log_size_bytes > 8192);
    assert_eq!(storage.metrics().uninstalled_commits, 1);
    drop(storage);
    let storage = Storage::open(options()).unwrap();
    assert_eq!(value(&storage, &key(1, 0), Timestamp::MAX).as_deref(), Some("resolved late"));
    storage.checkpoint().unwrap();
    assert!(storage.metrics().log_size_bytes <= 8192, "{}", storage.metrics().log_size_bytes);
}

#[test]
fn big_commits_and_big_values_cross_segments() {
    let dir = tempfile::tempdir().unwrap();
    let options = || Options { log_segment_bytes: 1 << 20, memtable_freeze_bytes: 2 << 20, ..Options::for_tests(dir.path()) };
    let storage = Storage::open(options()).unwrap();
    let many: Vec<_> = (0..40_000).map(|row| (key(1, row), Some(Value::from(vec![7; 100])))).collect();
    commit(&storage, 1, many);
    commit(&storage, 2, vec![(key(2, 0), Some(Value::from(vec![9; 3 << 20])))]);
    put(&storage, 3, &key(3, 0), "after");
    drop(storage);
    let storage = Storage::open(options()).unwrap();
    let mut rows = 0;
    let mut visit = |row: RowRef<'_>| {
        rows += row.value.len();
        ControlFlow::Continue(())
    };
    storage.scan(&Span::all(), Timestamp::MAX, false, &mut visit).unwrap();
    assert_eq!(rows, 40_000 * 100 + (3 << 20) + 5);
    let error = storage.append_commit(TxnId(9), Timestamp(3), &[]).unwrap_err();
    assert!(matches!(error, StorageError::OutOfOrder { .. }));
    let error = storage.append_commit(TxnId(9), Timestamp(4), &[(Key::from(&[0; 9000][..]), None)]).unwrap_err();
    assert!(matches!(error, StorageError::TooLarge { what: "key", .. }));
}

#[test]
fn writers_are_slowed_smoothly_as_memory_fills_and_freed_by_folding() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        memtable_max_bytes: 1 << 20,
        memtable_freeze_bytes: usize::MAX,
        fold_interval: Duration::from_secs(3600),
        ..Options::for_tests(dir.path())
    };
    let storage = Storage::open(options).unwrap();
    let mut delays = vec![storage.write_delay()];
    for ts in 1..=14 {
        let writes = (0..100).map(|row| (key(ts as u32, row), Some(Value::from(vec![0; 800])))).collect();
        commit(&storage, ts, writes);
        delays.push(storage.write_delay());
    }
    assert!(delays[0].is_none() && delays.is_sorted(), "{delays:?}");
    let last = delays.last().unwrap().unwrap();
    assert!(last >= Duration::from_millis(15) && last < Duration::from_millis(100), "{last:?}");
    storage.checkpoint().unwrap();
    assert_eq!((storage.write_delay(), storage.metrics().memtable_bytes), (None, 0));
}

struct Count(AtomicUsize, mpsc::Sender<()>);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
        self.1.send(()).unwrap();
    }
}

#[test]
fn wakers_are_called_once_the_commit_is_durable() {
    let dir = tempfile::tempdir().unwrap();
    let storage = Storage::open(Options::for_tests(dir.path())).unwrap();
    let (sender, receiver) = mpsc::channel();
    let count = Arc::new(Count(AtomicUsize::new(0), sender));
    let waker = Waker::from(Arc::clone(&count));
    for ts in 1..100 {
        let ts = Timestamp(ts);
        storage.append_commit(TxnId(1), ts, &[]).unwrap();
        storage.installed(ts);
        while storage.poll_durable(ts, &waker).is_pending() {
            receiver.recv_timeout(Duration::from_secs(10)).unwrap();
        }
        assert!(storage.durable_ts() >= ts);
        assert!(matches!(storage.poll_durable(ts, &waker), Poll::Ready(Ok(()))));
    }
    assert!(count.0.load(Ordering::SeqCst) <= 99);
    let other = storage.clone();
    storage.close().unwrap();
    assert!(matches!(other.poll_durable(Timestamp(1000), &waker), Poll::Ready(Err(StorageError::Closed))));
    assert!(matches!(other.get(b"x", Timestamp::MAX), Err(StorageError::Closed)));
}

#[test]
fn dropped_indexes_stay_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let storage = Storage::open(Options::for_tests(dir.path())).unwrap();
    put(&storage, 1, &key(1, 1), "folded");
    put(&storage, 2, &key(2, 1), "kept");
    storage.checkpoint().unwrap();
    put(&storage, 3, &key(1, 2), "in memory");
    storage.drop_index(IndexId(1)).unwrap();
    put(&storage, 4, &key(1, 3), "late");
    let check = |storage: &Storage| {
        for row in 1..4 {
            assert_eq!(value(storage, &key(1, row), Timestamp::MAX), None);
        }
        assert_eq!(value(storage, &key(2, 1), Timestamp::MAX).as_deref(), Some("kept"));
    };
    check(&storage);
    storage.checkpoint().unwrap();
    check(&storage);
    drop(storage);
    check(&Storage::open(Options::for_tests(dir.path())).unwrap());
}

#[test]
fn sizes_are_known_and_survive() {
    let dir = tempfile::tempdir().unwrap();
    let options = || Options { size_bucket_bytes: 10_000, ..Options::for_tests(dir.path()) };
    let storage = Storage::open(options()).unwrap();
    commit(&storage, 1, (0..2000).map(|row| (key(1, row), Some(Value::from(vec![0; 92])))).collect());
    commit(&storage, 2, (0..10).map(|row| (key(2, row), Some(Value::from(vec![0; 92])))).collect());
    storage.close().unwrap();
    let storage = Storage::open(options()).unwrap();
    let size = storage.size_of(&Span::index(IndexId(1)));
    assert_eq!(size.bytes, 200_000);
    let middle = size.middle.unwrap();
    assert!(key(1, 900) < middle && middle < key(1, 1100), "{middle}");
    let half = storage.size_of(&Span::new(key(1, 500), key(1, 1500)));
    assert!((80_000..120_000).contains(&half.bytes), "{half:?}");
    assert_eq!(storage.size_of(&Span::index(IndexId(2))).bytes, 1000);
}
