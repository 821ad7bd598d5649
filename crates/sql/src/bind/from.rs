//! FROM: tables, views, CTEs, subqueries, functions and joins.

use super::coerce::folded;
use super::logical::Rewrite;
use super::logical::{ColumnInfo, LockedTable, conjuncts};
use super::query::Hints;
use super::scope::{Namespace, Relation, Visible};
use super::{Binder, Clause, Logical, VIEW_DEPTH_MAX};
use crate::ast::{self, Ident, JoinConstraint, JoinKind, LockingClause, ObjectName, TableAlias, TableRef};
use crate::catalog::{self, RelationKind, TableDescriptor};
use crate::error::{SqlError, SqlState};
use crate::expr::Expr;
use crate::functions::json::populate;
use crate::functions::quoting::quote_ident;
use crate::plan::{JoinType, RowLock, TableFunction, TableFunctionCall};
use crate::types::{ColumnType, DataType, Datum};
use std::sync::Arc;

/// Functions that stand in FROM.
pub(super) struct FunctionRelation {
    pub(super) functions: Vec<TableFunction>,
    /// Names and types of their columns.
    pub(super) columns: Vec<(String, ColumnType)>,
    pub(super) ordinality: bool,
    /// What the relation is called.
    pub(super) shown: String,
    /// Its name stands for its only column.
    pub(super) scalar: bool,
}

impl Binder<'_> {
    /// The comma list.
    pub(super) fn bind_from(&mut self, list: &[TableRef], locking: &[LockingClause]) -> Result<(Logical, Namespace), SqlError> {
        let mut whole: Option<(Logical, Namespace)> = None;
        for item in list {
            whole = Some(match whole {
                None => self.table_ref(item, locking)?,
                Some((left, mut space)) => {
                    let (right, names) = self.beside(&space, item, locking)?;
                    space.join(names)?;
                    (Logical::Join { kind: JoinType::Inner, left: Box::new(left), right: Box::new(right), on: Vec::new() }, space)
                }
            });
        }
        Ok(whole.unwrap_or((Logical::OneRow, Namespace::default())))
    }

    /// Binds an item to the right of others: LATERAL ones (and functions) see them.
    pub(super) fn beside(
        &mut self,
        left: &Namespace,
        item: &TableRef,
        locking: &[LockingClause],
    ) -> Result<(Logical, Namespace), SqlError> {
        let lateral = matches!(item, TableRef::Subquery { lateral: true, .. } | TableRef::Function { .. });
        if lateral || matches!(item, TableRef::Join { .. }) {
            self.scopes.push(left.clone());
            let bound = self.table_ref(item, locking);
            self.scopes.pop();
            return bound;
        }
        self.hidden.push(left.clone());
        let bound = self.table_ref(item, locking);
        self.hidden.pop();
        bound
    }

    fn table_ref(&mut self, item: &TableRef, locking: &[LockingClause]) -> Result<(Logical, Namespace), SqlError> {
        match item {
            TableRef::Table { name, sample: None, alias } => self.table(name, alias.as_ref(), locking),
            TableRef::Table { name, sample: Some(sample), alias } => {
                let (plan, names) = self.table(name, alias.as_ref(), locking)?;
                let predicate = self.sampled(sample, &names, name.pos)?;
                Ok((plan.filtered(vec![predicate]), names))
            }
            TableRef::RowsFrom { calls, ordinality, alias } => self.rows_from(calls, *ordinality, alias.as_ref()),
            TableRef::Subquery { query, alias, .. } => {
                let Some(alias) = alias else {
                    return Err(SqlError::new(SqlState::SYNTAX_ERROR, "subquery in FROM must have an alias")
                        .hint("For example, FROM (SELECT ...) [AS] foo."));
                };
                let hints = Hints { locking: locks_for(&alias.name.value, locking), ..Hints::default() };
                let state = super::SelectState::new(Clause::From);
                let outer = std::mem::replace(&mut self.select, state);
                let bound = self.query(query, &hints);
                self.select = outer;
                let (plan, output) = bound?;
                let columns = output.into_iter().map(|(name, id)| (name, id, self.column_type_of(id))).collect();
                let relation =
                    Relation { alias: alias.name.value.clone(), schema: None, columns, system: Vec::new(), scalar: false, nullable: false };
                Ok((plan, Namespace::of(renamed(relation, Some(alias))?)))
            }
            TableRef::Function { call, ordinality, alias, .. } => self.function(call, *ordinality, alias.as_ref()),
            TableRef::Join { left, right, kind, constraint } => self.join(left, right, *kind, constraint, locking),
        }
    }

    // ---- names

    fn table(
        &mut self,
        name: &ObjectName,
        alias: Option<&TableAlias>,
        locking: &[LockingClause],
    ) -> Result<(Logical, Namespace), SqlError> {
        if name.schema.is_none()
            && let Some(at) = self.visible_ctes.iter().rposition(|c| c.name == name.name)
        {
            let cte = self.visible_ctes[at].clone();
            if let Some(error) = cte.refused {
                return Err(if error.fields().position.is_some() { error } else { error.at(name.pos) });
            }
            if cte.in_recursion {
                self.visible_ctes[at].refused = Some(misplaced_recursion(&cte.name, "more than once"));
            }
            return self.cte_scan(cte.number, cte.in_recursion, &name.name, alias);
        }
        let relation = self.relation(name)?;
        let table = relation.descriptor().clone();
        if name.schema.is_none() && self.view_depth == 0 {
            self.rewrites.push(Rewrite { start: name.pos, star: false, text: format!("{}.", quote_ident(&table.schema)) });
        }
        self.relations.push(table.oid);
        if self.view_depth == 0
            && let Some(mentions) = &mut self.mentions
        {
            mentions.tables.push((name.pos, table.oid, alias.is_some()));
        }
        let shown = alias.map_or(table.name.clone(), |a| a.name.value.clone());
        if shown != table.name {
            self.renamed.push((table.name.clone(), shown.clone()));
        }
        let bound = match (&relation, table.kind) {
            (catalog::Relation::Virtual(virtual_table, descriptor), _) => self.virtual_table(virtual_table.clone(), descriptor, &shown),
            (_, RelationKind::View) => return self.view(&table, &shown, alias, locking),
            (_, RelationKind::Sequence) => return self.view(&table, &shown, alias, locking),
            _ => {
                let bound = self.get(&table, &shown);
                if let (Some(lock), Logical::Get { columns, .. }) = (self.lock_for(&shown, locking), &bound.0) {
                    self.locked.push(LockedTable { table: table.clone(), alias: shown.clone(), columns: columns.clone(), lock });
                }
                bound
            }
        };
        let (plan, mut names) = bound;
        if alias.is_none() {
            names.schema = Some(table.schema.clone());
        }
        Ok((plan, Namespace::of(renamed(names, alias)?)))
    }

    /// The relation of that name, or 42P01.
    pub(super) fn relation(&self, name: &ObjectName) -> Result<catalog::Relation, SqlError> {
        if let Some(database) = &name.catalog
            && database != self.catalog.database()
        {
            return Err(in_other_database(name));
        }
        let found = self.catalog.resolve(name.schema.as_deref(), &name.name, &self.settings.search_path);
        found.cloned().ok_or_else(|| {
            let shown = name.schema.as_ref().map_or(name.name.clone(), |s| format!("{s}.{}", name.name));
            SqlError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{shown}\" does not exist")).at(name.pos)
        })
    }

    /// A use of a stored table, with fresh ids for all its columns.
    pub(super) fn get(&mut self, table: &Arc<TableDescriptor>, alias: &str) -> (Logical, Relation) {
        let ids: Vec<usize> = table.columns.iter().map(|c| self.table_column(table, c)).collect();
        let columns = table.visible_columns().map(|(p, c)| (c.name.clone(), ids[p], c.ty)).collect();
        let system = vec![("tableoid".to_owned(), Expr::Const(Datum::Oid(table.oid), DataType::OID.into()))];
        let relation = Relation { alias: alias.to_owned(), schema: None, columns, system, scalar: false, nullable: false };
        (Logical::Get { table: table.clone(), alias: alias.to_owned(), columns: ids }, relation)
    }

    fn table_column(&mut self, table: &TableDescriptor, column: &catalog::Column) -> usize {
        self.columns.push(ColumnInfo { name: column.name.clone(), ty: column.ty, table: table.oid, attnum: column.attnum });
        self.columns.len() - 1
    }

    fn virtual_table(&mut self, table: Arc<catalog::VirtualTable>, descriptor: &TableDescriptor, alias: &str) -> (Logical, Relation) {
        let columns: Vec<usize> = descriptor.columns.iter().map(|c| self.table_column(descriptor, c)).collect();
        let names = descriptor.columns.iter().zip(&columns).map(|(c, id)| (c.name.clone(), *id, c.ty)).collect();
        let system = vec![("tableoid".to_owned(), Expr::Const(Datum::Oid(descriptor.oid), DataType::OID.into()))];
        let relation = Relation { alias: alias.to_owned(), schema: None, columns: names, system, scalar: false, nullable: false };
        (Logical::Virtual { table, alias: alias.to_owned(), columns }, relation)
    }

    /// A view is the query it stands for, bound as if nothing else were in sight.
    fn view(
        &mut self,
        table: &Arc<TableDescriptor>,
        shown: &str,
        alias: Option<&TableAlias>,
        locking: &[LockingClause],
    ) -> Result<(Logical, Namespace), SqlError> {
        if self.view_depth == VIEW_DEPTH_MAX {
            return Err(SqlError::new(
                SqlState::INVALID_OBJECT_DEFINITION,
                format!("infinite recursion detected in rules for relation \"{}\"", table.name),
            ));
        }
        let query = crate::parse::parse_query(&stands_for(table))?;
        let hints = Hints { locking: locks_for(shown, locking), ..Hints::default() };
        let scopes = std::mem::take(&mut self.scopes);
        let hidden = std::mem::take(&mut self.hidden);
        let ctes = std::mem::take(&mut self.visible_ctes);
        let outer = std::mem::replace(&mut self.select, super::SelectState::new(Clause::From));
        self.view_depth += 1;
        let bound = self.query(&query, &hints);
        self.view_depth -= 1;
        (self.scopes, self.hidden, self.visible_ctes, self.select) = (scopes, hidden, ctes, outer);
        let (plan, output) = bound.map_err(|mut error| {
            // Positions in the view's text mean nothing to the client.
            error.fields_mut().position = None;
            error
        })?;
        let visible: Vec<_> = table.visible_columns().collect();
        if visible.len() != output.len() {
            return Err(SqlError::new(
                SqlState::INTERNAL_ERROR,
                format!("view \"{}\" no longer has the columns it was made with", table.name),
            ));
        }
        let mut exprs = Vec::with_capacity(output.len());
        let mut columns = Vec::with_capacity(output.len());
        for ((_, id), (_, column)) in output.into_iter().zip(visible) {
            let from = self.column_type_of(id);
            let source = Expr::Column(id, from);
            let value = if from == column.ty { source } else { self.cast_to(source, column.ty, true, 0)? };
            let new = self.table_column(table, column);
            exprs.push((new, value));
            columns.push((column.name.clone(), new, column.ty));
        }
        let plan = Logical::Project { input: Box::new(plan), exprs };
        let schema = alias.is_none().then(|| table.schema.clone());
        let relation = Relation { alias: shown.to_owned(), schema, columns, system: Vec::new(), scalar: false, nullable: false };
        Ok((plan, Namespace::of(renamed(relation, alias)?)))
    }

    fn cte_scan(
        &mut self,
        number: usize,
        in_recursion: bool,
        name: &str,
        alias: Option<&TableAlias>,
    ) -> Result<(Logical, Namespace), SqlError> {
        self.ctes[number].references += 1;
        let sources = self.ctes[number].columns.clone();
        let mut columns = Vec::with_capacity(sources.len());
        let mut ids = Vec::with_capacity(sources.len());
        for source in sources {
            let info = ColumnInfo { table: 0, attnum: 0, ..self.columns[source].clone() };
            columns.push((info.name.clone(), self.columns.len(), info.ty));
            if let Some(shape) = self.shapes.get(&source).cloned() {
                self.shapes.insert(self.columns.len(), shape);
            }
            ids.push(self.columns.len());
            self.columns.push(info);
        }
        let shown = alias.map_or(name, |a| a.name.value.as_str()).to_owned();
        let relation = Relation { alias: shown.clone(), schema: None, columns, system: Vec::new(), scalar: false, nullable: false };
        let plan = Logical::Cte { cte: number, work_table: in_recursion, alias: shown, columns: ids };
        Ok((plan, Namespace::of(renamed(relation, alias)?)))
    }

    fn function(
        &mut self,
        call: &ast::FunctionCall,
        ordinality: bool,
        alias: Option<&TableAlias>,
    ) -> Result<(Logical, Namespace), SqlError> {
        if let Some(user) = self.in_clause(Clause::From, |b| b.user_call(call))? {
            return self.user_relation(call, user, ordinality, alias);
        }
        let populated = populate::kind(&call.name.name);
        if populated.is_none() && alias.is_some_and(|a| a.columns.iter().any(|(_, ty)| ty.is_some())) {
            return Err(SqlError::unsupported("a column definition list for a function").at(call.name.pos));
        }
        let shown = alias.map_or(call.name.name.clone(), |a| a.name.value.clone());
        if call.name.name == "unnest" && call.args.len() > 1 {
            // One call per array, side by side.
            let one = |arg: &ast::FunctionArg| ast::FunctionCall { args: vec![arg.clone()], ..call.clone() };
            let calls: Vec<ast::FunctionCall> = call.args.iter().map(one).collect();
            return self.rows_from(&calls, ordinality, alias);
        }
        let mut populated_names = Vec::new();
        let function = match populated {
            Some(kind) => {
                let (function, names) = self.in_clause(Clause::From, |b| b.populate(call, kind, alias))?;
                populated_names = names;
                function
            }
            None => self.in_clause(Clause::From, |b| b.table_function(call))?,
        };
        let named: Vec<String> = match &function.call {
            _ if populated.is_some() => populated_names,
            TableFunctionCall::Set { function, .. } if !function.func.columns.is_empty() => {
                function.func.columns.iter().map(|(n, _)| (*n).to_owned()).collect()
            }
            // A single column is called as the function says, or else like the alias.
            TableFunctionCall::Set { function, .. } if let Some(name) = function.func.column => vec![name.to_owned()],
            _ => vec![shown.clone()],
        };
        let columns: Vec<_> = named.into_iter().zip(function.types.iter().copied()).collect();
        let record = matches!(&function.call, TableFunctionCall::Set { function, .. } if function.result == DataType::RECORD);
        let scalar = columns.len() == 1 && !ordinality && !record;
        self.function_relation(FunctionRelation { functions: vec![function], columns, ordinality, shown, scalar }, alias)
    }

    /// Functions side by side as a relation, with the numbers of its rows if they are asked for.
    pub(super) fn function_relation(
        &mut self,
        from: FunctionRelation,
        alias: Option<&TableAlias>,
    ) -> Result<(Logical, Namespace), SqlError> {
        let FunctionRelation { functions, mut columns, ordinality, shown, scalar } = from;
        if ordinality {
            columns.push(("ordinality".to_owned(), DataType::INT8.into()));
        }
        let columns: Vec<_> = columns.into_iter().map(|(name, ty)| (name.clone(), self.new_column(name, ty), ty)).collect();
        let ids = columns.iter().map(|(_, id, _)| *id).collect();
        let relation = Relation { alias: shown.clone(), schema: None, columns, system: Vec::new(), scalar, nullable: false };
        let plan = Logical::Function { functions, ordinality, alias: shown, columns: ids };
        Ok((plan, Namespace::of(renamed(relation, alias)?)))
    }

    /// `ROWS FROM (f(...), g(...))`: the calls side by side, the shorter ones filled up with NULLs.
    fn rows_from(
        &mut self,
        calls: &[ast::FunctionCall],
        ordinality: bool,
        alias: Option<&TableAlias>,
    ) -> Result<(Logical, Namespace), SqlError> {
        let mut functions = Vec::with_capacity(calls.len());
        let mut columns = Vec::new();
        for call in calls {
            let function = self.in_clause(Clause::From, |b| b.table_function(call))?;
            let names: Vec<String> = match &function.call {
                TableFunctionCall::Set { function, .. } if !function.func.columns.is_empty() => {
                    function.func.columns.iter().map(|(n, _)| (*n).to_owned()).collect()
                }
                TableFunctionCall::Set { function, .. } => vec![function.func.column.unwrap_or(&call.name.name).to_owned()],
                TableFunctionCall::Scalar(_) => vec![call.name.name.clone()],
                TableFunctionCall::User { function, .. } => super::user_relation::column_names(function),
            };
            columns.extend(names.into_iter().zip(function.types.iter().copied()));
            functions.push(function);
        }
        let shown = alias.map_or_else(|| calls.first().map_or(String::new(), |c| c.name.name.clone()), |a| a.name.value.clone());
        self.function_relation(FunctionRelation { functions, columns, ordinality, shown, scalar: false }, alias)
    }

    /// TABLESAMPLE as a condition on each row: by chance, or with a seed by what the row holds, so that it comes out the same again.
    fn sampled(&mut self, sample: &ast::TableSample, names: &Namespace, pos: usize) -> Result<Expr, SqlError> {
        if !matches!(sample.method.as_str(), "bernoulli" | "system") {
            let message = format!("tablesample method {} does not exist", sample.method);
            return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message).at(pos));
        }
        let percentage = self.expr(&sample.percentage)?;
        let percentage = self.cast_to(percentage, DataType::FLOAT8.into(), false, pos)?;
        let seed = match &sample.seed {
            None => Expr::Const(Datum::Null, DataType::FLOAT8.into()),
            Some(seed) => {
                let seed = self.expr(seed)?;
                self.cast_to(seed, DataType::FLOAT8.into(), false, pos)?
            }
        };
        let row = Expr::row(names.columns.iter().map(|c| c.expr.clone()).collect());
        Ok(Expr::Call { func: &crate::functions::SAMPLED, args: vec![percentage, seed, row], ty: Expr::BOOL })
    }

    // ---- joins

    /// Binds something in which the query being defined by recursion can't be mentioned.
    pub(super) fn without_recursion<T>(&mut self, place: &str, bind: impl FnOnce(&mut Self) -> Result<T, SqlError>) -> Result<T, SqlError> {
        let mut marked = Vec::new();
        for (at, cte) in self.visible_ctes.iter_mut().enumerate() {
            if cte.in_recursion && cte.refused.is_none() {
                cte.refused = Some(misplaced_recursion(&cte.name, place));
                marked.push(at);
            }
        }
        let bound = bind(self);
        for at in marked {
            if let Some(cte) = self.visible_ctes.get_mut(at) {
                cte.refused = None;
            }
        }
        bound
    }

    fn join(
        &mut self,
        left: &TableRef,
        right: &TableRef,
        kind: JoinKind,
        constraint: &JoinConstraint,
        locking: &[LockingClause],
    ) -> Result<(Logical, Namespace), SqlError> {
        let outer = "within an outer join";
        let (left_plan, left_names) = match kind {
            JoinKind::Right | JoinKind::Full => self.without_recursion(outer, |b| b.table_ref(left, locking))?,
            _ => self.table_ref(left, locking)?,
        };
        let (right_plan, right_names) = match kind {
            JoinKind::Left | JoinKind::Full => self.without_recursion(outer, |b| b.beside(&left_names, right, locking))?,
            _ => self.beside(&left_names, right, locking)?,
        };
        let kind = match kind {
            JoinKind::Inner | JoinKind::Cross => JoinType::Inner,
            JoinKind::Left => JoinType::Left,
            JoinKind::Right => JoinType::Right,
            JoinKind::Full => JoinType::Full,
        };
        let using = match constraint {
            JoinConstraint::Using(columns) => columns.clone(),
            JoinConstraint::Natural => common_names(&left_names, &right_names),
            _ => Vec::new(),
        };
        let right_aliases: Vec<String> = right_names.relations.iter().map(|r| r.alias.clone()).collect();
        let mut on = Vec::new();
        let mut names = if using.is_empty() {
            let mut names = left_names;
            names.join(right_names)?;
            names
        } else {
            self.note_merged(&left_names, &right_names, &using);
            self.merge(left_names, right_names, &using, kind, &mut on)?
        };
        if let JoinConstraint::On(condition) = constraint {
            self.scopes.push(names);
            let bound = self.in_clause(Clause::On, |b| b.condition(condition, "JOIN/ON"));
            names = self.scopes.pop().unwrap_or_default();
            on.extend(conjuncts(bound?));
        }
        for relation in &mut names.relations {
            let on_right = right_aliases.contains(&relation.alias);
            relation.nullable |= match kind {
                JoinType::Left => on_right,
                JoinType::Right => !on_right,
                JoinType::Full => true,
                _ => false,
            };
        }
        Ok((joined(kind, left_plan, right_plan, on), names))
    }

    /// What USING and NATURAL compare is mentioned, though NATURAL says it nowhere.
    fn note_merged(&mut self, left: &Namespace, right: &Namespace, using: &[Ident]) {
        let Some(mentions) = self.mentions.as_mut().filter(|_| self.view_depth == 0) else { return };
        let merged =
            using.iter().flat_map(|name| [left, right].into_iter().flat_map(|side| &side.columns).filter(|c| c.name == name.value));
        for column in merged {
            if let Expr::Column(id, _) = &column.expr {
                mentions.columns.push((0, *id, false));
            }
        }
    }

    /// USING: the named columns stand once, first.
    fn merge(
        &mut self,
        left: Namespace,
        right: Namespace,
        using: &[Ident],
        kind: JoinType,
        on: &mut Vec<Expr>,
    ) -> Result<Namespace, SqlError> {
        let mut merged = Vec::with_capacity(using.len());
        for name in using {
            let l = one_column(&left, name, "left")?;
            let r = one_column(&right, name, "right")?;
            on.extend(conjuncts(self.operator("=", Some(l.clone()), r.clone(), name.pos)?));
            let expr = match kind {
                JoinType::Right => r,
                JoinType::Full => {
                    let (list, ty) = self.unify(vec![l, r], "JOIN/USING", name.pos)?;
                    folded(Expr::Coalesce(list, ty))
                }
                _ => l,
            };
            merged.push(Visible { name: name.value.clone(), expr });
        }
        let rest = |space: &Namespace| -> Vec<Visible> {
            space.columns.iter().filter(|c| !using.iter().any(|u| u.value == c.name)).cloned().collect()
        };
        let columns = [merged, rest(&left), rest(&right)].concat();
        let mut names = left;
        names.join(right)?;
        names.columns = columns;
        Ok(names)
    }

    /// The lock that FOR UPDATE and its like put on the table of that alias; the strongest counts.
    fn lock_for(&mut self, alias: &str, locking: &[LockingClause]) -> Option<RowLock> {
        let meant = locking.iter().filter(|l| l.of.is_empty() || l.of.iter().any(|o| o.value == alias));
        let lock = meant.map(|l| (l.strength, l.wait)).reduce(|a, b| (a.0.max(b.0), a.1.max(b.1)));
        self.read_only &= lock.is_none();
        lock.map(|(strength, wait)| RowLock { strength, wait, implicit: false })
    }
}

/// A join. What an outer join asks of subqueries is asked of one row of its inner side after the other, as if that were LATERAL.
pub(super) fn joined(kind: JoinType, left: Logical, right: Logical, on: Vec<Expr>) -> Logical {
    let asks = |e: &Expr| {
        let mut found = false;
        e.walk(&mut |e| found |= matches!(e, Expr::Subquery(..)));
        found
    };
    let (left, right) = (Box::new(left), Box::new(right));
    match kind {
        JoinType::Left if on.iter().any(asks) => Logical::Join { kind, left, right: Box::new(right.filtered(on)), on: Vec::new() },
        JoinType::Right if on.iter().any(asks) => {
            Logical::Join { kind: JoinType::Left, left: right, right: Box::new(left.filtered(on)), on: Vec::new() }
        }
        _ => Logical::Join { kind, left, right, on },
    }
}

/// What is said of a recursive reference that stands where there can be none.
pub(super) fn misplaced_recursion(name: &str, place: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_RECURSION, format!("recursive reference to query \"{name}\" must not appear {place}"))
}

/// The query that a view, or a sequence read as a table, stands for.
fn stands_for(table: &TableDescriptor) -> String {
    match table.kind {
        RelationKind::Sequence => {
            let oid = table.oid;
            format!("SELECT pg_catalog.sequence_last_value({oid}), 0::bigint, pg_catalog.sequence_is_called({oid})")
        }
        _ => table.view_query.clone().unwrap_or_default(),
    }
}

/// What FOR UPDATE on a subquery means inside it: everything.
fn locks_for(alias: &str, locking: &[LockingClause]) -> Vec<LockingClause> {
    let meant = locking.iter().filter(|l| l.of.is_empty() || l.of.iter().any(|o| o.value == alias));
    meant.map(|l| LockingClause { of: Vec::new(), ..l.clone() }).collect()
}

/// `AS t (a, b)`.
pub(super) fn renamed(mut relation: Relation, alias: Option<&TableAlias>) -> Result<Relation, SqlError> {
    let Some(alias) = alias else { return Ok(relation) };
    relation.alias = alias.name.value.clone();
    if alias.columns.len() > relation.columns.len() {
        let message = format!(
            "table \"{}\" has {} columns available but {} columns specified",
            relation.alias,
            relation.columns.len(),
            alias.columns.len()
        );
        return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message).at(alias.name.pos));
    }
    for (column, (name, _)) in relation.columns.iter_mut().zip(&alias.columns) {
        column.0 = name.value.clone();
    }
    Ok(relation)
}

fn common_names(left: &Namespace, right: &Namespace) -> Vec<Ident> {
    let shared = left.columns.iter().filter(|l| right.columns.iter().any(|r| r.name == l.name));
    shared.map(|c| Ident { value: c.name.clone(), pos: 0 }).collect()
}

fn one_column(space: &Namespace, name: &Ident, side: &str) -> Result<Expr, SqlError> {
    let mut found = space.columns.iter().filter(|c| c.name == name.value);
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one.expr.clone()),
        (None, _) => {
            let message = format!("column \"{}\" specified in USING clause does not exist in {side} table", name.value);
            Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message))
        }
        _ => {
            let message = format!("common column name \"{}\" appears more than once in {side} table", name.value);
            Err(SqlError::new(SqlState::AMBIGUOUS_COLUMN, message).at(name.pos))
        }
    }
}

/// `0A000`: a relation of another database.
pub(crate) fn in_other_database(name: &ObjectName) -> SqlError {
    let message = format!("cross-database references are not implemented: \"{name}\"");
    SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(name.pos)
}
