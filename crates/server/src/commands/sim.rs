//! `tidelock sim`: the store under deterministic simulation, for whoever wants to see a seed again or try more of them.

use clap::Args;
use std::io::Write;
use std::process::ExitCode;
use tidelock_testkit::sim::{SimFailure, SimOptions, run as simulate};

/// Options of `sim`.
#[derive(Debug, Args)]
pub(crate) struct SimArgs {
    /// The seed to begin with.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many seeds, one after another.
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// Sessions at a time.
    #[arg(long, default_value_t = 5)]
    clients: u64,
    /// Transactions of each session.
    #[arg(long, default_value_t = 30)]
    transactions: u64,
    /// Say nothing of seeds that hold.
    #[arg(long)]
    quiet: bool,
}

/// Runs the seeds; fails if one does.
pub(crate) fn run(args: SimArgs) -> ExitCode {
    let mut failed = 0u64;
    for seed in args.seed..args.seed.saturating_add(args.seeds) {
        let options = SimOptions { clients: args.clients, transactions: args.transactions, ..SimOptions::new(seed) };
        let line = match simulate(options) {
            Ok(_) if args.quiet => continue,
            Ok(report) => report.to_string(),
            Err(SimFailure { seed, story }) => {
                failed += 1;
                format!("seed {seed} FAILED: {story}")
            }
        };
        if writeln!(std::io::stdout(), "{line}").is_err() {
            return ExitCode::FAILURE;
        }
    }
    let outcome = format!("{} of {} seeds failed", failed, args.seeds);
    let written = writeln!(std::io::stdout(), "{outcome}");
    if failed == 0 && written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
