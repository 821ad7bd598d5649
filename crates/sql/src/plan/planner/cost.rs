//! How many rows, and how expensive. The unit is PostgreSQL's: one sequential page read is 1.

use super::Planner;
use super::lower::ids;
use crate::bind::ColumnId;
use crate::catalog::stats::DEFAULT_ROW_COUNT;
use crate::catalog::{ColumnStatistics, TableDescriptor};
use crate::expr::{CompareOp, Expr};
use crate::types::text;
use crate::types::{Datum, FormatSettings, TextContext};
use std::cmp::Ordering;
use std::sync::LazyLock;

/// Looking at one row.
pub(super) const ROW: f64 = 0.01;
/// Finding a key: what it takes to read eight rows in a row.
pub(super) const SEEK: f64 = 0.08;
/// Fetching the row that an index entry points to: a seek, but many go in one batch.
pub(super) const FETCH: f64 = 0.06;
/// Putting a row into a hash table.
pub(super) const HASH: f64 = 0.02;

/// Guesses without statistics, PostgreSQL's.
const EQUAL: f64 = 0.005;
const RANGE: f64 = 1.0 / 3.0;
const OTHER: f64 = 0.25;
/// A range with two ends, PostgreSQL's guess too.
pub(super) const BETWEEN: f64 = 0.005;
/// Conditions that count at all when several are combined.
const BACKOFF_MAX: usize = 5;
const UNKNOWN_DISTINCT: f64 = 200.0;

static SETTINGS: LazyLock<FormatSettings> = LazyLock::new(FormatSettings::default);

impl Planner<'_> {
    pub(super) fn table_rows(&self, table: &TableDescriptor) -> f64 {
        self.catalog.statistics(table.oid).map_or(DEFAULT_ROW_COUNT, |s| s.row_count.max(1.0))
    }

    /// Bytes of a row of these columns, roughly.
    pub(super) fn width(&self, layout: &[ColumnId]) -> u32 {
        layout.iter().map(|id| u32::try_from(crate::types::info(self.columns[*id].ty.ty).len).unwrap_or(32)).sum()
    }

    fn statistics_of(&self, id: ColumnId) -> Option<&ColumnStatistics> {
        let info = self.columns.get(id)?;
        let position = (info.attnum as usize).checked_sub(1)?;
        self.catalog.statistics(info.table)?.column(position)
    }

    /// Different values of a column.
    pub(super) fn distinct(&self, id: ColumnId) -> f64 {
        if let Some(statistics) = self.statistics_of(id) {
            return statistics.distinct.max(1.0);
        }
        let unique = self.columns.get(id).and_then(|info| {
            let table = self.catalog.table(info.table)?;
            let position = (info.attnum as usize).checked_sub(1)?;
            let single = |i: &crate::catalog::IndexDescriptor| i.unique && i.key.len() == 1 && i.key[0].column == position;
            table.all_indexes().any(single).then(|| self.table_rows(table))
        });
        unique.unwrap_or(UNKNOWN_DISTINCT)
    }

    /// The share of rows for which the condition is true.
    pub(super) fn selectivity(&self, expr: &Expr) -> f64 {
        let share = match expr {
            Expr::Const(Datum::Bool(true), _) => 1.0,
            Expr::Const(..) => 0.0,
            Expr::And(list) => list.iter().map(|e| self.selectivity(e)).product(),
            Expr::Or(list) => 1.0 - list.iter().map(|e| 1.0 - self.selectivity(e)).product::<f64>(),
            Expr::Not(inner) => 1.0 - self.selectivity(inner),
            Expr::IsNull { expr, negated } => {
                let nulls = column_of(expr).and_then(|id| self.statistics_of(id)).map_or(EQUAL, |s| s.null_fraction);
                if *negated { 1.0 - nulls } else { nulls }
            }
            Expr::InList { expr, list, negated } => {
                let one = column_of(expr).map_or(EQUAL, |id| 1.0 / self.distinct(id));
                let any = (one * list.len() as f64).min(1.0);
                if *negated { 1.0 - any } else { any }
            }
            Expr::AnyAll { func, left, all: false, .. } if func.compare == Some(CompareOp::Eq) => {
                (column_of(left).map_or(EQUAL, |id| 1.0 / self.distinct(id)) * 10.0).min(1.0)
            }
            Expr::Call { func, args, .. } => match (func.compare, args.as_slice()) {
                (Some(op), [left, right]) => self.comparison(op, left, right),
                _ => OTHER,
            },
            _ => OTHER,
        };
        share.clamp(0.0, 1.0)
    }

    fn comparison(&self, op: CompareOp, left: &Expr, right: &Expr) -> f64 {
        let (column, value, op) = match (column_of(left), column_of(right)) {
            (Some(l), Some(r)) => {
                let most = self.distinct(l).max(self.distinct(r));
                return match op {
                    CompareOp::Eq => 1.0 / most,
                    CompareOp::Ne => 1.0 - 1.0 / most,
                    _ => RANGE,
                };
            }
            (Some(id), None) => (id, right, op),
            (None, Some(id)) => (id, left, op.commute()),
            (None, None) => return OTHER,
        };
        match op {
            CompareOp::Eq => self.equal_to(column, value),
            CompareOp::Ne => 1.0 - self.equal_to(column, value),
            _ => self.below(column, op, value).unwrap_or(RANGE),
        }
    }

    fn equal_to(&self, column: ColumnId, value: &Expr) -> f64 {
        let Some(statistics) = self.statistics_of(column) else { return 1.0 / self.distinct(column) };
        if let Expr::Const(value, ty) = value {
            let shown = text::to_string(value, ty.ty, &TextContext::new(&SETTINGS));
            if let Some((_, share)) = statistics.most_common.iter().find(|(v, _)| *v == shown) {
                return *share;
            }
        }
        let common: f64 = statistics.most_common.iter().map(|(_, share)| share).sum();
        let rest = (1.0 - common - statistics.null_fraction).max(0.0);
        let others = (statistics.distinct - statistics.most_common.len() as f64).max(1.0);
        if rest > 0.0 { rest / others } else { 1.0 / statistics.distinct.max(1.0) }
    }

    /// By the histogram: which share of the buckets lies below the value.
    fn below(&self, column: ColumnId, op: CompareOp, value: &Expr) -> Option<f64> {
        let statistics = self.statistics_of(column)?;
        let Expr::Const(value, _) = value else { return None };
        let ty = self.columns[column].ty;
        let bounds = &statistics.histogram;
        if bounds.len() < 2 {
            return None;
        }
        let ctx = TextContext::new(&SETTINGS);
        let less = |bound: &String| text::parse(bound, ty, &ctx).is_ok_and(|b| crate::types::compare::cmp(&b, value) == Ordering::Less);
        let share = bounds.partition_point(less) as f64 / bounds.len() as f64;
        let all = 1.0 - statistics.null_fraction;
        Some(match op {
            CompareOp::Lt | CompareOp::Le => share * all,
            _ => (1.0 - share) * all,
        })
    }

    /// The share that several conditions leave. Columns are seldom independent of each other, so that only the strictest condition counts in full, the next by
    /// its square root, and so on (the *exponential backoff* of other planners).
    pub(super) fn selectivity_of(&self, exprs: &[Expr]) -> f64 {
        let mut shares: Vec<f64> = exprs.iter().map(|e| self.selectivity(e)).collect();
        shares.sort_by(f64::total_cmp);
        shares.iter().take(BACKOFF_MAX).zip(0..).map(|(share, n)| share.powf(0.5f64.powi(n))).product()
    }
}

/// The column that an expression is, seen through casts.
fn column_of(expr: &Expr) -> Option<ColumnId> {
    match expr {
        Expr::Column(id, _) => Some(*id),
        Expr::Cast { expr, .. } => column_of(expr),
        _ => None,
    }
}

/// Whether the expression mentions only ids for which the test holds.
pub(super) fn only(expr: &Expr, test: impl Fn(ColumnId) -> bool) -> bool {
    ids(expr).into_iter().all(test)
}
