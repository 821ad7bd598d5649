//! The databases: `pg_database`, `pg_db_role_setting`, `pg_shdescription`.

use super::{Rows, VirtualScan, fill, texts};
use crate::catalog::{AclItem, DatabaseDescriptor, Oid, SystemFacts};
use crate::types::Datum;

/// OIDs of catalogs, for comments.
pub(crate) const PG_DATABASE: Oid = 1262;
/// UTF8 in PostgreSQL's list of encodings.
const UTF8: i32 = 6;
/// The tablespace everything is in.
const PG_DEFAULT: Oid = 1663;

static DATABASES: &[(&str, fn(&&DatabaseDescriptor) -> Datum)] = &[
    ("oid", |d| Datum::Oid(d.oid)),
    ("datname", |d| Datum::text(d.name.as_str())),
    ("datdba", |d| Datum::Oid(d.owner)),
    ("encoding", |_| Datum::Int4(UTF8)),
    ("datlocprovider", |_| Datum::Char(b'c')),
    ("datistemplate", |d| Datum::Bool(d.is_template)),
    ("datallowconn", |d| Datum::Bool(d.allows_connections)),
    ("datconnlimit", |d| Datum::Int4(d.connection_limit)),
    ("dattablespace", |_| Datum::Oid(PG_DEFAULT)),
    ("datcollate", |d| Datum::text(d.collate.as_str())),
    ("datctype", |d| Datum::text(d.ctype.as_str())),
    ("datacl", |d| AclItem::datum(&d.acl)),
];

/// `pg_database`.
pub(super) fn databases(scan: &VirtualScan<'_>, facts: &dyn SystemFacts) -> Rows {
    let shared = facts.shared();
    fill(scan, DATABASES, shared.databases().map(AsRef::as_ref))
}

/// Settings that new sessions begin with.
struct SettingList {
    database: Oid,
    role: Oid,
    settings: Vec<String>,
}

static SETTINGS: &[(&str, fn(&SettingList) -> Datum)] = &[
    ("setdatabase", |s| Datum::Oid(s.database)),
    ("setrole", |s| Datum::Oid(s.role)),
    ("setconfig", |s| texts(s.settings.iter().map(String::as_str))),
];

/// `pg_db_role_setting`.
pub(super) fn settings(scan: &VirtualScan<'_>, facts: &dyn SystemFacts) -> Rows {
    let shared = facts.shared();
    let of_databases = shared.databases().filter(|database| !database.settings.is_empty());
    let list = |database: &std::sync::Arc<DatabaseDescriptor>| SettingList {
        database: database.oid,
        role: 0,
        settings: database.settings.iter().map(|(name, value)| format!("{name}={value}")).collect(),
    };
    fill(scan, SETTINGS, of_databases.map(list))
}

static COMMENTS: &[(&str, fn(&(Oid, Oid, String)) -> Datum)] =
    &[("objoid", |c| Datum::Oid(c.0)), ("classoid", |c| Datum::Oid(c.1)), ("description", |c| Datum::text(c.2.as_str()))];

/// `pg_shdescription`.
pub(super) fn comments(scan: &VirtualScan<'_>, facts: &dyn SystemFacts) -> Rows {
    let shared = facts.shared();
    let of_databases = shared.databases().filter_map(|database| Some((database.oid, PG_DATABASE, database.comment.clone()?)));
    fill(scan, COMMENTS, of_databases)
}
