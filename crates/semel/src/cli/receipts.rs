//! `semel receipts`: what was blocked, as proof and as numbers.

use std::collections::BTreeMap;

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::ledger::{Part, pages};
use super::{Context, effect};
use crate::client::{Access, Call, Client, Query};
use crate::failure::Failure;
use crate::term::{Paint, Tone, print_line, print_table, shown, tone_of};
use crate::when;

/// Show refused claims: what was blocked, when, and why
#[derive(Debug, Args)]
#[command(
    after_help = "EXAMPLE\n  semel receipts --scope welcome-email --since 24h\n  semel receipts --tally --by day"
)]
pub(crate) struct Receipts {
    /// Only of this scope
    #[arg(long)]
    scope: Option<String>,
    /// Only of this key (needs --scope)
    #[arg(
        long,
        requires = "scope",
        conflicts_with = "tally",
        allow_hyphen_values = true
    )]
    key: Option<String>,
    /// A further part of the key, taken as it is; may be repeated
    #[arg(
        long = "part",
        value_name = "PART",
        requires = "key",
        allow_hyphen_values = true
    )]
    parts: Vec<String>,
    /// Only since: a time, a date, or a span such as 2h (ago)
    #[arg(long, value_parser = when::read, value_name = "WHEN")]
    since: Option<Timestamp>,
    /// Only refused for this reason
    #[arg(long, value_parser = ["done", "busy", "unknown", "conflict", "stale"], conflicts_with = "tally")]
    verdict: Option<String>,
    /// Count instead of listing
    #[arg(long)]
    tally: bool,
    /// With --tally: by hour or by day
    #[arg(long, value_enum, default_value_t = By::Day, requires = "tally")]
    by: By,
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

#[derive(Clone, Copy, Debug, ValueEnum)]
enum By {
    Hour,
    Day,
}

impl By {
    fn name(self) -> &'static str {
        match self {
            By::Hour => "hour",
            By::Day => "day",
        }
    }
}

#[derive(Debug, Serialize)]
struct Listed {
    receipts: Vec<Box<RawValue>>,
    next: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Row {
    verdict: Option<String>,
    at: Option<String>,
    scope: String,
    key: String,
    by: Option<String>,
    count: u64,
    id: Option<String>,
}

impl Row {
    fn cells(self) -> Vec<String> {
        vec![
            self.verdict.unwrap_or_else(|| "counted".to_owned()),
            self.at.as_deref().map(when::short).unwrap_or_default(),
            shown(&self.scope).into_owned(),
            shown(&self.key).into_owned(),
            self.by
                .as_deref()
                .map(shown)
                .unwrap_or_default()
                .into_owned(),
            self.count.to_string(),
            self.id.unwrap_or_default(),
        ]
    }
}

#[derive(Debug, Deserialize, Serialize)]
struct Tallied {
    by: String,
    tallies: Vec<Tally>,
    truncated: bool,
}

#[derive(Debug, Deserialize, Serialize)]
struct Tally {
    at: String,
    scope: String,
    verdict: String,
    count: u64,
}

impl Receipts {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<u8> {
        let client = Client::new(&context.config)?;
        if self.tally {
            self.count(&client, context.json).await?;
        } else {
            self.list(&client, context.json).await?;
        }
        Ok(0)
    }

    fn query(&self) -> anyhow::Result<impl Fn() -> Query> {
        let scope = self.scope.clone();
        let verdict = self.verdict.clone();
        let since = self.since.map(|since| since.to_string());
        let parts: Vec<String> = match (&self.key, &scope) {
            (Some(key), Some(scope)) => {
                let effect = effect::effect(scope, Some(key), &self.parts)?;
                effect.key.parts().collect()
            }
            (Some(_), None) => return Err(Failure::usage("--key needs --scope").into()),
            (None, _) => Vec::new(),
        };
        Ok(move || {
            let query = Query::default()
                .with_some("scope", scope.as_deref())
                .with_some("verdict", verdict.as_deref())
                .with_some("since", since.as_deref());
            let (first, further) = match parts.split_first() {
                Some((first, further)) => (Some(first.as_str()), further),
                None => (None, &[][..]),
            };
            let query = query.with_some("key", first);
            further
                .iter()
                .fold(query, |query, part| query.with("part", part))
        })
    }

    async fn list(&self, client: &Client, json: bool) -> anyhow::Result<()> {
        let session = client.connect(Access::Existing).await?;
        let part = Part {
            path: "/v1/receipts",
            place: "after",
            query: &self.query()?,
            after: self.after.clone(),
            limit: (!self.all).then_some(self.limit.into()),
        };
        let mut receipts = Vec::new();
        let next = pages(&session, part, async |row| {
            receipts.push(row);
            Ok(())
        })
        .await?;
        session.close().await?;
        if json {
            return Context::print_json(&Listed { receipts, next });
        }
        let cells = |row: &RawValue| serde_json::from_str(row.get()).map(Row::cells);
        let rows: Vec<_> = receipts
            .iter()
            .map(|row| cells(row))
            .collect::<Result<_, _>>()?;
        if rows.is_empty() {
            say!("semel: no claim was refused that matches");
            return Ok(());
        }
        let header = [
            "verdict", "at (UTC)", "scope", "key", "asked by", "count", "receipt",
        ];
        print_table(&header, rows);
        if let Some(next) = next {
            say!("semel: there is more: --after {next}, or --all");
        }
        Ok(())
    }

    async fn count(&self, client: &Client, json: bool) -> anyhow::Result<()> {
        let since = self.since.map(|since| since.to_string());
        let query = Query::default()
            .with("by", self.by.name())
            .with_some("since", since.as_deref())
            .with_some("scope", self.scope.as_deref());
        let session = client.connect(Access::Existing).await?;
        let answer = session
            .send(Call::get(query.after("/v1/receipts/tally")))
            .await?;
        session.close().await?;
        let tallied: Tallied = answer.read()?;
        if json {
            return Context::print_json(&tallied);
        }
        chart(&tallied);
        Ok(())
    }
}

/// How wide the longest bar is.
const WIDTH: u64 = 40;

/// One bar for each hour or day, its verdicts in their colours.
fn chart(tallied: &Tallied) {
    let mut bars: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
    for tally in &tallied.tallies {
        let bar = bars.entry(&tally.at).or_default();
        *bar.entry(&tally.verdict).or_default() += tally.count;
    }
    let longest = bars
        .values()
        .map(|bar| bar.values().sum())
        .max()
        .unwrap_or(0);
    if longest == 0 {
        say!("semel: no claim was refused in that time");
        return;
    }
    let paint = Paint::stdout();
    let digits = if tallied.by == "day" { 10 } else { 16 };
    for (at, bar) in bars {
        let at: String = when::short(at).chars().take(digits).collect();
        let (mut drawn, mut said) = (String::new(), Vec::new());
        for (verdict, count) in &bar {
            let width = usize::try_from((count * WIDTH).div_ceil(longest)).unwrap_or(0);
            drawn += &paint.on(tone_of(verdict), &"█".repeat(width));
            said.push(format!("{count} {verdict}"));
        }
        print_line(&format!(
            "{}  {drawn} {}",
            paint.on(Tone::Dim, &at),
            said.join(", ")
        ));
    }
}
