//! Cuts the text of a date, time or timestamp into fields, as PostgreSQL's `ParseDateTime` does.

/// Longer texts are no dates.
const TEXT_BYTES_MAX: usize = 256;

/// One field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Token<'a> {
    /// Only digits.
    Number(&'a str),
    /// Digits, one point, digits: seconds or a date, by context.
    Fraction(&'a str),
    /// Digits with colons.
    Time(&'a str),
    /// Parts with `-`, `/` or `.` between them, one of which may be a month's name.
    Date(&'a str),
    /// A word, as written.
    Word(&'a str),
    /// A signed displacement.
    Zone(&'a str),
}

fn end_of(text: &str, from: usize, accept: impl Fn(u8) -> bool) -> usize {
    text.as_bytes()[from..].iter().position(|b| !accept(*b)).map_or(text.len(), |n| from + n)
}

/// The fields of a text, `None` when it cannot be cut.
pub(super) fn tokenize(text: &str) -> Option<Vec<Token<'_>>> {
    if text.len() > TEXT_BYTES_MAX || !text.is_ascii() {
        return None;
    }
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte.is_ascii_whitespace() || byte == b',' || byte == b'@' {
            at += 1;
            continue;
        }
        let (token, end) = if byte.is_ascii_digit() {
            from_digit(text, at)
        } else if byte == b'.' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
            let end = end_of(text, at + 1, |b| b.is_ascii_digit());
            (Token::Fraction(&text[at..end]), end)
        } else if byte.is_ascii_alphabetic() {
            from_letter(text, at)
        } else if byte == b'+' || byte == b'-' {
            from_sign(text, at)?
        } else {
            return None;
        };
        tokens.push(token);
        at = end;
    }
    Some(tokens)
}

fn from_digit(text: &str, at: usize) -> (Token<'_>, usize) {
    let bytes = text.as_bytes();
    let digits = end_of(text, at, |b| b.is_ascii_digit());
    match bytes.get(digits) {
        Some(b':') => {
            let end = end_of(text, digits, |b| b.is_ascii_digit() || b == b':' || b == b'.');
            (Token::Time(&text[at..end]), end)
        }
        Some(delimiter @ (b'-' | b'/' | b'.')) => {
            let delimiter = *delimiter;
            // A month's name may stand in the middle: then letters belong to the field as well.
            let named = bytes.get(digits + 1).is_some_and(u8::is_ascii_alphabetic);
            let end = end_of(text, digits, |b| b.is_ascii_digit() || b == delimiter || (named && b.is_ascii_alphabetic()));
            let field = &text[at..end];
            let points = field.bytes().filter(|b| *b == b'.').count();
            if delimiter == b'.' && points == 1 { (Token::Fraction(field), end) } else { (Token::Date(field), end) }
        }
        _ => (Token::Number(&text[at..digits]), digits),
    }
}

fn from_letter(text: &str, at: usize) -> (Token<'_>, usize) {
    let bytes = text.as_bytes();
    let letters = end_of(text, at, |b| b.is_ascii_alphabetic());
    match bytes.get(letters) {
        // Jan-08-1999
        Some(delimiter @ (b'-' | b'/' | b'.'))
            if bytes.get(letters + 1).is_some_and(u8::is_ascii_digit) && super::parse::month(&text[at..letters]).is_some() =>
        {
            let delimiter = *delimiter;
            let end = end_of(text, letters, |b| b.is_ascii_digit() || b == delimiter);
            (Token::Date(&text[at..end]), end)
        }
        // America/New_York, Etc/GMT+3
        Some(b'/' | b'_') => {
            let end = end_of(text, letters, |b| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'_' | b'-' | b'+'));
            (Token::Word(&text[at..end]), end)
        }
        // "Feb." is a word with a point
        Some(b'.') => (Token::Word(&text[at..letters]), letters + 1),
        _ => (Token::Word(&text[at..letters]), letters),
    }
}

fn from_sign(text: &str, at: usize) -> Option<(Token<'_>, usize)> {
    let bytes = text.as_bytes();
    let next = *bytes.get(at + 1)?;
    if next.is_ascii_digit() {
        let end = end_of(text, at + 1, |b| b.is_ascii_digit() || b == b':' || b == b'.');
        Some((Token::Zone(&text[at..end]), end))
    } else if next.is_ascii_alphabetic() {
        let end = end_of(text, at + 1, |b| b.is_ascii_alphabetic());
        Some((Token::Word(&text[at..end]), end))
    } else {
        None
    }
}
