//! Queries: sqlparser's tree into ours. What other databases' SELECT has and PostgreSQL's hasn't is a syntax error here.

use super::cursor::Cursor;
use super::tokens::{EXCLUDE_MARK, LOCK_MARK, ROW_STAR, ROWS_FROM};
use super::{STACK_GROWTH, STACK_RED_ZONE};
use crate::ast::{
    Cte, Distinct, Expr, FrameBound, FrameExclusion, FrameUnits, FunctionCall, GroupItem, Ident, JoinConstraint, JoinKind, LockingClause,
    ObjectName, OrderItem, Query, Select, SelectItem, SetExpr, SetOp, Statement, TableAlias, TableRef, TableSample, WindowFrame,
    WindowSpec, With,
};
use crate::error::{SqlError, SqlState};
use sqlparser::ast as sp;

fn foreign(what: &str) -> SqlError {
    SqlError::new(SqlState::SYNTAX_ERROR, format!("syntax error at or near \"{what}\""))
}

/// Other databases let `*` be renamed or leave columns out.
fn plain_star(options: &sp::WildcardAdditionalOptions) -> Result<(), SqlError> {
    let bare = sp::WildcardAdditionalOptions { wildcard_token: options.wildcard_token.clone(), ..sp::WildcardAdditionalOptions::default() };
    if *options == bare { Ok(()) } else { Err(foreign(options.to_string().trim())) }
}

impl Cursor<'_> {
    pub(super) fn convert_query(&mut self, query: sp::Query) -> Result<Query, SqlError> {
        stacker::maybe_grow(STACK_RED_ZONE, STACK_GROWTH, || self.convert_query_here(query))
    }

    fn convert_query_here(&mut self, query: sp::Query) -> Result<Query, SqlError> {
        if query.for_clause.is_some() || query.settings.is_some() || query.format_clause.is_some() || !query.pipe_operators.is_empty() {
            return Err(foreign("FORMAT"));
        }
        let with = query.with.map(|w| self.with(w)).transpose()?;
        let body = self.set_expr(*query.body)?;
        let order_by = match query.order_by.map(|o| o.kind) {
            None => Vec::new(),
            Some(sp::OrderByKind::Expressions(list)) => self.convert_order(list)?,
            Some(sp::OrderByKind::All(_)) => return Err(foreign("ALL")),
        };
        let (mut limit, mut offset) = (None, None);
        match query.limit_clause {
            None => {}
            Some(sp::LimitClause::LimitOffset { limit: l, offset: o, limit_by }) => {
                if !limit_by.is_empty() {
                    return Err(foreign("BY"));
                }
                limit = l.map(|e| self.convert_expr(e)).transpose()?;
                offset = o.map(|o| self.convert_expr(o.value)).transpose()?;
            }
            Some(sp::LimitClause::OffsetCommaLimit { .. }) => {
                return Err(SqlError::new(SqlState::SYNTAX_ERROR, "LIMIT #,# syntax is not supported")
                    .hint("Use separate LIMIT and OFFSET clauses."));
            }
        }
        let mut with_ties = false;
        if let Some(fetch) = query.fetch {
            if fetch.percent {
                return Err(foreign("PERCENT"));
            }
            with_ties = fetch.with_ties;
            limit = Some(fetch.quantity.map_or(Ok(Expr::Literal(crate::ast::Literal::Number("1".into()), 0)), |q| self.convert_expr(q))?);
        }
        let locking = query.locks.into_iter().map(|lock| self.lock(&lock)).collect::<Result<_, _>>()?;
        Ok(Query { with, body, order_by, limit, offset, with_ties, locking })
    }

    /// The clause that `tokens` put at the side.
    fn lock(&self, lock: &sp::LockClause) -> Result<LockingClause, SqlError> {
        let mark = lock.of.as_ref().and_then(|name| name.0.first()).and_then(|part| part.as_ident()).map(|i| i.value.as_str());
        let number = mark.and_then(|m| m.strip_prefix(LOCK_MARK)).and_then(|n| n.parse::<usize>().ok());
        number.and_then(|n| self.locking.get(n)).cloned().ok_or_else(|| foreign("FOR"))
    }

    fn with(&mut self, with: sp::With) -> Result<With, SqlError> {
        let mut ctes = Vec::with_capacity(with.cte_tables.len());
        for cte in with.cte_tables {
            let name = self.convert_ident(cte.alias.name);
            if matches!(*cte.query.body, sp::SetExpr::Insert(_) | sp::SetExpr::Update(_) | sp::SetExpr::Delete(_) | sp::SetExpr::Merge(_)) {
                let message = "WITH clause containing a data-modifying statement must be at the top level";
                return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(name.pos));
            }
            let columns = cte.alias.columns.into_iter().map(|c| self.convert_ident(c.name)).collect();
            let materialized = cte.materialized.map(|m| matches!(m, sp::CteAsMaterialized::Materialized));
            let body = Statement::Query(Box::new(self.convert_query(*cte.query)?));
            ctes.push(Cte { name, columns, materialized, body });
        }
        Ok(With { recursive: with.recursive, ctes })
    }

    fn set_expr(&mut self, body: sp::SetExpr) -> Result<SetExpr, SqlError> {
        stacker::maybe_grow(STACK_RED_ZONE, STACK_GROWTH, || match body {
            sp::SetExpr::Select(select) => Ok(SetExpr::Select(Box::new(self.select(*select)?))),
            sp::SetExpr::Query(query) => Ok(SetExpr::Query(Box::new(self.convert_query(*query)?))),
            sp::SetExpr::Values(values) => self.values(values),
            sp::SetExpr::Table(table) => self.table_command(*table),
            sp::SetExpr::SetOperation { left, op, set_quantifier, right } => {
                let op = match op {
                    sp::SetOperator::Union => SetOp::Union,
                    sp::SetOperator::Intersect => SetOp::Intersect,
                    sp::SetOperator::Except => SetOp::Except,
                    sp::SetOperator::Minus => return Err(foreign("MINUS")),
                };
                let all = match set_quantifier {
                    sp::SetQuantifier::All => true,
                    sp::SetQuantifier::Distinct | sp::SetQuantifier::None => false,
                    _ => return Err(foreign("BY")),
                };
                let left = Box::new(self.set_expr(*left)?);
                Ok(SetExpr::SetOp { op, all, left, right: Box::new(self.set_expr(*right)?) })
            }
            sp::SetExpr::Insert(_) => Err(foreign("INSERT")),
            sp::SetExpr::Update(_) => Err(foreign("UPDATE")),
            sp::SetExpr::Delete(_) => Err(foreign("DELETE")),
            sp::SetExpr::Merge(_) => Err(foreign("MERGE")),
        })
    }

    fn values(&mut self, values: sp::Values) -> Result<SetExpr, SqlError> {
        let pos = self.here();
        let mut rows = Vec::with_capacity(values.rows.len());
        for row in values.rows {
            let row = self.convert_list(row.content)?;
            rows.push(row);
        }
        let width = rows.first().map_or(0, Vec::len);
        if let Some(row) = rows.iter().find(|row| row.len() != width) {
            let at = row.first().map_or(pos, Expr::pos);
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, "VALUES lists must all be the same length").at(at));
        }
        Ok(SetExpr::Values(rows, pos))
    }

    fn table_command(&mut self, table: sp::Table) -> Result<SetExpr, SqlError> {
        let pos = self.find("TABLE");
        let schema = table.schema_name.map(|i| self.convert_ident(i).value);
        let name = table.table_name.map(|i| self.convert_ident(i)).ok_or_else(|| foreign("TABLE"))?;
        let pos = if name.pos > 0 { name.pos } else { pos };
        Ok(SetExpr::Table(ObjectName { catalog: None, schema, name: name.value, pos }))
    }

    fn select(&mut self, select: sp::Select) -> Result<Select, SqlError> {
        let foreign_part = select.top.is_some()
            || select.exclude.is_some()
            || !select.lateral_views.is_empty()
            || select.prewhere.is_some()
            || !select.connect_by.is_empty()
            || !select.cluster_by.is_empty()
            || !select.distribute_by.is_empty()
            || !select.sort_by.is_empty()
            || select.qualify.is_some()
            || select.value_table_mode.is_some()
            || !matches!(select.flavor, sp::SelectFlavor::Standard);
        if foreign_part {
            return Err(foreign("SELECT"));
        }
        if select.into.is_some() {
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, "SELECT ... INTO is not allowed here"));
        }
        let distinct = match select.distinct {
            None | Some(sp::Distinct::All) => Distinct::All,
            Some(sp::Distinct::Distinct) => Distinct::Distinct,
            Some(sp::Distinct::On(list)) if list.is_empty() => return Err(self.syntax_error_near(")")),
            Some(sp::Distinct::On(list)) => Distinct::On(self.convert_list(list)?),
        };
        if select.projection.is_empty() && !matches!(distinct, Distinct::All) {
            return Err(self.syntax_error_near("FROM"));
        }
        let items = select.projection.into_iter().map(|item| self.select_item(item)).collect::<Result<_, _>>()?;
        let from = select.from.into_iter().map(|t| self.table_with_joins(t)).collect::<Result<_, _>>()?;
        let filter = select.selection.map(|e| self.convert_expr(e)).transpose()?;
        let group_by = self.group_by(select.group_by)?;
        let having = select.having.map(|e| self.convert_expr(e)).transpose()?;
        let mut windows = Vec::new();
        for sp::NamedWindowDefinition(name, window) in select.named_window {
            let name = self.convert_ident(name);
            let sp::NamedWindowExpr::WindowSpec(spec) = window else { return Err(foreign(&name.value)) };
            windows.push((name, self.window_spec(spec)?));
        }
        Ok(Select { distinct, items, from, filter, group_by, having, windows })
    }

    pub(super) fn select_item(&mut self, item: sp::SelectItem) -> Result<SelectItem, SqlError> {
        match item {
            sp::SelectItem::UnnamedExpr(expr) => Ok(match self.convert_expr(expr)? {
                Expr::Field { expr, field } if field.value == ROW_STAR => SelectItem::RowStar(*expr),
                // Of `(r).*`, where the crate forgets the parentheses.
                Expr::Column(mut parts) if parts.last().is_some_and(|p| p.value == ROW_STAR) => {
                    parts.pop();
                    SelectItem::RowStar(Expr::Column(parts))
                }
                expr => SelectItem::Expr { expr, alias: None },
            }),
            sp::SelectItem::ExprWithAlias { expr, alias } => {
                let expr = self.convert_expr(expr)?;
                Ok(SelectItem::Expr { expr, alias: Some(self.convert_ident(alias).value) })
            }
            sp::SelectItem::ExprWithAliases { .. } => Err(foreign("AS")),
            sp::SelectItem::Wildcard(options) => {
                plain_star(&options)?;
                Ok(SelectItem::Star(self.find("*")))
            }
            sp::SelectItem::QualifiedWildcard(sp::SelectItemQualifiedWildcardKind::ObjectName(name), options) => {
                plain_star(&options)?;
                Ok(SelectItem::TableStar(self.convert_name(name)?))
            }
            sp::SelectItem::QualifiedWildcard(..) => Err(SqlError::unsupported("expansion of a row with .*")),
        }
    }

    fn group_by(&mut self, group: sp::GroupByExpr) -> Result<Vec<GroupItem>, SqlError> {
        let sp::GroupByExpr::Expressions(list, modifiers) = group else { return Err(foreign("ALL")) };
        if !modifiers.is_empty() {
            return Err(foreign("WITH"));
        }
        list.into_iter().map(|item| self.group_item(item)).collect()
    }

    fn group_item(&mut self, item: sp::Expr) -> Result<GroupItem, SqlError> {
        let mut sets = |sets: Vec<Vec<sp::Expr>>| sets.into_iter().map(|s| self.convert_list(s)).collect::<Result<Vec<_>, _>>();
        match item {
            sp::Expr::Rollup(list) => Ok(GroupItem::Rollup(sets(list)?)),
            sp::Expr::Cube(list) => Ok(GroupItem::Cube(sets(list)?)),
            sp::Expr::GroupingSets(list) => Ok(GroupItem::Sets(sets(list)?)),
            sp::Expr::Tuple(list) if list.is_empty() => Ok(GroupItem::Empty),
            other => Ok(GroupItem::Expr(self.convert_expr(other)?)),
        }
    }

    pub(super) fn convert_order(&mut self, list: Vec<sp::OrderByExpr>) -> Result<Vec<OrderItem>, SqlError> {
        let mut items = Vec::with_capacity(list.len());
        for item in list {
            if item.with_fill.is_some() {
                return Err(foreign("WITH"));
            }
            let expr = self.convert_expr(item.expr)?;
            let descending = match item.options.sort {
                None | Some(sp::OrderBySort::Asc) => false,
                Some(sp::OrderBySort::Desc) => true,
                Some(sp::OrderBySort::Using(op)) if op.to_string() == "<" => false,
                Some(sp::OrderBySort::Using(op)) if op.to_string() == ">" => true,
                Some(sp::OrderBySort::Using(_)) => return Err(SqlError::unsupported("ORDER BY USING with that operator")),
            };
            items.push(OrderItem { expr, descending, nulls_first: item.options.nulls_first });
        }
        Ok(items)
    }

    pub(super) fn window_spec(&mut self, spec: sp::WindowSpec) -> Result<WindowSpec, SqlError> {
        let mut base = spec.window_name.map(|n| self.convert_ident(n));
        let mut exclude = FrameExclusion::NoOthers;
        if let Some(marked) = &mut base
            && let Some((kind, name)) = marked.value.strip_prefix(EXCLUDE_MARK).and_then(|rest| rest.split_once(EXCLUDE_MARK))
        {
            exclude = match kind {
                "group" => FrameExclusion::Group,
                "ties" => FrameExclusion::Ties,
                _ => FrameExclusion::CurrentRow,
            };
            marked.value = name.to_owned();
        }
        let base = base.filter(|base| !base.value.is_empty());
        let partition_by = self.convert_list(spec.partition_by)?;
        let order_by = self.convert_order(spec.order_by)?;
        let mut frame = spec.window_frame.map(|f| self.frame(f)).transpose()?;
        if let Some(frame) = &mut frame {
            frame.exclude = exclude;
        }
        Ok(WindowSpec { base, inline: true, partition_by, order_by, frame })
    }

    fn frame(&mut self, frame: sp::WindowFrame) -> Result<WindowFrame, SqlError> {
        let units = match frame.units {
            sp::WindowFrameUnits::Rows => FrameUnits::Rows,
            sp::WindowFrameUnits::Range => FrameUnits::Range,
            sp::WindowFrameUnits::Groups => FrameUnits::Groups,
        };
        let start = self.frame_bound(frame.start_bound)?;
        let end = frame.end_bound.map_or(Ok(FrameBound::CurrentRow), |b| self.frame_bound(b))?;
        Ok(WindowFrame { units, start, end, exclude: FrameExclusion::NoOthers })
    }

    fn frame_bound(&mut self, bound: sp::WindowFrameBound) -> Result<FrameBound, SqlError> {
        Ok(match bound {
            sp::WindowFrameBound::CurrentRow => FrameBound::CurrentRow,
            sp::WindowFrameBound::Preceding(None) => FrameBound::UnboundedPreceding,
            sp::WindowFrameBound::Following(None) => FrameBound::UnboundedFollowing,
            sp::WindowFrameBound::Preceding(Some(e)) => FrameBound::Preceding(self.convert_box(e)?),
            sp::WindowFrameBound::Following(Some(e)) => FrameBound::Following(self.convert_box(e)?),
        })
    }

    // ---- FROM

    pub(super) fn table_with_joins(&mut self, table: sp::TableWithJoins) -> Result<TableRef, SqlError> {
        let mut left = self.table_factor(table.relation)?;
        for join in table.joins {
            let right = self.table_factor(join.relation)?;
            use sp::JoinOperator as J;
            let (kind, constraint) = match join.join_operator {
                J::Join(c) | J::Inner(c) => (JoinKind::Inner, c),
                J::Left(c) | J::LeftOuter(c) => (JoinKind::Left, c),
                J::Right(c) | J::RightOuter(c) => (JoinKind::Right, c),
                J::FullOuter(c) => (JoinKind::Full, c),
                J::CrossJoin(c) => (JoinKind::Cross, c),
                _ => return Err(foreign("JOIN")),
            };
            let constraint = match constraint {
                sp::JoinConstraint::None => JoinConstraint::None,
                sp::JoinConstraint::Natural => JoinConstraint::Natural,
                sp::JoinConstraint::On(on) => JoinConstraint::On(self.convert_expr(on)?),
                sp::JoinConstraint::Using(names) => JoinConstraint::Using(self.using(names)?),
                sp::JoinConstraint::UsingAlias(..) => return Err(SqlError::unsupported("JOIN USING with an alias")),
            };
            if matches!(constraint, JoinConstraint::None) != (kind == JoinKind::Cross) {
                return Err(self.syntax_error());
            }
            left = TableRef::Join { left: Box::new(left), right: Box::new(right), kind, constraint };
        }
        Ok(left)
    }

    fn using(&mut self, names: Vec<sp::ObjectName>) -> Result<Vec<Ident>, SqlError> {
        let mut columns = Vec::with_capacity(names.len());
        for name in names {
            let name = self.convert_name(name)?;
            columns.push(Ident { value: name.name, pos: name.pos });
        }
        Ok(columns)
    }

    pub(super) fn convert_alias(&mut self, alias: Option<sp::TableAlias>) -> Result<Option<TableAlias>, SqlError> {
        let Some(alias) = alias else { return Ok(None) };
        self.not_reserved(Some(&alias.name))?;
        let name = self.convert_ident(alias.name);
        let mut columns = Vec::with_capacity(alias.columns.len());
        for column in alias.columns {
            let ty = column.data_type.map(|ty| self.convert_type(ty)).transpose()?;
            columns.push((self.convert_ident(column.name), ty));
        }
        Ok(Some(TableAlias { name, columns }))
    }

    /// `ROWS FROM`, which stands in the tokens as a function of that name.
    fn rows_from(&mut self, call: crate::ast::FunctionCall, ordinality: bool, alias: Option<sp::TableAlias>) -> Result<TableRef, SqlError> {
        let pos = call.name.pos;
        let one = |arg: crate::ast::FunctionArg| match arg.value {
            crate::ast::Expr::Function(call) => Ok(*call),
            other => Err(SqlError::new(SqlState::SYNTAX_ERROR, "ROWS FROM takes function calls").at(other.pos().max(pos))),
        };
        let calls = call.args.into_iter().map(one).collect::<Result<_, _>>()?;
        Ok(TableRef::RowsFrom { calls, ordinality, alias: self.convert_alias(alias)? })
    }

    fn table_sample(&mut self, sample: sp::TableSampleKind) -> Result<TableSample, SqlError> {
        let (sp::TableSampleKind::BeforeTableAlias(sample) | sp::TableSampleKind::AfterTableAlias(sample)) = sample;
        let sp::TableSample { name: Some(method), quantity: Some(quantity), seed, bucket: None, offset: None, .. } = *sample else {
            return Err(foreign("TABLESAMPLE"));
        };
        let percentage = self.convert_expr(quantity.value)?;
        let seed = match seed {
            None => None,
            Some(seed) => Some(self.convert_expr(sp::Expr::Value(seed.value))?),
        };
        Ok(TableSample { method: method.to_string().to_ascii_lowercase(), percentage, seed })
    }

    fn table_factor(&mut self, factor: sp::TableFactor) -> Result<TableRef, SqlError> {
        use sp::TableFactor as F;
        match factor {
            F::Derived { sample: Some(_), .. } => Err(foreign("TABLESAMPLE")),
            F::Table { name, alias, args: None, version: None, with_ordinality: false, sample, .. } => {
                self.not_reserved(name.0.first().and_then(|p| p.as_ident()))?;
                let name = self.convert_name(name)?;
                let alias = self.convert_alias(alias)?;
                let sample = sample.map(|s| self.table_sample(s)).transpose()?.map(Box::new);
                Ok(TableRef::Table { name, sample, alias })
            }
            F::Table { name, alias, args: Some(args), with_ordinality, .. } if matches!(name.0.as_slice(), [part] if part.as_ident().is_some_and(|i| i.value == ROWS_FROM)) =>
            {
                let call = self.table_function(name, args.args)?;
                self.rows_from(call, with_ordinality, alias)
            }
            F::Table { name, alias, args: Some(args), with_ordinality, .. } => {
                let call = Box::new(self.table_function(name, args.args)?);
                let alias = named_after(&call, self.convert_alias(alias)?);
                Ok(TableRef::Function { call, lateral: false, ordinality: with_ordinality, alias })
            }
            F::Function { lateral, name, args, with_ordinality, alias } => {
                let call = Box::new(self.table_function(name, args)?);
                let alias = named_after(&call, self.convert_alias(alias)?);
                Ok(TableRef::Function { call, lateral, ordinality: with_ordinality, alias })
            }
            F::UNNEST { alias, array_exprs, with_offset: false, with_ordinality, .. } => {
                let name = sp::ObjectName::from(vec![sp::Ident::new("unnest")]);
                let args = array_exprs.into_iter().map(|e| sp::FunctionArg::Unnamed(sp::FunctionArgExpr::Expr(e))).collect();
                let call = Box::new(self.table_function(name, args)?);
                Ok(TableRef::Function { call, lateral: false, ordinality: with_ordinality, alias: self.convert_alias(alias)? })
            }
            F::Derived { lateral, subquery, alias, .. } => {
                let query = Box::new(self.convert_query(*subquery)?);
                Ok(TableRef::Subquery { query, lateral, alias: self.convert_alias(alias)? })
            }
            F::NestedJoin { table_with_joins, alias: None } => self.table_with_joins(*table_with_joins),
            F::NestedJoin { alias: Some(_), .. } => Err(SqlError::unsupported("an alias for a join in parentheses")),
            F::TableFunction { expr: sp::Expr::Function(_), .. } | F::JsonTable { .. } | F::XmlTable { .. } => {
                Err(SqlError::unsupported("that kind of table function"))
            }
            other => {
                let shown: String = other.to_string().chars().take(40).collect();
                Err(foreign(&shown))
            }
        }
    }
}

/// `INTO [TEMPORARY] name`.
pub(super) struct SelectInto {
    pub(super) name: ObjectName,
    pub(super) temporary: bool,
}

/// Takes INTO out of the leftmost SELECT.
pub(super) fn take_into(body: &mut sp::SetExpr) -> Option<sp::SelectInto> {
    match body {
        sp::SetExpr::Select(select) => select.into.take(),
        sp::SetExpr::SetOperation { left, .. } => take_into(left),
        sp::SetExpr::Query(query) => take_into(&mut query.body),
        _ => None,
    }
}

pub(super) fn select_into(into: sp::SelectInto) -> Result<SelectInto, SqlError> {
    let folded = |ident: &sp::Ident| if ident.quote_style.is_some() { ident.value.clone() } else { ident.value.to_ascii_lowercase() };
    let mut parts: Vec<String> = match &into.targets[..] {
        [sp::Expr::Identifier(ident)] => vec![folded(ident)],
        [sp::Expr::CompoundIdentifier(idents)] => idents.iter().map(folded).collect(),
        _ => Vec::new(),
    };
    let name = parts.pop().ok_or_else(|| SqlError::new(SqlState::SYNTAX_ERROR, "SELECT ... INTO needs the name of one table"))?;
    let schema = parts.pop();
    Ok(SelectInto { name: ObjectName { catalog: parts.pop(), schema, name, pos: 0 }, temporary: into.temporary })
}

/// A column definition list without an alias: the relation is called as the function is.
fn named_after(call: &FunctionCall, alias: Option<TableAlias>) -> Option<TableAlias> {
    alias.map(|mut alias| {
        if alias.name.value == super::tokens::FUNCTION_NAME {
            alias.name.value.clone_from(&call.name.name);
        }
        alias
    })
}
