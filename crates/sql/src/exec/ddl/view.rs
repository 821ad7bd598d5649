//! CREATE VIEW: the query's text, and the columns it gives.

use super::Ddl;
use crate::ast::{CreateView, Statement};
use crate::bind::bind;
use crate::catalog::{Column, RelationKind, TableDescriptor};
use crate::error::{SqlError, SqlState};
use crate::types::{ColumnType, DataType};

impl Ddl<'_, '_> {
    pub(super) async fn create_view(&mut self, create: &CreateView) -> Result<(), SqlError> {
        if create.temporary {
            return Err(SqlError::unsupported("a temporary view"));
        }
        if create.check_option.is_some() {
            return Err(SqlError::unsupported("WITH CHECK OPTION"));
        }
        let schema = self.schema_for(&create.name)?;
        let name = &create.name.name;
        let columns = self.view_columns(create)?;
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
        view.view_query = Some(create.text.clone());
        self.put(view);
        Ok(())
    }

    fn view_columns(&self, create: &CreateView) -> Result<Vec<(String, ColumnType)>, SqlError> {
        let statement = Statement::Query(Box::new(create.query.clone()));
        let bound = bind(&statement, &self.snapshot(), self.ctx.plan_settings, &[])?;
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
        Ok(columns)
    }
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
