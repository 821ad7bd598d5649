//! MERGE: the source joined with the target, and what each WHEN does with a row of that.

use super::insert::InsertedColumns;
use super::logical::{ColumnId, LogicalMerge, LogicalMergeAction, LogicalMergeClause, conjuncts};
use super::query::Output;
use super::scope::Namespace;
use super::{Binder, Clause, Logical};
use crate::ast::{Merge, MergeAction, MergeWhen};
use crate::catalog::{RelationKind, TableDescriptor};
use crate::error::{SqlError, SqlState};
use crate::plan::JoinType;
use std::sync::Arc;

/// What the clauses can see.
struct Sight {
    target: Namespace,
    source: Namespace,
    both: Namespace,
}

impl Binder<'_> {
    pub(super) fn merge_into(&mut self, merge: &Merge) -> Result<(Logical, Output), SqlError> {
        self.modification(|b| b.merge_here(merge))
    }

    fn merge_here(&mut self, merge: &Merge) -> Result<(Logical, Output), SqlError> {
        if let Some(with) = &merge.with {
            self.with(with)?;
        }
        let described = self.relation(&merge.table)?.descriptor().clone();
        if described.kind == RelationKind::View {
            let message = format!("cannot execute MERGE on relation \"{}\"", described.name);
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).detail("This operation is not supported for views."));
        }
        let table = self.target(&merge.table, "MERGE")?;
        let alias = merge.alias.as_ref().map_or(table.name.clone(), |alias| alias.name.value.clone());
        let (source_plan, source) = self.bind_from(std::slice::from_ref(&merge.source), &[])?;
        if source.relations.iter().any(|relation| relation.alias == alias) {
            return Err(SqlError::new(SqlState::DUPLICATE_ALIAS, format!("name \"{alias}\" specified more than once"))
                .detail("The name is used both as MERGE target table and data source."));
        }
        let (target_plan, mut relation) = self.get(&table, &alias);
        relation.schema = merge.alias.is_none().then(|| table.schema.clone());
        let row = target_plan.output();
        let target = Namespace::of(relation);
        let mut both = target.clone();
        both.join(source.clone())?;
        let mut sight = Sight { target, source, both };
        self.scopes.push(std::mem::take(&mut sight.both));
        let on = self.in_clause(Clause::On, |b| b.condition(&merge.on, "JOIN/ON"));
        sight.both = self.scopes.pop().unwrap_or_default();
        let inserts = merge.clauses.iter().any(|clause| !clause.matched && !matches!(clause.action, MergeAction::Nothing));
        let kind = if inserts { JoinType::Left } else { JoinType::Inner };
        let input = super::from::joined(kind, source_plan, target_plan, conjuncts(on?));
        let clauses = merge.clauses.iter().map(|clause| self.merge_clause(clause, &table, &row, &sight)).collect::<Result<_, _>>()?;
        let bound = LogicalMerge { alias, input, row, clauses, generated: self.generated(&table)?, checks: self.checks(&table)?, table };
        Ok((Logical::Merge(Box::new(bound)), Vec::new()))
    }

    fn merge_clause(
        &mut self,
        clause: &MergeWhen,
        table: &Arc<TableDescriptor>,
        row: &[ColumnId],
        sight: &Sight,
    ) -> Result<LogicalMergeClause, SqlError> {
        let (seen, hidden) = if clause.matched { (&sight.both, None) } else { (&sight.source, Some(&sight.target)) };
        self.scopes.push(seen.clone());
        self.hidden.extend(hidden.cloned());
        let bound = self.merge_clause_here(clause, table, row);
        self.scopes.pop();
        if hidden.is_some() {
            self.hidden.pop();
        }
        bound
    }

    fn merge_clause_here(
        &mut self,
        clause: &MergeWhen,
        table: &Arc<TableDescriptor>,
        row: &[ColumnId],
    ) -> Result<LogicalMergeClause, SqlError> {
        let condition = clause.condition.as_ref().map(|c| self.in_clause(Clause::MergeWhen, |b| b.condition(c, "WHEN"))).transpose()?;
        let action = match &clause.action {
            MergeAction::Nothing => LogicalMergeAction::Nothing,
            MergeAction::Delete => LogicalMergeAction::Delete,
            MergeAction::Update(assignments) => LogicalMergeAction::Update(self.assignments(assignments, table, row)?),
            MergeAction::Insert { columns, overriding_system, values } => {
                let inserted = InsertedColumns { named: columns, overriding_system: *overriding_system };
                let row = match values {
                    Some(values) => {
                        let positions = self.insert_columns(columns, table)?;
                        self.check_width(values.len(), &inserted, &positions).map_err(|e| {
                            if e.fields().position.is_some() { e } else { e.at(values.get(positions.len()).map_or(0, |v| v.pos())) }
                        })?;
                        self.inserted_row(values, &inserted, table, &positions)?
                    }
                    None => self.inserted_row(&[], &inserted, table, &[])?,
                };
                LogicalMergeAction::Insert(row)
            }
        };
        Ok(LogicalMergeClause { matched: clause.matched, condition, action })
    }
}
