//! Temporary objects: which definitions concern only them, where they go, and what happens to them at a transaction's end.
//!
//! Their definitions stay in the session ([`crate::catalog::temporary`]), so a statement that concerns only them takes no lock on the catalog's version
//! and writes none; one that concerns both kinds (DROP TABLE ... CASCADE with a temporary view above it) does both.

use super::Ddl;
use crate::ast::{ObjectKind, ObjectName, OnCommit, Statement};
use crate::catalog::store::Change;
use crate::catalog::{Catalog, Oid, Relation, SchemaDescriptor, TEMPORARY_ALIAS, TEMPORARY_PREFIX, TableDescriptor, TemporaryObjects};
use crate::error::{SqlError, SqlState};
use crate::exec::ExecContext;
use std::sync::Arc;
use tidelock_base::Span;
use tidelock_kvapi::Limit;
use tidelock_kvclient::ScanOptions;

/// Does a definition concern nothing but the session's temporary objects? A wrong `false` costs only a lock.
pub(super) fn is_temporary(statement: &Statement, catalog: &Catalog, search_path: &[String]) -> bool {
    let relation = |name: &ObjectName| {
        let found = catalog.resolve(name.schema.as_deref(), &name.name, search_path).map(Relation::descriptor);
        found.is_some_and(|table| table.temporary)
    };
    let index = |name: &ObjectName| {
        let found = catalog.resolve_index(name.schema.as_deref(), &name.name, search_path);
        found.is_some_and(|(table, _)| table.temporary)
    };
    let new = |temporary: bool, name: &ObjectName| temporary || name.schema.as_deref() == Some(TEMPORARY_ALIAS);
    match statement {
        Statement::CreateTable(create) => new(create.temporary, &create.name),
        Statement::CreateSequence(create) => new(create.temporary, &create.name),
        Statement::CreateView(create) => new(create.temporary, &create.name),
        Statement::CreateIndex(create) => relation(&create.table),
        Statement::AlterTable(alter) if alter.kind == ObjectKind::Index => index(&alter.name),
        Statement::AlterTable(alter) => relation(&alter.name),
        Statement::AlterSequence(alter) => relation(&alter.name),
        Statement::Drop(drop) => match drop.kind {
            ObjectKind::Table | ObjectKind::View | ObjectKind::Sequence => drop.names.iter().all(relation),
            ObjectKind::Index => drop.names.iter().all(index),
            _ => false,
        },
        Statement::Truncate(truncate) => truncate.tables.iter().all(relation),
        Statement::Analyze { targets, .. } => !targets.is_empty() && targets.iter().all(|target| relation(&target.table)),
        Statement::Discard(_) => true,
        _ => false,
    }
}

impl Ddl<'_, '_> {
    /// The schema of a new relation, which is the temporary one if it is to be temporary or is put there by name.
    pub(super) async fn schema_of_new(&mut self, name: &ObjectName, temporary: bool) -> Result<Arc<SchemaDescriptor>, SqlError> {
        let own = self.catalog().temporary_schema().map(|schema| schema.name.clone());
        match name.schema.as_deref() {
            Some(schema) if schema == TEMPORARY_ALIAS || own.as_deref() == Some(schema) => self.temporary_schema().await,
            Some(_) if temporary => {
                let message = "cannot create temporary relation in non-temporary schema";
                Err(SqlError::new(SqlState::INVALID_TABLE_DEFINITION, message).at(name.pos))
            }
            None if temporary => self.temporary_schema().await,
            _ => self.schema_for(name),
        }
    }

    /// The schema of a new type, which is never the temporary one: there are no temporary types.
    pub(super) fn schema_of_type(&self, name: &ObjectName) -> Result<Arc<SchemaDescriptor>, SqlError> {
        let temporary = || SqlError::unsupported("a type in a temporary schema").at(name.pos);
        if name.schema.as_deref() == Some(TEMPORARY_ALIAS) {
            return Err(temporary());
        }
        let schema = self.schema_for(name)?;
        if self.is_temporary_schema(&schema.name) { Err(temporary()) } else { Ok(schema) }
    }

    /// The session's temporary schema, which comes into being with the first object in it.
    async fn temporary_schema(&mut self) -> Result<Arc<SchemaDescriptor>, SqlError> {
        if let Some(schema) = self.catalog().temporary_schema() {
            return Ok(Arc::clone(schema));
        }
        let oid = self.new_oid().await?;
        let name = format!("{TEMPORARY_PREFIX}{}", self.ctx.session.backend_pid());
        let owner = self.ctx.plan_settings.user.clone();
        let schema = SchemaDescriptor { oid, name, owner, comment: None, acl: None, enums: Vec::new(), domains: Vec::new() };
        self.builder.put_temporary_schema(schema.clone());
        Ok(Arc::new(schema))
    }

    /// Whether relations of the schema are temporary.
    pub(super) fn is_temporary_schema(&self, schema: &str) -> bool {
        self.catalog().temporary_schema().is_some_and(|own| own.name == schema)
    }

    /// Whether a change is the session's business alone.
    pub(super) fn concerns_temporary(&self, change: &Change) -> bool {
        let is_temporary = |oid: Oid| {
            let table = self.catalog().table(oid).or_else(|| self.ctx.catalog.table(oid));
            table.is_some_and(|table| table.temporary)
        };
        match change {
            Change::PutRelation(table) => table.temporary,
            Change::DropRelation(oid) | Change::PutStatistics(oid, _) => is_temporary(*oid),
            Change::PutSchema(_) | Change::DropSchema(..) | Change::PutFunction(_) | Change::DropFunction(_) => false,
        }
    }

    /// Relations that refer to each other outlive a session both or not at all.
    pub(super) fn check_foreign_key_persistence(child: &TableDescriptor, parent: &TableDescriptor) -> Result<(), SqlError> {
        let message = match (child.temporary, parent.temporary) {
            (true, false) => "constraints on temporary tables may reference only temporary tables",
            (false, true) => "constraints on permanent tables may reference only permanent tables",
            _ => return Ok(()),
        };
        Err(SqlError::new(SqlState::INVALID_TABLE_DEFINITION, message))
    }

    /// DISCARD TEMPORARY.
    pub(super) fn discard_temporary(&mut self) -> Result<(), SqlError> {
        let all: Vec<Oid> = self.catalog().relations().map(Relation::descriptor).filter(|table| table.temporary).map(|t| t.oid).collect();
        self.remove_all(&all)
    }

    fn remove_all(&mut self, oids: &[Oid]) -> Result<(), SqlError> {
        for oid in oids {
            // It may have gone with another one.
            if self.catalog().relation(*oid).is_some() {
                self.remove_relation(*oid, true)?;
            }
        }
        Ok(())
    }

    /// New, empty indexes for those of the tables that have rows.
    async fn empty(&mut self, oids: &[Oid]) -> Result<(), SqlError> {
        for oid in oids {
            let Some(table) = self.catalog().table(*oid).map(|table| TableDescriptor::clone(table)) else { continue };
            let options = ScanOptions { limit: Limit::Keys(1), ..ScanOptions::default() };
            let span = Span::index(crate::exec::table_keys::index_id(&table.primary));
            let page = self.ctx.txn.scan(span, &options).await.map_err(|e| self.ctx.kv(e))?;
            if !page.rows.is_empty() {
                self.renew(table).await?;
            }
        }
        Ok(())
    }
}

/// ON COMMIT: run when a transaction is about to commit, after its deferred checks.
pub async fn on_commit(objects: &TemporaryObjects, ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
    let (dropped, emptied) = (objects.at_commit(OnCommit::Drop), objects.at_commit(OnCommit::DeleteRows));
    if dropped.is_empty() && emptied.is_empty() {
        return Ok(());
    }
    objects.check_emptied(&emptied, &dropped)?;
    let told = ctx.notices.len();
    let mut ddl = Ddl::begin_temporary(ctx);
    ddl.remove_all(&dropped)?;
    ddl.empty(&emptied).await?;
    // The client is not told what goes with a table that goes by itself.
    ddl.ctx.notices.truncate(told);
    ddl.finish().await
}
