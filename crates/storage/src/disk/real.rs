//! The real file system.

use super::{Disk, DiskFile};
use std::any::Any;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Name of the file whose lock guards the directory.
const LOCK_FILE: &str = "LOCK";

/// A directory on the real disk.
#[derive(Debug)]
pub struct RealDisk {
    dir: PathBuf,
    sync: bool,
}

impl RealDisk {
    /// Opens the directory, and makes it if it is missing. `sync: false` turns every fsync into nothing.
    pub fn open(dir: &Path, sync: bool) -> io::Result<RealDisk> {
        std::fs::create_dir_all(dir)?;
        Ok(RealDisk { dir: dir.to_owned(), sync })
    }
}

impl Disk for RealDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        std::fs::read_dir(&self.dir)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(self.dir.join(name))?;
        Ok(Arc::new(RealFile { file, sync: self.sync }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        std::fs::rename(self.dir.join(from), self.dir.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        std::fs::remove_file(self.dir.join(name))
    }

    fn sync_names(&self) -> io::Result<()> {
        if self.sync { File::open(&self.dir)?.sync_all() } else { Ok(()) }
    }

    fn lock(&self) -> io::Result<Box<dyn Any + Send + Sync>> {
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(self.dir.join(LOCK_FILE))?;
        match file.try_lock() {
            Ok(()) => Ok(Box::new(file)),
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

#[derive(Debug)]
struct RealFile {
    file: File,
    sync: bool,
}

impl DiskFile for RealFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(out, offset)
    }
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }
    fn sync(&self) -> io::Result<()> {
        if self.sync { self.file.sync_data() } else { Ok(()) }
    }
}
