//! The order-preserving key encoding: `encode(a) < encode(b)` bytewise exactly when `a < b`.
//!
//! Each column starts with one marker byte that also orders NULL, so a column's encoding is never a prefix of another's:
//!
//! ```text
//!   0x05            NULL placed first         0xfa   NULL placed last
//!   0x80 ± n        integers: the byte says sign and length, small ones (-24 ..= 80) are the byte itself
//!   0x10            bytes and text: escaped (00 -> 00 ff), ended by 00 01
//!   0x11            eight fixed bytes (floats, timestamps)
//!   0x12            raw fixed bytes (uuid), whose length the type knows
//!   0x13..          decimals: sign, exponent, digits (see `decimal`)
//! ```
//!
//! A descending column inverts every byte of its encoding, marker included ([`descending`]).

use crate::key::Key;

const NULL_FIRST: u8 = 0x05;
const NULL_LAST: u8 = 0xfa;
const BYTES: u8 = 0x10;
const FIXED: u8 = 0x11;
const RAW: u8 = 0x12;
const DECIMAL: u8 = 0x13;
/// Integers in `INT_SMALL_MIN ..= INT_SMALL_MAX` are one byte: `INT_ZERO + n`.
const INT_ZERO: u8 = 0x80;
const INT_SMALL_MIN: i64 = -24;
const INT_SMALL_MAX: i64 = 80;

/// Appends NULL, sorting before (`first`) or after every value. In a descending column give the place that the *inverted*
/// bytes shall have.
pub fn null(key: &mut Key, first: bool) {
    key.push(if first { NULL_FIRST } else { NULL_LAST });
}

/// Appends an integer in 1 to 9 bytes.
pub fn int(key: &mut Key, n: i64) {
    if (INT_SMALL_MIN..=INT_SMALL_MAX).contains(&n) {
        key.push((i64::from(INT_ZERO) + n) as u8);
    } else if n > 0 {
        let bytes = n.to_be_bytes();
        let skip = (n.leading_zeros() / 8) as usize;
        key.push(INT_ZERO + INT_SMALL_MAX as u8 + (8 - skip) as u8);
        key.extend(&bytes[skip..]);
    } else {
        // Negative: the longer, the smaller. The bytes are two's complement, which orders rightly among equal lengths.
        let skip = ((!n).leading_zeros() / 8) as usize;
        key.push(INT_ZERO - INT_SMALL_MIN.unsigned_abs() as u8 - (8 - skip) as u8);
        key.extend(&n.to_be_bytes()[skip..]);
    }
}

/// Appends a float: NaN above all, as PostgreSQL orders it; -0 equals 0.
pub fn float(key: &mut Key, x: f64) {
    let x = if x == 0.0 { 0.0 } else { x };
    let bits = if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() };
    let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    key.push(FIXED);
    key.extend(&ordered.to_be_bytes());
}

/// Appends bytes or text (which sorts bytewise, collation C).
pub fn bytes(key: &mut Key, bytes: &[u8]) {
    key.push(BYTES);
    for part in bytes.split_inclusive(|b| *b == 0) {
        key.extend(part);
        if part.last() == Some(&0) {
            key.push(0xff);
        }
    }
    key.extend(&[0x00, 0x01]);
}

/// Appends bytes of a length that the column's type fixes.
pub fn raw(key: &mut Key, bytes: &[u8]) {
    key.push(RAW);
    key.extend(bytes);
}

/// A decimal number taken apart, for [`decimal`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decimal<'a> {
    /// Below every number.
    NegativeInfinity,
    /// `-0.d1 d2 d3... * 10^exponent` or its positive twin.
    Finite {
        /// Sign.
        negative: bool,
        /// Power of ten of the point before the first digit.
        exponent: i32,
        /// Decimal digits 0-9, without leading or trailing zeros; empty for zero.
        digits: &'a [u8],
    },
    /// Above every finite number.
    Infinity,
    /// Above all, as PostgreSQL orders it.
    NaN,
}

/// Appends a decimal: equal numbers get equal bytes whatever their scale (`1.0` and `1.00`).
pub fn decimal(key: &mut Key, number: Decimal<'_>) {
    key.push(DECIMAL);
    match number {
        Decimal::NegativeInfinity => key.push(0x00),
        Decimal::Finite { digits: [], .. } => key.push(0x02),
        Decimal::Finite { negative, exponent, digits } => {
            key.push(if negative { 0x01 } else { 0x03 });
            let start = key.len();
            key.extend(&((exponent as u32) ^ 0x8000_0000).to_be_bytes());
            digits.iter().for_each(|digit| key.push(digit + 1));
            key.push(0);
            if negative {
                key.bytes_mut()[start..].iter_mut().for_each(|b| *b = !*b);
            }
        }
        Decimal::Infinity => key.push(0x04),
        Decimal::NaN => key.push(0x05),
    }
}

/// Turns the column that began at byte `from` into its descending form.
pub fn descending(key: &mut Key, from: usize) {
    key.bytes_mut()[from..].iter_mut().for_each(|b| *b = !*b);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(write: impl FnOnce(&mut Key)) -> Key {
        let mut key = Key::default();
        write(&mut key);
        key
    }

    #[test]
    fn integers_keep_their_order() {
        let mut numbers: Vec<i64> = vec![i64::MIN, i64::MAX, 0, 1, -1, 80, 81, -24, -25];
        for shift in 0..63 {
            for delta in -2..=2 {
                numbers.extend([(1i64 << shift) + delta, -(1i64 << shift) + delta]);
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        let keys: Vec<Key> = numbers.iter().map(|n| encoded(|key| int(key, *n))).collect();
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(encoded(|key| int(key, 80)).len(), 1);
        assert_eq!(encoded(|key| int(key, 3000)).len(), 3);
    }

    #[test]
    fn nulls_go_where_they_are_told() {
        let first = encoded(|key| null(key, true));
        let last = encoded(|key| null(key, false));
        for value in [encoded(|k| int(k, i64::MIN)), encoded(|k| int(k, i64::MAX)), encoded(|k| bytes(k, b""))] {
            assert!(first < value && value < last);
        }
    }

    #[test]
    fn floats_keep_their_order() {
        let numbers = [f64::NEG_INFINITY, -1.5, -0.0, 1e-300, 2.0, f64::INFINITY, f64::NAN];
        let keys: Vec<Key> = numbers.iter().map(|x| encoded(|key| float(key, *x))).collect();
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(encoded(|key| float(key, 0.0)), encoded(|key| float(key, -0.0)));
    }

    #[test]
    fn text_keeps_its_order_and_is_never_a_prefix() {
        let texts: [&[u8]; 6] = [b"", b"\0", b"\0\0", b"a", b"a\0b", b"ab"];
        let keys: Vec<Key> = texts.iter().map(|t| encoded(|key| bytes(key, t))).collect();
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1] && !pair[1].starts_with(&pair[0])));
    }

    #[test]
    fn decimals_keep_their_order() {
        let finite = |negative, exponent, digits| Decimal::Finite { negative, exponent, digits };
        let numbers = [
            Decimal::NegativeInfinity,
            finite(true, 2, &[1, 5]),
            finite(true, 2, &[1]),
            finite(true, -3, &[9]),
            finite(false, 0, &[]),
            finite(false, -3, &[9]),
            finite(false, 2, &[1]),
            finite(false, 2, &[1, 5]),
            finite(false, 3, &[1]),
            Decimal::Infinity,
            Decimal::NaN,
        ];
        let keys: Vec<Key> = numbers.iter().map(|n| encoded(|key| decimal(key, *n))).collect();
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn descending_inverts_the_order() {
        let desc = |n| {
            encoded(|key| {
                int(key, n);
                descending(key, 0);
            })
        };
        assert!(desc(5) > desc(6) && desc(-5) > desc(1000));
    }
}
