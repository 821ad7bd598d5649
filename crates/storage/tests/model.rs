//! The store against a map of versions: random commits, folds, reopens, pins, and reads in both directions at every pinned timestamp.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use tidelock_base::{IndexId, Key, RowRef, Span, Timestamp, TxnId, Value};
use tidelock_storage::{Options, SnapshotPin, Storage};

#[derive(Clone, Debug)]
enum Step {
    Commit(Vec<(u8, u8, Option<u8>)>),
    Fold,
    Pin,
    Unpin(usize),
    Reopen { clean: bool },
    Read { newest: bool, from: (u8, u8), to: (u8, u8), limit: usize },
    DropIndex(u8),
}

const INDEXES: u8 = 4;
const KEYS: u8 = 24;

fn step() -> impl Strategy<Value = Step> {
    let place = || (0..INDEXES, 0..KEYS);
    let write = (0..INDEXES, 0..KEYS, proptest::option::weighted(0.7, any::<u8>()));
    prop_oneof![
        12 => proptest::collection::vec(write, 1..8).prop_map(Step::Commit),
        3 => Just(Step::Fold),
        3 => Just(Step::Pin),
        2 => any::<usize>().prop_map(Step::Unpin),
        1 => any::<bool>().prop_map(|clean| Step::Reopen { clean }),
        8 => (any::<bool>(), place(), place(), 1..40usize)
            .prop_map(|(newest, from, to, limit)| Step::Read { newest, from, to, limit }),
        1 => (0..INDEXES).prop_map(Step::DropIndex),
    ]
}

fn key(index: u32, row: u8) -> Key {
    let mut key = Key::index_start(IndexId(index));
    key.extend(&[row]);
    if row.is_multiple_of(5) {
        key.extend(&[row; 30]);
    }
    key
}

type Versions = BTreeMap<Key, BTreeMap<u64, Option<Value>>>;

struct Harness {
    dir: tempfile::TempDir,
    storage: Option<Storage>,
    model: Versions,
    ts: u64,
    pins: Vec<SnapshotPin>,
    /// The live id of each of the script's indexes: an id is never used again.
    ids: Vec<u32>,
}

impl Harness {
    fn new() -> Harness {
        let dir = tempfile::tempdir().unwrap();
        let storage = Some(Storage::open(Harness::options(&dir)).unwrap());
        let ids = (1..=u32::from(INDEXES)).collect();
        Harness { dir, storage, model: Versions::new(), ts: 0, pins: Vec::new(), ids }
    }

    fn options(dir: &tempfile::TempDir) -> Options {
        Options { log_segment_bytes: 4096, ..Options::for_tests(dir.path()) }
    }

    fn storage(&self) -> &Storage {
        self.storage.as_ref().unwrap()
    }

    fn run(&mut self, step: Step) {
        match step {
            Step::Commit(writes) => self.commit(writes),
            Step::Fold => self.storage().checkpoint().unwrap(),
            Step::Pin => self.pins.push(self.storage().pin_durable()),
            Step::Unpin(which) => {
                if !self.pins.is_empty() {
                    let which = which % self.pins.len();
                    drop(self.pins.swap_remove(which));
                }
            }
            Step::Reopen { clean } => self.reopen(clean),
            Step::Read { newest, from, to, limit } => self.read(newest, from, to, limit),
            Step::DropIndex(index) => {
                let id = self.ids[index as usize];
                self.storage().drop_index(IndexId(id)).unwrap();
                self.model.retain(|key, _| key.index() != IndexId(id));
                self.ids[index as usize] = self.ids.iter().max().unwrap() + 1;
            }
        }
    }

    fn commit(&mut self, writes: Vec<(u8, u8, Option<u8>)>) {
        self.ts += 1;
        let value = |byte: u8| Value::from(vec![byte; usize::from(byte)]);
        let writes: BTreeMap<Key, Option<Value>> =
            writes.iter().map(|(index, row, byte)| (key(self.ids[*index as usize], *row), byte.map(value))).collect();
        let writes: Vec<_> = writes.into_iter().collect();
        let ts = Timestamp(self.ts);
        let storage = self.storage();
        storage.append_commit(TxnId(self.ts), ts, &writes).unwrap();
        storage.install_many(ts, writes.clone());
        storage.installed(ts);
        storage.sync_inline(ts).unwrap();
        for (key, value) in writes {
            self.model.entry(key).or_default().insert(self.ts, value);
        }
    }

    fn reopen(&mut self, clean: bool) {
        self.pins.clear();
        let storage = self.storage.take().unwrap();
        if clean {
            storage.close().unwrap()
        } else {
            drop(storage)
        }
        self.storage = Some(Storage::open(Harness::options(&self.dir)).unwrap());
        assert_eq!(self.storage().last_ts(), Timestamp(self.ts));
    }

    fn read(&self, newest: bool, from: (u8, u8), to: (u8, u8), limit: usize) {
        let place = |(index, row): (u8, u8)| key(self.ids[index as usize], row);
        let span = Span::new(place(from), place(to));
        let newest = newest.then_some(Timestamp::MAX);
        for at in self.pins.iter().map(SnapshotPin::ts).chain(newest) {
            for reverse in [false, true] {
                self.check_scan(&span, at, reverse, limit);
                self.check_scan(&Span::all(), at, reverse, usize::MAX);
            }
            for key in self.model.keys() {
                let found = self.storage().get(key, at).unwrap();
                let expected = self.visible(key, at);
                assert_eq!(found.as_ref().and_then(|version| version.value.clone()), expected, "{key} at {at}");
            }
        }
    }

    fn visible(&self, key: &Key, at: Timestamp) -> Option<Value> {
        self.model[key].range(..=at.0).next_back()?.1.clone()
    }

    fn check_scan(&self, span: &Span, at: Timestamp, reverse: bool, limit: usize) {
        let mut found = Vec::new();
        let mut visit = |row: RowRef<'_>| {
            found.push((row.to_key(), Value::copy_from_slice(row.value)));
            if found.len() >= limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        self.storage().scan(span, at, reverse, &mut visit).unwrap();
        let mut expected: Vec<_> =
            self.model.keys().filter(|key| span.contains(key)).filter_map(|key| Some((key.clone(), self.visible(key, at)?))).collect();
        if reverse {
            expected.reverse();
        }
        expected.truncate(limit);
        assert_eq!(found, expected, "{span} at {at}, reverse {reverse}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 400, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn the_store_answers_as_a_map_of_versions(steps in proptest::collection::vec(step(), 1..80)) {
        let mut harness = Harness::new();
        for step in steps {
            harness.run(step);
        }
    }
}

#[test]
fn long_scans_cross_batches_and_folds() {
    let mut harness = Harness::new();
    let storage = harness.storage().clone();
    let row = |row: u32| {
        let mut key = Key::index_start(IndexId(9));
        key.extend(&row.to_be_bytes());
        key
    };
    // Odd rows in the base, even ones in the memtable; every tenth deleted.
    for part in [1, 0] {
        harness.ts += 1;
        let ts = Timestamp(harness.ts);
        let writes: Vec<_> = (0..6000u32)
            .filter(|n| n % 2 == part)
            .map(|n| (row(n), (n % 10 != 0).then(|| Value::from(n.to_be_bytes().to_vec()))))
            .collect();
        storage.append_commit(TxnId(1), ts, &writes).unwrap();
        storage.install_many(ts, writes);
        storage.installed(ts);
        storage.sync_inline(ts).unwrap();
        if part == 1 {
            storage.checkpoint().unwrap();
        }
    }
    for reverse in [false, true] {
        let mut rows = Vec::new();
        let mut visit = |row: RowRef<'_>| {
            rows.push(row.to_key());
            ControlFlow::Continue(())
        };
        storage.scan(&Span::index(IndexId(9)), Timestamp::MAX, reverse, &mut visit).unwrap();
        let mut expected: Vec<_> = (0..6000).filter(|n| n % 10 != 0).map(row).collect();
        if reverse {
            expected.reverse();
        }
        assert!(rows == expected, "{} rows, reverse {reverse}", rows.len());
    }
}
