//! What clients ask of the system catalogs: psql's backslash commands and the introspection of drivers and ORMs, through a real session.
//!
//! `REGENERATE=1 cargo test --test catalog` writes what is found into the scripts.

mod script;
mod session;

use session::TestSession;

fn with_schema() -> TestSession {
    let mut session = TestSession::open();
    let schema = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/catalog/schema.sql")).expect("the schema exists");
    let made = session.run(&schema);
    assert!(!made.contains("ERROR"), "{made}");
    session
}

#[test]
fn psql_gets_its_answers() {
    let mut session = with_schema();
    script::run("tests/catalog/psql.txt", |sql| session.run(sql));
}

#[test]
fn drivers_and_mappers_get_their_answers() {
    let mut session = with_schema();
    script::run("tests/catalog/clients.txt", |sql| session.run(sql));
}

#[test]
fn information_schema_tells_what_postgresql_tells() {
    let mut session = with_schema();
    script::run("tests/catalog/information_schema.txt", |sql| session.run(sql));
}

#[test]
fn every_builtin_relation_can_be_read() {
    let mut session = with_schema();
    let builtin = tidelock_sql::catalog::builtin::catalog();
    let names: Vec<(String, String)> =
        builtin.catalog().relations().map(|r| (r.descriptor().schema.clone(), r.descriptor().name.clone())).collect();
    assert!(names.len() > 100);
    for (schema, name) in names {
        let found = session.run(&format!("SELECT * FROM {schema}.{name}"));
        assert!(!found.contains("ERROR"), "{schema}.{name}: {found}");
    }
}

#[test]
fn sessions_see_their_own_statements_and_cursors() {
    let mut session = with_schema();
    session.run("PREPARE answer AS SELECT $1::int4 + 1");
    assert_eq!(session.run("SELECT name, parameter_types, from_sql FROM pg_prepared_statements"), "answer|{integer}|t");
    session.run("BEGIN; DECLARE c SCROLL CURSOR FOR SELECT 1");
    assert_eq!(session.run("SELECT name, is_scrollable FROM pg_cursors"), "c|t");
    session.run("ROLLBACK");
    assert_eq!(session.run("SELECT count(*) FROM pg_cursors"), "0");
    assert_eq!(session.run("SELECT state, query FROM pg_stat_activity"), "active|SELECT state, query FROM pg_stat_activity");
}
