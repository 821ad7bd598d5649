//! CREATE, ALTER and DROP DATABASE.

use super::Pos;

/// CREATE DATABASE.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct CreateDatabase {
    pub name: String,
    pub options: Vec<DatabaseOption>,
}

/// `name = value`.
#[derive(Clone, Debug)]
pub struct DatabaseOption {
    /// In lower case; CONNECTION LIMIT is `connection_limit`.
    pub name: String,
    /// None is DEFAULT.
    pub value: Option<String>,
    /// Where it stands.
    pub pos: Pos,
}

/// DROP DATABASE.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct DropDatabase {
    pub name: String,
    pub if_exists: bool,
    /// WITH (FORCE): its sessions are ended.
    pub force: bool,
}

/// ALTER DATABASE.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct AlterDatabase {
    pub name: String,
    pub action: AlterDatabaseAction,
}

/// What ALTER DATABASE does.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum AlterDatabaseAction {
    RenameTo(String),
    OwnerTo(String),
    Tablespace(String),
    Options(Vec<DatabaseOption>),
    Setting(SettingChange),
}

/// A change of what new sessions begin with.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum SettingChange {
    /// SET; without a value RESET.
    Set {
        name: String,
        values: Option<Vec<String>>,
    },
    /// SET ... FROM CURRENT.
    FromCurrent(String),
    ResetAll,
}
