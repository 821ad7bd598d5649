//! Functions and procedures that users have made, and what definitions refer to.

use super::{AclItem, Catalog, Oid};
use crate::ast::{FunctionBody, ParameterMode, RoutineKind};
use crate::functions::Volatility;
use crate::types::{ColumnType, DataType, Shape};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A function or procedure, stored as one row of the catalog.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FunctionDescriptor {
    /// Its OID.
    pub oid: Oid,
    /// Its schema's OID.
    pub schema_oid: Oid,
    /// Its schema's name.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Owner's name.
    pub owner: String,
    /// A function or a procedure.
    pub kind: RoutineKind,
    /// Parameters in order, outgoing ones and the columns of RETURNS TABLE too.
    pub parameters: Vec<FunctionParameter>,
    /// What one value of the result is.
    pub result: FunctionType,
    /// SETOF, or TABLE.
    pub returns_set: bool,
    /// As declared.
    pub volatility: Volatility,
    /// A NULL argument makes the result NULL (or empty) without a call.
    pub strict: bool,
    /// SECURITY DEFINER.
    pub security_definer: bool,
    /// LEAKPROOF.
    pub leakproof: bool,
    /// PARALLEL: `s`, `r` or `u`.
    pub parallel: char,
    /// COST.
    pub cost: f32,
    /// ROWS; 0 if it gives no set.
    pub rows: f32,
    /// SET name TO value.
    pub settings: Vec<(String, String)>,
    /// What it does.
    pub body: FunctionBody,
    /// COMMENT ON FUNCTION.
    pub comment: Option<String>,
    /// What was granted; none when nobody has granted or revoked anything.
    pub acl: Option<Vec<AclItem>>,
    /// What its signature, its defaults, and a body that is not text refer to.
    pub references: Vec<Reference>,
}

/// A parameter.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct FunctionParameter {
    /// Empty if it has none.
    pub name: String,
    pub mode: ParameterMode,
    pub ty: FunctionType,
    /// DEFAULT, as SQL text.
    pub default: Option<String>,
}

/// A type in a signature.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FunctionType {
    /// What values are.
    pub ty: DataType,
    /// The domain that it was declared with, or the array type over one.
    #[serde(default)]
    pub declared: Option<Oid>,
    /// The relation whose row it is; `ty` is then `record`.
    #[serde(default)]
    pub row_of: Option<Oid>,
}

impl FunctionType {
    /// A type that is nothing but a type.
    pub fn plain(ty: DataType) -> FunctionType {
        FunctionType { ty, declared: None, row_of: None }
    }
}

/// Something that a definition refers to, so that it cannot go without it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Reference {
    /// A relation as a whole (0), or a column by its attribute number.
    Relation(Oid, u32),
    /// A function.
    Function(Oid),
    /// An enum or a domain.
    Type(Oid),
}

impl FunctionDescriptor {
    /// Parameters by which values come in.
    pub fn inputs(&self) -> impl Iterator<Item = &FunctionParameter> {
        self.parameters.iter().filter(|parameter| parameter.mode.is_input())
    }

    /// The types that tell it from others of its name.
    pub fn input_types(&self) -> Vec<DataType> {
        self.inputs().map(|parameter| parameter.ty.ty).collect()
    }

    /// Does the last parameter take the rest of the arguments?
    pub fn is_variadic(&self) -> bool {
        self.parameters.iter().any(|parameter| parameter.mode == ParameterMode::Variadic)
    }

    /// Parameters by which values go out.
    pub fn outputs(&self) -> impl Iterator<Item = &FunctionParameter> {
        self.parameters.iter().filter(|parameter| parameter.mode.is_output())
    }

    /// `name(integer, text)`: how messages name it.
    pub fn signature(&self) -> String {
        let types: Vec<String> = self.inputs().map(|parameter| type_text(&parameter.ty)).collect();
        format!("{}({})", self.name, types.join(","))
    }

    /// The fields of a row that it gives, where the declaration says them.
    pub fn shape(&self, catalog: &Catalog) -> Option<Shape> {
        let outputs: Vec<(String, ColumnType)> =
            self.outputs().enumerate().map(|(at, parameter)| (output_name(&parameter.name, at), parameter.ty.ty.into())).collect();
        if outputs.len() > 1 || (self.kind == RoutineKind::Procedure && !outputs.is_empty()) {
            return Some(Shape { fields: outputs });
        }
        let table = catalog.table(self.result.row_of?)?;
        Some(Shape { fields: table.visible_columns().map(|(_, column)| (column.name.clone(), column.ty)).collect() })
    }

    /// May it be put into the place of its call?
    pub fn is_plain(&self) -> bool {
        self.kind == RoutineKind::Function && !self.security_definer && self.settings.is_empty()
    }
}

/// A column of the result: its parameter's name.
fn output_name(name: &str, at: usize) -> String {
    if name.is_empty() { format!("column{}", at + 1) } else { name.to_owned() }
}

/// A type as messages show it.
pub fn type_text(ty: &FunctionType) -> String {
    ty.declared.map_or(ty.ty, DataType).to_string()
}

impl Catalog {
    /// A function by its OID.
    pub fn function(&self, oid: Oid) -> Option<&Arc<FunctionDescriptor>> {
        self.functions.get(&oid)
    }

    /// All functions, in no order.
    pub fn functions(&self) -> impl Iterator<Item = &Arc<FunctionDescriptor>> {
        self.functions.values()
    }

    /// All functions in the order in which they were made.
    pub fn functions_in_order(&self) -> Vec<&Arc<FunctionDescriptor>> {
        let mut all: Vec<_> = self.functions.values().collect();
        all.sort_unstable_by_key(|function| function.oid);
        all
    }

    /// Is there any function of that name, wherever?
    pub fn has_function_named(&self, name: &str) -> bool {
        self.functions_by_name.contains_key(name)
    }

    /// The functions of a name in a schema, or along a search path; of two with the same arguments the first on the path.
    pub fn functions_named(&self, schema: Option<&str>, name: &str, search_path: &[String]) -> Vec<&Arc<FunctionDescriptor>> {
        let Some(oids) = self.functions_by_name.get(name) else { return Vec::new() };
        let inside =
            |schema: &str| oids.iter().filter_map(|oid| self.functions.get(oid)).filter(move |f| f.schema == schema).collect::<Vec<_>>();
        let Some(schema) = schema else {
            let mut found: Vec<&Arc<FunctionDescriptor>> = Vec::new();
            for function in search_path.iter().flat_map(|schema| inside(schema)) {
                let types = function.input_types();
                if !found.iter().any(|known| known.input_types() == types) {
                    found.push(function);
                }
            }
            return found;
        };
        inside(schema)
    }
}
