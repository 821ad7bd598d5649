//! Definitions: CREATE, ALTER, DROP, TRUNCATE, COMMENT, and ANALYZE.
//!
//! DDL is transactional. A `Ddl` edits a copy of the catalog, notes each changed descriptor, and writes them with the next catalog version at its end; the
//! transaction sees its own definitions from then on ([`super::TxnState::catalog`]), the others after the commit. The version's key is locked first, so that
//! two transactions never define at the same time; a statement that meets a newer version than it was planned against is to be run again (40001).
//!
//! **What reads a table to define something** (an index, a constraint) must not miss a row that another transaction commits meanwhile: from then on the
//! transaction is validated as SERIALIZABLE, whatever level it began with. Writers in turn assert at commit that the definitions they wrote by still hold.
//!
//! Dropped data is given up after the commit ([`super::after_commit`]).

mod alter;
mod analyze;
mod carried_views;
mod columns;
mod constraint;
mod create_table;
mod database;
mod dependents;
mod domain;
mod drop;
mod enums;
mod expression_index;
mod function;
mod grant;
mod index;
mod references;
mod rewrite;
mod sequence;
mod temporary;
mod view;

use super::{ExecContext, Notice};
use crate::ast::{ObjectName, Statement};
use crate::catalog::rows::{PG_CLASS, PG_CONSTRAINT};
use crate::catalog::store::{self, Change};
use crate::catalog::{Catalog, CatalogBuilder, Oid, Relation, RelationKind, SchemaDescriptor, TableDescriptor, TemporaryObjects};
use crate::error::{SqlError, SqlState};
use crate::types::Datum;
use std::sync::Arc;
use tidelock_base::{IndexId, Key, RowPage, Span};
use tidelock_kvapi::{Isolation, Limit, LockStrength};
use tidelock_kvclient::ScanOptions;

pub use columns::relation_columns;
pub(crate) use database::no_such_database;
pub use temporary::on_commit;

/// Rows read in one request while an index is built or a constraint checked.
const BACKFILL_ROWS: u64 = 1000;

/// Runs a definition or a maintenance statement; gives the command tag (for CREATE TABLE AS with its row count).
pub async fn run_ddl(statement: &Statement, ctx: &mut ExecContext<'_>) -> Result<String, SqlError> {
    if ctx.txn.options().read_only {
        let message = format!("cannot execute {} in a read-only transaction", statement.tag());
        return Err(SqlError::new(SqlState::READ_ONLY_SQL_TRANSACTION, message));
    }
    let tag = statement.tag().to_owned();
    if let Statement::CreateTableAs(create) = statement {
        return create_table::create_table_as(create, ctx).await;
    }
    if let Statement::Vacuum(vacuum) = statement {
        analyze::vacuum(vacuum, ctx).await?;
        return Ok(tag);
    }
    if let Some(change) = database::change_of(statement) {
        change.run(ctx).await?;
        return Ok(tag);
    }
    let mut ddl = Ddl::begin_for(statement, ctx).await?;
    match statement {
        Statement::CreateTable(create) => ddl.create_table(create).await?,
        Statement::AlterTable(alter) => ddl.alter_table(alter).await?,
        Statement::CreateIndex(create) => ddl.create_index(create).await?,
        Statement::CreateSchema(create) => ddl.create_schema(create).await?,
        Statement::CreateSequence(create) => ddl.create_sequence(create).await?,
        Statement::AlterSequence(alter) => ddl.alter_sequence(alter).await?,
        Statement::CreateView(create) => ddl.create_view(create).await?,
        Statement::CreateFunction(create) => ddl.create_function(create).await?,
        Statement::AlterFunction(alter) => ddl.alter_function(alter)?,
        Statement::DropFunction(drop) => ddl.drop_functions(drop)?,
        Statement::AlterIndexRename { index, if_exists, name } => ddl.rename_index(index, *if_exists, name)?,
        Statement::AlterSchemaRename { schema, name } => ddl.rename_schema(schema, name)?,
        Statement::AlterSchemaOwner { schema, owner } => ddl.change_schema(schema, |schema| schema.owner.clone_from(owner))?,
        Statement::Grant(grant) => ddl.grant(grant)?,
        Statement::CreateDomain(create) => ddl.create_domain(create).await?,
        Statement::AlterDomain(alter) => ddl.alter_domain(alter).await?,
        Statement::CreateEnum { name, labels } => ddl.create_enum(name, labels).await?,
        Statement::AlterEnum { name, action } => ddl.alter_enum(name, action).await?,
        Statement::Drop(drop) => ddl.drop_objects(drop).await?,
        Statement::Truncate(truncate) => ddl.truncate(truncate).await?,
        Statement::Discard(_) => ddl.discard_temporary()?,
        Statement::Comment(comment) => ddl.comment(comment)?,
        Statement::Analyze { targets, .. } => ddl.analyze(targets).await?,
        Statement::Reindex { name, kind } => ddl.reindex(name.as_ref(), *kind).await?,
        other => return Err(SqlError::unsupported(other.tag())),
    }
    ddl.finish().await?;
    Ok(tag)
}

/// One definition under way.
pub(super) struct Ddl<'c, 'a> {
    pub(super) ctx: &'c mut ExecContext<'a>,
    builder: CatalogBuilder,
    changes: Vec<Change>,
    /// The catalog's version is locked, so nobody else defines anything.
    locked: bool,
}

impl<'c, 'a> Ddl<'c, 'a> {
    async fn begin_for(statement: &Statement, ctx: &'c mut ExecContext<'a>) -> Result<Ddl<'c, 'a>, SqlError> {
        if temporary::is_temporary(statement, &ctx.catalog, &ctx.plan_settings.search_path) {
            return Ok(Ddl::begin_temporary(ctx));
        }
        Ddl::begin(ctx).await
    }

    /// Begins a definition, keeping all others out.
    async fn begin(ctx: &'c mut ExecContext<'a>) -> Result<Ddl<'c, 'a>, SqlError> {
        let mut ddl = Ddl::begin_temporary(ctx);
        ddl.lock_version().await?;
        Ok(ddl)
    }

    /// Begins a definition that probably concerns the session's temporary objects only.
    fn begin_temporary(ctx: &'c mut ExecContext<'a>) -> Ddl<'c, 'a> {
        let builder = ctx.catalog.edit();
        Ddl { ctx, builder, changes: Vec::new(), locked: false }
    }

    async fn lock_version(&mut self) -> Result<(), SqlError> {
        let version =
            store::version(self.ctx.txn, self.ctx.catalog.database_oid(), Some(LockStrength::Update)).await.map_err(|e| self.ctx.kv(e))?;
        if version != self.ctx.catalog.version() {
            return Err(super::errors::serialization("could not serialize access due to a concurrent change of a table's definition"));
        }
        self.locked = true;
        Ok(())
    }

    async fn finish(mut self) -> Result<(), SqlError> {
        let changes = std::mem::take(&mut self.changes);
        let (own, shared): (Vec<_>, Vec<_>) = changes.into_iter().partition(|change| self.concerns_temporary(change));
        if !shared.is_empty() {
            if !self.locked {
                self.lock_version().await?;
            }
            let catalog = store::write(self.ctx.txn, &self.ctx.catalog, &shared).await?;
            self.ctx.catalog = Arc::clone(&catalog);
            self.ctx.state.catalog = Some(catalog);
        }
        if !own.is_empty() {
            let catalog = store::apply(&self.ctx.catalog, self.catalog().temporary_schema(), &own);
            self.ctx.state.temporary = TemporaryObjects::of(&catalog).map(Arc::new);
            if let Some(seen) = &mut self.ctx.state.catalog {
                *seen = Arc::clone(&catalog);
            }
            self.ctx.catalog = catalog;
        }
        Ok(())
    }

    /// The catalog with the changes made so far.
    fn catalog(&self) -> &Catalog {
        self.builder.catalog()
    }

    /// A catalog to bind expressions with.
    fn snapshot(&self) -> Arc<Catalog> {
        self.builder.clone().build()
    }

    /// Adds or replaces a relation.
    fn put(&mut self, mut table: TableDescriptor) {
        self.changes.retain(|change| !matches!(change, Change::PutRelation(t) if t.oid == table.oid));
        table.temporary = self.is_temporary_schema(&table.schema);
        self.note_references(&mut table);
        if let Some(before) = self.ctx.catalog.table(table.oid) {
            table.version = before.version + 1;
        }
        self.builder.put_table(table.clone());
        self.changes.push(Change::PutRelation(table));
    }

    /// Removes a relation.
    fn remove(&mut self, oid: Oid) {
        self.changes.retain(|change| !matches!(change, Change::PutRelation(t) if t.oid == oid));
        self.builder.drop_relation(oid);
        self.changes.push(Change::DropRelation(oid));
    }

    /// The newest descriptor of a relation, to change.
    fn table(&self, oid: Oid) -> Result<TableDescriptor, SqlError> {
        let missing = || SqlError::new(SqlState::UNDEFINED_TABLE, format!("could not open relation with OID {oid}"));
        self.catalog().table(oid).map(|t| TableDescriptor::clone(t)).ok_or_else(missing)
    }

    async fn new_oid(&mut self) -> Result<Oid, SqlError> {
        store::new_oid(self.ctx.db).await.map_err(|e| self.ctx.kv(e))
    }

    async fn new_index_id(&mut self) -> Result<u64, SqlError> {
        let id = store::new_index_id(self.ctx.db).await.map_err(|e| self.ctx.kv(e))?;
        self.ctx.txn.made_index(IndexId(u32::try_from(id).unwrap_or(u32::MAX - 1)));
        Ok(id)
    }

    /// What IF NOT EXISTS leaves alone: told under the state that its error would have.
    fn skipped(&mut self, state: SqlState, message: impl std::fmt::Display) {
        self.ctx.notices.push(Notice::skipped(state, message));
    }

    fn notice(&mut self, message: String) {
        self.ctx.notices.push(Notice::notice(message));
    }

    /// From now on everything that was read must still hold at commit.
    fn validate_reads(&mut self) {
        self.ctx.txn.set_isolation(Isolation::Serializable);
    }

    /// Gives the data of indexes up, once the transaction has committed.
    fn give_up(&mut self, table: &TableDescriptor) {
        let ids = table.all_indexes().filter(|_| table.kind == RelationKind::Table).map(super::table_keys::index_id);
        self.ctx.state.dropped_indexes.extend(ids.filter(|id| *id != IndexId(0)));
    }

    // ---- names

    /// The schema in which a new object of that name goes.
    fn schema_for(&self, name: &ObjectName) -> Result<Arc<SchemaDescriptor>, SqlError> {
        self.check_database(name)?;
        let schema = match &name.schema {
            Some(schema) => {
                let missing = || SqlError::new(SqlState::INVALID_SCHEMA_NAME, format!("schema \"{schema}\" does not exist")).at(name.pos);
                self.catalog().schema(schema).ok_or_else(missing)?
            }
            None => {
                let path = &self.ctx.plan_settings.search_path;
                let missing = || SqlError::new(SqlState::INVALID_SCHEMA_NAME, "no schema has been selected to create in").at(name.pos);
                self.catalog().creation_schema(path).ok_or_else(missing)?
            }
        };
        if matches!(schema.name.as_str(), "pg_catalog" | "information_schema" | "tidelock") {
            return Err(SqlError::new(
                SqlState::INSUFFICIENT_PRIVILEGE,
                format!("permission denied to create \"{}.{}\"", schema.name, name.name),
            )
            .detail("System catalog modifications are currently disallowed."));
        }
        Ok(Arc::clone(schema))
    }

    /// Whether a relation (or an index) of that name exists in the schema.
    fn is_taken(&self, schema: &str, name: &str) -> bool {
        self.catalog().relation_in(schema, name).is_some() || self.catalog().index_in(schema, name).is_some()
    }

    /// The first free name of the form `base`, `base1`, `base2` ...
    fn free_name(&self, schema: &str, base: &str, more: &[String]) -> String {
        let taken = |name: &str| self.is_taken(schema, name) || more.iter().any(|m| m == name);
        if !taken(base) {
            return base.to_owned();
        }
        (1u32..).map(|n| format!("{base}{n}")).find(|name| !taken(name)).unwrap_or_else(|| base.to_owned())
    }

    /// Refuses what is in another database.
    fn check_database(&self, name: &ObjectName) -> Result<(), SqlError> {
        match &name.catalog {
            // Without a place, as PostgreSQL says it of definitions.
            Some(database) if database != self.catalog().database() => Err(crate::bind::in_other_database(name).nowhere()),
            _ => Ok(()),
        }
    }

    /// A stored relation by name.
    fn find(&self, name: &ObjectName) -> Result<Arc<TableDescriptor>, SqlError> {
        self.check_database(name)?;
        let shown = name.schema.as_ref().map_or(name.name.clone(), |s| format!("{s}.{}", name.name));
        match self.lookup(name) {
            Some(Relation::Table(table)) => Ok(Arc::clone(table)),
            Some(Relation::Virtual(_, table)) => {
                let message = format!("permission denied: \"{}\" is a system catalog", table.name);
                Err(SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message))
            }
            None => Err(SqlError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{shown}\" does not exist")).at(name.pos)),
        }
    }

    fn lookup(&self, name: &ObjectName) -> Option<&Relation> {
        self.catalog().resolve(name.schema.as_deref(), &name.name, &self.ctx.plan_settings.search_path)
    }

    /// A stored table by name, not a view or a sequence.
    fn find_table(&self, name: &ObjectName) -> Result<Arc<TableDescriptor>, SqlError> {
        let table = self.find(name)?;
        if table.kind == RelationKind::Table {
            return Ok(table);
        }
        Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not a table", table.name)))
    }

    // ---- reading rows while defining

    /// All rows of a table, portion by portion, with the given page; None at the end.
    async fn page(&mut self, table: &TableDescriptor, rest: &mut Option<Span>) -> Result<Option<Vec<(Key, Vec<Datum>)>>, SqlError> {
        let Some(rows) = self.stored_page(rest).await? else { return Ok(None) };
        let rows = rows.iter().map(|row| Ok((row.to_key(), super::table_keys::decode_whole(table, row.value)?)));
        rows.collect::<Result<Vec<_>, SqlError>>().map(Some)
    }

    /// The same, not decoded.
    async fn stored_page(&mut self, rest: &mut Option<Span>) -> Result<Option<RowPage>, SqlError> {
        let Some(span) = rest.take() else { return Ok(None) };
        self.ctx.cancel.check()?;
        let options = ScanOptions { limit: Limit::Keys(BACKFILL_ROWS), ..ScanOptions::default() };
        let page = self.ctx.txn.scan(span, &options).await.map_err(|e| self.ctx.kv(e))?;
        *rest = page.resume;
        Ok(Some(page.rows))
    }

    // ---- schemas

    async fn create_schema(&mut self, create: &crate::ast::CreateSchema) -> Result<(), SqlError> {
        if create.name.starts_with("pg_") {
            return Err(SqlError::new(SqlState::RESERVED_NAME, format!("unacceptable schema name \"{}\"", create.name))
                .detail("The prefix \"pg_\" is reserved for system schemas."));
        }
        if self.catalog().schema(&create.name).is_some() {
            if create.if_not_exists {
                self.skipped(SqlState::DUPLICATE_SCHEMA, format!("schema \"{}\" already exists", create.name));
                return Ok(());
            }
            return Err(SqlError::new(SqlState::DUPLICATE_SCHEMA, format!("schema \"{}\" already exists", create.name)));
        }
        let owner = create.owner.clone().unwrap_or_else(|| self.ctx.plan_settings.user.clone());
        let schema = SchemaDescriptor {
            oid: self.new_oid().await?,
            name: create.name.clone(),
            owner,
            comment: None,
            acl: None,
            enums: Vec::new(),
            domains: Vec::new(),
        };
        self.builder.put_schema(schema.clone());
        self.changes.push(Change::PutSchema(schema));
        Ok(())
    }

    fn rename_schema(&mut self, from: &str, to: &str) -> Result<(), SqlError> {
        let schema = self.catalog().schema(from).cloned();
        let schema = schema.ok_or_else(|| SqlError::new(SqlState::INVALID_SCHEMA_NAME, format!("schema \"{from}\" does not exist")))?;
        if self.catalog().schema(to).is_some() {
            return Err(SqlError::new(SqlState::DUPLICATE_SCHEMA, format!("schema \"{to}\" already exists")));
        }
        if schema.oid < crate::catalog::FIRST_USER_OID {
            return Err(SqlError::unsupported(format!("renaming the schema \"{from}\"")));
        }
        let inside: Vec<TableDescriptor> =
            self.catalog().relations().map(|r| TableDescriptor::clone(r.descriptor())).filter(|t| t.schema == from).collect();
        let mut renamed = SchemaDescriptor::clone(&schema);
        renamed.name = to.to_owned();
        self.builder.drop_schema(from);
        self.builder.put_schema(renamed.clone());
        self.changes.push(Change::PutSchema(renamed));
        for function in self.catalog().functions_in_order().into_iter().filter(|f| f.schema == from).cloned().collect::<Vec<_>>() {
            self.refuse_referred(function.oid)?;
            let mut function = crate::catalog::FunctionDescriptor::clone(&function);
            function.schema = to.to_owned();
            self.put_function(function);
        }
        for mut table in inside {
            table.schema = to.to_owned();
            self.put(table);
        }
        Ok(())
    }

    // ---- comments

    fn comment(&mut self, comment: &crate::ast::Comment) -> Result<(), SqlError> {
        use crate::ast::ObjectKind as Kind;
        match comment.kind {
            Kind::Function => self.comment_function(comment),
            Kind::Table | Kind::View | Kind::Sequence | Kind::Column => {
                let mut table = TableDescriptor::clone(&*self.find(&comment.name)?);
                let number = match &comment.part {
                    None => 0,
                    Some(column) => {
                        let missing = || columns::no_such_column(column, &table.name, 0);
                        table.column_position(column).map(|p| p as u32 + 1).ok_or_else(missing)?
                    }
                };
                table.comments.retain(|(n, _)| *n != number);
                table.comments.extend(comment.text.clone().map(|text| (number, text)));
                self.put(table);
                Ok(())
            }
            Kind::Schema => self.change_schema(&comment.name.name, |schema| schema.comment.clone_from(&comment.text)),
            Kind::Index => {
                self.check_database(&comment.name)?;
                let found =
                    self.catalog().resolve_index(comment.name.schema.as_deref(), &comment.name.name, &self.ctx.plan_settings.search_path);
                let missing = || SqlError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{}\" does not exist", comment.name));
                let (table, place) = found.map(|(t, p)| (TableDescriptor::clone(t), p)).ok_or_else(missing)?;
                let oid = place.map_or(table.primary.oid, |at| table.indexes[at].oid);
                self.comment_part(table, PG_CLASS, oid, comment.text.clone());
                Ok(())
            }
            Kind::Domain => {
                let (schema, at) = self.find_domain(&comment.name)?;
                self.change_schema(&schema, |schema| schema.domains[at].comment.clone_from(&comment.text))
            }
            Kind::Type => {
                let (schema, at) = self.find_enum(&comment.name)?;
                self.change_schema(&schema, |schema| schema.enums[at].comment.clone_from(&comment.text))
            }
            Kind::Constraint => {
                let table = TableDescriptor::clone(&*self.find_table(&comment.name)?);
                let name = comment.part.as_deref().unwrap_or_default();
                let oid = constraint_oid(&table, name).ok_or_else(|| {
                    let message = format!("constraint \"{name}\" for table \"{}\" does not exist", table.name);
                    SqlError::new(SqlState::UNDEFINED_OBJECT, message)
                })?;
                self.comment_part(table, PG_CONSTRAINT, oid, comment.text.clone());
                Ok(())
            }
            other => Err(SqlError::unsupported(format!("COMMENT ON {}", other.noun().to_uppercase()))),
        }
    }

    /// Changes a schema's descriptor.
    fn change_schema(&mut self, name: &str, change: impl FnOnce(&mut SchemaDescriptor)) -> Result<(), SqlError> {
        let missing = || SqlError::new(SqlState::INVALID_SCHEMA_NAME, format!("schema \"{name}\" does not exist"));
        let mut schema = SchemaDescriptor::clone(self.catalog().schema(name).ok_or_else(missing)?);
        change(&mut schema);
        self.builder.put_schema(schema.clone());
        self.changes.push(Change::PutSchema(schema));
        Ok(())
    }

    fn comment_part(&mut self, mut table: TableDescriptor, class: Oid, oid: Oid, text: Option<String>) {
        table.part_comments.retain(|(c, o, _)| (*c, *o) != (class, oid));
        table.part_comments.extend(text.map(|text| (class, oid, text)));
        self.put(table);
    }
}

/// The OID of a table's constraint; a primary key's is that of its index.
fn constraint_oid(table: &TableDescriptor, name: &str) -> Option<Oid> {
    let checks = table.checks.iter().map(|c| (&c.name, c.oid));
    let uniques = table.uniques.iter().map(|u| (&u.name, u.oid));
    let keys = table.foreign_keys.iter().map(|f| (&f.name, f.oid));
    let primary = table.has_primary_key().then_some((&table.primary.name, table.primary.oid));
    checks.chain(uniques).chain(keys).chain(primary).find(|(have, _)| *have == name).map(|(_, oid)| oid)
}
