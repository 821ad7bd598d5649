//! A client that sends bytes and reads messages, nothing more: what a driver would hide is what is tested.

use super::message::{self, Message};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Longest wait for an answer that must come.
pub const PATIENCE: Duration = Duration::from_secs(10);

pub struct Raw {
    pub socket: TcpStream,
    input: Vec<u8>,
    pub closed: bool,
    /// From BackendKeyData.
    pub key: (i32, i32),
}

impl Raw {
    /// A socket, nothing said yet.
    pub fn open(address: SocketAddr) -> Raw {
        let socket = TcpStream::connect(address).expect("connects");
        socket.set_nodelay(true).expect("nodelay");
        Raw { socket, input: Vec::new(), closed: false, key: (0, 0) }
    }

    /// Up to the first ReadyForQuery.
    pub fn session(address: SocketAddr) -> Raw {
        let mut raw = Raw::open(address);
        raw.send(&message::startup(&[("user", "postgres"), ("database", "postgres")]));
        let answer = raw.until_ready(1);
        assert_eq!(answer.last().map(|m| m.kind), Some(b'Z'), "{answer:?}");
        raw
    }

    /// Errors are the server's to answer for: a socket it closed shows at the next read.
    pub fn send(&mut self, bytes: &[u8]) {
        let _ = self.socket.write_all(bytes);
    }

    /// The next message; `None` at the end of the connection, or when nothing comes for so long.
    pub fn next(&mut self, patience: Duration) -> Option<Message> {
        self.socket.set_read_timeout(Some(patience)).expect("timeout");
        loop {
            if let Some(message) = message::take(&mut self.input) {
                if message.kind == b'K' {
                    self.key = message.key_data();
                }
                return Some(message);
            }
            let mut chunk = [0; 64 * 1024];
            match self.socket.read(&mut chunk) {
                Ok(0) => {
                    self.closed = true;
                    return None;
                }
                Ok(count) => self.input.extend_from_slice(&chunk[..count]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => return None,
                Err(_) => {
                    self.closed = true;
                    return None;
                }
            }
        }
    }

    /// Single bytes, before messages begin: the answer to SSLRequest.
    pub fn byte(&mut self) -> Option<u8> {
        let mut byte = [0];
        self.socket.set_read_timeout(Some(PATIENCE)).expect("timeout");
        self.socket.read_exact(&mut byte).ok().map(|()| byte[0])
    }

    /// Everything up to so many ReadyForQuery, or the end of the connection.
    pub fn until_ready(&mut self, count: usize) -> Vec<Message> {
        let mut messages = Vec::new();
        let mut ready = 0;
        while ready < count {
            let Some(message) = self.next(PATIENCE) else { break };
            ready += usize::from(message.kind == b'Z');
            messages.push(message);
        }
        messages
    }

    /// Everything until nothing comes for a moment.
    pub fn until_quiet(&mut self, pause: Duration) -> Vec<Message> {
        std::iter::from_fn(|| self.next(pause)).collect()
    }

    pub fn query(&mut self, sql: &str) -> Vec<Message> {
        self.send(&message::query(sql));
        self.until_ready(1)
    }

    /// A query that must succeed; the tags of its statements.
    pub fn run(&mut self, sql: &str) -> Vec<String> {
        let answer = self.query(sql);
        assert!(answer.iter().all(|m| m.kind != b'E'), "{sql}: {answer:?}");
        answer.iter().filter(|m| m.kind == b'C').map(|m| m.text()).collect()
    }

    /// SQLSTATE of a query that must fail.
    pub fn fails(&mut self, sql: &str) -> String {
        let answer = self.query(sql);
        let error = answer.iter().find(|m| m.kind == b'E').unwrap_or_else(|| panic!("{sql} succeeded: {answer:?}"));
        error.field(b'C').unwrap_or_default()
    }
}
