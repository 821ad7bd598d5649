//! A simulated disk for tests: it remembers what was synced and what was only written.
//!
//! [`SimDisk::crash`] answers the disk a machine would find after losing power now: of the writes since each file's last
//! sync, every 512-byte sector is independently kept or lost; of the renames since the last `sync_names` a prefix is kept.
//! [`SimDisk::fault_at`] makes the n-th operation fail, and, for [`Fault::Crash`], all later ones too.

use super::{Disk, DiskFile};
use parking_lot::Mutex;
use std::any::Any;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// What disks write atomically.
const SECTOR_BYTES: usize = 512;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// One operation fails with an I/O error.
    Io,
    /// This write, and all later ones, find the disk full.
    Full,
    /// This operation and all later ones fail: the machine is gone.
    Crash,
}

#[derive(Debug, Default)]
struct Inode {
    now: Vec<u8>,
    synced: Vec<u8>,
    /// Where the two may differ, besides in length: so that a sync of a large file costs what was written.
    dirty: Vec<Range<usize>>,
}

impl Inode {
    fn write(&mut self, offset: usize, bytes: &[u8]) {
        let place = offset..offset + bytes.len();
        if self.now.len() < place.end {
            self.now.resize(place.end, 0);
        }
        self.now[place.clone()].copy_from_slice(bytes);
        self.dirty.push(place);
    }

    fn set_len(&mut self, len: usize) {
        // What lies behind the cut and comes back as zeros differs from what is synced.
        self.dirty.push(len.min(self.now.len())..len.max(self.now.len()));
        self.now.resize(len, 0);
    }

    fn sync(&mut self) {
        self.synced.resize(self.now.len(), 0);
        for place in self.dirty.drain(..) {
            let place = place.start.min(self.now.len())..place.end.min(self.now.len());
            self.synced[place.clone()].copy_from_slice(&self.now[place]);
        }
    }
}

#[derive(Debug, Default)]
struct State {
    inodes: Vec<Inode>,
    names: BTreeMap<String, usize>,
    /// The directory as it was at the last `sync_names`, and after each change since.
    names_since_sync: Vec<BTreeMap<String, usize>>,
    operations: u64,
    fault: Option<(u64, Fault)>,
}

impl State {
    fn step(&mut self, writes: bool) -> io::Result<()> {
        let operation = self.operations;
        self.operations += 1;
        match self.fault {
            Some((at, Fault::Io)) if operation == at => Err(io::Error::other("simulated I/O error")),
            Some((at, Fault::Full)) if operation >= at && writes => Err(io::ErrorKind::StorageFull.into()),
            Some((at, Fault::Crash)) if operation >= at => Err(io::Error::other("simulated crash")),
            _ => Ok(()),
        }
    }

    fn changed_names(&mut self) {
        self.names_since_sync.push(self.names.clone());
    }
}

/// See the module's text. Clones share the disk.
#[derive(Clone, Debug, Default)]
pub struct SimDisk(Arc<Mutex<State>>);

impl SimDisk {
    /// An empty disk.
    pub fn new() -> SimDisk {
        SimDisk::default()
    }

    /// Operations (writes, syncs, renames; not reads) so far.
    pub fn operations(&self) -> u64 {
        self.0.lock().operations
    }

    /// Makes operation number `at` (counted from the disk's birth) fail.
    pub fn fault_at(&self, at: u64, fault: Fault) {
        self.0.lock().fault = Some((at, fault));
    }

    /// The disk after a power cut now. `seed` decides which unsynced sectors and names survive.
    #[must_use]
    pub fn crash(&self, seed: u64) -> SimDisk {
        let state = self.0.lock();
        let mut random = Random(seed.wrapping_mul(2).wrapping_add(1));
        let names = match state.names_since_sync.len() {
            0 => state.names.clone(),
            len => state.names_since_sync[random.below(len)].clone(),
        };
        let inodes = state.inodes.iter().map(|inode| {
            let bytes = survive(inode, &mut random);
            Inode { now: bytes.clone(), synced: bytes, dirty: Vec::new() }
        });
        let inodes = inodes.collect();
        SimDisk(Arc::new(Mutex::new(State { inodes, names, ..State::default() })))
    }

    /// A file's bytes, to damage: the change counts as synced.
    pub fn damage(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.0.lock();
        if let Some(inode) = state.names.get(name).copied() {
            let inode = &mut state.inodes[inode];
            change(&mut inode.now);
            inode.synced = inode.now.clone();
            inode.dirty.clear();
        }
    }

    /// The names of the files, sorted.
    pub fn names(&self) -> Vec<String> {
        self.0.lock().names.keys().cloned().collect()
    }
}

fn survive(inode: &Inode, random: &mut Random) -> Vec<u8> {
    let len = if random.below(2) == 0 { inode.now.len() } else { inode.synced.len() };
    let mut bytes = vec![0; len];
    for start in (0..len).step_by(SECTOR_BYTES) {
        let end = (start + SECTOR_BYTES).min(len);
        let from = if random.below(2) == 0 { &inode.now } else { &inode.synced };
        let until = end.min(from.len()).max(start);
        bytes[start..until].copy_from_slice(from.get(start..until).unwrap_or(&[]));
    }
    bytes
}

/// xorshift64: enough to choose what survives, and no dependency.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }
}

impl Disk for SimDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.names())
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.0.lock();
        let inode = match state.names.get(name) {
            Some(inode) => *inode,
            None => {
                state.step(true)?;
                if state.names_since_sync.is_empty() {
                    state.changed_names();
                }
                state.inodes.push(Inode::default());
                let inode = state.inodes.len() - 1;
                state.names.insert(name.to_owned(), inode);
                state.changed_names();
                inode
            }
        };
        Ok(Arc::new(SimFile { disk: self.clone(), inode }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.0.lock();
        state.step(true)?;
        if state.names_since_sync.is_empty() {
            state.changed_names();
        }
        let inode = state.names.remove(from).ok_or(io::ErrorKind::NotFound)?;
        state.names.insert(to.to_owned(), inode);
        state.changed_names();
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut state = self.0.lock();
        state.step(true)?;
        if state.names_since_sync.is_empty() {
            state.changed_names();
        }
        state.names.remove(name).ok_or(io::ErrorKind::NotFound)?;
        state.changed_names();
        Ok(())
    }

    fn sync_names(&self) -> io::Result<()> {
        let mut state = self.0.lock();
        state.step(false)?;
        state.names_since_sync.clear();
        Ok(())
    }

    fn lock(&self) -> io::Result<Box<dyn Any + Send + Sync>> {
        Ok(Box::new(()))
    }
}

#[derive(Debug)]
struct SimFile {
    disk: SimDisk,
    inode: usize,
}

impl DiskFile for SimFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.0.lock().inodes[self.inode].now.len() as u64)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.disk.0.lock();
        let start = offset as usize;
        let bytes = state.inodes[self.inode].now.get(start..start + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(bytes);
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.disk.0.lock();
        state.step(true)?;
        state.inodes[self.inode].write(offset as usize, bytes);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.disk.0.lock();
        state.step(true)?;
        state.inodes[self.inode].set_len(len as usize);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.disk.0.lock();
        state.step(false)?;
        state.inodes[self.inode].sync();
        Ok(())
    }
}
