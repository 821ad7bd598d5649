//! Expressions against PostgreSQL 15: every line of `expressions/postgres15.txt` is an expression and what that server said of it.
//!
//! The binder here is the smallest that serves: it knows no tables, only what types, functions and operators an expression
//! resolves to. Lines that differ on purpose are listed, with the reason, in `expressions/differences.txt`.

use std::collections::HashMap;
use std::fmt::Write;
use tidelock_sql::ast::{self, LikeKind, Literal};
use tidelock_sql::error::{SqlError, SqlState};
use tidelock_sql::expr::{CompareOp, EvalContext, Expr, eval, fold};
use tidelock_sql::functions::{resolve_aggregate, resolve_function, resolve_operator, resolve_set_function};
use tidelock_sql::parse;
use tidelock_sql::types::coercion::{CastContext, can_cast};
use tidelock_sql::types::{
    ColumnType, DataType, Datum, FormatSettings, Numeric, array_of, binary, catalog, common_type, element_of, lookup_type_name, text,
};

type Bound = Result<Expr, SqlError>;

fn constant(value: Datum, ty: DataType) -> Expr {
    Expr::Const(value, ty.into())
}

struct Binder<'a> {
    ctx: EvalContext<'a>,
}

impl Binder<'_> {
    fn bind(&self, expr: &ast::Expr) -> Bound {
        use ast::Expr as E;
        Ok(match expr {
            E::Literal(literal, _) => bind_literal(literal)?,
            E::Unary { op, expr, .. } => self.operator(op, None, expr)?,
            E::Binary { op, left, right, .. } => self.operator(op, Some(left), right)?,
            E::And(list) => Expr::And(self.conditions(list)?),
            E::Or(list) => Expr::Or(self.conditions(list)?),
            E::Not(expr) => Expr::Not(Box::new(self.condition(expr)?)),
            E::IsNull { expr, negated } => Expr::IsNull { expr: Box::new(self.bind(expr)?), negated: *negated },
            E::IsBool { expr, value, negated } => Expr::IsBool { expr: Box::new(self.condition(expr)?), value: *value, negated: *negated },
            E::IsDistinct { left, right, negated, .. } => {
                let (left, right, _) = self.pair("=", left, right)?;
                Expr::IsDistinct { left: Box::new(left), right: Box::new(right), negated: *negated }
            }
            E::Between { expr, low, high, negated, .. } => {
                let both = Expr::And(vec![self.operator(">=", Some(expr), low)?, self.operator("<=", Some(expr), high)?]);
                if *negated { Expr::Not(Box::new(both)) } else { both }
            }
            E::Like { kind, expr, pattern, escape, negated, .. } => self.like(*kind, expr, pattern, escape.as_deref(), *negated)?,
            E::InList { expr, list, negated, .. } => {
                let mut all = vec![self.bind(expr)?];
                for item in list {
                    all.push(self.bind(item)?);
                }
                let ty = common_type(&all.iter().map(|e| e.ty().ty).collect::<Vec<_>>(), "IN")?;
                let mut all = all.into_iter().map(|e| self.coerce(e, ty.into(), false)).collect::<Result<Vec<_>, _>>()?;
                let expr = Box::new(all.remove(0));
                Expr::InList { expr, list: all, negated: *negated }
            }
            E::AnyAll { left, op, all, array, .. } => self.any_all(left, op, *all, array)?,
            E::Cast { expr, ty, .. } => {
                let to = resolve_type(ty)?;
                let expr = self.bind(expr)?;
                let expr = match expr {
                    // ARRAY[]::int[]
                    Expr::Array(list, _) if list.is_empty() => Expr::Array(list, to),
                    other => other,
                };
                self.coerce(expr, to, true)?
            }
            E::Collate { expr, .. } => self.bind(expr)?,
            E::Case { operand, whens, otherwise, .. } => self.case(operand.as_deref(), whens, otherwise.as_deref())?,
            E::Function(call) => self.call(call)?,
            E::Row(list, _) => Expr::row(list.iter().map(|e| self.bind_text(e)).collect::<Result<_, _>>()?),
            E::Array(list, _) => self.array(list)?,
            E::Subscript { expr, subscripts, .. } => {
                let array = self.bind(expr)?;
                let ty = element_of(array.ty().ty).ok_or_else(|| SqlError::unsupported("subscript"))?;
                let mut indexes = Vec::new();
                for subscript in subscripts {
                    let ast::Subscript::Index(index) = subscript else { return Err(SqlError::unsupported("slice")) };
                    indexes.push(self.coerce(self.bind(index)?, DataType::INT4.into(), false)?);
                }
                Expr::Subscript { array: Box::new(array), indexes, ty: ty.into() }
            }
            other => return Err(SqlError::unsupported(format!("{other:?}"))),
        })
    }

    /// Unknown becomes text where nothing else is asked.
    fn bind_text(&self, expr: &ast::Expr) -> Bound {
        let bound = self.bind(expr)?;
        if bound.ty().ty == DataType::UNKNOWN { self.coerce(bound, DataType::TEXT.into(), false) } else { Ok(bound) }
    }

    fn condition(&self, expr: &ast::Expr) -> Bound {
        self.coerce(self.bind(expr)?, Expr::BOOL, false)
    }

    fn conditions(&self, list: &[ast::Expr]) -> Result<Vec<Expr>, SqlError> {
        list.iter().map(|e| self.condition(e)).collect()
    }

    fn coerce(&self, expr: Expr, to: ColumnType, explicit: bool) -> Bound {
        let from = expr.ty();
        if let Expr::Const(value, ty) = &expr
            && ty.ty == DataType::UNKNOWN
        {
            let Datum::Text(literal) = value else { return Ok(Expr::Const(Datum::Null, to)) };
            // The fields of an interval's type say what a bare number counts.
            let reading = if to.ty == DataType::INTERVAL { to } else { to.ty.into() };
            let parsed = text::parse(literal, reading, &self.ctx.text())?;
            let expr = Expr::Const(parsed, to.ty.into());
            return Ok(if to.typmod < 0 { expr } else { Expr::Cast { expr: Box::new(expr), to, explicit } });
        }
        if from == to {
            return Ok(expr);
        }
        let context = if explicit { CastContext::Explicit } else { CastContext::Implicit };
        if !can_cast(from.ty, to.ty, context) {
            return Err(SqlError::new(SqlState::CANNOT_COERCE, format!("cannot cast type {} to {}", from.ty, to.ty)));
        }
        Ok(Expr::Cast { expr: Box::new(expr), to, explicit })
    }

    fn coerce_all(&self, list: Vec<Expr>, types: &[DataType]) -> Result<Vec<Expr>, SqlError> {
        list.into_iter().zip(types).map(|(e, ty)| self.coerce(e, (*ty).into(), false)).collect()
    }

    fn pair(&self, op: &str, left: &ast::Expr, right: &ast::Expr) -> Result<(Expr, Expr, tidelock_sql::functions::Resolved), SqlError> {
        let (left, right) = (self.bind(left)?, self.bind(right)?);
        let resolved = resolve_operator(op, Some(left.ty().ty), right.ty().ty)?;
        let left = self.coerce(left, resolved.arg_types[0].into(), false)?;
        let right = self.coerce(right, resolved.arg_types[1].into(), false)?;
        Ok((left, right, resolved))
    }

    fn operator(&self, op: &str, left: Option<&ast::Expr>, right: &ast::Expr) -> Bound {
        if let (Some(ast::Expr::Row(left, _)), ast::Expr::Row(right, _)) = (left, right) {
            return self.row_compare(op, left, right);
        }
        let Some(left) = left else {
            // A signed number is one literal.
            if let (ast::Expr::Literal(Literal::Number(digits), _), "-") = (right, op)
                && !digits.starts_with('-')
            {
                return bind_literal(&Literal::Number(format!("-{digits}")));
            }
            let right = self.bind(right)?;
            let resolved = resolve_operator(op, None, right.ty().ty)?;
            let args = self.coerce_all(vec![right], &resolved.arg_types)?;
            return Ok(Expr::Call { func: resolved.func, args, ty: resolved.result.into() });
        };
        let (left, right, resolved) = self.pair(op, left, right)?;
        Ok(Expr::Call { func: resolved.func, args: vec![left, right], ty: resolved.result.into() })
    }

    fn row_compare(&self, op: &str, left: &[ast::Expr], right: &[ast::Expr]) -> Bound {
        let ops = [CompareOp::Eq, CompareOp::Ne, CompareOp::Lt, CompareOp::Le, CompareOp::Gt, CompareOp::Ge];
        let op = ops.into_iter().find(|o| o.symbol() == op).ok_or_else(|| SqlError::unsupported(op))?;
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for (x, y) in left.iter().zip(right) {
            let (x, y, _) = self.pair("=", x, y)?;
            a.push(x);
            b.push(y);
        }
        Ok(Expr::RowCompare { op, left: a, right: b })
    }

    fn like(&self, kind: LikeKind, expr: &ast::Expr, pattern: &ast::Expr, escape: Option<&ast::Expr>, negated: bool) -> Bound {
        let op = match (kind, negated) {
            (LikeKind::Like, false) => "~~",
            (LikeKind::Like, true) => "!~~",
            (LikeKind::ILike, false) => "~~*",
            (LikeKind::ILike, true) => "!~~*",
            (LikeKind::SimilarTo, false) => "~",
            (LikeKind::SimilarTo, true) => "!~",
        };
        let mut pattern = self.bind(pattern)?;
        let function = if kind == LikeKind::SimilarTo { "similar_to_escape" } else { "like_escape" };
        if escape.is_some() || kind == LikeKind::SimilarTo {
            let mut args = vec![pattern];
            args.extend(escape.map(|e| self.bind(e)).transpose()?);
            pattern = self.function(function, args)?;
        }
        let left = self.bind(expr)?;
        let resolved = resolve_operator(op, Some(left.ty().ty), pattern.ty().ty)?;
        let args = self.coerce_all(vec![left, pattern], &resolved.arg_types)?;
        Ok(Expr::Call { func: resolved.func, args, ty: resolved.result.into() })
    }

    fn any_all(&self, left: &ast::Expr, op: &str, all: bool, array: &ast::Expr) -> Bound {
        let (left, array) = (self.bind(left)?, self.bind(array)?);
        let element = element_of(array.ty().ty).unwrap_or(DataType::UNKNOWN);
        let resolved = resolve_operator(op, Some(left.ty().ty), element)?;
        let array_type = array_of(resolved.arg_types[1]).unwrap_or(array.ty().ty);
        Ok(Expr::AnyAll {
            func: resolved.func,
            left: Box::new(self.coerce(left, resolved.arg_types[0].into(), false)?),
            array: Box::new(self.coerce(array, array_type.into(), false)?),
            all,
        })
    }

    fn case(&self, operand: Option<&ast::Expr>, whens: &[(ast::Expr, ast::Expr)], otherwise: Option<&ast::Expr>) -> Bound {
        let otherwise = otherwise.map(|e| self.bind(e)).transpose()?;
        let mut types: Vec<DataType> = otherwise.iter().map(|e| e.ty().ty).collect();
        let mut bound = Vec::new();
        for (when, then) in whens {
            let when = match operand {
                Some(operand) => self.operator("=", Some(operand), when)?,
                None => self.condition(when)?,
            };
            let then = self.bind(then)?;
            types.push(then.ty().ty);
            bound.push((when, then));
        }
        let ty: ColumnType = common_type(&types, "CASE")?.into();
        let otherwise = otherwise.map(|e| self.coerce(e, ty, false)).transpose()?.map(Box::new);
        let whens = bound.into_iter().map(|(when, then)| Ok((when, self.coerce(then, ty, false)?))).collect::<Result<_, SqlError>>()?;
        Ok(Expr::Case { whens, otherwise, ty })
    }

    fn array(&self, list: &[ast::Expr]) -> Bound {
        let items = list.iter().map(|e| self.bind(e)).collect::<Result<Vec<_>, _>>()?;
        let element = common_type(&items.iter().map(|e| e.ty().ty).collect::<Vec<_>>(), "ARRAY")?;
        let ty = if element.is_array() { element } else { array_of(element).ok_or_else(|| SqlError::unsupported("array"))? };
        let items = items.into_iter().map(|e| self.coerce(e, element.into(), false)).collect::<Result<_, _>>()?;
        Ok(Expr::Array(items, ty.into()))
    }

    fn call(&self, call: &ast::FunctionCall) -> Bound {
        let args = call.args.iter().map(|a| self.bind(&a.value)).collect::<Result<Vec<_>, _>>()?;
        let name = call.name.name.as_str();
        if call.special && matches!(name, "coalesce" | "greatest" | "least") {
            let ty: ColumnType = common_type(&args.iter().map(|e| e.ty().ty).collect::<Vec<_>>(), &name.to_uppercase())?.into();
            let args = args.into_iter().map(|e| self.coerce(e, ty, false)).collect::<Result<Vec<_>, _>>()?;
            return Ok(if name == "coalesce" { Expr::Coalesce(args, ty) } else { Expr::MinMax(args, name == "greatest", ty) });
        }
        if call.special && name == "nullif" {
            let ty = args[0].ty();
            let same = self.operator("=", Some(&call.args[0].value), &call.args[1].value)?;
            let null = Expr::Const(Datum::Null, ty);
            return Ok(Expr::Case {
                whens: vec![(same, null)],
                otherwise: Some(Box::new(args.into_iter().next().expect("NULLIF has arguments"))),
                ty,
            });
        }
        self.function(name, args)
    }

    fn function(&self, name: &str, args: Vec<Expr>) -> Bound {
        let types: Vec<DataType> = args.iter().map(|e| e.ty().ty).collect();
        let resolved = resolve_function(name, &types)?;
        let args = self.coerce_all(args, &resolved.arg_types)?;
        Ok(Expr::Call { func: resolved.func, args, ty: resolved.result.into() })
    }
}

fn bind_literal(literal: &Literal) -> Bound {
    Ok(match literal {
        Literal::Null => constant(Datum::Null, DataType::UNKNOWN),
        Literal::Bool(b) => constant(Datum::Bool(*b), DataType::BOOL),
        Literal::String(s) => constant(Datum::text(s.as_str()), DataType::UNKNOWN),
        Literal::Number(digits) => match (digits.parse::<i32>(), digits.parse::<i64>()) {
            (Ok(n), _) => constant(Datum::Int4(n), DataType::INT4),
            (_, Ok(n)) => constant(Datum::Int8(n), DataType::INT8),
            _ => constant(Datum::Numeric(Numeric::parse(digits)?), DataType::NUMERIC),
        },
        Literal::Bits(_) => return Err(SqlError::unsupported("bit strings")),
    })
}

fn resolve_type(name: &ast::TypeName) -> Result<ColumnType, SqlError> {
    let unknown = || SqlError::new(SqlState::UNDEFINED_OBJECT, format!("type \"{}\" does not exist", name.name));
    let base = lookup_type_name(&name.name).ok_or_else(unknown)?;
    let ty = if name.array_dims > 0 { array_of(base).ok_or_else(unknown)? } else { base };
    let typmod = match (base, name.modifiers.as_slice()) {
        (_, []) => -1,
        (DataType::NUMERIC, [precision]) => catalog::make_numeric_typmod(*precision, 0),
        (DataType::NUMERIC, [precision, scale, ..]) => catalog::make_numeric_typmod(*precision, *scale),
        (DataType::VARCHAR | DataType::BPCHAR, [length, ..]) => *length + 4,
        (DataType::INTERVAL, [fields, precision @ ..]) => *fields << 16 | precision.first().copied().unwrap_or(0xFFFF),
        (_, [precision, ..]) => *precision,
    };
    Ok(ColumnType { ty, typmod })
}

fn show(value: &Datum, ty: DataType, ctx: &EvalContext<'_>) -> String {
    if value.is_null() { "NULL".into() } else { text::to_string(value, ty, &ctx.text()) }
}

fn run(line: &str, ctx: &EvalContext<'_>) -> Result<String, SqlError> {
    let binder = Binder { ctx: *ctx };
    if let Some(aggregate) = line.strip_prefix('@').filter(|rest| rest.starts_with(char::is_alphabetic)) {
        let (name, rest) = aggregate.split_once(' ').expect("an aggregate and its array");
        let (array, ty) = rest.rsplit_once(' ').expect("an array and its element type");
        let ty = lookup_type_name(ty).expect("a known type");
        let Datum::Array(array) = text::parse(array, array_of(ty).expect("a type with arrays").into(), &ctx.text())? else {
            unreachable!()
        };
        let resolved = resolve_aggregate(name, &[ty])?;
        // Whole, and as two halves merged: the answer may not depend on where the rows were cut (but for a float's last digit).
        let (mut whole, mut first, mut second) = (resolved.accumulator(), resolved.accumulator(), resolved.accumulator());
        for (at, element) in array.elements.iter().enumerate() {
            let half = if at < 2 { &mut first } else { &mut second };
            let args = [tidelock_sql::types::cast::cast(element.clone(), ty, resolved.arg_types[0].into(), false, ctx)?];
            half.accumulate(ctx, &args)?;
            whole.accumulate(ctx, &args)?;
        }
        first.merge(second)?;
        let (whole, merged) = (show(&whole.finish(ctx)?, resolved.result, ctx), show(&first.finish(ctx)?, resolved.result, ctx));
        assert!(whole == merged || resolved.result == DataType::FLOAT8, "{line}: {whole} or {merged}");
        return Ok(whole);
    }
    if let Some(set) = line.strip_prefix('*') {
        let ast::Expr::Function(call) = parse::parse_expression(set)? else { unreachable!() };
        let args = call.args.iter().map(|a| binder.bind(&a.value)).collect::<Result<Vec<_>, _>>()?;
        let types: Vec<DataType> = args.iter().map(|e| e.ty().ty).collect();
        let resolved = resolve_set_function(&call.name.name, &types)?;
        let args = binder.coerce_all(args, &resolved.arg_types)?;
        let values = args.iter().map(|e| eval(e, &[], ctx)).collect::<Result<Vec<_>, _>>()?;
        let rows = resolved.call(ctx, &values)?.map(|row| Ok(show(&row?, resolved.result, ctx))).collect::<Result<Vec<_>, SqlError>>()?;
        return Ok(rows.join("|"));
    }
    let expr = binder.bind_text(&parse::parse_expression(line)?)?;
    let direct = eval(&expr, &[], ctx)?;
    let ty = expr.ty().ty;
    let folded = eval(&fold(expr, ctx), &[], ctx)?;
    let shown = show(&direct, ty, ctx);
    assert_eq!(shown, show(&folded, ty, ctx), "folding changed {line}");
    Ok(shown)
}

fn lines(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter(|l| !l.starts_with("# ")).filter_map(|l| l.split_once("  =>  "))
}

#[test]
fn expressions_agree_with_postgres() {
    let settings = FormatSettings::default();
    let ctx = EvalContext::bare(&settings);
    let differences: HashMap<&str, &str> = lines(include_str!("expressions/differences.txt")).collect();
    let mut report = String::new();
    let mut count = 0;
    // More expressions than are kept can be recorded (`expressions/record.py`) and checked by naming their file.
    let more = std::env::var("TIDELOCK_EXPRESSIONS").map(|path| std::fs::read_to_string(path).unwrap()).unwrap_or_default();
    for (line, recorded) in lines(include_str!("expressions/postgres15.txt")).chain(lines(&more)) {
        let answer = match run(line, &ctx) {
            Ok(value) => value.replace('\n', "\\n"),
            Err(error) => format!("! {} {}", error.state().0, error.fields().message),
        };
        let expected = differences.get(line).copied().unwrap_or(recorded);
        count += 1;
        if answer != expected {
            let _ = writeln!(report, "{line}\n    PostgreSQL: {expected}\n    here:       {answer}");
        }
    }
    assert!(count > 500, "only {count} expressions were read");
    assert!(report.is_empty(), "\n{report}");
}

#[test]
fn binary_forms_agree_with_postgres() {
    let settings = FormatSettings::default();
    let ctx = EvalContext::bare(&settings);
    for (line, hex) in lines(include_str!("expressions/binary.txt")) {
        let (name, shown) = line.split_once("  |  ").unwrap();
        let ty = lookup_type_name(name).unwrap();
        let bytes = text::bytes::parse_hex(hex).unwrap();
        let value = text::parse(shown, ty.into(), &ctx.text()).unwrap();
        let mut encoded = Vec::new();
        binary::encode(&value, ty, &mut encoded).unwrap();
        assert_eq!(encoded, bytes, "{line}");
        let decoded = binary::decode(&bytes, ty).unwrap();
        assert_eq!(show(&decoded, ty, &ctx), show(&value, ty, &ctx), "{line}");
        for cut in 0..bytes.len() {
            // Whatever a client sends, the answer is a value or an error.
            let _ = binary::decode(&bytes[..cut], ty);
        }
    }
}

#[test]
fn settings_change_forms_as_in_postgres() {
    let mut report = String::new();
    for (line, recorded) in lines(include_str!("expressions/settings.txt")) {
        let parts: Vec<&str> = line.splitn(6, '|').collect();
        let mut settings = FormatSettings::default();
        settings.set_date_style(parts[0]).unwrap();
        settings.set_interval_style(parts[1]).unwrap();
        settings.set_time_zone(parts[2]).unwrap();
        settings.extra_float_digits = parts[3].parse().unwrap();
        settings.set_bytea_output(parts[4]).unwrap();
        let answer = match run(parts[5], &EvalContext::bare(&settings)) {
            Ok(value) => value,
            Err(error) => format!("! {} {}", error.state().0, error.fields().message),
        };
        if answer != recorded {
            let _ = writeln!(report, "{line}\n    PostgreSQL: {recorded}\n    here:       {answer}");
        }
    }
    assert!(report.is_empty(), "\n{report}");
}

/// Steps of a small generator of numbers, so that a failure repeats.
fn next(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize
}

/// Damaged literals of every kind read as every type: a value or an error, never a panic; and what is read can be written.
#[test]
fn no_text_makes_a_reader_panic() {
    const TYPES: &[&str] = &[
        "int2",
        "int4",
        "int8",
        "numeric",
        "float4",
        "float8",
        "bool",
        "date",
        "time",
        "timestamp",
        "timestamptz",
        "interval",
        "uuid",
        "bytea",
        "oid",
        "regtype",
        "int4[]",
        "text[]",
        "int2vector",
        "\"char\"",
        "name",
    ];
    let mut settings = FormatSettings::default();
    settings.set_time_zone("America/New_York").unwrap();
    let ctx = EvalContext::bare(&settings);
    let literals: Vec<&str> = include_str!("expressions/postgres15.txt").split('\'').skip(1).step_by(2).filter(|l| l.len() < 60).collect();
    let mut state = 42;
    for round in 0..6000 {
        let mut text: Vec<char> = literals[round % literals.len()].chars().collect();
        for _ in 0..next(&mut state) % 3 {
            let other: Vec<char> = literals[next(&mut state) % literals.len()].chars().collect();
            let at = next(&mut state) % (text.len() + 1);
            match next(&mut state) % 4 {
                0 if !text.is_empty() => drop(text.remove(at % text.len())),
                1 => text.insert(at, "0123456789-+:.eTé {}[],\"\\/".chars().nth(next(&mut state) % 26).unwrap()),
                2 => text.splice(at..at, other).for_each(drop),
                _ => text.insert(at, '9'),
            }
        }
        let text: String = text.into_iter().collect();
        for name in TYPES {
            let ty = lookup_type_name(name).unwrap();
            if let Ok(value) = text::parse(&text, ty.into(), &ctx.text()) {
                let shown = show(&value, ty, &ctx);
                // bytea's escape form and infinite years aside, what was written reads back as the same.
                if !value.is_null()
                    && let Ok(again) = text::parse(&shown, ty.into(), &ctx.text())
                {
                    assert_eq!(show(&again, ty, &ctx), shown, "{text:?} as {name}");
                }
            }
        }
        let _ = run(&format!("to_date('{}', 'YYYY-MM-DD')", text.replace('\'', "")), &ctx);
        let _ = run(&format!("to_char(1234.5, '{}')", text.replace('\'', "")), &ctx);
        let _ = run(&format!("to_char(now(), '{}')", text.replace('\'', "")), &ctx);
    }
}
