//! A session's temporary objects: kept here, seen by its own statements only, given up at its end.
//!
//! A session without any pays one comparison with `None` per statement. One that has some sees the shared catalog with its own objects laid over it, made
//! anew when either of the two has changed; its plans are cached under the number of its objects, apart from everybody else's.
//!
//! A transaction's changes of them are in [`crate::exec::TxnState::temporary`] until it commits; so they go with a rollback, to a savepoint too.

use super::{Block, Session};
use crate::ast::{DiscardTarget, Statement};
use crate::catalog::store::CatalogAt;
use crate::catalog::{Catalog, TemporaryObjects};
use crate::error::SqlError;
use crate::exec;
use std::sync::Arc;
use tidelock_base::IndexId;
use tidelock_kvclient::Db;

/// The committed objects, and the catalog they were last laid over.
#[derive(Default)]
pub(super) struct Temporary {
    objects: Option<Arc<TemporaryObjects>>,
    seen: Option<Seen>,
}

/// What a session with temporary objects sees.
struct Seen {
    shared: Arc<Catalog>,
    objects: u64,
    catalog: Arc<Catalog>,
}

impl Session {
    /// The objects as the next statement sees them.
    fn temporary_objects(&self) -> Option<&Arc<TemporaryObjects>> {
        self.transaction.state.temporary.as_ref().or(self.temporary.objects.as_ref())
    }

    /// Part of the plan cache's key: 0 without temporary objects.
    pub(super) fn temporary_fingerprint(&self) -> u64 {
        // Numbers that are near each other are made to differ in their high bits too.
        self.temporary_objects().map_or(0, |objects| objects.id().wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// The catalog that the session sees when the shared one is this.
    pub(super) fn with_temporary(&mut self, shared: &CatalogAt) -> Arc<Catalog> {
        let Some(objects) = self.temporary_objects().map(Arc::clone) else { return Arc::clone(&shared.catalog) };
        match &self.temporary.seen {
            Some(seen) if seen.objects == objects.id() && Arc::ptr_eq(&seen.shared, &shared.catalog) => Arc::clone(&seen.catalog),
            _ => {
                let catalog = objects.over(&shared.catalog);
                let (shared, objects) = (Arc::clone(&shared.catalog), objects.id());
                self.temporary.seen = Some(Seen { shared, objects, catalog: Arc::clone(&catalog) });
                catalog
            }
        }
    }

    /// ON COMMIT, before the commit.
    pub(super) async fn temporary_before_commit(&mut self) -> Result<(), SqlError> {
        let Some(objects) = self.temporary_objects().filter(|_| !self.is_read_only()).map(Arc::clone) else { return Ok(()) };
        let scope = self.scope();
        let mut ctx = self.context(&scope)?;
        exec::ddl::on_commit(&objects, &mut ctx).await
    }

    /// The transaction has committed, with these changes of the objects.
    pub(super) fn temporary_committed(&mut self, changed: Option<Arc<TemporaryObjects>>) {
        if let Some(changed) = changed {
            self.temporary.objects = Some(changed);
        }
    }

    /// DISCARD TEMPORARY.
    pub(super) async fn discard_temporary(&mut self) -> Result<(), SqlError> {
        if self.temporary_objects().is_none_or(|objects| objects.is_empty()) {
            return Ok(());
        }
        self.definition(&Statement::Discard(DiscardTarget::Temporary)).await?;
        // What the objects went with is of no interest to somebody who throws all of them away.
        self.notices.clear();
        if self.transaction.block == Block::Implicit {
            self.commit().await?;
        }
        Ok(())
    }

    /// The session ends: its tables' rows are given up.
    pub(super) async fn give_up_temporary(&mut self) {
        if let Some(objects) = self.temporary.objects.take() {
            give_up(&self.cluster.db, &objects).await;
        }
    }

    /// The same, where nothing can be waited for. Without a runtime the server is ending; its next start drops what has no definition.
    pub(super) fn give_up_temporary_later(&mut self) {
        let Some(objects) = self.temporary.objects.take() else { return };
        let cluster = Arc::clone(&self.cluster);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { give_up(&cluster.db, &objects).await });
        }
    }
}

async fn give_up(db: &Db, objects: &TemporaryObjects) {
    for index in objects.index_ids().into_iter().filter_map(|id| u32::try_from(id).ok()) {
        if let Err(error) = db.drop_index(IndexId(index)).await {
            tracing::warn!(%error, index, "the rows of a temporary table could not be given up");
        }
    }
}
