//! Workloads over the PostgreSQL wire protocol: TPC-C, loaded, run and checked against Tidelock or any PostgreSQL, and one whose histories can be checked for
//! isolation.
//!
//! This crate imports nothing of Tidelock's. It is a client like any other, which is what makes its comparisons fair: the same
//! program, the same statements, another URL.

#![forbid(unsafe_code)]

mod connection;
mod decimal;
pub mod history;
mod random;
pub mod tpcc;

pub use connection::{Connection, Protocol, Row, Value};
pub use decimal::Decimal;

/// Why a workload stopped.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// The server, or the way to it.
    #[error("{0}")]
    Postgres(#[from] tokio_postgres::Error),
    /// Something came back that should not.
    #[error("{0}")]
    Unexpected(String),
}

impl WorkloadError {
    /// The SQLSTATE, if the server gave one.
    pub fn sqlstate(&self) -> Option<&str> {
        match self {
            WorkloadError::Postgres(error) => error.code().map(|code| code.code()),
            WorkloadError::Unexpected(_) => None,
        }
    }

    /// Would the same transaction, run again, probably succeed?
    pub fn is_retryable(&self) -> bool {
        matches!(self.sqlstate(), Some("40001" | "40P01"))
    }

    /// What the server said, with its detail, for a report.
    pub fn story(&self) -> String {
        match self {
            WorkloadError::Postgres(error) => match error.as_db_error() {
                Some(db) => format!("{}: {} {}", db.code().code(), db.message(), db.detail().unwrap_or_default()),
                None => format!("{error}: {:?}", std::error::Error::source(error).map(ToString::to_string)),
            },
            WorkloadError::Unexpected(text) => text.clone(),
        }
    }
}
