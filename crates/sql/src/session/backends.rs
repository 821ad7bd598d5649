//! Functions about sessions rather than about the catalog: `pg_cancel_backend`, `pg_terminate_backend`, `pg_blocking_pids`, start times.

use super::view::SessionView;
use crate::error::SqlError;
use crate::exec::CancelReason;
use crate::expr::clock_time;
use crate::types::{DataType, Datum};

/// The answer, or None if the name is not one of these.
pub(super) fn call(view: &SessionView, name: &str, args: &[Datum]) -> Option<Result<Datum, SqlError>> {
    let pid = if let Some(Datum::Int4(pid)) = args.first() { *pid } else { 0 };
    Some(Ok(match name {
        "pg_postmaster_start_time" | "pg_conf_load_time" => Datum::Timestamptz(clock_time() - view.cluster.uptime().as_micros() as i64),
        "pg_blocking_pids" => blockers(view, pid),
        "pg_cancel_backend" => Datum::Bool(stop(view, pid, CancelReason::User)),
        "pg_terminate_backend" => Datum::Bool(stop(view, pid, CancelReason::Terminate)),
        _ => return None,
    }))
}

fn blockers(view: &SessionView, pid: i32) -> Datum {
    let waits = view.cluster.hooks.waits().into_iter().filter(|wait| wait.session.0 as i32 == pid);
    let of_rows = waits.flat_map(|wait| wait.blockers).map(|session| session.0 as i32);
    let blockers = of_rows.chain(view.cluster.locks.blockers_of(pid)).map(Datum::Int4);
    Datum::array(DataType::INT4, blockers.collect())
}

/// Stops a session's statement, or the session. False when there is no such session.
fn stop(view: &SessionView, pid: i32, why: CancelReason) -> bool {
    let Some(session) = view.cluster.session(pid) else { return false };
    session.stop(why);
    true
}
