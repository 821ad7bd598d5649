//! Messages of both directions, in bytes and in a transcript's words.

use std::fmt;

/// What the server says.
pub struct Message {
    pub kind: u8,
    pub body: Vec<u8>,
}

/// Cuts a complete message out of what has arrived.
pub fn take(input: &mut Vec<u8>) -> Option<Message> {
    let length = u32::from_be_bytes(input.get(1..5)?.try_into().ok()?) as usize;
    let body = input.get(5..length + 1)?.to_vec();
    let kind = input[0];
    input.drain(..length + 1);
    Some(Message { kind, body })
}

impl Message {
    /// The body's first string.
    pub fn text(&self) -> String {
        cstr(&self.body).0
    }

    /// A field of an error or a notice.
    pub fn field(&self, code: u8) -> Option<String> {
        self.fields().into_iter().find(|(c, _)| *c == code).map(|(_, text)| text)
    }

    fn fields(&self) -> Vec<(u8, String)> {
        let mut fields = Vec::new();
        let mut rest = &self.body[..];
        while let Some((code, tail)) = rest.split_first().filter(|(code, _)| **code != 0) {
            let (text, after) = cstr(tail);
            fields.push((*code, text));
            rest = after;
        }
        fields
    }

    pub fn key_data(&self) -> (i32, i32) {
        (i32_at(&self.body, 0), i32_at(&self.body, 4))
    }

    /// The values of a DataRow.
    pub fn values(&self) -> Vec<Option<Vec<u8>>> {
        let mut at = 2;
        (0..u16_at(&self.body, 0))
            .map(|_| {
                let length = i32_at(&self.body, at);
                at += 4;
                let value = usize::try_from(length).ok().map(|length| self.body[at..at + length].to_vec());
                at += value.as_ref().map_or(0, Vec::len);
                value
            })
            .collect()
    }

    fn columns(&self) -> String {
        let mut rest = &self.body[2..];
        let mut columns = Vec::new();
        while !rest.is_empty() {
            let (name, tail) = cstr(rest);
            let (ty, size, typmod) = (i32_at(tail, 6), u16_at(tail, 10) as i16, i32_at(tail, 12));
            columns.push(format!("{name}:{ty}/{size}/{typmod}/{}", u16_at(tail, 16)));
            rest = &tail[18..];
        }
        columns.join(" ")
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            b'1' => f.write_str("ParseComplete"),
            b'2' => f.write_str("BindComplete"),
            b'3' => f.write_str("CloseComplete"),
            b'I' => f.write_str("EmptyQueryResponse"),
            b'n' => f.write_str("NoData"),
            b's' => f.write_str("PortalSuspended"),
            b'c' => f.write_str("CopyDone"),
            b'K' => f.write_str("BackendKeyData"),
            b'R' => write!(f, "Authentication {}", i32_at(&self.body, 0)),
            b'S' => {
                let (name, rest) = cstr(&self.body);
                write!(f, "ParameterStatus {name}={}", cstr(rest).0)
            }
            b'v' => write!(f, "NegotiateProtocolVersion {} unknown={}", i32_at(&self.body, 0), i32_at(&self.body, 4)),
            b'Z' => write!(f, "ReadyForQuery {}", char::from(self.body[0])),
            b'C' => write!(f, "CommandComplete {}", self.text()),
            b'T' => write!(f, "RowDescription {}", self.columns()),
            b't' => {
                let types = (0..usize::from(u16_at(&self.body, 0))).map(|at| i32_at(&self.body, 2 + 4 * at).to_string());
                write!(f, "ParameterDescription {}", types.collect::<Vec<_>>().join(" "))
            }
            b'D' => {
                let values = self.values().into_iter().map(|value| value.map_or("null".into(), |v| quote(&v)));
                write!(f, "DataRow {}", values.collect::<Vec<_>>().join(" "))
            }
            b'd' => write!(f, "CopyData {}", quote(&self.body)),
            b'G' => write!(f, "CopyInResponse format={} columns={}", self.body[0], u16_at(&self.body, 1)),
            b'H' => write!(f, "CopyOutResponse format={} columns={}", self.body[0], u16_at(&self.body, 1)),
            b'E' | b'N' => {
                f.write_str(if self.kind == b'E' { "ErrorResponse" } else { "NoticeResponse" })?;
                // Where in whose source it was raised is nobody's business here.
                let shown = self.fields().into_iter().filter(|(code, _)| !b"VFLR".contains(code));
                shown.into_iter().try_for_each(|(code, text)| write!(f, " {}={text:?}", char::from(code)))
            }
            other => write!(f, "{} {}", char::from(other), quote(&self.body)),
        }
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn i32_at(bytes: &[u8], at: usize) -> i32 {
    i32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn cstr(bytes: &[u8]) -> (String, &[u8]) {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    (String::from_utf8_lossy(&bytes[..end]).into_owned(), bytes.get(end + 1..).unwrap_or_default())
}

/// Text in quotes, or hexadecimal when it is none.
fn quote(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') => format!("{text:?}"),
        _ => format!("x{}", bytes.iter().map(|b| format!("{b:02x}")).collect::<String>()),
    }
}

/// A message with its type and length.
pub fn frame(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind];
    bytes.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
    bytes.extend_from_slice(body);
    bytes
}

pub fn startup(parameters: &[(&str, &str)]) -> Vec<u8> {
    startup_version(3 << 16, parameters)
}

pub fn startup_version(version: u32, parameters: &[(&str, &str)]) -> Vec<u8> {
    let mut body = version.to_be_bytes().to_vec();
    for (name, value) in parameters {
        body.extend_from_slice(format!("{name}\0{value}\0").as_bytes());
    }
    body.push(0);
    let mut bytes = (body.len() as u32 + 4).to_be_bytes().to_vec();
    bytes.extend_from_slice(&body);
    bytes
}

pub fn cancel(key: (i32, i32)) -> Vec<u8> {
    [16i32, 80_877_102, key.0, key.1].iter().flat_map(|word| word.to_be_bytes()).collect()
}

pub fn query(sql: &str) -> Vec<u8> {
    frame(b'Q', format!("{sql}\0").as_bytes())
}

pub fn parse(name: &str, sql: &str, types: &[u32]) -> Vec<u8> {
    let mut body = format!("{name}\0{sql}\0").into_bytes();
    body.extend_from_slice(&(types.len() as u16).to_be_bytes());
    types.iter().for_each(|oid| body.extend_from_slice(&oid.to_be_bytes()));
    frame(b'P', &body)
}

pub fn bind(portal: &str, statement: &str, formats: &[u16], params: &[Option<Vec<u8>>], results: &[u16]) -> Vec<u8> {
    let mut body = format!("{portal}\0{statement}\0").into_bytes();
    put_list(&mut body, formats);
    body.extend_from_slice(&(params.len() as u16).to_be_bytes());
    for param in params {
        let length = param.as_ref().map_or(-1, |value| value.len() as i32);
        body.extend_from_slice(&length.to_be_bytes());
        body.extend_from_slice(param.as_deref().unwrap_or_default());
    }
    put_list(&mut body, results);
    frame(b'B', &body)
}

fn put_list(body: &mut Vec<u8>, items: &[u16]) {
    body.extend_from_slice(&(items.len() as u16).to_be_bytes());
    items.iter().for_each(|item| body.extend_from_slice(&item.to_be_bytes()));
}

pub fn execute(portal: &str, max_rows: i32) -> Vec<u8> {
    let mut body = format!("{portal}\0").into_bytes();
    body.extend_from_slice(&max_rows.to_be_bytes());
    frame(b'E', &body)
}

pub fn target(kind: u8, which: char, name: &str) -> Vec<u8> {
    frame(kind, format!("{which}{name}\0").as_bytes())
}

pub fn sync() -> Vec<u8> {
    frame(b'S', b"")
}
