//! `tidelock tpcc load|run|check`: TPC-C against any PostgreSQL URL, Tidelock's or PostgreSQL's own.

use clap::{Args, Subcommand};
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;
use tidelock_workload::tpcc::{self, LoadOptions, RunOptions};
use tidelock_workload::{Protocol, WorkloadError};

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum TpccCommand {
    /// Makes the tables and fills them.
    Load(LoadArgs),
    /// Runs the five transactions from terminals.
    Run(RunArgs),
    /// Asks the twelve consistency conditions on one snapshot.
    Check(CheckArgs),
}

/// Options of `load`.
#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    /// Where: `postgres://user@host:port/database`.
    #[arg(long, default_value = "postgres://postgres@127.0.0.1:5433/postgres")]
    url: String,
    /// How many warehouses.
    #[arg(long, short = 'w', default_value_t = 1)]
    warehouses: u32,
    /// Drop the tables first, if they are there.
    #[arg(long)]
    drop: bool,
    /// Declare the foreign keys.
    #[arg(long)]
    foreign_keys: bool,
    /// Another seed, other data.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Options of `run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Where: `postgres://user@host:port/database`.
    #[arg(long, default_value = "postgres://postgres@127.0.0.1:5433/postgres")]
    url: String,
    /// Warehouses that were loaded.
    #[arg(long, short = 'w', default_value_t = 1)]
    warehouses: u32,
    /// Clients.
    #[arg(long, short = 't', default_value_t = 16)]
    terminals: u32,
    /// Seconds to run, after the ramp-up.
    #[arg(long, short = 's', default_value_t = 60)]
    seconds: u64,
    /// Seconds not counted, at the beginning.
    #[arg(long, default_value_t = 2)]
    ramp_up: u64,
    /// Statements as text with literals, instead of prepared.
    #[arg(long)]
    simple: bool,
    /// Isolation level of the transactions; the server's default unless given.
    #[arg(long)]
    isolation: Option<String>,
    /// Statements that each connection runs first, like `set enable_implicit_select_for_update = off`.
    #[arg(long)]
    setup: Vec<String>,
    /// Keying and think times (then a warehouse has ten terminals, and its tpmC is bounded by 12.86).
    #[arg(long)]
    wait: bool,
    /// Another seed, other choices.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    json: bool,
}

/// Options of `check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Where: `postgres://user@host:port/database`.
    #[arg(long, default_value = "postgres://postgres@127.0.0.1:5433/postgres")]
    url: String,
    /// Print one JSON array instead of lines.
    #[arg(long)]
    json: bool,
}

/// Runs a command; it fails when a check finds violations.
pub(crate) fn run(command: TpccCommand) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("tidelock: no runtime: {error}");
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(dispatch(command)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("\ntidelock: {}", error.story());
            ExitCode::FAILURE
        }
    }
}

/// False when a check found violations.
async fn dispatch(command: TpccCommand) -> Result<bool, WorkloadError> {
    match command {
        TpccCommand::Load(args) => load(args).await.map(|()| true),
        TpccCommand::Run(args) => measure(args).await.map(|()| true),
        TpccCommand::Check(args) => check(args).await,
    }
}

async fn load(args: LoadArgs) -> Result<(), WorkloadError> {
    let options = LoadOptions {
        url: args.url,
        warehouses: args.warehouses.max(1),
        drop: args.drop,
        foreign_keys: args.foreign_keys,
        seed: args.seed,
    };
    tpcc::load(&options, &mut |done, what| show(&format!("\r{:>3.0} %  {what:<12}", done * 100.0))).await?;
    show("\n");
    Ok(())
}

async fn measure(args: RunArgs) -> Result<(), WorkloadError> {
    let options = RunOptions {
        url: args.url,
        warehouses: args.warehouses.max(1),
        terminals: args.terminals.max(1),
        duration: Duration::from_secs(args.seconds),
        ramp_up: Duration::from_secs(args.ramp_up),
        protocol: if args.simple { Protocol::Simple } else { Protocol::Prepared },
        isolation: args.isolation,
        session_setup: args.setup,
        wait: args.wait,
        seed: args.seed,
    };
    let seconds = args.seconds;
    let report = tpcc::run(&options, &mut |passed, new_orders| {
        show(&format!("\r{passed:>5.0} of {seconds} s   tpmC {:.0}   ", new_orders as f64 * 60.0 / passed.max(0.001)));
    })
    .await?;
    show("\r                                        \r");
    if args.json {
        println!("{}", serde_json::to_string(&report).unwrap_or_default());
    } else {
        print!("{report}");
    }
    Ok(())
}

async fn check(args: CheckArgs) -> Result<bool, WorkloadError> {
    let results = tpcc::check(&args.url).await?;
    if args.json {
        println!("{}", serde_json::to_string(&results).unwrap_or_default());
    } else {
        for result in &results {
            let verdict = if result.violations == 0 { "holds".to_string() } else { format!("{} VIOLATIONS", result.violations) };
            println!("{}  {verdict}  ({} ms)", result.condition, result.millis);
            result.examples.iter().for_each(|example| println!("    {example}"));
        }
    }
    Ok(results.iter().all(|result| result.violations == 0))
}

/// Progress goes to standard error, so that results can be piped.
fn show(text: &str) {
    let mut out = std::io::stderr();
    // Progress that cannot be shown is not worth stopping for.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
