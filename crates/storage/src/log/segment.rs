//! Segment files: named, zero-filled once, recycled.
//!
//! A log that grows pays the file system's journal at every sync, (m) 1.5-2x; one that was only `fallocate`d pays 10x. So segments
//! are filled with zeros ahead of time (by the fold thread) and renamed to `spare-*` instead of removed.

use super::record::{SEGMENT_HEADER, encode_segment_header};
use crate::disk::{Disk, DiskFile};
use crate::error::StorageError;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Spares kept; more are removed. At 25 MB/s of log, two 32 MiB segments are two and a half seconds.
const SPARES_MAX: usize = 3;
/// Zeros are written in pieces of this size.
const ZERO_CHUNK: usize = 1 << 20;

/// The file name of a segment.
pub(crate) fn segment_name(segment: u64) -> String {
    format!("log-{segment:012}.seg")
}

/// The segment a file name stands for.
pub(crate) fn segment_number(name: &str) -> Option<u64> {
    name.strip_prefix("log-")?.strip_suffix(".seg")?.parse().ok()
}

/// Is it a spare segment's name?
pub(crate) fn is_spare(name: &str) -> bool {
    name.starts_with("spare-") && name.ends_with(".seg")
}

/// The segment files on disk: which are live, which are spare.
#[derive(Debug)]
pub(crate) struct Segments {
    disk: Arc<dyn Disk>,
    bytes: u64,
    spares: Mutex<Vec<String>>,
    spare_names: AtomicU64,
    oldest: AtomicU64,
}

impl Segments {
    /// Takes over the spares a former run left. Those of another size (a cut-short filling, another setting) are removed.
    pub(crate) fn new(disk: Arc<dyn Disk>, bytes: u64, oldest: u64, mut spares: Vec<String>) -> Result<Segments, StorageError> {
        let taken = spares.iter().filter_map(|name| name.strip_prefix("spare-")?.strip_suffix(".seg")?.parse().ok()).max();
        let keep = |name: &String| -> std::io::Result<bool> {
            let usable = disk.open(name)?.len()? == bytes;
            if !usable {
                disk.remove(name)?;
            }
            Ok(usable)
        };
        let mut kept = Vec::new();
        for name in spares.drain(..) {
            if keep(&name).map_err(|error| StorageError::io(format!("looking at {name}"), &error))? {
                kept.push(name);
            }
        }
        Ok(Segments {
            disk,
            bytes,
            spare_names: AtomicU64::new(taken.unwrap_or(0u64) + 1),
            spares: Mutex::new(kept),
            oldest: AtomicU64::new(oldest),
        })
    }

    /// Size of a segment.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The oldest segment that is kept.
    pub(crate) fn oldest(&self) -> u64 {
        self.oldest.load(Ordering::Acquire)
    }

    /// Puts a file into use as `segment`: its header is written, its name durable; the header itself becomes so with the first sync.
    pub(crate) fn start(&self, segment: u64, first_lsn: u64) -> Result<Arc<dyn DiskFile>, StorageError> {
        let name = segment_name(segment);
        let failed = |error: &std::io::Error| StorageError::io(format!("starting log segment {name}"), error);
        let spare = match self.spares.lock().pop() {
            Some(spare) => spare,
            None => self.make_spare()?,
        };
        self.disk.rename(&spare, &name).map_err(|error| failed(&error))?;
        let file = self.disk.open(&name).map_err(|error| failed(&error))?;
        file.write_at(0, &encode_segment_header(segment, first_lsn)).map_err(|error| failed(&error))?;
        // A recycled segment's first record must not be followed by an old one that reads as sound; the seeded CRC sees to that.
        self.disk.sync_names().map_err(|error| failed(&error))?;
        Ok(file)
    }

    /// Makes sure that one spare stands by. Called by the fold thread, off the commit path.
    pub(crate) fn prepare_spare(&self) -> Result<(), StorageError> {
        if self.spares.lock().is_empty() {
            let spare = self.make_spare()?;
            self.spares.lock().push(spare);
        }
        Ok(())
    }

    fn make_spare(&self) -> Result<String, StorageError> {
        let name = self.spare_name();
        let zeros = vec![0; ZERO_CHUNK.min(self.bytes as usize)];
        let make = || {
            let file = self.disk.open(&name)?;
            let mut offset = 0;
            while offset < self.bytes {
                let len = (self.bytes - offset).min(zeros.len() as u64);
                file.write_at(offset, &zeros[..len as usize])?;
                offset += len;
            }
            file.sync()
        };
        make().map_err(|error| StorageError::io(format!("preparing log segment {name}"), &error))?;
        Ok(name)
    }

    fn spare_name(&self) -> String {
        format!("spare-{:012}.seg", self.spare_names.fetch_add(1, Ordering::Relaxed))
    }

    /// Lets go of every segment below `floor`.
    pub(crate) fn recycle_below(&self, floor: u64) -> Result<(), StorageError> {
        while self.oldest() < floor {
            let segment = self.oldest();
            self.recycle(segment).map_err(|error| StorageError::io(format!("recycling {}", segment_name(segment)), &error))?;
            self.oldest.store(segment + 1, Ordering::Release);
        }
        Ok(())
    }

    fn recycle(&self, segment: u64) -> std::io::Result<()> {
        let name = segment_name(segment);
        let usual_size = self.disk.open(&name)?.len()? == self.bytes;
        if !usual_size || self.spares.lock().len() >= SPARES_MAX {
            return self.disk.remove(&name);
        }
        let spare = self.spare_name();
        self.disk.rename(&name, &spare)?;
        self.spares.lock().push(spare);
        Ok(())
    }
}

/// Payload room in a segment before its seal.
pub(crate) fn first_offset() -> u64 {
    SEGMENT_HEADER as u64
}
