//! What clients say: messages cut out of the input buffer, and their bodies decoded.
//!
//! The bodies are decoded here, strictly, and not by pgwire: pgwire's decoders panic on a body that ends early and replace
//! invalid UTF-8 instead of refusing it, and they copy every string. Ours borrow from the message, so that a Bind of one
//! integer costs one reference count.
//!
//! Two kinds of failure. A *frame* that cannot be (unknown type, impossible length) leaves us not knowing where the next
//! one begins: the connection ends. A *body* that does not parse ends its message only, as in PostgreSQL.

use crate::limits::{MAX_LARGE_MESSAGE, MAX_SMALL_MESSAGE};
use crate::states;
use bytes::{Buf, Bytes, BytesMut};
use pgwire::messages::copy::{MESSAGE_TYPE_BYTE_COPY_DATA, MESSAGE_TYPE_BYTE_COPY_DONE, MESSAGE_TYPE_BYTE_COPY_FAIL};
use pgwire::messages::extendedquery::{
    MESSAGE_TYPE_BYTE_BIND, MESSAGE_TYPE_BYTE_CLOSE, MESSAGE_TYPE_BYTE_DESCRIBE, MESSAGE_TYPE_BYTE_EXECUTE, MESSAGE_TYPE_BYTE_FLUSH,
    MESSAGE_TYPE_BYTE_PARSE, MESSAGE_TYPE_BYTE_SYNC, TARGET_TYPE_BYTE_PORTAL, TARGET_TYPE_BYTE_STATEMENT,
};
use pgwire::messages::simplequery::MESSAGE_TYPE_BYTE_QUERY;
use pgwire::messages::startup::MESSAGE_TYPE_BYTE_PASSWORD_MESSAGE_FAMILY;
use pgwire::messages::terminate::MESSAGE_TYPE_BYTE_TERMINATE;
use smallvec::SmallVec;
use tidelock_sql::error::{SqlError, SqlState};
use tidelock_sql::session::Format;

/// The kinds of message a client may send after startup.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // the protocol's own names
pub(crate) enum Kind {
    Query,
    Parse,
    Bind,
    Describe,
    Execute,
    Close,
    Flush,
    Sync,
    CopyData,
    CopyDone,
    CopyFail,
    FunctionCall,
    Password,
    Terminate,
}

/// The function call sub-protocol, which pgwire does not know.
const MESSAGE_TYPE_BYTE_FUNCTION_CALL: u8 = b'F';

impl Kind {
    const ALL: [Kind; 14] = [
        Kind::Query,
        Kind::Parse,
        Kind::Bind,
        Kind::Describe,
        Kind::Execute,
        Kind::Close,
        Kind::Flush,
        Kind::Sync,
        Kind::CopyData,
        Kind::CopyDone,
        Kind::CopyFail,
        Kind::FunctionCall,
        Kind::Password,
        Kind::Terminate,
    ];

    fn from_byte(byte: u8) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.byte() == byte)
    }

    /// As it stands in front of a message.
    pub(crate) fn byte(self) -> u8 {
        match self {
            Kind::Query => MESSAGE_TYPE_BYTE_QUERY,
            Kind::Parse => MESSAGE_TYPE_BYTE_PARSE,
            Kind::Bind => MESSAGE_TYPE_BYTE_BIND,
            Kind::Describe => MESSAGE_TYPE_BYTE_DESCRIBE,
            Kind::Execute => MESSAGE_TYPE_BYTE_EXECUTE,
            Kind::Close => MESSAGE_TYPE_BYTE_CLOSE,
            Kind::Flush => MESSAGE_TYPE_BYTE_FLUSH,
            Kind::Sync => MESSAGE_TYPE_BYTE_SYNC,
            Kind::CopyData => MESSAGE_TYPE_BYTE_COPY_DATA,
            Kind::CopyDone => MESSAGE_TYPE_BYTE_COPY_DONE,
            Kind::CopyFail => MESSAGE_TYPE_BYTE_COPY_FAIL,
            Kind::FunctionCall => MESSAGE_TYPE_BYTE_FUNCTION_CALL,
            Kind::Password => MESSAGE_TYPE_BYTE_PASSWORD_MESSAGE_FAMILY,
            Kind::Terminate => MESSAGE_TYPE_BYTE_TERMINATE,
        }
    }

    /// Length word included.
    fn max_length(self) -> usize {
        match self {
            Kind::Query | Kind::Parse | Kind::Bind | Kind::CopyData | Kind::FunctionCall => MAX_LARGE_MESSAGE,
            _ => MAX_SMALL_MESSAGE,
        }
    }
}

/// One message.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) kind: Kind,
    pub(crate) body: Bytes,
}

/// Where the first message of a buffer stands.
pub(crate) enum Progress {
    /// It is there, this many bytes of it, the type byte included.
    Complete(Kind, usize),
    /// So many bytes are missing at least.
    Missing(usize),
}

/// Bytes of the type and the length word.
const HEADER: usize = 5;

/// Looks at the first message, which costs nothing but its header; an impossible one is refused before anything is
/// allocated for it.
pub(crate) fn progress(input: &[u8]) -> Result<Progress, SqlError> {
    let Some(&byte) = input.first() else { return Ok(Progress::Missing(HEADER)) };
    let kind = Kind::from_byte(byte)
        .ok_or_else(|| SqlError::new(SqlState::PROTOCOL_VIOLATION, format!("invalid frontend message type {byte}")))?;
    let Some(word) = input.get(1..HEADER).and_then(|word| word.try_into().ok()) else {
        return Ok(Progress::Missing(HEADER - input.len()));
    };
    let length = i32::from_be_bytes(word);
    let valid = usize::try_from(length).ok().filter(|length| (4..=kind.max_length()).contains(length));
    let Some(length) = valid else {
        let state = if length < 4 { SqlState::PROTOCOL_VIOLATION } else { SqlState::PROGRAM_LIMIT_EXCEEDED };
        return Err(SqlError::new(state, format!("invalid message length {length}")));
    };
    let whole = length + 1;
    Ok(if input.len() >= whole { Progress::Complete(kind, whole) } else { Progress::Missing(whole - input.len()) })
}

/// Is the next message complete, and of that kind?
pub(crate) fn is_next(input: &[u8], kind: Kind) -> bool {
    input.first() == Some(&kind.byte()) && matches!(progress(input), Ok(Progress::Complete(..)))
}

/// Cuts a complete message out of the buffer.
pub(crate) fn take(input: &mut BytesMut, kind: Kind, whole: usize) -> Frame {
    let mut body = input.split_to(whole).freeze();
    body.advance(HEADER);
    Frame { kind, body }
}

/// Parse.
#[derive(Debug)]
pub(crate) struct Parse<'a> {
    pub(crate) name: &'a str,
    pub(crate) sql: &'a str,
    pub(crate) types: Vec<u32>,
}

/// Bind.
#[derive(Debug)]
pub(crate) struct Bind<'a> {
    pub(crate) portal: &'a str,
    pub(crate) statement: &'a str,
    pub(crate) param_formats: SmallVec<[Format; 8]>,
    pub(crate) params: SmallVec<[Option<Bytes>; 8]>,
    pub(crate) result_formats: Vec<Format>,
}

/// What Describe and Close speak of.
#[derive(Debug)]
pub(crate) enum Target<'a> {
    Statement(&'a str),
    Portal(&'a str),
}

/// Execute.
#[derive(Debug)]
pub(crate) struct Execute<'a> {
    pub(crate) portal: &'a str,
    /// 0 is "all".
    pub(crate) max_rows: u32,
}

/// Query, and CopyFail's reason.
pub(crate) fn text(body: &Bytes) -> Result<&str, SqlError> {
    let mut reader = Reader::new(body);
    let text = reader.text()?;
    reader.end(text)
}

pub(crate) fn parse(body: &Bytes) -> Result<Parse<'_>, SqlError> {
    let mut reader = Reader::new(body);
    let (name, sql) = (reader.text()?, reader.text()?);
    let count = reader.count(4)?;
    let types = (0..count).map(|_| Ok(reader.i32()? as u32)).collect::<Result<_, SqlError>>()?;
    reader.end(Parse { name, sql, types })
}

pub(crate) fn bind(body: &Bytes) -> Result<Bind<'_>, SqlError> {
    let mut reader = Reader::new(body);
    let (portal, statement) = (reader.text()?, reader.text()?);
    let param_formats: SmallVec<[Format; 8]> = reader.formats()?;
    let count = reader.count(4)?;
    let params = (0..count).map(|_| reader.parameter()).collect::<Result<SmallVec<_>, SqlError>>()?;
    if param_formats.len() > 1 && param_formats.len() != params.len() {
        let (formats, params) = (param_formats.len(), params.len());
        let message = format!("bind message has {formats} parameter formats but {params} parameters");
        return Err(SqlError::new(SqlState::PROTOCOL_VIOLATION, message));
    }
    let result_formats = reader.formats()?;
    reader.end(Bind { portal, statement, param_formats, params, result_formats })
}

/// Describe and Close, which `message` names.
pub(crate) fn target<'a>(body: &'a Bytes, message: &str) -> Result<Target<'a>, SqlError> {
    let mut reader = Reader::new(body);
    let kind = reader.u8()?;
    let name = reader.text()?;
    let target = match kind {
        TARGET_TYPE_BYTE_STATEMENT => Target::Statement(name),
        TARGET_TYPE_BYTE_PORTAL => Target::Portal(name),
        other => return Err(violation(format!("invalid {message} message subtype {other}"))),
    };
    reader.end(target)
}

pub(crate) fn execute(body: &Bytes) -> Result<Execute<'_>, SqlError> {
    let mut reader = Reader::new(body);
    let portal = reader.text()?;
    // PostgreSQL takes a negative limit for "all", too.
    let max_rows = u32::try_from(reader.i32()?).unwrap_or(0);
    reader.end(Execute { portal, max_rows })
}

fn violation(message: impl Into<std::borrow::Cow<'static, str>>) -> SqlError {
    SqlError::new(SqlState::PROTOCOL_VIOLATION, message)
}

/// Reads a body from front to back.
struct Reader<'a> {
    body: &'a Bytes,
    at: usize,
}

impl<'a> Reader<'a> {
    fn new(body: &'a Bytes) -> Reader<'a> {
        Reader { body, at: 0 }
    }

    fn rest(&self) -> &'a [u8] {
        &self.body[self.at..]
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], SqlError> {
        let bytes = self.rest().first_chunk::<N>().ok_or_else(|| violation("insufficient data left in message"))?;
        self.at += N;
        Ok(*bytes)
    }

    fn u8(&mut self) -> Result<u8, SqlError> {
        self.fixed::<1>().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Result<u16, SqlError> {
        self.fixed().map(u16::from_be_bytes)
    }

    fn i32(&mut self) -> Result<i32, SqlError> {
        self.fixed().map(i32::from_be_bytes)
    }

    /// A count of items that take at least `least` bytes each: one that cannot be is refused before it sizes anything.
    fn count(&mut self, least: usize) -> Result<usize, SqlError> {
        let count = usize::from(self.u16()?);
        if count * least > self.rest().len() {
            return Err(violation("insufficient data left in message"));
        }
        Ok(count)
    }

    /// A string that ends with a zero byte.
    fn text(&mut self) -> Result<&'a str, SqlError> {
        let rest = self.rest();
        let end = rest.iter().position(|byte| *byte == 0).ok_or_else(|| violation("invalid string in message"))?;
        self.at += end + 1;
        utf8(&rest[..end])
    }

    fn formats<C: FromIterator<Format>>(&mut self) -> Result<C, SqlError> {
        let count = self.count(2)?;
        (0..count)
            .map(|_| match self.u16()? {
                0 => Ok(Format::Text),
                1 => Ok(Format::Binary),
                code => {
                    let message = format!("unsupported format code: {}", code as i16);
                    Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message))
                }
            })
            .collect()
    }

    fn parameter(&mut self) -> Result<Option<Bytes>, SqlError> {
        match self.i32()? {
            -1 => Ok(None),
            length => {
                let length = usize::try_from(length).ok().filter(|length| *length <= self.rest().len());
                let length = length.ok_or_else(|| violation("insufficient data left in message"))?;
                let value = self.body.slice(self.at..self.at + length);
                self.at += length;
                Ok(Some(value))
            }
        }
    }

    /// Nothing may follow.
    fn end<T>(&self, value: T) -> Result<T, SqlError> {
        if self.rest().is_empty() { Ok(value) } else { Err(violation("invalid message format")) }
    }
}

/// Bytes as text, or `22021` with the bytes that are none.
pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, SqlError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let bad = &bytes[error.valid_up_to()..];
        let expected = match bad.first() {
            Some(0xf0..=0xf7) => 4,
            Some(0xe0..=0xef) => 3,
            Some(0xc0..=0xdf) => 2,
            _ => 1,
        };
        let shown: Vec<String> = bad.iter().take(expected).map(|byte| format!("0x{byte:02x}")).collect();
        let message = format!("invalid byte sequence for encoding \"UTF8\": {}", shown.join(" "));
        SqlError::new(states::CHARACTER_NOT_IN_REPERTOIRE, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(kind: u8, length: i32) -> Vec<u8> {
        let mut bytes = vec![kind];
        bytes.extend_from_slice(&length.to_be_bytes());
        bytes
    }

    #[test]
    fn impossible_frames_are_refused_from_their_header() {
        for (kind, length) in [(b'Q', 3), (b'Q', -1), (b'Q', i32::MAX), (b'Q', 0x4000_0000), (b'S', 10_001), (b'Z', 4)] {
            assert!(progress(&header(kind, length)).is_err(), "{kind} {length}");
        }
        assert!(matches!(progress(&header(b'Q', 0x3fff_ffff)), Ok(Progress::Missing(_))));
        assert!(matches!(progress(b"Q\0\0"), Ok(Progress::Missing(2))));
        assert!(matches!(progress(&header(b'S', 4)), Ok(Progress::Complete(Kind::Sync, 5))));
    }

    #[test]
    fn bodies_that_end_early_or_late_are_refused() {
        let whole = b"p\0s\0\0\x01\0\x01\0\x02\0\0\0\x01x\xff\xff\xff\xff\0\0";
        let body = Bytes::from_static(whole);
        let bound = bind(&body).unwrap();
        assert_eq!((bound.portal, bound.statement), ("p", "s"));
        assert_eq!(bound.params.as_slice(), [Some(Bytes::from_static(b"x")), None]);
        for end in 0..whole.len() {
            assert!(bind(&body.slice(..end)).is_err(), "{end}");
        }
        assert!(bind(&Bytes::from([whole, &b"\0"[..]].concat())).is_err());
        assert!(bind(&Bytes::from_static(b"\0\0\0\0\0\x01\xff\xff\xff\xfe\0\0")).is_err());
        assert!(bind(&Bytes::from_static(b"\0\0\0\0\xff\xff")).is_err());
        assert_eq!(bind(&Bytes::from_static(b"\0\0\0\x01\0\x02\0\0\0\0")).unwrap_err().state().0, "22023");
    }

    #[test]
    fn invalid_utf8_is_named() {
        let error = text(&Bytes::from_static(b"select '\xe2\x28\xa1'\0")).unwrap_err();
        assert_eq!(error.to_string(), "22021: invalid byte sequence for encoding \"UTF8\": 0xe2 0x28 0xa1");
        assert!(text(&Bytes::from_static(b"no end")).is_err());
        assert!(text(&Bytes::from_static(b"two\0ends\0")).is_err());
    }
}
