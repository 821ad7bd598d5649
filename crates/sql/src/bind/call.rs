//! Calls: scalar functions, aggregates, set-returning functions, and the forms that look like calls and are none.

use super::coerce::{common_column_type, folded};
use super::logical::ColumnId;
use super::{Binder, Clause};
use crate::ast::{self, FunctionCall};
use crate::error::{SqlError, SqlState};
use crate::expr::Expr;
use crate::functions::json::populate;
use crate::functions::{FunctionClass, function_class, resolve_aggregate, resolve_function, resolve_set_function, resolve_variadic};
use crate::plan::{AggregateCall, SortKey, TableFunction, TableFunctionCall};
use crate::types::coercion::need_order;
use crate::types::enums::{is_enum, labels};
use crate::types::{ColumnType, DataType, Datum, Shape, lookup_type_name};
use std::sync::Arc;

impl Binder<'_> {
    pub(super) fn call(&mut self, call: &FunctionCall) -> Result<Expr, SqlError> {
        let pos = call.name.pos;
        if let Some(user) = self.user_call(call)? {
            return self.user_expr(call, user);
        }
        if let Some(schema) = call.name.schema.as_deref() {
            if self.catalog.schema(schema).is_none() {
                return Err(SqlError::new(SqlState::INVALID_SCHEMA_NAME, format!("schema \"{schema}\" does not exist")).at(pos));
            }
            if !matches!(schema, "pg_catalog" | "information_schema") {
                return Err(self.no_function(call));
            }
        }
        if call.args.iter().any(|a| a.name.is_some()) {
            let positional = self.by_position(call)?;
            return self.call(&positional);
        }
        let name = call.name.name.as_str();
        if !call.within_group.is_empty() && super::ordered_set::is_hypothetical(name) {
            return self.hypothetical(call);
        }
        if call.special
            && let Some(expr) = self.special(name, call)?
        {
            return Ok(expr);
        }
        if let Some(window) = &call.over {
            return self.window_call(call, window);
        }
        if let ("enum_first" | "enum_last" | "enum_range", [arg]) = (name, call.args.as_slice()) {
            // Asked of the type: the value is usually NULL.
            let ty = self.expr(&arg.value)?.ty().ty;
            return if is_enum(ty) { Ok(labels_of(name, ty)) } else { Err(self.no_function(call)) };
        }
        if call.variadic && function_class(name) != Some(FunctionClass::Scalar) {
            return Err(self.no_function(call));
        }
        match function_class(name) {
            Some(FunctionClass::Aggregate) => self.aggregate(call),
            Some(FunctionClass::SetReturning) => self.set_returning(call),
            Some(FunctionClass::Scalar) => self.scalar(call),
            None if super::window::is_window_function(name) => {
                Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("window function {name} requires an OVER clause")).at(pos))
            }
            None => self.cast_call(call),
        }
    }

    pub(super) fn no_function(&mut self, call: &FunctionCall) -> SqlError {
        let mut shown = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            let Ok(value) = self.expr(&arg.value) else { continue };
            let ty = value.ty().ty;
            shown.push(arg.name.as_ref().map_or_else(|| ty.to_string(), |name| format!("{name} => {ty}")));
        }
        SqlError::new(SqlState::UNDEFINED_FUNCTION, format!("function {}({}) does not exist", call.name, shown.join(", ")))
            .hint("No function matches the given name and argument types. You might need to add explicit type casts.")
            .at(call.name.pos)
    }

    /// What PostgreSQL's grammar knows by itself.
    fn special(&mut self, name: &str, call: &FunctionCall) -> Result<Option<Expr>, SqlError> {
        let pos = call.name.pos;
        let values: Vec<&ast::Expr> = call.args.iter().map(|a| &a.value).collect();
        Ok(Some(match (name, values.as_slice()) {
            ("coalesce", [_, ..]) => {
                let (list, ty) = self.unified_args(call, "COALESCE")?;
                folded(Expr::Coalesce(list, ty))
            }
            ("greatest", [_, ..]) => {
                let (list, ty) = self.unified_args(call, "GREATEST")?;
                folded(Expr::MinMax(list, true, ty))
            }
            ("least", [_, ..]) => {
                let (list, ty) = self.unified_args(call, "LEAST")?;
                folded(Expr::MinMax(list, false, ty))
            }
            ("nullif", [left, right]) => {
                let value = self.expr(left)?;
                let other = self.expr(right)?;
                let value = if value.ty().ty == DataType::UNKNOWN && other.ty().ty == DataType::UNKNOWN {
                    self.resolve_unknown(value)?
                } else {
                    value
                };
                let test = self.operator("=", Some(value.clone()), other, pos)?;
                let value = match &test {
                    // An unknown literal has taken its type from the comparison.
                    Expr::Call { args, .. } if value.ty().ty == DataType::UNKNOWN => args[0].clone(),
                    _ => value,
                };
                let ty = value.ty();
                folded(Expr::Case { whens: vec![(test, Expr::Const(Datum::Null, ty))], otherwise: Some(Box::new(value)), ty })
            }
            ("grouping", list) => self.grouping(list, pos)?,
            ("current_timestamp", []) => self.plain_call("now", Vec::new(), pos)?,
            ("current_date", []) => self.now_as(DataType::DATE, pos)?,
            ("localtimestamp", []) => self.now_as(DataType::TIMESTAMP, pos)?,
            ("localtime", []) => self.now_as(DataType::TIME, pos)?,
            ("current_time", []) => return Err(SqlError::unsupported("time with time zone").at(pos)),
            ("current_role" | "user", []) => self.plain_call("current_user", Vec::new(), pos)?,
            ("current_catalog", []) => self.plain_call("current_database", Vec::new(), pos)?,
            _ => return Ok(None),
        }))
    }

    fn now_as(&mut self, ty: DataType, pos: usize) -> Result<Expr, SqlError> {
        let now = self.plain_call("now", Vec::new(), pos)?;
        self.cast_to(now, ty.into(), true, pos)
    }

    fn unified_args(&mut self, call: &FunctionCall, what: &str) -> Result<(Vec<Expr>, ColumnType), SqlError> {
        let args = call.args.iter().map(|a| self.expr(&a.value)).collect::<Result<Vec<_>, _>>()?;
        let types: Vec<ColumnType> = args.iter().map(Expr::ty).collect();
        let (list, ty) = self.unify(args, what, call.name.pos)?;
        Ok((list, common_column_type(ty.ty, types.into_iter())))
    }

    fn args(&mut self, call: &FunctionCall) -> Result<(Vec<Expr>, Vec<DataType>), SqlError> {
        let args = call.args.iter().map(|a| self.expr(&a.value)).collect::<Result<Vec<_>, _>>()?;
        let types = args.iter().map(|e| e.ty().ty).collect();
        Ok((args, types))
    }

    pub(super) fn coerce_args(&mut self, args: Vec<Expr>, types: &[DataType], pos: usize) -> Result<Vec<Expr>, SqlError> {
        args.into_iter().zip(types).map(|(e, ty)| self.coerce(e, *ty, pos)).collect()
    }

    fn scalar(&mut self, call: &FunctionCall) -> Result<Expr, SqlError> {
        let (name, pos) = (call.name.name.as_str(), call.name.pos);
        let wrong = |what: &str| {
            Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("{what} specified, but {name} is not an aggregate function")).at(pos))
        };
        if call.star {
            return Err(SqlError::new(SqlState::UNDEFINED_FUNCTION, format!("function {name}() does not exist")).at(pos));
        }
        if call.distinct {
            return wrong("DISTINCT");
        }
        if call.filter.is_some() {
            return wrong("FILTER");
        }
        if !call.order_by.is_empty() {
            return wrong("ORDER BY");
        }
        let (args, types) = self.args(call)?;
        if let ("pg_typeof", [ty]) = (name, types.as_slice()) {
            // Only the binder knows: a value does not say varchar or text.
            return Ok(Expr::Const(Datum::Oid(ty.0), DataType::REGTYPE.into()));
        }
        let resolved = match if call.variadic { resolve_variadic(name, &types) } else { resolve_function(name, &types) } {
            Ok(resolved) => resolved,
            // `text(x)`, `date(x)`: a type's name is also a cast.
            Err(error) => {
                return if lookup_type_name(name).is_some() && args.len() == 1 && !call.variadic {
                    self.cast_call(call)
                } else {
                    Err(error.at(pos))
                };
            }
        };
        let args = self.coerce_args(args, &resolved.arg_types, pos)?;
        Ok(folded(Expr::Call { func: resolved.func, args, ty: resolved.result.into() }))
    }

    /// A one-argument call of a type's name.
    fn cast_call(&mut self, call: &FunctionCall) -> Result<Expr, SqlError> {
        let pos = call.name.pos;
        match (lookup_type_name(&call.name.name), call.args.as_slice()) {
            (Some(ty), [arg]) if !call.star && call.name.name != "\"char\"" => {
                let value = self.expr(&arg.value)?;
                let from = value.ty().ty;
                if !crate::types::coercion::can_cast(from, ty, crate::types::coercion::CastContext::Explicit) {
                    return Err(self.no_function(call));
                }
                self.cast_to(value, ty.into(), true, pos)
            }
            _ => Err(self.no_function(call)),
        }
    }

    // ---- aggregates

    /// The aggregate's call, not yet given a place.
    pub(super) fn aggregate_call(&mut self, call: &FunctionCall) -> Result<AggregateCall, SqlError> {
        let pos = call.name.pos;
        let inside = std::mem::replace(&mut self.select.inside_aggregate, true);
        let bound = self.aggregate_parts(call);
        self.select.inside_aggregate = inside;
        bound.map_err(|e| e.at(pos))
    }

    pub(super) fn aggregate_parts(&mut self, call: &FunctionCall) -> Result<AggregateCall, SqlError> {
        let (name, pos) = (call.name.name.as_str(), call.name.pos);
        if !call.star && call.args.is_empty() && call.within_group.is_empty() && name == "count" {
            let message = "count(*) must be used to call a parameterless aggregate function";
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message).at(pos));
        }
        let (mut args, mut types) = self.args(call)?;
        // An ordered-set aggregate's argument stands in WITHIN GROUP.
        let order_items = if call.within_group.is_empty() { &call.order_by } else { &call.within_group };
        let mut order_by = self.sort_keys(order_items)?;
        if !call.within_group.is_empty() {
            for key in &order_by {
                types.push(key.expr.ty().ty);
                args.push(key.expr.clone());
            }
        }
        let function = resolve_aggregate(name, &types).map_err(|e| e.at(pos))?;
        let args = self.coerce_args(args, &function.arg_types, pos)?;
        if call.distinct && order_by.is_empty() && function.is_ordered() {
            // PostgreSQL sorts to find what is alike, and so hands the values over in order.
            order_by = args.iter().map(|arg| SortKey { expr: arg.clone(), descending: false, nulls_first: false }).collect();
        }
        if !call.within_group.is_empty()
            && let (Some(key), Some(value)) = (order_by.first_mut(), args.last())
        {
            key.expr = value.clone();
        }
        if call.distinct && order_by.iter().any(|k| !args.iter().any(|a| super::group::same(a, &k.expr))) {
            let message = "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list";
            return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message).at(pos));
        }
        let filter = match &call.filter {
            None => None,
            Some(filter) => Some(self.in_clause(Clause::Filter, |b| b.condition(filter, "FILTER"))?),
        };
        Ok(AggregateCall { function, args, distinct: call.distinct, filter, order_by })
    }

    pub(super) fn sort_keys(&mut self, items: &[ast::OrderItem]) -> Result<Vec<SortKey>, SqlError> {
        let mut keys = Vec::with_capacity(items.len());
        for item in items {
            let expr = self.expr(&item.expr)?;
            let expr = self.resolve_unknown(expr)?;
            need_order(expr.ty().ty).map_err(|e| e.at(item.expr.pos()))?;
            keys.push(SortKey { expr, descending: item.descending, nulls_first: item.nulls_first.unwrap_or(item.descending) });
        }
        Ok(keys)
    }

    fn aggregate(&mut self, call: &FunctionCall) -> Result<Expr, SqlError> {
        let pos = call.name.pos;
        if self.select.inside_aggregate {
            return Err(SqlError::new(SqlState::GROUPING_ERROR, "aggregate function calls cannot be nested").at(pos));
        }
        match self.select.clause {
            Clause::Targets | Clause::Having | Clause::OrderBy | Clause::Window => {}
            clause => {
                let message = format!("aggregate functions are not allowed in {}", clause.name());
                return Err(SqlError::new(SqlState::GROUPING_ERROR, message).at(pos));
            }
        }
        let bound = self.aggregate_call(call)?;
        let ty: ColumnType = bound.function.result.into();
        // The same aggregate twice is computed once.
        let same = |known: &AggregateCall| format!("{known:?}") == format!("{bound:?}");
        if let Some((id, _)) = self.select.aggregates.iter().find(|(_, known)| same(known)) {
            return Ok(Expr::Column(*id, ty));
        }
        let id = self.new_column(call.name.name.clone(), ty);
        self.select.aggregates.push((id, bound));
        Ok(Expr::Column(id, ty))
    }

    // ---- set-returning functions

    /// Sets stand in target lists (and FROM) only.
    pub(super) fn check_set_place(&self, pos: usize) -> Result<(), SqlError> {
        match self.select.clause {
            Clause::Targets | Clause::OrderBy if !self.select.inside_aggregate => Ok(()),
            Clause::Targets => {
                let message = "aggregate function calls cannot contain set-returning function calls";
                Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(pos))
            }
            clause => {
                let message = format!("set-returning functions are not allowed in {}", clause.name());
                Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(pos))
            }
        }
    }

    /// In a target list: a column of a ProjectSet below it.
    fn set_returning(&mut self, call: &FunctionCall) -> Result<Expr, SqlError> {
        self.check_set_place(call.name.pos)?;
        let function = self.table_function(call)?;
        let ty = match &function.call {
            TableFunctionCall::Set { function, .. } => function.result.into(),
            TableFunctionCall::Scalar(expr) => expr.ty(),
            TableFunctionCall::User { function, .. } => function.result,
        };
        let id: ColumnId = self.new_column(call.name.name.clone(), ty);
        if let TableFunctionCall::Set { args, .. } = &function.call
            && populate::kind(&call.name.name).is_some()
            && let Some(shape) = args.first().and_then(|base| self.shape_of(base))
        {
            self.shapes.insert(id, shape);
        }
        if let TableFunctionCall::Set { function: set, .. } = &function.call
            && !set.func.columns.is_empty()
        {
            let fields = set.func.columns.iter().map(|(name, _)| (*name).to_owned()).zip(function.types.iter().copied());
            self.shapes.insert(id, Arc::new(Shape { fields: fields.collect() }));
        }
        let function = TableFunction { types: vec![ty], ..function };
        self.select.set_functions.push((id, function));
        Ok(Expr::Column(id, ty))
    }

    /// A function as a row source.
    pub(super) fn table_function(&mut self, call: &FunctionCall) -> Result<TableFunction, SqlError> {
        let pos = call.name.pos;
        if let Some(user) = self.user_call(call)? {
            return Ok(super::user_relation::user_table_function(user));
        }
        if function_class(&call.name.name) != Some(FunctionClass::SetReturning) {
            let expr = self.call(call)?;
            let types = vec![expr.ty()];
            return Ok(TableFunction { call: TableFunctionCall::Scalar(expr), types });
        }
        if let Some(kind) = populate::kind(&call.name.name) {
            return self.populate(call, kind, None).map(|(function, _)| function);
        }
        let (args, types) = self.args(call)?;
        let function = resolve_set_function(&call.name.name, &types).map_err(|e| e.at(pos))?;
        let args = self.coerce_args(args, &function.arg_types, pos)?;
        let element = function.arg_types.first().and_then(|ty| crate::types::element_of(*ty));
        let concrete = |ty: DataType| if ty == DataType::ANYELEMENT { element.unwrap_or(ty) } else { ty };
        let types = if function.func.columns.is_empty() {
            vec![function.result.into()]
        } else {
            function.func.columns.iter().map(|(_, ty)| concrete(*ty).into()).collect()
        };
        Ok(TableFunction { call: TableFunctionCall::Set { function, args }, types })
    }
}

/// `enum_first`, `enum_last`, `enum_range` of an enum type.
fn labels_of(name: &str, ty: DataType) -> Expr {
    let all = labels(ty);
    let one = |label: Option<&Arc<crate::types::enums::EnumLabel>>| label.map_or(Datum::Null, |label| Datum::Enum(label.clone()));
    match name {
        "enum_first" => Expr::Const(one(all.first()), ty.into()),
        "enum_last" => Expr::Const(one(all.last()), ty.into()),
        _ => {
            let array = crate::types::array_of(ty).unwrap_or(DataType::TEXT_ARRAY);
            Expr::Const(Datum::array(ty, all.iter().map(|label| Datum::Enum(label.clone())).collect()), array.into())
        }
    }
}
