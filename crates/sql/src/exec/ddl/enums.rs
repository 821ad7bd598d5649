//! CREATE TYPE ... AS ENUM, ALTER TYPE, DROP TYPE.
//!
//! An enum is part of its schema's descriptor. Sort orders are floats: a label that is put between two others gets the number in between, so no value
//! that is stored changes.

use super::Ddl;
use crate::ast::{AlterEnumAction, Drop, ObjectName};
use crate::catalog::RelationKind;
use crate::error::{SqlError, SqlState};
use crate::types::DataType;
use crate::types::enums::EnumDescriptor;
use crate::types::text::NAME_BYTES_MAX;

/// How often a label can be put between two others before the numbers in between run out.
fn between(low: f32, high: f32) -> Result<f32, SqlError> {
    let middle = low + (high - low) / 2.0;
    if middle <= low || middle >= high {
        return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "there is no room for a label in that place"));
    }
    Ok(middle)
}

fn check_label(label: &str) -> Result<(), SqlError> {
    if label.is_empty() || label.len() > NAME_BYTES_MAX {
        return Err(SqlError::new(SqlState::INVALID_NAME, format!("invalid enum label \"{label}\""))
            .detail(format!("Labels must be {NAME_BYTES_MAX} bytes or less.")));
    }
    Ok(())
}

impl Ddl<'_, '_> {
    pub(super) async fn create_enum(&mut self, name: &ObjectName, labels: &[String]) -> Result<(), SqlError> {
        let schema = self.schema_of_type(name)?;
        if self.is_type_name_taken(&schema.name, &name.name) {
            return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, format!("type \"{}\" already exists", name.name)));
        }
        for (at, label) in labels.iter().enumerate() {
            check_label(label)?;
            if labels[..at].contains(label) {
                return Err(SqlError::new(
                    SqlState::UNIQUE_VIOLATION,
                    "duplicate key value violates unique constraint \"pg_enum_typid_label_index\"",
                ));
            }
        }
        let (oid, array_oid) = (self.new_oid().await?, self.new_oid().await?);
        let mut entries = Vec::with_capacity(labels.len());
        for (at, label) in labels.iter().enumerate() {
            entries.push((self.new_oid().await?, at as f32 + 1.0, label.clone()));
        }
        let owner = self.ctx.plan_settings.user.clone();
        let made = EnumDescriptor { oid, array_oid, name: name.name.clone(), owner, comment: None, labels: entries };
        self.change_schema(&schema.name, |schema| schema.enums.push(made))
    }

    /// The schema of an enum type, and its place there.
    pub(super) fn find_enum(&self, name: &ObjectName) -> Result<(String, usize), SqlError> {
        let found = self.catalog().enum_named(name.schema.as_deref(), &name.name, &self.ctx.plan_settings.search_path);
        let place = found.and_then(|(schema, found)| {
            let at = schema.enums.iter().position(|e| e.oid == found.oid)?;
            Some((schema.name.clone(), at))
        });
        place.ok_or_else(|| SqlError::new(SqlState::UNDEFINED_OBJECT, format!("type \"{name}\" does not exist")))
    }

    pub(super) async fn alter_enum(&mut self, name: &ObjectName, action: &AlterEnumAction) -> Result<(), SqlError> {
        let (schema, at) = self.find_enum(name)?;
        match action {
            AlterEnumAction::OwnerTo(owner) => self.change_schema(&schema, |schema| schema.enums[at].owner.clone_from(owner)),
            AlterEnumAction::RenameValue { from, to } => {
                check_label(to)?;
                let mut labels = self.labels_of(&schema, at);
                if labels.iter().any(|(.., label)| label == to) {
                    return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, format!("enum label \"{to}\" already exists")));
                }
                let missing = || SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("\"{from}\" is not an existing enum label"));
                let label = labels.iter_mut().find(|(.., label)| label == from).ok_or_else(missing)?;
                label.2.clone_from(to);
                self.change_schema(&schema, |schema| schema.enums[at].labels = labels)
            }
            AlterEnumAction::AddValue { label, if_not_exists, place } => {
                check_label(label)?;
                let mut labels = self.labels_of(&schema, at);
                if labels.iter().any(|(.., have)| have == label) {
                    if *if_not_exists {
                        self.skipped(SqlState::DUPLICATE_OBJECT, format!("enum label \"{label}\" already exists"));
                        return Ok(());
                    }
                    return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, format!("enum label \"{label}\" already exists")));
                }
                let (index, order) = place_of(&labels, place.as_ref())?;
                labels.insert(index, (self.new_oid().await?, order, label.clone()));
                self.change_schema(&schema, |schema| schema.enums[at].labels = labels)
            }
        }
    }

    fn labels_of(&self, schema: &str, at: usize) -> Vec<(u32, f32, String)> {
        self.catalog().schema(schema).and_then(|schema| schema.enums.get(at)).map_or(Vec::new(), |e| e.labels.clone())
    }

    pub(super) fn drop_enum(&mut self, name: &ObjectName, drop: &Drop) -> Result<(), SqlError> {
        let (schema, at) = match self.find_enum(name) {
            Ok(found) => found,
            Err(_) if drop.if_exists => {
                self.notice(format!("type \"{}\" does not exist, skipping", name.name));
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let Some(found) = self.catalog().schema(&schema).and_then(|schema| schema.enums.get(at)).cloned() else { return Ok(()) };
        let mut tables: Vec<_> = self.catalog().relations().map(|relation| relation.descriptor()).collect();
        tables.sort_unstable_by_key(|table| table.oid);
        let mut lines = Vec::new();
        // What has the array type goes first, as the array type goes before the type.
        for (ty, shown) in [(found.array_oid, format!("{}[]", found.name)), (found.oid, found.name.clone())] {
            for table in &tables {
                let kind = if table.kind == RelationKind::View { "view" } else { "table" };
                let columns = table.visible_columns().filter(|(_, column)| column.ty.ty == DataType(ty));
                lines.extend(columns.map(|(_, c)| format!("column {} of {kind} {} depends on type {shown}", c.name, table.name)));
            }
        }
        if !lines.is_empty() {
            if drop.cascade {
                return Err(SqlError::unsupported("DROP TYPE ... CASCADE of a type that columns have"));
            }
            let message = format!("cannot drop type {} because other objects depend on it", found.name);
            return Err(SqlError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, message)
                .detail(lines.join("\n"))
                .hint("Use DROP ... CASCADE to drop the dependent objects too."));
        }
        self.drop_dependents(super::dependents::Object::Type(found.oid), drop.cascade)?;
        self.change_schema(&schema, |schema| drop_at(&mut schema.enums, at))
    }
}

fn drop_at(enums: &mut Vec<EnumDescriptor>, at: usize) {
    enums.remove(at);
}

/// Where a new label goes: its index and its sort order.
fn place_of(labels: &[(u32, f32, String)], place: Option<&(bool, String)>) -> Result<(usize, f32), SqlError> {
    let order = |at: usize| labels.get(at).map(|(_, order, _)| *order);
    let Some((before, neighbour)) = place else {
        return Ok((labels.len(), labels.last().map_or(1.0, |(_, order, _)| order + 1.0)));
    };
    let missing = || SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("\"{neighbour}\" is not an existing enum label"));
    let at = labels.iter().position(|(.., label)| label == neighbour).ok_or_else(missing)?;
    let index = if *before { at } else { at + 1 };
    let order = match (index.checked_sub(1).and_then(order), order(index)) {
        (Some(low), Some(high)) => between(low, high)?,
        (Some(low), None) => low + 1.0,
        (None, Some(high)) => high - 1.0,
        (None, None) => 1.0,
    };
    Ok((index, order))
}
