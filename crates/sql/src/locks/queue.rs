//! Who holds which lock, and who waits for it: a pure state machine.
//!
//! First come, first served: a request waits when it conflicts with what others hold, or with what somebody before it waits for. The
//! exception is PostgreSQL's: who holds the lock already and wants more of it goes in front of the first waiter that its own hold keeps
//! waiting, because behind it the two would wait for each other.
//!
//! ```text
//!   held: s1 AccessShare            queue: s2 AccessExclusive, s3 AccessShare
//!   s1 wants RowExclusive           no conflict with a holder, and it goes before s2: granted at once
//!   s1 ends                         s2 is granted; s3 waits behind it
//! ```
//!
//! A hold belongs to a session, and is either its transaction's (with a number, so that a rollback to a savepoint finds the later
//! ones) or the session's own (advisory locks, which count how often they were taken).

use super::mode::{LockTag, MODES, ModeSet, conflicts, is_strong};
use crate::ast::TableLockMode;
use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;
use std::collections::VecDeque;

/// Holds and waits in the table, of all sessions together; the next one is refused.
pub const MAX_ENTRIES: usize = 1_000_000;

/// A session, by its process id.
pub type Owner = u32;

/// How long a hold lasts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// To the transaction's end.
    Transaction,
    /// Until it is given back, or the session ends.
    Session,
}

/// A request for a lock.
#[derive(Clone, Copy, Debug)]
pub struct LockRequest {
    /// What.
    pub tag: LockTag,
    /// How.
    pub mode: TableLockMode,
    /// For how long.
    pub level: Level,
    /// Whose.
    pub owner: Owner,
    /// Its number in the session.
    pub sequence: u32,
}

/// A place in a queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ticket(pub u64);

/// How a request went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Acquired {
    /// Granted; is there an entry more than before?
    Granted {
        /// Whether there is.
        is_new: bool,
    },
    /// It would have to wait.
    Blocked,
    /// The table is full.
    Full,
}

/// What a release, or a waiter that left, brought about.
#[derive(Debug, Default)]
pub struct Changes {
    /// Those who have their lock now.
    pub granted: Vec<Ticket>,
    /// One tag for each strong entry that is gone.
    pub strong_gone: Vec<LockTag>,
}

#[derive(Clone, Copy, Debug)]
struct Hold {
    mode: TableLockMode,
    level: Level,
    count: u32,
    sequence: u32,
}

#[derive(Debug)]
struct Waiter {
    ticket: Ticket,
    request: LockRequest,
    since: i64,
}

#[derive(Debug, Default)]
struct Lock {
    holds: HashMap<Owner, SmallVec<[Hold; 2]>>,
    granted: [u32; MODES],
    queue: VecDeque<Waiter>,
}

/// An entry, for the views.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Entry {
    pub tag: LockTag,
    pub owner: Owner,
    pub mode: TableLockMode,
    /// When the wait began; None is a hold.
    pub waits_since: Option<i64>,
}

/// The table.
#[derive(Debug, Default)]
pub struct LockQueues {
    locks: HashMap<LockTag, Lock>,
    owned: HashMap<Owner, HashSet<LockTag>>,
    waiting: HashMap<Owner, (LockTag, Ticket)>,
    tickets: u64,
    entries: usize,
}

impl Lock {
    fn held_by(&self, owner: Owner) -> ModeSet {
        let own = self.holds.get(&owner).into_iter().flatten();
        own.fold(ModeSet::default(), |set, hold| set.with(ModeSet::of(hold.mode)))
    }

    /// Whether others hold what the mode does not tolerate.
    fn is_obstructed(&self, owner: Owner, mode: TableLockMode) -> bool {
        let unwelcome = conflicts(mode);
        let own = self.holds.get(&owner);
        super::mode::ALL_MODES.into_iter().filter(|m| unwelcome.meets(ModeSet::of(*m))).any(|m| {
            let mine = own.map_or(0, |holds| holds.iter().filter(|hold| hold.mode == m).count());
            self.granted[m as usize] as usize > mine
        })
    }

    /// Where in the queue a request of this owner belongs, and whether it has to wait there.
    fn place(&self, owner: Owner, mode: TableLockMode) -> (usize, bool) {
        let own = self.held_by(owner);
        let kept_waiting = |waiter: &Waiter| conflicts(waiter.request.mode).meets(own);
        let at = self.queue.iter().position(kept_waiting).unwrap_or(self.queue.len());
        let ahead = self.queue.iter().take(at).any(|waiter| conflicts(mode).meets(ModeSet::of(waiter.request.mode)));
        (at, ahead || self.is_obstructed(owner, mode))
    }

    fn is_unused(&self) -> bool {
        self.holds.is_empty() && self.queue.is_empty()
    }
}

impl LockQueues {
    /// Takes the lock if nobody is in the way.
    pub fn acquire(&mut self, request: LockRequest) -> Acquired {
        if self.entries >= MAX_ENTRIES {
            return Acquired::Full;
        }
        let lock = self.locks.entry(request.tag).or_default();
        let again = lock.held_by(request.owner).meets(ModeSet::of(request.mode));
        if !again && lock.place(request.owner, request.mode).1 {
            return Acquired::Blocked;
        }
        Acquired::Granted { is_new: self.grant(request) }
    }

    /// A hold that was taken elsewhere, without a conflict, moves in here.
    pub fn adopt(&mut self, request: LockRequest) {
        self.grant(request);
    }

    fn grant(&mut self, request: LockRequest) -> bool {
        let LockRequest { tag, mode, level, owner, sequence } = request;
        let lock = self.locks.entry(tag).or_default();
        let own = lock.holds.entry(owner).or_default();
        if let Some(hold) = own.iter_mut().find(|hold| hold.mode == mode && hold.level == level) {
            hold.count += 1;
            return false;
        }
        own.push(Hold { mode, level, count: 1, sequence });
        lock.granted[mode as usize] += 1;
        self.entries += 1;
        self.owned.entry(owner).or_default().insert(tag);
        true
    }

    /// Takes a place in the queue, after [`LockQueues::acquire`] said that it is blocked.
    pub fn enqueue(&mut self, request: LockRequest, now: i64) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        let lock = self.locks.entry(request.tag).or_default();
        let (at, _) = lock.place(request.owner, request.mode);
        lock.queue.insert(at, Waiter { ticket, request, since: now });
        self.waiting.insert(request.owner, (request.tag, ticket));
        self.entries += 1;
        ticket
    }

    /// A waiter gives up. False when it is not in the queue any more: it was granted.
    pub fn leave(&mut self, tag: LockTag, ticket: Ticket, changes: &mut Changes) -> bool {
        let Some(lock) = self.locks.get_mut(&tag) else { return false };
        let Some(at) = lock.queue.iter().position(|waiter| waiter.ticket == ticket) else { return false };
        if let Some(waiter) = lock.queue.remove(at) {
            self.waiting.remove(&waiter.request.owner);
            self.entries -= 1;
            if is_strong(waiter.request.mode) {
                changes.strong_gone.push(tag);
            }
        }
        self.go_on(tag, changes);
        true
    }

    /// Gives one acquisition back. False when the session does not hold it.
    pub fn release(&mut self, owner: Owner, tag: LockTag, mode: TableLockMode, level: Level, changes: &mut Changes) -> bool {
        let own = self.locks.get_mut(&tag).and_then(|lock| lock.holds.get_mut(&owner));
        let hold = own.and_then(|own| own.iter_mut().find(|hold| hold.mode == mode && hold.level == level));
        let Some(hold) = hold else { return false };
        hold.count -= 1;
        if hold.count == 0 {
            self.release_holds(owner, tag, |hold| hold.count == 0, changes);
        }
        true
    }

    /// Gives back what the owner's transaction took after the given number; the session's own stay.
    pub fn release_transaction(&mut self, owner: Owner, after: u32, changes: &mut Changes) {
        self.release_all(owner, |hold| hold.level == Level::Transaction && hold.sequence > after, changes);
    }

    /// Gives back what the session holds for itself.
    pub fn release_session(&mut self, owner: Owner, changes: &mut Changes) {
        self.release_all(owner, |hold| hold.level == Level::Session, changes);
    }

    fn release_all(&mut self, owner: Owner, goes: impl Fn(&Hold) -> bool, changes: &mut Changes) {
        let tags: Vec<LockTag> = self.owned.get(&owner).into_iter().flatten().copied().collect();
        tags.into_iter().for_each(|tag| self.release_holds(owner, tag, &goes, changes));
    }

    fn release_holds(&mut self, owner: Owner, tag: LockTag, goes: impl Fn(&Hold) -> bool, changes: &mut Changes) {
        let Some(lock) = self.locks.get_mut(&tag) else { return };
        let Some(own) = lock.holds.get_mut(&owner) else { return };
        let before = own.len();
        let granted = &mut lock.granted;
        own.retain(|hold| {
            let gone = goes(hold);
            if gone {
                granted[hold.mode as usize] -= 1;
                if is_strong(hold.mode) {
                    changes.strong_gone.push(tag);
                }
            }
            !gone
        });
        if own.len() == before {
            return;
        }
        self.entries -= before - own.len();
        if own.is_empty() {
            lock.holds.remove(&owner);
            if let Some(owned) = self.owned.get_mut(&owner) {
                owned.remove(&tag);
                if owned.is_empty() {
                    self.owned.remove(&owner);
                }
            }
        }
        self.go_on(tag, changes);
    }

    /// Grants, in order, to those whom nobody keeps waiting any more.
    fn go_on(&mut self, tag: LockTag, changes: &mut Changes) {
        let Some(lock) = self.locks.get_mut(&tag) else { return };
        if lock.is_unused() {
            self.locks.remove(&tag);
            return;
        }
        let mut ahead = ModeSet::default();
        let mut at = 0;
        while let Some(lock) = self.locks.get_mut(&tag)
            && let Some(waiter) = lock.queue.get(at)
        {
            let LockRequest { mode, owner, .. } = waiter.request;
            if conflicts(mode).meets(ahead) || lock.is_obstructed(owner, mode) {
                ahead = ahead.with(ModeSet::of(mode));
                at += 1;
                continue;
            }
            let Some(waiter) = lock.queue.remove(at) else { return };
            self.waiting.remove(&owner);
            self.entries -= 1;
            if !self.grant(waiter.request) && is_strong(mode) {
                changes.strong_gone.push(tag);
            }
            changes.granted.push(waiter.ticket);
        }
    }

    /// The sessions in the way of what a session waits for: holders, and those before it in the queue.
    pub fn blockers(&self, owner: Owner) -> Vec<Owner> {
        let Some((tag, ticket)) = self.waiting.get(&owner) else { return Vec::new() };
        let Some(lock) = self.locks.get(tag) else { return Vec::new() };
        let Some(at) = lock.queue.iter().position(|waiter| waiter.ticket == *ticket) else { return Vec::new() };
        let unwelcome = conflicts(lock.queue[at].request.mode);
        let others = lock.holds.keys().copied().filter(|other| *other != owner);
        let mut blockers: Vec<Owner> = others.filter(|other| unwelcome.meets(lock.held_by(*other))).collect();
        blockers.sort_unstable();
        let ahead = lock.queue.iter().take(at).map(|waiter| waiter.request);
        for request in ahead.filter(|request| unwelcome.meets(ModeSet::of(request.mode))) {
            if !blockers.contains(&request.owner) {
                blockers.push(request.owner);
            }
        }
        blockers
    }

    /// Does anybody wait for what this session holds, or behind it?
    pub fn is_waited_for(&self, owner: Owner) -> bool {
        let waits = |tag: &LockTag| self.locks.get(tag).is_some_and(|lock| lock.queue.iter().any(|waiter| waiter.request.owner != owner));
        let waiting = self.waiting.get(&owner).map(|(tag, _)| tag);
        self.owned.get(&owner).into_iter().flatten().chain(waiting).any(waits)
    }

    /// What a session waits for, and how.
    pub fn wait_of(&self, owner: Owner) -> Option<(LockTag, TableLockMode, i64)> {
        let (tag, ticket) = self.waiting.get(&owner)?;
        let waiter = self.locks.get(tag)?.queue.iter().find(|waiter| waiter.ticket == *ticket)?;
        Some((*tag, waiter.request.mode, waiter.since))
    }

    /// Everything, for the views; a mode that is held twice is shown once.
    pub fn all(&self) -> Vec<Entry> {
        let mut all = Vec::with_capacity(self.entries);
        for (tag, lock) in &self.locks {
            for (owner, holds) in &lock.holds {
                let modes = super::mode::ALL_MODES.into_iter().filter(|mode| holds.iter().any(|hold| hold.mode == *mode));
                all.extend(modes.map(|mode| Entry { tag: *tag, owner: *owner, mode, waits_since: None }));
            }
            let waits = lock.queue.iter();
            all.extend(waits.map(|w| Entry { tag: *tag, owner: w.request.owner, mode: w.request.mode, waits_since: Some(w.since) }));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TableLockMode::{AccessExclusive, AccessShare, Exclusive, RowExclusive, Share};

    const TABLE: LockTag = LockTag::Relation(1);

    fn request(owner: Owner, mode: TableLockMode) -> LockRequest {
        LockRequest { tag: TABLE, mode, level: Level::Transaction, owner, sequence: 1 }
    }

    fn granted(queues: &mut LockQueues, owner: Owner, mode: TableLockMode) -> bool {
        matches!(queues.acquire(request(owner, mode)), Acquired::Granted { .. })
    }

    fn queued(queues: &mut LockQueues, owner: Owner, mode: TableLockMode) -> Ticket {
        assert_eq!(queues.acquire(request(owner, mode)), Acquired::Blocked);
        queues.enqueue(request(owner, mode), 0)
    }

    fn end(queues: &mut LockQueues, owner: Owner) -> Vec<Ticket> {
        let mut changes = Changes::default();
        queues.release_transaction(owner, 0, &mut changes);
        changes.granted
    }

    #[test]
    fn first_come_first_served_even_for_those_who_would_fit() {
        let mut queues = LockQueues::default();
        assert!(granted(&mut queues, 1, AccessShare));
        let second = queued(&mut queues, 2, AccessExclusive);
        let third = queued(&mut queues, 3, AccessShare);
        assert_eq!(queues.blockers(3), [2]);
        assert_eq!(end(&mut queues, 1), [second]);
        assert_eq!(end(&mut queues, 2), [third]);
        assert_eq!(end(&mut queues, 3), []);
        assert!(queues.locks.is_empty() && queues.owned.is_empty() && queues.waiting.is_empty() && queues.entries == 0);
    }

    #[test]
    fn who_holds_it_overtakes_those_who_wait_for_him() {
        let mut queues = LockQueues::default();
        assert!(granted(&mut queues, 1, AccessShare));
        let second = queued(&mut queues, 2, AccessExclusive);
        assert!(granted(&mut queues, 1, RowExclusive), "behind the second the two would wait for each other");
        assert_eq!(queues.blockers(2), [1]);
        assert_eq!(end(&mut queues, 1), [second]);
    }

    #[test]
    fn a_waiter_that_leaves_lets_those_behind_go_on() {
        let mut queues = LockQueues::default();
        assert!(granted(&mut queues, 1, RowExclusive));
        let second = queued(&mut queues, 2, Exclusive);
        let third = queued(&mut queues, 3, RowExclusive);
        let mut changes = Changes::default();
        assert!(queues.leave(TABLE, second, &mut changes));
        assert_eq!(changes.granted, [third]);
        assert_eq!(changes.strong_gone, [TABLE]);
        assert!(!queues.leave(TABLE, third, &mut changes), "it was granted");
    }

    #[test]
    fn session_level_holds_count_and_survive_transactions() {
        let mut queues = LockQueues::default();
        let session = LockRequest { level: Level::Session, ..request(1, Exclusive) };
        assert_eq!(queues.acquire(session), Acquired::Granted { is_new: true });
        assert_eq!(queues.acquire(session), Acquired::Granted { is_new: false });
        assert!(granted(&mut queues, 1, Exclusive));
        end(&mut queues, 1);
        let second = queued(&mut queues, 2, Share);
        let mut changes = Changes::default();
        assert!(queues.release(1, TABLE, Exclusive, Level::Session, &mut changes));
        assert!(changes.granted.is_empty());
        assert!(queues.release(1, TABLE, Exclusive, Level::Session, &mut changes));
        assert_eq!(changes.granted, [second]);
        assert!(!queues.release(1, TABLE, Exclusive, Level::Session, &mut changes));
    }

    #[test]
    fn a_savepoint_gives_back_the_later_ones_only() {
        let mut queues = LockQueues::default();
        assert!(granted(&mut queues, 1, AccessShare));
        queues.acquire(LockRequest { sequence: 5, ..request(1, AccessExclusive) });
        let second = queued(&mut queues, 2, RowExclusive);
        let mut changes = Changes::default();
        queues.release_transaction(1, 3, &mut changes);
        assert_eq!(changes.granted, [second]);
        assert_eq!(queues.acquire(request(3, AccessExclusive)), Acquired::Blocked);
    }
}
