//! COPY's options, judged.

use crate::ast::{Copy, CopyOption, CopyOptionValue};
use crate::error::{SqlError, SqlState};

/// How rows are written down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum CopyFormat {
    Text,
    Csv,
    Binary,
}

/// The options, with their defaults filled in.
#[derive(Clone, Debug)]
pub struct CopyOptions {
    /// The form.
    pub format: CopyFormat,
    /// Between columns.
    pub delimiter: u8,
    /// What stands for NULL.
    pub null: Vec<u8>,
    /// A first line with the columns' names.
    pub header: bool,
    /// The header must name the columns.
    pub header_match: bool,
    /// CSV's quote.
    pub quote: u8,
    /// What escapes a quote inside quotes.
    pub escape: u8,
    /// Columns always quoted on output; None is all.
    pub force_quote: Option<Vec<String>>,
    /// Columns for which an unquoted null string is a string.
    pub force_not_null: Vec<String>,
    /// Columns for which a quoted null string is NULL.
    pub force_null: Vec<String>,
}

fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message.into())
}

fn boolean(option: &CopyOption) -> Result<bool, SqlError> {
    match &option.value {
        CopyOptionValue::None => Ok(true),
        CopyOptionValue::Text(text) => match text.to_lowercase().as_str() {
            "true" | "on" | "1" => Ok(true),
            "false" | "off" | "0" => Ok(false),
            _ => Err(SqlError::new(SqlState::SYNTAX_ERROR, format!("{} requires a Boolean value", option.name))),
        },
        _ => Err(SqlError::new(SqlState::SYNTAX_ERROR, format!("{} requires a Boolean value", option.name))),
    }
}

fn text(option: &CopyOption) -> Result<&str, SqlError> {
    match &option.value {
        CopyOptionValue::Text(text) => Ok(text),
        _ => Err(SqlError::new(SqlState::SYNTAX_ERROR, format!("{} requires a parameter", option.name))),
    }
}

fn single_byte(option: &CopyOption) -> Result<u8, SqlError> {
    match text(option)?.as_bytes() {
        [byte] => Ok(*byte),
        _ => Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, format!("COPY {} must be a single one-byte character", option.name))),
    }
}

fn columns(option: &CopyOption) -> Result<Vec<String>, SqlError> {
    match &option.value {
        CopyOptionValue::Columns(columns) => Ok(columns.clone()),
        CopyOptionValue::Text(column) => Ok(vec![column.clone()]),
        _ => Err(invalid(format!("argument to option \"{}\" must be a list of column names", option.name))),
    }
}

impl CopyOptions {
    /// Reads a statement's options.
    pub fn of(copy: &Copy) -> Result<CopyOptions, SqlError> {
        let format = match copy.options.iter().find(|o| o.name == "format") {
            None => CopyFormat::Text,
            Some(option) => match text(option)? {
                "text" => CopyFormat::Text,
                "csv" => CopyFormat::Csv,
                "binary" => CopyFormat::Binary,
                other => return Err(invalid(format!("COPY format \"{other}\" not recognized"))),
            },
        };
        let csv = format == CopyFormat::Csv;
        let mut options = CopyOptions {
            format,
            delimiter: if csv { b',' } else { b'\t' },
            null: if csv { Vec::new() } else { b"\\N".to_vec() },
            header: false,
            header_match: false,
            quote: b'"',
            escape: b'"',
            force_quote: Some(Vec::new()),
            force_not_null: Vec::new(),
            force_null: Vec::new(),
        };
        let mut escape = None;
        for option in &copy.options {
            let only_csv = matches!(option.name.as_str(), "quote" | "escape" | "force_quote" | "force_not_null" | "force_null");
            if only_csv && !csv {
                return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, format!("COPY {} available only in CSV mode", option.name)));
            }
            match option.name.as_str() {
                "format" => {}
                "delimiter" => options.delimiter = single_byte(option)?,
                "null" => options.null = text(option)?.as_bytes().to_vec(),
                "header" if matches!(&option.value, CopyOptionValue::Text(t) if t.eq_ignore_ascii_case("match")) => {
                    (options.header, options.header_match) = (true, true);
                }
                "header" => options.header = boolean(option)?,
                "quote" => options.quote = single_byte(option)?,
                "escape" => escape = Some(single_byte(option)?),
                "force_quote" if option.value == CopyOptionValue::Star => options.force_quote = None,
                "force_quote" => options.force_quote = Some(columns(option)?),
                "force_not_null" => options.force_not_null = columns(option)?,
                "force_null" => options.force_null = columns(option)?,
                // Rows are written like any others: nothing to freeze.
                "freeze" => drop(boolean(option)?),
                "encoding" => match text(option)?.to_uppercase().as_str() {
                    "UTF8" | "UTF-8" | "UNICODE" | "SQL_ASCII" => {}
                    other => return Err(SqlError::unsupported(format!("COPY with the encoding {other}"))),
                },
                other => return Err(SqlError::new(SqlState::SYNTAX_ERROR, format!("option \"{other}\" not recognized"))),
            }
        }
        options.escape = escape.unwrap_or(options.quote);
        options.judge()?;
        Ok(options)
    }

    fn judge(&self) -> Result<(), SqlError> {
        if self.format == CopyFormat::Binary && (self.header || self.delimiter != b'\t' || self.null != b"\\N") {
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, "cannot specify DELIMITER, NULL or HEADER in BINARY mode"));
        }
        if matches!(self.delimiter, b'\n' | b'\r') {
            return Err(invalid("COPY delimiter cannot be newline or carriage return"));
        }
        if self.null.iter().any(|b| matches!(b, b'\n' | b'\r')) {
            return Err(invalid("COPY null representation cannot use newline or carriage return"));
        }
        if self.format == CopyFormat::Text && (b"\\.abcdefghijklmnopqrstuvwxyz0123456789").contains(&self.delimiter) {
            return Err(invalid(format!("COPY delimiter cannot be \"{}\"", char::from(self.delimiter))));
        }
        if self.format == CopyFormat::Csv && self.delimiter == self.quote {
            return Err(invalid("COPY delimiter and quote must be different"));
        }
        if self.null.contains(&self.delimiter) {
            return Err(invalid("COPY delimiter character must not appear in the NULL specification"));
        }
        Ok(())
    }
}
