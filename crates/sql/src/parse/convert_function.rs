//! Calls: plain ones, and the grammar's special forms under the names PostgreSQL gives them inside.

use super::cursor::Cursor;
use super::tokens::VARIADIC;
use crate::ast::{Expr, FunctionArg, FunctionCall, Ident, Literal, ObjectName, Pos, WindowSpec};
use crate::error::{SqlError, SqlState};
use sqlparser::ast as sp;

/// A call without anything but arguments.
fn call(name: &str, args: Vec<Expr>, pos: Pos) -> Expr {
    let args = args.into_iter().map(|value| FunctionArg { name: None, value }).collect();
    Expr::Function(Box::new(FunctionCall {
        name: ObjectName { pos, ..ObjectName::bare(name) },
        args,
        variadic: false,
        star: false,
        distinct: false,
        order_by: Vec::new(),
        within_group: Vec::new(),
        filter: None,
        over: None,
        special: true,
    }))
}

/// `CURRENT_DATE` and other calls without parentheses.
pub(super) fn niladic(name: &str, pos: Pos) -> Expr {
    call(name, Vec::new(), pos)
}

/// `normalize(x, NFD)`: the form is a keyword.
fn spell_normal_form(call: &mut FunctionCall) {
    if let [_, form] = call.args.as_mut_slice()
        && let Expr::Column(path) = &form.value
        && let [name] = path.as_slice()
        && matches!(name.value.as_str(), "nfc" | "nfd" | "nfkc" | "nfkd")
    {
        form.value = Expr::Literal(Literal::String(name.value.clone()), name.pos);
    }
}

impl Cursor<'_> {
    /// Expressions that PostgreSQL's grammar turns into calls.
    pub(super) fn special_call(&mut self, expr: sp::Expr) -> Result<Expr, SqlError> {
        use sp::Expr as E;
        match expr {
            E::Function(function) => self.function(function),
            E::AtTimeZone { timestamp, time_zone } => {
                let timestamp = self.convert_expr(*timestamp)?;
                let pos = self.find("AT");
                let zone = self.convert_expr(*time_zone)?;
                Ok(call("timezone", vec![zone, timestamp], pos))
            }
            E::Extract { field, expr, .. } => {
                let pos = self.find("EXTRACT");
                let field = field.to_string().trim_matches(|c| c == '\'' || c == '"').to_ascii_lowercase();
                Ok(call("extract", vec![Expr::Literal(Literal::String(field), pos), self.convert_expr(*expr)?], pos))
            }
            E::Ceil { expr, field: sp::CeilFloorKind::DateTimeField(sp::DateTimeField::NoDateTime) } => self.one_argument("ceil", *expr),
            E::Floor { expr, field: sp::CeilFloorKind::DateTimeField(sp::DateTimeField::NoDateTime) } => self.one_argument("floor", *expr),
            E::Position { expr, r#in } => {
                let pos = self.find("POSITION");
                let needle = self.convert_expr(*expr)?;
                Ok(call("position", vec![self.convert_expr(*r#in)?, needle], pos))
            }
            E::Substring { expr, substring_from, substring_for, shorthand, .. } => {
                let name = if shorthand { "substr" } else { "substring" };
                let pos = self.find(name);
                let mut args = vec![self.convert_expr(*expr)?];
                if substring_from.is_none() && substring_for.is_some() {
                    args.push(Expr::Literal(Literal::Number("1".into()), pos));
                }
                for part in [substring_from, substring_for].into_iter().flatten() {
                    args.push(self.convert_expr(*part)?);
                }
                Ok(call(name, args, pos))
            }
            E::Trim { trim_where, trim_what, expr, trim_characters } => {
                let pos = self.find("TRIM");
                let name = match trim_where {
                    Some(sp::TrimWhereField::Leading) => "ltrim",
                    Some(sp::TrimWhereField::Trailing) => "rtrim",
                    _ => "btrim",
                };
                let what = trim_what.map(|w| self.convert_expr(*w)).transpose()?;
                let mut args = vec![self.convert_expr(*expr)?];
                args.extend(what);
                args.extend(self.convert_list(trim_characters.unwrap_or_default())?);
                Ok(call(name, args, pos))
            }
            E::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
                let pos = self.find("OVERLAY");
                let mut args = vec![self.convert_expr(*expr)?, self.convert_expr(*overlay_what)?, self.convert_expr(*overlay_from)?];
                args.extend(overlay_for.map(|e| self.convert_expr(*e)).transpose()?);
                Ok(call("overlay", args, pos))
            }
            E::IsJson { .. } => Err(SqlError::unsupported("IS JSON")),
            E::IsNormalized { expr, form, negated } => {
                let value = self.convert_expr(*expr)?;
                let pos = self.find("IS");
                let form = form.map_or_else(|| "NFC".to_owned(), |form| form.to_string());
                let test = call("is_normalized", vec![value, Expr::Literal(Literal::String(form), pos)], pos);
                Ok(if negated { Expr::Not(Box::new(test)) } else { test })
            }
            E::GroupingSets(_) | E::Cube(_) | E::Rollup(_) => {
                Err(SqlError::new(SqlState::SYNTAX_ERROR, "grouping sets stand only in GROUP BY"))
            }
            other => {
                let shown: String = other.to_string().chars().take(40).collect();
                Err(SqlError::new(SqlState::SYNTAX_ERROR, format!("syntax error at or near \"{shown}\"")))
            }
        }
    }

    fn one_argument(&mut self, name: &str, arg: sp::Expr) -> Result<Expr, SqlError> {
        let pos = self.find(name);
        Ok(call(name, vec![self.convert_expr(arg)?], pos))
    }

    pub(super) fn function(&mut self, function: sp::Function) -> Result<Expr, SqlError> {
        let name = self.convert_name(function.name)?;
        let bare = name.schema.is_none().then_some(name.name.as_str());
        match (bare, function.args) {
            (Some("array"), sp::FunctionArguments::Subquery(query)) => {
                Ok(Expr::ArraySubquery(Box::new(self.convert_query(*query)?), name.pos))
            }
            (_, sp::FunctionArguments::Subquery(_)) => {
                Err(SqlError::new(SqlState::SYNTAX_ERROR, "syntax error at or near \"SELECT\"").at(name.pos))
            }
            (_, sp::FunctionArguments::None) => Ok(niladic(&name.name, name.pos)),
            (Some("row"), sp::FunctionArguments::List(list)) if function.over.is_none() => {
                let args = list.args.into_iter().map(|arg| self.argument(arg).map(|a| a.value)).collect::<Result<_, _>>()?;
                Ok(Expr::Row(args, name.pos))
            }
            (_, sp::FunctionArguments::List(list)) => {
                if function.null_treatment.is_some() {
                    return Err(SqlError::unsupported("RESPECT NULLS and IGNORE NULLS").at(name.pos));
                }
                let special = bare.is_some_and(|n| matches!(n, "coalesce" | "nullif" | "greatest" | "least" | "grouping"));
                let mut call = self.arguments(name, list)?;
                if call.name.name == "normalize" {
                    spell_normal_form(&mut call);
                }
                call.special = special;
                call.within_group = self.convert_order(function.within_group)?;
                call.filter = function.filter.map(|f| self.convert_expr(*f)).transpose()?;
                call.over = function.over.map(|w| self.window_type(w)).transpose()?;
                Ok(Expr::Function(Box::new(call)))
            }
        }
    }

    fn arguments(&mut self, name: ObjectName, list: sp::FunctionArgumentList) -> Result<FunctionCall, SqlError> {
        let star = matches!(list.args.as_slice(), [sp::FunctionArg::Unnamed(sp::FunctionArgExpr::Wildcard)]);
        let mut args: Vec<FunctionArg> =
            if star { Vec::new() } else { list.args.into_iter().map(|arg| self.argument(arg)).collect::<Result<_, _>>()? };
        let marked = args.iter().position(|arg| arg.name.as_deref() == Some(VARIADIC));
        let variadic = marked.is_some_and(|at| at + 1 == args.len());
        if marked.is_some() && !variadic {
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, "syntax error at or near \",\"").at(name.pos));
        }
        if let Some(at) = marked {
            args[at].name = None;
        }
        let mut order_by = Vec::new();
        for clause in list.clauses {
            match clause {
                sp::FunctionArgumentClause::OrderBy(items) => order_by = self.convert_order(items)?,
                other => return Err(SqlError::new(SqlState::SYNTAX_ERROR, format!("syntax error at or near \"{other}\"")).at(name.pos)),
            }
        }
        let distinct = list.duplicate_treatment == Some(sp::DuplicateTreatment::Distinct);
        Ok(FunctionCall {
            name,
            args,
            variadic,
            star,
            distinct,
            order_by,
            within_group: Vec::new(),
            filter: None,
            over: None,
            special: false,
        })
    }

    fn argument(&mut self, arg: sp::FunctionArg) -> Result<FunctionArg, SqlError> {
        let (name, value) = match arg {
            sp::FunctionArg::Unnamed(value) => (None, value),
            sp::FunctionArg::Named { name, arg, .. } => (Some(self.convert_ident(name).value), arg),
            sp::FunctionArg::ExprNamed { name: sp::Expr::Identifier(name), arg, .. } => (Some(self.convert_ident(name).value), arg),
            sp::FunctionArg::ExprNamed { .. } => return Err(SqlError::new(SqlState::SYNTAX_ERROR, "syntax error in a named argument")),
        };
        match value {
            // `count(t.*)`: the row as one value.
            sp::FunctionArgExpr::QualifiedWildcard(table) => Ok(FunctionArg { name, value: self.whole_row(table)? }),
            sp::FunctionArgExpr::Expr(value) => Ok(FunctionArg { name, value: self.convert_expr(value)? }),
            _ => Err(SqlError::new(SqlState::SYNTAX_ERROR, "syntax error at or near \"*\"").at(self.here())),
        }
    }

    fn whole_row(&mut self, table: sp::ObjectName) -> Result<Expr, SqlError> {
        let table = self.convert_name(table)?;
        let part = |value: String| Ident { value, pos: table.pos };
        Ok(Expr::Column(table.schema.clone().into_iter().chain([table.name.clone()]).map(part).collect()))
    }

    /// The arguments of a function in FROM.
    pub(super) fn table_function(&mut self, name: sp::ObjectName, args: Vec<sp::FunctionArg>) -> Result<FunctionCall, SqlError> {
        let name = self.convert_name(name)?;
        let list = sp::FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() };
        self.arguments(name, list)
    }

    fn window_type(&mut self, window: sp::WindowType) -> Result<WindowSpec, SqlError> {
        match window {
            sp::WindowType::NamedWindow(name) => Ok(WindowSpec { base: Some(self.convert_ident(name)), ..WindowSpec::default() }),
            sp::WindowType::WindowSpec(spec) => self.window_spec(spec),
        }
    }
}
