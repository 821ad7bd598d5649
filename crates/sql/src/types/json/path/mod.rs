//! `jsonpath`: the language of `jsonb_path_query` and its family, `@?` and `@@`.
//!
//! A [`JsonPath`] is a mode and an expression; `parse` reads it, `write` prints it as PostgreSQL does, [`eval`] runs it.

use super::Json;
use crate::types::Numeric;

pub mod eval;
mod parse;
mod tokens;
mod write;

/// A path.
#[derive(Clone, Debug)]
pub struct JsonPath {
    /// `strict`: a step that does not fit is an error, and arrays are not unwrapped.
    pub strict: bool,
    /// What to compute.
    pub expr: Expr,
}

/// An expression of the path language.
#[derive(Clone, Debug)]
pub enum Expr {
    /// `$`
    Root,
    /// `@`
    Current,
    /// `last`, in a subscript
    Last,
    /// `$name`
    Variable(String),
    /// A constant: a scalar.
    Literal(Json),
    /// `a.b[*]`: steps applied to a value.
    Chain(Box<Expr>, Vec<Step>),
    /// `+ - * / %`
    Arithmetic(Arithmetic, Box<Expr>, Box<Expr>),
    /// `-x` (true) and `+x` (false)
    Sign(bool, Box<Expr>),
    /// A predicate used as a value: true, false or null.
    Predicate(Box<Predicate>),
}

/// One step of a chain.
#[derive(Clone, Debug)]
pub enum Step {
    /// `.name`
    Key(String),
    /// `.*`
    AnyKey,
    /// `[*]`
    AnyElement,
    /// `[1, 3 to last]`
    Elements(Vec<(Expr, Option<Expr>)>),
    /// `.**{1 to last}`; `None` is `last`
    Descend(Option<u32>, Option<u32>),
    /// `?(...)`
    Filter(Box<Predicate>),
    /// `.size()`
    Method(Method),
}

/// Methods without arguments, and `datetime`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // the path language's own names
pub enum Method {
    Type,
    Size,
    Double,
    Ceiling,
    Floor,
    Abs,
    KeyValue,
}

impl Method {
    const ALL: [(&'static str, Method); 7] = [
        ("type", Method::Type),
        ("size", Method::Size),
        ("double", Method::Double),
        ("ceiling", Method::Ceiling),
        ("floor", Method::Floor),
        ("abs", Method::Abs),
        ("keyvalue", Method::KeyValue),
    ];

    fn named(name: &str) -> Option<Method> {
        Method::ALL.iter().find(|(n, _)| *n == name).map(|(_, method)| *method)
    }

    /// As it is written.
    pub fn name(self) -> &'static str {
        Method::ALL.iter().find(|(_, method)| *method == self).map_or("", |(name, _)| name)
    }
}

/// The five operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Arithmetic {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
}

impl Arithmetic {
    /// Its symbol.
    pub fn symbol(self) -> &'static str {
        match self {
            Arithmetic::Add => "+",
            Arithmetic::Sub => "-",
            Arithmetic::Mul => "*",
            Arithmetic::Div => "/",
            Arithmetic::Mod => "%",
        }
    }
}

/// What is true, false or unknown.
#[derive(Clone, Debug)]
pub enum Predicate {
    /// `&&`
    And(Box<Predicate>, Box<Predicate>),
    /// `||`
    Or(Box<Predicate>, Box<Predicate>),
    /// `!`
    Not(Box<Predicate>),
    /// `(...) is unknown`
    IsUnknown(Box<Predicate>),
    /// `exists (...)`
    Exists(Expr),
    /// `a == b`
    Compare(crate::expr::CompareOp, Expr, Expr),
    /// `a starts with "b"`
    StartsWith(Expr, Expr),
    /// `a like_regex "b" flag "i"`
    LikeRegex {
        /// Tested values.
        value: Expr,
        /// The pattern.
        pattern: String,
        /// Flags as written.
        flags: String,
    },
}

impl Expr {
    fn number(n: Numeric) -> Expr {
        Expr::Literal(Json::Number(n))
    }
}
