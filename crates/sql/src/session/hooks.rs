//! What SQL asks of the server around it.

use std::path::Path;
use std::sync::Arc;
use tidelock_base::{Key, SessionId};
use tidelock_kvapi::{LockStrength, WaitGraph};

/// What the server around SQL provides: counters, live settings, the views of the floors below. SQL never imports those
/// floors; the binary wires them in here.
pub trait ServerHooks: Send + Sync + 'static {
    /// Every counter, by name.
    fn metrics(&self) -> Vec<(String, f64)>;
    /// A server-wide setting (`kv.resolver.inline` ...); `None` when there is no such setting.
    fn server_setting(&self, name: &str) -> Option<String>;
    /// Changes one; the error says what is wrong with the value.
    fn set_server_setting(&self, name: &str, value: &str) -> Result<(), String>;
    /// Names and descriptions of the server-wide settings.
    fn server_settings(&self) -> Vec<(&'static str, &'static str)>;
    /// Where statements may put temporary files.
    fn spill_dir(&self) -> &Path;
    /// The graph in which waits for rows and for tables meet; None finds no deadlocks among the latter.
    fn wait_graph(&self) -> Option<Arc<dyn WaitGraph>>;
    /// Every row lock held.
    fn locks(&self) -> Vec<HeldLock>;
    /// Every wait for a row.
    fn waits(&self) -> Vec<LockWait>;
    /// A session's wait for a row.
    fn wait_of(&self, session: SessionId) -> Option<LockWait> {
        self.waits().into_iter().find(|wait| wait.session == session)
    }
}

/// A row lock, for the lock views.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct HeldLock {
    pub key: Key,
    pub range: u64,
    pub session: SessionId,
    pub txn: u64,
    pub strength: LockStrength,
    pub wrote: bool,
}

/// A wait for a row lock.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct LockWait {
    pub key: Key,
    pub session: SessionId,
    pub strength: LockStrength,
    pub blockers: Vec<SessionId>,
    pub waited_ms: u64,
}
