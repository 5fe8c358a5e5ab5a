//! `semel inbox ls`: what waits, in a table.

use clap::Args;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::short;
use crate::cli::Context;
use crate::cli::ledger::{Part, pages};
use crate::client::{Access, Client, Query};
use crate::term::{print_table, shortened};
use crate::when;

/// List what waits for a person, the newest first
#[derive(Debug, Args)]
#[command(
    after_help = "EXAMPLE\n  semel inbox ls\n  semel inbox ls --for me --kind approval\n  semel inbox ls --flow order-paid --since 2h --json"
)]
pub(super) struct Ls {
    #[command(flatten)]
    which: Which,
    /// Only approval (somebody asks for leave) or review (an answer was lost)
    #[arg(long, value_parser = ["approval", "review"])]
    kind: Option<String>,
    /// Only what this person may decide; me: whoever the token names
    #[arg(long = "for", value_name = "PERSON")]
    person: Option<String>,
    /// At most so many
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    /// Go on behind this place: `next` of the page before
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
    /// All of them
    #[arg(long, conflicts_with = "limit")]
    all: bool,
}

/// Which items.
#[derive(Debug, Args)]
pub(super) struct Which {
    /// Only of this flow
    #[arg(long)]
    pub(super) flow: Option<String>,
    /// Only of this step
    #[arg(long)]
    pub(super) step: Option<String>,
    /// Only of this scope
    #[arg(long)]
    pub(super) scope: Option<String>,
    /// Only waiting since then or later: a time, a date, or a span such as 2h (ago)
    #[arg(long, value_parser = when::read, value_name = "WHEN")]
    pub(super) since: Option<Timestamp>,
    /// Only waiting since before then: a time, a date, or a span such as 2h (ago)
    #[arg(long, value_parser = when::read, value_name = "WHEN")]
    pub(super) until: Option<Timestamp>,
}

impl Which {
    /// Whether nothing is left out.
    pub(super) fn is_everything(&self) -> bool {
        let Which {
            flow,
            step,
            scope,
            since,
            until,
        } = self;
        let names = [flow, step, scope].iter().all(|name| name.is_none());
        names && since.is_none() && until.is_none()
    }
}

/// What `--json` prints; the rows as they were sent.
#[derive(Debug, Serialize)]
struct Listed {
    items: Vec<Box<RawValue>>,
    next: Option<String>,
}

/// A row of a table.
#[derive(Debug, Deserialize)]
pub(super) struct Row {
    pub(super) id: String,
    kind: String,
    flow: Option<String>,
    step: Option<String>,
    scope: String,
    key: String,
    what: String,
    since: Option<String>,
    until: Option<String>,
    needed: Option<u64>,
    votes: u64,
}

/// The names of the columns.
pub(super) const HEADER: [&str; 7] = ["kind", "id", "where", "key", "what", "waits", "until (UTC)"];
/// How much of a name and of a text a row shows.
const NAME: usize = 40;
const TEXT: usize = 50;

impl Row {
    pub(super) fn cells(self) -> Vec<String> {
        let place = match (&self.flow, &self.step) {
            (Some(flow), Some(step)) => format!("{flow}/{step}"),
            _ => self.scope,
        };
        let votes = match self.needed {
            Some(needed @ 2..) => format!(" ({} of {needed})", self.votes),
            _ => String::new(),
        };
        let time = |at: &Option<String>, show: fn(&str) -> String| {
            at.as_deref().map(show).unwrap_or_default()
        };
        vec![
            self.kind,
            short(&self.id).to_owned(),
            shortened(&place, NAME),
            shortened(&self.key, NAME),
            shortened(&self.what, TEXT) + &votes,
            time(&self.since, when::age),
            time(&self.until, when::short),
        ]
    }
}

/// Prints rows as they were sent.
pub(super) fn print(items: &[Box<RawValue>]) -> anyhow::Result<()> {
    let cells = |row: &RawValue| serde_json::from_str(row.get()).map(Row::cells);
    let rows: Vec<_> = items
        .iter()
        .map(|row| cells(row))
        .collect::<Result<_, _>>()?;
    print_table(&HEADER, rows);
    Ok(())
}

impl Ls {
    fn query(&self) -> Query {
        let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
        Query::default()
            .with_some("flow", self.which.flow.as_deref())
            .with_some("step", self.which.step.as_deref())
            .with_some("scope", self.which.scope.as_deref())
            .with_some("kind", self.kind.as_deref())
            .with_some("for", self.person.as_deref())
            .with_some("since", time(self.which.since).as_deref())
            .with_some("until", time(self.which.until).as_deref())
    }

    pub(super) async fn run(self, client: &Client, json: bool) -> anyhow::Result<u8> {
        let session = client.connect(Access::Existing).await?;
        let part = Part {
            path: "/v1/inbox",
            place: "after",
            query: &|| self.query(),
            after: self.after.clone(),
            limit: (!self.all).then_some(self.limit.into()),
        };
        let mut items = Vec::new();
        let next = pages(&session, part, async |row| {
            items.push(row);
            Ok(())
        })
        .await?;
        session.close().await?;
        if json {
            Context::print_json(&Listed { items, next })?;
            return Ok(0);
        }
        if items.is_empty() {
            say!("semel: nothing waits for a person");
            return Ok(0);
        }
        print(&items)?;
        if let Some(next) = next {
            say!("semel: there is more: --after {next}, or --all");
        }
        Ok(0)
    }
}
