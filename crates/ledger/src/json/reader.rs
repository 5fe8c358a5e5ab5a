//! The strict reader: one pass over the bytes, canonical text out.
//!
//! Every value is appended to one buffer; an object whose members did not come in order is
//! reordered in place when it closes, so the common, ordered case copies nothing.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use super::{JsonError, number};

/// How deeply arrays and objects may nest.
pub const MAX_DEPTH: usize = 64;

/// What can be wrong with JSON text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Nothing there.
    #[error("empty where a JSON value is due")]
    Empty,
    /// It stops in the middle.
    #[error("the JSON ends in the middle of a value")]
    Truncated,
    /// A byte that cannot stand there.
    #[error("unexpected character {0:?}")]
    Unexpected(char),
    /// Something follows the value.
    #[error("something follows the end of the JSON value")]
    Trailing,
    /// More than [`MAX_DEPTH`] levels.
    #[error("nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
    /// Not UTF-8.
    #[error("not valid UTF-8")]
    NotUtf8,
    /// `\ud800` without its other half.
    #[error("half a surrogate pair")]
    LoneSurrogate,
    /// `\u0000`, which databases and C programs cut texts at.
    #[error("the character U+0000 is not accepted")]
    Nul,
    /// An escape that JSON does not have.
    #[error("unknown escape")]
    BadEscape,
    /// A number beyond what readers can hold.
    #[error("a number beyond 1e±308, which few readers can hold")]
    NumberRange,
    /// The same member twice in an object.
    #[error("the member {0:?} appears twice in one object")]
    DuplicateMember(String),
}

type Result<T> = std::result::Result<T, JsonError>;

pub(super) fn read(bytes: &[u8]) -> Result<String> {
    let text = std::str::from_utf8(bytes).map_err(|e| JsonError {
        offset: e.valid_up_to(),
        fault: Fault::NotUtf8,
    })?;
    let bom = if text.starts_with('\u{feff}') {
        '\u{feff}'.len_utf8()
    } else {
        0
    };
    let mut reader = Reader {
        text,
        at: bom,
        out: String::with_capacity(text.len()),
    };
    reader.skip_space();
    if reader.at == text.len() {
        return Err(reader.fault(Fault::Empty));
    }
    reader.value(0)?;
    reader.skip_space();
    if reader.at < text.len() {
        return Err(reader.fault(Fault::Trailing));
    }
    Ok(reader.out)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    out: String,
}

/// A member already written to `out`, with what ordering needs.
struct Member<'a> {
    name: Cow<'a, str>,
    offset: usize,
    written: Range<usize>,
}

impl<'a> Reader<'a> {
    fn fault(&self, fault: Fault) -> JsonError {
        JsonError {
            offset: self.at,
            fault,
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn unexpected(&self) -> JsonError {
        match self.text[self.at..].chars().next() {
            Some(c) => self.fault(Fault::Unexpected(c)),
            None => self.fault(Fault::Truncated),
        }
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.peek() != Some(byte) {
            return Err(self.unexpected());
        }
        self.at += 1;
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<()> {
        match self.peek() {
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.array(depth + 1),
            Some(b'"') => self.string().map(drop),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            _ => Err(self.unexpected()),
        }
    }

    fn word(&mut self, word: &'static str) -> Result<()> {
        for byte in word.bytes() {
            self.expect(byte)?;
        }
        self.out.push_str(word);
        Ok(())
    }

    fn number(&mut self) -> Result<()> {
        let start = self.at;
        let (length, spelled) = number::scan(&self.text.as_bytes()[start..]);
        let Some(spelled) = spelled else {
            self.at += length;
            return Err(self.unexpected());
        };
        number::write(&spelled, &mut self.out).ok_or_else(|| self.fault(Fault::NumberRange))?;
        self.at += length;
        Ok(())
    }

    fn deeper(&mut self, depth: usize) -> Result<()> {
        if depth > MAX_DEPTH {
            return Err(self.fault(Fault::TooDeep));
        }
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    /// After an element: true if another follows, false once `close` was passed.
    fn another(&mut self, close: u8) -> Result<bool> {
        self.skip_space();
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(false);
        }
        self.expect(b',')?;
        self.skip_space();
        Ok(true)
    }

    fn array(&mut self, depth: usize) -> Result<()> {
        self.deeper(depth)?;
        self.out.push('[');
        if self.peek() == Some(b']') {
            self.at += 1;
            self.out.push(']');
            return Ok(());
        }
        loop {
            self.value(depth)?;
            if !self.another(b']')? {
                self.out.push(']');
                return Ok(());
            }
            self.out.push(',');
        }
    }

    fn object(&mut self, depth: usize) -> Result<()> {
        self.deeper(depth)?;
        self.out.push('{');
        if self.peek() == Some(b'}') {
            self.at += 1;
            self.out.push('}');
            return Ok(());
        }
        let first = self.out.len();
        let mut members = Vec::new();
        loop {
            members.push(self.member(depth)?);
            if !self.another(b'}')? {
                break;
            }
            self.out.push(',');
        }
        self.order(first, members)?;
        self.out.push('}');
        Ok(())
    }

    fn member(&mut self, depth: usize) -> Result<Member<'a>> {
        let (offset, start) = (self.at, self.out.len());
        if self.peek() != Some(b'"') {
            return Err(self.unexpected());
        }
        let name = self.string()?;
        self.skip_space();
        self.expect(b':')?;
        self.skip_space();
        self.out.push(':');
        self.value(depth)?;
        Ok(Member {
            name,
            offset,
            written: start..self.out.len(),
        })
    }

    fn order(&mut self, first: usize, mut members: Vec<Member<'_>>) -> Result<()> {
        let ordered = members.is_sorted_by(|a, b| utf16_order(&a.name, &b.name).is_lt());
        if ordered {
            return Ok(());
        }
        // Stable, so that of two equal names the later one is the one reported.
        members.sort_by(|a, b| utf16_order(&a.name, &b.name));
        if let Some(pair) = members.windows(2).find(|pair| pair[0].name == pair[1].name) {
            let fault = Fault::DuplicateMember(pair[1].name.clone().into_owned());
            return Err(JsonError {
                offset: pair[1].offset,
                fault,
            });
        }
        let written: Vec<&str> = members
            .iter()
            .map(|m| &self.out[m.written.clone()])
            .collect();
        let reordered = written.join(",");
        self.out.truncate(first);
        self.out.push_str(&reordered);
        Ok(())
    }

    /// Reads a string, writes it canonically and gives its plain text.
    fn string(&mut self) -> Result<Cow<'a, str>> {
        self.at += 1;
        let start = self.at;
        let end = self.plain_run();
        if self.peek() == Some(b'"') {
            self.at += 1;
            let plain = &self.text[start..end];
            self.out.push('"');
            self.out.push_str(plain);
            self.out.push('"');
            return Ok(Cow::Borrowed(plain));
        }
        let mut plain = self.text[start..end].to_owned();
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    let c = self.escape()?;
                    plain.push(c);
                }
                _ => return Err(self.unexpected()),
            }
            let run = self.at;
            let end = self.plain_run();
            plain.push_str(&self.text[run..end]);
        }
        self.at += 1;
        write_string(&plain, &mut self.out);
        Ok(Cow::Owned(plain))
    }

    /// Moves past characters that stand for themselves; gives where they end.
    fn plain_run(&mut self) -> usize {
        while let Some(byte) = self.peek() {
            if byte < 0x20 || byte == b'"' || byte == b'\\' {
                break;
            }
            self.at += 1;
        }
        self.at
    }

    fn escape(&mut self) -> Result<char> {
        let start = self.at;
        let at_start = |fault| JsonError {
            offset: start,
            fault,
        };
        self.at += 1;
        let letter = self.peek().ok_or_else(|| self.fault(Fault::Truncated))?;
        self.at += 1;
        let plain = match letter {
            b'"' | b'\\' | b'/' => letter.into(),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = self.hex()?;
                match unit {
                    0 => return Err(at_start(Fault::Nul)),
                    0xD800..=0xDBFF => self
                        .low_surrogate(unit)
                        .ok_or_else(|| at_start(Fault::LoneSurrogate))?,
                    _ => char::from_u32(unit).ok_or_else(|| at_start(Fault::LoneSurrogate))?,
                }
            }
            _ => return Err(at_start(Fault::BadEscape)),
        };
        Ok(plain)
    }

    fn low_surrogate(&mut self, high: u32) -> Option<char> {
        if !self.text[self.at..].starts_with("\\u") {
            return None;
        }
        self.at += 2;
        let low = self
            .hex()
            .ok()
            .filter(|low| (0xDC00..=0xDFFF).contains(low))?;
        char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00))
    }

    fn hex(&mut self) -> Result<u32> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            unit = unit * 16 + digit.ok_or_else(|| self.unexpected())?;
            self.at += 1;
        }
        Ok(unit)
    }
}

/// The order of RFC 8785: by UTF-16 code units.
fn utf16_order(a: &str, b: &str) -> Ordering {
    if a.is_ascii() && b.is_ascii() {
        return a.cmp(b);
    }
    a.encode_utf16().cmp(b.encode_utf16())
}

fn write_string(plain: &str, out: &mut String) {
    out.push('"');
    for c in plain.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => {
                out.push_str("\\u00");
                out.push(char::from_digit(u32::from(c) >> 4, 16).unwrap_or('0'));
                out.push(char::from_digit(u32::from(c) & 15, 16).unwrap_or('0'));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
