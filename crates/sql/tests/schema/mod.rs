//! A catalog for tests, out of CREATE TABLE and CREATE INDEX statements, without storage behind it.

use std::sync::Arc;
use tidelock_sql::ast::{ColumnConstraintKind, CreateIndex, CreateTable, Expr, Statement, TableConstraintKind};
use tidelock_sql::bind::column_type;
use tidelock_sql::catalog::{
    Catalog, CatalogBuilder, CheckConstraint, Column, ColumnStatistics, FIRST_USER_OID, IndexColumn, IndexDescriptor, ROWID_NAME,
    RelationKind, TableDescriptor, TableStatistics,
};
use tidelock_sql::parse::parse;
use tidelock_sql::types::DataType;

/// The catalog that a schema script describes. A table's comment `-- 1000 rows` gives it statistics.
pub(crate) fn catalog(script: &str) -> Arc<Catalog> {
    let mut builder = CatalogBuilder::new("test");
    let mut oid = FIRST_USER_OID;
    for parsed in parse(script).expect("the schema parses") {
        oid += 1;
        match parsed.statement {
            Statement::CreateTable(create) => builder.put_table(table(&create, oid)),
            Statement::CreateIndex(create) => {
                let mut found =
                    builder.catalog().relation_in("public", &create.table.name).expect("the table").descriptor().as_ref().clone();
                found.indexes.push(index(&create, &found, oid));
                builder.put_table(found);
            }
            Statement::CreateView(create) => {
                let mut view = TableDescriptor::new(oid, 2200, "public", create.name.name.clone(), RelationKind::View);
                view.view_query = Some(create.text.clone());
                view.columns = (1..).zip(&create.columns).map(|(n, c)| Column::new(n, c.value.clone(), DataType::INT4.into())).collect();
                builder.put_table(view);
            }
            other => panic!("unexpected {}", other.tag()),
        }
    }
    builder.build()
}

/// The catalog with row counts, for one warehouse with ten districts; every other column is taken to have a tenth as many values.
pub(crate) fn with_rows(catalog: &Catalog, counts: &[(&str, f64)]) -> Arc<Catalog> {
    let mut builder = catalog.edit();
    for (name, rows) in counts {
        let table = builder.catalog().relation_in("public", name).expect("the table").descriptor().clone();
        let distinct = |name: &str| match name {
            name if name.ends_with("w_id") => 1.0,
            name if name.ends_with("d_id") => 10.0,
            _ => (rows / 10.0).max(1.0),
        };
        let columns = table.columns.iter().map(|c| Some(ColumnStatistics { distinct: distinct(&c.name), ..ColumnStatistics::default() }));
        let statistics = TableStatistics { row_count: *rows, columns: columns.collect(), row_bytes: 100.0 };
        builder.put_statistics(table.oid, statistics);
    }
    builder.build()
}

fn table(create: &CreateTable, oid: u32) -> TableDescriptor {
    let mut table = TableDescriptor::new(oid, 2200, "public", create.name.name.clone(), RelationKind::Table);
    let mut key: Vec<usize> = Vec::new();
    for (position, definition) in create.columns.iter().enumerate() {
        let mut column = Column::new(position as u32 + 1, definition.name.value.clone(), column_type(&definition.ty).expect("a type"));
        for constraint in &definition.constraints {
            match &constraint.kind {
                ColumnConstraintKind::PrimaryKey => key.push(position),
                ColumnConstraintKind::NotNull => column.nullable = false,
                ColumnConstraintKind::Default(default) => column.default = Some(default.text.clone()),
                ColumnConstraintKind::Generated(value) => column.generated = Some(value.text.clone()),
                ColumnConstraintKind::Check(check) => {
                    let name = format!("{}_{}_check", table.name, column.name);
                    table.checks.push(CheckConstraint { oid: oid + 5000, name, expr: check.text.clone(), validated: true });
                }
                other => panic!("unexpected {other:?}"),
            }
        }
        table.columns.push(column);
    }
    for constraint in &create.constraints {
        let TableConstraintKind::PrimaryKey { columns, .. } = &constraint.kind else { panic!("unexpected constraint") };
        key = columns.iter().map(|c| table.column_position(&c.value).expect("a column")).collect();
    }
    let named = !key.is_empty();
    if !named {
        let mut rowid = Column::new(table.columns.len() as u32 + 1, ROWID_NAME, DataType::INT8.into());
        rowid.hidden = true;
        key.push(table.columns.len());
        table.columns.push(rowid);
    }
    let name = if named { format!("{}_pkey", table.name) } else { String::new() };
    table.primary = IndexDescriptor::new(if named { oid + 1000 } else { 0 }, name, u64::from(oid));
    for position in key {
        table.columns[position].nullable = false;
        table.primary.key.push(IndexColumn { column: position, descending: false, nulls_first: false });
    }
    table
}

fn index(create: &CreateIndex, table: &TableDescriptor, oid: u32) -> IndexDescriptor {
    let mut index = IndexDescriptor::new(oid, create.name.clone().expect("a name"), u64::from(oid));
    index.unique = create.unique;
    for element in &create.columns {
        let Expr::Column(parts) = &element.item.expr else { panic!("an expression index") };
        let column = table.column_position(&parts[0].value).expect("a column");
        let descending = element.item.descending;
        index.key.push(IndexColumn { column, descending, nulls_first: element.item.nulls_first.unwrap_or(descending) });
    }
    index.include = create.include.iter().map(|c| table.column_position(&c.value).expect("a column")).collect();
    index
}
