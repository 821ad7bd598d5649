//! Expressions whose parts are computed only when it comes to them, where such a part runs statements.
//!
//! `CASE WHEN n > 0 THEN f(n - 1) END` must not call `f` where the condition does not hold: a recursive function would never end. So the whole CASE is a
//! subplan of its own, with a slot for each call (or subquery) in it, filled when the slot is first asked for.

use super::context::Run;
use super::operator::Step;
use super::subplan::SubPlanValues;
use crate::error::SqlError;
use crate::expr::{Expr, eval};
use crate::plan::{SubPlan, SubPlanKind};
use crate::types::Datum;

/// One evaluation over one row.
struct Evaluation<'e> {
    nested: &'e [SubPlan],
    base: usize,
    values: &'e mut SubPlanValues,
    /// The row, with the slots behind it.
    row: Vec<Datum>,
    filled: Vec<bool>,
}

/// The value of a lazy expression over a row.
pub(super) fn value<'e>(
    expr: &'e Expr,
    nested: &'e [SubPlan],
    base: usize,
    values: &'e mut SubPlanValues,
    row: &[Datum],
    run: &'e mut Run<'_>,
) -> Step<'e, Datum> {
    let mut extended = row.to_vec();
    extended.resize(base + nested.len(), Datum::Null);
    Box::pin(async move {
        let mut evaluation = Evaluation { nested, base, values, row: extended, filled: vec![false; nested.len()] };
        evaluation.value(expr, run).await
    })
}

impl Evaluation<'_> {
    /// The first slot that an expression mentions and that is still empty.
    fn empty_slot(&self, expr: &Expr) -> Option<usize> {
        let mut found = None;
        expr.walk(&mut |e| {
            if let Expr::Column(slot, _) = e
                && let Some(number) = slot.checked_sub(self.base)
                && self.filled.get(number) == Some(&false)
            {
                found = found.or(Some(number));
            }
        });
        found
    }

    fn value<'s>(&'s mut self, expr: &'s Expr, run: &'s mut Run<'_>) -> Step<'s, Datum> {
        Box::pin(async move {
            if self.empty_slot(expr).is_none() {
                return eval(expr, &self.row, &run.eval());
            }
            match expr {
                Expr::Case { whens, otherwise, .. } => {
                    for (when, then) in whens {
                        if matches!(self.value(when, run).await?, Datum::Bool(true)) {
                            return self.value(then, run).await;
                        }
                    }
                    match otherwise {
                        Some(otherwise) => self.value(otherwise, run).await,
                        None => Ok(Datum::Null),
                    }
                }
                Expr::Coalesce(list, _) => {
                    for item in list {
                        let value = self.value(item, run).await?;
                        if !value.is_null() {
                            return Ok(value);
                        }
                    }
                    Ok(Datum::Null)
                }
                Expr::And(list) => self.junction(list, false, run).await,
                Expr::Or(list) => self.junction(list, true, run).await,
                Expr::Column(slot, _) => {
                    let number = slot - self.base;
                    self.fill(number, run).await?;
                    Ok(self.row[*slot].clone())
                }
                other => {
                    // All its parts are computed: the first that is not there yet, and then the others.
                    let mut known = other.clone();
                    for child in known.children_mut() {
                        if self.empty_slot(child).is_some() {
                            let ty = child.ty();
                            let part = child.clone();
                            *child = Expr::Const(self.value(&part, run).await?, ty);
                        }
                    }
                    eval(&known, &self.row, &run.eval())
                }
            }
        })
    }

    async fn junction(&mut self, list: &[Expr], deciding: bool, run: &mut Run<'_>) -> Result<Datum, SqlError> {
        let mut unknown = false;
        for item in list {
            match self.value(item, run).await? {
                Datum::Bool(value) if value == deciding => return Ok(Datum::Bool(deciding)),
                Datum::Null => unknown = true,
                _ => {}
            }
        }
        Ok(if unknown { Datum::Null } else { Datum::Bool(!deciding) })
    }

    /// Computes a slot, after those that it is computed from.
    fn fill<'s>(&'s mut self, number: usize, run: &'s mut Run<'_>) -> Step<'s, ()> {
        Box::pin(async move {
            let Some(sub) = self.nested.get(number) else { return Err(super::context::misfit()) };
            let args: &[Expr] = match &sub.kind {
                SubPlanKind::Call { args, .. } | SubPlanKind::UserCall { args, .. } => args,
                _ => &[],
            };
            let sources: Vec<&Expr> = args.iter().chain(sub.bindings.iter().map(|binding| &binding.value)).collect();
            for source in sources {
                while let Some(before) = self.empty_slot(source) {
                    self.fill(before, run).await?;
                }
            }
            let value = self.values.value(number, sub, &self.row, run).await?;
            self.row[self.base + number] = value;
            self.filled[number] = true;
            Ok(())
        })
    }
}
