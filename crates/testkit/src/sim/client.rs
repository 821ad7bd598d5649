//! The clients: each runs one transaction after another, and writes down what it saw.

use super::node::World;
use super::{Shared, isolation};
use crate::history::{HistoryTxn, Level, Op, Outcome};
use std::sync::Arc;
use std::time::Duration;
use tidelock_base::{IndexId, Key, RowPage, SessionId, Span, Timestamp, Value};
use tidelock_kvapi::{KvError, LockStrength, WaitPolicy};
use tidelock_kvclient::{ReadOptions, ScanOptions, Txn, TxnOptions, Write};

/// Lists that are appended to.
pub(crate) const LISTS: u32 = 5;
/// Accounts that money is moved between.
pub(crate) const ACCOUNTS: u64 = 5;
/// What is in each at the beginning.
const BALANCE: u64 = 100;
/// Rows that one bulk write sets, all to one value.
pub(crate) const FILLERS: u64 = 24;

fn key(index: u32, row: u64) -> Key {
    let mut key = Key::index_start(IndexId(index));
    key.extend(&row.to_be_bytes());
    key
}

/// Where a list lives.
pub(crate) fn list(number: u32) -> Key {
    key(100, number.into())
}

/// Where an account lives.
pub(crate) fn account(number: u64) -> Key {
    key(101, number)
}

/// Where a row of bulk writes lives.
pub(crate) fn filler(number: u64) -> Key {
    key(102, number)
}

fn numbers(value: &[u8]) -> Vec<u64> {
    value.chunks_exact(8).filter_map(|chunk| chunk.first_chunk()).map(|bytes| u64::from_le_bytes(*bytes)).collect()
}

fn as_value(numbers: &[u64]) -> Value {
    Value::from(numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>())
}

/// Sets the balances.
pub(crate) async fn open_accounts(world: &Arc<World>, shared: &Arc<Shared>) -> Result<(), String> {
    let mut txn = world.db.begin(TxnOptions::default());
    txn.step();
    let put = |number| Write::Put(account(number), as_value(&[BALANCE]), LockStrength::NoKeyUpdate);
    let written = txn.write((0..ACCOUNTS).map(put).collect()).await;
    written.map_err(|error| format!("opening the accounts: {error}"))?;
    let began = shared.moment();
    txn.commit(false).await.map_err(|error| format!("opening the accounts: {error}"))?;
    shared.record(HistoryTxn { ops: Vec::new(), outcome: Outcome::Committed, began, ended: shared.moment() });
    Ok(())
}

/// One session.
pub(crate) struct Client {
    world: Arc<World>,
    shared: Arc<Shared>,
    number: u64,
    level: Level,
    /// Makes elements unique.
    appended: u64,
    /// Its newest commit: its snapshots are never older.
    newest: Timestamp,
}

impl Client {
    pub(crate) fn new(world: &Arc<World>, shared: &Arc<Shared>, number: u64, level: Level) -> Client {
        Client { world: Arc::clone(world), shared: Arc::clone(shared), number, level, appended: 0, newest: Timestamp::ZERO }
    }

    /// Runs so many transactions.
    pub(crate) async fn run(mut self, transactions: u64) {
        for _ in 0..transactions {
            self.shared.pause(10).await;
            self.transaction().await;
        }
    }

    async fn transaction(&mut self) {
        let options = TxnOptions {
            isolation: isolation(self.level),
            session: SessionId(self.number as u32),
            at_least: self.newest,
            lock_timeout: self.shared.one_in(4).then(|| Duration::from_millis(self.shared.below(50))),
            read_only: false,
        };
        let began = self.shared.moment();
        let mut txn = self.world.db.begin(options);
        let mut ops = Vec::new();
        let done = self.statements(&mut txn, &mut ops).await;
        let outcome = match done {
            Ok(()) if self.shared.one_in(12) => self.give_up(txn).await,
            Ok(()) => self.commit(txn).await,
            Err(_) => self.give_up(txn).await,
        };
        self.shared.record(HistoryTxn { ops, outcome, began, ended: self.shared.moment() });
    }

    async fn commit(&mut self, mut txn: Txn) -> Outcome {
        match txn.commit(false).await {
            Ok(ts) => {
                self.newest = self.newest.max(ts);
                Outcome::Committed
            }
            Err(KvError::OutcomeUnknown { .. } | KvError::Storage(_)) => Outcome::Unknown,
            Err(_) => Outcome::Aborted,
        }
    }

    /// Rolls back, or is simply gone.
    async fn give_up(&self, mut txn: Txn) -> Outcome {
        if self.shared.one_in(3) {
            drop(txn);
        } else if let Err(error) = txn.rollback().await
            && !matches!(error, KvError::Storage(_))
        {
            self.shared.complain(format!("a rollback failed: {error}"));
        }
        Outcome::Aborted
    }

    async fn statements(&mut self, txn: &mut Txn, ops: &mut Vec<Op>) -> Result<(), KvError> {
        for _ in 0..1 + self.shared.below(4) {
            txn.step();
            match self.shared.below(12) {
                0..3 => self.read(txn, ops).await?,
                3..7 => self.append(txn, ops).await?,
                7 => self.read_all(txn, ops).await?,
                8 => self.transfer(txn).await?,
                9 => self.count_money(txn).await?,
                10 => self.bulk(txn).await?,
                _ => self.change_of_mind(txn, ops).await?,
            }
        }
        Ok(())
    }

    fn any_list(&self) -> u32 {
        self.shared.below(LISTS.into()) as u32
    }

    /// At READ COMMITTED a row that will be written must be locked as it is read; elsewhere the level sees to it.
    fn before_write(&self) -> ReadOptions {
        let locks = self.level == Level::ReadCommitted || self.shared.one_in(2);
        ReadOptions { lock: locks.then_some(LockStrength::NoKeyUpdate), ..ReadOptions::default() }
    }

    async fn read(&self, txn: &mut Txn, ops: &mut Vec<Op>) -> Result<(), KvError> {
        let number = self.any_list();
        let lock = self.shared.one_in(5).then_some(LockStrength::Share);
        let row = txn.get_one(list(number), &ReadOptions { lock, ..ReadOptions::default() }).await?;
        ops.push(Op::Read { key: number, list: row.map(|row| numbers(&row.value)).unwrap_or_default() });
        Ok(())
    }

    async fn append(&mut self, txn: &mut Txn, ops: &mut Vec<Op>) -> Result<(), KvError> {
        let number = self.any_list();
        let options = self.before_write();
        let row = txn.get_one(list(number), &options).await?;
        let Some(row) = row else { return self.begin_list(txn, ops, number).await };
        let mut elements = numbers(&row.value);
        ops.push(Op::Read { key: number, list: elements.clone() });
        elements.push(self.new_element());
        self.write_list(txn, ops, number, &elements).await
    }

    /// A list that is not there is inserted, which notices if somebody else was first.
    async fn begin_list(&mut self, txn: &mut Txn, ops: &mut Vec<Op>, number: u32) -> Result<(), KvError> {
        let element = self.new_element();
        let written = txn.write(vec![Write::Insert(list(number), as_value(&[element]))]).await?;
        if let Some(tidelock_kvclient::Written::Done { .. }) = written.first() {
            ops.push(Op::Append { key: number, element });
        }
        Ok(())
    }

    async fn write_list(&self, txn: &mut Txn, ops: &mut Vec<Op>, number: u32, elements: &[u64]) -> Result<(), KvError> {
        // Noted first: when the answer is lost, the append may still be there at the end.
        ops.extend(elements.last().map(|element| Op::Append { key: number, element: *element }));
        txn.write(vec![Write::Put(list(number), as_value(elements), LockStrength::NoKeyUpdate)]).await.map(drop)
    }

    fn new_element(&mut self) -> u64 {
        self.appended += 1;
        self.number << 32 | self.appended
    }

    /// All lists in one scan, the missing ones included.
    async fn read_all(&self, txn: &mut Txn, ops: &mut Vec<Op>) -> Result<(), KvError> {
        let page = txn.scan(Span::index(IndexId(100)), &self.scan_options()).await?;
        for number in 0..LISTS {
            let row = page.rows.iter().find(|row| *row.key == *list(number));
            ops.push(Op::Read { key: number, list: row.map(|row| numbers(row.value)).unwrap_or_default() });
        }
        Ok(())
    }

    fn scan_options(&self) -> ScanOptions {
        ScanOptions { reverse: self.shared.one_in(2), ..ScanOptions::default() }
    }

    async fn transfer(&self, txn: &mut Txn) -> Result<(), KvError> {
        let (from, to) = (self.shared.below(ACCOUNTS), self.shared.below(ACCOUNTS));
        if from == to {
            return Ok(());
        }
        let options = self.before_write();
        let rows = txn.get(&[account(from), account(to)], &options).await?;
        let balance = |at: usize| rows.get(at).and_then(Option::as_ref).and_then(|row| numbers(&row.value).first().copied());
        let (Some(have), Some(other)) = (balance(0), balance(1)) else {
            self.shared.complain("an account is gone".into());
            return Ok(());
        };
        let amount = self.shared.below(have + 1);
        let put = |number, balance| Write::Put(account(number), as_value(&[balance]), LockStrength::NoKeyUpdate);
        txn.write(vec![put(from, have - amount), put(to, other + amount)]).await.map(drop)
    }

    /// One statement sees one moment at every level: the sum is always the same.
    async fn count_money(&self, txn: &mut Txn) -> Result<(), KvError> {
        let page = txn.scan(Span::index(IndexId(101)), &self.scan_options()).await?;
        let sum: u64 = page.rows.iter().flat_map(|row| numbers(row.value)).sum();
        if sum != ACCOUNTS * BALANCE {
            self.shared.complain(format!("session {} counts {sum} in all accounts", self.number));
        }
        Ok(())
    }

    /// Sets or removes all fillers at once, after having seen that the one before was whole.
    async fn bulk(&mut self, txn: &mut Txn) -> Result<(), KvError> {
        self.count_fillers(txn).await?;
        if self.level == Level::ReadCommitted {
            // There nobody notices that another has written meanwhile; the first row's lock stands for all.
            let first = ReadOptions { lock: Some(LockStrength::Update), wait: WaitPolicy::Block, ..ReadOptions::default() };
            txn.get_one(account(0), &first).await?;
        }
        let element = self.new_element();
        let padding = vec![element; 8];
        let removes = self.shared.one_in(4);
        for from in (0..FILLERS).step_by(6) {
            let write = |number| match removes {
                true => Write::Delete(filler(number)),
                false => Write::Put(filler(number), as_value(&padding), LockStrength::NoKeyUpdate),
            };
            txn.write((from..from + 6).map(write).collect()).await?;
        }
        self.count_fillers(txn).await
    }

    async fn count_fillers(&self, txn: &mut Txn) -> Result<(), KvError> {
        let page = txn.scan(Span::index(IndexId(102)), &self.scan_options()).await?;
        if let Some(story) = torn(&page.rows) {
            self.shared.complain(format!("session {}: {story}", self.number));
        }
        Ok(())
    }

    /// Does something, and takes it back.
    async fn change_of_mind(&mut self, txn: &mut Txn, ops: &mut Vec<Op>) -> Result<(), KvError> {
        let savepoint = txn.savepoint();
        let kept = ops.len();
        if self.shared.one_in(2) {
            self.append(txn, ops).await?;
        } else {
            self.bulk(txn).await?;
        }
        txn.rollback_to(&savepoint).await?;
        ops.truncate(kept);
        Ok(())
    }
}

/// Are the fillers not all of one bulk write?
pub(crate) fn torn(rows: &RowPage) -> Option<String> {
    let first = rows.get(0)?;
    if rows.len() as u64 != FILLERS {
        return Some(format!("{} of {FILLERS} rows of a bulk write", rows.len()));
    }
    rows.iter().any(|row| row.value != first.value).then(|| "a mixture of two bulk writes".into())
}
