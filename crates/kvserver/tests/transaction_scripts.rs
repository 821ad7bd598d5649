//! Runs the scripts in `transaction_scripts/`: several sessions' transactions on one store, step by step.
//!
//! A prefix names the session: `a: begin serializable`, `a: get k [lock=update] [wait=nowait|skip]`, `a: scan a-z [limit=2] [reverse]
//! [lock=share]`, `a: count a-z` (to the end of the span), `a: put k v [bytes=1000]`, `a: insert k v`, `a: delete k`, `a: put_many k 0-300 v
//! [bytes=100]` (rows k000000 to k000299), `a: delete_many k 0-300`, `a: savepoint s`, `a: rollback_to s`, `a: commit`, `a: rollback`. A
//! step that waits for a lock says `waits`, and goes on in the background; `a: join` gives its result once it is through, `a: give_up` drops it (a
//! cancelled statement), `a: vanish` drops the whole session (a client that is gone), `a: aborted_elsewhere` ends its transaction behind its back.
//!
//! Without a prefix: `locks`, `lock_count`, `records` (transactions the store remembers), `queue`, `split k`, `merge k`, `ranges`, `set inline=off
//! pass_keys=2` (settings by the last part of their name), `set resolver=stuck|failing|working`, `resolve a a-z` (what the resolver would send),
//! `commits 300 k v` (each a transaction of its own), `settled` (waits until finished transactions have left nothing), `metric name`,
//! `grown name` (since it was asked last), `crash [7]` (power cut and restart), `cleanup keys=100 ranges=16 end=vanish` (see `cleanup`).
//! `UPDATE_GOLDENFILES=1` records anew, `SCRIPT=b0` runs those whose name begins so.

mod support;

use goldenscript::{ArgumentConsumer, Command, Context, Runner};
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use support::bed::{Bed, ResolverMode};
use support::names::{INDEX, key, numbered, show_error, show_key, span};
use support::steps::{Step, parse_step};
use tidelock_base::{SessionId, Span, TxnId, Value};
use tidelock_kvapi::{BatchRequest, EndTxn, Isolation, LockSpan, LockStrength, Request, Resolution, Response, TxnMeta, TxnStatus};
use tidelock_kvclient::{Savepoint, Txn, TxnOptions, Write};
use tidelock_kvserver::NUMBERS;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

/// Longest time that anything here may take; a script that gets here has hung.
const PATIENCE: Duration = Duration::from_secs(60);

type Outcome = Result<String, Box<dyn Error>>;

struct Session {
    number: u32,
    txn: Option<Arc<Mutex<Txn>>>,
    id: TxnId,
    savepoints: BTreeMap<String, Savepoint>,
    pending: Option<JoinHandle<String>>,
}

struct Script {
    runtime: tokio::runtime::Runtime,
    bed: Bed,
    sessions: BTreeMap<String, Session>,
    /// Names of transactions, for the output.
    names: BTreeMap<TxnId, String>,
    /// Metrics as they were when they were asked for last.
    seen: BTreeMap<String, u64>,
}

impl Script {
    fn new() -> Script {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let bed = runtime.block_on(async { Bed::new() });
        Script { runtime, bed, sessions: BTreeMap::new(), names: BTreeMap::new(), seen: BTreeMap::new() }
    }

    fn session(&mut self, name: &str) -> &mut Session {
        let number = self.sessions.len() as u32 + 1;
        self.sessions.entry(name.to_string()).or_insert_with(|| Session {
            number,
            txn: None,
            id: TxnId(0),
            savepoints: BTreeMap::new(),
            pending: None,
        })
    }

    fn begin(&mut self, name: &str, isolation: &str) -> Outcome {
        let isolation = match isolation {
            "serializable" => Isolation::Serializable,
            "repeatable_read" => Isolation::RepeatableRead,
            "read_committed" => Isolation::ReadCommitted,
            other => return Err(format!("no level {other}").into()),
        };
        let number = self.session(name).number;
        let options = TxnOptions { isolation, session: SessionId(number), ..TxnOptions::default() };
        let txn = self.runtime.block_on(async { self.bed.db.begin(options) });
        self.names.insert(txn.id(), name.to_string());
        let session = self.session(name);
        session.id = txn.id();
        session.txn = Some(Arc::new(Mutex::new(txn)));
        session.savepoints.clear();
        Ok(String::new())
    }

    /// Runs a step until it is through or waits for a lock.
    fn step(&mut self, name: &str, step: Step) -> Outcome {
        let session = self.sessions.get_mut(name).ok_or("begin first")?;
        let txn = Arc::clone(session.txn.as_ref().ok_or("begin first")?);
        let id = session.id;
        let names = self.names.clone();
        let task = self.runtime.spawn(async move {
            let mut txn = txn.lock().await;
            step.run(&mut txn).await.unwrap_or_else(|error| show_error(&error, &names))
        });
        let store = Arc::clone(&self.bed.store);
        let waits = self.runtime.block_on(async {
            for _ in 0..200_000 {
                if task.is_finished() {
                    return false;
                }
                if store.waits().iter().any(|wait| wait.txn == id) {
                    return true;
                }
                tokio::task::yield_now().await;
                tokio::time::sleep(Duration::from_micros(100)).await;
            }
            panic!("neither through nor waiting");
        });
        if waits {
            self.session(name).pending = Some(task);
            return Ok("waits\n".into());
        }
        Ok(self.runtime.block_on(task)?)
    }

    fn join(&mut self, name: &str) -> Outcome {
        let task = self.session(name).pending.take().ok_or("nothing is waiting")?;
        let joined = self.runtime.block_on(async { tokio::time::timeout(PATIENCE, task).await });
        Ok(joined.map_err(|_| "it still waits")??)
    }

    fn give_up(&mut self, name: &str) -> Outcome {
        let task = self.session(name).pending.take().ok_or("nothing is waiting")?;
        task.abort();
        // The abort is noticed when the task is polled next.
        let _cancelled = self.runtime.block_on(task);
        Ok(String::new())
    }

    fn vanish(&mut self, name: &str) -> Outcome {
        if self.session(name).pending.is_some() {
            self.give_up(name)?;
        }
        let txn = self.session(name).txn.take();
        self.runtime.block_on(async {
            drop(txn);
            // Its abort is a task of its own, which waits for nothing.
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
        });
        Ok(String::new())
    }

    /// Ends a transaction without its client's knowledge.
    fn aborted_elsewhere(&mut self, name: &str) -> Outcome {
        let id = self.session(name).id;
        let everything = LockSpan::Range(Span::index(INDEX));
        let end = EndTxn { locks: vec![everything], ..EndTxn::default() };
        let mut batch = self.batch_of(id);
        batch.requests.push(Request::EndTxn(Box::new(end)));
        let sender = self.bed.store.sender();
        self.runtime.block_on(sender.send(batch))?;
        Ok(String::new())
    }

    fn batch_of(&self, id: TxnId) -> BatchRequest {
        let (session, isolation, read_ts) = (SessionId(0), Isolation::ReadCommitted, self.bed.db.newest());
        BatchRequest::in_txn(TxnMeta { id, session, isolation, read_ts, sequence: 0, anchored: false })
    }

    fn name_of(&self, id: TxnId) -> String {
        self.names.get(&id).cloned().unwrap_or_else(|| "?".into())
    }

    fn locks(&self) -> String {
        let show = |lock: tidelock_kvserver::LockInfo| {
            let wrote = if lock.wrote { ", intent" } else { "" };
            format!("{} {} by {}{wrote}\n", show_key(&lock.key), lock.strength, self.name_of(lock.txn))
        };
        let mut lines: Vec<String> = self.bed.store.locks().into_iter().map(show).collect();
        lines.sort();
        lines.concat()
    }

    fn queue(&self) -> String {
        let mut waits = self.bed.store.waits();
        waits.sort_by_key(|wait| wait.txn);
        let show = |wait: &tidelock_kvserver::wait::WaitInfo| {
            format!("{} waits for {} {}\n", self.name_of(wait.txn), show_key(&wait.key), wait.strength)
        };
        waits.iter().map(show).collect()
    }

    /// Waits until the store remembers no finished transaction, and none whose client is gone.
    fn settled(&self) -> Outcome {
        let store = Arc::clone(&self.bed.store);
        let active: Vec<TxnId> = self.sessions.values().filter(|s| s.txn.is_some()).map(|s| s.id).collect();
        self.runtime.block_on(async {
            tokio::time::timeout(PATIENCE, async {
                while store.finished_transactions() > 0 || store.locks().iter().any(|lock| !active.contains(&lock.txn)) {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            })
            .await
        })?;
        Ok(self.locks())
    }

    fn set(&mut self, args: &mut ArgumentConsumer<'_>) -> Outcome {
        let settings = &self.bed.store.settings;
        while let Some((name, value)) = args.next_key() {
            match (name, value) {
                ("inline", value) => settings.set_inline(value == "on"),
                ("batch_ranged", value) => settings.set_batch_ranged(value == "on"),
                ("resolver", "working") => self.bed.set_resolver(ResolverMode::Working),
                ("resolver", "stuck") => self.bed.set_resolver(ResolverMode::Stuck),
                ("resolver", "failing") => self.bed.set_resolver(ResolverMode::Failing),
                (name, value) => {
                    let known = NUMBERS.iter().find(|known| known.name.rsplit('.').next() == Some(name));
                    settings.set_number(known.ok_or("no such setting")?.number, value.parse()?)?;
                }
            }
        }
        Ok(String::new())
    }

    /// Sends what the resolver would send for a session's transaction.
    fn resolve(&mut self, name: &str, at: &str) -> Outcome {
        let txn = self.session(name).id;
        let outcome = Resolution { txn, status: TxnStatus::Committed, commit_ts: self.bed.db.newest() };
        let request = match span(at) {
            Ok(span) => Request::ResolveIntentRange { span, outcome },
            Err(_) => Request::ResolveIntent { key: key(at), outcome },
        };
        let sender = self.bed.store.sender();
        let batch = self.batch_of(txn).with(request);
        let answer = self.runtime.block_on(sender.send(batch))?;
        match answer.responses.first() {
            Some(Response::Resolved { resolved, .. }) => Ok(format!("{resolved} resolved\n")),
            other => Err(format!("{other:?}").into()),
        }
    }

    /// `count` transactions, one row each.
    fn commits(&mut self, count: u64, prefix: &str, value: &str) -> Outcome {
        let (db, value) = (&self.bed.db, Value::copy_from_slice(value.as_bytes()));
        self.runtime.block_on(async {
            for n in 0..count {
                let mut txn = db.begin(TxnOptions::default());
                txn.write(vec![Write::Put(numbered(prefix, n), value.clone(), LockStrength::NoKeyUpdate)]).await?;
                txn.commit(true).await?;
            }
            Ok(String::new())
        })
    }

    fn value_of(&self, name: &str) -> Result<u64, Box<dyn Error>> {
        let mut all = self.bed.store.metrics.snapshot();
        let named = |(name, value): (&'static str, u64)| (name.to_string(), value);
        all.extend(self.bed.store.resolver().map(|resolver| resolver.metrics().snapshot()).unwrap_or_default().into_iter().map(named));
        all.extend(self.bed.metrics.snapshot().into_iter().map(named));
        let found = all.into_iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value).ok_or_else(|| format!("no metric {name}").into())
    }

    fn grown(&mut self, name: &str) -> Outcome {
        let value = self.value_of(name)?;
        let before = self.seen.insert(name.to_string(), value).unwrap_or(0);
        Ok(format!("{}\n", value - before))
    }

    fn administer(&mut self, command: &Command) -> Outcome {
        let mut args = command.consume_args();
        let word = |args: &mut ArgumentConsumer<'_>| args.next_pos().map(str::to_string).ok_or("something is missing");
        match command.name.as_str() {
            "locks" => Ok(self.locks()),
            "lock_count" => Ok(format!("{}\n", self.bed.store.locks().len())),
            "records" => Ok(format!("{}\n", self.bed.store.live_transactions())),
            "queue" => Ok(self.queue()),
            "settled" => self.settled(),
            "split" => {
                let at = key(&word(&mut args)?);
                self.runtime.block_on(self.bed.db.split(at)).map(|_| String::new()).map_err(Into::into)
            }
            "merge" => {
                let at = key(&word(&mut args)?);
                self.runtime.block_on(self.bed.db.merge(at)).map(|_| String::new()).map_err(Into::into)
            }
            "ranges" => {
                let ranges = self.runtime.block_on(self.bed.db.ranges(Span::index(INDEX)))?;
                Ok(ranges.iter().map(|r| format!("{} [{}, {})\n", r.id, show_key(&r.span.start), show_key(&r.span.end))).collect())
            }
            "set" => self.set(&mut args),
            "resolve" => self.resolve(&word(&mut args)?, &word(&mut args)?),
            "commits" => self.commits(word(&mut args)?.parse()?, &word(&mut args)?, &word(&mut args)?),
            "metric" => Ok(format!("{}\n", self.value_of(&word(&mut args)?)?)),
            "grown" => self.grown(&word(&mut args)?),
            "crash" => {
                let seed = args.next_pos().map(str::parse).transpose()?.unwrap_or(1);
                self.runtime.block_on(async { self.bed.crash(seed) });
                Ok(String::new())
            }
            "cleanup" => self.cleanup(&mut args),
            other => Err(format!("no command {other}").into()),
        }
    }

    /// One cell of the clean-up matrix: a transaction of so many rows over so many ranges, ended so, leaves nothing.
    fn cleanup(&mut self, args: &mut ArgumentConsumer<'_>) -> Outcome {
        let keys: u64 = args.take_key("keys").unwrap_or("1").parse()?;
        let ranges: u64 = args.take_key("ranges").unwrap_or("1").parse()?;
        let end = args.take_key("end").unwrap_or("commit").to_string();
        for range in 1..ranges {
            self.runtime.block_on(self.bed.db.split(numbered("k", range * keys.div_ceil(ranges))))?;
        }
        self.begin("cleanup", "read_committed")?;
        let value = Some(Value::copy_from_slice(end.as_bytes()));
        self.step("cleanup", Step::WriteMany { prefix: "k".into(), from: 0, to: keys, value })?;
        match end.as_str() {
            "commit" => self.step("cleanup", Step::Commit)?,
            "rollback" => self.step("cleanup", Step::Rollback)?,
            "vanish" => self.vanish("cleanup")?,
            "aborted_elsewhere" => self.aborted_elsewhere("cleanup")?,
            other => return Err(format!("no end {other}").into()),
        };
        let left = self.settled()?;
        self.begin("cleanup", "repeatable_read")?;
        let rows = self.step("cleanup", Step::Count(Span::index(INDEX), Default::default()))?;
        Ok(format!("{left}{} records, {rows}", self.bed.store.live_transactions()))
    }
}

impl Runner for Script {
    type Command = Command;

    fn run(&mut self, command: &Command, context: &Context) -> Outcome {
        let Some(name) = &context.prefix else { return self.administer(command) };
        let mut args = command.consume_args();
        match command.name.as_str() {
            "begin" => self.begin(name, args.next_pos().unwrap_or("serializable")),
            "join" => self.join(name),
            "give_up" => self.give_up(name),
            "vanish" => self.vanish(name),
            "aborted_elsewhere" => self.aborted_elsewhere(name),
            "savepoint" => {
                let label = args.next_pos().unwrap_or("s").to_string();
                let txn = Arc::clone(self.session(name).txn.as_ref().ok_or("begin first")?);
                let savepoint = self.runtime.block_on(async { txn.lock().await.savepoint() });
                self.session(name).savepoints.insert(label, savepoint);
                Ok(String::new())
            }
            "rollback_to" => {
                let label = args.next_pos().unwrap_or("s");
                let savepoint = self.session(name).savepoints.get(label).cloned().ok_or("no such savepoint")?;
                self.step(name, Step::RollbackTo(savepoint))
            }
            _ => match parse_step(command)? {
                // The client's side of an ended transaction stays, for scripts that go on with it.
                step @ (Step::Commit | Step::Rollback) => self.step(name, step),
                step => self.step(name, Step::Fresh(Box::new(step))),
            },
        }
    }
}

#[test]
fn scripts() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/transaction_scripts");
    let mut scripts: Vec<_> = std::fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path()).collect();
    scripts.sort();
    assert!(scripts.len() >= 15, "the scripts are gone");
    let wanted = std::env::var("SCRIPT").unwrap_or_default();
    let named = |path: &std::path::PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&wanted));
    for script in scripts.into_iter().filter(named) {
        goldenscript::run(&mut Script::new(), &script).unwrap_or_else(|e| panic!("{script:?}: {e}"));
    }
}
