//! Running a path over a value.
//!
//! A step maps a sequence of items to a sequence.  In lax mode arrays are unwrapped where a step wants what is inside, and scalars
//! are wrapped where it wants an array; in strict mode what does not fit is an error.  Errors inside a predicate make it
//! unknown, as SQL/JSON has it.

use super::super::{Json, compare};
use super::{Arithmetic, Expr, JsonPath, Method, Predicate, Step};
use crate::error::{SqlError, SqlState};
use crate::expr::CompareOp;
use crate::functions::jsonpath_regex;
use crate::types::{Numeric, text};
use std::borrow::Cow;
use std::cell::RefCell;
use std::cmp::Ordering;

/// Items a path may yield or pass through at once.
const ITEMS_MAX: usize = 1 << 24;

type Items<'a> = Vec<Cow<'a, Json>>;

struct Run<'a> {
    root: &'a Json,
    vars: &'a Json,
    strict: bool,
    /// An error that no predicate turns into unknown: a variable that is not there.
    fatal: RefCell<Option<SqlError>>,
}

/// Where an expression stands: what `@` and `last` mean.
#[derive(Clone, Copy)]
struct Place<'p> {
    current: &'p Json,
    last: Option<usize>,
}

impl JsonPath {
    /// The items the path selects.
    pub fn query(&self, root: &Json, vars: &Json) -> Result<Vec<Json>, SqlError> {
        let run = Run { root, vars, strict: self.strict, fatal: RefCell::default() };
        let items = run.expr(&self.expr, Place { current: root, last: None })?;
        if let Some(error) = run.fatal.take() {
            return Err(error);
        }
        Ok(items.into_iter().map(Cow::into_owned).collect())
    }
}

fn error(state: &'static str, message: impl Into<Cow<'static, str>>) -> SqlError {
    SqlError::new(SqlState(state), message)
}

fn owned<'a>(value: Json) -> Items<'a> {
    vec![Cow::Owned(value)]
}

/// The parts of an item that a step in lax mode looks into: an array's elements, or the item.
fn unwrapped(item: Cow<'_, Json>) -> Items<'_> {
    match item {
        Cow::Borrowed(Json::Array(items)) => items.iter().map(Cow::Borrowed).collect(),
        Cow::Owned(Json::Array(items)) => items.into_iter().map(Cow::Owned).collect(),
        other => vec![other],
    }
}

/// A member or element, borrowed if the item is.
fn part<'a>(item: Cow<'a, Json>, find: impl Fn(&Json) -> Option<&Json>) -> Option<Cow<'a, Json>> {
    match item {
        Cow::Borrowed(value) => find(value).map(Cow::Borrowed),
        Cow::Owned(value) => find(&value).cloned().map(Cow::Owned),
    }
}

impl<'a> Run<'a> {
    fn expr(&self, expr: &Expr, place: Place<'_>) -> Result<Items<'a>, SqlError> {
        Ok(match expr {
            Expr::Root => vec![Cow::Borrowed(self.root)],
            Expr::Current => owned(place.current.clone()),
            Expr::Last => owned(Json::Number(Numeric::from(place.last.unwrap_or(0) as i64 - 1))),
            Expr::Variable(name) => match self.vars.get(name) {
                Some(value) => vec![Cow::Borrowed(value)],
                None => {
                    let missing = error("42704", format!("could not find jsonpath variable \"{name}\""));
                    *self.fatal.borrow_mut() = Some(missing.clone());
                    return Err(missing);
                }
            },
            Expr::Literal(value) => owned(value.clone()),
            Expr::Chain(base, steps) => {
                let mut items = self.expr(base, place)?;
                for step in steps {
                    items = self.step(step, items, place)?;
                    if items.len() > ITEMS_MAX {
                        return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "a jsonpath expression selects too many items"));
                    }
                }
                items
            }
            Expr::Arithmetic(op, left, right) => owned(Json::Number(self.arithmetic(*op, left, right, place)?)),
            Expr::Sign(negative, operand) => self.signed(*negative, operand, place)?,
            Expr::Predicate(predicate) => owned(self.predicate(predicate, place).map_or(Json::Null, Json::Bool)),
        })
    }

    fn arithmetic(&self, op: Arithmetic, left: &Expr, right: &Expr, place: Place<'_>) -> Result<Numeric, SqlError> {
        let operand = |expr: &Expr, side: &str| {
            let items = self.lax_items(expr, place)?;
            match items.as_slice() {
                [item] if let Json::Number(n) = &**item => Ok(n.clone()),
                _ => Err(error("22038", format!("{side} operand of jsonpath operator {} is not a single numeric value", op.symbol()))),
            }
        };
        let (left, right) = (operand(left, "left")?, operand(right, "right")?);
        Ok(match op {
            Arithmetic::Add => left.add(&right),
            Arithmetic::Sub => left.sub(&right),
            Arithmetic::Mul => left.mul(&right),
            Arithmetic::Div => left.div(&right)?,
            Arithmetic::Mod => left.rem(&right)?,
        })
    }

    fn signed(&self, negative: bool, operand: &Expr, place: Place<'_>) -> Result<Items<'a>, SqlError> {
        let symbol = if negative { "-" } else { "+" };
        let number = |item: Cow<'a, Json>| match item.into_owned() {
            Json::Number(n) => Ok(Cow::Owned(Json::Number(if negative { n.neg() } else { n }))),
            _ => Err(error("2203B", format!("operand of unary jsonpath operator {symbol} is not a numeric value"))),
        };
        self.lax_items(operand, place)?.into_iter().map(number).collect()
    }

    /// The items of an operand; in lax mode arrays among them are unwrapped.
    fn lax_items(&self, expr: &Expr, place: Place<'_>) -> Result<Items<'a>, SqlError> {
        let items = self.expr(expr, place)?;
        Ok(if self.strict { items } else { items.into_iter().flat_map(unwrapped).collect() })
    }

    // ---- steps

    fn step(&self, step: &Step, items: Items<'a>, place: Place<'_>) -> Result<Items<'a>, SqlError> {
        let mut out = Vec::new();
        for item in items {
            match step {
                Step::Key(name) => self.member(name, item, &mut out)?,
                Step::AnyKey => self.members(item, &mut out)?,
                Step::AnyElement => match &*item {
                    Json::Array(_) => out.extend(unwrapped(item)),
                    _ if self.strict => {
                        return Err(error("22039", "jsonpath wildcard array accessor can only be applied to an array"));
                    }
                    _ => out.push(item),
                },
                Step::Elements(list) => self.elements(list, item, place, &mut out)?,
                Step::Descend(first, last) => descend(item, 0, *first, *last, &mut out),
                Step::Filter(predicate) => {
                    let inner = if self.strict { vec![item] } else { unwrapped(item) };
                    out.extend(inner.into_iter().filter(|item| self.predicate(predicate, Place { current: item, ..place }) == Some(true)));
                }
                Step::Method(method) => self.method(*method, item, &mut out)?,
            }
        }
        Ok(out)
    }

    fn member(&self, name: &str, item: Cow<'a, Json>, out: &mut Items<'a>) -> Result<(), SqlError> {
        match &*item {
            Json::Object(_) => match part(item, |value| value.get(name)) {
                Some(found) => out.push(found),
                None if self.strict => return Err(error("2203A", format!("JSON object does not contain key \"{name}\""))),
                None => {}
            },
            Json::Array(_) if !self.strict => {
                out.extend(unwrapped(item).into_iter().filter_map(|inner| part(inner, |value| value.get(name))));
            }
            _ if self.strict => return Err(error("2203A", "jsonpath member accessor can only be applied to an object")),
            _ => {}
        }
        Ok(())
    }

    fn members(&self, item: Cow<'a, Json>, out: &mut Items<'a>) -> Result<(), SqlError> {
        if self.strict && !matches!(*item, Json::Object(_)) {
            return Err(error("2203C", "jsonpath wildcard member accessor can only be applied to an object"));
        }
        let parts = if self.strict { vec![item] } else { unwrapped(item) };
        for part in parts {
            match part {
                Cow::Borrowed(Json::Object(pairs)) => out.extend(pairs.iter().map(|(_, value)| Cow::Borrowed(value))),
                Cow::Owned(Json::Object(pairs)) => out.extend(pairs.into_iter().map(|(_, value)| Cow::Owned(value))),
                _ => {}
            }
        }
        Ok(())
    }

    fn elements(&self, list: &[(Expr, Option<Expr>)], item: Cow<'a, Json>, place: Place<'_>, out: &mut Items<'a>) -> Result<(), SqlError> {
        let items = match &*item {
            Json::Array(_) => unwrapped(item),
            _ if self.strict => return Err(error("22039", "jsonpath array accessor can only be applied to an array")),
            _ => vec![item],
        };
        let length = items.len() as i64;
        let place = Place { last: Some(items.len()), ..place };
        for (from, to) in list {
            let from = self.subscript(from, place)?;
            let to = to.as_ref().map_or(Ok(from), |to| self.subscript(to, place))?;
            if self.strict && (from < 0 || from > to || to >= length) {
                return Err(error("22033", "jsonpath array subscript is out of bounds"));
            }
            let chosen = from.max(0)..=to.min(length - 1);
            out.extend(chosen.filter_map(|at| items.get(at as usize).cloned()));
        }
        Ok(())
    }

    fn subscript(&self, expr: &Expr, place: Place<'_>) -> Result<i64, SqlError> {
        let items = self.expr(expr, place)?;
        match items.as_slice() {
            [item] if let Json::Number(n) = &**item => {
                n.trunc(0).to_i64("integer").map_err(|_| error("22033", "jsonpath array subscript is out of integer range"))
            }
            _ => Err(error("22033", "jsonpath array subscript is not a single numeric value")),
        }
    }

    fn method(&self, method: Method, item: Cow<'a, Json>, out: &mut Items<'a>) -> Result<(), SqlError> {
        let number = |n: i64| Json::Number(Numeric::from(n));
        match method {
            Method::Type => out.push(Cow::Owned(Json::string(item.type_name()))),
            Method::Size => match &*item {
                Json::Array(items) => out.push(Cow::Owned(number(items.len() as i64))),
                _ if self.strict => return Err(error("22039", "jsonpath item method .size() can only be applied to an array")),
                _ => out.push(Cow::Owned(number(1))),
            },
            _ => {
                let parts = if self.strict { vec![item] } else { unwrapped(item) };
                for (at, part) in parts.into_iter().enumerate() {
                    one_method(method, &part, at, out)?;
                }
            }
        }
        Ok(())
    }

    // ---- predicates

    /// `None` is unknown; errors inside make it so.
    fn predicate(&self, predicate: &Predicate, place: Place<'_>) -> Option<bool> {
        match predicate {
            Predicate::And(left, right) => match self.predicate(left, place) {
                Some(false) => Some(false),
                first => match (first, self.predicate(right, place)) {
                    (_, Some(false)) => Some(false),
                    (Some(true), second) => second,
                    _ => None,
                },
            },
            Predicate::Or(left, right) => match self.predicate(left, place) {
                Some(true) => Some(true),
                first => match (first, self.predicate(right, place)) {
                    (_, Some(true)) => Some(true),
                    (Some(false), second) => second,
                    _ => None,
                },
            },
            Predicate::Not(inner) => self.predicate(inner, place).map(|value| !value),
            Predicate::IsUnknown(inner) => Some(self.predicate(inner, place).is_none()),
            Predicate::Exists(expr) => self.expr(expr, place).ok().map(|items| !items.is_empty()),
            Predicate::Compare(op, left, right) => self.pairs(left, right, place, |a, b| compared(*op, a, b)),
            Predicate::StartsWith(value, start) => self.pairs(value, start, place, |a, b| match (a, b) {
                (Json::String(a), Json::String(b)) => Some(a.starts_with(b.as_str())),
                _ => None,
            }),
            Predicate::LikeRegex { value, pattern, flags } => {
                let regex = jsonpath_regex(pattern, flags).ok()?;
                let items = self.lax_items(value, place).ok()?;
                self.any(items.iter().map(|item| match &**item {
                    Json::String(text) => Some(regex.is_match(text)),
                    _ => None,
                }))
            }
        }
    }

    fn pairs(&self, left: &Expr, right: &Expr, place: Place<'_>, test: impl Fn(&Json, &Json) -> Option<bool>) -> Option<bool> {
        let left = self.lax_items(left, place).ok()?;
        let right = self.lax_items(right, place).ok()?;
        let test = &test;
        self.any(left.iter().flat_map(|a| right.iter().map(move |b| test(a, b))))
    }

    /// True if any is; in strict mode an unknown one makes all unknown, in lax mode the first answer decides.
    fn any(&self, answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
        let (mut found, mut unknown) = (false, false);
        for answer in answers {
            match answer {
                None if self.strict => return None,
                None => unknown = true,
                Some(true) if !self.strict => return Some(true),
                Some(value) => found |= value,
            }
        }
        if found {
            Some(true)
        } else if unknown {
            None
        } else {
            Some(false)
        }
    }
}

fn compared(op: CompareOp, a: &Json, b: &Json) -> Option<bool> {
    let order = match (a, b) {
        (Json::Null, Json::Null) => Ordering::Equal,
        // null differs from everything, and is comparable with everything.
        (Json::Null, _) | (_, Json::Null) => return Some(op == CompareOp::Ne),
        (Json::Bool(a), Json::Bool(b)) => a.cmp(b),
        (Json::Number(a), Json::Number(b)) => a.cmp(b),
        (Json::String(a), Json::String(b)) if matches!(op, CompareOp::Eq | CompareOp::Ne) => a.cmp(b),
        (Json::String(_), Json::String(_)) => compare::cmp(a, b),
        _ => return None,
    };
    Some(op.holds(order))
}

/// The item itself and what is below it, at the levels wanted; `None` is the deepest level.
fn descend<'a>(item: Cow<'a, Json>, level: u32, first: Option<u32>, last: Option<u32>, out: &mut Items<'a>) {
    let is_leaf = !item.is_container();
    let wanted = match first {
        None => is_leaf,
        Some(first) => level >= first && last.is_none_or(|last| level <= last),
    };
    if wanted {
        out.push(item.clone());
    }
    if first.is_some() && last.is_some_and(|last| level >= last) {
        return;
    }
    match item {
        Cow::Borrowed(Json::Array(items)) => items.iter().for_each(|item| descend(Cow::Borrowed(item), level + 1, first, last, out)),
        Cow::Owned(Json::Array(items)) => items.into_iter().for_each(|item| descend(Cow::Owned(item), level + 1, first, last, out)),
        Cow::Borrowed(Json::Object(pairs)) => pairs.iter().for_each(|(_, v)| descend(Cow::Borrowed(v), level + 1, first, last, out)),
        Cow::Owned(Json::Object(pairs)) => pairs.into_iter().for_each(|(_, v)| descend(Cow::Owned(v), level + 1, first, last, out)),
        _ => {}
    }
}

fn one_method<'a>(method: Method, item: &Json, at: usize, out: &mut Items<'a>) -> Result<(), SqlError> {
    let value = match (method, item) {
        (Method::Double, Json::Number(n)) => Json::Number(Numeric::from_f64(n.to_f64())),
        (Method::Double, Json::String(string)) => match text::float::parse_f64(string) {
            Ok(x) if x.is_finite() => Json::Number(Numeric::from_f64(x)),
            _ => {
                return Err(error(
                    "22036",
                    "string argument of jsonpath item method .double() is not a valid representation of a double precision number",
                ));
            }
        },
        (Method::Double, _) => {
            return Err(error("22036", "jsonpath item method .double() can only be applied to a string or numeric value"));
        }
        (Method::Ceiling, Json::Number(n)) => Json::Number(n.ceil()),
        (Method::Floor, Json::Number(n)) => Json::Number(n.floor()),
        (Method::Abs, Json::Number(n)) => Json::Number(n.abs()),
        (Method::KeyValue, Json::Object(pairs)) => {
            out.extend(pairs.iter().map(|(key, value)| Cow::Owned(key_value(key, value, at))));
            return Ok(());
        }
        (Method::KeyValue, _) => return Err(error("2203C", "jsonpath item method .keyvalue() can only be applied to an object")),
        _ => {
            return Err(error("22036", format!("jsonpath item method .{}() can only be applied to a numeric value", method.name())));
        }
    };
    out.push(Cow::Owned(value));
    Ok(())
}

fn key_value(key: &str, value: &Json, at: usize) -> Json {
    let id = Json::Number(Numeric::from(at as i64));
    Json::object(vec![("key".into(), Json::string(key)), ("value".into(), value.clone()), ("id".into(), id)])
}
