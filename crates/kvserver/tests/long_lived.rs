//! Large and long: a snapshot that is held under write load, a snapshot that has moved, ten thousand who wait for one row.

mod bed;

use bed::{Bed, key};
use std::time::{Duration, Instant};
use tidelock_base::{Timestamp, Value};
use tidelock_kvapi::{Isolation, KvError, LockStrength};
use tidelock_kvclient::{ReadOptions, Txn, TxnOptions, Write};
use tidelock_kvserver::Number;
use tidelock_storage::Options;

/// Waiters of the crowd.
const CROWD: u32 = 10_000;

/// What a crowd may take; with time that grows with its square it would be hours.
const CROWD_PATIENCE: Duration = Duration::from_secs(120);

fn bed() -> Bed {
    Bed::open(|options| Options { fold_interval: Duration::from_millis(50), ..options })
}

impl Bed {
    fn begin(&self, isolation: Isolation, lock_timeout: Option<Duration>) -> Txn {
        self.begin_with(TxnOptions { isolation, lock_timeout, ..TxnOptions::default() })
    }

    /// Sets rows, all to one value.
    async fn put(&self, rows: std::ops::Range<u32>, value: &str) {
        let mut txn = self.begin(Isolation::ReadCommitted, None);
        let value = Value::copy_from_slice(value.as_bytes());
        txn.write(rows.map(|k| Write::Put(key(k), value.clone(), LockStrength::NoKeyUpdate)).collect()).await.expect("put");
        txn.commit(false).await.expect("commit");
    }
}

async fn get(txn: &mut Txn, k: u32) -> Result<Option<String>, KvError> {
    let row = txn.get_one(key(k), &ReadOptions::default()).await?;
    Ok(row.map(|row| String::from_utf8_lossy(&row.value).into_owned()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_that_moved_keeps_what_it_sees() {
    let bed = bed();
    bed.put(0..2, "first").await;
    let mut reader = bed.begin(Isolation::RepeatableRead, None);
    bed.put(0..2, "second").await;
    reader.refresh().await.expect("nothing was read yet");
    assert_eq!(get(&mut reader, 0).await.expect("readable").as_deref(), Some("second"));
    for round in 0..200 {
        bed.put(0..2, &format!("later {round}")).await;
    }
    assert_eq!(get(&mut reader, 1).await.expect("readable").as_deref(), Some("second"), "a version between the old pin and the new one");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_held_under_write_load_costs_a_bounded_number_of_versions() {
    const ROWS: u32 = 2000;
    const ROUNDS: u32 = 60;
    // One version of each row, and what short snapshots have left since the history was last gone through: at most as much again and a fold's slice.
    const KEPT_MAX: u64 = 40_000;
    let bed = bed();
    bed.put(0..ROWS, "as it was").await;
    let mut reader = bed.begin(Isolation::RepeatableRead, None);
    assert_eq!(get(&mut reader, 7).await.expect("readable").as_deref(), Some("as it was"));
    for round in 0..ROUNDS {
        bed.put(0..ROWS, &format!("round {round}")).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    bed.store.storage().checkpoint().expect("folded");
    let metrics = bed.store.storage().metrics();
    assert!(metrics.history_rows <= KEPT_MAX, "{} versions are kept for one snapshot", metrics.history_rows);
    assert!(metrics.history_rows >= u64::from(ROWS), "{} versions are kept for one snapshot", metrics.history_rows);
    assert!(metrics.pins >= 1 && metrics.oldest_pin_ms >= 500, "it can be seen: {} pins, {} ms", metrics.pins, metrics.oldest_pin_ms);
    assert_eq!(get(&mut reader, 8).await.expect("readable").as_deref(), Some("as it was"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn past_the_limit_the_snapshot_goes_and_nothing_else() {
    let bed = bed();
    bed.store.settings.set_number(Number::HistoryRows, 1000).expect("a limit");
    bed.put(0..3000, "as it was").await;
    let mut reader = bed.begin(Isolation::RepeatableRead, None);
    let mut validated = bed.begin(Isolation::Serializable, None);
    for old in [&mut reader, &mut validated] {
        assert_eq!(get(old, 7).await.expect("readable").as_deref(), Some("as it was"));
    }
    let started = Instant::now();
    let refused = loop {
        bed.put(0..3000, "newer").await;
        match get(&mut reader, 7).await {
            Ok(seen) => assert_eq!(seen.as_deref(), Some("as it was"), "wrong rather than refused"),
            Err(error) => break error,
        }
        assert!(started.elapsed() < Duration::from_secs(30), "{} versions are kept", bed.store.storage().metrics().history_rows);
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert!(matches!(refused, KvError::SnapshotTooOld(_)), "{refused}");
    let written = validated.write(vec![Write::Put(key(9999), Value::copy_from_slice(b"x"), LockStrength::NoKeyUpdate)]).await;
    assert!(matches!(written, Err(KvError::SnapshotTooOld(_))), "{written:?}");
    reader.rollback().await.expect("it can be ended");
    validated.rollback().await.expect("it can be ended");
    let mut next = bed.begin(Isolation::RepeatableRead, None);
    assert_eq!(get(&mut next, 7).await.expect("readable").as_deref(), Some("newer"));
    let started = Instant::now();
    while bed.store.storage().metrics().history_rows > 1000 {
        bed.put(0..1, "still newer").await;
        bed.store.storage().checkpoint().expect("folded");
        assert!(started.elapsed() < Duration::from_secs(20), "{} versions stay", bed.store.storage().metrics().history_rows);
    }
    let cancelled = bed.store.metrics.snapshot().into_iter().find(|(name, _)| name == "kv.snapshots_cancelled").map(|(_, n)| n);
    assert!(cancelled >= Some(1), "it is counted");
}

/// A holder of row 0, and a crowd that waits for it.
async fn crowd(bed: &Bed, lock_timeout: Option<Duration>) -> (Txn, Vec<tokio::task::JoinHandle<Result<(), KvError>>>) {
    bed.store.settings.set_number(Number::MaxWaiters, u64::from(2 * CROWD)).expect("room for all");
    bed.put(0..1, "hot").await;
    let mut holder = bed.begin(Isolation::ReadCommitted, None);
    let lock = ReadOptions { lock: Some(LockStrength::NoKeyUpdate), ..ReadOptions::default() };
    holder.get_one(key(0), &lock).await.expect("nobody else has it");
    let mut waiters = Vec::new();
    for _ in 0..CROWD {
        let mut txn = bed.begin(Isolation::ReadCommitted, lock_timeout);
        waiters.push(tokio::spawn(async move {
            match txn.get_one(key(0), &lock).await {
                Ok(_) => txn.commit(true).await.map(|_: Timestamp| ()),
                Err(error) => {
                    txn.rollback().await?;
                    Err(error)
                }
            }
        }));
    }
    let started = Instant::now();
    while bed.store.waits().len() < CROWD as usize {
        assert!(started.elapsed() < CROWD_PATIENCE, "only {} wait", bed.store.waits().len());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    (holder, waiters)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_wait_for_one_row_and_all_get_it() {
    let bed = bed();
    let started = Instant::now();
    let (mut holder, waiters) = crowd(&bed, None).await;
    holder.rollback().await.expect("ends");
    for waiter in waiters {
        waiter.await.expect("no panic").expect("its turn comes");
    }
    assert!(started.elapsed() < CROWD_PATIENCE, "{:?}", started.elapsed());
    assert_eq!((bed.store.waits().len(), bed.store.locks().len()), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_give_up_waiting_and_nothing_is_left() {
    let bed = bed();
    let (mut holder, waiters) = crowd(&bed, Some(Duration::from_secs(15))).await;
    let started = Instant::now();
    for waiter in waiters {
        let given_up = waiter.await.expect("no panic").expect_err("the holder stays");
        assert!(matches!(given_up, KvError::LockTimeout { .. }), "{given_up}");
    }
    assert!(started.elapsed() < CROWD_PATIENCE, "{:?}", started.elapsed());
    assert_eq!(bed.store.waits().len(), 0);
    holder.rollback().await.expect("ends");
}
