//! Schemas, sequences, dependencies, comments, roles.

use super::{Rows, VirtualScan, fill, in_order, schemas_in_order};
use crate::catalog::facts::RoleFact;
use crate::catalog::functions::{DATABASE_OWNER, DATABASE_OWNER_OID, OWNER_OID};
use crate::catalog::snapshot::{PUBLIC_OID, TIDELOCK_OID};
use crate::catalog::{
    AclItem, Catalog, FIRST_USER_OID, Oid, Reference, RelationKind, SchemaDescriptor, SequenceDescriptor, SystemFacts, TableDescriptor,
    TablePart,
};
use crate::types::{DataType, Datum};

/// OIDs of the catalogs that dependencies and comments name.
pub(crate) const PG_CLASS: Oid = 1259;
pub(crate) const PG_NAMESPACE: Oid = 2615;
const PG_TYPE: Oid = 1247;
pub(crate) const PG_PROC: Oid = 1255;
const PG_EXTENSION: Oid = 3079;
/// The schema `tidelock` shows as an extension of that name, so that tools know that it is not a user's.
const OWN_EXTENSION: Oid = 14999;
const PG_REWRITE: Oid = 2618;
pub(crate) const PG_CONSTRAINT: Oid = 2606;
const PG_ATTRDEF: Oid = 2604;
/// A view's rule has the view's OID with this bit set: rules have no OIDs of their own.
const RULE_BIT: Oid = 0x4000_0000;

static NAMESPACES: &[(&str, fn(&&SchemaDescriptor) -> Datum)] = &[
    ("oid", |s| Datum::Oid(s.oid)),
    ("nspname", |s| Datum::text(s.name.as_str())),
    ("nspowner", |s| Datum::Oid(if s.oid == PUBLIC_OID { DATABASE_OWNER_OID } else { OWNER_OID })),
    ("nspacl", |s| if s.oid == PUBLIC_OID && s.acl.is_none() { public_privileges() } else { AclItem::datum(&s.acl) }),
];

/// What PostgreSQL 15 grants on the schema `public` from the beginning.
fn public_privileges() -> Datum {
    let items = ["pg_database_owner=UC/pg_database_owner", "=U/pg_database_owner"];
    Datum::array(DataType::ACLITEM, items.into_iter().map(Datum::text).collect())
}

/// `pg_namespace`.
pub(super) fn namespaces(scan: &VirtualScan<'_>, catalog: &Catalog) -> Rows {
    fill(scan, NAMESPACES, schemas_in_order(catalog))
}

static EXTENSIONS: &[(&str, fn(&()) -> Datum)] = &[
    ("oid", |()| Datum::Oid(OWN_EXTENSION)),
    ("extname", |()| Datum::text("tidelock")),
    ("extnamespace", |()| Datum::Oid(TIDELOCK_OID)),
    ("extversion", |()| Datum::text(env!("CARGO_PKG_VERSION"))),
];

/// `pg_extension`.
pub(super) fn extensions(scan: &VirtualScan<'_>) -> Rows {
    fill(scan, EXTENSIONS, std::iter::once(()))
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

/// `pg_depend`: sequences and the columns they belong to, views' rules, and domains.
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
    let of_queries = all_views(catalog).flat_map(|view| {
        let before: Vec<Reference> = view.depends_on.iter().map(|on| Reference::Relation(*on, 0)).collect();
        let own: Vec<Reference> = view.references.iter().filter(|(part, _)| *part == TablePart::View).map(|(_, on)| *on).collect();
        // A view that was made before its references were kept knows its relations.
        of_references(PG_REWRITE, view.oid | RULE_BIT, if own.is_empty() { before } else { own })
    });
    let of_parts = in_order(catalog).flat_map(|relation| {
        let table = relation.descriptor();
        let parts = table.references.iter().filter(|(part, _)| *part != TablePart::View);
        parts.flat_map(|(part, on)| of_part(table, *part, *on)).collect::<Vec<_>>()
    });
    let of_functions =
        catalog.functions_in_order().into_iter().flat_map(|function| of_references(PG_PROC, function.oid, function.references.clone()));
    // Of a domain on what it was made over.
    let of_domains = catalog.domains().filter_map(|(_, domain)| {
        let on = domain.parent?;
        Some(Dependency { class: PG_TYPE, object: domain.oid, on_class: PG_TYPE, on, on_column: 0, kind: b'n' })
    });
    let member =
        |class: Oid, object: Oid| Dependency { class, object, on_class: PG_EXTENSION, on: OWN_EXTENSION, on_column: 0, kind: b'e' };
    let own = in_order(catalog).map(|relation| relation.descriptor()).filter(|table| table.schema_oid == TIDELOCK_OID);
    let of_members = std::iter::once(member(PG_NAMESPACE, TIDELOCK_OID)).chain(own.map(|table| member(PG_CLASS, table.oid)));
    let of_others = of_parts.chain(of_functions);
    fill(scan, DEPENDENCIES, of_sequences.chain(of_rules).chain(of_queries).chain(of_domains).chain(of_others).chain(of_members))
}

/// Dependencies by references: of a relation's columns rather than of the whole, where both are known.
fn of_references(class: Oid, object: Oid, references: Vec<Reference>) -> Vec<Dependency> {
    let has_columns =
        |oid: Oid| references.iter().any(|other| matches!(other, Reference::Relation(on, column) if *on == oid && *column > 0));
    let dependency = |reference: &Reference| {
        let (on_class, on, on_column) = match reference {
            Reference::Relation(oid, 0) if has_columns(*oid) => return None,
            Reference::Relation(oid, column) => (PG_CLASS, *oid, *column as i32),
            Reference::Function(oid) => (PG_PROC, *oid, 0),
            Reference::Type(oid) => (PG_TYPE, *oid, 0),
        };
        (on >= FIRST_USER_OID).then_some(Dependency { class, object, on_class, on, on_column, kind: b'n' })
    };
    references.iter().filter_map(dependency).collect()
}

/// Of a default, a check or an index on what it calls. (That a sequence's default depends on it is said where sequences are.)
fn of_part(table: &TableDescriptor, part: TablePart, on: Reference) -> Vec<Dependency> {
    let (class, object) = match part {
        TablePart::View => return Vec::new(),
        TablePart::Check(oid) => (PG_CONSTRAINT, oid),
        TablePart::Index(oid) => (PG_CLASS, oid),
        TablePart::Default(attnum) => {
            let position = attnum as usize - 1;
            let hidden = table.columns.get(position).is_some_and(|column| column.is_expression());
            let index = table.indexes.iter().find(|index| index.key.iter().any(|key| key.column == position));
            match index.filter(|_| hidden) {
                Some(index) => (PG_CLASS, index.oid),
                None => (PG_ATTRDEF, super::columns::default_oid(table.oid, attnum)),
            }
        }
    };
    match on {
        Reference::Relation(..) => Vec::new(),
        other => of_references(class, object, vec![other]),
    }
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
    let of_enums = catalog.enums().map(|(_, e)| (e.oid, e.comment.as_deref()));
    let of_domains = catalog.domains().map(|(_, domain)| (domain.oid, domain.comment.as_deref()));
    let of_types = of_enums.chain(of_domains).filter_map(|(object, text)| Some(Comment { object, class: PG_TYPE, column: 0, text: text? }));
    let of_schemas = schemas_in_order(catalog).filter_map(|schema| {
        let text = schema.comment.as_deref()?;
        Some(Comment { object: schema.oid, class: PG_NAMESPACE, column: 0, text })
    });
    let of_parts = in_order(catalog).flat_map(|relation| {
        let parts = relation.descriptor().part_comments.iter();
        parts.map(|(class, object, text)| Comment { object: *object, class: *class, column: 0, text })
    });
    let of_functions = catalog.functions_in_order().into_iter().filter_map(|function| {
        let text = function.comment.as_deref()?;
        Some(Comment { object: function.oid, class: PG_PROC, column: 0, text })
    });
    fill(scan, COMMENTS, of_relations.chain(of_parts).chain(of_types).chain(of_schemas).chain(of_functions))
}

/// The role that PostgreSQL makes for whoever owns the database: nobody logs in as it.
fn is_a_user(role: &RoleFact) -> bool {
    role.oid != DATABASE_OWNER_OID
}

static ROLES: &[(&str, fn(&RoleFact) -> Datum)] = &[
    ("oid", |r| Datum::Oid(r.oid)),
    ("rolname", |r| Datum::text(r.name.as_str())),
    ("rolsuper", |r| Datum::Bool(is_a_user(r))),
    ("rolinherit", |_| Datum::Bool(true)),
    ("rolcreaterole", |r| Datum::Bool(is_a_user(r))),
    ("rolcreatedb", |r| Datum::Bool(is_a_user(r))),
    ("rolcanlogin", |r| Datum::Bool(is_a_user(r))),
    ("rolbypassrls", |r| Datum::Bool(is_a_user(r))),
    ("rolconnlimit", |_| Datum::Int4(-1)),
];

/// `pg_authid`: whoever may log in may do everything.
pub(super) fn roles(scan: &VirtualScan<'_>, facts: &dyn SystemFacts) -> Rows {
    let owner = RoleFact { oid: DATABASE_OWNER_OID, name: DATABASE_OWNER.into() };
    fill(scan, ROLES, facts.roles().into_iter().chain([owner]))
}
