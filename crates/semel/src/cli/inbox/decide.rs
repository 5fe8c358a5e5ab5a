//! `semel inbox approve`, `reject` and `decide`: a person's word on items.

use anyhow::Context as _;
use clap::Args;
use hyper::Method;
use semel_ledger::json::Canonical;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::card::{Card, Decided};
use super::ls::Which;
use super::{many, path, short};
use crate::cli::{Context, user};
use crate::client::{Access, Call, Client, Session};
use crate::failure::{Exit, Failure, chain, exit_of};
use crate::term::{print_line, shown};

/// Approve requests
#[derive(Debug, Args)]
#[command(
    after_help = "Exit code 3: recorded, but more must approve. 4: somebody decided otherwise, or it has changed.\n\nEXAMPLE\n  semel inbox approve item_6b1f0c9a3b5d --note \"checked with the bank\""
)]
pub(super) struct Approve {
    #[command(flatten)]
    named: Named,
}

/// Reject requests
#[derive(Debug, Args)]
#[command(
    after_help = "Exit code 4: somebody decided otherwise, or it has changed.\n\nEXAMPLE\n  semel inbox reject item_6b1f0c9a3b5d --note \"wrong account\""
)]
pub(super) struct Reject {
    #[command(flatten)]
    named: Named,
}

#[derive(Debug, Args)]
struct Named {
    /// The items: item_…, at least 8 digits of each
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    #[command(flatten)]
    with: With,
}

/// What goes with a decision.
#[derive(Debug, Args)]
pub(super) struct With {
    /// Only if this is its hash, as it was shown; of many, the hash of the set
    #[arg(long, value_name = "HASH")]
    pub(super) hash: Option<String>,
    /// Why, for whoever asks later
    #[arg(long, value_name = "TEXT")]
    pub(super) note: Option<String>,
    /// Who decides [default: $USER]; to a server it is the token that says who approves
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

impl With {
    pub(super) fn by(&self) -> Option<String> {
        self.by.clone().or_else(user)
    }
}

/// Say what is true of lost answers, one or many; or approve or reject many requests
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Decide {
    /// The item: item_…, at least 8 digits of it; without one, all that the filters leave
    #[arg(conflicts_with_all = ["flow", "step", "scope", "since", "until"])]
    id: Option<String>,
    #[command(flatten)]
    pub(super) which: Which,
    /// What is true, or whether leave is given
    #[arg(long, value_parser = ["approve", "reject", "happened", "resend", "failed"])]
    pub(super) decision: String,
    /// With happened and one item: what came of it, as JSON
    #[arg(long, value_name = "JSON", requires = "id")]
    result: Option<String>,
    #[command(flatten)]
    pub(super) with: With,
}

const AFTER_HELP: &str = "\
happened: it is on record as done and never sent again. resend: it is sent again. failed: it did not happen, and
may be tried again. Many are shown first, and decided only when confirmed: at the terminal, or with the hash that
was shown. Exit code 3: shown, nothing was decided. 4: something else waits than what was shown.

EXAMPLE
  semel inbox decide item_6b1f0c9a3b5d --decision happened --result '{\"id\": 7}'
  semel inbox decide --flow order-paid --step receipt --since 2h --decision resend
  semel inbox decide --flow order-paid --step receipt --since 2h --decision resend --hash 1f0c9a3b5d7e2468";

#[derive(Debug, Serialize)]
struct Body<'a> {
    decision: &'a str,
    hash: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'a str>,
}

#[derive(Debug, Deserialize)]
struct Told {
    status: String,
    left: u64,
    decided: Option<Decided>,
}

impl Approve {
    pub(super) async fn run(self, client: &Client, json: bool) -> anyhow::Result<u8> {
        self.named.decide(client, "approve", json).await
    }
}

impl Reject {
    pub(super) async fn run(self, client: &Client, json: bool) -> anyhow::Result<u8> {
        self.named.decide(client, "reject", json).await
    }
}

impl Named {
    /// Each for itself: one that cannot be decided does not hold back the others.
    async fn decide(&self, client: &Client, decision: &str, json: bool) -> anyhow::Result<u8> {
        let session = client.connect(Access::Existing).await?;
        let (mut exit, mut told) = (Exit::Done, Vec::new());
        let word = Word {
            decision,
            result: None,
        };
        for id in &self.ids {
            match one(&session, id, &word, &self.with).await {
                Ok(answer) => {
                    exit = exit.max(tell(id, &answer, json)?);
                    told.push(answer);
                }
                Err(error) if self.ids.len() == 1 => {
                    session.close().await?;
                    return Err(error);
                }
                Err(error) => {
                    let (message, code) = (chain(&error), exit_of(&error));
                    say!("semel: {}: {message}", shown(id));
                    exit = exit.max(code);
                    told.push(
                        json!({"id": id, "error": {"message": message, "exit": code.code()}}),
                    );
                }
            }
        }
        session.close().await?;
        if json {
            Context::print_json(&json!({"items": told}))?;
        }
        Ok(exit.code())
    }
}

impl Decide {
    pub(super) async fn run(self, client: &Client, json: bool) -> anyhow::Result<u8> {
        let Some(id) = &self.id else {
            return many::decide(client, &self, json).await;
        };
        let result = self.result.as_deref().map(read_json).transpose()?;
        let session = client.connect(Access::Existing).await?;
        let word = Word {
            decision: &self.decision,
            result: result.as_deref(),
        };
        let told = one(&session, id, &word, &self.with).await;
        session.close().await?;
        let told = told?;
        let exit = tell(id, &told, json)?;
        if json {
            Context::print_json(&told)?;
        }
        Ok(exit.code())
    }
}

/// What is said of an item.
struct Word<'a> {
    decision: &'a str,
    result: Option<&'a RawValue>,
}

/// Decides one item as it is: its id stands for what it is about, and the hash that is sent for what
/// is there now, or for what was shown before.
async fn one(session: &Session, id: &str, word: &Word<'_>, with: &With) -> anyhow::Result<Value> {
    let hash = if let Some(hash) = &with.hash {
        hash.clone()
    } else {
        let card: Card = session.send(Call::get(path(id, ""))).await?.read()?;
        card.hash
    };
    let by = with.by();
    let body = Body {
        decision: word.decision,
        hash: &hash,
        note: with.note.as_deref(),
        result: word.result,
        by: by.as_deref(),
    };
    let call = Call::json(Method::POST, path(id, "/decide"), &body);
    session.send(call).await?.read()
}

/// Says what became of a decision.
fn tell(id: &str, answer: &Value, json: bool) -> anyhow::Result<Exit> {
    let told = Told::deserialize(answer).context("the server's answer is not understood")?;
    let exit = match told.left {
        0 => Exit::Done,
        _ => Exit::NeedsPerson,
    };
    if !json {
        let id = answer["id"].as_str().unwrap_or(id);
        let before = match told.status.as_str() {
            "already_recorded" => "was recorded before",
            _ => "is recorded",
        };
        let text = match (&told.decided, told.left) {
            (Some(decided), _) => format!("{before}: {}", decided.text()),
            (None, left) => format!("your approval {before}; {left} more needed"),
        };
        print_line(&format!("{} {text}", short(id)));
    }
    Ok(exit)
}

fn read_json(text: &str) -> anyhow::Result<Box<RawValue>> {
    Canonical::read(text.as_bytes()).map_err(|error| {
        Failure::usage(format!("--result is not JSON: {error}"))
            .fix("quote it for the shell: --result '{\"id\": 7}'")
    })?;
    Ok(RawValue::from_string(text.trim().to_owned())?)
}
