//! ALTER TABLE, and what ALTER VIEW, INDEX and SEQUENCE share with it.
//!
//! A change that gives every row a new image (a type, a primary key, a computed default) writes the table anew under fresh index ids, in this
//! transaction; the old data is given up after the commit. A constant default is not written at all: rows older than the column read it from the descriptor.

use super::Ddl;
use super::carried_views::Renaming;
use super::columns::no_such_column;
use super::constraint::{Existing, column_or_error};
use super::create_table::as_table_constraint;
use super::dependents::Object;
use super::expression_index::rename_in_expressions;
use super::rewrite::Filler;
use crate::ast::{
    AlterTable, AlterTableAction, ColumnConstraintKind, ColumnDef, Expr as AstExpr, Ident, ObjectKind, StoredExpr, TableConstraint,
    TableConstraintKind, TypeName,
};
use crate::bind::{DeclaredType, bind_row_expression, bind_scalar, declared_type_in, domain_checks};
use crate::catalog::{Column, ForeignKey, Identity, Oid, RelationKind, TEMPORARY_ALIAS, TEMPORARY_PREFIX, TableDescriptor};
use crate::error::{SqlError, SqlState};
use crate::exec::table_keys;
use crate::exec::table_keys::{index_id, key_of_values};
use crate::expr::{Expr, eval};
use crate::functions::quoting::quote_ident;
use crate::functions::{Volatility, Waits};
use crate::types::coercion::CastContext;
use crate::types::{Datum, FormatSettings, TextContext, text};
use tidelock_base::Span;

impl Ddl<'_, '_> {
    pub(super) async fn alter_table(&mut self, alter: &AlterTable) -> Result<(), SqlError> {
        if alter.kind == ObjectKind::Index {
            for action in &alter.actions {
                match action {
                    AlterTableAction::RenameTo(name) => self.rename_index(&alter.name, alter.if_exists, name)?,
                    AlterTableAction::SetStorageParameters(_) | AlterTableAction::ResetStorageParameters(_) => {}
                    _ => return Err(SqlError::unsupported("that form of ALTER INDEX")),
                }
            }
            return Ok(());
        }
        if alter.if_exists && self.lookup(&alter.name).is_none() {
            self.notice(format!("relation \"{}\" does not exist, skipping", alter.name.name));
            return Ok(());
        }
        let table = self.find(&alter.name)?;
        let expected = match alter.kind {
            ObjectKind::View => Some((RelationKind::View, "a view")),
            ObjectKind::Sequence => Some((RelationKind::Sequence, "a sequence")),
            _ => None,
        };
        if let Some((_, article)) = expected.filter(|(kind, _)| *kind != table.kind) {
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not {article}", table.name)));
        }
        for action in &alter.actions {
            self.alter_action(table.oid, action).await?;
        }
        Ok(())
    }

    async fn alter_action(&mut self, oid: Oid, action: &AlterTableAction) -> Result<(), SqlError> {
        let mut table = self.table(oid)?;
        let plain = matches!(action, AlterTableAction::RenameTo(_) | AlterTableAction::SetSchema(_) | AlterTableAction::OwnerTo(_));
        if table.kind != RelationKind::Table && !plain {
            let message = format!("ALTER action cannot be performed on relation \"{}\"", table.name);
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
        }
        match action {
            AlterTableAction::AddColumn { column, if_not_exists } => {
                let meanings = self.meanings(oid);
                self.add_column(table, column, *if_not_exists).await?;
                self.check_meanings(&meanings)
            }
            AlterTableAction::DropColumn { column, if_exists, cascade } => self.drop_column(table, column, *if_exists, *cascade).await,
            AlterTableAction::RenameColumn { column, name } => self.rename_column(table, column, name),
            AlterTableAction::RenameTo(name) => self.rename_relation(table, name),
            AlterTableAction::RenameConstraint { constraint, name } => self.rename_constraint(oid, constraint, name),
            AlterTableAction::SetSchema(schema) => self.set_schema(table, schema),
            AlterTableAction::OwnerTo(owner) => {
                table.owner = owner.clone();
                self.put(table);
                Ok(())
            }
            AlterTableAction::AddConstraint(constraint) => self.add_constraint(oid, constraint, Existing::Check).await,
            AlterTableAction::DropConstraint { constraint, if_exists, cascade } => {
                self.drop_constraint(oid, constraint, *if_exists, *cascade).await
            }
            AlterTableAction::ValidateConstraint(name) => self.validate_constraint(oid, name).await,
            AlterTableAction::AlterConstraint { constraint, timing } => {
                let missing = || {
                    SqlError::new(
                        SqlState::UNDEFINED_OBJECT,
                        format!("constraint \"{constraint}\" of relation \"{}\" does not exist", table.name),
                    )
                };
                if super::constraint::constraint_names(&table).any(|name| name == constraint)
                    && !table.foreign_keys.iter().any(|f| f.name == *constraint)
                {
                    let message = format!("constraint \"{constraint}\" of relation \"{}\" is not a foreign key constraint", table.name);
                    return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
                }
                let foreign_key = table.foreign_keys.iter().find(|f| f.name == *constraint).cloned().ok_or_else(missing)?;
                let deferrable = timing.deferrable || timing.initially_deferred;
                self.replace_foreign_key(&ForeignKey { deferrable, initially_deferred: timing.initially_deferred, ..foreign_key })
            }
            AlterTableAction::SetType { column, ty, using } => self.set_type(table, column, ty, using.as_ref()).await,
            AlterTableAction::SetDefault { column, default } => {
                let position = column_or_error(&table, column)?;
                table.columns[position].default = self.default_text(default, table.columns[position].ty)?;
                self.put(table);
                Ok(())
            }
            AlterTableAction::DropDefault { column } => {
                let position = column_or_error(&table, column)?;
                table.columns[position].default = None;
                self.put(table);
                Ok(())
            }
            AlterTableAction::SetNotNull { column } => self.set_not_null(table, column).await,
            AlterTableAction::DropNotNull { column } => {
                let position = column_or_error(&table, column)?;
                if table.primary.key.iter().any(|k| k.column == position) {
                    return Err(SqlError::new(
                        SqlState::INVALID_TABLE_DEFINITION,
                        format!("column \"{}\" is in a primary key", column.value),
                    ));
                }
                if table.columns[position].identity.is_some() {
                    let message = format!("column \"{}\" of relation \"{}\" is an identity column", column.value, table.name);
                    return Err(SqlError::new(SqlState::SYNTAX_ERROR, message));
                }
                table.columns[position].nullable = true;
                self.put(table);
                Ok(())
            }
            AlterTableAction::AddIdentity { column, always, options } => {
                let position = column_or_error(&table, column)?;
                if table.columns[position].nullable {
                    let message = format!(
                        "column \"{}\" of relation \"{}\" must be declared NOT NULL before identity can be added",
                        column.value, table.name
                    );
                    return Err(SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message));
                }
                let definition = table.columns[position].clone();
                let (sequence_oid, _) = self.owned_sequence(&table, &definition, options).await?;
                table.columns[position].identity = Some(Identity { always: *always, sequence_oid });
                self.put(table);
                Ok(())
            }
            AlterTableAction::AlterIdentity { column, always, options } => {
                let position = column_or_error(&table, column)?;
                let Some(identity) = &mut table.columns[position].identity else { return Err(not_identity(column, &table.name)) };
                identity.always = always.unwrap_or(identity.always);
                let sequence_oid = identity.sequence_oid;
                self.put(table);
                self.change_sequence(sequence_oid, options).await
            }
            AlterTableAction::DropIdentity { column, if_exists } => {
                let position = column_or_error(&table, column)?;
                match table.columns[position].identity.take() {
                    Some(identity) => {
                        self.put(table);
                        self.remove(identity.sequence_oid);
                        Ok(())
                    }
                    None if *if_exists => Ok(()),
                    None => Err(not_identity(column, &table.name)),
                }
            }
            AlterTableAction::DropExpression { column, if_exists } => {
                let position = column_or_error(&table, column)?;
                if table.columns[position].generated.take().is_none() && !if_exists {
                    let message = format!("column \"{}\" of relation \"{}\" is not a stored generated column", column.value, table.name);
                    return Err(SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message));
                }
                self.put(table);
                Ok(())
            }
            AlterTableAction::SetStatistics { column, .. } => column_or_error(&table, column).map(drop),
            AlterTableAction::SetStorageParameters(options) => {
                for (name, value) in options {
                    table.options.retain(|(n, _)| n != name);
                    table.options.push((name.clone(), value.clone()));
                }
                self.put(table);
                Ok(())
            }
            AlterTableAction::ResetStorageParameters(names) => {
                table.options.retain(|(n, _)| !names.contains(n));
                self.put(table);
                Ok(())
            }
            AlterTableAction::SplitAt(rows) => self.split_at(&table, rows).await,
        }
    }

    // ---- columns

    async fn add_column(&mut self, mut table: TableDescriptor, definition: &ColumnDef, if_not_exists: bool) -> Result<(), SqlError> {
        if table.column_position(&definition.name.value).is_some() {
            let message = format!("column \"{}\" of relation \"{}\" already exists", definition.name.value, table.name);
            if if_not_exists {
                self.skipped(SqlState::DUPLICATE_COLUMN, message);
                return Ok(());
            }
            return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, message));
        }
        let oid = table.oid;
        let old = table.clone();
        let column = self.new_column(&table, definition).await?;
        let position = table.columns.len();
        table.columns.push(column.clone());
        self.check_generated(&table)?;
        let filler = self.filler(&table, &column)?;
        match filler {
            // What a domain allows is of no interest to a table without rows.
            Some(Filler::Computed(Expr::Checked { .. })) if self.has_no_rows(&table).await? => self.put(table),
            Some(Filler::Computed(value)) if value.volatility() != Volatility::Volatile && column.generated.is_none() => {
                let value = eval(&value, &[], &self.ctx.eval())?;
                if value.is_null() && !column.nullable {
                    self.refuse_rows(&table, &column).await?;
                }
                let settings = FormatSettings::default();
                let form = |value: &Datum| text::to_string(value, column.ty.ty, &TextContext::new(&settings));
                table.columns[position].missing_value = (!value.is_null()).then(|| form(&value));
                self.put(table);
            }
            Some(filler) => {
                self.put(table.clone());
                self.rewrite(&old, table, &[(position, filler)]).await?;
            }
            None => {
                if !column.nullable {
                    self.refuse_rows(&table, &column).await?;
                }
                self.put(table);
            }
        }
        for constraint in &definition.constraints {
            if matches!(constraint.kind, ColumnConstraintKind::PrimaryKey) {
                let table = self.table(oid)?;
                if table.declared_key().is_some() {
                    let message = format!("multiple primary keys for table \"{}\" are not allowed", table.name);
                    return Err(SqlError::new(SqlState::INVALID_TABLE_DEFINITION, message));
                }
                if constraint.timing.deferrable {
                    let kind = TableConstraintKind::PrimaryKey { columns: vec![definition.name.clone()], include: Vec::new() };
                    let (name, timing) = (constraint.name.clone(), constraint.timing);
                    let added = TableConstraint { name, kind, timing, not_valid: false, no_inherit: false, pos: 0 };
                    self.add_constraint(oid, &added, Existing::Check).await?;
                } else {
                    self.change_primary_key(table, constraint.name.clone(), std::slice::from_ref(&definition.name.value)).await?;
                }
            }
            if let Some(kind) = as_table_constraint(&definition.name, &constraint.kind) {
                let constraint = TableConstraint {
                    name: constraint.name.clone(),
                    kind,
                    timing: constraint.timing,
                    not_valid: false,
                    no_inherit: false,
                    pos: 0,
                };
                self.add_constraint(oid, &constraint, Existing::Check).await?;
            }
        }
        Ok(())
    }

    /// What existing rows get in a new column.
    fn filler(&self, table: &TableDescriptor, column: &Column) -> Result<Option<Filler>, SqlError> {
        if let Some(identity) = &column.identity {
            return Ok(Some(Filler::Sequence(identity.sequence_oid)));
        }
        if let Some(generated) = &column.generated {
            let value = bind_row_expression(generated, table, Some(column.ty), &self.snapshot(), self.ctx.plan_settings)?;
            return Ok(Some(Filler::Computed(value)));
        }
        let snapshot = self.snapshot();
        let checks = column.declared.map(|oid| domain_checks(oid, &snapshot, self.ctx.plan_settings)).transpose()?.flatten();
        let value = match snapshot.default_of(column) {
            None if checks.is_none() => return Ok(None),
            None => Expr::Const(Datum::Null, column.ty),
            Some(default) => {
                let parsed = crate::parse::parse_expression(default)?;
                bind_scalar(&parsed, column.ty, CastContext::Assignment, &snapshot, self.ctx.plan_settings)?
            }
        };
        let value = match checks {
            Some(domain) => Expr::Checked { expr: Box::new(value), domain },
            None => value,
        };
        let mut sequence = None;
        let mut waits = false;
        value.walk(&mut |e| {
            if let Expr::Call { func, args, .. } = e {
                waits |= func.waits.is_some();
                if func.waits == Some(Waits::Sequence) && func.name == "nextval" {
                    sequence = args.first().and_then(|arg| eval(arg, &[], &self.ctx.eval()).ok());
                }
            }
        });
        match sequence {
            Some(Datum::Oid(oid)) => Ok(Some(Filler::Sequence(oid))),
            _ if waits => Err(SqlError::unsupported("adding a column with that default")),
            _ => Ok(Some(Filler::Computed(value))),
        }
    }

    /// A NOT NULL column without a value for rows that exist.
    async fn refuse_rows(&mut self, table: &TableDescriptor, column: &Column) -> Result<(), SqlError> {
        if self.has_no_rows(table).await? { Ok(()) } else { Err(contains_nulls(table, &column.name)) }
    }

    async fn has_no_rows(&mut self, table: &TableDescriptor) -> Result<bool, SqlError> {
        self.validate_reads();
        let mut rest = Some(Span::index(index_id(&table.primary)));
        while let Some(rows) = self.stored_page(&mut rest).await? {
            if !rows.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn set_not_null(&mut self, mut table: TableDescriptor, column: &Ident) -> Result<(), SqlError> {
        let position = column_or_error(&table, column)?;
        if !table.columns[position].nullable {
            return Ok(());
        }
        self.refuse_nulls(&table, position).await?;
        table.columns[position].nullable = false;
        self.put(table);
        Ok(())
    }

    /// No row may have a NULL there.
    pub(super) async fn refuse_nulls(&mut self, table: &TableDescriptor, position: usize) -> Result<(), SqlError> {
        self.validate_reads();
        let mut rest = Some(Span::index(index_id(&table.primary)));
        while let Some(rows) = self.page(table, &mut rest).await? {
            if rows.iter().any(|(_, row)| row.get(position).is_none_or(Datum::is_null)) {
                return Err(contains_nulls(table, &table.columns[position].name));
            }
        }
        Ok(())
    }

    pub(super) async fn drop_column(
        &mut self,
        table: TableDescriptor,
        column: &Ident,
        if_exists: bool,
        cascade: bool,
    ) -> Result<(), SqlError> {
        let Some(position) = table.column_position(&column.value) else {
            if if_exists {
                self.notice(format!("column \"{}\" of relation \"{}\" does not exist, skipping", column.value, table.name));
                return Ok(());
            }
            return Err(no_such_column(&column.value, &table.name, column.pos));
        };
        let oid = table.oid;
        self.drop_dependents(Object::Column(oid, position as u32 + 1), cascade)?;
        let table = self.table(oid)?;
        if table.has_primary_key() && table.primary.key.iter().any(|k| k.column == position) {
            self.replace_by_hidden_key(table).await?;
        }
        self.remove_column_itself(oid, position)
    }

    fn rename_column(&mut self, mut table: TableDescriptor, column: &Ident, name: &Ident) -> Result<(), SqlError> {
        let position = column_or_error(&table, column)?;
        if table.column_position(&name.value).is_some() {
            let message = format!("column \"{}\" of relation \"{}\" already exists", name.value, table.name);
            return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, message));
        }
        let (from, to) = (&column.value, &name.value);
        table.checks.iter_mut().for_each(|c| c.expr = renamed(&c.expr, from, to));
        table.columns.iter_mut().filter(|c| !c.hidden).for_each(|c| c.generated = c.generated.as_ref().map(|g| renamed(g, from, to)));
        table.indexes.iter_mut().for_each(|i| i.predicate = i.predicate.as_ref().map(|p| renamed(p, from, to)));
        rename_in_expressions(&mut table, from, to);
        table.columns[position].name = to.clone();
        let attnum = table.columns[position].attnum;
        self.put_renamed(table, &Renaming::Column { attnum, from, to })
    }

    fn rename_relation(&mut self, mut table: TableDescriptor, name: &str) -> Result<(), SqlError> {
        if self.is_taken(&table.schema, name) {
            return Err(SqlError::new(SqlState::DUPLICATE_TABLE, format!("relation \"{name}\" already exists")));
        }
        let from = std::mem::replace(&mut table.name, name.to_owned());
        let schema = table.schema.clone();
        self.put_renamed(table, &Renaming::Relation { from: &from, schema: &schema, to: name })
    }

    fn set_schema(&mut self, mut table: TableDescriptor, schema: &str) -> Result<(), SqlError> {
        if table.temporary || schema.starts_with(TEMPORARY_PREFIX) || schema == TEMPORARY_ALIAS {
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "cannot move objects into or out of temporary schemas"));
        }
        let found = self.catalog().schema(schema).cloned();
        let found = found.ok_or_else(|| SqlError::new(SqlState::INVALID_SCHEMA_NAME, format!("schema \"{schema}\" does not exist")))?;
        if self.is_taken(schema, &table.name) {
            return Err(SqlError::new(
                SqlState::DUPLICATE_TABLE,
                format!("relation \"{}\" already exists in schema \"{schema}\"", table.name),
            ));
        }
        for mut sequence in self.owned_sequences(&table, None) {
            (sequence.schema_oid, sequence.schema) = (found.oid, found.name.clone());
            self.put(sequence);
        }
        (table.schema_oid, table.schema) = (found.oid, found.name.clone());
        let name = table.name.clone();
        self.put_renamed(table, &Renaming::Relation { from: &name, schema: &found.name, to: &name })
    }

    async fn set_type(
        &mut self,
        table: TableDescriptor,
        column: &Ident,
        ty: &TypeName,
        using: Option<&StoredExpr>,
    ) -> Result<(), SqlError> {
        let position = column_or_error(&table, column)?;
        let DeclaredType { ty, declared } = declared_type_in(ty, self.catalog(), &self.ctx.plan_settings.search_path)?;
        if table.columns.iter().any(|c| c.is_expression() && mentions(c.generated.as_deref(), &column.value)) {
            return Err(SqlError::unsupported("altering the type of a column that an index expression uses"));
        }
        if self.is_used_by_function(table.oid) {
            return Err(SqlError::unsupported("altering the type of a column of a table that a function's body refers to"));
        }
        if !self.views_on(&[table.oid]).is_empty() {
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "cannot alter type of a column used by a view or rule"));
        }
        let source = using.map_or_else(|| quoted(&column.value), |u| u.text.clone());
        let cannot = || {
            let message = format!("column \"{}\" cannot be cast automatically to type {ty}", column.value);
            SqlError::new(SqlState::DATATYPE_MISMATCH, message).hint(format!("You might need to specify \"USING {}::{ty}\".", column.value))
        };
        let value = bind_row_expression(&source, &table, Some(ty), &self.snapshot(), self.ctx.plan_settings);
        let value = value.map_err(|e| if using.is_none() && e.state() == SqlState::DATATYPE_MISMATCH { cannot() } else { e })?;
        let value = match declared.map(|oid| domain_checks(oid, &self.snapshot(), self.ctx.plan_settings)).transpose()?.flatten() {
            Some(domain) => Expr::Checked { expr: Box::new(value), domain },
            None => value,
        };
        let mut new = table.clone();
        (new.columns[position].ty, new.columns[position].declared) = (ty, declared);
        new.columns[position].missing_value = None;
        if let Some(default) = &new.columns[position].default {
            let parsed = crate::parse::parse_expression(default)?;
            bind_scalar(&parsed, ty, CastContext::Assignment, &self.snapshot(), self.ctx.plan_settings).map_err(|_| {
                SqlError::new(
                    SqlState::DATATYPE_MISMATCH,
                    format!("default for column \"{}\" cannot be cast automatically to type {ty}", column.value),
                )
            })?;
        }
        self.put(new.clone());
        let oid = table.oid;
        self.rewrite(&table, new, &[(position, Filler::Computed(value))]).await?;
        let new = self.table(oid)?;
        for foreign_key in new.foreign_keys.iter().filter(|f| f.child_columns.contains(&position)).cloned().collect::<Vec<_>>() {
            self.check_references(oid, &foreign_key).await?;
        }
        Ok(())
    }

    // ---- ranges

    async fn split_at(&mut self, table: &TableDescriptor, rows: &[Vec<AstExpr>]) -> Result<(), SqlError> {
        for row in rows {
            if row.is_empty() || row.len() > table.primary.key.len() || !table.has_primary_key() {
                return Err(SqlError::new(
                    SqlState::INVALID_PARAMETER_VALUE,
                    "SPLIT AT wants values of the first columns of the primary key",
                ));
            }
            let mut values = Vec::with_capacity(row.len());
            for (expr, key) in row.iter().zip(&table.primary.key) {
                let bound =
                    bind_scalar(expr, table.columns[key.column].ty, CastContext::Assignment, &self.snapshot(), self.ctx.plan_settings)?;
                values.push(eval(&bound, &[], &self.ctx.eval())?);
            }
            let key = key_of_values(table, &table.primary, &values)?;
            debug_assert_eq!(key.index(), table_keys::index_id(&table.primary));
            self.ctx.db.split(key).await.map_err(|e| self.ctx.kv(e))?;
        }
        Ok(())
    }
}

fn not_identity(column: &Ident, table: &str) -> SqlError {
    let message = format!("column \"{}\" of relation \"{table}\" is not an identity column", column.value);
    SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
}

pub(super) fn contains_nulls(table: &TableDescriptor, column: &str) -> SqlError {
    let message = format!("column \"{column}\" of relation \"{}\" contains null values", table.name);
    let mut error = SqlError::new(SqlState::NOT_NULL_VIOLATION, message);
    let fields = error.fields_mut();
    (fields.schema, fields.table, fields.column) = (Some(table.schema.clone()), Some(table.name.clone()), Some(column.to_owned()));
    error
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Stored text cut into identifiers and the rest; strings and numbers are never identifiers.
fn pieces(text: &str) -> Vec<(bool, &str)> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '\'' => rest[1..].find('\'').map_or(rest.len(), |at| at + 2),
            '"' => rest[1..].find('"').map_or(rest.len(), |at| at + 2),
            c if c.is_alphanumeric() || c == '_' => rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (piece, after) = rest.split_at(end);
        pieces.push((first == '"' || first.is_alphabetic() || first == '_', piece));
        rest = after;
    }
    pieces
}

fn is_name(piece: &str, name: &str) -> bool {
    match piece.strip_prefix('"') {
        Some(inner) => inner.strip_suffix('"').unwrap_or(inner).replace("\"\"", "\"") == name,
        None => piece.to_lowercase() == name,
    }
}

/// Whether stored text mentions an identifier of that name.
fn mentions(text: Option<&str>, name: &str) -> bool {
    text.is_some_and(|text| pieces(text).iter().any(|(identifier, piece)| *identifier && is_name(piece, name)))
}

/// A domain's condition as PostgreSQL shows it: VALUE in capitals.
pub(super) fn with_value(text: &str) -> String {
    let piece = |(identifier, piece): (bool, &str)| {
        let is_value = identifier && !piece.starts_with('"') && is_name(piece, "value");
        if is_value { "VALUE".to_owned() } else { piece.to_owned() }
    };
    pieces(text).into_iter().map(piece).collect()
}

/// Stored text with one identifier exchanged for another.
pub(super) fn renamed(text: &str, from: &str, to: &str) -> String {
    let piece =
        |(identifier, piece): (bool, &str)| if identifier && is_name(piece, from) { quote_ident(to).to_string() } else { piece.to_owned() };
    pieces(text).into_iter().map(piece).collect()
}
