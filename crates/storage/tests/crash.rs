//! Crashes: whatever the disk loses, what was acknowledged is there afterwards, and nothing half.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use tidelock_base::{IndexId, Key, RowRef, Span, Timestamp, TxnId, Value};
use tidelock_storage::disk::{Fault, SimDisk};
use tidelock_storage::{Options, Storage, StorageError};

fn options(disk: &SimDisk) -> Options {
    Options { log_segment_bytes: 2048, disk: Some(Arc::new(disk.clone())), ..Options::for_tests("/simulated") }
}

fn key(index: u32, row: u64) -> Key {
    let mut key = Key::index_start(IndexId(index));
    key.extend(&row.to_be_bytes());
    key
}

type Writes = Vec<(Key, Option<Value>)>;

/// Commit number `ts` of the script: several keys of two indexes, with deletions, each value telling its commit.
fn writes(ts: u64) -> Writes {
    let write = |n: u64| {
        let row = (ts * 7 + n * 3) % 13;
        let value = (!(ts + n).is_multiple_of(4)).then(|| Value::from(vec![ts as u8; 20 + (ts % 50) as usize]));
        (key(1 + (n % 2) as u32, row), value)
    };
    let writes: BTreeMap<_, _> = (0..1 + ts % 5).map(write).collect();
    writes.into_iter().collect()
}

fn commit(storage: &Storage, ts: u64) -> Result<(), StorageError> {
    append(storage, ts)?;
    storage.sync_inline(Timestamp(ts))
}

fn append(storage: &Storage, ts: u64) -> Result<(), StorageError> {
    storage.append_commit(TxnId(ts), Timestamp(ts), &writes(ts))?;
    storage.install_many(Timestamp(ts), writes(ts));
    storage.installed(Timestamp(ts));
    Ok(())
}

/// What a store holds after the first `commits` commits.
fn model(commits: u64) -> BTreeMap<Key, Value> {
    let mut rows = BTreeMap::new();
    for (key, value) in (1..=commits).flat_map(writes) {
        match value {
            Some(value) => rows.insert(key, value),
            None => rows.remove(&key),
        };
    }
    rows
}

fn contents(storage: &Storage) -> BTreeMap<Key, Value> {
    let mut rows = BTreeMap::new();
    let mut visit = |row: RowRef<'_>| {
        rows.insert(row.to_key(), Value::copy_from_slice(row.value));
        ControlFlow::Continue(())
    };
    storage.scan(&Span::all(), Timestamp::MAX, false, &mut visit).unwrap();
    rows
}

/// Opens, checks that exactly a prefix of the commits is there and at least `acknowledged`, and that the store works on.
fn check(disk: &SimDisk, acknowledged: u64, what: &str) -> u64 {
    let storage = Storage::open(options(disk)).unwrap_or_else(|error| panic!("{what}: {error}"));
    let recovered = storage.last_ts().0;
    assert!(recovered >= acknowledged, "{what}: recovered {recovered} of {acknowledged} acknowledged");
    assert_eq!(contents(&storage), model(recovered), "{what}: after {recovered} commits");
    commit(&storage, recovered + 1).unwrap();
    storage.checkpoint().unwrap();
    assert_eq!(contents(&storage), model(recovered + 1), "{what}: after one more");
    storage.close().unwrap();
    recovered
}

/// Commits, folds and unsynced appends until something fails; answers the newest acknowledged commit.
fn workload(disk: &SimDisk, first: u64, commits: u64) -> u64 {
    let mut acknowledged = first - 1;
    let Ok(storage) = Storage::open(options(disk)) else { return acknowledged };
    for ts in first..first + commits {
        let outcome = if ts.is_multiple_of(5) { append(&storage, ts) } else { commit(&storage, ts) };
        if outcome.is_err() {
            break;
        }
        acknowledged = storage.durable_ts().0;
        if ts.is_multiple_of(11) && storage.checkpoint().is_err() {
            break;
        }
    }
    acknowledged
}

#[test]
fn a_crash_at_any_step_loses_nothing_acknowledged() {
    let whole = SimDisk::new();
    workload(&whole, 1, 60);
    let steps = whole.operations();
    assert!(steps > 100, "{steps} operations");
    for step in 0..steps {
        let disk = SimDisk::new();
        disk.fault_at(step, Fault::Crash);
        let acknowledged = workload(&disk, 1, 60);
        for seed in 0..2 {
            check(&disk.crash(step * 31 + seed), acknowledged, &format!("crash at {step}, seed {seed}"));
        }
    }
}

#[test]
fn a_crash_during_recovery_loses_nothing_either() {
    for step in 0..40 {
        let disk = SimDisk::new();
        let acknowledged = workload(&disk, 1, 30);
        let crashed = disk.crash(step + 1);
        crashed.fault_at(step, Fault::Crash);
        let recovered = match Storage::open(options(&crashed)) {
            Ok(storage) => storage.last_ts().0,
            Err(_) => acknowledged,
        };
        assert!(recovered >= acknowledged);
        check(&crashed.crash(step + 7), acknowledged, &format!("second crash at {step}"));
    }
}

#[test]
fn io_errors_and_a_full_disk_end_the_store_and_nothing_else() {
    for fault in [Fault::Io, Fault::Full] {
        for step in (0..160).step_by(3) {
            let disk = SimDisk::new();
            disk.fault_at(step, fault);
            let acknowledged = workload(&disk, 1, 40);
            check(&disk.crash(step + 1), acknowledged, &format!("{fault:?} at {step}"));
        }
    }
}

#[test]
fn after_a_failed_sync_every_call_fails() {
    let disk = SimDisk::new();
    let storage = Storage::open(options(&disk)).unwrap();
    commit(&storage, 1).unwrap();
    disk.fault_at(disk.operations(), Fault::Io);
    assert!(commit(&storage, 2).is_err());
    for _ in 0..2 {
        let error = commit(&storage, 3).unwrap_err();
        assert!(matches!(error, StorageError::Failed(_)), "{error}");
        assert!(storage.get(&key(1, 1), Timestamp::MAX).is_err() && storage.checkpoint().is_err());
    }
}

/// A log in one segment, nothing folded: its last segment, and where its records end.
fn one_segment(commits: u64) -> (SimDisk, String) {
    let disk = SimDisk::new();
    let storage = Storage::open(Options { log_segment_bytes: 1 << 16, ..options(&disk) }).unwrap();
    for ts in 1..=commits {
        commit(&storage, ts).unwrap();
    }
    drop(storage);
    let name = disk.names().into_iter().rfind(|name| name.starts_with("log-")).unwrap();
    (disk, name)
}

fn used_bytes(disk: &SimDisk, name: &str) -> usize {
    let mut used = 0;
    disk.damage(name, |bytes| used = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1);
    used
}

#[test]
fn a_tail_torn_at_any_byte_ends_the_log_there() {
    let (disk, name) = one_segment(6);
    let used = used_bytes(&disk, &name);
    let mut seen = std::collections::BTreeSet::new();
    for cut in (32..used).rev() {
        let torn = disk.crash(0);
        torn.damage(&name, |bytes| bytes[cut..].fill(0));
        seen.insert(check(&torn, 0, &format!("cut at {cut} of {used}")));
        let torn = disk.crash(0);
        torn.damage(&name, |bytes| bytes.truncate(cut));
        check(&torn, 0, &format!("truncated at {cut} of {used}"));
    }
    assert_eq!(seen, (0..6).collect());
}

#[test]
fn damage_to_a_synced_record_is_refused_with_file_and_offset() {
    let (disk, name) = one_segment(6);
    let used = used_bytes(&disk, &name);
    let mut refused = 0;
    // The last two records may pass for a torn tail: nothing behind them says that they were synced.
    for at in 32..used - 400 {
        let damaged = disk.crash(0);
        damaged.damage(&name, |bytes| bytes[at] ^= 0x55);
        match Storage::open(options(&damaged)) {
            Err(StorageError::Corrupt { file, offset, .. }) => {
                assert_eq!(file, name);
                assert!(offset as usize <= at);
                refused += 1;
            }
            // Padding is not checked.
            Ok(storage) => assert_eq!(contents(&storage), model(6), "damage at {at}"),
            Err(error) => panic!("damage at {at}: {error}"),
        }
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn damage_or_a_gap_before_the_last_segment_is_refused() {
    let disk = SimDisk::new();
    let storage = Storage::open(options(&disk)).unwrap();
    for ts in 1..60 {
        commit(&storage, ts).unwrap();
    }
    drop(storage);
    let first = disk.names().into_iter().find(|name| name.starts_with("log-")).unwrap();
    let damaged = disk.crash(0);
    damaged.damage(&first, |bytes| bytes[700] ^= 1);
    let error = Storage::open(options(&damaged)).err().unwrap();
    assert!(matches!(&error, StorageError::Corrupt { file, .. } if *file == first), "{error}");
    let damaged = disk.crash(0);
    tidelock_storage::disk::Disk::remove(&damaged, &first).unwrap();
    let error = Storage::open(options(&damaged)).err().unwrap();
    assert!(matches!(&error, StorageError::Corrupt { file, .. } if *file == first), "{error}");
}
