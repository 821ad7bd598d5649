//! Nested loop: every pair; the right side materialized, or run anew for each left row (LATERAL).

use super::RowBatch;
use super::batch::BATCH_ROWS;
use super::context::{Run, misfit};
use super::hash_join::finish_row;
use super::operator::Operator;
use super::subplan::bind_all;
use crate::error::SqlError;
use crate::expr::{EvalContext, Expr, eval_bool};
use crate::plan::{JoinType, Plan, PlanNode};
use crate::types::Datum;

/// Both sides, the materialized right one, and where the left stands.
pub(crate) struct NestedLoopState {
    left: Operator,
    right: Operator,
    inner: Option<RowBatch>,
    matched: Vec<bool>,
    outer: RowBatch,
    at: usize,
    left_ended: bool,
    unmatched_at: usize,
}

impl NestedLoopState {
    pub(super) fn new(left: Operator, right: Operator) -> NestedLoopState {
        NestedLoopState {
            left,
            right,
            inner: None,
            matched: Vec::new(),
            outer: RowBatch::default(),
            at: 0,
            left_ended: false,
            unmatched_at: 0,
        }
    }

    pub(super) async fn next(&mut self, plan: &Plan, run: &mut Run<'_>) -> Result<Option<RowBatch>, SqlError> {
        let PlanNode::NestedLoopJoin { left, right, kind, bindings, on } = &plan.node else { return Err(misfit()) };
        if bindings.is_empty() && self.inner.is_none() {
            let inner = self.right.collect(right, run).await?;
            self.matched = vec![false; inner.len()];
            self.inner = Some(inner);
        }
        let mut out = RowBatch::new(plan.types.len());
        while out.len() < BATCH_ROWS && !self.left_ended {
            if self.at >= self.outer.len() {
                match self.left.next(left, run).await? {
                    Some(batch) => (self.outer, self.at) = (batch, 0),
                    None => self.left_ended = true,
                }
                continue;
            }
            let row = self.outer.take_row(self.at);
            self.at += 1;
            if bindings.is_empty() {
                let compared = self.inner.as_ref().map_or(0, RowBatch::len);
                run.give_way(compared).await?;
                let Some(inner) = &self.inner else { return Err(misfit()) };
                pair(&row, inner, *kind, on.as_ref(), Some(&mut self.matched), &run.eval(), &mut out)?;
            } else {
                bind_all(bindings, &row, run)?;
                let inner = Operator::open(right).collect(right, run).await?;
                pair(&row, &inner, *kind, on.as_ref(), None, &run.eval(), &mut out)?;
            }
        }
        if out.is_empty() && self.left_ended && matches!(kind, JoinType::Right | JoinType::Full) {
            self.unmatched(left.types.len(), &mut out);
        }
        Ok((!out.is_empty()).then_some(out))
    }

    fn unmatched(&mut self, left_width: usize, out: &mut RowBatch) {
        let Some(inner) = &self.inner else { return };
        while out.len() < BATCH_ROWS && self.unmatched_at < inner.len() {
            let at = self.unmatched_at;
            self.unmatched_at += 1;
            if !self.matched[at] {
                out.push(std::iter::repeat_n(Datum::Null, left_width).chain(inner.row(at).iter().cloned()));
            }
        }
    }
}

/// One left row with every right row.
pub(super) fn pair(
    row: &[Datum],
    inner: &RowBatch,
    kind: JoinType,
    on: Option<&Expr>,
    mut matched: Option<&mut Vec<bool>>,
    context: &EvalContext<'_>,
    out: &mut RowBatch,
) -> Result<(), SqlError> {
    let mut any = false;
    let mut both = row.to_vec();
    for (number, right) in inner.rows().enumerate() {
        both.truncate(row.len());
        both.extend_from_slice(right);
        if let Some(on) = on
            && !eval_bool(on, &both, context)?
        {
            continue;
        }
        any = true;
        if matches!(kind, JoinType::Semi | JoinType::Anti) {
            break;
        }
        if let Some(flag) = matched.as_mut().and_then(|m| m.get_mut(number)) {
            *flag = true;
        }
        out.push_slice(&both);
    }
    finish_row(row, kind, any, inner.width(), out);
    Ok(())
}
