//! Users' functions as text: their arguments, results and definitions, as `pg_get_functiondef` and its relatives give them.

use super::visibility::is_function_visible;
use crate::ast::{FunctionBody, ParameterMode, RoutineKind, TypeName};
use crate::bind::declared_type_in;
use crate::catalog::{Catalog, FunctionDescriptor, FunctionParameter, FunctionType, Oid};
use crate::expr::SessionInfo;
use crate::functions::Volatility;
use crate::functions::quoting::quote_ident;
use crate::types::DataType;
use std::fmt::Write;
use std::sync::Arc;

/// What PostgreSQL assumes of an SQL function, and so does not write.
const DEFAULT_COST: f32 = 100.0;
const DEFAULT_ROWS: f32 = 1000.0;

/// A type in a signature, as SQL writes it.
pub(super) fn type_text(ty: &FunctionType, catalog: &Catalog, session: &dyn SessionInfo) -> String {
    match ty.row_of.and_then(|oid| catalog.table(oid)) {
        Some(table) => {
            let visible = session.current_schemas(true).contains(&table.schema);
            let name = quote_ident(&table.name);
            if visible { name.to_string() } else { format!("{}.{name}", quote_ident(&table.schema)) }
        }
        None => {
            let own = DataType(ty.declared.unwrap_or(ty.ty.0));
            let named =
                (own.0 >= crate::catalog::FIRST_USER_OID).then(|| session.object_name(crate::expr::ObjectKind::Type, own.0)).flatten();
            named.unwrap_or_else(|| own.to_string())
        }
    }
}

fn parameter(
    function: &FunctionDescriptor,
    of: &FunctionParameter,
    defaults: bool,
    catalog: &Catalog,
    session: &dyn SessionInfo,
) -> String {
    let mode = match of.mode {
        ParameterMode::In if function.kind == RoutineKind::Procedure => "IN ",
        ParameterMode::In | ParameterMode::Table => "",
        ParameterMode::Out => "OUT ",
        ParameterMode::InOut => "INOUT ",
        ParameterMode::Variadic => "VARIADIC ",
    };
    let name = if of.name.is_empty() { String::new() } else { format!("{} ", quote_ident(&of.name)) };
    let default = of.default.as_ref().filter(|_| defaults).map_or(String::new(), |text| format!(" DEFAULT {text}"));
    format!("{mode}{name}{}{default}", type_text(&of.ty, catalog, session))
}

/// `pg_get_function_arguments`, and without defaults `pg_get_function_identity_arguments`.
pub(super) fn arguments(function: &FunctionDescriptor, defaults: bool, catalog: &Catalog, session: &dyn SessionInfo) -> String {
    let own = function.parameters.iter().filter(|parameter| parameter.mode != ParameterMode::Table);
    own.map(|of| parameter(function, of, defaults, catalog, session)).collect::<Vec<_>>().join(", ")
}

/// `pg_get_function_result`.
pub(super) fn result(function: &FunctionDescriptor, catalog: &Catalog, session: &dyn SessionInfo) -> Option<String> {
    if function.kind == RoutineKind::Procedure {
        return None;
    }
    let table: Vec<String> = function
        .parameters
        .iter()
        .filter(|parameter| parameter.mode == ParameterMode::Table)
        .map(|of| parameter(function, of, false, catalog, session))
        .collect();
    if !table.is_empty() {
        return Some(format!("TABLE({})", table.join(", ")));
    }
    let set = if function.returns_set { "SETOF " } else { "" };
    Some(format!("{set}{}", type_text(&function.result, catalog, session)))
}

/// `pg_get_function_sqlbody`: none if the body is a string.
pub(super) fn sql_body(function: &FunctionDescriptor) -> Option<String> {
    match &function.body {
        FunctionBody::Text(_) => None,
        FunctionBody::Return(text) => Some(format!("RETURN {text}")),
        FunctionBody::Atomic(texts) => {
            let lines: String = texts.iter().map(|text| format!(" {text};\n")).collect();
            Some(format!("BEGIN ATOMIC\n{lines}END"))
        }
    }
}

/// `pg_get_functiondef`.
pub(super) fn definition(function: &FunctionDescriptor, catalog: &Catalog, session: &dyn SessionInfo) -> String {
    let (word, tag) = match function.kind {
        RoutineKind::Procedure => ("PROCEDURE", "procedure"),
        _ => ("FUNCTION", "function"),
    };
    let name = format!("{}.{}", quote_ident(&function.schema), quote_ident(&function.name));
    let mut out = format!("CREATE OR REPLACE {word} {name}({})\n", arguments(function, true, catalog, session));
    if let Some(result) = result(function, catalog, session) {
        let _ = writeln!(out, " RETURNS {result}");
    }
    out.push_str(" LANGUAGE sql\n");
    let mut options = String::new();
    match function.volatility {
        Volatility::Immutable => options.push_str(" IMMUTABLE"),
        Volatility::Stable => options.push_str(" STABLE"),
        Volatility::Volatile => {}
    }
    match function.parallel {
        's' => options.push_str(" PARALLEL SAFE"),
        'r' => options.push_str(" PARALLEL RESTRICTED"),
        _ => {}
    }
    for (holds, text) in
        [(function.strict, " STRICT"), (function.security_definer, " SECURITY DEFINER"), (function.leakproof, " LEAKPROOF")]
    {
        options.push_str(if holds { text } else { "" });
    }
    if function.cost != DEFAULT_COST {
        let _ = write!(options, " COST {}", function.cost);
    }
    if function.returns_set && function.rows != DEFAULT_ROWS {
        let _ = write!(options, " ROWS {}", function.rows);
    }
    if !options.is_empty() {
        let _ = writeln!(out, "{options}");
    }
    for (setting, value) in &function.settings {
        let values: Vec<String> = value.split(',').map(|part| format!("'{}'", part.trim().trim_matches('"').replace('\'', "''"))).collect();
        let _ = writeln!(out, " SET {setting} TO {}", values.join(", "));
    }
    match (&function.body, sql_body(function)) {
        (_, Some(body)) => {
            let _ = writeln!(out, "{body}");
        }
        (FunctionBody::Text(text), None) => {
            let mut quote = format!("${tag}$");
            while text.contains(&quote) {
                quote.insert(quote.len() - 1, 'x');
            }
            let _ = writeln!(out, "AS {quote}{text}{quote}");
        }
        _ => {}
    }
    out
}

/// `name(types)`, as `regprocedure` shows it.
pub(super) fn signature(function: &FunctionDescriptor, catalog: &Catalog, session: &dyn SessionInfo) -> String {
    let types: Vec<String> = function.inputs().map(|parameter| type_text(&parameter.ty, catalog, session)).collect();
    format!("{}({})", name(function, catalog, session), types.join(","))
}

/// The name, with its schema where the bare one would not find it.
pub(super) fn name(function: &FunctionDescriptor, catalog: &Catalog, session: &dyn SessionInfo) -> String {
    let bare = quote_ident(&function.name);
    if is_function_visible(catalog, session, function) { bare.to_string() } else { format!("{}.{bare}", quote_ident(&function.schema)) }
}

/// The function of a text: `name`, if there is only one, or `name(types)`; a schema may stand in front.
pub(super) fn named(schema: Option<&str>, name: &str, args: Option<&str>, catalog: &Catalog, search_path: &[String]) -> Option<Oid> {
    let known = catalog.functions_named(schema, name, search_path);
    let Some(args) = args else {
        return match known.as_slice() {
            [one] => Some(one.oid),
            _ => None,
        };
    };
    let mut types: Vec<DataType> = Vec::new();
    for part in args.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let ty: TypeName = crate::parse::parse_type(part).ok()?;
        types.push(
            declared_type_in(&ty, catalog, search_path)
                .map_or_else(|_| crate::types::lookup_type_name(&ty.name), |known| Some(known.ty.ty))?,
        );
    }
    known.into_iter().find(|function: &&Arc<FunctionDescriptor>| function.input_types() == types).map(|function| function.oid)
}
