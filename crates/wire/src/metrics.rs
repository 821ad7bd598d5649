//! Counters of the wire layer.

use std::sync::atomic::{AtomicU64, Ordering};

/// Shared by all connections; read with [`WireMetrics::snapshot`].
#[derive(Debug, Default)]
pub struct WireMetrics {
    /// Sockets accepted.
    pub accepted: AtomicU64,
    /// Connections that are open now.
    pub open: AtomicU64,
    /// Connections refused because all places were taken.
    pub refused: AtomicU64,
    /// Messages received.
    pub messages: AtomicU64,
    /// Bytes received.
    pub bytes_in: AtomicU64,
    /// Bytes sent.
    pub bytes_out: AtomicU64,
    /// `write` calls: one per Sync is what it should be.
    pub writes: AtomicU64,
    /// Clients that went away while their statement ran.
    pub hangups: AtomicU64,
    /// Cancel requests received, those with a wrong key included.
    pub cancel_requests: AtomicU64,
    /// Connection tasks that panicked.
    pub panics: AtomicU64,
}

impl WireMetrics {
    /// Names and values.
    pub fn snapshot(&self) -> Vec<(&'static str, u64)> {
        [
            ("wire.accepted", &self.accepted),
            ("wire.open", &self.open),
            ("wire.refused", &self.refused),
            ("wire.messages", &self.messages),
            ("wire.bytes_in", &self.bytes_in),
            ("wire.bytes_out", &self.bytes_out),
            ("wire.writes", &self.writes),
            ("wire.hangups", &self.hangups),
            ("wire.cancel_requests", &self.cancel_requests),
            ("wire.panics", &self.panics),
        ]
        .map(|(name, counter)| (name, counter.load(Ordering::Relaxed)))
        .to_vec()
    }
}
