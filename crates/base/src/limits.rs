//! Bounds that more than one floor must know. A bound that only one crate needs lives in that crate.

/// Longest key. PostgreSQL's btree allows about 2,700 bytes; a bound near it keeps lock-table entries small.
pub const MAX_KEY_BYTES: usize = 8 * 1024;

/// Largest row value, a quarter of PostgreSQL's 1 GB field bound: larger rows would make one log record unreasonable.
pub const MAX_VALUE_BYTES: usize = 256 * 1024 * 1024;

/// Keys evaluated under a range's mutex in one go; longer requests give the mutex up and come back.
pub const KEYS_PER_SLICE: usize = 256;
