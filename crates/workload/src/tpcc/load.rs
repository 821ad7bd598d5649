//! Loading (clause 4.3.3): tables, rows by COPY, then the secondary indexes and, when asked for, the foreign keys.

use super::{CUSTOMERS, DISTRICTS, ITEMS};
use crate::random::{Random, last_name};
use crate::{Connection, Protocol, WorkloadError};
use bytes::Bytes;
use futures::SinkExt;
use std::fmt::Write;
use std::pin::pin;

const SCHEMA: &str = include_str!("../../../../sql/tpcc/schema.sql");
const INDEXES: &str = include_str!("../../../../sql/tpcc/indexes.sql");
const FOREIGN_KEYS: &str = include_str!("../../../../sql/tpcc/foreign_keys.sql");
const TABLES: [&str; 9] = ["history", "new_order", "order_line", "orders", "customer", "district", "stock", "item", "warehouse"];

/// COPY data collected before it is handed to the connection.
const CHUNK_BYTES: usize = 64 * 1024;

/// When rows were entered, as far as the load is concerned.
const LOAD_TIME: &str = "2026-01-01 00:00:00";

/// What to load.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// Where.
    pub url: String,
    /// How many warehouses.
    pub warehouses: u32,
    /// Drop the tables first, if they are there.
    pub drop: bool,
    /// Declare the foreign keys.
    pub foreign_keys: bool,
    /// Another seed, other data.
    pub seed: u64,
}

/// Loads; `progress` is told how much is done, from 0 to 1, and what is being loaded.
pub async fn load(options: &LoadOptions, progress: &mut dyn FnMut(f64, &str)) -> Result<(), WorkloadError> {
    let connection = Connection::open(&options.url, Protocol::Simple).await?;
    if options.drop {
        for table in TABLES {
            connection.batch(&format!("drop table if exists {table}")).await?;
        }
    }
    connection.batch(SCHEMA).await?;
    let mut loader = Loader { connection: &connection, random: Random::new(options.seed), options, done: 0, progress };
    loader.items().await?;
    for warehouse in 1..=options.warehouses {
        loader.warehouse(warehouse).await?;
    }
    (loader.progress)(0.97, "indexes");
    connection.batch(INDEXES).await?;
    if options.foreign_keys {
        connection.batch(FOREIGN_KEYS).await?;
    }
    connection.batch("analyze").await?;
    (loader.progress)(1.0, "done");
    Ok(())
}

struct Loader<'l> {
    connection: &'l Connection,
    random: Random,
    options: &'l LoadOptions,
    done: u64,
    progress: &'l mut dyn FnMut(f64, &str),
}

impl Loader<'_> {
    fn tell(&mut self, rows: u64, what: &str) {
        self.done += rows;
        // Rows of a warehouse, all tables together, are about five times its stock.
        let all = u64::from(ITEMS) + u64::from(self.options.warehouses) * 5 * u64::from(ITEMS);
        (self.progress)((self.done as f64 / all as f64).min(0.96), what);
    }

    /// Copies rows into a table, in one statement.
    async fn copy(&mut self, table: &str, rows: u64, mut row: impl FnMut(&mut Random, u64, &mut String)) -> Result<(), WorkloadError> {
        let sink = self.connection.client().copy_in(&format!("copy {table} from stdin")).await?;
        let mut sink = pin!(sink);
        let mut text = String::with_capacity(CHUNK_BYTES + 1024);
        let mut told = 0;
        for number in 0..rows {
            row(&mut self.random, number, &mut text);
            text.push('\n');
            if text.len() >= CHUNK_BYTES {
                sink.send(Bytes::from(std::mem::take(&mut text))).await?;
            }
            if number - told >= 10_000 {
                let progress = number - told;
                told = number;
                self.tell(progress, table);
            }
        }
        sink.send(Bytes::from(text)).await?;
        sink.finish().await?;
        self.tell(rows - told, table);
        Ok(())
    }

    async fn items(&mut self) -> Result<(), WorkloadError> {
        self.copy("item", u64::from(ITEMS), |random, number, out| {
            let (image, price) = (random.range(1, 10_000), random.range(100, 10_000));
            let (name, data) = (random.letters(14, 24), random.data());
            put(out, format_args!("{}\t{image}\t{name}\t{}.{:02}\t{data}", number + 1, price / 100, price % 100));
        })
        .await
    }

    async fn warehouse(&mut self, w: u32) -> Result<(), WorkloadError> {
        self.copy("warehouse", 1, |random, _, out| {
            let name = random.letters(6, 10);
            let address = address(random);
            put(out, format_args!("{w}\t{name}\t{address}\t0.{:04}\t300000.00", random.range(0, 2000)));
        })
        .await?;
        self.copy("district", u64::from(DISTRICTS), |random, number, out| {
            let name = random.letters(6, 10);
            let address = address(random);
            let tax = random.range(0, 2000);
            put(out, format_args!("{}\t{w}\t{name}\t{address}\t0.{tax:04}\t30000.00\t{}", number + 1, CUSTOMERS + 1));
        })
        .await?;
        self.stock(w).await?;
        for district in 1..=DISTRICTS {
            self.customers(w, district).await?;
            self.orders(w, district).await?;
        }
        Ok(())
    }

    async fn stock(&mut self, w: u32) -> Result<(), WorkloadError> {
        self.copy("stock", u64::from(ITEMS), |random, number, out| {
            put(out, format_args!("{}\t{w}\t{}", number + 1, random.range(10, 100)));
            for _ in 0..10 {
                let dist = random.letters(24, 24);
                put(out, format_args!("\t{dist}"));
            }
            let data = random.data();
            put(out, format_args!("\t0\t0\t0\t{data}"));
        })
        .await
    }

    async fn customers(&mut self, w: u32, d: u32) -> Result<(), WorkloadError> {
        self.copy("customer", u64::from(CUSTOMERS), |random, number, out| {
            let last = if number < 1000 { last_name(number as u32) } else { random.last_name() };
            let (first, address, phone) = (random.letters(8, 16), address(random), random.digits(16));
            let credit = if random.percent(10) { "BC" } else { "GC" };
            let (discount, data) = (random.range(0, 5000), random.letters(300, 500));
            put(
                out,
                format_args!(
                    "{}\t{d}\t{w}\t{first}\tOE\t{last}\t{address}\t{phone}\t{LOAD_TIME}\t{credit}\t50000.00\t0.{discount:04}\t-10.00\t10.00\t1\t0\t{data}",
                    number + 1
                ),
            );
        })
        .await?;
        self.copy("history", u64::from(CUSTOMERS), |random, number, out| {
            let data = random.letters(12, 24);
            put(out, format_args!("{}\t{d}\t{w}\t{d}\t{w}\t{LOAD_TIME}\t10.00\t{data}", number + 1));
        })
        .await
    }

    async fn orders(&mut self, w: u32, d: u32) -> Result<(), WorkloadError> {
        let mut customers: Vec<u32> = (1..=CUSTOMERS).collect();
        self.random.shuffle(&mut customers);
        let lines: Vec<u32> = (0..CUSTOMERS).map(|_| self.random.range(5, 15)).collect();
        self.copy("orders", u64::from(CUSTOMERS), |random, number, out| {
            let (id, at) = (number + 1, number as usize);
            let carrier = if id < 2101 { random.range(1, 10).to_string() } else { "\\N".to_string() };
            put(out, format_args!("{id}\t{d}\t{w}\t{}\t{LOAD_TIME}\t{carrier}\t{}\t1", customers[at], lines[at]));
        })
        .await?;
        let total: u32 = lines.iter().sum();
        let mut order_lines = lines.iter().zip(1u32..).flat_map(|(count, order)| (1..=*count).map(move |line| (order, line)));
        self.copy("order_line", u64::from(total), move |random, _, out| {
            let Some((order, line)) = order_lines.next() else { return };
            let (item, dist) = (random.range(1, ITEMS), random.letters(24, 24));
            let delivered = order < 2101;
            let date = if delivered { LOAD_TIME } else { "\\N" };
            let amount = if delivered { 0 } else { random.range(1, 999_999) };
            put(out, format_args!("{order}\t{d}\t{w}\t{line}\t{item}\t{w}\t{date}\t5\t{}.{:02}\t{dist}", amount / 100, amount % 100));
        })
        .await?;
        self.copy("new_order", 900, |_, number, out| put(out, format_args!("{}\t{d}\t{w}", 2101 + number))).await
    }
}

fn address(random: &mut Random) -> String {
    let (street_1, street_2, city) = (random.letters(10, 20), random.letters(10, 20), random.letters(10, 20));
    let (state, zip) = (random.letters(2, 2).to_uppercase(), random.zip());
    format!("{street_1}\t{street_2}\t{city}\t{state}\t{zip}")
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = out.write_fmt(text);
}
