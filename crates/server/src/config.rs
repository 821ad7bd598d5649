//! How a server is started, and how its command line spells that.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use tidelock_kvapi::Isolation;

/// Where PostgreSQL clients connect: next to PostgreSQL's own port, so that both can run on one machine.
pub const DEFAULT_LISTEN: &str = "127.0.0.1:5433";

/// Where metrics are read.
pub const DEFAULT_HTTP: &str = "127.0.0.1:8433";

/// Sessions at a time. An idle one costs a few kilobytes.
pub const DEFAULT_MAX_CONNECTIONS: usize = 1000;

/// The HTTP page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HttpConfig {
    /// None.
    Off,
    /// At this address, or none if it is taken.
    IfFree(SocketAddr),
    /// At this address.
    At(SocketAddr),
}

/// Everything that `tidelock start` can be told.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where PostgreSQL clients connect; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The data folder; made if missing.
    pub data: PathBuf,
    /// Page cache of the storage base.
    pub cache_bytes: usize,
    /// The HTTP page.
    pub http: HttpConfig,
    /// `default_transaction_isolation` of new sessions.
    pub isolation: Isolation,
    /// Sessions at a time.
    pub max_connections: usize,
    /// Threads that serve connections; 0 is one for each core.
    pub workers: usize,
    /// Off: nothing is ever fsynced, for tests and demos that throw their data away.
    pub sync: bool,
}

impl Config {
    /// The defaults, on free ports of the loopback address, without the HTTP page: what runs inside another process.
    pub fn on_free_port(data: impl Into<PathBuf>) -> Config {
        Config {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            data: data.into(),
            cache_bytes: 64 << 20,
            http: HttpConfig::Off,
            isolation: Isolation::Serializable,
            max_connections: DEFAULT_MAX_CONNECTIONS,
            workers: 0,
            sync: true,
        }
    }

    /// As [`Config::on_free_port`], without fsync and with a small cache.
    pub fn for_tests(data: impl Into<PathBuf>) -> Config {
        Config { cache_bytes: 8 << 20, sync: false, ..Config::on_free_port(data) }
    }
}

/// `host:port`; a name is looked up.
pub fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let found = text.to_socket_addrs().map_err(|error| format!("not an address like {DEFAULT_LISTEN}: {error}"))?;
    found.into_iter().next().ok_or_else(|| "the name has no address".to_owned())
}

/// `off`, or an address.
pub fn parse_http(text: &str) -> Result<HttpConfig, String> {
    if text == "off" { Ok(HttpConfig::Off) } else { parse_address(text).map(HttpConfig::At) }
}

/// An isolation level, with blanks, dashes or underscores between its words.
pub fn parse_isolation(text: &str) -> Result<Isolation, String> {
    let words = text.replace(['-', '_'], " ");
    tidelock_sql::session::settings::isolation(&words)
        .map_err(|_| "one of: serializable, \"repeatable read\", \"read committed\"".to_owned())
}

/// A size: a whole number with `B`, `kB`, `MB` or `GB`.
pub fn parse_bytes(text: &str) -> Result<usize, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = (&text[..digits], text[digits..].trim());
    let scale: usize = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1 << 10,
        "mb" => 1 << 20,
        "gb" => 1 << 30,
        _ => return Err("a size like 256MB or 2GB".to_owned()),
    };
    let bytes = number.parse::<usize>().ok().and_then(|number| number.checked_mul(scale));
    bytes.ok_or_else(|| "a size like 256MB or 2GB".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_levels_are_read() {
        assert_eq!(parse_bytes("256MB"), Ok(256 << 20));
        assert_eq!(parse_bytes("1 gb"), Ok(1 << 30));
        assert_eq!(parse_bytes("100"), Ok(100));
        for wrong in ["", "MB", "1TB", "-1MB", "99999999999999999999GB"] {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_isolation("repeatable-read"), Ok(Isolation::RepeatableRead));
        assert!(parse_isolation("chaos").is_err());
        assert_eq!(parse_http("off"), Ok(HttpConfig::Off));
        assert!(parse_address("nowhere").is_err());
    }
}
