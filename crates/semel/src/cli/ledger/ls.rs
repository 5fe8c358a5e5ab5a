//! `semel ledger ls`: effects in a table.

use clap::Args;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::page::{Part, pages};
use crate::cli::Context;
use crate::client::{Access, Client, Query};
use crate::term::{print_table, shown};
use crate::when;

/// List effects, the newest first
#[derive(Debug, Args)]
#[command(
    after_help = "EXAMPLE\n  semel ledger ls --state unknown,review\n  semel ledger ls --scope welcome-email --since 2h --all --json"
)]
pub(super) struct Ls {
    #[command(flatten)]
    filter: Filter,
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

/// Which effects.
#[derive(Debug, Args)]
pub(super) struct Filter {
    /// Only of this scope
    #[arg(long)]
    pub(super) scope: Option<String>,
    /// Only in these states: claimed, done, failed, unknown, review, undone, released
    #[arg(long, value_delimiter = ',', value_parser = STATES, value_name = "STATE")]
    pub(super) state: Vec<String>,
    /// Only with this id at the destination
    #[arg(long, value_name = "ID")]
    pub(super) external_id: Option<String>,
    /// Only whose key (in text form) starts so
    #[arg(long, value_name = "KEY")]
    pub(super) prefix: Option<String>,
    /// Only changed since: a time, a date, or a span such as 2h (ago)
    #[arg(long, value_parser = when::read, value_name = "WHEN")]
    pub(super) since: Option<Timestamp>,
}

const STATES: [&str; 7] = [
    "claimed", "done", "failed", "unknown", "review", "undone", "released",
];

impl Filter {
    pub(super) fn query(&self) -> Query {
        let state = (!self.state.is_empty()).then(|| self.state.join(","));
        let since = self.since.map(|since| since.to_string());
        Query::default()
            .with_some("scope", self.scope.as_deref())
            .with_some("state", state.as_deref())
            .with_some("external_id", self.external_id.as_deref())
            .with_some("prefix", self.prefix.as_deref())
            .with_some("since", since.as_deref())
    }
}

/// What `--json` prints; the rows as they were sent, so that numbers keep every digit.
#[derive(Debug, Serialize)]
struct Listed {
    effects: Vec<Box<RawValue>>,
    next: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Row {
    state: String,
    scope: String,
    key: String,
    attempt: u64,
    changed_at: Option<String>,
    blocked: u64,
    external_id: Option<String>,
}

impl Row {
    fn cells(self) -> Vec<String> {
        vec![
            self.state,
            shown(&self.scope).into_owned(),
            shown(&self.key).into_owned(),
            self.attempt.to_string(),
            self.changed_at
                .as_deref()
                .map(when::short)
                .unwrap_or_default(),
            self.blocked.to_string(),
            self.external_id
                .as_deref()
                .map(shown)
                .unwrap_or_default()
                .into_owned(),
        ]
    }
}

impl Ls {
    pub(super) async fn run(self, client: &Client, json: bool) -> anyhow::Result<u8> {
        let session = client.connect(Access::Existing).await?;
        let part = Part {
            path: "/v1/ledger",
            place: "after",
            query: &|| self.filter.query(),
            after: self.after.clone(),
            limit: (!self.all).then_some(self.limit.into()),
        };
        let mut effects = Vec::new();
        let next = pages(&session, part, async |row| {
            effects.push(row);
            Ok(())
        })
        .await?;
        session.close().await?;
        if json {
            Context::print_json(&Listed { effects, next })?;
            return Ok(0);
        }
        let cells = |row: &RawValue| serde_json::from_str(row.get()).map(Row::cells);
        let rows: Vec<_> = effects
            .iter()
            .map(|row| cells(row))
            .collect::<Result<_, _>>()?;
        if rows.is_empty() {
            say!("semel: nothing is on record that matches");
            return Ok(0);
        }
        let header = [
            "state",
            "scope",
            "key",
            "attempt",
            "changed (UTC)",
            "blocked",
            "external id",
        ];
        print_table(&header, rows);
        if let Some(next) = next {
            say!("semel: there is more: --after {next}, or --all");
        }
        Ok(0)
    }
}
