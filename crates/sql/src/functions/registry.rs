//! Every builtin, by name. Each subject's file lists its own functions in a static table; this file only gathers them.

use super::{
    BuiltinFunction, aggregate, arithmetic, arrays, comparison, dates, json, math, number_format, pattern, quoting, regexp, set_returning,
    strings, system, trigonometry, unicode,
};
use hashbrown::HashMap;
use std::sync::LazyLock;

/// The tables of all subjects.
static TABLES: [&[BuiltinFunction]; 23] = [
    comparison::FUNCTIONS,
    arithmetic::INTEGERS,
    arithmetic::FUNCTIONS,
    math::FUNCTIONS,
    trigonometry::FUNCTIONS,
    strings::FUNCTIONS,
    pattern::FUNCTIONS,
    regexp::FUNCTIONS,
    unicode::FUNCTIONS,
    quoting::FUNCTIONS,
    dates::operators::FUNCTIONS,
    dates::fields::FUNCTIONS,
    dates::construct::FUNCTIONS,
    dates::to_char::FUNCTIONS,
    dates::to_date::FUNCTIONS,
    number_format::FUNCTIONS,
    arrays::FUNCTIONS,
    json::access::FUNCTIONS,
    json::build::FUNCTIONS,
    json::modify::FUNCTIONS,
    json::path::FUNCTIONS,
    system::FUNCTIONS,
    system::CATALOG,
];

static BY_NAME: LazyLock<HashMap<&'static str, Vec<&'static BuiltinFunction>>> = LazyLock::new(|| {
    let mut map: HashMap<&'static str, Vec<&'static BuiltinFunction>> = HashMap::new();
    for func in TABLES.iter().flat_map(|table| table.iter()) {
        map.entry(func.name).or_default().push(func);
    }
    map
});

/// What a function's name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum FunctionClass {
    Scalar,
    Aggregate,
    SetReturning,
}

/// All overloads of a name, operators by symbol.
pub fn overloads(name: &str) -> &'static [&'static BuiltinFunction] {
    BY_NAME.get(name).map_or(&[], Vec::as_slice)
}

/// Every function and operator, for `pg_proc` and `pg_operator`.
pub fn all_functions() -> impl Iterator<Item = &'static BuiltinFunction> {
    TABLES.iter().flat_map(|table| table.iter())
}

/// What the name stands for, `None` when there is no such function. No name here is in two classes.
pub fn function_class(name: &str) -> Option<FunctionClass> {
    if BY_NAME.contains_key(name) {
        Some(FunctionClass::Scalar)
    } else if aggregate::is_aggregate(name) {
        Some(FunctionClass::Aggregate)
    } else if set_returning::is_set_returning(name) {
        Some(FunctionClass::SetReturning)
    } else {
        None
    }
}
