//! What a session of a script does: one step of its transaction.

use super::names::{key, numbered, show_key, span};
use goldenscript::Command;
use std::error::Error;
use tidelock_base::{Key, Span, Value};
use tidelock_kvapi::{KvError, Limit, LockStrength, WaitPolicy};
use tidelock_kvclient::{ReadOptions, Savepoint, ScanOptions, Txn, Write, Written};

/// Rows per batch of a bulk write.
const ROWS_PER_BATCH: u64 = 500;

pub(crate) enum Step {
    /// Opens a statement first.
    Fresh(Box<Step>),
    Get(Key, ReadOptions),
    Scan(Span, ScanOptions),
    /// Reads a span to its end, and counts.
    Count(Span, ScanOptions),
    Write(Write),
    /// Rows of a bulk write, `from..to`; without a value they are deleted.
    WriteMany {
        prefix: String,
        from: u64,
        to: u64,
        value: Option<Value>,
    },
    RollbackTo(Savepoint),
    Commit,
    Rollback,
}

impl Step {
    pub(crate) async fn run(self, txn: &mut Txn) -> Result<String, KvError> {
        let step = match self {
            Step::Fresh(step) => {
                txn.step();
                *step
            }
            step => step,
        };
        match step {
            Step::Fresh(_) => Ok(String::new()),
            Step::Get(key, options) => {
                let row = txn.get_one(key, &options).await?;
                Ok(row.map_or("nothing\n".into(), |row| format!("{}\n", show_value(&row.value))))
            }
            Step::Scan(span, options) => {
                let page = txn.scan(span, &options).await?;
                let rows = page.rows.iter().map(|row| format!("{}={}", show_key(&row.to_key()), show_value(row.value)));
                Ok(format!("{}\n", rows.collect::<Vec<_>>().join(" ")))
            }
            Step::Count(span, options) => count(txn, span, options).await,
            Step::Write(write) => match txn.write(vec![write]).await?.first() {
                Some(Written::Exists(value)) => Ok(format!("there is {}\n", show_value(value))),
                _ => Ok(String::new()),
            },
            Step::WriteMany { prefix, from, to, value } => write_many(txn, &prefix, from..to, value).await,
            Step::RollbackTo(savepoint) => txn.rollback_to(&savepoint).await.map(|()| String::new()),
            Step::Commit => txn.commit(false).await.map(|_| "committed\n".into()),
            Step::Rollback => txn.rollback().await.map(|()| "rolled back\n".into()),
        }
    }
}

/// A value, shortened: bulk values are a word and a run of dots.
fn show_value(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value).into_owned();
    match text.find("....") {
        Some(end) => format!("{}({} bytes)", &text[..end], text.len()),
        None => text,
    }
}

async fn count(txn: &mut Txn, span: Span, options: ScanOptions) -> Result<String, KvError> {
    let mut rest = Some(span);
    let mut values: std::collections::BTreeMap<String, u64> = Default::default();
    while let Some(span) = rest.take() {
        let page = txn.scan(span, &options).await?;
        for row in page.rows.iter() {
            *values.entry(show_value(row.value)).or_default() += 1;
        }
        rest = page.resume;
    }
    let counts: Vec<String> = values.into_iter().map(|(value, rows)| format!("{rows} x {value}")).collect();
    Ok(if counts.is_empty() { "no rows\n".into() } else { format!("{}\n", counts.join(", ")) })
}

async fn write_many(txn: &mut Txn, prefix: &str, rows: std::ops::Range<u64>, value: Option<Value>) -> Result<String, KvError> {
    let mut from = rows.start;
    while from < rows.end {
        let to = (from + ROWS_PER_BATCH).min(rows.end);
        let write = |n| match &value {
            Some(value) => Write::Put(numbered(prefix, n), value.clone(), LockStrength::NoKeyUpdate),
            None => Write::Delete(numbered(prefix, n)),
        };
        txn.write((from..to).map(write).collect()).await?;
        from = to;
    }
    Ok(String::new())
}

pub(crate) fn parse_step(command: &Command) -> Result<Step, Box<dyn Error>> {
    let mut args = command.consume_args();
    let lock = args.take_key("lock").map(strength).transpose()?;
    let wait = match args.take_key("wait") {
        None => WaitPolicy::Block,
        Some("nowait") => WaitPolicy::Error,
        Some("skip") => WaitPolicy::Skip,
        Some(other) => return Err(format!("no policy {other}").into()),
    };
    let limit = args.take_key("limit").map(str::parse).transpose()?.map_or(Limit::Unlimited, Limit::Keys);
    let bytes: usize = args.take_key("bytes").map(str::parse).transpose()?.unwrap_or(0);
    let read = ReadOptions { lock, wait, ..ReadOptions::default() };
    let mut next = || args.next_pos().map(str::to_string).ok_or("something is missing");
    let step = match command.name.as_str() {
        "get" => Step::Get(key(&next()?), read),
        "scan" => {
            let span = span(&next()?)?;
            let reverse = next().is_ok_and(|word| word == "reverse");
            Step::Scan(span, ScanOptions { read, reverse, limit })
        }
        "count" => {
            let span = span(&next()?)?;
            let reverse = next().is_ok_and(|word| word == "reverse");
            Step::Count(span, ScanOptions { read, reverse, limit })
        }
        "put" => Step::Write(Write::Put(key(&next()?), padded(next()?, bytes), LockStrength::NoKeyUpdate)),
        "insert" => Step::Write(Write::Insert(key(&next()?), Value::from(next()?))),
        "delete" => Step::Write(Write::Delete(key(&next()?))),
        "put_many" => many(&next()?, &next()?, Some(padded(next()?, bytes)))?,
        "delete_many" => many(&next()?, &next()?, None)?,
        "commit" => Step::Commit,
        "rollback" => Step::Rollback,
        other => return Err(format!("no command {other}").into()),
    };
    Ok(step)
}

/// `k 0-300`: rows k000000 to k000299.
fn many(prefix: &str, rows: &str, value: Option<Value>) -> Result<Step, Box<dyn Error>> {
    let (from, to) = rows.split_once('-').ok_or("rows are from-to")?;
    Ok(Step::WriteMany { prefix: prefix.to_string(), from: from.parse()?, to: to.parse()?, value })
}

fn padded(text: String, bytes: usize) -> Value {
    let dots = bytes.saturating_sub(text.len());
    Value::from(text + &".".repeat(dots))
}

fn strength(name: &str) -> Result<LockStrength, Box<dyn Error>> {
    Ok(match name {
        "key_share" => LockStrength::KeyShare,
        "share" => LockStrength::Share,
        "no_key_update" => LockStrength::NoKeyUpdate,
        "update" => LockStrength::Update,
        other => return Err(format!("no strength {other}").into()),
    })
}
