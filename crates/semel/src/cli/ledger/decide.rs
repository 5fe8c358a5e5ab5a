//! `semel ledger decide`: a person says what is true.

use clap::{Args, ValueEnum};
use hyper::Method;
use semel_ledger::json::Canonical;
use serde::Serialize;
use serde_json::value::RawValue;

use super::get::Effect;
use crate::cli::effect::Named;
use crate::cli::user;
use crate::client::{Access, Call, Client, ledger};
use crate::failure::Failure;
use crate::term::{print_line, shown};

/// Say what is true of an effect whose outcome is unknown
#[derive(Debug, Args)]
#[command(
    after_help = "EXAMPLE\n  semel ledger decide nightly 2026-03-01 --decision resend --note \"no report in the inbox\""
)]
pub(super) struct Decide {
    #[command(flatten)]
    effect: Named,
    /// What is true
    #[arg(long, value_enum)]
    decision: Decision,
    /// Only if this is still the latest attempt
    #[arg(long, value_name = "N")]
    attempt: Option<u32>,
    /// With happened: what came of it, as JSON
    #[arg(long, value_name = "JSON")]
    result: Option<String>,
    /// With happened: what the destination calls it
    #[arg(long, value_name = "ID")]
    external_id: Option<String>,
    /// Why, for whoever asks later
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Who decides [default: $USER]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

#[derive(Clone, Copy, Debug, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
enum Decision {
    /// It happened: it will not be done again
    Happened,
    /// It did not: whoever asks next may do it
    Resend,
    /// It did not, and that is on record as a failure; whoever asks next may try again
    Failed,
}

#[derive(Debug, Serialize)]
struct Body<'a> {
    decision: Decision,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    external_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'a str>,
}

impl Decide {
    pub(super) async fn run(self, client: &Client, json: bool) -> anyhow::Result<u8> {
        let effect = self.effect.effect()?;
        let result = self.result.as_deref().map(read_json).transpose()?;
        let by = self.by.clone().or_else(user);
        let body = Body {
            decision: self.decision,
            attempt: self.attempt,
            result: result.as_deref(),
            external_id: self.external_id.as_deref(),
            note: self.note.as_deref(),
            by: by.as_deref(),
        };
        let call = Call::json(Method::POST, ledger(&effect, "/decide"), &body);
        let session = client.connect(Access::Existing).await?;
        let answer = session.send(call).await?;
        session.close().await?;
        let found: Box<RawValue> = answer.read()?;
        if json {
            print_line(found.get());
            return Ok(0);
        }
        let card: Effect = serde_json::from_str(found.get())?;
        let (scope, key) = (shown(effect.scope.as_str()), shown(effect.key.as_str()));
        let meaning = match self.decision {
            Decision::Happened => "it will not be done again",
            Decision::Resend | Decision::Failed => "whoever asks next may do it",
        };
        say!("semel: {scope} {key} is {}: {meaning}", card.state);
        Ok(0)
    }
}

fn read_json(text: &str) -> anyhow::Result<Box<RawValue>> {
    Canonical::read(text.as_bytes()).map_err(|error| {
        Failure::usage(format!("--result is not JSON: {error}"))
            .fix("quote it for the shell: --result '{\"id\": 7}'")
    })?;
    Ok(RawValue::from_string(text.trim().to_owned())?)
}
