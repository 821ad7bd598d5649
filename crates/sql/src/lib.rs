//! SQL: parse, bind, plan, optimize, execute.

#![forbid(unsafe_code)]

pub mod ast;
pub mod bind;
pub mod catalog;
pub mod error;
pub mod exec;
pub mod expr;
pub mod functions;
pub mod parse;
pub mod plan;
pub mod session;
pub mod types;
