//! Where the catalog lives in the key-value store, how it is read, and how DDL changes it.
//!
//! Descriptors are rows of system index 2 (index 1 is the key-value server's own). A key is the index id, a kind, and a number:
//!
//! ```text
//!   0x01               version      a row of one int8: grows with each change of anything below
//!   0x02 oid           schema       JSON of SchemaDescriptor
//!   0x03 oid           relation     JSON of TableDescriptor
//!   0x04 oid           statistics   JSON of TableStatistics
//!   0x05 value id      sequence     its current value     (not transactional: sequence requests only)
//!   0x06               counter      next object id        (likewise)
//!   0x07               counter      next index id         (likewise)
//!   0x08 index id      counter      next row id of a table without primary key (likewise)
//!   0x09 oid           function     JSON of FunctionDescriptor
//!   0x0a ...           shared       databases: see [`super::shared`]
//!   0x0c database ...  0x01 to 0x04 and 0x09 of another database than the first, `postgres`
//! ```
//!
//! OIDs, index ids and counters are the whole server's, so a relation is found by its OID alone once its database is known.
//!
//! A statement costs one `Get` of the version to know that its cached catalog is right ([`DescriptorCache`]). That read says that no column
//! mattered, so a version that moves on does not fail anyone's refresh; what a transaction relies on is asserted at commit instead, relation by relation
//! ([`relation_key`] with the time the catalog was read).

use super::{Catalog, CatalogBuilder, FIRST_USER_OID, FunctionDescriptor, Oid, SchemaDescriptor, TableDescriptor, TableStatistics};
use crate::error::{SqlError, SqlState};
use crate::types::row_codec;
use crate::types::{DataType, Datum};
use parking_lot::RwLock;
use std::sync::Arc;
use tidelock_base::row::{Column, ColumnSet, RowBuilder, RowView};
use tidelock_base::{IndexId, Key, Span, Timestamp};
use tidelock_kvapi::{KvError, Limit, LockStrength, SequenceStep};
use tidelock_kvclient::{Db, ReadOptions, ScanOptions, Txn, Write};

/// The index that holds descriptors and counters.
pub const SYSTEM_INDEX: IndexId = IndexId(2);

/// Index ids of users' tables start here; those below are the system's.
pub const FIRST_USER_INDEX: i64 = 100;

const VERSION: u8 = 1;
const SCHEMA: u8 = 2;
const RELATION: u8 = 3;
const STATISTICS: u8 = 4;
const SEQUENCE: u8 = 5;
const OBJECT_IDS: u8 = 6;
const INDEX_IDS: u8 = 7;
const ROW_IDS: u8 = 8;
const FUNCTION: u8 = 9;
pub(super) const SHARED: u8 = 10;
const OTHER_DATABASES: u8 = 12;

/// The database `postgres`, which is there from the beginning, with the OID that it has in PostgreSQL.
pub const FIRST_DATABASE: Oid = 5;

/// The catalog's key of a kind that all databases share.
pub(super) fn kind_key(kind: u8) -> Key {
    let mut key = Key::index_start(SYSTEM_INDEX);
    key.push(kind);
    key
}

/// The same, of a kind that each database has for itself.
fn database_key(database: Oid, kind: u8) -> Key {
    let mut key = if database == FIRST_DATABASE { Key::index_start(SYSTEM_INDEX) } else { all_of(database) };
    key.push(kind);
    key
}

/// What all keys of a database start with, unless it is the first one.
fn all_of(database: Oid) -> Key {
    let mut key = kind_key(OTHER_DATABASES);
    key.extend(&database.to_be_bytes());
    key
}

fn numbered(mut key: Key, number: u64) -> Key {
    key.extend(&number.to_be_bytes());
    key
}

/// Where the version of a database's catalog is.
pub fn version_key(database: Oid) -> Key {
    database_key(database, VERSION)
}

/// Where a relation's descriptor is: what a transaction that writes the relation asserts unchanged.
pub fn relation_key(database: Oid, oid: Oid) -> Key {
    numbered(database_key(database, RELATION), u64::from(oid))
}

/// Where a schema's descriptor is.
pub fn schema_key(database: Oid, oid: Oid) -> Key {
    numbered(database_key(database, SCHEMA), u64::from(oid))
}

/// Where a table's statistics are.
pub fn statistics_key(database: Oid, table: Oid) -> Key {
    numbered(database_key(database, STATISTICS), u64::from(table))
}

/// Where a function's descriptor is.
pub fn function_key(database: Oid, oid: Oid) -> Key {
    numbered(database_key(database, FUNCTION), u64::from(oid))
}

/// Where a sequence's value is.
pub fn sequence_key(value_id: u64) -> Key {
    numbered(kind_key(SEQUENCE), value_id)
}

/// Where the counter of hidden row ids is, by the primary index's id.
pub fn row_id_key(primary_index: u64) -> Key {
    numbered(kind_key(ROW_IDS), primary_index)
}

/// A counter's step: from `start` upwards, `count` values at once.
pub fn counter_step(start: i64, count: u32) -> SequenceStep {
    SequenceStep { start, increment: 1, min: 0, max: i64::MAX, cycle: false, count }
}

/// A new object id.
pub async fn new_oid(db: &Db) -> Result<Oid, KvError> {
    let (value, _) = db.sequence_next(kind_key(OBJECT_IDS), counter_step(i64::from(super::FIRST_USER_OID), 1)).await?;
    Oid::try_from(value).map_err(|_| KvError::SequenceExhausted)
}

/// A new index id.
pub async fn new_index_id(db: &Db) -> Result<u64, KvError> {
    let (value, _) = db.sequence_next(kind_key(INDEX_IDS), counter_step(FIRST_USER_INDEX, 1)).await?;
    u64::try_from(value).map_err(|_| KvError::SequenceExhausted)
}

pub(super) fn version_value(version: u64) -> Vec<u8> {
    let mut builder = RowBuilder::new();
    builder.column(|out| row_codec::encode_column(&Datum::Int8(version as i64), out));
    builder.finish()
}

fn read_version(value: &[u8]) -> Option<u64> {
    let Column::Bytes(bytes) = RowView::new(value).ok()?.column(0) else { return None };
    match row_codec::decode_column(bytes, DataType::INT8) {
        Ok(Datum::Int8(version)) => u64::try_from(version).ok(),
        _ => None,
    }
}

/// The version of a database's catalog in a transaction; 1 before the first DDL. With a lock it is the newest, and stays.
pub async fn version(txn: &mut Txn, database: Oid, lock: Option<LockStrength>) -> Result<u64, KvError> {
    version_at(txn, version_key(database), lock).await
}

pub(super) async fn version_at(txn: &mut Txn, key: Key, lock: Option<LockStrength>) -> Result<u64, KvError> {
    let options = ReadOptions { columns: ColumnSet::NONE, lock, ..ReadOptions::default() };
    let row = txn.get_one(key, &options).await?;
    Ok(row.and_then(|row| read_version(&row.value)).unwrap_or(1))
}

/// Everything that is stored, over a base that holds the builtin relations. Reads at the transaction's snapshot, its own changes included.
pub async fn load(txn: &mut Txn, base: &CatalogBuilder) -> Result<Arc<Catalog>, SqlError> {
    let mut builder = base.clone();
    let database = base.catalog().database_oid();
    let version = version(txn, database, None).await;
    builder.set_version(version.map_err(|error| super::super::exec::kv_error(error, base.catalog()))?);
    for (kind, read) in [(SCHEMA, put_schema as Reader), (RELATION, put_relation), (STATISTICS, put_statistics), (FUNCTION, put_function)] {
        for (number, value) in numbered_rows(txn, database_key(database, kind), base.catalog()).await? {
            read(&mut builder, number, &value)?;
        }
    }
    Ok(builder.build())
}

/// All rows below a key that is followed by a number.
pub(super) async fn numbered_rows(txn: &mut Txn, prefix: Key, catalog: &Catalog) -> Result<Vec<(Oid, Vec<u8>)>, SqlError> {
    let mut rows = Vec::new();
    let skipped = prefix.as_bytes().len();
    let mut rest = Some(Span::prefix(prefix));
    while let Some(span) = rest {
        let options = ScanOptions {
            read: ReadOptions { columns: ColumnSet::NONE, ..ReadOptions::default() },
            reverse: false,
            limit: Limit::Unlimited,
        };
        let page = txn.scan(span, &options).await.map_err(|error| super::super::exec::kv_error(error, catalog))?;
        rows.extend(page.rows.iter().map(|row| (oid_of(row.key.get(skipped..).unwrap_or_default()), row.value.to_vec())));
        rest = page.resume;
    }
    Ok(rows)
}

/// Does the database hold anything that a new one would not?
pub async fn is_empty(txn: &mut Txn, database: Oid, catalog: &Catalog) -> Result<bool, SqlError> {
    for kind in [SCHEMA, RELATION, FUNCTION] {
        if !numbered_rows(txn, database_key(database, kind), catalog).await?.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The deletion of everything that a database's catalog holds.
pub async fn erase(txn: &mut Txn, database: Oid, catalog: &Catalog) -> Result<Vec<Write>, SqlError> {
    let mut writes = Vec::new();
    for kind in [SCHEMA, RELATION, STATISTICS, FUNCTION] {
        let prefix = database_key(database, kind);
        let rows = numbered_rows(txn, prefix.clone(), catalog).await?;
        writes.extend(rows.into_iter().map(|(oid, _)| Write::Delete(numbered(prefix.clone(), u64::from(oid)))));
    }
    writes.push(Write::Delete(version_key(database)));
    Ok(writes)
}

type Reader = fn(&mut CatalogBuilder, Oid, &[u8]) -> Result<(), SqlError>;

pub(super) fn parsed<T: serde::de::DeserializeOwned>(value: &[u8]) -> Result<T, SqlError> {
    serde_json::from_slice(value).map_err(|e| SqlError::new(SqlState::DATA_CORRUPTED, format!("a stored definition cannot be read: {e}")))
}

fn put_schema(builder: &mut CatalogBuilder, oid: Oid, value: &[u8]) -> Result<(), SqlError> {
    if value.is_empty() {
        builder.drop_schema_by_oid(oid);
        return Ok(());
    }
    builder.put_schema(parsed::<SchemaDescriptor>(value)?);
    Ok(())
}

fn put_relation(builder: &mut CatalogBuilder, _: Oid, value: &[u8]) -> Result<(), SqlError> {
    builder.put_table(parsed::<TableDescriptor>(value)?);
    Ok(())
}

fn put_function(builder: &mut CatalogBuilder, _: Oid, value: &[u8]) -> Result<(), SqlError> {
    builder.put_function(parsed::<FunctionDescriptor>(value)?);
    Ok(())
}

fn put_statistics(builder: &mut CatalogBuilder, oid: Oid, value: &[u8]) -> Result<(), SqlError> {
    builder.put_statistics(oid, parsed::<TableStatistics>(value)?);
    Ok(())
}

fn oid_of(number: &[u8]) -> Oid {
    number.try_into().map(u64::from_be_bytes).unwrap_or_default() as Oid
}

/// A definition as it is stored.
pub(super) fn json<T: serde::Serialize>(definition: &T) -> Result<Vec<u8>, SqlError> {
    serde_json::to_vec(definition).map_err(|e| SqlError::new(SqlState::INTERNAL_ERROR, format!("a definition cannot be written: {e}")))
}

/// One change of the catalog, to be written.
#[derive(Clone, Debug)]
#[allow(missing_docs, clippy::large_enum_variant)] // a handful of them exist at a time
pub enum Change {
    PutSchema(SchemaDescriptor),
    DropSchema(Oid, String),
    PutRelation(TableDescriptor),
    DropRelation(Oid),
    PutStatistics(Oid, TableStatistics),
    PutFunction(FunctionDescriptor),
    DropFunction(Oid),
}

impl Change {
    fn write(&self, database: Oid) -> Result<Write, SqlError> {
        let put = |key, value: Vec<u8>| Write::Put(key, value.into(), LockStrength::Update);
        Ok(match self {
            Change::PutSchema(schema) => put(schema_key(database, schema.oid), json(schema)?),
            // `public` is there without being stored: that it is gone must be.
            Change::DropSchema(oid, _) if *oid < FIRST_USER_OID => put(schema_key(database, *oid), Vec::new()),
            Change::DropSchema(oid, _) => Write::Delete(schema_key(database, *oid)),
            Change::PutRelation(table) => put(relation_key(database, table.oid), json(table)?),
            Change::DropRelation(oid) => Write::Delete(relation_key(database, *oid)),
            Change::PutFunction(function) => put(function_key(database, function.oid), json(function)?),
            Change::DropFunction(oid) => Write::Delete(function_key(database, *oid)),
            Change::PutStatistics(oid, statistics) => put(statistics_key(database, *oid), json(statistics)?),
        })
    }

    fn apply(&self, builder: &mut CatalogBuilder) {
        match self {
            Change::PutSchema(schema) => builder.put_schema(schema.clone()),
            Change::DropSchema(_, name) => builder.drop_schema(name),
            Change::PutRelation(table) => builder.put_table(table.clone()),
            Change::DropRelation(oid) => builder.drop_relation(*oid),
            Change::PutFunction(function) => builder.put_function(function.clone()),
            Change::DropFunction(oid) => builder.drop_function(*oid),
            Change::PutStatistics(oid, statistics) => builder.put_statistics(*oid, statistics.clone()),
        }
    }
}

/// Writes changes and the next version, in one batch; gives the catalog as the transaction sees it from now on.
pub async fn write(txn: &mut Txn, catalog: &Catalog, changes: &[Change]) -> Result<Arc<Catalog>, SqlError> {
    let mut builder = catalog.edit();
    let database = catalog.database_oid();
    let mut writes = changes.iter().map(|change| change.write(database)).collect::<Result<Vec<_>, _>>()?;
    changes.iter().for_each(|change| change.apply(&mut builder));
    let version = builder.catalog().version();
    writes.push(Write::Put(version_key(database), version_value(version).into(), LockStrength::Update));
    txn.write(writes).await.map_err(|e| super::super::exec::kv_error(e, catalog))?;
    Ok(builder.build())
}

/// A session's catalog after changes of its temporary objects, which are not written anywhere.
pub fn apply(catalog: &Catalog, schema: Option<&Arc<SchemaDescriptor>>, changes: &[Change]) -> Arc<Catalog> {
    let mut builder = catalog.edit();
    builder.set_version(catalog.version());
    if let Some(schema) = schema {
        builder.put_temporary_schema(SchemaDescriptor::clone(schema));
    }
    changes.iter().for_each(|change| change.apply(&mut builder));
    builder.build()
}

/// A catalog with the time at which it was true.
#[derive(Clone, Debug)]
pub struct CatalogAt {
    /// The catalog.
    pub catalog: Arc<Catalog>,
    /// Definitions newer than this are not in it.
    pub ts: Timestamp,
}

/// The newest catalog that some session has read, shared by all.
pub struct DescriptorCache {
    base: CatalogBuilder,
    newest: RwLock<Option<CatalogAt>>,
}

impl DescriptorCache {
    /// An empty cache; `base` holds the builtin relations.
    pub fn new(base: CatalogBuilder) -> DescriptorCache {
        DescriptorCache { base, newest: RwLock::new(None) }
    }

    /// The catalog at the transaction's snapshot: one `Get`, and a load when somebody changed it. (A transaction with definitions of its own
    /// uses [`crate::exec::TxnState::catalog`] instead.)
    pub async fn current(&self, txn: &mut Txn) -> Result<CatalogAt, SqlError> {
        let version = version(txn, self.base.catalog().database_oid(), None).await;
        let version = version.map_err(|e| super::super::exec::kv_error(e, self.base.catalog()))?;
        if let Some(known) = self.known(version) {
            return Ok(known);
        }
        let at = CatalogAt { ts: txn.read_ts(), catalog: load(txn, &self.base).await? };
        let mut newest = self.newest.write();
        // A refresh while loading may have moved the snapshot: then the time noted is earlier than it could be, which only asserts more.
        if newest.as_ref().is_none_or(|n| n.catalog.version() < at.catalog.version()) {
            *newest = Some(at.clone());
        }
        Ok(at)
    }

    fn known(&self, version: u64) -> Option<CatalogAt> {
        self.newest.read().as_ref().filter(|at| at.catalog.version() == version).cloned()
    }

    /// The newest catalog, whatever the snapshot: for those who have no transaction.
    pub fn newest(&self) -> Option<CatalogAt> {
        self.newest.read().clone()
    }
}

impl std::fmt::Debug for DescriptorCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let version = self.newest.read().as_ref().map(|at| at.catalog.version());
        f.debug_struct("DescriptorCache").field("version", &version).finish_non_exhaustive()
    }
}
