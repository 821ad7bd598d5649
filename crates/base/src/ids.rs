//! Small identifiers, each its own type, so that one cannot be passed for another.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty), $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $inner);

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    };
}

id!(
    /// A transaction attempt. Ids grow with begin order, which is what makes "the youngest" a deterministic deadlock victim.
    TxnId(u64), "t"
);
id!(
    /// A range of the keyspace.
    RangeId(u64), "r"
);
id!(
    /// One SQL index (a primary key is one too): the first four bytes of each of its keys, and one table of the storage base.
    IndexId(u32), "i"
);
id!(
    /// A client session, as users see it in `pg_stat_activity.pid`.
    SessionId(u32), "s"
);
id!(
    /// A store.
    NodeId(u32), "n"
);
