//! `semel trigger`: start a run by hand, once per key.

use std::io::Read as _;

use clap::Args;
use hyper::Method;
use semel_ledger::json::Canonical;
use serde::Deserialize;
use serde_json::Value;

use super::Context;
use super::runs::finish;
use crate::client::{Access, Answer, Call, Client, IDEMPOTENCY_KEY, Query, segment};
use crate::failure::{Exit, Failure};
use crate::term::{print_line, shown};

/// Start a run of a flow; the same key again starts nothing and names the first run
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Trigger {
    /// Which flow
    flow: String,
    /// The name of this intent: asked twice with the same one, the flow runs once
    #[arg(long, allow_hyphen_values = true)]
    key: String,
    /// The event: JSON, @FILE, or - for stdin; after `trigger` it may be written --data, too [default: null]
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    event: Option<String>,
    /// Run this release, which may be a draft, instead of the live one
    #[arg(long, value_name = "REL")]
    draft: Option<String>,
    /// Wait until the run is over, or waits for a person; the exit code tells which
    #[arg(long)]
    wait: bool,
}

const AFTER_HELP: &str = "\
Exit codes: 0 started, or started before; 4 the key stood for another event. With --wait: 0 the run is
done, 1 it failed or was cancelled, 3 it waits for a person.

EXAMPLE
  semel trigger order-paid --key order-10492 --data @event.json
  semel trigger order-paid --key order-10492 --data '{\"id\": 10492}' --wait";

/// What became of it.
#[derive(Debug, Deserialize)]
struct Became {
    status: String,
    run: Option<String>,
}

impl Trigger {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<u8> {
        let client = Client::new(&context.config)?;
        let answer = client.ask(Access::Existing, self.call()?).await?;
        let mut document = read(&answer)?;
        let became: Became = serde_json::from_value(document.clone())?;
        if !context.json {
            self.tell(&became);
        }
        let mut exit = Exit::Done;
        if let Some(run) = became.run.filter(|_| self.wait) {
            let ending = finish(&client, &run).await?;
            exit = ending.exit();
            document["state"] = ending.state.as_str().into();
            document["why"] = ending.why.as_str().into();
            if !context.json {
                say!("semel: {run} is {}", ending.text());
            }
        }
        if context.json {
            Context::print_json(&document)?;
        }
        Ok(exit.code())
    }

    fn call(&self) -> anyhow::Result<Call> {
        let query = Query::default().with_some("draft", self.draft.as_deref());
        let path = query.after(&format!("/v1/flows/{}/runs", segment(&self.flow)));
        if self.key.contains(|c: char| c.is_control()) {
            return Err(Failure::usage("--key has control characters in it").into());
        }
        let body = self.event.as_deref().map(event).transpose()?;
        Ok(Call {
            method: Method::POST,
            body: body.map(|body| ("application/json", body.into())),
            header: Some((IDEMPOTENCY_KEY, self.key.clone())),
            ..Call::get(path)
        })
    }

    fn tell(&self, became: &Became) {
        let flow = shown(&self.flow);
        let run = became.run.as_deref().unwrap_or_default();
        if !run.is_empty() {
            print_line(run);
        }
        match became.status.as_str() {
            "accepted" => say!("semel: started {run}; semel runs watch {run} follows it"),
            "duplicate" if run.is_empty() => {
                say!("semel: this key ran before; nothing was started");
            }
            "duplicate" => say!("semel: this key ran before, as {run}; nothing was started"),
            "skipped" => {
                say!("semel: a run of {flow} is under way and it says skip; nothing was started");
            }
            "stale" => say!("semel: something newer was applied before; nothing was started"),
            other => say!("semel: {}", shown(other)),
        }
    }
}

fn read(answer: &Answer) -> anyhow::Result<Value> {
    answer
        .read()
        .map_err(|error| match error.downcast::<Failure>() {
            Ok(failure) if failure.code.as_deref() == Some("conflict") => Failure {
                exit: Exit::Conflict,
                ..failure
            }
            .into(),
            Ok(failure) => failure.into(),
            Err(error) => error,
        })
}

/// The event that was given: itself, in a file, or on stdin.
fn event(data: &str) -> anyhow::Result<Vec<u8>> {
    let content = match data.strip_prefix('@') {
        Some(path) => std::fs::read(path).map_err(|error| {
            Failure::usage(format!("cannot read the event from {path}: {error}"))
        })?,
        None if data == "-" => {
            let mut content = Vec::new();
            std::io::stdin().lock().read_to_end(&mut content)?;
            content
        }
        None => data.as_bytes().to_owned(),
    };
    Canonical::read(&content).map_err(|error| {
        let failure = Failure::usage(format!("the event is not JSON: {error}"));
        if std::path::Path::new(data).is_dir() {
            return failure.fix("after `trigger`, --data is the event; for the data directory write semel --data DIR trigger …");
        }
        failure.fix("quote it for the shell: --data '{\"id\": 7}', or write --data @event.json")
    })?;
    Ok(content)
}
