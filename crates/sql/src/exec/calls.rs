//! Expressions outside of plans in which functions run statements: CHECK constraints.
//!
//! A plan has such calls lifted out of its expressions. What a table's descriptor demands of a row has not been through the planner, and is computed here,
//! part by part, with the same laziness.

use super::context::ExecContext;
use super::functions;
use super::operator::Step;
use super::write::check_holds;
use crate::catalog::TableDescriptor;
use crate::error::SqlError;
use crate::expr::{Expr, eval};
use crate::plan::BoundCheck;
use crate::types::Datum;

/// Tests those checks that run statements; `check_row` tests the others.
pub(super) async fn check_statements(
    table: &TableDescriptor,
    row: &[Datum],
    checks: &[BoundCheck],
    ctx: &mut ExecContext<'_>,
) -> Result<(), SqlError> {
    for check in checks.iter().filter(|check| check.runs_statements) {
        let holds = value(&check.predicate, row, ctx).await?;
        check_holds(table, row, check, &holds, &ctx.text())?;
    }
    Ok(())
}

/// The value of an expression over a row.
fn value<'e>(expr: &'e Expr, row: &'e [Datum], ctx: &'e mut ExecContext<'_>) -> Step<'e, Datum> {
    Box::pin(async move {
        if !expr.runs_statements() {
            return eval(expr, row, &ctx.eval());
        }
        match expr {
            Expr::UserCall { function, args, .. } if function.runs_statements() => {
                let mut values = Vec::with_capacity(args.len());
                for arg in args {
                    values.push(value(arg, row, ctx).await?);
                }
                Ok(functions::call(function, values, ctx).await?.into_iter().next().unwrap_or(Datum::Null))
            }
            Expr::Case { whens, otherwise, .. } => {
                for (when, then) in whens {
                    if matches!(value(when, row, ctx).await?, Datum::Bool(true)) {
                        return value(then, row, ctx).await;
                    }
                }
                match otherwise {
                    Some(otherwise) => value(otherwise, row, ctx).await,
                    None => Ok(Datum::Null),
                }
            }
            Expr::Coalesce(list, _) => {
                for item in list {
                    let item = value(item, row, ctx).await?;
                    if !item.is_null() {
                        return Ok(item);
                    }
                }
                Ok(Datum::Null)
            }
            Expr::And(list) => junction(list, false, row, ctx).await,
            Expr::Or(list) => junction(list, true, row, ctx).await,
            other => {
                let mut known = other.clone();
                for child in known.children_mut() {
                    if child.runs_statements() {
                        let ty = child.ty();
                        let part = child.clone();
                        *child = Expr::Const(value(&part, row, ctx).await?, ty);
                    }
                }
                eval(&known, row, &ctx.eval())
            }
        }
    })
}

async fn junction(list: &[Expr], deciding: bool, row: &[Datum], ctx: &mut ExecContext<'_>) -> Result<Datum, SqlError> {
    let mut unknown = false;
    for item in list {
        match value(item, row, ctx).await? {
            Datum::Bool(found) if found == deciding => return Ok(Datum::Bool(deciding)),
            Datum::Null => unknown = true,
            _ => {}
        }
    }
    Ok(if unknown { Datum::Null } else { Datum::Bool(!deciding) })
}
