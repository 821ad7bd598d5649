//! Where the rows of a table and the entries of its indexes live.
//!
//! ```text
//!   row:             primary index id, key columns                         ->  all columns by position
//!   unique entry:    index id, key columns                                 ->  primary key, entry columns
//!   other entry:     index id, key columns, primary key                    ->  primary key, entry columns
//! ```
//!
//! A unique index with a NULL in the key (and NULLS DISTINCT) is written like a non-unique one, and so is the index of a DEFERRABLE constraint. An entry's value is a row whose first column is the
//! primary key's bytes behind its index id (so TRUNCATE, which changes ids, rewrites nothing), and whose other columns are
//! [`entry_columns`]: what a covering scan may ask for.

use crate::catalog::{IndexDescriptor, TableDescriptor};
use crate::error::{SqlError, SqlState};
use crate::plan::keys::ConcreteSpan;
use crate::types::compare::SortOrder;
use crate::types::row_codec::{decode_column, encode_column};
use crate::types::{DataType, Datum, FormatSettings, TextContext, key_codec, text};
use tidelock_base::row::{Column, RowBuilder, RowView};
use tidelock_base::{IndexId, Key, Span};

/// Bytes of the index id in a key.
const INDEX_ID_BYTES: usize = 4;

/// The index's number in keys.
pub(crate) fn index_id(index: &IndexDescriptor) -> IndexId {
    IndexId(u32::try_from(index.index_id).unwrap_or(u32::MAX - 1))
}

fn column_type(table: &TableDescriptor, position: usize) -> DataType {
    table.columns.get(position).map_or(DataType::TEXT, |c| c.ty.ty)
}

fn append_key(key: &mut Key, table: &TableDescriptor, index: &IndexDescriptor, row: &[Datum]) -> Result<(), SqlError> {
    for part in &index.key {
        let value = row.get(part.column).unwrap_or(&Datum::Null);
        let order = SortOrder { descending: part.descending, nulls_first: part.nulls_first };
        key_codec::encode_ordered(key, value, column_type(table, part.column), order)?;
    }
    Ok(())
}

/// The key of a row, given by position.
pub(crate) fn primary_key(table: &TableDescriptor, row: &[Datum]) -> Result<Key, SqlError> {
    let mut key = Key::index_start(index_id(&table.primary));
    append_key(&mut key, table, &table.primary, row)?;
    Ok(key)
}

/// The key of an index that a list of values for its key columns has; for the primary one, the row's key.
pub(crate) fn key_of_values(table: &TableDescriptor, index: &IndexDescriptor, values: &[Datum]) -> Result<Key, SqlError> {
    let mut key = Key::index_start(index_id(index));
    append_values(&mut key, table, index, values)?;
    Ok(key)
}

fn append_values(key: &mut Key, table: &TableDescriptor, index: &IndexDescriptor, values: &[Datum]) -> Result<(), SqlError> {
    for (part, value) in index.key.iter().zip(values) {
        let order = SortOrder { descending: part.descending, nulls_first: part.nulls_first };
        key_codec::encode_ordered(key, value, column_type(table, part.column), order)?;
    }
    Ok(())
}

/// Columns that an entry's value holds, besides the primary key's bytes.
pub(crate) fn entry_columns(table: &TableDescriptor, index: &IndexDescriptor) -> Vec<usize> {
    let mut columns: Vec<usize> = Vec::with_capacity(index.key.len() + index.include.len() + table.primary.key.len());
    let all = index.key.iter().map(|k| k.column).chain(index.include.iter().copied()).chain(table.primary.key.iter().map(|k| k.column));
    for column in all {
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    columns
}

/// Does the entry's key stand for itself, so that a second one is a duplicate?
pub(crate) fn is_exclusive(index: &IndexDescriptor, row: &[Datum]) -> bool {
    let has_null = || index.key.iter().any(|k| row.get(k.column).is_none_or(Datum::is_null));
    index.is_exclusive() && (!index.nulls_distinct || !has_null())
}

/// The key of a row's entry.
pub(crate) fn entry_key(table: &TableDescriptor, index: &IndexDescriptor, row: &[Datum]) -> Result<Key, SqlError> {
    let mut key = Key::index_start(index_id(index));
    append_key(&mut key, table, index, row)?;
    if !is_exclusive(index, row) {
        append_key(&mut key, table, &table.primary, row)?;
    }
    Ok(key)
}

/// The value of a row's entry.
pub(crate) fn entry_value(
    table: &TableDescriptor,
    index: &IndexDescriptor,
    row: &[Datum],
    primary: &Key,
    builder: &mut RowBuilder,
) -> Vec<u8> {
    builder.column(|out| out.extend_from_slice(primary.get(INDEX_ID_BYTES..).unwrap_or_default()));
    for column in entry_columns(table, index) {
        match row.get(column).unwrap_or(&Datum::Null) {
            Datum::Null => builder.null(),
            value => builder.column(|out| encode_column(value, out)),
        }
    }
    builder.finish()
}

fn corrupt(error: impl std::fmt::Display) -> SqlError {
    SqlError::new(SqlState::DATA_CORRUPTED, error.to_string())
}

/// The row's key that an entry points to.
pub(crate) fn primary_key_of_entry(table: &TableDescriptor, value: &[u8]) -> Result<Key, SqlError> {
    let view = RowView::new(value).map_err(corrupt)?;
    let Column::Bytes(bytes) = view.column(0) else { return Err(corrupt("an index entry has no primary key")) };
    let mut key = Key::index_start(index_id(&table.primary));
    key.extend(bytes);
    Ok(key)
}

/// Appends the wanted columns of a stored row.
pub(crate) fn decode_row(table: &TableDescriptor, positions: &[usize], value: &[u8], out: &mut Vec<Datum>) -> Result<(), SqlError> {
    if positions.is_empty() {
        return Ok(());
    }
    let view = RowView::new(value).map_err(corrupt)?;
    out.reserve(positions.len());
    for position in positions {
        out.push(match view.column(*position) {
            Column::Bytes(bytes) => decode_column(bytes, column_type(table, *position))?,
            Column::Null => Datum::Null,
            Column::Missing => missing(table, *position)?,
        });
    }
    Ok(())
}

/// A whole stored row, by position.
pub(crate) fn decode_whole(table: &TableDescriptor, value: &[u8]) -> Result<Vec<Datum>, SqlError> {
    let positions: Vec<usize> = (0..table.columns.len()).collect();
    let mut row = Vec::with_capacity(positions.len());
    decode_row(table, &positions, value, &mut row)?;
    for (value, column) in row.iter_mut().zip(&table.columns) {
        if column.dropped {
            *value = Datum::Null;
        }
    }
    Ok(row)
}

/// What a row older than a column has for it.
fn missing(table: &TableDescriptor, position: usize) -> Result<Datum, SqlError> {
    let Some(column) = table.columns.get(position) else { return Ok(Datum::Null) };
    let Some(text) = &column.missing_value else { return Ok(Datum::Null) };
    text::parse(text, column.ty, &TextContext::new(&FormatSettings::default()))
}

/// Appends the wanted columns out of an entry; `places[i]` is where in the entry's row the i-th is.
pub(crate) fn decode_entry(
    table: &TableDescriptor,
    positions: &[usize],
    places: &[usize],
    value: &[u8],
    out: &mut Vec<Datum>,
) -> Result<(), SqlError> {
    let view = RowView::new(value).map_err(corrupt)?;
    for (position, place) in positions.iter().zip(places) {
        out.push(match view.column(*place) {
            Column::Bytes(bytes) => decode_column(bytes, column_type(table, *position))?,
            Column::Null | Column::Missing => Datum::Null,
        });
    }
    Ok(())
}

/// Where in an entry's row the wanted columns are.
pub(crate) fn entry_places(table: &TableDescriptor, index: &IndexDescriptor, positions: &[usize]) -> Vec<usize> {
    let columns = entry_columns(table, index);
    positions.iter().map(|p| columns.iter().position(|c| c == p).map_or(usize::MAX, |at| at + 1)).collect()
}

/// The keys that a concrete span means.
pub(crate) fn span_keys(table: &TableDescriptor, index: &IndexDescriptor, span: &ConcreteSpan) -> Result<Span, SqlError> {
    let mut base = Key::index_start(index_id(index));
    append_values(&mut base, table, index, &span.prefix)?;
    let Some(part) = index.key.get(span.prefix.len()) else { return Ok(Span::prefix(base)) };
    if span.lower.is_none() && span.upper.is_none() {
        return Ok(Span::prefix(base));
    }
    let order = SortOrder { descending: part.descending, nulls_first: part.nulls_first };
    let bound = |value: &Datum| {
        let mut key = base.clone();
        key_codec::encode_ordered(&mut key, value, column_type(table, part.column), order)?;
        Ok::<Key, SqlError>(key)
    };
    // In key order, a descending column begins with its upper bound.
    let (first, last) = if part.descending { (&span.upper, &span.lower) } else { (&span.lower, &span.upper) };
    let start = match first {
        Some((value, true)) => bound(value)?,
        Some((value, false)) => bound(value)?.prefix_end(),
        None if part.nulls_first => bound(&Datum::Null)?.prefix_end(),
        None => base.clone(),
    };
    let end = match last {
        Some((value, true)) => bound(value)?.prefix_end(),
        Some((value, false)) => bound(value)?,
        None if !part.nulls_first => bound(&Datum::Null)?,
        None => base.prefix_end(),
    };
    Ok(Span::new(start, end))
}
