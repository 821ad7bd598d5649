//! CREATE TABLE, and CREATE TABLE AS.

use super::Ddl;
use super::columns::COLUMNS_MAX;
use crate::ast::{
    ColumnConstraintKind, ConstraintTiming, CreateTable, CreateTableAs, LikeClause, ObjectName, OnCommit, TableConstraint,
    TableConstraintKind,
};
use crate::catalog::functions::index_attribute;
use crate::catalog::{Column, IndexColumn, IndexDescriptor, ROWID_NAME, RelationKind, TableDescriptor};
use crate::error::{SqlError, SqlState};
use crate::exec::bulk_load::BulkLoad;
use crate::exec::write::{TableWriter, WRITE_ROWS};
use crate::exec::{ExecContext, Flow, execute, sequence};
use crate::plan::plan_statement;
use crate::types::{ColumnType, DataType, Datum};
use std::sync::Arc;

/// What CREATE TABLE and CREATE TABLE AS say of the table itself.
struct NewTable<'c> {
    name: &'c ObjectName,
    if_not_exists: bool,
    temporary: bool,
    on_commit: Option<OnCommit>,
    options: &'c [(String, String)],
}

impl<'c> NewTable<'c> {
    fn of(create: &'c CreateTable) -> NewTable<'c> {
        let CreateTable { name, if_not_exists, temporary, on_commit, options, .. } = create;
        NewTable { name, if_not_exists: *if_not_exists, temporary: *temporary, on_commit: *on_commit, options }
    }

    fn of_query(create: &'c CreateTableAs) -> NewTable<'c> {
        let CreateTableAs { name, if_not_exists, temporary, on_commit, options, .. } = create;
        NewTable { name, if_not_exists: *if_not_exists, temporary: *temporary, on_commit: *on_commit, options }
    }
}

impl Ddl<'_, '_> {
    pub(super) async fn create_table(&mut self, create: &CreateTable) -> Result<(), SqlError> {
        let wanted = NewTable::of(create);
        let Some(mut table) = self.new_table(&wanted).await? else { return Ok(()) };
        for like in &create.likes {
            self.like_columns(&mut table, like).await?;
        }
        for definition in &create.columns {
            let column = self.new_column(&table, definition).await?;
            table.columns.push(column);
        }
        self.check_generated(&table)?;
        self.primary_index(&mut table, create).await?;
        self.put(table.clone());
        // The primary key is there; now everything that may refer to it.
        let mut later = Vec::new();
        for definition in &create.columns {
            for constraint in &definition.constraints {
                let kind = match constraint.kind {
                    ColumnConstraintKind::PrimaryKey if constraint.timing.deferrable => {
                        Some(TableConstraintKind::PrimaryKey { columns: vec![definition.name.clone()], include: Vec::new() })
                    }
                    _ => as_table_constraint(&definition.name, &constraint.kind),
                };
                if let Some(kind) = kind {
                    later.push(TableConstraint {
                        name: constraint.name.clone(),
                        kind,
                        timing: constraint.timing,
                        not_valid: false,
                        no_inherit: false,
                        pos: definition.name.pos,
                    });
                }
            }
        }
        let is_done = |c: &TableConstraint| matches!(c.kind, TableConstraintKind::PrimaryKey { .. }) && !c.timing.deferrable;
        later.extend(create.constraints.iter().filter(|c| !is_done(c)).cloned());
        // PostgreSQL names checks first, then indexes, then foreign keys.
        later.sort_by_key(|c| match c.kind {
            TableConstraintKind::Check(_) => 0,
            TableConstraintKind::ForeignKey { .. } => 2,
            _ => 1,
        });
        for constraint in &later {
            self.add_constraint(table.oid, constraint, super::constraint::Existing::None).await?;
        }
        for like in &create.likes {
            self.like_rest(table.oid, like).await?;
        }
        Ok(())
    }

    /// A descriptor for a new table; None if there is one and that is all right.
    async fn new_table(&mut self, wanted: &NewTable<'_>) -> Result<Option<TableDescriptor>, SqlError> {
        let NewTable { name, if_not_exists, .. } = *wanted;
        let schema = self.schema_of_new(name, wanted.temporary).await?;
        if wanted.on_commit.is_some() && !self.is_temporary_schema(&schema.name) {
            return Err(SqlError::new(SqlState::INVALID_TABLE_DEFINITION, "ON COMMIT can only be used on temporary tables"));
        }
        if self.is_taken(&schema.name, &name.name) {
            if if_not_exists {
                self.skipped(SqlState::DUPLICATE_TABLE, format!("relation \"{}\" already exists", name.name));
                return Ok(None);
            }
            return Err(SqlError::new(SqlState::DUPLICATE_TABLE, format!("relation \"{}\" already exists", name.name)));
        }
        let oid = self.new_oid().await?;
        let mut table = TableDescriptor::new(oid, schema.oid, schema.name.clone(), name.name.clone(), RelationKind::Table);
        table.owner = self.ctx.plan_settings.user.clone();
        table.temporary = self.is_temporary_schema(&table.schema);
        table.on_commit = wanted.on_commit.unwrap_or_default();
        table.options = wanted.options.to_vec();
        Ok(Some(table))
    }

    /// The declared primary key, or one over a hidden number; a deferrable one is added later.
    async fn primary_index(&mut self, table: &mut TableDescriptor, create: &CreateTable) -> Result<(), SqlError> {
        let mut declared: Vec<(Option<String>, Vec<String>)> = Vec::new();
        let mut deferrable = false;
        for definition in &create.columns {
            for constraint in definition.constraints.iter().filter(|c| matches!(c.kind, ColumnConstraintKind::PrimaryKey)) {
                declared.push((constraint.name.clone(), vec![definition.name.value.clone()]));
                deferrable |= constraint.timing.deferrable;
            }
        }
        for constraint in &create.constraints {
            if let TableConstraintKind::PrimaryKey { columns, include } = &constraint.kind {
                if !include.is_empty() {
                    return Err(SqlError::unsupported("INCLUDE in a primary key"));
                }
                deferrable |= constraint.timing.deferrable;
                declared.push((constraint.name.clone(), columns.iter().map(|c| c.value.clone()).collect()));
            }
        }
        if declared.len() > 1 {
            let message = format!("multiple primary keys for table \"{}\" are not allowed", table.name);
            return Err(SqlError::new(SqlState::INVALID_TABLE_DEFINITION, message));
        }
        match declared.pop().filter(|_| !deferrable) {
            Some((name, columns)) => {
                let name = name.unwrap_or_else(|| self.free_name(&table.schema, &super::columns::shortened(&[&table.name], "pkey"), &[]));
                self.set_primary_key(table, name, &columns).await
            }
            None => self.hidden_key(table).await,
        }
    }

    /// Makes the columns the table's primary key.
    pub(super) async fn set_primary_key(&mut self, table: &mut TableDescriptor, name: String, columns: &[String]) -> Result<(), SqlError> {
        table.primary = self.primary_key_index(table, name, columns).await?;
        Ok(())
    }

    /// An index over the columns, which become NOT NULL.
    pub(super) async fn primary_key_index(
        &mut self,
        table: &mut TableDescriptor,
        name: String,
        columns: &[String],
    ) -> Result<IndexDescriptor, SqlError> {
        let mut index = IndexDescriptor::new(self.new_oid().await?, name, self.new_index_id().await?);
        for column in columns {
            let missing = || SqlError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{column}\" named in key does not exist"));
            let position = table.column_position(column).ok_or_else(missing)?;
            if index.key.iter().any(|k| k.column == position) {
                let message = format!("column \"{column}\" appears twice in primary key constraint");
                return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, message));
            }
            super::index::check_key_type(table, position)?;
            table.columns[position].nullable = false;
            index.key.push(IndexColumn { column: position, descending: false, nulls_first: false });
        }
        Ok(index)
    }

    /// A hidden number as the key of a table that has none.
    pub(super) async fn hidden_key(&mut self, table: &mut TableDescriptor) -> Result<(), SqlError> {
        if table.columns.len() >= COLUMNS_MAX {
            return Err(SqlError::new(SqlState::TOO_MANY_COLUMNS, format!("tables can have at most {COLUMNS_MAX} columns")));
        }
        let position = table.columns.len();
        let mut column = Column::new(position as u32 + 1, ROWID_NAME, DataType::INT8.into());
        (column.hidden, column.nullable) = (true, false);
        table.columns.push(column);
        table.primary = IndexDescriptor::new(0, "", self.new_index_id().await?);
        table.primary.key.push(IndexColumn { column: position, descending: false, nulls_first: false });
        Ok(())
    }

    // ---- LIKE

    async fn like_columns(&mut self, table: &mut TableDescriptor, like: &LikeClause) -> Result<(), SqlError> {
        let source = self.find(&like.table)?;
        for (_, column) in source.visible_columns() {
            if table.column_position(&column.name).is_some() {
                return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, format!("column \"{}\" specified more than once", column.name)));
            }
            let mut copy = Column::new(table.columns.len() as u32 + 1, column.name.clone(), column.ty);
            (copy.nullable, copy.declared) = (column.nullable, column.declared);
            copy.default = column.default.clone().filter(|_| includes(like, "defaults"));
            copy.generated = column.generated.clone().filter(|_| includes(like, "generated"));
            if let Some(identity) = column.identity.as_ref().filter(|_| includes(like, "identity")) {
                let (sequence_oid, _) = self.owned_sequence(table, &copy, &[]).await?;
                copy.identity = Some(crate::catalog::Identity { always: identity.always, sequence_oid });
            }
            table.columns.push(copy);
        }
        Ok(())
    }

    async fn like_rest(&mut self, oid: u32, like: &LikeClause) -> Result<(), SqlError> {
        let source = self.find(&like.table)?;
        let mut table = self.table(oid)?;
        if includes(like, "constraints") {
            table.checks.extend(source.checks.iter().cloned());
        }
        if includes(like, "comments") {
            let kept = source.comments.iter().filter(|(n, _)| *n > 0).filter_map(|(n, text)| {
                let column = source.columns.get(*n as usize - 1)?;
                Some((table.column_position(&column.name)? as u32 + 1, text.clone()))
            });
            let kept: Vec<(u32, String)> = kept.collect();
            table.comments.extend(kept);
        }
        self.put(table);
        if includes(like, "indexes") {
            self.like_indexes(oid, &source).await?;
        }
        Ok(())
    }

    async fn like_indexes(&mut self, oid: u32, source: &TableDescriptor) -> Result<(), SqlError> {
        let name = |position: &usize| crate::ast::Ident { value: source.columns[*position].name.clone(), pos: 0 };
        let columns = |index: &IndexDescriptor| index.key.iter().map(|k| name(&k.column)).collect::<Vec<_>>();
        let like = |kind, index: &IndexDescriptor| {
            let timing = ConstraintTiming { deferrable: index.deferrable, initially_deferred: index.initially_deferred };
            TableConstraint { name: None, kind, timing, not_valid: false, no_inherit: false, pos: 0 }
        };
        if source.has_primary_key() && source.kind == RelationKind::Table {
            let kind = TableConstraintKind::PrimaryKey { columns: columns(&source.primary), include: Vec::new() };
            self.add_constraint(oid, &like(kind, &source.primary), super::constraint::Existing::None).await?;
        }
        for index in &source.indexes {
            let include = index.include.iter().map(name).collect();
            if let Some(unique) = source.uniques.iter().find(|u| u.index_oid == index.oid) {
                let kind = match unique.primary {
                    true => TableConstraintKind::PrimaryKey { columns: columns(index), include },
                    false => TableConstraintKind::Unique { columns: columns(index), include, nulls_distinct: index.nulls_distinct },
                };
                self.add_constraint(oid, &like(kind, index), super::constraint::Existing::None).await?;
                continue;
            }
            let mut table = self.table(oid)?;
            let mut copy = index.clone();
            for key in &mut copy.key {
                let column = &source.columns[key.column];
                key.column = match column.generated.as_ref().filter(|_| column.hidden) {
                    Some(text) => self.expression_column(&mut table, text)?,
                    None => table.column_position(&column.name).ok_or_else(crate::exec::context::misfit)?,
                };
            }
            let columns: Vec<String> = index.key.iter().map(|k| index_attribute(&source.columns[k.column])).collect();
            let names: Vec<&str> = std::iter::once(table.name.as_str()).chain(columns.iter().map(String::as_str)).collect();
            copy.name = self.free_name(&table.schema, &super::columns::shortened(&names, "idx"), &[]);
            (copy.oid, copy.index_id) = (self.new_oid().await?, self.new_index_id().await?);
            copy.include = Vec::new();
            for position in &index.include {
                copy.include.extend(table.column_position(&source.columns[*position].name));
            }
            table.indexes.push(copy);
            self.put(table);
        }
        Ok(())
    }
}

/// Whether INCLUDING names the option, and no later EXCLUDING takes it back.
fn includes(like: &LikeClause, option: &str) -> bool {
    let mut named = like.options.iter().filter(|(_, name)| name == option || name == "all");
    named.next_back().is_some_and(|(including, _)| *including)
}

/// A column's constraint, written as the table's.
pub(super) fn as_table_constraint(column: &crate::ast::Ident, kind: &ColumnConstraintKind) -> Option<TableConstraintKind> {
    let columns = vec![column.clone()];
    match kind {
        ColumnConstraintKind::Check(check) => Some(TableConstraintKind::Check(check.clone())),
        ColumnConstraintKind::Unique { nulls_distinct } => {
            Some(TableConstraintKind::Unique { columns, include: Vec::new(), nulls_distinct: *nulls_distinct })
        }
        ColumnConstraintKind::References(spec) => Some(TableConstraintKind::ForeignKey { columns, spec: spec.clone() }),
        _ => None,
    }
}

/// CREATE TABLE AS: the table, then the query's rows. Gives the command tag.
pub(super) async fn create_table_as(create: &CreateTableAs, ctx: &mut ExecContext<'_>) -> Result<String, SqlError> {
    let plan = Arc::new(plan_statement(&create.query, &ctx.catalog, ctx.plan_settings, &[])?);
    let mut rows: Vec<Vec<Datum>> = Vec::new();
    let mut memory = crate::exec::batch::MemoryUse::default();
    if create.with_data {
        let mut keep = |row: &[Datum]| {
            memory.row(row)?;
            rows.push(row.to_vec());
            Ok(Flow::Continue)
        };
        execute(&plan, Vec::new(), ctx, &mut keep).await?;
    }
    let wanted = NewTable::of_query(create);
    let mut ddl = Ddl::begin_temporary(ctx);
    if !create.temporary {
        ddl.lock_version().await?;
    }
    let Some(mut table) = ddl.new_table(&wanted).await? else { return Ok("CREATE TABLE AS".into()) };
    if create.columns.len() > plan.output.len() {
        return Err(SqlError::new(SqlState::SYNTAX_ERROR, "too many column names were specified"));
    }
    for (number, output) in plan.output.iter().enumerate() {
        let name = create.columns.get(number).map_or(&output.name, |c| &c.value);
        if table.column_position(name).is_some() {
            return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, format!("column \"{name}\" specified more than once")));
        }
        let ty: ColumnType = if output.ty.ty == DataType::UNKNOWN { DataType::TEXT.into() } else { output.ty };
        let mut column = Column::new(number as u32 + 1, name.clone(), ty);
        column.declared = ddl.declared_of(output.table, output.attnum);
        table.columns.push(column);
    }
    ddl.hidden_key(&mut table).await?;
    ddl.put(table.clone());
    ddl.finish().await?;
    let table = Arc::new(table);
    let mut writer = TableWriter::new(&table, ctx)?;
    let mut load = BulkLoad::of_table(&table, ctx);
    let count = rows.len();
    for portion in rows.chunks_mut(WRITE_ROWS) {
        let ids = sequence::row_ids(ctx, table.primary.index_id, portion.len()).await?;
        for (number, (row, id)) in portion.iter_mut().zip(ids).enumerate() {
            row.push(Datum::Int8(id));
            writer.insert(row, number, &ctx.eval())?;
        }
        match &mut load {
            Some(load) => {
                writer.hand_to(load);
                load.make_room(ctx).await?;
            }
            None => drop(writer.flush_in(ctx).await?),
        }
    }
    if let Some(mut load) = load {
        load.finish(ctx).await?;
    }
    Ok(if create.with_data { format!("SELECT {count}") } else { "CREATE TABLE AS".into() })
}
