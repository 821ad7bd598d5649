//! (being written)
use crate::functions::BuiltinFunction;
pub(in crate::functions) static FUNCTIONS: &[BuiltinFunction] = &[];
