//! CREATE, ALTER and DROP DOMAIN.
//!
//! A domain is part of its schema's descriptor. A constraint that is added later must hold for what columns of the domain, and of domains made over it,
//! have already: they are read, and nothing else may come in meanwhile (the reads are validated at commit).

use super::Ddl;
use crate::ast::{AlterDomain, AlterDomainAction, CreateDomain, DomainCheck, Drop, ObjectName};
use crate::bind::{DeclaredType, bind_row_expression, declared_type_in, domain_checks, value_row};
use crate::catalog::{CheckConstraint, DomainDescriptor, Oid, RelationKind, TableDescriptor};
use crate::error::{SqlError, SqlState};
use crate::exec::table_keys::index_id;
use crate::expr::Expr;
use crate::functions::quoting::quote_ident;
use crate::types::{DataType, Datum};
use tidelock_base::Span;

impl Ddl<'_, '_> {
    pub(super) async fn create_domain(&mut self, create: &CreateDomain) -> Result<(), SqlError> {
        let schema = self.schema_of_type(&create.name)?;
        let name = &create.name.name;
        if self.is_type_name_taken(&schema.name, name) {
            return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, format!("type \"{name}\" already exists")));
        }
        let base = declared_type_in(&create.ty, self.catalog(), &self.ctx.plan_settings.search_path)?;
        if crate::types::info(base.ty.ty).category == b'P' {
            return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, format!("\"{}\" is not a valid base type for a domain", base.ty.ty)));
        }
        let parent = self.parent_domain(base)?;
        let inherited = parent.and_then(|oid| self.catalog().domain(oid)).and_then(|(_, domain)| domain.default.clone());
        let mut made = DomainDescriptor {
            oid: self.new_oid().await?,
            array_oid: self.new_oid().await?,
            name: name.clone(),
            owner: self.ctx.plan_settings.user.clone(),
            comment: None,
            acl: None,
            base: base.ty,
            parent,
            not_null: create.not_null,
            default: match &create.default {
                Some(default) => self.default_text(default, base.ty)?,
                None => inherited,
            },
            checks: Vec::new(),
        };
        for check in &create.checks {
            let check = self.domain_check(&made, check).await?;
            made.checks.push(check);
        }
        self.change_schema(&schema.name, |schema| schema.domains.push(made))
    }

    /// The domain that another is made over.
    fn parent_domain(&self, base: DeclaredType) -> Result<Option<Oid>, SqlError> {
        let Some(declared) = base.declared else { return Ok(None) };
        let is_element = self.catalog().domain(declared).is_some_and(|(_, domain)| domain.array_oid == declared);
        if is_element {
            return Err(SqlError::unsupported("a domain over an array of a domain"));
        }
        Ok(Some(declared))
    }

    pub(super) fn is_type_name_taken(&self, schema: &str, name: &str) -> bool {
        let Some(schema) = self.catalog().schema(schema) else { return false };
        schema.enums.iter().any(|e| e.name == name) || schema.domains.iter().any(|d| d.name == name) || self.is_taken(&schema.name, name)
    }

    /// A check as it is kept: VALUE in capitals, as PostgreSQL shows it.
    async fn domain_check(&mut self, domain: &DomainDescriptor, check: &DomainCheck) -> Result<CheckConstraint, SqlError> {
        let row = value_row(domain.base);
        bind_row_expression(&check.expr.text, &row, Some(Expr::BOOL), &self.snapshot(), self.ctx.plan_settings)?;
        let taken = |name: &str| domain.checks.iter().any(|check| check.name == name);
        let name = match &check.name {
            Some(name) if taken(name) => {
                let message = format!("constraint \"{name}\" for domain {} already exists", quote_ident(&domain.name));
                return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
            }
            Some(name) => name.clone(),
            None => {
                let base = super::columns::shortened(&[&domain.name], "check");
                let numbered = (1u32..).map(|n| format!("{base}{n}"));
                std::iter::once(base.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(base)
            }
        };
        let expr = super::alter::with_value(&check.expr.text);
        Ok(CheckConstraint { oid: self.new_oid().await?, name, expr, validated: !check.not_valid })
    }

    /// The schema of a domain, and its place there.
    pub(super) fn find_domain(&self, name: &ObjectName) -> Result<(String, usize), SqlError> {
        let path = &self.ctx.plan_settings.search_path;
        if let Some((schema, found)) = self.catalog().domain_named(name.schema.as_deref(), &name.name, path) {
            let at = schema.domains.iter().position(|domain| domain.oid == found.oid);
            return at.map(|at| (schema.name.clone(), at)).ok_or_else(crate::exec::context::misfit);
        }
        let other = self.catalog().enum_named(name.schema.as_deref(), &name.name, path).is_some()
            || crate::types::lookup_type_name(&name.name).is_some();
        Err(if other {
            SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{name}\" is not a domain"))
        } else {
            SqlError::new(SqlState::UNDEFINED_OBJECT, format!("type \"{name}\" does not exist"))
        })
    }

    fn domain_at(&self, schema: &str, at: usize) -> Result<DomainDescriptor, SqlError> {
        let found = self.catalog().schema(schema).and_then(|schema| schema.domains.get(at)).cloned();
        found.ok_or_else(crate::exec::context::misfit)
    }

    pub(super) async fn alter_domain(&mut self, alter: &AlterDomain) -> Result<(), SqlError> {
        let (schema, at) = self.find_domain(&alter.name)?;
        let mut domain = self.domain_at(&schema, at)?;
        let mut must_hold = false;
        match &alter.action {
            AlterDomainAction::SetDefault(default) => domain.default = self.default_text(default, domain.base)?,
            AlterDomainAction::DropDefault => domain.default = None,
            AlterDomainAction::SetNotNull => {
                must_hold = !domain.not_null;
                domain.not_null = true;
            }
            AlterDomainAction::DropNotNull => domain.not_null = false,
            AlterDomainAction::AddCheck(check) => {
                let made = self.domain_check(&domain, check).await?;
                must_hold = made.validated;
                domain.checks.push(made);
            }
            AlterDomainAction::DropConstraint { constraint, if_exists } => {
                let before = domain.checks.len();
                domain.checks.retain(|check| check.name != *constraint);
                if domain.checks.len() == before {
                    let missing = no_constraint(constraint, &domain);
                    if !if_exists {
                        return Err(missing);
                    }
                    self.notice(format!("{}, skipping", missing.fields().message));
                    return Ok(());
                }
            }
            AlterDomainAction::RenameConstraint { constraint, name } => {
                if domain.checks.iter().any(|check| check.name == *name) {
                    let message = format!("constraint \"{name}\" for domain {} already exists", quote_ident(&domain.name));
                    return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
                }
                let missing = no_constraint(constraint, &domain);
                domain.checks.iter_mut().find(|check| check.name == *constraint).ok_or(missing)?.name.clone_from(name);
            }
            AlterDomainAction::ValidateConstraint(constraint) => {
                let missing = no_constraint(constraint, &domain);
                let check = domain.checks.iter_mut().find(|check| check.name == *constraint).ok_or(missing)?;
                must_hold = !check.validated;
                check.validated = true;
            }
            AlterDomainAction::RenameTo(name) => {
                if self.is_type_name_taken(&schema, name) {
                    return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, format!("type \"{name}\" already exists")));
                }
                domain.name.clone_from(name);
            }
            AlterDomainAction::OwnerTo(owner) => domain.owner.clone_from(owner),
        }
        let oid = domain.oid;
        self.change_schema(&schema, |schema| schema.domains[at] = domain)?;
        if must_hold { self.validate_domain(oid).await } else { Ok(()) }
    }

    /// What columns of a domain, and of those made over it, hold already must be allowed by it.
    async fn validate_domain(&mut self, oid: Oid) -> Result<(), SqlError> {
        self.validate_reads();
        let catalog = self.snapshot();
        let mut tables: Vec<TableDescriptor> = catalog
            .relations()
            .map(|relation| TableDescriptor::clone(relation.descriptor()))
            .filter(|t| t.kind == RelationKind::Table)
            .collect();
        tables.sort_unstable_by_key(|table| table.oid);
        for table in &tables {
            for (position, column) in table.visible_columns() {
                let Some(declared) = column.declared else { continue };
                if !catalog.domain_chain(declared).iter().any(|domain| domain.oid == oid) {
                    continue;
                }
                let Some(checks) = domain_checks(declared, &catalog, self.ctx.plan_settings)? else { continue };
                let mut rest = Some(Span::index(index_id(&table.primary)));
                while let Some(rows) = self.page(table, &mut rest).await? {
                    for (_, row) in &rows {
                        let value = row.get(position).unwrap_or(&Datum::Null);
                        let held = checks.check(value, &self.ctx.eval());
                        held.map_err(|error| does_not_hold(&error, &column.name, table))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// DROP TYPE: of an enum or of a domain.
    pub(super) async fn drop_type(&mut self, name: &ObjectName, drop: &Drop) -> Result<(), SqlError> {
        match self.find_domain(name) {
            Ok(_) => self.drop_domain(name, drop).await,
            Err(_) => self.drop_enum(name, drop),
        }
    }

    /// The domain behind an output column of a query that is a table's column.
    pub(super) fn declared_of(&self, table: Oid, attnum: impl TryInto<u32>) -> Option<Oid> {
        let attnum = attnum.try_into().ok()?;
        self.catalog().table(table)?.columns.iter().find(|column| column.attnum == attnum)?.declared
    }

    pub(super) async fn drop_domain(&mut self, name: &ObjectName, drop: &Drop) -> Result<(), SqlError> {
        let (schema, at) = match self.find_domain(name) {
            Ok(found) => found,
            Err(error) if drop.if_exists && error.state() == SqlState::UNDEFINED_OBJECT => {
                self.notice(format!("type \"{}\" does not exist, skipping", name.name));
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let domain = self.domain_at(&schema, at)?;
        let above: Vec<(String, DomainDescriptor)> = {
            let made_over = self.catalog().domains().filter(|(_, other)| other.parent == Some(domain.oid));
            made_over.map(|(schema, other)| (schema.name.clone(), other.clone())).collect()
        };
        let columns = self.columns_declared(&domain);
        if !drop.cascade {
            self.refuse_used_domain(&domain)?;
        }
        let types = above.iter().map(|(_, other)| format!("type {}", other.name));
        let lines: Vec<String> =
            types.chain(columns.iter().map(|(table, column, _)| format!("column {column} of table {}", table.name))).collect();
        self.dependents(&format!("type {}", domain.name), &lines, drop.cascade)?;
        for (schema, other) in above {
            let name = ObjectName { schema: Some(schema), ..ObjectName::bare(other.name) };
            Box::pin(self.drop_domain(&name, drop)).await?;
        }
        for (table, column, _) in columns {
            let column = crate::ast::Ident { value: column, pos: 0 };
            let table = self.table(table.oid)?;
            self.drop_column(table, &column, true, true).await?;
        }
        self.drop_dependents(super::dependents::Object::Type(domain.oid), drop.cascade)?;
        self.change_schema(&schema, |schema| schema.domains.retain(|other| other.oid != domain.oid))
    }

    /// The error that says what uses a domain, if anything does: what has the array type first, as that goes before the domain.
    fn refuse_used_domain(&self, domain: &DomainDescriptor) -> Result<(), SqlError> {
        let mut lines = Vec::new();
        self.lines_of_users(domain, &mut lines);
        if lines.is_empty() {
            return Ok(());
        }
        let message = format!("cannot drop type {} because other objects depend on it", domain.name);
        Err(SqlError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, message)
            .detail(lines.join("\n"))
            .hint("Use DROP ... CASCADE to drop the dependent objects too."))
    }

    fn lines_of_users(&self, domain: &DomainDescriptor, lines: &mut Vec<String>) {
        let columns = self.columns_declared(domain);
        let line = |(table, column, is_array): &(TableDescriptor, String, bool)| {
            format!("column {column} of table {} depends on type {}{}", table.name, domain.name, if *is_array { "[]" } else { "" })
        };
        lines.extend(columns.iter().filter(|(.., is_array)| *is_array).map(line));
        for (_, other) in self.catalog().domains().filter(|(_, other)| other.parent == Some(domain.oid)) {
            lines.push(format!("type {} depends on type {}", other.name, domain.name));
            self.lines_of_users(other, lines);
        }
        lines.extend(columns.iter().filter(|(.., is_array)| !*is_array).map(line));
    }

    /// Columns that were declared with a domain, or (true) with an array of it.
    fn columns_declared(&self, domain: &DomainDescriptor) -> Vec<(TableDescriptor, String, bool)> {
        let declared = |oid: Option<Oid>| oid.is_some_and(|oid| oid == domain.oid || oid == domain.array_oid);
        let mut tables: Vec<_> = self.catalog().relations().map(|relation| relation.descriptor()).collect();
        tables.sort_unstable_by_key(|table| table.oid);
        let columns = |table: &TableDescriptor| -> Vec<(TableDescriptor, String, bool)> {
            let own = table.visible_columns().filter(|(_, column)| declared(column.declared));
            own.map(|(_, column)| (table.clone(), column.name.clone(), column.declared == Some(domain.array_oid))).collect()
        };
        tables.into_iter().filter(|table| table.kind == RelationKind::Table).flat_map(|table| columns(table)).collect()
    }
}

fn no_constraint(constraint: &str, domain: &DomainDescriptor) -> SqlError {
    let shown = DataType(domain.oid).to_string();
    SqlError::new(SqlState::UNDEFINED_OBJECT, format!("constraint \"{constraint}\" of domain \"{shown}\" does not exist"))
}

fn does_not_hold(error: &SqlError, column: &str, table: &TableDescriptor) -> SqlError {
    let state = error.state();
    let message = match state {
        SqlState::NOT_NULL_VIOLATION => format!("column \"{column}\" of table \"{}\" contains null values", table.name),
        SqlState::CHECK_VIOLATION => {
            format!("column \"{column}\" of table \"{}\" contains values that violate the new constraint", table.name)
        }
        _ => return error.clone(),
    };
    let mut error = SqlError::new(state, message);
    let fields = error.fields_mut();
    (fields.schema, fields.table, fields.column) = (Some(table.schema.clone()), Some(table.name.clone()), Some(column.to_owned()));
    error
}
