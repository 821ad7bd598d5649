//! CREATE DOMAIN and ALTER DOMAIN.

use super::{ObjectName, StoredExpr, TypeName};

/// CREATE DOMAIN.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct CreateDomain {
    pub name: ObjectName,
    pub ty: TypeName,
    pub default: Option<StoredExpr>,
    pub not_null: bool,
    pub checks: Vec<DomainCheck>,
}

/// `[CONSTRAINT name] CHECK (expr)`.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct DomainCheck {
    pub name: Option<String>,
    pub expr: StoredExpr,
    /// NOT VALID, of ALTER DOMAIN.
    pub not_valid: bool,
}

/// ALTER DOMAIN.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct AlterDomain {
    pub name: ObjectName,
    pub action: AlterDomainAction,
}

/// What it does.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum AlterDomainAction {
    SetDefault(StoredExpr),
    DropDefault,
    SetNotNull,
    DropNotNull,
    AddCheck(DomainCheck),
    DropConstraint { constraint: String, if_exists: bool },
    RenameConstraint { constraint: String, name: String },
    ValidateConstraint(String),
    RenameTo(String),
    OwnerTo(String),
}
