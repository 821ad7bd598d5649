//! Parser scripts: `tests/parse/*.txt` hold statements and what becomes of each, in blocks of `statement`, `----`, `result`, blank line.
//!
//! `REGENERATE=1 cargo test -p tidelock-sql --test parse` writes the results anew; read the difference before keeping it.

use std::fmt::Write;
use tidelock_sql::error::SqlError;
use tidelock_sql::parse::{normalise, parse};

mod script;

fn shown(error: &SqlError) -> String {
    let fields = error.fields();
    let mut text = format!("error {}: {}", fields.state.0, fields.message);
    if let Some(position) = fields.position {
        write!(text, " @{position}").expect("writing to a string");
    }
    if let Some(hint) = &fields.hint {
        write!(text, "\nhint: {hint}").expect("writing to a string");
    }
    text
}

fn outcome(sql: &str) -> String {
    match parse(sql) {
        Ok(statements) if statements.is_empty() => "empty".into(),
        Ok(statements) => statements.iter().map(|s| format!("ok {}", s.statement.tag())).collect::<Vec<_>>().join("\n"),
        Err(error) => shown(&error),
    }
}

#[test]
fn statements() {
    script::run("tests/parse/statements.txt", outcome);
}

/// What psql's backslash commands send.
#[test]
fn psql() {
    script::run("tests/parse/psql.txt", outcome);
}

#[test]
fn trees() {
    script::run("tests/parse/trees.txt", |sql| match parse(sql) {
        Ok(statements) => statements.iter().map(|s| format!("{:?}", s.statement)).collect::<Vec<_>>().join("\n"),
        Err(error) => shown(&error),
    });
}

#[test]
fn normalised() {
    script::run("tests/parse/normalise.txt", |sql| match normalise(sql) {
        Some(n) => format!("{}\n{:?}", n.text, n.literals),
        None => "left alone".into(),
    });
}

/// Whatever is nested, chained or huge gives an error or a statement, on a thread with the stack of a server's worker.
#[test]
fn bounds() {
    let run = || {
        let state = |sql: &str| parse(sql).err().map(|e| e.state().0);
        let deep = 100_000;
        assert_eq!(state(&format!("SELECT {}1{}", "(".repeat(deep), ")".repeat(deep))), Some("54001"));
        assert_eq!(state(&"SELECT (".repeat(deep)), Some("54001"));
        assert_eq!(state(&format!("SELECT {} 1", "NOT".to_owned() + &" NOT".repeat(deep))), Some("54001"));
        assert_eq!(state(&format!("SELECT 1{}", " + 1".repeat(deep))), Some("54001"));
        assert_eq!(state(&format!("SELECT {}1", "- ".repeat(deep))), Some("54001"));
        assert_eq!(state(&format!("SELECT 1{}", " UNION SELECT 1".repeat(deep))), Some("54001"));
        assert_eq!(state(&format!("SELECT {}1{}", "(".repeat(200), ")".repeat(200))), None);
        assert_eq!(state(&format!("SELECT {}1{}", "CASE WHEN true THEN ".repeat(200), " END".repeat(200))), None);
        assert_eq!(state(&format!("SELECT * FROM t WHERE a = 0{}", " OR a = 1".repeat(20_000))), None);
        assert_eq!(state(&format!("SELECT * FROM t WHERE a IN (0{})", ", 1".repeat(50_000))), None);
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).expect("a thread").join().expect("no panic");
}
