//! What a name without a schema finds.

use super::Call;
use crate::catalog::{Catalog, FunctionDescriptor, TableDescriptor};
use crate::error::SqlError;
use crate::expr::SessionInfo;
use crate::functions::quoting::quote_ident;
use crate::types::Datum;

/// `pg_table_is_visible`: would the bare name find this relation?
pub(super) fn table(call: &Call<'_>) -> Result<Datum, SqlError> {
    let Some((table, index)) = call.relation(0)? else { return Ok(Datum::Null) };
    let name = index.map_or(table.name.as_str(), |index| index.name.as_str());
    Ok(Datum::Bool(is_visible(call.catalog, call.session, &table.schema, name)))
}

/// Is the schema in the path, and no relation or index of that name in a schema before it?
fn is_visible(catalog: &Catalog, session: &dyn SessionInfo, schema: &str, name: &str) -> bool {
    for candidate in session.current_schemas(true) {
        if candidate == schema {
            return true;
        }
        if catalog.relation_in(&candidate, name).is_some() || catalog.index_in(&candidate, name).is_some() {
            return false;
        }
    }
    false
}

/// A relation's name for SQL text, qualified only if it must be.
pub(super) fn shortest_name(call: &Call<'_>, table: &TableDescriptor) -> String {
    if is_visible(call.catalog, call.session, &table.schema, &table.name) { quote_ident(&table.name) } else { qualified_name(table) }
}

/// A relation's name with its schema.
pub(super) fn qualified_name(table: &TableDescriptor) -> String {
    format!("{}.{}", quote_ident(&table.schema), quote_ident(&table.name))
}

/// `pg_function_is_visible` of a user's function: would its bare name with its arguments find it?
pub(super) fn is_function_visible(catalog: &Catalog, session: &dyn SessionInfo, function: &FunctionDescriptor) -> bool {
    let path = session.current_schemas(true);
    let found = catalog.functions_named(None, &function.name, &path);
    found.iter().any(|known| known.oid == function.oid)
}
