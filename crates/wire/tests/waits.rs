//! Statements that wait or work for long: they say what they wait for, and every timeout and every cancel request reaches each of them.

mod bed;

use bed::Bed;
use bed::message::{self, Message};
use bed::raw::Raw;
use std::time::{Duration, Instant};

/// The design allows 100 ms; a loaded machine and a build without optimisation get more.
const CANCEL_MAX: Duration = Duration::from_secs(3);

/// What must be in the way for a statement to wait.
struct LockKind {
    name: &'static str,
    holder: &'static str,
    waiter: &'static str,
}

const LOCK_KINDS: &[LockKind] = &[
    LockKind { name: "row", holder: "update t set n = 1 where id = 1", waiter: "update t set n = 2 where id = 1" },
    LockKind { name: "row, for share", holder: "update t set n = 1 where id = 1", waiter: "select * from t where id = 1 for share" },
    LockKind { name: "table", holder: "lock table t in access exclusive mode", waiter: "select * from t" },
    LockKind { name: "advisory", holder: "select pg_advisory_xact_lock(7)", waiter: "select pg_advisory_lock(7)" },
    LockKind { name: "unique check", holder: "insert into t values (9, 1)", waiter: "insert into t values (9, 2)" },
    LockKind { name: "deferrable unique check", holder: "insert into d values (9)", waiter: "insert into d values (9)" },
    LockKind { name: "foreign key", holder: "delete from t where id = 2", waiter: "insert into child values (1, 2)" },
    LockKind { name: "definition", holder: "update t set n = 1 where id = 1", waiter: "alter table t add column more int" },
    LockKind { name: "drop", holder: "select * from t", waiter: "drop table child, t" },
    LockKind { name: "index build", holder: "insert into t values (8, 8)", waiter: "create index on t (n)" },
    LockKind { name: "truncate", holder: "select * from t", waiter: "truncate t, child" },
];

/// Statements that are busy for long, or asleep, whatever plan they get.
const LONG_KINDS: &[&str] = &[
    "select pg_sleep(30)",
    "select count(*) from big a, big b, big c",
    "select count(*) from generate_series(1, 2000000000)",
    "select n from generate_series(1, 1500000) n order by md5(n::text) desc",
    "select n % 1000000, count(*) from generate_series(1, 20000000) n group by 1",
    "select sum(n) over (order by n rows between 20000 preceding and 1 following) from generate_series(1, 100000) n",
    "select count(distinct n % 500000) from generate_series(1, 30000000) n",
    "with recursive r as (select 1 as n union all select n + 1 from r) select count(*) from r",
    "insert into sink select a.id from big a, big b",
    "update big set n = (select count(*) from big b, big c where b.id > big.id)",
    "create table copied as select a.id from big a, big b",
    "select max(repeat(n::text, 100)) from generate_series(1, 100000000) n",
    "copy (select a.id from big a, big b, big c where a.n + b.n + c.n < 0) to stdout",
    "select a.id from big a join big b on a.n = b.n join big c on b.n = c.n where a.n + b.n + c.n < 0",
];

fn prepare(bed: &Bed) {
    let mut raw = bed.connect();
    raw.run("create table t (id int primary key, n int); insert into t values (1, 0), (2, 0)");
    raw.run("create table child (id int primary key, t int references t)");
    raw.run("create table d (k int unique deferrable)");
    raw.run("create table sink (n int)");
    raw.run("create table big (id int primary key, n int); insert into big select n, n % 7 from generate_series(1, 20000) n");
}

/// The first error's SQLSTATE.
fn state(answer: &[Message]) -> String {
    answer.iter().find(|m| m.kind == b'E').and_then(|m| m.field(b'C')).unwrap_or_else(|| format!("{answer:?}"))
}

fn settle(holder: &mut Raw) {
    holder.run("rollback");
}

#[test]
fn a_long_wait_is_told_while_it_lasts() {
    let bed = Bed::start();
    prepare(&bed);
    let (mut holder, mut waiter) = (bed.connect(), bed.connect());
    waiter.run("set deadlock_timeout = 100");
    for kind in LOCK_KINDS {
        holder.run("begin isolation level read committed");
        holder.run(kind.holder);
        waiter.run("begin isolation level read committed");
        waiter.send(&message::query(kind.waiter));
        let notice = waiter.next(Duration::from_secs(5)).unwrap_or_else(|| panic!("{}: nothing is said", kind.name));
        assert_eq!(notice.kind, b'N', "{}: {notice:?}", kind.name);
        let (text, detail) = (notice.field(b'M').unwrap_or_default(), notice.field(b'D').unwrap_or_default());
        assert!(text.starts_with("still waiting for ") && text.ends_with(" ms"), "{}: {text}", kind.name);
        let expected = format!("Blocked by process {} (idle in transaction): {}", holder.key.0, kind.holder);
        assert_eq!(detail, expected, "{}", kind.name);
        assert!(waiter.next(Duration::from_millis(600)).is_none(), "{}: it is said once", kind.name);
        settle(&mut holder);
        let answer = waiter.until_ready(1);
        assert!(answer.iter().all(|m| m.kind != b'E' && m.kind != b'N'), "{}: {answer:?}", kind.name);
        waiter.run("rollback; select pg_advisory_unlock_all()");
    }
}

#[test]
fn who_does_not_want_to_know_is_not_told() {
    let bed = Bed::start();
    prepare(&bed);
    let (mut holder, mut waiter) = (bed.connect(), bed.connect());
    for quiet in ["set log_lock_waits = off", "set log_lock_waits = on; set client_min_messages = warning"] {
        waiter.run("set deadlock_timeout = 50");
        waiter.run(quiet);
        holder.run("begin; update t set n = 1 where id = 1");
        waiter.send(&message::query("update t set n = 2 where id = 1"));
        assert!(waiter.next(Duration::from_millis(800)).is_none(), "{quiet}");
        settle(&mut holder);
        assert_eq!(waiter.until_ready(1).first().map(|m| m.kind), Some(b'C'), "{quiet}");
    }
}

/// Runs a statement that must fail with this state, and soon.
fn times_out(raw: &mut Raw, setting: &str, sql: &str, expected: &str) {
    raw.run(setting);
    let started = Instant::now();
    raw.send(&message::query(sql));
    let answer = raw.until_ready(1);
    assert_eq!(state(&answer), expected, "{setting}: {sql}");
    assert!(started.elapsed() < CANCEL_MAX, "{setting}: {sql} took {:?}", started.elapsed());
}

#[test]
fn every_wait_for_a_lock_ends_at_its_timeouts() {
    let bed = Bed::start();
    prepare(&bed);
    for kind in LOCK_KINDS {
        let mut holder = bed.connect();
        holder.run("begin isolation level read committed");
        holder.run(kind.holder);
        let mut waiter = bed.connect();
        times_out(&mut waiter, "set lock_timeout = 50", kind.waiter, "55P03");
        times_out(&mut waiter, "set lock_timeout = 0; set statement_timeout = 50", kind.waiter, "57014");
        waiter.run("set statement_timeout = 0");
        waiter.run("set transaction_timeout = 50");
        let started = Instant::now();
        waiter.send(&message::query(kind.waiter));
        assert_eq!(state(&waiter.until_ready(1)), "25P04", "transaction_timeout: {}", kind.name);
        assert!(started.elapsed() < CANCEL_MAX, "transaction_timeout: {}: {:?}", kind.name, started.elapsed());
        while waiter.next(Duration::from_secs(2)).is_some() {}
        assert!(waiter.closed, "{}: the connection ends with its transaction", kind.name);
        settle(&mut holder);
    }
}

#[test]
fn every_wait_for_a_lock_can_be_cancelled() {
    let bed = Bed::start();
    prepare(&bed);
    for kind in LOCK_KINDS {
        let (mut holder, mut waiter) = (bed.connect(), bed.connect());
        holder.run("begin isolation level read committed");
        holder.run(kind.holder);
        cancel_in_time(&bed, &mut waiter, kind.waiter);
        settle(&mut holder);
    }
}

/// Cancels a statement under way.
fn cancel_in_time(bed: &Bed, raw: &mut Raw, sql: &str) {
    raw.send(&message::query(sql));
    std::thread::sleep(Duration::from_millis(150));
    let started = Instant::now();
    Raw::open(bed.address).send(&message::cancel(raw.key));
    let answer = raw.until_ready(1);
    assert_eq!(state(&answer), "57014", "{sql}");
    assert!(started.elapsed() < CANCEL_MAX, "{sql} went on for {:?}", started.elapsed());
    assert_eq!(raw.run("select 1"), ["SELECT 1"], "the session goes on");
}

#[test]
fn everything_that_takes_long_can_be_cancelled() {
    let bed = Bed::start();
    prepare(&bed);
    let mut raw = bed.connect();
    for sql in LONG_KINDS {
        cancel_in_time(&bed, &mut raw, sql);
    }
}

#[test]
fn everything_that_takes_long_ends_at_its_timeout() {
    let bed = Bed::start();
    prepare(&bed);
    let mut raw = bed.connect();
    for sql in LONG_KINDS {
        times_out(&mut raw, "set statement_timeout = 100", sql, "57014");
        raw.run("set statement_timeout = 0");
    }
}

#[test]
fn a_copy_that_waits_for_its_client_can_be_cancelled() {
    let bed = Bed::start();
    prepare(&bed);
    let mut raw = bed.connect();
    raw.send(&message::query("copy sink from stdin"));
    assert_eq!(raw.next(Duration::from_secs(5)).map(|m| m.kind), Some(b'G'));
    let started = Instant::now();
    Raw::open(bed.address).send(&message::cancel(raw.key));
    assert_eq!(state(&raw.until_ready(1)), "57014");
    assert!(started.elapsed() < CANCEL_MAX, "{:?}", started.elapsed());
    assert_eq!(raw.run("select 1"), ["SELECT 1"]);
    raw.run("set statement_timeout = 100");
    raw.send(&message::query("copy sink from stdin"));
    assert_eq!(raw.next(Duration::from_secs(5)).map(|m| m.kind), Some(b'G'));
    assert_eq!(state(&raw.until_ready(1)), "57014");
}

#[test]
fn an_open_transaction_ends_at_its_timeout() {
    let bed = Bed::start();
    let mut raw = bed.connect();
    raw.run("set transaction_timeout = 300; set idle_in_transaction_session_timeout = 5000");
    assert!(raw.next(Duration::from_millis(700)).is_none() && !raw.closed, "outside of a transaction there is nothing to end");
    raw.run("begin");
    raw.run("select 1");
    let started = Instant::now();
    assert_eq!(state(&raw.until_ready(1)), "25P04");
    assert!(started.elapsed() < CANCEL_MAX, "{:?}", started.elapsed());
    assert!(raw.next(Duration::from_secs(2)).is_none() && raw.closed);
}
