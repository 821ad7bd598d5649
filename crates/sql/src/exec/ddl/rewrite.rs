//! Writing a table anew: under another primary key, or with a column that is computed for each row.
//!
//! The rows go to fresh index ids, sorted on the way, as a bulk load ([`crate::exec::bulk_load`]); the old ids are given up when the transaction commits. Under
//! another key the stored rows are taken over byte for byte.

use super::Ddl;
use super::alter::contains_nulls;
use super::columns::shortened;
use crate::catalog::{Oid, TableDescriptor};
use crate::error::SqlError;
use crate::exec::bulk_load::SortedLoad;
use crate::exec::foreign_key::RowRules;
use crate::exec::sequence;
use crate::exec::table_keys::{decode_row, entry_columns, index_id, primary_key};
use crate::exec::unique_check::check_whole_index;
use crate::exec::write::{TableWriter, fill_generated};
use crate::expr::{Expr, eval};
use crate::types::{DataType, Datum};
use std::sync::Arc;
use tidelock_base::{Span, Value};

/// What fills a column while a table is written anew.
pub(super) enum Filler {
    /// The same expression over the old row for each.
    Computed(Expr),
    /// The next number of a sequence.
    Sequence(Oid),
    /// Row ids.
    RowId,
}

impl Ddl<'_, '_> {
    /// Another primary key: the rows are written anew.
    pub(super) async fn change_primary_key(
        &mut self,
        old: TableDescriptor,
        name: Option<String>,
        columns: &[String],
    ) -> Result<(), SqlError> {
        let mut table = old.clone();
        let name = name.unwrap_or_else(|| self.free_name(&table.schema, &shortened(&[&table.name], "pkey"), &[]));
        self.set_primary_key(&mut table, name, columns).await?;
        for column in table.columns.iter_mut().filter(|c| c.hidden && !c.is_expression()) {
            (column.dropped, column.nullable) = (true, true);
        }
        self.rewrite(&old, table, &[]).await
    }

    /// No primary key any more.
    pub(super) async fn replace_by_hidden_key(&mut self, old: TableDescriptor) -> Result<(), SqlError> {
        let mut table = old.clone();
        self.hidden_key(&mut table).await?;
        let position = table.columns.len() - 1;
        self.rewrite(&old, table, &[(position, Filler::RowId)]).await
    }

    /// Writes all rows again under new index ids, with some columns filled anew.
    pub(super) async fn rewrite(
        &mut self,
        old: &TableDescriptor,
        mut new: TableDescriptor,
        fillers: &[(usize, Filler)],
    ) -> Result<(), SqlError> {
        self.validate_reads();
        self.give_up(old);
        new.primary.index_id = self.new_index_id().await?;
        for place in 0..new.indexes.len() {
            new.indexes[place].index_id = self.new_index_id().await?;
        }
        self.put(new.clone());
        let new = Arc::new(new);
        let before = std::mem::replace(&mut self.ctx.catalog, self.builder.clone().build());
        let result = if fillers.is_empty() { self.rekey_rows(old, &new).await } else { self.rewrite_rows(old, &new, fillers).await };
        self.ctx.catalog = before;
        result?;
        for index in new.indexes.iter().filter(|index| index.deferrable) {
            check_whole_index(&new, index, self.ctx).await?;
        }
        Ok(())
    }

    /// Writes rows under another key: what is stored of a row stays as it is, so only what keys and entries are made of is looked at.
    async fn rekey_rows(&mut self, old: &TableDescriptor, new: &Arc<TableDescriptor>) -> Result<(), SqlError> {
        let mut load = SortedLoad::building(new, new.all_indexes().map(index_id).collect(), self.ctx);
        let mut writer = TableWriter::new(new, self.ctx)?;
        let mut positions: Vec<usize> = new.all_indexes().flat_map(|index| entry_columns(new, index)).collect();
        if new.indexes.iter().any(|index| index.predicate.is_some()) {
            positions = (0..new.columns.len()).collect();
        }
        positions.sort_unstable();
        positions.dedup();
        let (mut decoded, mut row) = (Vec::new(), vec![Datum::Null; new.columns.len()]);
        let mut rest = Some(Span::index(index_id(&old.primary)));
        while let Some(stored) = self.stored_page(&mut rest).await? {
            for stored in stored.iter() {
                decode_row(new, &positions, stored.value, &mut decoded)?;
                for (position, value) in positions.iter().zip(decoded.drain(..)) {
                    row[*position] = value;
                }
                if let Some(part) = new.primary.key.iter().find(|part| row[part.column].is_null()) {
                    return Err(contains_nulls(new, &new.columns[part.column].name));
                }
                let key = primary_key(new, &row)?;
                writer.entries_of(&row, &key, &self.ctx.eval())?;
                for entry in writer.take_entries() {
                    load.push(entry, self.ctx).await?;
                }
                load.push((key, Value::copy_from_slice(stored.value)), self.ctx).await?;
            }
        }
        load.finish(self.ctx).await
    }

    async fn rewrite_rows(
        &mut self,
        old: &TableDescriptor,
        new: &Arc<TableDescriptor>,
        fillers: &[(usize, Filler)],
    ) -> Result<(), SqlError> {
        let mut writer = TableWriter::new(new, self.ctx)?;
        let mut load = SortedLoad::building(new, new.all_indexes().map(index_id).collect(), self.ctx);
        let rules = RowRules::bind(new, self.ctx)?;
        let mut rest = Some(Span::index(index_id(&old.primary)));
        while let Some(rows) = self.page(old, &mut rest).await? {
            let mut rows: Vec<Vec<Datum>> = rows.into_iter().map(|(_, row)| row).collect();
            for (position, filler) in fillers {
                let values = self.fill(filler, &rows, new).await?;
                for (row, value) in rows.iter_mut().zip(values) {
                    row.resize(row.len().max(position + 1), Datum::Null);
                    row[*position] = value;
                }
            }
            self.number_anew(new, fillers, &mut rows).await?;
            for (number, row) in rows.iter_mut().enumerate() {
                row.resize(new.columns.len(), Datum::Null);
                fill_generated(row, &rules.generated, &self.ctx.eval())?;
                if let Some((column, _)) = new.columns.iter().zip(row.iter()).find(|(c, v)| v.is_null() && !c.nullable) {
                    return Err(contains_nulls(new, &column.name));
                }
                writer.insert(row, number, &self.ctx.eval())?;
            }
            for entry in writer.take_entries() {
                load.push(entry, self.ctx).await?;
            }
        }
        load.finish(self.ctx).await
    }

    /// Hidden numbers belong to the index that the rows are stored in: under another id they begin again, and rows that come later must not meet old ones.
    async fn number_anew(&mut self, new: &TableDescriptor, fillers: &[(usize, Filler)], rows: &mut [Vec<Datum>]) -> Result<(), SqlError> {
        let Some(part) = new.primary.key.first().filter(|_| !new.has_primary_key()) else { return Ok(()) };
        if fillers.iter().any(|(position, _)| *position == part.column) {
            return Ok(());
        }
        let ids = sequence::row_ids(self.ctx, new.primary.index_id, rows.len()).await?;
        for (row, id) in rows.iter_mut().zip(ids) {
            row.resize(row.len().max(part.column + 1), Datum::Null);
            row[part.column] = Datum::Int8(id);
        }
        Ok(())
    }

    async fn fill(&mut self, filler: &Filler, rows: &[Vec<Datum>], new: &TableDescriptor) -> Result<Vec<Datum>, SqlError> {
        match filler {
            Filler::Computed(value) => rows.iter().map(|row| eval(value, row, &self.ctx.eval())).collect(),
            Filler::RowId => {
                let ids = sequence::row_ids(self.ctx, new.primary.index_id, rows.len()).await?;
                Ok(ids.into_iter().map(Datum::Int8).collect())
            }
            Filler::Sequence(oid) => {
                let ty = new.columns.last().map_or(DataType::INT8, |c| c.ty.ty);
                let numbers = sequence::nextval(self.ctx, *oid, rows.len()).await?;
                let cast = |n: i64| crate::types::cast::cast(Datum::Int8(n), DataType::INT8, ty.into(), false, &self.ctx.eval());
                numbers.into_iter().map(cast).collect()
            }
        }
    }
}
