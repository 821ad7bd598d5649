//! What a kept expression or query refers to.

use super::logical::Rewrite;
use super::{Binder, Clause, FunctionScope, Mentions, SelectState};
use crate::ast::Statement;
use crate::catalog::{Catalog, FIRST_USER_OID, Reference, TableDescriptor};
use crate::error::SqlError;
use crate::expr::Expr;
use crate::plan::PlanSettings;
use crate::types::{DataType, Datum, element_of};

/// References, and what would have to change in the text so that it means the same along every search path.
#[derive(Debug)]
pub struct BoundReferences {
    /// Each once.
    pub references: Vec<Reference>,
    /// Changes of the text.
    pub rewrites: Vec<Rewrite>,
}

/// What an expression refers to: one over a table's row, or one without columns.
pub fn bind_stored(
    text: &str,
    table: Option<&TableDescriptor>,
    catalog: &Catalog,
    settings: &PlanSettings,
) -> Result<BoundReferences, SqlError> {
    let parsed = crate::parse::parse_expression(text)?;
    let mut binder = Binder::new(catalog, settings, &[]);
    let bound = match table {
        Some(table) => binder.row_expression(&parsed, table, None)?,
        None => {
            binder.select = SelectState::new(Clause::Stored);
            binder.expr(&parsed)?
        }
    };
    let mut references = Vec::new();
    bound.walk(&mut |expr| {
        if let (Expr::Column(position, _), Some(table)) = (expr, table) {
            references.extend(table.columns.get(*position).map(|column| Reference::Relation(table.oid, column.attnum)));
        }
        of_expression(expr, catalog, settings, &mut references);
    });
    Ok(binder.referred(references))
}

/// What a query, or a statement of a function's body, refers to.
pub fn statement_references(
    statement: &Statement,
    scope: Option<&FunctionScope>,
    catalog: &Catalog,
    settings: &PlanSettings,
) -> Result<BoundReferences, SqlError> {
    let types: Vec<DataType> = scope.into_iter().flat_map(|scope| scope.parameters.iter().map(|(_, ty, _)| ty.ty)).collect();
    let mut binder = Binder::new(catalog, settings, &types);
    binder.function = scope.cloned();
    binder.mentions = Some(Mentions::default());
    let (_, mut root, _, _) = binder.statement(statement)?;
    let mentions = binder.mentions.take().unwrap_or_default();
    let mut references: Vec<Reference> = mentions.tables.iter().map(|(_, oid, _)| Reference::Relation(*oid, 0)).collect();
    let column = |id: usize| binder.columns.get(id).filter(|info| info.table != 0).map(|info| Reference::Relation(info.table, info.attnum));
    references.extend(mentions.columns.iter().filter_map(|(_, id, _)| column(*id)));
    // Parts of queries that stand in it, too.
    let mut plans: Vec<super::Logical> = binder.subqueries.iter().map(|subquery| subquery.plan.clone()).collect();
    plans.extend(binder.ctes.iter().map(|cte| cte.plan.clone()));
    let mut visit = |expr: &mut Expr| expr.walk(&mut |expr| of_expression(expr, catalog, settings, &mut references));
    root.for_each_expr_mut(&mut visit);
    plans.iter_mut().for_each(|plan| plan.for_each_expr_mut(&mut visit));
    // A statement that writes names its target without a place in FROM.
    if let Some(target) = target_of(statement)
        && let Ok(relation) = binder.relation(target)
    {
        references.push(Reference::Relation(relation.descriptor().oid, 0));
    }
    Ok(binder.referred(references))
}

fn target_of(statement: &Statement) -> Option<&crate::ast::ObjectName> {
    match statement {
        Statement::Insert(insert) => Some(&insert.table),
        Statement::Update(update) => Some(&update.table),
        Statement::Delete(delete) => Some(&delete.table),
        Statement::Merge(merge) => Some(&merge.table),
        _ => None,
    }
}

/// Relations named by constants (`nextval('s')`), and users' types.
fn of_expression(expr: &Expr, catalog: &Catalog, settings: &PlanSettings, out: &mut Vec<Reference>) {
    if let Expr::Cast { expr: inner, to, .. } = expr
        && to.ty == DataType::REGCLASS
        && let Expr::Const(Datum::Text(name), _) = &**inner
    {
        let oid = name.parse().ok().or_else(|| relation_named(name, catalog, settings));
        out.extend(oid.filter(|oid| *oid >= FIRST_USER_OID).map(|oid| Reference::Relation(oid, 0)));
    }
    if let (Expr::Const(Datum::Oid(oid), ty), true) = (expr, expr.ty().ty == DataType::REGCLASS)
        && ty.ty == DataType::REGCLASS
        && *oid >= FIRST_USER_OID
    {
        out.push(Reference::Relation(*oid, 0));
    }
    if matches!(expr, Expr::Const(..) | Expr::Cast { .. }) {
        let ty = expr.ty().ty;
        let element = element_of(ty).unwrap_or(ty);
        out.extend((element.0 >= FIRST_USER_OID).then_some(Reference::Type(element.0)));
    }
}

fn relation_named(name: &str, catalog: &Catalog, settings: &PlanSettings) -> Option<u32> {
    let (schema, bare) = match name.split_once('.') {
        Some((schema, bare)) => (Some(schema.trim_matches('"')), bare),
        None => (None, name),
    };
    catalog.resolve(schema, bare.trim_matches('"'), &settings.search_path).map(|relation| relation.descriptor().oid)
}

impl Binder<'_> {
    fn referred(self, mut references: Vec<Reference>) -> BoundReferences {
        references.extend(self.functions.iter().map(|oid| Reference::Function(*oid)));
        references.retain(|reference| !matches!(reference, Reference::Relation(oid, _) if *oid < FIRST_USER_OID));
        references.sort_unstable();
        references.dedup();
        BoundReferences { references, rewrites: self.rewrites }
    }
}
