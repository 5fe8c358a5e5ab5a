//! What the ledger says about one thing, on one screen.

use serde::Deserialize;

use crate::cli::effect::{decide_help, effect};
use crate::term::{Paint, Tone, print_line, shortened, shown, tone_of};
use crate::when;

/// How many refused claims of one effect are shown.
const SHOWN: usize = 5;

/// The proof as the API gives it, as far as the screen needs it.
#[derive(Debug, Deserialize)]
pub(super) struct Proof {
    answer: String,
    made_at: Option<String>,
    first: Option<Run>,
    #[serde(default)]
    runs: Vec<String>,
    event_duplicates: Option<Refused>,
    effects: Vec<Effect>,
}

#[derive(Debug, Deserialize)]
struct Run {
    #[serde(rename = "run")]
    id: String,
    flow: String,
    key: String,
    state: String,
    created_at: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Refused {
    blocked: u64,
    receipts: Vec<Blocked>,
}

#[derive(Debug, Deserialize)]
struct Effect {
    step: Option<String>,
    scope: String,
    key: String,
    state: String,
    attempt: u64,
    owner: Option<String>,
    external_id: Option<String>,
    changed_at: Option<String>,
    #[serde(flatten)]
    refused: Refused,
}

#[derive(Debug, Deserialize)]
struct Blocked {
    id: Option<String>,
    verdict: Option<String>,
    at: Option<String>,
    by: Option<String>,
}

impl Proof {
    pub(super) fn print(&self, flags: &str) {
        let paint = Paint::stdout();
        print_line(&paint.on(Tone::Strong, &shown(&self.answer)));
        if let Some(run) = &self.first {
            let at = run
                .created_at
                .as_deref()
                .map(when::short)
                .unwrap_or_default();
            print_line(&format!(
                "\n{}  {at} UTC  {}  {} {}  {}",
                paint.on(Tone::Dim, "first run"),
                run.id,
                shown(&run.flow),
                shown(&run.key),
                paint.on(tone_of(&run.state), &run.state),
            ));
            for run in self.runs.iter().filter(|it| **it != run.id) {
                print_line(&format!(
                    "{}  {}",
                    paint.on(Tone::Dim, "done again"),
                    shown(run)
                ));
            }
        }
        if let Some(refused) = self.event_duplicates.as_ref().filter(|it| it.blocked > 0) {
            let resends = times(refused.blocked, "resend", "resends");
            print_line(&format!("\nthe event: {resends} blocked"));
            refused.print(paint);
        }
        for effect in &self.effects {
            effect.print(paint, flags);
        }
        if let Some(at) = &self.made_at {
            let line = format!("\nas the ledger has it at {} UTC", when::short(at));
            print_line(&paint.on(Tone::Dim, &line));
        }
    }
}

impl Effect {
    fn print(&self, paint: Paint, flags: &str) {
        let step = self
            .step
            .as_deref()
            .map(|step| format!("{}: ", shown(step)));
        let at = self
            .changed_at
            .as_deref()
            .map(when::short)
            .unwrap_or_default();
        let attempts = times(self.attempt, "attempt", "attempts");
        let owner = self
            .owner
            .as_deref()
            .map(|by| format!(", by {}", shown(by)));
        let id = self
            .external_id
            .as_deref()
            .map(|id| format!(", there called {}", shown(id)));
        print_line(&format!(
            "\n{}{} {}\n  {}  {at} UTC, {attempts}{}{}",
            step.unwrap_or_default(),
            shown(&self.scope),
            shortened(&self.key, 120),
            paint.on(tone_of(&self.state), &self.state),
            owner.unwrap_or_default(),
            id.unwrap_or_default(),
        ));
        if self.refused.blocked > 0 {
            let repeats = times(self.refused.blocked, "repeat", "repeats");
            print_line(&format!("  {repeats} blocked"));
            self.refused.print(paint);
        }
        if matches!(self.state.as_str(), "unknown" | "review")
            && let Ok(id) = effect(&self.scope, Some(&self.key), &[])
        {
            print_line(decide_help(&id, self.attempt, flags).trim_end());
        }
    }
}

impl Refused {
    fn print(&self, paint: Paint) {
        for blocked in self.receipts.iter().take(SHOWN) {
            let at = blocked.at.as_deref().map(when::short).unwrap_or_default();
            let verdict = blocked.verdict.as_deref().unwrap_or("counted");
            let by = blocked
                .by
                .as_deref()
                .map(|by| format!("  by {}", shown(by)));
            print_line(&format!(
                "    {}  {verdict:<8}  {}{}",
                paint.on(Tone::Dim, &at),
                blocked.id.as_deref().unwrap_or_default(),
                by.unwrap_or_default(),
            ));
        }
        let shown = self.receipts.len().min(SHOWN);
        let more = self.blocked.saturating_sub(shown as u64);
        if more > 0 {
            print_line(&format!("    … and {more} more: semel receipts lists them"));
        }
    }
}

fn times(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
