//! Runs the scripts in `batcher/`: the resolver's batcher, a pure state machine, driven with virtual time.
//!
//! Commands: `config`, `add txn=9 range=1 a` (a point) or `add txn=9 range=1 b-d` (a range), `advance 5` (milliseconds), `flush 1`,
//! `flood txns=301 points=303` (many points, shown as sizes), `takes_more`, `complete 0 [resume=c-d]`, `fail 0`, `stop`, `counts`. `UPDATE_GOLDENFILES=1` records anew.

use goldenscript::{Command, Context, Runner};
use std::collections::HashMap;
use std::error::Error;
use std::fmt::Write;
use std::time::Duration;
use tidelock_base::{Key, RangeId, Span, Timestamp, TxnId};
use tidelock_kvapi::{LockSpan, Request, Resolution, TxnStatus};
use tidelock_kvserver::resolver::batcher::{Batch, BatchId, Batcher, Config, ItemId};

struct BatcherScript {
    batcher: Batcher,
    now: Duration,
    items: u64,
    sent: HashMap<u64, Batch>,
}

impl BatcherScript {
    fn new(config: Config) -> BatcherScript {
        BatcherScript { batcher: Batcher::new(config), now: Duration::ZERO, items: 0, sent: HashMap::new() }
    }

    fn show(&mut self, batches: impl IntoIterator<Item = Batch>) -> String {
        let mut out = String::new();
        for batch in batches {
            let requests: Vec<String> = batch.requests.iter().map(show_request).collect();
            writeln!(out, "{:>3} ms  batch {} to range {}: {}", self.now.as_millis(), batch.id.0, batch.range, requests.join(", "))
                .expect("a string takes everything");
            self.sent.insert(batch.id.0, batch);
        }
        out
    }

    /// Adds points, dealt out to transactions in turn, and says how large the batches are that go out.
    fn flood(&mut self, txns: u64, points: u64) -> String {
        let mut out = String::new();
        for n in 0..points {
            let txn = TxnId(n % txns + 1);
            let outcome = Resolution { txn, status: TxnStatus::Committed, commit_ts: Timestamp(txn.0) };
            let (item, key) = (ItemId(self.items), Key::from(format!("k{n:06}").as_str()));
            self.items += 1;
            if let Some(batch) = self.batcher.add(self.now, RangeId(1), item, outcome, LockSpan::Point(key)) {
                out += &format!("{:>3} ms  batch {}: {} requests\n", self.now.as_millis(), batch.id.0, batch.requests.len());
                self.sent.insert(batch.id.0, batch);
            }
        }
        out
    }

    fn complete(&mut self, id: u64, resume: Option<&str>) -> Result<String, Box<dyn Error>> {
        let batch = self.sent.remove(&id).ok_or("no such batch")?;
        let rest = batch.requests.iter().map(|request| match (request, resume) {
            (Request::ResolveIntentRange { outcome, span }, Some(resume)) if span.overlaps(&parse_span(resume)) => {
                Some(Request::ResolveIntentRange { span: parse_span(resume), outcome: *outcome })
            }
            _ => None,
        });
        let completion = self.batcher.completed(BatchId(id), Ok(rest.collect()));
        Ok(self.show_answers(completion.answers) + &self.show(completion.again))
    }

    fn show_answers(&self, answers: Vec<(ItemId, bool)>) -> String {
        let verdict = |done| if done { "done" } else { "failed" };
        answers.iter().fold(String::new(), |out, (item, done)| out + &format!("item {} {}\n", item.0, verdict(*done)))
    }
}

impl Runner for BatcherScript {
    type Command = Command;

    fn run(&mut self, command: &Command, _: &Context) -> Result<String, Box<dyn Error>> {
        let mut args = command.consume_args();
        let mut out = String::new();
        match command.name.as_str() {
            "config" => {
                let mut config = Config::default();
                while let Some((key, value)) = args.next_key() {
                    match key {
                        "max_cost" => config.max_cost = value.parse()?,
                        "range_cost" => config.range_cost = value.parse()?,
                        "keys_per_pass" => config.pass.keys = value.parse()?,
                        "max_in_flight" => config.max_in_flight = value.parse()?,
                        "max_wait" => config.max_wait = Duration::from_millis(value.parse()?),
                        "max_idle" => config.max_idle = Duration::from_millis(value.parse()?),
                        "batch_ranged" => config.batch_ranged = value == "on",
                        other => return Err(format!("no setting {other}").into()),
                    }
                }
                *self = BatcherScript::new(config);
            }
            "add" => {
                let txn = args.take_key("txn").unwrap_or("1").parse()?;
                let range = RangeId(args.take_key("range").unwrap_or("1").parse()?);
                let outcome = Resolution { txn: TxnId(txn), status: TxnStatus::Committed, commit_ts: Timestamp(txn) };
                while let Some(span) = args.next_pos() {
                    let item = ItemId(self.items);
                    self.items += 1;
                    let batch = self.batcher.add(self.now, range, item, outcome, parse_lock_span(span));
                    out += &self.show(batch);
                }
            }
            "advance" => {
                let until = self.now + Duration::from_millis(args.next_pos().ok_or("how far?")?.parse()?);
                // As the driver does: sleep until the next deadline, never past it.
                while let Some(deadline) = self.batcher.next_deadline().filter(|deadline| *deadline <= until) {
                    self.now = self.now.max(deadline);
                    let due = self.batcher.due(self.now);
                    out += &self.show(due);
                }
                self.now = until;
            }
            "flush" => {
                let batch = self.batcher.flush(RangeId(args.next_pos().ok_or("which range?")?.parse()?));
                out += &self.show(batch);
            }
            "complete" => out = self.complete(args.next_pos().ok_or("which batch?")?.parse()?, args.take_key("resume"))?,
            "fail" => {
                let completion = self.batcher.completed(BatchId(args.next_pos().ok_or("which batch?")?.parse()?), Err(()));
                out = self.show_answers(completion.answers);
            }
            "stop" => {
                let items: Vec<String> = self.batcher.stop().iter().map(|item| item.0.to_string()).collect();
                writeln!(out, "given up: items {}", items.join(", "))?;
            }
            "flood" => {
                let txns: u64 = args.take_key("txns").unwrap_or("1").parse()?;
                let points: u64 = args.take_key("points").unwrap_or("1").parse()?;
                out = self.flood(txns, points);
            }
            "takes_more" => writeln!(out, "{}", if self.batcher.takes_more() { "yes" } else { "no" })?,
            "counts" => writeln!(out, "{:?}", self.batcher.counts())?,
            other => return Err(format!("no command {other}").into()),
        }
        args.reject_next()?;
        Ok(out)
    }
}

fn parse_lock_span(text: &str) -> LockSpan {
    if text.contains('-') { LockSpan::Range(parse_span(text)) } else { LockSpan::Point(Key::from(text)) }
}

fn parse_span(text: &str) -> Span {
    let (start, end) = text.split_once('-').expect("a span is start-end");
    Span::new(start.into(), end.into())
}

fn show_request(request: &Request) -> String {
    match request {
        Request::ResolveIntent { key, outcome } => format!("{key} ({:?})", outcome.txn),
        Request::ResolveIntentRange { span, outcome, .. } => format!("{span} ({:?})", outcome.txn),
        other => format!("{other:?}"),
    }
}

#[test]
fn scripts() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/batcher");
    let mut scripts: Vec<_> = std::fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path()).collect();
    scripts.sort();
    assert!(scripts.len() >= 8, "the scripts are gone");
    for script in scripts {
        goldenscript::run(&mut BatcherScript::new(Config::default()), &script).unwrap_or_else(|e| panic!("{script:?}: {e}"));
    }
}
