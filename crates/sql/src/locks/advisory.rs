//! `pg_advisory_lock` and its kin: locks on numbers that only the application knows the meaning of.
//!
//! ```text
//!   pg_[try_]advisory_[xact_]lock[_shared] (key bigint | class int, object int)
//!   pg_advisory_unlock[_shared] (...)      pg_advisory_unlock_all ()
//! ```
//!
//! Each database has its own. An exclusive one takes the mode Exclusive, a shared one Share, as in PostgreSQL. Those without `xact` belong to the session: they outlive rollbacks, and
//! must be given back as often as they were taken.

use super::{Level, LockError, LockTag, Patience};
use crate::ast::TableLockMode;
use crate::catalog::Oid;
use crate::error::{SqlError, SqlState};
use crate::exec::{ExecContext, Notice};
use crate::types::Datum;

/// What a name asks for.
struct Call {
    only_try: bool,
    level: Level,
    mode: TableLockMode,
}

fn parse(name: &str) -> Call {
    Call {
        only_try: name.starts_with("pg_try_"),
        level: if name.contains("_xact_") { Level::Transaction } else { Level::Session },
        mode: mode_of(name),
    }
}

fn mode_of(name: &str) -> TableLockMode {
    if name.ends_with("_shared") { TableLockMode::Share } else { TableLockMode::Exclusive }
}

fn tag_of(database: Oid, args: &[Datum]) -> Option<LockTag> {
    match args {
        [Datum::Int8(key)] => Some(LockTag::advisory(database, *key)),
        [Datum::Int4(class), Datum::Int4(object)] => Some(LockTag::advisory_pair(database, *class, *object)),
        _ => None,
    }
}

/// Runs one of the functions.
pub(crate) async fn call(name: &str, args: &[Datum], ctx: &mut ExecContext<'_>) -> Result<Datum, SqlError> {
    if name == "pg_advisory_unlock_all" {
        ctx.locks.release_session();
        return Ok(Datum::text(""));
    }
    let tag =
        tag_of(ctx.locks.database(), args).ok_or_else(|| SqlError::new(SqlState::INTERNAL_ERROR, format!("{name} has other arguments")))?;
    if name.starts_with("pg_advisory_unlock") {
        return Ok(Datum::Bool(unlock(tag, mode_of(name), ctx)));
    }
    let call = parse(name);
    let patience = Patience { txn: ctx.txn.id(), timeout: ctx.txn.options().lock_timeout, waits: !call.only_try };
    match ctx.locks.acquire(tag, call.mode, call.level, patience).await {
        Ok(_) if call.only_try => Ok(Datum::Bool(true)),
        Ok(_) => Ok(Datum::text("")),
        Err(LockError::NotAvailable) => Ok(Datum::Bool(false)),
        Err(error) => Err(crate::exec::lock_error(error, None, &ctx.catalog)),
    }
}

fn unlock(tag: LockTag, mode: TableLockMode, ctx: &mut ExecContext<'_>) -> bool {
    let held = ctx.locks.release(tag, mode);
    if !held {
        let message = format!("you don't own a lock of type {}", super::mode_name(mode));
        ctx.notices.push(Notice::warning(SqlState::WARNING, message));
    }
    held
}
