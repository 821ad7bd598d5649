//! `SET name TO a, b`: what stands behind TO as the one text that a setting's value is.

use super::quoted;
use super::settings::{SettingKind, find};
use crate::error::{SqlError, SqlState};

/// Names of a list are quoted where they must be, so that they mean the same when the list is read. Only lists, and `DateStyle`, take several.
pub(super) fn one_value(name: &str, values: &[String]) -> Result<String, SqlError> {
    let kind = find(name).map(|setting| setting.kind);
    if kind == Some(SettingKind::List) {
        return Ok(values.iter().map(|value| quoted(value)).collect::<Vec<_>>().join(", "));
    }
    if kind.is_some() && values.len() > 1 && !name.eq_ignore_ascii_case("datestyle") {
        return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("SET {name} takes only one argument")));
    }
    Ok(values.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lists_take_several_values() {
        let value = |name: &str, values: &[&str]| {
            one_value(name, &values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>()).map_err(|error| error.state())
        };
        assert_eq!(value("search_path", &["a", "B", "$user", ""]).as_deref(), Ok("a, \"B\", \"$user\", \"\""));
        assert_eq!(value("search_path", &["a, b"]).as_deref(), Ok("\"a, b\""));
        assert_eq!(value("DateStyle", &["ISO", "DMY"]).as_deref(), Ok("ISO, DMY"));
        assert_eq!(value("custom.x", &["a", "b"]).as_deref(), Ok("a, b"));
        assert_eq!(value("work_mem", &["5MB"]).as_deref(), Ok("5MB"));
        assert_eq!(value("work_mem", &["5MB", "6MB"]), Err(SqlState::INVALID_PARAMETER_VALUE));
    }
}
