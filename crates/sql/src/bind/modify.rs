//! UPDATE and DELETE: which rows, and what becomes of them.

use super::logical::{ColumnId, LogicalDelete, LogicalUpdate, conjuncts};
use super::query::Output;
use super::scope::Namespace;
use super::updatable_view::ViewTarget;
use super::{Binder, Clause, Logical, SelectState};
use crate::ast::{self, Delete, TableAlias, TableRef, Update};
use crate::catalog::TableDescriptor;
use crate::error::SqlError;
use crate::expr::Expr;
use crate::functions::CURRENT_OF;
use crate::plan::JoinType;
use crate::types::{DataType, Datum};
use std::sync::Arc;

/// Does an assignment touch a column that a unique index has in its key?
pub(super) fn changes_key(table: &TableDescriptor, assignments: &[(usize, Expr)]) -> bool {
    assignments.iter().any(|(position, _)| table.unique_key_columns().any(|key| key == *position))
}

/// The target with what it is joined to.
struct Target {
    plan: Logical,
    row: Vec<ColumnId>,
    space: Namespace,
    alias: String,
}

impl Binder<'_> {
    fn target_rows(
        &mut self,
        table: &Arc<TableDescriptor>,
        view: Option<&ViewTarget>,
        alias: Option<&TableAlias>,
        from: &[TableRef],
    ) -> Result<Target, SqlError> {
        let own = view.map_or(&table.name, |view| &view.name);
        let shown = alias.map_or(own.clone(), |a| a.name.value.clone());
        let (mut plan, mut relation) = self.get(table, &shown);
        relation.schema = alias.is_none().then(|| table.schema.clone());
        let row = plan.output();
        if let Some(view) = view {
            plan = self.through_view(view, table, plan, relation.clone())?;
            relation = view.relation(table, &row, relation);
        }
        let (mut plan, mut space) = (plan, Namespace::of(relation));
        for item in from {
            let (right, names) = self.beside(&space, item, &[])?;
            space.join(names)?;
            plan = Logical::Join { kind: JoinType::Inner, left: Box::new(plan), right: Box::new(right), on: Vec::new() };
        }
        Ok(Target { plan, row, space, alias: shown })
    }

    /// WHERE, over everything in sight.
    fn target_filter(&mut self, target: &mut Target, table: &TableDescriptor, filter: Option<&ast::Expr>) -> Result<(), SqlError> {
        let Some(filter) = filter else { return Ok(()) };
        let condition = match filter {
            ast::Expr::CurrentOf(cursor, pos) => self.current_of(cursor, table, &target.row, *pos)?,
            filter => self.in_clause(Clause::Where, |b| b.condition(filter, "WHERE"))?,
        };
        let plan = std::mem::replace(&mut target.plan, Logical::OneRow);
        target.plan = plan.filtered(conjuncts(condition));
        Ok(())
    }

    /// `WHERE CURRENT OF cursor`: the row with the key of the one on which the cursor stands.
    fn current_of(&mut self, cursor: &str, table: &TableDescriptor, row: &[ColumnId], pos: usize) -> Result<Expr, SqlError> {
        if !table.has_primary_key() {
            return Err(SqlError::unsupported("WHERE CURRENT OF on a table without a primary key").at(pos));
        }
        let mut tests = Vec::with_capacity(table.primary.key.len());
        for (at, part) in table.primary.key.iter().enumerate() {
            let ty = table.columns[part.column].ty;
            let args = vec![
                Expr::Const(Datum::text(cursor), DataType::TEXT.into()),
                Expr::Const(Datum::Oid(table.oid), DataType::OID.into()),
                Expr::Const(Datum::Int4(at as i32), DataType::INT4.into()),
            ];
            let key = Expr::Call { func: &CURRENT_OF, args, ty };
            tests.push(self.operator("=", Some(Expr::Column(row[part.column], ty)), key, pos)?);
        }
        Ok(Expr::And(tests))
    }

    /// Binds a statement that writes rows; what it sees is forgotten after it, even if it fails.
    pub(super) fn modification<T>(&mut self, bind: impl FnOnce(&mut Self) -> Result<T, SqlError>) -> Result<T, SqlError> {
        let (ctes, scopes) = (self.visible_ctes.len(), self.scopes.len());
        let outer = std::mem::replace(&mut self.select, SelectState::new(Clause::Update));
        let bound = bind(self);
        self.select = outer;
        self.visible_ctes.truncate(ctes);
        self.scopes.truncate(scopes);
        bound
    }

    pub(super) fn update(&mut self, update: &Update) -> Result<(Logical, Output), SqlError> {
        self.modification(|b| b.update_here(update))
    }

    fn update_here(&mut self, update: &Update) -> Result<(Logical, Output), SqlError> {
        if let Some(with) = &update.with {
            self.with(with)?;
        }
        let (table, view) = self.write_target(&update.table, "UPDATE")?;
        let mut target = self.target_rows(&table, view.as_ref(), update.alias.as_ref(), &update.from)?;
        self.scopes.push(target.space.clone());
        self.target_filter(&mut target, &table, update.filter.as_ref())?;
        let assignments = match &view {
            Some(view) => self.assignments(&update.assignments, &view.renamed(&table), &target.row)?,
            None => self.assignments(&update.assignments, &table, &target.row)?,
        };
        self.scopes.pop();
        let (returning, output) = self.returning(&update.returning, target.space)?;
        let mut checks = self.checks(&table)?;
        checks.extend(self.view_check(view.as_ref(), &table)?);
        let bound = LogicalUpdate {
            alias: target.alias,
            input: target.plan,
            row: target.row,
            generated: self.generated(&table)?,
            checks,
            changes_key: changes_key(&table, &assignments),
            assignments,
            joined: !update.from.is_empty(),
            returning,
            table,
        };
        Ok((Logical::Update(Box::new(bound)), output))
    }

    pub(super) fn delete(&mut self, delete: &Delete) -> Result<(Logical, Output), SqlError> {
        self.modification(|b| b.delete_here(delete))
    }

    fn delete_here(&mut self, delete: &Delete) -> Result<(Logical, Output), SqlError> {
        if let Some(with) = &delete.with {
            self.with(with)?;
        }
        let (table, view) = self.write_target(&delete.table, "DELETE")?;
        let mut target = self.target_rows(&table, view.as_ref(), delete.alias.as_ref(), &delete.using)?;
        self.scopes.push(target.space.clone());
        self.target_filter(&mut target, &table, delete.filter.as_ref())?;
        self.scopes.pop();
        let (returning, output) = self.returning(&delete.returning, target.space)?;
        let joined = !delete.using.is_empty();
        let bound = LogicalDelete { table, alias: target.alias, input: target.plan, row: target.row, joined, returning };
        Ok((Logical::Delete(Box::new(bound)), output))
    }
}
