//! Dates and times (being written).
