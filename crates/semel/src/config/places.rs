//! `[channels.ops]` and the like: places that steps call by a name.
//!
//! Owns which sections there are and which fields each has; what the fields mean is for whoever goes
//! there.

use std::collections::BTreeMap;

use toml::de::DeValue;

use super::file::{Problem, line_at, nearest};

/// One named place, and where it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) section: &'static str,
    pub(crate) name: String,
    /// Numbers and words as text.
    pub(crate) fields: BTreeMap<&'static str, String>,
    pub(crate) line: usize,
}

/// The sections, with the fields of what is in them.
pub(super) const SECTIONS: [(&str, &[&str]); 4] = [
    (
        "channels",
        &["slack", "token", "to", "api", "discord", "teams", "webhook"],
    ),
    ("connections", &["url", "password", "sessions"]),
    (
        "models",
        &[
            "api",
            "url",
            "model",
            "key",
            "max_tokens",
            "temperature",
            "input_per_million",
            "output_per_million",
            "currency",
        ],
    ),
    (
        "smtp",
        &[
            "host", "port", "tls", "user", "password", "from", "helo", "limit",
        ],
    ),
];

/// Reads a section; nothing if there is none of that name.
pub(super) fn read(
    text: &str,
    word: &str,
    value: &DeValue<'_>,
    at: usize,
) -> Option<Result<Vec<Place>, Problem>> {
    let (section, fields) = SECTIONS.into_iter().find(|(section, _)| *section == word)?;
    Some(places(text, section, fields, value, at))
}

fn places(
    text: &str,
    section: &'static str,
    fields: &'static [&'static str],
    value: &DeValue<'_>,
    at: usize,
) -> Result<Vec<Place>, Problem> {
    let a_table = |line| {
        let problem = format!("{section} must hold tables");
        let fix = format!("write [{section}.NAME] and below it {} = …", fields[0]);
        (line, problem, Some(fix))
    };
    let DeValue::Table(table) = value else {
        return Err(a_table(line_at(text, at)));
    };
    let mut found = Vec::new();
    for (name, place) in table {
        let line = line_at(text, name.span().start);
        let DeValue::Table(written) = place.get_ref() else {
            return Err(a_table(line));
        };
        let mut place = Place {
            section,
            name: name.get_ref().to_string(),
            fields: BTreeMap::new(),
            line,
        };
        for (field, value) in written {
            let line = line_at(text, field.span().start);
            let word: &str = field.get_ref();
            let Some(known) = fields.iter().find(|known| **known == word) else {
                let problem = format!("{section}.{} has no field {word:?}", place.name);
                return Err((line, problem, Some(nearest(word, fields))));
            };
            let value = plain(value.get_ref())
                .ok_or_else(|| (line, format!("{word} must be a text in quotes"), None))?;
            place.fields.insert(known, value);
        }
        found.push(place);
    }
    found.sort_by_key(|place| place.line);
    Ok(found)
}

fn plain(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(yes) => Some(yes.to_string()),
        _ => None,
    }
}

impl Place {
    /// Its fields in the words of the file. Secrets stand there by their names.
    pub(crate) fn text(&self) -> String {
        let fields = self.fields.iter();
        let fields: Vec<_> = fields
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        fields.join(", ")
    }
}
