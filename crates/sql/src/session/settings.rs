//! Session settings (PostgreSQL's GUCs): one table of all that exist, and a session's values.
//!
//! A setting is either understood (it changes what the session does), or *inert*: PostgreSQL clients set it as a matter of
//! course, and any legal value changes nothing here because it asks for what is the case anyway (`SET jit = off`). A value
//! that would ask for something else is refused with 0A000. Names without a table entry are refused with 42704; names
//! with a dot are custom settings, as in PostgreSQL.
//!
//! Transactions: `SET` is undone by ROLLBACK, `SET LOCAL` by the end of the transaction, both by a rollback to a savepoint.
//! A snapshot of the values is taken when a transaction first changes one.

use crate::error::{SqlError, SqlState};
use crate::types::FormatSettings;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tidelock_kvapi::Isolation;

/// What values a setting takes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SettingKind {
    /// on / off.
    Bool,
    /// A whole number between two bounds.
    Int(i64, i64),
    /// Milliseconds, with unit suffixes; 0 means "no limit".
    Millis,
    /// Kilobytes, with unit suffixes.
    Kilobytes,
    /// A floating point number.
    Real,
    /// One of these words.
    Enum(&'static [&'static str]),
    /// Any text.
    Text,
    /// A list of names.
    List,
}

/// One setting.
#[derive(Debug)]
pub struct Setting {
    /// Its name, as SHOW prints it.
    pub name: &'static str,
    /// What it takes.
    pub kind: SettingKind,
    /// Its value unless set.
    pub default: &'static str,
    /// Clients are told when it changes (ParameterStatus).
    pub reported: bool,
    /// It cannot be set by SET.
    pub read_only: bool,
    /// One sentence for SHOW ALL and `pg_settings`.
    pub description: &'static str,
}

const fn setting(name: &'static str, kind: SettingKind, default: &'static str, description: &'static str) -> Setting {
    Setting { name, kind, default, reported: false, read_only: false, description }
}

const fn reported(name: &'static str, kind: SettingKind, default: &'static str, description: &'static str) -> Setting {
    Setting { name, kind, default, reported: true, read_only: false, description }
}

const fn fixed(name: &'static str, kind: SettingKind, default: &'static str, description: &'static str) -> Setting {
    Setting { name, kind, default, reported: false, read_only: true, description }
}

const fn fixed_reported(name: &'static str, default: &'static str, description: &'static str) -> Setting {
    Setting { name, kind: SettingKind::Text, default, reported: true, read_only: true, description }
}

const ISOLATION: SettingKind = SettingKind::Enum(&["serializable", "repeatable read", "read committed", "read uncommitted"]);
/// Message levels, weakest first.
const LEVEL_NAMES: &[&str] = &["debug5", "debug4", "debug3", "debug2", "debug1", "debug", "log", "info", "notice", "warning", "error"];
const LEVELS: SettingKind = SettingKind::Enum(LEVEL_NAMES);

use SettingKind::{Bool, Enum, Int, Kilobytes, List, Millis, Real, Text};

/// PostgreSQL's least `work_mem`.
const WORK_MEM_KILOBYTES_MIN: i64 = 64;
/// More memory is not used, whatever `work_mem` says: half of what one step of a query may hold.
const WORK_MEM_MAX: usize = 256 << 20;

/// The version we say we are: clients branch on it, and what we implement is PostgreSQL 15's behaviour.
pub const SERVER_VERSION: &str = "15.18";

/// Every setting, by name.
pub static SETTINGS: &[Setting] = &[
    reported("application_name", Text, "", "Name of the client program, for the activity view."),
    setting("bytea_output", Enum(&["hex", "escape"]), "hex", "How bytea is written."),
    setting("check_function_bodies", Bool, "on", "Bodies of functions that are strings are checked when the functions are made."),
    reported("client_encoding", Text, "UTF8", "Encoding of the client; only UTF8 is spoken."),
    setting("client_min_messages", LEVELS, "notice", "Weakest messages that are sent to the client."),
    reported("DateStyle", Text, "ISO, MDY", "How dates are written and read."),
    setting("deadlock_timeout", Millis, "1s", "How long a lock is waited for before log_lock_waits speaks; deadlocks are found at once."),
    setting("default_table_access_method", Enum(&["heap"]), "heap", "Inert: there is one way to store tables."),
    setting("default_tablespace", Text, "", "Inert: there is one store."),
    setting("default_text_search_config", Text, "pg_catalog.simple", "Inert: text search is not supported."),
    setting("default_transaction_deferrable", Bool, "off", "Inert: read-only transactions never wait."),
    setting("default_transaction_isolation", ISOLATION, "serializable", "Isolation level of new transactions."),
    reported("default_transaction_read_only", Bool, "off", "New transactions are read-only."),
    setting("enable_hashjoin", Bool, "on", "The planner may join by hashing."),
    setting("enable_implicit_select_for_update", Bool, "on", "UPDATE and DELETE lock the rows their scan returns."),
    setting("enable_indexscan", Bool, "on", "The planner may use secondary indexes."),
    setting("enable_nestloop", Bool, "on", "The planner may join by lookups and nested loops."),
    setting("extra_float_digits", Int(-15, 3), "1", "Digits of floats; above 0 the shortest exact form."),
    setting("idle_in_transaction_session_timeout", Millis, "0", "Longest idle time inside a transaction."),
    setting("idle_session_timeout", Millis, "0", "Longest idle time outside of transactions."),
    fixed_reported("in_hot_standby", "off", "There are no standbys."),
    fixed_reported("integer_datetimes", "on", "Dates and times are integers."),
    reported(
        "IntervalStyle",
        Enum(&["postgres", "postgres_verbose", "sql_standard", "iso_8601"]),
        "postgres",
        "How intervals are written.",
    ),
    fixed_reported("is_superuser", "on", "Every user may do everything, until roles come."),
    setting("jit", Bool, "off", "Inert: plans are not compiled."),
    fixed("lc_collate", Text, "C", "Text sorts by its bytes."),
    fixed("lc_ctype", Text, "C.UTF-8", "Case mapping is Unicode's."),
    setting("lc_messages", Text, "C", "Inert: messages are English."),
    setting("lc_monetary", Text, "C", "Inert: there is no money type."),
    setting("lc_numeric", Text, "C", "Numbers are written with a point."),
    setting("lc_time", Text, "C", "Names of months and days are English."),
    setting("lock_timeout", Millis, "0", "Longest wait for any one lock."),
    setting(
        "log_lock_waits",
        Bool,
        "on",
        "A statement that waits for a lock longer than deadlock_timeout tells its client who is in the way.",
    ),
    setting("maintenance_work_mem", Kilobytes, "64MB", "Inert: index builds are bounded otherwise."),
    fixed("max_identifier_length", Int(63, 63), "63", "Longest name."),
    fixed("max_index_keys", Int(32, 32), "32", "Most columns of an index."),
    setting("max_parallel_workers_per_gather", Int(0, 1024), "0", "Inert: queries run on one thread."),
    setting("password_encryption", Enum(&["scram-sha-256", "md5"]), "scram-sha-256", "Inert until roles come."),
    setting("quote_all_identifiers", Bool, "off", "Inert: pg_dump sets it for its own queries."),
    setting("random_page_cost", Real, "4", "Inert: the planner's costs are fixed."),
    setting("role", Text, "none", "Current role; only none until roles come."),
    setting("row_security", Bool, "on", "Inert: there are no policies."),
    setting("search_path", List, "\"$user\", public", "Where names without a schema are looked for."),
    fixed_reported("server_encoding", "UTF8", "Encoding of stored text."),
    fixed_reported("server_version", SERVER_VERSION, "The PostgreSQL version whose behaviour is followed."),
    fixed("server_version_num", Int(150_018, 150_018), "150018", "The same, as a number."),
    reported("session_authorization", Text, "postgres", "Session user."),
    setting("session_replication_role", Enum(&["origin", "local"]), "origin", "Only origin and local: constraints are never switched off."),
    reported("standard_conforming_strings", Bool, "on", "Backslashes in strings are ordinary; always on."),
    setting("statement_timeout", Millis, "0", "Longest run of a statement."),
    setting("synchronize_seqscans", Bool, "on", "Inert: scans always begin at the start."),
    setting(
        "synchronous_commit",
        Enum(&["on", "off", "local", "remote_write", "remote_apply"]),
        "on",
        "off: COMMIT does not wait for the disk.",
    ),
    setting("tcp_keepalives_idle", Int(0, 86_400), "0", "Inert: the operating system's default."),
    reported("TimeZone", Text, "UTC", "Time zone of timestamptz values."),
    setting("transaction_deferrable", Bool, "off", "Inert: read-only transactions never wait."),
    setting("transaction_isolation", ISOLATION, "serializable", "Isolation level of this transaction."),
    setting("transaction_read_only", Bool, "off", "This transaction is read-only."),
    setting("transaction_timeout", Millis, "0", "Longest life of a transaction; its connection is closed after it."),
    setting("vacuum_cost_delay", Real, "0", "Inert: VACUUM has nothing to wait for."),
    setting(
        "work_mem",
        Kilobytes,
        "64MB",
        "Memory of a sort, an aggregate, a DISTINCT, a set operation or a hash join; beyond it (and beyond 256 MB) temporary files are used.",
    ),
    setting("xmloption", Enum(&["content", "document"]), "content", "Inert: there is no xml type."),
];

/// Finds a setting, whatever the case of its name.
pub fn find(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name.eq_ignore_ascii_case(name))
}

/// The default of `deadlock_timeout`.
const DEADLOCK_TIMEOUT: Duration = Duration::from_secs(1);

/// A session's values; cheap to copy, so that a transaction can keep the old ones.
#[derive(Clone, Debug)]
pub struct SessionSettings {
    values: Arc<BTreeMap<String, String>>,
    /// Parsed, because every statement needs them.
    pub formats: Arc<FormatSettings>,
    /// `search_path`, parsed, `"$user"` still inside.
    pub search_path: Arc<Vec<String>>,
    /// `enable_implicit_select_for_update`.
    pub implicit_select_for_update: bool,
    /// `statement_timeout`.
    pub statement_timeout: Option<Duration>,
    /// `lock_timeout`.
    pub lock_timeout: Option<Duration>,
    /// `idle_session_timeout`.
    pub idle_timeout: Option<Duration>,
    /// `idle_in_transaction_session_timeout`.
    pub idle_in_transaction_timeout: Option<Duration>,
    /// `transaction_timeout`.
    pub transaction_timeout: Option<Duration>,
    /// `deadlock_timeout`, with `log_lock_waits` on.
    pub lock_wait_notice: Option<Duration>,
    /// `default_transaction_isolation`.
    pub default_isolation: Isolation,
    /// `default_transaction_read_only`.
    pub default_read_only: bool,
    /// `synchronous_commit = off`.
    pub lazy_commit: bool,
    /// `client_min_messages`.
    pub client_min_messages: &'static str,
    /// `work_mem`, in bytes.
    pub work_mem: usize,
    /// Changed by each SET that can change a plan: part of the plan cache's key.
    pub plan_fingerprint: u64,
}

impl Default for SessionSettings {
    fn default() -> SessionSettings {
        SessionSettings {
            values: Arc::default(),
            formats: Arc::default(),
            search_path: Arc::new(vec!["$user".into(), "public".into()]),
            implicit_select_for_update: true,
            statement_timeout: None,
            lock_timeout: None,
            idle_timeout: None,
            idle_in_transaction_timeout: None,
            transaction_timeout: None,
            lock_wait_notice: Some(DEADLOCK_TIMEOUT),
            default_isolation: Isolation::Serializable,
            default_read_only: false,
            lazy_commit: false,
            client_min_messages: "notice",
            work_mem: 64 << 20,
            plan_fingerprint: 0,
        }
    }
}

impl SessionSettings {
    /// The value as SHOW prints it; `None` when there is no such setting.
    pub fn show(&self, name: &str) -> Option<String> {
        let Some(setting) = find(name) else {
            return self.values.get(&name.to_ascii_lowercase()).cloned();
        };
        let value = match self.values.get(&setting.name.to_ascii_lowercase()) {
            Some(value) => value.clone(),
            None => setting.default.to_string(),
        };
        Some(value)
    }

    /// SET, or RESET with `None`. The value comes back as it is now shown.
    pub fn set(&mut self, name: &str, value: Option<&str>) -> Result<String, SqlError> {
        let Some(setting) = find(name) else { return self.set_custom(name, value) };
        if setting.read_only {
            let message = format!("parameter \"{}\" cannot be changed", setting.name);
            return Err(SqlError::new(SqlState::CANT_CHANGE_RUNTIME_PARAM, message));
        }
        let text = canonical(setting, value.unwrap_or(setting.default))?;
        self.apply(setting.name, &text)?;
        let shown = self.shown_form(setting.name, text);
        Arc::make_mut(&mut self.values).insert(setting.name.to_ascii_lowercase(), shown.clone());
        Ok(shown)
    }

    /// RESET ALL.
    pub fn reset_all(&mut self, to: &SessionSettings) {
        let keep = ["application_name", "session_authorization", "role"];
        let kept: Vec<(String, Option<String>)> = keep.iter().map(|name| (name.to_string(), self.values.get(*name).cloned())).collect();
        *self = to.clone();
        for (name, value) in kept {
            if let Some(value) = value {
                Arc::make_mut(&mut self.values).insert(name, value);
            }
        }
    }

    /// Settings that clients are told about, with their values.
    pub fn reported(&self) -> Vec<(&'static str, String)> {
        SETTINGS
            .iter()
            .filter(|setting| setting.reported)
            .map(|setting| (setting.name, self.show(setting.name).unwrap_or_default()))
            .collect()
    }

    /// `search_path` with `"$user"` replaced.
    pub fn effective_search_path(&self, user: &str) -> Vec<String> {
        self.search_path.iter().map(|name| if name == "$user" { user.to_string() } else { name.clone() }).collect()
    }

    fn set_custom(&mut self, name: &str, value: Option<&str>) -> Result<String, SqlError> {
        if !name.contains('.') {
            let message = format!("unrecognized configuration parameter \"{name}\"");
            return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message));
        }
        let values = Arc::make_mut(&mut self.values);
        match value {
            Some(value) => values.insert(name.to_ascii_lowercase(), value.to_string()),
            None => values.remove(&name.to_ascii_lowercase()),
        };
        Ok(value.unwrap_or_default().to_string())
    }

    /// Keeps the parsed twin of a value, if it has one.
    fn apply(&mut self, name: &str, value: &str) -> Result<(), SqlError> {
        let formats = &mut self.formats;
        match name {
            "DateStyle" => Arc::make_mut(formats).set_date_style(value)?,
            "IntervalStyle" => Arc::make_mut(formats).set_interval_style(value)?,
            "TimeZone" => Arc::make_mut(formats).set_time_zone(value)?,
            "extra_float_digits" => Arc::make_mut(formats).extra_float_digits = value.parse().unwrap_or(1),
            "bytea_output" => Arc::make_mut(formats).set_bytea_output(value)?,
            "search_path" => self.search_path = Arc::new(parse_list(value)),
            "enable_implicit_select_for_update" => self.implicit_select_for_update = value == "on",
            "statement_timeout" => self.statement_timeout = millis(value)?,
            "idle_session_timeout" => self.idle_timeout = millis(value)?,
            "idle_in_transaction_session_timeout" => self.idle_in_transaction_timeout = millis(value)?,
            "lock_timeout" => self.lock_timeout = millis(value)?,
            "transaction_timeout" => self.transaction_timeout = millis(value)?,
            "log_lock_waits" | "deadlock_timeout" => self.set_lock_wait_notice(name, value)?,
            "work_mem" => self.work_mem = work_mem(value)?,
            "default_transaction_isolation" => self.default_isolation = isolation(value)?,
            "default_transaction_read_only" => self.default_read_only = value == "on",
            "synchronous_commit" => self.lazy_commit = value == "off",
            "client_min_messages" => self.client_min_messages = level(value),
            "standard_conforming_strings" if value != "on" => {
                return Err(SqlError::unsupported("standard_conforming_strings = off"));
            }
            "client_encoding" => check_encoding(value)?,
            "role" if value != "none" && value != "postgres" => return Err(SqlError::unsupported("SET ROLE")),
            _ => {}
        }
        if matches!(name, "search_path" | "enable_implicit_select_for_update" | "enable_hashjoin" | "enable_indexscan" | "enable_nestloop")
        {
            self.plan_fingerprint = self.fingerprint(name, value);
        }
        Ok(())
    }

    fn set_lock_wait_notice(&mut self, name: &str, value: &str) -> Result<(), SqlError> {
        let current = |setting: &str| if setting == name { Some(value.to_owned()) } else { self.show(setting) };
        let after = millis(&current("deadlock_timeout").unwrap_or_default())?;
        let on = current("log_lock_waits").is_some_and(|shown| shown == "on");
        self.lock_wait_notice = after.filter(|_| on);
        Ok(())
    }

    fn fingerprint(&self, name: &str, value: &str) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        for setting in ["search_path", "enable_implicit_select_for_update", "enable_hashjoin", "enable_indexscan", "enable_nestloop"] {
            let current = if setting == name { Some(value.to_string()) } else { self.show(setting) };
            current.hash(&mut hasher);
        }
        hasher.finish()
    }

    fn shown_form(&self, name: &str, value: String) -> String {
        match name {
            "DateStyle" => self.formats.date_style_name(),
            "TimeZone" => self.formats.time_zone_name.clone(),
            "client_encoding" => "UTF8".to_string(),
            _ => value,
        }
    }
}

/// A value in the form in which it is kept, or 22023.
fn canonical(setting: &Setting, value: &str) -> Result<String, SqlError> {
    let name = setting.name;
    match setting.kind {
        Bool => parse_bool(value)
            .map(|on| if on { "on" } else { "off" }.to_string())
            .ok_or_else(|| SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("parameter \"{name}\" requires a Boolean value"))),
        Int(low, high) => {
            let number: i64 = value.trim().parse().map_err(|_| invalid(name, value))?;
            if (low..=high).contains(&number) {
                return Ok(number.to_string());
            }
            let message = format!("{number} is outside the valid range for parameter \"{name}\" ({low} .. {high})");
            Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message))
        }
        Millis => with_unit(value, &MILLIS_UNITS).map(show_millis).ok_or_else(|| invalid(name, value)),
        Kilobytes => with_unit(value, &KILOBYTE_UNITS).map(show_kilobytes).ok_or_else(|| invalid(name, value)),
        Real => value.trim().parse::<f64>().map(|_| value.trim().to_string()).map_err(|_| invalid(name, value)),
        Enum(words) => {
            let lower = value.to_ascii_lowercase();
            let on_off = parse_bool(value).map(|on| if on { "on" } else { "off" });
            let word = words.iter().find(|w| **w == lower).or_else(|| words.iter().find(|w| Some(**w) == on_off));
            word.map(|word| word.to_string()).ok_or_else(|| {
                let hint = format!("Available values: {}.", words.join(", "));
                invalid(name, value).hint(hint)
            })
        }
        Text | List => Ok(value.to_string()),
    }
}

fn invalid(name: &str, value: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("invalid value for parameter \"{name}\": \"{value}\""))
}

/// PostgreSQL's spellings of a boolean.
pub fn parse_bool(value: &str) -> Option<bool> {
    let value = value.trim().to_ascii_lowercase();
    let prefix_of = |word: &str, least: usize| value.len() >= least && word.starts_with(&value);
    if prefix_of("true", 1) || prefix_of("yes", 1) || value == "on" || value == "1" {
        Some(true)
    } else if prefix_of("false", 1) || prefix_of("no", 1) || prefix_of("off", 2) || value == "0" {
        Some(false)
    } else {
        None
    }
}

/// Units with their size in the base unit; the base unit is first.
static MILLIS_UNITS: [(&str, i64); 6] = [("ms", 1), ("s", 1000), ("min", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("us", 0)];
static KILOBYTE_UNITS: [(&str, i64); 4] = [("kB", 1), ("MB", 1 << 10), ("GB", 1 << 20), ("TB", 1 << 30)];

fn with_unit(value: &str, units: &[(&str, i64)]) -> Option<i64> {
    let value = value.trim();
    let digits = value.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).unwrap_or(value.len());
    let (number, unit) = (value[..digits].parse::<f64>().ok()?, value[digits..].trim());
    let size = match unit {
        "" => 1.0,
        "us" => 0.001,
        unit => units.iter().find(|(name, _)| *name == unit)?.1 as f64,
    };
    let scaled = (number * size).round();
    (0.0..=2_147_483_647.0).contains(&scaled).then_some(scaled as i64)
}

fn show_millis(millis: i64) -> String {
    show_unit(millis, &MILLIS_UNITS[..5])
}

fn show_kilobytes(kilobytes: i64) -> String {
    show_unit(kilobytes, &KILOBYTE_UNITS)
}

/// The largest unit that divides the value, as SHOW prints it.
fn show_unit(value: i64, units: &[(&str, i64)]) -> String {
    if value == 0 {
        return "0".to_string();
    }
    let unit = units.iter().rev().find(|(_, size)| value % size == 0);
    unit.map_or_else(|| value.to_string(), |(name, size)| format!("{}{name}", value / size))
}

fn millis(value: &str) -> Result<Option<Duration>, SqlError> {
    let millis = with_unit(value, &MILLIS_UNITS).ok_or_else(|| invalid("timeout", value))?;
    Ok((millis > 0).then(|| Duration::from_millis(millis as u64)))
}

/// `work_mem` in bytes.
fn work_mem(value: &str) -> Result<usize, SqlError> {
    let kilobytes = with_unit(value, &KILOBYTE_UNITS).ok_or_else(|| invalid("work_mem", value))?;
    if kilobytes < WORK_MEM_KILOBYTES_MIN {
        let message =
            format!("{kilobytes} kB is outside the valid range for parameter \"work_mem\" ({WORK_MEM_KILOBYTES_MIN} .. {})", i32::MAX);
        return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
    }
    Ok(usize::try_from(kilobytes << 10).unwrap_or(WORK_MEM_MAX).min(WORK_MEM_MAX))
}

/// A message level as the table of levels spells it.
fn level(value: &str) -> &'static str {
    LEVEL_NAMES.iter().find(|name| **name == value).unwrap_or(&"notice")
}

/// Is a message of this severity sent, with `client_min_messages` so? INFO always is: it was asked for.
pub(super) fn is_sent(severity: &str, client_min_messages: &str) -> bool {
    let rank = |name: &str| LEVEL_NAMES.iter().position(|level| name.eq_ignore_ascii_case(level));
    severity == "INFO" || rank(severity) >= rank(client_min_messages)
}

/// An isolation level by its SQL name.
pub fn isolation(value: &str) -> Result<Isolation, SqlError> {
    match value.to_ascii_lowercase().as_str() {
        "serializable" => Ok(Isolation::Serializable),
        "repeatable read" => Ok(Isolation::RepeatableRead),
        "read committed" | "read uncommitted" => Ok(Isolation::ReadCommitted),
        _ => Err(invalid("transaction_isolation", value)),
    }
}

/// A list of names: separated by commas, perhaps quoted (a quote within doubled).
pub(crate) fn parse_list(value: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = value.trim();
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix('"') {
            let mut end = quoted.find('"').unwrap_or(quoted.len());
            while quoted[end..].starts_with("\"\"") {
                end = quoted[end + 2..].find('"').map_or(quoted.len(), |next| end + 2 + next);
            }
            names.push(quoted[..end].replace("\"\"", "\""));
            rest = quoted.get(end + 1..).unwrap_or_default();
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            names.push(rest[..end].trim().to_ascii_lowercase());
            rest = &rest[end..];
        }
        rest = rest.trim_start().strip_prefix(',').unwrap_or(rest.trim_start()).trim_start();
    }
    names.retain(|name| !name.is_empty());
    names
}

/// Only UTF-8 is spoken, whatever a client calls it.
fn check_encoding(value: &str) -> Result<(), SqlError> {
    let plain: String = value.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    match plain.as_str() {
        "utf8" | "unicode" => Ok(()),
        "sqlascii" | "latin1" | "iso88591" | "win1252" => Err(SqlError::unsupported(format_args!("client_encoding {value}"))),
        _ => Err(invalid("client_encoding", value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_has_a_legal_default_and_the_table_is_sorted() {
        for setting in SETTINGS {
            assert!(canonical(setting, setting.default).is_ok(), "{}", setting.name);
        }
        assert!(SETTINGS.windows(2).all(|w| w[0].name.to_ascii_lowercase() < w[1].name.to_ascii_lowercase()));
    }

    #[test]
    fn units_are_understood_and_shown_as_postgresql_shows_them() {
        let mut settings = SessionSettings::default();
        assert_eq!(settings.set("statement_timeout", Some("90s")).unwrap(), "90s");
        assert_eq!(settings.set("statement_timeout", Some("60000")).unwrap(), "1min");
        assert_eq!(settings.statement_timeout, Some(Duration::from_secs(60)));
        assert_eq!(settings.set("work_mem", Some("65536")).unwrap(), "64MB");
        assert_eq!(settings.set("lock_timeout", None).unwrap(), "0");
    }

    #[test]
    fn bad_values_are_refused() {
        let mut settings = SessionSettings::default();
        for (name, value, state) in [
            ("enable_implicit_select_for_update", "maybe", SqlState::INVALID_PARAMETER_VALUE),
            ("no_such_setting", "1", SqlState::UNDEFINED_OBJECT),
            ("server_version", "16", SqlState::CANT_CHANGE_RUNTIME_PARAM),
            ("extra_float_digits", "99", SqlState::INVALID_PARAMETER_VALUE),
            ("client_encoding", "latin1", SqlState::FEATURE_NOT_SUPPORTED),
            ("default_transaction_isolation", "chaos", SqlState::INVALID_PARAMETER_VALUE),
        ] {
            assert_eq!(settings.set(name, Some(value)).unwrap_err().state(), state, "{name}");
        }
    }

    #[test]
    fn weaker_messages_are_not_sent() {
        for (severity, least, sent) in [
            ("NOTICE", "notice", true),
            ("NOTICE", "warning", false),
            ("WARNING", "warning", true),
            ("WARNING", "error", false),
            ("INFO", "error", true),
            ("NOTICE", "debug1", true),
        ] {
            assert_eq!(is_sent(severity, least), sent, "{severity} at {least}");
        }
    }

    #[test]
    fn search_path_keeps_quoted_names() {
        assert_eq!(parse_list("\"$user\", Public,\"Mixed\""), ["$user", "public", "Mixed"]);
        assert_eq!(parse_list("\"a, b\", \"c\"\"d\"\"\", e"), ["a, b", "c\"d\"", "e"]);
        assert_eq!(parse_list("\"never closed"), ["never closed"]);
        assert_eq!(parse_list(""), Vec::<String>::new());
    }
}
