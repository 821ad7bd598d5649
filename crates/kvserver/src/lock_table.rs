//! The lock table of one range: who holds which row, who waits, and what is provisionally written.
//!
//! ```text
//!   key            holders                      intent                waiters (first come, first served)
//!   -----------    -------------------------    ------------------    ----------------------------------
//!   stock/1/77     t9: for no key update        t9: 3 -> v1, 5 -> v2  t11: for no key update, t12: for update
//!   warehouse/1    t9: for key share,           -                     -
//!                  t10: for key share
//! ```
//!
//! An UPDATE passes here twice: its scan calls [`LockTable::acquire`], its write [`LockTable::put_intent`]. An intent is a
//! chain of (sequence number, value), so that a savepoint can drop the newest. The commit touches nothing here: it flips the
//! transaction's record, and whoever meets a holder whose record is finished settles the key on the spot
//! ([`LockTable::take_finished`]).  The resolver does the same for keys that nobody meets.
//!
//! Invariants:
//! - no two holders of a key conflict, unless one of them is finished;
//! - an intent's owner is among the holders;
//! - a holder whose transaction has spilled it is here only as a copy, while somebody waits for it or asks;
//! - a waiter is granted only when neither a holder nor a waiter *ahead of it* conflicts, so nobody is overtaken; only a
//!   transaction that already holds a lock on the key may strengthen it past the queue;
//! - a key without holders and waiters has no entry.
//!
//! This is a pure state machine: no waiting, no clock, no storage. Who is to be woken, and which values became committed,
//! is returned to the caller.

use crate::deadlock::Wait;
use crate::spill::{strength_of, tag_of};
use crate::txn_record::TxnRecord;
use smallvec::{SmallVec, smallvec};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;
use tidelock_base::{Key, Span, Timestamp, TxnId, Value};
use tidelock_kvapi::{LockStrength, TxnStatus, WaitTarget};
use tidelock_storage::{SpillRow, SpilledVersion};

/// Names a place in a queue; unique in a store, so that it survives the move to another range at a split.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WaiterId(pub u64);

/// Waiters who may try again.
pub type Ready = SmallVec<[WaiterId; 2]>;

/// The answer to [`LockTable::acquire`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Acquired {
    /// It holds the lock; `before` is what it held already.
    Granted {
        /// The strength it held before.
        before: Option<LockStrength>,
        /// It went past the queue by strengthening: those who wait have one more to wait for.
        overtook: bool,
    },
    /// Somebody is in the way.
    Blocked,
}

/// A finished transaction's hold on a key, taken out of the table.
#[derive(Debug)]
pub struct Finished {
    /// The transaction.
    pub record: Arc<TxnRecord>,
    /// The value that it committed here, if it wrote.
    pub committed: Option<(Timestamp, Option<Value>)>,
}

/// An intent that a reader must see: its own, or one that is committed and not yet resolved.
#[derive(Clone, Debug)]
pub struct Overlay {
    /// The key.
    pub key: Key,
    /// Commit timestamp; [`Timestamp::MAX`] for the reader's own.
    pub ts: Timestamp,
    /// The value; `None` is a delete.
    pub value: Option<Value>,
}

/// Somebody who waits for a key, with those in the way.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// The transaction.
    pub record: Arc<TxnRecord>,
    /// The lock it wants.
    pub strength: LockStrength,
    /// Conflicting holders, and conflicting waiters ahead of it.
    pub blockers: Vec<Arc<TxnRecord>>,
}

impl Waiting {
    /// As the waits-for graph has it.
    pub fn wait(&self, key: &Key) -> Wait {
        Wait {
            session: self.record.session,
            target: WaitTarget::Row { key: key.clone(), strength: self.strength },
            blockers: self.blockers.iter().map(|blocker| (blocker.id, blocker.session)).collect(),
        }
    }
}

/// What a lock costs in memory besides its key: the entry, its place in a tree node, its holder.
const LOCK_BYTES: usize = 200;

/// What an intent costs besides key and value: its place in the chain, the value's allocation, and its entry for the log.
const INTENT_BYTES: usize = 180;

#[derive(Debug)]
struct Holder {
    record: Arc<TxnRecord>,
    /// All of this, and of the intent, is also in storage ([`crate::spill`]).
    copy: bool,
    /// Strengthening steps with the sequence number of each; the last is what is held.
    grants: SmallVec<[(u32, LockStrength); 1]>,
}

impl Holder {
    fn strength(&self) -> LockStrength {
        self.grants.last().map_or(LockStrength::KeyShare, |(_, strength)| *strength)
    }
}

#[derive(Debug)]
struct Intent {
    record: Arc<TxnRecord>,
    versions: SmallVec<[(u32, Option<Value>); 1]>,
}

impl Intent {
    fn newest(&self) -> Option<Value> {
        self.versions.last().and_then(|(_, value)| value.clone())
    }
}

#[derive(Debug)]
struct Waiter {
    id: WaiterId,
    record: Arc<TxnRecord>,
    strength: LockStrength,
}

#[derive(Debug, Default)]
struct KeyState {
    holders: SmallVec<[Holder; 1]>,
    intent: Option<Intent>,
    #[allow(clippy::box_collection, reason = "most keys have no waiters: a word for them instead of four")]
    waiters: Option<Box<VecDeque<Waiter>>>,
}

/// The locks of one range.
#[derive(Debug, Default)]
pub struct LockTable {
    keys: BTreeMap<Key, KeyState>,
    /// Transactions that had ended when the last thing held for them here, a copy, went: nobody else would come to forget them.
    unheld: Vec<Arc<TxnRecord>>,
}

impl LockTable {
    /// Keys that are locked or waited for.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Nothing locked?
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Is there a finished transaction to be taken off?
    pub fn has_finished(&self, key: &Key) -> bool {
        let holders = self.keys.get(key).into_iter().flat_map(|state| &state.holders);
        holders.into_iter().any(|h| h.record.status() != TxnStatus::Pending)
    }

    /// Takes finished transactions off a key. The caller installs what they committed, then lets their records go.
    pub fn take_finished(&mut self, key: &Key) -> SmallVec<[Finished; 1]> {
        let mut finished = SmallVec::new();
        let Some(state) = self.keys.get_mut(key) else { return finished };
        while let Some(at) = state.holders.iter().position(|h| h.record.status() != TxnStatus::Pending) {
            let record = state.holders.remove(at).record;
            finished.push(state.finish(record));
        }
        if !finished.is_empty() {
            self.tidy(key);
        }
        finished
    }

    /// Asks for a lock. Finished holders must have been taken off before. `waiter` is the asker's place in the queue, if it
    /// has one; it is given up when the lock is granted.
    pub fn acquire(
        &mut self,
        key: &Key,
        record: &Arc<TxnRecord>,
        strength: LockStrength,
        sequence: u32,
        waiter: Option<WaiterId>,
    ) -> Acquired {
        if !self.keys.contains_key(key) {
            let holder = Holder { record: Arc::clone(record), copy: false, grants: smallvec![(sequence, strength)] };
            record.hold();
            record.add_memory(LOCK_BYTES + key.len());
            self.keys.insert(key.clone(), KeyState { holders: smallvec![holder], ..KeyState::default() });
            return Acquired::Granted { before: None, overtook: false };
        }
        let Some(state) = self.keys.get_mut(key) else { return Acquired::Blocked };
        let before = state.holders.iter().find(|h| h.record.id == record.id).map(Holder::strength);
        if before.is_some_and(|held| held >= strength) {
            return Acquired::Granted { before, overtook: false };
        }
        if state.is_blocked(record.id, strength, before.is_some(), waiter) {
            return Acquired::Blocked;
        }
        state.grant(record, strength, sequence);
        state.drop_waiter(waiter);
        Acquired::Granted { before, overtook: before.is_some() && state.waiters.is_some() }
    }

    /// What a transaction holds on a key.
    pub fn held(&self, key: &Key, txn: TxnId) -> Option<LockStrength> {
        self.keys.get(key)?.holders.iter().find(|h| h.record.id == txn).map(Holder::strength)
    }

    /// Queues up behind all that wait already, and says how many those are.
    pub fn enqueue(&mut self, key: &Key, id: WaiterId, record: &Arc<TxnRecord>, strength: LockStrength) -> usize {
        let state = self.keys.entry(key.clone()).or_default();
        state.holders.iter().for_each(|holder| holder.record.note_waiter());
        let queue = state.waiters.get_or_insert_default();
        queue.push_back(Waiter { id, record: Arc::clone(record), strength });
        queue.len() - 1
    }

    /// How many wait for a key.
    pub fn queue_len(&self, key: &Key) -> usize {
        self.keys.get(key).and_then(|state| state.waiters.as_ref()).map_or(0, |queue| queue.len())
    }

    /// Gives a place in the queue up. Those behind may become ready; they begin at the place that is told.
    pub fn leave(&mut self, key: &Key, waiter: WaiterId) -> (Ready, usize) {
        let Some(state) = self.keys.get_mut(key) else { return (Ready::new(), 0) };
        let mut place = 0;
        if let Some(queue) = state.waiters.as_mut() {
            place = queue.iter().position(|w| w.id == waiter).unwrap_or(queue.len());
            queue.remove(place);
            if queue.is_empty() {
                state.waiters = None;
            }
        }
        state.drop_copies(&mut self.unheld);
        let ready = state.ready();
        self.tidy(key);
        (ready, place)
    }

    /// Who may try again now.
    pub fn ready(&self, key: &Key) -> Ready {
        self.keys.get(key).map(KeyState::ready).unwrap_or_default()
    }

    /// Whom a waiter waits for: conflicting holders, and conflicting waiters ahead of it. The walk forward in the queue stops
    /// at the first waiter that is at least as strong: conflict sets grow with strength, so that one waits for all the rest.
    pub fn blockers(&self, key: &Key, waiter: WaiterId) -> Vec<Arc<TxnRecord>> {
        let Some(state) = self.keys.get(key) else { return Vec::new() };
        let Some(queue) = &state.waiters else { return Vec::new() };
        let place = queue.iter().position(|w| w.id == waiter);
        place.map_or_else(Vec::new, |place| state.blockers_at(place))
    }

    /// The queue of a key, each with whom it waits for.
    pub fn waiting(&self, key: &Key) -> Vec<Waiting> {
        let Some(state) = self.keys.get(key) else { return Vec::new() };
        (0..state.waiters.as_ref().map_or(0, |queue| queue.len())).filter_map(|place| state.waiting_at(place)).collect()
    }

    /// Those who may have waited for somebody that stood at a place and is gone: from there on, up to where a walk forward would have stopped before it.
    pub fn waiting_behind(&self, key: &Key, place: usize) -> Vec<Waiting> {
        let Some(state) = self.keys.get(key) else { return Vec::new() };
        let Some(queue) = &state.waiters else { return Vec::new() };
        let mut affected = Vec::new();
        let mut walls: SmallVec<[LockStrength; 4]> = SmallVec::new();
        for (at, waiter) in queue.iter().enumerate().skip(place) {
            if !walls.iter().any(|wall| *wall >= waiter.strength && wall.conflicts_with(waiter.strength)) {
                affected.extend(state.waiting_at(at));
            }
            if !walls.contains(&waiter.strength) {
                walls.push(waiter.strength);
            }
        }
        affected
    }

    /// Leaves a provisional value. The lock must be held.
    pub fn put_intent(&mut self, key: &Key, record: &Arc<TxnRecord>, sequence: u32, value: Option<Value>) {
        let Some(state) = self.keys.get_mut(key) else {
            debug_assert!(false, "an intent without a lock");
            return;
        };
        let intent = state.intent.get_or_insert_with(|| Intent { record: Arc::clone(record), versions: SmallVec::new() });
        debug_assert_eq!(intent.record.id, record.id, "two transactions write one key");
        record.add_memory(INTENT_BYTES + key.len() + value.as_ref().map_or(0, |value| value.len()));
        if let Some(holder) = state.holders.iter_mut().find(|h| h.record.id == record.id) {
            holder.copy = false;
        }
        match intent.versions.last_mut() {
            Some((last, newest)) if *last == sequence => *newest = value,
            _ => intent.versions.push((sequence, value)),
        }
    }

    /// What a reader must see here instead of the stored versions.
    pub fn visible(&self, key: &Key, reader: Option<TxnId>, at: Timestamp) -> Option<Overlay> {
        let (key, state) = self.keys.get_key_value(key)?;
        state.visible(key, reader, at)
    }

    /// The same for a span, in key order.
    pub fn visible_in(&self, span: &Span, reader: Option<TxnId>, at: Timestamp) -> Vec<Overlay> {
        if self.keys.is_empty() {
            return Vec::new();
        }
        self.keys
            .range::<Key, _>((Bound::Included(&span.start), Bound::Excluded(&span.end)))
            .filter_map(|(key, state)| state.visible(key, reader, at))
            .collect()
    }

    /// Takes one transaction's hold off a key, finished or not.
    pub fn release(&mut self, key: &Key, txn: TxnId) -> Option<Finished> {
        let state = self.keys.get_mut(key)?;
        let at = state.holders.iter().position(|h| h.record.id == txn)?;
        let record = state.holders.remove(at).record;
        let finished = state.finish(record);
        self.tidy(key);
        Some(finished)
    }

    /// The keys of a span on which a transaction holds a lock; at most `limit`, and where to go on.
    pub fn held_in(&self, span: &Span, txn: TxnId, limit: usize) -> (Vec<Key>, Option<Span>) {
        let mut keys = Vec::new();
        if span.is_empty() {
            return (keys, None);
        }
        for (key, state) in self.keys.range::<Key, _>((Bound::Included(&span.start), Bound::Excluded(&span.end))) {
            if state.holders.iter().any(|h| h.record.id == txn) {
                if keys.len() == limit {
                    return (keys, Some(Span::new(key.clone(), span.end.clone())));
                }
                keys.push(key.clone());
            }
        }
        (keys, None)
    }

    /// Takes back what a transaction did to a key after `sequence`.
    pub fn rollback_to(&mut self, key: &Key, txn: TxnId, sequence: u32) -> Ready {
        let Some(state) = self.keys.get_mut(key) else { return Ready::new() };
        if let Some(intent) = state.intent.as_mut().filter(|intent| intent.record.id == txn) {
            intent.versions.retain(|(written, _)| *written <= sequence);
            if intent.versions.is_empty() {
                state.intent = None;
            }
        }
        if let Some(at) = state.holders.iter().position(|h| h.record.id == txn) {
            state.holders[at].grants.retain(|(granted, _)| *granted <= sequence);
            if state.holders[at].grants.is_empty() {
                state.holders.remove(at).record.let_go();
            }
        }
        let ready = state.ready();
        self.tidy(key);
        ready
    }

    /// What a transaction holds from a key on, copies left out; looks at `limit` keys, and says where to go on.
    pub fn rows_to_spill(&self, txn: TxnId, start: &Key, limit: usize, rows: &mut Vec<SpillRow>) -> Option<Key> {
        for (looked_at, (key, state)) in self.keys.range::<Key, _>(start..).enumerate() {
            if looked_at == limit {
                return Some(key.clone());
            }
            state.rows_to_spill(key, txn, rows);
        }
        None
    }

    /// What a transaction holds on a key is in storage now: it goes, or stays as a copy for those who wait for it.
    pub fn forget_spilled(&mut self, key: &Key, txn: TxnId) {
        let Some(state) = self.keys.get_mut(key) else { return };
        if let Some(holder) = state.holders.iter_mut().find(|h| h.record.id == txn) {
            holder.copy = true;
            holder.record.note_brought_back();
        }
        self.drop_copies(key);
    }

    /// Puts what storage knows of a transaction's hold on a key back into the table: `versions`, newest first.
    pub fn bring_back(&mut self, key: &Key, record: &Arc<TxnRecord>, versions: &[SpilledVersion]) {
        let state = self.keys.entry(key.clone()).or_default();
        let mut grants: SmallVec<[(u32, LockStrength); 1]> = SmallVec::new();
        let mut written: SmallVec<[(u32, Option<Value>); 1]> = SmallVec::new();
        for version in versions.iter().rev() {
            let strength = strength_of(version.tag);
            if grants.last().is_none_or(|(_, held)| *held < strength) {
                grants.push((version.sequence, strength));
            }
            written.extend(version.change.clone().map(|value| (version.sequence, value)));
        }
        let bytes: usize = written.iter().map(|(_, value)| INTENT_BYTES + value.as_ref().map_or(0, |value| value.len())).sum();
        record.add_memory(LOCK_BYTES + key.len() + bytes);
        record.hold();
        record.note_brought_back();
        state.holders.push(Holder { record: Arc::clone(record), copy: true, grants });
        if !written.is_empty() {
            debug_assert!(state.intent.is_none(), "two transactions write one key");
            state.intent = Some(Intent { record: Arc::clone(record), versions: written });
        }
    }

    /// Has the table let go of an ended transaction that nobody has forgotten yet?
    pub fn has_unheld(&self) -> bool {
        !self.unheld.is_empty()
    }

    /// Ended transactions that the table has let go of, to be forgotten.
    pub fn take_unheld(&mut self) -> Vec<Arc<TxnRecord>> {
        std::mem::take(&mut self.unheld)
    }

    /// Lets go of copies on a key that nobody waits for.
    pub fn drop_copies(&mut self, key: &Key) {
        if let Some(state) = self.keys.get_mut(key) {
            state.drop_copies(&mut self.unheld);
            self.tidy(key);
        }
    }

    /// Lets go of the copies of one transaction that nobody waits for.
    pub fn drop_copies_of(&mut self, txn: TxnId) {
        let copied = |state: &KeyState| state.holders.iter().any(|h| h.copy && h.record.id == txn);
        let keys: Vec<Key> = self.keys.iter().filter(|(_, state)| copied(state)).map(|(key, _)| key.clone()).collect();
        keys.iter().for_each(|key| self.drop_copies(key));
    }

    /// Moves everything from `key` on into a new table: the right side of a split.
    #[must_use]
    pub fn split_off(&mut self, key: &Key) -> LockTable {
        LockTable { keys: self.keys.split_off(key), ..LockTable::default() }
    }

    /// Takes in the table of the right neighbour.
    pub fn absorb(&mut self, mut right: LockTable) {
        self.keys.append(&mut right.keys);
        self.unheld.append(&mut right.unheld);
    }

    /// Every lock, for the lock views: key, holder, strength, whether it wrote.
    pub fn holders(&self) -> impl Iterator<Item = (&Key, &Arc<TxnRecord>, LockStrength, bool)> {
        self.keys.iter().flat_map(|(key, state)| {
            state.holders.iter().map(move |h| {
                let wrote = state.intent.as_ref().is_some_and(|intent| intent.record.id == h.record.id);
                (key, &h.record, h.strength(), wrote)
            })
        })
    }

    /// Drops the entry of a key that nobody holds or wants.
    fn tidy(&mut self, key: &Key) {
        if let Some(state) = self.keys.get_mut(key) {
            if state.waiters.as_ref().is_some_and(|queue| queue.is_empty()) {
                state.waiters = None;
            }
            if state.holders.is_empty() && state.waiters.is_none() {
                debug_assert!(state.intent.is_none(), "an intent without a holder");
                self.keys.remove(key);
            }
        }
    }
}

impl KeyState {
    /// Is somebody in the way? Holders always count; of the queue, those ahead, unless the asker strengthens a lock it has.
    fn is_blocked(&self, txn: TxnId, strength: LockStrength, holds: bool, waiter: Option<WaiterId>) -> bool {
        // A finished holder is in the way too, until it is taken off: what it committed must be installed first.
        let by_holder = self.holders.iter().any(|h| h.record.id != txn && h.strength().conflicts_with(strength));
        if by_holder || holds {
            return by_holder;
        }
        let Some(queue) = &self.waiters else { return false };
        queue.iter().take_while(|w| Some(w.id) != waiter).any(|w| w.strength.conflicts_with(strength))
    }

    fn grant(&mut self, record: &Arc<TxnRecord>, strength: LockStrength, sequence: u32) {
        match self.holders.iter_mut().find(|h| h.record.id == record.id) {
            Some(holder) => {
                holder.grants.push((sequence, strength));
                holder.copy = false;
            }
            None => {
                record.hold();
                record.add_memory(LOCK_BYTES);
                let grants = smallvec![(sequence, strength)];
                self.holders.push(Holder { record: Arc::clone(record), copy: false, grants });
            }
        }
    }

    fn drop_waiter(&mut self, waiter: Option<WaiterId>) {
        if let (Some(id), Some(queue)) = (waiter, self.waiters.as_mut()) {
            queue.retain(|w| w.id != id);
            if queue.is_empty() {
                self.waiters = None;
            }
        }
    }

    fn drop_copies(&mut self, unheld: &mut Vec<Arc<TxnRecord>>) {
        if self.waiters.is_some() {
            return;
        }
        while let Some(at) = self.holders.iter().position(|h| h.copy) {
            let record = self.holders.remove(at).record;
            if self.intent.as_ref().is_some_and(|intent| intent.record.id == record.id) {
                self.intent = None;
            }
            record.let_go();
            if record.is_done() {
                unheld.push(record);
            }
        }
    }

    fn rows_to_spill(&self, key: &Key, txn: TxnId, rows: &mut Vec<SpillRow>) {
        let Some(holder) = self.holders.iter().find(|h| h.record.id == txn && !h.copy) else { return };
        let versions = self.intent.as_ref().filter(|intent| intent.record.id == txn).map(|intent| &intent.versions[..]).unwrap_or_default();
        let mut row = |sequence, strength, change| {
            let version = SpilledVersion { sequence, tag: tag_of(strength), change };
            rows.push(SpillRow { key: key.clone(), version });
        };
        for (sequence, value) in versions {
            let granted = holder.grants.iter().rev().find(|(granted, _)| granted <= sequence);
            row(*sequence, granted.map_or(holder.strength(), |(_, strength)| *strength), Some(value.clone()));
        }
        for (sequence, strength) in holder.grants.iter().filter(|(granted, _)| versions.iter().all(|(written, _)| written != granted)) {
            row(*sequence, *strength, None);
        }
    }

    /// The waiters that nothing blocks: from the front, until the first that is blocked by a holder or by one ahead.
    fn waiting_at(&self, place: usize) -> Option<Waiting> {
        let waiter = self.waiters.as_ref()?.get(place)?;
        Some(Waiting { record: Arc::clone(&waiter.record), strength: waiter.strength, blockers: self.blockers_at(place) })
    }

    fn blockers_at(&self, place: usize) -> Vec<Arc<TxnRecord>> {
        let Some(queue) = &self.waiters else { return Vec::new() };
        let Some(me) = queue.get(place) else { return Vec::new() };
        let holders = self.holders.iter().filter(|h| h.record.id != me.record.id);
        let mut blockers: Vec<Arc<TxnRecord>> =
            holders.filter(|h| h.strength().conflicts_with(me.strength)).map(|h| Arc::clone(&h.record)).collect();
        for ahead in queue.iter().take(place).rev().filter(|w| w.strength.conflicts_with(me.strength)) {
            blockers.push(Arc::clone(&ahead.record));
            if ahead.strength >= me.strength {
                break;
            }
        }
        blockers
    }

    fn ready(&self) -> Ready {
        let mut ready = Ready::new();
        let Some(queue) = &self.waiters else { return ready };
        for waiter in queue.iter() {
            let holds = self.holders.iter().any(|h| h.record.id == waiter.record.id);
            if !self.is_blocked(waiter.record.id, waiter.strength, holds, Some(waiter.id)) {
                ready.push(waiter.id);
            } else if waiter.strength == LockStrength::Update {
                // It blocks everybody behind it.
                break;
            }
        }
        ready
    }

    fn finish(&mut self, record: Arc<TxnRecord>) -> Finished {
        let intent = match &self.intent {
            Some(intent) if intent.record.id == record.id => self.intent.take(),
            _ => None,
        };
        let committed = match (intent, record.committed_at()) {
            (Some(intent), Some(ts)) => Some((ts, intent.newest())),
            _ => None,
        };
        Finished { record, committed }
    }

    fn visible(&self, key: &Key, reader: Option<TxnId>, at: Timestamp) -> Option<Overlay> {
        let intent = self.intent.as_ref()?;
        if Some(intent.record.id) == reader {
            return Some(Overlay { key: key.clone(), ts: Timestamp::MAX, value: intent.newest() });
        }
        let ts = intent.record.committed_at().filter(|ts| *ts <= at)?;
        Some(Overlay { key: key.clone(), ts, value: intent.newest() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidelock_base::SessionId;

    #[test]
    fn who_had_ended_when_its_last_copy_went_is_handed_over_to_be_forgotten() {
        let (mut table, key) = (LockTable::default(), Key::from("k"));
        let version = SpilledVersion { sequence: 1, tag: tag_of(LockStrength::Update), change: None };
        for ended in [false, true] {
            let record = Arc::new(TxnRecord::new(TxnId(7), SessionId(1)));
            table.bring_back(&key, &record, std::slice::from_ref(&version));
            if ended {
                record.flip_to_aborted();
            }
            table.drop_copies(&key);
            assert_eq!((table.len(), record.held()), (0, 0));
            assert_eq!(table.has_unheld(), ended, "whoever goes on is forgotten at its own end");
            assert_eq!(table.take_unheld().len(), usize::from(ended));
            assert!(!table.has_unheld());
        }
    }
}
