//! COPY: rows from and to the client, in text, CSV or binary form.
//!
//! [`CopyIn`] takes the client's bytes in whatever portions they come, cuts them into records, and inserts rows in batches. [`CopyOut`] writes rows that a
//! plan gives. Both know nothing of the protocol: the session passes messages' contents in and out.

mod defaults;
mod input;
mod options;
mod output;
mod records;

pub use input::CopyIn;
pub use options::{CopyFormat, CopyOptions};
pub use output::CopyOut;
