//! `semel inbox link`: a link with which one person decides a request.

use clap::Args;
use hyper::Method;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::path;
use crate::client::{Access, Call, Client};
use crate::term::{print_line, shown};
use crate::when;

/// Print a link with which one person sees a request and decides it
#[derive(Debug, Args)]
#[command(
    after_help = "Whoever has the link can decide in that person's name: send it to nobody else.\n\nEXAMPLE\n  semel inbox link item_6b1f0c9a3b5d --for ann"
)]
pub(super) struct Link {
    /// The item: item_…, at least 8 digits of it
    id: String,
    /// Who is to decide
    #[arg(long = "for", value_name = "PERSON")]
    person: String,
}

#[derive(Debug, Deserialize)]
struct Made {
    url: String,
    until: Option<String>,
}

impl Link {
    pub(super) async fn run(self, client: &Client, json: bool) -> anyhow::Result<u8> {
        let body = json!({"for": self.person});
        let call = Call::json(Method::POST, path(&self.id, "/link"), &body);
        let found: Box<RawValue> = client.ask(Access::Existing, call).await?.read()?;
        if json {
            print_line(found.get());
            return Ok(0);
        }
        let made: Made = serde_json::from_str(found.get())?;
        print_line(&made.url);
        let until = made.until.as_deref().map(when::short).unwrap_or_default();
        say!(
            "semel: for {} alone, until {until} UTC",
            shown(&self.person)
        );
        Ok(0)
    }
}
