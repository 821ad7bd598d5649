//! The `tidelock` binary: one file per subcommand.

#![forbid(unsafe_code)]

mod commands;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Statements allocate and free small things on a few threads: what this allocator is made for.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A small SQL database that speaks the PostgreSQL wire protocol.
#[derive(Parser)]
#[command(name = "tidelock", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the server on a data folder.
    Start(commands::start::StartArgs),
    /// Show what implicit SELECT FOR UPDATE costs, and what cures it: TPC-C in four modes, on a server of its own.
    Demo(commands::demo::DemoArgs),
    /// Check a real server's isolation: a recorded workload, while server and clients are killed.
    History(commands::history::HistoryArgs),
    /// Simulate the store under crashes, delays and splits: a seed decides everything, and shows it again.
    Sim(commands::sim::SimArgs),
    /// TPC-C against any PostgreSQL URL.
    #[command(subcommand)]
    Tpcc(commands::tpcc::TpccCommand),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Start(args) => commands::start::run(args),
        Command::Demo(args) => commands::demo::run(args),
        Command::History(args) => commands::history::run(args),
        Command::Sim(args) => commands::sim::run(args),
        Command::Tpcc(command) => commands::tpcc::run(command),
    }
}
