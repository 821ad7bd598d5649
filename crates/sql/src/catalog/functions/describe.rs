//! Comments, owned sequences, and properties of relations and index columns.

use super::visibility::qualified_name;
use super::{Call, find_relation};
use crate::catalog::rows::{PG_CLASS, PG_CONSTRAINT, PG_NAMESPACE};
use crate::catalog::{FIRST_USER_OID, Oid, RelationKind};
use crate::error::{SqlError, SqlState};
use crate::functions::quoting::quote_ident;
use crate::types::Datum;

/// Bits of `pg_relation_is_updatable`: UPDATE, INSERT, DELETE.
const UPDATABLE: i32 = 4 | 8 | 16;

/// `pg_get_serial_sequence(table, column)`.
pub(super) fn serial_sequence(call: &Call<'_>) -> Result<Datum, SqlError> {
    let table = call.relation_named(0)?;
    let column = call.text(1)?;
    let Some(position) = table.column_position(column) else {
        let message = format!("column \"{column}\" of relation \"{}\" does not exist", table.name);
        return Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message));
    };
    let owned = call
        .catalog
        .relations()
        .map(|relation| relation.descriptor())
        .find(|candidate| candidate.sequence.as_ref().is_some_and(|sequence| sequence.owned_by == Some((table.oid, position))));
    Ok(owned.map_or(Datum::Null, |sequence| Datum::text(qualified_name(sequence))))
}

fn comment(call: &Call<'_>, oid: Oid, column: u32) -> Datum {
    let table = call.catalog.table(oid);
    let found = table.and_then(|table| table.comments.iter().find(|(number, _)| *number == column));
    found.map_or(Datum::Null, |(_, text)| Datum::text(text.as_str()))
}

/// The comment on an index or a constraint.
fn part_comment(call: &Call<'_>, class: Oid, oid: Oid) -> Datum {
    let mut all = call.catalog.relations().flat_map(|relation| &relation.descriptor().part_comments);
    all.find(|(of, object, _)| *of == class && *object == oid).map_or(Datum::Null, |(_, _, text)| Datum::text(text.as_str()))
}

/// `shobj_description(oid, catalog)`: of what all databases share.
pub(super) fn shared_comment(call: &Call<'_>) -> Result<Datum, SqlError> {
    let (oid, shared) = (call.oid(0)?, call.session.shared());
    Ok(match call.text(1)? {
        "pg_database" => super::super::rows::optional(shared.database(oid).and_then(|database| database.comment.as_deref())),
        _ => Datum::Null,
    })
}

/// `obj_description(oid[, catalog])`.
pub(super) fn object_comment(call: &Call<'_>) -> Result<Datum, SqlError> {
    let oid = call.oid(0)?;
    let class = if call.args.len() > 1 { call.text(1)? } else { "pg_class" };
    Ok(match class {
        "pg_class" => match comment(call, oid, 0) {
            Datum::Null => part_comment(call, PG_CLASS, oid),
            found => found,
        },
        "pg_type" => {
            let of_enum = call.catalog.enums().map(|(_, e)| (e.oid, e.comment.as_deref()));
            let mut all = of_enum.chain(call.catalog.domains().map(|(_, domain)| (domain.oid, domain.comment.as_deref())));
            super::super::rows::optional(all.find(|(of, _)| *of == oid).and_then(|(_, comment)| comment))
        }
        "pg_proc" => super::super::rows::optional(call.catalog.function(oid).and_then(|function| function.comment.as_deref())),
        "pg_constraint" => part_comment(call, PG_CONSTRAINT, oid),
        "pg_namespace" => {
            let schema = call.catalog.schemas().find(|schema| schema.oid == oid);
            super::super::rows::optional(schema.and_then(|schema| schema.comment.as_deref()))
        }
        _ => Datum::Null,
    })
}

/// `col_description(table, column)`.
pub(super) fn column_comment(call: &Call<'_>) -> Result<Datum, SqlError> {
    let column = u32::try_from(call.int(1)?).unwrap_or_default();
    Ok(if column == 0 { Datum::Null } else { comment(call, call.oid(0)?, column) })
}

/// `pg_describe_object(catalog, object, column)`.
pub(super) fn object(call: &Call<'_>) -> Result<Datum, SqlError> {
    let (class, oid, column) = (call.oid(0)?, call.oid(1)?, call.int(2)?);
    if class == PG_NAMESPACE {
        let schema = call.catalog.schemas().find(|schema| schema.oid == oid);
        return Ok(schema.map_or(Datum::Null, |schema| Datum::text(format!("schema {}", quote_ident(&schema.name)))));
    }
    if let Some(function) = call.catalog.function(oid).filter(|_| class == super::super::rows::PG_PROC) {
        return Ok(Datum::text(format!("function {}", super::user_routines::signature(function, call.catalog, call.session))));
    }
    if class != PG_CLASS {
        return Err(SqlError::unsupported("pg_describe_object() of what is neither a relation nor a schema"));
    }
    let Some((table, index)) = find_relation(call.catalog, oid) else { return Ok(Datum::Null) };
    let what = match (index, table.kind) {
        (Some(_), _) => "index",
        (None, RelationKind::View) => "view",
        (None, RelationKind::Sequence) => "sequence",
        (None, RelationKind::Table | RelationKind::Virtual) => "table",
    };
    let named = format!("{what} {}", quote_ident(index.map_or(&table.name, |index| &index.name)));
    let part = usize::try_from(column - 1).ok().and_then(|at| table.columns.get(at));
    Ok(Datum::text(match part {
        Some(column) => format!("column {} of {named}", quote_ident(&column.name)),
        None => named,
    }))
}

/// `pg_index_column_has_property(index, column, property)`.
pub(super) fn index_column_property(call: &Call<'_>) -> Result<Datum, SqlError> {
    let Some((_, Some(index))) = call.relation(0)? else { return Ok(Datum::Null) };
    let position = usize::try_from(call.int(1)? - 1).unwrap_or(usize::MAX);
    let Some(key) = index.key.get(position) else { return Ok(Datum::Null) };
    Ok(match call.text(2)?.to_ascii_lowercase().as_str() {
        "asc" => Datum::Bool(!key.descending),
        "desc" => Datum::Bool(key.descending),
        "nulls_first" => Datum::Bool(key.nulls_first),
        "nulls_last" => Datum::Bool(!key.nulls_first),
        "orderable" | "returnable" | "search_array" | "search_nulls" => Datum::Bool(true),
        "distance_orderable" => Datum::Bool(false),
        _ => Datum::Null,
    })
}

/// `pg_relation_is_updatable`, `pg_column_is_updatable`, `pg_relation_is_publishable`: users' tables are, nothing else is.
pub(super) fn updatable(call: &Call<'_>) -> Result<Datum, SqlError> {
    let found = call.relation(0)?;
    let is_table = found.is_some_and(|(table, index)| index.is_none() && table.kind == RelationKind::Table && table.oid >= FIRST_USER_OID);
    Ok(match (call.name, found) {
        ("pg_relation_is_updatable", _) => Datum::Int4(if is_table { UPDATABLE } else { 0 }),
        ("pg_column_is_updatable", Some((table, _))) => {
            let column = usize::try_from(call.int(1)? - 1).ok().and_then(|at| table.columns.get(at));
            Datum::Bool(is_table && column.is_some_and(|column| column.generated.is_none()))
        }
        ("pg_relation_is_publishable", None) => Datum::Null,
        _ => Datum::Bool(is_table),
    })
}
