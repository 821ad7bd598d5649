//! Spilled rows: what a transaction keeps in redb until its end is all there after a commit, and not at all without one, whenever the
//! machine loses power.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc;
use tidelock_base::{IndexId, Key, RowRef, Span, Timestamp, TxnId, Value};
use tidelock_storage::disk::{Fault, SimDisk};
use tidelock_storage::{Done, Options, SequenceRanges, SpillEnd, SpillRow, SpilledVersion, Storage, StorageError};

fn options(disk: &SimDisk) -> Options {
    Options { log_segment_bytes: 4096, disk: Some(Arc::new(disk.clone())), ..Options::for_tests("/simulated") }
}

fn key(row: u64) -> Key {
    let mut key = Key::index_start(IndexId(1 + (row % 2) as u32));
    key.extend(&row.to_be_bytes());
    key
}

fn value(ts: u64) -> Value {
    Value::from(vec![ts as u8; 30])
}

type Change = Option<Value>;
type Model = BTreeMap<Key, Value>;

/// What a transaction of the script does: a step is either an ordinary commit, or a spilled transaction.
enum Step {
    Small(Vec<(Key, Change)>),
    /// Statements of a spilled transaction, those that were rolled back, what it kept in memory, and whether it commits.
    Spilled {
        statements: Vec<Vec<(Key, Change)>>,
        ignored: Vec<u32>,
        rest: Vec<(Key, Change)>,
        commit: bool,
    },
}

const ROWS: u64 = 40;

fn step(ts: u64) -> Step {
    let change = |n: u64| (key((ts * 7 + n * 3) % ROWS), (!(ts + n).is_multiple_of(3)).then(|| value(ts)));
    if !ts.is_multiple_of(3) {
        let writes: BTreeMap<_, _> = (0..1 + ts % 4).map(change).collect();
        return Step::Small(writes.into_iter().collect());
    }
    let statement = |number: u64| (0..12).map(|n| change(n + number * 5)).collect::<BTreeMap<_, _>>().into_iter().collect();
    Step::Spilled {
        statements: (0..4).map(statement).collect(),
        ignored: if ts.is_multiple_of(2) { vec![2, 3] } else { vec![] },
        // It writes one more row, and deletes one that it has spilled.
        rest: BTreeMap::from([(key(ts % ROWS), Some(value(ts + 100))), (key((ts * 7 + 3) % ROWS), None)]).into_iter().collect(),
        commit: !ts.is_multiple_of(12),
    }
}

fn apply(model: &mut Model, ts: u64) {
    let mut put = |writes: &[(Key, Change)]| {
        for (key, change) in writes {
            match change {
                Some(value) => drop(model.insert(key.clone(), value.clone())),
                None => drop(model.remove(key)),
            }
        }
    };
    match step(ts) {
        Step::Small(writes) => put(&writes),
        Step::Spilled { commit: false, .. } => {}
        Step::Spilled { statements, ignored, rest, .. } => {
            let numbered = (1..).zip(&statements).filter(|(number, _)| !ignored.contains(number));
            numbered.for_each(|(_, writes)| put(writes));
            put(&rest);
        }
    }
}

fn model(last: u64) -> Model {
    let mut model = Model::new();
    (1..=last).for_each(|ts| apply(&mut model, ts));
    model
}

fn waiting() -> (Done, mpsc::Receiver<Result<(), StorageError>>) {
    let (sender, receiver) = mpsc::channel();
    (Box::new(move |result| drop(sender.send(result))), receiver)
}

fn wait(receiver: &mpsc::Receiver<Result<(), StorageError>>) -> Result<(), StorageError> {
    receiver.recv().unwrap_or(Err(StorageError::Closed))
}

fn run(storage: &Storage, ts: u64) -> Result<(), StorageError> {
    match step(ts) {
        Step::Small(writes) => {
            storage.append_commit(TxnId(ts), Timestamp(ts), &writes)?;
            storage.install_many(Timestamp(ts), writes);
            storage.installed(Timestamp(ts));
            storage.sync_inline(Timestamp(ts))
        }
        Step::Spilled { statements, ignored, rest, commit } => {
            spill(storage, ts, &statements)?;
            if !commit {
                return abort(storage, ts);
            }
            let mut ranges = SequenceRanges::default();
            ignored.iter().for_each(|number| ranges.add(*number, *number));
            storage.append_spilled_commit(TxnId(ts), Timestamp(ts), &rest, &ranges)?;
            let pin = storage.pin(Timestamp(ts));
            storage.install_many(Timestamp(ts), rest);
            let (done, moved) = waiting();
            storage.end_spilled(TxnId(ts), SpillEnd::Commit { pin, ignored: ranges }, done)?;
            storage.sync_inline(Timestamp(ts))?;
            wait(&moved)?;
            storage.installed(Timestamp(ts));
            Ok(())
        }
    }
}

fn spill(storage: &Storage, ts: u64, statements: &[Vec<(Key, Change)>]) -> Result<(), StorageError> {
    for (sequence, writes) in (1..).zip(statements) {
        let row = |(key, change): &(Key, Change)| SpillRow {
            key: key.clone(),
            version: SpilledVersion { sequence, tag: 3, change: Some(change.clone()) },
        };
        let (done, written) = waiting();
        storage.spill(TxnId(ts), writes.iter().map(row).collect(), done)?;
        wait(&written)?;
    }
    Ok(())
}

/// Every second one is left as it is: the crash will find it.
fn abort(storage: &Storage, ts: u64) -> Result<(), StorageError> {
    if ts.is_multiple_of(24) {
        return Ok(());
    }
    let (done, dropped) = waiting();
    storage.end_spilled(TxnId(ts), SpillEnd::Abort, done)?;
    wait(&dropped)
}

fn contents(storage: &Storage) -> Model {
    let mut rows = Model::new();
    let mut visit = |row: RowRef<'_>| {
        rows.insert(row.to_key(), Value::copy_from_slice(row.value));
        ControlFlow::Continue(())
    };
    storage.scan(&Span::all(), Timestamp::MAX, false, &mut visit).unwrap();
    rows
}

/// Runs the script until something fails; answers the newest step that was through.
fn workload(disk: &SimDisk, steps: u64) -> u64 {
    let Ok(storage) = Storage::open(options(disk)) else { return 0 };
    for ts in 1..=steps {
        if run(&storage, ts).is_err() || (ts.is_multiple_of(7) && storage.checkpoint().is_err()) {
            return ts - 1;
        }
    }
    steps
}

/// The steps up to `through` are there, perhaps the next one too, nothing else; twice, because a recovery may be cut short as well.
fn check(disk: &SimDisk, through: u64, what: &str) {
    for round in 0..2 {
        let storage = Storage::open(options(disk)).unwrap_or_else(|error| panic!("{what}: {error}"));
        let found = contents(&storage);
        let known = [through, through + 1].into_iter().find(|last| found == model(*last));
        assert!(known.is_some(), "{what}, opened {} times: neither {through} steps nor one more", round + 1);
        assert_eq!(storage.metrics().spilled_transactions, 0, "{what}: a spilled table was left without a commit");
    }
}

fn settled(storage: &Storage) -> bool {
    storage.checkpoint().unwrap();
    storage.metrics().spilled_transactions == 0
}

#[test]
fn a_crash_at_any_step_leaves_all_or_nothing_of_a_spilled_transaction() {
    const STEPS: u64 = 26;
    let whole = SimDisk::new();
    assert_eq!(workload(&whole, STEPS), STEPS);
    let operations = whole.operations();
    assert!(operations > 300, "{operations} operations");
    for at in (0..operations).step_by(3) {
        let disk = SimDisk::new();
        disk.fault_at(at, Fault::Crash);
        let through = workload(&disk, STEPS);
        let crashed = disk.crash(at * 31);
        check_without_metric(&crashed, through, &format!("crash at {at} of {operations}"));
    }
}

/// As [`check`]; committed tables may still stand, waiting for the log to be cut.
fn check_without_metric(disk: &SimDisk, through: u64, what: &str) {
    for round in 0..2u64 {
        let storage = Storage::open(options(disk)).unwrap_or_else(|error| panic!("{what}: {error}"));
        let found = contents(&storage);
        let known = [through, through + 1].into_iter().find(|last| found == model(*last));
        assert!(known.is_some(), "{what}, opened {} times: neither {through} steps nor one more", round + 1);
        if round == 1 {
            assert!((0..50).any(|_| settled(&storage)), "{what}: a spilled table stays for ever");
            assert_eq!(contents(&storage), found, "{what}: after its table went");
        }
    }
}

#[test]
fn tables_go_when_the_log_is_cut() {
    let disk = SimDisk::new();
    let storage = Storage::open(options(&disk)).unwrap();
    (1..=11).for_each(|ts| run(&storage, ts).unwrap());
    assert_eq!(contents(&storage), model(11));
    assert!((0..50).any(|_| settled(&storage)));
    assert_eq!(contents(&storage), model(11));
    let metrics = storage.metrics();
    assert!(metrics.spilled_rows > 0 && metrics.spilled_rows_moved > 0);
    drop(storage);
    check(&disk, 11, "closed");
}

#[test]
fn a_reader_sees_what_was_spilled_newest_first() {
    let storage = Storage::open(options(&SimDisk::new())).unwrap();
    let statements = [vec![(key(1), Some(value(1))), (key(3), Some(value(3)))], vec![(key(1), None)]];
    spill(&storage, 3, &statements).unwrap();
    let versions = storage.spilled_get(TxnId(3), &key(1)).unwrap();
    let shown: Vec<_> = versions.iter().map(|version| (version.sequence, version.change.clone())).collect();
    assert_eq!(shown, [(2, Some(None)), (1, Some(Some(value(1))))]);
    assert!(storage.spilled_get(TxnId(4), &key(1)).unwrap().is_empty());
    for reverse in [false, true] {
        let mut seen = Vec::new();
        let mut visit = |key: Key, versions: tidelock_storage::SpilledVersions| {
            seen.push((key, versions.len()));
            ControlFlow::Continue(())
        };
        storage.spilled_scan(TxnId(3), &Span::all(), reverse, &mut visit).unwrap();
        let mut expected = vec![(key(1), 2), (key(3), 1)];
        if reverse {
            expected.reverse();
        }
        assert_eq!(seen, expected);
    }
    assert_eq!(contents(&storage), Model::new(), "nothing spilled is a version");
}

#[test]
fn a_snapshot_keeps_what_moved_rows_displace() {
    let storage = Storage::open(options(&SimDisk::new())).unwrap();
    run(&storage, 1).unwrap();
    run(&storage, 2).unwrap();
    let pin = storage.pin_durable();
    let before = contents(&storage);
    run(&storage, 3).unwrap();
    storage.checkpoint().unwrap();
    let mut rows = Model::new();
    let mut visit = |row: RowRef<'_>| {
        rows.insert(row.to_key(), Value::copy_from_slice(row.value));
        ControlFlow::Continue(())
    };
    storage.scan(&Span::all(), pin.ts(), false, &mut visit).unwrap();
    assert_eq!(rows, before);
    assert_eq!(contents(&storage), model(3));
}
