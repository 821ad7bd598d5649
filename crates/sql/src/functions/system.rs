//! Functions that ask the session, the catalog or the machine.
//!
//! Nearly all go through [`crate::expr::SessionInfo`]; the catalog's own (`pg_get_indexdef`, `pg_table_is_visible` ...) are listed by signature
//! here and answered by its `catalog_function`.

use super::args::{Answer, boolean, int, int4, out, text};
use super::{BuiltinFunction, EvalFn, Waits};
use crate::error::{SqlError, SqlState};
use crate::expr::{EvalContext, ObjectKind};
use crate::types::text::natural_type;
use crate::types::{ColumnType, DataType, Datum, Numeric, catalog, format_type, lookup_type_name};

const TEXT: DataType = DataType::TEXT;
const NAME: DataType = DataType::NAME;
const OID: DataType = DataType::OID;
const BOOL: DataType = DataType::BOOL;
const INT2: DataType = DataType::INT2;
const INT4: DataType = DataType::INT4;
const INT8: DataType = DataType::INT8;
const VOID: DataType = DataType::VOID;
const REGCLASS: DataType = DataType::REGCLASS;
const TIMESTAMPTZ: DataType = DataType::TIMESTAMPTZ;

/// What `version()` says: clients look for the PostgreSQL in front.
pub const VERSION: &str = concat!("PostgreSQL 15.0 (Tidelock ", env!("CARGO_PKG_VERSION"), ")");

fn version(_: &EvalContext<'_>, _: &[Datum]) -> Answer {
    out(VERSION)
}
fn current_user(ctx: &EvalContext<'_>, _: &[Datum]) -> Answer {
    out(ctx.session.current_user())
}
fn session_user(ctx: &EvalContext<'_>, _: &[Datum]) -> Answer {
    out(ctx.session.session_user())
}
fn current_database(ctx: &EvalContext<'_>, _: &[Datum]) -> Answer {
    out(ctx.session.current_database())
}
fn current_schema(ctx: &EvalContext<'_>, _: &[Datum]) -> Answer {
    Ok(ctx.session.current_schemas(false).into_iter().next().map_or(Datum::Null, Datum::text))
}
fn current_schemas(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::array(NAME, ctx.session.current_schemas(boolean(args, 0)?).into_iter().map(Datum::text).collect()))
}
fn backend_pid(ctx: &EvalContext<'_>, _: &[Datum]) -> Answer {
    Ok(Datum::Int4(ctx.session.backend_pid()))
}
fn transaction_id(ctx: &EvalContext<'_>, _: &[Datum]) -> Answer {
    Ok(Datum::Int8(ctx.session.transaction_id()))
}

fn unknown_setting(name: &str) -> SqlError {
    SqlError::new(SqlState::UNDEFINED_OBJECT, format!("unrecognized configuration parameter \"{name}\""))
}
fn current_setting(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let name = text(args, 0)?;
    let missing_ok = args.len() > 1 && boolean(args, 1)?;
    match ctx.session.setting(name) {
        Some(value) => out(value),
        None if missing_ok => Ok(Datum::Null),
        None => Err(unknown_setting(name)),
    }
}
fn set_config(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let Datum::Text(name) = &args[0] else { return Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "SET requires parameter name")) };
    let value = if args[1].is_null() { "" } else { text(args, 1)? };
    let is_local = matches!(args[2], Datum::Bool(true));
    out(ctx.session.set_setting(name, value, is_local)?)
}

fn nextval(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    ctx.session.nextval(int(args, 0)? as u32).map(Datum::Int8)
}
fn currval(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    ctx.session.currval(int(args, 0)? as u32).map(Datum::Int8)
}
fn lastval(ctx: &EvalContext<'_>, _: &[Datum]) -> Answer {
    ctx.session.lastval().map(Datum::Int8)
}
fn setval(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let is_called = args.len() < 3 || boolean(args, 2)?;
    ctx.session.setval(int(args, 0)? as u32, int(args, 1)?, is_called).map(Datum::Int8)
}
fn pg_notify(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    // NULLs are empty here, and an empty channel is refused.
    let part = |at: usize| if args[at].is_null() { Ok("") } else { text(args, at) };
    ctx.session.notify(part(0)?, part(1)?)?;
    Ok(Datum::text(""))
}

/// Mail waits in bounded boxes, not in a queue that all share.
fn queue_usage(_: &EvalContext<'_>, _: &[Datum]) -> Answer {
    Ok(Datum::Float8(0.0))
}

fn must_wait(_: &EvalContext<'_>, _: &[Datum]) -> Answer {
    Err(SqlError::unsupported("a function that waits, in this place"))
}

fn field_of_row(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let Datum::Record(fields) = &args[0] else { return Ok(Datum::Null) };
    Ok(usize::try_from(int(args, 1)?).ok().and_then(|at| fields.get(at).cloned()).unwrap_or(Datum::Null))
}

/// `(row).field`, by the field's place: the binder builds calls of it, no name finds it.
pub(crate) static FIELD_OF_ROW: BuiltinFunction =
    BuiltinFunction::new("field_of_row", &[DataType::RECORD, INT4], DataType::ANY, field_of_row);

fn random_uuid(_: &EvalContext<'_>, _: &[Datum]) -> Answer {
    let mut uuid: [u8; 16] = rand::random();
    // RFC 4122, version 4.
    uuid[6] = uuid[6] & 0x0f | 0x40;
    uuid[8] = uuid[8] & 0x3f | 0x80;
    Ok(Datum::Uuid(uuid))
}

fn format_type_fn(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    if args[0].is_null() {
        return Ok(Datum::Null);
    }
    let ty = DataType(int(args, 0)? as u32);
    if ty.0 == 0 {
        return out("-");
    }
    let typmod = if args[1].is_null() { None } else { Some(int4(args, 1)?) };
    if ty.0 >= crate::catalog::FIRST_USER_OID || catalog::info(ty).name == "???" {
        return out(ctx.session.object_name(ObjectKind::Type, ty.0).unwrap_or_else(|| "???".into()));
    }
    out(match typmod {
        // Without a modifier to tell, bpchar shows as it is spelled in SQL.
        None => catalog::info(ty).display.to_owned(),
        Some(typmod) => format_type(ColumnType { ty, typmod }),
    })
}

fn pg_typeof(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(Datum::Oid(natural_type(&args[0]).0))
}

fn to_regclass(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(ctx.session.object_oid(ObjectKind::Relation, text(args, 0)?).map_or(Datum::Null, Datum::Oid))
}
fn to_regnamespace(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    Ok(ctx.session.object_oid(ObjectKind::Namespace, text(args, 0)?).map_or(Datum::Null, Datum::Oid))
}
fn to_regtype(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let name = text(args, 0)?;
    let found = lookup_type_name(name).map(|ty| ty.0).or_else(|| ctx.session.object_oid(ObjectKind::Type, name));
    Ok(found.map_or(Datum::Null, Datum::Oid))
}

fn constant_false(_: &EvalContext<'_>, _: &[Datum]) -> Answer {
    Ok(Datum::Bool(false))
}
fn constant_true(_: &EvalContext<'_>, _: &[Datum]) -> Answer {
    Ok(Datum::Bool(true))
}
fn utf8(_: &EvalContext<'_>, _: &[Datum]) -> Answer {
    out("UTF8")
}
/// 6 is UTF8 in PostgreSQL's list.
fn encoding_name(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    out(match int(args, 0)? {
        6 => "UTF8",
        0 => "SQL_ASCII",
        _ => "",
    })
}

/// Units that sizes are shown in; each is 1024 of the one before.
const SIZE_UNITS: [&str; 6] = ["bytes", "kB", "MB", "GB", "TB", "PB"];

fn size_pretty(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let size = match &args[0] {
        Datum::Numeric(n) => n.trunc(0).to_i64("bigint")?,
        other => int(std::slice::from_ref(other), 0)?,
    };
    let mut unit = 0;
    let mut shown = i128::from(size);
    // A unit is left once ten thousand of it are reached; halves round up.
    while unit + 1 < SIZE_UNITS.len() && shown.abs() >= if unit == 0 { 10_240 } else { 20_480 - 1 } {
        shown = if unit == 0 { shown >> 9 } else { shown >> 10 };
        unit += 1;
    }
    if unit > 0 {
        shown = (shown + if shown >= 0 { 1 } else { -1 }) / 2;
    }
    out(format!("{shown} {}", SIZE_UNITS[unit]))
}

fn size_pretty_numeric(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let n = match &args[0] {
        Datum::Numeric(n) => n.clone(),
        _ => Numeric::ZERO,
    };
    size_pretty(ctx, &[Datum::Numeric(n)])
}

/// `WHERE CURRENT OF cursor`: a column of the key of the row on which the cursor stands. Cursor, table, place of the column in the key.
fn current_of(ctx: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (cursor, table, at) = (text(args, 0)?, int(args, 1)?, int(args, 2)?);
    let key = ctx.session.cursor_row(cursor, table as u32)?;
    Ok(usize::try_from(at).ok().and_then(|at| key.get(at).cloned()).unwrap_or(Datum::Null))
}

/// The binder builds calls of it, no name finds it.
pub static CURRENT_OF: BuiltinFunction =
    BuiltinFunction::new("current_of", &[DataType::TEXT, DataType::OID, DataType::INT4], DataType::ANY, current_of).stable();

const fn f(name: &'static str, args: &'static [DataType], result: DataType, eval: EvalFn) -> BuiltinFunction {
    BuiltinFunction::new(name, args, result, eval)
}

/// A function that the catalog answers.
macro_rules! asks {
    ($name:literal, [$($arg:ident),*], $result:ident) => {
        BuiltinFunction::new($name, &[$($arg),*], $result, |ctx, args| ctx.session.catalog_function($name, args)).stable()
    };
}

const NODE_TREE: DataType = DataType::PG_NODE_TREE;

/// All that have code here.
#[rustfmt::skip]
pub(super) static FUNCTIONS: &[BuiltinFunction] = &[
    f("version", &[], TEXT, version).stable(), f("current_user", &[], NAME, current_user).stable(), f("user", &[], NAME, current_user).stable(), f("current_role", &[], NAME, current_user).stable(), f("session_user", &[], NAME, session_user).stable(),
    f("current_database", &[], NAME, current_database).stable(), f("current_catalog", &[], NAME, current_database).stable(), f("current_schema", &[], NAME, current_schema).stable(), f("current_schemas", &[BOOL], DataType::NAME_ARRAY, current_schemas).stable(),
    f("pg_backend_pid", &[], INT4, backend_pid).stable(), f("txid_current", &[], INT8, transaction_id).stable(), f("txid_current_if_assigned", &[], INT8, transaction_id).stable(),
    f("current_setting", &[TEXT], TEXT, current_setting).stable(), f("current_setting", &[TEXT, BOOL], TEXT, current_setting).stable(), f("set_config", &[TEXT, TEXT, BOOL], TEXT, set_config).nullable().volatile(),
    f("nextval", &[REGCLASS], INT8, nextval).waits(Waits::Sequence), f("currval", &[REGCLASS], INT8, currval).volatile(), f("lastval", &[], INT8, lastval).volatile(), f("setval", &[REGCLASS, INT8], INT8, setval).waits(Waits::Sequence), f("setval", &[REGCLASS, INT8, BOOL], INT8, setval).waits(Waits::Sequence),
    f("sequence_last_value", &[REGCLASS], INT8, must_wait).waits(Waits::Sequence), f("sequence_is_called", &[REGCLASS], BOOL, must_wait).waits(Waits::Sequence), f("pg_sequence_last_value", &[REGCLASS], INT8, must_wait).waits(Waits::Sequence),
    f("pg_sleep", &[DataType::FLOAT8], VOID, must_wait).waits(Waits::Sleep),
    f("pg_advisory_lock", &[INT8], VOID, must_wait).waits(Waits::Lock), f("pg_advisory_lock", &[INT4, INT4], VOID, must_wait).waits(Waits::Lock),
    f("pg_advisory_lock_shared", &[INT8], VOID, must_wait).waits(Waits::Lock), f("pg_advisory_lock_shared", &[INT4, INT4], VOID, must_wait).waits(Waits::Lock),
    f("pg_advisory_xact_lock", &[INT8], VOID, must_wait).waits(Waits::Lock), f("pg_advisory_xact_lock", &[INT4, INT4], VOID, must_wait).waits(Waits::Lock),
    f("pg_advisory_xact_lock_shared", &[INT8], VOID, must_wait).waits(Waits::Lock), f("pg_advisory_xact_lock_shared", &[INT4, INT4], VOID, must_wait).waits(Waits::Lock),
    f("pg_try_advisory_lock", &[INT8], BOOL, must_wait).waits(Waits::Lock), f("pg_try_advisory_lock", &[INT4, INT4], BOOL, must_wait).waits(Waits::Lock),
    f("pg_try_advisory_lock_shared", &[INT8], BOOL, must_wait).waits(Waits::Lock), f("pg_try_advisory_lock_shared", &[INT4, INT4], BOOL, must_wait).waits(Waits::Lock),
    f("pg_try_advisory_xact_lock", &[INT8], BOOL, must_wait).waits(Waits::Lock), f("pg_try_advisory_xact_lock", &[INT4, INT4], BOOL, must_wait).waits(Waits::Lock),
    f("pg_try_advisory_xact_lock_shared", &[INT8], BOOL, must_wait).waits(Waits::Lock), f("pg_try_advisory_xact_lock_shared", &[INT4, INT4], BOOL, must_wait).waits(Waits::Lock),
    f("pg_advisory_unlock", &[INT8], BOOL, must_wait).waits(Waits::Lock), f("pg_advisory_unlock", &[INT4, INT4], BOOL, must_wait).waits(Waits::Lock),
    f("pg_advisory_unlock_shared", &[INT8], BOOL, must_wait).waits(Waits::Lock), f("pg_advisory_unlock_shared", &[INT4, INT4], BOOL, must_wait).waits(Waits::Lock),
    f("pg_advisory_unlock_all", &[], VOID, must_wait).waits(Waits::Lock),
    f("pg_notify", &[TEXT, TEXT], VOID, pg_notify).nullable().volatile(), f("pg_notification_queue_usage", &[], DataType::FLOAT8, queue_usage).volatile(),
    f("gen_random_uuid", &[], DataType::UUID, random_uuid).volatile(), f("format_type", &[OID, INT4], TEXT, format_type_fn).nullable().stable(), f("pg_typeof", &[DataType::ANY], DataType::REGTYPE, pg_typeof).nullable().stable(),
    f("to_regclass", &[TEXT], REGCLASS, to_regclass).stable(), f("to_regtype", &[TEXT], DataType::REGTYPE, to_regtype).stable(), f("to_regnamespace", &[TEXT], DataType::REGNAMESPACE, to_regnamespace).stable(),
    f("pg_is_in_recovery", &[], BOOL, constant_false).volatile(), f("pg_type_is_visible", &[OID], BOOL, constant_true).stable(), f("pg_collation_is_visible", &[OID], BOOL, constant_true).stable(),
    f("pg_opclass_is_visible", &[OID], BOOL, constant_true).stable(), f("pg_operator_is_visible", &[OID], BOOL, constant_true).stable(), f("pg_statistics_obj_is_visible", &[OID], BOOL, constant_true).stable(),
    f("pg_conversion_is_visible", &[OID], BOOL, constant_true).stable(), f("pg_opfamily_is_visible", &[OID], BOOL, constant_true).stable(), f("pg_ts_config_is_visible", &[OID], BOOL, constant_true).stable(), f("pg_ts_dict_is_visible", &[OID], BOOL, constant_true).stable(), f("pg_ts_parser_is_visible", &[OID], BOOL, constant_true).stable(), f("pg_ts_template_is_visible", &[OID], BOOL, constant_true).stable(),
    f("getdatabaseencoding", &[], NAME, utf8).stable(), f("pg_client_encoding", &[], NAME, utf8).stable(), f("pg_encoding_to_char", &[INT4], NAME, encoding_name).stable(),
    f("pg_size_pretty", &[INT8], TEXT, size_pretty), f("pg_size_pretty", &[DataType::NUMERIC], TEXT, size_pretty_numeric),
];

/// All that the catalog answers.
#[rustfmt::skip]
pub(super) static CATALOG: &[BuiltinFunction] = &[
    asks!("pg_my_temp_schema", [], OID), asks!("pg_is_other_temp_schema", [OID], BOOL), asks!("pg_table_is_visible", [OID], BOOL), asks!("pg_function_is_visible", [OID], BOOL), asks!("pg_get_userbyid", [OID], NAME),
    asks!("pg_get_expr", [NODE_TREE, OID], TEXT), asks!("pg_get_expr", [NODE_TREE, OID, BOOL], TEXT), asks!("pg_get_expr", [TEXT, OID], TEXT), asks!("pg_get_expr", [TEXT, OID, BOOL], TEXT),
    asks!("pg_get_indexdef", [OID], TEXT), asks!("pg_get_indexdef", [OID, INT4, BOOL], TEXT), asks!("pg_get_constraintdef", [OID], TEXT), asks!("pg_get_constraintdef", [OID, BOOL], TEXT),
    asks!("pg_get_viewdef", [OID], TEXT), asks!("pg_get_viewdef", [OID, BOOL], TEXT), asks!("pg_get_viewdef", [TEXT], TEXT), asks!("pg_get_viewdef", [TEXT, BOOL], TEXT), asks!("pg_get_ruledef", [OID], TEXT), asks!("pg_get_ruledef", [OID, BOOL], TEXT), asks!("pg_get_triggerdef", [OID], TEXT), asks!("pg_get_triggerdef", [OID, BOOL], TEXT),
    asks!("pg_get_functiondef", [OID], TEXT), asks!("pg_get_function_arguments", [OID], TEXT), asks!("pg_get_function_identity_arguments", [OID], TEXT), asks!("pg_get_function_result", [OID], TEXT), asks!("pg_get_partkeydef", [OID], TEXT), asks!("pg_get_partition_constraintdef", [OID], TEXT), asks!("pg_get_statisticsobjdef", [OID], TEXT), asks!("pg_get_function_sqlbody", [OID], TEXT), asks!("pg_get_function_arg_default", [OID, INT4], TEXT), asks!("oidvectortypes", [OIDVECTOR], TEXT), asks!("pg_char_to_encoding", [NAME], INT4), asks!("pg_get_statisticsobjdef_columns", [OID], TEXT),
    asks!("pg_get_serial_sequence", [TEXT, TEXT], TEXT), asks!("obj_description", [OID, NAME], TEXT), asks!("obj_description", [OID], TEXT), asks!("col_description", [OID, INT4], TEXT), asks!("shobj_description", [OID, NAME], TEXT),
    asks!("has_table_privilege", [TEXT, TEXT], BOOL), asks!("has_table_privilege", [OID, TEXT], BOOL), asks!("has_table_privilege", [NAME, TEXT, TEXT], BOOL), asks!("has_table_privilege", [NAME, OID, TEXT], BOOL), asks!("has_any_column_privilege", [OID, TEXT], BOOL), asks!("has_column_privilege", [OID, INT2, TEXT], BOOL), asks!("has_column_privilege", [TEXT, TEXT, TEXT], BOOL),
    asks!("has_schema_privilege", [TEXT, TEXT], BOOL), asks!("has_schema_privilege", [OID, TEXT], BOOL), asks!("has_schema_privilege", [NAME, OID, TEXT], BOOL), asks!("has_database_privilege", [TEXT, TEXT], BOOL), asks!("has_database_privilege", [OID, TEXT], BOOL), asks!("has_database_privilege", [NAME, OID, TEXT], BOOL), asks!("has_database_privilege", [NAME, TEXT, TEXT], BOOL), asks!("has_function_privilege", [OID, TEXT], BOOL), asks!("has_sequence_privilege", [OID, TEXT], BOOL), asks!("has_sequence_privilege", [TEXT, TEXT], BOOL), asks!("has_type_privilege", [OID, TEXT], BOOL), asks!("acldefault", [CHAR, OID], ACLITEM_ARRAY), asks!("pg_has_role", [OID, TEXT], BOOL), asks!("pg_has_role", [NAME, OID, TEXT], BOOL), asks!("pg_has_role", [NAME, TEXT], BOOL),
    asks!("pg_relation_size", [REGCLASS], INT8), asks!("pg_relation_size", [REGCLASS, TEXT], INT8), asks!("pg_table_size", [REGCLASS], INT8), asks!("pg_indexes_size", [REGCLASS], INT8), asks!("pg_total_relation_size", [REGCLASS], INT8), asks!("pg_database_size", [NAME], INT8), asks!("pg_database_size", [OID], INT8), asks!("pg_tablespace_size", [OID], INT8), asks!("pg_tablespace_location", [OID], TEXT), asks!("pg_relation_filenode", [REGCLASS], OID), asks!("pg_relation_is_publishable", [REGCLASS], BOOL), asks!("pg_relation_is_updatable", [REGCLASS, BOOL], INT4), asks!("pg_column_is_updatable", [REGCLASS, INT2, BOOL], BOOL),
    asks!("pg_cancel_backend", [INT4], BOOL), asks!("pg_terminate_backend", [INT4], BOOL), asks!("pg_postmaster_start_time", [], TIMESTAMPTZ), asks!("pg_conf_load_time", [], TIMESTAMPTZ), asks!("pg_export_snapshot", [], TEXT), asks!("pg_stat_get_numscans", [OID], INT8), asks!("pg_stat_reset", [], VOID), asks!("pg_reload_conf", [], BOOL), asks!("pg_describe_object", [OID, OID, INT4], TEXT), asks!("pg_index_column_has_property", [REGCLASS, INT4, TEXT], BOOL), asks!("pg_blocking_pids", [INT4], INT4_ARRAY),
];

const CHAR: DataType = DataType::CHAR;
const ACLITEM_ARRAY: DataType = DataType::ACLITEM_ARRAY;
const OIDVECTOR: DataType = DataType::OIDVECTOR;
const INT4_ARRAY: DataType = DataType::INT4_ARRAY;
