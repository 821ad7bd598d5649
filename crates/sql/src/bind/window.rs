//! Calls with OVER.

use super::logical::LogicalWindow;
use super::{Binder, Clause};
use crate::ast::{FrameBound, FrameUnits, FunctionCall, WindowFrame, WindowSpec};
use crate::error::{SqlError, SqlState};
use crate::expr::Expr;
use crate::functions::{FunctionClass, function_class};
use crate::plan::{Frame, FrameEnd, WindowCall, WindowFunction};
use crate::types::{ColumnType, DataType, Datum};

/// Functions that exist only over windows.
pub(super) fn is_window_function(name: &str) -> bool {
    named(name).is_some()
}

fn named(name: &str) -> Option<WindowFunction> {
    Some(match name {
        "row_number" => WindowFunction::RowNumber,
        "rank" => WindowFunction::Rank,
        "dense_rank" => WindowFunction::DenseRank,
        "percent_rank" => WindowFunction::PercentRank,
        "cume_dist" => WindowFunction::CumeDist,
        "ntile" => WindowFunction::Ntile,
        "lag" => WindowFunction::Lag,
        "lead" => WindowFunction::Lead,
        "first_value" => WindowFunction::FirstValue,
        "last_value" => WindowFunction::LastValue,
        "nth_value" => WindowFunction::NthValue,
        _ => return None,
    })
}

impl Binder<'_> {
    pub(super) fn window_call(&mut self, call: &FunctionCall, spec: &WindowSpec) -> Result<Expr, SqlError> {
        let pos = call.name.pos;
        if !matches!(self.select.clause, Clause::Targets | Clause::OrderBy) || self.select.inside_aggregate {
            let place = if self.select.inside_aggregate {
                "aggregate function calls cannot contain window function calls".into()
            } else {
                format!("window functions are not allowed in {}", self.select.clause.name())
            };
            let state = if self.select.inside_aggregate { SqlState::GROUPING_ERROR } else { SqlState::WINDOWING_ERROR };
            return Err(SqlError::new(state, place).at(pos));
        }
        if call.distinct {
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "DISTINCT is not implemented for window functions").at(pos));
        }
        if !call.order_by.is_empty() {
            return Err(
                SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "aggregate ORDER BY is not implemented for window functions").at(pos)
            );
        }
        let bound = self.in_clause(Clause::Window, |b| b.window_function(call))?;
        let ty = bound.ty;
        let window = self.in_clause(Clause::Window, |b| b.window(spec))?;
        let id = self.new_column(call.name.name.clone(), ty);
        let same = |w: &LogicalWindow| {
            format!("{:?}{:?}{:?}", w.partition_by, w.order_by, w.frame)
                == format!("{:?}{:?}{:?}", window.partition_by, window.order_by, window.frame)
        };
        match self.select.windows.iter().position(same) {
            Some(at) => self.select.windows[at].calls.push((id, bound)),
            None => self.select.windows.push(LogicalWindow { calls: vec![(id, bound)], ..window }),
        }
        Ok(Expr::Column(id, ty))
    }

    fn window_function(&mut self, call: &FunctionCall) -> Result<WindowCall, SqlError> {
        let pos = call.name.pos;
        let name = call.name.name.as_str();
        if function_class(name) == Some(FunctionClass::Aggregate) {
            // Its arguments are over groups, so they may be aggregates themselves.
            let aggregate = self.aggregate_parts(call).map_err(|e| e.at(pos))?;
            let ty = aggregate.function.result.into();
            return Ok(WindowCall {
                function: WindowFunction::Aggregate(aggregate.function),
                args: aggregate.args,
                filter: aggregate.filter,
                ty,
            });
        }
        let Some(function) = named(name) else {
            return Err(SqlError::new(
                SqlState::WRONG_OBJECT_TYPE,
                format!("OVER specified, but {name} is not a window function nor an aggregate function"),
            )
            .at(pos));
        };
        if call.filter.is_some() {
            return Err(
                SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "FILTER is not implemented for non-aggregate window functions").at(pos)
            );
        }
        let mut args = call.args.iter().map(|a| self.expr(&a.value)).collect::<Result<Vec<_>, _>>()?;
        let wrong = |args: &[Expr]| {
            let types: Vec<String> = args.iter().map(|e| e.ty().ty.to_string()).collect();
            Err(SqlError::new(SqlState::UNDEFINED_FUNCTION, format!("function {name}({}) does not exist", types.join(", ")))
                .hint("No function matches the given name and argument types. You might need to add explicit type casts.")
                .at(pos))
        };
        let arity = match function {
            WindowFunction::Ntile | WindowFunction::FirstValue | WindowFunction::LastValue => 1..=1,
            WindowFunction::Lag | WindowFunction::Lead => 1..=3,
            WindowFunction::NthValue => 2..=2,
            _ => 0..=0,
        };
        if !arity.contains(&args.len()) {
            return wrong(&args);
        }
        let ty: ColumnType = match function {
            WindowFunction::RowNumber | WindowFunction::Rank | WindowFunction::DenseRank => DataType::INT8.into(),
            WindowFunction::PercentRank | WindowFunction::CumeDist => DataType::FLOAT8.into(),
            WindowFunction::Ntile => {
                let count = args.remove(0);
                args.push(self.coerce(count, DataType::INT4, pos)?);
                DataType::INT4.into()
            }
            _ => {
                let value = args.remove(0);
                let value = self.resolve_unknown(value)?;
                let ty = value.ty();
                args.insert(0, value);
                if args.len() > 1 {
                    let offset = args.remove(1);
                    args.insert(1, self.coerce(offset, DataType::INT4, pos)?);
                }
                if args.len() > 2 {
                    let default = args.remove(2);
                    args.push(self.coerce(default, ty.ty, pos)?);
                }
                ty
            }
        };
        Ok(WindowCall { function, args, filter: None, ty })
    }

    fn window(&mut self, spec: &WindowSpec) -> Result<LogicalWindow, SqlError> {
        let base = match &spec.base {
            None => None,
            Some(name) => match self.select.named_windows.iter().find(|(n, _)| *n == name.value) {
                Some((_, base)) => Some(base.clone()),
                None => {
                    return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, format!("window \"{}\" does not exist", name.value)).at(name.pos));
                }
            },
        };
        let base = base.map(|b| self.window_parts(&b)).transpose()?;
        let own = self.window_parts(spec)?;
        let (partition_by, order_by, frame) = match (base, &spec.base) {
            (Some(base), Some(name)) => {
                if !own.0.is_empty() {
                    return Err(SqlError::new(
                        SqlState::WINDOWING_ERROR,
                        format!("cannot override PARTITION BY clause of window \"{}\"", name.value),
                    )
                    .at(name.pos));
                }
                if !own.1.is_empty() && !base.1.is_empty() {
                    return Err(SqlError::new(
                        SqlState::WINDOWING_ERROR,
                        format!("cannot override ORDER BY clause of window \"{}\"", name.value),
                    )
                    .at(name.pos));
                }
                (base.0, if own.1.is_empty() { base.1 } else { own.1 }, own.2.or(base.2))
            }
            _ => own,
        };
        let default = Frame { units: FrameUnits::Range, start: FrameEnd::UnboundedPreceding, end: FrameEnd::CurrentRow };
        Ok(LogicalWindow { partition_by, order_by, frame: frame.unwrap_or(default), calls: Vec::new() })
    }

    #[allow(clippy::type_complexity)] // three parts of a definition, taken apart at once by the only caller
    fn window_parts(&mut self, spec: &WindowSpec) -> Result<(Vec<Expr>, Vec<crate::plan::SortKey>, Option<Frame>), SqlError> {
        let partition_by = self.exprs(&spec.partition_by)?;
        let order_by = self.sort_keys(&spec.order_by)?;
        let frame = spec.frame.as_ref().map(|f| self.frame(f)).transpose()?;
        if let Some(frame) = &frame {
            let offset = |end: &FrameEnd| matches!(end, FrameEnd::Preceding(_) | FrameEnd::Following(_));
            if frame.units == FrameUnits::Range && (offset(&frame.start) || offset(&frame.end)) {
                return Err(SqlError::unsupported("RANGE with an offset in a window frame"));
            }
            if frame.units == FrameUnits::Groups && order_by.is_empty() {
                return Err(SqlError::new(SqlState::WINDOWING_ERROR, "GROUPS mode requires an ORDER BY clause"));
            }
        }
        Ok((partition_by, order_by, frame))
    }

    fn frame(&mut self, frame: &WindowFrame) -> Result<Frame, SqlError> {
        let invalid = |message: &'static str| Err(SqlError::new(SqlState::WINDOWING_ERROR, message));
        match (&frame.start, &frame.end) {
            (FrameBound::UnboundedFollowing, _) => return invalid("frame start cannot be UNBOUNDED FOLLOWING"),
            (_, FrameBound::UnboundedPreceding) => return invalid("frame end cannot be UNBOUNDED PRECEDING"),
            (FrameBound::CurrentRow, FrameBound::Preceding(_)) => {
                return invalid("frame starting from current row cannot have preceding rows");
            }
            (FrameBound::Following(_), FrameBound::Preceding(_) | FrameBound::CurrentRow) => {
                return invalid("frame starting from following row cannot have preceding rows");
            }
            _ => {}
        }
        Ok(Frame { units: frame.units, start: self.frame_end(&frame.start)?, end: self.frame_end(&frame.end)? })
    }

    fn frame_end(&mut self, bound: &FrameBound) -> Result<FrameEnd, SqlError> {
        Ok(match bound {
            FrameBound::UnboundedPreceding => FrameEnd::UnboundedPreceding,
            FrameBound::CurrentRow => FrameEnd::CurrentRow,
            FrameBound::UnboundedFollowing => FrameEnd::UnboundedFollowing,
            FrameBound::Preceding(e) => FrameEnd::Preceding(self.frame_offset(e)?),
            FrameBound::Following(e) => FrameEnd::Following(self.frame_offset(e)?),
        })
    }

    fn frame_offset(&mut self, expr: &crate::ast::Expr) -> Result<Expr, SqlError> {
        let offset = self.expr(expr)?;
        let offset = self.coerce(offset, DataType::INT8, expr.pos())?;
        if let Expr::Const(Datum::Null, _) = offset {
            return Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "frame starting offset must not be null").at(expr.pos()));
        }
        Ok(offset)
    }
}
