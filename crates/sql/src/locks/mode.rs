//! What can be locked above the rows, and which modes get in each other's way.
//!
//! Relations and advisory locks share PostgreSQL's eight modes and its conflict table:
//!
//! ```text
//!                            AS  RS  RX SUX   S SRX   X  AX
//!   AccessShare                                           x     SELECT
//!   RowShare                                          x   x     SELECT FOR UPDATE
//!   RowExclusive                              x   x   x   x     INSERT, UPDATE, DELETE
//!   ShareUpdateExclusive                  x   x   x   x   x     ANALYZE, VACUUM
//!   Share                             x   x       x   x   x     CREATE INDEX
//!   ShareRowExclusive                 x   x   x   x   x   x     ADD FOREIGN KEY
//!   Exclusive                     x   x   x   x   x   x   x
//!   AccessExclusive           x   x   x   x   x   x   x   x     ALTER, DROP, TRUNCATE
//! ```
//!
//! The three weakest never meet each other: those are the fast ones ([`is_weak`]).

use crate::ast::TableLockMode;
use crate::catalog::Oid;

/// How many modes there are.
pub(super) const MODES: usize = 8;

/// What is locked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum LockTag {
    /// A relation, by its OID.
    Relation(Oid),
    /// An advisory lock: its database, the halves of its key, and 1 for one `bigint` or 2 for two `integer`s, which never meet.
    Advisory {
        /// The database.
        database: Oid,
        /// The upper half, or the first number.
        class: u32,
        /// The lower half, or the second number.
        object: u32,
        /// 1 or 2.
        kind: u8,
    },
}

impl LockTag {
    /// The advisory lock of one big number.
    pub fn advisory(database: Oid, key: i64) -> LockTag {
        LockTag::Advisory { database, class: (key >> 32) as u32, object: key as u32, kind: 1 }
    }

    /// The advisory lock of two numbers.
    pub fn advisory_pair(database: Oid, class: i32, object: i32) -> LockTag {
        LockTag::Advisory { database, class: class as u32, object: object as u32, kind: 2 }
    }

    /// As PostgreSQL's messages name it; `database` is the session's.
    pub fn describe(self, database: Oid) -> String {
        match self {
            LockTag::Relation(oid) => format!("relation {oid} of database {database}"),
            LockTag::Advisory { database, class, object, kind } => format!("advisory lock [{database},{class},{object},{kind}]"),
        }
    }
}

/// A set of modes, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ModeSet(u8);

impl ModeSet {
    /// One mode.
    pub fn of(mode: TableLockMode) -> ModeSet {
        ModeSet(1 << mode as u8)
    }

    /// Both sets.
    pub fn with(self, other: ModeSet) -> ModeSet {
        ModeSet(self.0 | other.0)
    }

    /// Is there one in both?
    pub fn meets(self, other: ModeSet) -> bool {
        self.0 & other.0 != 0
    }
}

/// The modes that a mode does not tolerate in others.
pub fn conflicts(mode: TableLockMode) -> ModeSet {
    const OF: [u8; MODES] = [0b1000_0000, 0b1100_0000, 0b1111_0000, 0b1111_1000, 0b1110_1100, 0b1111_1100, 0b1111_1110, 0b1111_1111];
    ModeSet(OF[mode as usize])
}

/// AccessShare, RowShare, RowExclusive: what ordinary statements take, and what never meets its like.
pub fn is_weak(mode: TableLockMode) -> bool {
    mode <= TableLockMode::RowExclusive
}

/// Share and above: what the weak ones can meet.
pub fn is_strong(mode: TableLockMode) -> bool {
    mode >= TableLockMode::Share
}

/// PostgreSQL's name in `pg_locks` and messages.
pub fn mode_name(mode: TableLockMode) -> &'static str {
    match mode {
        TableLockMode::AccessShare => "AccessShareLock",
        TableLockMode::RowShare => "RowShareLock",
        TableLockMode::RowExclusive => "RowExclusiveLock",
        TableLockMode::ShareUpdateExclusive => "ShareUpdateExclusiveLock",
        TableLockMode::Share => "ShareLock",
        TableLockMode::ShareRowExclusive => "ShareRowExclusiveLock",
        TableLockMode::Exclusive => "ExclusiveLock",
        TableLockMode::AccessExclusive => "AccessExclusiveLock",
    }
}

/// All modes, weakest first.
pub const ALL_MODES: [TableLockMode; MODES] = [
    TableLockMode::AccessShare,
    TableLockMode::RowShare,
    TableLockMode::RowExclusive,
    TableLockMode::ShareUpdateExclusive,
    TableLockMode::Share,
    TableLockMode::ShareRowExclusive,
    TableLockMode::Exclusive,
    TableLockMode::AccessExclusive,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicts_go_both_ways_and_the_weak_never_meet() {
        for a in ALL_MODES {
            for b in ALL_MODES {
                let meets = conflicts(a).meets(ModeSet::of(b));
                assert_eq!(meets, conflicts(b).meets(ModeSet::of(a)), "{a:?} {b:?}");
                assert!(!(meets && is_weak(a) && is_weak(b)), "{a:?} {b:?}");
                assert!(!(meets && is_weak(a)) || is_strong(b), "{a:?} {b:?}");
            }
        }
    }
}
