//! The connection's socket with its two buffers, and the session's view of it: [`Stream`] is the [`Client`].
//!
//! Output is only sent by [`Stream::send`]: once per Sync, simple query or Flush, and when a running statement has filled
//! [`FLUSH_BYTES`](tidelock_sql::session::FLUSH_BYTES). Then it waits until the client takes it, so a client that does not
//! read stops its own statement and costs the server no more than that buffer.
//!
//! The socket is shared with the watch that notices a client's going away while its statement runs (`watch.rs`).

use crate::frontend::{self, Frame, Kind, Progress};
use crate::limits::{COPY_INPUT_BYTES, INPUT_BYTES, INPUT_GROWTH, OUTPUT_KEPT};
use crate::metrics::WireMetrics;
use crate::output::Output;
use bytes::{Buf, Bytes, BytesMut};
use pgwire::messages::copy::CopyDone;
use pgwire::messages::response::EmptyQueryResponse;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use tidelock_sql::error::{SqlError, SqlState};
use tidelock_sql::exec::Notice;
use tidelock_sql::expr::SessionInfo;
use tidelock_sql::plan::OutputColumn;
use tidelock_sql::session::{Client, CopyInput, CopyStart, Format, Mark};
use tidelock_sql::types::{Datum, FormatSettings};
use tokio::net::TcpStream;

/// One client's bytes, both ways.
pub(crate) struct Stream {
    socket: Arc<TcpStream>,
    pub(crate) input: BytesMut,
    pub(crate) output: Output,
    flushes: u64,
    /// Why the connection must end, found while a statement was reading COPY data.
    fatal: Option<SqlError>,
    metrics: Arc<WireMetrics>,
}

impl Stream {
    pub(crate) fn new(socket: TcpStream, metrics: Arc<WireMetrics>) -> Stream {
        let (socket, input) = (Arc::new(socket), BytesMut::with_capacity(INPUT_BYTES));
        Stream { socket, input, output: Output::default(), flushes: 0, fatal: None, metrics }
    }

    /// For the watch, and for waiting.
    pub(crate) fn socket(&self) -> &Arc<TcpStream> {
        &self.socket
    }

    /// An error that ends the connection, if a statement met one.
    pub(crate) fn take_fatal(&mut self) -> Option<SqlError> {
        self.fatal.take()
    }

    /// The next message, if it is here already; otherwise [`Stream::fill`] wants to be called.
    pub(crate) fn next_frame(&mut self) -> Result<Option<Frame>, SqlError> {
        match frontend::progress(&self.input)? {
            Progress::Complete(kind, whole) => {
                self.metrics.messages.fetch_add(1, Relaxed);
                Ok(Some(frontend::take(&mut self.input, kind, whole)))
            }
            Progress::Missing(bytes) => {
                // What is asked for is given only as far as data has come: a length word alone must not cost memory.
                let growth = self.input.len().clamp(INPUT_BYTES, INPUT_GROWTH);
                self.input.reserve(bytes.min(growth));
                Ok(None)
            }
        }
    }

    /// Takes what has arrived; `WouldBlock` when nothing has, `UnexpectedEof` when nothing will.
    pub(crate) fn try_fill(&mut self) -> io::Result<()> {
        if self.input.capacity() == self.input.len() {
            self.input.reserve(INPUT_BYTES);
        }
        let bytes = self.socket.try_read_buf(&mut self.input)?;
        self.metrics.bytes_in.fetch_add(bytes as u64, Relaxed);
        if bytes == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    /// Waits for input and takes it.
    pub(crate) async fn fill(&mut self) -> io::Result<()> {
        loop {
            match self.try_fill() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.socket.readable().await?,
                done => return done,
            }
        }
    }

    /// Sends everything, usually with one system call.
    pub(crate) async fn send(&mut self) -> io::Result<()> {
        if self.output.is_broken() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if self.output.buffer.is_empty() {
            return Ok(());
        }
        self.flushes += 1;
        while !self.output.buffer.is_empty() {
            match self.socket.try_write(&self.output.buffer) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(bytes) => {
                    self.metrics.writes.fetch_add(1, Relaxed);
                    self.metrics.bytes_out.fetch_add(bytes as u64, Relaxed);
                    self.sent(bytes);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.socket.writable().await?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Keeps the buffer when all of it went out, unless it has grown large.
    fn sent(&mut self, bytes: usize) {
        let buffer = &mut self.output.buffer;
        if bytes < buffer.len() {
            buffer.advance(bytes);
        } else if buffer.capacity() > OUTPUT_KEPT {
            *buffer = BytesMut::new();
        } else {
            buffer.clear();
        }
    }

    /// Gives back an input buffer that one large message made large.
    pub(crate) fn shrink_idle(&mut self) {
        if self.input.is_empty() && self.input.capacity() > OUTPUT_KEPT {
            self.input = BytesMut::with_capacity(INPUT_BYTES);
        }
    }

    /// Sends no more, and throws away what still comes until the client closes.
    pub(crate) async fn drain(&mut self) -> io::Result<()> {
        let socket = socket2::SockRef::from(&*self.socket);
        socket.shutdown(std::net::Shutdown::Write)?;
        loop {
            self.input.clear();
            self.fill().await?;
        }
    }

    async fn frame(&mut self) -> io::Result<Frame> {
        loop {
            match self.next_frame() {
                Ok(Some(frame)) => return Ok(frame),
                Ok(None) => self.fill().await?,
                Err(error) => return Err(self.end_with(error)),
            }
        }
    }

    /// A portion of COPY data with those that have arrived behind it: libpq sends a message for each line, and each one would be a step of its own.
    fn more_copy_data(&mut self, first: Bytes) -> Bytes {
        if self.input.capacity() - self.input.len() < COPY_INPUT_BYTES {
            self.input.reserve(COPY_INPUT_BYTES);
        }
        if first.len() >= COPY_INPUT_BYTES || !frontend::is_next(&self.input, Kind::CopyData) {
            return first;
        }
        let mut gathered = BytesMut::with_capacity(COPY_INPUT_BYTES);
        gathered.extend_from_slice(&first);
        while gathered.len() < COPY_INPUT_BYTES && frontend::is_next(&self.input, Kind::CopyData) {
            // What is wrong with a message is found when it is taken alone.
            let Ok(Some(frame)) = self.next_frame() else { break };
            gathered.extend_from_slice(&frame.body);
        }
        gathered.freeze()
    }

    fn end_with(&mut self, error: SqlError) -> io::Error {
        self.fatal.get_or_insert(error);
        io::ErrorKind::InvalidData.into()
    }
}

#[async_trait::async_trait]
impl Client for Stream {
    fn row_description(&mut self, columns: &[OutputColumn], formats: &[Format]) {
        self.output.row_description(columns, formats);
    }

    fn row(&mut self, row: &[Datum]) -> Result<(), SqlError> {
        self.output.row(row)
    }

    fn begin_rows(
        &mut self,
        columns: &[OutputColumn],
        formats: &[Format],
        settings: &Arc<FormatSettings>,
        names: Arc<dyn SessionInfo + Send>,
    ) {
        self.output.shape.begin(columns, formats, settings, names);
    }

    fn command_complete(&mut self, tag: &str) {
        self.output.command_complete(tag);
    }

    fn empty_query(&mut self) {
        self.output.put(EmptyQueryResponse::new());
    }

    fn error(&mut self, error: &SqlError) {
        if error.state() == SqlState::ADMIN_SHUTDOWN {
            // It ends the connection, which says so by itself.
            self.fatal.get_or_insert_with(|| error.clone());
        } else if self.fatal.is_none() {
            self.output.error("ERROR", error);
        }
    }

    fn notice(&mut self, notice: &Notice) {
        self.output.notice(notice);
    }

    fn parameter_status(&mut self, name: &str, value: &str) {
        self.output.parameter_status(name, value);
    }

    fn copy_out_start(&mut self, start: CopyStart) {
        self.output.copy_out_start(start);
    }

    fn copy_out_data(&mut self, data: &[u8]) {
        self.output.copy_data(data);
    }

    fn copy_out_done(&mut self) {
        self.output.put(CopyDone::new());
    }

    async fn copy_in_start(&mut self, start: CopyStart) -> io::Result<()> {
        self.output.copy_in_start(start);
        self.send().await
    }

    async fn copy_input(&mut self) -> io::Result<CopyInput> {
        loop {
            let frame = self.frame().await?;
            match frame.kind {
                Kind::CopyData => return Ok(CopyInput::Data(self.more_copy_data(frame.body))),
                Kind::CopyDone => return Ok(CopyInput::Done),
                Kind::CopyFail => {
                    let reason = frontend::text(&frame.body).unwrap_or("(not readable)");
                    return Ok(CopyInput::Fail(reason.to_owned()));
                }
                // libpq sends these before it knows that its statement was a COPY; PostgreSQL ignores them, too.
                Kind::Flush | Kind::Sync => {}
                Kind::Terminate => return Err(io::ErrorKind::UnexpectedEof.into()),
                other => return Err(self.end_with(unexpected_in_copy(other))),
            }
        }
    }

    fn buffered(&self) -> usize {
        self.output.buffer.len()
    }

    async fn flush(&mut self) -> io::Result<()> {
        self.send().await?;
        // A large result must not keep the other connections of this thread waiting.
        tokio::task::yield_now().await;
        Ok(())
    }

    fn mark(&self) -> Mark {
        Mark { bytes: self.output.buffer.len(), flushes: self.flushes }
    }

    fn rewind(&mut self, mark: Mark) -> bool {
        if mark.flushes != self.flushes {
            return false;
        }
        self.output.buffer.truncate(mark.bytes);
        true
    }
}

fn unexpected_in_copy(kind: Kind) -> SqlError {
    let message = format!("unexpected message type 0x{:02X} during COPY from stdin", kind.byte());
    SqlError::new(SqlState::PROTOCOL_VIOLATION, message)
}
