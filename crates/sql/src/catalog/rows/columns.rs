//! `pg_attribute` and `pg_attrdef`: columns of relations and of indexes, and their defaults.

use super::relations::visible_indexes;
use super::{Rows, VirtualScan, constants, fill, in_order};
use crate::catalog::{Catalog, Column, Oid, TableDescriptor};
use crate::types::{DataType, Datum, info};
use hashbrown::HashMap;
use std::sync::LazyLock;

/// Of text types: the database's default, and `name`'s, which is always by bytes.
const DEFAULT_COLLATION: Oid = 100;
const C_COLLATION: Oid = 950;

/// `typbyval` and `typstorage` of a type.
static STORAGE: LazyLock<HashMap<Oid, (bool, u8)>> = LazyLock::new(|| {
    let entry = |line: Vec<&'static str>| {
        let storage = line.get(19)?.bytes().next()?;
        Some((line.first()?.parse().ok()?, (*line.get(3)? == "t", storage)))
    };
    constants::fields("pg_type").filter_map(entry).collect()
});

/// A type's collation, 0 for none.
pub(super) fn collation(ty: DataType) -> Oid {
    match info(ty).element {
        DataType(0) if ty == DataType::NAME => C_COLLATION,
        DataType(0) if ty.is_text() => DEFAULT_COLLATION,
        DataType(0) => 0,
        element => collation(element),
    }
}

/// `typbyval` and `typstorage` of a builtin type.
pub(super) fn storage(ty: DataType) -> (bool, u8) {
    STORAGE.get(&ty.0).copied().unwrap_or((false, b'x'))
}

struct Attribute<'c> {
    relation: Oid,
    number: i16,
    column: &'c Column,
    of_index: bool,
    by_value: bool,
    storage: u8,
}

impl<'c> Attribute<'c> {
    fn new(relation: Oid, number: usize, column: &'c Column, of_index: bool) -> Attribute<'c> {
        // An enum's value is a number in PostgreSQL's storage.
        let made = if crate::types::enums::is_enum(column.ty.ty) { (true, b'p') } else { (false, b'x') };
        let (by_value, storage) = STORAGE.get(&column.ty.ty.0).copied().unwrap_or(made);
        Attribute { relation, number: number as i16, column, of_index, by_value, storage }
    }
}

static ATTRIBUTES: &[(&str, fn(&Attribute<'_>) -> Datum)] = &[
    ("attrelid", |a| Datum::Oid(a.relation)),
    ("attname", |a| match a.column.dropped {
        true => Datum::text(format!("........pg.dropped.{}........", a.number)),
        false if a.of_index => Datum::text(crate::catalog::functions::index_attribute(a.column)),
        false => Datum::text(a.column.name.as_str()),
    }),
    ("atttypid", |a| Datum::Oid(if a.column.dropped { 0 } else { a.column.declared.unwrap_or(a.column.ty.ty.0) })),
    ("attstattarget", |_| Datum::Int4(-1)),
    ("attlen", |a| Datum::Int2(info(a.column.ty.ty).len)),
    ("attnum", |a| Datum::Int2(a.number)),
    ("attndims", |a| Datum::Int4(i32::from(info(a.column.ty.ty).category == b'A'))),
    ("attcacheoff", |_| Datum::Int4(-1)),
    // A domain's modifier is part of it.
    ("atttypmod", |a| Datum::Int4(if a.column.declared.is_some() { -1 } else { a.column.ty.typmod })),
    ("attbyval", |a| Datum::Bool(a.by_value)),
    ("attalign", |a| Datum::Char(info(a.column.ty.ty).align)),
    ("attstorage", |a| Datum::Char(a.storage)),
    ("attnotnull", |a| Datum::Bool(!a.of_index && !a.column.nullable && !a.column.dropped)),
    ("atthasdef", |a| Datum::Bool(!a.of_index && default_of(a.column).is_some())),
    ("attidentity", |a| {
        Datum::Char(match &a.column.identity {
            Some(identity) if !a.of_index => {
                if identity.always {
                    b'a'
                } else {
                    b'd'
                }
            }
            _ => 0,
        })
    }),
    ("attgenerated", |a| Datum::Char(if a.column.generated.is_some() && !a.of_index { b's' } else { 0 })),
    ("attisdropped", |a| Datum::Bool(a.column.dropped)),
    ("attislocal", |_| Datum::Bool(true)),
    ("attcollation", |a| Datum::Oid(collation(a.column.ty.ty))),
];

/// What pg_attrdef keeps: a default or a generation expression.
fn default_of(column: &Column) -> Option<&str> {
    if column.dropped { None } else { column.generated.as_deref().or(column.default.as_deref()) }
}

/// `pg_attribute`.
pub(super) fn attributes(scan: &VirtualScan<'_>, catalog: &Catalog) -> Rows {
    fill(scan, ATTRIBUTES, in_order(catalog).flat_map(|relation| of_relation(relation.descriptor())))
}

fn of_relation(table: &TableDescriptor) -> impl Iterator<Item = Attribute<'_>> {
    let own =
        table.columns.iter().filter(|column| !column.hidden).map(|column| Attribute::new(table.oid, column.attnum as usize, column, false));
    let of_indexes = visible_indexes(table).flat_map(move |index| {
        let positions = index.key.iter().map(|key| key.column).chain(index.include.iter().copied());
        let columns = positions.filter_map(|position| table.columns.get(position));
        (1..).zip(columns).map(|(number, column)| Attribute::new(index.oid, number, column, true))
    });
    own.chain(of_indexes)
}

struct Default<'c> {
    table: Oid,
    column: &'c Column,
}

static DEFAULTS: &[(&str, fn(&Default<'_>) -> Datum)] = &[
    ("oid", |d| Datum::Oid(default_oid(d.table, d.column.attnum))),
    ("adrelid", |d| Datum::Oid(d.table)),
    ("adnum", |d| Datum::Int2(d.column.attnum as i16)),
    ("adbin", |d| super::optional(default_of(d.column))),
];

/// Defaults have no OIDs of their own: one is made of the table's and the column's number (at most 1600).
pub(super) fn default_oid(table: Oid, attnum: u32) -> Oid {
    0x8000_0000 | table.wrapping_shl(11) | attnum
}

/// `pg_attrdef`.
pub(super) fn defaults(scan: &VirtualScan<'_>, catalog: &Catalog) -> Rows {
    let items = in_order(catalog).flat_map(|relation| {
        let table = relation.descriptor();
        table
            .columns
            .iter()
            .filter(|column| !column.hidden && default_of(column).is_some())
            .map(|column| Default { table: table.oid, column })
    });
    fill(scan, DEFAULTS, items)
}
