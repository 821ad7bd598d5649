//! (story to be written)
