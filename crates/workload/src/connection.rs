//! A connection that speaks either protocol: prepared statements with binary values, or the simple protocol with literals in
//! the text, one statement per round trip, as many TPC-C drivers do it.

use crate::{Decimal, WorkloadError};
use std::collections::HashMap;
use std::fmt::Write;
use tokio::task::AbortHandle;
use tokio_postgres::types::{IsNull, ToSql, Type, private::BytesMut};
use tokio_postgres::{Client, NoTls, SimpleQueryMessage, SimpleQueryRow, Statement};

/// How statements are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Protocol {
    /// Named prepared statements.
    #[default]
    Prepared,
    /// Text with literals.
    Simple,
}

/// A parameter.
#[derive(Clone, Debug)]
pub enum Value {
    /// An int4.
    Int(i32),
    /// A numeric.
    Decimal(Decimal),
    /// Text of any kind.
    Text(String),
    /// NULL.
    Null,
}

impl From<u32> for Value {
    fn from(n: u32) -> Value {
        Value::Int(n as i32)
    }
}

impl From<i32> for Value {
    fn from(n: i32) -> Value {
        Value::Int(n)
    }
}

impl From<Decimal> for Value {
    fn from(n: Decimal) -> Value {
        Value::Decimal(n)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl ToSql for Value {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Value::Int(n) => match *ty {
                Type::INT8 => i64::from(*n).to_sql(ty, out),
                Type::INT2 => i16::try_from(*n)?.to_sql(ty, out),
                _ => n.to_sql(ty, out),
            },
            Value::Decimal(n) => n.to_sql(ty, out),
            Value::Text(text) => text.as_str().to_sql(ty, out),
            Value::Null => Ok(IsNull::Yes),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn to_sql_checked(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        self.to_sql(ty, out)
    }
}

/// One result row.
pub enum Row {
    /// Binary values.
    Binary(tokio_postgres::Row),
    /// Text values.
    Text(SimpleQueryRow),
}

impl Row {
    /// An int4, or another whole number.
    pub fn int(&self, column: usize) -> Result<i32, WorkloadError> {
        match self {
            Row::Binary(row) => match *row.columns()[column].type_() {
                Type::INT8 => Ok(row.try_get::<_, i64>(column)? as i32),
                _ => Ok(row.try_get(column)?),
            },
            Row::Text(row) => row.get(column).and_then(|text| text.parse().ok()).ok_or_else(|| bad(column, "an integer")),
        }
    }

    /// A numeric.
    pub fn decimal(&self, column: usize) -> Result<Decimal, WorkloadError> {
        match self {
            Row::Binary(row) => Ok(row.try_get(column)?),
            Row::Text(row) => row.get(column).and_then(Decimal::parse).ok_or_else(|| bad(column, "a number")),
        }
    }

    /// A numeric that may be NULL.
    pub fn decimal_or_null(&self, column: usize) -> Result<Option<Decimal>, WorkloadError> {
        match self {
            Row::Binary(row) => Ok(row.try_get(column)?),
            Row::Text(row) => Ok(row.get(column).and_then(Decimal::parse)),
        }
    }

    /// Text.
    pub fn text(&self, column: usize) -> Result<String, WorkloadError> {
        match self {
            Row::Binary(row) => Ok(row.try_get(column)?),
            Row::Text(row) => row.get(column).map(str::to_string).ok_or_else(|| bad(column, "text")),
        }
    }
}

fn bad(column: usize, wanted: &str) -> WorkloadError {
    WorkloadError::Unexpected(format!("column {} is not {wanted}", column + 1))
}

/// A client connection.
pub struct Connection {
    client: Client,
    driver: AbortHandle,
    protocol: Protocol,
    statements: HashMap<&'static str, Statement>,
    text: String,
}

impl Connection {
    /// Connects; the connection is driven by a task of its own.
    pub async fn open(url: &str, protocol: Protocol) -> Result<Connection, WorkloadError> {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        let driver = tokio::spawn(async move {
            // What goes wrong here goes wrong at the next statement too, where it is reported.
            let _ = connection.await;
        });
        Ok(Connection { client, driver: driver.abort_handle(), protocol, statements: HashMap::new(), text: String::new() })
    }

    /// The driver's own client, for COPY and scripts.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Closes the socket at once, without a word, as a client does that is killed.
    pub fn cut(&self) {
        self.driver.abort();
    }

    /// Runs statements without parameters.
    pub async fn batch(&self, sql: &str) -> Result<(), WorkloadError> {
        Ok(self.client.batch_execute(sql).await?)
    }

    /// Runs a statement and gives its rows.
    pub async fn query(&mut self, sql: &'static str, params: &[Value]) -> Result<Vec<Row>, WorkloadError> {
        match self.protocol {
            Protocol::Prepared => {
                let statement = self.statement(sql).await?;
                let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|p| p as &(dyn ToSql + Sync)).collect();
                let rows = self.client.query(&statement, &params).await?;
                Ok(rows.into_iter().map(Row::Binary).collect())
            }
            Protocol::Simple => {
                self.text.clear();
                push_statement(&mut self.text, sql, params);
                let messages = self.client.simple_query(&self.text).await?;
                let rows = messages.into_iter().filter_map(|message| match message {
                    SimpleQueryMessage::Row(row) => Some(Row::Text(row)),
                    _ => None,
                });
                Ok(rows.collect())
            }
        }
    }

    /// Runs a statement that gives exactly one row.
    pub async fn query_one(&mut self, sql: &'static str, params: &[Value]) -> Result<Row, WorkloadError> {
        let mut rows = self.query(sql, params).await?;
        match (rows.pop(), rows.is_empty()) {
            (Some(row), true) => Ok(row),
            _ => Err(WorkloadError::Unexpected(format!("not exactly one row: {sql}"))),
        }
    }

    /// Runs a statement for its effect.
    pub async fn execute(&mut self, sql: &'static str, params: &[Value]) -> Result<(), WorkloadError> {
        match self.protocol {
            Protocol::Prepared => {
                let statement = self.statement(sql).await?;
                let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|p| p as &(dyn ToSql + Sync)).collect();
                self.client.execute(&statement, &params).await?;
                Ok(())
            }
            Protocol::Simple => self.query(sql, params).await.map(drop),
        }
    }

    async fn statement(&mut self, sql: &'static str) -> Result<Statement, WorkloadError> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql).await?;
        self.statements.insert(sql, statement.clone());
        Ok(statement)
    }
}

/// Appends a statement with its parameters as literals.
pub(crate) fn push_statement(text: &mut String, sql: &str, params: &[Value]) {
    let mut rest = sql;
    while let Some(at) = rest.find('$') {
        text.push_str(&rest[..at]);
        let digits = rest[at + 1..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - at - 1);
        let number: usize = rest[at + 1..at + 1 + digits].parse().unwrap_or(0);
        if let Some(value) = params.get(number.wrapping_sub(1)) {
            push_literal(text, value);
        }
        rest = &rest[at + 1 + digits..];
    }
    text.push_str(rest);
}

fn push_literal(text: &mut String, value: &Value) {
    // Writing to a String cannot fail.
    let _ = match value {
        Value::Int(n) => write!(text, "{n}"),
        Value::Decimal(n) => write!(text, "{n}"),
        Value::Text(s) => write!(text, "'{}'", s.replace('\'', "''")),
        Value::Null => write!(text, "null"),
    };
}
