//! CREATE INDEX, REINDEX, TRUNCATE: index data made anew.

use super::Ddl;
use super::columns::shortened;
use super::constraint::positions_of;
use crate::ast::{CreateIndex, Expr as AstExpr, ObjectName, ReindexKind, Truncate};
use crate::bind::bind_row_expression;
use crate::catalog::{IndexColumn, IndexDescriptor, RelationKind, TableDescriptor};
use crate::error::{SqlError, SqlState};
use crate::exec::bulk_load::SortedLoad;
use crate::exec::table_keys::{decode_row, entry_columns, entry_key, entry_value, index_id};
use crate::expr::{Expr, eval_bool};
use crate::types::Datum;
use crate::types::coercion::is_ordered;
use std::sync::Arc;
use tidelock_base::Span;
use tidelock_base::row::RowBuilder;

impl Ddl<'_, '_> {
    pub(super) async fn create_index(&mut self, create: &CreateIndex) -> Result<(), SqlError> {
        if !matches!(create.method.as_str(), "btree") {
            return Err(SqlError::unsupported(format!("access method \"{}\"", create.method)));
        }
        let mut table = TableDescriptor::clone(&*self.find_table(&create.table)?);
        let before = table.clone();
        let mut key = Vec::with_capacity(create.columns.len());
        for element in &create.columns {
            if let Some(class) = element.operator_class.as_ref().filter(|c| !c.ends_with("_ops")) {
                return Err(SqlError::new(
                    SqlState::UNDEFINED_OBJECT,
                    format!("operator class \"{class}\" does not exist for access method \"btree\""),
                ));
            }
            let position = match &element.item.expr {
                AstExpr::Column(parts) => {
                    let Some(column) = parts.last() else { return Err(crate::exec::context::misfit()) };
                    positions_of(&table, std::slice::from_ref(column), "does not exist")?[0]
                }
                _ => self.expression_column(&mut table, &element.text)?,
            };
            check_key_type(&table, position)?;
            let descending = element.item.descending;
            key.push(IndexColumn { column: position, descending, nulls_first: element.item.nulls_first.unwrap_or(descending) });
        }
        let names: Vec<String> = key.iter().map(|k| crate::catalog::functions::index_attribute(&table.columns[k.column])).collect();
        let name = match &create.name {
            Some(name) => name.clone(),
            None => {
                let parts: Vec<&str> = std::iter::once(table.name.as_str()).chain(names.iter().map(String::as_str)).collect();
                self.free_name(&table.schema, &shortened(&parts, "idx"), &[])
            }
        };
        if self.is_taken(&table.schema, &name) {
            if create.if_not_exists {
                self.skipped(SqlState::DUPLICATE_TABLE, format!("relation \"{name}\" already exists"));
                return Ok(());
            }
            return Err(SqlError::new(SqlState::DUPLICATE_TABLE, format!("relation \"{name}\" already exists")));
        }
        let mut index = IndexDescriptor::new(self.new_oid().await?, name, self.new_index_id().await?);
        (index.key, index.unique, index.nulls_distinct) = (key, create.unique, create.nulls_distinct);
        index.include = positions_of(&table, &create.include, "does not exist")?;
        if let Some(predicate) = &create.predicate {
            bind_row_expression(&predicate.text, &table, Some(Expr::BOOL), &self.snapshot(), self.ctx.plan_settings)?;
            index.predicate = Some(predicate.text.clone());
        }
        if table.columns.len() > before.columns.len() {
            let fillers = self.expression_fillers(&table, before.columns.len())?;
            table.indexes.push(index);
            return self.rewrite(&before, table, &fillers).await;
        }
        self.build_index(&table, &index).await?;
        table.indexes.push(index);
        self.put(table);
        Ok(())
    }

    /// Writes the entries of all rows that are there.
    pub(super) async fn build_index(&mut self, table: &TableDescriptor, index: &IndexDescriptor) -> Result<(), SqlError> {
        if !table.temporary {
            self.validate_reads();
        }
        let predicate = match &index.predicate {
            Some(text) => Some(bind_row_expression(text, table, Some(Expr::BOOL), &self.snapshot(), self.ctx.plan_settings)?),
            None => None,
        };
        let mut builder = RowBuilder::new();
        let mut with_index = table.clone();
        if !with_index.indexes.iter().any(|known| known.index_id == index.index_id) {
            with_index.indexes.push(index.clone());
        }
        let mut load = SortedLoad::building(&Arc::new(with_index), vec![index_id(index)], self.ctx);
        // Only what the entry is made of is decoded; a predicate may ask for any column.
        let positions = if predicate.is_some() { (0..table.columns.len()).collect() } else { entry_columns(table, index) };
        let (mut decoded, mut row) = (Vec::new(), vec![Datum::Null; table.columns.len()]);
        let mut rest = Some(Span::index(index_id(&table.primary)));
        while let Some(stored) = self.stored_page(&mut rest).await? {
            for stored in stored.iter() {
                decode_row(table, &positions, stored.value, &mut decoded)?;
                for (position, value) in positions.iter().zip(decoded.drain(..)) {
                    row[*position] = value;
                }
                if let Some(predicate) = &predicate
                    && !eval_bool(predicate, &row, &self.ctx.eval())?
                {
                    continue;
                }
                let key = entry_key(table, index, &row)?;
                let value = entry_value(table, index, &row, &stored.to_key(), &mut builder).into();
                load.push((key, value), self.ctx).await?;
            }
        }
        load.finish(self.ctx).await
    }

    pub(super) fn rename_index(&mut self, name: &ObjectName, if_exists: bool, to: &str) -> Result<(), SqlError> {
        let found = self.catalog().resolve_index(name.schema.as_deref(), &name.name, &self.ctx.plan_settings.search_path);
        let Some((table, place)) = found.map(|(t, p)| (TableDescriptor::clone(t), p)) else {
            if if_exists {
                self.notice(format!("relation \"{}\" does not exist, skipping", name.name));
                return Ok(());
            }
            return Err(SqlError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{}\" does not exist", name.name)).at(name.pos));
        };
        if self.is_taken(&table.schema, to) {
            return Err(SqlError::new(SqlState::DUPLICATE_TABLE, format!("relation \"{to}\" already exists")));
        }
        let mut table = table;
        let index = place.and_then(|p| table.indexes.get_mut(p)).unwrap_or(&mut table.primary);
        let before = std::mem::replace(&mut index.name, to.to_owned());
        table.uniques.iter_mut().filter(|u| u.name == before).for_each(|u| u.name = to.to_owned());
        self.put(table);
        Ok(())
    }

    pub(super) async fn reindex(&mut self, name: Option<&ObjectName>, kind: ReindexKind) -> Result<(), SqlError> {
        let Some(name) = name.filter(|_| matches!(kind, ReindexKind::Table | ReindexKind::Index)) else {
            return Err(SqlError::unsupported("REINDEX of more than one table"));
        };
        let (mut table, only) = match kind {
            ReindexKind::Table => (TableDescriptor::clone(&*self.find_table(name)?), None),
            _ => {
                let found = self.catalog().resolve_index(name.schema.as_deref(), &name.name, &self.ctx.plan_settings.search_path);
                let missing =
                    || SqlError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{}\" does not exist", name.name)).at(name.pos);
                let (table, place) = found.ok_or_else(missing)?;
                (TableDescriptor::clone(table), Some(place))
            }
        };
        for place in 0..table.indexes.len() {
            if only.is_some_and(|only| only != Some(place)) {
                continue;
            }
            self.ctx.state.dropped_indexes.push(index_id(&table.indexes[place]));
            let id = self.new_index_id().await?;
            table.indexes[place].index_id = id;
            let index = table.indexes[place].clone();
            self.build_index(&table, &index).await?;
        }
        self.put(table);
        Ok(())
    }

    /// New, empty indexes in place of the old ones.
    pub(super) async fn truncate(&mut self, truncate: &Truncate) -> Result<(), SqlError> {
        let mut tables: Vec<TableDescriptor> = Vec::new();
        for name in &truncate.tables {
            let table = TableDescriptor::clone(&*self.find_table(name)?);
            if !tables.iter().any(|t| t.oid == table.oid) {
                tables.push(table);
            }
        }
        let mut at = 0;
        while at < tables.len() {
            for foreign_key in tables[at].referenced_by.clone() {
                if tables.iter().any(|t| t.oid == foreign_key.child) {
                    continue;
                }
                let child = self.table(foreign_key.child)?;
                if !truncate.cascade {
                    let detail = format!("Table \"{}\" references \"{}\".", child.name, tables[at].name);
                    return Err(SqlError::new(
                        SqlState::FEATURE_NOT_SUPPORTED,
                        "cannot truncate a table referenced in a foreign key constraint",
                    )
                    .detail(detail)
                    .hint(format!("Truncate table \"{}\" at the same time, or use TRUNCATE ... CASCADE.", child.name)));
                }
                self.notice(format!("truncate cascades to table \"{}\"", child.name));
                tables.push(child);
            }
            at += 1;
        }
        for table in tables {
            if truncate.restart_identity {
                self.restart_owned(&table).await?;
            }
            self.renew(table).await?;
        }
        Ok(())
    }

    /// Empty indexes in the place of a table's old ones.
    pub(super) async fn renew(&mut self, mut table: TableDescriptor) -> Result<(), SqlError> {
        self.give_up(&table);
        table.primary.index_id = self.new_index_id().await?;
        for place in 0..table.indexes.len() {
            table.indexes[place].index_id = self.new_index_id().await?;
        }
        self.put(table);
        Ok(())
    }

    async fn restart_owned(&mut self, table: &TableDescriptor) -> Result<(), SqlError> {
        let owned: Vec<(u64, i64)> =
            self.owned_sequences(table, None).iter().filter_map(|s| s.sequence.as_ref()).map(|s| (s.value_id, s.start)).collect();
        for (value_id, start) in owned {
            self.restart(value_id, start).await?;
        }
        Ok(())
    }

    /// Sequences that belong to a table, or to one of its columns.
    pub(super) fn owned_sequences(&self, table: &TableDescriptor, column: Option<usize>) -> Vec<TableDescriptor> {
        let owned = |t: &TableDescriptor| {
            let owner = t.sequence.as_ref().and_then(|s| s.owned_by);
            owner.is_some_and(|(oid, position)| oid == table.oid && column.is_none_or(|c| c == position))
        };
        let sequences = self.catalog().relations().map(|r| r.descriptor()).filter(|t| t.kind == RelationKind::Sequence);
        sequences.filter(|t| owned(t)).map(|t| TableDescriptor::clone(t)).collect()
    }
}

/// 42704 when a column's type has no order that an index could keep.
pub(super) fn check_key_type(table: &TableDescriptor, position: usize) -> Result<(), SqlError> {
    let ty = table.columns[position].ty.ty;
    if is_ordered(ty) {
        return Ok(());
    }
    let message = format!("data type {ty} has no default operator class for access method \"btree\"");
    Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message)
        .hint("You must specify an operator class for the index or define a default operator class for the data type."))
}
