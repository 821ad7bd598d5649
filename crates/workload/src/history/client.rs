//! One client: a transaction after the other, each written down with its outcome.

use super::{ACCOUNTS, BALANCE, RecordedOp, RecordedOutcome, RecordedTxn, Recording, Shared, connect, elements_of};
use crate::random::Random;
use crate::{Connection, Row, Value, WorkloadError};
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::SimpleQueryMessage;

/// Most operations of a transaction.
const OPS_MAX: u32 = 4;

/// Lists that a range read covers.
const RANGE: u32 = 4;

/// Longest life of a client that dies in a transaction, in microseconds.
const LIFE_MICROS_MAX: u32 = 4000;

const APPEND: &str = "insert into history_lists values ($1, $2) \
                      on conflict (id) do update set elements = history_lists.elements || ',' || excluded.elements";
const READ: &str = "select id, elements from history_lists where id >= $1 and id < $2";
const MOVE: &str = "update history_accounts set balance = balance + $1 where id = $2";
const COUNT: &str = "select sum(balance) from history_accounts";

/// One statement of a transaction.
#[derive(Clone, Debug)]
enum Step {
    Append { list: u32, element: u64 },
    Read { first: u32, end: u32 },
    Move { amount: i32, account: u32 },
    Count,
}

impl Step {
    fn sql(&self) -> (&'static str, Vec<Value>) {
        match self {
            Step::Append { list, element } => (APPEND, vec![Value::from(*list), Value::Text(element.to_string())]),
            Step::Read { first, end } => (READ, vec![Value::from(*first), Value::from(*end)]),
            Step::Move { amount, account } => (MOVE, vec![Value::from(*amount), Value::from(*account)]),
            Step::Count => (COUNT, Vec::new()),
        }
    }
}

/// How far a transaction has come.
#[derive(Default)]
struct Progress {
    ops: Vec<RecordedOp>,
    commit_sent: bool,
}

/// A client.
pub(super) struct HistoryClient {
    shared: Arc<Shared>,
    random: Random,
    recording: Recording,
}

impl HistoryClient {
    pub(super) fn new(shared: Arc<Shared>, number: u64) -> HistoryClient {
        let random = Random::new(shared.options.seed.wrapping_mul(1000).wrapping_add(number));
        HistoryClient { shared, random, recording: Recording::default() }
    }

    /// Runs until there are no more tickets.
    pub(super) async fn run(mut self) -> Result<Recording, WorkloadError> {
        let mut connection = None;
        while self.shared.ticket() {
            let open = match connection.take() {
                Some(open) => open,
                None => connect(&self.shared.options.url).await?,
            };
            connection = self.transaction(open).await;
        }
        Ok(self.recording)
    }

    fn plan(&mut self) -> Vec<Step> {
        if self.random.percent(15) {
            return self.money();
        }
        (0..self.random.range(1, OPS_MAX)).map(|_| self.list_step()).collect()
    }

    fn money(&mut self) -> Vec<Step> {
        if self.random.percent(40) {
            return vec![Step::Count];
        }
        let (from, to) = (self.random.range(1, ACCOUNTS), self.random.range(1, ACCOUNTS));
        let amount = self.random.range(1, 20) as i32;
        vec![Step::Move { amount: -amount, account: from }, Step::Move { amount, account: to }, Step::Count]
    }

    fn list_step(&mut self) -> Step {
        let list = self.shared.list(self.random.next());
        match self.random.range(1, 100) {
            1..=45 => Step::Append { list, element: self.shared.element() },
            46..=85 => Step::Read { first: list, end: list + 1 },
            _ => Step::Read { first: list, end: list + RANGE },
        }
    }

    /// Runs one transaction; the connection comes back if it can be used again.
    async fn transaction(&mut self, mut connection: Connection) -> Option<Connection> {
        let steps = self.plan();
        let one_text = self.random.percent(50);
        let dies = self.shared.options.cut_one_in;
        let life = (dies > 0 && self.random.next().is_multiple_of(dies))
            .then(|| Duration::from_micros(self.random.range(1, LIFE_MICROS_MAX).into()));
        let began = self.shared.moment();
        let mut progress = Progress::default();
        let work = self.perform(&mut connection, &steps, one_text, &mut progress);
        let done = match life {
            None => Some(work.await),
            Some(life) => tokio::time::timeout(life, work).await.ok(),
        };
        let (outcome, usable) = match done {
            None => {
                connection.cut();
                self.recording.cuts += 1;
                (if progress.commit_sent { RecordedOutcome::Unknown } else { RecordedOutcome::Aborted }, false)
            }
            Some(Ok(())) => (RecordedOutcome::Committed, true),
            Some(Err(error)) if is_refusal(&error) => (RecordedOutcome::Aborted, connection.batch("rollback").await.is_ok()),
            Some(Err(WorkloadError::Unexpected(story))) => {
                self.shared.complain(story);
                (RecordedOutcome::Aborted, false)
            }
            Some(Err(_)) => {
                self.recording.lost += 1;
                (if progress.commit_sent { RecordedOutcome::Unknown } else { RecordedOutcome::Aborted }, false)
            }
        };
        self.record(&steps, progress.ops, outcome, began);
        usable.then_some(connection)
    }

    fn record(&mut self, steps: &[Step], seen: Vec<RecordedOp>, outcome: RecordedOutcome, began: u64) {
        if matches!(steps[0], Step::Move { .. } | Step::Count) {
            self.recording.transfers += 1;
            return;
        }
        // Of what did not certainly commit, only what it may have left matters.
        let appends = steps.iter().filter_map(|step| match step {
            Step::Append { list, element } => Some(RecordedOp::Append { list: *list, element: *element }),
            _ => None,
        });
        let ops = if outcome == RecordedOutcome::Committed { seen } else { appends.collect() };
        self.recording.transactions.push(RecordedTxn { ops, outcome, began, ended: self.shared.moment() });
    }

    async fn perform(
        &self,
        connection: &mut Connection,
        steps: &[Step],
        one_text: bool,
        progress: &mut Progress,
    ) -> Result<(), WorkloadError> {
        let begin = format!("begin isolation level {}", self.shared.options.isolation);
        if one_text {
            return self.perform_at_once(connection, steps, &begin, progress).await;
        }
        connection.batch(&begin).await?;
        for step in steps {
            let (sql, values) = step.sql();
            let rows = connection.query(sql, &values).await?;
            self.saw(step, &rows, progress)?;
        }
        progress.commit_sent = true;
        connection.batch("commit").await
    }

    /// All of it as one text: the server may run it again by itself, because nothing was sent yet.
    async fn perform_at_once(
        &self,
        connection: &mut Connection,
        steps: &[Step],
        begin: &str,
        progress: &mut Progress,
    ) -> Result<(), WorkloadError> {
        let mut text = format!("{begin}; ");
        for step in steps {
            let (sql, values) = step.sql();
            crate::connection::push_statement(&mut text, sql, &values);
            text.push_str("; ");
        }
        text.push_str("commit");
        progress.commit_sent = true;
        let messages = connection.client().simple_query(&text).await?;
        let mut rows = Vec::new();
        // BEGIN's own end comes first.
        let mut number = None;
        for message in messages {
            match message {
                SimpleQueryMessage::Row(row) => rows.push(Row::Text(row)),
                SimpleQueryMessage::CommandComplete(_) => {
                    if let Some(step) = number.and_then(|number: usize| steps.get(number)) {
                        self.saw(step, &rows, progress)?;
                    }
                    number = Some(number.map_or(0, |number| number + 1));
                    rows.clear();
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Notes what a statement gave.
    fn saw(&self, step: &Step, rows: &[Row], progress: &mut Progress) -> Result<(), WorkloadError> {
        match step {
            Step::Append { list, element } => progress.ops.push(RecordedOp::Append { list: *list, element: *element }),
            Step::Move { .. } => {}
            Step::Count => {
                let sum = rows.first().map_or(Ok(0), |row| row.int(0))?;
                if sum as u32 != ACCOUNTS * BALANCE {
                    self.shared.complain(format!("the accounts hold {sum} instead of {}", ACCOUNTS * BALANCE));
                }
            }
            Step::Read { first, end } => {
                for list in *first..*end {
                    let mut elements = Vec::new();
                    for row in rows {
                        if row.int(0)? as u32 == list {
                            elements = elements_of(&row.text(1)?)?;
                        }
                    }
                    progress.ops.push(RecordedOp::Read { list, elements });
                }
            }
        }
        Ok(())
    }
}

/// The server has said no, and will go on: nothing was committed. Class 57 and 08 are about servers that go away, 40003 is an unknown outcome.
fn is_refusal(error: &WorkloadError) -> bool {
    error
        .sqlstate()
        .is_some_and(|state| !state.starts_with("57") && !state.starts_with("08") && !state.starts_with("XX") && state != "40003")
}
