//! SQL: parse, bind, plan, optimize, execute.

#![forbid(unsafe_code)]

pub mod error;
pub mod expr;
pub mod functions;
pub mod types;
