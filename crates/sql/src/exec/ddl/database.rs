//! What changes a database's descriptor and nothing else: ALTER DATABASE, COMMENT ON DATABASE, GRANT ON DATABASE. They are transactional like any
//! definition, but what they change is every database's ([`crate::catalog::shared`]), so a lock of its own keeps others out.
//!
//! CREATE and DROP DATABASE, and RENAME, concern the sessions in it as well: they are the session's (`session/create_database.rs`).

use super::grant::{self, Privileges};
use crate::ast::{AlterDatabase, AlterDatabaseAction, Comment, DatabaseOption, Grant, ObjectKind, ObjectName, SettingChange, Statement};
use crate::catalog::shared::{self, SharedChange};
use crate::catalog::{AclItem, DatabaseDescriptor, Oid, SharedCatalog};
use crate::error::{SqlError, SqlState};
use crate::exec::{ExecContext, Notice};
use crate::expr::ObjectKind as NamedKind;

const OF_DATABASES: Privileges = Privileges { noun: "database", known: &[("create", 'C'), ("temporary", 'T'), ("connect", 'c')] };

/// A statement that changes what all databases share.
pub(super) enum SharedStatement<'s> {
    Alter(&'s AlterDatabase),
    Comment(&'s Comment),
    Grant(&'s Grant, &'s [ObjectName]),
}

/// The statement, if it is such a one.
pub(super) fn change_of(statement: &Statement) -> Option<SharedStatement<'_>> {
    match statement {
        Statement::AlterDatabase(alter) => Some(SharedStatement::Alter(alter)),
        Statement::Comment(comment) if comment.kind == ObjectKind::Database => Some(SharedStatement::Comment(comment)),
        Statement::Grant(grant) => match &grant.objects {
            Some((ObjectKind::Database, names)) => Some(SharedStatement::Grant(grant, names)),
            _ => None,
        },
        _ => None,
    }
}

impl SharedStatement<'_> {
    pub(super) async fn run(&self, ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
        let shared = shared::lock(ctx.txn, &ctx.catalog).await?;
        let changes = match self {
            SharedStatement::Alter(alter) => vec![altered(alter, &shared, ctx)?],
            SharedStatement::Comment(comment) => {
                let Ok(database) = named(&shared, &comment.name.name) else {
                    // PostgreSQL is as lenient here, so that a dump can be restored under another name.
                    let message = format!("database \"{}\" does not exist", comment.name.name);
                    ctx.notices.push(Notice::warning(SqlState::INVALID_CATALOG_NAME, message));
                    return Ok(());
                };
                let mut database = DatabaseDescriptor::clone(database);
                database.comment.clone_from(&comment.text);
                vec![SharedChange::PutDatabase(database)]
            }
            SharedStatement::Grant(grant, names) => granted(grant, names, &shared, ctx)?,
        };
        ctx.state.shared = Some(shared::write(ctx.txn, shared, &changes, &ctx.catalog).await?);
        Ok(())
    }
}

fn named<'s>(shared: &'s SharedCatalog, name: &str) -> Result<&'s DatabaseDescriptor, SqlError> {
    shared.database_named(name).map(AsRef::as_ref).ok_or_else(|| no_such_database(name))
}

/// `3D000`.
pub(crate) fn no_such_database(name: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_CATALOG_NAME, format!("database \"{name}\" does not exist"))
}

fn altered(alter: &AlterDatabase, shared: &SharedCatalog, ctx: &ExecContext<'_>) -> Result<SharedChange, SqlError> {
    let mut database = DatabaseDescriptor::clone(named(shared, &alter.name)?);
    match &alter.action {
        AlterDatabaseAction::OwnerTo(owner) => database.owner = role(owner, ctx)?,
        AlterDatabaseAction::Options(options) => {
            options_of(&mut database, options)?;
            if !database.allows_connections && database.oid == ctx.catalog.database_oid() {
                let message = "cannot disallow connections for current database";
                return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
            }
        }
        AlterDatabaseAction::Setting(change) => change_settings(&mut database.settings, change),
        AlterDatabaseAction::RenameTo(_) | AlterDatabaseAction::Tablespace(_) => {
            return Err(SqlError::unsupported("that form of ALTER DATABASE in a definition"));
        }
    }
    Ok(SharedChange::PutDatabase(database))
}

/// The OID of a role that exists.
fn role(name: &str, ctx: &ExecContext<'_>) -> Result<Oid, SqlError> {
    let name = if matches!(name, "current_user" | "current_role" | "session_user") { &ctx.plan_settings.user } else { name };
    let missing = || SqlError::new(SqlState::UNDEFINED_OBJECT, format!("role \"{name}\" does not exist"));
    ctx.session.object_oid(NamedKind::Role, &crate::session::quoted(name)).ok_or_else(missing)
}

/// The options that ALTER DATABASE knows.
fn options_of(database: &mut DatabaseDescriptor, options: &[DatabaseOption]) -> Result<(), SqlError> {
    for (at, option) in options.iter().enumerate() {
        if options[..at].iter().any(|other| other.name == option.name) {
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, "conflicting or redundant options").at(option.pos));
        }
        match option.name.as_str() {
            "is_template" => database.is_template = option.boolean()?,
            "allow_connections" => database.allows_connections = option.boolean()?,
            "connection_limit" => database.connection_limit = option.connection_limit()?,
            "tablespace" => {
                let message = "option \"tablespace\" cannot be specified with other options";
                return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(option.pos));
            }
            other => return Err(SqlError::new(SqlState::SYNTAX_ERROR, format!("option \"{other}\" not recognized")).at(option.pos)),
        }
    }
    Ok(())
}

/// ALTER DATABASE ... SET and its like; the session has made one value of several.
pub(super) fn change_settings(settings: &mut Vec<(String, String)>, change: &SettingChange) {
    match change {
        SettingChange::ResetAll => settings.clear(),
        SettingChange::Set { name, values: None } => settings.retain(|(known, _)| known != name),
        SettingChange::Set { name, values: Some(values) } => {
            let value = values.join(", ");
            match settings.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) => *known = value,
                None => settings.push((name.clone(), value)),
            }
        }
        // The session has put its own value in the place of this.
        SettingChange::FromCurrent(_) => {}
    }
}

fn granted(grant: &Grant, names: &[ObjectName], shared: &SharedCatalog, ctx: &ExecContext<'_>) -> Result<Vec<SharedChange>, SqlError> {
    let grantees = grant.grantees.iter().map(|name| grant::grantee(name, ctx)).collect::<Result<Vec<_>, _>>()?;
    let mut changes = Vec::new();
    for name in names {
        let mut database = DatabaseDescriptor::clone(named(shared, &name.name)?);
        let owner = ctx.session.object_name(NamedKind::Role, database.owner).unwrap_or_default();
        let item = |grantee: &str, privileges: &str| AclItem {
            grantee: grantee.to_owned(),
            privileges: privileges.to_owned(),
            grantor: owner.clone(),
        };
        let before = database.acl.take().unwrap_or_else(|| vec![item("", "Tc"), item(&owner, "CTc")]);
        database.acl = Some(grant::changed(Some(before), grant, &grantees, OF_DATABASES, &owner)?);
        changes.push(SharedChange::PutDatabase(database));
    }
    Ok(changes)
}

impl DatabaseOption {
    /// A boolean, true when nothing is said.
    pub(crate) fn boolean(&self) -> Result<bool, SqlError> {
        let Some(value) = &self.value else { return Ok(true) };
        crate::session::settings::parse_bool(value)
            .ok_or_else(|| SqlError::new(SqlState::SYNTAX_ERROR, format!("{} requires a Boolean value", self.name)))
    }

    /// CONNECTION LIMIT.
    pub(crate) fn connection_limit(&self) -> Result<i32, SqlError> {
        let Some(value) = &self.value else { return Ok(-1) };
        let limit: i32 = value.parse().map_err(|_| SqlError::new(SqlState::SYNTAX_ERROR, "connection_limit requires an integer value"))?;
        if limit < -1 {
            return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("invalid connection limit: {limit}")));
        }
        Ok(limit)
    }
}
