//! Type names: the crate knows many spellings as variants of their own; ours is one name, the one PostgreSQL's catalog has.

use super::cursor::Cursor;
use crate::ast::TypeName;
use crate::error::{SqlError, SqlState};
use sqlparser::ast::{ArrayElemTypeDef, CharacterLength, DataType, ExactNumberInfo, IntervalFields, TimezoneInfo, TypeModifier};

impl Cursor<'_> {
    pub(super) fn convert_type(&mut self, ty: DataType) -> Result<TypeName, SqlError> {
        let plain = |name: &str| Ok(named(name, Vec::new()));
        match ty {
            DataType::Boolean | DataType::Bool => plain("bool"),
            DataType::SmallInt(None) | DataType::Int2(None) => plain("int2"),
            DataType::Int(None) | DataType::Integer(None) | DataType::Int4(None) => plain("int4"),
            DataType::BigInt(None) | DataType::Int8(None) => plain("int8"),
            DataType::Real | DataType::Float4 => plain("float4"),
            DataType::Float8 | DataType::DoublePrecision => plain("float8"),
            DataType::Float(info) => float(&info),
            DataType::Numeric(info) | DataType::Decimal(info) | DataType::Dec(info) => Ok(named("numeric", number_modifiers(&info))),
            DataType::Character(length) | DataType::Char(length) => character("bpchar", length, Some(1)),
            DataType::CharacterVarying(length) | DataType::CharVarying(length) | DataType::Varchar(length) => {
                character("varchar", length, None)
            }
            DataType::Text => plain("text"),
            DataType::Bytea => plain("bytea"),
            DataType::Uuid => plain("uuid"),
            DataType::Date => plain("date"),
            DataType::Time(precision, zone) => Ok(named(if zoned(&zone) { "timetz" } else { "time" }, precision_modifier(precision))),
            DataType::Timestamp(precision, zone) => {
                Ok(named(if zoned(&zone) { "timestamptz" } else { "timestamp" }, precision_modifier(precision)))
            }
            DataType::Interval { fields, precision } => Ok(named("interval", interval_modifiers(fields.as_ref(), precision))),
            DataType::JSON => plain("json"),
            DataType::JSONB => plain("jsonb"),
            DataType::Regclass => plain("regclass"),
            DataType::Array(element) => self.array_type(element),
            DataType::Custom(name, modifiers) => self.custom_type(name, modifiers),
            DataType::Bit(length) => Ok(named("bit", precision_modifier(length))),
            DataType::BitVarying(length) | DataType::VarBit(length) => Ok(named("varbit", precision_modifier(length))),
            other => Ok(named(&other.to_string().to_ascii_lowercase(), Vec::new())),
        }
    }

    fn array_type(&mut self, element: ArrayElemTypeDef) -> Result<TypeName, SqlError> {
        match element {
            ArrayElemTypeDef::SquareBracket(element, _) | ArrayElemTypeDef::Qualified(element, _) => {
                let mut ty = self.convert_type(*element)?;
                ty.array_dims += 1;
                Ok(ty)
            }
            _ => Err(SqlError::new(SqlState::SYNTAX_ERROR, "syntax error in array type")),
        }
    }

    fn custom_type(&mut self, name: sqlparser::ast::ObjectName, modifiers: Vec<TypeModifier>) -> Result<TypeName, SqlError> {
        let quoted_char = name.0.last().and_then(|p| p.as_ident()).is_some_and(|i| i.value == "char" && i.quote_style.is_some());
        let name = self.convert_name(name)?;
        let modifiers = modifiers.iter().map(|m| match m {
            TypeModifier::Number(n, _) => n.parse().map_err(|_| SqlError::new(SqlState::INVALID_PARAMETER_VALUE, "invalid type modifier")),
            _ => Err(SqlError::unsupported("a type modifier that is not a number")),
        });
        let modifiers = modifiers.collect::<Result<_, _>>()?;
        let base = if quoted_char { "\"char\"".into() } else { name.name };
        Ok(TypeName { schema: name.schema, name: base, modifiers, array_dims: 0, pos: name.pos })
    }
}

fn named(name: &str, modifiers: Vec<i32>) -> TypeName {
    TypeName { schema: None, name: name.into(), modifiers, array_dims: 0, pos: 0 }
}

fn zoned(zone: &TimezoneInfo) -> bool {
    matches!(zone, TimezoneInfo::WithTimeZone | TimezoneInfo::Tz)
}

fn precision_modifier(precision: Option<u64>) -> Vec<i32> {
    precision.into_iter().map(clamp).collect()
}

/// What does not fit is far outside of every type's limits, and refused there.
fn clamp(n: u64) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}

fn number_modifiers(info: &ExactNumberInfo) -> Vec<i32> {
    match info {
        ExactNumberInfo::None => Vec::new(),
        ExactNumberInfo::Precision(p) => vec![clamp(*p)],
        ExactNumberInfo::PrecisionAndScale(p, s) => vec![clamp(*p), i32::try_from(*s).unwrap_or(i32::MAX)],
    }
}

fn float(info: &ExactNumberInfo) -> Result<TypeName, SqlError> {
    let range = |message: &'static str| Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
    match info {
        ExactNumberInfo::None => Ok(named("float8", Vec::new())),
        ExactNumberInfo::Precision(0) => range("precision for type float must be at least 1 bit"),
        ExactNumberInfo::Precision(1..=24) => Ok(named("float4", Vec::new())),
        ExactNumberInfo::Precision(25..=53) => Ok(named("float8", Vec::new())),
        ExactNumberInfo::Precision(_) => range("precision for type float must be less than 54 bits"),
        ExactNumberInfo::PrecisionAndScale(..) => Err(SqlError::new(SqlState::SYNTAX_ERROR, "syntax error at or near \",\"")),
    }
}

fn character(name: &str, length: Option<CharacterLength>, default: Option<i32>) -> Result<TypeName, SqlError> {
    match length {
        Some(CharacterLength::IntegerLength { length, .. }) => Ok(named(name, vec![clamp(length)])),
        Some(CharacterLength::Max) => Err(SqlError::new(SqlState::SYNTAX_ERROR, "syntax error at or near \"max\"")),
        None => Ok(named(name, default.into_iter().collect())),
    }
}

/// PostgreSQL's bit masks for interval fields; the range comes first, then the precision.
fn interval_modifiers(fields: Option<&IntervalFields>, precision: Option<u64>) -> Vec<i32> {
    const MONTH: i32 = 1 << 1;
    const YEAR: i32 = 1 << 2;
    const DAY: i32 = 1 << 3;
    const HOUR: i32 = 1 << 10;
    const MINUTE: i32 = 1 << 11;
    const SECOND: i32 = 1 << 12;
    const FULL: i32 = 0x7FFF;
    let mask = fields.map(|fields| match fields {
        IntervalFields::Year => YEAR,
        IntervalFields::Month => MONTH,
        IntervalFields::Day => DAY,
        IntervalFields::Hour => HOUR,
        IntervalFields::Minute => MINUTE,
        IntervalFields::Second => SECOND,
        IntervalFields::YearToMonth => YEAR | MONTH,
        IntervalFields::DayToHour => DAY | HOUR,
        IntervalFields::DayToMinute => DAY | HOUR | MINUTE,
        IntervalFields::DayToSecond => DAY | HOUR | MINUTE | SECOND,
        IntervalFields::HourToMinute => HOUR | MINUTE,
        IntervalFields::HourToSecond => HOUR | MINUTE | SECOND,
        IntervalFields::MinuteToSecond => MINUTE | SECOND,
    });
    match (mask, precision) {
        (None, None) => Vec::new(),
        (Some(mask), None) => vec![mask],
        (mask, Some(precision)) => vec![mask.unwrap_or(FULL), clamp(precision)],
    }
}
