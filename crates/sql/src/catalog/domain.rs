//! Domains: a base type with a default and constraints.
//!
//! A value of a domain *is* one of its base type, in rows, in keys and on the wire; so a column of a domain has the base type everywhere in the planner,
//! and remembers in [`super::Column::declared`] what it was declared with. What the domain adds is done where a value becomes one of the domain: a
//! cast or an assignment to such a column is wrapped into the domain's checks when it is bound ([`crate::expr::DomainChecks`]).

use super::{AclItem, Catalog, CheckConstraint, Oid, SchemaDescriptor};
use crate::types::ColumnType;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A domain, as its schema's descriptor keeps it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DomainDescriptor {
    /// Its OID.
    pub oid: Oid,
    /// The OID of the array type over it.
    pub array_oid: Oid,
    /// Its name.
    pub name: String,
    /// Owner's name.
    pub owner: String,
    /// COMMENT ON DOMAIN.
    pub comment: Option<String>,
    /// What was granted.
    pub acl: Option<Vec<AclItem>>,
    /// The type below all domains.
    pub base: ColumnType,
    /// The domain that it was made over, if any.
    pub parent: Option<Oid>,
    /// NOT NULL.
    pub not_null: bool,
    /// DEFAULT, as SQL text; its parent's, if it was made without one.
    pub default: Option<String>,
    /// Conditions on VALUE.
    pub checks: Vec<CheckConstraint>,
}

impl Catalog {
    /// All domains with their schemas.
    pub fn domains(&self) -> impl Iterator<Item = (&Arc<SchemaDescriptor>, &DomainDescriptor)> {
        self.schemas().flat_map(|schema| schema.domains.iter().map(move |domain| (schema, domain)))
    }

    /// A domain by its OID, or by that of the array type over it.
    pub fn domain(&self, oid: Oid) -> Option<(&Arc<SchemaDescriptor>, &DomainDescriptor)> {
        self.domains().find(|(_, domain)| domain.oid == oid || domain.array_oid == oid)
    }

    /// A domain by name along a search path, or in the given schema.
    pub fn domain_named(
        &self,
        schema: Option<&str>,
        name: &str,
        search_path: &[String],
    ) -> Option<(&Arc<SchemaDescriptor>, &DomainDescriptor)> {
        let inside = |schema: &str| {
            let schema = self.schema(schema)?;
            schema.domains.iter().find(|domain| domain.name == name).map(|domain| (schema, domain))
        };
        match schema {
            Some(schema) => inside(schema),
            None => search_path.iter().find_map(|schema| inside(schema)),
        }
    }

    /// A domain and what it was made over, itself first.
    pub fn domain_chain(&self, oid: Oid) -> Vec<&DomainDescriptor> {
        let mut chain: Vec<&DomainDescriptor> = Vec::new();
        let mut next = Some(oid);
        while let Some((_, domain)) = next.and_then(|oid| self.domain(oid)) {
            // A domain is made over one that exists, so the chain is finite; a damaged catalog must not make it endless.
            if chain.iter().any(|seen| seen.oid == domain.oid) {
                break;
            }
            chain.push(domain);
            next = domain.parent;
        }
        chain
    }

    /// Is there anything that a value of the declared type must hold?
    pub fn is_constrained(&self, declared: Oid) -> bool {
        self.domain_chain(declared).iter().any(|domain| domain.not_null || !domain.checks.is_empty())
    }

    /// What a column gets when nothing is said, as SQL text: its own default, or its domain's.
    pub fn default_of<'c>(&'c self, column: &'c super::Column) -> Option<&'c str> {
        if column.dropped {
            return None;
        }
        let of_domain = || {
            let (_, domain) = self.domain(column.declared?)?;
            domain.default.as_deref().filter(|_| column.declared == Some(domain.oid))
        };
        column.default.as_deref().or_else(of_domain)
    }
}
