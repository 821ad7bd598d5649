//! Indexes over expressions.
//!
//! The value of an index's expression is kept in a hidden generated column of the table, and the index is one over that column. So whatever keeps generated
//! columns and indexes right keeps these right too: writes, COPY, uniqueness, ON CONFLICT, refresh by value, backfill. A reading statement never names the
//! hidden column; the planner knows the expression again where a condition or an order has it (`plan/planner/expressions.rs`).
//!
//! Two indexes over the same expression share a column. It goes with the last of them; its place in stored rows stays, as that of any dropped column.

use super::Ddl;
use super::alter::renamed;
use super::columns::COLUMNS_MAX;
use crate::bind::{bind_row_expression, same_expression};
use crate::catalog::{Column, TableDescriptor};
use crate::error::{SqlError, SqlState};
use crate::expr::{Expr, is_session_dependent_cast};
use crate::functions::Volatility;
use crate::types::DataType;

impl Ddl<'_, '_> {
    /// The position of the hidden column that has an expression's value; the table gets one if it has none yet.
    pub(super) fn expression_column(&mut self, table: &mut TableDescriptor, text: &str) -> Result<usize, SqlError> {
        let bound = bind_row_expression(text, table, None, &self.snapshot(), self.ctx.plan_settings)?;
        check_immutable(&bound)?;
        for (position, column) in table.columns.iter().enumerate().filter(|(_, column)| column.is_expression()) {
            let Some(known) = &column.generated else { continue };
            let known = bind_row_expression(known, table, None, &self.snapshot(), self.ctx.plan_settings)?;
            if same_expression(&known, &bound) {
                return Ok(position);
            }
        }
        if table.columns.len() >= COLUMNS_MAX {
            return Err(SqlError::new(SqlState::TOO_MANY_COLUMNS, format!("tables can have at most {COLUMNS_MAX} columns")));
        }
        let ty = if bound.ty().ty == DataType::UNKNOWN { DataType::TEXT.into() } else { bound.ty() };
        let position = table.columns.len();
        let mut column = Column::new(position as u32 + 1, shown(text), ty);
        (column.hidden, column.generated) = (true, Some(text.to_owned()));
        table.columns.push(column);
        Ok(position)
    }

    /// What fills the hidden columns that a table has got, from its rows.
    pub(super) fn expression_fillers(
        &self,
        table: &TableDescriptor,
        from: usize,
    ) -> Result<Vec<(usize, super::rewrite::Filler)>, SqlError> {
        let new = table.columns.iter().enumerate().skip(from);
        let texts = new.filter_map(|(position, column)| Some((position, column.generated.as_deref()?)));
        let filler = |(position, text): (usize, &str)| {
            let value = bind_row_expression(text, table, None, &self.snapshot(), self.ctx.plan_settings)?;
            Ok((position, super::rewrite::Filler::Computed(value)))
        };
        texts.map(filler).collect()
    }
}

/// Gives up the hidden columns that no index uses any more.
pub(super) fn drop_unused_expressions(table: &mut TableDescriptor) {
    for position in 0..table.columns.len() {
        let used = table.indexes.iter().any(|index| index.key.iter().any(|key| key.column == position));
        let column = &mut table.columns[position];
        if column.is_expression() && !used {
            column.name = format!("........pg.dropped.{}........", position + 1);
            (column.dropped, column.generated) = (true, None);
        }
    }
}

/// A column of the table has another name: so have the expressions that mention it.
pub(super) fn rename_in_expressions(table: &mut TableDescriptor, from: &str, to: &str) {
    for column in table.columns.iter_mut().filter(|column| column.is_expression()) {
        column.generated = column.generated.as_ref().map(|text| renamed(text, from, to));
        column.name = shown(column.generated.as_deref().unwrap_or_default());
    }
}

/// An index must find tomorrow what it filed today.
fn check_immutable(expr: &Expr) -> Result<(), SqlError> {
    let mut dependent = expr.volatility() != Volatility::Immutable;
    expr.walk(&mut |e| {
        if let Expr::Cast { expr, to, .. } = e {
            dependent |= is_session_dependent_cast(expr.ty().ty, to.ty);
        }
    });
    if dependent {
        return Err(SqlError::new(SqlState::INVALID_OBJECT_DEFINITION, "functions in index expression must be marked IMMUTABLE"));
    }
    Ok(())
}

/// An expression as PostgreSQL writes it between an index's columns: a call as it is, anything else in parentheses.
fn shown(text: &str) -> String {
    let bare = crate::catalog::functions::bare(text);
    let is_call = matches!(crate::parse::parse_expression(bare), Ok(crate::ast::Expr::Function(_)));
    if is_call { bare.to_owned() } else { format!("({bare})") }
}
