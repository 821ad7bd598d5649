//! The template language of `to_char(timestamp, ...)` and `to_date`: a text cut into fields and literals.

/// What a field stands for, by its upper-case keyword.
const KEYWORDS: [&str; 53] = [
    // Longer ones first where one begins another.
    "Y,YYY", "YYYY", "YYY", "YY", "Y", "IYYY", "IYY", "IY", "IDDD", "ID", "IW", "I", "MONTH", "MON", "MM", "MI", "MS", "DAY", "DY", "DDD",
    "DD", "D", "HH24", "HH12", "HH", "SSSSS", "SSSS", "SS", "US", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6", "A.M.", "AM", "P.M.", "PM",
    "A.D.", "AD", "B.C.", "BC", "CC", "J", "Q", "WW", "W", "RM", "TZH", "TZM", "TZ", "OF",
];

/// How a field's letters are cased in the template, which names follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::functions) enum Case {
    Upper,
    Capital,
    Lower,
}

/// One piece of a template.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Piece {
    Field {
        /// Upper-case keyword.
        key: &'static str,
        case: Case,
        /// `FM`: no padding.
        fill: bool,
        /// `TH` or `th` behind it.
        ordinal: Option<Case>,
    },
    Literal(String),
}

/// Cuts a template.
pub(super) fn cut(template: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = template;
    let mut fill_next = false;
    while let Some(first) = rest.chars().next() {
        if let Some(after) = strip_ignoring_case(rest, "FM") {
            fill_next = true;
            rest = after;
            continue;
        }
        if let Some(after) = strip_ignoring_case(rest, "TM").or_else(|| strip_ignoring_case(rest, "FX")) {
            rest = after;
            continue;
        }
        if first == '"' {
            let (text, after) = quoted(&rest[1..]);
            push_literal(&mut pieces, &text);
            rest = after;
            continue;
        }
        if let Some((key, after)) = KEYWORDS.iter().find_map(|key| strip_ignoring_case(rest, key).map(|after| (*key, after))) {
            let written = &rest[..key.len()];
            let (ordinal, after) = match (after.strip_prefix("TH"), after.strip_prefix("th")) {
                (Some(after), _) => (Some(Case::Upper), after),
                (_, Some(after)) => (Some(Case::Lower), after),
                _ => (None, after),
            };
            pieces.push(Piece::Field { key, case: case_of(written), fill: !std::mem::take(&mut fill_next), ordinal });
            rest = after;
            continue;
        }
        let skip = if first == '\\' && rest.len() > 1 { 1 } else { 0 };
        let c = rest[skip..].chars().next().unwrap_or(first);
        push_literal(&mut pieces, c.encode_utf8(&mut [0; 4]));
        rest = &rest[skip + c.len_utf8()..];
    }
    pieces
}

fn strip_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

fn case_of(written: &str) -> Case {
    let mut letters = written.chars().filter(char::is_ascii_alphabetic);
    match (letters.next().is_some_and(|c| c.is_ascii_uppercase()), letters.next().is_some_and(|c| c.is_ascii_uppercase())) {
        (true, true) => Case::Upper,
        (true, false) => Case::Capital,
        _ => Case::Lower,
    }
}

/// The text up to the closing quote, and what follows it.
fn quoted(text: &str) -> (String, &str) {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (out, &text[at + 1..]),
            '\\' => out.extend(chars.next().map(|(_, c)| c)),
            c => out.push(c),
        }
    }
    (out, "")
}

fn push_literal(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        Some(Piece::Literal(literal)) => literal.push_str(text),
        _ => pieces.push(Piece::Literal(text.to_owned())),
    }
}

/// `st`, `nd`, `rd`, `th`.
pub(in crate::functions) fn ordinal_suffix(digits: &str, case: Case) -> &'static str {
    let bytes = digits.as_bytes();
    let teen = bytes.len() > 1 && bytes[bytes.len() - 2] == b'1';
    let suffixes = match (bytes.last(), teen) {
        (Some(b'1'), false) => ["ST", "st"],
        (Some(b'2'), false) => ["ND", "nd"],
        (Some(b'3'), false) => ["RD", "rd"],
        _ => ["TH", "th"],
    };
    suffixes[usize::from(case != Case::Upper)]
}
