//! The session: one client's statements, transaction and settings.
//!
//! [`client`] is the seam to the wire layer, [`settings`] the table of settings and a session's values.

pub mod client;
pub mod settings;

pub use client::{Client, CopyInput, CopyStart, FLUSH_BYTES, Format, Mark, Notice};
pub use settings::{SERVER_VERSION, SETTINGS, SessionSettings};
