//! What evaluation may look at besides the row: parameters, clocks, settings, and the session behind a small trait.

use crate::catalog::{Catalog, SharedCatalog};
use crate::error::{SqlError, SqlState};
use crate::types::{Datum, FormatSettings, TextContext};
use std::sync::Arc;

/// Everything an expression may read besides its input row.
#[derive(Clone, Copy, Debug)]
pub struct EvalContext<'a> {
    /// Statement parameters, `$1` first.
    pub params: &'a [Datum],
    /// DateStyle, TimeZone and their like.
    pub settings: &'a FormatSettings,
    /// The session, for functions that ask or change it.
    pub session: &'a dyn SessionInfo,
    /// `now()`: microseconds since 2000-01-01 UTC, fixed for the transaction.
    pub transaction_time: i64,
    /// `statement_timestamp()`, in the same unit.
    pub statement_time: i64,
}

impl<'a> EvalContext<'a> {
    /// A context without parameters or a session: for constants and tests.
    pub fn bare(settings: &'a FormatSettings) -> EvalContext<'a> {
        let now = clock_time();
        EvalContext { params: &[], settings, session: &NoSession, transaction_time: now, statement_time: now }
    }

    /// The part that reading and writing text forms needs.
    pub fn text(&self) -> TextContext<'a> {
        TextContext { settings: self.settings, now: self.transaction_time, session: self.session }
    }
}

/// Microseconds between 1970-01-01 and 2000-01-01.
pub const UNIX_TO_POSTGRES_MICROS: i64 = 946_684_800_000_000;

/// The wall clock, in microseconds since 2000-01-01 UTC. Only `clock_timestamp()` and statement starts read it.
pub fn clock_time() -> i64 {
    let since_unix = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    since_unix.as_micros() as i64 - UNIX_TO_POSTGRES_MICROS
}

/// What builtin functions may ask of the session and the catalog behind it. Every method has an answer for "there is no
/// session", so that a constant can be folded anywhere. Nothing here may wait: functions that must
/// ([`crate::functions::Waits`]) are executed by the executor itself.
pub trait SessionInfo: Sync + std::fmt::Debug {
    /// `current_user`.
    fn current_user(&self) -> String {
        "postgres".into()
    }
    /// `session_user`.
    fn session_user(&self) -> String {
        self.current_user()
    }
    /// All databases.
    fn shared(&self) -> Arc<SharedCatalog> {
        Arc::default()
    }
    /// The catalog of a database.
    fn catalog_of(&self, _database: u32) -> Option<Arc<Catalog>> {
        None
    }
    /// `current_database()`.
    fn current_database(&self) -> String {
        "postgres".into()
    }
    /// `current_schemas(implicit)`: the schemas of search_path that exist, first one is `current_schema()`.
    fn current_schemas(&self, implicit: bool) -> Vec<String> {
        if implicit { vec!["pg_catalog".into(), "public".into()] } else { vec!["public".into()] }
    }
    /// `pg_backend_pid()`.
    fn backend_pid(&self) -> i32 {
        0
    }
    /// `txid_current()` and its like.
    fn transaction_id(&self) -> i64 {
        0
    }
    /// `current_setting(name)`; `None` when there is no such setting.
    fn setting(&self, _name: &str) -> Option<String> {
        None
    }
    /// `set_config(name, value, is_local)`: the value as now set.
    fn set_setting(&self, name: &str, _value: &str, _is_local: bool) -> Result<String, SqlError> {
        Err(SqlError::new(SqlState::UNDEFINED_OBJECT, format!("unrecognized configuration parameter \"{name}\"")))
    }
    /// `pg_notify(channel, payload)`: kept until the transaction commits.
    fn notify(&self, _channel: &str, _payload: &str) -> Result<(), SqlError> {
        Err(SqlError::unsupported("pg_notify here"))
    }

    /// `pg_listening_channels()`.
    fn listening_channels(&self) -> Vec<String> {
        Vec::new()
    }

    /// The primary key of the row of that table on which a cursor stands: `WHERE CURRENT OF`.
    fn cursor_row(&self, cursor: &str, _table: u32) -> Result<Vec<Datum>, SqlError> {
        Err(SqlError::new(SqlState::INVALID_CURSOR_NAME, format!("cursor \"{cursor}\" does not exist")))
    }

    /// `nextval(sequence)`; see [`crate::functions::Waits::Sequence`].
    fn nextval(&self, _sequence: u32) -> Result<i64, SqlError> {
        Err(SqlError::unsupported("nextval here"))
    }
    /// `currval(sequence)`.
    fn currval(&self, _sequence: u32) -> Result<i64, SqlError> {
        Err(SqlError::unsupported("currval here"))
    }
    /// `lastval()`.
    fn lastval(&self) -> Result<i64, SqlError> {
        Err(SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, "lastval is not yet defined in this session"))
    }
    /// `setval(sequence, value, is_called)`.
    fn setval(&self, _sequence: u32, _value: i64, _is_called: bool) -> Result<i64, SqlError> {
        Err(SqlError::unsupported("setval here"))
    }
    /// The OID of an object named in SQL's spelling (`"Schema".name`): text to regclass and its like.
    fn object_oid(&self, _kind: ObjectKind, _name: &str) -> Option<u32> {
        None
    }
    /// The name of an object, qualified if it is not visible: regclass and its like to text.
    fn object_name(&self, _kind: ObjectKind, _oid: u32) -> Option<String> {
        None
    }
    /// System functions that are all catalog: `pg_table_is_visible`, `pg_get_indexdef`, `obj_description` ... by name.
    fn catalog_function(&self, name: &'static str, _args: &[Datum]) -> Result<Datum, SqlError> {
        Err(SqlError::unsupported(format_args!("{name}()")))
    }
}

/// What a reg* value names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // named after regclass, regnamespace ...
pub enum ObjectKind {
    Relation,
    Namespace,
    Role,
    Type,
    Function,
    /// A function with its arguments.
    Procedure,
    Operator,
}

/// No session: a constant being folded, a test.
#[derive(Clone, Copy, Debug)]
pub struct NoSession;

impl SessionInfo for NoSession {}
