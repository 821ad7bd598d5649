//! Types that users have made: enums (CREATE TYPE ... AS ENUM), and the names of domains.
//!
//! A [`DataType`] is only an OID, and much that asks about types (names, categories, the text of a value) has no catalog at hand.  So every enum
//! that a catalog snapshot has ever held is registered here, by OID, for the life of the process; a database never gives an OID out twice.  *Which* name means
//! which type is the catalog's business alone: what is registered and no longer in a catalog cannot be found by anybody.
//!
//! A value is its label's entry, so comparing two is comparing their sort orders.  ALTER TYPE may put a label between two others; values that
//! are stored (by their label's OID) and keys (by its order) stay as they are.

use super::{DataType, TypeInfo, catalog};
use hashbrown::HashMap;
use parking_lot::RwLock;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, LazyLock};

/// The least OID of what users make.
const FIRST_USER_OID: u32 = 16384;

/// An enum type, as its schema's descriptor keeps it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EnumDescriptor {
    /// Its OID.
    pub oid: u32,
    /// The OID of the array type over it.
    pub array_oid: u32,
    /// Its name.
    pub name: String,
    /// Owner's name.
    pub owner: String,
    /// COMMENT ON TYPE.
    #[serde(default)]
    pub comment: Option<String>,
    /// OID, sort order and text of each label, in order.
    pub labels: Vec<(u32, f32, String)>,
}

/// A label, which is a value.
#[derive(Debug)]
pub struct EnumLabel {
    /// The enum type.
    pub ty: DataType,
    /// The label's own OID.
    pub oid: u32,
    /// Where it stands among the others.
    pub order: f32,
    /// The text.
    pub label: String,
}

#[derive(Clone)]
struct Known {
    info: &'static TypeInfo,
    labels: Arc<[Arc<EnumLabel>]>,
}

/// By OID, array types too (those have no labels).
static KNOWN: LazyLock<RwLock<HashMap<u32, Known>>> = LazyLock::new(RwLock::default);

/// Makes a type known. What is said of a type once (its name) is kept; labels may grow.
pub fn register(schema: &str, descriptor: &EnumDescriptor) {
    let ty = DataType(descriptor.oid);
    let label = |(oid, order, label): &(u32, f32, String)| Arc::new(EnumLabel { ty, oid: *oid, order: *order, label: label.clone() });
    let labels: Arc<[Arc<EnumLabel>]> = descriptor.labels.iter().map(label).collect();
    let shown = if schema == "public" { descriptor.name.clone() } else { format!("{schema}.{}", descriptor.name) };
    let mut known = KNOWN.write();
    // Databases of one process (in tests) may have different types under one OID.
    if let Some(entry) = known.get_mut(&descriptor.oid).filter(|entry| entry.info.category == b'E' && entry.info.display == shown) {
        if !entry.labels.iter().map(|l| (&l.label, l.oid)).eq(labels.iter().map(|l| (&l.label, l.oid))) {
            entry.labels = labels;
        }
        return;
    }
    let array = DataType(descriptor.array_oid);
    // One of each for every type ever made: they live as long as the process, as the builtin ones do.
    let of_enum = leaked(ty, &descriptor.name, shown.clone(), b'E', 4, (array, DataType(0)));
    let of_array = leaked(array, &format!("_{}", descriptor.name), format!("{shown}[]"), b'A', -1, (DataType(0), ty));
    known.insert(descriptor.oid, Known { info: of_enum, labels });
    known.insert(descriptor.array_oid, Known { info: of_array, labels: Arc::new([]) });
}

/// Makes a domain, and the array type over it, known by name. Values are never of these types, only what names types speaks of them.
pub fn register_domain(schema: &str, domain: &crate::catalog::DomainDescriptor) {
    let shown = if schema == "public" { crate::functions::quoting::quote_ident(&domain.name) } else { format!("{schema}.{}", domain.name) };
    // Asked before the lock is taken: the base may be one of these types too.
    let base = catalog::info(domain.base.ty);
    let mut known = KNOWN.write();
    // A domain can be renamed.
    if known.get(&domain.oid).is_some_and(|entry| entry.info.category == b'U' && entry.info.display == shown) {
        return;
    }
    let (ty, array) = (DataType(domain.oid), DataType(domain.array_oid));
    let of_domain = leaked(ty, &domain.name, shown.clone(), b'U', base.len, (array, DataType(0)));
    let of_array = leaked(array, &format!("_{}", domain.name), format!("{shown}[]"), b'A', -1, (DataType(0), ty));
    known.insert(domain.oid, Known { info: of_domain, labels: Arc::new([]) });
    known.insert(domain.array_oid, Known { info: of_array, labels: Arc::new([]) });
}

fn leaked(ty: DataType, name: &str, display: String, category: u8, len: i16, related: (DataType, DataType)) -> &'static TypeInfo {
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    let display: &'static str = Box::leak(display.into_boxed_str());
    let (array, element) = related;
    Box::leak(Box::new(TypeInfo { ty, name, len, align: b'i', category, preferred: false, array, element, display }))
}

/// What is known of a user's type.
pub(super) fn info(ty: DataType) -> Option<&'static TypeInfo> {
    if ty.0 < FIRST_USER_OID {
        return None;
    }
    KNOWN.read().get(&ty.0).map(|known| known.info)
}

/// Is it an enum type?
pub fn is_enum(ty: DataType) -> bool {
    ty.0 >= FIRST_USER_OID && catalog::info(ty).category == b'E'
}

/// All labels of an enum, in order.
pub fn labels(ty: DataType) -> Arc<[Arc<EnumLabel>]> {
    KNOWN.read().get(&ty.0).map_or_else(|| Arc::new([]) as Arc<[_]>, |known| known.labels.clone())
}

/// The label of that text.
pub fn by_text(ty: DataType, text: &str) -> Option<Arc<EnumLabel>> {
    labels(ty).iter().find(|label| label.label == text).cloned()
}

/// The label of that OID.
pub fn by_oid(ty: DataType, oid: u32) -> Option<Arc<EnumLabel>> {
    labels(ty).iter().find(|label| label.oid == oid).cloned()
}
