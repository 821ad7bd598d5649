//! Binding: every name gets its meaning, every expression its type.
//!
//! In: a statement as written, the catalog, what is known of the parameters' types. Out: a [`Bound`] statement, a logical tree whose expressions
//! refer to columns by id ([`logical`]), whose operators are functions, and whose casts are explicit. PostgreSQL's rules decide, and its errors are given, with
//! SQLSTATE, message and position.
//!
//! `scope` finds columns, `from` relations, `coerce` types; `expr` and `call` bind expressions; `query` and `select` queries;
//! `insert` and `modify` what writes. Nothing is optimized here, except that constants are folded where types ask for their value anyway.

mod call;
pub(crate) mod coerce;
mod domain;
mod expr;
mod from;
mod group;
mod insert;
pub mod logical;
mod merge;
mod modify;
mod named_arguments;
mod ordered_set;
mod query;
mod record;
mod references;
mod scope;
mod select;
mod stored;
mod subscript;
mod table_type;
mod updatable_view;
mod user_call;
mod user_relation;
mod window;

pub use domain::{DeclaredType, declared_type_in, domain_checks, value_row};
pub(crate) use from::in_other_database;
pub(crate) use group::same as same_expression;
pub use logical::{Bound, ColumnId, ColumnInfo, Logical};
pub use references::{BoundReferences, bind_stored, statement_references};
pub(crate) use select::expression_name;
pub use stored::{bind_row_expression, bind_scalar};
pub use table_type::{column_type, type_in};
pub use user_call::{FunctionScope, bind_in_function};

use crate::ast::{Statement, WindowSpec};
use crate::catalog::{Catalog, Oid};
use crate::error::{SqlError, SqlState};
use crate::plan::{AggregateCall, PlanSettings, StatementKind, TableFunction};
use crate::types::{ColumnType, DataType, Shape};
use hashbrown::HashMap;
use logical::{BoundCte, BoundSubquery, LockedTable, LogicalWindow};
use scope::Namespace;
use std::sync::Arc;

/// Views inside views: deeper than this is taken for a loop.
const VIEW_DEPTH_MAX: usize = 64;

/// Binds a statement that can be planned (a query, INSERT, UPDATE, DELETE). `param_types` are the declared ones, UNKNOWN or shorter where the client left it to us; a
/// `$n` beyond them is allowed and inferred.
pub fn bind(statement: &Statement, catalog: &Catalog, settings: &PlanSettings, param_types: &[DataType]) -> Result<Bound, SqlError> {
    let mut binder = Binder::new(catalog, settings, param_types);
    let (kind, root, output, returns_rows) = binder.statement(statement)?;
    binder.finish(kind, root, output, returns_rows)
}

/// Where a query's own text names columns and relations, by 1-based character positions.
#[derive(Clone, Debug, Default)]
pub struct Mentions {
    /// Columns, in the order in which they were bound, and whether they are named where their table stands in FROM (not what a subquery passes on).
    pub columns: Vec<(usize, ColumnId, bool)>,
    /// Those of them that are, without another name, what a SELECT shows.
    pub bare_items: Vec<usize>,
    /// Stored relations, and whether they have an alias there.
    pub tables: Vec<(usize, Oid, bool)>,
}

/// Binds a query, and says where it names what.
pub fn bind_with_mentions(query: &crate::ast::Query, catalog: &Catalog, settings: &PlanSettings) -> Result<(Bound, Mentions), SqlError> {
    let mut binder = Binder::new(catalog, settings, &[]);
    binder.mentions = Some(Mentions::default());
    let (kind, root, output, returns_rows) = binder.statement(&Statement::Query(Box::new(query.clone())))?;
    let mentions = binder.mentions.take().unwrap_or_default();
    Ok((binder.finish(kind, root, output, returns_rows)?, mentions))
}

/// The relations that a statement names, as far as it can be bound: what must be waited for before its error can be believed.
pub fn mentioned_relations(statement: &Statement, catalog: &Catalog, settings: &PlanSettings, param_types: &[DataType]) -> Vec<Oid> {
    let mut binder = Binder::new(catalog, settings, param_types);
    // Its error is known already.
    let _ = binder.statement(statement);
    binder.relations
}

/// What kind of statement, its tree, its output columns, and whether it returns rows.
type BoundParts = (StatementKind, Logical, Vec<(String, ColumnId)>, bool);

/// Which clause is being bound, for what it may contain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Clause {
    Targets,
    Where,
    On,
    GroupBy,
    Having,
    OrderBy,
    Limit,
    Values,
    From,
    Update,
    Returning,
    Filter,
    Window,
    Stored,
    MergeWhen,
}

impl Clause {
    /// As PostgreSQL's messages name it.
    fn name(self) -> &'static str {
        match self {
            Clause::Targets => "SELECT",
            Clause::Where => "WHERE",
            Clause::On => "JOIN conditions",
            Clause::GroupBy => "GROUP BY",
            Clause::Having => "HAVING",
            Clause::OrderBy => "ORDER BY",
            Clause::Limit => "LIMIT",
            Clause::Values => "VALUES",
            Clause::From => "functions in FROM",
            Clause::Update => "UPDATE",
            Clause::Returning => "RETURNING",
            Clause::Filter => "FILTER",
            Clause::Window => "window definitions",
            Clause::Stored => "stored expressions",
            Clause::MergeWhen => "MERGE WHEN conditions",
        }
    }
}

/// What a SELECT collects while its expressions are bound.
pub(super) struct SelectState {
    clause: Clause,
    inside_aggregate: bool,
    aggregates: Vec<(ColumnId, AggregateCall)>,
    named_windows: Vec<(String, WindowSpec)>,
    windows: Vec<LogicalWindow>,
    set_functions: Vec<(ColumnId, TableFunction)>,
    /// Expressions of GROUP BY with their new ids, and which of them each grouping set keeps.
    group: Vec<(ColumnId, crate::expr::Expr)>,
    sets: Option<Vec<Vec<usize>>>,
    set_number: ColumnId,
}

impl SelectState {
    fn new(clause: Clause) -> SelectState {
        SelectState {
            clause,
            inside_aggregate: false,
            aggregates: Vec::new(),
            named_windows: Vec::new(),
            windows: Vec::new(),
            set_functions: Vec::new(),
            group: Vec::new(),
            sets: None,
            set_number: 0,
        }
    }
}

/// A CTE's name in sight.
#[derive(Clone, Debug)]
struct VisibleCte {
    name: String,
    number: usize,
    /// While its own recursive term is being bound.
    in_recursion: bool,
    /// Why it can't be mentioned here, if it can't: it may be within its own definition.
    refused: Option<SqlError>,
}

pub(crate) struct Binder<'a> {
    catalog: &'a Catalog,
    settings: &'a PlanSettings,
    param_types: Vec<DataType>,
    columns: Vec<ColumnInfo>,
    /// The fields of columns that hold rows.
    shapes: HashMap<ColumnId, Arc<Shape>>,
    /// Where a column was last mentioned, for errors about it.
    places: HashMap<ColumnId, usize>,
    /// Where a string literal stands, for errors in it.
    literals: HashMap<String, usize>,
    scopes: Vec<Namespace>,
    /// FROM items to the left that a non-lateral item can't see, for a hint.
    hidden: Vec<Namespace>,
    /// Tables seen under another name: table, alias.
    renamed: Vec<(String, String)>,
    visible_ctes: Vec<VisibleCte>,
    ctes: Vec<BoundCte>,
    subqueries: Vec<BoundSubquery>,
    select: SelectState,
    /// Tables that the SELECT being bound locks.
    locked: Vec<LockedTable>,
    relations: Vec<Oid>,
    rewrites: Vec<logical::Rewrite>,
    /// Where the text names what, if somebody wants to know.
    mentions: Option<Mentions>,
    view_depth: usize,
    query_depth: usize,
    read_only: bool,
    /// The function whose body is being bound.
    function: Option<FunctionScope>,
    /// Functions whose bodies are being put into the place of their calls.
    inlining: Vec<Oid>,
    /// Users' functions that were called.
    functions: Vec<Oid>,
    /// CALL: procedures may be named.
    calling: bool,
}

impl<'a> Binder<'a> {
    fn new(catalog: &'a Catalog, settings: &'a PlanSettings, param_types: &[DataType]) -> Binder<'a> {
        // The protocol's 0 and `unknown` both leave it to us.
        let known = |ty: &DataType| if ty.0 == 0 { DataType::UNKNOWN } else { *ty };
        Binder {
            catalog,
            settings,
            param_types: param_types.iter().map(known).collect(),
            columns: Vec::new(),
            shapes: HashMap::new(),
            places: HashMap::new(),
            literals: HashMap::new(),
            scopes: Vec::new(),
            hidden: Vec::new(),
            renamed: Vec::new(),
            visible_ctes: Vec::new(),
            ctes: Vec::new(),
            subqueries: Vec::new(),
            select: SelectState::new(Clause::Values),
            locked: Vec::new(),
            relations: Vec::new(),
            rewrites: Vec::new(),
            mentions: None,
            view_depth: 0,
            query_depth: 0,
            read_only: true,
            function: None,
            inlining: Vec::new(),
            functions: Vec::new(),
            calling: false,
        }
    }

    fn statement(&mut self, statement: &Statement) -> Result<BoundParts, SqlError> {
        Ok(match statement {
            Statement::Query(query) => {
                let (root, output) = self.query(query, &query::Hints::default())?;
                (StatementKind::Select, root, output, true)
            }
            Statement::Insert(insert) => {
                let (root, output) = self.insert(insert)?;
                (StatementKind::Insert, root, output, !insert.returning.is_empty())
            }
            Statement::Update(update) => {
                let (root, output) = self.update(update)?;
                (StatementKind::Update, root, output, !update.returning.is_empty())
            }
            Statement::Merge(merge) => {
                let (root, output) = self.merge_into(merge)?;
                (StatementKind::Merge, root, output, false)
            }
            Statement::Delete(delete) => {
                let (root, output) = self.delete(delete)?;
                (StatementKind::Delete, root, output, !delete.returning.is_empty())
            }
            Statement::Call(call) => self.call_procedure(call)?,
            other => return Err(SqlError::new(SqlState::INTERNAL_ERROR, format!("{} is not a statement to plan", other.tag()))),
        })
    }

    fn finish(self, kind: StatementKind, root: Logical, output: Vec<(String, ColumnId)>, returns_rows: bool) -> Result<Bound, SqlError> {
        if let Some(at) = self.param_types.iter().position(|ty| *ty == DataType::UNKNOWN) {
            let message = format!("could not determine data type of parameter ${}", at + 1);
            return Err(SqlError::new(SqlState::INDETERMINATE_DATATYPE, message));
        }
        let mut relations = self.relations;
        relations.sort_unstable();
        relations.dedup();
        let mut functions = self.functions;
        functions.sort_unstable();
        functions.dedup();
        Ok(Bound {
            functions,
            kind,
            root,
            output,
            returns_rows,
            ctes: self.ctes,
            subqueries: self.subqueries,
            columns: self.columns,
            param_types: self.param_types,
            relations,
            rewrites: self.rewrites,
            read_only: self.read_only,
        })
    }

    /// The type of a name.
    fn named_type(&self, name: &crate::ast::TypeName) -> Result<ColumnType, SqlError> {
        type_in(name, self.catalog, &self.settings.search_path)
    }

    /// The type of a name, which may be a domain's.
    fn declared_type(&self, name: &crate::ast::TypeName) -> Result<DeclaredType, SqlError> {
        declared_type_in(name, self.catalog, &self.settings.search_path)
    }

    fn new_column(&mut self, name: impl Into<String>, ty: ColumnType) -> ColumnId {
        self.columns.push(ColumnInfo { name: name.into(), ty, table: 0, attnum: 0 });
        self.columns.len() - 1
    }

    /// A column for the value of an expression; if that is a row, its fields stay known.
    fn column_for(&mut self, name: impl Into<String>, expr: &crate::expr::Expr) -> ColumnId {
        let shape = self.shape_of(expr);
        let id = self.new_column(name, expr.ty());
        if let Some(shape) = shape {
            self.shapes.insert(id, shape);
        }
        id
    }

    fn column_type_of(&self, id: ColumnId) -> ColumnType {
        self.columns.get(id).map_or(DataType::UNKNOWN.into(), |c| c.ty)
    }

    /// Binds something in a clause of its own.
    fn in_clause<T>(&mut self, clause: Clause, run: impl FnOnce(&mut Self) -> Result<T, SqlError>) -> Result<T, SqlError> {
        let before = std::mem::replace(&mut self.select.clause, clause);
        let result = run(self);
        self.select.clause = before;
        result
    }
}
