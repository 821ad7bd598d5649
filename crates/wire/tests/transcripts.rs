//! Runs the transcripts in `tests/transcripts`: what a client sends, and what the server must answer.
//!
//! ```text
//! # A comment.
//! > Parse "s" "select $1 + 1" 23         lines with > are sent together, in one write
//! > Bind "" "s" "41" formats=0 results=1  parameters: "text", x00ff, null
//! > Execute "" 0
//! > Sync
//! < ParseComplete                         lines with < are what must come back, up to one ReadyForQuery per Sync or Query
//! ```
//!
//! `quiet` before a block: no ReadyForQuery is due, read until nothing more comes. `startup a=b ..`: a new connection, whose answer is
//! shown; without it the file begins inside a session. `client name` switches to another connection.
//!
//! `TIDELOCK_REGENERATE=1` writes the answers anew: read the diff. `TIDELOCK_WIRE_TARGET=host:port` talks to another server (PostgreSQL
//! is the oracle); with it, differences are printed. Those that are meant:
//! - a division by zero among constants fails in Execute, not already in Bind or before RowDescription;
//! - ParameterStatus comes with the statement that caused it, not with ReadyForQuery;
//! - a message of impossible length, and a startup packet of protocol 2, get an error before the connection is closed;
//! - function calls and replication are refused; users are not looked up.

mod bed;

use bed::message::{self, Message};
use bed::raw::Raw;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;

/// How long silence lasts that counts as the end of an answer.
const QUIET: Duration = Duration::from_millis(300);

#[test]
fn transcripts() {
    let target: Option<SocketAddr> = std::env::var("TIDELOCK_WIRE_TARGET").ok().map(|text| text.parse().expect("host:port"));
    let only = std::env::var("TIDELOCK_ONLY").unwrap_or_default();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let mut paths: Vec<_> = std::fs::read_dir(folder).expect("transcripts").map(|entry| entry.expect("entry").path()).collect();
    paths.sort();
    let mut failed = Vec::new();
    for path in paths.iter().filter(|path| path.to_string_lossy().contains(&only)) {
        let bed = target.is_none().then(bed::Bed::start);
        let address = target.or(bed.as_ref().map(|bed| bed.address)).expect("an address");
        let script = std::fs::read_to_string(path).expect("readable");
        let found = run(&script, address);
        if std::env::var("TIDELOCK_REGENERATE").is_ok() {
            std::fs::write(path, &found).expect("writable");
        } else if found != script {
            println!("--- {}\n{}", path.display(), difference(&script, &found));
            failed.push(path.file_name().expect("a name").to_owned());
        }
    }
    assert!(failed.is_empty(), "{failed:?} differ");
}

fn difference(script: &str, found: &str) -> String {
    let (mut old, mut new) = (script.lines().peekable(), found.lines().peekable());
    let mut shown = String::new();
    while old.peek().is_some() || new.peek().is_some() {
        if old.peek() == new.peek() {
            old.next();
            let line = new.next().unwrap_or_default();
            if line.starts_with('>') {
                shown.push_str(&format!("  {line}\n"));
            }
            continue;
        }
        while let Some(line) = old.next_if(|line| line.starts_with('<')) {
            shown.push_str(&format!("- {line}\n"));
        }
        while let Some(line) = new.next_if(|line| line.starts_with('<')) {
            shown.push_str(&format!("+ {line}\n"));
        }
        if old.peek() != new.peek() {
            break;
        }
    }
    shown
}

struct Run {
    address: SocketAddr,
    clients: HashMap<String, Raw>,
    current: String,
    sent: Vec<u8>,
    ready: usize,
    quiet: bool,
    output: String,
}

fn run(script: &str, address: SocketAddr) -> String {
    let (clients, current) = (HashMap::new(), "first".to_owned());
    let mut run = Run { address, clients, current, sent: Vec::new(), ready: 0, quiet: false, output: String::new() };
    for line in script.lines() {
        if line.starts_with('<') {
            continue;
        }
        if !line.starts_with('>') {
            run.exchange();
        }
        run.output.push_str(line);
        run.output.push('\n');
        run.line(line);
    }
    run.exchange();
    run.output
}

impl Run {
    fn line(&mut self, line: &str) {
        let words = words(line);
        match words.first().map(String::as_str) {
            Some(">") => self.collect(&words[1..]),
            Some("quiet") => self.quiet = true,
            Some("client") => self.current = words[1].clone(),
            Some("startup") => {
                let mut raw = Raw::open(self.address);
                let pairs: Vec<(&str, &str)> = words[1..].iter().filter_map(|word| word.split_once('=')).collect();
                let version = pairs.iter().find(|(name, _)| *name == "version").map(|(_, v)| v.parse::<f64>().expect("version"));
                let number = version.map_or(3 << 16, |v| ((v as u32) << 16) + ((v.fract() * 10.0).round() as u32));
                let parameters: Vec<_> = pairs.into_iter().filter(|(name, _)| *name != "version").collect();
                raw.send(&message::startup_version(number, &parameters));
                let answer = raw.until_ready(1);
                self.show(&answer, raw.closed);
                self.clients.insert(self.current.clone(), raw);
            }
            _ => {}
        }
    }

    fn collect(&mut self, words: &[String]) {
        let text = |at: usize| words.get(at).map_or("", |word| word.trim_start_matches('"'));
        let bytes = match words[0].as_str() {
            "Query" => message::query(text(1)),
            "Parse" => {
                let types: Vec<u32> = words[3..].iter().map(|oid| oid.parse().expect("an OID")).collect();
                message::parse(text(1), text(2), &types)
            }
            "Bind" => bind(text(1), text(2), &words[3..]),
            "Describe" => message::target(b'D', text(1).chars().next().expect("S or P"), text(2)),
            "Close" => message::target(b'C', text(1).chars().next().expect("S or P"), text(2)),
            "Execute" => message::execute(text(1), text(2).parse().expect("a number")),
            "Sync" => message::sync(),
            "Flush" => message::frame(b'H', b""),
            "Terminate" => message::frame(b'X', b""),
            "CopyData" => message::frame(b'd', &literal(&words[1]).unwrap_or_default()),
            "CopyDone" => message::frame(b'c', b""),
            "CopyFail" => message::frame(b'f', format!("{}\0", text(1)).as_bytes()),
            "FunctionCall" => message::frame(b'F', b"\0\0\0\x01\0\0\0\0\0\0"),
            "bytes" => words[1..].iter().flat_map(|word| literal(word).unwrap_or_default()).collect(),
            other => panic!("what is {other}?"),
        };
        self.ready += usize::from(matches!(words[0].as_str(), "Query" | "Sync" | "FunctionCall"));
        self.sent.extend_from_slice(&bytes);
    }

    /// Sends what was collected and shows the answer.
    fn exchange(&mut self) {
        if self.sent.is_empty() {
            return;
        }
        let address = self.address;
        let raw = self.clients.entry(self.current.clone()).or_insert_with(|| Raw::session(address));
        raw.send(&std::mem::take(&mut self.sent));
        let ready = std::mem::take(&mut self.ready);
        let quiet = std::mem::take(&mut self.quiet) || ready == 0;
        let answer = if quiet { raw.until_quiet(QUIET) } else { raw.until_ready(ready) };
        let closed = raw.closed || (!quiet && answer.last().is_none_or(|m| m.kind != b'Z'));
        self.show(&answer, closed);
        if closed {
            self.clients.remove(&self.current);
        }
    }

    fn show(&mut self, answer: &[Message], closed: bool) {
        for message in answer {
            self.output.push_str(&format!("< {message}\n"));
        }
        if closed {
            self.output.push_str("< (closed)\n");
        }
    }
}

fn bind(portal: &str, statement: &str, words: &[String]) -> Vec<u8> {
    let list = |text: &str| text.split(',').filter_map(|code| code.parse().ok()).collect::<Vec<u16>>();
    let (mut formats, mut results, mut params) = (Vec::new(), Vec::new(), Vec::new());
    for word in words {
        if let Some(codes) = word.strip_prefix("formats=") {
            formats = list(codes);
        } else if let Some(codes) = word.strip_prefix("results=") {
            results = list(codes);
        } else {
            params.push(literal(word));
        }
    }
    message::bind(portal, statement, &formats, &params, &results)
}

/// `"text`, `x00ff`, or null.
fn literal(word: &str) -> Option<Vec<u8>> {
    if let Some(text) = word.strip_prefix('"') {
        return Some(text.as_bytes().to_vec());
    }
    let hex = word.strip_prefix('x')?;
    Some((0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hexadecimal")).collect())
}

/// Words between blanks; a quoted one keeps its first quote, to be told from the others.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ' ' => {}
            '"' => {
                let mut word = String::from('"');
                while let Some(c) = chars.next().filter(|c| *c != '"') {
                    word.push(match (c, chars.peek()) {
                        ('\\', Some(_)) => match chars.next() {
                            Some('n') => '\n',
                            Some('t') => '\t',
                            Some('0') => '\0',
                            Some(other) => other,
                            None => '\\',
                        },
                        (c, _) => c,
                    });
                }
                words.push(word);
            }
            c => {
                let mut word = String::from(c);
                while let Some(c) = chars.next_if(|c| *c != ' ') {
                    word.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
                }
                words.push(word);
            }
        }
    }
    words
}
