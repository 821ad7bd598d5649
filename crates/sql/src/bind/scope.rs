//! Names in sight: which column a name means.
//!
//! A [`Namespace`] is what FROM makes visible: relations by alias, for `t.a` and `t.*`; and columns in the order of `*`, for a bare `a`, where the columns
//! that JOIN USING merged stand once. Enclosing queries' namespaces form a stack behind it, nearest first.

use super::Binder;
use super::logical::{ColumnId, Rewrite};
use crate::ast::{Ident, ObjectName};
use crate::error::{SqlError, SqlState};
use crate::expr::Expr;
use crate::functions::quoting::quote_ident;
use crate::types::{ColumnType, Shape};
use std::sync::Arc;

/// One relation in FROM.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    pub(super) alias: String,
    /// Its schema, when it is a table without an alias: `s.t.a` finds it.
    pub(super) schema: Option<String>,
    /// Name, id, type.
    pub(super) columns: Vec<(String, ColumnId, ColumnType)>,
    /// Hidden and system columns, found only by name.
    pub(super) system: Vec<(String, Expr)>,
    /// A function of one unnamed column: its row as a value is the value.
    pub(super) scalar: bool,
    /// An outer join may leave its row out.
    pub(super) nullable: bool,
}

impl Relation {
    /// Its row as one value.
    fn whole_row(&self) -> Expr {
        if let (true, [(_, id, ty), ..]) = (self.scalar, self.columns.as_slice()) {
            return Expr::Column(*id, *ty);
        }
        let shape = Shape { fields: self.columns.iter().map(|(name, _, ty)| (name.clone(), *ty)).collect() };
        let fields = self.columns.iter().map(|(_, id, ty)| Expr::Column(*id, *ty)).collect();
        Expr::Row { fields, shape: Arc::new(shape), nullable: self.nullable }
    }
}

/// One column in the order of `*`.
#[derive(Clone, Debug)]
pub(super) struct Visible {
    pub(super) name: String,
    pub(super) expr: Expr,
}

/// What FROM makes visible.
#[derive(Clone, Debug, Default)]
pub(super) struct Namespace {
    pub(super) relations: Vec<Relation>,
    pub(super) columns: Vec<Visible>,
}

impl Namespace {
    pub(super) fn of(relation: Relation) -> Namespace {
        let columns = relation.columns.iter().map(|(name, id, ty)| Visible { name: name.clone(), expr: Expr::Column(*id, *ty) }).collect();
        Namespace { relations: vec![relation], columns }
    }

    /// Puts another FROM item beside this one.
    pub(super) fn join(&mut self, other: Namespace) -> Result<(), SqlError> {
        for relation in &other.relations {
            if self
                .relations
                .iter()
                .any(|r| r.alias == relation.alias && (r.schema == relation.schema || r.schema.is_none() || relation.schema.is_none()))
            {
                let message = format!("table name \"{}\" specified more than once", relation.alias);
                return Err(SqlError::new(SqlState::DUPLICATE_ALIAS, message));
            }
        }
        self.relations.extend(other.relations);
        self.columns.extend(other.columns);
        Ok(())
    }

    fn relation(&self, schema: Option<&str>, alias: &str) -> Option<&Relation> {
        self.relations.iter().find(|r| r.alias == alias && (schema.is_none() || r.schema.as_deref() == schema))
    }

    fn bare(&self, name: &Ident) -> Result<Option<Expr>, SqlError> {
        let mut found = self.columns.iter().filter(|c| c.name == name.value);
        match (found.next(), found.next()) {
            (Some(one), None) => Ok(Some(one.expr.clone())),
            (Some(_), Some(_)) => {
                Err(SqlError::new(SqlState::AMBIGUOUS_COLUMN, format!("column reference \"{}\" is ambiguous", name.value)).at(name.pos))
            }
            (None, _) => Ok(self.relations.iter().find_map(|r| r.system.iter().find(|(n, _)| *n == name.value)).map(|(_, e)| e.clone())),
        }
    }
}

impl Binder<'_> {
    pub(super) fn column(&mut self, parts: &[Ident]) -> Result<Expr, SqlError> {
        let expr = match parts {
            [name] => {
                let expr = self.bare_column(name).or_else(|error| self.parameter_named(None, name, error))?;
                self.note_bare(name, &expr);
                expr
            }
            [table, name] => {
                self.qualified_column(None, table, name).or_else(|error| self.parameter_named(Some(table.value.as_str()), name, error))?
            }
            [schema, table, name] => self.qualified_column(Some(schema), table, name)?,
            [catalog, schema, table, name] if catalog.value == self.catalog.database() => {
                self.qualified_column(Some(schema), table, name)?
            }
            _ => {
                let shown: Vec<&str> = parts.iter().map(|p| p.value.as_str()).collect();
                let pos = parts.first().map_or(0, |p| p.pos);
                let shown = shown.join(".");
                let (state, what) = match parts.len() {
                    4 => (SqlState::FEATURE_NOT_SUPPORTED, "cross-database references are not implemented"),
                    _ => (SqlState::SYNTAX_ERROR, "improper qualified name (too many dotted names)"),
                };
                return Err(SqlError::new(state, format!("{what}: {shown}")).at(pos));
            }
        };
        if let (Expr::Column(id, _), Some(first)) = (&expr, parts.first()) {
            self.places.entry(*id).or_insert(first.pos);
            if let (Some(_), Some(last), 0) = (&self.mentions, parts.last(), self.view_depth) {
                let has = |relation: &Relation| !relation.system.is_empty() && relation.columns.iter().any(|(_, of, _)| of == id);
                let direct = self.spaces().flat_map(|space| &space.relations).any(has);
                self.mentions.iter_mut().for_each(|mentions| mentions.columns.push((last.pos, *id, direct)));
            }
        }
        Ok(expr)
    }

    /// What is no column may be a parameter of the function whose body this is.
    fn parameter_named(&self, function: Option<&str>, name: &Ident, error: SqlError) -> Result<Expr, SqlError> {
        if !matches!(error.state(), SqlState::UNDEFINED_COLUMN | SqlState::UNDEFINED_TABLE) {
            return Err(error);
        }
        self.function.as_ref().and_then(|scope| scope.named(function, &name.value)).ok_or(error)
    }

    fn bare_column(&mut self, name: &Ident) -> Result<Expr, SqlError> {
        for space in self.spaces() {
            if let Some(expr) = space.bare(name)? {
                return Ok(expr);
            }
        }
        // A relation's name alone is its whole row.
        if let Some(relation) = self.spaces().find_map(|s| s.relation(None, &name.value)) {
            return Ok(relation.whole_row());
        }
        Err(SqlError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{}\" does not exist", name.value)).at(name.pos))
    }

    /// A stored query must go on meaning the column that a bare name means now, whatever columns its tables get later: the name is written with its relation,
    /// if that finds the same column. What JOIN USING merged into a new value stays as it is.
    fn note_bare(&mut self, name: &Ident, expr: &Expr) {
        if self.mentions.is_none() || self.view_depth > 0 {
            return;
        }
        let Expr::Column(id, _) = expr else { return };
        let is_it = |(n, known, _): &&(String, ColumnId, ColumnType)| *n == name.value && known == id;
        let owner = self.spaces().flat_map(|space| &space.relations).find(|relation| relation.columns.iter().any(|column| is_it(&column)));
        let Some(alias) = owner.map(|relation| relation.alias.clone()).filter(|alias| !alias.is_empty()) else { return };
        let found = self.spaces().find_map(|space| space.relation(None, &alias));
        if found.is_some_and(|relation| relation.columns.iter().any(|column| is_it(&column))) {
            self.rewrites.push(Rewrite { start: name.pos, star: false, text: format!("{}.", quote_ident(&alias)) });
        }
    }

    fn qualified_column(&mut self, schema: Option<&Ident>, table: &Ident, name: &Ident) -> Result<Expr, SqlError> {
        let pos = schema.map_or(table.pos, |s| s.pos);
        let relation = self.visible_relation(schema.map(|s| s.value.as_str()), &table.value, pos)?;
        let mut found = relation.columns.iter().filter(|(n, ..)| *n == name.value);
        match (found.next(), found.next()) {
            (Some((_, id, ty)), None) => Ok(Expr::Column(*id, *ty)),
            (Some(_), Some(_)) => {
                Err(SqlError::new(SqlState::AMBIGUOUS_COLUMN, format!("column reference \"{}\" is ambiguous", name.value)).at(pos))
            }
            (None, _) => match relation.system.iter().find(|(n, _)| *n == name.value) {
                Some((_, expr)) => Ok(expr.clone()),
                None => {
                    Err(SqlError::new(SqlState::UNDEFINED_COLUMN, format!("column {}.{} does not exist", table.value, name.value)).at(pos))
                }
            },
        }
    }

    /// The relation of that alias, nearest query first.
    pub(super) fn visible_relation(&self, schema: Option<&str>, alias: &str, pos: usize) -> Result<&Relation, SqlError> {
        if let Some(relation) = self.spaces().find_map(|s| s.relation(schema, alias)) {
            return Ok(relation);
        }
        // `FROM t x` hides the name t.
        let renamed =
            self.renamed.iter().rev().find(|(table, other)| table == alias && self.spaces().any(|s| s.relation(None, other).is_some()));
        if let Some((_, other)) = renamed {
            let message = format!("invalid reference to FROM-clause entry for table \"{alias}\"");
            return Err(SqlError::new(SqlState::UNDEFINED_TABLE, message)
                .hint(format!("Perhaps you meant to reference the table alias \"{other}\"."))
                .at(pos));
        }
        let hidden = self.hidden.iter().flat_map(|s| &s.relations).any(|r| r.alias == alias);
        let message = if hidden {
            format!("invalid reference to FROM-clause entry for table \"{alias}\"")
        } else {
            format!("missing FROM-clause entry for table \"{alias}\"")
        };
        let error = SqlError::new(SqlState::UNDEFINED_TABLE, message).at(pos);
        Err(if hidden {
            error.hint(format!("There is an entry for table \"{alias}\", but it cannot be referenced from this part of the query."))
        } else {
            error
        })
    }

    /// The columns of `*`, or of `t.*`.
    pub(super) fn star(&mut self, table: Option<&ObjectName>, pos: usize) -> Result<Vec<(String, Expr)>, SqlError> {
        match table {
            None => {
                let space = self.spaces().next();
                let columns: Vec<_> = space.into_iter().flat_map(|s| &s.columns).map(|c| (c.name.clone(), c.expr.clone())).collect();
                if space.is_none_or(|s| s.relations.is_empty()) {
                    return Err(SqlError::new(SqlState::SYNTAX_ERROR, "SELECT * with no tables specified is not valid").at(pos));
                }
                Ok(columns)
            }
            Some(name) => {
                let relation = self.visible_relation(name.schema.as_deref(), &name.name, name.pos)?;
                Ok(relation.columns.iter().map(|(n, id, ty)| (n.clone(), Expr::Column(*id, *ty))).collect())
            }
        }
    }

    /// A stored query must go on giving the columns that its star gives now.
    pub(super) fn note_star(&mut self, pos: usize, table: Option<&ObjectName>, columns: &[(String, Expr)]) {
        if self.view_depth > 0 {
            return;
        }
        let named = |(name, expr): &(String, Expr)| {
            let alias = match table {
                Some(table) => Some(table.name.clone()),
                None => self.alias_of(name, expr),
            };
            let name = quote_ident(name);
            alias.map_or(name.to_string(), |alias| format!("{}.{name}", quote_ident(&alias)))
        };
        let text = columns.iter().map(named).collect::<Vec<_>>().join(", ");
        self.rewrites.push(Rewrite { start: pos, star: true, text });
    }

    /// The relation that a column of `*` comes from; none for what JOIN USING merged.
    fn alias_of(&self, name: &str, expr: &Expr) -> Option<String> {
        let Expr::Column(id, _) = expr else { return None };
        let relations = &self.spaces().next()?.relations;
        let owner = relations.iter().find(|r| r.columns.iter().any(|(n, known, _)| n == name && known == id))?;
        Some(owner.alias.clone())
    }

    /// Nearest first.
    pub(super) fn spaces(&self) -> impl Iterator<Item = &Namespace> {
        self.scopes.iter().rev()
    }
}
