//! What a run found: counts, retries and latencies per kind of transaction, and tpmC.

use super::run::RunOptions;
use super::transactions::Kind;
use crate::WorkloadError;
use hdrhistogram::Histogram;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// A kind's part of the report.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct KindReport {
    pub kind: &'static str,
    pub count: u64,
    pub rolled_back: u64,
    pub retries: u64,
    pub latency_ms_mean: f64,
    pub latency_ms_p50: f64,
    pub latency_ms_p90: f64,
    pub latency_ms_p99: f64,
    pub latency_ms_max: f64,
}

/// A run's report.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Report {
    pub warehouses: u32,
    pub terminals: u32,
    pub seconds: f64,
    pub tpmc: f64,
    pub transactions: u64,
    pub transactions_per_sec: f64,
    pub retries: u64,
    /// Retries per hundred transactions.
    pub retry_percent: f64,
    /// One example per kind of retryable failure.
    pub retry_reasons: BTreeMap<String, u64>,
    pub kinds: Vec<KindReport>,
}

/// Counts while running.
pub(crate) struct Collector {
    kinds: Vec<Counts>,
    reasons: BTreeMap<String, u64>,
}

struct Counts {
    count: u64,
    rolled_back: u64,
    retries: u64,
    /// Microseconds.
    latency: Histogram<u64>,
}

impl Default for Collector {
    fn default() -> Collector {
        let counts = |_| Counts {
            count: 0,
            rolled_back: 0,
            retries: 0,
            latency: Histogram::new(3).unwrap_or_else(|_| unreachable!("three digits are a legal precision")),
        };
        Collector { kinds: Kind::ALL.iter().map(counts).collect(), reasons: BTreeMap::new() }
    }
}

impl Collector {
    pub(crate) fn count(&mut self, kind: Kind, latency: Duration, retries: u32, committed: bool) {
        let counts = &mut self.kinds[kind as usize];
        counts.count += 1;
        counts.rolled_back += u64::from(!committed);
        counts.retries += u64::from(retries);
        // The histogram grows as it must; only a value beyond u64 would be refused.
        let _ = counts.latency.record(latency.as_micros() as u64);
    }

    pub(crate) fn note_retry(&mut self, error: &WorkloadError) {
        *self.reasons.entry(error.story().chars().take(160).collect()).or_default() += 1;
    }

    /// Retries of the ramp-up are not counted.
    pub(crate) fn forget_retries(&mut self, retries: u32) {
        if retries > 0 {
            self.reasons.clear();
        }
    }

    pub(crate) fn merge(&mut self, other: Collector) {
        for (mine, theirs) in self.kinds.iter_mut().zip(other.kinds) {
            mine.count += theirs.count;
            mine.rolled_back += theirs.rolled_back;
            mine.retries += theirs.retries;
            // Both have the same precision and no upper bound: adding cannot fail.
            let _ = mine.latency.add(theirs.latency);
        }
        for (reason, count) in other.reasons {
            *self.reasons.entry(reason).or_default() += count;
        }
    }

    pub(crate) fn report(&self, elapsed: Duration, options: &RunOptions) -> Report {
        let seconds = elapsed.as_secs_f64();
        let transactions: u64 = self.kinds.iter().map(|counts| counts.count).sum();
        let retries: u64 = self.kinds.iter().map(|counts| counts.retries).sum();
        let new_orders = &self.kinds[Kind::NewOrder as usize];
        Report {
            warehouses: options.warehouses,
            terminals: options.terminals,
            seconds,
            tpmc: (new_orders.count - new_orders.rolled_back) as f64 * 60.0 / seconds,
            transactions,
            transactions_per_sec: transactions as f64 / seconds,
            retries,
            retry_percent: retries as f64 * 100.0 / (transactions.max(1)) as f64,
            retry_reasons: self.reasons.clone(),
            kinds: Kind::ALL.iter().zip(&self.kinds).map(|(kind, counts)| counts.report(*kind)).collect(),
        }
    }
}

impl Counts {
    fn report(&self, kind: Kind) -> KindReport {
        let millis = |micros: u64| micros as f64 / 1000.0;
        KindReport {
            kind: kind.name(),
            count: self.count,
            rolled_back: self.rolled_back,
            retries: self.retries,
            latency_ms_mean: self.latency.mean() / 1000.0,
            latency_ms_p50: millis(self.latency.value_at_quantile(0.5)),
            latency_ms_p90: millis(self.latency.value_at_quantile(0.9)),
            latency_ms_p99: millis(self.latency.value_at_quantile(0.99)),
            latency_ms_max: millis(self.latency.max()),
        }
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "tpmC {:.0}   {:.0} transactions/s   {} retries ({:.2} %)   {} terminals, {} warehouses, {:.0} s",
            self.tpmc, self.transactions_per_sec, self.retries, self.retry_percent, self.terminals, self.warehouses, self.seconds
        )?;
        writeln!(f, "{:<14}{:>9}{:>9}{:>10}{:>10}{:>10}{:>10}", "", "count", "retries", "p50 ms", "p90 ms", "p99 ms", "max ms")?;
        for kind in &self.kinds {
            writeln!(
                f,
                "{:<14}{:>9}{:>9}{:>10.2}{:>10.2}{:>10.2}{:>10.2}",
                kind.kind, kind.count, kind.retries, kind.latency_ms_p50, kind.latency_ms_p90, kind.latency_ms_p99, kind.latency_ms_max
            )?;
        }
        for (reason, count) in &self.retry_reasons {
            writeln!(f, "  {count} x {reason}")?;
        }
        Ok(())
    }
}
