//! Row lock strengths, their conflicts, and how to wait.

use std::fmt;
use tidelock_base::Span;

/// PostgreSQL's four row lock strengths, weakest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LockStrength {
    /// `FOR KEY SHARE`: the key must stay; what foreign keys take on parents.
    KeyShare,
    /// `FOR SHARE`: nothing may change.
    Share,
    /// `FOR NO KEY UPDATE`: will be updated, but not in its key columns.
    NoKeyUpdate,
    /// `FOR UPDATE`: will be deleted, or updated in a key column. Every insert takes it on its new row.
    Update,
}

impl LockStrength {
    /// All of them, weakest first.
    pub const ALL: [LockStrength; 4] = [LockStrength::KeyShare, LockStrength::Share, LockStrength::NoKeyUpdate, LockStrength::Update];

    /// PostgreSQL's conflict table ("Conflicting Row-Level Locks").
    ///
    /// ```text
    ///                  KEY SHARE  SHARE  NO KEY UPDATE  UPDATE
    ///   KEY SHARE          -        -          -           X
    ///   SHARE              -        -          X           X
    ///   NO KEY UPDATE      -        X          X           X
    ///   UPDATE             X        X          X           X
    /// ```
    pub fn conflicts_with(self, other: LockStrength) -> bool {
        use LockStrength::{KeyShare, NoKeyUpdate, Share, Update};
        match (self, other) {
            (Update, _) | (_, Update) => true,
            (KeyShare, _) | (_, KeyShare) => false,
            (Share, Share) => false,
            (NoKeyUpdate, _) | (_, NoKeyUpdate) => true,
        }
    }

    /// Does holding this lock keep other transactions from writing the row's value?
    pub fn excludes_writers(self) -> bool {
        self >= LockStrength::Share
    }
}

impl fmt::Display for LockStrength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LockStrength::KeyShare => "for key share",
            LockStrength::Share => "for share",
            LockStrength::NoKeyUpdate => "for no key update",
            LockStrength::Update => "for update",
        })
    }
}

/// What a locking request does when somebody else holds the lock.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum WaitPolicy {
    /// Queue up, first come, first served.
    #[default]
    Block,
    /// `NOWAIT`: fail with [`crate::KvError::LockNotAvailable`].
    Error,
    /// `SKIP LOCKED`: leave the row out.
    Skip,
}

/// Where a transaction may hold locks or intents: a point or a range. The coordinator collects them as it goes; the
/// resolver resolves exactly these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockSpan {
    /// One key.
    Point(tidelock_base::Key),
    /// What a locking scan covered: only this transaction's locks inside are meant.
    Range(Span),
}

impl LockSpan {
    /// As a span.
    pub fn span(&self) -> Span {
        match self {
            LockSpan::Point(key) => Span::point(key.clone()),
            LockSpan::Range(span) => span.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LockStrength::{self, KeyShare, NoKeyUpdate, Share, Update};

    #[test]
    fn conflict_table_is_postgresqls() {
        let conflicting = [
            (KeyShare, Update),
            (Share, NoKeyUpdate),
            (Share, Update),
            (NoKeyUpdate, NoKeyUpdate),
            (NoKeyUpdate, Update),
            (Update, Update),
        ];
        for a in LockStrength::ALL {
            for b in LockStrength::ALL {
                let expected = conflicting.contains(&(a, b)) || conflicting.contains(&(b, a));
                assert_eq!(a.conflicts_with(b), expected, "{a} against {b}");
            }
        }
    }
}
