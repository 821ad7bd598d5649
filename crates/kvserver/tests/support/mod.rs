//! What the runners of scripts share: a store that can crash, a resolver that can be held up, and the steps of a session.

pub(crate) mod bed;
pub(crate) mod names;
pub(crate) mod steps;
