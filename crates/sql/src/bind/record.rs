//! Row values in expressions: what their fields are, `(row).field`, `(row).*`, and functions whose result has the shape of an argument.

use super::{Binder, Clause};
use crate::ast::{self, FunctionCall, Literal, TableAlias};
use crate::error::{SqlError, SqlState};
use crate::expr::Expr;
use crate::functions::json::populate;
use crate::functions::{ResolvedSetFunction, system};
use crate::plan::{TableFunction, TableFunctionCall};
use crate::types::{DataType, Datum, Shape};
use std::sync::Arc;

impl Binder<'_> {
    /// The fields of a row value, where they are known.
    pub(super) fn shape_of(&self, expr: &Expr) -> Option<Arc<Shape>> {
        match expr {
            Expr::Row { shape, .. } => Some(shape.clone()),
            Expr::Const(Datum::Record(record), _) => record.shape.clone(),
            Expr::Column(id, _) | Expr::Outer { index: id, .. } => self.shapes.get(id).cloned(),
            Expr::UserCall { function, .. } => function.shape.clone(),
            Expr::Param(at, _) => self.function.as_ref().and_then(|function| function.shape(*at)),
            Expr::Subquery(number, _) => {
                let column = self.subqueries.get(*number)?.columns.first()?;
                self.shapes.get(column).cloned()
            }
            Expr::Coalesce(list, _) => list.iter().find_map(|e| self.shape_of(e)),
            Expr::Case { whens, otherwise, .. } => {
                whens.iter().map(|(_, then)| then).chain(otherwise.as_deref()).find_map(|e| self.shape_of(e))
            }
            _ => None,
        }
    }

    /// `(row).field`; `None` when it is no row.
    pub(super) fn field_of(&mut self, expr: &ast::Expr, field: &ast::Ident) -> Result<Option<Expr>, SqlError> {
        let row = match expr {
            ast::Expr::Column(parts) => match self.column(parts) {
                Ok(row) if row.ty().ty == DataType::RECORD => row,
                _ => return Ok(None),
            },
            _ => self.expr(expr)?,
        };
        if row.ty().ty != DataType::RECORD {
            let message = format!("column notation .{} applied to type {}, which is not a composite type", field.value, row.ty().ty);
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message).at(expr.pos()));
        }
        let shape = self.shape_of(&row);
        let Some(at) = shape.as_ref().and_then(|shape| shape.position(&field.value)) else {
            let message = match &shape {
                Some(_) => format!("column \"{}\" not found in data type record", field.value),
                None => format!("could not identify column \"{}\" in record data type", field.value),
            };
            return Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message).at(field.pos));
        };
        Ok(shape.map(|shape| field_at(row, at, &shape)))
    }

    /// The columns of `(row).*`.
    pub(super) fn row_star(&mut self, expr: &ast::Expr) -> Result<Vec<(String, Expr)>, SqlError> {
        let row = self.expr(expr)?;
        let Some(shape) = self.shape_of(&row) else {
            if row.ty().ty != DataType::RECORD {
                let message = format!("type {} is not composite", row.ty().ty);
                return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message).at(expr.pos()));
            }
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "record type has not been registered").at(expr.pos()));
        };
        let names = shape.fields.iter().enumerate();
        Ok(names.map(|(at, (name, _))| (name.clone(), field_at(row.clone(), at, &shape))).collect())
    }

    /// `json_populate_record` and its relatives as a row source, with the names of its columns.
    pub(super) fn populate(
        &mut self,
        call: &FunctionCall,
        kind: populate::Kind,
        alias: Option<&TableAlias>,
    ) -> Result<(TableFunction, Vec<String>), SqlError> {
        let pos = call.name.pos;
        let defined = alias.map(|alias| self.defined_shape(alias)).transpose()?.flatten();
        let (base, source) = match (kind.defined, call.args.as_slice()) {
            (true, [source]) => (None, source),
            (false, [base, source]) => (Some(base), source),
            _ => return Err(self.no_function(call)),
        };
        let base = match (base, defined) {
            (Some(base), None) => self.base_row(&base.value)?,
            (_, Some(shape)) => null_row(shape),
            (None, None) => return Err(needs_definition(pos)),
        };
        let shape = self.shape_of(&base).ok_or_else(|| {
            let message = format!("could not determine row type for result of {}", call.name.name);
            SqlError::new(SqlState::INDETERMINATE_DATATYPE, message)
                .hint("Provide a non-null record argument, or call the function in the FROM clause using a column definition list.")
                .at(pos)
        })?;
        let wanted = if kind.binary { DataType::JSONB } else { DataType::JSON };
        let value = self.expr(&source.value)?;
        if !matches!(value.ty().ty, DataType::UNKNOWN) && value.ty().ty != wanted {
            return Err(self.no_function(call));
        }
        let value = self.coerce(value, wanted, pos)?;
        let function =
            ResolvedSetFunction { func: populate::function(kind), arg_types: vec![DataType::RECORD, wanted], result: DataType::RECORD };
        let in_targets = self.select.clause != Clause::From;
        let types = if in_targets { vec![DataType::RECORD.into()] } else { shape.fields.iter().map(|(_, ty)| *ty).collect() };
        let names = shape.fields.iter().map(|(name, _)| name.clone()).collect();
        Ok((TableFunction { call: TableFunctionCall::Set { function, args: vec![base, value] }, types }, names))
    }

    /// The shape of a column definition list, `AS t (a int, b text)`.
    pub(super) fn defined_shape(&self, alias: &TableAlias) -> Result<Option<Shape>, SqlError> {
        if alias.columns.iter().all(|(_, ty)| ty.is_none()) {
            return Ok(None);
        }
        let mut fields = Vec::with_capacity(alias.columns.len());
        for (name, ty) in &alias.columns {
            let Some(ty) = ty else { return Err(needs_definition(name.pos)) };
            fields.push((name.value.clone(), self.named_type(ty)?));
        }
        Ok(Some(Shape { fields }))
    }

    /// The row whose shape is wanted: `NULL::some_table` stands for a row of NULLs.
    fn base_row(&mut self, base: &ast::Expr) -> Result<Expr, SqlError> {
        if let ast::Expr::Cast { expr, ty, .. } = base
            && matches!(**expr, ast::Expr::Literal(Literal::Null, _))
            && self.named_type(ty).is_err()
        {
            let name = ast::ObjectName { catalog: None, schema: ty.schema.clone(), name: ty.name.clone(), pos: ty.pos };
            let found = self.relation(&name).map_err(|_| self.named_type(ty).err().unwrap_or_else(|| needs_definition(ty.pos)))?;
            let table = found.descriptor().clone();
            self.relations.push(table.oid);
            let fields = table.visible_columns().map(|(_, column)| (column.name.clone(), column.ty)).collect();
            return Ok(null_row(Shape { fields }));
        }
        let bound = self.expr(base)?;
        if !matches!(bound.ty().ty, DataType::RECORD | DataType::UNKNOWN) {
            let message = "first argument of json_populate_record must be a row type";
            return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message).at(base.pos()));
        }
        Ok(bound)
    }
}

fn needs_definition(pos: usize) -> SqlError {
    SqlError::new(SqlState::SYNTAX_ERROR, "a column definition list is required for functions returning \"record\"").at(pos)
}

fn null_row(shape: Shape) -> Expr {
    let fields = shape.fields.iter().map(|(_, ty)| Expr::Const(Datum::Null, *ty)).collect();
    Expr::Row { fields, shape: Arc::new(shape), nullable: false }
}

/// A field of a row; of one that is written out, the expression itself.
pub(super) fn field_at(row: Expr, at: usize, shape: &Shape) -> Expr {
    let ty = shape.fields.get(at).map_or(DataType::TEXT.into(), |(_, ty)| *ty);
    match row {
        Expr::Row { mut fields, nullable: false, .. } if at < fields.len() => fields.swap_remove(at),
        row => {
            let at = Expr::Const(Datum::Int4(at as i32), DataType::INT4.into());
            Expr::Call { func: &system::FIELD_OF_ROW, args: vec![row, at], ty }
        }
    }
}
