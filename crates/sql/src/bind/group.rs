//! GROUP BY: what may stand above it.
//!
//! Target list, HAVING and ORDER BY of a grouped query are bound over the ungrouped rows first. Then each expression is rewritten: a part that is one of the
//! grouping expressions becomes that group's column; any other column of the ungrouped rows that remains is an error (42803), unless its table's
//! primary key is grouped, for then it depends on the group and is made part of it.

use super::expr::truth;
use super::logical::ColumnId;
use super::{Binder, Clause, Logical};
use crate::ast::{self, GroupItem, Literal};
use crate::error::{SqlError, SqlState};
use crate::expr::Expr;
use crate::types::coercion::need_equality;
use crate::types::{DataType, Datum};

/// PostgreSQL's limit.
const GROUPING_SETS_MAX: usize = 4096;

/// Whether two expressions are the same computation.
pub(crate) fn same(a: &Expr, b: &Expr) -> bool {
    match (a, b) {
        (Expr::Column(x, _), Expr::Column(y, _)) => x == y,
        (Expr::Column(..), _) | (_, Expr::Column(..)) => false,
        (Expr::Call { func: f, args: x, .. }, Expr::Call { func: g, args: y, .. }) => {
            std::ptr::eq(*f, *g) && x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same(x, y))
        }
        (Expr::UserCall { function: f, args: x, .. }, Expr::UserCall { function: g, args: y, .. }) => {
            f.descriptor.oid == g.descriptor.oid && x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same(x, y))
        }
        (Expr::Cast { expr: x, to: s, .. }, Expr::Cast { expr: y, to: t, .. }) => s == t && same(x, y),
        (Expr::Subquery(x, _), Expr::Subquery(y, _)) => x == y,
        _ => std::mem::discriminant(a) == std::mem::discriminant(b) && format!("{a:?}") == format!("{b:?}"),
    }
}

impl Binder<'_> {
    /// Binds GROUP BY into `select.group` and `select.sets`. `targets` gives meaning to ordinals and output names.
    pub(super) fn group_by(&mut self, items: &[GroupItem], targets: &[(Option<String>, &ast::Expr)]) -> Result<(), SqlError> {
        let plain = items.iter().all(|i| matches!(i, GroupItem::Expr(_)));
        // Sets of indexes into `group`; the items' sets are multiplied.
        let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
        for item in items {
            let own: Vec<Vec<usize>> = match item {
                GroupItem::Expr(expr) => vec![self.group_exprs(std::slice::from_ref(expr), targets)?],
                GroupItem::Empty => vec![Vec::new()],
                GroupItem::Rollup(list) => {
                    let parts = list.iter().map(|l| self.group_exprs(l, targets)).collect::<Result<Vec<_>, _>>()?;
                    (0..=parts.len()).rev().map(|n| parts[..n].concat()).collect()
                }
                GroupItem::Cube(list) => {
                    let parts = list.iter().map(|l| self.group_exprs(l, targets)).collect::<Result<Vec<_>, _>>()?;
                    if parts.len() > 12 {
                        return Err(SqlError::new(SqlState::TOO_MANY_COLUMNS, "CUBE is limited to 12 elements"));
                    }
                    let subset = |mask: usize| {
                        parts
                            .iter()
                            .enumerate()
                            .filter(|(i, _)| mask & (1 << (parts.len() - 1 - i)) != 0)
                            .flat_map(|(_, p)| p.clone())
                            .collect()
                    };
                    (0..1usize << parts.len()).rev().map(subset).collect()
                }
                GroupItem::Sets(list) => list.iter().map(|l| self.group_exprs(l, targets)).collect::<Result<_, _>>()?,
            };
            if sets.len() * own.len() > GROUPING_SETS_MAX {
                return Err(SqlError::new(
                    SqlState::STATEMENT_TOO_COMPLEX,
                    format!("too many grouping sets present (maximum {GROUPING_SETS_MAX})"),
                ));
            }
            sets = sets.iter().flat_map(|s| own.iter().map(move |o| [s.as_slice(), o.as_slice()].concat())).collect();
        }
        if !plain {
            self.select.set_number = self.new_column("grouping set", DataType::INT4.into());
            self.select.sets = Some(sets);
        }
        Ok(())
    }

    fn group_exprs(&mut self, list: &[ast::Expr], targets: &[(Option<String>, &ast::Expr)]) -> Result<Vec<usize>, SqlError> {
        let mut indexes = Vec::with_capacity(list.len());
        for expr in list {
            let bound = self.in_clause(Clause::GroupBy, |b| b.group_expr(expr, targets))?;
            need_equality(bound.ty().ty).map_err(|e| e.at(expr.pos()))?;
            let at = match self.select.group.iter().position(|(_, known)| same(known, &bound)) {
                Some(at) => at,
                None => {
                    let id = self.group_column(&bound);
                    self.select.group.push((id, bound));
                    self.select.group.len() - 1
                }
            };
            indexes.push(at);
        }
        Ok(indexes)
    }

    fn group_expr(&mut self, expr: &ast::Expr, targets: &[(Option<String>, &ast::Expr)]) -> Result<Expr, SqlError> {
        let meant = match expr {
            ast::Expr::Literal(Literal::Number(digits), pos) if digits.parse::<i64>().is_ok() => {
                let n: usize = digits.parse().unwrap_or(0);
                match n.checked_sub(1).and_then(|n| targets.get(n)) {
                    Some((_, target)) => *target,
                    None => {
                        return Err(SqlError::new(
                            SqlState::INVALID_COLUMN_REFERENCE,
                            format!("GROUP BY position {digits} is not in select list"),
                        )
                        .at(*pos));
                    }
                }
            }
            // A column of FROM wins over an output name.
            ast::Expr::Column(parts) if parts.len() == 1 => match self.column(parts) {
                Ok(column) => return Ok(column),
                Err(error) => match targets.iter().find(|(alias, _)| alias.as_deref() == Some(parts[0].value.as_str())) {
                    Some((_, target)) => *target,
                    None => return Err(error),
                },
            },
            other => other,
        };
        let bound = self.expr(meant)?;
        self.resolve_unknown(bound)
    }

    /// A plain column keeps its identity, so that it still says where it comes from.
    fn group_column(&mut self, expr: &Expr) -> ColumnId {
        let id = self.new_column("group", expr.ty());
        if let Expr::Column(source, _) = expr {
            self.columns[id] = self.columns[*source].clone();
        }
        id
    }

    pub(super) fn is_grouped(&self, has_group_by: bool) -> bool {
        has_group_by || !self.select.aggregates.is_empty()
    }

    /// Rewrites an expression over ungrouped rows into one over groups. `input` are the ungrouped rows' ids.
    pub(super) fn over_groups(&mut self, expr: Expr, input: &[ColumnId], source: &Logical) -> Result<Expr, SqlError> {
        if let Some((id, known)) = self.select.group.iter().find(|(_, known)| same(known, &expr)) {
            return Ok(Expr::Column(*id, known.ty()));
        }
        match expr {
            Expr::Column(id, ty) if input.contains(&id) => {
                if self.select.sets.is_none() && self.key_is_grouped(id, source) {
                    let expr = Expr::Column(id, ty);
                    let group = self.group_column(&expr);
                    self.select.group.push((group, expr));
                    return Ok(Expr::Column(group, ty));
                }
                Err(self.ungrouped(id, source))
            }
            // What a subquery refers to is checked when it is planned: its free columns must come from the groups.
            Expr::Subquery(number, ty) => {
                self.subquery_over_groups(number, input, source)?;
                Ok(Expr::Subquery(number, ty))
            }
            mut other => {
                for child in other.children_mut() {
                    let taken = std::mem::replace(child, truth(true));
                    *child = self.over_groups(taken, input, source)?;
                }
                Ok(other)
            }
        }
    }

    /// References from inside a subquery to grouped columns become references to the groups.
    fn subquery_over_groups(&mut self, number: usize, input: &[ColumnId], source: &Logical) -> Result<(), SqlError> {
        let mut subquery = self.subqueries[number].clone();
        let mut failed = None;
        subquery.plan.for_each_expr_mut(&mut |expr| {
            let rewritten = std::mem::replace(expr, truth(true));
            if failed.is_some() {
                *expr = rewritten;
                return;
            }
            let mentions = |e: &Expr| {
                let mut found = false;
                e.walk(&mut |e| found |= matches!(e, Expr::Column(id, _) if input.contains(id)));
                found
            };
            if !mentions(&rewritten) {
                *expr = rewritten;
                return;
            }
            match self.over_groups(rewritten.clone(), input, source) {
                Ok(new) => *expr = new,
                Err(error) => {
                    failed = Some(error);
                    *expr = rewritten;
                }
            }
        });
        self.subqueries[number] = subquery;
        failed.map_or(Ok(()), Err)
    }

    fn ungrouped(&self, id: ColumnId, source: &Logical) -> SqlError {
        let name = &self.columns[id].name;
        let shown = match relation_of(source, id) {
            Some((alias, _)) => format!("{alias}.{name}"),
            None => name.clone(),
        };
        let message = format!("column \"{shown}\" must appear in the GROUP BY clause or be used in an aggregate function");
        SqlError::new(SqlState::GROUPING_ERROR, message).at(self.places.get(&id).copied().unwrap_or(0))
    }

    /// Whether the primary key of the column's table is among the grouping columns.
    fn key_is_grouped(&self, id: ColumnId, source: &Logical) -> bool {
        let Some((_, Logical::Get { table, columns, .. })) = relation_of(source, id) else { return false };
        let grouped = |position: usize| {
            columns.get(position).is_some_and(|key| self.select.group.iter().any(|(_, e)| matches!(e, Expr::Column(g, _) if g == key)))
        };
        table.has_primary_key() && table.primary.key.iter().all(|k| grouped(k.column))
    }

    /// `GROUPING(a, b)`: a bit for each argument that the row's set does not keep.
    pub(super) fn grouping(&mut self, args: &[&ast::Expr], pos: usize) -> Result<Expr, SqlError> {
        let int4 = DataType::INT4.into();
        let mut places = Vec::new();
        for arg in args {
            let bound = self.expr(arg)?;
            let Some(at) = self.select.group.iter().position(|(_, known)| same(known, &bound)) else {
                let message = "arguments to GROUPING must be grouping expressions of the associated query level";
                return Err(SqlError::new(SqlState::GROUPING_ERROR, message).at(pos));
            };
            places.push(at);
        }
        let Some(sets) = self.select.sets.clone() else { return Ok(Expr::Const(Datum::Int4(0), int4)) };
        let number = Expr::Column(self.select.set_number, int4);
        let mut whens = Vec::with_capacity(sets.len());
        for (n, set) in (0..).zip(&sets) {
            let mask = places.iter().fold(0, |mask, at| (mask << 1) | i32::from(!set.contains(at)));
            let test = self.operator("=", Some(number.clone()), Expr::Const(Datum::Int4(n), int4), pos)?;
            whens.push((test, Expr::Const(Datum::Int4(mask), int4)));
        }
        Ok(Expr::Case { whens, otherwise: None, ty: int4 })
    }
}

/// The use of a table (or anything else with an alias) that a column belongs to.
fn relation_of(source: &Logical, id: ColumnId) -> Option<(&str, &Logical)> {
    match source {
        Logical::Get { alias, columns, .. }
        | Logical::Virtual { alias, columns, .. }
        | Logical::Function { alias, columns, .. }
        | Logical::Cte { alias, columns, .. } => columns.contains(&id).then_some((alias.as_str(), source)),
        Logical::Filter { input, .. } => relation_of(input, id),
        Logical::Join { left, right, .. } => relation_of(left, id).or_else(|| relation_of(right, id)),
        _ => None,
    }
}
