//! COPY ... FROM STDIN.

use super::defaults::DefaultValue;
use super::options::{CopyFormat, CopyOptions};
use super::records::{Cut, Fields, RECORD_BYTES_MAX, binary_header, csv_fields, cut_binary, cut_csv, cut_line, text_fields, trimmed};
use crate::ast::{Copy, CopySource, CopyTarget};
use crate::bind::domain_checks;
use crate::catalog::{RelationKind, TableDescriptor, store};
use crate::error::{SqlError, SqlState};
use crate::exec::bulk_load::BulkLoad;
use crate::exec::foreign_key::{ForeignKeyWork, RowRules};
use crate::exec::insert::{Owed, insert_rows};
use crate::exec::{Affected, ExecContext, RowBatch};
use crate::expr::DomainChecks;
use crate::plan::{Estimate, InsertPlan, Plan, PlanNode};
use crate::types::{ColumnType, Datum, binary, cast, text};
use std::borrow::Cow;
use std::sync::Arc;

/// Rows inserted in one go.
const BATCH_ROWS: usize = 500;
/// Characters of a value that an error's context shows.
const SHOWN_MAX: usize = 100;

/// A COPY under way.
pub struct CopyIn {
    plan: InsertPlan,
    columns: Vec<usize>,
    options: CopyOptions,
    defaults: Vec<(usize, DefaultValue)>,
    /// What values of domains must hold, by the columns that the data has.
    domains: Vec<(usize, Arc<DomainChecks>)>,
    buffer: Vec<u8>,
    consumed: usize,
    scanned: (usize, bool),
    line: u64,
    started: bool,
    ended: bool,
    rows: RowBatch,
    owed: Owed,
    written: u64,
}

/// The domains of the columns that a COPY names.
fn domains_of(table: &TableDescriptor, columns: &[usize], ctx: &ExecContext<'_>) -> Result<Vec<(usize, Arc<DomainChecks>)>, SqlError> {
    let mut domains = Vec::new();
    for position in columns {
        let declared = table.columns.get(*position).and_then(|column| column.declared);
        let checks = declared.map(|oid| domain_checks(oid, &ctx.catalog, ctx.plan_settings)).transpose()?.flatten();
        domains.extend(checks.map(|checks| (*position, checks)));
    }
    Ok(domains)
}

impl CopyIn {
    /// Checks the statement and prepares to take data.
    pub fn begin(copy: &Copy, ctx: &mut ExecContext<'_>) -> Result<CopyIn, SqlError> {
        if !matches!(copy.target, CopyTarget::Client) {
            return Err(SqlError::unsupported("COPY from a file or a program of the server"));
        }
        if copy.filter.is_some() {
            return Err(SqlError::unsupported("COPY FROM ... WHERE"));
        }
        if ctx.txn.options().read_only {
            return Err(SqlError::new(SqlState::READ_ONLY_SQL_TRANSACTION, "cannot execute COPY FROM in a read-only transaction"));
        }
        let options = CopyOptions::of(copy)?;
        let (table, columns) = target(copy, ctx)?;
        if table.kind != RelationKind::Table {
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("cannot copy to \"{}\"", table.name)));
        }
        if let Some(generated) = columns.iter().filter_map(|c| table.columns.get(*c)).find(|c| c.generated.is_some()) {
            return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, format!("column \"{}\" is a generated column", generated.name))
                .detail("Generated columns cannot be used in COPY."));
        }
        let mut defaults = Vec::new();
        for (position, column) in table.columns.iter().enumerate() {
            if !columns.contains(&position) && !column.hidden && column.generated.is_none() {
                defaults.push((position, DefaultValue::of(column, ctx)?));
            }
        }
        ctx.txn.assert_unchanged(store::relation_key(ctx.catalog.database_oid(), table.oid), ctx.catalog_ts);
        let rules = RowRules::bind(&table, ctx)?;
        let domains = domains_of(&table, &columns, ctx)?;
        let load = BulkLoad::of_table(&table, ctx);
        let rows = RowBatch::new(table.columns.len());
        let nothing = Plan { node: PlanNode::Empty, types: Vec::new(), names: Vec::new(), estimate: Estimate::default() };
        let plan = InsertPlan {
            alias: table.name.clone(),
            table,
            input: nothing,
            generated: rules.generated,
            checks: rules.checks,
            on_conflict: None,
            returning: None,
        };
        Ok(CopyIn {
            plan,
            columns,
            options,
            defaults,
            domains,
            buffer: Vec::new(),
            consumed: 0,
            scanned: (0, false),
            line: 0,
            started: false,
            ended: false,
            rows,
            owed: Owed { foreign: ForeignKeyWork::default(), load },
            written: 0,
        })
    }

    /// How many columns a record has.
    pub fn column_count(&self) -> usize {
        self.columns.len()
    }

    /// Whether the data is binary.
    pub fn is_binary(&self) -> bool {
        self.options.format == CopyFormat::Binary
    }

    /// Takes a portion of the data; inserts when enough rows have come together.
    pub async fn push(&mut self, bytes: &[u8], ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
        ctx.cancel.check()?;
        self.buffer.extend_from_slice(bytes);
        while self.cut(false, ctx)? {
            if self.rows.len() >= BATCH_ROWS {
                self.flush(ctx).await?;
            }
        }
        self.buffer.drain(..self.consumed);
        self.consumed = 0;
        if self.buffer.len() > RECORD_BYTES_MAX {
            return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, format!("a COPY record is longer than {RECORD_BYTES_MAX} bytes")));
        }
        Ok(())
    }

    /// The data has ended.
    pub async fn finish(mut self, ctx: &mut ExecContext<'_>) -> Result<Affected, SqlError> {
        while self.cut(true, ctx)? {
            if self.rows.len() >= BATCH_ROWS {
                self.flush(ctx).await?;
            }
        }
        if self.is_binary() && !self.ended {
            return Err(SqlError::new(SqlState::BAD_COPY_FILE_FORMAT, "unexpected EOF in COPY data"));
        }
        self.flush(ctx).await?;
        self.owed.finish(ctx).await?;
        Ok(Affected { tag: "COPY", rows: self.written })
    }

    /// Takes one record off the buffer; false when there is none.
    fn cut(&mut self, ended: bool, ctx: &ExecContext<'_>) -> Result<bool, SqlError> {
        if self.ended {
            self.consumed = self.buffer.len();
            return Ok(false);
        }
        if self.is_binary() {
            return self.cut_tuple(ctx);
        }
        let rest = &self.buffer[self.consumed..];
        let cut = match self.options.format {
            CopyFormat::Csv => cut_csv(rest, ended, &self.options, &mut self.scanned).map_err(|e| self.in_line(e))?,
            _ => cut_line(rest, ended),
        };
        match cut {
            Cut::More => Ok(false),
            Cut::End => {
                self.ended = true;
                Ok(true)
            }
            Cut::Record(length) => {
                self.line += 1;
                let record = trimmed(&rest[..length]);
                if !std::mem::replace(&mut self.started, true) && self.options.header {
                    self.check_header(record)?;
                } else {
                    let mut rows = std::mem::take(&mut self.rows);
                    self.append(self.fields(record), &mut rows, ctx)?;
                    self.rows = rows;
                }
                self.consumed += length;
                Ok(true)
            }
        }
    }

    fn cut_tuple(&mut self, ctx: &ExecContext<'_>) -> Result<bool, SqlError> {
        if !self.started {
            let Some(length) = binary_header(&self.buffer[self.consumed..])? else { return Ok(false) };
            (self.started, self.consumed) = (true, self.consumed + length);
        }
        let Some((fields, length)) = cut_binary(&self.buffer[self.consumed..], self.columns.len()).map_err(|e| self.in_line(e))? else {
            return Ok(false);
        };
        self.line += 1;
        match fields {
            None => self.ended = true,
            Some(fields) => {
                let mut rows = std::mem::take(&mut self.rows);
                self.append(fields, &mut rows, ctx)?;
                self.rows = rows;
            }
        }
        self.consumed += length;
        Ok(true)
    }

    fn fields<'r>(&self, record: &'r [u8]) -> Fields<'r> {
        if self.options.format == CopyFormat::Text {
            return text_fields(record, &self.options);
        }
        let name = |at: usize| self.columns.get(at).and_then(|c| self.plan.table.columns.get(*c)).map_or("", |c| c.name.as_str());
        let fields = csv_fields(record, &self.options).into_iter().enumerate();
        let field = |(at, (field, quoted)): (usize, (Vec<u8>, bool))| {
            let is_null_text = field == self.options.null;
            let forced = if quoted {
                self.options.force_null.iter().any(|c| c == name(at))
            } else {
                !self.options.force_not_null.iter().any(|c| c == name(at))
            };
            if is_null_text && forced { None } else { Some(Cow::Owned(field)) }
        };
        fields.map(field).collect()
    }

    fn check_header(&self, record: &[u8]) -> Result<(), SqlError> {
        if !self.options.header_match {
            return Ok(());
        }
        let found = self.fields(record);
        let expected: Vec<&str> = self.columns.iter().filter_map(|c| self.plan.table.columns.get(*c)).map(|c| c.name.as_str()).collect();
        let mismatch = |message: String| Err(SqlError::new(SqlState::BAD_COPY_FILE_FORMAT, message));
        if found.len() != expected.len() {
            return mismatch(format!("wrong number of fields in header line: got {}, expected {}", found.len(), expected.len()));
        }
        for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
            let found = found.as_ref().map(|f| String::from_utf8_lossy(f).into_owned()).unwrap_or_default();
            if found != expected {
                return mismatch(format!("column name mismatch in header line field {}: got \"{found}\", expected \"{expected}\"", at + 1));
            }
        }
        Ok(())
    }

    /// Appends a record as a complete row; columns that it does not name are NULL still.
    fn append(&self, fields: Fields<'_>, rows: &mut RowBatch, ctx: &ExecContext<'_>) -> Result<(), SqlError> {
        let table = &self.plan.table;
        let column = |at: usize| self.columns.get(at).and_then(|c| table.columns.get(*c));
        if fields.len() < self.columns.len() {
            let name = column(fields.len()).map_or("", |c| &c.name);
            return Err(self.in_line(SqlError::new(SqlState::BAD_COPY_FILE_FORMAT, format!("missing data for column \"{name}\""))));
        }
        if fields.len() > self.columns.len() {
            return Err(self.in_line(SqlError::new(SqlState::BAD_COPY_FILE_FORMAT, "extra data after last expected column")));
        }
        let fill = |values: &mut Vec<Datum>| {
            let from = values.len();
            values.resize(from + table.columns.len(), Datum::Null);
            self.fill(fields, &mut values[from..], ctx)
        };
        rows.try_push(fill, |_| Ok(true)).map(drop)
    }

    fn fill(&self, fields: Fields<'_>, row: &mut [Datum], ctx: &ExecContext<'_>) -> Result<(), SqlError> {
        let table = &self.plan.table;
        for (position, field) in self.columns.iter().zip(fields) {
            let (Some(column), Some(slot)) = (table.columns.get(*position), row.get_mut(*position)) else { continue };
            let in_column = |mut error: SqlError| {
                let shown = match &field {
                    Some(field) => format!("\"{}\"", String::from_utf8_lossy(field).chars().take(SHOWN_MAX).collect::<String>()),
                    None => "null input".to_owned(),
                };
                let value = if self.is_binary() { String::new() } else { format!(": {shown}") };
                error.fields_mut().context = Some(format!("COPY {}, line {}, column {}{value}", table.name, self.line, column.name));
                error
            };
            if let Some(field) = &field {
                *slot = self.value(field, column.ty, ctx).map_err(in_column)?;
            }
            if let Some((_, domain)) = self.domains.iter().find(|(of, _)| of == position) {
                domain.check(slot, &ctx.eval()).map_err(in_column)?;
            }
        }
        Ok(())
    }

    fn value(&self, field: &[u8], ty: ColumnType, ctx: &ExecContext<'_>) -> Result<Datum, SqlError> {
        if self.is_binary() {
            return cast::coerce_typmod(binary::decode(field, ty.ty)?, ty, false);
        }
        text::parse(binary::text(field)?, ty, &ctx.text())
    }

    fn in_line(&self, mut error: SqlError) -> SqlError {
        error.fields_mut().context = Some(format!("COPY {}, line {}", self.plan.table.name, self.line));
        error
    }

    async fn flush(&mut self, ctx: &mut ExecContext<'_>) -> Result<(), SqlError> {
        let width = self.plan.table.columns.len();
        let mut rows = std::mem::replace(&mut self.rows, RowBatch::new(width));
        if rows.is_empty() {
            return Ok(());
        }
        for (position, default) in &self.defaults {
            let ty = self.plan.table.columns[*position].ty.ty;
            let values = default.values(ty, rows.len(), ctx).await?;
            for (at, value) in values.into_iter().enumerate() {
                if let Some(slot) = rows.row_mut(at).get_mut(*position) {
                    *slot = value;
                }
            }
        }
        let count = rows.len();
        insert_rows(&self.plan, rows, &mut self.owed, ctx).await?;
        self.written += count as u64;
        Ok(())
    }
}

/// The table and the positions of the columns that COPY names.
pub(super) fn target(copy: &Copy, ctx: &ExecContext<'_>) -> Result<(Arc<TableDescriptor>, Vec<usize>), SqlError> {
    let CopySource::Table { name, columns } = &copy.source else {
        return Err(SqlError::new(SqlState::SYNTAX_ERROR, "COPY FROM wants a table"));
    };
    if name.catalog.as_ref().is_some_and(|database| database != ctx.catalog.database()) {
        return Err(crate::bind::in_other_database(name).nowhere());
    }
    let found = ctx.catalog.resolve(name.schema.as_deref(), &name.name, &ctx.plan_settings.search_path);
    let missing = || SqlError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{}\" does not exist", name)).at(name.pos);
    let table = Arc::clone(found.ok_or_else(missing)?.descriptor());
    if columns.is_empty() {
        let plain = table.visible_columns().filter(|(_, c)| c.generated.is_none()).map(|(p, _)| p);
        let positions = plain.collect();
        return Ok((table, positions));
    }
    let mut positions = Vec::with_capacity(columns.len());
    for column in columns {
        let missing = || {
            let message = format!("column \"{}\" of relation \"{}\" does not exist", column.value, table.name);
            SqlError::new(SqlState::UNDEFINED_COLUMN, message)
        };
        let position = table.column_position(&column.value).ok_or_else(missing)?;
        if positions.contains(&position) {
            return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, format!("column \"{}\" specified more than once", column.value)));
        }
        positions.push(position);
    }
    Ok((table, positions))
}
