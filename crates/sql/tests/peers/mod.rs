//! Who runs a schedule's steps: sessions of a server in this process, or of a PostgreSQL.

use std::fmt::Write as _;
use std::sync::Arc;
use tidelock_kvapi::WaitGraph;
use tidelock_kvclient::{ClientMetrics, Db, DistSender};
use tidelock_kvserver::{KvSettings, Store};
use tidelock_sql::error::SqlError;
use tidelock_sql::exec::Notice;
use tidelock_sql::expr::SessionInfo;
use tidelock_sql::plan::OutputColumn;
use tidelock_sql::session::{
    Client, Cluster, ConnectOptions, CopyInput, CopyStart, Format, HeldLock, LockWait, Mark, ServerHooks, Session, SessionSettings,
};
use tidelock_sql::types::{DataType, Datum, FormatSettings, TextContext, text};
use tidelock_storage::{Options, Storage};
use tokio::sync::{mpsc, oneshot};

/// Every session begins with these; the schedules are written for PostgreSQL's default level.
const SESSION_DEFAULTS: &str = "set default_transaction_isolation = 'read committed'";

/// What runs in the other server only: there a deadlock is looked for after a delay, and waits must not be for ever.
const POSTGRES_DEFAULTS: &str = "set deadlock_timeout = '20ms'; set statement_timeout = '20s'";

/// The server that schedules run against.
pub(crate) enum Server {
    Tidelock { cluster: Arc<Cluster>, _store: Arc<Store>, _folder: tempfile::TempDir },
    Postgres { url: String },
}

/// A command for a session's task, and where its result goes.
type Command = (String, oneshot::Sender<String>);

/// A session, running in a task of its own.
pub(crate) struct Peer {
    pub(crate) pid: i32,
    commands: mpsc::UnboundedSender<Command>,
}

impl Peer {
    /// Starts a statement.
    pub(crate) fn start(&self, sql: &str) -> oneshot::Receiver<String> {
        let (sender, receiver) = oneshot::channel();
        self.commands.send((sql.to_owned(), sender)).expect("the session's task lives");
        receiver
    }

    /// Runs one to its end.
    pub(crate) async fn run(&self, sql: &str) -> String {
        self.start(sql).await.expect("the session's task answers")
    }
}

impl Server {
    pub(crate) async fn tidelock() -> Server {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let storage = Storage::open(Options::for_tests(folder.path())).expect("storage opens");
        let store = Store::open(storage, Arc::new(KvSettings::default())).expect("store opens");
        let sender = Arc::new(DistSender::new(store.sender(), Arc::new(ClientMetrics::default())));
        store.start(Arc::clone(&sender) as Arc<dyn tidelock_kvapi::Sender>);
        let hooks = Arc::new(Hooks(Arc::clone(&store)));
        let cluster = Cluster::open(Db::new(sender), hooks, SessionSettings::default()).await.expect("the cluster opens");
        Server::Tidelock { cluster, _store: store, _folder: folder }
    }

    pub(crate) async fn session(&self) -> Peer {
        let (commands, receiver) = mpsc::unbounded_channel();
        let pid = match self {
            Server::Tidelock { cluster, .. } => {
                let options = ConnectOptions { user: "postgres".into(), database: "postgres".into(), ..ConnectOptions::default() };
                let session = Session::connect(cluster, options, 1).expect("a session");
                let pid = session.pid();
                tokio::task::spawn_local(serve(session, receiver));
                pid
            }
            Server::Postgres { url } => {
                let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.expect("PostgreSQL answers");
                tokio::task::spawn_local(connection);
                let row = client.query_one("select pg_backend_pid()", &[]).await.expect("a process id");
                client.batch_execute(POSTGRES_DEFAULTS).await.expect("settings");
                tokio::task::spawn_local(forward(client, receiver));
                row.get(0)
            }
        };
        let peer = Peer { pid, commands };
        peer.run(SESSION_DEFAULTS).await;
        peer
    }
}

async fn serve(mut session: Session, mut commands: mpsc::UnboundedReceiver<Command>) {
    while let Some((sql, result)) = commands.recv().await {
        let mut client = TextClient::default();
        session.simple_query(&sql, &mut client).await.expect("the client is there");
        // Nobody listens any more when a schedule was given up.
        result.send(client.finish()).ok();
    }
    session.close().await;
}

async fn forward(client: tokio_postgres::Client, mut commands: mpsc::UnboundedReceiver<Command>) {
    use tokio_postgres::SimpleQueryMessage as Message;
    while let Some((sql, result)) = commands.recv().await {
        let mut shown = Shown::default();
        match client.simple_query(&sql).await {
            Ok(messages) => {
                for message in messages {
                    match message {
                        Message::Row(row) => shown.row((0..row.len()).map(|i| row.get(i).unwrap_or("NULL").to_owned()).collect()),
                        Message::CommandComplete(rows) => shown.complete(rows, &sql),
                        _ => {}
                    }
                }
            }
            Err(error) => match error.as_db_error() {
                Some(error) => shown.error(error.code().code(), error.message()),
                None => shown.error("?????", &error.to_string()),
            },
        }
        result.send(shown.text).ok();
    }
}

/// Results as schedules show them.
#[derive(Default)]
struct Shown {
    text: String,
    rows: u64,
}

impl Shown {
    fn row(&mut self, values: Vec<String>) {
        self.rows += 1;
        writeln!(self.text, "{}", values.join("|")).expect("writing to a string");
    }

    fn complete(&mut self, rows: u64, sql: &str) {
        let word = sql.split_whitespace().next().unwrap_or_default().to_lowercase();
        let counts = matches!(word.as_str(), "select" | "insert" | "update" | "delete" | "with" | "values" | "fetch");
        if self.rows == 0 {
            let line = if counts { format!("({rows} rows)") } else { "ok".to_owned() };
            writeln!(self.text, "{line}").expect("writing to a string");
        }
        self.rows = 0;
    }

    fn error(&mut self, code: &str, message: &str) {
        writeln!(self.text, "ERROR {code}: {message}").expect("writing to a string");
    }
}

struct Hooks(Arc<Store>);

impl ServerHooks for Hooks {
    fn spill_dir(&self) -> &std::path::Path {
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
    }
    fn metrics(&self) -> Vec<(String, f64)> {
        Vec::new()
    }
    fn server_setting(&self, _: &str) -> Option<String> {
        None
    }
    fn set_server_setting(&self, name: &str, _: &str) -> Result<(), String> {
        Err(name.to_owned())
    }
    fn server_settings(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }
    fn wait_graph(&self) -> Option<Arc<dyn WaitGraph>> {
        Some(self.0.wait_graph())
    }
    fn locks(&self) -> Vec<HeldLock> {
        Vec::new()
    }
    fn waits(&self) -> Vec<LockWait> {
        let wait = |wait: tidelock_kvserver::wait::WaitInfo| LockWait {
            key: wait.key,
            session: wait.session,
            strength: wait.strength,
            blockers: wait.blockers,
            waited_ms: wait.waited.as_millis() as u64,
        };
        self.0.waits().into_iter().map(wait).collect()
    }
}

#[derive(Default)]
struct TextClient {
    shown: Shown,
    types: Vec<DataType>,
    settings: Arc<FormatSettings>,
    names: Option<Arc<dyn SessionInfo + Send>>,
}

impl TextClient {
    fn finish(self) -> String {
        self.shown.text
    }
}

#[async_trait::async_trait]
impl Client for TextClient {
    fn row_description(&mut self, _: &[OutputColumn], _: &[Format]) {}

    fn begin_rows(&mut self, columns: &[OutputColumn], _: &[Format], settings: &Arc<FormatSettings>, names: Arc<dyn SessionInfo + Send>) {
        self.types = columns.iter().map(|column| column.ty.ty).collect();
        self.settings = Arc::clone(settings);
        self.names = Some(names);
    }

    fn row(&mut self, row: &[Datum]) -> Result<(), SqlError> {
        let mut context = TextContext::new(&self.settings);
        if let Some(names) = &self.names {
            context.session = &**names;
        }
        let shown = |(value, ty): (&Datum, &DataType)| {
            if value.is_null() { "NULL".to_owned() } else { text::to_string(value, *ty, &context) }
        };
        self.shown.row(row.iter().zip(&self.types).map(shown).collect());
        Ok(())
    }

    fn command_complete(&mut self, tag: &str) {
        let rows = tag.rsplit(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0);
        self.shown.complete(rows, tag);
    }

    fn empty_query(&mut self) {}

    fn error(&mut self, error: &SqlError) {
        // The other side's client gives no rows of what failed in the end.
        self.shown.text.clear();
        self.shown.error(error.fields().state.0, &error.fields().message);
    }

    fn notice(&mut self, _: &Notice) {}
    fn parameter_status(&mut self, _: &str, _: &str) {}
    fn copy_out_start(&mut self, _: CopyStart) {}
    fn copy_out_data(&mut self, _: &[u8]) {}
    fn copy_out_done(&mut self) {}

    async fn copy_in_start(&mut self, _: CopyStart) -> std::io::Result<()> {
        Ok(())
    }

    async fn copy_input(&mut self) -> std::io::Result<CopyInput> {
        Ok(CopyInput::Done)
    }

    fn buffered(&self) -> usize {
        0
    }

    async fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }

    fn mark(&self) -> Mark {
        Mark { bytes: self.shown.text.len(), flushes: 0 }
    }

    fn rewind(&mut self, mark: Mark) -> bool {
        self.shown.text.truncate(mark.bytes);
        self.shown.rows = 0;
        true
    }
}
