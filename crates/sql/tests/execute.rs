//! Scripts of statements, run by our executor over a store in this process, with results recorded from PostgreSQL 15.
//!
//! `ORACLE="host=127.0.0.1 port=... user=postgres" cargo test --test execute` runs the scripts there instead, each in a schema of its own, and records what it says.
//! What differs on purpose is marked in the script: a block that begins with `# ours` is not sent to PostgreSQL.

mod database;

use database::Database;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use tidelock_kvapi::Isolation;

fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/execute");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).expect("the folder exists").map(|f| f.expect("a file").path()).collect();
    files.sort();
    files
}

struct Block {
    sql: String,
    expected: String,
    ours: bool,
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    loop {
        let input: Vec<&str> = lines.by_ref().take_while(|line| *line != "----").collect();
        if input.iter().all(|line| line.trim().is_empty()) {
            return blocks;
        }
        let expected: Vec<&str> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
        let ours = input.iter().any(|line| line.starts_with("# ours"));
        let sql = input.join("\n").trim().to_owned();
        blocks.push(Block { sql, expected: expected.join("\n"), ours });
    }
}

fn statement(block: &Block) -> String {
    block.sql.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n")
}

#[tokio::test(flavor = "current_thread")]
async fn scripts_give_what_postgresql_gives() {
    if let Ok(url) = std::env::var("ORACLE") {
        return record(&url).await;
    }
    let only = std::env::var("SCRIPT").unwrap_or_default();
    let mut differences = 0;
    for path in scripts().iter().filter(|p| p.to_string_lossy().contains(&only)) {
        for isolation in [Isolation::Serializable, Isolation::ReadCommitted] {
            let database = Database::open();
            let mut session = database.session(1, isolation);
            for block in blocks(&std::fs::read_to_string(path).expect("the script can be read")) {
                let result = session.run(&statement(&block)).await;
                if result != block.expected {
                    differences += 1;
                    println!("{} ({isolation})\n{}\n-- expected:\n{}\n-- found:\n{result}\n", path.display(), block.sql, block.expected);
                }
            }
        }
    }
    assert_eq!(differences, 0, "blocks differ");
}

async fn record(url: &str) {
    let only = std::env::var("SCRIPT").unwrap_or_default();
    for path in scripts().into_iter().filter(|path| path.to_string_lossy().contains(&only)) {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.expect("the oracle answers");
        tokio::spawn(connection);
        client
            .batch_execute("DROP SCHEMA IF EXISTS public CASCADE; CREATE SCHEMA public; SET client_min_messages = error")
            .await
            .expect("a clean schema");
        let mut written = String::new();
        for block in blocks(&std::fs::read_to_string(&path).expect("the script can be read")) {
            let result = if block.ours { block.expected.clone() } else { ask(&client, &statement(&block)).await };
            let end = if result.is_empty() { "\n" } else { "\n\n" };
            write!(written, "{}\n----\n{result}{end}", block.sql).expect("writing to a string");
        }
        std::fs::write(&path, written).expect("the script can be written");
    }
}

async fn ask(client: &tokio_postgres::Client, sql: &str) -> String {
    use tokio_postgres::SimpleQueryMessage as Message;
    let messages = match client.simple_query(sql).await {
        Ok(messages) => messages,
        Err(error) => {
            let Some(error) = error.as_db_error() else { return error.to_string() };
            let detail = error.detail().map_or(String::new(), |d| format!("\nDETAIL: {d}"));
            return format!("{} {}{detail}", error.code().code(), error.message());
        }
    };
    let writes = |sql: &str| ["INSERT", "UPDATE", "DELETE", "WITH"].iter().any(|w| sql.trim_start().to_uppercase().starts_with(w));
    let mut out = String::new();
    let mut described = false;
    for message in messages {
        match message {
            Message::RowDescription(_) => described = true,
            Message::Row(row) => {
                let line: Vec<&str> = (0..row.len()).map(|i| row.get(i).unwrap_or("NULL")).collect();
                writeln!(out, "{}", line.join("|")).expect("writing to a string");
            }
            Message::CommandComplete(count) if !described && writes(sql) => writeln!(out, "({count} rows)").expect("writing to a string"),
            _ => described = false,
        }
    }
    out.trim_end().to_owned()
}
