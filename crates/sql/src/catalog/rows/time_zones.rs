//! `pg_timezone_names`.

use super::{Rows, VirtualScan, fill};
use crate::types::{Datum, Interval};
use jiff::Timestamp;
use jiff::tz::TimeZone;

struct Zone {
    name: String,
    abbreviation: String,
    offset_seconds: i32,
    daylight: bool,
}

fn zone(name: &str) -> Option<Zone> {
    let zone = TimeZone::get(name).ok()?;
    let now = zone.to_offset_info(Timestamp::now());
    Some(Zone {
        name: name.to_owned(),
        abbreviation: now.abbreviation().to_owned(),
        offset_seconds: now.offset().seconds(),
        daylight: now.dst().is_dst(),
    })
}

static COLUMNS: &[(&str, fn(&Zone) -> Datum)] = &[
    ("name", |z| Datum::text(z.name.as_str())),
    ("abbrev", |z| Datum::text(z.abbreviation.as_str())),
    ("utc_offset", |z| Datum::Interval(Interval { micros: i64::from(z.offset_seconds) * 1_000_000, ..Interval::default() })),
    ("is_dst", |z| Datum::Bool(z.daylight)),
];

/// All zones that `SET TimeZone` takes by name, with their offset now.
pub(super) fn zones(scan: &VirtualScan<'_>) -> Rows {
    let names: Vec<String> = jiff::tz::db().available().map(|name| name.to_string()).collect();
    fill(scan, COLUMNS, names.iter().filter_map(|name| zone(name)))
}
