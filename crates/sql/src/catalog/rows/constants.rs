//! Catalogs that never change: types, casts, operator classes, collations, languages. Their rows were written by a PostgreSQL 15 server
//! (`data/generate.sh`): a line of column names, then tab-separated values, `\N` for NULL.

use super::{Rows, VirtualScan, empty};
use crate::catalog::Oid;
use crate::types::{DataType, Datum, FormatSettings, TextContext, text};
use hashbrown::HashMap;
use std::sync::LazyLock;

static FILES: &[(&str, &str)] = &[
    ("pg_aggregate", include_str!("../data/pg_aggregate.tsv")),
    ("pg_am", include_str!("../data/pg_am.tsv")),
    ("pg_amop", include_str!("../data/pg_amop.tsv")),
    ("pg_amproc", include_str!("../data/pg_amproc.tsv")),
    ("pg_cast", include_str!("../data/pg_cast.tsv")),
    ("pg_collation", include_str!("../data/pg_collation.tsv")),
    ("pg_language", include_str!("../data/pg_language.tsv")),
    ("pg_opclass", include_str!("../data/pg_opclass.tsv")),
    ("pg_opfamily", include_str!("../data/pg_opfamily.tsv")),
    ("pg_tablespace", include_str!("../data/pg_tablespace.tsv")),
    ("pg_type", include_str!("../data/pg_type.tsv")),
];

/// The rows of one file, none if there is no such file.
pub(super) fn rows(scan: &VirtualScan<'_>, name: &str) -> Rows {
    FILES.iter().find(|(file, _)| *file == name).map_or(Vec::new(), |(_, content)| parse_lines(scan, content.lines()))
}

/// `tidelock.compat`: what of PostgreSQL there is. The comments of its file are not shown.
pub(super) fn compat(scan: &VirtualScan<'_>) -> Rows {
    parse_lines(scan, include_str!("../data/compat.tsv").lines().filter(|line| !line.starts_with('#')))
}

/// Rows out of a file's lines, as the table has its columns.
pub(super) fn parse_lines(scan: &VirtualScan<'_>, mut lines: impl Iterator<Item = &'static str>) -> Rows {
    let header: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    let places: Vec<Option<usize>> = scan.table.columns.iter().map(|(column, _)| header.iter().position(|name| name == column)).collect();
    let settings = FormatSettings::default();
    let context = TextContext::new(&settings);
    let row = |line: &'static str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let value = |(place, (column, ty)): (&Option<usize>, &(&'static str, crate::types::ColumnType))| match place
            .and_then(|at| fields.get(at))
        {
            None => empty(column, ty.ty),
            Some(&"\\N") => Datum::Null,
            Some(field) => text::parse(field, *ty, &context).unwrap_or(Datum::Null),
        };
        places.iter().zip(&scan.table.columns).map(value).collect()
    };
    lines.map(row).collect()
}

/// The fields of a file's lines, for look-ups.
pub(super) fn fields(name: &str) -> impl Iterator<Item = Vec<&'static str>> {
    let content = FILES.iter().find(|(file, _)| *file == name).map_or("", |(_, content)| *content);
    content.lines().skip(1).map(|line| line.split('\t').collect())
}

/// The default B-tree operator class of each type.
static DEFAULT_CLASS: LazyLock<HashMap<Oid, Oid>> = LazyLock::new(|| {
    let class = |line: Vec<&'static str>| (*line.get(5)? == "t").then_some((line.get(4)?.parse().ok()?, line.first()?.parse().ok()?));
    fields("pg_opclass").filter_map(class).collect()
});

/// The operator class of a key column: `varchar` goes by `text`'s, an array by `anyarray`'s.
pub(super) fn default_opclass(ty: DataType) -> Oid {
    let lookup = |ty: DataType| DEFAULT_CLASS.get(&ty.0).copied();
    let general = if ty == DataType::VARCHAR { DataType::TEXT } else { DataType::ANYARRAY };
    lookup(ty).or_else(|| lookup(general)).unwrap_or_default()
}
