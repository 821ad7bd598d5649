//! Types and values.
//!
//! A [`DataType`] is PostgreSQL's type OID; a [`ColumnType`] adds the type modifier (`varchar(10)`, `numeric(12,2)`).
//! A [`Datum`] is one value in memory.  Text and binary forms, casts and comparison live in the sibling files, so that
//! this file stays the one page to read before any other in this crate.

use compact_str::CompactString;
use std::sync::Arc;

pub mod binary;
pub mod cast;
pub mod catalog;
pub mod coercion;
pub mod compare;
pub mod datetime;
pub mod enums;
pub mod json;
pub mod key_codec;
pub mod numeric;
pub mod record;
pub mod row_codec;
pub mod settings;
pub mod text;

pub use catalog::{TypeInfo, array_of, element_of, format_type, info, lookup_type_name};
pub use coercion::common_type;
pub use json::Json;
pub use numeric::Numeric;
pub use record::{Record, Shape};
pub use settings::{FormatSettings, TextContext};

/// A type, named by PostgreSQL's OID for it, so that what is sent to clients needs no translation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize)]
pub struct DataType(pub u32);

#[allow(missing_docs)] // the names are PostgreSQL's own
impl DataType {
    pub const BOOL: DataType = DataType(16);
    pub const BYTEA: DataType = DataType(17);
    pub const CHAR: DataType = DataType(18); // "char", one byte
    pub const NAME: DataType = DataType(19);
    pub const INT8: DataType = DataType(20);
    pub const INT2: DataType = DataType(21);
    pub const INT2VECTOR: DataType = DataType(22);
    pub const INT4: DataType = DataType(23);
    pub const REGPROC: DataType = DataType(24);
    pub const TEXT: DataType = DataType(25);
    pub const OID: DataType = DataType(26);
    pub const TID: DataType = DataType(27);
    pub const XID: DataType = DataType(28);
    pub const CID: DataType = DataType(29);
    pub const OIDVECTOR: DataType = DataType(30);
    pub const JSON: DataType = DataType(114);
    pub const PG_NODE_TREE: DataType = DataType(194);
    pub const FLOAT4: DataType = DataType(700);
    pub const FLOAT8: DataType = DataType(701);
    pub const UNKNOWN: DataType = DataType(705);
    pub const BPCHAR: DataType = DataType(1042);
    pub const VARCHAR: DataType = DataType(1043);
    pub const DATE: DataType = DataType(1082);
    pub const TIME: DataType = DataType(1083);
    pub const TIMESTAMP: DataType = DataType(1114);
    pub const TIMESTAMPTZ: DataType = DataType(1184);
    pub const INTERVAL: DataType = DataType(1186);
    pub const NUMERIC: DataType = DataType(1700);
    pub const REGPROCEDURE: DataType = DataType(2202);
    pub const REGOPER: DataType = DataType(2203);
    pub const REGOPERATOR: DataType = DataType(2204);
    pub const REGCLASS: DataType = DataType(2205);
    pub const REGTYPE: DataType = DataType(2206);
    pub const RECORD: DataType = DataType(2249);
    pub const VOID: DataType = DataType(2278);
    pub const TRIGGER: DataType = DataType(2279);
    pub const UUID: DataType = DataType(2950);
    pub const JSONB: DataType = DataType(3802);
    pub const JSONPATH: DataType = DataType(4072);
    pub const REGNAMESPACE: DataType = DataType(4089);
    pub const REGROLE: DataType = DataType(4096);
    pub const BOOL_ARRAY: DataType = DataType(1000);
    pub const BYTEA_ARRAY: DataType = DataType(1001);
    pub const CHAR_ARRAY: DataType = DataType(1002);
    pub const NAME_ARRAY: DataType = DataType(1003);
    pub const INT2_ARRAY: DataType = DataType(1005);
    pub const INT4_ARRAY: DataType = DataType(1007);
    pub const TEXT_ARRAY: DataType = DataType(1009);
    pub const BPCHAR_ARRAY: DataType = DataType(1014);
    pub const VARCHAR_ARRAY: DataType = DataType(1015);
    pub const INT8_ARRAY: DataType = DataType(1016);
    pub const FLOAT4_ARRAY: DataType = DataType(1021);
    pub const FLOAT8_ARRAY: DataType = DataType(1022);
    pub const OID_ARRAY: DataType = DataType(1028);
    pub const ACLITEM: DataType = DataType(1033);
    pub const ACLITEM_ARRAY: DataType = DataType(1034);
    pub const TIMESTAMP_ARRAY: DataType = DataType(1115);
    pub const DATE_ARRAY: DataType = DataType(1182);
    pub const TIME_ARRAY: DataType = DataType(1183);
    pub const TIMESTAMPTZ_ARRAY: DataType = DataType(1185);
    pub const INTERVAL_ARRAY: DataType = DataType(1187);
    pub const NUMERIC_ARRAY: DataType = DataType(1231);
    pub const UUID_ARRAY: DataType = DataType(2951);
    pub const RECORD_ARRAY: DataType = DataType(2287);
    pub const JSON_ARRAY: DataType = DataType(199);
    pub const JSONB_ARRAY: DataType = DataType(3807);
    // pseudo-types: only in function signatures
    pub const ANY: DataType = DataType(2276);
    pub const ANYARRAY: DataType = DataType(2277);
    pub const ANYELEMENT: DataType = DataType(2283);
    pub const ANYNONARRAY: DataType = DataType(2776);
    pub const ANYCOMPATIBLE: DataType = DataType(5077);
    pub const ANYCOMPATIBLEARRAY: DataType = DataType(5078);
    pub const ANYENUM: DataType = DataType(3500);
    pub const CSTRING: DataType = DataType(2275);
}

impl DataType {
    /// Is this an array type (the two vectors included)?
    pub fn is_array(self) -> bool {
        info(self).element.0 != 0
    }

    /// Is this held as [`Datum::Text`]?
    pub fn is_text(self) -> bool {
        matches!(
            self,
            DataType::TEXT
                | DataType::VARCHAR
                | DataType::BPCHAR
                | DataType::NAME
                | DataType::UNKNOWN
                | DataType::CSTRING
                | DataType::PG_NODE_TREE
        )
    }

    /// Is this held as [`Datum::Oid`]?
    pub fn is_oid(self) -> bool {
        matches!(
            self,
            DataType::OID
                | DataType::XID
                | DataType::CID
                | DataType::REGPROC
                | DataType::REGPROCEDURE
                | DataType::REGOPER
                | DataType::REGOPERATOR
                | DataType::REGCLASS
                | DataType::REGTYPE
                | DataType::REGNAMESPACE
                | DataType::REGROLE
        )
    }
}

impl std::fmt::Display for DataType {
    /// As `format_type` prints it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(info(*self).display)
    }
}

/// A type with its modifier, `-1` when there is none (PostgreSQL's encoding: `n + 4` for `varchar(n)`,
/// `((precision << 16) | scale) + 4` for `numeric`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct ColumnType {
    /// The type.
    pub ty: DataType,
    /// The type modifier.
    pub typmod: i32,
}

impl From<DataType> for ColumnType {
    /// Without a modifier.
    fn from(ty: DataType) -> ColumnType {
        ColumnType { ty, typmod: -1 }
    }
}

impl std::fmt::Display for ColumnType {
    /// As `format_type` prints it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&format_type(*self))
    }
}

/// One SQL value. The variant says how it is held, a [`DataType`] beside it says what it means: text, varchar, bpchar
/// and name are all `Text`; oid and the reg* types are `Oid`.
#[derive(Clone, Debug)]
pub enum Datum {
    /// SQL NULL.
    Null,
    /// `bool`
    Bool(bool),
    /// `int2`
    Int2(i16),
    /// `int4`
    Int4(i32),
    /// `int8`
    Int8(i64),
    /// `float4`
    Float4(f32),
    /// `float8`
    Float8(f64),
    /// `numeric`
    Numeric(Numeric),
    /// `text`, `varchar`, `bpchar` (padded), `name`
    Text(CompactString),
    /// `bytea`
    Bytes(Arc<[u8]>),
    /// `"char"`
    Char(u8),
    /// `date`: days since 2000-01-01; `i32::MIN`/`MAX` are the infinities
    Date(i32),
    /// `time`: microseconds since midnight
    Time(i64),
    /// `timestamp`: microseconds since 2000-01-01; `i64::MIN`/`MAX` are the infinities
    Timestamp(i64),
    /// `timestamptz`: microseconds since 2000-01-01 UTC
    Timestamptz(i64),
    /// `interval`
    Interval(Interval),
    /// `uuid`
    Uuid([u8; 16]),
    /// `oid` and the reg* types
    Oid(u32),
    /// Any array, with its element type.
    Array(Arc<Array>),
    /// A row value.
    Record(Arc<Record>),
    /// `json`: the text as it was written.
    Json(Arc<str>),
    /// `jsonb`
    Jsonb(Arc<Json>),
    /// A label of an enum type.
    Enum(Arc<enums::EnumLabel>),
    /// `jsonpath`
    JsonPath(Arc<json::path::JsonPath>),
}

impl Datum {
    /// A text value.
    pub fn text(value: impl Into<CompactString>) -> Datum {
        Datum::Text(value.into())
    }

    /// Is it SQL NULL?
    pub fn is_null(&self) -> bool {
        matches!(self, Datum::Null)
    }

    /// A one-dimensional array, lower bound 1.
    pub fn array(element: DataType, elements: Vec<Datum>) -> Datum {
        let dims = if elements.is_empty() { Vec::new() } else { vec![(elements.len() as i32, 1)] };
        Datum::Array(Arc::new(Array { element, dims, elements }))
    }
}

/// `interval`: three fields that do not convert into one another, as PostgreSQL keeps them.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Interval {
    pub months: i32,
    pub days: i32,
    pub micros: i64,
}

/// A one- or more-dimensional array; elements in row-major order.
#[derive(Clone, Debug)]
pub struct Array {
    /// The element type.
    pub element: DataType,
    /// One `(length, lower bound)` per dimension; empty for the empty array.
    pub dims: Vec<(i32, i32)>,
    /// The elements.
    pub elements: Vec<Datum>,
}
