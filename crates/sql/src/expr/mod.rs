//! Bound expressions: every name is a slot, every operator a function, every type known.
//!
//! Evaluation is synchronous: subqueries were lifted out by the planner before an expression gets here (their results
//! arrive as extra slots of the input row), so nothing in this tree can wait.

use crate::functions::{BuiltinFunction, Volatility};
use crate::types::{ColumnType, DataType, Datum, Shape};
use std::sync::Arc;

mod context;
mod domain;
mod eval;
mod fold;
mod user;

pub use context::{EvalContext, NoSession, ObjectKind, SessionInfo, UNIX_TO_POSTGRES_MICROS, clock_time};
pub use domain::DomainChecks;
pub(crate) use eval::make_array;
pub use eval::{eval, eval_bool, eval_into};
pub use fold::fold;
pub(crate) use fold::is_session_dependent_cast;
pub use user::{UserFunction, with_context};

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
    /// A call of a function that a user has made.
    UserCall {
        /// The function.
        function: Arc<UserFunction>,
        /// Arguments, one for each parameter, already cast.
        args: Vec<Expr>,
        /// Result type.
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
    /// A value that is to be one of a domain's; it has the domain's base type.
    Checked {
        /// The value.
        expr: Box<Expr>,
        /// What it must hold.
        domain: Arc<DomainChecks>,
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
    /// `ROW(...)`, and a relation's name that stands for its whole row.
    Row {
        /// The fields.
        fields: Vec<Expr>,
        /// Their names and types.
        shape: Arc<Shape>,
        /// The row of a relation that an outer join may leave out: NULL when all its fields are.
        nullable: bool,
    },
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

impl CompareOp {
    /// The operator with its sides exchanged: `a < b` is `b > a`.
    pub fn commute(self) -> CompareOp {
        match self {
            CompareOp::Lt => CompareOp::Gt,
            CompareOp::Le => CompareOp::Ge,
            CompareOp::Gt => CompareOp::Lt,
            CompareOp::Ge => CompareOp::Le,
            same => same,
        }
    }

    /// The operator that is true when this one is false (of values that are not NULL).
    pub fn negate(self) -> CompareOp {
        match self {
            CompareOp::Eq => CompareOp::Ne,
            CompareOp::Ne => CompareOp::Eq,
            CompareOp::Lt => CompareOp::Ge,
            CompareOp::Le => CompareOp::Gt,
            CompareOp::Gt => CompareOp::Le,
            CompareOp::Ge => CompareOp::Lt,
        }
    }

    /// What the operator says of an order.
    pub fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            CompareOp::Eq => order.is_eq(),
            CompareOp::Ne => order.is_ne(),
            CompareOp::Lt => order.is_lt(),
            CompareOp::Le => order.is_le(),
            CompareOp::Gt => order.is_gt(),
            CompareOp::Ge => order.is_ge(),
        }
    }

    /// Its symbol.
    pub fn symbol(self) -> &'static str {
        match self {
            CompareOp::Eq => "=",
            CompareOp::Ne => "<>",
            CompareOp::Lt => "<",
            CompareOp::Le => "<=",
            CompareOp::Gt => ">",
            CompareOp::Ge => ">=",
        }
    }
}

impl Expr {
    /// The boolean type, of every predicate.
    pub const BOOL: ColumnType = ColumnType { ty: DataType::BOOL, typmod: -1 };

    /// `ROW(...)` of these.
    pub fn row(fields: Vec<Expr>) -> Expr {
        let shape = Arc::new(Shape::anonymous(fields.iter().map(Expr::ty)));
        Expr::Row { fields, shape, nullable: false }
    }

    /// The type of the value.
    pub fn ty(&self) -> ColumnType {
        match self {
            Expr::Const(_, ty) | Expr::Param(_, ty) | Expr::Column(_, ty) | Expr::Coalesce(_, ty) => *ty,
            Expr::Outer { ty, .. }
            | Expr::Call { ty, .. }
            | Expr::UserCall { ty, .. }
            | Expr::Case { ty, .. }
            | Expr::Subscript { ty, .. } => *ty,
            Expr::MinMax(_, _, ty) | Expr::Array(_, ty) | Expr::Subquery(_, ty) | Expr::Cast { to: ty, .. } => *ty,
            Expr::Checked { expr, .. } => expr.ty(),
            Expr::Row { .. } => DataType::RECORD.into(),
            Expr::And(_) | Expr::Or(_) | Expr::Not(_) | Expr::IsNull { .. } | Expr::IsBool { .. } => Expr::BOOL,
            Expr::IsDistinct { .. } | Expr::InList { .. } | Expr::AnyAll { .. } | Expr::RowCompare { .. } => Expr::BOOL,
        }
    }

    /// The direct sub-expressions.
    pub fn children(&self) -> Vec<&Expr> {
        match self {
            Expr::Const(..) | Expr::Param(..) | Expr::Column(..) | Expr::Outer { .. } | Expr::Subquery(..) => Vec::new(),
            Expr::Call { args, .. } | Expr::UserCall { args, .. } => args.iter().collect(),
            Expr::And(list) | Expr::Or(list) | Expr::Row { fields: list, .. } => list.iter().collect(),
            Expr::Coalesce(list, _) | Expr::MinMax(list, _, _) | Expr::Array(list, _) => list.iter().collect(),
            Expr::Not(expr) | Expr::IsNull { expr, .. } | Expr::IsBool { expr, .. } => vec![expr],
            Expr::Cast { expr, .. } | Expr::Checked { expr, .. } => vec![expr],
            Expr::IsDistinct { left, right, .. } => vec![left, right],
            Expr::Case { whens, otherwise, .. } => whens.iter().flat_map(|(when, then)| [when, then]).chain(otherwise.as_deref()).collect(),
            Expr::InList { expr, list, .. } => std::iter::once(&**expr).chain(list).collect(),
            Expr::AnyAll { left, array, .. } => vec![left, array],
            Expr::RowCompare { left, right, .. } => left.iter().chain(right).collect(),
            Expr::Subscript { array, indexes, .. } => std::iter::once(&**array).chain(indexes).collect(),
        }
    }

    /// The direct sub-expressions, to change.
    pub fn children_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Expr::Const(..) | Expr::Param(..) | Expr::Column(..) | Expr::Outer { .. } | Expr::Subquery(..) => Vec::new(),
            Expr::Call { args, .. } | Expr::UserCall { args, .. } => args.iter_mut().collect(),
            Expr::And(list) | Expr::Or(list) | Expr::Row { fields: list, .. } => list.iter_mut().collect(),
            Expr::Coalesce(list, _) | Expr::MinMax(list, _, _) | Expr::Array(list, _) => list.iter_mut().collect(),
            Expr::Not(expr) | Expr::IsNull { expr, .. } | Expr::IsBool { expr, .. } => vec![expr],
            Expr::Cast { expr, .. } | Expr::Checked { expr, .. } => vec![expr],
            Expr::IsDistinct { left, right, .. } => vec![left, right],
            Expr::Case { whens, otherwise, .. } => {
                whens.iter_mut().flat_map(|(when, then)| [when, then]).chain(otherwise.as_deref_mut()).collect()
            }
            Expr::InList { expr, list, .. } => std::iter::once(&mut **expr).chain(list).collect(),
            Expr::AnyAll { left, array, .. } => vec![left, array],
            Expr::RowCompare { left, right, .. } => left.iter_mut().chain(right).collect(),
            Expr::Subscript { array, indexes, .. } => std::iter::once(&mut **array).chain(indexes).collect(),
        }
    }

    /// Calls `visit` for this expression and everything below it.
    pub fn walk(&self, visit: &mut dyn FnMut(&Expr)) {
        visit(self);
        for child in self.children() {
            child.walk(visit);
        }
    }

    /// Calls `change` for everything below this expression, then for itself.
    pub fn walk_mut(&mut self, change: &mut dyn FnMut(&mut Expr)) {
        for child in self.children_mut() {
            child.walk_mut(change);
        }
        change(self);
    }

    /// Does anything in it run statements: a subquery, or a call of a function that cannot be evaluated in place?
    pub fn runs_statements(&self) -> bool {
        let mut found = false;
        self.walk(&mut |expr| match expr {
            Expr::UserCall { function, .. } => found |= function.runs_statements(),
            Expr::Subquery(..) => found = true,
            _ => {}
        });
        found
    }

    /// The most volatile call in the expression.
    pub fn volatility(&self) -> Volatility {
        let mut worst = Volatility::Immutable;
        self.walk(&mut |expr| match expr {
            Expr::UserCall { function, .. } => worst = worst.max(function.descriptor.volatility),
            Expr::Call { func, .. } if func.volatility == Volatility::Volatile => worst = Volatility::Volatile,
            Expr::Call { func, .. } if func.volatility == Volatility::Stable && worst == Volatility::Immutable => {
                worst = Volatility::Stable
            }
            _ => {}
        });
        worst
    }
}
