//! The PostgreSQL wire protocol over the SQL floor.
//!
//! ```text
//!   listener ──deals sockets──► worker (a thread) ──► connection (a task)
//!                                                      │  startup    who are you, what may I call you
//!                                                      │  frontend   bytes ─► messages
//!                                                      │  Session    (tidelock_sql) does the work
//!                                                      │  output     answers ─► bytes, rows in `rows`
//!                                                      └  stream     the socket, its two buffers, one write per Sync
//! ```
//!
//! An UPDATE: its bytes arrive in [`stream`], are cut into messages by [`frontend`], and [`connection`] hands their contents to
//! the session; what the session answers is encoded into one buffer and sent at Sync. The messages' types, codes and most of
//! the encoders are pgwire's; the loop is ours, because it must notice more than the next message: a client that hangs up
//! during a lock wait ([`watch`]), a server that stops ([`control`]), a cancel request.
//!
//! What it does not do: encryption (SSLRequest is answered with `N`), passwords (whoever reaches the port is trusted, so it
//! listens on the loopback address unless told otherwise), replication, the function call protocol, protocol version 2.

#![forbid(unsafe_code)]
#![allow(rustdoc::private_intra_doc_links)]

mod connection;
mod control;
mod frontend;
pub mod limits;
mod listener;
mod metrics;
mod output;
mod rows;
mod startup;
mod states;
mod stream;
mod watch;
mod worker;

pub use listener::{Listener, WireConfig};
pub use metrics::WireMetrics;
