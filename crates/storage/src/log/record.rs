//! Log records: their layout, and how a torn one is told from a sound one.
//!
//! ```text
//!   length u32 | crc u32 | lsn u64 | synced u64 | kind u8, 7 zero bytes | payload | zeros to a multiple of 8
//! ```
//! All integers are little-endian. `length` is the payload's. The CRC covers everything but itself and the padding, and is
//! seeded with the segment's number, so that what a recycled segment held before never looks like a record. `synced` is the
//! newest LSN known to be durable when the record was made: a sound record *behind* a bad one, which says that the bad one's LSN was synced,
//! proves corruption; without such a witness the bad one is the torn end of the log.

use crate::error::StorageError;
use crate::spill::SequenceRanges;
use tidelock_base::{IndexId, Key, Timestamp, TxnId, Value};

/// Bytes before the payload.
pub(crate) const RECORD_HEADER: usize = 32;
/// Records start at multiples of this.
pub(crate) const ALIGN: usize = 8;
/// A tombstone's value length.
const TOMBSTONE: u32 = u32::MAX;
/// Bytes of a write besides its key and value.
const WRITE_HEADER: usize = 6;
/// Bytes of a commit or chunk besides its writes.
const COMMIT_HEADER: usize = 8 + 8 + 4 + 4;

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The last (nearly always the only) part of a commit: with it the commit happened.
    Commit = 1,
    /// An earlier part of a big commit; counts only if its `Commit` follows.
    Chunk = 2,
    /// An index was dropped.
    DropIndex = 3,
    /// The segment ends here; the log goes on in the next one.
    Seal = 4,
    /// A `Commit` with which spilled rows became versions, too.
    SpilledCommit = 5,
}

/// Where a record stands in the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) segment: u64,
    pub(crate) lsn: u64,
    pub(crate) synced: u64,
}

/// Bytes a record with this payload takes.
pub(crate) fn record_len(payload: usize) -> usize {
    (RECORD_HEADER + payload).next_multiple_of(ALIGN)
}

/// Appends a record whose payload `encode` appends.
pub(crate) fn push_record(out: &mut Vec<u8>, place: Place, kind: Kind, encode: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; RECORD_HEADER]);
    encode(out);
    let payload = (out.len() - start - RECORD_HEADER) as u32;
    let header = &mut out[start..start + RECORD_HEADER];
    header[0..4].copy_from_slice(&payload.to_le_bytes());
    header[8..16].copy_from_slice(&place.lsn.to_le_bytes());
    header[16..24].copy_from_slice(&place.synced.to_le_bytes());
    header[24] = kind as u8;
    let crc = record_crc(place.segment, &out[start..]);
    out[start + 4..start + 8].copy_from_slice(&crc.to_le_bytes());
    out.resize(start + record_len(payload as usize), 0);
}

/// CRC of a record without padding; its own field is left out.
fn record_crc(segment: u64, record: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new_with_initial(segment as u32 ^ 0x7469_6465);
    crc.update(&record[0..4]);
    crc.update(&record[8..]);
    crc.finalize()
}

/// A record read back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    pub(crate) lsn: u64,
    pub(crate) synced: u64,
    pub(crate) kind: Kind,
    pub(crate) payload: &'a [u8],
    /// Offset of what follows.
    pub(crate) next: usize,
}

/// The LSN and `synced` that the bytes at `offset` would have if they were a record. Not checked: to tell cheaply what cannot be one of interest.
pub(crate) fn peek_lsns(bytes: &[u8], offset: usize) -> Option<(u64, u64)> {
    Some((read_u64(bytes, offset + 8)?, read_u64(bytes, offset + 16)?))
}

/// The sound record at `offset`, or `None` if what stands there is not one.
pub(crate) fn parse_record(segment: u64, bytes: &[u8], offset: usize) -> Option<Record<'_>> {
    let header = bytes.get(offset..offset + RECORD_HEADER)?;
    let kind = match header[24] {
        1 => Kind::Commit,
        2 => Kind::Chunk,
        3 => Kind::DropIndex,
        4 => Kind::Seal,
        5 => Kind::SpilledCommit,
        _ => return None,
    };
    let payload_len = read_u32(header, 0)? as usize;
    let record = bytes.get(offset..offset.checked_add(RECORD_HEADER + payload_len)?)?;
    if read_u32(header, 4)? != record_crc(segment, record) {
        return None;
    }
    let (lsn, synced) = (read_u64(header, 8)?, read_u64(header, 16)?);
    Some(Record { lsn, synced, kind, payload: &record[RECORD_HEADER..], next: offset + record_len(payload_len) })
}

fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk::<4>()?))
}

fn read_u64(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk::<8>()?))
}

/// A write of a commit: its key, and its value or a deletion.
pub(crate) type Write = (Key, Option<Value>);

/// A commit, or a chunk of one.
#[derive(Debug)]
pub(crate) struct CommitPayload {
    pub(crate) txn: TxnId,
    pub(crate) ts: Timestamp,
    /// `Commit` and `SpilledCommit`: how many chunks precede it. `Chunk`: which one this is, from 0.
    pub(crate) part: u32,
    pub(crate) writes: Vec<Write>,
}

/// Payload bytes of a commit or chunk.
pub(crate) fn commit_len(writes: &[Write]) -> usize {
    COMMIT_HEADER + writes.iter().map(write_len).sum::<usize>()
}

/// Bytes of one write.
pub(crate) fn write_len((key, value): &Write) -> usize {
    WRITE_HEADER + key.len() + value.as_ref().map_or(0, |value| value.len())
}

/// Appends a commit's or chunk's payload.
pub(crate) fn encode_commit(out: &mut Vec<u8>, txn: TxnId, ts: Timestamp, part: u32, writes: &[Write]) {
    out.extend_from_slice(&txn.0.to_le_bytes());
    out.extend_from_slice(&ts.0.to_le_bytes());
    out.extend_from_slice(&part.to_le_bytes());
    out.extend_from_slice(&(writes.len() as u32).to_le_bytes());
    for (key, value) in writes {
        out.extend_from_slice(&(key.len() as u16).to_le_bytes());
        out.extend_from_slice(&value.as_ref().map_or(TOMBSTONE, |value| value.len() as u32).to_le_bytes());
        out.extend_from_slice(key);
        out.extend_from_slice(value.as_deref().unwrap_or_default());
    }
}

/// Reads a commit's or chunk's payload. Its CRC was right, so an error here is a bug or a foreign file, not a torn write.
pub(crate) fn decode_commit(payload: &[u8]) -> Option<CommitPayload> {
    let (txn, ts) = (TxnId(read_u64(payload, 0)?), Timestamp(read_u64(payload, 8)?));
    let (part, count) = (read_u32(payload, 16)?, read_u32(payload, 20)? as usize);
    let mut rest = payload.get(COMMIT_HEADER..)?;
    let mut writes = Vec::with_capacity(count.min(rest.len() / WRITE_HEADER));
    for _ in 0..count {
        let key_len = u16::from_le_bytes(*rest.first_chunk::<2>()?) as usize;
        let value_len = read_u32(rest, 2)?;
        let stored = if value_len == TOMBSTONE { 0 } else { value_len as usize };
        let (key, tail) = rest.get(WRITE_HEADER..)?.split_at_checked(key_len)?;
        let (value, tail) = tail.split_at_checked(stored)?;
        writes.push((Key::from(key), (value_len != TOMBSTONE).then(|| Value::copy_from_slice(value))));
        rest = tail;
    }
    rest.is_empty().then_some(CommitPayload { txn, ts, part, writes })
}

/// Payload bytes that a `SpilledCommit` has before those of a commit.
pub(crate) fn ignored_len(ignored: &SequenceRanges) -> usize {
    4 + 8 * ignored.ranges().len()
}

/// Appends which spilled rows do not count.
pub(crate) fn encode_ignored(out: &mut Vec<u8>, ignored: &SequenceRanges) {
    out.extend_from_slice(&(ignored.ranges().len() as u32).to_le_bytes());
    for (first, last) in ignored.ranges() {
        out.extend_from_slice(&first.to_le_bytes());
        out.extend_from_slice(&last.to_le_bytes());
    }
}

/// Reads which spilled rows do not count, and the commit behind.
pub(crate) fn decode_spilled_commit(payload: &[u8]) -> Option<(SequenceRanges, CommitPayload)> {
    let count = read_u32(payload, 0)? as usize;
    let end = count.checked_mul(8)?.checked_add(4)?;
    let mut ignored = SequenceRanges::default();
    for range in payload.get(4..end)?.chunks_exact(8) {
        ignored.add(read_u32(range, 0)?, read_u32(range, 4)?);
    }
    Some((ignored, decode_commit(payload.get(end..)?)?))
}

/// Appends the payload of `DropIndex`.
pub(crate) fn encode_drop(out: &mut Vec<u8>, index: IndexId) {
    out.extend_from_slice(&index.0.to_le_bytes());
}

/// Payload bytes of `DropIndex`.
pub(crate) const DROP_LEN: usize = 4;

/// Reads the payload of `DropIndex`.
pub(crate) fn decode_drop(payload: &[u8]) -> Option<IndexId> {
    read_u32(payload, 0).map(IndexId)
}

/// Bytes at the start of a segment.
pub(crate) const SEGMENT_HEADER: usize = 32;
const MAGIC: &[u8; 8] = b"tidelog1";

/// A segment's first bytes.
pub(crate) fn encode_segment_header(segment: u64, first_lsn: u64) -> [u8; SEGMENT_HEADER] {
    let mut header = [0; SEGMENT_HEADER];
    header[0..8].copy_from_slice(MAGIC);
    header[8..16].copy_from_slice(&segment.to_le_bytes());
    header[16..24].copy_from_slice(&first_lsn.to_le_bytes());
    let crc = crc32fast::hash(&header[0..24]);
    header[24..28].copy_from_slice(&crc.to_le_bytes());
    header
}

/// The first LSN, if the bytes start with this segment's header.
pub(crate) fn decode_segment_header(segment: u64, bytes: &[u8]) -> Option<u64> {
    let header = bytes.get(..SEGMENT_HEADER)?;
    let sound = header[0..8] == MAGIC[..] && read_u64(header, 8)? == segment && read_u32(header, 24)? == crc32fast::hash(&header[0..24]);
    sound.then(|| read_u64(header, 16)).flatten()
}

/// "base 3 at offset 99": for errors about undecodable payloads.
pub(crate) fn undecodable(file: &str, offset: usize) -> StorageError {
    StorageError::corrupt(file, offset as u64, "a record with a sound checksum cannot be decoded")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_survive_the_round_trip_and_every_flipped_byte_is_found() {
        let writes = vec![
            (Key::from("key"), Some(Value::from_static(b"value"))),
            (Key::from("gone"), None),
            (Key::from("empty"), Some(Value::new())),
        ];
        let mut out = Vec::new();
        let place = Place { segment: 3, lsn: 17, synced: 12 };
        push_record(&mut out, place, Kind::Commit, |out| encode_commit(out, TxnId(5), Timestamp(9), 2, &writes));
        assert_eq!(out.len(), record_len(commit_len(&writes)));
        let record = parse_record(3, &out, 0).unwrap();
        assert_eq!((record.lsn, record.synced, record.kind, record.next), (17, 12, Kind::Commit, out.len()));
        let commit = decode_commit(record.payload).unwrap();
        assert_eq!((commit.txn, commit.ts, commit.part, &commit.writes), (TxnId(5), Timestamp(9), 2, &writes));
        assert!(parse_record(4, &out, 0).is_none(), "a record of another segment");
        let used = RECORD_HEADER + commit_len(&writes);
        for byte in (0..used).filter(|byte| !(25..32).contains(byte)) {
            out[byte] ^= 0x10;
            assert!(parse_record(3, &out, 0).is_none(), "byte {byte}");
            out[byte] ^= 0x10;
        }
    }
}
