//! Sorting more entries than memory should hold: sorted runs in temporary files, merged when they are read.
//!
//! ```text
//!   push ─► memory (RUN_BYTES) ─► sort ─► run file 1, 2, 3 ...
//!                    next ◄── merge of all runs and what is still in memory
//! ```
//!
//! A run is a sequence of `key length (4) | value length (4) | key | value`. Files have no name any more when they are written to, so nothing is left
//! behind by a crash. Entries with equal keys come out in an order of no meaning.

use crate::error::{SqlError, SqlState};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use tidelock_base::{Key, Value};
use tokio::task::JoinHandle;

/// Bytes of keys and values that are sorted in memory. With what an entry costs besides, a run takes about twice that, and two may be
/// held at a time: the one that is written and the one that is gathered.
const RUN_BYTES: usize = 48 << 20;
/// What an entry costs besides its bytes.
const ENTRY_OVERHEAD: usize = 64;
/// Runs merged at once; a hundred of them are 5 GB. More make the statement fail.
const RUNS_MAX: usize = 512;
/// Buffer of each file that is written or merged.
const FILE_BUFFER: usize = 256 << 10;

/// Key and value.
pub(super) type Entry = (Key, Value);

/// Gathers entries.
pub(super) struct ExternalSort {
    dir: PathBuf,
    memory: Vec<Entry>,
    bytes: usize,
    runs: Vec<File>,
    writing: Option<JoinHandle<io::Result<File>>>,
}

impl ExternalSort {
    /// Runs go to temporary files in that directory.
    pub(super) fn new(dir: &Path) -> ExternalSort {
        ExternalSort { dir: dir.to_owned(), memory: Vec::new(), bytes: 0, runs: Vec::new(), writing: None }
    }

    /// Adds an entry.
    pub(super) async fn push(&mut self, entry: Entry) -> Result<(), SqlError> {
        self.bytes += entry.0.len() + entry.1.len() + ENTRY_OVERHEAD;
        self.memory.push(entry);
        if self.bytes >= RUN_BYTES { self.spill().await } else { Ok(()) }
    }

    async fn spill(&mut self) -> Result<(), SqlError> {
        self.wait().await?;
        if self.runs.len() >= RUNS_MAX {
            return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, format!("a sort needs more than {RUNS_MAX} temporary files")));
        }
        let (entries, dir) = (std::mem::take(&mut self.memory), self.dir.clone());
        self.bytes = 0;
        // Sorting and writing take a while: not on a thread that serves clients.
        self.writing = Some(tokio::task::spawn_blocking(move || write_run(entries, &dir)));
        Ok(())
    }

    async fn wait(&mut self) -> Result<(), SqlError> {
        let Some(writing) = self.writing.take() else { return Ok(()) };
        let written = writing.await.unwrap_or_else(|error| Err(io::Error::other(error)));
        self.runs.push(written.map_err(temporary_file_failed)?);
        Ok(())
    }

    /// All entries in order.
    pub(super) async fn finish(mut self) -> Result<Merge, SqlError> {
        self.wait().await?;
        self.memory.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        let mut merge = Merge { memory: self.memory.into_iter(), runs: Vec::new(), heads: BinaryHeap::new() };
        if let Some(head) = merge.memory.next() {
            merge.heads.push(Reverse(Head { entry: head, source: None }));
        }
        for mut file in self.runs {
            file.rewind().map_err(temporary_file_failed)?;
            let mut run = BufReader::with_capacity(FILE_BUFFER, file);
            if let Some(entry) = read_entry(&mut run).map_err(temporary_file_failed)? {
                merge.heads.push(Reverse(Head { entry, source: Some(merge.runs.len()) }));
            }
            merge.runs.push(run);
        }
        Ok(merge)
    }
}

/// A file in that directory that has no name.
pub(super) fn temporary_file(dir: &Path) -> io::Result<File> {
    std::fs::create_dir_all(dir)?;
    tempfile::tempfile_in(dir)
}

/// A temporary file could not be written or read.
pub(super) fn temporary_file_failed(error: io::Error) -> SqlError {
    let state = if error.kind() == io::ErrorKind::StorageFull { SqlState::DISK_FULL } else { SqlState::IO_ERROR };
    SqlError::new(state, format!("could not use a temporary file: {error}"))
}

fn write_run(mut entries: Vec<Entry>, dir: &Path) -> io::Result<File> {
    entries.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
    let mut out = BufWriter::with_capacity(FILE_BUFFER, temporary_file(dir)?);
    for (key, value) in &entries {
        // Keys and values are far below 4 GiB (`tidelock_base::limits`).
        out.write_all(&(key.len() as u32).to_le_bytes())?;
        out.write_all(&(value.len() as u32).to_le_bytes())?;
        out.write_all(key)?;
        out.write_all(value)?;
    }
    out.into_inner().map_err(io::IntoInnerError::into_error)
}

fn read_entry(run: &mut BufReader<File>) -> io::Result<Option<Entry>> {
    let mut lengths = [0u8; 8];
    match run.read_exact(&mut lengths) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        result => result?,
    }
    let [k0, k1, k2, k3, v0, v1, v2, v3] = lengths;
    let (key_len, value_len) = (u32::from_le_bytes([k0, k1, k2, k3]) as usize, u32::from_le_bytes([v0, v1, v2, v3]) as usize);
    let mut bytes = vec![0; key_len + value_len];
    run.read_exact(&mut bytes)?;
    let key = Key::from(&bytes[..key_len]);
    Ok(Some((key, Value::from(bytes).slice(key_len..))))
}

/// The least entry of a run (or of memory) that was not given out yet.
struct Head {
    entry: Entry,
    source: Option<usize>,
}

impl PartialEq for Head {
    fn eq(&self, other: &Head) -> bool {
        self.entry.0 == other.entry.0
    }
}
impl Eq for Head {}
impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Head) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Head {
    fn cmp(&self, other: &Head) -> std::cmp::Ordering {
        self.entry.0.cmp(&other.entry.0)
    }
}

/// Entries in order.
pub(super) struct Merge {
    memory: std::vec::IntoIter<Entry>,
    runs: Vec<BufReader<File>>,
    heads: BinaryHeap<Reverse<Head>>,
}

impl Merge {
    /// The next entry; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Entry>, SqlError> {
        let Some(mut least) = self.heads.peek_mut() else { return Ok(None) };
        let follower = match least.0.source.and_then(|at| self.runs.get_mut(at)) {
            Some(run) => read_entry(run).map_err(temporary_file_failed)?,
            None => self.memory.next(),
        };
        Ok(Some(match follower {
            Some(follower) => std::mem::replace(&mut least.0.entry, follower),
            None => PeekMut::pop(least).0.entry,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn entries_come_out_in_order_from_memory_and_from_runs() {
        let dir = tempfile::tempdir().unwrap();
        let mut sort = ExternalSort::new(dir.path());
        let value = Value::from(vec![7u8; 1000]);
        // 120,000 entries of 1 kB are more than two runs. 7919 is a prime, so that every number comes once, out of order.
        for n in 0..120_000u64 {
            let scattered = n * 7919 % 120_000;
            sort.push((Key::from(&scattered.to_be_bytes()[..]), value.clone())).await.unwrap();
        }
        let mut merge = sort.finish().await.unwrap();
        assert!(merge.runs.len() >= 2);
        for n in 0..120_000u64 {
            let (key, found) = merge.next().unwrap().unwrap();
            assert_eq!(&*key, &n.to_be_bytes()[..]);
            assert_eq!(found.len(), 1000);
        }
        assert!(merge.next().unwrap().is_none());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "temporary files have no names");
    }
}
