//! SELECT and its parts.

use super::{Expr, Ident, ObjectName, Pos, Statement, TypeName};

/// A query expression: WITH, a body, and what applies to the whole of it.
#[derive(Clone, Debug)]
pub struct Query {
    /// WITH.
    pub with: Option<With>,
    /// SELECT, VALUES, a set operation ...
    pub body: SetExpr,
    /// ORDER BY.
    pub order_by: Vec<OrderItem>,
    /// LIMIT or FETCH FIRST; `LIMIT ALL` is None.
    pub limit: Option<Expr>,
    /// OFFSET.
    pub offset: Option<Expr>,
    /// FETCH FIRST ... WITH TIES.
    pub with_ties: bool,
    /// FOR UPDATE and its relatives.
    pub locking: Vec<LockingClause>,
}

/// WITH.
#[derive(Clone, Debug)]
pub struct With {
    /// WITH RECURSIVE.
    pub recursive: bool,
    /// The common table expressions.
    pub ctes: Vec<Cte>,
}

/// One common table expression.
#[derive(Clone, Debug)]
pub struct Cte {
    /// Its name.
    pub name: Ident,
    /// Column names, if listed.
    pub columns: Vec<Ident>,
    /// `MATERIALIZED` (true), `NOT MATERIALIZED` (false).
    pub materialized: Option<bool>,
    /// A query, or INSERT, UPDATE, DELETE (top level of a statement only).
    pub body: Statement,
}

/// The body of a query.
#[derive(Clone, Debug)]
pub enum SetExpr {
    /// SELECT.
    Select(Box<Select>),
    /// VALUES.
    Values(Vec<Vec<Expr>>, Pos),
    /// TABLE t.
    Table(ObjectName),
    /// A query in parentheses.
    Query(Box<Query>),
    /// UNION, INTERSECT, EXCEPT.
    SetOp {
        /// Which.
        op: SetOp,
        /// ALL.
        all: bool,
        /// Left side.
        left: Box<SetExpr>,
        /// Right side.
        right: Box<SetExpr>,
    },
}

/// The three set operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum SetOp {
    Union,
    Intersect,
    Except,
}

impl SetOp {
    /// As PostgreSQL spells it in messages.
    pub fn name(self) -> &'static str {
        match self {
            SetOp::Union => "UNION",
            SetOp::Intersect => "INTERSECT",
            SetOp::Except => "EXCEPT",
        }
    }
}

/// SELECT without the parts that belong to the query.
#[derive(Clone, Debug)]
pub struct Select {
    /// DISTINCT.
    pub distinct: Distinct,
    /// The target list; may be empty.
    pub items: Vec<SelectItem>,
    /// FROM, the comma list.
    pub from: Vec<TableRef>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// GROUP BY.
    pub group_by: Vec<GroupItem>,
    /// HAVING.
    pub having: Option<Expr>,
    /// WINDOW.
    pub windows: Vec<(Ident, WindowSpec)>,
}

/// DISTINCT.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Distinct {
    All,
    Distinct,
    On(Vec<Expr>),
}

/// One entry of a target list (also of RETURNING).
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum SelectItem {
    /// `*`
    Star(Pos),
    /// `t.*`
    TableStar(ObjectName),
    /// `(expr).*`
    RowStar(Expr),
    Expr {
        expr: Expr,
        alias: Option<String>,
    },
}

/// One entry of GROUP BY.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum GroupItem {
    Expr(Expr),
    /// `()`
    Empty,
    Rollup(Vec<Vec<Expr>>),
    Cube(Vec<Vec<Expr>>),
    Sets(Vec<Vec<Expr>>),
}

/// One entry of ORDER BY.
#[derive(Clone, Debug)]
pub struct OrderItem {
    /// What to order by: an ordinal, an output name or an expression.
    pub expr: Expr,
    /// DESC.
    pub descending: bool,
    /// NULLS FIRST (true), NULLS LAST (false); None takes the default (first when descending).
    pub nulls_first: Option<bool>,
}

/// A window: a reference, a definition, or both.
#[derive(Clone, Debug, Default)]
pub struct WindowSpec {
    /// `OVER w`, or `OVER (w ...)`.
    pub base: Option<Ident>,
    /// Written with parentheses (`OVER (w)` copies, `OVER w` refers).
    pub inline: bool,
    /// PARTITION BY.
    pub partition_by: Vec<Expr>,
    /// ORDER BY.
    pub order_by: Vec<OrderItem>,
    /// The frame.
    pub frame: Option<WindowFrame>,
}

/// A window frame.
#[derive(Clone, Debug)]
pub struct WindowFrame {
    /// ROWS, RANGE, GROUPS.
    pub units: FrameUnits,
    /// Start.
    pub start: FrameBound,
    /// End; CURRENT ROW when it was not given.
    pub end: FrameBound,
    /// EXCLUDE.
    pub exclude: FrameExclusion,
}

/// ROWS, RANGE, GROUPS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum FrameUnits {
    Rows,
    Range,
    Groups,
}

/// What a frame leaves out: `EXCLUDE`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FrameExclusion {
    /// Nothing.
    #[default]
    NoOthers,
    /// The row itself.
    CurrentRow,
    /// The row and its peers.
    Group,
    /// The row's peers, but not the row.
    Ties,
}

/// One end of a frame.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum FrameBound {
    UnboundedPreceding,
    Preceding(Box<Expr>),
    CurrentRow,
    Following(Box<Expr>),
    UnboundedFollowing,
}

/// One entry of FROM.
#[derive(Clone, Debug)]
pub enum TableRef {
    /// A relation (or a CTE) by name.
    Table {
        /// Its name.
        name: ObjectName,
        /// TABLESAMPLE.
        sample: Option<Box<TableSample>>,
        /// Alias.
        alias: Option<TableAlias>,
    },
    /// `ROWS FROM (f(...), g(...)) AS t(a, b)`.
    RowsFrom {
        /// The calls, side by side.
        calls: Vec<FunctionCallRef>,
        /// WITH ORDINALITY.
        ordinality: bool,
        /// Alias.
        alias: Option<TableAlias>,
    },
    /// `(SELECT ...) AS s`.
    Subquery {
        /// The query.
        query: Box<Query>,
        /// LATERAL.
        lateral: bool,
        /// Alias.
        alias: Option<TableAlias>,
    },
    /// `f(...) AS t(a, b)`.
    Function {
        /// The call.
        call: Box<FunctionCallRef>,
        /// LATERAL.
        lateral: bool,
        /// WITH ORDINALITY.
        ordinality: bool,
        /// Alias.
        alias: Option<TableAlias>,
    },
    /// A join.
    Join {
        /// Left side.
        left: Box<TableRef>,
        /// Right side.
        right: Box<TableRef>,
        /// INNER, LEFT ...
        kind: JoinKind,
        /// ON, USING, NATURAL.
        constraint: JoinConstraint,
    },
}

/// A function in FROM (any expression that is a call).
pub type FunctionCallRef = super::FunctionCall;

/// `TABLESAMPLE method (percentage) REPEATABLE (seed)`.
#[derive(Clone, Debug)]
pub struct TableSample {
    /// Lower case: `bernoulli`, `system`.
    pub method: String,
    /// The percentage.
    pub percentage: Expr,
    /// The seed.
    pub seed: Option<Expr>,
}

/// `AS t (a, b)`.
#[derive(Clone, Debug)]
pub struct TableAlias {
    /// The alias.
    pub name: Ident,
    /// Column aliases, with types when it is a column definition list.
    pub columns: Vec<(Ident, Option<TypeName>)>,
}

/// Kinds of joins a user can write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum JoinKind {
    Inner,
    Left,
    Right,
    Full,
    Cross,
}

/// How two sides meet.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum JoinConstraint {
    None,
    On(Expr),
    Using(Vec<Ident>),
    Natural,
}

/// FOR UPDATE and its relatives.
#[derive(Clone, Debug)]
pub struct LockingClause {
    /// Strength.
    pub strength: RowLockStrength,
    /// OF; empty means every table of the query.
    pub of: Vec<Ident>,
    /// NOWAIT, SKIP LOCKED.
    pub wait: RowLockWait,
}

/// PostgreSQL's four row lock strengths, weakest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)]
pub enum RowLockStrength {
    KeyShare,
    Share,
    NoKeyUpdate,
    Update,
}

impl RowLockStrength {
    /// As EXPLAIN prints it.
    pub fn name(self) -> &'static str {
        match self {
            RowLockStrength::KeyShare => "for key share",
            RowLockStrength::Share => "for share",
            RowLockStrength::NoKeyUpdate => "for no key update",
            RowLockStrength::Update => "for update",
        }
    }

    /// As PostgreSQL's messages name the clause.
    pub fn clause(self) -> &'static str {
        match self {
            RowLockStrength::KeyShare => "FOR KEY SHARE",
            RowLockStrength::Share => "FOR SHARE",
            RowLockStrength::NoKeyUpdate => "FOR NO KEY UPDATE",
            RowLockStrength::Update => "FOR UPDATE",
        }
    }
}

/// What to do about a row that someone else holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)]
pub enum RowLockWait {
    Block,
    SkipLocked,
    NoWait,
}
