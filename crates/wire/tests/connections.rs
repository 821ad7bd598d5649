//! What happens between a connection and the world: strangers, cancel requests, clients that vanish or do not read, the
//! server's stop. Each test is named after its claim.

mod bed;

use bed::Bed;
use bed::message;
use bed::raw::Raw;
use std::io::Write;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};
use tidelock_sql::exec::cancel::CancelReason;

/// Until `done`, but no longer than that.
fn eventually(limit: Duration, what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < limit, "{what}: not within {limit:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn encryption_is_declined_and_the_startup_goes_on() {
    let bed = Bed::start();
    let mut raw = Raw::open(bed.address);
    raw.send(&[0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
    assert_eq!(raw.byte(), Some(b'N'));
    raw.send(&[0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x30]);
    assert_eq!(raw.byte(), Some(b'N'));
    raw.send(&message::startup(&[("user", "postgres")]));
    assert_eq!(raw.until_ready(1).last().map(|m| m.kind), Some(b'Z'));
}

#[test]
fn strangers_are_told_and_sent_away() {
    let bed = Bed::start();
    let strangers: [&[u8]; 5] =
        [b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00", b"\0\0\0\x04", b"\0\0\0\0\0\0\0\0", b"\xff\xff\xff\xff"];
    for bytes in strangers {
        let mut raw = Raw::open(bed.address);
        raw.send(bytes);
        let answer = raw.until_ready(1);
        assert!(raw.closed, "{bytes:?}");
        let error = answer.first().unwrap_or_else(|| panic!("{bytes:?}: no error"));
        assert_eq!(error.field(b'C').as_deref(), Some("08P01"), "{error}");
    }
    // Layouts that lack their end, or are not UTF-8.
    for body in [&b"\0\x03\0\0user\0x"[..], b"\0\x03\0\0user\0x\0", b"\0\x03\0\0user\0\xff\0\0", b"\0\x03\0\0\0x\0"] {
        let mut raw = Raw::open(bed.address);
        raw.send(&(body.len() as u32 + 4).to_be_bytes());
        raw.send(body);
        let answer = raw.until_ready(1);
        assert!(raw.closed && answer.iter().any(|m| m.kind == b'E'), "{body:?} {answer:?}");
    }
}

#[test]
fn a_length_word_of_a_gigabyte_allocates_nothing() {
    let bed = Bed::start();
    let before = resident_bytes();
    let mut clients: Vec<Raw> = (0..20).map(|_| bed.connect()).collect();
    for client in &mut clients {
        client.send(b"Q\x3f\xff\xff\xff");
        client.send(&[b'x'; 1000]);
    }
    std::thread::sleep(Duration::from_millis(200));
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < 64 << 20, "{grown} bytes for 20 unfinished messages");
}

fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("statm");
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).expect("pages") * 4096
}

#[test]
fn a_large_message_arrives_whole() {
    let bed = Bed::start();
    let mut raw = bed.connect();
    let text = "x".repeat(5 << 20);
    raw.send(&message::parse("", "select length($1::text), $1::text", &[]));
    raw.send(&message::bind("", "", &[], &[Some(text.clone().into_bytes())], &[]));
    raw.send(&message::execute("", 0));
    raw.send(&message::sync());
    let answer = raw.until_ready(1);
    let row = answer.iter().find(|m| m.kind == b'D').unwrap_or_else(|| panic!("{:?}", answer.first()));
    let values = row.values();
    assert_eq!(values[0].as_deref(), Some(&b"5242880"[..]));
    assert_eq!(values[1].as_deref(), Some(text.as_bytes()));
}

/// Writes counted since `before`. The last one may be counted a moment after the client has its bytes.
fn writes_since(bed: &Bed, before: u64, expected: u64) -> u64 {
    for _ in 0..200 {
        if bed.metrics.writes.load(Relaxed) - before >= expected {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    bed.metrics.writes.load(Relaxed) - before
}

#[test]
fn one_write_per_sync() {
    let bed = Bed::start();
    let mut raw = bed.connect();
    raw.send(&message::parse("s", "select $1::int4 + 1", &[]));
    raw.send(&message::sync());
    raw.until_ready(1);
    std::thread::sleep(std::time::Duration::from_millis(20));
    let before = bed.metrics.writes.load(Relaxed);
    for _ in 0..100 {
        let mut bytes = message::bind("", "s", &[], &[Some(b"1".to_vec())], &[]);
        bytes.extend(message::target(b'D', 'P', ""));
        bytes.extend(message::execute("", 0));
        bytes.extend(message::target(b'C', 'P', ""));
        bytes.extend(message::sync());
        raw.send(&bytes);
        raw.until_ready(1);
    }
    assert_eq!(writes_since(&bed, before, 100), 100);
    let before = bed.metrics.writes.load(Relaxed);
    for _ in 0..100 {
        raw.run("select 1; select 2");
    }
    assert_eq!(writes_since(&bed, before, 100), 100);
}

#[test]
fn a_cancel_request_ends_the_statement_and_a_wrong_key_does_not() {
    let bed = Bed::start();
    let mut raw = bed.connect();
    let (pid, secret) = raw.key;
    let begun = Instant::now();
    raw.send(&message::query("select pg_sleep(20)"));
    std::thread::sleep(Duration::from_millis(100));
    for key in [(pid, secret.wrapping_add(1)), (pid + 1000, secret), (-1, 0)] {
        let mut other = Raw::open(bed.address);
        other.send(&message::cancel(key));
        assert!(other.until_ready(1).is_empty() && other.closed, "no answer to a cancel request");
    }
    assert!(raw.next(Duration::from_millis(200)).is_none(), "a wrong key cancels nothing");
    Raw::open(bed.address).send(&message::cancel((pid, secret)));
    let answer = raw.until_ready(1);
    assert_eq!(answer[answer.len() - 2].field(b'C').as_deref(), Some("57014"), "{answer:?}");
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(raw.run("select 1"), ["SELECT 1"]);
}

#[test]
fn the_last_place_is_the_last() {
    let bed = Bed::with_connections(3);
    let clients: Vec<Raw> = (0..3).map(|_| bed.connect()).collect();
    let mut refused = Raw::open(bed.address);
    refused.send(&message::startup(&[("user", "postgres")]));
    let answer = refused.until_ready(1);
    assert_eq!(answer.last().and_then(|m| m.field(b'C')).as_deref(), Some("53300"), "{answer:?}");
    drop(clients);
    eventually(Duration::from_secs(5), "places are given back", || bed.metrics.open.load(Relaxed) == 0);
    bed.connect();
}

#[test]
fn a_client_that_vanishes_while_it_waits_leaves_its_lock() {
    let bed = Bed::start();
    let mut holder = bed.connect();
    holder.run("create table t (id int primary key, n int)");
    holder.run("insert into t values (1, 0), (2, 0)");
    holder.run("begin; update t set n = 1 where id = 1");
    let mut waiter = bed.connect();
    waiter.run("begin; update t set n = 2 where id = 2");
    waiter.send(&message::query("update t set n = 2 where id = 1"));
    eventually(Duration::from_secs(5), "it waits", || bed.store.waits().len() == 1);
    let mut third = bed.connect();
    drop(waiter);
    let begun = Instant::now();
    assert_eq!(third.run("update t set n = 3 where id = 2"), ["UPDATE 1"]);
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    assert_eq!(bed.metrics.hangups.load(Relaxed), 1);
    assert_eq!(holder.run("commit"), ["COMMIT"]);
    eventually(Duration::from_secs(5), "it is gone", || bed.metrics.open.load(Relaxed) == 2);
}

#[test]
fn a_client_that_vanishes_while_idle_leaves_its_lock() {
    let bed = Bed::start();
    let mut other = bed.connect();
    other.run("create table t (id int primary key, n int)");
    other.run("insert into t values (1, 0)");
    let mut holder = bed.connect();
    holder.run("begin; update t set n = 1 where id = 1");
    drop(holder);
    let begun = Instant::now();
    other.run("update t set n = 2 where id = 1");
    assert!(begun.elapsed() < Duration::from_secs(1));
}

#[test]
fn a_client_that_does_not_read_stops_its_own_statement() {
    let bed = Bed::start();
    let mut raw = bed.connect();
    let before = resident_bytes();
    raw.send(&message::query("select repeat('x', 1000) from generate_series(1, 1000000)"));
    std::thread::sleep(Duration::from_millis(700));
    let sent = bed.metrics.bytes_out.load(Relaxed);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(bed.metrics.bytes_out.load(Relaxed), sent, "nothing more fits into the socket");
    assert!(resident_bytes().saturating_sub(before) < 128 << 20);
    // Others are served meanwhile, also on its thread.
    for _ in 0..4 {
        assert_eq!(bed.connect().run("select 1"), ["SELECT 1"]);
    }
}

#[test]
fn stopping_tells_idle_clients_and_lets_statements_end() {
    let mut bed = Bed::start();
    let mut idle = bed.connect();
    let mut busy = bed.connect();
    busy.send(&message::query("select pg_sleep(0.5)"));
    std::thread::sleep(Duration::from_millis(100));
    bed.stop();
    let farewell = idle.until_ready(1);
    assert_eq!(farewell.first().and_then(|m| m.field(b'C')).as_deref(), Some("57P01"), "{farewell:?}");
    let answer = busy.until_ready(1);
    assert!(answer.iter().any(|m| m.kind == b'C' && m.text() == "SELECT 1"), "{answer:?}");
    let farewell = busy.until_ready(1);
    assert_eq!(farewell.first().and_then(|m| m.field(b'C')).as_deref(), Some("57P01"), "{farewell:?}");
    assert!(std::net::TcpStream::connect(bed.address).is_err(), "nobody listens any more");
}

#[test]
fn another_session_can_be_terminated() {
    let bed = Bed::start();
    for statement in [None, Some("select pg_sleep(20)")] {
        let mut victim = bed.connect();
        if let Some(sql) = statement {
            victim.send(&message::query(sql));
            std::thread::sleep(Duration::from_millis(100));
        }
        let handle = bed.cluster.session(victim.key.0).expect("it is registered");
        handle.terminate.store(true, Relaxed);
        handle.cancel.cancel(CancelReason::Terminate);
        let answer = victim.until_ready(1);
        assert_eq!(answer.last().and_then(|m| m.field(b'C')).as_deref(), Some("57P01"), "{answer:?}");
        assert!(victim.closed || victim.next(Duration::from_secs(2)).is_none());
    }
}

#[test]
fn idle_sessions_are_sent_away_when_they_asked_for_it() {
    let bed = Bed::start();
    let mut raw = bed.connect();
    raw.run("set idle_in_transaction_session_timeout = 100");
    assert!(raw.next(Duration::from_millis(500)).is_none() && !raw.closed, "idle outside of a transaction");
    raw.run("begin");
    let answer = raw.until_ready(1);
    assert_eq!(answer.first().and_then(|m| m.field(b'C')).as_deref(), Some("25P03"), "{answer:?}");
    let mut raw = bed.connect();
    raw.run("set idle_session_timeout = 100");
    let answer = raw.until_ready(1);
    assert_eq!(answer.first().and_then(|m| m.field(b'C')).as_deref(), Some("57P05"), "{answer:?}");
}

#[test]
fn bytes_may_arrive_one_by_one() {
    let bed = Bed::start();
    let mut raw = Raw::open(bed.address);
    let mut bytes = message::startup(&[("user", "postgres")]);
    bytes.extend(message::query("select 'slow'"));
    for byte in bytes {
        raw.socket.write_all(&[byte]).expect("sent");
    }
    let answer = raw.until_ready(2);
    assert!(answer.iter().any(|m| m.kind == b'D'), "{answer:?}");
}
