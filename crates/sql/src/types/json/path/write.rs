//! A path's text form, with the quotes and parentheses that PostgreSQL puts.

use super::super::{Json, write_string};
use super::{Arithmetic, Expr, JsonPath, Predicate, Step};
use std::fmt::Write;

impl std::fmt::Display for JsonPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = String::new();
        out.push_str(if self.strict { "strict " } else { "" });
        write_expr(&self.expr, true, &mut out);
        f.write_str(&out)
    }
}

/// How tightly an operation binds; an operand that binds no tighter stands in parentheses.
fn priority(expr: &Expr) -> u8 {
    match expr {
        Expr::Predicate(predicate) => predicate_priority(predicate),
        Expr::Arithmetic(Arithmetic::Add | Arithmetic::Sub, ..) => 3,
        Expr::Arithmetic(..) => 4,
        Expr::Sign(..) => 5,
        _ => 6,
    }
}

fn predicate_priority(predicate: &Predicate) -> u8 {
    match predicate {
        Predicate::Or(..) => 0,
        Predicate::And(..) => 1,
        Predicate::Compare(..) | Predicate::StartsWith(..) => 2,
        _ => 6,
    }
}

/// `outermost`: an operation at the top stands in parentheses.
fn write_expr(expr: &Expr, outermost: bool, out: &mut String) {
    match expr {
        Expr::Root => out.push('$'),
        Expr::Current => out.push('@'),
        Expr::Last => out.push_str("last"),
        Expr::Variable(name) => {
            out.push('$');
            write_string(name, out);
        }
        Expr::Literal(Json::String(text)) => write_string(text, out),
        Expr::Literal(value) => value.write(out),
        Expr::Chain(base, steps) => {
            let wrapped = priority(base) < 6 || matches!(**base, Expr::Literal(Json::Number(_)));
            in_parentheses(wrapped, out, |out| write_expr(base, false, out));
            steps.iter().for_each(|step| write_step(step, out));
        }
        Expr::Arithmetic(op, left, right) => in_parentheses(outermost, out, |out| {
            write_operand(left, priority(expr), out);
            let _ = write!(out, " {} ", op.symbol());
            write_operand(right, priority(expr), out);
        }),
        Expr::Sign(negative, operand) => in_parentheses(outermost, out, |out| {
            out.push(if *negative { '-' } else { '+' });
            write_operand(operand, priority(expr), out);
        }),
        Expr::Predicate(predicate) => write_predicate(predicate, outermost, out),
    }
}

fn in_parentheses(wrapped: bool, out: &mut String, inner: impl FnOnce(&mut String)) {
    out.push_str(if wrapped { "(" } else { "" });
    inner(out);
    out.push_str(if wrapped { ")" } else { "" });
}

fn write_operand(operand: &Expr, outer: u8, out: &mut String) {
    in_parentheses(priority(operand) <= outer, out, |out| write_expr(operand, false, out));
}

fn write_step(step: &Step, out: &mut String) {
    match step {
        Step::Key(name) => {
            out.push('.');
            write_string(name, out);
        }
        Step::AnyKey => out.push_str(".*"),
        Step::AnyElement => out.push_str("[*]"),
        Step::Elements(list) => {
            out.push('[');
            for (at, (from, to)) in list.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                write_expr(from, false, out);
                if let Some(to) = to {
                    out.push_str(" to ");
                    write_expr(to, false, out);
                }
            }
            out.push(']');
        }
        Step::Descend(first, last) => write_levels(*first, *last, out),
        Step::Filter(predicate) => {
            out.push_str("?(");
            write_predicate(predicate, false, out);
            out.push(')');
        }
        Step::Method(method) => {
            let _ = write!(out, ".{}()", method.name());
        }
    }
}

fn write_levels(first: Option<u32>, last: Option<u32>, out: &mut String) {
    let level = |level: Option<u32>| level.map_or("last".to_owned(), |n| n.to_string());
    out.push_str(".**");
    if first == Some(0) && last.is_none() {
        return;
    }
    if first == last {
        let _ = write!(out, "{{{}}}", level(first));
    } else {
        let _ = write!(out, "{{{} to {}}}", level(first), level(last));
    }
}

fn write_predicate(predicate: &Predicate, outermost: bool, out: &mut String) {
    let own = predicate_priority(predicate);
    let side = |inner: &Predicate, out: &mut String| {
        in_parentheses(predicate_priority(inner) <= own, out, |out| write_predicate(inner, false, out));
    };
    match predicate {
        Predicate::And(left, right) | Predicate::Or(left, right) => in_parentheses(outermost, out, |out| {
            side(left, out);
            out.push_str(if own == 1 { " && " } else { " || " });
            side(right, out);
        }),
        Predicate::Not(inner) => {
            out.push_str("!(");
            write_predicate(inner, false, out);
            out.push(')');
        }
        Predicate::IsUnknown(inner) => {
            out.push('(');
            write_predicate(inner, false, out);
            out.push_str(") is unknown");
        }
        Predicate::Exists(inner) => {
            out.push_str("exists (");
            write_expr(inner, false, out);
            out.push(')');
        }
        Predicate::Compare(op, left, right) => in_parentheses(outermost, out, |out| {
            write_operand(left, own, out);
            let symbol = match op.symbol() {
                "=" => "==",
                "<>" => "!=",
                same => same,
            };
            let _ = write!(out, " {symbol} ");
            write_operand(right, own, out);
        }),
        Predicate::StartsWith(left, right) => in_parentheses(outermost, out, |out| {
            write_operand(left, own, out);
            out.push_str(" starts with ");
            write_operand(right, own, out);
        }),
        Predicate::LikeRegex { value, pattern, flags } => in_parentheses(outermost, out, |out| {
            write_operand(value, 2, out);
            out.push_str(" like_regex ");
            write_string(pattern, out);
            if !flags.is_empty() {
                let _ = write!(out, " flag \"{flags}\"");
            }
        }),
    }
}
