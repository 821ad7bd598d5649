//! Window functions: the input in memory, sorted into partitions once per window, the calls computed partition by partition.

use super::RowBatch;
use super::batch::BATCH_ROWS;
use super::cancel::CancelFlag;
use super::context::Run;
use super::operator::Operator;
use super::sort::{Keyed, compare_by_keys};
use super::sorter::Sorter;
use crate::ast::{FrameExclusion, FrameUnits};
use crate::error::{SqlError, SqlState};
use crate::expr::{EvalContext, Expr, eval, eval_bool};
use crate::functions::{Accumulator, ResolvedAggregate, resolve_operator};
use crate::plan::{FrameEnd, Plan, SortKey, WindowCall, WindowFunction, WindowPlan};
use crate::types::{DataType, Datum, cast, compare};
use std::cmp::Ordering;
use std::ops::Range;

/// The computed rows, and how many were handed out.
pub(crate) struct WindowState {
    input: Operator,
    finished: Option<(RowBatch, usize)>,
}

impl WindowState {
    pub(super) fn new(input: Operator) -> WindowState {
        WindowState { input, finished: None }
    }

    pub(super) async fn next(&mut self, input: &Plan, windows: &[WindowPlan], run: &mut Run<'_>) -> Result<Option<RowBatch>, SqlError> {
        if self.finished.is_none() {
            let mut rows = self.input.collect(input, run).await?;
            let mut types: Vec<DataType> = input.types.iter().map(|column| column.ty).collect();
            for window in windows {
                rows = computed(rows, &types, window, run).await?;
                types.extend(window.calls.iter().map(|call| call.ty.ty));
            }
            self.finished = Some((rows, 0));
        }
        let Some((rows, given)) = &mut self.finished else { return Ok(None) };
        let end = rows.len().min(*given + BATCH_ROWS);
        let mut batch = RowBatch::new(rows.width());
        for at in *given..end {
            batch.push(rows.take_row(at));
        }
        *given = end;
        Ok((!batch.is_empty()).then_some(batch))
    }
}

/// The rows with the calls' values appended, in the window's order.
async fn computed(rows: RowBatch, types: &[DataType], window: &WindowPlan, run: &mut Run<'_>) -> Result<RowBatch, SqlError> {
    let partition_key = |expr: &Expr| SortKey { expr: expr.clone(), descending: false, nulls_first: false };
    let partition: Vec<SortKey> = window.partition_by.iter().map(partition_key).collect();
    let all: Vec<SortKey> = partition.iter().cloned().chain(window.order_by.iter().cloned()).collect();
    let mut out = RowBatch::new(types.len() + window.calls.len());
    let mut keyed = sorted(rows, types, &all, run).await?;
    let mut start = 0;
    while start < keyed.len() {
        let same = |k: &Keyed| compare_by_keys(&partition, &k.keys, &keyed[start].keys).is_eq();
        let end = start + keyed[start..].iter().take_while(|k| same(k)).count();
        let mut values: Vec<std::vec::IntoIter<Datum>> = Vec::with_capacity(window.calls.len());
        {
            let (context, cancel) = (run.eval(), run.ctx.cancel);
            let part = Partition::new(&keyed[start..end], partition.len(), window, &context, cancel)?;
            for call in &window.calls {
                values.push(part.call(call)?.into_iter());
            }
        }
        for keyed in &mut keyed[start..end] {
            let row = std::mem::take(&mut keyed.row);
            out.push(row.into_iter().chain(values.iter_mut().filter_map(Iterator::next)));
        }
        run.give_way(end - start).await?;
        start = end;
    }
    Ok(out)
}

/// The rows with their key values, in order.
async fn sorted(mut rows: RowBatch, types: &[DataType], keys: &[SortKey], run: &mut Run<'_>) -> Result<Vec<Keyed>, SqlError> {
    let count = rows.len();
    let mut sorter = Sorter::in_memory(types.to_vec(), keys, run);
    for start in (0..count).step_by(BATCH_ROWS) {
        let mut batch = RowBatch::new(types.len());
        for at in start..count.min(start + BATCH_ROWS) {
            batch.push(rows.take_row(at));
        }
        sorter.push(batch, run).await?;
    }
    drop(rows);
    let mut sorted = sorter.finish()?;
    let mut keyed = Vec::with_capacity(count);
    while let Some(row) = sorted.next_keyed()? {
        keyed.push(row);
        if keyed.len() % BATCH_ROWS == 0 {
            run.give_way(BATCH_ROWS).await?;
        }
    }
    Ok(keyed)
}

/// The rows of a frame, in order.
type FrameRows<'p> = Box<dyn DoubleEndedIterator<Item = usize> + 'p>;

/// One partition, in order.
struct Partition<'p> {
    rows: &'p [Keyed],
    /// For each row, the rows equal to it in the window's order.
    peers: Vec<Range<usize>>,
    order_from: usize,
    window: &'p WindowPlan,
    context: &'p EvalContext<'p>,
    cancel: &'p CancelFlag,
    start_offset: Option<Datum>,
    end_offset: Option<Datum>,
}

impl<'p> Partition<'p> {
    fn new(
        rows: &'p [Keyed],
        order_from: usize,
        window: &'p WindowPlan,
        context: &'p EvalContext<'p>,
        cancel: &'p CancelFlag,
    ) -> Result<Partition<'p>, SqlError> {
        let mut peers: Vec<Range<usize>> = Vec::with_capacity(rows.len());
        let mut start = 0;
        while start < rows.len() {
            let same = |k: &Keyed| compare_by_keys(&window.order_by, &k.keys[order_from..], &rows[start].keys[order_from..]).is_eq();
            let end = start + rows[start..].iter().take_while(|k| same(k)).count();
            peers.extend(std::iter::repeat_n(start..end, end - start));
            start = end;
        }
        let offset = |end: &FrameEnd, which: &str| match end {
            FrameEnd::Preceding(expr) | FrameEnd::Following(expr) => {
                frame_offset(eval(expr, &[], context)?, which, window.frame.units).map(Some)
            }
            _ => Ok(None),
        };
        let (start_offset, end_offset) = (offset(&window.frame.start, "starting")?, offset(&window.frame.end, "ending")?);
        Ok(Partition { rows, peers, order_from, window, context, cancel, start_offset, end_offset })
    }

    /// A call's value for each row.
    fn call(&self, call: &WindowCall) -> Result<Vec<Datum>, SqlError> {
        let count = self.rows.len();
        let int8 = |f: &dyn Fn(usize) -> i64| Ok((0..count).map(|at| Datum::Int8(f(at))).collect());
        match &call.function {
            WindowFunction::RowNumber => int8(&|at| at as i64 + 1),
            WindowFunction::Rank => int8(&|at| self.peers[at].start as i64 + 1),
            WindowFunction::DenseRank => {
                let mut rank = 0;
                let ranked = (0..count).map(|at| {
                    rank += i64::from(self.peers[at].start == at);
                    Datum::Int8(rank)
                });
                Ok(ranked.collect())
            }
            WindowFunction::PercentRank => {
                let share = |at: usize| if count <= 1 { 0.0 } else { self.peers[at].start as f64 / (count - 1) as f64 };
                Ok((0..count).map(|at| Datum::Float8(share(at))).collect())
            }
            WindowFunction::CumeDist => Ok((0..count).map(|at| Datum::Float8(self.peers[at].end as f64 / count as f64)).collect()),
            WindowFunction::Ntile => self.ntile(call),
            WindowFunction::Lag => self.shifted(call, -1),
            WindowFunction::Lead => self.shifted(call, 1),
            WindowFunction::FirstValue => (0..count).map(|at| self.in_frame(call, at, |mut rows| rows.next())).collect(),
            WindowFunction::LastValue => (0..count).map(|at| self.in_frame(call, at, |mut rows| rows.next_back())).collect(),
            WindowFunction::NthValue => self.nth_value(call),
            WindowFunction::Aggregate(_) => self.aggregated(call),
        }
    }

    fn arg(&self, call: &WindowCall, number: usize, at: usize) -> Result<Datum, SqlError> {
        call.args.get(number).map_or(Ok(Datum::Null), |arg| eval(arg, &self.rows[at].row, self.context))
    }

    fn ntile(&self, call: &WindowCall) -> Result<Vec<Datum>, SqlError> {
        let count = self.rows.len();
        let buckets = match self.arg(call, 0, 0)? {
            Datum::Null => return Ok(vec![Datum::Null; count]),
            value => compare::as_i64(&value).unwrap_or(0),
        };
        let Some(buckets) = usize::try_from(buckets).ok().filter(|n| *n > 0) else {
            return Err(SqlError::new(SqlState("22014"), "argument of ntile must be greater than zero"));
        };
        let (size, extra) = (count / buckets, count % buckets);
        let bucket = |at: usize| {
            let long = extra * (size + 1);
            if at < long { at / (size + 1) } else { extra + (at - long) / size.max(1) }
        };
        Ok((0..count).map(|at| Datum::Int4(bucket(at) as i32 + 1)).collect())
    }

    fn shifted(&self, call: &WindowCall, direction: i64) -> Result<Vec<Datum>, SqlError> {
        let count = self.rows.len() as i64;
        let mut values = Vec::with_capacity(self.rows.len());
        for at in 0..self.rows.len() {
            let offset = if call.args.len() > 1 { self.arg(call, 1, at)? } else { Datum::Int4(1) };
            let Some(offset) = compare::as_i64(&offset) else {
                values.push(Datum::Null);
                continue;
            };
            let target = offset.checked_mul(direction).and_then(|d| d.checked_add(at as i64)).filter(|t| (0..count).contains(t));
            values.push(match target {
                Some(target) => self.arg(call, 0, target as usize)?,
                None => self.arg(call, 2, at)?,
            });
        }
        Ok(values)
    }

    /// The value of one row of the frame, which `which` picks.
    fn in_frame(&self, call: &WindowCall, at: usize, which: impl Fn(FrameRows<'_>) -> Option<usize>) -> Result<Datum, SqlError> {
        match which(self.frame_rows(at)?) {
            Some(row) => self.arg(call, 0, row),
            None => Ok(Datum::Null),
        }
    }

    /// The rows of a row's frame that EXCLUDE leaves.
    fn frame_rows(&self, at: usize) -> Result<FrameRows<'_>, SqlError> {
        let frame = self.frame(at)?;
        let peers = &self.peers[at];
        let kept = move |row: &usize| match self.window.frame.exclude {
            FrameExclusion::NoOthers => true,
            FrameExclusion::CurrentRow => *row != at,
            FrameExclusion::Group => !peers.contains(row),
            FrameExclusion::Ties => *row == at || !peers.contains(row),
        };
        Ok(Box::new(frame.filter(kept)))
    }

    fn nth_value(&self, call: &WindowCall) -> Result<Vec<Datum>, SqlError> {
        let mut values = Vec::with_capacity(self.rows.len());
        for at in 0..self.rows.len() {
            let Some(nth) = compare::as_i64(&self.arg(call, 1, at)?) else {
                values.push(Datum::Null);
                continue;
            };
            if nth < 1 {
                return Err(SqlError::new(SqlState("22016"), "argument of nth_value must be greater than zero"));
            }
            values.push(self.in_frame(call, at, |mut rows| rows.nth(usize::try_from(nth - 1).ok()?))?);
        }
        Ok(values)
    }

    /// An aggregate over each row's frame. Frames that only grow at their end are accumulated once.
    fn aggregated(&self, call: &WindowCall) -> Result<Vec<Datum>, SqlError> {
        let WindowFunction::Aggregate(function) = &call.function else { return Ok(Vec::new()) };
        if self.window.frame.exclude != FrameExclusion::NoOthers {
            return self.aggregated_anew(call, function);
        }
        let mut values: Vec<Datum> = Vec::with_capacity(self.rows.len());
        let mut accumulator = function.accumulator();
        let mut done = 0..0;
        for at in 0..self.rows.len() {
            self.cancel.check()?;
            let frame = self.frame(at)?;
            if frame == done && at > 0 {
                values.push(values[at - 1].clone());
                continue;
            }
            if frame.start != done.start || frame.end < done.end {
                accumulator = function.accumulator();
                done = frame.start..frame.start;
            }
            for row in done.end..frame.end {
                self.accumulate(call, &mut accumulator, row)?;
            }
            done = frame;
            values.push(accumulator.clone().finish(self.context)?);
        }
        Ok(values)
    }

    /// The same, frame by frame: what EXCLUDE leaves out is different for each row.
    fn aggregated_anew(&self, call: &WindowCall, function: &ResolvedAggregate) -> Result<Vec<Datum>, SqlError> {
        let mut values = Vec::with_capacity(self.rows.len());
        for at in 0..self.rows.len() {
            self.cancel.check()?;
            let mut accumulator = function.accumulator();
            for row in self.frame_rows(at)? {
                self.accumulate(call, &mut accumulator, row)?;
            }
            values.push(accumulator.finish(self.context)?);
        }
        Ok(values)
    }

    fn accumulate(&self, call: &WindowCall, accumulator: &mut Accumulator, row: usize) -> Result<(), SqlError> {
        let row = &self.rows[row].row;
        if let Some(filter) = &call.filter
            && !eval_bool(filter, row, self.context)?
        {
            return Ok(());
        }
        let args = call.args.iter().map(|arg| eval(arg, row, self.context)).collect::<Result<Vec<_>, _>>()?;
        accumulator.accumulate(self.context, &args)
    }

    /// The rows of a row's frame.
    fn frame(&self, at: usize) -> Result<Range<usize>, SqlError> {
        let frame = &self.window.frame;
        let start = self.edge(&frame.start, self.start_offset.as_ref(), at, Edge::Start)?;
        let end = self.edge(&frame.end, self.end_offset.as_ref(), at, Edge::End)?;
        Ok(start..end.max(start))
    }

    fn edge(&self, end: &FrameEnd, offset: Option<&Datum>, at: usize, edge: Edge) -> Result<usize, SqlError> {
        let count = self.rows.len();
        let following = matches!(end, FrameEnd::Following(_));
        match (end, self.window.frame.units) {
            (FrameEnd::UnboundedPreceding, _) => Ok(0),
            (FrameEnd::UnboundedFollowing, _) => Ok(count),
            (FrameEnd::CurrentRow, FrameUnits::Rows) => Ok(at + usize::from(edge == Edge::End)),
            (FrameEnd::CurrentRow, _) => Ok(if edge == Edge::Start { self.peers[at].start } else { self.peers[at].end }),
            (_, FrameUnits::Rows) => {
                let target = shift(at, offset, following);
                let target = if edge == Edge::End { target.saturating_add(1) } else { target };
                Ok(target.clamp(0, count as i64) as usize)
            }
            (_, FrameUnits::Groups) => Ok(self.group_edge(at, offset, following, edge)),
            (_, FrameUnits::Range) => self.range_edge(at, offset, following, edge),
        }
    }

    /// So many groups of peers away.
    fn group_edge(&self, at: usize, offset: Option<&Datum>, following: bool, edge: Edge) -> usize {
        let mut steps = offset.and_then(compare::as_i64).unwrap_or(0);
        let mut group = self.peers[at].clone();
        while steps > 0 {
            steps -= 1;
            if following {
                match self.peers.get(group.end) {
                    Some(next) => group = next.clone(),
                    None => return self.rows.len(),
                }
            } else {
                match group.start.checked_sub(1) {
                    Some(before) => group = self.peers[before].clone(),
                    None => return 0,
                }
            }
        }
        if edge == Edge::Start { group.start } else { group.end }
    }

    /// Rows whose key is within an offset of this row's.
    fn range_edge(&self, at: usize, offset: Option<&Datum>, following: bool, edge: Edge) -> Result<usize, SqlError> {
        let (Some(key), Some(offset)) = (self.window.order_by.first(), offset) else { return Ok(at) };
        let value = &self.rows[at].keys[self.order_from];
        if value.is_null() {
            return Ok(if edge == Edge::Start { self.peers[at].start } else { self.peers[at].end });
        }
        let forward = following != key.descending;
        let ty = key.expr.ty().ty;
        let (limit, limit_type) = match moved(value, ty, offset, forward, self.context) {
            Ok(moved) => moved,
            // Beyond what the type can hold lies nothing.
            Err(error) if matches!(error.state(), SqlState::NUMERIC_VALUE_OUT_OF_RANGE | SqlState::DATETIME_FIELD_OVERFLOW) => {
                return Ok(if following { self.rows.len() } else { 0 });
            }
            Err(error) => return Err(error),
        };
        let before = |row: &Keyed| {
            let other = &row.keys[self.order_from];
            if other.is_null() {
                return key.nulls_first;
            }
            // A date against a timestamp, where the offset had hours.
            let order = match (other, &limit) {
                (Datum::Date(_), Datum::Timestamp(_)) => cast::cast(other.clone(), ty, limit_type.into(), false, self.context)
                    .map_or(Ordering::Less, |other| compare::cmp(&other, &limit)),
                _ => compare::cmp_as(ty, other, &limit),
            };
            let order = if key.descending { order.reverse() } else { order };
            if edge == Edge::Start { order.is_lt() } else { order.is_le() }
        };
        Ok(self.rows.partition_point(before))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    Start,
    End,
}

fn shift(at: usize, offset: Option<&Datum>, following: bool) -> i64 {
    let offset = offset.and_then(compare::as_i64).unwrap_or(0);
    if following { (at as i64).saturating_add(offset) } else { (at as i64).saturating_sub(offset) }
}

fn frame_offset(value: Datum, which: &str, units: FrameUnits) -> Result<Datum, SqlError> {
    let invalid = |message: String| Err(SqlError::new(SqlState("22013"), message));
    let negative = match &value {
        Datum::Null => return Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, format!("frame {which} offset must not be null"))),
        Datum::Float8(x) => *x < 0.0,
        Datum::Numeric(n) => n.signum() < 0,
        Datum::Interval(i) => compare::cmp(&Datum::Interval(*i), &Datum::Interval(crate::types::Interval::default())).is_lt(),
        other => compare::as_i64(other).is_some_and(|n| n < 0),
    };
    if negative && units == FrameUnits::Range {
        return invalid("invalid preceding or following size in window function".into());
    }
    if negative { invalid(format!("frame {which} offset must not be negative")) } else { Ok(value) }
}

/// A key value plus or minus an offset, by the types' own operators, and the type of that.
fn moved(value: &Datum, ty: DataType, offset: &Datum, forward: bool, context: &EvalContext<'_>) -> Result<(Datum, DataType), SqlError> {
    if let (Datum::Time(base), Datum::Interval(by)) = (value, offset) {
        // Unlike `time + interval` this does not go around midnight.
        return Ok((Datum::Time(if forward { base.saturating_add(by.micros) } else { base.saturating_sub(by.micros) }), ty));
    }
    let op = if forward { "+" } else { "-" };
    let offset_type = crate::types::text::natural_type(offset);
    let resolved = resolve_operator(op, Some(ty), offset_type)?;
    let [left, right] = resolved.arg_types.as_slice() else { return Err(super::context::misfit()) };
    let args = [
        cast::cast(value.clone(), ty, (*left).into(), false, context)?,
        cast::cast(offset.clone(), offset_type, (*right).into(), false, context)?,
    ];
    let result = (resolved.func.eval)(context, &args)?;
    if resolved.result == ty || ty == DataType::DATE {
        return Ok((result, resolved.result));
    }
    cast::cast(result, resolved.result, ty.into(), false, context).map(|result| (result, ty))
}
