//! What SQL may ask of the floors below it: counters, locks, waits, and the settings that can be changed while they run.

use std::sync::Arc;
use tidelock_kvclient::ClientMetrics;
use tidelock_kvserver::{KvSettings, Store};
use tidelock_sql::session::{HeldLock, LockWait, ServerHooks, settings::parse_bool};
use tidelock_storage::StorageMetrics;
use tidelock_wire::WireMetrics;

/// The server's answers.
pub struct Hooks {
    pub(crate) store: Arc<Store>,
    pub(crate) client: Arc<ClientMetrics>,
    pub(crate) wire: Arc<WireMetrics>,
}

/// A server-wide setting: its name, what it does, and how it is read and written.
struct ServerSetting {
    name: &'static str,
    description: &'static str,
    show: fn(&KvSettings) -> String,
    set: fn(&KvSettings, &str) -> Result<(), String>,
}

/// Smallest range size worth a split: less would cut faster than the size check looks.
const MIN_RANGE_BYTES: u64 = 64 * 1024;

static SERVER_SETTINGS: [ServerSetting; 4] = [
    ServerSetting {
        name: "kv.range.max_bytes",
        description: "A larger range is split.",
        show: |settings| settings.range_bytes().to_string(),
        set: |settings, value| {
            let bytes = number(value)?;
            if bytes < MIN_RANGE_BYTES {
                return Err(format!("{bytes} is below the minimum of {MIN_RANGE_BYTES}"));
            }
            settings.set_range_bytes(bytes);
            Ok(())
        },
    },
    ServerSetting {
        name: "kv.resolver.batch_ranged",
        description: "Ranged resolutions share batches with points; off sends each alone.",
        show: |settings| on_off(settings.batch_ranged()),
        set: |settings, value| boolean(value).map(|on| settings.set_batch_ranged(on)),
    },
    ServerSetting {
        name: "kv.resolver.inline",
        description: "Commits resolve their own intents; off leaves all to the resolver.",
        show: |settings| on_off(settings.inline()),
        set: |settings, value| boolean(value).map(|on| settings.set_inline(on)),
    },
    ServerSetting {
        name: "kv.resolver.inline_limit",
        description: "Intents that a commit resolves itself; the rest is the resolver's.",
        show: |settings| settings.inline_limit().to_string(),
        set: |settings, value| number(value).map(|limit| settings.set_inline_limit(limit)),
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

fn setting(name: &str) -> Option<&'static ServerSetting> {
    SERVER_SETTINGS.iter().find(|setting| setting.name == name)
}

impl ServerHooks for Hooks {
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
        setting(name).map(|setting| (setting.show)(&self.store.settings))
    }

    fn set_server_setting(&self, name: &str, value: &str) -> Result<(), String> {
        let setting = setting(name).ok_or_else(|| format!("there is no server setting \"{name}\""))?;
        (setting.set)(&self.store.settings, value)
    }

    fn server_settings(&self) -> Vec<(&'static str, &'static str)> {
        SERVER_SETTINGS.iter().map(|setting| (setting.name, setting.description)).collect()
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
        let waits = self.store.waits().into_iter();
        waits
            .map(|wait| LockWait {
                key: wait.key,
                session: wait.session,
                strength: wait.strength,
                blockers: wait.blockers,
                waited_ms: wait.waited.as_millis() as u64,
            })
            .collect()
    }
}

fn storage_metrics(metrics: &StorageMetrics) -> [(&'static str, f64); 20] {
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
        ("storage.base_reads", whole(metrics.base_reads)),
        ("storage.base_cache_bytes", whole(metrics.base_cache_bytes)),
        ("storage.base_file_bytes", whole(metrics.base_file_bytes)),
        ("storage.pins", whole(metrics.pins)),
        ("storage.oldest_pin_ms", whole(metrics.oldest_pin_ms)),
    ]
}
