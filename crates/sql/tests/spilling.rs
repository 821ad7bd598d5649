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

/// Nothing in them but the hash table can spill; a row of sums says whether they are right.
const HASHED: [&str; 13] = [
    "SELECT count(*), sum(n), max(name) FROM (SELECT DISTINCT name, n FROM t) d",
    "SELECT count(*), sum(k), sum(id) FROM (SELECT DISTINCT k, id FROM t WHERE k IS NULL OR id > 100) d",
    "SELECT count(*), sum(n) FROM (SELECT name, n FROM t UNION SELECT name, n + 1 FROM t) d",
    "SELECT count(*), sum(n) FROM (SELECT name, n FROM t EXCEPT SELECT name, n FROM t WHERE id % 5 = 0) d",
    "SELECT count(*), sum(n) FROM (SELECT name, n FROM t EXCEPT ALL SELECT name, n FROM t WHERE id % 3 = 0) d",
    "SELECT count(*), sum(n) FROM (SELECT name, n FROM t WHERE id % 2 = 0 INTERSECT SELECT name, n FROM t WHERE id % 3 = 0) d",
    "SELECT count(*), sum(n) FROM (SELECT name, n FROM t WHERE id % 2 = 0 INTERSECT ALL SELECT name, n FROM t WHERE id % 3 = 0) d",
    "SELECT count(*), sum(a.id * b.id), min(a.name || b.name) FROM t a JOIN t b ON a.k = b.k AND a.n < b.n",
    "SELECT count(*), count(b.id), sum(a.id), sum(b.id) FROM t a LEFT JOIN (SELECT id, k + 1 AS k FROM t WHERE id % 3 = 0) b ON a.k = b.k",
    "SELECT count(*), count(a.id), sum(a.id), sum(b.id) FROM (SELECT id, k + 1 AS k FROM t WHERE id % 3 = 0) a RIGHT JOIN t b ON a.k = b.k",
    "SELECT count(*), count(a.id), count(b.id), sum(a.id), sum(b.id) FROM (SELECT id, k FROM t WHERE id % 2 = 0) a FULL JOIN (SELECT id, k FROM t WHERE id % 3 > 0) b ON a.k = b.k",
    "SELECT count(*), sum(id) FROM t a WHERE EXISTS (SELECT 1 FROM t b WHERE b.k = a.k AND b.n > a.n)",
    "SELECT count(*), sum(id) FROM t a WHERE NOT EXISTS (SELECT 1 FROM t b WHERE b.k = a.k AND b.n > a.n)",
];

#[tokio::test]
async fn hash_tables_that_do_not_fit_are_made_file_by_file() {
    let mut session = session().await;
    for query in HASHED {
        session.work_mem = 64 << 20;
        let in_memory = session.run(query).await;
        // So little that what comes back from a file is put aside again.
        session.work_mem = 32 << 10;
        assert_eq!(session.run(query).await, in_memory, "{query}");
    }
}

#[tokio::test]
async fn the_first_row_of_each_key_is_found_in_any_order_and_in_the_order_of_the_keys() {
    let mut session = session().await;
    session.work_mem = 16 << 10;
    let first = session.run("SELECT DISTINCT ON (k) k, id FROM t ORDER BY k, id DESC").await;
    let wanted = session.run("SELECT k, max(id) FROM t GROUP BY k ORDER BY k").await;
    assert!(first == wanted && first.lines().count() > 4000, "{}", first.len());
    // The order of the rows is kept, although their keys are not those that they are sorted by.
    let kept = session.run("SELECT DISTINCT ON (k, name) k, name FROM t ORDER BY k").await;
    assert!(kept.lines().map(|line| line.split_once('|').and_then(|(k, _)| k.parse::<u32>().ok()).unwrap_or(u32::MAX)).is_sorted());
}

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
    for query in QUERIES.iter().chain(&HASHED) {
        session.work_mem = 64 << 20;
        let in_memory = session.run(query).await;
        assert!(!in_memory.contains("temporary file"), "{query}: {in_memory}");
        session.work_mem = 64 << 10;
        let failed = session.run(query).await;
        assert!(failed.starts_with("58030 could not use a temporary file"), "{query}: {}", &failed[..failed.len().min(200)]);
    }
}
