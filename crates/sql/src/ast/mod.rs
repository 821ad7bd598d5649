//! What the user wrote, as a tree of our own.
//!
//! `parse` builds it and is the only place that knows the parser crate; `bind` reads it and gives every name a meaning.
//! Nothing here is resolved: a table is a name, a type is a name, an operator is its symbol. Names are already folded to
//! lower case unless they were quoted. Nodes about which PostgreSQL's errors carry a position (names, calls, operators)
//! have a [`Pos`], so that a client's caret points where psql users expect it.
//!
//! Expressions are in [`expr`], SELECT and its parts in [`query`], INSERT, UPDATE, DELETE and COPY in [`dml`], definitions in
//! [`ddl`], and everything about the session, its transactions and its maintenance in [`utility`].

mod database;
pub mod ddl;
pub mod dml;
mod domain;
pub mod expr;
mod function;
pub mod query;
pub mod utility;

pub use database::*;
pub use ddl::*;
pub use dml::*;
pub use domain::*;
pub use expr::*;
pub use function::*;
pub use query::*;
pub use utility::*;

/// A 1-based character position in the statement text; 0 when it is not known.
pub type Pos = usize;

/// One identifier, folded or unquoted.
#[derive(Clone, Debug)]
pub struct Ident {
    /// The name.
    pub value: String,
    /// Where it stands.
    pub pos: Pos,
}

/// A possibly qualified name of a relation, type, function or other object.
#[derive(Clone, Debug)]
pub struct ObjectName {
    /// The database, if three parts were given. Only the current database's name is accepted, by `bind`.
    pub catalog: Option<String>,
    /// The schema, if given.
    pub schema: Option<String>,
    /// The object.
    pub name: String,
    /// Where the name starts.
    pub pos: Pos,
}

impl ObjectName {
    /// An unqualified name without a position.
    pub fn bare(name: impl Into<String>) -> ObjectName {
        ObjectName { catalog: None, schema: None, name: name.into(), pos: 0 }
    }
}

impl std::fmt::Display for ObjectName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(catalog) = &self.catalog {
            write!(f, "{catalog}.")?;
        }
        if let Some(schema) = &self.schema {
            write!(f, "{schema}.")?;
        }
        f.write_str(&self.name)
    }
}

/// A type as written: `numeric(12, 2)[]`.
#[derive(Clone, Debug)]
pub struct TypeName {
    /// Schema, if given.
    pub schema: Option<String>,
    /// PostgreSQL's name for the type where the grammar has a spelling of its own (`int4` for INTEGER, `bpchar` for CHAR).
    pub name: String,
    /// Modifiers in parentheses.
    pub modifiers: Vec<i32>,
    /// Number of array dimensions written; PostgreSQL treats any number above zero alike.
    pub array_dims: u32,
    /// Where it stands.
    pub pos: Pos,
}

/// Any statement.
#[derive(Clone, Debug)]
#[allow(missing_docs, clippy::large_enum_variant)] // one variant per statement; each type is documented where it is defined
pub enum Statement {
    Query(Box<Query>),
    Insert(Box<Insert>),
    Update(Box<Update>),
    Delete(Box<Delete>),
    Merge(Box<Merge>),
    Truncate(Truncate),
    Copy(Box<Copy>),
    CreateTable(Box<CreateTable>),
    CreateTableAs(Box<CreateTableAs>),
    AlterTable(AlterTable),
    CreateIndex(Box<CreateIndex>),
    CreateSchema(CreateSchema),
    CreateSequence(CreateSequence),
    AlterSequence(AlterSequence),
    CreateView(Box<CreateView>),
    CreateFunction(Box<CreateFunction>),
    AlterFunction(Box<AlterFunction>),
    DropFunction(Box<DropFunction>),
    /// CALL of a procedure.
    Call(Box<FunctionCall>),
    CreateDatabase(CreateDatabase),
    AlterDatabase(AlterDatabase),
    DropDatabase(DropDatabase),
    AlterIndexRename {
        index: ObjectName,
        if_exists: bool,
        name: String,
    },
    AlterSchemaRename {
        schema: String,
        name: String,
    },
    /// CREATE TYPE ... AS ENUM.
    CreateDomain(Box<CreateDomain>),
    AlterDomain(Box<AlterDomain>),
    CreateEnum {
        name: ObjectName,
        labels: Vec<String>,
    },
    /// ALTER TYPE of an enum.
    AlterEnum {
        name: ObjectName,
        action: AlterEnumAction,
    },
    /// ALTER SCHEMA ... OWNER TO.
    AlterSchemaOwner {
        schema: String,
        owner: String,
    },
    Drop(Drop),
    Comment(Comment),
    Grant(Grant),
    Begin(TransactionModes),
    /// START TRANSACTION: BEGIN under the standard's name, which its tag repeats.
    StartTransaction(TransactionModes),
    Commit {
        chain: bool,
    },
    Rollback {
        chain: bool,
    },
    Savepoint(String),
    ReleaseSavepoint(String),
    RollbackToSavepoint(String),
    SetTransaction {
        modes: TransactionModes,
        session: bool,
    },
    SetConstraints {
        names: Option<Vec<ObjectName>>,
        deferred: bool,
    },
    Set(SetVariable),
    Reset(Option<String>),
    Show(Option<String>),
    ShowRanges {
        table: ObjectName,
    },
    Prepare(Box<Prepare>),
    Execute(Execute),
    Deallocate(Option<String>),
    Discard(DiscardTarget),
    Explain(Box<Explain>),
    Analyze {
        targets: Vec<MaintenanceTarget>,
        verbose: bool,
    },
    Vacuum(Vacuum),
    Reindex {
        name: Option<ObjectName>,
        kind: ReindexKind,
    },
    Checkpoint,
    DeclareCursor(Box<DeclareCursor>),
    Fetch(Fetch),
    CloseCursor(Option<String>),
    Listen(String),
    Notify {
        channel: String,
        payload: Option<String>,
    },
    Unlisten(Option<String>),
    LockTable(LockTable),
}

/// One statement of a query string. Positions inside it count characters of the whole string.
#[derive(Clone, Debug)]
pub struct ParsedStatement {
    /// The statement.
    pub statement: Statement,
    /// The byte range of its text in the query string, without the semicolon and surrounding white space.
    pub range: std::ops::Range<usize>,
    /// The highest `$n` it mentions.
    pub max_param: usize,
}

impl Statement {
    /// The command tag's first words, as PostgreSQL reports them (`CREATE TABLE`, `SELECT` ...). Row counts are appended by
    /// whoever ran it.
    pub fn tag(&self) -> &'static str {
        match self {
            Statement::Query(_) => "SELECT",
            Statement::Insert(_) => "INSERT",
            Statement::Update(_) => "UPDATE",
            Statement::Delete(_) => "DELETE",
            Statement::Merge(_) => "MERGE",
            Statement::Truncate(_) => "TRUNCATE TABLE",
            Statement::Copy(_) => "COPY",
            Statement::CreateTable(_) => "CREATE TABLE",
            Statement::CreateTableAs(_) => "SELECT",
            Statement::AlterTable(alter) => alter.tag(),
            Statement::CreateIndex(_) => "CREATE INDEX",
            Statement::CreateSchema(_) => "CREATE SCHEMA",
            Statement::CreateSequence(_) => "CREATE SEQUENCE",
            Statement::AlterSequence(_) => "ALTER SEQUENCE",
            Statement::CreateView(_) => "CREATE VIEW",
            Statement::CreateFunction(create) => routine_tag(create.kind, ["CREATE FUNCTION", "CREATE PROCEDURE", "CREATE ROUTINE"]),
            Statement::AlterFunction(alter) => routine_tag(alter.kind, ["ALTER FUNCTION", "ALTER PROCEDURE", "ALTER ROUTINE"]),
            Statement::DropFunction(drop) => routine_tag(drop.kind, ["DROP FUNCTION", "DROP PROCEDURE", "DROP ROUTINE"]),
            Statement::Call(_) => "CALL",
            Statement::CreateDatabase(_) => "CREATE DATABASE",
            Statement::AlterDatabase(_) => "ALTER DATABASE",
            Statement::DropDatabase(_) => "DROP DATABASE",
            Statement::AlterIndexRename { .. } => "ALTER INDEX",
            Statement::CreateDomain(_) => "CREATE DOMAIN",
            Statement::AlterDomain(_) => "ALTER DOMAIN",
            Statement::CreateEnum { .. } => "CREATE TYPE",
            Statement::AlterEnum { .. } => "ALTER TYPE",
            Statement::AlterSchemaRename { .. } | Statement::AlterSchemaOwner { .. } => "ALTER SCHEMA",
            Statement::Drop(drop) => drop.kind.drop_tag(),
            Statement::Comment(_) => "COMMENT",
            Statement::Grant(grant) if grant.revoke => "REVOKE",
            Statement::Grant(_) => "GRANT",
            Statement::Begin(_) => "BEGIN",
            Statement::StartTransaction(_) => "START TRANSACTION",
            Statement::Commit { .. } => "COMMIT",
            Statement::Rollback { .. } | Statement::RollbackToSavepoint(_) => "ROLLBACK",
            Statement::Savepoint(_) => "SAVEPOINT",
            Statement::ReleaseSavepoint(_) => "RELEASE",
            Statement::SetTransaction { .. } | Statement::Set(_) => "SET",
            Statement::SetConstraints { .. } => "SET CONSTRAINTS",
            Statement::Reset(_) => "RESET",
            Statement::Show(_) | Statement::ShowRanges { .. } => "SHOW",
            Statement::Prepare(_) => "PREPARE",
            Statement::Execute(_) => "EXECUTE",
            Statement::Deallocate(Some(_)) => "DEALLOCATE",
            Statement::Deallocate(None) => "DEALLOCATE ALL",
            Statement::Discard(target) => target.tag(),
            Statement::Explain(_) => "EXPLAIN",
            Statement::Analyze { .. } => "ANALYZE",
            Statement::Vacuum(_) => "VACUUM",
            Statement::Reindex { .. } => "REINDEX",
            Statement::Checkpoint => "CHECKPOINT",
            Statement::DeclareCursor(_) => "DECLARE CURSOR",
            Statement::Fetch(fetch) if fetch.is_move => "MOVE",
            Statement::Fetch(_) => "FETCH",
            Statement::CloseCursor(Some(_)) => "CLOSE CURSOR",
            Statement::CloseCursor(None) => "CLOSE CURSOR ALL",
            Statement::Listen(_) => "LISTEN",
            Statement::Notify { .. } => "NOTIFY",
            Statement::Unlisten(_) => "UNLISTEN",
            Statement::LockTable(_) => "LOCK TABLE",
        }
    }
}

fn routine_tag(kind: RoutineKind, tags: [&'static str; 3]) -> &'static str {
    match kind {
        RoutineKind::Function => tags[0],
        RoutineKind::Procedure => tags[1],
        RoutineKind::Routine => tags[2],
    }
}
