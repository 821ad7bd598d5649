//! Schemas, the database, sequences, dependencies, comments, roles.

use super::{Rows, VirtualScan, fill, in_order, schemas_in_order};
use crate::catalog::facts::RoleFact;
use crate::catalog::functions::OWNER_OID;
use crate::catalog::{Catalog, FIRST_USER_OID, Oid, RelationKind, SchemaDescriptor, SequenceDescriptor, SystemFacts, TableDescriptor};
use crate::types::Datum;

/// OIDs of the catalogs that dependencies and comments name.
pub(in crate::catalog) const PG_CLASS: Oid = 1259;
pub(in crate::catalog) const PG_NAMESPACE: Oid = 2615;
const PG_REWRITE: Oid = 2618;
const PG_ATTRDEF: Oid = 2604;
/// The database's OID: what `postgres` has in PostgreSQL.
pub(in crate::catalog) const DATABASE_OID: Oid = 5;
/// UTF8 in PostgreSQL's list of encodings.
const UTF8: i32 = 6;
/// The tablespace everything is in.
const PG_DEFAULT: Oid = 1663;
/// A view's rule has the view's OID with this bit set: rules have no OIDs of their own.
const RULE_BIT: Oid = 0x4000_0000;

static NAMESPACES: &[(&str, fn(&&SchemaDescriptor) -> Datum)] =
    &[("oid", |s| Datum::Oid(s.oid)), ("nspname", |s| Datum::text(s.name.as_str())), ("nspowner", |_| Datum::Oid(OWNER_OID))];

/// `pg_namespace`.
pub(super) fn namespaces(scan: &VirtualScan<'_>, catalog: &Catalog) -> Rows {
    fill(scan, NAMESPACES, schemas_in_order(catalog))
}

static DATABASES: &[(&str, fn(&&Catalog) -> Datum)] = &[
    ("oid", |_| Datum::Oid(DATABASE_OID)),
    ("datname", |c| Datum::text(c.database())),
    ("datdba", |_| Datum::Oid(OWNER_OID)),
    ("encoding", |_| Datum::Int4(UTF8)),
    ("datlocprovider", |_| Datum::Char(b'c')),
    ("datallowconn", |_| Datum::Bool(true)),
    ("datconnlimit", |_| Datum::Int4(-1)),
    ("dattablespace", |_| Datum::Oid(PG_DEFAULT)),
    ("datcollate", |_| Datum::text("C")),
    ("datctype", |_| Datum::text("C")),
];

/// `pg_database`.
pub(super) fn databases(scan: &VirtualScan<'_>, catalog: &Catalog) -> Rows {
    fill(scan, DATABASES, std::iter::once(catalog))
}

struct Sequence<'c> {
    oid: Oid,
    definition: &'c SequenceDescriptor,
}

static SEQUENCES: &[(&str, fn(&Sequence<'_>) -> Datum)] = &[
    ("seqrelid", |s| Datum::Oid(s.oid)),
    ("seqtypid", |s| Datum::Oid(s.definition.ty.0)),
    ("seqstart", |s| Datum::Int8(s.definition.start)),
    ("seqincrement", |s| Datum::Int8(s.definition.increment)),
    ("seqmax", |s| Datum::Int8(s.definition.max)),
    ("seqmin", |s| Datum::Int8(s.definition.min)),
    ("seqcache", |s| Datum::Int8(s.definition.cache)),
    ("seqcycle", |s| Datum::Bool(s.definition.cycle)),
];

fn all_sequences(catalog: &Catalog) -> impl Iterator<Item = Sequence<'_>> {
    in_order(catalog).filter_map(|relation| {
        let table = relation.descriptor();
        table.sequence.as_ref().map(|definition| Sequence { oid: table.oid, definition })
    })
}

/// `pg_sequence`.
pub(super) fn sequences(scan: &VirtualScan<'_>, catalog: &Catalog) -> Rows {
    fill(scan, SEQUENCES, all_sequences(catalog))
}

/// What depends on what.
struct Dependency {
    class: Oid,
    object: Oid,
    on_class: Oid,
    on: Oid,
    on_column: i32,
    kind: u8,
}

static DEPENDENCIES: &[(&str, fn(&Dependency) -> Datum)] = &[
    ("classid", |d| Datum::Oid(d.class)),
    ("objid", |d| Datum::Oid(d.object)),
    ("refclassid", |d| Datum::Oid(d.on_class)),
    ("refobjid", |d| Datum::Oid(d.on)),
    ("refobjsubid", |d| Datum::Int4(d.on_column)),
    ("deptype", |d| Datum::Char(d.kind)),
];

/// Of a sequence on the column that owns it: `i` if it is the column's identity, else `a`.
fn of_sequence(catalog: &Catalog, sequence: &Sequence<'_>) -> Option<Dependency> {
    let (owner, position) = sequence.definition.owned_by?;
    let column = catalog.table(owner)?.columns.get(position)?;
    let identity = column.identity.as_ref().is_some_and(|identity| identity.sequence_oid == sequence.oid);
    let kind = if identity { b'i' } else { b'a' };
    Some(Dependency { class: PG_CLASS, object: sequence.oid, on_class: PG_CLASS, on: owner, on_column: position as i32 + 1, kind })
}

/// Of a default that calls a sequence on that sequence.
fn of_default(catalog: &Catalog, sequence: &Sequence<'_>) -> Option<Dependency> {
    let (owner, position) = sequence.definition.owned_by?;
    let column = catalog.table(owner)?.columns.get(position)?;
    column.default.as_ref()?;
    let object = super::columns::default_oid(owner, column.attnum);
    Some(Dependency { class: PG_ATTRDEF, object, on_class: PG_CLASS, on: sequence.oid, on_column: 0, kind: b'n' })
}

/// `pg_depend`: sequences and the columns they belong to, and views' rules.
pub(super) fn dependencies(scan: &VirtualScan<'_>, catalog: &Catalog) -> Rows {
    let of_sequences =
        all_sequences(catalog).flat_map(|sequence| [of_sequence(catalog, &sequence), of_default(catalog, &sequence)]).flatten();
    let of_rules = all_views(catalog).map(|view| Dependency {
        class: PG_REWRITE,
        object: view.oid | RULE_BIT,
        on_class: PG_CLASS,
        on: view.oid,
        on_column: 0,
        kind: b'i',
    });
    fill(scan, DEPENDENCIES, of_sequences.chain(of_rules))
}

fn all_views(catalog: &Catalog) -> impl Iterator<Item = &TableDescriptor> {
    in_order(catalog)
        .map(|relation| relation.descriptor().as_ref())
        .filter(|table| table.kind == RelationKind::View && table.oid >= FIRST_USER_OID)
}

static RULES: &[(&str, fn(&&TableDescriptor) -> Datum)] = &[
    ("oid", |v| Datum::Oid(v.oid | RULE_BIT)),
    ("rulename", |_| Datum::text("_RETURN")),
    ("ev_class", |v| Datum::Oid(v.oid)),
    ("ev_type", |_| Datum::Char(b'1')),
    ("ev_enabled", |_| Datum::Char(b'O')),
    ("is_instead", |_| Datum::Bool(true)),
];

/// `pg_rewrite`: the rule of each view.
pub(super) fn rewrites(scan: &VirtualScan<'_>, catalog: &Catalog) -> Rows {
    fill(scan, RULES, all_views(catalog))
}

struct Comment<'c> {
    object: Oid,
    class: Oid,
    column: u32,
    text: &'c str,
}

static COMMENTS: &[(&str, fn(&Comment<'_>) -> Datum)] = &[
    ("objoid", |c| Datum::Oid(c.object)),
    ("classoid", |c| Datum::Oid(c.class)),
    ("objsubid", |c| Datum::Int4(c.column as i32)),
    ("description", |c| Datum::text(c.text)),
];

/// `pg_description`.
pub(super) fn descriptions(scan: &VirtualScan<'_>, catalog: &Catalog) -> Rows {
    let of_relations = in_order(catalog).flat_map(|relation| {
        let table = relation.descriptor();
        table.comments.iter().map(|(column, text)| Comment { object: table.oid, class: PG_CLASS, column: *column, text })
    });
    let of_schemas = schemas_in_order(catalog).filter_map(|schema| {
        let text = schema.comment.as_deref()?;
        Some(Comment { object: schema.oid, class: PG_NAMESPACE, column: 0, text })
    });
    fill(scan, COMMENTS, of_relations.chain(of_schemas))
}

static ROLES: &[(&str, fn(&RoleFact) -> Datum)] = &[
    ("oid", |r| Datum::Oid(r.oid)),
    ("rolname", |r| Datum::text(r.name.as_str())),
    ("rolsuper", |_| Datum::Bool(true)),
    ("rolinherit", |_| Datum::Bool(true)),
    ("rolcreaterole", |_| Datum::Bool(true)),
    ("rolcreatedb", |_| Datum::Bool(true)),
    ("rolcanlogin", |_| Datum::Bool(true)),
    ("rolbypassrls", |_| Datum::Bool(true)),
    ("rolconnlimit", |_| Datum::Int4(-1)),
];

/// `pg_authid`: whoever may log in may do everything.
pub(super) fn roles(scan: &VirtualScan<'_>, facts: &dyn SystemFacts) -> Rows {
    fill(scan, ROLES, facts.roles().into_iter())
}
