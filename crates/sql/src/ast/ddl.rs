//! Definitions: CREATE, ALTER, DROP, COMMENT, GRANT.
//!
//! Expressions that are kept in the catalog (defaults, checks, view queries) are carried both as a tree and as the text that
//! will be stored.

use super::{Expr, Ident, ObjectName, OrderItem, Pos, Query, Statement, TypeName};

/// An expression with its source text, for the catalog to keep.
#[derive(Clone, Debug)]
pub struct StoredExpr {
    /// The tree.
    pub expr: Expr,
    /// The text, as written.
    pub text: String,
}

/// CREATE TABLE.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct CreateTable {
    pub name: ObjectName,
    pub if_not_exists: bool,
    pub temporary: bool,
    /// Accepted, since our log covers everything; the table is simply logged.
    pub unlogged: bool,
    pub columns: Vec<ColumnDef>,
    pub constraints: Vec<TableConstraint>,
    pub likes: Vec<LikeClause>,
    /// `WITH (fillfactor = 70)`: storage parameters, by name.
    pub options: Vec<(String, String)>,
    pub on_commit: Option<OnCommit>,
}

/// ON COMMIT, of temporary tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
#[allow(missing_docs)]
pub enum OnCommit {
    #[default]
    PreserveRows,
    DeleteRows,
    Drop,
}

/// `LIKE t INCLUDING ...`.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct LikeClause {
    pub table: ObjectName,
    /// Lower-case option names in order: `(true, "defaults")` for INCLUDING DEFAULTS.
    pub options: Vec<(bool, String)>,
}

/// CREATE TABLE ... AS (also SELECT INTO).
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct CreateTableAs {
    pub name: ObjectName,
    pub columns: Vec<Ident>,
    pub if_not_exists: bool,
    pub temporary: bool,
    pub on_commit: Option<OnCommit>,
    pub options: Vec<(String, String)>,
    pub query: Statement,
    pub with_data: bool,
}

/// A column of CREATE TABLE or ADD COLUMN.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct ColumnDef {
    pub name: Ident,
    pub ty: TypeName,
    pub collation: Option<ObjectName>,
    pub constraints: Vec<ColumnConstraint>,
}

/// A constraint written behind a column.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct ColumnConstraint {
    pub name: Option<String>,
    pub kind: ColumnConstraintKind,
    pub timing: ConstraintTiming,
}

/// Its kinds.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum ColumnConstraintKind {
    NotNull,
    Null,
    Default(StoredExpr),
    Check(StoredExpr),
    PrimaryKey,
    Unique { nulls_distinct: bool },
    References(ForeignKeySpec),
    Identity { always: bool, options: Vec<SequenceOption> },
    Generated(StoredExpr),
}

/// A constraint of the table.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct TableConstraint {
    pub name: Option<String>,
    pub kind: TableConstraintKind,
    pub timing: ConstraintTiming,
    /// NOT VALID.
    pub not_valid: bool,
    /// CHECK ... NO INHERIT.
    pub no_inherit: bool,
    pub pos: Pos,
}

/// Its kinds.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum TableConstraintKind {
    PrimaryKey {
        columns: Vec<Ident>,
        include: Vec<Ident>,
    },
    Unique {
        columns: Vec<Ident>,
        include: Vec<Ident>,
        nulls_distinct: bool,
    },
    Check(StoredExpr),
    ForeignKey {
        columns: Vec<Ident>,
        spec: ForeignKeySpec,
    },
    /// `ADD CONSTRAINT c PRIMARY KEY USING INDEX i`.
    UsingIndex {
        primary: bool,
        index: Ident,
    },
}

/// DEFERRABLE and friends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)]
pub struct ConstraintTiming {
    pub deferrable: bool,
    pub initially_deferred: bool,
}

/// REFERENCES.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct ForeignKeySpec {
    pub table: ObjectName,
    /// Empty: the primary key.
    pub columns: Vec<Ident>,
    pub match_full: bool,
    pub on_delete: ReferentialAction,
    pub on_update: ReferentialAction,
}

/// What a change of the parent does to the children.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[allow(missing_docs)]
pub enum ReferentialAction {
    NoAction,
    Restrict,
    Cascade,
    SetNull,
    SetDefault,
}

/// ALTER TABLE (also ALTER VIEW, INDEX and SEQUENCE where PostgreSQL shares the code).
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct AlterTable {
    pub kind: ObjectKind,
    pub name: ObjectName,
    pub if_exists: bool,
    pub actions: Vec<AlterTableAction>,
}

impl AlterTable {
    pub(super) fn tag(&self) -> &'static str {
        match self.kind {
            ObjectKind::View => "ALTER VIEW",
            ObjectKind::Index => "ALTER INDEX",
            ObjectKind::Sequence => "ALTER SEQUENCE",
            _ => "ALTER TABLE",
        }
    }
}

/// One action of ALTER TABLE.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum AlterTableAction {
    AddColumn {
        column: ColumnDef,
        if_not_exists: bool,
    },
    DropColumn {
        column: Ident,
        if_exists: bool,
        cascade: bool,
    },
    RenameColumn {
        column: Ident,
        name: Ident,
    },
    RenameTo(String),
    RenameConstraint {
        constraint: String,
        name: String,
    },
    SetSchema(String),
    OwnerTo(String),
    AddConstraint(TableConstraint),
    DropConstraint {
        constraint: String,
        if_exists: bool,
        cascade: bool,
    },
    ValidateConstraint(String),
    AlterConstraint {
        constraint: String,
        timing: ConstraintTiming,
    },
    SetType {
        column: Ident,
        ty: TypeName,
        using: Option<StoredExpr>,
    },
    SetDefault {
        column: Ident,
        default: StoredExpr,
    },
    DropDefault {
        column: Ident,
    },
    SetNotNull {
        column: Ident,
    },
    DropNotNull {
        column: Ident,
    },
    AddIdentity {
        column: Ident,
        always: bool,
        options: Vec<SequenceOption>,
    },
    AlterIdentity {
        column: Ident,
        always: Option<bool>,
        options: Vec<SequenceOption>,
    },
    DropIdentity {
        column: Ident,
        if_exists: bool,
    },
    DropExpression {
        column: Ident,
        if_exists: bool,
    },
    SetStatistics {
        column: Ident,
        target: i32,
    },
    SetStorageParameters(Vec<(String, String)>),
    ResetStorageParameters(Vec<String>),
    /// `SPLIT AT VALUES (1), (2)`: new range boundaries, each a prefix of the primary key.
    SplitAt(Vec<Vec<Expr>>),
}

/// CREATE INDEX.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct CreateIndex {
    pub name: Option<String>,
    pub table: ObjectName,
    pub unique: bool,
    pub concurrently: bool,
    pub if_not_exists: bool,
    /// `btree` unless written otherwise.
    pub method: String,
    pub columns: Vec<IndexElement>,
    pub include: Vec<Ident>,
    pub nulls_distinct: bool,
    pub predicate: Option<StoredExpr>,
    pub options: Vec<(String, String)>,
}

/// One key column of an index.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct IndexElement {
    pub item: OrderItem,
    pub text: String,
    pub operator_class: Option<String>,
}

/// CREATE SCHEMA.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct CreateSchema {
    pub name: String,
    pub if_not_exists: bool,
    pub owner: Option<String>,
}

/// CREATE SEQUENCE.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct CreateSequence {
    pub name: ObjectName,
    pub temporary: bool,
    pub if_not_exists: bool,
    pub options: Vec<SequenceOption>,
}

/// ALTER SEQUENCE, its options.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct AlterSequence {
    pub name: ObjectName,
    pub if_exists: bool,
    pub options: Vec<SequenceOption>,
}

/// One option of a sequence.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum SequenceOption {
    As(TypeName),
    Increment(i64),
    MinValue(Option<i64>),
    MaxValue(Option<i64>),
    Start(i64),
    Restart(Option<i64>),
    Cache(i64),
    Cycle(bool),
    /// `OWNED BY t.c`, or NONE.
    OwnedBy(Option<(ObjectName, String)>),
    Name(ObjectName),
}

/// CREATE VIEW.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct CreateView {
    pub name: ObjectName,
    pub or_replace: bool,
    pub temporary: bool,
    pub columns: Vec<Ident>,
    pub query: Query,
    /// The query's text, as stored.
    pub text: String,
    /// WITH CHECK OPTION: `Some(true)` is CASCADED.
    pub check_option: Option<bool>,
}

/// DROP.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Drop {
    pub kind: ObjectKind,
    pub names: Vec<ObjectName>,
    pub if_exists: bool,
    pub cascade: bool,
    pub concurrently: bool,
}

/// Kinds of objects that DROP, ALTER, COMMENT and GRANT speak of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum ObjectKind {
    Table,
    Index,
    View,
    MaterializedView,
    Sequence,
    Schema,
    Database,
    Column,
    Constraint,
    Type,
    Domain,
    Function,
    Role,
    Extension,
}

impl ObjectKind {
    /// `table`, `index` ... as PostgreSQL's messages say it.
    pub fn noun(self) -> &'static str {
        match self {
            ObjectKind::Table => "table",
            ObjectKind::Index => "index",
            ObjectKind::View => "view",
            ObjectKind::MaterializedView => "materialized view",
            ObjectKind::Sequence => "sequence",
            ObjectKind::Schema => "schema",
            ObjectKind::Database => "database",
            ObjectKind::Column => "column",
            ObjectKind::Constraint => "constraint",
            ObjectKind::Type => "type",
            ObjectKind::Domain => "domain",
            ObjectKind::Function => "function",
            ObjectKind::Role => "role",
            ObjectKind::Extension => "extension",
        }
    }

    pub(super) fn drop_tag(self) -> &'static str {
        match self {
            ObjectKind::Table | ObjectKind::Column | ObjectKind::Constraint => "DROP TABLE",
            ObjectKind::Index => "DROP INDEX",
            ObjectKind::View => "DROP VIEW",
            ObjectKind::MaterializedView => "DROP MATERIALIZED VIEW",
            ObjectKind::Sequence => "DROP SEQUENCE",
            ObjectKind::Schema => "DROP SCHEMA",
            ObjectKind::Database => "DROP DATABASE",
            ObjectKind::Type => "DROP TYPE",
            ObjectKind::Domain => "DROP DOMAIN",
            ObjectKind::Function => "DROP FUNCTION",
            ObjectKind::Role => "DROP ROLE",
            ObjectKind::Extension => "DROP EXTENSION",
        }
    }
}

/// What ALTER TYPE does to an enum.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum AlterEnumAction {
    /// `place`: before (true) or after (false) another label; at the end without it.
    AddValue {
        label: String,
        if_not_exists: bool,
        place: Option<(bool, String)>,
    },
    RenameValue {
        from: String,
        to: String,
    },
    OwnerTo(String),
}

/// COMMENT ON.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Comment {
    pub kind: ObjectKind,
    /// The object; for a column or constraint, the relation.
    pub name: ObjectName,
    /// The column or constraint.
    pub part: Option<String>,
    /// The function's arguments.
    pub signature: Option<(super::RoutineKind, super::FunctionSignature)>,
    pub text: Option<String>,
}

/// GRANT and REVOKE, kept as text for the catalog.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Grant {
    pub revoke: bool,
    /// Lower-case privileges, or role names when `objects` is None.
    pub privileges: Vec<String>,
    pub objects: Option<(ObjectKind, Vec<ObjectName>)>,
    /// Functions, when they are what is granted on.
    pub routines: Option<(super::RoutineKind, Vec<super::FunctionSignature>)>,
    pub grantees: Vec<String>,
    pub with_grant_option: bool,
}
