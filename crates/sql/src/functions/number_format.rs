//! `to_char` of numbers and `to_number`.
//!
//! A template of digits (`9`, `0`), a point, separators and a sign is first read into [`Template`]; writing then walks it once, the
//! number's digits set against the digit places from the point outwards.

use super::args::{Answer, float, int, numeric, out, text};
use super::{BuiltinFunction, EvalFn};
use crate::error::{SqlError, SqlState};
use crate::expr::EvalContext;
use crate::types::{DataType, Datum, Numeric};

const TEXT: DataType = DataType::TEXT;

#[derive(Clone, PartialEq, Eq)]
enum Piece {
    Nine,
    Zero,
    Point,
    Group,
    /// `S`: the sign, next to the number.
    Sign,
    Minus,
    Plus,
    /// `SG`
    SignPlace,
    /// `V`: shift; digits behind it are whole ones.
    Shift,
    Currency,
    Ordinal(bool),
    Roman(bool),
    Exponent,
    Literal(char),
}

struct Template {
    pieces: Vec<Piece>,
    /// `FM`
    compact: bool,
    /// `PR`
    brackets: bool,
    whole: usize,
    fraction: usize,
    shift: usize,
}

fn parse(template: &str) -> Template {
    let mut result = Template { pieces: Vec::new(), compact: false, brackets: false, whole: 0, fraction: 0, shift: 0 };
    let mut rest = template;
    let (mut after_point, mut after_shift) = (false, false);
    while let Some(c) = rest.chars().next() {
        let two = rest.get(..2).unwrap_or("").to_ascii_uppercase();
        let (piece, length) = match (c.to_ascii_uppercase(), two.as_str()) {
            (_, "FM") => {
                result.compact = true;
                (None, 2)
            }
            (_, "PR") => {
                result.brackets = true;
                (None, 2)
            }
            (_, "MI") => (Some(Piece::Minus), 2),
            (_, "PL") => (Some(Piece::Plus), 2),
            (_, "SG") => (Some(Piece::SignPlace), 2),
            (_, "TH") => (Some(Piece::Ordinal(c == 'T')), 2),
            (_, "RN") => (Some(Piece::Roman(c == 'R')), 2),
            ('E', _) if rest.get(..4).is_some_and(|e| e.eq_ignore_ascii_case("eeee")) => (Some(Piece::Exponent), 4),
            ('9', _) => (Some(Piece::Nine), 1),
            ('0', _) => (Some(Piece::Zero), 1),
            ('.' | 'D', _) => (Some(Piece::Point), 1),
            (',' | 'G', _) => (Some(Piece::Group), 1),
            ('S', _) => (Some(Piece::Sign), 1),
            ('V', _) => (Some(Piece::Shift), 1),
            ('L', _) => (Some(Piece::Currency), 1),
            ('"', _) => {
                let inner = &rest[1..];
                let end = inner.find('"').unwrap_or(inner.len());
                result.pieces.extend(inner[..end].chars().map(Piece::Literal));
                rest = inner.get(end + 1..).unwrap_or("");
                continue;
            }
            _ => (Some(Piece::Literal(c)), c.len_utf8()),
        };
        match piece {
            Some(Piece::Nine | Piece::Zero) if after_point => result.fraction += 1,
            Some(Piece::Nine | Piece::Zero) => {
                result.whole += 1;
                result.shift += usize::from(after_shift);
            }
            Some(Piece::Point) => after_point = true,
            Some(Piece::Shift) => after_shift = true,
            _ => {}
        }
        result.pieces.extend(piece);
        rest = &rest[length..];
    }
    result
}

/// Writes a number by a template.
pub(super) fn format(number: &Numeric, template: &str) -> String {
    let template = parse(template);
    if let Some(Piece::Roman(upper)) = template.pieces.iter().find(|p| matches!(p, Piece::Roman(_))) {
        return roman(number, *upper, template.compact);
    }
    if template.pieces.contains(&Piece::Exponent) {
        return scientific(number, &template);
    }
    let shifted = number.mul(&Numeric::from_big(crate::types::numeric::pow10(template.shift as u32), 0));
    let rounded = shifted.round(template.fraction as i32);
    let negative = rounded.signum() < 0 && !rounded.is_nan();
    let shown = rounded.abs().to_string();
    let (whole, fraction) = shown.split_once('.').unwrap_or((&shown, ""));
    // A zero before the point shows only where nothing follows the point.
    let hidden = whole == "0" && template.fraction > 0 && !(template.compact && kept_fraction(&template, fraction) == 0);
    let whole = if hidden { "" } else { whole };
    let overflow = whole.len() > template.whole || !number.is_finite();
    Writer { template: &template, whole, fraction, negative, overflow, out: String::new(), sign_written: false }.write()
}

/// How many fraction digits `FM` keeps: up to the last that is not zero, or that the template demands.
fn kept_fraction(template: &Template, fraction: &str) -> usize {
    let significant = fraction.trim_end_matches('0').len();
    let behind = template.pieces.iter().skip_while(|p| **p != Piece::Point).filter(|p| matches!(p, Piece::Nine | Piece::Zero));
    let demanded = behind.enumerate().filter(|(_, p)| **p == Piece::Zero).map(|(at, _)| at + 1).last().unwrap_or(0);
    significant.max(demanded)
}

struct Writer<'a> {
    template: &'a Template,
    whole: &'a str,
    fraction: &'a str,
    negative: bool,
    overflow: bool,
    out: String,
    sign_written: bool,
}

impl Writer<'_> {
    /// Does the sign float in front of the first digit?
    fn floats(&self) -> bool {
        !self.template.pieces.iter().any(|p| matches!(p, Piece::Minus | Piece::SignPlace)) && !self.trailing_sign()
    }

    fn trailing_sign(&self) -> bool {
        let sign = self.template.pieces.iter().position(|p| *p == Piece::Sign);
        let digit = self.template.pieces.iter().position(|p| matches!(p, Piece::Nine | Piece::Zero));
        matches!((sign, digit), (Some(sign), Some(digit)) if sign > digit)
    }

    fn sign(&mut self) {
        if self.sign_written || !self.floats() {
            return;
        }
        self.sign_written = true;
        let explicit = self.template.pieces.contains(&Piece::Sign);
        match (self.negative, self.template.brackets, explicit) {
            (true, true, _) => self.out.push('<'),
            (true, false, _) => self.out.push('-'),
            (false, false, true) => self.out.push('+'),
            _ => self.blank(),
        }
    }

    fn blank(&mut self) {
        if !self.template.compact {
            self.out.push(' ');
        }
    }

    fn write(mut self) -> String {
        let pieces = &self.template.pieces;
        let zero_at =
            pieces.iter().filter(|p| matches!(p, Piece::Nine | Piece::Zero)).take(self.template.whole).position(|p| *p == Piece::Zero);
        let first = if self.overflow {
            0
        } else {
            (self.template.whole - self.whole.len().min(self.template.whole)).min(zero_at.unwrap_or(usize::MAX))
        };
        let last_zero = kept_fraction(self.template, self.fraction);
        let (mut place, mut decimals, mut after_point) = (0, 0, false);
        for piece in pieces {
            match piece {
                Piece::Nine | Piece::Zero if after_point => {
                    let digit = self.fraction.as_bytes().get(decimals).map_or('0', |b| char::from(*b));
                    decimals += 1;
                    if self.overflow {
                        self.out.push('#');
                    } else if decimals <= last_zero || !self.template.compact {
                        self.out.push(digit);
                    }
                }
                Piece::Nine | Piece::Zero => {
                    if place < first {
                        self.blank();
                    } else {
                        self.sign();
                        self.digit(place);
                    }
                    place += 1;
                }
                Piece::Point => {
                    self.sign();
                    self.out.push('.');
                    after_point = true;
                }
                Piece::Group if place > first || (place == first && self.sign_written) => self.out.push(','),
                Piece::Group | Piece::Currency => self.blank(),
                Piece::Sign if self.trailing_sign() => self.out.push(if self.negative { '-' } else { '+' }),
                Piece::Minus if self.negative => self.out.push('-'),
                Piece::Plus if !self.negative => self.out.push('+'),
                Piece::Minus | Piece::Plus => self.blank(),
                Piece::SignPlace => self.out.push(if self.negative { '-' } else { '+' }),
                Piece::Ordinal(upper) if !self.negative && self.fraction.is_empty() => self.out.push_str(ordinal(self.whole, *upper)),
                Piece::Literal(c) => self.out.push(*c),
                _ => {}
            }
        }
        if self.template.brackets {
            if self.negative { self.out.push('>') } else { self.blank() }
        }
        self.out
    }

    fn digit(&mut self, place: usize) {
        if self.overflow {
            return self.out.push('#');
        }
        let lead = self.template.whole - self.whole.len();
        let digit = place.checked_sub(lead).and_then(|at| self.whole.as_bytes().get(at)).map_or('0', |b| char::from(*b));
        self.out.push(digit);
    }
}

fn ordinal(digits: &str, upper: bool) -> &'static str {
    use super::dates::template::{Case, ordinal_suffix};
    ordinal_suffix(digits, if upper { Case::Upper } else { Case::Lower })
}

fn roman(number: &Numeric, upper: bool, compact: bool) -> String {
    const NUMERALS: [(i64, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    let mut rest = number.to_i64("integer").unwrap_or(0);
    if !(1..=3999).contains(&rest) {
        return "#".repeat(15);
    }
    let mut numeral = String::new();
    for (value, letters) in NUMERALS {
        while rest >= value {
            numeral.push_str(letters);
            rest -= value;
        }
    }
    let numeral = if upper { numeral } else { numeral.to_lowercase() };
    if compact { numeral } else { format!("{numeral:>15}") }
}

fn scientific(number: &Numeric, template: &Template) -> String {
    let shown = format!("{:.*e}", template.fraction, number.to_f64());
    let (mantissa, exponent) = shown.split_once('e').unwrap_or((&shown, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let space = if number.signum() < 0 || template.compact { "" } else { " " };
    format!("{space}{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

fn int_to_char(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    out(format(&Numeric::from(int(args, 0)?), text(args, 1)?))
}
fn numeric_to_char(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    out(format(numeric(args, 0)?, text(args, 1)?))
}
fn float_to_char(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    out(format(&Numeric::from_f64(float(args, 0)?), text(args, 1)?))
}

/// `to_number`: the digits, point and sign of the text; the template says which decorations to expect.
fn to_number(_: &EvalContext<'_>, args: &[Datum]) -> Answer {
    let (string, template) = (text(args, 0)?, parse(text(args, 1)?));
    let negative = string.contains('-') || (template.brackets && string.contains('<'));
    let kept: String = string.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
    let (whole, fraction) = kept.split_once('.').unwrap_or((&kept, ""));
    let whole: String = whole.chars().take(template.whole).collect();
    let fraction: String = fraction.chars().filter(char::is_ascii_digit).take(template.fraction).collect();
    if whole.is_empty() && fraction.is_empty() {
        return Err(SqlError::new(
            SqlState::INVALID_TEXT_REPRESENTATION,
            format!("invalid input syntax for type numeric: \"{}\"", string.trim()),
        ));
    }
    let sign = if negative { "-" } else { "" };
    let digits = if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") };
    Ok(Datum::Numeric(Numeric::parse(&format!("{sign}{digits}"))?))
}

const fn f(args: &'static [DataType], eval: EvalFn) -> BuiltinFunction {
    BuiltinFunction::new("to_char", args, TEXT, eval).stable()
}

/// All of them.
pub(super) static FUNCTIONS: &[BuiltinFunction] = &[
    f(&[DataType::INT4, TEXT], int_to_char),
    f(&[DataType::INT8, TEXT], int_to_char),
    f(&[DataType::NUMERIC, TEXT], numeric_to_char),
    f(&[DataType::FLOAT4, TEXT], float_to_char),
    f(&[DataType::FLOAT8, TEXT], float_to_char),
    BuiltinFunction::new("to_number", &[TEXT, TEXT], DataType::NUMERIC, to_number).stable(),
];
