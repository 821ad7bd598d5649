//! From rows to writes: one batch per flush, with every index entry and every constraint that a single row can violate.
//!
//! The primary row is a `Put` (or an `Insert` where none may be), a unique entry an `Insert`, any other entry a `PutEntry`, guarded by the row's own lock.
//! Removals go first in a batch. Even so a new key that a later row of the statement still has is a duplicate, as in PostgreSQL, where uniqueness is checked
//! row by row. Entries that do not change are not written.

use super::bulk_load::{BulkLoad, Entry};
use super::context::{ExecContext, Run};
use super::postponed::Batch;
use super::table_keys::{entry_key, entry_value, index_id, is_exclusive, primary_key};
use crate::bind::bind_row_expression;
use crate::catalog::{IndexDescriptor, TableDescriptor};
use crate::error::{SqlError, SqlState};
use crate::expr::{EvalContext, Expr, eval, eval_bool};
use crate::plan::{BoundCheck, CheckKind, GeneratedColumn, Plan, PlanNode};
use crate::types::{DataType, Datum, TextContext, compare, row_codec, text};
use hashbrown::HashMap;
use std::sync::Arc;
use tidelock_base::row::RowBuilder;
use tidelock_base::{Key, Value};
use tidelock_kvapi::LockStrength;
use tidelock_kvclient::{Write, Written};

/// Rows whose writes are sent in one batch.
pub(super) const WRITE_ROWS: usize = 1000;

/// Characters of a value that an error message shows, as in PostgreSQL.
const SHOWN_CHARACTERS_MAX: usize = 64;

/// Where a write came from: the index (None is the primary one, else a place in `table.indexes`) and the row's number in its batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Origin {
    pub(super) index: Option<usize>,
    pub(super) row: usize,
}

/// Collects the writes of rows of one table.
pub(super) struct TableWriter {
    table: Arc<TableDescriptor>,
    /// Conditions of partial indexes, by place.
    predicates: Vec<Option<Expr>>,
    builder: RowBuilder,
    removals: Vec<Write>,
    writes: Vec<Write>,
    origins: Vec<Origin>,
    /// New keys of rows that moved, for those that come later.
    taken: HashMap<Key, Origin>,
    /// A row took a key that a later one still had.
    clash: Option<Origin>,
}

impl TableWriter {
    pub(super) fn new(table: &Arc<TableDescriptor>, ctx: &ExecContext<'_>) -> Result<TableWriter, SqlError> {
        let predicate = |index: &IndexDescriptor| {
            let text = index.predicate.as_ref();
            text.map(|text| bind_row_expression(text, table, Some(Expr::BOOL), &ctx.catalog, ctx.plan_settings)).transpose()
        };
        Ok(TableWriter {
            predicates: table.indexes.iter().map(predicate).collect::<Result<_, _>>()?,
            table: Arc::clone(table),
            builder: RowBuilder::new(),
            removals: Vec::new(),
            writes: Vec::new(),
            origins: Vec::new(),
            taken: HashMap::new(),
            clash: None,
        })
    }

    /// Whether the row has an entry in the index at that place.
    pub(super) fn has_entry(&self, place: usize, row: &[Datum], context: &EvalContext<'_>) -> Result<bool, SqlError> {
        match self.predicates.get(place) {
            Some(Some(predicate)) => eval_bool(predicate, row, context),
            _ => Ok(true),
        }
    }

    fn encoded(&mut self, row: &[Datum]) -> Result<Value, SqlError> {
        row_codec::encode_row(row, &mut self.builder).map(Value::from)
    }

    fn write(&mut self, write: Write, index: Option<usize>, row: usize) {
        self.writes.push(write);
        self.origins.push(Origin { index, row });
    }

    /// A new row.
    pub(super) fn insert(&mut self, row: &[Datum], number: usize, context: &EvalContext<'_>) -> Result<Key, SqlError> {
        let key = primary_key(&self.table, row)?;
        let value = self.encoded(row)?;
        self.write(Write::Insert(key.clone(), value), None, number);
        self.new_entries(row, &key, number, context)?;
        Ok(key)
    }

    /// The index entries of a row that is written otherwise.
    pub(super) fn entries_of(&mut self, row: &[Datum], primary: &Key, context: &EvalContext<'_>) -> Result<(), SqlError> {
        self.new_entries(row, primary, 0, context)
    }

    fn new_entries(&mut self, row: &[Datum], primary: &Key, number: usize, context: &EvalContext<'_>) -> Result<(), SqlError> {
        for place in 0..self.table.indexes.len() {
            if self.has_entry(place, row, context)? {
                self.add_entry(place, row, primary, number)?;
            }
        }
        Ok(())
    }

    fn add_entry(&mut self, place: usize, row: &[Datum], primary: &Key, number: usize) -> Result<(), SqlError> {
        let table = Arc::clone(&self.table);
        let index = &table.indexes[place];
        let key = entry_key(&table, index, row)?;
        let value = Value::from(entry_value(&table, index, row, primary, &mut self.builder));
        let write = if is_exclusive(index, row) { Write::Insert(key, value) } else { Write::PutEntry(key, value) };
        self.write(write, Some(place), number);
        Ok(())
    }

    /// Removes a row.
    pub(super) fn delete(&mut self, row: &[Datum], context: &EvalContext<'_>) -> Result<Key, SqlError> {
        let key = primary_key(&self.table, row)?;
        self.removals.push(Write::Delete(key.clone()));
        for place in 0..self.table.indexes.len() {
            if self.has_entry(place, row, context)? {
                self.removals.push(Write::DeleteEntry(entry_key(&self.table, &self.table.indexes[place], row)?));
            }
        }
        Ok(key)
    }

    /// A row's new image.
    pub(super) fn update(&mut self, old: &[Datum], new: &[Datum], number: usize, context: &EvalContext<'_>) -> Result<Key, SqlError> {
        let (old_key, key) = (primary_key(&self.table, old)?, primary_key(&self.table, new)?);
        let value = self.encoded(new)?;
        if old_key == key {
            let changes = |column: usize| !same(&self.table, column, old, new);
            let strength = if self.table.unique_key_columns().any(changes) { LockStrength::Update } else { LockStrength::NoKeyUpdate };
            self.write(Write::Put(key.clone(), value, strength), None, number);
        } else {
            self.gives_up(&old_key);
            self.takes(&key, Origin { index: None, row: number });
            self.removals.push(Write::Delete(old_key.clone()));
            self.write(Write::Insert(key.clone(), value), None, number);
        }
        for place in 0..self.table.indexes.len() {
            self.update_entry(place, (old, &old_key), (new, &key), number, context)?;
        }
        Ok(key)
    }

    fn update_entry(
        &mut self,
        place: usize,
        old: (&[Datum], &Key),
        new: (&[Datum], &Key),
        number: usize,
        context: &EvalContext<'_>,
    ) -> Result<(), SqlError> {
        let table = Arc::clone(&self.table);
        let index = &table.indexes[place];
        let moved = old.1 != new.1;
        let touched = || index.key.iter().map(|k| k.column).chain(index.include.iter().copied()).any(|c| !same(&table, c, old.0, new.0));
        if !moved && index.predicate.is_none() && !touched() {
            return Ok(());
        }
        let (had, has) = (self.has_entry(place, old.0, context)?, self.has_entry(place, new.0, context)?);
        if !has {
            if had {
                self.removals.push(Write::DeleteEntry(entry_key(&table, index, old.0)?));
            }
            return Ok(());
        }
        if !had {
            return self.add_entry(place, new.0, new.1, number);
        }
        let (old_key, key) = (entry_key(&table, index, old.0)?, entry_key(&table, index, new.0)?);
        if old_key != key {
            self.gives_up(&old_key);
            if is_exclusive(index, new.0) {
                self.takes(&key, Origin { index: Some(place), row: number });
            }
            self.removals.push(Write::DeleteEntry(old_key));
            return self.add_entry(place, new.0, new.1, number);
        }
        let before = entry_value(&table, index, old.0, old.1, &mut self.builder);
        let after = entry_value(&table, index, new.0, new.1, &mut self.builder);
        if before != after {
            self.write(Write::PutEntry(key, after.into()), Some(place), number);
        }
        Ok(())
    }

    /// Hands new rows and their entries over to a load, instead of writing them. Only for inserts.
    pub(super) fn hand_to(&mut self, load: &mut BulkLoad) {
        self.take_entries().for_each(|entry| load.push(entry));
    }

    /// New rows and their entries, unwritten. Only for inserts.
    pub(super) fn take_entries(&mut self) -> impl Iterator<Item = Entry> {
        self.origins.clear();
        self.writes.drain(..).filter_map(|write| match write {
            Write::Insert(key, value) | Write::PutEntry(key, value) => Some((key, value)),
            Write::Put(..) | Write::Delete(_) | Write::DeleteEntry(_) => None,
        })
    }

    /// A row takes a key, in its turn.
    fn takes(&mut self, key: &Key, origin: Origin) {
        self.taken.insert(key.clone(), origin);
    }

    /// A row gives a key up: if one before it took it, that was too early.
    fn gives_up(&mut self, key: &Key) {
        if self.clash.is_none() {
            self.clash = self.taken.get(key).copied();
        }
    }

    /// Sends everything, or postpones it to the statement's end; a duplicate is an error. `row` gives the image of a row by its number.
    pub(super) async fn settle<'r>(&mut self, row: impl Fn(usize) -> Option<&'r [Datum]>, run: &mut Run<'_>) -> Result<(), SqlError> {
        let found = match &mut run.postponed {
            Some(_) if self.clash.is_some() => self.clash.take(),
            Some(postponed) => {
                let removals = std::mem::take(&mut self.removals);
                let batch = Batch::new(&self.table, removals, std::mem::take(&mut self.writes), std::mem::take(&mut self.origins));
                postponed.push(batch, &row)?;
                self.taken.clear();
                None
            }
            None => self.flush(run).await?,
        };
        match found {
            None => Ok(()),
            Some(origin) => Err(duplicate(&self.table, origin.index, row(origin.row).unwrap_or_default(), &run.ctx.text())),
        }
    }

    /// Sends everything; the first duplicate found, if any. After a duplicate some of the rest may have been written.
    pub(super) async fn flush(&mut self, run: &mut Run<'_>) -> Result<Option<Origin>, SqlError> {
        self.flush_in(&mut run.ctx).await
    }

    /// See [`TableWriter::flush`].
    pub(super) async fn flush_in(&mut self, ctx: &mut ExecContext<'_>) -> Result<Option<Origin>, SqlError> {
        self.taken.clear();
        if let Some(clash) = self.clash.take() {
            return Ok(Some(clash));
        }
        ctx.txn.end_ingest(|index| self.table.all_indexes().any(|own| index_id(own) == index));
        let mut writes = std::mem::take(&mut self.removals);
        let skip = writes.len();
        writes.append(&mut self.writes);
        let origins = std::mem::take(&mut self.origins);
        let results = ctx.txn.write(writes).await.map_err(|e| ctx.kv(e))?;
        let duplicate = results.iter().skip(skip).zip(&origins).find(|(result, _)| matches!(result, Written::Exists(_)));
        Ok(duplicate.map(|(_, origin)| *origin))
    }
}

fn same(table: &TableDescriptor, column: usize, old: &[Datum], new: &[Datum]) -> bool {
    // By bytes, not by equality: `1.0` and `1.00` are equal and stored differently.
    match (old.get(column), new.get(column)) {
        (Some(Datum::Null), Some(Datum::Null)) => true,
        (Some(Datum::Null), Some(_)) | (Some(_), Some(Datum::Null)) => false,
        (Some(a), Some(b)) => {
            let ty = table.columns.get(column).map_or(DataType::TEXT, |c| c.ty.ty);
            compare::eq_as(ty, a, b)
                && (!matches!(ty, DataType::NUMERIC | DataType::BPCHAR | DataType::INTERVAL | DataType::FLOAT8 | DataType::FLOAT4)
                    || encoded_alike(a, b))
        }
        _ => true,
    }
}

fn encoded_alike(a: &Datum, b: &Datum) -> bool {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    row_codec::encode_column(a, &mut left);
    row_codec::encode_column(b, &mut right);
    left == right
}

/// Computes generated columns in place.
pub(super) fn fill_generated(row: &mut [Datum], generated: &[GeneratedColumn], context: &EvalContext<'_>) -> Result<(), SqlError> {
    for column in generated {
        let value = eval(&column.value, row, context)?;
        if let Some(slot) = row.get_mut(column.column) {
            *slot = value;
        }
    }
    Ok(())
}

/// NOT NULL and CHECK.
pub(super) fn check_row(table: &TableDescriptor, row: &[Datum], checks: &[BoundCheck], context: &EvalContext<'_>) -> Result<(), SqlError> {
    for (column, value) in table.columns.iter().zip(row) {
        if value.is_null() && !column.nullable && !column.dropped && !column.hidden {
            let message = format!("null value in column \"{}\" of relation \"{}\" violates not-null constraint", column.name, table.name);
            let mut error = SqlError::new(SqlState::NOT_NULL_VIOLATION, message).detail(failing_row(table, row, &context.text()));
            let fields = error.fields_mut();
            (fields.schema, fields.table, fields.column) =
                (Some(table.schema.clone()), Some(table.name.clone()), Some(column.name.clone()));
            return Err(error);
        }
    }
    for check in checks.iter().filter(|check| !check.runs_statements) {
        let holds = eval(&check.predicate, row, context)?;
        check_holds(table, row, check, &holds, &context.text())?;
    }
    Ok(())
}

/// What a check's answer means.
pub(super) fn check_holds(
    table: &TableDescriptor,
    row: &[Datum],
    check: &BoundCheck,
    holds: &Datum,
    context: &TextContext<'_>,
) -> Result<(), SqlError> {
    match (check.kind, holds) {
        (CheckKind::View, Datum::Bool(true)) => Ok(()),
        (CheckKind::View, _) => {
            let message = format!("new row violates check option for view \"{}\"", check.name);
            Err(SqlError::new(SqlState::WITH_CHECK_OPTION_VIOLATION, message).detail(failing_row(table, row, context)))
        }
        (CheckKind::Constraint, Datum::Bool(false)) => {
            let message = format!("new row for relation \"{}\" violates check constraint \"{}\"", table.name, check.name);
            let error = SqlError::new(SqlState::CHECK_VIOLATION, message).detail(failing_row(table, row, context));
            Err(constraint_of(error, table, &check.name))
        }
        (CheckKind::Constraint, _) => Ok(()),
    }
}

/// Names the constraint in the error's fields.
pub(crate) fn constraint_of(mut error: SqlError, table: &TableDescriptor, name: &str) -> SqlError {
    let fields = error.fields_mut();
    (fields.schema, fields.table, fields.constraint) = (Some(table.schema.clone()), Some(table.name.clone()), Some(name.to_owned()));
    error
}

fn failing_row(table: &TableDescriptor, row: &[Datum], context: &TextContext<'_>) -> String {
    let values: Vec<String> = table.visible_columns().map(|(p, c)| shown(row.get(p).unwrap_or(&Datum::Null), c.ty.ty, context)).collect();
    format!("Failing row contains ({}).", values.join(", "))
}

fn shown(value: &Datum, ty: DataType, context: &TextContext<'_>) -> String {
    if value.is_null() {
        return "null".to_owned();
    }
    let full = text::to_string(value, ty, context);
    match full.char_indices().nth(SHOWN_CHARACTERS_MAX) {
        Some((end, _)) => format!("{}...", &full[..end]),
        None => full,
    }
}

/// `Key (a, b)=(1, 2)`, of columns by position with their values.
pub(super) fn key_text(table: &TableDescriptor, columns: &[usize], values: &[Datum], context: &TextContext<'_>) -> String {
    let name = |p: &usize| table.columns.get(*p).map_or("?", |c| c.name.as_str());
    let ty = |p: &usize| table.columns.get(*p).map_or(DataType::TEXT, |c| c.ty.ty);
    let names: Vec<&str> = columns.iter().map(name).collect();
    let shown: Vec<String> = columns
        .iter()
        .zip(values)
        .map(|(p, value)| if value.is_null() { "null".to_owned() } else { text::to_string(value, ty(p), context) })
        .collect();
    format!("Key ({})=({})", names.join(", "), shown.join(", "))
}

/// 23505.
pub(super) fn duplicate(table: &TableDescriptor, place: Option<usize>, row: &[Datum], context: &TextContext<'_>) -> SqlError {
    let index = place.and_then(|p| table.indexes.get(p)).unwrap_or(&table.primary);
    let columns: Vec<usize> = index.key.iter().map(|k| k.column).collect();
    let values: Vec<Datum> = columns.iter().map(|c| row.get(*c).cloned().unwrap_or(Datum::Null)).collect();
    let message = format!("duplicate key value violates unique constraint \"{}\"", index.name);
    let error = SqlError::new(SqlState::UNIQUE_VIOLATION, message)
        .detail(format!("{} already exists.", key_text(table, &columns, &values, context)));
    constraint_of(error, table, &index.name)
}

/// Whether rows may be written while the input is still being read: if it could come across them again, it must be read to its end first.
pub(super) fn can_stream(plan: &Plan, table: &TableDescriptor, written: &[usize]) -> bool {
    match &plan.node {
        PlanNode::OneRow | PlanNode::Empty | PlanNode::Values(_) => true,
        PlanNode::Filter { input, .. } | PlanNode::Project { input, .. } | PlanNode::LockRows { input, .. } => {
            can_stream(input, table, written)
        }
        PlanNode::FunctionScan { .. } => true,
        PlanNode::Scan(scan) if scan.table.oid == table.oid => !scan.index().key.iter().any(|k| written.contains(&k.column)),
        PlanNode::Scan(_) => true,
        _ => false,
    }
}
