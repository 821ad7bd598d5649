//! Lookup join: for each left row, the inner scan by the keys that the row gives.
//!
//! When the inner side is single rows by primary key, a whole batch of left rows is one request: the keys are computed row by row, then read together.
//! Everything else runs the inner scan once per left row.

use super::RowBatch;
use super::context::{Run, misfit};
use super::hash_join::finish_row;
use super::nested_loop::pair;
use super::operator::Operator;
use super::scan::{ScanState, push_matching};
use super::subplan::{bind_all, holds};
use super::table_keys::key_of_values;
use crate::error::SqlError;
use crate::plan::keys::concrete_spans;
use crate::plan::{Access, JoinType, KeyPart, Plan, PlanNode, Scan};
use hashbrown::HashMap;
use tidelock_base::Key;
use tidelock_base::row::ColumnSet;
use tidelock_kvclient::ReadOptions;

/// The left side.
pub(crate) struct LookupJoinState {
    left: Operator,
}

impl LookupJoinState {
    pub(super) fn new(left: Operator) -> LookupJoinState {
        LookupJoinState { left }
    }

    pub(super) async fn next(&mut self, plan: &Plan, run: &mut Run<'_>) -> Result<Option<RowBatch>, SqlError> {
        let PlanNode::LookupJoin { left, scan, .. } = &plan.node else { return Err(misfit()) };
        let Some(batch) = self.left.next(left, run).await? else { return Ok(None) };
        let out = if is_single_row(scan) { by_keys(plan, batch, run).await? } else { by_scans(plan, batch, run).await? };
        Ok(Some(out))
    }
}

/// Whether each left row asks for one row by its primary key, unlocked.
fn is_single_row(scan: &Scan) -> bool {
    let Access::Points(keys) = &scan.access else { return false };
    let single = matches!(keys.as_slice(), [key] if key.iter().all(|part| matches!(part, KeyPart::One(_))));
    single && scan.index.is_none() && scan.lock.is_none() && scan.limit.is_none()
}

/// The keys of all left rows in one request.
async fn by_keys(plan: &Plan, batch: RowBatch, run: &mut Run<'_>) -> Result<RowBatch, SqlError> {
    let PlanNode::LookupJoin { scan, bindings, kind, on, .. } = &plan.node else { return Err(misfit()) };
    let mut keys: Vec<Key> = Vec::new();
    let mut places: HashMap<Key, usize> = HashMap::new();
    let mut wanted: Vec<Option<usize>> = Vec::with_capacity(batch.len());
    for row in batch.rows() {
        bind_all(bindings, row, run)?;
        let spans = concrete_spans(scan, &run.eval())?;
        let Some(span) = spans.first() else {
            wanted.push(None);
            continue;
        };
        let key = key_of_values(&scan.table, scan.index(), &span.prefix)?;
        let place = *places.entry(key.clone()).or_insert_with(|| {
            keys.push(key);
            keys.len() - 1
        });
        wanted.push(Some(place));
    }
    let columns = scan.columns.iter().copied().collect::<ColumnSet>();
    let found = run.ctx.txn.get(&keys, &ReadOptions { columns, ..ReadOptions::default() }).await;
    let found = found.map_err(|e| run.kv(e))?;
    let mut out = RowBatch::new(plan.types.len());
    for (row, place) in batch.rows().zip(wanted) {
        let mut inner = RowBatch::new(scan.columns.len());
        if let Some(stored) = place.and_then(|p| found.get(p)).and_then(Option::as_ref) {
            if scan.filter.is_some() {
                // The filter may speak of this row's slots.
                bind_all(bindings, row, run)?;
            }
            push_matching(&mut inner, scan, &stored.value, run)?;
        }
        pair(row, &inner, *kind, on.as_ref(), None, &run.eval(), &mut out)?;
    }
    Ok(out)
}

/// The inner scan once per left row.
async fn by_scans(plan: &Plan, mut batch: RowBatch, run: &mut Run<'_>) -> Result<RowBatch, SqlError> {
    let PlanNode::LookupJoin { scan, bindings, kind, on, .. } = &plan.node else { return Err(misfit()) };
    let mut out = RowBatch::new(plan.types.len());
    for at in 0..batch.len() {
        run.ctx.cancel.check()?;
        let row = batch.take_row(at);
        bind_all(bindings, &row, run)?;
        let mut state = ScanState::default();
        let mut any = false;
        let mut both = row.clone();
        'inner: while let Some(inner) = state.next(scan, run).await? {
            for right in inner.rows() {
                both.truncate(row.len());
                both.extend_from_slice(right);
                if holds(on.as_ref(), &both, run)? {
                    any = true;
                    if matches!(kind, JoinType::Semi | JoinType::Anti) {
                        break 'inner;
                    }
                    out.push_slice(&both);
                }
            }
        }
        finish_row(&row, *kind, any, scan.columns.len(), &mut out);
    }
    Ok(out)
}
