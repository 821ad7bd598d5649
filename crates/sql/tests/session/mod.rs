//! A real session over a store in this process, with a client that keeps what it is told as text.

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

/// Rows that are shown of one result; of the others only the number.
const ROWS_SHOWN: usize = 12;

/// A session with all that is below it.
pub(crate) struct TestSession {
    runtime: tokio::runtime::Runtime,
    session: Session,
    _store: Arc<Store>,
    _folder: tempfile::TempDir,
}

impl TestSession {
    pub(crate) fn open() -> TestSession {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (store, session) = runtime.block_on(async {
            let storage = Storage::open(Options::for_tests(folder.path())).expect("storage opens");
            let store = Store::open(storage, Arc::new(KvSettings::default())).expect("store opens");
            let sender = Arc::new(DistSender::new(store.sender(), Arc::new(ClientMetrics::default())));
            store.start(Arc::clone(&sender) as Arc<dyn tidelock_kvapi::Sender>);
            let cluster = Cluster::open(Db::new(sender), Arc::new(NoHooks), SessionSettings::default()).await.expect("the cluster opens");
            let options = ConnectOptions { user: "postgres".into(), database: "postgres".into(), ..ConnectOptions::default() };
            (store, Session::connect(&cluster, options, 1).expect("a session"))
        });
        TestSession { runtime, session, _store: store, _folder: folder }
    }

    /// Runs a query string over the simple protocol.
    pub(crate) fn run(&mut self, sql: &str) -> String {
        let mut client = TextClient::default();
        self.runtime.block_on(self.session.simple_query(sql, &mut client)).expect("the client is there");
        client.finish()
    }
}

struct NoHooks;

impl ServerHooks for NoHooks {
    fn spill_dir(&self) -> &std::path::Path {
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
    }
    fn metrics(&self) -> Vec<(String, f64)> {
        vec![("test.metric".into(), 1.0)]
    }
    fn server_setting(&self, _: &str) -> Option<String> {
        None
    }
    fn set_server_setting(&self, name: &str, _: &str) -> Result<(), String> {
        Err(format!("no setting {name}"))
    }
    fn server_settings(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }
    fn wait_graph(&self) -> Option<Arc<dyn WaitGraph>> {
        None
    }
    fn locks(&self) -> Vec<HeldLock> {
        Vec::new()
    }
    fn waits(&self) -> Vec<LockWait> {
        Vec::new()
    }
}

#[derive(Default)]
struct TextClient {
    lines: Vec<String>,
    types: Vec<DataType>,
    settings: Arc<FormatSettings>,
    names: Option<Arc<dyn SessionInfo + Send>>,
    rows: usize,
}

impl TextClient {
    fn finish(mut self) -> String {
        self.count_hidden();
        self.lines.join("\n")
    }

    fn count_hidden(&mut self) {
        if self.rows > ROWS_SHOWN {
            self.lines.push(format!("({} rows)", self.rows));
        }
        self.rows = 0;
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
        self.rows += 1;
        if self.rows > ROWS_SHOWN {
            return Ok(());
        }
        let mut context = TextContext::new(&self.settings);
        if let Some(names) = &self.names {
            context.session = &**names;
        }
        let shown: Vec<String> = row.iter().zip(&self.types).map(|(value, ty)| text::to_string(value, *ty, &context)).collect();
        // An empty line ends a block.
        let line = shown.join("|").replace('\n', "\\n");
        self.lines.push(if line.is_empty() { "(empty)".into() } else { line });
        Ok(())
    }

    fn command_complete(&mut self, _: &str) {
        self.count_hidden();
    }

    fn empty_query(&mut self) {}

    fn error(&mut self, error: &SqlError) {
        self.lines.push(format!("ERROR {}: {}", error.fields().state.0, error.fields().message));
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
        Mark { bytes: self.lines.len(), flushes: 0 }
    }

    fn rewind(&mut self, mark: Mark) -> bool {
        self.lines.truncate(mark.bytes);
        true
    }
}
