//! Logical time: the order of commits.

use std::fmt;

/// A point in the order of commits. The commit sequencer hands them out one by one, so "newer" means "committed later",
/// whatever the wall clock says. `Timestamp::MAX` reads the newest version there is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// Before every commit.
    pub const ZERO: Timestamp = Timestamp(0);
    /// After every commit: a read at MAX sees the newest committed version.
    pub const MAX: Timestamp = Timestamp(u64::MAX);

    /// The next timestamp.
    #[must_use]
    pub fn next(self) -> Timestamp {
        Timestamp(self.0.saturating_add(1))
    }

    /// The one before; ZERO stays ZERO.
    #[must_use]
    pub fn prev(self) -> Timestamp {
        Timestamp(self.0.saturating_sub(1))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Timestamp::MAX { f.write_str("@max") } else { write!(f, "@{}", self.0) }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
