//! `semel inbox show`: one item, with all that there is to know before deciding it.

use clap::Args;
use serde_json::value::RawValue;

use super::card::Card;
use super::path;
use crate::client::{Access, Call, Client};
use crate::term::print_line;

/// Show one item: what is asked or was lost, where it comes from, what each decision would do
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  semel inbox show item_6b1f0c9a3b5d")]
pub(super) struct Show {
    /// The item: item_…, at least 8 digits of it
    id: String,
}

impl Show {
    pub(super) async fn run(self, client: &Client, json: bool) -> anyhow::Result<u8> {
        let call = Call::get(path(&self.id, ""));
        let found: Box<RawValue> = client.ask(Access::Existing, call).await?.read()?;
        if json {
            print_line(found.get());
            return Ok(0);
        }
        let card: Card = serde_json::from_str(found.get())?;
        card.print(&client.flags());
        Ok(0)
    }
}
