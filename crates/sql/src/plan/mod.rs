//! Physical plans: what the executor runs.
//!
//! A [`StatementPlan`] is the whole of one optimizable statement: a tree of [`Plan`] nodes, the common table expressions it refers to, the
//! parameters it wants and the columns it gives. It is immutable and shared by all sessions through the plan cache; everything that
//! differs from one execution to the next comes in as parameters.
//!
//! **Rows and slots.** A node's row is a flat list of values; `Expr::Column(i, _)` in a node's expressions is slot `i` of its *input* row. A
//! join's row is the left row followed by the right row. Scans produce the columns they list and nothing else.
//!
//! **Parameters and execution slots.** `Expr::Param(i, _)` with `i < param_types.len()` is a statement parameter. Above them live
//! `execution_slots` values that belong to one execution: a correlated subquery or the inner side of a lookup join refers to the outer
//! row through them. Whoever runs the inner plan first evaluates its [`Binding`]s over the outer row and stores the results there. So
//! an executor allocates `param_types.len() + execution_slots` values, fills the front from the client, and passes the slice as
//! `EvalContext::params`.
//!
//! **What cannot be evaluated synchronously** (subqueries, `nextval`, `pg_sleep`) was lifted out of expressions into a [`SubPlans`] node, which
//! appends one value each to its input row.
//!
//! The path from text to here: `parse` -> `bind` (a logical tree) -> [`planner`], which does all of it: [`plan_statement`].

pub mod dml;
pub mod explain;
pub mod keys;
pub mod node;
pub mod planner;
pub mod scan;
pub mod table_locks;

pub use dml::*;
pub use node::*;
pub use planner::{plan_in_function, plan_statement};
pub use scan::*;

use crate::catalog::Oid;
use crate::locks::TableLock;
use crate::types::{ColumnType, DataType};

/// A plan node with what is known of its result.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What to do.
    pub node: PlanNode,
    /// Types of the result row's slots.
    pub types: Vec<ColumnType>,
    /// What the slots are called, for EXPLAIN.
    pub names: Vec<String>,
    /// The planner's guess.
    pub estimate: Estimate,
}

/// The planner's guess about a node.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Estimate {
    /// Rows it will give.
    pub rows: f64,
    /// Cost until the first row, in units of one sequential page read (PostgreSQL's scale).
    pub startup: f64,
    /// Cost until the last row.
    pub total: f64,
    /// Average bytes of a row.
    pub width: u32,
}

/// One optimizable statement, planned.
#[derive(Clone, Debug)]
pub struct StatementPlan {
    /// What kind of statement, for the command tag.
    pub kind: StatementKind,
    /// The tree.
    pub root: Plan,
    /// Common table expressions by number. Those that write are run to their end even if nobody reads them, before the root ends.
    pub ctes: Vec<CtePlan>,
    /// Types of `$1`, `$2` ...
    pub param_types: Vec<DataType>,
    /// How many execution slots follow the parameters.
    pub execution_slots: usize,
    /// The columns that the client sees; empty when it sees no rows (DML without RETURNING).
    pub output: Vec<OutputColumn>,
    /// Whether rows go to the client.
    pub returns_rows: bool,
    /// Nothing in it writes or locks.
    pub read_only: bool,
    /// The version of the catalog it was planned against.
    pub catalog_version: u64,
    /// Every stored relation it reads or writes (views included), for invalidation.
    pub relations: Vec<Oid>,
    /// Users' functions that it calls, those put into the place of their calls too.
    pub functions: Vec<Oid>,
    /// It can look again at rows that changed under it, when it lost a race (see [`PlanNode::LockRows`]).
    pub looks_again: bool,
    /// What it locks before it runs.
    pub table_locks: Vec<TableLock>,
    /// An index of a table it reads is over an expression with a constant in it: a statement whose literals became parameters may not be
    /// known again, and is planned as it was written.
    pub literals_matter: bool,
}

/// What the command tag says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum StatementKind {
    Select,
    Insert,
    Update,
    Delete,
    Merge,
    Call,
}

/// A column as RowDescription shows it.
#[derive(Clone, Debug)]
pub struct OutputColumn {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: ColumnType,
    /// The table it comes from unchanged, or 0.
    pub table: Oid,
    /// Its attribute number there, or 0.
    pub attnum: u32,
}

/// A common table expression that is evaluated once (others were inlined).
#[derive(Clone, Debug)]
pub struct CtePlan {
    /// Its name, for EXPLAIN.
    pub name: String,
    /// The query; for a recursive one, its non-recursive term.
    pub plan: Plan,
    /// The recursive term, which reads the last round's rows through [`PlanNode::WorkTableScan`].
    pub recursive: Option<RecursiveTerm>,
    /// INSERT, UPDATE or DELETE.
    pub writes: bool,
    /// Refers to an outer query: evaluated anew for each of its rows.
    pub correlated: bool,
}

/// The recursive term of WITH RECURSIVE.
#[derive(Clone, Debug)]
pub struct RecursiveTerm {
    /// The term.
    pub plan: Plan,
    /// UNION ALL; plain UNION drops rows seen before.
    pub all: bool,
}

/// Settings that change plans. Part of the plan cache's key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PlanSettings {
    /// `enable_implicit_select_for_update`: the scan below an UPDATE or DELETE locks the rows it returns.
    pub implicit_select_for_update: bool,
    /// `sql.point_gets`: a scan whose full key is bound reads points instead of spans.
    pub point_gets: bool,
    /// `enable_indexscan`: off leaves only the primary index.
    pub index_scan: bool,
    /// `enable_hashjoin`.
    pub hash_join: bool,
    /// `enable_nestloop`: off disfavours lookup and nested loop joins.
    pub nested_loop: bool,
    /// `search_path`, with `"$user"` already expanded.
    pub search_path: Vec<String>,
    /// `current_user`.
    pub user: String,
}

impl Default for PlanSettings {
    fn default() -> Self {
        PlanSettings {
            implicit_select_for_update: true,
            point_gets: true,
            index_scan: true,
            hash_join: true,
            nested_loop: true,
            search_path: vec!["public".into()],
            user: "postgres".into(),
        }
    }
}
