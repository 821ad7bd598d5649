//! Every bound of the wire layer, with the reason for its value.

use std::time::Duration;

/// Longest startup packet, as in PostgreSQL: nobody has been authenticated yet, so little may be asked for.
pub const MAX_STARTUP_PACKET: usize = 10_000;

/// Longest message of the kinds that carry data (Query, Parse, Bind, CopyData): PostgreSQL's bound.
pub const MAX_LARGE_MESSAGE: usize = 0x3fff_ffff;

/// Longest message of all other kinds: PostgreSQL's bound.
pub const MAX_SMALL_MESSAGE: usize = 10_000;

/// How long a client may take from connecting to its startup packet.
pub const STARTUP_TIMEOUT: Duration = Duration::from_secs(60);

/// Input buffer of a fresh connection: a packet's worth, so that ten thousand idle clients cost little.
pub const INPUT_BYTES: usize = 8 * 1024;

/// COPY data handed on in one portion, and the input buffer's size while it comes in.
pub const COPY_INPUT_BYTES: usize = 64 * 1024;

/// The input buffer grows by what has arrived already, but by no more than this: a length word alone buys nothing.
pub const INPUT_GROWTH: usize = 1024 * 1024;

/// An output buffer larger than this is given back after it was sent.
pub const OUTPUT_KEPT: usize = 16 * 1024;

/// How often a suspended statement is looked at: is its client still there, does it wait for long?
pub const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How often idle connections are looked over for `pg_terminate_backend` and idle timeouts.
pub const SWEEP_EVERY: Duration = Duration::from_millis(200);

/// Sockets that are dealt to a worker and not yet taken up; the listener waits beyond.
pub const DEAL_QUEUE: usize = 256;

/// Connections beyond `max_connections` that may be open at a time, in order to be told so (or to deliver a cancel request).
pub const STARTING_CONNECTIONS: usize = 256;

/// How long the running statements may go on when the server stops, before they are cancelled.
pub const DRAIN_GRACE: Duration = Duration::from_secs(5);

/// How long cancelled statements may take to end, before their connections are dropped.
pub const CANCEL_GRACE: Duration = Duration::from_secs(2);

/// Stack of a worker thread: expressions and plans recurse, and memory that is not touched costs nothing.
pub const WORKER_STACK_BYTES: usize = 8 * 1024 * 1024;
