//! Queries that need more than `work_mem` give what they give in memory, by way of temporary files.

mod database;

use database::{Database, Session};
use tidelock_kvapi::Isolation;

/// 20,000 rows, out of order, with NULLs and with many rows of one key.
async fn session() -> Session {
    let mut session = Database::open().session(1, Isolation::RepeatableRead);
    assert_eq!(session.run("CREATE TABLE t (id int PRIMARY KEY, k int, name text, n numeric)").await, "");
    let rows = "INSERT INTO t SELECT i, nullif(i * 7919 % 9973, 5), 'name ' || i * 31 % 1000, (i * 17 % 5000) / 100.0 FROM generate_series(1, 20000) i";
    assert_eq!(session.run(rows).await, "(20000 rows)");
    session
}

const QUERIES: [&str; 7] = [
    "SELECT id, k FROM t ORDER BY k, id",
    "SELECT id, k, name FROM t ORDER BY k DESC NULLS LAST, id",
    "SELECT id, name, n FROM t ORDER BY name, n DESC, id",
    "SELECT id FROM t ORDER BY n * 2 + k, id DESC",
    "SELECT * FROM (SELECT k, count(*), sum(n), max(name) FROM t GROUP BY k) g ORDER BY 1",
    "SELECT * FROM (SELECT name, n, count(k), count(DISTINCT k) FROM t GROUP BY name, n) g ORDER BY 1, 2",
    "SELECT * FROM (SELECT id, array_agg(name) FROM t GROUP BY id HAVING count(*) = 1) g ORDER BY 1",
];

#[tokio::test]
async fn what_does_not_fit_comes_back_from_files() {
    let mut session = session().await;
    for query in QUERIES {
        session.work_mem = 64 << 20;
        let in_memory = session.run(query).await;
        session.work_mem = 64 << 10;
        let spilled = session.run(query).await;
        assert!(in_memory.lines().count() > 4000, "{query}");
        assert!(in_memory == spilled, "{query} differs when it spills");
    }
}

#[tokio::test]
async fn equal_rows_keep_their_order_through_files() {
    let mut session = session().await;
    session.work_mem = 64 << 10;
    // The scan gives ids in order, so within each group they must come out in order.
    let rows = session.run("SELECT id % 10, id FROM t ORDER BY 1").await;
    let rows: Vec<(u32, u32)> =
        rows.lines().filter_map(|line| line.split_once('|')).map(|(a, b)| (a.parse().unwrap(), b.parse().unwrap())).collect();
    assert_eq!(rows.len(), 20_000);
    assert!(rows.is_sorted());
}

#[tokio::test]
async fn files_are_used_when_there_is_too_little_memory_and_only_then() {
    let mut session = session().await;
    // There can be no folder where a file is.
    session.spill_dir = std::env::current_exe().unwrap().join("spill");
    for query in QUERIES {
        session.work_mem = 64 << 20;
        let in_memory = session.run(query).await;
        assert!(!in_memory.contains("temporary file"), "{query}: {in_memory}");
        session.work_mem = 64 << 10;
        let failed = session.run(query).await;
        assert!(failed.starts_with("58030 could not use a temporary file"), "{query}: {}", &failed[..failed.len().min(200)]);
    }
}
