//! Foreign keys, both ends; and what else a statement owes at its end (deferrable unique constraints, `unique_check`).
//!
//! A statement notes what it did ([`ForeignKeyWork`]), and settles it at its end, as PostgreSQL's triggers do: first what happened to parents (their children are
//! refused, deleted, or changed, which may make more work of both kinds), then the children's parents, looked up in one request per key and locked KEY
//! SHARE, so that they stay. A child or a parent that was committed after our snapshot must not be overlooked: the snapshot moves first (SERIALIZABLE
//! validates its reads instead).
//!
//! INITIALLY DEFERRED constraints are kept in the [`DeferredChecks`] of the transaction and settled by [`run_deferred`].

use super::calls::check_statements;
use super::context::ExecContext;
use super::table_keys::{decode_whole, key_of_values, primary_key, primary_key_of_entry, span_keys};
use super::unique_check::UniqueChecks;
use super::write::{TableWriter, WRITE_ROWS, check_row, constraint_of, duplicate, fill_generated, key_text};
use crate::ast::ReferentialAction;
use crate::bind::{bind_row_expression, bind_scalar};
use crate::catalog::{ForeignKey, IndexDescriptor, IndexState, Oid, TableDescriptor};
use crate::error::{SqlError, SqlState};
use crate::expr::{Expr, eval};
use crate::plan::keys::ConcreteSpan;
use crate::plan::{BoundCheck, CheckKind, GeneratedColumn};
use crate::types::coercion::CastContext;
use crate::types::{DataType, Datum, cast, compare};
use hashbrown::HashMap;
use std::collections::VecDeque;
use std::sync::Arc;
use tidelock_base::row::ColumnSet;
use tidelock_base::{Key, Span};
use tidelock_kvapi::{Isolation, Limit, LockStrength, WaitPolicy};
use tidelock_kvclient::{ReadOptions, ScanOptions};

/// Parents whose children one statement may still have to look after (cascades included).
const PENDING_MAX: usize = 10_000_000;

/// Rows that a scan for children reads in one request.
const CHILD_PAGE_ROWS: u64 = 1000;

/// A parent key that is gone or was changed.
#[derive(Clone, Debug)]
struct ParentEvent {
    constraint: Arc<ForeignKey>,
    old: Vec<Datum>,
    /// The key's new values, if the row is still there.
    new: Option<Vec<Datum>>,
}

/// A child's reference to be looked up.
#[derive(Clone, Debug)]
struct ChildCheck {
    constraint: Arc<ForeignKey>,
    values: Vec<Datum>,
    /// The child's own key, to see at commit whether it is still there.
    child: Key,
}

/// Constraints to check at commit.
#[derive(Clone, Debug, Default)]
pub struct DeferredChecks {
    parents: Vec<ParentEvent>,
    children: Vec<ChildCheck>,
    pub(super) unique: UniqueChecks,
}

impl DeferredChecks {
    /// Nothing to check?
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty() && self.children.is_empty() && self.unique.is_empty()
    }

    /// Takes out what is to be checked now: everything, or the checks of some constraints.
    fn take(&mut self, only: Option<&[Oid]>) -> DeferredChecks {
        let Some(only) = only else { return std::mem::take(self) };
        let (parents, later_parents) = std::mem::take(&mut self.parents).into_iter().partition(|e| only.contains(&e.constraint.oid));
        let (children, later_children) = std::mem::take(&mut self.children).into_iter().partition(|c| only.contains(&c.constraint.oid));
        (self.parents, self.children) = (later_parents, later_children);
        DeferredChecks { parents, children, unique: self.unique.take(Some(only)) }
    }
}

/// What a statement did to parents and children.
#[derive(Default)]
pub(crate) struct ForeignKeyWork {
    parents: VecDeque<ParentEvent>,
    /// By the parent's key, so that a thousand children of one parent are one lookup.
    children: HashMap<Key, ChildCheck>,
    /// Deferrable unique constraints, which are settled first.
    unique: UniqueChecks,
}

fn values_at(row: &[Datum], columns: &[usize]) -> Vec<Datum> {
    columns.iter().map(|c| row.get(*c).cloned().unwrap_or(Datum::Null)).collect()
}

fn is_deferred(constraint: &ForeignKey, ctx: &ExecContext<'_>) -> bool {
    constraint.deferrable && ctx.state.constraint_timing.is_deferred(constraint.oid).unwrap_or(constraint.initially_deferred)
}

impl ForeignKeyWork {
    /// A row was inserted.
    pub(super) fn inserted(&mut self, table: &TableDescriptor, row: &[Datum], ctx: &ExecContext<'_>) -> Result<(), SqlError> {
        self.unique.inserted(table, row)?;
        table.foreign_keys.iter().try_for_each(|constraint| self.child(constraint, table, row, ctx))
    }

    /// A row was updated.
    pub(super) fn updated(&mut self, table: &TableDescriptor, old: &[Datum], new: &[Datum], ctx: &ExecContext<'_>) -> Result<(), SqlError> {
        self.unique.updated(table, old, new)?;
        for constraint in &table.foreign_keys {
            if differ(table, &constraint.child_columns, old, new) {
                self.child(constraint, table, new, ctx)?;
            }
        }
        for constraint in &table.referenced_by {
            if differ(table, &constraint.parent_columns, old, new) {
                self.parent(constraint, old, Some(values_at(new, &constraint.parent_columns)))?;
            }
        }
        Ok(())
    }

    /// A row was deleted.
    pub(super) fn deleted(&mut self, table: &TableDescriptor, old: &[Datum], _: &ExecContext<'_>) -> Result<(), SqlError> {
        self.unique.deleted(table, old)?;
        table.referenced_by.iter().try_for_each(|constraint| self.parent(constraint, old, None))
    }

    fn child(&mut self, constraint: &ForeignKey, table: &TableDescriptor, row: &[Datum], ctx: &ExecContext<'_>) -> Result<(), SqlError> {
        let values = values_at(row, &constraint.child_columns);
        let nulls = values.iter().filter(|v| v.is_null()).count();
        if nulls > 0 {
            if constraint.match_full && nulls < values.len() {
                let detail = "MATCH FULL does not allow mixing of null and nonnull key values.";
                return Err(constraint_of(violation(constraint, table).detail(detail), table, &constraint.name));
            }
            return Ok(());
        }
        let check = ChildCheck { values, child: primary_key(table, row)?, constraint: Arc::new(constraint.clone()) };
        let parent = parent_table(constraint, ctx)?;
        match parent_key(&parent, &check, ctx)? {
            Some(key) => {
                // Deferred checks are about this very child; the others only about its parent.
                self.children.insert(if is_deferred(constraint, ctx) { check.child.clone() } else { key }, check);
            }
            None => return Err(missing_parent(&check, &parent, ctx)),
        }
        Ok(())
    }

    fn parent(&mut self, constraint: &ForeignKey, old: &[Datum], new: Option<Vec<Datum>>) -> Result<(), SqlError> {
        let old = values_at(old, &constraint.parent_columns);
        if old.iter().any(Datum::is_null) {
            return Ok(());
        }
        if self.parents.len() >= PENDING_MAX {
            return Err(SqlError::new(
                SqlState::OUT_OF_MEMORY,
                format!("more than {PENDING_MAX} referenced rows changed in one statement"),
            ));
        }
        self.parents.push_back(ParentEvent { constraint: Arc::new(constraint.clone()), old, new });
        Ok(())
    }

    /// Settles everything: the statement's end.
    pub(super) async fn finish(&mut self, ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
        self.unique.finish(ctx).await?;
        if self.parents.is_empty() && self.children.is_empty() {
            return Ok(());
        }
        if ctx.txn.options().isolation == Isolation::ReadCommitted || !self.parents.is_empty() {
            see_newest(ctx).await?;
        }
        while let Some(event) = self.parents.pop_front() {
            ctx.cancel.check()?;
            let action = if event.new.is_some() { event.constraint.on_update } else { event.constraint.on_delete };
            if action == ReferentialAction::NoAction && is_deferred(&event.constraint, ctx) {
                ctx.state.deferred.parents.push(event);
                continue;
            }
            self.settle_parent(&event, action, ctx).await?;
        }
        let (deferred, checks): (Vec<ChildCheck>, Vec<ChildCheck>) =
            std::mem::take(&mut self.children).into_values().partition(|check| is_deferred(&check.constraint, ctx));
        ctx.state.deferred.children.extend(deferred);
        check_children(checks, ctx).await
    }

    async fn settle_parent(&mut self, event: &ParentEvent, action: ReferentialAction, ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
        let child = child_table(&event.constraint, ctx)?;
        match action {
            ReferentialAction::NoAction if self.still_there(event, ctx).await? => Ok(()),
            ReferentialAction::NoAction | ReferentialAction::Restrict => refuse_children(event, &child, ctx).await,
            ReferentialAction::Cascade => match &event.new {
                None => self.delete_children(event, &child, ctx).await,
                Some(new) => self.change_children(event, &child, NewValues::Given(new), ctx).await,
            },
            ReferentialAction::SetNull => self.change_children(event, &child, NewValues::Null, ctx).await,
            ReferentialAction::SetDefault => self.change_children(event, &child, NewValues::Default, ctx).await,
        }
    }

    /// Another row has the key by now.
    async fn still_there(&self, event: &ParentEvent, ctx: &mut ExecContext<'_>) -> Result<bool, SqlError> {
        let parent = parent_table(&event.constraint, ctx)?;
        let index = parent.index_by_oid(event.constraint.parent_index).unwrap_or(&parent.primary);
        let key = key_of_values(&parent, index, &in_index_order(index, &event.constraint.parent_columns, &event.old))?;
        let options = ReadOptions { columns: ColumnSet::NONE, ..ReadOptions::default() };
        Ok(ctx.txn.get_one(key, &options).await.map_err(|e| ctx.kv(e))?.is_some())
    }

    async fn delete_children(
        &mut self,
        event: &ParentEvent,
        child: &Arc<TableDescriptor>,
        ctx: &mut ExecContext<'_>,
    ) -> Result<(), SqlError> {
        let rows = children_of(event, child, LockStrength::Update, None, ctx).await?;
        rely_on(child, ctx);
        let mut writer = TableWriter::new(child, ctx)?;
        for (at, row) in rows.iter().enumerate() {
            writer.delete(row, &ctx.eval())?;
            self.deleted(child, row, ctx)?;
            if (at + 1) % WRITE_ROWS == 0 {
                writer.flush_in(ctx).await?;
            }
        }
        writer.flush_in(ctx).await.map(drop)
    }

    async fn change_children(
        &mut self,
        event: &ParentEvent,
        child: &Arc<TableDescriptor>,
        values: NewValues<'_>,
        ctx: &mut ExecContext<'_>,
    ) -> Result<(), SqlError> {
        let rows = children_of(event, child, LockStrength::NoKeyUpdate, None, ctx).await?;
        rely_on(child, ctx);
        let mut writer = TableWriter::new(child, ctx)?;
        let rules = RowRules::bind(child, ctx)?;
        let mut pending: Vec<(Vec<Datum>, Vec<Datum>)> = Vec::new();
        for (at, old) in rows.iter().enumerate() {
            let mut new = old.clone();
            for (i, column) in event.constraint.child_columns.iter().enumerate() {
                let value = values.value(i, child, *column, event, ctx)?;
                if let Some(slot) = new.get_mut(*column) {
                    *slot = value;
                }
            }
            fill_generated(&mut new, &rules.generated, &ctx.eval())?;
            check_row(child, &new, &rules.checks, &ctx.eval())?;
            check_statements(child, &new, &rules.checks, ctx).await?;
            writer.update(old, &new, pending.len(), &ctx.eval())?;
            pending.push((old.clone(), new));
            if pending.len() == WRITE_ROWS || at + 1 == rows.len() {
                if let Some(origin) = writer.flush_in(ctx).await? {
                    let row = pending.get(origin.row).map(|(_, new)| new.as_slice()).unwrap_or_default();
                    return Err(duplicate(child, origin.index, row, &ctx.text()));
                }
                for (old, new) in pending.drain(..) {
                    self.updated(child, &old, &new, ctx)?;
                }
            }
        }
        Ok(())
    }
}

/// A reference counts as it is now, not as it was in the snapshot. SERIALIZABLE need not look: its reads are validated at commit.
async fn see_newest(ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
    if ctx.txn.options().isolation != Isolation::Serializable {
        ctx.txn.refresh().await.map_err(|e| ctx.kv(e))?;
    }
    Ok(())
}

/// A cascade writes a table that the statement did not name: its definition matters too.
fn rely_on(table: &TableDescriptor, ctx: &mut ExecContext<'_>) {
    ctx.txn.assert_unchanged(crate::catalog::store::relation_key(ctx.catalog.database_oid(), table.oid), ctx.catalog_ts);
}

/// What a child's columns become.
enum NewValues<'e> {
    Given(&'e [Datum]),
    Null,
    Default,
}

impl NewValues<'_> {
    fn value(
        &self,
        i: usize,
        child: &TableDescriptor,
        column: usize,
        event: &ParentEvent,
        ctx: &ExecContext<'_>,
    ) -> Result<Datum, SqlError> {
        let Some(definition) = child.columns.get(column) else { return Ok(Datum::Null) };
        match self {
            NewValues::Null => Ok(Datum::Null),
            NewValues::Given(values) => {
                let from = parent_type(event, i, ctx)?;
                let value = values.get(i).cloned().unwrap_or(Datum::Null);
                if value.is_null() { Ok(value) } else { cast::cast(value, from, definition.ty, false, &ctx.eval()) }
            }
            NewValues::Default => match &definition.default {
                None => Ok(Datum::Null),
                Some(text) => {
                    let parsed = crate::parse::parse_expression(text)?;
                    let bound = bind_scalar(&parsed, definition.ty, CastContext::Assignment, &ctx.catalog, ctx.plan_settings)?;
                    eval(&bound, &[], &ctx.eval())
                }
            },
        }
    }
}

fn parent_type(event: &ParentEvent, i: usize, ctx: &ExecContext<'_>) -> Result<DataType, SqlError> {
    let parent = parent_table(&event.constraint, ctx)?;
    let column = event.constraint.parent_columns.get(i).and_then(|p| parent.columns.get(*p));
    Ok(column.map_or(DataType::TEXT, |c| c.ty.ty))
}

/// Checks and generated columns of a table, bound.
pub(super) struct RowRules {
    pub(super) generated: Vec<GeneratedColumn>,
    pub(super) checks: Vec<BoundCheck>,
}

impl RowRules {
    pub(super) fn bind(table: &TableDescriptor, ctx: &ExecContext<'_>) -> Result<RowRules, SqlError> {
        let mut rules = RowRules { generated: Vec::new(), checks: Vec::new() };
        for check in &table.checks {
            let predicate = bind_row_expression(&check.expr, table, Some(Expr::BOOL), &ctx.catalog, ctx.plan_settings)?;
            rules.checks.push(BoundCheck::new(CheckKind::Constraint, check.name.clone(), predicate));
        }
        for (column, definition) in table.columns.iter().enumerate() {
            let Some(text) = definition.generated.as_ref().filter(|_| !definition.dropped) else { continue };
            let value = bind_row_expression(text, table, Some(definition.ty), &ctx.catalog, ctx.plan_settings)?;
            rules.generated.push(GeneratedColumn { column, value });
        }
        Ok(rules)
    }
}

fn differ(table: &TableDescriptor, columns: &[usize], old: &[Datum], new: &[Datum]) -> bool {
    let ty = |c: usize| table.columns.get(c).map_or(DataType::TEXT, |c| c.ty.ty);
    columns.iter().any(|c| match (old.get(*c), new.get(*c)) {
        (Some(a), Some(b)) => !compare::eq_as(ty(*c), a, b),
        _ => true,
    })
}

fn parent_table(constraint: &ForeignKey, ctx: &ExecContext<'_>) -> Result<Arc<TableDescriptor>, SqlError> {
    table_of(constraint.parent, ctx)
}

fn child_table(constraint: &ForeignKey, ctx: &ExecContext<'_>) -> Result<Arc<TableDescriptor>, SqlError> {
    table_of(constraint.child, ctx)
}

fn table_of(oid: u32, ctx: &ExecContext<'_>) -> Result<Arc<TableDescriptor>, SqlError> {
    let missing = || SqlError::new(SqlState::UNDEFINED_TABLE, format!("could not open relation with OID {oid}"));
    ctx.catalog.table(oid).cloned().ok_or_else(missing)
}

/// Values given for `columns`, in the order of the index's key.
fn in_index_order(index: &IndexDescriptor, columns: &[usize], values: &[Datum]) -> Vec<Datum> {
    let value = |c: usize| columns.iter().position(|p| *p == c).and_then(|i| values.get(i)).cloned().unwrap_or(Datum::Null);
    index.key.iter().map(|k| value(k.column)).collect()
}

/// Values brought to the types of the other side's columns; None when one does not fit, so that nothing can match.
fn converted(
    values: &[Datum],
    from: (&TableDescriptor, &[usize]),
    to: (&TableDescriptor, &[usize]),
    ctx: &ExecContext<'_>,
) -> Option<Vec<Datum>> {
    let mut converted = Vec::with_capacity(values.len());
    for (i, value) in values.iter().enumerate() {
        let source = from.0.columns.get(*from.1.get(i)?)?.ty;
        let target = to.0.columns.get(*to.1.get(i)?)?.ty;
        if source.ty == target.ty {
            converted.push(value.clone());
        } else {
            converted.push(cast::cast(value.clone(), source.ty, target.ty.into(), true, &ctx.eval()).ok()?);
        }
    }
    Some(converted)
}

fn parent_key(parent: &TableDescriptor, check: &ChildCheck, ctx: &ExecContext<'_>) -> Result<Option<Key>, SqlError> {
    let constraint = &check.constraint;
    let child = child_table(constraint, ctx)?;
    let Some(values) = converted(&check.values, (&child, &constraint.child_columns), (parent, &constraint.parent_columns), ctx) else {
        return Ok(None);
    };
    let index = parent.index_by_oid(constraint.parent_index).unwrap_or(&parent.primary);
    key_of_values(parent, index, &in_index_order(index, &constraint.parent_columns, &values)).map(Some)
}

fn violation(constraint: &ForeignKey, child: &TableDescriptor) -> SqlError {
    let message = format!("insert or update on table \"{}\" violates foreign key constraint \"{}\"", child.name, constraint.name);
    SqlError::new(SqlState::FOREIGN_KEY_VIOLATION, message)
}

fn missing_parent(check: &ChildCheck, parent: &TableDescriptor, ctx: &ExecContext<'_>) -> SqlError {
    let Ok(child) = child_table(&check.constraint, ctx) else { return super::context::misfit() };
    let key = key_text(&child, &check.constraint.child_columns, &check.values, &ctx.text());
    let error = violation(&check.constraint, &child).detail(format!("{key} is not present in table \"{}\".", parent.name));
    constraint_of(error, &child, &check.constraint.name)
}

/// Looks the parents up and locks them.
async fn check_children(checks: Vec<ChildCheck>, ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
    let options = ReadOptions { columns: ColumnSet::NONE, lock: Some(LockStrength::KeyShare), wait: WaitPolicy::Block };
    for portion in checks.chunks(WRITE_ROWS) {
        let mut keys = Vec::with_capacity(portion.len());
        for check in portion {
            let parent = parent_table(&check.constraint, ctx)?;
            keys.push(parent_key(&parent, check, ctx)?.ok_or_else(|| missing_parent(check, &parent, ctx))?);
        }
        let found = ctx.txn.get(&keys, &options).await.map_err(|e| ctx.kv(e))?;
        let mut rows = Vec::new();
        for (check, row) in portion.iter().zip(found) {
            let parent = parent_table(&check.constraint, ctx)?;
            let Some(row) = row else { return Err(missing_parent(check, &parent, ctx)) };
            let index = parent.index_by_oid(check.constraint.parent_index).unwrap_or(&parent.primary);
            if index.index_id != parent.primary.index_id {
                rows.push((check, primary_key_of_entry(&parent, &row.value)?));
            }
        }
        // Through a unique index: the row itself is what others lock.
        let keys: Vec<Key> = rows.iter().map(|(_, key)| key.clone()).collect();
        let found = ctx.txn.get(&keys, &options).await.map_err(|e| ctx.kv(e))?;
        for ((check, _), row) in rows.iter().zip(found) {
            if row.is_none() {
                return Err(missing_parent(check, &*parent_table(&check.constraint, ctx)?, ctx));
            }
        }
    }
    Ok(())
}

/// NO ACTION and RESTRICT: there must be no child.
async fn refuse_children(event: &ParentEvent, child: &Arc<TableDescriptor>, ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
    if children_of(event, child, LockStrength::KeyShare, Some(1), ctx).await?.is_empty() {
        return Ok(());
    }
    let parent = parent_table(&event.constraint, ctx)?;
    let name = &event.constraint.name;
    let message =
        format!("update or delete on table \"{}\" violates foreign key constraint \"{name}\" on table \"{}\"", parent.name, child.name);
    let key = key_text(&parent, &event.constraint.parent_columns, &event.old, &ctx.text());
    let error =
        SqlError::new(SqlState::FOREIGN_KEY_VIOLATION, message).detail(format!("{key} is still referenced from table \"{}\".", child.name));
    Err(constraint_of(error, child, name))
}

/// An index of the child whose key begins with the constraint's columns, in any order; and those columns in its order.
fn child_index<'t>(child: &'t TableDescriptor, columns: &[usize]) -> Option<&'t IndexDescriptor> {
    child.all_indexes().find(|index| {
        let first = index.key.get(..columns.len());
        let fits = |key: &[crate::catalog::IndexColumn]| columns.iter().all(|c| key.iter().any(|k| k.column == *c));
        index.state == IndexState::Ready && index.predicate.is_none() && first.is_some_and(fits)
    })
}

/// How often children are looked for anew because one moved away while it was waited for.
const CHILD_SCANS_MAX: usize = 100;

/// What identifies a parent's children.
struct Children<'c> {
    child: &'c Arc<TableDescriptor>,
    columns: &'c [usize],
    values: Vec<Datum>,
    lock: LockStrength,
    limit: Option<usize>,
}

impl Children<'_> {
    fn match_row(&self, row: &[Datum]) -> bool {
        self.columns.iter().zip(&self.values).all(|(c, value)| {
            let ty = self.child.columns.get(*c).map_or(DataType::TEXT, |c| c.ty.ty);
            row.get(*c).is_some_and(|found| !found.is_null() && compare::eq_as(ty, found, value))
        })
    }
}

/// A page of children, locked.
struct ChildPage {
    rows: Vec<Vec<Datum>>,
    resume: Option<Span>,
    /// A child was not there any more when its lock was granted: it may have moved to another key.
    moved: bool,
}

/// The children of a parent's old key, locked.
async fn children_of(
    event: &ParentEvent,
    child: &Arc<TableDescriptor>,
    lock: LockStrength,
    limit: Option<usize>,
    ctx: &mut ExecContext<'_>,
) -> Result<Vec<Vec<Datum>>, SqlError> {
    let constraint = &event.constraint;
    let parent = parent_table(constraint, ctx)?;
    let Some(values) = converted(&event.old, (&parent, &constraint.parent_columns), (child, &constraint.child_columns), ctx) else {
        return Ok(Vec::new());
    };
    let children = Children { child, columns: &constraint.child_columns, values, lock, limit };
    for _ in 0..CHILD_SCANS_MAX {
        let (found, moved) = scan_children(&children, ctx).await?;
        if !moved {
            return Ok(found);
        }
        see_newest(ctx).await?;
    }
    Err(super::errors::serialization("could not serialize access due to concurrent update"))
}

/// One look at all children; also says whether one of them moved meanwhile.
async fn scan_children(children: &Children<'_>, ctx: &mut ExecContext<'_>) -> Result<(Vec<Vec<Datum>>, bool), SqlError> {
    let child = children.child;
    let index = child_index(child, children.columns);
    let span = match index {
        Some(index) => {
            let all = in_index_order(index, children.columns, &children.values);
            let prefix = all.into_iter().take(children.columns.len()).collect();
            span_keys(child, index, &ConcreteSpan { prefix, ..ConcreteSpan::default() })?
        }
        None => super::scan::whole_index(&child.primary),
    };
    let mut found = Vec::new();
    let mut memory = super::batch::MemoryUse::default();
    let mut moved = false;
    let mut rest = Some(span);
    while let Some(span) = rest {
        ctx.cancel.check()?;
        let page = match index {
            Some(index) => indexed_page(span, index.index_id != child.primary.index_id, children, ctx).await?,
            None => searched_page(span, children, ctx).await?,
        };
        moved |= page.moved;
        for row in page.rows.into_iter().filter(|row| children.match_row(row)) {
            memory.row(&row)?;
            found.push(row);
            if children.limit.is_some_and(|limit| found.len() >= limit) {
                return Ok((found, false));
            }
        }
        rest = page.resume;
    }
    Ok((found, moved))
}

/// One page of a scan for children, through an index. A new child can't appear: it would have to lock the parent, which we hold.
async fn indexed_page(
    span: Span,
    through_entries: bool,
    children: &Children<'_>,
    ctx: &mut ExecContext<'_>,
) -> Result<ChildPage, SqlError> {
    let entry_lock = if through_entries { LockStrength::KeyShare } else { children.lock };
    let read = ReadOptions { columns: ColumnSet::ALL, lock: Some(entry_lock), wait: WaitPolicy::Block };
    let options = ScanOptions { read, reverse: false, limit: Limit::Keys(CHILD_PAGE_ROWS) };
    let page = ctx.txn.scan(span, &options).await.map_err(|e| ctx.kv(e))?;
    if through_entries {
        let keys = page.rows.iter().map(|entry| primary_key_of_entry(children.child, entry.value)).collect::<Result<Vec<_>, _>>()?;
        let rows = locked_rows(&keys, children, ctx).await?;
        let moved = rows.len() < keys.len();
        return Ok(ChildPage { rows, resume: page.resume, moved });
    }
    let rows = page.rows.iter().map(|row| decode_whole(children.child, row.value)).collect::<Result<_, _>>()?;
    Ok(ChildPage { rows, resume: page.resume, moved: false })
}

/// One page of a scan for children, of the whole table: locking all of it would be too much, so only what matches is locked.
async fn searched_page(span: Span, children: &Children<'_>, ctx: &mut ExecContext<'_>) -> Result<ChildPage, SqlError> {
    let options = ScanOptions { limit: Limit::Keys(CHILD_PAGE_ROWS), ..ScanOptions::default() };
    let page = ctx.txn.scan(span, &options).await.map_err(|e| ctx.kv(e))?;
    let mut keys = Vec::new();
    for row in page.rows.iter() {
        if children.match_row(&decode_whole(children.child, row.value)?) {
            keys.push(row.to_key());
        }
    }
    let rows = locked_rows(&keys, children, ctx).await?;
    let moved = rows.len() < keys.len();
    Ok(ChildPage { rows, resume: page.resume, moved })
}

async fn locked_rows(keys: &[Key], children: &Children<'_>, ctx: &mut ExecContext<'_>) -> Result<Vec<Vec<Datum>>, SqlError> {
    let options = ReadOptions { columns: ColumnSet::ALL, lock: Some(children.lock), wait: WaitPolicy::Block };
    let rows = ctx.txn.get(keys, &options).await.map_err(|e| ctx.kv(e))?;
    rows.into_iter().flatten().map(|row| decode_whole(children.child, &row.value)).collect()
}

/// Settles what was deferred to the transaction's end; with a list, only these constraints.
pub(super) async fn run_deferred(only: Option<&[Oid]>, ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
    let deferred = ctx.state.deferred.take(only);
    if deferred.is_empty() {
        return Ok(());
    }
    deferred.unique.settle(ctx).await?;
    see_newest(ctx).await?;
    let work = ForeignKeyWork::default();
    for event in &deferred.parents {
        if !work.still_there(event, ctx).await? {
            let child = child_table(&event.constraint, ctx)?;
            refuse_children(event, &child, ctx).await?;
        }
    }
    let mut live = Vec::new();
    for check in deferred.children {
        // The child may be gone, or refer to something else by now (which was noted then).
        let child = child_table(&check.constraint, ctx)?;
        let row = ctx.txn.get_one(check.child.clone(), &ReadOptions::default()).await.map_err(|e| ctx.kv(e))?;
        let Some(row) = row else { continue };
        let now = values_at(&decode_whole(&child, &row.value)?, &check.constraint.child_columns);
        let same = now.iter().zip(&check.values).all(|(a, b)| !a.is_null() && compare::eq(a, b));
        if same {
            live.push(check);
        }
    }
    check_children(live, ctx).await
}
