//! Expressions as SQL, the way PostgreSQL prints them back: every operator in parentheses, every cast written out.

use crate::expr::Expr;
use crate::types::{DataType, Datum, FormatSettings, TextContext, text};
use hashbrown::HashMap;
use std::sync::LazyLock;

static SETTINGS: LazyLock<FormatSettings> = LazyLock::new(FormatSettings::default);

/// What names an expression's leaves have.
pub(super) struct Names<'n> {
    /// Slots of the input row.
    pub(super) slots: &'n [String],
    /// Execution slots.
    pub(super) outer: &'n HashMap<usize, String>,
    /// Leave out `t.` in front of columns: there is only one table.
    pub(super) bare: bool,
}

impl Names<'_> {
    pub(super) fn plain(&self, name: &str) -> String {
        match name.split_once('.') {
            Some((_, column)) if self.bare => column.to_owned(),
            _ => name.to_owned(),
        }
    }

    fn list(&self, exprs: &[Expr]) -> String {
        exprs.iter().map(|e| self.show(e)).collect::<Vec<_>>().join(", ")
    }

    fn joined(&self, exprs: &[Expr], word: &str) -> String {
        format!("({})", exprs.iter().map(|e| self.show(e)).collect::<Vec<_>>().join(word))
    }

    pub(super) fn show(&self, expr: &Expr) -> String {
        match expr {
            Expr::Const(value, ty) => constant(value, ty.ty, &ty.to_string()),
            Expr::Param(index, _) => self.outer.get(index).map_or(format!("${}", index + 1), |name| self.plain(name)),
            Expr::Column(slot, _) => self.slots.get(*slot).map_or(format!("#{slot}"), |name| self.plain(name)),
            Expr::Outer { index, .. } => format!("#{index}"),
            Expr::Call { func, args, .. } => match args.as_slice() {
                [left, right] if is_symbol(func.name) => format!("({} {} {})", self.show(left), func.name, self.show(right)),
                [operand] if is_symbol(func.name) => format!("({} {})", func.name, self.show(operand)),
                args => format!("{}({})", func.name, self.list(args)),
            },
            Expr::UserCall { function, args, .. } => format!("{}({})", function.descriptor.name, self.list(args)),
            Expr::And(list) => self.joined(list, " AND "),
            Expr::Or(list) => self.joined(list, " OR "),
            Expr::Not(inner) => format!("(NOT {})", self.show(inner)),
            Expr::IsNull { expr, negated } => format!("({} IS {}NULL)", self.show(expr), if *negated { "NOT " } else { "" }),
            Expr::IsBool { expr, value, negated } => {
                let word = match value {
                    Some(true) => "TRUE",
                    Some(false) => "FALSE",
                    None => "UNKNOWN",
                };
                format!("({} IS {}{word})", self.show(expr), if *negated { "NOT " } else { "" })
            }
            Expr::IsDistinct { left, right, negated } => {
                format!("({} IS {}DISTINCT FROM {})", self.show(left), if *negated { "NOT " } else { "" }, self.show(right))
            }
            Expr::Case { whens, otherwise, .. } => {
                let arms: Vec<String> = whens.iter().map(|(w, t)| format!("WHEN {} THEN {}", self.show(w), self.show(t))).collect();
                let last = otherwise.as_ref().map_or(String::new(), |e| format!(" ELSE {}", self.show(e)));
                format!("CASE {}{last} END", arms.join(" "))
            }
            Expr::Coalesce(list, _) => format!("COALESCE({})", self.list(list)),
            Expr::MinMax(list, greatest, _) => format!("{}({})", if *greatest { "GREATEST" } else { "LEAST" }, self.list(list)),
            Expr::Checked { expr, domain } => format!("({})::{}", self.show(expr), domain.name),
            Expr::Cast { expr, to, .. } => format!("({})::{to}", self.show(expr)),
            Expr::InList { expr, list, negated } => {
                format!("({} {}IN ({}))", self.show(expr), if *negated { "NOT " } else { "" }, self.list(list))
            }
            Expr::AnyAll { func, left, array, all } => {
                format!("({} {} {} ({}))", self.show(left), func.name, if *all { "ALL" } else { "ANY" }, self.show(array))
            }
            Expr::RowCompare { op, left, right } => format!("(ROW({}) {} ROW({}))", self.list(left), op.symbol(), self.list(right)),
            Expr::Row { fields: list, .. } => format!("ROW({})", self.list(list)),
            Expr::Array(list, _) => format!("ARRAY[{}]", self.list(list)),
            Expr::Subscript { array, indexes, .. } => {
                let indexes: Vec<String> = indexes.iter().map(|i| format!("[{}]", self.show(i))).collect();
                format!("({}){}", self.show(array), indexes.concat())
            }
            Expr::Subquery(number, _) => format!("(SubPlan {})", number + 1),
        }
    }
}

fn is_symbol(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

fn constant(value: &Datum, ty: DataType, shown_type: &str) -> String {
    match value {
        Datum::Null => format!("NULL::{shown_type}"),
        Datum::Bool(b) => b.to_string(),
        Datum::Int4(n) => n.to_string(),
        other => {
            let shown = text::to_string(other, ty, &TextContext::new(&SETTINGS));
            if matches!(ty, DataType::NUMERIC) && !shown.starts_with('-') {
                return shown;
            }
            format!("'{}'::{shown_type}", shown.replace('\'', "''"))
        }
    }
}
