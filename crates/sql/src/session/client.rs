//! The session's view of its client: where results go, and where COPY data comes from.
//!
//! The wire layer implements [`Client`] over its output buffer. Everything that only adds to that buffer is synchronous, so a
//! statement that meets no conflict is one uninterrupted run; [`Client::flush`] is called between batches of a large
//! result, when the buffer has grown past [`FLUSH_BYTES`], and at the end of the protocol's message.

use crate::error::SqlError;
use crate::exec::Notice;
use crate::expr::SessionInfo;
use crate::plan::OutputColumn;
use crate::types::{Datum, FormatSettings};
use bytes::Bytes;
use std::sync::Arc;

/// Output collected before a running statement sends it: enough to fill packets, little enough to keep in cache.
pub const FLUSH_BYTES: usize = 64 * 1024;

/// How a value travels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    /// As text.
    #[default]
    Text,
    /// In PostgreSQL's binary form.
    Binary,
}

/// A place in the output to which a retry may go back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark {
    /// Bytes in the buffer.
    pub bytes: usize,
    /// How often the buffer was sent so far.
    pub flushes: u64,
}

/// A piece of COPY input.
#[derive(Clone, Debug)]
pub enum CopyInput {
    /// Data, cut anywhere.
    Data(Bytes),
    /// CopyDone.
    Done,
    /// CopyFail, with the client's reason.
    Fail(String),
}

/// What COPY announces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CopyStart {
    /// Binary, or text (CSV is text).
    pub format: Format,
    /// Number of columns.
    pub columns: usize,
}

/// Whom a session works for.
#[async_trait::async_trait]
pub trait Client: Send {
    /// RowDescription. `formats` has one entry for all columns, or one per column, or none (all text).
    fn row_description(&mut self, columns: &[OutputColumn], formats: &[Format]);

    /// DataRow, in the formats of the last [`Client::begin_rows`].
    fn row(&mut self, row: &[Datum]) -> Result<(), SqlError>;

    /// Says what the rows to come look like, without sending anything: their types decide how values are written, as do
    /// the session's DateStyle and its like.
    /// `names` is where regclass and its like find theirs.
    fn begin_rows(
        &mut self,
        columns: &[OutputColumn],
        formats: &[Format],
        settings: &Arc<FormatSettings>,
        names: Arc<dyn SessionInfo + Send>,
    );

    /// CommandComplete.
    fn command_complete(&mut self, tag: &str);

    /// EmptyQueryResponse.
    fn empty_query(&mut self);

    /// ErrorResponse.
    fn error(&mut self, error: &SqlError);

    /// NoticeResponse.
    fn notice(&mut self, notice: &Notice);

    /// ParameterStatus.
    fn parameter_status(&mut self, name: &str, value: &str);

    /// CopyOutResponse.
    fn copy_out_start(&mut self, start: CopyStart);

    /// CopyData.
    fn copy_out_data(&mut self, data: &[u8]);

    /// CopyDone.
    fn copy_out_done(&mut self);

    /// Sends CopyInResponse, at once; [`Client::copy_input`] follows.
    async fn copy_in_start(&mut self, start: CopyStart) -> std::io::Result<()>;

    /// The next piece of COPY input.
    async fn copy_input(&mut self) -> std::io::Result<CopyInput>;

    /// Bytes waiting to be sent.
    fn buffered(&self) -> usize;

    /// Sends what is buffered.
    async fn flush(&mut self) -> std::io::Result<()>;

    /// Where the output is now.
    fn mark(&self) -> Mark;

    /// Takes back what was written since `mark`; false when part of it was sent already.
    fn rewind(&mut self, mark: Mark) -> bool;
}
