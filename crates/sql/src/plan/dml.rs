//! Nodes that write.
//!
//! All three read an input plan that gives one row per row to write; nothing is decided here about how locks were taken below (see
//! `Scan::lock`). New rows are complete, with every column of the table by position, defaults and casts included; dropped
//! columns are NULL. What the executor still does: NOT NULL, CHECK, unique and foreign keys, index entries.

use super::{Plan, RowLock, SubPlan};
use crate::catalog::TableDescriptor;
use crate::expr::Expr;
use std::sync::Arc;

/// What a new row must hold, bound: over the table's row by position.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct BoundCheck {
    pub kind: CheckKind,
    /// The constraint's name, or the view's.
    pub name: String,
    pub predicate: Expr,
    /// A function in it runs statements.
    pub runs_statements: bool,
}

impl BoundCheck {
    /// A check.
    pub fn new(kind: CheckKind, name: String, predicate: Expr) -> BoundCheck {
        let runs_statements = predicate.runs_statements();
        BoundCheck { kind, name, predicate, runs_statements }
    }
}

/// Where a check comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CheckKind {
    /// A CHECK constraint: violated when false (NULL passes).
    Constraint,
    /// WITH CHECK OPTION of the view that is written through: violated when not true.
    View,
}

/// A stored generated column: its position, and the expression over the table's row by position.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct GeneratedColumn {
    pub column: usize,
    pub value: Expr,
}

/// What RETURNING gives of a row that was written.
#[derive(Clone, Debug)]
pub struct Returned {
    /// Subqueries in it, whose values are appended to the row. They see what was there before the statement.
    pub subplans: Vec<SubPlan>,
    /// Over the row.
    pub exprs: Vec<Expr>,
}

/// MERGE.
#[derive(Clone, Debug)]
pub struct MergePlan {
    /// Target.
    pub table: Arc<TableDescriptor>,
    /// Alias, for EXPLAIN.
    pub alias: String,
    /// Gives the old row by position in its first slots (its key NULL if there is none), then what the clauses need of the source.
    pub input: Plan,
    /// The column of the primary key that says whether there is a row.
    pub present: usize,
    /// In the order in which they are tried.
    pub clauses: Vec<MergeClause>,
    /// Computed from the new row by position.
    pub generated: Vec<GeneratedColumn>,
    /// CHECK constraints, over the new row by position.
    pub checks: Vec<BoundCheck>,
}

/// `WHEN [NOT] MATCHED`.
#[derive(Clone, Debug)]
pub struct MergeClause {
    /// For rows that are there, or for those that are not.
    pub matched: bool,
    /// Subqueries of the condition, whose values are appended to the input row.
    pub condition_subplans: Vec<SubPlan>,
    /// AND, over the input row.
    pub condition: Option<Expr>,
    /// THEN.
    pub action: MergeAction,
    /// Subqueries and waiting calls of the action, whose values are appended to the input row.
    pub subplans: Vec<SubPlan>,
}

/// THEN.
#[derive(Clone, Debug)]
pub enum MergeAction {
    /// DO NOTHING
    Nothing,
    /// DELETE
    Delete,
    /// `(column position, new value)`.
    Update(Vec<(usize, Expr)>),
    /// A complete row by position.
    Insert(Vec<Expr>),
}

/// INSERT.
#[derive(Clone, Debug)]
pub struct InsertPlan {
    /// Target.
    pub table: Arc<TableDescriptor>,
    /// Alias, for EXPLAIN.
    pub alias: String,
    /// Gives complete rows: slot `p` is column position `p`. A hidden row id is NULL here and chosen by the executor.
    pub input: Plan,
    /// Computed from the complete row before it is checked.
    pub generated: Vec<GeneratedColumn>,
    /// CHECK constraints.
    pub checks: Vec<BoundCheck>,
    /// ON CONFLICT.
    pub on_conflict: Option<ConflictPlan>,
    /// RETURNING, over the new row by position; None when nothing is returned.
    pub returning: Option<Returned>,
}

/// ON CONFLICT.
#[derive(Clone, Debug)]
pub struct ConflictPlan {
    /// Unique indexes that decide: None is the primary one, else a place in `table.indexes`. All of them when none was named.
    pub arbiters: Vec<Option<usize>>,
    /// DO UPDATE; None is DO NOTHING.
    pub update: Option<ConflictUpdate>,
}

/// DO UPDATE. Expressions see the existing row by position, then the proposed row (EXCLUDED) by position.
#[derive(Clone, Debug)]
pub struct ConflictUpdate {
    /// Subqueries of both, whose values are appended to the two rows.
    pub subplans: Vec<SubPlan>,
    /// `(column position, value)`.
    pub assignments: Vec<(usize, Expr)>,
    /// WHERE: rows for which it is not true are locked and left alone.
    pub filter: Option<Expr>,
    /// How the existing row is locked when it is read: None with the implicit lock off.
    pub lock: Option<RowLock>,
}

/// UPDATE.
#[derive(Clone, Debug)]
pub struct UpdatePlan {
    /// Target.
    pub table: Arc<TableDescriptor>,
    /// Alias, for EXPLAIN.
    pub alias: String,
    /// Gives the old row by position in its first slots, then whatever assignments and RETURNING need besides.
    pub input: Plan,
    /// `(column position, new value)`, over the input row; other columns keep their value.
    pub assignments: Vec<(usize, Expr)>,
    /// Computed from the new row by position.
    pub generated: Vec<GeneratedColumn>,
    /// CHECK constraints, over the new row by position.
    pub checks: Vec<BoundCheck>,
    /// Some column of a unique index's key is assigned: the row lock is UPDATE, otherwise NO KEY UPDATE.
    pub changes_key: bool,
    /// The same target row can come up more than once (a join): only the first counts.
    pub may_repeat: bool,
    /// RETURNING, over the input row with its first slots replaced by the new row.
    pub returning: Option<Returned>,
}

/// DELETE.
#[derive(Clone, Debug)]
pub struct DeletePlan {
    /// Target.
    pub table: Arc<TableDescriptor>,
    /// Alias, for EXPLAIN.
    pub alias: String,
    /// Gives the old row by position in its first slots, then whatever RETURNING needs besides.
    pub input: Plan,
    /// The same target row can come up more than once (a join): only the first counts.
    pub may_repeat: bool,
    /// RETURNING, over the input row.
    pub returning: Option<Returned>,
}
