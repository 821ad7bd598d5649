//! SQL cursors: DECLARE, FETCH, MOVE, CLOSE.
//!
//! A cursor's rows are taken when it is declared, in the transaction's snapshot, and kept until it is closed: that makes every
//! direction and WITH HOLD the same simple thing. The price is memory, which is bounded: a result of more than
//! [`MAX_CURSOR_BYTES`] is refused with 53200.

use super::client::{Client, Format};
use super::{Block, Session};
use crate::ast::{DeclareCursor, Distinct, Expr, Fetch, FetchDirection, Ident, Query, SelectItem, SetExpr, Statement, TableRef};
use crate::catalog::RelationKind;
use crate::catalog::facts::CursorFact;
use crate::error::{SqlError, SqlState};
use crate::exec::{Flow, execute};
use crate::functions::{FunctionClass, function_class};
use crate::plan::OutputColumn;
use crate::types::Datum;
use std::sync::Arc;

/// Memory of one cursor.
const MAX_CURSOR_BYTES: usize = 256 << 20;

/// Cursors of one session.
const MAX_CURSORS: usize = 1000;

/// An open cursor.
pub(super) struct Cursor {
    columns: Vec<OutputColumn>,
    rows: Vec<Vec<Datum>>,
    /// 0 is before the first row, n on row n, len + 1 after the last.
    position: i64,
    backward: bool,
    hold: bool,
    format: Format,
    /// Its transaction has committed: it is held.
    held: bool,
    statement: Arc<str>,
    created_at: i64,
    /// The table whose rows it shows one by one, and their primary keys.
    keys: Option<RowKeys>,
}

struct RowKeys {
    table: crate::catalog::Oid,
    keys: Vec<Vec<Datum>>,
}

/// Where a cursor stands, for `WHERE CURRENT OF`.
#[derive(Clone, Debug)]
pub(super) struct CursorRow {
    name: String,
    table: Option<crate::catalog::Oid>,
    key: Option<Vec<Datum>>,
}

impl CursorRow {
    /// The key of the row of that table on which the cursor stands.
    pub(super) fn key_in(rows: &[CursorRow], cursor: &str, table: crate::catalog::Oid, shown: &str) -> Result<Vec<Datum>, SqlError> {
        let row = rows.iter().find(|row| row.name == cursor).ok_or_else(|| no_cursor(cursor))?;
        if row.table != Some(table) {
            let message = format!("cursor \"{cursor}\" is not a simply updatable scan of table \"{shown}\"");
            return Err(SqlError::new(SqlState::INVALID_CURSOR_STATE, message));
        }
        row.key
            .clone()
            .ok_or_else(|| SqlError::new(SqlState::INVALID_CURSOR_STATE, format!("cursor \"{cursor}\" is not positioned on a row")))
    }
}

impl Cursor {
    pub(super) fn columns(&self) -> Vec<OutputColumn> {
        self.columns.clone()
    }

    /// How FETCH will give its values.
    pub(super) fn format(&self) -> Format {
        self.format
    }

    /// Does it outlive its transaction?
    pub(super) fn survives(&mut self, committed: bool) -> bool {
        self.held |= self.hold && committed;
        self.held
    }

    fn last(&self) -> i64 {
        self.rows.len() as i64
    }

    /// Moves, and gives the rows passed on the way, in order of passing.
    fn walk(&mut self, direction: FetchDirection) -> Result<Vec<usize>, SqlError> {
        let end = self.last() + 1;
        let steps = match direction {
            FetchDirection::Forward(n) => n,
            FetchDirection::ForwardAll => end,
            FetchDirection::Backward(n) => -n,
            FetchDirection::BackwardAll => -end,
            FetchDirection::Absolute(n) => {
                let target = if n < 0 { (end + n).max(0) } else { n.min(end) };
                return self.jump(target);
            }
            FetchDirection::Relative(n) => return self.jump((self.position.saturating_add(n)).clamp(0, end)),
        };
        if steps == 0 {
            return Ok(self.here());
        }
        self.check_direction(steps > 0)?;
        let mut passed = Vec::new();
        for _ in 0..steps.unsigned_abs() {
            self.position = (self.position + steps.signum()).clamp(0, end);
            if self.position == 0 || self.position == end {
                break;
            }
            passed.push(self.position as usize - 1);
        }
        Ok(passed)
    }

    fn jump(&mut self, target: i64) -> Result<Vec<usize>, SqlError> {
        self.check_direction(target >= self.position)?;
        self.position = target;
        Ok(self.here())
    }

    fn here(&self) -> Vec<usize> {
        let inside = (1..=self.last()).contains(&self.position);
        inside.then(|| self.position as usize - 1).into_iter().collect()
    }

    fn check_direction(&self, forward: bool) -> Result<(), SqlError> {
        if forward || self.backward {
            return Ok(());
        }
        Err(SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, "cursor can only scan forward")
            .hint("Declare it with SCROLL option to enable backward scan."))
    }
}

impl Session {
    /// DECLARE.
    pub(super) async fn declare_cursor(&mut self, declare: &DeclareCursor) -> Result<(), SqlError> {
        if !declare.hold && self.transaction.block != Block::Explicit {
            let message = "DECLARE CURSOR can only be used in transaction blocks";
            return Err(SqlError::new(SqlState::NO_ACTIVE_SQL_TRANSACTION, message));
        }
        if self.cursors.contains_key(&declare.name) {
            let message = format!("cursor \"{}\" already exists", declare.name);
            return Err(SqlError::new(SqlState::DUPLICATE_CURSOR, message));
        }
        if self.cursors.len() >= MAX_CURSORS {
            return Err(SqlError::new(SqlState::CONFIGURATION_LIMIT_EXCEEDED, format!("more than {MAX_CURSORS} open cursors")));
        }
        self.open_transaction()?;
        let mut query = declare.query.clone();
        let scanned = self.with_row_keys(&mut query);
        let statement = Statement::Query(Box::new(query));
        let plan = self.plan_and_lock(&statement).await?;
        let scope = self.scope();
        self.step(&scope.settings);
        self.check_allowed(&statement, Some(&plan))?;
        let mut rows = Vec::new();
        let mut bytes = 0usize;
        let mut sink = |row: &[Datum]| {
            bytes += row.iter().map(size_of_datum).sum::<usize>();
            if bytes > MAX_CURSOR_BYTES {
                let message = format!("the cursor's rows need more than {} MB", MAX_CURSOR_BYTES >> 20);
                return Err(SqlError::new(SqlState::OUT_OF_MEMORY, message));
            }
            rows.push(row.to_vec());
            Ok(Flow::Continue)
        };
        let mut ctx = self.context(&scope)?;
        execute(&plan, Vec::new(), &mut ctx, &mut sink).await?;
        let mut columns = plan.output.clone();
        let keys = scanned.map(|(table, width)| {
            let shown = columns.len().saturating_sub(width);
            columns.truncate(shown);
            RowKeys { table, keys: rows.iter_mut().map(|row| row.split_off(shown.min(row.len()))).collect() }
        });
        let cursor = Cursor {
            columns,
            keys,
            rows,
            position: 0,
            backward: declare.scroll != Some(false),
            hold: declare.hold,
            format: if declare.binary { Format::Binary } else { Format::Text },
            held: false,
            statement: Arc::clone(&self.handle.activity.lock().query),
            created_at: scope.statement_time,
        };
        self.cursors.insert(declare.name.clone(), cursor);
        self.publish_cursors();
        Ok(())
    }

    /// FETCH and MOVE.
    pub(super) fn fetch(&mut self, fetch: &Fetch, client: &mut dyn Client) -> Result<String, SqlError> {
        let settings = self.settings();
        let cursor = self.cursors.get_mut(&fetch.cursor).ok_or_else(|| no_cursor(&fetch.cursor))?;
        let walked = cursor.walk(fetch.direction);
        let moves = cursor.keys.is_some();
        if moves {
            self.publish_cursor_rows();
        }
        let passed = walked?;
        let cursor = self.cursors.get(&fetch.cursor).ok_or_else(|| no_cursor(&fetch.cursor))?;
        if fetch.is_move {
            return Ok(format!("MOVE {}", passed.len()));
        }
        client.row_description(&cursor.columns, &[cursor.format]);
        client.begin_rows(&cursor.columns, &[cursor.format], &settings.formats, self.view.clone());
        passed.iter().try_for_each(|at| client.row(&cursor.rows[*at]))?;
        Ok(format!("FETCH {}", passed.len()))
    }

    /// CLOSE.
    pub(super) fn close_cursor(&mut self, name: Option<&str>) -> Result<(), SqlError> {
        match name {
            None => self.cursors.clear(),
            Some(name) => {
                self.cursors.remove(name).ok_or_else(|| no_cursor(name))?;
            }
        }
        self.publish_cursors();
        Ok(())
    }

    /// Shows the open cursors to `pg_cursors`.
    pub(super) fn publish_cursors(&self) {
        let fact = |(name, cursor): (&String, &Cursor)| CursorFact {
            name: name.clone(),
            statement: cursor.statement.to_string(),
            holdable: cursor.hold,
            binary: cursor.format == Format::Binary,
            scrollable: cursor.backward,
            created_at: cursor.created_at,
        };
        *self.view.cursors.lock() = self.cursors.iter().map(fact).collect();
        self.publish_cursor_rows();
    }

    /// Tells where the cursors stand.
    fn publish_cursor_rows(&self) {
        let row = |(name, cursor): (&String, &Cursor)| {
            let keys = cursor.keys.as_ref();
            let key = keys.zip(cursor.here().pop()).and_then(|(keys, at)| keys.keys.get(at).cloned());
            CursorRow { name: name.clone(), table: keys.map(|keys| keys.table), key }
        };
        *self.view.cursor_rows.lock() = self.cursors.iter().map(row).collect();
    }

    /// If the query shows rows of one table, one by one, its primary key is selected, too. Gives the table and the number of key columns.
    fn with_row_keys(&mut self, query: &mut Query) -> Option<(crate::catalog::Oid, usize)> {
        let plain = query.with.is_none() && query.limit.is_none() && query.offset.is_none();
        let SetExpr::Select(select) = &mut query.body else { return None };
        let [TableRef::Table { name, sample: None, alias }] = select.from.as_slice() else { return None };
        let grouped = !select.group_by.is_empty() || select.having.is_some() || !select.windows.is_empty();
        if !plain || grouped || !matches!(select.distinct, Distinct::All) || select.items.iter().any(computes_over_rows) {
            return None;
        }
        let scope = self.scope();
        let found = scope.catalog.resolve(name.schema.as_deref(), &name.name, &scope.plan_settings.search_path)?;
        let table = found.descriptor();
        if table.kind != RelationKind::Table || !table.has_primary_key() {
            return None;
        }
        let shown = alias.as_ref().map_or(&name.name, |alias| &alias.name.value);
        if alias.as_ref().is_some_and(|alias| !alias.columns.is_empty()) {
            return None;
        }
        let ident = |value: &str| Ident { value: value.to_owned(), pos: 0 };
        let key = |part: &crate::catalog::IndexColumn| vec![ident(shown), ident(&table.columns[part.column].name)];
        let items: Vec<_> = table.primary.key.iter().map(|part| SelectItem::Expr { expr: Expr::Column(key(part)), alias: None }).collect();
        let width = items.len();
        select.items.extend(items);
        Some((table.oid, width))
    }
}

/// Might the item be an aggregate, a window function or a set? Then its rows are not the table's.
fn computes_over_rows(item: &SelectItem) -> bool {
    fn calls(expr: &Expr) -> bool {
        match expr {
            Expr::Function(call) => call.over.is_some() || function_class(&call.name.name) != Some(FunctionClass::Scalar),
            Expr::Cast { expr, .. } | Expr::Collate { expr, .. } | Expr::Not(expr) | Expr::Unary { expr, .. } => calls(expr),
            Expr::Binary { left, right, .. } => calls(left) || calls(right),
            Expr::Column(_) | Expr::Literal(..) => false,
            _ => true,
        }
    }
    match item {
        SelectItem::Star(_) | SelectItem::TableStar(_) => false,
        SelectItem::RowStar(_) => true,
        SelectItem::Expr { expr, .. } => calls(expr),
    }
}

fn no_cursor(name: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_CURSOR_NAME, format!("cursor \"{name}\" does not exist"))
}

fn size_of_datum(datum: &Datum) -> usize {
    let held = match datum {
        Datum::Text(text) => text.len(),
        Datum::Bytes(bytes) => bytes.len(),
        Datum::Array(array) => array.elements.len() * size_of::<Datum>(),
        _ => 0,
    };
    size_of::<Datum>() + held
}
