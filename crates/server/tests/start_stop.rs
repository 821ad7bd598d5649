//! The server as a whole: in this process, and as the binary.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tidelock::{Config, HttpConfig, Server, StartError};
use tidelock_storage::StorageError;

async fn client(address: SocketAddr) -> tokio_postgres::Client {
    let target = format!("host={} port={} user=postgres dbname=postgres", address.ip(), address.port());
    let (client, connection) = tokio_postgres::connect(&target, tokio_postgres::NoTls).await.expect("connects");
    tokio::spawn(connection);
    client
}

fn get(address: SocketAddr, path: &str) -> String {
    let mut socket = TcpStream::connect(address).expect("connects");
    write!(socket, "GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").expect("sends");
    let mut answer = String::new();
    socket.read_to_string(&mut answer).expect("answers");
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_client_talks_to_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::start(Config::for_tests(folder.path())).await.expect("starts");
    let client = client(server.address()).await;
    let row = client.query_one("select $1::int4 + 1, $2::text || '!'", &[&41i32, &"hello"]).await.expect("a row");
    assert_eq!((row.get::<_, i32>(0), row.get::<_, &str>(1)), (42, "hello!"));
    let error = client.query("select 1 / $1::int4", &[&0i32]).await.expect_err("division by zero");
    assert_eq!(error.code().map(|code| code.code().to_owned()).as_deref(), Some("22012"));
    drop(client);
    server.stop().await.expect("stops");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_is_served_once_at_a_time_and_can_be_reopened() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::start(Config::for_tests(folder.path())).await.expect("starts");
    let second = Server::start(Config::for_tests(folder.path())).await;
    assert!(matches!(second, Err(StartError::Storage(StorageError::Locked(_)))));
    server.stop().await.expect("stops");
    let server = Server::start(Config::for_tests(folder.path())).await.expect("starts again");
    client(server.address()).await.simple_query("select 1").await.expect("answers");
    server.stop().await.expect("stops");
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_and_health_are_served() {
    let folder = tempfile::tempdir().expect("a folder");
    let free = SocketAddr::from(([127, 0, 0, 1], 0));
    let config = Config { http: HttpConfig::At(free), ..Config::for_tests(folder.path()) };
    let server = Server::start(config).await.expect("starts");
    let http = server.http_address().expect("a page");
    let (metrics, health, missing, post) = tokio::task::spawn_blocking(move || {
        let mut socket = TcpStream::connect(http).expect("connects");
        socket.write_all(b"POST /metrics HTTP/1.1\r\n\r\n").expect("sends");
        let mut post = String::new();
        socket.read_to_string(&mut post).expect("answers");
        (get(http, "/metrics"), get(http, "/healthz"), get(http, "/nothing"), post)
    })
    .await
    .expect("asks");
    assert!(metrics.contains("\ntidelock_wire_open 0\n") && metrics.contains("\ntidelock_kv_batches "), "{metrics}");
    assert!(health.starts_with("HTTP/1.1 200 OK") && health.ends_with("ok\n"), "{health}");
    assert!(missing.starts_with("HTTP/1.1 404") && post.starts_with("HTTP/1.1 405"));
    // Somebody else has the port: no page, but a server all the same.
    let other = tempfile::tempdir().expect("a folder");
    let config = Config { http: HttpConfig::IfFree(http), ..Config::for_tests(other.path()) };
    let without = Server::start(config).await.expect("starts");
    assert_eq!(without.http_address(), None);
    without.stop().await.expect("stops");
    server.stop().await.expect("stops");
}

struct Binary(Child, SocketAddr);

impl Binary {
    fn start(folder: &std::path::Path) -> Binary {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidelock"));
        command.args(["start", "--listen", "127.0.0.1:0", "--http", "off", "--log", "warn", "--data"]).arg(folder);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("runs");
        let mut lines = BufReader::new(child.stdout.take().expect("stdout")).lines();
        let line = lines.by_ref().map_while(Result::ok).find(|line| line.starts_with("connect:")).expect("announces");
        let words: Vec<&str> = line.split_whitespace().collect();
        let address = format!("{}:{}", words[3], words[5]).parse().expect("an address");
        Binary(child, address)
    }

    fn signal(&self, name: &str) {
        let status = Command::new("kill").args([name, &self.0.id().to_string()]).status().expect("kill runs");
        assert!(status.success());
    }

    fn wait(&mut self, limit: Duration) -> Option<i32> {
        let begun = Instant::now();
        while begun.elapsed() < limit {
            if let Some(status) = self.0.try_wait().expect("waits") {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("still running after {limit:?}");
    }
}

impl Drop for Binary {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_binary_stops_in_good_order_and_at_once_when_asked_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut server = Binary::start(folder.path());
    let idle = client(server.1).await;
    idle.simple_query("select 1").await.expect("answers");
    // A second one on the same folder says why not.
    let second = Command::new(env!("CARGO_BIN_EXE_tidelock"))
        .args(["start", "--listen", "127.0.0.1:0", "--http", "off", "--data"])
        .arg(folder.path())
        .output()
        .expect("runs");
    assert_eq!(second.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&second.stderr).contains("in use by another process"), "{second:?}");
    server.signal("-TERM");
    assert_eq!(server.wait(Duration::from_secs(10)), Some(0));
    assert!(idle.simple_query("select 1").await.is_err());

    let mut server = Binary::start(folder.path());
    let busy = client(server.1).await;
    let running = tokio::spawn(async move { busy.simple_query("select pg_sleep(20)").await });
    tokio::time::sleep(Duration::from_millis(200)).await;
    server.signal("-INT");
    tokio::time::sleep(Duration::from_millis(200)).await;
    server.signal("-INT");
    assert_eq!(server.wait(Duration::from_secs(3)), Some(1));
    assert!(running.await.expect("ends").is_err());
}
