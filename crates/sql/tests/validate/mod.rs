//! Looks whether a plan makes sense: every slot an expression mentions exists in its input and has the type the expression believes; every
//! parameter exists.

use tidelock_sql::expr::Expr;
use tidelock_sql::plan::{
    Access, JoinType, KeyPart, MergeAction, MergeClause, Plan, PlanNode, Returned, Scan, StatementPlan, SubPlan, SubPlanKind,
    TableFunction, TableFunctionCall,
};
use tidelock_sql::types::{ColumnType, DataType};

pub(crate) fn validate(plan: &StatementPlan) {
    let params = plan.param_types.len() + plan.execution_slots;
    let checker = Checker { params };
    checker.plan(&plan.root);
    for cte in &plan.ctes {
        checker.plan(&cte.plan);
        if let Some(step) = &cte.recursive {
            checker.plan(&step.plan);
            assert_eq!(step.plan.types.len(), cte.plan.types.len(), "a recursive term of another width");
        }
    }
    if plan.returns_rows {
        let types: Vec<DataType> = plan.output.iter().map(|c| c.ty.ty).collect();
        assert_eq!(types, plan.root.types.iter().map(|t| t.ty).collect::<Vec<_>>(), "result columns");
    }
}

struct Checker {
    params: usize,
}

fn table_types(scan: &Scan) -> Vec<ColumnType> {
    scan.columns.iter().map(|p| scan.table.columns[*p].ty).collect()
}

impl Checker {
    fn expr(&self, expr: &Expr, input: &[ColumnType]) {
        expr.walk(&mut |e| match e {
            Expr::Column(slot, ty) => {
                let found = input.get(*slot).unwrap_or_else(|| panic!("slot {slot} of {}", input.len()));
                assert_eq!(found.ty, ty.ty, "the type of slot {slot}");
            }
            Expr::Param(index, _) => assert!(*index < self.params, "parameter {index} of {}", self.params),
            Expr::Outer { .. } | Expr::Subquery(..) => panic!("not lowered: {e:?}"),
            _ => {}
        });
    }

    fn exprs<'e>(&self, exprs: impl IntoIterator<Item = &'e Expr>, input: &[ColumnType]) {
        exprs.into_iter().for_each(|e| self.expr(e, input));
    }

    fn function(&self, function: &TableFunction, input: &[ColumnType]) {
        match &function.call {
            TableFunctionCall::Set { args, .. } | TableFunctionCall::User { args, .. } => self.exprs(args, input),
            TableFunctionCall::Scalar(expr) => self.expr(expr, input),
        }
    }

    fn part(&self, part: &KeyPart) {
        match part {
            KeyPart::One(v) | KeyPart::Elements(v) => self.expr(&v.expr, &[]),
            KeyPart::Many(list) => list.iter().for_each(|v| self.expr(&v.expr, &[])),
            KeyPart::Null => {}
        }
    }

    fn scan(&self, scan: &Scan) {
        let types = table_types(scan);
        self.exprs(&scan.filter, &types);
        match &scan.access {
            Access::Full => {}
            Access::Points(keys) => {
                for key in keys {
                    assert_eq!(key.len(), scan.index().key.len(), "a point binds the whole key");
                    key.iter().for_each(|p| self.part(p));
                }
            }
            Access::Spans(spans) => {
                for span in spans {
                    span.prefix.iter().for_each(|p| self.part(p));
                    span.lower.iter().chain(&span.upper).for_each(|b| self.expr(&b.value.expr, &[]));
                }
            }
        }
        if scan.covering {
            assert!(scan.columns.iter().all(|c| scan.index().covers(&scan.table, *c)), "covering");
            assert!(scan.lock.is_none(), "a covering scan can't lock rows");
        }
    }

    fn joined(kind: JoinType, left: &Plan, right: &[ColumnType]) -> Vec<ColumnType> {
        match kind {
            JoinType::Semi | JoinType::Anti => left.types.clone(),
            _ => [left.types.as_slice(), right].concat(),
        }
    }

    fn plan(&self, plan: &Plan) {
        let types = self.node(plan);
        assert_eq!(types.map(|t| t.len()).unwrap_or(plan.types.len()), plan.types.len(), "the width of {:?}", plan.names);
    }

    /// Checks what is below, and tells the row's types where they follow from it.
    fn node(&self, plan: &Plan) -> Option<Vec<ColumnType>> {
        match &plan.node {
            PlanNode::OneRow => Some(Vec::new()),
            PlanNode::Empty | PlanNode::CteScan { .. } | PlanNode::WorkTableScan { .. } => None,
            PlanNode::Values(rows) => {
                rows.iter().for_each(|row| {
                    self.exprs(row, &[]);
                    assert_eq!(row.len(), plan.types.len(), "a row of VALUES");
                });
                None
            }
            PlanNode::Scan(scan) => {
                self.scan(scan);
                Some(table_types(scan))
            }
            PlanNode::VirtualScan { filter, .. } => {
                self.exprs(filter, &plan.types);
                None
            }
            PlanNode::FunctionScan { functions, .. } => {
                functions.iter().for_each(|f| self.function(f, &[]));
                None
            }
            PlanNode::Filter { input, predicate } => {
                self.plan(input);
                self.expr(predicate, &input.types);
                Some(input.types.clone())
            }
            PlanNode::Project { input, exprs } => {
                self.plan(input);
                self.exprs(exprs, &input.types);
                Some(exprs.iter().map(Expr::ty).collect())
            }
            PlanNode::ProjectSet { input, functions } => {
                self.plan(input);
                functions.iter().for_each(|f| self.function(f, &input.types));
                Some([input.types.clone(), functions.iter().map(|f| f.types[0]).collect()].concat())
            }
            PlanNode::SubPlans(subplans) => {
                self.plan(&subplans.input);
                Some(self.subplans(&subplans.list, subplans.input.types.clone()))
            }
            PlanNode::LookupJoin { left, scan, bindings, kind, on, scan_types } => {
                self.plan(left);
                self.scan(scan);
                assert_eq!(scan_types.len(), scan.columns.len());
                bindings.iter().for_each(|b| self.expr(&b.value, &left.types));
                self.exprs(on, &[left.types.as_slice(), scan_types].concat());
                Some(Self::joined(*kind, left, scan_types))
            }
            PlanNode::HashJoin { left, right, kind, left_keys, right_keys, on, .. } => {
                self.plan(left);
                self.plan(right);
                self.exprs(left_keys, &left.types);
                self.exprs(right_keys, &right.types);
                assert!(left_keys.iter().zip(right_keys).all(|(l, r)| l.ty().ty == r.ty().ty), "hashed types");
                self.exprs(on, &[left.types.as_slice(), &right.types].concat());
                Some(Self::joined(*kind, left, &right.types))
            }
            PlanNode::NestedLoopJoin { left, right, kind, bindings, on } => {
                self.plan(left);
                self.plan(right);
                bindings.iter().for_each(|b| self.expr(&b.value, &left.types));
                self.exprs(on, &[left.types.as_slice(), &right.types].concat());
                Some(Self::joined(*kind, left, &right.types))
            }
            PlanNode::Sort { input, keys } | PlanNode::TopN { input, keys, .. } => {
                self.plan(input);
                self.exprs(keys.iter().map(|k| &k.expr), &input.types);
                Some(input.types.clone())
            }
            PlanNode::Limit { input, limit, offset, ties } => {
                self.plan(input);
                self.exprs(limit.iter().chain(offset), &input.types);
                self.exprs(ties.iter().flatten().map(|k| &k.expr), &input.types);
                Some(input.types.clone())
            }
            PlanNode::Distinct { input, keys, .. } => {
                self.plan(input);
                self.exprs(keys, &input.types);
                Some(input.types.clone())
            }
            PlanNode::Aggregate { input, group, sets, aggregates } => {
                self.plan(input);
                self.exprs(group, &input.types);
                for call in aggregates {
                    self.exprs(call.args.iter().chain(&call.filter).chain(call.order_by.iter().map(|k| &k.expr)), &input.types);
                }
                let mut types: Vec<ColumnType> = group.iter().map(Expr::ty).collect();
                types.extend(aggregates.iter().map(|c| ColumnType::from(c.function.result)));
                types.extend(sets.is_some().then_some(ColumnType::from(DataType::INT4)));
                Some(types)
            }
            PlanNode::Window { input, windows } => {
                self.plan(input);
                let mut types = input.types.clone();
                for window in windows {
                    self.exprs(window.partition_by.iter().chain(window.order_by.iter().map(|k| &k.expr)), &input.types);
                    for call in &window.calls {
                        self.exprs(call.args.iter().chain(&call.filter), &input.types);
                        types.push(call.ty);
                    }
                }
                Some(types)
            }
            PlanNode::Append(inputs) => {
                for input in inputs {
                    self.plan(input);
                    let ty = |p: &Plan| p.types.iter().map(|t| t.ty).collect::<Vec<_>>();
                    assert_eq!(ty(input), ty(plan), "an input of Append");
                }
                None
            }
            PlanNode::SetOp { left, right, .. } => {
                self.plan(left);
                self.plan(right);
                assert_eq!(left.types.len(), right.types.len());
                Some(left.types.clone())
            }
            PlanNode::LockRows { input, targets, again, .. } => {
                self.plan(input);
                for target in targets {
                    assert_eq!(target.key_slots.len(), target.table.primary.key.len(), "key of a locked row");
                }
                if let Some(again) = again {
                    let old = again.old_slots.iter().map(|slot| input.types[*slot]);
                    let row = self.subplans(&again.subplans, input.types.iter().copied().chain(old).collect());
                    self.exprs(&again.condition, &row);
                    for (slot, value) in &again.values {
                        assert_eq!(value.ty().ty, input.types[*slot].ty, "a value that is computed anew");
                        self.expr(value, &row);
                    }
                }
                Some(input.types.clone())
            }
            _ => self.write(plan),
        }
    }

    /// Subqueries and waiting calls over a row; gives the row with their values.
    fn subplans(&self, list: &[SubPlan], mut row: Vec<ColumnType>) -> Vec<ColumnType> {
        for subplan in list {
            subplan.bindings.iter().for_each(|b| self.expr(&b.value, &row));
            match &subplan.kind {
                SubPlanKind::Scalar(inner) | SubPlanKind::Row(inner) | SubPlanKind::Exists(inner) | SubPlanKind::Array(inner) => {
                    self.plan(inner);
                }
                SubPlanKind::Quantified { plan: inner, test, hash, .. } => {
                    self.plan(inner);
                    self.expr(test, &[row.as_slice(), inner.types.as_slice()].concat());
                    for (l, r) in hash.iter().flatten() {
                        self.expr(l, &row);
                        self.expr(r, &inner.types);
                    }
                }
                SubPlanKind::Call { args, .. } | SubPlanKind::UserCall { args, .. } => self.exprs(args, &row),
                SubPlanKind::Lazy { expr, nested, base } => {
                    assert_eq!(*base, row.len(), "slots behind the row");
                    let extended = self.subplans(nested, row.clone());
                    self.expr(expr, &extended);
                }
            }
            row.push(subplan.ty);
        }
        row
    }

    fn returned(&self, returned: Option<&Returned>, row: &[ColumnType]) {
        if let Some(returned) = returned {
            let row = self.subplans(&returned.subplans, row.to_vec());
            self.exprs(&returned.exprs, &row);
        }
    }

    fn merge_clause(&self, clause: &MergeClause, input: &[ColumnType], row: &[ColumnType]) {
        let tested = self.subplans(&clause.condition_subplans, input.to_vec());
        self.exprs(&clause.condition, &tested);
        let input = self.subplans(&clause.subplans, input.to_vec());
        match &clause.action {
            MergeAction::Nothing | MergeAction::Delete => {}
            MergeAction::Update(assignments) => self.exprs(assignments.iter().map(|(_, e)| e), &input),
            MergeAction::Insert(values) => {
                assert_eq!(values.len(), row.len(), "a whole row");
                self.exprs(values, &input);
            }
        }
    }

    fn write(&self, plan: &Plan) -> Option<Vec<ColumnType>> {
        match &plan.node {
            PlanNode::Insert(insert) => {
                self.plan(&insert.input);
                let row: Vec<ColumnType> = insert.table.columns.iter().map(|c| c.ty).collect();
                assert_eq!(insert.input.types.iter().map(|t| t.ty).collect::<Vec<_>>(), row.iter().map(|t| t.ty).collect::<Vec<_>>());
                self.exprs(insert.checks.iter().map(|c| &c.predicate).chain(insert.generated.iter().map(|g| &g.value)), &row);
                self.returned(insert.returning.as_ref(), &row);
                let both = [row.as_slice(), &row].concat();
                if let Some(update) = insert.on_conflict.as_ref().and_then(|c| c.update.as_ref()) {
                    let both = self.subplans(&update.subplans, both);
                    self.exprs(update.assignments.iter().map(|(_, e)| e).chain(&update.filter), &both);
                }
            }
            PlanNode::Update(update) => {
                self.plan(&update.input);
                let row: Vec<ColumnType> = update.table.columns.iter().map(|c| c.ty).collect();
                assert!(update.input.types.starts_with(&row), "the old row comes first");
                self.exprs(update.checks.iter().map(|c| &c.predicate).chain(update.generated.iter().map(|g| &g.value)), &row);
                for (position, value) in &update.assignments {
                    self.expr(value, &update.input.types);
                    assert_eq!(value.ty().ty, row[*position].ty, "the type of an assigned value");
                }
                self.returned(update.returning.as_ref(), &update.input.types);
            }
            PlanNode::Delete(delete) => {
                self.plan(&delete.input);
                let row: Vec<ColumnType> = delete.table.columns.iter().map(|c| c.ty).collect();
                assert!(delete.input.types.starts_with(&row), "the old row comes first");
                self.returned(delete.returning.as_ref(), &delete.input.types);
            }
            PlanNode::Merge(merge) => {
                self.plan(&merge.input);
                let row: Vec<ColumnType> = merge.table.columns.iter().map(|c| c.ty).collect();
                assert!(merge.input.types.starts_with(&row), "the old row comes first");
                merge.clauses.iter().for_each(|clause| self.merge_clause(clause, &merge.input.types, &row));
                self.exprs(merge.checks.iter().map(|c| &c.predicate).chain(merge.generated.iter().map(|g| &g.value)), &row);
            }
            other => panic!("unknown node {other:?}"),
        }
        None
    }
}
