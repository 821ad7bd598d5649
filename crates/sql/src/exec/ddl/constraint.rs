//! Constraints: CHECK, UNIQUE, FOREIGN KEY, and a primary key added later; with the check of rows that are already there.

use super::Ddl;
use super::columns::{no_such_column, shortened};
use crate::ast::{ForeignKeySpec, Ident, ReferentialAction, StoredExpr, TableConstraint, TableConstraintKind};
use crate::bind::bind_row_expression;
use crate::catalog::{CheckConstraint, ForeignKey, IndexColumn, IndexDescriptor, Oid, TableDescriptor, UniqueConstraint};
use crate::error::{SqlError, SqlState};
use crate::exec::foreign_key::ForeignKeyWork;
use crate::exec::unique_check::check_whole_index;
use crate::exec::write::constraint_of;
use crate::expr::{Expr, eval};
use crate::functions::resolve_operator;
use crate::types::{DataType, Datum};
use std::sync::Arc;
use tidelock_base::Span;

/// Whether the table may have rows, which a new constraint must hold for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Existing {
    /// It was made by this statement.
    None,
    /// They are checked.
    Check,
}

impl Ddl<'_, '_> {
    pub(super) async fn add_constraint(&mut self, oid: Oid, constraint: &TableConstraint, existing: Existing) -> Result<(), SqlError> {
        let table = self.table(oid)?;
        if let Some(name) = &constraint.name
            && constraint_names(&table).any(|n| n == name)
        {
            let message = format!("constraint \"{name}\" for relation \"{}\" already exists", table.name);
            return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
        }
        let existing = if constraint.not_valid { Existing::None } else { existing };
        match &constraint.kind {
            TableConstraintKind::Check(check) => self.add_check(table, constraint, check, existing).await,
            TableConstraintKind::Unique { columns, include, nulls_distinct } => {
                self.add_unique(table, constraint, columns, include, *nulls_distinct).await
            }
            TableConstraintKind::ForeignKey { columns, spec } => self.add_foreign_key(table, constraint, columns, spec, existing).await,
            TableConstraintKind::PrimaryKey { columns, .. } => {
                if table.declared_key().is_some() {
                    let message = format!("multiple primary keys for table \"{}\" are not allowed", table.name);
                    return Err(SqlError::new(SqlState::INVALID_TABLE_DEFINITION, message));
                }
                if constraint.timing.deferrable {
                    return self.add_deferrable_primary_key(table, constraint, columns).await;
                }
                let columns: Vec<String> = columns.iter().map(|c| c.value.clone()).collect();
                self.change_primary_key(table, constraint.name.clone(), &columns).await
            }
            TableConstraintKind::UsingIndex { .. } => Err(SqlError::unsupported("a constraint USING INDEX")),
        }
    }

    fn constraint_name(&self, table: &TableDescriptor, given: &Option<String>, parts: &[&str], suffix: &str) -> String {
        if let Some(name) = given {
            return name.clone();
        }
        let own: Vec<String> = constraint_names(table).map(str::to_owned).collect();
        let base = shortened(parts, suffix);
        let is_index = matches!(suffix, "key" | "pkey" | "idx");
        if is_index {
            return self.free_name(&table.schema, &base, &own);
        }
        if !own.contains(&base) {
            return base;
        }
        (1u32..).map(|n| format!("{base}{n}")).find(|n| !own.contains(n)).unwrap_or(base)
    }

    async fn add_check(
        &mut self,
        mut table: TableDescriptor,
        constraint: &TableConstraint,
        check: &StoredExpr,
        existing: Existing,
    ) -> Result<(), SqlError> {
        let predicate = bind_row_expression(&check.text, &table, Some(Expr::BOOL), &self.snapshot(), self.ctx.plan_settings)?;
        let mut used: Vec<usize> = Vec::new();
        predicate.walk(&mut |e| {
            if let Expr::Column(p, _) = e
                && !used.contains(p)
            {
                used.push(*p);
            }
        });
        // Named after its column, if there is only one.
        let parts: Vec<&str> = match used.as_slice() {
            [one] => vec![&table.name, table.columns.get(*one).map_or("", |c| &c.name)],
            _ => vec![&table.name],
        };
        let name = self.constraint_name(&table, &constraint.name, &parts, "check");
        if existing == Existing::Check {
            self.check_rows(&table, &name, &predicate).await?;
        }
        let oid = self.new_oid().await?;
        table.checks.push(CheckConstraint { oid, name, expr: check.text.clone(), validated: !constraint.not_valid });
        // PostgreSQL evaluates checks in order of their names.
        table.checks.sort_by(|a, b| a.name.cmp(&b.name));
        self.put(table);
        Ok(())
    }

    async fn check_rows(&mut self, table: &TableDescriptor, name: &str, predicate: &Expr) -> Result<(), SqlError> {
        self.validate_reads();
        let mut rest = Some(Span::index(crate::exec::table_keys::index_id(&table.primary)));
        while let Some(rows) = self.page(table, &mut rest).await? {
            for (_, row) in rows {
                if let Datum::Bool(false) = eval(predicate, &row, &self.ctx.eval())? {
                    let message = format!("check constraint \"{name}\" of relation \"{}\" is violated by some row", table.name);
                    return Err(constraint_of(SqlError::new(SqlState::CHECK_VIOLATION, message), table, name));
                }
            }
        }
        Ok(())
    }

    async fn add_unique(
        &mut self,
        mut table: TableDescriptor,
        constraint: &TableConstraint,
        columns: &[Ident],
        include: &[Ident],
        nulls_distinct: bool,
    ) -> Result<(), SqlError> {
        let positions = positions_of(&table, columns, "named in key does not exist")?;
        let parts: Vec<&str> = std::iter::once(table.name.as_str()).chain(columns.iter().map(|c| c.value.as_str())).collect();
        let name = self.constraint_name(&table, &constraint.name, &parts, "key");
        if constraint.name.is_some() && self.is_taken(&table.schema, &name) {
            return Err(SqlError::new(SqlState::DUPLICATE_TABLE, format!("relation \"{name}\" already exists")));
        }
        positions.iter().try_for_each(|p| super::index::check_key_type(&table, *p))?;
        let mut index = IndexDescriptor::new(self.new_oid().await?, name.clone(), self.new_index_id().await?);
        index.nulls_distinct = nulls_distinct;
        index.key = positions.iter().map(|p| IndexColumn { column: *p, descending: false, nulls_first: false }).collect();
        index.include = positions_of(&table, include, "named in key does not exist")?;
        (index.deferrable, index.initially_deferred) = (constraint.timing.deferrable, constraint.timing.initially_deferred);
        let oid = self.new_oid().await?;
        table.uniques.push(UniqueConstraint { oid, name, index_oid: index.oid, primary: false });
        self.add_unique_index(table, index).await
    }

    /// A primary key that may be violated for a while: an index beside the rows, which keep the hidden number they are stored by.
    async fn add_deferrable_primary_key(
        &mut self,
        mut table: TableDescriptor,
        constraint: &TableConstraint,
        columns: &[Ident],
    ) -> Result<(), SqlError> {
        let given = constraint.name.clone();
        let name = given.unwrap_or_else(|| self.free_name(&table.schema, &shortened(&[&table.name], "pkey"), &[]));
        let columns: Vec<String> = columns.iter().map(|column| column.value.clone()).collect();
        let mut index = self.primary_key_index(&mut table, name.clone(), &columns).await?;
        (index.deferrable, index.initially_deferred) = (true, constraint.timing.initially_deferred);
        table.uniques.push(UniqueConstraint { oid: index.oid, name, index_oid: index.oid, primary: true });
        self.add_unique_index(table.clone(), index.clone()).await?;
        // Duplicates are found first, as in PostgreSQL.
        for part in &index.key {
            self.refuse_nulls(&table, part.column).await?;
        }
        Ok(())
    }

    async fn add_unique_index(&mut self, mut table: TableDescriptor, index: IndexDescriptor) -> Result<(), SqlError> {
        self.build_index(&table, &index).await?;
        table.indexes.push(index.clone());
        if index.deferrable {
            check_whole_index(&table, &index, self.ctx).await?;
        }
        self.put(table);
        Ok(())
    }

    async fn add_foreign_key(
        &mut self,
        mut child: TableDescriptor,
        constraint: &TableConstraint,
        columns: &[Ident],
        spec: &ForeignKeySpec,
        existing: Existing,
    ) -> Result<(), SqlError> {
        let child_columns = positions_of(&child, columns, "referenced in foreign key constraint does not exist")?;
        let parent = self.find(&spec.table)?;
        if parent.kind != crate::catalog::RelationKind::Table {
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("referenced relation \"{}\" is not a table", parent.name)));
        }
        Self::check_foreign_key_persistence(&child, &parent)?;
        let parent_columns = if spec.columns.is_empty() {
            let Some(key) = parent.declared_key() else {
                let message = format!("there is no primary key for referenced table \"{}\"", parent.name);
                return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message));
            };
            if key.deferrable {
                return Err(not_for_references("primary key", &parent));
            }
            key.key.iter().map(|k| k.column).collect()
        } else {
            positions_of(&parent, &spec.columns, "referenced in foreign key constraint does not exist")?
        };
        if parent_columns.len() != child_columns.len() {
            return Err(SqlError::new(
                SqlState::INVALID_FOREIGN_KEY,
                "number of referencing and referenced columns for foreign key disagree",
            ));
        }
        let is_key = |index: &&IndexDescriptor| {
            index.unique
                && index.predicate.is_none()
                && index.key.len() == parent_columns.len()
                && parent_columns.iter().all(|c| index.key.iter().any(|k| k.column == *c))
        };
        let index = parent.all_indexes().filter(|index| !index.deferrable).find(is_key).ok_or_else(|| {
            if parent.all_indexes().any(|index| is_key(&index)) {
                return not_for_references("unique constraint", &parent);
            }
            let message = format!("there is no unique constraint matching given keys for referenced table \"{}\"", parent.name);
            SqlError::new(SqlState::INVALID_FOREIGN_KEY, message)
        })?;
        let parts: Vec<&str> = std::iter::once(child.name.as_str()).chain(columns.iter().map(|c| c.value.as_str())).collect();
        let name = self.constraint_name(&child, &constraint.name, &parts, "fkey");
        for (ours, theirs) in child_columns.iter().zip(&parent_columns) {
            same_kind(&name, &child, *ours, &parent, *theirs)?;
        }
        for action in [spec.on_delete, spec.on_update] {
            let generated = child_columns.iter().any(|c| child.columns[*c].generated.is_some());
            if generated && matches!(action, ReferentialAction::SetNull | ReferentialAction::SetDefault) {
                return Err(SqlError::new(
                    SqlState::SYNTAX_ERROR,
                    "invalid referential action for foreign key constraint containing generated column",
                ));
            }
        }
        let foreign_key = ForeignKey {
            oid: self.new_oid().await?,
            name,
            child: child.oid,
            child_columns,
            parent: parent.oid,
            parent_columns,
            parent_index: index.oid,
            match_full: spec.match_full,
            on_delete: spec.on_delete,
            on_update: spec.on_update,
            deferrable: constraint.timing.deferrable || constraint.timing.initially_deferred,
            initially_deferred: constraint.timing.initially_deferred,
            validated: !constraint.not_valid,
        };
        let (child_oid, parent_oid) = (child.oid, parent.oid);
        child.foreign_keys.push(foreign_key.clone());
        self.put(child);
        let mut parent = self.table(parent_oid)?;
        parent.referenced_by.push(foreign_key.clone());
        self.put(parent);
        if existing == Existing::Check {
            self.check_references(child_oid, &foreign_key).await?;
        }
        Ok(())
    }

    /// Looks up the parents of all rows that are there.
    pub(super) async fn check_references(&mut self, child: Oid, foreign_key: &ForeignKey) -> Result<(), SqlError> {
        self.validate_reads();
        let mut only = self.table(child)?;
        only.foreign_keys = vec![ForeignKey { initially_deferred: false, deferrable: false, ..foreign_key.clone() }];
        let mut rest = Some(Span::index(crate::exec::table_keys::index_id(&only.primary)));
        let before = std::mem::replace(&mut self.ctx.catalog, self.builder.clone().build());
        let result = self.check_reference_pages(&only, &mut rest).await;
        self.ctx.catalog = before;
        result
    }

    async fn check_reference_pages(&mut self, only: &TableDescriptor, rest: &mut Option<Span>) -> Result<(), SqlError> {
        while let Some(rows) = self.page(only, rest).await? {
            let mut work = ForeignKeyWork::default();
            for (_, row) in &rows {
                work.inserted(only, row, self.ctx)?;
            }
            work.finish(self.ctx).await?;
        }
        Ok(())
    }

    // ---- dropping, renaming

    pub(super) async fn drop_constraint(&mut self, oid: Oid, name: &str, if_exists: bool, cascade: bool) -> Result<(), SqlError> {
        let mut table = self.table(oid)?;
        if table.checks.iter().any(|c| c.name == name) {
            table.checks.retain(|c| c.name != name);
            self.put(table);
            return Ok(());
        }
        if let Some(foreign_key) = table.foreign_keys.iter().find(|f| f.name == name).cloned() {
            return self.drop_foreign_key(&foreign_key);
        }
        let unique = table.uniques.iter().find(|u| u.name == name).map(|u| u.index_oid);
        if let Some(index_oid) = unique {
            self.drop_referencing(&table, Some(index_oid), &format!("constraint {name} on table {}", table.name), cascade)?;
            table = self.table(oid)?;
            table.uniques.retain(|u| u.name != name);
            if let Some(index) = table.indexes.iter().find(|i| i.oid == index_oid) {
                self.ctx.state.dropped_indexes.push(crate::exec::table_keys::index_id(index));
            }
            table.indexes.retain(|i| i.oid != index_oid);
            self.put(table);
            return Ok(());
        }
        if table.has_primary_key() && table.primary.name == name {
            self.drop_referencing(&table, Some(table.primary.oid), &format!("constraint {name} on table {}", table.name), cascade)?;
            let table = self.table(oid)?;
            return self.replace_by_hidden_key(table).await;
        }
        let message = format!("constraint \"{name}\" of relation \"{}\" does not exist", table.name);
        if if_exists {
            self.notice(format!("{message}, skipping"));
            return Ok(());
        }
        Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message))
    }

    pub(super) fn drop_foreign_key(&mut self, foreign_key: &ForeignKey) -> Result<(), SqlError> {
        let mut child = self.table(foreign_key.child)?;
        child.foreign_keys.retain(|f| f.oid != foreign_key.oid);
        self.put(child);
        if let Ok(mut parent) = self.table(foreign_key.parent) {
            parent.referenced_by.retain(|f| f.oid != foreign_key.oid);
            self.put(parent);
        }
        Ok(())
    }

    /// Foreign keys that rely on one of the table's indexes (None: on any): dropped with CASCADE, an error without.
    pub(super) fn drop_referencing(
        &mut self,
        table: &TableDescriptor,
        index: Option<Oid>,
        object: &str,
        cascade: bool,
    ) -> Result<(), SqlError> {
        let relies = |f: &&ForeignKey| index.is_none_or(|oid| f.parent_index == oid) && (index.is_some() || f.child != table.oid);
        let referencing: Vec<ForeignKey> = table.referenced_by.iter().filter(relies).cloned().collect();
        let mut lines = Vec::new();
        for foreign_key in &referencing {
            let child = self.table(foreign_key.child)?;
            lines.push(format!("constraint {} on table {}", foreign_key.name, child.name));
        }
        self.dependents(object, &lines, cascade)?;
        referencing.iter().try_for_each(|f| self.drop_foreign_key(f))
    }

    /// 2BP01 unless CASCADE; then a notice.
    pub(super) fn dependents(&mut self, object: &str, lines: &[String], cascade: bool) -> Result<(), SqlError> {
        if lines.is_empty() {
            return Ok(());
        }
        if !cascade {
            let detail: Vec<String> = lines.iter().map(|line| format!("{line} depends on {object}")).collect();
            return Err(SqlError::new(
                SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
                format!("cannot drop {object} because other objects depend on it"),
            )
            .detail(detail.join("\n"))
            .hint("Use DROP ... CASCADE to drop the dependent objects too."));
        }
        match lines {
            [one] => self.notice(format!("drop cascades to {one}")),
            many => {
                let mut notice = crate::exec::Notice::notice(format!("drop cascades to {} other objects", many.len()));
                let detail: Vec<String> = many.iter().map(|line| format!("drop cascades to {line}")).collect();
                notice.fields.fields_mut().detail = Some(detail.join("\n"));
                self.ctx.notices.push(notice);
            }
        }
        Ok(())
    }

    pub(super) fn rename_constraint(&mut self, oid: Oid, from: &str, to: &str) -> Result<(), SqlError> {
        let mut table = self.table(oid)?;
        if constraint_names(&table).any(|n| n == to) {
            let message = format!("constraint \"{to}\" for relation \"{}\" already exists", table.name);
            return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
        }
        if let Some(foreign_key) = table.foreign_keys.iter().find(|f| f.name == from).cloned() {
            let renamed = ForeignKey { name: to.to_owned(), ..foreign_key };
            return self.replace_foreign_key(&renamed);
        }
        let mut found = false;
        for check in table.checks.iter_mut().filter(|c| c.name == from) {
            (check.name, found) = (to.to_owned(), true);
        }
        for unique in table.uniques.iter_mut().filter(|u| u.name == from) {
            (unique.name, found) = (to.to_owned(), true);
        }
        for index in table.indexes.iter_mut().chain(std::iter::once(&mut table.primary)).filter(|i| i.name == from) {
            (index.name, found) = (to.to_owned(), true);
        }
        if !found {
            let message = format!("constraint \"{from}\" for table \"{}\" does not exist", table.name);
            return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message));
        }
        self.put(table);
        Ok(())
    }

    /// Changes both ends of a foreign key.
    pub(super) fn replace_foreign_key(&mut self, foreign_key: &ForeignKey) -> Result<(), SqlError> {
        let replace =
            |list: &mut Vec<ForeignKey>| list.iter_mut().filter(|f| f.oid == foreign_key.oid).for_each(|f| *f = foreign_key.clone());
        let mut child = self.table(foreign_key.child)?;
        replace(&mut child.foreign_keys);
        self.put(child);
        let mut parent = self.table(foreign_key.parent)?;
        replace(&mut parent.referenced_by);
        self.put(parent);
        Ok(())
    }

    pub(super) async fn validate_constraint(&mut self, oid: Oid, name: &str) -> Result<(), SqlError> {
        let mut table = self.table(oid)?;
        if let Some(check) = table.checks.iter().find(|c| c.name == name).cloned() {
            let predicate = bind_row_expression(&check.expr, &table, Some(Expr::BOOL), &self.snapshot(), self.ctx.plan_settings)?;
            self.check_rows(&table, name, &predicate).await?;
            table.checks.iter_mut().filter(|c| c.name == name).for_each(|c| c.validated = true);
            self.put(table);
            return Ok(());
        }
        if let Some(foreign_key) = table.foreign_keys.iter().find(|f| f.name == name).cloned() {
            self.check_references(oid, &foreign_key).await?;
            return self.replace_foreign_key(&ForeignKey { validated: true, ..foreign_key });
        }
        let message = format!("constraint \"{name}\" of relation \"{}\" does not exist", table.name);
        Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message))
    }
}

/// Names of all constraints of a table.
pub(super) fn constraint_names(table: &TableDescriptor) -> impl Iterator<Item = &str> {
    let checks = table.checks.iter().map(|c| c.name.as_str());
    let uniques = table.uniques.iter().map(|u| u.name.as_str());
    let foreign = table.foreign_keys.iter().map(|f| f.name.as_str());
    let primary = table.has_primary_key().then_some(table.primary.name.as_str());
    checks.chain(uniques).chain(foreign).chain(primary)
}

/// 55000: a reference must find its key at every moment.
fn not_for_references(what: &str, parent: &TableDescriptor) -> SqlError {
    let message = format!("cannot use a deferrable {what} for referenced table \"{}\"", parent.name);
    SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
}

/// Positions of named columns.
pub(super) fn positions_of(table: &TableDescriptor, columns: &[Ident], problem: &str) -> Result<Vec<usize>, SqlError> {
    let mut positions = Vec::with_capacity(columns.len());
    for column in columns {
        let missing = || SqlError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{}\" {problem}", column.value)).at(column.pos);
        positions.push(table.column_position(&column.value).ok_or_else(missing)?);
    }
    Ok(positions)
}

/// A reference needs an equality between the two types.
fn same_kind(name: &str, child: &TableDescriptor, ours: usize, parent: &Arc<TableDescriptor>, theirs: usize) -> Result<(), SqlError> {
    let (a, b) = (&child.columns[ours], &parent.columns[theirs]);
    let ty = |t: DataType| t;
    if resolve_operator("=", Some(ty(b.ty.ty)), ty(a.ty.ty)).is_ok_and(|r| r.func.compare.is_some())
        && crate::types::info(a.ty.ty).category == crate::types::info(b.ty.ty).category
    {
        return Ok(());
    }
    let detail = format!("Key columns \"{}\" and \"{}\" are of incompatible types: {} and {}.", a.name, b.name, a.ty, b.ty);
    Err(SqlError::new(SqlState::DATATYPE_MISMATCH, format!("foreign key constraint \"{name}\" cannot be implemented")).detail(detail))
}

/// The error for a column that is not there, for callers with a name only.
pub(super) fn column_or_error(table: &TableDescriptor, column: &Ident) -> Result<usize, SqlError> {
    table.column_position(&column.value).ok_or_else(|| no_such_column(&column.value, &table.name, column.pos))
}
