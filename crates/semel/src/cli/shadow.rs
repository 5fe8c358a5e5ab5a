//! `semel shadow`: what a flow would have done, beside what was done.

use clap::{Args, Subcommand};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Context;
use crate::client::{Access, Call, Client, Query, segment};
use crate::failure::Exit;
use crate::term::{Paint, Tone, print_line, print_table, shown, shown_lines};
use crate::when;

/// Compare what a shadow would have done with what was done
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Shadow {
    #[command(subcommand)]
    verb: ShadowVerb,
}

const AFTER_HELP: &str = "\
A shadow takes the same triggers as a flow, evaluates everything and does nothing: semel deploy --shadow FILE casts one.
What your present process did is told by semel ledger import, or found by the `lookup` of a step.

EXAMPLE
  semel deploy flows/order.yaml --shadow
  semel shadow report order
  semel shadow end order";

#[derive(Debug, Subcommand)]
enum ShadowVerb {
    /// Say what it would have done: the same, more, less or differently
    #[command(after_help = "\
Exit code 0 if all is the same, 1 otherwise.

EXAMPLE
  semel shadow report order
  semel shadow report order --since 2h --json")]
    Report {
        /// Which flow
        flow: String,
        /// Only since this time (such as 2026-11-16 or 2h); left out, since the shadow was cast
        #[arg(long, value_name = "WHEN", value_parser = when::read)]
        since: Option<Timestamp>,
    },
    /// Let the shadow of a flow take no more triggers
    #[command(after_help = "EXAMPLE\n  semel shadow end order")]
    End {
        /// Which flow
        flow: String,
    },
}

#[derive(Debug, Deserialize)]
struct Report {
    since: String,
    same: u64,
    more: u64,
    less: u64,
    differently: u64,
    cut: bool,
    uncompared: Vec<String>,
    differences: Vec<Difference>,
}

#[derive(Debug, Deserialize)]
struct Difference {
    what: String,
    step: String,
    key: String,
    at: String,
    run: Option<String>,
    fields: Vec<String>,
}

impl Shadow {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<u8> {
        let client = Client::new(&context.config)?;
        match self.verb {
            ShadowVerb::Report { flow, since } => report(&client, &flow, since, context.json).await,
            ShadowVerb::End { flow } => end(&client, &flow, context.json).await,
        }
    }
}

async fn report(
    client: &Client,
    flow: &str,
    since: Option<Timestamp>,
    json: bool,
) -> anyhow::Result<u8> {
    let since = since.map(|since| since.to_string());
    let query = Query::default().with_some("since", since.as_deref());
    let path = query.after(&format!("/v1/flows/{}/shadow", segment(flow)));
    let answer = client.ask(Access::Existing, Call::get(path)).await?;
    let found: Box<RawValue> = answer.read()?;
    let report: Report = serde_json::from_str(found.get())?;
    if json {
        print_line(found.get());
    } else {
        report.tell();
    }
    let alike = report.more + report.less + report.differently == 0;
    Ok(if alike { 0 } else { Exit::Failed.code() })
}

impl Report {
    fn tell(&self) {
        let paint = Paint::stdout();
        let rows = self
            .differences
            .iter()
            .map(Difference::row)
            .collect::<Vec<_>>();
        if !rows.is_empty() {
            print_table(
                &["would", "step", "key", "at (UTC)", "run", "differs in"],
                rows,
            );
            print_line("");
        }
        let differ = self.more + self.less + self.differently;
        let tone = if differ == 0 { Tone::Good } else { Tone::Doubt };
        let words = format!(
            "{} the same, {} more, {} less, {} differently",
            self.same, self.more, self.less, self.differently
        );
        print_line(&format!(
            "{} since {}",
            paint.on(tone, &words),
            when::short(&self.since)
        ));
        let shown_of = self.differences.len() as u64;
        if differ > shown_of {
            say!(
                "semel: {shown_of} of {differ} differences are shown, those of each step the newest first"
            );
        }
        if self.cut {
            say!(
                "semel: only the newest 5000 effects of each step were compared; --since narrows it"
            );
        }
        if !self.uncompared.is_empty() {
            let steps = self.uncompared.join(", ");
            say!(
                "semel: not compared, because a repeat of them is harmless and the ledger keeps no entry: {}",
                shown_lines(&steps)
            );
        }
    }
}

impl Difference {
    fn row(&self) -> Vec<String> {
        vec![
            self.what.clone(),
            shown(&self.step).into_owned(),
            shown(&self.key).into_owned(),
            when::short(&self.at),
            self.run
                .as_deref()
                .map_or_else(String::new, |run| shown(run).into_owned()),
            shown(&self.fields.join(", ")).into_owned(),
        ]
    }
}

async fn end(client: &Client, flow: &str, json: bool) -> anyhow::Result<u8> {
    let name = semel_flow::shadow::name_of(flow);
    let call = Call::delete(format!("/v1/flows/{}", segment(&name)));
    let answer = client.ask(Access::Existing, call).await?;
    let found: Box<RawValue> = answer.read()?;
    if json {
        print_line(found.get());
    } else {
        say!(
            "semel: the shadow of {} takes no more triggers; what it recorded stays",
            shown(flow)
        );
    }
    Ok(0)
}
