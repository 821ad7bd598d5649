//! Keys, transactions and errors as scripts write them.

use std::collections::BTreeMap;
use tidelock_base::{IndexId, Key, Span, TxnId};
use tidelock_kvapi::{KvError, WaitTarget};

/// The index that scripts write to.
pub(crate) const INDEX: IndexId = IndexId(100);

/// `k` as a key.
pub(crate) fn key(text: &str) -> Key {
    let mut key = Key::index_start(INDEX);
    key.extend(text.as_bytes());
    key
}

/// `a-z` as a span.
pub(crate) fn span(text: &str) -> Result<Span, &'static str> {
    let (start, end) = text.split_once('-').ok_or("a span is start-end")?;
    Ok(Span::new(key(start), key(end)))
}

/// The key of row `n` of a bulk write.
pub(crate) fn numbered(prefix: &str, n: u64) -> Key {
    key(&format!("{prefix}{n:06}"))
}

pub(crate) fn show_key(key: &Key) -> String {
    match key.strip_prefix(&*Key::index_start(INDEX)) {
        Some(text) => String::from_utf8_lossy(text).into_owned(),
        None => "outside".into(),
    }
}

pub(crate) fn show_error(error: &KvError, names: &BTreeMap<TxnId, String>) -> String {
    let name = |id: &TxnId| names.get(id).cloned().unwrap_or_else(|| "?".into());
    match error {
        KvError::Deadlock(report) => {
            let edges = report.cycle.iter().map(|edge| {
                let target = match &edge.target {
                    WaitTarget::Row { key, strength } => format!("{} {strength}", show_key(key)),
                    WaitTarget::Above(what) => what.to_string(),
                };
                format!("{} waits for {target} held by {}", name(&edge.waiter), name(&edge.holder))
            });
            format!("deadlock, {} gives up: {}\n", name(&report.victim), edges.collect::<Vec<_>>().join("; "))
        }
        KvError::LockNotAvailable { key } => format!("{} is locked\n", show_key(key)),
        KvError::WriteTooOld { key, .. } => format!("{} was changed since it was read\n", show_key(key)),
        KvError::ReadChanged { key, .. } => format!("{} was changed after it was read\n", show_key(key)),
        KvError::TooManyWaiters { key, waiters } => format!("too many wait for {}: {waiters}\n", show_key(key)),
        KvError::TxnAborted { txn } => format!("{} is aborted\n", name(txn)),
        other => format!("{other}\n"),
    }
}
