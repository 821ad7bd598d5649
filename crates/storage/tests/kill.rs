//! kill -9: a child process commits and tells what was acknowledged; after its death all of it is there.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use tidelock_base::{IndexId, Key, Timestamp, TxnId, Value};
use tidelock_storage::{Options, Storage};

/// Tells the test binary, run again as the child, where its data lies.
const DIR_VARIABLE: &str = "TIDELOCK_KILL_TEST_DIR";
const ROWS: u64 = 20;

fn options(dir: &str) -> Options {
    Options { sync: true, log_segment_bytes: 256 << 10, memtable_freeze_bytes: 32 << 10, ..Options::for_tests(dir) }
}

fn row(n: u64) -> Key {
    let mut key = Key::index_start(IndexId(1));
    key.extend(&(n % ROWS).to_be_bytes());
    key
}

/// Not a test of its own: without the variable it does nothing.
#[test]
fn child_that_commits_until_it_is_killed() {
    let Ok(dir) = std::env::var(DIR_VARIABLE) else { return };
    let storage = Storage::open(options(&dir)).unwrap();
    let mut out = std::io::stdout().lock();
    loop {
        let ts = storage.last_ts().next();
        let writes: Vec<_> = (ts.0..ts.0 + 5).map(|n| (row(n), Some(Value::from(ts.0.to_be_bytes().repeat(10))))).collect();
        storage.append_commit(TxnId(ts.0), ts, &writes).unwrap();
        storage.install_many(ts, writes);
        storage.installed(ts);
        storage.sync_inline(ts).unwrap();
        writeln!(out, "\nacknowledged {}", ts.0).unwrap();
    }
}

#[test]
fn nothing_acknowledged_is_lost_by_kill_9() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap();
    let mut acknowledged = 0;
    for round in 1..=4u64 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_that_commits_until_it_is_killed", "--nocapture"])
            .env(DIR_VARIABLE, path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut numbers = lines.by_ref().filter_map(|line| line.unwrap().strip_prefix("acknowledged ")?.parse().ok());
        for _ in 0..150 * round {
            acknowledged = numbers.next().unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        acknowledged = numbers.last().unwrap_or(acknowledged);
        let storage = Storage::open(options(path)).unwrap();
        let last = storage.last_ts().0;
        assert!(last >= acknowledged, "recovered {last} of {acknowledged}");
        for n in last..last + 5 {
            let version = storage.get(&row(n), Timestamp::MAX).unwrap().unwrap();
            assert_eq!(version.ts, Timestamp(last));
        }
        let older = storage.get(&row(last + 5), Timestamp::MAX).unwrap().unwrap();
        assert!(older.ts < Timestamp(last) && older.ts.0 + ROWS > last);
    }
}
