//! `pg_type` and `pg_enum`: the builtin types, and the enums and domains that users have made.

use super::{Rows, VirtualScan, constants, fill};
use crate::catalog::functions::OWNER_OID;
use crate::catalog::{Catalog, DomainDescriptor, Oid};
use crate::types::enums::EnumDescriptor;
use crate::types::{DataType, Datum, TypeInfo, info};

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

/// A domain, or the array type over one.
struct Domain<'c> {
    schema: Oid,
    domain: &'c DomainDescriptor,
    array: bool,
}

impl Domain<'_> {
    /// What lies below a domain decides how it is stored.
    fn info(&self) -> &'static TypeInfo {
        info(if self.array { DataType::TEXT_ARRAY } else { self.domain.base.ty })
    }

    fn of_domain(&self, value: Datum, of_array: Datum) -> Datum {
        if self.array { of_array } else { value }
    }
}

static DOMAINS: &[(&str, fn(&Domain<'_>) -> Datum)] = &[
    ("oid", |t| Datum::Oid(if t.array { t.domain.array_oid } else { t.domain.oid })),
    ("typname", |t| if t.array { Datum::text(format!("_{}", t.domain.name)) } else { Datum::text(t.domain.name.as_str()) }),
    ("typnamespace", |t| Datum::Oid(t.schema)),
    ("typowner", |_| Datum::Oid(OWNER_OID)),
    ("typlen", |t| Datum::Int2(t.info().len)),
    ("typbyval", |t| Datum::Bool(super::columns::storage(t.info().ty).0)),
    ("typtype", |t| Datum::Char(if t.array { b'b' } else { b'd' })),
    ("typcategory", |t| Datum::Char(t.info().category)),
    ("typisdefined", |_| Datum::Bool(true)),
    ("typdelim", |_| Datum::Char(b',')),
    ("typelem", |t| Datum::Oid(if t.array { t.domain.oid } else { 0 })),
    ("typarray", |t| Datum::Oid(if t.array { 0 } else { t.domain.array_oid })),
    ("typalign", |t| Datum::Char(t.info().align)),
    ("typstorage", |t| Datum::Char(super::columns::storage(t.info().ty).1)),
    ("typnotnull", |t| Datum::Bool(t.domain.not_null && !t.array)),
    ("typbasetype", |t| t.of_domain(Datum::Oid(t.domain.parent.unwrap_or(t.domain.base.ty.0)), Datum::Oid(0))),
    // A domain over a domain has no modifier of its own.
    ("typtypmod", |t| t.of_domain(Datum::Int4(if t.domain.parent.is_some() { -1 } else { t.domain.base.typmod }), Datum::Int4(-1))),
    ("typcollation", |t| Datum::Oid(super::columns::collation(t.domain.base.ty))),
    ("typdefaultbin", |t| t.of_domain(super::optional(t.domain.default.as_deref()), Datum::Null)),
    ("typdefault", |t| t.of_domain(super::optional(t.domain.default.as_deref()), Datum::Null)),
    ("typacl", |t| t.of_domain(crate::catalog::AclItem::datum(&t.domain.acl), Datum::Null)),
];

/// `pg_type`.
pub(super) fn types(scan: &VirtualScan<'_>, catalog: &Catalog) -> Rows {
    let mut rows = constants::rows(scan, "pg_type");
    let mut made: Vec<_> = catalog.enums().map(|(schema, descriptor)| (schema.oid, descriptor)).collect();
    made.sort_unstable_by_key(|(_, descriptor)| descriptor.oid);
    let both = made.into_iter().flat_map(|(schema, descriptor)| [false, true].map(|array| UserType { schema, descriptor, array }));
    rows.extend(fill(scan, TYPES, both));
    let mut made: Vec<_> = catalog.domains().map(|(schema, domain)| (schema.oid, domain)).collect();
    made.sort_unstable_by_key(|(_, domain)| domain.oid);
    let both = made.into_iter().flat_map(|(schema, domain)| [false, true].map(|array| Domain { schema, domain, array }));
    rows.extend(fill(scan, DOMAINS, both));
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
