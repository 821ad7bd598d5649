//! The session, its transactions, prepared statements, cursors, and maintenance.

use super::{Expr, Ident, ObjectName, Query, Statement, TypeName};

/// Modes of BEGIN and SET TRANSACTION; None is "not mentioned".
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)]
pub struct TransactionModes {
    pub isolation: Option<IsolationLevel>,
    pub read_only: Option<bool>,
    pub deferrable: Option<bool>,
}

/// SQL's isolation levels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum IsolationLevel {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

/// SET.
#[derive(Clone, Debug)]
pub struct SetVariable {
    /// SET LOCAL.
    pub local: bool,
    /// Lower-case variable name; `SET TIME ZONE`, `SET NAMES`, `SET ROLE`, `SET SESSION AUTHORIZATION` arrive as `timezone`,
    /// `client_encoding`, `role`, `session_authorization`.
    pub name: String,
    /// The values as text, or None for DEFAULT. A list was separated by commas.
    pub value: Option<Vec<String>>,
}

/// PREPARE.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Prepare {
    pub name: String,
    pub types: Vec<TypeName>,
    pub statement: Statement,
    /// Highest `$n` inside.
    pub max_param: usize,
}

/// EXECUTE.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Execute {
    pub name: String,
    pub args: Vec<Expr>,
}

/// DISCARD.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum DiscardTarget {
    All,
    Plans,
    Sequences,
    Temporary,
}

impl DiscardTarget {
    pub(super) fn tag(self) -> &'static str {
        match self {
            DiscardTarget::All => "DISCARD ALL",
            DiscardTarget::Plans => "DISCARD PLANS",
            DiscardTarget::Sequences => "DISCARD SEQUENCES",
            DiscardTarget::Temporary => "DISCARD TEMP",
        }
    }
}

/// EXPLAIN.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Explain {
    pub analyze: bool,
    pub verbose: bool,
    pub costs: bool,
    pub timing: Option<bool>,
    pub summary: Option<bool>,
    pub buffers: bool,
    pub settings: bool,
    pub wal: bool,
    pub format: ExplainFormat,
    pub statement: Statement,
}

/// EXPLAIN's formats that we print.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum ExplainFormat {
    Text,
    Json,
}

/// A table, and perhaps columns of it, for ANALYZE and VACUUM.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct MaintenanceTarget {
    pub table: ObjectName,
    pub columns: Vec<Ident>,
}

/// VACUUM.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Vacuum {
    pub targets: Vec<MaintenanceTarget>,
    pub full: bool,
    pub freeze: bool,
    pub verbose: bool,
    pub analyze: bool,
}

/// What REINDEX rebuilds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum ReindexKind {
    Index,
    Table,
    Schema,
    Database,
    System,
}

/// DECLARE ... CURSOR.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct DeclareCursor {
    pub name: String,
    pub binary: bool,
    /// SCROLL (true), NO SCROLL (false), unsaid.
    pub scroll: Option<bool>,
    pub insensitive: bool,
    pub hold: bool,
    pub query: Query,
}

/// FETCH and MOVE.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Fetch {
    pub cursor: String,
    pub direction: FetchDirection,
    pub is_move: bool,
}

/// Where a cursor goes. `Forward(n)` with a negative n goes backward; `Absolute(-1)` is the last row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum FetchDirection {
    Forward(i64),
    ForwardAll,
    Backward(i64),
    BackwardAll,
    Absolute(i64),
    Relative(i64),
}

/// LOCK TABLE.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct LockTable {
    pub tables: Vec<ObjectName>,
    pub mode: TableLockMode,
    pub nowait: bool,
}

/// PostgreSQL's eight table lock modes, weakest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum TableLockMode {
    AccessShare,
    RowShare,
    RowExclusive,
    ShareUpdateExclusive,
    Share,
    ShareRowExclusive,
    Exclusive,
    AccessExclusive,
}
