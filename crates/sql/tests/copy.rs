//! COPY both ways, in all three forms, the data arriving in portions of three bytes.

mod database;

use database::{Database, Session};
use tidelock_kvapi::Isolation;

async fn copied(session: &mut Session, sql: &str, data: &[u8]) -> String {
    session.copy_data = data.to_vec();
    session.run(sql).await
}

async fn session() -> Session {
    let mut session = Database::open().session(1, Isolation::Serializable);
    assert_eq!(session.run("CREATE TABLE t (id int PRIMARY KEY, v text, n numeric DEFAULT 7)").await, "");
    session
}

#[tokio::test]
async fn text_with_escapes_comes_in_and_goes_out() {
    let mut session = session().await;
    assert_eq!(
        copied(&mut session, "COPY t (id, v) FROM STDIN", b"1\ta\\tb\\nc\n2\t\\N\n3\t\\\\x\\x41\\101\r\n\\.\nignored\n").await,
        "COPY 3"
    );
    assert_eq!(session.run("SELECT id, length(v), n FROM t ORDER BY id").await, "1|5|7\n2|NULL|7\n3|4|7");
    assert_eq!(session.run("COPY t (v, id) TO STDOUT").await, "a\\tb\\nc\t1\n\\N\t2\n\\\\xAA\t3");
}

#[tokio::test]
async fn csv_with_quotes_and_a_header() {
    let mut session = session().await;
    let data = b"id,v,n\n1,\"a,\"\"b\"\"\nc\",1.50\n2,,\n3,\"\",2\n";
    assert_eq!(copied(&mut session, "COPY t FROM STDIN WITH (FORMAT csv, HEADER)", data).await, "COPY 3");
    assert_eq!(session.run("SELECT id, v IS NULL, n FROM t ORDER BY id").await, "1|f|1.50\n2|t|NULL\n3|f|2");
    let expected = "id,v,n\n1,\"a,\"\"b\"\"\nc\",1.50\n2,,\n3,\"\",2";
    assert_eq!(session.run("COPY (SELECT * FROM t ORDER BY id) TO STDOUT WITH (FORMAT csv, HEADER)").await, expected);
}

#[tokio::test]
async fn binary_goes_out_and_comes_back() {
    let mut session = session().await;
    session.run("INSERT INTO t VALUES (1, 'one', 1.5), (2, NULL, -3)").await;
    let hex = session.run("COPY t TO STDOUT WITH (FORMAT binary)").await;
    let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex")).collect();
    session.run("CREATE TABLE back (id int, v text, n numeric)").await;
    assert_eq!(copied(&mut session, "COPY back FROM STDIN WITH (FORMAT binary)", &bytes).await, "COPY 2");
    assert_eq!(session.run("SELECT * FROM back ORDER BY id").await, "1|one|1.5\n2|NULL|-3");
}

#[tokio::test]
async fn mistakes_name_their_line() {
    let mut session = session().await;
    let mistakes: [(&[u8], &str); 4] = [
        (b"1\ta\t1\nx\tb\t1\n", "22P02 invalid input syntax for type integer: \"x\"\nCONTEXT: COPY t, line 2, column id: \"x\""),
        (b"1\ta\n", "22P04 missing data for column \"n\"\nCONTEXT: COPY t, line 1"),
        (b"1\ta\t1\t2\n", "22P04 extra data after last expected column\nCONTEXT: COPY t, line 1"),
        (b"1\ta\t1\n1\tb\t1\n", "23505 duplicate key value violates unique constraint \"t_pkey\"\nDETAIL: Key (id)=(1) already exists."),
    ];
    for (data, expected) in mistakes {
        assert_eq!(copied(&mut session, "COPY t FROM STDIN", data).await, expected);
    }
    assert_eq!(session.run("SELECT count(*) FROM t").await, "0");
}
