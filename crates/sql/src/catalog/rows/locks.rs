//! Row locks and waits: `tidelock.held_locks`, `tidelock.lock_waits` (the view `tidelock.locks` puts them together); and `pg_locks`, which shows the locks
//! above the rows as well.
//!
//! A lock is on a key; the index id in front of it leads to the table. The rest of a key cannot be turned back into values, so it is shown in
//! hexadecimal, which is enough to see who meets whom.

use super::{Rows, VirtualScan, fill, in_order, optional};
use crate::catalog::facts::{LockFact, WaitFact};
use crate::catalog::{Catalog, IndexDescriptor, SystemFacts, TableDescriptor};
use crate::locks::{LockRow, LockTag, mode_name};
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

/// What a row of `pg_locks` is about.
enum Object {
    /// A relation, or an advisory lock.
    Above(LockTag),
    /// That a transaction is under way, in its session's own numbering: what CREATE INDEX CONCURRENTLY would wait for.
    VirtualTransaction,
    /// That a transaction has written or locked something.
    Transaction(u64),
    /// A row, of this relation.
    Tuple(Option<u32>),
}

/// A row of `pg_locks`.
struct Lock {
    object: Object,
    pid: i32,
    /// Its session's database.
    database: Option<u32>,
    mode: &'static str,
    granted: bool,
    fast: bool,
    waits_since: Option<i64>,
}

impl Lock {
    fn number(&self, of: impl Fn(LockTag) -> Option<u32>) -> Datum {
        match self.object {
            Object::Above(tag) => of(tag).map_or(Datum::Null, Datum::Oid),
            _ => Datum::Null,
        }
    }

    fn locktype(&self) -> &'static str {
        match self.object {
            Object::Above(LockTag::Relation(_)) => "relation",
            Object::Above(LockTag::Advisory { .. }) => "advisory",
            Object::VirtualTransaction => "virtualxid",
            Object::Transaction(_) => "transactionid",
            Object::Tuple(_) => "tuple",
        }
    }

    fn relation(&self) -> Option<u32> {
        match self.object {
            Object::Above(LockTag::Relation(oid)) => Some(oid),
            Object::Tuple(relation) => relation,
            _ => None,
        }
    }

    fn is_in_database(&self) -> bool {
        !matches!(self.object, Object::VirtualTransaction | Object::Transaction(_))
    }
}

static POSTGRES: &[(&str, fn(&Lock) -> Datum)] = &[
    ("locktype", |lock| Datum::text(lock.locktype())),
    ("database", |lock| lock.database.filter(|_| lock.is_in_database()).map_or(Datum::Null, Datum::Oid)),
    ("relation", |lock| lock.relation().map_or(Datum::Null, Datum::Oid)),
    ("page", |_| Datum::Null),
    ("tuple", |_| Datum::Null),
    ("virtualxid", |lock| match lock.object {
        Object::VirtualTransaction => Datum::text(virtual_transaction(lock.pid)),
        _ => Datum::Null,
    }),
    // PostgreSQL's transaction ids have 32 bits.
    ("transactionid", |lock| match lock.object {
        Object::Transaction(id) => Datum::Oid(id as u32),
        _ => Datum::Null,
    }),
    ("classid", |lock| lock.number(|tag| if let LockTag::Advisory { class, .. } = tag { Some(class) } else { None })),
    ("objid", |lock| lock.number(|tag| if let LockTag::Advisory { object, .. } = tag { Some(object) } else { None })),
    ("objsubid", |lock| match lock.object {
        Object::Above(LockTag::Advisory { kind, .. }) => Datum::Int2(i16::from(kind)),
        _ => Datum::Null,
    }),
    ("virtualtransaction", |lock| Datum::text(virtual_transaction(lock.pid))),
    ("pid", |lock| Datum::Int4(lock.pid)),
    ("mode", |lock| Datum::text(lock.mode)),
    ("granted", |lock| Datum::Bool(lock.granted)),
    ("fastpath", |lock| Datum::Bool(lock.fast)),
    ("waitstart", |lock| lock.waits_since.map_or(Datum::Null, Datum::Timestamptz)),
];

/// A session has one transaction at a time.
fn virtual_transaction(pid: i32) -> String {
    format!("{pid}/1")
}

/// PostgreSQL's name of the lock mode behind a row lock.
fn tuple_mode(strength: &str) -> &'static str {
    match strength {
        "for key share" => "AccessShareLock",
        "for share" => "RowShareLock",
        "for no key update" => "ExclusiveLock",
        _ => "AccessExclusiveLock",
    }
}

/// `pg_locks`.
pub(super) fn postgres(scan: &VirtualScan<'_>, catalog: &Catalog, facts: &dyn SystemFacts) -> Rows {
    let mut locks: Vec<Lock> = facts.object_locks().into_iter().map(above).collect();
    let sessions = facts.sessions();
    let in_transaction = sessions.iter().filter(|session| session.xact_start.is_some());
    locks.extend(in_transaction.map(|session| granted(Object::VirtualTransaction, session.pid, "ExclusiveLock")));
    let held = facts.held_locks();
    let mut transactions: Vec<(i32, u64)> = held.iter().map(|lock| (lock.pid, lock.transaction)).collect();
    transactions.sort_unstable();
    transactions.dedup();
    locks.extend(transactions.into_iter().map(|(pid, id)| granted(Object::Transaction(id), pid, "ExclusiveLock")));
    let indexes = Indexes::of(catalog);
    let relation = |key: &Key| Object::Tuple(indexes.place(key.clone()).table().map(|table| table.oid));
    locks.extend(held.iter().map(|lock| granted(relation(&lock.key), lock.pid, tuple_mode(&lock.strength))));
    let waits = facts.lock_waits();
    let waiting = |wait: &WaitFact| Lock { granted: false, ..granted(relation(&wait.key), wait.pid, tuple_mode(&wait.strength)) };
    locks.extend(waits.iter().map(waiting));
    let databases: HashMap<i32, u32> = sessions.iter().map(|session| (session.pid, session.database_oid)).collect();
    locks.iter_mut().for_each(|lock| lock.database = databases.get(&lock.pid).copied());
    fill(scan, POSTGRES, locks.into_iter())
}

fn granted(object: Object, pid: i32, mode: &'static str) -> Lock {
    Lock { object, pid, database: None, mode, granted: true, fast: false, waits_since: None }
}

fn above(row: LockRow) -> Lock {
    Lock {
        object: Object::Above(row.tag),
        database: None,
        pid: row.owner as i32,
        mode: mode_name(row.mode),
        granted: row.granted,
        fast: row.fast,
        waits_since: row.waits_since,
    }
}
