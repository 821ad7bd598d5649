//! Definitions as SQL text: indexes, constraints, views.

use super::visibility::{qualified_name, shortest_name};
use super::{Call, find_relation};
use crate::ast::ReferentialAction;
use crate::catalog::rows::{Constraint, ConstraintKind, constraints_of};
use crate::catalog::{CheckConstraint, Column, ForeignKey, IndexColumn, IndexDescriptor, TableDescriptor};
use crate::error::SqlError;
use crate::functions::quoting::quote_ident;
use crate::types::Datum;
use std::fmt::Write;

/// `pg_get_indexdef(index)`, or of one of its columns.
pub(super) fn index(call: &Call<'_>) -> Result<Datum, SqlError> {
    let Some((table, Some(index))) = call.relation(0)? else { return Ok(Datum::Null) };
    let column = if call.args.len() > 1 { call.int(1)? } else { 0 };
    if column != 0 {
        let positions = index.key.iter().map(|key| key.column).chain(index.include.iter().copied());
        let named =
            usize::try_from(column - 1).ok().and_then(|nth| positions.skip(nth).map(|at| key_name(table, at, call.is_pretty())).next());
        return Ok(Datum::text(named.unwrap_or_default()));
    }
    let on = if call.is_pretty() { shortest_name(call, table) } else { qualified_name(table) };
    Ok(Datum::text(index_definition(table, index, &on, call.is_pretty())))
}

fn index_definition(table: &TableDescriptor, index: &IndexDescriptor, on: &str, pretty: bool) -> String {
    let unique = if index.unique { "UNIQUE " } else { "" };
    let key: Vec<String> = index.key.iter().map(|key| format!("{}{}", key_name(table, key.column, pretty), order(key))).collect();
    let mut text = format!("CREATE {unique}INDEX {} ON {on} USING btree ({})", quote_ident(&index.name), key.join(", "));
    include(table, index, &mut text);
    if index.unique && !index.nulls_distinct {
        text.push_str(" NULLS NOT DISTINCT");
    }
    if let Some(predicate) = &index.predicate {
        let _ = write!(text, " WHERE {}", if pretty { bare(predicate).to_owned() } else { format!("({})", bare(predicate)) });
    }
    text
}

fn include(table: &TableDescriptor, index: &IndexDescriptor, text: &mut String) {
    if !index.include.is_empty() {
        let _ = write!(text, " INCLUDE ({})", column_list(table, &index.include));
    }
}

/// NULLs come last ascending and first descending unless it is said otherwise.
fn order(key: &IndexColumn) -> &'static str {
    match (key.descending, key.nulls_first) {
        (false, false) => "",
        (false, true) => " NULLS FIRST",
        (true, true) => " DESC",
        (true, false) => " DESC NULLS LAST",
    }
}

fn column_name(table: &TableDescriptor, position: usize) -> String {
    // The name of a hidden column is its expression.
    table.columns.get(position).map_or(String::new(), |column| if column.hidden { column.name.clone() } else { quote_ident(&column.name) })
}

/// What an index is over: a column, a call, or another expression, which has parentheses of its own unless that is to be pretty.
fn key_name(table: &TableDescriptor, position: usize, pretty: bool) -> String {
    let name = column_name(table, position);
    let is_expression = table.columns.get(position).is_some_and(Column::is_expression) && name.starts_with('(');
    if is_expression && !pretty { format!("({name})") } else { name }
}

fn column_list(table: &TableDescriptor, positions: &[usize]) -> String {
    let names: Vec<String> = positions.iter().map(|at| column_name(table, *at)).collect();
    names.join(", ")
}

/// What an index's own column is called: a table's column as there, an expression after its outermost function.
pub(crate) fn index_attribute(column: &Column) -> String {
    let Some(text) = column.generated.as_ref().filter(|_| column.hidden) else { return column.name.clone() };
    crate::bind::expression_name(text).unwrap_or_else(|| "expr".to_owned())
}

/// An expression without the parentheses around the whole of it.
pub(crate) fn bare(expr: &str) -> &str {
    let trimmed = expr.trim();
    let Some(inner) = trimmed.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else { return trimmed };
    let mut depth = 0i32;
    let mut in_string = false;
    for c in inner.chars() {
        match c {
            '\'' => in_string = !in_string,
            '(' if !in_string => depth += 1,
            ')' if !in_string => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return trimmed;
        }
    }
    bare(inner)
}

/// `pg_get_constraintdef`.
pub(super) fn constraint(call: &Call<'_>) -> Result<Datum, SqlError> {
    let oid = call.oid(0)?;
    if let Some(check) = call.catalog.domains().flat_map(|(_, domain)| &domain.checks).find(|check| check.oid == oid) {
        return Ok(Datum::text(check_definition(call, check)));
    }
    let table = call.catalog.owner(oid);
    let found = table.and_then(|table| constraints_of(call.catalog, table).find(|constraint| constraint.oid() == oid));
    Ok(found.map_or(Datum::Null, |constraint| Datum::text(constraint_definition(call, &constraint))))
}

fn constraint_definition(call: &Call<'_>, constraint: &Constraint<'_>) -> String {
    let table = constraint.table;
    match constraint.kind {
        ConstraintKind::Check(check) => check_definition(call, check),
        ConstraintKind::Primary(index) => keyed("PRIMARY KEY", table, index),
        ConstraintKind::Unique(_, index) if index.nulls_distinct => keyed("UNIQUE", table, index),
        ConstraintKind::Unique(_, index) => keyed("UNIQUE NULLS NOT DISTINCT", table, index),
        ConstraintKind::Foreign(key, _) => foreign_key(call, table, key),
    }
}

fn check_definition(call: &Call<'_>, check: &CheckConstraint) -> String {
    let expr = bare(&check.expr);
    let valid = if check.validated { "" } else { " NOT VALID" };
    if call.is_pretty() { format!("CHECK ({expr}){valid}") } else { format!("CHECK (({expr})){valid}") }
}

fn keyed(what: &str, table: &TableDescriptor, index: &IndexDescriptor) -> String {
    let key: Vec<usize> = index.key.iter().map(|key| key.column).collect();
    let mut text = format!("{what} ({})", column_list(table, &key));
    include(table, index, &mut text);
    text.push_str(if index.deferrable { " DEFERRABLE" } else { "" });
    text.push_str(if index.initially_deferred { " INITIALLY DEFERRED" } else { "" });
    text
}

fn foreign_key(call: &Call<'_>, table: &TableDescriptor, key: &ForeignKey) -> String {
    let mut text = format!("FOREIGN KEY ({})", column_list(table, &key.child_columns));
    if let Some((parent, _)) = find_relation(call.catalog, key.parent) {
        let _ = write!(text, " REFERENCES {}({})", shortest_name(call, parent), column_list(parent, &key.parent_columns));
    }
    text.push_str(if key.match_full { " MATCH FULL" } else { "" });
    for (event, action) in [("UPDATE", key.on_update), ("DELETE", key.on_delete)] {
        if let Some(action) = action_text(action) {
            let _ = write!(text, " ON {event} {action}");
        }
    }
    text.push_str(if key.deferrable { " DEFERRABLE" } else { "" });
    text.push_str(if key.initially_deferred { " INITIALLY DEFERRED" } else { "" });
    text.push_str(if key.validated { "" } else { " NOT VALID" });
    text
}

fn action_text(action: ReferentialAction) -> Option<&'static str> {
    match action {
        ReferentialAction::NoAction => None,
        ReferentialAction::Restrict => Some("RESTRICT"),
        ReferentialAction::Cascade => Some("CASCADE"),
        ReferentialAction::SetNull => Some("SET NULL"),
        ReferentialAction::SetDefault => Some("SET DEFAULT"),
    }
}

/// `pg_get_expr`: expressions are kept as SQL text; only relations in them go by number (`'16385'::regclass`) and are shown by name.
pub(super) fn expression(call: &Call<'_>) -> Result<Datum, SqlError> {
    let text = call.text(0)?;
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("'::regclass") {
        let start = before.rfind('\'').map_or(0, |at| at + 1);
        let relation = before[start..].parse().ok().and_then(|oid| find_relation(call.catalog, oid));
        match relation {
            Some((table, _)) => shown.extend([&before[..start], &shortest_name(call, table).replace('\'', "''")]),
            None => shown.push_str(before),
        }
        shown.push_str("'::regclass");
        rest = after;
    }
    shown.push_str(rest);
    Ok(Datum::text(shown))
}

/// `pg_get_viewdef(view)`, by OID or by name: the query as it was written.
pub(super) fn view(call: &Call<'_>) -> Result<Datum, SqlError> {
    let table = match call.args.first() {
        Some(Datum::Text(_)) => Some(call.relation_named(0)?),
        _ => call.relation(0)?.map(|(table, _)| table),
    };
    let query = table.and_then(|table| table.view_query.as_deref());
    Ok(query.map_or(Datum::Null, |query| Datum::text(format!(" {};", query.trim().trim_end_matches(';')))))
}
