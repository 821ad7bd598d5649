//! LISTEN and NOTIFY over sockets: who is told, when, and who is not. Each test is named after its claim.

mod bed;

use bed::Bed;
use bed::raw::Raw;
use std::time::Duration;

/// Long enough for a message to cross a busy machine.
const SOON: Duration = Duration::from_secs(5);

/// Nothing comes for so long: nothing will.
const QUIET: Duration = Duration::from_millis(200);

/// The next message, which must be a notification: channel and payload.
fn notified(raw: &mut Raw) -> (String, String) {
    let message = raw.next(SOON).expect("a message");
    assert_eq!(message.kind, b'A', "{message}");
    let mut parts = message.body[4..].split(|byte| *byte == 0).map(|part| String::from_utf8_lossy(part).into_owned());
    (parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
}

fn pair(channel: &str, payload: &str) -> (String, String) {
    (channel.to_owned(), payload.to_owned())
}

#[test]
fn an_idle_client_is_told_when_the_sender_commits_and_not_before() {
    let bed = Bed::start();
    let (mut a, mut b) = (bed.connect(), bed.connect());
    a.run("LISTEN news");
    b.run("BEGIN");
    b.run("NOTIFY news, 'one'");
    b.run("NOTIFY news, 'one'");
    b.run("SELECT pg_notify('news', 'two')");
    assert!(a.next(QUIET).is_none(), "nothing is said before the commit");
    b.run("COMMIT");
    assert_eq!(notified(&mut a), pair("news", "one"));
    assert_eq!(notified(&mut a), pair("news", "two"));
    assert!(a.next(QUIET).is_none(), "the same message twice in a transaction is one");
    b.run("NOTIFY other, 'x'");
    assert!(a.next(QUIET).is_none());
}

#[test]
fn a_client_in_a_transaction_is_told_after_it() {
    let bed = Bed::start();
    let (mut a, mut b) = (bed.connect(), bed.connect());
    a.run("LISTEN news");
    a.run("BEGIN");
    b.run("NOTIFY news, 'one'");
    assert!(a.next(QUIET).is_none());
    let answer = a.query("COMMIT");
    let kinds: Vec<u8> = answer.iter().map(|message| message.kind).collect();
    assert_eq!(kinds, [b'C', b'A', b'Z'], "before the client may ask again");
}

#[test]
fn rollbacks_forget_and_unlisten_stops() {
    let bed = Bed::start();
    let (mut a, mut b) = (bed.connect(), bed.connect());
    a.run("BEGIN");
    a.run("LISTEN lost");
    a.run("ROLLBACK");
    a.run("LISTEN news");
    b.run("BEGIN");
    b.run("NOTIFY news, 'kept'");
    b.run("SAVEPOINT s");
    b.run("NOTIFY news, 'forgotten'");
    b.run("ROLLBACK TO s");
    b.run("COMMIT");
    b.run("NOTIFY lost");
    assert_eq!(notified(&mut a), pair("news", "kept"));
    assert!(a.next(QUIET).is_none());
    a.run("UNLISTEN news");
    b.run("NOTIFY news, 'nobody'");
    assert!(a.next(QUIET).is_none());
}

#[test]
fn a_session_hears_itself_and_knows_its_channels() {
    let bed = Bed::start();
    let mut a = bed.connect();
    a.run("LISTEN one");
    a.run("LISTEN two");
    let answer = a.query("SELECT pg_listening_channels()");
    assert_eq!(answer.iter().filter(|message| message.kind == b'D').count(), 2);
    let answer = a.query("NOTIFY two, 'self'");
    assert!(answer.iter().any(|message| message.kind == b'A'), "{answer:?}");
    assert_eq!(a.fails(&format!("NOTIFY two, '{}'", "x".repeat(8000))), "22023");
    assert_eq!(a.fails("SELECT pg_notify('', 'x')"), "22023");
    a.run("UNLISTEN *");
    let answer = a.query("SELECT pg_listening_channels()");
    assert_eq!(answer.iter().filter(|message| message.kind == b'D').count(), 0);
}
