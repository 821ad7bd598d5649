//! One connection, from its socket to its end: the loop that takes messages and gives answers.
//!
//! ```text
//!   startup ─► ┌─ wait for input (or the server's end, or an idle timeout)
//!              │   Query            ─► simple_query, ReadyForQuery, send
//!              │   Parse, Bind, ..  ─► answer into the buffer; on error, skip to Sync
//!              │   Flush            ─► send
//!              └─◄ Sync             ─► sync, ReadyForQuery, send
//! ```
//!
//! One task per connection, on one thread; a statement that meets no conflict runs here without a switch. Everything is
//! answered in the order it was asked, and sent once per Sync. Whatever way the connection ends, its session is closed, which
//! rolls back and releases its locks.

use crate::control::{Control, End};
use crate::frontend::{self, Frame, Kind, Target};
use crate::limits::STARTUP_TIMEOUT;
use crate::metrics::WireMetrics;
use crate::startup::{self, Opening, Refusal};
use crate::states;
use crate::stream::Stream;
use crate::watch::watched;
use futures::FutureExt;
use pgwire::messages::data::{NoData, ParameterDescription};
use pgwire::messages::extendedquery::{BindComplete, CloseComplete, ParseComplete, PortalSuspended};
use pgwire::messages::response::{NotificationResponse, TransactionStatus};
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Poll, ready};
use std::time::Duration;
use tidelock_sql::error::{SqlError, SqlState};
use tidelock_sql::session::{Block, Client, Cluster, Executed, FLUSH_BYTES, Session};
use tokio::net::TcpStream;

/// What every connection of a server shares.
pub(crate) struct Shared {
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) metrics: Arc<WireMetrics>,
    pub(crate) places: tokio::sync::Semaphore,
}

/// Why the loop ended.
enum Ended {
    /// Terminate, or the socket failed.
    Gone,
    /// To be told to the client before the socket is closed.
    Fatal(SqlError),
}

impl From<io::Error> for Ended {
    fn from(_: io::Error) -> Ended {
        Ended::Gone
    }
}

impl From<SqlError> for Ended {
    fn from(error: SqlError) -> Ended {
        Ended::Fatal(error)
    }
}

/// Serves a socket to its end.
pub(crate) async fn serve(socket: TcpStream, remote: SocketAddr, shared: Arc<Shared>, control: Arc<Control>) {
    let mut stream = Stream::new(socket, Arc::clone(&shared.metrics));
    let opening = {
        let opening = pin!(startup::open(&mut stream, Some(remote)));
        tokio::time::timeout(STARTUP_TIMEOUT, until_asked(&control, opening)).await
    };
    let refused = match opening {
        Ok(Ok(Opening::Session(options))) => match connect(&shared, options, &mut stream, &control) {
            Ok((session, place)) => {
                converse(session, &mut stream, &shared, &control).await;
                drop(place);
                return;
            }
            Err(error) => Refusal::Fatal(error),
        },
        Ok(Ok(Opening::Cancel(pid, secret))) => {
            shared.metrics.cancel_requests.fetch_add(1, Relaxed);
            shared.cluster.cancel(pid, secret);
            Refusal::Gone
        }
        Ok(Err(refusal)) => refusal,
        Err(_) => Refusal::Gone,
    };
    if let Refusal::Fatal(error) = refused {
        tracing::debug!(%error, %remote, "connection refused");
        say_last_words(&mut stream, &error).await;
    }
}

/// A session, and the place it takes among `max_connections`.
fn connect<'a>(
    shared: &'a Shared,
    options: tidelock_sql::session::ConnectOptions,
    stream: &mut Stream,
    control: &Control,
) -> Result<(Session, tokio::sync::SemaphorePermit<'a>), SqlError> {
    let place = shared.places.try_acquire().map_err(|_| {
        shared.metrics.refused.fetch_add(1, Relaxed);
        states::too_many_connections()
    })?;
    startup::authenticate(stream);
    let secret: i32 = rand::random();
    let session = Session::connect(&shared.cluster, options, secret)?;
    control.attach(Arc::clone(session.handle()), session.watch());
    startup::welcome(stream, &session, secret);
    Ok((session, place))
}

/// The session's life. A panic inside ends this connection and nothing else.
async fn converse(mut session: Session, stream: &mut Stream, shared: &Shared, control: &Control) {
    let mut conversation = Conversation { session: &mut session, stream, control, shared, skipping: false };
    let ended = AssertUnwindSafe(conversation.run()).catch_unwind().await.unwrap_or_else(|_| {
        shared.metrics.panics.fetch_add(1, Relaxed);
        tracing::error!("a statement panicked; its connection is closed");
        Ended::Fatal(states::internal_error())
    });
    let error = match ended {
        Ended::Fatal(error) => Some(error),
        Ended::Gone => stream.take_fatal(),
    };
    // Locks first: the farewell may wait for a client that does not read.
    session.close().await;
    if let Some(error) = error {
        tracing::debug!(%error, "connection ended");
        say_last_words(stream, &error).await;
    }
}

/// A FATAL error, if the client takes it within a moment.
async fn say_last_words(stream: &mut Stream, error: &SqlError) {
    const PATIENCE: Duration = Duration::from_secs(1);
    stream.output.error("FATAL", error);
    let farewell = async {
        stream.send().await?;
        // Closing with unread input would reset the connection, and the client might never see the error.
        stream.drain().await
    };
    let _ = tokio::time::timeout(PATIENCE, farewell).await;
}

/// Runs the startup, unless the server stops meanwhile.
async fn until_asked<T>(control: &Control, mut work: Pin<&mut impl Future<Output = Result<T, Refusal>>>) -> Result<T, Refusal> {
    poll_fn(|context| {
        control.register(context.waker());
        if control.ending().is_some() {
            return Poll::Ready(Err(states::admin_shutdown().into()));
        }
        work.as_mut().poll(context)
    })
    .await
}

struct Conversation<'a> {
    session: &'a mut Session,
    stream: &'a mut Stream,
    control: &'a Control,
    shared: &'a Shared,
    /// An extended-protocol message failed: everything up to Sync is skipped.
    skipping: bool,
}

impl Conversation<'_> {
    async fn run(&mut self) -> Ended {
        match self.converse().await {
            Err(ended) => ended,
            Ok(never) => match never {},
        }
    }

    async fn converse(&mut self) -> Result<std::convert::Infallible, Ended> {
        self.stream.send().await?;
        loop {
            self.check_ending()?;
            let Some(frame) = self.stream.next_frame()? else {
                self.wait_for_input().await?;
                continue;
            };
            self.message(frame).await?;
            if self.stream.buffered() >= FLUSH_BYTES {
                self.stream.send().await?;
            }
        }
    }

    fn check_ending(&self) -> Result<(), Ended> {
        match self.control.ending() {
            None => Ok(()),
            Some(End::Shutdown) => Err(states::admin_shutdown().into()),
            Some(End::TransactionTimeout) => Err(states::transaction_timeout().into()),
            Some(End::IdleTimeout) if self.session.is_overdue() => Err(states::transaction_timeout().into()),
            Some(End::IdleTimeout) => Err(states::idle_timeout(self.session.status() == Block::Explicit).into()),
        }
    }

    /// Waits for the client, or for the word to end.
    async fn wait_for_input(&mut self) -> Result<(), Ended> {
        match self.stream.try_fill() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            done => return Ok(done?),
        }
        self.stream.shrink_idle();
        self.control.begin_idle(self.session.idle_timeout());
        let (socket, control) = (Arc::clone(self.stream.socket()), self.control);
        // Mail for the client is told while it idles, never inside a transaction block.
        let mailbox = matches!(self.session.status(), Block::None).then(|| Arc::clone(self.session.mailbox()));
        let waited = poll_fn(|context| {
            control.register(context.waker());
            let has_mail = mailbox.as_ref().is_some_and(|mailbox| mailbox.poll(context).is_ready());
            if control.ending().is_some() || has_mail {
                return Poll::Ready(Ok(()));
            }
            ready!(socket.poll_read_ready(context))?;
            Poll::Ready(Ok::<(), io::Error>(()))
        });
        waited.await?;
        self.control.end_idle();
        self.check_ending()?;
        if self.tell_notifications() {
            self.stream.send().await?;
        }
        match self.stream.try_fill() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            done => Ok(done?),
        }
    }

    async fn message(&mut self, frame: Frame) -> Result<(), Ended> {
        if self.skipping && !matches!(frame.kind, Kind::Sync | Kind::Terminate) {
            return Ok(());
        }
        match frame.kind {
            Kind::Query => self.query(&frame).await,
            Kind::Parse | Kind::Bind | Kind::Describe | Kind::Execute | Kind::Close => self.extended(&frame).await,
            Kind::Flush => Ok(self.stream.send().await?),
            Kind::Sync => self.sync().await,
            // The client had not heard yet that its COPY failed.
            Kind::CopyData | Kind::CopyDone | Kind::CopyFail => Ok(()),
            Kind::FunctionCall => {
                self.stream.error(&SqlError::unsupported("the function call protocol"));
                self.ready_for_query().await
            }
            Kind::Password => Err(SqlError::new(SqlState::PROTOCOL_VIOLATION, "invalid frontend message type 112").into()),
            Kind::Terminate => Err(Ended::Gone),
        }
    }

    async fn query(&mut self, frame: &Frame) -> Result<(), Ended> {
        match frontend::text(&frame.body) {
            Ok(sql) => {
                let (session, stream) = (&mut *self.session, &mut *self.stream);
                let socket = Arc::clone(stream.socket());
                let query = pin!(session.simple_query(sql, stream));
                watched(&socket, self.control, &self.shared.metrics, query).await?;
            }
            Err(error) => {
                self.stream.error(&error);
                self.session.failed().await;
            }
        }
        self.ready_for_query().await
    }

    async fn extended(&mut self, frame: &Frame) -> Result<(), Ended> {
        if let Err(error) = self.extended_message(frame).await {
            if let Some(fatal) = self.stream.take_fatal() {
                return Err(fatal.into());
            }
            self.stream.error(&error);
            self.session.failed().await;
            self.skipping = true;
            // At once, as PostgreSQL does: a client that sent Flush instead of Sync waits for just this.
            self.stream.flush().await?;
        }
        Ok(())
    }

    async fn extended_message(&mut self, frame: &Frame) -> Result<(), SqlError> {
        match frame.kind {
            Kind::Parse => self.parse(frame).await,
            Kind::Bind => self.bind(frame).await,
            Kind::Describe => self.describe(frame).await,
            Kind::Execute => self.execute(frame).await,
            _ => self.close(frame),
        }
    }

    async fn parse(&mut self, frame: &Frame) -> Result<(), SqlError> {
        let message = frontend::parse(&frame.body)?;
        self.session.parse(message.name, message.sql, &message.types).await?;
        self.stream.output.put(ParseComplete::new());
        Ok(())
    }

    async fn bind(&mut self, frame: &Frame) -> Result<(), SqlError> {
        let message = frontend::bind(&frame.body)?;
        let formats = message.result_formats.len();
        self.session.bind(message.portal, message.statement, &message.param_formats, &message.params, message.result_formats).await?;
        if formats > 1 {
            let columns = self.session.portal_columns(message.portal)?;
            if columns != formats {
                let message = format!("bind message has {formats} result formats but query has {columns} columns");
                return Err(SqlError::new(SqlState::PROTOCOL_VIOLATION, message));
            }
        }
        self.stream.output.put(BindComplete::new());
        Ok(())
    }

    async fn describe(&mut self, frame: &Frame) -> Result<(), SqlError> {
        let described = match frontend::target(&frame.body, "DESCRIBE")? {
            Target::Statement(name) => {
                let statement = self.session.describe_statement(name).await?;
                let types = statement.params.iter().map(|ty| ty.0).collect();
                self.stream.output.put(ParameterDescription::new(types));
                statement.columns.map(|columns| (columns, Vec::new()))
            }
            Target::Portal(name) => self.session.describe_portal(name)?,
        };
        match described {
            Some((columns, formats)) => self.stream.output.row_description(&columns, &formats),
            None => self.stream.output.put(NoData::new()),
        }
        Ok(())
    }

    async fn execute(&mut self, frame: &Frame) -> Result<(), SqlError> {
        let message = frontend::execute(&frame.body)?;
        let (session, stream) = (&mut *self.session, &mut *self.stream);
        let socket = Arc::clone(stream.socket());
        let executed = {
            let execution = pin!(session.execute(message.portal, message.max_rows, stream));
            watched(&socket, self.control, &self.shared.metrics, execution).await?
        };
        if executed == Executed::Suspended {
            self.stream.output.put(PortalSuspended::new());
        }
        Ok(())
    }

    fn close(&mut self, frame: &Frame) -> Result<(), SqlError> {
        match frontend::target(&frame.body, "CLOSE")? {
            Target::Statement(name) => self.session.close_statement(name),
            Target::Portal(name) => self.session.close_portal(name),
        }
        self.stream.output.put(CloseComplete::new());
        Ok(())
    }

    async fn sync(&mut self) -> Result<(), Ended> {
        self.skipping = false;
        let (session, stream) = (&mut *self.session, &mut *self.stream);
        let socket = Arc::clone(stream.socket());
        {
            let sync = pin!(session.sync(stream));
            watched(&socket, self.control, &self.shared.metrics, sync).await?;
        }
        self.ready_for_query().await
    }

    /// Writes what has come for the client by NOTIFY; false when there was nothing.
    fn tell_notifications(&mut self) -> bool {
        if self.session.status() != Block::None {
            return false;
        }
        let mail = self.session.mailbox().take();
        let any = !mail.is_empty();
        for notification in mail {
            let (channel, payload) = (notification.channel.to_string(), notification.payload.to_string());
            self.stream.output.put(NotificationResponse::new(notification.pid, channel, payload));
        }
        any
    }

    async fn ready_for_query(&mut self) -> Result<(), Ended> {
        if let Some(fatal) = self.stream.take_fatal() {
            return Err(fatal.into());
        }
        self.tell_notifications();
        let status = match self.session.status() {
            Block::None | Block::Implicit => TransactionStatus::Idle,
            Block::Explicit => TransactionStatus::Transaction,
            Block::Failed => TransactionStatus::Error,
        };
        self.stream.output.ready_for_query(status);
        Ok(self.stream.send().await?)
    }
}

#[cfg(test)]
mod tests {
    /// The design allows an idle connection 64 KiB, buffers and session included.
    const MAX_TASK_BYTES: usize = 40 * 1024;

    fn size_of_future<F, A, B, C, D>(_: impl Fn(A, B, C, D) -> F) -> usize {
        std::mem::size_of::<F>()
    }

    #[test]
    fn a_connection_task_is_small() {
        let bytes = size_of_future(super::serve);
        assert!(bytes <= MAX_TASK_BYTES, "{bytes} bytes");
    }
}
