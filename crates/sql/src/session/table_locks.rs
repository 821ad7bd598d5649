//! Locks on relations, taken before a statement begins.
//!
//! 1. A plan says what it needs ([`StatementPlan::table_locks`]). Ordinary statements take it from the session's own list, without waiting.
//! 2. Who has to wait looks at the catalog again afterwards: what was waited for may have another definition now, or be gone. The
//!    statement is then planned anew, which may need other locks, and so on until nothing changes ([`REPLANS_MAX`]).
//! 3. The snapshot is taken later, so that it shows what was waited for.
//!
//! Locks stay to the transaction's end, or to the rollback to an earlier savepoint.

use super::Session;
use super::plan_cache::CachedStatement;
use super::statement::with_timeout;
use crate::ast::{LockTable, ParsedStatement, Statement, TableLockMode};
use crate::bind::{bind, mentioned_relations};
use crate::catalog::{Catalog, FIRST_USER_OID, Oid, RelationKind};
use crate::error::{SqlError, SqlState};
use crate::exec::lock_error;
use crate::locks::{Level, LockTag, Patience, TableLock};
use crate::plan::{PlanSettings, StatementPlan, plan_statement};
use std::sync::Arc;
use std::time::Instant;

/// How often a statement is planned anew because a definition changed while it waited.
const REPLANS_MAX: u32 = 100;

impl Session {
    /// Locks what a planned statement touches; gives the plan that fits the definitions as they are then.
    pub(super) async fn lock_plan(&mut self, mut cached: Arc<CachedStatement>) -> Result<Arc<CachedStatement>, SqlError> {
        for _ in 0..REPLANS_MAX {
            let Some(plan) = &cached.plan else { return Ok(cached) };
            if self.lock_fitting(plan).await? {
                return Ok(cached);
            }
            cached = self.prepare_cached(&cached.text, &cached.declared, || Ok(cached.parsed.clone()))?;
        }
        Err(definition_changed())
    }

    /// As [`Session::lock_plan`], where the client knows the statement's columns and parameters already.
    pub(super) async fn lock_promised_plan(&mut self, cached: Arc<CachedStatement>) -> Result<Arc<CachedStatement>, SqlError> {
        let promised = cached.plan.clone();
        let locked = self.lock_plan(cached).await?;
        match (&promised, &locked.plan) {
            (Some(old), Some(new)) if !Arc::ptr_eq(old, new) && !keeps_promise(old, new) => {
                Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "cached plan must not change result type"))
            }
            _ => Ok(locked),
        }
    }

    /// Takes locks one after the other, waiting where somebody is in the way. `waits` is false for NOWAIT.
    pub(super) async fn lock_relations(&mut self, wanted: &[TableLock], waits: bool) -> Result<(), SqlError> {
        let settings = self.settings();
        let Some(txn) = &self.transaction.txn else { return Err(super::transaction::failed_block()) };
        let patience = Patience { txn: txn.id(), timeout: settings.lock_timeout, waits };
        let started = Instant::now();
        let locks = Arc::clone(&self.locks);
        let handle = Arc::clone(&self.handle);
        let database = Arc::clone(&self.database);
        let all = async {
            for lock in wanted {
                let tag = LockTag::Relation(lock.relation);
                locks.acquire(tag, lock.mode, Level::Transaction, patience).await.map_err(|error| {
                    let catalog = Arc::clone(&database.catalog.load().catalog);
                    let name = catalog.table(lock.relation).map(|table| table.name.clone());
                    lock_error(error, name.as_deref(), &catalog)
                })?;
            }
            Ok(())
        };
        let cancellable = async {
            tokio::select! {
                biased;
                result = all => result,
                reason = handle.cancel.cancelled() => Err(SqlError::from(reason)),
            }
        };
        let result = with_timeout(settings.statement_timeout, &handle, cancellable).await;
        self.lock_wait += started.elapsed();
        if let Some(txn) = &mut self.transaction.txn {
            // What the last holder committed must be seen, even if it is not on disk yet.
            txn.see_at_least(self.cluster.db.newest());
        }
        result
    }

    /// Is a plan of that catalog version good, now that its relations are locked? A transaction that pins its catalog goes on with
    /// the old definitions, unless the rows behind them are gone.
    fn fits_definitions(&mut self, relations: &[Oid], version: u64) -> Result<bool, SqlError> {
        if self.transaction.state.catalog.is_some() {
            return Ok(true);
        }
        let newest = self.database.catalog.load();
        if newest.catalog.version() == version {
            return Ok(true);
        }
        let Some(pinned) = self.transaction.pinned_catalog() else { return Ok(false) };
        if self.transaction.statements == 0 {
            drop(newest);
            self.transaction.unpin_catalog();
            return Ok(false);
        }
        if relations.iter().any(|oid| is_gone(*oid, &pinned, &newest.catalog)) {
            return Err(definition_changed());
        }
        Ok(true)
    }

    /// Plans a statement that is run by itself. When it does not fit the definitions while somebody changes one of them, his end is waited
    /// for, and it is planned again.
    pub(super) async fn prepare_current(&mut self, text: &str, parsed: &ParsedStatement) -> Result<Arc<CachedStatement>, SqlError> {
        for _ in 0..REPLANS_MAX {
            let error = match self.prepare_cached(text, &[], || Ok(parsed.clone())) {
                Ok(cached) => return Ok(cached),
                Err(error) => error,
            };
            let scope = self.scope();
            let mentioned = mentioned_relations(&parsed.statement, &scope.catalog, &scope.plan_settings, &[]);
            let reads = mentioned.into_iter().filter(|oid| *oid >= FIRST_USER_OID);
            let wanted: Vec<TableLock> = reads.map(|relation| TableLock { relation, mode: TableLockMode::AccessShare }).collect();
            if self.locks.try_fast(&wanted) {
                return Err(error);
            }
            self.lock_relations(&wanted, true).await?;
            self.transaction.unpin_if_new();
            if self.current_catalog().0.version() == scope.catalog.version() {
                return Err(error);
            }
        }
        Err(definition_changed())
    }

    /// Plans a statement outside of the cache, and locks what it touches.
    pub(super) async fn plan_and_lock(&mut self, statement: &Statement) -> Result<Arc<StatementPlan>, SqlError> {
        for _ in 0..REPLANS_MAX {
            let scope = self.scope();
            let plan = Arc::new(plan_statement(statement, &scope.catalog, &scope.plan_settings, &[])?);
            if self.lock_fitting(&plan).await? {
                return Ok(plan);
            }
        }
        Err(definition_changed())
    }

    /// Locks what a plan touches; false when it must be planned anew.
    pub(super) async fn lock_fitting(&mut self, plan: &StatementPlan) -> Result<bool, SqlError> {
        if !self.locks.try_fast(&plan.table_locks) {
            self.lock_relations(&plan.table_locks, true).await?;
        }
        self.fits_definitions(&plan.relations, plan.catalog_version)
    }

    /// LOCK TABLE.
    pub(super) async fn lock_table(&mut self, lock: &LockTable) -> Result<(), SqlError> {
        self.require_block("LOCK TABLE")?;
        for table in &lock.tables {
            let mut before = None;
            loop {
                let scope = self.scope();
                let path = &scope.plan_settings.search_path;
                if table.catalog.as_ref().is_some_and(|database| database != scope.catalog.database()) {
                    return Err(crate::bind::in_other_database(table).nowhere());
                }
                let found = scope.catalog.resolve(table.schema.as_deref(), &table.name, path);
                let relation = found.map(|relation| Arc::clone(relation.descriptor()));
                let relation = relation.ok_or_else(|| undefined_table(&table.name).at(table.pos))?;
                if before == Some(relation.oid) {
                    break;
                }
                if relation.kind == RelationKind::Sequence {
                    return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("cannot lock relation \"{}\"", relation.name))
                        .detail("This operation is not supported for sequences."));
                }
                before = Some(relation.oid);
                let wanted = with_relations_of_view(relation.oid, lock.mode, &scope.catalog, &scope.plan_settings);
                self.lock_relations(&wanted, !lock.nowait).await?;
                self.transaction.unpin_if_new();
            }
        }
        Ok(())
    }
}

fn definition_changed() -> SqlError {
    crate::exec::serialization("could not serialize access due to a concurrent change of a table's definition")
}

/// A relation, and what a view reads besides.
fn with_relations_of_view(oid: Oid, mode: TableLockMode, catalog: &Catalog, settings: &PlanSettings) -> Vec<TableLock> {
    let mut wanted = vec![TableLock { relation: oid, mode }];
    let view = catalog.table(oid).filter(|table| table.kind == RelationKind::View);
    if let Some(query) = view.and_then(|view| crate::parse::parse_query(view.view_query.as_deref()?).ok())
        && let Ok(bound) = bind(&Statement::Query(Box::new(query)), catalog, settings, &[])
    {
        wanted.extend(bound.relations.iter().filter(|relation| **relation != oid).map(|relation| TableLock { relation: *relation, mode }));
    }
    wanted
}

/// The rows that a pinned definition speaks of are somewhere else by now, or nowhere.
fn is_gone(oid: Oid, pinned: &Catalog, newest: &Catalog) -> bool {
    let Some(old) = pinned.table(oid).filter(|table| table.kind == RelationKind::Table) else { return false };
    let Some(new) = newest.table(oid) else { return true };
    old.version != new.version && old.all_indexes().any(|index| !new.all_indexes().any(|other| other.index_id == index.index_id))
}

fn keeps_promise(old: &StatementPlan, new: &StatementPlan) -> bool {
    let columns = old.output.len() == new.output.len() && old.output.iter().zip(&new.output).all(|(a, b)| a.ty == b.ty && a.name == b.name);
    columns && old.param_types == new.param_types
}

pub(super) fn undefined_table(name: &str) -> SqlError {
    SqlError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{name}\" does not exist"))
}
