//! Which table locks a statement needs: PostgreSQL's, known as soon as it is planned.
//!
//! - every relation it mentions: AccessShare; with FOR UPDATE and its like: RowShare; the target of INSERT, UPDATE, DELETE: RowExclusive;
//! - at the other end of a foreign key: RowShare where the key is looked up, RowExclusive where a cascade writes, and so on from there.
//!
//! PostgreSQL takes the last kind when its triggers fire; here they are taken before the statement begins, so that nothing waits in its middle.

use crate::ast::{ReferentialAction, TableLockMode};
use crate::catalog::{Catalog, FIRST_USER_OID, ForeignKey, Oid, TableDescriptor};
use crate::locks::TableLock;
use hashbrown::HashSet;

/// What a statement does to a table's rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowChange<'c> {
    /// New rows.
    Insert,
    /// New values in these columns.
    Update(&'c [usize]),
    /// Rows go.
    Delete,
}

/// The locks of a statement, one by one.
#[derive(Clone, Debug, Default)]
pub struct TableLocks {
    locks: Vec<TableLock>,
}

impl TableLocks {
    /// A relation is locked in a mode.
    pub fn add(&mut self, relation: Oid, mode: TableLockMode) {
        let lock = TableLock { relation, mode };
        // The system's own tables never change their definitions.
        if relation >= FIRST_USER_OID && !self.locks.contains(&lock) {
            self.locks.push(lock);
        }
    }

    /// A statement writes a table.
    pub fn write(&mut self, table: &TableDescriptor, change: RowChange<'_>, catalog: &Catalog) {
        self.add(table.oid, TableLockMode::RowExclusive);
        self.follow(table, change, catalog, &mut HashSet::new());
    }

    fn follow(&mut self, table: &TableDescriptor, change: RowChange<'_>, catalog: &Catalog, seen: &mut HashSet<Oid>) {
        let touched = |columns: &[usize]| match change {
            RowChange::Insert | RowChange::Delete => true,
            RowChange::Update(changed) => columns.iter().any(|column| changed.contains(column)),
        };
        if change != RowChange::Delete {
            let keys = table.foreign_keys.iter().filter(|key| touched(&key.child_columns));
            keys.for_each(|key| self.add(key.parent, TableLockMode::RowShare));
        }
        if change != RowChange::Insert {
            let keys = table.referenced_by.iter().filter(|key| touched(&key.parent_columns));
            keys.for_each(|key| self.follow_to_child(key, change, catalog, seen));
        }
    }

    fn follow_to_child(&mut self, key: &ForeignKey, change: RowChange<'_>, catalog: &Catalog, seen: &mut HashSet<Oid>) {
        let deletes = change == RowChange::Delete;
        let action = if deletes { key.on_delete } else { key.on_update };
        if matches!(action, ReferentialAction::NoAction | ReferentialAction::Restrict) {
            self.add(key.child, TableLockMode::RowShare);
            return;
        }
        self.add(key.child, TableLockMode::RowExclusive);
        // Each key once: cascades may go round in circles.
        let Some(child) = catalog.table(key.child).filter(|_| seen.insert(key.oid)) else { return };
        let next = match action {
            ReferentialAction::Cascade if deletes => RowChange::Delete,
            _ => RowChange::Update(&key.child_columns),
        };
        self.follow(child, next, catalog, seen);
    }

    /// All of them, in the order of relations. Who locks a relation otherwise needs no AccessShare besides.
    pub fn finish(mut self) -> Vec<TableLock> {
        self.locks.sort_unstable();
        let otherwise: HashSet<Oid> =
            self.locks.iter().filter(|lock| lock.mode != TableLockMode::AccessShare).map(|lock| lock.relation).collect();
        self.locks.retain(|lock| lock.mode != TableLockMode::AccessShare || !otherwise.contains(&lock.relation));
        self.locks
    }
}
