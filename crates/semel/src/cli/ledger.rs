//! `semel ledger`: what is on record.

mod decide;
mod export;
mod get;
mod import;
mod ls;
mod page;
mod rows;

use clap::{Args, Subcommand};

use super::Context;
use crate::client::Client;

pub(super) use page::{Part, pages};

/// List, look at, decide, import and export effects
#[derive(Debug, Args)]
#[command(
    after_help = "EXAMPLE\n  semel ledger ls --state unknown\n  semel ledger get welcome-email cust_8821"
)]
pub(crate) struct Ledger {
    #[command(subcommand)]
    verb: LedgerVerb,
}

#[derive(Debug, Subcommand)]
enum LedgerVerb {
    Ls(ls::Ls),
    Get(get::Get),
    Decide(decide::Decide),
    Import(import::Import),
    Export(export::Export),
}

impl Ledger {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<u8> {
        let client = Client::new(&context.config)?;
        match self.verb {
            LedgerVerb::Ls(verb) => verb.run(&client, context.json).await,
            LedgerVerb::Get(verb) => verb.run(&client, context.json).await,
            LedgerVerb::Decide(verb) => verb.run(&client, context.json).await,
            LedgerVerb::Import(verb) => verb.run(&client, context.json).await,
            LedgerVerb::Export(verb) => verb.run(&client).await,
        }
    }
}
