//! The order of `jsonb` values, their hash, and containment.
//!
//! Kinds order as Object > Array > Boolean > Number > String > Null; containers of one kind by their number of elements
//! first; objects then key by key and value by value in stored order.  An empty array is below everything, an oddity of
//! PostgreSQL's that its users' ORDER BY knows.

use super::Json;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

fn rank(value: &Json) -> u8 {
    match value {
        Json::Null => 0,
        Json::String(_) => 1,
        Json::Number(_) => 2,
        Json::Bool(_) => 3,
        Json::Array(_) => 4,
        Json::Object(_) => 5,
    }
}

/// btree order. At the top level an array or object meets a scalar as a container does: PostgreSQL keeps a bare scalar in an array of one.
pub fn cmp(a: &Json, b: &Json) -> Ordering {
    let empty = |value: &Json| matches!(value, Json::Array(items) if items.is_empty());
    match (empty(a), empty(b)) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => cmp_inner(a, b),
    }
}

fn cmp_inner(a: &Json, b: &Json) -> Ordering {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => a.cmp(b),
        (Json::String(a), Json::String(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Json::Bool(a), Json::Bool(b)) => a.cmp(b),
        (Json::Array(a), Json::Array(b)) => a.len().cmp(&b.len()).then_with(|| first_difference(a.iter().zip(b))),
        (Json::Object(a), Json::Object(b)) => a.len().cmp(&b.len()).then_with(|| {
            let pairs = a.iter().zip(b).map(|((ka, va), (kb, vb))| ka.as_bytes().cmp(kb.as_bytes()).then_with(|| cmp_inner(va, vb)));
            pairs.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        }),
        _ => rank(a).cmp(&rank(b)),
    }
}

fn first_difference<'a>(mut pairs: impl Iterator<Item = (&'a Json, &'a Json)>) -> Ordering {
    pairs.find_map(|(x, y)| Some(cmp_inner(x, y)).filter(|order| order.is_ne())).unwrap_or(Ordering::Equal)
}

/// Feeds a value to a hasher; equal values hash alike.
pub fn hash(value: &Json, state: &mut impl Hasher) {
    rank(value).hash(state);
    match value {
        Json::Null => {}
        Json::Bool(value) => value.hash(state),
        Json::Number(n) => n.hash(state),
        Json::String(text) => text.as_bytes().hash(state),
        Json::Array(items) => items.iter().for_each(|item| hash(item, state)),
        Json::Object(pairs) => pairs.iter().for_each(|(key, value)| {
            key.as_bytes().hash(state);
            hash(value, state);
        }),
    }
}

/// `outer @> inner`.
pub fn contains(outer: &Json, inner: &Json) -> bool {
    match (outer, inner) {
        // An array contains a bare scalar that is one of its elements; only at the top.
        (Json::Array(items), scalar) if !scalar.is_container() => items.iter().any(|item| cmp_inner(item, scalar).is_eq()),
        _ => contains_inner(outer, inner),
    }
}

fn contains_inner(outer: &Json, inner: &Json) -> bool {
    match (outer, inner) {
        (Json::Object(_), Json::Object(wanted)) => {
            wanted.iter().all(|(key, value)| outer.get(key).is_some_and(|have| contains_inner(have, value)))
        }
        (Json::Array(items), Json::Array(wanted)) => wanted.iter().all(|value| items.iter().any(|item| contains_inner(item, value))),
        (outer, inner) => !outer.is_container() && !inner.is_container() && cmp_inner(outer, inner).is_eq(),
    }
}

/// `value ? key`: a member of that name, an element or a scalar that is that string.
pub fn has_key(value: &Json, key: &str) -> bool {
    match value {
        Json::Object(_) => value.get(key).is_some(),
        Json::Array(items) => items.iter().any(|item| matches!(item, Json::String(text) if text == key)),
        Json::String(text) => text == key,
        _ => false,
    }
}
