//! Writing through a view: a view that shows columns of one table, under names of its own and perhaps not all rows, can be written as that table can.
//!
//! The statement's names are the view's; its condition is joined to the statement's. What is not shown takes its default in an INSERT. Views of any
//! other kind (joins, expressions, groups, views over views) are refused.

use super::logical::{ColumnId, conjuncts};
use super::scope::{Namespace, Relation};
use super::{Binder, Clause, Logical, SelectState};
use crate::ast::{self, Distinct, ObjectName, Query, Select, SelectItem, SetExpr, TableRef};
use crate::catalog::{RelationKind, TableDescriptor};
use crate::error::SqlError;
use crate::expr::Expr;
use crate::plan::{BoundCheck, CheckKind};
use std::sync::Arc;

/// A view as a way to its table.
pub(super) struct ViewTarget {
    /// The view's name, which an alias may replace.
    pub(super) name: String,
    /// The table's columns in the view's order: the view's name for it, and its position.
    pub(super) columns: Vec<(String, usize)>,
    /// What the view calls the table.
    inner: String,
    filter: Option<ast::Expr>,
    /// Rows that the view would not show are refused.
    checked: bool,
}

impl ViewTarget {
    /// The table under the view's names; what the view does not show is hidden. For finding columns only.
    pub(super) fn renamed(&self, table: &TableDescriptor) -> TableDescriptor {
        let mut renamed = table.clone();
        renamed.name.clone_from(&self.name);
        for (position, column) in renamed.columns.iter_mut().enumerate() {
            match self.columns.iter().find(|(_, at)| *at == position) {
                Some((name, _)) => column.name.clone_from(name),
                None => column.hidden = true,
            }
        }
        renamed
    }

    /// The relation as the statement sees it, given the ids of the table's columns.
    pub(super) fn relation(&self, table: &TableDescriptor, ids: &[ColumnId], relation: Relation) -> Relation {
        let shown = |(name, at): &(String, usize)| Some((name.clone(), *ids.get(*at)?, table.columns.get(*at)?.ty));
        Relation { columns: self.columns.iter().filter_map(shown).collect(), ..relation }
    }
}

impl Binder<'_> {
    /// The table that a statement writes, and the view that it names instead of it.
    pub(super) fn write_target(&mut self, name: &ObjectName, verb: &str) -> Result<(Arc<TableDescriptor>, Option<ViewTarget>), SqlError> {
        let relation = self.relation(name)?.descriptor().clone();
        if relation.kind != RelationKind::View {
            return Ok((self.target(name, verb)?, None));
        }
        let refusal = || SqlError::unsupported(format!("{verb} on the view \"{}\"", relation.name)).at(name.pos);
        let query = unwrapped(crate::parse::parse_query(relation.view_query.as_deref().unwrap_or_default())?);
        let plain = query.with.is_none() && query.limit.is_none() && query.offset.is_none() && query.locking.is_empty();
        let SetExpr::Select(select) = query.body else { return Err(refusal()) };
        let [TableRef::Table { name: base, sample: None, alias }] = select.from.as_slice() else { return Err(refusal()) };
        let renames = alias.as_ref().is_some_and(|alias| !alias.columns.is_empty());
        if !plain || renames || !is_simple(&select) {
            return Err(refusal());
        }
        let inner = alias.as_ref().map_or(base.name.clone(), |alias| alias.name.value.clone());
        if self.relation(base)?.descriptor().kind != RelationKind::Table {
            return Err(refusal());
        }
        let table = self.target(base, verb)?;
        self.relations.push(relation.oid);
        let mut columns = Vec::with_capacity(select.items.len());
        for (item, (_, shown)) in select.items.iter().zip(relation.visible_columns()) {
            let position = shown_column(item, &inner).and_then(|name| table.column_position(name)).ok_or_else(refusal)?;
            if columns.iter().any(|(_, at)| *at == position) {
                return Err(refusal());
            }
            columns.push((shown.name.clone(), position));
        }
        Ok((
            table,
            Some(ViewTarget {
                name: relation.name.clone(),
                columns,
                inner,
                filter: select.filter.clone(),
                checked: relation.check_option().is_some(),
            }),
        ))
    }

    /// WITH CHECK OPTION: what a row must hold besides the table's own checks.
    pub(super) fn view_check(&mut self, view: Option<&ViewTarget>, table: &TableDescriptor) -> Result<Option<BoundCheck>, SqlError> {
        let Some((view, filter)) = view.filter(|view| view.checked).and_then(|view| Some((view, view.filter.as_ref()?))) else {
            return Ok(None);
        };
        let mut named = table.clone();
        named.name.clone_from(&view.inner);
        self.view_depth += 1;
        let predicate = self.row_expression(filter, &named, Some(Expr::BOOL));
        self.view_depth -= 1;
        Ok(Some(BoundCheck::new(CheckKind::View, view.name.clone(), predicate?)))
    }

    /// The rows that the view shows.
    pub(super) fn through_view(
        &mut self,
        view: &ViewTarget,
        table: &TableDescriptor,
        plan: Logical,
        mut relation: Relation,
    ) -> Result<Logical, SqlError> {
        let Some(filter) = &view.filter else { return Ok(plan) };
        relation.alias.clone_from(&view.inner);
        relation.schema = Some(table.schema.clone());
        let scopes = std::mem::replace(&mut self.scopes, vec![Namespace::of(relation)]);
        let ctes = std::mem::take(&mut self.visible_ctes);
        let outer = std::mem::replace(&mut self.select, SelectState::new(Clause::Where));
        self.view_depth += 1;
        let condition = self.condition(filter, "WHERE");
        self.view_depth -= 1;
        (self.scopes, self.visible_ctes, self.select) = (scopes, ctes, outer);
        Ok(plan.filtered(conjuncts(condition?)))
    }
}

/// `SELECT x, y FROM (query) AS v(x, y)`, which CREATE VIEW v (x, y) makes, is the query under other names.
fn unwrapped(query: Query) -> Query {
    let SetExpr::Select(select) = &query.body else { return query };
    let [TableRef::Subquery { query: inner, lateral: false, alias: Some(alias) }] = select.from.as_slice() else { return query };
    let names = select.items.iter().map(|item| shown_column(item, &alias.name.value));
    let same = names.eq(alias.columns.iter().map(|(name, _)| Some(name.value.as_str())));
    if same && is_simple(select) && select.filter.is_none() { Query::clone(inner) } else { query }
}

/// Nothing but columns of rows that are there.
fn is_simple(select: &Select) -> bool {
    matches!(select.distinct, Distinct::All) && select.group_by.is_empty() && select.having.is_none() && select.windows.is_empty()
}

/// The column that an entry of the view's list shows; stars were written out when the view was made.
fn shown_column<'i>(item: &'i SelectItem, inner: &str) -> Option<&'i str> {
    let SelectItem::Expr { expr: ast::Expr::Column(parts), .. } = item else { return None };
    match parts.as_slice() {
        [column] => Some(&column.value),
        [table, column] if table.value == inner => Some(&column.value),
        _ => None,
    }
}
