//! Ids become slots.
//!
//! An id that is in the input's layout is a slot of the input row. One that is not belongs to an outer row: the innermost [`Frame`] that has it gives an execution slot for it
//! and remembers to fill it. Frames between it and us pass the slot on to themselves, so that whoever runs an inner plan knows that it depends on a row.

use super::{Planner, Sub, cost};
use crate::bind::ColumnId;
use crate::bind::logical::SubqueryKind;
use crate::error::{SqlError, SqlState};
use crate::expr::Expr;
use crate::functions::BuiltinFunction;
use crate::plan::{Binding, PlanNode, SubPlan, SubPlanKind, SubPlans};
use crate::types::ColumnType;

/// A place where an inner plan is run for an outer row.
#[derive(Debug, Default)]
pub(super) struct Frame {
    /// The outer row.
    pub(super) layout: Vec<ColumnId>,
    /// What to fill before each run.
    pub(super) bindings: Vec<Binding>,
    /// Which column each slot holds.
    pub(super) known: Vec<(ColumnId, usize)>,
}

/// What lifting has found.
struct Lifting {
    layout: Vec<ColumnId>,
    list: Vec<SubPlan>,
    /// Subqueries by number, and the columns of their values.
    known: Vec<(usize, ColumnId)>,
}

impl Planner<'_> {
    /// The value of a column, seen from a row with this layout.
    pub(super) fn slot(&mut self, id: ColumnId, layout: &[ColumnId]) -> Result<Expr, SqlError> {
        let ty = self.columns[id].ty;
        if let Some(at) = layout.iter().position(|known| *known == id) {
            return Ok(Expr::Column(at, ty));
        }
        let Some(depth) = self.frames.iter().rposition(|f| f.layout.contains(&id)) else {
            let message = format!("column \"{}\" is not in sight of its use in the plan", self.columns[id].name);
            return Err(SqlError::new(SqlState::INTERNAL_ERROR, message));
        };
        let slot = match self.frames[depth].known.iter().find(|(known, _)| *known == id) {
            Some((_, slot)) => *slot,
            None => {
                let slot = self.slots;
                self.slots += 1;
                let frame = &mut self.frames[depth];
                let at = frame.layout.iter().position(|known| *known == id).unwrap_or(0);
                frame.bindings.push(Binding { slot, value: Expr::Column(at, ty) });
                frame.known.push((id, slot));
                slot
            }
        };
        for frame in &mut self.frames[depth + 1..] {
            if !frame.bindings.iter().any(|b| b.slot == slot) {
                frame.bindings.push(Binding { slot, value: Expr::Param(slot, ty) });
            }
        }
        Ok(Expr::Param(slot, ty))
    }

    /// An expression over ids, made one over slots.
    pub(super) fn lower(&mut self, expr: &Expr, layout: &[ColumnId]) -> Result<Expr, SqlError> {
        if let Expr::Column(id, _) = expr {
            return self.slot(*id, layout);
        }
        let mut lowered = expr.clone();
        for child in lowered.children_mut() {
            *child = self.lower(child, layout)?;
        }
        if let Expr::Subquery(..) = lowered {
            return Err(SqlError::unsupported("a subquery in that place"));
        }
        if let Expr::UserCall { function, .. } = &lowered
            && function.runs_statements()
        {
            return Err(SqlError::unsupported(format!("a call of the function {} in that place", function.descriptor.name)));
        }
        Ok(lowered)
    }

    pub(super) fn lower_all(&mut self, exprs: &[Expr], layout: &[ColumnId]) -> Result<Vec<Expr>, SqlError> {
        exprs.iter().map(|e| self.lower(e, layout)).collect()
    }

    /// Takes subqueries and waiting calls out of the expressions: below them a node computes their values, as further columns.
    pub(super) fn lift(&mut self, sub: Sub, exprs: &mut [&mut Expr]) -> Result<Sub, SqlError> {
        if !exprs.iter().any(|e| must_be_lifted(e)) {
            return Ok(sub);
        }
        let (layout, list) = self.lifted(&sub.layout, exprs)?;
        let mut estimate = sub.plan.estimate;
        let inner: f64 = list.iter().map(|s: &SubPlan| subplan_cost(s, estimate.rows)).sum();
        estimate.total += inner;
        let node = PlanNode::SubPlans(SubPlans { input: Box::new(sub.plan), list });
        Ok(Sub { plan: self.node(node, &layout, estimate), layout, ..sub })
    }

    /// The same over rows of a layout that somebody else gives: the layout with a column for each value, and how they are computed.
    pub(super) fn lifted(&mut self, layout: &[ColumnId], exprs: &mut [&mut Expr]) -> Result<(Vec<ColumnId>, Vec<SubPlan>), SqlError> {
        let mut lifting = Lifting { layout: layout.to_vec(), list: Vec::new(), known: Vec::new() };
        for expr in exprs.iter_mut() {
            self.lift_one(expr, &mut lifting)?;
        }
        Ok((lifting.layout, lifting.list))
    }

    fn lift_one(&mut self, expr: &mut Expr, lifting: &mut Lifting) -> Result<(), SqlError> {
        if is_lazy(expr) && calls_statements(expr) {
            let ty = expr.ty();
            let subplan = self.lazy(expr, &lifting.layout)?;
            let id = self.new_column("subplan", ty);
            lifting.layout.push(id);
            lifting.list.push(subplan);
            *expr = Expr::Column(id, ty);
            return Ok(());
        }
        // Arguments first: a waiting call may have a subquery below it.
        for child in expr.children_mut() {
            self.lift_one(child, lifting)?;
        }
        let (ty, subplan) = match expr {
            Expr::Subquery(number, ty) => {
                // Fields of one row: the query is run once for all of them.
                if let Some((_, id)) = lifting.known.iter().find(|(known, _)| known == number) {
                    *expr = Expr::Column(*id, *ty);
                    return Ok(());
                }
                lifting.known.push((*number, 0));
                (*ty, self.subplan(*number, *ty, &lifting.layout)?)
            }
            Expr::Call { func, args, ty } if func.waits.is_some() => (*ty, self.waiting_call(func, args, *ty, &lifting.layout)?),
            Expr::UserCall { function, args, ty } if function.runs_statements() => {
                let (function, args) = (function.clone(), self.lower_all(args, &lifting.layout)?);
                (*ty, SubPlan { kind: SubPlanKind::UserCall { function, args }, bindings: Vec::new(), ty: *ty })
            }
            _ => return Ok(()),
        };
        let id = self.new_column("subplan", ty);
        if let (Expr::Subquery(number, _), Some(last)) = (&*expr, lifting.known.last_mut())
            && last.0 == *number
        {
            last.1 = id;
        }
        lifting.layout.push(id);
        lifting.list.push(subplan);
        *expr = Expr::Column(id, ty);
        Ok(())
    }

    /// An expression whose parts are computed when it comes to them.
    fn lazy(&mut self, expr: &mut Expr, layout: &[ColumnId]) -> Result<SubPlan, SqlError> {
        let mut nested = Lifting { layout: layout.to_vec(), list: Vec::new(), known: Vec::new() };
        self.lift_branches(expr, &mut nested)?;
        let lowered = self.lower(expr, &nested.layout)?;
        let kind = SubPlanKind::Lazy { expr: lowered, nested: nested.list, base: layout.len() };
        Ok(SubPlan { kind, bindings: Vec::new(), ty: expr.ty() })
    }

    fn lift_branches(&mut self, expr: &mut Expr, nested: &mut Lifting) -> Result<(), SqlError> {
        if is_awaited(expr) {
            return self.lift_one(expr, nested);
        }
        expr.children_mut().into_iter().try_for_each(|child| self.lift_branches(child, nested))
    }

    fn waiting_call(
        &mut self,
        function: &'static BuiltinFunction,
        args: &[Expr],
        ty: ColumnType,
        layout: &[ColumnId],
    ) -> Result<SubPlan, SqlError> {
        let args = self.lower_all(args, layout)?;
        Ok(SubPlan { kind: SubPlanKind::Call { function, args }, bindings: Vec::new(), ty })
    }

    fn subplan(&mut self, number: usize, ty: ColumnType, layout: &[ColumnId]) -> Result<SubPlan, SqlError> {
        let bound = self.subqueries[number].clone();
        self.frames.push(Frame { layout: layout.to_vec(), ..Frame::default() });
        let planned = match bound.kind {
            // One row is enough, and none of its columns is looked at.
            SubqueryKind::Exists => self.exact(bound.plan, &[]),
            _ => self.exact(bound.plan, &bound.columns),
        };
        let frame = self.frames.pop().unwrap_or_default();
        let plan = Box::new(planned?);
        let kind = match bound.kind {
            SubqueryKind::Scalar => SubPlanKind::Scalar(plan),
            SubqueryKind::Row => SubPlanKind::Row(plan),
            SubqueryKind::Exists => SubPlanKind::Exists(plan),
            SubqueryKind::Array => SubPlanKind::Array(plan),
            SubqueryKind::Quantified { test, all, pairs } => {
                let both = [layout, bound.columns.as_slice()].concat();
                let test = self.lower(&test, &both)?;
                let hash = match pairs {
                    Some(pairs) if !all => {
                        let lowered = pairs.iter().map(|(l, r)| Ok((self.lower(l, layout)?, self.lower(r, &bound.columns)?)));
                        Some(lowered.collect::<Result<Vec<_>, SqlError>>()?)
                    }
                    _ => None,
                };
                SubPlanKind::Quantified { plan, test, all, hash }
            }
        };
        Ok(SubPlan { kind, bindings: frame.bindings, ty })
    }
}

/// Whether something in it can't be evaluated in place.
pub(super) fn must_be_lifted(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| found |= is_awaited(e));
    found
}

/// Is it computed before the expression that it stands in: a subquery, a call that waits or that runs statements?
fn is_awaited(expr: &Expr) -> bool {
    match expr {
        Expr::Subquery(..) => true,
        Expr::Call { func, .. } => func.waits.is_some(),
        Expr::UserCall { function, .. } => function.runs_statements(),
        _ => false,
    }
}

/// Does it leave out parts that it does not come to?
fn is_lazy(expr: &Expr) -> bool {
    matches!(expr, Expr::Case { .. } | Expr::Coalesce(..) | Expr::And(_) | Expr::Or(_))
}

/// Does a function in it run statements?
fn calls_statements(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| found |= matches!(e, Expr::UserCall { function, .. } if function.runs_statements()));
    found
}

fn subplan_cost(subplan: &SubPlan, rows: f64) -> f64 {
    let once = match &subplan.kind {
        SubPlanKind::Scalar(plan) | SubPlanKind::Row(plan) | SubPlanKind::Exists(plan) | SubPlanKind::Array(plan) => plan.estimate.total,
        SubPlanKind::Quantified { plan, .. } => plan.estimate.total,
        SubPlanKind::Call { .. } | SubPlanKind::UserCall { .. } | SubPlanKind::Lazy { .. } => return cost::ROW * rows,
    };
    if subplan.bindings.is_empty() { once } else { once * rows }
}

/// Ids that an expression mentions.
pub(super) fn ids(expr: &Expr) -> Vec<ColumnId> {
    let mut found = Vec::new();
    expr.walk(&mut |e| {
        if let Expr::Column(id, _) = e {
            found.push(*id);
        }
    });
    found
}
