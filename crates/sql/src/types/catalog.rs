//! The catalogue of types: one line per type, as PostgreSQL 15's `pg_type` has it.
//!
//! Names the parser may meet, OIDs that clients know, categories and preferences that overload resolution reads
//! (functions/resolve.rs), lengths and alignments that `pg_type` shows.  The table is sorted by OID, so a look-up is a
//! binary search; adding a type is adding a line here, its text and binary forms, and its comparison.

use super::{ColumnType, DataType};

/// What is known of a type before any value of it is seen.
#[derive(Debug)]
pub struct TypeInfo {
    /// The type.
    pub ty: DataType,
    /// `pg_type.typname`.
    pub name: &'static str,
    /// `typlen`: bytes, or -1 for variable length, -2 for a C string.
    pub len: i16,
    /// `typalign`.
    pub align: u8,
    /// `typcategory`, one letter.
    pub category: u8,
    /// `typispreferred`.
    pub preferred: bool,
    /// The array type over this type, `DataType(0)` when there is none.
    pub array: DataType,
    /// The element type, when this is an array; `DataType(0)` otherwise.
    pub element: DataType,
    /// What `format_type` prints.
    pub display: &'static str,
}

#[allow(clippy::too_many_arguments)] // one row of a table
const fn t(
    oid: u32,
    name: &'static str,
    len: i16,
    align: u8,
    category: u8,
    preferred: bool,
    array: u32,
    element: u32,
    display: &'static str,
) -> TypeInfo {
    TypeInfo { ty: DataType(oid), name, len, align, category, preferred, array: DataType(array), element: DataType(element), display }
}

/// Every type, sorted by OID.
#[rustfmt::skip]
static TYPES: &[TypeInfo] = &[
    t(16, "bool", 1, b'c', b'B', true, 1000, 0, "boolean"),
    t(17, "bytea", -1, b'i', b'U', false, 1001, 0, "bytea"),
    t(18, "char", 1, b'c', b'Z', false, 1002, 0, "\"char\""),
    t(19, "name", 64, b'c', b'S', false, 1003, 0, "name"),
    t(20, "int8", 8, b'd', b'N', false, 1016, 0, "bigint"),
    t(21, "int2", 2, b's', b'N', false, 1005, 0, "smallint"),
    t(22, "int2vector", -1, b'i', b'A', false, 1006, 21, "int2vector"),
    t(23, "int4", 4, b'i', b'N', false, 1007, 0, "integer"),
    t(24, "regproc", 4, b'i', b'N', false, 1008, 0, "regproc"),
    t(25, "text", -1, b'i', b'S', true, 1009, 0, "text"),
    t(26, "oid", 4, b'i', b'N', true, 1028, 0, "oid"),
    t(27, "tid", 6, b's', b'U', false, 1010, 0, "tid"),
    t(28, "xid", 4, b'i', b'U', false, 1011, 0, "xid"),
    t(29, "cid", 4, b'i', b'U', false, 1012, 0, "cid"),
    t(30, "oidvector", -1, b'i', b'A', false, 1013, 26, "oidvector"),
    t(114, "json", -1, b'i', b'U', false, 199, 0, "json"),
    t(194, "pg_node_tree", -1, b'i', b'Z', false, 0, 0, "pg_node_tree"),
    t(199, "_json", -1, b'i', b'A', false, 0, 114, "json[]"),
    t(271, "_xid8", -1, b'd', b'A', false, 0, 5069, "xid8[]"),
    t(700, "float4", 4, b'i', b'N', false, 1021, 0, "real"),
    t(701, "float8", 8, b'd', b'N', true, 1022, 0, "double precision"),
    t(705, "unknown", -2, b'c', b'X', false, 0, 0, "unknown"),
    t(1000, "_bool", -1, b'i', b'A', false, 0, 16, "boolean[]"),
    t(1001, "_bytea", -1, b'i', b'A', false, 0, 17, "bytea[]"),
    t(1002, "_char", -1, b'i', b'A', false, 0, 18, "\"char\"[]"),
    t(1003, "_name", -1, b'i', b'A', false, 0, 19, "name[]"),
    t(1005, "_int2", -1, b'i', b'A', false, 0, 21, "smallint[]"),
    t(1006, "_int2vector", -1, b'i', b'A', false, 0, 22, "int2vector[]"),
    t(1007, "_int4", -1, b'i', b'A', false, 0, 23, "integer[]"),
    t(1008, "_regproc", -1, b'i', b'A', false, 0, 24, "regproc[]"),
    t(1009, "_text", -1, b'i', b'A', false, 0, 25, "text[]"),
    t(1010, "_tid", -1, b'i', b'A', false, 0, 27, "tid[]"),
    t(1011, "_xid", -1, b'i', b'A', false, 0, 28, "xid[]"),
    t(1012, "_cid", -1, b'i', b'A', false, 0, 29, "cid[]"),
    t(1013, "_oidvector", -1, b'i', b'A', false, 0, 30, "oidvector[]"),
    t(1014, "_bpchar", -1, b'i', b'A', false, 0, 1042, "character[]"),
    t(1015, "_varchar", -1, b'i', b'A', false, 0, 1043, "character varying[]"),
    t(1016, "_int8", -1, b'd', b'A', false, 0, 20, "bigint[]"),
    t(1021, "_float4", -1, b'i', b'A', false, 0, 700, "real[]"),
    t(1022, "_float8", -1, b'd', b'A', false, 0, 701, "double precision[]"),
    t(1028, "_oid", -1, b'i', b'A', false, 0, 26, "oid[]"),
    t(1033, "aclitem", 12, b'i', b'U', false, 1034, 0, "aclitem"),
    t(1034, "_aclitem", -1, b'i', b'A', false, 0, 1033, "aclitem[]"),
    t(1042, "bpchar", -1, b'i', b'S', false, 1014, 0, "character"),
    t(1043, "varchar", -1, b'i', b'S', false, 1015, 0, "character varying"),
    t(1082, "date", 4, b'i', b'D', false, 1182, 0, "date"),
    t(1083, "time", 8, b'd', b'D', false, 1183, 0, "time without time zone"),
    t(1114, "timestamp", 8, b'd', b'D', false, 1115, 0, "timestamp without time zone"),
    t(1115, "_timestamp", -1, b'd', b'A', false, 0, 1114, "timestamp without time zone[]"),
    t(1182, "_date", -1, b'i', b'A', false, 0, 1082, "date[]"),
    t(1183, "_time", -1, b'd', b'A', false, 0, 1083, "time without time zone[]"),
    t(1184, "timestamptz", 8, b'd', b'D', true, 1185, 0, "timestamp with time zone"),
    t(1185, "_timestamptz", -1, b'd', b'A', false, 0, 1184, "timestamp with time zone[]"),
    t(1186, "interval", 16, b'd', b'T', true, 1187, 0, "interval"),
    t(1187, "_interval", -1, b'd', b'A', false, 0, 1186, "interval[]"),
    t(1231, "_numeric", -1, b'i', b'A', false, 0, 1700, "numeric[]"),
    t(1263, "_cstring", -1, b'i', b'A', false, 0, 2275, "cstring[]"),
    t(1266, "timetz", 12, b'd', b'D', false, 1270, 0, "time with time zone"),
    t(1270, "_timetz", -1, b'd', b'A', false, 0, 1266, "time with time zone[]"),
    t(1700, "numeric", -1, b'i', b'N', false, 1231, 0, "numeric"),
    t(2202, "regprocedure", 4, b'i', b'N', false, 2207, 0, "regprocedure"),
    t(2203, "regoper", 4, b'i', b'N', false, 2208, 0, "regoper"),
    t(2204, "regoperator", 4, b'i', b'N', false, 2209, 0, "regoperator"),
    t(2205, "regclass", 4, b'i', b'N', false, 2210, 0, "regclass"),
    t(2206, "regtype", 4, b'i', b'N', false, 2211, 0, "regtype"),
    t(2207, "_regprocedure", -1, b'i', b'A', false, 0, 2202, "regprocedure[]"),
    t(2208, "_regoper", -1, b'i', b'A', false, 0, 2203, "regoper[]"),
    t(2209, "_regoperator", -1, b'i', b'A', false, 0, 2204, "regoperator[]"),
    t(2210, "_regclass", -1, b'i', b'A', false, 0, 2205, "regclass[]"),
    t(2211, "_regtype", -1, b'i', b'A', false, 0, 2206, "regtype[]"),
    t(2249, "record", -1, b'd', b'P', false, 2287, 0, "record"),
    t(2275, "cstring", -2, b'c', b'P', false, 1263, 0, "cstring"),
    t(2276, "any", 4, b'i', b'P', false, 0, 0, "\"any\""),
    t(2277, "anyarray", -1, b'd', b'P', false, 0, 0, "anyarray"),
    t(2278, "void", 4, b'i', b'P', false, 0, 0, "void"),
    t(2279, "trigger", 4, b'i', b'P', false, 0, 0, "trigger"),
    t(2281, "internal", 8, b'd', b'P', false, 0, 0, "internal"),
    t(2283, "anyelement", 4, b'i', b'P', false, 0, 0, "anyelement"),
    t(2287, "_record", -1, b'd', b'P', false, 0, 2249, "record[]"),
    t(2776, "anynonarray", 4, b'i', b'P', false, 0, 0, "anynonarray"),
    t(2950, "uuid", 16, b'c', b'U', false, 2951, 0, "uuid"),
    t(2951, "_uuid", -1, b'i', b'A', false, 0, 2950, "uuid[]"),
    t(3220, "pg_lsn", 8, b'd', b'U', false, 3221, 0, "pg_lsn"),
    t(3221, "_pg_lsn", -1, b'd', b'A', false, 0, 3220, "pg_lsn[]"),
    t(3500, "anyenum", 4, b'i', b'P', false, 0, 0, "anyenum"),
    t(3802, "jsonb", -1, b'i', b'U', false, 3807, 0, "jsonb"),
    t(3807, "_jsonb", -1, b'i', b'A', false, 0, 3802, "jsonb[]"),
    t(4072, "jsonpath", -1, b'i', b'U', false, 4073, 0, "jsonpath"),
    t(4073, "_jsonpath", -1, b'i', b'A', false, 0, 4072, "jsonpath[]"),
    t(4089, "regnamespace", 4, b'i', b'N', false, 4090, 0, "regnamespace"),
    t(4090, "_regnamespace", -1, b'i', b'A', false, 0, 4089, "regnamespace[]"),
    t(4096, "regrole", 4, b'i', b'N', false, 4097, 0, "regrole"),
    t(4097, "_regrole", -1, b'i', b'A', false, 0, 4096, "regrole[]"),
    t(5069, "xid8", 8, b'd', b'U', false, 271, 0, "xid8"),
    t(5077, "anycompatible", 4, b'i', b'P', false, 0, 0, "anycompatible"),
    t(5078, "anycompatiblearray", -1, b'd', b'P', false, 0, 0, "anycompatiblearray"),
];

/// Stands in for an OID that is no type of ours.
static NO_TYPE: TypeInfo = t(0, "???", -1, b'i', b'X', false, 0, 0, "???");

/// Everything known of a type. An unknown OID gets an entry named `???`, as `format_type` prints it.
pub fn info(ty: DataType) -> &'static TypeInfo {
    match TYPES.binary_search_by_key(&ty, |info| info.ty) {
        Ok(at) => &TYPES[at],
        Err(_) => super::enums::info(ty).unwrap_or(&NO_TYPE),
    }
}

/// All types, for `pg_type`.
pub fn all_types() -> &'static [TypeInfo] {
    TYPES
}

/// The type of a name as SQL spells it: internal names and the standard's phrases, lower case, single blanks, no modifier
/// (`character varying`, `timestamp with time zone`, `int4`, `_int4`, `integer[]`). `serial` is no type; the binder expands it.
/// Types of the catalogue that no value can have here (`timetz`, `pg_lsn` ...) are not found.
pub fn lookup_type_name(name: &str) -> Option<DataType> {
    let name = name.trim();
    if let Some(element) = name.strip_suffix("[]") {
        // Any number of dimensions is the same type.
        return lookup_type_name(element.trim_end_matches("[]")).and_then(array_of);
    }
    let ty = match name {
        "boolean" => DataType::BOOL,
        "smallint" => DataType::INT2,
        "int" | "integer" => DataType::INT4,
        "bigint" => DataType::INT8,
        "decimal" | "dec" => DataType::NUMERIC,
        "real" => DataType::FLOAT4,
        "float" | "double precision" => DataType::FLOAT8,
        "character varying" | "char varying" => DataType::VARCHAR,
        "character" | "char" => DataType::BPCHAR,
        "\"char\"" => DataType::CHAR,
        "timestamp without time zone" => DataType::TIMESTAMP,
        "timestamp with time zone" => DataType::TIMESTAMPTZ,
        "time without time zone" => DataType::TIME,
        _ => TYPES.iter().find(|info| info.name == name)?.ty,
    };
    is_supported(ty).then_some(ty)
}

/// Can a value of this type exist here? (The catalogue also lists types that only system views mention.)
pub fn is_supported(ty: DataType) -> bool {
    let info = info(ty);
    if info.element.0 != 0 && ty != DataType::INT2VECTOR && ty != DataType::OIDVECTOR {
        return is_supported(info.element);
    }
    !matches!(info.name, "???" | "timetz" | "tid" | "pg_lsn" | "xid8" | "trigger" | "internal")
}

/// Types of PostgreSQL that no value can have here: they are refused by name, not called unknown.
const UNSUPPORTED: &[&str] = &[
    "xml",
    "timetz",
    "time with time zone",
    "money",
    "inet",
    "cidr",
    "macaddr",
    "macaddr8",
    "bit",
    "varbit",
    "bit varying",
    "point",
    "line",
    "lseg",
    "box",
    "path",
    "polygon",
    "circle",
    "tsvector",
    "tsquery",
    "int4range",
    "int8range",
    "numrange",
    "tsrange",
    "tstzrange",
    "daterange",
    "int4multirange",
    "int8multirange",
    "nummultirange",
    "tsmultirange",
    "tstzmultirange",
    "datemultirange",
    "pg_lsn",
    "pg_snapshot",
    "txid_snapshot",
    "tid",
    "xid8",
    "refcursor",
    "regcollation",
    "regconfig",
    "regdictionary",
    "hstore",
    "citext",
];

/// Is this the name of a PostgreSQL type that is not supported here?
pub fn is_unsupported_name(name: &str) -> bool {
    UNSUPPORTED.contains(&name.trim_end_matches("[]"))
}

/// The array type over an element type.
pub fn array_of(element: DataType) -> Option<DataType> {
    let array = info(element).array;
    (array.0 != 0).then_some(array)
}

/// The element type of an array type.
pub fn element_of(array: DataType) -> Option<DataType> {
    let element = info(array).element;
    (element.0 != 0).then_some(element)
}

/// `format_type(oid, typmod)`: `character varying(10)`, `numeric(12,2)`, `integer[]`.
pub fn format_type(column: ColumnType) -> String {
    let info = info(column.ty);
    if column.typmod < 0 {
        // bpchar without a length is not character(1)
        return if column.ty == DataType::BPCHAR { "bpchar".into() } else { info.display.into() };
    }
    if info.element.0 != 0 && info.category == b'A' {
        return format!("{}[]", format_type(ColumnType { ty: info.element, typmod: column.typmod }));
    }
    match column.ty {
        DataType::BPCHAR | DataType::VARCHAR => format!("{}({})", info.display, column.typmod - 4),
        DataType::NUMERIC => {
            let (precision, scale) = numeric_typmod(column.typmod);
            format!("numeric({precision},{scale})")
        }
        DataType::TIME => format!("time({}) without time zone", column.typmod),
        DataType::TIMESTAMP => format!("timestamp({}) without time zone", column.typmod),
        DataType::TIMESTAMPTZ => format!("timestamp({}) with time zone", column.typmod),
        DataType::INTERVAL => format!("interval({})", column.typmod & 0xFFFF),
        _ => info.display.into(),
    }
}

/// `(precision, scale)` of a `numeric` type modifier; the scale is signed, eleven bits.
pub fn numeric_typmod(typmod: i32) -> (i32, i32) {
    let packed = typmod - 4;
    let scale = ((packed & 0x7FF) ^ 1024) - 1024;
    ((packed >> 16) & 0xFFFF, scale)
}

/// The type modifier of `numeric(precision, scale)`.
pub fn make_numeric_typmod(precision: i32, scale: i32) -> i32 {
    ((precision << 16) | (scale & 0x7FF)) + 4
}
