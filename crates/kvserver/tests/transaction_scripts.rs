//! Runs the scripts in `transaction_scripts/`: several sessions' transactions on one store, step by step.
//!
//! A prefix names the session: `a: begin serializable`, `a: get k [lock=update] [wait=nowait|skip]`, `a: scan a-z [limit=2] [reverse]
//! [lock=share]`, `a: put k v`, `a: insert k v`, `a: delete k`, `a: savepoint s`, `a: rollback_to s`, `a: commit`, `a: rollback`. A step that waits for
//! a lock says `waits`, and goes on in the background; `a: join` gives its result once it is through, `a: give_up` drops it (a cancelled
//! statement), `a: vanish` drops the whole session (a client that is gone).
//!
//! Without a prefix: `locks`, `queue`, `split k`, `merge k`, `ranges`, `set inline=off batch_ranged=off`, `settled` (waits until
//! finished transactions have left nothing), `metric name`. `UPDATE_GOLDENFILES=1` records anew.

use goldenscript::{Command, Context, Runner};
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use tidelock_base::{IndexId, Key, SessionId, Span, TxnId, Value};
use tidelock_kvapi::{Isolation, KvError, Limit, LockStrength, WaitPolicy};
use tidelock_kvclient::{ClientMetrics, Db, DistSender, ReadOptions, Savepoint, ScanOptions, Txn, TxnOptions, Write, Written};
use tidelock_kvserver::{KvSettings, Store};
use tidelock_storage::{Options, Storage};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

const INDEX: IndexId = IndexId(100);

/// Longest time that anything here may take; a script that gets here has hung.
const PATIENCE: Duration = Duration::from_secs(20);

struct Session {
    number: u32,
    txn: Option<Arc<Mutex<Txn>>>,
    id: TxnId,
    savepoints: BTreeMap<String, Savepoint>,
    pending: Option<JoinHandle<String>>,
}

struct Script {
    runtime: tokio::runtime::Runtime,
    db: Db,
    store: Arc<Store>,
    sessions: BTreeMap<String, Session>,
    /// Names of transactions, for the output.
    names: BTreeMap<TxnId, String>,
    _folder: tempfile::TempDir,
}

impl Script {
    fn new() -> Script {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let storage = Storage::open(Options::for_tests(folder.path())).expect("storage opens");
        let (store, db) = runtime.block_on(async {
            let store = Store::open(storage, Arc::new(KvSettings::default())).expect("store opens");
            let sender = Arc::new(DistSender::new(store.sender(), Arc::new(ClientMetrics::default())));
            store.start(sender.clone());
            (store, Db::new(sender))
        });
        Script { runtime, db, store, sessions: BTreeMap::new(), names: BTreeMap::new(), _folder: folder }
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

    fn begin(&mut self, name: &str, isolation: &str) -> Result<String, Box<dyn Error>> {
        let isolation = match isolation {
            "serializable" => Isolation::Serializable,
            "repeatable_read" => Isolation::RepeatableRead,
            "read_committed" => Isolation::ReadCommitted,
            other => return Err(format!("no level {other}").into()),
        };
        let number = self.session(name).number;
        let options = TxnOptions { isolation, session: SessionId(number), ..TxnOptions::default() };
        let txn = self.runtime.block_on(async { self.db.begin(options) });
        self.names.insert(txn.id(), name.to_string());
        let session = self.session(name);
        session.id = txn.id();
        session.txn = Some(Arc::new(Mutex::new(txn)));
        session.savepoints.clear();
        Ok(String::new())
    }

    /// Runs a step until it is through or waits for a lock.
    fn step(&mut self, name: &str, step: Step) -> Result<String, Box<dyn Error>> {
        let session = self.sessions.get_mut(name).ok_or("begin first")?;
        let txn = Arc::clone(session.txn.as_ref().ok_or("begin first")?);
        let id = session.id;
        let names = self.names.clone();
        let task = self.runtime.spawn(async move {
            let mut txn = txn.lock().await;
            step.run(&mut txn).await.unwrap_or_else(|error| show_error(&error, &names))
        });
        let store = Arc::clone(&self.store);
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

    /// A step that ends the transaction.
    fn end(&mut self, name: &str, step: Step) -> Result<String, Box<dyn Error>> {
        let said = self.step(name, step)?;
        self.session(name).txn = None;
        Ok(said)
    }

    fn join(&mut self, name: &str) -> Result<String, Box<dyn Error>> {
        let task = self.session(name).pending.take().ok_or("nothing is waiting")?;
        let joined = self.runtime.block_on(async { tokio::time::timeout(PATIENCE, task).await });
        Ok(joined.map_err(|_| "it still waits")??)
    }

    fn give_up(&mut self, name: &str) -> Result<String, Box<dyn Error>> {
        let task = self.session(name).pending.take().ok_or("nothing is waiting")?;
        task.abort();
        // The abort is noticed when the task is polled next.
        let _cancelled = self.runtime.block_on(task);
        Ok(String::new())
    }

    fn vanish(&mut self, name: &str) -> Result<String, Box<dyn Error>> {
        if self.session(name).pending.is_some() {
            self.give_up(name)?;
        }
        let txn = self.session(name).txn.take();
        self.runtime.block_on(async { drop(txn) });
        Ok(String::new())
    }

    fn locks(&self) -> String {
        let name = |id| self.names.get(&id).cloned().unwrap_or_else(|| "?".into());
        let mut lines: Vec<String> = self
            .store
            .locks()
            .into_iter()
            .map(|lock| {
                let wrote = if lock.wrote { ", intent" } else { "" };
                format!("{} {} by {}{wrote}\n", show_key(&lock.key), lock.strength, name(lock.txn))
            })
            .collect();
        lines.sort();
        lines.concat()
    }

    fn queue(&self) -> String {
        let name = |id| self.names.get(&id).cloned().unwrap_or_else(|| "?".into());
        let mut waits = self.store.waits();
        waits.sort_by_key(|wait| wait.txn);
        waits.iter().map(|wait| format!("{} waits for {} {}\n", name(wait.txn), show_key(&wait.key), wait.strength)).collect()
    }

    fn settled(&self) -> Result<String, Box<dyn Error>> {
        let store = Arc::clone(&self.store);
        let active: Vec<TxnId> = self.sessions.values().filter(|s| s.txn.is_some()).map(|s| s.id).collect();
        self.runtime.block_on(async {
            tokio::time::timeout(PATIENCE, async {
                while store.locks().iter().any(|lock| !active.contains(&lock.txn)) {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            })
            .await
        })?;
        Ok(self.locks())
    }

    fn administer(&mut self, command: &Command) -> Result<String, Box<dyn Error>> {
        let mut args = command.consume_args();
        match command.name.as_str() {
            "locks" => Ok(self.locks()),
            "queue" => Ok(self.queue()),
            "settled" => self.settled(),
            "split" => {
                let at = key(args.next_pos().ok_or("where?")?);
                self.runtime.block_on(self.db.split(at)).map(|_| String::new()).map_err(Into::into)
            }
            "merge" => {
                let at = key(args.next_pos().ok_or("where?")?);
                self.runtime.block_on(self.db.merge(at)).map(|_| String::new()).map_err(Into::into)
            }
            "ranges" => {
                let ranges = self.runtime.block_on(self.db.ranges(Span::index(INDEX)))?;
                Ok(ranges.iter().map(|r| format!("{} [{}, {})\n", r.id, show_key(&r.span.start), show_key(&r.span.end))).collect())
            }
            "set" => {
                while let Some((name, value)) = args.next_key() {
                    match name {
                        "inline" => self.store.settings.set_inline(value == "on"),
                        "batch_ranged" => self.store.settings.set_batch_ranged(value == "on"),
                        "inline_limit" => self.store.settings.set_inline_limit(value.parse()?),
                        other => return Err(format!("no setting {other}").into()),
                    }
                }
                Ok(String::new())
            }
            "metric" => {
                let name = args.next_pos().ok_or("which?")?;
                let all = self.store.metrics.snapshot();
                let (_, value) = all.iter().find(|(known, _)| known == name).ok_or("no such metric")?;
                Ok(format!("{value}\n"))
            }
            other => Err(format!("no command {other}").into()),
        }
    }
}

impl Runner for Script {
    type Command = Command;

    fn run(&mut self, command: &Command, context: &Context) -> Result<String, Box<dyn Error>> {
        let Some(name) = &context.prefix else { return self.administer(command) };
        let mut args = command.consume_args();
        match command.name.as_str() {
            "begin" => self.begin(name, args.next_pos().unwrap_or("serializable")),
            "join" => self.join(name),
            "give_up" => self.give_up(name),
            "vanish" => self.vanish(name),
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
            _ => {
                let step = parse_step(command)?;
                match step {
                    Step::Commit | Step::Rollback => self.end(name, step),
                    step => self.step(name, Step::Fresh(Box::new(step))),
                }
            }
        }
    }
}

enum Step {
    /// Opens a statement first.
    Fresh(Box<Step>),
    Get(Key, ReadOptions),
    Scan(Span, ScanOptions),
    Write(Write),
    RollbackTo(Savepoint),
    Commit,
    Rollback,
}

impl Step {
    async fn run(self, txn: &mut Txn) -> Result<String, KvError> {
        let step = match self {
            Step::Fresh(step) => {
                txn.step();
                *step
            }
            step => step,
        };
        match step {
            Step::Fresh(_) => Ok(String::new()),
            Step::Get(key, options) => {
                let row = txn.get_one(key, &options).await?;
                Ok(row.map_or("nothing\n".into(), |row| format!("{}\n", String::from_utf8_lossy(&row.value))))
            }
            Step::Scan(span, options) => {
                let page = txn.scan(span, &options).await?;
                let rows = page.rows.iter().map(|row| format!("{}={}", show_key(&row.key), String::from_utf8_lossy(&row.value)));
                Ok(format!("{}\n", rows.collect::<Vec<_>>().join(" ")))
            }
            Step::Write(write) => match txn.write(vec![write]).await?.first() {
                Some(Written::Exists(value)) => Ok(format!("there is {}\n", String::from_utf8_lossy(value))),
                _ => Ok(String::new()),
            },
            Step::RollbackTo(savepoint) => txn.rollback_to(&savepoint).await.map(|()| String::new()),
            Step::Commit => txn.commit(false).await.map(|_| "committed\n".into()),
            Step::Rollback => txn.rollback().await.map(|()| "rolled back\n".into()),
        }
    }
}

fn parse_step(command: &Command) -> Result<Step, Box<dyn Error>> {
    let mut args = command.consume_args();
    let lock = match args.take_key("lock") {
        None => None,
        Some("key_share") => Some(LockStrength::KeyShare),
        Some("share") => Some(LockStrength::Share),
        Some("no_key_update") => Some(LockStrength::NoKeyUpdate),
        Some("update") => Some(LockStrength::Update),
        Some(other) => return Err(format!("no strength {other}").into()),
    };
    let wait = match args.take_key("wait") {
        None => WaitPolicy::Block,
        Some("nowait") => WaitPolicy::Error,
        Some("skip") => WaitPolicy::Skip,
        Some(other) => return Err(format!("no policy {other}").into()),
    };
    let limit = args.take_key("limit").map(str::parse).transpose()?.map_or(Limit::Unlimited, Limit::Keys);
    let read = ReadOptions { lock, wait, ..ReadOptions::default() };
    let mut next = || args.next_pos().map(str::to_string).ok_or("something is missing");
    Ok(match command.name.as_str() {
        "get" => Step::Get(key(&next()?), read),
        "scan" => {
            let text = next()?;
            let (start, end) = text.split_once('-').ok_or("a span is start-end")?;
            let reverse = next().is_ok_and(|word| word == "reverse");
            Step::Scan(Span::new(key(start), key(end)), ScanOptions { read, reverse, limit })
        }
        "put" => Step::Write(Write::Put(key(&next()?), Value::from(next()?), LockStrength::NoKeyUpdate)),
        "insert" => Step::Write(Write::Insert(key(&next()?), Value::from(next()?))),
        "delete" => Step::Write(Write::Delete(key(&next()?))),
        "commit" => Step::Commit,
        "rollback" => Step::Rollback,
        other => return Err(format!("no command {other}").into()),
    })
}

fn key(text: &str) -> Key {
    let mut key = Key::index_start(INDEX);
    key.extend(text.as_bytes());
    key
}

fn show_key(key: &Key) -> String {
    match key.strip_prefix(&*Key::index_start(INDEX)) {
        Some(text) => String::from_utf8_lossy(text).into_owned(),
        None => "outside".into(),
    }
}

fn show_error(error: &KvError, names: &BTreeMap<TxnId, String>) -> String {
    match error {
        KvError::Deadlock(report) => {
            let name = |id| names.get(&id).cloned().unwrap_or_else(|| "?".into());
            let edges = report
                .cycle
                .iter()
                .map(|e| format!("{} waits for {} {} held by {}", name(e.waiter), show_key(&e.key), e.strength, name(e.holder)));
            format!("deadlock, {} gives up: {}\n", name(report.victim), edges.collect::<Vec<_>>().join("; "))
        }
        KvError::LockNotAvailable { key } => format!("{} is locked\n", show_key(key)),
        KvError::WriteTooOld { key, .. } => format!("{} was changed since it was read\n", show_key(key)),
        KvError::ReadChanged { key, .. } => format!("{} was changed after it was read\n", show_key(key)),
        other => format!("{other}\n"),
    }
}

#[test]
fn scripts() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/transaction_scripts");
    let mut scripts: Vec<_> = std::fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path()).collect();
    scripts.sort();
    assert!(scripts.len() >= 15, "the scripts are gone");
    for script in scripts {
        goldenscript::run(&mut Script::new(), &script).unwrap_or_else(|e| panic!("{script:?}: {e}"));
    }
}
