//! TPC-C: an order-entry business with warehouses, districts and customers.
//!
//! [`load`] fills the nine tables with the specification's row counts, [`run`] plays the five transactions from terminals, and
//! [`check`] asks the twelve consistency conditions (clause 3.3.2) on one snapshot. The statements are in `transactions/`,
//! the SQL texts in `sql/tpcc/`.
//!
//! Rows that are about to be written are read by the UPDATE itself (`UPDATE ... RETURNING`): whether that read locks is the
//! database's decision, which is the story this workload was chosen to tell.

mod check;
mod load;
mod report;
mod run;
mod transactions;

pub use check::{CheckResult, check};
pub use load::{LoadOptions, load};
pub use report::{KindReport, Report};
pub use run::{RunOptions, run};
pub use transactions::Kind;

/// Districts of a warehouse.
pub(crate) const DISTRICTS: u32 = 10;
/// Customers of a district, and its orders at the beginning.
pub(crate) const CUSTOMERS: u32 = 3000;
/// Items, and a warehouse's stock.
pub(crate) const ITEMS: u32 = 100_000;
