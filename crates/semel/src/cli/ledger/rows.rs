//! Rows to import, checked one by one before any is sent.

use jiff::Timestamp;
use semel_ledger::json::Canonical;
use semel_ledger::{EffectId, Key, Millis, Scope};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::csv;

/// How the file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    Csv,
    Jsonl,
}

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Good rows, as the API takes them, with their lines.
    pub(super) good: Vec<(usize, Box<RawValue>)>,
    pub(super) wrong: Vec<(usize, String)>,
    /// Lines of an export that say that nothing happened, or that nobody knows.
    pub(super) not_done: Vec<(usize, String)>,
}

/// What a line may say. An export says more than an import needs.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    scope: Option<String>,
    key: Option<String>,
    parts: Option<Vec<String>>,
    at: Option<String>,
    result: Option<Box<RawValue>>,
    external_id: Option<String>,
    remember: Option<String>,
    state: Option<String>,
    #[serde(rename = "changed_at")]
    _changed_at: Option<String>,
    #[serde(rename = "attempt")]
    _attempt: Option<u64>,
    #[serde(rename = "created_at")]
    _created_at: Option<String>,
    #[serde(rename = "reason")]
    _reason: Option<String>,
}

/// A row as the API takes it.
#[derive(Debug, Serialize)]
struct Row<'a> {
    scope: &'a str,
    key: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    external_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remember: Option<String>,
}

/// Reads a whole file. `scope` stands in where a row has none.
pub(super) fn read(text: &str, format: Format, scope: Option<&str>) -> Rows {
    let mut rows = Rows::default();
    let mut take =
        |line: usize, raw: Result<Raw, String>| match raw.and_then(|raw| check(raw, scope)) {
            Ok(Checked::Good(row)) => rows.good.push((line, row)),
            Ok(Checked::NotDone(state)) => rows.not_done.push((line, state)),
            Err(problem) => rows.wrong.push((line, problem)),
        };
    match format {
        Format::Jsonl => {
            let text = text.trim_start_matches('\u{feff}');
            for (index, line) in text.lines().enumerate() {
                if !line.trim().is_empty() {
                    take(index + 1, read_line(line));
                }
            }
        }
        Format::Csv => match csv::read(text) {
            Ok(records) => read_csv(records, &mut take),
            Err((line, problem)) => take(line, Err(problem.to_owned())),
        },
    }
    rows
}

fn read_line(line: &str) -> Result<Raw, String> {
    // Stricter than serde: a member twice, or a number that cannot be exact, is an error.
    Canonical::read(line.as_bytes()).map_err(|error| format!("is not JSON: {error}"))?;
    serde_json::from_str(line).map_err(|error| {
        let said = error.to_string();
        said.split(" at line ").next().unwrap_or(&said).to_owned()
    })
}

const COLUMNS: [&str; 6] = ["scope", "key", "external_id", "at", "result", "remember"];

fn read_csv(records: Vec<csv::Record>, take: &mut impl FnMut(usize, Result<Raw, String>)) {
    let mut records = records.into_iter();
    let Some(header) = records.next() else {
        return;
    };
    let names: Vec<&str> = header.fields.iter().map(|name| name.trim()).collect();
    if let Some(name) = names.iter().find(|name| !COLUMNS.contains(name)) {
        let known = COLUMNS.join(",");
        let problem = format!(
            "the column {name:?} is not known; the first line names the columns, of {known}"
        );
        return take(header.line, Err(problem));
    }
    if !names.contains(&"key") {
        return take(header.line, Err("there is no column key".to_owned()));
    }
    for record in records {
        let raw = if record.fields.len() == names.len() {
            let pairs = names.iter().copied().zip(record.fields);
            from_fields(pairs)
        } else {
            let (found, due) = (record.fields.len(), names.len());
            Err(format!("has {found} fields where {due} are due"))
        };
        take(record.line, raw);
    }
}

fn from_fields<'a>(fields: impl Iterator<Item = (&'a str, String)>) -> Result<Raw, String> {
    let mut raw = Raw::default();
    for (name, value) in fields.filter(|(_, value)| !value.is_empty()) {
        match name {
            "scope" => raw.scope = Some(value),
            "key" => raw.key = Some(value),
            "external_id" => raw.external_id = Some(value),
            "at" => raw.at = Some(value),
            "remember" => raw.remember = Some(value),
            _ => raw.result = Some(json_or_text(value)?),
        }
    }
    Ok(raw)
}

/// A result is JSON where it reads as JSON, and a text where it does not.
fn json_or_text(value: String) -> Result<Box<RawValue>, String> {
    let text = match Canonical::read(value.as_bytes()) {
        Ok(_) => value,
        Err(_) => serde_json::to_string(&value).map_err(|error| error.to_string())?,
    };
    RawValue::from_string(text).map_err(|error| error.to_string())
}

enum Checked {
    Good(Box<RawValue>),
    NotDone(String),
}

fn check(raw: Raw, scope: Option<&str>) -> Result<Checked, String> {
    if let Some(state) = raw
        .state
        .filter(|state| state != "done" && state != "undone")
    {
        return Ok(Checked::NotDone(state));
    }
    let scope = raw.scope.as_deref().or(scope);
    let scope = scope.ok_or("has no scope; add one, or give --scope")?;
    let key = match (&raw.key, &raw.parts) {
        (Some(key), None) => key.parse::<Key>(),
        (None, Some(parts)) => Key::from_parts(parts),
        (Some(_), Some(_)) => return Err("has both key and parts; give one".to_owned()),
        (None, None) => return Err("has no key".to_owned()),
    };
    let effect = EffectId::new(
        Scope::new(scope).map_err(|error| error.to_string())?,
        key.map_err(|error| error.to_string())?,
    );
    let at = raw.at.as_deref().map(time).transpose()?;
    if let Some(remember) = &raw.remember {
        let span = remember.parse::<Millis>();
        span.map_err(|error| format!("remember {remember:?} {error}"))?;
    }
    let row = Row {
        scope: effect.scope.as_str(),
        key: effect.key.as_str(),
        at,
        result: raw.result.filter(|result| result.get() != "null"),
        external_id: raw.external_id,
        remember: raw.remember,
    };
    let row = serde_json::value::to_raw_value(&row);
    row.map(Checked::Good).map_err(|error| error.to_string())
}

/// When it happened: a time or a date; a span would mean something else at every import.
fn time(text: &str) -> Result<String, String> {
    let is_span = text.parse::<Millis>().is_ok();
    let at: Result<Timestamp, String> = if is_span {
        Err(String::new())
    } else {
        crate::when::read(text)
    };
    let wrong = format!("at {text:?} is not a time; write 2026-03-01T12:00:00Z or 2026-03-01");
    at.map(|at| at.to_string()).map_err(|_| wrong)
}
