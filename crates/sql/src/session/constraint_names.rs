//! The names that SET CONSTRAINTS gives: constraints of any table, found along the search path.

use crate::ast::ObjectName;
use crate::catalog::{Catalog, Oid, TableDescriptor};
use crate::error::{SqlError, SqlState};

/// A constraint that bears a name.
struct Named {
    oid: Oid,
    deferrable: bool,
}

/// The constraints of all the names. Names are not unique: every constraint of the first schema that has one is meant.
pub(super) fn find_all(names: &[ObjectName], catalog: &Catalog, path: &[String]) -> Result<Vec<Oid>, SqlError> {
    let mut found = Vec::new();
    for name in names {
        found.extend(find(name, catalog, path)?);
    }
    Ok(found)
}

fn find(name: &ObjectName, catalog: &Catalog, path: &[String]) -> Result<Vec<Oid>, SqlError> {
    let schemas: Vec<&str> = match &name.schema {
        Some(schema) => vec![schema],
        None => path.iter().map(String::as_str).collect(),
    };
    let in_schema = |schema: &&str| {
        let tables = catalog.relations().map(|relation| relation.descriptor()).filter(|table| table.schema == *schema);
        tables.flat_map(|table| of_table(table, &name.name)).collect::<Vec<_>>()
    };
    let found = schemas.iter().map(in_schema).find(|found| !found.is_empty());
    let missing = || SqlError::new(SqlState::UNDEFINED_OBJECT, format!("constraint \"{}\" does not exist", name.name));
    let found = found.ok_or_else(missing)?;
    if found.iter().any(|constraint| !constraint.deferrable) {
        return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("constraint \"{}\" is not deferrable", name.name)));
    }
    Ok(found.into_iter().map(|constraint| constraint.oid).collect())
}

fn of_table(table: &TableDescriptor, name: &str) -> Vec<Named> {
    let foreign = table.foreign_keys.iter().filter(|key| key.name == name).map(|key| Named { oid: key.oid, deferrable: key.deferrable });
    let is_deferrable = |index: Oid| table.index_by_oid(index).is_some_and(|index| index.deferrable);
    let unique = table.uniques.iter().filter(|unique| unique.name == name);
    let unique = unique.map(|unique| Named { oid: unique.oid, deferrable: is_deferrable(unique.index_oid) });
    let checks = table.checks.iter().filter(|check| check.name == name).map(|check| Named { oid: check.oid, deferrable: false });
    foreign.chain(unique).chain(checks).collect()
}
