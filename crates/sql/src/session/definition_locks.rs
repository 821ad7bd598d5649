//! Which locks a definition needs: from its syntax tree and the catalog, as PostgreSQL's manual lists them.
//!
//! | statement | its table | others |
//! |---|---|---|
//! | ALTER TABLE, DROP, TRUNCATE, VACUUM FULL | AccessExclusive | foreign keys' other ends, what goes with CASCADE |
//! | ADD FOREIGN KEY, CREATE TABLE ... REFERENCES | ShareRowExclusive | the parent likewise |
//! | CREATE INDEX, REINDEX | Share; AccessExclusive over an expression | |
//! | VALIDATE, SET STATISTICS, storage parameters, ANALYZE, VACUUM, COMMENT | ShareUpdateExclusive | |
//! | CREATE VIEW, CREATE TABLE AS | | AccessShare on what the query reads |
//!
//! CREATE INDEX CONCURRENTLY takes Share, since it is built like any other.

use crate::ast::{
    AlterTable, AlterTableAction, ColumnConstraintKind, CreateTable, Drop, ObjectKind, ObjectName, ReindexKind, Statement, TableConstraint,
    TableConstraintKind, TableLockMode, Truncate,
};
use crate::bind::bind;
use crate::catalog::{Catalog, Oid, TableDescriptor};
use crate::locks::TableLock;
use crate::plan::PlanSettings;
use std::sync::Arc;

/// Collects the locks.
struct Finder<'c> {
    catalog: &'c Catalog,
    settings: &'c PlanSettings,
    locks: Vec<TableLock>,
}

/// The locks of a definition. What does not exist is left out: the definition itself says so.
pub(super) fn definition_locks(statement: &Statement, catalog: &Catalog, settings: &PlanSettings) -> Vec<TableLock> {
    let mut finder = Finder { catalog, settings, locks: Vec::new() };
    finder.statement(statement);
    finder.locks
}

impl Finder<'_> {
    fn statement(&mut self, statement: &Statement) {
        use TableLockMode::{AccessExclusive, Share, ShareRowExclusive, ShareUpdateExclusive};
        match statement {
            Statement::CreateTable(create) => self.create_table(create),
            Statement::CreateTableAs(create) => self.query(&create.query),
            Statement::CreateView(create) => {
                self.named(&create.name, AccessExclusive);
                self.query(&Statement::Query(Box::new(create.query.clone())));
            }
            Statement::AlterTable(alter) => self.alter_table(alter),
            Statement::CreateIndex(create) => {
                // The values of an expression are written into the rows.
                let expression = create.columns.iter().any(|element| !matches!(element.item.expr, crate::ast::Expr::Column(_)));
                self.named(&create.table, if expression { AccessExclusive } else { Share });
            }
            Statement::AlterSequence(alter) => self.named(&alter.name, ShareRowExclusive),
            Statement::AlterIndexRename { index, .. } => self.index(index, ShareUpdateExclusive),
            Statement::AlterSchemaRename { schema, .. } => self.schema(schema),
            Statement::Drop(drop) => self.drop_objects(drop),
            Statement::Truncate(truncate) => self.truncate(truncate),
            Statement::Comment(comment) if matches!(comment.kind, ObjectKind::Table | ObjectKind::View | ObjectKind::Column) => {
                self.named(&comment.name, ShareUpdateExclusive);
            }
            Statement::Analyze { targets, .. } => targets.iter().for_each(|target| self.named(&target.table, ShareUpdateExclusive)),
            Statement::Vacuum(vacuum) => {
                let mode = if vacuum.full { AccessExclusive } else { ShareUpdateExclusive };
                vacuum.targets.iter().for_each(|target| self.named(&target.table, mode));
            }
            Statement::Reindex { name: Some(name), kind: ReindexKind::Table } => self.named(name, Share),
            Statement::Reindex { name: Some(name), kind: ReindexKind::Index } => self.index(name, Share),
            _ => {}
        }
    }

    fn add(&mut self, relation: Oid, mode: TableLockMode) {
        let lock = TableLock { relation, mode };
        if !self.locks.contains(&lock) {
            self.locks.push(lock);
        }
    }

    fn find(&self, name: &ObjectName) -> Option<Arc<TableDescriptor>> {
        let found = self.catalog.resolve(name.schema.as_deref(), &name.name, &self.settings.search_path);
        found.map(|relation| Arc::clone(relation.descriptor()))
    }

    fn named(&mut self, name: &ObjectName, mode: TableLockMode) {
        if let Some(table) = self.find(name) {
            self.add(table.oid, mode);
        }
    }

    /// An index is locked through its table.
    fn index(&mut self, name: &ObjectName, mode: TableLockMode) {
        let found = self.catalog.resolve_index(name.schema.as_deref(), &name.name, &self.settings.search_path);
        if let Some(oid) = found.map(|(table, _)| table.oid) {
            self.add(oid, mode);
        }
    }

    fn query(&mut self, query: &Statement) {
        if let Ok(bound) = bind(query, self.catalog, self.settings, &[]) {
            bound.relations.iter().for_each(|relation| self.add(*relation, TableLockMode::AccessShare));
        }
    }

    fn schema(&mut self, schema: &str) {
        let inside = self.catalog.relations().map(|relation| relation.descriptor()).filter(|table| table.schema == schema);
        let mut oids: Vec<Oid> = inside.map(|table| table.oid).collect();
        oids.sort_unstable();
        oids.into_iter().for_each(|oid| self.add(oid, TableLockMode::AccessExclusive));
    }

    fn create_table(&mut self, create: &CreateTable) {
        let of_columns = create.columns.iter().flat_map(|column| &column.constraints).filter_map(|constraint| match &constraint.kind {
            ColumnConstraintKind::References(spec) => Some(&spec.table),
            _ => None,
        });
        let parents: Vec<&ObjectName> = of_columns.chain(create.constraints.iter().filter_map(parent_of)).collect();
        parents.into_iter().for_each(|parent| self.named(parent, TableLockMode::ShareRowExclusive));
    }

    fn alter_table(&mut self, alter: &AlterTable) {
        if alter.kind == ObjectKind::Index {
            return self.index(&alter.name, TableLockMode::ShareUpdateExclusive);
        }
        let Some(table) = self.find(&alter.name) else { return };
        let strongest = alter.actions.iter().map(mode_of).max().unwrap_or(TableLockMode::AccessExclusive);
        self.add(table.oid, strongest);
        for action in &alter.actions {
            match action {
                AlterTableAction::AddConstraint(constraint) => {
                    if let Some(parent) = parent_of(constraint) {
                        self.named(parent, TableLockMode::ShareRowExclusive);
                    }
                }
                AlterTableAction::AddColumn { column, .. } => {
                    for constraint in &column.constraints {
                        if let ColumnConstraintKind::References(spec) = &constraint.kind {
                            self.named(&spec.table, TableLockMode::ShareRowExclusive);
                        }
                    }
                }
                AlterTableAction::DropConstraint { constraint, cascade, .. } => self.drop_constraint(&table, constraint, *cascade),
                AlterTableAction::DropColumn { .. } => self.other_ends(&table),
                _ => {}
            }
        }
    }

    fn drop_constraint(&mut self, table: &TableDescriptor, name: &str, cascade: bool) {
        if let Some(key) = table.foreign_keys.iter().find(|key| key.name == name) {
            self.add(key.parent, TableLockMode::AccessExclusive);
        }
        if cascade {
            self.other_ends(table);
        }
    }

    /// The tables at the other ends of a table's foreign keys.
    fn other_ends(&mut self, table: &TableDescriptor) {
        let children = table.referenced_by.iter().map(|key| key.child);
        let parents = table.foreign_keys.iter().map(|key| key.parent);
        let ends: Vec<Oid> = children.chain(parents).filter(|oid| *oid != table.oid).collect();
        ends.into_iter().for_each(|oid| self.add(oid, TableLockMode::AccessExclusive));
    }

    fn drop_objects(&mut self, drop: &Drop) {
        for name in &drop.names {
            match drop.kind {
                ObjectKind::Index => self.index(name, TableLockMode::AccessExclusive),
                ObjectKind::Schema => self.schema(&name.name),
                _ => {
                    let Some(table) = self.find(name) else { continue };
                    self.add(table.oid, TableLockMode::AccessExclusive);
                    self.other_ends(&table);
                }
            }
        }
    }

    fn truncate(&mut self, truncate: &Truncate) {
        let mut tables: Vec<Arc<TableDescriptor>> = truncate.tables.iter().filter_map(|name| self.find(name)).collect();
        let mut at = 0;
        while at < tables.len() {
            self.add(tables[at].oid, TableLockMode::AccessExclusive);
            let children: Vec<Oid> = tables[at].referenced_by.iter().filter(|_| truncate.cascade).map(|key| key.child).collect();
            for child in children {
                if let Some(child) = self.catalog.table(child).filter(|child| !tables.iter().any(|table| table.oid == child.oid)) {
                    tables.push(Arc::clone(child));
                }
            }
            at += 1;
        }
    }
}

fn parent_of(constraint: &TableConstraint) -> Option<&ObjectName> {
    match &constraint.kind {
        TableConstraintKind::ForeignKey { spec, .. } => Some(&spec.table),
        _ => None,
    }
}

fn mode_of(action: &AlterTableAction) -> TableLockMode {
    match action {
        AlterTableAction::AddConstraint(constraint) if parent_of(constraint).is_some() => TableLockMode::ShareRowExclusive,
        AlterTableAction::ValidateConstraint(_)
        | AlterTableAction::SetStatistics { .. }
        | AlterTableAction::SetStorageParameters(_)
        | AlterTableAction::ResetStorageParameters(_)
        | AlterTableAction::SplitAt(_) => TableLockMode::ShareUpdateExclusive,
        _ => TableLockMode::AccessExclusive,
    }
}
