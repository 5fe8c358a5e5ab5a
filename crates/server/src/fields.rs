//! The members of a JSON object, taken one by one with their types, so that every mistake can be
//! named. A member that is null is as good as absent, except where any value may stand.

use std::borrow::Cow;
use std::fmt;

use semel_ledger::Millis;
use semel_store::blob::unhex;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::code::Code;
use crate::problem::Problem;
use crate::suggest::nearest;

/// The members of an object.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    members: Vec<(Cow<'a, str>, &'a RawValue)>,
    /// Stands before the names of members in messages: `process.`
    within: &'static str,
}

#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members<'a>, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((Name(name), value)) = map.next_entry::<Name<'de>, _>()? {
                    members.push((name, value));
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Reader).map(Members)
    }
}

impl<'a> Fields<'a> {
    /// The members of what is already known to be JSON.
    pub(crate) fn parse(text: &'a str) -> Result<Fields<'a>, Problem> {
        Fields::parse_within(text, "")
    }

    fn parse_within(text: &'a str, within: &'static str) -> Result<Fields<'a>, Problem> {
        let Ok(Members(members)) = serde_json::from_str(text) else {
            let what = match within {
                "" => "the body",
                within => within.trim_end_matches('.'),
            };
            let detail = format!("{what} must be a JSON object, such as {{}}");
            return Err(Problem::new(Code::FieldInvalid, detail).field(what));
        };
        Ok(Fields { members, within })
    }

    /// Refuses members that are not among `known`.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), Problem> {
        let stranger = self
            .members
            .iter()
            .find(|(name, _)| !known.contains(&name.as_ref()));
        let Some((name, _)) = stranger else {
            return Ok(());
        };
        let full = format!("{}{name}", self.within);
        let detail = format!("the field {full:?} is not known here");
        let problem = Problem::new(Code::FieldUnknown, detail).field(&full);
        Err(match nearest(name, known) {
            Some(meant) => problem.fix(&format!("did you mean {meant}?")),
            None => problem.fix(&format!("known are: {}", known.join(", "))),
        })
    }

    /// Any value, as it is written; null too.
    pub(crate) fn any(&self, name: &str) -> Option<&'a str> {
        let member = self.members.iter().find(|(other, _)| other == name);
        member.map(|(_, value)| value.get())
    }

    fn given(&self, name: &str) -> Option<&'a str> {
        self.any(name).filter(|value| *value != "null")
    }

    /// A member that cannot be used, and why.
    pub(crate) fn invalid(&self, name: &str, why: &str) -> Problem {
        let full = format!("{}{name}", self.within);
        Problem::new(Code::FieldInvalid, format!("{full} {why}")).field(&full)
    }

    /// A member that must be there.
    pub(crate) fn need<T>(&self, name: &str, value: Option<T>) -> Result<T, Problem> {
        value.ok_or_else(|| {
            let full = format!("{}{name}", self.within);
            Problem::new(Code::FieldMissing, format!("the field {full} is needed")).field(&full)
        })
    }

    fn typed<T: Deserialize<'a>>(&self, name: &str, kind: &str) -> Result<Option<T>, Problem> {
        let Some(value) = self.given(name) else {
            return Ok(None);
        };
        let read = serde_json::from_str(value);
        read.map(Some)
            .map_err(|_| self.invalid(name, &format!("must be {kind}")))
    }

    /// A text of any content.
    pub(crate) fn text(&self, name: &str) -> Result<Option<Cow<'a, str>>, Problem> {
        let text: Option<Name<'a>> = self.typed(name, "a text")?;
        Ok(text.map(|Name(text)| text))
    }

    /// A text of up to `limit` bytes.
    pub(crate) fn note(&self, name: &str, limit: usize) -> Result<Option<Box<str>>, Problem> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        if text.len() > limit {
            let why = format!("has {} bytes; the limit is {limit}", text.len());
            return Err(self.invalid(name, &why).limit(limit));
        }
        Ok(Some(text.into()))
    }

    /// A name of 1 to 255 bytes on one line.
    pub(crate) fn name(&self, name: &str) -> Result<Option<Box<str>>, Problem> {
        let Some(text) = self.note(name, semel_ledger::key::MAX_NAME_BYTES)? else {
            return Ok(None);
        };
        if text.trim().is_empty() {
            return Err(self.invalid(name, "is empty or blank; leave it out or name something"));
        }
        if text.chars().any(char::is_control) {
            return Err(self.invalid(name, "has control characters, such as a line break"));
        }
        Ok(Some(text))
    }

    /// One of a few words.
    pub(crate) fn word<T>(
        &self,
        name: &str,
        read: impl FnOnce(&str) -> Option<T>,
        words: &[&str],
    ) -> Result<Option<T>, Problem> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let wrong = || {
            let problem = self.invalid(name, &format!("must be one of {}", words.join(", ")));
            match nearest(&text, words) {
                Some(meant) => problem.fix(&format!("did you mean {meant}?")),
                None => problem,
            }
        };
        read(&text).map(Some).ok_or_else(wrong)
    }

    /// A span between two others.
    pub(crate) fn span(
        &self,
        name: &str,
        least: Millis,
        most: Millis,
    ) -> Result<Option<Millis>, Problem> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let span: Millis = text
            .parse()
            .map_err(|error: semel_ledger::time::SpanError| {
                self.invalid(name, &error.to_string())
            })?;
        if span < least || span > most {
            let mut problem = self.invalid(name, &format!("must be from {least} to {most}"));
            let bound = if span < least { least } else { most };
            problem.more.text("limit", &bound.to_string());
            return Err(problem);
        }
        Ok(Some(span))
    }

    /// So many bytes in hexadecimal digits.
    pub(crate) fn hex<const N: usize>(&self, name: &str) -> Result<Option<[u8; N]>, Problem> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let wrong = || self.invalid(name, &format!("must be {} lower-case hex digits", 2 * N));
        unhex(&text).map(Some).ok_or_else(wrong)
    }

    /// A whole number.
    pub(crate) fn number<T: Deserialize<'a>>(&self, name: &str) -> Result<Option<T>, Problem> {
        self.typed(name, "a whole number, not negative")
    }

    /// True or false; false if it is not given.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, Problem> {
        let flag = self.typed(name, "true or false")?;
        Ok(flag.unwrap_or(false))
    }

    /// A list.
    pub(crate) fn list(&self, name: &str) -> Result<Option<Vec<&'a RawValue>>, Problem> {
        self.typed(name, "a list")
    }

    /// A list of texts.
    pub(crate) fn texts(&self, name: &str) -> Result<Option<Vec<String>>, Problem> {
        self.typed(name, "a list of texts")
    }

    /// An object in the object.
    pub(crate) fn object(
        &self,
        name: &str,
        within: &'static str,
    ) -> Result<Option<Fields<'a>>, Problem> {
        let given = self.given(name);
        given
            .map(|text| Fields::parse_within(text, within))
            .transpose()
    }
}
