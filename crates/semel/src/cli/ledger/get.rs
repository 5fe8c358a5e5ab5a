//! `semel ledger get`: one effect with all that is known of it.

use clap::Args;
use semel_ledger::EffectId;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::cli::effect::{Named, decide_help, inbox_help};
use crate::client::{Access, Call, Client, ledger, or_null};
use crate::term::{Paint, Tone, print_line, shown, shown_lines, tone_of};
use crate::when;

/// Show one effect: state, attempts, result, receipts, decisions
#[derive(Debug, Args)]
#[command(
    after_help = "EXAMPLE\n  semel ledger get welcome-email cust_8821\n  semel ledger get nightly report/2026-03-01 --json"
)]
pub(super) struct Get {
    #[command(flatten)]
    effect: Named,
}

/// What the card shows.
#[derive(Debug, Deserialize)]
pub(super) struct Effect {
    scope: String,
    key: String,
    pub(super) state: String,
    attempt: u64,
    owner: Option<String>,
    created_at: Option<String>,
    changed_at: Option<String>,
    lease_until: Option<String>,
    remember: String,
    forgotten_at: Option<String>,
    external_id: Option<String>,
    reason: Option<String>,
    blocked: u64,
    tombstone: bool,
    input: Option<Box<RawValue>>,
    result: Option<Box<RawValue>>,
    #[serde(default)]
    life: Vec<Turn>,
    #[serde(default)]
    receipts: Vec<Receipt>,
}

#[derive(Debug, Deserialize)]
struct Turn {
    at: Option<String>,
    attempt: u64,
    from: String,
    to: String,
    cause: String,
    by: Option<String>,
    note: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Receipt {
    id: Option<String>,
    verdict: Option<String>,
    at: Option<String>,
    by: Option<String>,
    count: u64,
}

/// How much of an input or result a card shows.
const SHOWN_BYTES: usize = 2000;

impl Get {
    pub(super) async fn run(self, client: &Client, json: bool) -> anyhow::Result<u8> {
        let effect = self.effect.effect()?;
        let session = client.connect(Access::Existing).await?;
        let answer = session.send(Call::get(ledger(&effect, ""))).await?;
        session.close().await?;
        let found: Box<RawValue> = answer.read()?;
        if json {
            print_line(found.get());
        } else {
            let card: Effect = serde_json::from_str(found.get())?;
            card.print(&effect, &client.flags());
        }
        Ok(0)
    }
}

impl Effect {
    pub(super) fn print(&self, effect: &EffectId, flags: &str) {
        let paint = Paint::stdout();
        let row = |name: &str, value: &str| {
            if !value.is_empty() {
                print_line(&format!(
                    "{} {value}",
                    paint.on(Tone::Dim, &format!("{name:<12}"))
                ));
            }
        };
        let time = |at: &Option<String>| at.as_deref().map(|at| when::short(at) + " UTC");
        let text = |text: &Option<String>| text.as_deref().map(|text| shown(text).into_owned());
        row("scope", &shown(&self.scope));
        row("key", &shown(&self.key));
        row("state", &paint.on(tone_of(&self.state), &self.state));
        row("attempt", &self.attempt.to_string());
        row("owner", &text(&self.owner).unwrap_or_default());
        row("first claim", &time(&self.created_at).unwrap_or_default());
        row("changed", &time(&self.changed_at).unwrap_or_default());
        row("lease until", &time(&self.lease_until).unwrap_or_default());
        row("remembered", &self.remember);
        row("forgotten", &time(&self.forgotten_at).unwrap_or_default());
        row("external id", &text(&self.external_id).unwrap_or_default());
        row("reason", &text(&self.reason).unwrap_or_default());
        row("blocked", &self.blocked.to_string());
        row("input", &excerpt(self.input.as_deref()));
        row("result", &excerpt(self.result.as_deref()));
        if self.tombstone {
            row(
                "kept",
                "only the outcome; input, result and receipts are past their time",
            );
        }
        self.print_life(paint);
        if matches!(self.state.as_str(), "unknown" | "review") {
            let asks = or_null(self.input.as_deref()).starts_with("{\"approve\":{");
            let help = if asks && self.state == "review" {
                inbox_help(effect, flags)
            } else {
                decide_help(effect, self.attempt, flags)
            };
            print_line(&format!("\n{}", help.trim_end()));
        }
    }

    fn print_life(&self, paint: Paint) {
        if !self.life.is_empty() {
            print_line(&format!("\n{}", paint.on(Tone::Dim, "life")));
        }
        for turn in &self.life {
            let at = turn.at.as_deref().map(when::short).unwrap_or_default();
            let by = turn.by.as_deref().map(|by| format!(" by {}", shown(by)));
            let note = turn
                .note
                .as_deref()
                .map(|note| format!(": {}", shown(note)));
            let (by, note) = (by.unwrap_or_default(), note.unwrap_or_default());
            let Turn {
                attempt,
                from,
                to,
                cause,
                ..
            } = turn;
            print_line(&format!(
                "  {at}  attempt {attempt}  {from} → {to}  {cause}{by}{note}"
            ));
        }
        if !self.receipts.is_empty() {
            let title = "receipts (refused claims, the newest first)";
            print_line(&format!("\n{}", paint.on(Tone::Dim, title)));
        }
        for receipt in &self.receipts {
            let at = receipt.at.as_deref().map(when::short).unwrap_or_default();
            let verdict = receipt.verdict.as_deref().unwrap_or("counted");
            let id = receipt.id.as_deref().unwrap_or_default();
            let by = receipt.by.as_deref().map(|by| format!(" by {}", shown(by)));
            let by = by.unwrap_or_default();
            let times = match receipt.count {
                1 => String::new(),
                count => format!(" ×{count}"),
            };
            print_line(&format!("  {at}  {verdict:<8}  {id}{by}{times}"));
        }
    }
}

fn excerpt(value: Option<&RawValue>) -> String {
    let text = or_null(value);
    if text == "null" {
        return String::new();
    }
    let end = text.floor_char_boundary(SHOWN_BYTES);
    let more = if end < text.len() {
        "… (--json shows all)"
    } else {
        ""
    };
    shown_lines(&text[..end]) + more
}
