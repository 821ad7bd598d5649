//! Expressions out of the catalog: defaults, checks, generated columns; and single expressions from statements that are not planned.

use super::scope::{Namespace, Relation};
use super::{Binder, Clause, SelectState};
use crate::ast;
use crate::catalog::{Catalog, Column, TableDescriptor};
use crate::error::{SqlError, SqlState};
use crate::expr::Expr;
use crate::plan::{BoundCheck, CheckKind, GeneratedColumn, PlanSettings};
use crate::types::coercion::CastContext;
use crate::types::{ColumnType, DataType, Datum};

/// Binds an expression without columns (an argument of EXECUTE, a split key, a default) as a value of a type.
pub fn bind_scalar(
    expr: &ast::Expr,
    to: ColumnType,
    context: CastContext,
    catalog: &Catalog,
    settings: &PlanSettings,
) -> Result<Expr, SqlError> {
    let mut binder = Binder::new(catalog, settings, &[]);
    binder.select = SelectState::new(Clause::Stored);
    let bound = binder.expr(expr)?;
    let from = bound.ty().ty;
    if !crate::types::coercion::can_cast(from, to.ty, context) {
        let message = format!("column is of type {} but expression is of type {from}", to.ty);
        return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message)
            .hint("You will need to rewrite or cast the expression.")
            .at(expr.pos()));
    }
    let value = binder.cast_to(bound, to, context == CastContext::Explicit, expr.pos())?;
    if !binder.subqueries.is_empty() {
        return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "cannot use subquery here").at(expr.pos()));
    }
    Ok(value)
}

/// Binds an expression over a table's row: `Expr::Column(p, _)` is position `p`. For checks, generated columns and ALTER ... USING. `to` is the type
/// wanted, by assignment; None leaves it.
pub fn bind_row_expression(
    text: &str,
    table: &TableDescriptor,
    to: Option<ColumnType>,
    catalog: &Catalog,
    settings: &PlanSettings,
) -> Result<Expr, SqlError> {
    let parsed = crate::parse::parse_expression(text)?;
    let mut binder = Binder::new(catalog, settings, &[]);
    binder.row_expression(&parsed, table, to)
}

impl Binder<'_> {
    /// In this binder's statement, but with nothing else in sight.
    pub(super) fn row_expression(&mut self, expr: &ast::Expr, table: &TableDescriptor, to: Option<ColumnType>) -> Result<Expr, SqlError> {
        // Positions serve as ids: the namespace is the only one there is.
        let columns = table.visible_columns().map(|(p, c)| (c.name.clone(), p, c.ty)).collect();
        let space = Namespace::of(Relation {
            alias: table.name.clone(),
            schema: Some(table.schema.clone()),
            columns,
            system: Vec::new(),
            scalar: false,
            nullable: false,
        });
        let scopes = std::mem::replace(&mut self.scopes, vec![space]);
        let outer = std::mem::replace(&mut self.select, SelectState::new(Clause::Stored));
        let subqueries = self.subqueries.len();
        let bound = self.expr(expr).and_then(|value| match to {
            Some(to) => self.assign(value, "", to, expr.pos()),
            None => Ok(value),
        });
        (self.scopes, self.select) = (scopes, outer);
        let bound = bound?;
        if self.subqueries.len() > subqueries {
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "cannot use subquery in a stored expression").at(expr.pos()));
        }
        Ok(bound)
    }

    /// The hidden column that has the value of an expression over a table's row; no index is over it if there is none.
    pub(super) fn indexed_expression(&mut self, expr: &ast::Expr, table: &TableDescriptor) -> Result<usize, SqlError> {
        let wanted = self.row_expression(expr, table, None)?;
        for (position, column) in table.columns.iter().enumerate().filter(|(_, column)| column.is_expression()) {
            let Some(text) = &column.generated else { continue };
            let known = self.row_expression(&crate::parse::parse_expression(text)?, table, None)?;
            if super::same_expression(&known, &wanted) {
                return Ok(position);
            }
        }
        let message = "there is no unique or exclusion constraint matching the ON CONFLICT specification";
        Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message))
    }

    pub(super) fn checks(&mut self, table: &TableDescriptor) -> Result<Vec<BoundCheck>, SqlError> {
        let mut checks = Vec::with_capacity(table.checks.len());
        for check in &table.checks {
            let parsed = crate::parse::parse_expression(&check.expr)?;
            let predicate = self.row_expression(&parsed, table, Some(Expr::BOOL)).map_err(unplaced)?;
            checks.push(BoundCheck::new(CheckKind::Constraint, check.name.clone(), predicate));
        }
        Ok(checks)
    }

    pub(super) fn generated(&mut self, table: &TableDescriptor) -> Result<Vec<GeneratedColumn>, SqlError> {
        let mut list = Vec::new();
        for (column, definition) in table.columns.iter().enumerate() {
            let (Some(text), false) = (&definition.generated, definition.dropped) else { continue };
            let parsed = crate::parse::parse_expression(text)?;
            let value = self.row_expression(&parsed, table, Some(definition.ty)).map_err(unplaced)?;
            let value = self.checked(value, definition.declared)?;
            list.push(GeneratedColumn { column, value });
        }
        Ok(list)
    }

    /// What a column gets when nothing is said: identity, default, or NULL.
    pub(super) fn default_value(&mut self, column: &Column) -> Result<Expr, SqlError> {
        if let Some(identity) = &column.identity {
            let sequence = Expr::Const(Datum::Oid(identity.sequence_oid), DataType::REGCLASS.into());
            let next = self.plain_call("nextval", vec![sequence], 0)?;
            let next = self.cast_to(next, column.ty, false, 0)?;
            return self.checked(next, column.declared);
        }
        let Some(text) = self.catalog.default_of(column) else {
            return self.checked(Expr::Const(Datum::Null, column.ty), column.declared.filter(|_| !column.dropped));
        };
        let parsed = crate::parse::parse_expression(text)?;
        let scopes = std::mem::take(&mut self.scopes);
        let outer = std::mem::replace(&mut self.select, SelectState::new(Clause::Stored));
        let bound = self.expr(&parsed).and_then(|value| self.assign_to(value, column, 0));
        (self.scopes, self.select) = (scopes, outer);
        bound.map_err(unplaced)
    }
}

/// A position in stored text means nothing to the client.
fn unplaced(mut error: SqlError) -> SqlError {
    error.fields_mut().position = None;
    error
}
