//! Values of columns that a COPY does not name.

use crate::bind::{bind_scalar, domain_checks};
use crate::catalog::{Column, Oid};
use crate::error::SqlError;
use crate::exec::{ExecContext, sequence};
use crate::expr::{Expr, eval};
use crate::functions::Waits;
use crate::types::coercion::CastContext;
use crate::types::{DataType, Datum, cast};

/// Where a column's value comes from.
#[derive(Clone, Debug)]
pub(super) enum DefaultValue {
    Null,
    Computed(Expr),
    Sequence(Oid),
}

impl DefaultValue {
    /// A column's default, bound.
    pub(super) fn of(column: &Column, ctx: &ExecContext<'_>) -> Result<DefaultValue, SqlError> {
        if let Some(identity) = &column.identity {
            return Ok(DefaultValue::Sequence(identity.sequence_oid));
        }
        let catalog = std::sync::Arc::clone(&ctx.catalog);
        let checks = column.declared.map(|oid| domain_checks(oid, &catalog, ctx.plan_settings)).transpose()?.flatten();
        let value = match catalog.default_of(column) {
            None if checks.is_none() => return Ok(DefaultValue::Null),
            None => Expr::Const(Datum::Null, column.ty),
            Some(text) => {
                let parsed = crate::parse::parse_expression(text)?;
                bind_scalar(&parsed, column.ty, CastContext::Assignment, &ctx.catalog, ctx.plan_settings)?
            }
        };
        let value = match checks {
            Some(domain) => Expr::Checked { expr: Box::new(value), domain },
            None => value,
        };
        let (mut sequence, mut waits) = (None, false);
        value.walk(&mut |e| {
            if let Expr::Call { func, args, .. } = e {
                waits |= func.waits.is_some();
                if func.waits == Some(Waits::Sequence) && func.name == "nextval" {
                    sequence = args.first().and_then(|arg| eval(arg, &[], &ctx.eval()).ok());
                }
            }
        });
        match sequence {
            Some(Datum::Oid(oid)) => Ok(DefaultValue::Sequence(oid)),
            _ if waits => Err(SqlError::unsupported(format!("COPY with the default of column \"{}\"", column.name))),
            _ => Ok(DefaultValue::Computed(value)),
        }
    }

    /// Values for some rows.
    pub(super) async fn values(&self, ty: DataType, count: usize, ctx: &mut ExecContext<'_>) -> Result<Vec<Datum>, SqlError> {
        match self {
            DefaultValue::Null => Ok(vec![Datum::Null; count]),
            DefaultValue::Computed(value) => (0..count).map(|_| eval(value, &[], &ctx.eval())).collect(),
            DefaultValue::Sequence(oid) => {
                let numbers = sequence::nextval(ctx, *oid, count).await?;
                numbers.into_iter().map(|n| cast::cast(Datum::Int8(n), DataType::INT8, ty.into(), false, &ctx.eval())).collect()
            }
        }
    }
}
