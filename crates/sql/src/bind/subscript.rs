//! Subscripts: elements and slices of arrays, members of `jsonb`.

use super::Binder;
use crate::ast::{self, Subscript};
use crate::error::{SqlError, SqlState};
use crate::expr::Expr;
use crate::functions::{ARRAY_SLICE, ASSIGN_ELEMENT, ASSIGN_MEMBER, ASSIGN_SLICE, JSONB_SUBSCRIPT, NAME_SUBSCRIPT};
use crate::types::coercion::{CastContext, can_cast};
use crate::types::{ColumnType, DataType, Datum, element_of};

impl Binder<'_> {
    pub(super) fn subscript(&mut self, expr: &ast::Expr, subscripts: &[Subscript], pos: usize) -> Result<Expr, SqlError> {
        let value = self.expr(expr)?;
        let ty = value.ty();
        if ty.ty == DataType::JSONB {
            return self.jsonb_subscript(value, subscripts, pos);
        }
        if let (DataType::NAME, [Subscript::Index(index)]) = (ty.ty, subscripts) {
            let args = vec![value, self.array_index(index)?];
            return Ok(super::coerce::folded(Expr::Call { func: &NAME_SUBSCRIPT, args, ty: DataType::CHAR.into() }));
        }
        let Some(element) = element_of(ty.ty) else {
            let message = format!("cannot subscript type {} because it does not support subscripting", ty.ty);
            return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message).at(pos));
        };
        if subscripts.iter().any(|s| matches!(s, Subscript::Slice { .. })) {
            return self.slice(value, subscripts);
        }
        let mut indexes = Vec::with_capacity(subscripts.len());
        for subscript in subscripts {
            if let Subscript::Index(index) = subscript {
                indexes.push(self.array_index(index)?);
            }
        }
        Ok(Expr::Subscript { array: Box::new(value), indexes, ty: ColumnType { ty: element, typmod: ty.typmod } })
    }

    fn array_index(&mut self, index: &ast::Expr) -> Result<Expr, SqlError> {
        let value = self.expr(index)?;
        if !can_cast(value.ty().ty, DataType::INT4, CastContext::Assignment) {
            return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, "array subscript must have type integer").at(index.pos()));
        }
        self.coerce(value, DataType::INT4, index.pos())
    }

    /// One slice makes all subscripts slices: `a[2][1:3]` is `a[1:2][1:3]`. Each becomes four arguments: is there a bound, and which.
    fn slice(&mut self, array: Expr, subscripts: &[Subscript]) -> Result<Expr, SqlError> {
        let ty = array.ty();
        let mut args = vec![array];
        args.extend(self.slice_bounds(subscripts)?);
        Ok(super::coerce::folded(Expr::Call { func: &ARRAY_SLICE, args, ty }))
    }

    fn slice_bounds(&mut self, subscripts: &[Subscript]) -> Result<Vec<Expr>, SqlError> {
        let mut args = Vec::with_capacity(subscripts.len() * 4);
        let given = |bound: &Option<Expr>| Expr::Const(Datum::Bool(bound.is_some()), Expr::BOOL);
        for subscript in subscripts {
            let (lower, upper) = match subscript {
                Subscript::Index(index) => (Some(Expr::Const(Datum::Int4(1), DataType::INT4.into())), Some(self.array_index(index)?)),
                Subscript::Slice { lower, upper } => {
                    let lower = lower.as_ref().map(|e| self.array_index(e)).transpose()?;
                    (lower, upper.as_ref().map(|e| self.array_index(e)).transpose()?)
                }
            };
            for bound in [lower, upper] {
                args.push(given(&bound));
                args.push(bound.unwrap_or(Expr::Const(Datum::Null, DataType::INT4.into())));
            }
        }
        Ok(args)
    }

    fn jsonb_subscript(&mut self, value: Expr, subscripts: &[Subscript], pos: usize) -> Result<Expr, SqlError> {
        let args = [vec![value], self.jsonb_steps(subscripts, pos)?].concat();
        Ok(super::coerce::folded(Expr::Call { func: &JSONB_SUBSCRIPT, args, ty: DataType::JSONB.into() }))
    }

    fn jsonb_steps(&mut self, subscripts: &[Subscript], pos: usize) -> Result<Vec<Expr>, SqlError> {
        let mut args = Vec::with_capacity(subscripts.len());
        for subscript in subscripts {
            let Subscript::Index(index) = subscript else {
                return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, "jsonb subscript does not support slices").at(pos));
            };
            let step = self.expr(index)?;
            let step = self.resolve_unknown(step)?;
            if !matches!(
                step.ty().ty,
                DataType::TEXT | DataType::VARCHAR | DataType::NAME | DataType::INT2 | DataType::INT4 | DataType::INT8
            ) {
                let message = format!("subscript type {} is not supported", step.ty().ty);
                return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message)
                    .hint("jsonb subscript must be coercible to either integer or text.")
                    .at(index.pos()));
            }
            args.push(self.coerce(step, DataType::TEXT, index.pos())?);
        }
        Ok(args)
    }

    /// `SET column[...] = value`: the column's value with a part replaced.
    pub(super) fn with_part(&mut self, whole: Expr, target: &ast::AssignmentTarget, value: &ast::Expr) -> Result<Expr, SqlError> {
        let (ty, pos, subscripts) = (whole.ty(), target.column.pos, target.subscripts.as_slice());
        if matches!(value, ast::Expr::Default(_)) {
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "cannot set an array element to DEFAULT").at(pos));
        }
        let bound = self.expr(value)?;
        let name = &target.column.value;
        if ty.ty == DataType::JSONB {
            let part = self.assign(bound, name, ty, value.pos())?;
            let args = [vec![whole, part], self.jsonb_steps(subscripts, pos)?].concat();
            return Ok(Expr::Call { func: &ASSIGN_MEMBER, args, ty });
        }
        let Some(element) = element_of(ty.ty) else {
            let message = format!("cannot subscript type {} because it does not support subscripting", ty.ty);
            return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message).at(pos));
        };
        let slice = subscripts.iter().any(|s| matches!(s, Subscript::Slice { .. }));
        let wanted = if slice { ty } else { ColumnType { ty: element, typmod: ty.typmod } };
        let from = bound.ty().ty;
        if !can_cast(from, wanted.ty, CastContext::Assignment) {
            let message = format!("subscripted assignment to \"{name}\" requires type {} but expression is of type {from}", wanted.ty);
            return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message)
                .hint("You will need to rewrite or cast the expression.")
                .at(value.pos()));
        }
        let part = self.assign(bound, name, wanted, value.pos())?;
        let mut args = vec![whole, part];
        if slice {
            args.extend(self.slice_bounds(subscripts)?);
            return Ok(Expr::Call { func: &ASSIGN_SLICE, args, ty });
        }
        for subscript in subscripts {
            if let Subscript::Index(index) = subscript {
                args.push(self.array_index(index)?);
            }
        }
        Ok(Expr::Call { func: &ASSIGN_ELEMENT, args, ty })
    }
}
