//! Sorts rows, in memory up to `work_mem`, beyond it with the help of temporary files.
//!
//! ```text
//!   push ─► portions in memory, each in order ─► run file 1, 2, 3 ...
//!              next_batch ◄── merge of all runs and the portions that are still in memory
//! ```
//!
//! The rows of a portion lie in one [`RowBatch`], with the keys that must be computed behind their columns; what is sorted is a list of row numbers. Beside each
//! number stands the first key's *abbreviation*: eight bytes that compare as the values do, or are equal. Most comparisons end there, without a look at
//! the rows.
//!
//! A portion is sorted at a stretch; after it, and while a run is written, the statement can be cancelled and gives way to others.
//!
//! The order is stable: equal rows keep the order in which they came.

use super::RowBatch;
use super::batch::{BATCH_ROWS, MemoryUse};
use super::context::Run;
use super::row_file::{RowReader, RowWriter, can_be_put_aside};
use super::sort::Keyed;
use crate::error::SqlError;
use crate::expr::{EvalContext, Expr, eval};
use crate::plan::SortKey;
use crate::types::compare::{SortOrder, as_i64};
use crate::types::{DataType, Datum, Numeric};
use std::cmp::Ordering;
use std::path::PathBuf;
use std::sync::Arc;

/// Rows sorted at a stretch: some tens of milliseconds.
const PORTION_ROWS: usize = 64 * 1024;
/// Runs merged at once; when there are so many they become one.
const RUNS_MAX: usize = 64;

/// One key, as it is compared.
struct KeyColumn {
    /// Where its value stands in a row.
    at: usize,
    ty: DataType,
    order: SortOrder,
}

/// What rows are sorted by.
struct SortColumns {
    keys: Vec<KeyColumn>,
    /// Keys that are not columns: computed, and put behind them in this order.
    computed: Vec<Expr>,
    /// All columns' types, the computed ones' included.
    types: Arc<[DataType]>,
}

impl SortColumns {
    /// For rows of these types.
    fn new(mut types: Vec<DataType>, keys: &[SortKey]) -> SortColumns {
        let mut computed = Vec::new();
        let key = |key: &SortKey| {
            let ty = key.expr.ty().ty;
            let at = match &key.expr {
                Expr::Column(at, _) => *at,
                expr => {
                    computed.push(expr.clone());
                    types.push(ty);
                    types.len() - 1
                }
            };
            KeyColumn { at, ty, order: SortOrder { descending: key.descending, nulls_first: key.nulls_first } }
        };
        let keys = keys.iter().map(key).collect();
        SortColumns { keys, computed, types: types.into() }
    }

    /// Columns of a row, without those that are computed.
    fn width(&self) -> usize {
        self.types.len() - self.computed.len()
    }

    /// The rows with their computed keys.
    fn complete(&self, mut batch: RowBatch, context: &EvalContext<'_>) -> Result<RowBatch, SqlError> {
        if self.computed.is_empty() {
            return Ok(batch);
        }
        let mut complete = RowBatch::new(self.types.len());
        for at in 0..batch.len() {
            let keys = self.computed.iter().map(|expr| eval(expr, batch.row(at), context)).collect::<Result<Vec<_>, _>>()?;
            complete.push(batch.take_row(at).into_iter().chain(keys));
        }
        Ok(complete)
    }

    fn compare(&self, a: &[Datum], b: &[Datum]) -> Ordering {
        let by_key = |key: &KeyColumn| key.order.cmp(key.ty, &a[key.at], &b[key.at]);
        self.keys.iter().map(by_key).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }

    /// The numbers of the rows, in order.
    fn order(&self, rows: &RowBatch) -> Vec<u32> {
        let abbreviations =
            self.keys.first().and_then(|key| rows.rows().map(|row| abbreviate(&row[key.at], key)).collect::<Option<Vec<u64>>>());
        let abbreviations = abbreviations.unwrap_or_else(|| vec![0; rows.len()]);
        let mut order: Vec<(u64, u32)> = abbreviations.into_iter().zip(0..).collect();
        order.sort_unstable_by(|(left, a), (right, b)| {
            let by_rows = || self.compare(rows.row(*a as usize), rows.row(*b as usize));
            left.cmp(right).then_with(by_rows).then_with(|| a.cmp(b))
        });
        order.into_iter().map(|(_, number)| number).collect()
    }
}

/// Eight bytes that compare as the values do, or are equal where the values may differ. `None`: there are none for such values.
fn abbreviate(value: &Datum, key: &KeyColumn) -> Option<u64> {
    let ascending = match value {
        Datum::Null => return Some(if key.order.nulls_first { 0 } else { u64::MAX }),
        Datum::Text(text) if key.ty == DataType::BPCHAR => first_bytes(text.trim_end_matches(' ').as_bytes()),
        Datum::Text(text) => first_bytes(text.as_bytes()),
        Datum::Bytes(bytes) => first_bytes(bytes),
        Datum::Uuid(bytes) => first_bytes(bytes),
        Datum::Float4(x) => ordered_float(f64::from(*x)),
        Datum::Float8(x) => ordered_float(*x),
        Datum::Numeric(n) => ordered_float(exact_quotient(n)?),
        Datum::Date(days) => ordered_int(i64::from(*days)),
        Datum::Time(micros) | Datum::Timestamp(micros) | Datum::Timestamptz(micros) => ordered_int(*micros),
        other => ordered_int(as_i64(other)?),
    };
    Some(if key.order.descending { !ascending } else { ascending })
}

fn first_bytes(bytes: &[u8]) -> u64 {
    let mut first = [0; 8];
    let count = bytes.len().min(8);
    first[..count].copy_from_slice(&bytes[..count]);
    u64::from_be_bytes(first)
}

fn ordered_int(n: i64) -> u64 {
    n as u64 ^ (1 << 63)
}

/// NaN above everything, -0 as 0.
fn ordered_float(x: f64) -> u64 {
    if x.is_nan() {
        return u64::MAX;
    }
    let bits = (x + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The nearest float, where dividing two exact floats gives it: so equal numbers have one, whatever their scales.
fn exact_quotient(n: &Numeric) -> Option<f64> {
    const EXACT: u64 = 1 << 53;
    const POWERS: u16 = 22;
    match n {
        Numeric::Small { mantissa, scale } if mantissa.unsigned_abs() <= EXACT && *scale <= POWERS => {
            Some(*mantissa as f64 / 10f64.powi(i32::from(*scale)))
        }
        _ => None,
    }
}

/// Gathers rows.
pub(super) struct Sorter {
    columns: SortColumns,
    /// The portion that is being filled.
    rows: RowBatch,
    portions: Vec<Ordered>,
    memory: MemoryUse,
    /// Bytes in memory from which a run is written; `None`: never.
    run_bytes: Option<usize>,
    runs: Vec<RowReader>,
    dir: PathBuf,
}

impl Sorter {
    /// For rows of these types, in memory up to `work_mem`.
    pub(super) fn new(types: Vec<DataType>, keys: &[SortKey], run: &Run<'_>) -> Sorter {
        let sorter = Sorter::in_memory(types, keys, run);
        Sorter { run_bytes: can_be_put_aside(&sorter.columns.types).then_some(run.ctx.work_mem), ..sorter }
    }

    /// For rows that are kept in memory anyhow.
    pub(super) fn in_memory(types: Vec<DataType>, keys: &[SortKey], run: &Run<'_>) -> Sorter {
        let columns = SortColumns::new(types, keys);
        Sorter {
            rows: RowBatch::new(columns.types.len()),
            portions: Vec::new(),
            memory: MemoryUse::default(),
            run_bytes: None,
            columns,
            runs: Vec::new(),
            dir: run.ctx.spill_dir.to_owned(),
        }
    }

    /// Adds rows.
    pub(super) async fn push(&mut self, batch: RowBatch, run: &mut Run<'_>) -> Result<(), SqlError> {
        let batch = self.columns.complete(batch, &run.eval())?;
        self.memory.grow(batch.bytes())?;
        self.rows.append(batch);
        if self.rows.len() >= PORTION_ROWS {
            self.end_portion();
            run.give_way(PORTION_ROWS).await?;
        }
        if self.run_bytes.is_some_and(|most| self.memory.bytes() > most) { self.write_run(run).await } else { Ok(()) }
    }

    fn end_portion(&mut self) {
        if !self.rows.is_empty() {
            let rows = std::mem::replace(&mut self.rows, RowBatch::new(self.columns.types.len()));
            let order = self.columns.order(&rows).into_iter();
            self.portions.push(Ordered { rows, order });
        }
    }

    /// Puts all that is in memory aside.
    async fn write_run(&mut self, run: &mut Run<'_>) -> Result<(), SqlError> {
        if self.runs.len() >= RUNS_MAX {
            let all = Merge::new(std::mem::take(&mut self.runs), Vec::new(), &self.columns)?;
            let one = self.written(all, run).await?;
            self.runs.push(one);
        }
        self.end_portion();
        let portions = Merge::new(Vec::new(), std::mem::take(&mut self.portions), &self.columns)?;
        let written = self.written(portions, run).await?;
        self.runs.push(written);
        self.memory = MemoryUse::default();
        Ok(())
    }

    async fn written(&self, mut rows: Merge, run: &mut Run<'_>) -> Result<RowReader, SqlError> {
        let mut writer = RowWriter::new(&self.dir)?;
        loop {
            for _ in 0..BATCH_ROWS {
                let Some(row) = rows.next(&self.columns)? else { return writer.into_reader(&self.columns.types) };
                writer.push(&row)?;
            }
            run.give_way(BATCH_ROWS).await?;
        }
    }

    /// The rows in order.
    pub(super) fn finish(mut self) -> Result<Sorted, SqlError> {
        self.end_portion();
        let source = if self.runs.is_empty() && self.portions.len() <= 1 {
            Source::OnePortion(self.portions.pop().unwrap_or_default())
        } else {
            Source::Merged(Merge::new(self.runs, self.portions, &self.columns)?)
        };
        Ok(Sorted { columns: self.columns, source })
    }
}

/// Rows in memory, and their order.
#[derive(Default)]
struct Ordered {
    rows: RowBatch,
    order: std::vec::IntoIter<u32>,
}

impl Ordered {
    fn next(&mut self) -> Option<Vec<Datum>> {
        self.order.next().map(|number| self.rows.take_row(number as usize))
    }
}

/// Sorted rows, to be taken.
pub(super) struct Sorted {
    columns: SortColumns,
    source: Source,
}

/// Where they come from.
enum Source {
    OnePortion(Ordered),
    /// Several portions, perhaps in files.
    Merged(Merge),
}

impl Sorted {
    /// The next row, its computed keys behind its columns; `None` at the end.
    fn next(&mut self) -> Result<Option<Vec<Datum>>, SqlError> {
        match &mut self.source {
            Source::OnePortion(ordered) => Ok(ordered.next()),
            Source::Merged(merge) => merge.next(&self.columns),
        }
    }

    /// The next rows; `None` at the end.
    pub(super) fn next_batch(&mut self) -> Result<Option<RowBatch>, SqlError> {
        let width = self.columns.width();
        let mut batch = RowBatch::new(width);
        while batch.len() < BATCH_ROWS {
            let Some(row) = self.next()? else { break };
            batch.push(row.into_iter().take(width));
        }
        Ok((!batch.is_empty()).then_some(batch))
    }

    /// The next row with the values of its keys; `None` at the end.
    pub(super) fn next_keyed(&mut self) -> Result<Option<Keyed>, SqlError> {
        let Some(mut row) = self.next()? else { return Ok(None) };
        let keys = self.columns.keys.iter().map(|key| row[key.at].clone()).collect();
        row.truncate(self.columns.width());
        Ok(Some(Keyed { keys, row }))
    }
}

/// The first row of a source that was not given out yet.
struct Head {
    row: Vec<Datum>,
    /// Which source: the runs, then the portions in memory, each in the order in which they were made.
    source: usize,
}

/// Several runs and portions as one.
struct Merge {
    runs: Vec<RowReader>,
    portions: Vec<Ordered>,
    /// The least last.
    heads: Vec<Head>,
}

impl Merge {
    fn new(runs: Vec<RowReader>, portions: Vec<Ordered>, columns: &SortColumns) -> Result<Merge, SqlError> {
        let sources = runs.len() + portions.len();
        let mut merge = Merge { heads: Vec::with_capacity(sources), runs, portions };
        (0..sources).try_for_each(|source| merge.refill(source, columns))?;
        Ok(merge)
    }

    fn next(&mut self, columns: &SortColumns) -> Result<Option<Vec<Datum>>, SqlError> {
        let Some(least) = self.heads.pop() else { return Ok(None) };
        self.refill(least.source, columns)?;
        Ok(Some(least.row))
    }

    /// Puts a source's next row among the heads.
    fn refill(&mut self, source: usize, columns: &SortColumns) -> Result<(), SqlError> {
        let row = match self.runs.get_mut(source) {
            Some(run) => {
                let mut row = Vec::with_capacity(columns.types.len());
                run.next(&mut row)?.then_some(row)
            }
            None => self.portions.get_mut(source - self.runs.len()).and_then(Ordered::next),
        };
        let Some(row) = row else { return Ok(()) };
        let comes_later = |head: &Head| columns.compare(&head.row, &row).then(head.source.cmp(&source)).is_gt();
        let at = self.heads.partition_point(comes_later);
        self.heads.insert(at, Head { row, source });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(ty: DataType, descending: bool) -> KeyColumn {
        KeyColumn { at: 0, ty, order: SortOrder { descending, nulls_first: descending } }
    }

    /// Abbreviations never contradict the order of the values.
    fn check(ty: DataType, values: &[Datum]) {
        for descending in [false, true] {
            let key = key(ty, descending);
            for (a, b) in values.iter().flat_map(|a| values.iter().map(move |b| (a, b))) {
                let (Some(left), Some(right)) = (abbreviate(a, &key), abbreviate(b, &key)) else { continue };
                let by_value = key.order.cmp(ty, a, b);
                assert!(left == right || left.cmp(&right) == by_value, "{a:?} {b:?} descending: {descending}");
                assert!(by_value.is_ne() || left == right, "{a:?} {b:?} are equal");
            }
        }
    }

    #[test]
    fn abbreviations_compare_as_values_do() {
        check(DataType::INT8, &[i64::MIN, -1, 0, 1, i64::MAX].map(Datum::Int8).into_iter().chain([Datum::Null]).collect::<Vec<_>>());
        let floats = [f64::NEG_INFINITY, -1.5, -0.0, 0.0, f64::MIN_POSITIVE, 2.5, f64::INFINITY, f64::NAN];
        check(DataType::FLOAT8, &floats.map(Datum::Float8).into_iter().chain([Datum::Null]).collect::<Vec<_>>());
        let texts = ["", " ", "a", "a ", "abcdefgh", "abcdefghi", "b", "\u{e4}"].map(Datum::text);
        check(DataType::TEXT, &texts);
        check(DataType::BPCHAR, &texts);
        let numbers = ["-10.5", "-10.50", "0", "0.00", "0.1", "0.10", "123456789012345678901", "1e-20", "9007199254740993"];
        check(DataType::NUMERIC, &numbers.map(|text| Datum::Numeric(Numeric::parse(text).unwrap())));
    }
}
