//! The values that expressions work on: JSON, kept exactly, and text that hides a secret.
//!
//! Owns conversion from and to JSON text. Cloning is cheap: everything long is shared.
//! The invariant: a number that came in as JSON goes out with the same value to the last digit,
//! and a secret never becomes text here: only its name does.

mod json;

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_ledger::Time;

pub use json::JsonText;

/// Members of an object.
pub type Map = BTreeMap<Arc<str>, Value>;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number that fits 64 bits.
    Int(i64),
    /// Any other number.
    Decimal(Decimal),
    /// Text.
    Text(Arc<str>),
    /// A list.
    List(Arc<Vec<Value>>),
    /// An object.
    Map(Arc<Map>),
    /// An instant.
    Time(Time),
    /// A span of time in milliseconds; may be negative.
    Span(i64),
    /// Text with a secret in it: may be sent, never shown, compared or put in a key.
    Sealed(Arc<[Piece]>),
}

/// A number in its canonical JSON spelling that is not a 64-bit whole number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decimal(Arc<str>);

impl Decimal {
    /// The number as arithmetic sees it.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        self.0.parse().unwrap_or(f64::NAN)
    }

    /// Its spelling.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A part of text that hides a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// As it is.
    Plain(Arc<str>),
    /// The secret of that name.
    Secret(Arc<str>),
}

impl Value {
    /// Text.
    #[must_use]
    pub fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    /// An object of these members.
    #[must_use]
    pub fn map<K: Into<Arc<str>>>(members: impl IntoIterator<Item = (K, Value)>) -> Value {
        let members = members
            .into_iter()
            .map(|(name, value)| (name.into(), value));
        Value::Map(Arc::new(members.collect()))
    }

    /// A list of these items.
    #[must_use]
    pub fn list(items: Vec<Value>) -> Value {
        Value::List(Arc::new(items))
    }

    /// The member of that name, if this is an object that has it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Value::Map(map) => map.get(name),
            _ => None,
        }
    }

    /// The text, if it is text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Whether a secret is in it somewhere: such a value may be sent, but not kept.
    #[must_use]
    pub fn hides_secret(&self) -> bool {
        match self {
            Value::Sealed(_) => true,
            Value::List(items) => items.iter().any(Value::hides_secret),
            Value::Map(members) => members.values().any(Value::hides_secret),
            _ => false,
        }
    }

    /// What kind of value it is, in words for people.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a bool",
            Value::Int(_) => "a whole number",
            Value::Decimal(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "an object",
            Value::Time(_) => "a time",
            Value::Span(_) => "a duration",
            Value::Sealed(_) => "a secret",
        }
    }
}

#[cfg(test)]
mod tests;
