//! Readers, writers and the fold thread at once: at every pinned timestamp the money adds up, however long the pin is held.
#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tidelock_base::{IndexId, Key, RowRef, Span, Timestamp, TxnId, Value};
use tidelock_storage::{Options, SnapshotPin, Storage, Version};

const ACCOUNTS: u64 = 60;
const START: i64 = 1000;

fn account(n: u64) -> Key {
    let mut key = Key::index_start(IndexId(1 + (n % 3) as u32));
    key.extend(&n.to_be_bytes());
    key
}

fn balance(value: &[u8]) -> i64 {
    i64::from_be_bytes(value[..8].try_into().unwrap())
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// Appends and installs; the caller holds the sequencer.
fn commit(storage: &Storage, writes: Vec<(Key, Option<Value>)>) -> Timestamp {
    let ts = storage.last_ts().next();
    storage.append_commit(TxnId(ts.0), ts, &writes).unwrap();
    storage.install_many(ts, writes);
    storage.installed(ts);
    ts
}

/// Moves money; an account that falls to zero or below is deleted, and comes back with its next money.
fn transfer(storage: &Storage, sequencer: &Mutex<()>, random: &mut Random) -> Timestamp {
    let (from, to) = (random.below(ACCOUNTS), random.below(ACCOUNTS));
    let amount = random.below(400) as i64;
    let _sequencer = sequencer.lock().unwrap();
    let read = |n| storage.get(&account(n), Timestamp::MAX).unwrap().and_then(|version| version.value);
    let write = |n, amount: i64| {
        let value = Value::from(amount.to_be_bytes().to_vec());
        (account(n), (amount != 0).then_some(value))
    };
    let (have, had) = (read(from).as_ref().map_or(0, |value| balance(value)), read(to).as_ref().map_or(0, |value| balance(value)));
    let amount = amount.min(have);
    let writes = if from == to { vec![] } else { vec![write(from, have - amount), write(to, had + amount)] };
    commit(storage, writes)
}

fn check(storage: &Storage, pin: &SnapshotPin, reverse: bool) {
    let (mut sum, mut rows) = (0, Vec::new());
    let mut visit = |row: RowRef<'_>| {
        sum += balance(row.value);
        rows.push((row.to_key(), Version { ts: row.ts, value: Some(Value::copy_from_slice(row.value)) }));
        ControlFlow::Continue(())
    };
    storage.scan(&Span::all(), pin.ts(), reverse, &mut visit).unwrap();
    assert_eq!(sum, START * ACCOUNTS as i64, "scan at {pin:?}");
    for (key, version) in rows {
        assert!(version.ts <= pin.ts());
        assert_eq!(storage.get(&key, pin.ts()).unwrap(), Some(version), "{key} at {pin:?}");
    }
}

#[test]
fn the_money_adds_up_at_every_pin() {
    let dir = tempfile::tempdir().unwrap();
    let options = || Options {
        fold_interval: Duration::ZERO,
        log_segment_bytes: 64 << 10,
        memtable_freeze_bytes: 1,
        ..Options::for_tests(dir.path())
    };
    let storage = Storage::open(options()).unwrap();
    let sequencer = Mutex::new(());
    let start = (0..ACCOUNTS).map(|n| (account(n), Some(Value::from(START.to_be_bytes().to_vec())))).collect();
    let ts = commit(&storage, start);
    storage.wait_durable(ts).unwrap();
    let (stop, checks) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for seed in 1..3 {
            let (storage, sequencer, stop) = (&storage, &sequencer, &stop);
            scope.spawn(move || {
                let mut random = Random(seed);
                while !stop.load(Ordering::Relaxed) {
                    let ts = transfer(storage, sequencer, &mut random);
                    if random.below(4) == 0 {
                        storage.wait_durable(ts).unwrap();
                    }
                }
            });
        }
        for seed in 10..13 {
            let (storage, sequencer, stop, checks) = (&storage, &sequencer, &stop, &checks);
            scope.spawn(move || {
                let mut random = Random(seed);
                let mut held: Vec<SnapshotPin> = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    // Between an append and its install a commit may be durable and not readable: that gap is the lock table's to fill.
                    held.push({
                        let _sequencer = sequencer.lock().unwrap();
                        storage.pin_durable()
                    });
                    let again = random.below(held.len() as u64) as usize;
                    check(storage, &held[again], random.below(2) == 0);
                    checks.fetch_add(1, Ordering::Relaxed);
                    if held.len() > 8 {
                        drop(held.swap_remove(again));
                    }
                }
            });
        }
        std::thread::sleep(Duration::from_secs(3));
        stop.store(true, Ordering::Relaxed);
    });
    let metrics = storage.metrics();
    assert!(checks.load(Ordering::Relaxed) > 100 && metrics.fold_passes > 20, "{metrics:?}");
    let last = storage.last_ts();
    drop(storage);
    let storage = Storage::open(options()).unwrap();
    assert_eq!(storage.last_ts(), last);
    check(&storage, &storage.pin_durable(), false);
    storage.checkpoint().unwrap();
    check(&storage, &storage.pin_durable(), true);
    assert_eq!(storage.metrics().history_rows, 0);
}
