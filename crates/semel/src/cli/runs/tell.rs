//! `semel runs cancel`, `resume` and `retry`: a person tells a run what to do.

use clap::Args;
use hyper::Method;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::path;
use crate::cli::user;
use crate::client::{Access, Call, Client};
use crate::term::print_line;

/// Ask a run to end; what is done stays done, unless it is to be taken back
#[derive(Debug, Args)]
#[command(
    after_help = "EXAMPLE\n  semel runs cancel run_01a1e1ff70450000a929648c6a93ad99\n  semel runs cancel run_01a1e1ff70450000a929648c6a93ad99 --undo"
)]
pub(super) struct Cancel {
    #[command(flatten)]
    named: Named,
    /// Take back what is done, by the `undo` of each step, the last one first
    #[arg(long)]
    undo: bool,
}

/// Let a run that waits for a person, or for its next attempt, go on now
#[derive(Debug, Args)]
#[command(
    after_help = "EXAMPLE\n  semel runs resume run_01a1e1ff70450000a929648c6a93ad99 --note \"the shop is back\""
)]
pub(super) struct Resume {
    #[command(flatten)]
    named: Named,
    /// Why, for whoever asks later
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

/// Do a run that is over again, by the same release; what is done is not done again
#[derive(Debug, Args)]
#[command(
    after_help = "To see first what would happen: semel rerun RUN --plan\n\nEXAMPLE\n  semel runs retry run_01a1e1ff70450000a929648c6a93ad99"
)]
pub(super) struct Retry {
    #[command(flatten)]
    named: Named,
}

#[derive(Debug, Args)]
struct Named {
    /// The run (run_…), or the event that started it (evt_…)
    run: String,
    /// Who asks [default: $USER]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Told {
    status: String,
    run: Option<String>,
}

impl Named {
    /// Tells the run; gives the answer, printed already if it goes to a program.
    async fn tell(
        &self,
        client: &Client,
        verb: &str,
        more: &[(&str, Value)],
        json: bool,
    ) -> anyhow::Result<Told> {
        let mut body = json!({});
        for (name, value) in more {
            body[*name] = value.clone();
        }
        if let Some(by) = self.by.clone().or_else(user) {
            body["by"] = by.into();
        }
        let call = Call::json(Method::POST, path(&self.run, verb), &body);
        let found: Box<RawValue> = client.ask(Access::Existing, call).await?.read()?;
        if json {
            print_line(found.get());
        }
        Ok(serde_json::from_str(found.get())?)
    }
}

impl Cancel {
    pub(super) async fn run(self, client: &Client, json: bool) -> anyhow::Result<u8> {
        let undo = self.undo.then_some(("undo", Value::Bool(true)));
        let more: Vec<_> = undo.into_iter().collect();
        let told = self.named.tell(client, "/cancel", &more, json).await?;
        if !json {
            let run = told.run.unwrap_or(self.named.run);
            let undo = if self.undo {
                " and to take back what is done"
            } else {
                ""
            };
            say!("semel: {run} is asked to end{undo}; semel runs show {run} tells how it did");
        }
        Ok(0)
    }
}

impl Resume {
    pub(super) async fn run(self, client: &Client, json: bool) -> anyhow::Result<u8> {
        let more: Vec<_> = self
            .note
            .as_deref()
            .map(|note| ("note", Value::from(note)))
            .into_iter()
            .collect();
        let told = self.named.tell(client, "/resume", &more, json).await?;
        if !json {
            let run = told.run.unwrap_or(self.named.run);
            say!("semel: {run} goes on; semel runs watch {run} follows it");
        }
        Ok(0)
    }
}

impl Retry {
    pub(super) async fn run(self, client: &Client, json: bool) -> anyhow::Result<u8> {
        let told = self.named.tell(client, "/retry", &[], json).await?;
        if !json {
            tell_again(&told.status, told.run.as_deref());
        }
        Ok(0)
    }
}

/// Tells what became of a run that was to be done again.
pub(in crate::cli) fn tell_again(status: &str, run: Option<&str>) {
    if let Some(run) = run {
        print_line(run);
    }
    match (status, run) {
        ("duplicate", Some(run)) => {
            say!("semel: this plan was carried out before, by {run}; nothing was started");
        }
        ("duplicate", None) => say!("semel: this plan was carried out before; nothing was started"),
        (_, Some(run)) => say!("semel: started {run}; semel runs watch {run} follows it"),
        (_, None) => say!("semel: started"),
    }
}
