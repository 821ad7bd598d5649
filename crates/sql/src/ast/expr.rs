//! Expressions as written.

use super::{Ident, ObjectName, OrderItem, Pos, Query, TypeName, WindowSpec};

/// A scalar expression, unresolved.
#[derive(Clone, Debug)]
pub enum Expr {
    /// A constant.
    Literal(Literal, Pos),
    /// `$n`, counted from 1.
    Param(usize, Pos),
    /// `a`, `t.a`, `s.t.a`.
    Column(Vec<Ident>),
    /// `DEFAULT`, legal only as a whole value of INSERT and UPDATE.
    Default(Pos),
    /// A prefix operator, by its symbol.
    Unary {
        /// The symbol.
        op: String,
        /// Operand.
        expr: Box<Expr>,
        /// Where the operator stands.
        pos: Pos,
    },
    /// An infix operator, by its symbol (`<>` for `!=`).
    Binary {
        /// The symbol.
        op: String,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
        /// Where the operator stands.
        pos: Pos,
    },
    /// AND of two or more, flattened.
    And(Vec<Expr>),
    /// OR of two or more, flattened.
    Or(Vec<Expr>),
    /// NOT.
    Not(Box<Expr>),
    /// `IS [NOT] NULL`.
    IsNull {
        /// Tested expression.
        expr: Box<Expr>,
        /// `IS NOT NULL`.
        negated: bool,
    },
    /// `IS [NOT] TRUE`, `FALSE`, `UNKNOWN` (None).
    IsBool {
        /// Tested expression.
        expr: Box<Expr>,
        /// What it is compared with.
        value: Option<bool>,
        /// `IS NOT`.
        negated: bool,
    },
    /// `IS [NOT] DISTINCT FROM`.
    IsDistinct {
        /// Left side.
        left: Box<Expr>,
        /// Right side.
        right: Box<Expr>,
        /// `IS NOT DISTINCT FROM`.
        negated: bool,
        /// Where the operator stands.
        pos: Pos,
    },
    /// `BETWEEN`.
    Between {
        /// Tested expression.
        expr: Box<Expr>,
        /// Lower bound.
        low: Box<Expr>,
        /// Upper bound.
        high: Box<Expr>,
        /// `NOT BETWEEN`.
        negated: bool,
        /// `BETWEEN SYMMETRIC`: the bounds may come in either order.
        symmetric: bool,
        /// Where the operator stands.
        pos: Pos,
    },
    /// `LIKE`, `ILIKE`, `SIMILAR TO`.
    Like {
        /// Which.
        kind: LikeKind,
        /// Tested expression.
        expr: Box<Expr>,
        /// Pattern.
        pattern: Box<Expr>,
        /// `ESCAPE`.
        escape: Option<Box<Expr>>,
        /// `NOT LIKE`.
        negated: bool,
        /// Where the operator stands.
        pos: Pos,
    },
    /// `expr [NOT] IN (a, b, c)`.
    InList {
        /// Left side.
        expr: Box<Expr>,
        /// Members.
        list: Vec<Expr>,
        /// `NOT IN`.
        negated: bool,
        /// Where the operator stands.
        pos: Pos,
    },
    /// `expr [NOT] IN (SELECT ...)`.
    InSubquery {
        /// Left side, possibly a row.
        expr: Box<Expr>,
        /// The subquery.
        query: Box<Query>,
        /// `NOT IN`.
        negated: bool,
        /// Where the operator stands.
        pos: Pos,
    },
    /// `left op ANY (array)`, `left op ALL (array)`.
    AnyAll {
        /// Left side.
        left: Box<Expr>,
        /// Operator symbol.
        op: String,
        /// ALL instead of ANY.
        all: bool,
        /// The array.
        array: Box<Expr>,
        /// Where the operator stands.
        pos: Pos,
    },
    /// `left op ANY (SELECT ...)`.
    AnyAllSubquery {
        /// Left side.
        left: Box<Expr>,
        /// Operator symbol.
        op: String,
        /// ALL instead of ANY.
        all: bool,
        /// The subquery.
        query: Box<Query>,
        /// Where the operator stands.
        pos: Pos,
    },
    /// `EXISTS (SELECT ...)`.
    Exists(Box<Query>),
    /// `(SELECT ...)` as a value.
    Subquery(Box<Query>, Pos),
    /// `ARRAY(SELECT ...)`.
    ArraySubquery(Box<Query>, Pos),
    /// `CAST(e AS t)`, `e::t`, `type 'literal'`.
    Cast {
        /// Input.
        expr: Box<Expr>,
        /// Target.
        ty: TypeName,
        /// Where it begins.
        pos: Pos,
        /// Where CAST or `::` stands.
        operator: Pos,
    },
    /// `e COLLATE c`.
    Collate {
        /// Input.
        expr: Box<Expr>,
        /// Collation.
        collation: ObjectName,
    },
    /// `CASE`.
    Case {
        /// `CASE operand`.
        operand: Option<Box<Expr>>,
        /// `WHEN ... THEN ...`.
        whens: Vec<(Expr, Expr)>,
        /// `ELSE`.
        otherwise: Option<Box<Expr>>,
        /// Where it stands.
        pos: Pos,
    },
    /// A call of a function, aggregate or window function; also COALESCE, NULLIF, GREATEST, LEAST and the grammar's special
    /// forms (EXTRACT, SUBSTRING ...) under the names PostgreSQL gives them.
    Function(Box<FunctionCall>),
    /// `ROW(a, b)` or `(a, b)`.
    Row(Vec<Expr>, Pos),
    /// `ARRAY[a, b]`.
    Array(Vec<Expr>, Pos),
    /// `a[i]`, `a[i:j]`.
    Subscript {
        /// The array.
        expr: Box<Expr>,
        /// One per bracket.
        subscripts: Vec<Subscript>,
        /// Where it stands.
        pos: Pos,
    },
    /// `(row).field`.
    Field {
        /// The row.
        expr: Box<Expr>,
        /// The field.
        field: Ident,
    },
    /// `WHERE CURRENT OF cursor`.
    CurrentOf(String, Pos),
}

/// A constant as written; its type is decided by `bind`.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// NULL
    Null,
    /// TRUE, FALSE
    Bool(bool),
    /// Digits, as written: int4, int8 or numeric by size.
    Number(String),
    /// A string, type unknown until something asks.
    String(String),
    /// `B'101'`, `X'1F'` (upper-case prefix kept as the first byte).
    Bits(String),
}

/// The three pattern languages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum LikeKind {
    Like,
    ILike,
    SimilarTo,
}

/// One bracket behind an array.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Subscript {
    Index(Expr),
    Slice { lower: Option<Expr>, upper: Option<Expr> },
}

/// A call.
#[derive(Clone, Debug)]
pub struct FunctionCall {
    /// The function.
    pub name: ObjectName,
    /// Arguments.
    pub args: Vec<FunctionArg>,
    /// The last argument is an array of arguments: `f(VARIADIC x)`.
    pub variadic: bool,
    /// `f(*)`.
    pub star: bool,
    /// `f(DISTINCT ...)`.
    pub distinct: bool,
    /// `f(... ORDER BY ...)`.
    pub order_by: Vec<OrderItem>,
    /// `WITHIN GROUP (ORDER BY ...)`.
    pub within_group: Vec<OrderItem>,
    /// `FILTER (WHERE ...)`.
    pub filter: Option<Expr>,
    /// `OVER`.
    pub over: Option<WindowSpec>,
    /// Written with the grammar's own syntax (EXTRACT, COALESCE, CURRENT_DATE ...), not as a plain call.
    pub special: bool,
}

/// An argument, possibly named.
#[derive(Clone, Debug)]
pub struct FunctionArg {
    /// `name => value`.
    pub name: Option<String>,
    /// The value.
    pub value: Expr,
}

impl Expr {
    /// Where the expression stands, if known; operators answer with their own position, as PostgreSQL's do.
    pub fn pos(&self) -> Pos {
        match self {
            Expr::Literal(_, pos)
            | Expr::Param(_, pos)
            | Expr::Default(pos)
            | Expr::Unary { pos, .. }
            | Expr::Binary { pos, .. }
            | Expr::IsDistinct { pos, .. }
            | Expr::Between { pos, .. }
            | Expr::Like { pos, .. }
            | Expr::InList { pos, .. }
            | Expr::InSubquery { pos, .. }
            | Expr::AnyAll { pos, .. }
            | Expr::AnyAllSubquery { pos, .. }
            | Expr::Subquery(_, pos)
            | Expr::ArraySubquery(_, pos)
            | Expr::Cast { pos, .. }
            | Expr::Case { pos, .. }
            | Expr::Row(_, pos)
            | Expr::Array(_, pos)
            | Expr::Subscript { pos, .. }
            | Expr::CurrentOf(_, pos) => *pos,
            Expr::Column(parts) => parts.first().map_or(0, |p| p.pos),
            Expr::Function(call) => call.name.pos,
            Expr::And(list) | Expr::Or(list) => list.first().map_or(0, Expr::pos),
            Expr::Not(e) | Expr::IsNull { expr: e, .. } | Expr::IsBool { expr: e, .. } => e.pos(),
            Expr::Collate { expr, .. } => expr.pos(),
            Expr::Field { field, .. } => field.pos,
            Expr::Exists(_) => 0,
        }
    }
}
