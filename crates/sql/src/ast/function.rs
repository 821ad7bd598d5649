//! CREATE FUNCTION and PROCEDURE, and how ALTER, DROP, COMMENT and GRANT name one.

use super::{ObjectName, Pos, StoredExpr, TypeName};
use crate::functions::Volatility;
use serde::{Deserialize, Serialize};

/// CREATE [OR REPLACE] FUNCTION or PROCEDURE.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct CreateFunction {
    pub kind: RoutineKind,
    pub name: ObjectName,
    pub or_replace: bool,
    pub parameters: Vec<Parameter>,
    pub returns: Option<Returns>,
    pub options: FunctionOptions,
    pub language: Option<String>,
    pub body: Option<FunctionBody>,
    /// Where the text of a body in a string begins, if it stands there as it is.
    pub body_pos: Pos,
}

/// What kind of routine a statement speaks of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum RoutineKind {
    Function,
    Procedure,
    /// Either, of DROP ROUTINE and its like.
    Routine,
}

impl RoutineKind {
    /// As PostgreSQL's messages say it.
    pub fn noun(self) -> &'static str {
        match self {
            RoutineKind::Function => "function",
            RoutineKind::Procedure => "procedure",
            RoutineKind::Routine => "routine",
        }
    }
}

/// A parameter, or a column of RETURNS TABLE.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Parameter {
    pub name: Option<String>,
    pub mode: ParameterMode,
    pub ty: TypeName,
    pub default: Option<StoredExpr>,
    pub pos: Pos,
}

/// How a parameter passes values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum ParameterMode {
    In,
    Out,
    InOut,
    Variadic,
    Table,
}

impl ParameterMode {
    /// A value comes in by it.
    pub fn is_input(self) -> bool {
        matches!(self, ParameterMode::In | ParameterMode::InOut | ParameterMode::Variadic)
    }

    /// A value goes out by it.
    pub fn is_output(self) -> bool {
        matches!(self, ParameterMode::Out | ParameterMode::InOut | ParameterMode::Table)
    }

    /// As `pg_proc.proargmodes` has it.
    pub fn letter(self) -> u8 {
        match self {
            ParameterMode::In => b'i',
            ParameterMode::Out => b'o',
            ParameterMode::InOut => b'b',
            ParameterMode::Variadic => b'v',
            ParameterMode::Table => b't',
        }
    }
}

/// RETURNS; the columns of RETURNS TABLE are among the parameters.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Returns {
    Type { ty: TypeName, set: bool },
    Table,
}

/// A body as it is kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum FunctionBody {
    /// `AS '...'`: text that means what its names mean when it is run.
    Text(String),
    /// `RETURN expression`.
    Return(String),
    /// `BEGIN ATOMIC ... END`: each statement's text.
    Atomic(Vec<String>),
}

/// What may stand in any order behind the parameters; None is unsaid.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct FunctionOptions {
    pub volatility: Option<Volatility>,
    pub strict: Option<bool>,
    pub security_definer: Option<bool>,
    pub leakproof: Option<bool>,
    /// `s`, `r` or `u`.
    pub parallel: Option<char>,
    pub cost: Option<f32>,
    pub rows: Option<f32>,
    /// SET name TO value; None is RESET, of ALTER.
    pub settings: Vec<(String, Option<String>)>,
    /// RESET ALL, of ALTER.
    pub reset_all: bool,
}

/// `name(types)`; without parentheses the name alone must say it.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct FunctionSignature {
    pub name: ObjectName,
    pub args: Option<Vec<(ParameterMode, TypeName)>>,
}

/// ALTER FUNCTION, PROCEDURE or ROUTINE.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct AlterFunction {
    pub kind: RoutineKind,
    pub signature: FunctionSignature,
    pub action: AlterFunctionAction,
}

/// What it does.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum AlterFunctionAction {
    RenameTo(String),
    OwnerTo(String),
    SetSchema(String),
    Options(FunctionOptions),
}

/// DROP FUNCTION, PROCEDURE or ROUTINE.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct DropFunction {
    pub kind: RoutineKind,
    pub signatures: Vec<FunctionSignature>,
    pub if_exists: bool,
    pub cascade: bool,
}
