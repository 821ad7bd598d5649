//! `tidelock history`: does a real server keep the promises of its isolation level, while it and its clients are killed?
//!
//! Clients append to lists, read them and move money over the wire ([`tidelock_workload::history`]); a server of our own is killed with SIGKILL every few seconds and
//! started again on the same data. At the end the history goes to the checker that the simulation uses too ([`tidelock_testkit::history`]): cycles of
//! dependencies, lost or phantom appends, money that does not add up.
//!
//! With `--url` it is somebody else's server, which is not killed: PostgreSQL's, say.

use clap::Args;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tidelock_testkit::history::{HistoryTxn, Level, Op, Outcome, check};
use tidelock_testkit::random::Random;
use tidelock_workload::history::{HistoryOptions, RecordedOp, RecordedOutcome, RecordedTxn, Recording};

/// Options of `history`.
#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// A server that is there already; without it, one of its own, which is killed now and then.
    #[arg(long)]
    url: Option<String>,
    /// Clients at a time.
    #[arg(long, default_value_t = 16)]
    clients: u64,
    /// Transactions of all clients together.
    #[arg(long, default_value_t = 20_000)]
    transactions: u64,
    /// "serializable", "repeatable read" or "read committed".
    #[arg(long, default_value = "serializable")]
    isolation: String,
    /// Another seed, other choices.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Seconds between two kills of the server, on average; 0 is never.
    #[arg(long, default_value_t = 5)]
    kill_every: u64,
    /// A client is killed in one of so many transactions; 0 is never.
    #[arg(long, default_value_t = 500)]
    cut_one_in: u64,
}

/// Runs the workload and checks it; fails when the level's promises are broken.
pub(crate) fn run(args: HistoryArgs) -> ExitCode {
    match try_run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(story) => {
            println!("FAILED: {story}");
            ExitCode::FAILURE
        }
    }
}

fn try_run(args: HistoryArgs) -> Result<(), String> {
    let level = level_of(&args.isolation)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| format!("no runtime: {error}"))?;
    let own = if args.url.is_none() { Some(OwnServer::start()?) } else { None };
    let url = own.as_ref().map_or_else(|| args.url.clone().unwrap_or_default(), OwnServer::url);
    let killer = own.map(|own| Killer::start(own, args.kill_every, args.seed));
    let options = HistoryOptions {
        url,
        clients: args.clients,
        transactions: args.transactions,
        isolation: args.isolation,
        seed: args.seed,
        cut_one_in: args.cut_one_in,
    };
    let started = Instant::now();
    let recording = runtime.block_on(tidelock_workload::history::run(options));
    let took = started.elapsed();
    let kills = killer.map_or(Ok(0), Killer::stop)?;
    let recording = recording.map_err(|error| error.story())?;
    report(&recording, kills, took);
    judge(recording, level)
}

fn level_of(isolation: &str) -> Result<Level, String> {
    match isolation {
        "serializable" => Ok(Level::Serializable),
        "repeatable read" => Ok(Level::RepeatableRead),
        "read committed" => Ok(Level::ReadCommitted),
        other => Err(format!("there is no isolation level \"{other}\"")),
    }
}

fn report(recording: &Recording, kills: u64, took: Duration) {
    let count = |outcome| recording.transactions.iter().filter(|txn| txn.outcome == outcome).count();
    let (committed, aborted) = (count(RecordedOutcome::Committed), count(RecordedOutcome::Aborted));
    let unknown = count(RecordedOutcome::Unknown);
    let all = recording.transactions.len() as u64 + recording.transfers;
    println!("transactions   {all} in {:.1} s, {:.0} a second", took.as_secs_f64(), all as f64 / took.as_secs_f64());
    println!("on lists       {committed} committed, {aborted} aborted, {unknown} unknown, {} lists", recording.last.len());
    println!("on accounts    {}", recording.transfers);
    println!("killed         the server {kills} times, clients {} times; {} connections lost", recording.cuts, recording.lost);
}

fn judge(recording: Recording, level: Level) -> Result<(), String> {
    let started = Instant::now();
    if let Some(story) = recording.wrong.first() {
        return Err(format!("{story} ({} such)", recording.wrong.len()));
    }
    let history: Vec<HistoryTxn> = recording.transactions.into_iter().map(history_txn).collect();
    check(&history, &recording.last, level).map_err(|anomaly| anomaly.to_string())?;
    println!("checked        in {:.1} s: no anomaly at {level:?}", started.elapsed().as_secs_f64());
    Ok(())
}

fn history_txn(txn: RecordedTxn) -> HistoryTxn {
    let op = |op| match op {
        RecordedOp::Append { list, element } => Op::Append { key: list, element },
        RecordedOp::Read { list, elements } => Op::Read { key: list, list: elements },
    };
    let outcome = match txn.outcome {
        RecordedOutcome::Committed => Outcome::Committed,
        RecordedOutcome::Aborted => Outcome::Aborted,
        RecordedOutcome::Unknown => Outcome::Unknown,
    };
    HistoryTxn { ops: txn.ops.into_iter().map(op).collect(), outcome, began: txn.began, ended: txn.ended }
}

/// A server in a process of its own, on data of its own.
struct OwnServer {
    child: Child,
    port: u16,
    folder: tempfile::TempDir,
}

impl OwnServer {
    fn start() -> Result<OwnServer, String> {
        let folder = tempfile::tempdir().map_err(|error| format!("no folder for the data: {error}"))?;
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
        let port = free.map_err(|error| format!("no free port: {error}"))?.port();
        let child = spawn(port, folder.path().join("data"))?;
        Ok(OwnServer { child, port, folder })
    }

    fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// SIGKILL, and a new one on the same data.
    fn kill(&mut self) -> Result<(), String> {
        self.end()?;
        self.child = spawn(self.port, self.folder.path().join("data"))?;
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        if let Ok(Some(status)) = self.child.try_wait() {
            return Err(format!("the server ended by itself: {status}"));
        }
        self.child.kill().and_then(|()| self.child.wait()).map(drop).map_err(|error| format!("the server cannot be killed: {error}"))
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        // It may have been ended already, and its data goes away with it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(port: u16, data: PathBuf) -> Result<Child, String> {
    let program = std::env::current_exe().map_err(|error| format!("where is this program: {error}"))?;
    let mut command = Command::new(program);
    command.args(["start", "--http", "off", "--log", "error", "--listen", &format!("127.0.0.1:{port}")]).arg("--data").arg(data);
    command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().map_err(|error| format!("the server does not start: {error}"))
}

/// The thread that kills the server.
struct Killer {
    over: Arc<AtomicBool>,
    kills: Arc<AtomicU64>,
    thread: std::thread::JoinHandle<Result<(), String>>,
}

/// How often the killer looks whether all is over.
const LOOK_EVERY: Duration = Duration::from_millis(50);

impl Killer {
    fn start(mut own: OwnServer, every_s: u64, seed: u64) -> Killer {
        let (over, kills) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (seen, counted) = (Arc::clone(&over), Arc::clone(&kills));
        let mut random = Random::new(seed);
        let thread = std::thread::spawn(move || {
            let mut next = Instant::now() + rest(&mut random, every_s);
            while !seen.load(Ordering::Acquire) {
                std::thread::sleep(LOOK_EVERY);
                if every_s > 0 && Instant::now() >= next {
                    own.kill()?;
                    counted.fetch_add(1, Ordering::AcqRel);
                    next = Instant::now() + rest(&mut random, every_s);
                }
            }
            own.end()
        });
        Killer { over, kills, thread }
    }

    /// Ends the server; how often it was killed before.
    fn stop(self) -> Result<u64, String> {
        self.over.store(true, Ordering::Release);
        self.thread.join().map_err(|_| "the killer panicked".to_owned())??;
        Ok(self.kills.load(Ordering::Acquire))
    }
}

/// Between half and one and a half times the average.
fn rest(random: &mut Random, every_s: u64) -> Duration {
    Duration::from_millis(every_s * 500 + random.below(every_s * 1000 + 1))
}
