//! `semel audit`: who did what.

use clap::Args;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Context;
use crate::client::{Access, Call, Client, Query};
use crate::term::{print_table, shown};
use crate::when;

/// Show who did what to what, newest first
#[derive(Debug, Args)]
#[command(
    after_help = "EXAMPLE\n  semel audit --who ada --since 7d\n  semel audit --limit 1000 --json"
)]
pub(crate) struct Audit {
    /// Only by this person or token
    #[arg(long, value_name = "NAME")]
    who: Option<String>,
    /// Only since: a time, a date, or a span such as 2h (ago)
    #[arg(long, value_parser = when::read, value_name = "WHEN")]
    since: Option<Timestamp>,
    /// Only before: a time, a date, or a span such as 2h (ago)
    #[arg(long, value_parser = when::read, value_name = "WHEN")]
    until: Option<Timestamp>,
    /// Go on before this place: `next` of the page before
    #[arg(long, value_name = "CURSOR")]
    before: Option<String>,
    /// At most so many
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
}

#[derive(Debug, Deserialize, Serialize)]
struct Entry {
    at: String,
    who: String,
    via: String,
    address: Option<String>,
    action: String,
    target: String,
    note: Option<String>,
    status: Option<u16>,
}

#[derive(Debug, Deserialize, Serialize)]
struct Page {
    entries: Vec<Entry>,
    next: Option<String>,
}

impl Audit {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<u8> {
        let client = Client::new(&context.config)?;
        let time = |given: Option<Timestamp>| given.map(|at| at.to_string());
        let query = Query::default()
            .with("limit", &self.limit.to_string())
            .with_some("who", self.who.as_deref())
            .with_some("since", time(self.since).as_deref())
            .with_some("until", time(self.until).as_deref())
            .with_some("before", self.before.as_deref());
        let call = Call::get(query.after("/v1/audit"));
        let page: Page = client.ask(Access::Existing, call).await?.read()?;
        if context.json {
            Context::print_json(&page)?;
            return Ok(0);
        }
        let row = |entry: &Entry| {
            let text =
                |text: &Option<String>| shown(text.as_deref().unwrap_or_default()).into_owned();
            vec![
                when::short(&entry.at),
                format!("{} ({})", shown(&entry.who), entry.via),
                entry.action.clone(),
                shown(&entry.target).into_owned(),
                text(&entry.note),
                entry
                    .status
                    .map_or("unknown".to_owned(), |status| status.to_string()),
                text(&entry.address),
            ]
        };
        let rows = page.entries.iter().map(row).collect();
        let head = ["at", "who", "action", "target", "note", "status", "from"];
        print_table(&head, rows);
        if let Some(next) = &page.next {
            say!("semel: there is more: --before {next}");
        }
        Ok(0)
    }
}
