//! Schedules of several sessions, against what PostgreSQL 15 does with them.
//!
//! A file of `isolation/schedules` holds schedules: a title, the tables, the steps. What each step gives was recorded from PostgreSQL:
//!
//! ```text
//! == a second writer of a row waits for the first
//! setup: create table t (id int primary key, n int); insert into t values (1, 10)
//! a: begin
//! a: update t set n = 20 where id = 1
//!   (1 rows)
//! b: update t set n = n + 1 where id = 1
//!   waits
//! a: commit
//! b> (1 rows)
//! ```
//!
//! A step that `waits` is one whose session has `pg_blocking_pids`; what it gives in the end stands behind `b>`, after the step that let it go on.
//! `ok` (of what has no rows to count) is left out. A schedule where Tidelock does something else is listed in `differences.txt` with the reason, and what
//! Tidelock does stands in the file's twin in `isolation/differences`.
//!
//! `cargo test -p tidelock-sql --test isolation` runs all of it in this process. `ORACLE="host=127.0.0.1 user=postgres dbname=..."` runs them against a PostgreSQL
//! instead; with `REGENERATE=1` besides it records. `REGENERATE=1` alone writes the twins of what is listed. `ONLY=word` runs the titles with that word.

mod peers;

use peers::{Peer, Server};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::oneshot;

/// How often a session that has not answered is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// A step that neither ends nor waits for a lock by then is a bug of the schedule, or of the server.
const PATIENCE: Duration = Duration::from_secs(5);

struct Schedule {
    title: String,
    setup: String,
    steps: Vec<(String, String)>,
}

/// A file's schedules, without what they gave.
fn parse(text: &str) -> (String, Vec<Schedule>) {
    let mut head = String::new();
    let mut schedules: Vec<Schedule> = Vec::new();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("== ") {
            schedules.push(Schedule { title: title.to_owned(), setup: String::new(), steps: Vec::new() });
            continue;
        }
        let Some(schedule) = schedules.last_mut() else {
            writeln!(head, "{line}").expect("writing to a string");
            continue;
        };
        match line.split_once(": ") {
            Some(("setup", sql)) => schedule.setup = sql.to_owned(),
            Some((session, sql)) if session.bytes().all(|byte| byte.is_ascii_lowercase()) => {
                schedule.steps.push((session.to_owned(), sql.to_owned()))
            }
            _ => {}
        }
    }
    (head, schedules)
}

/// A schedule under way.
struct Running<'s> {
    control: &'s Peer,
    peers: BTreeMap<String, Peer>,
    /// Sessions that wait, with what will come.
    waiting: Vec<(String, oneshot::Receiver<String>)>,
    /// Times to look again before a wait is believed: a deadlock may end it.
    looks: u32,
    /// The schedule is about a timeout: a session that set one is waited for.
    about_timeouts: bool,
    hasty: Vec<String>,
}

impl Running<'_> {
    async fn is_blocked(&self, session: &str) -> bool {
        let pid = self.peers[session].pid;
        let answer = self.control.run(&format!("select cardinality(pg_blocking_pids({pid})) > 0")).await;
        answer.trim() == "t"
    }

    /// Waits until the answer is there, or the session waits for somebody: then None.
    async fn settled(&self, session: &str, answer: &mut oneshot::Receiver<String>) -> Option<String> {
        let started = std::time::Instant::now();
        let mut blocked = 0;
        loop {
            if let Ok(result) = answer.try_recv() {
                return Some(result);
            }
            blocked = if self.is_blocked(session).await { blocked + 1 } else { 0 };
            if blocked > self.looks && !self.hasty.iter().any(|hasty| hasty == session) {
                return None;
            }
            if started.elapsed() > PATIENCE {
                return Some("neither answers nor waits".to_owned());
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    async fn step(&mut self, session: &str, sql: &str, out: &mut String) {
        assert!(!self.waiting.iter().any(|(waiting, _)| waiting == session), "{session} waits and cannot do {sql}");
        writeln!(out, "{session}: {sql}").expect("writing to a string");
        if self.about_timeouts && sql.contains("_timeout = ") {
            self.hasty.push(session.to_owned());
        }
        let mut answer = self.peers[session].start(sql);
        match self.settled(session, &mut answer).await {
            Some(result) if result == "ok\n" => {}
            Some(result) => result.lines().for_each(|line| writeln!(out, "  {line}").expect("writing to a string")),
            None => {
                writeln!(out, "  waits").expect("writing to a string");
                self.waiting.push((session.to_owned(), answer));
            }
        }
        self.look_at_waiting(out).await;
    }

    /// Ends all transactions; who still waits then is let go by it.
    async fn end(&mut self, out: &mut String) {
        let waiting = std::mem::take(&mut self.waiting);
        for (session, peer) in &self.peers {
            if waiting.iter().any(|(name, _)| name == session) {
                writeln!(out, "{session}> still waits").expect("writing to a string");
                continue;
            }
            peer.run("rollback").await;
            peer.run("select pg_advisory_unlock_all()").await;
        }
        for (session, answer) in waiting {
            answer.await.expect("the session's task answers");
            self.peers[&session].run("rollback").await;
            self.peers[&session].run("select pg_advisory_unlock_all()").await;
        }
    }

    /// Shows what those have to say who wait no more.
    async fn look_at_waiting(&mut self, out: &mut String) {
        let mut progress = true;
        while progress {
            progress = false;
            let mut still = Vec::new();
            let mut done = Vec::new();
            for (session, mut answer) in std::mem::take(&mut self.waiting) {
                match self.settled(&session, &mut answer).await {
                    Some(result) => done.push((session, result)),
                    None => still.push((session, answer)),
                }
            }
            self.waiting = still;
            done.sort();
            for (session, result) in done {
                progress = true;
                result.lines().for_each(|line| writeln!(out, "{session}> {line}").expect("writing to a string"));
            }
        }
    }
}

/// Runs a schedule; its text with what the steps gave.
async fn run(server: &Server, schedule: &Schedule) -> String {
    let control = server.session().await;
    let mut out = format!("== {}\n", schedule.title);
    if !schedule.setup.is_empty() {
        writeln!(out, "setup: {}", schedule.setup).expect("writing to a string");
        let answer = control.run(&schedule.setup).await;
        for line in answer.lines().filter(|line| line.starts_with("ERROR")) {
            writeln!(out, "  {line}").expect("writing to a string");
        }
    }
    let looks = if matches!(server, Server::Postgres { .. }) { 40 } else { 3 };
    let about_timeouts = schedule.title.contains("_timeout");
    let mut running = Running { control: &control, peers: BTreeMap::new(), waiting: Vec::new(), looks, about_timeouts, hasty: Vec::new() };
    for (session, _) in &schedule.steps {
        if !running.peers.contains_key(session) {
            let peer = server.session().await;
            running.peers.insert(session.clone(), peer);
        }
    }
    for (session, sql) in &schedule.steps {
        running.step(session, sql, &mut out).await;
    }
    running.end(&mut out).await;
    for statement in clean_up(&schedule.setup) {
        control.run(&statement).await;
    }
    out
}

/// What drops the relations of a setup, views first.
fn clean_up(setup: &str) -> Vec<String> {
    let mut created: Vec<String> = Vec::new();
    for statement in setup.split(';') {
        let words: Vec<&str> = statement.split_whitespace().collect();
        if let ["create", kind @ ("table" | "view" | "sequence"), name, ..] = words.as_slice() {
            let name = name.split('(').next().unwrap_or(name);
            created.push(format!("drop {kind} if exists {name} cascade"));
        }
    }
    created.reverse();
    created
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/isolation")
}

fn files() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let entries = std::fs::read_dir(folder().join("schedules")).expect("the schedules are there");
    found.extend(entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.extension().is_some_and(|e| e == "txt")));
    found.sort();
    found
}

/// Titles that are known to differ, with the reason.
fn known_differences() -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(folder().join("differences.txt")).expect("the list of differences");
    let entries = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": "));
    entries.map(|(title, reason)| (title.trim().to_owned(), reason.trim().to_owned())).collect()
}

/// A schedule's recorded text.
fn recorded(text: &str, title: &str) -> Option<String> {
    let start = text.find(&format!("== {title}\n"))?;
    let rest = &text[start..];
    let end = rest[3..].find("\n== ").map_or(rest.len(), |at| at + 3);
    Some(rest[..end].trim_end().to_owned())
}

#[tokio::test(flavor = "current_thread")]
async fn schedules_give_what_postgresql_gives() {
    let local = tokio::task::LocalSet::new();
    local.run_until(check_all()).await;
}

async fn check_all() {
    let oracle = std::env::var("ORACLE").ok();
    let regenerate = std::env::var_os("REGENERATE").is_some();
    let only = std::env::var("ONLY").unwrap_or_default();
    let known = known_differences();
    let mut used = 0;
    let mut wrong = Vec::new();
    for path in files() {
        let text = std::fs::read_to_string(&path).expect("a file of schedules");
        let twin = folder().join("differences").join(path.file_name().expect("a name"));
        let twin_text = std::fs::read_to_string(&twin).unwrap_or_default();
        let (head, schedules) = parse(&text);
        let server = match &oracle {
            Some(url) => Server::Postgres { url: url.clone() },
            None => Server::tidelock().await,
        };
        let (mut new_text, mut new_twin) = (head, String::new());
        for schedule in &schedules {
            let old = recorded(&text, &schedule.title).unwrap_or_default();
            if !schedule.title.contains(&only) {
                writeln!(new_text, "{old}\n").expect("writing to a string");
                continue;
            }
            let given = run(&server, schedule).await;
            let given = given.trim_end();
            writeln!(new_text, "{given}\n").expect("writing to a string");
            let differs = oracle.is_none() && known.contains_key(&schedule.title);
            if differs {
                used += 1;
                writeln!(new_twin, "{given}\n").expect("writing to a string");
            }
            let expected = if differs { recorded(&twin_text, &schedule.title).unwrap_or_default() } else { old.clone() };
            if differs && given == old {
                wrong.push(format!("{} is listed as a difference, and is none", schedule.title));
            } else if given != expected && !regenerate {
                wrong.push(format!("{}\n--- expected\n{expected}\n--- given\n{given}\n", path.display()));
            }
        }
        if regenerate && oracle.is_some() {
            std::fs::write(&path, format!("{}\n", new_text.trim_end())).expect("the file can be written");
        } else if regenerate && !new_twin.is_empty() && only.is_empty() {
            std::fs::create_dir_all(folder().join("differences")).expect("a folder");
            std::fs::write(&twin, format!("{}\n", new_twin.trim_end())).expect("the file can be written");
        }
    }
    if oracle.is_none() && only.is_empty() {
        assert_eq!(used, known.len(), "differences.txt lists titles that do not exist");
    }
    assert!(wrong.is_empty(), "{} schedules went wrong\n{}", wrong.len(), wrong.join("\n"));
}
