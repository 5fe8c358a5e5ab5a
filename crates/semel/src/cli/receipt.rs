//! `semel receipt`: did we do this twice? On one screen, and signed if asked.

mod card;
mod verify;

use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Context;
use crate::client::{Access, Call, Client, Query};
use crate::failure::Failure;
use crate::term::print_line;
use card::Proof;

/// Tell whether something was done twice: each effect, and every repeat that was blocked
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = AFTER_HELP)]
pub(crate) struct Receipt {
    /// An event (evt_…), a run (run_…), or with --flow or --scope a key
    #[arg(
        value_name = "EVENT|RUN|KEY",
        required = true,
        allow_hyphen_values = true
    )]
    subject: Option<String>,
    /// The key is of a run of this flow
    #[arg(long, conflicts_with = "scope")]
    flow: Option<String>,
    /// The key is of an effect of this scope
    #[arg(long)]
    scope: Option<String>,
    /// Print it as a signed JSON document, for somebody else
    #[arg(long)]
    signed: bool,
    #[command(subcommand)]
    verb: Option<ReceiptVerb>,
}

const AFTER_HELP: &str = "\
semel receipts (with an s) lists refused claims and counts them by hour or day.

EXAMPLE
  semel receipt run_01a1e1ff70450000a929648c6a93ad99
  semel receipt order/10492 --flow order-paid
  semel receipt order-10492 --scope invoice-mail --signed > proof.json
  semel receipt verify proof.json";

#[derive(Debug, Subcommand)]
enum ReceiptVerb {
    Verify(verify::Verify),
    /// Print the public key that this server signs with
    #[command(after_help = "EXAMPLE\n  semel receipt key > semel.pub")]
    Key,
}

impl Receipt {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<u8> {
        match self.verb {
            Some(ReceiptVerb::Verify(verb)) => verb.run(context.json),
            Some(ReceiptVerb::Key) => key(context).await,
            None => self.prove(context).await,
        }
    }

    async fn prove(self, context: &Context) -> anyhow::Result<u8> {
        let client = Client::new(&context.config)?;
        let call = Call::get(self.query()?.after("/v1/proof"));
        let found: Box<RawValue> = client.ask(Access::Existing, call).await?.read()?;
        if context.json || self.signed {
            print_line(found.get());
        } else {
            #[derive(Deserialize)]
            struct Document {
                proof: Proof,
            }
            let document: Document = serde_json::from_str(found.get())?;
            document.proof.print(&client.flags());
        }
        Ok(0)
    }

    fn query(&self) -> anyhow::Result<Query> {
        let subject = self.subject.as_deref().unwrap_or_default();
        let query = match (&self.flow, &self.scope) {
            (Some(flow), _) => Query::default().with("flow", flow).with("key", subject),
            (None, Some(scope)) => Query::default().with("scope", scope).with("key", subject),
            (None, None) if is_id(subject, "evt_") => Query::default().with("event", subject),
            (None, None) if is_id(subject, "run_") => Query::default().with("run", subject),
            (None, None) => {
                let message =
                    format!("{subject:?} is neither an event (evt_…) nor a run (run_…) of Semel");
                return Err(Failure::usage(message)
                    .fix("a key needs --flow FLOW (the key of its runs) or --scope SCOPE (of an effect)")
                    .into());
            }
        };
        Ok(if self.signed {
            query.with("signed", "true")
        } else {
            query
        })
    }
}

/// Whether a text is a name that Semel gave; senders have ids that begin alike.
fn is_id(text: &str, prefix: &str) -> bool {
    let digits = text.strip_prefix(prefix);
    digits.is_some_and(|it| it.len() == 32 && it.bytes().all(|b| b.is_ascii_hexdigit()))
}

async fn key(context: &Context) -> anyhow::Result<u8> {
    #[derive(Deserialize)]
    struct Document {
        key: String,
    }
    let client = Client::new(&context.config)?;
    let answer = client
        .ask(Access::Existing, Call::get("/v1/proof/key"))
        .await?;
    let found: Box<RawValue> = answer.read()?;
    if context.json {
        print_line(found.get());
    } else {
        let document: Document = serde_json::from_str(found.get())?;
        print_line(&document.key);
    }
    Ok(0)
}
