//! SELECT: the order of its clauses, and what each may see.
//!
//! The tree is built from the inside out: FROM, WHERE, groups, HAVING, windows, set-returning functions, the target list (with what ORDER BY needs besides), DISTINCT,
//! ORDER BY, row locks.

use super::expr::truth;
use super::group::same;
use super::logical::{ColumnId, LogicalWindow, conjuncts};
use super::query::{Hints, Output};
use super::{Binder, Clause, Logical, SelectState};
use crate::ast::{self, Distinct, Ident, Literal, OrderItem, Select, SelectItem};
use crate::error::{SqlError, SqlState};
use crate::expr::Expr;
use crate::plan::{SortKey, TableFunction, TableFunctionCall};
use crate::types::DataType;
use crate::types::coercion::{need_equality, need_order};

/// The result column that ORDER BY (or DISTINCT ON) names by ordinal or output name.
pub(super) fn output_reference(expr: &ast::Expr, output: &Output) -> Result<Option<ColumnId>, SqlError> {
    match expr {
        ast::Expr::Literal(Literal::Number(digits), pos) => {
            let Ok(n) = digits.parse::<i64>() else {
                return Err(SqlError::new(SqlState::SYNTAX_ERROR, "non-integer constant in ORDER BY").at(*pos));
            };
            let found = usize::try_from(n).ok().and_then(|n| n.checked_sub(1)).and_then(|n| output.get(n));
            match found {
                Some((_, id)) => Ok(Some(*id)),
                None => {
                    Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, format!("ORDER BY position {n} is not in select list")).at(*pos))
                }
            }
        }
        ast::Expr::Literal(Literal::String(_), pos) => {
            Err(SqlError::new(SqlState::SYNTAX_ERROR, "non-integer constant in ORDER BY").at(*pos))
        }
        ast::Expr::Column(parts) => match parts.as_slice() {
            [name] => {
                let mut found = output.iter().filter(|(n, _)| *n == name.value).map(|(_, id)| *id);
                let first = found.next();
                if first.is_some() && found.any(|id| Some(id) != first) {
                    return Err(SqlError::new(SqlState::AMBIGUOUS_COLUMN, format!("ORDER BY \"{}\" is ambiguous", name.value)).at(name.pos));
                }
                Ok(first)
            }
            _ => Ok(None),
        },
        _ => Ok(None),
    }
}

/// The name of a result column that has no alias.
fn implicit_name(expr: &ast::Expr) -> String {
    name_of(expr).map_or_else(|| "?column?".into(), |(name, _)| name)
}

/// The name that a stored expression's column would have, if it gives one.
pub(crate) fn expression_name(text: &str) -> Option<String> {
    name_of(&crate::parse::parse_expression(text).ok()?).map(|(name, _)| name)
}

/// How good a name is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NameStrength {
    /// A cast's type, or `case`: what stands around it may know better.
    Weak,
    /// A column's or a function's.
    Strong,
}

fn name_of(expr: &ast::Expr) -> Option<(String, NameStrength)> {
    use NameStrength::{Strong, Weak};
    use ast::Expr as E;
    let strong = |name: &str| Some((name.to_owned(), Strong));
    let strong_name_of = |expr: &ast::Expr| name_of(expr).filter(|(_, strength)| *strength == Strong);
    match expr {
        E::Column(parts) => parts.last().and_then(|p| strong(&p.value)),
        E::Field { field, .. } => strong(&field.value),
        E::Function(call) => strong(&call.name.name),
        E::Cast { expr, ty, .. } => strong_name_of(expr).or_else(|| Some((ty.name.trim_matches('"').to_owned(), Weak))),
        E::Collate { expr, .. } | E::Subscript { expr, .. } => name_of(expr),
        E::Case { otherwise, .. } => otherwise.as_deref().and_then(strong_name_of).or(Some(("case".into(), Weak))),
        E::Exists(_) => strong("exists"),
        E::Array(..) | E::ArraySubquery(..) => strong("array"),
        E::Row(..) => strong("row"),
        E::Literal(Literal::Bool(_), _) => Some(("bool".into(), Weak)),
        E::Subquery(query, _) => match &query.body {
            ast::SetExpr::Select(select) => match select.items.as_slice() {
                [SelectItem::Expr { alias: Some(alias), .. }] => strong(alias),
                [SelectItem::Expr { expr, .. }] => strong(&implicit_name(expr)),
                _ => None,
            },
            ast::SetExpr::Values(..) => strong("column1"),
            _ => None,
        },
        _ => None,
    }
}

/// What a select list comes to.
struct Targets {
    names: Vec<String>,
    exprs: Vec<Expr>,
    /// How many of them the user sees; the rest is for ORDER BY.
    visible: usize,
}

impl Binder<'_> {
    pub(super) fn select(
        &mut self,
        select: &Select,
        order_by: &[OrderItem],
        hints: &Hints,
    ) -> Result<(Logical, Output, Vec<SortKey>), SqlError> {
        let outer = std::mem::replace(&mut self.select, SelectState::new(Clause::Targets));
        let locked = std::mem::take(&mut self.locked);
        let scopes = self.scopes.len();
        let bound = self.select_here(select, order_by, hints);
        self.scopes.truncate(scopes);
        (self.select, self.locked) = (outer, locked);
        bound
    }

    fn select_here(&mut self, select: &Select, order_by: &[OrderItem], hints: &Hints) -> Result<(Logical, Output, Vec<SortKey>), SqlError> {
        let (mut plan, space) = self.bind_from(&select.from, &hints.locking)?;
        for clause in &hints.locking {
            if let Some(missing) = clause.of.iter().find(|of| !space.relations.iter().any(|r| r.alias == of.value)) {
                let message = format!("relation \"{}\" in {} clause not found in FROM clause", missing.value, clause.strength.clause());
                return Err(SqlError::new(SqlState::UNDEFINED_TABLE, message).at(missing.pos));
            }
        }
        self.scopes.push(space);
        if let Some(filter) = &select.filter {
            let condition = self.in_clause(Clause::Where, |b| b.condition(filter, "WHERE"))?;
            plan = plan.filtered(conjuncts(condition));
        }
        if let Some((_, (again, _))) = select
            .windows
            .iter()
            .enumerate()
            .find(|(at, (name, _))| select.windows[..*at].iter().any(|(earlier, _)| earlier.value == name.value))
        {
            let message = format!("window \"{}\" is already defined", again.value);
            return Err(SqlError::new(SqlState::WINDOWING_ERROR, message).at(again.pos));
        }
        self.select.named_windows = select.windows.iter().map(|(name, spec)| (name.value.clone(), spec.clone())).collect();
        self.group_clause(select)?;
        // Errors about grouping point at the first mention behind GROUP BY's own.
        self.places.clear();
        let mut targets = self.targets(&select.items, hints)?;
        let having = match &select.having {
            None => None,
            Some(having) => Some(self.in_clause(Clause::Having, |b| b.condition(having, "HAVING"))?),
        };
        let keys = self.order_targets(order_by, &mut targets)?;
        let distinct_on = match &select.distinct {
            Distinct::On(list) => self.distinct_on(list, &mut targets)?,
            _ => Vec::new(),
        };
        self.check_locking(select, hints)?;
        if self.is_grouped(!select.group_by.is_empty() || having.is_some()) {
            plan = self.grouped(plan, &mut targets, having)?;
        }
        if !self.select.windows.is_empty() {
            plan = Logical::Window { input: Box::new(plan), windows: std::mem::take(&mut self.select.windows) };
        }
        if !self.select.set_functions.is_empty() {
            plan = Logical::ProjectSet { input: Box::new(plan), functions: std::mem::take(&mut self.select.set_functions) };
        }
        let distinct = matches!(select.distinct, Distinct::Distinct);
        if let Some(at) = keys.iter().position(|(at, ..)| distinct && *at >= targets.visible) {
            let message = "for SELECT DISTINCT, ORDER BY expressions must appear in select list";
            return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message).at(order_by[at].expr.pos()));
        }
        self.finish_select(plan, select, targets, &keys, &distinct_on)
    }

    fn group_clause(&mut self, select: &Select) -> Result<(), SqlError> {
        if select.group_by.is_empty() {
            return Ok(());
        }
        // Ordinals count the expanded list.
        let mut expanded: Vec<(Option<String>, ast::Expr)> = Vec::new();
        for item in &select.items {
            match item {
                SelectItem::Expr { expr, alias } => {
                    expanded.push((alias.clone().or_else(|| name_of(expr).map(|(name, _)| name)), expr.clone()))
                }
                SelectItem::Star(pos) => {
                    let names = self.star(None, *pos)?;
                    expanded.extend(
                        names.into_iter().map(|(name, _)| (Some(name.clone()), ast::Expr::Column(vec![Ident { value: name, pos: *pos }]))),
                    );
                }
                SelectItem::TableStar(table) => {
                    for (name, _) in self.star(Some(table), table.pos)? {
                        let parts =
                            vec![Ident { value: table.name.clone(), pos: table.pos }, Ident { value: name.clone(), pos: table.pos }];
                        expanded.push((Some(name), ast::Expr::Column(parts)));
                    }
                }
                SelectItem::RowStar(row) => {
                    for (name, _) in self.row_star(row)? {
                        let field = Ident { value: name.clone(), pos: row.pos() };
                        expanded.push((Some(name), ast::Expr::Field { expr: Box::new(row.clone()), field }));
                    }
                }
            }
        }
        let borrowed: Vec<(Option<String>, &ast::Expr)> = expanded.iter().map(|(n, e)| (n.clone(), e)).collect();
        self.group_by(&select.group_by, &borrowed)
    }

    fn targets(&mut self, items: &[SelectItem], hints: &Hints) -> Result<Targets, SqlError> {
        let listed = self.select_items(items)?;
        let mut targets = Targets { names: Vec::new(), exprs: Vec::new(), visible: listed.len() };
        for (at, (name, expr)) in listed.into_iter().enumerate() {
            let expr = match hints.targets.as_ref().and_then(|t| t.get(at)) {
                Some((column, ty)) if expr.ty().ty == DataType::UNKNOWN => self.assign(expr, column, *ty, 0)?,
                _ if hints.keep_unknown => expr,
                _ => self.resolve_unknown(expr)?,
            };
            targets.names.push(name);
            targets.exprs.push(expr);
        }
        Ok(targets)
    }

    /// A target or RETURNING list, stars expanded.
    pub(super) fn select_items(&mut self, items: &[SelectItem]) -> Result<Vec<(String, Expr)>, SqlError> {
        let mut list = Vec::with_capacity(items.len());
        for item in items {
            match item {
                SelectItem::Star(pos) => {
                    let columns = self.star(None, *pos)?;
                    self.note_star(*pos, None, &columns);
                    list.extend(columns);
                }
                SelectItem::TableStar(table) => {
                    let columns = self.star(Some(table), table.pos)?;
                    self.note_star(table.pos, Some(table), &columns);
                    list.extend(columns);
                }
                SelectItem::RowStar(expr) => list.extend(self.row_star(expr)?),
                SelectItem::Expr { expr, alias } => {
                    if let (ast::Expr::Column(parts), None, Some(mentions)) = (expr, alias, &mut self.mentions) {
                        mentions.bare_items.extend(parts.last().map(|part| part.pos));
                    }
                    let bound = self.expr(expr)?;
                    list.push((alias.clone().unwrap_or_else(|| implicit_name(expr)), bound));
                }
            }
        }
        Ok(list)
    }

    /// The place of an expression in the target list, added at its end if need be.
    fn target_for(&mut self, expr: &ast::Expr, targets: &mut Targets) -> Result<usize, SqlError> {
        // Places stand in for ids, which the targets don't have yet.
        let visible: Output = targets.names[..targets.visible].iter().cloned().zip(0..).collect();
        match output_reference(expr, &visible) {
            Ok(Some(at)) => return Ok(at),
            Ok(None) => {}
            // Equal expressions under one name are no ambiguity.
            Err(error) if error.state() == SqlState::AMBIGUOUS_COLUMN => {
                let ast::Expr::Column(parts) = expr else { return Err(error) };
                let mut named = visible.iter().filter(|(n, _)| *n == parts[0].value).map(|(_, at)| *at);
                let first = named.next().unwrap_or(0);
                return if named.all(|at| same(&targets.exprs[at], &targets.exprs[first])) { Ok(first) } else { Err(error) };
            }
            Err(error) => return Err(error),
        }
        let bound = self.in_clause(Clause::OrderBy, |b| {
            let bound = b.expr(expr)?;
            b.resolve_unknown(bound)
        })?;
        if let Some(at) = targets.exprs.iter().position(|e| same(e, &bound)) {
            return Ok(at);
        }
        targets.names.push(implicit_name(expr));
        targets.exprs.push(bound);
        Ok(targets.exprs.len() - 1)
    }

    /// ORDER BY, as places in the target list.
    fn order_targets(&mut self, items: &[OrderItem], targets: &mut Targets) -> Result<Vec<(usize, bool, bool)>, SqlError> {
        let mut keys = Vec::with_capacity(items.len());
        for item in items {
            let at = self.target_for(&item.expr, targets)?;
            need_order(targets.exprs[at].ty().ty).map_err(|e| e.at(item.expr.pos()))?;
            keys.push((at, item.descending, item.nulls_first.unwrap_or(item.descending)));
        }
        Ok(keys)
    }

    fn distinct_on(&mut self, list: &[ast::Expr], targets: &mut Targets) -> Result<Vec<usize>, SqlError> {
        list.iter().map(|e| self.target_for(e, targets)).collect()
    }

    fn check_locking(&self, select: &Select, hints: &Hints) -> Result<(), SqlError> {
        let Some(lock) = hints.locking.first() else { return Ok(()) };
        let what = if !matches!(select.distinct, Distinct::All) {
            "DISTINCT clause"
        } else if !select.group_by.is_empty() {
            "GROUP BY clause"
        } else if select.having.is_some() {
            "HAVING clause"
        } else if !self.select.aggregates.is_empty() {
            "aggregate functions"
        } else if !self.select.windows.is_empty() {
            "window functions"
        } else if !self.select.set_functions.is_empty() {
            "set-returning functions in the target list"
        } else {
            return Ok(());
        };
        Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, format!("{} is not allowed with {what}", lock.strength.clause())))
    }

    /// Puts the groups between FROM and everything that was bound above it.
    fn grouped(&mut self, plan: Logical, targets: &mut Targets, having: Option<Expr>) -> Result<Logical, SqlError> {
        let input = plan.output();
        for expr in &mut targets.exprs {
            let taken = std::mem::replace(expr, truth(true));
            *expr = self.over_groups(taken, &input, &plan)?;
        }
        let having = having.map(|h| self.over_groups(h, &input, &plan)).transpose()?;
        let mut windows = std::mem::take(&mut self.select.windows);
        for window in &mut windows {
            self.window_over_groups(window, &input, &plan)?;
        }
        self.select.windows = windows;
        let mut functions = std::mem::take(&mut self.select.set_functions);
        for (_, function) in &mut functions {
            self.function_over_groups(function, &input, &plan)?;
        }
        self.select.set_functions = functions;
        let aggregate = Logical::Aggregate {
            input: Box::new(plan),
            group: std::mem::take(&mut self.select.group),
            sets: self.select.sets.take(),
            aggregates: std::mem::take(&mut self.select.aggregates),
            set_number: self.select.set_number,
        };
        Ok(aggregate.filtered(having.map(conjuncts).unwrap_or_default()))
    }

    fn replace_over_groups(&mut self, expr: &mut Expr, input: &[ColumnId], plan: &Logical) -> Result<(), SqlError> {
        let taken = std::mem::replace(expr, truth(true));
        *expr = self.over_groups(taken, input, plan)?;
        Ok(())
    }

    fn window_over_groups(&mut self, window: &mut LogicalWindow, input: &[ColumnId], plan: &Logical) -> Result<(), SqlError> {
        let order = window.order_by.iter_mut().map(|k| &mut k.expr);
        let calls = window.calls.iter_mut().flat_map(|(_, c)| c.args.iter_mut().chain(&mut c.filter));
        for expr in window.partition_by.iter_mut().chain(order).chain(calls) {
            self.replace_over_groups(expr, input, plan)?;
        }
        Ok(())
    }

    fn function_over_groups(&mut self, function: &mut TableFunction, input: &[ColumnId], plan: &Logical) -> Result<(), SqlError> {
        match &mut function.call {
            TableFunctionCall::Set { args, .. } | TableFunctionCall::User { args, .. } => {
                args.iter_mut().try_for_each(|arg| self.replace_over_groups(arg, input, plan))
            }
            TableFunctionCall::Scalar(expr) => self.replace_over_groups(expr, input, plan),
        }
    }

    /// The list's columns: what is a column of the input keeps its id, the rest gets new ones.
    pub(super) fn project(&mut self, names: &[String], exprs: Vec<Expr>, input: &[ColumnId]) -> Vec<(ColumnId, Expr)> {
        let mut projected: Vec<(ColumnId, Expr)> = Vec::with_capacity(exprs.len());
        for (at, expr) in exprs.into_iter().enumerate() {
            let id = match &expr {
                Expr::Column(id, _) if input.contains(id) => *id,
                other => self.column_for(names.get(at).cloned().unwrap_or_default(), other),
            };
            projected.push((id, expr));
        }
        projected
    }

    fn finish_select(
        &mut self,
        plan: Logical,
        select: &Select,
        targets: Targets,
        keys: &[(usize, bool, bool)],
        distinct_on: &[usize],
    ) -> Result<(Logical, Output, Vec<SortKey>), SqlError> {
        let distinct = matches!(select.distinct, Distinct::Distinct);
        if !distinct_on.is_empty() && keys.iter().take(distinct_on.len()).any(|(at, ..)| !distinct_on.contains(at)) {
            return Err(SqlError::new(
                SqlState::INVALID_COLUMN_REFERENCE,
                "SELECT DISTINCT ON expressions must match initial ORDER BY expressions",
            ));
        }
        let visible = targets.visible;
        if distinct {
            targets.exprs.iter().take(visible).try_for_each(|e| need_equality(e.ty().ty))?;
        }
        let projected = self.project(&targets.names, targets.exprs, &plan.output());
        let column = |at: usize| {
            let (id, expr) = &projected[at];
            Expr::Column(*id, expr.ty())
        };
        let output: Output = targets.names.iter().take(visible).cloned().zip(projected.iter().map(|(id, _)| *id)).collect();
        let sort: Vec<SortKey> = keys
            .iter()
            .map(|(at, descending, nulls_first)| SortKey { expr: column(*at), descending: *descending, nulls_first: *nulls_first })
            .collect();
        let all: Vec<Expr> = (0..visible).map(column).collect();
        let on: Vec<Expr> = distinct_on.iter().map(|at| column(*at)).collect();
        let mut exprs: Vec<(ColumnId, Expr)> = Vec::with_capacity(projected.len());
        for (id, expr) in projected {
            if !exprs.iter().any(|(known, _)| *known == id) {
                exprs.push((id, expr));
            }
        }
        let locked = std::mem::take(&mut self.locked);
        for target in &locked {
            // Locking needs the rows' keys, and what may have changed of them.
            for id in &target.columns {
                if !exprs.iter().any(|(known, _)| known == id) {
                    exprs.push((*id, Expr::Column(*id, self.column_type_of(*id))));
                }
            }
        }
        let mut plan = Logical::Project { input: Box::new(plan), exprs };
        if distinct {
            plan = Logical::Distinct { input: Box::new(plan), keys: all };
        }
        if !sort.is_empty() {
            plan = Logical::Sort { input: Box::new(plan), keys: sort.clone() };
        }
        if !on.is_empty() {
            plan = Logical::Distinct { input: Box::new(plan), keys: on };
        }
        if !locked.is_empty() {
            plan = Logical::Lock { input: Box::new(plan), targets: locked };
        }
        Ok((plan, output, sort))
    }
}
