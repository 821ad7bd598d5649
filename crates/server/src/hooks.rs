//! What SQL may ask of the floors below it: counters, locks, waits, and the settings that can be changed while they run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use tidelock_base::SessionId;
use tidelock_kvapi::WaitGraph;
use tidelock_kvclient::ClientMetrics;
use tidelock_kvserver::{KvSettings, NUMBERS, Store, WaitInfo};
use tidelock_sql::session::{HeldLock, LockWait, ServerHooks, settings::parse_bool};
use tidelock_storage::StorageMetrics;
use tidelock_wire::WireMetrics;

/// The server's answers.
pub struct Hooks {
    pub(crate) store: Arc<Store>,
    pub(crate) client: Arc<ClientMetrics>,
    pub(crate) wire: Arc<WireMetrics>,
    pub(crate) spill_dir: PathBuf,
}

/// A server-wide switch: its name, what it does, and how it is read and written. (The numbers have a table of their own.)
struct Switch {
    name: &'static str,
    description: &'static str,
    show: fn(&KvSettings) -> bool,
    set: fn(&KvSettings, bool),
}

static SWITCHES: [Switch; 2] = [
    Switch {
        name: "kv.resolver.batch_ranged",
        description: "Ranged resolutions share batches with points; off sends each alone.",
        show: KvSettings::batch_ranged,
        set: KvSettings::set_batch_ranged,
    },
    Switch {
        name: "kv.resolver.inline",
        description: "Commits resolve their own intents; off leaves all to the resolver.",
        show: KvSettings::inline,
        set: KvSettings::set_inline,
    },
];

fn on_off(on: bool) -> String {
    if on { "on" } else { "off" }.to_owned()
}

fn boolean(value: &str) -> Result<bool, String> {
    parse_bool(value).ok_or_else(|| format!("\"{value}\" is neither on nor off"))
}

fn number(value: &str) -> Result<u64, String> {
    value.trim().parse().map_err(|_| format!("\"{value}\" is not a whole number"))
}

fn switch(name: &str) -> Option<&'static Switch> {
    SWITCHES.iter().find(|switch| switch.name == name)
}

impl ServerHooks for Hooks {
    fn spill_dir(&self) -> &Path {
        &self.spill_dir
    }

    fn metrics(&self) -> Vec<(String, f64)> {
        let mut all: Vec<(String, f64)> = Vec::new();
        let store = self.store.metrics.snapshot().into_iter();
        all.extend(store.map(|(name, value)| (name, value as f64)));
        all.push(("kv.live_transactions".to_owned(), self.store.live_transactions() as f64));
        let resolver = self.store.resolver().map(|resolver| resolver.metrics().snapshot()).unwrap_or_default();
        let counters = resolver.into_iter().chain(self.client.snapshot()).chain(self.wire.snapshot());
        all.extend(counters.map(|(name, value)| (name.to_owned(), value as f64)));
        let storage = storage_metrics(&self.store.storage().metrics());
        all.extend(storage.map(|(name, value)| (name.to_owned(), value)));
        all
    }

    fn server_setting(&self, name: &str) -> Option<String> {
        let settings = &self.store.settings;
        if let Some(switch) = switch(name) {
            return Some(on_off((switch.show)(settings)));
        }
        let known = NUMBERS.iter().find(|known| known.name == name)?;
        Some(settings.number(known.number).to_string())
    }

    fn set_server_setting(&self, name: &str, value: &str) -> Result<(), String> {
        let settings = &self.store.settings;
        if let Some(switch) = switch(name) {
            return boolean(value).map(|on| (switch.set)(settings, on));
        }
        let known = NUMBERS.iter().find(|known| known.name == name);
        let known = known.ok_or_else(|| format!("there is no server setting \"{name}\""))?;
        settings.set_number(known.number, number(value)?)
    }

    fn server_settings(&self) -> Vec<(&'static str, &'static str)> {
        let switches = SWITCHES.iter().map(|switch| (switch.name, switch.description));
        let mut all: Vec<_> = switches.chain(NUMBERS.iter().map(|number| (number.name, number.description))).collect();
        all.sort_unstable();
        all
    }

    fn wait_graph(&self) -> Option<Arc<dyn WaitGraph>> {
        Some(self.store.wait_graph())
    }

    fn locks(&self) -> Vec<HeldLock> {
        let locks = self.store.locks().into_iter();
        locks
            .map(|lock| HeldLock {
                key: lock.key,
                range: lock.range.0,
                session: lock.session,
                txn: lock.txn.0,
                strength: lock.strength,
                wrote: lock.wrote,
            })
            .collect()
    }

    fn waits(&self) -> Vec<LockWait> {
        self.store.waits().into_iter().map(lock_wait).collect()
    }

    fn wait_of(&self, session: SessionId) -> Option<LockWait> {
        self.store.wait_of(session).map(lock_wait)
    }
}

fn lock_wait(wait: WaitInfo) -> LockWait {
    LockWait {
        key: wait.key,
        session: wait.session,
        strength: wait.strength,
        blockers: wait.blockers,
        waited_ms: wait.waited.as_millis() as u64,
    }
}

fn storage_metrics(metrics: &StorageMetrics) -> [(&'static str, f64); 23] {
    let whole = |value: u64| value as f64;
    [
        ("storage.commits", whole(metrics.commits)),
        ("storage.log_records", whole(metrics.log_records)),
        ("storage.log_bytes", whole(metrics.log_bytes)),
        ("storage.log_syncs", whole(metrics.log_syncs)),
        ("storage.log_inline_syncs", whole(metrics.log_inline_syncs)),
        ("storage.commits_per_sync", metrics.commits_per_sync),
        ("storage.log_size_bytes", whole(metrics.log_size_bytes)),
        ("storage.uninstalled_commits", whole(metrics.uninstalled_commits)),
        ("storage.memtable_bytes", whole(metrics.memtable_bytes)),
        ("storage.frozen_memtables", whole(metrics.frozen_memtables)),
        ("storage.fold_passes", whole(metrics.fold_passes)),
        ("storage.fold_slices", whole(metrics.fold_slices)),
        ("storage.folded_rows", whole(metrics.folded_rows)),
        ("storage.fold_ms", whole(metrics.fold_ms)),
        ("storage.history_rows", whole(metrics.history_rows)),
        ("storage.spilled_transactions", whole(metrics.spilled_transactions)),
        ("storage.spilled_rows", whole(metrics.spilled_rows)),
        ("storage.spilled_rows_moved", whole(metrics.spilled_rows_moved)),
        ("storage.base_reads", whole(metrics.base_reads)),
        ("storage.base_cache_bytes", whole(metrics.base_cache_bytes)),
        ("storage.base_file_bytes", whole(metrics.base_file_bytes)),
        ("storage.pins", whole(metrics.pins)),
        ("storage.oldest_pin_ms", whole(metrics.oldest_pin_ms)),
    ]
}
