//! Rows in temporary files: what steps of a query put aside when they would hold more than `work_mem`.
//!
//! A row is a sequence of columns, each `length (4) | bytes`; a length of [`NULL`] stands for NULL. Bytes are those of the row codec. Files have no
//! name, so nothing is left behind by a crash.

use super::RowBatch;
use super::batch::BATCH_ROWS;
use super::spill::{temporary_file, temporary_file_failed};
use crate::error::{SqlError, SqlState};
use crate::types::row_codec::{decode_column, encode_column};
use crate::types::{DataType, Datum, element_of};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;
use std::sync::Arc;

/// Buffer of each file.
const FILE_BUFFER: usize = 64 << 10;
/// The length of a NULL.
const NULL: u32 = u32::MAX;

/// Can rows of these types be put aside? Records cannot: their columns are not known.
pub(super) fn can_be_put_aside(types: &[DataType]) -> bool {
    types.iter().all(|ty| {
        let ty = element_of(*ty).unwrap_or(*ty);
        ty.is_text()
            || ty.is_oid()
            || matches!(
                ty,
                DataType::BOOL
                    | DataType::INT2
                    | DataType::INT4
                    | DataType::INT8
                    | DataType::NUMERIC
                    | DataType::FLOAT4
                    | DataType::FLOAT8
                    | DataType::DATE
                    | DataType::TIME
                    | DataType::TIMESTAMP
                    | DataType::TIMESTAMPTZ
                    | DataType::INTERVAL
                    | DataType::BYTEA
                    | DataType::UUID
                    | DataType::JSON
                    | DataType::JSONB
            )
    })
}

/// Writes rows.
pub(super) struct RowWriter {
    out: BufWriter<File>,
    column: Vec<u8>,
    rows: u64,
}

impl RowWriter {
    /// A new file in that directory.
    pub(super) fn new(dir: &Path) -> Result<RowWriter, SqlError> {
        let file = temporary_file(dir).map_err(temporary_file_failed)?;
        Ok(RowWriter { out: BufWriter::with_capacity(FILE_BUFFER, file), column: Vec::new(), rows: 0 })
    }

    /// Appends a row.
    pub(super) fn push(&mut self, row: &[Datum]) -> Result<(), SqlError> {
        self.rows += 1;
        row.iter().try_for_each(|value| self.column(value)).map_err(temporary_file_failed)
    }

    fn column(&mut self, value: &Datum) -> io::Result<()> {
        if value.is_null() {
            return self.out.write_all(&NULL.to_le_bytes());
        }
        self.column.clear();
        encode_column(value, &mut self.column);
        // A value is at most 1 GiB.
        self.out.write_all(&(self.column.len() as u32).to_le_bytes())?;
        self.out.write_all(&self.column)
    }

    /// Goes over to reading. `types` are the columns'.
    pub(super) fn into_reader(self, types: &Arc<[DataType]>) -> Result<RowReader, SqlError> {
        let mut file = self.out.into_inner().map_err(|error| temporary_file_failed(error.into_error()))?;
        file.rewind().map_err(temporary_file_failed)?;
        let input = BufReader::with_capacity(FILE_BUFFER, file);
        Ok(RowReader { input, types: Arc::clone(types), column: Vec::new(), left: self.rows })
    }
}

/// Reads rows, in the order in which they were written.
pub(super) struct RowReader {
    input: BufReader<File>,
    types: Arc<[DataType]>,
    column: Vec<u8>,
    left: u64,
}

impl RowReader {
    /// Appends the next row's values; false at the end.
    pub(super) fn next(&mut self, out: &mut Vec<Datum>) -> Result<bool, SqlError> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(false) };
        self.left = left;
        for at in 0..self.types.len() {
            let value = self.column(self.types[at])?;
            out.push(value);
        }
        Ok(true)
    }

    /// The next rows; `None` at the end.
    pub(super) fn next_batch(&mut self) -> Result<Option<RowBatch>, SqlError> {
        let mut batch = RowBatch::new(self.types.len());
        while batch.len() < BATCH_ROWS && self.left > 0 {
            batch.try_push(|values| self.next(values).map(drop), |_| Ok::<bool, SqlError>(true))?;
        }
        Ok((!batch.is_empty()).then_some(batch))
    }

    fn column(&mut self, ty: DataType) -> Result<Datum, SqlError> {
        let mut length = [0; 4];
        self.input.read_exact(&mut length).map_err(temporary_file_failed)?;
        let length = u32::from_le_bytes(length);
        if length == NULL {
            return Ok(Datum::Null);
        }
        self.column.resize(length as usize, 0);
        self.input.read_exact(&mut self.column).map_err(temporary_file_failed)?;
        decode_column(&self.column, ty).map_err(|error| SqlError::new(SqlState::IO_ERROR, format!("a temporary file is damaged: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Numeric;

    #[test]
    fn rows_come_back_in_their_order() {
        let dir = tempfile::tempdir().unwrap();
        let types: Arc<[DataType]> = Arc::from([DataType::INT4, DataType::TEXT, DataType::NUMERIC]);
        let row = |n: i32| {
            let text = if n % 3 == 0 { Datum::Null } else { Datum::text("x".repeat(n as usize % 50)) };
            [Datum::Int4(n), text, Datum::Numeric(Numeric::parse(&format!("{n}.50")).unwrap())]
        };
        let mut writer = RowWriter::new(dir.path()).unwrap();
        (0..5000).for_each(|n| writer.push(&row(n)).unwrap());
        let mut reader = writer.into_reader(&types).unwrap();
        let mut seen = 0;
        while let Some(batch) = reader.next_batch().unwrap() {
            for found in batch.rows() {
                let wanted = row(seen);
                assert!(found.iter().zip(&wanted).all(|(a, b)| crate::types::compare::eq(a, b)), "{found:?} {wanted:?}");
                seen += 1;
            }
        }
        assert_eq!(seen, 5000);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "temporary files have no names");
    }
}
