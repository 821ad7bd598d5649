//! What goes when something is dropped: all that refers to it, and what refers to that.
//!
//! References are exact ([`super::references`]): a relation's column, a function, a type. RESTRICT refuses with PostgreSQL's DETAIL, a line for each dependent;
//! CASCADE tells what went in one NOTICE and drops it, the outermost first.

use super::Ddl;
use crate::catalog::{FIRST_USER_OID, FunctionDescriptor, Oid, Reference, RelationKind, TableDescriptor, TablePart};
use crate::error::{SqlError, SqlState};
use crate::exec::Notice;
use crate::exec::table_keys::index_id;
use crate::functions::quoting::quote_ident;

/// Something that can depend on something else, or be depended upon.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Object {
    Relation(Oid),
    /// A column: its relation and attribute number.
    Column(Oid, u32),
    /// A column's default.
    Default(Oid, u32),
    /// A CHECK constraint of a relation.
    Check(Oid, Oid),
    /// An index of a relation.
    Index(Oid, Oid),
    /// A foreign key: the relation that refers, and the constraint.
    ForeignKey(Oid, Oid),
    Function(Oid),
    Type(Oid),
}

/// A dependent, and what it depends on.
type Dependent = (Object, Object);

impl Ddl<'_, '_> {
    /// Refuses to drop an object that others depend on; with CASCADE drops those, and says so.
    pub(super) fn drop_dependents(&mut self, object: Object, cascade: bool) -> Result<(), SqlError> {
        self.drop_dependents_of(&[object], cascade)
    }

    /// The same for an object and its parts, which go with it.
    pub(super) fn drop_dependents_of(&mut self, objects: &[Object], cascade: bool) -> Result<(), SqlError> {
        let mut found = Vec::new();
        for object in objects {
            self.collect_dependents(*object, objects, &mut found);
        }
        if found.is_empty() {
            return Ok(());
        }
        if !cascade {
            let lines: Vec<String> = found
                .iter()
                .map(|(dependent, on)| format!("{} depends on {}", self.description(*dependent), self.description(*on)))
                .collect();
            let what = objects.first().map_or(String::new(), |object| self.description(*object));
            let message = format!("cannot drop {what} because other objects depend on it");
            return Err(SqlError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, message)
                .detail(lines.join("\n"))
                .hint("Use DROP ... CASCADE to drop the dependent objects too."));
        }
        let lines: Vec<String> = found.iter().map(|(dependent, _)| format!("drop cascades to {}", self.description(*dependent))).collect();
        let notice = match lines.as_slice() {
            [one] => Notice::notice(one.clone()),
            many => {
                let mut notice = Notice::notice(format!("drop cascades to {} other objects", many.len()));
                notice.fields.fields_mut().detail = Some(many.join("\n"));
                notice
            }
        };
        self.ctx.notices.push(notice);
        for (dependent, _) in found.into_iter().rev() {
            self.remove_object(dependent)?;
        }
        Ok(())
    }

    /// What else goes with functions, as lines of a notice.
    pub(super) fn lines_of_functions(&self, functions: &[std::sync::Arc<FunctionDescriptor>], inside: &str) -> Vec<String> {
        let going: Vec<Object> = functions.iter().map(|function| Object::Function(function.oid)).collect();
        let mut lines = Vec::new();
        let mut found = Vec::new();
        for function in functions {
            lines.push(self.function_description(function));
            let from = found.len();
            self.collect_dependents(Object::Function(function.oid), &going, &mut found);
            let elsewhere = |object: &Object| match object {
                Object::Relation(oid)
                | Object::Column(oid, _)
                | Object::Default(oid, _)
                | Object::Check(oid, _)
                | Object::Index(oid, _) => self.catalog().table(*oid).is_none_or(|table| table.schema != inside),
                _ => true,
            };
            lines.extend(found[from..].iter().filter(|(object, _)| elsewhere(object)).map(|(object, _)| self.description(*object)));
        }
        lines
    }

    fn collect_dependents(&self, object: Object, going: &[Object], found: &mut Vec<Dependent>) {
        for dependent in self.direct_dependents(object) {
            if goes_with(dependent, going) || found.iter().any(|(known, _)| *known == dependent) {
                continue;
            }
            found.push((dependent, object));
            self.collect_dependents(dependent, going, found);
        }
    }

    /// In the order in which they were made.
    fn direct_dependents(&self, object: Object) -> Vec<Object> {
        let mut found: Vec<(Oid, Object)> = Vec::new();
        let refers = |reference: &Reference| match (object, reference) {
            (Object::Relation(oid), Reference::Relation(on, _)) => oid == *on,
            (Object::Column(oid, attnum), Reference::Relation(on, column)) => oid == *on && attnum == *column,
            (Object::Function(oid), Reference::Function(on)) | (Object::Type(oid), Reference::Type(on)) => oid == *on,
            _ => false,
        };
        for function in self.catalog().functions().filter(|function| function.references.iter().any(refers)) {
            found.push((function.oid, Object::Function(function.oid)));
        }
        for relation in self.catalog().relations() {
            let table = relation.descriptor();
            if table.oid < FIRST_USER_OID {
                continue;
            }
            let own = matches!(object, Object::Relation(oid) if oid == table.oid);
            for (part, _) in self.references_of(table).iter().filter(|(_, reference)| !own && refers(reference)) {
                if let Some(dependent) = part_of(table, *part, object) {
                    found.push((part_oid(table, *part), dependent));
                }
            }
        }
        match object {
            Object::Relation(oid) => {
                let keys = self.catalog().table(oid).map(|table| table.referenced_by.clone()).unwrap_or_default();
                found.extend(keys.iter().filter(|key| key.child != oid).map(|key| (key.oid, Object::ForeignKey(key.child, key.oid))));
            }
            Object::Column(oid, attnum) => {
                let keys = self.catalog().table(oid).map(|table| table.referenced_by.clone()).unwrap_or_default();
                let of = keys.iter().filter(|key| key.parent_columns.contains(&(attnum as usize - 1)));
                found.extend(of.map(|key| (key.oid, Object::ForeignKey(key.child, key.oid))));
            }
            _ => {}
        }
        found.sort_unstable_by_key(|(oid, _)| *oid);
        let mut objects: Vec<Object> = Vec::new();
        found.into_iter().for_each(|(_, object)| {
            if !objects.contains(&object) {
                objects.push(object);
            }
        });
        objects
    }

    /// What a relation's parts refer to. Relations that were defined before this was kept are looked at now.
    pub(super) fn references_of(&self, table: &TableDescriptor) -> Vec<(TablePart, Reference)> {
        let has_text = table.view_query.is_some()
            || !table.checks.is_empty()
            || table.columns.iter().any(|column| column.default.is_some() || column.generated.is_some())
            || table.indexes.iter().any(|index| index.predicate.is_some());
        if !table.references.is_empty() || !has_text {
            return table.references.clone();
        }
        let mut looked_at = table.clone();
        self.note_references(&mut looked_at);
        looked_at.references
    }

    /// The relations of which some part refers to a column (or to the whole, 0).
    pub(super) fn parts_that_refer(&self, table: &TableDescriptor, reference: Reference) -> Vec<TablePart> {
        self.references_of(table).into_iter().filter(|(_, known)| *known == reference).map(|(part, _)| part).collect()
    }

    /// Is there a view or a function that refers to something of the relation?
    pub(super) fn is_used_by_function(&self, oid: Oid) -> bool {
        let refers = |reference: &Reference| matches!(reference, Reference::Relation(on, _) if *on == oid);
        self.catalog().functions().any(|function| function.references.iter().any(refers))
    }

    /// An object as PostgreSQL's messages name it.
    pub(super) fn description(&self, object: Object) -> String {
        let table = |oid: Oid| self.catalog().table(oid);
        let shown = |oid: Oid| table(oid).map_or(String::new(), |table| self.shown_name(&table.schema, &table.name));
        let named_kind = |oid: Oid| {
            let noun = match table(oid).map(|table| table.kind) {
                Some(RelationKind::View) => "view",
                Some(RelationKind::Sequence) => "sequence",
                _ => "table",
            };
            format!("{noun} {}", shown(oid))
        };
        let column = |oid: Oid, attnum: u32| {
            let found = table(oid).and_then(|table| table.columns.get(attnum as usize - 1));
            found.map_or(String::new(), |column| quote_ident(&column.name).to_string())
        };
        match object {
            Object::Relation(oid) => named_kind(oid),
            Object::Column(oid, attnum) => format!("column {} of {}", column(oid, attnum), named_kind(oid)),
            Object::Default(oid, attnum) => format!("default value for column {} of {}", column(oid, attnum), named_kind(oid)),
            Object::Check(oid, check) => {
                let name =
                    table(oid).and_then(|table| table.checks.iter().find(|known| known.oid == check)).map(|check| check.name.clone());
                format!("constraint {} on {}", quote_ident(&name.unwrap_or_default()), named_kind(oid))
            }
            Object::ForeignKey(oid, key) => {
                let name =
                    table(oid).and_then(|table| table.foreign_keys.iter().find(|known| known.oid == key)).map(|key| key.name.clone());
                format!("constraint {} on {}", quote_ident(&name.unwrap_or_default()), named_kind(oid))
            }
            Object::Index(oid, index) => {
                let found = table(oid).and_then(|table| table.index_by_oid(index).map(|index| self.shown_name(&table.schema, &index.name)));
                format!("index {}", found.unwrap_or_default())
            }
            Object::Function(oid) => self.catalog().function(oid).map_or(String::new(), |function| self.function_description(function)),
            Object::Type(oid) => format!("type {}", self.shown_type(crate::types::DataType(oid))),
        }
    }

    pub(super) fn function_description(&self, function: &FunctionDescriptor) -> String {
        let own = |ty: &crate::catalog::FunctionType| crate::types::DataType(ty.declared.unwrap_or(ty.ty.0));
        let types: Vec<String> = function.inputs().map(|parameter| self.shown_type(own(&parameter.ty))).collect();
        format!("{} {}({})", function.kind.noun(), self.shown_name(&function.schema, &function.name), types.join(","))
    }

    fn shown_type(&self, ty: crate::types::DataType) -> String {
        let made = (ty.0 >= FIRST_USER_OID).then(|| self.ctx.session.object_name(crate::expr::ObjectKind::Type, ty.0)).flatten();
        made.unwrap_or_else(|| ty.to_string())
    }

    /// A name, with its schema if that is not in the search path.
    fn shown_name(&self, schema: &str, name: &str) -> String {
        let visible = self.is_temporary_schema(schema) || self.ctx.plan_settings.search_path.iter().any(|known| known == schema);
        if visible { quote_ident(name).to_string() } else { format!("{}.{}", quote_ident(schema), quote_ident(name)) }
    }

    /// Removes one dependent; what depends on it has gone before.
    fn remove_object(&mut self, object: Object) -> Result<(), SqlError> {
        match object {
            Object::Relation(oid) => self.remove_relation_itself(oid),
            Object::Function(oid) => {
                self.remove_function(oid);
                Ok(())
            }
            Object::Default(oid, attnum) => self.change_table(oid, |table| {
                if let Some(column) = table.columns.get_mut(attnum as usize - 1) {
                    column.default = None;
                }
            }),
            Object::Check(oid, check) => self.change_table(oid, |table| table.checks.retain(|known| known.oid != check)),
            Object::Index(oid, index) => self.remove_indexes(oid, &[index]),
            Object::ForeignKey(child, key) => {
                let found = self.catalog().table(child).and_then(|table| table.foreign_keys.iter().find(|known| known.oid == key).cloned());
                found.map_or(Ok(()), |key| self.drop_foreign_key(&key))
            }
            Object::Column(oid, attnum) => self.remove_column_itself(oid, attnum as usize - 1),
            Object::Type(_) => Err(SqlError::unsupported("DROP ... CASCADE to a type")),
        }
    }

    fn change_table(&mut self, oid: Oid, change: impl FnOnce(&mut TableDescriptor)) -> Result<(), SqlError> {
        if self.catalog().relation(oid).is_none() {
            return Ok(());
        }
        let mut table = self.table(oid)?;
        change(&mut table);
        self.put(table);
        Ok(())
    }

    /// Indexes go, with what only they were for.
    fn remove_indexes(&mut self, oid: Oid, gone: &[Oid]) -> Result<(), SqlError> {
        let Some(table) = self.catalog().table(oid).cloned() else { return Ok(()) };
        self.ctx.state.dropped_indexes.extend(table.indexes.iter().filter(|index| gone.contains(&index.oid)).map(index_id));
        self.change_table(oid, |table| {
            table.indexes.retain(|index| !gone.contains(&index.oid));
            table.uniques.retain(|unique| !gone.contains(&unique.index_oid));
            super::expression_index::drop_unused_expressions(table);
        })
    }

    /// A column that is not part of the key by which rows are stored goes, with the indexes, checks and foreign keys that are over it.
    pub(super) fn remove_column_itself(&mut self, oid: Oid, position: usize) -> Result<(), SqlError> {
        let Some(table) = self.catalog().table(oid).cloned() else { return Ok(()) };
        for key in table.foreign_keys.iter().filter(|key| key.child_columns.contains(&position)) {
            self.drop_foreign_key(key)?;
        }
        for sequence in self.owned_sequences(&table, Some(position)) {
            self.remove(sequence.oid);
        }
        let parts = self.parts_that_refer(&table, Reference::Relation(oid, position as u32 + 1));
        let over = |p: usize| {
            let expression = |column: &crate::catalog::Column| column.is_expression() && parts.contains(&TablePart::Default(column.attnum));
            p == position || table.columns.get(p).is_some_and(expression)
        };
        let uses = |index: &crate::catalog::IndexDescriptor| {
            index.key.iter().any(|key| over(key.column))
                || index.include.contains(&position)
                || parts.contains(&TablePart::Index(index.oid))
        };
        let gone: Vec<Oid> = table.indexes.iter().filter(|index| uses(index)).map(|index| index.oid).collect();
        self.remove_indexes(oid, &gone)?;
        self.change_table(oid, |table| {
            table.checks.retain(|check| !parts.contains(&TablePart::Check(check.oid)));
            table.comments.retain(|(number, _)| *number as usize != position + 1);
            let dropped = &mut table.columns[position];
            dropped.name = format!("........pg.dropped.{}........", position + 1);
            (dropped.dropped, dropped.nullable) = (true, true);
            (dropped.default, dropped.generated, dropped.identity, dropped.missing_value) = (None, None, None, None);
        })
    }
}

/// Is it one of the objects that go, or a part of one?
fn goes_with(object: Object, going: &[Object]) -> bool {
    let whole = match object {
        Object::Column(oid, _) | Object::Default(oid, _) | Object::Check(oid, _) | Object::Index(oid, _) | Object::ForeignKey(oid, _) => {
            oid
        }
        _ => return going.contains(&object),
    };
    going.contains(&object) || going.contains(&Object::Relation(whole))
}

/// The object that a part of a relation is.
fn part_of(table: &TableDescriptor, part: TablePart, on: Object) -> Option<Object> {
    let own_column = matches!(on, Object::Column(oid, _) if oid == table.oid);
    match part {
        TablePart::View => Some(Object::Relation(table.oid)),
        TablePart::Default(attnum) => {
            let column = table.columns.get(attnum as usize - 1)?;
            if column.is_expression() {
                // A hidden column has the value of an expression that indexes are over.
                let position = attnum as usize - 1;
                let index = table.indexes.iter().find(|index| index.key.iter().any(|key| key.column == position))?;
                return (!own_column).then_some(Object::Index(table.oid, index.oid));
            }
            Some(if column.generated.is_some() { Object::Column(table.oid, attnum) } else { Object::Default(table.oid, attnum) })
        }
        // Those of the column's own table go without a word.
        TablePart::Check(oid) => (!own_column).then_some(Object::Check(table.oid, oid)),
        TablePart::Index(oid) => (!own_column).then_some(Object::Index(table.oid, oid)),
    }
}

fn part_oid(table: &TableDescriptor, part: TablePart) -> Oid {
    match part {
        TablePart::View => table.oid,
        TablePart::Default(attnum) => {
            let position = attnum as usize - 1;
            let hidden = table.columns.get(position).is_some_and(|column| column.is_expression());
            let index = table.indexes.iter().find(|index| hidden && index.key.iter().any(|key| key.column == position));
            index.map_or(table.oid, |index| index.oid)
        }
        TablePart::Check(oid) | TablePart::Index(oid) => oid,
    }
}
