//! `semel runs ls`: runs in a table.

use clap::Args;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::cli::Context;
use crate::cli::ledger::{Part, pages};
use crate::client::{Access, Client, Query};
use crate::term::{print_table, shortened, shown};
use crate::when;

/// List runs, the newest first
#[derive(Debug, Args)]
#[command(
    after_help = "EXAMPLE\n  semel runs ls --flow order-paid --since 2h\n  semel runs ls --state parked,unknown --all --json"
)]
pub(super) struct Ls {
    /// Only of this flow
    #[arg(long)]
    flow: Option<String>,
    /// Only in these states: queued, running, retrying, waiting, unknown, parked, done, failed, undone, cancelled
    #[arg(long, value_delimiter = ',', value_parser = STATES, value_name = "STATE")]
    state: Vec<String>,
    /// Only about this key
    #[arg(long, allow_hyphen_values = true)]
    key: Option<String>,
    /// Runs that this one waits for (items of a for_each, called flows), instead of those that stand alone
    #[arg(long, value_name = "RUN")]
    parent: Option<String>,
    /// Only started since: a time, a date, or a span such as 2h (ago)
    #[arg(long, value_parser = when::read, value_name = "WHEN")]
    since: Option<Timestamp>,
    /// Only started before: a time, a date, or a span such as 2h (ago)
    #[arg(long, value_parser = when::read, value_name = "WHEN")]
    until: Option<Timestamp>,
    /// At most so many
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    /// Go on behind this run: `next` of the page before
    #[arg(long, value_name = "RUN")]
    before: Option<String>,
    /// All of them
    #[arg(long, conflicts_with = "limit")]
    all: bool,
}

const STATES: [&str; 10] = [
    "queued",
    "running",
    "retrying",
    "waiting",
    "unknown",
    "parked",
    "done",
    "failed",
    "undone",
    "cancelled",
];

/// How much of a key and of a reason a row shows.
const CELL: usize = 60;

/// What `--json` prints; the rows as they were sent.
#[derive(Debug, Serialize)]
struct Listed {
    runs: Vec<Box<RawValue>>,
    next: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Row {
    state: String,
    flow: String,
    key: String,
    why: String,
    created_at: Option<String>,
    run: String,
}

impl Row {
    fn cells(self) -> Vec<String> {
        vec![
            self.state,
            shown(&self.flow).into_owned(),
            shortened(&self.key, CELL),
            shortened(&self.why, CELL),
            self.created_at
                .as_deref()
                .map(when::age)
                .unwrap_or_default(),
            self.run,
        ]
    }
}

impl Ls {
    fn query(&self) -> Query {
        let state = (!self.state.is_empty()).then(|| self.state.join(","));
        let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
        Query::default()
            .with_some("flow", self.flow.as_deref())
            .with_some("state", state.as_deref())
            .with_some("key", self.key.as_deref())
            .with_some("parent", self.parent.as_deref())
            .with_some("since", time(self.since).as_deref())
            .with_some("until", time(self.until).as_deref())
    }

    pub(super) async fn run(self, client: &Client, json: bool) -> anyhow::Result<u8> {
        let session = client.connect(Access::Existing).await?;
        let part = Part {
            path: "/v1/runs",
            place: "before",
            query: &|| self.query(),
            after: self.before.clone(),
            limit: (!self.all).then_some(self.limit.into()),
        };
        let mut runs = Vec::new();
        let next = pages(&session, part, async |row| {
            runs.push(row);
            Ok(())
        })
        .await?;
        session.close().await?;
        if json {
            Context::print_json(&Listed { runs, next })?;
            return Ok(0);
        }
        let cells = |row: &RawValue| serde_json::from_str(row.get()).map(Row::cells);
        let rows: Vec<_> = runs
            .iter()
            .map(|row| cells(row))
            .collect::<Result<_, _>>()?;
        if rows.is_empty() {
            say!("semel: there is no run that matches");
            return Ok(0);
        }
        print_table(&["state", "flow", "key", "why", "age", "run"], rows);
        if let Some(next) = next {
            say!("semel: there is more: --before {next}, or --all");
        }
        Ok(0)
    }
}
