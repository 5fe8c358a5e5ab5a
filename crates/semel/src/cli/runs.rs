//! `semel runs`: what became of events, and what to do about it.

mod follow;
mod ls;
mod show;
mod tell;
mod timeline;
mod watch;

use clap::{Args, Subcommand};

use super::Context;
use crate::client::{Client, segment};

pub(super) use follow::finish;
pub(super) use tell::tell_again;

/// List, look at, follow, end, resume and repeat runs
#[derive(Debug, Args)]
#[command(
    after_help = "EXAMPLE\n  semel runs ls --state parked,failed\n  semel runs show run_01a1e1ff70450000a929648c6a93ad99"
)]
pub(crate) struct Runs {
    #[command(subcommand)]
    verb: RunsVerb,
}

#[derive(Debug, Subcommand)]
enum RunsVerb {
    Ls(ls::Ls),
    Show(show::Show),
    Watch(watch::Watch),
    Cancel(tell::Cancel),
    Resume(tell::Resume),
    Retry(tell::Retry),
}

impl Runs {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<u8> {
        let client = Client::new(&context.config)?;
        let json = context.json;
        match self.verb {
            RunsVerb::Ls(verb) => verb.run(&client, json).await,
            RunsVerb::Show(verb) => verb.run(&client, json).await,
            RunsVerb::Watch(verb) => verb.run(&client, json).await,
            RunsVerb::Cancel(verb) => verb.run(&client, json).await,
            RunsVerb::Resume(verb) => verb.run(&client, json).await,
            RunsVerb::Retry(verb) => verb.run(&client, json).await,
        }
    }
}

/// The path of a run; `verb` is empty or starts with `/`.
pub(super) fn path(run: &str, verb: &str) -> String {
    format!("/v1/runs/{}{verb}", segment(run))
}
