//! Row locks and waits: `tidelock.held_locks`, `tidelock.lock_waits` (the view `tidelock.locks` puts them together) and `pg_locks`.
//!
//! A lock is on a key; the index id in front of it leads to the table. The rest of a key cannot be turned back into values, so it is shown in
//! hexadecimal, which is enough to see who meets whom.

use super::objects::DATABASE_OID;
use super::{Rows, VirtualScan, fill, in_order, optional};
use crate::catalog::facts::{LockFact, WaitFact};
use crate::catalog::{Catalog, IndexDescriptor, SystemFacts, TableDescriptor};
use crate::types::{DataType, Datum};
use hashbrown::HashMap;
use std::sync::Arc;
use tidelock_base::Key;

/// A key with what it belongs to.
struct Place<'c> {
    key: Key,
    found: Option<(&'c TableDescriptor, &'c IndexDescriptor)>,
}

impl Place<'_> {
    fn table(&self) -> Option<&TableDescriptor> {
        self.found.map(|(table, _)| table)
    }

    fn index(&self) -> Datum {
        match self.found {
            // The hidden row id's index has no name.
            Some((table, index)) if index.index_id != table.primary.index_id || table.has_primary_key() => Datum::text(index.name.as_str()),
            _ => Datum::Null,
        }
    }

    fn bytes(&self) -> Datum {
        // Without the index id, which has a column of its own.
        Datum::Bytes(Arc::from(self.key.as_bytes().get(4..).unwrap_or_default()))
    }
}

struct Indexes<'c>(HashMap<u64, (&'c TableDescriptor, &'c IndexDescriptor)>);

impl<'c> Indexes<'c> {
    fn of(catalog: &'c Catalog) -> Indexes<'c> {
        let all = in_order(catalog).flat_map(|relation| {
            let table = relation.descriptor().as_ref();
            table.all_indexes().filter(|index| index.index_id != 0).map(move |index| (index.index_id, (table, index)))
        });
        Indexes(all.collect())
    }

    fn place(&self, key: Key) -> Place<'c> {
        let found = self.0.get(&u64::from(key.index().0)).copied();
        Place { key, found }
    }
}

static HELD: &[(&str, fn(&(Place<'_>, LockFact)) -> Datum)] = &[
    ("range_id", |(_, lock)| Datum::Int8(lock.range as i64)),
    ("key", |(place, _)| place.bytes()),
    ("index_id", |(place, _)| Datum::Int8(i64::from(place.key.index().0))),
    ("table_oid", |(place, _)| place.table().map_or(Datum::Null, |table| Datum::Oid(table.oid))),
    ("table_schema", |(place, _)| optional(place.table().map(|table| table.schema.as_str()))),
    ("table_name", |(place, _)| optional(place.table().map(|table| table.name.as_str()))),
    ("index_name", |(place, _)| place.index()),
    ("pid", |(_, lock)| Datum::Int4(lock.pid)),
    ("transaction_id", |(_, lock)| Datum::Int8(lock.transaction as i64)),
    ("strength", |(_, lock)| Datum::text(lock.strength.as_str())),
    ("wrote", |(_, lock)| Datum::Bool(lock.wrote)),
];

/// `tidelock.held_locks`.
pub(super) fn held(scan: &VirtualScan<'_>, catalog: &Catalog, facts: &dyn SystemFacts) -> Rows {
    let indexes = Indexes::of(catalog);
    fill(scan, HELD, facts.held_locks().into_iter().map(|lock| (indexes.place(lock.key.clone()), lock)))
}

static WAITS: &[(&str, fn(&(Place<'_>, WaitFact)) -> Datum)] = &[
    ("key", |(place, _)| place.bytes()),
    ("index_id", |(place, _)| Datum::Int8(i64::from(place.key.index().0))),
    ("table_oid", |(place, _)| place.table().map_or(Datum::Null, |table| Datum::Oid(table.oid))),
    ("table_schema", |(place, _)| optional(place.table().map(|table| table.schema.as_str()))),
    ("table_name", |(place, _)| optional(place.table().map(|table| table.name.as_str()))),
    ("index_name", |(place, _)| place.index()),
    ("pid", |(_, wait)| Datum::Int4(wait.pid)),
    ("strength", |(_, wait)| Datum::text(wait.strength.as_str())),
    ("blocked_by", |(_, wait)| Datum::array(DataType::INT4, wait.blockers.iter().map(|pid| Datum::Int4(*pid)).collect())),
    ("waited_ms", |(_, wait)| Datum::Int8(wait.waited_ms as i64)),
];

/// `tidelock.lock_waits`.
pub(super) fn waits(scan: &VirtualScan<'_>, catalog: &Catalog, facts: &dyn SystemFacts) -> Rows {
    let indexes = Indexes::of(catalog);
    fill(scan, WAITS, facts.lock_waits().into_iter().map(|wait| (indexes.place(wait.key.clone()), wait)))
}

/// A row of `pg_locks`: a tuple lock, granted or not.
struct TupleLock {
    relation: Option<u32>,
    pid: i32,
    strength: String,
    granted: bool,
}

static POSTGRES: &[(&str, fn(&TupleLock) -> Datum)] = &[
    ("locktype", |_| Datum::text("tuple")),
    ("database", |_| Datum::Oid(DATABASE_OID)),
    ("relation", |lock| lock.relation.map_or(Datum::Null, Datum::Oid)),
    ("page", |_| Datum::Null),
    ("tuple", |_| Datum::Null),
    ("transactionid", |_| Datum::Null),
    ("classid", |_| Datum::Null),
    ("objid", |_| Datum::Null),
    ("objsubid", |_| Datum::Null),
    ("pid", |lock| Datum::Int4(lock.pid)),
    ("mode", |lock| Datum::text(mode(&lock.strength))),
    ("granted", |lock| Datum::Bool(lock.granted)),
];

/// PostgreSQL's name of the lock mode behind a row lock.
fn mode(strength: &str) -> &'static str {
    match strength {
        "for key share" => "AccessShareLock",
        "for share" => "RowShareLock",
        "for no key update" => "ExclusiveLock",
        _ => "AccessExclusiveLock",
    }
}

/// `pg_locks`.
pub(super) fn postgres(scan: &VirtualScan<'_>, catalog: &Catalog, facts: &dyn SystemFacts) -> Rows {
    let indexes = Indexes::of(catalog);
    let relation = |key: &Key| indexes.place(key.clone()).table().map(|table| table.oid);
    let held = facts.held_locks().into_iter().map(|lock| TupleLock {
        relation: relation(&lock.key),
        pid: lock.pid,
        strength: lock.strength,
        granted: true,
    });
    let waits = facts.lock_waits().into_iter().map(|wait| TupleLock {
        relation: relation(&wait.key),
        pid: wait.pid,
        strength: wait.strength,
        granted: false,
    });
    fill(scan, POSTGRES, held.chain(waits))
}
