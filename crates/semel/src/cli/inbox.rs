//! `semel inbox`: what waits for a person, and deciding it.

mod card;
mod decide;
mod link;
mod ls;
mod many;
mod show;
mod tree;

use clap::{Args, Subcommand};

use super::Context;
use crate::client::{Client, segment};

/// See and decide what waits for a person: requests for leave and lost answers
#[derive(Debug, Args)]
#[command(
    after_help = "EXAMPLE\n  semel inbox ls\n  semel inbox show item_6b1f0c9a3b5d\n  semel inbox approve item_6b1f0c9a3b5d --note \"checked with the bank\""
)]
pub(crate) struct Inbox {
    #[command(subcommand)]
    verb: InboxVerb,
}

#[derive(Debug, Subcommand)]
enum InboxVerb {
    Ls(ls::Ls),
    Show(show::Show),
    Approve(decide::Approve),
    Reject(decide::Reject),
    Decide(Box<decide::Decide>),
    Link(link::Link),
}

impl Inbox {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<u8> {
        let client = Client::new(&context.config)?;
        let json = context.json;
        match self.verb {
            InboxVerb::Ls(verb) => verb.run(&client, json).await,
            InboxVerb::Show(verb) => verb.run(&client, json).await,
            InboxVerb::Approve(verb) => verb.run(&client, json).await,
            InboxVerb::Reject(verb) => verb.run(&client, json).await,
            InboxVerb::Decide(verb) => verb.run(&client, json).await,
            InboxVerb::Link(verb) => verb.run(&client, json).await,
        }
    }
}

/// The path of an item; `verb` is empty or starts with `/`.
fn path(id: &str, verb: &str) -> String {
    format!("/v1/inbox/{}{verb}", segment(id))
}

/// As much of an id as people need to type.
fn short(id: &str) -> &str {
    id.get(..17).unwrap_or(id)
}
