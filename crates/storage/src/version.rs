//! A version of a key, and how versions are laid out in redb.
//!
//! In `latest` a row is `timestamp (8, big-endian) | kind (1) | value`. In `history` it is preceded by the timestamp of the
//! version that displaced it: a history row is needed exactly while a pinned snapshot lies in `[timestamp, successor)`, and
//! the row itself must say so, since what displaced it may have been displaced in turn.

use crate::error::StorageError;
use tidelock_base::{Timestamp, Value};

/// One committed version of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// When it was committed.
    pub ts: Timestamp,
    /// The value; `None` is a deletion.
    pub value: Option<Value>,
}

/// What a stored row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowKind {
    /// A value.
    Value,
    /// A deletion that a pinned snapshot still has to be told apart from "never was".
    Tombstone,
    /// History only: "there is a tombstone of this timestamp in `latest`; collect both when no snapshot is older".
    Marker,
}

const ROW_HEADER: usize = 9;
const HISTORY_HEADER: usize = 8 + ROW_HEADER;

/// A row of `latest`, decoded in place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    pub(crate) ts: Timestamp,
    pub(crate) kind: RowKind,
    pub(crate) value: &'a [u8],
}

impl<'a> Row<'a> {
    /// Bytes before the value.
    pub(crate) const HEADER: usize = ROW_HEADER;

    /// Appends the row's encoding to an emptied buffer.
    pub(crate) fn encode(ts: Timestamp, value: Option<&Value>, out: &mut Vec<u8>) {
        out.clear();
        encode_row(ts, if value.is_some() { RowKind::Value } else { RowKind::Tombstone }, value.map_or(&[], |v| v), out);
    }

    /// Reads a row.
    pub(crate) fn decode(bytes: &'a [u8]) -> Result<Row<'a>, StorageError> {
        let short = || StorageError::Base(format!("a row of {} bytes is too short", bytes.len()));
        let (ts, rest) = bytes.split_first_chunk::<8>().ok_or_else(short)?;
        let (kind, value) = rest.split_first().ok_or_else(short)?;
        let kind = match kind {
            0 => RowKind::Value,
            1 => RowKind::Tombstone,
            2 => RowKind::Marker,
            other => return Err(StorageError::Base(format!("a row has the unknown kind {other}"))),
        };
        Ok(Row { ts: Timestamp(u64::from_be_bytes(*ts)), kind, value })
    }

    /// The version, with its value copied out of the page.
    pub(crate) fn to_version(self) -> Version {
        let value = (self.kind == RowKind::Value).then(|| Value::copy_from_slice(self.value));
        Version { ts: self.ts, value }
    }
}

fn encode_row(ts: Timestamp, kind: RowKind, value: &[u8], out: &mut Vec<u8>) {
    out.reserve(ROW_HEADER + value.len());
    out.extend_from_slice(&ts.0.to_be_bytes());
    out.push(kind as u8);
    out.extend_from_slice(value);
}

/// A row of `history`: a displaced version and the timestamp that displaced it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HistoryRow<'a> {
    pub(crate) successor: Timestamp,
    pub(crate) row: Row<'a>,
}

impl<'a> HistoryRow<'a> {
    /// Encodes into an emptied buffer.
    pub(crate) fn encode(successor: Timestamp, ts: Timestamp, kind: RowKind, value: &[u8], out: &mut Vec<u8>) {
        out.clear();
        out.reserve(HISTORY_HEADER + value.len());
        out.extend_from_slice(&successor.0.to_be_bytes());
        encode_row(ts, kind, value, out);
    }

    /// Reads a history row.
    pub(crate) fn decode(bytes: &'a [u8]) -> Result<HistoryRow<'a>, StorageError> {
        let (successor, rest) = bytes
            .split_first_chunk::<8>()
            .ok_or_else(|| StorageError::Base(format!("a history row of {} bytes is too short", bytes.len())))?;
        Ok(HistoryRow { successor: Timestamp(u64::from_be_bytes(*successor)), row: Row::decode(rest)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_survive_the_round_trip() {
        let mut out = Vec::new();
        for value in [None, Some(Value::from_static(b"")), Some(Value::from_static(b"abc"))] {
            Row::encode(Timestamp(7), value.as_ref(), &mut out);
            assert_eq!(Row::decode(&out).unwrap().to_version(), Version { ts: Timestamp(7), value });
        }
        HistoryRow::encode(Timestamp(9), Timestamp(7), RowKind::Marker, b"", &mut out);
        let row = HistoryRow::decode(&out).unwrap();
        assert_eq!((row.successor, row.row.ts, row.row.kind), (Timestamp(9), Timestamp(7), RowKind::Marker));
        assert!(Row::decode(b"short").is_err() && HistoryRow::decode(b"").is_err());
    }
}
