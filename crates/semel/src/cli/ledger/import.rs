//! `semel ledger import`: what happened before Semel was there.

use std::io::Read as _;
use std::path::Path;

use anyhow::Context as _;
use clap::Args;
use hyper::Method;
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use super::rows::{self, Format, Rows};
use crate::cli::Context;
use crate::client::{Access, Answer, Call, Client, Session};
use crate::failure::Failure;
use crate::term::shown;

/// Record keys that were done before, so that they are not done again
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Import {
    /// The file, or - for stdin
    file: String,
    /// The scope of rows that have none
    #[arg(long)]
    scope: Option<String>,
    /// How the file is written [default: by its name, else by its first character]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Import the good rows although others are wrong
    #[arg(long)]
    skip_bad: bool,
}

const AFTER_HELP: &str = "\
CSV needs a first line with column names: key, and any of scope,external_id,at,result,remember.
JSON Lines have the same names; what `semel ledger export` prints is read too.
If any line is wrong, all wrong lines are shown and nothing is imported.

EXAMPLE
  semel ledger import sent.csv --scope welcome-email
  psql -Atc \"select json_build_object('key', id) from sent\" | semel ledger import - --scope welcome-email";

/// How many rows and bytes one call may bring.
const MAX_ROWS: usize = 1000;
const MAX_BYTES: usize = 900 * 1024;
/// How many wrong lines are shown.
const MAX_SHOWN: usize = 50;

#[derive(Debug, Default, Deserialize)]
struct Counts {
    imported: u64,
    existing: u64,
}

/// Not made with `json!`, which would round numbers.
#[derive(Debug, Serialize)]
struct Body<'a> {
    effects: Vec<&'a RawValue>,
}

impl Import {
    pub(super) async fn run(self, client: &Client, json: bool) -> anyhow::Result<u8> {
        let text = self.text()?;
        let rows = rows::read(&text, self.format(&text), self.scope.as_deref());
        self.tell_wrong(&rows);
        if !rows.wrong.is_empty() && !self.skip_bad {
            let count = rows.wrong.len();
            let message = format!(
                "{count} of {} lines are wrong; nothing was imported",
                total(&rows)
            );
            return Err(Failure::usage(message)
                .fix("correct them, or leave them out with --skip-bad")
                .into());
        }
        let session = client.connect(Access::Create).await?;
        let counts = send_all(&session, &rows.good).await?;
        session.close().await?;
        let (wrong, not_done) = (rows.wrong.len(), rows.not_done.len());
        if json {
            let errors: Vec<_> = rows
                .wrong
                .iter()
                .map(|(line, error)| json!({"line": line, "error": error}))
                .collect();
            Context::print_json(&json!({
                "imported": counts.imported, "existing": counts.existing,
                "skipped": wrong, "not_done": not_done, "errors": errors,
            }))?;
        }
        say!(
            "semel: {} imported, {} were on record already, {wrong} wrong, {not_done} not done",
            counts.imported,
            counts.existing
        );
        Ok(0)
    }

    fn text(&self) -> anyhow::Result<String> {
        let mut bytes = Vec::new();
        if self.file == "-" {
            std::io::stdin()
                .lock()
                .read_to_end(&mut bytes)
                .context("cannot read stdin")?;
        } else {
            bytes =
                std::fs::read(&self.file).with_context(|| format!("cannot read {}", self.file))?;
        }
        String::from_utf8(bytes).map_err(|error| {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = before.split(|byte| *byte == b'\n').count();
            Failure::usage(format!("{}:{line}: is not UTF-8", self.file)).into()
        })
    }

    fn format(&self, text: &str) -> Format {
        let extension = Path::new(&self.file)
            .extension()
            .and_then(|name| name.to_str());
        match (self.format, extension) {
            (Some(format), _) => format,
            (None, Some("csv")) => Format::Csv,
            (None, Some("jsonl" | "ndjson" | "json")) => Format::Jsonl,
            _ if text
                .trim_start_matches('\u{feff}')
                .trim_start()
                .starts_with('{') =>
            {
                Format::Jsonl
            }
            _ => Format::Csv,
        }
    }

    fn tell_wrong(&self, rows: &Rows) {
        for (line, problem) in rows.wrong.iter().take(MAX_SHOWN) {
            say!("{}:{line}: {}", shown(&self.file), shown(problem));
        }
        if let Some(more) = rows.wrong.len().checked_sub(MAX_SHOWN + 1) {
            say!("… and {} more", more + 1);
        }
        let open = |(_, state): &&(usize, String)| {
            matches!(state.as_str(), "claimed" | "unknown" | "review")
        };
        let open: Vec<_> = rows.not_done.iter().filter(open).collect();
        if let Some((line, state)) = open.first() {
            say!(
                "semel: warning: {} lines (the first is {line}) say {state} or the like: nobody knows whether these happened, so they are not imported; decide them first",
                open.len()
            );
        }
    }
}

fn total(rows: &Rows) -> usize {
    rows.good.len() + rows.wrong.len() + rows.not_done.len()
}

async fn send_all(session: &Session, rows: &[(usize, Box<RawValue>)]) -> anyhow::Result<Counts> {
    // Draws nothing unless stderr is a terminal.
    let bar = ProgressBar::new(rows.len() as u64);
    if let Ok(style) =
        ProgressStyle::with_template("importing {bar:30} {pos}/{len} {per_sec} {eta}")
    {
        bar.set_style(style);
    }
    let mut counts = Counts::default();
    let mut rest = rows;
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(fitting(rest));
        let effects: Vec<&RawValue> = chunk.iter().map(|(_, row)| row.as_ref()).collect();
        let call = Call::json(
            Method::POST,
            "/v1/ledger/import".to_owned(),
            &Body { effects },
        );
        let answer = session.send(call).await?;
        let done: Counts = read(&answer, chunk, &counts)?;
        counts.imported += done.imported;
        counts.existing += done.existing;
        bar.inc(chunk.len() as u64);
        rest = after;
    }
    bar.finish_and_clear();
    Ok(counts)
}

/// How many rows fit into one call; a row that is too long alone goes alone and is refused.
fn fitting(rows: &[(usize, Box<RawValue>)]) -> usize {
    let mut bytes = 0;
    let fits = |(_, row): &&(usize, Box<RawValue>)| {
        bytes += row.get().len() + 1;
        bytes <= MAX_BYTES
    };
    rows.iter().take(MAX_ROWS).take_while(fits).count().max(1)
}

#[derive(Debug, Deserialize)]
struct Refused {
    rows: Vec<RefusedRow>,
}

#[derive(Debug, Deserialize)]
struct RefusedRow {
    index: usize,
    detail: String,
}

/// What the server found wrong, by line; earlier calls stay done, and the same import again is harmless.
fn read(
    answer: &Answer,
    chunk: &[(usize, Box<RawValue>)],
    before: &Counts,
) -> anyhow::Result<Counts> {
    if answer.status.is_success() {
        return answer.parse();
    }
    if let Ok(refused) = answer.parse::<Refused>() {
        for row in refused.rows {
            let line = chunk.get(row.index).map_or(0, |(line, _)| *line);
            say!("line {line}: {}", shown(&row.detail));
        }
    }
    let mut failure = answer.problem();
    failure.fix = Some(format!(
        "{} were imported before; correct the file and import it again: what is on record stays",
        before.imported
    ));
    Err(failure.into())
}
