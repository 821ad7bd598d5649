//! What is said about each kind of node.

use super::Shown;
use super::expr::Names;
use crate::ast::SetOp;
use crate::expr::Expr;
use crate::plan::{
    Access, Binding, JoinType, KeyPart, KeySpan, Plan, PlanNode, RowLock, Scan, SortKey, StatementPlan, SubPlan, SubPlanKind,
    TableFunctionCall,
};
use hashbrown::HashMap;

pub(super) struct Describer<'p> {
    plan: &'p StatementPlan,
    note: &'p dyn Fn(&Plan) -> Option<String>,
    /// Names of what execution slots hold.
    outer: HashMap<usize, String>,
    bare: bool,
    subplans: usize,
}

impl<'p> Describer<'p> {
    pub(super) fn new(plan: &'p StatementPlan, note: &'p dyn Fn(&Plan) -> Option<String>) -> Describer<'p> {
        let mut aliases = Vec::new();
        collect_aliases(&plan.root, &mut aliases);
        plan.ctes.iter().for_each(|cte| collect_aliases(&cte.plan, &mut aliases));
        Describer { plan, note, outer: HashMap::new(), bare: aliases.len() <= 1, subplans: 0 }
    }

    /// Common table expressions, as PostgreSQL labels them.
    pub(super) fn ctes(&mut self) -> Vec<(String, Shown)> {
        let mut shown = Vec::new();
        for cte in &self.plan.ctes {
            // Inlined ones have no plan of their own.
            if matches!(cte.plan.node, PlanNode::Empty) && cte.name.is_empty() {
                continue;
            }
            let mut node = self.describe(&cte.plan);
            if let Some(step) = &cte.recursive {
                let step = self.describe(&step.plan);
                let estimate = node.estimate;
                node = Shown {
                    title: "Recursive Union".into(),
                    kind: "Recursive Union".into(),
                    estimate,
                    children: vec![node, step],
                    ..Shown::default()
                };
            }
            shown.push((format!("CTE {}", cte.name), node));
        }
        shown
    }

    fn names<'n>(&'n self, input: &'n [String]) -> Names<'n> {
        Names { slots: input, outer: &self.outer, bare: self.bare }
    }

    fn show(&self, expr: &Expr, input: &[String]) -> String {
        self.names(input).show(expr)
    }

    fn show_all(&self, exprs: &[Expr], input: &[String]) -> String {
        exprs.iter().map(|e| self.show(e, input)).collect::<Vec<_>>().join(", ")
    }

    fn keys(&self, keys: &[SortKey], input: &[String]) -> String {
        let one = |k: &SortKey| {
            let nulls = match (k.descending, k.nulls_first) {
                (false, true) => " NULLS FIRST",
                (true, false) => " NULLS LAST",
                _ => "",
            };
            format!("{}{}{nulls}", self.show(&k.expr, input), if k.descending { " DESC" } else { "" })
        };
        keys.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    fn bind(&mut self, bindings: &[Binding], input: &[String]) {
        for binding in bindings {
            let name = self.show(&binding.value, input);
            self.outer.entry(binding.slot).or_insert(name);
        }
    }

    fn titled(&self, plan: &Plan, title: impl Into<String>) -> Shown {
        let title = title.into();
        Shown { kind: title.clone(), title, estimate: plan.estimate, note: (self.note)(plan), ..Shown::default() }
    }

    fn over(&mut self, plan: &Plan, title: impl Into<String>, inputs: &[&Plan]) -> Shown {
        let mut node = self.titled(plan, title);
        node.children = inputs.iter().map(|input| self.describe(input)).collect();
        node
    }

    pub(super) fn describe(&mut self, plan: &Plan) -> Shown {
        match &plan.node {
            PlanNode::OneRow => self.titled(plan, "Result"),
            PlanNode::Empty => {
                let mut node = self.titled(plan, "Result");
                node.lines.push(("One-Time Filter".into(), "false".into()));
                node
            }
            PlanNode::Values(rows) if rows.len() == 1 => self.titled(plan, "Result"),
            PlanNode::Values(_) => self.titled(plan, "Values Scan on \"*VALUES*\""),
            PlanNode::Scan(scan) => self.scan(plan, scan),
            PlanNode::VirtualScan { table, filter, alias, .. } => {
                let mut node = self.titled(plan, on("Virtual Scan", table.name, alias));
                node.relation = Some((table.name.into(), alias.clone()));
                node.lines.extend(filter.iter().map(|f| ("Filter".to_owned(), self.show(f, &plan.names))));
                node
            }
            PlanNode::FunctionScan { functions, alias, .. } => {
                let name = match functions.first().map(|f| &f.call) {
                    Some(TableFunctionCall::Set { function, .. }) => function.func.name,
                    Some(TableFunctionCall::User { function, .. }) => &function.descriptor.name,
                    _ => alias,
                };
                self.titled(plan, on("Function Scan", name, alias))
            }
            PlanNode::CteScan { cte, alias } => {
                let name = self.plan.ctes.get(*cte).map_or("", |c| c.name.as_str());
                self.titled(plan, on("CTE Scan", name, alias))
            }
            PlanNode::WorkTableScan { alias, .. } => self.titled(plan, format!("WorkTable Scan on {alias}")),
            PlanNode::Filter { input, predicate } => {
                let filter = self.show(predicate, &input.names);
                let mut node = self.describe(input);
                node.lines.push(("Filter".into(), filter));
                node.estimate = plan.estimate;
                node
            }
            PlanNode::Project { input, .. } => {
                let mut node = self.describe(input);
                node.estimate = plan.estimate;
                node
            }
            PlanNode::ProjectSet { input, .. } => self.over(plan, "ProjectSet", &[input]),
            PlanNode::SubPlans(subplans) => {
                let mut node = self.describe(&subplans.input);
                node.estimate = plan.estimate;
                for (n, subplan) in subplans.list.iter().enumerate() {
                    let width = subplans.input.types.len() + n;
                    let labelled = self.subplan(subplan, &plan.names[..width.min(plan.names.len())]);
                    node.labelled.extend(labelled);
                }
                node
            }
            PlanNode::Append(inputs) => self.over(plan, "Append", &inputs.iter().collect::<Vec<_>>()),
            PlanNode::SetOp { op, all, left, right } => {
                let word = if *op == SetOp::Intersect { "Intersect" } else { "Except" };
                self.over(plan, format!("HashSetOp {word}{}", if *all { " All" } else { "" }), &[left, right])
            }
            PlanNode::Sort { input, keys } => {
                let mut node = self.over(plan, "Sort", &[input]);
                node.lines.push(("Sort Key".into(), self.keys(keys, &input.names)));
                node
            }
            PlanNode::TopN { input, keys, .. } => {
                let mut node = self.over(plan, "Top-N Sort", &[input]);
                node.lines.push(("Sort Key".into(), self.keys(keys, &input.names)));
                node
            }
            PlanNode::Limit { input, .. } => self.over(plan, "Limit", &[input]),
            PlanNode::Distinct { input, .. } => self.over(plan, "Unique", &[input]),
            PlanNode::Aggregate { input, group, sets, .. } => {
                let title = if sets.is_some() {
                    "MixedAggregate"
                } else if group.is_empty() {
                    "Aggregate"
                } else {
                    "HashAggregate"
                };
                let mut node = self.over(plan, title, &[input]);
                if !group.is_empty() {
                    node.lines.push(("Group Key".into(), self.show_all(group, &input.names)));
                }
                node
            }
            PlanNode::Window { input, .. } => self.over(plan, "WindowAgg", &[input]),
            // It does nothing unless a race was lost.
            PlanNode::LockRows { input, after_race: true, .. } => self.describe(input),
            PlanNode::LockRows { input, targets, .. } => {
                let mut node = self.over(plan, "LockRows", &[input]);
                for target in targets {
                    node.lines.push(("locking strength".into(), format!("{} of {}", strength(&target.lock), target.alias)));
                }
                node
            }
            _ => self.join_or_write(plan),
        }
    }

    fn join_or_write(&mut self, plan: &Plan) -> Shown {
        match &plan.node {
            PlanNode::LookupJoin { left, scan, bindings, kind, on, scan_types } => {
                let mut node = self.titled(plan, join_title("Lookup", *kind));
                node.children.push(self.describe(left));
                self.bind(bindings, &left.names);
                let names = scan.columns.iter().map(|p| format!("{}.{}", scan.alias, scan.table.columns[*p].name)).collect::<Vec<_>>();
                let both = [left.names.as_slice(), names.as_slice()].concat();
                let rows = (plan.estimate.rows / left.estimate.rows.max(1.0)).max(1.0);
                let total = (plan.estimate.total - left.estimate.total) / left.estimate.rows.max(1.0);
                let estimate = crate::plan::Estimate { rows, startup: 0.0, total: total.max(0.0), width: 0 };
                let inner = Plan { node: PlanNode::Scan(scan.clone()), types: scan_types.clone(), names, estimate };
                let inner = self.describe(&inner);
                node.children.push(inner);
                node.lines.extend(on.iter().map(|e| ("Join Filter".to_owned(), self.show(e, &both))));
                node
            }
            PlanNode::HashJoin { left, right, kind, left_keys, right_keys, on, .. } => {
                let mut node = self.over(plan, join_title("Hash", *kind), &[left]);
                let hash = self.over(right, "Hash", &[right]);
                node.children.push(hash);
                let pairs = left_keys
                    .iter()
                    .zip(right_keys)
                    .map(|(l, r)| format!("({} = {})", self.show(l, &left.names), self.show(r, &right.names)));
                let pairs: Vec<String> = pairs.collect();
                let condition = if pairs.len() == 1 { pairs.concat() } else { format!("({})", pairs.join(" AND ")) };
                node.lines.push(("Hash Cond".into(), condition));
                let both = [left.names.as_slice(), right.names.as_slice()].concat();
                node.lines.extend(on.iter().map(|e| ("Join Filter".to_owned(), self.show(e, &both))));
                node
            }
            PlanNode::NestedLoopJoin { left, right, kind, bindings, on } => {
                let mut node = self.titled(
                    plan,
                    if *kind == JoinType::Inner { "Nested Loop".into() } else { format!("Nested Loop {} Join", kind.name()) },
                );
                node.children.push(self.describe(left));
                self.bind(bindings, &left.names);
                node.children.push(self.describe(right));
                let both = [left.names.as_slice(), right.names.as_slice()].concat();
                node.lines.extend(on.iter().map(|e| ("Join Filter".to_owned(), self.show(e, &both))));
                node
            }
            PlanNode::Insert(insert) => {
                let mut node = self.over(plan, on("Insert", &insert.table.name, &insert.alias), &[&insert.input]);
                node.relation = Some((insert.table.name.clone(), insert.alias.clone()));
                if let Some(conflict) = &insert.on_conflict {
                    let resolution = if conflict.update.is_some() { "UPDATE" } else { "NOTHING" };
                    node.lines.push(("Conflict Resolution".into(), resolution.into()));
                    let name = |place: &Option<usize>| place.map_or(&insert.table.primary, |i| &insert.table.indexes[i]).name.clone();
                    node.lines.push(("Conflict Arbiter Indexes".into(), conflict.arbiters.iter().map(name).collect::<Vec<_>>().join(", ")));
                    let lock = conflict.update.as_ref().and_then(|u| u.lock.as_ref());
                    node.lines.extend(lock.map(|l| ("locking strength".to_owned(), strength(l))));
                }
                node
            }
            PlanNode::Update(update) => {
                let mut node = self.over(plan, on("Update", &update.table.name, &update.alias), &[&update.input]);
                node.relation = Some((update.table.name.clone(), update.alias.clone()));
                node
            }
            PlanNode::Merge(merge) => {
                let mut node = self.over(plan, on("Merge", &merge.table.name, &merge.alias), &[&merge.input]);
                node.relation = Some((merge.table.name.clone(), merge.alias.clone()));
                node
            }
            PlanNode::Delete(delete) => {
                let mut node = self.over(plan, on("Delete", &delete.table.name, &delete.alias), &[&delete.input]);
                node.relation = Some((delete.table.name.clone(), delete.alias.clone()));
                node
            }
            _ => self.titled(plan, "Result"),
        }
    }

    fn subplan(&mut self, subplan: &SubPlan, input: &[String]) -> Option<(String, Shown)> {
        self.bind(&subplan.bindings, input);
        let plan = match &subplan.kind {
            SubPlanKind::Scalar(plan) | SubPlanKind::Row(plan) | SubPlanKind::Exists(plan) | SubPlanKind::Array(plan) => plan,
            SubPlanKind::Quantified { plan, .. } => plan,
            SubPlanKind::Call { .. } | SubPlanKind::UserCall { .. } | SubPlanKind::Lazy { .. } => return None,
        };
        self.subplans += 1;
        let number = self.subplans;
        let label = match (&subplan.kind, subplan.bindings.is_empty()) {
            (SubPlanKind::Quantified { hash: Some(_), .. }, true) => format!("hashed SubPlan {number}"),
            (_, true) => format!("InitPlan {number}"),
            (_, false) => format!("SubPlan {number}"),
        };
        Some((label, self.describe(plan)))
    }

    // ---- scans

    fn scan(&mut self, plan: &Plan, scan: &Scan) -> Shown {
        let index = scan.index();
        let backward = if scan.reverse { " Backward" } else { "" };
        let kind = match (&scan.access, scan.index) {
            (Access::Points(_), _) => "Point Get",
            (Access::Full, None) => "Seq Scan",
            (Access::Spans(_), None) => "Range Scan",
            (_, Some(_)) if scan.covering => "Index Only Scan",
            (_, Some(_)) => "Index Scan",
        };
        let title = match kind {
            "Point Get" => format!("{} using {}", on("Point Get", &scan.table.name, &scan.alias), index.name),
            "Seq Scan" if !scan.reverse => on("Seq Scan", &scan.table.name, &scan.alias),
            kind if index.name.is_empty() => on(&format!("{kind}{backward}"), &scan.table.name, &scan.alias),
            kind => on(&format!("{kind}{backward} using {}", index.name), &scan.table.name, &scan.alias),
        };
        let mut node = self.titled(plan, title);
        node.kind = kind.into();
        node.relation = Some((scan.table.name.clone(), scan.alias.clone()));
        node.index = (!matches!(kind, "Seq Scan")).then(|| index.name.clone());
        let condition = self.key_condition(scan);
        if !condition.is_empty() {
            node.lines.push(("Index Cond".into(), condition));
        }
        node.lines.extend(scan.filter.iter().map(|f| ("Filter".to_owned(), self.show(f, &plan.names))));
        node.lines.extend(scan.limit.iter().map(|l| ("Scan Limit".to_owned(), self.show(l, &[]))));
        node.lines.extend(scan.lock.iter().map(|l| ("locking strength".to_owned(), strength(l))));
        node
    }

    fn key_condition(&self, scan: &Scan) -> String {
        let conditions: Vec<String> = match &scan.access {
            Access::Full => Vec::new(),
            Access::Points(keys) => keys.iter().map(|key| and(self.parts(scan, key))).collect(),
            Access::Spans(spans) => spans.iter().map(|span| and(self.span(scan, span))).collect(),
        };
        if conditions.len() > 1 { format!("({})", conditions.join(" OR ")) } else { conditions.concat() }
    }

    fn key_name(&self, scan: &Scan, at: usize) -> String {
        let column = scan.index().key.get(at).and_then(|k| scan.table.columns.get(k.column));
        let name = column.map_or("?", |c| c.name.as_str());
        if self.bare { name.to_owned() } else { format!("{}.{name}", scan.alias) }
    }

    fn parts(&self, scan: &Scan, parts: &[KeyPart]) -> Vec<String> {
        let one = |(at, part): (usize, &KeyPart)| {
            let name = self.key_name(scan, at);
            match part {
                KeyPart::One(value) => format!("({name} = {})", self.show(&value.expr, &[])),
                KeyPart::Many(values) => {
                    let list: Vec<String> = values.iter().map(|v| self.show(&v.expr, &[])).collect();
                    format!("({name} IN ({}))", list.join(", "))
                }
                KeyPart::Elements(array) => format!("({name} = ANY ({}))", self.show(&array.expr, &[])),
                KeyPart::Null => format!("({name} IS NULL)"),
            }
        };
        parts.iter().enumerate().map(one).collect()
    }

    fn span(&self, scan: &Scan, span: &KeySpan) -> Vec<String> {
        let mut conditions = self.parts(scan, &span.prefix);
        let name = self.key_name(scan, span.prefix.len());
        if let Some(bound) = &span.lower {
            conditions.push(format!("({name} {} {})", if bound.inclusive { ">=" } else { ">" }, self.show(&bound.value.expr, &[])));
        }
        if let Some(bound) = &span.upper {
            conditions.push(format!("({name} {} {})", if bound.inclusive { "<=" } else { "<" }, self.show(&bound.value.expr, &[])));
        }
        conditions
    }
}

fn and(conditions: Vec<String>) -> String {
    if conditions.len() == 1 { conditions.concat() } else { format!("({})", conditions.join(" AND ")) }
}

fn strength(lock: &RowLock) -> String {
    use crate::ast::RowLockWait;
    let wait = match lock.wait {
        RowLockWait::Block => "",
        RowLockWait::SkipLocked => " skip locked",
        RowLockWait::NoWait => " nowait",
    };
    format!("{}{wait}", lock.strength.name())
}

fn on(what: &str, table: &str, alias: &str) -> String {
    if table == alias { format!("{what} on {table}") } else { format!("{what} on {table} {alias}") }
}

fn join_title(method: &str, kind: JoinType) -> String {
    match kind {
        JoinType::Inner => format!("{method} Join"),
        kind => format!("{method} {} Join", kind.name()),
    }
}

fn collect_aliases<'a>(plan: &'a Plan, out: &mut Vec<&'a str>) {
    match &plan.node {
        PlanNode::Scan(scan) => out.push(&scan.alias),
        PlanNode::VirtualScan { alias, .. }
        | PlanNode::FunctionScan { alias, .. }
        | PlanNode::CteScan { alias, .. }
        | PlanNode::WorkTableScan { alias, .. } => out.push(alias),
        PlanNode::LookupJoin { left, scan, .. } => {
            collect_aliases(left, out);
            out.push(&scan.alias);
        }
        PlanNode::HashJoin { left, right, .. } | PlanNode::NestedLoopJoin { left, right, .. } | PlanNode::SetOp { left, right, .. } => {
            collect_aliases(left, out);
            collect_aliases(right, out);
        }
        PlanNode::Append(inputs) => inputs.iter().for_each(|input| collect_aliases(input, out)),
        PlanNode::SubPlans(subplans) => {
            collect_aliases(&subplans.input, out);
            for subplan in &subplans.list {
                match &subplan.kind {
                    SubPlanKind::Scalar(plan) | SubPlanKind::Row(plan) | SubPlanKind::Exists(plan) | SubPlanKind::Array(plan) => {
                        collect_aliases(plan, out)
                    }
                    SubPlanKind::Quantified { plan, .. } => collect_aliases(plan, out),
                    SubPlanKind::Call { .. } | SubPlanKind::UserCall { .. } | SubPlanKind::Lazy { .. } => {}
                }
            }
        }
        PlanNode::Insert(insert) => collect_aliases(&insert.input, out),
        PlanNode::Update(update) => collect_aliases(&update.input, out),
        PlanNode::Delete(delete) => collect_aliases(&delete.input, out),
        PlanNode::Merge(merge) => collect_aliases(&merge.input, out),
        PlanNode::Filter { input, .. }
        | PlanNode::Project { input, .. }
        | PlanNode::ProjectSet { input, .. }
        | PlanNode::Sort { input, .. }
        | PlanNode::TopN { input, .. }
        | PlanNode::Limit { input, .. }
        | PlanNode::Distinct { input, .. }
        | PlanNode::Aggregate { input, .. }
        | PlanNode::Window { input, .. }
        | PlanNode::LockRows { input, .. } => collect_aliases(input, out),
        PlanNode::OneRow | PlanNode::Empty | PlanNode::Values(_) => {}
    }
}
