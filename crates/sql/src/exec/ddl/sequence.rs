//! CREATE and ALTER SEQUENCE.

use super::Ddl;
use crate::ast::{AlterSequence, CreateSequence, ObjectName, SequenceOption};
use crate::bind::column_type;
use crate::catalog::{Column, Oid, RelationKind, SequenceDescriptor, TableDescriptor, store};
use crate::error::{SqlError, SqlState};
use crate::types::DataType;

fn invalid(message: String) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

fn bounds(ty: DataType) -> (i64, i64) {
    match ty {
        DataType::INT2 => (i64::from(i16::MIN), i64::from(i16::MAX)),
        DataType::INT4 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => (i64::MIN, i64::MAX),
    }
}

/// A sequence's definition from its options; `ty` is the column's, for an owned one.
pub(super) fn new_definition(ty: Option<DataType>, options: &[SequenceOption], value_id: u64) -> Result<SequenceDescriptor, SqlError> {
    let ty = ty.unwrap_or(DataType::INT8);
    let start =
        SequenceDescriptor { ty, start: 1, increment: 1, min: 1, max: bounds(ty).1, cache: 1, cycle: false, owned_by: None, value_id };
    changed(start, options, true)
}

/// The definition with options applied.
fn changed(mut definition: SequenceDescriptor, options: &[SequenceOption], is_new: bool) -> Result<SequenceDescriptor, SqlError> {
    let (mut start, mut min, mut max) = (None, None, None);
    for option in options {
        match option {
            SequenceOption::As(name) => {
                let ty = column_type(name)?.ty;
                if !matches!(ty, DataType::INT2 | DataType::INT4 | DataType::INT8) {
                    return Err(invalid("sequence type must be smallint, integer, or bigint".into()));
                }
                definition.ty = ty;
                max.get_or_insert(None);
            }
            SequenceOption::Increment(0) => return Err(invalid("INCREMENT must not be zero".into())),
            SequenceOption::Increment(by) => definition.increment = *by,
            SequenceOption::MinValue(value) => min = Some(*value),
            SequenceOption::MaxValue(value) => max = Some(*value),
            SequenceOption::Start(value) => start = Some(*value),
            SequenceOption::Cache(count) if *count < 1 => return Err(invalid(format!("CACHE ({count}) must be greater than zero"))),
            SequenceOption::Cache(count) => definition.cache = *count,
            SequenceOption::Cycle(cycle) => definition.cycle = *cycle,
            SequenceOption::Restart(_) | SequenceOption::OwnedBy(_) | SequenceOption::Name(_) => {}
        }
    }
    let (lowest, highest) = bounds(definition.ty);
    let (default_min, default_max) = if definition.increment > 0 { (1, highest) } else { (lowest, -1) };
    if is_new || min.is_some() {
        definition.min = min.flatten().unwrap_or(default_min);
    }
    if is_new || max.is_some() {
        definition.max = max.flatten().unwrap_or(default_max);
    }
    if definition.min < lowest || definition.max > highest {
        let (what, value) = if definition.min < lowest { ("MINVALUE", definition.min) } else { ("MAXVALUE", definition.max) };
        return Err(invalid(format!("{what} ({value}) is out of range for sequence data type {}", definition.ty)));
    }
    if definition.min >= definition.max {
        return Err(invalid(format!("MINVALUE ({}) must be less than MAXVALUE ({})", definition.min, definition.max)));
    }
    if is_new || start.is_some() {
        definition.start = start.unwrap_or(if definition.increment > 0 { definition.min } else { definition.max });
    }
    if definition.start < definition.min {
        return Err(invalid(format!("START value ({}) cannot be less than MINVALUE ({})", definition.start, definition.min)));
    }
    if definition.start > definition.max {
        return Err(invalid(format!("START value ({}) cannot be greater than MAXVALUE ({})", definition.start, definition.max)));
    }
    Ok(definition)
}

impl Ddl<'_, '_> {
    /// Adds or replaces a sequence.
    pub(super) fn put_sequence(&mut self, oid: Oid, schema_oid: Oid, schema: &str, name: &str, definition: SequenceDescriptor) {
        let mut table = TableDescriptor::new(oid, schema_oid, schema, name, RelationKind::Sequence);
        table.owner = self.ctx.plan_settings.user.clone();
        let columns = [("last_value", DataType::INT8), ("log_cnt", DataType::INT8), ("is_called", DataType::BOOL)];
        table.columns = (1..).zip(columns).map(|(n, (name, ty))| Column::new(n, name, ty.into())).collect();
        table.sequence = Some(definition);
        self.put(table);
    }

    pub(super) async fn create_sequence(&mut self, create: &CreateSequence) -> Result<(), SqlError> {
        let schema = self.schema_of_new(&create.name, create.temporary).await?;
        let name = &create.name.name;
        if self.is_taken(&schema.name, name) {
            if create.if_not_exists {
                self.skipped(SqlState::DUPLICATE_TABLE, format!("relation \"{name}\" already exists"));
                return Ok(());
            }
            return Err(SqlError::new(SqlState::DUPLICATE_TABLE, format!("relation \"{name}\" already exists")));
        }
        let mut definition = new_definition(None, &create.options, self.new_index_id().await?)?;
        definition.owned_by = self.owner_of(&create.options)?.flatten();
        let oid = self.new_oid().await?;
        self.put_sequence(oid, schema.oid, &schema.name, name, definition);
        Ok(())
    }

    /// OWNED BY, if it is said: None is NONE.
    fn owner_of(&self, options: &[SequenceOption]) -> Result<Option<Option<(Oid, usize)>>, SqlError> {
        let Some(owner) = options.iter().find_map(|o| if let SequenceOption::OwnedBy(owner) = o { Some(owner) } else { None }) else {
            return Ok(None);
        };
        let Some((table, column)) = owner else { return Ok(Some(None)) };
        let table = self.find_table(table)?;
        let missing = || super::columns::no_such_column(column, &table.name, 0);
        Ok(Some(Some((table.oid, table.column_position(column).ok_or_else(missing)?))))
    }

    pub(super) async fn alter_sequence(&mut self, alter: &AlterSequence) -> Result<(), SqlError> {
        let Some(table) = self.find_sequence(&alter.name, alter.if_exists)? else { return Ok(()) };
        self.change_sequence(table.oid, &alter.options).await
    }

    fn find_sequence(&mut self, name: &ObjectName, if_exists: bool) -> Result<Option<std::sync::Arc<TableDescriptor>>, SqlError> {
        if if_exists && self.lookup(name).is_none() {
            self.notice(format!("relation \"{}\" does not exist, skipping", name.name));
            return Ok(None);
        }
        let table = self.find(name)?;
        if table.kind != RelationKind::Sequence {
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not a sequence", table.name)));
        }
        Ok(Some(table))
    }

    /// Options, and RESTART, which acts at once (values of a sequence are not transactional).
    pub(super) async fn change_sequence(&mut self, oid: Oid, options: &[SequenceOption]) -> Result<(), SqlError> {
        let mut table = self.table(oid)?;
        let Some(before) = table.sequence.clone() else { return Err(crate::exec::context::misfit()) };
        let mut definition = changed(before, options, false)?;
        if let Some(owner) = self.owner_of(options)? {
            definition.owned_by = owner;
        }
        for option in options {
            if let SequenceOption::Restart(value) = option {
                let value = value.unwrap_or(definition.start);
                self.restart(definition.value_id, value).await?;
            }
        }
        table.sequence = Some(definition);
        self.put(table);
        Ok(())
    }

    pub(super) async fn restart(&mut self, value_id: u64, value: i64) -> Result<(), SqlError> {
        self.ctx.sequences.clear_ahead(&store::sequence_key(value_id));
        let set = self.ctx.db.sequence_set(store::sequence_key(value_id), value, false).await;
        set.map_err(|e| self.ctx.kv(e))
    }
}
