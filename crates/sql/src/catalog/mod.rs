//! The catalog: what exists, as one immutable snapshot.
//!
//! Every relation is a [`TableDescriptor`], stored as one key-value row (JSON) and loaded into a [`Catalog`], which is shared by
//! all sessions behind an `Arc` and never changes: DDL builds a new one with a higher [`Catalog::version`], and whatever was planned
//! against an older version is planned again. A transaction that changed descriptors works on its own copy until it commits.
//!
//! Builtin relations (pg_catalog, information_schema, tidelock) have a place beside the stored ones: a [`VirtualTable`] is filled by a
//! provider ([`rows`]) when it is scanned; a builtin view is SQL text like any view; [`builtin`] lists both. [`functions`] are the functions that ask the catalog. [`stats`] holds what ANALYZE found out; [`store`] reads and writes it all;
//! [`shared`] is what databases have in common, themselves foremost;
//! [`temporary`] is what a session has for itself alone.

pub mod builtin;
pub mod descriptor;
pub mod domain;
pub mod facts;
pub mod function;
pub mod functions;
pub mod rows;
pub mod shared;
pub mod snapshot;
pub mod stats;
pub mod store;
pub mod temporary;

pub use descriptor::*;
pub use domain::DomainDescriptor;
pub use facts::SystemFacts;
pub use function::{FunctionDescriptor, FunctionParameter, FunctionType, Reference};
pub use shared::{DatabaseDescriptor, SharedCatalog};
pub use snapshot::{Catalog, CatalogBuilder, Relation, SchemaDescriptor, VirtualTable};
pub use stats::{ColumnStatistics, TableStatistics};
pub use temporary::{TEMPORARY_ALIAS, TEMPORARY_PREFIX, TemporaryObjects};
