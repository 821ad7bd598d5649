//! The server: all floors wired together, from the data folder up to the listening port.
//!
//! ```text
//!   Storage ─► Store (kvserver) ─► DistSender, Db (kvclient) ─► Cluster (sql) ─► Listener (wire)
//!      └──────────── counters, locks, settings: [`Hooks`] ─────────┴──► HTTP page
//! ```
//!
//! [`Server::start`] does in a process of tests or of the demo what `tidelock start` does in its own. The two halves of the
//! house meet only here: SQL sees the store through the `Sender` of `kvapi` and through [`Hooks`], never directly.

#![forbid(unsafe_code)]

pub mod config;
mod hooks;
mod http;
mod prometheus;
mod server;

pub use config::{Config, HttpConfig};
pub use hooks::Hooks;
pub use server::{Server, StartError};
