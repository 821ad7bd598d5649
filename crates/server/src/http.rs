//! The HTTP page: `/metrics` for Prometheus, `/healthz` for whoever restarts servers.
//!
//! A dozen lines of HTTP/1.1 instead of a framework: one request per connection, a head of at most 8 kB that has to arrive
//! within five seconds, a bounded number of connections at a time.

use crate::prometheus::render;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tidelock_kvserver::Store;
use tidelock_sql::session::ServerHooks;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

/// Longest request head.
const MAX_HEAD: usize = 8 * 1024;

/// Connections at a time; more wait to be accepted.
const MAX_CONNECTIONS: usize = 32;

/// Longest time for one request and its answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The running page.
pub(crate) struct HttpServer {
    pub(crate) address: SocketAddr,
    task: JoinHandle<()>,
}

impl HttpServer {
    /// Binds the address and serves until dropped.
    pub(crate) async fn start(address: SocketAddr, hooks: Arc<dyn ServerHooks>, store: Arc<Store>) -> io::Result<HttpServer> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let page = Arc::new(Page { hooks, store });
        Ok(HttpServer { address, task: tokio::spawn(accept(listener, page)) })
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Page {
    hooks: Arc<dyn ServerHooks>,
    store: Arc<Store>,
}

async fn accept(listener: TcpListener, page: Arc<Page>) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        match listener.accept().await {
            Ok((socket, _)) => {
                let page = Arc::clone(&page);
                tokio::spawn(async move {
                    // A client that is slow or gone loses its answer, nothing else.
                    let _ = tokio::time::timeout(PATIENCE, answer(socket, &page)).await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "no HTTP connection could be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn answer(mut socket: TcpStream, page: &Page) -> io::Result<()> {
    let head = read_head(&mut socket).await?;
    let mut words = head.split(' ');
    let (status, body) = match (words.next(), words.next()) {
        (Some("GET" | "HEAD"), Some(path)) => page.get(path.split('?').next().unwrap_or(path)),
        (Some(_), Some(_)) => ("405 Method Not Allowed", "only GET is understood\n".to_owned()),
        _ => ("400 Bad Request", "this is not HTTP\n".to_owned()),
    };
    let shown = if head.starts_with("HEAD") { "" } else { body.as_str() };
    let length = body.len();
    let response = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{shown}"
    );
    socket.write_all(response.as_bytes()).await?;
    socket.shutdown().await
}

/// The request line and its headers.
async fn read_head(socket: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::with_capacity(512);
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        if head.len() >= MAX_HEAD || socket.read_buf(&mut head).await? == 0 {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

impl Page {
    fn get(&self, path: &str) -> (&'static str, String) {
        match path {
            "/metrics" => ("200 OK", render(&self.hooks.metrics())),
            "/healthz" => match self.store.storage().check() {
                Ok(()) => ("200 OK", "ok\n".to_owned()),
                Err(error) => ("503 Service Unavailable", format!("{error}\n")),
            },
            "/" => ("200 OK", "tidelock: see /metrics and /healthz\n".to_owned()),
            _ => ("404 Not Found", "see /metrics and /healthz\n".to_owned()),
        }
    }
}
