//! Bulk loading: rows of an index that nobody knows yet, straight into the base.
#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tidelock_base::{IndexId, Key, RowRef, Span, Timestamp, TxnId, Value};
use tidelock_storage::disk::{Fault, SimDisk};
use tidelock_storage::{Options, Storage, StorageError};

const LOADED: IndexId = IndexId(7);

fn key(index: IndexId, row: u64) -> Key {
    let mut key = Key::index_start(index);
    key.extend(&row.to_be_bytes());
    key
}

/// A portion of rows; each value tells its row.
fn rows(from: u64, to: u64) -> Vec<(Key, Value)> {
    (from..to).map(|row| (key(LOADED, row), Value::from(format!("row {row}").into_bytes()))).collect()
}

fn put(storage: &Storage, ts: u64, key: &Key, value: &'static str) {
    let (ts, value) = (Timestamp(ts), Some(Value::from_static(value.as_bytes())));
    storage.append_commit(TxnId(ts.0), ts, &[(key.clone(), value.clone())]).unwrap();
    storage.install(ts, key.clone(), value);
    storage.installed(ts);
    storage.sync_inline(ts).unwrap();
}

fn count(storage: &Storage, at: Timestamp) -> usize {
    let mut rows = 0;
    let mut visit = |_: RowRef<'_>| {
        rows += 1;
        ControlFlow::Continue(())
    };
    storage.scan(&Span::index(LOADED), at, false, &mut visit).unwrap();
    rows
}

#[test]
fn loaded_rows_are_seen_by_every_snapshot_and_after_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let storage = Storage::open(Options::for_tests(dir.path())).unwrap();
    put(&storage, 5, &key(IndexId(1), 1), "before");
    let pin = storage.pin_durable();
    assert_eq!(storage.ingest(&rows(0, 1000)).unwrap(), None);
    assert_eq!(storage.ingest(&rows(1000, 1500)).unwrap(), None);
    assert_eq!(count(&storage, pin.ts()), 1500);
    assert_eq!(storage.get(&key(LOADED, 1499), Timestamp::MAX).unwrap().unwrap().value.unwrap(), "row 1499");
    assert!(storage.size_of(&Span::index(LOADED)).bytes > 1500 * 12);
    assert!(storage.indexes().contains(&LOADED));
    drop(pin);
    drop(storage);
    let storage = Storage::open(Options::for_tests(dir.path())).unwrap();
    assert_eq!(count(&storage, Timestamp::MAX), 1500);
}

#[test]
fn a_duplicate_is_named_and_nothing_of_its_portion_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let storage = Storage::open(Options::for_tests(dir.path())).unwrap();
    storage.ingest(&rows(0, 10)).unwrap();
    assert_eq!(storage.ingest(&rows(9, 20)).unwrap(), Some(key(LOADED, 9)));
    let mut twice = rows(20, 22);
    twice.push(twice[1].clone());
    assert_eq!(storage.ingest(&twice).unwrap(), Some(key(LOADED, 21)));
    assert_eq!(count(&storage, Timestamp::MAX), 10);
}

#[test]
fn a_portion_may_go_between_the_rows_of_another() {
    let dir = tempfile::tempdir().unwrap();
    let storage = Storage::open(Options::for_tests(dir.path())).unwrap();
    let (even, odd): (Vec<_>, Vec<_>) = rows(0, 2000).into_iter().enumerate().partition(|(row, _)| row % 2 == 0);
    for portion in [even, odd] {
        let portion: Vec<(Key, Value)> = portion.into_iter().map(|(_, row)| row).collect();
        assert_eq!(storage.ingest(&portion).unwrap(), None);
    }
    assert_eq!(count(&storage, Timestamp::MAX), 2000);
    assert_eq!(storage.ingest(&rows(1999, 2002)).unwrap(), Some(key(LOADED, 1999)));
    assert_eq!(storage.get(&key(LOADED, 1234), Timestamp::MAX).unwrap().unwrap().value.unwrap(), "row 1234");
}

#[test]
fn updates_go_over_loaded_rows_and_old_snapshots_keep_them() {
    let dir = tempfile::tempdir().unwrap();
    let storage = Storage::open(Options::for_tests(dir.path())).unwrap();
    put(&storage, 5, &key(IndexId(1), 1), "any");
    storage.ingest(&rows(0, 3)).unwrap();
    let pin = storage.pin_durable();
    put(&storage, 6, &key(LOADED, 1), "changed");
    storage.checkpoint().unwrap();
    let value = |at| storage.get(&key(LOADED, 1), at).unwrap().unwrap().value.unwrap();
    assert_eq!(value(pin.ts()), "row 1");
    assert_eq!(value(Timestamp::MAX), "changed");
}

#[test]
fn nothing_can_be_loaded_into_a_dropped_index() {
    let dir = tempfile::tempdir().unwrap();
    let storage = Storage::open(Options::for_tests(dir.path())).unwrap();
    storage.ingest(&rows(0, 3)).unwrap();
    storage.drop_index(LOADED).unwrap();
    assert!(matches!(storage.ingest(&rows(3, 6)), Err(StorageError::IndexDropped(LOADED))));
    storage.checkpoint().unwrap();
    assert_eq!(count(&storage, Timestamp::MAX), 0);
    assert!(!storage.indexes().contains(&LOADED));
    put(&storage, 9, &key(IndexId(1), 1), "the store lives");
}

#[test]
fn a_fold_at_the_same_time_hides_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let storage = Storage::open(Options::for_tests(dir.path())).unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let folding = {
        let (storage, done) = (storage.clone(), Arc::clone(&done));
        std::thread::spawn(move || {
            let mut ts = 10;
            while !done.load(Ordering::Relaxed) {
                put(&storage, ts, &key(IndexId(1), ts % 50), "written and folded meanwhile");
                storage.checkpoint().unwrap();
                ts += 1;
            }
        })
    };
    for portion in 0..60 {
        storage.ingest(&rows(portion * 10, portion * 10 + 10)).unwrap();
        assert_eq!(count(&storage, Timestamp::MAX), (portion as usize + 1) * 10);
    }
    done.store(true, Ordering::Relaxed);
    folding.join().unwrap();
    assert_eq!(count(&storage, Timestamp::MAX), 600);
}

/// Loads portions of ten until something fails; answers how many were acknowledged.
fn load(disk: &SimDisk) -> u64 {
    let options = Options { disk: Some(Arc::new(disk.clone())), ..Options::for_tests("/simulated") };
    let Ok(storage) = Storage::open(options) else { return 0 };
    (0..8).take_while(|portion| storage.ingest(&rows(portion * 10, portion * 10 + 10)).is_ok()).count() as u64
}

#[test]
fn after_a_crash_each_portion_is_there_whole_or_not_at_all() {
    let whole = SimDisk::new();
    assert_eq!(load(&whole), 8);
    let steps = whole.operations();
    assert!(steps > 20, "{steps} operations");
    for step in 0..steps {
        let disk = SimDisk::new();
        disk.fault_at(step, Fault::Crash);
        let acknowledged = load(&disk);
        let crashed = disk.crash(step * 17 + 3);
        let options = Options { disk: Some(Arc::new(crashed)), ..Options::for_tests("/simulated") };
        let storage = Storage::open(options).unwrap();
        let found = count(&storage, Timestamp::MAX) as u64;
        assert!(found.is_multiple_of(10) && found >= acknowledged * 10, "step {step}: {found} rows of {acknowledged} portions");
    }
}
