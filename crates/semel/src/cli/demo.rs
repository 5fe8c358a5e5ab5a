//! `semel demo`: see it happen, with nothing else installed.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use semel_ledger::Millis;

use super::Context;
use crate::demo::{self, Plan};
use crate::failure::Exit;

/// Watch a storm of webhooks hit three flows, with kills and lost answers
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Demo {
    /// Keep the data of the demo in this directory
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// End by itself after so long, such as 30s
    #[arg(long = "for", value_name = "SPAN", value_parser = super::effect::span)]
    time: Option<Millis>,
    /// New events in a second
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=500))]
    rate: u32,
    /// Another storm; the same number gives the same events
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Do not open the page in a browser
    #[arg(long)]
    no_open: bool,
}

const AFTER_HELP: &str = "\
A server is started on a free port of this machine, with a small shop around it: a payment provider, a CRM, a depot and a mailbox
that count what they see. Senders send again, answers are lost, the server is killed. Nothing leaves this machine.

EXAMPLE
  semel demo
  semel demo --for 30s --json
  semel demo --keep shop";

impl Demo {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<u8> {
        let outcome = demo::run(Plan {
            time: self.time.map(|time| Duration::from_millis(time.0)),
            keep: self.keep,
            rate: self.rate,
            seed: self.seed,
            open: !self.no_open && !context.json,
        })
        .await?;
        outcome.tell();
        if context.json {
            Context::print_json(&outcome)?;
        }
        Ok(match outcome.verdict {
            "once" => 0,
            _ => Exit::Failed.code(),
        })
    }
}
