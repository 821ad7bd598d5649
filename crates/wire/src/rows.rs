//! DataRow: values written straight into the output buffer, in the format each column was asked for.
//!
//! No row allocates: lengths are patched in afterwards, and what must pass through a `String` or a `Vec` (the text and
//! binary writers of the SQL floor) reuses one scratch buffer of the connection's.

use crate::output::{format_of, patch_length};
use bytes::{BufMut, BytesMut};
use pgwire::messages::data::MESSAGE_TYPE_BYTE_DATA_ROW;
use std::sync::Arc;
use tidelock_sql::error::{SqlError, SqlState};
use tidelock_sql::expr::SessionInfo;
use tidelock_sql::plan::OutputColumn;
use tidelock_sql::session::Format;
use tidelock_sql::types::{DataType, Datum, FormatSettings, TextContext, binary, text};

/// Longest row, as in PostgreSQL: a message of 1 GiB.
const MAX_ROW_BYTES: usize = 0x3fff_ffff;

/// A scratch buffer larger than this is given back after use.
const SCRATCH_KEPT: usize = 16 * 1024;

/// How the rows of the current statement are written.
#[derive(Default)]
pub(crate) struct RowShape {
    columns: Vec<(DataType, Format)>,
    settings: Arc<FormatSettings>,
    names: Option<Arc<dyn SessionInfo + Send>>,
    text: String,
    bytes: Vec<u8>,
}

impl RowShape {
    /// Types, formats and settings of the rows to come.
    pub(crate) fn begin(
        &mut self,
        columns: &[OutputColumn],
        formats: &[Format],
        settings: &Arc<FormatSettings>,
        names: Arc<dyn SessionInfo + Send>,
    ) {
        self.columns.clear();
        self.columns.extend(columns.iter().enumerate().map(|(at, column)| (column.ty.ty, format_of(formats, at))));
        self.settings = Arc::clone(settings);
        self.names = Some(names);
    }

    /// Appends a row; when it fails, nothing is left of it.
    pub(crate) fn encode(&mut self, row: &[Datum], buffer: &mut BytesMut) -> Result<(), SqlError> {
        let start = buffer.len();
        buffer.put_u8(MESSAGE_TYPE_BYTE_DATA_ROW);
        buffer.put_u32(0);
        buffer.put_u16(row.len() as u16);
        for (at, value) in row.iter().enumerate() {
            let (ty, format) = self.columns.get(at).copied().unwrap_or((DataType::TEXT, Format::Text));
            if let Err(error) = self.value(value, ty, format, buffer) {
                buffer.truncate(start);
                return Err(error);
            }
        }
        if buffer.len() - start > MAX_ROW_BYTES {
            buffer.truncate(start);
            return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "a row of the result exceeds 1 GB"));
        }
        patch_length(buffer, start + 1);
        Ok(())
    }

    fn value(&mut self, value: &Datum, ty: DataType, format: Format, buffer: &mut BytesMut) -> Result<(), SqlError> {
        match (value, format) {
            (Datum::Null, _) => buffer.put_i32(-1),
            (Datum::Text(text), _) => put(text.as_bytes(), buffer),
            (value, Format::Text) => {
                self.text.clear();
                let mut context = TextContext::new(&self.settings);
                if let Some(names) = &self.names {
                    context.session = &**names;
                }
                text::write(value, ty, &context, &mut self.text);
                put(self.text.as_bytes(), buffer);
                self.text.shrink_to(SCRATCH_KEPT);
            }
            (value, Format::Binary) => {
                self.bytes.clear();
                binary::encode(value, ty, &mut self.bytes)?;
                put(&self.bytes, buffer);
                self.bytes.shrink_to(SCRATCH_KEPT);
            }
        }
        Ok(())
    }
}

/// A value with its length.
fn put(bytes: &[u8], buffer: &mut BytesMut) {
    buffer.reserve(bytes.len() + 4);
    buffer.put_u32(bytes.len() as u32);
    buffer.put_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidelock_sql::expr::NoSession;
    use tidelock_sql::types::ColumnType;

    fn column(ty: DataType) -> OutputColumn {
        OutputColumn { name: "c".into(), ty: ColumnType::from(ty), table: 0, attnum: 0 }
    }

    #[test]
    fn a_row_mixes_formats_and_nulls() {
        let columns = [column(DataType::INT4), column(DataType::TEXT), column(DataType::INT8), column(DataType::INT4)];
        let mut shape = RowShape::default();
        shape.begin(&columns, &[Format::Text, Format::Text, Format::Binary, Format::Binary], &Arc::default(), Arc::new(NoSession));
        let mut buffer = BytesMut::new();
        shape.encode(&[Datum::Int4(-7), Datum::Text("ä".into()), Datum::Int8(1), Datum::Null], &mut buffer).unwrap();
        let expected = b"D\0\0\0\x22\0\x04\0\0\0\x02-7\0\0\0\x02\xc3\xa4\0\0\0\x08\0\0\0\0\0\0\0\x01\xff\xff\xff\xff";
        assert_eq!(&buffer[..], expected);
    }
}
