//! Calls of functions that users have made: which one a call means, and what becomes of it.
//!
//! 1. The functions of the name along the search path, and the builtin ones, are candidates; arguments by name, defaults and VARIADIC are sorted out for each, and
//!    PostgreSQL's rules choose ([`crate::functions::resolve`]).
//! 2. A body that is one expression takes the place of the call where that means the same: so indexes, and everything else that looks into expressions, see it.
//! 3. Where it does not (an argument that must be computed once is mentioned twice, a body that is less constant than its declaration), the call stays, and its body is
//!    evaluated in place.
//! 4. All other bodies are run by the executor.
//! 5. In FROM, a query that is not volatile is bound like a view.

use super::coerce::folded;
use super::{Binder, Clause, SelectState};
use crate::ast::{self, FunctionArg, FunctionBody, FunctionCall, ParameterMode, RoutineKind, Statement};
use crate::catalog::{Catalog, FunctionDescriptor};
use crate::error::{SqlError, SqlState};
use crate::expr::{Expr, UserFunction, with_context};
use crate::functions::registry::overloads;
use crate::functions::resolve::{Candidate, NoMatch, Signature, choose, function_error};
use crate::functions::{BuiltinFunction, Volatility};
use crate::plan::{PlanSettings, TableFunction, TableFunctionCall};
use crate::types::coercion::{CastContext, can_cast};
use crate::types::{ColumnType, DataType, Shape, array_of, element_of};
use std::sync::Arc;

/// Bodies put into the place of calls inside of one another: deeper ones are run by the executor.
const INLINE_DEPTH_MAX: usize = 16;

/// What a function's body sees besides what is in sight of any statement.
#[derive(Clone, Debug, Default)]
pub struct FunctionScope {
    /// Its name, which may qualify its parameters'.
    pub name: String,
    /// Its incoming parameters: name, type, and the fields of one that is a row.
    pub parameters: Vec<(String, ColumnType, Option<Arc<Shape>>)>,
    /// Values that stand for them; without any they are parameters of the statement.
    values: Option<Vec<Expr>>,
}

impl FunctionScope {
    /// The scope of a function's body; `types` are the concrete ones of its arguments.
    pub fn of(function: &FunctionDescriptor, types: &[DataType], catalog: &Catalog) -> FunctionScope {
        let parameter = |(parameter, ty): (&crate::catalog::FunctionParameter, &DataType)| {
            let shape = parameter.ty.row_of.and_then(|oid| catalog.table(oid)).map(|table| {
                let fields = table.visible_columns().map(|(_, column)| (column.name.clone(), column.ty)).collect();
                Arc::new(Shape { fields })
            });
            (parameter.name.clone(), ColumnType::from(*ty), shape)
        };
        FunctionScope { name: function.name.clone(), parameters: function.inputs().zip(types).map(parameter).collect(), values: None }
    }

    /// The same, with values in the place of the parameters.
    pub(super) fn with_values(self, values: Vec<Expr>) -> FunctionScope {
        FunctionScope { values: Some(values), ..self }
    }

    /// A parameter by its number, from 0.
    pub(super) fn parameter(&self, at: usize) -> Option<Expr> {
        let (_, ty, _) = self.parameters.get(at)?;
        Some(self.values.as_ref().and_then(|values| values.get(at)).cloned().unwrap_or(Expr::Param(at, *ty)))
    }

    /// A parameter by its name, which the function's may stand in front of.
    pub(super) fn named(&self, function: Option<&str>, name: &str) -> Option<Expr> {
        if function.is_some_and(|function| function != self.name) || name.is_empty() {
            return None;
        }
        self.parameter(self.parameters.iter().position(|(known, ..)| known == name)?)
    }

    pub(super) fn shape(&self, at: usize) -> Option<Arc<Shape>> {
        self.parameters.get(at).and_then(|(.., shape)| shape.clone())
    }
}

/// Where a parameter gets its value.
#[derive(Clone, Debug)]
enum Source {
    Arg(usize),
    Default,
    /// The rest of the arguments, as an array.
    Rest(Vec<usize>),
}

/// A function that the call may mean.
#[derive(Clone)]
enum Callable {
    Builtin(&'static BuiltinFunction),
    User { function: Arc<FunctionDescriptor>, sources: Vec<Source>, declared: Vec<DataType> },
}

impl Signature for Callable {
    fn args(&self) -> &[DataType] {
        match self {
            Callable::Builtin(function) => function.args,
            Callable::User { declared, .. } => declared,
        }
    }

    fn variadic(&self) -> bool {
        matches!(self, Callable::Builtin(function) if function.variadic)
    }

    fn result(&self) -> DataType {
        match self {
            Callable::Builtin(function) => function.result,
            Callable::User { function, .. } => function.result.ty,
        }
    }
}

/// A call of a user's function with its arguments.
pub(super) struct UserCall {
    pub(super) function: Arc<UserFunction>,
    pub(super) args: Vec<Expr>,
}

impl Binder<'_> {
    /// The call, if a user's function is meant.
    pub(super) fn user_call(&mut self, call: &FunctionCall) -> Result<Option<UserCall>, SqlError> {
        let name = call.name.name.as_str();
        if call.special || !self.catalog.has_function_named(name) {
            return Ok(None);
        }
        let path = &self.settings.search_path;
        let known: Vec<Arc<FunctionDescriptor>> =
            self.catalog.functions_named(call.name.schema.as_deref(), name, path).into_iter().cloned().collect();
        if known.is_empty() {
            return Ok(None);
        }
        let named = call.args.iter().position(|arg| arg.name.is_some()).unwrap_or(call.args.len());
        if let Some(late) = call.args[named..].iter().find(|arg| arg.name.is_none()) {
            let message = "positional argument cannot follow named argument";
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(late.value.pos()));
        }
        let (functions, windows) = (self.select.set_functions.len(), self.select.windows.len());
        let args = call.args.iter().map(|a| self.expr(&a.value)).collect::<Result<Vec<_>, _>>()?;
        let types: Vec<DataType> = args.iter().map(|e| e.ty().ty).collect();
        let mut candidates: Vec<Callable> = known.iter().filter_map(|function| callable(function, call, self.calling)).collect();
        prefer_plain(&mut candidates);
        let builtin = call.name.schema.as_deref().is_none_or(|schema| schema == "pg_catalog");
        if builtin && !call.variadic && call.args.iter().all(|arg| arg.name.is_none()) {
            candidates.extend(overloads(name).iter().map(|function| Callable::Builtin(function)));
        }
        let other_class = builtin && overloads(name).is_empty() && crate::functions::function_class(name).is_some();
        match choose(&candidates, &types) {
            Ok(Candidate { func, .. }) if has_twin(&candidates, &func) => {
                Err(function_error(&call.name.to_string(), &types, NoMatch::Ambiguous).at(call.name.pos))
            }
            Ok(Candidate { func: Callable::User { function, sources, .. }, args: wanted, .. }) => {
                let args = self.coerce_args(args, &wanted, call.name.pos)?;
                self.chosen(call, &function, &sources, args).map(Some)
            }
            Err(NoMatch::Ambiguous) => Err(function_error(&call.name.to_string(), &types, NoMatch::Ambiguous).at(call.name.pos)),
            Err(NoMatch::None) if !builtin || (overloads(name).is_empty() && !other_class) => Err(self.no_function(call)),
            Ok(_) | Err(_) => {
                // Builtin after all: the arguments are bound again there.
                self.select.set_functions.truncate(functions);
                self.select.windows.truncate(windows);
                Ok(None)
            }
        }
    }

    /// The call's arguments in the order of the function's parameters, and its types made concrete.
    fn chosen(
        &mut self,
        call: &FunctionCall,
        function: &Arc<FunctionDescriptor>,
        sources: &[Source],
        args: Vec<Expr>,
    ) -> Result<UserCall, SqlError> {
        let pos = call.name.pos;
        self.check_use(call, function)?;
        if call.name.schema.is_none() && pos > 0 && self.view_depth == 0 && self.inlining.is_empty() {
            let text = format!("{}.", crate::functions::quoting::quote_ident(&function.schema));
            self.rewrites.push(super::logical::Rewrite { start: pos, star: false, text });
        }
        let mut values = Vec::with_capacity(sources.len());
        for (source, parameter) in sources.iter().zip(function.inputs()) {
            let value = match source {
                Source::Arg(at) => args[*at].clone(),
                Source::Rest(places) => {
                    let elements: Vec<Expr> = places.iter().map(|at| args[*at].clone()).collect();
                    let element = elements.first().map_or(DataType::TEXT, |first| first.ty().ty);
                    let array = array_of(element).unwrap_or(parameter.ty.ty);
                    folded(Expr::Array(elements, array.into()))
                }
                Source::Default => self.default_argument(parameter, pos)?,
            };
            values.push(self.checked(value, parameter.ty.declared)?);
        }
        let element = element_type(function, &values);
        let concrete = |ty: DataType| match ty {
            DataType::ANYELEMENT | DataType::ANYNONARRAY | DataType::ANYCOMPATIBLE | DataType::ANYENUM => element.unwrap_or(ty),
            DataType::ANYARRAY | DataType::ANYCOMPATIBLEARRAY => element.and_then(array_of).unwrap_or(ty),
            other => other,
        };
        let arg_types: Vec<DataType> = function.inputs().map(|parameter| concrete(parameter.ty.ty)).collect();
        let mut shape = function.shape(self.catalog);
        if let Some(shape) = &mut shape {
            shape.fields.iter_mut().for_each(|(_, ty)| ty.ty = concrete(ty.ty));
        }
        let descriptor = Arc::clone(function);
        let result = concrete(function.result.ty).into();
        self.functions.push(function.oid);
        Ok(UserCall {
            function: Arc::new(UserFunction { descriptor, arg_types, result, shape: shape.map(Arc::new), body: None }),
            args: values,
        })
    }

    /// What is written around the arguments must be for functions.
    fn check_use(&self, call: &FunctionCall, function: &FunctionDescriptor) -> Result<(), SqlError> {
        let (name, pos) = (&call.name.name, call.name.pos);
        let wrong = |message: String| Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message).at(pos));
        if function.kind == RoutineKind::Procedure && !self.calling {
            let types: Vec<String> = function.inputs().map(|p| p.ty.ty.to_string()).collect();
            let message = format!("{name}({}) is a procedure", types.join(", "));
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message).hint("To call a procedure, use CALL.").at(pos));
        }
        if call.star {
            return wrong(format!("{name}(*) specified, but {name} is not an aggregate function"));
        }
        if call.over.is_some() {
            return wrong(format!("OVER specified, but {name} is not a window function nor an aggregate function"));
        }
        for (written, what) in [
            (call.distinct, "DISTINCT"),
            (call.filter.is_some(), "FILTER"),
            (!call.order_by.is_empty(), "ORDER BY"),
            (!call.within_group.is_empty(), "WITHIN GROUP"),
        ] {
            if written {
                return wrong(format!("{what} specified, but {name} is not an aggregate function"));
            }
        }
        Ok(())
    }

    fn default_argument(&mut self, parameter: &crate::catalog::FunctionParameter, pos: usize) -> Result<Expr, SqlError> {
        let Some(text) = &parameter.default else {
            return Err(SqlError::new(SqlState::INTERNAL_ERROR, "a parameter without a value").at(pos));
        };
        let parsed = crate::parse::parse_expression(text)?;
        let scopes = std::mem::take(&mut self.scopes);
        let function = self.function.take();
        let outer = std::mem::replace(&mut self.select, SelectState::new(Clause::Stored));
        let bound = self.expr(&parsed).and_then(|value| {
            let polymorphic = crate::types::info(parameter.ty.ty).category == b'P';
            if polymorphic { self.resolve_unknown(value) } else { self.cast_to(value, parameter.ty.ty.into(), false, 0) }
        });
        (self.scopes, self.select, self.function) = (scopes, outer, function);
        bound.map_err(|mut error| {
            error.fields_mut().position = None;
            error
        })
    }

    // ---- in an expression

    /// The call as an expression: its body, or a call of it.
    pub(super) fn user_expr(&mut self, call: &FunctionCall, user: UserCall) -> Result<Expr, SqlError> {
        if user.function.descriptor.returns_set {
            return self.user_set(call, user);
        }
        let UserCall { function, args } = user;
        let ty = function.result;
        let Some(body) = self.body_expression(&function)? else {
            return Ok(Expr::UserCall { function, args, ty });
        };
        if let Some(expr) = substituted(&function, &body, &args) {
            return Ok(folded(expr));
        }
        if body.runs_statements() || waits(&body) {
            return Ok(Expr::UserCall { function, args, ty });
        }
        let UserFunction { descriptor, arg_types, result, shape, .. } = &*function;
        let (descriptor, arg_types, shape) = (Arc::clone(descriptor), arg_types.clone(), shape.clone());
        let function = Arc::new(UserFunction { descriptor, arg_types, result: *result, shape, body: Some(body) });
        Ok(folded(Expr::UserCall { function, args, ty }))
    }

    /// The body as one expression over the arguments, if it is one.
    fn body_expression(&mut self, function: &UserFunction) -> Result<Option<Expr>, SqlError> {
        let descriptor = &function.descriptor;
        if !descriptor.is_plain() || self.inlining.len() >= INLINE_DEPTH_MAX || self.inlining.contains(&descriptor.oid) {
            return Ok(None);
        }
        let items = match &descriptor.body {
            FunctionBody::Return(text) => vec![crate::parse::parse_expression(text)?],
            body => match single_query(body).as_ref().and_then(plain_items) {
                Some(items) => items,
                None => return Ok(None),
            },
        };
        let mut binder = Binder::new(self.catalog, self.settings, &function.arg_types);
        binder.function = Some(FunctionScope::of(descriptor, &function.arg_types, self.catalog));
        binder.inlining = self.inlining.iter().copied().chain([descriptor.oid]).collect();
        binder.select = SelectState::new(Clause::Targets);
        let bound = binder.body_values(&items, function).map_err(|error| with_context(error, function.context("during inlining")))?;
        let select = &binder.select;
        let plain = binder.subqueries.is_empty()
            && select.aggregates.is_empty()
            && select.windows.is_empty()
            && select.set_functions.is_empty()
            && binder.param_types.len() == function.arg_types.len();
        self.functions.append(&mut binder.functions);
        Ok(bound.filter(|_| plain))
    }

    /// The values of a body's select list, as the function's result.
    fn body_values(&mut self, items: &[ast::Expr], function: &UserFunction) -> Result<Option<Expr>, SqlError> {
        let mut values = self.exprs(items)?;
        match (&function.shape, values.len()) {
            (None, 1) if function.descriptor.result.ty != DataType::RECORD => {
                let value = values.swap_remove(0);
                if function.result.ty == DataType::VOID || !can_cast(value.ty().ty, function.result.ty, CastContext::Assignment) {
                    return Ok(None);
                }
                let value = self.cast_to(value, function.result, false, 0)?;
                self.checked(value, function.descriptor.result.declared).map(Some)
            }
            (Some(shape), count) if count == shape.fields.len() && values.iter().all(|value| value.ty().ty != DataType::RECORD) => {
                let mut fields = Vec::with_capacity(count);
                for (value, (_, ty)) in values.into_iter().zip(&shape.fields) {
                    if !can_cast(value.ty().ty, ty.ty, CastContext::Assignment) {
                        return Ok(None);
                    }
                    fields.push(self.cast_to(value, *ty, false, 0)?);
                }
                Ok(Some(Expr::Row { fields, shape: shape.clone(), nullable: false }))
            }
            _ => Ok(None),
        }
    }

    /// A set in a select list: a column of a ProjectSet below it.
    fn user_set(&mut self, call: &FunctionCall, user: UserCall) -> Result<Expr, SqlError> {
        self.check_set_place(call.name.pos)?;
        let ty = user.function.result;
        let id = self.new_column(call.name.name.clone(), ty);
        if let Some(shape) = &user.function.shape {
            self.shapes.insert(id, shape.clone());
        }
        let UserCall { function, args } = user;
        self.select.set_functions.push((id, TableFunction { call: TableFunctionCall::User { function, args }, types: vec![ty] }));
        Ok(Expr::Column(id, ty))
    }

    // ---- CALL

    /// CALL: the procedure's outgoing parameters, if it has any, are the columns of its only row.
    pub(super) fn call_procedure(&mut self, call: &FunctionCall) -> Result<super::BoundParts, SqlError> {
        self.select = SelectState::new(Clause::Values);
        self.calling = true;
        let user = self.user_call(call);
        self.calling = false;
        let Some(user) = user? else {
            let mut error = self.no_function(call);
            let message = error.fields().message.replacen("function ", "procedure ", 1);
            error.fields_mut().message = message.into();
            error.fields_mut().hint =
                Some("No procedure matches the given name and argument types. You might need to add explicit type casts.".into());
            return Err(error);
        };
        if user.function.descriptor.kind != RoutineKind::Procedure {
            let types: Vec<String> = user.function.descriptor.inputs().map(|p| p.ty.ty.to_string()).collect();
            let message = format!("{}({}) is not a procedure", call.name.name, types.join(", "));
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message).hint("To call a function, use SELECT.").at(call.name.pos));
        }
        let UserCall { function, args } = user;
        if args.iter().any(Expr::runs_statements) && args.iter().any(|arg| matches!(arg, Expr::Subquery(..))) {
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "cannot use subquery in CALL argument").at(call.name.pos));
        }
        let shape = function.shape.clone();
        let types: Vec<ColumnType> = match &shape {
            Some(shape) => shape.fields.iter().map(|(_, ty)| *ty).collect(),
            None => vec![function.result],
        };
        let names: Vec<String> = shape.iter().flat_map(|shape| shape.fields.iter().map(|(name, _)| name.clone())).collect();
        let columns: Vec<super::ColumnId> =
            types.iter().enumerate().map(|(at, ty)| self.new_column(names.get(at).map_or("call", String::as_str), *ty)).collect();
        let output = names.into_iter().zip(columns.iter().copied()).collect();
        let functions = vec![TableFunction { call: TableFunctionCall::User { function, args }, types }];
        let root = super::Logical::Function { functions, ordinality: false, alias: call.name.name.clone(), columns };
        Ok((crate::plan::StatementKind::Call, root, output, shape.is_some()))
    }
}

/// A function as a candidate for a call, if its parameters can take the arguments.
fn callable(function: &Arc<FunctionDescriptor>, call: &FunctionCall, calling: bool) -> Option<Callable> {
    let inputs: Vec<_> = function.inputs().collect();
    // CALL has a place for outgoing parameters too, which says nothing.
    let outgoing: Vec<usize> = match function.kind {
        RoutineKind::Procedure if calling => {
            let all = function.parameters.iter().filter(|p| p.mode != ParameterMode::Table).enumerate();
            all.filter(|(_, p)| p.mode == ParameterMode::Out).map(|(at, _)| at).collect()
        }
        _ => Vec::new(),
    };
    let mut declared = vec![DataType::ANY; call.args.len()];
    let mut sources: Vec<Option<Source>> = vec![None; inputs.len()];
    let rest = function.is_variadic() && !call.variadic;
    let (mut input, mut place) = (0, 0);
    for (at, FunctionArg { name, .. }) in call.args.iter().enumerate() {
        if name.is_none() && outgoing.contains(&place) {
            place += 1;
            continue;
        }
        let parameter = match name {
            Some(name) if outgoing.iter().any(|out| function.parameters.get(*out).is_some_and(|p| p.name == *name)) => continue,
            Some(name) => inputs.iter().position(|parameter| parameter.name == *name)?,
            None if rest && input + 1 >= inputs.len() => inputs.len() - 1,
            None => input,
        };
        (input, place) = (input + 1, place + 1);
        let ty = inputs.get(parameter)?.ty.ty;
        let slot = sources.get_mut(parameter)?;
        if rest && parameter + 1 == inputs.len() && name.is_none() {
            declared[at] = if ty == DataType::ANYARRAY { DataType::ANYELEMENT } else { element_of(ty)? };
            match slot {
                Some(Source::Rest(places)) => places.push(at),
                Some(_) => return None,
                None => *slot = Some(Source::Rest(vec![at])),
            }
            continue;
        }
        if slot.is_some() {
            return None;
        }
        declared[at] = ty;
        *slot = Some(Source::Arg(at));
    }
    if call.variadic && !function.is_variadic() {
        return None;
    }
    let missing = |(source, parameter): (Option<Source>, &&crate::catalog::FunctionParameter)| match source {
        Some(source) => Some(source),
        None => parameter.default.is_some().then_some(Source::Default),
    };
    let sources = sources.into_iter().zip(&inputs).map(missing).collect::<Option<Vec<_>>>()?;
    Some(Callable::User { function: Arc::clone(function), sources, declared })
}

/// Of candidates that look alike, variadic ones yield to others.
fn prefer_plain(candidates: &mut Vec<Callable>) {
    let takes_rest = |candidate: &Callable| match candidate {
        Callable::User { sources, .. } => sources.iter().any(|source| matches!(source, Source::Rest(_))),
        Callable::Builtin(_) => false,
    };
    let plain: Vec<Vec<DataType>> = candidates.iter().filter(|c| !takes_rest(c)).map(|c| c.args().to_vec()).collect();
    candidates.retain(|candidate| !takes_rest(candidate) || !plain.iter().any(|args| args == candidate.args()));
}

/// Do defaults make two functions look alike for this call?
fn has_twin(candidates: &[Callable], chosen: &Callable) -> bool {
    candidates.iter().filter(|candidate| matches!(candidate, Callable::User { .. }) && candidate.args() == chosen.args()).count() > 1
}

/// What the polymorphic parameters' element type is.
fn element_type(function: &FunctionDescriptor, values: &[Expr]) -> Option<DataType> {
    function.inputs().zip(values).find_map(|(parameter, value)| match parameter.ty.ty {
        DataType::ANYELEMENT | DataType::ANYNONARRAY | DataType::ANYCOMPATIBLE | DataType::ANYENUM => Some(value.ty().ty),
        DataType::ANYARRAY | DataType::ANYCOMPATIBLEARRAY => element_of(value.ty().ty),
        _ => None,
    })
}

/// The only statement of a body, if that is a query.
pub(super) fn single_query(body: &FunctionBody) -> Option<ast::Query> {
    let text = match body {
        FunctionBody::Text(text) => text,
        FunctionBody::Atomic(statements) => match statements.as_slice() {
            [one] => one,
            _ => return None,
        },
        FunctionBody::Return(_) => return None,
    };
    let mut statements = crate::parse::parse(text).ok()?;
    match (statements.pop()?.statement, statements.is_empty()) {
        (Statement::Query(query), true) => Some(*query),
        _ => None,
    }
}

/// The select list of a query that has nothing else.
fn plain_items(query: &ast::Query) -> Option<Vec<ast::Expr>> {
    let ast::SetExpr::Select(select) = &query.body else { return None };
    let bare = query.with.is_none()
        && query.order_by.is_empty()
        && query.limit.is_none()
        && query.offset.is_none()
        && query.locking.is_empty()
        && select.from.is_empty()
        && select.filter.is_none()
        && select.group_by.is_empty()
        && select.having.is_none()
        && select.windows.is_empty()
        && matches!(select.distinct, ast::Distinct::All);
    if !bare {
        return None;
    }
    let item = |item: &ast::SelectItem| match item {
        ast::SelectItem::Expr { expr, .. } => Some(expr.clone()),
        _ => None,
    };
    select.items.iter().map(item).collect()
}

/// Does it call a builtin function that waits?
fn waits(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| found |= matches!(e, Expr::Call { func, .. } if func.waits.is_some()));
    found
}

/// The body with the arguments in place of the parameters, if that means the same as the call.
fn substituted(function: &UserFunction, body: &Expr, args: &[Expr]) -> Option<Expr> {
    let descriptor = &function.descriptor;
    if body.volatility() > descriptor.volatility || (descriptor.volatility != Volatility::Volatile && waits(body)) {
        return None;
    }
    let mut uses = vec![0usize; args.len()];
    body.walk(&mut |e| {
        if let Expr::Param(at, _) = e
            && let Some(count) = uses.get_mut(*at)
        {
            *count += 1;
        }
    });
    // What is computed each time must be computed once.
    let costly = |arg: &Expr| arg.volatility() == Volatility::Volatile || arg.runs_statements() || waits(arg);
    if args.iter().zip(&uses).any(|(arg, uses)| *uses != 1 && costly(arg)) {
        return None;
    }
    if descriptor.strict && !(0..args.len()).all(|at| is_strict_in(body, at)) {
        return None;
    }
    let mut expr = body.clone();
    expr.walk_mut(&mut |e| {
        if let Expr::Param(at, _) = e
            && let Some(arg) = args.get(*at)
        {
            *e = arg.clone();
        }
    });
    Some(expr)
}

/// Is the expression NULL whenever the parameter is?
fn is_strict_in(expr: &Expr, at: usize) -> bool {
    match expr {
        Expr::Param(param, _) => *param == at,
        Expr::Call { func, args, .. } => func.strict && args.iter().any(|arg| is_strict_in(arg, at)),
        Expr::UserCall { function, args, .. } => function.descriptor.strict && args.iter().any(|arg| is_strict_in(arg, at)),
        Expr::Cast { expr, .. } => is_strict_in(expr, at),
        _ => false,
    }
}

/// Binds one statement of a function's body. Its parameters are the function's; what the last statement gives takes the types of `targets` where that is open.
pub fn bind_in_function(
    statement: &Statement,
    scope: &FunctionScope,
    targets: Option<Vec<(String, ColumnType)>>,
    catalog: &Catalog,
    settings: &PlanSettings,
) -> Result<super::Bound, SqlError> {
    let types: Vec<DataType> = scope.parameters.iter().map(|(_, ty, _)| ty.ty).collect();
    let mut binder = Binder::new(catalog, settings, &types);
    binder.function = Some(scope.clone());
    let (kind, root, output, returns_rows) = match (statement, targets) {
        (Statement::Query(query), Some(targets)) => {
            let hints = super::query::Hints { targets: Some(targets), ..Default::default() };
            let (root, output) = binder.query(query, &hints)?;
            (crate::plan::StatementKind::Select, root, output, true)
        }
        _ => binder.statement(statement)?,
    };
    if binder.param_types.len() > types.len() {
        let message = format!("there is no parameter ${}", binder.param_types.len());
        return Err(SqlError::new(SqlState::UNDEFINED_PARAMETER, message));
    }
    binder.finish(kind, root, output, returns_rows)
}
