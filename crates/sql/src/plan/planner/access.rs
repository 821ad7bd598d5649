//! Which index reads a table, and with which keys.
//!
//! Conditions of the form *column compared with something known before the scan starts* (constants, parameters, columns of outer rows) bind key columns: equalities, IN and
//! `= ANY` a prefix of the key, comparisons a range of the column behind it. A unique index whose whole key is bound gives single rows (points). Each
//! index is tried and the cheapest taken; one that gives the wanted order saves a sort, and with a LIMIT it saves reading the rest.

use super::cost::{BETWEEN, FETCH, ROW, SEEK, only};
use super::expressions::indexed;
use super::lower::{ids, must_be_lifted};
use super::{LimitHint, Planner};
use crate::bind::ColumnId;
use crate::catalog::{IndexColumn, IndexDescriptor, IndexState, TableDescriptor};
use crate::error::SqlError;
use crate::expr::{CompareOp, Expr};
use crate::functions::Volatility;
use crate::plan::keys::comparable;
use crate::plan::{Access, KeyBound, KeyPart, KeySpan, KeyValue, SortKey};
use crate::types::{ColumnType, DataType, element_of};

/// What is to be read.
pub(super) struct Target<'t> {
    pub(super) table: &'t TableDescriptor,
    /// Ids by position.
    pub(super) columns: &'t [ColumnId],
    /// What its indexes are over besides columns, with the positions of the hidden columns that have the values.
    pub(super) expressions: &'t [(usize, Expr)],
    pub(super) filters: &'t [Expr],
    /// Ids that have a value before the scan starts.
    pub(super) known: &'t dyn Fn(ColumnId) -> bool,
    /// Columns that will be in the result.
    pub(super) needed: &'t [ColumnId],
    pub(super) order: &'t [SortKey],
    pub(super) limit: Option<&'t LimitHint>,
    pub(super) locking: bool,
}

/// One way to read it. Key expressions still speak of ids.
pub(super) struct Choice {
    pub(super) index: Option<usize>,
    pub(super) access: Access,
    /// Filters that the keys make superfluous.
    pub(super) consumed: Vec<usize>,
    pub(super) covering: bool,
    pub(super) reverse: bool,
    pub(super) ordered: bool,
    pub(super) single: bool,
    /// How many conditions it uses, for want of better knowledge.
    bound: usize,
    /// Rows that pass all filters.
    pub(super) rows: f64,
    pub(super) cost: f64,
}

/// What one filter says about one column.
struct KeyTest {
    filter: usize,
    column: usize,
    kind: TestKind,
}

enum TestKind {
    Part(KeyPart),
    Lower(KeyBound),
    Upper(KeyBound),
}

impl Planner<'_> {
    pub(super) fn best_access(&self, target: &Target<'_>) -> Choice {
        let tests: Vec<KeyTest> = target.filters.iter().enumerate().filter_map(|(n, f)| self.key_test(n, f, target)).collect();
        let informed = self.catalog.statistics(target.table.oid).is_some();
        let cheaper = |a, b| if informed { by_cost(a, b) } else { by_bound_columns(a, b) };
        let mut best = self.access_through(None, &target.table.primary, &tests, target);
        if let Some(rows) = self.listed_keys(None, &target.table.primary, target) {
            best = cheaper(best, rows);
        }
        if !self.settings.index_scan {
            return best;
        }
        for (place, index) in target.table.indexes.iter().enumerate() {
            if index.state != IndexState::Ready || index.predicate.is_some() {
                continue;
            }
            best = cheaper(best, self.access_through(Some(place), index, &tests, target));
            if let Some(rows) = self.listed_keys(Some(place), index, target) {
                best = cheaper(best, rows);
            }
        }
        best
    }

    fn access_through(&self, place: Option<usize>, index: &IndexDescriptor, tests: &[KeyTest], target: &Target<'_>) -> Choice {
        let mut consumed = Vec::new();
        let mut prefix: Vec<KeyPart> = Vec::new();
        for key in &index.key {
            let on_column = || tests.iter().filter(|t| t.column == key.column);
            let one = on_column().find(|t| matches!(t.kind, TestKind::Part(KeyPart::One(_))));
            let Some(test) = one.or_else(|| on_column().find(|t| matches!(t.kind, TestKind::Part(_)))) else { break };
            if let TestKind::Part(part) = &test.kind {
                prefix.push(part.clone());
                consumed.push(test.filter);
            }
        }
        let (mut lower, mut upper) = (None, None);
        if let Some(key) = index.key.get(prefix.len()) {
            for test in tests.iter().filter(|t| t.column == key.column) {
                match &test.kind {
                    TestKind::Lower(bound) if lower.is_none() => lower = Some(bound.clone()),
                    TestKind::Upper(bound) if upper.is_none() => upper = Some(bound.clone()),
                    _ => continue,
                }
                consumed.push(test.filter);
            }
        }
        let ordered = self.gives_order(index, &prefix, target);
        let full = prefix.len() == index.key.len() && !index.key.is_empty();
        let no_nulls = prefix.iter().all(|p| !matches!(p, KeyPart::Null));
        let points = full && index.is_exclusive() && no_nulls;
        let keys: f64 = prefix.iter().map(part_count).product();
        let single = points && prefix.iter().all(|p| matches!(p, KeyPart::One(_)));
        let both_ends = lower.is_some() && upper.is_some();
        let equalities = if both_ends { &consumed[..prefix.len()] } else { consumed.as_slice() };
        let mut share = self.selectivity_of(&equalities.iter().map(|n| target.filters[*n].clone()).collect::<Vec<_>>());
        if both_ends {
            share *= BETWEEN;
        }
        let mut scanned = self.table_rows(target.table) * share;
        // Conditions on several columns are seldom as independent as the product takes them to be.
        scanned = scanned.max(1.0);
        if points {
            scanned = scanned.min(keys);
        }
        let access = if points && self.settings.point_gets {
            Access::Points(vec![prefix])
        } else if prefix.is_empty() && lower.is_none() && upper.is_none() {
            Access::Full
        } else {
            Access::Spans(vec![KeySpan { prefix, lower, upper }])
        };
        self.choice(
            place,
            index,
            access,
            consumed,
            ordered.is_some() || single,
            ordered == Some(true) && !single,
            single,
            scanned,
            keys,
            target,
        )
    }

    #[allow(clippy::too_many_arguments)] // the parts of one value, put together here only
    fn choice(
        &self,
        place: Option<usize>,
        index: &IndexDescriptor,
        access: Access,
        consumed: Vec<usize>,
        ordered: bool,
        reverse: bool,
        single: bool,
        scanned: f64,
        keys: f64,
        target: &Target<'_>,
    ) -> Choice {
        let rest = target.filters.iter().enumerate().filter(|(n, _)| !consumed.contains(n)).map(|(_, f)| f);
        let residual: Vec<Expr> = rest.cloned().collect();
        let used = target.needed.iter().copied().chain(residual.iter().flat_map(ids));
        let positions = used.filter_map(|id| target.columns.iter().position(|c| *c == id));
        let covering = place.is_some() && !target.locking && positions.into_iter().all(|p| index.covers(target.table, p));
        let share = self.selectivity_of(&residual);
        let rows = (scanned * share).max(if single { 1.0 } else { 0.0 });
        // With the order given, a limit stops the scan early.
        let read = match target.limit {
            Some(limit) if ordered || target.order.is_empty() => scanned.min((limit.rows / share.max(1e-6)).max(1.0)),
            _ => scanned,
        };
        let mut cost = SEEK * keys.max(1.0) + read * ROW;
        if place.is_some() && !covering {
            cost += read * FETCH;
        }
        if !ordered && !target.order.is_empty() {
            cost += rows * rows.max(2.0).log2() * ROW;
        }
        // A range alone may be most of the table, which is better read without detours.
        let detour = place.is_some() && !covering;
        let range_only = matches!(&access, Access::Spans(spans) if spans.iter().all(|s| s.prefix.is_empty()));
        let bound = if detour && range_only { 0 } else { consumed.len() };
        Choice { index: place, access, bound, consumed, covering, reverse, ordered: ordered || target.order.is_empty(), single, rows, cost }
    }

    /// `(a, b) IN ((1, 2), (3, 4))`: a disjunction whose every arm binds the whole key.
    fn listed_keys(&self, place: Option<usize>, index: &IndexDescriptor, target: &Target<'_>) -> Option<Choice> {
        if !index.is_exclusive() || index.key.len() < 2 || !self.settings.point_gets {
            return None;
        }
        for (n, filter) in target.filters.iter().enumerate() {
            let Expr::Or(arms) = filter else { continue };
            let keys: Option<Vec<Vec<KeyPart>>> = arms.iter().map(|arm| self.whole_key(arm, index, target)).collect();
            let Some(keys) = keys else { continue };
            let exact = arms.iter().all(|arm| matches!(arm, Expr::And(list) if list.len() == index.key.len()));
            let count = keys.len() as f64;
            let consumed = if exact { vec![n] } else { Vec::new() };
            return Some(self.choice(place, index, Access::Points(keys), consumed, false, false, false, count, count, target));
        }
        None
    }

    fn whole_key(&self, arm: &Expr, index: &IndexDescriptor, target: &Target<'_>) -> Option<Vec<KeyPart>> {
        let Expr::And(list) = arm else { return None };
        let tests: Vec<KeyTest> = list.iter().filter_map(|f| self.key_test(0, f, target)).collect();
        let part = |key: &IndexColumn| {
            tests.iter().find_map(|t| match &t.kind {
                TestKind::Part(part @ KeyPart::One(_)) if t.column == key.column => Some(part.clone()),
                _ => None,
            })
        };
        index.key.iter().map(part).collect()
    }

    // ---- order

    /// Whether the index gives the wanted order: `Some(reverse)`.
    fn gives_order(&self, index: &IndexDescriptor, prefix: &[KeyPart], target: &Target<'_>) -> Option<bool> {
        let key = stored_key(index, target.table);
        let mut direction = None;
        let mut at = 0;
        let fixed = |at: usize| matches!(prefix.get(at), Some(KeyPart::One(_) | KeyPart::Null));
        for wanted in target.order {
            let column = match wanted.expr {
                Expr::Column(id, _) => target.columns.iter().position(|c| *c == id)?,
                ref expr => indexed(expr, target)?,
            };
            // A column with one value is in any order.
            if key.iter().enumerate().any(|(i, k)| k.column == column && fixed(i)) {
                continue;
            }
            while fixed(at) {
                at += 1;
            }
            let part = key.get(at).filter(|k| k.column == column)?;
            if matches!(prefix.get(at), Some(KeyPart::Many(_) | KeyPart::Elements(_))) {
                return None;
            }
            let reverse = wanted.descending != part.descending;
            let nulls = !target.table.columns[column].nullable || (wanted.nulls_first != part.nulls_first) == reverse;
            if !nulls || direction.is_some_and(|d| d != reverse) {
                return None;
            }
            direction = Some(reverse);
            at += 1;
        }
        // Several values of a leading column would interleave.
        let interleaved = prefix.iter().take(at).any(|p| matches!(p, KeyPart::Many(_) | KeyPart::Elements(_)));
        (!interleaved).then_some(direction.unwrap_or(false))
    }

    // ---- conditions on key columns

    fn key_test(&self, filter: usize, expr: &Expr, target: &Target<'_>) -> Option<KeyTest> {
        let test = |column, kind| Some(KeyTest { filter, column, kind });
        match expr {
            Expr::Call { func, args, .. } => {
                let op = func.compare?;
                let [left, right] = args.as_slice() else { return None };
                let (column, value, op) = match (self.key_column(left, target), self.key_column(right, target)) {
                    (Some(column), _) if self.is_known(right, target) => (column, right, op),
                    (_, Some(column)) if self.is_known(left, target) => (column, left, op.commute()),
                    _ => return None,
                };
                let value = key_value(value, value.ty().ty, target.table.columns[column].ty)?;
                let bound = |inclusive| KeyBound { value: value.clone(), inclusive };
                match op {
                    CompareOp::Eq => test(column, TestKind::Part(KeyPart::One(value))),
                    CompareOp::Lt => test(column, TestKind::Upper(bound(false))),
                    CompareOp::Le => test(column, TestKind::Upper(bound(true))),
                    CompareOp::Gt => test(column, TestKind::Lower(bound(false))),
                    CompareOp::Ge => test(column, TestKind::Lower(bound(true))),
                    CompareOp::Ne => None,
                }
            }
            Expr::InList { expr, list, negated: false } => {
                let column = self.key_column(expr, target)?;
                let to = target.table.columns[column].ty;
                let values = list
                    .iter()
                    .map(|v| self.is_known(v, target).then(|| key_value(v, v.ty().ty, to)).flatten())
                    .collect::<Option<Vec<_>>>()?;
                test(column, TestKind::Part(KeyPart::Many(values)))
            }
            Expr::AnyAll { func, left, array, all: false } if func.compare == Some(CompareOp::Eq) => {
                let column = self.key_column(left, target)?;
                if !self.is_known(array, target) {
                    return None;
                }
                let value = key_value(array, element_of(array.ty().ty)?, target.table.columns[column].ty)?;
                test(column, TestKind::Part(KeyPart::Elements(value)))
            }
            // `id = 1 OR id = 2`
            Expr::Or(arms) => {
                let mut column = None;
                let mut values = Vec::with_capacity(arms.len());
                for arm in arms {
                    let Expr::Call { .. } = arm else { return None };
                    match self.key_test(filter, arm, target)? {
                        KeyTest { column: c, kind: TestKind::Part(KeyPart::One(value)), .. } if column.is_none_or(|known| known == c) => {
                            column = Some(c);
                            values.push(value);
                        }
                        _ => return None,
                    }
                }
                test(column?, TestKind::Part(KeyPart::Many(values)))
            }
            Expr::IsNull { expr, negated: false } => test(self.key_column(expr, target)?, TestKind::Part(KeyPart::Null)),
            // `WHERE flag` and `WHERE NOT flag` compare with a constant.
            _ => None,
        }
    }

    /// The column's position, if the expression is one of the table's, perhaps widened without loss.
    fn key_column(&self, expr: &Expr, target: &Target<'_>) -> Option<usize> {
        if let Some(position) = indexed(expr, target) {
            return Some(position);
        }
        match expr {
            Expr::Column(id, _) => target.columns.iter().position(|c| c == id),
            Expr::Cast { expr, to, explicit: false } if to.typmod < 0 && widens(expr.ty().ty, to.ty) => self.key_column(expr, target),
            _ => None,
        }
    }

    fn is_known(&self, expr: &Expr, target: &Target<'_>) -> bool {
        only(expr, |id| !target.columns.contains(&id) && (target.known)(id))
            && !must_be_lifted(expr)
            && expr.volatility() != Volatility::Volatile
    }

    /// Key expressions over ids, made ones over parameters and execution slots.
    pub(super) fn lower_access(&mut self, access: Access) -> Result<Access, SqlError> {
        Ok(match access {
            Access::Full => Access::Full,
            Access::Points(keys) => Access::Points(keys.into_iter().map(|k| self.lower_parts(k)).collect::<Result<_, _>>()?),
            Access::Spans(spans) => {
                let mut lowered = Vec::with_capacity(spans.len());
                for span in spans {
                    lowered.push(KeySpan {
                        prefix: self.lower_parts(span.prefix)?,
                        lower: self.lower_bound(span.lower)?,
                        upper: self.lower_bound(span.upper)?,
                    });
                }
                Access::Spans(lowered)
            }
        })
    }

    fn lower_parts(&mut self, parts: Vec<KeyPart>) -> Result<Vec<KeyPart>, SqlError> {
        let mut lowered = Vec::with_capacity(parts.len());
        for part in parts {
            lowered.push(match part {
                KeyPart::One(value) => KeyPart::One(self.lower_value(value)?),
                KeyPart::Many(values) => KeyPart::Many(values.into_iter().map(|v| self.lower_value(v)).collect::<Result<_, _>>()?),
                KeyPart::Elements(value) => KeyPart::Elements(self.lower_value(value)?),
                KeyPart::Null => KeyPart::Null,
            });
        }
        Ok(lowered)
    }

    fn lower_bound(&mut self, bound: Option<KeyBound>) -> Result<Option<KeyBound>, SqlError> {
        bound.map(|b| Ok(KeyBound { value: self.lower_value(b.value)?, inclusive: b.inclusive })).transpose()
    }

    fn lower_value(&mut self, value: KeyValue) -> Result<KeyValue, SqlError> {
        Ok(KeyValue { expr: self.lower(&value.expr, &[])?, ..value })
    }
}

/// The columns by which entries are sorted: those of a non-unique index are completed by the primary key.
fn stored_key(index: &IndexDescriptor, table: &TableDescriptor) -> Vec<IndexColumn> {
    let mut key = index.key.clone();
    if !index.is_exclusive() && table.primary.key.iter().all(|k| !k.descending) {
        let rest: Vec<IndexColumn> =
            table.primary.key.iter().filter(|k| !key.iter().any(|known| known.column == k.column)).copied().collect();
        key.extend(rest);
    }
    key
}

/// Implicit casts that keep order and equality, so that the index over the narrower type answers for the wider one.
fn widens(from: DataType, to: DataType) -> bool {
    use DataType as T;
    matches!(
        (from, to),
        (T::INT2, T::INT4 | T::INT8 | T::NUMERIC)
            | (T::INT4, T::INT8 | T::NUMERIC)
            | (T::INT8, T::NUMERIC)
            | (T::VARCHAR | T::NAME, T::TEXT)
            | (T::VARCHAR, T::NAME)
    )
}

fn key_value(expr: &Expr, from: DataType, to: ColumnType) -> Option<KeyValue> {
    comparable(from, to.ty).then(|| KeyValue { expr: expr.clone(), from, to })
}

/// How many values a part stands for; arrays are guessed.
fn part_count(part: &KeyPart) -> f64 {
    match part {
        KeyPart::One(_) | KeyPart::Null => 1.0,
        KeyPart::Many(list) => list.len() as f64,
        KeyPart::Elements(_) => 10.0,
    }
}

/// One row known by its key is never worse than anything else; ties go to the earlier index, the primary one first.
fn by_cost(a: Choice, b: Choice) -> Choice {
    match (a.single, b.single) {
        (true, false) => a,
        (false, true) => b,
        _ if b.cost < a.cost => b,
        _ => a,
    }
}

/// Without statistics, guessed row counts would decide between indexes; what is known is how many conditions each can use.
fn by_bound_columns(a: Choice, b: Choice) -> Choice {
    match (a.single, b.single) {
        (false, false) if b.bound > a.bound => b,
        (false, false) if b.bound < a.bound => a,
        _ => by_cost(a, b),
    }
}
