//! Row values: the fields of a row, and what is known of their names and types.
//!
//! `ROW(...)`, a table's name used as a value, and the rows of set-returning functions are records. A record carries its [`Shape`] along, as
//! PostgreSQL's anonymous row types do, so that `row_to_json`, `(r).field` and the binary form know what the fields are.

use super::{ColumnType, DataType, Datum, text};
use std::ops::Deref;
use std::sync::Arc;

/// Names and types of a row's fields.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Shape {
    /// Name and type of each field, in order.
    pub fields: Vec<(String, ColumnType)>,
}

impl Shape {
    /// Fields without names: `f1`, `f2` ..., as `ROW(...)` has them.
    pub fn anonymous(types: impl Iterator<Item = ColumnType>) -> Shape {
        Shape { fields: types.enumerate().map(|(at, ty)| (format!("f{}", at + 1), ty)).collect() }
    }

    /// The place of a field.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|(have, _)| have == name)
    }
}

/// A row value.
#[derive(Clone, Debug)]
pub struct Record {
    /// The fields.
    pub fields: Vec<Datum>,
    /// What they are; without it a field has the type its value shows.
    pub shape: Option<Arc<Shape>>,
}

impl Record {
    /// The type of a field.
    pub fn field_type(&self, at: usize) -> DataType {
        let known = self.shape.as_ref().and_then(|shape| shape.fields.get(at));
        known.map_or_else(|| self.fields.get(at).map_or(DataType::TEXT, text::natural_type), |(_, ty)| ty.ty)
    }

    /// The name of a field.
    pub fn field_name(&self, at: usize) -> String {
        let known = self.shape.as_ref().and_then(|shape| shape.fields.get(at));
        known.map_or_else(|| format!("f{}", at + 1), |(name, _)| name.clone())
    }
}

impl Deref for Record {
    type Target = [Datum];

    fn deref(&self) -> &[Datum] {
        &self.fields
    }
}

impl Datum {
    /// A row value of which only the values are known.
    pub fn record(fields: Vec<Datum>) -> Datum {
        Datum::Record(Arc::new(Record { fields, shape: None }))
    }

    /// A row value of a known shape.
    pub fn shaped_record(fields: Vec<Datum>, shape: Arc<Shape>) -> Datum {
        Datum::Record(Arc::new(Record { fields, shape: Some(shape) }))
    }
}
