//! CREATE, ALTER and DROP of functions and procedures.
//!
//! A body in a string is kept as it was written: its names mean what they mean when it is run. It is planned here only to say what is wrong with it
//! (`check_function_bodies`). A body in the statement (`RETURN`, `BEGIN ATOMIC`) must go on meaning what it means now, as a view does: its relations' schemas are written
//! out, and what it refers to cannot be dropped without it.

use super::Ddl;
use super::dependents::Object;
use crate::ast::{
    AlterFunction, AlterFunctionAction, CreateFunction, DropFunction, FunctionBody, FunctionOptions, FunctionSignature, ParameterMode,
    Returns, RoutineKind, TypeName,
};
use crate::bind::declared_type_in;
use crate::catalog::store::Change;
use crate::catalog::{FunctionDescriptor, FunctionParameter, FunctionType, Oid, Reference};
use crate::error::{SqlError, SqlState};
use crate::exec::functions::{body_statements, check_result, plan_body};
use crate::expr::{UserFunction, with_context};
use crate::functions::Volatility;
use crate::types::coercion::CastContext;
use crate::types::{ColumnType, DataType};
use std::sync::Arc;

/// PostgreSQL's limit.
const PARAMETERS_MAX: usize = 100;

/// What PostgreSQL assumes of an SQL function.
const DEFAULT_COST: f32 = 100.0;
const DEFAULT_ROWS: f32 = 1000.0;

fn invalid(message: impl Into<std::borrow::Cow<'static, str>>) -> SqlError {
    SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message)
}

impl Ddl<'_, '_> {
    pub(super) async fn create_function(&mut self, create: &CreateFunction) -> Result<(), SqlError> {
        let schema = self.schema_for(&create.name)?;
        if self.is_temporary_schema(&schema.name) {
            return Err(SqlError::unsupported("a function in a temporary schema").at(create.name.pos));
        }
        let body = self.checked_language(create)?;
        let parameters = self.function_parameters(create)?;
        let (result, returns_set) = self.function_result(create, &parameters)?;
        let inputs: Vec<DataType> = parameters.iter().filter(|p| p.mode.is_input()).map(|p| p.ty.ty).collect();
        let known = self.catalog().functions_named(Some(&schema.name), &create.name.name, &[]);
        let existing = known.into_iter().find(|function| function.input_types() == inputs).cloned();
        let mut made = FunctionDescriptor {
            oid: 0,
            schema_oid: schema.oid,
            schema: schema.name.clone(),
            name: create.name.name.clone(),
            owner: self.ctx.plan_settings.user.clone(),
            kind: create.kind,
            parameters,
            result,
            returns_set,
            volatility: Volatility::Volatile,
            strict: false,
            security_definer: false,
            leakproof: false,
            parallel: 'u',
            cost: DEFAULT_COST,
            rows: if returns_set { DEFAULT_ROWS } else { 0.0 },
            settings: Vec::new(),
            body,
            comment: None,
            acl: None,
            references: Vec::new(),
        };
        self.apply_options(&mut made, &create.options)?;
        match existing {
            Some(existing) if create.or_replace => {
                replaceable(&existing, &made)?;
                (made.oid, made.owner) = (existing.oid, existing.owner.clone());
                (made.comment, made.acl) = (existing.comment.clone(), existing.acl.clone());
            }
            Some(_) => {
                let message = format!("function \"{}\" already exists with same argument types", made.name);
                return Err(SqlError::new(SqlState::DUPLICATE_FUNCTION, message));
            }
            None => made.oid = self.new_oid().await?,
        }
        if made.result.ty == DataType::TRIGGER {
            return Err(invalid("SQL functions cannot return type trigger"));
        }
        made.references = self.signature_references(&made);
        self.put_function(made.clone());
        self.check_body(made, create.body_pos)
    }

    fn checked_language(&self, create: &CreateFunction) -> Result<FunctionBody, SqlError> {
        let in_statement = matches!(create.body, Some(FunctionBody::Return(_) | FunctionBody::Atomic(_)));
        let language = match &create.language {
            Some(language) => language.to_ascii_lowercase(),
            None if in_statement => "sql".to_owned(),
            None => return Err(invalid("no language specified")),
        };
        match language.as_str() {
            "sql" => {}
            "plpgsql" | "c" | "internal" => return Err(SqlError::unsupported(format!("language {language}"))),
            other => return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, format!("language \"{other}\" does not exist"))),
        }
        create.body.clone().ok_or_else(|| invalid("no function body specified"))
    }

    fn function_type(&self, ty: &TypeName) -> Result<FunctionType, SqlError> {
        if let Some(plain) = pseudo_type(ty) {
            return Ok(FunctionType::plain(plain));
        }
        let path = &self.ctx.plan_settings.search_path;
        let error = match declared_type_in(ty, self.catalog(), path) {
            Ok(known) => return Ok(FunctionType { ty: known.ty.ty, declared: known.declared, row_of: None }),
            Err(error) => error,
        };
        let relation = self.catalog().resolve(ty.schema.as_deref(), &ty.name, path).map(|relation| relation.descriptor());
        match relation {
            Some(_) if ty.array_dims > 0 => Err(SqlError::unsupported("an array of rows of a table").at(ty.pos)),
            Some(table) if table.kind != crate::catalog::RelationKind::Sequence => {
                Ok(FunctionType { ty: DataType::RECORD, declared: None, row_of: Some(table.oid) })
            }
            _ => Err(error),
        }
    }

    fn function_parameters(&self, create: &CreateFunction) -> Result<Vec<FunctionParameter>, SqlError> {
        let mut made: Vec<FunctionParameter> = Vec::with_capacity(create.parameters.len());
        if create.parameters.iter().filter(|p| p.mode.is_input()).count() > PARAMETERS_MAX {
            let message = format!("functions cannot have more than {PARAMETERS_MAX} arguments");
            return Err(SqlError::new(SqlState::TOO_MANY_ARGUMENTS, message));
        }
        let mut has_default = false;
        for parameter in &create.parameters {
            let ty = self.function_type(&parameter.ty).map_err(|error| unquoted(error, &parameter.ty))?;
            let input = parameter.mode.is_input();
            if input && made.iter().any(|known| known.mode == ParameterMode::Variadic) {
                return Err(invalid("VARIADIC parameter must be the last input parameter"));
            }
            let noun = if create.kind == RoutineKind::Procedure { "procedures" } else { "functions" };
            if matches!(ty.ty, DataType::VOID | DataType::TRIGGER) || (input && ty.ty == DataType::RECORD && ty.row_of.is_none()) {
                return Err(invalid(format!("SQL {noun} cannot have arguments of type {}", type_name(&ty))));
            }
            if parameter.mode == ParameterMode::Variadic && !ty.ty.is_array() && ty.ty != DataType::ANYARRAY {
                return Err(invalid("VARIADIC parameter must be an array"));
            }
            let name = parameter.name.clone().unwrap_or_default();
            let both = |known: &FunctionParameter| {
                let (a, b) = (known.mode, parameter.mode);
                (a.is_input() && b.is_input()) || (a.is_output() && b.is_output()) || a == ParameterMode::Table || b == ParameterMode::Table
            };
            if !name.is_empty() && made.iter().any(|known| known.name == name && both(known)) {
                return Err(invalid(format!("parameter name \"{name}\" used more than once")));
            }
            let default = match &parameter.default {
                None if has_default && input => {
                    let message = "input parameters after one with a default value must also have defaults";
                    return Err(invalid(message));
                }
                None => None,
                Some(_) if !input => return Err(invalid("only input parameters can have default values")),
                Some(default) => {
                    has_default = true;
                    self.parameter_default(default, &ty)?
                }
            };
            made.push(FunctionParameter { name, mode: parameter.mode, ty, default });
        }
        Ok(made)
    }

    fn parameter_default(&self, default: &crate::ast::StoredExpr, ty: &FunctionType) -> Result<Option<String>, SqlError> {
        if crate::types::info(ty.ty).category == b'P' {
            return Ok(Some(default.text.clone()));
        }
        let to = ColumnType::from(ty.ty);
        crate::bind::bind_scalar(&default.expr, to, CastContext::Assignment, &self.snapshot(), self.ctx.plan_settings)?;
        Ok(Some(match &default.expr {
            crate::ast::Expr::Literal(crate::ast::Literal::Null, _) => format!("NULL::{}", type_name(ty)),
            _ => self.default_text(default, to)?.unwrap_or_else(|| default.text.clone()),
        }))
    }

    /// The declared result: RETURNS, or what the outgoing parameters say.
    fn function_result(&self, create: &CreateFunction, parameters: &[FunctionParameter]) -> Result<(FunctionType, bool), SqlError> {
        let outputs: Vec<&FunctionParameter> = parameters.iter().filter(|parameter| parameter.mode.is_output()).collect();
        let implied = match outputs.as_slice() {
            [] => None,
            [one] if create.kind == RoutineKind::Function => Some(one.ty),
            _ => Some(FunctionType::plain(DataType::RECORD)),
        };
        let (result, set) = match (&create.returns, implied) {
            (Some(Returns::Table), Some(implied)) => (implied, true),
            (Some(Returns::Type { ty, set }), implied) => {
                let ty = self.function_type(ty).map_err(|mut error| {
                    error.fields_mut().position = None;
                    error
                })?;
                if let Some(implied) = implied.filter(|implied| *implied != ty) {
                    let message = format!("function result type must be {} because of OUT parameters", type_name(&implied));
                    return Err(invalid(message));
                }
                (ty, *set)
            }
            (_, Some(implied)) => (implied, false),
            (_, None) if create.kind == RoutineKind::Procedure => (FunctionType::plain(DataType::VOID), false),
            (_, None) => return Err(invalid("function result type must be specified")),
        };
        let polymorphic =
            |ty: DataType| crate::types::info(ty).category == b'P' && !matches!(ty, DataType::VOID | DataType::RECORD | DataType::TRIGGER);
        let open = |ty: &DataType| polymorphic(*ty);
        let inputs = parameters.iter().filter(|p| p.mode.is_input()).any(|p| polymorphic(p.ty.ty));
        let undetermined = std::iter::once(result.ty).chain(outputs.iter().map(|output| output.ty.ty)).find(open).filter(|_| !inputs);
        if let Some(ty) = undetermined {
            let detail = format!(
                "A result of type {ty} requires at least one input of type anyelement, anyarray, anynonarray, anyenum, anyrange, or anymultirange."
            );
            return Err(invalid("cannot determine result data type").detail(detail));
        }
        Ok((result, set))
    }

    fn apply_options(&self, function: &mut FunctionDescriptor, options: &FunctionOptions) -> Result<(), SqlError> {
        let procedure = function.kind == RoutineKind::Procedure;
        let said = options.volatility.is_some()
            || options.strict.is_some()
            || options.leakproof.is_some()
            || options.parallel.is_some()
            || options.cost.is_some()
            || options.rows.is_some();
        if procedure && said {
            return Err(invalid("invalid attribute in procedure definition"));
        }
        if options.rows.is_some() && !function.returns_set {
            return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, "ROWS is not applicable when function does not return a set"));
        }
        function.volatility = options.volatility.unwrap_or(function.volatility);
        function.strict = options.strict.unwrap_or(function.strict);
        function.security_definer = options.security_definer.unwrap_or(function.security_definer);
        function.leakproof = options.leakproof.unwrap_or(function.leakproof);
        function.parallel = options.parallel.unwrap_or(function.parallel);
        function.cost = options.cost.unwrap_or(function.cost);
        function.rows = options.rows.unwrap_or(function.rows);
        if options.reset_all {
            function.settings.clear();
        }
        for (name, value) in &options.settings {
            // The rest is read by the statement around the call, at its start.
            if name != "search_path" && value.is_some() {
                return Err(SqlError::unsupported(format!("SET {name} in a function")));
            }
            function.settings.retain(|(known, _)| known != name);
            function.settings.extend(value.clone().map(|value| (name.clone(), value)));
        }
        Ok(())
    }

    /// Plans the body, and writes out what a body in the statement refers to.
    fn check_body(&mut self, mut function: FunctionDescriptor, body_pos: usize) -> Result<(), SqlError> {
        let in_statement = !matches!(function.body, FunctionBody::Text(_));
        let checks = self.ctx.session.setting("check_function_bodies").as_deref() != Some("off");
        if !in_statement && !checks {
            return Ok(());
        }
        let snapshot = self.snapshot();
        let mut settings = self.ctx.plan_settings.clone();
        if let Some(path) = crate::exec::functions::search_path_of(&function) {
            settings.search_path = path;
        }
        if in_statement {
            let stored = self.stored_body(&function, &settings)?;
            (function.body, function.references) = (stored.body, [function.references.clone(), stored.references].concat());
            function.references.sort_unstable();
            function.references.dedup();
            self.put_function(function.clone());
        }
        let shape = function.shape(&snapshot).map(Arc::new);
        let user = UserFunction {
            arg_types: function.inputs().map(|parameter| stand_in(parameter.ty.ty)).collect(),
            result: function.result.ty.into(),
            shape,
            body: None,
            descriptor: Arc::new(function),
        };
        let place = user.context("");
        // What is wrong at a place in the body is wrong at that place of the statement.
        let located = |mut error: SqlError| match error.fields().position {
            _ if in_statement => {
                error.fields_mut().position = None;
                error
            }
            Some(position) if body_pos > 0 => {
                error.fields_mut().position = Some(body_pos + position - 1);
                error
            }
            _ => with_context(error, place.trim_end().to_owned()),
        };
        let statements = body_statements(&user.descriptor.body).map_err(located)?;
        let plans = plan_body(&user, &statements, &snapshot, &settings).map_err(located)?;
        check_result(&user, &plans).map_err(located)
    }

    pub(super) fn put_function(&mut self, function: FunctionDescriptor) {
        self.changes.retain(|change| !matches!(change, Change::PutFunction(f) if f.oid == function.oid));
        self.builder.put_function(function.clone());
        self.changes.push(Change::PutFunction(function));
    }

    pub(super) fn remove_function(&mut self, oid: Oid) {
        self.changes.retain(|change| !matches!(change, Change::PutFunction(f) if f.oid == oid));
        self.builder.drop_function(oid);
        self.changes.push(Change::DropFunction(oid));
    }

    fn signature_references(&self, function: &FunctionDescriptor) -> Vec<Reference> {
        let types = function.parameters.iter().map(|parameter| parameter.ty).chain([function.result]);
        let mut references: Vec<Reference> = types.flat_map(|ty| self.type_references(&ty)).collect();
        references.sort_unstable();
        references.dedup();
        references
    }

    fn type_references(&self, ty: &FunctionType) -> Vec<Reference> {
        let mut found = Vec::new();
        found.extend(ty.row_of.map(|oid| Reference::Relation(oid, 0)));
        match ty.declared {
            Some(declared) => found.extend(self.catalog().domain(declared).map(|(_, domain)| Reference::Type(domain.oid))),
            None => {
                let element = crate::types::element_of(ty.ty).unwrap_or(ty.ty);
                found.extend((element.0 >= crate::catalog::FIRST_USER_OID).then_some(Reference::Type(element.0)));
            }
        }
        found
    }

    // ---- naming one

    /// The function that a signature names, or 42883, 42725, 42809.
    pub(super) fn find_function(&self, kind: RoutineKind, signature: &FunctionSignature) -> Result<Arc<FunctionDescriptor>, SqlError> {
        let name = &signature.name;
        if let Some(schema) = name.schema.as_ref().filter(|schema| self.catalog().schema(schema).is_none()) {
            return Err(SqlError::new(SqlState::INVALID_SCHEMA_NAME, format!("schema \"{schema}\" does not exist")));
        }
        let known = self.catalog().functions_named(name.schema.as_deref(), &name.name, &self.ctx.plan_settings.search_path);
        let fits_kind = |function: &FunctionDescriptor| kind == RoutineKind::Routine || function.kind == kind;
        let Some(args) = &signature.args else {
            let named: Vec<_> = known.into_iter().filter(|function| fits_kind(function)).collect();
            return match named.as_slice() {
                [one] => Ok(Arc::clone(one)),
                [] => Err(SqlError::new(SqlState::UNDEFINED_FUNCTION, format!("could not find a {} named \"{name}\"", kind.noun()))),
                _ => Err(SqlError::new(SqlState::AMBIGUOUS_FUNCTION, format!("{} name \"{name}\" is not unique", kind.noun()))
                    .hint(format!("Specify the argument list to select the {} unambiguously.", kind.noun()))),
            };
        };
        let mut types = Vec::with_capacity(args.len());
        for (mode, ty) in args {
            types.push((*mode, self.function_type(ty)?));
        }
        let inputs: Vec<DataType> = types.iter().filter(|(mode, _)| mode.is_input()).map(|(_, ty)| ty.ty).collect();
        let all: Vec<DataType> = types.iter().map(|(_, ty)| ty.ty).collect();
        let fits = |function: &FunctionDescriptor| {
            // A procedure may be named by all its parameters, without their modes.
            let whole = || function.parameters.iter().filter(|p| p.mode != ParameterMode::Table).map(|p| p.ty.ty).eq(all.iter().copied());
            function.input_types() == inputs || (function.kind == RoutineKind::Procedure && whole())
        };
        let shown: Vec<String> = types.iter().filter(|(mode, _)| mode.is_input()).map(|(_, ty)| type_name(ty)).collect();
        let shown = format!("{name}({})", shown.join(", "));
        match known.into_iter().find(|function| fits(function)) {
            Some(function) if fits_kind(function) => Ok(Arc::clone(function)),
            Some(_) => Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("{shown} is not a {}", kind.noun()))),
            None => Err(SqlError::new(SqlState::UNDEFINED_FUNCTION, format!("{} {shown} does not exist", kind.noun()))),
        }
    }

    // ---- ALTER, COMMENT, DROP

    pub(super) fn alter_function(&mut self, alter: &AlterFunction) -> Result<(), SqlError> {
        let found = self.find_function(alter.kind, &alter.signature)?;
        let mut function = FunctionDescriptor::clone(&found);
        match &alter.action {
            AlterFunctionAction::RenameTo(name) => {
                function.name.clone_from(name);
                self.refuse_taken(&function)?;
                self.refuse_referred(function.oid)?;
            }
            AlterFunctionAction::SetSchema(schema) => {
                let missing = || SqlError::new(SqlState::INVALID_SCHEMA_NAME, format!("schema \"{schema}\" does not exist"));
                let schema = self.catalog().schema(schema).ok_or_else(missing)?;
                if schema.oid == function.schema_oid {
                    return Ok(());
                }
                (function.schema_oid, function.schema) = (schema.oid, schema.name.clone());
                if self.is_temporary_schema(&function.schema) {
                    return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "cannot move objects into or out of temporary schemas"));
                }
                self.refuse_taken(&function)?;
                self.refuse_referred(function.oid)?;
            }
            AlterFunctionAction::OwnerTo(owner) => function.owner = super::grant::grantee(owner, self.ctx)?,
            AlterFunctionAction::Options(options) => self.apply_options(&mut function, options)?,
        }
        self.put_function(function);
        Ok(())
    }

    fn refuse_taken(&self, function: &FunctionDescriptor) -> Result<(), SqlError> {
        let types = function.input_types();
        let known = self.catalog().functions_named(Some(&function.schema), &function.name, &[]);
        if known.iter().any(|other| other.oid != function.oid && other.input_types() == types) {
            let shown: Vec<String> = function.inputs().map(|parameter| type_name(&parameter.ty)).collect();
            let message = format!("function {}({}) already exists in schema \"{}\"", function.name, shown.join(", "), function.schema);
            return Err(SqlError::new(SqlState::DUPLICATE_FUNCTION, message));
        }
        Ok(())
    }

    pub(super) fn comment_function(&mut self, comment: &crate::ast::Comment) -> Result<(), SqlError> {
        let Some((kind, signature)) = &comment.signature else {
            return Err(SqlError::unsupported("COMMENT ON FUNCTION without a signature"));
        };
        let mut function = FunctionDescriptor::clone(&*self.find_function(*kind, signature)?);
        function.comment.clone_from(&comment.text);
        self.put_function(function);
        Ok(())
    }

    pub(super) fn drop_functions(&mut self, drop: &DropFunction) -> Result<(), SqlError> {
        for signature in &drop.signatures {
            let function = match self.find_function(drop.kind, signature) {
                Ok(function) => function,
                Err(error) if drop.if_exists && is_absent(&error) => {
                    let message = match (&signature.args, error.state()) {
                        (Some(args), SqlState::UNDEFINED_FUNCTION) => {
                            let inputs = args.iter().filter(|(mode, _)| mode.is_input());
                            let types: Vec<String> = inputs.map(|(_, ty)| written_type(ty)).collect();
                            format!("{} {}({}) does not exist", drop.kind.noun(), signature.name, types.join(","))
                        }
                        (None, SqlState::UNDEFINED_FUNCTION) => format!("{} {}() does not exist", drop.kind.noun(), signature.name),
                        _ => error.fields().message.to_string(),
                    };
                    self.notice(format!("{message}, skipping"));
                    continue;
                }
                Err(error) => return Err(error),
            };
            self.drop_function(&function, drop.cascade)?;
        }
        Ok(())
    }
}

/// A type as the grammar has it: those with a spelling of their own are the catalog's.
fn written_type(ty: &TypeName) -> String {
    const SPELLED: &[&str] = &[
        "bit",
        "bool",
        "bpchar",
        "float4",
        "float8",
        "int2",
        "int4",
        "int8",
        "interval",
        "numeric",
        "time",
        "timestamp",
        "timestamptz",
        "timetz",
        "varbit",
        "varchar",
    ];
    let schema = match &ty.schema {
        Some(schema) => format!("{schema}."),
        None if SPELLED.contains(&ty.name.as_str()) => "pg_catalog.".to_owned(),
        None => String::new(),
    };
    format!("{schema}{}{}", ty.name, if ty.array_dims > 0 { "[]" } else { "" })
}

/// What IF EXISTS forgives.
fn is_absent(error: &SqlError) -> bool {
    matches!(error.state(), SqlState::UNDEFINED_FUNCTION | SqlState::INVALID_SCHEMA_NAME | SqlState::UNDEFINED_OBJECT)
}

/// A type as SQL names it.
pub(super) fn type_name(ty: &FunctionType) -> String {
    crate::catalog::function::type_text(ty)
}

/// PostgreSQL says of a parameter's type without quotes and without a place that it does not exist.
fn unquoted(mut error: SqlError, ty: &TypeName) -> SqlError {
    if error.state() == SqlState::UNDEFINED_OBJECT {
        let shown = ty.schema.as_ref().map_or(ty.name.clone(), |schema| format!("{schema}.{}", ty.name));
        let fields = error.fields_mut();
        (fields.message, fields.position) = (format!("type {shown} does not exist").into(), None);
    }
    error
}

/// A concrete type for a polymorphic one, to check a body with.
fn stand_in(ty: DataType) -> DataType {
    match ty {
        DataType::ANYELEMENT | DataType::ANYNONARRAY | DataType::ANYCOMPATIBLE => DataType::INT4,
        DataType::ANYARRAY | DataType::ANYCOMPATIBLEARRAY => DataType::INT4_ARRAY,
        other => other,
    }
}

/// Types that only signatures have.
fn pseudo_type(ty: &TypeName) -> Option<DataType> {
    if ty.array_dims > 0 || ty.schema.as_deref().is_some_and(|schema| schema != "pg_catalog") {
        return None;
    }
    Some(match ty.name.as_str() {
        "void" => DataType::VOID,
        "record" => DataType::RECORD,
        "trigger" => DataType::TRIGGER,
        "anyelement" => DataType::ANYELEMENT,
        "anyarray" => DataType::ANYARRAY,
        "anynonarray" => DataType::ANYNONARRAY,
        "anyenum" => DataType::ANYENUM,
        "anycompatible" => DataType::ANYCOMPATIBLE,
        "anycompatiblearray" => DataType::ANYCOMPATIBLEARRAY,
        _ => return None,
    })
}

/// OR REPLACE keeps what others have relied on.
fn replaceable(old: &FunctionDescriptor, new: &FunctionDescriptor) -> Result<(), SqlError> {
    let drop_hint = |error: SqlError| {
        let types: Vec<String> = old.inputs().map(|parameter| type_name(&parameter.ty)).collect();
        let word = if old.kind == RoutineKind::Procedure { "PROCEDURE" } else { "FUNCTION" };
        error.hint(format!("Use DROP {word} {}({}) first.", old.name, types.join(",")))
    };
    if old.kind != new.kind {
        let what = if old.kind == RoutineKind::Procedure { "a procedure" } else { "a function" };
        return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, "cannot change routine kind").detail(format!("\"{}\" is {what}.", old.name)));
    }
    if (old.result, old.returns_set) != (new.result, new.returns_set) {
        let message = if old.kind == RoutineKind::Procedure {
            "cannot change whether a procedure has output parameters"
        } else {
            "cannot change return type of existing function"
        };
        return Err(drop_hint(invalid(message)));
    }
    let columns = |function: &FunctionDescriptor| -> Vec<(String, DataType)> {
        function.outputs().map(|output| (output.name.clone(), output.ty.ty)).collect()
    };
    if old.result.ty == DataType::RECORD && columns(old) != columns(new) {
        return Err(drop_hint(
            invalid("cannot change return type of existing function").detail("Row type defined by OUT parameters is different."),
        ));
    }
    for (before, after) in old.inputs().zip(new.inputs()) {
        if !before.name.is_empty() && before.name != after.name {
            return Err(drop_hint(invalid(format!("cannot change name of input parameter \"{}\"", before.name))));
        }
        if before.default.is_some() && after.default.is_none() {
            return Err(drop_hint(invalid("cannot remove parameter defaults from existing function")));
        }
    }
    Ok(())
}

impl Ddl<'_, '_> {
    /// Removes a function; what depends on it only with CASCADE.
    fn drop_function(&mut self, function: &FunctionDescriptor, cascade: bool) -> Result<(), SqlError> {
        self.drop_dependents(Object::Function(function.oid), cascade)?;
        self.remove_function(function.oid);
        Ok(())
    }

    /// Kept texts name functions; a name that others know cannot change under them.
    pub(super) fn refuse_referred(&self, oid: Oid) -> Result<(), SqlError> {
        let refers = |reference: &Reference| *reference == Reference::Function(oid);
        let by_function = self.catalog().functions().any(|function| function.oid != oid && function.references.iter().any(refers));
        let by_table =
            || self.catalog().relations().any(|relation| relation.descriptor().references.iter().any(|(_, reference)| refers(reference)));
        if by_function || by_table() {
            return Err(SqlError::unsupported("renaming a function that other objects refer to"));
        }
        Ok(())
    }
}
