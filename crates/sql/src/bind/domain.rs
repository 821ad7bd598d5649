//! Values of domains: a cast to a domain, or an assignment to a column that was declared with one, is one to the base type, with the
//! domain's constraints around it.

use super::Binder;
use crate::ast::TypeName;
use crate::catalog::{Catalog, Column, Oid, RelationKind, TableDescriptor};
use crate::error::{SqlError, SqlState};
use crate::expr::{DomainChecks, Expr};
use crate::plan::PlanSettings;
use crate::types::{ColumnType, array_of};
use std::sync::Arc;

/// A type as it was declared.
#[derive(Clone, Copy, Debug)]
pub struct DeclaredType {
    /// What values are.
    pub ty: ColumnType,
    /// The domain that it was declared with, or the array type over one.
    pub declared: Option<Oid>,
}

/// The type of a name, which may be a domain's.
pub fn declared_type_in(name: &TypeName, catalog: &Catalog, search_path: &[String]) -> Result<DeclaredType, SqlError> {
    let error = match super::type_in(name, catalog, search_path) {
        Ok(ty) => return Ok(DeclaredType { ty, declared: None }),
        Err(error) => error,
    };
    let Some((_, domain)) = catalog.domain_named(name.schema.as_deref(), &name.name, search_path) else { return Err(error) };
    if !name.modifiers.is_empty() {
        let message = format!("type modifier is not allowed for type \"{}\"", name.name);
        return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(name.pos));
    }
    if name.array_dims == 0 {
        return Ok(DeclaredType { ty: domain.base, declared: Some(domain.oid) });
    }
    // An array of arrays has the type of its elements' array, which no domain's element can be told from.
    let array = array_of(domain.base.ty).ok_or_else(|| SqlError::unsupported("an array of a domain over an array type").at(name.pos))?;
    Ok(DeclaredType { ty: ColumnType { ty: array, typmod: domain.base.typmod }, declared: Some(domain.array_oid) })
}

/// The constraints of a declared type, bound; None if there are none.
pub fn domain_checks(declared: Oid, catalog: &Catalog, settings: &PlanSettings) -> Result<Option<Arc<DomainChecks>>, SqlError> {
    let Some((schema, domain)) = catalog.domain(declared).filter(|_| catalog.is_constrained(declared)) else { return Ok(None) };
    let chain = catalog.domain_chain(domain.oid);
    let row = value_row(domain.base);
    let mut checks = Vec::new();
    // What it was made over comes first, and each one's checks by name, as in PostgreSQL.
    for level in chain.iter().rev() {
        let mut own: Vec<_> = level.checks.iter().collect();
        own.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        for check in own {
            let predicate = super::bind_row_expression(&check.expr, &row, Some(Expr::BOOL), catalog, settings)?;
            checks.push((check.name.clone(), predicate));
        }
    }
    Ok(Some(Arc::new(DomainChecks {
        schema: schema.name.clone(),
        name: crate::types::DataType(domain.oid).to_string(),
        bare: domain.name.clone(),
        not_null: chain.iter().any(|level| level.not_null),
        checks,
        of_elements: declared == domain.array_oid,
    })))
}

/// The row over which a domain's checks are bound: VALUE is its only column.
pub fn value_row(base: ColumnType) -> TableDescriptor {
    let mut row = TableDescriptor::new(0, 0, "", "", RelationKind::Table);
    row.columns.push(Column::new(1, "value", base));
    row
}

impl Binder<'_> {
    /// Around a value of the base type: what a declared type demands.
    pub(super) fn checked(&mut self, value: Expr, declared: Option<Oid>) -> Result<Expr, SqlError> {
        let Some(declared) = declared else { return Ok(value) };
        Ok(match domain_checks(declared, self.catalog, self.settings)? {
            Some(domain) => Expr::Checked { expr: Box::new(value), domain },
            None => value,
        })
    }

    /// A value for a column of a table.
    pub(super) fn assign_to(&mut self, value: Expr, column: &Column, pos: usize) -> Result<Expr, SqlError> {
        let value = self.assign(value, &column.name, column.ty, pos)?;
        self.checked(value, column.declared)
    }
}
