//! Values from and to JSON text.

use std::fmt::Write as _;
use std::sync::Arc;

use jiff::Timestamp;
use semel_ledger::Time;
use semel_ledger::json::{Canonical, JsonError};

use super::{Decimal, Map, Piece, Value};

/// Canonical JSON text that values are made of; known to be well-formed.
struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Value {
    /// Reads any JSON text, strictly.
    ///
    /// # Errors
    /// [`JsonError`] with the offset of the first byte that is wrong.
    pub fn read(bytes: &[u8]) -> Result<Value, JsonError> {
        Canonical::read(bytes).map(|text| Value::of(&text))
    }

    /// The value that canonical text spells.
    #[must_use]
    pub fn of(text: &Canonical) -> Value {
        let mut reader = Reader {
            text: text.as_str(),
            at: 0,
        };
        reader.value()
    }

    /// A number that arithmetic gave; `None` for what JSON cannot say.
    #[must_use]
    pub fn number(number: f64) -> Option<Value> {
        if !number.is_finite() {
            return None;
        }
        let text = Canonical::read(format!("{number}").as_bytes()).ok()?;
        Some(Value::of(&text))
    }

    /// The value as JSON text; secrets appear by name only.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = String::new();
        self.write_json(&mut text);
        text
    }

    /// The value in its one canonical spelling, as fingerprints and the ledger want it.
    ///
    /// # Errors
    /// [`JsonError`] if it is nested too deeply.
    pub fn to_canonical(&self) -> Result<Canonical, JsonError> {
        Canonical::read(self.to_json().as_bytes())
    }

    fn write_json(&self, out: &mut String) {
        match self {
            Value::Null => out.push_str("null"),
            Value::Bool(bool) => out.push_str(if *bool { "true" } else { "false" }),
            Value::Int(int) => {
                let _ = write!(out, "{int}");
            }
            Value::Decimal(Decimal(text)) => out.push_str(text),
            Value::Text(text) => write_text(out, text),
            Value::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write_json(out);
                }
                out.push(']');
            }
            Value::Map(members) => {
                out.push('{');
                for (index, (name, value)) in members.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    write_text(out, name);
                    out.push(':');
                    value.write_json(out);
                }
                out.push('}');
            }
            Value::Time(_) | Value::Span(_) | Value::Sealed(_) => {
                write_text(out, &self.shown());
            }
        }
    }

    /// The value as text for people and templates: text as it is, secrets by name, all else as JSON.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Value::Text(text) => text.as_ref().to_owned(),
            Value::Time(Time(millis)) => Timestamp::from_millisecond(*millis)
                .map_or_else(|_| millis.to_string(), |time| time.to_string()),
            Value::Span(millis) => {
                let sign = if *millis < 0 { "-" } else { "" };
                format!("{sign}{}", semel_ledger::Millis(millis.unsigned_abs()))
            }
            Value::Sealed(pieces) => pieces.iter().map(Piece::shown).collect(),
            other => other.to_json(),
        }
    }
}

impl Piece {
    /// The text, or the secret's name.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Piece::Plain(text) => text.as_ref().to_owned(),
            Piece::Secret(name) => format!("${{{{ secrets.{name} }}}}"),
        }
    }
}

fn write_text(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// A value that is written as JSON when it is shown.
#[derive(Clone, Copy, Debug)]
pub struct JsonText<'v>(pub &'v Value);

impl std::fmt::Display for JsonText<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.to_json())
    }
}

impl Reader<'_> {
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn value(&mut self) -> Value {
        match self.peek() {
            b'n' => self.word(4, Value::Null),
            b't' => self.word(4, Value::Bool(true)),
            b'f' => self.word(5, Value::Bool(false)),
            b'"' => Value::Text(self.string()),
            b'[' => self.list(),
            b'{' => self.map(),
            _ => self.number(),
        }
    }

    fn word(&mut self, length: usize, value: Value) -> Value {
        self.at += length;
        value
    }

    fn list(&mut self) -> Value {
        let mut items = Vec::new();
        self.at += 1;
        while self.peek() != b']' && self.at < self.text.len() {
            items.push(self.value());
            if self.peek() == b',' {
                self.at += 1;
            }
        }
        self.at += 1;
        Value::list(items)
    }

    fn map(&mut self) -> Value {
        let mut members = Map::new();
        self.at += 1;
        while self.peek() != b'}' && self.at < self.text.len() {
            let name = self.string();
            self.at += 1;
            members.insert(name, self.value());
            if self.peek() == b',' {
                self.at += 1;
            }
        }
        self.at += 1;
        Value::Map(Arc::new(members))
    }

    fn number(&mut self) -> Value {
        let rest = &self.text[self.at..];
        let length = rest
            .bytes()
            .take_while(|b| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
            .count()
            .max(1);
        let text = &rest[..length];
        self.at += length;
        text.parse()
            .map_or_else(|_| Value::Decimal(Decimal(text.into())), Value::Int)
    }

    fn string(&mut self) -> Arc<str> {
        let rest = &self.text[self.at + 1..];
        let plain = rest
            .bytes()
            .take_while(|b| !matches!(b, b'"' | b'\\'))
            .count();
        if rest.as_bytes().get(plain) == Some(&b'"') {
            self.at += plain + 2;
            return rest[..plain].into();
        }
        let mut text = rest[..plain].to_owned();
        let mut chars = rest[plain..].char_indices();
        let mut used = rest.len();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    used = plain + at + 1;
                    break;
                }
                '\\' => text.extend(chars.next().map(|(_, c)| unescaped(c, &mut chars))),
                c => text.push(c),
            }
        }
        self.at += used + 1;
        text.into()
    }
}

/// Canonical text escapes only what it must, so a `\u` is always a control character.
fn unescaped(c: char, rest: &mut std::str::CharIndices<'_>) -> char {
    match c {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'u' => {
            let digits: String = rest.take(4).map(|(_, c)| c).collect();
            u32::from_str_radix(&digits, 16)
                .ok()
                .and_then(char::from_u32)
                .unwrap_or('\u{fffd}')
        }
        c => c,
    }
}
