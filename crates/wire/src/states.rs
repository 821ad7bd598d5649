//! SQLSTATEs that only the wire layer raises, and the errors that end a connection.

use tidelock_sql::error::{SqlError, SqlState};

pub(crate) const CHARACTER_NOT_IN_REPERTOIRE: SqlState = SqlState::CHARACTER_NOT_IN_REPERTOIRE;
const TOO_MANY_CONNECTIONS: SqlState = SqlState("53300");
const INVALID_AUTHORIZATION: SqlState = SqlState("28000");
const IDLE_IN_TRANSACTION_TIMEOUT: SqlState = SqlState("25P03");
const IDLE_SESSION_TIMEOUT: SqlState = SqlState("57P05");

/// The server stops, or somebody called `pg_terminate_backend`.
pub(crate) fn admin_shutdown() -> SqlError {
    SqlError::new(SqlState::ADMIN_SHUTDOWN, "terminating connection due to administrator command")
}

/// All places are taken.
pub(crate) fn too_many_connections() -> SqlError {
    SqlError::new(TOO_MANY_CONNECTIONS, "sorry, too many clients already")
}

/// A startup packet without a user.
pub(crate) fn no_user() -> SqlError {
    SqlError::new(INVALID_AUTHORIZATION, "no PostgreSQL user name specified in startup packet")
}

/// `idle_session_timeout`, or its sibling for open transactions.
pub(crate) fn idle_timeout(in_transaction: bool) -> SqlError {
    if in_transaction {
        SqlError::new(IDLE_IN_TRANSACTION_TIMEOUT, "terminating connection due to idle-in-transaction timeout")
    } else {
        SqlError::new(IDLE_SESSION_TIMEOUT, "terminating connection due to idle-session timeout")
    }
}

/// `transaction_timeout`.
pub(crate) fn transaction_timeout() -> SqlError {
    SqlError::new(SqlState::TRANSACTION_TIMEOUT, "terminating connection due to transaction timeout")
}

/// A connection's task panicked.
pub(crate) fn internal_error() -> SqlError {
    SqlError::new(SqlState::INTERNAL_ERROR, "internal error: the statement was aborted and its connection is closed")
        .hint("The server's log says more.")
}
