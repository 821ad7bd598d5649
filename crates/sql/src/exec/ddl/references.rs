//! What definitions refer to, exactly: relations with their columns, functions, types.
//!
//! An expression or a query that is kept is bound when its relation's descriptor is written, and what it refers to is kept beside it ([`References`]). DROP
//! looks there, and so does `pg_depend`. Functions are named in kept texts with their schemas, so that a text means the same along every search path.

use super::Ddl;
use super::view::rewritten;
use crate::ast::{FunctionBody, Statement};
use crate::bind::{bind_stored, statement_references};
use crate::catalog::{FunctionDescriptor, Reference, RelationKind, TableDescriptor, TablePart};
use crate::error::SqlError;
use crate::plan::PlanSettings;

/// A body as it is kept, and what it refers to.
pub(super) struct StoredBody {
    pub(super) body: FunctionBody,
    pub(super) references: Vec<Reference>,
}

impl Ddl<'_, '_> {
    /// Notes what a relation's expressions refer to. One that cannot be bound (what it refers to is being dropped) keeps what was noted before.
    pub(super) fn note_references(&self, table: &mut TableDescriptor) {
        let snapshot = self.snapshot();
        let settings = self.ctx.plan_settings;
        let known = std::mem::take(&mut table.references);
        let mut noted: Vec<(TablePart, Reference)> = Vec::new();
        let mut note = |part: TablePart, found: Result<Vec<Reference>, SqlError>| match found {
            Ok(references) => noted.extend(references.into_iter().map(|reference| (part, reference))),
            Err(_) => noted.extend(known.iter().filter(|(of, _)| *of == part)),
        };
        if let Some(text) = table.view_query.as_ref().filter(|_| table.kind == RelationKind::View) {
            let statement = crate::parse::parse_query(text).map(|query| Statement::Query(Box::new(query)));
            note(
                TablePart::View,
                statement.and_then(|statement| statement_references(&statement, None, &snapshot, settings)).map(|found| found.references),
            );
        }
        let row = table.clone();
        let stored = |text: &mut String, own: Option<&TableDescriptor>| {
            let bound = bind_stored(text, own, &snapshot, settings)?;
            if !bound.rewrites.is_empty() {
                *text = rewritten(text, &bound.rewrites);
            }
            Ok(bound.references)
        };
        for column in table.columns.iter_mut().filter(|column| !column.dropped) {
            if let Some(text) = &mut column.default {
                note(TablePart::Default(column.attnum), stored(text, None));
            }
            if let Some(text) = &mut column.generated {
                note(TablePart::Default(column.attnum), stored(text, Some(&row)));
            }
        }
        for check in &mut table.checks {
            note(TablePart::Check(check.oid), stored(&mut check.expr, Some(&row)));
        }
        for index in &mut table.indexes {
            if let Some(text) = &mut index.predicate {
                note(TablePart::Index(index.oid), stored(text, Some(&row)));
            }
        }
        noted.sort_unstable();
        noted.dedup();
        table.references = noted;
    }

    /// A function's body with its names written out.
    pub(super) fn stored_body(&self, function: &FunctionDescriptor, settings: &PlanSettings) -> Result<StoredBody, SqlError> {
        let snapshot = self.snapshot();
        let types = function.input_types();
        let scope = crate::bind::FunctionScope::of(function, &types, &snapshot);
        let mut references = Vec::new();
        let mut stored = |text: &str, prefix: &str| -> Result<String, SqlError> {
            let whole = format!("{prefix}{text}");
            let mut statements = crate::parse::parse(&whole)?;
            let Some(parsed) = statements.pop() else { return Ok(text.to_owned()) };
            let found = statement_references(&parsed.statement, Some(&scope), &snapshot, settings)?;
            references.extend(found.references);
            let whole = rewritten(&whole, &found.rewrites);
            Ok(whole.strip_prefix(prefix).unwrap_or(&whole).to_owned())
        };
        let body = match &function.body {
            FunctionBody::Text(text) => FunctionBody::Text(text.clone()),
            FunctionBody::Return(text) => FunctionBody::Return(stored(text, "SELECT ")?),
            FunctionBody::Atomic(texts) => FunctionBody::Atomic(texts.iter().map(|text| stored(text, "")).collect::<Result<_, _>>()?),
        };
        Ok(StoredBody { body, references })
    }
}
