//! Two sessions at once: who waits, who sees what, who is refused. Each test is named after the claim.

mod database;

use database::{Database, Session};
use std::sync::Arc;
use std::time::Duration;
use tidelock_kvapi::Isolation;

/// Long enough for a statement to have reached its wait.
const MOMENT: Duration = Duration::from_millis(100);

async fn pair(isolation: Isolation) -> (Session, Session) {
    let database = Database::open();
    let mut first = database.session(1, isolation);
    assert_eq!(first.run("CREATE TABLE t (id int PRIMARY KEY, n int, u int UNIQUE)").await, "");
    assert_eq!(first.run("INSERT INTO t VALUES (1, 10, 1), (2, 20, 2), (3, 30, 3)").await, "(3 rows)");
    (first, database.session(2, isolation))
}

/// Starts a statement in another task.
fn started(mut session: Session, sql: &'static str) -> tokio::task::JoinHandle<(Session, String)> {
    tokio::spawn(async move {
        let result = session.run(sql).await;
        (session, result)
    })
}

#[tokio::test]
async fn read_committed_looks_again_at_a_row_that_changed_while_it_waited() {
    let (mut a, b) = pair(Isolation::ReadCommitted).await;
    a.run("BEGIN").await;
    a.run("UPDATE t SET n = 15 WHERE id = 1").await;
    let waiting = started(b, "UPDATE t SET n = n + 1 WHERE id = 1 AND n = 10 RETURNING n");
    tokio::time::sleep(MOMENT).await;
    assert!(!waiting.is_finished(), "the second session waits");
    a.run("COMMIT").await;
    let (mut b, result) = waiting.await.expect("no panic");
    assert_eq!(result, "", "the row no longer matches");
    assert_eq!(b.run("UPDATE t SET n = n + 1 WHERE id = 1 RETURNING n").await, "16");
}

#[tokio::test]
async fn read_committed_adds_to_the_newest_value() {
    for implicit in [true, false] {
        let (mut a, mut b) = pair(Isolation::ReadCommitted).await;
        b.plan_settings.implicit_select_for_update = implicit;
        a.run("BEGIN").await;
        a.run("UPDATE t SET n = 15 WHERE id = 1").await;
        let waiting = started(b, "UPDATE t SET n = n + 1 WHERE id = 1 RETURNING n");
        tokio::time::sleep(MOMENT).await;
        a.run("COMMIT").await;
        let (_, result) = waiting.await.expect("no panic");
        assert_eq!(result, "16", "implicit lock: {implicit}");
    }
}

#[tokio::test]
async fn no_update_is_lost_at_any_level() {
    for isolation in [Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable] {
        let database = Database::open();
        let mut setup = database.session(1, isolation);
        setup.run("CREATE TABLE c (id int PRIMARY KEY, n int)").await;
        setup.run("INSERT INTO c VALUES (1, 0)").await;
        let mut tasks = Vec::new();
        for number in 2..6 {
            let mut session = database.session(number, isolation);
            session.plan_settings.implicit_select_for_update = number % 2 == 0;
            tasks.push(tokio::spawn(async move {
                let mut done = 0;
                for _ in 0..20 {
                    let result = session.run("UPDATE c SET n = n + 1 WHERE id = 1").await;
                    done += i32::from(result == "(1 rows)");
                }
                done
            }));
        }
        let mut done = 0;
        for task in tasks {
            done += task.await.expect("no panic");
        }
        assert_eq!(setup.run("SELECT n FROM c").await, done.to_string(), "{isolation}");
        assert!(done > 20, "{isolation}: only {done} succeeded");
    }
}

#[tokio::test]
async fn nowait_and_skip_locked() {
    let (mut a, mut b) = pair(Isolation::ReadCommitted).await;
    a.run("BEGIN").await;
    assert_eq!(a.run("SELECT id FROM t WHERE id = 2 FOR UPDATE").await, "2");
    assert_eq!(b.run("SELECT id FROM t WHERE id = 2 FOR UPDATE NOWAIT").await, "55P03 could not obtain lock on row in relation \"t\"");
    assert_eq!(b.run("SELECT id FROM t ORDER BY id FOR UPDATE SKIP LOCKED").await, "1\n3");
    assert_eq!(b.run("SELECT id FROM t WHERE n > 5 ORDER BY id LIMIT 2 FOR UPDATE SKIP LOCKED").await, "1\n3");
    assert_eq!(b.run("SELECT id FROM t ORDER BY id").await, "1\n2\n3", "plain reads never wait");
}

#[tokio::test]
async fn a_second_insert_of_a_key_waits_for_the_first() {
    for (end, expected) in [
        ("COMMIT", "23505 duplicate key value violates unique constraint \"t_u_key\"\nDETAIL: Key (u)=(9) already exists."),
        ("ROLLBACK", "(1 rows)"),
    ] {
        let (mut a, b) = pair(Isolation::ReadCommitted).await;
        a.run("BEGIN").await;
        a.run("INSERT INTO t VALUES (8, 0, 9)").await;
        let waiting = started(b, "INSERT INTO t VALUES (9, 0, 9)");
        tokio::time::sleep(MOMENT).await;
        assert!(!waiting.is_finished());
        a.run(end).await;
        assert_eq!(waiting.await.expect("no panic").1, expected);
    }
}

#[tokio::test]
async fn on_conflict_meets_a_row_committed_after_its_snapshot() {
    for isolation in [Isolation::ReadCommitted, Isolation::Serializable] {
        for (clause, expected) in [("DO NOTHING", ""), ("DO UPDATE SET n = t.n + 1", "51")] {
            let (mut a, b) = pair(isolation).await;
            a.run("BEGIN").await;
            a.run("INSERT INTO t VALUES (5, 50, 5)").await;
            let sql: &'static str =
                Box::leak(format!("INSERT INTO t VALUES (5, 0, 5) ON CONFLICT (id) {clause} RETURNING n").into_boxed_str());
            let waiting = started(b, sql);
            tokio::time::sleep(MOMENT).await;
            a.run("COMMIT").await;
            assert_eq!(waiting.await.expect("no panic").1, expected, "{isolation} {clause}");
        }
    }
}

#[tokio::test]
async fn a_deadlock_fails_one_of_the_two_with_its_story() {
    let (mut a, mut b) = pair(Isolation::ReadCommitted).await;
    a.run("BEGIN").await;
    b.run("BEGIN").await;
    a.run("UPDATE t SET n = 0 WHERE id = 1").await;
    b.run("UPDATE t SET n = 0 WHERE id = 2").await;
    let waiting = started(b, "UPDATE t SET n = 1 WHERE id = 1");
    tokio::time::sleep(MOMENT).await;
    let (mine, theirs) = tokio::join!(
        async {
            let result = a.run("UPDATE t SET n = 1 WHERE id = 2").await;
            a.run("ROLLBACK").await;
            result
        },
        async {
            let (mut b, result) = waiting.await.expect("no panic");
            b.run("ROLLBACK").await;
            result
        }
    );
    let victims: Vec<&String> = [&mine, &theirs].into_iter().filter(|r| r.starts_with("40P01 deadlock detected")).collect();
    assert_eq!(victims.len(), 1, "{mine} / {theirs}");
    assert!(victims[0].contains("a row of relation \"t\""), "{}", victims[0]);
}

#[tokio::test]
async fn a_child_keeps_its_parent() {
    let (mut a, b) = pair(Isolation::ReadCommitted).await;
    a.run("CREATE TABLE ch (id int PRIMARY KEY, t int REFERENCES t)").await;
    a.run("BEGIN").await;
    assert_eq!(a.run("INSERT INTO ch VALUES (1, 3)").await, "(1 rows)");
    let waiting = started(b, "DELETE FROM t WHERE id = 3");
    tokio::time::sleep(MOMENT).await;
    assert!(!waiting.is_finished(), "the parent is locked");
    a.run("COMMIT").await;
    let (_, result) = waiting.await.expect("no panic");
    assert!(
        result.starts_with("23503 update or delete on table \"t\" violates foreign key constraint \"ch_t_fkey\" on table \"ch\""),
        "{result}"
    );
}

#[tokio::test]
async fn an_index_built_beside_writers_misses_nothing() {
    let database = Database::open();
    let mut setup = database.session(1, Isolation::ReadCommitted);
    setup.run("CREATE TABLE w (id int PRIMARY KEY, v int)").await;
    let mut writers = Vec::new();
    for number in 0..3 {
        let mut session = database.session(number + 2, Isolation::ReadCommitted);
        writers.push(tokio::spawn(async move {
            for i in 0..60 {
                let id = i * 3 + number;
                let sql = format!("INSERT INTO w VALUES ({id}, {})", id % 7);
                assert_eq!(session.run(&sql).await, "(1 rows)");
            }
        }));
    }
    tokio::time::sleep(Duration::from_millis(20)).await;
    let built = setup.run("CREATE INDEX w_v ON w (v)").await;
    for writer in writers {
        writer.await.expect("every insert succeeds");
    }
    assert_eq!(built, "");
    for v in 0..7 {
        let through_index = setup.run(&format!("SELECT id FROM w WHERE v = {v} ORDER BY id")).await;
        let through_rows = setup.run(&format!("SELECT id FROM w WHERE v + 0 = {v} ORDER BY id")).await;
        assert_eq!(through_index, through_rows);
    }
}

#[tokio::test]
async fn a_statement_that_waits_can_be_cancelled() {
    let (mut a, b) = pair(Isolation::ReadCommitted).await;
    a.run("BEGIN").await;
    a.run("UPDATE t SET n = 0 WHERE id = 1").await;
    let cancel = Arc::clone(&b.cancel);
    let waiting = started(b, "UPDATE t SET n = 1 WHERE id = 1");
    tokio::time::sleep(MOMENT).await;
    cancel.cancel(tidelock_sql::exec::CancelReason::User);
    let (_, result) = waiting.await.expect("no panic");
    assert_eq!(result, "57014 canceling statement due to user request");
    a.run("COMMIT").await;
}
