//! INSERT: complete rows for a table, and what to do when one is there already.

use super::logical::{ColumnId, LogicalConflict, LogicalConflictUpdate, LogicalInsert, SubqueryKind};
use super::query::{Hints, Output};
use super::scope::{Namespace, Relation};
use super::updatable_view::ViewTarget;
use super::{Binder, Clause, Logical, SelectState};
use crate::ast::{self, ConflictAction, ConflictTarget, Ident, Insert, SetExpr};
use crate::catalog::{RelationKind, TableDescriptor};
use crate::error::{SqlError, SqlState};
use crate::expr::Expr;
use crate::types::{ColumnType, Datum, Shape};
use std::sync::Arc;

/// The columns that values are given for, as they were named, and what is said of identities.
pub(super) struct InsertedColumns<'a> {
    pub(super) named: &'a [Ident],
    pub(super) overriding_system: Option<bool>,
}

impl<'a> InsertedColumns<'a> {
    fn of(insert: &'a Insert) -> InsertedColumns<'a> {
        InsertedColumns { named: &insert.columns, overriding_system: insert.overriding_system }
    }
}

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
            Some(view) => self.insert_columns(&insert.columns, &view.renamed(&table))?,
            None => self.insert_columns(&insert.columns, &table)?,
        };
        let (input, values) = self.insert_source(insert, &table, &positions)?;
        let (_, mut relation) = self.get(&table, &alias);
        let row: Vec<ColumnId> = self.row_ids(&table, &mut relation);
        relation.schema = insert.alias.is_none().then(|| table.schema.clone());
        if let Some(view) = &view {
            relation = view.relation(&table, &row, relation);
        }
        let conflict = insert.on_conflict.as_ref().map(|c| self.conflict(c, &table, view.as_ref(), &relation, &row)).transpose()?;
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
    pub(super) fn insert_columns(&self, named: &[Ident], table: &TableDescriptor) -> Result<Vec<usize>, SqlError> {
        if named.is_empty() {
            return Ok(table.visible_columns().map(|(p, _)| p).collect());
        }
        let mut positions = Vec::with_capacity(named.len());
        for column in named {
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
        let inserted = InsertedColumns::of(insert);
        self.check_width(output.len(), &inserted, positions)
            .map_err(|e| e.at(super::query::item_position(&query.body, positions.len())))?;
        let mut exprs = Vec::with_capacity(table.columns.len());
        for (position, column) in table.columns.iter().enumerate() {
            let value = match positions.iter().position(|p| *p == position).and_then(|at| output.get(at)) {
                Some((_, id)) => {
                    self.check_assignable(column, &inserted, 0)?;
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

    pub(super) fn check_width(&self, width: usize, insert: &InsertedColumns<'_>, positions: &[usize]) -> Result<(), SqlError> {
        if width > positions.len() {
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, "INSERT has more expressions than target columns"));
        }
        if width < positions.len() && !insert.named.is_empty() {
            let pos = insert.named.get(width).map_or(0, |c| c.pos);
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, "INSERT has more target columns than expressions").at(pos));
        }
        Ok(())
    }

    /// Identity and generated columns take no value of the user's.
    fn check_assignable(&self, column: &crate::catalog::Column, insert: &InsertedColumns<'_>, pos: usize) -> Result<(), SqlError> {
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
        let inserted = InsertedColumns::of(insert);
        let mut defaults: Vec<Option<Expr>> = vec![None; table.columns.len()];
        let mut bound = Vec::with_capacity(rows.len());
        let outer = std::mem::replace(&mut self.select, SelectState::new(Clause::Values));
        for row in rows {
            if let Some(extra) = row.get(positions.len()) {
                return Err(SqlError::new(SqlState::SYNTAX_ERROR, "INSERT has more expressions than target columns").at(extra.pos()));
            }
            if insert.source.is_some() {
                self.check_width(row.len(), &inserted, positions)?;
            }
            let values = self.given_values(row, &inserted, table, positions)?;
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

    /// The values that a row gives, by position.
    fn given_values(
        &mut self,
        row: &[ast::Expr],
        insert: &InsertedColumns<'_>,
        table: &TableDescriptor,
        positions: &[usize],
    ) -> Result<Vec<Option<Expr>>, SqlError> {
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
        Ok(values)
    }

    /// One complete row: what is given, and defaults.
    pub(super) fn inserted_row(
        &mut self,
        row: &[ast::Expr],
        insert: &InsertedColumns<'_>,
        table: &TableDescriptor,
        positions: &[usize],
    ) -> Result<Vec<Expr>, SqlError> {
        let outer = std::mem::replace(&mut self.select, SelectState::new(Clause::Values));
        let given = self.given_values(row, insert, table, positions);
        self.select = outer;
        let complete = given?.into_iter().zip(&table.columns).map(|(value, column)| value.map_or_else(|| self.default_value(column), Ok));
        complete.collect()
    }

    // ---- ON CONFLICT

    fn conflict(
        &mut self,
        conflict: &ast::OnConflict,
        table: &Arc<TableDescriptor>,
        view: Option<&ViewTarget>,
        existing: &Relation,
        row: &[ColumnId],
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
        let bound = self.assignments(assignments, named, row).and_then(|assignments| {
            let filter = filter.as_ref().map(|f| self.in_clause(Clause::Where, |b| b.condition(f, "WHERE"))).transpose()?;
            Ok((assignments, filter))
        });
        self.scopes.pop();
        self.select = outer;
        let (assignments, filter) = bound?;
        let changes_key = super::modify::changes_key(table, &assignments);
        Ok(LogicalConflict { arbiters, update: Some(LogicalConflictUpdate { excluded, assignments, filter, changes_key }) })
    }

    /// The unique indexes that a conflict target means: 55000 when one of them is checked only afterwards.
    fn arbiters(&mut self, target: &ConflictTarget, table: &TableDescriptor) -> Result<Vec<Option<usize>>, SqlError> {
        let found = self.matching_arbiters(target, table)?;
        let index = |place: &Option<usize>| place.map_or(&table.primary, |i| &table.indexes[i]);
        let Some(late) = found.iter().map(index).find(|index| index.deferrable) else { return Ok(found) };
        let message = "ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters";
        Err(crate::exec::constraint_of(SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message), table, &late.name))
    }

    fn matching_arbiters(&mut self, target: &ConflictTarget, table: &TableDescriptor) -> Result<Vec<Option<usize>>, SqlError> {
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

    /// SET, as positions and values; `row` are the columns of the row that is changed.
    pub(super) fn assignments(
        &mut self,
        list: &[ast::Assignment],
        table: &TableDescriptor,
        row: &[ColumnId],
    ) -> Result<Vec<(usize, Expr)>, SqlError> {
        let mut assigned: Vec<(usize, Expr)> = Vec::with_capacity(list.len());
        // Columns that were assigned as a whole; of the others several parts may be.
        let mut whole: Vec<usize> = Vec::new();
        for assignment in list {
            let mut positions = Vec::with_capacity(assignment.targets.len());
            for target in &assignment.targets {
                let Some(position) = table.column_position(&target.column.value) else {
                    let message = format!("column \"{}\" of relation \"{}\" does not exist", target.column.value, table.name);
                    return Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message).at(target.column.pos));
                };
                let part = !target.subscripts.is_empty();
                let again = assigned.iter().any(|(p, _)| *p == position) || positions.contains(&position);
                if again && (!part || whole.contains(&position)) {
                    let message = format!("multiple assignments to same column \"{}\"", target.column.value);
                    return Err(SqlError::new(SqlState::SYNTAX_ERROR, message));
                }
                whole.extend((!part).then_some(position));
                positions.push(position);
            }
            if let (true, ast::Expr::Subquery(query, pos)) = (assignment.row_form, &assignment.value) {
                if assignment.targets.iter().any(|target| !target.subscripts.is_empty()) {
                    return Err(SqlError::unsupported("a subquery assigned to a part of a column").at(*pos));
                }
                assigned.extend(self.assigned_from_query(query, *pos, &positions, table)?);
                continue;
            }
            let values = self.assigned_values(assignment, positions.len())?;
            for ((position, value), target) in positions.into_iter().zip(values).zip(&assignment.targets) {
                let column = &table.columns[position];
                if target.subscripts.is_empty() {
                    assigned.push((position, self.assigned_value(value, column)?));
                    continue;
                }
                check_updatable(column, value.pos())?;
                let before = assigned.iter().position(|(p, _)| *p == position).map(|at| assigned.remove(at).1);
                let before = before.or_else(|| row.get(position).map(|id| Expr::Column(*id, column.ty)));
                let changed = self.with_part(before.unwrap_or(Expr::Const(Datum::Null, column.ty)), target, &value)?;
                assigned.push((position, changed));
            }
        }
        Ok(assigned)
    }

    /// One value for each target.
    fn assigned_values(&mut self, assignment: &ast::Assignment, count: usize) -> Result<Vec<ast::Expr>, SqlError> {
        let value = &assignment.value;
        match value {
            value if !assignment.row_form => Ok(vec![value.clone()]),
            ast::Expr::Row(list, _) if list.len() == count => Ok(list.clone()),
            ast::Expr::Row(..) => {
                Err(SqlError::new(SqlState::SYNTAX_ERROR, "number of columns does not match number of values").at(value.pos()))
            }
            _ => {
                let message = "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression";
                Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(value.pos()))
            }
        }
    }

    /// `(a, b) = (SELECT ...)`: the query is run once for a row; the columns take its fields.
    fn assigned_from_query(
        &mut self,
        query: &ast::Query,
        pos: usize,
        positions: &[usize],
        table: &TableDescriptor,
    ) -> Result<Vec<(usize, Expr)>, SqlError> {
        let row = self.subquery(query, SubqueryKind::Row, pos)?;
        let columns = self.subqueries.last().map(|bound| bound.columns.clone()).unwrap_or_default();
        if columns.len() != positions.len() {
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, "number of columns does not match number of values").at(pos));
        }
        let fields = columns.iter().map(|id| (self.columns[*id].name.clone(), self.column_type_of(*id))).collect();
        let shape = Shape { fields };
        let mut assigned = Vec::with_capacity(positions.len());
        for (at, position) in positions.iter().enumerate() {
            let column = &table.columns[*position];
            check_updatable(column, pos)?;
            let field = super::record::field_at(row.clone(), at, &shape);
            assigned.push((*position, self.assign_to(field, column, pos)?));
        }
        Ok(assigned)
    }

    fn assigned_value(&mut self, value: ast::Expr, column: &crate::catalog::Column) -> Result<Expr, SqlError> {
        if matches!(value, ast::Expr::Default(_)) {
            return if column.generated.is_some() { Ok(Expr::Const(Datum::Null, column.ty)) } else { self.default_value(column) };
        }
        check_updatable(column, value.pos())?;
        let bound = self.expr(&value)?;
        self.assign_to(bound, column, value.pos())
    }
}

/// Generated columns and GENERATED ALWAYS identities take no value of the user's.
fn check_updatable(column: &crate::catalog::Column, pos: usize) -> Result<(), SqlError> {
    if column.generated.is_none() && column.identity.as_ref().is_none_or(|i| !i.always) {
        return Ok(());
    }
    let detail = if column.generated.is_some() { "is a generated column." } else { "is an identity column defined as GENERATED ALWAYS." };
    Err(SqlError::new(SqlState::GENERATED_ALWAYS, format!("column \"{}\" can only be updated to DEFAULT", column.name))
        .detail(format!("Column \"{}\" {detail}", column.name))
        .at(pos))
}
