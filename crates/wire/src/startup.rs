//! From a socket's first byte to ReadyForQuery.
//!
//! ```text
//!   SSLRequest, GSSENCRequest ─► 'N' (no encryption yet), go on
//!   CancelRequest             ─► pass it on, close without a word
//!   StartupMessage            ─► [NegotiateProtocolVersion] AuthenticationOk, ParameterStatus.., BackendKeyData, ReadyForQuery
//! ```
//!
//! Whoever talks here is a stranger: the packet is at most 10 kB, its length is checked before anything else, and all of it
//! has to arrive within a minute (the caller's timeout). What is not the protocol at all gets an error that says so.

use crate::frontend::utf8;
use crate::limits::MAX_STARTUP_PACKET;
use crate::states;
use crate::stream::Stream;
use bytes::BytesMut;
use pgwire::messages::cancel::CancelRequest;
use pgwire::messages::response::{GssEncResponse, SslResponse, TransactionStatus};
use pgwire::messages::startup::{Authentication, BackendKeyData, GssEncRequest, NegotiateProtocolVersion, SecretKey, SslRequest, Startup};
use pgwire::messages::{DecodeContext, Message, ProtocolVersion};
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use tidelock_sql::error::{SqlError, SqlState};
use tidelock_sql::session::{ConnectOptions, Session, settings::parse_bool};

/// The newest minor version of protocol 3 that is spoken: 3.2 differs in longer cancel keys only.
const MINOR_VERSION: u16 = 0;

/// How a connection begins.
pub(crate) enum Opening {
    /// A client wants a session.
    Session(ConnectOptions),
    /// A cancel request: process id and secret.
    Cancel(i32, i32),
}

/// Why it does not.
pub(crate) enum Refusal {
    /// The socket failed, or the client left.
    Gone,
    /// To be told to the client.
    Fatal(SqlError),
}

impl From<io::Error> for Refusal {
    fn from(_: io::Error) -> Refusal {
        Refusal::Gone
    }
}

impl From<SqlError> for Refusal {
    fn from(error: SqlError) -> Refusal {
        Refusal::Fatal(error)
    }
}

/// Reads up to the startup message, or the cancel request.
pub(crate) async fn open(stream: &mut Stream, remote: Option<SocketAddr>) -> Result<Opening, Refusal> {
    let (mut ssl_asked, mut gss_asked) = (false, false);
    loop {
        let mut packet = read_packet(stream).await?;
        if SslRequest::is_ssl_request_packet(&packet) && !ssl_asked {
            ssl_asked = true;
            stream.output.put(SslResponse::Refuse);
        } else if GssEncRequest::is_gss_enc_request_packet(&packet) && !gss_asked {
            gss_asked = true;
            stream.output.put(GssEncResponse::Refuse);
        } else if CancelRequest::is_cancel_request_packet(&packet) {
            return cancel_request(&mut packet);
        } else {
            return Ok(Opening::Session(startup_message(packet, remote, stream)?));
        }
        stream.send().await?;
    }
}

/// Whoever reaches the port is trusted.
pub(crate) fn authenticate(stream: &mut Stream) {
    stream.output.put(Authentication::Ok);
}

/// Answers a startup message that found a session.
pub(crate) fn welcome(stream: &mut Stream, session: &Session, secret: i32) {
    let output = &mut stream.output;
    for (name, value) in session.parameter_statuses() {
        output.parameter_status(name, &value);
    }
    output.put(BackendKeyData::new(session.pid(), SecretKey::I32(secret)));
    output.ready_for_query(TransactionStatus::Idle);
}

/// A packet without a type byte, its length word included.
async fn read_packet(stream: &mut Stream) -> Result<BytesMut, Refusal> {
    loop {
        if let Some(word) = stream.input.first_chunk::<4>() {
            let length = u32::from_be_bytes(*word) as usize;
            if !(8..=MAX_STARTUP_PACKET).contains(&length) {
                return Err(not_the_protocol(&stream.input).into());
            }
            if stream.input.len() >= length {
                return Ok(stream.input.split_to(length));
            }
        }
        stream.fill().await?;
    }
}

/// The first bytes are no startup packet: say what they look like.
fn not_the_protocol(input: &[u8]) -> SqlError {
    let error = SqlError::new(SqlState::PROTOCOL_VIOLATION, "invalid length of startup packet");
    let http = [&b"GET "[..], b"POST", b"HEAD", b"PUT ", b"OPTI"].iter().any(|method| input.starts_with(method));
    if http {
        error.hint("This looks like HTTP; this port speaks the PostgreSQL protocol.")
    } else if input.starts_with(&[0x16, 0x03]) {
        error.hint("This looks like TLS; connections are not encrypted, use sslmode=prefer or disable.")
    } else {
        error
    }
}

fn cancel_request(packet: &mut BytesMut) -> Result<Opening, Refusal> {
    let context = DecodeContext::new(ProtocolVersion::PROTOCOL3_0);
    match CancelRequest::decode(packet, &context) {
        Ok(Some(request)) => match request.secret_key.as_i32() {
            Some(secret) => Ok(Opening::Cancel(request.pid, secret)),
            None => Err(Refusal::Gone),
        },
        // PostgreSQL answers nothing here either.
        _ => Err(Refusal::Gone),
    }
}

fn startup_message(mut packet: BytesMut, remote: Option<SocketAddr>, stream: &mut Stream) -> Result<ConnectOptions, SqlError> {
    let version = packet.get(4..8).and_then(|word| word.try_into().ok()).map_or(0, u32::from_be_bytes);
    let (major, minor) = ((version >> 16) as u16, version as u16);
    if major != Startup::PG_PROTOCOL_LATEST {
        let message = format!("unsupported frontend protocol {major}.{minor}: server supports 3.0 to 3.{MINOR_VERSION}");
        return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
    }
    // pgwire would replace what is not UTF-8, and forgive a missing end.
    let body = packet.get(8..).unwrap_or_default();
    utf8(body)?;
    if body.last() != Some(&0) || (body.len() > 1 && !body.ends_with(&[0, 0])) {
        let message = "invalid startup packet layout: expected terminator as last byte";
        return Err(SqlError::new(SqlState::PROTOCOL_VIOLATION, message));
    }
    let context = DecodeContext::new(ProtocolVersion::PROTOCOL3_0);
    let Ok(Some(startup)) = Startup::decode(&mut packet, &context) else {
        return Err(SqlError::new(SqlState::PROTOCOL_VIOLATION, "invalid startup packet layout"));
    };
    negotiate(minor, &startup.parameters, stream);
    connect_options(startup.parameters, remote)
}

/// Says which newer minor version and which protocol options we do not know; the client decides whether to go on.
fn negotiate(minor: u16, parameters: &BTreeMap<String, String>, stream: &mut Stream) {
    let unknown: Vec<String> = parameters.keys().filter(|name| name.starts_with("_pq_.")).cloned().collect();
    if minor > MINOR_VERSION || !unknown.is_empty() {
        stream.output.put(NegotiateProtocolVersion::new(Startup::PROTOCOL_VERSION_3_0 | i32::from(MINOR_VERSION), unknown));
    }
}

fn connect_options(parameters: BTreeMap<String, String>, remote: Option<SocketAddr>) -> Result<ConnectOptions, SqlError> {
    let mut options = ConnectOptions { remote, ..ConnectOptions::default() };
    let mut settings = Vec::new();
    for (name, value) in parameters {
        match name.as_str() {
            "user" => options.user = value,
            "database" => options.database = value,
            "options" => options.settings = command_line(&value)?,
            "replication" if parse_bool(&value) != Some(false) => {
                return Err(SqlError::unsupported("a replication connection"));
            }
            "replication" => {}
            name if name.starts_with("_pq_.") => {}
            _ => settings.push((name, value)),
        }
    }
    options.settings.extend(settings);
    if options.user.is_empty() { Err(states::no_user()) } else { Ok(options) }
}

/// `options`: the switches of a server's command line, of which only settings have a meaning here.
fn command_line(text: &str) -> Result<Vec<(String, String)>, SqlError> {
    let mut settings = Vec::new();
    let mut words = split_words(text).into_iter();
    while let Some(word) = words.next() {
        let assignment = match word.strip_prefix("-c") {
            Some("") => words.next(),
            Some(rest) => Some(rest.to_owned()),
            None => word.strip_prefix("--").map(str::to_owned),
        };
        let pair = assignment.as_deref().and_then(|assignment| assignment.split_once('='));
        let Some((name, value)) = pair.filter(|(name, _)| !name.is_empty()) else {
            let message = format!("invalid command-line argument for server process: {word}");
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, message));
        };
        settings.push((name.replace('-', "_"), value.to_owned()));
    }
    Ok(settings)
}

/// Words between blanks; a backslash takes the next character as it is.
fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => word.get_or_insert_default().extend(chars.next()),
            c if c.is_ascii_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_as_a_command_line() {
        let settings = command_line(r"-c a=b -cstatement_timeout=5s --search-path=x\ y").unwrap();
        let expected = [("a", "b"), ("statement_timeout", "5s"), ("search_path", "x y")];
        assert_eq!(settings, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        for wrong in ["-c", "-c a", "-f x", "word", "--=x"] {
            assert!(command_line(wrong).is_err(), "{wrong}");
        }
    }
}
