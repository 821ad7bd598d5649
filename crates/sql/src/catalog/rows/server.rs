//! What the session and the server know: settings, counters, activity, prepared statements, cursors.

use super::{Rows, VirtualScan, fill, optional, texts};
use crate::catalog::facts::{CursorFact, PreparedFact, SessionFact, SettingFact};
use crate::catalog::functions::OWNER_OID;
use crate::catalog::{Catalog, SystemFacts};
use crate::types::{DataType, Datum};

static METRICS: &[(&str, fn(&(String, f64)) -> Datum)] = &[("name", |m| Datum::text(m.0.as_str())), ("value", |m| Datum::Float8(m.1))];

/// `tidelock.metrics`.
pub(super) fn metrics(scan: &VirtualScan<'_>, facts: &dyn SystemFacts) -> Rows {
    let mut all = facts.metrics();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    fill(scan, METRICS, all.into_iter())
}

static SHORT_SETTINGS: &[(&str, fn(&SettingFact) -> Datum)] = &[
    ("name", |s| Datum::text(s.name.as_str())),
    ("value", |s| Datum::text(s.value.as_str())),
    ("description", |s| Datum::text(s.description.as_str())),
];

/// `tidelock.settings`.
pub(super) fn short_settings(scan: &VirtualScan<'_>, facts: &dyn SystemFacts) -> Rows {
    fill(scan, SHORT_SETTINGS, sorted_settings(facts).into_iter())
}

fn sorted_settings(facts: &dyn SystemFacts) -> Vec<SettingFact> {
    let mut all = facts.settings();
    all.sort_by_cached_key(|setting| setting.name.to_ascii_lowercase());
    all
}

static SETTINGS: &[(&str, fn(&SettingFact) -> Datum)] = &[
    ("name", |s| Datum::text(s.name.as_str())),
    ("setting", |s| Datum::text(s.value.as_str())),
    ("unit", |s| if s.unit.is_empty() { Datum::Null } else { Datum::text(s.unit) }),
    ("category", |s| Datum::text(s.category.as_str())),
    ("short_desc", |s| Datum::text(s.description.as_str())),
    ("context", |s| Datum::text(s.context)),
    ("vartype", |s| Datum::text(s.vartype)),
    ("source", |s| Datum::text(if s.changed { "session" } else { "default" })),
    ("min_val", |s| optional(s.bounds.as_ref().map(|bounds| bounds.0.as_str()))),
    ("max_val", |s| optional(s.bounds.as_ref().map(|bounds| bounds.1.as_str()))),
    ("enumvals", |s| if s.choices.is_empty() { Datum::Null } else { texts(s.choices.iter().map(String::as_str)) }),
    ("boot_val", |s| Datum::text(s.boot_value.as_str())),
    ("reset_val", |s| Datum::text(s.boot_value.as_str())),
    ("sourceline", |_| Datum::Null),
];

/// `pg_settings`.
pub(super) fn settings(scan: &VirtualScan<'_>, facts: &dyn SystemFacts) -> Rows {
    fill(scan, SETTINGS, sorted_settings(facts).into_iter())
}

fn time(micros: Option<i64>) -> Datum {
    micros.map_or(Datum::Null, Datum::Timestamptz)
}

static ACTIVITY: &[(&str, fn(&SessionFact) -> Datum)] = &[
    ("datid", |s| Datum::Oid(s.database_oid)),
    ("datname", |s| Datum::text(s.database.as_str())),
    ("pid", |s| Datum::Int4(s.pid)),
    ("leader_pid", |_| Datum::Null),
    ("usesysid", |_| Datum::Oid(OWNER_OID)),
    ("usename", |s| Datum::text(s.user.as_str())),
    ("application_name", |s| Datum::text(s.application_name.as_str())),
    ("client_addr", |s| optional(s.client_addr.as_deref())),
    ("client_port", |s| s.client_port.map_or(Datum::Null, Datum::Int4)),
    ("backend_start", |s| Datum::Timestamptz(s.backend_start)),
    ("xact_start", |s| time(s.xact_start)),
    ("query_start", |s| time(s.query_start)),
    ("state_change", |s| time(s.state_change)),
    ("wait_event_type", |s| optional(s.wait_event.as_ref().map(|event| event.0.as_str()))),
    ("wait_event", |s| optional(s.wait_event.as_ref().map(|event| event.1.as_str()))),
    ("state", |s| Datum::text(s.state.as_str())),
    ("backend_xid", |_| Datum::Null),
    ("backend_xmin", |_| Datum::Null),
    ("query_id", |_| Datum::Null),
    ("query", |s| Datum::text(s.query.as_str())),
    ("backend_type", |_| Datum::text("client backend")),
];

/// `pg_stat_activity`.
pub(super) fn activity(scan: &VirtualScan<'_>, _: &Catalog, facts: &dyn SystemFacts) -> Rows {
    let mut sessions = facts.sessions();
    sessions.sort_by_key(|session| session.pid);
    fill(scan, ACTIVITY, sessions.into_iter())
}

static PREPARED: &[(&str, fn(&PreparedFact) -> Datum)] = &[
    ("name", |p| Datum::text(p.name.as_str())),
    ("statement", |p| Datum::text(p.statement.as_str())),
    ("prepare_time", |p| Datum::Timestamptz(p.prepared_at)),
    ("parameter_types", |p| Datum::array(DataType::REGTYPE, p.parameter_types.iter().map(|oid| Datum::Oid(*oid)).collect())),
    ("from_sql", |p| Datum::Bool(p.from_sql)),
];

/// `pg_prepared_statements`.
pub(super) fn prepared_statements(scan: &VirtualScan<'_>, facts: &dyn SystemFacts) -> Rows {
    fill(scan, PREPARED, facts.prepared_statements().into_iter())
}

static CURSORS: &[(&str, fn(&CursorFact) -> Datum)] = &[
    ("name", |c| Datum::text(c.name.as_str())),
    ("statement", |c| Datum::text(c.statement.as_str())),
    ("is_holdable", |c| Datum::Bool(c.holdable)),
    ("is_binary", |c| Datum::Bool(c.binary)),
    ("is_scrollable", |c| Datum::Bool(c.scrollable)),
    ("creation_time", |c| Datum::Timestamptz(c.created_at)),
];

/// `pg_cursors`.
pub(super) fn cursors(scan: &VirtualScan<'_>, facts: &dyn SystemFacts) -> Rows {
    fill(scan, CURSORS, facts.cursors().into_iter())
}
