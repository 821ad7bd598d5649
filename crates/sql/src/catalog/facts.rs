//! What the system tables show that neither the catalog nor this module knows: the session and the server tell it through [`SystemFacts`].
//!
//! Times are microseconds since 2000-01-01 UTC, like a `timestamptz`.

use super::{Oid, SharedCatalog};
use crate::locks::LockRow;
use std::sync::Arc;
use tidelock_base::Key;

/// What the session and the server know. Every method gives a picture of the moment.
pub trait SystemFacts: Send + Sync {
    /// All settings with their values, for `pg_settings` and `tidelock.settings`.
    fn settings(&self) -> Vec<SettingFact>;
    /// All counters and gauges, for `tidelock.metrics`.
    fn metrics(&self) -> Vec<(String, f64)>;
    /// All sessions, for `pg_stat_activity`.
    fn sessions(&self) -> Vec<SessionFact>;
    /// All row locks that are held.
    fn held_locks(&self) -> Vec<LockFact>;
    /// Every lock on a relation, and every advisory lock, held or waited for.
    fn object_locks(&self) -> Vec<LockRow>;
    /// All waits for row locks.
    fn lock_waits(&self) -> Vec<WaitFact>;
    /// This session's prepared statements.
    fn prepared_statements(&self) -> Vec<PreparedFact>;
    /// This session's cursors.
    fn cursors(&self) -> Vec<CursorFact>;
    /// The databases.
    fn shared(&self) -> Arc<SharedCatalog>;
    /// Who may log in. The first one is OID 10, the owner of everything builtin.
    fn roles(&self) -> Vec<RoleFact> {
        vec![RoleFact { oid: super::functions::OWNER_OID, name: "postgres".into() }]
    }
}

/// A setting.
#[derive(Clone, Debug, Default)]
pub struct SettingFact {
    /// Its name.
    pub name: String,
    /// Its value, as SHOW prints it.
    pub value: String,
    /// Its value in a new session.
    pub boot_value: String,
    /// One sentence.
    pub description: String,
    /// Where it belongs: `Session`, `Planner`, `Server` ...
    pub category: String,
    /// `bool`, `integer`, `real`, `enum` or `string`.
    pub vartype: &'static str,
    /// `user` if SET may change it, `internal` if nothing does.
    pub context: &'static str,
    /// `ms`, `kB`; empty without a unit.
    pub unit: &'static str,
    /// Bounds, of a number.
    pub bounds: Option<(String, String)>,
    /// What it may be, of an enumeration.
    pub choices: Vec<String>,
    /// It is not what a new session would have.
    pub changed: bool,
}

/// A session.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)] // named after pg_stat_activity's columns
pub struct SessionFact {
    pub pid: i32,
    pub user: String,
    pub database: String,
    pub database_oid: Oid,
    pub application_name: String,
    pub client_addr: Option<String>,
    pub client_port: Option<i32>,
    pub backend_start: i64,
    pub xact_start: Option<i64>,
    pub query_start: Option<i64>,
    pub state_change: Option<i64>,
    /// `active`, `idle`, `idle in transaction`, `idle in transaction (aborted)`.
    pub state: String,
    pub query: String,
    /// What it waits for: (`Lock`, `transactionid`), (`Client`, `ClientRead`) ...
    pub wait_event: Option<(String, String)>,
}

/// A row lock.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct LockFact {
    pub key: Key,
    pub range: u64,
    pub pid: i32,
    pub transaction: u64,
    /// `for update` ...
    pub strength: String,
    /// The transaction wrote the row.
    pub wrote: bool,
}

/// A wait for a row lock.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct WaitFact {
    pub key: Key,
    pub pid: i32,
    pub strength: String,
    pub blockers: Vec<i32>,
    pub waited_ms: u64,
}

/// A prepared statement.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct PreparedFact {
    pub name: String,
    pub statement: String,
    pub prepared_at: i64,
    pub parameter_types: Vec<Oid>,
    /// By PREPARE, not by the protocol.
    pub from_sql: bool,
}

/// A cursor.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct CursorFact {
    pub name: String,
    pub statement: String,
    pub holdable: bool,
    pub binary: bool,
    pub scrollable: bool,
    pub created_at: i64,
}

/// Somebody who may log in.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct RoleFact {
    pub oid: Oid,
    pub name: String,
}
