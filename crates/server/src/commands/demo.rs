//! `tidelock demo`: the story of implicit SELECT FOR UPDATE, measured on this machine.
//!
//! A server of its own on a free port, a temporary folder, TPC-C with one warehouse over real connections, and four ways to
//! run it:
//!
//! | mode | implicit lock | point gets | ranged resolutions | resolved in the commit |
//! |---|---|---|---|---|
//! | `lock_off` | off | yes | batched | yes |
//! | `lock_on_scans_unbatched` | on | no: every read is a scan | each alone | no |
//! | `lock_on_scans_batched` | on | no | batched with points | no |
//! | `lock_on_all_cures` | on | yes | batched | yes |
//!
//! The second is how a large database once shipped the lock; the other two show what cures it. The modes take turns, so that
//! a noisy machine disturbs them all alike.

use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;
use tidelock::{Config, Server};
use tidelock_workload::tpcc::{self, LoadOptions, RunOptions};
use tidelock_workload::{Connection, Protocol, WorkloadError};

/// Turns that each mode takes.
const ROUNDS: u32 = 3;
/// Length of a turn.
const TURN: Duration = Duration::from_secs(5);
/// Not counted at the beginning of each turn: connections are made, plans are cached.
const RAMP_UP: Duration = Duration::from_millis(700);
/// Clients.
const TERMINALS: u32 = 16;

/// One way to run.
#[derive(Clone, Copy, Debug)]
struct Mode {
    name: &'static str,
    lock: bool,
    point_gets: bool,
    batch_ranged: bool,
    inline: bool,
}

const MODES: [Mode; 4] = [
    Mode { name: "lock_off", lock: false, point_gets: true, batch_ranged: true, inline: true },
    Mode { name: "lock_on_scans_unbatched", lock: true, point_gets: false, batch_ranged: false, inline: false },
    Mode { name: "lock_on_scans_batched", lock: true, point_gets: false, batch_ranged: true, inline: false },
    Mode { name: "lock_on_all_cures", lock: true, point_gets: true, batch_ranged: true, inline: true },
];

/// What one mode did, over all its turns. The first seven names are a contract with scripts.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs)]
pub(crate) struct ModeResult {
    pub mode: &'static str,
    pub tpmc: f64,
    pub retries: u64,
    pub batches_per_sec: f64,
    pub batches_per_txn: f64,
    pub resolve_intent_per_sec: f64,
    pub resolve_intent_range_per_sec: f64,
    pub transactions: u64,
    pub retry_percent: f64,
    pub items_per_batch: f64,
    pub merged_away: u64,
    pub latency_ms_p99_new_order: f64,
}

/// The whole demo's result.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct DemoResult {
    /// One per mode, in the order above.
    pub modes: Vec<ModeResult>,
}

#[derive(Default)]
struct Sums {
    /// Length of the stretches in which counters were read, and the transactions that ended in them.
    seconds: f64,
    ended: f64,
    new_orders: f64,
    transactions: u64,
    retries: u64,
    counters: BTreeMap<String, f64>,
    p99: f64,
}

/// Options of `demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Print one JSON object instead of a table.
    #[arg(long)]
    json: bool,
}

/// Runs the demo.
pub(crate) fn run(args: DemoArgs) -> ExitCode {
    match play(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\ntidelock: {error}");
            ExitCode::FAILURE
        }
    }
}

fn play(args: &DemoArgs) -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let result = runtime.block_on(async {
        let server = Server::start(Config::on_free_port(folder.path())).await?;
        let address = server.address();
        let url = format!("postgres://postgres@{}:{}/postgres", address.ip(), address.port());
        eprintln!("a server of our own at {address}, with its data in a temporary folder");
        let result = measure(&url, &mut say).await;
        server.stop().await?;
        result.map_err(|error| Box::<dyn std::error::Error>::from(error.story()))
    })?;
    if args.json {
        println!("{}", serde_json::to_string(&result)?);
    } else {
        println!("{}", result.story());
    }
    Ok(())
}

/// Progress goes to standard error, so that results can be piped.
fn say(text: &str) {
    let mut out = std::io::stderr();
    // Progress that cannot be shown is not worth stopping for.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Loads TPC-C into the server at `url` and runs the modes. `say` is told what is going on.
async fn measure(url: &str, say: &mut (dyn FnMut(&str) + Send)) -> Result<DemoResult, WorkloadError> {
    let options = LoadOptions { url: url.to_string(), warehouses: 1, drop: false, foreign_keys: false, seed: 42 };
    let mut percent = u32::MAX;
    tpcc::load(&options, &mut |done, what| {
        let now = (done * 100.0) as u32;
        if now != percent {
            percent = now;
            say(&format!("\rloading TPC-C, 1 warehouse: {} {now:>3} %  {what:<12}", bar(done)));
        }
    })
    .await?;
    say("\n");
    let mut admin = Connection::open(url, Protocol::Simple).await?;
    let mut sums: Vec<Sums> = MODES.iter().map(|_| Sums::default()).collect();
    for round in 0..ROUNDS {
        for (mode, sums) in MODES.iter().zip(&mut sums) {
            say(&format!("\rround {} of {ROUNDS}: {:<28}", round + 1, mode.name));
            turn(url, &mut admin, *mode, round, sums).await?;
        }
    }
    say("\r                                                  \r");
    reset(&admin).await?;
    let modes = MODES.iter().zip(sums).map(|(mode, sums)| result(*mode, &sums)).collect();
    Ok(DemoResult { modes })
}

async fn turn(url: &str, admin: &mut Connection, mode: Mode, round: u32, sums: &mut Sums) -> Result<(), WorkloadError> {
    let on = |yes: bool| if yes { "on" } else { "off" };
    admin.batch(&format!("set sql.point_gets = {}", on(mode.point_gets))).await?;
    admin.batch(&format!("set kv.resolver.batch_ranged = {}", on(mode.batch_ranged))).await?;
    admin.batch(&format!("set kv.resolver.inline = {}", on(mode.inline))).await?;
    let options = RunOptions {
        url: url.to_string(),
        warehouses: 1,
        terminals: TERMINALS,
        duration: TURN,
        ramp_up: RAMP_UP,
        protocol: Protocol::Prepared,
        isolation: None,
        session_setup: vec![format!("set enable_implicit_select_for_update = {}", on(mode.lock))],
        wait: false,
        seed: u64::from(round) + 1,
    };
    let mut silent = |_: f64, _: u64| {};
    let running = tpcc::run(&options, &mut silent);
    // The counters are read in the middle of the run, away from its ramps.
    let counting = async {
        tokio::time::sleep(RAMP_UP + Duration::from_millis(200)).await;
        let before = (std::time::Instant::now(), counters(admin).await?);
        tokio::time::sleep(TURN - Duration::from_millis(500)).await;
        let after = (std::time::Instant::now(), counters(admin).await?);
        Ok::<_, WorkloadError>((before, after))
    };
    let (report, counted) = tokio::join!(running, counting);
    let (report, ((t0, before), (t1, after))) = (report?, counted?);
    let seconds = (t1 - t0).as_secs_f64();
    sums.seconds += seconds;
    // A transaction that is run again is a transaction of its own down there.
    sums.ended += report.transactions_per_sec * seconds * (1.0 + report.retry_percent / 100.0);
    for (name, value) in after {
        let grown = value - before.get(&name).copied().unwrap_or(0.0);
        *sums.counters.entry(name).or_default() += grown;
    }
    sums.new_orders += report.tpmc;
    sums.transactions += report.transactions;
    sums.retries += report.retries;
    sums.p99 = sums.p99.max(report.kinds.first().map_or(0.0, |kind| kind.latency_ms_p99));
    Ok(())
}

async fn reset(admin: &Connection) -> Result<(), WorkloadError> {
    for setting in ["sql.point_gets", "kv.resolver.batch_ranged", "kv.resolver.inline"] {
        admin.batch(&format!("set {setting} = on")).await?;
    }
    Ok(())
}

async fn counters(admin: &mut Connection) -> Result<BTreeMap<String, f64>, WorkloadError> {
    let rows = admin.query("select name, value from tidelock.metrics", &[]).await?;
    rows.iter()
        .map(|row| {
            let value = row.text(1)?.parse().map_err(|_| WorkloadError::Unexpected("a counter is not a number".into()))?;
            Ok((row.text(0)?, value))
        })
        .collect()
}

fn result(mode: Mode, sums: &Sums) -> ModeResult {
    let counter = |name: &str| sums.counters.get(name).copied().unwrap_or(0.0);
    let per_second = |name: &str| counter(name) / sums.seconds;
    ModeResult {
        mode: mode.name,
        tpmc: sums.new_orders / f64::from(ROUNDS),
        retries: sums.retries,
        batches_per_sec: per_second("kv.batches"),
        batches_per_txn: counter("kv.batches") / sums.ended.max(1.0),
        resolve_intent_per_sec: per_second("kv.requests.resolve_intent"),
        resolve_intent_range_per_sec: per_second("kv.requests.resolve_intent_range"),
        transactions: sums.transactions,
        retry_percent: sums.retries as f64 * 100.0 / sums.transactions.max(1) as f64,
        items_per_batch: counter("resolver.items") / counter("resolver.batches").max(1.0),
        merged_away: (counter("resolver.absorbed") + counter("resolver.united")) as u64,
        latency_ms_p99_new_order: sums.p99,
    }
}

fn bar(done: f64) -> String {
    let full = (done * 20.0) as usize;
    format!("[{}{}]", "#".repeat(full), " ".repeat(20 - full.min(20)))
}

impl DemoResult {
    /// The table, and what it shows in words.
    pub(crate) fn story(&self) -> String {
        let mut out = String::new();
        out.push_str(&format!(
            "{:<26}{:>8}{:>10}{:>11}{:>13}{:>13}{:>13}{:>12}{:>11}\n",
            "", "tpmC", "retries", "batches/s", "batches/txn", "ResolveInt/s", "ResolveRng/s", "items/batch", "merged"
        ));
        for mode in &self.modes {
            out.push_str(&format!(
                "{:<26}{:>8.0}{:>9.2}%{:>11.0}{:>13.2}{:>13.0}{:>13.0}{:>12.1}{:>11}\n",
                mode.mode,
                mode.tpmc,
                mode.retry_percent,
                mode.batches_per_sec,
                mode.batches_per_txn,
                mode.resolve_intent_per_sec,
                mode.resolve_intent_range_per_sec,
                mode.items_per_batch,
                mode.merged_away
            ));
        }
        let [off, unbatched, batched, cured] = &self.modes[..] else { return out };
        let more = |mode: &ModeResult| (mode.batches_per_txn / off.batches_per_txn - 1.0) * 100.0;
        out.push_str(&format!(
            "\nWithout the lock, {:.1} % of the transactions had to be run again, because two of them read a row that both went on to write.\n\
             The implicit lock makes the second one wait instead. Taken by scans, and with each ranged resolution sent alone, it costs\n\
             {:+.0} % batches per transaction. Batching ranges together with points leaves {:+.0} %; with point gets and resolution inside the\n\
             commit it is {:+.1} %, at {:.2} x the throughput of running without the lock, and {:.2} % retries.\n",
            off.retry_percent,
            more(unbatched),
            more(batched),
            more(cured),
            cured.tpmc / off.tpmc.max(1.0),
            cured.retry_percent
        ));
        out
    }
}
