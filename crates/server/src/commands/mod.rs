//! Subcommands.

pub(crate) mod demo;
pub(crate) mod history;
pub(crate) mod sim;
pub(crate) mod start;
pub(crate) mod tpcc;
