//! Temporary objects: what one session has defined for itself.
//!
//! Their rows lie in key-value ranges like any other table's, but their definitions are never stored: a session keeps them in memory
//! ([`TemporaryObjects`]) and lays them over the shared catalog ([`TemporaryObjects::over`]). So they cost other sessions nothing (no catalog version moves,
//! no plan of theirs is made anew, no lock on definitions is taken), and they cannot outlive their session: data that no definition names is dropped when
//! the server starts, and what a session leaves behind is given up at its end.
//!
//! The laid-over catalog has the version of the one below, so whoever compares versions asks whether *shared* definitions have moved. What was planned
//! with temporary objects in sight is kept apart in the plan cache by their [`TemporaryObjects::id`].

use super::{Catalog, Oid, RelationKind, SchemaDescriptor, TableDescriptor, TableStatistics};
use crate::ast::OnCommit;
use crate::error::{SqlError, SqlState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The name by which every session knows its own temporary schema.
pub const TEMPORARY_ALIAS: &str = "pg_temp";

/// What the names of all temporary schemas begin with; a session's number follows.
pub const TEMPORARY_PREFIX: &str = "pg_temp_";

/// Every state of every session's temporary objects has a number of its own; 0 is that of a session without any.
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// A session's temporary schema and what is in it. Immutable: a change makes a new one, so that a rollback has the old one back.
#[derive(Clone, Debug)]
pub struct TemporaryObjects {
    id: u64,
    schema: Arc<SchemaDescriptor>,
    relations: Vec<Arc<TableDescriptor>>,
    statistics: Vec<(Oid, Arc<TableStatistics>)>,
}

impl TemporaryObjects {
    /// The temporary objects in a session's catalog, if it has a temporary schema.
    pub fn of(catalog: &Catalog) -> Option<TemporaryObjects> {
        let schema = Arc::clone(catalog.temporary_schema()?);
        let descriptors = catalog.relations().map(|relation| relation.descriptor());
        let relations: Vec<_> = descriptors.filter(|table| table.temporary).map(Arc::clone).collect();
        let statistics = relations.iter().filter_map(|table| Some((table.oid, Arc::clone(catalog.statistics(table.oid)?))));
        let statistics = statistics.collect();
        Some(TemporaryObjects { id: NEXT_ID.fetch_add(1, Ordering::Relaxed), schema, relations, statistics })
    }

    /// Different for every state of every session's objects.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Are there relations, and not only the schema?
    pub fn is_empty(&self) -> bool {
        self.relations.is_empty()
    }

    /// The catalog that the session sees: these objects over the shared ones.
    pub fn over(&self, shared: &Catalog) -> Arc<Catalog> {
        let mut builder = shared.edit();
        builder.set_version(shared.version());
        builder.put_temporary_schema(SchemaDescriptor::clone(&self.schema));
        self.relations.iter().for_each(|table| builder.put_table(TableDescriptor::clone(table)));
        self.statistics.iter().for_each(|(oid, statistics)| builder.put_statistics(*oid, TableStatistics::clone(statistics)));
        builder.build()
    }

    /// Tables that do something at the end of a transaction, the newest first: what refers to another was made after it.
    pub fn at_commit(&self, action: OnCommit) -> Vec<Oid> {
        let mut oids: Vec<Oid> = self.relations.iter().filter(|table| table.on_commit == action).map(|table| table.oid).collect();
        oids.sort_unstable_by(|a, b| b.cmp(a));
        oids
    }

    /// A table that loses its rows at commit may be referred to only by tables that lose theirs, too.
    pub fn check_emptied(&self, emptied: &[Oid], dropped: &[Oid]) -> Result<(), SqlError> {
        let goes = |oid: Oid| emptied.contains(&oid) || dropped.contains(&oid);
        for child in self.relations.iter().filter(|table| !goes(table.oid)) {
            let Some(key) = child.foreign_keys.iter().find(|key| emptied.contains(&key.parent)) else { continue };
            let parent = self.relations.iter().find(|table| table.oid == key.parent).map_or("", |table| table.name.as_str());
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "unsupported ON COMMIT and foreign key combination")
                .detail(format!("Table \"{}\" references \"{parent}\", but they do not have the same ON COMMIT setting.", child.name)));
        }
        Ok(())
    }

    /// Storage tables that hold the rows.
    pub fn index_ids(&self) -> Vec<u64> {
        let tables = self.relations.iter().filter(|table| table.kind == RelationKind::Table);
        tables.flat_map(|table| table.all_indexes().map(|index| index.index_id).collect::<Vec<_>>()).collect()
    }
}
