//! INSERT: complete rows for a table, and what to do when one is there already.

use super::logical::{ColumnId, LogicalConflict, LogicalConflictUpdate, LogicalInsert};
use super::query::{Hints, Output};
use super::scope::{Namespace, Relation};
use super::updatable_view::ViewTarget;
use super::{Binder, Clause, Logical, SelectState};
use crate::ast::{self, ConflictAction, ConflictTarget, Ident, Insert, SetExpr, TableAlias, TableRef};
use crate::catalog::{RelationKind, TableDescriptor};
use crate::error::{SqlError, SqlState};
use crate::expr::Expr;
use crate::types::{ColumnType, Datum};
use std::sync::Arc;

/// RETURNING's columns; None when nothing is returned.
pub(super) type Returning = Option<Vec<(ColumnId, Expr)>>;

impl Binder<'_> {
    pub(super) fn insert(&mut self, insert: &Insert) -> Result<(Logical, Output), SqlError> {
        let ctes = self.visible_ctes.len();
        let bound = self.insert_here(insert);
        self.visible_ctes.truncate(ctes);
        bound
    }

    /// The table to write, or why it can't be written.
    pub(super) fn target(&mut self, name: &ast::ObjectName, verb: &str) -> Result<Arc<TableDescriptor>, SqlError> {
        self.read_only = false;
        let relation = self.relation(name)?;
        let table = relation.descriptor().clone();
        self.relations.push(table.oid);
        match table.kind {
            RelationKind::Table => Ok(table),
            RelationKind::View => Err(SqlError::unsupported(format!("{verb} on the view \"{}\"", table.name))),
            RelationKind::Sequence => Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("cannot change sequence \"{}\"", table.name))),
            RelationKind::Virtual => {
                Err(SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, format!("permission denied: \"{}\" is a system catalog", table.name)))
            }
        }
    }

    fn insert_here(&mut self, insert: &Insert) -> Result<(Logical, Output), SqlError> {
        if let Some(with) = &insert.with {
            self.with(with)?;
        }
        let (table, view) = self.write_target(&insert.table, "INSERT")?;
        let own = view.as_ref().map_or(&table.name, |view| &view.name);
        let alias = insert.alias.as_ref().map_or(own.clone(), |a| a.value.clone());
        let positions = match &view {
            Some(view) if insert.columns.is_empty() => view.columns.iter().map(|(_, position)| *position).collect(),
            Some(view) => self.insert_columns(insert, &view.renamed(&table))?,
            None => self.insert_columns(insert, &table)?,
        };
        let (input, values) = self.insert_source(insert, &table, &positions)?;
        let (_, mut relation) = self.get(&table, &alias);
        let row: Vec<ColumnId> = self.row_ids(&table, &mut relation);
        relation.schema = insert.alias.is_none().then(|| table.schema.clone());
        if let Some(view) = &view {
            relation = view.relation(&table, &row, relation);
        }
        let conflict = insert.on_conflict.as_ref().map(|c| self.conflict(c, &table, view.as_ref(), &relation)).transpose()?;
        let mut checks = self.checks(&table)?;
        checks.extend(self.view_check(view.as_ref(), &table)?);
        let (returning, output) = self.returning(&insert.returning, Namespace::of(relation))?;
        let bound = LogicalInsert { generated: self.generated(&table)?, checks, table, alias, input, values, conflict, row, returning };
        Ok((Logical::Insert(Box::new(bound)), output))
    }

    /// Ids for every position of a row that is not read from anywhere, under the names the relation has.
    fn row_ids(&mut self, table: &TableDescriptor, relation: &mut Relation) -> Vec<ColumnId> {
        let (plan, fresh) = match self.get(&Arc::new(table.clone()), &relation.alias) {
            (Logical::Get { columns, .. }, fresh) => (columns, fresh),
            _ => (Vec::new(), relation.clone()),
        };
        *relation = fresh;
        plan
    }

    /// RETURNING, over the rows as written.
    pub(super) fn returning(&mut self, items: &[ast::SelectItem], space: Namespace) -> Result<(Returning, Output), SqlError> {
        if items.is_empty() {
            return Ok((None, Vec::new()));
        }
        let outer = std::mem::replace(&mut self.select, SelectState::new(Clause::Returning));
        self.scopes.push(space);
        let listed = self.select_items(items);
        self.scopes.pop();
        self.select = outer;
        let mut exprs = Vec::new();
        let mut output = Vec::new();
        for (name, expr) in listed? {
            let expr = self.resolve_unknown(expr)?;
            let info = match &expr {
                Expr::Column(id, _) => self.columns[*id].clone(),
                other => super::ColumnInfo { name: name.clone(), ty: other.ty(), table: 0, attnum: 0 },
            };
            self.columns.push(info);
            let id = self.columns.len() - 1;
            exprs.push((id, expr));
            output.push((name, id));
        }
        Ok((Some(exprs), output))
    }

    /// Positions of the columns that values are given for.
    fn insert_columns(&self, insert: &Insert, table: &TableDescriptor) -> Result<Vec<usize>, SqlError> {
        if insert.columns.is_empty() {
            return Ok(table.visible_columns().map(|(p, _)| p).collect());
        }
        let mut positions = Vec::with_capacity(insert.columns.len());
        for column in &insert.columns {
            let Some(position) = table.column_position(&column.value) else {
                let message = format!("column \"{}\" of relation \"{}\" does not exist", column.value, table.name);
                return Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message).at(column.pos));
            };
            if positions.contains(&position) {
                return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, format!("column \"{}\" specified more than once", column.value))
                    .at(column.pos));
            }
            positions.push(position);
        }
        Ok(positions)
    }

    fn insert_source(
        &mut self,
        insert: &Insert,
        table: &TableDescriptor,
        positions: &[usize],
    ) -> Result<(Logical, Vec<ColumnId>), SqlError> {
        let source = match &insert.source {
            None => None,
            Some(query) => match &query.body {
                SetExpr::Values(rows, _)
                    if query.with.is_none() && query.order_by.is_empty() && query.limit.is_none() && query.offset.is_none() =>
                {
                    return self.insert_values(rows, insert, table, positions);
                }
                _ => Some(query),
            },
        };
        let Some(query) = source else { return self.insert_values(&[Vec::new()], insert, table, &[]) };
        let targets: Vec<(String, ColumnType)> = positions.iter().map(|p| (table.columns[*p].name.clone(), table.columns[*p].ty)).collect();
        let outer = std::mem::replace(&mut self.select, SelectState::new(Clause::Targets));
        let bound = self.query(query, &Hints { targets: Some(targets), ..Hints::default() });
        self.select = outer;
        let (plan, output) = bound?;
        self.check_width(output.len(), insert, positions).map_err(|e| e.at(super::query::item_position(&query.body, positions.len())))?;
        let mut exprs = Vec::with_capacity(table.columns.len());
        for (position, column) in table.columns.iter().enumerate() {
            let value = match positions.iter().position(|p| *p == position).and_then(|at| output.get(at)) {
                Some((_, id)) => {
                    self.check_assignable(column, insert, 0)?;
                    let from = self.column_type_of(*id);
                    self.assign_to(Expr::Column(*id, from), column, 0)?
                }
                None => self.default_value(column)?,
            };
            exprs.push((self.new_column(column.name.clone(), column.ty), value));
        }
        let ids = exprs.iter().map(|(id, _)| *id).collect();
        Ok((Logical::Project { input: Box::new(plan), exprs }, ids))
    }

    fn check_width(&self, width: usize, insert: &Insert, positions: &[usize]) -> Result<(), SqlError> {
        if width > positions.len() {
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, "INSERT has more expressions than target columns"));
        }
        if width < positions.len() && !insert.columns.is_empty() {
            let pos = insert.columns.get(width).map_or(0, |c| c.pos);
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, "INSERT has more target columns than expressions").at(pos));
        }
        Ok(())
    }

    /// Identity and generated columns take no value of the user's.
    fn check_assignable(&self, column: &crate::catalog::Column, insert: &Insert, pos: usize) -> Result<(), SqlError> {
        let always = column.identity.as_ref().is_some_and(|i| i.always) && insert.overriding_system != Some(true);
        if !always && column.generated.is_none() {
            return Ok(());
        }
        let error =
            SqlError::new(SqlState::GENERATED_ALWAYS, format!("cannot insert a non-DEFAULT value into column \"{}\"", column.name)).at(pos);
        Err(if column.generated.is_some() {
            error.detail(format!("Column \"{}\" is a generated column.", column.name))
        } else {
            error
                .detail(format!("Column \"{}\" is an identity column defined as GENERATED ALWAYS.", column.name))
                .hint("Use OVERRIDING SYSTEM VALUE to override.")
        })
    }

    /// VALUES, each expression bound with its column in mind.
    fn insert_values(
        &mut self,
        rows: &[Vec<ast::Expr>],
        insert: &Insert,
        table: &TableDescriptor,
        positions: &[usize],
    ) -> Result<(Logical, Vec<ColumnId>), SqlError> {
        let mut defaults: Vec<Option<Expr>> = vec![None; table.columns.len()];
        let mut bound = Vec::with_capacity(rows.len());
        let outer = std::mem::replace(&mut self.select, SelectState::new(Clause::Values));
        for row in rows {
            if let Some(extra) = row.get(positions.len()) {
                return Err(SqlError::new(SqlState::SYNTAX_ERROR, "INSERT has more expressions than target columns").at(extra.pos()));
            }
            if insert.source.is_some() {
                self.check_width(row.len(), insert, positions)?;
            }
            let mut values: Vec<Option<Expr>> = vec![None; table.columns.len()];
            for (position, expr) in positions.iter().zip(row) {
                if matches!(expr, ast::Expr::Default(_)) {
                    continue;
                }
                let column = &table.columns[*position];
                self.check_assignable(column, insert, expr.pos())?;
                if column.identity.is_some() && insert.overriding_system == Some(false) {
                    continue;
                }
                let value = self.expr(expr)?;
                values[*position] = Some(self.assign_to(value, column, expr.pos())?);
            }
            let mut complete = Vec::with_capacity(values.len());
            for (position, value) in values.into_iter().enumerate() {
                complete.push(match (value, &defaults[position]) {
                    (Some(value), _) => value,
                    (None, Some(default)) => default.clone(),
                    (None, None) => {
                        let default = self.default_value(&table.columns[position])?;
                        defaults[position] = Some(default.clone());
                        default
                    }
                });
            }
            bound.push(complete);
        }
        self.select = outer;
        let columns: Vec<ColumnId> = table.columns.iter().map(|c| self.new_column(c.name.clone(), c.ty)).collect();
        Ok((Logical::Values { rows: bound, columns: columns.clone() }, columns))
    }

    // ---- ON CONFLICT

    fn conflict(
        &mut self,
        conflict: &ast::OnConflict,
        table: &Arc<TableDescriptor>,
        view: Option<&ViewTarget>,
        existing: &Relation,
    ) -> Result<LogicalConflict, SqlError> {
        // Names are the view's, if one is written through.
        let renamed = view.map(|view| view.renamed(table));
        let named = renamed.as_ref().unwrap_or(table);
        let arbiters = self.arbiters(&conflict.target, named)?;
        let ConflictAction::Update { assignments, filter } = &conflict.action else {
            return Ok(LogicalConflict { arbiters, update: None });
        };
        let (excluded, excluded_names) = match self.get(table, "excluded") {
            (Logical::Get { columns, .. }, names) => {
                let names = view.map_or(names.clone(), |view| view.relation(table, &columns, names));
                (columns, names)
            }
            (_, names) => (Vec::new(), names),
        };
        let mut space = Namespace::of(existing.clone());
        // A bare name means the existing row's column.
        let visible = space.columns.clone();
        space.join(Namespace::of(excluded_names))?;
        space.columns = visible;
        let outer = std::mem::replace(&mut self.select, SelectState::new(Clause::Update));
        self.scopes.push(space);
        let bound = self.assignments(assignments, named).and_then(|assignments| {
            let filter = filter.as_ref().map(|f| self.in_clause(Clause::Where, |b| b.condition(f, "WHERE"))).transpose()?;
            Ok((assignments, filter))
        });
        self.scopes.pop();
        self.select = outer;
        let (assignments, filter) = bound?;
        let changes_key = super::modify::changes_key(table, &assignments);
        Ok(LogicalConflict { arbiters, update: Some(LogicalConflictUpdate { excluded, assignments, filter, changes_key }) })
    }

    /// The unique indexes that a conflict target means.
    fn arbiters(&mut self, target: &ConflictTarget, table: &TableDescriptor) -> Result<Vec<Option<usize>>, SqlError> {
        let candidates = || std::iter::once(None).filter(|_| table.has_primary_key()).chain((0..table.indexes.len()).map(Some));
        let index = |place: &Option<usize>| place.map_or(&table.primary, |i| &table.indexes[i]);
        match target {
            ConflictTarget::Any => Ok(candidates().filter(|p| index(p).unique).collect()),
            ConflictTarget::Constraint(name) => {
                let found = candidates().find(|p| index(p).unique && index(p).name == name.value);
                found.map(|p| vec![p]).ok_or_else(|| {
                    let message = format!("constraint \"{}\" for table \"{}\" does not exist", name.value, table.name);
                    SqlError::new(SqlState::UNDEFINED_OBJECT, message)
                })
            }
            ConflictTarget::Columns { columns, predicate } => {
                let mut wanted = Vec::with_capacity(columns.len());
                for column in columns {
                    let ast::Expr::Column(parts) = column else {
                        wanted.push(self.indexed_expression(column, table)?);
                        continue;
                    };
                    let name = parts.last().map_or("", |p| p.value.as_str());
                    let Some(position) = table.column_position(name) else {
                        return Err(SqlError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{name}\" does not exist")).at(column.pos()));
                    };
                    wanted.push(position);
                }
                wanted.sort_unstable();
                wanted.dedup();
                let fits = |p: &Option<usize>| {
                    let mut key: Vec<usize> = index(p).key.iter().map(|k| k.column).collect();
                    key.sort_unstable();
                    // A partial index is one only for rows of its predicate, which must be given.
                    index(p).unique && key == wanted && (index(p).predicate.is_none() || predicate.is_some())
                };
                let found: Vec<_> = candidates().filter(fits).collect();
                if found.is_empty() {
                    let message = "there is no unique or exclusion constraint matching the ON CONFLICT specification";
                    return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message));
                }
                Ok(found)
            }
        }
    }

    /// SET, as positions and values.
    pub(super) fn assignments(&mut self, list: &[ast::Assignment], table: &TableDescriptor) -> Result<Vec<(usize, Expr)>, SqlError> {
        let mut assigned: Vec<(usize, Expr)> = Vec::with_capacity(list.len());
        for assignment in list {
            let mut positions = Vec::with_capacity(assignment.targets.len());
            for target in &assignment.targets {
                if !target.subscripts.is_empty() {
                    return Err(SqlError::unsupported("assignment to an array element").at(target.column.pos));
                }
                let Some(position) = table.column_position(&target.column.value) else {
                    let message = format!("column \"{}\" of relation \"{}\" does not exist", target.column.value, table.name);
                    return Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message).at(target.column.pos));
                };
                if assigned.iter().any(|(p, _)| *p == position) || positions.contains(&position) {
                    let message = format!("multiple assignments to same column \"{}\"", target.column.value);
                    return Err(SqlError::new(SqlState::SYNTAX_ERROR, message));
                }
                positions.push(position);
            }
            let values = self.assigned_values(&assignment.value, positions.len())?;
            for (position, value) in positions.into_iter().zip(values) {
                assigned.push((position, self.assigned_value(value, &table.columns[position])?));
            }
        }
        Ok(assigned)
    }

    /// One value for each target: a row's elements, or a subquery once per column.
    fn assigned_values(&mut self, value: &ast::Expr, count: usize) -> Result<Vec<ast::Expr>, SqlError> {
        let mismatch = || SqlError::new(SqlState::SYNTAX_ERROR, "number of columns does not match number of values").at(value.pos());
        match value {
            value if count == 1 && !matches!(value, ast::Expr::Row(..)) => Ok(vec![value.clone()]),
            ast::Expr::Row(list, _) if list.len() == count => Ok(list.clone()),
            ast::Expr::Subquery(query, pos) => {
                let width = match &query.body {
                    ast::SetExpr::Select(select) => Some(select.items.len()),
                    ast::SetExpr::Values(rows, _) => rows.first().map(Vec::len),
                    _ => None,
                };
                if width.is_some_and(|width| width != count) {
                    return Err(mismatch());
                }
                // The query stays whole inside, where its aggregates, DISTINCT and ORDER BY see all of its columns.
                let columns: Vec<Ident> = (1..=count).map(|n| Ident { value: format!("column{n}"), pos: *pos }).collect();
                let alias = TableAlias {
                    name: Ident { value: "assigned".into(), pos: *pos },
                    columns: columns.iter().map(|column| (column.clone(), None)).collect(),
                };
                let source = TableRef::Subquery { query: query.clone(), lateral: false, alias: Some(alias) };
                let one = |at: usize| ast::Expr::Subquery(Box::new(column_of(&source, &columns[at])), *pos);
                Ok((0..count).map(one).collect())
            }
            _ => Err(mismatch()),
        }
    }

    fn assigned_value(&mut self, value: ast::Expr, column: &crate::catalog::Column) -> Result<Expr, SqlError> {
        if matches!(value, ast::Expr::Default(_)) {
            return if column.generated.is_some() { Ok(Expr::Const(Datum::Null, column.ty)) } else { self.default_value(column) };
        }
        if column.generated.is_some() || column.identity.as_ref().is_some_and(|i| i.always) {
            let detail =
                if column.generated.is_some() { "is a generated column." } else { "is an identity column defined as GENERATED ALWAYS." };
            return Err(SqlError::new(SqlState::GENERATED_ALWAYS, format!("column \"{}\" can only be updated to DEFAULT", column.name))
                .detail(format!("Column \"{}\" {detail}", column.name))
                .at(value.pos()));
        }
        let bound = self.expr(&value)?;
        self.assign_to(bound, column, value.pos())
    }
}

/// `SELECT column FROM source`
fn column_of(source: &TableRef, column: &Ident) -> ast::Query {
    let select = ast::Select {
        distinct: ast::Distinct::All,
        items: vec![ast::SelectItem::Expr { expr: ast::Expr::Column(vec![column.clone()]), alias: None }],
        from: vec![source.clone()],
        filter: None,
        group_by: Vec::new(),
        having: None,
        windows: Vec::new(),
    };
    let body = ast::SetExpr::Select(Box::new(select));
    ast::Query { with: None, body, order_by: Vec::new(), limit: None, offset: None, with_ties: false, locking: Vec::new() }
}
