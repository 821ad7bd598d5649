//! LISTEN, NOTIFY, UNLISTEN: messages between sessions, sent when their transaction commits.
//!
//! ```text
//!   NOTIFY c, 'x'      kept with the transaction; the same message twice in one transaction is one
//!   LISTEN c           kept with the transaction too
//!   COMMIT             listen and unlisten first, then each message goes into the mailbox of every session that listens
//!   a session idles    its connection finds the mail and tells its client (never inside a transaction block)
//! ```
//!
//! A rollback, to a savepoint too, forgets what was kept. Mailboxes are bounded (`MAX_MAIL`): while a listener's is full, for it sits in a
//! transaction or does not read, transactions that would notify it fail, as they do in PostgreSQL when its queue is full.

use super::Session;
use crate::error::{SqlError, SqlState};
use hashbrown::{HashMap, HashSet};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// Messages that wait for one client.
const MAX_MAIL: usize = 100_000;

/// Messages of one transaction.
const MAX_PENDING: usize = 100_000;

/// Longest payload, in bytes, one less than PostgreSQL's 8000.
const MAX_PAYLOAD_BYTES: usize = 7999;

/// Longest name of a channel, in bytes: a name's.
const MAX_CHANNEL_BYTES: usize = 63;

/// A message.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub struct Notification {
    /// Who sent it.
    pub pid: i32,
    pub channel: Arc<str>,
    pub payload: Arc<str>,
}

/// One session's messages, until its client hears of them.
#[derive(Debug, Default)]
pub struct Mailbox {
    inner: Mutex<Mail>,
}

#[derive(Debug, Default)]
struct Mail {
    waiting: VecDeque<Notification>,
    /// The connection that idles.
    waker: Option<Waker>,
}

impl Mailbox {
    /// Everything that has come.
    pub fn take(&self) -> Vec<Notification> {
        let mut mail = self.inner.lock();
        if mail.waiting.is_empty() {
            return Vec::new();
        }
        mail.waiting.drain(..).collect()
    }

    /// Ready when there is mail.
    pub fn poll(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut mail = self.inner.lock();
        if !mail.waiting.is_empty() {
            return Poll::Ready(());
        }
        mail.waker = Some(context.waker().clone());
        Poll::Pending
    }

    fn is_full(&self) -> bool {
        self.inner.lock().waiting.len() >= MAX_MAIL
    }

    fn put(&self, notification: Notification) {
        let waker = {
            let mut mail = self.inner.lock();
            mail.waiting.push_back(notification);
            mail.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// The mailboxes of those who listen to a channel, by process id.
type Listeners = HashMap<i32, Arc<Mailbox>>;

/// Who listens to what.
#[derive(Debug, Default)]
pub struct Channels {
    listeners: Mutex<HashMap<Arc<str>, Listeners>>,
}

impl Channels {
    fn listen(&self, channel: &Arc<str>, pid: i32, mailbox: &Arc<Mailbox>) {
        self.listeners.lock().entry(Arc::clone(channel)).or_default().insert(pid, Arc::clone(mailbox));
    }

    fn unlisten(&self, channel: &str, pid: i32) {
        let mut listeners = self.listeners.lock();
        if let Some(sessions) = listeners.get_mut(channel) {
            sessions.remove(&pid);
            if sessions.is_empty() {
                listeners.remove(channel);
            }
        }
    }

    /// Refuses when somebody who would be told has a full mailbox.
    fn check_room(&self, pending: &[(Arc<str>, Arc<str>)]) -> Result<(), SqlError> {
        let listeners = self.listeners.lock();
        let told = pending.iter().filter_map(|(channel, _)| listeners.get(channel)).flat_map(HashMap::values);
        for mailbox in told {
            if mailbox.is_full() {
                return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "too many notifications in the NOTIFY queue"));
            }
        }
        Ok(())
    }

    /// All messages of a transaction, under one mutex: nobody sees two transactions' messages mixed.
    fn publish(&self, pid: i32, pending: Vec<(Arc<str>, Arc<str>)>) {
        let listeners = self.listeners.lock();
        for (channel, payload) in pending {
            for mailbox in listeners.get(&channel).into_iter().flat_map(HashMap::values) {
                mailbox.put(Notification { pid, channel: Arc::clone(&channel), payload: Arc::clone(&payload) });
            }
        }
    }
}

/// LISTEN and UNLISTEN, until the commit.
#[derive(Clone, Debug)]
enum Action {
    Listen(Arc<str>),
    Unlisten(Arc<str>),
    UnlistenAll,
}

/// What a transaction will do when it commits.
#[derive(Debug, Default)]
pub(super) struct Pending {
    actions: Vec<Action>,
    messages: Vec<(Arc<str>, Arc<str>)>,
    /// For the question whether a message is there already.
    known: HashSet<(Arc<str>, Arc<str>)>,
}

/// Where a transaction's messages stood at a savepoint.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingMark {
    actions: usize,
    messages: usize,
}

impl Pending {
    /// NOTIFY, and `pg_notify`.
    pub(super) fn notify(&mut self, channel: &str, payload: &str) -> Result<(), SqlError> {
        let invalid = |message: &'static str| Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
        if channel.is_empty() {
            return invalid("channel name cannot be empty");
        }
        if channel.len() > MAX_CHANNEL_BYTES {
            return invalid("channel name too long");
        }
        if payload.len() > MAX_PAYLOAD_BYTES {
            return invalid("payload string too long");
        }
        if self.messages.len() >= MAX_PENDING {
            return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "too many notifications in one transaction"));
        }
        let message: (Arc<str>, Arc<str>) = (channel.into(), payload.into());
        if self.known.insert(message.clone()) {
            self.messages.push(message);
        }
        Ok(())
    }

    pub(super) fn mark(&self) -> PendingMark {
        PendingMark { actions: self.actions.len(), messages: self.messages.len() }
    }

    /// Forgets what came after a savepoint.
    pub(super) fn rollback_to(&mut self, mark: PendingMark) {
        self.actions.truncate(mark.actions);
        for message in self.messages.drain(mark.messages.min(self.messages.len())..) {
            self.known.remove(&message);
        }
    }

    pub(super) fn clear(&mut self) {
        if !self.actions.is_empty() || !self.messages.is_empty() {
            *self = Pending::default();
        }
    }
}

impl Session {
    /// LISTEN.
    pub(super) fn listen(&mut self, channel: &str) -> Result<(), SqlError> {
        self.open_transaction()?;
        self.view.pending.lock().actions.push(Action::Listen(channel.into()));
        Ok(())
    }

    /// UNLISTEN, of one channel or all.
    pub(super) fn unlisten(&mut self, channel: Option<&str>) -> Result<(), SqlError> {
        self.open_transaction()?;
        let action = channel.map_or(Action::UnlistenAll, |channel| Action::Unlisten(channel.into()));
        self.view.pending.lock().actions.push(action);
        Ok(())
    }

    /// NOTIFY.
    pub(super) fn notify(&mut self, channel: &str, payload: Option<&str>) -> Result<(), SqlError> {
        self.open_transaction()?;
        self.view.pending.lock().notify(channel, payload.unwrap_or_default())
    }

    /// Before a commit: is there room for what it will say?
    pub(super) fn check_notifications(&self) -> Result<(), SqlError> {
        let pending = self.view.pending.lock();
        if pending.messages.is_empty() { Ok(()) } else { self.database.channels.check_room(&pending.messages) }
    }

    /// After a commit: listens, and tells the listeners.
    pub(super) fn send_notifications(&self) {
        let pending = {
            let mut pending = self.view.pending.lock();
            if pending.actions.is_empty() && pending.messages.is_empty() {
                return;
            }
            std::mem::take(&mut *pending)
        };
        for action in pending.actions {
            self.act(action);
        }
        self.database.channels.publish(self.handle.pid, pending.messages);
    }

    fn act(&self, action: Action) {
        let pid = self.handle.pid;
        let mut listening = self.view.listening.lock();
        match action {
            Action::Listen(channel) => {
                if !listening.contains(&channel) {
                    self.database.channels.listen(&channel, pid, &self.mailbox);
                    listening.push(channel);
                }
            }
            Action::Unlisten(channel) => {
                self.database.channels.unlisten(&channel, pid);
                listening.retain(|known| *known != channel);
            }
            Action::UnlistenAll => listening.drain(..).for_each(|channel| self.database.channels.unlisten(&channel, pid)),
        }
    }

    /// The session ends, or DISCARD ALL.
    pub(super) fn stop_listening(&self) {
        self.act(Action::UnlistenAll);
    }

    /// Where messages for this session's client come.
    pub fn mailbox(&self) -> &Arc<Mailbox> {
        &self.mailbox
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_message_is_kept_once_and_a_savepoint_forgets_the_later_ones() {
        let mut pending = Pending::default();
        pending.notify("c", "1").expect("a message");
        pending.notify("c", "1").expect("the same again");
        let mark = pending.mark();
        pending.notify("c", "2").expect("another");
        pending.rollback_to(mark);
        pending.notify("c", "2").expect("again");
        let payloads: Vec<&str> = pending.messages.iter().map(|(_, payload)| &**payload).collect();
        assert_eq!(payloads, ["1", "2"]);
    }

    #[test]
    fn names_and_payloads_have_limits() {
        let mut pending = Pending::default();
        assert!(pending.notify("", "x").is_err());
        assert!(pending.notify(&"c".repeat(64), "x").is_err());
        assert!(pending.notify("c", &"x".repeat(8000)).is_err());
        assert!(pending.notify("c", &"x".repeat(7999)).is_ok());
    }

    #[test]
    fn a_full_mailbox_refuses_before_anything_is_sent() {
        let channels = Channels::default();
        let mailbox = Arc::new(Mailbox::default());
        let channel: Arc<str> = "c".into();
        channels.listen(&channel, 1, &mailbox);
        let message = (Arc::clone(&channel), Arc::from("x"));
        assert!(channels.check_room(std::slice::from_ref(&message)).is_ok());
        channels.publish(2, vec![message.clone(); MAX_MAIL]);
        assert!(channels.check_room(&[message]).is_err());
        assert_eq!(mailbox.take().len(), MAX_MAIL);
        assert!(mailbox.take().is_empty());
    }
}
