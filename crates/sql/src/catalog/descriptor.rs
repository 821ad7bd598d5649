//! Descriptors: what is stored about one relation, and read by binder, planner and executor alike.
//!
//! Columns are *position-stable*: the column with attribute number `n` is value `n - 1` of every stored row, for ever; dropping a column
//! leaves its place behind, marked. So a position (0-based) names a column everywhere in the planner.

use super::Reference;
use crate::ast::{OnCommit, ReferentialAction};
use crate::types::ColumnType;
use serde::{Deserialize, Serialize};

/// A relation's number, PostgreSQL's OID.
pub type Oid = u32;

/// OIDs below this are PostgreSQL's own; user objects start here, as in PostgreSQL.
pub const FIRST_USER_OID: Oid = 16384;

/// The name of the hidden key of a table without a primary key. It can't be written by users: it isn't a possible column name in
/// their statements, because hidden columns are never looked up by name.
pub const ROWID_NAME: &str = "rowid";

/// A table, view or sequence.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TableDescriptor {
    /// Its OID.
    pub oid: Oid,
    /// Its schema's OID.
    pub schema_oid: Oid,
    /// Its schema's name, kept here for messages and EXPLAIN.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: RelationKind,
    /// All columns by position, dropped and hidden ones too.
    pub columns: Vec<Column>,
    /// The index that holds the rows. A table without a primary key has one over the hidden [`ROWID_NAME`] column.
    pub primary: IndexDescriptor,
    /// The other indexes.
    pub indexes: Vec<IndexDescriptor>,
    /// CHECK constraints.
    pub checks: Vec<CheckConstraint>,
    /// UNIQUE constraints (the primary key is `primary`), each with its index's OID.
    pub uniques: Vec<UniqueConstraint>,
    /// Foreign keys of this table.
    pub foreign_keys: Vec<ForeignKey>,
    /// Foreign keys of other tables that point here.
    pub referenced_by: Vec<ForeignKey>,
    /// The query's text, of a view.
    pub view_query: Option<String>,
    /// Definition, of a sequence.
    pub sequence: Option<SequenceDescriptor>,
    /// Comments: on the relation itself under position 0, on columns under their attribute number.
    pub comments: Vec<(u32, String)>,
    /// Comments on indexes and constraints: catalog, OID, text.
    #[serde(default)]
    pub part_comments: Vec<(Oid, Oid, String)>,
    /// What was granted; none when nobody has granted or revoked anything.
    #[serde(default)]
    pub acl: Option<Vec<AclItem>>,
    /// Relations that a view reads.
    #[serde(default)]
    pub depends_on: Vec<Oid>,
    /// What its parts refer to besides the table itself.
    #[serde(default)]
    pub references: Vec<(TablePart, Reference)>,
    /// Storage parameters as given.
    pub options: Vec<(String, String)>,
    /// Owner's name.
    pub owner: String,
    /// In a session's temporary schema.
    pub temporary: bool,
    /// What happens to a temporary table at the end of a transaction.
    #[serde(default)]
    pub on_commit: OnCommit,
    /// Grows with each change of this descriptor.
    pub version: u64,
}

/// A part of a relation that refers to other objects.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum TablePart {
    /// A view's query.
    View,
    /// The default of a column, or how it is generated, by attribute number.
    Default(u32),
    /// A CHECK constraint, by OID.
    Check(Oid),
    /// An index's predicate, by OID.
    Index(Oid),
}

/// One role's privileges on an object.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AclItem {
    /// The role; empty for PUBLIC.
    pub grantee: String,
    /// Letters as `aclitem` has them, a star behind those that may be passed on.
    pub privileges: String,
    /// Who granted them.
    pub grantor: String,
}

impl AclItem {
    /// An `aclitem[]` of these.
    pub fn datum(items: &Option<Vec<AclItem>>) -> crate::types::Datum {
        use crate::types::{DataType, Datum};
        let Some(items) = items else { return Datum::Null };
        let item = |item: &AclItem| Datum::text(format!("{}={}/{}", item.grantee, item.privileges, item.grantor));
        Datum::array(DataType::ACLITEM, items.iter().map(item).collect())
    }
}

/// What a relation is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum RelationKind {
    Table,
    View,
    Sequence,
    /// Filled by a provider; has no stored rows.
    Virtual,
}

/// One column.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Column {
    /// Attribute number: position plus one.
    pub attnum: u32,
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: ColumnType,
    /// The domain (or the array type over one) that it was declared with; `ty` is what lies below.
    #[serde(default)]
    pub declared: Option<Oid>,
    /// May it be NULL?
    pub nullable: bool,
    /// DEFAULT, as SQL text.
    pub default: Option<String>,
    /// `GENERATED ALWAYS AS (...) STORED`, as SQL text.
    pub generated: Option<String>,
    /// IDENTITY.
    pub identity: Option<Identity>,
    /// Dropped: keeps its place in stored rows and nothing else.
    pub dropped: bool,
    /// Not visible to users (the row id).
    pub hidden: bool,
    /// What rows that were stored before the column existed have for it: the value's text form.
    pub missing_value: Option<String>,
}

/// An identity column.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Identity {
    /// GENERATED ALWAYS (else BY DEFAULT).
    pub always: bool,
    /// The sequence behind it.
    pub sequence_oid: Oid,
}

/// An index, the primary one included.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct IndexDescriptor {
    /// Its OID; 0 for the hidden row id's index.
    pub oid: Oid,
    /// Its name.
    pub name: String,
    /// The prefix of its keys, and the number of its storage table.
    pub index_id: u64,
    /// No two rows share the key (NULLs are distinct unless `nulls_distinct` is off).
    pub unique: bool,
    /// Is a NULL different from another one?
    pub nulls_distinct: bool,
    /// Key columns. A non-unique index's stored key is completed by the primary key.
    pub key: Vec<IndexColumn>,
    /// It belongs to a DEFERRABLE constraint: duplicates are looked for after the write, and entries are stored as in an index that is not unique.
    #[serde(default)]
    pub deferrable: bool,
    /// INITIALLY DEFERRED.
    #[serde(default)]
    pub initially_deferred: bool,
    /// INCLUDE: positions stored in the entry's value.
    pub include: Vec<usize>,
    /// `WHERE`, as SQL text.
    pub predicate: Option<String>,
    /// May it be read?
    pub state: IndexState,
}

/// A key column of an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct IndexColumn {
    /// The column's position.
    pub column: usize,
    /// DESC.
    pub descending: bool,
    /// NULLS FIRST.
    pub nulls_first: bool,
}

/// How far an index has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum IndexState {
    /// Written, not yet read: a build is under way.
    Building,
    /// Complete.
    Ready,
}

/// A CHECK constraint.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CheckConstraint {
    /// Its OID.
    pub oid: Oid,
    /// Its name.
    pub name: String,
    /// The condition, as SQL text.
    pub expr: String,
    /// Rows that existed before were checked too.
    pub validated: bool,
}

/// A UNIQUE constraint, or a PRIMARY KEY that is not the key the rows are stored by.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UniqueConstraint {
    /// Its OID.
    pub oid: Oid,
    /// Its name, which is also its index's.
    pub name: String,
    /// The index that enforces it.
    pub index_oid: Oid,
    /// It is the table's DEFERRABLE primary key: rows are stored by a hidden number, since two may have the same key for a while.
    #[serde(default)]
    pub primary: bool,
}

/// A foreign key; the same value is kept at both ends.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ForeignKey {
    /// Its OID.
    pub oid: Oid,
    /// Its name.
    pub name: String,
    /// The table that refers.
    pub child: Oid,
    /// Its columns' positions.
    pub child_columns: Vec<usize>,
    /// The table referred to.
    pub parent: Oid,
    /// Its columns' positions: the key of `parent_index`, in the order of `child_columns`.
    pub parent_columns: Vec<usize>,
    /// The unique index that is looked up, 0 for the primary one.
    pub parent_index: Oid,
    /// MATCH FULL.
    pub match_full: bool,
    /// ON DELETE.
    pub on_delete: ReferentialAction,
    /// ON UPDATE.
    pub on_update: ReferentialAction,
    /// DEFERRABLE.
    pub deferrable: bool,
    /// INITIALLY DEFERRED.
    pub initially_deferred: bool,
    /// Rows that existed before were checked too.
    pub validated: bool,
}

/// A sequence.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct SequenceDescriptor {
    pub ty: crate::types::DataType,
    pub start: i64,
    pub increment: i64,
    pub min: i64,
    pub max: i64,
    pub cache: i64,
    pub cycle: bool,
    /// Owning table and column position.
    pub owned_by: Option<(Oid, usize)>,
    /// The key-value row that holds its current value.
    pub value_id: u64,
}

impl TableDescriptor {
    /// Columns that users see, with their positions.
    pub fn visible_columns(&self) -> impl Iterator<Item = (usize, &Column)> {
        self.columns.iter().enumerate().filter(|(_, c)| !c.dropped && !c.hidden)
    }

    /// The position of the visible column of that name.
    pub fn column_position(&self, name: &str) -> Option<usize> {
        self.visible_columns().find(|(_, c)| c.name == name).map(|(i, _)| i)
    }

    /// WITH CHECK OPTION of a view: `local` or `cascaded`.
    pub fn check_option(&self) -> Option<&str> {
        let is_view = self.kind == RelationKind::View;
        self.options.iter().find(|(name, _)| is_view && name == "check_option").map(|(_, value)| value.as_str())
    }

    /// The primary key that the user declared, if there is one.
    pub fn declared_key(&self) -> Option<&IndexDescriptor> {
        if self.has_primary_key() {
            return Some(&self.primary);
        }
        self.uniques.iter().find(|unique| unique.primary).and_then(|unique| self.index_by_oid(unique.index_oid))
    }

    /// Whether rows are stored by a primary key that the user declared.
    pub fn has_primary_key(&self) -> bool {
        self.primary.key.iter().all(|k| self.columns.get(k.column).is_some_and(|c| !c.hidden))
    }

    /// Every index, the primary one first.
    pub fn all_indexes(&self) -> impl Iterator<Item = &IndexDescriptor> {
        std::iter::once(&self.primary).chain(self.indexes.iter())
    }

    /// An index by its OID; 0 is the primary one.
    pub fn index_by_oid(&self, oid: Oid) -> Option<&IndexDescriptor> {
        self.all_indexes().find(|i| i.oid == oid || (oid == 0 && i.index_id == self.primary.index_id))
    }

    /// Positions of the columns that any unique index has in its key: changing one of them needs the strongest row lock.
    pub fn unique_key_columns(&self) -> impl Iterator<Item = usize> {
        self.all_indexes().filter(|i| i.unique && i.predicate.is_none()).flat_map(|i| i.key.iter().map(|k| k.column))
    }
}

impl IndexDescriptor {
    /// No two entries share their key columns at any moment: a key stands for a row.
    pub fn is_exclusive(&self) -> bool {
        self.unique && !self.deferrable
    }

    /// Whether the entry alone, with the primary key in its stored key, answers for the column.
    pub fn covers(&self, table: &TableDescriptor, column: usize) -> bool {
        self.index_id == table.primary.index_id
            || self.key.iter().any(|k| k.column == column)
            || self.include.contains(&column)
            || table.primary.key.iter().any(|k| k.column == column)
    }
}

impl Column {
    /// Hidden, for the value of an expression that an index is over.
    pub fn is_expression(&self) -> bool {
        self.hidden && self.generated.is_some()
    }

    /// A plain nullable column.
    pub fn new(attnum: u32, name: impl Into<String>, ty: ColumnType) -> Column {
        Column {
            attnum,
            name: name.into(),
            ty,
            declared: None,
            nullable: true,
            default: None,
            generated: None,
            identity: None,
            dropped: false,
            hidden: false,
            missing_value: None,
        }
    }
}

impl TableDescriptor {
    /// A table without columns and indexes, to be filled in.
    pub fn new(oid: Oid, schema_oid: Oid, schema: impl Into<String>, name: impl Into<String>, kind: RelationKind) -> TableDescriptor {
        TableDescriptor {
            oid,
            schema_oid,
            schema: schema.into(),
            name: name.into(),
            kind,
            columns: Vec::new(),
            primary: IndexDescriptor::new(0, "", 0),
            indexes: Vec::new(),
            checks: Vec::new(),
            uniques: Vec::new(),
            foreign_keys: Vec::new(),
            referenced_by: Vec::new(),
            view_query: None,
            sequence: None,
            comments: Vec::new(),
            part_comments: Vec::new(),
            acl: None,
            depends_on: Vec::new(),
            references: Vec::new(),
            options: Vec::new(),
            owner: String::new(),
            temporary: false,
            on_commit: OnCommit::PreserveRows,
            version: 1,
        }
    }
}

impl IndexDescriptor {
    /// A unique index without key columns, to be filled in.
    pub fn new(oid: Oid, name: impl Into<String>, index_id: u64) -> IndexDescriptor {
        IndexDescriptor {
            oid,
            name: name.into(),
            index_id,
            unique: true,
            nulls_distinct: true,
            deferrable: false,
            initially_deferred: false,
            key: Vec::new(),
            include: Vec::new(),
            predicate: None,
            state: IndexState::Ready,
        }
    }
}

/// The descriptor of a table without stored rows.
pub(super) fn virtual_descriptor(table: &super::VirtualTable, schema_oid: Oid) -> TableDescriptor {
    let mut descriptor = TableDescriptor::new(table.oid, schema_oid, table.schema, table.name, RelationKind::Virtual);
    descriptor.columns = (1..).zip(&table.columns).map(|(attnum, (name, ty))| Column::new(attnum, *name, *ty)).collect();
    descriptor
}
