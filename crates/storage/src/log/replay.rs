//! Reading the log back.
//!
//! Segments are read in order. All but the last must be sound from header to seal: anything else is corruption, and the
//! store refuses to start. The last may end anywhere: at the first thing that is not the next record the log ends, *unless* a sound
//! record further on says that the missing one had been synced (`record` tells how). A torn end is sealed, so that the segment is
//! sound from then on, and the log goes on in a new one.

use super::record::{
    CommitPayload, Kind, Place, RECORD_HEADER, Record, SEGMENT_HEADER, decode_commit, decode_drop, decode_segment_header,
    decode_spilled_commit, parse_record, peek_lsns, push_record, undecodable,
};
use super::segment::{is_spare, segment_name, segment_number};
use crate::disk::Disk;
use crate::error::StorageError;
use crate::spill::SpilledCommit;
use std::collections::BTreeMap;
use tidelock_base::{IndexId, Timestamp, TxnId};

/// A record this many LSNs behind a bad one is not one of the same segment.
const WITNESS_DISTANCE: u64 = 1 << 32;

/// Something that happened, in log order.
#[derive(Debug)]
pub(crate) enum Event {
    /// A commit, whole.
    Commit(CommitPayload),
    /// A commit that has spilled, and what of it was not spilled.
    SpilledCommit(SpilledCommit, CommitPayload),
    /// An index was dropped.
    DropIndex(IndexId),
}

/// Where the log goes on.
#[derive(Debug, Default)]
pub(crate) struct LogEnd {
    pub(crate) oldest_segment: u64,
    pub(crate) next_segment: u64,
    pub(crate) next_lsn: u64,
    pub(crate) last_ts: Timestamp,
    pub(crate) last_txn: TxnId,
    pub(crate) spares: Vec<String>,
    pub(crate) records: u64,
}

/// Replays every segment from `floor` on into `apply`.
pub(crate) fn replay(
    disk: &dyn Disk,
    floor: u64,
    apply: &mut dyn FnMut(Event) -> Result<(), StorageError>,
) -> Result<LogEnd, StorageError> {
    let (segments, spares) = find_segments(disk, floor)?;
    let mut reader = Reader { disk, apply, chunks: Vec::new(), end: LogEnd { spares, next_lsn: 1, ..LogEnd::default() } };
    reader.end.oldest_segment = segments.first().copied().unwrap_or(floor.max(1));
    reader.end.next_segment = reader.end.oldest_segment;
    for (at, segment) in segments.iter().enumerate() {
        reader.read_segment(*segment, at + 1 == segments.len())?;
    }
    Ok(reader.end)
}

/// The live segments, contiguous from the floor; what lies below it becomes spare.
fn find_segments(disk: &dyn Disk, floor: u64) -> Result<(Vec<u64>, Vec<String>), StorageError> {
    let io = |error| StorageError::io("listing the log", &error);
    let names = disk.list().map_err(io)?;
    let spares = names.iter().filter(|name| is_spare(name)).cloned().collect();
    let live: BTreeMap<u64, &String> = names.iter().filter_map(|name| Some((segment_number(name)?, name))).collect();
    for (_, name) in live.range(..floor) {
        disk.remove(name).map_err(io)?;
    }
    let segments: Vec<u64> = live.range(floor..).map(|(segment, _)| *segment).collect();
    let first = if floor == 0 { 1 } else { floor };
    for (expected, found) in (first..).zip(&segments) {
        if expected != *found {
            return Err(StorageError::corrupt(&segment_name(expected), 0, "the segment is missing"));
        }
    }
    if floor > 0 && segments.is_empty() {
        return Err(StorageError::corrupt(&segment_name(floor), 0, "the segment is missing"));
    }
    Ok((segments, spares))
}

struct Reader<'a> {
    disk: &'a dyn Disk,
    apply: &'a mut dyn FnMut(Event) -> Result<(), StorageError>,
    /// Chunks whose commit has not been seen yet.
    chunks: Vec<CommitPayload>,
    end: LogEnd,
}

impl Reader<'_> {
    fn read_segment(&mut self, segment: u64, last: bool) -> Result<(), StorageError> {
        let name = segment_name(segment);
        let bytes = self.load(&name)?;
        let Some(first_lsn) = decode_segment_header(segment, &bytes) else {
            return self.headless(segment, &name, &bytes, last);
        };
        if self.end.records > 0 && first_lsn != self.end.next_lsn {
            let expected = self.end.next_lsn;
            return Err(StorageError::corrupt(&name, 0, format!("starts at record {first_lsn} instead of {expected}")));
        }
        self.end.next_lsn = first_lsn;
        let mut offset = SEGMENT_HEADER;
        while let Some(record) = parse_record(segment, &bytes, offset).filter(|record| record.lsn == self.end.next_lsn) {
            self.end.next_lsn += 1;
            self.end.records += 1;
            if record.kind == Kind::Seal {
                self.end.next_segment = segment + 1;
                return Ok(());
            }
            self.read_record(&name, offset, record)?;
            offset = record.next;
        }
        if !last {
            return Err(StorageError::corrupt(&name, offset as u64, "a bad record in the middle of the log"));
        }
        self.refuse_if_synced(segment, &name, &bytes, offset)?;
        self.seal(segment, &name, offset)
    }

    fn load(&self, name: &str) -> Result<Vec<u8>, StorageError> {
        let read = || {
            let file = self.disk.open(name)?;
            let mut bytes = vec![0; file.len()? as usize];
            file.read_at(0, &mut bytes)?;
            Ok(bytes)
        };
        read().map_err(|error| StorageError::io(format!("reading {name}"), &error))
    }

    /// The crash came before the new segment's header was durable: nothing in it was acknowledged.
    fn headless(&mut self, segment: u64, name: &str, bytes: &[u8], last: bool) -> Result<(), StorageError> {
        if !last {
            return Err(StorageError::corrupt(name, 0, "the segment header is damaged"));
        }
        self.refuse_if_synced(segment, name, bytes, SEGMENT_HEADER)?;
        self.disk.remove(name).map_err(|error| StorageError::io(format!("removing {name}"), &error))?;
        self.end.next_segment = segment;
        Ok(())
    }

    /// Looks behind a bad record for a witness that it was synced.
    fn refuse_if_synced(&self, segment: u64, name: &str, bytes: &[u8], bad: usize) -> Result<(), StorageError> {
        let mut offset = bad;
        while offset + RECORD_HEADER <= bytes.len() {
            // Recycled segments are full of old records, whose LSNs are lower: no checksum is wasted on them.
            let missing = self.end.next_lsn;
            let proves = |(lsn, synced)| missing < lsn && lsn <= missing + WITNESS_DISTANCE && (missing..lsn).contains(&synced);
            if peek_lsns(bytes, offset).is_some_and(proves)
                && let Some(record) = parse_record(segment, bytes, offset)
            {
                let detail = format!(
                    "record {missing} is damaged, and record {} behind it says that all up to {} were synced",
                    record.lsn, record.synced
                );
                return Err(StorageError::corrupt(name, bad as u64, detail));
            }
            offset += super::record::ALIGN;
        }
        Ok(())
    }

    fn seal(&mut self, segment: u64, name: &str, offset: usize) -> Result<(), StorageError> {
        let mut seal = Vec::new();
        let place = Place { segment, lsn: self.end.next_lsn, synced: self.end.next_lsn - 1 };
        push_record(&mut seal, place, Kind::Seal, |_| ());
        let write = || {
            let file = self.disk.open(name)?;
            file.write_at(offset as u64, &seal)?;
            file.sync()
        };
        write().map_err(|error| StorageError::io(format!("sealing {name}"), &error))?;
        self.end.next_lsn += 1;
        self.end.next_segment = segment + 1;
        Ok(())
    }

    fn read_record(&mut self, name: &str, offset: usize, record: Record<'_>) -> Result<(), StorageError> {
        match record.kind {
            Kind::Seal => Ok(()),
            Kind::DropIndex => {
                let index = decode_drop(record.payload).ok_or_else(|| undecodable(name, offset))?;
                (self.apply)(Event::DropIndex(index))
            }
            Kind::Chunk => {
                let chunk = decode_commit(record.payload).ok_or_else(|| undecodable(name, offset))?;
                if chunk.part == 0 {
                    self.chunks.clear();
                }
                self.chunks.push(chunk);
                Ok(())
            }
            Kind::Commit => {
                let commit = decode_commit(record.payload).ok_or_else(|| undecodable(name, offset))?;
                let commit = self.whole_commit(commit, name, offset)?;
                (self.apply)(Event::Commit(commit))
            }
            Kind::SpilledCommit => {
                let (ignored, commit) = decode_spilled_commit(record.payload).ok_or_else(|| undecodable(name, offset))?;
                let commit = self.whole_commit(commit, name, offset)?;
                let segment = segment_number(name).unwrap_or(self.end.oldest_segment);
                let spilled = SpilledCommit { txn: commit.txn, ts: commit.ts, ignored, segment };
                (self.apply)(Event::SpilledCommit(spilled, commit))
            }
        }
    }

    /// A commit with its chunks, next in order.
    fn whole_commit(&mut self, mut commit: CommitPayload, name: &str, offset: usize) -> Result<CommitPayload, StorageError> {
        self.join_chunks(&mut commit).ok_or_else(|| undecodable(name, offset))?;
        if commit.ts <= self.end.last_ts {
            let detail = format!("commit {} follows {}", commit.ts, self.end.last_ts);
            return Err(StorageError::corrupt(name, offset as u64, detail));
        }
        self.end.last_ts = commit.ts;
        self.end.last_txn = self.end.last_txn.max(commit.txn);
        Ok(commit)
    }

    /// Puts a big commit together. `None` if a chunk is missing.
    fn join_chunks(&mut self, commit: &mut CommitPayload) -> Option<()> {
        if commit.part == 0 {
            self.chunks.clear();
            return Some(());
        }
        let chunks = std::mem::take(&mut self.chunks);
        let whole = chunks.len() == commit.part as usize
            && chunks.iter().zip(0..).all(|(chunk, part)| chunk.part == part && chunk.ts == commit.ts && chunk.txn == commit.txn);
        if !whole {
            return None;
        }
        let mut writes: Vec<_> = chunks.into_iter().flat_map(|chunk| chunk.writes).collect();
        writes.append(&mut commit.writes);
        commit.writes = writes;
        Some(())
    }
}
