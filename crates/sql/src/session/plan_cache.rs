//! The plan cache, shared by all sessions.
//!
//! Its key is the database, a statement's text (literals lifted out, where that is safe), the types of its parameters, and the settings
//! that change plans; an entry also says which version of the catalog it was planned against, and an entry of another version
//! is planned anew. TPC-C over the simple protocol, with a literal in every place, so needs no parse per statement.
//!
//! Bounded by [`MAX_ENTRIES`]: when full, the entries that were not used since the last such moment go.

use crate::ast::ParsedStatement;
use crate::catalog::{Catalog, Oid};
use crate::plan::StatementPlan;
use crate::types::DataType;
use hashbrown::{DefaultHashBuilder, HashMap};
use parking_lot::RwLock;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Plans kept. A plan is a few kilobytes.
pub const MAX_ENTRIES: usize = 8192;

/// A statement, parsed and, if it is of a kind that is planned, planned.
#[derive(Debug)]
pub struct CachedStatement {
    /// The text it was parsed from.
    pub text: Arc<str>,
    /// The statement.
    pub parsed: ParsedStatement,
    /// Parameter types as declared by the client, or given by the literals.
    pub declared: Vec<DataType>,
    /// Fingerprint of the settings.
    pub fingerprint: u64,
    /// The plan; `None` for utility statements.
    pub plan: Option<Arc<StatementPlan>>,
    /// The database whose catalog it was planned against.
    database: Oid,
    /// That catalog's version.
    pub catalog_version: u64,
    used: AtomicBool,
}

impl CachedStatement {
    /// A fresh entry.
    pub fn new(
        text: Arc<str>,
        parsed: ParsedStatement,
        declared: Vec<DataType>,
        fingerprint: u64,
        plan: Option<Arc<StatementPlan>>,
        catalog: &Catalog,
    ) -> CachedStatement {
        let (database, catalog_version) = (catalog.database_oid(), catalog.version());
        CachedStatement { text, parsed, declared, fingerprint, plan, database, catalog_version, used: AtomicBool::new(true) }
    }
}

/// Plans by text.
#[derive(Debug, Default)]
pub struct PlanCache {
    entries: RwLock<HashMap<u64, Arc<CachedStatement>>>,
    hasher: DefaultHashBuilder,
    hits: AtomicU64,
    misses: AtomicU64,
}

impl PlanCache {
    /// The entry for a text, if it is still good.
    pub fn get(&self, text: &str, declared: &[DataType], fingerprint: u64, catalog: &Catalog) -> Option<Arc<CachedStatement>> {
        let hash = self.hash(text, declared, fingerprint, catalog.database_oid());
        let entry = self.entries.read().get(&hash).cloned();
        let fresh = entry.filter(|entry| {
            entry.catalog_version == catalog.version()
                && entry.database == catalog.database_oid()
                && entry.fingerprint == fingerprint
                && entry.declared == declared
                && *entry.text == *text
        });
        match &fresh {
            Some(entry) => {
                entry.used.store(true, Ordering::Relaxed);
                self.hits.fetch_add(1, Ordering::Relaxed);
            }
            None => {
                self.misses.fetch_add(1, Ordering::Relaxed);
            }
        }
        fresh
    }

    /// Keeps an entry, in the place of an older one for the same text.
    pub fn put(&self, entry: Arc<CachedStatement>) {
        let hash = self.hash(&entry.text, &entry.declared, entry.fingerprint, entry.database);
        let mut entries = self.entries.write();
        if entries.len() >= MAX_ENTRIES {
            entries.retain(|_, entry| entry.used.swap(false, Ordering::Relaxed));
            if entries.len() >= MAX_ENTRIES {
                entries.clear();
            }
        }
        entries.insert(hash, entry);
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.entries.write().clear();
    }

    /// Names and values, for the metrics view.
    pub fn metrics(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("sql.plan_cache.hits", self.hits.load(Ordering::Relaxed)),
            ("sql.plan_cache.misses", self.misses.load(Ordering::Relaxed)),
            ("sql.plan_cache.entries", self.entries.read().len() as u64),
        ]
    }

    fn hash(&self, text: &str, declared: &[DataType], fingerprint: u64, database: Oid) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        text.hash(&mut hasher);
        declared.hash(&mut hasher);
        (fingerprint ^ u64::from(database).rotate_left(32)).hash(&mut hasher);
        hasher.finish()
    }
}
