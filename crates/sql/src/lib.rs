//! SQL: from the text of a statement to batches of key-value requests, and from their answers to rows.
//!
//! **Life of a statement**, an UPDATE by primary key in the simple protocol:
//! 1. The wire layer calls `Session::simple_query` (`session/simple.rs`) with the text.
//! 2. `parse::normalise` lifts the literals out: what is left is the key of the plan cache.
//! 3. `PlanCache::get` (`session/plan_cache.rs`) finds the plan. When it is new:
//!    `parse::parse` makes the syntax tree (`ast`), `bind::bind` gives names and types their meaning,
//!    `plan::plan_statement` chooses indexes, joins, and *whether the scan locks the rows* (`plan/planner/write.rs`).
//! 4. `Session::open_transaction` (`session/transaction.rs`) begins the implicit transaction, if there is no block.
//! 5. `Session::lock_plan` (`session/table_locks.rs`) locks the table, nearly always without waiting, and plans anew when it had to wait for a definition.
//! 6. `Session::run_plan` (`session/statement.rs`) fills an `ExecContext` and opens an `Execution`.
//! 7. `Execution::run` (`exec/execution.rs`) notes the definitions it relies on and pulls batches through the operators.
//! 8. The scan (`exec/scan.rs`) turns key expressions into points or spans (`plan::keys`) and calls `Txn::get` with a lock strength.
//! 9. `exec/update.rs` computes the new row; `exec/write.rs` checks constraints and turns row and index entries into one `Txn::write`.
//! 10. At the statement's end foreign keys are settled (`exec/foreign_key.rs`).
//! 11. `Session::commit` sends one `EndTxn`; when it fails because of others, and the client has seen nothing, all of this is run again.
//! 12. The command tag goes to the `Client` (`session/client.rs`), which sends everything in one write.
//!
//! A call of a user's function that is not put into the plan as an expression (`bind/user_call.rs`) or a query (`bind/user_relation.rs`) is run by `exec/functions.rs`, which
//! plans its body and goes through 7 to 10 for each statement in it.
//!
//! Values live in `types`, functions and operators in `functions`, bound expressions and their evaluation in `expr`, what exists in
//! `catalog`, locks above the rows in `locks`, and what can go wrong in `error`. Only `parse` names sqlparser; nothing here knows a store.

#![forbid(unsafe_code)]

pub mod ast;
pub mod bind;
pub mod catalog;
pub mod error;
pub mod exec;
pub mod expr;
pub mod functions;
pub mod locks;
pub mod parse;
pub mod plan;
pub mod session;
pub mod types;
