//! The logical tree: what a statement means, before it is decided how to do it.
//!
//! Columns have *ids*, one numbering for the whole statement: each use of a table, each computed value makes new ones. In this tree, and only here,
//! `Expr::Column(id, type)` holds such an id; which slot of which row that will be is decided when the physical plan is built. So nodes can be moved
//! without renumbering anything, and a reference to an enclosing query needs no notation: it is an id that the node's input doesn't have.

use crate::ast::SetOp;
use crate::catalog::{Oid, TableDescriptor, VirtualTable};
use crate::expr::Expr;
use crate::plan::{
    AggregateCall, BoundCheck, Frame, GeneratedColumn, JoinType, RowLock, SortKey, StatementKind, TableFunction, TableFunctionCall,
    WindowCall,
};
use crate::types::{ColumnType, DataType};
use std::sync::Arc;

/// A column id.
pub type ColumnId = usize;

/// What is known of a column id.
#[derive(Clone, Debug)]
pub struct ColumnInfo {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: ColumnType,
    /// The table it comes from unchanged, or 0.
    pub table: Oid,
    /// Its attribute number there, or 0.
    pub attnum: u32,
}

/// A relational operator.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // the fields say what they are; PlanNode documents the semantics
pub enum Logical {
    OneRow,
    /// One use of a stored table; `columns[p]` is the id of position `p`.
    Get {
        table: Arc<TableDescriptor>,
        alias: String,
        columns: Vec<ColumnId>,
    },
    Virtual {
        table: Arc<VirtualTable>,
        alias: String,
        columns: Vec<ColumnId>,
    },
    Function {
        functions: Vec<TableFunction>,
        ordinality: bool,
        alias: String,
        columns: Vec<ColumnId>,
    },
    Cte {
        cte: usize,
        work_table: bool,
        alias: String,
        columns: Vec<ColumnId>,
    },
    Values {
        rows: Vec<Vec<Expr>>,
        columns: Vec<ColumnId>,
    },
    Filter {
        input: Box<Logical>,
        predicates: Vec<Expr>,
    },
    /// The listed columns and nothing else; one that is its own id passes through.
    Project {
        input: Box<Logical>,
        exprs: Vec<(ColumnId, Expr)>,
    },
    ProjectSet {
        input: Box<Logical>,
        functions: Vec<(ColumnId, TableFunction)>,
    },
    Join {
        kind: JoinType,
        left: Box<Logical>,
        right: Box<Logical>,
        on: Vec<Expr>,
    },
    Aggregate {
        input: Box<Logical>,
        group: Vec<(ColumnId, Expr)>,
        sets: Option<Vec<Vec<usize>>>,
        aggregates: Vec<(ColumnId, AggregateCall)>,
        set_number: ColumnId,
    },
    Window {
        input: Box<Logical>,
        windows: Vec<LogicalWindow>,
    },
    Distinct {
        input: Box<Logical>,
        keys: Vec<Expr>,
    },
    Sort {
        input: Box<Logical>,
        keys: Vec<SortKey>,
    },
    Limit {
        input: Box<Logical>,
        limit: Option<Expr>,
        offset: Option<Expr>,
        ties: Option<Vec<SortKey>>,
    },
    /// FOR UPDATE and its like: lock what comes up.
    Lock {
        input: Box<Logical>,
        targets: Vec<LockedTable>,
    },
    /// UNION ALL: each input with the columns that become `columns`.
    Append {
        inputs: Vec<(Logical, Vec<ColumnId>)>,
        columns: Vec<ColumnId>,
    },
    SetOp {
        op: SetOp,
        all: bool,
        left: Box<Logical>,
        left_columns: Vec<ColumnId>,
        right: Box<Logical>,
        right_columns: Vec<ColumnId>,
        columns: Vec<ColumnId>,
    },
    Insert(Box<LogicalInsert>),
    Update(Box<LogicalUpdate>),
    Delete(Box<LogicalDelete>),
    Merge(Box<LogicalMerge>),
}

/// A table whose rows a query locks; `columns[p]` is the id of position `p`.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct LockedTable {
    pub table: Arc<TableDescriptor>,
    pub alias: String,
    pub columns: Vec<ColumnId>,
    pub lock: RowLock,
}

/// A window and the calls over it.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct LogicalWindow {
    pub partition_by: Vec<Expr>,
    pub order_by: Vec<SortKey>,
    pub frame: Frame,
    pub calls: Vec<(ColumnId, WindowCall)>,
}

/// INSERT: `input` gives `values[p]` for each position.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct LogicalInsert {
    pub table: Arc<TableDescriptor>,
    pub alias: String,
    pub input: Logical,
    pub values: Vec<ColumnId>,
    /// Over positions, not ids, like all expressions about a row to be stored.
    pub generated: Vec<GeneratedColumn>,
    pub checks: Vec<BoundCheck>,
    pub conflict: Option<LogicalConflict>,
    /// Ids by which RETURNING and DO UPDATE speak of the row.
    pub row: Vec<ColumnId>,
    pub returning: Option<Vec<(ColumnId, Expr)>>,
}

/// ON CONFLICT.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct LogicalConflict {
    pub arbiters: Vec<Option<usize>>,
    /// None is DO NOTHING.
    pub update: Option<LogicalConflictUpdate>,
}

/// DO UPDATE.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct LogicalConflictUpdate {
    pub excluded: Vec<ColumnId>,
    pub assignments: Vec<(usize, Expr)>,
    pub filter: Option<Expr>,
    pub changes_key: bool,
}

/// UPDATE; `row[p]` is the target's id of position `p` in `input`.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct LogicalUpdate {
    pub table: Arc<TableDescriptor>,
    pub alias: String,
    pub input: Logical,
    pub row: Vec<ColumnId>,
    pub assignments: Vec<(usize, Expr)>,
    pub generated: Vec<GeneratedColumn>,
    pub checks: Vec<BoundCheck>,
    pub changes_key: bool,
    pub joined: bool,
    pub returning: Option<Vec<(ColumnId, Expr)>>,
}

/// DELETE.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct LogicalDelete {
    pub table: Arc<TableDescriptor>,
    pub alias: String,
    pub input: Logical,
    pub row: Vec<ColumnId>,
    pub joined: bool,
    pub returning: Option<Vec<(ColumnId, Expr)>>,
}

/// MERGE.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct LogicalMerge {
    pub table: Arc<TableDescriptor>,
    pub alias: String,
    /// The source, joined with the target; an outer join if something is done for rows that are not matched.
    pub input: Logical,
    /// The target's columns.
    pub row: Vec<ColumnId>,
    pub clauses: Vec<LogicalMergeClause>,
    pub generated: Vec<GeneratedColumn>,
    pub checks: Vec<BoundCheck>,
}

/// `WHEN [NOT] MATCHED [AND condition] THEN action`.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct LogicalMergeClause {
    pub matched: bool,
    pub condition: Option<Expr>,
    pub action: LogicalMergeAction,
}

impl LogicalMergeClause {
    /// Everything in it.
    pub fn exprs(&self) -> Vec<&Expr> {
        let action: Vec<&Expr> = match &self.action {
            LogicalMergeAction::Nothing | LogicalMergeAction::Delete => Vec::new(),
            LogicalMergeAction::Update(assignments) => assignments.iter().map(|(_, e)| e).collect(),
            LogicalMergeAction::Insert(values) => values.iter().collect(),
        };
        self.condition.iter().chain(action).collect()
    }
}

/// What MERGE does with a row.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum LogicalMergeAction {
    Nothing,
    Delete,
    Update(Vec<(usize, Expr)>),
    /// A complete row by position.
    Insert(Vec<Expr>),
}

/// What a subquery in an expression (`Expr::Subquery(number, _)`) is.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct BoundSubquery {
    pub kind: SubqueryKind,
    pub plan: Logical,
    /// Its output columns.
    pub columns: Vec<ColumnId>,
}

/// The value a subquery gives.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum SubqueryKind {
    Scalar,
    /// All columns of the only row, as a record.
    Row,
    Exists,
    Array,
    /// `test` over outer ids and the subquery's; `pairs` are its equalities if it is nothing else.
    Quantified {
        test: Expr,
        all: bool,
        pairs: Option<Vec<(Expr, Expr)>>,
    },
}

/// A common table expression.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct BoundCte {
    pub name: String,
    pub plan: Logical,
    pub columns: Vec<ColumnId>,
    /// The recursive term, its columns, and whether it is UNION ALL.
    pub recursive: Option<(Logical, Vec<ColumnId>, bool)>,
    pub writes: bool,
    /// MATERIALIZED was written.
    pub materialized: Option<bool>,
    /// How often it is read.
    pub references: usize,
}

/// A bound statement.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Bound {
    pub kind: StatementKind,
    pub root: Logical,
    /// Result columns: name, id.
    pub output: Vec<(String, ColumnId)>,
    pub returns_rows: bool,
    pub ctes: Vec<BoundCte>,
    pub subqueries: Vec<BoundSubquery>,
    pub columns: Vec<ColumnInfo>,
    pub param_types: Vec<DataType>,
    pub relations: Vec<Oid>,
    /// Users' functions that it calls.
    pub functions: Vec<Oid>,
    /// What would have to change in the text so that it means the same wherever and whenever it is read.
    pub rewrites: Vec<Rewrite>,
    /// FOR UPDATE somewhere, or a write.
    pub read_only: bool,
}

/// A change to a statement's text: a schema in front of a table's name, or columns for a star.
#[derive(Clone, Debug)]
pub struct Rewrite {
    /// Where, a 1-based character position.
    pub start: usize,
    /// Everything up to and including the next `*` is replaced; otherwise text is put in front.
    pub star: bool,
    /// What to put there.
    pub text: String,
}

impl Logical {
    /// The ids it gives.
    pub fn output(&self) -> Vec<ColumnId> {
        match self {
            Logical::OneRow => Vec::new(),
            Logical::Get { columns, .. }
            | Logical::Virtual { columns, .. }
            | Logical::Function { columns, .. }
            | Logical::Cte { columns, .. } => columns.clone(),
            Logical::Values { columns, .. } | Logical::Append { columns, .. } | Logical::SetOp { columns, .. } => columns.clone(),
            Logical::Filter { input, .. }
            | Logical::Distinct { input, .. }
            | Logical::Sort { input, .. }
            | Logical::Limit { input, .. }
            | Logical::Lock { input, .. } => input.output(),
            Logical::Project { exprs, .. } => exprs.iter().map(|(id, _)| *id).collect(),
            Logical::ProjectSet { input, functions } => [input.output(), functions.iter().map(|(id, _)| *id).collect()].concat(),
            Logical::Join { kind: JoinType::Semi | JoinType::Anti, left, .. } => left.output(),
            Logical::Join { left, right, .. } => [left.output(), right.output()].concat(),
            Logical::Aggregate { group, aggregates, sets, set_number, .. } => {
                let mut ids: Vec<ColumnId> = group.iter().map(|(id, _)| *id).chain(aggregates.iter().map(|(id, _)| *id)).collect();
                ids.extend(sets.is_some().then_some(*set_number));
                ids
            }
            Logical::Window { input, windows } => {
                let calls = windows.iter().flat_map(|w| w.calls.iter().map(|(id, _)| *id)).collect();
                [input.output(), calls].concat()
            }
            Logical::Insert(insert) => returned(&insert.returning),
            Logical::Update(update) => returned(&update.returning),
            Logical::Delete(delete) => returned(&delete.returning),
            Logical::Merge(_) => Vec::new(),
        }
    }

    /// Calls `change` for every expression of every node, but not inside of subqueries' own trees.
    pub fn for_each_expr_mut(&mut self, change: &mut dyn FnMut(&mut Expr)) {
        let functions = |list: &mut [TableFunction], change: &mut dyn FnMut(&mut Expr)| {
            for function in list {
                match &mut function.call {
                    TableFunctionCall::Set { args, .. } | TableFunctionCall::User { args, .. } => args.iter_mut().for_each(&mut *change),
                    TableFunctionCall::Scalar(expr) => change(expr),
                }
            }
        };
        match self {
            Logical::OneRow | Logical::Get { .. } | Logical::Virtual { .. } | Logical::Cte { .. } => {}
            Logical::Function { functions: list, .. } => functions(list, change),
            Logical::Values { rows, .. } => rows.iter_mut().flatten().for_each(change),
            Logical::Filter { input, predicates } => {
                input.for_each_expr_mut(change);
                predicates.iter_mut().for_each(change);
            }
            Logical::Project { input, exprs } => {
                input.for_each_expr_mut(change);
                exprs.iter_mut().for_each(|(_, e)| change(e));
            }
            Logical::ProjectSet { input, functions: list } => {
                input.for_each_expr_mut(change);
                for (_, function) in list {
                    functions(std::slice::from_mut(function), change);
                }
            }
            Logical::Join { left, right, on, .. } => {
                left.for_each_expr_mut(change);
                right.for_each_expr_mut(change);
                on.iter_mut().for_each(change);
            }
            Logical::Aggregate { input, group, aggregates, .. } => {
                input.for_each_expr_mut(change);
                group.iter_mut().for_each(|(_, e)| change(e));
                for (_, call) in aggregates {
                    call.args.iter_mut().chain(&mut call.filter).for_each(&mut *change);
                    call.order_by.iter_mut().for_each(|k| change(&mut k.expr));
                }
            }
            Logical::Window { input, windows } => {
                input.for_each_expr_mut(change);
                for window in windows {
                    window.partition_by.iter_mut().for_each(&mut *change);
                    window.order_by.iter_mut().for_each(|k| change(&mut k.expr));
                    window.calls.iter_mut().flat_map(|(_, c)| c.args.iter_mut().chain(&mut c.filter)).for_each(&mut *change);
                }
            }
            Logical::Distinct { input, keys } => {
                input.for_each_expr_mut(change);
                keys.iter_mut().for_each(change);
            }
            Logical::Sort { input, keys } => {
                input.for_each_expr_mut(change);
                keys.iter_mut().for_each(|k| change(&mut k.expr));
            }
            Logical::Limit { input, limit, offset, .. } => {
                input.for_each_expr_mut(change);
                limit.iter_mut().chain(offset).for_each(change);
            }
            Logical::Lock { input, .. } => input.for_each_expr_mut(change),
            Logical::Append { inputs, .. } => inputs.iter_mut().for_each(|(input, _)| input.for_each_expr_mut(change)),
            Logical::SetOp { left, right, .. } => {
                left.for_each_expr_mut(change);
                right.for_each_expr_mut(change);
            }
            Logical::Insert(_) | Logical::Update(_) | Logical::Delete(_) | Logical::Merge(_) => {}
        }
    }

    /// A filter, unless there is nothing to filter.
    pub fn filtered(self, predicates: Vec<Expr>) -> Logical {
        if predicates.is_empty() { self } else { Logical::Filter { input: Box::new(self), predicates } }
    }
}

fn returned(returning: &Option<Vec<(ColumnId, Expr)>>) -> Vec<ColumnId> {
    returning.iter().flatten().map(|(id, _)| *id).collect()
}

/// The conjuncts of a condition.
pub fn conjuncts(expr: Expr) -> Vec<Expr> {
    match expr {
        Expr::And(list) => list.into_iter().flat_map(conjuncts).collect(),
        other => vec![other],
    }
}
