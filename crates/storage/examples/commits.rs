//! Commits a second, and what reads cost, on this machine's disk.
//!
//! `cargo run --release -p tidelock-storage --example commits -- [DIR] [SECONDS] [THREADS ...]`
//!
//! Each thread commits ten puts of 100 bytes to random rows out of a million, as a commit sequencer would: append and install under
//! one mutex, then wait for durability outside it. "sust." includes folding everything at the end.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tidelock_base::{IndexId, Key, RowRef, Span, Timestamp, TxnId, Value};
use tidelock_storage::{Options, Storage};

const ROWS: u64 = 1_000_000;
const INDEXES: u64 = 8;
const PUTS: usize = 10;

fn key(row: u64) -> Key {
    let mut key = Key::index_start(IndexId((row % INDEXES) as u32 + 1));
    key.extend(&row.to_be_bytes());
    key.extend(&[0; 4]);
    key
}

struct Random(u64);

impl Random {
    fn row(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % ROWS
    }
}

fn main() {
    let mut args = std::env::args().skip(1);
    let dir = args.next().unwrap_or_else(|| "/tmp/tidelock-commits".into());
    let seconds: u64 = args.next().map_or(5, |arg| arg.parse().unwrap());
    let threads: Vec<usize> = args.map(|arg| arg.parse().unwrap()).collect();
    let threads = if threads.is_empty() { vec![1, 8, 32] } else { threads };
    let _ = std::fs::remove_dir_all(&dir);
    let storage = Storage::open(Options::new(&dir)).unwrap();
    load(&storage);
    reads(&storage, "base");
    println!("threads  commits/s   sust./s   p50 ms   p99 ms  p999 ms  commits/sync  folded rows");
    for count in threads {
        commits(&storage, count, Duration::from_secs(seconds));
    }
    let opening = Instant::now();
    drop(storage);
    let closed = opening.elapsed();
    let opening = Instant::now();
    let storage = Storage::open(Options::new(&dir)).unwrap();
    println!("closed in {closed:?}, opened at {} in {:?}", storage.last_ts(), opening.elapsed());
    let mut random = Random(99);
    let writes: Vec<_> = (0..200_000).map(|_| (key(random.row()), Some(Value::from(vec![1; 100])))).collect();
    commit_all(&storage, writes);
    reads(&storage, "memtable over base");
    let metrics = storage.metrics();
    println!("{metrics:#?}");
    storage.close().unwrap();
    let _ = std::fs::remove_dir_all(&dir);
}

fn commit_all(storage: &Storage, writes: Vec<(Key, Option<Value>)>) {
    let ts = storage.last_ts().next();
    storage.append_commit(TxnId(ts.0), ts, &writes).unwrap();
    storage.install_many(ts, writes);
    storage.installed(ts);
    storage.sync_inline(ts).unwrap();
}

fn load(storage: &Storage) {
    let started = Instant::now();
    for batch in 0..ROWS / 10_000 {
        let rows = batch * 10_000..(batch + 1) * 10_000;
        commit_all(storage, rows.map(|row| (key(row), Some(Value::from(vec![0; 100])))).collect());
    }
    let installed = started.elapsed();
    storage.checkpoint().unwrap();
    println!("loaded {ROWS} rows in {installed:?}, folded after {:?}", started.elapsed());
}

fn reads(storage: &Storage, what: &str) {
    let mut random = Random(7);
    let time = |name: &str, mut read: Box<dyn FnMut(u64) + '_>| {
        let rows: Vec<u64> = (0..200_000).map(|_| random.row()).collect();
        let started = Instant::now();
        rows.iter().for_each(|row| read(*row));
        println!("{what}: {name} {:.2} us", started.elapsed().as_nanos() as f64 / 1e3 / rows.len() as f64);
    };
    let mut time = time;
    time("get", Box::new(|row| assert!(storage.get(&key(row), Timestamp::MAX).unwrap().is_some())));
    time("hot get", Box::new(|row| assert!(storage.get(&key(row % 1000), Timestamp::MAX).unwrap().is_some())));
    for limit in [1, 10, 100] {
        time(
            &format!("scan {limit}"),
            Box::new(move |row| {
                let start = key(row);
                let span = Span::new(start.clone(), Key::index_end(start.index()));
                let mut seen = 0;
                let mut visit = |_: RowRef<'_>| {
                    seen += 1;
                    if seen == limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                };
                storage.scan(&span, Timestamp::MAX, false, &mut visit).unwrap();
            }),
        );
    }
    time("pin", Box::new(|_| drop(storage.pin_durable())));
}

fn commits(storage: &Storage, threads: usize, duration: Duration) {
    let sequencer = Mutex::new(());
    let stop = AtomicBool::new(false);
    let before = storage.metrics();
    let started = Instant::now();
    let mut latencies: Vec<Duration> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads as u64)
            .map(|worker| {
                let (sequencer, stop) = (&sequencer, &stop);
                scope.spawn(move || work(storage, sequencer, stop, Random(worker * 7919 + 1), threads == 1))
            })
            .collect();
        std::thread::sleep(duration);
        stop.store(true, Ordering::Relaxed);
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    let elapsed = started.elapsed();
    storage.checkpoint().unwrap();
    let sustained = started.elapsed();
    latencies.sort();
    let count = latencies.len() as f64;
    let ms = |part: f64| latencies[((count - 1.0) * part) as usize].as_secs_f64() * 1e3;
    let metrics = storage.metrics();
    println!(
        "{threads:7} {:10.0} {:9.0} {:8.3} {:8.3} {:8.3} {:13.1} {:12}",
        count / elapsed.as_secs_f64(),
        count / sustained.as_secs_f64(),
        ms(0.5),
        ms(0.99),
        ms(0.999),
        (metrics.commits - before.commits) as f64 / (metrics.log_syncs - before.log_syncs) as f64,
        metrics.folded_rows - before.folded_rows,
    );
}

fn work(storage: &Storage, sequencer: &Mutex<()>, stop: &AtomicBool, mut random: Random, alone: bool) -> Vec<Duration> {
    let mut latencies = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let started = Instant::now();
        let writes: Vec<_> = (0..PUTS).map(|_| (key(random.row()), Some(Value::from(vec![1; 100])))).collect();
        if let Some(delay) = storage.write_delay() {
            std::thread::sleep(delay);
        }
        let ts = {
            let _sequencer = sequencer.lock().unwrap();
            let ts = storage.last_ts().next();
            storage.append_commit(TxnId(ts.0), ts, &writes).unwrap();
            storage.install_many(ts, writes);
            ts
        };
        storage.installed(ts);
        if alone {
            storage.sync_inline(ts).unwrap()
        } else {
            storage.wait_durable(ts).unwrap()
        }
        latencies.push(started.elapsed());
    }
    latencies
}
