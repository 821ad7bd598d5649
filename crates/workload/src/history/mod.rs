//! A workload that writes down what it saw, so that somebody else can say whether the isolation level allows it.
//!
//! Sixteen clients (or how many are asked for) append unique elements to lists and read lists, one by one and by ranges, and move money between accounts whose sum
//! must stay. A list is a row, and its text shows the order of its appends; a handful of lists is in use at a time, and gives way to the next ones when it has
//! grown. Transactions go statement by statement (prepared) or as one text. Now and then a client dies: its socket is closed in the middle of whatever goes on.
//!
//! The server may be killed at any moment too. What was under way is then *aborted* if COMMIT had not been sent, else *unknown*, and the client
//! connects again.
//!
//! What comes out is a [`Recording`]; checking it is not this crate's business, which knows nothing of Tidelock's.

mod client;

use crate::{Connection, Protocol, WorkloadError};
use client::HistoryClient;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Accounts that money is moved between.
pub(crate) const ACCOUNTS: u32 = 12;

/// What is in each at the beginning.
pub(crate) const BALANCE: u32 = 1000;

/// Lists in use at a time: few, so that transactions meet.
const LISTS_IN_USE: u64 = 24;

/// Appends of all clients after which the lists in use move on by one: about how long a list becomes.
const APPENDS_PER_LIST: u64 = 16;

/// How long a client tries to connect: the server may be starting again, with a log to replay.
const CONNECT_PATIENCE: Duration = Duration::from_secs(60);

/// Pause between two attempts to connect.
const CONNECT_PAUSE: Duration = Duration::from_millis(20);

/// What to run.
#[derive(Clone, Debug)]
pub struct HistoryOptions {
    /// Where: `postgres://user@host:port/database`.
    pub url: String,
    /// Clients at a time.
    pub clients: u64,
    /// Transactions of all clients together.
    pub transactions: u64,
    /// Isolation level, as SQL spells it.
    pub isolation: String,
    /// Another seed, other choices.
    pub seed: u64,
    /// A client dies in one of so many transactions; 0 is never.
    pub cut_one_in: u64,
}

/// One thing a transaction did.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum RecordedOp {
    /// Appended an element to a list.
    Append { list: u32, element: u64 },
    /// Saw a list.
    Read { list: u32, elements: Vec<u64> },
}

/// How a transaction ended, as far as its client knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecordedOutcome {
    /// Acknowledged.
    Committed,
    /// Certainly not committed.
    Aborted,
    /// The answer to COMMIT never came.
    Unknown,
}

/// A transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedTxn {
    /// What it did; of one that did not commit, its appends.
    pub ops: Vec<RecordedOp>,
    /// How it ended.
    pub outcome: RecordedOutcome,
    /// Before its first request, on one counter for all clients.
    pub began: u64,
    /// After its last answer.
    pub ended: u64,
}

/// What all clients saw.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Transactions on lists.
    pub transactions: Vec<RecordedTxn>,
    /// What the lists hold when all is over.
    pub last: BTreeMap<u32, Vec<u64>>,
    /// Sums of money that were not what they must be.
    pub wrong: Vec<String>,
    /// Transactions that moved or counted money.
    pub transfers: u64,
    /// Clients that died.
    pub cuts: u64,
    /// Connections that were lost otherwise.
    pub lost: u64,
}

/// What the clients share.
pub(crate) struct Shared {
    pub(crate) options: HistoryOptions,
    moments: AtomicU64,
    elements: AtomicU64,
    tickets: AtomicU64,
    wrong: Mutex<Vec<String>>,
}

impl Shared {
    /// The next moment.
    pub(crate) fn moment(&self) -> u64 {
        self.moments.fetch_add(1, Ordering::SeqCst)
    }

    /// An element that nobody else appends.
    pub(crate) fn element(&self) -> u64 {
        self.elements.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// A list in use.
    pub(crate) fn list(&self, random: u64) -> u32 {
        let first = self.elements.load(Ordering::Relaxed) / APPENDS_PER_LIST;
        (first + random % LISTS_IN_USE) as u32
    }

    /// The right to run one more transaction.
    pub(crate) fn ticket(&self) -> bool {
        self.tickets.fetch_add(1, Ordering::Relaxed) < self.options.transactions
    }

    pub(crate) fn complain(&self, story: String) {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner).push(story);
    }
}

/// Makes the tables anew, runs the clients, and reads what is there at the end.
pub async fn run(options: HistoryOptions) -> Result<Recording, WorkloadError> {
    set_up(&options.url).await?;
    let shared = Arc::new(Shared {
        moments: AtomicU64::new(1),
        elements: AtomicU64::new(0),
        tickets: AtomicU64::new(0),
        wrong: Mutex::default(),
        options,
    });
    let clients = (0..shared.options.clients).map(|number| tokio::spawn(HistoryClient::new(Arc::clone(&shared), number).run()));
    let clients: Vec<_> = clients.collect();
    let mut recording = Recording::default();
    for client in clients {
        let part = client.await.map_err(|error| WorkloadError::Unexpected(format!("a client panicked: {error}")))??;
        recording.transactions.extend(part.transactions);
        recording.transfers += part.transfers;
        recording.cuts += part.cuts;
        recording.lost += part.lost;
    }
    recording.last = read_lists(&shared.options.url).await?;
    recording.wrong = std::mem::take(&mut *shared.wrong.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(recording)
}

/// Connects, however long the server takes to come back.
pub(crate) async fn connect(url: &str) -> Result<Connection, WorkloadError> {
    let started = Instant::now();
    loop {
        match Connection::open(url, Protocol::Prepared).await {
            Err(error) if started.elapsed() > CONNECT_PATIENCE => return Err(error),
            Err(_) => tokio::time::sleep(CONNECT_PAUSE).await,
            Ok(connection) => return Ok(connection),
        }
    }
}

async fn set_up(url: &str) -> Result<(), WorkloadError> {
    let connection = connect(url).await?;
    connection.batch("drop table if exists history_lists; drop table if exists history_accounts").await?;
    connection.batch("create table history_lists (id int primary key, elements text not null)").await?;
    connection.batch("create table history_accounts (id int primary key, balance int not null)").await?;
    let fill = format!("insert into history_accounts select n, {BALANCE} from generate_series(1, {ACCOUNTS}) n");
    connection.batch(&fill).await
}

async fn read_lists(url: &str) -> Result<BTreeMap<u32, Vec<u64>>, WorkloadError> {
    let mut connection = connect(url).await?;
    let rows = connection.query("select id, elements from history_lists", &[]).await?;
    rows.iter().map(|row| Ok((row.int(0)? as u32, elements_of(&row.text(1)?)?))).collect()
}

/// A list's text: numbers between commas.
pub(crate) fn elements_of(text: &str) -> Result<Vec<u64>, WorkloadError> {
    let number = |part: &str| part.parse().map_err(|_| WorkloadError::Unexpected(format!("a list holds '{text}'")));
    text.split(',').map(number).collect()
}
