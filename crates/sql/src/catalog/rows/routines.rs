//! `pg_proc` and `pg_operator`: of PostgreSQL's functions and operators, with its OIDs, those that exist here.

use super::{Rows, VirtualScan};
use crate::ast::{FunctionBody, ParameterMode, RoutineKind};
use crate::catalog::{AclItem, Catalog, FunctionDescriptor, Oid};
use crate::functions::Volatility;
use crate::functions::registry::overloads;
use crate::functions::{FunctionClass, function_class};
use crate::types::{DataType, Datum};
use hashbrown::{HashMap, HashSet};
use std::sync::{Arc, LazyLock};

const PROCEDURES: &str = include_str!("../data/pg_proc.tsv");
const OPERATORS: &str = include_str!("../data/pg_operator.tsv");

/// A function as the catalog knows it.
#[derive(Debug)]
pub(in crate::catalog) struct Routine {
    pub(in crate::catalog) oid: Oid,
    pub(in crate::catalog) name: &'static str,
    pub(in crate::catalog) args: Vec<DataType>,
    pub(in crate::catalog) variadic: bool,
    pub(in crate::catalog) result: DataType,
    pub(in crate::catalog) returns_set: bool,
    pub(in crate::catalog) kind: &'static str,
    line: &'static str,
}

fn parse(line: &'static str) -> Option<Routine> {
    let field: Vec<&'static str> = line.split('\t').collect();
    let oid = |at: usize| field.get(at)?.parse::<u32>().ok();
    Some(Routine {
        oid: oid(0)?,
        name: field.get(1)?,
        variadic: oid(2)? != 0,
        kind: field.get(3)?,
        returns_set: *field.get(5)? == "t",
        result: DataType(oid(9)?),
        args: field.get(10)?.split(' ').filter_map(|word| word.parse().ok()).map(DataType).collect(),
        line,
    })
}

/// Types' own functions, and those behind operators and casts, by OID.
static SUPPORT: LazyLock<HashSet<Oid>> = LazyLock::new(|| {
    let numbers = |line: Vec<&'static str>, from: usize, to: usize| -> Vec<Oid> {
        line.get(from..to).unwrap_or_default().iter().filter_map(|word| word.parse().ok()).collect()
    };
    let of_types = super::constants::fields("pg_type").flat_map(|line| [numbers(line.clone(), 9, 10), numbers(line, 12, 18)].concat());
    let of_operators =
        OPERATORS.lines().skip(1).filter(|line| operator_exists(line)).flat_map(|line| numbers(line.split('\t').collect(), 10, 11));
    of_types.chain(of_operators).collect()
});

fn exists(routine: &Routine) -> bool {
    match function_class(routine.name) {
        Some(FunctionClass::Scalar) if routine.kind == "f" && !routine.returns_set => overloads(routine.name)
            .iter()
            .any(|f| f.args.len() == routine.args.len() && f.args.iter().zip(&routine.args).all(|(a, b)| a == b)),
        Some(FunctionClass::Aggregate | FunctionClass::SetReturning) => true,
        _ => false,
    }
}

static ROUTINES: LazyLock<Vec<Routine>> = LazyLock::new(|| {
    PROCEDURES.lines().skip(1).filter_map(parse).filter(|routine| SUPPORT.contains(&routine.oid) || exists(routine)).collect()
});

static BY_OID: LazyLock<HashMap<Oid, &'static Routine>> = LazyLock::new(|| ROUTINES.iter().map(|routine| (routine.oid, routine)).collect());

/// A function by OID.
pub(in crate::catalog) fn routine(oid: Oid) -> Option<&'static Routine> {
    BY_OID.get(&oid).copied()
}

/// The functions of a name.
pub(in crate::catalog) fn routine_named(name: &str) -> impl Iterator<Item = &'static Routine> {
    ROUTINES.iter().filter(move |routine| routine.name == name)
}

/// PostgreSQL's number of the language SQL.
const SQL: Oid = 14;

fn types(function: &FunctionDescriptor) -> Vec<(ParameterMode, Oid)> {
    function.parameters.iter().map(|parameter| (parameter.mode, parameter.ty.declared.unwrap_or(parameter.ty.ty.0))).collect()
}

/// Whether there is more to say of the parameters than the types of those that come in.
fn has_modes(function: &FunctionDescriptor) -> bool {
    function.parameters.iter().any(|parameter| parameter.mode != ParameterMode::In)
}

static MADE: &[(&str, fn(&&Arc<FunctionDescriptor>) -> Datum)] = &[
    ("oid", |f| Datum::Oid(f.oid)),
    ("proname", |f| Datum::text(f.name.as_str())),
    ("pronamespace", |f| Datum::Oid(f.schema_oid)),
    ("prolang", |_| Datum::Oid(SQL)),
    ("procost", |f| Datum::Float4(f.cost)),
    ("prorows", |f| Datum::Float4(f.rows)),
    ("provariadic", |f| {
        let last = f.inputs().find(|parameter| parameter.mode == ParameterMode::Variadic);
        Datum::Oid(last.map_or(0, |parameter| crate::types::element_of(parameter.ty.ty).unwrap_or(DataType::ANYELEMENT).0))
    }),
    ("prokind", |f| Datum::Char(if f.kind == RoutineKind::Procedure { b'p' } else { b'f' })),
    ("prosecdef", |f| Datum::Bool(f.security_definer)),
    ("proleakproof", |f| Datum::Bool(f.leakproof)),
    ("proisstrict", |f| Datum::Bool(f.strict)),
    ("proretset", |f| Datum::Bool(f.returns_set)),
    ("provolatile", |f| {
        Datum::Char(match f.volatility {
            Volatility::Immutable => b'i',
            Volatility::Stable => b's',
            Volatility::Volatile => b'v',
        })
    }),
    ("proparallel", |f| Datum::Char(f.parallel as u8)),
    ("pronargs", |f| Datum::Int2(f.inputs().count() as i16)),
    ("pronargdefaults", |f| Datum::Int2(f.inputs().filter(|parameter| parameter.default.is_some()).count() as i16)),
    ("prorettype", |f| Datum::Oid(f.result.declared.unwrap_or(f.result.ty.0))),
    ("proargtypes", |f| {
        let inputs = types(f).into_iter().filter(|(mode, _)| mode.is_input());
        super::vector(DataType::OID, inputs.map(|(_, ty)| Datum::Oid(ty)).collect())
    }),
    ("proallargtypes", |f| match has_modes(f) {
        true => Datum::array(DataType::OID, types(f).into_iter().map(|(_, ty)| Datum::Oid(ty)).collect()),
        false => Datum::Null,
    }),
    ("proargmodes", |f| match has_modes(f) {
        true => Datum::array(DataType::CHAR, types(f).into_iter().map(|(mode, _)| Datum::Char(mode.letter())).collect()),
        false => Datum::Null,
    }),
    ("proargnames", |f| match f.parameters.iter().any(|parameter| !parameter.name.is_empty()) {
        true => super::texts(f.parameters.iter().map(|parameter| parameter.name.as_str())),
        false => Datum::Null,
    }),
    ("proargdefaults", |f| {
        let defaults: Vec<&str> = f.inputs().filter_map(|parameter| parameter.default.as_deref()).collect();
        if defaults.is_empty() { Datum::Null } else { Datum::text(defaults.join(", ")) }
    }),
    ("prosrc", |f| match &f.body {
        FunctionBody::Text(text) => Datum::text(text.as_str()),
        _ => Datum::text(""),
    }),
    ("prosqlbody", |f| match &f.body {
        FunctionBody::Text(_) => Datum::Null,
        FunctionBody::Return(text) => Datum::text(text.as_str()),
        FunctionBody::Atomic(texts) => Datum::text(texts.join("; ")),
    }),
    ("proconfig", |f| match f.settings.is_empty() {
        true => Datum::Null,
        false => Datum::array(DataType::TEXT, f.settings.iter().map(|(name, value)| Datum::text(format!("{name}={value}"))).collect()),
    }),
    ("proacl", |f| AclItem::datum(&f.acl)),
];

/// `pg_proc`.
pub(super) fn routines(scan: &VirtualScan<'_>, catalog: &Catalog) -> Rows {
    let mut rows = builtin_routines(scan);
    rows.extend(super::fill(scan, MADE, catalog.functions_in_order().into_iter()));
    rows
}

fn builtin_routines(scan: &VirtualScan<'_>) -> Rows {
    let place = |column: &str| scan.table.columns.iter().position(|(name, _)| *name == column);
    let (language, parallel, cost) = (place("prolang"), place("proparallel"), place("procost"));
    let lines = std::iter::once(PROCEDURES.lines().next().unwrap_or_default()).chain(ROUTINES.iter().map(|routine| routine.line));
    let mut rows = super::constants::parse_lines(scan, lines);
    for row in &mut rows {
        // The same for all: written in "internal", safe in parallel, of unit cost.
        for (at, value) in [(language, Datum::Oid(12)), (parallel, Datum::Char(b's')), (cost, Datum::Float4(1.0))] {
            if let Some(slot) = at.and_then(|at| row.get_mut(at)) {
                *slot = value;
            }
        }
    }
    rows
}

fn operator_exists(line: &str) -> bool {
    let field: Vec<&str> = line.split('\t').collect();
    let types: Vec<DataType> =
        field.get(5..7).unwrap_or_default().iter().filter_map(|word| word.parse().ok()).filter(|oid| *oid != 0).map(DataType).collect();
    field.get(1).is_some_and(|name| overloads(name).iter().any(|f| f.args == types.as_slice()))
}

/// `pg_operator`.
pub(super) fn operators(scan: &VirtualScan<'_>) -> Rows {
    let mut lines = OPERATORS.lines();
    let header = lines.next().unwrap_or_default();
    super::constants::parse_lines(scan, std::iter::once(header).chain(lines.filter(|line| operator_exists(line))))
}

/// Operators that exist: symbol, OID and operand types.
static SYMBOLS: LazyLock<Vec<(&'static str, Operator)>> = LazyLock::new(|| {
    let symbol = |line: &'static str| {
        let field: Vec<&'static str> = line.split('\t').collect();
        let number = |at: usize| field.get(at)?.parse::<u32>().ok();
        Some((*field.get(1)?, (number(0)?, DataType(number(5)?), DataType(number(6)?))))
    };
    OPERATORS.lines().skip(1).filter(|line| operator_exists(line)).filter_map(symbol).collect()
});

/// An operator's OID and the types to its left (0 for none) and right.
type Operator = (Oid, DataType, DataType);

/// An operator's symbol.
pub(in crate::catalog) fn operator(oid: Oid) -> Option<&'static str> {
    SYMBOLS.iter().find(|(_, operator)| operator.0 == oid).map(|(symbol, _)| *symbol)
}

/// The operators of a symbol.
pub(in crate::catalog) fn operators_named(symbol: &str) -> impl Iterator<Item = Operator> {
    SYMBOLS.iter().filter(move |(name, _)| *name == symbol).map(|(_, operator)| *operator)
}

/// `=` of a type by OID: left type to operator.
static EQUALITIES: LazyLock<HashMap<Oid, Oid>> = LazyLock::new(|| {
    let equality = |line: &'static str| {
        let field: Vec<&str> = line.split('\t').collect();
        let same = field.get(5)? == field.get(6)?;
        (*field.get(1)? == "=" && same).then_some((field.get(5)?.parse().ok()?, field.first()?.parse().ok()?))
    };
    OPERATORS.lines().skip(1).filter_map(equality).collect()
});

/// The equality operator of a type, 0 if unknown.
pub(super) fn equality(ty: DataType) -> Oid {
    let ty = if ty == DataType::VARCHAR { DataType::TEXT } else { ty };
    EQUALITIES.get(&ty.0).copied().unwrap_or_default()
}
