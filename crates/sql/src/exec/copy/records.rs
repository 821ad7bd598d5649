//! Bytes into records: lines of text, CSV records with quotes, binary tuples. Each cutter takes what is complete and leaves the rest for the next portion.

use super::options::CopyOptions;
use crate::error::{SqlError, SqlState};
use smallvec::SmallVec;
use std::borrow::Cow;

/// Longest record: as a row, it could not be stored anyway.
pub(super) const RECORD_BYTES_MAX: usize = 256 << 20;

/// A field as it stands in the record, unescaped: None is NULL.
pub(super) type Field<'a> = Option<Cow<'a, [u8]>>;
/// The fields of a record.
pub(super) type Fields<'a> = SmallVec<[Field<'a>; 8]>;

fn bad(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::BAD_COPY_FILE_FORMAT, message.into())
}

/// What a cutter found at the start of the buffer.
pub(super) enum Cut {
    /// A record of so many bytes, its end included.
    Record(usize),
    /// `\.` or the binary trailer: the rest is ignored.
    End,
    /// Not complete yet.
    More,
}

/// The next line; `ended` means that no more bytes will come.
pub(super) fn cut_line(buffer: &[u8], ended: bool) -> Cut {
    let end = match buffer.iter().position(|b| *b == b'\n') {
        Some(at) => at + 1,
        None if ended && !buffer.is_empty() => buffer.len(),
        None => return Cut::More,
    };
    if trimmed(&buffer[..end]) == b"\\." { Cut::End } else { Cut::Record(end) }
}

/// A line without its end.
pub(super) fn trimmed(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The next CSV record: a line end inside quotes does not end it. `scanned` remembers how far a former call came (position, inside quotes).
pub(super) fn cut_csv(buffer: &[u8], ended: bool, options: &CopyOptions, scanned: &mut (usize, bool)) -> Result<Cut, SqlError> {
    let (mut at, mut quoted) = *scanned;
    while at < buffer.len() {
        let byte = buffer[at];
        if quoted && byte == options.escape && options.escape != options.quote && at + 1 < buffer.len() {
            at += 2;
            continue;
        }
        if quoted && byte == options.escape && options.escape != options.quote && !ended {
            break;
        }
        if byte == options.quote {
            // A doubled quote toggles twice.
            quoted = !quoted;
        } else if byte == b'\n' && !quoted {
            *scanned = (0, false);
            let end = at + 1;
            return Ok(if trimmed(&buffer[..end]) == b"\\." { Cut::End } else { Cut::Record(end) });
        }
        at += 1;
    }
    *scanned = (at, quoted);
    if !ended || buffer.is_empty() {
        return Ok(Cut::More);
    }
    if quoted {
        return Err(bad("unterminated CSV quoted field"));
    }
    *scanned = (0, false);
    Ok(if trimmed(buffer) == b"\\." { Cut::End } else { Cut::Record(buffer.len()) })
}

/// The fields of a line in text form.
pub(super) fn text_fields<'a>(line: &'a [u8], options: &CopyOptions) -> Fields<'a> {
    let mut fields = Fields::new();
    let mut start = 0;
    let mut at = 0;
    loop {
        if at >= line.len() || line[at] == options.delimiter {
            let raw = &line[start..at.min(line.len())];
            fields.push(if raw == options.null.as_slice() { None } else { Some(unescaped(raw)) });
            if at >= line.len() {
                return fields;
            }
            start = at + 1;
            at += 1;
        } else {
            at += if line[at] == b'\\' { 2 } else { 1 };
        }
    }
}

fn unescaped(raw: &[u8]) -> Cow<'_, [u8]> {
    if !raw.contains(&b'\\') {
        return Cow::Borrowed(raw);
    }
    let mut out = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((first, after)) = rest.split_first() {
        if *first != b'\\' {
            out.push(*first);
            rest = after;
            continue;
        }
        let Some((code, after)) = after.split_first() else {
            out.push(b'\\');
            break;
        };
        rest = after;
        match code {
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'v' => out.push(11),
            b'0'..=b'7' => {
                let digits = std::iter::once(*code).chain(after.iter().copied().take(2)).take_while(|d| (b'0'..=b'7').contains(d));
                let digits: Vec<u8> = digits.collect();
                rest = &after[digits.len() - 1..];
                out.push(digits.iter().fold(0u32, |n, d| n * 8 + u32::from(d - b'0')) as u8);
            }
            b'x' if after.first().is_some_and(u8::is_ascii_hexdigit) => {
                let count = after.iter().take(2).take_while(|d| d.is_ascii_hexdigit()).count();
                let digits = std::str::from_utf8(&after[..count]).unwrap_or("0");
                out.push(u8::from_str_radix(digits, 16).unwrap_or(0));
                rest = &after[count..];
            }
            other => out.push(*other),
        }
    }
    Cow::Owned(out)
}

/// The fields of a CSV record, each with whether it was quoted.
pub(super) fn csv_fields(line: &[u8], options: &CopyOptions) -> Vec<(Vec<u8>, bool)> {
    let mut fields = Vec::new();
    let (mut field, mut was_quoted, mut quoted) = (Vec::new(), false, false);
    let mut at = 0;
    while at < line.len() {
        let byte = line[at];
        let next = line.get(at + 1).copied();
        if quoted {
            if byte == options.escape && next.is_some_and(|n| n == options.quote || n == options.escape) {
                field.extend(next);
                at += 1;
            } else if byte == options.quote {
                quoted = false;
            } else {
                field.push(byte);
            }
        } else if byte == options.quote {
            (quoted, was_quoted) = (true, true);
        } else if byte == options.delimiter {
            fields.push((std::mem::take(&mut field), std::mem::take(&mut was_quoted)));
        } else {
            field.push(byte);
        }
        at += 1;
    }
    fields.push((field, was_quoted));
    fields
}

const SIGNATURE: &[u8; 11] = b"PGCOPY\n\xff\r\n\0";

/// Length of a binary header, once it is complete.
pub(super) fn binary_header(buffer: &[u8]) -> Result<Option<usize>, SqlError> {
    if buffer.len() < SIGNATURE.len() + 8 {
        return Ok(None);
    }
    if !buffer.starts_with(SIGNATURE) {
        return Err(bad("COPY file signature not recognized"));
    }
    let flags = i32_at(buffer, SIGNATURE.len());
    if flags & (1 << 16) != 0 || flags as u32 & 0xfffe_0000 != 0 {
        return Err(bad("unrecognized critical flags in COPY file header"));
    }
    let extension = usize::try_from(i32_at(buffer, SIGNATURE.len() + 4)).map_err(|_| bad("invalid COPY file header (missing length)"))?;
    let length = SIGNATURE.len() + 8 + extension;
    Ok((buffer.len() >= length).then_some(length))
}

fn i32_at(buffer: &[u8], at: usize) -> i32 {
    buffer.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, i32::from_be_bytes)
}

/// A binary tuple (None is the trailer), and how many bytes it took.
type Tuple<'a> = (Option<Fields<'a>>, usize);

/// The next binary tuple, if it is complete.
pub(super) fn cut_binary(buffer: &[u8], columns: usize) -> Result<Option<Tuple<'_>>, SqlError> {
    let Some(count) = buffer.get(..2).and_then(|b| b.try_into().ok()).map(i16::from_be_bytes) else { return Ok(None) };
    if count == -1 {
        return Ok(Some((None, 2)));
    }
    if usize::try_from(count).ok() != Some(columns) {
        return Err(bad(format!("row field count is {count}, expected {columns}")));
    }
    let mut fields = Fields::with_capacity(columns);
    let mut at = 2;
    for _ in 0..columns {
        if buffer.len() < at + 4 {
            return Ok(None);
        }
        let length = i32_at(buffer, at);
        at += 4;
        if length == -1 {
            fields.push(None);
            continue;
        }
        let length = usize::try_from(length).map_err(|_| bad("invalid field size"))?;
        let Some(bytes) = buffer.get(at..at + length) else {
            return if length > RECORD_BYTES_MAX { Err(bad("invalid field size")) } else { Ok(None) };
        };
        fields.push(Some(Cow::Borrowed(bytes)));
        at += length;
    }
    Ok(Some((Some(fields), at)))
}

/// What a binary file begins with.
pub(super) fn write_binary_header(out: &mut Vec<u8>) {
    out.extend_from_slice(SIGNATURE);
    out.extend_from_slice(&[0; 8]);
}
