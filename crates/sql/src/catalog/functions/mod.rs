//! Functions that ask the catalog: `pg_get_indexdef`, `pg_table_is_visible`, `obj_description`, `has_table_privilege` ...
//!
//! [`crate::functions::system`] lists their signatures; the session passes calls on to [`call`] with its snapshot of the catalog. All are strict, so no
//! argument is NULL. What asks for a thing that does not exist gives NULL, as in PostgreSQL, unless PostgreSQL raises an error there.

mod definitions;
mod describe;
mod privileges;
mod routines;
mod sizes;
mod user_routines;
mod visibility;

use super::{Catalog, IndexDescriptor, Oid, TableDescriptor};
use crate::error::{SqlError, SqlState};
use crate::expr::{ObjectKind, SessionInfo};
use crate::types::Datum;
use std::sync::Arc;

pub(crate) use definitions::{bare, index_attribute};
pub use routines::{function_name, function_oid, operator_name, operator_oid, procedure_name};

/// The role that owns everything: PostgreSQL's bootstrap superuser.
pub const OWNER_OID: Oid = 10;

/// The role that owns the schema `public`, as in PostgreSQL.
pub const DATABASE_OWNER_OID: Oid = 6171;
/// Its name.
pub(super) const DATABASE_OWNER: &str = "pg_database_owner";

/// A call's surroundings.
pub(super) struct Call<'c> {
    name: &'static str,
    args: &'c [Datum],
    catalog: &'c Catalog,
    session: &'c dyn SessionInfo,
}

/// The result of a catalog function.
pub fn call(name: &'static str, args: &[Datum], catalog: &Arc<Catalog>, session: &dyn SessionInfo) -> Result<Datum, SqlError> {
    let call = Call { name, args, catalog, session };
    match name {
        "pg_table_is_visible" => visibility::table(&call),
        "pg_my_temp_schema" => Ok(Datum::Oid(catalog.temporary_schema().map_or(0, |schema| schema.oid))),
        // Others' temporary schemas are not in this session's catalog.
        "pg_is_other_temp_schema" => Ok(Datum::Bool(false)),
        "pg_function_is_visible" => Ok(match catalog.function(call.oid(0)?) {
            Some(function) => Datum::Bool(visibility::is_function_visible(catalog, session, function)),
            None => Datum::Bool(super::rows::routine(call.oid(0)?).is_some()),
        }),
        "pg_get_userbyid" => call.user_name(),
        "pg_get_expr" => definitions::expression(&call),
        "pg_get_indexdef" => definitions::index(&call),
        "pg_get_constraintdef" => definitions::constraint(&call),
        "pg_get_viewdef" => definitions::view(&call),
        "pg_get_ruledef"
        | "pg_get_triggerdef"
        | "pg_get_partkeydef"
        | "pg_get_partition_constraintdef"
        | "pg_get_statisticsobjdef"
        | "pg_get_statisticsobjdef_columns" => Ok(Datum::Null),
        "pg_get_function_sqlbody" => routines::sql_body(&call),
        "pg_get_functiondef" => routines::definition(&call),
        "pg_get_function_arg_default" => routines::argument_default(&call),
        "pg_get_function_arguments" | "pg_get_function_identity_arguments" => routines::arguments(&call),
        "pg_get_function_result" => routines::result(&call),
        "oidvectortypes" => routines::vector_types(&call),
        "pg_char_to_encoding" => Ok(Datum::Int4(encoding(call.text(0)?))),
        "pg_get_serial_sequence" => describe::serial_sequence(&call),
        "obj_description" => describe::object_comment(&call),
        "col_description" => describe::column_comment(&call),
        "shobj_description" => describe::shared_comment(&call),
        "pg_describe_object" => describe::object(&call),
        "pg_index_column_has_property" => describe::index_column_property(&call),
        "pg_relation_filenode" => Ok(call.relation(0)?.map_or(Datum::Null, |_| call.args[0].clone())),
        "pg_relation_is_publishable" | "pg_relation_is_updatable" | "pg_column_is_updatable" => describe::updatable(&call),
        "pg_relation_size" | "pg_table_size" | "pg_indexes_size" | "pg_total_relation_size" => sizes::relation(&call),
        "pg_database_size" => sizes::database(&call),
        "pg_tablespace_size" => Ok(sizes::tablespace(&call)),
        "pg_tablespace_location" => Ok(Datum::text("")),
        "acldefault" => privileges::default(&call),
        "pg_has_role" => Ok(Datum::Bool(true)),
        name if name.starts_with("has_") => privileges::has(&call),
        name => Err(SqlError::unsupported(format_args!("{name}()"))),
    }
}

/// PostgreSQL's number of an encoding; -1 if it isn't one of ours.
fn encoding(name: &str) -> i32 {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    match plain.to_ascii_lowercase().as_str() {
        "utf8" | "unicode" => 6,
        "sqlascii" => 0,
        _ => -1,
    }
}

impl<'c> Call<'c> {
    /// A number as an object's OID.
    fn oid(&self, at: usize) -> Result<Oid, SqlError> {
        match self.args.get(at) {
            Some(Datum::Oid(oid)) => Ok(*oid),
            Some(Datum::Int4(n)) => Ok(*n as u32),
            Some(Datum::Int8(n)) => Ok(*n as u32),
            _ => Err(self.misfit()),
        }
    }

    fn int(&self, at: usize) -> Result<i64, SqlError> {
        match self.args.get(at) {
            Some(Datum::Int2(n)) => Ok(i64::from(*n)),
            Some(Datum::Int4(n)) => Ok(i64::from(*n)),
            Some(Datum::Int8(n)) => Ok(*n),
            _ => Err(self.misfit()),
        }
    }

    fn text(&self, at: usize) -> Result<&'c str, SqlError> {
        match self.args.get(at) {
            Some(Datum::Text(text)) => Ok(text),
            _ => Err(self.misfit()),
        }
    }

    /// Is the last argument `true`? (`pretty` of the `pg_get_` family.)
    fn is_pretty(&self) -> bool {
        matches!(self.args.last(), Some(Datum::Bool(true)))
    }

    fn misfit(&self) -> SqlError {
        SqlError::new(SqlState::INTERNAL_ERROR, format!("{} was called with arguments of other types than it has", self.name))
    }

    /// A table, view, sequence or index by OID; an index comes with its table.
    fn relation(&self, at: usize) -> Result<Option<(&'c TableDescriptor, Option<&'c IndexDescriptor>)>, SqlError> {
        Ok(find_relation(self.catalog, self.oid(at)?))
    }

    /// A relation by its name as SQL writes it, or 42P01.
    fn relation_named(&self, at: usize) -> Result<&'c TableDescriptor, SqlError> {
        let name = self.text(at)?;
        let oid = self.session.object_oid(ObjectKind::Relation, name);
        let found = oid.and_then(|oid| find_relation(self.catalog, oid));
        found.map(|(table, _)| table).ok_or_else(|| SqlError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{name}\" does not exist")))
    }

    /// A database by name, or 3D000.
    fn database_named(&self, name: &str) -> Result<Oid, SqlError> {
        let shared = self.session.shared();
        shared.database_named(name).map(|database| database.oid).ok_or_else(|| crate::exec::ddl::no_such_database(name))
    }

    fn user_name(&self) -> Result<Datum, SqlError> {
        let oid = self.oid(0)?;
        if oid == DATABASE_OWNER_OID {
            return Ok(Datum::text(DATABASE_OWNER));
        }
        let known = self.session.object_name(ObjectKind::Role, oid);
        Ok(Datum::text(known.unwrap_or_else(|| format!("unknown (OID={oid})"))))
    }
}

/// A table, view, sequence or index by OID.
fn find_relation(catalog: &Catalog, oid: Oid) -> Option<(&TableDescriptor, Option<&IndexDescriptor>)> {
    if oid == 0 {
        return None;
    }
    if let Some(table) = catalog.table(oid) {
        return Some((table, None));
    }
    let table = catalog.owner(oid)?;
    table.all_indexes().find(|index| index.oid == oid).map(|index| (table.as_ref(), Some(index)))
}
