//! `pg_constraint`: checks, primary keys, UNIQUE and foreign keys. A primary key has its index's OID.

use super::{Rows, VirtualScan, fill, in_order};
use crate::ast::ReferentialAction;
use crate::catalog::{Catalog, CheckConstraint, ForeignKey, IndexDescriptor, Oid, TableDescriptor};
use crate::types::{DataType, Datum};

/// One constraint of a table.
#[derive(Clone, Copy)]
pub(in crate::catalog) enum Kind<'c> {
    /// CHECK.
    Check(&'c CheckConstraint),
    /// PRIMARY KEY.
    Primary(&'c IndexDescriptor),
    /// UNIQUE, with the constraint's OID.
    Unique(Oid, &'c IndexDescriptor),
    /// FOREIGN KEY, with the OID of the index it relies on.
    Foreign(&'c ForeignKey, Oid),
}

/// A constraint with its table.
pub(in crate::catalog) struct Constraint<'c> {
    pub(in crate::catalog) table: &'c TableDescriptor,
    pub(in crate::catalog) kind: Kind<'c>,
}

impl Constraint<'_> {
    pub(in crate::catalog) fn oid(&self) -> Oid {
        match self.kind {
            Kind::Check(check) => check.oid,
            Kind::Primary(index) => index.oid,
            Kind::Unique(oid, _) => oid,
            Kind::Foreign(key, _) => key.oid,
        }
    }

    fn name(&self) -> &str {
        match self.kind {
            Kind::Check(check) => &check.name,
            Kind::Primary(index) | Kind::Unique(_, index) => &index.name,
            Kind::Foreign(key, _) => &key.name,
        }
    }

    fn index(&self) -> Oid {
        match self.kind {
            Kind::Check(_) => 0,
            Kind::Primary(index) | Kind::Unique(_, index) => index.oid,
            Kind::Foreign(_, index) => index,
        }
    }

    fn columns(&self) -> Datum {
        match self.kind {
            Kind::Check(check) => mentioned(self.table, &check.expr),
            Kind::Primary(index) | Kind::Unique(_, index) => numbers(index.key.iter().map(|key| key.column)),
            Kind::Foreign(key, _) => numbers(key.child_columns.iter().copied()),
        }
    }

    fn foreign(&self) -> Option<&ForeignKey> {
        if let Kind::Foreign(key, _) = self.kind { Some(key) } else { None }
    }

    /// Deferrable, and deferred unless it is said otherwise.
    fn timing(&self) -> (bool, bool) {
        match self.kind {
            Kind::Check(_) => (false, false),
            Kind::Primary(index) | Kind::Unique(_, index) => (index.deferrable, index.initially_deferred),
            Kind::Foreign(key, _) => (key.deferrable, key.initially_deferred),
        }
    }

    /// A foreign key's letter, a blank for others.
    fn letter(&self, of: impl Fn(&ForeignKey) -> u8) -> Datum {
        Datum::Char(self.foreign().map_or(b' ', of))
    }

    /// A foreign key's comparison operators: equality of each pair of columns.
    fn operators(&self) -> Datum {
        let Some(key) = self.foreign() else { return Datum::Null };
        let types = key.child_columns.iter().filter_map(|at| self.table.columns.get(*at));
        Datum::array(DataType::OID, types.map(|column| Datum::Oid(super::routines::equality(column.ty.ty))).collect())
    }
}

fn numbers(positions: impl Iterator<Item = usize>) -> Datum {
    Datum::array(DataType::INT2, positions.map(|position| Datum::Int2(position as i16 + 1)).collect())
}

/// The columns whose names stand in an expression, in the table's order.
fn mentioned(table: &TableDescriptor, expr: &str) -> Datum {
    let words: Vec<&str> = expr.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    let named = |name: &str| words.contains(&name) || expr.contains(&format!("\"{name}\""));
    numbers(table.visible_columns().filter(|(_, column)| named(&column.name)).map(|(position, _)| position))
}

fn action(action: ReferentialAction) -> u8 {
    match action {
        ReferentialAction::NoAction => b'a',
        ReferentialAction::Restrict => b'r',
        ReferentialAction::Cascade => b'c',
        ReferentialAction::SetNull => b'n',
        ReferentialAction::SetDefault => b'd',
    }
}

static COLUMNS: &[(&str, fn(&Constraint<'_>) -> Datum)] = &[
    ("oid", |c| Datum::Oid(c.oid())),
    ("conname", |c| Datum::text(c.name())),
    ("connamespace", |c| Datum::Oid(c.table.schema_oid)),
    ("contype", |c| {
        Datum::Char(match c.kind {
            Kind::Check(_) => b'c',
            Kind::Primary(_) => b'p',
            Kind::Unique(..) => b'u',
            Kind::Foreign(..) => b'f',
        })
    }),
    ("condeferrable", |c| Datum::Bool(c.timing().0)),
    ("condeferred", |c| Datum::Bool(c.timing().1)),
    ("convalidated", |c| {
        Datum::Bool(match c.kind {
            Kind::Check(check) => check.validated,
            Kind::Foreign(key, _) => key.validated,
            _ => true,
        })
    }),
    ("conrelid", |c| Datum::Oid(c.table.oid)),
    ("conindid", |c| Datum::Oid(c.index())),
    ("confrelid", |c| Datum::Oid(c.foreign().map_or(0, |key| key.parent))),
    ("confupdtype", |c| c.letter(|key| action(key.on_update))),
    ("confdeltype", |c| c.letter(|key| action(key.on_delete))),
    ("confmatchtype", |c| c.letter(|key| if key.match_full { b'f' } else { b's' })),
    ("conislocal", |_| Datum::Bool(true)),
    ("connoinherit", |c| Datum::Bool(!matches!(c.kind, Kind::Check(_)))),
    ("conkey", |c| c.columns()),
    ("confkey", |c| c.foreign().map_or(Datum::Null, |key| numbers(key.parent_columns.iter().copied()))),
    ("conpfeqop", |c| c.operators()),
    ("conppeqop", |c| c.operators()),
    ("conffeqop", |c| c.operators()),
    ("conbin", |c| if let Kind::Check(check) = c.kind { Datum::text(check.expr.as_str()) } else { Datum::Null }),
];

/// All constraints of a table.
pub(in crate::catalog) fn of_table<'c>(catalog: &'c Catalog, table: &'c TableDescriptor) -> impl Iterator<Item = Constraint<'c>> {
    let checks = table.checks.iter().map(Kind::Check);
    let primary = table.declared_key().filter(|key| key.oid != 0).map(Kind::Primary);
    let uniques = table.uniques.iter().filter(|unique| !unique.primary);
    let uniques = uniques.filter_map(|unique| Some(Kind::Unique(unique.oid, table.index_by_oid(unique.index_oid)?)));
    let foreign = table.foreign_keys.iter().map(|key| {
        let index = catalog.table(key.parent).and_then(|parent| parent.index_by_oid(key.parent_index)).map_or(0, |index| index.oid);
        Kind::Foreign(key, index)
    });
    checks.chain(primary).chain(uniques).chain(foreign).map(move |kind| Constraint { table, kind })
}

/// `pg_constraint`.
pub(super) fn constraints(scan: &VirtualScan<'_>, catalog: &Catalog) -> Rows {
    let mut rows = fill(scan, COLUMNS, in_order(catalog).flat_map(|relation| of_table(catalog, relation.descriptor())));
    let mut domains: Vec<_> = catalog.domains().collect();
    domains.sort_unstable_by_key(|(_, domain)| domain.oid);
    let checks = domains.iter().flat_map(|(schema, domain)| domain.checks.iter().map(|check| (schema.oid, domain.oid, check)));
    rows.extend(fill(scan, OF_DOMAINS, checks));
    rows
}

/// A domain's check, with the OIDs of its schema and of the domain.
type DomainCheck<'c> = (Oid, Oid, &'c CheckConstraint);

static OF_DOMAINS: &[(&str, fn(&DomainCheck<'_>) -> Datum)] = &[
    ("oid", |(_, _, check)| Datum::Oid(check.oid)),
    ("conname", |(_, _, check)| Datum::text(check.name.as_str())),
    ("connamespace", |(schema, ..)| Datum::Oid(*schema)),
    ("contype", |_| Datum::Char(b'c')),
    ("condeferrable", |_| Datum::Bool(false)),
    ("condeferred", |_| Datum::Bool(false)),
    ("convalidated", |(_, _, check)| Datum::Bool(check.validated)),
    ("conrelid", |_| Datum::Oid(0)),
    ("contypid", |(_, domain, _)| Datum::Oid(*domain)),
    ("conindid", |_| Datum::Oid(0)),
    ("confrelid", |_| Datum::Oid(0)),
    ("confupdtype", |_| Datum::Char(b' ')),
    ("confdeltype", |_| Datum::Char(b' ')),
    ("confmatchtype", |_| Datum::Char(b' ')),
    ("conislocal", |_| Datum::Bool(true)),
    ("connoinherit", |_| Datum::Bool(false)),
    ("conbin", |(_, _, check)| Datum::text(check.expr.as_str())),
];
