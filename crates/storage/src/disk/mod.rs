//! The disk, as the log and redb see it: a flat directory of files.
//!
//! Two implementations: [`RealDisk`], and [`SimDisk`], which loses, tears and refuses writes on command, so that recovery
//! can be tested at every step without pulling plugs.

mod real;
mod sim;

pub use real::RealDisk;
pub use sim::{Fault, SimDisk};

use std::any::Any;
use std::fmt::Debug;
use std::io;
use std::sync::Arc;

/// A directory of files.
pub trait Disk: Send + Sync + Debug {
    /// The names of all files.
    fn list(&self) -> io::Result<Vec<String>>;
    /// Opens a file for reading and writing; makes it if it is missing.
    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;
    /// Renames, replacing. Survives a crash only after [`Disk::sync_names`].
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Makes creations, renames and removals durable.
    fn sync_names(&self) -> io::Result<()>;
    /// Takes the directory's lock, held while the answer lives; `WouldBlock` if somebody has it.
    fn lock(&self) -> io::Result<Box<dyn Any + Send + Sync>>;
}

/// An open file. Offsets are absolute; there is no cursor.
#[allow(clippy::len_without_is_empty)]
pub trait DiskFile: Send + Sync + Debug {
    /// Size in bytes.
    fn len(&self) -> io::Result<u64>;
    /// Reads exactly `out.len()` bytes.
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()>;
    /// Writes all bytes, growing the file as needed.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Cuts or grows (with zeros).
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Makes what was written durable. After an error nothing is known about what is on disk.
    fn sync(&self) -> io::Result<()>;
}

/// Lets redb keep its file on a [`Disk`].
#[derive(Debug)]
pub(crate) struct RedbFile(pub(crate) Arc<dyn DiskFile>);

impl redb::StorageBackend for RedbFile {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }
    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_at(offset, out)
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }
    fn sync_data(&self) -> io::Result<()> {
        self.0.sync()
    }
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write_at(offset, data)
    }
}
