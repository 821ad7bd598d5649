//! The nodes of a physical plan that do not write: row sources, joins, sorting, grouping, subqueries.

use super::{DeletePlan, InsertPlan, MergePlan, Plan, RowLock, Scan, UpdatePlan};
use crate::ast::{FrameExclusion, FrameUnits, SetOp};
use crate::catalog::{TableDescriptor, VirtualTable};
use crate::expr::Expr;
use crate::functions::{BuiltinFunction, ResolvedAggregate, ResolvedSetFunction};
use crate::types::ColumnType;
use std::sync::Arc;

/// What a node does. Each variant says what its row is.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)]
pub enum PlanNode {
    /// One row without columns.
    OneRow,
    /// No rows at all (a condition was constantly false).
    Empty,
    /// Rows of expressions.
    Values(Vec<Vec<Expr>>),
    /// Reads a stored table.
    Scan(Box<Scan>),
    /// Reads a virtual table. Row: the listed columns.
    VirtualScan {
        /// The table.
        table: Arc<VirtualTable>,
        /// Column positions to produce.
        columns: Vec<usize>,
        /// Over the produced row. A provider may use it to do less; the executor applies it anyway.
        filter: Option<Expr>,
        /// Alias, for EXPLAIN.
        alias: String,
    },
    /// Calls functions in FROM. Row: all their columns side by side, then the ordinal.
    FunctionScan {
        /// The calls; shorter ones are padded with NULLs.
        functions: Vec<TableFunction>,
        /// WITH ORDINALITY: a last column, int8, from 1.
        ordinality: bool,
        /// Alias, for EXPLAIN.
        alias: String,
    },
    /// Reads a common table expression. Row: its row.
    CteScan {
        /// Number in [`super::StatementPlan::ctes`].
        cte: usize,
        /// Alias, for EXPLAIN.
        alias: String,
    },
    /// Inside a recursive term: the rows that the last round added.
    WorkTableScan {
        /// The recursive common table expression.
        cte: usize,
        /// Alias, for EXPLAIN.
        alias: String,
    },
    /// Keeps rows for which the predicate is true.
    Filter {
        /// Input.
        input: Box<Plan>,
        /// Over the input row.
        predicate: Expr,
    },
    /// Computes a new row.
    Project {
        /// Input.
        input: Box<Plan>,
        /// Over the input row.
        exprs: Vec<Expr>,
    },
    /// Set-returning functions of a target list, in lockstep. Row: the input row, then one column per function; rows until the longest
    /// ends, no row if all are empty.
    ProjectSet {
        /// Input.
        input: Box<Plan>,
        /// The calls, over the input row.
        functions: Vec<TableFunction>,
    },
    /// Appends the values of subqueries and waiting calls to each row.
    SubPlans(SubPlans),
    /// For each left row: binds, then reads the inner scan, whose keys refer to the bound slots. The executor may take a batch of left rows
    /// and read all their keys in one request. Row: left ++ right (only left for semi and anti joins).
    LookupJoin {
        /// Left side.
        left: Box<Plan>,
        /// Inner side.
        scan: Box<Scan>,
        /// Values of execution slots, over the left row.
        bindings: Vec<Binding>,
        /// Inner, Left, Semi, Anti.
        kind: JoinType,
        /// Over left ++ right.
        on: Option<Expr>,
        /// Types of the scan's row.
        scan_types: Vec<ColumnType>,
    },
    /// Builds a hash table of the right side, probes it with the left. Row: left ++ right (only left for semi and anti).
    HashJoin {
        /// Probe side.
        left: Box<Plan>,
        /// Build side.
        right: Box<Plan>,
        /// Which rows survive.
        kind: JoinType,
        /// Over the left row; as many as `right_keys`, pairwise of one type. NULL keys never match.
        left_keys: Vec<Expr>,
        /// Over the right row.
        right_keys: Vec<Expr>,
        /// Further condition, over left ++ right.
        on: Option<Expr>,
        /// The rows are expected in the order of the left side; otherwise they come in any.
        in_order: bool,
    },
    /// Every pair. The right side is materialized unless `bindings` say it depends on the left row (LATERAL); then it is run anew for each.
    NestedLoopJoin {
        /// Outer side.
        left: Box<Plan>,
        /// Inner side.
        right: Box<Plan>,
        /// Which rows survive.
        kind: JoinType,
        /// Values of execution slots, over the left row.
        bindings: Vec<Binding>,
        /// Over left ++ right.
        on: Option<Expr>,
    },
    /// Sorts everything.
    Sort {
        /// Input.
        input: Box<Plan>,
        /// Over the input row.
        keys: Vec<SortKey>,
    },
    /// The first `limit` rows after `offset`, in order, without keeping more than that many.
    TopN {
        /// Input.
        input: Box<Plan>,
        /// Over the input row.
        keys: Vec<SortKey>,
        /// Rows wanted (int8; NULL is no limit).
        limit: Expr,
        /// Rows skipped first.
        offset: Option<Expr>,
    },
    /// LIMIT and OFFSET. Negative values are errors 2201W and 2201X.
    Limit {
        /// Input.
        input: Box<Plan>,
        /// int8; NULL is no limit.
        limit: Option<Expr>,
        /// int8.
        offset: Option<Expr>,
        /// FETCH FIRST WITH TIES: rows equal to the last one in these keys come too. The input is sorted by them.
        ties: Option<Vec<SortKey>>,
    },
    /// The first row for each key.
    Distinct {
        /// Input.
        input: Box<Plan>,
        /// Over the input row.
        keys: Vec<Expr>,
        /// What is known, and expected, of the rows' order.
        order: DistinctOrder,
    },
    /// Groups. Row: group expressions, then aggregates, then the grouping set's number (int4) if there are sets. Without group expressions and sets,
    /// one row always. NULLs form one group.
    Aggregate {
        /// Input.
        input: Box<Plan>,
        /// Over the input row.
        group: Vec<Expr>,
        /// GROUPING SETS: which of `group` each set keeps; the others are NULL in its rows.
        sets: Option<Vec<Vec<usize>>>,
        /// The aggregates.
        aggregates: Vec<AggregateCall>,
    },
    /// Window functions. Row: the input row, then one column per call, over all windows in order.
    Window {
        /// Input, in any order.
        input: Box<Plan>,
        /// Windows with their calls.
        windows: Vec<WindowPlan>,
    },
    /// UNION ALL: the rows of all inputs, in turn.
    Append(Vec<Plan>),
    /// INTERSECT and EXCEPT (UNION is a Distinct over an Append). Both sides have the same types.
    SetOp {
        /// Which.
        op: SetOp,
        /// ALL: with multiplicities.
        all: bool,
        /// Left.
        left: Box<Plan>,
        /// Right.
        right: Box<Plan>,
    },
    /// Where the scans could not lock themselves (joins, sorts, residual filters): locks the rows that come up, in order.
    LockRows {
        /// Input.
        input: Box<Plan>,
        /// Which rows of which tables.
        targets: Vec<LockTarget>,
        /// What is done about a row that changed before it was locked.
        again: Option<Box<LookAgain>>,
        /// False for FOR UPDATE. True below UPDATE and DELETE: rows pass unlocked, until the statement has lost a race at READ COMMITTED and is run again.
        after_race: bool,
    },
    /// INSERT. Row: RETURNING.
    Insert(Box<InsertPlan>),
    /// UPDATE. Row: RETURNING.
    Update(Box<UpdatePlan>),
    /// DELETE. Row: RETURNING.
    Delete(Box<DeletePlan>),
    /// MERGE. No rows.
    Merge(Box<MergePlan>),
}

/// The order of rows around a DISTINCT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DistinctOrder {
    /// They come out in any order.
    Any,
    /// They come out as they come in.
    Kept,
    /// Those with equal keys come in one behind the other; they come out as they come in.
    Adjacent,
}

/// Which rows of a join survive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum JoinType {
    Inner,
    Left,
    Right,
    Full,
    /// Left rows that have a match, once.
    Semi,
    /// Left rows that have none.
    Anti,
}

impl JoinType {
    /// As EXPLAIN prints it before `Join`.
    pub fn name(self) -> &'static str {
        match self {
            JoinType::Inner => "",
            JoinType::Left => "Left",
            JoinType::Right => "Right",
            JoinType::Full => "Full",
            JoinType::Semi => "Semi",
            JoinType::Anti => "Anti",
        }
    }
}

/// A value for an execution slot, set before an inner plan runs.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The parameter index (at or above the number of statement parameters).
    pub slot: usize,
    /// Over the outer row.
    pub value: Expr,
}

/// One sort key.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct SortKey {
    pub expr: Expr,
    pub descending: bool,
    pub nulls_first: bool,
}

/// A function as a row source.
#[derive(Clone, Debug)]
pub struct TableFunction {
    /// What is called.
    pub call: TableFunctionCall,
    /// Types of the columns it contributes: more than one for a function that yields records, whose fields are spread out (in FROM only).
    pub types: Vec<ColumnType>,
}

/// A set-returning function, or a scalar one that gives one row.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum TableFunctionCall {
    Set {
        function: ResolvedSetFunction,
        args: Vec<Expr>,
    },
    Scalar(Expr),
    /// A user's function that runs statements, whether it gives a set or one row.
    User {
        function: Arc<crate::expr::UserFunction>,
        args: Vec<Expr>,
    },
}

/// One aggregate of an Aggregate node.
#[derive(Clone, Debug)]
pub struct AggregateCall {
    /// Which.
    pub function: ResolvedAggregate,
    /// Over the input row, already cast.
    pub args: Vec<Expr>,
    /// DISTINCT.
    pub distinct: bool,
    /// FILTER (WHERE ...).
    pub filter: Option<Expr>,
    /// ORDER BY inside the call.
    pub order_by: Vec<SortKey>,
}

impl AggregateCall {
    /// Does it take each input row as it comes?
    pub fn is_plain(&self) -> bool {
        !self.distinct && self.filter.is_none() && self.order_by.is_empty()
    }
}

/// A window with the calls over it.
#[derive(Clone, Debug)]
pub struct WindowPlan {
    /// PARTITION BY.
    pub partition_by: Vec<Expr>,
    /// ORDER BY.
    pub order_by: Vec<SortKey>,
    /// The frame.
    pub frame: Frame,
    /// The calls.
    pub calls: Vec<WindowCall>,
}

/// A frame; offsets are expressions without columns.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Frame {
    pub units: FrameUnits,
    pub start: FrameEnd,
    pub end: FrameEnd,
    pub exclude: FrameExclusion,
}

/// One end of a frame.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum FrameEnd {
    UnboundedPreceding,
    Preceding(Expr),
    CurrentRow,
    Following(Expr),
    UnboundedFollowing,
}

/// One call over a window.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct WindowCall {
    pub function: WindowFunction,
    /// Over the input row.
    pub args: Vec<Expr>,
    pub filter: Option<Expr>,
    pub ty: ColumnType,
}

/// What is called over a window.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum WindowFunction {
    RowNumber,
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
    Ntile,
    Lag,
    Lead,
    FirstValue,
    LastValue,
    NthValue,
    Aggregate(ResolvedAggregate),
}

/// Appends values that have to be computed by running something.
#[derive(Clone, Debug)]
pub struct SubPlans {
    /// Input.
    pub input: Box<Plan>,
    /// What to append. Each may refer to input slots and to the values of those before it (as slots after the input's).
    pub list: Vec<SubPlan>,
}

/// One subquery (or waiting call). With empty `bindings` it does not depend on the row: run it once per execution, when first needed.
#[derive(Clone, Debug)]
pub struct SubPlan {
    /// What its value is.
    pub kind: SubPlanKind,
    /// Values of execution slots, over the row so far.
    pub bindings: Vec<Binding>,
    /// Type of the value.
    pub ty: ColumnType,
}

/// What a subquery's value is.
#[derive(Clone, Debug)]
pub enum SubPlanKind {
    /// The only row's only column; NULL without a row; more than one row is error 21000.
    Scalar(Box<Plan>),
    /// The only row as a record (for multi-column assignment); NULL without a row.
    Row(Box<Plan>),
    /// Whether there is a row.
    Exists(Box<Plan>),
    /// All rows' only column as an array.
    Array(Box<Plan>),
    /// `ANY` / `ALL`: `test` over (row so far ++ subquery row), combined by three-valued OR (or AND). `hash` gives the same test as equalities
    /// (left over the row, right over the subquery row) if it is nothing else, so that an uncorrelated one can be hashed.
    Quantified {
        /// The subquery.
        plan: Box<Plan>,
        /// The comparison.
        test: Expr,
        /// ALL.
        all: bool,
        /// Pairs that must be equal.
        hash: Option<Vec<(Expr, Expr)>>,
    },
    /// A user's function that runs statements.
    UserCall {
        /// The function.
        function: Arc<crate::expr::UserFunction>,
        /// Over the row so far.
        args: Vec<Expr>,
    },
    /// An expression that computes some of its parts only when it comes to them (CASE, COALESCE, AND, OR), where such parts run statements.
    Lazy {
        /// Over the row so far, with a slot behind it for each of `nested`.
        expr: Expr,
        /// What those slots hold, once they are asked for.
        nested: Vec<SubPlan>,
        /// The first of those slots.
        base: usize,
    },
    /// A function that may wait. `once` is never assumed: called for each row.
    Call {
        /// The function.
        function: &'static BuiltinFunction,
        /// Over the row so far.
        args: Vec<Expr>,
    },
}

/// A table whose rows LockRows locks.
#[derive(Clone, Debug)]
pub struct LockTarget {
    /// The table.
    pub table: Arc<TableDescriptor>,
    /// Alias, for EXPLAIN and messages.
    pub alias: String,
    /// Input slots of the primary key's columns, in key order. NULL there means that an outer join found no row: nothing to lock.
    pub key_slots: Vec<usize>,
    /// Which other columns of the table the input row has: `(position, slot)`; after a wait in READ COMMITTED they are refreshed.
    pub columns: Vec<(usize, usize)>,
    /// How.
    pub lock: RowLock,
}

/// PostgreSQL's EvalPlanQual: a row changed before it was locked, so everything that was made of its old columns is made again from the newest ones. The other
/// relations' columns stay as they were read, and subqueries are asked of the statement's snapshot.
#[derive(Clone, Debug)]
pub struct LookAgain {
    /// Slots whose old values are appended to the input row.
    pub old_slots: Vec<usize>,
    /// Subqueries over that row; their values are appended to it too.
    pub subplans: Vec<SubPlan>,
    /// What must still hold.
    pub condition: Option<Expr>,
    /// Slots of the input row that are computed.
    pub values: Vec<(usize, Expr)>,
}
