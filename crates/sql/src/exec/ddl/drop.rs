//! DROP, with what depends on what is dropped.

use super::Ddl;
use super::dependents::Object;
use crate::ast::{Drop, ObjectKind, ObjectName, Statement};
use crate::bind::bind;
use crate::catalog::store::Change;
use crate::catalog::{Oid, RelationKind, TableDescriptor};
use crate::error::{SqlError, SqlState};

impl Ddl<'_, '_> {
    pub(super) async fn drop_objects(&mut self, drop: &Drop) -> Result<(), SqlError> {
        for name in &drop.names {
            self.check_database(name)?;
            match drop.kind {
                ObjectKind::Table => self.drop_relation(name, RelationKind::Table, drop)?,
                ObjectKind::View => self.drop_relation(name, RelationKind::View, drop)?,
                ObjectKind::Sequence => self.drop_relation(name, RelationKind::Sequence, drop)?,
                ObjectKind::Index => self.drop_index(name, drop)?,
                ObjectKind::Schema => self.drop_schema(name, drop)?,
                ObjectKind::Type => self.drop_type(name, drop).await?,
                ObjectKind::Domain => self.drop_domain(name, drop).await?,
                ObjectKind::Role | ObjectKind::Function | ObjectKind::Extension | ObjectKind::MaterializedView if drop.if_exists => {
                    self.notice(format!("{} \"{}\" does not exist, skipping", drop.kind.noun(), name.name));
                }
                other => return Err(SqlError::unsupported(format!("DROP {}", other.noun().to_uppercase()))),
            }
        }
        Ok(())
    }

    fn absent(&mut self, name: &ObjectName, kind: &str, drop: &Drop) -> Result<(), SqlError> {
        if let Some(schema) = name.schema.as_ref().filter(|s| self.catalog().schema(s).is_none()) {
            if !drop.if_exists {
                return Err(SqlError::new(SqlState::INVALID_SCHEMA_NAME, format!("schema \"{schema}\" does not exist")));
            }
            let notice = format!("schema \"{schema}\" does not exist, skipping");
            self.notice(notice);
            return Ok(());
        }
        let message = format!("{kind} \"{}\" does not exist", name.name);
        if drop.if_exists {
            self.notice(format!("{message}, skipping"));
            return Ok(());
        }
        let state = if kind == "index" { SqlState::UNDEFINED_OBJECT } else { SqlState::UNDEFINED_TABLE };
        Err(SqlError::new(state, message))
    }

    fn drop_relation(&mut self, name: &ObjectName, kind: RelationKind, drop: &Drop) -> Result<(), SqlError> {
        let noun = drop.kind.noun();
        if self.lookup(name).is_none() {
            return self.absent(name, noun, drop);
        }
        let table = self.find(name)?;
        if table.kind != kind {
            let article = if noun == "index" { "an" } else { "a" };
            let error = SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not {article} {noun}", table.name));
            let hint = match table.kind {
                RelationKind::Table => "Use DROP TABLE to remove a table.",
                RelationKind::View => "Use DROP VIEW to remove a view.",
                RelationKind::Sequence => "Use DROP SEQUENCE to remove a sequence.",
                RelationKind::Virtual => return Err(error),
            };
            return Err(error.hint(hint));
        }
        if let Some((owner, column)) = table.sequence.as_ref().and_then(|s| s.owned_by) {
            self.refuse_used_sequence(&table, owner, column)?;
        }
        self.remove_relation(table.oid, drop.cascade)
    }

    /// A sequence that is a column's identity.
    fn refuse_used_sequence(&self, sequence: &TableDescriptor, owner: Oid, column: usize) -> Result<(), SqlError> {
        let Ok(table) = self.table(owner) else { return Ok(()) };
        let Some(definition) = table.columns.get(column).cloned() else { return Ok(()) };
        if definition.identity.as_ref().is_some_and(|i| i.sequence_oid == sequence.oid) {
            let message =
                format!("cannot drop sequence {} because column {} of table {} requires it", sequence.name, definition.name, table.name);
            let hint = format!("You can drop column {} of table {} instead.", definition.name, table.name);
            return Err(SqlError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, message).hint(hint));
        }
        Ok(())
    }

    /// Removes a relation with everything that is part of it; what merely depends on it only with CASCADE.
    pub(super) fn remove_relation(&mut self, oid: Oid, cascade: bool) -> Result<(), SqlError> {
        let table = self.table(oid)?;
        // A sequence that a column owns goes with the table, and so does what depends on it.
        let owned = self.owned_sequences(&table, None).into_iter().map(|sequence| Object::Relation(sequence.oid));
        let going: Vec<Object> = std::iter::once(Object::Relation(oid)).chain(owned).collect();
        self.drop_dependents_of(&going, cascade)?;
        self.remove_relation_itself(oid)
    }

    /// Removes a relation with everything that is part of it.
    pub(super) fn remove_relation_itself(&mut self, oid: Oid) -> Result<(), SqlError> {
        if self.catalog().relation(oid).is_none() {
            return Ok(());
        }
        let table = self.table(oid)?;
        for foreign_key in table.foreign_keys.iter().filter(|f| f.parent != oid) {
            self.drop_foreign_key(foreign_key)?;
        }
        for sequence in self.owned_sequences(&table, None) {
            self.remove(sequence.oid);
        }
        self.give_up(&table);
        self.remove(oid);
        Ok(())
    }

    /// Views that read any of the relations.
    pub(super) fn views_on(&self, oids: &[Oid]) -> Vec<TableDescriptor> {
        let snapshot = self.snapshot();
        let reads = |view: &TableDescriptor| {
            let Some(query) = view.view_query.as_ref().and_then(|text| crate::parse::parse_query(text).ok()) else { return false };
            let bound = bind(&Statement::Query(Box::new(query)), &snapshot, self.ctx.plan_settings, &[]);
            bound.is_ok_and(|bound| bound.relations.iter().any(|r| oids.contains(r) && *r != view.oid))
        };
        let stored = snapshot
            .relations()
            .map(|r| r.descriptor())
            .filter(|t| t.kind == RelationKind::View && t.oid >= crate::catalog::FIRST_USER_OID);
        stored.filter(|t| reads(t)).map(|t| TableDescriptor::clone(t)).collect()
    }

    fn drop_index(&mut self, name: &ObjectName, drop: &Drop) -> Result<(), SqlError> {
        let found = self.catalog().resolve_index(name.schema.as_deref(), &name.name, &self.ctx.plan_settings.search_path);
        let Some((table, place)) = found.map(|(t, p)| (TableDescriptor::clone(t), p)) else {
            return self.absent(name, "index", drop);
        };
        let mut table = table;
        let constraint = match place {
            None => Some(table.primary.name.clone()),
            Some(place) => table.uniques.iter().find(|u| u.index_oid == table.indexes[place].oid).map(|u| u.name.clone()),
        };
        if let Some(constraint) = constraint {
            let message = format!("cannot drop index {} because constraint {constraint} on table {} requires it", name.name, table.name);
            let hint = format!("You can drop constraint {constraint} on table {} instead.", table.name);
            return Err(SqlError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, message).hint(hint));
        }
        let Some(place) = place else { return Ok(()) };
        let index = table.indexes[place].clone();
        self.drop_referencing(&table, Some(index.oid), &format!("index {}", index.name), drop.cascade)?;
        table = self.table(table.oid)?;
        table.indexes.retain(|i| i.oid != index.oid);
        super::expression_index::drop_unused_expressions(&mut table);
        self.ctx.state.dropped_indexes.push(crate::exec::table_keys::index_id(&index));
        self.put(table);
        Ok(())
    }

    fn drop_schema(&mut self, name: &ObjectName, drop: &Drop) -> Result<(), SqlError> {
        let Some(schema) = self.catalog().schema(&name.name).cloned() else {
            let message = format!("schema \"{}\" does not exist", name.name);
            if drop.if_exists {
                self.notice(format!("{message}, skipping"));
                return Ok(());
            }
            return Err(SqlError::new(SqlState::INVALID_SCHEMA_NAME, message));
        };
        if schema.oid < crate::catalog::FIRST_USER_OID && schema.name != "public" {
            let message = format!("cannot drop schema {} because it is required by the database system", schema.name);
            return Err(SqlError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, message));
        }
        let inside: Vec<(Oid, String)> = self
            .catalog()
            .relations()
            .map(|r| r.descriptor())
            .filter(|t| t.schema == schema.name && t.sequence.as_ref().is_none_or(|s| s.owned_by.is_none()))
            .map(|t| {
                let noun = match t.kind {
                    RelationKind::View => "view",
                    RelationKind::Sequence => "sequence",
                    _ => "table",
                };
                (t.oid, format!("{noun} {}.{}", t.schema, t.name))
            })
            .collect();
        let domains = schema.domains.iter().map(|domain| &domain.name);
        let types = schema.enums.iter().map(|e| &e.name).chain(domains).map(|name| format!("type {}.{name}", schema.name));
        let functions: Vec<_> = self.catalog().functions_in_order().into_iter().filter(|f| f.schema == schema.name).cloned().collect();
        let mut lines: Vec<String> = inside.iter().map(|(_, line)| line.clone()).chain(types).collect();
        lines.sort();
        lines.extend(self.lines_of_functions(&functions, &schema.name));
        let is_of_schema = |ty: crate::types::DataType| schema.enums.iter().any(|e| e.oid == ty.0 || e.array_oid == ty.0);
        let declared = |oid: Option<Oid>| oid.is_some_and(|oid| schema.domains.iter().any(|d| d.oid == oid || d.array_oid == oid));
        let uses = |table: &TableDescriptor| {
            table.schema != schema.name && table.visible_columns().any(|(_, c)| is_of_schema(c.ty.ty) || declared(c.declared))
        };
        let above =
            |domain: &crate::catalog::DomainDescriptor| !schema.domains.iter().any(|own| own.oid == domain.oid) && declared(domain.parent);
        let has_users =
            self.catalog().relations().any(|relation| uses(relation.descriptor())) || self.catalog().domains().any(|(_, d)| above(d));
        if drop.cascade && has_users {
            return Err(SqlError::unsupported("DROP SCHEMA ... CASCADE of a type that columns elsewhere have"));
        }
        self.dependents(&format!("schema {}", schema.name), &lines, drop.cascade)?;
        // What holds only among those that go is not worth a notice each.
        for (oid, _) in &inside {
            let keys = self.catalog().table(*oid).map(|table| table.foreign_keys.clone()).unwrap_or_default();
            keys.iter().try_for_each(|key| self.drop_foreign_key(key))?;
        }
        let told = self.ctx.notices.len();
        for function in &functions {
            self.drop_dependents(Object::Function(function.oid), true)?;
            self.remove_function(function.oid);
        }
        self.ctx.notices.truncate(told);
        let (views, others): (Vec<_>, Vec<_>) = inside.into_iter().partition(|(_, line)| line.starts_with("view "));
        for (oid, _) in views.into_iter().chain(others) {
            if self.catalog().relation(oid).is_some() {
                self.remove_relation(oid, true)?;
            }
        }
        self.builder.drop_schema(&schema.name);
        self.changes.push(Change::DropSchema(schema.oid, schema.name.clone()));
        Ok(())
    }
}
