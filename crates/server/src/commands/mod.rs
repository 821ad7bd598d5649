//! Subcommands.

pub(crate) mod start;
