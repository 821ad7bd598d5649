//! What we say: messages encoded into one buffer, which is sent as a whole.
//!
//! Rare messages are pgwire's; the ones that make up a statement's answer are written directly, because pgwire's carry a
//! `String` for each name and tag. Rows are in `rows.rs`.

use crate::rows::RowShape;
use bytes::{BufMut, BytesMut};
use pgwire::error::ErrorInfo;
use pgwire::messages::Message;
use pgwire::messages::copy::{CopyInResponse, CopyOutResponse, MESSAGE_TYPE_BYTE_COPY_DATA};
use pgwire::messages::data::MESSAGE_TYPE_BYTE_ROW_DESCRITION;
use pgwire::messages::response::{ErrorResponse, MESSAGE_TYPE_BYTE_COMMAND_COMPLETE, NoticeResponse, ReadyForQuery, TransactionStatus};
use pgwire::messages::startup::ParameterStatus;
use tidelock_sql::error::SqlError;
use tidelock_sql::exec::Notice;
use tidelock_sql::plan::OutputColumn;
use tidelock_sql::session::{CopyStart, Format};
use tidelock_sql::types::{Datum, info};

/// What errors say of their place in the source: clients print it, and some insist on its presence.
const ERROR_FILE: &str = "tidelock";

/// The output buffer.
#[derive(Default)]
pub(crate) struct Output {
    pub(crate) buffer: BytesMut,
    /// What the rows to come look like.
    pub(crate) shape: RowShape,
    /// A message could not be encoded; the connection cannot go on.
    broken: bool,
}

impl Output {
    /// A message of pgwire's.
    pub(crate) fn put(&mut self, message: impl Message) {
        let at = self.buffer.len();
        if let Err(error) = message.encode(&mut self.buffer) {
            tracing::error!(%error, "a message could not be encoded");
            self.buffer.truncate(at);
            self.broken = true;
        }
    }

    /// Did a message get lost?
    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    /// ReadyForQuery.
    pub(crate) fn ready_for_query(&mut self, status: TransactionStatus) {
        self.put(ReadyForQuery::new(status));
    }

    /// CommandComplete.
    pub(crate) fn command_complete(&mut self, tag: &str) {
        self.buffer.reserve(tag.len() + 6);
        self.buffer.put_u8(MESSAGE_TYPE_BYTE_COMMAND_COMPLETE);
        self.buffer.put_u32(tag.len() as u32 + 5);
        self.buffer.put_slice(tag.as_bytes());
        self.buffer.put_u8(0);
    }

    /// ParameterStatus.
    pub(crate) fn parameter_status(&mut self, name: &str, value: &str) {
        self.put(ParameterStatus::new(clean(name), clean(value)));
    }

    /// ErrorResponse, of severity ERROR or FATAL.
    pub(crate) fn error(&mut self, severity: &str, error: &SqlError) {
        self.put(ErrorResponse::from(error_info(severity, error)));
    }

    /// NoticeResponse.
    pub(crate) fn notice(&mut self, notice: &Notice) {
        self.put(NoticeResponse::from(error_info(notice.severity, &notice.fields)));
    }

    /// CopyInResponse.
    pub(crate) fn copy_in_start(&mut self, start: CopyStart) {
        let (format, columns) = (format_code(start.format), column_count(start.columns));
        self.put(CopyInResponse::new(format as i8, columns, vec![format; columns.max(0) as usize]));
    }

    /// CopyOutResponse.
    pub(crate) fn copy_out_start(&mut self, start: CopyStart) {
        let (format, columns) = (format_code(start.format), column_count(start.columns));
        self.put(CopyOutResponse::new(format as i8, columns, vec![format; columns.max(0) as usize]));
    }

    /// CopyData.
    pub(crate) fn copy_data(&mut self, data: &[u8]) {
        self.buffer.reserve(data.len() + 5);
        self.buffer.put_u8(MESSAGE_TYPE_BYTE_COPY_DATA);
        self.buffer.put_u32(data.len() as u32 + 4);
        self.buffer.put_slice(data);
    }

    /// RowDescription.
    pub(crate) fn row_description(&mut self, columns: &[OutputColumn], formats: &[Format]) {
        let buffer = &mut self.buffer;
        buffer.put_u8(MESSAGE_TYPE_BYTE_ROW_DESCRITION);
        let length_at = buffer.len();
        buffer.put_u32(0);
        buffer.put_i16(column_count(columns.len()));
        for (at, column) in columns.iter().enumerate() {
            buffer.put_slice(column.name.as_bytes());
            buffer.put_u8(0);
            buffer.put_u32(column.table);
            buffer.put_i16(column.attnum as i16);
            buffer.put_u32(column.ty.ty.0);
            buffer.put_i16(info(column.ty.ty).len);
            buffer.put_i32(column.ty.typmod);
            buffer.put_i16(format_code(format_of(formats, at)));
        }
        patch_length(buffer, length_at);
    }

    /// DataRow.
    pub(crate) fn row(&mut self, row: &[Datum]) -> Result<(), SqlError> {
        self.shape.encode(row, &mut self.buffer)
    }
}

/// Writes the length of a message whose length word stands at `at`.
pub(crate) fn patch_length(buffer: &mut BytesMut, at: usize) {
    let length = (buffer.len() - at) as u32;
    buffer[at..at + 4].copy_from_slice(&length.to_be_bytes());
}

/// The format of a column: `formats` has one entry for all columns, one per column, or none (all text).
pub(crate) fn format_of(formats: &[Format], column: usize) -> Format {
    match formats {
        [] => Format::Text,
        [all] => *all,
        each => each.get(column).copied().unwrap_or_default(),
    }
}

fn format_code(format: Format) -> i16 {
    match format {
        Format::Text => 0,
        Format::Binary => 1,
    }
}

/// SQL bounds the number of columns far below what the protocol can say.
fn column_count(columns: usize) -> i16 {
    i16::try_from(columns).unwrap_or(i16::MAX)
}

/// A zero byte ends a string on the wire, so none may be inside.
fn clean(text: &str) -> String {
    if text.contains('\0') { text.replace('\0', "") } else { text.to_owned() }
}

fn error_info(severity: &str, error: &SqlError) -> ErrorInfo {
    let fields = error.fields();
    let text = |field: &Option<String>| field.as_deref().map(clean);
    let mut info = ErrorInfo::new(severity.to_owned(), fields.state.0.to_owned(), clean(&fields.message));
    info.severity_nonlocalized = Some(severity.to_owned());
    info.detail = text(&fields.detail);
    info.hint = text(&fields.hint);
    info.position = fields.position.map(|position| position.to_string());
    info.where_context = text(&fields.context);
    info.schema = text(&fields.schema);
    info.table = text(&fields.table);
    info.column = text(&fields.column);
    info.datatype = text(&fields.data_type);
    info.constraint = text(&fields.constraint);
    info.file_name = Some(ERROR_FILE.to_owned());
    info.line = Some(1);
    info.routine = Some(ERROR_FILE.to_owned());
    info
}
