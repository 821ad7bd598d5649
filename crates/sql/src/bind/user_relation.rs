//! Users' functions in FROM.
//!
//! A query that is no more than stable is bound in the place of the call, as a view's is, so that conditions reach its tables. All other functions are run by the
//! executor, which hands their rows on.

use super::from::FunctionRelation;
use super::query::Hints;
use super::scope::{Namespace, Relation};
use super::user_call::{FunctionScope, UserCall, single_query};
use super::{Binder, Clause, Logical, SelectState};
use crate::ast::{FunctionCall, Statement, TableAlias};
use crate::error::{SqlError, SqlState};
use crate::expr::{Expr, UserFunction, with_context};
use crate::functions::Volatility;
use crate::plan::{TableFunction, TableFunctionCall};
use crate::types::coercion::{CastContext, can_cast};
use crate::types::{ColumnType, DataType, Shape};
use std::sync::Arc;

/// Names and types of a function's columns.
type Columns = Vec<(String, ColumnType)>;

impl Binder<'_> {
    /// A user's function as a relation.
    pub(super) fn user_relation(
        &mut self,
        call: &FunctionCall,
        user: UserCall,
        ordinality: bool,
        alias: Option<&TableAlias>,
    ) -> Result<(Logical, Namespace), SqlError> {
        let shown = alias.map_or(call.name.name.clone(), |a| a.name.value.clone());
        let UserCall { function, args } = user;
        let (function, columns) = self.columns_of(call, function, &shown, alias)?;
        if !ordinality && let Some((plan, ids)) = self.query_in_place(&function, &args, &columns)? {
            let columns = columns.into_iter().zip(ids).map(|((name, ty), id)| (name, id, ty)).collect();
            let scalar = function.shape.is_none();
            let relation = Relation { alias: shown, schema: None, columns, system: Vec::new(), scalar, nullable: false };
            return Ok((plan, Namespace::of(super::from::renamed(relation, alias)?)));
        }
        let scalar = function.shape.is_none() && !ordinality;
        let function = user_table_function(UserCall { function, args });
        self.function_relation(FunctionRelation { functions: vec![function], columns, ordinality, shown, scalar }, alias)
    }

    /// The columns that a function gives; a column definition list says what `record` leaves open.
    fn columns_of(
        &mut self,
        call: &FunctionCall,
        function: Arc<UserFunction>,
        shown: &str,
        alias: Option<&TableAlias>,
    ) -> Result<(Arc<UserFunction>, Columns), SqlError> {
        let pos = call.name.pos;
        let defined = match alias {
            Some(alias) => self.defined_shape(alias)?,
            None => None,
        };
        let refused = |message: &'static str| Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(pos));
        let is_record = function.result.ty == DataType::RECORD;
        match (&function.shape, defined) {
            (None, Some(shape)) if is_record => {
                let columns = shape.fields.clone();
                let UserFunction { descriptor, arg_types, result, .. } = &*function;
                let (descriptor, arg_types, result) = (Arc::clone(descriptor), arg_types.clone(), *result);
                let function = UserFunction { descriptor, arg_types, result, shape: Some(Arc::new(shape)), body: None };
                Ok((Arc::new(function), columns))
            }
            (None, None) if is_record => refused("a column definition list is required for functions returning \"record\""),
            (Some(_), Some(_)) if function.descriptor.result.row_of.is_some() => {
                refused("a column definition list is redundant for a function returning a named composite type")
            }
            (Some(_), Some(_)) => refused("a column definition list is redundant for a function with OUT parameters"),
            (None, Some(_)) => refused("a column definition list is only allowed for functions returning \"record\""),
            (Some(shape), None) => {
                let columns = shape.fields.clone();
                Ok((function, columns))
            }
            (None, None) => {
                let name = function.descriptor.outputs().next().map(|output| output.name.clone()).filter(|name| !name.is_empty());
                let columns = vec![(name.unwrap_or_else(|| shown.to_owned()), function.result)];
                Ok((function, columns))
            }
        }
    }

    /// The function's query in the place of its call, if that means the same.
    fn query_in_place(
        &mut self,
        function: &UserFunction,
        args: &[Expr],
        columns: &[(String, ColumnType)],
    ) -> Result<Option<(Logical, Vec<super::ColumnId>)>, SqlError> {
        let descriptor = &function.descriptor;
        let settled = |arg: &Expr| arg.volatility() != Volatility::Volatile && !arg.runs_statements();
        let fits = descriptor.is_plain()
            && descriptor.returns_set
            && !descriptor.strict
            && descriptor.volatility != Volatility::Volatile
            && self.view_depth < super::VIEW_DEPTH_MAX
            && !self.inlining.contains(&descriptor.oid)
            && args.iter().all(settled);
        let Some(query) = fits.then(|| single_query(&descriptor.body)).flatten() else { return Ok(None) };
        let reads = query.with.as_ref().is_none_or(|with| with.ctes.iter().all(|cte| matches!(cte.body, Statement::Query(_))));
        if !reads || !query.locking.is_empty() {
            return Ok(None);
        }
        let scope = FunctionScope::of(descriptor, &function.arg_types, self.catalog).with_values(args.to_vec());
        let hints = Hints { targets: Some(columns.to_vec()), ..Hints::default() };
        let scopes = std::mem::take(&mut self.scopes);
        let hidden = std::mem::take(&mut self.hidden);
        let ctes = std::mem::take(&mut self.visible_ctes);
        let outer = std::mem::replace(&mut self.select, SelectState::new(Clause::From));
        let enclosing = self.function.replace(scope);
        self.inlining.push(descriptor.oid);
        self.view_depth += 1;
        let bound = self.query(&query, &hints);
        self.view_depth -= 1;
        self.inlining.pop();
        (self.scopes, self.hidden, self.visible_ctes, self.select, self.function) = (scopes, hidden, ctes, outer, enclosing);
        let (plan, output) = bound.map_err(|error| with_context(error, function.context("during inlining")))?;
        let castable = |((_, id), (_, ty)): (&(String, super::ColumnId), &(String, ColumnType))| {
            let from = self.column_type_of(*id).ty;
            from != DataType::RECORD && can_cast(from, ty.ty, CastContext::Assignment)
        };
        if output.len() != columns.len() || !output.iter().zip(columns).all(castable) {
            return Ok(None);
        }
        let mut exprs = Vec::with_capacity(output.len());
        for ((_, id), (name, ty)) in output.into_iter().zip(columns) {
            let from = self.column_type_of(id);
            let value = self.cast_to(Expr::Column(id, from), *ty, false, 0)?;
            exprs.push((self.new_column(name.clone(), *ty), value));
        }
        let ids = exprs.iter().map(|(id, _)| *id).collect();
        Ok(Some((Logical::Project { input: Box::new(plan), exprs }, ids)))
    }
}

/// A call as a row source of its own.
pub(super) fn user_table_function(user: UserCall) -> TableFunction {
    let UserCall { function, args } = user;
    let types = match &function.shape {
        Some(shape) => shape.fields.iter().map(|(_, ty)| *ty).collect(),
        None => vec![function.result],
    };
    TableFunction { call: TableFunctionCall::User { function, args }, types }
}

/// The names of a function's columns where it stands beside others.
pub(super) fn column_names(function: &UserFunction) -> Vec<String> {
    let only = || function.descriptor.outputs().next().map(|output| output.name.clone()).filter(|name| !name.is_empty());
    match &function.shape {
        Some(shape) => names(shape),
        None => vec![only().unwrap_or_else(|| function.descriptor.name.clone())],
    }
}

fn names(shape: &Shape) -> Vec<String> {
    shape.fields.iter().map(|(name, _)| name.clone()).collect()
}
