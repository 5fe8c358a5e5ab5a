//! `semel.toml`: a flat table of settings; anything else in it is an error with its line.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::Context as _;
use toml::de::{DeTable, DeValue};

use super::Name;
use crate::failure::Failure;

/// One setting of a file.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) name: Name,
    pub(super) value: String,
    pub(super) line: usize,
}

/// The settings of a file; none if there is no such file.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<Found>> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
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

type Problem = (usize, String, Option<String>);

pub(super) fn parse(text: &str) -> Result<Vec<Found>, Problem> {
    let line_at = |offset: usize| text[..offset.min(text.len())].matches('\n').count() + 1;
    let table = DeTable::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_at(span.start));
        (line, error.message().to_owned(), None)
    })?;
    let mut found = Vec::new();
    for (key, value) in table.get_ref() {
        let line = line_at(key.span().start);
        let word: &str = key.get_ref();
        let Some(name) = Name::ALL.into_iter().find(|name| name.in_file() == word) else {
            return Err((
                line,
                format!("there is no setting {word:?}"),
                Some(help(word)),
            ));
        };
        let DeValue::String(value) = value.get_ref() else {
            let problem = format!("{word} must be a text in quotes");
            return Err((line, problem, None));
        };
        found.push(Found {
            name,
            value: value.clone().into_owned(),
            line,
        });
    }
    found.sort_by_key(|setting| setting.line);
    Ok(found)
}

fn help(word: &str) -> String {
    if word == "token" {
        return "a token does not belong here: write it to a file of its own (mode 600) and name \
                that with token_file"
            .to_owned();
    }
    let names = Name::ALL.map(Name::in_file);
    let nearest = names.into_iter().min_by_key(|name| distance(word, name));
    match nearest.filter(|name| distance(word, name) <= 2) {
        Some(name) => format!("did you mean {name:?}?"),
        None => format!("the settings are {}", names.join(", ")),
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
