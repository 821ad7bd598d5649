//! Literals lifted out of a statement's text, in one pass over its bytes.
//!
//! The simple protocol sends values inside the text: `UPDATE t SET n = 5 WHERE id = 17`. Parsed each time, that costs ten times what running it
//! does. So the text is normalised to `UPDATE t SET n = $1 WHERE id = $2`, which is the key of the plan cache, and the literals become the values of parameters with
//! the types the literals have: int4, int8 or numeric by size, unknown for a string.
//!
//! A literal must mean the same as the parameter that replaces it. Where it might not, the whole statement is left alone (`None`): anything but one
//! SELECT, INSERT, UPDATE or DELETE; numbers in ORDER BY, GROUP BY and DISTINCT ON (ordinals); strings behind a type name (`date '...'`,
//! `interval '1 day'`) and E'', B'', X'', U&''; literals followed by a cast (`'x'::regclass` is evaluated when it is bound); literals in a type's parentheses
//! (`numeric(12, 2)`); comments, which are rare. A literal directly in the target list stays in the text, because there it also names and types the result column.

/// A literal taken out of the text.
#[derive(Clone, Debug, PartialEq)]
pub enum LiftedLiteral {
    /// Fits int4.
    Int4(i32),
    /// Fits int8, not int4.
    Int8(i64),
    /// Any other number, as written.
    Numeric(String),
    /// A string, unescaped; its type is unknown.
    Unknown(String),
}

/// A text without its literals.
#[derive(Clone, Debug, PartialEq)]
pub struct Normalised {
    /// The text with `$n` in their places; equal texts have equal plans.
    pub text: String,
    /// Values of `$1`, `$2` ...
    pub literals: Vec<LiftedLiteral>,
}

/// Longer texts are not worth a place in the cache.
const TEXT_BYTES_MAX: usize = 16 << 10;

/// A plan with more parameters than this is a bulk insert, met once.
const LITERALS_MAX: usize = 256;

/// Lifts the literals out, or says that this text is better parsed as it is.
pub fn normalise(sql: &str) -> Option<Normalised> {
    if sql.len() > TEXT_BYTES_MAX {
        return None;
    }
    let bytes = sql.as_bytes();
    let mut lexer = Lexer { sql, bytes, at: 0, out: String::with_capacity(sql.len() + 16), literals: Vec::new(), state: State::default() };
    lexer.run()?;
    Some(Normalised { text: lexer.out, literals: lexer.literals })
}

/// What the last token was, as far as it matters for a literal behind it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Last {
    #[default]
    Start,
    /// A name or a keyword that a literal can't follow without its meaning changing.
    Name,
    /// A keyword that an operand follows.
    Keyword,
    /// An operator, an opening bracket, a comma.
    Operator,
    /// A literal, a parameter, a closing bracket.
    Operand,
}

#[derive(Default)]
struct State {
    last: Last,
    depth: usize,
    /// Inside the target list, at this depth.
    targets: Option<usize>,
    /// The statement's first word.
    first: Option<Verb>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verb {
    Select,
    Insert,
    Update,
    Delete,
}

struct Lexer<'a> {
    sql: &'a str,
    bytes: &'a [u8],
    at: usize,
    out: String,
    literals: Vec<LiftedLiteral>,
    state: State,
}

impl Lexer<'_> {
    fn run(&mut self) -> Option<()> {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => self.space(),
                b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => self.word()?,
                b'"' => self.quoted_name()?,
                b'0'..=b'9' => self.number()?,
                b'.' if self.bytes.get(self.at + 1).is_some_and(u8::is_ascii_digit) && self.state.last != Last::Name => self.number()?,
                b'\'' => self.string()?,
                // Parameters of the text's own would clash with ours; a dollar quote is rare.
                b'$' => return None,
                b';' => return self.end(),
                b'-' if self.bytes.get(self.at + 1) == Some(&b'-') => return None,
                b'/' if self.bytes.get(self.at + 1) == Some(&b'*') => return None,
                b'(' => self.open(),
                b')' => self.close()?,
                b'[' | b']' | b'{' | b'}' | b'\\' | b'`' => return None,
                b':' if self.bytes.get(self.at + 1) == Some(&b':') => self.cast()?,
                _ => self.operator(byte),
            }
        }
        self.finish()
    }

    fn finish(&mut self) -> Option<()> {
        let length = self.out.trim_end().len();
        self.out.truncate(length);
        (self.state.first.is_some() && !self.literals.is_empty() && self.state.depth == 0).then_some(())
    }

    /// A semicolon: nothing may follow.
    fn end(&mut self) -> Option<()> {
        let rest = &self.sql[self.at..];
        if rest.bytes().all(|b| b == b';' || b.is_ascii_whitespace()) { self.finish() } else { None }
    }

    /// Runs of white space are one blank.
    fn space(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        if !self.out.is_empty() {
            self.out.push(' ');
        }
    }

    fn operator(&mut self, byte: u8) {
        self.out.push(char::from(byte));
        self.at += 1;
        self.state.last = if byte == b'.' { Last::Name } else { Last::Operator };
    }

    fn open(&mut self) {
        self.state.depth += 1;
        self.operator(b'(');
    }

    fn close(&mut self) -> Option<()> {
        self.state.depth = self.state.depth.checked_sub(1)?;
        if self.state.targets.is_some_and(|depth| depth > self.state.depth) {
            self.state.targets = None;
        }
        self.operator(b')');
        self.state.last = Last::Operand;
        Some(())
    }

    /// `::type` behind something that was not lifted: the type's own parentheses are copied with it.
    fn cast(&mut self) -> Option<()> {
        self.out.push_str("::");
        self.at += 2;
        self.state.last = Last::Name;
        while self.bytes.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
        let start = self.at;
        self.take_while(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.');
        self.out.push_str(&self.sql[start..self.at]);
        if self.bytes.get(self.at) == Some(&b'(') {
            return None;
        }
        Some(())
    }

    fn take_while(&mut self, keep: impl Fn(u8) -> bool) {
        while self.bytes.get(self.at).is_some_and(|b| keep(*b)) {
            self.at += 1;
        }
    }

    fn quoted_name(&mut self) -> Option<()> {
        let end = self.sql[self.at + 1..].find('"')? + self.at + 2;
        self.out.push_str(&self.sql[self.at..end]);
        self.at = end;
        self.state.last = Last::Name;
        Some(())
    }

    fn word(&mut self) -> Option<()> {
        let start = self.at;
        self.take_while(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || b >= 0x80);
        let word = &self.sql[start..self.at];
        self.out.push_str(word);
        let mut buffer = [0u8; 12];
        let lower = match buffer.get_mut(..word.len()) {
            Some(short) if word.is_ascii() => {
                short.copy_from_slice(word.as_bytes());
                short.make_ascii_lowercase();
                &*short
            }
            // Longer than every keyword that matters here.
            _ => b"",
        };
        self.keyword(lower)
    }

    fn keyword(&mut self, word: &[u8]) -> Option<()> {
        if self.state.first.is_none() {
            self.state.first = Some(match word {
                b"select" => Verb::Select,
                b"insert" => Verb::Insert,
                b"update" => Verb::Update,
                b"delete" => Verb::Delete,
                _ => return None,
            });
        }
        self.state.last = match word {
            b"select" | b"returning" => {
                self.state.targets = Some(self.state.depth);
                Last::Keyword
            }
            b"from" | b"into" | b"where" | b"union" | b"limit" | b"having" => {
                if self.state.targets == Some(self.state.depth) {
                    self.state.targets = None;
                }
                Last::Keyword
            }
            b"values" | b"set" | b"and" | b"or" | b"not" | b"in" | b"between" | b"like" | b"ilike" | b"when" | b"then" | b"else"
            | b"case" | b"offset" | b"on" | b"any" | b"all" | b"to" => Last::Keyword,
            // Here numbers are ordinals, strings belong to types, or the shape depends on the values.
            b"order" | b"group" | b"by" | b"distinct" | b"interval" | b"cast" | b"extract" | b"fetch" | b"escape" | b"position"
            | b"window" | b"over" | b"collate" | b"with" | b"rollup" | b"cube" | b"merge" | b"similar" | b"array" | b"row" | b"overlay"
            | b"current" => return self.order_by(word),
            _ => Last::Name,
        };
        Some(())
    }

    /// `ORDER BY a, b DESC LIMIT 5` is common enough to look closer: names only, then an ordinary end.
    fn order_by(&mut self, word: &[u8]) -> Option<()> {
        if word != b"order" || self.state.depth > 0 {
            return None;
        }
        loop {
            match *self.bytes.get(self.at)? {
                b' ' | b'\t' | b'\n' | b'\r' => self.space(),
                b',' | b'.' => self.operator(self.bytes[self.at]),
                b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                    let start = self.at;
                    self.take_while(|b| b.is_ascii_alphanumeric() || b == b'_');
                    let name = &self.sql[start..self.at];
                    self.out.push_str(name);
                    match name.to_ascii_lowercase().as_str() {
                        "limit" | "offset" => {
                            self.state.last = Last::Keyword;
                            self.state.targets = None;
                            return Some(());
                        }
                        "for" => {
                            self.state.last = Last::Name;
                            return Some(());
                        }
                        _ => {}
                    }
                }
                b';' => return Some(()),
                _ => return None,
            }
            if self.at == self.bytes.len() {
                return Some(());
            }
        }
    }

    /// May the literal here become a parameter?
    fn liftable(&self) -> Option<bool> {
        match self.state.last {
            Last::Keyword | Last::Operator => Some(self.state.targets != Some(self.state.depth)),
            // `date '2020-01-01'`, `'a' 'b'`, `AS 5`: not ours to judge.
            _ => None,
        }
    }

    fn followed_by_cast(&self) -> bool {
        let rest = self.sql[self.at..].trim_start();
        rest.starts_with("::")
    }

    fn lift(&mut self, literal: LiftedLiteral, start: usize) -> Option<()> {
        let lift = self.liftable()?;
        self.state.last = Last::Operand;
        if !lift {
            self.out.push_str(&self.sql[start..self.at]);
            return Some(());
        }
        if self.followed_by_cast() || self.literals.len() == LITERALS_MAX {
            return None;
        }
        self.literals.push(literal);
        let number = self.literals.len();
        self.out.push('$');
        self.out.push_str(&number.to_string());
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        let start = self.at;
        self.take_while(|b| b.is_ascii_digit());
        let mut integer = true;
        if self.bytes.get(self.at) == Some(&b'.') {
            integer = false;
            self.at += 1;
            self.take_while(|b| b.is_ascii_digit());
        }
        if self.bytes.get(self.at).is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_' || *b == b'.') {
            return None;
        }
        let digits = &self.sql[start..self.at];
        let literal = match (integer, digits.parse::<i32>(), digits.parse::<i64>()) {
            (true, Ok(n), _) => LiftedLiteral::Int4(n),
            (true, _, Ok(n)) => LiftedLiteral::Int8(n),
            _ => LiftedLiteral::Numeric(digits.to_owned()),
        };
        self.negate_or_lift(literal, start)
    }

    /// `-5` is a literal when nothing that could be subtracted from stands before the sign; -2147483648 alone is an int4 although its digits are not.
    fn negate_or_lift(&mut self, literal: LiftedLiteral, start: usize) -> Option<()> {
        let before = self.out.strip_suffix('-').map(str::trim_end);
        let negative = before.is_some_and(|rest| rest.ends_with(['=', '(', ',', '<', '>', '+', '*', '/']));
        if negative && matches!(literal, LiftedLiteral::Int8(2_147_483_648) | LiftedLiteral::Numeric(_)) {
            return None;
        }
        self.lift(literal, start)
    }

    fn string(&mut self) -> Option<()> {
        let start = self.at;
        let mut value = String::new();
        self.at += 1;
        loop {
            let rest = &self.sql[self.at..];
            let quote = rest.find('\'')?;
            value.push_str(&rest[..quote]);
            self.at += quote + 1;
            if self.bytes.get(self.at) != Some(&b'\'') {
                break;
            }
            value.push('\'');
            self.at += 1;
        }
        // A literal on the next line would continue this one.
        if self.sql[self.at..].trim_start().starts_with('\'') {
            return None;
        }
        self.lift(LiftedLiteral::Unknown(value), start)
    }
}
