//! GRANT and REVOKE: kept in the catalog, where tools read them, and not enforced: whoever may log in may do everything.

use super::Ddl;
use crate::ast::{FunctionSignature, Grant, ObjectKind, RoutineKind};
use crate::catalog::{AclItem, FunctionDescriptor, RelationKind, TableDescriptor};
use crate::error::{SqlError, SqlState};
use crate::exec::ExecContext;
use crate::expr::ObjectKind as NamedKind;

/// Privileges of a kind of object, by word and letter, in the order in which they are shown.
#[derive(Clone, Copy)]
pub(super) struct Privileges {
    pub(super) noun: &'static str,
    pub(super) known: &'static [(&'static str, char)],
}

const OF_TABLES: Privileges = Privileges {
    noun: "table",
    known: &[("insert", 'a'), ("select", 'r'), ("update", 'w'), ("delete", 'd'), ("truncate", 'D'), ("references", 'x'), ("trigger", 't')],
};
const OF_SEQUENCES: Privileges = Privileges { noun: "sequence", known: &[("select", 'r'), ("update", 'w'), ("usage", 'U')] };
const OF_SCHEMAS: Privileges = Privileges { noun: "schema", known: &[("usage", 'U'), ("create", 'C')] };

const OF_FUNCTIONS: Privileges = Privileges { noun: "function", known: &[("execute", 'X')] };

impl Ddl<'_, '_> {
    fn grant_functions(&mut self, grant: &Grant, kind: RoutineKind, signatures: &[FunctionSignature]) -> Result<(), SqlError> {
        let grantees = grant.grantees.iter().map(|name| grantee(name, self.ctx)).collect::<Result<Vec<_>, _>>()?;
        for signature in signatures {
            let mut function = FunctionDescriptor::clone(&*self.find_function(kind, signature)?);
            // Everybody may call a function until that is taken from him.
            let everybody = || {
                let of = |grantee: &str| AclItem { grantee: grantee.into(), privileges: "X".into(), grantor: function.owner.clone() };
                vec![of(""), of(&function.owner)]
            };
            let before = function.acl.take().unwrap_or_else(everybody);
            function.acl = Some(changed(Some(before), grant, &grantees, OF_FUNCTIONS, &function.owner)?);
            self.put_function(function);
        }
        Ok(())
    }

    pub(super) fn grant(&mut self, grant: &Grant) -> Result<(), SqlError> {
        if let Some((kind, signatures)) = &grant.routines {
            return self.grant_functions(grant, *kind, signatures);
        }
        let Some((kind, names)) = &grant.objects else { return Err(SqlError::unsupported("GRANT of a role")) };
        let grantees = grant.grantees.iter().map(|name| grantee(name, self.ctx)).collect::<Result<Vec<_>, _>>()?;
        for name in names {
            match kind {
                ObjectKind::Table | ObjectKind::Sequence | ObjectKind::View => {
                    let mut table = TableDescriptor::clone(&*self.find(name)?);
                    let known = if table.kind == RelationKind::Sequence { OF_SEQUENCES } else { OF_TABLES };
                    let acl = changed(table.acl.take(), grant, &grantees, known, &table.owner)?;
                    table.acl = Some(acl);
                    self.put(table);
                }
                ObjectKind::Schema => {
                    let schema = self.catalog().schema(&name.name).cloned();
                    let missing = || SqlError::new(SqlState::INVALID_SCHEMA_NAME, format!("schema \"{name}\" does not exist"));
                    let schema = schema.ok_or_else(missing)?;
                    let acl = changed(schema.acl.clone(), grant, &grantees, OF_SCHEMAS, &schema.owner)?;
                    self.change_schema(&name.name, |schema| schema.acl = Some(acl))?;
                }
                other => return Err(SqlError::unsupported(format!("GRANT on a {}", other.noun()))),
            }
        }
        Ok(())
    }
}

/// A role that exists; PUBLIC is the empty name.
pub(super) fn grantee(name: &str, ctx: &ExecContext<'_>) -> Result<String, SqlError> {
    if name == "public" {
        return Ok(String::new());
    }
    let name = if matches!(name, "current_user" | "current_role" | "session_user") { &ctx.plan_settings.user } else { name };
    match ctx.session.object_oid(NamedKind::Role, &crate::session::quoted(name)) {
        Some(_) => Ok(name.to_owned()),
        None => Err(SqlError::new(SqlState::UNDEFINED_OBJECT, format!("role \"{name}\" does not exist"))),
    }
}

/// The privileges after the statement.
pub(super) fn changed(
    before: Option<Vec<AclItem>>,
    grant: &Grant,
    grantees: &[String],
    of: Privileges,
    owner: &str,
) -> Result<Vec<AclItem>, SqlError> {
    let letters = letters(&grant.privileges, of)?;
    let all: String = of.known.iter().map(|(_, letter)| *letter).collect();
    let mut acl = before.unwrap_or_else(|| vec![AclItem { grantee: owner.into(), privileges: all, grantor: owner.into() }]);
    for grantee in grantees {
        let at = acl.iter().position(|item| item.grantee == *grantee).unwrap_or_else(|| {
            acl.push(AclItem { grantee: grantee.clone(), privileges: String::new(), grantor: owner.into() });
            acl.len() - 1
        });
        let held = &mut acl[at].privileges;
        *held = of.known.iter().map(|(_, letter)| shown(held, *letter, letters.contains(letter), grant)).collect();
    }
    acl.retain(|item| !item.privileges.is_empty());
    Ok(acl)
}

/// A letter as it is shown afterwards: absent, or with a star when it may be passed on.
fn shown(held: &str, letter: char, mentioned: bool, grant: &Grant) -> String {
    let has = held.contains(letter);
    let may_grant = held.contains(&format!("{letter}*"));
    let (has, may_grant) = match (mentioned, grant.revoke) {
        (false, _) => (has, may_grant),
        (true, true) => (false, false),
        (true, false) => (true, may_grant || grant.with_grant_option),
    };
    match (has, may_grant) {
        (false, _) => String::new(),
        (true, false) => letter.to_string(),
        (true, true) => format!("{letter}*"),
    }
}

fn letters(words: &[String], of: Privileges) -> Result<Vec<char>, SqlError> {
    let mut letters = Vec::new();
    for word in words {
        if word == "all" {
            letters.extend(of.known.iter().map(|(_, letter)| *letter));
            continue;
        }
        let plain = if word == "temp" { "temporary" } else { word.as_str() };
        let Some((_, letter)) = of.known.iter().find(|(name, _)| *name == plain) else {
            let message = format!("invalid privilege type {} for {}", word.to_uppercase(), of.noun);
            return Err(SqlError::new(SqlState("0LP01"), message));
        };
        letters.push(*letter);
    }
    Ok(letters)
}
