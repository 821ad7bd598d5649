//! Views mean what they meant, whatever their tables and columns are called now.
//!
//! A view is kept as text. When something that it names gets another name, the places where the text names it are found by binding it, and changed there;
//! what was shown under the old name goes on under it (`b AS a`, `FROM new AS old`). The changed text is bound again, and must find the same columns in the
//! same order of places; a view whose text cannot be changed that way (USING, NATURAL) is a reason to refuse the renaming.

use super::Ddl;
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
        let mut carried = Vec::new();
        for view in self.views_on(&[oid]) {
            let Some(text) = view.view_query.clone() else { continue };
            let query = crate::parse::parse_query(&text)?;
            let (bound, mentions) = bind_with_mentions(&query, &self.snapshot(), self.ctx.plan_settings)?;
            let is_of = |id: usize, attnum: u32| bound.columns.get(id).is_some_and(|info| info.table == oid && info.attnum == attnum);
            let edits = edits(oid, renaming, &mentions, &is_of);
            if mentions.tables.iter().any(|(_, of, _)| *of == oid) && !edits.is_empty() {
                let names: Vec<String> = bound.output.iter().map(|(name, _)| name.clone()).collect();
                carried.push((view, edited(&text, edits), mentions, names));
            }
        }
        self.put(table);
        for (mut view, text, before, names) in carried {
            let bound =
                crate::parse::parse_query(&text).and_then(|query| bind_with_mentions(&query, &self.snapshot(), self.ctx.plan_settings));
            let same = bound.is_ok_and(|(bound, after)| {
                let columns = |mentions: &Mentions| mentions.columns.iter().map(|(_, id, _)| *id).collect::<Vec<_>>();
                columns(&before) == columns(&after) && bound.output.iter().map(|(name, _)| name).eq(&names)
            });
            if !same {
                return Err(SqlError::unsupported(format!("renaming what the view \"{}\" uses in that way", view.name)));
            }
            view.view_query = Some(text);
            self.put(view);
        }
        Ok(())
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
