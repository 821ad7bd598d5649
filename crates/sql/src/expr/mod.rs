//! Bound expressions: every name is a slot, every operator a function, every type known.
//!
//! Evaluation is synchronous: subqueries were lifted out by the planner before an expression gets here (their results
//! arrive as extra slots of the input row), so nothing in this tree can wait.

use crate::functions::BuiltinFunction;
use crate::types::{ColumnType, DataType, Datum};

/// A bound scalar expression.
#[derive(Clone, Debug)]
pub enum Expr {
    /// A constant.
    Const(Datum, ColumnType),
    /// A statement parameter, `$1` being index 0 (lifted literals are parameters too).
    Param(usize, ColumnType),
    /// A slot of the input row.
    Column(usize, ColumnType),
    /// A column of an enclosing query's row (`depth` 1 = the nearest). Only before planning; the planner turns it into a
    /// correlation slot.
    Outer {
        /// How many queries up.
        depth: usize,
        /// Slot in that query's row.
        index: usize,
        /// Its type.
        ty: ColumnType,
    },
    /// A function or operator.
    Call {
        /// The resolved builtin.
        func: &'static BuiltinFunction,
        /// Arguments, already cast to the signature.
        args: Vec<Expr>,
        /// Result type (differs from the signature for polymorphic functions).
        ty: ColumnType,
    },
    /// Three-valued AND.
    And(Vec<Expr>),
    /// Three-valued OR.
    Or(Vec<Expr>),
    /// Three-valued NOT.
    Not(Box<Expr>),
    /// `IS [NOT] NULL`.
    IsNull {
        /// Tested expression.
        expr: Box<Expr>,
        /// `IS NOT NULL`.
        negated: bool,
    },
    /// `IS [NOT] TRUE / FALSE` (value = Some) `/ UNKNOWN` (value = None).
    IsBool {
        /// Tested expression.
        expr: Box<Expr>,
        /// What it is compared with.
        value: Option<bool>,
        /// `IS NOT`.
        negated: bool,
    },
    /// `IS [NOT] DISTINCT FROM`, by the type's equality.
    IsDistinct {
        /// Left side.
        left: Box<Expr>,
        /// Right side.
        right: Box<Expr>,
        /// `IS NOT DISTINCT FROM`.
        negated: bool,
    },
    /// `CASE`; an operand form was rewritten into comparisons by the binder.
    Case {
        /// `(condition, result)` pairs.
        whens: Vec<(Expr, Expr)>,
        /// `ELSE`.
        otherwise: Option<Box<Expr>>,
        /// Common type.
        ty: ColumnType,
    },
    /// `COALESCE`.
    Coalesce(Vec<Expr>, ColumnType),
    /// `GREATEST` (true) or `LEAST` (false).
    MinMax(Vec<Expr>, bool, ColumnType),
    /// A cast; `explicit` matters for length coercion (varchar(n) truncates on explicit cast, errors on assignment).
    Cast {
        /// Input.
        expr: Box<Expr>,
        /// Target.
        to: ColumnType,
        /// Whether the user wrote it.
        explicit: bool,
    },
    /// `expr [NOT] IN (list)`; all sides share one type. Row forms use `RowCompare` inside `Or`.
    InList {
        /// Left side.
        expr: Box<Expr>,
        /// Members.
        list: Vec<Expr>,
        /// `NOT IN`.
        negated: bool,
    },
    /// `left op ANY/ALL (array)`.
    AnyAll {
        /// The comparison.
        func: &'static BuiltinFunction,
        /// Left side.
        left: Box<Expr>,
        /// The array.
        array: Box<Expr>,
        /// ALL instead of ANY.
        all: bool,
    },
    /// `(a, b) op (c, d)`, elementwise types already agreed.
    RowCompare {
        /// Which comparison.
        op: CompareOp,
        /// Left elements.
        left: Vec<Expr>,
        /// Right elements.
        right: Vec<Expr>,
    },
    /// `ROW(...)`.
    Row(Vec<Expr>),
    /// `ARRAY[...]`, element type inside `ty`.
    Array(Vec<Expr>, ColumnType),
    /// `array[index]`.
    Subscript {
        /// The array.
        array: Box<Expr>,
        /// Indexes, one per dimension.
        indexes: Vec<Expr>,
        /// Element type.
        ty: ColumnType,
    },
    /// A subquery, by its number in the query's list. Only before planning.
    Subquery(usize, ColumnType),
}

/// The six comparisons.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Expr {
    /// The boolean type, of every predicate.
    pub const BOOL: ColumnType = ColumnType { ty: DataType::BOOL, typmod: -1 };
}

/// What evaluation may look at besides the row (being written).
#[derive(Debug)]
pub struct EvalContext<'a> {
    /// Statement parameters.
    pub params: &'a [Datum],
}
