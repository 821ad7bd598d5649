//! `pg_type` and `pg_enum`: the builtin types, and the enums that users have made.

use super::{Rows, VirtualScan, constants, fill};
use crate::catalog::functions::OWNER_OID;
use crate::catalog::{Catalog, Oid};
use crate::types::Datum;
use crate::types::enums::EnumDescriptor;

/// An enum, or the array type over one.
struct UserType<'c> {
    schema: Oid,
    descriptor: &'c EnumDescriptor,
    array: bool,
}

static TYPES: &[(&str, fn(&UserType<'_>) -> Datum)] = &[
    ("oid", |t| Datum::Oid(if t.array { t.descriptor.array_oid } else { t.descriptor.oid })),
    ("typname", |t| if t.array { Datum::text(format!("_{}", t.descriptor.name)) } else { Datum::text(t.descriptor.name.as_str()) }),
    ("typnamespace", |t| Datum::Oid(t.schema)),
    ("typowner", |_| Datum::Oid(OWNER_OID)),
    ("typlen", |t| Datum::Int2(if t.array { -1 } else { 4 })),
    ("typbyval", |t| Datum::Bool(!t.array)),
    ("typtype", |t| Datum::Char(if t.array { b'b' } else { b'e' })),
    ("typcategory", |t| Datum::Char(if t.array { b'A' } else { b'E' })),
    ("typisdefined", |_| Datum::Bool(true)),
    ("typdelim", |_| Datum::Char(b',')),
    ("typelem", |t| Datum::Oid(if t.array { t.descriptor.oid } else { 0 })),
    ("typarray", |t| Datum::Oid(if t.array { 0 } else { t.descriptor.array_oid })),
    ("typalign", |_| Datum::Char(b'i')),
    ("typstorage", |t| Datum::Char(if t.array { b'x' } else { b'p' })),
    ("typtypmod", |_| Datum::Int4(-1)),
];

/// `pg_type`.
pub(super) fn types(scan: &VirtualScan<'_>, catalog: &Catalog) -> Rows {
    let mut rows = constants::rows(scan, "pg_type");
    let mut made: Vec<_> = catalog.enums().map(|(schema, descriptor)| (schema.oid, descriptor)).collect();
    made.sort_unstable_by_key(|(_, descriptor)| descriptor.oid);
    let both = made.into_iter().flat_map(|(schema, descriptor)| [false, true].map(|array| UserType { schema, descriptor, array }));
    rows.extend(fill(scan, TYPES, both));
    rows
}

struct Label<'c> {
    ty: Oid,
    oid: Oid,
    order: f32,
    text: &'c str,
}

static LABELS: &[(&str, fn(&Label<'_>) -> Datum)] = &[
    ("oid", |l| Datum::Oid(l.oid)),
    ("enumtypid", |l| Datum::Oid(l.ty)),
    ("enumsortorder", |l| Datum::Float4(l.order)),
    ("enumlabel", |l| Datum::text(l.text)),
];

/// `pg_enum`.
pub(super) fn labels(scan: &VirtualScan<'_>, catalog: &Catalog) -> Rows {
    let label = |e: &EnumDescriptor, (oid, order, text): &(u32, f32, String)| (e.oid, *oid, *order, text.clone());
    let mut all: Vec<_> = catalog.enums().flat_map(|(_, e)| e.labels.iter().map(move |l| label(e, l))).collect();
    all.sort_unstable_by_key(|(_, oid, ..)| *oid);
    fill(scan, LABELS, all.iter().map(|(ty, oid, order, text)| Label { ty: *ty, oid: *oid, order: *order, text }))
}
