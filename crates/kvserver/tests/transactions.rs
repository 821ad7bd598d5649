//! Whole transactions, from the coordinator through DistSender down to storage, on one store in a temporary folder.
//!
//! Each test is named after the claim it makes; the harness is [`Bed`].

mod bed;

use bed::{Bed, INDEX, key};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;
use tidelock_base::row::{ColumnSet, RowBuilder};
use tidelock_base::{IndexId, Key, Span, Timestamp, Value};
use tidelock_kvapi::{Isolation, KvError, Limit, LockStrength, WaitPolicy};
use tidelock_kvclient::{ReadOptions, ScanOptions, Txn, TxnOptions, Write, Written};

fn bed() -> Bed {
    Bed::open(|options| options)
}

impl Bed {
    fn begin(&self, isolation: Isolation) -> Txn {
        self.begin_with(TxnOptions { isolation, ..TxnOptions::default() })
    }

    async fn put(&self, k: u32, value: &[u8]) {
        let mut txn = self.begin(Isolation::Serializable);
        txn.write(vec![put(k, value)]).await.expect("put");
        txn.commit(false).await.expect("commit");
    }

    async fn value(&self, k: u32) -> Option<Value> {
        let mut txn = self.begin(Isolation::RepeatableRead);
        get(&mut txn, k).await
    }
}

fn put(k: u32, value: &[u8]) -> Write {
    Write::Put(key(k), Value::copy_from_slice(value), LockStrength::NoKeyUpdate)
}

fn for_update() -> ReadOptions {
    ReadOptions { lock: Some(LockStrength::Update), ..ReadOptions::default() }
}

async fn get(txn: &mut Txn, k: u32) -> Option<Value> {
    txn.get_one(key(k), &ReadOptions::default()).await.expect("get").map(|row| row.value)
}

async fn scan_all(txn: &mut Txn) -> Vec<Value> {
    let mut values = Vec::new();
    let mut rest = Some(Span::index(INDEX));
    while let Some(span) = rest.take() {
        let page = txn.scan(span, &ScanOptions::default()).await.expect("scan");
        values.extend(page.rows.iter().map(|row| Value::copy_from_slice(row.value)));
        rest = page.resume;
    }
    values
}

/// Gives the other task a chance to run into its lock.
async fn settle() {
    tokio::time::sleep(Duration::from_millis(30)).await;
}

#[tokio::test]
async fn own_writes_are_seen_and_others_only_after_commit() {
    let bed = bed();
    let mut writer = bed.begin(Isolation::Serializable);
    writer.write(vec![put(1, b"a"), put(2, b"b")]).await.unwrap();
    assert_eq!(get(&mut writer, 1).await.as_deref(), Some(&b"a"[..]));
    assert_eq!(scan_all(&mut writer).await, [&b"a"[..], b"b"]);
    assert_eq!(bed.value(1).await, None);
    let mut before = bed.begin(Isolation::RepeatableRead);
    assert_eq!(get(&mut before, 2).await, None);
    writer.commit(false).await.unwrap();
    assert_eq!(bed.value(1).await.as_deref(), Some(&b"a"[..]));
    assert_eq!(get(&mut before, 1).await, None, "a snapshot does not move");
    assert_eq!(bed.store.live_transactions(), 0);
    assert!(bed.store.locks().is_empty());
}

#[tokio::test]
async fn insert_reports_the_value_in_its_way() {
    let bed = bed();
    bed.put(1, b"old").await;
    let mut txn = bed.begin(Isolation::ReadCommitted);
    let insert = |v: &[u8]| Write::Insert(key(1), Value::copy_from_slice(v));
    let written = txn.write(vec![insert(b"new")]).await.unwrap();
    assert_eq!(written[0], Written::Exists(Value::from_static(b"old")));
    assert!(bed.store.locks().is_empty(), "the lock taken for looking is given back");
    txn.write(vec![Write::Delete(key(1))]).await.unwrap();
    assert!(matches!(txn.write(vec![insert(b"new")]).await.unwrap()[0], Written::Done { .. }));
    let twice = txn.write(vec![insert(b"newer")]).await.unwrap();
    assert_eq!(twice[0], Written::Exists(Value::from_static(b"new")));
}

#[tokio::test]
async fn second_writer_waits_and_then_sees_the_newest_row() {
    let bed = bed();
    bed.put(1, b"0").await;
    let mut first = bed.begin(Isolation::Serializable);
    first.get_one(key(1), &for_update()).await.unwrap();
    let mut second = bed.begin(Isolation::Serializable);
    let waiter = tokio::spawn(async move {
        let row = second.get_one(key(1), &for_update()).await.unwrap().unwrap();
        second.write(vec![put(1, &[row.value[0] + 1])]).await.unwrap();
        second.commit(false).await.unwrap();
    });
    settle().await;
    assert_eq!(bed.store.waits().len(), 1);
    first.write(vec![put(1, b"1")]).await.unwrap();
    first.commit(false).await.unwrap();
    waiter.await.unwrap();
    assert_eq!(bed.value(1).await.as_deref(), Some(&b"2"[..]));
}

#[tokio::test]
async fn lost_update_is_refused_without_the_lock() {
    let bed = bed();
    bed.put(1, b"0").await;
    for isolation in [Isolation::RepeatableRead, Isolation::Serializable] {
        let mut a = bed.begin(isolation);
        get(&mut a, 1).await;
        bed.put(1, isolation.to_string().as_bytes()).await;
        let error = a.write(vec![put(1, b"2")]).await.unwrap_err();
        assert!(error.is_retryable(), "{isolation}: {error}");
        a.rollback().await.unwrap();
    }
    assert!(bed.store.locks().is_empty());
}

#[tokio::test]
async fn write_skew_is_refused_at_serializable_only() {
    for (isolation, refused) in [(Isolation::RepeatableRead, false), (Isolation::Serializable, true)] {
        let bed = bed();
        bed.put(1, b"on").await;
        bed.put(2, b"on").await;
        let (mut a, mut b) = (bed.begin(isolation), bed.begin(isolation));
        for txn in [&mut a, &mut b] {
            assert_eq!(scan_all(txn).await.len(), 2);
        }
        a.write(vec![put(1, b"off")]).await.unwrap();
        b.write(vec![put(2, b"off")]).await.unwrap();
        a.commit(false).await.unwrap();
        assert_eq!(b.commit(false).await.is_err(), refused, "{isolation}");
        assert!(bed.store.locks().is_empty());
    }
}

#[tokio::test]
async fn phantom_is_refused_at_serializable() {
    let bed = bed();
    bed.put(1, b"x").await;
    let mut a = bed.begin(Isolation::Serializable);
    scan_all(&mut a).await;
    bed.put(7, b"phantom").await;
    a.write(vec![Write::Insert(Key::index_start(IndexId(200)), Value::from_static(b"count=1"))]).await.unwrap();
    assert!(matches!(a.commit(false).await, Err(KvError::ReadChanged { .. })));
}

#[tokio::test]
async fn refresh_looks_at_the_used_columns_only() {
    let bed = bed();
    let row = |tax: &[u8], ytd: &[u8]| {
        let mut builder = RowBuilder::new();
        builder.column(|out| out.extend_from_slice(tax));
        builder.column(|out| out.extend_from_slice(ytd));
        builder.finish()
    };
    bed.put(1, &row(b"7%", b"100")).await;
    for (column, survives) in [(0, true), (1, false)] {
        let mut new_order = bed.begin(Isolation::Serializable);
        let options = ReadOptions { columns: ColumnSet::from_iter([column]), ..ReadOptions::default() };
        new_order.get_one(key(1), &options).await.unwrap();
        bed.put(1, &row(b"7%", format!("20{column}").as_bytes())).await;
        new_order.write(vec![put(9, b"order")]).await.unwrap();
        assert_eq!(new_order.commit(false).await.is_ok(), survives, "column {column}");
    }
}

#[tokio::test]
async fn deadlock_has_one_victim_and_the_other_goes_on() {
    let bed = bed();
    bed.put(1, b"0").await;
    bed.put(2, b"0").await;
    let (mut a, mut b) = (bed.begin(Isolation::ReadCommitted), bed.begin(Isolation::ReadCommitted));
    a.get_one(key(1), &for_update()).await.unwrap();
    b.get_one(key(2), &for_update()).await.unwrap();
    let older = tokio::spawn(async move {
        let result = a.get_one(key(2), &for_update()).await;
        (a, result)
    });
    settle().await;
    let error = b.get_one(key(1), &for_update()).await.unwrap_err();
    let KvError::Deadlock(report) = error else { panic!("{error}") };
    assert_eq!(report.victim, b.id(), "the younger one");
    assert_eq!(report.cycle.len(), 2);
    b.rollback().await.unwrap();
    let (mut a, result) = older.await.unwrap();
    assert!(result.unwrap().is_some());
    a.commit(false).await.unwrap();
    assert!(bed.store.locks().is_empty() && bed.store.waits().is_empty());
}

#[tokio::test]
async fn nowait_skip_locked_and_lock_timeout() {
    let bed = bed();
    bed.put(1, b"a").await;
    bed.put(2, b"b").await;
    let mut holder = bed.begin(Isolation::ReadCommitted);
    holder.get_one(key(1), &for_update()).await.unwrap();
    let mut other = bed.begin(Isolation::ReadCommitted);
    let nowait = ReadOptions { wait: WaitPolicy::Error, ..for_update() };
    assert_eq!(other.get_one(key(1), &nowait).await, Err(KvError::LockNotAvailable { key: key(1) }));
    let skip = ScanOptions { read: ReadOptions { wait: WaitPolicy::Skip, ..for_update() }, ..ScanOptions::default() };
    let page = other.scan(Span::index(INDEX), &ScanOptions { limit: Limit::Keys(1), ..skip }).await.unwrap();
    assert_eq!(page.rows.iter().map(|row| row.value).collect::<Vec<_>>(), [b"b"], "the limit counts after skipping");
    other.set_lock_timeout(Some(Duration::from_millis(20)));
    assert!(matches!(other.get_one(key(1), &for_update()).await, Err(KvError::LockTimeout { .. })));
    assert!(bed.store.waits().is_empty());
}

#[tokio::test]
async fn savepoint_takes_back_values_and_locks_exactly() {
    let bed = bed();
    bed.put(1, b"0").await;
    bed.put(2, b"0").await;
    let mut txn = bed.begin(Isolation::ReadCommitted);
    txn.write(vec![put(1, b"1")]).await.unwrap();
    let savepoint = txn.savepoint();
    txn.write(vec![put(1, b"2"), put(2, b"2")]).await.unwrap();
    txn.rollback_to(&savepoint).await.unwrap();
    assert_eq!(get(&mut txn, 1).await.as_deref(), Some(&b"1"[..]));
    let locked: Vec<Key> = bed.store.locks().into_iter().map(|lock| lock.key).collect();
    assert_eq!(locked, [key(1)]);
    bed.put(2, b"free").await;
    txn.commit(false).await.unwrap();
    assert_eq!(bed.value(1).await.as_deref(), Some(&b"1"[..]));
}

#[tokio::test]
async fn cancelled_wait_leaves_the_queue() {
    let bed = bed();
    bed.put(1, b"0").await;
    let mut holder = bed.begin(Isolation::ReadCommitted);
    holder.get_one(key(1), &for_update()).await.unwrap();
    let mut waiter = bed.begin(Isolation::ReadCommitted);
    let cancelled = tokio::time::timeout(Duration::from_millis(20), waiter.get_one(key(1), &for_update())).await;
    assert!(cancelled.is_err());
    assert!(bed.store.waits().is_empty());
    drop(waiter);
    holder.commit(false).await.unwrap();
    bed.put(1, b"1").await;
}

#[tokio::test]
async fn dropped_transaction_releases_everything() {
    let bed = bed();
    {
        let mut txn = bed.begin(Isolation::Serializable);
        txn.write(vec![put(1, b"gone")]).await.unwrap();
    }
    bed.put(1, b"here").await;
    assert_eq!(bed.value(1).await.as_deref(), Some(&b"here"[..]));
}

#[tokio::test]
async fn split_keeps_locks_waiters_and_data() {
    let bed = bed();
    for k in 0..20 {
        bed.put(k, &k.to_be_bytes()).await;
    }
    let mut holder = bed.begin(Isolation::ReadCommitted);
    holder.get_one(key(15), &for_update()).await.unwrap();
    let mut waiter = bed.begin(Isolation::ReadCommitted);
    let waiting = tokio::spawn(async move {
        waiter.get_one(key(15), &for_update()).await.unwrap();
        waiter.commit(false).await.unwrap();
    });
    settle().await;
    bed.db.split(key(10)).await.unwrap();
    bed.db.split(key(15)).await.unwrap();
    assert_eq!(bed.db.ranges(Span::index(INDEX)).await.unwrap().len(), 3);
    settle().await;
    assert!(!waiting.is_finished(), "the lock survived the split");
    let mut reader = bed.begin(Isolation::RepeatableRead);
    assert_eq!(scan_all(&mut reader).await.len(), 20);
    let reverse = ScanOptions { reverse: true, limit: Limit::Keys(8), ..ScanOptions::default() };
    let page = reader.scan(Span::index(INDEX), &reverse).await.unwrap();
    assert_eq!(page.rows.get(0).map(|row| row.to_key()), Some(key(19)));
    assert_eq!(page.rows.len(), 8);
    assert_eq!(page.resume, Some(Span::new(Key::index_start(INDEX), key(12))));
    holder.commit(false).await.unwrap();
    waiting.await.unwrap();
    bed.db.merge(key(10)).await.unwrap();
    assert_eq!(scan_all(&mut bed.begin(Isolation::RepeatableRead)).await.len(), 20);
}

#[tokio::test]
async fn every_resolver_mode_cleans_up() {
    for (inline, batch_ranged) in [(true, true), (false, true), (false, false)] {
        let bed = bed();
        bed.store.settings.set_inline(inline);
        bed.store.settings.set_batch_ranged(batch_ranged);
        for k in 0..300 {
            bed.put(k, b"x").await;
        }
        let mut txn = bed.begin(Isolation::Serializable);
        let options = ScanOptions { read: for_update(), ..ScanOptions::default() };
        let page = txn.scan(Span::index(INDEX), &options).await.unwrap();
        assert_eq!(page.rows.len(), 300);
        txn.write((0..300).map(|k| put(k, b"y")).collect()).await.unwrap();
        txn.commit(false).await.unwrap();
        assert_eq!(scan_all(&mut bed.begin(Isolation::RepeatableRead)).await, vec![&b"y"[..]; 300]);
        for _ in 0..100 {
            if bed.store.locks().is_empty() && bed.store.live_transactions() == 0 {
                break;
            }
            settle().await;
        }
        assert!(bed.store.locks().is_empty(), "inline {inline}, batched {batch_ranged}");
    }
}

/// Sixteen clients move money between ten accounts at each level; the sum stays, and at the end nothing is locked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bank_keeps_its_sum() {
    for isolation in [Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable] {
        let bed = Arc::new(bed());
        for k in 0..10 {
            bed.put(k, &100i64.to_be_bytes()).await;
        }
        let clients = (0..16u32).map(|client| tokio::spawn(transfer_many(Arc::clone(&bed), isolation, client)));
        let retries: usize = futures_join(clients.collect()).await;
        let mut reader = bed.begin(Isolation::RepeatableRead);
        let sum: i64 = scan_all(&mut reader).await.iter().map(|v| number(v)).sum();
        assert_eq!(sum, 1000, "{isolation}, {retries} retries");
        assert!(bed.store.locks().is_empty());
    }
}

async fn futures_join(tasks: Vec<tokio::task::JoinHandle<usize>>) -> usize {
    let mut sum = 0;
    for task in tasks {
        sum += task.await.expect("a client");
    }
    sum
}

fn number(value: &[u8]) -> i64 {
    i64::from_be_bytes(value.try_into().expect("eight bytes"))
}

async fn transfer_many(bed: Arc<Bed>, isolation: Isolation, client: u32) -> usize {
    let mut retries = 0;
    for round in 0..40u32 {
        let from = (client * 7 + round * 3) % 10;
        let to = (from + 1 + round % 9) % 10;
        while let ControlFlow::Continue(()) = transfer(&bed, isolation, from, to).await {
            retries += 1;
        }
    }
    retries
}

async fn transfer(bed: &Bed, isolation: Isolation, from: u32, to: u32) -> ControlFlow<()> {
    let mut txn = bed.begin(isolation);
    let attempt = async {
        let a = txn.get_one(key(from), &for_update()).await?.expect("account");
        let b = txn.get_one(key(to), &for_update()).await?.expect("account");
        let moved = vec![put(from, &(number(&a.value) - 1).to_be_bytes()), put(to, &(number(&b.value) + 1).to_be_bytes())];
        txn.write(moved).await?;
        txn.commit(false).await
    };
    match attempt.await {
        Ok(ts) => {
            assert!(ts > Timestamp::ZERO);
            ControlFlow::Break(())
        }
        Err(KvError::Deadlock(_)) => {
            txn.rollback().await.expect("rollback");
            ControlFlow::Continue(())
        }
        Err(error) if error.is_retryable() => {
            txn.rollback().await.expect("rollback");
            ControlFlow::Continue(())
        }
        Err(error) => panic!("{error}"),
    }
}
