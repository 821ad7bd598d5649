//! What is found by somebody who looks at a running statement from outside: it waits for a lock, or its transaction has lasted too long.
//!
//! The wire layer looks a few times a second at statements that are suspended, and only at those. A wait longer than `deadlock_timeout` is told to the client
//! while it lasts (`log_lock_waits`), with who is in the way and what he runs; a transaction older than `transaction_timeout` is ended.

use super::Session;
use super::settings::is_sent;
use super::view::SessionView;
use crate::exec::{CancelReason, Notice, wait_target};
use crate::expr::clock_time;
use crate::locks::mode_name;
use std::sync::Arc;
use std::time::Duration;
use tidelock_base::SessionId;
use tidelock_kvapi::WaitTarget;

/// Sessions in the way that a notice names; others are counted.
const BLOCKERS_NAMED: usize = 3;

/// Characters of their statements that it shows.
const STATEMENT_SHOWN: usize = 200;

/// Looks at a session from outside.
#[derive(Clone)]
pub struct Watch {
    view: Arc<SessionView>,
}

/// A wait for a lock.
struct LongWait {
    what: String,
    blockers: Vec<i32>,
    waited: Duration,
}

impl Session {
    /// For whoever looks at its statements while they run.
    pub fn watch(&self) -> Watch {
        Watch { view: Arc::clone(&self.view) }
    }

    /// How long the client may think now before it is sent away.
    pub fn idle_timeout(&self) -> Option<Duration> {
        let settings = self.view.settings.lock();
        if matches!(self.transaction.block, super::Block::None | super::Block::Implicit) {
            return settings.idle_timeout;
        }
        let left = settings.transaction_timeout.map(|limit| limit.saturating_sub(since(self.transaction.started)));
        settings.idle_in_transaction_timeout.into_iter().chain(left).min()
    }

    /// Has the open transaction outlived `transaction_timeout`?
    pub fn is_overdue(&self) -> bool {
        let limit = self.view.settings.lock().transaction_timeout;
        let open = matches!(self.transaction.block, super::Block::Explicit | super::Block::Failed);
        open && limit.is_some_and(|limit| since(self.transaction.started) >= limit)
    }
}

fn since(moment: i64) -> Duration {
    Duration::from_micros(u64::try_from(clock_time() - moment).unwrap_or_default())
}

impl Watch {
    /// The notice about a wait that has become long; `told` remembers that it was given, until the wait is over.
    pub fn long_wait(&self, told: &mut bool) -> Option<Notice> {
        let (after, is_heard) = {
            let settings = self.view.settings.lock();
            (settings.lock_wait_notice?, is_sent("NOTICE", settings.client_min_messages))
        };
        let Some(wait) = self.wait() else {
            *told = false;
            return None;
        };
        if !is_heard || wait.waited < after || std::mem::replace(told, true) {
            return None;
        }
        let mut notice = Notice::notice(format!("still waiting {} after {} ms", wait.what, wait.waited.as_millis()));
        notice.fields = notice.fields.detail(self.who(&wait.blockers));
        Some(notice)
    }

    /// Cancels the statement when its transaction has outlived `transaction_timeout`; says whether it did.
    pub fn end_overdue(&self) -> bool {
        let Some(limit) = self.view.settings.lock().transaction_timeout else { return false };
        let activity = self.view.handle.activity.lock();
        let overdue = since(activity.transaction_start.unwrap_or(activity.query_start)) >= limit;
        drop(activity);
        if overdue {
            self.view.handle.cancel.cancel(CancelReason::TransactionTimeout);
        }
        overdue
    }

    fn wait(&self) -> Option<LongWait> {
        let cluster = &self.view.cluster;
        let pid = self.view.handle.pid;
        let pids = |sessions: Vec<SessionId>| sessions.into_iter().map(|session| session.0 as i32).collect();
        if let Some(wait) = cluster.hooks.wait_of(SessionId(pid as u32)) {
            let target = WaitTarget::Row { key: wait.key, strength: wait.strength };
            let what = format!("for {}", wait_target(&target, &self.view.handle.database.catalog.load().catalog));
            return Some(LongWait { what, blockers: pids(wait.blockers), waited: Duration::from_millis(wait.waited_ms) });
        }
        let (tag, mode, waits_since) = cluster.locks.wait_of(pid)?;
        let what = format!("for {} on {}", mode_name(mode), tag.describe(self.view.handle.database.oid));
        Some(LongWait { what, blockers: cluster.locks.blockers_of(pid), waited: since(waits_since) })
    }

    fn who(&self, blockers: &[i32]) -> String {
        let named = blockers.iter().take(BLOCKERS_NAMED).map(|pid| match self.view.cluster.session(*pid) {
            Some(session) => {
                let activity = session.activity.lock();
                let statement: String = activity.query.chars().take(STATEMENT_SHOWN).collect();
                format!("Blocked by process {pid} ({}): {statement}", activity.state)
            }
            None => format!("Blocked by process {pid}."),
        });
        let mut lines: Vec<String> = named.collect();
        if blockers.len() > BLOCKERS_NAMED {
            lines.push(format!("And by {} others.", blockers.len() - BLOCKERS_NAMED));
        }
        lines.join("\n")
    }
}
