//! What functions may ask of the session: `current_setting`, `currval`, `'t'::regclass`, `pg_get_indexdef` ...
//!
//! Functions are evaluated while the session itself is borrowed by the running statement, so what they may see lives behind
//! this view: the settings under a mutex, and the catalog that the statement was planned against.

use super::cluster::{Cluster, SessionHandle};
use super::extended::Prepared;
use super::hooks::{HeldLock, LockWait};
use super::notify::Pending;
use super::settings::{SETTINGS, SessionSettings, Setting, SettingKind};
use crate::catalog::facts::{CursorFact, LockFact, PreparedFact, SessionFact, SettingFact, SystemFacts, WaitFact};
use crate::catalog::rows::VirtualScan;
use crate::catalog::{Catalog, SharedCatalog, TEMPORARY_ALIAS};
use crate::error::{SqlError, SqlState};
use crate::exec::VirtualTables;
use crate::exec::sequence::SequenceMemory;
use crate::expr::{ObjectKind, SessionInfo};
use crate::locks::{LockManager, LockRow, LockTag};
use crate::types::Datum;
use hashbrown::HashMap;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tidelock_kvapi::Isolation;
use tidelock_kvclient::Db;

/// The planner's setting that is the server's and not a session's: its name, and what it says.
pub(super) const POINT_GETS: (&str, &str) = ("sql.point_gets", "Reads whose full key is bound are point gets, not scans.");

/// A session as its functions see it.
pub(super) struct SessionView {
    pub(super) cluster: Arc<Cluster>,
    pub(super) handle: Arc<SessionHandle>,
    /// Shared with the statements under way; a change makes a new one.
    pub(super) settings: Mutex<Arc<SessionSettings>>,
    pub(super) sequences: SequenceMemory,
    pub(super) functions: crate::exec::FunctionPlans,
    pub(super) prepared: Mutex<HashMap<String, Arc<Prepared>>>,
    pub(super) cursors: Mutex<Vec<CursorFact>>,
    /// Where they stand.
    pub(super) cursor_rows: Mutex<Vec<super::cursor::CursorRow>>,
    /// What the transaction will tell others when it commits.
    pub(super) pending: Mutex<Pending>,
    /// Channels that are listened to.
    pub(super) listening: Mutex<Vec<Arc<str>>>,
    modes: Mutex<(Isolation, bool)>,
    catalog: Mutex<Arc<Catalog>>,
    /// What the transaction has changed of the databases.
    own_shared: Mutex<Option<Arc<SharedCatalog>>>,
    transaction_id: AtomicU64,
    /// `set_config` changed something: the session looks for what to report.
    pub(super) settings_changed: AtomicBool,
}

impl SessionView {
    pub(super) fn new(cluster: Arc<Cluster>, handle: Arc<SessionHandle>, settings: Arc<SessionSettings>) -> SessionView {
        let catalog = Arc::clone(&handle.database.catalog.load().catalog);
        SessionView {
            modes: Mutex::new((settings.default_isolation, settings.default_read_only)),
            settings: Mutex::new(settings),
            sequences: SequenceMemory::default(),
            functions: crate::exec::FunctionPlans::default(),
            prepared: Mutex::default(),
            cursors: Mutex::default(),
            cursor_rows: Mutex::default(),
            pending: Mutex::default(),
            listening: Mutex::default(),
            catalog: Mutex::new(catalog),
            own_shared: Mutex::default(),
            transaction_id: AtomicU64::new(0),
            settings_changed: AtomicBool::new(false),
            cluster,
            handle,
        }
    }

    pub(super) fn set_transaction_modes(&self, isolation: Isolation, read_only: bool) {
        *self.modes.lock() = (isolation, read_only);
    }

    pub(super) fn set_transaction_id(&self, id: u64) {
        self.transaction_id.store(id, Ordering::Relaxed);
    }

    pub(super) fn set_catalog(&self, catalog: &Arc<Catalog>) {
        let mut current = self.catalog.lock();
        if !Arc::ptr_eq(&current, catalog) {
            *current = Arc::clone(catalog);
        }
    }

    pub(super) fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog.lock())
    }

    /// The databases, as the transaction sees them.
    pub(super) fn shared(&self) -> Arc<SharedCatalog> {
        self.own_shared.lock().clone().unwrap_or_else(|| self.cluster.shared.load_full())
    }

    /// What the transaction has changed of them; None when it is over.
    pub(super) fn set_shared(&self, own: Option<Arc<SharedCatalog>>) {
        *self.own_shared.lock() = own;
    }

    /// A setting's value, server-wide ones included.
    pub(super) fn show(&self, name: &str) -> Option<String> {
        match name.to_ascii_lowercase().as_str() {
            "transaction_isolation" => Some(self.modes.lock().0.to_string()),
            "transaction_read_only" => Some(if self.modes.lock().1 { "on" } else { "off" }.to_string()),
            "sql.point_gets" => Some(if self.cluster.point_gets.load(Ordering::Relaxed) { "on" } else { "off" }.to_string()),
            "is_superuser" => Some("on".to_string()),
            "session_authorization" => Some(self.handle.user.clone()),
            lower => self.cluster.hooks.server_setting(lower).or_else(|| self.settings.lock().show(name)),
        }
    }

    fn search_path(&self) -> Vec<String> {
        self.settings.lock().effective_search_path(&self.handle.user)
    }
}

impl std::fmt::Debug for SessionView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SessionView({})", self.handle.pid)
    }
}

impl SessionInfo for SessionView {
    fn current_user(&self) -> String {
        self.handle.user.clone()
    }

    fn shared(&self) -> Arc<SharedCatalog> {
        SessionView::shared(self)
    }

    fn catalog_of(&self, database: u32) -> Option<Arc<Catalog>> {
        if database == self.handle.database.oid {
            return Some(self.catalog());
        }
        self.cluster.database(database).map(|database| Arc::clone(&database.catalog.load().catalog))
    }

    fn current_database(&self) -> String {
        self.handle.database.name.clone()
    }

    fn current_schemas(&self, implicit: bool) -> Vec<String> {
        let catalog = self.catalog();
        let path = self.search_path();
        let implied = implicit && !path.iter().any(|name| name == "pg_catalog");
        let existing = path.iter().filter_map(|name| catalog.schema(name)).map(|schema| schema.name.clone());
        let named = path.iter().any(|name| name == TEMPORARY_ALIAS);
        let temporary = catalog.temporary_schema().filter(|_| implicit && !named).map(|schema| schema.name.clone());
        temporary.into_iter().chain(implied.then(|| "pg_catalog".to_string())).chain(existing).collect()
    }

    fn backend_pid(&self) -> i32 {
        self.handle.pid
    }

    fn transaction_id(&self) -> i64 {
        self.transaction_id.load(Ordering::Relaxed) as i64
    }

    fn setting(&self, name: &str) -> Option<String> {
        self.show(name)
    }

    fn set_setting(&self, name: &str, value: &str, is_local: bool) -> Result<String, SqlError> {
        if is_local {
            return Err(SqlError::unsupported("set_config with is_local"));
        }
        let shown = Arc::make_mut(&mut self.settings.lock()).set(name, Some(value))?;
        self.settings_changed.store(true, Ordering::Relaxed);
        Ok(shown)
    }

    fn notify(&self, channel: &str, payload: &str) -> Result<(), SqlError> {
        self.pending.lock().notify(channel, payload)
    }

    fn cursor_row(&self, cursor: &str, table: u32) -> Result<Vec<Datum>, SqlError> {
        let shown = self.object_name(ObjectKind::Relation, table).unwrap_or_default();
        super::cursor::CursorRow::key_in(&self.cursor_rows.lock(), cursor, table, &shown)
    }

    fn listening_channels(&self) -> Vec<String> {
        self.listening.lock().iter().map(|channel| channel.to_string()).collect()
    }

    fn currval(&self, sequence: u32) -> Result<i64, SqlError> {
        let name = self.object_name(ObjectKind::Relation, sequence).unwrap_or_default();
        self.sequences.currval(sequence, &name)
    }

    fn lastval(&self) -> Result<i64, SqlError> {
        self.sequences.lastval()
    }

    fn object_oid(&self, kind: ObjectKind, text: &str) -> Option<u32> {
        let catalog = self.catalog();
        let (database, schema, name) = split_qualified(text);
        if database.is_some_and(|database| database != self.handle.database.name) {
            return None;
        }
        match kind {
            ObjectKind::Relation => {
                let path = self.search_path();
                if let Some(relation) = catalog.resolve(schema.as_deref(), &name, &path) {
                    return Some(relation.descriptor().oid);
                }
                let (table, index) = catalog.resolve_index(schema.as_deref(), &name, &path)?;
                Some(index.map_or(table.primary.oid, |at| table.indexes[at].oid))
            }
            ObjectKind::Namespace => catalog.schema(&name).map(|schema| schema.oid),
            ObjectKind::Role => (name == self.handle.user || name == "postgres").then_some(10),
            ObjectKind::Function | ObjectKind::Procedure => crate::catalog::functions::function_oid(text, &catalog, &self.search_path()),
            ObjectKind::Operator => crate::catalog::functions::operator_oid(text),
            ObjectKind::Type => {
                let element = name.strip_suffix("[]").unwrap_or(&name);
                let path = self.search_path();
                let of_enum = catalog.enum_named(schema.as_deref(), element, &path).map(|(_, e)| (e.oid, e.array_oid));
                let of_domain = || catalog.domain_named(schema.as_deref(), element, &path).map(|(_, d)| (d.oid, d.array_oid));
                let (oid, array_oid) = of_enum.or_else(of_domain)?;
                Some(if element.len() < name.len() { array_oid } else { oid })
            }
        }
    }

    fn object_name(&self, kind: ObjectKind, oid: u32) -> Option<String> {
        let catalog = self.catalog();
        match kind {
            ObjectKind::Relation => {
                let (schema, name) = relation_name(&catalog, oid)?;
                let visible = self.object_oid(ObjectKind::Relation, &quoted(&name)) == Some(oid);
                Some(if visible { quoted(&name) } else { format!("{}.{}", quoted(&schema), quoted(&name)) })
            }
            ObjectKind::Namespace => catalog.schemas().find(|schema| schema.oid == oid).map(|schema| quoted(&schema.name)),
            ObjectKind::Role => (oid == 10).then(|| "postgres".to_string()),
            ObjectKind::Function => crate::catalog::functions::function_name(oid, &catalog, self),
            ObjectKind::Procedure => crate::catalog::functions::procedure_name(oid, &catalog, self),
            ObjectKind::Operator => crate::catalog::functions::operator_name(oid),
            ObjectKind::Type => {
                let of_enum = catalog.enums().map(|(schema, e)| (schema, &e.name, e.oid, e.array_oid));
                let of_domain = catalog.domains().map(|(schema, d)| (schema, &d.name, d.oid, d.array_oid));
                let (schema, bare, own, _) = of_enum.chain(of_domain).find(|(.., own, array)| *own == oid || *array == oid)?;
                let visible = self.object_oid(ObjectKind::Type, &quoted(bare)) == Some(own);
                let name = if visible { quoted(bare) } else { format!("{}.{}", quoted(&schema.name), quoted(bare)) };
                Some(if own == oid { name } else { format!("{name}[]") })
            }
        }
    }

    fn catalog_function(&self, name: &'static str, args: &[Datum]) -> Result<Datum, SqlError> {
        let own = super::backends::call(self, name, args);
        own.unwrap_or_else(|| crate::catalog::functions::call(name, args, &self.catalog(), self))
    }
}

/// Schema and name of a table, view, sequence or index.
pub(crate) fn relation_name(catalog: &Catalog, oid: u32) -> Option<(String, String)> {
    if let Some(relation) = catalog.relation(oid) {
        let descriptor = relation.descriptor();
        return Some((descriptor.schema.clone(), descriptor.name.clone()));
    }
    let table = catalog.owner(oid)?;
    let index = table.all_indexes().find(|index| index.oid == oid)?;
    Some((table.schema.clone(), index.name.clone()))
}

/// A name as SQL writes it: quoted where it must be.
pub(crate) fn quoted(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '$');
    if plain { name.to_string() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// `"Schema".name` into its parts, folded to lower case where unquoted: a database, a schema, a name.
fn split_qualified(text: &str) -> (Option<String>, Option<String>, String) {
    let mut parts: Vec<String> = vec![String::new()];
    let mut in_quotes = false;
    let mut chars = text.trim().chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if in_quotes && chars.peek() == Some(&'"') => {
                chars.next();
                push_to(&mut parts, '"');
            }
            '"' => in_quotes = !in_quotes,
            '.' if !in_quotes => parts.push(String::new()),
            c if in_quotes => push_to(&mut parts, c),
            c => c.to_lowercase().for_each(|c| push_to(&mut parts, c)),
        }
    }
    let name = parts.pop().unwrap_or_default();
    let schema = parts.pop();
    (parts.pop(), schema, name)
}

fn push_to(parts: &mut [String], c: char) {
    if let Some(last) = parts.last_mut() {
        last.push(c);
    }
}

impl SessionView {
    pub(super) fn undefined_setting(name: &str) -> SqlError {
        SqlError::new(SqlState::UNDEFINED_OBJECT, format!("unrecognized configuration parameter \"{name}\""))
    }
}

#[async_trait::async_trait]
impl VirtualTables for SessionView {
    async fn rows(&self, scan: &VirtualScan<'_>, catalog: &Arc<Catalog>, _: &Db) -> Result<Vec<Vec<Datum>>, SqlError> {
        crate::catalog::rows::rows(scan, catalog, self)
    }
}

impl SystemFacts for SessionView {
    fn settings(&self) -> Vec<SettingFact> {
        let own = SETTINGS.iter().map(|setting| self.setting_fact(setting));
        let server = self.cluster.hooks.server_settings().into_iter().map(|(name, description)| SettingFact {
            name: name.to_string(),
            value: self.show(name).unwrap_or_default(),
            boot_value: "on".to_string(),
            description: description.to_string(),
            category: "Server".to_string(),
            vartype: "string",
            context: "user",
            ..SettingFact::default()
        });
        let (name, description) = POINT_GETS;
        let value = self.show(name).unwrap_or_default();
        let point_gets = SettingFact {
            name: name.to_string(),
            changed: value != "on",
            value,
            boot_value: "on".to_string(),
            description: description.to_string(),
            category: "Server".to_string(),
            vartype: "bool",
            context: "user",
            ..SettingFact::default()
        };
        own.chain(server).chain([point_gets]).collect()
    }

    fn metrics(&self) -> Vec<(String, f64)> {
        let plans = self.cluster.plans.metrics().into_iter().map(|(name, value)| (name.to_string(), value as f64));
        self.cluster.hooks.metrics().into_iter().chain(plans).collect()
    }

    fn sessions(&self) -> Vec<SessionFact> {
        let waits = self.cluster.hooks.waits();
        self.cluster.sessions().iter().map(|session| session_fact(session, &waits, &self.cluster.locks)).collect()
    }

    fn held_locks(&self) -> Vec<LockFact> {
        let fact = |lock: HeldLock| LockFact {
            key: lock.key,
            range: lock.range,
            pid: lock.session.0 as i32,
            transaction: lock.txn,
            strength: lock.strength.to_string(),
            wrote: lock.wrote,
        };
        self.cluster.hooks.locks().into_iter().map(fact).collect()
    }

    fn object_locks(&self) -> Vec<LockRow> {
        self.cluster.locks.all()
    }

    fn lock_waits(&self) -> Vec<WaitFact> {
        let fact = |wait: LockWait| WaitFact {
            key: wait.key,
            pid: wait.session.0 as i32,
            strength: wait.strength.to_string(),
            blockers: wait.blockers.iter().map(|session| session.0 as i32).collect(),
            waited_ms: wait.waited_ms,
        };
        self.cluster.hooks.waits().into_iter().map(fact).collect()
    }

    fn prepared_statements(&self) -> Vec<PreparedFact> {
        let prepared = self.prepared.lock();
        let named = prepared.iter().filter(|(name, _)| !name.is_empty());
        named
            .map(|(name, prepared)| PreparedFact {
                name: name.clone(),
                statement: prepared.text.to_string(),
                prepared_at: prepared.prepared_at,
                parameter_types: prepared.parameter_types(),
                from_sql: prepared.from_sql,
            })
            .collect()
    }

    fn shared(&self) -> Arc<SharedCatalog> {
        SessionView::shared(self)
    }

    fn cursors(&self) -> Vec<CursorFact> {
        self.cursors.lock().clone()
    }
}

impl SessionView {
    fn setting_fact(&self, setting: &Setting) -> SettingFact {
        let value = self.show(setting.name).unwrap_or_default();
        let (vartype, unit) = match setting.kind {
            SettingKind::Bool => ("bool", ""),
            SettingKind::Int(..) => ("integer", ""),
            SettingKind::Millis => ("integer", "ms"),
            SettingKind::Kilobytes => ("integer", "kB"),
            SettingKind::Real => ("real", ""),
            SettingKind::Enum(_) => ("enum", ""),
            SettingKind::Text | SettingKind::List => ("string", ""),
        };
        SettingFact {
            name: setting.name.to_string(),
            changed: value != setting.default,
            value,
            boot_value: setting.default.to_string(),
            description: setting.description.to_string(),
            category: "Session".to_string(),
            vartype,
            context: if setting.read_only { "internal" } else { "user" },
            unit,
            bounds: match setting.kind {
                SettingKind::Int(low, high) => Some((low.to_string(), high.to_string())),
                _ => None,
            },
            choices: match setting.kind {
                SettingKind::Enum(words) => words.iter().map(|word| word.to_string()).collect(),
                _ => Vec::new(),
            },
        }
    }
}

fn session_fact(session: &SessionHandle, waits: &[LockWait], locks: &LockManager) -> SessionFact {
    let activity = session.activity.lock().clone();
    let row = waits.iter().any(|wait| wait.session.0 as i32 == session.pid).then_some("tuple");
    let waits_for = row.or_else(|| match locks.wait_of(session.pid)?.0 {
        LockTag::Relation(_) => Some("relation"),
        LockTag::Advisory { .. } => Some("advisory"),
    });
    let wait_event = match (waits_for, activity.state) {
        (Some(what), _) => Some(("Lock".to_string(), what.to_string())),
        (None, "active") => None,
        (None, _) => Some(("Client".to_string(), "ClientRead".to_string())),
    };
    SessionFact {
        pid: session.pid,
        user: session.user.clone(),
        database: session.database.name.clone(),
        database_oid: session.database.oid,
        application_name: activity.application_name,
        client_addr: session.remote.map(|remote| remote.ip().to_string()),
        client_port: session.remote.map(|remote| i32::from(remote.port())),
        backend_start: session.backend_start,
        xact_start: activity.transaction_start,
        query_start: Some(activity.query_start),
        state_change: Some(activity.state_change),
        state: activity.state.to_string(),
        query: activity.query.to_string(),
        wait_event,
    }
}
