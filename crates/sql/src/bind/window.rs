//! Calls with OVER.

use super::logical::LogicalWindow;
use super::{Binder, Clause};
use crate::ast::{FrameBound, FrameExclusion, FrameUnits, FunctionCall, WindowFrame, WindowSpec};
use crate::error::{SqlError, SqlState};
use crate::expr::Expr;
use crate::functions::{FunctionClass, function_class};
use crate::plan::{Frame, FrameEnd, SortKey, WindowCall, WindowFunction};
use crate::types::coercion::CastContext;
use crate::types::{ColumnType, DataType};

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

/// PARTITION BY, ORDER BY and the frame, where one is given.
type WindowParts = (Vec<Expr>, Vec<SortKey>, Option<Frame>);

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
        let known = self.select.named_windows.len();
        let (partition_by, order_by, frame) = self.window_on_base(spec, known)?;
        let default = Frame {
            units: FrameUnits::Range,
            start: FrameEnd::UnboundedPreceding,
            end: FrameEnd::CurrentRow,
            exclude: FrameExclusion::NoOthers,
        };
        Ok(LogicalWindow { partition_by, order_by, frame: frame.unwrap_or(default), calls: Vec::new() })
    }

    /// A definition put on top of the one that it names, which is among the first `known` of the WINDOW clause.
    fn window_on_base(&mut self, spec: &WindowSpec, known: usize) -> Result<WindowParts, SqlError> {
        let own = self.window_parts(spec)?;
        let Some(name) = &spec.base else { return Ok(own) };
        let Some(at) = self.select.named_windows[..known].iter().position(|(n, _)| *n == name.value) else {
            return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, format!("window \"{}\" does not exist", name.value)).at(name.pos));
        };
        let base = self.select.named_windows[at].1.clone();
        let base = self.window_on_base(&base, at)?;
        let refused = |what: &str| {
            let message = format!("cannot {what} window \"{}\"", name.value);
            // The place is that of the bracket.
            SqlError::new(SqlState::WINDOWING_ERROR, message).at(name.pos.saturating_sub(1))
        };
        if !own.0.is_empty() {
            return Err(refused("override PARTITION BY clause of"));
        }
        if !own.1.is_empty() && !base.1.is_empty() {
            return Err(refused("override ORDER BY clause of"));
        }
        if spec.inline && base.2.is_some() {
            let error =
                SqlError::new(SqlState::WINDOWING_ERROR, format!("cannot copy window \"{}\" because it has a frame clause", name.value));
            let plain = own.1.is_empty() && own.2.is_none();
            let error = if plain { error.hint("Omit the parentheses in this OVER clause.") } else { error };
            return Err(error.at(name.pos.saturating_sub(1)));
        }
        Ok((base.0, if own.1.is_empty() { base.1 } else { own.1 }, own.2.or(base.2)))
    }

    fn window_parts(&mut self, spec: &WindowSpec) -> Result<WindowParts, SqlError> {
        let partition_by = self.exprs(&spec.partition_by)?;
        let order_by = self.sort_keys(&spec.order_by)?;
        let frame = spec.frame.as_ref().map(|f| self.frame(f, &order_by)).transpose()?;
        if frame.as_ref().is_some_and(|frame| frame.units == FrameUnits::Groups) && order_by.is_empty() {
            return Err(SqlError::new(SqlState::WINDOWING_ERROR, "GROUPS mode requires an ORDER BY clause"));
        }
        Ok((partition_by, order_by, frame))
    }

    fn frame(&mut self, frame: &WindowFrame, order_by: &[SortKey]) -> Result<Frame, SqlError> {
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
        let offset = |end: &FrameBound| matches!(end, FrameBound::Preceding(_) | FrameBound::Following(_));
        let mut ranged = None;
        if frame.units == FrameUnits::Range && (offset(&frame.start) || offset(&frame.end)) {
            let [key] = order_by else {
                return invalid("RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column");
            };
            ranged = Some(key.expr.ty().ty);
        }
        let start = self.frame_end(&frame.start, frame.units, ranged)?;
        let end = self.frame_end(&frame.end, frame.units, ranged)?;
        Ok(Frame { units: frame.units, start, end, exclude: frame.exclude })
    }

    fn frame_end(&mut self, bound: &FrameBound, units: FrameUnits, ranged: Option<DataType>) -> Result<FrameEnd, SqlError> {
        Ok(match bound {
            FrameBound::UnboundedPreceding => FrameEnd::UnboundedPreceding,
            FrameBound::CurrentRow => FrameEnd::CurrentRow,
            FrameBound::UnboundedFollowing => FrameEnd::UnboundedFollowing,
            FrameBound::Preceding(e) => FrameEnd::Preceding(self.frame_offset(e, units, ranged)?),
            FrameBound::Following(e) => FrameEnd::Following(self.frame_offset(e, units, ranged)?),
        })
    }

    /// The distance of a frame's end: rows or groups are counted, a range is measured in the type that `ordered + offset` has.
    fn frame_offset(&mut self, expr: &crate::ast::Expr, units: FrameUnits, ranged: Option<DataType>) -> Result<Expr, SqlError> {
        let offset = self.expr(expr)?;
        let mut names_column = false;
        offset.walk(&mut |e| names_column |= matches!(e, Expr::Column(..)));
        if names_column {
            let what = match units {
                FrameUnits::Rows => "ROWS",
                FrameUnits::Range => "RANGE",
                FrameUnits::Groups => "GROUPS",
            };
            let message = format!("argument of {what} must not contain variables");
            return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message).at(expr.pos()));
        }
        let given = offset.ty().ty;
        let Some(ordered) = ranged else { return self.coerce(offset, DataType::INT8, expr.pos()) };
        let refused = |message: String| Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(expr.pos()));
        let Some(measure) = measured_in(ordered) else {
            return refused(format!("RANGE with offset PRECEDING/FOLLOWING is not supported for column type {ordered}"));
        };
        let fits = given == DataType::UNKNOWN || crate::types::coercion::can_cast(given, measure, CastContext::Implicit);
        if !fits {
            let message =
                format!("RANGE with offset PRECEDING/FOLLOWING is not supported for column type {ordered} and offset type {given}");
            return refused(message).map_err(|e| e.hint("Cast the offset value to an appropriate type."));
        }
        self.coerce(offset, measure, expr.pos())
    }
}

/// In what type distances between values are measured.
fn measured_in(ordered: DataType) -> Option<DataType> {
    Some(match ordered {
        DataType::INT2 | DataType::INT4 | DataType::INT8 => DataType::INT8,
        DataType::FLOAT4 | DataType::FLOAT8 => DataType::FLOAT8,
        DataType::NUMERIC => DataType::NUMERIC,
        DataType::DATE | DataType::TIME | DataType::TIMESTAMP | DataType::TIMESTAMPTZ | DataType::INTERVAL => DataType::INTERVAL,
        _ => return None,
    })
}
