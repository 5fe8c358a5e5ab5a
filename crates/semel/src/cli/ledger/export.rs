//! `semel ledger export`: every effect as one JSON line, which `import` reads back.

use std::io::Write as _;

use clap::Args;
use semel_ledger::{EffectId, Key, Scope};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::ls::Filter;
use super::page::{Part, pages};
use crate::client::{Access, Call, Client, Session, ledger};

/// Print effects as JSON Lines
#[derive(Debug, Args)]
#[command(
    after_help = "EXAMPLE\n  semel ledger export --state done > done.jsonl\n  semel ledger import done.jsonl --data /other"
)]
pub(super) struct Export {
    #[command(flatten)]
    filter: Filter,
}

/// One line.
#[derive(Debug, Deserialize, Serialize)]
struct Line {
    scope: String,
    key: String,
    state: String,
    attempt: u64,
    /// When it happened, which is what an import asks for.
    at: Option<String>,
    created_at: Option<String>,
    changed_at: Option<String>,
    remember: String,
    external_id: Option<String>,
    reason: Option<String>,
    result: Option<Box<RawValue>>,
    #[serde(skip_serializing)]
    result_blob: Option<String>,
}

impl Export {
    pub(super) async fn run(self, client: &Client) -> anyhow::Result<u8> {
        let session = client.connect(Access::Existing).await?;
        let mut out = std::io::BufWriter::new(std::io::stdout());
        let part = Part {
            path: "/v1/ledger",
            place: "after",
            query: &|| self.filter.query(),
            after: None,
            limit: None,
        };
        pages(&session, part, async |row| {
            let mut line: Line = serde_json::from_str(row.get())?;
            if line.result_blob.is_some() {
                line.result = long_result(&session, &line).await?;
            }
            // What was imported happened when it says; the rest when it came to its state.
            line.at = match line.attempt {
                0 => line.created_at.clone(),
                _ => line.changed_at.clone(),
            };
            serde_json::to_writer(&mut out, &line)?;
            out.write_all(b"\n")?;
            Ok(())
        })
        .await?;
        out.flush()?;
        session.close().await?;
        Ok(0)
    }
}

/// A list shows long results by reference only.
async fn long_result(session: &Session, line: &Line) -> anyhow::Result<Option<Box<RawValue>>> {
    let effect = EffectId::new(Scope::new(&line.scope)?, line.key.parse::<Key>()?);
    let answer = session.send(Call::get(ledger(&effect, ""))).await?;
    let whole: Line = answer.read()?;
    Ok(whole.result)
}
