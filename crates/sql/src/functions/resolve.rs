//! Which function a call means: PostgreSQL's overload resolution.
//!
//! The steps are those of its manual's chapter "Type Conversion": an exact match wins; otherwise the candidates that the
//! arguments can implicitly become are narrowed by the number of exact matches, then of preferred types, then by what the
//! unknown literals could be, and exactly one must remain.  Polymorphic signatures (`anyarray`, `anyelement`,
//! `anycompatible`) are made concrete before they are compared.

use super::{BuiltinFunction, registry};
use crate::error::{SqlError, SqlState};
use crate::types::coercion::{CastContext, can_cast};
use crate::types::{DataType, catalog, common_type};

/// A call resolved.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// What to call.
    pub func: &'static BuiltinFunction,
    /// The type each actual argument is to be cast to.
    pub arg_types: Vec<DataType>,
    /// The result type, concrete.
    pub result: DataType,
}

/// A signature made concrete for a number of arguments.
#[derive(Clone, Debug)]
pub(crate) struct Candidate<F> {
    pub(crate) func: F,
    pub(crate) args: Vec<DataType>,
    pub(crate) result: DataType,
}

/// Signatures that resolution can choose between: functions, aggregates, set-returning functions.
pub(crate) trait Signature: Clone {
    /// Declared argument types.
    fn args(&self) -> &[DataType];
    /// Does the last argument repeat?
    fn variadic(&self) -> bool;
    /// Declared result type.
    fn result(&self) -> DataType;
}

impl Signature for &'static BuiltinFunction {
    fn args(&self) -> &[DataType] {
        self.args
    }
    fn variadic(&self) -> bool {
        self.variadic
    }
    fn result(&self) -> DataType {
        self.result
    }
}

/// Why no single candidate remained.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoMatch {
    None,
    Ambiguous,
}

/// The function that a call by name means. `name` is lower case, without `pg_catalog.`. A one-argument call of a type's
/// name is a cast; the binder tries that first or last (`catalog::lookup_type_name`), since it is not a function.
pub fn resolve_function(name: &str, args: &[DataType]) -> Result<Resolved, SqlError> {
    let overloads = registry::overloads(name);
    choose(overloads, args).map(into_resolved).map_err(|why| function_error(name, args, why))
}

/// The operator that a symbol means; `left` is `None` for a prefix operator.
pub fn resolve_operator(symbol: &str, left: Option<DataType>, right: DataType) -> Result<Resolved, SqlError> {
    let symbol = if symbol == "!=" { "<>" } else { symbol };
    let overloads = registry::overloads(symbol);
    let found = match left {
        None => choose(overloads, &[right]),
        Some(left) => choose_binary(overloads, left, right),
    };
    found.map(into_resolved).map_err(|why| operator_error(symbol, left, right, why))
}

fn into_resolved(candidate: Candidate<&'static BuiltinFunction>) -> Resolved {
    Resolved { func: candidate.func, arg_types: candidate.args, result: candidate.result }
}

/// `2 + '3'`: an unknown beside a known type is first taken to be of that type.
fn choose_binary(
    overloads: &[&'static BuiltinFunction],
    left: DataType,
    right: DataType,
) -> Result<Candidate<&'static BuiltinFunction>, NoMatch> {
    let same = match (left, right) {
        (DataType::UNKNOWN, DataType::UNKNOWN) => None,
        (DataType::UNKNOWN, known) | (known, DataType::UNKNOWN) => Some(known),
        _ => None,
    };
    if let Some(known) = same {
        let exact =
            overloads.iter().filter_map(|f| instantiate(*f, &[known, known])).find(|c| c.args == [known, known] && !is_any(&c.func, 2));
        if let Some(found) = exact {
            return Ok(found);
        }
    }
    choose(overloads, &[left, right])
}

fn is_any<F: Signature>(func: &F, arity: usize) -> bool {
    func.args().len() == arity && func.args().iter().any(|ty| catalog::info(*ty).category == b'P')
}

/// The one candidate that the rules leave.
pub(crate) fn choose<F: Signature>(overloads: &[F], args: &[DataType]) -> Result<Candidate<F>, NoMatch> {
    let mut candidates: Vec<Candidate<F>> = overloads.iter().filter_map(|f| instantiate(f.clone(), args)).collect();
    if let Some(at) = candidates.iter().position(|c| c.args == args && !is_any(&c.func, args.len())) {
        return Ok(candidates.swap_remove(at));
    }
    candidates.retain(|c| c.args.iter().zip(args).all(|(to, from)| can_cast(*from, *to, CastContext::Implicit)));
    if candidates.is_empty() {
        return Err(NoMatch::None);
    }
    keep_best(&mut candidates, |c| count(c, args, |to, from| from != DataType::UNKNOWN && to == from));
    keep_best(&mut candidates, |c| count(c, args, |to, from| from != DataType::UNKNOWN && (to == from || catalog::info(to).preferred)));
    if candidates.len() > 1 {
        narrow_by_unknowns(&mut candidates, args);
    }
    if candidates.len() > 1 {
        narrow_by_known_type(&mut candidates, args);
    }
    // Among equals a polymorphic signature yields to a plain one, whose types were declared.
    if candidates.len() > 1 && candidates.iter().any(|c| !is_any(&c.func, args.len())) {
        candidates.retain(|c| !is_any(&c.func, args.len()));
    }
    // A variadic signature yields to a plain one.
    if candidates.len() > 1 && candidates.iter().any(|c| !c.func.variadic()) {
        candidates.retain(|c| !c.func.variadic());
    }
    match candidates.len() {
        1 => Ok(candidates.swap_remove(0)),
        _ => Err(NoMatch::Ambiguous),
    }
}

/// Matching positions; a polymorphic one matches nothing exactly, whatever it became.
fn count<F: Signature>(candidate: &Candidate<F>, args: &[DataType], matches: impl Fn(DataType, DataType) -> bool) -> usize {
    args.iter().enumerate().filter(|(at, from)| matches(candidate.declared(*at), **from)).count()
}

impl<F: Signature> Candidate<F> {
    /// The type declared for a position, before it was made concrete.
    fn declared(&self, at: usize) -> DataType {
        let declared = self.func.args();
        declared.get(at).or(declared.last()).copied().unwrap_or(DataType::ANY)
    }
}

fn keep_best<F>(candidates: &mut Vec<Candidate<F>>, score: impl Fn(&Candidate<F>) -> usize) {
    let best = candidates.iter().map(&score).max().unwrap_or(0);
    candidates.retain(|c| score(c) == best);
}

/// Each unknown argument is taken to be a string if any candidate takes one there, else of the category all agree on.
fn narrow_by_unknowns<F: Signature>(candidates: &mut Vec<Candidate<F>>, args: &[DataType]) {
    let mut survivors: Vec<bool> = vec![true; candidates.len()];
    for (at, _) in args.iter().enumerate().filter(|(_, ty)| **ty == DataType::UNKNOWN) {
        let categories: Vec<u8> = candidates.iter().map(|c| catalog::info(c.declared(at)).category).collect();
        let wanted = if categories.contains(&b'S') {
            b'S'
        } else if categories.iter().all(|c| *c == categories[0]) {
            categories[0]
        } else {
            return; // no agreement: leave it to the last rule
        };
        let preferred = candidates.iter().map(|c| catalog::info(c.declared(at))).any(|info| info.category == wanted && info.preferred);
        for (candidate, survives) in candidates.iter().zip(&mut survivors) {
            let info = catalog::info(candidate.declared(at));
            *survives &= info.category == wanted && (!preferred || info.preferred);
        }
    }
    if survivors.contains(&true) {
        let mut keep = survivors.into_iter();
        candidates.retain(|_| keep.next().unwrap_or(false));
    }
}

/// If all known arguments have one type, the unknown ones are taken to have it too.
fn narrow_by_known_type<F>(candidates: &mut Vec<Candidate<F>>, args: &[DataType]) {
    let mut known = args.iter().copied().filter(|ty| *ty != DataType::UNKNOWN);
    let Some(first) = known.next() else { return };
    if !known.all(|ty| ty == first) || !args.contains(&DataType::UNKNOWN) {
        return;
    }
    let fits = |c: &Candidate<F>| c.args.iter().all(|to| can_cast(first, *to, CastContext::Implicit));
    if candidates.iter().filter(|c| fits(c)).count() == 1 {
        candidates.retain(fits);
    }
}

/// The signature for these arguments: variadic repeated, polymorphic types made concrete. `None` if it cannot fit.
fn instantiate<F: Signature>(func: F, args: &[DataType]) -> Option<Candidate<F>> {
    let declared = func.args();
    let fits = if func.variadic() { args.len() >= declared.len() } else { args.len() == declared.len() };
    if !fits {
        return None;
    }
    let mut concrete: Vec<DataType> = (0..args.len()).map(|at| declared[at.min(declared.len().saturating_sub(1))]).collect();
    let mut result = func.result();
    let element = polymorphic_element(&concrete, args)?;
    for (at, ty) in concrete.iter_mut().enumerate() {
        *ty = substitute(*ty, element, args[at])?;
    }
    if catalog::info(result).category == b'P' {
        result = substitute(result, element, result)?;
    }
    Some(Candidate { func, args: concrete, result })
}

/// The element type that polymorphic arguments agree on: `Some(None)` when there are none, `None` when they disagree.
fn polymorphic_element(declared: &[DataType], args: &[DataType]) -> Option<Option<DataType>> {
    let mut elements: Vec<DataType> = Vec::new();
    let (mut polymorphic, mut compatible) = (false, false);
    for (ty, actual) in declared.iter().zip(args) {
        compatible |= matches!(*ty, DataType::ANYCOMPATIBLE | DataType::ANYCOMPATIBLEARRAY);
        match *ty {
            DataType::ANYARRAY | DataType::ANYCOMPATIBLEARRAY => {
                polymorphic = true;
                if *actual != DataType::UNKNOWN {
                    elements.push(catalog::element_of(*actual)?);
                }
            }
            DataType::ANYENUM => {
                polymorphic = true;
                match *actual {
                    DataType::UNKNOWN => {}
                    actual if crate::types::enums::is_enum(actual) => elements.push(actual),
                    _ => return None,
                }
            }
            DataType::ANYELEMENT | DataType::ANYNONARRAY | DataType::ANYCOMPATIBLE => {
                polymorphic = true;
                if *ty == DataType::ANYNONARRAY && actual.is_array() {
                    return None;
                }
                if *actual != DataType::UNKNOWN {
                    elements.push(*actual);
                }
            }
            _ => {}
        }
    }
    if !polymorphic {
        return Some(None);
    }
    match elements.first() {
        None => Some(Some(DataType::TEXT)),
        Some(first) if elements.iter().all(|e| e == first) => Some(Some(*first)),
        Some(_) if compatible => common_type(&elements, "").ok().map(Some),
        Some(_) => None,
    }
}

fn substitute(declared: DataType, element: Option<DataType>, actual: DataType) -> Option<DataType> {
    match declared {
        // Nothing says which enum.
        DataType::ANYENUM if element == Some(DataType::TEXT) => None,
        DataType::ANYELEMENT | DataType::ANYNONARRAY | DataType::ANYCOMPATIBLE | DataType::ANYENUM => element.or(Some(declared)),
        DataType::ANYARRAY | DataType::ANYCOMPATIBLEARRAY => match element {
            Some(element) => catalog::array_of(element),
            None => Some(declared),
        },
        DataType::ANY if actual == DataType::UNKNOWN => Some(DataType::TEXT),
        DataType::ANY => Some(actual),
        other => Some(other),
    }
}

/// `name(integer, unknown)`.
pub(super) fn call_text(name: &str, args: &[DataType]) -> String {
    let args: Vec<&str> = args.iter().map(|ty| catalog::info(*ty).display).collect();
    format!("{name}({})", args.join(", "))
}

pub(crate) fn function_error(name: &str, args: &[DataType], why: NoMatch) -> SqlError {
    let call = call_text(name, args);
    match why {
        NoMatch::None => SqlError::new(SqlState::UNDEFINED_FUNCTION, format!("function {call} does not exist"))
            .hint("No function matches the given name and argument types. You might need to add explicit type casts."),
        NoMatch::Ambiguous => SqlError::new(SqlState::AMBIGUOUS_FUNCTION, format!("function {call} is not unique"))
            .hint("Could not choose a best candidate function. You might need to add explicit type casts."),
    }
}

fn operator_error(symbol: &str, left: Option<DataType>, right: DataType, why: NoMatch) -> SqlError {
    let call = match left {
        Some(left) => format!("{left} {symbol} {right}"),
        None => format!("{symbol} {right}"),
    };
    match why {
        NoMatch::None => SqlError::new(SqlState::UNDEFINED_FUNCTION, format!("operator does not exist: {call}"))
            .hint("No operator matches the given name and argument types. You might need to add explicit type casts."),
        NoMatch::Ambiguous => SqlError::new(SqlState::AMBIGUOUS_FUNCTION, format!("operator is not unique: {call}"))
            .hint("Could not choose a best candidate operator. You might need to add explicit type casts."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::{resolve_aggregate, resolve_set_function};

    /// What psql and drivers ask, by operand types.
    #[test]
    fn catalog_queries_resolve() {
        let cases = [
            ("=", DataType::CHAR, DataType::UNKNOWN, [DataType::CHAR, DataType::CHAR]),
            ("=", DataType::NAME, DataType::UNKNOWN, [DataType::NAME, DataType::NAME]),
            ("~", DataType::NAME, DataType::UNKNOWN, [DataType::NAME, DataType::TEXT]),
            ("=", DataType::OID, DataType::REGCLASS, [DataType::OID, DataType::OID]),
            ("=", DataType::OID, DataType::INT4, [DataType::OID, DataType::OID]),
            (">", DataType::INT2, DataType::INT4, [DataType::INT2, DataType::INT4]),
            ("&", DataType::INT2, DataType::INT4, [DataType::INT4, DataType::INT4]),
            ("||", DataType::NAME, DataType::UNKNOWN, [DataType::TEXT, DataType::TEXT]),
            ("=", DataType::NAME, DataType::VARCHAR, [DataType::NAME, DataType::TEXT]),
            ("=", DataType::CHAR, DataType::TEXT, [DataType::TEXT, DataType::TEXT]),
            ("-", DataType::TIMESTAMPTZ, DataType::INTERVAL, [DataType::TIMESTAMPTZ, DataType::INTERVAL]),
            ("*", DataType::NUMERIC, DataType::INT4, [DataType::NUMERIC, DataType::NUMERIC]),
            ("*", DataType::INT8, DataType::FLOAT8, [DataType::FLOAT8, DataType::FLOAT8]),
        ];
        for (symbol, left, right, expected) in cases {
            let resolved = resolve_operator(symbol, Some(left), right).unwrap();
            assert_eq!(resolved.arg_types, expected, "{left} {symbol} {right}");
        }
        for (name, args) in [
            ("pg_get_expr", vec![DataType::PG_NODE_TREE, DataType::OID]),
            ("has_schema_privilege", vec![DataType::UNKNOWN, DataType::UNKNOWN]),
            ("array_to_string", vec![DataType::ACLITEM_ARRAY, DataType::UNKNOWN]),
            ("nextval", vec![DataType::UNKNOWN]),
            ("format_type", vec![DataType::OID, DataType::INT4]),
            ("obj_description", vec![DataType::OID, DataType::UNKNOWN]),
        ] {
            assert!(resolve_function(name, &args).is_ok(), "{name}");
        }
    }

    #[test]
    fn polymorphic_results_are_concrete() {
        assert_eq!(resolve_aggregate("array_agg", &[DataType::NAME]).unwrap().result, DataType::NAME_ARRAY);
        assert_eq!(resolve_aggregate("array_agg", &[DataType::INT4_ARRAY]).unwrap().result, DataType::INT4_ARRAY);
        assert_eq!(resolve_aggregate("max", &[DataType::VARCHAR]).unwrap().result, DataType::TEXT);
        assert_eq!(resolve_set_function("unnest", &[DataType::TEXT_ARRAY]).unwrap().result, DataType::TEXT);
        assert_eq!(resolve_function("array_append", &[DataType::INT4_ARRAY, DataType::INT8]).unwrap().result, DataType::INT8_ARRAY);
        assert!(resolve_function("array_append", &[DataType::INT4_ARRAY, DataType::BOOL]).is_err());
    }
}
