//! COPY ... TO STDOUT.

use super::input::target;
use super::options::{CopyFormat, CopyOptions};
use super::records::write_binary_header;
use crate::ast::{Copy, CopySource, CopyTarget, Statement};
use crate::catalog::RelationKind;
use crate::error::{SqlError, SqlState};
use crate::exec::ExecContext;
use crate::plan::{StatementPlan, plan_statement};
use crate::types::{DataType, Datum, TextContext, binary, text};
use std::sync::Arc;

/// Writes rows in COPY's forms.
pub struct CopyOut {
    options: CopyOptions,
    columns: Vec<(String, DataType)>,
}

impl CopyOut {
    /// Checks the statement; gives the plan to run, whose rows go to [`CopyOut::row`].
    pub fn begin(copy: &Copy, ctx: &ExecContext<'_>) -> Result<(CopyOut, Arc<StatementPlan>), SqlError> {
        if !matches!(copy.target, CopyTarget::Client) {
            return Err(SqlError::unsupported("COPY to a file or a program of the server"));
        }
        let options = CopyOptions::of(copy)?;
        let plan = match &copy.source {
            CopySource::Query(statement) => plan_statement(statement, &ctx.catalog, ctx.plan_settings, &[])?,
            CopySource::Table { .. } => plan_statement(&table_query(copy, ctx)?, &ctx.catalog, ctx.plan_settings, &[])?,
        };
        if !plan.returns_rows {
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "COPY query must have a RETURNING clause"));
        }
        let columns = plan.output.iter().map(|c| (c.name.clone(), c.ty.ty)).collect();
        Ok((CopyOut { options, columns }, Arc::new(plan)))
    }

    /// How many columns a record has.
    pub fn column_count(&self) -> usize {
        self.columns.len()
    }

    /// Whether the data is binary.
    pub fn is_binary(&self) -> bool {
        self.options.format == CopyFormat::Binary
    }

    /// What comes before the first row.
    pub fn header(&self, out: &mut Vec<u8>) {
        if self.is_binary() {
            write_binary_header(out);
        } else if self.options.header {
            for (at, (name, _)) in self.columns.iter().enumerate() {
                self.separate(at, out);
                match self.options.format {
                    CopyFormat::Csv => self.csv_value(name, false, out),
                    _ => self.text_value(name, out),
                }
            }
            out.push(b'\n');
        }
    }

    /// One row.
    pub fn row(&self, row: &[Datum], context: &TextContext<'_>, out: &mut Vec<u8>) -> Result<(), SqlError> {
        if self.is_binary() {
            return self.binary_row(row, out);
        }
        let mut buffer = String::new();
        for (at, (value, (name, ty))) in row.iter().zip(&self.columns).enumerate() {
            self.separate(at, out);
            if value.is_null() {
                out.extend_from_slice(&self.options.null);
                continue;
            }
            buffer.clear();
            text::write(value, *ty, context, &mut buffer);
            if self.options.format == CopyFormat::Csv {
                let forced = self.options.force_quote.as_ref().is_none_or(|list| list.contains(name));
                self.csv_value(&buffer, forced, out);
            } else {
                self.text_value(&buffer, out);
            }
        }
        out.push(b'\n');
        Ok(())
    }

    /// What comes after the last row.
    pub fn trailer(&self, out: &mut Vec<u8>) {
        if self.is_binary() {
            out.extend_from_slice(&(-1i16).to_be_bytes());
        }
    }

    fn separate(&self, at: usize, out: &mut Vec<u8>) {
        if at > 0 {
            out.push(self.options.delimiter);
        }
    }

    fn text_value(&self, value: &str, out: &mut Vec<u8>) {
        for byte in value.bytes() {
            let code = match byte {
                b'\\' => b'\\',
                8 => b'b',
                12 => b'f',
                b'\n' => b'n',
                b'\r' => b'r',
                b'\t' => b't',
                11 => b'v',
                other if other == self.options.delimiter => other,
                other => {
                    out.push(other);
                    continue;
                }
            };
            out.extend_from_slice(&[b'\\', code]);
        }
    }

    fn csv_value(&self, value: &str, forced: bool, out: &mut Vec<u8>) {
        let bytes = value.as_bytes();
        let special = |b: &u8| *b == self.options.delimiter || *b == self.options.quote || matches!(*b, b'\n' | b'\r');
        let lone_end = value == "\\." && self.columns.len() == 1;
        if !forced && bytes != self.options.null.as_slice() && !bytes.iter().any(special) && !lone_end {
            out.extend_from_slice(bytes);
            return;
        }
        out.push(self.options.quote);
        for byte in bytes {
            if *byte == self.options.quote || *byte == self.options.escape {
                out.push(self.options.escape);
            }
            out.push(*byte);
        }
        out.push(self.options.quote);
    }

    fn binary_row(&self, row: &[Datum], out: &mut Vec<u8>) -> Result<(), SqlError> {
        out.extend_from_slice(&(row.len() as i16).to_be_bytes());
        for (value, (_, ty)) in row.iter().zip(&self.columns) {
            let at = out.len();
            out.extend_from_slice(&(-1i32).to_be_bytes());
            if !value.is_null() {
                binary::encode(value, *ty, out)?;
                let length = (out.len() - at - 4) as i32;
                out[at..at + 4].copy_from_slice(&length.to_be_bytes());
            }
        }
        Ok(())
    }
}

/// `SELECT columns FROM table`, of a table that is copied by name.
fn table_query(copy: &Copy, ctx: &ExecContext<'_>) -> Result<Statement, SqlError> {
    let (table, positions) = target(copy, ctx)?;
    if table.kind == RelationKind::View {
        return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("cannot copy from view \"{}\"", table.name))
            .hint("Try the COPY (SELECT ...) TO variant."));
    }
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let columns: Vec<String> = positions.iter().map(|p| quoted(&table.columns[*p].name)).collect();
    let text = format!("SELECT {} FROM {}.{}", columns.join(", "), quoted(&table.schema), quoted(&table.name));
    Ok(Statement::Query(Box::new(crate::parse::parse_query(&text)?)))
}
