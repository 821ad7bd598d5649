//! Sequences: `nextval` and `setval`, which are not transactional, and what a session remembers of them.
//!
//! The current value is a key of its own in the store ([`store::sequence_key`]), so taking a number touches neither the descriptor nor a
//! transaction. A session keeps the numbers it took in advance (`CACHE n`), and the last one it gave out.

use super::ExecContext;
use crate::catalog::{Oid, SequenceDescriptor, store};
use crate::error::{SqlError, SqlState};
use hashbrown::HashMap;
use parking_lot::Mutex;
use std::time::Duration;
use tidelock_base::Key;
use tidelock_kvapi::{Isolation, KvError, LockStrength, Row, SequenceStep};
use tidelock_kvclient::{ReadOptions, TxnOptions};

/// Row ids that a session takes in advance for a table without a primary key.
const ROW_IDS_AHEAD: u32 = 64;

/// What a session remembers of sequences. The session owns it; its `currval` and `lastval` ask here.
#[derive(Debug, Default)]
pub struct SequenceMemory {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    current: HashMap<Oid, i64>,
    last: Option<Oid>,
    /// Numbers taken and not yet given out: next one, step, how many.
    ahead: HashMap<Key, (i64, i64, u32)>,
}

impl SequenceMemory {
    /// `currval(sequence)`.
    pub fn currval(&self, sequence: Oid, name: &str) -> Result<i64, SqlError> {
        self.inner.lock().current.get(&sequence).copied().ok_or_else(|| {
            let message = format!("currval of sequence \"{name}\" is not yet defined in this session");
            SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        })
    }

    /// `lastval()`.
    pub fn lastval(&self) -> Result<i64, SqlError> {
        let inner = self.inner.lock();
        let last = inner.last.and_then(|oid| inner.current.get(&oid).copied());
        last.ok_or_else(|| SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, "lastval is not yet defined in this session"))
    }

    /// DISCARD SEQUENCES.
    pub fn clear(&self) {
        *self.inner.lock() = Inner::default();
    }

    /// Forgets numbers taken in advance: the sequence was set to something else.
    pub(super) fn clear_ahead(&self, key: &Key) {
        self.inner.lock().ahead.remove(key);
    }

    fn take_ahead(&self, key: &Key) -> Option<i64> {
        let mut inner = self.inner.lock();
        let (next, step, left) = inner.ahead.get_mut(key)?;
        if *left == 0 {
            return None;
        }
        let value = *next;
        *left -= 1;
        *next = next.saturating_add(*step);
        Some(value)
    }

    fn keep_ahead(&self, key: Key, next: i64, step: i64, count: u32) {
        self.inner.lock().ahead.insert(key, (next, step, count));
    }

    fn gave(&self, sequence: Oid, value: i64) {
        let mut inner = self.inner.lock();
        inner.current.insert(sequence, value);
        inner.last = Some(sequence);
    }
}

/// A sequence's definition, by OID.
pub(crate) fn sequence_of<'c>(ctx: &'c ExecContext<'_>, oid: Oid) -> Result<(&'c str, &'c SequenceDescriptor), SqlError> {
    let table = ctx
        .catalog
        .table(oid)
        .ok_or_else(|| SqlError::new(SqlState::UNDEFINED_TABLE, format!("could not open relation with OID {oid}")))?;
    let definition = table
        .sequence
        .as_ref()
        .ok_or_else(|| SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not a sequence", table.name)))?;
    Ok((&table.name, definition))
}

/// `nextval`, `count` times in one request; the values in order.
pub(crate) async fn nextval(ctx: &mut ExecContext<'_>, oid: Oid, count: usize) -> Result<Vec<i64>, SqlError> {
    let (name, definition) = sequence_of(ctx, oid)?;
    let (name, definition) = (name.to_owned(), definition.clone());
    let key = store::sequence_key(definition.value_id);
    let mut values = Vec::with_capacity(count);
    while values.len() < count {
        if let Some(value) = ctx.sequences.take_ahead(&key) {
            values.push(value);
            continue;
        }
        let wanted = (count - values.len()).max(definition.cache.clamp(1, i64::from(u32::MAX)) as usize);
        let step = SequenceStep {
            start: definition.start,
            increment: definition.increment,
            min: definition.min,
            max: definition.max,
            cycle: definition.cycle,
            count: u32::try_from(wanted).unwrap_or(u32::MAX),
        };
        let (first, given) = match ctx.db.sequence_next(key.clone(), step).await {
            Ok(answer) => answer,
            Err(KvError::SequenceExhausted) => return Err(exhausted(&name, &definition)),
            Err(error) => return Err(ctx.kv(error)),
        };
        ctx.sequences.keep_ahead(key.clone(), first, definition.increment, given.max(1));
    }
    if let Some(last) = values.last() {
        ctx.sequences.gave(oid, *last);
    }
    Ok(values)
}

fn exhausted(name: &str, definition: &SequenceDescriptor) -> SqlError {
    let (end, bound) = if definition.increment > 0 { ("maximum", definition.max) } else { ("minimum", definition.min) };
    let message = format!("nextval: reached {end} value of sequence \"{name}\" ({bound})");
    SqlError::new(SqlState::SEQUENCE_GENERATOR_LIMIT_EXCEEDED, message)
}

/// `setval`.
pub(crate) async fn setval(ctx: &mut ExecContext<'_>, oid: Oid, value: i64, called: bool) -> Result<i64, SqlError> {
    let (name, definition) = sequence_of(ctx, oid)?;
    if value < definition.min || value > definition.max {
        let message = format!("setval: value {value} is out of bounds for sequence \"{name}\" ({}..{})", definition.min, definition.max);
        return Err(SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, message));
    }
    let key = store::sequence_key(definition.value_id);
    ctx.sequences.clear_ahead(&key);
    ctx.db.sequence_set(key, value, called).await.map_err(|e| ctx.kv(e))?;
    if called {
        ctx.sequences.gave(oid, value);
    }
    Ok(value)
}

/// The value a sequence stands at, and whether it was given out; what a session keeps in advance counts as given out.
pub(crate) async fn state(ctx: &mut ExecContext<'_>, oid: Oid) -> Result<(i64, bool), SqlError> {
    let (_, definition) = sequence_of(ctx, oid)?;
    let (start, key) = (definition.start, store::sequence_key(definition.value_id));
    let row = read_newest(ctx, key).await?;
    let Some((last, called)) = row.as_ref().and_then(|row| row.value.split_first_chunk::<8>()) else { return Ok((start, false)) };
    Ok((i64::from_le_bytes(*last), called.first() == Some(&1)))
}

/// How often a value that changes while it is read is read again, and how long is waited in between.
const READS_MAX: usize = 20;
const READ_PAUSE: Duration = Duration::from_millis(1);

/// What a key holds now. Sequences stand outside of transactions, so it is read by a transaction of its own, and locked, because a plain read may be
/// older.
async fn read_newest(ctx: &mut ExecContext<'_>, key: Key) -> Result<Option<Row>, SqlError> {
    let lock = ReadOptions { lock: Some(LockStrength::KeyShare), ..ReadOptions::default() };
    for attempt in 1..=READS_MAX {
        let options = TxnOptions { isolation: Isolation::Serializable, read_only: false, ..*ctx.txn.options() };
        let mut txn = ctx.db.begin(options);
        let read = txn.get_one(key.clone(), &lock).await;
        let ended = txn.rollback().await;
        match read.and_then(|row| ended.map(|()| row)).map_err(|e| ctx.kv(e)) {
            Err(error) if error.fields().retryable && attempt < READS_MAX => tokio::time::sleep(READ_PAUSE).await,
            settled => return settled,
        }
    }
    Ok(None)
}

/// Row ids for rows of a table without a primary key. Numbers taken in advance and lost leave gaps, which nobody sees.
pub(crate) async fn row_ids(ctx: &mut ExecContext<'_>, primary_index: u64, count: usize) -> Result<Vec<i64>, SqlError> {
    let key = store::row_id_key(primary_index);
    let mut ids = Vec::with_capacity(count);
    while ids.len() < count {
        if let Some(id) = ctx.sequences.take_ahead(&key) {
            ids.push(id);
            continue;
        }
        let wanted = u32::try_from(count - ids.len()).unwrap_or(u32::MAX).max(ROW_IDS_AHEAD);
        let step = store::counter_step(1, wanted);
        let (first, given) = ctx.db.sequence_next(key.clone(), step).await.map_err(|e| ctx.kv(e))?;
        ctx.sequences.keep_ahead(key.clone(), first, 1, given.max(1));
    }
    Ok(ids)
}
