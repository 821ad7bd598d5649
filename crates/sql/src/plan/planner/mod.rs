//! From a bound statement to a physical plan.
//!
//! One walk down the logical tree. A node is asked for what its parents `Want`: which columns, which conditions (pushed down as far as they go), perhaps an order,
//! a row count, a row lock. It answers with a `Sub`: a plan, the ids of its slots, and which of the wishes it fulfilled. What a node could not fulfil, its parent does above it.
//!
//! - `relation`, `grouping`, `ordering`: one method per kind of logical node;
//! - `subquery`: EXISTS and IN as semi and anti joins; other subqueries as subplans;
//! - `join`: groups of inner joins, their order (dynamic programming over costs), and how two sides are joined;
//! - `access`: which index reads a table, and with which keys;
//! - `cost`: how many rows, how expensive;
//! - `lock`: rows that are locked above their scan, and what is looked at again when they changed;
//! - `lower`: column ids become slots, and ids that are not in sight become execution slots;
//! - `write`: INSERT, UPDATE, DELETE.

mod access;
mod cost;
mod expressions;
mod grouping;
mod join;
mod lock;
mod lower;
mod ordering;
mod relation;
mod subquery;
mod write;

use super::table_locks::TableLocks;
use super::{CtePlan, Estimate, OutputColumn, Plan, PlanNode, PlanSettings, RecursiveTerm, RowLock, SortKey, StatementPlan};
use crate::ast::{Statement, TableLockMode};
use crate::bind::logical::{BoundCte, BoundSubquery, ColumnInfo};
use crate::bind::{Bound, ColumnId, FunctionScope, Logical, bind, bind_in_function};
use crate::catalog::Catalog;
use crate::error::SqlError;
use crate::expr::Expr;
use crate::types::DataType;
use hashbrown::HashMap;
use lower::Frame;

/// Binds and plans a statement (a query, INSERT, UPDATE, DELETE). See [`bind`] for `param_types`.
pub fn plan_statement(
    statement: &Statement,
    catalog: &Catalog,
    settings: &PlanSettings,
    param_types: &[DataType],
) -> Result<StatementPlan, SqlError> {
    let bound = bind(statement, catalog, settings, param_types)?;
    Planner::prepare(bound, catalog, settings).statement()
}

/// The same for a statement of a function's body; see [`bind_in_function`].
pub fn plan_in_function(
    statement: &Statement,
    scope: &FunctionScope,
    targets: Option<Vec<(String, crate::types::ColumnType)>>,
    catalog: &Catalog,
    settings: &PlanSettings,
) -> Result<StatementPlan, SqlError> {
    let bound = bind_in_function(statement, scope, targets, catalog, settings)?;
    Planner::prepare(bound, catalog, settings).statement()
}

/// What is wanted of a node.
#[derive(Clone, Debug, Default)]
struct Want {
    /// Columns that must be in the result.
    needed: Vec<ColumnId>,
    /// Conditions that the result must meet.
    filters: Vec<Expr>,
    /// An order that would be useful.
    order: Vec<SortKey>,
    /// The result will be cut after that many rows: the count as an expression over parameters, if there is one, and a guess.
    limit: Option<LimitHint>,
    /// Rows of this table will be written (or are to be locked) if they come up.
    lock: Option<LockWish>,
}

#[derive(Clone, Debug)]
struct LimitHint {
    /// None when a scan can't use it exactly.
    count: Option<Expr>,
    rows: f64,
}

/// A wish to lock in the scan: the use of a table is known by its first column.
#[derive(Clone, Copy, Debug)]
struct LockWish {
    first_column: ColumnId,
    lock: RowLock,
}

/// A planned node.
struct Sub {
    plan: Plan,
    /// The ids of the slots.
    layout: Vec<ColumnId>,
    /// The wanted order holds.
    ordered: bool,
    /// The wanted limit is already kept by the scan.
    limited: bool,
    /// The wanted lock is taken by the scan.
    locked: bool,
    /// At most one row.
    single: bool,
}

struct Planner<'a> {
    catalog: &'a Catalog,
    settings: &'a PlanSettings,
    columns: Vec<ColumnInfo>,
    subqueries: Vec<BoundSubquery>,
    bound_ctes: Vec<BoundCte>,
    /// Planned ones, with their columns; None is not planned (yet, or because it was inlined).
    ctes: Vec<Option<CtePlan>>,
    frames: Vec<Frame>,
    /// Which alias a table's column is seen under, for EXPLAIN.
    aliases: HashMap<ColumnId, String>,
    /// Statement parameters, then execution slots given out so far.
    slots: usize,
    /// A node looks again at rows that changed under the statement.
    looks_again: bool,
    /// Table locks, as the nodes that want them are planned.
    table_locks: TableLocks,
    /// See [`StatementPlan::literals_matter`].
    literals_matter: bool,
    head: Head,
}

/// What the finished plan says of itself.
struct Head {
    kind: super::StatementKind,
    output: Vec<(String, ColumnId)>,
    returns_rows: bool,
    param_types: Vec<DataType>,
    relations: Vec<u32>,
    functions: Vec<u32>,
    read_only: bool,
}

impl<'a> Planner<'a> {
    fn prepare(bound: Bound, catalog: &'a Catalog, settings: &'a PlanSettings) -> PlannerWithRoot<'a> {
        let head = Head {
            kind: bound.kind,
            output: bound.output,
            returns_rows: bound.returns_rows,
            param_types: bound.param_types,
            relations: bound.relations,
            functions: bound.functions,
            read_only: bound.read_only,
        };
        let planner = Planner {
            catalog,
            settings,
            columns: bound.columns,
            subqueries: bound.subqueries,
            ctes: bound.ctes.iter().map(|_| None).collect(),
            bound_ctes: bound.ctes,
            frames: Vec::new(),
            aliases: HashMap::new(),
            slots: head.param_types.len(),
            looks_again: false,
            table_locks: TableLocks::default(),
            literals_matter: false,
            head,
        };
        PlannerWithRoot { planner, root: bound.root }
    }

    /// Ids of the wanted columns, as they come.
    fn want(needed: Vec<ColumnId>) -> Want {
        Want { needed, ..Want::default() }
    }

    /// CTEs that must be evaluated once: read several times, recursive, writing, or MATERIALIZED. Others are planned where they are read.
    fn is_inlined(&self, cte: usize) -> bool {
        let cte = &self.bound_ctes[cte];
        cte.recursive.is_none() && !cte.writes && (cte.materialized == Some(false) || (cte.materialized.is_none() && cte.references <= 1))
    }

    fn plan_ctes(&mut self) -> Result<(), SqlError> {
        for number in 0..self.bound_ctes.len() {
            if self.is_inlined(number) {
                continue;
            }
            let cte = &self.bound_ctes[number];
            // One that refers to an outer query is planned where it is read, in sight of that query.
            if cte.writes || self.cte_free_columns(number).is_empty() {
                self.plan_cte(number, false)?;
            }
        }
        Ok(())
    }

    /// Plans a CTE that is evaluated by itself; a correlated one again wherever it is read, since only the last of several attempts at a plan counts.
    pub(super) fn plan_cte(&mut self, number: usize, correlated: bool) -> Result<(), SqlError> {
        let cte = self.bound_ctes[number].clone();
        let plan = self.exact(cte.plan, &cte.columns)?;
        let recursive = match cte.recursive {
            None => None,
            Some((step, columns, all)) => Some(RecursiveTerm { plan: self.exact(step, &columns)?, all }),
        };
        self.ctes[number] = Some(CtePlan { name: cte.name, plan, recursive, writes: cte.writes, correlated });
        Ok(())
    }

    /// A plan whose row is exactly these columns.
    fn exact(&mut self, node: Logical, columns: &[ColumnId]) -> Result<Plan, SqlError> {
        let sub = self.relation(node, Self::want(columns.to_vec()))?;
        Ok(self.arranged(sub, columns)?.plan)
    }

    /// Puts the columns in order, if they are not.
    fn arranged(&mut self, sub: Sub, columns: &[ColumnId]) -> Result<Sub, SqlError> {
        if sub.layout == columns {
            return Ok(sub);
        }
        let exprs = columns.iter().map(|id| self.slot(*id, &sub.layout)).collect::<Result<Vec<_>, _>>()?;
        Ok(self.projected(sub, exprs, columns.to_vec()))
    }

    fn projected(&self, sub: Sub, exprs: Vec<Expr>, layout: Vec<ColumnId>) -> Sub {
        let rows = sub.plan.estimate.rows;
        let cost = rows * cost::ROW * 0.5;
        let estimate = Estimate { total: sub.plan.estimate.total + cost, width: self.width(&layout), ..sub.plan.estimate };
        Sub { plan: self.node(PlanNode::Project { input: Box::new(sub.plan), exprs }, &layout, estimate), layout, ..sub }
    }

    /// A plan node with types and names for its slots.
    fn node(&self, node: PlanNode, layout: &[ColumnId], estimate: Estimate) -> Plan {
        let types = layout.iter().map(|id| self.columns[*id].ty).collect();
        let name = |id: &ColumnId| match self.aliases.get(id) {
            Some(alias) => format!("{alias}.{}", self.columns[*id].name),
            None => self.columns[*id].name.clone(),
        };
        let names = layout.iter().map(name).collect();
        Plan { node, types, names, estimate }
    }

    fn sub(&self, node: PlanNode, layout: Vec<ColumnId>, estimate: Estimate) -> Sub {
        Sub { plan: self.node(node, &layout, estimate), layout, ordered: false, limited: false, locked: false, single: false }
    }

    fn new_column(&mut self, name: &str, ty: crate::types::ColumnType) -> ColumnId {
        self.columns.push(ColumnInfo { name: name.to_owned(), ty, table: 0, attnum: 0 });
        self.columns.len() - 1
    }
}

/// A planner with the tree it will plan.
struct PlannerWithRoot<'a> {
    planner: Planner<'a>,
    root: Logical,
}

impl PlannerWithRoot<'_> {
    fn statement(self) -> Result<StatementPlan, SqlError> {
        let PlannerWithRoot { mut planner, root } = self;
        planner.plan_ctes()?;
        let columns: Vec<ColumnId> = planner.head.output.iter().map(|(_, id)| *id).collect();
        let plan = planner.exact(root, &columns)?;
        // Inlined ones leave no hole in the numbering: their places are empty plans that nobody reads.
        let ctes = std::mem::take(&mut planner.ctes).into_iter().map(|cte| cte.unwrap_or_else(inlined)).collect();
        let head = planner.head;
        head.relations.iter().for_each(|relation| planner.table_locks.add(*relation, TableLockMode::AccessShare));
        let output = head.output.iter().map(|(name, id)| {
            let info = &planner.columns[*id];
            OutputColumn { name: name.clone(), ty: info.ty, table: info.table, attnum: info.attnum }
        });
        Ok(StatementPlan {
            kind: head.kind,
            root: plan,
            ctes,
            execution_slots: planner.slots - head.param_types.len(),
            output: if head.returns_rows { output.collect() } else { Vec::new() },
            returns_rows: head.returns_rows,
            read_only: head.read_only,
            catalog_version: planner.catalog.version(),
            relations: head.relations,
            functions: head.functions,
            looks_again: planner.looks_again,
            table_locks: planner.table_locks.finish(),
            param_types: head.param_types,
            literals_matter: planner.literals_matter,
        })
    }
}

fn inlined() -> CtePlan {
    let plan = Plan { node: PlanNode::Empty, types: Vec::new(), names: Vec::new(), estimate: Estimate::default() };
    CtePlan { name: String::new(), plan, recursive: None, writes: false, correlated: false }
}
