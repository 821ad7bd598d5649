//! The consistency conditions of clause 3.3.2, all asked on one snapshot. Each is a query for what violates it: no row, no
//! violation.

use crate::{Connection, Protocol, WorkloadError};
use serde::Serialize;
use tokio_postgres::SimpleQueryMessage;

macro_rules! conditions {
    ($($name:literal),*) => {
        [$(($name, include_str!(concat!("../../../../sql/tpcc/check/", $name, ".sql")))),*]
    };
}

const CONDITIONS: [(&str, &str); 12] = conditions!(
    "3.3.2.01", "3.3.2.02", "3.3.2.03", "3.3.2.04", "3.3.2.05", "3.3.2.06", "3.3.2.07", "3.3.2.08", "3.3.2.09", "3.3.2.10", "3.3.2.11",
    "3.3.2.12"
);

/// Violating rows shown per condition.
const MAX_SHOWN: usize = 5;

/// One condition's result.
#[derive(Clone, Debug, Serialize)]
pub struct CheckResult {
    /// Its number.
    pub condition: &'static str,
    /// How many rows violate it.
    pub violations: usize,
    /// Some of them.
    pub examples: Vec<String>,
    /// How long the query took.
    pub millis: u128,
}

/// Checks all conditions.
pub async fn check(url: &str) -> Result<Vec<CheckResult>, WorkloadError> {
    let connection = Connection::open(url, Protocol::Simple).await?;
    connection.batch("begin isolation level repeatable read read only").await?;
    let mut results = Vec::new();
    for (condition, sql) in CONDITIONS {
        let started = std::time::Instant::now();
        let messages = connection.client().simple_query(sql).await?;
        let rows: Vec<String> = messages
            .iter()
            .filter_map(|message| match message {
                SimpleQueryMessage::Row(row) => Some((0..row.len()).map(|at| row.get(at).unwrap_or("null")).collect::<Vec<_>>().join(", ")),
                _ => None,
            })
            .collect();
        results.push(CheckResult {
            condition,
            violations: rows.len(),
            examples: rows.into_iter().take(MAX_SHOWN).collect(),
            millis: started.elapsed().as_millis(),
        });
    }
    connection.batch("commit").await?;
    Ok(results)
}
