//! ANALYZE: statistics from a sample; and VACUUM, which has nothing to do here but says so.
//!
//! The table is read at a snapshot of its own, in a transaction that only reads, so that ANALYZE conflicts with nobody; only the result is written by the
//! statement's transaction.

use super::Ddl;
use crate::ast::{MaintenanceTarget, Vacuum};
use crate::catalog::store::Change;
use crate::catalog::{ColumnStatistics, RelationKind, TableDescriptor, TableStatistics};
use crate::error::{SqlError, SqlState};
use crate::exec::batch::datum_bytes;
use crate::exec::table_keys::{decode_whole, index_id};
use crate::exec::{ExecContext, Notice, kv_error};
use crate::types::{ColumnType, Datum, FormatSettings, TextContext, compare, text};
use rand::{RngExt, SeedableRng};
use std::cmp::Ordering;
use std::sync::Arc;
use tidelock_base::Span;
use tidelock_kvapi::Limit;
use tidelock_kvclient::{ScanOptions, TxnOptions};

/// Rows in the sample: PostgreSQL's 300 times the statistics target of 100.
const SAMPLE_ROWS: usize = 30_000;
/// Most common values kept, and bounds of the histogram.
const TARGET: usize = 100;
/// Rows read in one request.
const PAGE_ROWS: u64 = 1000;

impl Ddl<'_, '_> {
    pub(super) async fn analyze(&mut self, targets: &[MaintenanceTarget]) -> Result<(), SqlError> {
        let tables: Vec<Arc<TableDescriptor>> = if targets.is_empty() {
            let stored = self.catalog().relations().map(|r| r.descriptor()).filter(|t| t.kind == RelationKind::Table);
            stored.cloned().collect()
        } else {
            targets.iter().map(|t| self.find_table(&t.table)).collect::<Result<_, _>>()?
        };
        for table in tables {
            let statistics = sampled(&table, self.ctx).await?;
            self.builder.put_statistics(table.oid, statistics.clone());
            self.changes.push(Change::PutStatistics(table.oid, statistics));
        }
        Ok(())
    }
}

/// VACUUM: old versions are dropped by the store as soon as no snapshot needs them.
pub(super) async fn vacuum(vacuum: &Vacuum, ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
    let search_path = &ctx.plan_settings.search_path;
    for target in &vacuum.targets {
        let found = ctx.catalog.resolve(target.table.schema.as_deref(), &target.table.name, search_path);
        let missing = || SqlError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{}\" does not exist", target.table.name));
        let table = found.ok_or_else(missing)?.descriptor();
        if vacuum.verbose {
            let message = format!("vacuuming \"{}.{}.{}\"", ctx.catalog.database(), table.schema, table.name);
            let mut notice = Notice::info(message);
            let detail = "Old row versions are removed continuously, as soon as no snapshot needs them; nothing was left to do.";
            notice.fields.fields_mut().detail = Some(detail.to_owned());
            ctx.notices.push(notice);
        }
    }
    if vacuum.analyze {
        let mut ddl = Ddl::begin(ctx).await?;
        ddl.analyze(&vacuum.targets).await?;
        ddl.finish().await?;
    }
    Ok(())
}

/// Reads a table and draws its picture.
async fn sampled(table: &TableDescriptor, ctx: &mut ExecContext<'_>) -> Result<TableStatistics, SqlError> {
    let mut txn = ctx.db.begin(TxnOptions { read_only: true, ..*ctx.txn.options() });
    let mut random = rand::rngs::SmallRng::seed_from_u64(u64::from(table.oid));
    let mut sample: Vec<Vec<Datum>> = Vec::new();
    let (mut rows_seen, mut bytes) = (0usize, 0usize);
    let mut rest = Some(Span::index(index_id(&table.primary)));
    while let Some(span) = rest {
        ctx.cancel.check()?;
        let options = ScanOptions { limit: Limit::Keys(PAGE_ROWS), ..ScanOptions::default() };
        let page = txn.scan(span, &options).await.map_err(|e| kv_error(e, &ctx.catalog))?;
        for row in page.rows.iter() {
            rows_seen += 1;
            bytes += row.value.len();
            // A reservoir: each row is in the sample with the same probability.
            let place = if sample.len() < SAMPLE_ROWS { sample.len() } else { random.random_range(0..rows_seen) };
            if place < SAMPLE_ROWS {
                let decoded = decode_whole(table, row.value)?;
                match sample.get_mut(place) {
                    Some(slot) => *slot = decoded,
                    None => sample.push(decoded),
                }
            }
        }
        rest = page.resume;
        tokio::task::yield_now().await;
    }
    let columns = table.columns.iter().enumerate().map(|(position, column)| {
        let values = sample.iter().map(|row| row.get(position).cloned().unwrap_or(Datum::Null)).collect();
        (!column.dropped && (!column.hidden || column.is_expression())).then(|| column_statistics(values, column.ty, rows_seen))
    });
    let columns = columns.collect();
    Ok(TableStatistics { row_count: rows_seen as f64, row_bytes: bytes as f64 / rows_seen.max(1) as f64, columns })
}

fn column_statistics(values: Vec<Datum>, ty: ColumnType, rows: usize) -> ColumnStatistics {
    let sampled = values.len();
    let mut present: Vec<Datum> = values.into_iter().filter(|v| !v.is_null()).collect();
    if sampled == 0 || present.is_empty() {
        let null_fraction = if sampled == 0 { 0.0 } else { 1.0 };
        return ColumnStatistics { null_fraction, ..ColumnStatistics::default() };
    }
    let width = present.iter().map(datum_bytes).sum::<usize>() as f64 / present.len() as f64;
    present.sort_by(|a, b| compare::cmp_as(ty.ty, a, b));
    let runs = runs_of(&present, ty);
    let once = runs.iter().filter(|(_, count)| *count == 1).count();
    let distinct = estimated_distinct(runs.len(), once, present.len(), rows as f64 * present.len() as f64 / sampled as f64);
    let settings = FormatSettings::default();
    let context = TextContext::new(&settings);
    let form = |value: &Datum| text::to_string(value, ty.ty, &context);
    let common = most_common(&runs, present.len());
    let share = |count: usize| count as f64 / sampled as f64;
    let is_common = |start: usize| common.iter().any(|(s, _)| *s == start);
    let mut others: Vec<&Datum> = Vec::new();
    for (start, count) in &runs {
        if !is_common(*start) {
            others.extend(&present[*start..*start + *count]);
        }
    }
    ColumnStatistics {
        null_fraction: 1.0 - present.len() as f64 / sampled as f64,
        distinct,
        width,
        most_common: common.iter().map(|(start, count)| (form(&present[*start]), share(*count))).collect(),
        histogram: bounds(&others).into_iter().map(form).collect(),
    }
}

/// Runs of equal values in a sorted list: where each starts, how long it is.
fn runs_of(sorted: &[Datum], ty: ColumnType) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for at in 0..sorted.len() {
        match runs.last_mut() {
            Some((start, count)) if compare::cmp_as(ty.ty, &sorted[*start], &sorted[at]) == Ordering::Equal => *count += 1,
            _ => runs.push((at, 1)),
        }
    }
    runs
}

/// Haas and Stokes' estimator, as in PostgreSQL: `n * d / (n - f1 + f1 * n / N)`.
fn estimated_distinct(distinct: usize, once: usize, sampled: usize, total: f64) -> f64 {
    let (d, f1, n) = (distinct as f64, once as f64, sampled as f64);
    if total <= n || once == 0 {
        return d;
    }
    if distinct == once {
        return total;
    }
    (n * d / (n - f1 + f1 * n / total)).clamp(d, total)
}

/// The values that are clearly more frequent than the average, most frequent first.
fn most_common(runs: &[(usize, usize)], present: usize) -> Vec<(usize, usize)> {
    let average = present as f64 / runs.len() as f64;
    let few = runs.len() <= TARGET;
    let mut common: Vec<(usize, usize)> =
        runs.iter().copied().filter(|(_, count)| *count > 1 && (few || *count as f64 > average * 1.25)).collect();
    common.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    common.truncate(TARGET);
    common
}

/// Bounds of buckets of equal height.
fn bounds<'v>(values: &[&'v Datum]) -> Vec<&'v Datum> {
    if values.len() < 2 {
        return Vec::new();
    }
    let buckets = TARGET.min(values.len() - 1);
    (0..=buckets).map(|i| values[i * (values.len() - 1) / buckets]).collect()
}
