//! Keys and spans.
//!
//! A [`Key`] is a byte string; the keyspace is ordered bytewise. Its first four bytes are the [`IndexId`], big-endian, so
//! that one index is one contiguous [`Span`]. Keys of up to 24 bytes (nearly all: TPC-C's longest is 13) live inline,
//! without an allocation.

use crate::ids::IndexId;
use smallvec::SmallVec;
use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;

/// Bytes that a key holds without an allocation.
const INLINE_BYTES: usize = 24;

/// An ordered byte string that names a value.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Key(SmallVec<[u8; INLINE_BYTES]>);

impl Key {
    /// The first key of an index; with [`Key::index_end`], the span of all its rows.
    pub fn index_start(index: IndexId) -> Key {
        Key::from(&index.0.to_be_bytes()[..])
    }

    /// The first key after an index.
    pub fn index_end(index: IndexId) -> Key {
        match index.0.checked_add(1) {
            Some(next) => Key::from(&next.to_be_bytes()[..]),
            None => Key::max(),
        }
    }

    /// The smallest key.
    pub fn min() -> Key {
        Key::default()
    }

    /// A key above all that are stored: no index has the id `u32::MAX`.
    pub fn max() -> Key {
        Key::from(&[0xff; 5][..])
    }

    /// The index this key belongs to; keys shorter than an index id belong to index 0.
    pub fn index(&self) -> IndexId {
        match self.0.first_chunk::<4>() {
            Some(id) => IndexId(u32::from_be_bytes(*id)),
            None => IndexId(0),
        }
    }

    /// The smallest key that is greater than this one.
    #[must_use]
    pub fn next(&self) -> Key {
        let mut next = SmallVec::with_capacity(self.0.len() + 1);
        next.extend_from_slice(&self.0);
        next.push(0);
        Key(next)
    }

    /// The smallest key that is greater than every key which starts with this one.
    #[must_use]
    pub fn prefix_end(&self) -> Key {
        let mut end = self.clone();
        while let Some(last) = end.0.pop() {
            if last < 0xff {
                end.0.push(last + 1);
                return end;
            }
        }
        Key::max()
    }

    /// Appends bytes: how the encoders build keys.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Appends a byte.
    pub fn push(&mut self, byte: u8) {
        self.0.push(byte);
    }

    /// Drops all bytes from `len` on.
    pub fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes, to invert for a descending column.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

/// By copying bytes: a derived clone would go through them one by one.
impl Clone for Key {
    fn clone(&self) -> Key {
        Key(SmallVec::from_slice(&self.0))
    }

    fn clone_from(&mut self, source: &Key) {
        self.0.clear();
        self.0.extend_from_slice(&source.0);
    }
}

impl Deref for Key {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Borrow<[u8]> for Key {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl From<&[u8]> for Key {
    fn from(bytes: &[u8]) -> Key {
        Key(SmallVec::from_slice(bytes))
    }
}

impl From<&str> for Key {
    fn from(text: &str) -> Key {
        Key::from(text.as_bytes())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.is_empty() && self.0.iter().all(|b| b.is_ascii_graphic()) {
            return f.write_str(std::str::from_utf8(&self.0).unwrap_or("?"));
        }
        f.write_str("/")?;
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// The keys from `start` up to, and not including, `end`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First key inside.
    pub start: Key,
    /// First key outside.
    pub end: Key,
}

impl Span {
    /// `[start, end)`.
    pub fn new(start: Key, end: Key) -> Span {
        Span { start, end }
    }

    /// Just one key.
    pub fn point(key: Key) -> Span {
        Span { end: key.next(), start: key }
    }

    /// All rows of an index.
    pub fn index(index: IndexId) -> Span {
        Span { start: Key::index_start(index), end: Key::index_end(index) }
    }

    /// Every key.
    pub fn all() -> Span {
        Span { start: Key::min(), end: Key::max() }
    }

    /// Every key that starts with `prefix`.
    pub fn prefix(prefix: Key) -> Span {
        Span { end: prefix.prefix_end(), start: prefix }
    }

    /// Nothing inside?
    pub fn is_empty(&self) -> bool {
        self.start >= self.end
    }

    /// Is the key inside?
    pub fn contains(&self, key: &[u8]) -> bool {
        *self.start <= *key && *key < *self.end
    }

    /// Is the other span wholly inside?
    pub fn contains_span(&self, other: &Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Do they share a key?
    pub fn overlaps(&self, other: &Span) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// What both cover; `None` when they share no key.
    pub fn intersect(&self, other: &Span) -> Option<Span> {
        let start = self.start.clone().max(other.start.clone());
        let end = self.end.clone().min(other.end.clone());
        (start < end).then_some(Span { start, end })
    }

    /// The part before `rest`, which is what a scan of this span has left over: all of it, when nothing is left.
    #[must_use]
    pub fn scanned(&self, rest: Option<&Span>, reverse: bool) -> Span {
        match rest {
            None => self.clone(),
            Some(rest) if reverse => Span::new(rest.end.clone(), self.end.clone()),
            Some(rest) => Span::new(self.start.clone(), rest.start.clone()),
        }
    }

    /// Does the span hold exactly one key?
    pub fn is_point(&self) -> bool {
        self.end.len() == self.start.len() + 1 && self.end.last() == Some(&0) && self.end.starts_with(&self.start)
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_point() { write!(f, "{:?}", self.start) } else { write!(f, "[{:?}, {:?})", self.start, self.end) }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_is_the_smallest_greater_key() {
        let key = Key::from("ab");
        assert!(key.next() > key && key.next() < Key::from("ac"));
        assert!(Span::point(key.clone()).is_point() && Span::point(key.clone()).contains(&key));
    }

    #[test]
    fn prefix_end_skips_trailing_ff() {
        assert_eq!(Key::from(&[1, 0xff, 0xff][..]).prefix_end(), Key::from(&[2][..]));
        assert_eq!(Key::from(&[0xff][..]).prefix_end(), Key::max());
    }

    #[test]
    fn an_index_is_one_span() {
        let mut key = Key::index_start(IndexId(7));
        key.extend(&[0xff; 30]);
        assert!(Span::index(IndexId(7)).contains(&key));
        assert_eq!(key.index(), IndexId(7));
        assert!(!Span::index(IndexId(8)).contains(&key));
    }

    #[test]
    fn what_was_scanned_and_the_rest_make_the_whole() {
        let span = |start: &str, end: &str| Span::new(start.into(), end.into());
        let whole = span("a", "z");
        assert_eq!(whole.scanned(None, true), whole);
        assert_eq!(whole.scanned(Some(&span("k", "z")), false), span("a", "k"));
        assert_eq!(whole.scanned(Some(&span("a", "k")), true), span("k", "z"));
    }

    #[test]
    fn spans_intersect_where_they_overlap() {
        let left = Span::new("a".into(), "m".into());
        let right = Span::new("k".into(), "z".into());
        assert_eq!(left.intersect(&right), Some(Span::new("k".into(), "m".into())));
        assert_eq!(left.intersect(&Span::new("m".into(), "z".into())), None);
    }
}
