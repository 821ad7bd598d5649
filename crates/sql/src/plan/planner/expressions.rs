//! Expressions that a table's indexes are over: known again in conditions and orders.
//!
//! Their values are in hidden columns of the table, so a condition on the expression is one on such a column, as far as the choice of an index is concerned.

use super::Planner;
use super::access::Target;
use crate::bind::{ColumnId, bind_row_expression, same_expression};
use crate::catalog::TableDescriptor;
use crate::expr::Expr;

impl Planner<'_> {
    /// The hidden columns of a table with their expressions, over the ids of one reading of it.
    pub(super) fn indexed_expressions(&self, table: &TableDescriptor, columns: &[ColumnId]) -> Vec<(usize, Expr)> {
        let hidden = table.columns.iter().enumerate().filter(|(_, column)| column.is_expression());
        let bound = hidden.filter_map(|(position, column)| {
            // What cannot be bound any more helps nobody to find rows.
            let mut expr = bind_row_expression(column.generated.as_deref()?, table, None, self.catalog, self.settings).ok()?;
            expr.walk_mut(&mut |e| {
                if let Expr::Column(at, _) = e {
                    *at = columns.get(*at).copied().unwrap_or(ColumnId::MAX);
                }
            });
            Some((position, expr))
        });
        bound.collect()
    }

    /// Whether one of them has a constant, which a literal lifted out of a statement's text would not be equal to.
    pub(super) fn note_constants(&mut self, expressions: &[(usize, Expr)]) {
        for (_, expr) in expressions {
            expr.walk(&mut |e| self.literals_matter |= matches!(e, Expr::Const(..)));
        }
    }
}

/// The hidden column whose expression this is.
pub(super) fn indexed(expr: &Expr, target: &Target<'_>) -> Option<usize> {
    target.expressions.iter().find(|(_, known)| same_expression(known, expr)).map(|(position, _)| *position)
}
