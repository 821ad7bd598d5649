//! Bulk loading: rows for indexes that this transaction made itself, written to the base without locks, intents and log.
//!
//! COPY and INSERT ... SELECT into a table that was created or truncated in the same transaction, a table that is rewritten, an index that is built:
//! nobody else can know those index ids before the commit, so their rows take the short way ([`tidelock_kvclient::Txn::ingest`]).
//!
//! Rows are gathered, sorted by key, and handed over in portions; while one is on its way to the disk the next is being made:
//!
//! ```text
//!   session:   rows 1..n │ sort │ rows n+1.. │ sort │ ...
//!   disk:                        ├─ redb commit ─┤     ├─ ...
//! ```
//!
//! A first portion that stays small is written as usual: a durable commit of its own would cost more than it saves.

use super::context::ExecContext;
pub(super) use super::spill::Entry;
use super::spill::ExternalSort;
use super::table_keys::{decode_whole, entry_columns, index_id};
use super::write::duplicate;
use crate::catalog::{IndexDescriptor, TableDescriptor};
use crate::error::{SqlError, SqlState};
use crate::types::{DataType, Datum, row_codec};
use std::sync::Arc;
use tidelock_base::row::{Column, RowView};
use tidelock_base::{IndexId, Key, Value};
use tidelock_kvapi::KvError;
use tidelock_kvclient::Write;
use tokio::task::JoinHandle;

/// Rows handed over in one portion. It is one commit of the base: more would keep the fold waiting for longer.
const PORTION_ROWS: usize = 32_768;
/// Bytes of keys and values handed over in one portion.
const PORTION_BYTES: usize = 16 << 20;
/// A load that has fewer rows than this altogether is written as usual.
const LOAD_ROWS_MIN: usize = 2_000;

/// A load under way.
pub(super) struct BulkLoad {
    table: Arc<TableDescriptor>,
    /// The indexes that rows go to.
    indexes: Vec<IndexId>,
    entries: Vec<Entry>,
    bytes: usize,
    /// A portion was handed over.
    begun: bool,
    under_way: Option<Portion>,
    /// Indexes are built over rows that were there: a duplicate is told differently.
    building: bool,
}

struct Portion {
    entries: Arc<Vec<Entry>>,
    result: JoinHandle<Result<Option<Key>, KvError>>,
}

impl BulkLoad {
    /// A load of a table's rows with their entries, if all of its indexes are the transaction's own and still empty or loaded.
    pub(super) fn of_table(table: &Arc<TableDescriptor>, ctx: &ExecContext<'_>) -> Option<BulkLoad> {
        let indexes: Vec<IndexId> = table.all_indexes().map(index_id).collect();
        indexes.iter().all(|index| ctx.txn.may_ingest(*index)).then(|| BulkLoad::new(table, indexes))
    }

    fn new(table: &Arc<TableDescriptor>, indexes: Vec<IndexId>) -> BulkLoad {
        BulkLoad { table: Arc::clone(table), indexes, entries: Vec::new(), bytes: 0, begun: false, under_way: None, building: false }
    }

    /// Adds an entry; call [`BulkLoad::make_room`] every now and then.
    pub(super) fn push(&mut self, entry: Entry) {
        self.bytes += entry.0.len() + entry.1.len();
        self.entries.push(entry);
    }

    /// Takes back the entries of an index that were not handed over yet.
    fn take_waiting(&mut self, index: IndexId) -> Vec<Entry> {
        let (taken, kept): (Vec<Entry>, Vec<Entry>) =
            std::mem::take(&mut self.entries).into_iter().partition(|(key, _)| key.index() == index);
        self.bytes -= taken.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>();
        self.entries = kept;
        taken
    }

    /// Hands a portion over when there is a full one.
    pub(super) async fn make_room(&mut self, ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
        if self.entries.len() >= PORTION_ROWS || self.bytes >= PORTION_BYTES { self.hand_over(ctx).await } else { Ok(()) }
    }

    /// Writes what is left, and waits until all of it is durable.
    pub(super) async fn finish(&mut self, ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
        if !self.begun && self.entries.len() < LOAD_ROWS_MIN {
            return self.write_as_usual(ctx).await;
        }
        self.hand_over(ctx).await?;
        self.wait(ctx).await
    }

    async fn hand_over(&mut self, ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
        ctx.cancel.check()?;
        self.begun = true;
        let mut entries = std::mem::take(&mut self.entries);
        self.bytes = 0;
        if entries.is_empty() {
            return Ok(());
        }
        entries.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        self.wait(ctx).await?;
        let entries = Arc::new(entries);
        let load = ctx.txn.ingest(Arc::clone(&entries)).map_err(|e| ctx.kv(e))?;
        self.under_way = Some(Portion { entries, result: tokio::spawn(load) });
        Ok(())
    }

    /// Waits for the portion that is under way.
    async fn wait(&mut self, ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
        let Some(Portion { entries, result }) = self.under_way.take() else { return Ok(()) };
        let loaded = result.await.map_err(|error| SqlError::new(SqlState::INTERNAL_ERROR, format!("loading rows failed: {error}")))?;
        match loaded.map_err(|e| ctx.kv(e))? {
            None => Ok(()),
            Some(key) => {
                let value = entries.iter().rfind(|(other, _)| *other == key).map(|(_, value)| value.clone()).unwrap_or_default();
                Err(self.duplicate(&key, &value, ctx))
            }
        }
    }

    async fn write_as_usual(&mut self, ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
        let entries = std::mem::take(&mut self.entries);
        ctx.txn.end_ingest(|index| self.indexes.contains(&index));
        let writes = entries.iter().map(|(key, value)| Write::Insert(key.clone(), value.clone())).collect();
        let results = ctx.txn.write(writes).await.map_err(|e| ctx.kv(e))?;
        match results.iter().zip(&entries).find(|(result, _)| matches!(result, tidelock_kvclient::Written::Exists(_))) {
            Some((_, (key, value))) => Err(self.duplicate(key, value, ctx)),
            None => Ok(()),
        }
    }

    /// 23505, from the entry that is one too many.
    fn duplicate(&self, key: &Key, value: &Value, ctx: &ExecContext<'_>) -> SqlError {
        let place = self.table.indexes.iter().position(|index| index_id(index) == key.index());
        let row = match place.and_then(|place| self.table.indexes.get(place)) {
            Some(index) => row_of_entry(&self.table, index, value),
            None => decode_whole(&self.table, value),
        };
        let mut error = match row {
            Ok(row) => duplicate(&self.table, place, &row, &ctx.text()),
            Err(error) => return error,
        };
        if self.building {
            let index = place.and_then(|place| self.table.indexes.get(place)).unwrap_or(&self.table.primary);
            error = could_not_create(index, error);
        }
        error
    }
}

/// A duplicate, met while its index was built.
pub(super) fn could_not_create(index: &IndexDescriptor, mut duplicate: SqlError) -> SqlError {
    let fields = duplicate.fields_mut();
    fields.message = format!("could not create unique index \"{}\"", index.name).into();
    fields.detail = fields.detail.take().map(|detail| detail.replace("already exists.", "is duplicated."));
    duplicate
}

/// A load of entries that come in any order: they are sorted first, those of an index that come in order are not.
///
/// Rows written anew under another key very often lie in its order already (a table that was filled by COPY gets its primary key).
pub(super) struct SortedLoad {
    load: BulkLoad,
    /// The last key of each index that came in order until now.
    in_order: Vec<(IndexId, Key)>,
    sort: ExternalSort,
}

impl SortedLoad {
    /// Builds indexes of a table (its descriptor knows them): all of them when it is rewritten, or a new one.
    pub(super) fn building(table: &Arc<TableDescriptor>, indexes: Vec<IndexId>, ctx: &ExecContext<'_>) -> SortedLoad {
        let in_order = indexes.iter().map(|index| (*index, Key::min())).collect();
        let load = BulkLoad { building: true, ..BulkLoad::new(table, indexes) };
        SortedLoad { load, in_order, sort: ExternalSort::new(ctx.spill_dir) }
    }

    /// Adds an entry.
    pub(super) async fn push(&mut self, entry: Entry, ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
        let index = entry.0.index();
        let Some(place) = self.in_order.iter().position(|(id, _)| *id == index) else { return self.sort.push(entry).await };
        if entry.0 > self.in_order[place].1 {
            self.in_order[place].1.clone_from(&entry.0);
            self.load.push(entry);
            return self.load.make_room(ctx).await;
        }
        self.in_order.swap_remove(place);
        for waiting in self.load.take_waiting(index) {
            self.sort.push(waiting).await?;
        }
        self.sort.push(entry).await
    }

    /// Loads what was sorted, and waits until everything is durable.
    pub(super) async fn finish(mut self, ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
        let mut merge = self.sort.finish().await?;
        while let Some(entry) = merge.next()? {
            self.load.push(entry);
            self.load.make_room(ctx).await?;
        }
        self.load.finish(ctx).await
    }
}

/// What an index entry knows of its row.
pub(super) fn row_of_entry(table: &TableDescriptor, index: &IndexDescriptor, value: &[u8]) -> Result<Vec<Datum>, SqlError> {
    let corrupt = |error: String| SqlError::new(SqlState::DATA_CORRUPTED, error);
    let view = RowView::new(value).map_err(|error| corrupt(error.to_string()))?;
    let mut row = vec![Datum::Null; table.columns.len()];
    // Column 0 is the row's key.
    for (place, position) in entry_columns(table, index).into_iter().enumerate() {
        let ty = table.columns.get(position).map_or(DataType::TEXT, |c| c.ty.ty);
        if let (Column::Bytes(bytes), Some(slot)) = (view.column(place + 1), row.get_mut(position)) {
            *slot = row_codec::decode_column(bytes, ty)?;
        }
    }
    Ok(row)
}
