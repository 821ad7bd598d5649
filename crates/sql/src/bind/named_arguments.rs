//! Named arguments: `make_interval(days => 10)`.
//!
//! The functions that people call this way, with the names and defaults that PostgreSQL gives their parameters.  A call is put into the order of the
//! parameters and then bound like any other.

use super::Binder;
use crate::ast::{Expr, FunctionArg, FunctionCall, Literal};
use crate::error::{SqlError, SqlState};

/// A parameter: its name, and its default as SQL writes it.
type Parameter = (&'static str, Option<&'static str>);

#[rustfmt::skip]
static PARAMETERS: &[(&str, &[Parameter])] = &[
    ("make_interval", &[("years", Some("0")), ("months", Some("0")), ("weeks", Some("0")), ("days", Some("0")), ("hours", Some("0")), ("mins", Some("0")), ("secs", Some("0"))]),
    ("make_date", &[("year", None), ("month", None), ("day", None)]),
    ("make_time", &[("hour", None), ("min", None), ("sec", None)]),
    ("make_timestamp", &[("year", None), ("month", None), ("mday", None), ("hour", None), ("min", None), ("sec", None)]),
    ("make_timestamptz", &[("year", None), ("month", None), ("mday", None), ("hour", None), ("min", None), ("sec", None), ("timezone", Some(""))]),
    ("jsonb_set", &[("jsonb_in", None), ("path", None), ("replacement", None), ("create_if_missing", Some("true"))]),
    ("jsonb_insert", &[("jsonb_in", None), ("path", None), ("replacement", None), ("insert_after", Some("false"))]),
    ("jsonb_path_exists", &[("target", None), ("path", None), ("vars", Some("'{}'")), ("silent", Some("false"))]),
    ("jsonb_path_match", &[("target", None), ("path", None), ("vars", Some("'{}'")), ("silent", Some("false"))]),
    ("jsonb_path_query", &[("target", None), ("path", None), ("vars", Some("'{}'")), ("silent", Some("false"))]),
    ("jsonb_path_query_array", &[("target", None), ("path", None), ("vars", Some("'{}'")), ("silent", Some("false"))]),
    ("jsonb_path_query_first", &[("target", None), ("path", None), ("vars", Some("'{}'")), ("silent", Some("false"))]),
    ("regexp_replace", &[("string", None), ("pattern", None), ("replacement", None), ("flags", Some("''"))]),
    ("regexp_match", &[("string", None), ("pattern", None), ("flags", Some("''"))]),
    ("parse_ident", &[("str", None), ("strict", Some("true"))]),
];

impl Binder<'_> {
    /// The call with its arguments in the order of the parameters.
    pub(super) fn by_position(&mut self, call: &FunctionCall) -> Result<FunctionCall, SqlError> {
        let pos = call.name.pos;
        let Some((_, parameters)) = PARAMETERS.iter().find(|(name, _)| *name == call.name.name) else {
            return Err(self.no_function(call));
        };
        let mut placed: Vec<Option<Expr>> = vec![None; parameters.len()];
        let mut named = false;
        for (at, arg) in call.args.iter().enumerate() {
            let place = match &arg.name {
                None if named => {
                    return Err(
                        SqlError::new(SqlState::SYNTAX_ERROR, "positional argument cannot follow named argument").at(arg.value.pos())
                    );
                }
                None => Some(at),
                Some(name) => {
                    named = true;
                    parameters.iter().position(|(parameter, _)| parameter == name)
                }
            };
            match place.and_then(|place| placed.get_mut(place)) {
                Some(free) if free.is_none() => *free = Some(arg.value.clone()),
                Some(_) => {
                    let name = arg.name.as_deref().unwrap_or_default();
                    let message = format!("argument name \"{name}\" used more than once");
                    return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(arg.value.pos()));
                }
                None => return Err(self.no_function(call)),
            }
        }
        let mut args = Vec::with_capacity(parameters.len());
        for (value, (_, default)) in placed.into_iter().zip(*parameters) {
            let value = match (value, default) {
                (Some(value), _) => value,
                // A last parameter that is simply left out.
                (None, Some("")) => continue,
                (None, Some(default)) => default_value(default, pos),
                (None, None) => return Err(self.no_function(call)),
            };
            args.push(FunctionArg { name: None, value });
        }
        Ok(FunctionCall { args, ..call.clone() })
    }
}

fn default_value(text: &str, pos: usize) -> Expr {
    let literal = match text {
        "true" => Literal::Bool(true),
        "false" => Literal::Bool(false),
        quoted if quoted.starts_with('\'') => Literal::String(quoted.trim_matches('\'').to_owned()),
        digits => Literal::Number(digits.to_owned()),
    };
    Expr::Literal(literal, pos)
}
