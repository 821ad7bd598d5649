//! The ground floor: what every other crate agrees on.
//!
//! - [`Key`], [`Span`]: where a value lives. A key is the index's id, then the row's key columns in an order-preserving
//!   encoding ([`encoding`]).
//! - [`RowRef`], [`RowPage`]: rows as scans show and return them.
//! - [`Timestamp`]: when. A logical counter handed out by the store's commit sequencer, never a wall clock.
//! - [`row`]: the row codec. It lives down here because the store compares *columns* when it refreshes a read by value,
//!   and must do so without knowing SQL.
//! - [`Clock`]: real or virtual time, passed in wherever time matters, so that tests can turn the hands.
//! - [`limits`]: the bounds that several floors share.
//!
//! This crate does no I/O and knows neither transactions nor SQL types.

#![forbid(unsafe_code)]

mod clock;
pub mod encoding;
mod floor_map;
mod ids;
mod key;
pub mod limits;
mod page;
pub mod row;
mod timestamp;

pub use clock::{Clock, ManualClock, SystemClock};
pub use floor_map::FloorMap;
pub use ids::{IndexId, NodeId, RangeId, SessionId, TxnId};
pub use key::{Key, Span};
pub use page::{RowPage, RowRef};
pub use timestamp::Timestamp;

/// A stored value: bytes that can be shared without copying. For table rows, see [`row`].
pub type Value = bytes::Bytes;
