//! Columns as written, into descriptors.

use super::Ddl;
use super::sequence::new_definition;
use crate::ast::{ColumnConstraintKind, ColumnDef, ObjectName, StoredExpr, TypeName};
use crate::bind::{DeclaredType, bind_row_expression, bind_scalar, declared_type_in};
use crate::catalog::{Column, Identity, Oid, TableDescriptor};
use crate::error::{SqlError, SqlState};
use crate::types::coercion::CastContext;
use crate::types::{ColumnType, DataType, Datum};

/// PostgreSQL's limit for columns of a table.
pub(super) const COLUMNS_MAX: usize = 1600;

/// Names and types of a relation's visible columns, as COPY and the protocol want them.
pub fn relation_columns(table: &TableDescriptor) -> Vec<(String, ColumnType)> {
    table.visible_columns().map(|(_, c)| (c.name.clone(), c.ty)).collect()
}

/// 42703.
pub(super) fn no_such_column(column: &str, table: &str, pos: usize) -> SqlError {
    SqlError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{column}\" of relation \"{table}\" does not exist")).at(pos)
}

/// The integer type behind `serial` and its like.
fn serial_type(ty: &TypeName) -> Option<DataType> {
    if ty.schema.is_some() || ty.array_dims > 0 {
        return None;
    }
    match ty.name.as_str() {
        "smallserial" | "serial2" => Some(DataType::INT2),
        "serial" | "serial4" => Some(DataType::INT4),
        "bigserial" | "serial8" => Some(DataType::INT8),
        _ => None,
    }
}

impl Ddl<'_, '_> {
    /// The next column of a table; its NOT NULL, DEFAULT, identity and generation are in it, other constraints are the caller's.
    pub(super) async fn new_column(&mut self, table: &TableDescriptor, definition: &ColumnDef) -> Result<Column, SqlError> {
        let name = &definition.name;
        if table.column_position(&name.value).is_some() {
            let message = format!("column \"{}\" specified more than once", name.value);
            return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, message).at(name.pos));
        }
        if is_system_name(&name.value) {
            let message = format!("column name \"{}\" conflicts with a system column name", name.value);
            return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, message));
        }
        if table.columns.len() >= COLUMNS_MAX {
            return Err(SqlError::new(SqlState::TOO_MANY_COLUMNS, format!("tables can have at most {COLUMNS_MAX} columns")));
        }
        if let Some(collation) =
            definition.collation.as_ref().filter(|c| !matches!(c.name.as_str(), "C" | "POSIX" | "default" | "ucs_basic"))
        {
            return Err(SqlError::unsupported(format!("collation \"{}\"", collation.name)));
        }
        let serial = serial_type(&definition.ty);
        let ty = match serial {
            Some(ty) => DeclaredType { ty: ty.into(), declared: None },
            None => declared_type_in(&definition.ty, self.catalog(), &self.ctx.plan_settings.search_path)?,
        };
        let DeclaredType { ty, declared } = ty;
        if matches!(crate::types::info(ty.ty).category, b'P') {
            return Err(SqlError::new(SqlState::INVALID_TABLE_DEFINITION, format!("column \"{}\" has pseudo-type {}", name.value, ty.ty)));
        }
        let mut column = Column::new(table.columns.len() as u32 + 1, name.value.clone(), ty);
        column.declared = declared;
        if serial.is_some() {
            let (oid, _) = self.owned_sequence(table, &column, &[]).await?;
            column.nullable = false;
            column.default = Some(format!("nextval('{oid}'::regclass)"));
        }
        for constraint in &definition.constraints {
            match &constraint.kind {
                ColumnConstraintKind::NotNull => column.nullable = false,
                ColumnConstraintKind::Null if !column.nullable => {
                    let message =
                        format!("conflicting NULL/NOT NULL declarations for column \"{}\" of table \"{}\"", column.name, table.name);
                    return Err(SqlError::new(SqlState::SYNTAX_ERROR, message));
                }
                ColumnConstraintKind::Default(default) => {
                    if column.default.is_some() {
                        let message =
                            format!("multiple default values specified for column \"{}\" of table \"{}\"", column.name, table.name);
                        return Err(SqlError::new(SqlState::SYNTAX_ERROR, message));
                    }
                    column.default = self.default_text(default, ty)?;
                }
                ColumnConstraintKind::Identity { always, options } => {
                    if !matches!(ty.ty, DataType::INT2 | DataType::INT4 | DataType::INT8) {
                        return Err(SqlError::new(
                            SqlState::INVALID_PARAMETER_VALUE,
                            "identity column type must be smallint, integer, or bigint",
                        ));
                    }
                    let (sequence_oid, _) = self.owned_sequence(table, &column, options).await?;
                    column.nullable = false;
                    column.identity = Some(Identity { always: *always, sequence_oid });
                }
                ColumnConstraintKind::Generated(generated) => column.generated = Some(generated.text.clone()),
                _ => {}
            }
        }
        Ok(column)
    }

    /// A default's text, once it has been seen to make sense; `DEFAULT NULL` is none.
    pub(super) fn default_text(&self, default: &StoredExpr, ty: ColumnType) -> Result<Option<String>, SqlError> {
        bind_scalar(&default.expr, ty, CastContext::Assignment, &self.snapshot(), self.ctx.plan_settings)?;
        use crate::ast::{Expr, Literal};
        Ok(match &default.expr {
            Expr::Literal(Literal::Null, _) => None,
            // The column's type becomes the literal's, as PostgreSQL shows it.
            Expr::Literal(Literal::String(text), _) if ty.ty.0 < crate::catalog::FIRST_USER_OID => {
                Some(self.typed_literal(text, ColumnType { ty: ty.ty, typmod: -1 })?)
            }
            _ => Some(default.text.clone()),
        })
    }

    fn typed_literal(&self, text: &str, ty: ColumnType) -> Result<String, SqlError> {
        let value = crate::types::text::parse(text, ty, &self.ctx.text())?;
        let shown = crate::types::text::to_string(&value, ty.ty, &self.ctx.text());
        Ok(match ty.ty {
            DataType::BOOL => matches!(value, Datum::Bool(true)).to_string(),
            _ => format!("'{}'::{ty}", shown.replace('\'', "''")),
        })
    }

    /// Checks the expressions of generated columns, when all columns are known.
    pub(super) fn check_generated(&self, table: &TableDescriptor) -> Result<(), SqlError> {
        for column in &table.columns {
            let Some(text) = column.generated.as_ref().filter(|_| !column.dropped) else { continue };
            let bound = bind_row_expression(text, table, Some(column.ty), &self.snapshot(), self.ctx.plan_settings)?;
            if bound.volatility() != crate::functions::Volatility::Immutable {
                return Err(SqlError::new(SqlState::INVALID_OBJECT_DEFINITION, "generation expression is not immutable"));
            }
            let mut refers = false;
            bound.walk(&mut |e| {
                if let crate::expr::Expr::Column(p, _) = e {
                    refers |= table.columns.get(*p).is_some_and(|c| c.generated.is_some());
                }
            });
            if refers {
                return Err(SqlError::new(
                    SqlState::INVALID_OBJECT_DEFINITION,
                    "cannot use generated column in column generation expression",
                ));
            }
        }
        Ok(())
    }

    /// A sequence that belongs to a column.
    pub(super) async fn owned_sequence(
        &mut self,
        table: &TableDescriptor,
        column: &Column,
        options: &[crate::ast::SequenceOption],
    ) -> Result<(Oid, ObjectName), SqlError> {
        let base = shortened(&[&table.name, &column.name], "seq");
        let name = self.free_name(&table.schema, &base, &[]);
        let mut definition = new_definition(Some(column.ty.ty), options, self.new_index_id().await?)?;
        definition.owned_by = Some((table.oid, column.attnum as usize - 1));
        let oid = self.new_oid().await?;
        let schema = ObjectName { schema: Some(table.schema.clone()), ..ObjectName::bare(name.clone()) };
        self.put_sequence(oid, table.schema_oid, &table.schema, &name, definition);
        Ok((oid, schema))
    }
}

/// Names of columns that every PostgreSQL table has.
fn is_system_name(name: &str) -> bool {
    matches!(name, "ctid" | "xmin" | "xmax" | "cmin" | "cmax" | "tableoid")
}

/// `a_b_suffix`, the parts shortened evenly so that the whole has at most 63 bytes, as PostgreSQL does it.
pub(super) fn shortened(parts: &[&str], suffix: &str) -> String {
    const NAME_BYTES_MAX: usize = 63;
    let mut lengths: Vec<usize> = parts.iter().map(|p| p.len()).collect();
    let fixed = suffix.len() + parts.len();
    while lengths.iter().sum::<usize>() + fixed > NAME_BYTES_MAX {
        let Some(longest) = lengths.iter_mut().max() else { break };
        *longest -= 1;
    }
    let cut = |(part, length): (&&str, &usize)| {
        let mut end = *length;
        while !part.is_char_boundary(end) {
            end -= 1;
        }
        part[..end].to_owned()
    };
    let mut name: Vec<String> = parts.iter().zip(&lengths).map(cut).collect();
    name.push(suffix.to_owned());
    name.join("_")
}
