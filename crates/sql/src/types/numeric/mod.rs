//! Exact decimal numbers (being written).

/// A decimal number of any precision.
#[derive(Clone, Debug)]
pub struct Numeric(());
