//! `semel.toml`: settings by name, some in tables; anything else in it is an error with its line.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::Context as _;
use toml::de::{DeTable, DeValue};

use super::Name;
use super::destinations::{self, Destination};
use super::groups::{self, Group};
use super::places::{self, Place};
use crate::failure::Failure;

/// One setting of a file.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) name: Name,
    pub(super) value: String,
    pub(super) line: usize,
}

/// What a file says.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) settings: Vec<Found>,
    pub(super) destinations: Vec<Destination>,
    pub(super) places: Vec<Place>,
    pub(super) groups: Vec<Group>,
}

/// What a file says; nothing if there is no such file.
pub(super) fn read(path: &Path) -> anyhow::Result<Contents> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Contents::default()),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read {}", path.display()));
        }
    };
    parse(&text).map_err(|(line, problem, fix)| {
        let failure = Failure::usage(format!("{}:{line}: {problem}", path.display()));
        match fix {
            Some(fix) => failure.fix(fix).into(),
            None => failure.into(),
        }
    })
}

/// A line, what is wrong there, and what to do.
pub(super) type Problem = (usize, String, Option<String>);

/// The line of an offset.
pub(super) fn line_at(text: &str, offset: usize) -> usize {
    text[..offset.min(text.len())].matches('\n').count() + 1
}

pub(super) fn parse(text: &str) -> Result<Contents, Problem> {
    let table = DeTable::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_at(text, span.start));
        (line, error.message().to_owned(), None)
    })?;
    let mut contents = Contents::default();
    for (key, value) in table.get_ref() {
        let word: &str = key.get_ref();
        match (word, value.get_ref()) {
            ("destinations", value) => {
                contents.destinations = destinations::read(text, value, key.span().start)?;
            }
            ("groups", value) => {
                contents.groups = groups::read(text, value, key.span().start)?;
            }
            // A table whose members are settings with a dot in their names.
            ("outgoing" | "exec" | "ssh" | "otlp", DeValue::Table(members)) => {
                for (member, value) in members {
                    let line = line_at(text, member.span().start);
                    let word = format!("{word}.{}", member.get_ref());
                    contents
                        .settings
                        .push(setting(&word, value.get_ref(), line)?);
                }
            }
            (word, value) => {
                if let Some(found) = places::read(text, word, value, key.span().start) {
                    contents.places.extend(found?);
                    continue;
                }
                let line = line_at(text, key.span().start);
                contents.settings.push(setting(word, value, line)?);
            }
        }
    }
    contents.settings.sort_by_key(|setting| setting.line);
    Ok(contents)
}

fn setting(word: &str, value: &DeValue<'_>, line: usize) -> Result<Found, Problem> {
    let Some(name) = Name::ALL.into_iter().find(|name| name.in_file() == word) else {
        let problem = format!("there is no setting {word:?}");
        return Err((line, problem, Some(help(word))));
    };
    let value = match (name, value) {
        (_, DeValue::String(text)) => text.clone().into_owned(),
        (Name::Runs, DeValue::Integer(number)) => number.to_string(),
        (Name::OutgoingAllow | Name::OutgoingNoProxy | Name::ExecAllow, DeValue::Array(items)) => {
            let texts = items.iter().map(|item| match item.get_ref() {
                DeValue::String(text) => Ok(text.as_ref()),
                _ => Err((line, format!("{word} must hold texts in quotes"), None)),
            });
            let between = if name == Name::ExecAllow { ":" } else { "," };
            texts.collect::<Result<Vec<_>, _>>()?.join(between)
        }
        (Name::Runs, _) => return Err((line, format!("{word} must be a whole number"), None)),
        _ => return Err((line, format!("{word} must be a text in quotes"), None)),
    };
    Ok(Found { name, value, line })
}

fn help(word: &str) -> String {
    if word == "token" {
        return "a token does not belong here: write it to a file of its own (mode 600) and name \
                that with token_file"
            .to_owned();
    }
    let mut names = Name::ALL.map(Name::in_file).to_vec();
    names.extend(["destinations", "groups"]);
    names.extend(places::SECTIONS.map(|(section, _)| section));
    nearest(word, &names)
}

/// What was most likely meant, or all that there is.
pub(super) fn nearest(word: &str, names: &[&str]) -> String {
    let nearest = names.iter().min_by_key(|name| distance(word, name));
    match nearest.filter(|name| distance(word, name) <= 2) {
        Some(name) => format!("did you mean {name:?}?"),
        None => format!("there are {}", names.join(", ")),
    }
}

/// How many letters must change to turn one word into the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
