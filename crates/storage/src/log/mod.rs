//! The write-ahead log: what was committed, in commit order, made durable in groups.
//!
//! ```text
//!   append_commit ──> tail (memory) ──flush──> segment file ──fdatasync──> durable_ts moves, waiters wake
//! ```
//! `append` only encodes into the tail, under its mutex. A *flush* takes the whole tail, writes it, syncs once, and wakes all who waited for
//! anything in it; whoever holds the writer's mutex flushes: the log thread as a rule, a committer that is alone
//! (`sync_inline`) to spare two thread switches, (m) p50 0.115 against 0.29 ms. While one flush is on its way to the disk, the next
//! group gathers in the tail: the busier, the bigger the groups.
//!
//! A failed write or sync ends the store. It is never tried again (see `error`).
//!
//! *The floor.* A commit's versions reach the memtable when its intents are resolved, some time after the append. The tail
//! keeps, for each commit not yet wholly installed, the segment it starts in; the fold thread asks for the least of them
//! before it freezes memtables, and lets go of what lies below after it folded them.

pub(crate) mod record;
pub(crate) mod replay;
mod segment;

use crate::disk::DiskFile;
use crate::error::{Failure, StorageError};
use crate::pins::Pins;
use crate::spill::SequenceRanges;
use parking_lot::{Condvar, Mutex, MutexGuard};
use record::{Kind, Place, Write, commit_len, encode_commit, encode_drop, encode_ignored, ignored_len, push_record, record_len, write_len};
pub(crate) use segment::Segments;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Poll, Waker};
use std::time::Duration;
use tidelock_base::{IndexId, Timestamp, TxnId};

/// Write sets above this are cut into chunk records of about this size, so that a record is never most of a segment.
const CHUNK_BYTES: usize = 1 << 20;
/// Appends wait for the disk while the tail holds more than this.
const TAIL_BYTES_MAX: usize = 64 << 20;
/// Appended records that nobody waits for are flushed after this long.
const IDLE_FLUSH: Duration = Duration::from_millis(20);
/// Buffers above this size are given back to the allocator instead of being used again.
const BUFFER_KEPT_MAX: usize = 4 << 20;

/// Bytes bound for one place in one segment.
struct Piece {
    segment: u64,
    offset: u64,
    first_lsn: u64,
    bytes: Vec<u8>,
}

/// What was appended and not yet written.
struct Tail {
    segment: u64,
    offset: u64,
    next_lsn: u64,
    synced_lsn: u64,
    pieces: SmallVec<[Piece; 1]>,
    bytes: usize,
    last_ts: Timestamp,
    /// Commits not wholly installed, and the segment each starts in.
    uninstalled: BTreeMap<Timestamp, u64>,
    flush_wanted: bool,
    buffer: Vec<u8>,
}

/// The file being written; its mutex is the right to flush.
struct Writer {
    segment: u64,
    file: Arc<dyn DiskFile>,
}

/// Log counters.
#[derive(Default)]
pub(crate) struct LogCounters {
    pub(crate) records: AtomicU64,
    pub(crate) commits: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) syncs: AtomicU64,
    pub(crate) inline_syncs: AtomicU64,
}

/// See the module's text.
pub(crate) struct Log {
    segments: Segments,
    tail: Mutex<Tail>,
    flush_wanted: Condvar,
    writer: Mutex<Writer>,
    waiters: Mutex<BTreeMap<Timestamp, SmallVec<[Waker; 2]>>>,
    durable_moved: Condvar,
    last_ts: AtomicU64,
    durable_ts: AtomicU64,
    stopping: AtomicBool,
    failure: Arc<Failure>,
    pins: Arc<Pins>,
    pub(crate) counters: LogCounters,
}

impl Log {
    /// Goes on after a replay that ended at `end`; `last_ts` is the newest commit known, from the log or from the base.
    pub(crate) fn start(
        segments: Segments,
        end: &replay::LogEnd,
        last_ts: Timestamp,
        failure: Arc<Failure>,
        pins: Arc<Pins>,
    ) -> Result<Log, StorageError> {
        let file = segments.start(end.next_segment, end.next_lsn)?;
        file.sync().map_err(|error| StorageError::io("syncing a new log segment", &error))?;
        pins.advance(last_ts);
        Ok(Log {
            segments,
            tail: Mutex::new(Tail {
                segment: end.next_segment,
                offset: segment::first_offset(),
                next_lsn: end.next_lsn,
                synced_lsn: end.next_lsn - 1,
                pieces: SmallVec::new(),
                bytes: 0,
                last_ts,
                uninstalled: BTreeMap::new(),
                flush_wanted: false,
                buffer: Vec::new(),
            }),
            flush_wanted: Condvar::new(),
            writer: Mutex::new(Writer { segment: end.next_segment, file }),
            waiters: Mutex::default(),
            durable_moved: Condvar::new(),
            last_ts: AtomicU64::new(last_ts.0),
            durable_ts: AtomicU64::new(last_ts.0),
            stopping: AtomicBool::new(false),
            failure,
            pins,
            counters: LogCounters::default(),
        })
    }

    pub(crate) fn last_ts(&self) -> Timestamp {
        Timestamp(self.last_ts.load(Ordering::Acquire))
    }

    pub(crate) fn durable_ts(&self) -> Timestamp {
        Timestamp(self.durable_ts.load(Ordering::Acquire))
    }

    pub(crate) fn segments(&self) -> &Segments {
        &self.segments
    }

    /// Appends a commit to the tail. `ignored` says that the transaction has spilled, and which of its spilled rows do not count.
    pub(crate) fn append_commit(
        &self,
        txn: TxnId,
        ts: Timestamp,
        writes: &[Write],
        ignored: Option<&SequenceRanges>,
    ) -> Result<(), StorageError> {
        let mut tail = self.tail_with_room()?;
        if ts <= tail.last_ts {
            return Err(StorageError::OutOfOrder { last: tail.last_ts, found: ts });
        }
        let mut rest = writes;
        let mut chunks = 0;
        let mut payload = commit_len(rest);
        let mut first_segment = None;
        while payload > CHUNK_BYTES && rest.len() > 1 {
            let (chunk, after) = rest.split_at(chunk_of(rest));
            let len = commit_len(chunk);
            let segment = self.push(&mut tail, Kind::Chunk, len, |out| encode_commit(out, txn, ts, chunks, chunk));
            first_segment.get_or_insert(segment);
            chunks += 1;
            rest = after;
            payload = commit_len(rest);
        }
        let segment = match ignored {
            None => self.push(&mut tail, Kind::Commit, payload, |out| encode_commit(out, txn, ts, chunks, rest)),
            Some(ignored) => self.push(&mut tail, Kind::SpilledCommit, ignored_len(ignored) + payload, |out| {
                encode_ignored(out, ignored);
                encode_commit(out, txn, ts, chunks, rest);
            }),
        };
        tail.uninstalled.insert(ts, first_segment.unwrap_or(segment));
        tail.last_ts = ts;
        self.last_ts.store(ts.0, Ordering::Release);
        self.counters.commits.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Appends "this index is gone".
    pub(crate) fn append_drop(&self, index: IndexId) -> Result<(), StorageError> {
        let mut tail = self.tail_with_room()?;
        self.push(&mut tail, Kind::DropIndex, record::DROP_LEN, |out| encode_drop(out, index));
        Ok(())
    }

    /// The tail, once it has room: a writer that outruns the disk waits here.
    fn tail_with_room(&self) -> Result<MutexGuard<'_, Tail>, StorageError> {
        self.failure.check()?;
        let tail = self.tail.lock();
        if tail.bytes < TAIL_BYTES_MAX {
            return Ok(tail);
        }
        drop(tail);
        self.flush_now()?;
        Ok(self.tail.lock())
    }

    /// Places a record in the tail and answers its segment.
    fn push(&self, tail: &mut Tail, kind: Kind, payload: usize, encode: impl FnOnce(&mut Vec<u8>)) -> u64 {
        let len = record_len(payload);
        let room = self.segments.bytes().saturating_sub(tail.offset + record_len(0) as u64);
        // A record larger than a segment gets one of its own, which then grows.
        if len as u64 > room && tail.offset > segment::first_offset() {
            tail.begin_segment();
        }
        tail.place(kind, encode);
        self.counters.records.fetch_add(1, Ordering::Relaxed);
        self.counters.bytes.fetch_add(len as u64, Ordering::Relaxed);
        tail.segment
    }

    /// The segment that is appended to.
    pub(crate) fn current_segment(&self) -> u64 {
        self.tail.lock().segment
    }

    /// Goes on in a new segment, if `segment` is being appended to.
    pub(crate) fn leave_segment(&self, segment: u64) {
        let mut tail = self.tail.lock();
        if tail.segment <= segment && tail.offset > segment::first_offset() {
            tail.begin_segment();
            // Written with the next flush, so that the segment exists before the base says that replay starts there.
            let piece = Piece { segment: tail.segment, offset: tail.offset, first_lsn: tail.next_lsn, bytes: Vec::new() };
            tail.pieces.push(piece);
        }
    }

    /// All writes of the commit have reached the memtable.
    pub(crate) fn installed(&self, ts: Timestamp) {
        self.tail.lock().uninstalled.remove(&ts);
    }

    /// The oldest segment that holds a commit not wholly installed, or else the one being appended to.
    pub(crate) fn floor(&self) -> u64 {
        let tail = self.tail.lock();
        tail.uninstalled.values().copied().min().unwrap_or(tail.segment).min(tail.segment)
    }

    /// Bytes of the segments that a restart would look at.
    pub(crate) fn size_bytes(&self) -> u64 {
        let newest = self.tail.lock().segment;
        (newest + 1 - self.segments.oldest()) * self.segments.bytes()
    }

    /// How many commits are not wholly installed.
    pub(crate) fn uninstalled(&self) -> usize {
        self.tail.lock().uninstalled.len()
    }

    /// Ready when the commit is durable; otherwise the waker is called once it is, or once the store has failed.
    pub(crate) fn poll_durable(&self, ts: Timestamp, waker: &Waker) -> Poll<Result<(), StorageError>> {
        if self.durable_ts() >= ts {
            return Poll::Ready(Ok(()));
        }
        {
            let mut waiters = self.waiters.lock();
            // Looked at again under the mutex: a flush publishes first and then takes the mutex to wake.
            if self.durable_ts() >= ts {
                return Poll::Ready(Ok(()));
            }
            if let Err(error) = self.failure.check() {
                return Poll::Ready(Err(error));
            }
            let wakers = waiters.entry(ts).or_default();
            if !wakers.iter().any(|known| known.will_wake(waker)) {
                wakers.push(waker.clone());
            }
        }
        self.want_flush();
        Poll::Pending
    }

    fn want_flush(&self) {
        let mut tail = self.tail.lock();
        if !tail.flush_wanted {
            tail.flush_wanted = true;
            self.flush_wanted.notify_one();
        }
    }

    /// Syncs on this thread if nobody else is at it; otherwise waits until the commit is durable.
    pub(crate) fn sync_inline(&self, ts: Timestamp) -> Result<(), StorageError> {
        while self.durable_ts() < ts {
            self.failure.check()?;
            match self.writer.try_lock() {
                Some(mut writer) => {
                    self.counters.inline_syncs.fetch_add(1, Ordering::Relaxed);
                    self.flush(&mut writer)?;
                }
                None => self.wait_durable(ts)?,
            }
        }
        Ok(())
    }

    /// Blocks until the commit is durable, with the log thread doing the work.
    pub(crate) fn wait_durable(&self, ts: Timestamp) -> Result<(), StorageError> {
        if self.durable_ts() >= ts {
            return Ok(());
        }
        self.want_flush();
        let mut waiters = self.waiters.lock();
        while self.durable_ts() < ts {
            self.failure.check()?;
            self.durable_moved.wait_for(&mut waiters, IDLE_FLUSH);
        }
        Ok(())
    }

    /// Makes everything appended so far durable, on this thread.
    pub(crate) fn flush_now(&self) -> Result<(), StorageError> {
        self.failure.check()?;
        let mut writer = self.writer.lock();
        self.flush(&mut writer)
    }

    /// Takes the tail, writes it, syncs, publishes.
    fn flush(&self, writer: &mut Writer) -> Result<(), StorageError> {
        self.failure.check()?;
        let (mut pieces, last_ts, last_lsn) = {
            let mut tail = self.tail.lock();
            tail.flush_wanted = false;
            tail.bytes = 0;
            (std::mem::take(&mut tail.pieces), tail.last_ts, tail.next_lsn - 1)
        };
        if pieces.is_empty() {
            return Ok(());
        }
        if let Err(error) = self.write(writer, &pieces) {
            let error = self.failure.fail(error);
            self.wake_all();
            return Err(error);
        }
        self.counters.syncs.fetch_add(1, Ordering::Relaxed);
        let buffer = pieces.pop().map(|piece| piece.bytes).unwrap_or_default();
        self.publish(last_ts, last_lsn, buffer);
        Ok(())
    }

    fn write(&self, writer: &mut Writer, pieces: &[Piece]) -> Result<(), StorageError> {
        let failed = |error| StorageError::io("writing the log", &error);
        for piece in pieces {
            if piece.segment != writer.segment {
                // The old segment is durable, seal included, before the new one exists: only the last can have a torn end.
                writer.file.sync().map_err(failed)?;
                writer.file = self.segments.start(piece.segment, piece.first_lsn)?;
                writer.segment = piece.segment;
            }
            writer.file.write_at(piece.offset, &piece.bytes).map_err(failed)?;
        }
        writer.file.sync().map_err(failed)
    }

    fn publish(&self, ts: Timestamp, lsn: u64, buffer: Vec<u8>) {
        {
            let mut tail = self.tail.lock();
            tail.synced_lsn = lsn;
            if tail.buffer.capacity() < buffer.capacity() && buffer.capacity() <= BUFFER_KEPT_MAX {
                tail.buffer = buffer;
                tail.buffer.clear();
            }
        }
        if self.durable_ts.swap(ts.0, Ordering::AcqRel) != ts.0 {
            self.pins.advance(ts);
        }
        let woken = {
            let mut waiters = self.waiters.lock();
            let later = waiters.split_off(&ts.next());
            self.durable_moved.notify_all();
            std::mem::replace(&mut *waiters, later)
        };
        woken.into_values().flatten().for_each(Waker::wake);
    }

    /// Wakes everybody who waits: the store has failed or is closing.
    pub(crate) fn wake_all(&self) {
        let woken = {
            let mut waiters = self.waiters.lock();
            self.durable_moved.notify_all();
            std::mem::take(&mut *waiters)
        };
        woken.into_values().flatten().for_each(Waker::wake);
    }

    /// The log thread: flushes when somebody waits, or when records have lain for [`IDLE_FLUSH`].
    pub(crate) fn run(&self) {
        while !self.stopping.load(Ordering::Acquire) {
            {
                let mut tail = self.tail.lock();
                if !tail.flush_wanted {
                    self.flush_wanted.wait_for(&mut tail, IDLE_FLUSH);
                }
            }
            // An error has already ended the store and woken everybody.
            if self.flush_now().is_err() {
                break;
            }
        }
    }

    /// Asks the log thread to end.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        let _tail = self.tail.lock();
        self.flush_wanted.notify_all();
    }
}

impl Tail {
    fn begin_segment(&mut self) {
        self.place(Kind::Seal, |_| ());
        self.segment += 1;
        self.offset = segment::first_offset();
    }

    fn place(&mut self, kind: Kind, encode: impl FnOnce(&mut Vec<u8>)) {
        let place = Place { segment: self.segment, lsn: self.next_lsn, synced: self.synced_lsn };
        if self.pieces.last().is_none_or(|piece| piece.segment != self.segment) {
            let bytes = std::mem::take(&mut self.buffer);
            self.pieces.push(Piece { segment: self.segment, offset: self.offset, first_lsn: self.next_lsn, bytes });
        }
        let Some(piece) = self.pieces.last_mut() else { return };
        let before = piece.bytes.len();
        push_record(&mut piece.bytes, place, kind, encode);
        let grown = piece.bytes.len() - before;
        self.offset += grown as u64;
        self.bytes += grown;
        self.next_lsn += 1;
    }
}

/// How many writes, at least one, make a chunk.
fn chunk_of(writes: &[Write]) -> usize {
    let mut bytes = 0;
    let fits = writes.iter().take_while(|write| {
        bytes += write_len(write);
        bytes <= CHUNK_BYTES
    });
    fits.count().max(1)
}
