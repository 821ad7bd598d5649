//! CREATE VIEW: the query's text, and the columns it gives.

use super::Ddl;
use crate::ast::{CreateView, Statement};
use crate::bind::logical::{Bound, Rewrite};
use crate::bind::{bind, bind_with_mentions};
use crate::catalog::{Column, Oid, RelationKind, TableDescriptor};
use crate::error::{SqlError, SqlState};
use crate::functions::quoting::quote_ident;
use crate::types::{ColumnType, DataType};

/// What comes of binding a view's query.
struct ViewColumns {
    columns: Vec<(String, ColumnType)>,
    /// Domains of those that are tables' columns.
    declared: Vec<Option<Oid>>,
    /// The query's text as it is stored.
    text: String,
    /// The relations it reads.
    depends_on: Vec<Oid>,
}

impl Ddl<'_, '_> {
    pub(super) async fn create_view(&mut self, create: &CreateView) -> Result<(), SqlError> {
        let name = &create.name.name;
        let ViewColumns { columns, declared, text, depends_on } = self.view_columns(create)?;
        let reads_temporary = depends_on.iter().any(|oid| self.catalog().table(*oid).is_some_and(|table| table.temporary));
        if reads_temporary && !create.temporary {
            self.notice(format!("view \"{name}\" will be a temporary view"));
        }
        let schema = self.schema_of_new(&create.name, create.temporary || reads_temporary).await?;
        let existing = self.catalog().relation_in(&schema.name, name).map(|r| std::sync::Arc::clone(r.descriptor()));
        let mut view = match existing {
            Some(old) if create.or_replace && old.kind == RelationKind::View => {
                compatible(&old, &columns)?;
                TableDescriptor::clone(&old)
            }
            Some(old) if create.or_replace => {
                return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not a view", old.name)));
            }
            Some(_) => return Err(SqlError::new(SqlState::DUPLICATE_TABLE, format!("relation \"{name}\" already exists"))),
            None => {
                let oid = self.new_oid().await?;
                let mut view = TableDescriptor::new(oid, schema.oid, schema.name.clone(), name.clone(), RelationKind::View);
                view.owner = self.ctx.plan_settings.user.clone();
                view
            }
        };
        view.columns = (1..).zip(columns).map(|(n, (name, ty))| Column::new(n, name, ty)).collect();
        for (column, declared) in view.columns.iter_mut().zip(declared) {
            column.declared = declared;
        }
        view.options.retain(|(option, _)| option != "check_option");
        if let Some(cascaded) = create.check_option {
            view.options.push(("check_option".into(), if cascaded { "cascaded" } else { "local" }.into()));
        }
        view.view_query = Some(text);
        view.depends_on = depends_on;
        let written = create
            .check_option
            .map(|_| crate::ast::ObjectName { schema: Some(view.schema.clone()), ..crate::ast::ObjectName::bare(view.name.clone()) });
        self.put(view);
        match written {
            Some(name) => self.check_updatable(name),
            None => Ok(()),
        }
    }

    /// WITH CHECK OPTION is for views that can be written through.
    fn check_updatable(&self, view: crate::ast::ObjectName) -> Result<(), SqlError> {
        let delete = crate::ast::Delete { with: None, table: view, alias: None, using: Vec::new(), filter: None, returning: Vec::new() };
        match bind(&Statement::Delete(Box::new(delete)), &self.snapshot(), self.ctx.plan_settings, &[]) {
            Ok(_) => Ok(()),
            Err(_) => {
                Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "WITH CHECK OPTION is supported only on automatically updatable views"))
            }
        }
    }

    /// The query's text with everything written out that a later definition could change the meaning of. Where a name cannot be written with its relation
    /// (the text would mean something else), names stay as they are.
    fn stored_text(&self, create: &CreateView, query: crate::ast::Query, bound: &Bound) -> Result<String, SqlError> {
        let text = rewritten(&create.text, &bound.rewrites);
        let again = crate::parse::parse_query(&text)
            .and_then(|query| bind(&Statement::Query(Box::new(query)), &self.snapshot(), self.ctx.plan_settings, &[]));
        if again.is_ok_and(|again| again.output == bound.output) {
            return Ok(text);
        }
        let bare = bind(&Statement::Query(Box::new(query)), &self.snapshot(), self.ctx.plan_settings, &[])?;
        Ok(rewritten(&create.text, &bare.rewrites))
    }

    /// The view's columns, its query's text as it is stored, and the relations it reads.
    fn view_columns(&self, create: &CreateView) -> Result<ViewColumns, SqlError> {
        // The text alone, so that places in it are known.
        let query = crate::parse::parse_query(&create.text)?;
        let (bound, _) = bind_with_mentions(&query, &self.snapshot(), self.ctx.plan_settings)?;
        if !bound.param_types.is_empty() {
            return Err(SqlError::new(SqlState::UNDEFINED_PARAMETER, "there is no parameter $1"));
        }
        if create.columns.len() > bound.output.len() {
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, "CREATE VIEW specifies more column names than columns"));
        }
        let mut columns: Vec<(String, ColumnType)> = Vec::with_capacity(bound.output.len());
        for (number, (name, id)) in bound.output.iter().enumerate() {
            let name = create.columns.get(number).map_or(name, |c| &c.value);
            if columns.iter().any(|(other, _)| other == name) {
                return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, format!("column \"{name}\" specified more than once")));
            }
            let ty = bound.columns.get(*id).map_or(DataType::TEXT.into(), |c| c.ty);
            columns.push((name.clone(), if ty.ty == DataType::UNKNOWN { DataType::TEXT.into() } else { ty }));
        }
        let mut text = self.stored_text(create, query, &bound)?;
        if !columns.iter().map(|(name, _)| name).eq(bound.output.iter().map(|(name, _)| name)) {
            text = with_names(&text, &create.name.name, &columns);
        }
        let infos = bound.output.iter().map(|(_, id)| bound.columns.get(*id));
        let declared = infos.map(|info| info.and_then(|info| self.declared_of(info.table, info.attnum))).collect();
        Ok(ViewColumns { columns, declared, text, depends_on: bound.relations })
    }
}

/// The query with its tables' schemas, its columns' relations and its stars' columns written out.
pub(super) fn rewritten(text: &str, rewrites: &[Rewrite]) -> String {
    let mut rewrites: Vec<&Rewrite> = rewrites.iter().filter(|r| r.start > 0).collect();
    // A star's columns are bound where the star stands.
    rewrites.sort_by_key(|r| (r.start, !r.star));
    // A star or table that was bound twice stands there once.
    rewrites.dedup_by_key(|r| r.start);
    let mut out = String::with_capacity(text.len());
    let mut taken = 0;
    for rewrite in rewrites {
        let Some((start, _)) = text.char_indices().nth(rewrite.start - 1) else { continue };
        if start < taken {
            continue;
        }
        out.push_str(&text[taken..start]);
        out.push_str(&rewrite.text);
        taken = start;
        if rewrite.star {
            taken = text[start..].find('*').map_or(start, |star| start + star + 1);
        }
    }
    out.push_str(&text[taken..]);
    out
}

/// The query under the names that CREATE VIEW lists.
fn with_names(text: &str, view: &str, columns: &[(String, ColumnType)]) -> String {
    let view = quote_ident(view);
    let names: Vec<String> = columns.iter().map(|(name, _)| quote_ident(name).to_string()).collect();
    // With their relation, as a column is written out when such a text is made a view again.
    let shown: Vec<String> = names.iter().map(|name| format!("{view}.{name}")).collect();
    format!("SELECT {} FROM ({text}) AS {view}({})", shown.join(", "), names.join(", "))
}

/// CREATE OR REPLACE may only add columns.
fn compatible(old: &TableDescriptor, columns: &[(String, ColumnType)]) -> Result<(), SqlError> {
    let invalid = |message: String| Err(SqlError::new(SqlState::INVALID_TABLE_DEFINITION, message));
    if columns.len() < old.columns.len() {
        return invalid("cannot drop columns from view".into());
    }
    for (before, (name, ty)) in old.columns.iter().zip(columns) {
        if before.name != *name {
            return Err(SqlError::new(
                SqlState::INVALID_TABLE_DEFINITION,
                format!("cannot change name of view column \"{}\" to \"{name}\"", before.name),
            )
            .hint("Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead."));
        }
        if before.ty != *ty {
            return invalid(format!("cannot change data type of view column \"{name}\" from {} to {ty}", before.ty));
        }
    }
    Ok(())
}
