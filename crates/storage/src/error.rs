//! What can go wrong in the store, by meaning.
//!
//! There are two kinds. Some errors end a call (`Locked`, `TooLarge`); all the others end the store: once the log or redb
//! has failed, what is on disk is no longer known, so every later call answers [`StorageError::Failed`] and the process
//! must reopen, which replays the log. A failed fsync is never tried again: the kernel may have dropped the pages, and a
//! second fsync would report success for data that is gone.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why a storage call failed. Cheap to clone: it is handed to every waiter.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StorageError {
    /// Another process (or another `Storage` in this one) has the directory open.
    #[error("the data directory {0} is in use by another process")]
    Locked(String),
    /// The disk refused: the text says what was tried and what the system answered.
    #[error("{action}: {detail}")]
    Io {
        /// What was being done, in words.
        action: String,
        /// The system's answer.
        detail: String,
    },
    /// Bytes that were written and synced are not what was written. The store does not start over them.
    #[error("corrupt: {file} at offset {offset}: {detail}")]
    Corrupt {
        /// The file.
        file: String,
        /// Where in it.
        offset: u64,
        /// What was found.
        detail: String,
    },
    /// The directory was written by a version with another file format.
    #[error("the data directory has format {found}, this binary reads format {expected}")]
    Format {
        /// The format on disk.
        found: u64,
        /// The format this binary reads.
        expected: u64,
    },
    /// The redb base refused.
    #[error("base: {0}")]
    Base(String),
    /// A key or value beyond the limits of `tidelock_base::limits`.
    #[error("{what} of {bytes} bytes exceeds the limit of {limit}")]
    TooLarge {
        /// "key" or "value".
        what: &'static str,
        /// Its size.
        bytes: usize,
        /// The bound.
        limit: usize,
    },
    /// Rows were to be loaded into an index that was dropped meanwhile.
    #[error("index {} was dropped while rows were loaded into it", .0.0)]
    IndexDropped(tidelock_base::IndexId),
    /// A commit whose timestamp is not above the last one.
    #[error("commit {found} does not follow {last}")]
    OutOfOrder {
        /// The newest commit.
        last: tidelock_base::Timestamp,
        /// The one refused.
        found: tidelock_base::Timestamp,
    },
    /// An earlier failure ended the store; its cause is quoted.
    #[error("storage has stopped: {0}")]
    Failed(String),
    /// The store was closed.
    #[error("storage is closed")]
    Closed,
}

impl StorageError {
    /// An I/O error with what was being done.
    pub(crate) fn io(action: impl Into<String>, error: &io::Error) -> StorageError {
        StorageError::Io { action: action.into(), detail: error.to_string() }
    }

    /// Corruption at a place.
    pub(crate) fn corrupt(file: &str, offset: u64, detail: impl Into<String>) -> StorageError {
        StorageError::Corrupt { file: file.to_owned(), offset, detail: detail.into() }
    }
}

macro_rules! from_redb {
    ($($kind:ident),*) => {$(
        impl From<redb::$kind> for StorageError {
            fn from(error: redb::$kind) -> StorageError {
                StorageError::Base(error.to_string())
            }
        }
    )*};
}

from_redb!(StorageError, TableError, TransactionError, CommitError, DatabaseError, SetDurabilityError);

/// The first fatal error, if there was one. Checked (one relaxed load) at the start of every call.
#[derive(Default)]
pub(crate) struct Failure {
    set: AtomicBool,
    cause: OnceLock<StorageError>,
}

impl Failure {
    /// `Err` once the store has failed.
    pub(crate) fn check(&self) -> Result<(), StorageError> {
        if self.set.load(Ordering::Acquire) { Err(self.answer()) } else { Ok(()) }
    }

    /// Ends the store. The first cause is kept; the answer later calls will get is returned.
    pub(crate) fn fail(&self, cause: StorageError) -> StorageError {
        if self.cause.set(cause).is_ok() {
            if let Some(cause) = self.cause.get().filter(|cause| !matches!(cause, StorageError::Closed)) {
                tracing::error!(%cause, "storage has stopped");
            }
            self.set.store(true, Ordering::Release);
        }
        self.answer()
    }

    fn answer(&self) -> StorageError {
        match self.cause.get() {
            Some(StorageError::Closed) => StorageError::Closed,
            Some(failed @ StorageError::Failed(_)) => failed.clone(),
            Some(cause) => StorageError::Failed(cause.to_string()),
            None => StorageError::Failed("cause not recorded yet".into()),
        }
    }
}
