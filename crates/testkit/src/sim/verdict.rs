//! When all clients are through: is everything cleaned up, does the history hold, and does a restart show the same?

use super::client::{ACCOUNTS, LISTS, account, list, torn};
use super::node::World;
use super::{Shared, lock};
use crate::history::{Level, check};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tidelock_base::{IndexId, Span};
use tidelock_kvapi::{Isolation, KvError};
use tidelock_kvclient::{ReadOptions, ScanOptions, TxnOptions};

/// Virtual seconds in which everything must be cleaned up.
const CLEAN_UP_SECONDS: u64 = 120;

pub(crate) async fn verdict(world: &Arc<World>, shared: &Arc<Shared>, level: Level) -> Result<(), String> {
    if let Some(story) = lock(&shared.wrong).take() {
        return Err(story);
    }
    everything_is_cleaned_up(world).await?;
    let before = contents(world).await?;
    check_history(shared, &before, level)?;
    world.crash().await?;
    let after = contents(world).await?;
    if before != after {
        return Err(format!("after the last restart there is {after:?} instead of {before:?}"));
    }
    everything_is_cleaned_up(world).await
}

async fn everything_is_cleaned_up(world: &Arc<World>) -> Result<(), String> {
    let node = world.node();
    for _ in 0..CLEAN_UP_SECONDS * 10 {
        let (locks, records) = (node.store.locks().len(), node.store.live_transactions());
        if locks == 0 && records == 0 && node.store.storage().metrics().spilled_transactions == 0 {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let (locks, waits, spilled) = (node.store.locks(), node.store.waits(), node.store.storage().metrics().spilled_transactions);
    Err(format!("after {CLEAN_UP_SECONDS} s there are still {locks:?}, waits {waits:?}, {spilled} spilled transactions"))
}

fn check_history(shared: &Arc<Shared>, last: &Contents, level: Level) -> Result<(), String> {
    let history = lock(&shared.history);
    check(&history, &last.lists, level).map_err(|anomaly| anomaly.to_string())
}

/// What is stored when all is quiet.
#[derive(Debug, PartialEq, Eq)]
struct Contents {
    lists: BTreeMap<u32, Vec<u64>>,
    accounts: Vec<u64>,
    fillers: usize,
}

async fn contents(world: &Arc<World>) -> Result<Contents, String> {
    read_contents(world).await.map_err(|error| format!("reading what is there at the end: {error}"))?
}

async fn read_contents(world: &Arc<World>) -> Result<Result<Contents, String>, KvError> {
    let mut txn = world.db.begin(TxnOptions { isolation: Isolation::RepeatableRead, ..TxnOptions::default() });
    txn.step();
    let mut contents = Contents { lists: BTreeMap::new(), accounts: Vec::new(), fillers: 0 };
    let numbers = |row: tidelock_kvapi::Row| -> Vec<u64> {
        row.value.chunks_exact(8).filter_map(|chunk| chunk.first_chunk()).map(|bytes| u64::from_le_bytes(*bytes)).collect()
    };
    for number in 0..LISTS {
        let row = txn.get_one(list(number), &ReadOptions::default()).await?;
        contents.lists.insert(number, row.map(numbers).unwrap_or_default());
    }
    for number in 0..ACCOUNTS {
        let row = txn.get_one(account(number), &ReadOptions::default()).await?;
        contents.accounts.extend(row.map(numbers).unwrap_or_default());
    }
    let page = txn.scan(Span::index(IndexId(102)), &ScanOptions::default()).await?;
    contents.fillers = page.rows.len();
    Ok(match torn(&page.rows) {
        Some(story) => Err(format!("at the end: {story}")),
        None => Ok(contents),
    })
}
