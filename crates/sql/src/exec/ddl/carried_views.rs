//! Views mean what they meant, whatever their tables and columns are called now.
//!
//! A view is kept as text. When something that it names gets another name, the places where the text names it are found by binding it, and changed there;
//! what was shown under the old name goes on under it (`b AS a`, `FROM new AS old`). The changed text is bound again, and must find the same columns in the
//! same order of places; a view whose text cannot be changed that way (USING, NATURAL) is a reason to refuse the renaming.
//!
//! Another name in a table, a new column's too, must not become what a view's text means: names are stored with their relations (`view.rs`), and where that
//! is not enough (NATURAL, USING) the definition is refused.

use super::Ddl;
use crate::bind::logical::Bound;
use crate::bind::{Mentions, bind_with_mentions};
use crate::catalog::{Oid, TableDescriptor};
use crate::error::SqlError;
use crate::functions::quoting::quote_ident;

/// What gets another name.
pub(super) enum Renaming<'n> {
    /// A column: its attribute number, its names.
    Column { attnum: u32, from: &'n str, to: &'n str },
    /// A relation: its name before, its schema and name afterwards.
    Relation { from: &'n str, schema: &'n str, to: &'n str },
}

/// What a view's text means: the columns it names by their relation and attribute number, in the order in which they are bound, and the names it shows.
#[derive(PartialEq)]
pub(super) struct Meaning {
    columns: Vec<Option<(Oid, u32)>>,
    names: Vec<String>,
}

impl Meaning {
    fn of(bound: &Bound, mentions: &Mentions) -> Meaning {
        let column = |id: usize| bound.columns.get(id).map(|info| (info.table, info.attnum));
        Meaning {
            columns: mentions.columns.iter().map(|(_, id, _)| column(*id)).collect(),
            names: bound.output.iter().map(|(name, _)| name.clone()).collect(),
        }
    }
}

/// A change of a view's text: the identifiers at a 1-based character position, and what stands there instead.
struct Edit {
    start: usize,
    text: String,
    /// The whole of `schema.name`, not only one identifier.
    chain: bool,
}

impl Ddl<'_, '_> {
    /// Puts a relation under other names, and changes the views that name it.
    pub(super) fn put_renamed(&mut self, table: TableDescriptor, renaming: &Renaming<'_>) -> Result<(), SqlError> {
        let oid = table.oid;
        if self.is_used_by_function(oid) {
            return Err(SqlError::unsupported("renaming what a function's body refers to"));
        }
        let mut carried = Vec::new();
        for view in self.views_on(&[oid]) {
            let Some(text) = view.view_query.clone() else { continue };
            let query = crate::parse::parse_query(&text)?;
            let (bound, mentions) = bind_with_mentions(&query, &self.snapshot(), self.ctx.plan_settings)?;
            let is_of = |id: usize, attnum: u32| bound.columns.get(id).is_some_and(|info| info.table == oid && info.attnum == attnum);
            let edits = edits(oid, renaming, &mentions, &is_of);
            if mentions.tables.iter().any(|(_, of, _)| *of == oid) {
                carried.push((view, edited(&text, edits), Meaning::of(&bound, &mentions)));
            }
        }
        self.put(table);
        for (mut view, text, before) in carried {
            if self.meaning(&text).ok() != Some(before) {
                return Err(SqlError::unsupported(format!("renaming what the view \"{}\" uses in that way", view.name)));
            }
            if view.view_query.as_ref() != Some(&text) {
                view.view_query = Some(text);
                self.put(view);
            }
        }
        Ok(())
    }

    /// What the views on a relation mean.
    pub(super) fn meanings(&self, oid: Oid) -> Vec<(TableDescriptor, Meaning)> {
        let meaning = |view: TableDescriptor| {
            let meaning = self.meaning(view.view_query.as_deref()?).ok()?;
            Some((view, meaning))
        };
        self.views_on(&[oid]).into_iter().filter_map(meaning).collect()
    }

    /// A relation has got a column: its views must mean what they meant.
    pub(super) fn check_meanings(&self, before: &[(TableDescriptor, Meaning)]) -> Result<(), SqlError> {
        for (view, before) in before {
            if self.meaning(view.view_query.as_deref().unwrap_or_default()).ok().as_ref() != Some(before) {
                let message = format!("adding a column by which the view \"{}\" would mean something else", view.name);
                return Err(SqlError::unsupported(message));
            }
        }
        Ok(())
    }

    fn meaning(&self, text: &str) -> Result<Meaning, SqlError> {
        let (bound, mentions) = bind_with_mentions(&crate::parse::parse_query(text)?, &self.snapshot(), self.ctx.plan_settings)?;
        Ok(Meaning::of(&bound, &mentions))
    }
}

fn edits(oid: Oid, renaming: &Renaming<'_>, mentions: &Mentions, is_of: &dyn Fn(usize, u32) -> bool) -> Vec<Edit> {
    match renaming {
        Renaming::Column { attnum, from, to } => {
            let named = mentions.columns.iter().filter(|(start, id, direct)| *direct && *start > 0 && is_of(*id, *attnum));
            let edit = |start: usize| {
                let shown = if mentions.bare_items.contains(&start) { format!(" AS {}", quote_ident(from)) } else { String::new() };
                Edit { start, text: format!("{}{shown}", quote_ident(to)), chain: false }
            };
            named.map(|(start, ..)| edit(*start)).collect()
        }
        Renaming::Relation { from, schema, to } => {
            let named = mentions.tables.iter().filter(|(start, of, _)| *start > 0 && *of == oid);
            let edit = |start: usize, aliased: bool| {
                let alias = if aliased || from == to { String::new() } else { format!(" AS {}", quote_ident(from)) };
                Edit { start, text: format!("{}.{}{alias}", quote_ident(schema), quote_ident(to)), chain: true }
            };
            named.map(|(start, _, aliased)| edit(*start, *aliased)).collect()
        }
    }
}

/// The text with its changes.
fn edited(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_unstable_by_key(|edit| edit.start);
    // What was bound twice (GROUP BY an output column) stands there once.
    edits.dedup_by_key(|edit| edit.start);
    let mut out = String::with_capacity(text.len());
    let mut taken = 0;
    for edit in edits {
        let Some((start, _)) = text.char_indices().nth(edit.start - 1).filter(|(start, _)| *start >= taken) else { continue };
        out.push_str(&text[taken..start]);
        out.push_str(&edit.text);
        taken = start + identifier_length(&text[start..], edit.chain);
    }
    out.push_str(&text[taken..]);
    out
}

/// How long an identifier is, or (`chain`) several with points between them.
fn identifier_length(text: &str, chain: bool) -> usize {
    let mut length = 0;
    loop {
        let rest = &text[length..];
        length += match rest.strip_prefix('"') {
            Some(quoted) => quoted_length(quoted) + 1,
            None => rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').unwrap_or(rest.len()),
        };
        let rest = &text[length..];
        if !chain || !rest.starts_with('.') {
            return length;
        }
        length += 1;
    }
}

/// Up to and including the quote that ends it; two in a row are one of its characters.
fn quoted_length(text: &str) -> usize {
    let mut at = 0;
    while let Some(found) = text[at..].find('"') {
        at += found + 1;
        if !text[at..].starts_with('"') {
            return at;
        }
        at += 1;
    }
    text.len()
}
