//! Joins: in which order, and how.
//!
//! A group of inner joins is taken apart into its members and all conditions among them (WHERE and ON alike), and put together again as a chain, cheapest first. For up to
//! [`EXHAUSTIVE_MAX`] members every chain is considered, by dynamic programming over sets; for more, the next cheapest step is taken each time. An outer, semi or anti join is
//! one member; its own sides are planned on their own.
//!
//! A step adds one member to what is there: as the inner side of a *lookup join* if a condition binds a key of one of its indexes, else as the build side of a *hash join* if
//! there is an equality, else in a nested loop.

use super::access::Target;
use super::cost::{HASH, ROW};
use super::lower::{Frame, ids, must_be_lifted};
use super::relation::{conjunction, union};
use super::{Planner, Sub, Want};
use crate::bind::{ColumnId, Logical};
use crate::error::SqlError;
use crate::expr::{CompareOp, Expr};
use crate::plan::{Access, Estimate, JoinType, PlanNode, SortKey};
use crate::types::Datum;
use hashbrown::HashMap;

/// Members up to which all orders are tried.
const EXHAUSTIVE_MAX: usize = 8;

/// How many members a group may have; more are joined as they come.
const GROUP_MAX: usize = 60;

/// A member of a group of inner joins.
struct Member {
    node: Logical,
    columns: Vec<ColumnId>,
    /// Conditions on it alone.
    filters: Vec<Expr>,
    /// Members that must come before it (it is LATERAL).
    after: u64,
    rows: f64,
    cost: f64,
}

/// A condition among members.
struct Link {
    expr: Expr,
    members: u64,
}

/// A chain under consideration.
#[derive(Clone)]
struct Chain {
    order: Vec<usize>,
    rows: f64,
    cost: f64,
}

impl Planner<'_> {
    /// A FROM clause with its WHERE: `want.filters` holds the conditions.
    pub(super) fn joined_or_filtered(&mut self, node: Logical, want: Want) -> Result<Sub, SqlError> {
        let mut nodes = Vec::new();
        let mut conditions = want.filters.clone();
        take_apart(node, &mut nodes, &mut conditions);
        // Subqueries as joins wrap what they filter.
        let mut joins = Vec::new();
        conditions.retain(|c| match self.as_join(c) {
            Some(join) => {
                joins.push(join);
                false
            }
            None => true,
        });
        if !joins.is_empty() {
            let mut left = nodes
                .into_iter()
                .reduce(|l, r| Logical::Join { kind: JoinType::Inner, left: Box::new(l), right: Box::new(r), on: Vec::new() })
                .unwrap_or(Logical::OneRow);
            let (lifted, plain): (Vec<Expr>, Vec<Expr>) = conditions.into_iter().partition(must_be_lifted);
            left = left.filtered(plain);
            for join in joins {
                left = Logical::Join { kind: join.kind, left: Box::new(left), right: Box::new(join.right), on: join.on };
            }
            let needed = union([want.needed.clone(), self.mentioned_by(&lifted)].concat());
            let sub = self.group_or_single(vec![left], Vec::new(), Want { needed, filters: Vec::new(), ..want })?;
            return self.filtered(sub, lifted);
        }
        self.keyed_by_subquery(&mut nodes, &mut conditions)?;
        self.group_or_single(nodes, conditions, Want { filters: Vec::new(), ..want })
    }

    /// `WHERE id = (SELECT max(x) FROM u)`: with the subquery's value as a row to the left, the index can be used. Only for a single table of which that saves reading
    /// the whole; the subquery must not depend on anything.
    fn keyed_by_subquery(&mut self, nodes: &mut Vec<Logical>, conditions: &mut [Expr]) -> Result<(), SqlError> {
        let [node @ Logical::Get { .. }] = nodes.as_slice() else { return Ok(()) };
        let free = |number: usize| self.subquery_free_columns(number).is_empty();
        let scalar = |number: usize| matches!(self.subqueries[number].kind, crate::bind::logical::SubqueryKind::Scalar);
        let found = conditions.iter().enumerate().find_map(|(at, condition)| {
            let Expr::Call { func, args, .. } = condition else { return None };
            func.compare?;
            args.iter().enumerate().find_map(|(side, arg)| match arg {
                Expr::Subquery(number, ty) if scalar(*number) && free(*number) => Some((at, side, *number, *ty)),
                _ => None,
            })
        });
        let Some((at, side, number, ty)) = found else { return Ok(()) };
        let others: Vec<Expr> =
            conditions.iter().enumerate().filter(|(i, c)| *i != at && !must_be_lifted(c)).map(|(_, c)| c.clone()).collect();
        let alone = Member { columns: node.output(), node: node.clone(), filters: others.clone(), after: 0, rows: 0.0, cost: 0.0 };
        let (_, without) = self.member_estimate(&alone)?;
        let id = self.columns.len();
        let mut keyed = conditions[at].clone();
        if let Expr::Call { args, .. } = &mut keyed {
            args[side] = Expr::Column(id, ty);
        }
        if self.lookup_cost(&alone.node, &others, std::slice::from_ref(&keyed)).is_some_and(|cost| cost < without) {
            let id = self.new_column("subplan", ty);
            conditions[at] = keyed;
            nodes.push(Logical::Project { input: Box::new(Logical::OneRow), exprs: vec![(id, Expr::Subquery(number, ty))] });
        }
        Ok(())
    }

    fn group_or_single(&mut self, mut nodes: Vec<Logical>, conditions: Vec<Expr>, want: Want) -> Result<Sub, SqlError> {
        if nodes.len() == 1 {
            let want = Want { filters: conditions, ..want };
            return match nodes.pop() {
                Some(Logical::Join { kind, left, right, on }) => self.outer_join(kind, *left, *right, on, want),
                Some(Logical::Filter { input, predicates }) => {
                    let filters = [want.filters, predicates].concat();
                    self.joined_or_filtered(*input, Want { filters, ..want })
                }
                Some(node) => self.relation(node, want),
                None => self.relation(Logical::OneRow, want),
            };
        }
        self.group(nodes, conditions, want)
    }

    // ---- groups of inner joins

    fn group(&mut self, nodes: Vec<Logical>, conditions: Vec<Expr>, want: Want) -> Result<Sub, SqlError> {
        if nodes.len() > GROUP_MAX {
            return Err(SqlError::unsupported(format!("a join of more than {GROUP_MAX} tables")));
        }
        let mut members: Vec<Member> = nodes
            .into_iter()
            .map(|node| Member { columns: node.output(), node, filters: Vec::new(), after: 0, rows: 1.0, cost: 0.0 })
            .collect();
        let set_of = |ids: &[ColumnId], members: &[Member]| -> u64 {
            (0..).zip(members).filter(|(_, m)| ids.iter().any(|id| m.columns.contains(id))).map(|(i, _): (u32, _)| 1u64 << i).sum()
        };
        let (mut links, mut top) = (Vec::new(), Vec::new());
        for condition in conditions {
            let set = set_of(&self.mentioned(&condition), &members);
            if must_be_lifted(&condition) || set == 0 {
                top.push(condition);
            } else if set.count_ones() == 1 {
                members[set.trailing_zeros() as usize].filters.push(condition);
            } else {
                links.push(Link { expr: condition, members: set });
            }
        }
        self.add_implied(&mut members, &links);
        for at in 0..members.len() {
            let free = self.free_columns(&members[at].node);
            members[at].after = set_of(&free, &members) & !(1 << at);
            (members[at].rows, members[at].cost) = self.member_estimate(&members[at])?;
        }
        let chain = if members.len() <= EXHAUSTIVE_MAX { self.best_chain(&members, &links) } else { self.greedy_chain(&members, &links) };
        self.build_chain(&chain, members, links, top, want)
    }

    /// `a.x = b.x AND a.x = 5` also says `b.x = 5`.
    fn add_implied(&self, members: &mut [Member], links: &[Link]) {
        for link in links {
            let Some((Expr::Column(l, _), Expr::Column(r, _))) = equality(&link.expr) else { continue };
            for (from, to) in [(l, r), (r, l)] {
                let constant = members.iter().flat_map(|m| &m.filters).find_map(|f| match equality(f) {
                    Some((Expr::Column(id, _), value)) | Some((value, Expr::Column(id, _)))
                        if *id == *from && matches!(value, Expr::Const(..) | Expr::Param(..)) =>
                    {
                        Some((f, value))
                    }
                    _ => None,
                });
                let (Some((filter, _)), true) = (constant, self.columns[*from].ty == self.columns[*to].ty) else { continue };
                let mut implied = filter.clone();
                implied.walk_mut(&mut |e| {
                    if let Expr::Column(id, _) = e
                        && id == from
                    {
                        *id = *to;
                    }
                });
                if let Some(member) = members.iter_mut().find(|m| m.columns.contains(to)) {
                    let known = member.filters.iter().any(|f| format!("{f:?}") == format!("{implied:?}"));
                    if !known {
                        member.filters.push(implied);
                    }
                }
            }
        }
    }

    /// Rows and cost of reading a member on its own.
    fn member_estimate(&mut self, member: &Member) -> Result<(f64, f64), SqlError> {
        if let Logical::Get { table, columns, .. } = &member.node {
            let filters: Vec<Expr> = member.filters.iter().filter(|f| !must_be_lifted(f)).cloned().collect();
            let own = |id| !columns.contains(&id);
            let expressions = self.indexed_expressions(table, columns);
            let target = Target {
                table,
                columns,
                expressions: &expressions,
                filters: &filters,
                known: &own,
                needed: columns,
                order: &[],
                limit: None,
                locking: false,
            };
            let choice = self.best_access(&target);
            return Ok((choice.rows.max(1.0), choice.cost));
        }
        if member.after != 0 {
            return Ok((10.0, 1.0));
        }
        // Planned twice, once to be looked at; what it asked of outer frames is the same both times.
        let want = Want { needed: member.columns.clone(), filters: member.filters.clone(), ..Want::default() };
        let sub = self.relation(member.node.clone(), want)?;
        Ok((sub.plan.estimate.rows.max(1.0), sub.plan.estimate.total))
    }

    fn best_chain(&self, members: &[Member], links: &[Link]) -> Chain {
        let all: u64 = (1 << members.len()) - 1;
        let mut best: HashMap<u64, Chain> = HashMap::new();
        for (at, member) in members.iter().enumerate().filter(|(_, m)| m.after == 0) {
            best.insert(1 << at, Chain { order: vec![at], rows: member.rows, cost: member.cost });
        }
        for set in 1..=all {
            let Some(chain) = best.get(&set).cloned() else { continue };
            for at in (0..members.len()).filter(|at| set & (1 << at) == 0 && members[*at].after & !set == 0) {
                let next = self.extended(&chain, at, set, members, links);
                let grown = set | (1 << at);
                if best.get(&grown).is_none_or(|known| next.cost < known.cost) {
                    best.insert(grown, next);
                }
            }
        }
        best.remove(&all).unwrap_or_else(|| Chain { order: (0..members.len()).collect(), rows: 1.0, cost: 0.0 })
    }

    fn greedy_chain(&self, members: &[Member], links: &[Link]) -> Chain {
        let first = (0..members.len())
            .filter(|at| members[*at].after == 0)
            .min_by(|a, b| members[*a].rows.total_cmp(&members[*b].rows))
            .unwrap_or(0);
        let mut chain = Chain { order: vec![first], rows: members[first].rows, cost: members[first].cost };
        let mut set: u64 = 1 << first;
        while chain.order.len() < members.len() {
            let open = (0..members.len()).filter(|at| set & (1 << at) == 0 && members[*at].after & !set == 0);
            let Some((at, next)) =
                open.map(|at| (at, self.extended(&chain, at, set, members, links))).min_by(|a, b| a.1.cost.total_cmp(&b.1.cost))
            else {
                break;
            };
            set |= 1 << at;
            chain = next;
        }
        chain
    }

    /// The chain with one more member, by the cheapest step.
    fn extended(&self, chain: &Chain, at: usize, set: u64, members: &[Member], links: &[Link]) -> Chain {
        let member = &members[at];
        let grown = set | (1 << at);
        let applicable: Vec<Expr> =
            links.iter().filter(|l| l.members & (1 << at) != 0 && l.members & !grown == 0).map(|l| l.expr.clone()).collect();
        let rows = (chain.rows * member.rows * self.selectivity_of(&applicable)).max(1.0);
        let hashable = applicable.iter().any(|e| equality(e).is_some());
        let mut step = if hashable && self.settings.hash_join {
            member.cost + member.rows * HASH + chain.rows * ROW
        } else {
            member.cost + chain.rows * member.rows * ROW
        };
        if let Some(lookup) = self.lookup_cost(&member.node, &member.filters, &applicable) {
            step = step.min(chain.rows * lookup);
        }
        let order = chain.order.iter().copied().chain([at]).collect();
        Chain { order, rows, cost: chain.cost + step + rows * ROW }
    }

    /// What one lookup costs, if the conditions bind a key.
    fn lookup_cost(&self, node: &Logical, filters: &[Expr], on: &[Expr]) -> Option<f64> {
        let Logical::Get { table, columns, .. } = node else { return None };
        if !self.settings.nested_loop {
            return None;
        }
        let all: Vec<Expr> = filters.iter().chain(on).filter(|f| !must_be_lifted(f)).cloned().collect();
        let outside = |id| !columns.contains(&id);
        let expressions = self.indexed_expressions(table, columns);
        let target = Target {
            table,
            columns,
            expressions: &expressions,
            filters: &all,
            known: &outside,
            needed: columns,
            order: &[],
            limit: None,
            locking: false,
        };
        let choice = self.best_access(&target);
        let through_link = choice.consumed.iter().any(|n| *n >= filters.len());
        (!matches!(choice.access, Access::Full) && through_link).then_some(choice.cost)
    }

    fn build_chain(&mut self, chain: &Chain, members: Vec<Member>, links: Vec<Link>, top: Vec<Expr>, want: Want) -> Result<Sub, SqlError> {
        let needed = union(
            [want.needed, self.mentioned_by(&top), links.iter().flat_map(|l| ids(&l.expr)).collect(), self.lateral_columns(&members)]
                .concat(),
        );
        let mut waiting: Vec<Option<Member>> = members.into_iter().map(Some).collect();
        let mut open: Vec<Option<Link>> = links.into_iter().map(Some).collect();
        let mut set = 0u64;
        let mut whole: Option<Sub> = None;
        // Whether the first member was asked for the order that is wanted of the whole.
        let mut asked = false;
        for (step, at) in chain.order.iter().enumerate() {
            let Some(member) = waiting[*at].take() else { continue };
            set |= 1 << at;
            let own: Vec<ColumnId> = needed.iter().copied().filter(|id| member.columns.contains(id)).collect();
            whole = Some(match whole {
                None => {
                    let order = first_order(&want.order, &member.columns);
                    asked = !order.is_empty();
                    self.relation(member.node, Want { needed: own, filters: member.filters, order, ..Want::default() })?
                }
                Some(left) => {
                    let ready = open.iter_mut().filter(|l| l.as_ref().is_some_and(|l| l.members & !set == 0));
                    let on: Vec<Expr> = ready.filter_map(Option::take).map(|l| l.expr).collect();
                    let last = step + 1 == chain.order.len() && top.is_empty();
                    let lock = want.lock.filter(|_| last);
                    self.joined(
                        left,
                        JoinType::Inner,
                        member.node,
                        Want { needed: own, filters: member.filters, lock, ..Want::default() },
                        on,
                    )?
                }
            });
        }
        let Some(sub) = whole else { return self.relation(Logical::OneRow, Want::default()) };
        let ordered = sub.ordered && (asked || want.order.is_empty());
        self.filtered(Sub { ordered, ..sub }, top)
    }

    /// What LATERAL members take from the others.
    fn lateral_columns(&self, members: &[Member]) -> Vec<ColumnId> {
        members.iter().filter(|m| m.after != 0).flat_map(|m| self.free_columns(&m.node)).collect()
    }

    // ---- outer, semi and anti joins

    fn outer_join(&mut self, kind: JoinType, left: Logical, right: Logical, on: Vec<Expr>, want: Want) -> Result<Sub, SqlError> {
        let (left, right, kind) = match kind {
            JoinType::Right => (right, left, JoinType::Left),
            kind => (left, right, kind),
        };
        let left_columns = left.output();
        let right_columns = right.output();
        let kind =
            if kind == JoinType::Left && want.filters.iter().any(|f| rejects_nulls(f, &right_columns)) { JoinType::Inner } else { kind };
        if kind == JoinType::Inner {
            let joined = Logical::Join { kind, left: Box::new(left), right: Box::new(right), on };
            return self.joined_or_filtered(joined, want);
        }
        let on_left = |id: ColumnId| !right_columns.contains(&id);
        let pushes = kind != JoinType::Full;
        let (down, above): (Vec<Expr>, Vec<Expr>) =
            want.filters.into_iter().partition(|f| pushes && !must_be_lifted(f) && self.mentioned(f).into_iter().all(on_left));
        // What ON says of the right side alone decides which of its rows can match.
        let (right_only, on): (Vec<Expr>, Vec<Expr>) = on.into_iter().partition(|f| {
            pushes && !must_be_lifted(f) && self.mentioned(f).into_iter().all(|id| !left_columns.contains(&id)) && !ids(f).is_empty()
        });
        let mut needed = [want.needed, self.mentioned_by(&above), self.mentioned_by(&on)].concat();
        needed.extend(self.free_columns(&right));
        let needed = union(needed);
        let on_side = |side: &[ColumnId]| needed.iter().copied().filter(|id| side.contains(id)).collect::<Vec<_>>();
        let order = first_order(&want.order, &left_columns);
        let asked = !order.is_empty();
        let lock = want.lock.filter(|_| false); // rows of an outer join's left side may be joined away later; its right side may be missing
        let left_sub = self.relation(left, Want { needed: on_side(&left_columns), filters: down, order, lock, ..Want::default() })?;
        let ordered = left_sub.ordered && (asked || want.order.is_empty()) && kind != JoinType::Full;
        let sub =
            self.joined(left_sub, kind, right, Want { needed: on_side(&right_columns), filters: right_only, ..Want::default() }, on)?;
        self.filtered(Sub { ordered, ..sub }, above)
    }

    // ---- one step

    /// Joins a planned left side with a right one.
    fn joined(&mut self, left: Sub, kind: JoinType, right: Logical, want: Want, on: Vec<Expr>) -> Result<Sub, SqlError> {
        let right_columns = right.output();
        let lateral = self.free_columns(&right).iter().any(|id| left.layout.contains(id));
        let rows = left.plan.estimate.rows;
        let (right, inner_filters) = match right {
            Logical::Filter { input, predicates } if matches!(*input, Logical::Get { .. }) => (*input, predicates),
            other => (other, Vec::new()),
        };
        let filters = [want.filters.clone(), inner_filters].concat();
        let lookup = if kind == JoinType::Full || lateral { None } else { self.lookup_cost(&right, &filters, &on) };
        if let Some(cost) = lookup {
            let pairs = on.iter().any(|e| equality(e).is_some());
            let (inner_rows, inner_cost) = self.member_estimate(&Member {
                columns: right_columns.clone(),
                node: right.clone(),
                filters: filters.clone(),
                after: 0,
                rows: 0.0,
                cost: 0.0,
            })?;
            let hash = if pairs && self.settings.hash_join { inner_cost + inner_rows * HASH + rows * ROW } else { f64::INFINITY };
            if rows * cost <= hash {
                return self.lookup_join(left, kind, right, Want { filters, ..want }, on);
            }
        }
        if lateral {
            return self.nested_loop(left, kind, right, Want { filters, ..want }, on);
        }
        let hashable = on.iter().any(|e| self.hash_pair(e, &left.layout, &right_columns).is_some());
        if hashable && self.settings.hash_join {
            return self.hash_join(left, kind, right, &right_columns, Want { filters, ..want }, on);
        }
        self.nested_loop(left, kind, right, Want { filters, ..want }, on)
    }

    fn joined_layout(&self, kind: JoinType, left: &[ColumnId], right: &[ColumnId]) -> Vec<ColumnId> {
        match kind {
            JoinType::Semi | JoinType::Anti => left.to_vec(),
            _ => [left, right].concat(),
        }
    }

    fn joined_rows(&self, kind: JoinType, left: f64, matches: f64) -> f64 {
        match kind {
            JoinType::Semi => (left * 0.5).max(1.0),
            JoinType::Anti => (left * 0.5).max(1.0),
            JoinType::Left | JoinType::Full => matches.max(left),
            _ => matches.max(1.0),
        }
    }

    fn lookup_join(&mut self, left: Sub, kind: JoinType, right: Logical, want: Want, on: Vec<Expr>) -> Result<Sub, SqlError> {
        // ON conditions over the right side join its filters; with the left row bound, all of them can.
        let right_columns = right.output();
        let (into_scan, on): (Vec<Expr>, Vec<Expr>) =
            on.into_iter().partition(|e| !must_be_lifted(e) && ids(e).iter().any(|id| right_columns.contains(id)));
        let lock = want.lock.filter(|_| on.is_empty() && kind == JoinType::Inner);
        let filters = [want.filters, into_scan].concat();
        self.frames.push(Frame { layout: left.layout.clone(), ..Frame::default() });
        let inner = self.relation(right, Want { filters, lock, limit: None, order: Vec::new(), needed: want.needed });
        let frame = self.frames.pop().unwrap_or_default();
        let inner = inner?;
        let locked = inner.locked;
        let both = [left.layout.as_slice(), inner.layout.as_slice()].concat();
        let on = conjunction(self.lower_all(&on, &both)?);
        let layout = self.joined_layout(kind, &left.layout, &inner.layout);
        let (outer, each) = (left.plan.estimate, inner.plan.estimate);
        let rows = self.joined_rows(kind, outer.rows, outer.rows * each.rows);
        let estimate = Estimate {
            rows,
            startup: outer.startup,
            total: outer.total + outer.rows * each.total + rows * ROW,
            width: self.width(&layout),
        };
        let node = match inner.plan.node {
            PlanNode::Scan(scan) => {
                PlanNode::LookupJoin { left: Box::new(left.plan), scan, bindings: frame.bindings, kind, on, scan_types: inner.plan.types }
            }
            node => {
                let right = Box::new(crate::plan::Plan { node, ..inner.plan });
                PlanNode::NestedLoopJoin { left: Box::new(left.plan), right, kind, bindings: frame.bindings, on }
            }
        };
        let single = left.single && inner.single;
        let sub = self.sub(node, layout, estimate);
        Ok(Sub { single, locked, ordered: left.ordered, ..sub })
    }

    /// The sides of an equality between left and right columns.
    fn hash_pair<'e>(&self, expr: &'e Expr, left: &[ColumnId], right: &[ColumnId]) -> Option<(&'e Expr, &'e Expr)> {
        let (a, b) = equality(expr)?;
        if must_be_lifted(expr) {
            return None;
        }
        let of_right = |e: &Expr| !ids(e).is_empty() && ids(e).iter().all(|id| right.contains(id));
        let of_left = |e: &Expr| !ids(e).is_empty() && ids(e).iter().all(|id| left.contains(id));
        // Values of different types hash differently.
        if a.ty().ty != b.ty().ty {
            return None;
        }
        if of_left(a) && of_right(b) {
            Some((a, b))
        } else if of_left(b) && of_right(a) {
            Some((b, a))
        } else {
            None
        }
    }

    fn hash_join(
        &mut self,
        left: Sub,
        kind: JoinType,
        right: Logical,
        right_columns: &[ColumnId],
        want: Want,
        on: Vec<Expr>,
    ) -> Result<Sub, SqlError> {
        let mut needed = want.needed;
        needed.extend(on.iter().flat_map(ids).filter(|id| right_columns.contains(id)));
        let inner = self.relation(right, Want { needed: union(needed), filters: want.filters, ..Want::default() })?;
        let (mut left_keys, mut right_keys, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        for expr in &on {
            match self.hash_pair(expr, &left.layout, right_columns) {
                Some((l, r)) => {
                    left_keys.push(self.lower(l, &left.layout)?);
                    right_keys.push(self.lower(r, &inner.layout)?);
                }
                None => rest.push(expr.clone()),
            }
        }
        let both = [left.layout.as_slice(), inner.layout.as_slice()].concat();
        let rest = conjunction(self.lower_all(&rest, &both)?);
        let layout = self.joined_layout(kind, &left.layout, &inner.layout);
        let (probe, build) = (left.plan.estimate, inner.plan.estimate);
        let rows = self.joined_rows(kind, probe.rows, probe.rows * build.rows * self.selectivity_of(&on));
        let startup = build.total + build.rows * HASH;
        let estimate = Estimate { rows, startup, total: startup + probe.total + probe.rows * ROW + rows * ROW, width: self.width(&layout) };
        let node = PlanNode::HashJoin {
            left: Box::new(left.plan),
            right: Box::new(inner.plan),
            kind,
            left_keys,
            right_keys,
            on: rest,
            in_order: false,
        };
        let sub = self.sub(node, layout, estimate);
        Ok(Sub { ordered: left.ordered && kind != JoinType::Full, ..sub })
    }

    fn nested_loop(&mut self, left: Sub, kind: JoinType, right: Logical, want: Want, on: Vec<Expr>) -> Result<Sub, SqlError> {
        let right_columns = right.output();
        let mut needed = want.needed;
        needed.extend(self.mentioned_by(&on).into_iter().filter(|id| right_columns.contains(id)));
        self.frames.push(Frame { layout: left.layout.clone(), ..Frame::default() });
        let inner = self.relation(right, Want { needed: union(needed), filters: want.filters, ..Want::default() });
        let frame = self.frames.pop().unwrap_or_default();
        let inner = inner?;
        let both = [left.layout.as_slice(), inner.layout.as_slice()].concat();
        let condition = conjunction(self.lower_all(&on, &both)?);
        let layout = self.joined_layout(kind, &left.layout, &inner.layout);
        let (outer, each) = (left.plan.estimate, inner.plan.estimate);
        let rows = self.joined_rows(kind, outer.rows, outer.rows * each.rows * self.selectivity_of(&on));
        let again = if frame.bindings.is_empty() { each.rows * ROW } else { each.total };
        let estimate = Estimate {
            rows,
            startup: outer.startup,
            total: outer.total + each.total + outer.rows * again + rows * ROW,
            width: self.width(&layout),
        };
        let node = PlanNode::NestedLoopJoin {
            left: Box::new(left.plan),
            right: Box::new(inner.plan),
            kind,
            bindings: frame.bindings,
            on: condition,
        };
        let single = left.single && inner.single;
        let sub = self.sub(node, layout, estimate);
        Ok(Sub { single, ordered: left.ordered && kind != JoinType::Full, ..sub })
    }
}

/// Members and conditions of a tree of inner joins and filters.
fn take_apart(node: Logical, members: &mut Vec<Logical>, conditions: &mut Vec<Expr>) {
    match node {
        Logical::Join { kind: JoinType::Inner, left, right, on } => {
            conditions.extend(on);
            take_apart(*left, members, conditions);
            take_apart(*right, members, conditions);
        }
        Logical::Filter { input, predicates } => {
            conditions.extend(predicates);
            take_apart(*input, members, conditions);
        }
        other => members.push(other),
    }
}

/// The sides of an equality.
fn equality(expr: &Expr) -> Option<(&Expr, &Expr)> {
    match expr {
        Expr::Call { func, args, .. } if func.compare == Some(CompareOp::Eq) => match args.as_slice() {
            [left, right] => Some((left, right)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether the condition is never true of a row whose columns of that side are all NULL.
fn rejects_nulls(expr: &Expr, side: &[ColumnId]) -> bool {
    match expr {
        Expr::Call { func, args, .. } if func.strict && func.compare.is_some() => args.iter().any(|a| is_strict_in(a, side)),
        Expr::InList { expr, negated: false, .. } => is_strict_in(expr, side),
        Expr::IsNull { expr, negated: true } => is_strict_in(expr, side),
        Expr::And(list) => list.iter().any(|e| rejects_nulls(e, side)),
        Expr::Const(Datum::Bool(false), _) => true,
        _ => false,
    }
}

/// NULL if the side's columns are.
fn is_strict_in(expr: &Expr, side: &[ColumnId]) -> bool {
    match expr {
        Expr::Column(id, _) => side.contains(id),
        Expr::Cast { expr, .. } => is_strict_in(expr, side),
        Expr::Call { func, args, .. } => func.strict && args.iter().any(|a| is_strict_in(a, side)),
        _ => false,
    }
}

/// An order that the first member alone can give.
fn first_order(order: &[SortKey], columns: &[ColumnId]) -> Vec<SortKey> {
    let own = order.iter().all(|k| matches!(k.expr, Expr::Column(id, _) if columns.contains(&id)));
    if own { order.to_vec() } else { Vec::new() }
}
