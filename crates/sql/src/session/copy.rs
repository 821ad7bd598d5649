//! COPY between the client and a table or query: moves data; the forms are the executor's affair ([`crate::exec::copy`]).

use super::Session;
use super::client::{Client, CopyInput, CopyStart, FLUSH_BYTES, Format};
use super::statement::Scope;
use super::statement::{client_gone, with_timeout};
use crate::ast::{Copy, CopySource};
use crate::error::{SqlError, SqlState};
use crate::exec::copy::{CopyIn, CopyOut};
use crate::exec::{Execution, Flow, Progress};
use crate::locks::TableLock;
use crate::plan::table_locks::{RowChange, TableLocks};
use crate::types::Datum;
use std::sync::Arc;

impl Session {
    /// COPY; the command tag comes back.
    pub(super) async fn copy(&mut self, copy: &Copy, client: &mut dyn Client) -> Result<String, SqlError> {
        self.open_transaction()?;
        let (timeout, handle) = (self.settings().statement_timeout, Arc::clone(&self.handle));
        let copying = async { if copy.from { self.copy_in(copy, client).await } else { self.copy_out(copy, client).await } };
        with_timeout(timeout, &handle, copying).await
    }

    async fn copy_in(&mut self, copy: &Copy, client: &mut dyn Client) -> Result<String, SqlError> {
        let scope = self.lock_copy_target(copy).await?;
        self.step(&scope.settings);
        let mut input = CopyIn::begin(copy, &mut self.context(&scope)?)?;
        let start = CopyStart { format: format_of(input.is_binary()), columns: input.column_count() };
        client.copy_in_start(start).await.map_err(client_gone)?;
        let handle = Arc::clone(&self.handle);
        let result = loop {
            let piece = tokio::select! {
                biased;
                piece = client.copy_input() => piece.map_err(client_gone)?,
                // Whoever waits for a client that sends nothing can be cancelled too.
                reason = handle.cancel.cancelled() => break Err(reason.into()),
            };
            match piece {
                CopyInput::Data(bytes) => {
                    if let Err(error) = input.push(&bytes, &mut self.context(&scope)?).await {
                        break Err(error);
                    }
                }
                CopyInput::Done => break input.finish(&mut self.context(&scope)?).await,
                CopyInput::Fail(reason) => {
                    return Err(SqlError::new(SqlState::QUERY_CANCELED, format!("COPY from stdin failed: {reason}")));
                }
            }
        };
        match result {
            Ok(affected) => Ok(format!("COPY {}", affected.rows)),
            // The client goes on sending; the wire layer skips what is left of it.
            Err(error) => Err(error),
        }
    }

    /// Locks the table that will be written; it may be another one after a wait.
    async fn lock_copy_target(&mut self, copy: &Copy) -> Result<Scope, SqlError> {
        let mut held = Vec::new();
        loop {
            let scope = self.scope();
            let wanted = copy_locks(copy, &scope);
            if wanted.iter().all(|lock| held.contains(lock)) {
                return Ok(scope);
            }
            if !self.locks.try_fast(&wanted) {
                self.lock_relations(&wanted, true).await?;
            }
            held.extend(wanted);
            self.transaction.unpin_if_new();
        }
    }

    async fn copy_out(&mut self, copy: &Copy, client: &mut dyn Client) -> Result<String, SqlError> {
        let (scope, output, plan) = loop {
            let scope = self.scope();
            let (output, plan) = CopyOut::begin(copy, &self.context(&scope)?)?;
            if self.lock_fitting(&plan).await? {
                break (scope, output, plan);
            }
        };
        self.step(&scope.settings);
        self.check_allowed(&crate::ast::Statement::Copy(Box::new(copy.clone())), Some(&plan))?;
        client.copy_out_start(CopyStart { format: format_of(output.is_binary()), columns: output.column_count() });
        let mut buffer = Vec::new();
        output.header(&mut buffer);
        let mut execution = Execution::open(plan, Vec::new());
        let mut rows = 0u64;
        loop {
            let progress = {
                let mut ctx = self.context(&scope)?;
                let settings = &scope.settings.formats;
                let text = crate::types::TextContext { settings, now: ctx.transaction_time, session: ctx.session };
                let mut sink = |row: &[Datum]| {
                    output.row(row, &text, &mut buffer)?;
                    client.copy_out_data(&buffer);
                    buffer.clear();
                    rows += 1;
                    Ok(if client.buffered() >= FLUSH_BYTES { Flow::Suspend } else { Flow::Continue })
                };
                execution.run(&mut ctx, &mut sink, None).await?
            };
            match progress {
                Progress::Suspended => client.flush().await.map_err(client_gone)?,
                Progress::Done(_) => break,
            }
        }
        output.trailer(&mut buffer);
        if !buffer.is_empty() {
            client.copy_out_data(&buffer);
        }
        client.copy_out_done();
        Ok(format!("COPY {rows}"))
    }
}

fn copy_locks(copy: &Copy, scope: &Scope) -> Vec<TableLock> {
    let mut locks = TableLocks::default();
    if let CopySource::Table { name, .. } = &copy.source
        && let Some(relation) = scope.catalog.resolve(name.schema.as_deref(), &name.name, &scope.plan_settings.search_path)
    {
        locks.write(relation.descriptor(), RowChange::Insert, &scope.catalog);
    }
    locks.finish()
}

fn format_of(binary: bool) -> Format {
    if binary { Format::Binary } else { Format::Text }
}
