//! INSERT, UPDATE, DELETE, TRUNCATE, COPY.

use super::{Expr, Ident, ObjectName, Query, SelectItem, Subscript, TableAlias, TableRef, With};

/// INSERT.
#[derive(Clone, Debug)]
pub struct Insert {
    /// WITH.
    pub with: Option<With>,
    /// Target.
    pub table: ObjectName,
    /// `AS alias`.
    pub alias: Option<Ident>,
    /// Column list; empty means all, in order.
    pub columns: Vec<Ident>,
    /// OVERRIDING SYSTEM (true) or USER (false) VALUE.
    pub overriding_system: Option<bool>,
    /// VALUES or SELECT; None is DEFAULT VALUES.
    pub source: Option<Box<Query>>,
    /// ON CONFLICT.
    pub on_conflict: Option<OnConflict>,
    /// RETURNING.
    pub returning: Vec<SelectItem>,
}

/// ON CONFLICT.
#[derive(Clone, Debug)]
pub struct OnConflict {
    /// Which conflicts are meant.
    pub target: ConflictTarget,
    /// What to do.
    pub action: ConflictAction,
}

/// Which unique indexes are arbiters.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum ConflictTarget {
    /// Not given: any.
    Any,
    /// `(a, lower(b)) WHERE p`.
    Columns { columns: Vec<Expr>, predicate: Option<Expr> },
    /// `ON CONSTRAINT c`.
    Constraint(Ident),
}

/// DO NOTHING or DO UPDATE.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum ConflictAction {
    Nothing,
    Update { assignments: Vec<Assignment>, filter: Option<Expr> },
}

/// `a = expr`, or `(a, b) = (…)`.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// Targets; more than one for the row form.
    pub targets: Vec<AssignmentTarget>,
    /// `(a, b) = ...`, also with one column.
    pub row_form: bool,
    /// Value: for the row form, a row, a subquery, or any row expression.
    pub value: Expr,
}

/// A column to assign, possibly a part of it.
#[derive(Clone, Debug)]
pub struct AssignmentTarget {
    /// The column.
    pub column: Ident,
    /// `arr[i] = ...`
    pub subscripts: Vec<Subscript>,
}

/// MERGE.
#[derive(Clone, Debug)]
pub struct Merge {
    /// WITH.
    pub with: Option<With>,
    /// Target.
    pub table: ObjectName,
    /// Alias.
    pub alias: Option<TableAlias>,
    /// USING.
    pub source: TableRef,
    /// ON.
    pub on: Expr,
    /// WHEN ..., in order.
    pub clauses: Vec<MergeWhen>,
}

/// `WHEN [NOT] MATCHED [AND condition] THEN action`.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct MergeWhen {
    pub matched: bool,
    pub condition: Option<Expr>,
    pub action: MergeAction,
}

/// What MERGE does with a row.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum MergeAction {
    Nothing,
    Delete,
    Update(Vec<Assignment>),
    /// `values` is None for DEFAULT VALUES.
    Insert {
        columns: Vec<Ident>,
        overriding_system: Option<bool>,
        values: Option<Vec<Expr>>,
    },
}

/// UPDATE.
#[derive(Clone, Debug)]
pub struct Update {
    /// WITH.
    pub with: Option<With>,
    /// Target.
    pub table: ObjectName,
    /// Alias.
    pub alias: Option<TableAlias>,
    /// SET.
    pub assignments: Vec<Assignment>,
    /// FROM.
    pub from: Vec<TableRef>,
    /// WHERE, possibly CURRENT OF.
    pub filter: Option<Expr>,
    /// RETURNING.
    pub returning: Vec<SelectItem>,
}

/// DELETE.
#[derive(Clone, Debug)]
pub struct Delete {
    /// WITH.
    pub with: Option<With>,
    /// Target.
    pub table: ObjectName,
    /// Alias.
    pub alias: Option<TableAlias>,
    /// USING.
    pub using: Vec<TableRef>,
    /// WHERE, possibly CURRENT OF.
    pub filter: Option<Expr>,
    /// RETURNING.
    pub returning: Vec<SelectItem>,
}

/// TRUNCATE.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Truncate {
    pub tables: Vec<ObjectName>,
    pub restart_identity: bool,
    pub cascade: bool,
}

/// COPY.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Copy {
    pub source: CopySource,
    /// FROM (into the table) instead of TO.
    pub from: bool,
    pub target: CopyTarget,
    /// Options by lower-case name, of either syntax, not yet judged: `format`, `freeze`, `delimiter`, `null`, `header`,
    /// `quote`, `escape`, `force_quote`, `force_not_null`, `force_null`, `encoding`.
    pub options: Vec<CopyOption>,
    /// `COPY t FROM ... WHERE`.
    pub filter: Option<Expr>,
}

/// What is copied.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum CopySource {
    Table { name: ObjectName, columns: Vec<Ident> },
    Query(Box<super::Statement>),
}

/// Where from or to.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum CopyTarget {
    /// STDIN or STDOUT: the client.
    Client,
    File(String),
    Program(String),
}

/// One COPY option.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct CopyOption {
    pub name: String,
    pub value: CopyOptionValue,
}

/// Its value.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum CopyOptionValue {
    None,
    /// A word, a string or a number, as text.
    Text(String),
    Columns(Vec<String>),
    /// `*`
    Star,
}
