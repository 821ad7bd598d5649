//! `tidelock start`: the server, until a signal ends it.
//!
//! SIGTERM or SIGINT: no new connections, running statements end, the log is folded, exit code 0. A second signal ends the
//! process at once, which loses nothing: the next start replays the log. A failed disk ends it too, with exit code 1.

use clap::Args;
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tidelock::config::{DEFAULT_HTTP, DEFAULT_LISTEN, DEFAULT_MAX_CONNECTIONS, parse_address, parse_bytes, parse_http, parse_isolation};
use tidelock::{Config, HttpConfig, Server};
use tidelock_kvapi::Isolation;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing_subscriber::EnvFilter;

/// File descriptors beyond one per connection: data files, log segments, listeners, runtimes.
const SPARE_FILES: u64 = 128;

/// How often the server looks whether its storage still stands.
const HEALTH_CHECK_EVERY: Duration = Duration::from_secs(1);

/// Options of `tidelock start`.
#[derive(Args)]
pub(crate) struct StartArgs {
    /// Where PostgreSQL clients connect. There are no passwords: do not leave the loopback address without a firewall.
    #[arg(long, default_value = DEFAULT_LISTEN, value_parser = parse_address)]
    listen: SocketAddr,
    /// The data folder; made if missing.
    #[arg(long, default_value = "./tidelock-data")]
    data: PathBuf,
    /// Page cache.
    #[arg(long, default_value = "256MB", value_parser = parse_bytes)]
    cache: usize,
    /// Where /metrics and /healthz are, or "off" [default: 127.0.0.1:8433 if it is free].
    #[arg(long, value_parser = parse_http)]
    http: Option<HttpConfig>,
    /// What is logged: error, warn, info, debug, or a filter such as "info,tidelock_wire=debug".
    #[arg(long, default_value = "info")]
    log: String,
    /// Isolation level of transactions that do not say.
    #[arg(long, default_value = "serializable", value_parser = parse_isolation)]
    isolation: Isolation,
    /// Sessions at a time.
    #[arg(long, default_value_t = DEFAULT_MAX_CONNECTIONS)]
    max_connections: usize,
    /// Threads that serve connections [default: one for each core].
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    workers: usize,
}

impl StartArgs {
    fn http(&self) -> Result<HttpConfig, String> {
        self.http.map_or_else(|| parse_address(DEFAULT_HTTP).map(HttpConfig::IfFree), Ok)
    }
}

/// Runs the server.
pub(crate) fn run(args: StartArgs) -> ExitCode {
    match try_run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("tidelock: {message}");
            ExitCode::FAILURE
        }
    }
}

fn try_run(args: StartArgs) -> Result<(), String> {
    let filter = EnvFilter::try_new(&args.log).map_err(|error| format!("--log: {error}"))?;
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal()).init();
    raise_file_limit(args.max_connections as u64 + SPARE_FILES);
    // Connections have threads of their own; this one accepts, and runs the resolver and the HTTP page.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(|error| format!("the runtime does not start: {error}"))?;
    let served = runtime.block_on(serve(args));
    runtime.shutdown_timeout(Duration::from_secs(1));
    served
}

async fn serve(args: StartArgs) -> Result<(), String> {
    let http = args.http()?;
    let data = args.data.clone();
    let (mut interrupt, mut terminate) = (on(SignalKind::interrupt())?, on(SignalKind::terminate())?);
    let config = Config {
        listen: args.listen,
        data: args.data,
        cache_bytes: args.cache,
        http,
        isolation: args.isolation,
        max_connections: args.max_connections,
        workers: args.workers,
        sync: true,
    };
    let server = Server::start(config).await.map_err(|error| error.to_string())?;
    announce(&server, &data);
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        error = storage_failure(&server) => return Err(format!("the storage has failed: {error}")),
    }
    tracing::info!("stopping; a second signal stops at once");
    tokio::select! {
        stopped = server.stop() => stopped.map_err(|error| error.to_string()),
        _ = interrupt.recv() => Err("stopped at once".to_owned()),
        _ = terminate.recv() => Err("stopped at once".to_owned()),
    }
}

fn on(kind: SignalKind) -> Result<Signal, String> {
    signal(kind).map_err(|error| format!("signals cannot be caught: {error}"))
}

async fn storage_failure(server: &Server) -> String {
    loop {
        tokio::time::sleep(HEALTH_CHECK_EVERY).await;
        if let Err(error) = server.check() {
            return error.to_string();
        }
    }
}

fn announce(server: &Server, data: &std::path::Path) {
    let address = server.address();
    println!("tidelock {}", env!("CARGO_PKG_VERSION"));
    println!("data:     {}", std::fs::canonicalize(data).unwrap_or_else(|_| data.to_path_buf()).display());
    println!("connect:  psql -h {} -p {} -U postgres postgres", address.ip(), address.port());
    if let Some(http) = server.http_address() {
        println!("metrics:  http://{http}/metrics");
    }
}

/// The soft limit of file descriptors is often 1024.
fn raise_file_limit(wanted: u64) {
    match rlimit::increase_nofile_limit(wanted) {
        Ok(limit) if limit >= wanted => {}
        Ok(limit) => tracing::warn!(limit, wanted, "too few file descriptors for --max-connections"),
        Err(error) => tracing::warn!(%error, "the limit of file descriptors could not be raised"),
    }
}
