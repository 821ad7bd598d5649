//! The stored form of `jsonb`: a tag a value, lengths before contents, numbers as the row codec stores them.
//!
//! Reading it back needs no parsing of text and no sorting, since it was written in order.

use super::{Json, Numeric, parse::DEPTH_MAX};
use crate::types::row_codec::{decode_numeric, encode_numeric};

const NULL: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
const NUMBER: u8 = 3;
const STRING: u8 = 4;
const ARRAY: u8 = 5;
const OBJECT: u8 = 6;

/// Appends the stored form.
pub fn encode(value: &Json, out: &mut Vec<u8>) {
    match value {
        Json::Null => out.push(NULL),
        Json::Bool(value) => out.push(if *value { TRUE } else { FALSE }),
        Json::Number(n) => {
            out.push(NUMBER);
            let mut digits = Vec::new();
            encode_numeric(n, &mut digits);
            bytes(&digits, out);
        }
        Json::String(text) => {
            out.push(STRING);
            bytes(text.as_bytes(), out);
        }
        Json::Array(items) => {
            out.push(ARRAY);
            length(items.len(), out);
            items.iter().for_each(|item| encode(item, out));
        }
        Json::Object(pairs) => {
            out.push(OBJECT);
            length(pairs.len(), out);
            for (key, value) in pairs {
                bytes(key.as_bytes(), out);
                encode(value, out);
            }
        }
    }
}

/// Seven bits a byte, least first.
fn length(mut n: usize, out: &mut Vec<u8>) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

fn bytes(content: &[u8], out: &mut Vec<u8>) {
    length(content.len(), out);
    out.extend_from_slice(content);
}

/// Reads the stored form; `None` when it is none.
pub fn decode(stored: &[u8]) -> Option<Json> {
    let mut reader = Reader { rest: stored };
    let value = reader.value(0)?;
    reader.rest.is_empty().then_some(value)
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn length(&mut self) -> Option<usize> {
        let mut n = 0usize;
        for shift in (0..usize::BITS).step_by(7) {
            let byte = self.byte()?;
            n |= usize::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(n);
            }
        }
        None
    }

    fn bytes(&mut self) -> Option<&[u8]> {
        let length = self.length()?;
        let (content, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(content)
    }

    fn text(&mut self) -> Option<compact_str::CompactString> {
        Some(std::str::from_utf8(self.bytes()?).ok()?.into())
    }

    fn number(&mut self) -> Option<Numeric> {
        decode_numeric(self.bytes()?)
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        if depth > DEPTH_MAX {
            return None;
        }
        Some(match self.byte()? {
            NULL => Json::Null,
            FALSE => Json::Bool(false),
            TRUE => Json::Bool(true),
            NUMBER => Json::Number(self.number()?),
            STRING => Json::String(self.text()?),
            ARRAY => {
                let count = self.length()?;
                Json::Array((0..count).map(|_| self.value(depth + 1)).collect::<Option<_>>()?)
            }
            OBJECT => {
                let count = self.length()?;
                Json::Object((0..count).map(|_| Some((self.text()?, self.value(depth + 1)?))).collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back() {
        for text in ["null", "true", "-12.50", "\"é\\n\"", "[]", "{}", "[1, {\"a\": [], \"bb\": null}, \"x\"]"] {
            let value = Json::parse(text).unwrap();
            let mut stored = Vec::new();
            encode(&value, &mut stored);
            assert_eq!(decode(&stored).unwrap().to_string(), value.to_string());
            assert!(decode(&stored[..stored.len() - 1]).is_none());
        }
    }
}
