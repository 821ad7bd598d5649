//! The base: redb, holding for each index the newest folded version of every key, and what pinned snapshots need besides.
//!
//! One table per index (`latest/<id>`): dropping an index drops a table. Displaced versions go to `history/<id>`, keyed by
//! key and *inverted* timestamp, so that the newest version at or below a timestamp is the first row from there. `meta` holds
//! the format, the log segment that replay starts at, and the newest folded commit.
//!
//! Readers never open a transaction: they share tables opened on one snapshot, which fold replaces after each of its commits. No snapshot lives
//! longer than that, because redb cannot reuse the pages of any snapshot that is still open: (m) one reader held over a
//! million updates grew a file from 121 MB to 8.2 GB.

use crate::disk::{Disk, RedbFile};
use crate::error::StorageError;
use crate::version::{HistoryRow, Row, RowKind, Version};
use redb::{
    Database, Durability, ReadOnlyTable, ReadTransaction, ReadableDatabase, ReadableTable, Table, TableDefinition, TableError, TableHandle,
    WriteTransaction,
};
use std::sync::Arc;
use tidelock_base::{IndexId, Key, Timestamp, TxnId};

/// redb's file.
pub(crate) const FILE: &str = "base.redb";
/// Its name while it is being made.
const UNFINISHED: &str = "base.redb.new";
/// The layout this binary reads and writes.
const FORMAT: u64 = 1;

const META: TableDefinition<'static, &str, u64> = TableDefinition::new("meta");
/// Bucket start -> bytes (`sizes`).
const SIZES: TableDefinition<'static, Bytes, i64> = TableDefinition::new("sizes");
const META_FORMAT: &str = "format";
const META_LOG_FLOOR: &str = "log_floor";
const META_FOLDED_TS: &str = "folded_ts";

type Bytes = &'static [u8];
/// A key and an inverted timestamp.
type HistoryKey = (Bytes, u64);

/// A table of newest versions.
pub(crate) type Latest<'txn> = Table<'txn, Bytes, Bytes>;
/// A key and an inverted sequence number.
type SpillKey = (Bytes, u32);
/// A table of displaced versions.
pub(crate) type History<'txn> = Table<'txn, HistoryKey, Bytes>;

fn latest_name(index: IndexId) -> String {
    format!("latest/{}", index.0)
}

fn history_name(index: IndexId) -> String {
    format!("history/{}", index.0)
}

fn spilled_name(txn: TxnId) -> String {
    format!("spilled/{}", txn.0)
}

/// What a transaction has spilled, on one snapshot.
pub(crate) struct Spilled {
    pub(crate) rows: ReadOnlyTable<SpillKey, Bytes>,
}

/// Inverted, so that newer sorts first.
pub(crate) fn inverted(ts: Timestamp) -> u64 {
    !ts.0
}

/// What the base knows of the log.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Checkpoint {
    /// The oldest segment that replay needs; 0 before the first fold.
    pub(crate) log_floor: u64,
    /// No folded commit is newer, nor is any in a segment that was let go.
    pub(crate) folded_ts: Timestamp,
}

/// An index's tables on one snapshot. Shared by all readers; replaced after each fold commit.
pub(crate) struct BaseTable {
    pub(crate) latest: ReadOnlyTable<Bytes, Bytes>,
    history: Option<ReadOnlyTable<HistoryKey, Bytes>>,
}

impl BaseTable {
    /// The version of a key that a reader at `at` sees.
    pub(crate) fn get(&self, key: &[u8], at: Timestamp) -> Result<Option<Version>, StorageError> {
        let Some(found) = ReadableTable::get(&self.latest, key)? else { return Ok(None) };
        self.visible(key, Row::decode(found.value())?, at)
    }

    /// The version a reader at `at` sees, given the newest one.
    pub(crate) fn visible(&self, key: &[u8], newest: Row<'_>, at: Timestamp) -> Result<Option<Version>, StorageError> {
        if newest.ts <= at {
            return Ok(Some(newest.to_version()));
        }
        let Some(history) = &self.history else { return Ok(None) };
        for found in ReadableTable::range(history, (key, inverted(at))..=(key, u64::MAX))? {
            let (_, found) = found?;
            let found = HistoryRow::decode(found.value())?;
            if found.row.kind != RowKind::Marker {
                return Ok(Some(found.row.to_version()));
            }
        }
        Ok(None)
    }
}

/// All tables at one moment.
pub(crate) struct Snapshot {
    txn: ReadTransaction,
}

impl Snapshot {
    /// The tables of an index; `None` if nothing of it was folded yet.
    pub(crate) fn table(&self, index: IndexId) -> Result<Option<Arc<BaseTable>>, StorageError> {
        let Some(latest) = existing(self.txn.open_table(TableDefinition::new(&latest_name(index))))? else { return Ok(None) };
        let history = existing(self.txn.open_table(TableDefinition::new(&history_name(index))))?;
        Ok(Some(Arc::new(BaseTable { latest, history })))
    }

    /// What a transaction has spilled.
    pub(crate) fn spilled(&self, txn: TxnId) -> Result<Option<Arc<Spilled>>, StorageError> {
        let rows = existing(self.txn.open_table(TableDefinition::new(&spilled_name(txn))))?;
        Ok(rows.map(|rows| Arc::new(Spilled { rows })))
    }
}

fn existing<T>(opened: Result<T, TableError>) -> Result<Option<T>, StorageError> {
    match opened {
        Ok(table) => Ok(Some(table)),
        Err(TableError::TableDoesNotExist(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The redb database.
pub(crate) struct Base {
    db: Database,
}

impl Base {
    /// Opens the file, or makes it, and checks its format.
    pub(crate) fn open(disk: &Arc<dyn Disk>, cache_bytes: usize) -> Result<(Base, Checkpoint), StorageError> {
        let failed = |error| StorageError::io(format!("opening {FILE}"), &error);
        if !disk.list().map_err(failed)?.iter().any(|name| name == FILE) {
            Base::make(disk)?;
        }
        let base = Base::open_file(disk, FILE, cache_bytes)?;
        let checkpoint = base.read_meta()?;
        Ok((base, checkpoint))
    }

    /// Makes the file under another name first: redb cannot open one whose making was cut short.
    fn make(disk: &Arc<dyn Disk>) -> Result<(), StorageError> {
        let failed = |error| StorageError::io(format!("making {FILE}"), &error);
        if disk.list().map_err(failed)?.iter().any(|name| name == UNFINISHED) {
            disk.remove(UNFINISHED).map_err(failed)?;
        }
        let base = Base::open_file(disk, UNFINISHED, 1 << 20)?;
        let txn = base.begin()?;
        txn.set_meta(META_FORMAT, FORMAT)?;
        txn.commit()?;
        drop(base);
        disk.open(UNFINISHED).and_then(|file| file.sync()).map_err(failed)?;
        disk.rename(UNFINISHED, FILE).map_err(failed)?;
        disk.sync_names().map_err(failed)
    }

    fn open_file(disk: &Arc<dyn Disk>, name: &str, cache_bytes: usize) -> Result<Base, StorageError> {
        let file = disk.open(name).map_err(|error| StorageError::io(format!("opening {name}"), &error))?;
        Ok(Base { db: Database::builder().set_cache_size(cache_bytes).create_with_backend(RedbFile(file))? })
    }

    fn read_meta(&self) -> Result<Checkpoint, StorageError> {
        let txn = self.db.begin_read()?;
        let Some(meta) = existing(txn.open_table(META))? else {
            return Err(StorageError::corrupt(FILE, 0, "the table of meta data is missing"));
        };
        let read = |name| -> Result<u64, StorageError> { Ok(ReadableTable::get(&meta, name)?.map_or(0, |found| found.value())) };
        let found = read(META_FORMAT)?;
        if found != FORMAT {
            return Err(StorageError::Format { found, expected: FORMAT });
        }
        Ok(Checkpoint { log_floor: read(META_LOG_FLOOR)?, folded_ts: Timestamp(read(META_FOLDED_TS)?) })
    }

    /// The tables as of the last commit.
    pub(crate) fn snapshot(&self) -> Result<Snapshot, StorageError> {
        Ok(Snapshot { txn: self.db.begin_read()? })
    }

    /// The indexes that have tables, and those that have history.
    pub(crate) fn indexes(&self) -> Result<(Vec<IndexId>, Vec<IndexId>), StorageError> {
        let txn = self.db.begin_read()?;
        let names: Vec<String> = txn.list_tables()?.map(|table| table.name().to_owned()).collect();
        let ids = |prefix: &str| {
            let ids = names.iter().filter_map(|name| name.strip_prefix(prefix)?.parse().ok().map(IndexId));
            ids.collect()
        };
        Ok((ids("latest/"), ids("history/")))
    }

    /// The transactions that have spilled.
    pub(crate) fn spilled(&self) -> Result<Vec<TxnId>, StorageError> {
        let txn = self.db.begin_read()?;
        let ids = txn.list_tables()?.filter_map(|table| table.name().strip_prefix("spilled/")?.parse().ok().map(TxnId));
        Ok(ids.collect())
    }

    /// The stored size histogram.
    pub(crate) fn sizes(&self) -> Result<Vec<(Key, i64)>, StorageError> {
        let txn = self.db.begin_read()?;
        let Some(sizes) = existing(txn.open_table(SIZES))? else { return Ok(Vec::new()) };
        let rows = ReadableTable::range::<&[u8]>(&sizes, ..)?;
        rows.map(|row| row.map(|(start, bytes)| (Key::from(start.value()), bytes.value())).map_err(Into::into)).collect()
    }

    /// Begins a durable write. There is one writer: the fold thread (or recovery, before it runs).
    pub(crate) fn begin(&self) -> Result<BaseWrite, StorageError> {
        let mut txn = self.db.begin_write()?;
        txn.set_durability(Durability::Immediate)?;
        // Saves the allocator's state, so that opening after a crash does not walk every page.
        txn.set_quick_repair(true);
        Ok(BaseWrite { txn })
    }

    /// Bytes of the page cache in use.
    pub(crate) fn cached_bytes(&self) -> usize {
        self.db.cache_stats().used_bytes()
    }
}

/// A write transaction of the base.
pub(crate) struct BaseWrite {
    txn: WriteTransaction,
}

impl BaseWrite {
    /// Newest versions of an index.
    pub(crate) fn latest(&self, index: IndexId) -> Result<Latest<'_>, StorageError> {
        Ok(self.txn.open_table(TableDefinition::new(&latest_name(index)))?)
    }

    /// Displaced versions of an index.
    pub(crate) fn history(&self, index: IndexId) -> Result<History<'_>, StorageError> {
        Ok(self.txn.open_table(TableDefinition::new(&history_name(index)))?)
    }

    /// Spilled rows of a transaction.
    pub(crate) fn spilled(&self, txn: TxnId) -> Result<Table<'_, SpillKey, Bytes>, StorageError> {
        Ok(self.txn.open_table(TableDefinition::new(&spilled_name(txn)))?)
    }

    /// Deletes a transaction's spilled rows.
    pub(crate) fn drop_spilled(&self, txn: TxnId) -> Result<(), StorageError> {
        self.txn.delete_table(TableDefinition::<SpillKey, Bytes>::new(&spilled_name(txn)))?;
        Ok(())
    }

    /// Deletes an index's tables.
    pub(crate) fn drop_index(&self, index: IndexId) -> Result<(), StorageError> {
        self.txn.delete_table(TableDefinition::<Bytes, Bytes>::new(&latest_name(index)))?;
        self.drop_history(index)
    }

    /// Deletes an index's history.
    pub(crate) fn drop_history(&self, index: IndexId) -> Result<(), StorageError> {
        self.txn.delete_table(TableDefinition::<HistoryKey, Bytes>::new(&history_name(index)))?;
        Ok(())
    }

    /// Records what the log may let go of.
    pub(crate) fn set_checkpoint(&self, checkpoint: Checkpoint) -> Result<(), StorageError> {
        self.set_meta(META_LOG_FLOOR, checkpoint.log_floor)?;
        self.set_meta(META_FOLDED_TS, checkpoint.folded_ts.0)
    }

    /// Stores the buckets of the size histogram that changed.
    pub(crate) fn set_sizes(&self, changed: &[(Key, i64)]) -> Result<(), StorageError> {
        let mut sizes = self.txn.open_table(SIZES)?;
        for (start, bytes) in changed {
            sizes.insert(&**start, bytes)?;
        }
        Ok(())
    }

    /// Deletes buckets of the size histogram.
    pub(crate) fn remove_sizes(&self, gone: &[Key]) -> Result<(), StorageError> {
        let mut sizes = self.txn.open_table(SIZES)?;
        for start in gone {
            sizes.remove(&**start)?;
        }
        Ok(())
    }

    fn set_meta(&self, name: &str, value: u64) -> Result<(), StorageError> {
        self.txn.open_table(META)?.insert(name, value)?;
        Ok(())
    }

    /// Makes it durable.
    pub(crate) fn commit(self) -> Result<(), StorageError> {
        Ok(self.txn.commit()?)
    }
}
