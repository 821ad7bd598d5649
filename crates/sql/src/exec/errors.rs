//! What a failure below becomes for the client: the one place where a [`KvError`] meets SQLSTATEs.

use crate::catalog::Catalog;
use crate::error::{SqlError, SqlState};
use crate::locks::LockError;
use std::fmt::Write;
use tidelock_base::Key;
use tidelock_kvapi::{DeadlockReport, KvError, WaitTarget};

/// The error as a client sees it. The catalog turns keys into names of relations.
pub fn kv_error(error: KvError, catalog: &Catalog) -> SqlError {
    match error {
        KvError::LockNotAvailable { key } => {
            let message = match relation_of(&key, catalog) {
                Some(name) => format!("could not obtain lock on row in relation \"{name}\""),
                None => "could not obtain lock".to_owned(),
            };
            SqlError::new(SqlState::LOCK_NOT_AVAILABLE, message)
        }
        KvError::LockTimeout { key, holder } => {
            let error = SqlError::new(SqlState::LOCK_NOT_AVAILABLE, "canceling statement due to lock timeout");
            let place = relation_of(&key, catalog).map_or(String::new(), |name| format!(" in relation \"{name}\""));
            error.detail(format!("The row{place} is held by process {}.", holder.0))
        }
        KvError::Deadlock(report) => deadlock(&report, catalog),
        KvError::WriteTooOld { key, .. } => {
            serialization("could not serialize access due to concurrent update").detail(changed_row(&key, catalog))
        }
        KvError::ReadChanged { key, .. } => serialization("could not serialize access due to read/write dependencies among transactions")
            .detail(changed_row(&key, catalog))
            .hint("The transaction might succeed if retried."),
        KvError::AssertionFailed { .. } => serialization("could not serialize access due to a concurrent change of a table's definition"),
        KvError::TxnAborted { txn } => serialization("the transaction was aborted by the server").detail(format!("Transaction {txn}.")),
        KvError::TooManyWaiters { key, waiters } => {
            let error = SqlError::new(SqlState::CONFIGURATION_LIMIT_EXCEEDED, "too many transactions wait for the same row");
            let place = relation_of(&key, catalog).map_or(String::new(), |name| format!(" for a row in relation \"{name}\""));
            error.detail(format!("{waiters} transactions wait{place}."))
        }
        KvError::RangeMismatch { .. } => serialization("the ranges of the table are being changed"),
        KvError::SequenceExhausted => {
            SqlError::new(SqlState::SEQUENCE_GENERATOR_LIMIT_EXCEEDED, "nextval: reached the end of the sequence")
        }
        KvError::TooLarge { what, bytes, limit } => {
            SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, format!("{what} of {bytes} bytes is longer than the maximum of {limit}"))
        }
        KvError::SnapshotTooOld(_) => SqlError::new(SqlState::SNAPSHOT_TOO_OLD, "snapshot too old"),
        KvError::Stopping => SqlError::new(SqlState::ADMIN_SHUTDOWN, "terminating connection due to administrator command"),
        KvError::Storage(text) => storage(text),
        KvError::BadRequest(text) => SqlError::new(SqlState::INTERNAL_ERROR, text),
        KvError::OutcomeUnknown { txn } => {
            let message = "it is not known whether the transaction was committed";
            SqlError::new(SqlState::STATEMENT_COMPLETION_UNKNOWN, message).detail(format!("Transaction {txn}."))
        }
    }
}

/// 40001, which a retry of the whole transaction may cure.
pub(crate) fn serialization(message: &'static str) -> SqlError {
    let mut error = SqlError::new(SqlState::SERIALIZATION_FAILURE, message);
    error.fields_mut().retryable = true;
    error
}

fn storage(text: String) -> SqlError {
    let full = text.contains("No space left") || text.contains("StorageFull");
    SqlError::new(if full { SqlState::DISK_FULL } else { SqlState::IO_ERROR }, text)
}

fn changed_row(key: &Key, catalog: &Catalog) -> String {
    match relation_of(key, catalog) {
        Some(name) => format!("A row of relation \"{name}\" was changed by another transaction."),
        None => "A row was changed by another transaction.".to_owned(),
    }
}

/// The relation that the key belongs to.
fn relation_of<'c>(key: &Key, catalog: &'c Catalog) -> Option<&'c str> {
    let index = u64::from(key.index().0);
    let holds = |table: &&std::sync::Arc<crate::catalog::TableDescriptor>| table.all_indexes().any(|i| i.index_id == index && index != 0);
    catalog.relations().map(|r| r.descriptor()).find(holds).map(|table| table.name.as_str())
}

/// What a wait is for, in a story.
pub(crate) fn wait_target(target: &WaitTarget, catalog: &Catalog) -> String {
    match target {
        WaitTarget::Above(what) => format!("for {what}"),
        WaitTarget::Row { key, strength } => match relation_of(key, catalog) {
            Some(name) => format!("{strength} on a row of relation \"{name}\""),
            None => format!("{strength} on {key}"),
        },
    }
}

/// A lock above the rows that was not granted. `relation` names it, if it is one.
pub fn lock_error(error: LockError, relation: Option<&str>, catalog: &Catalog) -> SqlError {
    match error {
        LockError::NotAvailable => {
            let message = match relation {
                Some(name) => format!("could not obtain lock on relation \"{name}\""),
                None => "could not obtain lock".to_owned(),
            };
            SqlError::new(SqlState::LOCK_NOT_AVAILABLE, message)
        }
        LockError::Timeout => SqlError::new(SqlState::LOCK_NOT_AVAILABLE, "canceling statement due to lock timeout"),
        LockError::Deadlock(report) => deadlock(&report, catalog),
        LockError::Full => SqlError::new(SqlState::OUT_OF_MEMORY, "out of shared memory")
            .detail(format!("There are {} table and advisory locks.", crate::locks::queue::MAX_ENTRIES)),
    }
}

/// 40P01, with the story of the cycle.
fn deadlock(report: &DeadlockReport, catalog: &Catalog) -> SqlError {
    let mut story = String::new();
    for edge in &report.cycle {
        if !story.is_empty() {
            story.push('\n');
        }
        // Writing to a string can't fail.
        let _ = write!(
            story,
            "Process {} waits {}; blocked by process {}.",
            edge.waiter_session,
            wait_target(&edge.target, catalog),
            edge.holder_session
        );
    }
    let mut error = SqlError::new(SqlState::DEADLOCK_DETECTED, "deadlock detected").detail(story).hint("See server log for query details.");
    // Run again, its transaction finds the others gone.
    error.fields_mut().retryable = true;
    error
}
